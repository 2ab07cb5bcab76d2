//! A world of ZooKeeper servers, and of clients that say what they are told to.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::rc::Rc;

use lockscope::judge::{Testimony, TruthEnd};
use lockscope::sim::{
    Actor, Clocks, ConnId, CrashKind, Cx, Event, Fault, Halt, MessageFault, MessageInfo, Micros,
    Plan, ProcId, ProcPlan, Purpose, Sink, What, World, keyed, up_to,
};
use lockscope::systems::quorum::Timing;
use lockscope::systems::zookeeper::{
    Change, CreateMode, Packet, Password, Path, Reply, Request, Server, SessionId, Start, Zxid,
    number_of,
};
use lockscope::systems::{Body, Fact, Locks, Piece, Settings};

/// How long a message takes.
const LATENCY: Micros = Micros(5);

pub fn path(text: &str) -> Path {
    Path::new(text)
}

pub fn create(text: &str, mode: CreateMode) -> Request {
    Request::Create { path: path(text), data: "".into(), mode, stat: false }
}

pub fn delete(text: &str) -> Request {
    Request::Delete { path: path(text), version: None }
}

pub fn set(text: &str, data: &str, version: Option<i32>) -> Request {
    Request::SetData { path: path(text), data: data.into(), version }
}

pub fn exists(text: &str, watch: bool) -> Request {
    Request::Exists { path: path(text), watch }
}

pub fn list(text: &str, watch: bool) -> Request {
    Request::GetChildren { path: path(text), watch, stat: false }
}

pub fn number(path: &Path) -> i32 {
    number_of(path.name()).expect("it has a number")
}

pub fn children(reply: Reply) -> Vec<String> {
    match reply {
        Reply::Children(names, _) => names.iter().map(|name| name.to_string()).collect(),
        reply => panic!("{reply:?}"),
    }
}

/// Draws from 0 to a most, which are the same in every run.
pub fn draws(owner: u64) -> impl FnMut(u64) -> u64 {
    let mut count = 0;
    move |most| {
        count += 1;
        up_to(keyed(7, Purpose::Jitter, owner, count), most)
    }
}

/// What reached a client.
#[derive(Clone, PartialEq, Debug)]
pub enum Heard {
    Answer(u64, Reply, Zxid),
    Event(Change, Path),
    Closed,
}

#[derive(Clone, Debug)]
struct Caller;

#[derive(Clone, Debug)]
enum Errand {
    Say(ProcId, Request),
    HangUp(ProcId),
}

impl Actor<Locks> for Caller {
    fn boxed(&self) -> Box<dyn Actor<Locks>> {
        Box::new(self.clone())
    }

    fn on_message(&mut self, cx: &mut Cx<'_, Locks>, from: ProcId, conn: ConnId, body: &Body) {
        if let Some(Packet::Close) = body.get::<Packet>() {
            cx.hang_up(from, Some(conn));
        }
    }

    fn on_outside(&mut self, cx: &mut Cx<'_, Locks>, body: &Body) {
        match body.get::<Errand>() {
            Some(Errand::Say(to, request)) => {
                let packet = Packet::Ask(request.clone().into());
                cx.ask(*to, Body::new(request.name(), body.request, packet), None);
            }
            Some(Errand::HangUp(to)) => {
                cx.ask(*to, Body::new("close", 0, Packet::Close), None);
                cx.abandon(*to);
            }
            None => {}
        }
    }

