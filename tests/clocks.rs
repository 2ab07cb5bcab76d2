//! Clocks that lie: each figure is the one that arithmetic predicts, over a range of values.
//!
//! In all of it a lease of `ttl` is granted one link delay after it was asked for, and its holder
//! asks at 0 s. So the service ends it at `delay + ttl` on its own clock, and the holder, who counts
//! from when it asked, at `ttl` on its own.

mod support;

use std::path::Path;

use lockscope::judge::{Interval, IntervalKind};
use lockscope::lesson::{self, Lesson};
use lockscope::run::{Run, compile, kind};
use lockscope::sim::{ClockKind, EventId, Micros, ProcId};
use lockscope::systems::Registry;
use support::{Case, when};

const DELAY: u64 = 50_000;
const TTL: u64 = 10_000_000;
/// When clocks are touched.
const AT: u64 = 3_000_000;

/// A holds a lease for as long as it believes; B waits for it. A timer on the clock that A reads
/// ends its belief.
fn holder() -> Case {
    Case::new(&[("x", 0)])
        .set("lease.ttl", &format!("{TTL}us"))
        .set("link.delay", &format!("{DELAY}us"))
        .set("deadline.rule", "timer")
        .until("10m")
        .client("client-a", "0s", "acquire; work 5m")
        .client("client-b", "1s", "acquire; write x = 1; release")
}

fn span(run: &Run, of: IntervalKind) -> &Interval {
    let a = ProcId(0);
    let found = run.judgement.intervals.iter().find(|i| i.kind == of && i.client == a);
    found.expect("A was granted the lock and believed it")
}

/// When the service's word and A's belief end.
fn ends(run: &Run) -> (u64, u64) {
    (span(run, IntervalKind::Truth).to.0, span(run, IntervalKind::Belief).to.0)
}

fn seconds(range: std::ops::RangeInclusive<u64>) -> impl Iterator<Item = u64> {
    range.map(|n| n * 500_000)
}

#[test]
fn a_server_whose_wall_clock_jumps_forward_ends_the_lease_that_much_earlier() {
    for n in seconds(1..=30) {
        let case = holder().set("lease.clock", "wall");
        let run = case.edits(&format!("at {AT}us clock lock-service +{n}us")).run();
        // At once where the jump goes beyond the deadline, never before it happened.
        assert_eq!(ends(&run).0, (DELAY + TTL).saturating_sub(n).max(AT), "+{n} us");
        let v = &run.judgement.verdict;
        assert_eq!((v.broken_promises, v.false_expiry), (1, 1), "+{n} us");
        // B is granted the lock at once, and A believes on until its own deadline.
        let b = when(&run, "believe", "client-b", 1).0;
        assert_eq!(
            v.overlap_us,
            TTL.saturating_sub(b).min(2 * DELAY),
            "+{n} us: B writes and goes"
        );
        assert_eq!(v.double_grant, 1, "+{n} us");
    }
}

#[test]
fn a_server_whose_wall_clock_jumps_back_keeps_the_lease_that_much_longer() {
    for n in seconds(1..=30) {
        let case = holder().set("lease.clock", "wall");
        let run = case.edits(&format!("at {AT}us clock lock-service -{n}us")).run();
        assert_eq!(ends(&run), (DELAY + TTL + n, TTL), "-{n} us");
        let v = &run.judgement.verdict;
        // Nobody is harmed; whoever waits, waits longer.
        assert_eq!((v.broken_promises, v.double_grant, v.overlap_us), (0, 0, 0), "-{n} us");
        assert_eq!(when(&run, "grant", "lock-service", 2).0, DELAY + TTL + n, "-{n} us");
    }
}

#[test]
fn a_client_whose_wall_clock_jumps_back_believes_that_much_longer() {
    for n in seconds(1..=30) {
        let case = holder().set("client.clock", "wall");
        let run = case.edits(&format!("at {AT}us clock client-a -{n}us")).run();
        let (truth, belief) = ends(&run);
        assert_eq!((truth, belief), (DELAY + TTL, TTL + n), "-{n} us");
        // Nobody notices: the service keeps its promise, and A asks nobody.
        let v = &run.judgement.verdict;
        assert_eq!((v.broken_promises, v.double_grant, v.loss_unreported), (0, 0, 0), "-{n} us");
    }
}

#[test]
fn a_client_whose_wall_clock_jumps_forward_only_stops_early() {
    for n in seconds(1..=30) {
        let case = holder().set("client.clock", "wall");
        let run = case.edits(&format!("at {AT}us clock client-a +{n}us")).run();
        assert_eq!(ends(&run), (DELAY + TTL, TTL.saturating_sub(n).max(AT)), "+{n} us");
        assert_eq!(run.judgement.verdict.overlap_us, 0, "+{n} us");
    }
}

