//! ZooKeeper: an ensemble that answers as recorded servers did, and the lock recipe on it.
//!
//! Changes go through one leader and a majority; reads are answered by the server that was asked,
//! from what it knows. Sessions end where the leader says so, and with them their znodes.

mod handle;
mod lead;
mod line;
mod options;
mod path;
mod peers;
mod prep;
mod profiles;
mod queues;
mod reads;
mod recipe;
mod request;
mod rules;
mod server;
mod sessions;
mod shown;
mod spell;
mod steps;
mod system;
mod tree;
mod txn;
mod watches;

pub use options::CLIENT_SETTINGS;
pub use path::{Path, number_of};
pub use profiles::PROFILES;
pub use queues::Queues;
pub use request::{
    AddWatch, Change, Code, CreateMode, Packet, Password, Reply, Request, SessionId, Stat,
    WatchKind, Zxid,
};
pub use server::{Server, Start};
pub use system::ZooKeeper;

use super::{LockClient, Settings};
use crate::sim::ProcId;

/// The client library, for a process that is to know these servers.
pub fn client(settings: &Settings, servers: &[ProcId]) -> Box<dyn LockClient> {
    Box::new(recipe::Library::new(settings, servers))
}
