//! The replay of ZooKeeper's transcripts: that it names what it cannot play and sees what is wrong.

use lockscope::replay::{Replayed, answered, asked, came, read, replay};
use serde_json::{Value, json};

const ALONE: &str = "standalone, tickTime=500 minSessionTimeout=1000 maxSessionTimeout=10000";

/// A transcript of these steps and events, which are numbered here.
fn transcript(server: &str, lines: &[Value], order: &[&str]) -> Vec<Value> {
    let meta = json!({ "meta": {
        "format": 1, "system": "zookeeper", "scenario": "made here",
        "version": "zookeeper 3.8.0 (Debian 3.8.0-11+deb12u2)", "server": server,
        "client": "none", "establishes": "nothing",
    }});
    let mut all = vec![meta];
    let mut number = 0;
    for line in lines {
        let mut line = line.clone();
        if line.get("event").is_some() {
            line["after_step"] = json!(number);
        } else {
            number += 1;
            line["step"] = json!(number);
        }
        all.push(line);
    }
    all.push(json!({ "order": order, "symbols": {} }));
    all
}

fn play(lines: &[Value]) -> Replayed {
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    replay(&read(&text.join("\n")).expect("it has the form of a transcript"))
}

fn alone(lines: &[Value]) -> Replayed {
    play(&transcript(ALONE, lines, &[]))
}

fn step(client: &str, name: &str, args: Value, reply: Value) -> Value {
    json!({ "client": client, "op": { "name": name, "args": args }, "reply": reply })
}

fn env(name: &str, args: Value) -> Value {
    step("env", name, args, json!({ "type": "done" }))
}

fn connect(client: &str, session: &str) -> Value {
    let reply = json!({ "type": "connected", "negotiated_timeout_ms": 10_000, "session": session });
    step(client, "connect", json!({ "timeout_ms": 10_000, "session": 0 }), reply)
}

fn create(client: &str, path: &str, zxid: &str) -> Value {
    let args = json!({ "path": path, "mode": "persistent" });
    step(client, "create", args, json!({ "type": "ok", "path": path, "header_zxid": zxid }))
}

fn no_node(zxid: &str) -> Value {
    json!({ "type": "error", "code": -101, "error": "NoNode", "header_zxid": zxid })
}

/// The stat of a znode that was made by the first transaction and that `mzxid` changed last.
fn stat(mzxid: &str, version: u64, owner: Value) -> Value {
    json!({ "czxid": "zxid1", "mzxid": mzxid, "version": version, "cversion": 0, "aversion": 0,
        "ephemeralOwner": owner, "dataLength": version, "numChildren": 0, "pzxid": "zxid1" })
}

fn watched(client: &str, path: &str, event: &str) -> Value {
    let what = json!({ "type": "watch", "state": "SyncConnected", "path": path, "event": event });
    json!({ "event": what, "client": client })
}

fn counted(replayed: &Replayed) -> (usize, usize, usize) {
    (replayed.passed, replayed.failed, replayed.not_modelled)
}

