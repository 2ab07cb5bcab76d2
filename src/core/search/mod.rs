//! Searching among runs: which change of a schedule makes the difference, and whether any does.

mod ear;
mod knife;
mod orders;
mod placements;
mod repeats;

pub use knife::{Compile, Edge, Goal, NoEdge, Swap, knife_edge, knife_edge_between};
pub use placements::{Aim, CHECKS, MOST_WORK, Proof, Row, Schedule};
