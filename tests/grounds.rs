//! What stands behind each answer: every rule of a system has its evidence, and every answer has its rule.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use lockscope::lesson::{self, Lesson};
use lockscope::narrate;
use lockscope::replay;
use lockscope::run::kind::kind;
use lockscope::run::{NodeKind, Run, grounds};
use lockscope::sim::{Event, EventId, What};
use lockscope::systems::{Basis, Kind, RESOURCE_RULES, Registry, Rule};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn rules() -> Vec<(&'static str, &'static Rule)> {
    let registry = Registry::standard();
    let groups = registry.iter().flat_map(|system| system.rules()).chain([&RESOURCE_RULES]);
    groups.flat_map(|group| group.list.iter().map(|rule| (group.title, rule))).collect()
}

#[test]
fn what_is_called_recorded_is_in_a_recording_of_that_server() {
    for (system, rule) in rules() {
        let named = format!("{system}: {}", rule.says);
        assert_eq!(rule.basis == Basis::Recorded, !rule.steps.is_empty(), "{named}");
        for steps in rule.steps {
            assert!(!steps.transcript.starts_with("by-hand/"), "{named}");
            let path = root().join(format!("tests/golden/{}.jsonl", steps.transcript));
            let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{named}: {e}"));
            let transcript = replay::read(&text).expect("it is a transcript");
            assert!(steps.first >= 1 && steps.first <= steps.last, "{named}");
            assert!(usize::from(steps.last) <= transcript.steps.len(), "{named}");
            // Who packed the server is the transcript's business.
            let asked = transcript.version.split(" (").next().unwrap_or_default();
            assert!(
                rule.place.to_lowercase().contains(asked),
                "{named}: {asked} was asked, not {}",
                rule.place
            );
        }
    }
}

fn lessons() -> Vec<Lesson> {
    let mut paths: Vec<PathBuf> = ["lessons", "lessons/cases"]
        .iter()
        .flat_map(|folder| fs::read_dir(root().join(folder)).expect("the folder is there"))
        .map(|entry| entry.expect("the entry can be read").path())
        .filter(|p| p.extension().is_some_and(|e| e == "md") && !p.ends_with("README.md"))
        .collect();
    paths.sort();
    paths.iter().map(|p| lesson::read(p).unwrap_or_else(|e| panic!("{e:?}"))).collect()
}

/// What a server decides: its answers, and what it says of its locks and cells.
fn is_decided(run: &Run, event: &Event<lockscope::judge::Testimony>) -> bool {
    let by = run.names().node(event.node).kind;
    let asked = matches!(event.what, What::Send(_, Some(_)));
    let serves = matches!(by, NodeKind::Service | NodeKind::Resource | NodeKind::Gateway);
    serves && !asked && (event.note().is_some() || matches!(event.what, What::Send(..)))
}

/// What of the run has no rule, with what it happened under.
fn bare(run: &Run, under: &str, bare: &mut BTreeMap<String, BTreeSet<String>>) {
    for (index, event) in run.record.events.iter().enumerate() {
        let id = EventId(index as u32);
        if is_decided(run, event) && grounds(run, id).is_empty() {
            let message = event.message().map(|m| run.record.message(m).body.name);
            let said = narrate::sentence(run, id);
            let what = format!("{} {}: {said}", kind(event), message.unwrap_or_default());
            bare.entry(what).or_default().insert(under.into());
        }
    }
}

#[test]
fn every_answer_of_a_lesson_has_a_rule_behind_it() {
    let mut without = BTreeMap::new();
    for lesson in lessons() {
        for variant in &lesson.variants {
            let run = Run::of(lesson.compile(&variant.name, &[]).expect("it compiles"));
            bare(&run, &format!("{}, {}", lesson.id, variant.name), &mut without);
        }
    }
    assert!(without.is_empty(), "without a rule: {without:#?}");
}

#[test]
fn every_answer_of_a_simulated_redis_has_a_rule_behind_it() {
    const PROGRAM: &str = "acquire; read x; work 3s; renew; write x = x + 1; release";
    const TROUBLE: [&str; 5] = [
        "",
        "pause client-a before write#1 for 12s",
        "pause client-a before renew#1 for 12s",
        "at 2s clock redis-a +20s; at 3s clock redis-a -20s",
        "at 2s kill redis-a; at 2500ms restart redis-a",
    ];
    let mut without = BTreeMap::new();
    for system in ["redis", "redlock"] {
        let choices = Registry::standard().find(system).expect("it is there").settings();
        for spec in choices {
            let Kind::Choice(words) = spec.kind else { continue };
            for (word, edits) in words.iter().flat_map(|w| TROUBLE.map(|edits| (w, edits))) {
                let case = support::counters(system, PROGRAM, "200ms");
                let run = case.set(spec.key, word).edits(edits).run();
                let under = format!("{system}, {} {word}, {edits}", spec.key);
                bare(&run, &under, &mut without);
            }
        }
    }
    for edits in ["at 2s fail-over redis-a to redis-b", "at 2s evict redis-a lock"] {
        for wait in ["0", "1"] {
            let case = support::counters("redis", PROGRAM, "200ms").set("redis.replicas", "2");
            let run = case.set("lock.wait", wait).edits(edits).run();
            bare(&run, &format!("redis, lock.wait {wait}, {edits}"), &mut without);
        }
    }
    assert!(without.is_empty(), "without a rule: {without:#?}");
}

#[test]
fn every_answer_of_a_simulated_zookeeper_has_a_rule_behind_it() {
    const PROGRAM: &str = "acquire; read x; work 3s; renew; write x = x + 1; release";
    const TROUBLE: [&str; 6] = [
        "",
        "at 1500ms kill zk-c; at 20s restart zk-c",
        "at 1s pause client-a for 15s",
        "at 1s cut {client-a}|{zk-a zk-b zk-c} for 20s",
        "at 1s cut {client-a zk-a}|{zk-b zk-c} for 30s",
        "at 1s kill client-a",
    ];
    let mut without = BTreeMap::new();
    let choices = Registry::standard().find("zookeeper").expect("it is there").settings();
    for spec in choices.iter().filter(|spec| spec.key != "zookeeper.servers") {
        let Kind::Choice(words) = spec.kind else { continue };
        for (word, edits) in words.iter().flat_map(|w| TROUBLE.map(|edits| (w, edits))) {
            let case = support::counters("zookeeper", PROGRAM, "200ms");
            let run = case.set(spec.key, word).edits(edits).run();
            bare(&run, &format!("zookeeper, {} {word}, {edits}", spec.key), &mut without);
        }
    }
    assert!(without.is_empty(), "without a rule: {without:#?}");
}
