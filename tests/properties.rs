//! What holds for every run, whatever a learner does to it: thousands of random edit scripts.
//!
//! `CASES=20000 cargo test --test properties` runs more; a failure prints the command that replays it.

mod support;

use std::collections::BTreeMap;

use lockscope::judge::{Finding, IntervalKind, Testimony};
use lockscope::run::{Action, Run, Whom, kind, parse_edit};
use lockscope::sim::{ConnId, EventId, Micros, ProcId, Record, What, World};
use lockscope::systems::Locks;
use support::{Draws, random_case, random_edit, seeds};

const CASES: u64 = 1_500;

fn replay(test: &str, seed: u64) -> String {
    format!("replay with: SEED={seed} cargo test --test properties {test}")
}

fn line(run: &Run, index: usize) -> String {
    let event = &run.record.events[index];
    let causes: Vec<EventId> = event.causes.iter().collect();
    format!("{:?} {:?} {:?} {causes:?}", event.at, event.node, event.what)
}

#[test]
fn the_same_input_gives_the_same_record() {
    for seed in seeds(CASES / 3) {
        let case = random_case(seed);
        let (one, two) = (case.run(), case.run());
        for index in 0..one.record.events.len() {
            let (a, b) = (line(&one, index), line(&two, index));
            assert_eq!(a, b, "first difference; {}", replay("the_same_input", seed));
        }
        assert_eq!(one.hash(), two.hash(), "{}", replay("the_same_input", seed));
        assert_eq!(one.judgement, two.judgement, "{}", replay("the_same_input", seed));
    }
}

fn state(world: &World<Locks>, nodes: usize) -> String {
    let of = |p: u16| {
        let p = ProcId(p);
        let tasks: Vec<_> = (0..4).map(|t| world.task(p, t)).collect();
        let (facts, locals) = (world.facts(p), world.locals(p));
        let paused: Vec<_> = (0..4).map(|t| world.task_paused_until(p, t)).collect();
        format!(
            "{facts:?} {tasks:?} {locals:?} {:?} {paused:?} {:?}",
            world.halt(p),
            world.clocks(p)
        )
    };
    (0..nodes as u16).map(of).collect::<Vec<_>>().join("\n")
}

#[test]
fn seeking_shows_what_a_replay_shows() {
    for seed in seeds(CASES / 5) {
        let run = random_case(seed).run();
        let nodes = run.names().nodes.len();
        let mut world = World::new(run.compiled.plan.clone());
        let mut record = Record::default();
        let mut last = 0;
        let mut earlier = World::new(run.compiled.plan.clone());
        while world.step(&mut record) {
            // A step without events only moves the clock; seeking goes to events.
            if std::mem::replace(&mut last, world.events()) == world.events() {
                continue;
            }
            let event = EventId(world.events() - 1);
            let sought = run.world_at(event);
            assert_eq!(sought.events(), world.events(), "{}", replay("seeking", seed));
            if event.0.is_multiple_of(7) {
                let wanted = state(&world, nodes);
                assert_eq!(state(&sought, nodes), wanted, "{}", replay("seeking", seed));
                // From the last one that was sought, as while it plays, and never from a later one.
                for world in [&earlier, &world] {
                    let from = state(&run.world_from(Some(world), event), nodes);
                    assert_eq!(from, wanted, "{}", replay("seeking", seed));
                }
                earlier = sought;
            }
        }
    }
}

#[test]
fn time_never_goes_back_and_causes_come_first() {
    for seed in seeds(CASES) {
        let run = random_case(seed).run();
        let mut last = Default::default();
        for (index, event) in run.record.events.iter().enumerate() {
            assert!(event.at >= last, "{}", replay("time_never", seed));
            last = event.at;
            for cause in event.causes.iter() {
                assert!((cause.0 as usize) < index, "{}", replay("time_never", seed));
            }
        }
        assert!(run.end >= last, "{}", replay("time_never", seed));
    }
}

