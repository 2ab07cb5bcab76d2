//! Runs whose verdict is known beforehand, each a thought experiment that a judge can get wrong.

mod support;

use lockscope::judge::IntervalKind;
use lockscope::run::{ResourceSpec, kind};
use support::{Case, overlaps, race, seeds, transfer, when};

#[test]
fn the_lease_race_corrupts_without_a_check_and_is_refused_with_one() {
    let off = race().verdict();
    assert_eq!((off.stale_accepted, off.corruption, off.lost_updates), (1, 1, 1));
    assert_eq!((off.outlived, off.broken_promises, off.invariant_broken), (1, 0, Some(1)));
    assert_eq!((off.false_expiry, off.loss_unreported), (1, 1));
    let on = race().edits("set resource.check token").verdict();
    assert_eq!((on.stale_rejected, on.stale_accepted, on.corruption), (1, 0, 0));
    assert_eq!((on.outlived, on.broken_promises, on.invariant_broken), (1, 0, Some(0)));
    assert!(!on.harmed());
}

#[test]
fn a_fence_can_tear_a_section_that_would_have_come_right_without_it() {
    let on = transfer().edits("set resource.check token").verdict();
    assert_eq!((on.torn_sections, on.invariant_broken), (1, Some(1)));
    assert_eq!((on.stale_rejected, on.corruption, on.lost_updates), (1, 0, 0));
    let off = transfer().verdict();
    assert_eq!(off.stale_accepted, 1);
    assert!(!off.harmed(), "{off:?}");
}

#[test]
fn a_late_write_is_harmless_where_the_newer_holder_only_looked() {
    let case = race().client("client-b", "1s", "acquire; read balance; release");
    let verdict = case.verdict();
    assert_eq!(verdict.stale_accepted, 1);
    assert!(!verdict.harmed(), "{verdict:?}");
}

#[test]
fn an_own_older_write_that_lands_after_the_newer_one_is_a_lost_update() {
    let case = Case::new(&[("x", 0)])
        .client(
            "client-a",
            "0s",
            "acquire; write x = 1 within 1s; write x = 1; write x = 2; work 5s; release",
        )
        .edits("delay client-a>resource#1 by 3s; set resource.check token");
    let run = case.run();
    let verdict = &run.judgement.verdict;
    assert_eq!((verdict.lost_updates, verdict.corruption), (1, 0));
    assert_eq!((verdict.torn_sections, verdict.stale_attempts), (0, 0));
    let tokens: Vec<u64> =
        run.record.messages.iter().filter_map(|m| m.body.token).map(|t| t.0).collect();
    assert!(tokens.iter().all(|t| *t == 41), "every token is 41: {tokens:?}");
}

#[test]
fn belief_outlasts_a_late_write_until_the_next_failed_check_or_the_other_side_releases() {
    let a = "acquire; read balance; work 1s; check; write balance = balance - 10; work 1s; check; \
             work 5s; release";
    let b_holds_for = |work: &str| {
        let b =
            format!("acquire; read balance; work {work}; write balance = balance - 10; release");
        race().client("client-a", "0s", a).client("client-b", "1s", &b).run()
    };
    let long = b_holds_for("6s");
    let believed = when(&long, "believe", "client-b", 1);
    let late_write = when(&long, "accept", "resource", 1);
    let failed_check = when(&long, "check", "client-a", 2);
    assert!(late_write < failed_check);
    assert_eq!(overlaps(&long), [(believed.0, failed_check.0)]);
    let short = b_holds_for("2s");
    let released = when(&short, "release", "client-b", 1);
    assert_eq!(overlaps(&short), [(believed.0, released.0)]);
    assert_eq!(short.judgement.verdict.corruption, 1);
}

#[test]
fn a_lost_release_leaves_an_orphan_and_no_false_expiry() {
    let case = Case::new(&[])
        .client("client-a", "0s", "acquire; work 1s; release")
        .edits("drop client-a>lock-service#2");
    let verdict = case.verdict();
    assert_eq!(verdict.false_expiry, 0);
    // Released at 1.1 s, given up at 3.1 s, expired at 10.05 s.
    assert_eq!(verdict.orphan_us, 6_950_000);
}

#[test]
fn set_then_incr_hands_the_stale_client_the_higher_token() {
    let case = Case::new(&[("x", 0)])
        .set("lease.token", "set-then-incr")
        .set("resource.check", "token")
        .client("client-a", "0s", "acquire; write x = 1; release")
        .client("client-b", "1s", "acquire; work 4s; write x = 2; release")
        .edits("at 80ms pause client-a for 12s");
    let verdict = case.verdict();
    assert_eq!((verdict.token_regress, verdict.legit_rejected), (Some(1), 1));
    assert_eq!(verdict.stale_accepted, 1);
}

