//! Transcripts of real servers, played again; and that the replay sees what is wrong.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lockscope::replay::{read, replay};
use serde_json::{Value, json};

fn golden() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut files = Vec::new();
    for folder in fs::read_dir(root).expect("it is there").flatten() {
        for file in fs::read_dir(folder.path()).into_iter().flatten().flatten() {
            if file.path().extension().is_some_and(|e| e == "jsonl") {
                files.push(file.path());
            }
        }
    }
    files.sort();
    files
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).expect("it can be read")
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("it is JSON")).collect()
}

fn play(lines: &[Value]) -> lockscope::replay::Replayed {
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    replay(&read(&text.join("\n")).expect("it has the form of a transcript"))
}

/// A transcript of one server without files.
fn transcript(version: &str, steps: &[Value]) -> Vec<Value> {
    let server = "single node, --save '' --appendonly no";
    let meta = json!({ "meta": {
        "format": 1, "system": "redis", "scenario": "made here", "version": version,
        "server": server, "client": "none", "establishes": "nothing",
    }});
    let mut all = vec![meta];
    all.extend(steps.iter().cloned());
    all.push(json!({ "order": [], "symbols": {} }));
    all
}

fn step(number: u64, argv: &[&str], reply: Value) -> Value {
    let op = json!({ "name": argv[0], "args": {}, "argv": argv });
    json!({ "step": number, "client": "A", "op": op, "reply": reply })
}

fn env(number: u64, name: &str, args: Value) -> Value {
    let op = json!({ "name": name, "args": args });
    json!({ "step": number, "client": "env", "op": op, "reply": { "type": "done" } })
}

fn ok() -> Value {
    json!({ "type": "simple", "value": "OK" })
}

#[test]
fn every_transcript_is_answered_as_it_was_recorded() {
    let mut steps = 0;
    for path in golden() {
        let transcript = read(&text(&path)).expect("it has the form of a transcript");
        let replayed = replay(&transcript);
        assert_eq!(replayed.differences, [], "{}", path.display());
        assert!(replayed.passed >= transcript.steps.len(), "{}", path.display());
        steps += replayed.passed;
    }
    assert!(steps > 2_300, "{steps} steps");
}

fn counted(lines: &[Value]) -> (usize, usize, usize) {
    let replayed = play(lines);
    (replayed.passed, replayed.failed, replayed.not_modelled)
}

#[test]
fn a_span_of_time_that_cannot_pass_is_not_modelled_and_does_not_overflow() {
    for ms in [100_000_000_000_000_000_i64, i64::MAX, i64::MIN, -5, 86_400_001] {
        for name in ["advance", "no_event_within"] {
            let set = step(1, &["SET", "a", "1"], ok());
            let change = env(2, name, json!({ "ms": ms, "client": "A" }));
            let replayed = play(&transcript("redis 7.0.15", &[set, change]));
            assert_eq!((replayed.passed, replayed.failed, replayed.not_modelled), (1, 0, 1));
            assert!(replayed.differences[0].1.contains(&format!("{ms} ms")), "{name} {ms}");
        }
    }
    let wide = env(1, "clock_step", json!({ "ms": i64::MIN, "node": "s1" }));
    assert_eq!(counted(&transcript("redis 7.0.15", &[wide])), (0, 0, 1));
    let day = env(1, "advance", json!({ "ms": 86_400_000 }));
    assert_eq!(counted(&transcript("redis 7.0.15", &[day])), (1, 0, 0));
    let silent = step(1, &["GET", "a"], json!({ "type": "client_timeout", "ms": i64::MAX }));
    assert_eq!(counted(&transcript("redis 7.0.15", &[silent])), (0, 0, 1));
}

