//! A picture tells the truth, in order, and its words can be read.

use lockscope::diagram::{
    Area, Fate, Layout, Mark, Picture, Primitive, Scale, Shape, header, layout, miniature, paths,
    svg,
};
use lockscope::narrate;
use lockscope::run::{ClientSpec, Run, Scenario, compile};
use lockscope::sim::{Micros, Purpose, Table, keyed, up_to};
use lockscope::systems::Registry;

const PAUSE: &str = "pause client-a before write#1 for 12s";
const CHECK: &str = "set resource.check token";

fn scenario(settings: &[(&str, &str)], clients: &[(&str, &str, &[&str])]) -> Scenario {
    let pairs = |(k, v): &(&str, &str)| (k.to_string(), v.to_string());
    let client = |(id, start, program): &(&str, &str, &[&str])| {
        let program = program.iter().map(|l| l.to_string()).collect();
        let spec = ClientSpec { start: Some(start.to_string()), program, ..ClientSpec::default() };
        (id.to_string(), spec)
    };
    Scenario {
        system: "lease".into(),
        until: "60s".into(),
        seed: 1,
        settings: settings.iter().map(pairs).collect(),
        locks: vec!["lock".into()],
        cells: Table::from([("balance".into(), 100)]),
        resources: Table::new(),
        gateway: false,
        invariant: Some("balance == 100 - 10 * done".into()),
        clients: clients.iter().map(client).collect(),
    }
}

fn run(scenario: &Scenario, edits: &[&str]) -> Run {
    let edits: Vec<String> = edits.iter().map(|e| e.to_string()).collect();
    Run::of(compile(scenario, &edits, &Registry::standard()).expect("the scenario is right"))
}

/// The lease race of the fifth lesson.
fn race(edits: &[&str]) -> Run {
    let settings = [
        ("lease.ttl", "10s"),
        ("lock.first_token", "41"),
        ("acquire.wait", "retry"),
        ("acquire.retry", "3s"),
    ];
    let program =
        |work| ["acquire", "read balance", work, "write balance = balance - 10", "release"];
    let clients =
        [("client-a", "0s", &program("work 1s")[..]), ("client-b", "1s", &program("work 2s")[..])];
    run(&scenario(&settings, &clients), edits)
}

/// Two or three clients with programs, starts and faults drawn from a seed.
fn random(seed: u64) -> Run {
    let mut n = 0;
    let mut draw = |most: u64| {
        n += 1;
        up_to(keyed(seed, Purpose::Backoff, 7, n), most)
    };
    let ids = ["client-a", "client-b", "client-c"];
    let count = 2 + draw(1) as usize;
    let settings = [
        ("lease.ttl", ["1s", "3s", "8s"][draw(2) as usize]),
        ("link.jitter", ["0s", "20ms", "400ms"][draw(2) as usize]),
        ("acquire.wait", ["queue", "retry"][draw(1) as usize]),
        ("resource.check", ["none", "token", "token-once", "version"][draw(3) as usize]),
    ];
    let mut programs: Vec<(String, Vec<String>)> = Vec::new();
    for _ in 0..count {
        let mut lines = vec!["acquire".to_string(), "read balance".into()];
        for _ in 0..1 + draw(2) {
            lines.push(format!("work {}ms", 1 + draw(3_000)));
            if draw(2) == 0 {
                lines.push("renew".into());
            }
            lines.push("write balance = balance - 10".into());
        }
        lines.push("release".into());
        programs.push((format!("{}ms", draw(2_000)), lines));
    }
    let lines: Vec<Vec<&str>> =
        programs.iter().map(|p| p.1.iter().map(String::as_str).collect()).collect();
    let clients: Vec<(&str, &str, &[&str])> =
        (0..count).map(|i| (ids[i], programs[i].0.as_str(), lines[i].as_slice())).collect();
    let mut edits = Vec::new();
    for _ in 0..draw(4) {
        let who = ids[draw(count as u64 - 1) as usize];
        let peer = ["lock-service", "resource"][draw(1) as usize];
        let at = draw(8_000);
        edits.push(match draw(5) {
            0 => format!("at {at}ms pause {who} for {}ms", 1 + draw(9_000)),
            1 => format!("at {at}ms cut {who} {peer} for {}ms", 1 + draw(4_000)),
            2 => format!("drop {who}>{peer}#{}", 1 + draw(2)),
            3 => format!("delay {who}>{peer}#{} by {}ms", 1 + draw(2), 1 + draw(5_000)),
            4 => format!("at {at}ms crash {who}"),
            _ => format!("pause {who} before write#1 for {}ms", 1 + draw(12_000)),
        });
    }
    let edits: Vec<&str> = edits.iter().map(String::as_str).collect();
    run(&scenario(&settings, &clients), &edits)
}

