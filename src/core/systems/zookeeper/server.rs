//! A ZooKeeper server: the connections of its clients, what it answers by itself, and what it takes to
//! the leader.

use std::collections::VecDeque;
use std::rc::Rc;

use super::lead::{Lead, Wanted, Wish};
use super::path::Path;
use super::peers::Peered;
use super::queues::{self, TokenRule};
use super::request::{Code, CreateMode, Packet, Reply, Request, SessionId, Zxid};
use super::sessions::password;
use super::tree::Tree;
use super::txn::{Asker, Deed, Txn, zxid};
use super::watches::Watches;
use crate::sim::{
    Actor, ClockKind, Clocks, ConnId, CrashKind, Cx, Local, Micros, ProcId, Table, TimerId,
};
use crate::systems::quorum::{Effect, Entry, Member, Peer, Role, Stamp, Timing};
use crate::systems::{Body, Fact, Inquiry, Locks, Settings};

/// What a server is started with.
#[derive(Clone, Debug)]
pub struct Start {
    /// The lanes of all servers of its ensemble.
    pub servers: Rc<[ProcId]>,
    /// Its own place among them.
    pub place: u8,
    /// How long servers wait for one another; a session lasts from 2 to 20 ticks.
    pub timing: Timing,
    /// A parent's counter goes on at the smallest number after the largest, as before 3.6.
    pub runs_over: bool,
    /// The parents of the locks.
    pub locks: Rc<[Path]>,
    /// What an administrator has made before the run, each with its stored counter.
    pub installed: Rc<[(Path, i32)]>,
}

/// What a request waits for before it can be answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Needs {
    /// Nothing but the requests before it.
    Nothing,
    /// The leader's word on what this server has asked it.
    Ticket(u64),
    /// It will be refused when its turn comes.
    Refused(Code),
}

/// A request that is not answered yet.
#[derive(Clone, Debug)]
struct Work {
    number: u64,
    request: Rc<Request>,
    needs: Needs,
    /// The connection on which it came is gone: nobody is answered.
    left: bool,
}

/// A client's connection.
#[derive(Clone, Debug)]
pub(super) struct Guest {
    pub conn: ConnId,
    pub peer: ProcId,
    pub session: SessionId,
    timeout: Micros,
    /// In the order in which they came, and will be answered.
    works: VecDeque<Work>,
}

/// Timers, and what they are set to.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Alarms {
    set: [Option<(Local, TimerId)>; 3],
}

/// Keys of timers: the log's own, the end of a session's silence, the look for empty containers.
const MEMBER: u64 = 0;
const SILENCE: u64 = 1;
const CONTAINERS: u64 = 2;

/// Whether a server runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Life {
    /// Its run has not begun, but it has served before.
    Before,
    Up,
    Down,
}

/// A server.
#[derive(Clone, Debug)]
pub struct Server {
    pub(super) life: Life,
    pub(super) start: Start,
    pub(super) member: Member<Txn>,
    pub(super) tree: Tree,
    /// The last transaction that it has carried out.
    pub(super) last: Zxid,
    /// What it does as a leader.
    pub(super) lead: Option<Lead>,
    /// It answers clients: it leads or follows.
    pub(super) serves: bool,
    pub(super) links: Vec<Guest>,
    /// What sessions asked on connections that are gone, and the leader has not decided yet: their next
    /// connection here waits behind it. Nobody is answered.
    left: Vec<(SessionId, Work)>,
    pub(super) watches: Watches,
    /// Sessions that a follower has heard of, for its next word to the leader.
    pub(super) touched: Table<SessionId, Micros>,
    /// The connection that each of its followers has opened.
    pub(super) opened: Table<Peer, ConnId>,
    /// How many things it has asked leaders, in all its lives.
    tickets: u64,
    /// How many sessions it has numbered.
    numbered: u64,
    token: TokenRule,
    alarms: Alarms,
}

impl Server {
    /// A server that was not started yet.
    pub fn new(start: Start) -> Server {
        let member = member(&start);
        let tree = Tree::new(start.runs_over);
        Server {
            life: Life::Before,
            start,
            member,
            tree,
            last: Zxid(0),
            lead: None,
            serves: false,
            links: Vec::new(),
            left: Vec::new(),
            watches: Watches::default(),
            touched: Table::new(),
            opened: Table::new(),
            tickets: 0,
            numbered: 0,
            token: TokenRule::default(),
            alarms: Alarms::default(),
        }
    }

