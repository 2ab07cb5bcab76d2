//! A client library for a lock on one Redis: by the book, and the ways in which it is done wrong.
//!
//! By the book: a fresh value for each try; SET NX PX; a deadline of its own counted from when it
//! asked; release and extension by a script that compares; after a time-out the value is deleted if
//! it was set after all.

use super::command::{Bounds, Call, Command, Life, Only, Refusal, Reply, SetCommand, SetReply};
use super::drawn::Drawn;
use super::scripts::Script;
use super::server::Packet;
use super::spell::spell;
use super::text::Text;
use super::witness::LockKeys;
use crate::judge::{Ask, BeliefEnd, LockId, Mode, Testimony, Token};
use crate::sim::{
    ClockKind, ConnId, Cx, Flow, Local, Micros, Outcome, ProcId, Purpose, Waiting, up_to,
};
use crate::systems::client::{LockClient, Requests, asks, refused};
use crate::systems::{Body, Desk, Locks, Settings};

/// What an open request is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    /// It sets the key.
    Set,
    /// It gives the key an end, in a second request.
    Expire,
    /// It counts, in a second request.
    Count,
    /// It waits until replicas have it.
    Wait,
    /// It reads whose the key is, before it deletes it.
    Look,
    /// It extends.
    Extend,
    /// It releases.
    Release,
    /// It waits before the next try.
    Rest,
    /// It deletes what a try may have set that nobody answered; nobody waits for it.
    Clean,
    /// It gives back what too few replicas have; nobody waits for it.
    Return,
    /// It asks a replica, which it took for the master, whose replica it is; nobody waits for it.
    Role,
}

/// A request that waits for its answer.
#[derive(Clone, Copy, Debug)]
struct Open {
    task: usize,
    lock: LockId,
    step: Step,
    /// The value of this try.
    value: i64,
    /// When the try began, on the clock that the client reads for its own deadline.
    sent: Local,
    /// For how long it asks, as the setting stood when the try began.
    ttl: Micros,
    /// When the whole acquire gives up.
    until: Option<Local>,
    /// How many tries came before.
    tries: u64,
    /// The connection on which it was asked.
    conn: Option<ConnId>,
    /// What was counted for it, where that is its token.
    counted: Option<i64>,
}

impl Open {
    /// For how long it asks, in whole milliseconds.
    fn ms(&self) -> i64 {
        i64::try_from(self.ttl.0 / 1_000).unwrap_or(i64::MAX)
    }
}

/// How a lock is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Taking {
    SetNxPx,
    SetnxThenExpire,
    SetThenIncr,
    Script,
}

/// How it is given back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Giving {
    Compare,
    Del,
    GetThenDel,
}

/// How it is extended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Extending {
    Compare,
    Pexpire,
    Set,
}

/// From when a client counts its own deadline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Counts {
    FromSend,
    FromReceipt,
    Never,
}

/// The library of one client.
#[derive(Clone, Debug)]
pub(super) struct Library {
    /// The master, as far as this client knows.
    server: ProcId,
    /// Which order to lead made it the master.
    number: u32,
    open: Requests<Open>,
    /// The value under which each lock was taken last; a careless client goes on using it.
    values: Vec<(LockId, i64)>,
    drawn: Drawn,
    ttl: Micros,
    retry: Micros,
    jitter: Micros,
    timeout: Micros,
    cleans: bool,
    counts: Counts,
    taking: Taking,
    giving: Giving,
    extending: Extending,
    /// For how many replicas it waits, for how long, and whether it minds that there are fewer.
    replicas: i64,
    wait: Micros,
    minds: bool,
}

impl Library {
    pub(super) fn new(settings: &Settings, server: ProcId) -> Library {
        let mut library = Library {
            server,
            number: 0,
            open: Requests::default(),
            values: Vec::new(),
            drawn: Drawn::default(),
            ttl: Micros::ZERO,
            retry: Micros::ZERO,
            jitter: Micros::ZERO,
            timeout: Micros::ZERO,
            cleans: true,
            counts: Counts::FromSend,
            taking: Taking::SetNxPx,
            giving: Giving::Compare,
            extending: Extending::Compare,
            replicas: 0,
            wait: Micros::ZERO,
            minds: true,
        };
        library.on_settings(settings);
        library
    }

