//! What a lesson offers to do at home: its lines, typed to simulated servers, print what it says.

use std::fs;
use std::path::Path;

use lockscope::lesson::{self, Lesson};
use lockscope::replay::typed;

const RELEASE: &str = "redis 7.0.15";

fn lessons() -> Vec<Lesson> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("lessons");
    let files = |folder: &Path| -> Vec<_> {
        let entries = fs::read_dir(folder).expect("the folder is there").flatten();
        entries.map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "md")).collect()
    };
    let all = [files(&folder), files(&folder.join("cases"))].concat();
    let lessons = all.iter().filter(|p| !p.ends_with("README.md"));
    lessons.map(|p| lesson::read(p).unwrap_or_else(|e| panic!("{}: {e:?}", p.display()))).collect()
}

#[test]
fn every_line_that_a_lesson_offers_prints_what_the_lesson_says() {
    let mut with = Vec::new();
    for lesson in lessons() {
        for machine in &lesson.machines {
            let lines: Vec<&str> = machine.lines.iter().map(|l| l.text.text.as_str()).collect();
            for (line, printed) in machine.lines.iter().zip(typed(RELEASE, &lines)) {
                let says = line.prints.as_ref().map_or("", |p| p.text.as_str());
                assert_eq!(printed.as_deref(), Ok(says), "{}: {}", lesson.id, line.text.text);
            }
            assert_eq!(machine.script().lines().collect::<Vec<_>>(), lines);
            with.push(lesson.id.clone());
        }
    }
    // Every lesson about a server that one can run at home has something to type.
    let at_home = |l: &Lesson| {
        let system = l.scenario.system.as_str();
        l.report.is_none() && ["redis", "redlock", "zookeeper"].contains(&system)
    };
    for lesson in lessons().iter().filter(|l| at_home(l)) {
        assert!(with.contains(&lesson.id), "{}", lesson.id);
    }
}

fn one(lines: &[&str]) -> Vec<String> {
    let said = typed(RELEASE, lines).into_iter();
    said.map(|said| said.unwrap_or_else(|what| format!("not modelled: {what}"))).collect()
}

#[test]
fn answers_are_printed_as_redis_cli_prints_them_in_a_terminal() {
    let printed = one(&[
        "redis-cli SET lock A NX PX 10000",
        "redis-cli SET lock B NX PX 10000",
        "redis-cli GET lock",
        "redis-cli DEL lock",
        "redis-cli MGET lock lock",
        "redis-cli SET lock A PX 0",
        "redis-cli -p 7001 GET lock",
    ]);
    let refused = "Could not connect to Redis at 127.0.0.1:7001: Connection refused";
    assert_eq!(printed[..5], ["OK", "(nil)", "\"A\"", "(integer) 1", "1) (nil)\n2) (nil)"]);
    assert_eq!(printed[5], "not modelled: the text of the error ERR");
    assert_eq!(printed[6], refused);
}

#[test]
fn time_passes_with_sleep_and_with_nothing_else() {
    let left =
        |nap: &str| one(&["redis-cli SET lock A PX 1000", nap, "redis-cli EXISTS lock"]).pop();
    assert_eq!(left("sleep 0.9").as_deref(), Some("(integer) 1"));
    assert_eq!(left("sleep 5.1").as_deref(), Some("(integer) 0"));
}

#[test]
fn a_loop_is_played_for_each_of_its_words_and_a_server_that_ends_is_gone_until_it_is_started() {
    let printed = one(&[
        "for p in 7001 7002; do redis-server --port $p --save '' --daemonize yes; done",
        "for p in 7001 7002; do redis-cli -p $p SET \"lock\" $p; done",
        "redis-cli -p 7001 SHUTDOWN NOSAVE",
        "for p in 7001 7002; do redis-cli -p $p GET lock; done",
        "redis-server --port 7001 --save '' --daemonize yes",
        "redis-cli -p 7001 GET lock",
    ]);
    let refused = "Could not connect to Redis at 127.0.0.1:7001: Connection refused";
    assert_eq!(printed, ["", "OK\nOK", "", &format!("{refused}\n\"7002\""), "", "(nil)"]);
}

#[test]
fn what_is_no_line_for_these_servers_is_named() {
    for (line, name) in [
        ("rm -r /", "the command `rm -r /`"),
        ("redis-cli GET lock > file", "`>`"),
        ("redis-cli GET $lock", "a variable that no loop sets"),
        ("for p in 1 2; do redis-cli GET $q; done", "a variable that the loop does not set"),
        ("for p in 1 2 do redis-cli GET $p", "this loop"),
        ("redis-cli GET 'lock", "a quote that is not closed"),
        ("redis-cli EVAL 'return 1' 0", "EVAL"),
        ("sleep soon", "`sleep soon`"),
        ("redis-server --port here", "the port `here`"),
    ] {
        let said = typed(RELEASE, &[line]).pop().expect("one line");
        let what = said.expect_err(line);
        assert!(what.contains(name), "{line}: {what}");
    }
}

