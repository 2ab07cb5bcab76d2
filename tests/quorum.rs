//! The replicated log: what holds in every order of events, and what ZooKeeper's servers do when.
//!
//! `CASES=20000 cargo test --test quorum` runs more; a failure prints the command that replays it.

#[path = "support/ensemble.rs"]
mod ensemble;
mod support;

use ensemble::{Ensemble, stamp, timing};
use lockscope::sim::{Local, Micros};
use lockscope::systems::quorum::{
    Effect, Entry, Link, Member, Message, Notification, Peer, QuorumPacket, Role, State, Vote,
};
use support::{Draws, seeds};

const CASES: u64 = 3_000;

/// What happened to an ensemble, for the sake of knowing that something did.
#[derive(Default, Debug)]
struct Tally {
    leaders: u64,
    decided: u64,
    crashes: u64,
    cuts: u64,
    forgotten: u64,
    shut_out: u64,
}

/// An ensemble to which random things happen.
struct Storm {
    draws: Draws,
    ensemble: Ensemble,
    off: Vec<bool>,
    proposed: u16,
    tally: Tally,
}

impl Storm {
    fn new(seed: u64) -> Storm {
        let mut draws = Draws::new(seed);
        let of = draws.pick(&[3, 5]);
        // An election alone waits for 200 ms, so that no leader could be found in much less.
        let timing = timing(draws.pick(&[50, 200]), 20, draws.pick(&[2, 4]));
        let mut ensemble = match draws.up_to(1) {
            0 => Ensemble::fresh(of, timing),
            _ => Ensemble::established(of, &[Entry { stamp: stamp(1, 1), command: 0 }], timing),
        };
        // No two clocks show the same.
        for clock in &mut ensemble.clocks {
            *clock = clock.plus(Micros(draws.up_to(5_000)));
        }
        let off = vec![false; of.into()];
        let proposed = ensemble.observer.decided.len() as u16;
        Storm { draws, ensemble, off, proposed, tally: Tally::default() }
    }

    fn server(&mut self) -> usize {
        self.draws.up_to(self.ensemble.of() as u64 - 1) as usize
    }

    fn pair(&mut self) -> (usize, usize) {
        let one = self.server();
        let further = 1 + self.draws.up_to(self.ensemble.of() as u64 - 2) as usize;
        (one, (one + further) % self.ensemble.of())
    }

    /// Something is delivered, a clock goes on, somebody proposes; and seldom something breaks.
    fn step(&mut self) -> Result<(), String> {
        let passed = Micros(self.draws.up_to(3_000));
        for clock in &mut self.ensemble.clocks {
            *clock = clock.plus(passed);
        }
        match self.draws.up_to(1_999) {
            0..1_400 => {
                let (from, to) = self.pair();
                if self.ensemble.arrives(from, to) {
                    self.ensemble.deliver(from, to, self.off[to])?;
                }
            }
            1_400..1_800 => self.alarm()?,
            1_800..1_950 => self.propose()?,
            1_950..1_960 => {
                let (one, other) = self.pair();
                self.tally.cuts += 1;
                self.ensemble.set_cut(one, other, true);
            }
            1_960..1_975 => {
                let (one, other) = self.pair();
                self.ensemble.set_cut(one, other, false);
            }
            1_975..1_980 => {
                let (one, other) = self.pair();
                self.ensemble.reset(one, other);
            }
            1_980..1_985 => self.crash(),
            1_985.. => {
                let server = self.server();
                self.start(server)?;
            }
        }
        Ok(())
    }

    /// An alarm rings, perhaps late; before it is due it does nothing.
    fn alarm(&mut self) -> Result<(), String> {
        let server = self.server();
        let (now, due) = (self.ensemble.clocks[server], self.ensemble.members[server].next_alarm());
        let done = self.ensemble.tell(server, |m, now| m.alarm(now))?;
        if done > 0 && due.is_none_or(|due| now < due) {
            return Err(format!("{server} did something {now:?}, before {due:?}"));
        }
        Ok(())
    }

    fn propose(&mut self) -> Result<(), String> {
        let server = self.server();
        if !self.ensemble.is_leading(server) {
            return Ok(());
        }
        self.proposed += 1;
        let command = self.proposed;
        self.ensemble.tell(server, |m, now| m.propose(now, command)).map(|_| ())
    }

