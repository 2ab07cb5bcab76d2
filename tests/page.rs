//! The page without a browser: which key does what, what is said, what a class is asked, which colours
//! the style sheet has.

use std::fs;
use std::path::{Path, PathBuf};

use lockscope::diagram::palette::{DARK, LIGHT, Palette, Role};
use lockscope::lesson::{self, Lesson};
use lockscope::sim::{Micros, ProcId};
use lockscope::ui::class::Count;
use lockscope::ui::keys::{Act, Deed, Part, Press, Sheet, deed};
use lockscope::ui::learn::Said;
use lockscope::ui::show::Size;
use lockscope::ui::state::{Action, Fault, Place, State};
use lockscope::ui::voice::Wish;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn lessons() -> Vec<Lesson> {
    let entries = fs::read_dir(root().join("lessons")).expect("the folder is there").flatten();
    let is_lesson =
        |p: &PathBuf| p.extension().is_some_and(|e| e == "md") && !p.ends_with("README.md");
    let mut paths: Vec<PathBuf> = entries.map(|e| e.path()).filter(is_lesson).collect();
    paths.sort();
    paths.iter().map(|p| lesson::read(p).unwrap_or_else(|e| panic!("{e:?}"))).collect()
}

fn open(lesson: Lesson) -> State {
    State::open(lesson, &Place::default()).expect("the lesson runs")
}

fn race() -> State {
    open(lessons().into_iter().find(|l| l.id == "lease-expiration").expect("it is there"))
}

fn press(state: &State, keys: &str, letters: bool) -> Option<Deed> {
    let (held, key) = keys.rsplit_once('+').unwrap_or(("", keys));
    let press = Press {
        key,
        shift: held.contains("shift"),
        ctrl: held.contains("ctrl"),
        alt: held.contains("alt"),
        meta: held.contains("meta"),
        apple: held.contains("apple"),
    };
    deed(press, state, letters)
}

#[test]
fn every_key_of_the_table_does_what_it_says() {
    let state = race();
    let act = |action| Some(Deed::Do(action));
    let opens = |act| Some(Deed::Open(Sheet::Break(act)));
    for (keys, expected) in [
        (" ", act(Action::Play)),
        ("ArrowRight", act(Action::Step(Size::Event, true))),
        ("shift+ArrowLeft", act(Action::Step(Size::Decision, false))),
        ("ctrl+ArrowRight", act(Action::Next(true))),
        ("apple alt+ArrowRight", act(Action::Next(true))),
        ("ctrl+ArrowLeft", act(Action::Next(false))),
        ("alt+ArrowLeft", None),
        ("apple ctrl+ArrowLeft", None),
        ("meta+ArrowLeft", None),
        ("ctrl+Home", None),
        ("Home", act(Action::Start)),
        ("End", act(Action::End)),
        ("ArrowDown", None),
        ("PageDown", None),
        ("Escape", None),
        ("F5", None),
    ] {
        for letters in [true, false] {
            assert_eq!(press(&state, keys, letters), expected, "{keys}");
        }
    }
    for (keys, expected) in [
        ("k", act(Action::Play)),
        ("K", act(Action::Play)),
        (",", act(Action::Speed(2))),
        (".", act(Action::Speed(8))),
        ("f", act(Action::Defend(0))),
        ("]", act(Action::Select(ProcId(1)))),
        ("[", act(Action::Select(ProcId(3)))),
        ("g", Some(Deed::Open(Sheet::Go))),
        ("i", opens(None)),
        ("p", opens(Some(Act::Pause))),
        ("c", opens(Some(Act::Crash))),
        ("x", opens(Some(Act::Cut))),
        ("1", Some(Deed::To(Part::Log))),
        ("2", Some(Deed::To(Part::Diagram))),
        ("3", Some(Deed::To(Part::Program))),
        ("4", Some(Deed::To(Part::Knows))),
        ("l", Some(Deed::Link)),
    ] {
        assert_eq!(press(&state, keys, true), expected, "{keys}");
        assert_eq!(press(&state, keys, false), None, "{keys} is switched off");
        assert_eq!(press(&state, &format!("ctrl+{keys}"), true), None, "{keys} is the browser's");
    }
}

#[test]
fn on_a_projector_the_keys_of_a_presenter_work_and_no_others() {
    let state = race().after(Action::Present);
    for (key, expected) in [
        ("PageDown", Some(Deed::Turn(true))),
        ("PageUp", Some(Deed::Turn(false))),
        ("Escape", Some(Deed::Leave)),
        ("ArrowRight", Some(Deed::Do(Action::Step(Size::Event, true)))),
    ] {
        assert_eq!(press(&state, key, false), expected, "{key}");
    }
    for key in [".", "b", "B"] {
        assert_eq!(press(&state, key, true), Some(Deed::Blank));
        assert_eq!(press(&state, key, false), None);
    }
    for key in [",", "g", "i", "p", "1", "f", "F5"] {
        assert_eq!(press(&state, key, true), None, "{key}");
    }
}

