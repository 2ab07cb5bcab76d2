//! A client's handle on the ensemble: one session, on one connection at a time.
//!
//! Modelled on the client library in Java (`ClientCnxn`), whose figures the libraries for other
//! languages share or come near. The handle is code of the client's process: while the process stands
//! still it sends no ping, and learns nothing.

use std::rc::Rc;

use super::options::Options;
use super::path::Path;
use super::request::{Change, Code, Packet, Password, Reply, Request, SessionId, Zxid};
use super::spell::spell;
use crate::judge::{Ask, Testimony};
use crate::sim::{
    ClockKind, Clocks, ConnId, Cx, Local, Micros, ProcId, Purpose, Set, TimerId, up_to,
};
use crate::systems::{Body, Desk, Fact, Locks, Piece};

/// A client that has sent nothing for so long pings at the next occasion, whatever its time-out is.
const MOST_SILENCE: Micros = Micros::from_secs(10);
/// A handle that wakes when it has been silent for longer than this pings that much earlier.
const HURRY: Micros = Micros::from_secs(1);

/// What a handle tells the program that has it, in the order in which it does.
#[derive(Clone, Debug)]
pub(super) enum Heard {
    /// The answer to a request.
    Answer(u64, Rc<Reply>),
    /// The connection broke before a request was answered: `ConnectionLoss`. It may have been carried
    /// out.
    Broken(u64),
    /// A watch has fired: something has changed there.
    Event(Path),
    /// `SyncConnected`: a session that has just begun (true) or goes on.
    Connected(bool),
    /// `Disconnected`: there is no connection, and no knowing whether the session goes on.
    Disconnected,
    /// `Expired`: the session is over. The handle has begun another one.
    Expired,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// It was not opened, or was closed for good.
    Closed,
    /// It waits until then before it turns to the next server.
    Resting(Local),
    /// It has asked a server to let it in, at that time.
    Connecting(Local),
    Connected,
}

/// Of what a watch tells.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Watch {
    Data,
    Exist,
    Child,
}

/// What is asked, and what is said of it as it is sent.
#[derive(Clone, Debug)]
struct Asked {
    number: u64,
    request: Rc<Request>,
    note: Option<Testimony>,
}

#[derive(Clone, Debug)]
pub(super) struct Handle {
    servers: Vec<ProcId>,
    /// Which of them it is connected to, or asks next.
    at: usize,
    state: State,
    conn: Option<ConnId>,
    session: Option<(SessionId, Password)>,
    /// The session before the one that it asks for has expired.
    expired: bool,
    /// What the servers granted; before that, what is asked for.
    timeout: Micros,
    /// The latest transaction that it has heard of.
    seen: Zxid,
    /// What was asked on this connection, in order, or is to be asked when there is one.
    asked: Vec<Asked>,
    watches: Set<(Path, Watch)>,
    /// When it last sent, and when it last heard anything on a connection of its session.
    sent: Local,
    heard: Local,
    /// When it pings, as it last reckoned.
    ping: Local,
    /// Since when it has no connection.
    lost: Option<Local>,
    alarm: Option<(u64, Local, TimerId)>,
    rests: u64,
    options: Options,
}

impl Handle {
    pub(super) fn new(servers: &[ProcId], options: Options) -> Handle {
        Handle {
            servers: servers.to_vec(),
            at: 0,
            state: State::Closed,
            conn: None,
            session: None,
            expired: false,
            timeout: options.timeout,
            seen: Zxid(0),
            asked: Vec::new(),
            watches: Set::new(),
            sent: Local(0),
            heard: Local(0),
            ping: Local(0),
            lost: None,
            alarm: None,
            rests: 0,
            options,
        }
    }

    pub(super) fn configure(&mut self, options: Options) {
        self.options = options;
    }

    /// The session that the handle has, as far as it knows.
    pub(super) fn session(&self) -> Option<SessionId> {
        self.session.map(|session| session.0)
    }

    /// The server that it is connected to, or tries.
    pub(super) fn server(&self) -> Option<ProcId> {
        self.servers.get(self.at).copied()
    }

    pub(super) fn is_connected(&self) -> bool {
        self.state == State::Connected
    }

    /// The program opens its handle. Each client begins at another server, in the order of their lanes;
    /// real lists of servers are shuffled.
    pub(super) fn open(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk) {
        self.at = usize::from(cx.me().0) % self.servers.len().max(1);
        self.begin(cx, desk);
    }

