//! Every way in which a resource can check, and what each of them lets through.

mod support;

use lockscope::judge::{IntervalKind, Verdict};
use lockscope::run::{Run, compile, kind};
use lockscope::systems::Registry;
use support::{Case, lines, when};

/// Two clients take 10 each; A stops before its write for so long that it writes after B did.
fn late(check: &str) -> Case {
    let take = "acquire; read x; work 1s; write x = x - 10; release";
    Case::new(&[("x", 100)])
        .invariant("x == 100 - 10 * done")
        .set("resource.check", check)
        .client("client-a", "0s", take)
        .client("client-b", "1s", take)
        .edits("pause client-a before write#1 for 12s")
}

/// The same, but A wakes up when B was granted the lock and has read, and has not written: the
/// first-touch gap.
fn first_touch(check: &str) -> Case {
    let mut case = late(check);
    case.edits = lines("pause client-a before write#1 for 10s");
    case
}

fn claiming(case: Case) -> Case {
    let take = "acquire; claim; read x; work 1s; write x = x - 10; release";
    case.client("client-a", "0s", take).client("client-b", "1s", take)
}

fn count(run: &Run, what: &str) -> usize {
    run.record.events.iter().filter(|e| kind::kind(e) == what).count()
}

fn errors(case: &Case) -> String {
    let errors = compile(&case.scenario, &case.edits, &Registry::standard()).err();
    let all: Vec<String> = errors.into_iter().flatten().map(|e| e.to_string()).collect();
    all.join("\n")
}

fn stale(v: &Verdict) -> (u64, u64, u64) {
    (v.stale_accepted, v.stale_rejected, v.stale_pending)
}

#[test]
fn a_write_that_comes_last_is_stopped_by_every_check_and_by_none_without_one() {
    let gateway = |mut case: Case| {
        case.scenario.gateway = true;
        case
    };
    for check in ["token", "token-once", "token-racy", "token-volatile", "version", "session"] {
        let v = late(check).verdict();
        assert_eq!(stale(&v), (0, 1, 0), "{check}");
        assert!(!v.harmed(), "{check}: {v:?}");
    }
    let v = gateway(late("gateway")).verdict();
    assert_eq!((stale(&v), v.harmed()), ((0, 1, 0), false));
    let v = claiming(late("claim")).verdict();
    assert_eq!((stale(&v), v.harmed()), ((0, 1, 0), false));
    let v = late("none").verdict();
    assert_eq!((stale(&v), v.corruption, v.lost_updates), ((1, 0, 0), 1, 1));
    // A gateway that does not check only passes on.
    let v = gateway(late("none")).verdict();
    assert_eq!((stale(&v), v.corruption), ((1, 0, 0), 1));
}

#[test]
fn b100_a_late_write_that_comes_before_the_first_write_of_the_newer_holder_loses_an_update() {
    for check in ["token", "token-once"] {
        let v = first_touch(check).verdict();
        assert_eq!((stale(&v), v.lost_updates, v.corruption), ((1, 0, 0), 1, 1), "{check}");
        assert_eq!(v.invariant_broken, Some(1));
    }
    // Any of these closes the gap: reads with the token, a claim, versions, asking who holds.
    let v = first_touch("token").set("resource.reads", "token").verdict();
    assert_eq!((stale(&v), v.harmed()), ((0, 1, 0), false));
    for check in ["token", "token-volatile", "claim"] {
        let v = claiming(first_touch(check)).verdict();
        assert_eq!((stale(&v), v.harmed()), ((0, 1, 0), false), "{check}");
    }
    let v = first_touch("session").verdict();
    assert_eq!((stale(&v), v.harmed()), ((0, 1, 0), false));
    // With versions A comes first and wins; B, the rightful holder, is refused and must try again.
    let v = first_touch("version").verdict();
    assert_eq!((stale(&v), v.legit_rejected, v.lost_updates, v.corruption), ((1, 0, 0), 1, 0, 0));
}

