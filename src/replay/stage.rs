//! A simulated world for a transcript: its servers as processes with clocks and links, its clients
//! as raw connections, and ears that hear what reaches them.

use std::collections::VecDeque;
use std::rc::Rc;

use super::protocol::NotModelled;
use super::transcript::Transcript;
use crate::sim::{
    Actor, Clock, Clocks, ConnId, CrashKind, Cx, Event, Fault, Halt, Local, MessageInfo, Micros,
    Plan, ProcId, ProcPlan, Ratio, Set, Sink, What, World,
};
use crate::systems::{Body, Fact, Locks, Settings};

/// How long a message takes: the servers were on loopback.
const LATENCY: Micros = Micros(5);
/// What the wall clocks show at the start, in microseconds since 1970: a day of 2026.
const EPOCH: i64 = 1_795_980_000_000_000;
/// No single span of a transcript is longer: a day, whose periodic work is played in seconds.
const LONGEST_MS: u64 = 86_400_000;
/// Longer than any transcript.
const FOREVER: Micros = Micros(1 << 60);

/// A process of a transcript: what steps call it, and what it runs.
pub type Named = (String, Box<dyn Actor<Locks>>);

/// A client that sends what it is told to and keeps nothing.
#[derive(Clone, Debug)]
struct Caller;

#[derive(Clone, Debug)]
enum Errand {
    Say(ProcId, Body),
    /// Closes the connection, if there is one, with these last words; none where it is closed.
    HangUp(ProcId, Option<Body>),
}

impl Actor<Locks> for Caller {
    fn boxed(&self) -> Box<dyn Actor<Locks>> {
        Box::new(self.clone())
    }

