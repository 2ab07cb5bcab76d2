//! What the servers of an ensemble say to one another.

use super::lead::Wish;
use super::request::Reply;
use super::server::Server;
use super::txn::Txn;
use crate::sim::{ConnId, Cx, ProcId};
use crate::systems::quorum::{Message, Peer};
use crate::systems::{Body, Locks};

/// A word between servers.
#[derive(Clone, Debug)]
pub(super) enum Peered {
    /// What keeps their logs alike.
    Log(Message<Txn>),
    /// A follower's client wants something that the leader has to decide.
    Wish(Wish),
    /// The leader's word on that, where no entry of the log carries it.
    Word(u64, Reply),
}

impl Server {
    /// Says something to another server.
    pub(super) fn tell_peer(
        &self,
        cx: &mut Cx<'_, Locks>,
        to: Peer,
        name: &'static str,
        peered: Peered,
    ) {
        if let Some(to) = self.start.servers.get(usize::from(to.0)) {
            cx.ask(*to, Body::new(name, 0, peered), None);
        }
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
        peered: Peered,
    ) {
        let Some(peer) = self.peer(from) else { return };
        // What comes late on a connection that was given up is not looked at.
        let newest = self.heard.entry(peer).or_insert(conn);
        if conn < *newest {
            return;
        }
        *newest = conn;
        match peered {
            Peered::Log(message) => {
                let effects = self.member.receive(Server::now(cx), peer, message);
                self.carry_out(cx, effects);
            }
            Peered::Wish(wish) => self.wish(cx, peer, wish),
            Peered::Word(ticket, reply) => self.word(cx, ticket, reply),
        }
    }

    /// The connection to another server is gone.
    pub(super) fn lost_peer(&mut self, cx: &mut Cx<'_, Locks>, proc: ProcId) {
        if let Some(peer) = self.peer(proc) {
            let effects = self.member.lost(Server::now(cx), peer);
            self.carry_out(cx, effects);
        }
    }
}
