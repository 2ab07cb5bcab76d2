//! The protected resource: named cells with versions, and the check in front of them.
//!
//! Rules (inference from the requirement that a stale holder be refused, and the two source texts'
//! own statement "stores the highest token accepted and rejects lower tokens"): check and apply are
//! one atomic step, and the highest token is durable together with the data.

use super::settings::Settings;
use super::{Body, Fact, Locks, Piece};
use crate::judge::{CellId, LockId, Operation, Rejection, Testimony, Token, Write};
use crate::sim::{Actor, Clocks, ConnId, CrashKind, Cx, Disk, EventId, Micros, ProcId, Table};

/// What a client asks of a resource.
#[derive(Clone, Copy, Debug)]
pub enum Request {
    /// The value of a cell.
    Read(Operation),
    /// A write, with the version that the writer knows, where it knows one.
    Write(Operation, Write, Option<u32>),
    /// Nothing but a token of a lock, sent by hand: it is compared and writes nothing.
    Try(LockId, Token),
}

/// What a resource answers.
#[derive(Clone, Copy, Debug)]
pub enum Reply {
    /// The value and its version, and the event of serving.
    Value(i64, u32, EventId),
    /// The write made this version.
    Accepted(u32),
    /// The operation was refused.
    Rejected(Rejection),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Check {
    None,
    Token { once: bool },
    Version,
}

#[derive(Clone, Copy, Default, Debug)]
struct Cell {
    value: i64,
    version: u32,
}

#[derive(Clone, Default, Debug)]
struct Data {
    cells: Table<CellId, Cell>,
    /// The highest token seen, for each lock that guards cells here.
    highest: Table<LockId, Token>,
}

/// A protected resource.
#[derive(Clone, Debug)]
pub struct Resource {
    check: Check,
    reads_carry_token: bool,
    data: Disk<Data>,
}

/// A request that carries nothing but a token, as somebody sends it by hand.
pub fn by_hand(lock: LockId, token: Token) -> Body {
    Body::new("token", 0, Request::Try(lock, token)).with_token(Some(token))
}

impl Resource {
    /// A resource with these cells at their initial values.
    pub fn new(settings: &Settings, cells: impl IntoIterator<Item = (CellId, i64)>) -> Resource {
        let cells = cells.into_iter().map(|(id, value)| (id, Cell { value, version: 0 })).collect();
        let data = Disk::new(Data { cells, highest: Table::new() });
        let mut resource = Resource { check: Check::None, reads_carry_token: false, data };
        resource.configure(settings);
        resource
    }

    fn configure(&mut self, settings: &Settings) {
        self.check = match settings.word("resource.check") {
            "token" => Check::Token { once: false },
            "token-once" => Check::Token { once: true },
            "version" => Check::Version,
            _ => Check::None,
        };
        self.reads_carry_token = settings.word("resource.reads") == "token";
    }

    /// Compares the token with the highest seen, and remembers it where it passes.
    fn check_token(
        &mut self,
        lock: LockId,
        token: Option<Token>,
        once: bool,
    ) -> Result<(), Rejection> {
        let token = token.ok_or(Rejection::Missing)?;
        match self.data.read().highest.get(&lock) {
            Some(highest) if token < *highest => return Err(Rejection::Lower(*highest)),
            Some(highest) if once && token == *highest => return Err(Rejection::Again(token)),
            _ => {}
        }
        self.data.write().highest.insert(lock, token);
        self.data.sync();
        Ok(())
    }

    fn read(&mut self, cx: &mut Cx<'_, Locks>, op: &Operation) -> Reply {
        if self.reads_carry_token && matches!(self.check, Check::Token { .. }) {
            // A read never uses a token up, so that the holder's first write still passes.
            if let Err(why) = self.check_token(op.lock, op.token, false) {
                cx.note(Testimony::Reject(*op, None, why));
                return Reply::Rejected(why);
            }
        }
        let cell = self.data.read().cells.get(&op.cell).copied().unwrap_or_default();
        let served = cx.note(Testimony::Serve(*op, cell.version, cell.value));
        Reply::Value(cell.value, cell.version, served)
    }

