//! A client with a library in it, as far as transcripts need one: kazoo, which keeps its session with
//! pings, tells its application in which state its connection is, and works while it counts on its
//! lock.
//!
//! Source: kazoo 2.11, `protocol/connection.py`: it reads for two thirds of the time-out, pings after
//! half of that, gives a connection up whose ping is not answered by the next one, and begins a new
//! session when it hears that the old one is over.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::{Value, json};

use super::super::args::Args;
use super::super::compare::Did;
use super::super::drive::Drive;
use super::super::protocol::NotModelled;
use super::super::stage::{Named, span};
use super::super::transcript::{Step, Transcript};
use super::answers::Said;
use super::{Push, ZooKeeper, ops};
use crate::sim::{
    Actor, ClockKind, Clocks, ConnId, CrashKind, Cx, Fault, Local, Micros, ProcId, TimerId,
};
use crate::systems::zookeeper::{Code, Packet, Password, Path, Reply, Request, SessionId, Zxid};
use crate::systems::{Body, Fact, Locks, Settings};

/// How often the application does a piece of work while it counts on its lock.
const WORK: Micros = Micros::from_millis(5);
/// How long the library waits until it tries another server.
const RETRY: Micros = Micros::from_millis(100);

/// Timers.
const PING: u64 = 1;
const TICK: u64 = 2;
const AGAIN: u64 = 3;

/// What the application has heard and done since it last went on.
#[derive(Clone, Default, Debug)]
struct Pages {
    states: Vec<&'static str>,
    /// The answer to its create.
    created: Option<Result<Path, Code>>,
    work: u64,
    /// It went on, and has not yet looked after its lock's node.
    woken: bool,
    ops: Vec<(&'static str, String)>,
}

/// What the application has heard and done; the replay reads it.
#[derive(Clone, Default, Debug)]
pub struct Diary(Rc<RefCell<Pages>>);

/// What the application is told to do.
#[derive(Clone, Debug)]
enum Wish {
    Create(Micros, Request),
    /// It has just gone on: it will look after its lock's node.
    Look,
}

/// The library and its application.
#[derive(Clone, Debug)]
struct Kazoo {
    servers: usize,
    /// The place of the server to which it is connected, or tries to be.
    at: usize,
    timeout: Micros,
    session: Option<(SessionId, Password)>,
    seen: Zxid,
    connected: bool,
    pinged: bool,
    timer: Option<TimerId>,
    works: bool,
    wish: Option<Request>,
    own: Option<Path>,
    diary: Diary,
}

/// The clients of a transcript that are such ones.
pub fn minds(transcript: &Transcript) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for step in transcript.steps.iter().filter(|step| step.name.starts_with("kazoo.")) {
        if !names.contains(&step.client) {
            names.push(step.client.clone());
        }
    }
    names
}

/// One of them, and what it writes down.
pub fn mind(name: &str, servers: usize) -> (Named, Diary) {
    let diary = Diary::default();
    let kazoo = Kazoo {
        servers,
        at: 0,
        timeout: Micros::ZERO,
        session: None,
        seen: Zxid(0),
        connected: false,
        pinged: false,
        timer: None,
        works: false,
        wish: None,
        own: None,
        diary: diary.clone(),
    };
    ((name.into(), Box::new(kazoo)), diary)
}

