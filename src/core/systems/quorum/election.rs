//! How ZooKeeper's servers find a leader: FastLeaderElection.
//!
//! Each proposes itself, tells all others, and takes over what is better than its own proposal, until
//! a majority proposes the same. Who follows or leads already answers, so that a late one joins.
//!
//! Source: `FastLeaderElection.lookForLeader` and its `WorkerReceiver`.

use super::{Peer, Stamp, majority};
use crate::sim::{Local, Micros, Table};

/// How long a majority waits for a better proposal, and after how long of silence a server repeats its
/// own at first. Source: `FastLeaderElection.finalizeWait`, `minNotificationInterval`.
const FINALIZE: Micros = Micros::from_millis(200);
/// The longest silence before it repeats itself. Source: `maxNotificationInterval`.
const LONGEST: Micros = Micros::from_secs(60);

/// Who should lead, and why. Of two votes the larger is the better one (`totalOrderPredicate`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Vote {
    /// The epoch of the last leader with which the proposed server was in sync.
    pub epoch: u32,
    /// The last entry that it has logged.
    pub last: Stamp,
    /// The proposed server.
    pub leader: Peer,
}

/// What a server says of itself when it speaks of an election.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum State {
    /// It looks for a leader.
    Looking,
    /// It follows the one for whom it voted.
    Following,
    /// It leads.
    Leading,
}

/// A server's vote, as it tells the others.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Notification {
    /// Whom it proposes, or has as its leader.
    pub vote: Vote,
    /// The election that this belongs to: each server counts those that it takes part in.
    pub round: u32,
    /// Whether it is still looking.
    pub state: State,
}

impl Notification {
    /// Whether both are for the same leader. Among those who have one, what it had logged when they
    /// chose it is no matter (`Vote.equals`).
    fn agrees(&self, other: &Notification) -> bool {
        if self.state == State::Looking || other.state == State::Looking {
            (self.vote, self.round) == (other.vote, other.round)
        } else {
            (self.vote.leader, self.vote.epoch) == (other.vote.leader, other.vote.epoch)
        }
    }
}

/// Whom a server is to tell its vote.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tell {
    Nobody,
    Only(Peer),
    All,
}

/// How an election has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Elected {
    pub vote: Vote,
    pub round: u32,
}

/// An election, as one server sees it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Election {
    me: Peer,
    of: u8,
    /// What this server has to offer.
    own: Vote,
    proposed: Vote,
    round: u32,
    /// The votes of this round (`recvset`).
    votes: Table<Peer, Notification>,
    /// What those say who have a leader (`outofelection`).
    settled: Table<Peer, Notification>,
    /// How long a silence lasts until this server repeats itself, and until when.
    patience: Micros,
    repeat: Local,
    /// Until when a majority waits for something better.
    finalize: Option<Local>,
}

impl Election {
    /// A server begins to look, in its next round.
    pub fn new(of: u8, own: Vote, round: u32, now: Local) -> Election {
        let mut election = Election {
            me: own.leader,
            of,
            own,
            proposed: own,
            round,
            votes: Table::new(),
            settled: Table::new(),
            patience: FINALIZE,
            repeat: now.plus(FINALIZE),
            finalize: None,
        };
        election.votes.insert(own.leader, election.says());
        election
    }

    /// What this server tells the others.
    pub fn says(&self) -> Notification {
        Notification { vote: self.proposed, round: self.round, state: State::Looking }
    }

    /// What this server says to one that looks for a leader in an earlier round, whatever it waits for.
    ///
    /// And to one that repeats a vote that is not the better one: what this server said has not
    /// reached it. (ZooKeeper repeats its last word on every new connection, `SendWorker.run`; here
    /// nobody is told of new ones.)
    fn answers(&self, from: Peer, heard: &Notification) -> bool {
        let missed = heard.round == self.round
            && heard.vote < self.proposed
            && self.votes.get(&from) == Some(heard);
        heard.state == State::Looking && (heard.round < self.round || missed)
    }

    /// Another server has told its vote.
    pub fn hear(&mut self, now: Local, from: Peer, heard: Notification) -> (Tell, Option<Elected>) {
        let answer = if self.answers(from, &heard) { Tell::Only(from) } else { Tell::Nobody };
        if self.finalize.is_some() {
            if heard.vote <= self.proposed {
                self.finalize = Some(now.plus(FINALIZE));
                return (answer, None);
            }
            self.finalize = None;
        }
        self.repeat = now.plus(self.patience);
        if heard.state != State::Looking {
            return (answer, self.join(from, heard));
        }
        if heard.round < self.round {
            return (answer, None);
        }
        let before = self.says();
        if heard.round > self.round {
            self.round = heard.round;
            self.votes = Table::new();
            self.proposed = self.own;
        }
        self.proposed = self.proposed.max(heard.vote);
        let says = self.says();
        self.votes.insert(self.me, says);
        self.votes.insert(from, heard);
        if self.count(&self.votes, &says) {
            self.finalize = Some(now.plus(FINALIZE));
        }
        (if says == before { answer } else { Tell::All }, None)
    }

    fn count(&self, votes: &Table<Peer, Notification>, vote: &Notification) -> bool {
        votes.values().filter(|v| v.agrees(vote)).count() >= majority(self.of)
    }

    /// One that has a leader has said who. It is joined if a majority has it and it says so itself;
    /// else all would elect for ever one that is dead (`checkLeader`).
    fn join(&mut self, from: Peer, heard: Notification) -> Option<Elected> {
        let leads = |election: &Election, votes: &Table<Peer, Notification>| {
            let leader = heard.vote.leader;
            if leader == election.me {
                return heard.round == election.round;
            }
            votes.get(&leader).is_some_and(|v| v.state == State::Leading)
        };
        if heard.round == self.round {
            self.votes.insert(from, heard);
        }
        self.settled.insert(from, heard);
        let in_round = heard.round == self.round
            && self.count(&self.votes, &heard)
            && leads(self, &self.votes);
        let late = self.count(&self.settled, &heard) && leads(self, &self.settled);
        (in_round || late).then_some(Elected { vote: heard.vote, round: heard.round })
    }

    /// When [`Election::alarm`] is to be called.
    pub fn next_alarm(&self) -> Local {
        self.finalize.unwrap_or(self.repeat)
    }

    /// It is that late, or later: nothing better came, or nothing at all.
    pub fn alarm(&mut self, now: Local) -> (Tell, Option<Elected>) {
        if now < self.next_alarm() {
            return (Tell::Nobody, None);
        }
        if self.finalize.is_some() {
            return (Tell::Nobody, Some(Elected { vote: self.proposed, round: self.round }));
        }
        self.patience = Micros(self.patience.0 * 2).min(LONGEST);
        self.repeat = now.plus(self.patience);
        (Tell::All, None)
    }
}