    fn send(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        command: Command,
        open: Open,
        note: Option<Testimony>,
    ) {
        let number = desk.request();
        let token = u64::try_from(open.value).ok().map(Token);
        let body = Body::new(command.name(), number, Packet::Ask(command.into()))
            .with_token(token)
            .spelled(spell);
        cx.ask(self.server, body, note);
        let open = Open { conn: cx.connection(self.server), ..open };
        if open.step != Step::Clean {
            let left = open.until.map(|until| cx.clock(ClockKind::Mono).until(until));
            // The server itself takes its time for WAIT.
            let asked = if open.step == Step::Wait { self.wait } else { Micros::ZERO };
            let timeout = self.timeout.plus(asked);
            let patience = left.map_or(timeout, |left| left.min(timeout));
            self.open.add(cx, number, Some(patience), open);
        }
    }

    fn take(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, open: Open) {
        let value = self.drawn.value(cx);
        let open = Open { ttl: self.ttl, ..open };
        let keys = LockKeys::of(open.lock);
        let (key, text) = (keys.lock.clone(), Text::Number(value));
        let command = match self.taking {
            Taking::SetNxPx | Taking::SetThenIncr => {
                Command::set_for(key, text, Only::Absent, open.ms())
            }
            Taking::SetnxThenExpire => {
                let (only, life, reply) = (Only::Absent, Life::Forever, SetReply::Count);
                Command::Set(Box::new(SetCommand { key, value: text, only, life, reply }))
            }
            Taking::Script => {
                let args = vec![text, Text::Number(open.ms())];
                let keys = vec![key, keys.counter];
                Command::Eval(Script::Acquire, Call { keys, args })
            }
        };
        let (sent, first) = (cx.clock(desk.clock()), open.tries == 0);
        let open = Open { step: Step::Set, value, sent, ..open };
        let left = open.until.map(|until| cx.clock(ClockKind::Mono).until(until));
        let within = Some(left.map_or(self.timeout, |left| left.min(self.timeout)));
        self.send(cx, desk, command, open, asks(open.lock, Ask::Acquire, first, within));
    }

    /// The same script for release and extension, with or without a comparison.
    fn script(script: Script, open: &Open) -> Command {
        let mut args = vec![Text::Number(open.value)];
        if script == Script::Extend {
            args.push(Text::Number(open.ms()));
        }
        Command::Eval(script, Call { keys: vec![LockKeys::of(open.lock).lock], args })
    }

    fn pexpire(open: &Open) -> Command {
        let (key, only) = (LockKeys::of(open.lock).lock, Bounds::default());
        Command::Expire { key, life: Life::For(open.ms()), only }
    }

    fn blank(&self, cx: &Cx<'_, Locks>, desk: &Desk, task: usize, lock: LockId) -> Open {
        Open {
            task,
            lock,
            step: Step::Set,
            value: self.values.iter().find(|v| v.0 == lock).map_or(0, |v| v.1),
            sent: cx.clock(desk.clock()),
            ttl: self.ttl,
            until: None,
            tries: 0,
            conn: None,
            counted: None,
        }
    }

    fn waiting(&self, cx: &Cx<'_, Locks>, verb: &'static str) -> Flow {
        let until = Some(cx.clock(ClockKind::Mono).plus(self.timeout));
        Flow::Wait(Waiting { verb, on: self.server, until })
    }

    /// Gives the lock up and says so.
    fn give(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, open: Open) {
        desk.doubt(cx, open.lock, BeliefEnd::Released);
        let command = match self.giving {
            Giving::Compare => Library::script(Script::Release, &open),
            Giving::Del | Giving::GetThenDel => Command::Del(vec![LockKeys::of(open.lock).lock]),
        };
        let note = asks(open.lock, Ask::Release, true, Some(self.timeout));
        self.send(cx, desk, command, Open { step: Step::Release, ..open }, note);
    }

    /// A try was refused, or is unknown: it rests, each time for another while, and tries again.
    fn again_later(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, open: Open) {
        let ordinal = self.drawn.count();
        let jitter = up_to(cx.random(Purpose::Backoff, ordinal), self.jitter.0);
        let wait = self.retry.plus(Micros(jitter));
        let now = cx.clock(ClockKind::Mono);
        if open.until.is_some_and(|until| now.plus(wait) >= until) {
            return self.finish(cx, &open, Ask::Acquire, Outcome::Timeout);
        }
        let number = desk.request();
        let open = Open { step: Step::Rest, tries: open.tries + 1, ..open };
        self.open.add(cx, number, Some(wait), open);
    }

