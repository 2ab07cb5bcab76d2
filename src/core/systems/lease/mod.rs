//! A lease service: one server that grants a lock for a time, with a growing generation.
//!
//! Rules, all *inference* from what the well-known lease services share: the generation grows with
//! every new grant of a lock and is durable; the service expires a lease by its own clock, at the
//! moment of the last accepted grant or renewal plus the TTL; a renewal after that is refused and
//! never re-creates; a re-entry by the present holder renews and keeps the generation. Two more
//! ways to hand out a token are there to be compared: a random value that identifies its owner and
//! has no order, and a counter that is incremented in a second step after the lock was set.

mod client;
mod service;

use super::client::LockClient;
use super::settings::{Kind, Settings, Spec};
use super::{Locks, Rule, Rules, System, UNORDERED};
use crate::judge::{Grant, LockId, Mode, Token};
use crate::sim::{Actor, Micros, ProcId};
use client::LeaseClient;
use service::Service;

/// The lease service as a system.
#[derive(Clone, Copy, Debug)]
pub struct Lease;

const SETTINGS: &[Spec] = &[
    Spec {
        key: "lease.ttl",
        kind: Kind::Term,
        default: "10s",
        about: "How long a grant or an accepted renewal lasts.",
    },
    Spec {
        key: "lease.token",
        kind: Kind::Choice(&["generation", "random", "set-then-incr", "timestamp", "read-late"]),
        default: "generation",
        about: "Where a token comes from: minted with the grant; drawn at random; a counter \
                incremented in a second request after the grant; the service's wall clock at the \
                grant, in milliseconds; the lock's newest generation, read in a second request \
                after the grant.",
    },
    Spec {
        key: "lock.first_token",
        kind: Kind::Number,
        default: "1",
        about: "The first generation, or the counter's first value; `lock.first_token.NAME` is that of \
                one lock.",
    },
    Spec {
        key: "lease.clock",
        kind: Kind::Choice(&["mono", "wall", "boot"]),
        default: "mono",
        about: "Which of its clocks the service expires leases by.",
    },
    Spec {
        key: "lease.deadline",
        kind: Kind::Choice(&["send", "receipt", "none"]),
        default: "send",
        about: "From when a client counts its own deadline, or that it keeps none and believes until \
                it is told. A grant that waited in the queue is counted from its receipt in any case.",
    },
    Spec {
        key: "renew.rule",
        kind: Kind::Choice(&["correct", "careless"]),
        default: "correct",
        about: "What a renewal does that finds no lease: it is refused; it sets the lease again, \
                exclusive, and says nothing of it.",
    },
    Spec {
        key: "release.rule",
        kind: Kind::Choice(&["correct", "careless", "get-then-del"]),
        default: "correct",
        about: "What a release ends: its own grant; whatever lease there is; the same, after the \
                client asked in a request of its own whether the lease is its own.",
    },
    Spec {
        key: "lock.delay",
        kind: Kind::Span,
        default: "0s",
        about: "How long the service grants a lock to nobody after a lease expired.",
    },
    Spec {
        key: "lease.store",
        kind: Kind::Choice(&["durable", "cached", "memory"]),
        default: "durable",
        about: "Where the service has leases and the last number: on its disk, synced; in its host’s \
                cache, never synced, so that they are lost with its power; in its memory only.",
    },
];

const MODEL: &str = "Lockscope’s reference lease service";

const fn inferred(says: &'static str) -> Rule {
    Rule::inference(says, MODEL)
}

