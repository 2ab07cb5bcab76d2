//! What a learner made outlives an edit, an undo, the page, and another tab; and two runs are compared.

use std::path::Path;
use std::rc::Rc;

use lockscope::lesson::{self, Class, Lesson, Level};
use lockscope::narrate::Tone;
use lockscope::run::{Course, MOST_BRANCHES, MOST_EDITS, Parting, Span, kind};
use lockscope::sim::{Micros, ProcId};
use lockscope::ui::fault::Fault;
use lockscope::ui::hold::Number;
use lockscope::ui::kept::{self, Kept};
use lockscope::ui::learn::{Said, Seen};
use lockscope::ui::state::{Action, MOST_UNDO, Place, State};
use lockscope::ui::strings;
use lockscope::ui::versus::{Against, Versus};
use lockscope::ui::voice::Wish;

const LENGTH: Number = Number { edit: 0, span: Span::Length };

fn race() -> Lesson {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("lessons/05-lease-expiration.md");
    lesson::read(&path).expect("the race is there")
}

fn open() -> State {
    State::open(race(), &Place::default()).expect("it runs")
}

fn after(state: State, actions: impl IntoIterator<Item = Action>) -> State {
    actions.into_iter().fold(state, |state, action| state.after(action))
}

fn names(state: &State) -> Vec<String> {
    state.kept.branches.list().iter().map(|b| state.name_of(b)).collect()
}

/// The same lesson opened anew, with what a browser kept of it.
fn reload(state: &State, text: &str, tab: u64) -> State {
    let place = Place {
        variant: Some(state.course().variant),
        edits: Some(state.edits.clone()),
        event: state.head.event,
        level: state.level,
        ..Place::default()
    };
    let kept = kept::of_lesson(Some(text), &state.lesson.id).expect("it was written here");
    State::open(race(), &place).expect("it runs").recall(kept, &[tab])
}

fn keep(state: &State, text: Option<&str>, tab: u64) -> String {
    kept::put(text, &state.lesson.id, &state.to_keep(tab)).expect("it can be kept").0
}

#[test]
fn an_edit_keeps_the_old_future_as_a_branch() {
    let state = open().after(Action::Seek(Micros::from_secs(5)));
    let pause = Fault::Pause(ProcId(1), Micros::from_secs(4));
    let broken = state.after(Action::Break(pause));
    assert_eq!(names(&broken), ["A long pause", "A long pause, with: at 5s pause client-b for 4s"]);
    let old = broken.kept.branches.list()[0].clone();
    assert_eq!((old.course, old.at), (state.course(), state.head.at));
    assert_eq!(broken.branch, broken.course().id());
    // It comes back where it was left, and undo leads on from there.
    let back = broken.after(Action::Branch(old.id));
    assert_eq!((&back.edits, back.head), (&state.edits, state.head));
    assert_eq!(back.after(Action::Undo).edits, broken.edits);
    // The same run made again is the same branch.
    let again = after(back, [Action::Add(broken.edits[1].clone())]);
    assert_eq!(again.kept.branches.list().len(), 2);
}

#[test]
fn a_run_with_as_many_edits_as_it_may_have_says_why_nothing_more_happens() {
    let many = (0..MOST_EDITS - 1).map(|n| format!("at {}ms send resource 1", 100 + n));
    let own = open().edits.clone();
    let edits = own.into_iter().chain(many).collect();
    let full =
        State::open((*open().lesson).clone(), &Place { edits: Some(edits), ..Place::default() });
    let full = full.expect("it runs");
    assert_eq!(full.edits.len(), MOST_EDITS);
    assert!(strings::EDITS_FULL.contains(&MOST_EDITS.to_string()));
    for action in [Action::Defend(0), Action::Break(Fault::Crash(ProcId(0))), Action::Send(7)] {
        let tried = full.after(action);
        assert_eq!((tried.notice, tried.edits.len()), (Some(strings::EDITS_FULL), MOST_EDITS));
        assert_eq!(tried.spoken.1, Wish::Done(strings::EDITS_FULL.into()));
    }
}

