//! Two runs of one lesson beside each other: where they part, what becomes of each.

use super::show::Head;
use super::state::State;
use super::strings;
use super::work::name_of;
use crate::diagram::{self, Element, Layout, Still};
use crate::narrate::{self, Count, Headline};
use crate::run::{Course, Parting, Run};
use crate::sim::{EventId, Micros};

/// How much of a picture stands above the first difference, in pixels.
const ABOVE: i32 = 120;

/// What the run on screen is compared with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Against {
    /// A branch, by its id.
    Branch(u64),
    /// The same run with one defence switched the other way.
    Defence(usize),
}

/// One of the two runs.
#[derive(Debug)]
pub struct Side {
    /// What it is called.
    pub name: String,
    /// What is run.
    pub course: Course,
    /// The run; the error says why there is none.
    pub run: Result<Run, String>,
}

/// Two runs beside each other.
#[derive(Debug)]
pub struct Versus {
    /// What they are compared for.
    pub title: String,
    /// The one on screen first; of a defence, the one with it.
    pub sides: [Side; 2],
    /// What sentences call the two.
    pub called: [&'static str; 2],
    /// Where they part; none where they never do, or where one of them cannot be run.
    pub parting: Option<Parting>,
}

impl Versus {
    /// Compares the run on screen with another one.
    pub fn of(state: &State, against: &Against) -> Option<Versus> {
        let own = state.course();
        let side = |name: String, course: Course| {
            let run = state.run_of(&course);
            Side { name, course, run }
        };
        let (title, sides, called) = match against {
            Against::Branch(id) => {
                let other = state.kept.branches.get(*id)?;
                let here = state.kept.branches.get(state.branch);
                let name = here.map_or_else(|| name_of(&state.lesson, &own), |b| state.name_of(b));
                let (one, two) =
                    (side(name, own), side(state.name_of(other), other.course.clone()));
                (strings::COMPARED.into(), [one, two], strings::HERE_AND_THERE)
            }
            Against::Defence(index) => {
                let defence = state.lesson.defences.get(*index)?;
                let (mut on, mut off) = (own.clone(), own);
                off.edits.retain(|e| *e != defence.edit.text);
                if !on.edits.contains(&defence.edit.text) {
                    on.edits.push(defence.edit.text.clone());
                }
                let both = [side(strings::ON.into(), on), side(strings::OFF.into(), off)];
                (defence.title.clone(), both, strings::WITH_AND_WITHOUT)
            }
        };
        let parting = match (&sides[0].run, &sides[1].run) {
            (Ok(one), Ok(other)) => Parting::of(one, other),
            _ => None,
        };
        Some(Versus { title, sides, called, parting })
    }

    /// Both runs, where both can be run.
    pub fn runs(&self) -> Option<[&Run; 2]> {
        match (&self.sides[0].run, &self.sides[1].run) {
            (Ok(one), Ok(other)) => Some([one, other]),
            _ => None,
        }
    }

    /// Where they part, in words.
    pub fn words(&self) -> String {
        match self.runs() {
            Some([one, other]) => narrate::parting(one, other, self.parting.as_ref(), self.called),
            None => {
                let why = self.sides.iter().find_map(|s| s.run.as_ref().err());
                why.map_or_else(String::new, |why| strings::cannot_compare(why))
            }
        }
    }

    /// Both verdicts.
    pub fn verdicts(&self) -> Option<[Headline; 2]> {
        self.runs().map(|runs| runs.map(narrate::headline))
    }

    /// The counts that differ.
    pub fn figures(&self) -> Vec<(Count, Count)> {
        self.runs().map_or_else(Vec::new, |[one, other]| narrate::differing(one, other))
    }

    /// Where one steps into a side: at its first difference.
    pub fn place(&self, side: usize) -> Option<u32> {
        let parting = self.parting.as_ref()?;
        let event = if side == 0 { parting.here } else { parting.there };
        event.map(|e| e.0)
    }

    /// Both pictures at one scale, from shortly before the first difference on.
    pub fn pictures(&self, width: i32) -> Option<[Element; 2]> {
        let runs = self.runs()?;
        let pictures = diagram::layout_both(runs, &Layout { width, ..Layout::default() });
        let from = self.parting.map_or(Micros::ZERO, |p| p.at);
        let top = pictures.iter().map(|p| (p.y_of(from) - ABOVE).max(p.header_height)).min();
        let bottom = pictures.iter().map(|p| p.height).max();
        let marks = self.parting.map_or([None, None], |p| [p.here, p.there]);
        let mut sides =
            runs.into_iter().zip(&pictures).zip(marks).map(|((run, picture), event)| {
                let highlight = event.map(|e| shown(run, e)).unwrap_or_default();
                let rule = self.parting.map(|p| p.at);
                diagram::still(
                    run,
                    picture,
                    &Still { top, bottom, rule, highlight, ..Still::default() },
                )
            });
        Some([sides.next()?, sides.next()?])
    }

    /// Where the learner comes to in a side that is opened.
    pub fn head(&self, side: usize) -> Head {
        let run = self.sides.get(side).and_then(|s| s.run.as_ref().ok());
        let event = self.place(side);
        let at = run.zip(event).and_then(|(r, e)| r.record.events.get(e as usize)).map(|e| e.at);
        Head { event: at.and(event), at: at.unwrap_or_default() }
    }
}

/// The marks of an event: its own, and the arrow that brought it.
fn shown(run: &Run, event: EventId) -> Vec<EventId> {
    let message = run.record.event(event).message();
    let sent = message.map(|m| run.record.message(m).sent);
    [Some(event), sent].into_iter().flatten().collect()
}