    /// The same server under these settings.
    #[must_use]
    pub fn under(mut self, settings: &Settings) -> Server {
        self.on_settings(settings);
        self
    }

    /// What it is to the others.
    pub fn role(&self) -> Role {
        self.member.role()
    }

    pub(super) fn me(&self) -> Peer {
        Peer(self.start.place)
    }

    pub(super) fn now(cx: &Cx<'_, Locks>) -> Local {
        cx.clock(ClockKind::Mono)
    }

    fn link(&mut self, conn: ConnId) -> Option<&mut Guest> {
        self.links.iter_mut().find(|link| link.conn == conn)
    }

    fn send(&self, cx: &mut Cx<'_, Locks>, conn: ConnId, number: u64, reply: Reply) {
        let name = reply.name();
        cx.send(conn, Body::new(name, number, Packet::Answer(reply.into(), self.last)), None);
    }

    /// Closes a client's connection; what comes on it later is not looked at.
    pub(super) fn hang_up(&mut self, cx: &mut Cx<'_, Locks>, conn: ConnId) {
        self.drop_link(conn);
        cx.send(conn, Body::new("close", 0, Packet::Close), None);
    }

    /// A connection is gone. Its session’s writes are still on their way.
    ///
    /// Source: `CommitProcessor` keeps what waits by session (`pendingRequests`), whatever becomes of the
    /// connection.
    fn drop_link(&mut self, conn: ConnId) {
        if let Some(link) = self.link(conn) {
            let session = link.session;
            let works = std::mem::take(&mut link.works).into_iter();
            let asked = works.filter(|w| matches!(w.needs, Needs::Ticket(_)) && w.request.writes());
            let left: Vec<_> = asked.map(|work| (session, Work { left: true, ..work })).collect();
            self.left.extend(left);
        }
        self.links.retain(|link| link.conn != conn);
        self.watches.forget(conn);
    }

    /// It leads and follows no longer, or in another way than before.
    ///
    /// Source: a server outside of a quorum shuts its `ZooKeeperServer` down, and with it all
    /// connections of clients.
    pub(super) fn serve(&mut self, cx: &mut Cx<'_, Locks>, serves: bool) {
        self.serves = serves;
        self.touched = Table::new();
        self.watches.clear();
        self.left.clear();
        for link in std::mem::take(&mut self.links) {
            cx.send(link.conn, Body::new("close", 0, Packet::Close), None);
        }
    }

    /// A request comes.
    fn came(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        (conn, peer): (ConnId, ProcId),
        number: u64,
        request: Rc<Request>,
    ) {
        let known = self.link(conn).is_some();
        match &*request {
            Request::Connect { .. } if known => {}
            Request::Connect { .. } if !self.serves => self.hang_up(cx, conn),
            Request::Connect { session, timeout, seen } => {
                if *seen > self.last {
                    // Nobody goes back in time: it has to look for another server.
                    return self.hang_up(cx, conn);
                }
                let (session, timeout) = (*session, self.bounded(*timeout));
                self.connect(cx, (conn, peer), (number, request), session, timeout);
            }
            // A request on a connection that this server has closed.
            _ if !known => {}
            _ => self.asked(cx, conn, number, request),
        }
    }

    /// The time-out that is granted: from 2 to 20 ticks.
    fn bounded(&self, timeout: Micros) -> Micros {
        let tick = self.start.timing.tick.0;
        Micros(timeout.0.clamp(tick.saturating_mul(2), tick.saturating_mul(20)))
    }

    fn connect(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        (conn, peer): (ConnId, ProcId),
        (number, request): (u64, Rc<Request>),
        known: Option<(SessionId, super::Password)>,
        timeout: Micros,
    ) {
        let (session, wanted) = match known {
            None => (self.new_session(cx), Wanted::Open),
            Some((session, shown)) => {
                // The one that this session had here goes, before anything is looked at.
                let links = self.links.iter().filter(|link| link.session == session);
                let old: Vec<ConnId> = links.map(|link| link.conn).collect();
                old.into_iter().for_each(|conn| self.hang_up(cx, conn));
                if shown != password(session) {
                    self.send(cx, conn, number, Reply::Expired);
                    return self.hang_up(cx, conn);
                }
                (session, Wanted::Validate)
            }
        };
        let (before, left) =
            std::mem::take(&mut self.left).into_iter().partition(|left| left.0 == session);
        self.left = left;
        let works = Vec::into_iter(before).map(|left| left.1).collect();
        self.links.push(Guest { conn, peer, session, timeout, works });
        if self.lead.is_none() {
            self.touched.insert(session, timeout);
        }
        self.want(cx, conn, (number, request), wanted);
    }

