//! What can go wrong, one by one: stops at any instruction, losses of either half of an exchange,
//! connections that come late, copies, and three ways to die.

mod support;

use lockscope::judge::Testimony;
use lockscope::run::{Run, kind};
use lockscope::sim::{CrashKind, Disk, Micros, Outcome, ProcId, What};
use support::{Case, lines, when};

/// The lines of a program that does a little of everything.
const PROGRAM: &str =
    "acquire; read x; work 1s; sleep 500ms; check; write x = x + 1; renew; release";

fn one() -> Case {
    Case::new(&[("x", 0)]).set("lease.ttl", "60s").client("client-a", "0s", PROGRAM)
}

/// The kinds of what a client does, in order.
fn told(run: &Run, node: u16) -> Vec<&'static str> {
    let own = run.record.events.iter().filter(|e| e.node == ProcId(node));
    own.map(kind::kind).collect()
}

#[test]
fn a_process_can_be_stopped_before_any_instruction_in_each_way() {
    let plain = one().run();
    for stop in ["pause", "suspend", "freeze"] {
        for line in lines(PROGRAM) {
            let word = line.split(' ').next().expect("a line has a word");
            let edit = format!("{stop} client-a before {word}#1 for 3s");
            let run = one().edits(&edit).run();
            assert!(run.unused_edits.is_empty(), "{edit}");
            // It does what it would have done, three seconds later from there on.
            let mut all = told(&run, 0);
            let at = all.iter().position(|k| *k == stop).expect(&edit);
            assert_eq!(&all[at..at + 2], [stop, "resume"], "{edit}");
            all.drain(at..at + 2);
            assert_eq!(all, told(&plain, 0), "{edit}");
            let (stopped, resumed) =
                (when(&run, stop, "client-a", 1), when(&run, "resume", "client-a", 1));
            assert_eq!(resumed.since(stopped), Micros::from_secs(3), "{edit}");
            let later = when(&run, "end", "client-a", 1).since(when(&plain, "end", "client-a", 1));
            assert_eq!(later, Micros::from_secs(3), "{edit}");
        }
    }
}

#[test]
fn on_resume_the_program_goes_first_then_what_arrived_then_timers_unless_the_switch_says_otherwise()
{
    // Under the pause an answer to the heartbeat arrives, and the deadline passes.
    let case = || {
        Case::new(&[("x", 0)])
            .set("lease.ttl", "3s")
            .set("deadline.rule", "timer")
            .client("client-a", "0s", "acquire; work 1s; write x = 1; release")
            .task("client-a", "heartbeat", "sleep 1050ms; renew; sleep 60s")
            .edits("pause client-a before write#1 for 5s")
    };
    let order = |case: Case| {
        let run = case.run();
        let back = run.record.events.iter().rposition(|e| kind::kind(e) == "resume");
        let after = &run.record.events[back.expect("it resumes")..];
        let now = after.iter().take_while(|e| e.at == after[0].at);
        now.filter(|e| e.node == ProcId(0)).map(kind::kind).collect::<Vec<_>>()
    };
    let program = order(case());
    let timers = order(case().set("resume.order", "timers-first"));
    assert_eq!(program.first(), Some(&"resume"));
    assert_eq!(timers.first(), Some(&"resume"));
    let place = |all: &[&str], what: &str| all.iter().position(|k| *k == what);
    assert!(place(&program, "write") < place(&program, "answer"), "{program:?}");
    assert!(place(&program, "answer") < place(&program, "doubt"), "{program:?}");
    assert!(place(&timers, "doubt") < place(&timers, "write"), "{timers:?}");
}

