//! The replicated log in every order of events: three servers, two clients, a crash, a broken
//! connection, and time-outs that come when they like.
//!
//! A cut that holds what is said needs no event of its own: whatever is on the way may arrive as late
//! as it likes, only in order. A connection that breaks loses what is on it.
//!
//! A failure prints the steps that lead to it, and the command that takes them again:
//! `STEPS="..." cargo test --test quorum_orders the_steps -- --nocapture`. Counts that have changed for a
//! reason are renewed with `UPDATE_EXPECT=1 cargo test --test quorum_orders`. Larger bounds:
//! `cargo test --release --test quorum_orders -- --ignored --nocapture`.

#[path = "support/ensemble.rs"]
mod ensemble;

use std::collections::HashSet;
use std::fmt;
use std::hash::{BuildHasherDefault, Hash, Hasher};

use ensemble::{Ensemble, timing};
use expect_test::expect;
use lockscope::sim::Micros;

/// How often things may still happen.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Left {
    /// Commands that clients still propose, each to whoever leads. Which of them proposes is no matter:
    /// the first command is that of whoever comes first.
    commands: u8,
    crashes: u8,
    starts: u8,
    /// Connections that break.
    breaks: u8,
    /// Alarms of servers that look for a leader, or have none yet that is established.
    waits: u8,
    /// Alarms of servers that lead or follow.
    alarms: u8,
    /// Whether a process starts again only when another than the first leader leads.
    starts_late: bool,
}

/// One thing that happens. It is written as it is read again: `2>0`, `alarm1`, `propose2`, `crash2`,
/// `start2`, `break0-1`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Deliver(usize, usize),
    Alarm(usize),
    Propose(usize),
    Crash(usize),
    Start(usize),
    Break(usize, usize),
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Deliver(from, to) => write!(f, "{from}>{to}"),
            Step::Alarm(server) => write!(f, "alarm{server}"),
            Step::Propose(server) => write!(f, "propose{server}"),
            Step::Crash(server) => write!(f, "crash{server}"),
            Step::Start(server) => write!(f, "start{server}"),
            Step::Break(one, other) => write!(f, "break{one}-{other}"),
        }
    }
}

/// A state of the search: two with the same key have the same future.
#[derive(Clone, Hash)]
struct Moment {
    ensemble: Ensemble,
    left: Left,
}

impl Moment {
    fn start(left: Left) -> Moment {
        Moment { ensemble: Ensemble::established(3, &[], timing(1_000, 10, 1)), left }
    }

    /// What can happen next.
    fn steps(&self) -> Vec<Step> {
        let Moment { ensemble, left } = self;
        let mut steps = Vec::new();
        // What a follower does about a ping hardly bears on anything else: no order of it is tried.
        if let Some((from, to)) = ensemble.pinged() {
            return vec![Step::Deliver(from, to)];
        }
        for one in 0..3 {
            for other in (0..3).filter(|o| *o != one) {
                if ensemble.arrives(one, other) {
                    steps.push(Step::Deliver(one, other));
                }
                if left.breaks > 0 && one < other {
                    steps.push(Step::Break(one, other));
                }
            }
            if left.commands > 0 && ensemble.is_leading(one) {
                steps.push(Step::Propose(one));
            }
            let (running, looks) = (ensemble.running[one], ensemble.is_looking(one));
            if running && (if looks { left.waits } else { left.alarms }) > 0 {
                steps.push(Step::Alarm(one));
            }
            if left.crashes > 0 && running {
                steps.push(Step::Crash(one));
            }
            let late = !left.starts_late || ensemble.observer.leaders.len() > 1;
            if left.starts > 0 && !running && late {
                steps.push(Step::Start(one));
            }
        }
        steps
    }

    fn take(&mut self, step: Step) -> Result<(), String> {
        let Moment { ensemble, left } = self;
        match step {
            Step::Deliver(from, to) => ensemble.deliver(from, to, false),
            Step::Alarm(server) => {
                let looks = ensemble.is_looking(server);
                *(if looks { &mut left.waits } else { &mut left.alarms }) -= 1;
                ensemble.alarm(server)
            }
            Step::Propose(server) => {
                let command = left.commands.into();
                left.commands -= 1;
                ensemble.tell(server, |m, now| m.propose(now, command)).map(|_| ())
            }
            Step::Crash(server) => {
                left.crashes -= 1;
                ensemble.crash(server, false);
                Ok(())
            }
            Step::Start(server) => {
                left.starts -= 1;
                ensemble.start(server)
            }
            Step::Break(one, other) => {
                left.breaks -= 1;
                ensemble.reset(one, other);
                Ok(())
            }
        }
    }