#[test]
fn a_step_of_the_wall_clock_does_nothing_where_the_monotonic_clock_is_read() {
    let plain = ends(&holder().run());
    assert_eq!(plain, (DELAY + TTL, TTL));
    for node in ["client-a", "lock-service"] {
        for (sign, n) in ["+", "-"].into_iter().flat_map(|s| seconds(1..=30).map(move |n| (s, n))) {
            let run = holder().edits(&format!("at {AT}us clock {node} {sign}{n}us")).run();
            assert_eq!(ends(&run), plain, "{node} {sign}{n} us");
            let v = &run.judgement.verdict;
            assert_eq!((v.broken_promises, v.overlap_us), (0, 0), "{node} {sign}{n} us");
        }
    }
}

#[test]
fn drifting_clocks_are_safe_as_long_as_their_ratio_is_at_most_term_over_deadline() {
    let mut both = [0, 0];
    for (ttl, deadline) in [(60, 30), (15, 10), (10, 8), (10, 10), (12, 3)] {
        for (fast, slow) in [(1, 1), (5, 4), (3, 2), (199, 100), (2, 1), (201, 100), (7, 3), (4, 1)]
        {
            for drifts in ["client-a", "lock-service"] {
                // Either A's second is longer than the service's, or the service's is shorter.
                let rate = if drifts == "client-a" { (slow, fast) } else { (fast, slow) };
                let run = holder()
                    .set("link.delay", "0s")
                    .set("lease.ttl", &format!("{ttl}s"))
                    .set("client.margin", &format!("{}s", ttl - deadline))
                    .client("client-b", "1s", "acquire; work 5m")
                    .edits(&format!("at 0s rate {drifts} {}/{}", rate.0, rate.1))
                    .run();
                let safe = run.judgement.verdict.overlap_us == 0;
                let hint = format!("{ttl} s, {deadline} s, {fast}/{slow}, {drifts}");
                assert_eq!(safe, fast * deadline <= ttl * slow, "{hint}");
                both[usize::from(safe)] += 1;
            }
        }
    }
    assert!(both[0] > 20 && both[1] > 20, "{both:?}");
}

#[test]
fn the_overlap_of_drifting_clocks_is_the_difference_of_their_deadlines() {
    for percent in 101..=150 {
        let run = holder()
            .set("link.delay", "0s")
            .client("client-b", "1s", "acquire; work 5m")
            .edits(&format!("at 0s rate client-a 100/{percent}"))
            .run();
        // A second of A's clock takes that much longer.
        assert_eq!(run.judgement.verdict.overlap_us, TTL * percent / 100 - TTL, "{percent} %");
    }
}

/// When A's belief ends, by the clock that it reads, where something happens to it at [`AT`].
fn belief_ends(clock: &str, edits: &str) -> (u64, u64) {
    ends(&holder().set("client.clock", clock).edits(edits).run())
}

#[test]
fn a_host_that_sleeps_is_late_by_its_sleep_on_the_monotonic_clock_and_by_its_waking_on_others() {
    for d in seconds(1..=40) {
        let edit = format!("at {AT}us suspend client-a for {d}us");
        assert_eq!(belief_ends("mono", &edit), (DELAY + TTL, TTL + d), "{d} us");
        // These ran on: the timer is due in time, or as soon as the host is awake.
        for clock in ["wall", "boot"] {
            assert_eq!(belief_ends(clock, &edit), (DELAY + TTL, TTL.max(AT + d)), "{clock} {d} us");
        }
    }
}

#[test]
fn a_frozen_machine_is_late_on_every_clock_until_somebody_sets_its_wall_clock() {
    for d in seconds(1..=40) {
        let freeze = format!("at {AT}us freeze client-a for {d}us");
        for clock in ["mono", "wall", "boot"] {
            assert_eq!(belief_ends(clock, &freeze), (DELAY + TTL, TTL + d), "{clock} {d} us");
        }
        let set = format!("{freeze}; at {}us clock client-a +{d}us", AT + d);
        assert_eq!(belief_ends("wall", &set), (DELAY + TTL, TTL.max(AT + d)), "{d} us");
        assert_eq!(belief_ends("mono", &set), (DELAY + TTL, TTL + d), "{d} us");
    }
}

#[test]
fn a_pause_stops_no_clock() {
    for d in seconds(1..=40) {
        let edit = format!("at {AT}us pause client-a for {d}us");
        for clock in ["mono", "wall", "boot"] {
            assert_eq!(belief_ends(clock, &edit), (DELAY + TTL, TTL.max(AT + d)), "{clock} {d} us");
        }
    }
}