#[test]
fn a_story_that_is_only_read_leaves_no_branches_and_a_comparison_tells_both_ends() {
    let all = open().lesson.beats.len() + 12;
    let read = after(open(), (0..all).map(|_| Action::Next(true)));
    assert!(read.variant > 0, "the story turned to other runs");
    assert_eq!((read.kept.branches.list().len(), read.made()), (0, 0));
    let made = after(open(), [Action::Add("at 5s crash client-b".into())]);
    assert_eq!((names(&made).len(), made.made()), (2, 1));
    let other = made.kept.branches.list()[0].id;
    assert_eq!(made.verdict_of(made.kept.branches.list()[0]), None);
    let compared = made.after(Action::Compare(Some(Against::Branch(other))));
    let list = compared.kept.branches.list();
    assert!(list.iter().all(|b| compared.verdict_of(b).is_some()), "both ends were on screen");
}

#[test]
fn steps_of_one_number_and_one_drag_are_one_branch() {
    let state = open().after(Action::End);
    let nudged = after(state.clone(), (0..5).map(|_| Action::Nudge(LENGTH, 100_000)));
    assert_eq!(nudged.kept.branches.list().len(), 2);
    // Another number is another branch; so is a step after something else was done.
    let start = Number { edit: 0, span: Span::Moment };
    let other = after(nudged, [Action::Nudge(start, 100_000), Action::Nudge(start, 100_000)]);
    assert_eq!(other.kept.branches.list().len(), 3);
    let grip = state.grips().into_iter().find(|g| g.number == LENGTH).expect("it can be dragged");
    let drag = (1..9).map(|n| Action::Drag(grip.point.y - 5 * n, false));
    let dragged = after(state, [Action::Grab(LENGTH)].into_iter().chain(drag));
    assert!(dragged.kept.branches.list().is_empty(), "as long as the hand holds it");
    assert_eq!(dragged.after(Action::LetGo).kept.branches.list().len(), 2);
}

#[test]
fn branches_are_renamed_deleted_and_brought_back() {
    let state = after(open(), [Action::Defend(0), Action::Add("at 5s crash client-b".into())]);
    let ids: Vec<u64> = state.kept.branches.list().iter().map(|b| b.id).collect();
    let named = state.after(Action::Rename(ids[0], " the  worked example ".into()));
    assert_eq!(names(&named)[0], "the worked example");
    let deleted = named.after(Action::Delete(ids[0]));
    assert_eq!((names(&deleted).len(), deleted.edits.len()), (2, state.edits.len()));
    assert_eq!(names(&deleted.after(Action::Revive)), names(&named));
    // The run on screen stays.
    assert_eq!(names(&named.after(Action::Delete(named.branch))).len(), 3);
    let nameless = named.after(Action::Rename(ids[0], "  ".into()));
    assert_eq!(names(&nameless)[0], "A long pause");
}

#[test]
fn a_verdict_is_told_only_of_what_was_seen() {
    let state = open().after(Action::Defend(0));
    let first = |s: &State| s.verdict_of(s.kept.branches.list()[0]).map(|v| v.0);
    assert_eq!(first(&state), None);
    let seen = after(open(), [Action::End, Action::Defend(0)]);
    assert_eq!(first(&seen), Some(Tone::Harm));
    let second = seen.verdict_of(seen.kept.branches.list()[1]).map(|v| v.0);
    assert_eq!(second, Some(Tone::Fenced), "whoever has seen a verdict sees the next one's");
}