    fn finish(&self, cx: &mut Cx<'_, Locks>, open: &Open, ask: Ask, outcome: Outcome) {
        cx.note(Testimony::Answer(open.lock, ask, outcome));
        cx.finish(open.task, outcome);
    }

    fn deadline(&self, cx: &Cx<'_, Locks>, desk: &Desk, open: &Open) -> Option<Local> {
        let from = match self.counts {
            Counts::Never => return None,
            Counts::FromSend => open.sent,
            Counts::FromReceipt => cx.clock(desk.clock()),
        };
        Some(from.plus(open.ttl))
    }

    /// The key is set: perhaps there is more to do before the lock is held.
    fn taken(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, mut open: Open, reply: &Reply) {
        let counts = matches!(self.taking, Taking::Script | Taking::SetThenIncr);
        if let (true, Step::Set | Step::Count, Reply::Number(count)) = (counts, open.step, reply) {
            open.counted = Some(*count);
        }
        let (command, step) = match (self.taking, open.step) {
            (Taking::SetnxThenExpire, Step::Set) => (Library::pexpire(&open), Step::Expire),
            (Taking::SetThenIncr, Step::Set) => {
                (Command::Add(LockKeys::of(open.lock).counter, 1), Step::Count)
            }
            (_, Step::Set | Step::Expire | Step::Count) if self.replicas > 0 => {
                let timeout = i64::try_from(self.wait.0 / 1_000).unwrap_or(i64::MAX).max(1);
                (Command::Wait { replicas: self.replicas, timeout }, Step::Wait)
            }
            _ => {
                let token = u64::try_from(open.counted.unwrap_or(open.value)).ok().map(Token);
                return self.holds(cx, desk, open, token);
            }
        };
        let ask = if step == Step::Count { Ask::Token } else { Ask::Renew };
        let note =
            (step == Step::Count).then(|| asks(open.lock, ask, true, Some(self.timeout))).flatten();
        self.send(cx, desk, command, Open { step, ..open }, note);
    }

    fn holds(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, open: Open, token: Option<Token>) {
        // For the books: which grant it is that the client consumes.
        let grant = cx.commons().polls.grant_of(open.lock, &Text::Number(open.value));
        let Some(grant) = grant.filter(|_| cx.waits(open.task)) else {
            // The task that asked was stopped: no code of the client consumes the grant.
            cx.note(Testimony::Answer(open.lock, Ask::Acquire, Outcome::Closed));
            return;
        };
        self.values.retain(|value| value.0 != open.lock);
        self.values.push((open.lock, open.value));
        let deadline = self.deadline(cx, desk, &open);
        cx.note(Testimony::Answer(open.lock, Ask::Acquire, Outcome::Ok));
        desk.believe(cx, open.lock, Mode::Exclusive, grant, token, deadline);
        cx.finish(open.task, Outcome::Ok);
    }

    fn is_short(&self, reply: &Reply) -> bool {
        !matches!(reply, Reply::Number(count) if *count >= self.replicas)
    }

    /// Fewer replicas have the lock than the client wanted: it gives it back and tries again.
    fn short(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, open: Open) {
        self.give_back(cx, desk, open);
        self.again_later(cx, desk, open);
    }

    fn give_back(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, open: Open) {
        let command = Library::script(Script::Release, &open);
        let note = asks(open.lock, Ask::Release, true, Some(self.timeout));
        self.send(cx, desk, command, Open { step: Step::Return, until: None, ..open }, note);
    }

    /// A replica takes no writes: the client asks it whose replica it is.
    fn mistaken(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, open: Open) {
        self.send(cx, desk, Command::Role, Open { step: Step::Role, ..open }, None);
        match open.step {
            Step::Extend => self.finish(cx, &open, Ask::Renew, Outcome::Closed),
            Step::Release => self.finish(cx, &open, Ask::Release, Outcome::Closed),
            Step::Return => {
                cx.note(Testimony::Answer(open.lock, Ask::Release, Outcome::Closed));
            }
            _ => self.again_later(cx, desk, open),
        }
    }

