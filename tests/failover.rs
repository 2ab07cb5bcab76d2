//! A Redis with replicas: what reaches them late, who takes the master's place, what a client can know.

mod support;

use lockscope::judge::IntervalKind;
use lockscope::run::{Run, compile, kind};
use lockscope::systems::{Fact, Piece, Registry};
use support::{Case, counters};

const PROGRAM: &str = "acquire; read x; work 1s; write x = x + 1; release";
const LONGER: &str = "acquire; read x; work 6s; write x = x + 1; release";

/// Two clients that count, on a master with so many replicas. A works for long.
fn with_replicas(count: &str) -> Case {
    counters("redis", PROGRAM, "200ms")
        .client("client-a", "0s", LONGER)
        .set("redis.replicas", count)
}

/// B40: the answer was faster than the replica, and the replica takes the master's place without it.
fn b40() -> Case {
    with_replicas("1").edits(
        "at 40ms cut redis-a>redis-b; at 1s kill redis-a; at 2s fail-over redis-a to redis-b",
    )
}

fn count(run: &Run, what: &str, node: &str) -> usize {
    let node = run.names().find(node);
    run.record.events.iter().filter(|e| kind::kind(e) == what && Some(e.node) == node).count()
}

/// How often a message of that name arrived.
fn arrived(run: &Run, name: &str) -> usize {
    let messages = run.record.messages.iter();
    messages.filter(|m| m.body.name == name && m.delivered.is_some()).count()
}

/// What a node shows in words at the end of a run.
fn shows(run: &Run, node: &str, words: &str) -> bool {
    let last = lockscope::sim::EventId(run.record.events.len() as u32 - 1);
    let node = run.names().find(node).expect("it is there");
    run.world_at(last).facts(node).iter().any(|fact| match fact {
        Fact::Row { value, .. } => value.contains(&Piece::Word(match words {
            "master" => "master",
            "replica of" => "replica of",
            "no copy" => "no copy",
            other => panic!("{other}"),
        })),
        _ => false,
    })
}

fn truths_are_apart(run: &Run) {
    let truths = run.judgement.intervals.iter().filter(|i| i.kind == IntervalKind::Truth);
    // What counts for nothing ends as it is made.
    let truths: Vec<_> = truths.filter(|i| i.from < i.to).map(|i| (i.from, i.to)).collect();
    for (index, one) in truths.iter().enumerate() {
        for other in &truths[index + 1..] {
            assert!(one.1 <= other.0 || other.1 <= one.0, "{one:?} {other:?}");
        }
    }
}

#[test]
fn replicas_change_nothing_as_long_as_their_master_lives() {
    for replicas in ["1", "2"] {
        let v = with_replicas(replicas).verdict();
        assert_eq!((v.grants, v.overlap_us, v.double_grant, v.broken_promises), (2, 0, 0, 0));
        assert_eq!((v.stalled, v.corruption), (0, 0));
    }
}

#[test]
fn b40_a_lock_that_no_replica_has_is_granted_twice() {
    let run = b40().run();
    let v = &run.judgement.verdict;
    assert_eq!((v.broken_promises, v.double_grant, v.lost_updates), (1, 1, 1));
    assert!(run.edit_events.iter().all(Option::is_some));
    // Both clients were told, and turned to the new master.
    assert_eq!(arrived(&run, "+switch-master"), 2);
    let log = lockscope::narrate::log(&run);
    assert!(log.contains("Redis B takes the place of Redis A"), "{log}");
    assert!(log.contains("Redis B knows nothing of the grant of Client A"), "{log}");
}

#[test]
fn a_lock_that_the_replica_has_survives_the_master() {
    let run =
        with_replicas("1").edits("at 1s kill redis-a; at 2s fail-over redis-a to redis-b").run();
    let v = &run.judgement.verdict;
    assert_eq!((v.grants, v.broken_promises, v.double_grant, v.lost_updates), (2, 0, 0, 0));
    assert_eq!((v.stalled, v.false_expiry), (0, 0));
    // A releases at the new master, and B does.
    assert_eq!(count(&run, "free", "redis-b"), 2);
}

