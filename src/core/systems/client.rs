//! The library behind a client's program: its words, its beliefs, its sections, its requests.
//!
//! A system adds only how it talks to its servers ([`LockClient`]); what a client believes and what
//! it does at the resource is the same for all of them.

use super::resource::{Reply, Request};
use super::settings::Settings;
use super::{Body, Fact, Locks, Piece, Vocabulary};
use crate::judge::{
    Ask, BeliefEnd, CellId, Grant, LockId, Mode, Operation, Rejection, Section, SectionEnd,
    Testimony, Token, Write,
};
use crate::sim::{
    Actor, ClockKind, Clocks, ConnId, CrashKind, Cx, Expr, Flow, Instr, Line, LineError, Local,
    Micros, Names, Outcome, ProcId, Scanner, TimerId, Waiting,
};

/// A word of a client's program that is not control flow.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the words are documented in lessons/README.md")]
pub enum Op {
    Acquire { lock: LockId, mode: Mode, within: Option<Micros> },
    Renew { lock: LockId },
    Release { lock: LockId },
    Check { lock: LockId },
    Read { cell: CellId, place: usize, within: Option<Micros> },
    Write { cell: CellId, value: Expr, within: Option<Micros>, more: bool },
    Begin,
    Abort,
    Job(u16),
}

impl Op {
    /// The word itself.
    pub const fn verb(&self) -> &'static str {
        match self {
            Op::Acquire { .. } => "acquire",
            Op::Renew { .. } => "renew",
            Op::Release { .. } => "release",
            Op::Check { .. } => "check",
            Op::Read { .. } => "read",
            Op::Write { .. } => "write",
            Op::Begin => "begin",
            Op::Abort => "abort",
            Op::Job(_) => "job",
        }
    }
}

const WORDS: &str = "one of `acquire`, `renew`, `release`, `check`, `read`, `write`, `begin`, \
                     `abort`, `job`, `work`, `sleep`, `let`, `if`, `goto`, `loop`, `repeat`, `end`, \
                     `break`, `stop` or a label such as `again:`";

/// Reads one word of a client's program.
///
/// # Errors
/// What was found and what was expected, with its place in the line.
pub fn parse_word(
    s: &mut Scanner<'_>,
    names: &mut Names,
    vocabulary: &mut Vocabulary,
) -> Result<Op, LineError> {
    let word = s.peek_text();
    let known = ["acquire", "renew", "release", "check", "read", "write", "begin", "abort", "job"];
    if !known.contains(&word) {
        return Err(s.expected(WORDS));
    }
    s.take("a word")?;
    match word {
        "acquire" => {
            let lock = optional_lock(s, vocabulary)?;
            let mode = if s.accept("shared") { Mode::Shared } else { Mode::Exclusive };
            Ok(Op::Acquire { lock, mode, within: within(s)? })
        }
        "renew" => Ok(Op::Renew { lock: optional_lock(s, vocabulary)? }),
        "release" => Ok(Op::Release { lock: optional_lock(s, vocabulary)? }),
        "check" => Ok(Op::Check { lock: optional_lock(s, vocabulary)? }),
        "read" => {
            let name = s.peek_text();
            let cell = vocabulary.cell(s)?;
            let local = if s.accept("as") { s.take("a name")?.text } else { name };
            Ok(Op::Read { cell, place: names.local(local), within: within(s)? })
        }
        "write" => {
            let cell = vocabulary.cell(s)?;
            s.demand("=")?;
            let value = Expr::parse(s, &names.locals)?;
            Ok(Op::Write { cell, value, within: within(s)?, more: false })
        }
        "begin" => Ok(Op::Begin),
        "abort" => Ok(Op::Abort),
        _ => {
            let name = s.take("the job's name")?.text.to_string();
            let jobs = &mut vocabulary.jobs;
            let index = jobs.iter().position(|j| *j == name).unwrap_or(jobs.len());
            if index == jobs.len() {
                jobs.push(name);
            }
            Ok(Op::Job(index as u16))
        }
    }
}

fn optional_lock(s: &mut Scanner<'_>, vocabulary: &Vocabulary) -> Result<LockId, LineError> {
    match s.peek_text() {
        "" | "shared" | "within" => Ok(LockId(0)),
        _ => vocabulary.lock(s),
    }
}

fn within(s: &mut Scanner<'_>) -> Result<Option<Micros>, LineError> {
    if s.accept("within") { s.duration().map(Some) } else { Ok(None) }
}

/// Tells each write whether another is to come before its section ends, on the way that the program
/// takes from there when nothing turns it aside.
///
/// The judge needs it to see that a crash between two writes tore the section. How often a loop will
/// still run is not known here: the way leads out of it.
pub fn link_writes(lines: &mut [Line<Op>]) {
    for pc in 0..lines.len() {
        let another = another_write(lines, pc + 1);
        if let Instr::Call(Op::Write { more, .. }) = &mut lines[pc].instr {
            *more = another;
        }
    }
}