#[test]
fn only_releases_that_are_modelled_are_played() {
    for version in ["redis 7.0.15", "redis 7.4.1", "redis 8.4.0", "valkey 9.1.2"] {
        assert_eq!(counted(&transcript(version, &[step(1, &["SET", "a", "1"], ok())])), (1, 0, 0));
    }
    for version in ["redis 6.0.16", "redis 6.2.0", "redis 7.2.4", "redis 99.0", "valkey 100.1"] {
        let replayed = play(&transcript(version, &[step(1, &["SET", "a", "1"], ok())]));
        assert_eq!((replayed.passed, replayed.failed, replayed.not_modelled), (0, 0, 1));
        assert!(replayed.differences[0].1.contains(version), "{:?}", replayed.differences);
    }
}

#[test]
fn a_flush_with_another_word_than_sync_or_async_is_an_error_and_deletes_nothing() {
    let syntax = json!({ "type": "error", "code": "ERR", "message": "ERR syntax error" });
    for name in ["FLUSHALL", "FLUSHDB"] {
        let steps = [
            step(1, &["SET", "a", "1"], ok()),
            step(2, &[name, "FOO"], syntax.clone()),
            step(3, &[name, "SYNC", "ASYNC"], syntax.clone()),
            step(4, &["GET", "a"], json!({ "type": "bulk", "value": "1" })),
            step(5, &[name, "async"], ok()),
            step(6, &["GET", "a"], json!({ "type": "nil" })),
        ];
        assert_eq!(play(&transcript("redis 7.0.15", &steps)).differences, []);
    }
}

#[test]
fn what_comes_after_a_step_that_is_not_modelled_is_not_judged_unless_that_only_looked() {
    let set = step(1, &["SET", "a", "1"], ok());
    for argv in [&["SELECT", "1"][..], &["HELLO", "3"], &["HSET", "a", "b", "c"]] {
        let mut other = step(3, &["SET", "a", "2", "NX"], ok());
        other["client"] = json!("B");
        let made = transcript("redis 7.0.15", &[set.clone(), step(2, argv, ok()), other]);
        assert_eq!(counted(&made), (1, 0, 2), "{argv:?}");
        let said = &play(&made).differences[1].1;
        assert!(
            said.ends_with("not modelled: it is after step 2, which is not modelled"),
            "{said}"
        );
    }
    for argv in [&["INFO"][..], &["OBJECT", "ENCODING", "a"], &["CONFIG", "GET", "hz"]] {
        let get = step(3, &["GET", "a"], json!({ "type": "bulk", "value": "1" }));
        let made = transcript("redis 7.0.15", &[set.clone(), step(2, argv, ok()), get]);
        assert_eq!(counted(&made), (2, 0, 1), "{argv:?}");
    }
    // In a transaction the answer of EXEC would lack what only looks.
    let queued = json!({ "type": "simple", "value": "QUEUED" });
    let exec = json!({ "type": "array", "value": ["x"] });
    let steps = [step(1, &["MULTI"], ok()), step(2, &["INFO"], queued), step(3, &["EXEC"], exec)];
    assert_eq!(counted(&transcript("redis 7.0.15", &steps)), (1, 0, 2));
    // A change of the world that is not modelled may have changed anything.
    let steps = [env(1, "solar_flare", json!({})), step(2, &["SET", "a", "1"], ok())];
    assert_eq!(counted(&transcript("redis 7.0.15", &steps)), (0, 0, 2));
}

#[test]
fn only_servers_that_the_first_line_describes_are_there() {
    let at = |server: &str, node: &str| {
        let mut set = step(1, &["SET", "a", "1"], ok());
        set["op"]["node"] = json!(node);
        let mut made = transcript("redis 7.0.15", &[set]);
        made[0]["meta"]["server"] = json!(server);
        made
    };
    for (server, node) in [
        ("5 masters, no persistence", "n5"),
        ("3 independent masters n1..n3, no persistence", "n1"),
        ("single node, --save ''", "s1"),
        ("master m + replica r", "m"),
    ] {
        assert_eq!(counted(&at(server, node)), (1, 0, 0), "{server} {node}");
    }
    for (server, node, why) in [
        ("5 masters, no persistence", "n9", "a server `n9`"),
        ("single node, --save ''", "s9", "a server `s9`"),
        ("0 masters, no persistence", "n1", "the servers `0 masters, no persistence`"),
        ("17 masters", "n1", "the servers `17 masters`"),
        ("a sentinel set of three", "s1", "the servers `a sentinel set of three`"),
        ("master m + replica r", "x", "a server `x`"),
    ] {
        let replayed = play(&at(server, node));
        assert_eq!((replayed.passed, replayed.failed, replayed.not_modelled), (0, 0, 1));
        assert!(replayed.differences[0].1.contains(why), "{:?}", replayed.differences);
    }
}