#[test]
fn b101_a_mark_is_kept_for_each_lock_and_tokens_of_another_lock_are_not_compared() {
    let b = "acquire other; write z = 1; release other";
    let mut case = Case::new(&[("x", 0)])
        .set("resource.check", "token")
        .client("client-a", "0s", "repeat 5; acquire; read x; write x = x + 1; release; end")
        .client("client-b", "5s", b);
    case.scenario.locks.push("other".into());
    let lock = Some("other".to_string());
    let cells = [("z".to_string(), 0)].into();
    let ledger = lockscope::run::ResourceSpec { label: None, cells, lock };
    case.scenario.resources.insert("ledger".into(), ledger);
    let v = case.verdict();
    assert_eq!((v.legit_rejected, stale(&v)), (0, (0, 0, 0)));
    // With one mark for both locks, B's 41 would stand against A's 45, and B would never get in. A
    // gateway in front of both resources keeps one mark for each lock too.
    case.scenario.gateway = true;
    let v = case.set("resource.check", "gateway").verdict();
    assert_eq!((v.legit_rejected, v.grants), (0, 6));
}

#[test]
fn b103_a_mark_that_is_not_durable_lets_the_stale_write_in_after_a_restart() {
    let restart = "at 12500ms crash resource; at 12800ms restart resource";
    for (check, expected) in [("token", (0, 1, 0)), ("token-volatile", (1, 0, 0))] {
        let v = late(check).edits(restart).verdict();
        assert_eq!(stale(&v), expected, "{check}");
        assert_eq!(v.corruption, expected.0, "{check}");
    }
}

#[test]
fn a_racy_resource_lets_a_write_pass_that_it_would_refuse_by_the_time_that_it_is_written() {
    // A's write comes at 10 s, before B's grant at 10.05 s; it is written at 10.5 s, after B's read.
    let mut case = late("token-racy").set("resource.reads", "token").set("resource.gap", "500ms");
    case.edits = lines("pause client-a before write#1 for 8750ms");
    let run = case.run();
    assert_eq!(when(&run, "admit", "resource", 1).0, 10_000_000);
    assert_eq!(when(&run, "accept", "resource", 1).0, 10_500_000);
    assert!(when(&run, "serve", "resource", 2).0 < 10_500_000, "B's read came between");
    let v = &run.judgement.verdict;
    assert_eq!((stale(v), v.lost_updates, v.corruption), ((1, 0, 0), 1, 1));
    // The same moments with an atomic check: A's write stands before B's read.
    let mut atomic = case.set("resource.check", "token");
    atomic.edits = lines("pause client-a before write#1 for 8750ms");
    let v = atomic.verdict();
    assert_eq!((stale(&v), v.harmed()), ((0, 0, 0), false));
}

#[test]
fn what_is_checked_and_not_written_counts_as_pending_and_a_crash_forgets_it() {
    let mut case = late("token-racy").set("resource.gap", "20s").set("request.timeout", "60s");
    case.edits = lines("pause client-a before write#1 for 8750ms");
    let cut = case.until("25s").run();
    assert_eq!(stale(&cut.judgement.verdict), (0, 0, 1));
    let mut case = late("token-racy").set("resource.gap", "20s").set("request.timeout", "60s");
    case.edits = lines("pause client-a before write#1 for 8750ms; at 12s crash resource");
    let run = case.until("25s").run();
    assert_eq!(count(&run, "void"), 2, "A's write and B's");
    assert_eq!(stale(&run.judgement.verdict), (0, 0, 0));
}

#[test]
fn a_claim_is_needed_where_claims_are_checked_and_a_newer_one_shuts_the_older_out() {
    // Without any claim nobody is let in.
    let run = late("claim").run();
    assert_eq!((count(&run, "serve"), count(&run, "accept"), count(&run, "claim")), (0, 0, 0));
    assert!(count(&run, "reject") > 0);
    let run = claiming(late("claim")).run();
    assert_eq!((count(&run, "mark"), count(&run, "accept")), (2, 1));
    // A claim touches no cell: no version is made, and nothing of it can be lost.
    assert_eq!(run.judgement.verdict.corruption + run.judgement.verdict.torn_sections, 0);
    let told = lockscope::narrate::log(&run);
    assert!(told.contains("Client A claims the resource for itself, with token 41."), "{told}");
    assert!(
        told.contains("Resource takes Client B's claim: whatever is lower than 42 is refused.")
    );
}

