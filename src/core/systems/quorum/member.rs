//! One server's part in the log.

use super::{Entry, Peer, Stamp};
use crate::sim::{Local, Micros};

/// How long servers wait for one another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Timing {
    /// The unit of all waits: a leader speaks to its followers twice in it.
    pub tick: Micros,
    /// How many of them a follower may take until it knows what the leader knows.
    pub init_limit: u32,
    /// After how many of silence a leader and a follower give each other up.
    pub sync_limit: u32,
}

/// What a server is to the others.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// It knows no leader.
    Looking,
    /// It follows that one.
    Following(Peer),
    /// It leads.
    Leading,
}

/// What servers say to one another.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Message<C> {
    /// An entry that the leader proposes.
    Propose(Entry<C>),
}

/// What is to be done about what a member was told.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Effect<C> {
    /// This is to be sent.
    Send(Peer, Message<C>),
    /// An entry is decided: it is to be carried out. They come in order, each once in the life of a
    /// process; a process that starts again carries all of them out again.
    Commit(Entry<C>),
    /// The server is something else from now on. A leader leads, and a follower follows, only when it
    /// knows all that was decided.
    Became(Role),
}

/// One server's part in a log that several keep alike.
///
/// What it logs is durable before it says so: a crash, of whichever kind, loses nothing of it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Member<C> {
    me: Peer,
    of: u8,
    role: Role,
    timing: Timing,
    log: Vec<Entry<C>>,
}

impl<C: Clone> Member<C> {
    /// A server that was never started, one of so many.
    pub fn new(me: Peer, of: u8, timing: Timing) -> Member<C> {
        Member { me, of, role: Role::Looking, timing, log: Vec::new() }
    }

    /// What it is to the others.
    pub fn role(&self) -> Role {
        self.role
    }

    /// The process starts, for the first time or again.
    pub fn start(&mut self, _now: Local) -> Vec<Effect<C>> {
        self.role = Role::Leading;
        let known = self.log.iter().cloned().map(Effect::Commit);
        known.chain([Effect::Became(Role::Leading)]).collect()
    }

    /// The name that the next proposal will have; only a leader has one.
    pub fn next(&self) -> Option<Stamp> {
        let next = Stamp { term: 0, index: self.log.len() as u32 + 1 };
        (self.role == Role::Leading).then_some(next)
    }

    /// The leader proposes an entry, which gets the name of [`Member::next`].
    pub fn propose(&mut self, _now: Local, command: C) -> Vec<Effect<C>> {
        let Some(stamp) = self.next() else { return Vec::new() };
        let entry = Entry { stamp, command };
        self.log.push(entry.clone());
        vec![Effect::Commit(entry)]
    }

    /// Another server has said something.
    pub fn receive(&mut self, _now: Local, _from: Peer, _message: Message<C>) -> Vec<Effect<C>> {
        Vec::new()
    }

    /// The connection to another server is gone.
    pub fn lost(&mut self, _now: Local, _peer: Peer) -> Vec<Effect<C>> {
        Vec::new()
    }

    /// When [`Member::alarm`] is to be called, on the process's monotonic clock.
    pub fn next_alarm(&self) -> Option<Local> {
        None
    }

    /// It is that late, or later.
    pub fn alarm(&mut self, _now: Local) -> Vec<Effect<C>> {
        Vec::new()
    }

    /// The process dies: what is not in the log is gone.
    pub fn crash(&mut self) {
        self.role = Role::Looking;
    }
}
