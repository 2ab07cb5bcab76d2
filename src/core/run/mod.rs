//! A run: a scenario, its edits and a seed, simulated and judged; keyframes for seeking.

mod address;
mod edit;
pub mod kind;
mod plan;
mod replay;
mod scenario;

pub use address::{Names, Node, NodeKind};
pub use edit::{Action, Edit, EditError, MOST_EDITS, Span, Ways, When, parse_edit};
pub use plan::{Compiled, Place, ScenarioError, compile};
pub use replay::{KEYFRAME_EVERY, Run};
pub use scenario::{ClientSpec, ResourceSpec, Scenario, TaskSpec};
