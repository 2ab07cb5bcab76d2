//! Drives the world of a transcript step by step, and compares what it does with what was recorded.

use serde_json::Value;

use super::argv::parse;
use super::compare::{Did, Difference, Symbols, compare, told};
use super::names::changes_nothing;
use super::redlock::Tries;
use super::stage::{Heard, Stage, span};
use super::transcript::{Event, Step, Transcript};
use crate::sim::{CrashKind, Fault, Micros, ProcId};
use crate::systems::redis::{Command, Reply};

/// How long an answer may take before a step counts as blocked.
const SETTLE: Micros = Micros::from_millis(150);
/// How long the replay waits for what was recorded to come.
const PATIENCE: Micros = Micros::from_secs(60);

/// What became of a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// All as recorded.
    Passed,
    /// What differs, a sentence each.
    Failed(Vec<String>),
    /// What is not modelled, by name.
    NotModelled(String),
}

/// A step's answer that has not come yet.
#[derive(Debug)]
struct Open {
    request: u64,
    step: u64,
    client: ProcId,
    server: ProcId,
}

/// What a client heard beside the answers to its steps.
#[derive(Clone, Debug)]
enum Late {
    Push(Reply),
    Answer(u64, Did),
}

/// A transcript on stage.
pub struct Drive<'t> {
    transcript: &'t Transcript,
    stage: Stage,
    tries: Tries,
    symbols: Symbols,
    open: Vec<Open>,
    late: Vec<(ProcId, Late)>,
    /// The answers that came, by request.
    answers: Vec<(u64, Reply)>,
    closed: Vec<(ProcId, ProcId)>,
    /// Who is in a transaction, and with which server.
    queueing: Vec<(String, Option<String>)>,
    /// The step after which nobody knows what the servers hold.
    unknown_after: Option<u64>,
}

