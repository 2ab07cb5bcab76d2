//! ZooKeeper as a lock service: an ensemble, and the lock recipe on it.

use std::rc::Rc;

use super::options::CLIENT_SETTINGS;
use super::path::Path;
use super::profiles::PROFILES;
use super::rules::RULES;
use super::server::{Server, Start};
use crate::sim::{Actor, Micros, ProcId};
use crate::systems::client::LockClient;
use crate::systems::quorum::Timing;
use crate::systems::{
    Figures, Group, Kind, Locks, Order, Preset, Rules, Settings, Spec, System, Traffic,
};

/// An ensemble of ZooKeeper servers, as nodes `zk-a` to `zk-e`.
#[derive(Clone, Copy, Debug)]
pub struct ZooKeeper;

/// The settings of the servers. They hold for the whole run.
const SERVER_SETTINGS: &[Spec] = &[
    Spec {
        key: "zookeeper.servers",
        kind: Kind::Choice(&["1", "3", "5"]),
        default: "3",
        about: "How many servers there are, as nodes `zk-a` to `zk-e`. The last of them leads at first.",
    },
    Spec {
        key: "zookeeper.tick",
        kind: Kind::Least(SHORTEST_TICK),
        default: "2s",
        about: "The unit of all that servers count (`tickTime`), at least 100 ms: a session lasts from 2 \
                to 20 of it, and its end is rounded up to the next.",
    },
    Spec {
        key: "zookeeper.sync_limit",
        kind: Kind::Choice(&["2", "5", "10"]),
        default: "5",
        about: "After how many ticks of silence a leader and a follower give each other up (`syncLimit`).",
    },
    Spec {
        key: "zookeeper.init_limit",
        kind: Kind::Choice(&["5", "10", "20"]),
        default: "10",
        about: "How many ticks a follower may take until it knows what a new leader knows \
                (`initLimit`).",
    },
    Spec {
        key: "zookeeper.version",
        kind: Kind::Choice(&["zookeeper-3.5", "zookeeper-3.8", "zookeeper-3.9.3"]),
        default: "zookeeper-3.8",
        about: "Which release it is, where they differ: up to 3.5 the number behind a name goes on below \
                0 after the largest one, and from 3.6 on it stays there; from 3.9.3 on a client takes its \
                session for over by itself after four thirds of its time-out.",
    },
    Spec {
        key: "zookeeper.created",
        kind: Kind::UpTo(i32::MAX as u64),
        default: "0",
        about: "How many children each lock’s parent has had before the run: the number behind the next \
                name. There is room for 2147483647.",
    },
];

const SETTINGS: &[Spec] =
    &joined::<{ SERVER_SETTINGS.len() + CLIENT_SETTINGS.len() }>(SERVER_SETTINGS, CLIENT_SETTINGS);

/// Both lists as one.
const fn joined<const N: usize>(first: &[Spec], then: &[Spec]) -> [Spec; N] {
    let mut all = [first[0]; N];
    let mut place = 0;
    while place < N {
        all[place] = if place < first.len() { first[place] } else { then[place - first.len()] };
        place += 1;
    }
    all
}

/// With a shorter tick the servers would say more to one another than to any client.
const SHORTEST_TICK: Micros = Micros::from_millis(100);

impl System for ZooKeeper {
    fn name(&self) -> &'static str {
        "zookeeper"
    }

    fn about(&self) -> &'static str {
        "An ensemble of ZooKeeper servers, of which one leads and a majority decides, with sessions \
         and the lock recipe."
    }

    fn token_word(&self) -> &'static str {
        "czxid"
    }

    fn token_word_under(&self, settings: &Settings) -> &'static str {
        match settings.word("lock.token") {
            "sequence" => "number",
            "" => self.token_word(),
            word => word,
        }
    }

    fn figures_under(&self, settings: &Settings) -> Figures {
        match settings.word("lock.token") {
            "sequence" | "version" | "cversion" => Figures::Decimal,
            "session" => Figures::Hex,
            _ => Figures::Pair,
        }
    }

    fn settings(&self) -> &'static [Spec] {
        SETTINGS
    }

    fn presets(&self) -> &'static [Preset] {
        PROFILES
    }

    fn rules(&self) -> &'static [Rules] {
        const { &[RULES] }
    }

    fn group(&self) -> Option<Group> {
        Some(Group { name: "ZooKeeper ensemble", each: "ZooKeeper " })
    }

    fn traffic(&self) -> Traffic {
        let round = Some(["proposal", "ack", "commit"]);
        Traffic { beats: &["ping"], round, change: "zxid", figures: Figures::Pair, term: "epoch" }
    }

    fn stepless(&self) -> Option<&'static str> {
        None
    }

    fn cannot(&self, _settings: &Settings, order: Order) -> Option<&'static str> {
        Some(match order {
            Order::Lead { .. } => {
                "its servers elect their leader themselves; crash the one that leads, or cut it off"
            }
            Order::Evict(_) => "its servers throw out nothing that they were told",
        })
    }

    fn servers(
        &self,
        settings: &Settings,
        _locks: usize,
        first: ProcId,
    ) -> Vec<(String, String, Box<dyn Actor<Locks>>)> {
        let number = |key| settings.word(key).parse::<u32>().unwrap_or(1);
        let count = number("zookeeper.servers") as u16;
        let servers: Rc<[ProcId]> = (first.0..first.0 + count).map(ProcId).collect();
        let timing = Timing {
            tick: settings.span("zookeeper.tick"),
            init_limit: number("zookeeper.init_limit"),
            sync_limit: number("zookeeper.sync_limit"),
        };
        let locks: Rc<[Path]> = settings.locks().iter().map(|name| Path::of_lock(name)).collect();
        let counter = |lock| {
            // The setting takes no more than that.
            let created = settings.number_for("zookeeper.created", lock);
            i32::try_from(created).unwrap_or(i32::MAX)
        };
        let parents = locks.iter().enumerate().map(|(lock, path)| (path.clone(), counter(lock)));
        let installed: Rc<[(Path, i32)]> =
            std::iter::once((Path::new("/locks"), 0)).chain(parents).collect();
        let server = |place: u8| {
            let start = Start {
                servers: servers.clone(),
                place,
                timing,
                runs_over: settings.word("zookeeper.version") == "zookeeper-3.5",
                locks: locks.clone(),
                installed: installed.clone(),
            };
            let letter = char::from(b'a' + place);
            let label = format!("ZooKeeper {}", letter.to_ascii_uppercase());
            let server: Box<dyn Actor<Locks>> = Box::new(Server::new(start).under(settings));
            (format!("zk-{letter}"), label, server)
        };
        (0..count as u8).map(server).collect()
    }

    /// Any of them, as any client does; what it hears may be stale.
    fn witnesses(&self, servers: &[ProcId]) -> Vec<ProcId> {
        servers.to_vec()
    }

    fn client(&self, settings: &Settings, servers: &[ProcId]) -> Box<dyn LockClient> {
        super::client(settings, servers)
    }
}
