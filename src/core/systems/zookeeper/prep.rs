//! How a leader makes transactions of requests: it looks at each against what it has proposed so far,
//! decided or not, so that a request which comes behind another needs not wait for it.
//!
//! Source: `PrepRequestProcessor`, with its outstanding changes.

use std::rc::Rc;

use super::path::Path;
use super::request::{Code, CreateMode, Request, SessionId, Zxid};
use super::tree::Tree;
use super::txn::{Deed, Owner};
use crate::sim::{Set, Table};

/// What will be known of a znode, as far as later requests depend on it.
#[derive(Clone, Copy, Debug)]
struct Books {
    version: i32,
    counter: i32,
    children: usize,
    owner: Owner,
}

/// What is proposed for a path, and in which transaction; no books for what will be gone.
#[derive(Clone, Copy, Debug)]
struct Change {
    zxid: Zxid,
    books: Option<Books>,
}

/// All that is proposed and not decided yet.
#[derive(Clone, Default, Debug)]
pub(super) struct Ahead {
    changes: Table<Path, Change>,
}

/// Paths that nobody may delete.
///
/// Source: `ZKDatabase.isSpecialPath`.
const KEPT: [&str; 4] = ["/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config"];

impl Ahead {
    /// Makes a transaction of a request; of one that cannot be done, one that says why.
    pub fn prepare(
        &mut self,
        tree: &Tree,
        zxid: Zxid,
        session: SessionId,
        request: &Request,
    ) -> Deed {
        let parts = match request {
            Request::Multi(parts) => parts,
            Request::CloseSession => return self.close(tree, zxid, session, false),
            request => {
                let deed = self.one(tree, zxid, session, request);
                return deed.unwrap_or_else(Deed::Error);
            }
        };
        let before = self.changes.clone();
        let mut failed = false;
        let mut deeds = Vec::with_capacity(parts.len());
        for part in parts.iter() {
            let deed = match failed {
                true => Err(Code::RuntimeInconsistency),
                false => self.one(tree, zxid, session, part),
            };
            failed |= deed.is_err();
            deeds.push(deed.unwrap_or_else(Deed::Error));
        }
        if failed {
            self.changes = before;
        }
        Deed::Multi(deeds.into())
    }

    /// The end of a session: all its znodes go in one transaction, those that are only proposed too.
    pub fn close(&mut self, tree: &Tree, zxid: Zxid, session: SessionId, expired: bool) -> Deed {
        let mut gone: Set<Path> = tree.ephemerals(session).cloned().collect();
        for (path, change) in &self.changes {
            match change.books {
                None => _ = gone.remove(path),
                Some(books) if books.owner == Owner::Session(session) => {
                    gone.insert(path.clone());
                }
                Some(_) => {}
            }
        }
        let gone: Rc<[Path]> = gone.iter().cloned().collect();
        for path in gone.iter() {
            self.delete(tree, zxid, path);
        }
        Deed::Close { gone, expired }
    }

    /// A container that was found empty; none where it has a child again.
    pub fn empty(&mut self, tree: &Tree, zxid: Zxid, path: &Path) -> Deed {
        match self.look(tree, path) {
            None => Deed::Error(Code::NoNode),
            Some(books) if books.children > 0 => Deed::Error(Code::NotEmpty),
            Some(_) => {
                self.delete(tree, zxid, path);
                Deed::Delete(path.clone())
            }
        }
    }

    /// Everything up to there is decided, and in the tree.
    pub fn settle(&mut self, decided: Zxid) {
        if self.changes.values().any(|change| change.zxid <= decided) {
            let changes = std::mem::take(&mut self.changes).into_iter();
            self.changes = changes.filter(|change| change.1.zxid > decided).collect();
        }
    }

    fn look(&self, tree: &Tree, path: &Path) -> Option<Books> {
        match self.changes.get(path) {
            Some(change) => change.books,
            None => tree.get(path).map(|node| Books {
                version: node.version,
                counter: node.counter,
                children: node.children.len(),
                owner: node.owner,
            }),
        }
    }

    fn change(&mut self, path: &Path, zxid: Zxid, books: Option<Books>) {
        self.changes.insert(path.clone(), Change { zxid, books });
    }

    fn delete(&mut self, tree: &Tree, zxid: Zxid, path: &Path) {
        let parent = path.parent();
        if let Some((parent, books)) = parent.and_then(|p| Some((self.look(tree, &p)?, p))) {
            let left = Books { children: parent.children.saturating_sub(1), ..parent };
            self.change(&books, zxid, Some(left));
        }
        self.change(path, zxid, None);
    }

