//! The names of a run's nodes, locks, cells and messages.

use crate::judge::{CellId, LockId};
use crate::sim::{MessageInfo, ProcId};
use crate::systems::{Body, Figures, Group, Rules, Traffic};

/// What kind of node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeKind {
    /// It runs a program.
    Client,
    /// It is a server of the lock service.
    Service,
    /// It checks operations on their way to the resources.
    Gateway,
    /// It is a protected resource.
    Resource,
}

impl NodeKind {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            NodeKind::Client => "client",
            NodeKind::Service => "service",
            NodeKind::Gateway => "gateway",
            NodeKind::Resource => "resource",
        }
    }
}

/// A node by its id, its label and its kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// As edits name it: `client-a`.
    pub id: String,
    /// As lanes and sentences name it: `Client A`.
    pub label: String,
    /// What it is.
    pub kind: NodeKind,
}

/// Everything that has a name in a run, by index.
#[derive(Clone, Default, Debug)]
pub struct Names {
    /// Nodes by lane: clients, lock service, gateway, resources last.
    pub nodes: Vec<Node>,
    /// Locks.
    pub locks: Vec<String>,
    /// Cells.
    pub cells: Vec<String>,
    /// The lock that guards each cell.
    pub guards: Vec<LockId>,
    /// The resource that holds each cell.
    pub homes: Vec<ProcId>,
    /// Jobs.
    pub jobs: Vec<String>,
    /// Tasks of each node.
    pub tasks: Vec<Vec<String>>,
    /// The lines of each task of each node.
    pub programs: Vec<Vec<Vec<String>>>,
    /// Locals of each node.
    pub locals: Vec<Vec<String>>,
    /// What the field calls this system's token.
    pub token_word: &'static str,
    /// How tokens are written.
    pub figures: Figures,
    /// How the servers are named together, where none of them grants alone.
    pub group: Option<Group>,
    /// How messages are to be read.
    pub traffic: Traffic,
    /// The rules of this system, by whose they are.
    pub rules: &'static [Rules],
}

impl Names {
    /// The node at this lane.
    pub fn node(&self, proc: ProcId) -> &Node {
        &self.nodes[usize::from(proc.0)]
    }

    /// What tells a server apart from the others of its group; none for a node of no group.
    pub fn member(&self, proc: ProcId) -> Option<&str> {
        let (group, node) = (self.group?, self.nodes.get(usize::from(proc.0))?);
        let short = || node.label.strip_prefix(group.each).unwrap_or(&node.label);
        (node.kind == NodeKind::Service).then(short)
    }

    /// What the time of one leader is called.
    pub fn term(&self) -> &'static str {
        if self.traffic.term.is_empty() { "term" } else { self.traffic.term }
    }

    /// Servers that stand together, of which one leads, so that each of them speaks for all.
    pub fn led(&self) -> bool {
        self.traffic.round.is_some()
    }

    /// Servers that stand together, and of which none grants alone: clients count their answers.
    pub fn counted(&self) -> bool {
        self.group.is_some() && !self.led()
    }

    /// The lane of the node with this id.
    pub fn find(&self, id: &str) -> Option<ProcId> {
        self.nodes.iter().position(|n| n.id == id).map(|i| ProcId(i as u16))
    }

    /// The index of a node's task by its name in edits: `main`, `heartbeat`, `on-lost`.
    pub fn task(&self, node: &str, task: &str) -> Option<usize> {
        let tasks = self.tasks.get(usize::from(self.find(node)?.0))?;
        tasks.iter().position(|t| t.replace(' ', "-") == task)
    }

    /// The name of a lock.
    pub fn lock(&self, lock: LockId) -> &str {
        self.locks.get(usize::from(lock.0)).map_or("?", String::as_str)
    }

    /// The name of a cell.
    pub fn cell(&self, cell: CellId) -> &str {
        self.cells.get(usize::from(cell.0)).map_or("?", String::as_str)
    }

    /// A message's address: `client-a>resource#1`.
    pub fn message(&self, message: &MessageInfo<Body>) -> String {
        let (from, to) = (self.node(message.from), self.node(message.to));
        format!("{}>{}#{}", from.id, to.id, message.number)
    }

    /// The nodes of one kind, in lane order.
    pub fn of_kind(&self, kind: NodeKind) -> impl Iterator<Item = ProcId> + '_ {
        let nodes = self.nodes.iter().enumerate();
        nodes.filter(move |(_, n)| n.kind == kind).map(|(i, _)| ProcId(i as u16))
    }
}
