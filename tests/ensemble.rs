//! Servers of which one leads, the queue that clients keep there, and many clients, as they are drawn.

mod support;

use lockscope::diagram::{
    Layout, Mark, Picture, Primitive, Shape, header, layout, paths, topology,
};
use lockscope::judge::{SessionState, Standing, Testimony};
use lockscope::narrate;
use lockscope::run::{Run, compile, kind};
use lockscope::sim::{EventId, Micros, Set, What};
use lockscope::systems::Registry;
use support::Case;

const WORK: &str = "acquire; read x; work 1s; write x = x + 1; release";
const LONG: &str = "acquire; read x; work 4s; write x = x + 1; release";

fn zk(servers: &str) -> Case {
    let mut case = Case::new(&[("x", 0)]);
    case.scenario.system = "zookeeper".into();
    case.scenario.settings = Default::default();
    case.set("zookeeper.servers", servers)
}

fn run(case: &Case) -> Run {
    match compile(&case.scenario, &case.edits, &Registry::standard()) {
        Ok(compiled) => Run::of(compiled),
        Err(errors) => panic!("{errors:#?}"),
    }
}

/// Three clients that come one after the other.
fn three(edits: &str) -> Run {
    let case = zk("3").client("client-a", "0s", WORK).client("client-b", "1s", WORK);
    run(&case.client("client-c", "1100ms", WORK).edits(edits))
}

/// Many clients that come together and hold the lock for two seconds each.
fn many(count: usize, servers: &str, watch: &str) -> Run {
    let mut case = zk(servers).set("lock.watch", watch);
    for number in 0..count {
        let (id, start) = (format!("client-{:02}", number + 1), format!("{}ms", 20 * number));
        case = case.client(&id, &start, "acquire; read x; work 2s; write x = x + 1; release");
    }
    case.scenario.until = "300s".into();
    run(&case)
}

fn picture(run: &Run, width: i32) -> Picture {
    layout(run, &Layout { width, ..Layout::default() })
}

fn words(picture: &Picture) -> Vec<(&str, &Mark)> {
    let words = picture.marks.iter().filter_map(|mark| match &mark.shape {
        Shape::Words(words) => Some((words.text.as_str(), mark)),
        _ => None,
    });
    words.collect()
}

#[test]
fn what_takes_long_is_called_by_its_name() {
    let run = three("at 700ms cut {client-a}|{zk-a zk-b zk-c} for 20s");
    for width in [390, 800] {
        let picture = picture(&run, width);
        let words = words(&picture);
        let long: Vec<_> = words.iter().filter(|w| w.0.contains("takes ")).collect();
        assert!(width < 800 || !long.is_empty());
        for (text, mark) in long {
            let sent = run.record.event(mark.event).message().expect("a message is sent");
            let name = run.record.message(sent).body.name;
            let above = |other: &&(&str, &Mark)| {
                let gap = mark.bounds.top - other.1.bounds.top;
                other.1.event == mark.event && (1..=16).contains(&gap)
            };
            let named = if text.starts_with("takes ") {
                words.iter().find(above).is_some_and(|other| other.0 == name)
            } else {
                text.starts_with(&format!("{name} takes "))
            };
            assert!(named, "{width}: {text} of {name}");
        }
    }
}

#[test]
fn no_words_lie_on_others_and_every_mark_has_a_sentence() {
    let edits = [
        "",
        "pause client-a before write#1 for 14s",
        "at 1500ms crash zk-c; at 6s restart zk-c",
        "at 1300ms crash client-b",
        "at 1300ms cut {zk-a}|{zk-b zk-c} for 20s",
        "at 1300ms cut client-a zk-a for 9s; drop zk-b>client-b#2",
    ];
    for (edits, width) in edits.iter().flat_map(|edits| [390, 800].map(|width| (edits, width))) {
        let run = three(edits);
        let picture = picture(&run, width);
        let labels = picture.marks.iter().filter(|mark| {
            matches!(mark.shape, Shape::Words(_) | Shape::Plate { .. } | Shape::Seats { .. })
        });
        let labels: Vec<&Mark> = labels.collect();
        for (place, mark) in labels.iter().enumerate() {
            for other in &labels[place + 1..] {
                let apart = !mark.bounds.meets(&other.bounds);
                assert!(apart, "{edits}, {width}: {:?} and {:?}", mark.shape, other.shape);
            }
        }
        for mark in &picture.marks {
            assert!(!narrate::sentence(&run, mark.event).is_empty());
            let inside = mark.bounds.left >= -16 && mark.bounds.right <= picture.width + 16;
            assert!(inside, "{edits}, {width}: {:?}", mark.shape);
        }
    }
}

