//! Links, connections and streams: what is on the way, in which order it arrives, what is lost.
//!
//! Over a link run connections; each is a pair of FIFO streams with an incarnation. What a stream
//! delivered is a prefix of what was sent on it. A cut holds what reaches it, as TCP's
//! retransmission does, and lets it go when the link heals; a drop breaks the stream for good.

use std::collections::VecDeque;

use super::actor::ProcId;
use super::record::{EventId, MsgId};
use super::time::Micros;

/// A connection between two processes; a new one is opened after a time-out or a reset.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ConnId(pub u32);

/// What an edit does to one message, named by its ordered pair and number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MessageFault {
    /// It and everything behind it on its stream is lost.
    Drop,
    /// It and everything behind it on its stream is held that much longer.
    Delay(Micros),
    /// It arrives a second time on a fresh connection, that much after its own time; where that is
    /// not said, one latency.
    Duplicate(Option<Micros>),
}

/// Where a message is in the store of messages on the way.
pub(super) type Slot = u32;

/// A message on the way.
#[derive(Clone, Debug)]
pub(super) struct OnTheWay<B> {
    pub id: MsgId,
    pub from: ProcId,
    pub to: ProcId,
    pub conn: ConnId,
    pub body: B,
    pub sent: EventId,
    /// Its time has come but something stands before it: an earlier message, or a cut.
    pub due: bool,
}

#[derive(Clone, Default, Debug)]
struct Stream {
    /// Sent and neither delivered nor lost, in order.
    waiting: VecDeque<Slot>,
    last_arrival: Micros,
}

#[derive(Clone, Debug)]
struct Conn {
    opener: ProcId,
    peer: ProcId,
    /// The lives of both ends when the connection was opened.
    lives: [u32; 2],
    /// A message was lost on it: nothing behind that arrives.
    broken: [bool; 2],
    /// What is on the way. A connection that was given up and is empty keeps none, because a long
    /// run gives up thousands and every keyframe holds them all.
    streams: [Option<Box<Stream>>; 2],
}

/// What becomes of a message at the moment of sending.
pub(super) enum Departure {
    /// It will be due at that moment.
    Due(Slot, Micros),
    /// It is lost: the stream is broken here or was before.
    Lost,
}

/// What becomes of a message when its time has come.
pub(super) enum Arrival {
    /// It arrives, and after it whatever waited behind it on its stream.
    Here(ConnId, ProcId),
    /// It waits behind an earlier message.
    Behind,
    /// A cut holds it.
    Held,
}

/// All links and what is on them.
#[derive(Clone, Debug)]
pub(super) struct Wire<B> {
    nodes: usize,
    latency: Vec<Micros>,
    cuts: Vec<u32>,
    sent: Vec<u32>,
    current: Vec<Option<ConnId>>,
    conns: Vec<Conn>,
    store: Vec<Option<OnTheWay<B>>>,
    free: Vec<Slot>,
    /// How many messages are on the way.
    pub in_flight: u32,
}

impl<B: Clone> Wire<B> {
    pub fn new(nodes: usize, latency: Vec<Micros>) -> Wire<B> {
        let pairs = nodes * nodes;
        Wire {
            nodes,
            latency,
            cuts: vec![0; pairs],
            sent: vec![0; pairs],
            current: vec![None; pairs],
            conns: Vec::new(),
            store: Vec::new(),
            free: Vec::new(),
            in_flight: 0,
        }
    }

    fn pair(&self, from: ProcId, to: ProcId) -> usize {
        usize::from(from.0) * self.nodes + usize::from(to.0)
    }

    pub fn latency(&self, from: ProcId, to: ProcId) -> Micros {
        self.latency[self.pair(from, to)]
    }

    /// Counts one more send of this ordered pair, from 1.
    pub fn count_send(&mut self, from: ProcId, to: ProcId) -> u32 {
        let pair = self.pair(from, to);
        self.sent[pair] += 1;
        self.sent[pair]
    }

    /// The connection that `opener` has to `peer`, opened where there is none.
    pub fn conn(&mut self, opener: ProcId, peer: ProcId, lives: [u32; 2]) -> ConnId {
        let pair = self.pair(opener, peer);
        if let Some(conn) = self.current[pair] {
            return conn;
        }
        let id = self.apart(opener, peer, lives);
        self.current[pair] = Some(id);
        id
    }

    /// Opens a connection that nobody will send on: a copy travels on it, and answers to the copy.
    pub fn apart(&mut self, opener: ProcId, peer: ProcId, lives: [u32; 2]) -> ConnId {
        let (broken, streams) = Default::default();
        self.conns.push(Conn { opener, peer, lives, broken, streams });
        ConnId(self.conns.len() as u32 - 1)
    }

    /// Forgets the connection, so that the next send opens a fresh one. What is on it may still arrive.
    pub fn abandon(&mut self, opener: ProcId, peer: ProcId) {
        let pair = self.pair(opener, peer);
        if let Some(conn) = self.current[pair].take() {
            self.rest(conn);
        }
    }

    /// The connection that `opener` has to `peer` now.
    pub fn current(&self, opener: ProcId, peer: ProcId) -> Option<ConnId> {
        self.current[self.pair(opener, peer)]
    }

    /// Who opened a connection.
    pub fn opener(&self, conn: ConnId) -> ProcId {
        self.conns[conn.0 as usize].opener
    }

    /// Lets go of the empty streams of a connection that was given up.
    fn rest(&mut self, conn: ConnId) {
        let Conn { opener, peer, .. } = self.conns[conn.0 as usize];
        if self.current(opener, peer) != Some(conn) {
            for stream in &mut self.conns[conn.0 as usize].streams {
                if stream.as_ref().is_some_and(|s| s.waiting.is_empty()) {
                    *stream = None;
                }
            }
        }
    }