#[test]
fn b41_wait_counts_one_replica_and_another_takes_the_place() {
    let case = |wait, rule| {
        with_replicas("2").set("lock.wait", wait).set("lock.wait_rule", rule).edits(
            "at 40ms cut redis-a>redis-c; at 2s kill redis-a; at 3s fail-over redis-a to redis-c",
        )
    };
    let run = case("1", "correct").run();
    let v = &run.judgement.verdict;
    assert_eq!((v.broken_promises, v.double_grant, v.lost_updates), (1, 1, 1));
    // The replica that had the key follows the one that has not, and has it no more.
    assert!(shows(&run, "redis-b", "no copy"));
    // Two replicas would have been short, and A would have given it back, or not.
    let run = case("2", "correct").run();
    let v = &run.judgement.verdict;
    assert_eq!((v.broken_promises, v.double_grant, v.lost_updates), (0, 0, 0));
    let v = case("2", "careless").verdict();
    assert_eq!((v.broken_promises, v.double_grant, v.lost_updates), (1, 1, 1));
    // Where both have it, whoever takes the place has it.
    let v = with_replicas("2")
        .set("lock.wait", "2")
        .edits("at 2s kill redis-a; at 3s fail-over redis-a to redis-c; at 4s restart redis-a")
        .verdict();
    assert_eq!((v.grants, v.broken_promises, v.double_grant, v.stalled), (2, 0, 0, 0));
}

#[test]
fn without_replicas_a_wait_is_always_short() {
    let v = with_replicas("0").set("lock.wait", "1").verdict();
    assert_eq!((v.stalled, v.overlap_us, v.broken_promises), (2, 0, 0));
    let v = with_replicas("0").set("lock.wait", "1").set("lock.wait_rule", "careless").verdict();
    assert_eq!((v.grants, v.stalled, v.overlap_us), (2, 0, 0));
}

#[test]
fn b98_a_counter_that_was_not_replicated_counts_the_same_number_again() {
    let case = |acquire| {
        with_replicas("1")
            .client("client-a", "1s", LONGER)
            .client("client-b", "1200ms", "acquire; read x; work 2s; write x = x + 1; release")
            .client("client-c", "0s", "acquire; release")
            .set("lock.acquire", acquire)
            .set("resource.check", "token")
            .edits("at 900ms cut redis-a>redis-b; at 2s kill redis-a")
            .edits("at 2500ms fail-over redis-a to redis-b")
    };
    for acquire in ["script", "set-then-incr"] {
        let run = case(acquire).run();
        let v = &run.judgement.verdict;
        assert_eq!((v.token_regress, v.broken_promises), (Some(1), 1), "{acquire}");
        // Both tokens are 2, and both writes pass `>=`.
        assert_eq!((v.stale_accepted, v.stale_rejected, v.lost_updates), (1, 0, 1), "{acquire}");
    }
    let v = case("script").set("resource.check", "token-once").verdict();
    assert_eq!((v.stale_accepted, v.stale_rejected, v.lost_updates), (0, 1, 0));
}

#[test]
fn b87_an_evicted_key_is_a_promise_broken() {
    let v = with_replicas("0").edits("at 2s evict redis-a lock").verdict();
    assert_eq!((v.broken_promises, v.double_grant, v.lost_updates), (1, 1, 1));
    // What is not there is not thrown out.
    let run = with_replicas("0").edits("at 20s evict redis-a lock").run();
    assert_eq!(run.edit_events, [None]);
    // A replica throws nothing out by itself, and follows its master in it.
    let run = with_replicas("1").edits("at 2s evict redis-b lock").run();
    assert_eq!(run.edit_events, [None]);
    let run = with_replicas("1")
        .client("client-a", "0s", LONGER)
        .edits("at 2s evict redis-a lock; at 2040ms fail-over redis-a to redis-b")
        .run();
    assert_eq!(run.judgement.verdict.broken_promises, 1);
    // One of five masters is not missed.
    let many = || counters("redlock", PROGRAM, "200ms").client("client-a", "0s", LONGER);
    let run = many().edits("at 2s evict redis-c lock").run();
    assert!(run.edit_events[0].is_some());
    assert_eq!(count(&run, "evict", "redis-c"), 1);
    assert_eq!((run.judgement.verdict.broken_promises, run.judgement.verdict.double_grant), (0, 0));
    let three = "at 2s evict redis-a lock; at 2s evict redis-b lock; at 2s evict redis-c lock";
    let v = many().edits(three).verdict();
    assert_eq!((v.broken_promises, v.double_grant, v.lost_updates), (1, 1, 1));
}

