//! Whatever somebody writes, sends or imports is answered: never a panic, never a hang, and what is
//! wrong is said at a place inside the text.
//!
//! Each test mutates samples with keyed randomness, so that a case is its number.
//! `LOCKSCOPE_FUZZ=60 cargo test --release --test fuzz` goes on for 60 seconds in each test instead of a
//! fixed number of cases; a failure prints the command that replays it.

mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lockscope::json::Json;
use lockscope::lesson::{self, Claim, Lesson};
use lockscope::run::{Run, ScenarioError, compile, lengthen, parse_edit, shorten};
use lockscope::sim::Micros;
use lockscope::systems::Registry;
use lockscope::ui::kept;
use lockscope::ui::route::Route;
use lockscope::ui::state::{Action, State};
use support::{Draws, busy, lines, race, random_edit};

/// How long a case may take before it counts as hanging: a hundred times what the slowest one takes.
const HANG: Duration = Duration::from_secs(60);

/// What is put in the place of something else, or between two things.
const STRANGE: &[&str] = &[
    "0",
    "-1",
    "1",
    "42",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "99999999999999999999",
    "1e9",
    "0.0000001s",
    "9e9s",
    "0s",
    "1us",
    "24h",
    "86400s",
    "100000m",
    "1/0",
    "0/1",
    "4294967295/4294967294",
    "é",
    "𝕏",
    "\u{202e}",
    "\u{0}",
    "\u{feff}",
    "e\u{301}",
    "\t",
    "\r\n",
    "\n",
    "\"",
    "'",
    "\\",
    "`",
    "{",
    "}",
    "|",
    ">",
    "#",
    "##",
    "=",
    "==",
    "!=",
    "<=",
    "(",
    ")",
    "((((((((((((((((",
    "[",
    "]",
    ",",
    ";",
    ":",
    "&",
    "%",
    "%zz",
    "%F0%9F",
    "+++",
    "<b>",
    "<!--",
    "-->",
    "[a](javascript:1)",
    "![x](y)",
    "at",
    "for",
    "by",
    "to",
    "before",
    "within",
    "pause",
    "suspend",
    "freeze",
    "cut",
    "heal",
    "crash",
    "kill",
    "power-off",
    "shut-down",
    "restart",
    "clock",
    "rate",
    "duplicate",
    "drop",
    "delay",
    "set",
    "send",
    "client-a",
    "client-z",
    "lock-service",
    "resource",
    "write#1",
    "write#0",
    "client-a>resource#1",
    "client-a.heartbeat",
    "resource.check",
    "lease.ttl",
    "token",
    "none",
    "acquire",
    "release",
    "renew",
    "check",
    "claim",
    "read",
    "write",
    "insert",
    "where",
    "version",
    "begin",
    "abort",
    "job",
    "work",
    "sleep",
    "let",
    "if",
    "not",
    "ok",
    "goto",
    "loop",
    "repeat",
    "end",
    "break",
    "stop",
    "done",
    "and",
    "or",
    "x",
    "balance",
];

/// Where random texts are cut: before and after anything that a reader could take for one thing.
fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let kind = |c: char| match c {
        c if c.is_alphanumeric() => 0,
        ' ' => 1,
        _ => 2,
    };
    let mut last = None;
    for (at, c) in text.char_indices() {
        let here = kind(c);
        if last.is_some_and(|l| l != here || here == 2) {
            found.push(&text[start..at]);
            start = at;
        }
        last = Some(here);
    }
    found.push(&text[start..]);
    found
}

/// A sample with a few things changed in it, some of them taken from another one.
fn mutated(draws: &mut Draws, samples: &[String]) -> String {
    let any = |d: &mut Draws| samples[d.up_to(samples.len() as u64 - 1) as usize].clone();
    let mut text = any(draws);
    for _ in 0..1 + draws.up_to(4) {
        let other = any(draws);
        text = mutated_once(draws, &text, &other);
    }
    text
}