    fn on_crash(&mut self, _: &mut Cx<'_, Locks>, _: CrashKind) {}

    fn on_settings(&mut self, _: &Settings) {}

    fn busy(&self) -> bool {
        true
    }

    fn facts(&self, _: Micros, _: &Clocks) -> Vec<Fact> {
        Vec::new()
    }
}

/// Hears what reaches the clients, and what servers testify.
#[derive(Default)]
struct Ears {
    bodies: Vec<(Body, ConnId)>,
    /// The connection on which each client has spoken last: what comes on another one, it has given up.
    spoken: Vec<(ProcId, ConnId)>,
    servers: u16,
    /// All that happens is printed.
    shown: bool,
    heard: Vec<(Micros, ProcId, Heard)>,
    said: Vec<(Micros, ProcId, Testimony)>,
}

impl Sink<Locks> for Ears {
    fn event(&mut self, event: Event<Testimony>) {
        if self.shown {
            eprintln!("{:?} {:?} {:?}", event.at, event.node, event.what);
        }
        if let Some(note) = event.note() {
            self.said.push((event.at, event.node, note.clone()));
        }
        let heard = match event.what {
            _ if event.node.0 < self.servers => return,
            What::Deliver(message) => {
                let (body, conn) = &self.bodies[message.0 as usize];
                if !self.spoken.contains(&(event.node, *conn)) {
                    return;
                }
                match body.get::<Packet>() {
                    Some(Packet::Answer(reply, zxid)) => {
                        Heard::Answer(body.request, (**reply).clone(), *zxid)
                    }
                    Some(Packet::Event(change, path)) => Heard::Event(*change, path.clone()),
                    Some(Packet::Close) => Heard::Closed,
                    _ => return,
                }
            }
            What::Reset(_) => Heard::Closed,
            _ => return,
        };
        self.heard.push((event.at, event.node, heard));
    }

    fn message(&mut self, message: MessageInfo<Body>) {
        if self.shown {
            let (from, to, name) = (message.from, message.to, message.body.name);
            eprintln!("message {}: {from:?} to {to:?}: {name}", self.bodies.len());
        }
        if message.from.0 >= self.servers {
            self.spoken.retain(|spoken| spoken.0 != message.from);
            self.spoken.push((message.from, message.conn));
        }
        self.bodies.push((message.body, message.conn));
    }
}

/// A client's session, as far as it knows.
#[derive(Clone, Copy, Default)]
struct Known {
    session: Option<(SessionId, Password)>,
    timeout: u64,
    seen: Zxid,
    closed: bool,
}

pub struct Zoo {
    world: World<Locks>,
    ears: Ears,
    servers: usize,
    known: Vec<Known>,
    asked: u64,
    asked_at: Micros,
    read: usize,
}

impl Zoo {
    /// So many servers, and clients behind them in the lanes; the tick in milliseconds.
    pub fn new(servers: usize, clients: usize, tick: u64) -> Zoo {
        Zoo::with(servers, clients, tick, |_| {})
    }

    pub fn with(servers: usize, clients: usize, tick: u64, more: impl Fn(&mut Start)) -> Zoo {
        Zoo::losing(servers, clients, tick, more, None)
    }

    /// The same; the n-th message from one server to another is lost, and all behind it on its
    /// connection.
    pub fn losing(
        servers: usize,
        clients: usize,
        tick: u64,
        more: impl Fn(&mut Start),
        lost: Option<(usize, usize, u32)>,
    ) -> Zoo {
        let tick = Micros::from_millis(tick);
        let timing = Timing { tick, init_limit: 20, sync_limit: 6 };
        let lanes: Rc<[ProcId]> = (0..servers as u16).map(ProcId).collect();
        let server = |place: usize| {
            let mut start = Start {
                servers: lanes.clone(),
                place: place as u8,
                timing,
                runs_over: false,
                locks: [path("/locks")].into(),
                installed: [].into(),
            };
            more(&mut start);
            proc(Box::new(Server::new(start)))
        };
        let callers = (0..clients).map(|_| proc(Box::new(Caller)));
        let procs: Vec<_> = (0..servers).map(server).chain(callers).collect();
        let plan = Plan {
            latency: vec![LATENCY; procs.len() * procs.len()],
            procs,
            jitter: Micros::ZERO,
            seed: 1,
            settings: Rc::new(Settings::default()),
            timers_first: false,
            faults: Vec::new(),
            stops: Vec::new(),
            message_faults: lost
                .map(|(a, b, n)| (ProcId(a as u16), ProcId(b as u16), n, MessageFault::Drop, 0))
                .into_iter()
                .collect(),
            edits: 1,
            until: Micros(1 << 60),
        };
        let ears = Ears {
            servers: servers as u16,
            shown: std::env::var_os("SHOW").is_some(),
            ..Ears::default()
        };
        let known = vec![Known::default(); clients];
        let (world, asked, asked_at, read) = (World::new(Rc::new(plan)), 0, Micros::ZERO, 0);
        let mut zoo = Zoo { world, ears, servers, known, asked, asked_at, read };
        zoo.settle();
        zoo
    }

    fn lane(&self, client: usize) -> ProcId {
        ProcId((self.servers + client) as u16)
    }