/// The lesson with something spoilt, and what is said about it.
fn complaints(from: &str, to: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("lessons/04-one-redis.md");
    let text = fs::read_to_string(path).expect("the lesson is there");
    assert!(text.contains(from), "{from}");
    let errors = lesson::parse(&text.replacen(from, to, 1)).expect_err(to);
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn what_is_wrong_with_a_line_to_type_is_said_at_its_place() {
    for (from, to, said) in [
        ("type = \"sleep 5.1\"", "type = \" \"", "found an empty text"),
        ("type = \"sleep 5.1\"", "types = \"sleep 1.1\"", "`type`"),
        ("type = \"sleep 5.1\"", "type = \"a\\nb\"", "expected one line to type"),
        ("needs = \"Redis", "need = \"Redis", "`needs`"),
    ] {
        let all = complaints(from, to);
        assert!(all.iter().any(|one| one.contains(said)), "{to}: {all:?}");
    }
}

#[test]
fn lines_for_zk_cli_print_what_it_prints_without_what_differs_in_every_run() {
    let printed = one(&[
        "zkCli.sh -server localhost:2181",
        "create /locks",
        "create -e -s /locks/lock- A",
        "create -e -s /locks/lock-",
        "ls /locks",
        "get /locks/lock-0000000000",
        "get /locks/lock-0000000001",
        "get -s /locks/lock-0000000000",
        "set /locks x",
        "set -v 0 /locks y",
        "delete /locks",
        "stat /none",
        "create /locks",
        "create /locks/lock-0000000000/below",
        "sync /",
        "ls -s /locks",
    ]);
    assert_eq!(
        printed[..7],
        [
            "",
            "Created /locks",
            "Created /locks/lock-0000000000",
            "Created /locks/lock-0000000001",
            "[lock-0000000000, lock-0000000001]",
            "A",
            "null",
        ]
    );
    let books = "A\ncZxid = 0x3\nmZxid = 0x3\npZxid = 0x3\ncversion = 0\ndataVersion = 0\n\
        aclVersion = 0\ndataLength = 1\nnumChildren = 0";
    assert_eq!(printed[7], books);
    assert_eq!(
        printed[8..15],
        [
            "",
            "version No is not valid : /locks",
            "Node not empty: /locks",
            "Node does not exist: /none",
            "Node already exists: /locks",
            "Ephemerals cannot have children: /locks/lock-0000000000/below",
            "Sync is OK",
        ]
    );
    let books = "[lock-0000000000, lock-0000000001]\ncZxid = 0x2\nmZxid = 0x5\npZxid = 0x4\n\
        cversion = 2\ndataVersion = 1\naclVersion = 0\nephemeralOwner = 0x0\ndataLength = 1\n\
        numChildren = 2";
    assert_eq!(printed[15], books);
}

#[test]
fn a_session_ends_with_quit_and_another_terminal_is_told() {
    let printed = one(&[
        "zkCli.sh",
        "create /locks",
        "create -e -s /locks/lock-",
        "# terminal 2",
        "zkCli.sh",
        "create -e -s /locks/lock-",
        "stat -w /locks/lock-0000000000",
        "# terminal 1",
        "quit",
        "sleep 60",
        "# terminal 2",
        "ls -w /locks",
        "delete /locks/lock-0000000001",
        "quit",
        "ls /",
    ]);
    let watcher = |state: &str, change: &str, path: &str| {
        format!("WATCHER::\n\nWatchedEvent state:{state} type:{change} path:{path}")
    };
    assert_eq!(printed[10], watcher("SyncConnected", "NodeDeleted", "/locks/lock-0000000000"));
    assert_eq!(printed[11], "[lock-0000000001]");
    assert_eq!(printed[12], watcher("SyncConnected", "NodeChildrenChanged", "/locks"));
    assert_eq!(printed[13], watcher("Closed", "None", "null"));
    assert_eq!(printed[14], "not modelled: the command `ls /`");
}

#[test]
fn what_zk_cli_is_not_modelled_to_do_is_named() {
    for (line, name) in [
        ("setAcl / world:anyone:r", "setAcl / world:anyone:r"),
        ("create -t 500 /ttl", "create -t 500 /ttl"),
        ("create -e -c /both", "create -e -c /both"),
        ("ls -R /", "ls -R /"),
        ("set /a", "set /a"),
        ("# elsewhere", "`# elsewhere`"),
        ("get /a > file", "`>`"),
    ] {
        let said = typed(RELEASE, &["zkCli.sh", line]).pop().expect("two lines");
        let what = said.expect_err(line);
        assert!(what.contains(name), "{line}: {what}");
    }
    let said = typed(RELEASE, &["zkCli.sh -server example.org:2181"]).pop().expect("one line");
    assert!(said.expect_err("elsewhere").contains("example.org"));
}

#[test]
fn all_who_watch_the_parent_are_told_and_of_those_who_watch_a_znode_the_one_behind_it() {
    let told = |watch: [&str; 2]| {
        let printed = one(&[
            "zkCli.sh",
            "create /locks",
            "create -e -s /locks/lock-",
            "# terminal 2",
            "zkCli.sh",
            "create -e -s /locks/lock-",
            watch[0],
            "# terminal 3",
            "zkCli.sh",
            watch[1],
            "# terminal 1",
            "delete /locks/lock-0000000000",
            "# terminal 2",
            "# terminal 3",
        ]);
        [printed[12].clone(), printed[13].clone()]
    };
    let event = |change: &str, path: &str| {
        format!("WATCHER::\n\nWatchedEvent state:SyncConnected type:{change} path:{path}")
    };
    let parent = event("NodeChildrenChanged", "/locks");
    assert_eq!(told(["ls -w /locks", "ls -w /locks"]), [parent.clone(), parent]);
    let first = event("NodeDeleted", "/locks/lock-0000000000");
    let queue = ["stat -w /locks/lock-0000000000", "stat -w /locks/lock-0000000001"];
    assert_eq!(told(queue), [first, String::new()]);
}