#[test]
fn everything_survives_a_reload() {
    let said = Said { answer: 1, sure: 90, why: "“because”\n".into() };
    let acts = (0..MOST_UNDO + 8).map(|n| Action::Add(format!("at {}ms send resource 1", 100 + n)));
    let mut state =
        after(open(), [Action::Commit(0, said.clone()), Action::Look(0, Seen::Rejected)]);
    state = after(state, acts.chain([Action::Undo, Action::Undo]));
    let level = [Action::Level(Some(Level::Help)), Action::Solve, Action::End];
    let solved = after(state.clone(), level);
    for state in [state, solved] {
        let text = keep(&state, None, 7);
        let again = reload(&state, &text, 7);
        assert_eq!(again.kept.branches.list(), state.kept.branches.list());
        assert_eq!(again.said[0], Some(said.clone()));
        assert_eq!(again.looked[0], Some(Seen::Rejected));
        assert_eq!(again.solved, state.solved);
        assert_eq!((again.past.len(), again.future.len()), (state.past.len(), state.future.len()));
        let (mut one, mut two) = (state, again);
        while !one.past.is_empty() {
            (one, two) = (one.after(Action::Undo), two.after(Action::Undo));
            assert_eq!((&one.edits, one.head, one.level), (&two.edits, two.head, two.level));
        }
        assert!(two.past.is_empty() && one.future.len() == two.future.len());
        assert_eq!(one.after(Action::Redo).edits, two.after(Action::Redo).edits);
    }
}

#[test]
fn what_was_answered_can_be_forgotten_and_stays_forgotten() {
    let said = Said { answer: 1, sure: 50, why: String::new() };
    let state = open().after(Action::Commit(0, said));
    let text = keep(&state, None, 1);
    let forgot = state.after(Action::Forget);
    let text = keep(&forgot, Some(&text), 1);
    assert_eq!(reload(&forgot, &text, 1).said[0], None);
}

#[test]
fn cards_stay_sorted_and_their_runs_are_no_branches() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("lessons/03-efficiency-or-correctness.md");
    let lesson = lesson::read(&path).expect("the cards are there");
    let first = State::open(lesson.clone(), &Place::default()).expect("it runs");
    let acts = [
        Action::Deal(0),
        Action::Sort(Class::Correctness),
        Action::Deal(3),
        Action::Sort(Class::Efficiency),
    ];
    let sorted = after(first, acts);
    assert!(sorted.kept.branches.list().is_empty());
    let text = keep(&sorted, None, 1);
    let kept = kept::of_lesson(Some(&text), &lesson.id).expect("it was written here");
    let again = State::open(lesson, &Place::default()).expect("it runs").recall(kept, &[1]);
    assert_eq!(again.cards.said, sorted.cards.said);
    assert!(again.cards.said[0].is_some() && again.cards.said[3].is_some());
}

#[test]
fn a_step_back_is_kept_although_what_it_takes_back_was_kept_before() {
    let made = after(open(), [Action::Add("at 5s crash client-b".into()), Action::Defend(0)]);
    let mut text = keep(&made, None, 1);
    let mut state = made;
    // Each is written before the next is done, as it is where a learner takes a moment.
    let steps = [
        (Action::Undo, [1, 1]),
        (Action::Redo, [2, 0]),
        (Action::Undo, [1, 1]),
        (Action::Undo, [0, 2]),
    ];
    for (step, lists) in steps {
        let keeps = state.keeps;
        state = state.after(step);
        assert!(state.keeps > keeps);
        text = keep(&state, Some(&text), 1);
        let again = reload(&state, &text, 1);
        assert_eq!([again.past.len(), again.future.len()], lists);
    }
}

#[test]
fn two_tabs_on_one_storage_lose_nothing() {
    let said = |answer| Said { answer, sure: 70, why: String::new() };
    let one = after(open(), [Action::Defend(0), Action::Commit(0, said(0))]);
    let two = after(
        open(),
        [
            Action::Add("at 5s crash client-b".into()),
            Action::Level(Some(Level::Help)),
            Action::Solve,
            Action::End,
        ],
    );
    // Both read before either wrote; the second to write takes over what it finds.
    let text = keep(&one, None, 1);
    let (text, merged) =
        kept::put(Some(&text), &two.lesson.id, &two.to_keep(2)).expect("it can be kept");
    let two = two.after(Action::TakeOver(Rc::new(merged)));
    let hear = |state: &State, text: &str| {
        let kept = kept::of_lesson(Some(text), &state.lesson.id).expect("it was written here");
        state.after(Action::TakeOver(Rc::new(kept)))
    };
    let (keeps, one) = (one.keeps, hear(&one, &text));
    assert_eq!(
        one.keeps, keeps,
        "what was heard need not be written again, or two tabs would never rest"
    );
    assert_eq!(one.kept.branches, two.kept.branches);
    assert!(one.kept.branches.list().len() >= 4);
    assert_eq!((&one.said, &one.solved), (&two.said, &two.solved));
    assert!(one.said[0].is_some() && one.solved.contains(&true));
    // Each tab has its own undo list.
    let (again_one, again_two) = (reload(&one, &text, 1), reload(&two, &text, 2));
    assert_eq!((again_one.past.len(), again_two.past.len()), (one.past.len(), two.past.len()));
    // A tab that was written over writes again.
    let over = keep(&open().after(Action::Defend(1)), None, 3);
    assert_eq!(hear(&one, &over).keeps, keeps + 1);
}