    fn write(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        op: &Operation,
        write: &Write,
        known: Option<u32>,
    ) -> Reply {
        let Some(msg) = cx.handling() else {
            return Reply::Rejected(Rejection::Missing);
        };
        let version = self.data.read().cells.get(&op.cell).map_or(0, |c| c.version);
        let checked = match self.check {
            Check::None => Ok(()),
            Check::Token { once } => self.check_token(op.lock, op.token, once),
            Check::Version => match known {
                Some(known) if known == version => Ok(()),
                Some(_) => Err(Rejection::Version),
                None => Err(Rejection::Missing),
            },
        };
        if let Err(why) = checked {
            cx.note(Testimony::Reject(*op, Some((*write, msg)), why));
            return Reply::Rejected(why);
        }
        let cell = Cell { value: write.value, version: version + 1 };
        self.data.write().cells.insert(op.cell, cell);
        self.data.sync();
        cx.note(Testimony::Accept(*op, *write, cell.version, msg));
        Reply::Accepted(cell.version)
    }
}

impl Actor<Locks> for Resource {
    fn boxed(&self) -> Box<dyn Actor<Locks>> {
        Box::new(self.clone())
    }

    fn on_message(&mut self, cx: &mut Cx<'_, Locks>, _from: ProcId, conn: ConnId, body: &Body) {
        let Some(request) = body.get::<Request>() else {
            return;
        };
        let reply = match request {
            Request::Read(op) => self.read(cx, op),
            Request::Write(op, write, known) => self.write(cx, op, write, *known),
            // That is sent by no client.
            Request::Try(..) => return,
        };
        let name = match reply {
            Reply::Value(..) => "value",
            Reply::Accepted(_) => "accepted",
            Reply::Rejected(_) => "rejected",
        };
        cx.send(conn, Body::new(name, body.request, reply).with_token(body.token), None);
    }

    fn on_outside(&mut self, cx: &mut Cx<'_, Locks>, body: &Body) {
        let Some(Request::Try(lock, token)) = body.get::<Request>() else {
            return;
        };
        let checked = match self.check {
            Check::None => Ok(()),
            Check::Token { once } => self.check_token(*lock, Some(*token), once),
            // It has read nothing, so there is no version that it could know.
            Check::Version => Err(Rejection::Missing),
        };
        cx.note(Testimony::Hand(*lock, *token, checked.err()));
    }

    fn on_crash(&mut self, _cx: &mut Cx<'_, Locks>, how: CrashKind) {
        self.data.crash(how);
    }

    fn on_settings(&mut self, settings: &Settings) {
        self.configure(settings);
    }

    fn facts(&self, _now: Micros, _clocks: &Clocks) -> Vec<Fact> {
        let data = self.data.read();
        let cells = data.cells.iter().map(|(id, cell)| Fact::Row {
            key: vec![Piece::Cell(*id)],
            value: vec![Piece::Number(cell.value)],
        });
        let mut facts: Vec<Fact> = cells.collect();
        let checks = match self.check {
            Check::None => "nothing",
            Check::Token { once: false } => "token ≥ highest",
            Check::Token { once: true } => "token > highest",
            Check::Version => "version read",
        };
        facts
            .push(Fact::Row { key: vec![Piece::Word("checks")], value: vec![Piece::Word(checks)] });
        if matches!(self.check, Check::Token { .. }) && data.highest.is_empty() {
            facts.push(Fact::Row {
                key: vec![Piece::Word("highest seen")],
                value: vec![Piece::Word("none yet")],
            });
        }
        for (lock, token) in &data.highest {
            facts.push(Fact::Row {
                key: vec![Piece::Word("highest seen for"), Piece::Lock(*lock)],
                value: vec![Piece::Token(*token)],
            });
        }
        facts
    }
}