/// Random values have no order: where any claim counts, a lower one does too, and the late write is refused.
#[test]
fn where_the_last_claim_counts_a_value_need_not_be_higher_than_the_one_before() {
    let random =
        |check, seed| claiming(late(check)).set("lease.token", "random").seed(seed).verdict();
    let lower = (1..).find(|seed| random("claim", *seed).token_regress == Some(1)).expect("one is");
    let v = random("claim", lower);
    assert!(v.legit_rejected > 0, "the rightful holder is shut out: {v:?}");
    let v = random("last-claim", lower);
    assert_eq!((stale(&v), v.legit_rejected, v.harmed()), ((0, 1, 0), 0, false));
    let run = claiming(late("last-claim")).set("lease.token", "random").seed(lower).run();
    let told = lockscope::narrate::log(&run);
    assert!(told.contains("is let in.") && told.contains(" stands."), "{told}");
}

#[test]
fn a_claim_goes_to_every_resource_that_the_lock_guards() {
    let mut case = Case::new(&[("x", 0)]).set("resource.check", "claim").client(
        "client-a",
        "0s",
        "acquire; claim; write x = 1; write z = 1; release",
    );
    let cells = [("z".to_string(), 0)].into();
    let ledger = lockscope::run::ResourceSpec { label: None, cells, lock: None };
    case.scenario.resources.insert("ledger".into(), ledger);
    let run = case.run();
    assert_eq!((count(&run, "mark"), count(&run, "accept"), count(&run, "reject")), (2, 2, 0));
}

#[test]
fn a_session_check_speaks_of_the_past_where_lock_and_data_are_two_stores() {
    // The service says yes at 10.0 s; the lease ends at 10.05 s, B is granted the lock and reads;
    // the answer is held up on its way, and A's write is applied after that.
    let mut case = late("session").set("request.timeout", "10s");
    case.edits =
        lines("pause client-a before write#1 for 8550ms; delay lock-service>resource#2 by 400ms");
    let run = case.run();
    assert_eq!(count(&run, "inquire"), 4);
    let v = &run.judgement.verdict;
    assert_eq!((stale(v), v.corruption), ((1, 0, 0), 1), "{}", lockscope::narrate::log(&run));
    // Random values will do here: the service knows whose they are.
    let v = late("session").set("lease.token", "random").seed(6).verdict();
    assert_eq!((stale(&v), v.harmed()), ((0, 1, 0), false));
}

#[test]
fn a_resource_that_cannot_ask_the_service_refuses() {
    let case = late("session").edits("at 13s crash lock-service");
    let run = case.run();
    let told = lockscope::narrate::log(&run);
    assert_eq!(stale(&run.judgement.verdict).0, 0, "{told}");
    assert!(told.contains("Lock service does not answer"), "{told}");
}

fn through(gateway: &str) -> Case {
    let mut case = late("gateway").set("gateway.order", gateway);
    case.scenario.gateway = true;
    case
}

#[test]
fn a_gateway_stops_what_goes_through_it_and_nothing_that_goes_around() {
    let v = through("concurrent").verdict();
    assert_eq!((stale(&v), v.harmed()), ((0, 1, 0), false));
    let run = through("concurrent").edits("set gateway.bypass client-a").run();
    let v = &run.judgement.verdict;
    assert_eq!((stale(v), v.corruption), ((1, 0, 0), 1));
    assert_eq!(count(&run, "forward"), 2, "B's read and write alone go through");
    // The one that is checked is at the gateway, not at the resource.
    let run = through("concurrent").run();
    let names = run.names();
    let rejects = run.record.events.iter().filter(|e| kind::kind(e) == "reject");
    assert!(rejects.into_iter().all(|e| names.node(e.node).id == "gateway"));
}