impl<'t> Drive<'t> {
    /// The transcript's world.
    ///
    /// # Errors
    /// What of it is not modelled.
    pub fn new(transcript: &'t Transcript) -> Result<Drive<'t>, String> {
        Ok(Drive {
            transcript,
            stage: Stage::new(transcript)?,
            tries: Tries::default(),
            symbols: Symbols::default(),
            open: Vec::new(),
            late: Vec::new(),
            answers: Vec::new(),
            closed: Vec::new(),
            queueing: Vec::new(),
            unknown_after: None,
        })
    }

    /// Plays all steps, each with its verdict.
    pub fn play(&mut self) -> Vec<Verdict> {
        let transcript = self.transcript;
        transcript.steps.iter().map(|step| self.step(step)).collect()
    }

    /// The relations of the last line that do not hold, or are not known.
    pub fn relations(&self) -> Vec<Verdict> {
        let judge = |text: &String| match self.symbols.relation(text) {
            Ok(true) => Verdict::Passed,
            Ok(false) => Verdict::Failed(vec![format!("`{text}` does not hold")]),
            Err(Difference::NotModelled(what)) => Verdict::NotModelled(what),
            Err(Difference::Other) => Verdict::Failed(vec![format!("`{text}` does not hold")]),
        };
        self.transcript.order.iter().map(judge).collect()
    }

    fn step(&mut self, step: &Step) -> Verdict {
        if let Some(number) = self.unknown_after {
            return Verdict::NotModelled(format!(
                "it is after step {number}, which is not modelled"
            ));
        }
        let did = match self.act(step) {
            Ok(did) => did,
            Err(name) => {
                self.loses_track(step);
                return Verdict::NotModelled(name);
            }
        };
        self.notes_transaction(step);
        let mut wrong = Vec::new();
        match compare(&step.reply, &did, &mut self.symbols) {
            Ok(()) => {}
            Err(Difference::NotModelled(what)) => return Verdict::NotModelled(what),
            Err(Difference::Other) => {
                let said = said(&step.reply);
                wrong.push(format!("recorded {said}, the simulated server: {}", told(&did)));
            }
        }
        match self.events(step) {
            Ok(differences) => wrong.extend(differences),
            Err(name) => return Verdict::NotModelled(name),
        }
        if wrong.is_empty() { Verdict::Passed } else { Verdict::Failed(wrong) }
    }

    /// A step was not played. It may have changed its connection, and what that connection does next
    /// may change what all others see: whatever comes later would be judged by guess, unless the
    /// step is known to have changed nothing.
    fn loses_track(&mut self, step: &Step) {
        let concluded = step.name.starts_with("REDLOCK_");
        let looks = step.argv.as_deref().is_some_and(changes_nothing);
        let queued = self.queueing.contains(&(step.client.clone(), step.node.clone()));
        if !concluded && (!looks || queued || !step.events.is_empty()) {
            self.unknown_after = Some(step.number);
        }
    }

    /// Remembers who is in a transaction: a command that is not played is missing in it.
    fn notes_transaction(&mut self, step: &Step) {
        let connection = (step.client.clone(), step.node.clone());
        match step.name.to_ascii_uppercase().as_str() {
            "MULTI" => self.queueing.push(connection),
            "EXEC" | "DISCARD" => self.queueing.retain(|queueing| *queueing != connection),
            _ => {}
        }
    }

    fn act(&mut self, step: &Step) -> Result<Did, String> {
        match step.client.as_str() {
            "env" => self.change(step),
            "harness" => Err(format!("the experiment {}", step.name)),
            _ if step.name.starts_with("REDLOCK_") => {
                self.tries.decide(step, self.stage.servers(), self.stage.now())
            }
            _ => self.ask(step),
        }
    }

    /// A client's command.
    fn ask(&mut self, step: &Step) -> Result<Did, String> {
        let argv = step.argv.as_ref().ok_or_else(|| step.name.clone())?;
        let ports = |port: &str| self.stage.on_port(port);
        let command = parse(argv, self.stage.version, &ports)?;
        let server = self.node(step.node.as_deref())?;
        let client = self.stage.find(&step.client).ok_or("a client without a name")?;
        let timeout = span(timeout_of(step))?;
        self.tries.asks(step, &command, self.stage.now());
        if self.stage.is_down(server) {
            return Ok(Did::ConnectionRefused);
        }
        let request = self.stage.say(client, server, command.clone());
        self.closed.clear();
        let recorded = step.reply.get("type").and_then(Value::as_str).unwrap_or_default();
        let patience = match recorded {
            "blocked" => SETTLE,
            "client_timeout" => timeout,
            _ => PATIENCE,
        };
        let did = self.wait(client, server, request, patience, recorded == "client_timeout");
        if matches!(did, Did::Blocked) {
            self.open.push(Open { request, step: step.number, client, server });
        }
        self.tries.hears(step, &command, &did);
        self.stage.settle();
        Ok(did)
    }

    fn wait(
        &mut self,
        client: ProcId,
        server: ProcId,
        request: u64,
        patience: Micros,
        gives_up: bool,
    ) -> Did {
        let until = self.stage.now().plus(patience);
        loop {
            let more = self.stage.step_until(until);
            self.listen();
            if let Some(place) = self.answers.iter().position(|a| a.0 == request) {
                return Did::Answered(self.answers.remove(place).1);
            }
            if self.closed.contains(&(client, server)) {
                return Did::ConnectionClosed;
            }
            if !more {
                break;
            }
        }
        if gives_up {
            self.stage.hang_up(client, server);
            return Did::TimedOut(patience.0 / 1_000);
        }
        Did::Blocked
    }

    /// Sorts what reached the clients.
    fn listen(&mut self) {
        while let Some((client, heard)) = self.stage.hear() {
            match heard {
                Heard::Answer(request, reply) => {
                    match self.open.iter().position(|open| open.request == request) {
                        Some(place) => {
                            let step = self.open.remove(place).step;
                            self.late.push((client, Late::Answer(step, Did::Answered(reply))));
                        }
                        None => self.answers.push((request, reply)),
                    }
                }
                Heard::Push(reply) => self.late.push((client, Late::Push(reply))),
                Heard::Closed(server) => {
                    self.closed.push((client, server));
                    let mine = |open: &Open| (open.client, open.server) == (client, server);
                    for open in self.open.extract_if(.., |open| mine(open)) {
                        let closed = Late::Answer(open.step, Did::ConnectionClosed);
                        self.late.push((client, closed));
                    }
                }
            }
        }
    }

    /// What came unasked after a step, against what was recorded. Within one client the order is
    /// that of the wire; clients have none among each other.
    fn events(&mut self, step: &Step) -> Result<Vec<String>, String> {
        let until = self.stage.now().plus(PATIENCE);
        let mut clients: Vec<&str> = step.events.iter().map(|e| e.client.as_str()).collect();
        clients.dedup();
        loop {
            self.listen();
            let all_there = clients.iter().all(|name| {
                let wanted = step.events.iter().filter(|e| e.client == *name).count();
                let client = self.stage.find(name);
                self.late.iter().filter(|late| Some(late.0) == client).count() >= wanted
            });
            if all_there || !self.stage.step_until(until) {
                break;
            }
        }
        self.listen();
        let mut wrong = Vec::new();
        let mut heard = std::mem::take(&mut self.late);
        for event in &step.events {
            let client = self.stage.find(&event.client);
            match heard.iter().position(|late| Some(late.0) == client) {
                None => {
                    wrong.push(format!("line {}: nothing came to {}", event.line, event.client))
                }
                Some(place) => {
                    let late = heard.remove(place).1;
                    wrong.extend(self.event(event, &late)?);
                }
            }
        }
        for (client, late) in heard {
            let (name, what) = (self.stage.name(client), told_late(&late));
            wrong.push(format!("{what} came to {name}, of which nothing is recorded here"));
        }
        Ok(wrong)
    }

    fn event(&mut self, event: &Event, late: &Late) -> Result<Option<String>, String> {
        let kind = event.what.get("type").and_then(Value::as_str).unwrap_or_default();
        let compared = match (kind, late) {
            ("late_reply", Late::Answer(step, did)) => {
                let same_step = event.what.get("to_step").and_then(Value::as_u64) == Some(*step);
                let recorded = event.what.get("reply").cloned().unwrap_or_default();
                let same_step = if same_step { Ok(()) } else { Err(Difference::Other) };
                compare(&recorded, did, &mut self.symbols).and(same_step)
            }
            ("pubsub", Late::Push(reply)) => {
                let message = event.what.get("message").cloned().unwrap_or_default();
                let recorded = serde_json::json!({ "type": "array", "value": message });
                compare(&recorded, &Did::Answered(reply.clone()), &mut self.symbols)
            }
            ("late_reply" | "pubsub", _) => Err(Difference::Other),
            (other, _) => return Err(format!("the event of type `{other}`")),
        };
        match compared {
            Ok(()) => Ok(None),
            Err(Difference::NotModelled(what)) => Err(what),
            Err(Difference::Other) => Ok(Some(format!(
                "line {}: recorded {}, the simulated server: {}",
                event.line,
                said(&event.what),
                told_late(late),
            ))),
        }
    }

    /// A change of the world.
    fn change(&mut self, step: &Step) -> Result<Did, String> {
        let ms = || step.args.get("ms").and_then(Value::as_i64).ok_or("a time without `ms`");
        let passing = || ms().map_err(String::from).and_then(span);
        let node = |drive: &Drive<'_>| {
            let name = step.args.get("node").and_then(Value::as_str);
            drive.node(name)
        };
        match step.name.as_str() {
            "note" => {}
            "advance" => self.stage.pass(passing()?),
            "no_event_within" => return self.silence(step, passing()?),
            "kill" | "power_off" => {
                let how = crash(step)?;
                let node = node(self)?;
                self.stage.strike(&Fault::Crash(node, how));
            }
            "restart" => {
                let node = node(self)?;
                self.stage.strike(&Fault::Restart(node));
            }
            "exited" => {
                let node = node(self)?;
                let until = self.stage.now().plus(PATIENCE);
                while !self.stage.is_down(node) && self.stage.step_until(until) {}
                if !self.stage.is_down(node) {
                    return Ok(Did::Failed("the server still runs".into()));
                }
            }
            "suspend" => {
                let node = node(self)?;
                self.stage.stop(node);
            }
            "resume" => {
                let node = node(self)?;
                self.stage.let_go(node);
            }
            "clock_step" => {
                let node = node(self)?;
                let ms = ms()?;
                span(ms.saturating_abs())?;
                self.stage.strike(&Fault::ClockStep(node, ms * 1_000));
            }
            "partition" => {
                let ways = self.ways(step)?;
                self.stage.strike(&Fault::Cut(ways, None));
            }
            "heal" => {
                let ways = self.ways(step)?;
                self.stage.strike(&Fault::Heal(ways));
            }
            "drop_connection" => self.drop_connection(step)?,
            "replication_established" => return self.replication(step),
            other => return Err(format!("the change of the world `{other}`")),
        }
        self.stage.settle();
        self.listen();
        Ok(Did::Done)
    }

