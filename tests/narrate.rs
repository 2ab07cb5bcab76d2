//! A run in words: that it reads well (snapshots), and that no run is without words.
//!
//! `UPDATE_EXPECT=1 cargo test --test narrate` rewrites the snapshots. Read them before committing.

mod support;

use std::collections::BTreeSet;

use expect_test::expect_file;
use lockscope::judge::{
    Ask, Ballot, CellId, Grant, LockId, Operation, Seat, Section, Standing, Testimony, Token,
    TruthEnd, Write,
};
use lockscope::narrate::{self, Tone};
use lockscope::run::{Run, kind};
use lockscope::sim::{Causes, Event, EventId, Limit, Micros, MsgId, ProcId, Ratio, What};
use support::{Case, counters, race, random_case, seeds, transfer};

const CASES: u64 = 300;

fn ids(run: &Run) -> impl Iterator<Item = EventId> + use<> {
    (0..run.record.events.len() as u32).map(EventId)
}

fn replay(test: &str, seed: u64) -> String {
    format!("replay with: SEED={seed} cargo test --test narrate {test}")
}

fn without_edits(mut case: Case) -> Case {
    case.edits.clear();
    case
}

/// The counter that is incremented after the grant hands the late client the higher token.
fn counter() -> Case {
    Case::new(&[("x", 0)])
        .set("lease.token", "set-then-incr")
        .set("resource.check", "token")
        .client("client-a", "0s", "acquire; write x = 1; release")
        .client("client-b", "1s", "acquire; work 4s; write x = 2; release")
        .edits("at 80ms pause client-a for 12s")
}

#[test]
fn the_lease_race_reads_as_a_story_without_a_check_and_with_one() {
    let (off, on) = (race().run(), race().edits("set resource.check token").run());
    expect_file!["snapshots/race-unchecked.log"].assert_eq(&narrate::log(&off));
    expect_file!["snapshots/race-checked.log"].assert_eq(&narrate::log(&on));
    expect_file!["snapshots/race-unchecked.mmd"].assert_eq(&narrate::mermaid(&off));
    expect_file!["snapshots/race-checked.mmd"].assert_eq(&narrate::mermaid(&on));
}

#[test]
fn a_report_holds_what_was_changed_the_verdict_the_diagram_and_the_log() {
    expect_file!["snapshots/counter.md"].assert_eq(&narrate::markdown(&counter().run()));
}

/// Whether some lines of a diagram contain these words, one line each, in this order.
fn in_order(diagram: &str, wanted: &[&[&str]]) -> bool {
    let mut lines = diagram.lines();
    wanted.iter().all(|words| lines.any(|line| words.iter().all(|word| line.contains(word))))
}

#[test]
fn the_diagram_of_the_lease_race_contains_the_messages_of_the_texts_own_diagram() {
    let (a, b, service, resource) = ("client_a", "client_b", "lock_service", "resource");
    let asks = |who: &str| format!("{who}->>{service}: Acquire");
    let granted = |who: &str| format!("{service}-->>{who}: Lease granted");
    let story: Vec<Vec<String>> = vec![
        vec![asks(a), "generation 41".into()],
        vec![granted(a)],
        vec![format!("{a}->>{a}: Paused"), "longer than its lease".into()],
        vec![format!("{service}->>{service}: Lease"), "expires".into()],
        vec![asks(b), "generation 42".into()],
        vec![granted(b)],
        vec![format!("{b}->>{resource}: Write"), "with token 42".into()],
        vec![format!("{a}->>{resource}: Delayed write"), "stale token 41".into()],
    ];
    let rejected = vec![format!("{resource}-->>{a}: Rejected"), "token 41".into()];
    let accepted = vec![format!("{resource}-->>{a}: Accepted"), "token 41".into()];
    for (edit, last) in [("", accepted), ("set resource.check token", rejected)] {
        let diagram = narrate::mermaid(&race().edits(edit).run());
        let mut story = story.clone();
        story.push(last);
        let words: Vec<Vec<&str>> =
            story.iter().map(|line| line.iter().map(String::as_str).collect()).collect();
        let wanted: Vec<&[&str]> = words.iter().map(Vec::as_slice).collect();
        assert!(in_order(&diagram, &wanted), "{diagram}");
    }
}

