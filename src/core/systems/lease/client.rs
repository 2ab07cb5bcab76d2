//! The client library of the lease service.

use super::{Reply, Request, TokenRule};
use crate::judge::{Ask, BeliefEnd, Grant, LockId, Mode, Testimony, Token};
use crate::sim::{ClockKind, ConnId, Cx, Flow, Local, Micros, Outcome, ProcId, Waiting};
use crate::systems::client::{LockClient, Requests, asks, refused};
use crate::systems::{Body, Desk, Locks, Settings};

/// An acquire, renewal or release that waits for its answer.
#[derive(Clone, Copy, Debug)]
struct Open {
    task: usize,
    lock: LockId,
    ask: Ask,
    mode: Mode,
    /// When this request was sent, on the clock that the client reads for its own deadline.
    sent: Local,
    /// When the whole acquire gives up.
    until: Option<Local>,
    /// The grant that a token is fetched for, and when it is over by the client's own rule.
    granted: Option<(Grant, Option<Local>)>,
    /// A refused acquire that will ask again when its timer fires.
    resting: bool,
    /// The connection that this request went on.
    conn: Option<ConnId>,
}

#[derive(Clone, Debug)]
pub(super) struct LeaseClient {
    service: ProcId,
    open: Requests<Open>,
    queue: bool,
    retry: Micros,
    timeout: Micros,
    counts: Counts,
    rule: TokenRule,
    careless_renewal: bool,
    release: Release,
}

/// From when a client counts its own deadline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Counts {
    FromSend,
    FromReceipt,
    Never,
}

/// How a client ends its lease.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Release {
    Correct,
    Careless,
    GetThenDel,
}

impl LeaseClient {
    pub(super) fn new(settings: &Settings, service: ProcId) -> LeaseClient {
        let mut client = LeaseClient {
            service,
            open: Requests::default(),
            queue: true,
            retry: Micros::ZERO,
            timeout: Micros::ZERO,
            counts: Counts::FromSend,
            rule: TokenRule::Generation,
            careless_renewal: false,
            release: Release::Correct,
        };
        client.on_settings(settings);
        client
    }

    fn send_acquire(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        mut open: Open,
        first: bool,
    ) {
        let number = desk.request();
        let (lock, mode) = (open.lock, open.mode);
        let owner = (cx.me(), desk.life());
        let request = Request::Acquire { lock, mode, owner, queue: self.queue };
        let now = cx.clock(ClockKind::Mono);
        let left = open.until.map(|until| now.until(until));
        // Whoever waits in the service's queue gets no answer for as long as it takes.
        let patience = if self.queue {
            left
        } else {
            Some(left.map_or(self.timeout, |l| l.min(self.timeout)))
        };
        let sent = cx.clock(desk.clock());
        open = Open { sent, resting: false, ask: Ask::Acquire, granted: None, ..open };
        cx.ask(
            self.service,
            Body::new("acquire", number, request),
            asks(lock, Ask::Acquire, first, patience),
        );
        open.conn = cx.connection(self.service);
        self.open.add(cx, number, patience, open);
    }

    /// When the client's own rule says that a lease is over which it asked for at `sent`.
    fn deadline(
        &self,
        cx: &Cx<'_, Locks>,
        desk: &Desk,
        sent: Local,
        ttl: Micros,
        waited: bool,
    ) -> Option<Local> {
        let from = match self.counts {
            Counts::Never => return None,
            Counts::FromSend if !waited => sent,
            _ => cx.clock(desk.clock()),
        };
        Some(from.plus(ttl))
    }

    /// Gives the lock up and says so.
    fn send_release(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        task: usize,
        lock: LockId,
    ) -> Flow {
        let Some(grant) = desk.last_grant(lock) else {
            return Flow::Done(Outcome::Refused);
        };
        desk.doubt(cx, lock, BeliefEnd::Released);
        let open = self.blank(cx, desk, task, lock, Ask::Release);
        let careless = self.release != Release::Correct;
        self.simple(cx, desk, "release", Request::Release { lock, grant, careless }, open)
    }

    fn simple(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        name: &'static str,
        request: Request,
        mut open: Open,
    ) -> Flow {
        let number = desk.request();
        let within = Some(self.timeout);
        cx.ask(
            self.service,
            Body::new(name, number, request),
            asks(open.lock, open.ask, true, within),
        );
        open.conn = cx.connection(self.service);
        self.open.add(cx, number, within, open);
        let until = Some(cx.clock(ClockKind::Mono).plus(self.timeout));
        // The program's own word, whatever the request is called.
        let verb = if open.ask == Ask::Holder { "release" } else { name };
        Flow::Wait(Waiting { verb, on: self.service, until })
    }