    /// The number of a new session: the server's own above, so that two never give the same one.
    ///
    /// Source: `SessionTrackerImpl.initializeNextSessionId`.
    fn new_session(&mut self, cx: &Cx<'_, Locks>) -> SessionId {
        let millis = Server::now(cx).0.div_euclid(1_000) as u64 & 0xFF_FFFF_FFFF;
        self.numbered += 1;
        SessionId((u64::from(self.start.place) + 1) << 56 | millis << 16 | self.numbered & 0xFFFF)
    }

    fn asked(&mut self, cx: &mut Cx<'_, Locks>, conn: ConnId, number: u64, request: Rc<Request>) {
        let (me, now) = (self.me(), Server::now(cx));
        let Some(link) = self.links.iter().find(|link| link.conn == conn) else { return };
        let (session, timeout) = (link.session, link.timeout);
        let refused = match &mut self.lead {
            Some(lead) => {
                if !lead.sessions.touch(session, timeout, now) {
                    // Of a session that is over nothing is looked at.
                    return;
                }
                lead.sessions.check(session, me).err()
            }
            None => {
                self.touched.insert(session, timeout);
                None
            }
        };
        let leads = self.lead.is_some();
        match &*request {
            asked if asked.writes() => {
                let wanted = Wanted::Write(request.clone());
                self.want(cx, conn, (number, request), wanted);
            }
            Request::Sync { .. } if !leads => self.want(cx, conn, (number, request), Wanted::Sync),
            _ => {
                let needs = refused.map_or(Needs::Nothing, Needs::Refused);
                if let Some(link) = self.link(conn) {
                    link.works.push_back(Work { number, request, needs, left: false });
                }
                self.go_on(cx, conn);
            }
        }
    }

    /// A request needs the leader's word.
    fn want(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        conn: ConnId,
        (number, request): (u64, Rc<Request>),
        wanted: Wanted,
    ) {
        self.tickets += 1;
        let ticket = self.tickets;
        let Some(link) = self.link(conn) else { return };
        let needs = Needs::Ticket(ticket);
        link.works.push_back(Work { number, request, needs, left: false });
        let (session, by, timeout) = (link.session, link.peer, link.timeout);
        let wish = Wish { session, by, timeout, ticket, wanted };
        match self.member.role() {
            Role::Leading => self.wish(cx, None, wish),
            Role::Following(leader) => self.tell_wish(cx, leader, wish),
            Role::Looking => {}
        }
    }

    /// The leader's word on a ticket has come; whether a session is valid, it says.
    pub(super) fn word(&mut self, cx: &mut Cx<'_, Locks>, ticket: u64, reply: Reply) {
        let has = |work: &Work| work.needs == Needs::Ticket(ticket);
        self.left.retain(|left| !has(&left.1));
        let Some(link) = self.links.iter_mut().find(|link| link.works.iter().any(has)) else {
            return;
        };
        let (conn, session, timeout) = (link.conn, link.session, link.timeout);
        let place = link.works.iter().position(has);
        let Some(work) = place.and_then(|place| link.works.remove(place)) else { return };
        if work.left && !matches!(&*work.request, Request::CloseSession) {
            return self.go_on(cx, conn);
        }
        let moved = matches!(reply, Reply::Error(Code::SessionMoved));
        // A multi too, at whichever server: `FinalRequestProcessor` looks at each of its parts;
        // recorded in `moved_twice`.
        let moved_part = match &reply {
            Reply::Multi(parts) => parts.contains(&Reply::Error(Code::SessionMoved)),
            _ => false,
        };
        if moved || moved_part {
            // The session goes on elsewhere: its old connection ends with its first write.
            return self.hang_up(cx, conn);
        }
        match &*work.request {
            Request::Connect { .. } if reply == Reply::Done => {
                let connected = Reply::Connected { session, password: password(session), timeout };
                self.send(cx, conn, work.number, connected);
            }
            Request::Connect { .. } => {
                self.send(cx, conn, work.number, Reply::Expired);
                return self.hang_up(cx, conn);
            }
            // Whoever asked has ended, and its connection with it.
            Request::CloseSession if work.number == 0 || work.left => return self.drop_link(conn),
            Request::CloseSession => {
                self.send(cx, conn, work.number, reply);
                return self.hang_up(cx, conn);
            }
            request => self.send(cx, conn, work.number, trimmed(reply, request)),
        }
        self.go_on(cx, conn);
    }

