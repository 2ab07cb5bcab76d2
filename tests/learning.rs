//! What a learner does beside watching: tasks, predictions, a look at the resource, tokens by hand.

use std::fs;
use std::path::Path;

use lockscope::lesson::{self, Lesson, Level, Located};
use lockscope::sim::{Micros, ProcId};
use lockscope::ui::fault::Fault;
use lockscope::ui::keys::{Deed, Press, deed};
use lockscope::ui::learn::{Said, Seen, Standing};
use lockscope::ui::look::See;
use lockscope::ui::route::Route;
use lockscope::ui::show::Size;
use lockscope::ui::state::{Action, Place, State};
use lockscope::ui::strings;
use lockscope::ui::voice::Wish;

fn lesson(file: &str) -> Lesson {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("lessons").join(file);
    match lesson::read(&path) {
        Ok(lesson) => lesson,
        Err(error) => panic!("{file}: {error:?}"),
    }
}

fn open(file: &str) -> State {
    State::open(lesson(file), &Place::default()).expect("the lesson runs")
}

fn after(state: State, actions: impl IntoIterator<Item = Action>) -> State {
    actions.into_iter().fold(state, |state, action| state.after(action))
}

fn variant(state: &State) -> &str {
    state.lesson.variants[state.variant].name.as_str()
}

const BREAK_IT: &str = "01-break-it.md";
const RACE: &str = "05-lease-expiration.md";
const FENCING: &str = "06-fencing-tokens.md";

/// Every lesson of the course, in its order; cases have no tasks.
fn course() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("lessons");
    let names =
        fs::read_dir(folder).expect("lessons").map(|entry| entry.expect("an entry").file_name());
    let mut files: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
    files.retain(|name| name.starts_with(|c: char| c.is_ascii_digit()));
    files.sort();
    assert!(files.len() >= 9, "{files:?}");
    files
}

#[test]
fn every_lesson_has_help_and_a_challenge_that_only_a_change_fulfils() {
    for file in &course() {
        for level in Level::ALL {
            let state = open(file).after(Action::Level(Some(level)));
            let (index, task) = state.task().expect(file);
            assert_eq!(variant(&state), task.variant, "{file}");
            // Watching to the end is not enough.
            let watched = state.after(Action::End);
            assert!(!watched.at_goal() && !watched.solved[index], "{file} {level:?}");
            // The solution is there at once, and counts when it was seen.
            let solved = watched.after(Action::Solve);
            assert!(solved.shows_solution() && !solved.at_goal(), "{file} {level:?}");
            let seen = solved.after(Action::End);
            assert!(seen.at_goal() && seen.solved[index], "{file} {level:?}");
            // And what was there before is one undo away.
            let back = seen.after(Action::Undo);
            assert_eq!(back.edits, state.edits, "{file} {level:?}");
            assert!(!back.at_goal() && back.solved[index], "{file} {level:?}");
        }
    }
}

#[test]
fn playing_alone_finishes_no_lesson() {
    for file in &course() {
        let state = after(open(file), [Action::Play, Action::End]);
        assert!(state.at_end() && !state.finished(), "{file}");
        let said = || Said { answer: 0, sure: 70, why: String::new() };
        let all = (0..state.said.len()).map(|i| Action::Commit(i, said()));
        let answered = after(state, all);
        assert!(!answered.finished(), "{file}");
        let sorted = (0..answered.lesson.cards.len())
            .flat_map(|i| [Action::Deal(i), Action::Sort(answered.lesson.cards[i].tray)]);
        let sorted = after(answered.clone(), sorted);
        assert!(!sorted.finished(), "{file}");
        let done = after(sorted, [Action::Level(Some(Level::Help)), Action::Solve, Action::End]);
        assert!(done.finished(), "{file}");
    }
}

