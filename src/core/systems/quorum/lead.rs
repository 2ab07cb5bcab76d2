//! The leader's end of the connections to its followers.
//!
//! Source: ZooKeeper's `Leader` and `LearnerHandler`.

use std::rc::Rc;

use super::member::{Own, Then, Turn};
use super::progress::{Peers, Progress};
use super::{Entry, Link, Peer, QuorumPacket, Role, Stamp, majority};
use crate::sim::{Local, Table};

/// How far a server has come with leading.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Stage {
    /// It waits for a majority to say which epochs they have accepted.
    Discovering,
    /// It has its epoch, and waits for a majority to accept it.
    Agreeing,
    /// It waits for a majority to have logged what it has.
    Syncing,
    /// It leads.
    Established,
}

/// How far it has come with one of the others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Learning {
    /// It has said which epoch it accepted.
    Informed,
    /// It was told the new one.
    Told,
    /// It has accepted that.
    Agreed,
    /// It was sent what it lacks, and gets everything that comes after.
    Sent,
    /// It has logged that.
    Logged,
    /// It takes part.
    UpToDate,
}

/// One of those that are connected to the leader.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Learner {
    link: Link,
    learning: Learning,
    /// The last entry of its log when it came.
    last: Stamp,
    /// When it was last heard.
    heard: Local,
}

/// A server that leads, or is about to.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Leading {
    stage: Stage,
    epoch: u32,
    /// The epoch and the last entry that it had when it was elected: nobody whom it needs has more.
    began: (u32, Stamp),
    /// Who has told its accepted epoch, accepted the new one, and logged what the leader has.
    informed: Peers,
    agreed: Peers,
    synced: Peers,
    learners: Table<Peer, Learner>,
    progress: Progress,
    /// Until when it waits for a majority, in each stage before it is established.
    patience: Local,
    /// When it next speaks to its followers, and whether it then counts them.
    ping: Local,
    counts: bool,
}

impl Leading {
    /// An election was won.
    pub fn begin<C: Clone>(turn: &mut Turn<C>) -> Leading {
        let own = &turn.own;
        let mut leading = Leading {
            stage: Stage::Discovering,
            epoch: own.accepted.saturating_add(1),
            began: (own.current, own.log.last()),
            informed: Peers::default(),
            agreed: Peers::default(),
            synced: Peers::default(),
            learners: Table::new(),
            progress: Progress::new(own.of),
            patience: turn.now.plus(own.timing.init()),
            ping: turn.now,
            counts: false,
        };
        leading.informed.insert(own.me);
        leading
    }

    /// It leads, and all others follow, since before the run began.
    pub fn established<C: Clone>(turn: &mut Turn<C>) -> Leading {
        let mut leading = Leading::begin(turn);
        leading.epoch = turn.own.current;
        for place in (0..turn.own.of).filter(|p| *p != turn.own.me.0) {
            let peer = Peer(place);
            let link = Link { by: peer, number: turn.own.opened };
            let (learning, last, heard) = (Learning::UpToDate, Stamp::default(), turn.now);
            leading.learners.insert(peer, Learner { link, learning, last, heard });
        }
        leading.lead(turn);
        leading
    }

    /// Whether it leads, and does not only try to.
    pub fn is_established(&self) -> bool {
        self.stage == Stage::Established
    }

    /// Who takes part.
    pub fn followers(&self) -> impl Iterator<Item = Peer> {
        let takes_part = |l: &Learner| l.learning == Learning::UpToDate;
        self.learners.iter().filter(move |(_, l)| takes_part(l)).map(|(peer, _)| *peer)
    }

    /// Who has said that it logged so many entries, by their places.
    pub fn have(&self, entries: usize) -> impl Iterator<Item = bool> {
        self.progress.have(entries)
    }

    /// Whether one that takes part has that connection.
    pub fn is_linked(&self, link: Link) -> bool {
        let learner = self.learners.get(&link.by);
        learner.is_some_and(|l| l.link == link && l.learning == Learning::UpToDate)
    }

    /// Another server has said something on a connection that it opened.
    pub fn hear<C: Clone>(
        &mut self,
        turn: &mut Turn<C>,
        link: Link,
        packet: QuorumPacket<C>,
    ) -> Then {
        let from = link.by;
        if let QuorumPacket::FollowerInfo(accepted) = packet {
            return self.inform(turn, link, accepted);
        }
        let Some(learner) = self.learners.get_mut(&from).filter(|l| l.link == link) else {
            turn.reset(from, link, &packet);
            return Then::Stay;
        };
        learner.heard = turn.now;
        match (learner.learning, packet) {
            (_, QuorumPacket::Close) => self.lose(turn, from),
            (Learning::Told, QuorumPacket::AckEpoch { current, last }) => {
                (learner.learning, learner.last) = (Learning::Agreed, last);
                self.agree(turn, from, current, last);
            }
            (Learning::Sent, QuorumPacket::Ack(stamp)) if stamp.index == 0 => {
                learner.learning = Learning::Logged;
                self.synced.insert(from);
                if self.stage == Stage::Syncing && self.synced.are_majority(turn.own.of) {
                    self.lead(turn);
                }
                self.finish(turn);
            }
            (Learning::UpToDate, QuorumPacket::Ack(stamp)) => {
                self.progress.logged(from, turn.own.log.up_to(stamp));
                self.decide(turn);
            }
            _ => {}
        }
        Then::Stay
    }

