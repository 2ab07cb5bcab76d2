//! What is left of a server's keys after it died, and how they come back.

use std::rc::Rc;

use super::command::Fsync;
use super::engine::Happened;
use super::keyspace::{Entry, Keyspace};
use super::text::Text;
use crate::sim::{CrashKind, Disk, Set};

/// Keys as a command left them; none for one that is gone. Ends are absolute, so that neither a
/// replica nor a restart counts them anew.
pub type Batch = Rc<[(Text, Option<Entry>)]>;

/// The batch of what happened to keys, as they are now. Of a key to which more than one thing
/// happened, the last state alone counts.
pub fn batch(changes: &[(Text, Happened)], keys: &Keyspace) -> Batch {
    let all: Set<&Text> = changes.iter().map(|change| &change.0).collect();
    all.iter().map(|key| ((*key).clone(), keys.raw(key).cloned())).collect()
}

/// Brings a keyspace to the state that a batch tells of.
pub fn apply(keys: &mut Keyspace, batch: &Batch) {
    for (key, entry) in batch.iter() {
        keys.put(key.clone(), entry.clone());
    }
}

/// How a server keeps its keys.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Persistence {
    /// Seconds and changes after which a snapshot is taken; none where it takes none by itself.
    pub save: Rc<[(i64, u64)]>,
    /// Whether it writes every change to a file before it answers.
    pub append_only: bool,
    /// When that file is made durable.
    pub fsync: Fsync,
}

impl Persistence {
    /// Nothing outlives the process.
    pub fn none() -> Persistence {
        Persistence { save: Rc::new([]), append_only: false, fsync: Fsync::EverySecond }
    }
}

/// A server's files: the snapshot and the append-only file, each as the keys that it brings back.
#[derive(Clone, Debug)]
pub struct Files {
    snapshot: Disk<Rc<Keyspace>>,
    log: Disk<Rc<Keyspace>>,
    /// The end of the log that is durable, in changes of the server's life.
    pub synced: u64,
    /// The same for what was written.
    pub written: u64,
    /// Changes since the last snapshot.
    pub dirty: u64,
}

impl Files {
    /// No files.
    pub fn empty() -> Files {
        Files { snapshot: Disk::default(), log: Disk::default(), synced: 0, written: 0, dirty: 0 }
    }

    /// Takes a snapshot, which is durable once it has its name.
    pub fn save(&mut self, keys: &Keyspace) {
        *self.snapshot.write() = Rc::new(keys.clone());
        self.snapshot.sync();
        self.dirty = 0;
    }

    /// Begins the append-only file with all keys.
    pub fn rewrite(&mut self, keys: &Keyspace) {
        *self.log.write() = Rc::new(keys.clone());
        self.sync();
    }

    /// Writes a change: the operating system has it before the client has its answer.
    pub fn append(&mut self, batch: &Batch, offset: u64, how: &Persistence) {
        self.dirty += batch.len() as u64;
        if how.append_only {
            apply(Rc::make_mut(self.log.write()), batch);
            self.written = offset;
            if how.fsync == Fsync::Always {
                self.sync();
            }
        }
    }

    /// Makes what was written durable.
    pub fn sync(&mut self) {
        self.log.sync();
        self.synced = self.written;
    }

    /// What is on disk after a death.
    pub fn crash(&mut self, how: CrashKind) {
        self.snapshot.crash(how);
        self.log.crash(how);
    }

    /// The keys that a start brings back. While the log is read nothing expires; a master leaves
    /// out of a snapshot what is over by its clock.
    pub fn load(&self, how: &Persistence, now: i64, master: bool) -> Keyspace {
        if how.append_only {
            return self.log.read().as_ref().clone();
        }
        let snapshot = self.snapshot.read();
        if master { snapshot.without_over(now) } else { snapshot.as_ref().clone() }
    }
}

/// When the next snapshot is due, in milliseconds, if nothing more changes.
pub fn next_save(how: &Persistence, dirty: u64, last: i64) -> Option<i64> {
    let due = how.save.iter().filter(|point| dirty >= point.1);
    due.map(|point| last.saturating_add(point.0.saturating_mul(1_000))).min()
}