#[test]
fn a_task_that_is_paused_alone_keeps_its_place_and_its_answers_while_the_others_go_on() {
    let case = Case::new(&[("x", 0)])
        .set("lease.ttl", "2s")
        .client("client-a", "0s", "acquire; read x; work 1s; write x = 1; release")
        .task("client-a", "heartbeat", "loop; sleep 500ms; renew; end")
        .client("client-b", "500ms", "acquire; read x; release");
    // The worker stands still for longer than the lease; the heartbeat keeps it.
    let run = case.edits("at 120ms pause client-a.main for 9s").run();
    assert_eq!(when(&run, "pause-task", "client-a", 1), Micros::from_millis(120));
    let learns = when(&run, "learn", "client-a", 1);
    assert_eq!(learns, when(&run, "resume-task", "client-a", 1), "the answer waited for it");
    assert_eq!(run.judgement.verdict.false_expiry, 0);
    assert!(when(&run, "grant", "lock-service", 2) > Micros::from_secs(9));
    // The heartbeat alone stands still: the lease ends under a worker that notices nothing.
    let case = Case::new(&[("x", 0)])
        .set("lease.ttl", "2s")
        .client("client-a", "0s", "acquire; work 5s; write x = 1; release")
        .task("client-a", "heartbeat", "loop; sleep 500ms; renew; end")
        .client("client-b", "500ms", "acquire; write x = 2; release");
    let run = case.edits("pause client-a.heartbeat before renew#2 for 20s").run();
    let v = &run.judgement.verdict;
    assert_eq!((v.false_expiry, v.stale_accepted), (1, 1));
}

#[test]
fn a_request_and_its_answer_are_lost_independently_and_both_look_the_same_to_the_client() {
    let case = || {
        Case::new(&[("x", 0)]).client(
            "client-a",
            "0s",
            "acquire; write x = 1 within 1s; if timeout goto out; out:; release",
        )
    };
    let (lost, unanswered) = (
        case().edits("drop client-a>resource#1").run(),
        case().edits("drop resource>client-a#1").run(),
    );
    assert_eq!(told(&lost, 0), {
        // The loss of a request is seen at its sender; everything else is the same.
        let mut all = told(&unanswered, 0);
        let write = all.iter().position(|k| *k == "write").expect("it writes");
        all.insert(write + 1, "lose");
        all
    });
    let accepted = |run: &Run| run.record.events.iter().any(|e| kind::kind(e) == "accept");
    assert!(!accepted(&lost) && accepted(&unanswered));
}

#[test]
fn what_is_on_an_old_connection_arrives_after_what_was_sent_on_the_next() {
    let run = Case::new(&[("x", 0)])
        .client("client-a", "0s", "acquire; write x = 1 within 1s; write x = 2; work 5s; release")
        .edits("delay client-a>resource#1 by 3s")
        .run();
    let writes: Vec<_> = run.record.messages.iter().filter(|m| m.body.name == "write").collect();
    assert_ne!(writes[0].conn, writes[1].conn, "a time-out gives the connection up");
    assert!(writes[0].delivered > writes[1].delivered);
}

#[test]
fn what_comes_to_a_dead_process_is_lost_with_all_behind_it_until_the_next_life_closes_the_connection()
 {
    // Its first read comes while the resource is down, its second when it is up again.
    let run = Case::new(&[("x", 0)])
        .set("request.timeout", "9s")
        .client("client-a", "1s", "read x; work 1s; read x")
        .task("client-a", "other", "sleep 3s; read x")
        .edits("at 500ms power-off resource; at 2s restart resource")
        .run();
    let reads: Vec<_> = run.record.messages.iter().filter(|m| m.body.name == "read").collect();
    assert_eq!((reads[0].conn, reads[0].delivered), (reads[1].conn, None));
    assert_eq!(reads[1].delivered, None, "a stream delivers a prefix of what was sent");
    assert_ne!(reads[2].conn, reads[1].conn, "the resource closes what it does not know");
    assert!(reads[2].delivered.is_some());
}

