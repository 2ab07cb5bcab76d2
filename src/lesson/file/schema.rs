//! The grammar of lesson files and edits as JSON, for programs and for people without the manual.

use serde_json::{Value, json};

use super::debate::{MOST_PINNED, MOST_POINTS};
use super::front::{MOST_CHARS, MOST_FAULTS, MOST_ITEMS, MOST_MINUTES, MOST_VARIANTS};
use super::grammar::{ASSERTIONS, EDITS, Form, KEYS, WORDS};
use super::markdown::{DEEPEST, MOST_BEATS};
use super::questions::MOST_CARDS;
use super::read::MOST_BYTES;
use crate::lesson::figures::FIGURES;
use crate::run::{LONGEST, MOST_EDITS, MOST_STEP, kind};
use crate::search::MOST_WORK;
use crate::sim::{MOST_AT_ONCE, MOST_EVENTS, MOST_LINES, MOST_STEPS, Outcome};
use crate::systems::{COMMON, Kind, Preset, RESOURCE_RULES, Registry, Rule, Rules, Spec, Steps};

/// The whole grammar as JSON, indented.
pub fn schema() -> String {
    let registry = Registry::standard();
    let systems = registry.iter().map(|s| {
        json!({
            "name": s.name(),
            "about": s.about(),
            "token": s.token_word(),
            "settings": settings(s.settings()),
            "presets": presets(s.presets()),
            "rules": rules(s.rules()),
        })
    });
    let figures = |verdict: bool| -> Value {
        let of = FIGURES.iter().filter(|f| f.verdict == verdict);
        of.map(|f| json!({ "key": f.key, "about": f.about })).collect()
    };
    let kinds = kind::KINDS.iter().map(|(kind, about)| json!({ "kind": kind, "about": about }));
    let schema = json!({
        "schema": 1,
        "systems": systems.collect::<Value>(),
        "settings": settings(COMMON),
        "resource_rules": rules(&[RESOURCE_RULES]),
        "front_matter": keys(),
        "program": forms(WORDS),
        "outcomes": outcomes(),
        "edits": forms(EDITS),
        "assertions": forms(ASSERTIONS),
        "event": {
            "form": "KIND NODE[#N]",
            "about": "The N-th event of that kind which happens in that node or is about that \
                      client, or about a message to or from it that is lost or held up; without a \
                      number, the first.",
        },
        "event_kinds": kinds.collect::<Value>(),
        "verdict": figures(true),
        "metrics": figures(false),
        "expression": {
            "operators": ["or", "and", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "not"],
            "about": "Whole numbers of 64 bits that stop at their ends; a comparison is 1 or 0; \
                      operators bind in this order, the last the most.",
        },
        "duration": "A number and us, ms, s or m: 250ms, 1.5s, 2m; never negative.",
        "beat": "## TITLE {#ID at=\"EVENT\" variant=\"NAME\"}; without a variant, base.",
        "markdown": ["paragraph", "list", "numbered list", "quote", "code block", "*emphasis*",
                     "**strong**", "`code`", "[link](#BEAT)", "[link](run:VARIANT)",
                     "[link](level:LEVEL)", "[link](NN-ID.md)", "[^EVIDENCE]"],
        "limits": limits(),
    });
    format!("{schema:#}")
}

/// Settings that go together under one word, with where that comes from.
fn presets(presets: &[Preset]) -> Value {
    let preset = |p: &Preset| {
        let settings: Value =
            p.settings.iter().map(|s| json!({ "key": s.0, "value": s.1 })).collect();
        json!({
            "setting": p.key, "value": p.word, "about": p.about, "place": p.place, "settings": settings,
        })
    };
    presets.iter().map(preset).collect()
}

fn settings(specs: &[Spec]) -> Value {
    let setting = |s: &Spec| {
        let (takes, choices) = match s.kind {
            Kind::Span => ("duration", None),
            Kind::Term => ("duration above 0", None),
            Kind::Least(_) => ("duration with a lower bound", None),
            Kind::UpTo(_) => {
                ("number with an upper bound; with `.LOCK` behind its key, for that lock", None)
            }
            Kind::Number => ("number; with `.LOCK` behind its key, for that lock", None),
            Kind::Client => ("`none` or a client", None),
            Kind::Choice(words) => ("choice", Some(words)),
        };
        let mut setting =
            json!({ "key": s.key, "takes": takes, "default": s.default, "about": s.about });
        if let Some(words) = choices {
            setting["choices"] = json!(words);
        }
        setting
    };
    specs.iter().map(setting).collect()
}

fn rules(groups: &[Rules]) -> Value {
    let steps = |s: &Steps| json!({ "transcript": s.transcript, "first": s.first, "last": s.last });
    let rule = |r: &Rule| {
        let steps: Value = r.steps.iter().map(steps).collect();
        json!({
            "says": r.says, "kind": r.basis.word(), "where": r.place, "steps": steps, "of": r.of,
        })
    };
    groups.iter().flat_map(|group| group.list).map(rule).collect()
}