#[test]
fn the_new_master_judges_the_same_moment_by_its_own_clock() {
    let case = |skew: &str| {
        with_replicas("1")
            .edits(skew)
            .edits("at 1s kill redis-a; at 2s fail-over redis-a to redis-b")
    };
    let v = case("at 0s clock redis-b +12s").verdict();
    assert_eq!((v.broken_promises, v.double_grant), (1, 1));
    let v = case("at 0s clock redis-b +5s").verdict();
    assert_eq!((v.broken_promises, v.double_grant, v.lost_updates), (1, 1, 1));
    let v = case("at 0s clock redis-b -30s").verdict();
    assert_eq!((v.broken_promises, v.double_grant), (0, 0));
}

#[test]
fn a_master_that_was_only_cut_off_grants_what_does_not_count_and_discards_it_later() {
    // A and its master are on one side. A's lock is over, and it takes another one there.
    let program = "acquire; read x; work 500ms; release; sleep 2s; acquire; read x; work 1s; \
                   write x = x + 1; release";
    let run = with_replicas("1")
        .client("client-a", "0s", program)
        .client("client-b", "2s", "acquire; read x; work 3s; write x = x + 1; release")
        .edits("at 1s cut {client-a redis-a}|{redis-b client-b} for 9s")
        .edits("at 1500ms fail-over redis-a to redis-b")
        .run();
    truths_are_apart(&run);
    let v = &run.judgement.verdict;
    // B finds the old master out of reach until the new one's word has come; A never asked another.
    assert_eq!((v.double_grant, v.broken_promises), (1, 1));
    assert!(v.overlap_us > 0 && v.lost_updates == 1, "{v:?}");
    assert!(shows(&run, "redis-a", "replica of") && shows(&run, "redis-b", "master"));
    assert!(shows(&run, "redis-a", "no copy"));
}

#[test]
fn a_master_that_comes_back_follows_whoever_has_its_place() {
    for files in ["none", "aof-always", "rdb"] {
        let run = with_replicas("2")
            .set("redis.files", files)
            .edits("at 1s shut-down redis-a; at 2s fail-over redis-a to redis-b")
            .edits("at 4s restart redis-a; at 5s power-off redis-c; at 6s restart redis-c")
            .until("30s")
            .run();
        truths_are_apart(&run);
        let v = &run.judgement.verdict;
        assert_eq!((v.grants, v.broken_promises, v.double_grant), (2, 0, 0), "{files}");
        for replica in ["redis-a", "redis-c"] {
            assert!(shows(&run, replica, "replica of"), "{files} {replica}");
        }
        assert!(shows(&run, "redis-b", "master"));
    }
}

#[test]
fn a_master_that_restarts_empty_takes_its_replicas_keys_with_it() {
    let case = |files| {
        let edits = "at 1s kill redis-a; at 1500ms restart redis-a; at 3s kill redis-a";
        with_replicas("1")
            .set("redis.files", files)
            .client("client-b", "8s", PROGRAM)
            .edits(edits)
            .edits("at 4s fail-over redis-a to redis-b")
            .verdict()
    };
    assert_eq!(case("none").broken_promises, 1);
    assert_eq!(case("rdb").broken_promises, 1);
    assert_eq!(case("aof-everysec").broken_promises, 0);
}

#[test]
fn of_two_fail_overs_the_later_one_holds_however_late_its_word_is() {
    // C never hears of the first one, and takes the place that it believes to be free.
    let run = with_replicas("2")
        .edits("at 500ms cut redis-b redis-c for 6s; at 1s kill redis-a")
        .edits("at 2s fail-over redis-a to redis-b; at 3s fail-over redis-a to redis-c")
        .edits("at 4s restart redis-a")
        .run();
    truths_are_apart(&run);
    assert!(run.edit_events.iter().all(Option::is_some));
    assert!(shows(&run, "redis-c", "master"));
    for replica in ["redis-a", "redis-b"] {
        assert!(shows(&run, replica, "replica of"), "{replica}");
    }
}

