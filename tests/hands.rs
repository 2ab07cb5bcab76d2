//! A hand on the numbers of a run: what it drags, nudges and types changes the run at once, is one
//! thing to undo, and leaves the learner where the learner was.

use std::path::Path;

use lockscope::lesson;
use lockscope::narrate::Tone;
use lockscope::run::Span;
use lockscope::search::{Goal, NoEdge};
use lockscope::sim::{Micros, ProcId};
use lockscope::ui::fault::Fault;
use lockscope::ui::hold::{Grip, Number, in_seconds, seconds};
use lockscope::ui::sought::Found;
use lockscope::ui::state::{Action, Place, State};
use lockscope::ui::voice::Wish;

const LENGTH: Number = Number { edit: 0, span: Span::Length };
const START: Number = Number { edit: 0, span: Span::Moment };

fn race_lesson() -> lesson::Lesson {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("lessons/05-lease-expiration.md");
    lesson::read(&path).expect("the race is there")
}

fn race() -> State {
    State::open(race_lesson(), &Place::default()).expect("it runs")
}

fn after(state: &State, actions: impl IntoIterator<Item = Action>) -> State {
    actions.into_iter().fold(state.clone(), |state, action| state.after(action))
}

fn grip(state: &State, number: Number) -> Grip {
    state.grips().into_iter().find(|g| g.number == number).expect("the edge is in the picture")
}

fn length(state: &State) -> Micros {
    state.show.number(LENGTH).expect("the pause has a length")
}

#[test]
fn dragging_the_end_of_a_pause_recomputes_the_run_and_keeps_the_edge_under_the_hand() {
    let open = race().after(Action::End);
    let from = grip(&open, LENGTH).point.y;
    let top = grip(&open, START).point.y + 8;
    let mut state = open.after(Action::Grab(LENGTH));
    let mut verdicts = Vec::new();
    for y in (top..from).rev().step_by(3).chain(top..from + 200) {
        state = state.after(Action::Drag(y, false));
        let edge = grip(&state, LENGTH).point.y;
        assert!((edge - y).abs() <= 4, "the hand is at {y}, the edge at {edge}");
        // The picture says the same as the handle.
        let at = state.show.pause_end();
        assert!((state.show.picture.y_of(at) - edge).abs() <= 1);
        verdicts.push(state.show.headline.tone);
        assert!(length(&state).0.is_multiple_of(10_000));
    }
    assert!(verdicts.contains(&Tone::Calm) && verdicts.contains(&Tone::Harm));
    let fine = state.after(Action::Drag(from - 33, true));
    assert!(!length(&fine).0.is_multiple_of(10_000) || length(&fine).0.is_multiple_of(1_000));
}

trait PauseEnd {
    fn pause_end(&self) -> Micros;
}

impl PauseEnd for lockscope::ui::show::Show {
    fn pause_end(&self) -> Micros {
        let value = |n| self.number(n).expect("the pause has both");
        value(START).plus(value(LENGTH))
    }
}

#[test]
fn what_lies_above_the_hand_does_not_move() {
    let open = race().after(Action::End);
    let from = grip(&open, LENGTH).point.y;
    let drag = [Action::Grab(LENGTH), Action::Drag(from - 120, false)];
    let dragged = after(&open, drag);
    let (old, new) = (&open.show.picture, &dragged.show.picture);
    let edge = dragged.show.pause_end();
    let above: Vec<_> = new.knots.iter().filter(|k| k.at < edge).collect();
    assert!(above.len() > 5);
    for knot in above {
        assert_eq!(old.y_of(knot.at), knot.y, "{}", knot.at);
    }
}

#[test]
fn one_drag_is_one_thing_to_undo_and_escape_takes_it_back() {
    let open = race().after(Action::End);
    let hash = open.show.run.hash();
    let from = grip(&open, LENGTH).point.y;
    let moves: Vec<Action> = (1..40).map(|n| Action::Drag(from - 4 * n, false)).collect();
    let held = after(&open, [Action::Grab(LENGTH)].into_iter().chain(moves));
    assert_ne!(held.show.run.hash(), hash);
    assert!(held.past.is_empty());

    let done = held.after(Action::LetGo);
    assert_eq!(done.past.len(), 1);
    assert!(done.hold.is_none());
    let Wish::Done(words) = &done.spoken.1 else { panic!("what was done is said") };
    assert!(words.starts_with("Length of the pause of Client A: "), "{words}");
    let undone = done.after(Action::Undo);
    assert_eq!(undone.show.run.hash(), hash);
    assert_eq!(undone.edits, open.edits);
    assert_eq!(undone.after(Action::Redo).edits, done.edits);

    let cancelled = held.after(Action::Cancel);
    assert_eq!((cancelled.edits.clone(), cancelled.head), (open.edits.clone(), open.head));
    assert_eq!(cancelled.show.picture, open.show.picture);
    assert!(cancelled.past.is_empty());

    // A hand that comes back to where it was has done nothing.
    let back = after(&held, [Action::Drag(from, true), Action::LetGo]);
    assert_eq!((back.edits, back.past.len()), (open.edits.clone(), 0));
    // Whatever else happens lets go first.
    assert_eq!(held.after(Action::Start).past.len(), 1);
}