#[test]
fn a_copy_arrives_on_a_connection_of_its_own_and_counts_as_no_send() {
    let case = || {
        Case::new(&[("x", 0)])
            .client("client-a", "0s", "acquire; read x; write x = x + 1; release")
            .client("client-b", "0s", "acquire; read x; write x = x + 1; release")
    };
    let plain = case().run();
    for later in ["", " by 2s"] {
        let run = case().edits(&format!("duplicate client-a>resource#2{later}")).run();
        let copies: Vec<_> = run.record.messages.iter().filter(|m| m.copy_of.is_some()).collect();
        let [copy] = copies[..] else { panic!("{} copies", copies.len()) };
        let original = run.record.message(copy.copy_of.expect("it is one"));
        assert_ne!(copy.conn, original.conn);
        assert!(copy.delivered > original.delivered);
        assert_eq!(run.names().message(copy), "client-a>resource#2");
        let (one, two) = (&plain.judgement, &run.judgement);
        assert_eq!(one.metrics.attempts, two.metrics.attempts);
        // The resource answers twice, and the client takes one answer.
        assert_eq!(two.metrics.messages, one.metrics.messages + 1);
        // Two seconds later B has been granted the lock, and the judge hears an attempt of its own.
        let late = u64::from(!later.is_empty());
        assert_eq!((one.verdict.stale_attempts, two.verdict.stale_attempts), (0, late));
        let fenced = case().edits(&format!("duplicate client-a>resource#2{later}"));
        let fenced = fenced.edits("set resource.check token").verdict();
        assert_eq!((fenced.stale_accepted, fenced.stale_rejected), (0, late));
    }
}

#[test]
fn what_a_service_still_knows_depends_on_how_it_died_and_on_what_it_had_synced() {
    // A holds the lock when the service dies, and believes in it for ten seconds; B asks meanwhile.
    let forgets = |store: &str, death: &str| {
        let run = Case::new(&[("x", 0)])
            .set("lease.store", store)
            .client("client-a", "0s", "acquire; work 8s; release")
            .client("client-b", "4s", "acquire; release")
            .edits(&format!("at 2s {death} lock-service; at 3s restart lock-service"))
            .run();
        let v = &run.judgement.verdict;
        // A service that forgot its leases has forgotten its last number too.
        assert_eq!(
            (v.double_grant, v.broken_promises),
            (v.token_regress.unwrap_or(0), v.double_grant)
        );
        v.double_grant == 1
    };
    for (store, forgotten) in [
        ("durable", [false, false, false]),
        ("cached", [false, true, false]),
        ("memory", [true, true, true]),
    ] {
        let deaths = ["kill", "power-off", "shut-down"].map(|death| forgets(store, death));
        assert_eq!(deaths, forgotten, "{store}");
    }
    // Each resource keeps its marks in its own way too: with the data, or in memory.
    let lets_in = |check: &str, death: &str| {
        let case = Case::new(&[("x", 0)])
            .set("resource.check", check)
            .client("client-a", "0s", "acquire; work 1s; write x = 1; release")
            .client("client-b", "1s", "acquire; write x = 2; release")
            .edits("pause client-a before write#1 for 12s")
            .edits(&format!("at 11s {death} resource; at 12s restart resource"));
        case.verdict().stale_accepted
    };
    for death in ["kill", "power-off", "shut-down"] {
        assert_eq!((lets_in("token", death), lets_in("token-volatile", death)), (0, 1), "{death}");
    }
}

#[test]
fn three_ways_to_die_differ_in_what_survives_and_in_who_is_told() {
    let mut disk = Disk::new(1);
    let written = |how| {
        let mut disk = disk.clone();
        *disk.write() = 2;
        disk.crash(how);
        *disk.read()
    };
    assert_eq!([CrashKind::Kill, CrashKind::Power, CrashKind::Clean].map(written), [2, 1, 2]);
    *disk.write() = 3;
    disk.sync();
    disk.crash(CrashKind::Power);
    assert_eq!(*disk.read(), 3, "what was synced survives everything");

    // A waits in the service's queue. Whose host is alive is told that the service is gone, and asks
    // again; behind a machine without power there is silence.
    for (word, told) in [("kill", true), ("shut-down", true), ("power-off", false)] {
        let run = Case::new(&[("x", 0)])
            .client("client-b", "0s", "acquire; work 30s; release")
            .client("client-a", "1s", "acquire; write x = 1; release")
            .edits(&format!("at 3s {word} lock-service; at 5s restart lock-service"))
            .run();
        // Before the restart: after it, whoever uses the old connection learns that it is gone.
        let dead = run.record.events.iter().filter(|e| e.at < Micros::from_secs(5));
        assert_eq!(dead.filter(|e| kind::kind(e) == "reset").count() > 0, told, "{word}");
        // The lease survives each of them.
        assert_eq!(run.judgement.verdict.double_grant, 0, "{word}");
        assert_eq!(run.compiled.edits[0].to_string(), format!("at 3s {word} lock-service"));
    }
}

