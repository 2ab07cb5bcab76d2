//! Steps of a transcript in ZooKeeper's words: what was asked as `zkCli.sh` takes it where it has the
//! command, what was answered as its fields are called there.

use serde_json::{Map, Value};

use super::super::shown::{pairs, plain, quoted};
use super::super::transcript::Step;

/// What a client asked; none for what is not a request of ZooKeeper's.
pub fn asked(step: &Step) -> Option<String> {
    if step.client == "harness" {
        return None;
    }
    let args = &step.args;
    let word = |name: &str| args.get(name).map(plain).map(|word| quoted(&word));
    Some(match step.name.as_str() {
        "connect" => connect(args),
        "multi" => {
            let parts = args.get("ops").and_then(Value::as_array).into_iter().flatten();
            let parts = parts.filter_map(Value::as_object).map(|part| {
                let name = part.get("op").map(plain).unwrap_or_default();
                command(&name, part)
            });
            format!("multi: {}", parts.collect::<Vec<_>>().join("; "))
        }
        "setWatches" => {
            let of = |what: &str, name: &str| {
                let paths = args.get(name).and_then(Value::as_array).filter(|all| !all.is_empty());
                paths.map(|paths| {
                    let paths: Vec<String> = paths.iter().map(plain).collect();
                    format!(", {what} {}", paths.join(" "))
                })
            };
            let seen = args.get("relative_zxid").map(plain).unwrap_or_default();
            let data = of("data", "data_watches").unwrap_or_default();
            let exist = of("exist", "exist_watches").unwrap_or_default();
            let child = of("child", "child_watches").unwrap_or_default();
            format!("setWatches since {seen}{data}{exist}{child}")
        }
        "addWatch" => format!(
            "addWatch -m {} {}",
            word("mode").unwrap_or_default().to_uppercase(),
            word("path").unwrap_or_default()
        ),
        "removeWatches" => {
            let kind = match args.get("watcher_type").and_then(Value::as_str) {
                Some("data") => " -d",
                Some("children") => " -c",
                _ => "",
            };
            format!("removewatches {}{kind}", word("path").unwrap_or_default())
        }
        "closeSession" => "close".into(),
        name => command(name, args),
    })
}

fn connect(args: &Map<String, Value>) -> String {
    let server = args.get("server").map(plain);
    let server = server.map_or_else(String::new, |server| format!(" to the {}", role(&server)));
    let timeout = args.get("timeout_ms").map(plain).unwrap_or_default();
    let session = match args.get("session") {
        Some(Value::String(session)) => format!(", {session} again"),
        _ => String::new(),
    };
    let password = args.get("password").map_or("", |_| ", with a wrong password");
    let seen = args.get("last_zxid_seen").map(plain);
    let seen = seen.map_or_else(String::new, |seen| format!(", has seen {seen}"));
    format!("connect{server}, time-out {timeout} ms{session}{password}{seen}")
}

fn role(server: &str) -> &str {
    server.strip_prefix("role:").unwrap_or(server)
}

/// A command with a path, as it is typed.
fn command(name: &str, args: &Map<String, Value>) -> String {
    let mut words: Vec<String> = Vec::new();
    let watches = args.get("watch").and_then(Value::as_bool) == Some(true);
    let typed = match name {
        "setData" => "set",
        "getData" => "get -s",
        "exists" => "stat",
        "getChildren" => "ls",
        "getChildren2" => "ls -s",
        "create2" => "create",
        other => other,
    };
    words.push(typed.into());
    let mode = args.get("mode").and_then(Value::as_str).unwrap_or_default();
    words.extend(match mode {
        "ephemeral" => vec!["-e".into()],
        "ephemeral_sequential" => vec!["-e".into(), "-s".into()],
        "persistent_sequential" => vec!["-s".into()],
        "container" => vec!["-c".into()],
        _ => Vec::new(),
    });
    if watches {
        words.push("-w".into());
    }
    match args.get("version") {
        Some(version) if version.as_i64() != Some(-1) => {
            words.push("-v".into());
            words.push(plain(version));
        }
        _ => {}
    }
    for name in ["path", "data"] {
        words.extend(args.get(name).map(|value| quoted(&plain(value))));
    }
    words.join(" ")
}