    fn node(&self, name: Option<&str>) -> Result<ProcId, String> {
        self.stage.server(name).ok_or_else(|| match name {
            Some(name) => format!("a server `{name}`, which nobody has started"),
            None => "a command to one of several servers, which is not named".into(),
        })
    }

    /// Both directions between all pairs that are named; between one node and all others; without
    /// names, between all.
    fn ways(&self, step: &Step) -> Result<Vec<(ProcId, ProcId)>, String> {
        let all = || (0..self.stage.observer().0).map(ProcId);
        if let Some(name) = step.args.get("node").and_then(Value::as_str) {
            let node = self.node(Some(name))?;
            let others = all().filter(|other| *other != node);
            return Ok(others.flat_map(|other| [(node, other), (other, node)]).collect());
        }
        let named: Vec<ProcId> = match step.args.get("between").and_then(Value::as_array) {
            Some(names) => {
                let find = |name: &Value| {
                    let name = name.as_str().unwrap_or_default();
                    self.stage.find(name).ok_or_else(|| format!("a node `{name}`"))
                };
                names.iter().map(find).collect::<Result<_, _>>()?
            }
            None if step.args.is_empty() && step.name == "heal" => all().collect(),
            None => return Err(format!("{} without `between`", step.name)),
        };
        let pairs = named.iter().flat_map(|a| named.iter().map(move |b| (*a, *b)));
        Ok(pairs.filter(|(a, b)| a != b).collect())
    }

