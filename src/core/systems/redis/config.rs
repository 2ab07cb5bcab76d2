//! What can be set of a server, and what it is set to.

use std::rc::Rc;

use super::persist::Persistence;
use super::server::Start;

/// What `CONFIG SET` changes here.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names are those of the settings")]
pub enum Setting {
    NotifyKeyspaceEvents(Notify),
    MinReplicasToWrite(i64),
    MinReplicasMaxLag(i64),
    AppendOnly(bool),
    AppendFsync(Fsync),
    Save(Rc<[(i64, u64)]>),
    MaxMemory(i64),
    MaxMemoryPolicy(Policy),
}

/// When an append-only file is made durable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names are those of the settings")]
pub enum Fsync {
    Always,
    EverySecond,
    No,
}

/// What is thrown out where memory is short.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names are those of the settings")]
pub enum Policy {
    NoEviction,
    Volatile,
    AllKeys,
}

/// Which events of keys are told, and on which channels.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Notify(pub u16);

impl Notify {
    /// On the channel of the key.
    pub const KEYSPACE: u16 = 1;
    /// On the channel of the event.
    pub const KEYEVENT: u16 = 2;
    /// `del`, `expire`, `persist`, whatever the type.
    pub const GENERIC: u16 = 4;
    /// Commands on strings.
    pub const STRING: u16 = 8;
    /// Commands on lists.
    pub const LIST: u16 = 16;
    /// A key was deleted because its time was over.
    pub const EXPIRED: u16 = 32;
    /// A key was thrown out.
    pub const EVICTED: u16 = 64;

    /// Reads `KEA` and the like; none where a letter has no meaning.
    pub fn parse(text: &str) -> Option<Notify> {
        let mut flags = 0;
        for letter in text.chars() {
            flags |= match letter {
                'K' => Notify::KEYSPACE,
                'E' => Notify::KEYEVENT,
                'g' => Notify::GENERIC,
                '$' => Notify::STRING,
                'l' => Notify::LIST,
                'x' => Notify::EXPIRED,
                'e' => Notify::EVICTED,
                'A' => 124,
                // Types that are not modelled have no events here.
                's' | 'h' | 'z' | 't' | 'd' | 'm' | 'n' => 0,
                _ => return None,
            };
        }
        Some(Notify(flags))
    }

    /// Whether this is among it.
    pub const fn has(self, flag: u16) -> bool {
        self.0 & flag != 0
    }
}

/// What `CONFIG SET` changes.
#[derive(Clone, Debug)]
#[cfg_attr(target_arch = "wasm32", allow(dead_code, reason = "transcripts alone set some of it"))]
pub(super) struct Config {
    pub(super) persistence: Persistence,
    pub(super) notify: Notify,
    pub(super) min_replicas: i64,
    pub(super) max_lag: i64,
    pub(super) max_memory: i64,
    pub(super) policy: Policy,
    pub(super) active_expire: bool,
}

impl Config {
    pub(super) fn of(start: &Start) -> Config {
        Config {
            persistence: start.persistence.clone(),
            notify: Notify::default(),
            min_replicas: 0,
            max_lag: 10,
            max_memory: 0,
            policy: Policy::NoEviction,
            active_expire: true,
        }
    }
}