#[test]
fn a_server_that_sleeps_keeps_its_leases_that_much_longer_on_the_clock_that_sleeps_with_it() {
    for d in seconds(1..=40) {
        for (stop, stands) in [("suspend", &["mono"][..]), ("freeze", &["mono", "wall", "boot"])] {
            for clock in ["mono", "wall", "boot"] {
                let case = holder().set("lease.clock", clock);
                let run = case.edits(&format!("at {AT}us {stop} lock-service for {d}us")).run();
                let later = if stands.contains(&clock) { d } else { 0 };
                assert_eq!(ends(&run).0, DELAY + TTL + later, "{stop} {clock} {d} us");
                // It says so when it is awake.
                let said = when(&run, "expire", "lock-service", 1).0;
                assert_eq!(said, (DELAY + TTL + later).max(AT + d), "{stop} {clock} {d} us");
                assert_eq!(run.judgement.verdict.broken_promises, 0, "{stop} {clock} {d} us");
            }
        }
    }
}

#[test]
fn a_lease_that_ran_out_while_its_server_was_stopped_stays_over_when_the_clock_is_put_back() {
    for back in seconds(1..=30) {
        let case = holder().set("lease.clock", "wall");
        let edits =
            format!("at {AT}us pause lock-service for 15s; at 12s clock lock-service -{back}us");
        let run = case.edits(&edits).run();
        assert_eq!(ends(&run).0, DELAY + TTL, "-{back} us");
        assert_eq!(when(&run, "expire", "lock-service", 1).0, AT + 15_000_000, "-{back} us");
    }
}

#[test]
fn a_margin_makes_up_for_a_jump_of_its_length_and_for_no_longer_one() {
    for margin in seconds(0..=8) {
        for n in seconds(0..=8) {
            let case = holder().set("client.clock", "wall").set("link.delay", "0s");
            let case = case.client("client-b", "1s", "acquire; work 5m");
            let case = case.set("client.margin", &format!("{margin}us"));
            let run = case.edits(&format!("at 1s clock client-a -{n}us")).run();
            let over = run.judgement.verdict.overlap_us;
            assert_eq!(over, n.saturating_sub(margin), "margin {margin} us, -{n} us");
        }
    }
}

#[test]
fn a_deadline_that_is_counted_from_the_receipt_is_late_by_the_time_that_the_answer_took() {
    for late in seconds(0..=20) {
        for (rule, counted_from) in [("send", 0), ("receipt", 2 * DELAY + late)] {
            let run = holder()
                .set("lease.deadline", rule)
                .set("request.timeout", "60s")
                .client("client-b", "1s", "acquire; work 5m")
                .edits(&format!("delay lock-service>client-a#1 by {late}us"))
                .run();
            // A that hears of its lease after the end of it by its own count does not believe at all.
            if rule == "send" && 2 * DELAY + late >= TTL {
                continue;
            }
            assert_eq!(ends(&run), (DELAY + TTL, counted_from + TTL), "{rule}, {late} us late");
            // B hears of its own grant one delay after the end of A's.
            let both = (counted_from + TTL).saturating_sub(DELAY + TTL + DELAY);
            assert_eq!(run.judgement.verdict.overlap_us, both, "{rule}, {late} us late");
        }
    }
}

/// Whether A's write in the lesson about clocks is late and accepted, if that is done.
fn late_in_the_lesson(lesson: &Lesson, variant: &str, edits: &[String]) -> bool {
    let found = lesson.variant(variant).expect("the lesson has it");
    let compiled = compile(&lesson.scenario_of(found), edits, &Registry::standard());
    let run = Run::of(compiled.expect("it compiles"));
    assert!(run.unused_edits.is_empty(), "{edits:?}");
    run.judgement.verdict.stale_accepted == 1
}