#[test]
fn steps_are_given_open_or_done_as_far_as_the_run_was_seen() {
    let standings = |state: &State| {
        let steps = state.task().map_or(0, |(_, t)| t.steps.len());
        (0..steps).map(|i| state.standing(i)).collect::<Vec<_>>()
    };
    let state = open(BREAK_IT).after(Action::Level(Some(Level::Help)));
    use Standing::{Done, Given, Open};
    assert_eq!(standings(&state), [Given, Open, Open, Open]);
    let state = state.after(Action::Solve);
    assert_eq!(standings(&state), [Given, Open, Open, Open]);
    // At 7.2 s A has gone on, and its write is under way.
    let state = state.after(Action::Seek(Micros::from_millis(7_220)));
    assert_eq!(standings(&state), [Given, Done, Done, Open]);
    let state = state.after(Action::End);
    assert_eq!(standings(&state), [Given, Done, Done, Done]);
    // What was seen stays seen.
    assert_eq!(standings(&state.after(Action::Start)), [Given, Done, Done, Done]);
}

#[test]
fn a_goal_is_said_once() {
    let state = after(open(RACE), [Action::Level(Some(Level::Challenge)), Action::Solve]);
    let reached = state.after(Action::End);
    let words = |state: &State| format!("{:?}", state.spoken.1);
    assert!(words(&reached).contains("Goal reached"), "{}", words(&reached));
    let again = after(reached, [Action::Start, Action::End]);
    assert!(!words(&again).contains("Goal reached"), "{}", words(&again));
}

#[test]
fn a_level_survives_the_address_and_the_undo_list() {
    let state = after(open(FENCING), [Action::Level(Some(Level::Help)), Action::Send(41)]);
    let address = Route::of(&state);
    let Route::Lesson { place, .. } = Route::parse(&address) else { panic!("{address}") };
    let again = State::open(lesson(FENCING), &place).expect("it runs");
    assert_eq!((again.level, &again.edits, again.head), (state.level, &state.edits, state.head));
    assert_eq!(again.standing(0), Standing::Given);
    assert_eq!(again.standing(1), Standing::Done);
    let story = after(state, [Action::Undo, Action::Undo]);
    assert_eq!((story.level, variant(&story)), (None, "base"));
    assert_eq!(story.after(Action::Redo).level, Some(Level::Help));
    // The level alone leads to the run that its task begins with.
    let place = Place { level: Some(Level::Help), ..Place::default() };
    let bare = State::open(lesson(FENCING), &place).expect("it runs");
    assert_eq!(variant(&bare), "by-hand");
    // A lesson that has no such task opens with its story.
    let mut plain = lesson(BREAK_IT);
    plain.tasks.clear();
    assert_eq!(State::open(plain, &place).expect("it runs").level, None);
}

#[test]
fn tokens_are_sent_one_after_the_other_and_the_learner_sees_each() {
    let state = open(FENCING).after(Action::Level(Some(Level::Help)));
    let state = after(state, [41, 43, 42].map(Action::Send));
    assert_eq!(
        state.edits[1..],
        [
            "at 1s send resource 42",
            "at 2s send resource 41",
            "at 3s send resource 43",
            "at 4s send resource 42"
        ]
    );
    assert_eq!(state.head.at, Micros::from_secs(4));
    assert!(state.at_goal() && state.finished() != state.said.iter().any(Option::is_none));
    // In the middle of a run it is sent at the play head, and what was before stays.
    let race = after(open(FENCING), [Action::Seek(Micros::from_millis(10_500)), Action::Send(42)]);
    assert_eq!(race.edits[1], "at 10500ms send resource 42");
}

/// Plays on to the next stop, as the page does.
fn play(state: State) -> State {
    let next = state.head.event.map_or(0, |e| e + 1);
    match state.halts().into_iter().find(|h| *h >= next) {
        Some(halt) => after(state, [Action::Play, Action::Arrived(halt)]),
        None => after(state, [Action::Play, Action::End]),
    }
}

