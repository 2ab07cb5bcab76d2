//! What servers say to one another.

use std::rc::Rc;

use super::election::Notification;
use super::{Entry, Peer, Stamp};

/// A connection that a follower has opened to its leader. A server opens each of its connections under
/// a number of its own, so that what comes late on an older one is known for what it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Link {
    /// Who opened it: the follower.
    pub by: Peer,
    /// Its number among those that this server opened, from 1.
    pub number: u32,
}

/// What servers say to one another. What one says to another arrives in order, or not at all.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Message<C> {
    /// Whom a server holds to be the leader, or wants to be.
    Notification(Notification),
    /// Said on the connection between a leader and its follower.
    Linked(Link, QuorumPacket<C>),
}

/// What a leader and its follower say to each other, in the words of the wire.
///
/// Source: the packets of ZooKeeper's `Leader`; one that brings a follower into sync stands here for
/// all the proposals and commits that do.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum QuorumPacket<C> {
    /// A follower opens the connection, with the largest epoch that it has accepted.
    FollowerInfo(u32),
    /// The epoch that the leader will have.
    LeaderInfo(u32),
    /// The follower accepts no smaller epoch any more.
    AckEpoch {
        /// The epoch of the last leader with which it was in sync. `None` if it has promised this new
        /// epoch before, perhaps to another server: that is no vote for this one.
        current: Option<u32>,
        /// The last entry of its log.
        last: Stamp,
    },
    /// What brings the follower into sync: entries that are decided, and those that will be as soon as
    /// the leader is established.
    Sync {
        /// Whether it has logged more than that after which these come; then it forgets the rest.
        truncate: bool,
        /// The last entry that it keeps.
        keep: Stamp,
        /// What comes after it.
        entries: Rc<[Entry<C>]>,
    },
    /// That was all up to now; it is to be written down, and counts as this epoch's.
    NewLeader(u32),
    /// A majority is in sync, and the follower may serve.
    UpToDate,
    /// The leader proposes an entry.
    Propose(Entry<C>),
    /// The follower has logged it. The beginning of an epoch acknowledges [`QuorumPacket::NewLeader`].
    Ack(Stamp),
    /// It is decided.
    Commit(Stamp),
    /// The leader lives, asks whether the follower does; and the answer.
    Ping,
    /// Whoever says it has closed the connection, or knows nothing of it.
    Close,
}

impl<C> Message<C> {
    /// Its name on the wire.
    pub fn name(&self) -> &'static str {
        let Message::Linked(_, packet) = self else { return "notification" };
        match packet {
            QuorumPacket::FollowerInfo(_) => "followerInfo",
            QuorumPacket::LeaderInfo(_) => "leaderInfo",
            QuorumPacket::AckEpoch { .. } => "ackEpoch",
            QuorumPacket::Sync { truncate: false, .. } => "diff",
            QuorumPacket::Sync { truncate: true, .. } => "trunc",
            QuorumPacket::NewLeader(_) => "newLeader",
            QuorumPacket::UpToDate => "upToDate",
            QuorumPacket::Propose(_) => "proposal",
            QuorumPacket::Ack(_) => "ack",
            QuorumPacket::Commit(_) => "commit",
            QuorumPacket::Ping => "ping",
            QuorumPacket::Close => "close",
        }
    }
}
