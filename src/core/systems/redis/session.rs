//! What a server keeps of one connection: its transaction, what it watches, what it waits for.

use std::collections::VecDeque;
use std::rc::Rc;

use super::command::Command;
use super::text::Text;
use crate::sim::{ConnId, ProcId, TimerId};

/// Why a connection's next command is not looked at yet.
#[derive(Clone, Debug)]
pub enum Blocked {
    /// `WAIT` or `WAITAOF`: for so many replicas to have that much of the stream.
    Replicas {
        /// Whose answer is open.
        request: u64,
        /// How many replicas it wants.
        replicas: usize,
        /// For `WAITAOF`: whether it wants the server's own file, too.
        local: Option<bool>,
        /// The offset that they must have.
        offset: u64,
        /// What ends the wait; none where it waits for ever.
        timer: Option<TimerId>,
    },
    /// `CLIENT PAUSE` holds this command.
    Paused(u64, Rc<Command>),
}

/// A connection.
#[derive(Clone, Debug)]
pub struct Session {
    /// Which.
    pub conn: ConnId,
    /// Who is at its other end.
    pub peer: ProcId,
    /// The commands of its transaction, from `MULTI` on.
    pub queue: Option<Vec<Rc<Command>>>,
    /// One of them was refused, so that `EXEC` will be.
    pub spoiled: bool,
    /// The keys that it watches, and whether each was over when it began to.
    pub watched: Vec<(Text, bool)>,
    /// One of them was changed.
    pub dirty: bool,
    /// How far the stream was after its last write.
    pub offset: u64,
    /// The channels that it listens to.
    pub channels: Vec<Text>,
    /// The patterns of channels that it listens to.
    pub patterns: Vec<Text>,
    /// What it waits for.
    pub blocked: Option<Blocked>,
    /// What came behind that.
    pub held: VecDeque<(u64, Rc<Command>)>,
}

impl Session {
    /// A new connection.
    pub fn new(conn: ConnId, peer: ProcId) -> Session {
        Session {
            conn,
            peer,
            queue: None,
            spoiled: false,
            watched: Vec::new(),
            dirty: false,
            offset: 0,
            channels: Vec::new(),
            patterns: Vec::new(),
            blocked: None,
            held: VecDeque::new(),
        }
    }

    /// Forgets the transaction and what was watched for it.
    pub fn forget_transaction(&mut self) -> Vec<Rc<Command>> {
        self.spoiled = false;
        self.unwatch();
        self.queue.take().unwrap_or_default()
    }

    /// Watches nothing any more.
    pub fn unwatch(&mut self) {
        self.watched.clear();
        self.dirty = false;
    }

    /// Watches a key; `over` says that it is there still and its time is over.
    pub fn watch(&mut self, key: &Text, over: bool) {
        // Whoever is dirty already needs to watch nothing more.
        if !self.dirty && self.watched.iter().all(|watched| watched.0 != *key) {
            self.watched.push((key.clone(), over));
        }
    }

    /// A key was changed; `gone` says that it is there no more. The deletion of a key that was over
    /// when it was watched changes nothing that the client has seen.
    pub fn touched(&mut self, key: &Text, gone: bool) {
        match self.watched.iter_mut().find(|watched| watched.0 == *key) {
            Some((_, over)) if *over && gone => *over = false,
            Some((_, over)) => self.dirty |= !*over,
            None => {}
        }
    }

    /// Whether it listens to anything: it may ask for nothing else then.
    pub fn listens(&self) -> bool {
        !self.channels.is_empty() || !self.patterns.is_empty()
    }

    /// Whether a command has to stand in a queue: another one of the connection waits.
    pub fn is_busy(&self) -> bool {
        self.blocked.is_some() || !self.held.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watched_key_spoils_a_transaction_when_it_changes_for_whoever_has_seen_it() {
        let key = Text::new("lock");
        // Whether it was over when it was watched, what then happened (whether it was gone then),
        // and whether the client has seen another state before.
        for (over, happened, dirty) in [
            (false, &[][..], false),
            (false, &[false][..], true),
            (false, &[true][..], true),
            (true, &[true][..], false),
            (true, &[true, false][..], true),
        ] {
            let mut session = Session::new(ConnId(0), ProcId(0));
            session.watch(&key, over);
            session.touched(&Text::new("other"), false);
            for gone in happened {
                session.touched(&key, *gone);
            }
            assert_eq!(session.dirty, dirty, "{over} {happened:?}");
            session.unwatch();
            assert!(!session.dirty);
        }
    }
}
