//! What the servers of an ensemble say to one another, and on which connections.
//!
//! A follower opens a connection to its leader, and both speak on it until one of them closes it.
//! Elections go over connections of their own.

use super::lead::Wish;
use super::request::{Reply, SessionId};
use super::server::Server;
use super::txn::{Txn, zxid};
use crate::judge::Token;
use crate::sim::{ConnId, Cx, Micros, ProcId, Table};
use crate::systems::quorum::{Link, Message, Peer, QuorumPacket, Role};
use crate::systems::{Body, Locks};

/// A word between servers.
#[derive(Clone, Debug)]
pub(super) enum Peered {
    /// What keeps their logs alike.
    Log(Message<Txn>),
    /// A follower lives, and these are the sessions that it has heard of since it said so last, each
    /// with its time-out: its answer to the leader's ping.
    ///
    /// Source: `Follower.ping`, `LearnerHandler`.
    Touched(Message<Txn>, Vec<(SessionId, Micros)>),
    /// A follower's client wants something that the leader has to decide.
    Wish(Link, Wish),
    /// The leader's word on that, where no entry of the log carries it.
    Word(Link, u64, Reply),
}

impl Peered {
    fn link(&self) -> Option<Link> {
        match self {
            Peered::Wish(link, _) | Peered::Word(link, ..) => Some(*link),
            Peered::Log(Message::Linked(link, _))
            | Peered::Touched(Message::Linked(link, _), _) => Some(*link),
            Peered::Log(Message::Notification(_))
            | Peered::Touched(Message::Notification(_), _) => None,
        }
    }

    fn packet(&self) -> Option<&QuorumPacket<Txn>> {
        match self {
            Peered::Log(Message::Linked(_, packet)) => Some(packet),
            _ => None,
        }
    }

    /// The number of the transaction that it is about, for the eye.
    fn token(&self) -> Option<Token> {
        let stamp = match self.packet()? {
            QuorumPacket::Propose(entry) => entry.stamp,
            QuorumPacket::Ack(stamp) | QuorumPacket::Commit(stamp) if stamp.index > 0 => *stamp,
            _ => return None,
        };
        Some(Token(zxid(stamp).0))
    }

    fn opens(&self) -> bool {
        matches!(self.packet(), Some(QuorumPacket::FollowerInfo(_)))
    }

    fn closes(&self) -> bool {
        matches!(self.packet(), Some(QuorumPacket::Close))
    }
}

impl Server {
    /// Says something to another server.
    fn tell_peer(&mut self, cx: &mut Cx<'_, Locks>, to: Peer, name: &'static str, said: Peered) {
        let Some(proc) = self.start.servers.get(usize::from(to.0)).copied() else { return };
        if said.opens() {
            cx.abandon(proc);
        }
        // What goes back to a follower goes on the connection that it has opened.
        let back = said.link().filter(|link| link.by == to);
        let conn = back.and_then(|_| self.opened.get(&to).copied());
        let closes = said.closes();
        let token = said.token();
        let body = Body::new(name, 0, said).with_token(token);
        match conn {
            Some(conn) => cx.send(conn, body, None),
            None => cx.ask(proc, body, None),
        };
        if closes {
            self.part(cx, to, proc);
        }
    }

    /// A server that looks for a leader, and was not answered, connects anew: what it has may be broken.
    ///
    /// Source: `FastLeaderElection`, which calls `connectAll` then.
    pub(super) fn connect_anew(&mut self, cx: &mut Cx<'_, Locks>) {
        let me = cx.me();
        for proc in self.start.servers.iter().filter(|proc| **proc != me) {
            cx.abandon(*proc);
        }
        self.opened = Table::new();
    }

    /// A server that looks for a leader is answered on a new connection, unless there is one between
    /// leader and follower.
    fn answers_anew(&self, cx: &mut Cx<'_, Locks>, peer: Peer, proc: ProcId) {
        let linked = match self.member.role() {
            Role::Looking => true,
            Role::Following(leader) => leader == peer,
            Role::Leading => self.member.followers().any(|follower| follower == peer),
        };
        if !linked {
            cx.abandon(proc);
        }
    }

