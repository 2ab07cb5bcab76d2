//! The resource itself: cells, their versions, and what is between check and apply.

use super::guard::{Check, Guard, Place, Tokens};
use super::{Condition, Reply, Request, Terms, Touch};
use crate::judge::{CellId, Operation, Rejection, Testimony, Unmet, Write};
use crate::sim::{
    Actor, ClockKind, Clocks, ConnId, CrashKind, Cx, Disk, Micros, MsgId, ProcId, Table,
};
use crate::systems::{Body, Fact, Inquiry, Locks, Piece, Settings};

#[derive(Clone, Copy, Default, Debug)]
struct Cell {
    value: i64,
    version: u32,
}

/// A write as it came, and where its answer goes.
#[derive(Clone, Debug)]
struct Came {
    op: Operation,
    write: Write,
    terms: Terms,
    msg: MsgId,
    conn: ConnId,
    request: u64,
}

/// An operation whose check needs more than this step.
#[derive(Clone, Debug)]
enum Parked {
    /// Checked; applied when its timer fires.
    Later(Came),
    /// The lock service was asked whether its token is the holder's.
    Asked(Came),
    /// The same, of a read.
    AskedRead(Operation, ConnId, u64),
}

impl Parked {
    fn asks(&self) -> bool {
        !matches!(self, Parked::Later(_))
    }

    fn op(&self) -> &Operation {
        match self {
            Parked::Later(came) | Parked::Asked(came) => &came.op,
            Parked::AskedRead(op, ..) => op,
        }
    }
}

/// A protected resource.
#[derive(Clone, Debug)]
pub struct Resource {
    guard: Guard,
    gap: Micros,
    timeout: Micros,
    data: Disk<Table<CellId, Cell>>,
    /// Whom it asks who holds a lock: the first that answers.
    services: Vec<ProcId>,
    /// The place of the one that it asks first: the one that answered last, as with a client that stays
    /// where it is connected.
    at: usize,
    /// In memory, in the order in which they came, each with its number, and how many servers were
    /// asked about it before in vain.
    parked: Vec<(u64, Parked, usize)>,
    numbers: u64,
}

impl Resource {
    /// A resource with these cells at their initial values; `services` are whom it can ask who holds
    /// a lock, one after the other.
    pub fn new(
        settings: &Settings,
        services: Vec<ProcId>,
        cells: impl IntoIterator<Item = (CellId, i64)>,
    ) -> Resource {
        let cells = cells.into_iter().map(|(id, value)| (id, Cell { value, version: 0 })).collect();
        Resource {
            guard: Guard::new(Place::Resource, settings),
            gap: settings.span("resource.gap"),
            timeout: settings.span("request.timeout"),
            data: Disk::new(cells),
            services,
            at: 0,
            parked: Vec::new(),
            numbers: 0,
        }
    }

    fn cell(&self, id: CellId) -> Cell {
        self.data.read().get(&id).copied().unwrap_or_default()
    }

    /// Keeps an operation until its timer fires, or the service answers before that.
    fn park(&mut self, cx: &mut Cx<'_, Locks>, what: Parked, tries: usize) -> u64 {
        // Each server has its part of the whole time, as each has of a client's that connects.
        let each = self.timeout.0 / (self.services.len().max(1) as u64);
        let span = if what.asks() { Micros(each) } else { self.gap };
        self.numbers += 1;
        self.parked.push((self.numbers, what, tries));
        cx.timer(ClockKind::Mono, cx.clock(ClockKind::Mono).plus(span), self.numbers);
        self.numbers
    }

    fn unpark(&mut self, number: u64) -> Option<(Parked, usize)> {
        let index = self.parked.iter().position(|p| p.0 == number)?;
        let (_, what, tries) = self.parked.remove(index);
        Some((what, tries))
    }

    /// Asks the lock service about an operation's token, after so many of its servers in vain; the
    /// answer finds what was parked.
    fn inquire(&mut self, cx: &mut Cx<'_, Locks>, what: Parked, tries: usize) {
        let op = *what.op();
        let Some(token) = op.token else {
            return self.refuse(cx, &what, Rejection::Missing);
        };
        let place = (self.at + tries) % self.services.len().max(1);
        let Some(service) =
            self.services.get(place).copied().filter(|_| tries < self.services.len())
        else {
            // Who cannot ask, refuses.
            return self.refuse(cx, &what, Rejection::Unasked);
        };
        let number = self.park(cx, what, tries);
        let body = Body::new("question", number, Inquiry::Holds(op.lock, token));
        let note = Some(Testimony::Inquire(op.lock, token));
        cx.ask(service, body.with_token(Some(token)), note);
        // Each question has a stream of its own, so that no answer waits for another.
        cx.abandon(service);
    }