    /// A server wants to follow (`Leader.getEpochToPropose`).
    fn inform<C: Clone>(&mut self, turn: &mut Turn<C>, link: Link, accepted: u32) -> Then {
        self.progress.forget(link.by);
        let (learning, last, heard) = (Learning::Informed, Stamp::default(), turn.now);
        self.learners.insert(link.by, Learner { link, learning, last, heard });
        if self.stage == Stage::Discovering {
            self.informed.insert(link.by);
            self.epoch = self.epoch.max(accepted.saturating_add(1));
            if self.informed.are_majority(turn.own.of) {
                turn.own.accepted = self.epoch;
                self.agreed.insert(turn.own.me);
                self.enter(turn, Stage::Agreeing);
            }
        }
        if self.stage > Stage::Discovering {
            self.each(turn, Learning::Informed, Learning::Told, QuorumPacket::LeaderInfo);
        }
        Then::Stay
    }

    fn enter<C>(&mut self, turn: &Turn<C>, stage: Stage) {
        self.stage = stage;
        self.patience = turn.now.plus(turn.own.timing.init());
    }

    /// Takes all who have come so far a step further, with a packet that names the epoch.
    fn each<C: Clone>(
        &mut self,
        turn: &mut Turn<C>,
        from: Learning,
        to: Learning,
        packet: impl Fn(u32) -> QuorumPacket<C>,
    ) {
        for learner in self.learners.values_mut() {
            if learner.learning == from {
                learner.learning = to;
                learner.heard = turn.now;
                turn.say(learner.link.by, learner.link, packet(self.epoch));
            }
        }
    }

    /// A follower has accepted the epoch. Before a majority has, none of them may know more than the
    /// leader (`Leader.waitForEpochAck`).
    fn agree<C: Clone>(
        &mut self,
        turn: &mut Turn<C>,
        from: Peer,
        current: Option<u32>,
        last: Stamp,
    ) {
        if self.stage == Stage::Agreeing
            && let Some(current) = current
        {
            if (current, last) > self.began {
                return self.give_up(turn, from);
            }
            self.agreed.insert(from);
            if self.agreed.are_majority(turn.own.of) {
                turn.own.current = self.epoch;
                self.synced.insert(turn.own.me);
                self.enter(turn, Stage::Syncing);
            }
        }
        if self.stage < Stage::Syncing {
            return;
        }
        for learner in self.learners.values_mut() {
            if learner.learning == Learning::Agreed {
                learner.learning = Learning::Sent;
                send_what_it_lacks(turn, learner, self.stage, self.epoch);
            }
        }
    }

    /// A majority has all that the leader has: that is decided, and it leads (`Leader.startZkServer`).
    fn lead<C: Clone>(&mut self, turn: &mut Turn<C>) {
        self.stage = Stage::Established;
        let all = turn.own.log.len();
        self.progress.logged(turn.own.me, all);
        turn.carry_out(all);
        turn.own.processed = Stamp::beginning(self.epoch);
        turn.own.vote.epoch = self.epoch;
        self.ping = turn.now.plus(turn.own.timing.half());
        turn.become_role(Role::Leading);
    }

    /// Lets those take part who have logged what the leader had.
    fn finish<C: Clone>(&mut self, turn: &mut Turn<C>) {
        if self.is_established() {
            let packet = |_| QuorumPacket::UpToDate;
            self.each(turn, Learning::Logged, Learning::UpToDate, packet);
        }
    }

    /// The name of the next entry.
    pub fn next<C: Clone>(&self, own: &Own<C>) -> Stamp {
        own.log.last().max(Stamp::beginning(self.epoch)).next()
    }

    /// An entry is proposed. One whose index would be the last of all is not: the leader resigns, so
    /// that the next one begins a new epoch (ZOOKEEPER-1277, `Leader.propose`).
    pub fn propose<C: Clone>(&mut self, turn: &mut Turn<C>, command: C) -> Then {
        let stamp = self.next(turn.own);
        if stamp.index == u32::MAX {
            return self.resign(turn);
        }
        let entry = Entry { stamp, command };
        turn.own.log.push(entry.clone());
        self.progress.logged(turn.own.me, turn.own.log.len());
        self.forward(turn, || QuorumPacket::Propose(entry.clone()));
        self.decide(turn);
        Then::Stay
    }