    pub fn latency(&self) -> u64 {
        LATENCY.0
    }

    pub fn now(&self) -> Micros {
        self.world.now()
    }

    /// When the last request reached its server.
    pub fn asked_at(&self) -> Micros {
        self.asked_at.plus(LATENCY)
    }

    pub fn pass(&mut self, span: Micros) {
        let at = self.now().plus(span);
        self.world.run_until(at, &mut self.ears);
        self.learn();
    }

    /// Lets what is on its way arrive, and what that brings about.
    pub fn settle(&mut self) {
        self.pass(Micros(LATENCY.0 * 12));
    }

    /// The clients learn of what has reached them.
    fn learn(&mut self) {
        for (_, lane, heard) in &self.ears.heard[self.read..] {
            let known = &mut self.known[usize::from(lane.0) - self.servers];
            match heard {
                Heard::Answer(_, reply, zxid) => {
                    assert!(*zxid >= known.seen, "client {lane:?} goes back in time");
                    known.seen = known.seen.max(*zxid);
                    if let Reply::Connected { session, password, .. } = reply {
                        known.session = Some((*session, *password));
                        known.closed = false;
                    }
                }
                Heard::Closed => known.closed = true,
                Heard::Event(..) => {}
            }
        }
        self.read = self.ears.heard.len();
    }

    pub fn say(&mut self, client: usize, server: usize, request: Request) -> u64 {
        self.asked += 1;
        self.asked_at = self.now();
        let errand = Errand::Say(ProcId(server as u16), request);
        let body = Body::new("errand", self.asked, errand);
        self.strike(&Fault::Outside(self.lane(client), body));
        self.asked
    }

    pub fn hang_up(&mut self, client: usize, server: usize) {
        let body = Body::new("errand", 0, Errand::HangUp(ProcId(server as u16)));
        self.strike(&Fault::Outside(self.lane(client), body));
        self.known[client].closed = true;
        self.settle();
    }

    /// The answer to that number, if it has come.
    pub fn answer(&self, number: u64) -> Option<(Micros, Reply)> {
        self.ears.heard.iter().find_map(|(at, _, heard)| match heard {
            Heard::Answer(n, reply, _) if *n == number => Some((*at, reply.clone())),
            _ => None,
        })
    }

    /// Says something, and waits for the answer.
    pub fn call(&mut self, client: usize, server: usize, request: Request) -> Reply {
        let number = self.say(client, server, request.clone());
        self.settle();
        let answer = self.answer(number);
        answer.unwrap_or_else(|| panic!("no answer to {request:?}")).1
    }

    /// A new session, with a time-out in milliseconds.
    pub fn connect(&mut self, client: usize, server: usize, timeout: u64) {
        self.known[client] = Known { timeout, ..Known::default() };
        assert!(self.reconnect(client, server));
    }

    /// The same session on a new connection; whether it goes on.
    pub fn reconnect(&mut self, client: usize, server: usize) -> bool {
        let known = self.known[client];
        let timeout = Micros::from_millis(known.timeout);
        let connect = Request::Connect { session: known.session, timeout, seen: known.seen };
        let number = self.say(client, server, connect);
        self.settle();
        matches!(self.answer(number), Some((_, Reply::Connected { .. })))
    }

    /// The same; or a new one, where it has none or that one is over.
    pub fn reconnect_or_begin(&mut self, client: usize, server: usize, timeout: u64) -> bool {
        if self.known[client].session.is_some() {
            let number = self.asked + 1;
            if self.reconnect(client, server) {
                return true;
            }
            if !matches!(self.answer(number), Some((_, Reply::Expired))) {
                return false;
            }
        }
        self.known[client] = Known { timeout, ..Known::default() };
        self.reconnect(client, server)
    }

    pub fn session(&self, client: usize) -> (SessionId, Password) {
        self.known[client].session.expect("it has one")
    }

    pub fn seen(&self, client: usize) -> Zxid {
        self.known[client].seen
    }

    pub fn zxid(&self, client: usize) -> u64 {
        self.known[client].seen.0
    }

    pub fn is_closed(&self, client: usize) -> bool {
        self.known[client].closed
    }

    /// What a client has heard since the last [`Zoo::forget`].
    pub fn heard(&self, client: usize) -> Vec<Heard> {
        let own = self.ears.heard.iter().filter(|h| h.1 == self.lane(client));
        own.map(|h| h.2.clone()).collect()
    }

