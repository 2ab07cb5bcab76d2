//! The lease service's server.

use std::collections::VecDeque;

use super::{Owner, Reply, Request, TokenRule};
use crate::judge::{Ask, Grant, LockId, Mode, Testimony, Token, TruthEnd};
use crate::sim::{
    Actor, ClockKind, Clocks, ConnId, CrashKind, Cx, Disk, Local, Micros, ProcId, Purpose, Table,
    TimerId, up_to,
};
use crate::systems::{Body, Fact, Inquiry, Locks, Piece, Settings};

#[derive(Clone, Copy, Debug)]
struct Lessee {
    owner: Owner,
    mode: Mode,
    grant: Grant,
    /// The grant by which its client knows it: an older one, where a renewal set it again.
    known_as: Grant,
    token: Option<Token>,
    deadline: Local,
    timer: TimerId,
    /// When its deadline passed by a clock that was changed since. It stays over, whatever the
    /// clock shows now: a timer that has come due is not taken back.
    over: Option<Micros>,
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
    grants: Table<LockId, u64>,
    counter: Table<LockId, u64>,
    /// Random values, those that were drawn twice and thrown away included.
    issued: Vec<(LockId, Token)>,
}

/// Where the leases are, and so which death they survive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Store {
    /// Synced before anybody is told.
    Durable,
    /// In the operating system's cache, which outlives the process and not the machine's power.
    Cached,
    /// In the process.
    Memory,
}

impl Store {
    fn of(settings: &Settings) -> Store {
        match settings.word("lease.store") {
            "memory" => Store::Memory,
            "cached" => Store::Cached,
            _ => Store::Durable,
        }
    }