#[test]
fn the_resource_is_looked_at_before_anything_is_explained() {
    let late_write = 1;
    let asked = |state: &State| state.question() == Some(late_write) && !state.answered(late_write);
    let mut state = open(RACE);
    while !asked(&state) {
        state = play(state);
    }
    let said = Said { answer: 1, sure: 90, why: "41 is lower".into() };
    let mut state =
        state.after(Action::Commit(late_write, said.clone())).after(Action::StopAtBeats(false));
    assert_eq!(state.looking(), None);
    // It stops at the answer although it stops at no beat.
    state = play(state);
    assert_eq!(state.looking(), Some(late_write));
    assert!(state.answered(late_write) && !state.decided());
    let looked = state.after(Action::Look(late_write, Seen::Rejected));
    assert_eq!((looked.looking(), looked.decided()), (None, true));
    assert_eq!(looked.said[late_write], Some(said));
    let words = format!("{:?}", looked.spoken.1);
    assert!(words.contains("You said: rejected. It was accepted."), "{words}");
    let (was, event) = looked.decided_by(late_write);
    assert_eq!(was, Seen::Accepted);
    assert_eq!(event.map(|e| looked.show.time(e)), Some(Micros::from_millis(13_250)));
    // Whoever goes on without looking is held up by nothing.
    let on = after(state, [Action::StopAtBeats(true), Action::End]);
    assert_eq!(on.after(Action::Beat(8)).looking(), None);
}

/// Which questions the story stops for when nobody answers any, in the order in which it does.
fn asked_on_the_way(file: &str) -> Vec<usize> {
    let mut state = open(&format!("{file}.md"));
    let mut asked = Vec::new();
    for _ in 0..60 {
        state = state.after(Action::Next(true));
        asked.extend(state.question().filter(|_| state.toward.is_some()));
    }
    assert!(state.at_end(), "{file}: the story comes to its end");
    asked
}

#[test]
fn an_address_with_an_endless_edit_is_answered_in_a_sentence() {
    let place = Place { edits: Some(vec!["at 0s ".repeat(20_000)]), ..Place::default() };
    let state = State::open(lesson(RACE), &place).expect("it runs");
    assert!(state.edits.is_empty());
    assert!(state.wrong.is_none());
    assert_eq!(state.notes, ["An edit of more than 500 characters left out."]);
}

#[test]
fn eyes_survive_the_address() {
    let state = open("06-fencing-tokens.md").after(Action::See(See::Eyes(Some(ProcId(1)))));
    let placed = |address: &str| match Route::parse(address) {
        Route::Lesson { place, .. } => {
            State::open(lesson("06-fencing-tokens.md"), &place).expect("it runs")
        }
        other => panic!("{other:?}"),
    };
    let again = placed(&Route::of(&state));
    assert_eq!(again.look.eyes.as_ref().map(|e| e.node), Some(ProcId(1)));
    assert!(again.notes.is_empty(), "{:?}", again.notes);
    let strange = placed("#/lesson/fencing-tokens?view=as-nobody");
    assert!(strange.look.eyes.is_none() && strange.notes[0].contains("no node “nobody”"));
}

#[test]
fn a_question_that_was_passed_is_not_asked_again_where_the_story_returns_to_its_run() {
    for file in ["03-efficiency-or-correctness", "18-ask-the-resource"] {
        assert_eq!(asked_on_the_way(file), [0, 1, 2], "{file}");
    }
}

#[test]
fn an_open_question_goes_once_the_story_has_told_what_it_asks() {
    for file in ["07-what-a-fence-does-not-do", "09-renewal-is-not-ownership"] {
        let mut state = open(&format!("{file}.md"));
        for _ in 0..60 {
            state = state.after(Action::Next(true));
            if state.toward.is_none() {
                let beat = state.beat().and_then(|b| state.show.beats[b].clone().ok());
                let open = state.question().and_then(|q| state.show.questions[q]);
                assert!(open.is_none_or(|q| Some(q.0) >= beat), "{file}: {:?}", state.beat());
            }
        }
    }
}

