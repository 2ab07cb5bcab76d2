//! A scenario as data: what a lesson file says, and what a packed lesson carries.

use serde::{Deserialize, Serialize};

use crate::sim::Table;

/// Which systems, which settings, which programs, and what must stay true.
///
/// Everything is text or number as an author writes it; [`super::compile`] reads it and says what
/// is wrong with it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The name of the lock service's system: `lease`.
    pub system: String,
    /// The latest end of the run, such as `60s`.
    #[serde(default = "until")]
    pub until: String,
    /// The key of all randomness.
    #[serde(default = "seed")]
    pub seed: u64,
    /// Settings that differ from their defaults.
    #[serde(default)]
    pub settings: Table<String, String>,
    /// The locks' names.
    #[serde(default = "locks")]
    pub locks: Vec<String>,
    /// The cells of the resource `resource`, guarded by the first lock.
    #[serde(default)]
    pub cells: Table<String, i64>,
    /// More resources, or resources guarded by other locks.
    #[serde(default)]
    pub resources: Table<String, ResourceSpec>,
    /// Whether a node `gateway` stands in front of the resources.
    #[serde(default)]
    pub gateway: bool,
    /// An expression over the cells and `done` that must hold whenever every section is settled.
    #[serde(default)]
    pub invariant: Option<String>,
    /// The clients, by node id.
    pub clients: Table<String, ClientSpec>,
}

fn until() -> String {
    "60s".into()
}

fn seed() -> u64 {
    1
}

fn locks() -> Vec<String> {
    vec!["lock".into()]
}

/// A resource of its own.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResourceSpec {
    /// What lanes and sentences call it.
    #[serde(default)]
    pub label: Option<String>,
    /// Its cells and their initial values; names are unique in a scenario.
    #[serde(default)]
    pub cells: Table<String, i64>,
    /// The lock that guards them; the first one where it is not said.
    #[serde(default)]
    pub lock: Option<String>,
}

/// A client: its programs and how it starts.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientSpec {
    /// What lanes and sentences call it; `Client A` for `client-a` where it is not said.
    #[serde(default)]
    pub label: Option<String>,
    /// When the process starts.
    #[serde(default)]
    pub start: Option<String>,
    /// The main program, a line an instruction.
    pub program: Vec<String>,
    /// More tasks that start with the process, such as `heartbeat`.
    #[serde(default)]
    pub tasks: Table<String, TaskSpec>,
    /// Handlers: tasks that a notice starts, such as `lost`.
    #[serde(default)]
    pub on: Table<String, TaskSpec>,
}

/// The lines of a task.
pub type TaskSpec = Vec<String>;