#[test]
fn what_is_not_modelled_is_named_and_what_comes_behind_it_is_not_judged() {
    let ok = json!({ "type": "ok" });
    for (name, args, said) in [
        ("reconfig", json!({}), "reconfig"),
        ("setACL", json!({ "path": "/" }), "setACL"),
        ("create", json!({ "path": "/a", "mode": "persistent_with_ttl" }), "persistent_with_ttl"),
        ("create", json!({ "path": "/a", "mode": "persistent", "acl": "x" }), "`acl`"),
        ("create", json!({ "mode": "persistent" }), "create without `path`"),
        ("exists", json!({ "path": "/a", "watch": "yes" }), "exists with `watch` \"yes\""),
        ("delete", json!({ "path": "/a", "version": 5_000_000_000_i64 }), "`version`"),
        ("addWatch", json!({ "path": "/a", "mode": "once" }), "addWatch with the mode once"),
        ("removeWatches", json!({ "path": "/a", "watcher_type": "all" }), "of the type all"),
        ("multi", json!({ "ops": [{ "op": "getData", "path": "/a" }] }), "getData in a multi"),
        ("multi", json!({ "ops": [{ "op": "delete", "path": "/a", "n": 1 }] }), "delete with `n`"),
        ("setWatches", json!({ "relative_zxid": "long ago" }), "what a client has seen"),
        ("connect", json!({ "timeout_ms": 1, "session": 0, "read_only": true }), "`read_only`"),
        ("connect", json!({ "timeout_ms": 1, "session": "session9" }), "that nobody has"),
        ("kazoo.lock", json!({}), "kazoo.lock"),
    ] {
        let who = if name.starts_with("kazoo.") { "K" } else { "A" };
        let unknown = step(who, name, args, ok.clone());
        let lines = [connect("A", "session1"), unknown, create("A", "/b", "zxid1")];
        let replayed = alone(&lines);
        assert_eq!(counted(&replayed), (1, 0, 2), "{name}");
        let first = &replayed.differences[0];
        assert!(first.0 == 3 && first.1.contains(said), "{said}: {}", first.1);
    }
    let replayed = alone(&[connect("A", "session1"), env("solar_flare", json!({}))]);
    assert!(replayed.differences[0].1.contains("`solar_flare`"));
}

#[test]
fn an_operation_that_only_looks_leaves_the_rest_to_be_judged() {
    let looked = step("A", "getEphemerals", json!({ "path": "/" }), json!({ "type": "ok" }));
    let replayed = alone(&[connect("A", "session1"), looked, create("A", "/b", "zxid1")]);
    assert_eq!(counted(&replayed), (2, 0, 1));
}

#[test]
fn only_servers_that_the_first_line_describes_are_started() {
    let lines = [connect("A", "session1")];
    for server in ["standalone", "standalone, tickTime=1000, fresh data dir", ALONE] {
        assert_eq!(play(&transcript(server, &lines, &[])).not_modelled, 0, "{server}");
    }
    for (server, said) in [
        ("a sentinel", "the servers `a sentinel`"),
        ("0 servers", "the servers `0 servers`"),
        ("99 servers z1..z99", "the servers `99 servers z1..z99`"),
        ("standalone, tickTime=soon", "the servers"),
        ("standalone, tickTime=500 minSessionTimeout=300", "minSessionTimeout=300"),
        ("standalone, readonlymode.enabled=1", "readonlymode.enabled=1"),
    ] {
        let replayed = play(&transcript(server, &lines, &[]));
        assert_eq!(counted(&replayed), (0, 0, 1), "{server}");
        assert!(replayed.differences[0].1.contains(said), "{:?}", replayed.differences);
    }
    for version in ["zookeeper 3.4.14", "zookeeper 3.9.3", "zookeeper", "etcd 3.8"] {
        let mut made = transcript(ALONE, &lines, &[]);
        made[0]["meta"]["version"] = json!(version);
        assert_eq!(counted(&play(&made)), (0, 0, 1), "{version}");
    }
}

#[test]
fn transactions_and_sessions_are_names_that_keep_their_values() {
    let lines = [
        connect("A", "session1"),
        connect("B", "session2"),
        create("A", "/a", "zxid1"),
        create("B", "/b", "zxid2"),
    ];
    let order = ["zxid1 < zxid2", "epoch(zxid1) = epoch(zxid2)", "session1 != session2"];
    assert_eq!(counted(&play(&transcript(ALONE, &lines, &order))), (7, 0, 0));
    let order = ["zxid2 < zxid1", "epoch(zxid1) < epoch(zxid2)", "age(zxid1) < 1"];
    assert_eq!(counted(&play(&transcript(ALONE, &lines, &order))), (4, 2, 1));
    let mut same = lines.clone();
    same[3]["reply"]["header_zxid"] = json!("zxid1");
    assert_eq!(play(&transcript(ALONE, &same, &[])).failed, 1);
    same[1]["reply"]["session"] = json!("session1");
    assert_eq!(play(&transcript(ALONE, &same, &[])).failed, 2);
}

