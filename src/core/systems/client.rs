//! The library behind a client's program: its words, its beliefs, its sections, its requests.
//!
//! A system adds only how it talks to its servers ([`LockClient`]); what a client believes and what
//! it does at the resource is the same for all of them.

use std::rc::Rc;

use super::desk::Desk;
use super::resource::{Condition, Reply, Request, Terms};
use super::settings::Settings;
use super::words::{Op, Step};
use super::{Body, Fact, Locks, Piece, Vocabulary};
use crate::judge::{
    Ask, BeliefEnd, CellId, LockId, Mode, Rejection, Section, SectionEnd, Testimony, Write,
};
use crate::sim::{
    Actor, ClockKind, Clocks, ConnId, CrashKind, Cx, Expr, Flow, Micros, Outcome, ProcId, TimerId,
    Waiting,
};

impl std::fmt::Debug for dyn LockClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LockClient")
    }
}

/// How a system's client library talks to its servers.
///
/// It sends requests, and says through the [`Desk`] when a belief begins or ends.
pub trait LockClient {
    /// A copy for a keyframe or a fork.
    fn boxed(&self) -> Box<dyn LockClient>;
    /// A task asks for a lock.
    fn acquire(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        task: usize,
        lock: LockId,
        mode: Mode,
        within: Option<Micros>,
    ) -> Flow;
    /// A task does one step of taking a lock by itself. Programs have such words only where
    /// [`super::System::stepless`] has no objection.
    fn step(
        &mut self,
        _cx: &mut Cx<'_, Locks>,
        _desk: &mut Desk,
        _task: usize,
        _lock: LockId,
        _mode: Mode,
        _step: Step,
    ) -> Flow {
        Flow::Done(Outcome::Refused)
    }
    /// A task asks for more time.
    fn renew(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, task: usize, lock: LockId)
    -> Flow;
    /// A task ends its grant.
    fn release(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        task: usize,
        lock: LockId,
    ) -> Flow;
    /// The process starts, for the first time or again: a library that keeps a connection opens it.
    fn on_start(&mut self, _cx: &mut Cx<'_, Locks>, _desk: &mut Desk) {}
    /// The process ends in order, with its program: a library takes its leave.
    fn on_exit(&mut self, _cx: &mut Cx<'_, Locks>, _desk: &mut Desk) {}
    /// A message from a server, on that connection.
    fn on_message(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        from: (ProcId, ConnId),
        body: &Body,
    );
    /// A timer whose key came from [`Desk::key`].
    fn on_timer(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, request: u64);
    /// That connection to a server is gone: what was asked on it, or on an older one, will not be
    /// answered.
    fn on_closed(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, peer: ProcId, conn: ConnId);
    /// The task whose wait a request belongs to, while it is open.
    fn task_of(&self, _request: u64) -> Option<usize> {
        None
    }
    /// The task whose wait a message of a server is about to end, where it answers no request.
    fn task_told(&self, _body: &Body) -> Option<usize> {
        None
    }
    /// What the library shows beside what its desk does, at this reading of the clocks.
    fn facts(&self, _now: Micros, _clocks: &Clocks) -> Vec<Fact> {
        Vec::new()
    }
    /// The process died.
    fn on_crash(&mut self);
    /// Settings changed.
    fn on_settings(&mut self, settings: &Settings);
}

impl Clone for Box<dyn LockClient> {
    fn clone(&self) -> Self {
        self.boxed()
    }
}

/// Open requests of a lock library, with their time-outs.
#[derive(Clone, Debug)]
pub struct Requests<T> {
    open: Vec<(u64, T, Option<TimerId>)>,
}

impl<T> Default for Requests<T> {
    fn default() -> Self {
        Requests { open: Vec::new() }
    }
}

impl<T> Requests<T> {
    /// Keeps a request; with `within`, its timer comes back under [`Desk::key`] of its number.
    pub fn add(&mut self, cx: &mut Cx<'_, Locks>, number: u64, within: Option<Micros>, what: T) {
        let timer = within.map(|span| {
            let deadline = cx.clock(ClockKind::Mono).plus(span);
            cx.timer(ClockKind::Mono, deadline, Desk::key(number))
        });
        self.open.push((number, what, timer));
    }

    /// Takes a request that was answered or timed out; an unknown one was given up before.
    pub fn take(&mut self, cx: &mut Cx<'_, Locks>, number: u64) -> Option<T> {
        let index = self.open.iter().position(|r| r.0 == number)?;
        let (_, what, timer) = self.open.remove(index);
        if let Some(timer) = timer {
            cx.cancel(timer);
        }
        Some(what)
    }

    /// Takes all requests of which this is true: their connection is gone.
    pub fn take_where(&mut self, cx: &mut Cx<'_, Locks>, lost: impl Fn(&T) -> bool) -> Vec<T> {
        let lost: Vec<u64> = self.open.iter().filter(|r| lost(&r.1)).map(|r| r.0).collect();
        lost.into_iter().filter_map(|number| self.take(cx, number)).collect()
    }

    /// An open request.
    pub fn get(&self, number: u64) -> Option<&T> {
        self.open.iter().find(|r| r.0 == number).map(|r| &r.1)
    }

    /// Forgets all; timers die with the process.
    pub fn clear(&mut self) {
        self.open.clear();
    }
}

/// What a program does at a resource.
#[derive(Clone, Debug)]
enum Deed {
    /// Reads into a local.
    Read {
        place: usize,
    },
    Write {
        value: i64,
        more: bool,
        condition: Option<Rc<Condition>>,
    },
    /// Claims, and then at the next resource that the lock guards.
    Claim,
}

#[derive(Clone, Copy, Debug)]
enum Call {
    Read { cell: CellId, place: usize },
    Write { cell: CellId, number: u32 },
    Claim { cell: CellId, within: Option<Micros> },
}

#[derive(Clone, Copy, Debug)]
struct OpenCall {
    number: u64,
    task: usize,
    section: Section,
    lock: LockId,
    home: ProcId,
    /// The connection that it went on.
    conn: Option<ConnId>,
    call: Call,
    timer: TimerId,
}

/// A client process.
#[derive(Clone, Debug)]
pub struct Client {
    desk: Desk,
    library: Box<dyn LockClient>,
    open: Vec<OpenCall>,
    /// Which cells a lock is taken for.
    under: Vec<(LockId, CellId)>,
    homes: Vec<ProcId>,
    /// What stands in front of the resources, unless this client goes around it.
    gateway: Option<ProcId>,
    bypasses: bool,
    id: Rc<str>,
    timeout: Micros,
}

impl Client {
    /// The client with this id, which talks to its lock service through `library`.
    pub fn new(
        id: &str,
        settings: &Settings,
        library: Box<dyn LockClient>,
        vocabulary: &Vocabulary,
    ) -> Client {
        Client {
            desk: Desk::new(settings),
            library,
            open: Vec::new(),
            under: vocabulary.locked(),
            homes: vocabulary.homes.clone(),
            gateway: vocabulary.gateway,
            bypasses: settings.name("gateway.bypass") == id,
            id: id.into(),
            timeout: settings.span("request.timeout"),
        }
    }

    fn check(&mut self, cx: &mut Cx<'_, Locks>, lock: LockId) -> Flow {
        let holds = self.desk.in_time(cx, lock);
        cx.note(Testimony::Check(lock, holds));
        if holds {
            return Flow::Done(Outcome::Ok);
        }
        self.desk.doubt(cx, lock, BeliefEnd::Deadline);
        Flow::Done(Outcome::Lost)
    }

    /// Sends a read, a write or a claim and waits for the answer.
    fn at_resource(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        task: usize,
        (cell, lock): (CellId, LockId),
        within: Option<Micros>,
        deed: Deed,
    ) -> Flow {
        let home = self.homes[usize::from(cell.0)];
        let mut op = self.desk.operation(cx, cell, lock);
        let number = self.desk.request();
        let site = (task, cx.pc(task));
        let (name, request, note, call) = match deed {
            Deed::Read { place } => {
                let call = Call::Read { cell, place };
                ("read", Request::Read(op), Testimony::Read(op), call)
            }
            Deed::Write { value, more, condition } => {
                let section = self.desk.section(cx);
                let write = Write { number: section.number_of(site, cell, value), value, more };
                let known = section.known.iter().find(|k| k.0 == cell).map(|k| k.1);
                let fresh = condition.as_deref() == Some(&Condition::Fresh);
                let request = Request::Write(op, write, Terms { known, condition });
                let call = Call::Write { cell, number: write.number };
                let name = if fresh { "insert" } else { "write" };
                (name, request, Testimony::Write(op, write), call)
            }
            Deed::Claim => {
                op.claims = true;
                let call = Call::Claim { cell, within };
                ("claim", Request::Claim(op), Testimony::Claim(op), call)
            }
        };
        let body = Body::new(name, number, request).with_token(op.token);
        let home = self.gateway.filter(|_| !self.bypasses).unwrap_or(home);
        cx.ask(home, body, Some(note));
        let conn = cx.connection(home);
        let until = cx.clock(ClockKind::Mono).plus(within.unwrap_or(self.timeout));
        let timer = cx.timer(ClockKind::Mono, until, number << 1 | 1);
        let section = op.section;
        self.open.push(OpenCall { number, task, section, lock, home, conn, call, timer });
        Flow::Wait(Waiting { verb: name, on: home, until: Some(until) })
    }

    /// A cell of the next resource that a lock is taken for, behind the resource of `after`.
    fn next_home(&self, lock: LockId, after: Option<CellId>) -> Option<CellId> {
        let home = |cell: usize| self.homes.get(cell).copied();
        let past = after.and_then(|cell| home(usize::from(cell.0)));
        let cells = self.under.iter().filter(|u| u.0 == lock).map(|u| u.1);
        // In the order of the resources, and each of them once.
        let behind = cells.filter(|c| past.is_none() || home(usize::from(c.0)) > past);
        behind.min_by_key(|c| (home(usize::from(c.0)), *c))
    }

    fn write(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        task: usize,
        cell: (CellId, LockId),
        within: Option<Micros>,
        (value, more, condition): (&Expr, bool, &Option<Rc<Condition>>),
    ) -> Flow {
        let value = value.eval(cx.locals());
        let condition = condition.as_ref().map(|condition| match condition.as_ref() {
            // The client's own numbers are known where it sends; the cells where it arrives.
            Condition::Cells(expr) => {
                let cells = self.homes.len();
                let local = |p: usize| cx.locals().get(p.checked_sub(cells)?).copied();
                Rc::new(Condition::Cells(expr.bound(&local)))
            }
            _ => condition.clone(),
        });
        self.at_resource(cx, task, cell, within, Deed::Write { value, more, condition })
    }

    fn take(&mut self, cx: &mut Cx<'_, Locks>, number: u64) -> Option<OpenCall> {
        let index = self.open.iter().position(|c| c.number == number)?;
        let call = self.open.remove(index);
        cx.cancel(call.timer);
        Some(call)
    }

    fn answered(&mut self, cx: &mut Cx<'_, Locks>, call: OpenCall, reply: Reply) {
        let outcome = match reply {
            Reply::Value(value, version, served) => {
                cx.note(Testimony::Learn(served));
                if let Call::Read { cell, place } = call.call {
                    cx.set_local(place, value);
                    self.know(call.section, cell, version);
                }
                Outcome::Ok
            }
            Reply::Accepted(version) => {
                cx.note(Testimony::Told(call.section, Outcome::Ok));
                if let Call::Write { cell, .. } = call.call {
                    self.know(call.section, cell, version);
                }
                Outcome::Ok
            }
            Reply::Claimed => {
                cx.note(Testimony::Told(call.section, Outcome::Ok));
                if let Call::Claim { cell, within } = call.call
                    && let Some(next) = self.next_home(call.lock, Some(cell))
                {
                    self.at_resource(cx, call.task, (next, call.lock), within, Deed::Claim);
                    return;
                }
                Outcome::Ok
            }
            Reply::Rejected(why) => {
                cx.note(Testimony::Told(call.section, Outcome::Rejected));
                self.refused(cx, &call, why);
                Outcome::Rejected
            }
        };
        cx.finish(call.task, outcome);
    }

    fn refused(&mut self, cx: &mut Cx<'_, Locks>, call: &OpenCall, why: Rejection) {
        if let Call::Write { number, .. } = call.call {
            let outdated = matches!(why, Rejection::Version | Rejection::Unmet(_));
            self.desk.refused(cx, call.section, number, outdated);
        }
        // Somebody else was granted the lock since, or the lock service says so.
        if matches!(why, Rejection::Lower(_) | Rejection::NotHolder) {
            self.desk.doubt(cx, call.lock, BeliefEnd::Refused);
        }
    }

    fn know(&mut self, section: Section, cell: CellId, version: u32) {
        if let Some(open) = self.desk.section.as_mut().filter(|s| s.name == section) {
            open.known.retain(|k| k.0 != cell);
            open.known.push((cell, version));
        }
    }

    fn unanswered(&mut self, cx: &mut Cx<'_, Locks>, call: OpenCall, outcome: Outcome) {
        let section = self.desk.section.as_mut().filter(|s| s.name == call.section);
        if let (Call::Write { number, .. }, Some(open)) = (call.call, section) {
            for written in open.written.iter_mut().filter(|w| w.number == number) {
                written.unanswered = true;
            }
        }
        cx.note(Testimony::Told(call.section, outcome));
        // Whoever gives up waiting gives the connection up: the next request opens a fresh one,
        // and what is on the old one may still arrive after it.
        cx.hang_up(call.home, call.conn);
        cx.finish(call.task, outcome);
    }
}
impl Actor<Locks> for Client {
    fn boxed(&self) -> Box<dyn Actor<Locks>> {
        Box::new(self.clone())
    }

    fn on_start(&mut self, cx: &mut Cx<'_, Locks>) {
        self.library.on_start(cx, &mut self.desk);
    }

    fn on_message(&mut self, cx: &mut Cx<'_, Locks>, from: ProcId, conn: ConnId, body: &Body) {
        match body.get::<Reply>() {
            Some(reply) => {
                if let Some(call) = self.take(cx, body.request) {
                    self.answered(cx, call, *reply);
                }
            }
            None => self.library.on_message(cx, &mut self.desk, (from, conn), body),
        }
    }

    fn on_timer(&mut self, cx: &mut Cx<'_, Locks>, key: u64) {
        if self.desk.on_timer(cx, key) {
            return;
        }
        if key & 1 == 0 {
            self.library.on_timer(cx, &mut self.desk, key >> 1);
        } else if let Some(call) = self.take(cx, key >> 1) {
            self.unanswered(cx, call, Outcome::Timeout);
        }
    }

    fn task_of(&self, body: &Body) -> Option<usize> {
        self.task_of_request(body.request).or_else(|| self.library.task_told(body))
    }

    fn task_of_timer(&self, key: u64) -> Option<usize> {
        self.task_of_request(key >> 1)
    }

    fn on_call(&mut self, cx: &mut Cx<'_, Locks>, task: usize, op: &Op) -> Flow {
        let desk = &mut self.desk;
        match op {
            Op::Acquire { lock, mode, within } => {
                self.library.acquire(cx, desk, task, *lock, *mode, *within)
            }
            Op::Step { lock, mode, step } => self.library.step(cx, desk, task, *lock, *mode, *step),
            Op::Renew { lock } => self.library.renew(cx, desk, task, *lock),
            Op::Release { lock } => self.library.release(cx, desk, task, *lock),
            Op::Check { lock } => self.check(cx, *lock),
            Op::GiveUp { lock } => {
                desk.doubt(cx, *lock, BeliefEnd::GivenUp);
                Flow::Done(Outcome::Ok)
            }
            Op::Read { cell, lock, place, within } => {
                self.at_resource(cx, task, (*cell, *lock), *within, Deed::Read { place: *place })
            }
            Op::Write { cell, lock, value, condition, within, more } => {
                self.write(cx, task, (*cell, *lock), *within, (value, *more, condition))
            }
            Op::Claim { lock, within } => match self.next_home(*lock, None) {
                Some(cell) => self.at_resource(cx, task, (cell, *lock), *within, Deed::Claim),
                None => Flow::Done(Outcome::Ok),
            },
            Op::Begin => {
                desk.begin(cx);
                Flow::Done(Outcome::Ok)
            }
            Op::Abort => {
                desk.close(cx, SectionEnd::Aborted);
                Flow::Done(Outcome::Ok)
            }
            Op::Job(job) => {
                let section = desk.section(cx).name;
                cx.note(Testimony::Job(section, *job));
                Flow::Done(Outcome::Ok)
            }
        }
    }

    fn on_closed(&mut self, cx: &mut Cx<'_, Locks>, peer: ProcId, conn: ConnId) {
        let on_it = |c: &&OpenCall| c.home == peer && c.conn <= Some(conn);
        let lost: Vec<u64> = self.open.iter().filter(on_it).map(|c| c.number).collect();
        for number in lost {
            if let Some(call) = self.take(cx, number) {
                self.unanswered(cx, call, Outcome::Closed);
            }
        }
        self.library.on_closed(cx, &mut self.desk, peer, conn);
    }

    fn on_crash(&mut self, cx: &mut Cx<'_, Locks>, _how: CrashKind) {
        self.end_all(cx, BeliefEnd::Crashed, SectionEnd::Crashed);
        self.open.clear();
        self.library.on_crash();
        self.desk.forget();
    }

    fn on_exit(&mut self, cx: &mut Cx<'_, Locks>) {
        self.end_all(cx, BeliefEnd::Exited, SectionEnd::Exited);
        self.library.on_exit(cx, &mut self.desk);
    }

    fn on_settings(&mut self, settings: &Settings) {
        self.timeout = settings.span("request.timeout");
        self.desk.configure(settings);
        self.bypasses = settings.name("gateway.bypass") == &*self.id;
        self.library.on_settings(settings);
    }

    fn facts(&self, now: Micros, clocks: &Clocks) -> Vec<Fact> {
        let mut facts = Vec::new();
        for (lock, held) in &self.desk.held {
            let value = match held.token {
                Some(token) => vec![Piece::Word("I hold"), Piece::Token(token)],
                None => vec![Piece::Word("I hold it")],
            };
            facts.push(Fact::Row { key: vec![Piece::Lock(*lock)], value });
            if let Some(deadline) = held.deadline {
                let clock = clocks.get(self.desk.clock());
                let (until, span) = (clock.when(now, deadline), clock.read(now).until(deadline));
                facts.push(Fact::Ring { lock: *lock, until, span });
            }
        }
        for (lock, _, token) in self.desk.last.iter().filter(|l| !self.desk.believes(l.0)) {
            let value = match token {
                Some(token) => vec![Piece::Word("no longer mine, I had"), Piece::Token(*token)],
                None => vec![Piece::Word("no longer mine")],
            };
            facts.push(Fact::Row { key: vec![Piece::Lock(*lock)], value });
        }
        facts.extend(self.library.facts(now, clocks));
        facts
    }
}

impl Client {
    fn task_of_request(&self, number: u64) -> Option<usize> {
        let call = self.open.iter().find(|c| c.number == number).map(|c| c.task);
        call.or_else(|| self.library.task_of(number))
    }

    fn end_all(&mut self, cx: &mut Cx<'_, Locks>, belief: BeliefEnd, section: SectionEnd) {
        let held: Vec<LockId> = self.desk.held.iter().map(|h| h.0).collect();
        for lock in held {
            self.desk.doubt(cx, lock, belief);
        }
        self.desk.close(cx, section);
    }
}

/// A service has said that the client does not hold the lock: its belief ends, and the task that asked
/// learns it.
pub(super) fn refused(
    cx: &mut Cx<'_, Locks>,
    desk: &mut Desk,
    task: usize,
    lock: LockId,
    ask: Ask,
) {
    cx.note(Testimony::Answer(lock, ask, Outcome::Refused));
    desk.doubt(cx, lock, BeliefEnd::Refused);
    cx.finish(task, Outcome::Refused);
}

/// The note that a request is sent.
pub(super) fn asks(
    lock: LockId,
    ask: Ask,
    first: bool,
    within: Option<Micros>,
) -> Option<Testimony> {
    Some(Testimony::Ask { lock, ask, first, within })
}