#[test]
fn a_write_sent_in_time_can_land_late_and_corrupt_without_any_overlap() {
    let a = "acquire; read balance; write balance = balance - 10 within 1s; release";
    let case = race().client("client-a", "0s", a).client(
        "client-b",
        "500ms",
        "acquire; read balance; write balance = balance - 10; release",
    );
    let mut case = case.set("acquire.wait", "queue");
    case.edits = support::lines("delay client-a>resource#2 by 5s");
    let verdict = case.verdict();
    assert_eq!((verdict.overlap_us, verdict.corruption), (0, 1), "{verdict:?}");
}

#[test]
fn a_lost_write_that_is_sent_again_does_no_harm() {
    let a = "acquire; read balance; again:; write balance = balance - 10 within 1s; \
             if timeout goto again; release";
    let mut case = race().client("client-a", "0s", a);
    case.edits = support::lines("drop client-a>resource#2");
    let verdict = case.verdict();
    assert!(!verdict.harmed(), "{verdict:?}");
    assert_eq!(verdict.invariant_judged.map(|n| n > 0), Some(true));
}

#[test]
fn an_optimistic_retry_does_no_harm() {
    let program =
        "again:; begin; read x; work 1s; write x = x + 1; if rejected goto again; work 1ms";
    let case = Case::new(&[("x", 0)])
        .set("resource.check", "version")
        .invariant("x == done")
        .client("client-a", "0s", program)
        .client("client-b", "500ms", program);
    let run = case.run();
    let verdict = &run.judgement.verdict;
    assert!(!verdict.harmed(), "{verdict:?}");
    assert_eq!(run.judgement.verdict.grants, 0);
    assert!(when(&run, "reject", "resource", 1).0 > 0, "one of the two was refused once");
}

#[test]
fn a_deliberate_abort_does_no_harm() {
    let a = "acquire; read balance; abort; release";
    let verdict = race().client("client-a", "0s", a).verdict_without_edits();
    assert!(!verdict.harmed(), "{verdict:?}");
}

#[test]
fn two_blind_writers_one_after_the_other_do_no_harm() {
    let program = "acquire; write x = 7; release";
    let case =
        Case::new(&[("x", 0)]).client("client-a", "0s", program).client("client-b", "5s", program);
    let verdict = case.verdict();
    assert!(!verdict.harmed(), "{verdict:?}");
    let lockless = "begin; write x = 7";
    let case = Case::new(&[("x", 0)])
        .client("client-a", "0s", lockless)
        .client("client-b", "5s", lockless);
    assert!(!case.verdict().harmed());
}

#[test]
fn a_crash_between_two_writes_tears_the_section() {
    let case = Case::new(&[("X", 100), ("Y", 0)])
        .client("client-a", "0s", "acquire; write X = 60; work 2s; write Y = 40; release")
        .edits("at 1s crash client-a");
    let verdict = case.verdict();
    assert_eq!((verdict.torn_sections, verdict.false_expiry), (1, 0));
    let whole = Case::new(&[("X", 100), ("Y", 0)])
        .client("client-a", "0s", "acquire; write X = 60; write Y = 40; work 2s; release")
        .edits("at 1s crash client-a");
    assert_eq!(whole.verdict().torn_sections, 0);
}

#[test]
fn a_run_cut_before_the_stale_holder_resumes_shows_no_harm() {
    let cut = race().until("13s").verdict();
    assert!(!cut.harmed(), "{cut:?}");
    assert_eq!((cut.stale_attempts, cut.invariant_judged), (0, Some(0)));
    assert!(cut.overlap_us > 0);
    let cut = transfer().edits("set resource.check token").until("12s").verdict();
    assert!(!cut.harmed(), "{cut:?}");
}

#[test]
fn a_late_write_between_anothers_read_and_write_makes_its_corruption_inevitable() {
    // A resumes after B's read and before B's write: B, innocent, closes the cycle.
    let run = race().edits("").with_pause("10500ms").run();
    let accepted = when(&run, "accept", "resource", 1);
    let found = run.judgement.findings.iter().find_map(|f| match f {
        lockscope::judge::Finding::Corruption { event, culprit, .. } => Some((*event, *culprit)),
        _ => None,
    });
    let (event, culprit) = found.expect("corruption");
    assert_eq!(run.record.event(culprit).at, accepted);
    assert!(run.record.event(event).at > accepted);
    assert_eq!(run.judgement.verdict.stale_accepted, 1);
}