#[test]
fn an_edit_at_a_moment_changes_nothing_before_it() {
    for seed in seeds(CASES) {
        let mut case = random_case(seed);
        let before = case.run();
        let mut draws = Draws::new(seed ^ 0x5EED);
        let at = draws.up_to(9_000) * 1_000;
        let edit = match draws.up_to(9) {
            0 => format!("at {at}us pause client-b for 2s"),
            1 => format!("at {at}us cut client-a lock-service for 3s"),
            2 => format!("at {at}us crash client-a"),
            3 => format!("at {at}us send resource 2"),
            4 => format!("at {at}us suspend client-a for 2s"),
            5 => format!("at {at}us freeze lock-service for 2s"),
            6 => format!("at {at}us clock lock-service +2s"),
            7 => format!("at {at}us rate client-b 4/5"),
            8 => format!("at {at}us pause client-c.heartbeat for 2s"),
            _ => format!("at {at}us set resource.check token"),
        };
        case.edits.push(edit);
        let after = case.run();
        let past = |run: &Run| run.record.events.iter().filter(|e| e.at.0 < at).count();
        assert_eq!(past(&before), past(&after), "{}", replay("an_edit_at", seed));
        for index in 0..past(&before) {
            assert_eq!(line(&before, index), line(&after, index), "{}", replay("an_edit_at", seed));
        }
    }
}

#[test]
fn an_edit_knows_the_first_event_that_it_brought_about() {
    for seed in seeds(CASES) {
        let run = random_case(seed).run();
        for (index, edit) in run.compiled.edits.iter().enumerate() {
            let Some(id) = run.edit_events[index] else { continue };
            let event = run.record.event(id);
            let is = |kinds: &[&str]| kinds.contains(&kind::kind(event));
            let right = match &edit.action {
                Action::Halt(whom, _, span) => {
                    let who = run.names().find(whom.node()) == Some(event.node);
                    who && match (whom, &event.what) {
                        (Whom::Process(how, _), What::Halt(halt, d)) => (how, span) == (halt, d),
                        (Whom::Task(..), What::PauseTask(_, d)) => span == d,
                        _ => false,
                    }
                }
                Action::Clock(..) | Action::Rate(..) => is(&["clock"]),
                Action::Cut(..) => is(&["cut"]),
                Action::Heal(..) => is(&["heal"]),
                Action::Crash(..) => is(&["crash"]),
                Action::Restart(..) => is(&["restart", "start"]),
                Action::Drop(..) | Action::Delay(..) | Action::Duplicate(..) => {
                    matches!(event.what, What::Send(..))
                }
                Action::Set(..) => is(&["set"]),
                Action::Send(..) | Action::FailOver(..) | Action::Evict(..) => is(&["hand"]),
            };
            assert!(right, "{edit}: {event:?}; {}", replay("an_edit_knows", seed));
        }
    }
}

#[test]
fn an_edit_reads_back_as_it_prints() {
    let nodes =
        ["client-a", "client-b", "client-c", "lock-service", "gateway", "resource", "ledger"];
    for seed in seeds(20_000) {
        let text = random_edit(&mut Draws::new(seed));
        let edit = parse_edit(&text, &nodes).unwrap_or_else(|e| panic!("{text}: {e}"));
        let again = parse_edit(&edit.to_string(), &nodes);
        assert_eq!(again.as_ref(), Ok(&edit), "{text}; {}", replay("an_edit_reads", seed));
        // Each of its times can be replaced, and nothing else changes with it.
        for (which, time) in edit.spans() {
            let other = edit.with(which, time.plus(Micros(1)));
            assert_ne!(other, edit, "{text} {which:?}");
            assert_eq!(other.with(which, time), edit, "{text} {which:?}");
            assert_eq!(parse_edit(&other.to_string(), &nodes).as_ref(), Ok(&other), "{text}");
        }
    }
    for text in ["at 5s cut {client-a ledger}|{resource}", "pause client-a at 3s for 9s"] {
        let edit = parse_edit(text, &nodes).expect("both are in the grammar");
        assert_eq!(parse_edit(&edit.to_string(), &nodes), Ok(edit));
    }
}