#[test]
fn the_headline_tells_harm_from_luck_from_a_fence_from_nothing() {
    let looked = race().client("client-b", "1s", "acquire; read balance; release");
    let checks = "acquire; read balance; work 1s; check; if lost goto out; write balance = 1; out:";
    let careful = without_edits(race())
        .client("client-a", "0s", checks)
        .edits("at 500ms pause client-a for 14s");
    let waits = without_edits(race()).set("lease.ttl", "70s").client(
        "client-a",
        "0s",
        "acquire; sleep 100s",
    );
    // A dead service never answers, and nothing else is to come.
    let stuck =
        without_edits(race()).set("acquire.wait", "queue").edits("at 0s power-off lock-service");
    let runs_on = without_edits(race()).client("client-a", "0s", "loop; let n = 1; end");
    let orphan = without_edits(race())
        .client("client-a", "0s", "acquire; work 1s; release")
        .client("client-b", "30s", "acquire; release")
        .edits("drop client-a>lock-service#2");
    let idle = without_edits(race()).client("client-a", "0s", "").client("client-b", "0s", "");
    let job = "acquire; job nightly; write balance = 1; release";
    let twice = without_edits(race()).client("client-a", "0s", job).client("client-b", "3s", job);
    let inevitable = without_edits(race()).edits("pause client-a before write#1 for 10500ms");
    let cases = [
        (race(), Tone::Harm, "Corrupted.", "replaced Client B's 90, which Client A never read"),
        (
            inevitable,
            Tone::Harm,
            "Corrupted.",
            "Client A's late write balance = 90 (token 41) had made it",
        ),
        (transfer().edits("set resource.check token"), Tone::Harm, "Torn.", "wrote X and never Y"),
        (twice, Tone::Harm, "Invariant broken.", "had its effect twice; the invariant"),
        (
            race().edits("set resource.check token"),
            Tone::Fenced,
            "Rejected.",
            "41 is lower than 42",
        ),
        (transfer(), Tone::Near, "Harmless.", "accepted"),
        (looked, Tone::Near, "Harmless.", "accepted"),
        (
            counter(),
            Tone::Near,
            "The rightful holder was refused.",
            "although Client B held the lock",
        ),
        (careful, Tone::Near, "Near miss.", "believed they held the lock for 2.2 s"),
        (race().until("13s"), Tone::Near, "Near miss.", "The invariant was never judged"),
        (waits, Tone::Calm, "Safe so far.", "Client B was still waiting"),
        (stuck, Tone::Calm, "Safe, but stuck.", "Nothing more could happen: Client A and Client B"),
        (runs_on, Tone::Calm, "Safe so far.", "Client A executed 10,000 lines in a row"),
        (
            orphan,
            Tone::Calm,
            "Safe.",
            "for 6.95 s Lock service kept the lock for Client A, which had sent its release",
        ),
        (idle, Tone::Calm, "Safe so far.", "never judged: no section ever began"),
        (without_edits(race()), Tone::Calm, "Safe.", "No two clients"),
    ];
    for (case, tone, word, part) in cases {
        let said = narrate::headline(&case.run());
        assert_eq!((said.tone, said.word.as_str()), (tone, word), "{}", said.rest);
        assert!(said.rest.contains(part), "{} {}", said.word, said.rest);
    }
}