impl Case {
    fn verdict_without_edits(mut self) -> lockscope::judge::Verdict {
        self.edits.clear();
        self.verdict()
    }

    fn with_pause(mut self, span: &str) -> Case {
        self.edits = vec![format!("pause client-a before write#1 for {span}")];
        self
    }
}

#[test]
fn corruption_begins_at_the_millisecond_that_the_arithmetic_predicts() {
    for seed in seeds(150) {
        let mut draws = support::Draws::new(seed);
        // Odd microseconds keep the two arrivals from falling into one instant.
        let ttl = 2_000_000 + draws.up_to(8_000) * 1_000 + 1 + draws.up_to(998);
        let delay = 1_000 * (1 + draws.up_to(200));
        let work = 1_000 * (1 + draws.up_to(900));
        let b_start = 5 * delay + draws.up_to(3_000) * 1_000 + 501;
        let case = |pause_ms: u64| {
            let a = format!("acquire; read x; work {work}us; write x = x - 10; release");
            Case::new(&[("x", 100)])
                .until("120s")
                .set("lease.ttl", &format!("{ttl}us"))
                .set("link.delay", &format!("{delay}us"))
                .client("client-a", "0s", &a)
                .client(
                    "client-b",
                    &format!("{b_start}us"),
                    "acquire; read x; work 1s; write x = x - 10; release",
                )
                .edits(&format!("pause client-a before write#1 for {pause_ms}ms"))
        };
        // Grant after one delay; the read takes two more after its consumption; then the work.
        let pause_start = 4 * delay + work;
        let expiry = delay + ttl;
        let newer_grant = expiry.max(b_start + delay);
        let newer_touch = newer_grant + 2 * delay;
        let threshold_ms = (newer_touch - pause_start - delay).div_ceil(1_000);
        for pause_ms in threshold_ms.saturating_sub(3)..threshold_ms + 3 {
            let verdict = case(pause_ms).verdict();
            assert_eq!(
                verdict.corruption > 0,
                pause_ms >= threshold_ms,
                "SEED={seed} cargo test --test judged corruption_begins: a pause of {pause_ms} ms, \
                 predicted {threshold_ms} ms"
            );
        }
    }
}

#[test]
fn a_service_that_was_paused_past_the_deadline_refuses_the_renewal_it_finds() {
    let case = Case::new(&[])
        .client("client-a", "0s", "acquire; sleep 8s; renew; release")
        .edits("at 5s pause lock-service for 10s")
        .set("request.timeout", "20s");
    let run = case.run();
    assert_eq!(when(&run, "expire", "lock-service", 1).0, 15_000_000);
    assert_eq!(when(&run, "refuse", "lock-service", 1).0, 15_000_000);
    let truth = run.judgement.intervals.iter().find(|i| i.kind == IntervalKind::Truth);
    // The service's clock ran on: the truth ended at its deadline, not when it was noticed.
    assert_eq!(truth.map(|t| t.to.0), Some(10_050_000));
    assert_eq!(run.judgement.verdict.renewal_failures, Some(1));
}

#[test]
fn readers_share_a_lock_and_a_writer_waits_for_all_of_them() {
    let read = "acquire shared; read x; work 2s; release";
    let case = Case::new(&[("x", 0)])
        .client("client-a", "0s", read)
        .client("client-b", "100ms", read)
        .client("client-c", "200ms", "acquire; read x; write x = x + 1; release");
    let run = case.run();
    assert!(!run.judgement.verdict.harmed());
    assert_eq!((run.judgement.verdict.overlap_us, run.judgement.verdict.grants), (0, 3));
    assert_eq!(when(&run, "grant", "lock-service", 3), when(&run, "free", "lock-service", 2));
    let stale = case.edits("pause client-a before release#1 for 20s").run();
    assert!(stale.judgement.verdict.overlap_us > 0, "a reader and a writer both believe");
}

#[test]
fn two_locks_guard_two_resources_and_each_has_its_own_mark() {
    let mut case = Case::new(&[("x", 0)])
        .set("resource.check", "token")
        .client(
            "client-a",
            "0s",
            "acquire; acquire other; write x = 1; write z = 1; release other; release",
        )
        .client("client-b", "3s", "acquire other; write z = 2; release other");
    case.scenario.locks.push("other".into());
    let lock = Some("other".to_string());
    let cells = [("z".to_string(), 0)].into();
    case.scenario.resources.insert("ledger".into(), ResourceSpec { label: None, cells, lock });
    let case = case.edits("pause client-a before write#2 for 12s");
    let run = case.run();
    let v = &run.judgement.verdict;
    // Generations are counted per lock: the other lock's 42 refuses 41 at the ledger, and A is torn.
    assert_eq!((v.grants, v.stale_rejected, v.torn_sections), (3, 1, 1));
}

