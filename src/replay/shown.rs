//! Steps of a transcript in words: what was asked as it is typed, what was answered as a terminal
//! prints it.

use serde_json::{Map, Value};

use super::transcript::{Step, Transcript};
use super::zookeeper::shown;

/// What was asked: a command as it is typed, or what was done to the world.
pub fn asked(transcript: &Transcript, step: &Step) -> String {
    if transcript.system == "zookeeper"
        && step.client != "env"
        && let Some(asked) = shown::asked(step)
    {
        return asked;
    }
    match &step.argv {
        Some(argv) => argv.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
        None if step.args.is_empty() => words(&step.name),
        None => format!("{} ({})", words(&step.name), pairs(&step.args)),
    }
}

/// What was answered, as a terminal prints it.
pub fn answered(reply: &Value) -> String {
    let value = reply.get("value");
    let text = || value.and_then(Value::as_str).unwrap_or_default().to_string();
    if let Some(said) = shown::answered(reply) {
        return said;
    }
    match reply.get("type").and_then(Value::as_str).unwrap_or_default() {
        "simple" => text(),
        "bulk" => format!("{:?}", text()),
        "nil" | "nil_array" => "(nil)".into(),
        "integer" => format!("(integer) {}", number(reply)),
        "error" => format!("(error) {}", reply.get("message").map(plain).unwrap_or_default()),
        "blocked" => "no answer yet".into(),
        "done" => "done".into(),
        "array" => match value.and_then(Value::as_array) {
            Some(items) if items.is_empty() => "(empty array)".into(),
            Some(items) => {
                let items = items.iter().enumerate();
                let lines = items.map(|(i, item)| format!("{}) {}", i + 1, answered(item)));
                lines.collect::<Vec<_>>().join("\n")
            }
            None => rest(reply),
        },
        "connection_refused" => "connection refused".into(),
        "connection_closed" => "connection closed".into(),
        "client_timeout" => format!("no answer: the client gives up ({})", rest(reply)),
        _ => rest(reply),
    }
}

/// What came later or unasked.
pub fn came(event: &Value) -> String {
    if let Some(reply) = event.get("reply") {
        let step = event.get("to_step").map(plain).unwrap_or_default();
        return format!("the answer to step {step}: {}", answered(reply));
    }
    if let Some(said) = shown::came(event) {
        return said;
    }
    match event.get("message").and_then(Value::as_array) {
        Some(words) => words.iter().map(answered).collect::<Vec<_>>().join(" "),
        None => plain(event),
    }
}

/// A number, or the bounds within which it was.
fn number(reply: &Value) -> String {
    if let Some(value) = reply.get("value") {
        return plain(value);
    }
    let bounds = reply.get("bounds").and_then(Value::as_object);
    bounds.map_or_else(String::new, bounded)
}

fn bounded(bounds: &Map<String, Value>) -> String {
    let said = bounds.iter().map(|(bound, value)| {
        let words = match bound.as_str() {
            "gt" => "more than",
            "ge" => "at least",
            "lt" => "less than",
            "le" => "at most",
            other => other,
        };
        format!("{words} {}", plain(value))
    });
    said.collect::<Vec<_>>().join(", ")
}

/// All but the type, by name.
fn rest(reply: &Value) -> String {
    let others = reply.as_object().map(|all| {
        let others = all.iter().filter(|(name, _)| *name != "type");
        others.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>()
    });
    others.as_ref().map(pairs).unwrap_or_default()
}

/// Fields in words.
pub fn pairs(map: &Map<String, Value>) -> String {
    let pair = |(name, value): (&String, &Value)| match value {
        Value::Object(bounds) => format!("{} {}", words(name), bounded(bounds)),
        value => format!("{} {}", words(name), plain(value)),
    };
    map.iter().map(pair).collect::<Vec<_>>().join(", ")
}

/// A value without marks.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

fn words(name: &str) -> String {
    name.replace('_', " ").to_lowercase()
}

/// A word as it has to be typed.
pub fn quoted(word: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || "-_:.@*+,/".contains(c);
    if !word.is_empty() && word.chars().all(bare) { word.into() } else { format!("{word:?}") }
}
