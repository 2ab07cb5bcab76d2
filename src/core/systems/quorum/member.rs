//! One server's part in the log.

use super::election::{Elected, Election, Notification, State, Tell, Vote};
use super::follow::Following;
use super::lead::Leading;
use super::log::Log;
use super::{Entry, Link, Message, Peer, QuorumPacket, Stamp};
use crate::sim::{Local, Micros, Table};

/// How long servers wait for one another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Timing {
    /// The unit of all waits: a leader speaks to its followers twice in it.
    pub tick: Micros,
    /// How many of them a follower may take until it knows what the leader knows.
    pub init_limit: u32,
    /// After how many of silence a leader and a follower give each other up.
    pub sync_limit: u32,
}

impl Timing {
    pub(super) fn half(&self) -> Micros {
        Micros((self.tick.0 / 2).max(1))
    }

    pub(super) fn init(&self) -> Micros {
        Micros(self.tick.0.saturating_mul(self.init_limit.into()))
    }

    pub(super) fn sync(&self) -> Micros {
        Micros(self.tick.0.saturating_mul(self.sync_limit.into()))
    }
}

/// What a server is to the others.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// It knows no leader, or does not take part yet.
    Looking,
    /// It follows that one.
    Following(Peer),
    /// It leads.
    Leading,
}

/// What is to be done about what a member was told.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Effect<C> {
    /// This is to be sent.
    Send(Peer, Message<C>),
    /// An entry is decided: it is to be carried out. They come in order, each once in the life of a
    /// process; a process that starts again carries all of them out again, as soon as it knows which
    /// of those that it logged were decided.
    Commit(Entry<C>),
    /// The server is something else from now on. A leader leads, and a follower follows, only when it
    /// knows all that was decided.
    Became(Role),
}

/// What a server has in each of its roles.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Own<C> {
    pub me: Peer,
    pub of: u8,
    pub timing: Timing,

    // What outlasts a crash.
    pub log: Log<C>,
    /// The largest epoch that it has promised to a leader (`acceptedEpoch`).
    pub accepted: u32,
    /// The epoch of the last leader with which it was in sync (`currentEpoch`).
    pub current: u32,
    /// How many connections it has opened. Only their identity hangs on it, so that no two are alike.
    pub opened: u32,

    // What a process has.
    pub role: Role,
    /// How many connections had been opened before it started.
    before: u32,
    /// How many entries of the log it has carried out.
    pub applied: usize,
    /// The state that it is in: after which entry, or at the beginning of which term that it led.
    pub processed: Stamp,
    /// The elections that it took part in, and for whom it voted at last.
    pub round: u32,
    pub vote: Vote,
    /// The last connection of each other server that it has shut.
    shut: Table<Peer, u32>,
}

/// A server at the moment at which it is told something, and what it does about that.
pub(super) struct Turn<'a, C> {
    pub own: &'a mut Own<C>,
    pub now: Local,
    pub effects: Vec<Effect<C>>,
}

/// What comes of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Then {
    /// It goes on as it is.
    Stay,
    /// It looks for a leader.
    Look,
}

impl<C: Clone> Turn<'_, C> {
    /// Says something on a connection.
    pub fn say(&mut self, to: Peer, link: Link, packet: QuorumPacket<C>) {
        self.effects.push(Effect::Send(to, Message::Linked(link, packet)));
    }

    /// Opens a connection to a leader.
    pub fn open(&mut self, leader: Peer) -> Link {
        self.own.opened += 1;
        let link = Link { by: self.own.me, number: self.own.opened };
        self.say(leader, link, QuorumPacket::FollowerInfo(self.own.accepted));
        link
    }

    /// A connection that another server opened is shut: what still comes on it is known to be late.
    pub fn shut(&mut self, link: Link) {
        self.own.shut.insert(link.by, link.number);
    }

    /// Something has come on a connection that nobody here knows: whoever speaks on it is told, as the
    /// machine does (RST).
    pub fn reset(&mut self, from: Peer, link: Link, packet: &QuorumPacket<C>) {
        let known = if link.by == self.own.me {
            link.number > self.own.before
        } else {
            self.own.shut.get(&link.by).is_some_and(|n| link.number <= *n)
        };
        if !known && !matches!(packet, QuorumPacket::Close) {
            self.say(from, link, QuorumPacket::Close);
        }
    }

    /// So many entries are decided: those that were not carried out yet are.
    pub fn carry_out(&mut self, decided: usize) {
        for entry in self.own.log.range(self.own.applied, decided) {
            self.own.applied += 1;
            self.own.processed = entry.stamp.max(self.own.processed);
            self.effects.push(Effect::Commit(entry.clone()));
        }
    }

    pub fn become_role(&mut self, role: Role) {
        if self.own.role != role {
            self.own.role = role;
            self.effects.push(Effect::Became(role));
        }
    }

    fn tell(&mut self, whom: Tell, what: Notification) {
        let others = (0..self.own.of).map(Peer).filter(|p| *p != self.own.me);
        let told = |p: &Peer| whom == Tell::All || whom == Tell::Only(*p);
        let send = |p| Effect::Send(p, Message::Notification(what));
        self.effects.extend(others.filter(told).map(send));
    }
}

