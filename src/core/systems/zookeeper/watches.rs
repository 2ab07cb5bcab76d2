//! Who is told of which change: the watches that the clients of one server have set there.
//!
//! Source: `WatchManager` and `DataTree`, which keep watches of znodes and watches of children apart.

use super::path::Path;
use super::request::{AddWatch, Change, WatchKind};
use super::tree::Happening;
use crate::sim::{ConnId, Set, Table};

/// What a watch is on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum On {
    /// Whether the znode is there, and what it holds.
    Node,
    /// Which children it has.
    Children,
}

/// How long a watch stays, and what it covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stay {
    /// Until it has fired.
    Once,
    /// Until it is taken back.
    Long,
    /// The same, with all znodes below.
    Below,
}

/// The watches of one kind. A connection has one on a path; the way in which it was set last counts.
type Kind = Table<(Path, ConnId), Stay>;

/// All watches.
#[derive(Clone, Default, Debug)]
pub(super) struct Watches {
    node: Kind,
    children: Kind,
}

impl Watches {
    /// A watch that fires once.
    pub fn set(&mut self, on: On, path: &Path, conn: ConnId) {
        let kind = match on {
            On::Node => &mut self.node,
            On::Children => &mut self.children,
        };
        kind.insert((path.clone(), conn), Stay::Once);
    }

    /// A watch that stays.
    pub fn add(&mut self, path: &Path, conn: ConnId, mode: AddWatch) {
        let stay = match mode {
            AddWatch::Persistent => Stay::Long,
            AddWatch::PersistentRecursive => Stay::Below,
        };
        self.node.insert((path.clone(), conn), stay);
        self.children.insert((path.clone(), conn), stay);
    }

    /// Takes back watches of a connection on a path; false where there is none.
    pub fn remove(&mut self, path: &Path, conn: ConnId, which: WatchKind) -> bool {
        let key = (path.clone(), conn);
        let mut removed = false;
        if which != WatchKind::Children {
            removed |= self.node.remove(&key).is_some();
        }
        if which != WatchKind::Data {
            removed |= self.children.remove(&key).is_some();
        }
        removed
    }

    /// A connection is gone, and its watches with it.
    pub fn forget(&mut self, conn: ConnId) {
        for kind in [&mut self.node, &mut self.children] {
            if kind.keys().any(|key| key.1 == conn) {
                let kept = std::mem::take(kind).into_iter().filter(|(key, _)| key.1 != conn);
                *kind = kept.collect();
            }
        }
    }

    /// Nobody is connected any more.
    pub fn clear(&mut self) {
        *self = Watches::default();
    }

    /// The watches that are set: who watches what.
    pub fn iter(&self) -> impl Iterator<Item = (&Path, ConnId)> {
        self.node.keys().chain(self.children.keys()).map(|(path, conn)| (path, *conn))
    }

    /// Something has happened: who is told what of it, in this order.
    pub fn fire(&mut self, happened: &Happening) -> Vec<(ConnId, Change, Path)> {
        let mut told = Vec::new();
        let (path, changed) = match happened {
            Happening::Set(path) => (path, false),
            Happening::Made(path) | Happening::Gone(path) => (path, true),
        };
        let change = match happened {
            Happening::Made(_) => Change::Created,
            Happening::Gone(_) => Change::Deleted,
            Happening::Set(_) => Change::DataChanged,
        };
        let mut tell = |conns: &Set<ConnId>, but: &Set<ConnId>, change, path: &Path| {
            let conns = conns.iter().filter(|conn| !but.contains(conn));
            told.extend(conns.map(|conn| (*conn, change, path.clone())));
        };
        let nobody = Set::new();
        let first = trigger(&mut self.node, path, change);
        tell(&first, &nobody, change, path);
        if change == Change::Deleted {
            // Whoever watches the znode and its children is told once.
            let conns = trigger(&mut self.children, path, change);
            tell(&conns, &first, change, path);
        }
        if let Some(parent) = path.parent().filter(|_| changed) {
            let conns = trigger(&mut self.children, &parent, Change::ChildrenChanged);
            tell(&conns, &nobody, Change::ChildrenChanged, &parent);
        }
        told
    }
}

/// Whose watches of one kind hear of this, those on znodes above that cover all below included. What
/// fires once is gone with it.
fn trigger(kind: &mut Kind, path: &Path, change: Change) -> Set<ConnId> {
    let covers = |above: &Path| {
        let rest = path.as_str().strip_prefix(above.as_str());
        rest.is_some_and(|rest| rest.starts_with('/') || above.as_str() == "/")
    };
    let hears = |(at, _): &(Path, ConnId), stay: &Stay| match stay {
        Stay::Below => change != Change::ChildrenChanged && (at == path || covers(at)),
        Stay::Once | Stay::Long => at == path,
    };
    let heard: Vec<((Path, ConnId), Stay)> = kind
        .iter()
        .filter(|(key, stay)| hears(key, stay))
        .map(|(key, stay)| (key.clone(), *stay))
        .collect();
    for (key, stay) in &heard {
        if *stay == Stay::Once {
            kind.remove(key);
        }
    }
    heard.into_iter().map(|((_, conn), _)| conn).collect()
}