#[test]
fn a_gateway_has_a_gap_of_its_own_unless_it_lets_one_through_at_a_time() {
    // A's write is checked while 42 is unknown, and held up on its way to the resource. B's read and
    // write go through meanwhile, each checked: 41 is written over 42.
    let held = "pause client-a before write#1 for 8650ms; delay gateway>resource#2 by 4s";
    let case = |order: &str| {
        let mut case = through(order).set("resource.reads", "token").set("request.timeout", "20s");
        case.edits = lines(held);
        case
    };
    let v = case("concurrent").verdict();
    assert_eq!((stale(&v), v.corruption, v.lost_updates), ((1, 0, 0), 1, 1));
    let run = case("serial").run();
    let v = &run.judgement.verdict;
    assert!(!v.harmed(), "{}", lockscope::narrate::log(&run));
    // One that gives up waiting is overtaken too: a time-out is an unknown.
    let impatient = case("serial").set("request.timeout", "2s").verdict();
    assert_eq!((impatient.stale_accepted, impatient.corruption), (1, 1));
}

#[test]
fn what_a_crashed_gateway_had_is_lost_and_its_mark_is_not() {
    let mut case = through("concurrent").set("resource.gap", "5s").set("request.timeout", "20s");
    case.edits = lines("at 3s crash gateway; at 4s restart gateway");
    let run = case.run();
    assert_eq!(count(&run, "void"), 1);
    let restart = "at 12500ms crash gateway; at 12800ms restart gateway";
    let v = through("concurrent").edits(restart).verdict();
    assert_eq!((stale(&v), v.harmed()), ((0, 1, 0), false));
}

#[test]
fn a_forwarded_write_that_is_lost_leaves_nothing_in_the_air() {
    let mut case = through("concurrent");
    case.edits = lines("drop gateway>resource#2");
    let v = case.verdict();
    assert_eq!(stale(&v), (0, 0, 0));
    assert!(!v.harmed(), "{v:?}");
    assert_eq!(v.invariant_judged.map(|n| n > 0), Some(true), "every section settles");
}

#[test]
fn settings_that_need_a_gateway_or_a_client_say_so() {
    let text = errors(&late("gateway"));
    assert!(text.contains("the scenario has no gateway; write `gateway = true` in it"), "{text}");
    let text = errors(&late("none").edits("set resource.check gateway"));
    assert!(text.contains("has no gateway"), "{text}");
    let text = errors(&through("serial").edits("set gateway.bypass client-x"));
    assert!(text.contains("expected one of `none`, `client-a` and `client-b`"), "{text}");
    assert!(errors(&through("serial").edits("at 3s set gateway.bypass client-a")).is_empty());
    let text = errors(&late("none").client("client-a", "0s", "insert y = 1"));
    assert!(text.contains("no cell `y`"), "{text}");
}

#[test]
fn ten_workers_insert_one_key_and_one_row_is_there() {
    let mut case = Case::new(&[("row", 0)]).invariant("done == 1");
    for n in 0..10 {
        let id = format!("client-{}", (b'a' + n) as char);
        case = case.client(&id, "0s", &format!("insert row = {}", n + 1));
    }
    let run = case.run();
    let v = &run.judgement.verdict;
    assert_eq!((count(&run, "accept"), count(&run, "reject")), (1, 9));
    assert!(!v.harmed(), "{v:?}");
    assert_eq!((v.legit_rejected, v.invariant_broken), (0, Some(0)));
}

