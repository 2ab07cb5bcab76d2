//! A simulated world for a transcript: its servers as processes with clocks and links, its clients
//! as raw connections, and ears that hear what reaches them.

use std::collections::VecDeque;
use std::rc::Rc;

use super::argv::{save_points, setting};
use super::transcript::{Step, Transcript};
use crate::sim::{
    Actor, Clock, Clocks, ConnId, CrashKind, Cx, Event, Fault, Halt, Local, MessageInfo, Micros,
    Plan, ProcId, ProcPlan, Ratio, Sink, What, World,
};
use crate::systems::redis::{
    Command, Packet, Persistence, Reply, Server, Setting, Start, Version, default_save,
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

/// A client that sends what it is told to and keeps nothing.
#[derive(Clone, Debug)]
struct Caller;

#[derive(Clone, Debug)]
enum Errand {
    Say(ProcId, Command),
    HangUp(ProcId),
}

impl Actor<Locks> for Caller {
    fn boxed(&self) -> Box<dyn Actor<Locks>> {
        Box::new(self.clone())
    }

    fn on_message(&mut self, _: &mut Cx<'_, Locks>, _: ProcId, _: ConnId, _: &Body) {}

    fn on_outside(&mut self, cx: &mut Cx<'_, Locks>, body: &Body) {
        match body.get::<Errand>() {
            Some(Errand::Say(to, command)) => {
                let packet = Packet::Ask(command.clone().into());
                cx.ask(*to, Body::new(command.name(), body.request, packet), None);
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
    /// The answer to that request.
    Answer(u64, Reply),
    /// What was said unasked.
    Push(Reply),
    /// The connection to that server is gone.
    Closed(ProcId),
}

/// Hears what reaches the clients.
#[derive(Default)]
struct Ears {
    bodies: Vec<Body>,
    first_client: u16,
    heard: VecDeque<(ProcId, Heard)>,
}

impl Sink<Locks> for Ears {
    fn event(&mut self, event: Event<<Locks as crate::sim::Domain>::Note>) {
        if event.node.0 < self.first_client {
            return;
        }
        let heard = match event.what {
            What::Deliver(message) => {
                let Some(body) = self.bodies.get(message.0 as usize) else { return };
                match body.get::<Packet>() {
                    Some(Packet::Answer(reply)) => Heard::Answer(body.request, reply.clone()),
                    Some(Packet::Push(reply)) => Heard::Push(reply.clone()),
                    _ => return,
                }
            }
            What::Reset(server) => Heard::Closed(server),
            _ => return,
        };
        self.heard.push_back((event.node, heard));
    }

    fn message(&mut self, message: MessageInfo<Body>) {
        self.bodies.push(message.body);
    }
}

/// The world of a transcript.
pub struct Stage {
    /// Which servers they are.
    pub version: Version,
    world: World<Locks>,
    ears: Ears,
    /// The servers, then the clients, then an observer, by name.
    names: Vec<String>,
    servers: usize,
    requests: u64,
}

/// What the start of a transcript's servers says, that is not modelled.
pub type NotModelled = String;

impl Stage {
    /// The servers that a transcript names, started as it says.
    ///
    /// # Errors
    /// What of it is not modelled.
    pub fn new(transcript: &Transcript) -> Result<Stage, NotModelled> {
        let version = version(&transcript.version)?;
        let persistence = persistence(&transcript.server)?;
        let (servers, replicas) = nodes(transcript)?;
        let mut clients: Vec<String> = Vec::new();
        for Step { client, .. } in &transcript.steps {
            if client != "env" && !servers.contains(client) && !clients.contains(client) {
                clients.push(client.clone());
            }
        }
        clients.push("observer of the replay".into());
        Ok(Stage::with(version, &persistence, servers, &replicas, clients))
    }

    /// These servers, those of these places as replicas of the first, and who asks them.
    pub fn with(
        version: Version,
        persistence: &Persistence,
        servers: Vec<String>,
        replicas: &[usize],
        clients: Vec<String>,
    ) -> Stage {
        let server = |index: usize| {
            let master = replicas.contains(&index).then_some(ProcId(0));
            let persistence = persistence.clone();
            let start = Start { version, persistence, master, stays_out: Micros::ZERO };
            proc(Box::new(Server::new(start)))
        };
        let callers = clients.iter().map(|_| proc(Box::new(Caller)));
        let procs: Vec<_> = (0..servers.len()).map(server).chain(callers).collect();
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
        let ears = Ears { first_client: servers.len() as u16, ..Ears::default() };
        let world = World::new(Rc::new(plan));
        let (count, names) = (servers.len(), [servers, clients].concat());
        let mut stage = Stage { version, world, ears, names, servers: count, requests: 0 };
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

    /// Anybody with that name.
    pub fn find(&self, name: &str) -> Option<ProcId> {
        let place = self.names.iter().position(|n| n == name)?;
        Some(ProcId(place as u16))
    }

    /// What somebody is called.
    pub fn name(&self, p: ProcId) -> &str {
        self.names.get(usize::from(p.0)).map_or("?", String::as_str)
    }

    /// Who looks at servers for the replay's own sake.
    pub fn observer(&self) -> ProcId {
        ProcId(self.names.len() as u16 - 1)
    }

    /// The server that listens on a port: they count up from the first one's.
    pub fn on_port(&self, port: &str) -> Option<ProcId> {
        let number: usize = port.parse().ok()?;
        let place = (number % 100).checked_sub(1)?;
        (place < self.servers).then_some(ProcId(place as u16))
    }

    /// Whether a server is dead.
    pub fn is_down(&self, server: ProcId) -> bool {
        self.world.is_down(server)
    }

    /// A client sends a command; the number is that of its answer.
    pub fn say(&mut self, client: ProcId, server: ProcId, command: Command) -> u64 {
        self.requests += 1;
        let errand = Errand::Say(server, command);
        let body = Body::new("errand", self.requests, errand);
        self.strike(&Fault::Outside(client, body));
        self.requests
    }

    /// A client closes its connection; what it sent on it may still be carried out.
    pub fn hang_up(&mut self, client: ProcId, server: ProcId) {
        let body = Body::new("errand", 0, Errand::HangUp(server));
        self.strike(&Fault::Outside(client, body));
    }

    /// Something happens to the world, now.
    pub fn strike(&mut self, fault: &Fault<Locks>) -> bool {
        self.world.strike(fault, &mut self.ears)
    }

    /// A server stops until [`Stage::let_go`].
    pub fn stop(&mut self, server: ProcId) {
        self.strike(&Fault::Halt(server, Halt::Pause, FOREVER));
    }

    /// A server that was stopped goes on.
    pub fn let_go(&mut self, server: ProcId) {
        self.world.let_go(server, &mut self.ears);
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

/// So many milliseconds, where time can pass that long.
pub fn span(ms: i64) -> Result<Micros, NotModelled> {
    match u64::try_from(ms) {
        Ok(count @ 0..=LONGEST_MS) => Ok(Micros::from_millis(count)),
        _ => Err(format!("a span of {ms} ms; known is 0 to {LONGEST_MS}")),
    }
}

/// Releases that were compared with real servers or whose differences are known, as the servers
/// themselves count: 7.0 is 700.
const MODELLED: [(bool, u16); 7] =
    [(false, 700), (false, 704), (false, 804), (true, 801), (true, 900), (true, 901), (true, 902)];

/// `redis 7.0.15` or `valkey 9.1.2`. Another release may answer otherwise, so it is not played.
pub fn version(text: &str) -> Result<Version, NotModelled> {
    let unknown = || format!("the version `{text}`");
    let (name, number) = text.split_once(' ').ok_or_else(unknown)?;
    let mut parts = number.split('.').map(|part| part.parse::<u16>().ok());
    let (major, minor) = match (parts.next(), parts.next()) {
        (Some(Some(major)), Some(Some(minor))) if major < 100 && minor < 100 => (major, minor),
        _ => return Err(unknown()),
    };
    let valkey = match name.to_ascii_lowercase().as_str() {
        "redis" => false,
        "valkey" => true,
        _ => return Err(unknown()),
    };
    let number = major * 100 + minor;
    if !MODELLED.contains(&(valkey, number)) {
        return Err(unknown());
    }
    Ok(Version { valkey, number })
}

/// What the words about the servers say of their files: options as on a command line, or `no
/// persistence`.
pub fn persistence(server: &str) -> Result<Persistence, NotModelled> {
    let mut how = Persistence::none();
    let mut rest = server;
    while let Some((_, after)) = rest.split_once("--") {
        let (name, after) = after.split_once(' ').unwrap_or((after, ""));
        let (value, after) = match after.strip_prefix('\'') {
            Some(quoted) => quoted.split_once('\'').unwrap_or((quoted, "")),
            None => after.split_once([' ', ',', ';']).unwrap_or((after, "")),
        };
        rest = after;
        if name == "save" {
            how.save = save_points(value).ok_or_else(|| format!("the option --save {value}"))?;
            continue;
        }
        match setting(name, value) {
            Some(Ok(Some(Setting::AppendOnly(on)))) => how.append_only = on,
            Some(Ok(Some(Setting::AppendFsync(fsync)))) => how.fsync = fsync,
            Some(Ok(None)) => {}
            _ => return Err(format!("the option --{name} {value}")),
        }
    }
    if server.contains("redis.conf default") && !server.contains("--save") {
        how.save = default_save();
    }
    Ok(how)
}

/// A description names no more masters than this.
const MOST_MASTERS: usize = 16;

/// The servers' names in the order of their ports, and which of them are replicas of the first:
/// `single node`, `5 independent masters n1..n5` or `master m + replica r`. Nothing else says which
/// servers there are, so a step at another one finds nobody.
fn nodes(transcript: &Transcript) -> Result<(Vec<String>, Vec<usize>), NotModelled> {
    let clean = |word: &str| word.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_string();
    let words: Vec<String> = transcript.server.split_whitespace().map(clean).collect();
    let first: Vec<&str> = words.iter().take(3).map(String::as_str).collect();
    let unknown = || format!("the servers `{}`", transcript.server);
    match first[..] {
        ["single", "node", ..] => Ok((vec!["s1".into()], Vec::new())),
        [count, "masters", ..] | [count, "independent", "masters"] => match count.parse() {
            Ok(count @ 1..=MOST_MASTERS) => {
                Ok(((1..=count).map(|number| format!("n{number}")).collect(), Vec::new()))
            }
            _ => Err(unknown()),
        },
        ["master", ..] => {
            let nodes = followed(transcript, &words);
            // The first is the master; without a name for it, a replica would stand in its place.
            if nodes.0.is_empty() || nodes.1.contains(&0) { Err(unknown()) } else { Ok(nodes) }
        }
        _ => Err(unknown()),
    }
}

/// `master m + replica r`: a name stands behind what it is. Further replicas are words that
/// steps name as servers.
fn followed(transcript: &Transcript, words: &[String]) -> (Vec<String>, Vec<usize>) {
    let mut names: Vec<String> = Vec::new();
    let mut replicas = Vec::new();
    let is_name = |word: &str| {
        transcript.steps.iter().any(|step| {
            let named = |value: &serde_json::Value| match value {
                serde_json::Value::String(text) => text == word,
                serde_json::Value::Array(list) => list.iter().any(|v| v == word),
                _ => false,
            };
            step.node.as_deref() == Some(word)
                || (step.client == "env" && step.args.values().any(named))
        })
    };
    let mut role = "";
    let mut before = "";
    for word in words {
        let close = matches!(before, "master" | "replica");
        before = word;
        match word.as_str() {
            "master" | "replica" | "replicas" => role = word,
            name if !name.is_empty()
                && !role.is_empty()
                && (close || is_name(name))
                && !names.iter().any(|n| n == name) =>
            {
                if role.starts_with("replica") {
                    replicas.push(names.len());
                }
                names.push(name.into());
            }
            _ => {}
        }
    }
    (names, replicas)
}