#[test]
fn whoever_missed_the_news_is_told_by_the_old_master_once_it_follows() {
    let run = with_replicas("1")
        .edits("drop redis-b>client-b#1; at 1s fail-over redis-a to redis-b")
        .run();
    let v = &run.judgement.verdict;
    assert_eq!((v.grants, v.stalled, v.broken_promises, v.double_grant), (2, 0, 0, 0));
    assert!(arrived(&run, "READONLY") > 0 && arrived(&run, "ROLE") > 0);
    // The news can be late: until then B asks a master that is dead.
    let late = |edit| {
        let case = with_replicas("1").edits("at 1s kill redis-a");
        let run = case.edits("at 2s fail-over redis-a to redis-b").edits(edit).until("90s").run();
        run.judgement.metrics.wait_us_max.unwrap_or(0)
    };
    assert!(
        late("at 1900ms cut redis-b>client-b for 20s")
            > late("at 0s heal client-a client-b") + 5_000_000
    );
}

#[test]
fn orders_that_nobody_can_carry_out_are_errors_that_say_why() {
    let wrong = |case: Case, edit: &str| {
        let case = case.edits(edit);
        let errors = compile(&case.scenario, &case.edits, &Registry::standard());
        let errors = errors.err().unwrap_or_default();
        errors.first().map_or("none".into(), |e| format!("{}: {}", e.place.at, e.message))
    };
    let redis = || with_replicas("1");
    let all = [
        wrong(redis(), "at 4s fail-over redis-a redis-b"),
        wrong(redis(), "at 4s fail-over redis-a to redis-c"),
        wrong(redis(), "at 4s fail-over redis-a to redis-a"),
        wrong(redis(), "at 4s fail-over redis-a to client-a"),
        wrong(redis(), "fail-over redis-a to redis-b"),
        wrong(redis(), "at 4s evict redis-a lok"),
        wrong(redis(), "at 4s evict redis-a"),
        wrong(redis(), "at 4s evict resource lock"),
        wrong(with_replicas("0"), "at 4s fail-over redis-a to client-a"),
        wrong(counters("redlock", PROGRAM, "1s"), "at 4s fail-over redis-a to redis-b"),
        wrong(counters("lease", PROGRAM, "1s"), "at 4s evict lock-service lock"),
        wrong(redis(), "at 4s set redis.replicas 2"),
        wrong(redis(), "set redis.replicas 2"),
        wrong(redis().client("client-b", "1s", "acquire shared"), "at 4s heal redis-a redis-b"),
    ];
    expect_test::expect![[r#"
        24: found `redis-b`, expected `to`
        27: no node `redis-c`; the nodes are `client-a`, `client-b`, `redis-a`, `redis-b` and `resource`; did you mean `redis-a`?
        27: found the same node twice, expected two
        27: `client-a` is no server of the lock service; those are `redis-a` and `redis-b`
        0: found `fail-over`, expected a moment before it, such as `at 3s fail-over …`
        20: no lock `lok`; the locks are `lock`
        19: the line ends here, expected the name of a lock
        12: `resource` is no server of the lock service; those are `redis-a` and `redis-b`
        27: `client-a` is no server of the lock service; those are `redis-a`
        6: no `fail-over` under `redlock`: its masters know nothing of each other, and none has a replica
        6: no `evict` under `lease`: its servers throw out nothing that they were told
        10: `redis.replicas` holds for a whole run; write it without `at`
        0: an edit changes how many nodes there are; write it into the scenario
        8: found `shared`, but a lock on Redis is one key, which one client has; write `acquire` alone
    "#]].assert_eq(&all.map(|line| line + "\n").concat());
}

#[test]
fn orders_read_back_as_they_print_and_go_through_a_link() {
    use lockscope::run::parse_edit;
    use lockscope::sim::Micros;
    let nodes = ["client-a", "redis-a", "redis-b"];
    for text in ["at 4s fail-over redis-a to redis-b", "at 4s evict redis-a lock"] {
        let edit = parse_edit(text, &nodes).expect("it is in the grammar");
        assert_eq!(edit.to_string(), text);
        for (which, time) in edit.spans() {
            assert_eq!(edit.with(which, Micros(time.0 + 1)).with(which, time), edit);
        }
    }
}