#[test]
fn what_servers_say_about_a_change_is_one_mark_that_shows_each_of_their_messages() {
    let run = three("");
    let picture = picture(&run, 800);
    let rounds = picture.marks.iter().filter(|mark| matches!(mark.shape, Shape::Round { .. }));
    let rounds: Set<EventId> = rounds.map(|mark| mark.event).collect();
    let messages = run.record.messages.iter();
    let said = messages.filter(|m| ["proposal", "ack", "commit"].contains(&m.body.name));
    let mut numbers = Set::new();
    for message in said {
        numbers.insert(message.body.token.expect("it carries the number of the change"));
        assert!(rounds.contains(&picture.shows(message.sent)));
    }
    assert_eq!(rounds.len(), numbers.len());
    let decided = run
        .record
        .events
        .iter()
        .enumerate()
        .filter(|(_, event)| matches!(event.note(), Some(Testimony::Decide(..))));
    let figures = words(&picture);
    for (index, _) in decided {
        let event = EventId(index as u32);
        assert!(
            narrate::sentence(&run, event).ends_with("decided: 2 of 3 servers have logged it.")
        );
        let own: Vec<&str> = figures.iter().filter(|w| w.1.event == event).map(|w| w.0).collect();
        assert!(own.is_empty() || own == ["2 of 3"], "{own:?}");
    }
    assert!(figures.iter().filter(|w| w.0 == "2 of 3").count() * 10 >= numbers.len() * 8);
}

#[test]
fn signs_of_life_have_no_mark_and_are_counted_where_time_is_folded() {
    let run = three("pause client-a before write#1 for 14s");
    let picture = picture(&run, 1_280);
    let beats = run.record.messages.iter().filter(|m| m.body.name == "ping");
    let beats: Vec<EventId> = beats.map(|m| m.sent).collect();
    assert!(beats.len() > 20);
    assert!(picture.marks.iter().all(|mark| !beats.contains(&mark.event)
        || matches!(mark.shape, Shape::Fold { .. } | Shape::Tick { .. } | Shape::Words(_))));
    assert!(words(&picture).iter().any(|w| w.0.ends_with("heartbeats")));
}

#[test]
fn the_head_of_a_lane_says_who_leads_at_each_moment() {
    let picture = picture(&three("at 1500ms crash zk-c; at 6s restart zk-c"), 800);
    let lane = |label: &str| {
        let mut lanes = picture.lanes.iter().filter(|lane| lane.grouped);
        lanes.find(|lane| lane.label == label).expect("it is there")
    };
    let at = |label: &str, ms: u64| lane(label).stand(Micros::from_millis(ms));
    assert_eq!(at("C", 0), Some(Standing::Leads(1)));
    assert_eq!(at("A", 0), Some(Standing::Follows(lane("C").node)));
    assert_eq!(at("B", 5_000), Some(Standing::Leads(2)));
    // Whoever is dead leads nobody.
    assert_eq!(at("C", 5_000), Some(Standing::Seeks));
    assert!(words(&picture).iter().any(|w| w.0.contains("leads")));
}

#[test]
fn a_session_that_ends_shows_how_long_it_was_silent_and_what_rounding_adds() {
    let run = three("pause client-a before write#1 for 14s");
    let picture = picture(&run, 800);
    let silent = picture.marks.iter().find_map(|mark| match mark.shape {
        Shape::Silent { whose, .. } => Some((whose, mark.from, mark.until.expect("it ends"))),
        _ => None,
    });
    let (whose, from, due) = silent.expect("client A is silent");
    assert_eq!((whose, due.since(from)), (0, Micros::from_secs(10)));
    let tail = picture
        .marks
        .iter()
        .find(|mark| matches!(mark.shape, Shape::Waiting { .. }) && mark.from == due);
    let tail = tail.and_then(|mark| mark.until).expect("it is rounded up").since(due);
    assert!(tail > Micros::ZERO && tail <= Micros::from_secs(2), "{tail:?}");
}