#[test]
fn a_name_that_is_not_the_first_word_sent_is_an_error_with_its_line() {
    let mut set = step(1, &["SET", "a", "1"], ok());
    set["op"]["name"] = json!("set");
    assert_eq!(counted(&transcript("redis 7.0.15", &[set.clone()])), (1, 0, 0));
    set["op"]["name"] = json!("GET");
    let lines: Vec<String> =
        transcript("redis 7.0.15", &[set]).iter().map(Value::to_string).collect();
    let error = read(&lines.join("\n")).expect_err("it names another command");
    assert_eq!((error.line, error.message.contains("GET")), (2, true), "{error:?}");
}

#[test]
fn only_a_connection_that_is_there_is_dropped() {
    let set = |number| step(number, &["SET", "a", "1"], ok());
    let drop = |number| env(number, "drop_connection", json!({ "client": "A" }));
    assert_eq!(
        counted(&transcript("redis 7.0.15", &[set(1), drop(2), set(3), drop(4)])),
        (4, 0, 0)
    );
    let replayed = play(&transcript("redis 7.0.15", &[set(1), drop(2), drop(3)]));
    assert_eq!((replayed.passed, replayed.failed, replayed.not_modelled), (2, 0, 1));
    assert!(replayed.differences[0].1.contains("a drop_connection of A, which has none"));
    assert_eq!(counted(&transcript("redis 7.0.15", &[drop(1), set(2)])), (0, 0, 2));
}

#[test]
fn what_claims_to_be_the_words_of_a_command_is_them() {
    let set = |args: Value| {
        let mut set = step(1, &["SET", "lock", "A", "NX", "PX", "300"], ok());
        set["op"]["args"] = args;
        play(&transcript("redis 7.0.15", &[set]))
    };
    for args in [
        json!({}),
        json!({ "raw": ["lock", "A", "NX", "PX", "300"] }),
        json!({ "key": "lock", "value": "A", "nx": true, "xx": false, "px": 300 }),
    ] {
        assert_eq!(set(args).differences, []);
    }
    for (args, said) in [
        (json!({ "raw": ["lock", "B", "NX", "PX", "300"] }), "SET with `raw`"),
        (json!({ "raw": ["lock", "A"] }), "SET with `raw`"),
        (json!({ "raw": "lock" }), "SET with `raw`"),
    ] {
        let replayed = set(args);
        assert_eq!((replayed.failed, replayed.not_modelled), (0, 1), "{said}");
        assert!(replayed.differences[0].1.contains(said), "{:?}", replayed.differences);
    }
}

#[test]
fn a_name_in_no_list_is_an_error_of_redis_7_0_only_whose_list_is_whole() {
    let unknown = json!({ "type": "error", "code": "ERR", "message": "ERR unknown command" });
    for (version, expected) in [("redis 7.0.15", (1, 0, 0)), ("redis 8.4.0", (0, 0, 1))] {
        let made = transcript(version, &[step(1, &["VADD", "k"], unknown.clone())]);
        assert_eq!(counted(&made), expected, "{version}");
    }
}