#[test]
fn whoever_comes_to_an_answer_by_steps_is_asked_what_there_is_to_see_and_may_go_on() {
    let mut state = open("06-fencing-tokens.md");
    while state.question().is_none() {
        state = state.after(Action::Next(true));
    }
    let said = Said { answer: 0, sure: 70, why: String::new() };
    state = state.after(Action::Commit(0, said));
    while state.looking().is_none() {
        state = state.after(Action::Step(Size::Event, true));
    }
    assert_eq!(state.stopped, Some(strings::STOPPED_TO_LOOK));
    let Wish::Step { words, decision: true } = &state.spoken.1 else {
        panic!("{:?}", state.spoken)
    };
    assert!(words.ends_with(strings::LOOK), "{words}");
    let back = state.after(Action::Next(false));
    assert!(back.looking().is_none() && back.beat() < state.beat(), "the way back is there");
    let told = state.after(Action::Next(true));
    assert_eq!((told.looking(), told.head), (None, state.head), "the same place, with its words");
    assert!(told.answered(0) && !told.must_look(0));
}

#[test]
fn in_a_task_nothing_is_asked_and_the_verdict_is_not_kept_back() {
    let said = Said { answer: 0, sure: 70, why: String::new() };
    let task = [Action::Level(Some(Level::Help)), Action::Solve];
    let state = after(after(open(BREAK_IT), [Action::Commit(1, said)]), task);
    assert!(state.halts().is_empty());
    let state = after(state, [Action::Defend(0), Action::End]);
    assert_eq!((state.looking(), state.decided()), (None, true));
}

#[test]
fn the_first_press_of_play_in_the_first_lesson_runs_through_to_the_corruption() {
    let state = open(BREAK_IT);
    let first = state.halts()[0];
    let harm = state.show.run.judgement.findings.iter().find(|f| f.is_harm());
    assert_eq!(harm.map(|f| f.event().0), Some(first));
    assert!(play(state).decided());
}

#[test]
fn a_link_runs_a_variant_and_its_words_stay() {
    let state = open(RACE);
    let beat = state.lesson.beats.iter().position(|b| b.id == "five-ways").expect("it is there");
    let index = |name: &str| state.lesson.variants.iter().position(|v| v.name == name).expect(name);
    let mut state = after(state.clone(), [Action::Variant(index("partition")), Action::Beat(beat)]);
    for name in ["base", "starved", "frozen", "delayed", "partition"] {
        state = state.after(Action::Follow(index(name)));
        assert_eq!((state.beat(), state.strayed()), (Some(beat), None), "{name}");
        assert!(state.speaks_of_this_run(beat), "{name}");
        assert_eq!(state.head.at, Micros::from_millis(13_250), "{name}");
    }
    // A run without words of its own is told by those that link to it, also after playing on.
    let starved = after(state, [Action::Follow(index("starved")), Action::End]);
    assert_eq!((starved.beat(), starved.strayed()), (Some(beat), None));
}

/// The lesson with something spoilt, and what is wrong with it.
fn wrong(from: &str, to: &str) -> (String, Vec<Located>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("lessons").join(RACE);
    let text = fs::read_to_string(path).expect("the lesson is there");
    assert!(text.contains(from), "{from}");
    let spoilt = text.replacen(from, to, 1);
    let errors = match lesson::parse(&spoilt) {
        Ok(lesson) => lesson::check(&lesson).failed,
        Err(errors) => errors,
    };
    (spoilt, errors)
}

