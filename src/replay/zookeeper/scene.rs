//! Which servers a transcript of ZooKeeper describes, and how they were started.

use std::cell::Cell;
use std::rc::Rc;

use super::super::protocol::NotModelled;
use super::super::stage::Named;
use super::roles::Sign;
use crate::sim::{Actor, Clocks, ConnId, CrashKind, Cx, Micros, ProcId};
use crate::systems::quorum::{Role, Timing};
use crate::systems::zookeeper::{Server, Start};
use crate::systems::{Body, Fact, Locks, Settings};

/// What the servers of the transcripts were started with, where the words about them say nothing
/// else: the same configuration stands behind all of them.
const TICK_MS: u64 = 500;
const INIT_LIMIT: u32 = 20;
const SYNC_LIMIT: u32 = 6;
/// An ensemble is no larger.
const MOST: usize = 7;

/// The servers of a transcript.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Described {
    count: usize,
    timing: Timing,
}

/// `zookeeper 3.8.0 (…)`. Another release may answer otherwise, so it is not played.
pub fn version(text: &str) -> Result<(), NotModelled> {
    let number = text.strip_prefix("zookeeper ").unwrap_or_default();
    let number = number.split_whitespace().next().unwrap_or_default();
    let mut parts = number.split('.');
    match (parts.next(), parts.next()) {
        (Some("3"), Some("8")) => Ok(()),
        _ => Err(format!("the version `{text}`")),
    }
}

/// `standalone, tickTime=500 …` or `3 servers …, syncLimit*tickTime = 3000 ms`.
pub fn described(text: &str) -> Result<Described, NotModelled> {
    let unknown = || format!("the servers `{text}`");
    let (first, rest) = text.split_once([' ', ',']).unwrap_or((text, ""));
    let count = match first {
        "standalone" => 1,
        count if rest.starts_with("servers") => count.parse().ok().unwrap_or_default(),
        _ => 0,
    };
    if !(1..=MOST).contains(&count) {
        return Err(unknown());
    }
    let text = text.replace(" = ", "=");
    let words = text.split([' ', ',', ';']).filter_map(|word| word.split_once('='));
    let words: Vec<(&str, u64)> = words
        .map(|(name, value)| value.parse().map(|value| (name, value)))
        .collect::<Result<_, _>>()
        .map_err(|_| unknown())?;
    let said = |name: &str| words.iter().find(|word| word.0 == name).map(|word| word.1);
    let tick = said("tickTime").unwrap_or(TICK_MS).max(1);
    let limit = |name: &str, usual: u32| match said(name) {
        None => Ok(usual),
        Some(limit) => u32::try_from(limit).map_err(|_| unknown()),
    };
    let in_all = said("syncLimit*tickTime").map(|span| span / tick);
    let usual = in_all.and_then(|limit| u32::try_from(limit).ok()).unwrap_or(SYNC_LIMIT);
    for (name, value) in &words {
        match *name {
            "tickTime" | "initLimit" | "syncLimit" | "syncLimit*tickTime" => {}
            "minSessionTimeout" if *value == 2 * tick => {}
            "maxSessionTimeout" if *value == 20 * tick => {}
            name => return Err(format!("servers with {name}={value}")),
        }
    }
    let timing = Timing {
        tick: Micros::from_millis(tick),
        init_limit: limit("initLimit", INIT_LIMIT)?,
        sync_limit: limit("syncLimit", usual)?,
    };
    Ok(Described { count, timing })
}

/// These servers, called `z1`, `z2`, …, and where each shows what it is to the others.
pub fn servers(described: &Described) -> (Vec<Named>, Vec<Sign>) {
    let all: Rc<[ProcId]> = (0..described.count as u16).map(ProcId).collect();
    let one = |place: usize| {
        let start = Start {
            servers: all.clone(),
            place: place as u8,
            timing: described.timing,
            // As in 3.6 and later.
            runs_over: false,
            locks: Rc::new([]),
            installed: Rc::new([]),
        };
        let sign = Sign::default();
        let shown = Shown { server: Server::new(start), sign: sign.clone(), alone: all.len() == 1 };
        let named: Named = (format!("z{}", place + 1), Box::new(shown));
        (named, sign)
    };
    (0..described.count).map(one).unzip()
}

/// A server that shows what it is to the others, as the real ones say it to whoever asks `srvr`.
#[derive(Clone, Debug)]
struct Shown {
    server: Server,
    sign: Rc<Cell<Option<&'static str>>>,
    alone: bool,
}

impl Shown {
    fn shows(&self) {
        self.sign.set(match self.server.role() {
            Role::Looking => None,
            Role::Following(_) => Some("follower"),
            Role::Leading if self.alone => Some("standalone"),
            Role::Leading => Some("leader"),
        });
    }
}

impl Actor<Locks> for Shown {
    fn boxed(&self) -> Box<dyn Actor<Locks>> {
        Box::new(self.clone())
    }

    fn on_start(&mut self, cx: &mut Cx<'_, Locks>) {
        self.server.on_start(cx);
        self.shows();
    }

    fn on_message(&mut self, cx: &mut Cx<'_, Locks>, from: ProcId, conn: ConnId, body: &Body) {
        self.server.on_message(cx, from, conn, body);
        self.shows();
    }

    fn on_outside(&mut self, cx: &mut Cx<'_, Locks>, body: &Body) {
        self.server.on_outside(cx, body);
    }

    fn on_timer(&mut self, cx: &mut Cx<'_, Locks>, key: u64) {
        self.server.on_timer(cx, key);
        self.shows();
    }

    fn on_clock(&mut self, cx: &mut Cx<'_, Locks>, before: &Clocks) {
        self.server.on_clock(cx, before);
    }

    fn on_closed(&mut self, cx: &mut Cx<'_, Locks>, peer: ProcId, conn: ConnId) {
        self.server.on_closed(cx, peer, conn);
        self.shows();
    }

    fn on_crash(&mut self, cx: &mut Cx<'_, Locks>, how: CrashKind) {
        self.server.on_crash(cx, how);
        self.sign.set(None);
    }

    fn on_settings(&mut self, settings: &Settings) {
        self.server.on_settings(settings);
    }

    fn busy(&self) -> bool {
        self.server.busy()
    }

    fn facts(&self, now: Micros, clocks: &Clocks) -> Vec<Fact> {
        self.server.facts(now, clocks)
    }
}
