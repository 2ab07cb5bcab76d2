//! Renewal and release, correct and careless; what a client does when its lock is gone; and each of the
//! judges of the public reports, shown by a run.

mod support;

use lockscope::judge::Verdict;
use lockscope::run::{Run, kind};
use support::{Case, lines, race, when};

const BEAT: &str = "loop; sleep 3s; renew; end";

/// A renews while it works for 15 s; B wants the lock too.
fn train() -> Case {
    Case::new(&[("x", 100)])
        .invariant("x == 100 - 10 * done")
        .client("client-a", "0s", "acquire; read x; work 15s; write x = x - 10; release")
        .task("client-a", "heartbeat", BEAT)
        .client("client-b", "1s", "acquire; read x; work 1s; write x = x - 10; release")
}

fn count(run: &Run, what: &str) -> usize {
    run.record.events.iter().filter(|e| kind::kind(e) == what).count()
}

fn counts(v: &Verdict) -> (u64, u64, u64) {
    (v.stale_accepted, v.stale_rejected, v.corruption)
}

#[test]
fn a_heartbeat_keeps_the_lease_for_as_long_as_the_work_takes() {
    let run = train().run();
    let v = &run.judgement.verdict;
    assert!(!v.harmed());
    assert_eq!((count(&run, "extend"), count(&run, "expire")), (4, 0));
    assert_eq!((v.renewal_failures, v.invariant_broken), (Some(0), Some(0)));
}

#[test]
fn corruption_comes_after_a_renewal_that_was_accepted_a_second_ago() {
    // The renewal of 12 s is accepted; A stops at 12.2 s with its write still to send.
    let case = train().edits("at 14500ms pause client-a for 14s");
    let run = case.run();
    let v = &run.judgement.verdict;
    assert_eq!(when(&run, "extend", "lock-service", 4).0, 12_350_000);
    assert_eq!((v.corruption, v.lost_updates), (1, 1), "{}", lockscope::narrate::log(&run));
    let v = case.edits("set resource.check token").verdict();
    assert_eq!((counts(&v), v.harmed()), ((0, 1, 0), false));
}

/// The link to the service is cut for so long that the lease ends; the one to the resource is whole.
fn cut_off() -> Case {
    train().edits("at 4s cut client-a lock-service for 20s")
}

#[test]
fn what_a_client_does_about_a_lost_lease_decides_between_lost_work_and_lost_safety() {
    let on_lost = |case: Case, policy: &str| {
        // A renewal that times out tells nobody anything; a look at one's own clock does.
        case.task("client-a", "heartbeat", "loop; sleep 3s; renew; check; end")
            .set("renew.failure", policy)
    };
    let carried = on_lost(cut_off(), "carry-on").run();
    assert_eq!(counts(&carried.judgement.verdict), (1, 0, 1));
    let stopped = on_lost(cut_off(), "stop").run();
    let v = &stopped.judgement.verdict;
    assert_eq!((v.stale_attempts, v.harmed()), (0, false));
    let client = stopped.names().find("client-a").expect("it exists");
    let mut writes = stopped.record.events.iter().filter(|e| kind::kind(e) == "write");
    assert!(writes.all(|e| e.node != client), "its work is lost");
    // A stop comes too late where nothing is noticed: a process that stands still looks at no clock.
    let paused = on_lost(train(), "stop").edits("at 14500ms pause client-a for 14s").run();
    assert_eq!(paused.judgement.verdict.corruption, 0, "its heartbeat comes first");
}

fn transfer(policy: &str) -> Case {
    let move_40 = "acquire; read X; read Y; write X = X - 40; work 12s; write Y = Y + 40; release";
    let mut case = Case::new(&[("X", 100), ("Y", 0)])
        .invariant("X + Y == 100")
        .set("renew.failure", policy)
        .client("client-a", "0s", move_40)
        .task("client-a", "watch", "sleep 9s; check; sleep 800ms; check; sleep 200ms; check");
    let a = case.scenario.clients.get_mut("client-a").expect("it exists");
    a.on.insert("undo".into(), lines("read X; write X = X + 40"));
    case
}