fn picture(run: &Run) -> Picture {
    layout(run, &Layout::default())
}

fn seeds() -> std::ops::Range<u64> {
    let one = std::env::var("SEED").ok().and_then(|s| s.parse::<u64>().ok());
    one.map_or(0..300, |s| s..s + 1)
}

/// Boxes of words and plates, with what they say.
fn labels(picture: &Picture) -> Vec<(String, Area)> {
    let label = |m: &Mark| match &m.shape {
        Shape::Words(words) => Some((words.text.clone(), m.bounds)),
        Shape::Plate { text, .. } => Some((text.clone(), m.bounds)),
        _ => None,
    };
    picture.marks.iter().filter_map(label).collect()
}

fn check(run: &Run, picture: &Picture, hint: &str) {
    let labels = labels(picture);
    for (i, (text, area)) in labels.iter().enumerate() {
        for (other, there) in &labels[i + 1..] {
            assert!(!area.meets(there), "{hint}: `{text}` {area:?} and `{other}` {there:?}");
        }
        let inside = area.left >= 0 && area.right <= picture.width;
        assert!(inside, "{hint}: `{text}` leaves the picture: {area:?}");
        assert!(
            area.top >= picture.header_height && area.bottom <= picture.height,
            "{hint}: {text}"
        );
        // On a narrow picture words may stand across a dotted outline.
        let narrow = picture.width < 560;
        for mark in
            picture.marks.iter().filter(|m| !narrow || !matches!(m.shape, Shape::Waiting { .. }))
        {
            let solid = matches!(
                mark.shape,
                Shape::Belief { .. }
                    | Shape::Truth { .. }
                    | Shape::Waiting { .. }
                    | Shape::Ladder { .. }
                    | Shape::Rejected { .. }
                    | Shape::Corruption { .. }
            );
            assert!(!solid || !area.meets(&mark.bounds), "{hint}: `{text}` on {:?}", mark.shape);
        }
    }
    for mark in &picture.marks {
        assert!((mark.event.0 as usize) < run.record.events.len(), "{hint}: {mark:?}");
        assert!(!narrate::sentence(run, mark.event).is_empty(), "{hint}: {mark:?}");
        assert!(!paths(&mark.shape, mark.role).is_empty(), "{hint}: {mark:?}");
    }
    for pair in picture.knots.windows(2) {
        assert!(pair[0].at < pair[1].at && pair[0].y < pair[1].y, "{hint}: {pair:?}");
    }
    for knot in &picture.knots {
        assert_eq!(picture.y_of(knot.at), knot.y, "{hint}");
        assert_eq!(picture.time_of(knot.y), knot.at, "{hint}");
    }
}

#[test]
fn no_words_lie_on_others_and_every_mark_has_a_sentence_in_the_lease_race() {
    for edits in [&[PAUSE][..], &[PAUSE, CHECK], &[]] {
        let run = race(edits);
        for width in [320, 390, 800, 1000, 1600] {
            for scale in [Scale::Page, Scale::Wall] {
                check(&run, &layout(&run, &Layout { width, scale }), &format!("{edits:?} {width}"));
            }
        }
    }
}