#[test]
fn each_change_of_a_queue_shows_it_and_whom_it_wakes_is_counted() {
    let run = many(10, "3", "parent");
    let picture = picture(&run, 800);
    let queues = picture.marks.iter().filter_map(|mark| match &mark.shape {
        Shape::Seats { seats, more, .. } => Some((seats, seats.len() + more)),
        _ => None,
    });
    for (seats, _) in queues.clone().filter(|queue| queue.1 > 0) {
        let holding: Vec<bool> = seats.iter().map(|seat| seat.1).collect();
        assert!(holding[0] && holding[1..].iter().all(|holds| !holds));
    }
    let mut lengths: Vec<usize> = queues.map(|queue| queue.1).collect();
    lengths.dedup();
    assert_eq!(lengths, (0..=10).rev().collect::<Vec<_>>());
    let said = words(&picture);
    let counts = said.iter().filter_map(|w| w.0.strip_suffix(" woken")?.parse().ok());
    let counts: Vec<u64> = counts.collect();
    assert!(counts.ends_with(&[9, 8, 7, 6, 5, 4, 3, 2, 1]), "{counts:?}");
    let all = said.iter().filter_map(|w| w.0.strip_suffix(" in all")?.parse::<u64>().ok()).max();
    assert_eq!(all, Some(run.judgement.metrics.wakeups));
    let fired = picture.marks.iter().filter_map(|mark| match &mark.shape {
        Shape::Watch { ends, fired: true } => Some(ends.len() as u64),
        _ => None,
    });
    assert_eq!(fired.sum::<u64>(), run.judgement.metrics.wakeups);
}

#[test]
fn fifty_clients_on_five_servers_have_names_that_can_be_read_and_few_elements() {
    for (watch, width) in [("parent", 800), ("predecessor", 390)] {
        let run = many(50, "5", watch);
        let picture = picture(&run, width);
        let lanes: Vec<_> = picture.lanes.iter().take(50).collect();
        assert!(lanes.windows(2).all(|pair| pair[1].x - pair[0].x >= 16));
        assert_eq!(lanes[49].label, "50");
        assert_eq!(picture.heads.len(), 2);
        // What a screen of 800 pixels keeps drawn, with a stretch on either side.
        let drawn = |mark: &Mark| 1 + paths(&mark.shape, mark.role).len();
        let most = (0..picture.height)
            .step_by(100)
            .map(|top| picture.marks_between(top, top + 1_200).map(drawn).sum::<usize>());
        let most = most.max().unwrap_or(0);
        assert!(most <= 2_500, "{watch}: {most}");
    }
}

#[test]
fn the_head_of_a_crowd_counts_who_was_woken_where_the_servers_are_out_of_sight() {
    let run = many(20, "3", "parent");
    let picture = picture(&run, 600);
    let wakes = |until: Micros| {
        let events = run.record.events.iter().take_while(|e| e.at <= until);
        events.filter(|e| matches!(e.note(), Some(Testimony::Wake(..)))).count()
    };
    let mut before = Micros::ZERO;
    for saying in &picture.heads[0].sayings {
        assert!(before <= saying.from && picture.turned(saying.from) == saying.from);
        assert_eq!(saying.text, format!("{} woken so far", wakes(saying.from)));
        let shown = header(&picture, Some(saying.from)).iter().any(|part| match part {
            Primitive::Text { text, .. } => *text == saying.text,
            _ => false,
        });
        assert!(shown, "{}", saying.text);
        before = saying.from;
    }
    let all = wakes(run.end) as u64;
    assert!(all >= 190 && all == run.judgement.metrics.wakeups && wakes(before) as u64 == all);
}

#[test]
fn watching_the_parent_is_told_as_that_and_not_as_watching_who_stands_before() {
    for (watch, asked, watched) in [
        ("parent", "when anything changes in the queue: getChildren", "watches the parent"),
        (
            "predecessor",
            "when what stands before it in the queue is gone: exists",
            "watches Client",
        ),
    ] {
        let run = many(3, "3", watch);
        let ids = (0..run.record.events.len() as u32).map(EventId);
        let said: Vec<String> = ids.map(|id| narrate::sentence(&run, id)).collect();
        let asks = said.iter().filter(|words| words.contains("asks to be told"));
        assert!(
            asks.clone().count() > 1 && asks.clone().all(|words| words.contains(asked)),
            "{said:?}"
        );
        let told = knows(&run, |run, id| kind::kind(run.record.event(id)) == "watched").join("; ");
        let watches: Vec<&str> =
            told.split("; ").filter(|line| line.contains(" watches ")).collect();
        assert!(!watches.is_empty() && watches.iter().all(|line| line.contains(watched)), "{told}");
    }
}