    /// Forgets all connections that a dead process had opened.
    pub fn abandon_all(&mut self, opener: ProcId) {
        for peer in 0..self.nodes {
            self.abandon(opener, ProcId(peer as u16));
        }
    }

    /// The connections that a process has, whoever opened them.
    pub fn open_to(&self, p: ProcId) -> Vec<ConnId> {
        let all = (0..self.nodes as u16).map(ProcId);
        all.flat_map(|peer| [self.current(p, peer), self.current(peer, p)]).flatten().collect()
    }

    /// The other end of a connection.
    pub fn other_end(&self, conn: ConnId, me: ProcId) -> ProcId {
        let conn = &self.conns[conn.0 as usize];
        if conn.opener == me { conn.peer } else { conn.opener }
    }

    /// The life that a process had when the connection was opened.
    pub fn life_at_opening(&self, conn: ConnId, of: ProcId) -> u32 {
        let conn = &self.conns[conn.0 as usize];
        conn.lives[usize::from(conn.opener != of)]
    }

    /// A message came to a dead process: what comes behind it on that connection comes to another life.
    pub fn outlive(&mut self, conn: ConnId, of: ProcId) {
        let conn = &mut self.conns[conn.0 as usize];
        conn.lives[usize::from(conn.opener != of)] = u32::MAX;
    }

    fn side(&self, conn: ConnId, from: ProcId) -> usize {
        usize::from(self.conns[conn.0 as usize].opener != from)
    }

    fn stream(&mut self, conn: ConnId, from: ProcId) -> &mut Stream {
        let side = self.side(conn, from);
        self.conns[conn.0 as usize].streams[side].get_or_insert_default()
    }

    /// Puts a message on its stream; it is due after `travel`, and never before what was sent earlier.
    pub fn depart(
        &mut self,
        message: OnTheWay<B>,
        now: Micros,
        travel: Micros,
        lost: bool,
    ) -> Departure {
        let (conn, from) = (message.conn, message.from);
        let side = self.side(conn, from);
        let broken = &mut self.conns[conn.0 as usize].broken[side];
        *broken |= lost;
        if *broken {
            return Departure::Lost;
        }
        let stream = self.stream(conn, from);
        let at = now.plus(travel).max(stream.last_arrival);
        stream.last_arrival = at;
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                self.store.push(None);
                self.store.len() as Slot - 1
            }
        };
        self.stream(conn, from).waiting.push_back(slot);
        self.store[slot as usize] = Some(message);
        self.in_flight += 1;
        Departure::Due(slot, at)
    }

    /// The message in that slot, which exists until it is taken.
    pub fn get(&self, slot: Slot) -> Option<&OnTheWay<B>> {
        self.store.get(slot as usize)?.as_ref()
    }

    /// A message's time has come: says whether it arrives.
    pub fn arrive(&mut self, slot: Slot) -> Arrival {
        let Some(message) = self.store[slot as usize].as_mut() else { return Arrival::Behind };
        message.due = true;
        let (conn, from, to) = (message.conn, message.from, message.to);
        let cut = self.cuts[self.pair(from, to)] > 0;
        let stream = self.stream(conn, from);
        if stream.waiting.front() != Some(&slot) {
            return Arrival::Behind;
        }
        if cut { Arrival::Held } else { Arrival::Here(conn, from) }
    }

    /// Takes the first message of a stream off the wire, if its time has come.
    pub fn take_due(&mut self, conn: ConnId, from: ProcId) -> Option<OnTheWay<B>> {
        let front = *self.stream(conn, from).waiting.front()?;
        self.store[front as usize].as_ref().filter(|m| m.due)?;
        self.stream(conn, from).waiting.pop_front();
        self.free.push(front);
        self.in_flight -= 1;
        self.rest(conn);
        self.store[front as usize].take()
    }

    /// Cuts one direction once more; cuts nest.
    pub fn cut(&mut self, from: ProcId, to: ProcId) {
        let pair = self.pair(from, to);
        self.cuts[pair] += 1;
    }

    /// Whether that direction is cut.
    pub fn is_cut(&self, from: ProcId, to: ProcId) -> bool {
        self.cuts[self.pair(from, to)] > 0
    }

    /// Takes back one cut (or, with `all`, every cut) of that direction. Returns the messages that
    /// were held, if it is whole now: each is sent again and is due after one more latency.
    pub fn heal(
        &mut self,
        from: ProcId,
        to: ProcId,
        all: bool,
        now: Micros,
    ) -> Option<Vec<(Slot, Micros)>> {
        let pair = self.pair(from, to);
        if self.cuts[pair] == 0 {
            return None;
        }
        self.cuts[pair] = if all { 0 } else { self.cuts[pair] - 1 };
        if self.cuts[pair] > 0 {
            return None;
        }
        let at = now.plus(self.latency[pair]);
        let mut again = Vec::new();
        for conn in &mut self.conns {
            let side = match (conn.opener == from, conn.peer == to) {
                (true, true) => 0,
                _ if conn.peer == from && conn.opener == to => 1,
                _ => continue,
            };
            let Some(stream) = &mut conn.streams[side] else { continue };
            let Some(&front) = stream.waiting.front() else {
                continue;
            };
            if let Some(message) = self.store[front as usize].as_mut().filter(|m| m.due) {
                message.due = false;
                stream.last_arrival = stream.last_arrival.max(at);
                again.push((front, at));
            }
        }
        Some(again)
    }
}