const RULES: &[Rule] = &[
    inferred(
        "A lease lasts for its term, counted from the grant or from the last renewal that was accepted.",
    )
    .under(&["grant", "extend", "granted", "renewed"]),
    inferred(
        "While another holds the lock, a request waits in the order of arrival, or is refused and its client asks again.",
    )
    .under(&["queue", "refuse acquire"]),
    inferred("The service ends it by its own clock, and tells nobody.").under(&["expire", "shift"]),
    inferred("At the holder’s release it ends at once.").under(&["free"]),
    Rule::document(
        "Each new grant of a lock gets a token that is higher than all before.",
        "Distributed Locks and Fencing Tokens, “The lease expiration race”",
    )
    .under(&["grant", "mint"]),
    inferred("Token and grant are made in one step; a renewal keeps the token.").under(&["grant", "mint", "extend"]),
    inferred(
        "A timestamp for a token grows only as long as the service’s wall clock does not go back.",
    ),
    inferred(
        "A token that is read after the grant is the newest one at that moment, and perhaps another’s.",
    ),
    inferred(
        "Leases and the last token are durable, unless a setting leaves them in the host’s cache or in memory only. The queue of waiters is memory.",
    )
    .under(&["forget"]),
    inferred(
        "A renewal or release that comes after the end is refused. A renewal never brings a lease back.",
    )
    .under(&["refuse renew", "refuse release", "refuse fetch-token"]),
    Rule::document(
        "A careless renewal sets a lease again that is gone, so that nobody hears that another \
               held the lock in between.",
        "Public reports: swarthy/redis-semaphore #175, samcook/RedLock.net #48",
    )
    .under(&["extend"]),
    Rule::document(
        "A careless release ends whatever lease there is. A question whether it is one’s own, \
               asked in a request before, is answered for the moment before.",
        "Public reports: nexspence/nexspence #223, BerriAI/litellm #21225",
    )
    .under(&["remove", "refuse ask-holder", "question it is yours", "question it is not yours"]),
    inferred(
        "A client that asks again while it holds the lock renews its lease and keeps its token.",
    )
    .under(&["extend"]),
    inferred(
        "A client counts its own deadline from when it sent its request; where it waited in the queue, from when the grant reached it.",
    )
    .under(&["believe", "doubt", "check"]),
];

impl System for Lease {
    fn name(&self) -> &'static str {
        "lease"
    }

    fn about(&self) -> &'static str {
        "One lock service that grants leases with a growing generation, as node `lock-service`."
    }

    fn token_word(&self) -> &'static str {
        "generation"
    }

    fn token_word_under(&self, settings: &Settings) -> &'static str {
        match TokenRule::of(settings) {
            TokenRule::Generation | TokenRule::ReadLate => self.token_word(),
            TokenRule::Timestamp => "timestamp",
            TokenRule::Random => UNORDERED,
            TokenRule::SetThenIncr => "counter",
        }
    }

    fn settings(&self) -> &'static [Spec] {
        SETTINGS
    }

    fn rules(&self) -> &'static [Rules] {
        const { &[Rules { name: "lease", title: "The lease service and its client", list: RULES }] }
    }

    fn servers(
        &self,
        settings: &Settings,
        locks: usize,
        _first: ProcId,
    ) -> Vec<(String, String, Box<dyn Actor<Locks>>)> {
        let service = Service::new(settings, locks);
        vec![("lock-service".into(), "Lock service".into(), Box::new(service))]
    }

    fn client(&self, settings: &Settings, servers: &[ProcId]) -> Box<dyn LockClient> {
        Box::new(LeaseClient::new(settings, servers[0]))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TokenRule {
    Generation,
    Random,
    SetThenIncr,
    Timestamp,
    ReadLate,
}

impl TokenRule {
    fn of(settings: &Settings) -> TokenRule {
        match settings.word("lease.token") {
            "random" => TokenRule::Random,
            "set-then-incr" => TokenRule::SetThenIncr,
            "timestamp" => TokenRule::Timestamp,
            "read-late" => TokenRule::ReadLate,
            _ => TokenRule::Generation,
        }
    }
}

/// Who a client is to the service: a process in one of its lives.
type Owner = (ProcId, u32);

#[derive(Clone, Copy, Debug)]
enum Request {
    Acquire {
        lock: LockId,
        mode: Mode,
        owner: Owner,
        queue: bool,
    },
    Renew {
        lock: LockId,
        owner: Owner,
        grant: Grant,
        /// It sets a lease again that is gone.
        careless: bool,
    },
    Release {
        lock: LockId,
        grant: Grant,
        /// It ends whatever lease there is.
        careless: bool,
    },
    /// Whether the lease of that grant is there.
    Holder {
        lock: LockId,
        grant: Grant,
    },
    /// For the token of a grant: a counter's next value, or the lock's newest generation.
    Token {
        lock: LockId,
        grant: Grant,
        rule: TokenRule,
    },
}

impl Request {
    fn lock(self) -> LockId {
        match self {
            Request::Acquire { lock, .. }
            | Request::Renew { lock, .. }
            | Request::Release { lock, .. }
            | Request::Holder { lock, .. }
            | Request::Token { lock, .. } => lock,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Reply {
    /// `waited` says that the grant comes out of the queue.
    Granted {
        grant: Grant,
        token: Option<Token>,
        ttl: Micros,
        waited: bool,
    },
    Refused,
    Queued,
    Renewed {
        ttl: Micros,
    },
    Released,
    Holder(bool),
    Count(Token),
}