    /// Says it to all who have got all that came before.
    fn forward<C: Clone>(&self, turn: &mut Turn<C>, packet: impl Fn() -> QuorumPacket<C>) {
        for learner in self.learners.values().filter(|l| l.learning >= Learning::Sent) {
            turn.say(learner.link.by, learner.link, packet());
        }
    }

    /// What a majority has logged is decided, one entry after the other (`Leader.tryToCommit`).
    fn decide<C: Clone>(&mut self, turn: &mut Turn<C>) {
        for place in turn.own.applied..self.progress.decided() {
            let Some(stamp) = turn.own.log.get(place).map(|e| e.stamp) else { return };
            self.forward(turn, || QuorumPacket::Commit(stamp));
            turn.carry_out(place + 1);
        }
    }

    /// A connection is gone.
    pub fn lose<C: Clone>(&mut self, turn: &mut Turn<C>, peer: Peer) {
        if let Some(learner) = self.learners.remove(&peer) {
            turn.shut(learner.link);
        }
    }

    /// It closes the connection of a follower.
    fn give_up<C: Clone>(&mut self, turn: &mut Turn<C>, peer: Peer) {
        if let Some(learner) = self.learners.get(&peer) {
            turn.say(peer, learner.link, QuorumPacket::Close);
        }
        self.lose(turn, peer);
    }

    /// It leads no longer, and lets everybody know.
    fn resign<C: Clone>(&mut self, turn: &mut Turn<C>) -> Then {
        for learner in std::mem::take(&mut self.learners).into_values() {
            turn.say(learner.link.by, learner.link, QuorumPacket::Close);
            turn.shut(learner.link);
        }
        Then::Look
    }

    /// From when on a follower has been silent for too long; one that waits for others never is.
    fn silent<C>(own: &Own<C>, learner: &Learner) -> Option<Local> {
        match learner.learning {
            Learning::Informed | Learning::Agreed | Learning::Logged => None,
            Learning::Told | Learning::Sent => Some(learner.heard.plus(own.timing.init())),
            Learning::UpToDate => Some(learner.heard.plus(own.timing.sync())),
        }
    }

    /// When [`Leading::alarm`] is to be called.
    pub fn next_alarm<C>(&self, own: &Own<C>) -> Local {
        let first = if self.is_established() { self.ping } else { self.patience };
        let silent = self.learners.values().filter_map(|l| Leading::silent(own, l));
        silent.fold(first, Local::min)
    }

    /// It is that late, or later (`Leader.lead`).
    pub fn alarm<C: Clone>(&mut self, turn: &mut Turn<C>) -> Then {
        let is_silent = |l: &Learner| Leading::silent(turn.own, l).is_some_and(|s| turn.now >= s);
        let silent: Vec<Peer> =
            self.learners.iter().filter(|(_, l)| is_silent(l)).map(|(peer, _)| *peer).collect();
        for peer in silent {
            self.give_up(turn, peer);
        }
        if !self.is_established() {
            return if turn.now >= self.patience { self.resign(turn) } else { Then::Stay };
        }
        if turn.now < self.ping {
            return Then::Stay;
        }
        self.ping = turn.now.plus(turn.own.timing.half());
        if self.counts && self.learners.len() + 1 < majority(turn.own.of) {
            return self.resign(turn);
        }
        self.counts = !self.counts;
        self.forward(turn, || QuorumPacket::Ping);
        Then::Stay
    }
}

/// A follower gets what is decided after the last entry that both have, then what is only proposed,
/// and then the word that this was all (`LearnerHandler.syncFollower`, `Leader.startForwarding`).
fn send_what_it_lacks<C: Clone>(turn: &mut Turn<C>, learner: &Learner, stage: Stage, epoch: u32) {
    let log = &turn.own.log;
    let decided = if stage == Stage::Established { turn.own.applied } else { log.len() };
    let kept = log.up_to(learner.last).min(decided);
    let keep = kept.checked_sub(1).and_then(|p| log.get(p)).map_or(Stamp::default(), |e| e.stamp);
    let entries: Rc<[Entry<C>]> = log.range(kept, decided).cloned().collect();
    let proposed: Vec<Entry<C>> = log.range(decided, log.len()).cloned().collect();
    let truncate = keep < learner.last;
    turn.say(learner.link.by, learner.link, QuorumPacket::Sync { truncate, keep, entries });
    for entry in proposed {
        turn.say(learner.link.by, learner.link, QuorumPacket::Propose(entry));
    }
    turn.say(learner.link.by, learner.link, QuorumPacket::NewLeader(epoch));
}
