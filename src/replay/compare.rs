//! Whether what was done is what was recorded: what holds for the servers of every system.

use serde_json::Value;

use super::deed::all_known;
use super::protocol::Protocol;
use crate::sim::Table;

/// What the simulated world did, to be compared with what was recorded.
#[derive(Clone, Debug)]
pub enum Did<S> {
    /// It answered, or a client concluded something from answers.
    Answered(S),
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
pub struct Symbols(Table<String, i128>);

impl Symbols {
    /// The first value of a name stands; another one is a difference.
    pub fn is(&mut self, name: &str, value: i128) -> bool {
        *self.0.entry(name.to_string()).or_insert(value) == value
    }

    /// The value of a name, if it has one by now.
    pub fn get(&self, name: &str) -> Option<i128> {
        self.0.get(name).copied()
    }

    /// Whether a relation such as `abs1 < abs2` or `epoch(zxid4) < epoch(zxid6)` holds; `function`
    /// knows what such a function gives.
    ///
    /// # Errors
    /// A relation that is not known here, or a name that has no value.
    pub fn relation(
        &self,
        text: &str,
        function: impl Fn(&str, i128) -> Option<i128>,
    ) -> Result<bool, Difference> {
        if any_order_after(text).is_some() {
            return Ok(true);
        }
        let unknown = || Difference::NotModelled(format!("the relation `{text}`"));
        let words: Vec<&str> = text.split_whitespace().collect();
        let [left, relation, right] = words[..] else { return Err(unknown()) };
        let plain = |word: &str| self.get(word).or_else(|| word.parse().ok());
        let value = |word: &str| {
            let called = word.strip_suffix(')').and_then(|call| call.split_once('('));
            let value = match called {
                Some((name, of)) => plain(of).and_then(|value| function(name, value)),
                None => plain(word),
            };
            value.ok_or_else(unknown)
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

/// The step after which messages that came unasked have no order, where a line says so:
/// `events after_step 10: any order`, with a reason behind it or without.
pub fn any_order_after(text: &str) -> Option<u64> {
    let (step, rest) = text.strip_prefix("events after_step ")?.split_once(": any order")?;
    if rest.is_empty() || rest.starts_with(" (") { step.parse().ok() } else { None }
}

/// Compares what was done with what was recorded.
///
/// # Errors
/// That it is another, or that the record has an unknown form.
pub fn compare<P: Protocol>(
    recorded: &Value,
    did: &Did<P::Said>,
    symbols: &mut Symbols,
) -> Result<(), Difference> {
    let kind = recorded.get("type").and_then(Value::as_str).unwrap_or_default();
    if FORMS.contains(&kind) {
        let place = format!("an answer of type `{kind}`");
        all_known(recorded, &["type", "ms"], &place).map_err(Difference::NotModelled)?;
    }
    let same = match (kind, did) {
        ("blocked", Did::Blocked)
        | ("connection_refused", Did::ConnectionRefused)
        | ("connection_closed", Did::ConnectionClosed)
        | ("done", Did::Done) => true,
        ("client_timeout", Did::TimedOut(ms)) => {
            recorded.get("ms").and_then(Value::as_u64) == Some(*ms)
        }
        (_, Did::Answered(said)) => return P::compare(recorded, said, symbols),
        _ if FORMS.contains(&kind) || P::knows(kind) => false,
        _ => return Err(unknown_form(kind)),
    };
    if same { Ok(()) } else { Err(Difference::Other) }
}

/// Types of answers that servers of every system have.
const FORMS: [&str; 5] =
    ["blocked", "done", "connection_refused", "connection_closed", "client_timeout"];

/// An answer was recorded that has another type than what was done: a difference where the type is
/// known.
///
/// # Errors
/// In any case.
pub fn another_type<P: Protocol>(kind: &str) -> Result<(), Difference> {
    let known = FORMS.contains(&kind) || P::knows(kind);
    Err(if known { Difference::Other } else { unknown_form(kind) })
}

fn unknown_form(kind: &str) -> Difference {
    Difference::NotModelled(format!("the answer of type `{kind}`"))
}

/// Thousandths of a number that may be written with a fraction.
pub fn thousandths(value: &Value) -> Option<i64> {
    match value.as_i64() {
        Some(whole) => whole.checked_mul(1_000),
        None => value.as_f64().map(|number| (number * 1_000.0).round() as i64),
    }
}

/// Whether a number, of which these are the thousandths, lies between bounds.
///
/// # Errors
/// Bounds of a form that is not known.
pub fn is_within(bounds: &Value, thousand_fold: i64) -> Result<bool, Difference> {
    let Some(bounds) = bounds.as_object() else {
        return Err(Difference::NotModelled("bounds that are no object".into()));
    };
    if bounds.is_empty() {
        return Err(Difference::NotModelled("bounds without any".into()));
    }
    let mut within = true;
    for (name, bound) in bounds {
        let unknown = || Difference::NotModelled(format!("the bound `{name}`"));
        if name == "note" {
            continue;
        }
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

/// What was done, as a person writes it.
pub fn told<P: Protocol>(did: &Did<P::Said>) -> String {
    match did {
        Did::Answered(said) => P::told(said),
        Did::Blocked => "no answer".into(),
        Did::TimedOut(ms) => format!("no answer within {ms} ms"),
        Did::ConnectionRefused => "connection refused".into(),
        Did::ConnectionClosed => "connection closed".into(),
        Did::Done => "done".into(),
        Did::Failed(why) => why.clone(),
    }
}