    /// The process has died, and all that its handle knew.
    pub(super) fn forget(&mut self) {
        let rests = self.rests;
        *self = Handle { rests, ..Handle::new(&self.servers, self.options) };
    }

    /// The program closes its handle, and with it the session, where there is a way to say so.
    pub(super) fn close(&mut self, cx: &mut Cx<'_, Locks>) {
        if self.is_connected() {
            // Whoever ends hears no answer any more: number 0 says that none is waited for.
            self.send(cx, 0, Rc::new(Request::CloseSession), None);
        }
        self.state = State::Closed;
    }

    /// A new session is asked for.
    fn begin(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk) {
        (self.session, self.seen, self.watches) = (None, Zxid(0), Set::new());
        (self.timeout, self.lost) = (self.options.timeout, None);
        self.connect(cx, desk);
    }

    fn connect(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk) {
        let now = cx.clock(ClockKind::Mono);
        let (session, timeout, seen) = (self.session, self.options.timeout, self.seen);
        let number = desk.request();
        self.send(cx, number, Rc::new(Request::Connect { session, timeout, seen }), None);
        self.state = State::Connecting(now);
        self.arm(cx, desk);
    }

    fn send(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        number: u64,
        request: Rc<Request>,
        note: Option<Testimony>,
    ) {
        let Some(server) = self.server() else { return };
        let body = Body::new(request.name(), number, Packet::Ask(request)).spelled(spell);
        cx.ask(server, body, note);
        self.conn = cx.connection(server);
        self.sent = cx.clock(ClockKind::Mono);
        self.ping = self.sent.plus(Micros(self.timeout.0 * 2 / 3 / 2));
    }

    /// Asks something; the answer will have the number that is returned. Where there is no connection it
    /// is asked on the next one, if that is the next thing to come about. That the program wants the lock
    /// is noted in any case.
    pub(super) fn ask(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        request: Request,
        note: Option<Testimony>,
    ) -> u64 {
        let (number, request) = (desk.request(), Rc::new(request));
        if self.is_connected() {
            self.send(cx, number, request.clone(), note);
            self.asked.push(Asked { number, request, note: None });
            return number;
        }
        let note = match note {
            Some(Testimony::Ask { lock, ask: Ask::Acquire, .. }) => {
                note.map(|note| cx.note(note));
                Some(Testimony::Ask { lock, ask: Ask::Enter, first: true, within: None })
            }
            note => note,
        };
        self.asked.push(Asked { number, request, note });
        number
    }

    /// A message from a server; on a connection that was given up it means nothing any more.
    pub(super) fn on_message(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        conn: ConnId,
        body: &Body,
    ) -> Vec<Heard> {
        let mut heard = Vec::new();
        let Some(packet) = body.get::<Packet>().filter(|_| self.conn == Some(conn)) else {
            return heard;
        };
        match packet {
            Packet::Close => self.drop_it(cx, false, &mut heard),
            Packet::Answer(reply, _) if matches!(self.state, State::Connecting(_)) => {
                self.let_in(cx, desk, reply, &mut heard);
            }
            Packet::Answer(reply, zxid) => {
                self.heard = cx.clock(ClockKind::Mono);
                self.seen = self.seen.max(*zxid);
                self.answered(cx, body.request, reply, &mut heard);
            }
            Packet::Event(change, path) => {
                self.heard = cx.clock(ClockKind::Mono);
                self.fired(*change, path);
                heard.push(Heard::Event(path.clone()));
            }
            Packet::Ask(_) => {}
        }
        self.hurry(cx);
        self.tend(cx, desk, &mut heard);
        heard
    }

    /// A server has answered the first words on a connection.
    fn let_in(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        reply: &Reply,
        heard: &mut Vec<Heard>,
    ) {
        match reply {
            Reply::Connected { session, password, timeout } => {
                let fresh = self.session.is_none();
                (self.session, self.timeout) = (Some((*session, *password)), *timeout);
                (self.state, self.lost) = (State::Connected, None);
                self.heard = cx.clock(ClockKind::Mono);
                heard.push(Heard::Connected(fresh));
                self.watch_again(cx, desk);
                for asked in self.asked.clone() {
                    self.send(cx, asked.number, asked.request, asked.note);
                }
            }
            Reply::Expired => self.expire(cx, desk, heard),
            // A server that has not seen as much as this client, say, closes the connection.
            _ => self.drop_it(cx, true, heard),
        }
    }