#[test]
fn no_words_lie_on_others_and_every_mark_has_a_sentence_in_random_runs() {
    for seed in seeds() {
        let run = random(seed);
        check(&run, &picture(&run), &format!("SEED={seed} cargo test --test diagram"));
    }
}

/// The words that the picture cannot do without are there: room was made for them.
#[test]
fn every_sign_keeps_its_words_in_the_lease_race() {
    let said = |edits: &[&str]| {
        let labels = labels(&picture(&race(edits)));
        labels.into_iter().map(|l| l.0).collect::<Vec<_>>().join("|")
    };
    let base = said(&[PAUSE]);
    for words in
        ["stale 41|accepted", "lease 41 expires", "2 believers|for 2.2 s", "paused 12 s", "waiting"]
    {
        assert!(base.contains(words), "{words} in {base}");
    }
    let fixed = said(&[PAUSE, CHECK]);
    assert!(fixed.contains("41 < 42|rejected"), "{fixed}");
}

/// A fold that hid a message without saying so would make this sum too small.
#[test]
fn a_fold_hides_no_message_without_saying_so() {
    let counted = |run: &Run, hint: &str| {
        let picture = picture(run);
        let messages =
            picture.marks.iter().filter(|m| matches!(m.shape, Shape::Message { .. })).count();
        let told: usize = labels(&picture)
            .iter()
            .filter_map(|(text, _)| {
                let (number, rest) = text.split_once(' ')?;
                let counts =
                    ["refused try", "refused tries", "renewal", "renewals"].contains(&rest);
                counts.then(|| number.parse::<usize>().ok()).flatten()
            })
            .sum();
        assert_eq!(messages + 2 * told, run.record.messages.len(), "{hint}");
        told
    };
    assert_eq!(counted(&race(&[PAUSE]), "the lease race"), 2);
    for seed in seeds() {
        counted(&random(seed), &format!("SEED={seed} cargo test --test diagram"));
    }
}

/// A lock on five masters, with faults.
fn masters(settings: &[(&str, &str)], edits: &[&str]) -> Run {
    let program = ["acquire", "read balance", "work 1s", "write balance = balance - 10", "release"];
    let clients = [("client-a", "0s", &program[..]), ("client-b", "2500ms", &program[..])];
    let scenario = Scenario { system: "redlock".into(), ..scenario(settings, &clients) };
    run(&scenario, edits)
}

/// What Kleppmann's fourth example does: C's clock steps, and the next majority has C too.
const STEP: [&str; 4] = [
    "at 0s cut {client-a}|{redis-d redis-e}",
    "at 2s clock redis-c +11s",
    "at 2s cut {client-b}|{redis-a redis-b}",
    "pause client-a before write#1 for 4s",
];

#[test]
fn a_question_to_five_masters_has_one_label_and_every_arrow_is_a_mark_of_its_own() {
    let run = masters(&[], &[]);
    let picture = picture(&run);
    let messages = |m: &&Mark| matches!(m.shape, Shape::Message { .. });
    let arrows: Vec<&Mark> = picture.marks.iter().filter(messages).collect();
    assert_eq!(arrows.len(), run.record.messages.len());
    let mut events: Vec<_> = arrows.iter().map(|m| m.event).collect();
    events.dedup();
    assert_eq!(events.len(), arrows.len());
    let said = |words: &str| labels(&picture).iter().filter(|l| l.0 == words).count();
    // Two clients take the lock one after the other, and give it back.
    assert_eq!([said("SET NX PX ×5"), said("OK ×5"), said("SET NX PX"), said("OK")], [2, 2, 0, 0]);
    assert_eq!([said("5 of 5"), said("elapsed 100 ms"), said("valid 9.798 s")], [2, 2, 2]);
}