fn mutated_once(draws: &mut Draws, text: &str, other: &str) -> String {
    let mut parts: Vec<String> = tokens(text).into_iter().map(String::from).collect();
    let others = tokens(other);
    let last = parts.len() as u64 - 1;
    let (a, b) = (draws.up_to(last) as usize, draws.up_to(last) as usize);
    let (from, to) = (a.min(b), a.max(b));
    let short = (from + draws.up_to(6) as usize).min(to);
    match draws.up_to(9) {
        0 => parts.swap(a, b),
        1 => parts[a] = draws.pick(STRANGE).into(),
        2 => parts.insert(a, draws.pick(STRANGE).into()),
        3 => drop(parts.drain(from..short)),
        4 => parts.truncate(a + 1),
        5 => {
            let again: Vec<String> = parts[from..short].to_vec();
            parts.splice(to..to, again);
        }
        6 => parts[a] = others[draws.up_to(others.len() as u64 - 1) as usize].into(),
        7 => {
            let start = draws.up_to(others.len() as u64 - 1) as usize;
            let end = (start + 1 + draws.up_to(12) as usize).min(others.len());
            parts.splice(from..short, others[start..end].iter().map(|t| t.to_string()));
        }
        8 => parts[a] = parts[a].chars().rev().collect(),
        _ => {
            // Within a word, at whatever letter.
            let mut letters: Vec<char> = parts[a].chars().collect();
            let at = draws.up_to(letters.len() as u64) as usize;
            letters
                .insert(at, draws.pick(&['0', '9', 'z', 'é', '-', '_', '.', '#', '\u{7f}', '😀']));
            parts[a] = letters.into_iter().collect();
        }
    }
    parts.concat()
}

/// Tries cases: a fixed number, or for as many seconds as are asked for, or the one that is named.
fn fuzz(test: &str, cases: u64, case: impl Fn(&mut Draws)) {
    let number = |key: &str| std::env::var(key).ok().and_then(|s| s.parse::<u64>().ok());
    let replay = |seed: u64| format!("replay with: SEED={seed} cargo test --test fuzz {test}");
    let (one, seconds) = (number("SEED"), number("LOCKSCOPE_FUZZ"));
    let begun = Instant::now();
    // What hangs cannot say so itself.
    let now = Arc::new((AtomicU64::new(0), Mutex::new(Instant::now())));
    let watched = Arc::downgrade(&now);
    let name = test.to_string();
    std::thread::spawn(move || {
        while let Some(now) = watched.upgrade() {
            if now.1.lock().is_ok_and(|since| since.elapsed() > HANG) {
                let seed = now.0.load(Ordering::Relaxed);
                eprintln!("it hangs; replay with: SEED={seed} cargo test --test fuzz {name}");
                std::process::abort();
            }
            drop(now);
            std::thread::sleep(Duration::from_millis(500));
        }
    });
    let mut seed = one.unwrap_or(0);
    loop {
        now.0.store(seed, Ordering::Relaxed);
        *now.1.lock().expect("nobody panics with it") = Instant::now();
        let tried = catch_unwind(AssertUnwindSafe(|| case(&mut Draws::new(seed))));
        assert!(tried.is_ok(), "{}", replay(seed));
        seed += 1;
        let enough = match (one, seconds) {
            (Some(_), _) => true,
            (None, Some(seconds)) => begun.elapsed() > Duration::from_secs(seconds),
            (None, None) => seed >= cases,
        };
        if enough {
            break;
        }
    }
    println!("{test}: {seed} cases");
}

fn edits() -> Vec<String> {
    let mut samples: Vec<String> = (0..150).map(|n| random_edit(&mut Draws::new(n))).collect();
    for lesson in all_lessons() {
        for variant in &lesson.variants {
            samples.extend(variant.edits.iter().map(|e| e.text.clone()));
        }
    }
    samples.push("at 5s cut {client-a ledger}|{resource client-b}".into());
    samples.push("set lease.ttl 10s".into());
    samples
}