#[test]
fn the_columns_and_the_summary_say_who_believes_and_who_knows() {
    let run = race().edits("set resource.check token").run();
    let at = ids(&run).find(|id| kind::kind(run.record.event(*id)) == "accept").expect("a write");
    let world = run.world_at(at);
    assert_eq!(
        narrate::summary(&run, &world),
        "Client A, paused, believes it holds generation 41; Client B believes it holds generation 42; \
         Lock service says Client B holds generation 42; Resource has seen generation 42."
    );
    let columns = narrate::knows(&run, &world);
    let titles: Vec<&str> = columns.iter().map(|c| c.title.as_str()).collect();
    assert_eq!(
        titles,
        ["Client A knows", "Client B knows", "Lock service knows", "Resource knows"]
    );
    let line = |node: usize, key: &str| {
        columns[node].lines.iter().find(|l| l.0 == key).map(|l| l.1.as_str())
    };
    assert_eq!(line(0, "state"), Some("paused until 13.20 s, 650 ms more"));
    assert_eq!(line(0, "program"), Some("next: write balance = balance - 10"));
    assert_eq!(line(0, "the lock"), Some("I hold generation 41"));
    assert_eq!(line(0, "balance"), Some("100"));
    assert_eq!(
        line(1, "program"),
        Some("waits in write for Resource, until 14.50 s by its own clock")
    );
    assert_eq!(line(2, "the lock"), Some("Client B holds generation 42"));
    assert_eq!(line(3, "highest seen for the lock"), Some("42"));
}

/// What no system of this edition says yet, put into a run by hand.
fn rare_events(grant: Grant) -> Vec<What<Testimony>> {
    let op = Operation {
        section: Section { client: ProcId(0), number: 1 },
        cell: CellId(0),
        lock: LockId(0),
        grant: Some(grant),
        token: Some(Token(41)),
        claims: false,
    };
    let write = Write { number: 0, value: 90, more: false };
    let (client, ballot) = (ProcId(0), Ballot::of([Some(true), Some(true), None].into_iter()));
    let seats = |holds: &[bool]| {
        let seat = |(number, holds): (usize, &bool)| {
            let client = ProcId(number as u16 % 2);
            Seat { client, number: number as i64, holds: *holds }
        };
        holds.iter().enumerate().map(seat).collect()
    };
    vec![
        What::Restart,
        What::Note(Testimony::Void(op, write, MsgId(0))),
        What::Note(Testimony::Ask { lock: LockId(0), ask: Ask::Holder, first: true, within: None }),
        What::Note(Testimony::Free(grant, TruthEnd::Removed(ProcId(1)))),
        What::Note(Testimony::Free(grant, TruthEnd::Forgotten)),
        What::Note(Testimony::Stand(Standing::Leads(2))),
        What::Note(Testimony::Stand(Standing::Follows(ProcId(2)))),
        What::Note(Testimony::Stand(Standing::Seeks)),
        What::Note(Testimony::Decide(Token(41), ballot)),
        What::Note(Testimony::Line(LockId(0), seats(&[]))),
        What::Note(Testimony::Line(LockId(0), seats(&[true, false, false]))),
        What::Note(Testimony::Watched { lock: LockId(0), watcher: client, of: Some(ProcId(1)) }),
        What::Note(Testimony::Watched { lock: LockId(0), watcher: client, of: None }),
        What::Note(Testimony::Lapse {
            client,
            which: 1,
            heard: Micros::ZERO,
            silent: Micros::ZERO,
            span: Micros::from_secs(1),
        }),
        What::ClockStep(-8_000_000),
        What::ClockRate(Ratio { num: 4, den: 5 }),
        What::Limit(Limit::Steps),
        What::Limit(Limit::Events),
        What::Limit(Limit::AtOnce),
    ]
}

fn reads_well(sentence: &str) -> bool {
    sentence.ends_with('.')
        && !sentence.contains("..")
        && !sentence.contains("  ")
        && !sentence.contains('?')
        && !sentence.contains("does something")
        && sentence.starts_with(|c: char| c.is_uppercase())
}

