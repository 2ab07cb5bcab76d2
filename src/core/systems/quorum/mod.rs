//! A log that several servers keep alike: one of them leads, a majority decides.
//!
//! It stands under every system whose servers agree on one order of all changes. A system adds what
//! the entries say and how a leader is chosen. Nothing here sends, sets a timer or knows a process:
//! a [`Member`] is told what came and what time it is, and says what is to be done ([`Effect`]), so
//! that every order of events can be tried without a network.

mod member;

pub use member::{Effect, Member, Message, Role, Timing};

/// A server of an ensemble: its place among them, from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Peer(pub u8);

/// The name of an entry: who led when it was proposed, and the how-manieth of that leader it was.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Stamp {
    /// The term of the leader that proposed it: an epoch, in ZooKeeper's words.
    pub term: u32,
    /// Its place among what that leader proposed.
    pub index: u32,
}

/// An entry of the log.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Entry<C> {
    /// Its name. Of two entries the later has the larger one.
    pub stamp: Stamp,
    /// What it says.
    pub command: C,
}
