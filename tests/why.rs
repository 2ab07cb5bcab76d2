//! Why something happened, and why something does not.
//!
//! `UPDATE_EXPECT=1 cargo test --test why` rewrites the snapshots. Read them before committing.

mod support;

use std::collections::BTreeSet;

use expect_test::{Expect, expect};
use lockscope::judge::{SessionState, Testimony};
use lockscope::narrate;
use lockscope::run::{Run, kind, why};
use lockscope::sim::{EventId, Micros, What};
use support::{Case, Draws, race, random_case, seeds};

const CASES: u64 = 50;

/// The n-th event of a kind at a node.
fn event(run: &Run, what: &str, node: &str, n: usize) -> EventId {
    let node = run.names().find(node).expect("the node exists");
    let events = run.record.events.iter().enumerate();
    let mut found = events.filter(|(_, e)| kind::kind(e) == what && e.node == node);
    let (index, _) = found.nth(n - 1).unwrap_or_else(|| panic!("no {what} number {n}"));
    EventId(index as u32)
}

fn because(run: &Run, what: &str, node: &str, n: usize, expected: Expect) {
    expected.assert_eq(&narrate::why_text(run, event(run, what, node, n)));
}

/// What a node waits for at a moment, and the kinds of the events that it rests on and is decided by.
fn waits(run: &Run, node: &str, at: &str, expected: Expect) {
    let at = Micros::parse(at).expect("a moment");
    let last = run.record.events.partition_point(|e| e.at <= at) as u32 - 1;
    let world = run.world_when(EventId(last), at);
    let node = run.names().find(node).expect("the node exists");
    let text = match narrate::waits(run, &world, node) {
        Some(missing) => {
            let named = |id: Option<EventId>| {
                id.map_or("nothing".into(), |id| {
                    let event = run.record.event(id);
                    format!("{} at {}", kind::kind(event), narrate::moment(event.at))
                })
            };
            let (because, decides) = (named(missing.because), named(missing.decides));
            format!("{}\nbecause: {because}; decides: {decides}\n", missing.words)
        }
        None => "It goes on.\n".into(),
    };
    expected.assert_eq(&text);
}

/// What a client's belief rests on at a moment.
fn rule(run: &Run, node: &str, at: &str, expected: Expect) {
    let at = Micros::parse(at).expect("a moment");
    let last = run.record.events.partition_point(|e| e.at <= at) as u32 - 1;
    let world = run.world_when(EventId(last), at);
    let node = run.names().find(node).expect("the node exists");
    let said = narrate::beliefs(run, &world, node).into_iter().map(|b| b.words + "\n");
    expected.assert_eq(&said.collect::<String>());
}

