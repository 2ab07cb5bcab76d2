//! A Redis server on the simulated network: connections, what it refuses, holds and carries out.

use std::rc::Rc;

use super::circle::Circle;
use super::command::{Command, Refusal, Reply, Version};
use super::config::{Config, Fsync};
use super::engine::Engine;
use super::keyspace::Keyspace;
use super::persist::{Files, Persistence};
use super::replica::{Link, Stream, Upstream};
use super::scripts::Script;
use super::session::{Blocked, Session};
use super::witness::{Deed, Witness};
use crate::sim::{Actor, ClockKind, Clocks, ConnId, CrashKind, Cx, Local, Micros, ProcId, TimerId};
use crate::systems::{Body, Fact, Inquiry, Locks, Order, Settings};

/// What travels between a client and a server.
#[derive(Clone, Debug)]
pub enum Packet {
    /// A command.
    Ask(Rc<Command>),
    /// Its answer.
    Answer(Reply),
    /// What a server says unasked.
    Push(Reply),
    /// The sender is the master now: it was ordered to lead, as the n-th of all.
    Moved(u32),
    /// The client closes the connection; what it sent before is read first.
    Close,
}

/// What a server is started with. What commands change is forgotten with the process.
#[derive(Clone, Debug)]
pub struct Start {
    /// Which server.
    pub version: Version,
    /// How it keeps its keys.
    pub persistence: Persistence,
    /// Whose replica it is.
    pub master: Option<ProcId>,
    /// How long it stays out after a restart: it answers nobody, as if it were not there yet.
    pub stays_out: Micros,
}

/// Writes, or everything, are held until then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paused {
    pub(super) until: i64,
    pub(super) writes_only: bool,
    timer: TimerId,
}

/// A server.
#[derive(Clone, Debug)]
pub struct Server {
    pub(super) start: Start,
    pub(super) config: Config,
    pub(super) keys: Keyspace,
    pub(super) files: Files,
    pub(super) sessions: Vec<Session>,
    /// Which scripts it has in memory.
    pub(super) scripts: [bool; 4],
    /// How long its stream is.
    pub(super) offset: u64,
    pub(super) upstream: Option<Upstream>,
    pub(super) replicas: Vec<Link>,
    pub(super) paused: Option<Paused>,
    /// The connections that a pause holds, in the order in which they came.
    postponed: Vec<ConnId>,
    /// It hands its place over to that replica as soon as it has everything.
    pub(super) handing_to: Option<ProcId>,
    /// Its replicas are asked how far they are, once it is done with what came.
    pub(super) asks_for_acks: bool,
    /// What it says of its locks.
    pub(super) witness: Witness,
    /// Whose command it carries out.
    pub(super) deed: Option<Deed>,
    /// How long a lock is asked for, to show how much is left of it.
    ttl: Micros,
    /// It has been started before.
    was_started: bool,
    /// It was restarted, and stays out for a while.
    is_out: bool,
    /// Whether `SHUTDOWN` said to save.
    pub(super) parting: Option<bool>,
    pub(super) alarms: Alarms,
    /// The master and the replicas among which it is.
    pub(super) circle: Circle,
}

/// Timers of a server, and what they are planned for.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Alarms {
    /// The beat of ten a second began there.
    pub(super) began: Local,
    /// The earliest end of a key, and the timer that waits for it.
    pub(super) sweep: Option<(i64, TimerId)>,
    pub(super) save: Option<TimerId>,
    pub(super) sync: Option<TimerId>,
    pub(super) last_save: i64,
    pub(super) beat: Option<TimerId>,
}

/// Keys of timers; the waits of connections have larger ones.
pub(super) mod alarm {
    pub(in super::super) const END: u64 = 0;
    pub(in super::super) const SWEEP: u64 = 1;
    pub(in super::super) const PAUSE: u64 = 2;
    pub(in super::super) const SYNC: u64 = 3;
    pub(in super::super) const SAVE: u64 = 4;
    pub(in super::super) const BEAT: u64 = 5;
    pub(in super::super) const JOIN: u64 = 6;
    pub(in super::super) const WAIT: u64 = 1 << 32;
}