/// What an application asks of its library.
pub fn asked(
    drive: &mut Drive<'_, ZooKeeper>,
    client: ProcId,
    step: &Step,
) -> Result<Did<Said>, NotModelled> {
    if step.name != "kazoo.create" {
        return Err(step.name.clone());
    }
    let mut fields = step.args.clone();
    // Where nothing else is said, the node of its lock holds its name.
    fields.entry("data").or_insert_with(|| step.client.clone().into());
    let args = Args::new("create", &fields);
    let timeout = span(args.number("timeout_ms")?)?;
    let request = ops::request(&args, &|_| Ok(Zxid(0)))?;
    let wish = Body::new("wish", 0, Wish::Create(timeout, request));
    drive.stage.strike(&Fault::Outside(client, wish));
    let Some(diary) = drive.protocol.diaries.get(&client).cloned() else {
        return Err(step.name.clone());
    };
    drive.wait_until(|_| diary.0.borrow().created.is_some());
    drive.stage.settle();
    let pages = diary.0.borrow();
    Ok(match &pages.created {
        Some(Ok(path)) => Did::Answered(Said(json!({
            "type": "ok", "path": path.as_str(), "states_so_far": pages.states,
        }))),
        Some(Err(code)) => Did::Answered(Said(json!({
            "type": "error", "code": code.number(), "error": code.name(),
        }))),
        None => Did::Blocked,
    })
}

/// A client is stopped: what its application will hear and do from when it goes on is written down.
pub fn suspended(drive: &Drive<'_, ZooKeeper>, client: ProcId) {
    if let Some(diary) = drive.protocol.diaries.get(&client) {
        *diary.0.borrow_mut() = Pages { woken: true, ..Pages::default() };
    }
}

/// A client went on after it had been stopped: what its application hears and does is an event of the
/// step, where one is recorded.
pub fn resumed(drive: &mut Drive<'_, ZooKeeper>, client: ProcId, step: &Step) {
    let name = drive.stage.name(client).to_string();
    let Some(diary) = drive.protocol.diaries.get(&client).cloned() else { return };
    if !step.events.iter().any(|e| e.client == name && text_of(&e.what) == "client_log") {
        return;
    }
    let look = Body::new("wish", 0, Wish::Look);
    drive.stage.strike(&Fault::Outside(client, look));
    drive.wait_until(|_| !diary.0.borrow().woken);
    let pages = diary.0.borrow();
    let ops: Vec<_> = pages.ops.iter().map(|(what, outcome)| json!([what, outcome])).collect();
    let log = json!({
        "type": "client_log",
        "work_done_while_believing_it_holds_the_lock_after_resume": pages.work,
        "states": pages.states,
        "ops": ops,
    });
    drive.hears_unasked(client, Push::Log(log));
}

fn text_of(what: &Value) -> &str {
    what.get("type").and_then(Value::as_str).unwrap_or_default()
}

impl Kazoo {
    fn server(&self) -> ProcId {
        ProcId(self.at as u16)
    }

    fn say(&mut self, cx: &mut Cx<'_, Locks>, request: Request) {
        let body = Body::new(request.name(), 0, Packet::Ask(request.into()));
        cx.ask(self.server(), body, None);
    }

    fn state(&mut self, state: &'static str) {
        self.diary.0.borrow_mut().states.push(state);
    }

    fn connect(&mut self, cx: &mut Cx<'_, Locks>) {
        let connect =
            Request::Connect { session: self.session, timeout: self.timeout, seen: self.seen };
        self.say(cx, connect);
        self.alarm(cx, RETRY, AGAIN);
    }

    fn alarm(&mut self, cx: &mut Cx<'_, Locks>, span: Micros, key: u64) {
        if let Some(timer) = self.timer.take() {
            cx.cancel(timer);
        }
        let deadline = Local(cx.clock(ClockKind::Mono).0.saturating_add_unsigned(span.0));
        self.timer = Some(cx.timer(ClockKind::Mono, deadline, key));
    }

    /// After a third of the time-out without a word it pings.
    fn listen(&mut self, cx: &mut Cx<'_, Locks>) {
        self.alarm(cx, Micros(self.timeout.0 / 3), PING);
    }

    fn work(&mut self, cx: &mut Cx<'_, Locks>) {
        let deadline = Local(cx.clock(ClockKind::Mono).0.saturating_add_unsigned(WORK.0));
        cx.timer(ClockKind::Mono, deadline, TICK);
    }

