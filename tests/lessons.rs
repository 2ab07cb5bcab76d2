//! Every lesson is run and proven; the manual for authors is tested like code.

use std::fs;
use std::path::{Path, PathBuf};

use lockscope::judge::Testimony;
use lockscope::lesson::{self, BASE, Block, Class, Inline, Lesson, Level, MarkKind, Miniature};
use lockscope::run::Run;

/// How many spoilt lessons are tried.
const ROUNDS: usize = 400;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("lessons")
}

fn manual() -> String {
    fs::read_to_string(folder().join("README.md")).expect("the manual is there")
}

fn lessons() -> Vec<Lesson> {
    lessons_in(&folder())
}

fn lessons_in(folder: &Path) -> Vec<Lesson> {
    let entries = fs::read_dir(folder).expect("the folder is there").flatten();
    let is_lesson =
        |p: &PathBuf| p.extension().is_some_and(|e| e == "md") && !p.ends_with("README.md");
    let mut paths: Vec<PathBuf> = entries.map(|e| e.path()).filter(is_lesson).collect();
    paths.sort();
    assert!(!paths.is_empty());
    let read = |p: &PathBuf| match lesson::read(p) {
        Ok(lesson) => lesson,
        Err(error) => panic!("{}: {error:?}", p.display()),
    };
    paths.iter().map(read).collect()
}

fn race() -> Lesson {
    lessons().into_iter().find(|l| l.id == "lease-expiration").expect("the race is there")
}

fn run(lesson: &Lesson, variant: &str) -> Run {
    Run::of(lesson.compile(variant, &[]).expect("it compiled when it was read"))
}

#[test]
fn every_assertion_of_every_lesson_holds_and_every_edit_finds_its_occasion() {
    for lesson in lessons() {
        let checked = lesson::check(&lesson);
        assert_eq!(checked.failed, [], "{}", lesson.id);
        assert_eq!(checked.notes, [], "{}", lesson.id);
        assert!(lesson.variants.iter().all(|v| !v.expect.is_empty()), "{}", lesson.id);
    }
}

fn cases() -> Vec<Lesson> {
    lessons_in(&folder().join("cases"))
}

/// A case names where people speak of it, tells what happened step by step, and shows what mends it.
#[test]
fn every_case_has_its_thread_its_timeline_and_a_run_that_mends_it() {
    assert_eq!(cases().len(), 25);
    for case in cases() {
        let report = case.report.as_ref().expect("a case has a report");
        assert!(report.address().starts_with("https://"), "{}", case.id);
        assert!(case.beats.len() >= 5, "{}", case.id);
        assert!(case.variant("fixed").is_some(), "{}", case.id);
        let checked = lesson::check(&case);
        assert_eq!((checked.failed, checked.notes), (vec![], vec![]), "{}", case.id);
        assert!(case.variants.iter().all(|v| !v.expect.is_empty()), "{}", case.id);
        assert!(!run(&case, "fixed").judgement.verdict.harmed(), "{}", case.id);
    }
    assert!(lessons().iter().all(|lesson| lesson.report.is_none()));
}

#[test]
fn the_base_of_a_lesson_does_harm_and_its_fix_does_not() {
    for lesson in lessons() {
        let verdict = |name| lesson.variant(name).map(|_| run(&lesson, name).judgement.verdict);
        let bad = verdict(BASE).expect("every lesson has a base");
        // A lock that saves work wastes it: a job is done twice, or more are woken than have a turn.
        let metrics = &run(&lesson, BASE).judgement.metrics;
        let waste = bad.duplicate_work > Some(0) || metrics.wakeups > metrics.releases;
        match lesson.class {
            Class::Correctness => assert!(bad.harmed(), "{}", lesson.id),
            Class::Efficiency => assert!(waste, "{}", lesson.id),
        }
        assert!(!verdict("fixed").is_some_and(|v| v.harmed()), "{}", lesson.id);
    }
}

