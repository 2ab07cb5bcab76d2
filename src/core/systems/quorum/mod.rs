//! A log that several servers keep alike: one of them leads, a majority decides.
//!
//! It stands under every system whose servers agree on one order of all changes. Nothing here sends,
//! sets a timer or knows a process: a [`Member`] is told what came and what time it is, and says what
//! is to be done ([`Effect`]), so that every order of events can be tried without a network.
//!
//! What every such system has is apart from what is ZooKeeper's own:
//!
//! - `log`: entries, in order of their names; what a server has of them is durable.
//! - `progress`: who logged how much, and what a majority has.
//! - `member`: events in, effects out; what outlasts a crash and what a role.
//! - `election`: how ZooKeeper finds a leader (FastLeaderElection).
//! - `lead`, `follow`: the two ends of the connection between a leader and its follower (Zab): a new
//!   epoch is agreed on, the follower is brought into sync, and then entries are proposed.
//!
//! Sources: Junqueira, Reed, Serafini, *Zab: High-performance broadcast for primary-backup systems*
//! (DSN 2011), and Apache ZooKeeper's `FastLeaderElection`, `Leader`, `LearnerHandler`, `Learner` and
//! `Follower`; where the two differ, the program is followed.

mod election;
mod follow;
mod lead;
mod log;
mod member;
mod message;
mod progress;

pub use election::{Notification, State, Vote};
pub use member::{Effect, Member, Role, Timing};
pub use message::{Link, Message, QuorumPacket};

/// A server of an ensemble: its place among them, from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Peer(pub u8);

/// The name of an entry: who led when it was proposed, and the how-manieth of that leader it was.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Stamp {
    /// The term of the leader that proposed it: an epoch, in ZooKeeper's words.
    pub term: u32,
    /// Its place among what that leader proposed, from 1. With 0 it is the name of the leader's
    /// beginning, which no entry has.
    pub index: u32,
}

impl Stamp {
    /// The name of the beginning of a term.
    pub const fn beginning(term: u32) -> Stamp {
        Stamp { term, index: 0 }
    }

    /// The name after this one. After the last one of a term comes the beginning of the next.
    pub const fn next(self) -> Stamp {
        match self.index.checked_add(1) {
            Some(index) => Stamp { index, ..self },
            None => Stamp::beginning(self.term.saturating_add(1)),
        }
    }
}

/// An entry of the log.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Entry<C> {
    /// Its name. Of two entries the later has the larger one.
    pub stamp: Stamp,
    /// What it says.
    pub command: C,
}

/// How many of so many servers are a majority.
const fn majority(of: u8) -> usize {
    of as usize / 2 + 1
}
