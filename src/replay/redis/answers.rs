//! Whether an answer of Redis is the one that was recorded.

use serde_json::Value;

use super::super::compare::{Difference, Symbols, another_type, is_within};
use super::super::deed::all_known;
use super::Redis;
use crate::systems::redis::Reply;

/// What is held against the record.
#[derive(Clone, Debug)]
pub enum Said {
    /// An answer.
    Reply(Reply),
    /// What the client's library concluded.
    Decided(Decision),
}

/// What a Redlock library concluded from the answers of the masters.
#[derive(Clone, Debug)]
pub enum Decision {
    /// Of an acquire: how many voted for it, for how long it is good in microseconds, why not.
    Acquire {
        /// How many masters said yes.
        votes: usize,
        /// For how many microseconds it is good; none where it is not held.
        validity_us: Option<u64>,
        /// Why it is not held.
        why: Option<&'static str>,
    },
    /// Of a release: on how many masters something was deleted.
    Release(usize),
}

/// Types of answers of these servers.
pub const FORMS: [&str; 8] =
    ["simple", "integer", "bulk", "nil", "nil_array", "array", "error", "decision"];

/// Compares what was said with what was recorded.
///
/// # Errors
/// That it is another, or that the record has an unknown form.
pub fn compare(recorded: &Value, said: &Said, symbols: &mut Symbols) -> Result<(), Difference> {
    let kind = recorded.get("type").and_then(Value::as_str).unwrap_or_default();
    match said {
        Said::Reply(reply) => answered(recorded, reply, symbols),
        Said::Decided(decision) if kind == "decision" => decided(recorded, decision),
        Said::Decided(_) => another_type::<Redis>(kind),
    }
}

pub fn answered(recorded: &Value, reply: &Reply, symbols: &mut Symbols) -> Result<(), Difference> {
    let kind = recorded.get("type").and_then(Value::as_str).unwrap_or_default();
    let known: &[&str] = match kind {
        "error" => &["type", "code", "message"],
        "integer" | "bulk" => &["type", "value", "bounds"],
        // What a `ROLE` says is looked at by itself.
        "array" if recorded.get("role").is_some() => &["type", "role", "link", "replicas"],
        _ => &["type", "value"],
    };
    let place = format!("an answer of type `{kind}`");
    all_known(recorded, known, &place).map_err(Difference::NotModelled)?;
    let value = recorded.get("value");
    let same = match (kind, reply) {
        ("simple", Reply::Word(word)) => value.and_then(Value::as_str) == Some(word),
        ("integer", Reply::Number(number)) => is_number(recorded, *number, symbols)?,
        ("bulk", Reply::Bulk(text)) => match (text.number(), recorded.get("bounds")) {
            (Some(number), Some(_)) => is_number(recorded, number, symbols)?,
            _ => value.and_then(Value::as_str) == Some(text.to_string().as_str()),
        },
        ("nil", Reply::Nil) | ("nil_array", Reply::NilArray) => true,
        ("error", Reply::Error(refusal)) => {
            recorded.get("code").and_then(Value::as_str) == Some(refusal.kind())
        }
        ("array", Reply::Array(replies)) => match (value, recorded.get("role")) {
            (Some(Value::Array(values)), _) => {
                if values.len() != replies.len() {
                    return Err(Difference::Other);
                }
                for (value, reply) in values.iter().zip(replies) {
                    answered(value, reply, symbols)?;
                }
                true
            }
            (None, Some(_)) => is_role(recorded, replies)?,
            _ => return Err(Difference::NotModelled("an array without `value`".into())),
        },
        _ => return another_type::<Redis>(kind),
    };
    if same { Ok(()) } else { Err(Difference::Other) }
}

/// A number is recorded as it is, by a name, or between bounds.
fn is_number(recorded: &Value, number: i64, symbols: &mut Symbols) -> Result<bool, Difference> {
    match (recorded.get("value"), recorded.get("bounds")) {
        (Some(Value::String(name)), _) => Ok(symbols.is(name, i128::from(number))),
        (Some(value), _) => Ok(value.as_i64() == Some(number)),
        (None, Some(bounds)) => is_within(bounds, number.saturating_mul(1_000)),
        (None, None) => Err(Difference::NotModelled("a number without `value` or `bounds`".into())),
    }
}

/// `ROLE` is recorded as what it says of the server's place.
fn is_role(recorded: &Value, replies: &[Reply]) -> Result<bool, Difference> {
    let Some(fields) = recorded.as_object() else { return Ok(false) };
    let text = |place: usize| match replies.get(place) {
        Some(Reply::Bulk(text)) => text.to_string(),
        _ => String::new(),
    };
    let mut same = true;
    for (name, value) in fields {
        same &= match name.as_str() {
            "type" => true,
            "role" => value.as_str() == Some(&text(0)),
            "link" => value.as_str() == Some(&text(2)),
            "replicas" => match replies.get(2) {
                Some(Reply::Array(replicas)) => value.as_u64() == Some(replicas.len() as u64),
                _ => false,
            },
            other => return Err(Difference::NotModelled(format!("`{other}` of a role"))),
        };
    }
    Ok(same)
}

fn decided(recorded: &Value, decision: &Decision) -> Result<(), Difference> {
    let Some(fields) = recorded.as_object() else { return Err(Difference::Other) };
    let mut same = true;
    for (name, value) in fields {
        same &= match (name.as_str(), decision) {
            ("type", _) => true,
            ("acquired", Decision::Acquire { validity_us, .. }) => {
                value.as_bool() == Some(validity_us.is_some())
            }
            ("votes", Decision::Acquire { votes, .. }) => value.as_u64() == Some(*votes as u64),
            ("why", Decision::Acquire { why, .. }) => value.as_str() == *why,
            ("validity_ms", Decision::Acquire { validity_us, .. }) => match validity_us {
                Some(us) => is_within(value, i64::try_from(*us).unwrap_or(i64::MAX))?,
                None => false,
            },
            ("nodes_deleted", Decision::Release(count)) => value.as_u64() == Some(*count as u64),
            (other, _) if ["acquired", "votes", "why", "nodes_deleted"].contains(&other) => false,
            (other, _) => return Err(Difference::NotModelled(format!("`{other}` of a decision"))),
        };
    }
    if same { Ok(()) } else { Err(Difference::Other) }
}

/// What was said, as a person writes it.
pub fn told(said: &Said) -> String {
    match said {
        Said::Reply(reply) => reply_told(reply),
        Said::Decided(Decision::Release(count)) => format!("deleted on {count} nodes"),
        Said::Decided(Decision::Acquire { votes, validity_us, why }) => match validity_us {
            Some(us) => {
                format!("acquired with {votes} votes for {}.{:03} ms", us / 1_000, us % 1_000)
            }
            None => format!("not acquired with {votes} votes: {}", why.unwrap_or("?")),
        },
    }
}

fn reply_told(reply: &Reply) -> String {
    match reply {
        Reply::Word(word) => (*word).to_string(),
        Reply::Number(number) => number.to_string(),
        Reply::Bulk(text) => format!("{:?}", text.to_string()),
        Reply::Nil => "nil".into(),
        Reply::NilArray => "nil array".into(),
        Reply::Array(replies) => {
            let told: Vec<String> = replies.iter().map(reply_told).collect();
            format!("[{}]", told.join(", "))
        }
        Reply::Error(refusal) => format!("error {}", refusal.text()),
    }
}
