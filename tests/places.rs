//! What a ZooKeeper client makes of its places in a queue by rules of its own: a second lock of a pair, a
//! name that it keeps, an orphan of its own; and that the service is blamed for none of it.

mod support;

use lockscope::run::{Run, kind};
use lockscope::sim::{EventId, Micros};
use support::{Case, waits, when};

fn zk() -> Case {
    let mut case = Case::new(&[("x", 0)]).invariant("x == done");
    case.scenario.system = "zookeeper".into();
    case.scenario.settings = [("zookeeper.servers".to_string(), "1".to_string())].into();
    case
}

const WORK: &str = "acquire; read x; work 1s; write x = x + 1; release";

/// The events of a kind at a node, with their sentences.
fn told(run: &Run, what: &str, node: &str) -> Vec<String> {
    let node = run.names().find(node).expect("the node exists");
    let events = run.record.events.iter().enumerate();
    let mine = events.filter(|(_, e)| e.node == node && kind::kind(e) == what);
    mine.map(|(i, _)| lockscope::narrate::sentence(run, EventId(i as u32))).collect()
}

#[test]
fn a_reader_that_wants_to_write_keeps_its_place_and_waits_for_itself() {
    // Curator's InterProcessReadWriteLock: a reader never gets the write lock.
    let upgrade = |program: &str| {
        zk().client("client-a", "0s", program).client("client-b", "1s", "acquire; work 2s; release")
    };
    let run = upgrade("acquire shared; work 3s; acquire; work 1s; release").run();
    let v = &run.judgement.verdict;
    assert_eq!((v.grants, v.stalled, v.overlap_us), (1, 2, 0), "{v:?}");
    assert_eq!((v.double_grant, v.broken_promises), (0, 0), "{v:?}");
    // Who asks for a while only has what it had, and lets go of all of it in one word.
    let run =
        upgrade("acquire shared; work 3s; acquire within 2s; work 1s; release; sleep 9s").run();
    let v = &run.judgement.verdict;
    assert_eq!((v.grants, v.stalled, v.overlap_us, v.orphan_us), (2, 0, 0, 0), "{v:?}");
    assert_eq!((v.double_grant, v.broken_promises), (0, 0), "{v:?}");
    assert!(when(&run, "believe", "client-b", 1) > Micros::from_secs(6));
}

#[test]
fn a_writer_reads_as_well_and_has_the_lock_alone_until_it_lets_go() {
    let program = "acquire; work 3s; acquire shared; work 1s; release";
    let case = zk().client("client-a", "0s", program);
    let run = case.client("client-b", "1s", "acquire shared; work 2s; release").run();
    let v = &run.judgement.verdict;
    assert_eq!((v.stalled, v.overlap_us, v.double_grant, v.broken_promises), (0, 0, 0, 0), "{v:?}");
    assert_eq!(told(&run, "doubt", "client-a").len(), 1, "it believes from first to last");
    let (frees, begins) =
        (when(&run, "doubt", "client-a", 1), when(&run, "believe", "client-b", 1));
    assert!(Micros::from_secs(4) < frees && frees < begins, "{frees} {begins}");
}

#[test]
fn a_lock_that_a_client_takes_by_its_own_rule_is_not_laid_at_the_door_of_the_service() {
    let by_name = zk()
        .set("lock.name", "session")
        .set("lock.sort", "name")
        .client("client-a", "1s", "acquire; read x; work 5s; write x = x + 1; release")
        .client("client-b", "0s", "sleep 2s; acquire; read x; work 1s; write x = x + 1; release");
    let runs_over = zk()
        .set("zookeeper.version", "zookeeper-3.5")
        .set("zookeeper.created", "2147483647")
        .client("client-a", "0s", "acquire; read x; work 5s; write x = x + 1; release")
        .client("client-b", "1s", WORK);
    for case in [by_name, runs_over] {
        let run = case.run();
        let v = &run.judgement.verdict;
        assert_eq!((v.double_grant, v.broken_promises, v.corruption), (0, 0, 1), "{v:?}");
        assert!(v.overlap_us >= 1_000_000);
        let log = lockscope::narrate::log(&run);
        assert!(log.contains("Client B takes the lock"), "{log}");
        assert!(log.contains("nobody has granted it to Client B"), "{log}");
        assert!(!log.contains("broke its promise"), "{log}");
    }
}