#[test]
fn in_the_lesson_about_clocks_each_lie_does_harm_from_the_millisecond_on_that_arithmetic_gives() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("lessons/08-clocks-lie.md");
    let lesson = lesson::read(&path).expect("the lesson is there");
    // A asks at 0 s, reads at 0.1 s, hears at 0.2 s and works: 6 s in most runs, 12 s in some. It looks
    // at its clock, whose deadline is at 10 s, and sends a write that arrives 0.05 s later. Until A is
    // done its lease stands until 10.05 s, and B is granted the lock when that is over.
    let (term, delay, end) = (10_000, 50, 10_050);
    let (six, twelve) = (200 + 6_000, 200 + 12_000);
    let mono = "set lease.clock mono";
    let wall = "set client.clock wall";
    // The variant, what is done to it, how long it may be, and from which length on it is too long.
    let cases: [(&str, &str, &[&str], u64); 5] = [
        // The service's deadline is earlier by the jump: late if it comes before A's write.
        ("base", "at 3s clock lock-service +Nms", &[], end - (six + delay)),
        // By the clock that was set back, 12.2 s less the jump have to be less than 10 s.
        ("back", "at 4s clock client-a -Nms", &[mono, wall], twelve - term + 1),
        // A sleep or a freeze stretches the six seconds, and no clock of A's counts it; A's write is
        // late when B was granted the lock before it.
        ("asleep", "at 4s suspend client-a for Nms", &[mono], end - (six + delay)),
        (
            "frozen",
            "at 4s freeze client-a for Nms",
            &[mono, "set client.clock boot"],
            end - (six + delay),
        ),
        ("frozen-wall", "at 4s freeze client-a for Nms", &[mono, wall], end - (six + delay)),
    ];
    for (variant, lie, settings, first) in cases {
        let late = |n: u64| {
            let mut edits = vec![lie.replace('N', &n.to_string())];
            edits.extend(settings.iter().map(ToString::to_string));
            late_in_the_lesson(&lesson, variant, &edits)
        };
        // In that very millisecond both come at once, and the order of their making decides.
        let about = [first - 1, first + 1].map(late);
        assert_eq!(about, [false, true], "{variant}: from {first} ms on");
        for n in (500_u64..8_500).step_by(500).filter(|n| n.abs_diff(first) > 1) {
            assert_eq!(late(n), n > first, "{variant}: {n} ms");
        }
    }
    // Whoever reads a clock that the lie does not touch, or that counts the sleep, is never late.
    for n in (500..8_500).step_by(500) {
        for (variant, edits) in [
            ("base", vec![format!("at 3s clock lock-service +{n}ms"), mono.into()]),
            ("back", vec![format!("at 4s clock client-a -{n}ms"), mono.into()]),
            (
                "asleep",
                vec![
                    format!("at 4s suspend client-a for {n}ms"),
                    mono.into(),
                    "set client.clock boot".into(),
                ],
            ),
        ] {
            assert!(!late_in_the_lesson(&lesson, variant, &edits), "{variant}: {edits:?}");
        }
    }
    // A slow clock shows 12.2 s times its rate; only below 10 s does A believe that it is in time.
    for (num, den) in [(1, 2), (3, 4), (4, 5), (819, 1000), (820, 1000), (9, 10), (1, 1), (5, 4)] {
        let edits = [format!("at 0s rate client-a {num}/{den}"), mono.into()];
        let late = twelve * num < term * den;
        assert_eq!(late_in_the_lesson(&lesson, "drift", &edits), late, "{num}/{den}");
    }
}

#[test]
fn each_process_has_a_wall_a_monotonic_and_a_boot_clock_of_its_own() {
    let edits = "at 1s clock client-a +8s; at 2s rate client-a 1/2; at 4s suspend client-a for 2s; \
                 at 8s freeze client-a for 3s; at 12s clock client-a -1s";
    let run = Case::new(&[]).client("client-a", "0s", "work 30s").edits(edits).run();
    let shown = |at: u64| {
        let at = Micros::from_secs(at);
        let last = run.record.events.iter().rposition(|e| e.at <= at).expect("it has begun");
        let world = run.world_when(EventId(last as u32), at);
        let read = |p: u16, kind| world.clocks(ProcId(p)).get(kind).read(at).0 / 500_000;
        let kinds = [ClockKind::Wall, ClockKind::Mono, ClockKind::Boot];
        assert_eq!(kinds.map(|kind| read(1, kind)), [at.0 as i64 / 500_000; 3], "of the service");
        kinds.map(|kind| read(0, kind))
    };
    // In half seconds: wall, monotonic, boot.
    assert_eq!(shown(1), [18, 2, 2]);
    assert_eq!(shown(2), [20, 4, 4]);
    assert_eq!(shown(4), [22, 6, 6]);
    assert_eq!(shown(6), [24, 6, 8]);
    assert_eq!(shown(8), [26, 8, 10]);
    assert_eq!(shown(11), [26, 8, 10]);
    assert_eq!(shown(12), [25, 9, 11]);
    // What the program uses of the processor is measured on no clock.
    assert_eq!(when(&run, "end", "client-a", 1), Micros::from_secs(35));
}

#[test]
fn stops_of_several_kinds_do_not_disturb_each_other() {
    let run = Case::new(&[])
        .client("client-a", "0s", "sleep 10s")
        .edits("at 1s suspend client-a for 4s; at 2s freeze client-a for 1s; at 4s pause client-a for 3s")
        .run();
    let own = run.record.events.iter().filter(|e| e.node == ProcId(0));
    let told: Vec<(u64, &str)> = own.map(|e| (e.at.0 / 1_000_000, kind::kind(e))).collect();
    let all = [
        (0, "start"),
        (0, "sleep"),
        (1, "suspend"),
        (2, "freeze"),
        // Wall and boot time run again; the host still sleeps.
        (3, "wake"),
        (4, "pause"),
        // The monotonic clock runs again; the process is still paused.
        (5, "wake"),
        (7, "resume"),
        // Its monotonic clock stood still from 1 s to 5 s.
        (14, "end"),
    ];
    assert_eq!(told, all);
}