    /// Another server is the master: what the old one was asked is given up.
    fn turn_to(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, server: ProcId) {
        let old = std::mem::replace(&mut self.server, server);
        if old == server {
            return;
        }
        cx.abandon(old);
        for open in self.open.take_where(cx, |open| open.step != Step::Rest) {
            self.unknown(cx, desk, open, Outcome::Closed);
        }
    }

    fn answered(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, open: Open, reply: &Reply) {
        if *reply == Reply::Error(Refusal::ReadOnly) {
            return self.mistaken(cx, desk, open);
        }
        if open.step == Step::Count && cx.waits(open.task) {
            cx.note(Testimony::Answer(open.lock, Ask::Token, Outcome::Ok));
        }
        let no = matches!(reply, Reply::Nil | Reply::Number(0) | Reply::Error(_));
        match open.step {
            Step::Set if no => self.again_later(cx, desk, open),
            Step::Wait if self.minds && self.is_short(reply) => {
                self.short(cx, desk, open);
            }
            Step::Role => {
                if let Reply::Array(parts) = reply
                    && let [Reply::Bulk(_), Reply::Number(master), Reply::Bulk(_), ..] = &parts[..]
                {
                    let master = u16::try_from(*master).map_or(self.server, ProcId);
                    self.turn_to(cx, desk, master);
                }
            }
            Step::Set | Step::Wait | Step::Expire | Step::Count => {
                self.taken(cx, desk, open, reply)
            }
            Step::Look if matches!(reply, Reply::Bulk(text) if text.number() == Some(open.value)) =>
            {
                cx.note(Testimony::Answer(open.lock, Ask::Holder, Outcome::Ok));
                // A program that was stopped meanwhile sends nothing more.
                if cx.waits(open.task) {
                    self.give(cx, desk, open);
                }
            }
            Step::Look => refused(cx, desk, open.task, open.lock, Ask::Holder),
            Step::Extend if no => refused(cx, desk, open.task, open.lock, Ask::Renew),
            Step::Extend => {
                let deadline = self.deadline(cx, desk, &open);
                desk.extend(cx, open.lock, deadline);
                self.finish(cx, &open, Ask::Renew, Outcome::Ok);
            }
            Step::Release => {
                let outcome = if no { Outcome::Refused } else { Outcome::Ok };
                self.finish(cx, &open, Ask::Release, outcome);
            }
            Step::Return => {
                cx.note(Testimony::Answer(open.lock, Ask::Release, Outcome::Ok));
            }
            Step::Rest | Step::Clean => {}
        }
    }

    /// Nobody answers: whether the command was carried out is unknown.
    fn unknown(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, open: Open, outcome: Outcome) {
        match open.step {
            Step::Role => return,
            Step::Return => {
                cx.note(Testimony::Answer(open.lock, Ask::Release, outcome));
                return;
            }
            _ => {}
        }
        let ask = match open.step {
            Step::Extend => Ask::Renew,
            Step::Release => Ask::Release,
            Step::Look => Ask::Holder,
            _ => Ask::Acquire,
        };
        if ask == Ask::Holder {
            cx.note(Testimony::Answer(open.lock, Ask::Holder, outcome));
            cx.finish(open.task, outcome);
            return;
        }
        if ask != Ask::Acquire {
            return self.finish(cx, &open, ask, outcome);
        }
        if open.step == Step::Count {
            cx.note(Testimony::Answer(open.lock, Ask::Token, outcome));
        }
        if self.cleans && open.step == Step::Wait {
            self.give_back(cx, desk, open);
        } else if self.cleans {
            let command = Library::script(Script::Release, &open);
            self.send(cx, desk, command, Open { step: Step::Clean, ..open }, None);
        }
        self.again_later(cx, desk, open);
    }
}

impl LockClient for Library {
    fn boxed(&self) -> Box<dyn LockClient> {
        Box::new(self.clone())
    }

    fn acquire(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        task: usize,
        lock: LockId,
        _mode: Mode,
        within: Option<Micros>,
    ) -> Flow {
        let until = within.map(|span| cx.clock(ClockKind::Mono).plus(span));
        let open = Open { until, ..self.blank(cx, desk, task, lock) };
        self.take(cx, desk, open);
        Flow::Wait(Waiting { verb: "acquire", on: self.server, until })
    }