    fn on_message(&mut self, _: &mut Cx<'_, Locks>, _: ProcId, _: ConnId, _: &Body) {}

    fn on_outside(&mut self, cx: &mut Cx<'_, Locks>, body: &Body) {
        match body.get::<Errand>() {
            Some(Errand::Say(to, body)) => {
                cx.ask(*to, body.clone(), None);
            }
            Some(Errand::HangUp(to, words)) if cx.connection(*to).is_some() => {
                if let Some(words) = words {
                    cx.ask(*to, words.clone(), None);
                }
                cx.abandon(*to);
            }
            _ => {}
        }
    }

    fn on_crash(&mut self, _: &mut Cx<'_, Locks>, _: CrashKind) {}

    fn on_settings(&mut self, _: &Settings) {}

    /// Somebody is there as long as the transcript goes on.
    fn busy(&self) -> bool {
        true
    }

    fn facts(&self, _: Micros, _: &Clocks) -> Vec<Fact> {
        Vec::new()
    }
}

/// What reached a client.
#[derive(Clone, Debug)]
pub enum Heard {
    /// A message of that server.
    Message(ProcId, Body),
    /// The connection to that server is gone.
    Closed(ProcId),
}

/// Hears what reaches the clients.
#[derive(Default)]
struct Ears {
    messages: Vec<(ProcId, Body)>,
    /// Who is listened to: the clients that do what they are told.
    clients: Vec<bool>,
    heard: VecDeque<(ProcId, Heard)>,
}

impl Sink<Locks> for Ears {
    fn event(&mut self, event: Event<<Locks as crate::sim::Domain>::Note>) {
        if !self.clients.get(usize::from(event.node.0)).is_some_and(|listened| *listened) {
            return;
        }
        let heard = match event.what {
            What::Deliver(message) => {
                let Some((from, body)) = self.messages.get(message.0 as usize) else { return };
                Heard::Message(*from, body.clone())
            }
            What::Reset(server) => Heard::Closed(server),
            _ => return,
        };
        self.heard.push_back((event.node, heard));
    }

    fn message(&mut self, message: MessageInfo<Body>) {
        self.messages.push((message.from, message.body));
    }
}

/// The world of a transcript.
pub struct Stage {
    world: World<Locks>,
    ears: Ears,
    /// The servers, then the clients, then an observer, by name.
    names: Vec<String>,
    servers: usize,
    requests: u64,
    /// Who is stopped.
    stopped: Set<ProcId>,
}

impl Stage {
    /// These servers, these clients that do what they are told, and these that have a mind of their
    /// own.
    pub fn new(servers: Vec<Named>, clients: Vec<String>, minds: Vec<Named>) -> Stage {
        let observer = "observer of the replay".to_string();
        let callers = clients.into_iter().chain([observer]);
        let count = servers.len();
        let callers: Vec<Named> = callers.map(|name| (name, Box::new(Caller) as _)).collect();
        let told = count..count + callers.len();
        let all = servers.into_iter().chain(callers).chain(minds);
        let (names, procs): (Vec<String>, Vec<_>) =
            all.map(|(name, actor)| (name, proc(actor))).unzip();
        let clients = (0..procs.len()).map(|place| told.contains(&place)).collect();
        let plan = Plan {
            latency: vec![LATENCY; procs.len() * procs.len()],
            procs,
            jitter: Micros::ZERO,
            seed: 1,
            settings: Rc::new(Settings::default()),
            timers_first: false,
            faults: Vec::new(),
            stops: Vec::new(),
            message_faults: Vec::new(),
            edits: 1,
            until: FOREVER,
        };
        let ears = Ears { clients, ..Ears::default() };
        let world = World::new(Rc::new(plan));
        let mut stage =
            Stage { world, ears, names, servers: count, requests: 0, stopped: Set::new() };
        stage.settle();
        stage
    }

    /// The present moment.
    pub fn now(&self) -> Micros {
        self.world.now()
    }

    /// The server with that name, or the only one.
    pub fn server(&self, name: Option<&str>) -> Option<ProcId> {
        match name {
            None => (self.servers == 1).then_some(ProcId(0)),
            Some(name) => self.find(name).filter(|p| usize::from(p.0) < self.servers),
        }
    }

    /// How many servers there are.
    pub fn servers(&self) -> usize {
        self.servers
    }

    /// Everybody, the replay's own observer not among them.
    pub fn everybody(&self) -> impl Iterator<Item = ProcId> + use<> {
        let observer = self.observer();
        (0..self.names.len() as u16).map(ProcId).filter(move |p| *p != observer)
    }

    /// Anybody with that name.
    pub fn find(&self, name: &str) -> Option<ProcId> {
        let place = self.names.iter().position(|n| n == name)?;
        Some(ProcId(place as u16))
    }

    /// The client with that name.
    pub fn client(&self, name: &str) -> Option<ProcId> {
        self.find(name).filter(|p| usize::from(p.0) >= self.servers && *p != self.observer())
    }

    /// What somebody is called.
    pub fn name(&self, p: ProcId) -> &str {
        self.names.get(usize::from(p.0)).map_or("?", String::as_str)
    }

    /// Who looks at servers for the replay's own sake: the last of the clients that do as told.
    pub fn observer(&self) -> ProcId {
        let last = self.ears.clients.iter().rposition(|told| *told);
        ProcId(last.unwrap_or_default() as u16)
    }

    /// Whether a server is dead.
    pub fn is_down(&self, server: ProcId) -> bool {
        self.world.is_down(server)
    }

    /// Whether the way from one to another is cut.
    pub fn is_cut(&self, (from, to): (ProcId, ProcId)) -> bool {
        self.world.is_cut(from, to)
    }

    /// The number of the next request.
    pub fn next_request(&mut self) -> u64 {
        self.requests += 1;
        self.requests
    }

    /// A client sends this.
    pub fn say(&mut self, client: ProcId, server: ProcId, body: Body) {
        let errand = Errand::Say(server, body);
        self.strike(&Fault::Outside(client, Body::new("errand", 0, errand)));
    }

    /// A client closes its connection with these last words; what it sent on it may still be carried
    /// out. One that the server closed needs none.
    pub fn hang_up(&mut self, client: ProcId, server: ProcId, words: Option<Body>) {
        let errand = Errand::HangUp(server, words);
        self.strike(&Fault::Outside(client, Body::new("errand", 0, errand)));
    }

    /// Something happens to the world, now.
    pub fn strike(&mut self, fault: &Fault<Locks>) -> bool {
        if let Fault::Crash(who, _) = fault {
            self.stopped.remove(who);
        }
        self.world.strike(fault, &mut self.ears)
    }

    /// Whether a process was stopped and has not gone on since.
    pub fn is_stopped(&self, p: ProcId) -> bool {
        self.stopped.contains(&p)
    }

    /// A process stops until [`Stage::let_go`].
    pub fn stop(&mut self, p: ProcId) {
        self.stopped.insert(p);
        self.strike(&Fault::Halt(p, Halt::Pause, FOREVER));
    }

    /// A process that was stopped goes on.
    pub fn let_go(&mut self, p: ProcId) {
        self.stopped.remove(&p);
        self.world.let_go(p, &mut self.ears);
    }

    /// What reached a client next.
    pub fn hear(&mut self) -> Option<(ProcId, Heard)> {
        self.ears.heard.pop_front()
    }

    /// Lets the next thing happen that is due by then; false where there is none, and it is then.
    pub fn step_until(&mut self, at: Micros) -> bool {
        match self.world.next_due() {
            Some(due) if due.at <= at && !self.world.is_over() => {
                self.world.step(&mut self.ears);
                true
            }
            _ => {
                self.world.run_until(at, &mut self.ears);
                false
            }
        }
    }

    /// Lets time pass.
    pub fn pass(&mut self, span: Micros) {
        let at = self.now().plus(span);
        while self.step_until(at) {}
    }

    /// Lets what is on its way arrive, and what that brings about.
    pub fn settle(&mut self) {
        self.pass(Micros(LATENCY.0 * 4));
    }
}

fn proc(actor: Box<dyn Actor<Locks>>) -> ProcPlan<Locks> {
    let wall = Clock::new(Local(EPOCH), Ratio::ONE);
    ProcPlan {
        actor,
        tasks: Rc::new(Vec::new()),
        locals: 0,
        counters: 0,
        start: Micros::ZERO,
        clocks: Clocks { wall, ..Clocks::TRUE },
    }
}

/// Who does something in a transcript beside the world and the servers, by name.
pub fn clients(transcript: &Transcript, servers: &[String]) -> Vec<String> {
    let mut clients: Vec<String> = Vec::new();
    for step in &transcript.steps {
        let client = &step.client;
        if client != "env" && !servers.contains(client) && !clients.contains(client) {
            clients.push(client.clone());
        }
    }
    clients
}

/// So many milliseconds, where time can pass that long.
pub fn span(ms: i64) -> Result<Micros, NotModelled> {
    match u64::try_from(ms) {
        Ok(count @ 0..=LONGEST_MS) => Ok(Micros::from_millis(count)),
        _ => Err(format!("a span of {ms} ms; known is 0 to {LONGEST_MS}")),
    }
}
