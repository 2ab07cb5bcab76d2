//! Answers of the simulated servers in the form in which those of real ones are recorded, and whether
//! one is the other.

use serde_json::{Map, Value, json};

use super::super::compare::{Difference, Symbols, another_type, is_within};
use super::ZooKeeper;
use crate::systems::zookeeper::{Change, CreateMode, Path, Reply, Request, Stat, Zxid};

/// What is held against the record, as it would be recorded.
#[derive(Clone, Debug)]
pub struct Said(pub Value);

/// Types of answers of these servers, and of what is counted or looked up about them.
pub const FORMS: [&str; 9] = [
    "ok",
    "error",
    "connected",
    "session_expired",
    "role",
    "zxid_epochs",
    "closed_by_server",
    "counts",
    "event_count",
];

/// An answer to a request, with the latest transaction that the server had carried out, and how many
/// watch events had come on the connection before it.
pub fn answer(request: &Request, reply: &Reply, zxid: Zxid, before: usize) -> Said {
    let mut said = body(request, reply);
    if !matches!(reply, Reply::Connected { .. } | Reply::Expired) {
        said.insert("header_zxid".into(), json!(zxid.0));
    }
    if before > 0 {
        said.insert("events_before_reply".into(), json!(before));
    }
    Said(Value::Object(said))
}

fn body(request: &Request, reply: &Reply) -> Map<String, Value> {
    let fields = match reply {
        Reply::Connected { session, timeout, .. } => json!({
            "type": "connected",
            "negotiated_timeout_ms": timeout.0 / 1_000,
            "session": session.0,
        }),
        // The server that says so closes the connection behind it.
        Reply::Expired => json!({
            "type": "session_expired",
            "negotiated_timeout_ms": 0,
            "session": 0,
            "socket_closed_by_server": true,
        }),
        Reply::Error(code) => {
            json!({ "type": "error", "code": code.number(), "error": code.name() })
        }
        Reply::Done => match request {
            Request::Sync { path } => json!({ "type": "ok", "path": path.as_str() }),
            _ => json!({ "type": "ok" }),
        },
        Reply::Created(path, books) => {
            with_stat(json!({ "type": "ok", "path": path.as_str() }), books.as_ref())
        }
        Reply::Stat(books) => with_stat(json!({ "type": "ok" }), Some(books)),
        Reply::Data(data, books) => {
            with_stat(json!({ "type": "ok", "data": &**data }), Some(books))
        }
        Reply::Children(names, books) => {
            let names: Vec<&str> = names.iter().map(|name| &**name).collect();
            with_stat(json!({ "type": "ok", "children": names }), books.as_ref())
        }
        Reply::Multi(replies) => {
            json!({ "type": "ok", "results": results(request, replies) })
        }
    };
    match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn with_stat(mut fields: Value, books: Option<&Stat>) -> Value {
    if let Some(books) = books {
        fields["stat"] = stat(books);
    }
    fields
}

fn results(request: &Request, replies: &[Reply]) -> Vec<Value> {
    let parts: &[Request] = match request {
        Request::Multi(parts) => parts,
        _ => &[],
    };
    let one = |(part, reply): (&Request, &Reply)| {
        let mut fields = body(part, reply);
        if !matches!(reply, Reply::Error(_)) {
            fields.insert("op".into(), json!(part_name(part)));
        }
        Value::Object(fields)
    };
    parts.iter().zip(replies).map(one).collect()
}

fn part_name(part: &Request) -> &'static str {
    match part {
        // Its type says whether a stat comes with it, and not which kind of create was asked.
        Request::Create { mode: CreateMode::Container, .. } => "create2",
        Request::Create { .. } => "create",
        Request::Delete { .. } => "delete",
        Request::SetData { .. } => "setData",
        Request::Check { .. } => "check",
        _ => "?",
    }
}

fn stat(books: &Stat) -> Value {
    json!({
        "czxid": books.czxid.0,
        "mzxid": books.mzxid.0,
        "pzxid": books.pzxid.0,
        "version": books.version,
        "cversion": books.cversion,
        "aversion": 0,
        "ephemeralOwner": books.owner.map_or(0, |session| session.0),
        "dataLength": books.length,
        "numChildren": books.children,
    })
}