    /// Sets the watches that the last connection had, before anything else is asked on this one.
    fn watch_again(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk) {
        if self.options.forgets_watches {
            self.watches = Set::new();
        }
        if self.watches.is_empty() {
            return;
        }
        let all = |kind| self.watches.iter().filter(move |w| w.1 == kind).map(|w| w.0.clone());
        let request = Request::SetWatches {
            seen: self.seen,
            data: all(Watch::Data).collect(),
            exist: all(Watch::Exist).collect(),
            child: all(Watch::Child).collect(),
        };
        let number = desk.request();
        self.send(cx, number, Rc::new(request), None);
    }

    fn answered(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        number: u64,
        reply: &Rc<Reply>,
        heard: &mut Vec<Heard>,
    ) {
        if let Reply::Error(Code::SessionMoved | Code::SessionExpired) = **reply {
            // The session is elsewhere, or over: at another server the client learns which.
            return self.drop_it(cx, true, heard);
        }
        let Some(place) = self.asked.iter().position(|asked| asked.number == number) else {
            return;
        };
        let asked = self.asked.remove(place);
        self.watched(&asked.request, reply);
        heard.push(Heard::Answer(number, reply.clone()));
    }

    /// A watch stands from the answer on: on a znode that is not there, only `exists` leaves one.
    fn watched(&mut self, request: &Request, reply: &Reply) {
        let kind = match (request, reply) {
            (Request::Exists { watch: true, .. }, Reply::Error(Code::NoNode)) => Watch::Exist,
            (_, Reply::Error(_)) => return,
            (Request::Exists { watch: true, .. } | Request::GetData { watch: true, .. }, _) => {
                Watch::Data
            }
            (Request::GetChildren { watch: true, .. }, _) => Watch::Child,
            _ => return,
        };
        if let Request::Exists { path, .. }
        | Request::GetData { path, .. }
        | Request::GetChildren { path, .. } = request
        {
            self.watches.insert((path.clone(), kind));
        }
    }

    /// A watch tells once.
    fn fired(&mut self, change: Change, path: &Path) {
        let ends = |kind| match change {
            Change::Created | Change::DataChanged => kind != Watch::Child,
            Change::Deleted => true,
            Change::ChildrenChanged => kind == Watch::Child,
        };
        self.watches.retain(|watch| watch.0 != *path || !ends(watch.1));
    }

    /// The connection is gone, or given up: all that was asked is unknown, and the next server's turn
    /// comes after a random while.
    fn drop_it(&mut self, cx: &mut Cx<'_, Locks>, by_me: bool, heard: &mut Vec<Heard>) {
        let (was, now) = (self.state, cx.clock(ClockKind::Mono));
        self.hang_up(cx, by_me);
        heard.extend(self.asked.drain(..).map(|asked| Heard::Broken(asked.number)));
        if was == State::Connected {
            self.lost = Some(now);
            heard.push(Heard::Disconnected);
        }
        self.rests += 1;
        let draw = cx.random(Purpose::Backoff, self.rests);
        self.at = (self.at + 1) % self.servers.len().max(1);
        self.state = State::Resting(now.plus(Micros(up_to(draw, self.options.backoff.0))));
    }

    fn hang_up(&mut self, cx: &mut Cx<'_, Locks>, by_me: bool) {
        let Some((server, conn)) = self.server().zip(self.conn.take()) else { return };
        if by_me {
            cx.send(conn, Body::new("close", 0, Packet::Close), None);
        }
        cx.hang_up(server, Some(conn));
    }

    /// The session is over; the program begins another one, at this server.
    fn expire(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, heard: &mut Vec<Heard>) {
        self.hang_up(cx, false);
        heard.extend(self.asked.drain(..).map(|asked| Heard::Broken(asked.number)));
        heard.push(Heard::Expired);
        self.begin(cx, desk);
        self.expired = true;
    }

    /// That connection is gone.
    pub(super) fn on_closed(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        (peer, conn): (ProcId, ConnId),
    ) -> Vec<Heard> {
        let mut heard = Vec::new();
        if self.server() == Some(peer) && self.conn.is_some_and(|mine| mine <= conn) {
            self.drop_it(cx, false, &mut heard);
            self.tend(cx, desk, &mut heard);
        }
        heard
    }

    /// A timer, if it is the handle's own.
    pub(super) fn on_timer(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        number: u64,
    ) -> Option<Vec<Heard>> {
        self.alarm.take_if(|alarm| alarm.0 == number)?;
        let mut heard = Vec::new();
        self.tend(cx, desk, &mut heard);
        Some(heard)
    }