#[test]
fn whoever_learns_late_that_a_connection_is_gone_loses_only_what_was_asked_on_it() {
    // The service dies and starts again under the pause. When A goes on it first asks for more time,
    // on a new connection, and then reads that the old one is gone.
    let case = |edits: &str| {
        Case::new(&[("x", 0)])
            .set("lease.ttl", "60s")
            .client("client-a", "0s", "acquire; work 1s; renew; write x = 1; release")
            .client("client-b", "500ms", "read x; acquire; write x = 2; release")
            .edits(edits)
    };
    let run = case(
        "pause client-a before renew#1 for 5s; at 2s kill lock-service; at 3s restart lock-service",
    );
    let run = run.run();
    assert!(when(&run, "reset", "client-a", 1) < when(&run, "resume", "client-a", 1));
    assert_eq!(when(&run, "extend", "lock-service", 1).0, 6_150_000);
    assert_eq!(run.judgement.verdict.renewal_failures, Some(0), "the renewal was answered");
    // Nobody says that a process which stands still finds something out.
    let log = lockscope::narrate::log(&run);
    let line = log.lines().find(|l| l.contains("connection to Lock service is gone"));
    assert!(line.is_some_and(|l| l.contains("Client A's connection")), "{log}");
    assert!(!log.contains("finds its connection"), "{log}");
    // B waits in the service's queue. That the resource dies is nothing to that request.
    let run = case("at 700ms kill resource; at 800ms restart resource").run();
    let asked = |who| run.record.events.iter().filter(move |e| e.node == ProcId(who));
    assert_eq!(asked(1).filter(|e| kind::kind(e) == "acquire").count(), 1);
    assert_eq!(run.judgement.verdict.stalled, 0);
}

#[test]
fn a_dead_process_refuses_at_once_and_a_machine_without_power_or_behind_a_cut_says_nothing() {
    let told = |edits: &str| {
        let case = Case::new(&[("x", 0)]).client("client-a", "1s", "read x; sleep 1us");
        let run = case.edits(edits).run();
        let told = run.record.events.iter().find_map(|e| match e.note() {
            Some(Testimony::Told(_, outcome)) => Some((*outcome, e.at.0 / 1_000)),
            Some(Testimony::Learn(_)) => Some((Outcome::Ok, e.at.0 / 1_000)),
            _ => None,
        });
        told.expect("the read is over")
    };
    for death in ["kill", "shut-down"] {
        assert_eq!(told(&format!("at 0s {death} resource")), (Outcome::Closed, 1_100));
    }
    assert_eq!(told("at 0s power-off resource"), (Outcome::Timeout, 3_000));
    assert_eq!(told("at 0s kill resource; at 0s cut resource>client-a"), (Outcome::Timeout, 3_000));
    // Who starts in time is there.
    assert_eq!(told("at 0s kill resource; at 1040ms restart resource"), (Outcome::Ok, 1_100));
    // A process that dies later tells what it is connected with, once.
    let case = Case::new(&[("x", 0)]).client("client-a", "1s", "read x; sleep 1us");
    let run = case.edits("at 1040ms kill resource").run();
    assert_eq!(run.record.events.iter().filter(|e| matches!(e.what, What::Reset(_))).count(), 1);
}