#[test]
fn a_class_is_asked_before_any_way_on_passes_a_prediction() {
    for lesson in lessons() {
        let (title, count) = (lesson.title.clone(), lesson.predictions.len());
        assert!(count > 0, "{title}");
        let mut state = open(lesson).after(Action::Present);
        let mut asked = Vec::new();
        // Every beat, every question and the end take one press each; more would be a trap.
        for _ in 0..60 {
            state = state.after(Action::Turn(true));
            if let Some(question) = state.vote {
                assert!(!state.answered(question), "{title}: the run has answered it already");
                let (at, _) = state.show.questions[question].expect("it belongs to this run");
                assert!(state.head.event >= Some(at), "{title}: it is asked at its moment");
                asked.push(question);
                state = state.after(Action::Count(Count::Over));
                assert_eq!(state.vote, None);
            }
        }
        assert!(state.at_end(), "{title}: turning leads to the end");
        assert!(!asked.is_empty(), "{title}");
        let mut once = asked.clone();
        once.dedup();
        assert_eq!(asked, once, "{title}: nobody is asked twice");
        for _ in 0..60 {
            state = state.after(Action::Turn(false));
        }
        assert_eq!(state.head.event, None, "{title}: and back to its beginning");
    }
}

#[test]
fn playing_before_a_class_stops_to_ask_and_a_vote_lets_it_go_on() {
    let mut state = race().after(Action::Present);
    let (at, _) = state.show.questions.iter().flatten().min().copied().expect("it asks");
    state = state.after(Action::Play).after(Action::Arrived(at));
    assert!(state.vote.is_some() && !state.playing);
    // Whatever would go on shows the question again; leaving it leaves the class where it is.
    for action in [Action::Play, Action::Step(Size::Event, true), Action::End] {
        let left = state.after(Action::Leave);
        assert!(left.vote.is_none() && left.present);
        let again = left.after(action);
        assert_eq!((again.vote, again.head.event, again.playing), (state.vote, Some(at), false));
    }
    for count in [Count::Set(0, 12), Count::Set(1, 5), Count::Again, Count::Set(0, 17)] {
        state = state.after(Action::Count(count));
    }
    let question = state.vote.expect("it is open");
    assert_eq!((state.tallies[question].all(0), state.tallies[question].all(1)), (17, 17));
    state = state.after(Action::Count(Count::Over)).after(Action::Play);
    assert!(state.playing && state.vote.is_none());
    let last = state.after(Action::End);
    assert_eq!(last.voted(), Some(question));
    // A learner who reads alone is never stopped by a vote.
    assert_eq!(race().after(Action::End).vote, None);
}

#[test]
fn what_is_done_to_a_run_is_said_in_twelve_words() {
    let state =
        race().after(Action::Step(Size::Event, true)).after(Action::Step(Size::Event, true));
    let (a, b, span) = (ProcId(0), ProcId(2), Micros::from_millis(12_345));
    let faults = [
        Fault::Pause(b, span),
        Fault::PauseBefore(a, "write", span),
        Fault::Crash(b),
        Fault::Suspend(b, span),
        Fault::Freeze(b, span),
        Fault::PauseTask(a, 0, span),
        Fault::PowerOff(b),
        Fault::ShutDown(b),
        Fault::Clock(b, true, span),
        Fault::Clock(a, false, span),
        Fault::Rate(b, lockscope::sim::Ratio { num: 4, den: 5 }),
        Fault::Duplicate(a, b, span),
        Fault::Restart(b),
        Fault::Cut(a, Some(b), span),
        Fault::Cut(a, None, span),
        Fault::CutOneWay(a, b, span),
        Fault::Lose(a, b),
        Fault::Delay(a, b, span),
        Fault::Heal(a, Some(b)),
    ];
    let mut actions: Vec<Action> = faults.map(Action::Break).into();
    actions.extend([
        Action::Defend(0),
        Action::Add("at 3s crash client-b".into()),
        Action::Remove(0),
        Action::Select(b),
        Action::Speed(8),
    ]);
    for action in actions {
        let after = state.after(action.clone());
        let Wish::Done(words) = &after.spoken.1 else { panic!("{action:?} says nothing") };
        let count = words.split_whitespace().count();
        assert!(count <= 12, "{count} words: {words}");
    }
}

#[test]
fn a_step_wishes_its_sentence_and_moving_wishes_silence() {
    let state = race().after(Action::Step(Size::Decision, true));
    let Wish::Step { words, decision: true } = &state.spoken.1 else { panic!("it decides") };
    assert!(words.ends_with('.'), "{words}");
    let before = state.spoken.0;
    let state = state.after(Action::Seek(Micros::from_secs(5)));
    assert_eq!(state.spoken, (before + 1, Wish::Moving));
    let grant = state.show.decisions[0];
    let state = state.after(Action::Start).after(Action::Play).after(Action::Reached(grant));
    assert!(matches!(state.spoken.1, Wish::Passed { .. }), "{:?}", state.spoken.1);
}