/// One server's part in the log.
///
/// What it logs is durable before it says so: a crash, of whichever kind, loses nothing of it, nor of
/// what it promised.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Member<C> {
    own: Own<C>,
    part: Part<C>,
}

/// What a server does at present.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Part<C> {
    /// It does not run.
    Down,
    /// It will start as a server that has long been running, under this leader.
    Before(Peer),
    /// It is the only one.
    Alone,
    Looking(Election),
    Following(Following<C>),
    Leading(Leading),
}

impl<C: Clone> Member<C> {
    /// A server that was never started, one of so many.
    pub fn new(me: Peer, of: u8, timing: Timing) -> Member<C> {
        let vote = Vote { epoch: 0, last: Stamp::default(), leader: me };
        let own = Own {
            me,
            of,
            timing,
            log: Log::new(),
            accepted: 0,
            current: 0,
            opened: 0,
            role: Role::Looking,
            before: 0,
            applied: 0,
            processed: Stamp::default(),
            round: 0,
            vote,
            shut: Table::new(),
        };
        Member { own, part: Part::Down }
    }

    /// A server of an ensemble that was elected before the run begins: all know `log`, and all that is
    /// in it is decided. The leader's term is that of the last entry, at least the first one. All of its
    /// servers have to start at the same time; one that starts again is like any other.
    ///
    /// A server alone has no terms: its entries' is 0.
    pub fn established(
        me: Peer,
        of: u8,
        leader: Peer,
        log: Vec<Entry<C>>,
        timing: Timing,
    ) -> Member<C> {
        let mut member = Member::new(me, of, timing);
        for entry in log {
            member.own.log.push(entry);
        }
        if of > 1 {
            let term = member.own.log.last().term.max(1);
            (member.own.accepted, member.own.current) = (term, term);
            let last = member.own.log.last();
            (member.own.round, member.own.vote) = (1, Vote { epoch: term, last, leader });
            member.part = Part::Before(leader);
        }
        member
    }

    /// What it is to the others.
    pub fn role(&self) -> Role {
        self.own.role
    }

    /// The term of the leader that it is, or follows, or followed at last.
    pub fn term(&self) -> u32 {
        self.own.current
    }

    /// The largest term that it has promised to a leader: it follows none with a smaller one. A server
    /// that was about to lead and came no further may have promised more than the leader of the others
    /// has; it cannot join them then, and tries again and again until that leader goes.
    pub fn promised(&self) -> u32 {
        self.own.accepted
    }

    /// The last entry that it has logged: at a leader, the last that was proposed.
    pub fn last(&self) -> Stamp {
        self.own.log.last()
    }

    /// The last entry that it knows to be decided, and has carried out.
    pub fn committed(&self) -> Stamp {
        let last = self.own.applied.checked_sub(1).and_then(|place| self.own.log.get(place));
        last.map_or(Stamp::default(), |entry| entry.stamp)
    }

    /// The state that it is in, as it tells its clients: after the last entry that it has carried out,
    /// or, at a new leader, at the beginning of its term. It never goes back in the life of a process.
    pub fn processed(&self) -> Stamp {
        self.own.processed
    }