    /// Answers what waits for nothing any more, in order.
    fn go_on(&mut self, cx: &mut Cx<'_, Locks>, conn: ConnId) {
        while let Some(link) = self.link(conn) {
            if matches!(link.works.front(), None | Some(Work { needs: Needs::Ticket(_), .. })) {
                return;
            }
            let Some(work) = link.works.pop_front() else { return };
            match work.needs {
                Needs::Refused(Code::SessionMoved) => return self.hang_up(cx, conn),
                Needs::Refused(code) => self.send(cx, conn, work.number, Reply::Error(code)),
                Needs::Nothing | Needs::Ticket(_) => {
                    let reply = self.read(cx, conn, &work.request);
                    self.send(cx, conn, work.number, reply);
                }
            }
        }
    }

    /// An entry of the log is decided.
    pub(super) fn commit(&mut self, cx: &mut Cx<'_, Locks>, entry: &Entry<Txn>) {
        let (zxid, txn) = (zxid(entry.stamp), &entry.command);
        self.last = zxid;
        queues::tell(cx, (&self.start.locks, self.token), zxid, txn);
        let (reply, happened) = self.tree.apply(zxid, txn);
        for happened in &happened {
            for (conn, change, path) in self.watches.fire(happened) {
                self.tell_watcher(cx, conn, change, &path);
            }
        }
        let own = txn.asker.filter(|asker| asker.server == self.me());
        if let (Deed::Close { .. }, Some(session)) = (&txn.deed, txn.session) {
            let links = self.links.iter().filter(|link| link.session == session);
            let gone: Vec<ConnId> = links.map(|link| link.conn).collect();
            if own.is_none() {
                gone.into_iter().for_each(|conn| self.hang_up(cx, conn));
            }
        }
        self.settled(cx, zxid, txn);
        if let Some(Asker { ticket, .. }) = own {
            self.word(cx, ticket, reply);
        }
    }

    /// Does what the log says is to be done.
    pub(super) fn carry_out(&mut self, cx: &mut Cx<'_, Locks>, effects: Vec<Effect<Txn>>) {
        for effect in effects {
            match effect {
                Effect::Send(to, message) => self.tell_log(cx, to, message),
                Effect::Commit(entry) => self.commit(cx, &entry),
                Effect::Became(role) => self.became(cx, role),
            }
        }
    }

    /// Sets the timers anew, where they are to come at another moment than before.
    fn plan(&mut self, cx: &mut Cx<'_, Locks>) {
        let lead = self.lead.as_ref();
        let containers = lead.filter(|_| self.tree.has_containers());
        let wanted = [
            self.member.next_alarm(),
            lead.and_then(|lead| lead.sessions.next()),
            containers.map(|lead| lead.next_look),
        ];
        for (key, wanted) in wanted.into_iter().enumerate() {
            let place = &mut self.alarms.set[key];
            if place.map(|set| set.0) == wanted {
                continue;
            }
            if let Some((_, timer)) = place.take() {
                cx.cancel(timer);
            }
            *place = wanted.map(|at| (at, cx.timer(ClockKind::Mono, at, key as u64)));
        }
    }
}

/// The log of a server whose ensemble was elected before the run: what an administrator has made is in
/// it, and the server with the highest number leads.
fn member(start: &Start) -> Member<Txn> {
    let of = u8::try_from(start.servers.len()).unwrap_or(u8::MAX);
    let term = u32::from(of > 1);
    let by = start.servers.first().copied().unwrap_or(ProcId(0));
    let entry = |(index, (path, counter)): (usize, &(Path, i32))| {
        let deed = Deed::Install { path: path.clone(), counter: *counter };
        let command = Txn { session: None, by, asker: None, deed };
        Entry { stamp: Stamp { term, index: index as u32 + 1 }, command }
    };
    let log = start.installed.iter().enumerate().map(entry).collect();
    let leader = Peer(of.saturating_sub(1));
    Member::established(Peer(start.place), of, leader, log, start.timing)
}