    fn one(
        &mut self,
        tree: &Tree,
        zxid: Zxid,
        session: SessionId,
        request: &Request,
    ) -> Result<Deed, Code> {
        match request {
            Request::Create { path, data, mode, .. } => {
                self.create(tree, zxid, session, (path, data, *mode))
            }
            Request::Delete { path, version } => {
                let special = KEPT.contains(&path.as_str());
                let parent = path.parent().filter(|_| !special).ok_or(Code::BadArguments)?;
                self.look(tree, &parent).ok_or(Code::NoNode)?;
                let books = self.look(tree, path).ok_or(Code::NoNode)?;
                compare(*version, books)?;
                if books.children > 0 {
                    return Err(Code::NotEmpty);
                }
                self.delete(tree, zxid, path);
                Ok(Deed::Delete(path.clone()))
            }
            Request::SetData { path, data, version } => {
                let books = self.known(tree, path, *version)?;
                let version = books.version.wrapping_add(1);
                self.change(path, zxid, Some(Books { version, ..books }));
                Ok(Deed::SetData { path: path.clone(), data: data.clone(), version })
            }
            Request::Check { path, version } => {
                self.known(tree, path, *version).map(|_| Deed::Check)
            }
            _ => Err(Code::BadArguments),
        }
    }

    /// A znode that is there, under a path that can be, at the version that it should have.
    fn known(&self, tree: &Tree, path: &Path, version: Option<i32>) -> Result<Books, Code> {
        if !can_be(path.as_str()) {
            return Err(Code::BadArguments);
        }
        let books = self.look(tree, path).ok_or(Code::NoNode)?;
        compare(version, books)?;
        Ok(books)
    }

    /// The order of these checks decides which error is told; it is that of `pRequest2TxnCreate`.
    fn create(
        &mut self,
        tree: &Tree,
        zxid: Zxid,
        session: SessionId,
        (path, data, mode): (&Path, &Rc<str>, CreateMode),
    ) -> Result<Deed, Code> {
        let parent = match path.as_str() {
            // The root's parent is the root by another name.
            "/" => Path::new("/"),
            _ => path.parent().ok_or(Code::BadArguments)?,
        };
        let above = self.look(tree, &parent).ok_or(Code::NoNode)?;
        let sequential =
            matches!(mode, CreateMode::PersistentSequential | CreateMode::EphemeralSequential);
        let path = if sequential { path.numbered(above.counter) } else { path.clone() };
        if !can_be(path.as_str()) {
            return Err(Code::BadArguments);
        }
        if self.look(tree, &path).is_some() {
            return Err(Code::NodeExists);
        }
        if let Owner::Session(_) = above.owner {
            return Err(Code::NoChildrenForEphemerals);
        }
        let owner = match mode {
            CreateMode::Persistent | CreateMode::PersistentSequential => Owner::Nobody,
            CreateMode::Ephemeral | CreateMode::EphemeralSequential => Owner::Session(session),
            CreateMode::Container => Owner::Container,
        };
        let counter = above.counter.wrapping_add(1);
        let children = above.children + 1;
        self.change(&parent, zxid, Some(Books { counter, children, ..above }));
        let books = Books { version: 0, counter: 0, children: 0, owner };
        self.change(&path, zxid, Some(books));
        Ok(Deed::Create { path, data: data.clone(), owner, counter })
    }
}

fn compare(version: Option<i32>, books: Books) -> Result<(), Code> {
    match version {
        Some(version) if version != books.version => Err(Code::BadVersion),
        _ => Ok(()),
    }
}

/// Whether a znode can have this path.
///
/// Source: `PathUtils.validatePath`.
fn can_be(path: &str) -> bool {
    let Some(rest) = path.strip_prefix('/') else { return false };
    let is_odd = |c: char| {
        c <= '\u{1f}'
            || ('\u{7f}'..='\u{9f}').contains(&c)
            || ('\u{e000}'..='\u{f8ff}').contains(&c)
            || ('\u{fff0}'..='\u{ffff}').contains(&c)
    };
    let name_can_be = |name: &str| !matches!(name, "" | "." | "..") && !name.contains(is_odd);
    rest.is_empty() || rest.split('/').all(name_can_be)
}
