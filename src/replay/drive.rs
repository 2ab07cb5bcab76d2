//! Drives the world of a transcript step by step, and compares what it does with what was recorded.

use serde_json::Value;

use super::args::Args;
use super::compare::{Did, Difference, Symbols, compare, told};
use super::deed::{self, Deed, all_known};
use super::protocol::{NotModelled, Protocol, Word};
use super::stage::{Heard, Stage, span};
use super::transcript::{Event, Step, Transcript};
use crate::sim::{Micros, ProcId};

/// How long the replay waits for what was recorded to come.
pub const PATIENCE: Micros = Micros::from_secs(60);

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
#[derive(Debug)]
enum Late<P: Protocol> {
    Push(P::Push),
    Answer(u64, Did<P::Said>),
}

/// A transcript on stage.
pub struct Drive<'t, P: Protocol> {
    transcript: &'t Transcript,
    /// Its world.
    pub stage: Stage,
    /// What is kept beside the world.
    pub protocol: P,
    /// Values that were recorded by name.
    pub symbols: Symbols,
    open: Vec<Open>,
    late: Vec<(ProcId, Late<P>)>,
    /// The answers that came, by request.
    answers: Vec<(u64, P::Said)>,
    closed: Vec<(ProcId, ProcId)>,
    /// The step after which nobody knows what the servers hold.
    unknown_after: Option<u64>,
}