    /// What is due is done: a ping, the next server, an end of patience.
    fn tend(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, heard: &mut Vec<Heard>) {
        let now = cx.clock(ClockKind::Mono);
        if self.own_end().is_some_and(|end| end <= now) {
            self.hang_up(cx, true);
            return self.expire(cx, desk, heard);
        }
        match self.state {
            State::Resting(until) if until <= now => return self.connect(cx, desk),
            State::Connecting(_) | State::Connected if self.patience() <= now => {
                self.drop_it(cx, true, heard);
                return self.tend(cx, desk, heard);
            }
            State::Connected if self.ping <= now => {
                let number = desk.request();
                self.send(cx, number, Rc::new(Request::Ping), None);
            }
            _ => {}
        }
        self.arm(cx, desk);
    }

    /// When a client of version 3.9.3 or later takes its session for over (ZOOKEEPER-4508).
    fn own_end(&self) -> Option<Local> {
        let counts = self.options.expires_itself && self.session.is_some();
        counts.then(|| self.heard.plus(Micros(self.timeout.0 * 4 / 3)))
    }

    /// When it gives the connection up: after two thirds of the time-out in which it heard nothing, and
    /// before it is let in after the time-out's share of one server.
    fn patience(&self) -> Local {
        match self.state {
            State::Connecting(since) => {
                since.plus(Micros(self.timeout.0 / self.servers.len().max(1) as u64))
            }
            _ => self.heard.plus(Micros(self.timeout.0 * 2 / 3)),
        }
    }

    /// It pings a third of the time-out after it last sent anything, and somewhat earlier where a message
    /// wakes it before that.
    fn hurry(&mut self, cx: &Cx<'_, Locks>) {
        let now = cx.clock(ClockKind::Mono);
        let idle = self.sent.until(now);
        let early = if idle > HURRY { HURRY } else { Micros::ZERO };
        let due = Micros(self.timeout.0 * 2 / 3 / 2);
        let left = if idle > MOST_SILENCE { Micros::ZERO } else { due.since(idle).since(early) };
        self.ping = now.plus(left);
    }

    /// Sets the timer for whatever is due next. One that fires too early finds nothing to do.
    fn arm(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk) {
        let next = match self.state {
            State::Closed => None,
            State::Resting(until) => Some(until),
            State::Connecting(_) => Some(self.patience()),
            State::Connected => Some(self.patience().min(self.ping)),
        };
        let own = self.own_end().filter(|_| self.state != State::Closed);
        let Some(next) = next.into_iter().chain(own).min() else { return };
        if let Some((_, at, timer)) = self.alarm {
            if at <= next {
                return;
            }
            cx.cancel(timer);
        }
        let number = desk.request();
        let timer = cx.timer(ClockKind::Mono, next, Desk::key(number));
        self.alarm = Some((number, next, timer));
    }

    /// How the session is, as far as its client knows.
    pub(super) fn facts(&self, now: Micros, clocks: &Clocks) -> Vec<Fact> {
        let (word, clock) = (Piece::Word, clocks.get(ClockKind::Mono));
        let server = self.server().map(Piece::Client);
        let mut state = match (self.state, self.session) {
            (State::Closed, None) if self.expired => vec![word("expired")],
            (State::Closed, None) => vec![word("not opened yet")],
            // Where it had no connection it could not say that the session shall end.
            (State::Closed, _) if self.lost.is_some() => {
                vec![word("given up without a connection: it ends when its time is over")]
            }
            (State::Closed, _) => vec![word("closed")],
            (State::Connected, _) => {
                [Some(word("connected to")), server].into_iter().flatten().collect()
            }
            (_, None) => [Some(word("asks for one at")), server].into_iter().flatten().collect(),
            (State::Connecting(_), _) => {
                [Some(word("disconnected, tries")), server].into_iter().flatten().collect()
            }
            _ => vec![word("disconnected")],
        };
        if let Some(lost) = self.lost.filter(|_| self.state != State::Closed) {
            state.extend([word("since"), Piece::Span(lost.until(clock.read(now)))]);
        }
        let row = |key, value| Fact::Row { key: vec![Piece::Word(key)], value };
        let mut facts = vec![row("session", state)];
        if self.session.is_some() && self.state != State::Closed {
            let left = clock.read(now).until(self.heard.plus(self.timeout));
            facts.push(row("by my own count it lasts", vec![Piece::Span(left)]));
        }
        facts
    }
}
