//! A lease service: one server that grants a lock for a time, with a growing generation.
//!
//! Rules, all *inference* from what the well-known lease services share: the generation grows with
//! every new grant of a lock and is durable; the service expires a lease by its own clock, at the
//! moment of the last accepted grant or renewal plus the TTL; a renewal after that is refused and
//! never re-creates; a re-entry by the present holder renews and keeps the generation. Two more
//! ways to hand out a token are there to be compared: a random value that identifies its owner and
//! has no order, and a counter that is incremented in a second step after the lock was set.

use std::collections::{BTreeMap, VecDeque};

use super::client::{Desk, LockClient, Requests, asks};
use super::settings::{Kind, Settings, Spec};
use super::{Body, Fact, Locks, Piece, System};
use crate::judge::{Ask, BeliefEnd, Grant, LockId, Mode, Testimony, Token, TruthEnd};
use crate::sim::{
    Actor, ClockKind, Clocks, ConnId, CrashKind, Cx, Disk, Flow, Local, Micros, Outcome, ProcId,
    Purpose, TimerId, Waiting, up_to,
};

/// The lease service as a system.
#[derive(Clone, Copy, Debug)]
pub struct Lease;

const SETTINGS: &[Spec] = &[
    Spec {
        key: "lease.ttl",
        kind: Kind::Span,
        default: "10s",
        about: "How long a grant or an accepted renewal lasts.",
    },
    Spec {
        key: "lease.token",
        kind: Kind::Choice(&["generation", "random", "set-then-incr"]),
        default: "generation",
        about: "Where a token comes from: minted with the grant; drawn at random; a counter \
                incremented in a second request after the grant.",
    },
    Spec {
        key: "lock.first_token",
        kind: Kind::Number,
        default: "1",
        about: "The first generation, or the counter's first value.",
    },
    Spec {
        key: "lease.clock",
        kind: Kind::Choice(&["mono", "wall", "boot"]),
        default: "mono",
        about: "Which of its clocks the service expires leases by.",
    },
    Spec {
        key: "lease.deadline",
        kind: Kind::Choice(&["send", "receipt"]),
        default: "send",
        about: "From when a client counts its own deadline. A grant that waited in the queue is \
                counted from its receipt in any case.",
    },
    Spec {
        key: "lock.delay",
        kind: Kind::Span,
        default: "0s",
        about: "How long the service grants a lock to nobody after a lease expired.",
    },
];

