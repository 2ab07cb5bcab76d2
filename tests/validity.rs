//! For how long each library of Redlock believes that it may act, against an account of the same answers
//! that is kept here and knows nothing of the simulated client.

mod support;

use lockscope::judge::{Interval, IntervalKind, Token};
use lockscope::run::Run;
use lockscope::sim::{MessageInfo, Micros, ProcId};
use lockscope::systems::redis::PROFILES;
use lockscope::systems::{Body, Fact};
use support::{Case, Draws, counters, seeds};

const CASES: u64 = 150;

/// A library as its source has it.
struct Row {
    word: &'static str,
    /// It asks one master after another.
    in_turn: bool,
    /// It counts as soon as a majority has said yes.
    at_majority: bool,
    /// What it allows for clocks, of a time to live in whole milliseconds; in microseconds.
    drift: fn(u64) -> u64,
    /// What has to be left of the time to live.
    left: Left,
    /// How long it waits for one master, in milliseconds.
    patience: u64,
    /// An answer that does not come is an error, whatever the others said.
    raises: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    Some,
    NothingIsEnough,
    Whatever,
}

/// `(ttl * 0.01).to_i + 2`: whole milliseconds, rounded down.
fn down(ttl: u64) -> u64 {
    (ttl / 100 + 2) * 1_000
}

/// `Math.round(0.01 * ttl) + 2`.
fn nearest(ttl: u64) -> u64 {
    ((ttl + 50) / 100 + 2) * 1_000
}

/// A hundredth and 2 ms, of a clock that is finer than milliseconds.
fn exact(ttl: u64) -> u64 {
    ttl * 10 + 2_000
}

const fn row(word: &'static str, drift: fn(u64) -> u64) -> Row {
    let (in_turn, at_majority, raises) = (false, false, false);
    Row { word, in_turn, at_majority, drift, left: Left::Some, patience: 500, raises }
}

fn table() -> [Row; 9] {
    [
        row("by-the-book", down),
        Row { in_turn: true, patience: 5_000, ..row("redlock-rb", down) },
        Row {
            in_turn: true,
            patience: 100,
            left: Left::NothingIsEnough,
            ..row("redlock-rb-2023", down)
        },
        Row { in_turn: true, patience: 60_000, raises: true, ..row("redlock-py", down) },
        Row { patience: 400, ..row("redsync", |ttl| ttl * 10) },
        Row {
            at_majority: true,
            patience: 60_000,
            left: Left::Whatever,
            ..row("node-redlock", nearest)
        },
        Row { in_turn: true, patience: 3_000, left: Left::Whatever, ..row("redisson", |_| 0) },
        Row { at_majority: true, patience: 60_000, ..row("pottery", exact) },
        Row { patience: 5_000, ..row("redlock-net", exact) },
    ]
}

/// One try as it was seen on the wire: what was sent to each master, and what came back.
struct Try<'r> {
    token: Option<Token>,
    sent: Vec<(Micros, Option<(Micros, bool)>)>,
    run: &'r Run,
}

fn tries(run: &Run) -> Vec<Try<'_>> {
    let of = |id| run.record.event(id).at;
    let set = |m: &&MessageInfo<Body>| m.body.name.starts_with("SET") && m.from == ProcId(0);
    let sets: Vec<&MessageInfo<Body>> = run.record.messages.iter().filter(set).collect();
    let mut tries: Vec<Try<'_>> = Vec::new();
    for set in &sets {
        let answer = run
            .record
            .messages
            .iter()
            .find(|m| (m.from, m.to, m.body.request) == (set.to, set.from, set.body.request));
        let answer = answer.and_then(|m| Some((of(m.delivered?), m.body.name == "OK")));
        // The first master is asked first in each try.
        if set.to == ProcId(1) {
            tries.push(Try { token: set.body.token, sent: Vec::new(), run });
        }
        let current = tries.last_mut().expect("a try begins with the first master");
        current.sent.push((of(set.sent), answer));
    }
    tries
}

impl Try<'_> {
    /// When the client has counted, how many said yes by then, and whether one did not answer.
    fn counted(&self, row: &Row, masters: usize) -> Option<(Micros, usize, bool)> {
        let patience = Micros::from_millis(row.patience);
        let heard = |(sent, answer): &(Micros, Option<(Micros, bool)>)| {
            let limit = sent.plus(patience);
            match answer {
                Some((at, yes)) if *at < limit => (*at, Some(*yes)),
                _ => (limit, None),
            }
        };
        let mut answers: Vec<(Micros, Option<bool>)> = self.sent.iter().map(heard).collect();
        if answers.len() < masters {
            return None;
        }
        for (place, sent) in self.sent.iter().enumerate().skip(1) {
            let due = if row.in_turn { answers[place - 1].0 } else { self.sent[0].0 };
            assert_eq!(sent.0, due, "{} asks its masters at other times", row.word);
        }
        answers.sort();
        let majority = masters / 2 + 1;
        let yes = |of: &[(Micros, Option<bool>)]| of.iter().filter(|a| a.1 == Some(true)).count();
        let early = (1..=masters).find(|n| row.at_majority && yes(&answers[..*n]) >= majority);
        let last = early.unwrap_or(masters);
        let (at, _) = answers[last - 1];
        (at <= self.run.end).then(|| {
            let silent = answers[..last].iter().any(|a| a.1.is_none());
            (at, yes(&answers[..last]), silent)
        })
    }
}

