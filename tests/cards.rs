//! Cards: what a lesson file may say of them, and sorting them on the page.

use std::path::Path;

use lockscope::lesson::{self, Class, Lesson};
use lockscope::ui::state::{Action, Place, State};

fn lesson() -> Lesson {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"));
    lesson::read(&path.join("lessons/03-efficiency-or-correctness.md")).expect("it is a lesson")
}

fn open() -> State {
    State::open(lesson(), &Place::default()).expect("it runs")
}

#[test]
fn a_card_belongs_where_its_run_says_and_each_tray_has_one() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = path.join("lessons/03-efficiency-or-correctness.md");
    let text = std::fs::read_to_string(file).expect("the lesson is there");
    let spoilt = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    };

    let wasteful = "tray = \"efficiency\"\nvariant = \"account\"";
    let wasteful = spoilt("tray = \"correctness\"\nvariant = \"account\"", wasteful);
    let checked = lesson::check(&lesson::parse(&wasteful).expect("it can be read"));
    let [wrong] = checked.failed.as_slice() else { panic!("{:?}", checked.failed) };
    let line = wasteful.lines().nth(wrong.place.line - 1);
    assert_eq!(line, Some("variant = \"account\""), "the card is pointed at");
    assert!(wrong.message.starts_with("in this run the invariant turns false"), "{wrong:?}");

    let errors = |text: &str| -> Vec<String> {
        let errors = lesson::parse(text).expect_err("it is wrong");
        errors.into_iter().map(|e| e.message).collect()
    };
    let [wrong] = &errors(&spoilt("tray = \"correctness\"", "tray = \"efficiency\""))[..] else {
        panic!("one mistake")
    };
    assert!(wrong.starts_with("found no card for the tray `correctness`"), "{wrong}");
    let unknown = spoilt("variant = \"seat\"", "variant = \"seet\"");
    let [wrong] = &errors(&unknown)[..] else { panic!("one mistake") };
    assert!(wrong.starts_with("no variant `seet`; the variants are"), "{wrong}");
}

#[test]
fn what_was_said_of_a_card_is_answered_by_its_run_and_the_story_goes_on_where_it_stood() {
    let told = open().after(Action::Next(true)).after(Action::Next(true));
    let (beat, head) = (told.beat(), told.head);
    assert!(beat.is_some());
    // The account is the second card; a learner calls it wasteful.
    let sorted = told.after(Action::Deal(1)).after(Action::Sort(Class::Efficiency));
    assert_eq!(sorted.card_title(1), "Account");
    assert_eq!(sorted.lesson.variants[sorted.variant].name, "account");
    assert!(sorted.at_end() && sorted.decided());
    assert!(sorted.show.run.judgement.verdict.invariant_broken > Some(0));
    assert!(!sorted.agrees(1));
    let belief = lesson::misconception("M2").expect("there is one");
    assert_eq!(sorted.stumbled(), [(belief, "Account".to_string())]);
    // The story is where it was, and the cards stay sorted.
    let back = sorted.after(Action::Story);
    assert_eq!((back.beat(), back.head, back.variant), (beat, head, told.variant));
    assert_eq!(back.tray(Class::Efficiency), [1]);
    let next = sorted.after(Action::Next(true));
    assert_eq!(next.variant, told.variant);
    assert!(next.cards.sorting.is_none());
}

#[test]
fn a_lesson_with_cards_is_done_when_all_are_sorted() {
    let mut state = open();
    let trays: Vec<Class> = state.lesson.cards.iter().map(|c| c.tray).collect();
    for (index, tray) in trays.into_iter().enumerate() {
        assert!(!state.cards.done());
        state = state.after(Action::Deal(index)).after(Action::Sort(tray));
        assert!(state.agrees(index), "{}", state.card_title(index));
    }
    assert!(state.cards.done() && state.stumbled().is_empty());
    assert_eq!(state.tray(Class::Efficiency).len(), state.tray(Class::Correctness).len());
    // Nothing that does not exist can be taken up.
    assert_eq!(state.after(Action::Deal(99)).cards.top, state.cards.top);
}
