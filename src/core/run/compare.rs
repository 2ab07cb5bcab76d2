//! Where two runs part.

use super::kind;
use super::replay::Run;
use crate::judge::Testimony;
use crate::sim::{Event, EventId, Micros};

/// Where two runs part: the first event that is not the same in both, on each side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parting {
    /// The first event of the one that is not in the other; none if nothing more happens there.
    pub here: Option<EventId>,
    /// The same of the other.
    pub there: Option<EventId>,
    /// The earlier moment of the two.
    pub at: Micros,
}

impl Parting {
    /// Compares two runs event by event; none if all is the same.
    ///
    /// Whether a setting is another says nothing yet: what counts is what happens.
    pub fn of(here: &Run, there: &Run) -> Option<Parting> {
        let (own, other) = (&here.record.events, &there.record.events);
        let known = here.names().nodes == there.names().nodes;
        let same = |(a, b): &(&Event<Testimony>, &Event<Testimony>)| {
            if known {
                *a == *b && said(here, a) == said(there, b)
            } else {
                alike(here, a, there, b)
            }
        };
        let count = own.iter().zip(other).take_while(same).count();
        let at = |run: &Run| run.record.events.get(count).map(|e| e.at);
        let first = match (at(here), at(there)) {
            (Some(a), Some(b)) => a.min(b),
            (one, two) => one.or(two)?,
        };
        let event = |run: &Run| at(run).map(|_| EventId(count as u32));
        Some(Parting { here: event(here), there: event(there), at: first })
    }
}

/// What a message of an event carries, as far as anybody is told: its token, and of a read the one that
/// it shows the resource.
fn said(run: &Run, event: &Event<Testimony>) -> [Option<u64>; 2] {
    let carried = event.message().and_then(|_| kind::token(&run.record, event));
    [carried, kind::read_token(run, event)].map(|token| token.map(|t| t.0))
}

/// Runs of different nodes are compared by what can be compared: when, whose, and of what kind.
fn alike(here: &Run, a: &Event<Testimony>, there: &Run, b: &Event<Testimony>) -> bool {
    let node = |run: &Run, e: &Event<Testimony>| run.names().node(e.node).id.clone();
    a.at == b.at && kind::kind(a) == kind::kind(b) && node(here, a) == node(there, b)
}
