//! Links: whatever is done to a run goes into one and comes out of it again; what cannot be followed is
//! said, and never worse than the lesson without it.

mod support;

use std::path::Path;

use lockscope::lesson::{self, Lesson, Level};
use lockscope::run::link::{RULES, VERSION};
use lockscope::run::{Link, MOST_EDITS, lengthen, shorten};
use lockscope::ui::route::Route;
use lockscope::ui::state::{Action, Place, State};
use support::{Draws, random_edit, seeds};

fn race() -> Lesson {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("lessons/05-lease-expiration.md");
    lesson::read(&path).expect("the race is there")
}

fn place(address: &str) -> Place {
    match Route::parse(address) {
        Route::Lesson { place, .. } => place,
        other => panic!("{address}: {other:?}"),
    }
}

fn open(address: &str) -> State {
    State::open(race(), &place(address)).expect("the lesson runs")
}

/// A run of the race with some of everything done to it.
fn busy() -> State {
    let mut state = open("#/lesson/lease-expiration?run=fixed");
    for edit in TWENTY {
        state = state.after(Action::Add(edit.into()));
        assert_eq!(state.wrong, None);
    }
    assert!(state.edits.len() >= 20);
    state.after(Action::End)
}

const TWENTY: [&str; 18] = [
    "at 3s pause client-a for 12s",
    "at 11284ms pause client-b for 250ms",
    "at 5s cut client-a lock-service for 6s",
    "at 5s cut client-a>lock-service",
    "at 9s heal client-a lock-service",
    "at 5s cut {client-a client-b}|{lock-service resource} for 1500ms",
    "at 20s crash lock-service",
    "at 21s restart lock-service",
    "at 6s send resource 42",
    "send resource 7",
    "drop client-a>resource#1",
    "delay client-a>resource#1 by 4s",
    "delay lock-service>client-b#2 by 1234567us",
    "at 6s set lease.ttl 12s",
    "set resource.reads token",
    "set acquire.wait queue",
    "pause client-b before write#1 for 3s",
    "pause client-a at 17s for 2s",
];

#[test]
fn twenty_edits_of_all_kinds_fit_into_three_hundred_characters() {
    let state = busy();
    let address = Route::of(&state);
    assert!(address.len() <= 300, "{}: {address}", address.len());
    assert!(address.is_ascii() && !address.contains('%'), "{address}");
    let again = State::open(race(), &place(&address)).expect("it runs");
    assert_eq!(again.notes, Vec::<String>::new());
    assert_eq!((&again.edits, again.head), (&state.edits, state.head));
    assert_eq!(again.show.run.hash(), state.show.run.hash());
    assert_eq!(Route::of(&again), address);
}

#[test]
fn every_list_of_edits_comes_back_as_it_was() {
    let nodes =
        ["client-a", "client-b", "client-c", "lock-service", "gateway", "resource", "ledger"];
    let nodes = nodes.map(String::from);
    let (mut letters, mut text) = (0, 0);
    for seed in seeds(5_000) {
        let mut draws = Draws::new(seed);
        let mut edits: Vec<String> =
            (0..draws.up_to(20)).map(|_| random_edit(&mut draws)).collect();
        // A kind of edit, a node or a setting to come is nothing special.
        for edit in &mut edits {
            if draws.up_to(9) == 0 {
                let place = draws.up_to(edit.len() as u64) as usize;
                edit.insert_str(place, draws.pick(&["?", "é", "zk-2", ".", "  ", "Q", "0"]));
            }
        }
        let short = shorten(&edits, &nodes);
        let again: Result<Vec<String>, String> = lengthen(&short, &nodes).into_iter().collect();
        assert_eq!(again.as_ref(), Ok(&edits), "{short}; SEED={seed}");
        letters += short.len();
        text += edits.iter().map(String::len).sum::<usize>();
    }
    assert!(letters * 20 < text * 7, "{letters} letters for {text}");
}

#[test]
fn a_link_written_by_hand_goes_on_working() {
    let state = open(
        "#/lesson/lease-expiration?edits=at+3s+crash+client-b;set+resource.check+token&event=20",
    );
    assert_eq!(state.edits, ["at 3s crash client-b", "set resource.check token"]);
    assert_eq!((state.head.event, state.notes.len()), (Some(20), 0));
    let state = open("#/lesson/lease-expiration?edits=at+3s+crush+client-b;at+3s+crash+client-b");
    assert_eq!(state.edits, ["at 3s crash client-b"]);
    assert!(
        state.notes[0].starts_with("Left out: “at 3s crush client-b”, character 7: "),
        "{:?}",
        state.notes
    );
}

#[test]
fn absurd_parts_of_a_link_are_said_in_words() {
    let state =
        open("#/lesson/lease-expiration?event=99999999999999&tempo=3&view=sideways&level=top");
    let notes = state.notes.join(" ");
    assert!(notes.contains("beyond the end"), "{notes}");
    assert!(
        notes.contains("these parts of its address: tempo=3, view=sideways, level=top."),
        "{notes}"
    );
    assert_eq!(state.head.event, state.show.last());
    // However long an address is, the sentence about it is not.
    let long = (0..400).map(|n| format!("&k{n}={}", "x".repeat(500))).collect::<String>();
    let notes = open(&format!("#/lesson/lease-expiration?{long}")).notes.join(" ");
    assert!(notes.chars().count() < 400, "{notes}");
}

