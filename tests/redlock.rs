//! Redlock over simulated masters: what its safety rests on, one assumption at a time.

mod support;

use lockscope::judge::{IntervalKind, Testimony};
use lockscope::run::{Run, compile};
use lockscope::sim::{Micros, Purpose, keyed, up_to};
use lockscope::systems::Registry;
use lockscope::systems::redis::PROFILES;
use lockscope::systems::redis::redlock::{drift, quorum, validity};
use support::{Case, counters, seeds};

const PROGRAM: &str = "acquire; read x; work 1s; write x = x + 1; release";
const LONGER: &str = "acquire; read x; work 5s; write x = x + 1; release";

/// Two clients that count, on five masters.
fn redlock() -> Case {
    counters("redlock", PROGRAM, "400ms")
}

/// A reaches A, B and C only, and B reaches C, D and E only.
fn split() -> Case {
    redlock()
        .client("client-a", "0s", LONGER)
        .edits("at 0s cut {client-a}|{redis-d redis-e}; at 0s cut {client-b}|{redis-a redis-b}")
}

/// Whether the first client sent a write.
fn writes(run: &Run) -> bool {
    let wrote = |note: Option<&Testimony>| matches!(note, Some(Testimony::Write(..)));
    run.record.events.iter().any(|event| event.node.0 == 0 && wrote(event.note()))
}

/// How long the first believer would have believed on its own.
fn believed(run: &Run, client: u16) -> u64 {
    let beliefs = run.judgement.intervals.iter();
    beliefs
        .filter(|i| i.kind == IntervalKind::Belief && i.client.0 == client)
        .map(|i| i.to.since(i.from).0)
        .sum()
}

#[test]
fn by_the_book_two_clients_take_turns() {
    for masters in ["3", "4", "5", "7"] {
        for order in ["parallel", "sequential"] {
            let case = redlock().set("redlock.masters", masters).set("redlock.order", order);
            let run = case.run();
            let (v, m) = (&run.judgement.verdict, &run.judgement.metrics);
            assert_eq!((v.grants, v.overlap_us, v.double_grant, v.corruption), (2, 0, 0, 0));
            assert_eq!((v.broken_promises, v.stalled, v.outlived), (0, 0, 0), "{masters} {order}");
            // Each of the two got the lock once; all other tries failed.
            assert!(m.failed_attempts > 0, "{masters} {order}");
            assert_eq!(m.attempts, m.failed_attempts + 2, "{masters} {order}");
        }
    }
}

#[test]
fn a_majority_is_enough_and_a_minority_is_not() {
    let dead = |names: &[&str]| {
        let edits: Vec<String> = names.iter().map(|n| format!("at 0s kill {n}")).collect();
        redlock().edits(&edits.join(";")).verdict()
    };
    assert_eq!(
        (dead(&["redis-d", "redis-e"]).grants, dead(&["redis-d", "redis-e"]).stalled),
        (2, 0)
    );
    let v = dead(&["redis-c", "redis-d", "redis-e"]);
    assert_eq!((v.grants, v.stalled), (0, 2));
    // Four masters bear no more deaths than three.
    let four = |edits| redlock().set("redlock.masters", "4").edits(edits).verdict().stalled;
    assert_eq!(four("at 0s kill redis-d"), 0);
    assert_eq!(four("at 0s kill redis-c; at 0s kill redis-d"), 2);
}

#[test]
fn the_validity_is_what_is_left_after_what_passed_and_what_clocks_may_drift() {
    // Each way takes 150 ms, so that 300 ms have passed when the last master has answered.
    let still = |nap: &str| {
        let program =
            format!("acquire; sleep {nap}; check; if ok goto good; stop; good:; write x = 1");
        let case = redlock().set("link.delay", "150ms").client("client-a", "0s", &program);
        writes(&case.run())
    };
    assert!(still("9597ms"), "9,598 ms are good");
    assert!(!still("9598ms"), "and no more");
    let ttl = Micros::from_secs(10);
    assert_eq!(validity(ttl, Micros::from_millis(300), drift(ttl)), Some(Micros(9_598_000)));
}