#[test]
fn each_stream_delivers_a_prefix_of_what_was_sent_in_order() {
    for seed in seeds(CASES) {
        let run = random_case(seed).run();
        // Messages are numbered in the order of sending, so each stream's list is in that order.
        let mut streams: BTreeMap<(ConnId, ProcId), Vec<_>> = BTreeMap::new();
        for message in &run.record.messages {
            streams.entry((message.conn, message.from)).or_default().push(message);
        }
        for sent in streams.values() {
            let mut last = None;
            let mut broken = false;
            for message in sent {
                match message.delivered {
                    Some(event) => {
                        assert!(
                            !broken,
                            "delivered behind a loss; {}",
                            replay("each_stream", seed)
                        );
                        assert!(last < Some(event), "{}", replay("each_stream", seed));
                        last = Some(event);
                    }
                    None => broken = true,
                }
            }
        }
    }
}

#[test]
fn no_message_comes_from_nowhere_and_none_is_faster_than_its_link() {
    for seed in seeds(CASES) {
        let run = random_case(seed).run();
        let mut seen = vec![false; run.record.messages.len()];
        for event in &run.record.events {
            let What::Deliver(id) = event.what else { continue };
            let message = run.record.message(id);
            let sent = run.record.event(message.sent);
            assert_eq!((sent.node, event.node), (message.from, message.to));
            assert!(event.at.since(sent.at) >= run.compiled.settings.span("link.delay"));
            assert!(
                !std::mem::replace(&mut seen[id.0 as usize], true),
                "{}",
                replay("no_message", seed)
            );
        }
    }
}

#[test]
fn the_verdict_is_consistent_with_itself_and_with_the_intervals() {
    for seed in seeds(CASES) {
        let run = random_case(seed).run();
        let (v, hint) = (&run.judgement.verdict, replay("the_verdict", seed));
        assert_eq!(
            v.stale_attempts,
            v.stale_accepted + v.stale_rejected + v.stale_pending,
            "{hint}"
        );
        let truths = run.judgement.intervals.iter().filter(|i| i.kind == IntervalKind::Truth);
        assert_eq!(v.grants, truths.count() as u64, "{hint}");
        for interval in &run.judgement.intervals {
            assert!(interval.from <= interval.to && interval.to <= run.end, "{hint}");
        }
        let grants = run.record.events.iter().filter(|e| kind::kind(e) == "grant").count();
        assert_eq!(v.grants, grants as u64, "{hint}");
        // Leases exclude each other on the service itself. Where nobody touches its clocks, only a
        // client's own old release, which overtakes its new promise, or a careless one, breaks one
        // here; and only where one is broken is a promise open at a grant.
        let touched = run.compiled.edits.iter().any(|e| {
            matches!(&e.action, Action::Clock(n, ..) | Action::Rate(n, ..) if n == "lock-service")
        });
        for finding in &run.judgement.findings {
            if let (Finding::Broken { event, .. }, false) = (finding, touched) {
                let what = kind::kind(run.record.event(*event));
                assert!(["free", "remove"].contains(&what), "{hint}");
            }
        }
        assert!(v.double_grant == 0 || v.broken_promises > 0, "{hint}");
    }
}

#[test]
fn a_paused_client_says_nothing_until_it_resumes() {
    for seed in seeds(CASES) {
        let run = random_case(seed).run();
        let mut paused = vec![false; run.names().nodes.len()];
        for event in &run.record.events {
            let node = usize::from(event.node.0);
            match event.what {
                What::Halt(..) => paused[node] = true,
                What::Resume | What::Crash(_) => paused[node] = false,
                // What its clocks will show is no word of its own.
                What::Note(Testimony::Expires(..) | Testimony::Moves(..)) => {}
                What::Note(_) | What::Send(..) => {
                    assert!(!paused[node], "{}", replay("a_paused_client", seed));
                }
                _ => {}
            }
        }
    }
}
