//! Where one millisecond decides: what a search among runs found, made ready to be shown.

use super::state::State;
use crate::diagram::{self, Element, Layout, Still};
use crate::narrate;
use crate::run::{self, Run};
use crate::search::{Edge, Goal, NoEdge, knife_edge, knife_edge_between};
use crate::sim::{EventId, Micros};
use crate::systems::Registry;

/// How much of the picture stands above the first thing that counts, in pixels.
const ABOVE: i32 = 44;
/// How long before the first of the swapped arrows a picture begins, and how long it goes on after the last.
const MARGIN: Micros = Micros::from_millis(60);

/// What a search found.
#[derive(Debug)]
pub struct Found {
    /// The index of the edit whose length was varied.
    pub edit: usize,
    /// What the length is of: `the pause of Client A`.
    pub label: String,
    /// Where it turns: to harm, or where no length harms, to a rejected write, or else to a late one.
    pub edge: Option<Edge>,
    /// Why no length makes the difference between harm and none.
    pub no_harm: Option<NoEdge>,
    /// Where a write begins to come after a newer grant, if that is somewhere else.
    pub stale: Option<Edge>,
    /// How many runs it took.
    pub runs: u32,
}

impl Found {
    /// Searches the run on screen for the length of the edit with this index at which all turns.
    pub fn of(state: &State, edit: usize) -> Option<Found> {
        let variant = state.lesson.variants.get(state.variant)?;
        let scenario = state.lesson.scenario_of(variant);
        let registry = Registry::standard();
        let compile = |edits: &[String]| run::compile(&scenario, edits, &registry);
        let seek = |goal| knife_edge(&compile, &state.edits, edit, goal);
        let (mut edge, mut no_harm) = match seek(Goal::Harm) {
            Ok(edge) => (Some(edge), None),
            Err(why) => (None, Some(why)),
        };
        let mut stale = None;
        if !matches!(no_harm, Some(NoEdge::NoLength | NoEdge::Wrong(_))) {
            stale = seek(Goal::Stale).ok();
        }
        if matches!(no_harm, Some(NoEdge::Never(_))) && stale.is_some() {
            edge = seek(Goal::Rejected).ok();
            // Behind a check, harm may come only with lengths that are late and not yet rejected.
            let window = stale.as_ref().zip(edge.as_ref()).map(|(s, e)| (s.safe, e.safe));
            if let Some(window) = window.filter(|w| w.0 < w.1)
                && edge.as_ref().is_some_and(|e| Goal::Harm.is_met(&e.safe_run))
                && let Ok(found) =
                    knife_edge_between(&compile, &state.edits, edit, Goal::Harm, window)
            {
                (edge, no_harm) = (Some(found), None);
            }
            if edge.is_none() {
                edge = stale.take();
            }
        }
        let same = |s: &Edge| edge.as_ref().is_some_and(|e| e.harmful == s.harmful);
        let runs = edge.iter().chain(&stale).map(|e| e.runs).sum();
        let stale = stale.filter(|s| edge.is_some() && !same(s));
        let number = super::hold::Number { edit, span: run::Span::Length };
        Some(Found { edit, label: state.label(number), edge, no_harm, stale, runs })
    }

    /// Both runs at the moment that decides, cropped to it, the swapped arrow outlined.
    pub fn pictures(&self, width: i32) -> Option<[Element; 2]> {
        let edge = self.edge.as_ref()?;
        let swap = edge.swap?;
        let both = [
            (&edge.safe_run, swap.first.0, swap.second.0),
            (&edge.harmful_run, swap.first.1, swap.second.1),
        ];
        let time = |run: &Run, event: EventId| run.record.event(event).at;
        let arrows = both.map(|(run, first, second)| (sent(run, first), sent(run, second)));
        let starts = both.iter().zip(&arrows).map(|((run, ..), a)| time(run, a.0.min(a.1)));
        let ends = both.iter().map(|(run, first, second)| time(run, *first.max(second)));
        // The same stretch of time in both, so that they can be compared.
        let from = Micros(starts.min()?.0.saturating_sub(MARGIN.0));
        let to = ends.max()?.plus(MARGIN);
        let mut draw = both.iter().zip(&arrows).map(|((run, ..), (arrow, _))| {
            let picture = diagram::layout(run, &Layout { width, ..Layout::default() });
            let to = to.min(run.end);
            let top = (picture.y_of(from) - ABOVE).max(picture.header_height);
            let highlight = vec![*arrow];
            let still = Still { top: Some(top), highlight, ..Still::between(&picture, from, to) };
            diagram::still(run, &picture, &still)
        });
        Some([draw.next()?, draw.next()?])
    }

    /// The edits of one of the two runs, and the event that decides it.
    pub fn place(&self, harmful: bool) -> Option<(Vec<String>, u32)> {
        let edge = self.edge.as_ref()?;
        let (run, edits) = if harmful {
            (&edge.harmful_run, &edge.harmful_edits)
        } else {
            (&edge.safe_run, &edge.safe_edits)
        };
        let last = (run.record.events.len() as u32).saturating_sub(1);
        let event = edge.swap.map_or(last, |s| {
            let pick = |pair: (EventId, EventId)| if harmful { pair.1.0 } else { pair.0.0 };
            pick(s.first).max(pick(s.second))
        });
        Some((edits.clone(), event))
    }

    /// What changed places, in a sentence.
    pub fn turned(&self) -> Option<String> {
        narrate::turned(self.edge.as_ref()?)
    }
}

/// The sending of the message that brought something about; of what no message brought, itself.
fn sent(run: &Run, event: EventId) -> EventId {
    let causes = run.record.event(event).causes;
    let mut messages = causes.iter().filter_map(|c| run.record.event(c).message());
    messages.next().map_or(event, |m| run.record.message(m).sent)
}