#[test]
fn events_of_one_client_have_an_order_unless_the_record_says_that_they_have_none() {
    let watch = |path: &str| {
        let missing = no_node("zxid1");
        step("W", "exists", json!({ "path": path, "watch": true }), missing)
    };
    let ops = json!({ "ops": [
        { "op": "create", "path": "/a", "mode": "persistent" },
        { "op": "create", "path": "/b", "mode": "persistent" },
    ]});
    let results = json!([
        { "type": "ok", "op": "create", "path": "/a" },
        { "type": "ok", "op": "create", "path": "/b" },
    ]);
    let done = json!({ "type": "ok", "results": results, "header_zxid": "zxid2" });
    let both = |first: &str, second: &str| {
        vec![
            connect("A", "session1"),
            connect("W", "session2"),
            watch("/a"),
            watch("/b"),
            step("A", "multi", ops.clone(), done.clone()),
            watched("W", first, "NodeCreated"),
            watched("W", second, "NodeCreated"),
        ]
    };
    let any = ["events after_step 5: any order (no reason)"];
    assert_eq!(play(&transcript(ALONE, &both("/a", "/b"), &[])).differences, []);
    assert_eq!(play(&transcript(ALONE, &both("/a", "/b"), &any)).differences, []);
    assert_eq!(play(&transcript(ALONE, &both("/b", "/a"), &any)).differences, []);
    assert_eq!(play(&transcript(ALONE, &both("/b", "/a"), &[])).failed, 1);
    assert_eq!(play(&transcript(ALONE, &both("/b", "/b"), &any)).failed, 1);
}

#[test]
fn an_event_that_comes_before_an_answer_is_counted_there() {
    let lines = |before: Value| {
        let missing = no_node("zxid1");
        let mut own = create("A", "/a", "zxid2");
        own["reply"]["events_before_reply"] = before;
        vec![
            connect("A", "session1"),
            step("A", "exists", json!({ "path": "/a", "watch": true }), missing),
            own,
            watched("A", "/a", "NodeCreated"),
        ]
    };
    assert_eq!(alone(&lines(json!(1))).differences, []);
    assert_eq!(alone(&lines(json!(2))).failed, 1);
    assert_eq!(alone(&lines(json!(null))).failed, 1);
    // Between two quick clients nobody looked: what came meanwhile precedes the next answer.
    let quick = |before: u64| {
        let mut lines = lines(json!(0));
        lines[2] = create("B", "/a", "zxid2");
        lines.insert(0, connect("B", "session2"));
        let read = json!({
            "type": "ok", "children": ["a", "zookeeper"], "header_zxid": "zxid2",
            "events_before_reply": before,
        });
        let event = lines.pop().expect("the event");
        lines.push(step("A", "getChildren", json!({ "path": "/" }), read));
        lines.push(event);
        lines
    };
    assert_eq!(alone(&quick(1)).differences, []);
    assert_eq!(alone(&quick(2)).failed, 1);
}

/// Steps of three servers, with a client at each of these.
fn three(at: &[(&str, &str)], rest: &[Value], order: &[&str]) -> Replayed {
    let connected = |(number, (client, server)): (usize, &(&str, &str))| {
        let reply = json!({
            "type": "connected", "negotiated_timeout_ms": 10_000,
            "session": format!("session{}", number + 1),
        });
        let args = json!({ "timeout_ms": 10_000, "session": 0, "server": server });
        step(client, "connect", args, reply)
    };
    let lines: Vec<Value> = at.iter().enumerate().map(connected).collect();
    let server = "3 servers z1..z3, tickTime=500 initLimit=20 syncLimit=6, fresh data dirs";
    play(&transcript(server, &[lines, rest.to_vec()].concat(), order))
}

fn again(client: &str, server: &str, session: &str) -> Value {
    let reply = json!({ "type": "connected", "negotiated_timeout_ms": 10_000, "session": session });
    let args = json!({ "timeout_ms": 10_000, "session": session, "server": server });
    step(client, "connect", args, reply)
}

