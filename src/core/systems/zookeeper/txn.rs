//! What the entries of the log say: requests as the leader has made transactions of them.

use std::rc::Rc;

use super::path::Path;
use super::request::{Code, SessionId, Zxid};
use crate::sim::{Micros, ProcId};
use crate::systems::quorum::{Peer, Stamp};

/// Whose a znode is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Owner {
    /// Nobody's: it stays until it is deleted.
    Nobody,
    /// It ends with this session.
    Session(SessionId),
    /// The server deletes it some time after its last child is gone.
    Container,
}

/// A transaction: what one entry of the log does to every server's tree.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Txn {
    /// In which session it was asked for, or whose end it is; none for what the leader does by itself.
    pub session: Option<SessionId>,
    /// Who asked: a client, or the leader.
    pub by: ProcId,
    /// Who waits for it; nobody where the leader decided it alone.
    pub asker: Option<Asker>,
    /// What it does.
    pub deed: Deed,
}

/// Which server's client waits for a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Asker {
    /// The server that it is connected to.
    pub server: Peer,
    /// That server's number for what it has asked the leader.
    pub ticket: u64,
}

/// What a transaction does. The leader has looked at everything: carrying it out cannot fail.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Deed {
    /// A session begins.
    Open {
        /// How long it lasts without a sign of its client.
        timeout: Micros,
    },
    /// A session ends, and with it its znodes.
    Close {
        /// They were these.
        gone: Rc<[Path]>,
        /// Nobody had heard of its client for too long.
        expired: bool,
    },
    /// A znode, with its whole name.
    Create {
        /// Where.
        path: Path,
        /// What it holds.
        data: Rc<str>,
        /// Whose it is.
        owner: Owner,
        /// What the parent's stored counter is from then on.
        counter: i32,
    },
    /// A znode is no more.
    Delete(Path),
    /// It holds something else.
    SetData {
        /// Which.
        path: Path,
        /// What.
        data: Rc<str>,
        /// Its version from then on.
        version: i32,
    },
    /// It has the version that it should have.
    Check,
    /// Several, as one.
    Multi(Rc<[Deed]>),
    /// What was asked for cannot be done. This too takes a number.
    Error(Code),
    /// An administrator has made a znode, under which so many children have come and gone.
    Install {
        /// Where.
        path: Path,
        /// What its stored counter is.
        counter: i32,
    },
}

/// The number of a transaction is the name of its entry: the epoch above, the counter below.
pub fn zxid(stamp: Stamp) -> Zxid {
    Zxid(u64::from(stamp.term) << 32 | u64::from(stamp.index))
}