/// Another answer than the recorded one.
fn another(reply: &Value) -> Option<Value> {
    let mut other = reply.clone();
    if let Some(ms) = reply["negotiated_timeout_ms"].as_u64() {
        other["negotiated_timeout_ms"] = json!(ms + 1);
        return Some(other);
    }
    if reply["header_zxid"].is_string() {
        // The names of transactions keep their values, so that only this answer is another one.
        let before = reply["events_before_reply"].as_u64();
        other["events_before_reply"] = json!(before.unwrap_or(0) + 1);
        return Some(other);
    }
    Some(match reply["type"].as_str()? {
        "simple" | "bulk" => json!({ "type": reply["type"], "value": "something else" }),
        "integer" if reply["bounds"].is_object() => {
            json!({ "type": "integer", "bounds": { "lt": -5 } })
        }
        "integer" if reply["value"].is_string() => json!({ "type": "nil" }),
        "integer" => json!({ "type": "integer", "value": reply["value"].as_i64()? ^ 1 }),
        "nil" => json!({ "type": "bulk", "value": "something" }),
        "nil_array" => json!({ "type": "array", "value": [] }),
        "error" => json!({ "type": "error", "code": "OTHER", "message": "" }),
        "array" if reply["role"].is_string() => json!({ "type": "array", "role": "nobody" }),
        "array" => json!({ "type": "nil_array" }),
        "connection_refused" => json!({ "type": "connection_closed" }),
        "closed_by_server" | "role" => json!({ "type": reply["type"], "value": "another" }),
        "counts" => json!({ "type": "counts", "total": reply["total"].as_u64()? + 1 }),
        "decision" if reply["acquired"].is_boolean() => {
            other["acquired"] = json!(!reply["acquired"].as_bool()?);
            other
        }
        "decision" => json!({ "type": "decision", "nodes_deleted": 99 }),
        _ => return None,
    })
}

#[test]
fn an_answer_that_was_recorded_otherwise_is_found_where_it_is() {
    let mut changed = 0;
    for path in golden().iter().step_by(3) {
        let all = lines(&text(path));
        for index in 0..all.len() {
            let Some(other) = all[index].get("reply").and_then(another) else { continue };
            let mut wrong = all.clone();
            wrong[index]["reply"] = other;
            let replayed = play(&wrong);
            let line = index + 1;
            let first = replayed.differences.first().map(|d| d.0);
            assert_eq!(first, Some(line), "{} {:?}", path.display(), replayed.differences);
            assert_eq!(replayed.not_modelled, 0, "{}", path.display());
            changed += 1;
        }
    }
    assert!(changed > 400, "{changed} answers");
}

#[test]
fn an_event_that_did_not_come_or_that_nobody_recorded_is_found() {
    let mut changed = 0;
    for path in golden() {
        let all = lines(&text(&path));
        let Some(index) = all.iter().position(|line| line.get("event").is_some()) else { continue };
        let mut without = all.clone();
        without.remove(index);
        assert!(play(&without).failed > 0, "{}", path.display());
        let mut twice = all.clone();
        twice.insert(index, all[index].clone());
        assert!(play(&twice).failed > 0, "{}", path.display());
        changed += 1;
    }
    assert!(changed >= 5, "{changed} transcripts with events");
}