impl<'t, P: Protocol> Drive<'t, P> {
    /// The transcript's world.
    ///
    /// # Errors
    /// What of it is not modelled.
    pub fn new(transcript: &'t Transcript, turn: usize) -> Result<Drive<'t, P>, NotModelled> {
        let (protocol, stage) = P::open(transcript, turn)?;
        Ok(Drive {
            transcript,
            stage,
            protocol,
            symbols: Symbols::default(),
            open: Vec::new(),
            late: Vec::new(),
            answers: Vec::new(),
            closed: Vec::new(),
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
        let judge = |text: &String| match self.symbols.relation(text, P::function) {
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
                // It may have changed its connection, and what that connection does next may change
                // what all others see: whatever comes later would be judged by guess.
                if !step.events.is_empty() || !self.protocol.changes_nothing(step) {
                    self.unknown_after = Some(step.number);
                }
                return Verdict::NotModelled(name);
            }
        };
        self.protocol.played(step);
        let mut wrong = Vec::new();
        let mut unknown = None;
        match compare::<P>(&step.reply, &did, &mut self.symbols) {
            Ok(()) => {}
            Err(Difference::NotModelled(what)) => unknown = Some(what),
            Err(Difference::Other) => {
                let said = said(&step.reply);
                wrong.push(format!("recorded {said}, the simulated server: {}", told::<P>(&did)));
            }
        }
        // What came is accounted for here whatever the answer was: the next step is not to find it.
        match self.events(step) {
            Ok(differences) => wrong.extend(differences),
            Err(name) => {
                unknown.get_or_insert(name);
            }
        }
        match unknown {
            // A difference that is certain stands before one that is not modelled.
            Some(what) if wrong.is_empty() => Verdict::NotModelled(what),
            _ if wrong.is_empty() => Verdict::Passed,
            _ => Verdict::Failed(wrong),
        }
    }

    fn act(&mut self, step: &Step) -> Result<Did<P::Said>, NotModelled> {
        if let Some(wrong) = &step.wrong {
            return Err(format!("a step {wrong}"));
        }
        if step.client != "env" {
            return P::ask(self, step);
        }
        if step.argv.is_some() || step.node.is_some() {
            return Err(format!("{} with `argv` or `node` beside its arguments", step.name));
        }
        self.change(step)
    }

    /// Waits for the answer to a request of a step, for as long as the record says.
    ///
    /// # Errors
    /// A span of time that cannot pass.
    pub fn answer(
        &mut self,
        step: &Step,
        client: ProcId,
        server: ProcId,
        request: u64,
    ) -> Result<Did<P::Said>, NotModelled> {
        let recorded = step.reply.get("type").and_then(Value::as_str).unwrap_or_default();
        let patience = match recorded {
            "blocked" => P::SETTLE,
            "client_timeout" => {
                let ms = step.reply.get("ms").and_then(Value::as_i64);
                span(ms.ok_or("a client_timeout without whole `ms`")?)?
            }
            _ => PATIENCE,
        };
        let did = self.wait(client, server, request, patience, recorded == "client_timeout");
        if matches!(did, Did::Blocked) {
            self.open.push(Open { request, step: step.number, client, server });
        }
        Ok(did)
    }

    /// Waits for an answer, or for the end of the connection.
    pub fn wait(
        &mut self,
        client: ProcId,
        server: ProcId,
        request: u64,
        patience: Micros,
        gives_up: bool,
    ) -> Did<P::Said> {
        self.closed.clear();
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
            self.stage.hang_up(client, server, Some(P::farewell()));
            return Did::TimedOut(patience.0 / 1_000);
        }
        Did::Blocked
    }

    /// How many messages have come to a client unasked that no step has accounted for.
    pub fn unasked(&self, client: ProcId) -> usize {
        let push = |late: &&(ProcId, Late<P>)| late.0 == client && matches!(late.1, Late::Push(_));
        self.late.iter().filter(push).count()
    }

    /// Takes them out: an experiment accounts for them.
    pub fn take_unasked(&mut self, client: ProcId) -> Vec<P::Push> {
        let mine = self.late.extract_if(.., |late| late.0 == client);
        let pushes = mine.filter_map(|(_, late)| match late {
            Late::Push(push) => Some(push),
            Late::Answer(..) => None,
        });
        pushes.collect()
    }

    /// A client's library has told its application something.
    pub fn hears_unasked(&mut self, client: ProcId, push: P::Push) {
        self.late.push((client, Late::Push(push)));
    }

    /// Lets time pass until something is so, for as long as the replay waits; whether it is.
    pub fn wait_until(&mut self, mut is_so: impl FnMut(&mut Self) -> bool) -> bool {
        let until = self.stage.now().plus(PATIENCE);
        loop {
            self.listen();
            if is_so(self) {
                return true;
            }
            if !self.stage.step_until(until) {
                self.listen();
                return is_so(self);
            }
        }
    }

    /// Sorts what reached the clients.
    pub fn listen(&mut self) {
        while let Some((client, heard)) = self.stage.hear() {
            match heard {
                Heard::Closed(server) => self.is_closed(client, server),
                Heard::Message(server, body) => match P::word(&body) {
                    Some(Word::Answer(request, reply)) => self.is_answered(client, request, reply),
                    Some(Word::Push(push)) => self.late.push((client, Late::Push(push))),
                    Some(Word::Close) => {
                        self.stage.hang_up(client, server, None);
                        self.is_closed(client, server);
                    }
                    None => {}
                },
            }
        }
    }

    fn is_answered(&mut self, client: ProcId, request: u64, reply: P::Reply) {
        let late = self.open.iter().position(|open| open.request == request);
        // What came before a late answer stands before it in the record.
        let before = if late.is_some() { 0 } else { self.unasked(client) };
        let said = self.protocol.said(request, reply, before);
        match late {
            Some(place) => {
                let step = self.open.remove(place).step;
                self.late.push((client, Late::Answer(step, Did::Answered(said))));
            }
            None => self.answers.push((request, said)),
        }
    }

    fn is_closed(&mut self, client: ProcId, server: ProcId) {
        self.closed.push((client, server));
        self.protocol.lost(client, server);
        let mine = |open: &Open| (open.client, open.server) == (client, server);
        for open in self.open.extract_if(.., |open| mine(open)) {
            let closed = Late::Answer(open.step, Did::ConnectionClosed);
            self.late.push((client, closed));
        }
    }

    /// What came unasked after a step, against what was recorded. Within one client the order is
    /// that of the wire; clients have none among each other.
    fn events(&mut self, step: &Step) -> Result<Vec<String>, NotModelled> {
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
        let any_order = P::any_order(self.transcript, step);
        for event in &step.events {
            let client = self.stage.find(&event.client);
            let mine = |late: &(ProcId, Late<P>)| Some(late.0) == client;
            let first = heard.iter().position(mine);
            let fits = |late: &(ProcId, Late<P>)| mine(late) && Self::fits(event, &late.1);
            let place = if any_order { heard.iter().position(fits).or(first) } else { first };
            match place {
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
            let name = self.stage.name(client);
            if P::awaited(self.transcript, step, name) {
                self.late.push((client, late));
                continue;
            }
            let what = told_late(&late);
            wrong.push(format!("{what} came to {name}, of which nothing is recorded here"));
        }
        Ok(wrong)
    }

    /// Whether what came is what this event tells, with no name bound by the look.
    fn fits(event: &Event, late: &Late<P>) -> bool {
        match late {
            Late::Push(push) => P::compare_push(event, push, &mut Symbols::default()).is_ok(),
            Late::Answer(step, _) => {
                event.what.get("to_step").and_then(Value::as_u64) == Some(*step)
            }
        }
    }

    fn event(&mut self, event: &Event, late: &Late<P>) -> Result<Option<String>, NotModelled> {
        if let Some(field) = &event.unknown {
            return Err(format!("an event with {field}"));
        }
        let kind = event.what.get("type").and_then(Value::as_str).unwrap_or_default();
        let compared = match (kind, late) {
            ("late_reply", Late::Answer(step, did)) => {
                all_known(&event.what, &["type", "to_step", "reply"], "a late reply")?;
                let same_step = event.what.get("to_step").and_then(Value::as_u64) == Some(*step);
                let recorded = event.what.get("reply").cloned().unwrap_or_default();
                let same_step = if same_step { Ok(()) } else { Err(Difference::Other) };
                compare::<P>(&recorded, did, &mut self.symbols).and(same_step)
            }
            ("late_reply", Late::Push(_)) => Err(Difference::Other),
            (other, _) if !P::knows_event(other) => {
                return Err(format!("the event of type `{other}`"));
            }
            (_, Late::Push(push)) => P::compare_push(event, push, &mut self.symbols),
            (_, Late::Answer(..)) => Err(Difference::Other),
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
    fn change(&mut self, step: &Step) -> Result<Did<P::Said>, NotModelled> {
        let args = Args::new(&step.name, &step.args);
        if let Some(did) = P::change(self, step, &args)? {
            return Ok(did);
        }
        let deed = deed::read(self, &args)?;
        let did = deed::does(self, &deed);
        if !matches!((&deed, &did), (Deed::Silence(..), _) | (_, Did::Failed(_))) {
            self.stage.settle();
            self.listen();
            return Ok(P::changed(self, step, &deed).unwrap_or(did));
        }
        Ok(did)
    }

    /// The server of that name, or the only one.
    ///
    /// # Errors
    /// Nobody has that name, or there are several and none is named.
    pub fn node(&self, name: Option<&str>) -> Result<ProcId, NotModelled> {
        P::server(self, name).ok_or_else(|| match name {
            Some(name) => format!("a server `{name}`, which nobody has started"),
            None => "a command to one of several servers, which is not named".into(),
        })
    }

    /// Whether somebody is one of the servers.
    pub fn is_server(&self, who: ProcId) -> bool {
        usize::from(who.0) < self.stage.servers()
    }

    /// Lets time pass; whether nothing came to a client meanwhile.
    pub fn is_silent(&mut self, client: ProcId, span: Micros) -> bool {
        self.stage.pass(span);
        self.listen();
        !self.late.iter().any(|late| late.0 == client)
    }

    /// A client closes its connection with a server, if there is one.
    pub fn hang_up(&mut self, client: ProcId, server: ProcId) {
        if !self.stage.is_down(server) {
            self.stage.hang_up(client, server, Some(P::farewell()));
            self.protocol.dropped(client, server);
        }
    }
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

fn told_late<P: Protocol>(late: &Late<P>) -> String {
    match late {
        Late::Push(push) => P::told_push(push),
        Late::Answer(step, did) => format!("{} in answer to step {step}", told::<P>(did)),
    }
}