    fn blank(&self, cx: &Cx<'_, Locks>, desk: &Desk, task: usize, lock: LockId, ask: Ask) -> Open {
        Open {
            task,
            lock,
            ask,
            mode: Mode::Exclusive,
            sent: cx.clock(desk.clock()),
            until: None,
            granted: None,
            resting: false,
            conn: None,
        }
    }

    fn finish(&self, cx: &mut Cx<'_, Locks>, open: &Open, ask: Ask, outcome: Outcome) {
        cx.note(Testimony::Answer(open.lock, ask, outcome));
        cx.finish(open.task, outcome);
    }

    /// Asks again later, or gives up where the acquire's own time is over.
    fn again_later(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, open: Open, wait: Micros) {
        let now = cx.clock(ClockKind::Mono);
        if open.until.is_some_and(|until| now.plus(wait) >= until) {
            self.finish(cx, &open, Ask::Acquire, Outcome::Timeout);
            return;
        }
        let number = desk.request();
        self.open.add(cx, number, Some(wait), Open { resting: true, ..open });
    }

    fn granted(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        open: Open,
        grant: Grant,
        token: Option<Token>,
        deadline: Option<Local>,
    ) {
        let fetched = match self.rule {
            TokenRule::SetThenIncr => Some("incr"),
            TokenRule::ReadLate => Some("newest"),
            _ => None,
        };
        if let (Some(name), true) = (fetched, token.is_none()) {
            let number = desk.request();
            let request = Request::Token { lock: open.lock, grant, rule: self.rule };
            let within = Some(self.timeout);
            let note = asks(open.lock, Ask::Token, true, within);
            cx.ask(self.service, Body::new(name, number, request), note);
            let (granted, conn) = (Some((grant, deadline)), cx.connection(self.service));
            let open = Open { ask: Ask::Token, granted, conn, ..open };
            self.open.add(cx, number, within, open);
            return;
        }
        if !cx.waits(open.task) {
            // The task that asked was stopped: no code of the client consumes the grant.
            cx.note(Testimony::Answer(open.lock, Ask::Acquire, Outcome::Closed));
            return;
        }
        cx.note(Testimony::Answer(open.lock, Ask::Acquire, Outcome::Ok));
        desk.believe(cx, open.lock, open.mode, grant, token, deadline);
        cx.finish(open.task, Outcome::Ok);
    }

    fn answered(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, open: Open, reply: Reply) {
        match (open.ask, reply) {
            (Ask::Acquire, Reply::Granted { grant, token, ttl, waited }) => {
                let deadline = self.deadline(cx, desk, open.sent, ttl, waited);
                self.granted(cx, desk, open, grant, token, deadline);
            }
            (Ask::Acquire, Reply::Refused) => self.again_later(cx, desk, open, self.retry),
            (Ask::Token, Reply::Count(token)) => {
                cx.note(Testimony::Answer(open.lock, Ask::Token, Outcome::Ok));
                if let Some((grant, deadline)) = open.granted {
                    self.granted(cx, desk, open, grant, Some(token), deadline);
                }
            }
            (Ask::Renew, Reply::Renewed { ttl }) => {
                let deadline = self.deadline(cx, desk, open.sent, ttl, false);
                desk.extend(cx, open.lock, deadline);
                self.finish(cx, &open, Ask::Renew, Outcome::Ok);
            }
            (ask @ Ask::Renew, _) => refused(cx, desk, open.task, open.lock, ask),
            (Ask::Holder, Reply::Holder(true)) => {
                cx.note(Testimony::Answer(open.lock, Ask::Holder, Outcome::Ok));
                // A program that was stopped meanwhile sends nothing more.
                if cx.waits(open.task)
                    && let Flow::Done(outcome) = self.send_release(cx, desk, open.task, open.lock)
                {
                    cx.finish(open.task, outcome);
                }
            }
            (ask @ Ask::Holder, _) => refused(cx, desk, open.task, open.lock, ask),
            (Ask::Release, Reply::Released) => self.finish(cx, &open, Ask::Release, Outcome::Ok),
            (Ask::Release, _) => self.finish(cx, &open, Ask::Release, Outcome::Refused),
            _ => {}
        }
    }
}