/// Until when the client counts, as it shows itself in the moment in which it began to believe.
fn deadline(run: &Run, belief: &Interval) -> Option<Micros> {
    run.world_at(belief.began).facts(ProcId(0)).into_iter().find_map(|fact| match fact {
        Fact::Ring { until, .. } => until,
        _ => None,
    })
}

fn case(row: &Row, seed: u64) -> (Case, u64, usize) {
    let mut draws = Draws::new(seed);
    let masters = draws.pick(&[3, 4, 5, 7]);
    // Short ones, of which much is gone before anybody has counted, and long ones.
    let ttl = draws.pick(&[150, 700, 3_000, 30_000]) + draws.up_to(700);
    let program = "acquire within 20s; sleep 1us";
    let mut case = counters("redlock", program, "0s")
        .set("redlock.profile", row.word)
        .set("redlock.masters", &masters.to_string())
        .set("lock.ttl", &format!("{ttl}ms"))
        .set("link.delay", &format!("{}us", 3_000 + draws.up_to(60_000)))
        .set("link.jitter", &format!("{}us", draws.up_to(most(seed))))
        .until("30s")
        .seed(seed);
    case.scenario.clients.remove("client-b");
    if draws.up_to(2) == 0 {
        let dead = draws.pick(&["redis-a", "redis-b", "redis-c"]);
        case = case.edits(&format!("at 0s power-off {dead}"));
    }
    (case, ttl, masters)
}

fn most(seed: u64) -> u64 {
    [1, 20_000, 400_000][(seed % 3) as usize]
}

#[test]
fn each_library_believes_for_as_long_as_its_own_source_says_and_not_at_all_where_that_is_nothing() {
    let table = table();
    assert_eq!(
        table.each_ref().map(|row| row.word)[..],
        PROFILES.iter().map(|p| p.word).collect::<Vec<_>>()[..]
    );
    for row in &table {
        let (mut held, mut failed) = (0, 0);
        for seed in seeds(CASES) {
            let (case, ttl, masters) = case(row, seed);
            let run = case.run();
            let beliefs: Vec<&Interval> =
                run.judgement.intervals.iter().filter(|i| i.kind == IntervalKind::Belief).collect();
            for tried in tries(&run) {
                let Some((at, yes, silent)) = tried.counted(row, masters) else { continue };
                let elapsed = at.since(tried.sent[0].0).0;
                let left = (ttl * 1_000) as i64 - elapsed as i64 - (row.drift)(ttl) as i64;
                let enough = match row.left {
                    Left::Some => left > 0,
                    Left::NothingIsEnough => left >= 0,
                    Left::Whatever => true,
                };
                let good = yes > masters / 2 && enough && !(row.raises && silent);
                let belief = beliefs.iter().find(|b| b.from == at && b.token == tried.token);
                let place = format!("{}, ttl {ttl} ms, {left} us left of {elapsed}", row.word);
                assert_eq!(belief.is_some(), good, "{place}");
                if let Some(belief) = belief {
                    held += 1;
                    // What is over already is shown as over, however long.
                    let until = deadline(&run, belief).expect("it counts its own deadline");
                    assert_eq!(until.0 as i64, at.0 as i64 + left.max(0), "{place}");
                } else {
                    failed += 1;
                }
            }
        }
        if std::env::var("SEED").is_err() {
            let fails = failed > 10 || row.left == Left::Whatever;
            assert!(held > 30 && fails, "{}: {held} held, {failed} failed", row.word);
        }
    }
}

#[test]
fn ten_seconds_of_which_three_tenths_are_gone_leave_9_598_ms() {
    let mut case = counters("redlock", "acquire; sleep 1us", "0s").set("link.delay", "150ms");
    case.scenario.clients.remove("client-b");
    let run = case.run();
    let belief = run.judgement.intervals.iter().find(|i| i.kind == IntervalKind::Belief);
    let belief = belief.expect("it holds the lock");
    assert_eq!(belief.from, Micros::from_millis(300));
    assert_eq!(deadline(&run, belief), Some(Micros::from_millis(300 + 9_598)));
}

#[test]
fn where_nothing_at_all_is_left_one_library_takes_the_lock_and_the_others_do_not() {
    // Three masters in turn take 240 ms; 244 ms less 2 ms of drift and 2 ms more are 240 ms.
    let takes = |profile: &str| {
        let mut case = counters("redlock", "acquire within 230ms; sleep 1us", "0s")
            .set("redlock.profile", profile)
            .set("redlock.masters", "3")
            .set("redlock.order", "sequential")
            .set("redlock.decide", "all")
            .set("link.delay", "40ms")
            .set("lock.ttl", "244ms");
        case.scenario.clients.remove("client-b");
        let run = case.run();
        run.judgement.intervals.iter().any(|i| i.kind == IntervalKind::Belief)
    };
    let all: Vec<&str> = PROFILES.iter().map(|p| p.word).filter(|word| takes(word)).collect();
    // One allows 2 ms less for clocks, and two do not look.
    assert_eq!(all, ["redlock-rb-2023", "redsync", "node-redlock", "redisson"]);
}