#[test]
fn an_answer_that_comes_after_its_client_has_counted_speaks_for_itself() {
    let settings = [("redlock.patience", "200ms")];
    let run = masters(&settings, &["delay redis-d>client-a#1 by 150ms"]);
    let labels = labels(&picture(&run));
    let said = |words: &str| labels.iter().filter(|l| l.0 == words).count();
    assert_eq!([said("OK ×4"), said("OK"), said("4 of 5"), said("OK ×5")], [1, 1, 1, 1]);
}

#[test]
fn a_promise_that_was_broken_goes_on_as_an_empty_bar_until_its_holder_lets_go() {
    let bars = |edits: &[&str]| {
        let program = ["acquire", "read balance", "work 1s", "write balance = 90", "release"];
        let clients = [("client-a", "0s", &program[..])];
        let run = run(&scenario(&[("lease.clock", "wall")], &clients), edits);
        let picture = picture(&run);
        check(&run, &picture, &format!("{edits:?}"));
        let left = picture.marks.iter().filter(|m| matches!(m.shape, Shape::Valid { .. }));
        left.map(|m| (m.from.0 / 1_000, m.until.map_or(0, |at| at.0 / 1_000))).collect::<Vec<_>>()
    };
    assert_eq!(bars(&["at 700ms clock lock-service +20s"]), [(700, 1_300)]);
    assert!(bars(&[PAUSE]).is_empty() && bars(&[]).is_empty());
}

#[test]
fn masters_stand_close_together_under_one_name() {
    let run = masters(&[], &[]);
    for (width, widest) in [(390, 480), (608, 608), (800, 800), (1280, 1280)] {
        let picture = layout(&run, &Layout { width, ..Layout::default() });
        assert!(picture.width <= widest, "{width}: {}", picture.width);
        let grouped: Vec<_> = picture.lanes.iter().filter(|l| l.grouped).collect();
        let names: Vec<&str> = grouped.iter().map(|l| l.label.as_str()).collect();
        assert_eq!(names, ["A", "B", "C", "D", "E"]);
        assert!(grouped.windows(2).all(|pair| pair[1].x - pair[0].x <= 40));
        let head = picture.heads.first().expect("they have one");
        assert_eq!(head.label, "Redis masters");
        assert!(grouped.iter().all(|l| head.area.left < l.x && l.x < head.area.right));
    }
}

#[test]
fn the_bar_of_a_key_ends_where_a_clock_a_restart_or_its_time_ends_it() {
    let ends = |edits: &[&str]| {
        let run = masters(&[], edits);
        let picture = picture(&run);
        check(&run, &picture, &format!("{edits:?}"));
        let kept = picture.marks.iter().filter_map(|m| match &m.shape {
            Shape::Kept { area, whose: 0 } => {
                let lane = picture.lanes.iter().find(|l| (0..30).contains(&(l.x - area.left)))?;
                Some((lane.label.clone(), m.until?.0 / 1_000))
            }
            _ => None,
        });
        let mut kept: Vec<(String, u64)> = kept.collect();
        kept.sort();
        kept
    };
    let all = |ms: [u64; 3]| ["A", "B", "C"].map(String::from).into_iter().zip(ms).collect();
    let expected: Vec<(String, u64)> = all([5_750, 5_750, 2_000]);
    assert_eq!(ends(&STEP), expected);
    let mut restart = STEP;
    restart[1] = "at 2s crash redis-c";
    let crash: Vec<(String, u64)> = all([5_750, 5_750, 2_300]);
    let with_restart = [&restart[..], &["at 2300ms restart redis-c"]].concat();
    assert_eq!(ends(&with_restart), crash);
    // Nothing but time: the client stands still, and every key has its ten seconds and a millisecond.
    let paused = ends(&["pause client-a before write#1 for 15s"]);
    assert_eq!(paused.len(), 5);
    assert!(paused.iter().all(|kept| kept.1 == 10_051), "{paused:?}");
}

