//! The znodes as one server knows them: what has been decided, and nothing else.

use std::rc::Rc;

use super::path::Path;
use super::request::{Code, Reply, SessionId, Stat, Zxid};
use super::txn::{Deed, Owner, Txn};
use crate::sim::{Micros, ProcId, Set, Table};

/// A znode.
#[derive(Clone, Debug)]
pub struct Znode {
    /// What it holds.
    pub data: Rc<str>,
    /// The transaction that made it.
    pub czxid: Zxid,
    /// The transaction that last set its data.
    pub mzxid: Zxid,
    /// The transaction that last made or deleted a child.
    pub pzxid: Zxid,
    /// How often its data was set.
    pub version: i32,
    /// How many children it ever had: those that came, not those that went.
    pub counter: i32,
    /// Whose it is.
    pub owner: Owner,
    /// The names of its children.
    pub children: Set<Rc<str>>,
}

impl Znode {
    fn new(data: Rc<str>, owner: Owner, zxid: Zxid) -> Znode {
        let (czxid, mzxid, pzxid) = (zxid, zxid, zxid);
        let (version, counter, children) = (0, 0, Set::new());
        Znode { data, czxid, mzxid, pzxid, version, counter, owner, children }
    }

    /// What a client sees of its books.
    ///
    /// Source: `DataNode.copyStat`: the counter that is shown is twice the stored one less the number
    /// of children, which counts those that went as well.
    pub fn stat(&self) -> Stat {
        let children = self.children.len() as i32;
        Stat {
            czxid: self.czxid,
            mzxid: self.mzxid,
            pzxid: self.pzxid,
            version: self.version,
            cversion: self.counter.wrapping_mul(2).wrapping_sub(children),
            owner: match self.owner {
                Owner::Session(session) => Some(session),
                // The server has a mark for a container there, and shows none: recorded in
                // `containers`.
                Owner::Nobody | Owner::Container => None,
            },
            length: self.data.len() as i32,
            children,
        }
    }
}

/// A session as every server knows it.
#[derive(Clone, Copy, Debug)]
pub struct Session {
    /// How long it lasts without a sign of its client.
    pub timeout: Micros,
    /// Whose it is.
    pub client: ProcId,
    /// How many that client has opened with it; for whoever looks on.
    pub which: u16,
}

/// What has happened to a znode, for those who watch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Happening {
    /// It is there.
    Made(Path),
    /// It is gone.
    Gone(Path),
    /// It holds something else.
    Set(Path),
}

/// The tree, and the sessions that are decided.
#[derive(Clone, Debug)]
pub struct Tree {
    nodes: Table<Path, Znode>,
    sessions: Table<SessionId, Session>,
    /// How many sessions each client has opened.
    opened: Table<ProcId, u16>,
    /// A parent's counter goes from the largest number of 31 bits to the smallest. Later servers take
    /// a smaller number for an old one and leave the counter where it is.
    runs_over: bool,
}

impl Tree {
    /// A tree with what every server has from its beginning.
    pub fn new(runs_over: bool) -> Tree {
        let mut nodes = Table::new();
        for path in ["/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota"] {
            nodes.insert(Path::new(path), Znode::new("".into(), Owner::Nobody, Zxid(0)));
        }
        let (sessions, opened) = (Table::new(), Table::new());
        let mut tree = Tree { nodes, sessions, opened, runs_over };
        tree.adopt("/", &["zookeeper"]);
        tree.adopt("/zookeeper", &["config", "quota"]);
        tree
    }

    fn adopt(&mut self, parent: &str, names: &[&str]) {
        if let Some(parent) = self.nodes.get_mut(&Path::new(parent)) {
            for name in names {
                parent.children.insert((*name).into());
            }
        }
    }

    /// The znode there.
    pub fn get(&self, path: &Path) -> Option<&Znode> {
        self.nodes.get(path)
    }

    /// The znodes that end with a session.
    pub fn ephemerals(&self, session: SessionId) -> impl Iterator<Item = &Path> {
        let owner = Owner::Session(session);
        self.nodes.iter().filter(move |(_, node)| node.owner == owner).map(|(path, _)| path)
    }

    /// Containers that have had children and have none now.
    ///
    /// Source: `ContainerManager.getCandidates`: one that never had any is left alone for a while.
    pub fn empty_containers(&self) -> Vec<Path> {
        let empty = |node: &Znode| {
            node.owner == Owner::Container && node.counter > 0 && node.children.is_empty()
        };
        self.nodes.iter().filter(|(_, node)| empty(node)).map(|(path, _)| path.clone()).collect()
    }

    /// Whether there is any container.
    pub fn has_containers(&self) -> bool {
        self.nodes.values().any(|node| node.owner == Owner::Container)
    }