impl LockClient for LeaseClient {
    fn boxed(&self) -> Box<dyn LockClient> {
        Box::new(self.clone())
    }

    fn acquire(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        task: usize,
        lock: LockId,
        mode: Mode,
        within: Option<Micros>,
    ) -> Flow {
        let until = within.map(|w| cx.clock(ClockKind::Mono).plus(w));
        let open = Open { mode, until, ..self.blank(cx, desk, task, lock, Ask::Acquire) };
        self.send_acquire(cx, desk, open, true);
        Flow::Wait(Waiting { verb: "acquire", on: self.service, until })
    }

    fn renew(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        task: usize,
        lock: LockId,
    ) -> Flow {
        let Some(grant) = desk.last_grant(lock) else {
            return Flow::Done(Outcome::Refused);
        };
        let owner = (cx.me(), desk.life());
        let open = self.blank(cx, desk, task, lock, Ask::Renew);
        let careless = self.careless_renewal;
        self.simple(cx, desk, "renew", Request::Renew { lock, owner, grant, careless }, open)
    }

    fn release(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        task: usize,
        lock: LockId,
    ) -> Flow {
        let Some(grant) = desk.last_grant(lock) else {
            return Flow::Done(Outcome::Refused);
        };
        if self.release != Release::GetThenDel {
            return self.send_release(cx, desk, task, lock);
        }
        let open = self.blank(cx, desk, task, lock, Ask::Holder);
        self.simple(cx, desk, "question", Request::Holder { lock, grant }, open)
    }

    fn on_message(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        _: (ProcId, ConnId),
        body: &Body,
    ) {
        let Some(reply) = body.get::<Reply>().copied() else {
            return;
        };
        if matches!(reply, Reply::Queued) {
            return;
        }
        if let Some(open) = self.open.take(cx, body.request) {
            self.answered(cx, desk, open, reply);
        }
    }

    fn on_timer(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, request: u64) {
        let Some(open) = self.open.take(cx, request) else {
            return;
        };
        if open.resting {
            self.send_acquire(cx, desk, open, false);
            return;
        }
        cx.hang_up(self.service, open.conn);
        match open.ask {
            // An unanswered try is an unknown; asking again is safe because re-entry is.
            Ask::Acquire if open.until.is_none() => self.again_later(cx, desk, open, self.retry),
            Ask::Token => {
                cx.note(Testimony::Answer(open.lock, Ask::Token, Outcome::Timeout));
                self.finish(cx, &open, Ask::Acquire, Outcome::Timeout);
            }
            ask => {
                if ask == Ask::Acquire && open.until.is_some_and(|u| cx.clock(ClockKind::Mono) < u)
                {
                    self.again_later(cx, desk, open, self.retry);
                } else {
                    self.finish(cx, &open, ask, Outcome::Timeout);
                }
            }
        }
    }

    fn on_closed(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, peer: ProcId, conn: ConnId) {
        let here = peer == self.service;
        let on_it = |open: &Open| here && !open.resting && open.conn <= Some(conn);
        for open in self.open.take_where(cx, on_it) {
            match open.ask {
                Ask::Acquire => self.again_later(cx, desk, open, self.retry),
                Ask::Token => {
                    cx.note(Testimony::Answer(open.lock, Ask::Token, Outcome::Closed));
                    self.finish(cx, &open, Ask::Acquire, Outcome::Closed);
                }
                ask => self.finish(cx, &open, ask, Outcome::Closed),
            }
        }
    }

    fn task_of(&self, request: u64) -> Option<usize> {
        self.open.get(request).map(|open| open.task)
    }

    fn on_crash(&mut self) {
        self.open.clear();
    }

    fn on_settings(&mut self, settings: &Settings) {
        self.queue = settings.word("acquire.wait") == "queue";
        self.retry = settings.span("acquire.retry");
        self.timeout = settings.span("request.timeout");
        self.counts = match settings.word("lease.deadline") {
            "receipt" => Counts::FromReceipt,
            "none" => Counts::Never,
            _ => Counts::FromSend,
        };
        self.careless_renewal = settings.word("renew.rule") == "careless";
        self.release = match settings.word("release.rule") {
            "careless" => Release::Careless,
            "get-then-del" => Release::GetThenDel,
            _ => Release::Correct,
        };
        self.rule = TokenRule::of(settings);
    }
}