    fn refuse(&mut self, cx: &mut Cx<'_, Locks>, what: &Parked, why: Rejection) {
        let (op, write, conn, request) = match what {
            Parked::Later(w) | Parked::Asked(w) => {
                (&w.op, Some((w.write, w.msg)), w.conn, w.request)
            }
            Parked::AskedRead(op, conn, request) => (op, None, *conn, *request),
        };
        cx.note(Testimony::Reject(*op, write, why));
        cx.send(conn, Reply::Rejected(why).body(request, op.token), None);
    }

    /// A server of the lock service has answered.
    fn answered(&mut self, cx: &mut Cx<'_, Locks>, from: ProcId, number: u64, answer: Inquiry) {
        let Some((what, tries)) = self.unpark(number) else { return };
        let Inquiry::Answer(holds) = answer else { return self.inquire(cx, what, tries + 1) };
        self.at = self.services.iter().position(|s| *s == from).unwrap_or(self.at);
        match what {
            what if !holds => self.refuse(cx, &what, Rejection::NotHolder),
            Parked::Asked(came) | Parked::Later(came) => self.apply(cx, &came),
            Parked::AskedRead(op, conn, request) => self.serve(cx, &op, conn, request),
        }
    }

    fn read(&mut self, cx: &mut Cx<'_, Locks>, op: &Operation, conn: ConnId, request: u64) {
        if self.guard.check == Check::Session {
            return self.inquire(cx, Parked::AskedRead(*op, conn, request), 0);
        }
        match self.guard.examine(Touch::Read, op) {
            Ok(()) => self.serve(cx, op, conn, request),
            Err(why) => self.refuse(cx, &Parked::AskedRead(*op, conn, request), why),
        }
    }

    fn serve(&mut self, cx: &mut Cx<'_, Locks>, op: &Operation, conn: ConnId, request: u64) {
        let cell = self.cell(op.cell);
        let served = cx.note(Testimony::Serve(*op, cell.version, cell.value));
        let reply = Reply::Value(cell.value, cell.version, served);
        cx.send(conn, reply.body(request, op.token), None);
    }

    fn claim(&mut self, cx: &mut Cx<'_, Locks>, op: &Operation, conn: ConnId, request: u64) {
        let reply = match self.guard.examine(Touch::Claim, op) {
            Ok(()) => {
                cx.note(Testimony::Mark(*op));
                Reply::Claimed
            }
            Err(why) => {
                cx.note(Testimony::Reject(*op, None, why));
                Reply::Rejected(why)
            }
        };
        cx.send(conn, reply.body(request, op.token), None);
    }

    fn write(&mut self, cx: &mut Cx<'_, Locks>, came: Came) {
        if self.guard.check == Check::Session {
            return self.inquire(cx, Parked::Asked(came), 0);
        }
        if let Err(why) = self.guard.examine(Touch::Write, &came.op) {
            return self.refuse(cx, &Parked::Later(came), why);
        }
        if self.guard.check == Check::Token(Tokens::Racy) && self.gap > Micros::ZERO {
            cx.note(Testimony::Admit(came.op, came.write, came.msg));
            self.park(cx, Parked::Later(came), 0);
            return;
        }
        self.apply(cx, &came);
    }

    /// Whether a write may replace what is there now, by its version and by its own condition.
    fn terms_hold(&self, op: &Operation, terms: &Terms) -> Result<(), Rejection> {
        let version = self.cell(op.cell).version;
        if self.guard.check == Check::Version {
            match terms.known {
                Some(known) if known == version => {}
                Some(_) => return Err(Rejection::Version),
                None => return Err(Rejection::Unread),
            }
        }
        let unmet = match terms.condition.as_deref() {
            None => return Ok(()),
            Some(Condition::Version) if terms.known.is_none() => return Err(Rejection::Unread),
            Some(Condition::Version) => (terms.known != Some(version)).then_some(Unmet::Version),
            Some(Condition::Fresh) => (version > 0).then_some(Unmet::Fresh),
            Some(Condition::Cells(expr)) => {
                let last = self.data.read().keys().map(|c| usize::from(c.0)).max().unwrap_or(0);
                let mut values = vec![0; last + 1];
                for (id, cell) in self.data.read() {
                    values[usize::from(id.0)] = cell.value;
                }
                (expr.eval(&values) == 0).then_some(Unmet::Cells)
            }
        };
        unmet.map_or(Ok(()), |unmet| Err(Rejection::Unmet(unmet)))
    }

