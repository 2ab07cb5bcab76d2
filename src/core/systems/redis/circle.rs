//! A master with its replicas, as something watches over them that is not drawn (Sentinel, say): who
//! takes a master's place on order, and how the others and the clients learn of it.
//!
//! The watcher's word travels as messages of the new master, which can be late or cut off. A server that
//! starts again says so to the others, in place of the questions that a watcher asks every second; who
//! was there meanwhile tells it whom to follow.

use std::rc::Rc;

use super::engine::Happened;
use super::replica::Stream;
use super::server::{Packet, Server};
use super::witness::LockKeys;
use crate::judge::{LockId, Testimony};
use crate::sim::{ClockKind, Clocks, ConnId, Cx, Micros, ProcId};
use crate::systems::{Body, Fact, Locks, Order, Piece};

/// The servers of a master and its replicas. A server on its own is in none.
#[derive(Clone, Default, Debug)]
pub(super) struct Circle {
    /// All servers, this one included.
    pub servers: Rc<[ProcId]>,
    /// How many clients there are; their lanes come first.
    pub clients: u16,
    /// The latest order to lead that this server has heard of. It is written down, as whose replica it
    /// is: no death forgets it.
    pub number: u32,
}

impl Circle {
    /// Whether nobody else is there.
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }
}

impl Server {
    /// The same server, as one of these: the first of them is the master, and the others are its
    /// replicas.
    #[must_use]
    pub fn among(mut self, servers: Rc<[ProcId]>, place: usize) -> Server {
        let master = servers.first().copied();
        self.circle.clients = master.map_or(0, |first| first.0);
        self.start.master = master.filter(|_| place > 0);
        self.circle.servers = servers;
        self
    }

    /// What it shows of its place among the others.
    pub(super) fn rank(&self) -> Fact {
        let value = match self.upstream {
            None => vec![Piece::Word("master")],
            Some(upstream) => vec![Piece::Word("replica of"), Piece::Client(upstream.master)],
        };
        Fact::Row { key: vec![Piece::Word("is")], value }
    }

    fn others(&self, me: ProcId) -> Vec<ProcId> {
        self.circle.servers.iter().copied().filter(|server| *server != me).collect()
    }

    /// Whether an order means anything to it now.
    pub(super) fn heeds_order(&self, order: &Order, now: Micros, clocks: &Clocks) -> bool {
        match order {
            // Only a replica of that master can take its place.
            Order::Lead { after, .. } => self.upstream.is_some_and(|u| u.master == *after),
            Order::Evict(lock) => {
                let wall = clocks.get(ClockKind::Wall).read(now).0.div_euclid(1_000);
                let key = LockKeys::of(*lock).lock;
                self.is_master() && !self.is_out() && self.keys.live(&key, wall).is_some()
            }
        }
    }

    /// Carries an order out.
    pub(super) fn obey(&mut self, cx: &mut Cx<'_, Locks>, order: Order) {
        match order {
            Order::Lead { after, number } => self.take_over(cx, after, number),
            Order::Evict(lock) => self.throw_out(cx, lock),
        }
    }

    fn throw_out(&mut self, cx: &mut Cx<'_, Locks>, lock: LockId) {
        let key = LockKeys::of(lock).lock;
        let mut engine = self.engine(Server::now(cx));
        engine.drop_as(&key, Happened::Evicted);
        let changes = engine.changes;
        if changes.iter().any(|change| change.1 == Happened::Evicted) {
            cx.note(Testimony::Evict(lock));
        }
        self.changed(cx, &changes);
    }

    /// Becomes the master, with what it has, and tells the others and all clients.
    fn take_over(&mut self, cx: &mut Cx<'_, Locks>, after: ProcId, number: u32) {
        if number <= self.circle.number || self.is_master() {
            return;
        }
        (self.circle.number, self.start.master) = (number, None);
        cx.note(Testimony::Lead(after));
        self.lead(cx);
        self.witness.leads(cx, &self.keys, Server::now(cx));
        for other in self.others(cx.me()) {
            self.tell_whom_to_follow(cx, other, None);
        }
        for client in (0..self.circle.clients).map(ProcId) {
            let news = Packet::Moved(number);
            cx.ask(client, Body::new("+switch-master", 0, news), None);
        }
    }

    fn tell_whom_to_follow(&mut self, cx: &mut Cx<'_, Locks>, other: ProcId, on: Option<ConnId>) {
        let word = Stream::Follow(self.circle.number);
        let body = Body::new(word.name(), 0, word);
        match on {
            Some(conn) => cx.send(conn, body, None),
            None => cx.ask(other, body, None),
        };
    }

    /// It is there again, and says so to the others: its own master hears it anyway.
    pub(super) fn say_hello(&mut self, cx: &mut Cx<'_, Locks>) {
        for other in self.others(cx.me()) {
            if self.start.master != Some(other) {
                let word = Stream::Hello(self.circle.number);
                cx.ask(other, Body::new(word.name(), 0, word), None);
            }
        }
    }

    /// A word about who leads.
    pub(super) fn heard_of_masters(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        (from, conn): (ProcId, ConnId),
        stream: &Stream,
    ) {
        let own = self.circle.number;
        match stream {
            Stream::Follow(number) if *number > own => {
                (self.circle.number, self.start.master) = (*number, Some(from));
                self.follow(cx, from);
            }
            Stream::Hello(number) if self.is_master() && *number < own => {
                self.tell_whom_to_follow(cx, from, Some(conn));
            }
            // A master that nobody has replaced is there again.
            Stream::Hello(_) if self.upstream.is_some_and(|u| u.master == from) => {
                self.ask_for_everything(cx);
            }
            Stream::Hello(number) if self.is_master() && *number > own => {
                (self.circle.number, self.start.master) = (*number, Some(from));
                self.follow(cx, from);
            }
            _ => {}
        }
    }
}