#[test]
fn a_client_that_stops_leaves_half_and_one_that_undoes_leaves_nothing() {
    let v = transfer("stop").verdict();
    assert_eq!((v.torn_sections, v.invariant_broken), (1, Some(1)));
    let run = transfer("stop-and-undo").run();
    let v = &run.judgement.verdict;
    assert_eq!((v.torn_sections, v.invariant_broken, v.harmed()), (0, Some(0), false));
    assert_eq!((count(&run, "handle"), count(&run, "accept")), (1, 2));
    // Carrying on, A writes the other half late, and nobody was there. For a while nobody was at work
    // and half of it was written: that the judge saw.
    let v = transfer("carry-on").verdict();
    assert_eq!((v.torn_sections, v.outlived, v.invariant_broken), (0, 1, Some(1)));
}

#[test]
fn an_undo_that_the_fence_refuses_leaves_the_half_behind() {
    let b = "acquire; read X; read Y; write X = X - 10; write Y = Y + 10; release";
    let case = transfer("stop-and-undo")
        .set("resource.check", "token")
        .set("lease.deadline", "none")
        .task("client-a", "watch", "sleep 11s; renew")
        .client("client-b", "1s", b);
    let v = case.verdict();
    assert_eq!((v.torn_sections, v.stale_rejected), (1, 1), "{v:?}");
}

#[test]
fn a_section_that_was_undone_is_not_done() {
    let a = "acquire; read x; write x = x - 10; work 12s; release";
    let mut case = Case::new(&[("x", 100)])
        .invariant("x == 100 - 10 * done")
        .set("renew.failure", "stop-and-undo")
        .client("client-a", "0s", a)
        .task("client-a", "watch", "sleep 10s; check");
    let client = case.scenario.clients.get_mut("client-a").expect("it exists");
    client.on.insert("undo".into(), lines("read x; write x = x + 10"));
    let v = case.verdict();
    assert_eq!((v.harmed(), v.invariant_judged), (false, Some(1)), "{v:?}");
}

#[test]
fn two_grants_at_once_by_a_service_that_forgets() {
    let v = race()
        .set("lease.store", "memory")
        .set("request.timeout", "1s")
        .edits("at 2s crash lock-service; at 2100ms restart lock-service")
        .verdict();
    assert!(v.double_grant == 1 && v.broken_promises == 1, "{v:?}");
}

#[test]
fn two_believers_and_for_how_long() {
    // B hears of its grant 0.4 s after the end of A's, and works for 2.2 s; A sleeps on.
    let run = race().run();
    let v = &run.judgement.verdict;
    let [began, ended] = ["believe", "doubt"].map(|what| when(&run, what, "client-b", 1));
    assert_eq!(v.overlap_us, ended.since(began).0);
    assert!(when(&run, "expire", "lock-service", 1) < began && v.overlap_us > 2_000_000);
    let in_time = Case::new(&[]).client("client-a", "0s", "acquire; release").verdict();
    assert_eq!(in_time.overlap_us, 0);
}

#[test]
fn a_stale_effect_is_accepted() {
    assert_eq!(race().verdict().stale_accepted, 1);
    assert_eq!(race().edits("set resource.check token").verdict().stale_accepted, 0);
}

#[test]
fn an_update_is_lost() {
    assert_eq!(race().verdict().lost_updates, 1);
    assert_eq!(race().edits("set resource.check version").verdict().lost_updates, 0);
}

/// A overruns its lease; B holds the lock when A ends it; C gets in while B works.
fn unconditional(rule: &str) -> Case {
    let work = "acquire; read x; work 6s; write x = x + 1; release";
    Case::new(&[("x", 0)])
        .set("release.rule", rule)
        .client("client-a", "0s", "acquire; work 12s; release")
        .client("client-b", "1s", work)
        .client("client-c", "2s", work)
}

#[test]
fn a_careless_release_ends_anothers_lock() {
    let run = unconditional("careless").run();
    let v = &run.judgement.verdict;
    // B’s own release, careless too, then ends C’s.
    assert_eq!((v.foreign_release, v.double_grant, v.broken_promises), (2, 1, 2));
    assert!(v.overlap_us > 0 && v.corruption > 0, "{}", lockscope::narrate::log(&run));
    assert_eq!(count(&run, "remove"), 2);
    let v = unconditional("correct").verdict();
    assert_eq!((v.foreign_release, v.double_grant, v.corruption), (0, 0, 0));
    // A question first is enough where the lease is long over ...
    assert_eq!(unconditional("get-then-del").verdict().foreign_release, 0);
}