impl System for Lease {
    fn name(&self) -> &'static str {
        "lease"
    }

    fn about(&self) -> &'static str {
        "One lock service that grants leases with a growing generation, as node `lock-service`."
    }

    fn token_word(&self) -> &'static str {
        "generation"
    }

    fn settings(&self) -> &'static [Spec] {
        SETTINGS
    }

    fn servers(
        &self,
        settings: &Settings,
        locks: usize,
    ) -> Vec<(String, String, Box<dyn Actor<Locks>>)> {
        let service = Service::new(settings, locks);
        vec![("lock-service".into(), "Lock service".into(), Box::new(service))]
    }

    fn client(&self, settings: &Settings, servers: &[ProcId]) -> Box<dyn LockClient> {
        Box::new(LeaseClient::new(settings, servers[0]))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum TokenRule {
    Generation,
    Random,
    SetThenIncr,
}

impl TokenRule {
    fn of(settings: &Settings) -> TokenRule {
        match settings.word("lease.token") {
            "random" => TokenRule::Random,
            "set-then-incr" => TokenRule::SetThenIncr,
            _ => TokenRule::Generation,
        }
    }
}

/// Who a client is to the service: a process in one of its lives.
type Owner = (ProcId, u32);

#[derive(Clone, Copy, Debug)]
enum Request {
    Acquire { lock: LockId, mode: Mode, owner: Owner, queue: bool },
    Renew { lock: LockId, owner: Owner, grant: Grant },
    Release { lock: LockId, grant: Grant },
    Increment { lock: LockId, grant: Grant },
}

impl Request {
    fn lock(self) -> LockId {
        match self {
            Request::Acquire { lock, .. }
            | Request::Renew { lock, .. }
            | Request::Release { lock, .. }
            | Request::Increment { lock, .. } => lock,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Reply {
    /// `waited` says that the grant comes out of the queue.
    Granted {
        grant: Grant,
        token: Option<Token>,
        ttl: Micros,
        waited: bool,
    },
    Refused,
    Queued,
    Renewed {
        ttl: Micros,
    },
    Released,
    Count(Token),
}

#[derive(Clone, Copy, Debug)]
struct Lessee {
    owner: Owner,
    mode: Mode,
    grant: Grant,
    token: Option<Token>,
    deadline: Local,
    timer: TimerId,
}

#[derive(Clone, Copy, Debug)]
struct Waiter {
    owner: Owner,
    mode: Mode,
    conn: ConnId,
    request: u64,
}

#[derive(Clone, Default, Debug)]
struct LockState {
    holders: Vec<Lessee>,
    waiting: VecDeque<Waiter>,
    /// Nobody is granted the lock before this moment.
    closed_until: Option<Local>,
}

/// What survives every crash: how many grants each lock has seen, and the separate counter.
#[derive(Clone, Default, Debug)]
struct Ledger {
    grants: BTreeMap<LockId, u64>,
    counter: BTreeMap<LockId, u64>,
    /// Random values, those that were drawn twice and thrown away included.
    issued: Vec<(LockId, Token)>,
}

#[derive(Clone, Debug)]
struct Service {
    ttl: Micros,
    rule: TokenRule,
    first: u64,
    clock: ClockKind,
    delay: Micros,
    /// Leases are durable through consensus; who waits is known in memory only.
    locks: Vec<LockState>,
    ledger: Disk<Ledger>,
}

impl Service {
    fn new(settings: &Settings, locks: usize) -> Service {
        let mut service = Service {
            ttl: Micros::ZERO,
            rule: TokenRule::Generation,
            first: settings.number("lock.first_token"),
            clock: ClockKind::Mono,
            delay: Micros::ZERO,
            locks: vec![LockState::default(); locks],
            ledger: Disk::default(),
        };
        service.configure(settings);
        service
    }

    fn configure(&mut self, settings: &Settings) {
        self.ttl = settings.span("lease.ttl");
        self.rule = TokenRule::of(settings);
        self.delay = settings.span("lock.delay");
        self.clock = match settings.word("lease.clock") {
            "wall" => ClockKind::Wall,
            "boot" => ClockKind::Boot,
            _ => ClockKind::Mono,
        };
    }

    fn state(&mut self, lock: LockId) -> &mut LockState {
        &mut self.locks[usize::from(lock.0)]
    }

    fn acquire(&mut self, cx: &mut Cx<'_, Locks>, lock: LockId, waiter: Waiter, queue: bool) {
        let Waiter { owner, mode, conn, request } = waiter;
        if let Some(index) = self.state(lock).holders.iter().position(|h| h.owner == owner) {
            // Re-entry: the lease is renewed and keeps its generation.
            self.extend(cx, lock, index);
            let lessee = self.state(lock).holders[index];
            let (grant, token, ttl) = (lessee.grant, lessee.token, self.ttl);
            let reply = Reply::Granted { grant, token, ttl, waited: false };
            cx.send(conn, Body::new("granted", request, reply).with_token(token), None);
            return;
        }
        let now = cx.clock(self.clock);
        if self.state(lock).admits(mode, now) {
            self.grant(cx, lock, waiter, false);
        } else if queue {
            cx.note(Testimony::Queue(lock, owner.0));
            self.state(lock).waiting.retain(|w| w.owner != owner);
            self.state(lock).waiting.push_back(waiter);
            cx.send(conn, Body::new("queued", request, Reply::Queued), None);
        } else {
            cx.note(Testimony::Refuse(lock, owner.0, Ask::Acquire));
            cx.send(conn, Body::new("refused", request, Reply::Refused), None);
        }
    }

    fn grant(&mut self, cx: &mut Cx<'_, Locks>, lock: LockId, waiter: Waiter, woken: bool) {
        let count = self.ledger.write().grants.entry(lock).or_default();
        *count += 1;
        let ordinal = *count;
        let token = match self.rule {
            TokenRule::Generation => Some(Token(self.first + ordinal - 1)),
            TokenRule::Random => Some(self.random_token(cx, lock)),
            TokenRule::SetThenIncr => None,
        };
        self.ledger.sync();
        let grant = Grant(cx.note(Testimony::Grant {
            lock,
            client: waiter.owner.0,
            mode: waiter.mode,
            token,
            term: Some(self.ttl),
            asked: true,
            woken,
        }));
        let deadline = cx.clock(self.clock).plus(self.ttl);
        let timer = cx.timer(self.clock, deadline, u64::from(lock.0));
        let (owner, mode) = (waiter.owner, waiter.mode);
        self.state(lock).holders.push(Lessee { owner, mode, grant, token, deadline, timer });
        let reply = Reply::Granted { grant, token, ttl: self.ttl, waited: woken };
        cx.send(waiter.conn, Body::new("granted", waiter.request, reply).with_token(token), None);
    }

    /// A value that no other grant of the lock has. Real ones have 160 bits; four digits keep the
    /// figure readable, and what matters is that they have no order.
    fn random_token(&mut self, cx: &Cx<'_, Locks>, lock: LockId) -> Token {
        let issued = &mut self.ledger.write().issued;
        loop {
            let draw = cx.random(Purpose::LockValue, issued.len() as u64);
            let range = 8_999.max(issued.len() as u64 * 4);
            issued.push((lock, Token(1_000 + up_to(draw, range))));
            let newest = issued[issued.len() - 1];
            if !issued[..issued.len() - 1].contains(&newest) {
                return newest.1;
            }
        }
    }

    fn extend(&mut self, cx: &mut Cx<'_, Locks>, lock: LockId, index: usize) {
        let deadline = cx.clock(self.clock).plus(self.ttl);
        let lessee = &mut self.locks[usize::from(lock.0)].holders[index];
        cx.note(Testimony::Extend(lessee.grant, Some(self.ttl)));
        cx.cancel(lessee.timer);
        lessee.deadline = deadline;
        lessee.timer = cx.timer(self.clock, deadline, u64::from(lock.0));
    }

    fn renew(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        conn: ConnId,
        request: u64,
        lock: LockId,
        owner: Owner,
        grant: Grant,
    ) {
        let mine = |h: &Lessee| h.owner == owner && h.grant == grant;
        let reply = match self.state(lock).holders.iter().position(mine) {
            Some(index) => {
                self.extend(cx, lock, index);
                Body::new("renewed", request, Reply::Renewed { ttl: self.ttl })
            }
            None => {
                cx.note(Testimony::Refuse(lock, owner.0, Ask::Renew));
                Body::new("refused", request, Reply::Refused)
            }
        };
        cx.send(conn, reply, None);
    }

    fn release(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        from: ProcId,
        conn: ConnId,
        request: u64,
        lock: LockId,
        grant: Grant,
    ) {
        let state = self.state(lock);
        match state.holders.iter().position(|h| h.grant == grant) {
            Some(index) => {
                let lessee = state.holders.remove(index);
                cx.cancel(lessee.timer);
                cx.note(Testimony::Free(lessee.grant, TruthEnd::Released));
                cx.send(conn, Body::new("released", request, Reply::Released), None);
                self.admit(cx, lock);
            }
            None => {
                cx.note(Testimony::Refuse(lock, from, Ask::Release));
                cx.send(conn, Body::new("refused", request, Reply::Refused), None);
            }
        }
    }

    fn increment(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        conn: ConnId,
        request: u64,
        lock: LockId,
        grant: Grant,
    ) {
        let count = self.ledger.write().counter.entry(lock).or_default();
        *count += 1;
        let token = Token(self.first + *count - 1);
        self.ledger.sync();
        if let Some(h) = self.state(lock).holders.iter_mut().find(|h| h.grant == grant) {
            h.token = Some(token);
        }
        cx.note(Testimony::Mint(grant, token));
        let body = Body::new("count", request, Reply::Count(token)).with_token(Some(token));
        cx.send(conn, body, None);
    }

    /// Ends every lease that ran out. Each request looks first, because a service that was paused
    /// reads its messages before its timers and must not renew what its clock says is over.
    fn expire(&mut self, cx: &mut Cx<'_, Locks>, lock: LockId) {
        let now = cx.clock(self.clock);
        while let Some(index) = self.state(lock).holders.iter().position(|h| h.deadline <= now) {
            let lessee = self.state(lock).holders.remove(index);
            cx.cancel(lessee.timer);
            let moment = cx.passed(self.clock, lessee.deadline);
            cx.note(Testimony::Free(lessee.grant, TruthEnd::Expired(moment)));
            if self.delay > Micros::ZERO {
                let until = lessee.deadline.plus(self.delay);
                self.state(lock).closed_until = Some(until);
                cx.timer(self.clock, until, u64::from(lock.0));
            }
        }
    }

    /// Grants the lock to whoever waits longest, and on as long as the modes allow.
    fn admit(&mut self, cx: &mut Cx<'_, Locks>, lock: LockId) {
        let now = cx.clock(self.clock);
        while let Some(waiter) = self.state(lock).waiting.front().copied() {
            if !self.state(lock).admits(waiter.mode, now) {
                break;
            }
            self.state(lock).waiting.pop_front();
            self.grant(cx, lock, waiter, true);
        }
    }
}

impl LockState {
    fn admits(&self, mode: Mode, now: Local) -> bool {
        self.closed_until.is_none_or(|t| now >= t)
            && self.holders.iter().all(|h| !h.mode.conflicts(mode))
    }
}

impl Actor<Locks> for Service {
    fn boxed(&self) -> Box<dyn Actor<Locks>> {
        Box::new(self.clone())
    }

    fn on_message(&mut self, cx: &mut Cx<'_, Locks>, from: ProcId, conn: ConnId, body: &Body) {
        let number = body.request;
        let request = body.get::<Request>().copied();
        if let Some(request) = request {
            self.expire(cx, request.lock());
        }
        match request {
            Some(Request::Acquire { lock, mode, owner, queue }) => {
                let waiter = Waiter { owner, mode, conn, request: number };
                self.acquire(cx, lock, waiter, queue);
            }
            Some(Request::Renew { lock, owner, grant }) => {
                self.renew(cx, conn, number, lock, owner, grant);
            }
            Some(Request::Release { lock, grant }) => {
                self.release(cx, from, conn, number, lock, grant);
            }
            Some(Request::Increment { lock, grant }) => {
                self.increment(cx, conn, number, lock, grant);
            }
            None => {}
        }
    }

    /// A lease of this lock may have run out, or its lock-delay.
    fn on_timer(&mut self, cx: &mut Cx<'_, Locks>, key: u64) {
        let lock = LockId(key as u16);
        self.expire(cx, lock);
        self.admit(cx, lock);
    }

    fn on_start(&mut self, cx: &mut Cx<'_, Locks>) {
        // After a restart the leases are there, each with a new timer to its old deadline.
        for index in 0..self.locks.len() {
            for holder in &mut self.locks[index].holders {
                holder.timer = cx.timer(self.clock, holder.deadline, index as u64);
            }
        }
    }

    fn on_crash(&mut self, _cx: &mut Cx<'_, Locks>, how: CrashKind) {
        self.ledger.crash(how);
        for lock in &mut self.locks {
            lock.waiting.clear();
        }
    }

    fn on_settings(&mut self, settings: &Settings) {
        self.configure(settings);
    }

    fn busy(&self) -> bool {
        self.locks.iter().any(|l| !l.holders.is_empty())
    }

    fn facts(&self, now: Micros, clocks: &Clocks) -> Vec<Fact> {
        let mut facts = Vec::new();
        for (index, state) in self.locks.iter().enumerate() {
            let lock = LockId(index as u16);
            if state.holders.is_empty() {
                let value = vec![Piece::Word("free")];
                facts.push(Fact::Row { key: vec![Piece::Lock(lock)], value });
            }
            for holder in &state.holders {
                let mut value = vec![Piece::Client(holder.owner.0), Piece::Word("holds")];
                value.extend(holder.token.map(Piece::Token));
                facts.push(Fact::Row { key: vec![Piece::Lock(lock)], value });
                let until = clocks.get(self.clock).when(now, holder.deadline);
                facts.push(Fact::Ring { lock, until, span: self.ttl });
            }
            if !state.waiting.is_empty() {
                let waiting = state.waiting.iter().map(|w| w.owner.0).collect();
                facts.push(Fact::Queue { lock, waiting });
            }
        }
        facts
    }
}

/// An acquire, renewal or release that waits for its answer.
#[derive(Clone, Copy, Debug)]
struct Open {
    task: usize,
    lock: LockId,
    ask: Ask,
    mode: Mode,
    /// When this request was sent, on the client's monotonic clock.
    sent: Local,
    /// When the whole acquire gives up.
    until: Option<Local>,
    /// The grant that a token is fetched for, and when it is over by the client's own rule.
    granted: Option<(Grant, Local)>,
    /// A refused acquire that will ask again when its timer fires.
    resting: bool,
}

#[derive(Clone, Debug)]
struct LeaseClient {
    service: ProcId,
    open: Requests<Open>,
    queue: bool,
    retry: Micros,
    timeout: Micros,
    from_send: bool,
    rule: TokenRule,
}

impl LeaseClient {
    fn new(settings: &Settings, service: ProcId) -> LeaseClient {
        let mut client = LeaseClient {
            service,
            open: Requests::default(),
            queue: true,
            retry: Micros::ZERO,
            timeout: Micros::ZERO,
            from_send: true,
            rule: TokenRule::Generation,
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
        open = Open { sent: now, resting: false, ask: Ask::Acquire, granted: None, ..open };
        cx.ask(
            self.service,
            Body::new("acquire", number, request),
            asks(lock, Ask::Acquire, first, patience),
        );
        self.open.add(cx, number, patience, open);
    }

    fn simple(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        name: &'static str,
        request: Request,
        open: Open,
    ) -> Flow {
        let number = desk.request();
        let within = Some(self.timeout);
        cx.ask(
            self.service,
            Body::new(name, number, request),
            asks(open.lock, open.ask, true, within),
        );
        self.open.add(cx, number, within, open);
        let until = Some(cx.clock(ClockKind::Mono).plus(self.timeout));
        Flow::Wait(Waiting { verb: name, on: self.service, until })
    }

    fn blank(&self, cx: &Cx<'_, Locks>, task: usize, lock: LockId, ask: Ask) -> Open {
        Open {
            task,
            lock,
            ask,
            mode: Mode::Exclusive,
            sent: cx.clock(ClockKind::Mono),
            until: None,
            granted: None,
            resting: false,
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
        deadline: Local,
    ) {
        if self.rule == TokenRule::SetThenIncr && token.is_none() {
            let number = desk.request();
            let request = Request::Increment { lock: open.lock, grant };
            let within = Some(self.timeout);
            let note = asks(open.lock, Ask::Token, true, within);
            cx.ask(self.service, Body::new("incr", number, request), note);
            let open = Open { ask: Ask::Token, granted: Some((grant, deadline)), ..open };
            self.open.add(cx, number, within, open);
            return;
        }
        cx.note(Testimony::Answer(open.lock, Ask::Acquire, Outcome::Ok));
        desk.believe(cx, open.lock, open.mode, grant, token, Some(deadline));
        cx.finish(open.task, Outcome::Ok);
    }

    fn answered(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, open: Open, reply: Reply) {
        match (open.ask, reply) {
            (Ask::Acquire, Reply::Granted { grant, token, ttl, waited }) => {
                let from =
                    if self.from_send && !waited { open.sent } else { cx.clock(ClockKind::Mono) };
                self.granted(cx, desk, open, grant, token, from.plus(ttl));
            }
            (Ask::Acquire, Reply::Refused) => self.again_later(cx, desk, open, self.retry),
            (Ask::Token, Reply::Count(token)) => {
                cx.note(Testimony::Answer(open.lock, Ask::Token, Outcome::Ok));
                if let Some((grant, deadline)) = open.granted {
                    self.granted(cx, desk, open, grant, Some(token), deadline);
                }
            }
            (Ask::Renew, Reply::Renewed { ttl }) => {
                let from = if self.from_send { open.sent } else { cx.clock(ClockKind::Mono) };
                desk.extend(open.lock, Some(from.plus(ttl)));
                self.finish(cx, &open, Ask::Renew, Outcome::Ok);
            }
            (Ask::Renew, _) => {
                cx.note(Testimony::Answer(open.lock, Ask::Renew, Outcome::Refused));
                desk.doubt(cx, open.lock, BeliefEnd::Refused);
                cx.finish(open.task, Outcome::Refused);
            }
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
        let open = Open { mode, until, ..self.blank(cx, task, lock, Ask::Acquire) };
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
        let open = self.blank(cx, task, lock, Ask::Renew);
        self.simple(cx, desk, "renew", Request::Renew { lock, owner, grant }, open)
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
        desk.doubt(cx, lock, BeliefEnd::Released);
        let open = self.blank(cx, task, lock, Ask::Release);
        self.simple(cx, desk, "release", Request::Release { lock, grant }, open)
    }

    fn on_message(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, _from: ProcId, body: &Body) {
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
        cx.abandon(self.service);
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

    fn on_closed(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, _peer: ProcId) {
        let lost: Vec<u64> =
            self.open.iter().filter(|(_, open)| !open.resting).map(|(number, _)| number).collect();
        for number in lost {
            let Some(open) = self.open.take(cx, number) else {
                continue;
            };
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

    fn on_crash(&mut self) {
        self.open.clear();
    }

    fn on_settings(&mut self, settings: &Settings) {
        self.queue = settings.word("acquire.wait") == "queue";
        self.retry = settings.span("acquire.retry");
        self.timeout = settings.span("request.timeout");
        self.from_send = settings.word("lease.deadline") == "send";
        self.rule = TokenRule::of(settings);
    }
}