#[test]
fn a_conditional_write_is_decided_where_it_is_written() {
    // UPDATE job SET state = 1 WHERE state = 0: one of the two wins, whoever was slow.
    let take = "read state; work 1s; write state = 1 where state == 0; if rejected goto out; \
                write owner = 7; out:";
    let case = Case::new(&[("state", 0), ("owner", 0)])
        .client("client-a", "0s", take)
        .client("client-b", "10ms", take);
    let run = case.run();
    assert_eq!((count(&run, "accept"), count(&run, "reject")), (2, 1));
    assert!(!run.judgement.verdict.harmed());
    // The client's own numbers may stand in the condition too.
    let take = "read state as seen; write state = seen + 1 where state == seen and owner < 5";
    let run = Case::new(&[("state", 3), ("owner", 4)]).client("client-a", "0s", take).run();
    assert_eq!((count(&run, "accept"), count(&run, "reject")), (1, 0));
}

#[test]
fn an_optimistic_retry_is_a_new_section_even_under_a_lock() {
    for (retry, check) in [
        ("again:; read x; work 1s; write x = x + 1 where version; if rejected goto again", "none"),
        ("again:; read x; work 1s; write x = x + 1; if rejected goto again", "version"),
    ] {
        let case = Case::new(&[("x", 0)])
            .set("resource.check", check)
            .invariant("x == done")
            .client("client-a", "0s", &format!("acquire; {retry}; release"))
            .client("client-b", "10ms", retry)
            .client("client-c", "20ms", retry);
        let run = case.run();
        let v = &run.judgement.verdict;
        assert!(!v.harmed(), "{}", lockscope::narrate::log(&run));
        assert!(count(&run, "reject") > 0, "somebody had to try again");
        assert_eq!((v.invariant_broken, count(&run, "accept")), (Some(0), 3));
    }
}

#[test]
fn an_aba_fools_a_comparison_of_values_and_not_one_of_versions() {
    let b = "write x = 2; write x = 1";
    for (condition, accepted) in [("x == 1", true), ("version", false)] {
        let a = format!("read x; work 5s; write x = 9 where {condition}");
        let run =
            Case::new(&[("x", 1)]).client("client-a", "0s", &a).client("client-b", "1s", b).run();
        assert_eq!(count(&run, "accept") == 3, accepted, "{condition}");
    }
}

#[test]
fn a_second_write_whose_condition_fails_tears_its_section() {
    let a = "read X; read Y; write X = X - 40; write Y = Y + 40 where version";
    let case = Case::new(&[("X", 100), ("Y", 0)])
        .invariant("X + Y >= 100")
        .client("client-a", "0s", a)
        .client("client-b", "0s", "sleep 280ms; write Y = 5");
    let v = case.verdict();
    assert_eq!((v.torn_sections, v.legit_rejected), (1, 0), "{v:?}");
}

#[test]
fn a_timestamp_goes_back_with_the_clock_and_locks_the_rightful_holder_out() {
    let case = Case::new(&[("x", 0)])
        .set("lease.token", "timestamp")
        .set("resource.check", "token")
        .client("client-a", "20s", "acquire; write x = 1; release")
        .client("client-b", "25s", "acquire; write x = 2; release");
    let v = case.verdict();
    assert_eq!((v.token_regress, v.legit_rejected), (Some(0), 0));
    // Two regimes of the clock: what comes later has the lower number.
    let v = case.edits("at 23s clock lock-service -8s").verdict();
    assert_eq!((v.token_regress, v.legit_rejected), (Some(1), 1));
}

#[test]
fn a_token_that_is_read_later_may_be_the_number_of_the_newer_holder() {
    let case = late("token").set("lease.token", "read-late");
    let mut case = case.client("client-a", "0s", "acquire; read x; write x = x - 10; release");
    case.edits = lines("at 80ms pause client-a for 11s");
    let run = case.run();
    let tokens: Vec<u64> = run
        .record
        .events
        .iter()
        .filter(|e| kind::kind(e) == "mint")
        .filter_map(|e| kind::token(&run.record, e))
        .map(|t| t.0)
        .collect();
    assert_eq!(tokens, [42, 42], "{}", lockscope::narrate::log(&run));
    let v = &run.judgement.verdict;
    assert_eq!((v.token_regress, v.stale_accepted, v.corruption), (Some(1), 1, 1));
}

