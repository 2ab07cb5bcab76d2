//! What a scenario can say and how it is answered where it says something wrong: the words of
//! programs, locks by name, and messages.

mod support;

use lockscope::run::{Run, compile, kind};
use lockscope::sim::{Limit, Micros};
use lockscope::systems::Registry;
use support::{Case, when};

/// All that is wrong with a scenario.
fn wrong(case: &Case) -> Vec<String> {
    let errors = compile(&case.scenario, &case.edits, &Registry::standard()).expect_err("wrong");
    errors.iter().map(ToString::to_string).collect()
}

/// The one thing that is wrong with a program of client A.
fn wrong_line(program: &str) -> String {
    let case = Case::new(&[("x", 0)]).client("client-a", "0s", program);
    let errors = wrong(&case.client("client-b", "0s", ""));
    assert_eq!(errors.len(), 1, "{errors:#?}");
    errors[0].clone()
}

fn kinds(run: &Run, node: &str) -> Vec<&'static str> {
    let node = run.names().find(node).expect("the node exists");
    run.record.events.iter().filter(|e| e.node == node).map(kind::kind).collect()
}

/// A and B write one cell, each under a lock of its own.
fn left_and_right() -> Case {
    let program = |lock: &str| {
        format!(
            "acquire {lock}; read x under {lock}; work 1s; write x = x + 1 under {lock}; \
             release {lock}"
        )
    };
    let mut case = Case::new(&[("x", 0)])
        .invariant("x == done")
        .client("client-a", "0s", &program("left"))
        .client("client-b", "300ms", &program("right"));
    case.scenario.locks = vec!["left".into(), "right".into()];
    case
}

#[test]
fn two_locks_for_one_cell_exclude_nobody_and_their_tokens_cannot_be_compared() {
    let v = left_and_right().verdict();
    // Nobody is late, nobody believes against another: each lock did all that it promised.
    assert_eq!((v.overlap_us, v.stale_attempts, v.outlived), (0, 0, 0));
    assert_eq!((v.lost_updates, v.corruption, v.invariant_broken), (1, 1, Some(1)));
    // A check helps only where it does not compare what the locks hand out.
    for (check, harm) in [("token", 1), ("token-once", 1), ("session", 1), ("version", 0)] {
        let v = left_and_right().set("resource.check", check).verdict();
        assert_eq!(v.corruption, harm, "{check}");
    }
    // The same program under one lock is right.
    let one = left_and_right().client(
        "client-b",
        "300ms",
        "acquire left; read x under left; work 1s; write x = x + 1 under left; release left",
    );
    assert!(!one.verdict().harmed());
}

#[test]
fn each_lock_counts_its_own_tokens_and_a_resource_keeps_a_mark_for_each() {
    let case =
        || left_and_right().set("resource.check", "token").set("lock.first_token.right", "7");
    let run = case().run();
    let tokens: Vec<Option<u64>> = run
        .judgement
        .intervals
        .iter()
        .filter(|i| i.kind == lockscope::judge::IntervalKind::Truth)
        .map(|i| i.token.map(|t| t.0))
        .collect();
    assert_eq!(tokens, [Some(41), Some(7)]);
    assert_eq!(run.compiled.settings.text("lock.first_token.right"), "7");
    assert_eq!(run.compiled.settings.text("lock.first_token.left"), "41");
    // 7 is below 41, and is let in: it is of another lock.
    assert_eq!(run.judgement.verdict.stale_rejected + run.judgement.verdict.legit_rejected, 0);
    let no_lock = case().set("lock.first_token.rihgt", "1");
    assert!(wrong(&no_lock)[0].contains("the locks are `left` and `right`"));
    let text = case().set("lock.first_token.left", "many");
    assert!(
        wrong(&text)[0].contains("found `many` for lock.first_token.left, expected a whole number")
    );
    assert!(wrong(&case().edits("at 3s set lock.first_token.right 9"))[0].contains("whole run"));
    assert!(case().edits("set lock.first_token.right 9").run().unused_edits.is_empty());
    // Whoever claims for a lock reaches the resources that programs name it for.
    let claims = left_and_right().set("resource.check", "claim").client(
        "client-b",
        "0s",
        "acquire right; claim right; write x = 5 under right",
    );
    assert!(kinds(&claims.run(), "resource").contains(&"mark"));
    let unheard = left_and_right().client("client-b", "0s", "acquire right; claim right");
    let errors = wrong(&unheard);
    assert_eq!(
        errors,
        [
            "clients.client-b.program.1, character 7: the lock `right` guards no cell, so nobody hears a claim"
        ]
    );
}