#[test]
fn the_learner_stays_at_the_moment_and_never_before_the_edge() {
    let open = race();
    let told = open.show.head(open.show.decisions.iter().copied().find(|e| {
        let event = &open.show.run.record.events[*e as usize];
        lockscope::run::kind::kind(event) == "resume"
    }));
    let at = open.after(Action::GoTo(told.event));
    let y = grip(&at, LENGTH).point.y;
    let shorter = after(&at, [Action::Grab(LENGTH), Action::Drag(y - 60, false), Action::LetGo]);
    assert_eq!(shorter.head.at, at.head.at.min(shorter.show.run.end));
    let longer = after(&at, [Action::Grab(LENGTH), Action::Drag(y + 60, false), Action::LetGo]);
    assert_eq!(longer.head.at, longer.show.pause_end());
    // Whoever has seen how it ends sees how it ends now.
    let end = after(&open, [Action::End, Action::Grab(LENGTH), Action::Drag(y - 90, false)]);
    assert!(end.at_end());
    assert_eq!(end.seen, end.show.run.end);
    // Nothing is shown of what has not happened.
    assert!(open.grips().is_empty());
}

#[test]
fn dragging_the_start_moves_the_whole_pause() {
    let open = race().after(Action::End);
    let y = grip(&open, START).point.y;
    let moved = after(&open, [Action::Grab(START), Action::Drag(y - 20, false), Action::LetGo]);
    let at = moved.show.number(START).expect("it has a start");
    assert!(at < Micros::from_millis(1_200), "{at}");
    assert_eq!(moved.edits[0], format!("at {at} pause client-a for 12s"));
    assert_eq!(length(&moved), Micros::from_secs(12));
    // Out of the client's life it finds no occasion, and the hand still has it.
    let far = after(&open, [Action::Grab(START), Action::Drag(y + 9_000, false)]);
    assert!(far.show.run.unused_edits.contains(&0));
    assert!((grip(&far, START).point.y - y - 9_000).abs() <= 1);
    assert_eq!(far.after(Action::Cancel).edits, open.edits);
}

#[test]
fn steps_of_one_number_are_one_thing_to_undo() {
    let open = race().after(Action::End);
    let steps = (0..60).map(|_| Action::Nudge(LENGTH, 100_000));
    let state = after(&open, steps);
    assert_eq!(length(&state), Micros::from_secs(18));
    assert_eq!(state.past.len(), 1);
    let other = after(&state, [Action::Nudge(START, -100_000), Action::Nudge(LENGTH, 1_000)]);
    assert_eq!(other.past.len(), 3);
    assert_eq!(state.after(Action::Undo).edits, open.edits);
    // It ends where a number ends.
    let least = after(&open, [Action::Nudge(LENGTH, -900_000_000)]);
    assert_eq!(length(&least), Micros::from_millis(1));
}

#[test]
fn a_number_is_typed_and_what_cannot_be_read_stays() {
    let open = race();
    let typed =
        |text: &str| after(&open, [Action::Type(LENGTH, text.into()), Action::Enter(LENGTH)]);
    for (text, time) in [("20", 20_000), ("11,284", 11_284), (" 0.5 s", 500), ("250ms", 250)] {
        let state = typed(text);
        assert_eq!(length(&state), Micros::from_millis(time), "{text}");
        assert_eq!((state.typed, state.past.len()), (None, 1), "{text}");
        assert_eq!(state.head, open.head);
    }
    for text in ["", "0", "-3", "twelve", "601", "1e3", "12.0000001"] {
        let state = typed(text);
        assert_eq!(state.typed, Some((LENGTH, text.to_string(), true)));
        assert_eq!(state.edits, open.edits, "{text}");
    }
    assert_eq!(typed("12").past.len(), 0, "the same number is no change");
}

#[test]
fn seconds_read_back_as_they_are_shown() {
    for micros in [0, 1_000, 250_000, 11_284_000, 12_000_000, 600_000_000, 1] {
        assert_eq!(seconds(&in_seconds(Micros(micros))), Some(Micros(micros)));
    }
    assert_eq!(in_seconds(Micros(11_280_000)), "11.28");
}