#[test]
fn a_refused_write_leads_back_to_the_pause_the_expiry_and_the_newer_write() {
    let run = race().edits("set resource.check token").run();
    because(
        &run,
        "reject",
        "resource",
        1,
        expect![[r#"
             0.00 s  Client A asks for the lock.
             0.05 s  Lock service grants the lock to Client A: generation 41, for 10 s.
             1.20 s  Client A is paused for 12 s.
            10.05 s  The lease of Client A (generation 41) expires. Client A does not know.
            10.35 s  Lock service grants the lock to Client B: generation 42, for 10 s.
            12.55 s  Resource accepts Client B's write balance = 90 (token 42).
            13.20 s  Client A goes on. It still believes that it holds the lock, but its lease expired 3.15 s ago.
            13.20 s  Client A sends write balance = 90 with token 41.
            13.25 s  Resource rejects Client A's late write balance = 90: token 41 is lower than 42.

            It would have passed with token 42 or a higher one: Resource had seen 42, with Client B's write balance = 90 (token 42).
        "#]],
    );
}

#[test]
fn a_lost_update_leads_back_to_what_was_read_and_what_was_replaced() {
    because(
        &race().run(),
        "accept",
        "resource",
        2,
        expect![[r#"
              0.00 s  Client A asks for the lock.
              0.05 s  Lock service grants the lock to Client A: generation 41, for 10 s.
              0.15 s  Resource answers Client A's read: balance = 100.
              1.20 s  Client A is paused for 12 s.
             10.05 s  The lease of Client A (generation 41) expires. Client A does not know.
             10.35 s  Lock service grants the lock to Client B: generation 42, for 10 s.
             12.55 s  Resource accepts Client B's write balance = 90 (token 42).
             13.20 s  Client A goes on. It still believes that it holds the lock, but its lease expired 3.15 s ago.
             13.20 s  Client A sends write balance = 90 with token 41.
             13.25 s  Resource accepts Client A's late write balance = 90 (token 41). It replaces Client B's 90, which Client A never read. From here on no order of whole sections explains the resource: it is corrupted.
        "#]],
    );
}

#[test]
fn a_grant_from_the_queue_and_an_expiry_have_their_stories() {
    let run = race().set("acquire.wait", "queue").run();
    because(
        &run,
        "grant",
        "lock-service",
        2,
        expect![[r#"
              0.00 s  Client A asks for the lock.
              0.05 s  Lock service grants the lock to Client A: generation 41, for 10 s.
              1.05 s  Lock service lets Client B wait for the lock: Client A holds it (generation 41).
             10.05 s  The lease of Client A (generation 41) expires. Client A does not know.
             10.05 s  Lock service grants the lock to Client B, which was waiting: generation 42, for 10 s.
        "#]],
    );
    because(
        &run,
        "expire",
        "lock-service",
        1,
        expect![[r#"
              0.00 s  Client A asks for the lock.
              0.05 s  Lock service grants the lock to Client A: generation 41, for 10 s.
             10.05 s  The lease of Client A (generation 41) expires. Client A does not know.
        "#]],
    );
}

#[test]
fn a_time_out_leads_to_what_kept_the_answer_away() {
    let cut = race().edits("at 120ms cut client-a resource for 5s").run();
    because(
        &cut,
        "told",
        "client-a",
        1,
        expect![[r#"
            0.00 s  Client A asks for the lock.
            0.05 s  Lock service grants the lock to Client A: generation 41, for 10 s.
            0.10 s  Client A sends a read of balance.
            0.12 s  The way from Client A to Resource is cut.
            0.15 s  Client A's read (token 41) to Resource is held up where the link is cut.
            2.10 s  Client A waits no longer for the resource's answer. Whether it was carried out is unknown.

            What was missing is an answer. Client A's read (token 41) to Resource is held up where the link is cut.
        "#]],
    );
    let lost = race().edits("drop client-a>resource#2").run();
    because(
        &lost,
        "told",
        "client-a",
        1,
        expect![[r#"
             0.00 s  Client A asks for the lock.
             0.05 s  Lock service grants the lock to Client A: generation 41, for 10 s.
             1.20 s  Client A is paused for 12 s.
            13.20 s  Client A goes on. It still believes that it holds the lock, but its lease expired 3.15 s ago.
            13.20 s  Client A sends write balance = 90 with token 41.
            13.20 s  Client A's write (token 41) to Resource is lost.
            15.20 s  Client A waits no longer for the resource's answer. Whether it was carried out is unknown.

            What was missing is an answer. Client A's write (token 41) to Resource is lost.
        "#]],
    );
}

#[test]
fn whoever_waits_is_told_what_would_have_to_happen() {
    let retry = race().run();
    waits(
        &retry,
        "client-b",
        "5s",
        expect![[r#"
        Client B waits. Client A (generation 41) holds the lock: it must release it, or its lease must end, by the clock of Lock service at 10.05 s. Client B asks again at 7.20 s.
        because: grant at 0.05 s; decides: acquire at 7.20 s
    "#]],
    );
    waits(
        &retry,
        "client-a",
        "5s",
        expect![[r#"
        Client A stands still until 13.20 s. Until then it executes nothing, whatever reaches it.
        because: pause at 1.20 s; decides: resume at 13.20 s
    "#]],
    );
    waits(
        &retry,
        "client-a",
        "1s",
        expect![[r#"
        It goes on.
    "#]],
    );
    let queue =
        race().set("acquire.wait", "queue").client("client-c", "2s", "acquire; release").run();
    waits(
        &queue,
        "client-b",
        "5s",
        expect![[r#"
        Client B waits. Client A (generation 41) holds the lock: it must release it, or its lease must end, by the clock of Lock service at 10.05 s.
        because: grant at 0.05 s; decides: expire at 10.05 s
    "#]],
    );
    waits(
        &queue,
        "client-c",
        "5s",
        expect![[r#"
        Client C waits. Client A (generation 41) holds the lock: it must release it, or its lease must end, by the clock of Lock service at 10.05 s. Client B waits before it.
        because: grant at 0.05 s; decides: expire at 10.05 s
    "#]],
    );
}

#[test]
fn whoever_is_cut_off_or_forgotten_is_told_what_keeps_the_answer_away() {
    let cut = race().edits("at 500ms cut client-b lock-service").run();
    waits(
        &cut,
        "client-b",
        "1500ms",
        expect![[r#"
        Client B's acquire is held where the way to Lock service is cut: the way has to heal.
        because: hold at 1.05 s; decides: nothing
    "#]],
    );
    let still = race().edits("at 500ms pause lock-service for 20s").run();
    waits(
        &still,
        "client-b",
        "1500ms",
        expect![[r#"
        Client B's acquire lies unread. Lock service stands still until 20.50 s.
        because: pause at 0.50 s; decides: resume at 20.50 s
    "#]],
    );
    let lost = race().edits("drop resource>client-a#1").run();
    waits(
        &lost,
        "client-a",
        "500ms",
        expect![[r#"
        Resource's answer to Client A was lost on its way to Client A: no answer can come of it.
        because: lose at 0.15 s; decides: nothing
    "#]],
    );
    let dead = race().edits("at 500ms crash client-b").run();
    waits(
        &dead,
        "client-b",
        "6s",
        expect![[r#"
        Client B is down. Only a restart makes it go on.
        because: crash at 0.50 s; decides: nothing
    "#]],
    );
}

#[test]
fn whoever_started_again_may_stand_in_its_own_way() {
    let run = race().edits("at 2s crash client-a; at 3s restart client-a").run();
    let refused = event(&run, "refuse", "lock-service", 2);
    let words = narrate::sentence(&run, refused);
    assert!(words.contains("was granted earlier"), "{words}");
    let missing = narrate::missing(&run, refused).expect("it is a refusal");
    assert!(missing.words.contains("still stands") && missing.because.is_some(), "{missing:?}");
}

#[test]
fn a_belief_rests_on_a_grant_and_a_deadline_that_somebody_has_to_look_at() {
    rule(
        &race().run(),
        "client-a",
        "12s",
        expect![[r#"
        Client A believes that it holds the lock (generation 41) since its grant reached it at 0.10 s. Its own deadline has passed. Its program never looks at it: only a refusal or a notice ends the belief.
    "#]],
    );
    let looks = Case::new(&[("x", 0)])
        .set("lease.deadline", "receipt")
        .client("client-a", "0s", "acquire; work 4s; check; release")
        .task("client-a", "heartbeat", "sleep 3s; renew");
    rule(
        &looks.run(),
        "client-a",
        "1s",
        expect![[r#"
        Client A believes that it holds the lock (generation 41) since its grant reached it at 0.10 s. Its own deadline is 10.10 s, 10 s after the grant reached it. It looks at that deadline only where its program says `check`.
    "#]],
    );
    rule(
        &looks.run(),
        "client-a",
        "3500ms",
        expect![[r#"
        Client A believes that it holds the lock (generation 41) since its grant reached it at 0.10 s. Its own deadline is 13.10 s, 10 s after its renewal was accepted. It looks at that deadline only where its program says `check`.
    "#]],
    );
}

#[test]
fn a_grant_after_a_renewed_lease_names_the_renewal_that_its_end_was_counted_from() {
    let run = Case::new(&[])
        .client("client-a", "0s", "acquire; work 30s; release")
        .task(
            "client-a",
            "heartbeat",
            "loop; sleep 3s; renew; if timeout goto lost; end; lost:; give-up; stop main",
        )
        .client("client-b", "1s", "acquire; release")
        .edits("drop lock-service>client-a#2")
        .run();
    because(
        &run,
        "grant",
        "lock-service",
        2,
        expect![[r#"
         0.00 s  Client A asks for the lock.
         0.05 s  Lock service grants the lock to Client A: generation 41, for 10 s.
         1.05 s  Lock service lets Client B wait for the lock: Client A holds it (generation 41).
         3.05 s  Lock service renews Client A's lease: 10 s from now.
        13.05 s  The lease of Client A (generation 41) expires. Client A had declared it lost.
        13.05 s  Lock service grants the lock to Client B, which was waiting: generation 42, for 10 s.
    "#]],
    );
}

#[test]
fn an_expiry_that_a_changed_clock_brought_about_names_the_change() {
    let wall = || {
        Case::new(&[])
            .set("lease.clock", "wall")
            .client("client-a", "0s", "acquire; work 20s; release")
            .client("client-b", "1s", "acquire; release")
    };
    let early = wall().edits("at 4s clock lock-service +60s").run();
    because(
        &early,
        "grant",
        "lock-service",
        2,
        expect![[r#"
        0.00 s  Client A asks for the lock.
        0.05 s  Lock service grants the lock to Client A: generation 41, for 10 s.
        1.05 s  Lock service lets Client B wait for the lock: Client A holds it (generation 41).
        4.00 s  The wall clock of Lock service jumps forward by 60 s.
        4.00 s  The lease of Client A (generation 41) expires. Client A does not know. The promise to Client A is broken: it had 6.05 s to go.
        4.00 s  Lock service grants the lock to Client B, which was waiting: generation 42, for 10 s. Yet Client A was promised it, and that promise still stands.
    "#]],
    );
    let late = wall().edits("at 4s clock lock-service -5s").run();
    because(
        &late,
        "expire",
        "lock-service",
        1,
        expect![[r#"
         0.00 s  Client A asks for the lock.
         0.05 s  Lock service grants the lock to Client A: generation 41, for 10 s.
         4.00 s  The wall clock of Lock service jumps back by 5 s.
        15.05 s  The lease of Client A (generation 41) expires. Client A does not know.
    "#]],
    );
    // A clock that no lease is counted by explains nothing.
    let other = wall().set("lease.clock", "mono").edits("at 4s clock lock-service +60s").run();
    let expiry = narrate::why_text(&other, event(&other, "expire", "lock-service", 1));
    assert!(!expiry.contains("jumps"), "{expiry}");
}

#[test]
fn a_late_write_that_a_restarted_resource_lets_in_names_the_restart_and_the_forgotten_mark() {
    let volatile = |edits: &str| {
        race().set("resource.check", "token-volatile").edits("at 12.7s kill resource").edits(edits)
    };
    let run = volatile("at 12.9s restart resource").run();
    because(
        &run,
        "accept",
        "resource",
        2,
        expect![[r#"
         0.00 s  Client A asks for the lock.
         0.05 s  Lock service grants the lock to Client A: generation 41, for 10 s.
         0.15 s  Resource answers Client A's read: balance = 100.
         1.20 s  Client A is paused for 12 s.
        10.05 s  The lease of Client A (generation 41) expires. Client A does not know.
        10.35 s  Lock service grants the lock to Client B: generation 42, for 10 s.
        12.55 s  Resource accepts Client B's write balance = 90 (token 42).
        12.70 s  Resource crashes.
        12.90 s  Resource starts again. It has forgotten the highest token, 42.
        13.20 s  Client A goes on. It still believes that it holds the lock, but its lease expired 3.15 s ago.
        13.20 s  Client A sends write balance = 90 with token 41.
        13.25 s  Resource accepts Client A's late write balance = 90 (token 41). It replaces Client B's 90, which Client A never read. From here on no order of whole sections explains the resource: it is corrupted.
    "#]],
    );
    // Where nothing was forgotten, nothing is said of it.
    let kept = race().set("resource.check", "token").edits("at 12.7s kill resource");
    let kept = kept.edits("at 12.9s restart resource").run();
    let words = narrate::sentence(&kept, event(&kept, "restart", "resource", 1));
    assert_eq!(words, "Resource starts again.");
    // The mark that the first of two restarts forgot is no longer there in the second.
    let twice =
        volatile("at 12.8s restart resource; at 12.9s kill resource; at 13s restart resource");
    let twice = twice.run();
    let words = |n| narrate::sentence(&twice, event(&twice, "restart", "resource", n));
    assert_eq!(words(1), "Resource starts again. It has forgotten the highest token, 42.");
    assert_eq!(words(2), "Resource starts again.");
    let late = why::reasons(&twice, event(&twice, "accept", "resource", 2));
    assert!(late.contains(&event(&twice, "restart", "resource", 1)));
}

#[test]
fn a_write_after_a_belief_names_how_the_belief_ended() {
    let run = Case::new(&[("n", 0)])
        .set("lease.ttl", "15s")
        .set("client.margin", "5s")
        .set("deadline.rule", "timer")
        .client("client-a", "0s", "acquire; work 20s; write n = 1")
        .task("client-a", "heartbeat", "loop; sleep 3s; renew; end")
        .client("client-b", "1s", "acquire; release")
        .edits("at 4.5s cut client-a lock-service for 60s")
        .run();
    because(
        &run,
        "accept",
        "resource",
        1,
        expect![[r#"
         0.00 s  Client A asks for the lock.
         0.05 s  Lock service grants the lock to Client A: generation 41, for 15 s.
         3.05 s  Lock service renews Client A's lease: 15 s from now.
         4.50 s  The way from Client A to Lock service is cut.
         6.15 s  Client A's renew to Lock service is held up where the link is cut.
        11.15 s  Client A's renew to Lock service is held up where the link is cut.
        13.00 s  Client A no longer believes that it holds the lock: its own deadline is over.
        18.05 s  The lease of Client A (generation 41) expires.
        18.05 s  Lock service grants the lock to Client B, which was waiting: generation 42, for 15 s.
        20.10 s  Client A sends write n = 1 with token 41, although it no longer believes that it holds the lock.
        20.15 s  Resource accepts Client A's late write n = 1 (token 41). Client B had been granted the lock (generation 42) before it arrived.
    "#]],
    );
    let released = Case::new(&[("n", 0)]).client("client-a", "0s", "acquire; release; write n = 1");
    because(
        &released.run(),
        "write",
        "client-a",
        1,
        expect![[r#"
        0.00 s  Client A asks for the lock.
        0.05 s  Lock service grants the lock to Client A: generation 41, for 10 s.
        0.10 s  Client A believes that it holds the lock (generation 41).
        0.10 s  Client A gives the lock up.
        0.20 s  Client A sends write n = 1 with token 41, although it has released the lock.
    "#]],
    );
}

/// All that could have reached an event: what happened before at its node, and what those messages
/// carried.
fn past(run: &Run, id: EventId) -> BTreeSet<EventId> {
    let mut last = vec![None; run.names().nodes.len()];
    let before: Vec<Option<EventId>> = run
        .record
        .events
        .iter()
        .enumerate()
        .map(|(i, e)| last[usize::from(e.node.0)].replace(EventId(i as u32)))
        .collect();
    let (mut near, mut found) = (vec![id], BTreeSet::new());
    while let Some(id) = near.pop() {
        let event = run.record.event(id);
        for cause in event.causes.iter().chain(before[id.0 as usize]) {
            if found.insert(cause) {
                near.push(cause);
            }
        }
    }
    found
}

/// Three servers, of which the third leads, and a client of the first that holds the lock for long.
fn session(timeout: &str, edits: &str) -> Run {
    let mut case = Case::new(&[("x", 0)]);
    case.scenario.system = "zookeeper".into();
    case.scenario.settings = Default::default();
    let work = "acquire; read x; work 40s; write x = x + 1; release";
    let case = case.set("zookeeper.servers", "3").set("session.timeout", timeout);
    case.client("client-a", "0s", work).edits(edits).run()
}

#[test]
fn the_end_of_a_session_leads_back_to_what_kept_its_client_silent() {
    let ends = |timeout: &str, edits: &str, expected: Expect| {
        because(&session(timeout, edits), "expire", "zk-c", 1, expected);
    };
    // A short pause before it kept nobody silent.
    ends(
        "10s",
        "at 1s pause client-a for 100ms; at 1500ms suspend client-a for 20s",
        expect![[r#"
         1.50 s  Client A is suspended for 20 s. Its monotonic clock stands still.
        12.00 s  ZooKeeper C has heard nothing of Client A's session for 10.9 s, and 10 s are allowed: it wants the session to end.
        12.10 s  The session of Client A (czxid 1:4) expires. Client A does not know.
    "#]],
    );
    ends(
        "10s",
        "at 5s crash client-a",
        expect![[r#"
             5.00 s  Client A crashes. For the lock service it still holds the lock.
            16.00 s  ZooKeeper C has heard nothing of Client A's session for 11.9 s, and 10 s are allowed: it wants the session to end.
            16.10 s  The session of Client A (czxid 1:4) expires. Client A had crashed.
        "#]],
    );
    ends(
        "10s",
        "at 1500ms cut {client-a}|{zk-a zk-b zk-c} for 20s",
        expect![[r#"
         1.50 s  The way from Client A to ZooKeeper A is cut.
         1.50 s  The way from Client A to ZooKeeper B is cut.
        3.983 s  Client A's ping to ZooKeeper A is held up where the link is cut.
        8.250 s  Client A's connect to ZooKeeper B is held up where the link is cut.
        12.00 s  ZooKeeper C has heard nothing of Client A's session for 10.9 s, and 10 s are allowed: it wants the session to end.
        12.10 s  The session of Client A (czxid 1:4) expires.
    "#]],
    );
    // Its server hears it, and cannot pass it on.
    ends(
        "4s",
        "at 1500ms cut {client-a zk-a}|{zk-b zk-c} for 20s",
        expect![[r#"
            0.00 s  ZooKeeper C leads from now on, in epoch 1.
            1.50 s  The way from ZooKeeper C to ZooKeeper A is cut.
            2.05 s  ZooKeeper C's ping to ZooKeeper A is held up where the link is cut.
            6.00 s  ZooKeeper C has heard nothing of Client A's session for 4.9 s, and 4 s are allowed: it wants the session to end.
            6.10 s  The session of Client A (czxid 1:4) expires. Client A does not know.
        "#]],
    );
}

#[test]
fn two_sessions_that_end_have_each_their_own_reason() {
    let work = "acquire; read x; work 40s; write x = x + 1; release";
    let mut case = Case::new(&[("x", 0)]);
    case.scenario.system = "zookeeper".into();
    case.scenario.settings = Default::default();
    let case = case.client("client-a", "0s", work).client("client-b", "1s", work);
    let run = case.edits("at 1800ms crash client-a; at 1800ms pause client-b for 20s").run();
    because(
        &run,
        "expire",
        "zk-c",
        2,
        expect![[r#"
         1.80 s  Client B is paused for 20 s.
        14.00 s  ZooKeeper C has heard nothing of Client B's session for 11.9 s, and 10 s are allowed: it wants the session to end.
        14.10 s  The session of Client B (czxid 1:6) expires. Client B never learned of it.
    "#]],
    );
}

/// Up to four faults, long ones among them, where a client of the first of three servers has its session.
fn faults(draws: &mut Draws) -> String {
    let edit = |draws: &mut Draws| {
        let (at, lasts) = (500 * draws.up_to(30), 2 + draws.up_to(24));
        let node = draws.pick(&["client-a", "zk-a", "zk-b", "zk-c"]);
        let (one, other) = draws.pick(&[
            ("client-a", "zk-a zk-b zk-c"),
            ("client-a zk-a", "zk-b zk-c"),
            ("client-a zk-a zk-b", "zk-c"),
        ]);
        match draws.up_to(5) {
            0 => format!("at {at}ms pause {node} for {lasts}s"),
            1 => format!("at {at}ms suspend {node} for {lasts}s"),
            2 => format!("at {at}ms freeze {node} for {lasts}s"),
            3 => format!("at {at}ms crash {node}"),
            _ => format!("at {at}ms cut {{{one}}}|{{{other}}} for {lasts}s"),
        }
    };
    let edits: Vec<String> = (0..=draws.up_to(3)).map(|_| edit(draws)).collect();
    edits.join("; ")
}

#[test]
fn no_session_that_a_client_had_ends_without_what_kept_it_silent() {
    let mut ends = 0;
    for seed in seeds(4 * CASES) {
        let mut draws = Draws::new(seed);
        let timeout = draws.pick(&["4s", "10s"]);
        let run = session(timeout, &faults(&mut draws));
        let events = || run.record.events.iter().enumerate();
        for (index, event) in events() {
            let Some(Testimony::Lapse { which, heard, .. }) = event.note() else { continue };
            // A server may know of a session that its client never learned of, and never spoke for.
            let begun = Testimony::Session(SessionState::Begun);
            let had = events().filter(|(_, e)| e.note() == Some(&begun) && e.at < *heard).count();
            if had >= usize::from(*which) {
                ends += 1;
                let id = EventId(index as u32);
                let about = format!("replay with: SEED={seed} cargo test --test why no_session");
                let story = narrate::why_text(&run, id);
                assert!(!why::observed(&run, id).is_empty(), "{about}\n{story}");
            }
        }
    }
    assert!(ends > 0 || std::env::var_os("SEED").is_some());
}

#[test]
fn what_is_called_known_could_have_reached_the_event_and_every_reason_lies_before_it() {
    for seed in seeds(CASES) {
        let run = random_case(seed).run();
        for index in (0..run.record.events.len()).step_by(7) {
            let id = EventId(index as u32);
            let past = past(&run, id);
            for reason in why::known(&run, id) {
                let words = narrate::sentence(&run, reason);
                let to = narrate::sentence(&run, id);
                assert!(past.contains(&reason), "seed {seed}: {words} -> {to}");
            }
            for reason in why::reasons(&run, id) {
                assert!(reason < id, "seed {seed}");
            }
        }
    }
}

#[test]
fn every_story_ends_with_its_event_and_is_short_and_in_order() {
    for seed in seeds(CASES) {
        let run = random_case(seed).run();
        for index in (0..run.record.events.len()).step_by(5) {
            let id = EventId(index as u32);
            let why = narrate::why(&run, id);
            assert_eq!(why.steps.last(), Some(&id), "seed {seed}");
            assert!(why.steps.len() <= 12, "seed {seed}");
            assert!(why.steps.windows(2).all(|w| w[0] < w[1]), "seed {seed}");
            assert!(why.steps.iter().all(|s| why.thread.contains(s)), "seed {seed}");
            let text = narrate::why_text(&run, id);
            assert!(!text.contains('?') && !text.contains("does something"), "seed {seed}: {text}");
        }
    }
}

#[test]
fn whoever_stands_still_or_waits_for_an_answer_always_gets_a_sentence() {
    let mut asked = 0;
    for seed in seeds(CASES) {
        let run = random_case(seed).run();
        for index in (0..run.record.events.len()).step_by(11) {
            let id = EventId(index as u32);
            let world = run.world_at(id);
            for node in run.names().of_kind(lockscope::run::NodeKind::Client) {
                let found = narrate::waits(&run, &world, node);
                let stands = world.is_down(node) || world.halt(node).is_some();
                assert!(!stands || found.is_some(), "seed {seed}, event {index}");
                if let Some(missing) = found {
                    asked += 1;
                    let words = &missing.words;
                    assert!(words.ends_with('.') && !words.contains("  "), "{words}");
                    // A step of the world may hold several events.
                    let last = EventId(world.events() - 1);
                    assert!(missing.decides.is_none_or(|d| d > last), "seed {seed}: {words}");
                    assert!(missing.because.is_none_or(|b| b <= last), "seed {seed}: {words}");
                }
                for rule in narrate::beliefs(&run, &world, node) {
                    assert!(rule.because.is_some_and(|b| b.0 < world.events()), "seed {seed}");
                }
            }
        }
    }
    assert!(asked > 100 || std::env::var("SEED").is_ok(), "{asked}");
}

#[test]
fn a_story_of_ten_thousand_events_is_told_from_its_first_causes() {
    let case = Case::new(&[("x", 0)])
        .until("600s")
        .client("client-a", "0s", "loop; acquire; read x; write x = x + 1; release; end")
        .client("client-b", "0s", "loop; acquire; read x; write x = x + 1; release; end");
    let run = case.run();
    let last = run.record.events.iter().rposition(|e| matches!(e.what, What::Deliver(_)));
    let id = EventId(last.expect("messages arrive") as u32);
    assert!(id.0 > 10_000, "{}", id.0);
    let why = narrate::why(&run, id);
    assert!(why.thread.len() < 200, "{}", why.thread.len());
    assert!(why.steps.len() > 1);
}
