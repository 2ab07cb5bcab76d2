//! A moment of a run on a plane: what stands where, what is on its way, what is cut.
//!
//! `UPDATE_EXPECT=1 cargo test --test topology` rewrites the snapshots. Read them before committing.

mod support;

use expect_test::{Expect, expect};
use lockscope::diagram::{Layout, Point, Shape, Topology, hit, layout, topology};
use lockscope::narrate;
use lockscope::run::Run;
use lockscope::sim::{EventId, Micros};
use support::{Case, counters, race, random_case, seeds};

fn at(run: &Run, moment: &str, width: i32) -> Topology {
    let at = Micros::parse(moment).expect("a moment");
    let last = run.record.events.partition_point(|e| e.at <= at).checked_sub(1);
    let last = last.map(|l| EventId(l as u32)).expect("something has happened");
    let world = run.world_when(last, at);
    topology(run, &layout(run, &Layout::default()).lanes, &world, Some(last), width)
}

/// What is drawn, without what every moment has: boxes, ways, names.
fn told(run: &Run, moment: &str, expected: Expect) {
    let plane = at(run, moment, 640);
    let mut text = String::new();
    for spot in &plane.spots {
        text.push_str(&format!("{}: {}\n", spot.label, spot.says));
    }
    for mark in &plane.marks {
        let what = match &mark.shape {
            Shape::Message { track, fate, .. } => {
                let (tail, head) = (track[0], track[track.len() - 1]);
                format!("message {fate:?} {},{} to {},{}", tail.x, tail.y, head.x, head.y)
            }
            Shape::Words(words) => format!("\"{}\"", words.text),
            Shape::Belief { .. } => "belief".into(),
            Shape::Truth { .. } => "truth".into(),
            Shape::Cut { .. } => "cut".into(),
            Shape::Kept { whose, .. } => format!("has it as client {whose}'s"),
            Shape::Ring { left, .. } => format!("ring {left:?}"),
            Shape::Ballot { ballot, .. } => format!("{:?}", ballot.answers().collect::<Vec<_>>()),
            _ => continue,
        };
        text.push_str(&format!("{} {what}\n", mark.role.word()));
    }
    expected.assert_eq(&text);
}