fn names(client: &str, zxid: &str) -> Value {
    let reply = json!({ "type": "ok", "children": ["a", "zookeeper"], "header_zxid": zxid });
    step(client, "getChildren", json!({ "path": "/" }), reply)
}

#[test]
fn whoever_goes_to_a_survivor_goes_home_or_wherever_all_is_as_recorded() {
    let kill = env("kill", json!({ "role": "leader", "signal": "SIGKILL" }));
    let elected = env("new_leader_elected", json!({}));
    // A follower is at the last transaction, a new leader at the beginning of its epoch.
    for (zxid, order) in [("zxid1", None), ("zxid2", Some("zxid1 < zxid2"))] {
        let rest = [
            create("A", "/a", "zxid1"),
            kill.clone(),
            elected.clone(),
            again("A", "role:survivor", "session1"),
            names("A", zxid),
        ];
        let order: Vec<&str> = order.into_iter().collect();
        assert_eq!(three(&[("A", "role:leader")], &rest, &order).differences, [], "{zxid}");
    }
    // The follower that lived under its connection is the only choice.
    let rest = |server: &str| {
        [
            create("A", "/a", "zxid1"),
            kill.clone(),
            elected.clone(),
            again("B", server, "session2"),
            names("B", "zxid2"),
        ]
    };
    let at = [("A", "role:leader"), ("B", "role:follower1")];
    let later = ["zxid1 < zxid2"];
    assert_eq!(three(&at, &rest("role:survivor"), &["zxid1 = zxid2"]).differences, []);
    assert_eq!(three(&at, &rest("role:survivor"), &later).failed, 1);
    assert_eq!(three(&at, &rest("role:leader"), &later).differences, []);
}

#[test]
fn what_a_cut_off_follower_cannot_answer_is_blocked_until_the_heal() {
    let write = |reply: Value| step("A", "setData", json!({ "path": "/a", "data": "x" }), reply);
    let books = stat("zxid2", 1, json!(0));
    let done = json!({ "type": "ok", "stat": books, "header_zxid": "zxid2" });
    let late = json!({ "type": "late_reply", "to_step": 4, "reply": done });
    let between = json!({ "between": ["leader", "follower1"] });
    let rest = [
        create("A", "/a", "zxid1"),
        env("partition", between.clone()),
        write(json!({ "type": "blocked" })),
        env("heal", between.clone()),
        json!({ "event": late, "client": "A" }),
    ];
    let at = [("A", "role:follower1")];
    assert_eq!(three(&at, &rest, &[]).differences, []);
    let mut others = rest.clone();
    others[2] = write(done.clone());
    assert!(three(&at, &others, &[]).failed > 0);
    let mut others = rest.clone();
    others[1] = env("partition", json!({ "between": ["leader", "follower2"] }));
    assert!(three(&at, &others, &[]).failed > 0);
}

#[test]
fn a_session_that_was_never_heard_of_ends_in_time_and_not_before() {
    let ends = |least: u64, most: u64| {
        let connected =
            json!({ "type": "connected", "negotiated_timeout_ms": 2_000, "session": "session1" });
        let made = json!({ "type": "ok", "path": "/e", "header_zxid": "zxid1" });
        let books = stat("zxid1", 0, json!("session1"));
        let there = json!({ "type": "ok", "stat": books, "header_zxid": "zxid1" });
        alone(&[
            step("A", "connect", json!({ "timeout_ms": 2_000, "session": 0 }), connected),
            connect("B", "session2"),
            step("A", "create", json!({ "path": "/e", "mode": "ephemeral" }), made),
            step("B", "exists", json!({ "path": "/e", "watch": true }), there),
            env(
                "wait_for_event",
                json!({ "client": "B", "elapsed_since_last_request_of_A_ms": { "ge": least, "le": most } }),
            ),
            watched("B", "/e", "NodeDeleted"),
        ])
    };
    assert_eq!(ends(2_000, 2_501).differences, []);
    assert_eq!(ends(2_502, 9_000).failed, 1);
    assert_eq!(ends(0, 1_999).failed, 1);
}