#[test]
fn every_event_of_any_run_has_a_sentence_and_every_kind_is_told() {
    let mut told = BTreeSet::new();
    for seed in seeds(CASES) {
        let run = random_case(seed).run();
        for id in ids(&run) {
            let sentence = narrate::sentence(&run, id);
            let what = &run.record.event(id).what;
            let again = replay("every_event", seed);
            assert!(reads_well(&sentence), "{sentence:?} for {what:?}; {again}");
            told.insert(kind::kind(run.record.event(id)));
        }
        for (_, finding) in narrate::findings(&run) {
            assert!(reads_well(&finding), "{finding:?}; {}", replay("every_event", seed));
        }
        let headline = narrate::headline(&run);
        let said = format!("{} {}", headline.word, headline.rest);
        assert!(reads_well(&said), "{said:?}; {}", replay("every_event", seed));
        assert!(narrate::log(&run).contains(&said));
    }
    // Stops of two kinds at once are rare in random runs.
    let stops = race().edits("at 2s suspend client-a for 4s; at 3s freeze client-a for 1s").run();
    told.extend(stops.record.events.iter().map(kind::kind));
    // A server takes another's place, and throws a lock out.
    let program = "acquire; read x; work 3s; write x = x + 1; release";
    let orders = counters("redis", program, "1s").set("redis.replicas", "1").edits(
        "at 1s fail-over redis-a to redis-b; at 2s evict redis-b lock; drop redis-b>redis-a#2",
    );
    let orders = orders.run();
    for id in ids(&orders) {
        let sentence = narrate::sentence(&orders, id);
        assert!(reads_well(&sentence), "{sentence:?}");
        told.insert(kind::kind(orders.record.event(id)));
    }
    // What several servers have, and what a client counts of their answers.
    let program = "acquire; read x; work 1s; renew; write x = x + 1; release";
    for edits in [
        "at 0s crash redis-b; at 300ms pause client-a for 12s",
        "at 600ms clock redis-c +20s; at 900ms crash redis-d; at 1s restart redis-d",
        "at 60ms pause client-a for 12s; at 13s clock redis-a -5s; at 13s rate redis-b 5/4",
        "at 0s cut {client-b}|{redis-a redis-b redis-c}; at 2s freeze redis-e for 20s",
    ] {
        let run = counters("redlock", program, "400ms").edits(edits).run();
        for id in ids(&run) {
            let sentence = narrate::sentence(&run, id);
            assert!(reads_well(&sentence), "{sentence:?}");
            told.insert(kind::kind(run.record.event(id)));
        }
    }
    // Servers of which one leads, and the queue that clients keep there.
    for edits in ["", "drop zk-a>client-a#2; at 3s crash zk-c; at 1s pause client-b for 20s"] {
        let program = "acquire; read x; work 1s; renew; write x = x + 1; release";
        let run = counters("zookeeper", program, "400ms").edits(edits).run();
        for id in ids(&run) {
            let sentence = narrate::sentence(&run, id);
            assert!(reads_well(&sentence), "{sentence:?}");
            told.insert(kind::kind(run.record.event(id)));
        }
    }
    let mut run = race().run();
    let grant = ids(&run).find(|id| kind::kind(run.record.event(*id)) == "grant").expect("a grant");
    for what in rare_events(Grant(grant)) {
        let event = Event { at: run.end, node: ProcId(2), what, causes: Causes::NONE };
        run.record.events.push(event);
        let id = EventId(run.record.events.len() as u32 - 1);
        let sentence = narrate::sentence(&run, id);
        assert!(reads_well(&sentence), "{sentence:?}");
        told.insert(kind::kind(run.record.event(id)));
    }
    if std::env::var("SEED").is_err() {
        let missing: Vec<&str> =
            kind::KINDS.iter().map(|k| k.0).filter(|k| !told.contains(k)).collect();
        assert!(missing.is_empty(), "no run of this test has {missing:?}");
    }
}

