//! What clients say to a ZooKeeper server, and what it says to them.

use std::rc::Rc;

use super::path::Path;
use crate::sim::Micros;

/// The number of a transaction: the epoch of its leader above, its counter below.
///
/// All 64 bits count: a number with 53 of them lies from epoch 2²¹ on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Zxid(pub u64);

/// A session; none has the number 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SessionId(pub u64);

/// What proves that a session is one's own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Password(pub u64);

/// What becomes of a znode, and whether its name gets a number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CreateMode {
    /// It stays until somebody deletes it.
    Persistent,
    /// The same, with a number behind its name.
    PersistentSequential,
    /// It ends with the session that made it.
    Ephemeral,
    /// The same, with a number behind its name.
    EphemeralSequential,
    /// The server deletes it some time after its last child is gone.
    Container,
}

/// How a watch that stays is set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AddWatch {
    /// It hears of the znode and of its children's coming and going.
    Persistent,
    /// It hears of the znode and of all below it.
    PersistentRecursive,
}

/// Which watches of a client on a znode are taken back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum WatchKind {
    /// Those of its children.
    Children,
    /// Those of what it holds and whether it is there.
    Data,
    /// Every one.
    Any,
}

/// A client's request.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Request {
    /// The first words on a connection: a new session, or an earlier one that goes on here.
    Connect {
        /// The session that goes on, with what proves it.
        session: Option<(SessionId, Password)>,
        /// For how long the server shall wait without hearing of it; the server bounds this.
        timeout: Micros,
        /// The latest transaction that the client has heard of.
        seen: Zxid,
    },
    /// I am here.
    Ping,
    /// A new znode; a sequential one gets its number from the parent.
    Create {
        /// The whole path, for a sequential one without the number.
        path: Path,
        /// What it holds.
        data: Rc<str>,
        /// How it ends, and whether it is numbered.
        mode: CreateMode,
        /// The answer carries its [`Stat`] (`create2`).
        stat: bool,
    },
    /// Deletes a znode, whichever version it has or only at this one.
    Delete {
        /// Which.
        path: Path,
        /// Only at this version.
        version: Option<i32>,
    },
    /// Sets what a znode holds.
    SetData {
        /// Which.
        path: Path,
        /// What it holds from then on.
        data: Rc<str>,
        /// Only at this version.
        version: Option<i32>,
    },
    /// Nothing, but only at this version; part of a [`Request::Multi`].
    Check {
        /// Which.
        path: Path,
        /// At which version.
        version: Option<i32>,
    },
    /// All of these or none, as one transaction.
    Multi(Rc<[Request]>),
    /// Whether a znode is there.
    Exists {
        /// Which.
        path: Path,
        /// Tell me when that changes.
        watch: bool,
    },
    /// What a znode holds.
    GetData {
        /// Which.
        path: Path,
        /// Tell me when that changes.
        watch: bool,
    },
    /// The names of a znode's children.
    GetChildren {
        /// Whose.
        path: Path,
        /// Tell me when they change.
        watch: bool,
        /// The answer carries the parent's [`Stat`] (`getChildren2`).
        stat: bool,
    },
    /// An answer as soon as this server knows all that the leader had decided when it was asked.
    Sync {
        /// Any path: all of them are brought up to date.
        path: Path,
    },
    /// The watches that a client had before its connection broke, and what it had seen then: what
    /// changed since is told at once.
    SetWatches {
        /// The latest transaction that it had heard of.
        seen: Zxid,
        /// Watches of what a znode holds.
        data: Rc<[Path]>,
        /// Watches of znodes that were not there.
        exist: Rc<[Path]>,
        /// Watches of children.
        child: Rc<[Path]>,
    },
    /// A watch that stays after it has fired.
    AddWatch {
        /// Of which znode.
        path: Path,
        /// How much it hears.
        mode: AddWatch,
    },
    /// Takes back watches of this client on a znode.
    RemoveWatches {
        /// Of which znode.
        path: Path,
        /// Which of them.
        kind: WatchKind,
    },
    /// The session is over, and with it all its ephemeral znodes.
    CloseSession,
}

impl Request {
    /// Its name on the wire.
    pub const fn name(&self) -> &'static str {
        match self {
            Request::Connect { .. } => "connect",
            Request::Ping => "ping",
            Request::Create { mode: CreateMode::Container, .. } => "createContainer",
            Request::Create { stat: true, .. } => "create2",
            Request::Create { .. } => "create",
            Request::Delete { .. } => "delete",
            Request::SetData { .. } => "setData",
            Request::Check { .. } => "check",
            Request::Multi(_) => "multi",
            Request::Exists { .. } => "exists",
            Request::GetData { .. } => "getData",
            Request::GetChildren { stat: true, .. } => "getChildren2",
            Request::GetChildren { .. } => "getChildren",
            Request::Sync { .. } => "sync",
            Request::SetWatches { .. } => "setWatches",
            Request::AddWatch { .. } => "addWatch",
            Request::RemoveWatches { .. } => "removeWatches",
            Request::CloseSession => "closeSession",
        }
    }

    /// Whether it goes through the leader and a majority, and takes a number of a transaction.
    pub const fn writes(&self) -> bool {
        matches!(
            self,
            Request::Create { .. }
                | Request::Delete { .. }
                | Request::SetData { .. }
                | Request::Check { .. }
                | Request::Multi(_)
                | Request::CloseSession
        )
    }
}