/// An answer carries the books of a new znode only where that was asked.
fn trimmed(reply: Reply, request: &Request) -> Reply {
    match (reply, request) {
        (Reply::Created(path, _), Request::Create { stat: false, .. }) => {
            Reply::Created(path, None)
        }
        // In a multi only containers carry them, whichever kind of create was asked: recorded in
        // `multi_more` and `containers`.
        (Reply::Multi(replies), Request::Multi(parts)) => {
            let each = replies.iter().zip(parts.iter()).map(|(reply, part)| match (reply, part) {
                (_, Request::Create { mode: CreateMode::Container, .. }) => reply.clone(),
                (Reply::Created(path, _), _) => Reply::Created(path.clone(), None),
                _ => reply.clone(),
            });
            Reply::Multi(each.collect())
        }
        (reply, _) => reply,
    }
}

impl Actor<Locks> for Server {
    fn boxed(&self) -> Box<dyn Actor<Locks>> {
        Box::new(self.clone())
    }

    fn on_start(&mut self, cx: &mut Cx<'_, Locks>) {
        self.life = Life::Up;
        let effects = self.member.start(Server::now(cx));
        self.carry_out(cx, effects);
        self.plan(cx);
    }

    fn on_message(&mut self, cx: &mut Cx<'_, Locks>, from: ProcId, conn: ConnId, body: &Body) {
        if let Some(peered) = body.get::<Peered>() {
            self.heard_peer(cx, from, conn, peered.clone());
        } else if let Some(Inquiry::Holds(lock, token)) = body.get::<Inquiry>() {
            let (name, answer) = match self.serves && self.holds(*lock, *token, self.token) {
                _ if !self.serves => ("out of the quorum", Inquiry::Unknown),
                true => ("yes", Inquiry::Answer(true)),
                false => ("no", Inquiry::Answer(false)),
            };
            let body = Body::new(name, body.request, answer);
            cx.send(conn, body.with_token(Some(*token)), None);
        } else {
            match body.get::<Packet>() {
                Some(Packet::Ask(request)) => {
                    self.came(cx, (conn, from), body.request, request.clone());
                }
                Some(Packet::Close) => self.drop_link(conn),
                _ => {}
            }
        }
        self.plan(cx);
    }

    fn on_timer(&mut self, cx: &mut Cx<'_, Locks>, key: u64) {
        if let Some(place) = self.alarms.set.get_mut(key as usize) {
            *place = None;
        }
        match key {
            MEMBER => {
                if self.member.elects() {
                    self.connect_anew(cx);
                }
                let effects = self.member.alarm(Server::now(cx));
                self.carry_out(cx, effects);
            }
            SILENCE => self.expire(cx),
            CONTAINERS => self.look_for_containers(cx),
            _ => {}
        }
        self.plan(cx);
    }

    fn on_closed(&mut self, cx: &mut Cx<'_, Locks>, peer: ProcId, conn: ConnId) {
        let links = self.links.iter().filter(|link| link.peer == peer && link.conn <= conn);
        let gone: Vec<ConnId> = links.map(|link| link.conn).collect();
        gone.into_iter().for_each(|conn| self.drop_link(conn));
        self.lost_peer(cx, peer, conn);
        self.plan(cx);
    }

    fn on_crash(&mut self, _cx: &mut Cx<'_, Locks>, _how: CrashKind) {
        self.life = Life::Down;
        self.member.crash();
        self.tree = Tree::new(self.start.runs_over);
        self.last = Zxid(0);
        (self.lead, self.serves) = (None, false);
        self.links.clear();
        self.left.clear();
        self.watches.clear();
        self.touched = Table::new();
        self.opened = Table::new();
        self.alarms = Alarms::default();
    }

    fn on_settings(&mut self, settings: &Settings) {
        self.token = TokenRule::of(settings.word("lock.token"));
    }

    fn busy(&self) -> bool {
        self.start.locks.iter().any(|lock| !queues::queue(&self.tree, lock).0.is_empty())
    }

    fn facts(&self, now: Micros, clocks: &Clocks) -> Vec<Fact> {
        self.shows(now, clocks)
    }
}