#[test]
fn on_the_plane_stand_who_leads_the_queue_with_its_numbers_and_who_watches_whom() {
    let run = three("");
    let lanes = picture(&run, 800).lanes;
    let at = |ms: u64| {
        let events = run.record.events.partition_point(|e| e.at <= Micros::from_millis(ms));
        let last = EventId(events as u32 - 1);
        topology(&run, &lanes, &run.world_at(last), Some(last), 640)
    };
    let plane = at(1_790);
    let has =
        |wanted: &dyn Fn(&Shape) -> bool| plane.marks.iter().filter(|m| wanted(&m.shape)).count();
    let says = |words: &str| {
        has(&|shape| match shape {
            Shape::Words(w) => w.text == words,
            Shape::Plaque { text, .. } => text == words,
            _ => false,
        })
    };
    assert_eq!((says("C leads"), says("epoch 1"), says("queue")), (1, 1, 1));
    // Three places with their numbers, of which the first is filled.
    assert_eq!((says("0"), says("1"), says("2")), (1, 1, 1));
    assert_eq!(has(&|shape| matches!(shape, Shape::Watch { fired: false, .. })), 2);
    assert_eq!(has(&|shape| matches!(shape, Shape::Session { left: Some(_), .. })), 3);
    let fired = at(2_120);
    let open = |m: &&Mark| matches!(m.shape, Shape::Watch { fired: true, .. });
    assert_eq!(fired.marks.iter().filter(open).count(), 1);
}

#[test]
fn many_clients_are_told_by_the_place_that_their_programs_are_at() {
    let run = many(12, "3", "predecessor");
    let held = |n: usize| {
        let grants = run.record.events.iter().enumerate();
        let mut grants =
            grants.filter(|(_, e)| matches!(e.note(), Some(Testimony::Believe(..)))).map(|g| g.0);
        grants.nth(n).map(|event| narrate::alike(&run, &run.world_at(EventId(event as u32))))
    };
    let told = held(2).into_iter().flatten().map(|a| format!("{} {} {}", a.who, a.place, a.which));
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            "9 clients at acquire Client 02, 04, 05, 07 to 12",
            "2 clients over Client 03, 06",
            "Client 01 at read x ",
        ]
    );
}

/// What each node knows once the last event of a kind has happened, as lines of one text.
fn knows(run: &Run, until: impl Fn(&Run, EventId) -> bool) -> Vec<String> {
    let events = (0..run.record.events.len() as u32).map(EventId);
    let last = events.filter(|id| until(run, *id)).last().expect("it happens");
    let columns = narrate::knows(run, &run.world_at(last));
    let line = |(key, value): (String, String)| format!("{key} {value}");
    columns
        .into_iter()
        .map(|k| k.lines.into_iter().map(line).collect::<Vec<_>>().join("; "))
        .collect()
}

#[test]
fn a_number_is_written_alike_on_plates_and_in_sentences_and_in_full_where_it_is_compared() {
    let run = three("pause client-a before write#1 for 14s; set resource.check token");
    let picture = picture(&run, 608);
    let plates = picture.marks.iter().filter_map(|mark| match &mark.shape {
        Shape::Plate { text, .. } => Some(text.as_str()),
        _ => None,
    });
    let plates: Set<&str> = plates.collect();
    assert_eq!(plates.iter().copied().collect::<Vec<_>>(), ["1:4", "1:7", "1:8"]);
    assert!(words(&picture).iter().any(|w| w.0 == "1:4 < 1:8"));
    let log = narrate::log(&run);
    for said in ["the lock to Client A: czxid 1:4", "token 1:4 is lower than 1:8"] {
        assert!(log.contains(said), "{said}\n{log}");
    }
    assert!(!log.contains("42949673"), "{log}");
    let known = knows(&run, |run, id| run.record.event(id).message().is_some());
    assert!(known.iter().any(|k| k.contains("highest seen for the lock 1:8 = 4294967304")));
    assert!(known.iter().any(|k| k.contains("leads zxid 1:") && k.contains(" = 0x1000000")));
    // Whatever else is compared, what a server has is its own number.
    let run = three("set lock.token sequence");
    let held = |run: &Run, id: EventId| {
        matches!(run.record.event(id).note(), Some(Testimony::Believe(..)))
    };
    let known = knows(&run, held).join("\n");
    assert!(known.contains("I hold number 2") && known.contains("holds czxid 1:8"), "{known}");
}

