//! A lock on one simulated Redis: by the book, and what each known mistake does.

mod support;

use lockscope::judge::IntervalKind;
use lockscope::sim::{Purpose, keyed, up_to};
use support::{Case, counters};

const PROGRAM: &str = "acquire; read x; work 1s; write x = x + 1; release";
const SLEEPER: &str = "pause client-a before write#1 for 12s";

/// Two clients that count, on one Redis.
fn redis() -> Case {
    counters("redis", PROGRAM, "200ms")
}

#[test]
fn by_the_book_two_clients_take_turns() {
    let run = redis().run();
    let v = &run.judgement.verdict;
    assert_eq!((v.grants, v.overlap_us, v.double_grant, v.corruption), (2, 0, 0, 0));
    assert_eq!((v.broken_promises, v.false_expiry, v.foreign_release, v.stalled), (0, 0, 0, 0));
    assert!(run.judgement.metrics.failed_attempts > 0);
    assert!(lockscope::narrate::log(&run).contains("Redis"));
}

#[test]
fn a_pause_outlives_the_lock_and_only_a_token_that_grows_stops_the_late_write() {
    let v = redis().edits(SLEEPER).verdict();
    assert_eq!((v.false_expiry, v.outlived, v.stale_accepted, v.lost_updates), (1, 1, 1, 1));
    // The service kept its word.
    assert_eq!((v.broken_promises, v.double_grant), (0, 0));
    let fenced =
        redis().edits(SLEEPER).set("resource.check", "token").set("lock.acquire", "script");
    let v = fenced.verdict();
    assert_eq!((v.stale_rejected, v.stale_accepted, v.lost_updates), (1, 0, 0));
    assert_eq!(v.token_regress, Some(0));
}

#[test]
fn a_plain_del_ends_the_lock_of_whoever_has_it() {
    // A wakes when its time is over and B works; what A deletes is B's, and C gets in beside B.
    let case = || {
        redis()
            .client("client-b", "200ms", "acquire; read x; work 5s; write x = x + 1; release")
            .client("client-c", "500ms", PROGRAM)
            .edits(SLEEPER)
    };
    let v = case().verdict();
    assert_eq!((v.foreign_release, v.double_grant, v.broken_promises), (0, 0, 0));
    let v = case().set("lock.release", "del").verdict();
    assert_eq!((v.foreign_release, v.double_grant, v.broken_promises), (1, 1, 1));
    let v = case().set("lock.release", "get-then-del").verdict();
    assert_eq!((v.foreign_release, v.double_grant), (0, 0));
}

#[test]
fn get_and_then_del_leaves_a_gap_in_which_the_lock_can_change_hands() {
    // The first of A's two requests is answered in time, the second one is held up.
    let case = || {
        redis()
            .client("client-a", "0s", "acquire; read x; work 9s; write x = x + 1; release")
            .client("client-b", "200ms", "acquire; read x; work 5s; write x = x + 1; release")
            .client("client-c", "500ms", PROGRAM)
            .edits("delay client-a>redis-a#3 by 4s")
    };
    let v = case().set("lock.release", "get-then-del").verdict();
    assert_eq!((v.foreign_release, v.double_grant, v.broken_promises), (1, 1, 1));
    let v = case().verdict();
    assert_eq!((v.foreign_release, v.double_grant, v.broken_promises), (0, 0, 0));
}

#[test]
fn a_lock_that_gets_its_end_in_a_second_request_can_stay_for_ever() {
    // A dies between SETNX and PEXPIRE: its first request has arrived, its second one never leaves.
    let case = redis().set("lock.acquire", "setnx-then-expire");
    assert_eq!(case.verdict().stalled, 0);
    let v = case.edits("at 70ms kill client-a").verdict();
    assert_eq!((v.grants, v.stalled, v.false_expiry), (1, 1, 0));
    assert!(v.orphan_us > 50_000_000, "{}", v.orphan_us);
    let v = redis().edits("at 70ms kill client-a").verdict();
    assert_eq!((v.grants, v.stalled), (2, 0));
}