    /// A session.
    pub fn session(&self, session: SessionId) -> Option<&Session> {
        self.sessions.get(&session)
    }

    /// All sessions.
    pub fn sessions(&self) -> impl Iterator<Item = (SessionId, &Session)> {
        self.sessions.iter().map(|(id, session)| (*id, session))
    }

    /// Carries a transaction out: what is to be answered, and what has happened.
    pub fn apply(&mut self, zxid: Zxid, txn: &Txn) -> (Reply, Vec<Happening>) {
        let mut happened = Vec::new();
        let reply = match &txn.deed {
            Deed::Open { timeout } => {
                if let Some(session) = txn.session {
                    let which = self.opened.entry(txn.by).or_default();
                    *which = which.saturating_add(1);
                    let opened = Session { timeout: *timeout, client: txn.by, which: *which };
                    self.sessions.insert(session, opened);
                }
                Reply::Done
            }
            Deed::Close { gone, .. } => {
                gone.iter().for_each(|path| self.delete(zxid, path, &mut happened));
                if let Some(session) = txn.session {
                    self.sessions.remove(&session);
                }
                Reply::Done
            }
            deed => self.act(zxid, deed, &mut happened),
        };
        (reply, happened)
    }

    fn act(&mut self, zxid: Zxid, deed: &Deed, happened: &mut Vec<Happening>) -> Reply {
        match deed {
            Deed::Create { path, data, owner, counter } => {
                let node = Znode::new(data.clone(), *owner, zxid);
                let stat = node.stat();
                self.insert(zxid, path, node, *counter);
                happened.push(Happening::Made(path.clone()));
                Reply::Created(path.clone(), Some(stat))
            }
            Deed::Install { path, counter } => {
                let parent = path.parent().and_then(|parent| self.nodes.get(&parent));
                let count = parent.map_or(0, |parent| parent.counter) + 1;
                let node = Znode::new("".into(), Owner::Nobody, zxid);
                self.insert(zxid, path, Znode { counter: *counter, ..node }, count);
                Reply::Done
            }
            Deed::Delete(path) => {
                self.delete(zxid, path, happened);
                Reply::Done
            }
            Deed::SetData { path, data, version } => {
                let Some(node) = self.nodes.get_mut(path) else {
                    return Reply::Error(Code::NoNode);
                };
                node.data = data.clone();
                (node.version, node.mzxid) = (*version, zxid);
                let stat = node.stat();
                happened.push(Happening::Set(path.clone()));
                Reply::Stat(stat)
            }
            Deed::Multi(deeds) => self.act_all(zxid, deeds, happened),
            Deed::Error(code) => Reply::Error(*code),
            Deed::Check | Deed::Open { .. } | Deed::Close { .. } => Reply::Done,
        }
    }

    /// All parts, or none of them where one cannot be done: each part's answer then says where that is.
    ///
    /// Source: `DataTree.processTxn`; recorded in `multi_fencing`.
    fn act_all(&mut self, zxid: Zxid, deeds: &[Deed], happened: &mut Vec<Happening>) -> Reply {
        let Some(at) = deeds.iter().position(|deed| matches!(deed, Deed::Error(_))) else {
            let parts = deeds.iter().map(|deed| self.act(zxid, deed, happened));
            return Reply::Multi(parts.collect());
        };
        let parts = deeds.iter().enumerate().map(|(place, deed)| {
            Reply::Error(match deed {
                _ if place < at => Code::Ok,
                Deed::Error(code) if place == at => *code,
                _ => Code::RuntimeInconsistency,
            })
        });
        Reply::Multi(parts.collect())
    }

    fn insert(&mut self, zxid: Zxid, path: &Path, node: Znode, counter: i32) {
        self.nodes.insert(path.clone(), node);
        let runs_over = self.runs_over;
        let parent = path.parent().and_then(|parent| self.nodes.get_mut(&parent));
        let Some(parent) = parent else { return };
        parent.children.insert(path.name().into());
        // Source: `DataTree.createNode`, which has this comparison from 3.6 on.
        if runs_over || counter > parent.counter {
            (parent.counter, parent.pzxid) = (counter, zxid);
        }
    }

    fn delete(&mut self, zxid: Zxid, path: &Path, happened: &mut Vec<Happening>) {
        if self.nodes.remove(path).is_none() {
            return;
        }
        if let Some(parent) = path.parent().and_then(|parent| self.nodes.get_mut(&parent)) {
            parent.children.remove(&path.name().into());
            parent.pzxid = parent.pzxid.max(zxid);
        }
        happened.push(Happening::Gone(path.clone()));
    }
}