#[test]
fn who_is_dead_shows_what_is_on_its_disk_and_no_more() {
    let run = three("at 700ms crash zk-b; at 750ms crash client-a");
    let known = knows(&run, |run, id| matches!(run.record.event(id).what, What::Crash(_)));
    assert_eq!(known[0], "state down");
    assert_eq!(known[4], "state down; on disk its log up to zxid 1:4 = 0x100000004");
    let known = knows(&run, |_, id| id.0 == 2);
    assert_eq!(known[5], "leads zxid 1:2 = 0x100000002; the lock free", "it was elected before");
}

#[test]
fn of_several_sessions_of_a_client_each_is_told_apart() {
    let run = three("pause client-a before write#1 for 14s");
    let log = narrate::log(&run);
    assert!(log.contains("heard nothing of Client A's session for"), "{log}");
    let begun = |run: &Run, id: EventId| {
        let event = run.record.event(id);
        let again = matches!(event.note(), Some(Testimony::Session(SessionState::Begun)));
        again && event.at > Micros::from_secs(12)
    };
    let known = knows(&run, begun).join("\n");
    assert!(known.contains("Client A's second session ends at"), "{known}");
}

#[test]
fn what_is_given_up_without_a_connection_is_not_called_closed() {
    let edits = "set lock.disconnected stop; set renew.failure stop; at 2s cut {client-a}|{zk-a zk-b zk-c} for 30s";
    let case = zk("3").client("client-a", "0s", "acquire; read x; work 18s; write x = 1; release");
    let run = run(&case.client("client-b", "1s", WORK).edits(edits));
    let ended = |run: &Run, id: EventId| {
        let event = run.record.event(id);
        event.node.0 == 0 && matches!(event.what, What::End(0))
    };
    let known = knows(&run, ended);
    assert!(known[0].contains("given up without a connection"), "{}", known[0]);
    assert!(known.iter().any(|k| k.contains("Client A's session ends at")), "{known:?}");
}

#[test]
fn five_clients_and_three_servers_are_whole_beside_a_lesson_on_a_small_screen() {
    let run = many(5, "3", "parent");
    let picture = picture(&run, 608);
    assert_eq!(picture.width, 608);
    let labels: Vec<&str> = picture.lanes.iter().take(5).map(|l| l.label.as_str()).collect();
    assert!(labels.iter().all(|label| !label.contains('…')), "{labels:?}");
    let counted = words(&picture).into_iter().filter(|w| w.0.ends_with(" in all"));
    let rights: Vec<i32> = counted.map(|w| w.1.bounds.right).collect();
    assert!(!rights.is_empty() && rights.iter().all(|right| *right <= 608), "{rights:?}");
}

#[test]
fn what_a_client_takes_for_granted_was_granted_by_nobody() {
    let case = zk("3").set("zookeeper.created", "2147483647").client("client-a", "0s", LONG);
    let run = run(&case.client("client-b", "1s", WORK));
    for width in [390, 608, 800] {
        let picture = picture(&run, width);
        let said: Vec<&str> = words(&picture).into_iter().map(|(text, _)| text).collect();
        let said = said.join(" ");
        assert!(said.contains("granted by") && said.contains("nobody"), "{width}: {said}");
        assert!(!said.contains("place is gone"), "{width}: {said}");
    }
}

#[test]
fn a_head_says_thinks_when_another_server_than_the_one_that_granted_ended_the_grant() {
    let edits = "pause client-a before write#1 for 40s; at 4s crash zk-c";
    let run = three(edits);
    let ended = run.record.events.iter().find(|event| match event.note() {
        Some(Testimony::Free(grant, _)) => run.record.event(grant.0).node != event.node,
        _ => false,
    });
    let ended = ended.expect("another server leads when the session ends").at;
    let head = picture(&run, 800).lanes[0].saying(ended).to_string();
    assert!(head.starts_with("thinks"), "{head}");
}
