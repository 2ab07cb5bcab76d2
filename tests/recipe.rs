//! The lock recipe on a ZooKeeper ensemble: what it asks, whom it wakes, and what each known mistake does.

mod support;

use lockscope::run::{Run, compile, kind};
use lockscope::sim::{Actor, Micros, ProcId};
use lockscope::systems::quorum::Timing;
use lockscope::systems::zookeeper::{self, CLIENT_SETTINGS, PROFILES, Path, Server, Start};
use lockscope::systems::{Kind, LockClient, Locks, Preset, Registry, Settings, Spec, System};
use support::Case;

#[derive(Clone, Copy, Debug)]
struct Alone;

const OWN: Spec = Spec {
    key: "zookeeper.version",
    kind: Kind::Choice(&["zookeeper-3.8", "zookeeper-3.9.3"]),
    default: "zookeeper-3.8",
    about: "x.",
};

impl System for Alone {
    fn name(&self) -> &'static str {
        "zookeeper"
    }
    fn about(&self) -> &'static str {
        "x."
    }
    fn token_word(&self) -> &'static str {
        "czxid"
    }
    fn settings(&self) -> &'static [Spec] {
        Box::leak([CLIENT_SETTINGS, &[OWN]].concat().into_boxed_slice())
    }
    fn presets(&self) -> &'static [Preset] {
        PROFILES
    }
    fn stepless(&self) -> Option<&'static str> {
        None
    }
    fn servers(
        &self,
        settings: &Settings,
        _locks: usize,
        first: ProcId,
    ) -> Vec<(String, String, Box<dyn Actor<Locks>>)> {
        let locks: Vec<Path> = settings.locks().iter().map(|l| Path::of_lock(l)).collect();
        let mut installed = vec![(Path::new("/locks"), 0)];
        installed.extend(locks.iter().map(|l| (l.clone(), 0)));
        let timing = Timing { tick: Micros::from_secs(2), init_limit: 10, sync_limit: 5 };
        let start = Start {
            servers: [first].into(),
            place: 0,
            timing,
            runs_over: false,
            locks: locks.into(),
            installed: installed.into(),
        };
        vec![("zk-a".into(), "ZooKeeper A".into(), Box::new(Server::new(start).under(settings)))]
    }
    fn client(&self, settings: &Settings, servers: &[ProcId]) -> Box<dyn LockClient> {
        zookeeper::client(settings, servers)
    }
}

fn registry() -> Registry {
    Registry::standard().with(&Alone)
}

fn zk() -> Case {
    let mut case = Case::new(&[("x", 0)]).invariant("x == done");
    case.scenario.system = "zookeeper".into();
    case.scenario.settings = Default::default();
    case
}

fn run(case: &Case) -> Run {
    match compile(&case.scenario, &case.edits, &registry()) {
        Ok(compiled) => {
            let run = Run::of(compiled);
            if std::env::var_os("SHOW").is_some() {
                eprintln!("{}", lockscope::narrate::log(&run));
            }
            run
        }
        Err(errors) => panic!("{errors:#?}"),
    }
}

const WORK: &str = "acquire; read x; work 1s; write x = x + 1; release";

#[test]
fn three_clients_take_turns() {
    let case = zk()
        .client("client-a", "0s", WORK)
        .client("client-b", "1s", WORK)
        .client("client-c", "1100ms", WORK);
    let run = run(&case);
    let v = &run.judgement.verdict;
    assert_eq!((v.grants, v.double_grant, v.corruption, v.stalled), (3, 0, 0, 0));
    let _ = kind::KINDS;
}
