//! Two runs compared, in words and figures.

use super::sentence::sentence;
use super::verdict::{Count, counts};
use super::words::moment;
use crate::run::{Parting, Run};
use crate::sim::EventId;

/// `Until 13.25 s both runs are the same. Then here: Resource accepts … There: Resource rejects …`
/// `sides` are the words for the two: `here` and `There`.
pub fn parting(here: &Run, there: &Run, parting: Option<&Parting>, sides: [&str; 2]) -> String {
    let Some(parting) = parting else {
        return "Both runs are the same from the first event to the last.".into();
    };
    let (one, other) = (side(here, parting.here), side(there, parting.there));
    let until = match parting.at.0 {
        0 => "From the very start the runs differ.".to_string(),
        _ => format!("Until {} both runs are the same.", moment(parting.at)),
    };
    let at = |run: &Run, id: Option<EventId>| id.map(|id| run.record.event(id).at);
    let (a, b) = (at(here, parting.here), at(there, parting.there));
    if a == b {
        return format!("{until} Then {}: {one} {}: {other}", sides[0], sides[1]);
    }
    // At the moment of the first difference one of them has nothing to tell yet.
    let when = |at: Option<_>| at.map_or_else(String::new, |at| format!(", at {}", moment(at)));
    format!("{until} Then {}{}: {one} {}{}: {other}", sides[0], when(a), sides[1], when(b))
}

fn side(run: &Run, event: Option<EventId>) -> String {
    event.map_or_else(|| "Nothing more happens.".into(), |id| sentence(run, id))
}

/// The counts of the verdict that differ, each with its two values.
pub fn differing(here: &Run, there: &Run) -> Vec<(Count, Count)> {
    let pairs = counts(here).into_iter().zip(counts(there));
    pairs.filter(|(a, b)| a.value != b.value).collect()
}