    /// Whether it has logged an entry.
    pub fn has(&self, stamp: Stamp) -> bool {
        let place = self.own.log.up_to(stamp).checked_sub(1);
        place.and_then(|place| self.own.log.get(place)).is_some_and(|e| e.stamp == stamp)
    }

    /// Who takes part under this leader, itself not counted; nobody at any other server.
    pub fn followers(&self) -> impl Iterator<Item = Peer> {
        let leading = match &self.part {
            Part::Leading(leading) => Some(leading),
            _ => None,
        };
        leading.into_iter().flat_map(Leading::followers)
    }

    /// Whether it takes part in an election, which is not over for it.
    pub fn elects(&self) -> bool {
        matches!(self.part, Part::Looking(_))
    }

    /// Who has said to this leader that it logged an entry, by their places; nobody at any other server.
    pub fn have(&self, stamp: Stamp) -> impl Iterator<Item = bool> {
        let leading = match &self.part {
            Part::Leading(leading) => Some(leading),
            _ => None,
        };
        let entries = self.own.log.up_to(stamp);
        leading.into_iter().flat_map(move |leading| leading.have(entries))
    }

    /// The connection to the leader that it follows; none at any other server.
    pub fn link(&self) -> Option<Link> {
        match &self.part {
            Part::Following(following) if self.own.role != Role::Looking => Some(following.link),
            _ => None,
        }
    }

    /// Whether that is the connection of a server that takes part under this leader. What comes on
    /// another one is late: its sender has given it up.
    pub fn is_linked(&self, link: Link) -> bool {
        matches!(&self.part, Part::Leading(leading) if leading.is_linked(link))
    }

    fn turn(
        &mut self,
        now: Local,
        act: impl FnOnce(&mut Part<C>, &mut Turn<C>) -> Then,
    ) -> Vec<Effect<C>> {
        let mut turn = Turn { own: &mut self.own, now, effects: Vec::new() };
        if act(&mut self.part, &mut turn) == Then::Look {
            self.part = look(&mut turn);
        }
        turn.effects
    }

    /// The process starts, for the first time or again.
    pub fn start(&mut self, now: Local) -> Vec<Effect<C>> {
        self.turn(now, |part, turn| {
            match part {
                Part::Down if turn.own.of > 1 => return Then::Look,
                Part::Down => {
                    turn.carry_out(turn.own.log.len());
                    turn.become_role(Role::Leading);
                    *part = Part::Alone;
                }
                Part::Before(leader) if *leader == turn.own.me => {
                    turn.own.opened = 1;
                    *part = Part::Leading(Leading::established(turn));
                }
                Part::Before(leader) => {
                    let leader = *leader;
                    turn.own.opened = 1;
                    turn.carry_out(turn.own.log.len());
                    turn.become_role(Role::Following(leader));
                    *part = Part::Following(Following::established(turn, leader));
                }
                _ => {}
            }
            Then::Stay
        })
    }

    /// The name that the next proposal will have; only a leader has one.
    pub fn next(&self) -> Option<Stamp> {
        match &self.part {
            Part::Alone => Some(self.own.log.last().next()),
            Part::Leading(leading) if leading.is_established() => Some(leading.next(&self.own)),
            _ => None,
        }
    }

    /// The leader proposes an entry, which gets the name of [`Member::next`]. If no index is left after
    /// that, the entry is lost and the leader resigns, so that another term begins.
    pub fn propose(&mut self, now: Local, command: C) -> Vec<Effect<C>> {
        self.turn(now, |part, turn| match part {
            Part::Alone => {
                let stamp = turn.own.log.last().next();
                turn.own.log.push(Entry { stamp, command });
                turn.carry_out(turn.own.log.len());
                Then::Stay
            }
            Part::Leading(leading) if leading.is_established() => leading.propose(turn, command),
            _ => Then::Stay,
        })
    }

    /// Another server has said something.
    pub fn receive(&mut self, now: Local, from: Peer, message: Message<C>) -> Vec<Effect<C>> {
        self.turn(now, |part, turn| match message {
            Message::Notification(heard) => vote(part, turn, from, heard),
            Message::Linked(link, packet) => linked(part, turn, from, link, packet),
        })
    }