#[test]
fn steps_are_told_in_the_words_of_zk_cli() {
    let none = json!({ "type": "done" });
    let steps = [
        (
            "connect",
            json!({ "timeout_ms": 10_000, "session": 0, "server": "role:leader" }),
            "connect to the leader, time-out 10000 ms",
        ),
        (
            "connect",
            json!({ "timeout_ms": 1, "session": "session2", "password": "wrong" }),
            "connect, time-out 1 ms, session2 again, with a wrong password",
        ),
        (
            "create",
            json!({ "path": "/locks/lock-", "mode": "ephemeral_sequential", "data": "A" }),
            "create -e -s /locks/lock- A",
        ),
        ("getChildren2", json!({ "path": "/locks", "watch": true }), "ls -s -w /locks"),
        ("exists", json!({ "path": "/locks", "watch": true }), "stat -w /locks"),
        (
            "setData",
            json!({ "path": "/a", "data": "two words", "version": 0 }),
            "set -v 0 /a \"two words\"",
        ),
        ("delete", json!({ "path": "/a", "version": -1 }), "delete /a"),
        (
            "multi",
            json!({ "ops": [
                { "op": "check", "path": "/l", "version": 0 },
                { "op": "setData", "path": "/r", "data": "x" },
            ]}),
            "multi: check -v 0 /l; set /r x",
        ),
        (
            "setWatches",
            json!({ "relative_zxid": "zxid4", "data_watches": ["/a", "/b"],
            "exist_watches": [], "child_watches": ["/c"] }),
            "setWatches since zxid4, data /a /b, child /c",
        ),
        ("closeSession", json!({}), "close"),
    ];
    let lines: Vec<Value> =
        steps.iter().map(|(name, args, _)| step("A", name, args.clone(), none.clone())).collect();
    let text: Vec<String> = transcript(ALONE, &lines, &[]).iter().map(Value::to_string).collect();
    let made = read(&text.join("\n")).expect("it has the form of a transcript");
    for (step, (.., words)) in made.steps.iter().zip(&steps) {
        assert_eq!(asked(&made, step), *words);
    }
    let stat = json!({ "czxid": "zxid2", "mzxid": "zxid2", "version": 0, "cversion": 0,
        "aversion": 0, "ephemeralOwner": "session1", "dataLength": 1, "numChildren": 0,
        "pzxid": "zxid2" });
    let said = json!({ "type": "ok", "data": "A", "stat": stat, "header_zxid": "zxid4",
        "events_before_reply": 1 });
    assert_eq!(
        answered(&said),
        "\"A\"\ncZxid zxid2, mZxid zxid2, pZxid zxid2, cversion 0, dataVersion 0, \
         ephemeralOwner session1, dataLength 1\nzxid zxid4\nbefore it, events: 1"
    );
    let error = json!({ "type": "error", "code": -103, "error": "BadVersion" });
    assert_eq!(answered(&error), "BadVersion (-103)");
    let event = json!({ "type": "watch", "path": "/a", "event": "NodeDeleted" });
    assert_eq!(came(&event), "NodeDeleted /a");
}

/// A step that changes something is named and not played, and what comes behind it is not judged.
fn named(change: Value, said: &str) {
    let lines = [connect("A", "session1"), change.clone(), create("A", "/b", "zxid1")];
    let replayed = alone(&lines);
    assert_eq!(counted(&replayed), (1, 0, 2), "{change}: {:?}", replayed.differences);
    let first = &replayed.differences[0];
    assert!(first.0 == 3 && first.1.contains(said), "{said}: {}", first.1);
}

