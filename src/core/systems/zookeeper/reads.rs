//! What a server answers by itself, and whom it tells of what.

use super::path::Path;
use super::request::{Change, Code, Packet, Reply, Request, Zxid};
use super::server::Server;
use super::tree::Znode;
use super::watches::On;
use crate::judge::{LockId, Testimony};
use crate::sim::{ConnId, Cx};
use crate::systems::{Body, Locks};

impl Server {
    /// What a read finds there. The root stands under the empty name as well, which no write takes
    /// (`DataTree`; recorded in `bad_paths`).
    fn node(&self, path: &Path) -> Option<&Znode> {
        if path.as_str().is_empty() { self.tree.get(&Path::new("/")) } else { self.tree.get(path) }
    }

    /// What this server answers by itself, from what it knows.
    pub(super) fn read(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        conn: ConnId,
        request: &Request,
    ) -> Reply {
        let missing = Reply::Error(Code::NoNode);
        match request {
            Request::Exists { path, watch } => {
                // Also on what is not there: its creation is then told.
                if *watch {
                    self.watch(cx, On::Node, path, conn);
                }
                self.node(path).map_or(missing, |node| Reply::Stat(node.stat()))
            }
            Request::GetData { path, watch } => {
                let Some(node) = self.node(path) else { return missing };
                let reply = Reply::Data(node.data.clone(), node.stat());
                if *watch {
                    self.watch(cx, On::Node, path, conn);
                }
                reply
            }
            Request::GetChildren { path, watch, stat } => {
                let Some(node) = self.node(path) else { return missing };
                let names = node.children.iter().cloned().collect();
                let reply = Reply::Children(names, stat.then(|| node.stat()));
                if *watch {
                    self.watch(cx, On::Children, path, conn);
                }
                reply
            }
            Request::SetWatches { seen, data, exist, child } => {
                self.set_watches(cx, conn, *seen, [data, exist, child]);
                Reply::Done
            }
            Request::AddWatch { path, mode } => {
                self.watches.add(path, conn, *mode);
                Reply::Done
            }
            Request::RemoveWatches { path, kind } => match self.watches.remove(path, conn, *kind) {
                true => Reply::Done,
                false => Reply::Error(Code::NoWatcher),
            },
            _ => Reply::Done,
        }
    }

    /// A watch is set. Where it is of a queue, or of a place in one, it is said.
    fn watch(&mut self, cx: &mut Cx<'_, Locks>, on: On, path: &Path, conn: ConnId) {
        self.watches.set(on, path, conn);
        let watcher = self.links.iter().find(|link| link.conn == conn).map(|link| link.peer);
        let (Some(lock), Some(watcher)) = (self.lock_of(path), watcher) else { return };
        let whole = on == On::Children && self.start.locks.contains(path);
        let of = self.tree.get(path).and_then(|node| self.client(node.owner));
        if whole || of.is_some() {
            cx.note(Testimony::Watched { lock, watcher, of: of.filter(|_| !whole) });
        }
    }

    /// Watches of an earlier connection are set again; what has changed since is told at once. What
    /// came and went in between, nobody can know any more.
    ///
    /// Source: `DataTree.setWatches`; recorded in `connection_loss_and_resume`.
    fn set_watches(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        conn: ConnId,
        seen: Zxid,
        [data, exist, child]: [&[Path]; 3],
    ) {
        for path in data {
            match self.node(path) {
                None => self.tell_watcher(cx, conn, Change::Deleted, path),
                Some(n) if n.mzxid > seen => self.tell_watcher(cx, conn, Change::DataChanged, path),
                Some(_) => self.watch(cx, On::Node, path, conn),
            }
        }
        for path in exist {
            match self.node(path) {
                Some(_) => self.tell_watcher(cx, conn, Change::Created, path),
                None => self.watch(cx, On::Node, path, conn),
            }
        }
        for path in child {
            match self.node(path) {
                None => self.tell_watcher(cx, conn, Change::Deleted, path),
                Some(n) if n.pzxid > seen => {
                    self.tell_watcher(cx, conn, Change::ChildrenChanged, path);
                }
                Some(_) => self.watch(cx, On::Children, path, conn),
            }
        }
    }

    /// A watch fires. Where that wakes one who waits for a lock, it is said.
    pub(super) fn tell_watcher(
        &self,
        cx: &mut Cx<'_, Locks>,
        conn: ConnId,
        change: Change,
        path: &Path,
    ) {
        let lock = self.lock_of(path);
        let link = self.links.iter().find(|link| link.conn == conn);
        let wakes = lock
            .zip(link)
            .filter(|(lock, link)| cx.commons().queues.waited(*lock, link.session, self.last));
        let note = wakes.map(|(lock, link)| Testimony::Wake(lock, link.peer));
        let packet = Packet::Event(change, path.clone());
        cx.send(conn, Body::new(change.name(), 0, packet), note);
    }

    /// The lock whose parent that is, or in whose queue it stands.
    fn lock_of(&self, path: &Path) -> Option<LockId> {
        let parent = path.parent();
        let is = |lock: &Path| lock == path || Some(lock) == parent.as_ref();
        self.start.locks.iter().position(is).map(|place| LockId(place as u16))
    }
}