/// Each refused try of five masters is a question, a deletion, and ten answers.
#[test]
fn refused_tries_at_five_masters_are_folded_and_counted() {
    let run = masters(&[], &["pause client-a before write#1 for 15s"]);
    let picture = picture(&run);
    let messages = |m: &&Mark| matches!(m.shape, Shape::Message { .. });
    let drawn = picture.marks.iter().filter(messages).count();
    let told: Vec<String> = labels(&picture).into_iter().map(|l| l.0).collect();
    for words in ["5 refused tries", "1.1–1.2 s apart"] {
        assert!(told.iter().any(|t| t == words), "{told:?}");
    }
    assert_eq!(drawn + 5 * 20, run.record.messages.len());
    let boxes = |m: &&Mark| matches!(m.shape, Shape::Ballot { .. });
    // A's; of B the first that is refused, the last, after which too much happens, and the granted one.
    assert_eq!(picture.marks.iter().filter(boxes).count(), 4);
}

#[test]
fn rests_that_are_drawn_anew_are_rungs_with_their_spans() {
    let settings = [("acquire.retry", "100ms"), ("acquire.jitter", "400ms")];
    let pause = ["pause client-a before write#1 for 3s"];
    let run = masters(&settings, &pause);
    let before = masters(&[("acquire.retry", "100ms"), ("acquire.jitter", "0s")], &pause);
    let rungs = |run: &Run| {
        let rung = |m: &&Mark| matches!(m.shape, Shape::Rung { .. });
        picture(run).marks.iter().filter(rung).count()
    };
    assert!(rungs(&run) > 0);
    assert_eq!(rungs(&before), 0);
}

#[test]
fn a_miniature_shows_what_each_master_has() {
    let strips = |run: &Run| {
        let drawn = miniature(run, 600, 48);
        drawn.iter().filter(|p| matches!(p.1, Primitive::Rect { height: 1, .. })).count()
    };
    assert_eq!(strips(&masters(&[], &[])), 10);
    assert_eq!(strips(&race(&[])), 0);
}

#[test]
fn no_words_lie_on_others_where_masters_are_asked() {
    let settings: [&[(&str, &str)]; 4] = [
        &[],
        &[("redlock.masters", "3"), ("link.jitter", "40ms")],
        &[("redlock.masters", "7")],
        &[("redlock.order", "sequential")],
    ];
    let faults: [&[&str]; 4] = [
        &STEP,
        &["at 0s crash redis-b", "at 1s restart redis-b"],
        &["at 60ms pause client-a for 12s"],
        &["at 40ms cut {client-a}|{redis-a redis-b} for 2s", "drop redis-c>client-a#1"],
    ];
    for settings in settings {
        for edits in faults {
            if settings.first().is_some_and(|s| s.1 == "3") && edits == STEP {
                continue;
            }
            let run = masters(settings, edits);
            for width in [390, 608, 800, 1280] {
                let hint = format!("{settings:?} {edits:?} {width}");
                check(&run, &layout(&run, &Layout { width, ..Layout::default() }), &hint);
            }
        }
    }
}

#[test]
fn a_message_leaves_and_arrives_at_the_heights_of_its_moments() {
    let run = race(&[PAUSE]);
    let picture = picture(&run);
    for mark in &picture.marks {
        let Shape::Message { id, track, sent, arrives, fate, .. } = &mark.shape else { continue };
        let info = run.record.message(*id);
        assert_eq!((*fate, *sent), (Fate::Arrives, run.record.event(info.sent).at));
        let heights = (track.first().map(|p| p.y), track.last().map(|p| p.y));
        assert_eq!(heights, (Some(picture.y_of(*sent)), arrives.map(|a| picture.y_of(a))));
        let middle = (track[0].y + track[1].y) / 2;
        let dot = mark.shape.on_track(middle).expect("it is on its way");
        assert!(dot.x > track[0].x.min(track[1].x) && dot.x < track[0].x.max(track[1].x));
    }
}