/// Learners stop at each beat, answer before they see, and recall at the end.
#[test]
fn every_lesson_has_its_beats_its_predictions_and_something_to_break() {
    for lesson in lessons() {
        assert!((6..=14).contains(&lesson.beats.len()), "{}", lesson.id);
        // A story of one run has six moments of it; one that compares several has three of the first.
        let told =
            |v: &lesson::Variant| lesson.beats.iter().filter(|b| b.variant == v.name).count();
        let runs = lesson.variants.iter().filter(|v| told(v) > 0).count();
        let least = if runs >= 4 { 3 } else { 6 };
        assert!(lesson.variant(BASE).is_some_and(|v| told(v) >= least), "{}", lesson.id);
        assert!((1..=3).contains(&lesson.predictions.len()), "{}", lesson.id);
        assert_eq!(lesson.recall.len(), 2, "{}", lesson.id);
        assert!(!lesson.faults.is_empty(), "{}", lesson.id);
        assert!(Level::ALL.iter().all(|l| lesson.task(*l).is_some()), "{}", lesson.id);
        // Where the base has a late write, somebody has to look at it.
        let late = run(&lesson, BASE).judgement.verdict.stale_attempts > 0;
        assert!(!late || lesson.predictions.iter().any(|p| p.look), "{}", lesson.id);
        assert!(!lesson.evidence.is_empty(), "{}", lesson.id);
        for beat in &lesson.beats {
            let words = count(&beat.blocks);
            assert!((10..=66).contains(&words), "{} #{}: {words} words", lesson.id, beat.id);
        }
    }
}

fn count(blocks: &[Block]) -> usize {
    let block = |b: &Block| match b {
        Block::Paragraph(inlines) => inlines.iter().map(words).sum(),
        Block::List(items) | Block::Steps(items) => items.iter().map(|i| count(i)).sum(),
        Block::Quote(blocks) => count(blocks),
        Block::Code(_) => 0,
    };
    blocks.iter().map(block).sum()
}

fn words(inline: &Inline) -> usize {
    match inline {
        Inline::Text(text) | Inline::Code(text) => text.split_whitespace().count(),
        Inline::Emphasis(all) | Inline::Strong(all) | Inline::Link(_, all) => {
            all.iter().map(words).sum()
        }
        Inline::Evidence(_) => 0,
    }
}

#[test]
fn a_lesson_says_nothing_of_a_wrong_answer_but_what_happened() {
    let files = |folder: &Path| fs::read_dir(folder).expect("the folder is there").flatten();
    let is_file = |e: &fs::DirEntry| e.path().is_file();
    let all = files(&folder()).chain(files(&folder().join("cases")));
    for entry in all.filter(is_file) {
        let text = fs::read_to_string(entry.path()).expect("a lesson is text").to_lowercase();
        assert!(!text.contains("incorrect"), "{}", entry.path().display());
    }
}

/// A client that keeps no deadline cannot tell the five causes apart, and neither can the resource.
#[test]
fn five_ways_to_be_late_give_the_resource_one_history() {
    let race = race();
    let history = |variant| -> Vec<_> {
        let run = run(&race, variant);
        let accepted = run.record.events.iter().filter_map(|e| match e.note()? {
            Testimony::Accept(op, write, version, _) => {
                Some((e.at, op.section.client, op.token, write.value, *version))
            }
            _ => None,
        });
        accepted.collect()
    };
    let base = history(BASE);
    assert_eq!(base.len(), 2);
    for variant in ["starved", "frozen", "partition", "delayed", "own-check"] {
        assert_eq!(history(variant), base, "{variant}");
    }
}

#[test]
fn a_packed_lesson_is_the_same_lesson_and_holds_no_markup() {
    for lesson in lessons().into_iter().chain(cases()) {
        let packed = lesson::pack(&lesson);
        let unpacked = lesson::unpack(&packed).expect("it is a lesson");
        assert_eq!(unpacked, serde_json::from_str::<Lesson>(&packed).expect("serde reads it"));
        assert_eq!(lesson::pack(&unpacked), packed);
        assert!(!packed.contains("</"), "{}", lesson.id);
        for variant in &lesson.variants {
            assert_eq!(run(&lesson, &variant.name).hash(), run(&unpacked, &variant.name).hash());
        }
    }
}