#[test]
fn a_master_that_forgets_votes_twice_unless_it_writes_first_or_stays_out() {
    let case = |files, delay| {
        split()
            .set("redis.files", files)
            .set("redis.restart_delay", delay)
            .edits("at 1s kill redis-c; at 1200ms restart redis-c")
    };
    let v = case("none", "0s").verdict();
    assert_eq!((v.broken_promises, v.double_grant, v.lost_updates), (1, 1, 1));
    assert!(v.overlap_us > 0);
    for (files, delay) in [("aof-always", "0s"), ("none", "11s")] {
        let v = case(files, delay).verdict();
        assert_eq!((v.broken_promises, v.double_grant, v.overlap_us), (0, 0, 0), "{files} {delay}");
    }
}

#[test]
fn a_step_of_one_wall_clock_takes_a_vote_away_and_a_step_back_keeps_it() {
    let v = split().edits("at 1s clock redis-c +12s").verdict();
    assert_eq!((v.broken_promises, v.double_grant, v.lost_updates), (1, 1, 1));
    let v = split().edits("at 1s clock redis-c -12s").verdict();
    assert_eq!((v.broken_promises, v.double_grant, v.overlap_us), (0, 0, 0));
    // One clock that is wrong does no harm where the others are enough.
    let v = redlock().client("client-a", "0s", LONGER).edits("at 1s clock redis-c +12s").verdict();
    assert_eq!((v.broken_promises, v.double_grant), (0, 0));
}

#[test]
fn a_stop_while_the_answers_are_on_their_way_is_caught_by_whoever_has_a_clock_that_ran() {
    // The masters have answered, and the answers wait in A's buffer until all keys are over.
    let held = |stop: &str, clock: &str, elapsed: &str| {
        let case = redlock()
            .client("client-b", "11s", LONGER)
            .set("client.clock", clock)
            .set("redlock.elapsed", elapsed)
            .edits(&format!("at 70ms {stop} client-a for 12s"));
        let run = case.run();
        (
            run.judgement.verdict.overlap_us > 0,
            run.judgement.verdict.broken_promises,
            believed(&run, 0),
        )
    };
    let overlaps = |stop, clock, elapsed| {
        let (overlaps, broken, _) = held(stop, clock, elapsed);
        assert_eq!(broken, 0, "{stop} {clock} {elapsed}: the masters kept their word");
        overlaps
    };
    assert!(!overlaps("pause", "mono", "checked"));
    assert!(overlaps("pause", "mono", "unchecked"));
    assert!(overlaps("suspend", "mono", "checked"));
    assert!(!overlaps("suspend", "boot", "checked"));
    assert!(!overlaps("suspend", "wall", "checked"));
    for clock in ["mono", "boot", "wall"] {
        assert!(overlaps("freeze", clock, "checked"), "{clock}");
    }
}

#[test]
fn a_pause_after_the_check_outlives_the_promise_which_no_service_can_prevent() {
    let v = redlock().edits("pause client-a before write#1 for 12s").verdict();
    assert_eq!((v.outlived, v.broken_promises, v.double_grant), (1, 0, 0));
    assert_eq!((v.stale_accepted, v.lost_updates), (1, 1));
    // A random value has no order that a resource could compare.
    let v =
        redlock().edits("delay client-a>resource#2 by 12s").set("request.timeout", "30s").verdict();
    assert_eq!((v.outlived, v.broken_promises, v.stale_accepted), (1, 0, 1));
}

#[test]
fn a_failed_try_that_leaves_its_keys_keeps_everybody_out_itself_included() {
    // A reaches two masters of five and gives up; one master is dead, so that nobody can spare two.
    let case = |failed| {
        let case = redlock()
            .set("redlock.failed", failed)
            .client("client-a", "0s", "acquire within 1s")
            .edits("at 0s cut {client-a}|{redis-c redis-d redis-e}; at 0s kill redis-e");
        let run = case.run();
        let waited = run.judgement.metrics.wait_us_max.unwrap_or(0);
        (run.judgement.verdict.stalled, waited)
    };
    let (stalled, waited) = case("delete");
    assert!(stalled == 0 && waited < 3_000_000, "{waited}");
    // What B leaves of each try of its own blocks the next one, for ever.
    assert_eq!(case("leave").0, 1);
}