#[test]
fn a_paused_believer_a_grant_to_another_and_a_request_under_way() {
    told(
        &race().run(),
        "12.52s",
        expect![[r#"
            Client A: thinks 41, paused to 13.20 s
            Client B: holds 42
            Lock service: 42 → B, to 20.35 s
            Resource: balance = 100
            muted "the lock guards this"
            stale belief
            ink "Client A"
            stale "thinks 41"
            muted "paused to 13.20 s"
            hold belief
            hold truth
            ink "Client B"
            hold "holds 42"
            hold ring Some(783)
            ink "Lock service"
            ink "42 → B"
            muted "to 20.35 s"
            ink "Resource"
            ink "balance = 100"
            ink message Open 210,390 to 298,390
            ink "write 90 (42)"
        "#]],
    );
}

#[test]
fn five_masters_in_a_row_each_with_what_it_has_and_the_answers_above_the_client() {
    let program = "acquire; read x; work 1s; write x = x + 1; release";
    let run = counters("redlock", program, "400ms").edits("at 0s crash redis-d").run();
    let plane = at(&run, "520ms", 640);
    let cards: Vec<_> = plane.spots.iter().filter(|s| s.label.starts_with("Redis")).collect();
    assert_eq!(cards.len(), 5);
    assert!(cards.windows(2).all(|pair| pair[0].area.right < pair[1].area.left));
    assert!(cards.iter().all(|card| card.area.top == cards[0].area.top));
    let others = plane.spots.iter().filter(|s| !s.label.starts_with("Redis"));
    assert!(others.clone().all(|s| s.area.top > cards[0].area.bottom));
    told(
        &run,
        "520ms",
        expect![[r#"
            Redis A: 5736 → A, to 10.051 s
            Redis B: 5736 → A, to 10.051 s
            Redis C: 5736 → A, to 10.051 s
            Redis D: down
            Redis E: 5736 → A, to 10.051 s
            Client A: holds 5736
            Client B: waits
            Resource: x = 0
            ink "Redis masters"
            muted "the lock guards this"
            ink "A"
            hold has it as client 0's
            hold "A"
            hold ring Some(953)
            ink "B"
            hold has it as client 0's
            hold "A"
            hold ring Some(953)
            ink "C"
            hold has it as client 0's
            hold "A"
            hold ring Some(953)
            ink "D"
            muted "down"
            ink "E"
            hold has it as client 0's
            hold "A"
            hold ring Some(953)
            ink [Some(true), Some(true), Some(true), None, Some(true)]
            ink "4 of 5"
            hold belief
            hold truth
            ink "Client A"
            hold "holds 5736"
            ink [Some(false), Some(false), Some(false), None, Some(false)]
            ink "0 of 5"
            ink "Client B"
            ink "waits"
            ink "Resource"
            ink "x = 0"
            ink message Open 210,454 to 240,309
            ink message Open 210,463 to 270,315
            ink message Open 210,472 to 300,320
            ink message Open 210,480 to 300,364
            ink message Open 210,489 to 361,330
            ink "compare and delete (6185) ×5"
        "#]],
    );
}

#[test]
fn a_cut_a_held_message_a_queue_and_a_lost_message() {
    let run = race()
        .set("acquire.wait", "queue")
        .edits("at 1s cut client-b lock-service; drop client-a>resource#1")
        .run();
    told(
        &run,
        "1.2s",
        expect![[r#"
            Client A: holds 41
            Client B: asks
            Lock service: 41 → A, to 10.05 s
            Resource: balance = 100
            ink cut
            ink "cut"
            muted "the lock guards this"
            hold belief
            hold truth
            ink "Client A"
            hold "holds 41"
            ink "Client B"
            ink "asks"
            hold ring Some(885)
            ink "Lock service"
            ink "41 → A"
            muted "to 10.05 s"
            ink "Resource"
            ink "balance = 100"
            ink message Open 210,374 to 306,272
            ink "acquire, held"
        "#]],
    );
    let queue = race().set("acquire.wait", "queue").run();
    told(
        &queue,
        "2s",
        expect![[r#"
            Client A: holds 41, paused to 13.20 s
            Client B: waits
            Lock service: 41 → A, to 10.05 s, then B
            Resource: balance = 100
            muted "the lock guards this"
            hold belief
            hold truth
            ink "Client A"
            hold "holds 41"
            muted "paused to 13.20 s"
            ink "Client B"
            ink "waits"
            hold ring Some(805)
            ink "Lock service"
            ink "41 → A"
            muted "to 10.05 s, then B"
            ink "Resource"
            ink "balance = 100"
        "#]],
    );
}

#[test]
fn every_mark_lies_on_the_plane_and_its_event_has_happened() {
    for seed in seeds(60) {
        let run = random_case(seed).run();
        let lanes = layout(&run, &Layout::default()).lanes;
        for index in (0..run.record.events.len()).step_by(9) {
            let last = EventId(index as u32);
            let world = run.world_at(last);
            let last = EventId(world.events() - 1);
            for width in [360, 700] {
                let plane = topology(&run, &lanes, &world, Some(last), width);
                assert_eq!(plane.spots.len(), run.names().nodes.len());
                for (index, one) in plane.spots.iter().enumerate() {
                    let others = &plane.spots[index + 1..];
                    assert!(others.iter().all(|o| !o.area.meets(&one.area)), "boxes lie apart");
                }
                for mark in &plane.marks {
                    assert!(mark.event <= last, "seed {seed}: {mark:?}");
                    let (area, hint) = (mark.bounds, format!("seed {seed}: {mark:?}"));
                    assert!(area.left >= -2 && area.right <= plane.width + 6, "{hint}");
                    assert!(area.top >= -20 && area.bottom <= plane.height + 6, "{hint}");
                    assert!(!narrate::sentence(&run, mark.event).is_empty());
                }
            }
        }
    }
}

/// A word that an edge of a box runs through cannot be read; what stands in a box stands wholly in it.
#[test]
fn no_word_is_crossed_by_the_edge_of_a_box() {
    let run = race().run();
    for index in 0..run.record.events.len() as u32 {
        let last = EventId(index);
        let world = run.world_at(last);
        for width in [360, 608, 640] {
            let lanes = layout(&run, &Layout::default()).lanes;
            let plane = topology(&run, &lanes, &world, Some(last), width);
            let words = plane.marks.iter().filter(|m| matches!(m.shape, Shape::Words(_)));
            for mark in words {
                for spot in &plane.spots {
                    let (word, area) = (mark.bounds, spot.area);
                    let inside = word.left >= area.left && word.right <= area.right;
                    assert!(
                        !word.meets(&area) || inside,
                        "{:?} at event {index}, {width}",
                        mark.shape
                    );
                }
            }
        }
    }
}

#[test]
fn before_anything_has_happened_there_are_nodes_and_ways_and_nothing_else() {
    let run = Case { edits: vec![], ..race() }.run();
    let world = lockscope::sim::World::new(run.compiled.plan.clone());
    let plane = topology(&run, &[], &world, None, 500);
    let flights = plane.marks.iter().filter(|m| matches!(m.shape, Shape::Message { .. }));
    assert_eq!((plane.spots.len(), flights.count()), (4, 0));
    assert!(plane.spots.iter().all(|s| s.says.is_empty()));
}

#[test]
fn a_press_means_the_nearest_mark_within_reach() {
    let run = race().run();
    let picture = layout(&run, &Layout::default());
    let (mut meant, mut all) = (0, 0);
    for mark in &picture.marks {
        let Shape::Message { track, .. } = &mark.shape else { continue };
        let (from, to) = (track[0], track[1]);
        let at = Point { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
        let found = hit(picture.marks.iter(), at, 14);
        all += 1;
        meant += usize::from(found.is_some_and(|m| m.event == mark.event));
    }
    assert!(meant * 10 >= all * 9, "{meant} of {all}");
    assert!(hit(picture.marks.iter(), Point { x: -200, y: -200 }, 14).is_none());
}
