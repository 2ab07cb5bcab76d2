//! What a lesson claims across several of its runs, which an assertion about one run cannot say.

use std::path::Path;

use lockscope::judge::Testimony;
use lockscope::lesson::{self, Class, Lesson};
use lockscope::run::{Run, compile, kind};
use lockscope::sim::Micros;
use lockscope::systems::Registry;

fn lesson(file: &str) -> Lesson {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("lessons").join(file);
    lesson::read(&path).expect("it is a lesson")
}

fn mutex() -> Lesson {
    lesson("02-why-a-mutex-does-not-stretch.md")
}

fn run(lesson: &Lesson, variant: &str) -> Run {
    Run::of(lesson.compile(variant, &[]).expect("it compiled when it was read"))
}

/// All that a node can know: what happens in it, when, each message with its token, what it read.
fn seen_by(run: &Run, id: &str) -> Vec<String> {
    let node = run.names().find(id).expect("the node is there");
    let own = run.record.events.iter().filter(|e| e.node == node);
    let line = |event: &lockscope::sim::Event<Testimony>| {
        let message = event.message().map(|m| run.record.message(m));
        let message = message.map(|m| (m.body.name, m.body.token, m.from, m.to, m.number));
        let read = match event.note() {
            Some(Testimony::Learn(served)) => match run.record.event(*served).note() {
                Some(Testimony::Serve(_, _, value)) => Some(*value),
                _ => None,
            },
            _ => None,
        };
        format!("{:?} {} {message:?} {read:?}", event.at, kind::kind(event))
    };
    own.map(line).collect()
}

#[test]
fn whether_a_is_slow_or_dead_b_sees_one_history_and_the_file_holds_two() {
    let lesson = mutex();
    let (slow, dead) = (run(&lesson, "slow"), run(&lesson, "dead"));
    let history = seen_by(&slow, "client-b");
    assert!(history.iter().any(|line| line.contains(" end ")), "{history:?}");
    assert_eq!(history, seen_by(&dead, "client-b"));
    assert_ne!(seen_by(&slow, "resource"), seen_by(&dead, "resource"));
    assert!(slow.judgement.verdict.corruption > 0 && dead.judgement.verdict.corruption == 0);
}

/// No step reaches across machines: the grant at the service and the write at the resource are never one.
#[test]
fn between_a_grant_and_the_write_that_it_is_for_there_is_time_in_every_run() {
    let lesson = mutex();
    let mut gaps = Vec::new();
    for variant in &lesson.variants {
        let run = run(&lesson, &variant.name);
        let mut granted: Vec<(_, Micros)> = Vec::new();
        for event in &run.record.events {
            match event.note() {
                Some(Testimony::Grant { client, .. }) => granted.push((*client, event.at)),
                Some(Testimony::Accept(op, ..)) => {
                    let of = |g: &&(_, Micros)| g.0 == op.section.client;
                    gaps.extend(granted.iter().rev().find(of).map(|g| event.at.since(g.1)));
                }
                _ => {}
            }
        }
    }
    assert!(gaps.len() > 10 && gaps.iter().all(|gap| *gap > Micros::ZERO), "{gaps:?}");
}

/// Nothing in a run tells waste from harm: only what has to hold does.
#[test]
fn the_run_of_two_mails_is_the_run_of_two_payments() {
    let lesson = lesson("03-efficiency-or-correctness.md");
    let (mails, payments) = (run(&lesson, "base"), run(&lesson, "payment"));
    assert_eq!(mails.hash(), payments.hash());
    assert_eq!(Class::of(&mails.judgement.verdict), Some(Class::Efficiency));
    assert_eq!(Class::of(&payments.judgement.verdict), Some(Class::Correctness));
}

#[test]
fn each_of_the_twelve_cards_has_a_run_of_its_own_that_decides_its_tray() {
    let lesson = lesson("03-efficiency-or-correctness.md");
    assert_eq!(lesson.cards.len(), 12);
    let mut runs: Vec<&str> = lesson.cards.iter().map(|c| c.variant.text.as_str()).collect();
    runs.sort_unstable();
    runs.dedup();
    assert_eq!(runs.len(), 12);
    for card in &lesson.cards {
        let verdict = run(&lesson, &card.variant.text).judgement.verdict;
        assert_eq!(Class::of(&verdict), Some(card.tray), "{}", card.text);
    }
}

/// What a unique key gives: of any number who ask for it, one is taken and all others are told.
#[test]
fn of_ten_workers_who_insert_one_key_nine_are_refused() {
    let lesson = lesson("18-ask-the-resource.md");
    let mut scenario = lesson.scenario_of(lesson.variant("unique").expect("it is there"));
    let one = scenario.clients.get("client-b").expect("it is there").clone();
    let ids = ["client-c", "client-d", "client-e", "client-f", "client-g", "client-h", "i", "j"];
    for id in ids {
        scenario.clients.insert(id.to_string(), one.clone());
    }
    let compiled = compile(&scenario, &[], &Registry::standard()).expect("it compiles");
    let run = Run::of(compiled);
    let count = |kind: &str, cell: &str| {
        let named = run.names().cells.iter().position(|c| c == cell).expect("the cell is there");
        let of = run.record.events.iter().filter(|e| kind::kind(e) == kind);
        of.filter(|e| match e.note() {
            Some(Testimony::Accept(op, ..) | Testimony::Reject(op, ..)) => {
                usize::from(op.cell.0) == named
            }
            _ => false,
        })
        .count()
    };
    assert_eq!((count("accept", "ada"), count("reject", "ada")), (1, 9));
    assert_eq!(count("accept", "account_a") + count("accept", "account_b"), 1);
}

