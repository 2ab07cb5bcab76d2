//! What is left of a server's keys after it died, and how they come back.

use std::rc::Rc;

use super::config::Fsync;
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

#[cfg(test)]
mod tests {
    use super::super::command::{Command, Life, Only, SetCommand, SetReply};
    use super::super::engine::Engine;
    use super::*;
    use crate::sim::{Purpose, keyed, up_to};

    fn draw(seed: u64, ordinal: u64, most: u64) -> u64 {
        up_to(keyed(seed, Purpose::Jitter, 0, ordinal), most)
    }

    fn command(seed: u64, ordinal: u64) -> Command {
        let key = Text::Number(draw(seed, ordinal * 8, 3) as i64);
        let life = match draw(seed, ordinal * 8 + 1, 2) {
            0 => Life::Forever,
            1 => Life::Kept,
            _ => Life::For(1 + draw(seed, ordinal * 8 + 2, 400) as i64),
        };
        match draw(seed, ordinal * 8 + 3, 4) {
            0 => Command::Del(vec![key]),
            1 => Command::Add(key, 1),
            2 => Command::Expire {
                key,
                life: Life::For(ordinal as i64 % 7),
                only: Default::default(),
            },
            _ => Command::Set(Box::new(SetCommand {
                key,
                value: Text::Number(ordinal as i64),
                only: if ordinal.is_multiple_of(3) { Only::Absent } else { Only::Always },
                life,
                reply: SetReply::Plain,
            })),
        }
    }

    /// What a reader finds under each key.
    fn seen(keys: &Keyspace, now: i64) -> Vec<(Text, Entry)> {
        let live = keys.iter().filter(|pair| !pair.1.is_over(now));
        live.map(|(key, entry)| (key.clone(), entry.clone())).collect()
    }

    /// Random commands until a crash; returns what was there, what was there at the last sync, and
    /// what a restart finds, each as a reader sees it then.
    fn crash(seed: u64, fsync: Fsync, how: CrashKind) -> [Vec<(Text, Entry)>; 3] {
        let append_only = true;
        let persistence = Persistence { save: Rc::new([]), append_only, fsync };
        let (mut keys, mut files, mut synced) =
            (Keyspace::default(), Files::empty(), Keyspace::default());
        let mut now = 1_000;
        for ordinal in 1..60 {
            now += draw(seed, ordinal * 8 + 4, 30) as i64;
            let mut engine = Engine {
                keys: &mut keys,
                now,
                sweeps: true,
                refused: None,
                short: false,
                stores_no_past: false,
                changes: Vec::new(),
            };
            engine.run(&command(seed, ordinal));
            let changes = std::mem::take(&mut engine.changes);
            files.append(&batch(&changes, &keys), ordinal, &persistence);
            if draw(seed, ordinal * 8 + 5, 9) == 0 {
                files.sync();
            }
            if files.synced == files.written {
                synced = keys.clone();
            }
        }
        files.crash(how);
        let found = files.load(&persistence, now, true);
        [seen(&keys, now), seen(&synced, now), seen(&found, now)]
    }

    #[test]
    fn a_file_that_is_written_before_the_answer_loses_nothing_to_a_kill() {
        for seed in 0..200 {
            for fsync in [Fsync::Always, Fsync::EverySecond, Fsync::No] {
                let [there, _, found] = crash(seed, fsync, CrashKind::Kill);
                assert_eq!(there, found, "seed {seed}");
            }
        }
    }

    #[test]
    fn a_power_loss_leaves_what_was_synced_which_is_everything_with_always() {
        let mut lost = 0;
        for seed in 0..200 {
            let [there, _, found] = crash(seed, Fsync::Always, CrashKind::Power);
            assert_eq!(there, found, "seed {seed}");
            let [there, synced, found] = crash(seed, Fsync::EverySecond, CrashKind::Power);
            assert_eq!(synced, found, "seed {seed}");
            lost += usize::from(there != found);
        }
        assert!(lost > 50, "in {lost} of 200 runs something was lost");
    }
}