    /// The connection to another server is gone.
    pub fn lost(&mut self, now: Local, peer: Peer) -> Vec<Effect<C>> {
        self.turn(now, |part, turn| {
            match part {
                Part::Following(f) if f.leader == peer => return f.refused(turn),
                Part::Leading(leading) => leading.lose(turn, peer),
                _ => {}
            }
            Then::Stay
        })
    }

    /// When [`Member::alarm`] is to be called, on the process's monotonic clock.
    pub fn next_alarm(&self) -> Option<Local> {
        match &self.part {
            Part::Down | Part::Before(_) | Part::Alone => None,
            Part::Looking(election) => Some(election.next_alarm()),
            Part::Following(following) => Some(following.next_alarm()),
            Part::Leading(leading) => Some(leading.next_alarm(&self.own)),
        }
    }

    /// It is that late, or later; if it is earlier, nothing happens.
    pub fn alarm(&mut self, now: Local) -> Vec<Effect<C>> {
        self.turn(now, |part, turn| match part {
            Part::Looking(election) => {
                let (whom, elected) = election.alarm(turn.now);
                turn.tell(whom, election.says());
                settle(part, turn, elected)
            }
            Part::Following(following) => following.alarm(turn),
            Part::Leading(leading) => leading.alarm(turn),
            _ => Then::Stay,
        })
    }

    /// The process dies: what is not in the log is gone.
    pub fn crash(&mut self) {
        let own = &mut self.own;
        self.part = Part::Down;
        (own.role, own.round, own.before) = (Role::Looking, 0, own.opened);
        (own.applied, own.processed, own.shut) = (0, Stamp::default(), Table::new());
        own.vote = Vote { epoch: own.current, last: own.log.last(), leader: own.me };
    }
}

/// A server begins to look for a leader. What it has to offer is what it has logged, or the beginning of
/// a term that it led since (`QuorumPeer.getLastLoggedZxid`).
fn look<C: Clone>(turn: &mut Turn<C>) -> Part<C> {
    turn.become_role(Role::Looking);
    let own = &mut turn.own;
    own.round = own.round.saturating_add(1);
    let last = own.log.last().max(own.processed);
    let vote = Vote { epoch: own.current, last, leader: own.me };
    let election = Election::new(own.of, vote, own.round, turn.now);
    turn.tell(Tell::All, election.says());
    Part::Looking(election)
}

/// Another server has told its vote. One that has a leader tells those that look for one.
fn vote<C: Clone>(part: &mut Part<C>, turn: &mut Turn<C>, from: Peer, heard: Notification) -> Then {
    let state = match part {
        Part::Looking(election) => {
            let (whom, elected) = election.hear(turn.now, from, heard);
            turn.tell(whom, election.says());
            return settle(part, turn, elected);
        }
        Part::Following(_) => State::Following,
        Part::Leading(_) => State::Leading,
        Part::Down | Part::Before(_) | Part::Alone => return Then::Stay,
    };
    if heard.state == State::Looking {
        let says = Notification { vote: turn.own.vote, round: turn.own.round, state };
        turn.tell(Tell::Only(from), says);
    }
    Then::Stay
}

/// If the election is over, the server leads or follows.
fn settle<C: Clone>(part: &mut Part<C>, turn: &mut Turn<C>, elected: Option<Elected>) -> Then {
    if let Some(Elected { vote, round }) = elected {
        (turn.own.vote, turn.own.round) = (vote, round);
        *part = if vote.leader == turn.own.me {
            Part::Leading(Leading::begin(turn))
        } else {
            Part::Following(Following::begin(turn, vote.leader))
        };
    }
    Then::Stay
}

/// Another server has said something on a connection between leader and follower.
fn linked<C: Clone>(
    part: &mut Part<C>,
    turn: &mut Turn<C>,
    from: Peer,
    link: Link,
    packet: QuorumPacket<C>,
) -> Then {
    match part {
        Part::Down | Part::Before(_) => Then::Stay,
        Part::Following(f) if f.link == link && f.leader == from => f.hear(turn, packet),
        Part::Leading(leading) if link.by == from => leading.hear(turn, link, packet),
        _ => {
            turn.reset(from, link, &packet);
            Then::Stay
        }
    }
}
