//! A run through the eyes of one of its nodes: whoever has seen the same sees the same.

mod support;

use lockscope::diagram::{Picture, through_eyes};
use lockscope::narrate;
use lockscope::run::eyes::{Eyes, Seen, Sight, alike};
use lockscope::run::{Run, compile};
use lockscope::sim::{EventId, Local, ProcId, What};
use lockscope::systems::Registry;
use support::{Case, Draws, busy, race, random_edit, seeds};

const CASES: u64 = 120;

fn eyes(run: &Run, node: &str) -> Eyes {
    Eyes::of(run, run.names().find(node).expect("the node exists"))
}

/// What is shown of some things that were seen: the picture, the log.
fn shown(run: &Run, node: ProcId, seen: &[Seen]) -> (Picture, Vec<String>) {
    let told = seen
        .iter()
        .filter(|s| narrate::worth_telling(run, s))
        .map(|s| format!("{} {}", narrate::reading(s.local), narrate::seen_sentence(run, node, s)));
    (through_eyes(run, node, seen, 640), told.collect())
}

/// The log through a node's eyes, up to a reading of its own clock.
fn log(run: &Run, node: &str, until: i64) -> Vec<String> {
    let eyes = eyes(run, node);
    let count = eyes.seen.partition_point(|s| s.local.0 <= until);
    shown(run, eyes.node, &eyes.seen[..count]).1
}

/// Both see the same up to this moment by their clock, and not for ever.
fn alike_until(one: &Run, other: &Run, node: &str, at: i64) {
    let (a, b) = (eyes(one, node), eyes(other, node));
    let same = alike((one, &a), (other, &b));
    let first = |eyes: &Eyes| eyes.seen.get(same).map(|s| s.local);
    let differs = [first(&a), first(&b)].into_iter().flatten().min();
    assert!(same > 0 && differs.is_some_and(|d| d > Local(at)), "{differs:?}");
    assert_eq!(log(one, node, at), log(other, node, at));
}

#[test]
fn to_b_a_slow_holder_and_a_dead_one_look_alike() {
    let slow = race().run();
    let dead = Case { edits: vec!["at 1200ms crash client-a".into()], ..race() }.run();
    let (a, b) = (eyes(&slow, "client-b"), eyes(&dead, "client-b"));
    // From its first request to the end of its program.
    assert_eq!((alike((&slow, &a), (&dead, &b)), a.seen.len()), (b.seen.len(), b.seen.len()));
    assert_eq!(log(&slow, "client-b", i64::MAX), log(&dead, "client-b", i64::MAX));
    assert!(slow.judgement.verdict.harmed() && !dead.judgement.verdict.harmed());
}

#[test]
fn to_a_client_a_cut_and_a_service_that_stands_still_look_alike_until_something_comes_back() {
    let edits = |edit: &str| Case { edits: vec![edit.into()], ..race() }.run();
    let cut = edits("at 1010ms cut client-b lock-service for 20s");
    let still = edits("at 1010ms pause lock-service for 20s");
    alike_until(&cut, &still, "client-b", 8_000_000);
    // For A they are two worlds: its release is answered in the one only.
    let (a, b) = (eyes(&cut, "client-a"), eyes(&still, "client-a"));
    assert!(alike((&cut, &a), (&still, &b)) < a.seen.len());
}

#[test]
fn a_pause_is_not_seen_and_what_came_meanwhile_is_read_after_it() {
    let run = race().set("acquire.wait", "queue").edits("at 500ms pause client-b for 12s").run();
    let eyes = eyes(&run, "client-b");
    assert!(eyes.seen.iter().all(|s| {
        let what = &run.record.event(s.event).what;
        !matches!(what, What::Halt(..) | What::Resume | What::Cut(_) | What::Hold(_))
    }));
    assert!(eyes.seen.windows(2).all(|w| w[0].local <= w[1].local && w[0].since <= w[1].since));
    let asked = race().edits("at 1100ms pause client-b for 12s").set("acquire.wait", "queue").run();
    let eyes = Eyes::of(&asked, eyes.node);
    let late: Vec<&Seen> = eyes.seen.iter().filter(|s| s.since != s.event).collect();
    assert!(!late.is_empty());
    for seen in late {
        assert!(matches!(seen.what, Sight::Got(_)));
        assert_eq!(seen.local, Local(13_100_000), "read when it went on");
    }
}

