//! Redis as a lock service: one server, or a majority of masters, each with a library that is by the
//! book or wrong in a known way.

use std::rc::Rc;

use super::command::Version;
use super::config::Fsync;
use super::library::Library;
use super::majority::Majority;
use super::persist::Persistence;
use super::profiles::{PROFILES, WORDS};
use super::rules::{REDLOCK_RULES, SERVER_RULES};
use super::server::{Server, Start, default_save};
use crate::sim::{Actor, ProcId};
use crate::systems::client::LockClient;
use crate::systems::{Group, Kind, Locks, Order, Preset, Rules, Settings, Spec, System, UNORDERED};

/// One Redis server, as node `redis-a`, and its replicas.
#[derive(Clone, Copy, Debug)]
pub struct Redis;

const SETTINGS: &[Spec] = &[
    TTL,
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
                holds it; SET PX, which sets it again where it is gone or another’s.",
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
    JITTER,
    Spec {
        key: "redis.replicas",
        kind: Kind::Choice(&["0", "1", "2"]),
        default: "0",
        about: "How many replicas the server has, as nodes `redis-b` and `redis-c`. What is written \
                reaches them after its answer.",
    },
    Spec {
        key: "lock.wait",
        kind: Kind::Choice(&["0", "1", "2"]),
        default: "0",
        about: "For how many replicas a client waits, by WAIT, before it believes that it holds a lock \
                which it has set.",
    },
    Spec {
        key: "lock.wait_timeout",
        kind: Kind::Term,
        default: "1s",
        about: "How long the server waits for them at most.",
    },
    Spec {
        key: "lock.wait_rule",
        kind: Kind::Choice(&["correct", "careless"]),
        default: "correct",
        about: "What a client does where fewer replicas have its lock: it releases it and tries again; \
                it takes it for held all the same.",
    },
    VERSION,
    FILES,
];

const TTL: Spec = Spec {
    key: "lock.ttl",
    kind: Kind::Term,
    default: "10s",
    about: "How long a lock is asked for, and extended by.",
};

const JITTER: Spec = Spec {
    key: "acquire.jitter",
    kind: Kind::Span,
    default: "0s",
    about: "The most that a client waits beyond `acquire.retry`, drawn anew before each try.",
};

const VERSION: Spec = Spec {
    key: "redis.version",
    kind: Kind::Choice(&["redis-7.0", "redis-8.4", "valkey-9.1"]),
    default: "redis-7.0",
    about: "Which server it is, where they differ.",
};

const FILES: Spec = Spec {
    key: "redis.files",
    kind: Kind::Choice(&["none", "rdb", "aof-everysec", "aof-always"]),
    default: "none",
    about: "What outlives the server: nothing; snapshots by the default save points; an append-only \
            file that is synced every second; one that is synced before each answer.",
};

const MAJORITY_SETTINGS: &[Spec] = &[
    TTL,
    Spec {
        key: "redlock.profile",
        kind: Kind::Choice(WORDS),
        default: "by-the-book",
        about: "Which client library it is. It sets all settings of the client; what a scenario sets \
                beside it holds.",
    },
    Spec { default: "200ms", ..JITTER },
    Spec {
        key: "redlock.masters",
        kind: Kind::Choice(&["3", "4", "5", "7"]),
        default: "5",
        about: "How many masters there are, as nodes `redis-a` to `redis-g`.",
    },
    Spec {
        key: "redlock.order",
        kind: Kind::Choice(&["parallel", "sequential"]),
        default: "parallel",
        about: "Whether a client asks all masters at once, or each after the answer of the one before.",
    },
    Spec {
        key: "redlock.patience",
        kind: Kind::Term,
        default: "500ms",
        about: "How long a client waits for one master.",
    },
    Spec {
        key: "redlock.decide",
        kind: Kind::Choice(&["all", "quorum"]),
        default: "all",
        about: "When a client counts: when all masters have answered or were given up, or as soon as a \
                majority has said yes.",
    },
    Spec {
        key: "redlock.elapsed",
        kind: Kind::Choice(&["checked", "not-negative", "unchecked"]),
        default: "checked",
        about: "Whether a client that has a majority looks if there is time left; one that looks may \
                take the lock, too, where none at all is left.",
    },
    Spec {
        key: "redlock.drift",
        kind: Kind::Choice(&["reference", "nearest", "exact", "hundredth", "none"]),
        default: "reference",
        about: "What is allowed for clocks that do not run alike: a hundredth of the time and 2 ms, the \
                hundredth in whole milliseconds, rounded down; rounded to the nearest; exactly; a \
                hundredth alone; nothing.",
    },
    Spec {
        key: "redlock.value",
        kind: Kind::Choice(&["per-try", "per-acquire"]),
        default: "per-try",
        about: "Whether each try has a value of its own, or all tries of an acquire the same one.",
    },
    Spec {
        key: "redlock.failed",
        kind: Kind::Choice(&["delete", "leave"]),
        default: "delete",
        about: "What a client does with the keys of a try that failed: it deletes them on all masters; \
                nothing.",
    },
    Spec {
        key: "redlock.error",
        kind: Kind::Choice(&["no", "raise"]),
        default: "no",
        about: "What a master is that does not answer: one that said no; the reason to give up and leave \
                the keys, also where a majority said yes.",
    },
    Spec {
        key: "redlock.tries",
        kind: Kind::Number,
        default: "0",
        about: "How often a client tries before it gives up; 0 is for ever.",
    },
    Spec {
        key: "redlock.extend",
        kind: Kind::Choice(&["compare", "set"]),
        default: "compare",
        about: "How a client extends: a script that extends only its own value; one that sets it again, \
                too, where it is gone.",
    },
    Spec {
        key: "redlock.extensions",
        kind: Kind::Number,
        default: "3",
        about: "How often a client may extend a lock.",
    },
    Spec {
        key: "redis.restart_delay",
        kind: Kind::Span,
        default: "0s",
        about: "How long a master stays out after a restart.",
    },
    VERSION,
    FILES,
];