#[test]
fn the_seed_travels_with_the_link() {
    let state = open("#/lesson/lease-expiration?seed=77");
    assert_eq!(state.show.run.compiled.plan.seed, 77);
    let again = open(&Route::of(&state));
    assert_eq!((again.show.run.compiled.plan.seed, again.notes.len()), (77, 0));
    assert_eq!(Route::of(&open("#/lesson/lease-expiration?seed=1")), "#/lesson/lease-expiration");
}

#[test]
fn a_link_that_was_cut_off_says_so_and_shows_what_is_left() {
    let address = Route::of(&busy());
    for cut in (address.find("&e=").expect("it has edits") + 4)..address.len() {
        let state = open(&address[..cut]);
        assert!(state.notes[0].contains("changed or cut off"), "{cut}: {:?}", state.notes);
    }
    let one = address.replacen("&e=K", "&e=~", 1);
    let state = open(&one);
    assert!(
        state.notes.iter().any(|n| n.contains("edit 1 of 20, which cannot be read")),
        "{:?}",
        state.notes
    );
    assert_eq!(state.edits, busy().edits[1..]);
}

#[test]
fn links_of_other_editions_open_with_the_reason() {
    let address = Route::of(&busy());
    let stamp = format!("v={VERSION}.{RULES}.");
    let first = |address: &str| open(address).notes.join(" ");
    let newer = first(&(address.replace(&stamp, "v=9.9.") + "&tempo=3"));
    assert!(newer.contains("newer edition") && newer.contains("tempo=3"), "{newer}");
    assert!(newer.contains("was left out"), "what it cannot read it does not guess: {newer}");
    let older = first(&address.replace(&stamp, "v=0.1."));
    assert!(older.contains("version 0, and this page reads version 1"), "{older}");
    // By other rules the same run may come out, and that is worth knowing.
    let rules = first(&address.replace(&stamp, "v=1.999."));
    assert!(rules.contains("Rules of the simulation have changed"), "{rules}");
    assert!(rules.contains("comes out the same"), "{rules}");
    let hash = address.split(['.', '&']).nth(3).expect("the mark of the run");
    let other = first(&address.replace(&stamp, "v=1.999.").replacen(hash, "AAAA", 1));
    assert!(other.contains("does not come out"), "{other}");
}

#[test]
fn a_lesson_that_has_changed_opens_with_what_is_still_there() {
    let state = busy();
    let address = Route::of(&state);
    let mut lesson = race();
    lesson.scenario.settings.insert("link.delay".into(), "80ms".into());
    let changed = State::open(lesson, &place(&address)).expect("it runs");
    assert_eq!(changed.notes.len(), 1);
    assert!(changed.notes[0].contains("lesson has changed"), "{:?}", changed.notes);
    assert_eq!(changed.edits, state.edits);

    let mut lesson = race();
    lesson.variants.retain(|v| v.name != "fixed");
    lesson.tasks.clear();
    let moved = State::open(
        lesson,
        &place("#/lesson/lease-expiration?v=1.1&run=fixed&level=help&event=9999"),
    )
    .expect("it runs");
    let notes = moved.notes.join(" ");
    for words in ["no task “Help me”", "no run “fixed”", "beyond the end"] {
        assert!(notes.contains(words), "{words}: {notes}");
    }
    assert_eq!((moved.level, moved.variant), (None, 0));
}

#[test]
fn whatever_stands_in_an_address_a_lesson_opens() {
    let address = Route::of(&busy());
    let letters: Vec<char> = "aZ9-_.=&?#%+;~é\u{0}".chars().collect();
    for seed in seeds(200) {
        let mut draws = Draws::new(seed);
        let mut text: Vec<char> = address.chars().collect();
        for _ in 0..=draws.up_to(6) {
            let place = 25 + draws.up_to(text.len() as u64 - 26) as usize;
            match draws.up_to(2) {
                0 => text[place] = draws.pick(&letters),
                1 => text.insert(place, draws.pick(&letters)),
                _ => text.truncate(place.max(26)),
            }
            if text.len() < 27 {
                break;
            }
        }
        let text: String = text.into_iter().collect();
        if let Route::Lesson { place, .. } = Route::parse(&text) {
            let state = State::open(race(), &place).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert!(state.edits.len() <= MOST_EDITS, "{text}");
        }
    }
    let many = "A.".repeat(4_000);
    let state = open(&format!("#/lesson/lease-expiration?v=1.1.aaaa.aaaa&e={many}"));
    assert!(state.edits.len() <= MOST_EDITS);
    let link =
        Link { lesson: "x".into(), level: Some(Level::Help.word().into()), ..Link::default() };
    assert!(Link::read(&link.write(&[], 0)).is_some());
}