/// The declarations of a style sheet between two marks.
fn tokens<'a>(sheet: &'a str, from: &str) -> Vec<(&'a str, &'a str)> {
    let block = sheet.split_once(from).expect("the block is there").1;
    let block = block.split_once('}').expect("it ends").0;
    let lines = block.lines().filter_map(|l| l.trim().strip_prefix("--")?.split_once(": "));
    lines.map(|(name, value)| (name, value.trim_end_matches(';'))).collect()
}

#[test]
fn the_style_sheet_has_the_colours_of_the_palettes() {
    let sheet = fs::read_to_string(root().join("static/style.css")).expect("it is there");
    let blocks: [(&str, Palette); 3] = [
        (":root {\n  color-scheme: light dark;", LIGHT),
        (":root:not([data-theme=\"light\"]) {", DARK),
        (":root[data-theme=\"dark\"] {", DARK),
    ];
    for (block, palette) in blocks {
        let tokens = tokens(&sheet, block);
        let colour = |name: &str| {
            let value = tokens.iter().find(|t| t.0 == name).expect("every role has a token").1;
            let digits = value.strip_prefix('#').expect("it is a colour");
            let long: String = match digits.len() {
                3 => digits.chars().flat_map(|c| [c, c]).collect(),
                _ => digits.into(),
            };
            u32::from_str_radix(&long, 16).expect("it is a number")
        };
        for role in Role::ALL {
            assert_eq!(colour(role.word()), palette.of(role), "{block} {role:?}");
        }
        let all = [palette.ground, palette.surface, palette.hairline];
        assert_eq!(["ground", "surface", "hairline"].map(colour), all, "{block}");
    }
    // What is drawn is coloured by tokens alone.
    let drawing = sheet.split_once(".f-none {").expect("it is there").1;
    let drawing = drawing.split_once("/* ----").expect("it ends").0;
    assert!(
        !drawing.contains('#')
            || drawing.matches("url(\"#").count() == drawing.matches('#').count()
    );
}

#[test]
fn going_on_tells_every_beat_and_asks_and_decides_every_question() {
    for lesson in lessons() {
        let id = lesson.id.clone();
        let (beats, questions) = (lesson.beats.len(), lesson.predictions.len());
        let mut state = open(lesson);
        let (mut told, mut decided) = (Vec::new(), vec![false; questions]);
        for _ in 0..3 * (beats + questions) {
            if let Some(question) = state.question() {
                if state.said[question].is_none() {
                    let said = Said { answer: 0, sure: 50, why: String::new() };
                    state = state.after(Action::Commit(question, said));
                }
                decided[question] |= state.answered(question);
            }
            told.extend(state.beat().filter(|b| told.last() != Some(b)));
            if told.last() == Some(&(beats - 1)) && state.at_end() {
                break;
            }
            state = state.after(Action::Next(true));
        }
        told.dedup();
        let mut all = told.clone();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all, (0..beats).collect::<Vec<_>>(), "{id}: {told:?}");
        assert!(decided.iter().all(|d| *d), "{id}: {decided:?}");
        assert!(state.at_end(), "{id}");
    }
}

#[test]
fn before_a_class_every_part_of_the_story_is_told_once_and_every_question_is_asked_once() {
    for lesson in lessons() {
        let id = lesson.id.clone();
        let (beats, questions) = (lesson.beats.len(), lesson.predictions.len());
        let mut state = open(lesson).after(Action::Present);
        let (mut told, mut asked) = (Vec::new(), Vec::new());
        for _ in 0..3 * (beats + questions) {
            state = state.after(Action::Turn(true));
            if let Some(question) = state.vote {
                assert!(!state.answered(question), "{id}: question {question} is answered");
                asked.push(question);
                state = state.after(Action::Count(Count::Over));
                continue;
            }
            if state.at_end() && state.beat() == Some(beats - 1) && told.len() >= beats {
                break;
            }
            let beat = state.beat().unwrap_or_else(|| panic!("{id}: nothing is told"));
            if told.last() != Some(&beat) {
                told.push(beat);
                assert!(state.stands_at_beat(), "{id}: beat {beat} is not at its event");
                let variant = &state.lesson.variants[state.show.variant].name;
                assert_eq!(*variant, state.lesson.beats[beat].variant, "{id}: beat {beat}");
            }
        }
        assert_eq!(told, (0..beats).collect::<Vec<_>>(), "{id}");
        asked.sort_unstable();
        assert_eq!(asked, (0..questions).collect::<Vec<_>>(), "{id}");
    }
}

#[test]
fn a_run_of_few_lanes_takes_the_room_of_the_page_again_after_one_of_many() {
    let herd = lessons().into_iter().find(|l| l.id == "herd").expect("it is there");
    let place =
        |name: &str| herd.variants.iter().position(|v| v.name == name).expect("it is there");
    let (few, many) = (0, place("fifty"));
    let mut state = open(herd).after(Action::Width(640));
    let alone = state.show.picture.clone();
    for act in [Action::Variant(many), Action::Variant(few)] {
        state = state.after(act);
    }
    assert_eq!(state.show.picture, alone);
    state = state.after(Action::Variant(many)).after(Action::Undo);
    assert_eq!(state.show.picture, alone);
}
