//! Transcripts of real servers, played again with the simulated ones.
//!
//! A transcript says what clients asked, what happened to the world, and what came back. The same is
//! done here to a simulated world, step by step, and every answer, every message that came unasked
//! and every relation between values is compared. What is not modelled is named.
//!
//! Errors are compared by their first word. The time that passed between two steps of the record is
//! taken as none, because it decided nothing.

mod args;
mod compare;
mod deed;
mod drive;
mod protocol;
mod redis;
mod shell;
mod shown;
mod stage;
mod transcript;
mod zookeeper;

use drive::{Drive, Verdict};
use protocol::Protocol;
use redis::Redis;
pub use shown::{answered, asked, came};
pub use transcript::{Malformed, Step, Transcript, read};
use zookeeper::ZooKeeper;

/// What became of one transcript.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Replayed {
    /// Steps that are as recorded, and relations that hold.
    pub passed: usize,
    /// Steps that differ, and relations that do not hold.
    pub failed: usize,
    /// Steps and relations that are not modelled.
    pub not_modelled: usize,
    /// One sentence for each that did not pass: its line in the file, and what is wrong.
    pub differences: Vec<(usize, String)>,
}

/// What the simulated servers are known to do otherwise.
pub const DEVIATIONS: [&str; 10] = [
    "Ten times a second a server looks for keys whose time is over, and where in that tenth it begins \
     is chance. A DBSIZE so soon after an end can count one key more or less than a real server.",
    "A replica never gives its master up: the time-out of a silent replication link (repl-timeout) is \
     not modelled.",
    "How much memory a key takes is not modelled: maxmemory is either off or always passed.",
    "SHUTDOWN does not wait for replicas that lag.",
    "A FAILOVER of Redis 7.0 takes one to two seconds, as it waits for periodic jobs; here it takes at \
     most one.",
    "ZooKeeper’s access control, quotas, znodes with a time to live, observers and reconfiguration are \
     not modelled: every znode is open to everybody, and an ensemble stays as it is.",
    "A ZooKeeper server writes its log in no time, and one that lags gets what it lacks entry by entry, \
     never as a snapshot.",
    "The watch events of one transaction come in the order of its changes. A real ZooKeeper server that \
     ends a session walks a hash set, so that the events of its znodes have no order.",
    "ZooKeeper’s time between the steps of a recording is taken as none, so a session is never closer to \
     its end than the waits that were written down make it.",
    "A client that goes on after a pause learns first that its connection is closed, and works then. In a \
     real one that is a race between two threads, and it may do a piece of work before.",
];

/// Types lines one after the other, those for `redis-cli` to Redis servers of that release, such as
/// `redis 7.0.15`, those for `zkCli.sh` to a ZooKeeper server. What each of them prints, without the
/// last line break; what is not modelled is named.
pub fn typed(release: &str, lines: &[&str]) -> Vec<Result<String, String>> {
    if zookeeper::cli::is_for(lines) {
        zookeeper::cli::typed(lines)
    } else {
        redis::typed::typed(release, lines)
    }
}

/// Plays a transcript.
pub fn replay(transcript: &Transcript) -> Replayed {
    if let Some(field) = &transcript.unknown {
        return Replayed::none(transcript, &format!("a `meta` with {field}"));
    }
    match transcript.system.as_str() {
        "redis" | "redlock" => played::<Redis>(transcript),
        "zookeeper" => played::<ZooKeeper>(transcript),
        system => Replayed::none(transcript, &format!("the system `{system}`")),
    }
}

/// Plays it; where it leaves something open, in each way until one is as recorded.
fn played<P: Protocol>(transcript: &Transcript) -> Replayed {
    let mut first = None;
    let (mut turn, mut turns) = (0, 1);
    while turn < turns {
        let mut drive = match Drive::<P>::new(transcript, turn) {
            Ok(drive) => drive,
            Err(what) => return Replayed::none(transcript, &what),
        };
        let replayed = one_turn(transcript, &mut drive);
        if replayed.failed == 0 {
            return replayed;
        }
        first.get_or_insert(replayed);
        turns = turns.max(drive.protocol.turns());
        turn += 1;
    }
    first.unwrap_or_default()
}

fn one_turn<P: Protocol>(transcript: &Transcript, drive: &mut Drive<'_, P>) -> Replayed {
    let mut replayed = Replayed::default();
    let verdicts = drive.play();
    for (step, verdict) in transcript.steps.iter().zip(verdicts) {
        let name = format!("step {}, {} {}", step.number, step.client, step.name);
        replayed.count(step.line, &name, verdict);
    }
    for verdict in drive.relations() {
        replayed.count(transcript.last_line, "order", verdict);
    }
    replayed
}

impl Replayed {
    /// Nothing of it can be played.
    fn none(transcript: &Transcript, what: &str) -> Replayed {
        let said = format!("not modelled: {what}; no step of it was played");
        let not_modelled = transcript.steps.len();
        Replayed { not_modelled, differences: vec![(1, said)], ..Replayed::default() }
    }

    fn count(&mut self, line: usize, name: &str, verdict: Verdict) {
        match verdict {
            Verdict::Passed => self.passed += 1,
            Verdict::Failed(differences) => {
                self.failed += 1;
                let said = |difference| (line, format!("{name}: {difference}"));
                self.differences.extend(differences.into_iter().map(said));
            }
            Verdict::NotModelled(what) => {
                self.not_modelled += 1;
                self.differences.push((line, format!("{name}: not modelled: {what}")));
            }
        }
    }
}
