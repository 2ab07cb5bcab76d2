//! Whether an answer is the one that was recorded.

use serde_json::Value;

use crate::sim::Table;
use crate::systems::redis::{Reply, Text};

/// What the simulated world did, to be compared with what was recorded.
#[derive(Clone, Debug)]
pub enum Did {
    /// It answered.
    Answered(Reply),
    /// Nobody answered in time.
    Blocked,
    /// The client gave up, after so many milliseconds.
    TimedOut(u64),
    /// Nobody listens there.
    ConnectionRefused,
    /// The connection was closed instead of an answer.
    ConnectionClosed,
    /// The world was changed, or seen to be so.
    Done,
    /// It was not.
    Failed(String),
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

/// Why a comparison fails.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Difference {
    /// Something else was recorded.
    Other,
    /// What was recorded has a form that is not known here.
    NotModelled(String),
}

/// Values that were recorded by name, because they differ in every run.
#[derive(Default, Debug)]
pub struct Symbols(Table<String, i64>);

impl Symbols {
    /// The first value of a name stands; another one is a difference.
    fn is(&mut self, name: &str, value: i64) -> bool {
        *self.0.entry(name.to_string()).or_insert(value) == value
    }

    /// Whether a relation such as `abs1 < abs2` holds.
    ///
    /// # Errors
    /// A relation that is not known here, or a name that has no value.
    pub fn relation(&self, text: &str) -> Result<bool, Difference> {
        // Events of different clients are never compared with each other.
        if text.starts_with("events after_step ") && text.ends_with(": any order") {
            return Ok(true);
        }
        let unknown = || Difference::NotModelled(format!("the relation `{text}`"));
        let words: Vec<&str> = text.split_whitespace().collect();
        let [left, relation, right] = words[..] else { return Err(unknown()) };
        let value = |word: &str| {
            let known = self.0.get(word).copied();
            known.or_else(|| Text::new(word).number()).ok_or_else(unknown)
        };
        let (left, right) = (value(left)?, value(right)?);
        match relation {
            "<" => Ok(left < right),
            "<=" => Ok(left <= right),
            "=" | "==" => Ok(left == right),
            "!=" => Ok(left != right),
            ">" => Ok(left > right),
            ">=" => Ok(left >= right),
            _ => Err(unknown()),
        }
    }
}

/// Compares what was done with what was recorded.
///
/// # Errors
/// That it is another, or that the record has an unknown form.
pub fn compare(recorded: &Value, did: &Did, symbols: &mut Symbols) -> Result<(), Difference> {
    let kind = recorded.get("type").and_then(Value::as_str).unwrap_or_default();
    let same = match (kind, did) {
        ("blocked", Did::Blocked)
        | ("connection_refused", Did::ConnectionRefused)
        | ("connection_closed", Did::ConnectionClosed)
        | ("done", Did::Done) => true,
        ("client_timeout", Did::TimedOut(ms)) => {
            recorded.get("ms").is_none_or(|recorded| recorded.as_u64() == Some(*ms))
        }
        ("decision", Did::Decided(decision)) => return decided(recorded, decision),
        (_, Did::Answered(reply)) => return answered(recorded, reply, symbols),
        _ if is_known(kind) => false,
        _ => return Err(unknown_form(kind)),
    };
    if same { Ok(()) } else { Err(Difference::Other) }
}

const FORMS: [&str; 13] = [
    "simple",
    "integer",
    "bulk",
    "nil",
    "nil_array",
    "array",
    "error",
    "blocked",
    "done",
    "connection_refused",
    "connection_closed",
    "client_timeout",
    "decision",
];

fn is_known(kind: &str) -> bool {
    FORMS.contains(&kind)
}

fn unknown_form(kind: &str) -> Difference {
    Difference::NotModelled(format!("the answer of type `{kind}`"))
}

fn answered(recorded: &Value, reply: &Reply, symbols: &mut Symbols) -> Result<(), Difference> {
    let kind = recorded.get("type").and_then(Value::as_str).unwrap_or_default();
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
        _ if is_known(kind) => false,
        _ => return Err(unknown_form(kind)),
    };
    if same { Ok(()) } else { Err(Difference::Other) }
}

/// A number is recorded as it is, by a name, or between bounds.
fn is_number(recorded: &Value, number: i64, symbols: &mut Symbols) -> Result<bool, Difference> {
    match (recorded.get("value"), recorded.get("bounds")) {
        (Some(Value::String(name)), _) => Ok(symbols.is(name, number)),
        (Some(value), _) => Ok(value.as_i64() == Some(number)),
        (None, Some(bounds)) => is_within(bounds, number.saturating_mul(1_000)),
        (None, None) => Err(Difference::NotModelled("a number without `value` or `bounds`".into())),
    }
}

/// Thousandths of a number that may be written with a fraction.
fn thousandths(value: &Value) -> Option<i64> {
    match value.as_i64() {
        Some(whole) => whole.checked_mul(1_000),
        None => value.as_f64().map(|number| (number * 1_000.0).round() as i64),
    }
}

fn is_within(bounds: &Value, thousand_fold: i64) -> Result<bool, Difference> {
    let Some(bounds) = bounds.as_object() else {
        return Err(Difference::NotModelled("bounds that are no object".into()));
    };
    let mut within = true;
    for (name, bound) in bounds {
        let unknown = || Difference::NotModelled(format!("the bound `{name}`"));
        let bound = thousandths(bound).ok_or_else(unknown)?;
        within &= match name.as_str() {
            "gt" => thousand_fold > bound,
            "ge" => thousand_fold >= bound,
            "lt" => thousand_fold < bound,
            "le" => thousand_fold <= bound,
            _ => return Err(unknown()),
        };
    }
    Ok(within)
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

/// What was done, as a person writes it.
pub fn told(did: &Did) -> String {
    match did {
        Did::Answered(reply) => reply_told(reply),
        Did::Blocked => "no answer".into(),
        Did::TimedOut(ms) => format!("no answer within {ms} ms"),
        Did::ConnectionRefused => "connection refused".into(),
        Did::ConnectionClosed => "connection closed".into(),
        Did::Done => "done".into(),
        Did::Failed(why) => why.clone(),
        Did::Decided(Decision::Release(count)) => format!("deleted on {count} nodes"),
        Did::Decided(Decision::Acquire { votes, validity_us, why }) => match validity_us {
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