#[test]
fn a_waiter_learns_that_the_service_died_and_asks_the_restarted_one_again() {
    let case = Case::new(&[])
        .client("client-a", "0s", "acquire; work 5s; release")
        .client("client-b", "1s", "acquire; release")
        .edits("at 2s crash lock-service; at 3s restart lock-service");
    let run = case.run();
    // Generations are durable: the restarted service goes on counting, and keeps A's lease.
    assert_eq!((run.judgement.verdict.grants, run.judgement.verdict.stalled), (2, 0));
    assert!(when(&run, "grant", "lock-service", 2) >= when(&run, "free", "lock-service", 1));
    let tokens = run.record.messages.iter().filter_map(|m| m.body.token).map(|t| t.0);
    assert_eq!(tokens.max(), Some(42));
}

#[test]
fn a_task_that_stops_another_one_goes_on() {
    let run = Case::new(&[])
        .client("client-a", "0s", "acquire; work 1s; stop heartbeat; release")
        .task("client-a", "heartbeat", "loop; sleep 300ms; renew; end")
        .run();
    assert!(when(&run, "release", "client-a", 1).0 > 1_000_000);
    let kinds = run.record.events.iter().map(lockscope::run::kind::kind);
    assert!(kinds.into_iter().all(|kind| kind != "limit"));
}

#[test]
fn a_truth_ends_at_its_deadline_even_if_the_service_never_says_so() {
    let a = "acquire; work 12s; write x = 1; sleep 10s";
    for edit in ["at 5s crash lock-service", "at 5s pause lock-service for 100s"] {
        let run = Case::new(&[("x", 0)]).client("client-a", "0s", a).until("20s").edits(edit).run();
        let truth = run.judgement.intervals.iter().find(|i| i.kind == IntervalKind::Truth);
        assert_eq!(truth.map(|t| t.to.0), Some(10_050_000), "{edit}");
        let v = &run.judgement.verdict;
        assert_eq!((v.false_expiry, v.loss_unreported, v.orphan_us), (1, 1, 0), "{edit}");
        assert!(!run.cut_off.is_empty());
    }
}

#[test]
fn an_old_release_that_overtakes_a_new_promise_breaks_it() {
    let case = Case::new(&[("x", 0)])
        .client("client-a", "0s", "acquire; release; acquire; work 4s; write x = 1; release")
        .client("client-b", "1s", "acquire; work 1s; write x = 2; release")
        .edits("delay client-a>lock-service#2 by 4s");
    let v = case.verdict();
    assert_eq!((v.broken_promises, v.double_grant, v.outlived), (1, 1, 0), "{v:?}");
    assert_eq!((v.loss_unreported, v.stale_accepted), (1, 1));
}

#[test]
fn a_shared_lease_does_not_become_an_exclusive_one_in_silence() {
    let case = Case::new(&[("x", 0)])
        .client("client-a", "0s", "acquire shared; sleep 500ms; acquire; write x = 1; release")
        .client("client-b", "100ms", "acquire shared; read x; work 2s; release");
    let run = case.run();
    let last = when(&run, "grant", "lock-service", 3);
    assert!(last.0 >= 10_050_000, "it waits until its own shared lease has expired: {last:?}");
}

#[test]
fn a_reset_of_an_old_connection_leaves_the_new_one_alone() {
    let a = "acquire; read x; sleep 830ms; write x = 1; write x = 2; if ok goto f; write x = 3; f:; \
             release";
    let case = Case::new(&[("x", 0)])
        .client("client-a", "0s", a)
        .edits("at 1s crash resource; at 1010ms restart resource");
    let run = case.run();
    let resets = run.record.events.iter().filter(|e| kind::kind(e) == "reset").count();
    assert_eq!(resets, 1);
    assert!(run.record.messages.iter().filter(|m| m.body.name == "write").count() == 2);
}