/// What becomes of a command that has come.
enum Fate {
    Refused(Refusal, bool),
    Postponed,
    Queued,
    Run,
}

impl Server {
    /// A server that was not started yet.
    pub fn new(start: Start) -> Server {
        let config = Config::of(&start);
        Server {
            start,
            config,
            keys: Keyspace::default(),
            files: Files::empty(),
            sessions: Vec::new(),
            scripts: [false; 4],
            offset: 0,
            upstream: None,
            replicas: Vec::new(),
            paused: None,
            postponed: Vec::new(),
            handing_to: None,
            asks_for_acks: false,
            witness: Witness::default(),
            deed: None,
            ttl: Micros::ZERO,
            was_started: false,
            is_out: false,
            parting: None,
            alarms: Alarms::default(),
            circle: Circle::default(),
        }
    }

    /// The same server, as one of so many masters that have the keys of so many locks.
    #[must_use]
    pub fn with_locks(self, locks: usize, masters: usize, settings: &Settings) -> Server {
        let mut server = Server { witness: Witness::new(locks, masters), ..self };
        server.on_settings(settings);
        server
    }

    /// Milliseconds of the server's wall clock: what every end is counted by.
    pub(super) fn now(cx: &Cx<'_, Locks>) -> i64 {
        cx.clock(ClockKind::Wall).0.div_euclid(1_000)
    }

    pub(super) fn is_master(&self) -> bool {
        self.upstream.is_none()
    }

    pub(super) fn is_out(&self) -> bool {
        self.is_out
    }

    pub(super) fn session(&mut self, conn: ConnId, peer: ProcId) -> &mut Session {
        let place = self.sessions.iter().position(|s| s.conn == conn).unwrap_or_else(|| {
            self.sessions.push(Session::new(conn, peer));
            self.sessions.len() - 1
        });
        &mut self.sessions[place]
    }

    pub(super) fn answer(cx: &mut Cx<'_, Locks>, conn: ConnId, request: u64, reply: Reply) {
        cx.send(conn, Body::new(reply.name(), request, Packet::Answer(reply)), None);
    }