fn forms(forms: &[Form]) -> Value {
    let form = |f: &Form| {
        let mut form = json!({ "form": f.form, "example": f.example, "about": f.about });
        if !f.outcomes.is_empty() {
            form["outcomes"] = json!(f.outcomes);
        }
        form
    };
    forms.iter().map(form).collect()
}

fn keys() -> Value {
    let key = |k: &super::grammar::Key| {
        json!({
            "key": k.path,
            "takes": k.takes,
            "required": k.default.is_none(),
            "default": k.default,
            "about": k.about,
        })
    };
    KEYS.iter().map(key).collect()
}

fn outcomes() -> Value {
    let about = |o: &Outcome| match o {
        Outcome::Ok => "Done as asked.",
        Outcome::Refused => "The lock service said no.",
        Outcome::Rejected => "The resource said no.",
        Outcome::Timeout => "No answer in time: unknown, never a failure.",
        Outcome::Lost => "The client found its own deadline passed.",
        Outcome::Closed => "The connection was reset: unknown, as a time-out is.",
    };
    Outcome::ALL.iter().map(|o| json!({ "outcome": o.word(), "about": about(o) })).collect()
}

fn limits() -> Value {
    json!({
        "file_bytes": MOST_BYTES,
        "text_characters": MOST_CHARS,
        "entries": MOST_ITEMS,
        "variants": MOST_VARIANTS,
        "cards": MOST_CARDS,
        "points": MOST_POINTS,
        "defences_beside_a_label": MOST_PINNED,
        "beats": MOST_BEATS,
        "faults": MOST_FAULTS,
        "minutes": MOST_MINUTES,
        "edits": MOST_EDITS,
        "events": MOST_EVENTS,
        "events_at_one_moment": MOST_AT_ONCE,
        "lines_in_a_row": MOST_STEPS,
        "run_s": LONGEST.0 / 1_000_000,
        "clock_step_s": MOST_STEP / 1_000_000,
        "rate": "1/1000 to 1000",
        "search_events": MOST_WORK,
        "program_lines": MOST_LINES,
        "nesting": DEEPEST,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::claim::Claim;
    use crate::run::{ClientSpec, Compiled, Scenario, ScenarioError, compile};

    fn with(program: &[&str], edits: &[&str]) -> Result<Compiled, Vec<ScenarioError>> {
        let mut scenario: Scenario = serde_json::from_str(
            r#"{"system": "lease", "cells": {"balance": 100}, "clients": {"client-b": {"program": []}}}"#,
        )
        .unwrap();
        if edits.iter().any(|edit| edit.contains("redis-")) {
            scenario.system = "redis".into();
            scenario.settings.insert("redis.replicas".into(), "1".into());
        }
        if program.iter().any(|line| ["enter", "list", "watch", "await"].contains(line)) {
            // Only a lock that is a queue of its clients' making has steps.
            scenario.system = "zookeeper".into();
        }
        let program = program.iter().map(|l| l.to_string()).collect();
        scenario.clients.insert("client-a".into(), ClientSpec { program, ..ClientSpec::default() });
        let edits: Vec<String> = edits.iter().map(|e| e.to_string()).collect();
        compile(&scenario, &edits, &Registry::standard())
    }

    #[test]
    fn every_example_can_be_read() {
        let program = [
            "read balance",
            "let left = 0",
            "write balance = balance - 10",
            "again:",
            "loop",
            "break",
            "end",
        ];
        for word in WORDS {
            let mut lines = program.to_vec();
            match word.example {
                "again:" | "loop" | "break" | "end" => {}
                "repeat 3" => lines.extend(["repeat 3", "end"]),
                example => lines.push(example),
            }
            assert!(with(&lines, &[]).is_ok(), "{}", word.form);
        }
        for edit in EDITS {
            let compiled = with(&program, &[edit.example]);
            assert!(compiled.is_ok(), "{}: {:?}", edit.form, compiled.err());
        }
        let names = with(&program, &[]).unwrap().names;
        for assertion in ASSERTIONS {
            assert!(Claim::parse(assertion.example, &names).is_ok(), "{}", assertion.form);
        }
    }

    #[test]
    fn the_schema_is_json_that_lists_everything() {
        let schema: Value = serde_json::from_str(&schema()).unwrap();
        assert_eq!(schema["event_kinds"].as_array().unwrap().len(), kind::KINDS.len());
        assert_eq!(schema["settings"].as_array().unwrap().len(), COMMON.len());
        assert_eq!(schema["systems"][0]["name"], "lease");
        assert_eq!(schema["limits"]["edits"], MOST_EDITS);
    }
}
