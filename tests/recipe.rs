//! The lock recipe on a ZooKeeper ensemble: what it asks, whom it wakes, and what each known mistake does.

mod support;

use lockscope::judge::{Ask, Testimony};
use lockscope::run::{Run, compile, kind};
use lockscope::sim::{EventId, Micros, Outcome};
use lockscope::systems::Registry;
use lockscope::systems::zookeeper::PROFILES;
use support::{Case, Draws, seeds, waits, when};

fn zk() -> Case {
    let mut case = Case::new(&[("x", 0)]).invariant("x == done");
    case.scenario.system = "zookeeper".into();
    case.scenario.settings = [("zookeeper.servers".to_string(), "1".to_string())].into();
    case
}

fn run(case: &Case) -> Run {
    match compile(&case.scenario, &case.edits, &Registry::standard()) {
        Ok(compiled) => {
            let run = Run::of(compiled);
            if std::env::var_os("SHOW").is_some() {
                eprintln!("{}", lockscope::narrate::log(&run));
            }
            run
        }
        Err(errors) => panic!("{errors:#?}"),
    }
}

const WORK: &str = "acquire; read x; work 1s; write x = x + 1; release";

/// The same in four steps.
const STEPS: &str = "enter; again:; list; if ok goto mine; watch; if refused goto again; await; goto again; \
                     mine:; read x; work 1s; write x = x + 1; release";

fn three(program: &str) -> Case {
    zk().client("client-a", "0s", program)
        .client("client-b", "1s", program)
        .client("client-c", "1100ms", program)
}

/// What was sent and when, by the words on the wire.
fn wire(run: &Run) -> Vec<(u64, u16, &'static str)> {
    let sent = |m: &lockscope::sim::MessageInfo<lockscope::systems::Body>| {
        (run.record.event(m.sent).at.0, m.from.0, m.body.name)
    };
    run.record.messages.iter().map(sent).collect()
}

fn named(run: &Run, name: &str, of: &str) -> Vec<Micros> {
    let node = run.names().find(of).expect("the node exists");
    let messages = run.record.messages.iter();
    let sent = messages.filter(|m| m.from == node && m.body.name == name);
    sent.map(|m| run.record.event(m.sent).at).collect()
}

/// The events of a kind at a node, with their sentences.
fn told(run: &Run, what: &str, node: &str) -> Vec<String> {
    let node = run.names().find(node).expect("the node exists");
    let events = run.record.events.iter().enumerate();
    let mine = events.filter(|(_, e)| e.node == node && kind::kind(e) == what);
    mine.map(|(i, _)| lockscope::narrate::sentence(run, EventId(i as u32))).collect()
}

#[test]
fn three_clients_take_turns_in_the_order_in_which_they_came() {
    let run = run(&three(WORK));
    let v = &run.judgement.verdict;
    assert_eq!((v.grants, v.double_grant, v.overlap_us, v.stalled), (3, 0, 0, 0));
    assert_eq!(v.invariant_broken, Some(0));
    let tokens = tokens(&run);
    assert!(tokens.is_sorted_by(|a, b| a < b), "{tokens:?}");
}

/// The tokens of all grants in the order in which they were made.
fn tokens(run: &Run) -> Vec<u64> {
    let notes = run.record.events.iter().filter_map(|e| e.note());
    let tokens = notes.filter_map(|note| match note {
        Testimony::Grant { token, .. } => token.map(|t| t.0),
        _ => None,
    });
    tokens.collect()
}