    fn survives(self, how: CrashKind) -> bool {
        match self {
            Store::Durable => true,
            Store::Cached => how != CrashKind::Power,
            Store::Memory => false,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Service {
    ttl: Micros,
    rule: TokenRule,
    /// Each lock's first token.
    firsts: Vec<u64>,
    clock: ClockKind,
    delay: Micros,
    /// Where leases and the last number are; who waits is known in memory only.
    store: Store,
    locks: Vec<LockState>,
    ledger: Disk<Ledger>,
}

impl Service {
    pub(super) fn new(settings: &Settings, locks: usize) -> Service {
        let mut service = Service {
            ttl: Micros::ZERO,
            rule: TokenRule::Generation,
            firsts: (0..locks).map(|lock| settings.number_for("lock.first_token", lock)).collect(),
            clock: ClockKind::Mono,
            delay: Micros::ZERO,
            store: Store::Durable,
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
        self.store = Store::of(settings);
        self.clock = settings.clock("lease.clock");
    }

    fn state(&mut self, lock: LockId) -> &mut LockState {
        &mut self.locks[usize::from(lock.0)]
    }

    fn acquire(&mut self, cx: &mut Cx<'_, Locks>, lock: LockId, waiter: Waiter, queue: bool) {
        let Waiter { owner, mode, conn, request } = waiter;
        // Re-entry: the lease is renewed and keeps its generation. A shared lease does not become an
        // exclusive one so: that is a new request, which waits until every holder is gone.
        let covers = |h: &Lessee| h.owner == owner && (h.mode == mode || h.mode == Mode::Exclusive);
        if let Some(index) = self.state(lock).holders.iter().position(covers) {
            self.extend(cx, lock, index);
            let lessee = self.state(lock).holders[index];
            let (grant, token, ttl) = (lessee.grant, lessee.token, self.ttl);
            // Its client learns by which grant it holds the lock.
            self.state(lock).holders[index].known_as = grant;
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
        let (grant, token) = self.lend(cx, lock, (waiter.owner, waiter.mode), woken, None);
        let reply = Reply::Granted { grant, token, ttl: self.ttl, waited: woken };
        cx.send(waiter.conn, Body::new("granted", waiter.request, reply).with_token(token), None);
    }

    /// Makes a lease; `again` is the grant of one that is gone, which a renewal sets again.
    fn lend(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        lock: LockId,
        (owner, mode): (Owner, Mode),
        woken: bool,
        again: Option<Grant>,
    ) -> (Grant, Option<Token>) {
        let count = self.ledger.write().grants.entry(lock).or_default();
        *count += 1;
        let ordinal = *count;
        let token = match self.rule {
            TokenRule::Generation => Some(self.token(lock, ordinal)),
            TokenRule::Random => Some(self.random_token(cx, lock)),
            TokenRule::Timestamp => Some(self.timestamp(cx)),
            TokenRule::SetThenIncr | TokenRule::ReadLate => None,
        };
        self.ledger.sync();
        let deadline = cx.clock(self.clock).plus(self.ttl);
        let grant = Grant(cx.note(Testimony::Grant {
            lock,
            client: owner.0,
            mode,
            token,
            term: Some(self.ttl),
            expires: cx.when(self.clock, deadline),
            asked: again.is_none(),
            woken,
        }));
        let timer = cx.timer(self.clock, deadline, u64::from(lock.0));
        let known_as = again.unwrap_or(grant);
        let over = None;
        let lessee = Lessee { owner, mode, grant, known_as, token, deadline, timer, over };
        self.state(lock).holders.push(lessee);
        (grant, token)
    }

    /// The token of a lock's grant with this ordinal.
    fn token(&self, lock: LockId, ordinal: u64) -> Token {
        let first = self.firsts.get(usize::from(lock.0)).copied().unwrap_or(1);
        Token(first.saturating_add(ordinal.saturating_sub(1)))
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
        let expires = cx.when(self.clock, deadline);
        cx.note(Testimony::Extend(lessee.grant, Some(self.ttl), expires));
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
        (owner, grant, careless): (Owner, Grant, bool),
    ) {
        let now = cx.clock(self.clock);
        let mine = |h: &Lessee| h.owner == owner && h.known_as == grant;
        let reply = match self.state(lock).holders.iter().position(mine) {
            Some(index) => {
                self.extend(cx, lock, index);
                Body::new("renewed", request, Reply::Renewed { ttl: self.ttl })
            }
            None if careless && self.state(lock).admits(Mode::Exclusive, now) => {
                self.lend(cx, lock, (owner, Mode::Exclusive), false, Some(grant));
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
        (grant, careless): (Grant, bool),
    ) {
        let mut any = false;
        let ends = |h: &Lessee| careless || h.known_as == grant;
        while let Some(index) = self.state(lock).holders.iter().position(ends) {
            let lessee = self.state(lock).holders.remove(index);
            cx.cancel(lessee.timer);
            let own = lessee.known_as == grant;
            let why = if own { TruthEnd::Released } else { TruthEnd::Removed(from) };
            cx.note(Testimony::Free(lessee.grant, why));
            any = true;
        }
        if any {
            cx.send(conn, Body::new("released", request, Reply::Released), None);
            self.admit(cx, lock);
        } else {
            cx.note(Testimony::Refuse(lock, from, Ask::Release));
            cx.send(conn, Body::new("refused", request, Reply::Refused), None);
        }
    }

    /// Says whether the lease of that grant is there, at this moment.
    fn holder(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        from: ProcId,
        conn: ConnId,
        request: u64,
        (lock, grant): (LockId, Grant),
    ) {
        let own = self.state(lock).holders.iter().any(|h| h.known_as == grant);
        if !own {
            cx.note(Testimony::Refuse(lock, from, Ask::Holder));
        }
        let name = if own { "it is yours" } else { "it is not yours" };
        cx.send(conn, Body::new(name, request, Reply::Holder(own)), None);
    }

    /// Milliseconds by the service's wall clock. It goes back where that clock does.
    fn timestamp(&self, cx: &Cx<'_, Locks>) -> Token {
        Token(u64::try_from(cx.clock(ClockKind::Wall).0 / 1_000).unwrap_or(0))
    }

    /// Gives a grant its token in a step of its own, which comes too late by nature.
    fn late_token(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        conn: ConnId,
        request: u64,
        (lock, grant, rule): (LockId, Grant, TokenRule),
    ) {
        let ledger = self.ledger.write();
        let count = *match rule {
            TokenRule::ReadLate => ledger.grants.entry(lock).or_default(),
            _ => {
                let count = ledger.counter.entry(lock).or_default();
                *count += 1;
                count
            }
        };
        let token = self.token(lock, count);
        self.ledger.sync();
        if let Some(h) = self.state(lock).holders.iter_mut().find(|h| h.grant == grant) {
            h.token = Some(token);
        }
        cx.note(Testimony::Mint(grant, token));
        let body = Body::new("count", request, Reply::Count(token)).with_token(Some(token));
        cx.send(conn, body, None);
    }

    /// Says whether that token is a holder's, at this moment.
    fn inquired(&mut self, cx: &mut Cx<'_, Locks>, conn: ConnId, request: u64, asked: Inquiry) {
        let Inquiry::Holds(lock, token) = asked else { return };
        self.expire(cx, lock);
        let holds = self.state(lock).holders.iter().any(|h| h.token == Some(token));
        let name = if holds { "yes" } else { "no" };
        let body = Body::new(name, request, Inquiry::Answer(holds)).with_token(Some(token));
        cx.send(conn, body, None);
    }

    /// Ends every lease that ran out. Each request looks first, because a service that was paused
    /// reads its messages before its timers and must not renew what its clock says is over.
    fn expire(&mut self, cx: &mut Cx<'_, Locks>, lock: LockId) {
        let now = cx.clock(self.clock);
        let is_over = |h: &Lessee| h.over.is_some() || h.deadline <= now;
        while let Some(index) = self.state(lock).holders.iter().position(is_over) {
            let lessee = self.state(lock).holders.remove(index);
            cx.cancel(lessee.timer);
            let passed = || cx.passed(self.clock, lessee.deadline);
            let moment = lessee.over.unwrap_or_else(passed);
            cx.note(Testimony::Free(lessee.grant, TruthEnd::Expired(moment)));
            if self.delay > Micros::ZERO {
                let until = lessee.deadline.plus(self.delay);
                let state = self.state(lock);
                state.closed_until = state.closed_until.max(Some(until));
                cx.timer(self.clock, until, u64::from(lock.0));
            }
        }
    }

    /// Loses every lease and the last number. Random values stay: nobody draws the same one twice.
    fn forget(&mut self, cx: &mut Cx<'_, Locks>) {
        for lock in &mut self.locks {
            for lessee in lock.holders.drain(..) {
                cx.note(Testimony::Free(lessee.grant, TruthEnd::Forgotten));
            }
            lock.closed_until = None;
        }
        let ledger = self.ledger.write();
        ledger.grants = Table::new();
        ledger.counter = Table::new();
        self.ledger.sync();
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
        if let Some(asked) = body.get::<Inquiry>() {
            return self.inquired(cx, conn, number, *asked);
        }
        let request = body.get::<Request>().copied();
        if let Some(request) = request {
            self.expire(cx, request.lock());
        }
        match request {
            Some(Request::Acquire { lock, mode, owner, queue }) => {
                let waiter = Waiter { owner, mode, conn, request: number };
                self.acquire(cx, lock, waiter, queue);
            }
            Some(Request::Renew { lock, owner, grant, careless }) => {
                self.renew(cx, conn, number, lock, (owner, grant, careless));
            }
            Some(Request::Release { lock, grant, careless }) => {
                self.release(cx, from, conn, number, lock, (grant, careless));
            }
            Some(Request::Holder { lock, grant }) => {
                self.holder(cx, from, conn, number, (lock, grant));
            }
            Some(Request::Token { lock, grant, rule }) => {
                self.late_token(cx, conn, number, (lock, grant, rule));
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

    /// When a lease ends depends on the clock that it is counted by. So the service testifies anew
    /// for each that will end at another moment than it would have.
    fn on_clock(&mut self, cx: &mut Cx<'_, Locks>, before: &Clocks) {
        let (now, clock) = (cx.now(), before.get(self.clock));
        for lessee in self.locks.iter_mut().flat_map(|lock| &mut lock.holders) {
            if lessee.over.is_none() && lessee.deadline <= clock.read(now) {
                lessee.over = Some(clock.passed(lessee.deadline));
            }
            let then = cx.when(self.clock, lessee.deadline);
            if lessee.over.is_none() && then != clock.when(now, lessee.deadline) {
                cx.note(Testimony::Expires(lessee.grant, then));
            }
        }
    }

    fn on_crash(&mut self, cx: &mut Cx<'_, Locks>, how: CrashKind) {
        self.ledger.crash(how);
        for lock in &mut self.locks {
            lock.waiting.clear();
        }
        if !self.store.survives(how) {
            self.forget(cx);
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
                value.push(holder.token.map_or(Piece::Word("it"), Piece::Token));
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