#[test]
fn a_client_that_declares_its_lock_lost_believes_no_more_and_the_service_is_told_nothing() {
    let run = Case::new(&[("x", 0), ("y", 0)])
        .client("client-a", "0s", "acquire; write x = 1; work 1s; give-up; work 2s; write y = 1")
        .client("client-b", "500ms", "acquire; release")
        .run();
    let v = &run.judgement.verdict;
    let gives_up = when(&run, "doubt", "client-a", 1);
    assert_eq!(gives_up.0, 1_200_000);
    // The service keeps the lease to its end, and B waits for it.
    assert_eq!(when(&run, "expire", "lock-service", 1).0, 10_050_000);
    assert_eq!(when(&run, "grant", "lock-service", 2).0, 10_050_000);
    assert!(!kinds(&run, "client-a").contains(&"release"));
    // Its section was dropped there; a careless program went on in it and wrote the rest.
    assert_eq!((v.torn_sections, v.overlap_us, v.loss_unreported), (0, 0, 0));
    assert_eq!((v.outlived, v.broken_promises), (1, 0), "it had given its promise up");
    assert!(v.orphan_us > 8_000_000);
    let said = lockscope::narrate::log(&run);
    assert!(said.contains("Client A declares the lock lost, and tells nobody."), "{said}");
    // No handler runs: it knew before it said so.
    let handled = Case::new(&[("x", 0)]).client("client-a", "0s", "acquire; give-up; work 1s");
    let mut handled = handled;
    let client = handled.scenario.clients.get_mut("client-a").expect("it is there");
    client.on.insert("lost".into(), vec!["write x = 1".into()]);
    assert!(!kinds(&handled.run(), "client-a").contains(&"handle"));
    // Dropped with a write still to come, and never written: torn.
    let torn = Case::new(&[("x", 0), ("y", 0)]).client(
        "client-a",
        "0s",
        "acquire; write x = 1; if ok goto out; write y = 1; out:; give-up",
    );
    assert_eq!(torn.verdict().torn_sections, 1);
}

#[test]
fn messages_say_what_was_meant() {
    let said = wrong_line("work 5 s");
    assert!(
        said.ends_with("found `5 s`, expected `5s`: the unit follows its number without a space")
    );
    let said = wrong_line("let ok = 1");
    assert!(said.contains("`ok` is the word of an outcome, as in `if ok goto …`"), "{said}");
    let said = wrong_line("read x as timeout");
    assert!(said.contains("`timeout` is the word of an outcome"), "{said}");
    let said = wrong_line("let 5 = 1");
    assert!(said.ends_with("found `5`, expected the name of a local"), "{said}");
    let said = wrong_line("read x under key");
    assert!(said.ends_with("no lock `key`; the locks are `lock`"), "{said}");

    let case = Case::new(&[("x", 0)]).client("client-a", "0s", "if quit == 1 goto out; out:");
    let errors = wrong(&case.task("client-a", "heartbeat", "renew; let quit = 1"));
    let hint = "the task `heartbeat` sets it, and all tasks of a client share their locals: give it \
                a first value here, such as `let quit = 0`";
    assert!(errors.len() == 1 && errors[0].ends_with(hint), "{errors:#?}");

    let many = vec!["drop client-a>resource#1"; 201].join(";");
    let errors = wrong(&Case::new(&[("x", 0)]).client("client-a", "0s", "read x").edits(&many));
    assert_eq!(errors, ["edits.200, character 1: found 201 edits, expected at most 200 in a run"]);
}

