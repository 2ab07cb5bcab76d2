//! A debate whose claims are runs, and a label that a design has to earn: what a lesson file may say of them, and what
//! the page does with them.

use std::path::{Path, PathBuf};

use lockscope::judge::IntervalKind;
use lockscope::lesson::{self, Lesson, Located, Outcome};
use lockscope::run::Run;
use lockscope::sheet::{self, Shell, Ways};
use lockscope::sim::Micros;
use lockscope::ui::state::{Action, Place, State};

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("lessons/16-redlock-under-fire.md")
}

fn lesson() -> Lesson {
    lesson::read(&file()).expect("it is a lesson")
}

fn open() -> State {
    State::open(lesson(), &Place::default()).expect("it runs")
}

fn outcome(variant: &str) -> Outcome {
    lesson().outcome_of(variant).expect("it runs")
}

/// The lesson with something spoilt: the text, and what is wrong with it.
fn spoilt(from: &str, to: &str) -> (String, Vec<Located>) {
    let text = std::fs::read_to_string(file()).expect("the lesson is there");
    assert!(text.contains(from), "{from}");
    let text = text.replacen(from, to, 1);
    let wrong = match lesson::parse(&text) {
        Ok(lesson) => lesson::check(&lesson).failed,
        Err(errors) => errors,
    };
    (text, wrong)
}

#[test]
fn what_is_wrong_with_a_debate_or_a_label_is_said_at_its_place() {
    let paused = "runs = [{ variant = \"paused\", shows = \"The look";
    for (from, to, said, at) in [
        (
            paused,
            "runs = [{ variant = \"pausd\", shows = \"The look",
            "no variant `pausd`",
            "\"pausd\"",
        ),
        ("id = \"K8\"", "id = \"K7\"", "found the point `K7` twice", "id = \"K7\""),
        ("id = \"K8\"", "id = \"claim-8\"", "at most four letters and digits", "claim-8"),
        ("answers = [\"K5\"]", "answers = [\"K9\"]", "no point `K9`; there is `K1`", "K9"),
        ("answers = [\"K5\"]", "answers = [\"R4\"]", "of the same speaker", "R4"),
        (
            "by = \"Martin Kleppmann\"\ntitle = \"A clock leaps\"",
            "by = \"Nobody\"\ntitle = \"A clock leaps\"",
            "found 3 who speak, expected two",
            "[[debate]]",
        ),
        (
            "evidence = \"compare-and-set\"\nanswers",
            "evidence = \"hearsay\"\nanswers",
            "no evidence `hearsay`",
            "hearsay",
        ),
        (
            "efficiency = \"mail\"",
            "efficiency = \"base\"",
            "this run has no `job`",
            "efficiency = \"base\"",
        ),
        ("correctness = \"calm\"", "correctness = \"clam\"", "no variant `clam`", "\"clam\""),
        ("attacks = [\"base\"", "attacks = [\"calm\"", "this attack does no harm", "attacks = "),
        (
            "needs = \"set resource.check version\"",
            "needs = \"set resource.check token\"",
            "no defence `set resource.check token`",
            "needs",
        ),
        (
            "needs = \"set resource.check version\"",
            "needs = \"set lock.ttl 30s\"",
            "with `A lock lasts 30 s` switched on, `restart` does harm",
            "needs",
        ),
    ] {
        let (text, wrong) = spoilt(from, to);
        let error = wrong.iter().find(|e| e.message.contains(said));
        let line = error.unwrap_or_else(|| panic!("{to}: {wrong:#?}")).place.line;
        let found = text.lines().nth(line - 1).unwrap_or("");
        assert!(found.contains(at), "{to}: {error:?} at `{found}`");
    }
}