#[test]
fn what_is_wrong_with_tasks_evidence_and_links_is_said_at_its_place() {
    for (from, to, said, at) in [
        ("[^packets]", "[^pakets]", "no evidence `pakets`; there is `promise`", "[^pakets]"),
        (
            "id = \"packets\"",
            "id = \"parcels\"",
            "expected `[^parcels]` in the words",
            "id = \"parcels\"",
        ),
        (
            "id = \"packets\"",
            "id = \"trade\"",
            "found the evidence `trade` twice",
            "id = \"trade\"",
        ),
        (
            "kind = \"inference\"",
            "kind = \"rumour\"",
            "expected one of `recorded`, `source`",
            "kind = \"rumour\"",
        ),
        ("(run:starved)", "(run:straved)", "no variant `straved`", "(run:straved)"),
        ("level = \"challenge\"", "level = \"help\"", "a second task of the level", "[[task]]"),
        (
            "level = \"challenge\"",
            "level = \"exam\"",
            "expected one of `help` and `challenge`",
            "level = \"exam\"",
        ),
        (
            "\"no pause client-b\"",
            "\"no pauze client-b\"",
            "no kind of event `pauze`",
            "\"no pauze client-b\"",
        ),
        (
            "solution = [\"delay client-a>resource#2 by 12s\"]",
            "solution = []",
            "in the solution of `challenge`",
            "\"corruption >= 1\",\n",
        ),
        (
            "done = [\"corruption >= 1\", \"check",
            "done = [\"corruption == 0\", \"check",
            "in the solution of `help`",
            "done = [\"corruption == 0\"",
        ),
        (
            "variant = \"checked\"",
            "variant = \"own-check\"",
            "fulfils it already",
            "done = [\"corruption >= 1\", \"check",
        ),
        (
            "done = \"check client-a value 1\"",
            "done = \"pause client-a\"",
            "0 of 4 steps of `help` are done from the start",
            "done = [\"corruption >= 1\", \"check",
        ),
    ] {
        let (text, errors) = wrong(from, to);
        let error = errors.iter().find(|e| e.message.contains(said));
        let line = error.unwrap_or_else(|| panic!("{to}: {errors:#?}")).place.line;
        let found = text.lines().nth(line - 1).unwrap_or("");
        assert!(found.contains(at.trim_end()), "{to}: {error:?} at `{found}`");
    }
}

#[test]
fn the_key_to_the_next_part_goes_through_the_whole_story_in_all_its_runs() {
    let press = |state: &State, key: &str| {
        let press = Press { key, ctrl: true, ..Press::default() };
        match deed(press, state, true) {
            Some(Deed::Do(action)) => state.after(action),
            other => panic!("{other:?}"),
        }
    };
    let mut state = open(RACE);
    let mut seen = Vec::new();
    for _ in 0..4 * state.lesson.beats.len() {
        state = press(&state, "ArrowRight");
        seen.extend(state.beat().filter(|b| !seen.contains(b)));
    }
    assert_eq!(seen, (0..state.lesson.beats.len()).collect::<Vec<_>>());
    assert!(state.at_end());
    for _ in 0..2 * seen.len() {
        state = press(&state, "ArrowLeft");
    }
    assert_eq!((state.beat(), state.head.event), (None, None));
}

#[test]
fn why_at_the_very_end_asks_about_the_last_event() {
    let ended = open(RACE).after(Action::End);
    let asked = ended.after(Action::See(See::Why(None)));
    assert_eq!(asked.look.chosen, ended.show.last());
    assert!(
        asked.look.asked.is_some() && format!("{:?}", asked.spoken.1).contains("How it came about"),
        "{:?}",
        asked.spoken
    );
}

#[test]
fn a_client_whose_program_is_over_can_be_broken_no_more() {
    let going = open(RACE).after(Action::Seek(Micros::from_secs(5)));
    let ended = going.after(Action::End);
    for client in [ProcId(0), ProcId(1)] {
        assert!(!going.show.world(going.head).has_ended(client));
        assert!(ended.show.world(ended.head).has_ended(client));
        let pause = Fault::Pause(client, Micros::from_secs(1));
        let broken = ended.after(Action::Break(pause));
        assert_eq!(broken.show.run.unused_edits, [ended.edits.len()], "it would change nothing");
    }
}