#[test]
fn the_millisecond_that_decides_is_found_with_both_runs_and_the_arrow_that_swapped() {
    let open = race();
    let found = Found::of(&open, 0).expect("the run has a pause");
    let edge = found.edge.as_ref().expect("there is an edge");
    // B's read arrives at 10.45 s; A's write leaves when the pause ends and is on its way for 50 ms.
    assert_eq!((edge.safe, edge.harmful), (Micros::from_millis(9_200), Micros::from_millis(9_201)));
    let stale = found.stale.as_ref().expect("the write is stale before it does harm");
    // B is granted the lock at 10.35 s.
    assert_eq!(stale.harmful, Micros::from_millis(9_101));
    expect_test::expect!["One millisecond more, and Client A's write balance = 90 (token 41) arrives after Client B's read of balance instead of before it."].assert_eq(&found.turned().unwrap_or_default());
    assert_eq!(found.label, "Length of the pause of Client A");
    assert!(found.runs < 1_500, "{}", found.runs);
    assert_eq!(found.pictures(430).map(|p| p.len()), Some(2));
    for harmful in [false, true] {
        let (edits, event) = found.place(harmful).expect("there is a run");
        let shown = open.after(Action::Open(edits, event));
        assert_eq!(shown.show.run.judgement.verdict.harmed(), harmful);
        assert!(shown.head.event >= Some(event) && shown.decided());
        assert_eq!(shown.past.len(), 1);
    }
}

#[test]
fn behind_the_check_harm_comes_only_between_too_late_and_rejected() {
    let fixed = race().after(Action::Defend(0));
    let found = Found::of(&fixed, 0).expect("the run has a pause");
    // B reads without its token; from 9.201 s to 11.3 s the late write lands before B's own.
    assert!(found.no_harm.is_none());
    let edge = found.edge.as_ref().expect("there is an edge");
    assert_eq!((edge.goal, edge.harmful), (Goal::Harm, Micros::from_millis(9_201)));
    assert!(found.pictures(430).is_some());
    // An edit without a length has no edge, and no run of it is opened.
    let none = Found::of(&fixed, 1).expect("an answer");
    assert!(matches!(none.no_harm, Some(NoEdge::NoLength)));
    assert!(none.edge.is_none() && none.pictures(430).is_none() && none.place(true).is_none());
}

#[test]
fn whatever_the_menu_offers_finds_its_occasion_and_keeps_the_past() {
    let open = race();
    let (a, service, resource) = (ProcId(0), ProcId(2), ProcId(3));
    let span = Micros::from_secs(2);
    let mut tried = 0;
    for step in open.show.stops.clone() {
        let state = open.after(Action::GoTo(Some(step)));
        let faults = [
            Some(Fault::Pause(a, span)),
            state.next_time(a, "write").map(|_| Fault::PauseBefore(a, "write", span)),
            state.next_time(a, "release").map(|_| Fault::PauseBefore(a, "release", span)),
            Some(Fault::Cut(a, Some(service), span)),
            Some(Fault::Cut(a, None, span)),
            Some(Fault::CutOneWay(resource, a, span)),
            state.next_message(a, resource).map(|_| Fault::Lose(a, resource)),
            state.next_message(a, resource).map(|_| Fault::Delay(a, resource, span)),
        ];
        for fault in faults.into_iter().flatten() {
            let broken = state.after(Action::Break(fault.clone()));
            assert_eq!(broken.wrong, None, "{fault:?}");
            let done = (step + 1) as usize;
            let past = |s: &State| s.show.run.record.events[..done].to_vec();
            assert!(past(&state) == past(&broken), "{fault:?} at {step}");
            let alive = !state.show.world(state.head).is_down(a) && !state.at_end();
            if alive && state.head.at < Micros::from_secs(13) {
                let last = broken.edits.len() - 1;
                assert!(!broken.show.run.unused_edits.contains(&last), "{fault:?} at {step}");
                tried += 1;
            }
        }
    }
    assert!(tried > 100, "{tried}");
    assert!(open.offers("pause") && !open.offers("drop"), "the lesson says what it offers");
}

#[test]
fn whatever_has_a_length_has_its_edge() {
    for (variant, label) in [
        ("partition", "Length of the cut"),
        ("delayed", "Length of the delay of message 2 from Client A to Resource"),
        ("frozen", "Length of the pause of Client A"),
    ] {
        let place = Place { variant: Some(variant.into()), ..Place::default() };
        let state = State::open(race_lesson(), &place).expect("it runs");
        let found = Found::of(&state, 0).expect("an answer");
        assert_eq!(found.label, label);
        let edge = found.edge.as_ref().expect("each of these does harm from some length on");
        assert!(!edge.safe_run.judgement.verdict.harmed(), "{variant}");
        assert!(edge.harmful_run.judgement.verdict.harmed(), "{variant}");
        assert!(found.turned().is_some() && found.pictures(430).is_some(), "{variant}");
    }
}
