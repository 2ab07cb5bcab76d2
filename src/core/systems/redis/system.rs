//! Redis as a lock service: one server, and a library that is by the book or wrong in a known way.

use super::command::{Fsync, Version};
use super::library::Library;
use super::persist::Persistence;
use super::rules::SERVER_RULES;
use super::server::{Server, Start, default_save};
use crate::sim::{Actor, ProcId};
use crate::systems::client::LockClient;
use crate::systems::{Kind, Locks, Rule, Settings, Spec, System};

/// One Redis server, as node `redis-a`.
#[derive(Clone, Copy, Debug)]
pub struct Redis;

const SETTINGS: &[Spec] = &[
    Spec {
        key: "lock.ttl",
        kind: Kind::Term,
        default: "10s",
        about: "How long a lock is asked for, and extended by.",
    },
    Spec {
        key: "lock.acquire",
        kind: Kind::Choice(&["set-nx-px", "setnx-then-expire", "set-then-incr", "script"]),
        default: "set-nx-px",
        about: "How a client takes a lock: SET NX PX; SETNX, and an end in a second request; SET NX \
                PX, and a counter for the token incremented in a second request; a script that sets \
                and counts in one step.",
    },
    Spec {
        key: "lock.release",
        kind: Kind::Choice(&["compare", "del", "get-then-del"]),
        default: "compare",
        about: "How a client gives it back: a script that deletes only its own value; DEL; GET, and \
                DEL in a second request if the value is its own.",
    },
    Spec {
        key: "lock.extend",
        kind: Kind::Choice(&["compare", "pexpire", "set"]),
        default: "compare",
        about: "How a client extends it: a script that extends only its own value; PEXPIRE, whoever \
                holds it; SET PX, which sets it again where it is gone.",
    },
    Spec {
        key: "lock.deadline",
        kind: Kind::Choice(&["send", "receipt", "none"]),
        default: "send",
        about: "From when a client counts its own deadline, or that it keeps none and believes until \
                it is told.",
    },
    Spec {
        key: "lock.unknown",
        kind: Kind::Choice(&["delete", "leave"]),
        default: "delete",
        about: "What a client does about a try that nobody answered: it deletes its value, if it was \
                set after all; nothing.",
    },
    Spec {
        key: "acquire.jitter",
        kind: Kind::Span,
        default: "0s",
        about: "The most that a client waits beyond `acquire.retry`, drawn anew before each try.",
    },
    Spec {
        key: "redis.version",
        kind: Kind::Choice(&["redis-7.0", "redis-8.4", "valkey-9.1"]),
        default: "redis-7.0",
        about: "Which server it is, where they differ.",
    },
    Spec {
        key: "redis.files",
        kind: Kind::Choice(&["none", "rdb", "aof-everysec", "aof-always"]),
        default: "none",
        about: "What outlives the server: nothing; snapshots by the default save points; an \
                append-only file that is synced every second; one that is synced before each answer.",
    },
];

impl System for Redis {
    fn name(&self) -> &'static str {
        "redis"
    }

    fn about(&self) -> &'static str {
        "One Redis server with keys that end by its wall clock, as node `redis-a`."
    }

    fn token_word(&self) -> &'static str {
        "random value"
    }

    fn token_word_under(&self, settings: &Settings) -> &'static str {
        match settings.word("lock.acquire") {
            "script" | "set-then-incr" => "counter",
            _ => self.token_word(),
        }
    }

    fn settings(&self) -> &'static [Spec] {
        SETTINGS
    }

    fn rules(&self) -> &'static [Rule] {
        SERVER_RULES
    }

    fn servers(
        &self,
        settings: &Settings,
        locks: usize,
    ) -> Vec<(String, String, Box<dyn Actor<Locks>>)> {
        let version = match settings.word("redis.version") {
            "redis-8.4" => Version::REDIS_8_4,
            "valkey-9.1" => Version::VALKEY_9_1,
            _ => Version::REDIS_7_0,
        };
        let start = Start { version, persistence: persistence(settings), master: None };
        let server = Server::new(start).with_locks(locks, settings.span("lock.ttl"));
        vec![("redis-a".into(), "Redis".into(), Box::new(server))]
    }

    fn client(&self, settings: &Settings, servers: &[ProcId]) -> Box<dyn LockClient> {
        Box::new(Library::new(settings, servers[0]))
    }
}

fn persistence(settings: &Settings) -> Persistence {
    let log = |fsync| Persistence { append_only: true, fsync, ..Persistence::none() };
    match settings.word("redis.files") {
        "rdb" => Persistence { save: default_save(), ..Persistence::none() },
        "aof-everysec" => log(Fsync::EverySecond),
        "aof-always" => log(Fsync::Always),
        _ => Persistence::none(),
    }
}
