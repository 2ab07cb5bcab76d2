//! Opening a lesson where a link leads, and saying what of the link could not be followed.

use std::rc::Rc;

use super::cards::Cards;
use super::class::Tally;
use super::debate::Hearing;
use super::kept::Kept;
use super::learn::given;
use super::look::{Look, View};
use super::route::nodes;
use super::show::{Show, Size, simulated};
use super::state::State;
use super::strings;
use super::voice::Wish;
use super::work::Verdicts;
use crate::lesson::{Lesson, Level};
use crate::run::link::{Mark, RULES, VERSION, run_mark};
use crate::run::{MOST_EDITS, Run, lengthen};
use crate::sim::ProcId;

/// The width of the picture before the page knows its own.
const FIRST_WIDTH: i32 = 640;

/// Where in a lesson a link leads.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Place {
    /// The variant by name, where it is not the first.
    pub variant: Option<String>,
    /// All edits, where they are not the variant's own.
    pub edits: Option<Vec<String>>,
    /// The same, shortened: they can be read once the lesson's nodes are known.
    pub short: Option<String>,
    /// The seed, where it is not the lesson's.
    pub seed: Option<u64>,
    /// The last event that has happened.
    pub event: Option<u32>,
    /// It is on a projector.
    pub present: bool,
    /// Which picture is on the stage.
    pub view: View,
    /// The node through whose eyes the page looks.
    pub eyes: Option<String>,
    /// The task, where it is not the story.
    pub level: Option<Level>,
    /// How far the link can be trusted.
    pub mark: Mark,
    /// Parts of the link that mean nothing here.
    pub unread: Vec<String>,
}

/// The edits that a variant begins with.
pub fn own_edits(lesson: &Lesson, variant: usize) -> Vec<String> {
    let found = lesson.variants.get(variant);
    found.map(|v| v.edits.iter().map(|e| e.text.clone()).collect()).unwrap_or_default()
}

impl State {
    /// Opens a lesson. What a link says and this lesson cannot follow is left out, and said.
    ///
    /// # Errors
    /// Why the lesson itself cannot run.
    pub fn open(mut lesson: Lesson, place: &Place) -> Result<State, String> {
        let mut notes = Vec::new();
        let (variant, level) = wanted(&lesson, place, &mut notes);
        let mut edits = edits_of(&lesson, variant, place, &mut notes);
        let written = Rc::new(written(&lesson));
        let own_seed = lesson.scenario.seed;
        lesson.scenario.seed = place.seed.unwrap_or(own_seed);
        let (show, wrong) = ran(&lesson, variant, &mut edits, &written, &mut notes)?;
        let head = show.head(place.event);
        notes_on(place, &show, &mut notes);
        let mut state = State {
            said: vec![None; lesson.predictions.len()],
            tallies: lesson.predictions.iter().map(|p| Tally::of(p.answers.len())).collect(),
            vote: None,
            blank: false,
            look: Look { view: place.view, ..Look::default() },
            present: place.present,
            notice: None,
            skipped: Vec::new(),
            unopened: None,
            looked: vec![None; lesson.predictions.len()],
            solved: vec![false; lesson.tasks.len()],
            toward: None,
            shown_solution: false,
            level,
            cards: Cards::of(lesson.cards.len()),
            hearing: Hearing::default(),
            trial: None,
            given: given(&lesson, level),
            lesson: Rc::new(lesson),
            variant,
            edits,
            written,
            show: Rc::new(show),
            head,
            jumps: 0,
            elsewhere: false,
            seen: head.at,
            playing: false,
            size: Size::Event,
            speed: 4,
            stop_at_beats: true,
            stopped: None,
            turned: None,
            told: None,
            program: ProcId(0),
            own_seed,
            kept: Rc::default(),
            branch: 0,
            fresh: None,
            deleted: None,
            verdicts: Verdicts::default(),
            keeps: 0,
            versus: None,
            notes,
            wrong,
            found: None,
            hold: None,
            nudged: None,
            typed: None,
            past: Vec::new(),
            future: Vec::new(),
            spoken: (0, Wish::Moving),
        };
        state.branch = state.course().id();
        if let Some(id) = &place.eyes {
            state.look_through(id);
        }
        Ok(state.recall(Kept::default(), &[]))
    }

    /// Looks through the eyes of the node with this id, if there is one.
    fn look_through(&mut self, id: &str) {
        match self.show.run.names().nodes.iter().position(|n| n.id == id) {
            Some(node) => self.see_as(Some(ProcId(node as u16))),
            None => self.notes.push(strings::no_node(id)),
        }
    }
}

type Written = [Option<Rc<Run>>];

/// The runs that the beats are written for, by variant.
fn written(lesson: &Lesson) -> Vec<Option<Rc<Run>>> {
    let has_beats = |name: &str| lesson.beats.iter().any(|b| b.variant == name);
    let written = lesson.variants.iter().enumerate().map(|(i, v)| {
        let run = || simulated(lesson, i, &own_edits(lesson, i)).ok().map(Rc::new);
        has_beats(&v.name).then(run).flatten()
    });
    written.collect()
}