#[test]
fn branches_go_into_a_file_and_come_back_elsewhere() {
    let state = after(open(), [Action::Defend(0), Action::Add("at 5s crash client-b".into())]);
    let state = state.after(Action::Rename(state.branch, "mine".into()));
    let file = kept::file(&keep(&state, None, 1)).expect("it can be written");
    assert!(file.contains("\"name\": \"mine\""), "{file}");
    let other = open().after(Action::Add("at 9s crash client-a".into()));
    let (text, came) = kept::import(Some(&keep(&other, None, 2)), &file).expect("it can be read");
    let id = state.lesson.id.clone();
    assert_eq!(came, [(id, 2)], "the run that both began with is one");
    let all = reload(&other, &text, 2);
    assert_eq!(all.kept.branches.list().len(), 4);
    assert_eq!(kept::import(Some(&text), &file).expect("it can be read"), (text.clone(), vec![]));
    assert_eq!(all.past.len(), other.past.len(), "a file says nothing of what a tab can undo");
}

#[test]
fn a_file_brings_back_what_was_deleted_since_and_deletes_nothing() {
    let state = after(open(), [Action::Defend(0), Action::Add("at 5s crash client-b".into())]);
    let gone = state.kept.branches.list()[1].id;
    let state = state.after(Action::Rename(gone, "mine".into()));
    let file = kept::file(&keep(&state, None, 1)).expect("it can be written");
    let deleted = state.after(Action::Delete(gone));
    assert!(deleted.kept.branches.get(gone).is_none());
    let text = keep(&deleted, None, 1);
    let (all, came) = kept::import(Some(&text), &file).expect("it can be read");
    assert_eq!(came, [(state.lesson.id.clone(), 1)]);
    // What the page had deleted is there again, and so it is in a tab that knows of the deletion.
    let kept = kept::of_lesson(Some(&all), &state.lesson.id).expect("it was written here");
    let taken = deleted.after(Action::TakeOver(Rc::new(kept)));
    assert_eq!(taken.kept.branches.get(gone).and_then(|b| b.name.clone()).as_deref(), Some("mine"));
    assert_eq!(reload(&taken, &keep(&taken, Some(&text), 1), 1).kept.branches.list().len(), 3);
    // A file that was written after the deletion takes nothing away.
    let later = kept::file(&text).expect("it can be written");
    let (same, came) = kept::import(Some(&all), &later).expect("it can be read");
    assert_eq!((same, came), (all, vec![]));
}