    fn silence(&mut self, step: &Step, span: Micros) -> Result<Did, String> {
        let name = step.args.get("client").and_then(Value::as_str);
        let client = name.and_then(|name| self.stage.find(name));
        let client = client.ok_or("a silence of nobody")?;
        self.stage.pass(span);
        self.listen();
        let heard = self.late.iter().any(|late| late.0 == client);
        Ok(if heard { Did::Failed("something came meanwhile".into()) } else { Did::Done })
    }

    fn drop_connection(&mut self, step: &Step) -> Result<(), String> {
        let name = step.args.get("client").and_then(Value::as_str);
        let client = name.and_then(|name| self.stage.find(name));
        let client = client.ok_or("drop_connection without `client`")?;
        let node = step.args.get("node").and_then(Value::as_str);
        let servers: Vec<ProcId> = match node {
            Some(_) => vec![self.node(node)?],
            None => (0..self.stage.servers() as u16).map(ProcId).collect(),
        };
        for server in servers.into_iter().filter(|s| !self.stage.is_down(*s)).collect::<Vec<_>>() {
            self.stage.hang_up(client, server);
        }
        Ok(())
    }

    /// Waits until a replica follows its master and has all that the master has.
    fn replication(&mut self, step: &Step) -> Result<Did, String> {
        let text = |name: &str| step.args.get(name).and_then(Value::as_str);
        let (master, replica) = (self.node(text("master"))?, self.node(text("replica"))?);
        let until = self.stage.now().plus(PATIENCE);
        while self.stage.now() < until {
            let of_replica = self.role(replica);
            let of_master = self.role(master);
            if follows(&of_replica, master) && is_followed(&of_master, &of_replica) {
                return Ok(Did::Done);
            }
            self.stage.pass(Micros::from_millis(10));
        }
        Ok(Did::Failed("the replica does not follow".into()))
    }

    fn role(&mut self, server: ProcId) -> Vec<Reply> {
        let observer = self.stage.observer();
        if self.stage.is_down(server) {
            return Vec::new();
        }
        let request = self.stage.say(observer, server, Command::Role);
        match self.wait(observer, server, request, SETTLE, true) {
            Did::Answered(Reply::Array(replies)) => replies,
            _ => Vec::new(),
        }
    }
}

/// Whether a `ROLE` is that of a replica which has its master's keys.
fn follows(role: &[Reply], master: ProcId) -> bool {
    match role {
        [Reply::Bulk(what), Reply::Number(of), Reply::Bulk(link), _] => {
            what.to_string() == "slave"
                && *of == i64::from(master.0)
                && link.to_string() == "connected"
        }
        _ => false,
    }
}

/// Whether a `ROLE` is that of a master with a replica as far as this one.
fn is_followed(role: &[Reply], replica: &[Reply]) -> bool {
    match (role, replica.last()) {
        ([_, Reply::Number(offset), Reply::Array(acked)], Some(Reply::Number(reached))) => {
            offset == reached && acked.contains(&Reply::Number(*offset))
        }
        _ => false,
    }
}

fn crash(step: &Step) -> Result<CrashKind, String> {
    if step.name == "power_off" {
        return Ok(CrashKind::Power);
    }
    match step.args.get("signal").and_then(Value::as_str) {
        None | Some("SIGKILL") => Ok(CrashKind::Kill),
        Some("SIGTERM" | "SIGINT") => Ok(CrashKind::Clean),
        Some(other) => Err(format!("the signal {other}")),
    }
}

fn timeout_of(step: &Step) -> i64 {
    step.reply.get("ms").and_then(Value::as_i64).unwrap_or(150)
}

/// What was recorded, without its type.
fn said(recorded: &Value) -> String {
    let mut text = String::new();
    if let Some(fields) = recorded.as_object() {
        for (name, value) in fields.iter().filter(|field| field.0 != "message") {
            if !text.is_empty() {
                text.push(' ');
            }
            match (name.as_str(), value) {
                ("type", Value::String(kind)) => text += kind,
                (_, value) => text += &format!("{name} {value}"),
            }
        }
    }
    text
}

fn told_late(late: &Late) -> String {
    match late {
        Late::Push(reply) => told(&Did::Answered(reply.clone())),
        Late::Answer(step, did) => format!("{} in answer to step {step}", told(did)),
    }
}