    /// The connection is lost: the application stops counting on its lock.
    fn is_suspended(&mut self, cx: &mut Cx<'_, Locks>) {
        if self.connected {
            (self.connected, self.pinged, self.works) = (false, false, false);
            self.state("SUSPENDED");
        }
        cx.abandon(self.server());
        self.at = (self.at + 1) % self.servers.max(1);
        self.alarm(cx, RETRY, AGAIN);
    }

    fn is_connected(&mut self, cx: &mut Cx<'_, Locks>) {
        self.connected = true;
        self.state("CONNECTED");
        self.listen(cx);
        if let Some(wish) = self.wish.clone() {
            self.say(cx, wish);
        }
        self.look(cx);
    }

    /// It looks after the node of its lock, once each time that it went on.
    fn look(&mut self, cx: &mut Cx<'_, Locks>) {
        let own = self.own.clone().filter(|_| self.connected && self.diary.0.borrow().woken);
        if let Some(path) = own {
            self.say(cx, Request::SetData { path, data: "mine".into(), version: None });
        }
    }

    fn answered(&mut self, cx: &mut Cx<'_, Locks>, reply: &Reply) {
        match reply {
            Reply::Connected { session, password, timeout } => {
                self.session = Some((*session, *password));
                self.timeout = *timeout;
                self.is_connected(cx);
            }
            Reply::Expired => {
                self.session = None;
                self.state("LOST");
                cx.abandon(self.server());
                self.connect(cx);
            }
            Reply::Created(path, _) => {
                (self.wish, self.own, self.works) = (None, Some(path.clone()), true);
                self.diary.0.borrow_mut().created = Some(Ok(path.clone()));
                self.work(cx);
            }
            Reply::Error(code) if self.wish.take().is_some() => {
                self.diary.0.borrow_mut().created = Some(Err(*code));
            }
            Reply::Stat(_) => self.looked("ok".into()),
            Reply::Error(code) => self.looked(format!("{}Error", code.name())),
            _ => self.pinged = false,
        }
    }

    fn looked(&mut self, outcome: String) {
        let mut pages = self.diary.0.borrow_mut();
        if std::mem::take(&mut pages.woken) {
            pages.ops.push(("setData own lock node", outcome));
        }
    }
}

impl Actor<Locks> for Kazoo {
    fn boxed(&self) -> Box<dyn Actor<Locks>> {
        Box::new(self.clone())
    }

    fn on_message(&mut self, cx: &mut Cx<'_, Locks>, from: ProcId, _: ConnId, body: &Body) {
        if from != self.server() {
            return;
        }
        match body.get::<Packet>() {
            Some(Packet::Answer(reply, zxid)) => {
                self.seen = self.seen.max(*zxid);
                if self.connected {
                    self.listen(cx);
                }
                self.answered(cx, &reply.clone());
            }
            Some(Packet::Close) if self.connected || self.session.is_some() => {
                self.is_suspended(cx);
            }
            _ => {}
        }
    }

    fn on_outside(&mut self, cx: &mut Cx<'_, Locks>, body: &Body) {
        match body.get::<Wish>() {
            Some(Wish::Create(timeout, request)) => {
                self.wish = Some(request.clone());
                if self.connected {
                    self.say(cx, request.clone());
                } else {
                    self.timeout = *timeout;
                    self.connect(cx);
                }
            }
            Some(Wish::Look) => self.look(cx),
            None => {}
        }
    }

    fn on_timer(&mut self, cx: &mut Cx<'_, Locks>, key: u64) {
        match key {
            TICK if self.works => {
                self.diary.0.borrow_mut().work += 1;
                self.work(cx);
            }
            PING if self.connected && self.pinged => self.is_suspended(cx),
            PING if self.connected => {
                self.pinged = true;
                self.say(cx, Request::Ping);
                self.listen(cx);
            }
            AGAIN if !self.connected => self.connect(cx),
            _ => {}
        }
    }

    fn on_closed(&mut self, cx: &mut Cx<'_, Locks>, peer: ProcId, _: ConnId) {
        if peer == self.server() {
            self.is_suspended(cx);
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