fn another_write(lines: &[Line<Op>], mut pc: usize) -> bool {
    while let Some(line) = lines.get(pc) {
        pc = match &line.instr {
            Instr::Call(Op::Write { .. }) => return true,
            Instr::Call(Op::Acquire { .. } | Op::Release { .. } | Op::Begin | Op::Abort)
            | Instr::Stop(_) => return false,
            Instr::Goto(to) if *to > pc => *to,
            _ => pc + 1,
        };
    }
    false
}

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
    /// A message from a server.
    fn on_message(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, from: ProcId, body: &Body);
    /// A timer whose key came from [`Desk::key`].
    fn on_timer(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, request: u64);
    /// A server's earlier life is over; requests to it will not be answered.
    fn on_closed(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, peer: ProcId);
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

/// What a client believes of one lock.
#[derive(Clone, Copy, Debug)]
struct Held {
    token: Option<Token>,
    /// When the client's own rule says that the grant is over, on its monotonic clock.
    deadline: Option<Local>,
}

/// A write of the open section.
#[derive(Clone, Copy, Debug)]
struct Written {
    site: (usize, usize),
    cell: CellId,
    value: i64,
    number: u32,
    /// Its last attempt was not answered, so that the next alike is a retry of it.
    unanswered: bool,
}

#[derive(Clone, Debug)]
struct OpenSection {
    name: Section,
    closed: Option<SectionEnd>,
    written: Vec<Written>,
    /// The version of each cell that this section knows.
    known: Vec<(CellId, u32)>,
}

/// A client's books: beliefs, sections, numbers of requests. Shared with its lock library.
#[derive(Clone, Default, Debug)]
pub struct Desk {
    held: Vec<(LockId, Held)>,
    /// The latest grant of each lock and its token; kept when the belief ends, because a careless
    /// client goes on using it.
    last: Vec<(LockId, Grant, Option<Token>)>,
    section: Option<OpenSection>,
    sections: u32,
    requests: u64,
    life: u32,
}

impl Desk {
    /// A number for a new request; also the key of its timer.
    pub fn request(&mut self) -> u64 {
        self.requests += 1;
        self.requests
    }

    /// The key of a lock library's timer for a request.
    pub const fn key(request: u64) -> u64 {
        request << 1
    }

    /// Which life of the process this is; servers see each as another client.
    pub fn life(&self) -> u32 {
        self.life
    }

    /// Whether the client believes that it holds the lock.
    pub fn believes(&self, lock: LockId) -> bool {
        self.held.iter().any(|h| h.0 == lock)
    }

    /// The latest grant of a lock that the client consumed.
    pub fn last_grant(&self, lock: LockId) -> Option<Grant> {
        self.last.iter().find(|l| l.0 == lock).map(|l| l.1)
    }

    /// The client consumes a grant: its belief and a section begin.
    pub fn believe(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        lock: LockId,
        mode: Mode,
        grant: Grant,
        token: Option<Token>,
        deadline: Option<Local>,
    ) {
        let again = self.believes(lock) && self.last_grant(lock) == Some(grant);
        let alone = self.held.iter().all(|h| h.0 == lock);
        self.held.retain(|h| h.0 != lock);
        self.held.push((lock, Held { token, deadline }));
        self.last.retain(|l| l.0 != lock);
        self.last.push((lock, grant, token));
        if !again {
            cx.note(Testimony::Believe(lock, grant, mode));
        }
        // A second lock taken while another is held belongs to the same unit of work.
        if alone {
            self.begin(cx);
        }
    }

    /// A renewal was accepted: the client's own deadline moves.
    pub fn extend(&mut self, lock: LockId, deadline: Option<Local>) {
        if let Some(held) = self.held.iter_mut().find(|h| h.0 == lock) {
            held.1.deadline = deadline;
        }
    }

    /// The client's belief ends, and with its last one the section.
    pub fn doubt(&mut self, cx: &mut Cx<'_, Locks>, lock: LockId, why: BeliefEnd) {
        if !self.believes(lock) {
            return;
        }
        self.held.retain(|h| h.0 != lock);
        cx.note(Testimony::Doubt(lock, why));
        if self.held.is_empty() {
            self.close(cx, section_end(why));
        }
        if matches!(why, BeliefEnd::Refused | BeliefEnd::Notice | BeliefEnd::Deadline) {
            cx.notify("lost");
        }
    }

    fn begin(&mut self, cx: &mut Cx<'_, Locks>) {
        self.close(cx, SectionEnd::StartedOver);
        self.sections += 1;
        let name = Section { client: cx.me(), number: self.sections };
        let (written, known) = (Vec::new(), Vec::new());
        self.section = Some(OpenSection { name, closed: None, written, known });
        cx.note(Testimony::Begin(name));
    }