#[test]
fn every_field_of_a_change_of_the_world_is_understood_or_it_is_named_and_not_played() {
    for (name, args, said) in [
        ("kill", json!({}), "kill without `signal`"),
        ("kill", json!({ "signal": 9 }), "kill with `signal` 9"),
        ("kill", json!({ "signal": "SIGKILL", "data": "wiped" }), "kill with `data` \"wiped\""),
        ("kill", json!({ "signal": "SIGKILL", "role": "observer" }), "a server `observer`"),
        ("restart", json!({}), "a restart of z1, which is running"),
        ("power_off", json!({ "server": 1 }), "power_off with `server` 1"),
        (
            "suspend",
            json!({ "client": "A", "signal": "SIGSTOP" }),
            "a suspend of A, which is a conn",
        ),
        ("suspend", json!({ "signal": "SIGTERM" }), "suspend with `signal` \"SIGTERM\""),
        ("suspend", json!({ "for_ms": 100 }), "suspend with `for_ms` 100"),
        ("resume", json!({ "client": "A" }), "a resume of A, which is a connection"),
        ("resume", json!({}), "a resume of z1, which is not stopped"),
        ("drop_connection", json!({ "client": "A", "how": "half" }), "with `how` \"half\""),
        ("drop_connection", json!({ "client": "z1" }), "drop_connection with `client` \"z1\""),
        ("advance", json!({ "ms": 100, "of": "B" }), "advance with `of` \"B\""),
        ("advance", json!({ "ms": 0.5 }), "advance with `ms` 0.5"),
        ("no_event_within", json!({ "ms": 1, "client": "z1" }), "with `client` \"z1\""),
        ("ping", json!({ "client": "A", "server": "z2" }), "ping with `server` \"z2\""),
        ("socket_state", json!({ "client": "A", "side": 1 }), "socket_state with `side` 1"),
        ("wait_for_event", json!({ "client": "A", "elapsed_ms": {} }), "with `elapsed_ms` {}"),
        (
            "wait_for_event",
            json!({ "client": "A", "elapsed_since_last_request_of_A_ms": {} }),
            "elapsed_since_last_request_of_A_ms` {}",
        ),
        ("new_leader_elected", json!({ "was": "an observer" }), "`was` \"an observer\""),
        ("role", json!({ "of": "leader", "by": "A" }), "role with `by` \"A\""),
        ("partition", json!({ "between": ["z1"] }), "partition with `between` [\"z1\"]"),
        ("partition", json!({ "between": ["z1", 2] }), "partition with `between` [\"z1\",2]"),
        ("clock_step", json!({ "ms": 5, "node": "z1", "clock": "mono" }), "`clock` \"mono\""),
        ("note", json!({ "text": 5 }), "note with `text` 5"),
        ("heal", json!({}), "heal without `between`"),
        ("heal", json!({ "between": ["z1", "A"] }), "a heal of a way which is not cut"),
    ] {
        named(env(name, args), said);
    }
    for name in ["kill", "restart", "suspend", "resume", "heal", "epochs"] {
        let mut bare = env(name, json!({}));
        bare["op"] = json!({ "name": name });
        named(bare, "a step without `args`");
    }
}

#[test]
fn every_field_of_a_request_is_understood_or_the_step_is_named_and_not_played() {
    let ok = json!({ "type": "ok" });
    for (name, args, said) in [
        ("create", json!({ "path": "/a" }), "create without `mode`"),
        ("multi", json!({ "ops": [{ "op": "create", "path": "/a" }] }), "create without `mode`"),
        ("setData", json!({ "path": "/a" }), "setData without `data`"),
        ("setWatches", json!({ "data_watches": [] }), "setWatches without `relative_zxid`"),
        (
            "setWatches",
            json!({ "relative_zxid": 0, "exist_watches": [] }),
            "setWatches without `data_watches`",
        ),
        (
            "setWatches",
            json!({ "relative_zxid": 0, "data_watches": [] }),
            "setWatches without `exist_watches`",
        ),
        ("connect", json!({ "timeout_ms": 1 }), "connect without `session`"),
        ("connect", json!({ "timeout_ms": 1, "session": 0, "server": 1 }), "`server` 1"),
        (
            "connect",
            json!({ "timeout_ms": 1, "session": "session1", "password": 5 }),
            "connect with `password` 5",
        ),
    ] {
        named(step("A", name, args, ok.clone()), said);
    }
    let mut at = create("A", "/a", "zxid9");
    at["op"]["node"] = json!("z1");
    named(at, "`argv` or `node`");
    let mut late = create("A", "/a", "zxid9");
    late["after_ms"] = json!(5);
    named(late, "a step with `after_ms` 5");
    let herd = json!({ "clients": 2, "watch": "parent", "event_type": "NodeChildrenChanged",
        "rewatch": "everybody" });
    named(step("harness", "herd_run", herd, json!({ "type": "counts" })), "everybody");
}