/// The label would be worth nothing if it stayed on a design that an attack breaks, or fell off one that holds.
#[test]
fn of_all_combinations_of_defences_the_label_stays_on_those_whose_resource_checks() {
    let lesson = lesson();
    let pin = lesson.pin.clone().expect("it has a label");
    let needed = lesson.defences.iter().position(|d| d.edit.text == pin.needs.text);
    let needed = needed.expect("it is one of them");
    let mut stayed = 0;
    for number in 0..1_u32 << lesson.defences.len() {
        let design: Vec<bool> = (0..lesson.defences.len()).map(|i| number >> i & 1 == 1).collect();
        let harms = |attack: &lesson::Line| {
            lesson.outcome_of_attack(&attack.text, &design).expect("it runs").harmed()
        };
        let stays = !pin.attacks.iter().any(harms);
        assert_eq!(stays, design[needed], "{design:?}");
        stayed += u32::from(stays);
    }
    assert_eq!(stayed, 16);
}

/// The debate in one sentence: clocks and memory break promises, pauses and delays outlive them.
#[test]
fn the_cases_of_the_debate_break_promises_or_outlive_them_as_their_kind_is() {
    let table: [(&[&str], (u64, u64), bool); 5] = [
        (&["base", "restart", "evicted", "mail", "mail-restart"], (1, 0), true),
        (&["paused", "packet", "asleep", "frozen", "unchecked", "mail-paused"], (0, 1), true),
        (&["held", "slow-answers", "asleep-boot", "asleep-wall"], (0, 0), false),
        (&["restart-durable", "restart-late", "alike", "calm", "mail-calm"], (0, 0), false),
        (&["fixed"], (1, 0), false),
    ];
    for (variants, figures, harmed) in table {
        for variant in variants {
            let found = outcome(variant);
            assert_eq!((found.broken, found.outlived), figures, "{variant}");
            assert_eq!(found.harmed(), harmed, "{variant}");
            let double = u64::from(figures.0 == 1);
            assert_eq!(found.double, double, "{variant}: granted twice only where one is broken");
        }
    }
}

#[test]
fn no_run_of_the_lesson_has_two_majorities_at_one_time() {
    let lesson = lesson();
    for variant in &lesson.variants {
        let run = Run::of(lesson.compile(&variant.name, &[]).expect("it compiles"));
        let truths = run.judgement.intervals.iter().filter(|i| i.kind == IntervalKind::Truth);
        let mut truths: Vec<(Micros, Micros)> = truths.map(|i| (i.from, i.to)).collect();
        truths.sort_unstable();
        for pair in truths.windows(2) {
            assert!(pair[0].1 <= pair[1].0, "{}: {pair:?}", variant.name);
        }
    }
}

#[test]
fn a_point_is_heard_with_its_run_on_screen_and_the_story_goes_on_where_it_stood() {
    let told = open().after(Action::Next(true)).after(Action::Next(true));
    let (beat, head) = (told.beat(), told.head);
    let (k6, point) = told.lesson.point("K6").expect("it is there");
    let asleep = point.runs.iter().position(|r| r.variant.text == "asleep").expect("it is there");
    let heard = told.after(Action::Point(k6, asleep));
    assert_eq!(heard.heard().map(|(i, p, run)| (i, p.id.as_str(), run)), Some((k6, "K6", asleep)));
    assert_eq!(heard.lesson.variants[heard.variant].name, "asleep");
    assert!(heard.decided() && !heard.tells_story());
    let words = format!("{:?}", heard.spoken.1);
    assert!(words.contains("K6, Martin Kleppmann: A pause while answers"), "{words}");
    // Its figures are those of the run on screen.
    let verdict = &heard.show.run.judgement.verdict;
    assert_eq!((verdict.broken_promises, verdict.outlived), (0, 1));
    // A defence changes that run, and the point stays.
    let fenced = heard.after(Action::Defend(4));
    assert!(fenced.heard().is_some() && !fenced.show.run.judgement.verdict.harmed());
    let back = fenced.after(Action::Story);
    assert_eq!((back.beat(), back.head, back.variant), (beat, head, told.variant));
    assert!(back.heard().is_none());
    // What does not exist cannot be heard.
    assert!(told.after(Action::Point(99, 0)).heard().is_none());
    assert!(told.after(Action::Point(k6, 99)).heard().is_none());
}

