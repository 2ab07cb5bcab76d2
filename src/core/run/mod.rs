//! A run: a scenario, its edits and a seed, simulated and judged; keyframes for seeking; links, branches, comparison.

mod address;
mod branch;
mod compare;
mod edit;
pub mod eyes;
mod grounds;
pub mod kind;
pub mod link;
mod plan;
mod programs;
mod replay;
mod scenario;
mod short;
pub mod why;

pub use address::{Names, Node, NodeKind};
pub use branch::{Branch, Branches, Course, LONGEST_NAME, MOST_BRANCHES};
pub use compare::Parting;
pub use edit::{
    Action, Edit, EditError, MOST_EDITS, MOST_STEP, Span, Ways, When, Whom, parse_edit,
};
pub use grounds::{Ground, grounds};
pub use link::Link;
pub use plan::{Compiled, LONGEST, Place, ScenarioError, compile, node_ids};
pub use replay::{Firsts, KEYFRAME_EVERY, Run};
pub use scenario::{ClientSpec, ResourceSpec, Scenario, TaskSpec};
pub use short::{lengthen, shorten};