/// Compares what was said with what was recorded. All that was said has to be in the record; of how
/// many events came before it may be silent where there were none.
///
/// # Errors
/// That it is another, or that the record has an unknown form or is not whole.
pub fn compare(recorded: &Value, said: &Said, symbols: &mut Symbols) -> Result<(), Difference> {
    let kind = |value: &Value| value.get("type").and_then(Value::as_str).map(String::from);
    let wanted = kind(recorded).unwrap_or_default();
    if Some(&wanted) != kind(&said.0).as_ref() {
        return another_type::<ZooKeeper>(&wanted);
    }
    if wanted == "error" && recorded.get("code").is_none() {
        return Err(Difference::NotModelled("an error without `code`".into()));
    }
    let compared = same("an answer", recorded, &said.0, symbols);
    let before = |value: &Value| value.get("events_before_reply").and_then(Value::as_u64);
    if before(recorded).unwrap_or(0) != before(&said.0).unwrap_or(0) {
        return Err(Difference::Other);
    }
    compared
}

/// What is said about an answer in words, and is not compared.
const REMARKS: [&str; 2] = ["note", "message"];

/// Every field of the record is there and the same, and the record has every field: one that it lacks
/// would pass whatever the server says. `of` is what is compared, in words.
///
/// # Errors
/// That one is another, is missing or has an unknown form.
pub fn same(
    of: &str,
    recorded: &Value,
    said: &Value,
    symbols: &mut Symbols,
) -> Result<(), Difference> {
    match (recorded, said) {
        (Value::Object(fields), Value::Object(others)) => {
            let mut first = Ok(());
            for (name, value) in fields.iter().filter(|f| !REMARKS.contains(&f.0.as_str())) {
                let compared = match others.get(name) {
                    Some(other) => same(of, value, other, symbols),
                    None if KNOWN.contains(&name.as_str()) => Err(Difference::Other),
                    None => Err(Difference::NotModelled(format!("the field `{name}` of {of}"))),
                };
                // A difference that is certain stands before one that is not modelled.
                if first != Err(Difference::Other) && compared.is_err() {
                    first = compared;
                }
            }
            // Where none came before an answer the record says nothing of them, so they are counted apart.
            let counted = |name: &str| name == "events_before_reply";
            let missing = others.keys().find(|name| !counted(name) && !fields.contains_key(*name));
            match missing {
                Some(name) if first.is_ok() => {
                    Err(Difference::NotModelled(format!("{of} without `{name}`")))
                }
                _ => first,
            }
        }
        (Value::Object(bounds), Value::Number(number)) => {
            let thousands = number.as_i64().and_then(|number| number.checked_mul(1_000));
            let bounds = bounds.get("bounds").unwrap_or(recorded);
            match is_within(bounds, thousands.unwrap_or(i64::MAX))? {
                true => Ok(()),
                false => Err(Difference::Other),
            }
        }
        (Value::Array(values), Value::Array(others)) if values.len() == others.len() => {
            let mut pairs = values.iter().zip(others);
            pairs.try_for_each(|(value, other)| same(of, value, other, symbols))
        }
        (Value::String(name), Value::Number(number)) if is_symbol(name) => {
            let number = number.as_u64().map(i128::from).or(number.as_i64().map(i128::from));
            let named = number.is_some_and(|number| symbols.is(name, number));
            if named { Ok(()) } else { Err(Difference::Other) }
        }
        _ if recorded == said => Ok(()),
        // The number of a session has 64 bits, written with a sign or without.
        (Value::Number(a), Value::Number(b)) => {
            let bits = |n: &serde_json::Number| n.as_u64().or(n.as_i64().map(|n| n as u64));
            if bits(a) == bits(b) { Ok(()) } else { Err(Difference::Other) }
        }
        _ => Err(Difference::Other),
    }
}

/// `zxid7` or `session2`.
fn is_symbol(name: &str) -> bool {
    let digits = name.strip_prefix("zxid").or(name.strip_prefix("session"));
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// Fields that answers may have.
const KNOWN: [&str; 15] = [
    "path",
    "stat",
    "data",
    "children",
    "results",
    "header_zxid",
    "negotiated_timeout_ms",
    "session",
    "code",
    "error",
    "op",
    "value",
    "events_before_reply",
    "socket_closed_by_server",
    "type",
];

/// A watch event as it is recorded. What reaches a connection is of a client that is connected.
pub fn event(change: Change, path: &Path) -> Value {
    json!({
        "type": "watch",
        "state": "SyncConnected",
        "path": path.as_str(),
        "event": change.name(),
    })
}

/// An answer as a person writes it.
pub fn told(said: &Said) -> String {
    let Some(fields) = said.0.as_object() else { return said.0.to_string() };
    let one = |(name, value): (&String, &Value)| match (name.as_str(), value) {
        ("type", Value::String(kind)) => kind.clone(),
        (_, value) => format!("{name} {value}"),
    };
    fields.iter().map(one).collect::<Vec<_>>().join(" ")
}