#[test]
fn a_bad_file_is_refused_with_the_place_and_changes_nothing() {
    let state = after(open(), [Action::Defend(0)]);
    let text = keep(&state, None, 1);
    for (from, to, why) in [
        ("{", "", "character 12: expected the end"),
        (
            "\"lockscope\":1",
            "\"lockscope\":2",
            "`lockscope`: it is of version 2, and this page reads 1",
        ),
        ("\"lockscope\":1", "\"other\":1", "it is no file of Lockscope"),
        ("\"lessons\":{", "\"lesson\":{", "`lessons`: expected lessons by their ids"),
        ("\"lease-expiration\":{", "\"<b>\":{", "“<b>” is no id of a lesson"),
        (
            "\"run\":\"base\"",
            "\"run\":7",
            "`lessons.lease-expiration.branches.1.run`: expected a text",
        ),
        (
            "\"run\":\"base\"",
            "\"ran\":7",
            "`lessons.lease-expiration.branches.1`: expected a field `run`",
        ),
        ("\"edits\":[", "\"edits\":[null,", "branches.1.edits.1`: expected a text"),
        ("\"made\":1,", "\"made\":18446744073709551615,", ".made`: expected a whole number"),
        ("\"undo\":[", "\"undo\":{},\"x\":[", "undo`: expected a list"),
    ] {
        let spoilt = text.replacen(from, to, 1);
        assert_ne!(spoilt, text, "{from}");
        let refused = kept::import(Some(&text), &spoilt).expect_err(why);
        assert!(refused.contains(why), "{refused}");
        // What is kept and cannot be read is left alone; another lesson's is nobody's business here.
        let put = kept::put(Some(&spoilt), "lease-expiration", &Kept::default());
        assert_eq!(put.is_err(), !to.contains("<b>"), "{why}");
    }
    for cut in (0..text.len()).step_by(7) {
        assert!(kept::import(Some(&text), &text[..cut]).is_err());
    }
    let many = format!("[{}]", vec!["\"x\""; 201].join(","));
    let refused =
        kept::import(None, &text.replacen("[\"pause", &format!("{many},\"y\":[\"pause"), 1));
    assert!(refused.expect_err("too many").contains("at most 200 of them"));
}