#[test]
fn a_create_that_is_tried_again_keeps_its_letters() {
    // The request is lost, so that nothing is found: the same name is created once more.
    let run = zk()
        .client("client-a", "0s", &[WORK, "; ", WORK].concat())
        .edits("drop client-a>zk-a#2")
        .run();
    let log = lockscope::narrate::log(&run);
    let sent = log.lines().filter(|line| line.contains("create2 ") && !line.contains("is lost"));
    let letters: Vec<&str> =
        sent.filter_map(|line| line.split("/locks/lock/").nth(1)?.split('-').next()).collect();
    assert_eq!(letters.len(), 3, "{log}");
    assert!(letters[0] == letters[1] && letters[1] != letters[2], "{letters:?}");
}

#[test]
fn a_client_that_waits_for_itself_says_so() {
    let case = zk().set("lock.name", "plain").client("client-a", "0s", WORK);
    let run = case.client("client-b", "20s", WORK).edits("drop zk-a>client-a#2").run();
    let words = [waits(&run, "client-a", 40_000), waits(&run, "client-b", 40_000)];
    expect_test::expect![[r#"
        [
            "Client A waits until an earlier place of its own in the queue for the lock is gone. What Client A was granted earlier (czxid 0:4) still stands: it must end.",
            "Client B waits until Client A's place in the queue for the lock is gone. Client A (czxid 0:4) holds the lock: it must release it.",
        ]
    "#]].assert_debug_eq(&words);
    let log = lockscope::narrate::log(&run);
    assert!(
        log.contains("will tell Client A when an earlier place of Client A in the queue"),
        "{log}"
    );
}

#[test]
fn an_orphan_is_one_until_it_ends_whoever_asks_again_in_its_clients_name() {
    let run = zk()
        .client("client-a", "0s", "acquire; work 5s; release")
        .edits("at 2s crash client-a; at 3s restart client-a")
        .run();
    let v = &run.judgement.verdict;
    let frees = when(&run, "expire", "zk-a", 1);
    assert_eq!(v.orphan_us, frees.since(Micros::from_secs(2)).0, "{v:?}");
    assert_eq!((v.grants, v.stalled), (2, 0), "{v:?}");
}

#[test]
fn a_lock_that_stands_for_a_client_that_has_given_it_up_is_an_orphan() {
    // The delete is lost with its connection and forgotten; its client lives on and asks for nothing.
    let run = zk()
        .set("lock.release", "once")
        .client("client-a", "0s", "acquire; read x; write x = x + 1; release; sleep 40s")
        .edits("drop client-a>zk-a#4")
        .run();
    let orphaned = run.judgement.verdict.orphan_us;
    assert!(orphaned > 30_000_000, "{orphaned}");
}

#[test]
fn whoever_enters_again_after_an_unanswered_create_asks_for_the_lock_again() {
    let steps = "again:; enter; if ok goto look; sleep 2s; goto again; look:; list; if ok goto mine; watch; await; \
                 goto look; mine:; read x; write x = x + 1; release";
    let run = zk().client("client-a", "0s", steps).edits("drop zk-a>client-a#2").run();
    let notes = ["ask", "answer"].map(|what| told(&run, what, "client-a"));
    expect_test::expect![[r#"
        [
            [],
            [
                "Client A loses the connection on which it awaited an answer to its request for the lock. Whether it was carried out is unknown.",
                "Client A finds its place in the queue for the lock.",
                "Client A has its place in the queue for the lock.",
                "Client A finds nobody before it in the queue for the lock.",
                "Client A learns that it was granted the lock.",
                "Client A learns that its release was accepted.",
            ],
        ]
    "#]].assert_debug_eq(&notes);
    let v = &run.judgement.verdict;
    assert_eq!((v.grants, v.stalled, v.orphan_us), (1, 0, 2_000_000), "{v:?}");
}
