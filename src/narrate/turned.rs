//! What one millisecond turned around, in a sentence.

use super::teller::Teller;
use crate::judge::Testimony;
use crate::run::Run;
use crate::search::Edge;
use crate::sim::EventId;

/// `One millisecond more, and Client A's write balance = 90 (token 41) arrives after Client B's read of balance instead of before it.`
pub fn turned(edge: &Edge) -> Option<String> {
    let swap = edge.swap?;
    let first = thing(&edge.safe_run, swap.first.0)?;
    let second = thing(&edge.safe_run, swap.second.0)?;
    Some(format!("One millisecond more, and {first} arrives after {second} instead of before it."))
}

fn thing(run: &Run, id: EventId) -> Option<String> {
    let teller = Teller { run };
    match run.record.event(id).note()? {
        Testimony::Grant { client, token, .. } => {
            let of = token.map_or_else(String::new, |t| format!(" of {}", teller.token(t)));
            Some(format!("the grant{of} to {}", teller.label(*client)))
        }
        _ => teller.operation(id, false),
    }
}