#[test]
fn five_lanes_fit_in_800_pixels_and_more_lanes_make_the_picture_wider() {
    let program = ["acquire", "read balance", "work 1s", "write balance = balance - 1", "release"];
    let ids: Vec<String> = ('a'..='h').map(|c| format!("client-{c}")).collect();
    for (count, wider) in [(3, false), (8, true)] {
        let clients: Vec<(&str, &str, &[&str])> =
            ids.iter().take(count).map(|id| (id.as_str(), "0s", &program[..])).collect();
        let run = run(&scenario(&[], &clients), &["at 500ms pause client-a for 20s"]);
        let picture = picture(&run);
        assert_eq!(picture.width > 800, wider);
        check(&run, &picture, &format!("{count} clients"));
        for pair in picture.lanes.windows(2) {
            assert!(pair[0].header.right < pair[1].header.left && pair[0].x < pair[1].x);
        }
    }
}

#[test]
fn an_empty_stretch_of_the_picture_has_no_marks_but_those_that_pass_through_it() {
    let run = race(&[PAUSE]);
    let picture = picture(&run);
    let all = picture.marks_between(0, picture.height).count();
    assert_eq!(all, picture.marks.len());
    let part: Vec<&Mark> = picture.marks_between(200, 260).collect();
    assert!(part.len() < all / 2);
    assert!(part.iter().all(|m| m.bounds.bottom >= 200 && m.bounds.top <= 260));
}

#[test]
fn a_lane_says_what_is_so_at_each_moment() {
    let run = race(&[PAUSE, CHECK]);
    let picture = picture(&run);
    let said = |lane: usize, ms| picture.lanes[lane].saying(Micros::from_millis(ms)).to_string();
    assert_eq!(said(0, 0), "asks");
    assert_eq!(said(0, 5_000), "holds 41");
    assert_eq!(said(0, 10_060), "thinks 41");
    assert_eq!(said(1, 2_000), "waits");
    assert_eq!(said(2, 5_000), "41 → A");
    assert_eq!(said(2, 10_360), "42 → B");
    assert_eq!(said(3, 0), "balance = 100");
    assert_eq!(said(3, 12_600), "highest seen 42");
    let header = format!("{:?}", header(&picture, Some(run.end)));
    assert!(header.contains("Lock service") && header.contains("Dotted"));
}

#[test]
fn a_label_from_a_scenario_is_text_in_the_file() {
    let mut scenario = scenario(&[], &[("client-a", "0s", &["acquire", "release"])]);
    let client = scenario.clients.get_mut("client-a").expect("it was just made");
    client.label = Some("<b onload=\"x\">&".into());
    let run = run(&scenario, &[]);
    let text = svg(&run, &picture(&run));
    assert!(text.contains("&lt;b") && !text.contains("<b "), "{text}");
}

#[test]
fn the_same_run_gives_the_same_file_as_before() {
    for (name, edits) in [("race-base", &[PAUSE][..]), ("race-fixed", &[PAUSE, CHECK])] {
        let run = race(edits);
        let drawn = svg(&run, &picture(&run));
        assert_eq!(drawn, svg(&run, &picture(&run)), "drawing is deterministic");
        let path = format!("{}/tests/snapshots/{name}.svg", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&path, &drawn).expect("the snapshot can be written");
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        let first = drawn.lines().zip(kept.lines()).find(|(a, b)| a != b);
        assert!(
            drawn == kept,
            "{path} differs, first in {first:?}; look at the new picture, then \
             UPDATE_EXPECT=1 cargo test --test diagram"
        );
    }
}

#[test]
fn a_miniature_shows_the_same_story_within_its_box() {
    let harmed = format!("{:?}", miniature(&race(&[PAUSE]), 600, 36));
    assert!(harmed.contains("Hatch(Stale)") && harmed.contains("Tint(Danger)"), "{harmed}");
    assert!(format!("{:?}", miniature(&race(&[PAUSE, CHECK]), 600, 36)).contains("Fenced"));
    let calm = format!("{:?}", miniature(&race(&[]), 600, 36));
    assert!(!calm.contains("Danger") && !calm.contains("Stale"), "{calm}");
}