    fn key(&self) -> u64 {
        let mut key = Key(0);
        self.hash(&mut key);
        key.finish()
    }

    /// From here on all goes well: then somebody leads, and what is proposed is decided.
    fn mend(&self) -> Result<(), String> {
        let mut ensemble = self.ensemble.clone();
        for server in (0..3).filter(|s| !self.ensemble.running[*s]) {
            ensemble.start(server)?;
        }
        let leader = ensemble.recover(Micros::from_secs(300))?;
        ensemble.tell(leader, |m, now| m.propose(now, 999))?;
        ensemble.settle()?;
        let all = ensemble.observer.decided.len();
        let last = ensemble.observer.decided.last().map(|e| e.command);
        let fine = last == Some(999) && ensemble.observer.carried == [all; 3];
        if fine { Ok(()) } else { Err(format!("{last:?} {:?}", ensemble.observer.carried)) }
    }
}

/// A hash that is the same on every machine. Of some millions of 64-bit keys two are alike in one of a
/// million searches.
#[derive(Default)]
struct Key(u64);

impl Hasher for Key {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word ^ 0x9E37_79B9_7F4A_7C15) * 0xD6E8_FEB8_6659_FD93;
        self.0 = (product as u64 ^ (product >> 64) as u64).rotate_left(23).wrapping_add(word);
    }

    fn write_u8(&mut self, word: u8) {
        self.write_u64(word.into());
    }

    fn write_u16(&mut self, word: u16) {
        self.write_u64(word.into());
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn write_i64(&mut self, word: i64) {
        self.write_u64(word as u64);
    }

    fn write_isize(&mut self, word: isize) {
        self.write_u64(word as u64);
    }
}

/// What a search has seen.
#[derive(Default)]
struct Count {
    states: u64,
    steps: u64,
    /// States in which a second leader was established, a third, ...
    leaders: Vec<u64>,
    /// States in which so many commands were decided.
    decided: Vec<u64>,
    mended: u64,
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} states, {} steps", self.states, self.steps)?;
        writeln!(f, "by leaders established: {:?}", self.leaders)?;
        writeln!(f, "by commands decided: {:?}", self.decided)?;
        writeln!(f, "{} mended", self.mended)
    }
}

fn tally(counts: &mut Vec<u64>, place: usize) {
    counts.resize(counts.len().max(place + 1), 0);
    counts[place] += 1;
}

impl Count {
    /// One more state. Some of them are mended, the same ones in every search.
    fn see(&mut self, moment: &Moment, key: u64) -> Result<(), String> {
        self.states += 1;
        tally(&mut self.leaders, moment.ensemble.observer.leaders.len());
        tally(&mut self.decided, moment.ensemble.observer.decided.len());
        if !key.is_multiple_of(1_024) {
            return Ok(());
        }
        self.mended += 1;
        moment.mend()
    }
}

/// Takes all steps from all states that can be reached after those with which it begins; says which
/// steps lead to what must not be.
fn search(left: Left, begun: &[Step]) -> Count {
    let mut count = Count::default();
    let mut seen: HashSet<u64, BuildHasherDefault<Key>> = HashSet::default();
    let mut start = Moment::start(left);
    for step in begun {
        start.take(*step).expect("nothing is wrong at the start");
    }
    seen.insert(start.key());
    // The way to the present state, and at each of its states what is still to be tried.
    let mut path: Vec<(Moment, Vec<Step>)> = vec![(start.clone(), start.steps())];
    let mut taken: Vec<Step> = begun.to_vec();
    while let Some((moment, steps)) = path.last_mut() {
        let Some(step) = steps.pop() else {
            path.pop();
            taken.pop();
            continue;
        };
        let mut next = moment.clone();
        taken.push(step);
        count.steps += 1;
        let result = next.take(step);
        let key = next.key();
        let new = seen.insert(key);
        let result = result.and_then(|()| if new { count.see(&next, key) } else { Ok(()) });
        if let Err(wrong) = result {
            let steps: Vec<String> = taken.iter().map(Step::to_string).collect();
            panic!(
                "{wrong}; take the steps again with: STEPS=\"{}\" cargo test --test quorum_orders the_steps -- --nocapture",
                steps.join(" ")
            );
        }
        if new {
            let steps = next.steps();
            path.push((next, steps));
        } else {
            taken.pop();
        }
    }
    println!("{left:?}\n{count}");
    count
}