#[test]
fn what_is_not_modelled_is_named() {
    let cases: [(&[&str], &str); 8] = [
        (&["ZADD", "z", "1", "a"], "ZADD"),
        (&["EVAL", "return 1", "0"], "EVAL of another script than the three"),
        (&["SCRIPT", "LOAD", "return 1"], "SCRIPT LOAD of another script than the three"),
        (&["CONFIG", "SET", "hz", "100"], "CONFIG SET hz 100"),
        (&["CONFIG", "SET", "maxmemory", "100mb"], "CONFIG SET maxmemory 100mb"),
        (&["CLIENT", "KILL", "x"], "CLIENT KILL"),
        (&["DEBUG", "SLEEP", "1"], "DEBUG SLEEP"),
        (&["REPLICAOF", "127.0.0.1", "6399"], "REPLICAOF of port 6399"),
    ];
    for (argv, name) in cases {
        let before = step(1, &["SET", "a", "1"], ok());
        let after = step(3, &["SET", "a", "2"], ok());
        let made = transcript("redis 7.0.15", &[before, step(2, argv, ok()), after]);
        let replayed = play(&made);
        // Each of them may have changed the server, so what came after it is not judged either.
        assert_eq!((replayed.passed, replayed.failed, replayed.not_modelled), (1, 0, 2));
        let said = &replayed.differences[0];
        assert_eq!(said.0, 3);
        assert!(said.1.ends_with(&format!("not modelled: {name}")), "{}", said.1);
    }
    let made = transcript("redis 7.0.15", &[env(1, "solar_flare", json!({}))]);
    assert!(play(&made).differences[0].1.contains("`solar_flare`"));
    let made = transcript("memcached 1.6", &[step(1, &["GET", "a"], json!({ "type": "nil" }))]);
    assert!(play(&made).differences[0].1.contains("the version `memcached 1.6`"));
    let mut made = transcript("redis 7.0.15", &[step(1, &["PING"], ok())]);
    made[0]["meta"]["system"] = json!("zookeeper");
    assert_eq!(play(&made).not_modelled, 1);
    made[0]["meta"]["system"] = json!("redis");
    made[0]["meta"]["server"] = json!("single node, --cluster-enabled yes");
    assert!(play(&made).differences[0].1.contains("--cluster-enabled yes"));
}

#[test]
fn a_name_that_no_version_has_is_an_error_of_the_server_and_a_later_one_depends() {
    let unknown = json!({ "type": "error", "code": "ERR", "message": "ERR unknown command" });
    for (version, argv, reply) in [
        ("redis 7.0.15", &["NOSUCH"][..], unknown.clone()),
        ("redis 7.0.15", &["DELEX", "a", "IFEQ", "1"], unknown.clone()),
        ("redis 8.4.0", &["DELEX", "a", "IFEQ", "1"], json!({ "type": "integer", "value": 0 })),
        ("valkey 9.1.2", &["DELEX", "a", "IFEQ", "1"], unknown.clone()),
        ("valkey 9.2.0", &["DELEX", "a", "IFEQ", "1"], json!({ "type": "integer", "value": 0 })),
        ("redis 8.4.0", &["DELIFEQ", "a", "1"], unknown),
    ] {
        let replayed = play(&transcript(version, &[step(1, argv, reply)]));
        assert_eq!(replayed.differences, [], "{version}");
    }
}

#[test]
fn a_key_is_there_in_the_millisecond_of_its_end_and_gone_in_the_next() {
    let there = json!({ "type": "bulk", "value": "A" });
    for (wait, reply) in [(199, there.clone()), (200, there), (201, json!({ "type": "nil" }))] {
        let set = step(1, &["SET", "lock", "A", "NX", "PX", "200"], ok());
        let get = step(3, &["GET", "lock"], reply);
        let made = transcript("redis 7.0.15", &[set, env(2, "advance", json!({"ms": wait})), get]);
        assert_eq!(play(&made).differences, [], "after {wait} ms");
    }
}

#[test]
fn relations_of_the_last_line_are_looked_at() {
    let ends = |name: &str| json!({ "type": "integer", "value": name });
    let mut made = transcript(
        "redis 7.0.15",
        &[
            step(1, &["SET", "a", "1", "PX", "1000"], ok()),
            step(2, &["PEXPIRETIME", "a"], ends("abs1")),
            step(3, &["PEXPIRE", "a", "2000"], json!({ "type": "integer", "value": 1 })),
            step(4, &["PEXPIRETIME", "a"], ends("abs2")),
        ],
    );
    let last = made.len() - 1;
    made[last]["order"] = json!(["abs1 < abs2", "abs2 > 0", "events after_step 3: any order"]);
    assert_eq!(play(&made).passed, 7);
    made[last]["order"] = json!(["abs2 < abs1", "epoch(abs1) < epoch(abs2)"]);
    let replayed = play(&made);
    assert_eq!((replayed.passed, replayed.failed, replayed.not_modelled), (4, 1, 1));
    // The same name for two values is a difference.
    made[4]["reply"] = ends("abs1");
    made[last]["order"] = json!([]);
    assert_eq!(play(&made).failed, 1);
}