#[test]
fn the_work_of_other_lessons_and_editions_is_carried_along() {
    let foreign = r#"{"lockscope":1,"lessons":{"other":{"branches":[],"tomorrow":{"a":[1]}}}}"#;
    let state = open().after(Action::Defend(0));
    let text = keep(&state, Some(foreign), 1);
    assert!(text.contains(r#""other":{"branches":[],"tomorrow":{"a":[1]}}"#), "{text}");
    let less = kept::without_undo(&text).expect("it can be read");
    assert!(!less.contains("\"undo\"") && less.contains("\"branches\""));
}

#[test]
fn a_branch_whose_run_is_gone_says_so_and_stays() {
    let mut kept = Kept::default();
    let gone = Course { variant: "no-such".into(), ..Course::default() };
    let bad =
        Course { variant: "base".into(), edits: vec!["at 3s crush client-a".into()], seed: None };
    for course in [&gone, &bad] {
        kept.branches.visit(course, None, Micros::ZERO);
    }
    let state = open().recall(kept, &[]);
    for (course, why) in [(gone, "no such run"), (bad, "character 7")] {
        let tried = state.after(Action::Branch(course.id()));
        let told = tried.unopened.clone().unwrap_or_default();
        assert!(told.contains(why), "{told}");
        assert_eq!(tried.spoken.1, Wish::Done(told), "nothing else is said");
        assert_eq!(tried.wrong, None, "nothing that was typed is wrong");
        assert_eq!((&tried.edits, tried.past.len()), (&state.edits, 0));
        assert_eq!(tried.kept.branches.list().len(), 2);
    }
}

#[test]
fn a_thousand_edits_leave_a_list_that_can_be_read() {
    let mut state = open();
    for n in 0..300 {
        state = after(
            state,
            [Action::Add(format!("at {}ms send resource 1", 100 + n)), Action::Remove(1)],
        );
    }
    assert_eq!(state.kept.branches.list().len(), MOST_BRANCHES);
    assert_eq!(state.past.len(), MOST_UNDO);
    assert!(keep(&state, None, 1).len() < 60_000);
}

#[test]
fn a_defence_is_compared_on_and_off_and_the_first_difference_is_where_the_resource_decides() {
    for state in [open(), open().after(Action::Defend(0))] {
        let versus = Versus::of(&state, &Against::Defence(0)).expect("there is a defence");
        let [on, off] = versus.runs().expect("both run");
        let parting = versus.parting.expect("they part");
        let kinds = [(on, parting.here), (off, parting.there)]
            .map(|(run, event)| kind::kind(run.record.event(event.expect("both go on"))));
        assert_eq!(kinds, ["reject", "accept"]);
        assert_eq!(parting.at, Micros::from_millis(13_250));
        let words = versus.words();
        assert!(
            words.starts_with(
                "Until 13.25 s both runs are the same. Then with it: Resource rejects"
            ),
            "{words}"
        );
        assert!(words.contains(" Without it: Resource accepts"), "{words}");
        let tones = versus.verdicts().expect("both run").map(|v| v.tone);
        assert_eq!(tones, [Tone::Fenced, Tone::Harm]);
        let figures: Vec<&str> = versus.figures().iter().map(|f| f.0.key).collect();
        assert!(figures.contains(&"stale_accepted") && !figures.contains(&"grants"), "{figures:?}");
        let [one, other] = versus.pictures(460).expect("both are drawn");
        let text = |e: &lockscope::diagram::Element| {
            e.attributes.iter().find(|a| a.0 == "height").map(|a| a.1.clone())
        };
        assert_eq!(text(&one), text(&other), "one scale");
        // A side that is opened shows the moment at which they part.
        let opened = state.after(Action::Compare(Some(Against::Defence(0)))).after(Action::Side(1));
        assert_eq!(opened.head.at, parting.at);
        assert!(opened.versus.is_none());
    }
}

#[test]
fn any_two_runs_are_compared_and_a_run_never_parts_from_itself() {
    let state = after(open(), [Action::Add("at 5s crash client-b".into())]);
    let first = state.kept.branches.list()[0].id;
    let versus = Versus::of(&state, &Against::Branch(first)).expect("it is there");
    let parting = versus.parting.expect("they part");
    assert_eq!(parting.at, Micros::from_secs(5));
    assert!(
        versus.words().contains("Then here, at 5.00 s: Client B crashes"),
        "{}",
        versus.words()
    );
    let [one, other] = versus.runs().expect("both run");
    let count = parting.here.expect("something happens").0 as usize;
    assert_eq!(one.record.events[..count], other.record.events[..count]);
    let itself = Versus::of(&state, &Against::Branch(state.branch)).expect("it is there");
    assert_eq!((itself.parting, itself.figures().len()), (None, 0));
    assert!(itself.words().contains("the same from the first event to the last"));
    // Runs of other programs have the same nodes, and still part somewhere.
    let other = after(open(), [Action::Variant(2)]);
    let mine = open();
    assert!(Parting::of(&mine.show.run, &other.show.run).is_some());
}

#[test]
fn a_read_that_carries_a_token_is_not_the_same_as_one_that_carries_none() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("lessons/06-fencing-tokens.md");
    let lesson = lesson::read(&path).expect("the lesson is there");
    let state = State::open(lesson, &Place::default()).expect("it runs");
    let versus = Versus::of(&state, &Against::Defence(1)).expect("there is a second defence");
    let words = versus.words();
    assert!(
        words.contains("Then with it: Client A sends a read of seats with token 41."),
        "{words}"
    );
    assert!(words.contains("Without it: Client A sends a read of seats."), "{words}");
}

#[test]
fn a_name_that_nobody_gave_says_what_is_not_as_in_the_lessons_run() {
    let fixed = open().after(Action::Variant(1));
    let pause = "pause client-a before write#1 for 12s";
    assert_eq!(fixed.edits, [pause, "set resource.check token"]);
    let own = fixed.edits.clone();
    let name = |edits: &[&str]| {
        let edits = edits.iter().map(|e| e.to_string()).collect();
        let course = Course { edits, ..fixed.course() };
        lockscope::ui::work::name_of(&fixed.lesson, &course)
    };
    let [one, two] = [own[0].as_str(), own[1].as_str()];
    for (edits, expected) in [
        (vec![one, two], ""),
        (vec![one], ", without: set resource.check token"),
        (vec![], ", with nothing done to it"),
        (
            vec!["pause client-a before write#1 for 8s", two],
            ", with: pause client-a before write#1 for 8s, changed",
        ),
        (vec!["at 1s crash client-b"], ", with: at 1s crash client-b, without 2 of its edits"),
        (vec![one, two, one], &format!(", with: {one}")),
    ] {
        assert_eq!(name(&edits), format!("The resource checks{expected}"), "{edits:?}");
    }
}