#[test]
fn an_extension_that_sets_the_key_takes_the_lock_back_in_silence() {
    // A sleeps through its time, B comes and goes, and A's next extension finds no key.
    let case = || {
        redis()
            .client(
                "client-a",
                "0s",
                "acquire; read x; work 1s; renew; work 1s; write x = x + 1; release",
            )
            .edits("pause client-a before renew#1 for 14s")
    };
    let v = case().set("lock.extend", "set").verdict();
    assert_eq!((v.silent_reacquire, v.renewal_failures, v.lost_updates), (1, Some(0), 1));
    let v = case().verdict();
    assert_eq!((v.silent_reacquire, v.renewal_failures), (0, Some(1)));
    // PEXPIRE asks not whose it is: here there is none, and it is refused as well.
    let v = case().set("lock.extend", "pexpire").verdict();
    assert_eq!((v.silent_reacquire, v.renewal_failures), (0, Some(1)));
}

#[test]
fn a_counter_in_a_second_request_gives_the_older_holder_the_newer_token() {
    // A's INCR is held up until B has set its key and counted.
    let case = |acquire| {
        redis()
            .set("lock.acquire", acquire)
            .set("lock.deadline", "none")
            .set("request.timeout", "30s")
            .set("resource.check", "token")
            .edits("delay client-a>redis-a#2 by 13s")
    };
    let v = case("set-then-incr").verdict();
    assert_eq!(v.token_regress, Some(1));
    assert_eq!(case("script").verdict().token_regress, Some(0));
}

#[test]
fn what_a_restart_forgets_is_promised_twice() {
    let case = |files| {
        redis()
            .client("client-a", "0s", "acquire; read x; work 5s; write x = x + 1; release")
            .set("redis.files", files)
    };
    let killed = "at 1s kill redis-a; at 1500ms restart redis-a";
    let v = case("none").edits(killed).verdict();
    assert_eq!((v.broken_promises, v.double_grant, v.lost_updates), (1, 1, 1));
    // No snapshot had been taken.
    let v = case("rdb").edits(killed).verdict();
    assert_eq!((v.broken_promises, v.double_grant), (1, 1));
    for files in ["aof-everysec", "aof-always"] {
        let v = case(files).edits(killed).verdict();
        assert_eq!((v.broken_promises, v.double_grant, v.lost_updates), (0, 0, 0), "{files}");
    }
    // Without power, what was not synced is gone as well.
    let dark = "at 900ms power-off redis-a; at 1500ms restart redis-a";
    assert_eq!(case("aof-everysec").edits(dark).verdict().broken_promises, 1);
    assert_eq!(case("aof-always").edits(dark).verdict().broken_promises, 0);
    let shut = "at 1s shut-down redis-a; at 1500ms restart redis-a";
    assert_eq!(case("rdb").edits(shut).verdict().broken_promises, 0);
    assert_eq!(case("none").edits(shut).verdict().broken_promises, 1);
}

#[test]
fn a_restart_later_than_the_last_end_breaks_no_promise_that_is_still_needed() {
    // The lock is forgotten, and nobody can be granted it before its time is over.
    let v = redis()
        .client("client-a", "0s", "acquire; read x; work 5s; write x = x + 1; release")
        .edits("at 1s kill redis-a; at 11500ms restart redis-a")
        .verdict();
    assert_eq!((v.double_grant, v.overlap_us, v.lost_updates), (0, 0, 0));
    assert_eq!(v.broken_promises, 0);
}

#[test]
fn ends_follow_the_wall_clock_of_the_server() {
    let case = |edit| {
        redis()
            .client("client-a", "0s", "acquire; read x; work 5s; write x = x + 1; release")
            .edits(edit)
            .verdict()
    };
    let v = case("at 1s clock redis-a +10s");
    assert_eq!((v.broken_promises, v.double_grant, v.lost_updates), (1, 1, 1));
    let v = case("at 1s clock redis-a -30s");
    assert_eq!((v.broken_promises, v.double_grant), (0, 0));
    // A client that never comes back keeps the others out for so much longer.
    let waits = |edit| {
        let run = redis().edits("at 300ms kill client-a").edits(edit).run();
        run.judgement.metrics.recovery_us.unwrap_or(0)
    };
    assert!(waits("at 1s clock redis-a -30s") > waits("at 1s clock redis-a +1s") + 29_000_000);
}