/// Runs a variant with those edits that can be run, and the last one that cannot.
fn ran(
    lesson: &Lesson,
    variant: usize,
    edits: &mut Vec<String>,
    written: &Written,
    notes: &mut Vec<String>,
) -> Result<(Show, Option<(String, String)>), String> {
    let mut wrong = None;
    let mut own = false;
    loop {
        match Show::of(lesson, variant, edits, written, FIRST_WIDTH) {
            Ok(show) => return Ok((show, wrong)),
            Err((index, words)) if index < edits.len() => {
                let edit = edits.remove(index);
                notes.push(strings::edit_left_out(&edit, &words));
                wrong = Some((edit, words));
                // A link with nothing that can be read leaves the lesson as it is; what is wrong with the
                // lesson itself is left out too, and does not come back.
                if edits.is_empty() && !std::mem::replace(&mut own, true) {
                    *edits = own_edits(lesson, variant);
                }
            }
            Err((_, words)) => return Err(words),
        }
    }
}

/// The variant and the task that a link asks for.
fn wanted(lesson: &Lesson, place: &Place, notes: &mut Vec<String>) -> (usize, Option<Level>) {
    let level = place.level.filter(|level| lesson.task(*level).is_some());
    if let (Some(missing), None) = (place.level, level) {
        notes.push(strings::no_task(missing));
    }
    let find = |name: &String| lesson.variants.iter().position(|v| v.name == *name);
    let named = place.variant.as_ref().map(|name| (name, find(name)));
    if let Some((name, None)) = named {
        let known = crate::sim::list(lesson.variants.iter().map(|v| v.name.as_str()));
        notes.push(strings::no_run(name, &known));
    }
    let task = level.and_then(|l| lesson.task(l)).and_then(|(_, task)| find(&task.variant));
    (named.and_then(|n| n.1).or(task).unwrap_or(0), level)
}

/// The edits that a link asks for, as far as their letters can be read.
fn edits_of(
    lesson: &Lesson,
    variant: usize,
    place: &Place,
    notes: &mut Vec<String>,
) -> Vec<String> {
    let own = || own_edits(lesson, variant);
    if let Some(edits) = &place.edits {
        return within(edits.clone(), notes);
    }
    let Some(short) = &place.short else { return own() };
    if matches!(place.mark, Mark::Version(_)) {
        // The letters of another version may mean anything.
        notes.push(strings::EDITS_OF_OTHER_VERSION.into());
        return own();
    }
    let read = lengthen(short, &nodes(lesson, variant));
    let all = read.len();
    let mut edits = Vec::new();
    for (index, edit) in read.into_iter().enumerate() {
        match edit {
            Ok(edit) => edits.push(edit),
            Err(why) => notes.push(strings::edit_unread(index + 1, all, &why)),
        }
    }
    let edits = within(edits, notes);
    // A link with nothing that can be read leaves the lesson as it is.
    if edits.is_empty() && all > 0 { own() } else { edits }
}

/// The letters of the longest edit that an address may ask for. What is longer is no edit, and would be echoed in full
/// by the sentence that says so.
const LONGEST_EDIT: usize = 500;

/// As many edits as a run may have, and none that nobody would write.
fn within(mut edits: Vec<String>, notes: &mut Vec<String>) -> Vec<String> {
    let all = edits.len();
    edits.retain(|edit| edit.chars().nth(LONGEST_EDIT).is_none());
    if edits.len() < all {
        notes.push(strings::too_long_edits(all - edits.len(), LONGEST_EDIT));
    }
    if edits.len() > MOST_EDITS {
        edits.truncate(MOST_EDITS);
        notes.push(strings::too_many_edits(MOST_EDITS));
    }
    edits
}

/// What is to be said of a link besides its edits, the most important first.
fn notes_on(place: &Place, show: &Show, notes: &mut Vec<String>) {
    let same = |run: [u8; 4]| run == run_mark(show.hash());
    let first = match place.mark {
        Mark::Unmarked => None,
        Mark::Damaged => Some(strings::LINK_DAMAGED.to_string()),
        Mark::Version(version) if version > VERSION => Some(strings::newer_link(version, VERSION)),
        Mark::Version(version) => Some(strings::older_link(version, VERSION)),
        Mark::Whole { rules, run } if rules != RULES => {
            Some(strings::other_rules(rules, RULES, same(run)))
        }
        // What was left out has been said, and of course the run is another one then.
        Mark::Whole { run, .. } if !same(run) && notes.is_empty() => {
            Some(strings::LESSON_CHANGED.into())
        }
        Mark::Whole { .. } => None,
    };
    if place.event.is_some_and(|e| Some(e) > show.last()) {
        notes.push(strings::BEYOND_THE_END.into());
    }
    if !place.unread.is_empty() {
        notes.push(strings::parts_unread(&place.unread));
    }
    if let Some(words) = first {
        notes.insert(0, words);
    }
}
