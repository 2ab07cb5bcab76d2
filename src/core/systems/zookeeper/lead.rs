//! What a server does as a leader: it makes transactions of what is wanted, and lets sessions expire.

use std::rc::Rc;

use super::prep::Ahead;
use super::request::{Code, Reply, Request, SessionId, Zxid};
use super::server::Server;
use super::sessions::Tracker;
use super::tree::Session;
use super::txn::{Asker, Deed, Txn, zxid};
use crate::judge::{Ballot, Standing, Testimony, Token};
use crate::sim::{ClockKind, Cx, Local, Micros, ProcId};
use crate::systems::Locks;
use crate::systems::quorum::{Link, Peer, Role, Stamp};

/// What only a leader has.
#[derive(Clone, Debug)]
pub(super) struct Lead {
    pub sessions: Tracker,
    ahead: Ahead,
    /// The last transaction that it has proposed.
    proposed: Zxid,
    /// The last one of which it has said that a majority has logged it.
    decided: Zxid,
    /// Who is told when everything up to there is decided.
    syncs: Vec<(Zxid, Link, u64)>,
    /// When it looks for empty containers next.
    pub next_look: Local,
}

/// How often a leader looks for containers that are empty.
///
/// Source: `ContainerManager`, `znode.container.checkIntervalMs`.
const LOOK: Micros = Micros::from_secs(60);

/// What a server asks its leader for, on behalf of a client.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    /// The client's session.
    pub session: SessionId,
    /// The client.
    pub by: ProcId,
    /// The time-out of its session.
    pub timeout: Micros,
    /// The server's number for this.
    pub ticket: u64,
    /// What.
    pub wanted: Wanted,
}

/// What is wanted.
#[derive(Clone, Debug)]
pub(super) enum Wanted {
    /// A new session.
    Open,
    /// That a session goes on.
    Validate,
    /// A word as soon as all is told that is decided now.
    Sync,
    /// A change.
    Write(Rc<Request>),
}

impl Wish {
    /// What an arrow between the servers calls it.
    pub fn name(&self) -> &'static str {
        match &self.wanted {
            Wanted::Open => "request connect",
            Wanted::Validate => "revalidate",
            Wanted::Sync => "request sync",
            Wanted::Write(request) => match &**request {
                Request::Create { .. } => "request create",
                Request::Delete { .. } => "request delete",
                Request::SetData { .. } => "request setData",
                Request::CloseSession => "request closeSession",
                _ => "request",
            },
        }
    }
}

impl Server {
    /// The server is something else to the others from now on.
    pub(super) fn became(&mut self, cx: &mut Cx<'_, Locks>, role: Role) {
        self.lead = None;
        if role == Role::Looking {
            self.connect_anew(cx);
        }
        self.serve(cx, role != Role::Looking);
        self.say_standing(cx, role);
        if role == Role::Leading {
            let now = Server::now(cx);
            if let Some(next) = self.member.next() {
                // A leader counts from its epoch on, before it has done anything in it.
                self.last = self.last.max(Zxid(u64::from(next.term) << 32));
            }
            self.lead = Some(Lead {
                sessions: Tracker::new(self.start.timing.tick, &self.tree, now),
                ahead: Ahead::default(),
                proposed: self.last,
                decided: self.last,
                syncs: Vec::new(),
                next_look: now.plus(LOOK),
            });
        }
    }

    /// An ensemble says who leads it.
    fn say_standing(&self, cx: &mut Cx<'_, Locks>, role: Role) {
        let lane = |peer: Peer| self.start.servers.get(usize::from(peer.0)).copied();
        let standing = match role {
            Role::Leading => Standing::Leads(self.member.next().map_or(0, |next| next.term)),
            Role::Following(leader) => lane(leader).map_or(Standing::Seeks, Standing::Follows),
            Role::Looking => Standing::Seeks,
        };
        if self.start.servers.len() > 1 {
            cx.note(Testimony::Stand(standing));
        }
    }

    /// A majority has logged an entry: who has, is said once, before anybody is told.
    pub(super) fn say_decided(&mut self, cx: &mut Cx<'_, Locks>, stamp: Stamp) {
        let Some(lead) = self.lead.as_mut().filter(|lead| lead.decided < zxid(stamp)) else {
            return;
        };
        lead.decided = zxid(stamp);
        let ballot = Ballot::of(self.member.have(stamp).map(|has| has.then_some(true)));
        cx.note(Testimony::Decide(Token(zxid(stamp).0), ballot));
    }

    fn propose(&mut self, cx: &mut Cx<'_, Locks>, txn: Txn) {
        let Some((lead, next)) = self.lead.as_mut().zip(self.member.next()) else { return };
        lead.proposed = zxid(next);
        let effects = self.member.propose(Server::now(cx), txn);
        self.carry_out(cx, effects);
    }