/// awslabs and others, as cirello-io/dynamolock#280 tells it: a renewal is applied, its answer is lost,
/// and the library declares the lock lost although the service has just renewed it.
#[test]
fn whoever_takes_a_lost_answer_for_a_lost_lock_leaves_a_lease_that_nobody_uses() {
    let case = |heartbeat: &str| {
        Case::new(&[("x", 0)])
            .set("lease.ttl", "20s")
            .client("client-a", "0s", "acquire; work 30s; write x = 1; release")
            .task("client-a", "heartbeat", heartbeat)
            .client("client-b", "2s", "acquire; write x = 2; release")
            .edits("drop lock-service>client-a#2")
            .run()
    };
    let run = case("loop; sleep 5s; renew; if timeout goto lost; end; lost:; give-up; stop main");
    let v = &run.judgement.verdict;
    let (renewed, declared) =
        (when(&run, "extend", "lock-service", 1), when(&run, "doubt", "client-a", 1));
    assert_eq!((renewed.0, declared.0), (5_050_000, 7_000_000));
    // The lease stands until 20 s after the renewal: nobody holds it, and B waits.
    assert_eq!(v.orphan_us, 25_050_000 - 7_000_000);
    assert_eq!(when(&run, "grant", "lock-service", 2).0, 25_050_000);
    assert_eq!((v.overlap_us, v.loss_unreported, v.double_grant), (0, 0, 0));
    assert!(!v.harmed());
    // An unknown is no failure: whoever asks again finds its lease there.
    let right = case("loop; sleep 5s; renew; if refused goto lost; end; lost:; stop main");
    assert_eq!(right.judgement.verdict.orphan_us, 0);
    assert!(kinds(&right, "resource").contains(&"accept"));
}

/// Two locks number their grants each for itself; a resource with one mark for both compares what has
/// no order.
#[test]
fn one_mark_for_two_locks_refuses_a_rightful_holder_for_ever() {
    let case = |marks: &str| {
        let mut case = Case::new(&[("row", 0)])
            .set("resource.check", "token")
            .set("resource.marks", marks)
            .client("client-a", "0s", "acquire a; write row = 1 under a; release a")
            .client("client-b", "3s", "repeat 3; acquire b; write row = 2 under b; release b; end");
        case.scenario.locks = vec!["a".into(), "b".into()];
        case.set("lock.first_token.a", "1000").set("lock.first_token.b", "5")
    };
    let run = case("shared").run();
    let v = &run.judgement.verdict;
    assert_eq!((v.legit_rejected, v.stale_attempts, v.overlap_us), (3, 0, 0));
    let said = lockscope::narrate::headline(&run);
    assert_eq!(said.word, "The rightful holder was refused.");
    let refused = run.record.events.iter().position(|e| kind::kind(e) == "reject");
    let refused = lockscope::sim::EventId(refused.expect("B is refused") as u32);
    let by = lockscope::run::why::refuser(&run, refused).expect("there is a reason");
    assert_eq!(kind::kind(run.record.event(by)), "accept", "A's write raised the mark");
    let v = case("per-lock").verdict();
    assert_eq!((v.legit_rejected, v.stale_attempts), (0, 0));
}

#[test]
fn a_run_whose_time_stands_still_ends_and_says_so() {
    let run = Case::new(&[])
        .set("acquire.wait", "retry")
        .set("acquire.retry", "0s")
        .set("link.delay", "0s")
        .client("client-a", "0s", "acquire; work 5s; release")
        .client("client-b", "1s", "acquire; release")
        .run();
    let (limit, _) = run.limit().expect("a limit");
    assert_eq!(limit, Limit::AtOnce);
    assert_eq!(run.record.events.last().expect("an event").at, Micros::from_secs(1));
    let all_at_once = run.record.events.iter().filter(|e| e.at == Micros::from_secs(1)).count();
    assert!((2_000..2_010).contains(&all_at_once), "{all_at_once}");
}