    fn crash(&mut self) {
        let server = self.server();
        if self.ensemble.running[server] {
            self.tally.crashes += 1;
            self.off[server] = self.draws.up_to(1) == 0;
            self.ensemble.crash(server, self.off[server]);
        }
    }

    fn start(&mut self, server: usize) -> Result<(), String> {
        if self.ensemble.running[server] {
            return Ok(());
        }
        self.off[server] = false;
        self.ensemble.start(server)
    }

    /// All is mended, and then all servers agree on what they are told.
    fn mend(&mut self) -> Result<(), String> {
        for cut in &mut self.ensemble.cut {
            *cut = false;
        }
        for server in 0..self.ensemble.of() {
            self.start(server)?;
        }
        let leader = self.ensemble.recover(Micros::from_secs(200))?;
        for command in 60_000..60_003 {
            self.ensemble.tell(leader, |m, now| m.propose(now, command))?;
        }
        self.ensemble.run(Micros::from_secs(1), |_| false)?;
        let observer = &self.ensemble.observer;
        let last: Vec<u16> = observer.decided.iter().rev().map(|e| e.command).take(3).collect();
        if last != [60_002, 60_001, 60_000] {
            return Err(format!("{last:?} were decided at last"));
        }
        let term = self.ensemble.members[leader].term();
        for (server, member) in self.ensemble.members.iter().enumerate() {
            if member.promised() > term {
                self.tally.shut_out += 1;
            } else if observer.carried[server] != observer.decided.len() {
                return Err(format!("{server} has not carried out all"));
            }
        }
        self.tally.leaders = observer.leaders.len() as u64;
        self.tally.decided = observer.decided.len() as u64;
        self.tally.forgotten = u64::from(self.proposed) + 3 - self.tally.decided;
        Ok(())
    }
}

#[test]
fn whatever_happens_no_decided_entry_is_lost_and_a_mended_ensemble_goes_on() {
    let (mut sum, mut cases) = (Tally::default(), 0);
    for seed in seeds(CASES) {
        cases += 1;
        let mut storm = Storm::new(seed);
        let of = storm.ensemble.of();
        let started = if storm.ensemble.running[0] { 0 } else { of };
        let mut story = || {
            for server in 0..started {
                storm.start(server)?;
            }
            for _ in 0..4_000 {
                storm.step()?;
            }
            storm.mend()
        };
        if let Err(wrong) = story() {
            panic!("{wrong}; replay with: SEED={seed} cargo test --test quorum whatever_happens");
        }
        sum.leaders += storm.tally.leaders;
        sum.decided += storm.tally.decided;
        sum.crashes += storm.tally.crashes;
        sum.cuts += storm.tally.cuts;
        sum.forgotten += storm.tally.forgotten;
        sum.shut_out += storm.tally.shut_out;
    }
    println!("{cases} ensembles: {sum:?}");
    if cases >= 1_000 {
        // Something did happen, of each kind.
        assert!(sum.leaders > 2 * cases && sum.decided > 10 * cases && sum.forgotten > cases / 2);
    }
}

#[test]
fn one_server_alone_decides_at_once_and_keeps_what_it_logged() {
    let mut ensemble = Ensemble::fresh(1, timing(2_000, 10, 5));
    ensemble.start(0).expect("it starts");
    assert_eq!(ensemble.members[0].next(), Some(stamp(0, 1)));
    for command in [7, 8] {
        ensemble.tell(0, |m, now| m.propose(now, command)).expect("it may");
    }
    assert_eq!(ensemble.observer.carried, [2]);
    ensemble.crash(0, true);
    ensemble.start(0).expect("it starts again");
    assert_eq!(ensemble.observer.carried, [2]);
    assert_eq!(ensemble.members[0].next(), Some(stamp(0, 3)));
    assert_eq!(ensemble.members[0].processed(), stamp(0, 2));
}

