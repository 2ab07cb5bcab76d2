//! A run in miniature: the strip under the scrubber and on the home page.

use super::paint::Primitive;
use crate::run::Run;
use crate::sim::Micros;

/// Where a moment lies in a miniature of that width.
pub fn miniature_x(run: &Run, width: i32, at: Micros) -> i32 {
    let end = u128::from(run.end.0.max(1));
    (u128::from(at.0.min(run.end.0)) * width.max(0) as u128 / end) as i32
}

/// Belief and truth of each client over time, from left to right, with the pauses and decisions.
pub fn miniature(_run: &Run, _width: i32, _height: i32) -> Vec<Primitive> {
    Vec::new()
}
