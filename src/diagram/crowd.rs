//! Many clients: their lanes move close together under one head, and their bars become slim.

use super::lanes::{BARS, COLUMN};
use super::text::{SIZE, fit, width};
use super::words::short;
use crate::run::{NodeKind, Run};
use crate::sim::ProcId;

/// More clients than this are a crowd.
const CROWD: usize = 8;

/// How far the parts of a client's bars lie to the left of its lifeline.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gauge {
    /// The belief's edges.
    pub belief: [i32; 2],
    /// The truth's edges.
    pub truth: [i32; 2],
    /// The edges of a flat cap.
    pub cap: [i32; 2],
    /// How far all of it reaches.
    pub reach: i32,
    /// How much further each more column does.
    pub column: i32,
}

impl Gauge {
    /// That of a run.
    pub fn of(run: &Run) -> Gauge {
        if is_crowd(run) {
            Gauge { belief: [13, 8], truth: [7, 3], cap: [14, 2], reach: 13, column: 12 }
        } else {
            let (belief, truth, cap) = ([BARS, 21], [17, 7], [34, 5]);
            Gauge { belief, truth, cap, reach: BARS, column: COLUMN }
        }
    }
}

/// Whether there are so many clients that their lanes stand close together.
pub(super) fn is_crowd(run: &Run) -> bool {
    run.names().of_kind(NodeKind::Client).count() > CROWD
}

/// The nearest and the furthest that two lanes of a crowd stand apart.
pub(super) const NARROW: [i32; 2] = [19, 44];

/// What stands above the lanes of a crowd.
pub(super) fn label(run: &Run) -> String {
    format!("{} clients", run.names().of_kind(NodeKind::Client).count())
}

/// What tells one of a crowd apart.
pub(super) fn name(run: &Run, node: ProcId, most: i32) -> String {
    let name = short(run, node);
    if width(&name, SIZE, false, false) <= most + 2 { name } else { fit(&name, most, SIZE, false) }
}