#[test]
fn whoever_starts_again_remembers_nothing_and_the_dead_see_nothing() {
    let run =
        race().edits("at 500ms crash client-b; at 2s crash client-b; at 3s restart client-b").run();
    let eyes = eyes(&run, "client-b");
    let at = |ms: u64| {
        let count = run.record.events.partition_point(|e| e.at.0 <= ms * 1_000) as u32;
        eyes.until(&run, Some(EventId(count - 1)))
    };
    assert!(at(2_500).is_empty(), "it is dead");
    let life = at(3_500);
    assert!(matches!(run.record.event(life[0].event).what, What::Restart));
    assert!(narrate::knows_itself(&run, &eyes, Some(life[0].since)).lines.len() > 1);
}

#[test]
fn the_fog_hides_what_only_an_observer_knows() {
    for run in [race().run(), race().edits("set resource.check token").run()] {
        for node in ["client-a", "client-b", "lock-service", "resource"] {
            let eyes = eyes(&run, node);
            for line in shown(&run, eyes.node, &eyes.seen).1 {
                for word in ["does not know", "late", "too:", "expired", "paused", "corrupted"] {
                    assert!(!line.contains(word), "{node}: {line}");
                }
            }
        }
    }
}

/// Two runs of one random scenario that differ in what is done to them.
fn pair(seed: u64) -> Option<(Run, Run)> {
    let mut draws = Draws::new(seed);
    let case = busy(&mut draws);
    let run = |draws: &mut Draws| {
        let mut edits = Vec::new();
        for _ in 0..1 + draws.up_to(3) {
            let edit = random_edit(draws);
            // Settings change what somebody does from the start: that is another scenario.
            if !edit.contains(" set ") {
                edits.push(edit);
            }
        }
        compile(&case.scenario, &edits, &Registry::standard()).ok().map(Run::of)
    };
    Some((run(&mut draws)?, run(&mut draws)?))
}

#[test]
fn two_runs_with_equal_histories_at_a_node_render_equally_for_it() {
    let (mut compared, mut differ) = (0, 0);
    for seed in seeds(CASES) {
        let Some((one, other)) = pair(seed) else { continue };
        for lane in 0..one.names().nodes.len() as u16 {
            let (a, b) = (Eyes::of(&one, ProcId(lane)), Eyes::of(&other, ProcId(lane)));
            let same = alike((&one, &a), (&other, &b));
            differ += usize::from(same < a.seen.len().max(b.seen.len()));
            let (first, second) = (&a.seen[..same], &b.seen[..same]);
            compared += same;
            let hint = format!("replay with SEED={seed}, lane {lane}");
            assert_eq!(shown(&one, a.node, first), shown(&other, b.node, second), "{hint}");
            // What it knows of itself, wherever both stand between two instants.
            let whole = (1..same).rev().find(|k| a.seen[*k].local != a.seen[k - 1].local);
            let Some(k) = whole else { continue };
            let knows = |run: &Run, eyes: &Eyes| {
                narrate::knows_itself(run, eyes, Some(eyes.seen[k - 1].since)).lines
            };
            assert_eq!(knows(&one, &a), knows(&other, &b), "{hint}");
        }
    }
    assert!(
        std::env::var("SEED").is_ok() || compared > 5_000 && differ > 100,
        "{compared} {differ}"
    );
}

#[test]
fn every_mark_of_a_foggy_picture_lies_in_it_and_names_something_seen() {
    for seed in seeds(40) {
        let Some((run, _)) = pair(seed) else { continue };
        for lane in 0..run.names().nodes.len() as u16 {
            let eyes = Eyes::of(&run, ProcId(lane));
            for width in [340, 800] {
                let picture = through_eyes(&run, eyes.node, &eyes.seen, width);
                for mark in &picture.marks {
                    let (area, at) = (mark.bounds, mark.event.0 as usize);
                    assert!(area.bottom <= picture.height + 2, "{mark:?}");
                    assert!(at < eyes.seen.len().max(1), "seed {seed}");
                }
            }
        }
    }
}