#[test]
fn get_then_del_has_room_for_an_expiry_in_between() {
    // ... and not where it ends between the question and the release.
    let case = |rule: &str| {
        unconditional(rule)
            .client("client-a", "0s", "acquire; work 9700ms; release")
            .edits("at 9850ms pause client-a for 2s")
    };
    let run = case("get-then-del").run();
    let v = &run.judgement.verdict;
    assert_eq!((v.foreign_release, v.double_grant), (1, 1), "{}", lockscope::narrate::log(&run));
    assert_eq!((count(&run, "ask-holder"), count(&run, "remove")), (3, 1));
    assert_eq!(case("correct").verdict().foreign_release, 0);
}

#[test]
fn a_lock_that_nobody_holds() {
    let v = Case::new(&[])
        .client("client-a", "0s", "acquire; work 1s; release")
        .edits("drop client-a>lock-service#2")
        .verdict();
    // It waits for an answer to its release from 1.1 s to 3.1 s; its lease ends at 10.05 s.
    assert_eq!(v.orphan_us, 10_050_000 - 3_100_000);
}

#[test]
fn a_heartbeat_makes_a_stuck_holder_immortal() {
    let v = Case::new(&[])
        .client("client-a", "0s", "acquire; sleep 2m; release")
        .task("client-a", "heartbeat", BEAT)
        .client("client-b", "1s", "acquire; release")
        .verdict();
    assert_eq!((v.stalled, v.false_expiry), (1, 0));
}

#[test]
fn a_token_that_does_not_grow() {
    let v = race().set("lease.token", "random").seed(6).verdict();
    assert_eq!(v.token_regress, Some(1));
    assert_eq!(race().verdict().token_regress, Some(0));
}

#[test]
fn a_queue_wakes_one_for_each_release() {
    let mut case = Case::new(&[]);
    for id in ["client-a", "client-b", "client-c", "client-d"] {
        case = case.client(id, "0s", "acquire; work 1s; release");
    }
    let metrics = case.run().judgement.metrics;
    assert_eq!((metrics.releases, metrics.wakeups), (4, 3));
    // Readers who wait for one writer are woken together, and all of them are needed.
    let mut case = Case::new(&[]).client("client-a", "0s", "acquire; work 1s; release");
    for id in ["client-b", "client-c", "client-d"] {
        case = case.client(id, "100ms", "acquire shared; work 1s; release");
    }
    assert_eq!(case.run().judgement.metrics.wakeups, 3);
}

#[test]
fn a_loss_that_its_holder_never_hears_of() {
    assert_eq!(race().verdict().loss_unreported, 1);
    let told = race().client(
        "client-a",
        "0s",
        "acquire; read balance; work 1s; check; if lost goto out; write balance = 1; out:",
    );
    let mut told = told;
    told.edits = lines("pause client-a before check#1 for 12s");
    assert_eq!(told.verdict().loss_unreported, 0);
}

/// A's heartbeat stands still while B comes and goes; then it finds no lease.
fn resurrection(rule: &str) -> Case {
    train().set("renew.rule", rule).edits("at 4s pause client-a for 12s")
}

#[test]
fn a_careless_renewal_hides_that_another_was_there() {
    let run = resurrection("careless").run();
    let v = &run.judgement.verdict;
    assert_eq!((v.silent_reacquire, v.grants), (1, 3), "{}", lockscope::narrate::log(&run));
    assert_eq!((counts(v), v.lost_updates, v.loss_unreported), ((1, 0, 1), 1, 1));
    let told = lockscope::narrate::log(&run);
    assert!(told.contains("without being asked"), "{told}");
    // The lease that was set again is ended by the release, which knows it by its old name.
    assert_eq!(count(&run, "free"), 2);
    let v = resurrection("correct").set("renew.failure", "stop").verdict();
    assert_eq!((v.silent_reacquire, v.stale_attempts, v.harmed()), (0, 0, false));
    // While another holds it, even a careless renewal is refused.
    let held = train()
        .client("client-b", "1s", "acquire; work 9s; release")
        .set("renew.rule", "careless")
        .set("renew.failure", "stop")
        .edits("at 4s pause client-a for 12s");
    assert_eq!(held.verdict().silent_reacquire, 0);
}

