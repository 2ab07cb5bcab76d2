//! A follower's end of the connection to its leader.
//!
//! Source: ZooKeeper's `Learner` and `Follower`.

use std::rc::Rc;

use super::member::{Then, Turn};
use super::{Entry, Link, Peer, QuorumPacket, Role, Stamp};
use crate::sim::{Local, Micros};

/// How often a server tries to reach the one that was elected, which may not know yet that it leads,
/// and how long it waits in between. Source: `Learner.connectToLeader`, `leaderConnectDelayDuringRetryMs`.
const TRIES: u32 = 5;
const BETWEEN_TRIES: Micros = Micros::from_millis(100);

/// How far a follower has come with its leader.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Stage {
    /// It has asked, and does not know whether the other leads.
    Connecting,
    /// It has accepted the leader's epoch and receives what it lacks.
    Syncing,
    /// It has logged all of that, and waits for a majority to have done so.
    Synced,
    /// It takes part.
    UpToDate,
}

/// A server that follows another, or is about to.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Following<C> {
    pub leader: Peer,
    pub link: Link,
    stage: Stage,
    /// How often it has tried to connect, and when it does so again after it was refused.
    tries: u32,
    again: Option<Local>,
    /// From when on the leader has been silent for too long.
    silent: Local,
    /// The epoch that the leader has.
    epoch: u32,
    /// What it has to log as soon as it knows that this was all: what it keeps, and what follows.
    sync: Option<(Stamp, Rc<[Entry<C>]>)>,
    /// What was proposed and decided while it was not up to date.
    queued: Vec<Entry<C>>,
    decided: Stamp,
}

impl<C: Clone> Following<C> {
    /// An election has shown whom to follow.
    pub fn begin(turn: &mut Turn<C>, leader: Peer) -> Following<C> {
        let link = turn.open(leader);
        Following::new(leader, link, Stage::Connecting, turn.now.plus(turn.own.timing.init()))
    }

    /// It follows, and is up to date, since before the run began.
    pub fn established(turn: &mut Turn<C>, leader: Peer) -> Following<C> {
        let link = Link { by: turn.own.me, number: turn.own.opened };
        let silent = turn.now.plus(turn.own.timing.sync());
        Following {
            epoch: turn.own.current,
            ..Following::new(leader, link, Stage::UpToDate, silent)
        }
    }

    fn new(leader: Peer, link: Link, stage: Stage, silent: Local) -> Following<C> {
        Following {
            leader,
            link,
            stage,
            tries: 1,
            again: None,
            silent,
            epoch: 0,
            sync: None,
            queued: Vec::new(),
            decided: Stamp::default(),
        }
    }

    fn say(&self, turn: &mut Turn<C>, packet: QuorumPacket<C>) {
        turn.say(self.leader, self.link, packet);
    }

    /// The leader has said something on this connection.
    pub fn hear(&mut self, turn: &mut Turn<C>, packet: QuorumPacket<C>) -> Then {
        let then = match (self.stage, packet) {
            (_, QuorumPacket::Close) => return self.refused(turn),
            (Stage::Connecting, QuorumPacket::LeaderInfo(epoch)) => self.accept(turn, epoch),
            (Stage::Syncing, QuorumPacket::Sync { keep, entries, .. }) => {
                self.sync = Some((keep, entries));
                Then::Stay
            }
            (Stage::Syncing, QuorumPacket::NewLeader(_)) => self.log_all(turn),
            (Stage::Synced, QuorumPacket::UpToDate) => self.take_part(turn),
            (Stage::Syncing | Stage::Synced, QuorumPacket::Propose(entry)) => {
                self.queued.push(entry);
                Then::Stay
            }
            (Stage::Syncing | Stage::Synced, QuorumPacket::Commit(stamp)) => {
                self.decided = stamp;
                Then::Stay
            }
            (Stage::UpToDate, QuorumPacket::Propose(entry)) => self.log(turn, entry),
            (Stage::UpToDate, QuorumPacket::Commit(stamp)) => {
                turn.carry_out(turn.own.log.up_to(stamp));
                Then::Stay
            }
            (Stage::UpToDate, QuorumPacket::Ping) => {
                self.say(turn, QuorumPacket::Ping);
                Then::Stay
            }
            _ => Then::Stay,
        };
        let timing = turn.own.timing;
        let patience = if self.stage < Stage::Synced { timing.init() } else { timing.sync() };
        self.silent = turn.now.plus(patience);
        then
    }