    /// What was heard so far is not asked for any more.
    pub fn forget(&mut self) {
        self.ears.heard.clear();
        self.read = 0;
    }

    /// When that client is told of a watch next.
    pub fn until_event(&mut self, client: usize, within_ms: u64) -> Micros {
        let until = self.now().plus(Micros::from_millis(within_ms));
        while self.now() < until {
            let is = |h: &&(Micros, ProcId, Heard)| {
                h.1 == self.lane(client) && matches!(h.2, Heard::Event(..))
            };
            if let Some(heard) = self.ears.heard.iter().find(is) {
                return heard.0;
            }
            self.pass(Micros::from_millis(50));
        }
        panic!("no event")
    }

    /// When the last holder of a lock lost it because its session was over.
    pub fn expired(&self) -> Option<Micros> {
        let mut ends = self.ears.said.iter().rev().filter_map(|(at, _, said)| match said {
            Testimony::Free(_, TruthEnd::Expired(end)) => Some((*at, *end)),
            _ => None,
        });
        let (at, end) = ends.next()?;
        assert_eq!(at, end, "it ends when that is decided");
        Some(at)
    }

    /// What servers have said to the judge so far.
    pub fn said(&self) -> &[(Micros, ProcId, Testimony)] {
        &self.ears.said
    }

    pub fn strike(&mut self, fault: &Fault<Locks>) -> bool {
        self.world.strike(fault, &mut self.ears)
    }

    pub fn kill(&mut self, server: usize) {
        assert!(self.strike(&Fault::Crash(ProcId(server as u16), CrashKind::Kill)));
    }

    pub fn restart(&mut self, server: usize) {
        assert!(self.strike(&Fault::Restart(ProcId(server as u16))));
        self.settle();
    }

    pub fn pause(&mut self, server: usize, span: Micros) {
        assert!(self.strike(&Fault::Halt(ProcId(server as u16), Halt::Pause, span)));
    }

    /// Cuts the ways between two servers, both ways, or heals them.
    pub fn cut(&mut self, a: usize, b: usize, cut: bool) {
        let (a, b) = (ProcId(a as u16), ProcId(b as u16));
        let ways = vec![(a, b), (b, a)];
        self.strike(&if cut { Fault::Cut(ways, None) } else { Fault::Heal(ways) });
    }

    /// The server that leads, if there is one that says so; of several, the one with the newest zxid.
    pub fn leader(&self) -> Option<usize> {
        let leads = |server: &usize| self.role(*server).is_some_and(|role| role.0 == "leads");
        (0..self.servers).filter(leads).max_by_key(|server| self.role(*server).map(|role| role.1))
    }

    /// What a server says it is, and the last transaction that it has carried out.
    pub fn role(&self, server: usize) -> Option<(&'static str, u64)> {
        if self.world.is_down(ProcId(server as u16)) {
            return None;
        }
        match self.facts(server).first() {
            Some(Fact::Row { key, value }) => match (&key[..], &value[..]) {
                ([Piece::Word(role)], [_, Piece::Change(zxid)]) => Some((role, *zxid)),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    /// When the leader that let the last session end had heard of it.
    pub fn lapsed(&self) -> Option<Micros> {
        self.ears.said.iter().rev().find_map(|(_, _, said)| match said {
            Testimony::Lapse { heard, .. } => Some(*heard),
            _ => None,
        })
    }

    /// Lets time pass until that is so, and says when it was.
    pub fn until(&mut self, within_ms: u64, is: impl Fn(&Zoo) -> bool) -> Micros {
        let until = self.now().plus(Micros::from_millis(within_ms));
        while !is(self) {
            assert!(self.now() < until, "it did not come about");
            self.pass(Micros::from_millis(1));
        }
        self.now()
    }

    pub fn facts(&self, server: usize) -> Vec<Fact> {
        self.world.facts(ProcId(server as u16))
    }
}

fn proc(actor: Box<dyn Actor<Locks>>) -> ProcPlan<Locks> {
    let (tasks, start, clocks) = (Rc::new(Vec::new()), Micros::ZERO, Clocks::TRUE);
    ProcPlan { actor, tasks, locals: 0, counters: 0, start, clocks }
}