    /// The keys at this moment.
    pub(super) fn engine(&mut self, now: i64) -> Engine<'_> {
        let refused = self.refuses_writes(now);
        let stores_no_past = self.start.version.stores_no_past();
        Engine {
            // While clients are paused nothing is deleted, so that a replica can be waited for.
            sweeps: self.is_master() && self.paused.is_none(),
            keys: &mut self.keys,
            now,
            refused,
            short: self.config.max_memory > 0,
            stores_no_past,
            changes: Vec::new(),
        }
    }

    /// Why nobody may write here now.
    fn refuses_writes(&self, now: i64) -> Option<Refusal> {
        if !self.is_master() {
            return Some(Refusal::ReadOnly);
        }
        let fresh = |l: &&Link| l.online && now.div_euclid(1_000) - l.heard <= self.config.max_lag;
        let wanted = usize::try_from(self.config.min_replicas).unwrap_or(0);
        let few = wanted > 0 && self.replicas.iter().filter(fresh).count() < wanted;
        few.then_some(Refusal::NoReplicas)
    }

    /// The order in which a server looks at a command before it carries it out.
    fn fate(&mut self, cx: &Cx<'_, Locks>, conn: ConnId, peer: ProcId, command: &Command) -> Fate {
        let now = Server::now(cx);
        let (version, refuses) = (self.start.version, self.refuses_writes(now));
        let (short, paused) = (self.config.max_memory > 0, self.paused);
        let session = self.session(conn, peer);
        let inside = session.queue.is_some();
        let queue = session.queue.as_deref().unwrap_or_default();
        let exec = matches!(command, Command::Exec);
        let any =
            |f: fn(&Command) -> bool| f(command) || (exec && queue.iter().any(|queued| f(queued)));
        if let Command::Rejected(refusal) = command {
            return Fate::Refused(*refusal, true);
        }
        let unfit = match command {
            Command::Multi if inside => Some(Refusal::Nested),
            Command::Watch(_) if inside => Some(Refusal::WatchInside),
            _ => None,
        };
        if let Some(refusal) = unfit {
            return Fate::Refused(refusal, version.spoils());
        }
        if inside && command.stands_alone() {
            return Fate::Refused(Refusal::Inside, true);
        }
        let crowded = inside && !command.is_never_queued() && !version.queues_when_short();
        if short && (any(Command::grows) || crowded) {
            return Fate::Refused(Refusal::Memory, true);
        }
        if let (Some(refusal), true) = (refuses, any(Command::writes)) {
            return Fate::Refused(refusal, true);
        }
        let listens =
            matches!(command, Command::Subscribe(..) | Command::Unsubscribe(..) | Command::Ping);
        if session.listens() && !listens {
            return Fate::Refused(Refusal::SubscriberOnly, true);
        }
        if paused.is_some_and(|p| now < p.until && (!p.writes_only || any(Command::may_replicate)))
        {
            return Fate::Postponed;
        }
        if inside && !exec && !command.is_never_queued() { Fate::Queued } else { Fate::Run }
    }

    fn serve(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        conn: ConnId,
        peer: ProcId,
        request: u64,
        command: Rc<Command>,
    ) {
        self.make_room(cx);
        match self.fate(cx, conn, peer, &command) {
            Fate::Refused(refusal, spoils) => {
                let session = self.session(conn, peer);
                let refused_exec = matches!(*command, Command::Exec);
                session.spoiled |= spoils && session.queue.is_some();
                if refused_exec {
                    session.forget_transaction();
                }
                Server::answer(cx, conn, request, Reply::Error(refusal));
            }
            Fate::Postponed => {
                self.session(conn, peer).blocked = Some(Blocked::Paused(request, command));
                self.postponed.push(conn);
            }
            Fate::Queued => {
                if let Some(queue) = &mut self.session(conn, peer).queue {
                    queue.push(command);
                }
                Server::answer(cx, conn, request, Reply::Word("QUEUED"));
            }
            Fate::Run => {
                let before = self.offset;
                self.deed = Some(Deed::of(peer, &command, request));
                let reply = self.perform(cx, conn, peer, request, &command);
                self.deed = None;
                let (offset, all) = (self.offset, self.start.version.waits_for_all());
                if offset != before || all {
                    self.session(conn, peer).offset = offset;
                }
                if let Some(reply) = reply {
                    self.witness.answered(cx, &command, &reply, peer);
                    Server::answer(cx, conn, request, reply);
                }
            }
        }
    }

    /// A command comes; it waits where an earlier one of its connection does.
    fn came(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        conn: ConnId,
        peer: ProcId,
        request: u64,
        command: Rc<Command>,
    ) {
        let session = self.session(conn, peer);
        if session.is_busy() {
            session.held.push_back((request, command));
        } else {
            self.serve(cx, conn, peer, request, command);
        }
        self.ask_for_acks(cx);
    }

    /// A connection waits for nothing any more: what came behind is looked at.
    pub(super) fn unblock(&mut self, cx: &mut Cx<'_, Locks>, conn: ConnId) {
        loop {
            let Some(session) = self.sessions.iter_mut().find(|s| s.conn == conn) else { return };
            if session.blocked.is_some() {
                return;
            }
            let Some((request, command)) = session.held.pop_front() else { return };
            let peer = session.peer;
            self.serve(cx, conn, peer, request, command);
        }
    }

    /// Holds writes, or everything, until a moment of the wall clock. A second pause can make it
    /// longer or stricter, not weaker.
    pub(super) fn pause(&mut self, cx: &mut Cx<'_, Locks>, until: i64, writes_only: bool) {
        let before = self.paused.filter(|p| p.until > Server::now(cx));
        if let Some(before) = self.paused {
            cx.cancel(before.timer);
        }
        let until = before.map_or(until, |b| b.until.max(until));
        let writes_only = writes_only && before.is_none_or(|b| b.writes_only);
        let timer = cx.timer(ClockKind::Wall, Local(until.saturating_mul(1_000)), alarm::PAUSE);
        self.paused = Some(Paused { until, writes_only, timer });
        self.plan_sweep(cx);
    }

    /// What was held goes on, in the order in which it came.
    pub(super) fn resume(&mut self, cx: &mut Cx<'_, Locks>) {
        let Some(paused) = self.paused.take() else { return };
        cx.cancel(paused.timer);
        for conn in std::mem::take(&mut self.postponed) {
            let Some(session) = self.sessions.iter_mut().find(|s| s.conn == conn) else { continue };
            if let Some(Blocked::Paused(request, command)) = session.blocked.take() {
                let peer = session.peer;
                self.serve(cx, conn, peer, request, command);
                self.unblock(cx, conn);
            }
        }
        self.plan_sweep(cx);
    }

    /// Comes into service, with what its files bring back.
    fn join(&mut self, cx: &mut Cx<'_, Locks>) {
        let now = Server::now(cx);
        self.alarms.began = cx.clock(ClockKind::Mono);
        self.alarms.last_save = now;
        self.keys = self.files.load(&self.config.persistence, now, self.start.master.is_none());
        if let Some(master) = self.start.master {
            self.follow(cx, master);
        } else {
            self.witness.restarted(cx, &self.keys, now);
        }
        self.plan_sweep(cx);
    }

    fn read(&mut self, cx: &mut Cx<'_, Locks>, from: ProcId, conn: ConnId, body: &Body) {
        if let Some(stream) = body.get::<Stream>() {
            return self.heard(cx, from, conn, &stream.clone());
        }
        if let Some(Inquiry::Holds(lock, token)) = body.get::<Inquiry>() {
            let holds = self.witness.holds(*lock, *token, &self.keys, Server::now(cx));
            let name = if holds { "yes" } else { "no" };
            let body = Body::new(name, body.request, Inquiry::Answer(holds));
            cx.send(conn, body.with_token(Some(*token)), None);
            return;
        }
        match body.get::<Packet>() {
            Some(Packet::Ask(command)) => self.came(cx, conn, from, body.request, command.clone()),
            Some(Packet::Close) => {
                // What a closed connection waited for is never looked at.
                self.sessions.retain(|s| s.conn != conn);
                self.postponed.retain(|c| *c != conn);
                self.replicas.retain(|l| l.conn != conn);
            }
            _ => {}
        }
    }

    /// Starts anew: with the files, and with nothing that was in memory only.
    fn forget(&mut self) {
        self.config = Config::of(&self.start);
        self.sessions.clear();
        self.replicas.clear();
        self.postponed.clear();
        self.scripts = [false; 4];
        (self.paused, self.handing_to, self.parting) = (None, None, None);
        self.alarms = Alarms::default();
        self.upstream = None;
        (self.offset, self.files.written, self.files.synced) = (0, 0, 0);
        self.keys = Keyspace::default();
    }
}

