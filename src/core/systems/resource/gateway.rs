//! A gateway: a node in front of a resource that cannot check. It checks and passes on.
//!
//! What it does not do is the point: between its check and the resource's write lie its own gap and
//! the way to the resource. Only where it lets one operation through at a time, and waits for the
//! answer, can nothing slip in between; and whoever goes around it is checked by nobody.

use std::collections::VecDeque;

use super::guard::{Guard, Place};
use super::store::pending;
use super::{Reply, Request, Touch};
use crate::judge::{Operation, Rejection, Testimony, Write};
use crate::sim::{Actor, ClockKind, Clocks, ConnId, CrashKind, Cx, Micros, MsgId, ProcId, TimerId};
use crate::systems::{Body, Fact, Locks, Piece, Settings};

/// An operation on its way through the gateway.
#[derive(Clone, Debug)]
struct Item {
    request: Request,
    /// Of a write, the message that it came as.
    msg: Option<MsgId>,
    conn: ConnId,
    number: u64,
}

impl Item {
    fn parts(&self) -> Option<(Touch, &Operation)> {
        match &self.request {
            Request::Read(op) => Some((Touch::Read, op)),
            Request::Claim(op) => Some((Touch::Claim, op)),
            Request::Write(op, ..) => Some((Touch::Write, op)),
            Request::Try(..) => None,
        }
    }

    /// The write, and the message that it came as.
    fn write(&self) -> Option<(Operation, Write, MsgId)> {
        match &self.request {
            Request::Write(op, write, _) => self.msg.map(|msg| (*op, *write, msg)),
            _ => None,
        }
    }
}

/// What the gateway does with an operation that passed its check.
#[derive(Clone, Debug)]
enum Stage {
    /// It is about to pass it on.
    Checked(Item),
    /// It waits for the resource's answer, and says it to the client that asked.
    PassedOn { way: Way, conn: ConnId, number: u64, patience: Option<TimerId> },
}

/// The resource that an operation went on to, and the connection that it went on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Way {
    home: ProcId,
    conn: Option<ConnId>,
}

/// A gateway in front of all resources.
#[derive(Clone, Debug)]
pub struct Gateway {
    guard: Guard,
    gap: Micros,
    timeout: Micros,
    /// One operation at a time.
    serial: bool,
    /// The resource of each cell.
    homes: Vec<ProcId>,
    /// Everything in memory: a restart forgets it.
    stages: Vec<(u64, Stage)>,
    waiting: VecDeque<Item>,
    numbers: u64,
}

impl Gateway {
    /// A gateway in front of the resources that hold these cells.
    pub fn new(settings: &Settings, homes: Vec<ProcId>) -> Gateway {
        let mut gateway = Gateway {
            guard: Guard::new(Place::Gateway, settings),
            gap: Micros::ZERO,
            timeout: Micros::ZERO,
            serial: false,
            homes,
            stages: Vec::new(),
            waiting: VecDeque::new(),
            numbers: 0,
        };
        gateway.on_settings(settings);
        gateway
    }

    /// Takes up what waits, as far as one at a time allows.
    fn next(&mut self, cx: &mut Cx<'_, Locks>) {
        while !self.serial || self.stages.is_empty() {
            let Some(item) = self.waiting.pop_front() else { return };
            self.examine(cx, item);
        }
    }

    fn examine(&mut self, cx: &mut Cx<'_, Locks>, item: Item) {
        let Some((touch, op)) = item.parts() else { return };
        let op = *op;
        if let Err(why) = self.guard.examine(touch, &op) {
            let write = item.write().map(|(_, write, msg)| (write, msg));
            cx.note(Testimony::Reject(op, write, why));
            cx.send(item.conn, Reply::Rejected(why).body(item.number, op.token), None);
            return;
        }
        if touch == Touch::Claim && self.guard.keeps_marks() {
            cx.note(Testimony::Mark(op));
            cx.send(item.conn, Reply::Claimed.body(item.number, op.token), None);
            return;
        }
        self.numbers += 1;
        let number = self.numbers;
        let (checks, write) = (self.guard.keeps_marks(), item.write());
        if let (true, Some((op, write, msg))) = (checks && self.gap > Micros::ZERO, write) {
            cx.note(Testimony::Admit(op, write, msg));
            let at = cx.clock(ClockKind::Mono).plus(self.gap);
            cx.timer(ClockKind::Mono, at, number << 1);
            self.stages.push((number, Stage::Checked(item)));
        } else {
            self.pass_on(cx, number, item);
        }
    }