/// Source: `tests/golden/zookeeper/ensemble_leader_kill.jsonl`.
#[test]
fn when_the_leader_is_killed_the_next_one_begins_an_epoch_and_followers_still_name_the_old_one() {
    let log = [Entry { stamp: stamp(1, 1), command: 1 }];
    let mut ensemble = Ensemble::established(3, &log, timing(500, 20, 6));
    assert_eq!(ensemble.members[2].next(), Some(stamp(1, 2)));
    ensemble.tell(2, |m, now| m.propose(now, 2)).expect("it may");
    ensemble.settle().expect("all is well");
    assert_eq!(ensemble.observer.carried, [2, 2, 2]);
    ensemble.crash(2, false);
    ensemble.settle().expect("all is well");
    assert_eq!(ensemble.members[0].role(), Role::Looking);
    for _ in 0..2 {
        for server in [0, 1] {
            ensemble.clocks[server] = Local(200_000);
            ensemble.tell(server, |m, now| m.alarm(now)).expect("it may");
        }
        ensemble.settle().expect("all is well");
    }
    assert_eq!(ensemble.members[1].role(), Role::Leading);
    assert_eq!(ensemble.members[0].role(), Role::Following(Peer(1)));
    assert_eq!(ensemble.members[1].followers().collect::<Vec<_>>(), [Peer(0)]);
    assert_eq!(ensemble.members[1].processed(), stamp(2, 0));
    assert_eq!(ensemble.members[0].processed(), stamp(1, 2));
    ensemble.tell(1, |m, now| m.propose(now, 3)).expect("it may");
    ensemble.settle().expect("all is well");
    assert_eq!(ensemble.members[0].processed(), stamp(2, 1));
    ensemble.start(2).expect("it starts again");
    let leader = ensemble.recover(Micros::from_secs(5)).expect("it joins");
    assert_eq!((leader, ensemble.observer.carried), (1, vec![3, 3, 3]));
}

#[test]
fn the_first_election_is_won_by_the_highest_id_and_the_first_entry_is_of_epoch_one() {
    let mut ensemble = Ensemble::fresh(5, timing(2_000, 10, 5));
    for server in 0..5 {
        ensemble.start(server).expect("it starts");
    }
    assert_eq!(ensemble.recover(Micros::from_secs(3)), Ok(4));
    assert_eq!(ensemble.members[4].next(), Some(stamp(1, 1)));
}

#[test]
fn at_the_last_index_the_leader_resigns_and_a_new_epoch_begins() {
    let log = [Entry { stamp: stamp(1, u32::MAX - 2), command: 1 }];
    let mut ensemble = Ensemble::established(3, &log, timing(2_000, 10, 5));
    for command in [2, 3] {
        assert_eq!(ensemble.members[2].role(), Role::Leading);
        ensemble.tell(2, |m, now| m.propose(now, command)).expect("it may");
    }
    assert_eq!(ensemble.members[2].role(), Role::Looking);
    let leader = ensemble.recover(Micros::from_secs(5)).expect("one is elected");
    assert_eq!(ensemble.members[leader].next(), Some(stamp(2, 1)));
    assert_eq!(ensemble.observer.decided.len(), 2, "the one that had no index is lost");
}

#[test]
fn a_leader_that_is_cut_off_goes_on_until_its_followers_are_silent_for_too_long() {
    let mut ensemble = Ensemble::established(3, &[], timing(2_000, 10, 5));
    for other in [0, 1] {
        ensemble.set_cut(2, other, true);
    }
    ensemble.tell(2, |m, now| m.propose(now, 1)).expect("it may");
    for ms in (0..10_000).step_by(500) {
        for server in 0..3 {
            ensemble.clocks[server] = Local(ms * 1_000);
            ensemble.tell(server, |m, now| m.alarm(now)).expect("it may");
        }
        ensemble.settle().expect("all is well");
        assert_eq!(ensemble.members[2].role(), Role::Leading, "at {ms} ms");
        assert_eq!(ensemble.members[0].role(), Role::Following(Peer(2)), "at {ms} ms");
    }
    for server in 0..3 {
        ensemble.clocks[server] = Local(10_000_000);
        ensemble.tell(server, |m, now| m.alarm(now)).expect("it may");
        assert_eq!(ensemble.members[server].role(), Role::Looking);
    }
    assert_eq!(ensemble.observer.decided, []);
    for other in [0, 1] {
        ensemble.set_cut(2, other, false);
    }
    ensemble.recover(Micros::from_secs(5)).expect("one is elected");
    assert_eq!(ensemble.observer.decided.len(), 1, "whoever logged it has it decided at last");
}