impl Actor<Locks> for Server {
    fn boxed(&self) -> Box<dyn Actor<Locks>> {
        Box::new(self.clone())
    }

    fn on_start(&mut self, cx: &mut Cx<'_, Locks>) {
        let again = std::mem::replace(&mut self.was_started, true);
        self.is_out = again && self.start.stays_out > Micros::ZERO;
        if self.is_out {
            let at = cx.clock(ClockKind::Mono).plus(self.start.stays_out);
            cx.timer(ClockKind::Mono, at, alarm::JOIN);
        } else {
            self.join(cx);
        }
        if again {
            self.say_hello(cx);
        }
    }

    fn heeds(&self, body: &Body, now: Micros, clocks: &Clocks) -> bool {
        body.get::<Order>().is_none_or(|order| self.heeds_order(order, now, clocks))
    }

    fn on_clock(&mut self, cx: &mut Cx<'_, Locks>, _before: &Clocks) {
        self.witness.clock_changed(cx, &self.keys);
    }

    fn on_message(&mut self, cx: &mut Cx<'_, Locks>, from: ProcId, conn: ConnId, body: &Body) {
        if !self.is_out {
            self.read(cx, from, conn, body);
        }
    }

    fn on_outside(&mut self, cx: &mut Cx<'_, Locks>, body: &Body) {
        if let Some(Stream::Promote) = body.get::<Stream>() {
            self.lead(cx);
        }
        if let Some(Packet::Ask(command)) = body.get::<Packet>() {
            let command = command.clone();
            self.by_hand(cx, &command);
        }
        if let Some(order) = body.get::<Order>() {
            self.obey(cx, *order);
        }
    }