    /// The leader has an epoch. It is promised to no two servers (`Learner.registerWithLeader`).
    fn accept(&mut self, turn: &mut Turn<C>, epoch: u32) -> Then {
        if epoch < turn.own.accepted {
            return self.leave(turn);
        }
        let current = (epoch > turn.own.accepted).then_some(turn.own.current);
        turn.own.accepted = epoch;
        (self.epoch, self.stage) = (epoch, Stage::Syncing);
        self.say(turn, QuorumPacket::AckEpoch { current, last: turn.own.log.last() });
        Then::Stay
    }

    /// Nothing is missing: the log becomes what the leader has, and of its epoch, in one step.
    fn log_all(&mut self, turn: &mut Turn<C>) -> Then {
        let Some((keep, entries)) = self.sync.take() else { return self.leave(turn) };
        let kept = turn.own.log.up_to(keep);
        turn.own.log.truncate(kept);
        for entry in entries.iter() {
            turn.own.log.push(entry.clone());
        }
        turn.own.current = self.epoch;
        self.stage = Stage::Synced;
        self.say(turn, QuorumPacket::Ack(Stamp::beginning(self.epoch)));
        Then::Stay
    }

    /// A majority is in sync: all that came before is decided, and what came since is taken up.
    fn take_part(&mut self, turn: &mut Turn<C>) -> Then {
        self.stage = Stage::UpToDate;
        turn.carry_out(turn.own.log.len());
        turn.own.vote.epoch = self.epoch;
        turn.become_role(Role::Following(self.leader));
        for entry in std::mem::take(&mut self.queued) {
            if let Then::Look = self.log(turn, entry) {
                return Then::Look;
            }
        }
        turn.carry_out(turn.own.log.up_to(self.decided));
        Then::Stay
    }

    /// An entry was proposed. One that does not come next would leave a gap, which an acknowledgement of
    /// it would deny.
    fn log(&mut self, turn: &mut Turn<C>, entry: Entry<C>) -> Then {
        let stamp = entry.stamp;
        if stamp != turn.own.log.last().max(Stamp::beginning(self.epoch)).next() {
            return self.leave(turn);
        }
        turn.own.log.push(entry);
        self.say(turn, QuorumPacket::Ack(stamp));
        Then::Stay
    }

    /// It gives its leader up.
    fn leave(&mut self, turn: &mut Turn<C>) -> Then {
        self.say(turn, QuorumPacket::Close);
        Then::Look
    }

    /// The connection is gone. One that was never answered is tried again.
    pub fn refused(&mut self, turn: &mut Turn<C>) -> Then {
        if self.stage > Stage::Connecting || self.tries >= TRIES {
            return Then::Look;
        }
        self.again = Some(turn.now.plus(BETWEEN_TRIES));
        Then::Stay
    }

    /// When [`Following::alarm`] is to be called.
    pub fn next_alarm(&self) -> Local {
        self.again.unwrap_or(self.silent).min(self.silent)
    }

    /// It is that late, or later.
    pub fn alarm(&mut self, turn: &mut Turn<C>) -> Then {
        if turn.now >= self.silent {
            return self.leave(turn);
        }
        if self.again.is_some_and(|again| turn.now >= again) {
            self.again = None;
            self.tries += 1;
            self.link = turn.open(self.leader);
        }
        Then::Stay
    }
}