#[test]
fn a_try_that_nobody_answered_is_cleaned_up_or_blocks_everybody() {
    // The answer to A's first try is lost; the key is set all the same.
    let case = |unknown| {
        let run = redis().set("lock.unknown", unknown).edits("drop redis-a>client-a#1").run();
        let waited = run.judgement.metrics.wait_us_max.unwrap_or(0);
        (run.judgement.verdict.clone(), waited)
    };
    let (v, waited) = case("delete");
    assert_eq!((v.stalled, v.overlap_us), (0, 0));
    assert!(waited < 5_000_000, "{waited}");
    let (v, waited) = case("leave");
    assert_eq!((v.stalled, v.overlap_us), (0, 0));
    assert!(waited > 9_000_000, "{waited}");
}

/// A schedule of faults drawn from a seed; clocks and files as told.
fn random(seed: u64, files: &str, clocks: bool) -> Case {
    let mut ordinal = 0;
    let mut draw = |most: u64| {
        ordinal += 1;
        up_to(keyed(seed, Purpose::Jitter, 77, ordinal), most)
    };
    let mut case = redis()
        .client("client-c", "400ms", PROGRAM)
        .set("redis.files", files)
        .set("lock.ttl", "3s")
        .set("link.jitter", "200ms")
        .set("acquire.jitter", "300ms")
        .set("request.timeout", "500ms")
        .until("40s")
        .seed(seed);
    for _ in 0..1 + draw(3) {
        let (at, long) = (draw(8_000), 1 + draw(4_000));
        let client = ["client-a", "client-b", "client-c"][draw(2) as usize];
        let edit = match draw(if clocks { 6 } else { 5 }) {
            0 => format!("at {at}ms pause {client} for {long}ms"),
            1 => format!("at {at}ms cut {client} redis-a for {long}ms"),
            2 => format!("at {at}ms kill redis-a; at {}ms restart redis-a", at + long),
            3 => format!("at {at}ms power-off redis-a; at {}ms restart redis-a", at + long),
            4 => format!("drop redis-a>{client}#{}", 1 + draw(4)),
            5 => format!("at {at}ms pause redis-a for {long}ms"),
            _ => format!("at {at}ms clock redis-a +{long}ms"),
        };
        case = case.edits(&edit);
    }
    case
}

#[test]
fn the_server_never_has_two_holders_and_with_a_synced_file_and_steady_clocks_keeps_its_word() {
    let (mut broken, mut outlived) = (0, 0);
    for seed in 0..150 {
        for (files, clocks) in [("aof-always", false), ("none", true)] {
            let case = random(seed, files, clocks);
            let run = case.run();
            let truths: Vec<_> = run
                .judgement
                .intervals
                .iter()
                .filter(|i| i.kind == IntervalKind::Truth)
                .map(|i| (i.from, i.to))
                .collect();
            for (index, one) in truths.iter().enumerate() {
                for other in &truths[index + 1..] {
                    let apart = one.1 <= other.0 || other.1 <= one.0;
                    assert!(apart, "seed {seed}, {files}: {:?}", case.edits);
                }
            }
            let v = &run.judgement.verdict;
            assert_eq!(v.foreign_release, 0, "seed {seed}, {files}: {:?}", case.edits);
            outlived += v.outlived;
            if files == "aof-always" {
                assert_eq!(v.broken_promises, 0, "seed {seed}: {:?}", case.edits);
                assert_eq!(v.double_grant, 0, "seed {seed}: {:?}", case.edits);
            } else {
                broken += v.broken_promises;
            }
        }
    }
    assert!(broken > 20 && outlived > 10, "{broken} broken, {outlived} outlived");
}