    /// A connection to another server is closed: whatever is said next goes on another one.
    fn part(&mut self, cx: &mut Cx<'_, Locks>, peer: Peer, proc: ProcId) {
        self.opened.remove(&peer);
        cx.abandon(proc);
    }

    /// Sends what the log says is to be sent. A follower that answers its leader adds whom it has
    /// heard of.
    pub(super) fn tell_log(&mut self, cx: &mut Cx<'_, Locks>, to: Peer, message: Message<Txn>) {
        let name = message.name();
        if let Message::Linked(_, QuorumPacket::Commit(stamp)) = &message {
            self.say_decided(cx, *stamp);
        }
        let answers = matches!(message, Message::Linked(_, QuorumPacket::Ping));
        let follows = matches!(self.member.role(), Role::Following(_));
        let said = match answers && follows {
            true => {
                let touched = std::mem::take(&mut self.touched).into_iter().collect();
                Peered::Touched(message, touched)
            }
            false => Peered::Log(message),
        };
        self.tell_peer(cx, to, name, said);
    }

    /// A follower asks its leader for something.
    pub(super) fn tell_wish(&mut self, cx: &mut Cx<'_, Locks>, leader: Peer, wish: Wish) {
        if let Some(link) = self.member.link() {
            let name = wish.name();
            self.tell_peer(cx, leader, name, Peered::Wish(link, wish));
        }
    }

    /// A leader answers its follower.
    pub(super) fn tell_word(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        link: Link,
        ticket: u64,
        reply: Reply,
    ) {
        self.tell_peer(cx, link.by, reply.name(), Peered::Word(link, ticket, reply));
    }

    fn peer(&self, proc: ProcId) -> Option<Peer> {
        let place = self.start.servers.iter().position(|server| *server == proc)?;
        u8::try_from(place).ok().map(Peer)
    }

    /// Another server has said something.
    pub(super) fn heard_peer(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        from: ProcId,
        conn: ConnId,
        said: Peered,
    ) {
        let Some(peer) = self.peer(from) else { return };
        let now = Server::now(cx);
        if said.opens() {
            self.opened.insert(peer, conn);
        }
        let own = said.link().is_some_and(|link| link.by == self.me());
        if said.closes() && own {
            cx.hang_up(from, Some(conn));
        } else if said.closes() && self.opened.get(&peer).is_none_or(|opened| *opened <= conn) {
            self.part(cx, peer, from);
        }
        match said {
            Peered::Log(message) => {
                if matches!(message, Message::Notification(_)) {
                    self.answers_anew(cx, peer, from);
                }
                let effects = self.member.receive(now, peer, message);
                self.carry_out(cx, effects);
            }
            Peered::Touched(message, touched) => {
                let effects = self.member.receive(now, peer, message.clone());
                self.carry_out(cx, effects);
                let Message::Linked(link, _) = message else { return };
                if let Some(lead) = self.lead.as_mut().filter(|_| self.member.is_linked(link)) {
                    for (session, timeout) in touched {
                        lead.sessions.touch(session, timeout, now);
                    }
                }
            }
            // What comes late, on a connection that was given up, is not looked at.
            Peered::Wish(link, wish) if self.member.is_linked(link) => {
                self.wish(cx, Some(link), wish);
            }
            Peered::Word(link, ticket, reply) if self.member.link() == Some(link) => {
                self.word(cx, ticket, reply);
            }
            Peered::Wish(..) | Peered::Word(..) => {}
        }
    }

    /// The connection to another server is gone.
    pub(super) fn lost_peer(&mut self, cx: &mut Cx<'_, Locks>, proc: ProcId, conn: ConnId) {
        let Some(peer) = self.peer(proc) else { return };
        if self.opened.get(&peer).is_some_and(|opened| *opened > conn) {
            return;
        }
        self.opened.remove(&peer);
        let effects = self.member.lost(Server::now(cx), peer);
        self.carry_out(cx, effects);
    }
}