#[test]
fn every_moment_of_any_run_can_be_inspected() {
    for seed in seeds(CASES / 10) {
        let run = random_case(seed).run();
        for id in ids(&run).step_by(7) {
            let world = run.world_at(id);
            let summary = narrate::summary(&run, &world);
            assert!(reads_well(&summary), "{summary:?}; {}", replay("every_moment", seed));
            let columns = narrate::knows(&run, &world);
            assert_eq!(columns.len(), run.names().nodes.len());
            let cells = columns.iter().flat_map(|c| &c.lines);
            assert!(cells.into_iter().all(|l| !l.0.is_empty() && !l.1.is_empty()));
        }
    }
}

/// Checks a diagram against the part of Mermaid's grammar that it is written in.
fn grammatical(diagram: &str) -> Result<(), String> {
    let mut lines = diagram.lines();
    if lines.next() != Some("sequenceDiagram") {
        return Err("it does not begin with `sequenceDiagram`".into());
    }
    let (mut known, mut in_loop) = (Vec::new(), false);
    for line in lines {
        let wrong = |why: &str| Err(format!("{why}: {line}"));
        let text = line.trim_start();
        if line.len() - text.len() != if in_loop && text != "end" { 8 } else { 4 } {
            return wrong("indent");
        }
        if let Some(declared) = text.strip_prefix("participant ") {
            let Some((id, label)) = declared.split_once(" as ") else { return wrong("no label") };
            if !is_id(id) || !is_text(label) || known.contains(&id) {
                return wrong("participant");
            }
            known.push(id);
        } else if let Some(times) = text.strip_prefix("loop ") {
            let number = times.strip_suffix(" times").and_then(|n| n.parse::<u32>().ok());
            if in_loop || number.is_none_or(|n| n < 2) {
                return wrong("loop");
            }
            in_loop = true;
        } else if text == "end" {
            if !std::mem::replace(&mut in_loop, false) {
                return wrong("end of nothing");
            }
        } else {
            let Some((head, label)) = text.split_once(": ") else { return wrong("no text") };
            let Some(ends) = ends(head) else { return wrong("neither arrow nor note") };
            if !is_text(label) || !ends.iter().all(|id| known.contains(id)) {
                return wrong("text or participant");
            }
        }
    }
    if in_loop { Err("a loop is open at the end".into()) } else { Ok(()) }
}

/// Between whom an arrow goes, or over whom a note lies.
fn ends(head: &str) -> Option<Vec<&str>> {
    if let Some(over) = head.strip_prefix("Note over ") {
        let ids: Vec<&str> = over.split(',').collect();
        return (ids.len() <= 2).then_some(ids);
    }
    let arrow = ["-->>", "->>", "--x", "-x"].into_iter().find(|a| head.contains(a))?;
    let (from, to) = head.split_once(arrow)?;
    Some(vec![from, to])
}

fn is_id(id: &str) -> bool {
    !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && id != "end"
}

/// No character that Mermaid or a browser takes for its own, but as an entity such as `#59;`.
fn is_text(text: &str) -> bool {
    let mut parts = text.split('#');
    let plain = |part: &str| !part.contains(|c: char| ";<>&%$\"`".contains(c) || c.is_control());
    let first = parts.next().is_some_and(|part| !text.is_empty() && plain(part));
    first
        && parts.all(|part| {
            let Some((digits, rest)) = part.split_once(';') else { return false };
            !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) && plain(rest)
        })
}

#[test]
fn every_diagram_is_valid() {
    for seed in seeds(CASES) {
        let diagram = narrate::mermaid(&random_case(seed).run());
        if let Err(wrong) = grammatical(&diagram) {
            panic!("{wrong}; {}", replay("every_diagram", seed));
        }
    }
}