#[test]
fn a_miniature_is_of_the_run_that_happens() {
    let miniature = Miniature::of(&run(&race(), BASE));
    let [a, b] = miniature.lanes.as_slice() else { panic!("two clients") };
    assert!(a.belief[0].1 > b.belief[0].1 && a.truth[0].1 < b.truth[0].0, "{miniature:?}");
    assert_eq!(a.stopped.len(), 1);
    let kinds: Vec<MarkKind> = miniature.marks.iter().map(|m| m.kind).collect();
    assert_eq!(
        kinds,
        [
            MarkKind::Grant,
            MarkKind::Pause,
            MarkKind::Expire,
            MarkKind::Grant,
            MarkKind::Accept,
            MarkKind::Harm,
            MarkKind::Harm,
        ]
    );
    assert!(miniature.marks.is_sorted_by_key(|m| m.at));
    assert!(miniature.marks.iter().all(|m| m.at <= 1000));
}

/// Fifty clients are written as one, and a variant has as many of them as it says.
#[test]
fn copies_of_a_client_are_clients_and_a_variant_may_have_more_of_them() {
    let manual = manual();
    let example = manual.split("````markdown\n").nth(1).unwrap_or("");
    let example = example.split("````").next().unwrap_or("");
    let first = example.find("[scenario.clients.client-a]").expect("it has clients");
    let variants = example.find("[variants.base]").expect("it has a base");
    let line = |program: &str| {
        let start = "start = \"1s\"\nlabel = \"Till\"\nevery = \"20ms\"\n";
        format!("{start}program = [{program}]\ncopies = ")
    };
    let work = line("\"acquire\", \"work 1s\", \"release\"");
    let text = |base: &str, more: &str| {
        let rest = example.get(variants..).unwrap_or("");
        let head = example.get(..first).unwrap_or("");
        let end = rest.find("[teach]").expect("it ends");
        let clients = format!("[scenario.clients.till]\n{work}{base}\n");
        let twelve = format!("[variants.twelve.clients.till]\n{work}{more}\n");
        let expect = "[variants.base]\nexpect = [\"grants == 3\"]\n[variants.twelve]\n\
             expect = [\"grants == 12\", \"grant till-02 before grant till-11\"]\n";
        let tail = rest.get(end..).unwrap_or("").replace("client-a", "till-01");
        format!("{head}{clients}{expect}{twelve}{}", tail.replace("client-b", "till-02"))
    };
    let lesson = lesson::parse(&text("3", "12")).expect("it is a lesson");
    let ids: Vec<&String> = lesson.scenario.clients.keys().collect();
    assert_eq!(ids, ["till-01", "till-02", "till-03"]);
    let third = lesson.scenario.clients.get("till-03").expect("it is there");
    assert_eq!((third.label.as_deref(), third.start.as_deref()), (Some("Till 3"), Some("1040ms")));
    assert_eq!(lesson::check(&lesson).failed, []);
    let wrong = |base: &str, more: &str| match lesson::parse(&text(base, more)) {
        Ok(_) => panic!("it is no lesson"),
        Err(errors) => errors.iter().map(|e| e.message.clone()).collect::<Vec<_>>().join(", "),
    };
    assert!(wrong("0", "12").contains("found 0 copies, expected 1 to 60"));
    assert!(wrong("3", "61").contains("found 61 copies"));
}