    fn on_timer(&mut self, cx: &mut Cx<'_, Locks>, key: u64) {
        match key {
            alarm::END => self.plan_round(cx),
            alarm::SWEEP => self.round(cx),
            alarm::PAUSE => self.resume(cx),
            alarm::SYNC => {
                self.alarms.sync = None;
                self.files.sync();
                self.acknowledge(cx);
                self.look_at_waits(cx);
            }
            alarm::SAVE => {
                self.alarms.save = None;
                self.snapshot(cx);
            }
            alarm::BEAT => self.beat(cx),
            alarm::JOIN => {
                self.is_out = false;
                self.join(cx);
            }
            key => self.waited_enough(cx, ConnId((key & 0xFFFF_FFFF) as u32)),
        }
    }

    fn on_closed(&mut self, _cx: &mut Cx<'_, Locks>, peer: ProcId, conn: ConnId) {
        let is_gone = |of: ProcId, on: ConnId| of == peer && on <= conn;
        self.replicas.retain(|l| !is_gone(l.peer, l.conn));
        let gone = self.sessions.iter().filter(|s| is_gone(s.peer, s.conn));
        let gone: Vec<ConnId> = gone.map(|s| s.conn).collect();
        self.sessions.retain(|s| !gone.contains(&s.conn));
        self.postponed.retain(|c| !gone.contains(c));
        if let Some(upstream) = self.upstream.as_mut().filter(|u| u.master == peer) {
            upstream.conn = upstream.conn.filter(|own| *own > conn);
        }
    }

    fn on_crash(&mut self, _cx: &mut Cx<'_, Locks>, how: CrashKind) {
        let points = !self.config.persistence.save.is_empty();
        if how == CrashKind::Clean && self.parting.unwrap_or(points) {
            self.files.save(&self.keys);
        }
        self.files.crash(how);
        self.forget();
    }

    fn on_settings(&mut self, settings: &Settings) {
        self.ttl = settings.span("lock.ttl");
    }

    fn busy(&self) -> bool {
        // What a replica has ends when its master says so.
        self.is_master() && self.keys.earliest_end().is_some()
    }

    fn facts(&self, now: Micros, clocks: &Clocks) -> Vec<Fact> {
        if self.circle.is_empty() {
            return self.witness.facts(now, clocks, self.ttl);
        }
        let mut facts = vec![self.rank()];
        if self.is_master() {
            facts.extend(self.witness.facts(now, clocks, self.ttl));
        } else {
            facts.extend(self.witness.copies(&self.keys, now, clocks, self.ttl));
        }
        facts
    }
}

/// The place of a script among those in memory.
pub(super) fn place_of(script: Script) -> usize {
    script as usize
}

/// The points at which Redis saves where nobody says otherwise.
pub fn default_save() -> Rc<[(i64, u64)]> {
    Rc::new([(3_600, 1), (300, 100), (60, 10_000)])
}

/// The default of an append-only file.
pub const DEFAULT_FSYNC: Fsync = Fsync::EverySecond;