/// What a server says on a connection to its leader, in answer to what it is told.
fn said(effects: Vec<Effect<u16>>) -> Vec<(Peer, QuorumPacket<u16>)> {
    let packet = |e| match e {
        Effect::Send(to, Message::Linked(_, packet)) => Some((to, packet)),
        _ => None,
    };
    effects.into_iter().filter_map(packet).collect()
}

/// Source: `Learner.registerWithLeader`, `Leader.waitForEpochAck`.
#[test]
fn an_epoch_is_promised_to_one_leader_only_and_a_smaller_one_to_none() {
    let mut member: Member<u16> = Member::new(Peer(0), 3, timing(2_000, 10, 5));
    let mut now = Local(0);
    member.start(now);
    // In each round it follows that one, whose epoch is the second number; the third is what it says to
    // that: the epoch of its log as a vote, or none, or that it goes.
    let rounds = [
        (2, 3, QuorumPacket::AckEpoch { current: Some(0), last: stamp(0, 0) }),
        (1, 3, QuorumPacket::AckEpoch { current: None, last: stamp(0, 0) }),
        (2, 2, QuorumPacket::Close),
        (2, 4, QuorumPacket::AckEpoch { current: Some(0), last: stamp(0, 0) }),
    ];
    for ((leader, epoch, answer), round) in rounds.into_iter().zip(1..) {
        let leader = Peer(leader);
        let vote = Vote { epoch: 0, last: stamp(0, 9), leader };
        let heard = Notification { vote, round, state: State::Looking };
        member.receive(now, leader, Message::Notification(heard));
        now = member.next_alarm().expect("it waits for something better");
        let asked = said(member.alarm(now));
        let promised = member.promised();
        assert_eq!(asked, [(leader, QuorumPacket::FollowerInfo(promised))], "round {round}");
        let link = Link { by: Peer(0), number: round };
        let told = Message::Linked(link, QuorumPacket::LeaderInfo(epoch));
        assert_eq!(said(member.receive(now, leader, told)), [(leader, answer)], "round {round}");
        assert_eq!(member.promised(), promised.max(epoch));
        member.lost(now, leader);
    }
}

/// A server that was elected with the vote of another one, and is told what that one says.
fn elected() -> impl FnMut(QuorumPacket<u16>) -> Vec<(Peer, QuorumPacket<u16>)> {
    let mut leader: Member<u16> = Member::new(Peer(1), 3, timing(2_000, 10, 5));
    leader.start(Local(0));
    let vote = Vote { epoch: 0, last: stamp(0, 0), leader: Peer(1) };
    let heard = Notification { vote, round: 1, state: State::Looking };
    leader.receive(Local(0), Peer(0), Message::Notification(heard));
    leader.alarm(Local(200_000));
    let link = Link { by: Peer(0), number: 1 };
    move |packet| said(leader.receive(Local(200_000), Peer(0), Message::Linked(link, packet)))
}

#[test]
fn a_word_that_is_no_vote_makes_nobody_leader() {
    let mut tell = elected();
    assert_eq!(tell(QuorumPacket::FollowerInfo(0)), [(Peer(0), QuorumPacket::LeaderInfo(1))]);
    assert_eq!(tell(QuorumPacket::AckEpoch { current: None, last: stamp(0, 0) }), []);
}

#[test]
fn whoever_has_logged_more_than_the_leader_is_not_counted_and_sent_away() {
    for (last, answers) in [(0, "diff newLeader"), (1, "close")] {
        let mut tell = elected();
        tell(QuorumPacket::FollowerInfo(0));
        let answer = tell(QuorumPacket::AckEpoch { current: Some(0), last: stamp(0, last) });
        let named = |(_, packet)| Message::Linked(Link { by: Peer(0), number: 1 }, packet).name();
        assert_eq!(answer.into_iter().map(named).collect::<Vec<_>>().join(" "), answers);
    }
}