fn lesson_files() -> Vec<String> {
    let mut found = Vec::new();
    for folder in ["lessons", "lessons/cases"] {
        let folder = format!("{}/{folder}", env!("CARGO_MANIFEST_DIR"));
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name();
            if name.to_string_lossy().ends_with(".md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found.iter().filter_map(|path| std::fs::read_to_string(path).ok()).collect()
}

fn all_lessons() -> Vec<Lesson> {
    lesson_files().iter().filter_map(|text| lesson::parse(text).ok()).collect()
}

const NODES: [&str; 6] = ["client-a", "client-b", "client-c", "lock-service", "resource", "ledger"];

/// Errors of a scenario point into the text that they are about.
fn are_located(errors: &[ScenarioError], text_of: impl Fn(&[String]) -> Option<String>) {
    assert!(!errors.is_empty(), "refused without a word");
    for error in errors {
        assert!(!error.message.is_empty(), "an error without words");
        if let Some(text) = text_of(&error.place.path) {
            assert!(error.place.at <= text.chars().count(), "{error} is outside of `{text}`");
        }
    }
}

#[test]
fn edits_are_read_or_refused_at_a_place_inside_them() {
    let samples = edits();
    fuzz("edits_are_read", 12_000, |draws| {
        let text = mutated(draws, &samples);
        match parse_edit(&text, &NODES) {
            Err(error) => assert!(error.at <= text.chars().count(), "{error:?} in `{text}`"),
            Ok(edit) => {
                let again = parse_edit(&edit.to_string(), &NODES);
                assert_eq!(again.as_ref(), Ok(&edit), "`{text}` printed as `{edit}`");
                for (which, time) in edit.spans() {
                    let _ = edit.with(which, time.plus(Micros(u64::MAX))).to_string();
                }
            }
        }
    });
}

#[test]
fn runs_with_strange_edits_come_to_an_end() {
    let samples = edits();
    fuzz("runs_with_strange_edits", 1_200, |draws| {
        let mut case = if draws.up_to(1) == 0 { race() } else { busy(draws) };
        case.edits = (0..1 + draws.up_to(3)).map(|_| mutated(draws, &samples)).collect();
        match compile(&case.scenario, &case.edits, &Registry::standard()) {
            Ok(compiled) => assert!(Run::of(compiled).end <= Micros::from_secs(86_400)),
            Err(errors) => are_located(&errors, |path| match path {
                [edits, index] if edits == "edits" => {
                    case.edits.get(index.parse::<usize>().ok()?).cloned()
                }
                _ => None,
            }),
        }
    });
}

#[test]
fn programs_run_or_are_refused_at_a_place_inside_them() {
    let mut samples: Vec<String> = Vec::new();
    for n in 0..40 {
        for client in busy(&mut Draws::new(n)).scenario.clients.values() {
            samples.push(client.program.join("; "));
        }
    }
    for lesson in all_lessons() {
        samples.extend(lesson.scenario.clients.values().map(|c| c.program.join("; ")));
    }
    fuzz("programs_run", 2_500, |draws| {
        let program = lines(&mutated(draws, &samples));
        let mut case = busy(draws).until("8s");
        let own = case.scenario.clients.get_mut("client-a").expect("it is there");
        own.program.clone_from(&program);
        if draws.up_to(3) == 0 {
            let texts = ["x + y == 3 * done", "x >= 0 or not (y < 2 and done != 1)"];
            case.scenario.invariant = Some(mutated(draws, &texts.map(String::from)));
        }
        match compile(&case.scenario, &[], &Registry::standard()) {
            Ok(compiled) => drop(Run::of(compiled)),
            Err(errors) => are_located(&errors, |path| match path {
                [clients, id, task, line] if clients == "clients" && task == "program" => {
                    let own = case.scenario.clients.get(id.as_str())?;
                    own.program.get(line.parse::<usize>().ok()?).cloned()
                }
                [invariant] if invariant == "invariant" => case.scenario.invariant.clone(),
                _ => None,
            }),
        }
    });
}

#[test]
fn assertions_are_read_or_refused_at_a_place_inside_them() {
    let mut samples: Vec<String> = Vec::new();
    for lesson in all_lessons() {
        for variant in &lesson.variants {
            samples.extend(variant.expect.iter().map(|e| e.text.clone()));
        }
    }
    let run = race().run();
    fuzz("assertions_are_read", 4_000, |draws| {
        let text = mutated(draws, &samples);
        match Claim::parse(&text, run.names()) {
            Ok(claim) => drop(claim.test(&run)),
            Err(error) => assert!(error.at <= text.chars().count(), "{error:?} in `{text}`"),
        }
    });
}

#[test]
fn lesson_files_are_read_or_refused_at_places_inside_them() {
    let samples = lesson_files();
    fuzz("lesson_files_are_read", 500, |draws| {
        let text = mutated(draws, &samples);
        match lesson::parse(&text) {
            Ok(lesson) => {
                let packed = lesson::pack(&lesson);
                assert!(lesson::unpack(&packed).is_ok(), "what was packed cannot be read");
            }
            Err(errors) => {
                assert!(!errors.is_empty(), "refused without a word");
                let all: Vec<&str> = text.split('\n').collect();
                for error in errors {
                    let (line, column) = (error.place.line, error.place.column);
                    let width = all.get(line.wrapping_sub(1)).map(|l| l.chars().count());
                    let inside = width.is_some_and(|w| (1..=w + 1).contains(&column));
                    assert!(inside, "{line}:{column} is outside of the text: {}", error.message);
                }
            }
        }
    });
}

#[test]
fn packed_lessons_open_or_are_refused() {
    let samples: Vec<String> = all_lessons().iter().map(lesson::pack).collect();
    fuzz("packed_lessons_open", 250, |draws| {
        let text = mutated(draws, &samples);
        let _ = Json::parse(&text).map(|json| json.to_string());
        if let Ok(lesson) = lesson::unpack(&text) {
            drop(State::open(lesson, &Default::default()));
        }
    });
}

#[test]
fn links_open_with_what_can_be_followed() {
    let lessons = all_lessons();
    let mut samples: Vec<String> = vec![
        "#/lesson/lease-expiration?edits=at+3s+pause+client-a+for+12s&event=40".into(),
        "#/lesson/break-it?run=fixed&level=help&seed=7&present=1".into(),
    ];
    for lesson in &lessons {
        for (index, _) in lesson.variants.iter().enumerate() {
            let Ok(mut state) = State::open(lesson.clone(), &Default::default()) else { continue };
            state = state.after(Action::Variant(index)).after(Action::End);
            samples.push(Route::of(&state));
        }
    }
    fuzz("links_open", 350, |draws| {
        let text = mutated(draws, &samples);
        let Route::Lesson { place, .. } = Route::parse(&text) else { return };
        let lesson = &lessons[draws.up_to(lessons.len() as u64 - 1) as usize];
        if let Ok(state) = State::open(lesson.clone(), &place) {
            // What it shows has a link of its own, which leads there without a note.
            let Route::Lesson { place, .. } = Route::parse(&Route::of(&state)) else {
                panic!("the link of `{text}` leads nowhere")
            };
            let again = State::open(lesson.clone(), &place).expect("it opened before");
            assert_eq!((&again.edits, &again.notes), (&state.edits, &Vec::new()), "{text}");
            assert_eq!(again.show.run.hash(), state.show.run.hash(), "{text}");
        }
    });
}

#[test]
fn any_text_comes_back_from_a_link_and_any_letters_are_read() {
    let samples = edits();
    let nodes: Vec<String> = NODES.iter().map(|n| n.to_string()).collect();
    fuzz("any_text_comes_back", 6_000, |draws| {
        let texts: Vec<String> =
            (0..1 + draws.up_to(3)).map(|_| mutated(draws, &samples)).collect();
        let short = shorten(&texts, &nodes);
        let back: Vec<String> = lengthen(&short, &nodes).into_iter().flatten().collect();
        if texts.iter().all(|t| !t.is_empty()) {
            assert_eq!(back, texts, "{short}");
        }
        drop(lengthen(&mutated(draws, &[short]), &nodes));
    });
}

#[test]
fn files_of_branches_come_in_or_are_refused_and_what_came_in_can_be_written() {
    let lesson =
        all_lessons().into_iter().find(|l| l.id == "lease-expiration").expect("it is there");
    let open = || State::open(lesson.clone(), &Default::default()).expect("it runs");
    let put =
        |state: &State| kept::put(None, &lesson.id, &state.to_keep(1)).expect("it can be kept").0;
    let state = open().after(Action::Defend(0)).after(Action::Add("at 5s crash client-b".into()));
    let renamed = state.after(Action::Rename(state.branch, "mine é".into()));
    let kept = [put(&open()), put(&renamed), put(&renamed.after(Action::Undo))];
    let samples: Vec<String> =
        kept.iter().map(|text| kept::file(text).expect("it can be written")).collect();
    fuzz("files_of_branches", 600, |draws| {
        let file = mutated(draws, &samples);
        let own = draws.up_to(1) == 0;
        match kept::import(own.then_some(kept[0].as_str()), &file) {
            Err(why) => assert!(!why.is_empty(), "refused without a word"),
            Ok((text, _)) => {
                assert!(kept::file(&text).is_ok(), "what came in cannot be written");
                if let Ok(kept) = kept::of_lesson(Some(&text), &lesson.id) {
                    drop(open().recall(kept, &[1]));
                }
            }
        }
    });
}

#[test]
fn the_mutations_reach_both_what_is_read_and_what_is_refused() {
    let samples = edits();
    let good = (0..2_000)
        .filter(|seed| parse_edit(&mutated(&mut Draws::new(*seed), &samples), &NODES).is_ok());
    let good = good.count();
    assert!((100..1_900).contains(&good), "{good} of 2000 are read");
}