#[test]
fn figures_that_are_easily_miscounted() {
    // A renewal whose OK comes in time but is read late has failed.
    let late = Case::new(&[])
        .client("client-a", "0s", "acquire; work 9s; release")
        .task("client-a", "heartbeat", "loop; sleep 3s; renew; end")
        .edits("at 3050ms pause client-a for 5s");
    assert_eq!(late.verdict().renewal_failures, Some(1));
    // A process that is gone waits for nothing: its lease is an orphan.
    let gone = Case::new(&[]).client("client-a", "0s", "acquire; work 3s").task(
        "client-a",
        "heartbeat",
        "loop; sleep 3050ms; renew; end",
    );
    assert!(gone.verdict().orphan_us > 9_000_000);
    // A job that is named after its write is the same job.
    let job = "acquire; write x = 1; job digest; release";
    let twice = Case::new(&[("x", 0)]).client("client-a", "0s", job).client("client-b", "0s", job);
    assert_eq!(twice.verdict().duplicate_work, Some(1));
    // The way that the program takes tells whether another write was to come, not the next line.
    let aside = "acquire; write x = 1; goto fin; write y = 1; fin:; work 3s; release";
    let whole = Case::new(&[("x", 0), ("y", 0)])
        .client("client-a", "0s", aside)
        .edits("at 2s crash client-a");
    assert_eq!(whole.verdict().torn_sections, 0);
    // A loop that was left by `goto` counts anew when it is entered again.
    let counted = "let n = 0; let k = 0; again:; let k = k + 1; repeat 3; let n = n + 1; \
                   if n == 2 goto out; end; out:; if k < 2 goto again; write x = n";
    let run = Case::new(&[("x", 0)]).client("client-a", "0s", counted).run();
    let last = run.record.messages.last().expect("messages were sent");
    assert_eq!(run.world_at(last.sent).locals(lockscope::sim::ProcId(0)), [5, 2]);
}

#[test]
fn a_broken_promise_lasts_until_its_holder_gives_it_up() {
    // The service loses every lease at 1 s. A was promised the lock until 10 s.
    let case = |a: &str, b_starts: &str| {
        Case::new(&[("x", 0)])
            .set("lease.store", "memory")
            .client("client-a", "0s", a)
            .client("client-b", b_starts, "acquire; write x = 2; release")
            .edits("at 1s kill lock-service; at 1100ms restart lock-service")
    };
    let counts = |case: Case| {
        let v = case.verdict();
        (v.broken_promises, v.double_grant)
    };
    let knows_nothing = "acquire; work 8s; release";
    assert_eq!(counts(case(knows_nothing, "4s")), (1, 1));
    assert_eq!(counts(case(knows_nothing, "11s")), (1, 0));
    // Its release is refused, its renewal is refused, or it declares the lock lost by itself: from
    // then on nobody counts on that promise. Before that B is granted what A still counts on.
    for a in [
        "acquire; work 2s; release",
        "acquire; work 2s; renew; work 9s",
        "acquire; work 2s; give-up; work 9s",
    ] {
        assert_eq!(counts(case(a, "4s")), (1, 0), "{a}");
        assert_eq!(counts(case(a, "1500ms")), (1, 1), "{a}");
    }
    // A is over its own deadline, a cautious one, when the service breaks its word.
    let cautious = case("acquire; work 9s", "4s").set("client.margin", "9500ms");
    assert_eq!(counts(cautious.set("deadline.rule", "timer")), (1, 0));
    // A promise that is kept goes on although its holder no longer believes: what was on the way
    // when its own deadline passed has not outlived it.
    let v = Case::new(&[("x", 0)])
        .set("client.margin", "9s")
        .set("deadline.rule", "timer")
        .client("client-a", "0s", "acquire; write x = 1; release")
        .edits("delay client-a>resource#1 by 1500ms")
        .verdict();
    assert_eq!((v.outlived, v.broken_promises, v.stale_attempts), (0, 0, 0), "{v:?}");
}

#[test]
fn the_judge_compares_writes_and_not_values() {
    let b = |program: &str| {
        Case::new(&[("x", 0), ("y", 0)])
            .client("client-a", "0s", "acquire; write x = 1; release")
            .client("client-b", "200ms", program)
            .edits("duplicate client-a>resource#1 by 3s")
    };
    // The copy lands on the write that it is a copy of. It is late, and changes nothing: what B has
    // read is what is there, and what B then writes replaces what B has read.
    let seen = "acquire; read x; work 5s; write y = x; write x = x + 1; release";
    let v = b(seen).verdict();
    assert_eq!((v.stale_accepted, v.corruption, v.lost_updates), (1, 0, 0), "{v:?}");
    assert!(!v.harmed());
    // The copy lands on what B has written: then it undoes that, whatever the numbers are.
    for program in [
        "acquire; read x; write x = 1; work 5s; release",
        "acquire; read x; write x = 7; work 5s; release",
    ] {
        let v = b(program).verdict();
        assert_eq!((v.stale_accepted, v.corruption, v.lost_updates), (1, 1, 1), "{program}");
    }
    // What has a name and was done twice was done twice.
    let named = b("work 1s").client("client-a", "0s", "acquire; job mail; write x = 1; release");
    assert_eq!(named.verdict().duplicate_work, Some(1));
}