    fn pass_on(&mut self, cx: &mut Cx<'_, Locks>, number: u64, item: Item) {
        let Some((touch, op)) = item.parts() else { return };
        let Some(home) = self.homes.get(usize::from(op.cell.0)).copied() else { return };
        let name = match touch {
            Touch::Read => "read",
            Touch::Write => "write",
            Touch::Claim => "claim",
        };
        let note = Testimony::Forward(*op, item.write().map(|(_, write, msg)| (write, msg)));
        let body = Body::new(name, number, item.request.clone()).with_token(op.token);
        cx.ask(home, body, Some(note));
        let way = Way { home, conn: cx.connection(home) };
        let patience = self.serial.then(|| {
            let until = cx.clock(ClockKind::Mono).plus(self.timeout);
            cx.timer(ClockKind::Mono, until, number << 1 | 1)
        });
        if !self.serial {
            // Each operation has a stream of its own, so that none waits for another.
            cx.abandon(home);
        }
        let (conn, client) = (item.conn, item.number);
        self.stages.push((number, Stage::PassedOn { way, conn, number: client, patience }));
    }

    fn take(&mut self, number: u64) -> Option<Stage> {
        let index = self.stages.iter().position(|s| s.0 == number)?;
        Some(self.stages.remove(index).1)
    }
}

impl Actor<Locks> for Gateway {
    fn boxed(&self) -> Box<dyn Actor<Locks>> {
        Box::new(self.clone())
    }

    fn on_message(&mut self, cx: &mut Cx<'_, Locks>, _from: ProcId, conn: ConnId, body: &Body) {
        if let Some(reply) = body.get::<Reply>() {
            let stage = self.take(body.request);
            if let Some(Stage::PassedOn { conn, number, patience, .. }) = stage {
                if let Some(patience) = patience {
                    cx.cancel(patience);
                }
                cx.send(conn, reply.body(number, body.token), None);
            }
        } else if let Some(request) = body.get::<Request>() {
            let (request, msg) = (request.clone(), cx.handling());
            self.waiting.push_back(Item { request, msg, conn, number: body.request });
        }
        self.next(cx);
    }

    fn on_outside(&mut self, cx: &mut Cx<'_, Locks>, body: &Body) {
        if let Some(Request::Try(lock, token)) = body.get::<Request>() {
            let checked: Result<(), Rejection> = self.guard.by_hand(*lock, *token);
            cx.note(Testimony::Hand(*lock, *token, checked.err()));
        }
    }

    fn on_timer(&mut self, cx: &mut Cx<'_, Locks>, key: u64) {
        match self.take(key >> 1) {
            Some(Stage::Checked(item)) => self.pass_on(cx, key >> 1, item),
            // No answer came in time. It goes on with the next one, and what it had sent may still
            // arrive: then even this gateway was overtaken.
            Some(Stage::PassedOn { way, .. }) => cx.hang_up(way.home, way.conn),
            None => {}
        }
        self.next(cx);
    }

    fn on_closed(&mut self, cx: &mut Cx<'_, Locks>, peer: ProcId, conn: ConnId) {
        self.stages.retain(|(_, stage)| match stage {
            Stage::PassedOn { way, patience, .. } if way.home == peer && way.conn <= Some(conn) => {
                patience.iter().for_each(|timer| cx.cancel(*timer));
                false
            }
            _ => true,
        });
        self.next(cx);
    }

    fn on_crash(&mut self, cx: &mut Cx<'_, Locks>, how: CrashKind) {
        let checked = std::mem::take(&mut self.stages).into_iter().filter_map(|s| match s.1 {
            Stage::Checked(item) => Some(item),
            Stage::PassedOn { .. } => None,
        });
        let items: Vec<Item> = checked.chain(std::mem::take(&mut self.waiting)).collect();
        for (op, write, msg) in items.iter().filter_map(Item::write) {
            cx.note(Testimony::Void(op, write, msg));
        }
        self.guard.crash(how);
    }

    fn on_settings(&mut self, settings: &Settings) {
        self.guard.configure(settings);
        self.gap = settings.span("resource.gap");
        self.timeout = settings.span("request.timeout");
        self.serial = settings.word("gateway.order") == "serial";
    }

    /// What was checked will be passed on.
    fn busy(&self) -> bool {
        !self.waiting.is_empty() || self.stages.iter().any(|s| matches!(s.1, Stage::Checked(_)))
    }

    fn facts(&self, _now: Micros, _clocks: &Clocks) -> Vec<Fact> {
        let mut facts = Vec::new();
        self.guard.facts(&mut facts);
        for (_, stage) in &self.stages {
            if let Stage::Checked(Item { request: Request::Write(op, write, _), .. }) = stage {
                facts.push(pending("checked, not passed on", op, write));
            }
        }
        let passed = self.stages.iter().filter(|s| matches!(s.1, Stage::PassedOn { .. })).count();
        for (key, count) in [("passed on", passed), ("waiting", self.waiting.len())] {
            if count > 0 {
                let value = vec![Piece::Number(count as i64)];
                facts.push(Fact::Row { key: vec![Piece::Word(key)], value });
            }
        }
        facts
    }
}