    fn close(&mut self, cx: &mut Cx<'_, Locks>, why: SectionEnd) {
        if let Some(section) = self.section.as_mut().filter(|s| s.closed.is_none()) {
            section.closed = Some(why);
            let name = section.name;
            cx.note(Testimony::Close(name, why));
        }
    }

    /// The section that an operation belongs to: the open one, the one whose belief was dropped (a
    /// careless client goes on in it), or a new one.
    fn section(&mut self, cx: &mut Cx<'_, Locks>) -> &mut OpenSection {
        let goes_on = |s: &OpenSection| matches!(s.closed, None | Some(SectionEnd::Dropped));
        if !self.section.as_ref().is_some_and(goes_on) {
            self.begin(cx);
        }
        let client = cx.me();
        self.section.get_or_insert_with(|| OpenSection {
            name: Section { client, number: 0 },
            closed: None,
            written: Vec::new(),
            known: Vec::new(),
        })
    }

    fn operation(&mut self, cx: &mut Cx<'_, Locks>, cell: CellId, lock: LockId) -> Operation {
        let last = self.last.iter().find(|l| l.0 == lock);
        let (grant, token) = last.map_or((None, None), |l| (Some(l.1), l.2));
        let section = self.section(cx).name;
        Operation { section, cell, lock, grant, token }
    }

    fn forget(&mut self) {
        let (sections, life, requests) = (self.sections, self.life + 1, self.requests);
        *self = Desk { sections, life, requests, ..Desk::default() };
    }
}

fn section_end(why: BeliefEnd) -> SectionEnd {
    match why {
        BeliefEnd::Released => SectionEnd::Released,
        BeliefEnd::Refused | BeliefEnd::Notice | BeliefEnd::Deadline => SectionEnd::Dropped,
        BeliefEnd::Exited => SectionEnd::Exited,
        BeliefEnd::Crashed => SectionEnd::Crashed,
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

    /// All open requests.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.open.iter().map(|r| (r.0, &r.1))
    }

    /// Forgets all; timers die with the process.
    pub fn clear(&mut self) {
        self.open.clear();
    }
}

#[derive(Clone, Copy, Debug)]
enum Call {
    Read { cell: CellId, place: usize },
    Write { cell: CellId, number: u32 },
}

#[derive(Clone, Copy, Debug)]
struct OpenCall {
    number: u64,
    task: usize,
    section: Section,
    lock: LockId,
    home: ProcId,
    call: Call,
    timer: TimerId,
}

/// A client process.
#[derive(Clone, Debug)]
pub struct Client {
    desk: Desk,
    library: Box<dyn LockClient>,
    open: Vec<OpenCall>,
    guards: Vec<LockId>,
    homes: Vec<ProcId>,
    timeout: Micros,
}

impl Client {
    /// A client that talks to its lock service through `library`.
    pub fn new(
        settings: &Settings,
        library: Box<dyn LockClient>,
        vocabulary: &Vocabulary,
    ) -> Client {
        Client {
            desk: Desk::default(),
            library,
            open: Vec::new(),
            guards: vocabulary.guards.clone(),
            homes: vocabulary.homes.clone(),
            timeout: settings.span("request.timeout"),
        }
    }

    fn check(&mut self, cx: &mut Cx<'_, Locks>, lock: LockId) -> Flow {
        let held = self.desk.held.iter().find(|h| h.0 == lock).map(|h| h.1);
        let now = cx.clock(ClockKind::Mono);
        let holds = held.is_some_and(|h| h.deadline.is_none_or(|deadline| now < deadline));
        cx.note(Testimony::Check(lock, holds));
        if holds {
            return Flow::Done(Outcome::Ok);
        }
        self.desk.doubt(cx, lock, BeliefEnd::Deadline);
        Flow::Done(Outcome::Lost)
    }