impl System for Redis {
    fn name(&self) -> &'static str {
        "redis"
    }

    fn about(&self) -> &'static str {
        "One Redis server with keys that end by its wall clock, as node `redis-a`, and up to two \
         replicas of it."
    }

    fn token_word(&self) -> &'static str {
        UNORDERED
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

    fn rules(&self) -> &'static [Rules] {
        &[SERVER_RULES]
    }

    fn exclusive(&self) -> Option<&'static str> {
        Some(EXCLUSIVE)
    }

    fn cannot(&self, settings: &Settings, order: Order) -> Option<&'static str> {
        let alone = settings.word("redis.replicas") == "0";
        let lead = matches!(order, Order::Lead { .. });
        (lead && alone).then_some("there is no replica; `redis.replicas` says how many there are")
    }

    fn servers(
        &self,
        settings: &Settings,
        locks: usize,
        first: ProcId,
    ) -> Vec<(String, String, Box<dyn Actor<Locks>>)> {
        let server = || Server::new(start(settings)).with_locks(locks, 1, settings);
        let replicas: u16 = settings.word("redis.replicas").parse().unwrap_or(0);
        if replicas == 0 {
            return vec![("redis-a".into(), "Redis".into(), Box::new(server()))];
        }
        let lanes: Rc<[ProcId]> = (first.0..=first.0 + replicas).map(ProcId).collect();
        let one = |place| named(place, Box::new(server().among(lanes.clone(), place)));
        (0..lanes.len()).map(one).collect()
    }

    fn client(&self, settings: &Settings, servers: &[ProcId]) -> Box<dyn LockClient> {
        Box::new(Library::new(settings, servers[0]))
    }
}

/// Independent Redis masters, as nodes `redis-a` to `redis-g`.
#[derive(Clone, Copy, Debug)]
pub struct Redlock;

impl System for Redlock {
    fn name(&self) -> &'static str {
        "redlock"
    }

    fn about(&self) -> &'static str {
        "Independent Redis masters that know nothing of each other, of which a majority grants a lock."
    }

    fn token_word(&self) -> &'static str {
        UNORDERED
    }

    fn settings(&self) -> &'static [Spec] {
        MAJORITY_SETTINGS
    }

    fn presets(&self) -> &'static [Preset] {
        PROFILES
    }

    fn rules(&self) -> &'static [Rules] {
        &[REDLOCK_RULES, SERVER_RULES]
    }

    fn exclusive(&self) -> Option<&'static str> {
        Some(EXCLUSIVE)
    }

    fn cannot(&self, _settings: &Settings, order: Order) -> Option<&'static str> {
        let lead = matches!(order, Order::Lead { .. });
        lead.then_some("its masters know nothing of each other, and none has a replica")
    }

    fn group(&self) -> Option<Group> {
        Some(Group { name: "Redis masters", each: "Redis " })
    }

    fn servers(
        &self,
        settings: &Settings,
        locks: usize,
        _first: ProcId,
    ) -> Vec<(String, String, Box<dyn Actor<Locks>>)> {
        let count: usize = settings.word("redlock.masters").parse().unwrap_or(5);
        let master = |place| {
            let server = Server::new(start(settings));
            named(place, Box::new(server.with_locks(locks, count, settings)))
        };
        (0..count).map(master).collect()
    }

    fn client(&self, settings: &Settings, servers: &[ProcId]) -> Box<dyn LockClient> {
        Box::new(Majority::new(settings, servers))
    }
}

/// Why nobody shares a lock on a Redis.
const EXCLUSIVE: &str = "a lock on Redis is one key, which one client has";

/// The server at that place among several: `redis-a`, `Redis A`.
fn named(place: usize, server: Box<dyn Actor<Locks>>) -> (String, String, Box<dyn Actor<Locks>>) {
    let letter = char::from(b'a' + (place % 26) as u8);
    let label = format!("Redis {}", letter.to_ascii_uppercase());
    (format!("redis-{letter}"), label, server)
}

fn start(settings: &Settings) -> Start {
    let version = match settings.word("redis.version") {
        "redis-8.4" => Version::REDIS_8_4,
        "valkey-9.1" => Version::VALKEY_9_1,
        _ => Version::REDIS_7_0,
    };
    let stays_out = settings.span("redis.restart_delay");
    Start { version, persistence: persistence(settings), master: None, stays_out }
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