#[test]
fn four_words_of_a_program_do_what_acquire_does_message_by_message() {
    let (whole, steps) = (run(&three(WORK)), run(&three(STEPS)));
    assert_eq!(wire(&whole), wire(&steps));
    assert_eq!(whole.judgement.verdict, steps.judgement.verdict);
    let b = told(&steps, "answer", "client-b");
    expect_test::expect![[r#"
        [
            "Client B has its place in the queue for the lock.",
            "Client B finds others before it in the queue for the lock.",
            "Client B will be told when what stands before it in the queue is gone.",
            "Client B finds nobody before it in the queue for the lock.",
            "Client B learns that it was granted the lock.",
            "Client B learns that its release was accepted.",
        ]
    "#]]
    .assert_debug_eq(&b);
}

#[test]
fn a_system_without_steps_says_so_where_they_stand() {
    let case = Case::new(&[("x", 0)]).client("client-a", "0s", "acquire; list; release");
    let errors = compile(&case.scenario, &[], &Registry::standard())
        .expect_err("leases have no queue to list");
    let error = errors.first().expect("one is enough");
    assert_eq!(error.place.path, ["clients", "client-a", "program", "1"]);
    expect_test::expect![
        "found `list`, but this system has no such steps; `acquire` takes a lock in every system"
    ]
    .assert_eq(&error.message);
}

/// So many contenders, of whom the first holds the lock until all others wait for it.
fn drain(n: usize, watch: &str) -> Run {
    let mut case = zk().set("lock.watch", watch).until("400s");
    for place in 0..n {
        let (start, work) = if place == 0 { (0, "20s") } else { (1_000 + place * 100, "1s") };
        let id = format!("client-{place:02}");
        case = case.client(&id, &format!("{start}ms"), &format!("acquire; work {work}; release"));
    }
    run(&case)
}

/// How many events of watches each release brought about.
fn wake_ups(run: &Run) -> Vec<usize> {
    let releases = run.record.events.iter().filter(|e| kind::kind(e) == "free").map(|e| e.at);
    let woken = |at| {
        let messages = run.record.messages.iter();
        let events = messages.filter(|m| m.body.name.starts_with("Node"));
        events.filter(|m| run.record.event(m.sent).at == at).count()
    };
    releases.map(woken).collect()
}

#[test]
fn a_release_wakes_one_waiter_or_all_of_them() {
    for n in 2..=50 {
        let [herd, queue] = ["parent", "predecessor"].map(|watch| drain(n, watch));
        for run in [&herd, &queue] {
            let v = &run.judgement.verdict;
            assert_eq!((v.grants, v.overlap_us, v.stalled), (n as u64, 0, 0), "{n}");
        }
        let each: Vec<usize> = (0..n).rev().collect();
        assert_eq!(wake_ups(&herd), each, "{n}");
        assert_eq!(each.iter().sum::<usize>(), n * (n - 1) / 2);
        let one: Vec<usize> = (0..n).rev().map(|left| left.min(1)).collect();
        assert_eq!(wake_ups(&queue), one, "{n}");
        assert_eq!(one.iter().sum::<usize>(), n - 1);
    }
    // Whoever watches the first of all is woken with everybody else, too.
    assert_eq!(wake_ups(&drain(5, "lowest")), [4, 3, 2, 1, 0]);
}

#[test]
fn whoever_is_woken_by_a_crash_before_it_looks_again_and_is_not_yet_first() {
    let case = zk()
        .client("client-a", "0s", "acquire; work 30s; release")
        .client("client-b", "1s", WORK)
        .client("client-c", "2s", WORK)
        .edits("at 5s crash client-b");
    let run = run(&case);
    let v = &run.judgement.verdict;
    assert_eq!((v.grants, v.double_grant, v.overlap_us), (2, 0, 0), "{v:?}");
    let c = told(&run, "answer", "client-c");
    expect_test::expect![[r#"
        [
            "Client C finds others before it in the queue for the lock.",
            "Client C will be told when what stands before it in the queue is gone.",
            "Client C finds others before it in the queue for the lock.",
            "Client C will be told when what stands before it in the queue is gone.",
            "Client C finds nobody before it in the queue for the lock.",
            "Client C learns that it was granted the lock.",
            "Client C learns that its release was accepted.",
        ]
    "#]]
    .assert_debug_eq(&c);
}

#[test]
fn whoever_gives_up_wakes_the_one_behind_who_is_not_yet_first() {
    let case = zk()
        .client("client-a", "0s", "acquire; work 10s; release")
        .client("client-b", "1s", "acquire within 3s")
        .client("client-c", "2s", WORK);
    let run = run(&case);
    let v = &run.judgement.verdict;
    assert_eq!((v.grants, v.stalled, v.overlap_us), (2, 0, 0), "{v:?}");
    assert_eq!(named(&run, "NodeDeleted", "zk-a").len(), 2);
    assert_eq!(named(&run, "getChildren", "client-c").len(), 3);
}

#[test]
fn readers_share_a_lock_and_writers_have_it_alone() {
    let read = "acquire shared; read x; work 2s; release";
    let case = zk()
        .client("client-a", "0s", read)
        .client("client-b", "100ms", read)
        .client("client-c", "500ms", WORK)
        .client("client-d", "1s", read)
        .client("client-e", "1100ms", read);
    let run = run(&case);
    let v = &run.judgement.verdict;
    assert_eq!((v.grants, v.double_grant, v.overlap_us, v.stalled), (5, 0, 0, 0), "{v:?}");
    let begins: Vec<u64> = ["client-a", "client-b", "client-c", "client-d", "client-e"]
        .map(|id| when(&run, "believe", id, 1).0 / 1_000)
        .to_vec();
    expect_test::expect![[r#"
        [
            300,
            400,
            2700,
            4100,
            4100,
        ]
    "#]]
    .assert_debug_eq(&begins);
    // Two readers wait for one writer: waking both is right.
    assert_eq!(wake_ups(&run).iter().max(), Some(&2));
}

#[test]
fn a_handle_pings_after_a_third_and_gives_its_connection_up_after_two_thirds_of_the_time_out() {
    let case = zk()
        .set("session.timeout", "9s")
        .client("client-a", "0s", "acquire; work 60s; release")
        .until("40s")
        .edits("at 20s cut client-a zk-a");
    let run = run(&case);
    let pings: Vec<u64> = named(&run, "ping", "client-a").iter().map(|at| at.0 / 1_000).collect();
    // It sent last at 0.2 s, and hears the answer to the ping of 18.2 s a tenth of a second later.
    assert_eq!(pings, [3_200, 6_200, 9_200, 12_200, 15_200, 18_200, 21_200, 24_200][..pings.len()]);
    let lost = when(&run, "session", "client-a", 2);
    assert_eq!(lost, Micros::from_millis(18_300 + 6_000));
    assert_eq!(when(&run, "doubt", "client-a", 1), lost);
}

/// The link of the holder is cut for so long that its session ends.
fn cut_off(stops: &str) -> Case {
    let careless = "acquire; read x; work 40s; write x = x + 1; release";
    zk().set("session.timeout", "9s")
        .set("lock.disconnected", stops)
        .client("client-a", "0s", careless)
        .client("client-b", "1s", "acquire; read x; work 20s; write x = x + 1; release")
        .until("80s")
        .edits("at 20s cut client-a zk-a for 15s")
}

#[test]
fn a_holder_believes_until_it_is_disconnected_or_until_it_hears_of_the_end_or_for_ever() {
    let believes_until = |case: Case| {
        let run = run(&case);
        (when(&run, "doubt", "client-a", 1).0 / 1_000, run.judgement.verdict.overlap_us)
    };
    let figures = [
        cut_off("stop"),
        cut_off("wait").set("zookeeper.version", "zookeeper-3.9.3"),
        cut_off("wait"),
        cut_off("ignore"),
    ]
    .map(believes_until);
    expect_test::expect![[r#"
        [
            (
                24300,
                0,
            ),
            (
                30300,
                2150000,
            ),
            (
                35100,
                6950000,
            ),
            (
                40500,
                12350000,
            ),
        ]
    "#]]
    .assert_debug_eq(&figures);
}

/// The answer to A's create is lost, with all behind it on that connection.
fn lost_answer(name: &str) -> Case {
    zk().set("lock.name", name)
        .client("client-a", "0s", WORK)
        .client("client-b", "1s", WORK)
        .edits("drop zk-a>client-a#2")
}

#[test]
fn an_orphan_stands_in_the_way_until_its_session_ends_and_one_with_letters_is_found_again() {
    let run_of = |case: &Case| run(case);
    let found = run_of(&lost_answer("guid"));
    let v = &found.judgement.verdict;
    assert_eq!((v.grants, v.stalled, v.overlap_us), (2, 0, 0), "{v:?}");
    expect_test::expect![[r#"
        [
            "Client A finds its place in the queue for the lock.",
            "Client A finds nobody before it in the queue for the lock.",
            "Client A learns that it was granted the lock.",
            "Client A learns that its release was accepted.",
        ]
    "#]]
    .assert_debug_eq(&told(&found, "answer", "client-a"));
    let found = run_of(&lost_answer("session"));
    assert_eq!((found.judgement.verdict.grants, found.judgement.verdict.stalled), (2, 0));
    // A waits for its own first znode, and B for both, for as long as A lives.
    let stuck = run_of(&lost_answer("plain").until("300s"));
    let v = &stuck.judgement.verdict;
    assert_eq!((v.grants, v.stalled), (1, 2), "{v:?}");
    let freed = run_of(&lost_answer("plain").edits("at 30s crash client-a"));
    let v = &freed.judgement.verdict;
    assert_eq!((v.grants, v.stalled), (2, 0), "{v:?}");
    let last_word = named(&freed, "ping", "client-a").last().copied().expect("it pings");
    let begins = when(&freed, "believe", "client-b", 1);
    let waits = begins.since(last_word);
    // The time-out, rounded up to a tick; then one way to B, its list and the answer.
    let (least, most) = (Micros::from_millis(10_000), Micros::from_millis(12_300));
    assert!(least < waits && waits <= most, "{waits}");
}

#[test]
fn whoever_connects_again_does_not_overtake_what_its_session_asked_before() {
    // C's create waits at a leader without a majority; C gives its connection up and makes another one
    // to the same server. Its list is answered behind the create, so that C finds its own znode.
    let case = zk()
        .set("session.timeout", "10s")
        .set("session.backoff", "100ms")
        .set("zookeeper.servers", "3")
        .set("zookeeper.sync_limit", "10")
        .client("client-a", "0s", WORK)
        .client("client-b", "500ms", WORK)
        .client("client-c", "0s", WORK);
    let cut = "at 220ms cut {zk-a zk-b}|{zk-c client-a client-b client-c} for 15s";
    let run = run(&case.edits(cut));
    let v = &run.judgement.verdict;
    assert_eq!((v.grants, v.double_grant, v.stalled), (3, 0, 0));
}

#[test]
fn sorting_by_whole_names_gives_a_lock_to_two() {
    // B's session is the older one, and A's znode the older znode (ZOOKEEPER-2931).
    let case = |sort| {
        zk().set("lock.name", "session")
            .set("lock.sort", sort)
            .client("client-a", "1s", "acquire; read x; work 5s; write x = x + 1; release")
            .client(
                "client-b",
                "0s",
                "sleep 2s; acquire; read x; work 1s; write x = x + 1; release",
            )
    };
    let v = run(&case("name")).judgement.verdict;
    assert_eq!((v.double_grant, v.corruption), (0, 1), "nobody has granted it twice: {v:?}");
    assert!(v.overlap_us >= 1_000_000);
    let v = run(&case("number")).judgement.verdict;
    assert_eq!((v.double_grant, v.corruption, v.overlap_us), (0, 0, 0), "{v:?}");
}

#[test]
fn a_watch_that_is_forgotten_with_its_connection_wakes_nobody() {
    // B's connection breaks while it waits; its session goes on.
    let case = |rewatch| {
        zk().set("lock.rewatch", rewatch)
            .client("client-a", "0s", "acquire; read x; work 15s; write x = x + 1; release")
            .client("client-b", "1s", WORK)
            .edits("drop zk-a>client-b#5")
    };
    let v = run(&case("forget")).judgement.verdict;
    assert_eq!((v.grants, v.stalled), (2, 1), "{v:?}");
    let again = run(&case("again"));
    let v = &again.judgement.verdict;
    assert_eq!((v.grants, v.stalled, v.overlap_us), (2, 0, 0), "{v:?}");
    assert_eq!(named(&again, "setWatches", "client-b").len(), 1);
}

#[test]
fn a_release_that_is_forgotten_with_its_connection_leaves_a_znode_that_nobody_has() {
    let case = |release| {
        zk().set("lock.release", release)
            .client("client-a", "0s", "acquire; read x; write x = x + 1; release; sleep 60s")
            .client("client-b", "1s", WORK)
            .until("100s")
            .edits("drop client-a>zk-a#4")
    };
    let [again, once] = ["again", "once"].map(|release| {
        let run = run(&case(release));
        (when(&run, "believe", "client-b", 1).0 / 1_000, run.judgement.verdict.stalled)
    });
    expect_test::expect![[r#"
        [
            (
                8100,
                0,
            ),
            (
                67166,
                0,
            ),
        ]
    "#]]
    .assert_debug_eq(&[again, once]);
}

#[test]
fn adopting_the_znode_of_a_session_that_is_over_holds_what_is_about_to_go() {
    // The answer to A's create is lost; A takes its session for over before the server does.
    let case = |adopt| {
        zk().set("lock.adopt", adopt)
            .set("zookeeper.version", "zookeeper-3.9.3")
            .set("session.timeout", "4s")
            .set("session.backoff", "0s")
            .client(
                "client-a",
                "0s",
                "sleep 600ms; acquire; read x; work 6s; write x = x + 1; release",
            )
            .client("client-b", "1s", WORK)
            .edits("drop zk-a>client-a#2; at 700ms cut client-a zk-a for 4660ms")
    };
    let adopted = run(&case("any"));
    let v = &adopted.judgement.verdict;
    assert!(v.overlap_us > 0 && v.corruption == 1, "{v:?}");
    let v = run(&case("own-session")).judgement.verdict;
    assert_eq!((v.overlap_us, v.corruption, v.stalled), (0, 0, 0), "{v:?}");
}

#[test]
fn numbers_begin_anew_with_the_parent_and_transactions_do_not() {
    // A and B queue, so that B is number 1; C comes when the parent is gone, and is number 0.
    let case = |token: &str| {
        three(WORK)
            .set("lock.parent", "delete")
            .set("lock.token", token)
            .set("resource.check", "token")
            .client("client-c", "9s", WORK)
    };
    let v = run(&case("sequence")).judgement.verdict;
    assert_eq!((v.token_regress, v.legit_rejected), (Some(1), 1), "{v:?}");
    for token in ["czxid", "mzxid", "pzxid"] {
        let v = run(&case(token)).judgement.verdict;
        assert_eq!((v.token_regress, v.legit_rejected), (Some(0), 0), "{token}: {v:?}");
    }
}

#[test]
fn which_value_a_resource_may_compare() {
    // A stands still until its session is over and B has written.
    let case = |token: &str| {
        zk().set("lock.token", token)
            .set("resource.check", "token")
            .client("client-a", "0s", WORK)
            .client("client-b", "1s", WORK)
            .edits("pause client-a before write#1 for 20s")
    };
    let words = ["czxid", "sequence", "version", "mzxid", "cversion", "pzxid", "session"];
    let stale = words.map(|token| {
        let v = run(&case(token)).judgement.verdict;
        (token, v.stale_accepted, v.stale_rejected, v.legit_rejected)
    });
    expect_test::expect![[r#"
        [
            (
                "czxid",
                0,
                1,
                0,
            ),
            (
                "sequence",
                0,
                1,
                0,
            ),
            (
                "version",
                1,
                0,
                0,
            ),
            (
                "mzxid",
                0,
                1,
                0,
            ),
            (
                "cversion",
                0,
                1,
                0,
            ),
            (
                "pzxid",
                0,
                1,
                0,
            ),
            (
                "session",
                0,
                1,
                0,
            ),
        ]
    "#]]
    .assert_debug_eq(&stale);
}

#[test]
fn each_library_is_a_preset_with_a_source() {
    let words: Vec<&str> = PROFILES.iter().map(|p| p.word).collect();
    assert_eq!(words, ["by-the-book", "curator", "kazoo", "write-lock"]);
    for profile in PROFILES {
        assert!(!profile.place.is_empty());
        let case = three(WORK).set("zookeeper.profile", profile.word);
        let v = run(&case).judgement.verdict;
        assert_eq!((v.grants, v.overlap_us, v.stalled), (3, 0, 0), "{}", profile.word);
    }
}

/// Whatever befalls clients and links, the recipe by the book never has two znodes first.
#[test]
fn the_service_gives_the_lock_to_one_at_a_time_under_any_schedule_with_growing_numbers() {
    for seed in seeds(60) {
        let mut draws = Draws::new(seed);
        let mut case = zk().seed(seed).until("120s").set("link.jitter", "20ms");
        let timeout = draws.pick(&["4s", "6s", "10s"]);
        case = case.set("session.timeout", timeout);
        for (place, id) in ["client-a", "client-b", "client-c", "client-d"].into_iter().enumerate()
        {
            let start = format!("{}ms", place as u64 * 300 + draws.up_to(400));
            let program = "repeat 3; acquire within 30s; if not ok goto out; read x; work 700ms; \
                           write x = x + 1; out:; release; sleep 300ms; end";
            case = case.client(id, &start, program);
        }
        let ids = ["client-a", "client-b", "client-c", "client-d"];
        let servers = draws.pick(&["1", "3"]);
        case = case.set("zookeeper.servers", servers);
        for _ in 0..draws.up_to(5) {
            let (id, at, span) = (draws.pick(&ids), draws.up_to(40), 1 + draws.up_to(14));
            let edit = match draws.up_to(6) {
                5 if servers == "3" => {
                    let one = draws.pick(&["zk-a", "zk-b", "zk-c"]);
                    format!("at {at}s crash {one}; at {}s restart {one}", at + span)
                }
                6 if servers == "3" => {
                    let one = draws.pick(&["zk-a", "zk-b"]);
                    format!("at {at}s cut {one} zk-c for {span}s")
                }
                0 => format!("at {at}s pause {id} for {span}s"),
                1 => format!("at {at}s cut {id} zk-a for {span}s"),
                2 => format!("at {at}s crash {id}; at {}s restart {id}", at + span),
                3 => format!("drop {id}>zk-a#{}", 2 + draws.up_to(9)),
                _ => format!("drop zk-a>{id}#{}", 2 + draws.up_to(9)),
            };
            case = case.edits(&edit);
        }
        let run = run(&case);
        let v = &run.judgement.verdict;
        assert_eq!(v.double_grant, 0, "{seed}: {v:?}");
        let tokens = tokens(&run);
        assert!(tokens.is_sorted_by(|a, b| a < b), "{seed}: {tokens:?}");
    }
}
/// A's server is cut off from the others of the ensemble, but not from A.
fn cut_off_server(timeout: &str, policy: &str, phase: u64) -> Case {
    let hold = "acquire; work 100s; release";
    zk().set("zookeeper.servers", "3")
        .set("session.timeout", timeout)
        .set("lock.disconnected", policy)
        .client("client-a", "0s", hold)
        .client("client-b", "1s", hold)
        .until("90s")
        .edits(&format!("at {phase}ms cut zk-a zk-b; at {phase}ms cut zk-a zk-c"))
}

/// The longest overlap of beliefs over all phases of the pings and ticks, in milliseconds.
fn longest_overlap(timeout: &str, policy: &str, version: &str) -> u64 {
    let overlap = |phase: u64| {
        let case = cut_off_server(timeout, policy, 20_000 + phase * 100);
        let run = run(&case.set("zookeeper.version", version));
        assert_eq!(run.judgement.verdict.double_grant, 0, "{timeout} {policy}");
        run.judgement.verdict.overlap_us / 1_000
    };
    (0..70).map(overlap).max().unwrap_or(0)
}

#[test]
fn a_follower_that_is_cut_off_keeps_its_clients_believing_for_as_long_as_its_sync_limit() {
    // With 5 ticks of 2 s a follower gives its leader up after 10 s; until then it answers pings.
    let mut table = Vec::new();
    for timeout in ["4s", "6s", "8s", "10s", "12s", "14s", "20s"] {
        let stop = longest_overlap(timeout, "stop", "zookeeper-3.8");
        let wait = longest_overlap(timeout, "wait", "zookeeper-3.8");
        let itself = longest_overlap(timeout, "wait", "zookeeper-3.9.3");
        table.push((timeout, stop, wait, itself));
    }
    expect_test::expect![[r#"
        [
            (
                "4s",
                5800,
                6834,
                6834,
            ),
            (
                "6s",
                4800,
                5834,
                5834,
            ),
            (
                "8s",
                3800,
                4834,
                4834,
            ),
            (
                "10s",
                1800,
                2834,
                2834,
            ),
            (
                "12s",
                800,
                1834,
                1834,
            ),
            (
                "14s",
                0,
                834,
                834,
            ),
            (
                "20s",
                0,
                0,
                0,
            ),
        ]
    "#]]
    .assert_debug_eq(&table);
}

#[test]
fn a_killed_leader_costs_every_client_its_connection_and_nobody_the_session() {
    let case = zk()
        .set("zookeeper.servers", "3")
        .client("client-a", "0s", "acquire; read x; work 30s; write x = x + 1; release")
        .client("client-b", "1s", WORK)
        .until("120s")
        .set("lock.disconnected", "wait")
        .edits("at 10s crash zk-c");
    let run = run(&case);
    let v = &run.judgement.verdict;
    assert_eq!((v.grants, v.overlap_us, v.false_expiry, v.stalled), (2, 0, 0, 0), "{v:?}");
    for client in ["client-a", "client-b"] {
        let session = told(&run, "session", client);
        assert_eq!(session.len(), 3, "{session:?}");
        assert!(session[2].contains("goes on"), "{session:?}");
    }
    let tokens = tokens(&run);
    assert!(tokens[0] >> 32 == 1, "{tokens:?}");
}

#[test]
fn fifty_contenders_on_five_servers_take_turns() {
    let mut case = zk().set("zookeeper.servers", "5").until("600s");
    for place in 0..50 {
        let id = format!("client-{place:02}");
        case = case.client(&id, &format!("{}ms", place * 40), "acquire; work 300ms; release");
    }
    let run = run(&case);
    let v = &run.judgement.verdict;
    assert_eq!((v.grants, v.overlap_us, v.stalled), (50, 0, 0), "{v:?}");
}

#[test]
fn wake_ups_are_as_many_as_were_recorded() {
    let text = include_str!("golden/zookeeper-3.8/herd.jsonl");
    let mut compared = 0;
    for line in text.lines() {
        let step: serde_json::Value = serde_json::from_str(line).expect("a line is JSON");
        let args = &step["op"]["args"];
        let Some(clients) = args["clients"].as_u64() else { continue };
        let watch = args["watch"].as_str().expect("what they watched");
        let recorded = step["reply"]["events_per_release"].as_array().expect("the counts");
        let recorded: Vec<u64> = recorded.iter().filter_map(|n| n.as_u64()).collect();
        let counted = wake_ups(&drain(clients as usize, watch));
        assert_eq!(counted.iter().map(|n| *n as u64).collect::<Vec<_>>(), recorded, "{clients}");
        compared += 1;
    }
    assert_eq!(compared, 14);
}

#[test]
fn a_number_that_runs_over_is_first_for_whoever_reads_it_as_it_is() {
    // ZOOKEEPER-4372, on servers up to 3.5: A is number 2147483647, B is −2147483648.
    let case = |version| {
        zk().set("zookeeper.version", version)
            .set("zookeeper.created", "2147483647")
            .client("client-a", "0s", "acquire; read x; work 5s; write x = x + 1; release")
            .client("client-b", "1s", WORK)
    };
    let v = run(&case("zookeeper-3.5")).judgement.verdict;
    assert_eq!((v.double_grant, v.corruption), (0, 1), "nobody has granted it twice: {v:?}");
}

#[test]
fn who_waits_is_told_for_whom_it_waits() {
    let case = three(STEPS).client("client-a", "0s", "acquire; work 20s; release");
    let calm = run(&case);
    let cut = run(&three(WORK).edits("at 500ms cut client-b zk-a for 20s"));
    let words = [
        waits(&calm, "client-b", 1_120),
        waits(&calm, "client-b", 5_000),
        waits(&calm, "client-c", 5_000),
        waits(&cut, "client-b", 5_000),
        waits(&cut, "client-b", 15_000),
    ];
    expect_test::expect![[r#"
        [
            "Client B's create2 is on its way to ZooKeeper A.",
            "Client B waits until Client A's place in the queue for the lock is gone. Client A (czxid 0:4) holds the lock: it must release it.",
            "Client C waits until Client B's place in the queue for the lock is gone. Client A (czxid 0:4) holds the lock: it must release it.",
            "Client B's connect is held where the way to ZooKeeper A is cut: the way has to heal.",
            "Client B's connect is held where the way to ZooKeeper A is cut: the way has to heal.",
        ]
    "#]].assert_debug_eq(&words);
}

#[test]
fn a_program_can_be_stopped_before_a_step() {
    // B has entered, and stands still before it looks: it is nobody's fault that nobody goes on.
    let case = three(STEPS)
        .edits("pause client-b before list#2 for 9s; pause client-c before await#1 for 3s");
    let run = run(&case);
    assert!(run.unused_edits.is_empty());
    let v = &run.judgement.verdict;
    assert_eq!((v.grants, v.overlap_us, v.stalled), (3, 0, 0), "{v:?}");
    let begins = when(&run, "believe", "client-b", 1);
    assert!(begins > Micros::from_secs(10), "{begins}");
}

#[test]
fn whoever_asks_whether_its_znode_is_there_learns_that_it_is_gone() {
    let case = zk()
        .set("lock.disconnected", "ignore")
        .client("client-a", "0s", "acquire; sleep 3s; renew; sleep 27s; renew; sleep 1s")
        .client("client-b", "1s", WORK)
        .edits("at 5s cut client-a zk-a for 20s");
    let run = run(&case);
    let renewals = [told(&run, "answer", "client-a"), told(&run, "doubt", "client-a")].concat();
    expect_test::expect![[r#"
        [
            "Client A finds nobody before it in the queue for the lock.",
            "Client A learns that it was granted the lock.",
            "Client A learns that its renewal was accepted.",
            "Client A learns that it no longer holds the lock.",
        ]
    "#]]
    .assert_debug_eq(&renewals);
}

#[test]
fn a_session_goes_on_at_another_server_and_its_holder_with_it_if_it_waits() {
    let case = |stops| {
        zk().set("zookeeper.servers", "3")
            .set("lock.disconnected", stops)
            .client("client-a", "0s", "acquire; read x; work 30s; write x = x + 1; release")
            .client("client-b", "1s", WORK)
            .until("90s")
            .edits("at 10s cut client-a zk-a for 9s")
    };
    let waits = run(&case("wait"));
    let v = &waits.judgement.verdict;
    assert_eq!((v.grants, v.overlap_us, v.stalled, v.broken_promises), (2, 0, 0, 0), "{v:?}");
    assert!(told(&waits, "doubt", "client-a").len() == 1, "it is the release");
    let session = told(&waits, "session", "client-a");
    assert_eq!(session.len(), 3, "{session:?}");
    let stops = run(&case("stop"));
    assert!(when(&stops, "doubt", "client-a", 1) < when(&stops, "session", "client-a", 3));
}

#[test]
fn a_silence_is_told_by_the_clock_that_counts_it() {
    // The leader's clock runs at twice the speed of time.
    let case = zk().client("client-a", "0s", "acquire; work 50s; release");
    let edits = "at 1s rate zk-a 2; at 2s pause client-a for 40s";
    let log = lockscope::narrate::log(&case.edits(edits).run());
    let line = log.lines().find(|line| line.contains("has heard nothing")).expect("it ends");
    expect_test::expect![[r#"
        " 6.500 s  ZooKeeper A  ZooKeeper A has heard nothing of Client A's session for 11.75 s by its own clock, and 10 s are allowed: it wants the session to end."
    "#]].assert_debug_eq(&line);
}

#[test]
fn a_tick_that_is_too_short_and_a_counter_that_is_too_large_are_refused_in_words() {
    let refused = |key: &str, value: &str| {
        let case = zk().set(key, value).client("client-a", "0s", WORK);
        let errors = compile(&case.scenario, &[], &Registry::standard()).map(|_| ());
        errors.map_err(|errors| errors[0].message.clone())
    };
    let least = refused("zookeeper.tick", "99ms").expect_err("it is too short");
    assert!(least.contains("a duration of at least 100ms"), "{least}");
    assert_eq!(refused("zookeeper.tick", "100ms"), Ok(()));
    for key in ["zookeeper.created", "zookeeper.created.lock"] {
        let most = refused(key, "2147483648").expect_err("it is too large");
        assert!(most.contains("a whole number from 0 to 2147483647"), "{most}");
        assert_eq!(refused(key, "2147483647"), Ok(()));
    }
}

#[test]
fn what_is_answered_by_the_end_of_a_connection_is_what_was_asked() {
    for watch in ["parent", "predecessor"] {
        let mut broken = 0;
        for message in 1..=8 {
            let case = three(STEPS).set("lock.watch", watch);
            let run = run(&case.edits(&format!("drop zk-a>client-b#{message}")));
            let notes = || run.record.events.iter().filter_map(|e| Some((e.node, e.note()?)));
            let mut asked = Vec::new();
            for (node, note) in notes() {
                match note {
                    Testimony::Ask { ask: Ask::Watch | Ask::WatchAll, .. } => {
                        asked.push((node, note))
                    }
                    Testimony::Answer(_, of @ (Ask::Watch | Ask::WatchAll), outcome) => {
                        let same = |(who, note): &(_, &Testimony)| {
                            *who == node && matches!(note, Testimony::Ask { ask, .. } if ask == of)
                        };
                        assert!(asked.iter().any(same), "{watch}, {message}: {of:?} {outcome:?}");
                        broken += usize::from(*outcome == Outcome::Closed);
                    }
                    _ => {}
                }
            }
        }
        assert!(broken > 0, "{watch}");
    }
}