    /// Sends a read or a write and waits for the answer.
    fn at_resource(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        task: usize,
        cell: CellId,
        within: Option<Micros>,
        write: Option<(i64, bool)>,
        place: usize,
    ) -> Flow {
        let (lock, home) = (self.guards[usize::from(cell.0)], self.homes[usize::from(cell.0)]);
        let op = self.desk.operation(cx, cell, lock);
        let number = self.desk.request();
        let site = (task, cx.pc(task));
        let section = self.desk.section(cx);
        let (name, request, note, call) = match write {
            None => ("read", Request::Read(op), Testimony::Read(op), Call::Read { cell, place }),
            Some((value, more)) => {
                let write = Write { number: section.number_of(site, cell, value), value, more };
                let known = section.known.iter().find(|k| k.0 == cell).map(|k| k.1);
                let request = Request::Write(op, write, known);
                let call = Call::Write { cell, number: write.number };
                ("write", request, Testimony::Write(op, write), call)
            }
        };
        let body = Body::new(name, number, request).with_token(op.token);
        cx.ask(home, body, Some(note));
        let until = cx.clock(ClockKind::Mono).plus(within.unwrap_or(self.timeout));
        let timer = cx.timer(ClockKind::Mono, until, number << 1 | 1);
        self.open.push(OpenCall { number, task, section: op.section, lock, home, call, timer });
        Flow::Wait(Waiting { verb: name, on: home, until: Some(until) })
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
            Reply::Rejected(why) => {
                cx.note(Testimony::Told(call.section, Outcome::Rejected));
                // A higher token was seen: somebody else was granted the lock since.
                if matches!(why, Rejection::Lower(_)) {
                    self.desk.doubt(cx, call.lock, BeliefEnd::Refused);
                }
                Outcome::Rejected
            }
        };
        cx.finish(call.task, outcome);
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
        cx.abandon(call.home);
        cx.finish(call.task, outcome);
    }
}

impl OpenSection {
    /// The number of this write: that of an unanswered one which it repeats, or the next.
    fn number_of(&mut self, site: (usize, usize), cell: CellId, value: i64) -> u32 {
        let next = self.written.iter().map(|w| w.number + 1).max().unwrap_or(0);
        let repeats = |w: &&mut Written| {
            w.unanswered && w.cell == cell && (w.site == site || w.value == value)
        };
        if let Some(earlier) = self.written.iter_mut().find(repeats) {
            earlier.unanswered = false;
            earlier.value = value;
            return earlier.number;
        }
        self.written.push(Written { site, cell, value, number: next, unanswered: false });
        next
    }
}

impl Actor<Locks> for Client {
    fn boxed(&self) -> Box<dyn Actor<Locks>> {
        Box::new(self.clone())
    }

    fn on_message(&mut self, cx: &mut Cx<'_, Locks>, from: ProcId, _conn: ConnId, body: &Body) {
        match body.get::<Reply>() {
            Some(reply) => {
                if let Some(call) = self.take(cx, body.request) {
                    self.answered(cx, call, *reply);
                }
            }
            None => self.library.on_message(cx, &mut self.desk, from, body),
        }
    }

    fn on_timer(&mut self, cx: &mut Cx<'_, Locks>, key: u64) {
        if key & 1 == 0 {
            self.library.on_timer(cx, &mut self.desk, key >> 1);
        } else if let Some(call) = self.take(cx, key >> 1) {
            self.unanswered(cx, call, Outcome::Timeout);
        }
    }

    fn on_call(&mut self, cx: &mut Cx<'_, Locks>, task: usize, op: &Op) -> Flow {
        let desk = &mut self.desk;
        match op {
            Op::Acquire { lock, mode, within } => {
                self.library.acquire(cx, desk, task, *lock, *mode, *within)
            }
            Op::Renew { lock } => self.library.renew(cx, desk, task, *lock),
            Op::Release { lock } => self.library.release(cx, desk, task, *lock),
            Op::Check { lock } => self.check(cx, *lock),
            Op::Read { cell, place, within } => {
                self.at_resource(cx, task, *cell, *within, None, *place)
            }
            Op::Write { cell, value, within, more } => {
                let value = value.eval(cx.locals());
                self.at_resource(cx, task, *cell, *within, Some((value, *more)), 0)
            }
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

    fn on_closed(&mut self, cx: &mut Cx<'_, Locks>, peer: ProcId) {
        let lost: Vec<u64> =
            self.open.iter().filter(|c| c.home == peer).map(|c| c.number).collect();
        for number in lost {
            if let Some(call) = self.take(cx, number) {
                self.unanswered(cx, call, Outcome::Closed);
            }
        }
        self.library.on_closed(cx, &mut self.desk, peer);
    }

    fn on_crash(&mut self, cx: &mut Cx<'_, Locks>, _how: CrashKind) {
        self.end_all(cx, BeliefEnd::Crashed, SectionEnd::Crashed);
        self.open.clear();
        self.library.on_crash();
        self.desk.forget();
    }

    fn on_exit(&mut self, cx: &mut Cx<'_, Locks>) {
        self.end_all(cx, BeliefEnd::Exited, SectionEnd::Exited);
    }

    fn on_settings(&mut self, settings: &Settings) {
        self.timeout = settings.span("request.timeout");
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
                let until = clocks.mono.when(now, deadline);
                let span = clocks.mono.read(now).until(deadline);
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
        facts
    }
}

impl Client {
    fn end_all(&mut self, cx: &mut Cx<'_, Locks>, belief: BeliefEnd, section: SectionEnd) {
        let held: Vec<LockId> = self.desk.held.iter().map(|h| h.0).collect();
        for lock in held {
            self.desk.doubt(cx, lock, belief);
        }
        self.desk.close(cx, section);
    }
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