#[test]
fn labels_that_mean_something_to_mermaid_or_markdown_stay_labels() {
    let mut case = Case::new(&[("end", 1)]).client("end", "0s", "acquire; read end; release");
    let client = case.scenario.clients.get_mut("end").expect("just made");
    client.label = Some("A; B #1 <b>%%{init}%%\n```end".into());
    let run = case.run();
    let diagram = narrate::mermaid(&run);
    assert_eq!(grammatical(&diagram), Ok(()), "{diagram}");
    assert!(diagram.contains("participant end_ as A#59; B #35;1 #60;b#62;"), "{diagram}");
    assert!(narrate::log(&run).lines().all(|l| !l.starts_with("```")));
    assert!(narrate::markdown(&run).contains("````text\n"));
}

/// What another program reads.
fn read(json: &lockscope::json::Json) -> serde_json::Value {
    serde_json::from_str(&json.to_string()).expect("it is JSON")
}

#[test]
fn the_json_holds_the_whole_run_and_its_hash() {
    let run = race().edits("at 50s pause client-b for 1s").run();
    let json = read(&narrate::json(&run));
    assert_eq!(json["schema"], 1);
    let whole = |value: Result<serde_json::Value, _>| value.expect("it is a tree");
    assert_eq!(json["scenario"], whole(serde_json::to_value(&*run.compiled.scenario)));
    assert_eq!(json["verdict"], whole(serde_json::to_value(&run.judgement.verdict)));
    assert_eq!(json["metrics"], whole(serde_json::to_value(&run.judgement.metrics)));
    assert_eq!(json["seed"], 1);
    assert_eq!(json["hash"], format!("{:016x}", run.hash()));
    assert_eq!(json["unused_edits"], serde_json::json!(["at 50s pause client-b for 1s"]));
    assert_eq!(json["edits"][0], "pause client-a before write#1 for 12s");
    assert_eq!(json["nodes"][2]["kind"], "service");
    let events = json["events"].as_array().expect("a list");
    assert_eq!(events.len(), run.record.events.len());
    let of_kind = |kind: &str| events.iter().find(|e| e["kind"] == kind).expect("it happens");
    let grant = of_kind("grant");
    assert_eq!((&grant["token"], &grant["grant"]), (&serde_json::json!("41"), &grant["id"]));
    assert_eq!(of_kind("acquire")["message"]["id"], "client-a>lock-service#1");
    assert_eq!(of_kind("acquire")["message"]["delivered_us"], 50_000);
    assert!(events.iter().all(|e| e["local_us"] == e["t_us"]), "all clocks are true here");
    let intervals = json["intervals"].as_array().expect("a list");
    let pause = intervals.iter().find(|i| i["of"] == "pause").expect("the pause");
    assert_eq!((&pause["from_us"], &pause["to_us"]), (&1_200_000.into(), &13_200_000.into()));
    assert_eq!(json["verdict"]["corruption"], 1);
    let mut keys: Vec<&str> = narrate::counts(&run).iter().map(|c| c.key).collect();
    keys.sort_unstable();
    let verdict = json["verdict"].as_object().expect("a table");
    assert_eq!(keys, verdict.keys().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn a_nodes_local_time_is_what_its_wall_clock_shows() {
    let mut compiled = race().run().compiled;
    let mut plan = (*compiled.plan).clone();
    plan.faults.push((
        Micros::from_secs(3),
        lockscope::sim::Fault::ClockStep(ProcId(2), 8_000_000),
        0,
    ));
    compiled.plan = std::rc::Rc::new(plan);
    let json = read(&narrate::json(&Run::of(compiled)));
    for event in json["events"].as_array().expect("a list") {
        let at = event["t_us"].as_i64().expect("a number");
        let ahead = if event["node"] == "lock-service" && at >= 3_000_000 { 8_000_000 } else { 0 };
        assert_eq!(event["local_us"].as_i64(), Some(at + ahead), "{event}");
    }
}

#[test]
fn an_edit_without_an_occasion_is_noted() {
    let case = race().edits("drop client-a>resource#9");
    let log = narrate::log(&case.run());
    let note = "Note: the edit `drop client-a>resource#9` found no occasion in this run.";
    assert!(log.ends_with(&format!("{note}\n")), "{log}");
}