/// What was answered, or what is told of the world; none where it has no form of ZooKeeper's own.
pub fn answered(reply: &Value) -> Option<String> {
    let field = |name: &str| reply.get(name);
    let kind = field("type").and_then(Value::as_str).unwrap_or_default();
    let mut lines: Vec<String> = Vec::new();
    match kind {
        "connected" => {
            let session = field("session").map(plain).unwrap_or_default();
            let timeout = field("negotiated_timeout_ms").map(plain).unwrap_or_default();
            lines.push(format!("connected: {session}, time-out {timeout} ms"));
        }
        "session_expired" => lines.push("expired, and the connection is closed".into()),
        "error" => {
            let code = field("code").and_then(Value::as_i64)?;
            let name = field("error").map(plain).unwrap_or_default();
            lines.push(format!("{name} ({code})"));
        }
        "closed_by_server" => {
            let closed = field("value").and_then(Value::as_bool) == Some(true);
            lines.push(if closed { "closed by the server" } else { "open" }.into());
        }
        "role" => lines.push(field("value").map(plain)?),
        "ok" => {
            lines.extend(field("path").map(plain));
            lines.extend(field("data").map(|data| format!("{:?}", plain(data))));
            if let Some(children) = field("children").and_then(Value::as_array) {
                let names: Vec<String> = children.iter().map(plain).collect();
                lines.push(format!("[{}]", names.join(", ")));
            }
            let results = field("results").and_then(Value::as_array);
            for result in results.into_iter().flatten() {
                let op = result.get("op").map(|op| format!("{}: ", plain(op)));
                let said = answered(result).unwrap_or_default().replace('\n', ", ");
                lines.push(format!("{}{said}", op.unwrap_or_default()));
            }
            if lines.is_empty() && field("stat").is_none() {
                lines.push("ok".into());
            }
        }
        _ => return None,
    }
    lines.extend(field("stat").and_then(Value::as_object).map(stat));
    lines.extend(field("header_zxid").map(|zxid| format!("zxid {}", plain(zxid))));
    if let Some(count) = field("events_before_reply") {
        lines.push(format!("before it, events: {}", plain(count)));
    }
    Some(lines.join("\n"))
}

/// A stat by the names that `zkCli.sh` has for its fields.
fn stat(stat: &Map<String, Value>) -> String {
    let names = [
        ("czxid", "cZxid"),
        ("mzxid", "mZxid"),
        ("pzxid", "pZxid"),
        ("cversion", "cversion"),
        ("version", "dataVersion"),
        ("ephemeralOwner", "ephemeralOwner"),
        ("dataLength", "dataLength"),
        ("numChildren", "numChildren"),
    ];
    let fields = names.iter().filter_map(|(name, shown)| {
        let value = stat.get(*name)?;
        // What is 0 in most znodes says nothing where it is.
        let silent = ["ephemeralOwner", "numChildren"].contains(name) && value.as_i64() == Some(0);
        (!silent).then(|| format!("{shown} {}", plain(value)))
    });
    fields.collect::<Vec<_>>().join(", ")
}

/// What came unasked: a watch event in words, or what a library told its application.
pub fn came(event: &Value) -> Option<String> {
    match event.get("type").and_then(Value::as_str)? {
        "watch" => {
            let what = event.get("event").map(plain).unwrap_or_default();
            let path = event.get("path").map(plain).unwrap_or_default();
            Some(format!("{what} {path}"))
        }
        "client_log" => {
            let mut fields = event.as_object().cloned().unwrap_or_default();
            fields.remove("type");
            Some(pairs(&fields))
        }
        _ => None,
    }
}