fn lockscope(arguments: &[&str], folder: &Path) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_lockscope"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("it runs");
    let read = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), read(&output.stdout), read(&output.stderr))
}

#[test]
fn the_command_counts_steps_names_differences_and_says_with_its_exit_code_whether_all_passed() {
    let folder = std::env::temp_dir().join(format!("lockscope-replay-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let write = |name: &str, lines: &[Value]| {
        let text: Vec<String> = lines.iter().map(Value::to_string).collect();
        fs::write(folder.join(name), text.join("\n")).expect("a file");
    };
    write("good.jsonl", &transcript("redis 7.0.15", &[step(1, &["SET", "a", "1"], ok())]));
    let wrong = [
        step(1, &["SET", "a", "1"], json!({ "type": "nil" })),
        step(2, &["XADD", "s", "*", "a", "1"], ok()),
    ];
    write("wrong.jsonl", &transcript("redis 7.0.15", &wrong));
    fs::write(folder.join("broken.jsonl"), "{\"meta\":").expect("a file");

    let (code, out, _) = lockscope(&["replay", "good.jsonl"], &folder);
    let last = |out: &str| out.lines().last().unwrap_or_default().to_string();
    assert_eq!((code, last(&out).as_str()), (0, "1 passed, 0 failed, 0 not modelled"));

    let (code, out, _) = lockscope(&["replay", "good.jsonl", "wrong.jsonl"], &folder);
    assert_eq!((code, last(&out).as_str()), (1, "1 passed, 1 failed, 1 not modelled"));
    let expected = "wrong.jsonl:2: step 1, A SET: recorded nil, the simulated server: OK";
    assert!(out.lines().any(|line| line == expected), "{out}");
    let expected = "wrong.jsonl:3: step 2, A XADD: not modelled: XADD";
    assert!(out.lines().any(|line| line == expected), "{out}");

    let (code, out, err) = lockscope(&["replay", "good.jsonl", "broken.jsonl", "none"], &folder);
    assert_eq!((code, last(&out).as_str()), (2, "1 passed, 0 failed, 0 not modelled"));
    assert!(err.contains("broken.jsonl:1: this is no JSON"), "{err}");
    assert!(err.contains("none: this cannot be read"), "{err}");

    assert_eq!(lockscope(&["replay"], &folder).0, 2);
    assert_eq!(lockscope(&["replay", "--help"], &folder).0, 0);
    fs::remove_dir_all(&folder).expect("it is ours");
}

#[test]
fn a_line_that_has_not_the_form_of_a_transcript_is_an_error_with_its_place() {
    let good = transcript("redis 7.0.15", &[step(1, &["PING"], ok())]);
    let text = |lines: &[Value]| {
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        lines.join("\n")
    };
    for (line, text, why) in [
        (1, String::new(), "expected `meta`"),
        (1, text(&good[1..]), "expected `meta`"),
        (2, text(&[good[0].clone(), step(2, &["PING"], ok())]), "expected step 1"),
        (2, text(&good[..2]), "expected a last line"),
        (4, text(&[&good[..], &good[2..]].concat()), "found another line after `order`"),
        (2, text(&[good[0].clone(), json!({ "step": 1 })]), "expected `client`, `op` and `reply`"),
        (
            2,
            text(&[good[0].clone(), json!({ "strange": 1 })]),
            "expected `step`, `event` or `order`",
        ),
        (
            3,
            text(&[
                good[0].clone(),
                good[1].clone(),
                json!({ "event": {}, "client": "A", "after_step": 7 }),
            ]),
            "there is no step 7",
        ),
    ] {
        let error = read(&text).expect_err(why);
        assert!(error.line == line && error.message.contains(why), "{error:?}, not {line} {why}");
    }
}