/// Spoils a lesson in small ways, as tired authors do; nothing of it may bring the reader down.
#[test]
fn a_spoilt_lesson_is_an_error_and_never_a_panic() {
    let manual = manual();
    let example = manual.split("````markdown\n").nth(3).unwrap_or("").split("````").next();
    let original: Vec<char> = example.unwrap_or("").chars().collect();
    let bits = "\"'{}[]#=.-+<>*`\\\n\u{e9}9 ".chars().collect::<Vec<_>>();
    let mut state = 7_u64;
    let mut random = |below: usize| {
        // A linear congruence is random enough to hit every kind of place.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    };
    let mut errors = 0;
    for _ in 0..ROUNDS {
        let mut text = original.clone();
        for _ in 0..=random(3) {
            let at = random(text.len());
            match random(4) {
                0 => drop(text.remove(at)),
                1 => text.insert(at, bits[random(bits.len())]),
                2 => text[at] = bits[random(bits.len())],
                _ => drop(text.drain(at..(at + random(60)).min(text.len()))),
            }
        }
        match lesson::parse(&text.iter().collect::<String>()) {
            Ok(lesson) => drop(lesson::check(&lesson)),
            Err(found) => errors += usize::from(!found.is_empty()),
        }
    }
    assert!(errors > ROUNDS / 2, "most of them are noticed: {errors}");
}

/// What is said of the first example of the manual with each of these words in place of others.
fn altered(changes: &[(&str, &str)]) -> Vec<String> {
    let manual = manual();
    let example = manual.split("````markdown\n").nth(1).and_then(|e| e.split("````").next());
    let mut text = example.unwrap_or("").to_string();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let wrong = match lesson::parse(&text) {
        Err(errors) => errors,
        Ok(lesson) => lesson::check(&lesson).failed,
    };
    wrong.into_iter().map(|e| e.message).collect()
}

#[test]
fn a_run_that_words_link_to_may_say_what_it_shows_and_where() {
    let variant = |at: &str| {
        let keys = format!("at = \"{at}\"\nshows = \"Two grants.\"\nexpect = [\"grants == 2\"]");
        format!("[variants.also]\n{keys}\n\n[teach]")
    };
    let link = ("A has written 90 and", "A has written 90, [as here](run:also), and");
    let said = |at: &str, more: &[(&str, &str)]| {
        altered(&[&[("[teach]", variant(at).as_str())], more].concat())
    };
    assert_eq!(said("grant client-b", &[link]), Vec::<String>::new());
    let unseen = said("grant client-b", &[]);
    assert!(
        matches!(unseen.as_slice(), [e] if e.starts_with("no words lead to this run")),
        "{unseen:?}"
    );
    let never = said("expire client-b", &[link]);
    assert!(matches!(never.as_slice(), [e] if e.contains("where links arrive")), "{never:?}");
    let nobody = said("grant client-z", &[link]);
    assert!(matches!(nobody.as_slice(), [e] if e.contains("client-z")), "{nobody:?}");
}

#[test]
fn a_front_matter_ends_once() {
    let said = altered(&[("[teach]", "+++\n\n[teach]")]);
    assert!(said.iter().any(|e| e.contains("third line `+++`")), "{said:?}");
}

#[test]
fn the_examples_of_the_manual_are_lessons_that_hold() {
    let manual = manual();
    let blocks: Vec<&str> = manual.split("````markdown\n").skip(1).collect();
    assert_eq!(blocks.len(), 3);
    for block in blocks {
        let text = block.split("````").next().unwrap_or("");
        let lesson = match lesson::parse(text) {
            Ok(lesson) => lesson,
            Err(errors) => panic!("{errors:?}"),
        };
        let checked = lesson::check(&lesson);
        assert_eq!(checked.failed, [], "{}", lesson.id);
        assert!(checked.passed > 5, "{}", lesson.id);
    }
}

/// Who has only the manual and the schema can write a lesson.
#[test]
fn the_manual_names_everything_that_the_schema_lists() {
    let manual = manual();
    let schema: serde_json::Value = serde_json::from_str(&lesson::schema()).expect("it is JSON");
    let named = |word: &str| {
        let inside = |c: char| c.is_alphanumeric() || c == '_' || c == '.' || c == '-';
        manual.split(|c| !inside(c)).any(|w| w == word || w.trim_end_matches('.') == word)
    };
    let lists = [
        ("settings", "key"),
        ("event_kinds", "kind"),
        ("verdict", "key"),
        ("metrics", "key"),
        ("outcomes", "outcome"),
    ];
    for (list, key) in lists {
        for entry in schema[list].as_array().expect(list) {
            let word = entry[key].as_str().expect("a word");
            assert!(named(word), "{list}: {word}");
        }
    }
    for system in schema["systems"].as_array().expect("systems") {
        for setting in system["settings"].as_array().expect("settings") {
            let word = setting["key"].as_str().expect("a word");
            assert!(named(word), "{word}");
        }
    }
    for list in ["program", "edits"] {
        for entry in schema[list].as_array().expect(list) {
            let form = entry["form"].as_str().expect("a form");
            let word = form.split([' ', ':']).find(|w| !w.is_empty()).unwrap_or("");
            assert!(word == "at" || named(word) || word == "#", "{list}: {form}");
        }
    }
    for key in schema["front_matter"].as_array().expect("keys") {
        let path = key["key"].as_str().expect("a key");
        let word = path.rsplit('.').next().unwrap_or("").trim_end_matches("[]");
        assert!(word == "ID" || word == "NAME" || named(word) || word == "lost", "{path}");
    }
}