    /// Looks at what the write demands and writes, in one step.
    fn apply(&mut self, cx: &mut Cx<'_, Locks>, came: &Came) {
        if let Err(why) = self.terms_hold(&came.op, &came.terms) {
            return self.refuse(cx, &Parked::Later(came.clone()), why);
        }
        let (op, write) = (came.op, came.write);
        let cell = Cell { value: write.value, version: self.cell(op.cell).version + 1 };
        self.data.write().insert(op.cell, cell);
        self.data.sync();
        cx.note(Testimony::Accept(op, write, cell.version, came.msg));
        cx.send(came.conn, Reply::Accepted(cell.version).body(came.request, op.token), None);
    }
}

impl Actor<Locks> for Resource {
    fn boxed(&self) -> Box<dyn Actor<Locks>> {
        Box::new(self.clone())
    }

    fn on_message(&mut self, cx: &mut Cx<'_, Locks>, from: ProcId, conn: ConnId, body: &Body) {
        if let Some(answer) = body.get::<Inquiry>() {
            return self.answered(cx, from, body.request, *answer);
        }
        match (body.get::<Request>(), cx.handling()) {
            (Some(Request::Read(op)), _) => self.read(cx, op, conn, body.request),
            (Some(Request::Claim(op)), _) => self.claim(cx, op, conn, body.request),
            (Some(Request::Write(op, write, terms)), Some(msg)) => {
                let (op, write, terms) = (*op, *write, terms.clone());
                self.write(cx, Came { op, write, terms, msg, conn, request: body.request });
            }
            // A token alone is sent by no client.
            _ => {}
        }
    }

    fn on_outside(&mut self, cx: &mut Cx<'_, Locks>, body: &Body) {
        if let Some(Request::Try(lock, token)) = body.get::<Request>() {
            let checked = self.guard.by_hand(*lock, *token);
            cx.note(Testimony::Hand(*lock, *token, checked.err()));
        }
    }

    fn on_timer(&mut self, cx: &mut Cx<'_, Locks>, key: u64) {
        match self.unpark(key) {
            Some((Parked::Later(came), _)) => self.apply(cx, &came),
            // No answer.
            Some((what, tries)) => self.inquire(cx, what, tries + 1),
            None => {}
        }
    }

    fn on_crash(&mut self, cx: &mut Cx<'_, Locks>, how: CrashKind) {
        for (_, what, _) in std::mem::take(&mut self.parked) {
            if let Parked::Later(came) | Parked::Asked(came) = what {
                cx.note(Testimony::Void(came.op, came.write, came.msg));
            }
        }
        self.data.crash(how);
        self.guard.crash(how);
    }

    fn on_settings(&mut self, settings: &Settings) {
        self.guard.configure(settings);
        self.gap = settings.span("resource.gap");
        self.timeout = settings.span("request.timeout");
    }

    /// What it has taken in it will answer.
    fn busy(&self) -> bool {
        !self.parked.is_empty()
    }

    fn facts(&self, _now: Micros, _clocks: &Clocks) -> Vec<Fact> {
        let cells = self.data.read().iter().map(|(id, cell)| Fact::Row {
            key: vec![Piece::Cell(*id)],
            value: vec![Piece::Number(cell.value)],
        });
        let mut facts: Vec<Fact> = cells.collect();
        self.guard.facts(&mut facts);
        for (_, what, _) in &self.parked {
            facts.push(match what {
                Parked::Later(came) => pending("checked, not written", &came.op, &came.write),
                Parked::Asked(came) => pending("asks the service about", &came.op, &came.write),
                Parked::AskedRead(op, ..) => Fact::Row {
                    key: vec![Piece::Word("asks the service about")],
                    value: vec![Piece::Client(op.section.client), Piece::Word("reads")],
                },
            });
        }
        facts
    }
}

/// A write that waits for something.
pub(super) fn pending(key: &'static str, op: &Operation, write: &Write) -> Fact {
    let value = vec![
        Piece::Client(op.section.client),
        Piece::Cell(op.cell),
        Piece::Word("="),
        Piece::Number(write.value),
    ];
    Fact::Row { key: vec![Piece::Word(key)], value }
}