/// The command that the words quote is the one that is sent.
#[test]
fn the_command_in_the_words_of_the_lesson_on_redis_is_the_one_in_the_log() {
    let lesson = lesson("04-one-redis.md");
    let log = lockscope::narrate::log(&run(&lesson, "base"));
    for command in ["SET lock:cron 5352 NX PX 10000", "DEL lock:cron"] {
        assert!(log.contains(&format!(": {command}.")), "{command}: {log}");
        let said = lesson.beats.iter().any(|beat| format!("{beat:?}").contains(command));
        assert!(said, "{command}");
    }
    let log = lockscope::narrate::log(&run(&lesson, "two-steps"));
    assert!(log.contains(": SETNX lock:cron 5352."), "{log}");
}

fn redlock() -> Lesson {
    lesson("15-redlock.md")
}

/// What was delivered to a node from another: the names of the messages, and when.
fn said(run: &Run, from: &str, to: &str) -> Vec<(&'static str, Micros)> {
    let node = |id| run.names().find(id).expect("the node is there");
    let (from, to) = (node(from), node(to));
    let delivered = run.record.messages.iter().filter(|m| (m.from, m.to) == (from, to));
    delivered.filter_map(|m| Some((m.body.name, run.record.event(m.delivered?).at))).collect()
}

const MASTERS: [&str; 5] = ["redis-a", "redis-b", "redis-c", "redis-d", "redis-e"];

#[test]
fn in_the_lesson_on_redlock_three_clients_split_five_masters_two_two_one_and_all_delete() {
    let run = run(&redlock(), "split");
    let believed = Micros(2_901_009);
    let votes = |client: &str| {
        // The first answer of each master is that to the first try.
        let yes = |master: &&&str| said(&run, master, client).first().is_some_and(|m| m.0 == "OK");
        MASTERS.iter().filter(yes).count()
    };
    assert_eq!(["client-a", "client-b", "client-c"].map(votes), [2, 2, 1]);
    for client in ["client-a", "client-b", "client-c"] {
        for master in MASTERS {
            let asked = said(&run, client, master);
            let deletes = asked.iter().any(|m| m.0 == "compare and delete" && m.1 < believed);
            assert!(deletes, "{client} at {master}: {asked:?}");
        }
    }
}

/// The master whose yes came too late has the key, and the release reaches it too.
#[test]
fn in_the_lesson_on_redlock_the_slow_master_sets_the_key_and_is_told_of_the_release() {
    let run = run(&redlock(), "fixed");
    let heard = said(&run, "redis-d", "client-a");
    assert!(heard.iter().all(|m| m.1 > Micros::from_millis(300)), "{heard:?}");
    let asked = said(&run, "client-a", "redis-d");
    assert_eq!(asked[0], ("SET NX PX", Micros::from_millis(50)));
    assert_eq!(asked.last().map(|m| m.0), Some("compare and delete"));
    // It deleted something: the key was there although A never counted it.
    assert_eq!(heard.last().map(|m| m.0), Some("1"), "{heard:?}");
}

/// A majority that is given back key by key ends sooner, and nobody asks for more time.
#[test]
fn a_release_is_no_extension_whichever_master_it_reaches_first() {
    let run = run(&redlock(), "split");
    assert!(run.record.events.iter().all(|e| kind::kind(e) != "extend"));
}

/// Each of the hundred pairs of majorities: one client reaches the one, the other the other.
#[test]
fn whichever_three_masters_two_clients_reach_only_one_of_them_holds_the_lock() {
    let lesson = redlock();
    let scenario = lesson.scenario_of(lesson.variant("overlap").expect("it is there"));
    let out = |set: usize| (0..5).filter(move |master| set >> master & 1 == 0);
    let threes: Vec<usize> = (0..32_usize).filter(|set| set.count_ones() == 3).collect();
    assert_eq!(threes.len(), 10);
    for (a, b) in threes.iter().flat_map(|a| threes.iter().map(move |b| (*a, *b))) {
        assert_ne!(a & b, 0);
        let cut = |client: &'static str, set| {
            out(set).map(move |m| format!("at 0s cut {client} {}", MASTERS[m]))
        };
        let edits: Vec<String> = cut("client-a", a).chain(cut("client-b", b)).collect();
        let compiled = compile(&scenario, &edits, &Registry::standard()).expect("it compiles");
        let verdict = Run::of(compiled).judgement.verdict;
        assert_eq!((verdict.double_grant, verdict.broken_promises), (0, 0), "{edits:?}");
        assert!(verdict.grants >= 2, "each gets its turn: {edits:?}");
    }
}