/// What a client sees of a znode's books.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Stat {
    /// The transaction that made it.
    pub czxid: Zxid,
    /// The transaction that last set its data.
    pub mzxid: Zxid,
    /// The transaction that last made or deleted a child.
    pub pzxid: Zxid,
    /// How often its data was set.
    pub version: i32,
    /// How often a child came or went. The server's own counter counts only those that came.
    pub cversion: i32,
    /// The session that it ends with.
    pub owner: Option<SessionId>,
    /// How many bytes it holds.
    pub length: i32,
    /// How many children it has.
    pub children: i32,
}

/// Why a server refused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Code {
    /// 0: this part of a transaction that failed was in order.
    Ok,
    /// −2: this part of a transaction that failed comes after what was not in order.
    RuntimeInconsistency,
    /// −8: no such path can be.
    BadArguments,
    /// −101: there is no such znode.
    NoNode,
    /// −103: it has another version.
    BadVersion,
    /// −108: an ephemeral znode has no children.
    NoChildrenForEphemerals,
    /// −110: it is there already.
    NodeExists,
    /// −111: it has children.
    NotEmpty,
    /// −112: the session is over.
    SessionExpired,
    /// −118: the session goes on at another server.
    SessionMoved,
    /// −121: there is no such watch.
    NoWatcher,
}

impl Code {
    /// The number on the wire.
    pub const fn number(self) -> i32 {
        match self {
            Code::Ok => 0,
            Code::RuntimeInconsistency => -2,
            Code::BadArguments => -8,
            Code::NoNode => -101,
            Code::BadVersion => -103,
            Code::NoChildrenForEphemerals => -108,
            Code::NodeExists => -110,
            Code::NotEmpty => -111,
            Code::SessionExpired => -112,
            Code::SessionMoved => -118,
            Code::NoWatcher => -121,
        }
    }

    /// Its name in every client library.
    pub const fn name(self) -> &'static str {
        match self {
            Code::Ok => "Ok",
            Code::RuntimeInconsistency => "RuntimeInconsistency",
            Code::BadArguments => "BadArguments",
            Code::NoNode => "NoNode",
            Code::BadVersion => "BadVersion",
            Code::NoChildrenForEphemerals => "NoChildrenForEphemerals",
            Code::NodeExists => "NodeExists",
            Code::NotEmpty => "NotEmpty",
            Code::SessionExpired => "SessionExpired",
            Code::SessionMoved => "SessionMoved",
            Code::NoWatcher => "NoWatcher",
        }
    }
}

/// What a server answers.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Reply {
    /// The session goes on here, for as long as it is heard of this often.
    Connected {
        /// The session.
        session: SessionId,
        /// What proves it elsewhere.
        password: Password,
        /// The time-out that the server grants.
        timeout: Micros,
    },
    /// There is no such session: it is over, or that is not its password. The connection is closed.
    Expired,
    /// No.
    Error(Code),
    /// Done.
    Done,
    /// A znode was made, under this path and, where that was asked, with these books.
    Created(Path, Option<Stat>),
    /// The books of a znode.
    Stat(Stat),
    /// What a znode holds, and its books.
    Data(Rc<str>, Stat),
    /// The names of the children, sorted, and where that was asked the parent's books.
    Children(Rc<[Rc<str>]>, Option<Stat>),
    /// One answer for each part.
    Multi(Rc<[Reply]>),
}

impl Reply {
    /// What an arrow calls it.
    pub const fn name(&self) -> &'static str {
        match self {
            Reply::Connected { .. } => "connected",
            Reply::Expired => "expired",
            Reply::Error(code) => code.name(),
            Reply::Done => "ok",
            Reply::Created(..) => "created",
            Reply::Stat(_) => "stat",
            Reply::Data(..) => "data",
            Reply::Children(..) => "children",
            Reply::Multi(_) => "results",
        }
    }
}

/// What a watch tells.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Change {
    /// `NodeCreated`.
    Created,
    /// `NodeDeleted`.
    Deleted,
    /// `NodeDataChanged`.
    DataChanged,
    /// `NodeChildrenChanged`.
    ChildrenChanged,
}

impl Change {
    /// Its name in every client library.
    pub const fn name(self) -> &'static str {
        match self {
            Change::Created => "NodeCreated",
            Change::Deleted => "NodeDeleted",
            Change::DataChanged => "NodeDataChanged",
            Change::ChildrenChanged => "NodeChildrenChanged",
        }
    }
}

/// What travels between a client and a server. Requests on one connection are answered in order.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Packet {
    /// A request.
    Ask(Rc<Request>),
    /// Its answer, and the latest transaction that the server had carried out.
    Answer(Rc<Reply>, Zxid),
    /// A watch has fired: what changed, and where.
    Event(Change, Path),
    /// The sender has closed the connection.
    Close,
}