#[test]
fn what_lies_between_check_and_write_is_shown() {
    let mut case = late("token-racy").set("resource.gap", "500ms");
    case.edits = lines("");
    let run = case.run();
    let admitted = run.record.events.iter().position(|e| kind::kind(e) == "admit").expect("one");
    let world = run.world_at(lockscope::sim::EventId(admitted as u32));
    let knows = lockscope::narrate::knows(&run, &world);
    let resource = knows.last().expect("the resource stands last");
    let line = ("checked, not written".to_string(), "Client A x = 90".to_string());
    assert!(resource.lines.contains(&line), "{:?}", resource.lines);
}

#[test]
fn belief_is_one_thing_and_the_claim_another() {
    let run = claiming(late("claim")).run();
    let beliefs = run.judgement.intervals.iter().filter(|i| i.kind == IntervalKind::Belief);
    assert_eq!(beliefs.count(), 2);
}

#[test]
fn a_copy_of_a_write_is_checked_like_any_other_and_leaves_nothing_open() {
    let copied = |check: &str, order: &str| {
        let mut case = late(check).set("gateway.order", order);
        case.scenario.gateway = check == "gateway";
        let to = if check == "gateway" { "gateway" } else { "resource" };
        case.edits = lines(&format!("duplicate client-a>{to}#2"));
        case.run()
    };
    for (check, order, accepted, rejected) in [
        ("token", "concurrent", 3, 0),
        ("token-once", "concurrent", 2, 1),
        ("token-racy", "concurrent", 3, 0),
        ("session", "concurrent", 3, 0),
        ("version", "concurrent", 2, 1),
        ("gateway", "concurrent", 3, 0),
        ("gateway", "serial", 3, 0),
    ] {
        let run = copied(check, order);
        let counted = (count(&run, "accept"), count(&run, "reject"));
        let told = lockscope::narrate::log(&run);
        assert_eq!(counted, (accepted, rejected), "{check} {order}: {told}");
        let v = &run.judgement.verdict;
        assert_eq!((v.stale_pending, v.torn_sections), (0, 0), "{check} {order}: {told}");
        assert!(v.invariant_judged > Some(0), "{check} {order}: every section settles");
    }
    // A unique key takes the first copy and refuses the second.
    let mut case = Case::new(&[("row", 0)]).client("client-a", "0s", "insert row = 1; work 1s");
    case.edits = lines("duplicate client-a>resource#1");
    let run = case.run();
    assert_eq!((count(&run, "accept"), count(&run, "reject")), (1, 1));
    assert!(!run.judgement.verdict.harmed());
}

#[test]
fn a_resource_turns_to_the_next_server_when_one_does_not_answer_or_is_out_of_the_quorum() {
    let case = || {
        let mut case = Case::new(&[("x", 0)]);
        case.scenario.system = "zookeeper".into();
        case.scenario.settings = Default::default();
        case.set("zookeeper.servers", "3").set("resource.check", "session").client(
            "client-b",
            "0s",
            "sleep 14s; acquire; read x; work 9s; write x = x + 1; release",
        )
    };
    for edits in [
        "at 3s kill zk-a",
        "at 3s pause zk-a for 50s",
        "at 3s cut resource zk-a for 50s",
        // Without its leader and the other follower it leaves the quorum, and says so.
        "at 3s cut {zk-a}|{zk-b zk-c} for 50s",
    ] {
        let run = case().edits(edits).run();
        let v = &run.judgement.verdict;
        let log = lockscope::narrate::log(&run);
        assert_eq!((v.grants, v.legit_rejected), (1, 0), "{edits}: {v:?}\n{log}");
        assert!(log.contains("ZooKeeper B"), "{edits}");
    }
    // A minority is no service: nobody can say who holds.
    let run = case().edits("at 20s kill zk-b; at 20s kill zk-c").run();
    assert!(run.judgement.verdict.legit_rejected > 0);
}