#[test]
fn extensions_are_limited() {
    let program = "acquire; work 40s; release";
    let v = |most: &str| {
        let case = redlock()
            .client("client-a", "0s", program)
            .task("client-a", "heartbeat", "sleep 2s; again:; renew; sleep 3s; goto again")
            .set("redlock.extensions", most)
            .until("60s");
        let run = case.run();
        let truths = run.judgement.intervals.iter();
        truths
            .filter(|i| i.kind == IntervalKind::Truth && i.client.0 == 0)
            .map(|i| i.to.since(i.from).0)
            .max()
            .unwrap_or(0)
    };
    assert!(v("0") < 11_000_000, "{}", v("0"));
    assert!((12_000_000..20_000_000).contains(&v("2")), "{}", v("2"));
    assert!(v("100") > 35_000_000, "{}", v("100"));
}

/// Random faults; which kinds may occur is told.
fn random(seed: u64, clocks: bool) -> Case {
    let mut ordinal = 0;
    let mut draw = |most: u64| {
        ordinal += 1;
        up_to(keyed(seed, Purpose::Jitter, 91, ordinal), most)
    };
    let mut case = redlock()
        .client("client-c", "300ms", PROGRAM)
        .set("lock.ttl", "3s")
        .set("link.jitter", "150ms")
        .set("redlock.patience", "400ms")
        .until("40s")
        .seed(seed);
    let masters = ["redis-a", "redis-b", "redis-c", "redis-d", "redis-e"];
    let clients = ["client-a", "client-b", "client-c"];
    for _ in 0..2 + draw(5) {
        let (at, long) = (draw(8_000), 1 + draw(4_000));
        let (master, client) = (masters[draw(4) as usize], clients[draw(2) as usize]);
        let edit = match draw(if clocks { 6 } else { 5 }) {
            0 => format!("at {at}ms pause {client} for {long}ms"),
            1 => format!("at {at}ms cut {client} {master} for {long}ms"),
            2 => format!("at {at}ms kill {master}; at {}ms restart {master}", at + long),
            3 => format!("at {at}ms power-off {master}; at {}ms restart {master}", at + long),
            4 => format!("drop {master}>{client}#{}", 1 + draw(4)),
            5 => format!("at {at}ms pause {master} for {long}ms"),
            _ => format!("at {at}ms clock {master} +{long}ms"),
        };
        case = case.edits(&edit);
    }
    case
}

fn apart(run: &Run, case: &Case) {
    let truths: Vec<_> = run
        .judgement
        .intervals
        .iter()
        .filter(|i| i.kind == IntervalKind::Truth)
        .map(|i| (i.from, i.to))
        .collect();
    for (index, one) in truths.iter().enumerate() {
        for other in &truths[index + 1..] {
            assert!(one.1 <= other.0 || other.1 <= one.0, "two majorities: {:?}", case.edits);
        }
    }
}

#[test]
fn there_are_never_two_majorities_and_a_promise_breaks_only_where_something_was_forgotten() {
    let (mut broken, mut double) = (0, 0);
    for seed in seeds(120) {
        // Whoever writes before it answers, or stays out for longer than a lock lasts, forgets
        // nothing that matters.
        for (files, delay) in [("aof-always", "0s"), ("none", "3100ms")] {
            let case =
                random(seed, false).set("redis.files", files).set("redis.restart_delay", delay);
            let run = case.run();
            apart(&run, &case);
            let v = &run.judgement.verdict;
            let told = (v.broken_promises, v.double_grant, v.foreign_release);
            assert_eq!(told, (0, 0, 0), "seed {seed}, {files}: {:?}", case.edits);
        }
        let case = random(seed, true);
        let run = case.run();
        apart(&run, &case);
        broken += run.judgement.verdict.broken_promises;
        double += run.judgement.verdict.double_grant;
    }
    if std::env::var("SEED").is_err() {
        assert!(broken > 5, "{broken} promises broken, {double} granted twice");
    }
}

#[test]
fn the_validity_of_every_profile_follows_its_own_formula_at_any_delay() {
    for seed in 0..200 {
        let draw = |n| keyed(seed, Purpose::Jitter, 5, n);
        let ttl = Micros::from_millis(100 + up_to(draw(1), 60_000));
        let elapsed = Micros(up_to(draw(2), 2 * ttl.0));
        for allowed in [drift(ttl), Micros(ttl.0 / 100), Micros::ZERO] {
            let left = i128::from(ttl.0) - i128::from(elapsed.0) - i128::from(allowed.0);
            let expected = (left > 0).then_some(Micros(left as u64));
            assert_eq!(validity(ttl, elapsed, allowed), expected);
        }
    }
    assert_eq!([1, 2, 3, 4, 5, 6, 7].map(quorum), [1, 2, 2, 3, 3, 4, 4]);
}

