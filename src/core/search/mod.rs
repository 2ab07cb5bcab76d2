//! Searching among runs: which change of a schedule makes the difference.

mod knife;

pub use knife::{Compile, Edge, Goal, NoEdge, Swap, knife_edge, knife_edge_between};
