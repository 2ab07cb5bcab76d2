//! ZooKeeper: an ensemble that answers as recorded servers did, and the lock recipe on it.
//!
//! Changes go through one leader and a majority; reads are answered by the server that was asked,
//! from what it knows. Sessions end where the leader says so, and with them their znodes.

mod lead;
mod path;
mod peers;
mod prep;
mod queues;
mod request;
mod server;
mod sessions;
mod shown;
mod tree;
mod txn;
mod watches;

pub use path::{Path, number_of};
pub use queues::Queues;
pub use request::{
    AddWatch, Change, Code, CreateMode, Packet, Password, Reply, Request, SessionId, Stat,
    WatchKind, Zxid,
};
pub use server::{Server, Start};
