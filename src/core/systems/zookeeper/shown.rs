//! What a server shows of itself.

use super::path::number_of;
use super::queues::{self, TokenRule};
use super::request::Zxid;
use super::server::{Life, Server};
use super::txn::{Owner, zxid};
use crate::judge::{LockId, Token};
use crate::sim::{ClockKind, Clocks, Micros, ProcId};
use crate::systems::quorum::Role;
use crate::systems::{Fact, ON_DISK, Piece};

impl Server {
    /// Whose znode that is: the client of its session.
    pub(super) fn client(&self, owner: Owner) -> Option<ProcId> {
        match owner {
            Owner::Session(session) => self.tree.session(session).map(|s| s.client),
            Owner::Nobody | Owner::Container => None,
        }
    }

    /// Whether that token is the holder's, as far as this server knows.
    pub(super) fn holds(&self, lock: LockId, token: Token, rule: TokenRule) -> bool {
        let Some(parent) = self.start.locks.get(usize::from(lock.0)) else { return false };
        let (queue, holding) = queues::queue(&self.tree, parent);
        queue.iter().take(holding).any(|(path, node)| {
            let session = match node.owner {
                Owner::Session(session) => Some(session),
                _ => None,
            };
            rule.token(path, node.czxid, session) == Some(token)
        })
    }

    pub(super) fn shows(&self, now: Micros, clocks: &Clocks) -> Vec<Fact> {
        let line = |key, what, number: Zxid| Fact::Row {
            key: vec![Piece::Word(key)],
            value: vec![Piece::Word(what), Piece::Change(number.0)],
        };
        let logged = zxid(self.member.last());
        // Whoever leads at the start was elected before.
        let first = usize::from(self.start.place) + 1 == self.start.servers.len();
        let (role, last) = match (self.life, self.member.role()) {
            (Life::Down, _) => return vec![line(ON_DISK, "its log up to zxid", logged)],
            (Life::Before, _) => (if first { "leads" } else { "follows" }, logged),
            (_, Role::Leading) => ("leads", self.last),
            (_, Role::Following(_)) => ("follows", self.last),
            (_, Role::Looking) => ("looks for a leader", self.last),
        };
        let mut facts = vec![line(role, "zxid", last)];
        for (index, parent) in self.start.locks.iter().enumerate() {
            self.show_queue(&mut facts, LockId(index as u16), parent, now, clocks);
        }
        for (path, conn) in self.watches.iter() {
            let watcher = self.links.iter().find(|link| link.conn == conn).map(|link| link.peer);
            let whole = self.start.locks.contains(path);
            let place = self.start.servers.get(usize::from(self.start.place)).copied();
            let of = match whole {
                true => place,
                false => self.tree.get(path).and_then(|node| self.client(node.owner)),
            };
            if let (Some(watcher), Some(of)) = (watcher, of) {
                facts.push(Fact::Watch { watcher, of });
            }
        }
        let sessions = self.lead.iter().flat_map(|lead| lead.sessions.iter());
        facts.extend(sessions.filter_map(|(id, end, span, _)| {
            let (client, which) = self.tree.session(id).map(|s| (s.client, s.which))?;
            let until = clocks.get(ClockKind::Mono).when(now, end);
            Some(Fact::Session { client, which, until, span, rounded: self.start.timing.tick })
        }));
        facts
    }

    fn show_queue(
        &self,
        facts: &mut Vec<Fact>,
        lock: LockId,
        parent: &super::Path,
        now: Micros,
        clocks: &Clocks,
    ) {
        let (queue, holding) = queues::queue(&self.tree, parent);
        let key = vec![Piece::Lock(lock)];
        if queue.is_empty() {
            let value = vec![Piece::Word("free")];
            facts.push(Fact::Row { key: key.clone(), value });
        }
        for (place, (path, node)) in queue.iter().enumerate() {
            let (name, holds) = (path.name().into(), place < holding);
            let number = number_of(path.name()).map_or(0, i64::from);
            if let Some(client) = self.client(node.owner) {
                facts.push(Fact::Seat { lock, client, number, name, holds });
            }
        }
        for (_, node) in queue.iter().take(holding) {
            let Some(client) = self.client(node.owner) else { continue };
            let made = Piece::Change(node.czxid.0);
            let value = vec![Piece::Client(client), Piece::Word("holds czxid"), made];
            facts.push(Fact::Row { key: key.clone(), value });
            let Owner::Session(session) = node.owner else { continue };
            let mut sessions = self.lead.iter().flat_map(|lead| lead.sessions.iter());
            if let Some((_, end, span, _)) = sessions.find(|s| s.0 == session) {
                let until = clocks.get(ClockKind::Mono).when(now, end);
                facts.push(Fact::Ring { lock, until, span });
            }
        }
        let waiting = queue.iter().skip(holding).filter_map(|(_, node)| self.client(node.owner));
        let waiting: Vec<ProcId> = waiting.collect();
        if !waiting.is_empty() {
            facts.push(Fact::Queue { lock, waiting });
        }
    }
}