#[test]
fn a_client_with_a_library_does_nothing_past_it_and_is_stopped_once() {
    let made = json!({ "type": "ok", "path": "/k", "states_so_far": ["CONNECTED"] });
    let args = json!({ "path": "/k", "mode": "ephemeral", "timeout_ms": 10_000 });
    let begins = step("K", "kazoo.create", args, made);
    let stop = env("suspend", json!({ "client": "K", "signal": "SIGSTOP" }));
    let goes_on = env("resume", json!({ "client": "K", "signal": "SIGCONT" }));
    assert_eq!(alone(&[begins.clone(), stop.clone(), goes_on.clone()]).differences, []);
    for (rest, said) in [
        (vec![goes_on.clone()], "which is not stopped"),
        (vec![stop.clone(), stop.clone()], "which is stopped"),
        (vec![create("K", "/b", "zxid3")], "create past the library of K"),
        (vec![env("drop_connection", json!({ "client": "K" }))], "drop_connection with `client`"),
        (vec![env("ping", json!({ "client": "K" }))], "ping with `client` \"K\""),
    ] {
        let replayed = alone(&[vec![begins.clone()], rest.clone()].concat());
        assert_eq!(counted(&replayed), (rest.len(), 0, 1), "{said}");
        assert!(replayed.differences[0].1.contains(said), "{:?}", replayed.differences);
    }
}

#[test]
fn a_field_of_an_answer_or_an_event_that_is_not_known_is_named() {
    let strange = |mut lines: Vec<Value>, place: usize, field: &str| {
        lines[place][field]["color"] = json!("red");
        let replayed = alone(&lines);
        assert_eq!((replayed.failed, replayed.not_modelled), (0, 1), "{:?}", replayed.differences);
        assert!(replayed.differences[0].1.contains("`color`"), "{:?}", replayed.differences);
    };
    let missing = no_node("zxid1");
    let lines = vec![
        connect("A", "session1"),
        step("A", "exists", json!({ "path": "/a", "watch": true }), missing),
        create("A", "/a", "zxid2"),
        watched("A", "/a", "NodeCreated"),
        env("advance", json!({ "ms": 1 })),
        create("A", "/b", "zxid3"),
    ];
    let mut told = lines.clone();
    told[2]["reply"]["events_before_reply"] = json!(1);
    assert_eq!(alone(&told).differences, []);
    strange(told.clone(), 1, "reply");
    // What came after it is accounted for all the same.
    strange(told.clone(), 2, "reply");
    strange(told.clone(), 3, "event");
    strange(told.clone(), 4, "reply");
    let mut codeless = told.clone();
    codeless[1]["reply"] = json!({ "type": "error", "header_zxid": "zxid1" });
    assert_eq!((alone(&codeless).failed, alone(&codeless).not_modelled), (0, 1));
    let mut first = transcript(ALONE, &told, &[]);
    first[0]["meta"]["tls"] = json!(true);
    let replayed = play(&first);
    assert_eq!((replayed.passed, replayed.not_modelled), (0, 5));
    assert!(replayed.differences[0].1.contains("`tls` true"));
}