#[test]
fn the_rightful_holder_is_refused() {
    let twice = "acquire; write balance = 1; write balance = 2; release";
    let case = race().client("client-b", "1s", twice).set("resource.check", "token-once");
    assert_eq!(case.verdict().legit_rejected, 1);
    assert_eq!(case.set("resource.check", "token").verdict().legit_rejected, 0);
}

#[test]
fn a_belief_ends_by_the_rule_that_the_client_keeps() {
    let a = "acquire; work 12s; check; work 5s";
    let ended = |case: Case| {
        let run = case.run();
        when(&run, "doubt", "client-a", 1)
    };
    let case = || Case::new(&[]).client("client-a", "0s", a);
    // Its own deadline, when it looks at it.
    assert_eq!(ended(case()).0, 12_100_000);
    // A flag: it believes until its program ends, whatever the clock says.
    assert_eq!(ended(case().set("lease.deadline", "none")).0, 17_100_000);
    // A call-back: its renewal is refused, and its handler ends the program.
    let mut told =
        case().set("lease.deadline", "none").task("client-a", "beat", "sleep 11s; renew");
    let client = told.scenario.clients.get_mut("client-a").expect("it exists");
    client.on.insert("lost".into(), lines("stop main"));
    assert_eq!(ended(told).0, 11_100_000);
    // A timer of its own ends it at the deadline, whatever the program does; a margin makes it earlier.
    let timer = case().set("deadline.rule", "timer");
    assert_eq!(ended(timer.set("client.margin", "2s")).0, 8_000_000);
    // Nothing: it never looks and never asks.
    let blind = Case::new(&[]).client("client-a", "0s", "acquire; work 17s");
    assert_eq!(ended(blind).0, 17_100_000);
}

#[test]
fn the_inspector_says_which_rule_a_belief_rests_on() {
    let said = |case: Case| {
        let run = case.run();
        let believed = run.record.events.iter().position(|e| kind::kind(e) == "believe");
        let event = lockscope::sim::EventId(believed.expect("it believes") as u32 + 1);
        let client = run.names().find("client-a").expect("it exists");
        let beliefs = lockscope::narrate::beliefs(&run, &run.world_at(event), client);
        beliefs.into_iter().map(|b| b.words).collect::<Vec<_>>().join(" ")
    };
    let case = || Case::new(&[]).client("client-a", "0s", "acquire; work 5s; check; release");
    let text = said(case());
    assert!(text.contains("only where its program says `check`"), "{text}");
    let text = said(case().set("deadline.rule", "timer"));
    assert!(text.contains("A timer ends the belief"), "{text}");
    let text = said(case().set("lease.deadline", "none"));
    assert!(text.contains("no deadline of its own"), "{text}");
    let blind = Case::new(&[]).client("client-a", "0s", "acquire; work 5s; release");
    let text = said(blind);
    assert!(text.contains("only a refusal or a notice ends the belief"), "{text}");
    // And from when its own deadline is counted.
    let text = said(case());
    assert!(text.contains("Its own deadline is 10.00 s, 10 s after it asked."), "{text}");
    let text = said(case().set("lease.deadline", "receipt"));
    assert!(text.contains("is 10.10 s, 10 s after the grant reached it."), "{text}");
}

#[test]
fn a_margin_leaves_time_to_take_back_what_was_done() {
    // Without it the undo arrives when B was granted the lock; with it B finds nothing.
    let case = |margin: &str| {
        let mut case = transfer("stop-and-undo")
            .set("deadline.rule", "timer")
            .set("client.margin", margin)
            .client("client-b", "1s", "acquire; read X; read Y; write Y = X + Y; release");
        case.scenario.clients.get_mut("client-a").expect("it exists").tasks = Default::default();
        case
    };
    let late = case("0s").verdict();
    assert_eq!(late.stale_attempts, 1, "{late:?}");
    let early = case("1s").verdict();
    assert_eq!((early.stale_attempts, early.torn_sections), (0, 0), "{early:?}");
}