#[test]
fn before_a_class_the_points_come_after_the_last_part_of_the_story() {
    let mut state = open().after(Action::Present);
    let mut heard = Vec::new();
    for _ in 0..80 {
        state = state.after(Action::Turn(true));
        heard.extend(state.heard().map(|(i, _, _)| i));
    }
    heard.dedup();
    assert_eq!(heard, (0..state.lesson.debate.len()).collect::<Vec<_>>());
}

fn tried(mut state: State) -> State {
    state = state.after(Action::PinLabel);
    while state.tries() {
        state = state.after(Action::TryAttack);
    }
    state
}

#[test]
fn a_label_is_tried_attack_by_attack_and_comes_off_with_the_run_that_broke_it() {
    let pinned = tried(open());
    let trial = pinned.trial.clone().expect("it was pinned");
    assert!(!trial.stays());
    assert_eq!(trial.outcomes.len(), 6);
    let words = format!("{:?}", pinned.spoken.1);
    assert!(words.contains("fell off: 6 of 6 attacks did harm"), "{words}");
    // The attack that broke it is one step away, on this very design, which keeps its label.
    let shown = pinned.after(Action::ShowAttack(4));
    assert_eq!(shown.lesson.variants[shown.variant].name, "paused");
    assert!(shown.show.run.judgement.verdict.harmed() && shown.decided());
    assert_eq!(shown.trial, pinned.trial);
    // On another design it has to be pinned anew.
    let other = shown.after(Action::Defend(0));
    assert!(other.trial.is_none());
    let durable = tried(other);
    let harmed: Vec<bool> =
        durable.trial.clone().expect("it is pinned").outcomes.iter().map(Outcome::harmed).collect();
    assert_eq!(harmed, [true, false, true, true, true, true]);
    assert!(!durable.after(Action::ShowAttack(1)).show.run.judgement.verdict.harmed());
}

#[test]
fn a_label_stays_where_the_resource_checks_and_says_that_this_is_no_proof() {
    let pinned = tried(open().after(Action::Defend(4)));
    assert!(pinned.trial.clone().expect("it was pinned").stays());
    let words = format!("{:?}", pinned.spoken.1);
    assert!(words.contains("stays: none of the 6 attacks did harm"), "{words}");
    assert!(words.contains("no proof"), "{words}");
    // Taking the defence away takes the label away.
    assert!(pinned.after(Action::Defend(4)).trial.is_none());
    // In a lesson without a label there is nothing to pin.
    let mut plain = lesson();
    plain.pin = None;
    let plain = State::open(plain, &Place::default()).expect("it runs");
    assert!(plain.after(Action::PinLabel).trial.is_none());
}

#[test]
fn on_paper_the_debate_is_a_table_and_the_label_one_of_designs_against_attacks() {
    let lesson = lesson();
    let page = sheet::lesson_page(&lesson, &Shell { style: "s.css", icon: "i.svg", home: "../" });
    for point in &lesson.debate {
        assert!(
            page.contains(&format!("<strong>{}</strong> {}", point.id, point.title)),
            "{}",
            point.id
        );
    }
    // The figures are the runs': a promise broken by a clock, one outlived by a pause.
    assert!(page.contains("Promises broken 1 · outlived 0 · granted twice 1. Something is wrong."));
    assert!(page.contains("Promises broken 0 · outlived 1 · granted twice 0. Something is wrong."));
    let rows = page.split("<table class=\"events pinned\">").nth(1).expect("it is there");
    let rows: Vec<&str> = rows.split("</table>").next().unwrap_or("").split("<tr>").collect();
    let row = |name: &str| *rows.iter().find(|r| r.contains(name)).expect(name);
    assert!(row(">Nothing<").contains("falls off"));
    assert!(row(">All but “The resource compares versions”<").contains("falls off"));
    assert!(row(">The resource compares versions<").contains("<strong>stays</strong>"));
    let table = sheet::debate(&lesson, Ways::Page).expect("it has one");
    let table = sheet::html(&table);
    assert!(table.contains("data-run=\"asleep\"") && table.contains("data-point=\"5\""), "{table}");
    assert!(sheet::debate(&Lesson { debate: Vec::new(), ..lesson }, Ways::Page).is_none());
}