    fn renew(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        task: usize,
        lock: LockId,
    ) -> Flow {
        if desk.last_grant(lock).is_none() {
            return Flow::Done(Outcome::Refused);
        }
        let open = Open { step: Step::Extend, ..self.blank(cx, desk, task, lock) };
        let command = match self.extending {
            Extending::Compare => Library::script(Script::Extend, &open),
            Extending::Pexpire => Library::pexpire(&open),
            Extending::Set => {
                let (key, value) = (LockKeys::of(lock).lock, Text::Number(open.value));
                Command::set_for(key, value, Only::Always, open.ms())
            }
        };
        self.send(cx, desk, command, open, asks(lock, Ask::Renew, true, Some(self.timeout)));
        self.waiting(cx, "renew")
    }

    fn release(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        task: usize,
        lock: LockId,
    ) -> Flow {
        if desk.last_grant(lock).is_none() {
            return Flow::Done(Outcome::Refused);
        }
        let open = self.blank(cx, desk, task, lock);
        if self.giving == Giving::GetThenDel {
            let command = Command::Get(LockKeys::of(lock).lock);
            let note = asks(lock, Ask::Holder, true, Some(self.timeout));
            self.send(cx, desk, command, Open { step: Step::Look, ..open }, note);
        } else {
            self.give(cx, desk, open);
        }
        self.waiting(cx, "release")
    }

    fn on_message(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        (from, _): (ProcId, ConnId),
        body: &Body,
    ) {
        match body.get::<Packet>() {
            Some(Packet::Answer(reply)) => {
                if let Some(open) = self.open.take(cx, body.request) {
                    self.answered(cx, desk, open, reply);
                }
            }
            // Of two masters that it hears of, the later one counts.
            Some(Packet::Moved(number)) if *number > self.number => {
                self.number = *number;
                self.turn_to(cx, desk, from);
            }
            _ => {}
        }
    }

    fn on_timer(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, request: u64) {
        let Some(open) = self.open.take(cx, request) else { return };
        if open.step == Step::Rest {
            return self.take(cx, desk, open);
        }
        cx.hang_up(self.server, open.conn);
        self.unknown(cx, desk, open, Outcome::Timeout);
    }

    fn on_closed(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, peer: ProcId, conn: ConnId) {
        let here = peer == self.server;
        let on_it = |open: &Open| here && open.step != Step::Rest && open.conn <= Some(conn);
        for open in self.open.take_where(cx, on_it) {
            self.unknown(cx, desk, open, Outcome::Closed);
        }
    }

    fn task_of(&self, request: u64) -> Option<usize> {
        self.open
            .get(request)
            .filter(|open| !matches!(open.step, Step::Role | Step::Return))
            .map(|open| open.task)
    }

    fn on_crash(&mut self) {
        self.open.clear();
    }

    fn on_settings(&mut self, settings: &Settings) {
        self.ttl = settings.span("lock.ttl");
        self.retry = settings.span("acquire.retry");
        self.jitter = settings.span("acquire.jitter");
        self.timeout = settings.span("request.timeout");
        self.replicas = settings.word("lock.wait").parse().unwrap_or(0);
        self.wait = settings.span("lock.wait_timeout");
        self.minds = settings.word("lock.wait_rule") != "careless";
        self.cleans = settings.word("lock.unknown") == "delete";
        self.counts = match settings.word("lock.deadline") {
            "receipt" => Counts::FromReceipt,
            "none" => Counts::Never,
            _ => Counts::FromSend,
        };
        self.taking = match settings.word("lock.acquire") {
            "setnx-then-expire" => Taking::SetnxThenExpire,
            "set-then-incr" => Taking::SetThenIncr,
            "script" => Taking::Script,
            _ => Taking::SetNxPx,
        };
        self.giving = match settings.word("lock.release") {
            "del" => Giving::Del,
            "get-then-del" => Giving::GetThenDel,
            _ => Giving::Compare,
        };
        self.extending = match settings.word("lock.extend") {
            "pexpire" => Extending::Pexpire,
            "set" => Extending::Set,
            _ => Extending::Compare,
        };
    }
}