#[test]
fn every_profile_holds_a_lock_as_long_as_its_own_formula_says() {
    for profile in PROFILES {
        let of = |key: &str| {
            profile.settings.iter().find(|s| s.0 == key).map_or("", |s| s.1).to_string()
        };
        let ttl = Micros::from_secs(10);
        let allowed = match of("redlock.drift").as_str() {
            "none" => Micros::ZERO,
            "hundredth" => Micros(ttl.0 / 100),
            _ => drift(ttl),
        };
        // A link takes 20 ms each way; who asks in turn asks five times, and who hurries, once.
        let asked: u64 = if of("redlock.order") == "sequential" { 5 } else { 1 };
        let good = validity(ttl, Micros::from_millis(40 * asked), allowed).expect("time is left");
        let still = |nap: Micros| {
            let program =
                format!("acquire; sleep {nap}; check; if ok goto good; stop; good:; write x = 1");
            let mut case = redlock().set("redlock.profile", profile.word).set("link.delay", "20ms");
            case.scenario.clients.remove("client-b");
            let run = case.client("client-a", "0s", &program).run();
            writes(&run)
        };
        assert!(still(Micros(good.0 - 1_000)), "{}", profile.word);
        assert!(!still(good), "{}", profile.word);
    }
}

#[test]
fn profiles_differ_where_their_sources_do() {
    // A majority said yes, and one master is dead: one library raises an error and leaves its keys.
    let orphan = |profile: &str| {
        let case = redlock().set("redlock.profile", profile).set("redlock.patience", "200ms");
        let case = case.client("client-a", "0s", "acquire; release").edits("at 0s kill redis-e");
        case.until("8s").verdict().orphan_us
    };
    assert!(orphan("redlock-py") > 6_000_000);
    assert!(orphan("redlock-rb") < 2_000_000);
    // A lock that is gone is extended: refused, or set again in silence.
    let again = |profile: &str| {
        let case = redlock()
            .set("redlock.profile", profile)
            .set("redlock.extensions", "3")
            .set("link.delay", "20ms")
            .client("client-a", "0s", "acquire; work 1s; renew; release")
            .edits("pause client-a before renew#1 for 14s");
        case.verdict().silent_reacquire
    };
    assert_eq!((again("redlock-net"), again("redlock-rb-2023")), (1, 1));
    assert_eq!((again("redsync"), again("by-the-book")), (0, 0));
    // What a scenario sets beside a profile holds.
    let run = redlock().set("redlock.profile", "redlock-rb").set("acquire.retry", "3s").run();
    assert_eq!(run.compiled.settings.text("acquire.retry"), "3s");
    assert_eq!(run.compiled.settings.text("redlock.order"), "sequential");
}

#[test]
fn an_edit_cannot_change_how_many_masters_there_are() {
    let case = redlock().edits("set redlock.masters 7");
    let errors = compile(&case.scenario, &case.edits, &Registry::standard()).expect_err("no");
    assert!(errors[0].message.contains("how many nodes"), "{errors:?}");
}

#[test]
fn a_try_goes_by_the_ttl_that_stood_when_it_began_whatever_is_set_meanwhile() {
    for (system, key, value) in
        [("redlock", "redlock.profile", "redisson"), ("redis", "lock.acquire", "setnx-then-expire")]
    {
        for edit in ["at 1ms set lock.ttl 300ms", "at 1ms set lock.ttl 9s"] {
            let mut case = counters(system, PROGRAM, "400ms")
                .set("lock.ttl", "5s")
                .set(key, value)
                .edits(edit);
            if system == "redlock" {
                case = case.set("redlock.masters", "7");
            }
            let run = case.run();
            let v = &run.judgement.verdict;
            assert_eq!((v.broken_promises, v.double_grant), (0, 0), "{system}: {edit}");
            assert!(v.grants > 0, "{system}: {edit}");
            // The first grant ends by the TTL of its try: later than the short one would be over.
            let mut truths = run.judgement.intervals.iter();
            let first = truths.find(|i| i.kind == IntervalKind::Truth).expect("granted");
            let span = first.to.since(first.from);
            assert!(
                span > Micros::from_millis(900) && span < Micros::from_secs(6),
                "{edit}: {span:?}"
            );
        }
    }
}