    /// A server wants something for its client: a follower on its connection, or the leader itself.
    pub(super) fn wish(&mut self, cx: &mut Cx<'_, Locks>, link: Option<Link>, wish: Wish) {
        let from = link.map_or(self.me(), |link| link.by);
        let now = Server::now(cx);
        let Some((lead, next)) = self.lead.as_mut().zip(self.member.next()) else { return };
        let Wish { session, by, timeout, ticket, wanted } = wish;
        let deed = match wanted {
            Wanted::Open => {
                lead.sessions.track(session, timeout, now);
                lead.sessions.own(session, from);
                Deed::Open { timeout }
            }
            Wanted::Validate => {
                let valid = lead.sessions.touch(session, timeout, now);
                lead.sessions.own(session, from);
                let reply = if valid { Reply::Done } else { Reply::Expired };
                return self.say_word(cx, link, ticket, reply);
            }
            Wanted::Sync => match link {
                Some(link) if lead.proposed > self.last => {
                    return lead.syncs.push((lead.proposed, link, ticket));
                }
                _ => return self.say_word(cx, link, ticket, Reply::Done),
            },
            Wanted::Write(request) => {
                let checked = match *request {
                    // The end of a session comes from whoever has it, and from nobody else.
                    Request::CloseSession => {
                        lead.sessions.closing(session);
                        Ok(())
                    }
                    _ => lead.sessions.check(session, from),
                };
                match checked {
                    Ok(()) => lead.ahead.prepare(&self.tree, zxid(next), session, &request),
                    Err(code) => refused(code, &request),
                }
            }
        };
        let asker = Some(Asker { server: from, ticket });
        self.propose(cx, Txn { session: Some(session), by, asker, deed });
    }

    fn say_word(&mut self, cx: &mut Cx<'_, Locks>, to: Option<Link>, ticket: u64, reply: Reply) {
        match to {
            Some(link) => self.tell_word(cx, link, ticket, reply),
            None => self.word(cx, ticket, reply),
        }
    }

    /// An entry is decided and carried out here.
    pub(super) fn settled(&mut self, cx: &mut Cx<'_, Locks>, decided: Zxid, txn: &Txn) {
        let Some(lead) = &mut self.lead else { return };
        lead.ahead.settle(decided);
        if let (Deed::Close { .. }, Some(session)) = (&txn.deed, txn.session) {
            lead.sessions.remove(session);
        }
        let due = |sync: &(Zxid, Link, u64)| sync.0 <= decided;
        let told: Vec<(Zxid, Link, u64)> = lead.syncs.iter().copied().filter(due).collect();
        lead.syncs.retain(|sync| !due(sync));
        for (_, to, ticket) in told {
            if self.member.is_linked(to) {
                self.say_word(cx, Some(to), ticket, Reply::Done);
            }
        }
    }

    /// Sessions of which nothing was heard for too long end. That is a transaction as any other:
    /// without a majority nobody expires.
    pub(super) fn expire(&mut self, cx: &mut Cx<'_, Locks>) {
        let now = Server::now(cx);
        let over = self.lead.as_mut().map(|lead| lead.sessions.expired(now));
        for session in over.unwrap_or_default() {
            self.say_silent(cx, session);
            let Some((lead, next)) = self.lead.as_mut().zip(self.member.next()) else { return };
            let deed = lead.ahead.close(&self.tree, zxid(next), session, true);
            let (session, by, asker) = (Some(session), cx.me(), None);
            self.propose(cx, Txn { session, by, asker, deed });
        }
    }

    /// Nothing was heard of a session for too long.
    fn say_silent(&self, cx: &mut Cx<'_, Locks>, session: SessionId) {
        let mut known = self.lead.iter().flat_map(|lead| lead.sessions.iter());
        let known = known.find(|known| known.0 == session);
        let of = self.tree.session(session).copied();
        if let (Some((_, _, span, heard)), Some(Session { client, which, .. })) = (known, of) {
            // What counts is the time that its own clock shows: it may stand still, or run too fast.
            let silent = heard.until(cx.clock(ClockKind::Mono));
            let heard = cx.passed(ClockKind::Mono, heard);
            cx.note(Testimony::Lapse { client, which, heard, silent, span });
        }
    }

    /// Containers that have emptied go.
    pub(super) fn look_for_containers(&mut self, cx: &mut Cx<'_, Locks>) {
        for path in self.tree.empty_containers() {
            let Some((lead, next)) = self.lead.as_mut().zip(self.member.next()) else { return };
            let deed = lead.ahead.empty(&self.tree, zxid(next), &path);
            self.propose(cx, Txn { session: None, by: cx.me(), asker: None, deed });
        }
        if let Some(lead) = &mut self.lead {
            lead.next_look = lead.next_look.plus(LOOK);
        }
    }
}

/// What becomes of a request from a connection that its session has left, or of a session that is over.
fn refused(code: Code, request: &Request) -> Deed {
    match request {
        Request::Multi(parts) => {
            let rest = parts.iter().skip(1).map(|_| Deed::Error(Code::RuntimeInconsistency));
            Deed::Multi(std::iter::once(Deed::Error(code)).chain(rest).collect())
        }
        _ => Deed::Error(code),
    }
}