const NOTHING: Left =
    Left { commands: 0, crashes: 0, starts: 0, breaks: 0, waits: 0, alarms: 0, starts_late: false };

#[test]
fn a_server_crashes_and_joins_again_while_commands_are_proposed() {
    let count = search(Left { commands: 2, crashes: 1, starts: 1, ..NOTHING }, &[]);
    expect![[r#"
        598282 states, 2089356 steps
        by leaders established: [0, 598282]
        by commands decided: [245106, 218882, 134294]
        595 mended
    "#]]
    .assert_eq(&count.to_string());
}

#[test]
fn a_server_crashes_and_joins_again_when_another_leads() {
    let bounds = Left { commands: 2, crashes: 1, starts: 1, waits: 2, ..NOTHING };
    let count = search(Left { starts_late: true, ..bounds }, &[]);
    expect![[r#"
        299453 states, 1177362 steps
        by leaders established: [0, 257658, 41795]
        by commands decided: [113612, 111380, 74461]
        280 mended
    "#]]
    .assert_eq(&count.to_string());
}

#[test]
fn a_connection_breaks_and_somebody_is_impatient() {
    let count = search(Left { commands: 2, breaks: 1, alarms: 1, ..NOTHING }, &[]);
    expect![[r#"
        697007 states, 2134356 steps
        by leaders established: [0, 697007]
        by commands decided: [49075, 281210, 366722]
        668 mended
    "#]]
    .assert_eq(&count.to_string());
}

#[test]
fn somebody_is_impatient_and_an_election_begins() {
    let count = search(Left { commands: 2, alarms: 1, waits: 2, ..NOTHING }, &[]);
    expect![[r#"
        402937 states, 1471840 steps
        by leaders established: [0, 402937]
        by commands decided: [29661, 165438, 207838]
        381 mended
    "#]]
    .assert_eq(&count.to_string());
}

#[test]
fn a_leader_is_deposed_that_does_not_know_it() {
    let begun = [Step::Alarm(0), Step::Alarm(1)];
    let count = search(Left { commands: 2, alarms: 3, waits: 2, ..NOTHING }, &begun);
    expect![[r#"
        342706 states, 1358224 steps
        by leaders established: [0, 314884, 27822]
        by commands decided: [330786, 9880, 2040]
        325 mended
    "#]]
    .assert_eq(&count.to_string());
}

/// Larger bounds, for an hour in which nobody waits.
#[test]
#[ignore = "takes forty minutes"]
fn larger_bounds() {
    let begun = [Step::Alarm(0), Step::Alarm(1)];
    let crash = Left { commands: 2, crashes: 1, starts: 1, waits: 2, ..NOTHING };
    let searches: [(Left, &[Step]); 5] = [
        (Left { alarms: 1, crashes: 1, ..NOTHING }, &begun),
        (Left { commands: 2, crashes: 1, alarms: 2, waits: 2, ..NOTHING }, &begun),
        (Left { commands: 1, breaks: 1, alarms: 1, waits: 2, ..NOTHING }, &[]),
        (Left { commands: 2, alarms: 2, waits: 2, ..NOTHING }, &[]),
        (crash, &[]),
    ];
    for (left, begun) in searches {
        search(left, begun);
    }
}

/// Takes the steps of a failure again, and says after each what the servers are.
#[test]
fn the_steps_of_a_failure_can_be_taken_again() {
    let text = std::env::var("STEPS").unwrap_or_else(|_| "propose2 2>0 0>2 crash2 2>0 2>1".into());
    let mut moment = Moment::start(Left {
        commands: 9,
        crashes: 9,
        starts: 9,
        breaks: 9,
        waits: 99,
        alarms: 99,
        ..NOTHING
    });
    for word in text.split_whitespace() {
        let step = moment.steps().into_iter().find(|s| s.to_string() == word);
        let step = step.unwrap_or_else(|| panic!("{word} cannot happen here"));
        let result = moment.take(step);
        println!("{word}");
        for (place, member) in moment.ensemble.members.iter().enumerate() {
            println!("    {place}: {:?} {:?}", member.role(), member.last());
        }
        result.unwrap_or_else(|wrong| panic!("{wrong}"));
    }
}
