//! Asynchronous replication: a master's stream of what happened to keys, and how far each replica
//! has it.

use std::rc::Rc;

use super::keyspace::Keyspace;
use super::persist::Batch;
use crate::sim::{ConnId, ProcId};

/// What masters and replicas say to each other.
#[derive(Clone, Debug)]
pub enum Stream {
    /// A replica wants everything.
    Sync,
    /// All keys, up to this offset.
    Snapshot(Rc<Keyspace>, u64),
    /// The next change, up to this offset.
    Change(Batch, u64),
    /// A master wants to know how far the replica is. The question is part of the stream, which is
    /// so long with it.
    GetAck(u64),
    /// So far it is, and so far its file is durable.
    Ack(u64, u64),
    /// Be the master: from a master that hands over, or from whoever watches over all.
    Promote,
    /// Be the sender's replica: it was ordered to lead, as the n-th of all.
    Follow(u32),
    /// The sender is there again, and has heard of so many orders to lead.
    Hello(u32),
}

impl Stream {
    /// The word for it, as messages are named.
    pub const fn name(&self) -> &'static str {
        match self {
            Stream::Sync => "PSYNC",
            Stream::Snapshot(..) => "snapshot",
            Stream::Change(..) => "stream",
            Stream::GetAck(_) => "GETACK",
            Stream::Ack(..) => "ACK",
            Stream::Promote => "be the master",
            Stream::Follow(_) => "REPLICAOF",
            Stream::Hello(_) => "greeting",
        }
    }
}

/// A replica, as its master knows it.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// The connection that it opened.
    pub conn: ConnId,
    /// Who.
    pub peer: ProcId,
    /// It has said that it is there.
    pub online: bool,
    /// How far it has said to be.
    pub acked: u64,
    /// How far it has said its file to be.
    pub durable: u64,
    /// When it said so, in seconds of the master's wall clock.
    pub heard: i64,
}

/// A master, as its replica knows it.
#[derive(Clone, Copy, Debug)]
pub struct Upstream {
    /// Who.
    pub master: ProcId,
    /// The connection on which its keys came; none until they have.
    pub conn: Option<ConnId>,
}