#[test]
fn an_answer_that_lacks_a_field_is_not_taken_for_compared() {
    let read = json!({ "type": "ok", "data": "x", "stat": stat("zxid2", 1, json!(0)),
        "header_zxid": "zxid2" });
    let results = json!([
        { "type": "error", "code": -101, "error": "NoNode" },
        { "type": "error", "code": -2, "error": "RuntimeInconsistency" },
    ]);
    let ops = json!({ "ops": [
        { "op": "check", "path": "/none" },
        { "op": "check", "path": "/a" },
    ]});
    let mut lines = vec![
        connect("A", "session1"),
        create("A", "/a", "zxid1"),
        step(
            "A",
            "setData",
            json!({ "path": "/a", "data": "x" }),
            json!({ "type": "ok", "stat": stat("zxid2", 1, json!(0)), "header_zxid": "zxid2" }),
        ),
        step("A", "getData", json!({ "path": "/a", "watch": true }), read),
        names("A", "zxid2"),
        step("A", "exists", json!({ "path": "/b", "watch": true }), no_node("zxid2")),
        create("A", "/b", "zxid3"),
        watched("A", "/b", "NodeCreated"),
        step(
            "A",
            "multi",
            ops,
            json!({ "type": "ok", "results": results, "header_zxid": "zxid4" }),
        ),
    ];
    lines[6]["reply"]["events_before_reply"] = json!(1);
    assert_eq!(alone(&lines).differences, []);
    let mut removed = 0;
    for place in 0..lines.len() {
        let part = if lines[place].get("event").is_some() { "event" } else { "reply" };
        for at in ["", "/stat", "/results/0", "/results/1"] {
            let at = format!("/{part}{at}");
            let fields = lines[place].pointer(&at).and_then(Value::as_object);
            for name in fields.into_iter().flat_map(|fields| fields.keys()) {
                // The type says what an answer or an event is at all.
                let whole = at == "/reply" || at == "/event";
                if whole && ["type", "events_before_reply"].contains(&name.as_str()) {
                    continue;
                }
                let mut less = lines.clone();
                less[place].pointer_mut(&at).and_then(Value::as_object_mut).map(|f| f.remove(name));
                let replayed = alone(&less);
                let (line, said) = &replayed.differences[0];
                // The first line is the `meta`; what is wrong with an event is told of its step.
                let of_step = place + 2 - usize::from(part == "event");
                assert_eq!(*line, of_step, "{at} {name} {said}");
                assert!(said.contains(&format!("without `{name}`")), "{at} {name} {said}");
                assert_eq!((replayed.failed, replayed.not_modelled), (0, 1), "{at} {name}");
                removed += 1;
            }
        }
    }
    assert!(removed > 40, "{removed} fields");
    // A word that contradicts its number is a difference.
    let mut other = lines.clone();
    other[5]["reply"]["error"] = json!("NodeExists");
    assert_eq!(alone(&other).failed, 1);
    other = lines.clone();
    other[8]["reply"]["results"][0]["error"] = json!("Ok");
    assert_eq!(alone(&other).failed, 1);
}

#[test]
fn what_is_cut_or_healed_or_dropped_was_not_so_before() {
    let between = |other: &str| json!({ "between": ["leader", other] });
    let cut = |other: &str| env("partition", between(other));
    let heal = |other: &str| env("heal", between(other));
    let drop = env("drop_connection", json!({ "client": "A" }));
    let at = [("A", "role:follower1")];
    let good = [
        cut("follower1"),
        heal("follower1"),
        cut("follower1"),
        heal("follower1"),
        drop.clone(),
        again("A", "role:follower1", "session1"),
        drop.clone(),
    ];
    assert_eq!(three(&at, &good, &[]).differences, []);
    for (rest, said) in [
        (vec![heal("follower1")], "a heal of a way which is not cut"),
        (vec![cut("follower2"), heal("follower1")], "a heal of a way which is not cut"),
        (vec![cut("follower1"), heal("follower1"), heal("follower1")], "which is not cut"),
        (vec![cut("follower1"), cut("follower1")], "a partition of a way which is cut"),
        (vec![drop.clone(), drop.clone()], "a drop_connection of A, which has none"),
    ] {
        let replayed = three(&at, &rest, &[]);
        assert_eq!(counted(&replayed), (rest.len(), 0, 1), "{said}: {:?}", replayed.differences);
        assert!(replayed.differences[0].1.contains(said), "{:?}", replayed.differences);
    }
}
