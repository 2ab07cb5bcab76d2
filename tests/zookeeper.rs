//! ZooKeeper servers, asked by raw connections.

mod support;
mod zoo;

use lockscope::judge::Testimony;
use lockscope::sim::Micros;
use lockscope::systems::zookeeper::{
    AddWatch, Change, Code, CreateMode, Password, Reply, Request, WatchKind,
};
use support::Case;
use zoo::{Heard, Zoo, children, create, delete, draws, exists, number, path, set};

const TICK: u64 = 500;

/// One server, on which each of so many clients has a session.
fn alone(clients: usize) -> Zoo {
    let mut zoo = Zoo::new(1, clients, TICK);
    for client in 0..clients {
        zoo.connect(client, 0, 5_000);
    }
    zoo
}

fn error(code: Code) -> Reply {
    Reply::Error(code)
}

fn events(heard: &[Heard]) -> Vec<(Change, &str)> {
    let events = heard.iter().filter_map(|heard| match heard {
        Heard::Event(change, path) => Some((*change, path.as_str())),
        _ => None,
    });
    events.collect()
}

#[test]
fn the_number_behind_a_name_counts_children_that_came_and_the_counter_shown_those_that_went_too() {
    let mut zoo = alone(1);
    zoo.call(0, 0, create("/locks", CreateMode::Persistent));
    let mut expected = (0, 0);
    let mut draw = draws(1);
    for _ in 0..60 {
        if draw(2) > 0 || expected.0 == expected.1 {
            let reply = zoo.call(0, 0, create("/locks/lock-", CreateMode::EphemeralSequential));
            let Reply::Created(path, _) = reply else { panic!("{reply:?}") };
            assert_eq!(number(&path), expected.0);
            expected.0 += 1;
        } else {
            let name = path("/locks/lock-").numbered(expected.1);
            assert_eq!(zoo.call(0, 0, delete(name.as_str())), Reply::Done);
            expected.1 += 1;
        }
        let Reply::Stat(stat) = zoo.call(0, 0, exists("/locks", false)) else { panic!() };
        assert_eq!(stat.cversion, expected.0 + expected.1);
        assert_eq!(stat.children, expected.0 - expected.1);
    }
}

#[test]
fn after_the_largest_number_an_old_server_goes_on_below_nothing_and_a_newer_one_stays_there() {
    let names = |runs_over| {
        let mut zoo = Zoo::with(1, 1, TICK, |start| {
            start.runs_over = runs_over;
            start.installed = [(path("/locks"), i32::MAX - 1)].into();
        });
        zoo.connect(0, 0, 5_000);
        let mut names = Vec::new();
        for _ in 0..4 {
            names.push(
                match zoo.call(0, 0, create("/locks/n-", CreateMode::PersistentSequential)) {
                    Reply::Created(path, _) => path.name().to_string(),
                    reply => format!("{reply:?}"),
                },
            );
        }
        names
    };
    assert_eq!(names(true), ["n-2147483646", "n-2147483647", "n--2147483648", "n--2147483647"]);
    let stuck = "Error(NodeExists)";
    assert_eq!(names(false), ["n-2147483646", "n-2147483647", stuck, stuck]);
}

#[test]
fn what_nobody_can_do_is_refused_and_takes_a_number_all_the_same() {
    let mut zoo = alone(1);
    let table = [
        (create("nopath", CreateMode::Persistent), Code::BadArguments),
        (create("/trail/", CreateMode::Persistent), Code::NoNode),
        (create("/a//b", CreateMode::Persistent), Code::NoNode),
        (create("/zookeeper/", CreateMode::Persistent), Code::BadArguments),
        (create("/.", CreateMode::Persistent), Code::BadArguments),
        (create("/", CreateMode::Persistent), Code::NodeExists),
        (delete("/"), Code::BadArguments),
        (delete("/zookeeper"), Code::BadArguments),
        (delete("/nothing"), Code::NoNode),
        (set("/nothing", "x", None), Code::NoNode),
    ];
    for (request, code) in table {
        let before = zoo.zxid(0);
        assert_eq!(zoo.call(0, 0, request.clone()), error(code), "{request:?}");
        assert_eq!(zoo.zxid(0), before + 1, "{request:?}");
        assert_eq!(zoo.call(0, 0, exists("/nothing", false)), error(Code::NoNode));
        assert_eq!(zoo.zxid(0), before + 1, "a read that fails takes none");
    }
}

#[test]
fn of_several_changes_all_are_made_or_none_under_one_number() {
    let mut zoo = alone(1);
    zoo.call(0, 0, create("/a", CreateMode::Persistent));
    let before = zoo.zxid(0);
    let check = |version| Request::Check { path: path("/a"), version: Some(version) };
    let failing = [set("/a", "1", None), check(7), create("/b", CreateMode::Persistent)];
    let codes = [Code::Ok, Code::BadVersion, Code::RuntimeInconsistency].map(Reply::Error);
    assert_eq!(zoo.call(0, 0, Request::Multi(failing.into())), Reply::Multi(codes.into()));
    assert_eq!(zoo.zxid(0), before + 1);
    let Reply::Stat(stat) = zoo.call(0, 0, exists("/a", false)) else { panic!() };
    assert_eq!(stat.version, 0);
    let numbered = create("/a/n-", CreateMode::EphemeralSequential);
    let parts = [check(0), numbered.clone(), numbered, delete("/a/n-0000000000")];
    let Reply::Multi(replies) = zoo.call(0, 0, Request::Multi(parts.into())) else { panic!() };
    assert_eq!(replies[1], Reply::Created(path("/a/n-0000000000"), None));
    assert_eq!(replies[2], Reply::Created(path("/a/n-0000000001"), None));
    assert_eq!(replies[3], Reply::Done);
    assert_eq!(zoo.zxid(0), before + 2);
    assert_eq!(children(zoo.call(0, 0, zoo::list("/a", false))), ["n-0000000001"]);
}

#[test]
fn an_event_comes_before_the_answer_to_ones_own_change_and_before_the_new_state_can_be_read() {
    let mut zoo = alone(2);
    zoo.call(0, 0, create("/n", CreateMode::Persistent));
    zoo.call(0, 0, exists("/n", true));
    zoo.call(1, 0, exists("/n", true));
    zoo.forget();
    // Client 1 asks so that its read stands behind the change.
    zoo.say(0, 0, set("/n", "1", None));
    zoo.say(1, 0, exists("/n", false));
    zoo.settle();
    for client in 0..2 {
        let heard = zoo.heard(client);
        assert_eq!(events(&heard[..1]), [(Change::DataChanged, "/n")], "client {client}");
        assert!(matches!(&heard[1], Heard::Answer(_, Reply::Stat(stat), _) if stat.version == 1));
    }
}

#[test]
fn two_watches_on_a_path_are_one_event_and_watches_that_stay_fire_again() {
    let mut zoo = alone(2);
    zoo.call(0, 0, create("/n", CreateMode::Persistent));
    zoo.call(1, 0, exists("/n", true));
    zoo.call(1, 0, Request::GetData { path: path("/n"), watch: true });
    zoo.call(1, 0, zoo::list("/n", true));
    zoo.forget();
    zoo.call(0, 0, delete("/n"));
    assert_eq!(events(&zoo.heard(1)), [(Change::Deleted, "/n")]);
    // A watch is left on what is not there by `exists`, and by nothing else.
    zoo.call(1, 0, Request::GetData { path: path("/n"), watch: true });
    zoo.call(1, 0, zoo::list("/n", true));
    zoo.call(0, 0, create("/n", CreateMode::Persistent));
    assert_eq!(events(&zoo.heard(1)).len(), 1);
    let mode = AddWatch::PersistentRecursive;
    zoo.call(1, 0, Request::AddWatch { path: path("/n"), mode });
    zoo.forget();
    zoo.call(0, 0, create("/n/c", CreateMode::Persistent));
    zoo.call(0, 0, set("/n/c", "1", None));
    zoo.call(0, 0, delete("/n/c"));
    let expected =
        [(Change::Created, "/n/c"), (Change::DataChanged, "/n/c"), (Change::Deleted, "/n/c")];
    assert_eq!(events(&zoo.heard(1)), expected);
    let remove = Request::RemoveWatches { path: path("/n"), kind: WatchKind::Any };
    assert_eq!(zoo.call(1, 0, remove.clone()), Reply::Done);
    assert_eq!(zoo.call(1, 0, remove), error(Code::NoWatcher));
}

#[test]
fn what_came_and_went_while_a_connection_was_broken_is_never_told() {
    let mut zoo = alone(2);
    zoo.call(0, 0, create("/changed", CreateMode::Persistent));
    zoo.call(0, 0, create("/gone", CreateMode::Persistent));
    let seen = zoo.seen(1);
    zoo.hang_up(1, 0);
    zoo.call(0, 0, set("/changed", "1", None));
    zoo.call(0, 0, delete("/gone"));
    zoo.call(0, 0, create("/there", CreateMode::Persistent));
    zoo.call(0, 0, create("/brief", CreateMode::Persistent));
    zoo.call(0, 0, delete("/brief"));
    zoo.reconnect(1, 0);
    zoo.forget();
    let paths = |paths: &[&str]| paths.iter().map(|p| path(p)).collect();
    let request = Request::SetWatches {
        seen,
        data: paths(&["/changed", "/gone"]),
        exist: paths(&["/there", "/brief"]),
        child: paths(&[]),
    };
    zoo.call(1, 0, request);
    let expected = [
        (Change::DataChanged, "/changed"),
        (Change::Deleted, "/gone"),
        (Change::Created, "/there"),
    ];
    assert_eq!(events(&zoo.heard(1)), expected);
    zoo.forget();
    zoo.call(0, 0, create("/brief", CreateMode::Persistent));
    assert_eq!(events(&zoo.heard(1)), [(Change::Created, "/brief")]);
}

#[test]
fn a_session_ends_later_than_its_time_out_and_at_most_a_tick_later() {
    let mut at = draws(2);
    for _ in 0..200 {
        let mut zoo = Zoo::with(1, 1, TICK, |start| {
            start.installed = [(path("/locks"), 0)].into();
        });
        zoo.pass(Micros(at(3_000_000)));
        let timeout = 1_000 + at(9_000);
        zoo.connect(0, 0, timeout);
        zoo.call(0, 0, create("/locks/lock-", CreateMode::EphemeralSequential));
        for _ in 0..at(4) {
            zoo.pass(Micros(at(timeout * 1_000 - 1_000)));
            zoo.call(0, 0, Request::Ping);
        }
        let touched = zoo.asked_at();
        zoo.pass(Micros::from_secs(20));
        let silent = zoo.expired().expect("it ended").0 - touched.0;
        assert!(silent > timeout * 1_000, "{silent} of {timeout} ms");
        assert!(silent <= (timeout + TICK) * 1_000, "{silent} of {timeout} ms");
    }
}

#[test]
fn all_that_a_session_has_goes_with_it_in_one_transaction() {
    let mut zoo = alone(2);
    zoo.call(1, 0, create("/locks", CreateMode::Persistent));
    for _ in 0..3 {
        zoo.call(0, 0, create("/locks/lock-", CreateMode::EphemeralSequential));
    }
    let before = zoo.zxid(0);
    assert_eq!(zoo.call(0, 0, Request::CloseSession), Reply::Done);
    zoo.settle();
    assert!(zoo.is_closed(0));
    assert_eq!(children(zoo.call(1, 0, zoo::list("/locks", false))), [] as [&str; 0]);
    assert_eq!(zoo.zxid(1), before + 1);
}

#[test]
fn a_wrong_password_is_answered_as_expired_and_closes_the_good_connection() {
    let mut zoo = alone(2);
    let (session, _) = zoo.session(0);
    zoo.hang_up(1, 0);
    let connect = Request::Connect {
        session: Some((session, Password(1))),
        timeout: Micros::from_secs(5),
        seen: zoo.seen(1),
    };
    assert_eq!(zoo.call(1, 0, connect), Reply::Expired);
    assert!(zoo.is_closed(0) && zoo.is_closed(1));
    assert!(zoo.reconnect(0, 0), "the session itself is unharmed");
}

#[test]
fn who_has_seen_more_than_a_server_is_turned_away_without_an_answer() {
    let mut zoo = alone(1);
    zoo.hang_up(0, 0);
    zoo.forget();
    let (session, password) = zoo.session(0);
    let seen = lockscope::systems::zookeeper::Zxid(zoo.seen(0).0 + 1);
    let timeout = Micros::from_secs(5);
    zoo.say(0, 0, Request::Connect { session: Some((session, password)), timeout, seen });
    zoo.settle();
    assert_eq!(zoo.heard(0), [Heard::Closed]);
}

#[test]
fn a_server_that_starts_again_knows_all_that_was_decided_and_gives_each_session_all_its_time() {
    let mut zoo = alone(2);
    zoo.call(0, 0, create("/mine", CreateMode::Ephemeral));
    let before = zoo.zxid(0);
    zoo.kill(0);
    zoo.pass(Micros::from_secs(20));
    zoo.restart(0);
    let back = zoo.now();
    assert!(zoo.reconnect(1, 0));
    assert!(zoo.seen(1).0 >= before);
    zoo.call(1, 0, exists("/mine", true));
    zoo.forget();
    let end = zoo.until_event(1, 20_000);
    let silent = end.0 - zoo.latency() - back.0;
    assert!(silent > 5_000_000 && silent <= 5_000_000 + TICK * 1_000, "{silent}");
}

#[test]
fn a_container_that_emptied_goes_within_a_minute_and_one_that_was_never_used_stays() {
    let mut zoo = alone(1);
    zoo.call(0, 0, create("/used", CreateMode::Container));
    zoo.call(0, 0, create("/new", CreateMode::Container));
    zoo.call(0, 0, create("/used/c", CreateMode::Persistent));
    zoo.call(0, 0, delete("/used/c"));
    for _ in 0..70 {
        zoo.pass(Micros::from_secs(1));
        zoo.call(0, 0, Request::Ping);
    }
    assert_eq!(zoo.call(0, 0, exists("/used", false)), error(Code::NoNode));
    assert!(matches!(zoo.call(0, 0, exists("/new", false)), Reply::Stat(_)));
}

/// Three servers that agree on everything, of which the last leads, and a lock's parent.
fn three(clients: usize) -> Zoo {
    let mut zoo =
        Zoo::with(3, clients, TICK, |start| start.installed = [(path("/locks"), 0)].into());
    assert_eq!(zoo.leader(), Some(2));
    for client in 0..clients {
        zoo.connect(client, client % 3, 5_000);
    }
    zoo
}

const LOCK: &str = "/locks/lock-";

fn lock() -> Request {
    create(LOCK, CreateMode::EphemeralSequential)
}

#[test]
fn what_one_server_took_all_know_and_each_transaction_has_the_epoch_above_its_counter() {
    let mut zoo = three(3);
    for client in 0..3 {
        assert!(matches!(zoo.call(client, client, lock()), Reply::Created(..)));
    }
    // The parent and three sessions came before the znodes.
    assert_eq!(zoo.zxid(2), (1 << 32) + 7);
    for client in 0..3 {
        let names = ["lock-0000000000", "lock-0000000001", "lock-0000000002"];
        assert_eq!(children(zoo.call(client, client, zoo::list("/locks", false))), names);
    }
}

#[test]
fn a_killed_leader_takes_no_session_with_it_and_the_next_one_begins_an_epoch() {
    let mut zoo = three(2);
    zoo.call(1, 1, lock());
    zoo.kill(2);
    zoo.until(10_000, |zoo| zoo.leader().is_some());
    assert!(zoo.is_closed(0) && zoo.is_closed(1), "whoever is not in a quorum serves nobody");
    assert_eq!(zoo.leader(), Some(1), "of equal logs the higher number decides");
    zoo.pass(Micros::from_millis(100));
    assert!(zoo.reconnect(1, 0) && zoo.reconnect(0, 1));
    assert_eq!(children(zoo.call(1, 0, zoo::list("/locks", false))), ["lock-0000000000"]);
    assert!(matches!(zoo.call(1, 0, lock()), Reply::Created(..)));
    assert_eq!(zoo.zxid(1), (2 << 32) + 1);
    zoo.restart(2);
    zoo.until(10_000, |zoo| zoo.role(2).is_some_and(|role| role.0 == "follows"));
    assert_eq!(zoo.role(2), Some(("follows", (2 << 32) + 1)));
}

#[test]
fn a_follower_that_is_cut_off_answers_with_what_it_knows_and_sync_waits_for_the_leader() {
    let mut zoo = three(3);
    zoo.call(2, 2, lock());
    zoo.call(0, 0, exists("/locks/lock-0000000000", true));
    zoo.cut(0, 2, true);
    zoo.call(2, 2, delete("/locks/lock-0000000000"));
    zoo.call(1, 1, lock());
    let old = zoo.call(0, 0, zoo::list("/locks", false));
    assert_eq!(children(old), ["lock-0000000000"]);
    zoo.forget();
    let number = zoo.say(0, 0, Request::Sync { path: path("/") });
    let behind = zoo.say(0, 0, zoo::list("/locks", false));
    zoo.pass(Micros::from_millis(500));
    assert_eq!(zoo.heard(0), []);
    zoo.cut(0, 2, false);
    zoo.settle();
    let heard = zoo.heard(0);
    assert_eq!(events(&heard[..1]), [(Change::Deleted, "/locks/lock-0000000000")]);
    assert!(matches!(heard[1], Heard::Answer(n, Reply::Done, _) if n == number));
    let new = zoo.answer(behind).expect("it waited behind the other").1;
    assert_eq!(children(new), ["lock-0000000001"]);
}

#[test]
fn a_session_that_has_moved_can_still_read_on_its_old_connection_and_loses_it_with_a_write() {
    let mut zoo = three(2);
    zoo.call(0, 0, lock());
    let (session, password) = zoo.session(0);
    zoo.hang_up(1, 1);
    let (timeout, seen) = (Micros::from_secs(5), zoo.seen(0));
    let connect = Request::Connect { session: Some((session, password)), timeout, seen };
    assert!(matches!(zoo.call(1, 1, connect), Reply::Connected { .. }));
    zoo.call(1, 1, lock());
    assert_eq!(children(zoo.call(0, 0, zoo::list("/locks", false))).len(), 2);
    let before = zoo.zxid(1);
    zoo.say(0, 0, set("/locks", "old", None));
    zoo.settle();
    assert!(zoo.is_closed(0));
    assert!(matches!(zoo.call(1, 1, exists("/locks", false)), Reply::Stat(s) if s.version == 0));
    assert_eq!(zoo.zxid(1), before + 1, "the refusal took a number");
}

#[test]
fn nothing_expires_without_a_majority_and_after_it_every_session_has_all_its_time() {
    let mut zoo = three(1);
    zoo.call(0, 0, lock());
    zoo.kill(1);
    zoo.kill(2);
    zoo.pass(Micros::from_secs(100));
    assert_eq!(zoo.expired(), None);
    assert!(zoo.is_closed(0));
    zoo.restart(1);
    let elected = zoo.until(20_000, |zoo| zoo.leader().is_some());
    zoo.pass(Micros::from_secs(20));
    let silent = zoo.expired().expect("it is over").0 - elected.0;
    assert!(silent > 5_000_000 - 1_000 && silent <= 5_000_000 + TICK * 1_000 + 1_000, "{silent}");
}

#[test]
fn a_follower_that_is_cut_off_answers_pings_until_it_has_not_heard_its_leader_for_six_ticks() {
    let mut zoo = three(1);
    zoo.pass(Micros::from_millis(100));
    zoo.cut(0, 2, true);
    let (cut, mut last) = (zoo.now(), zoo.now());
    while !zoo.is_closed(0) {
        let number = zoo.say(0, 0, Request::Ping);
        zoo.pass(Micros::from_millis(10));
        if let Some((at, _)) = zoo.answer(number) {
            last = at;
        }
    }
    let answered = last.0 - cut.0;
    // It had heard its leader half a tick ago at the most.
    let most = 6 * TICK * 1_000;
    assert!(answered <= most && answered >= most - TICK * 500 - 20_000, "{answered}");
}

/// Whatever happens to the servers, the end of a session lies between its time-out and a tick more,
/// counted from when the leader of then heard of it last, or began to lead.
#[test]
fn a_session_of_an_ensemble_ends_in_its_tick_whoever_leads() {
    for seed in 0..24 {
        let mut draw = draws(100 + seed);
        let mut zoo = Zoo::with(3, 1, TICK, |start| start.installed = [(path("/locks"), 0)].into());
        zoo.pass(Micros(draw(1_500_000)));
        let timeout = 2_000 + draw(6_000);
        let server = draw(2) as usize;
        zoo.connect(0, server, timeout);
        zoo.call(0, server, lock());
        for _ in 0..draw(3) {
            zoo.pass(Micros(draw(1_500_000)));
            zoo.call(0, server, Request::Ping);
        }
        let asked = zoo.asked_at();
        let killed = draw(1) > 0;
        if killed {
            zoo.kill(2);
        }
        zoo.pass(Micros::from_secs(30));
        let heard = zoo.lapsed().expect("a leader said so");
        let silent = zoo.expired().expect("it ended").0 - heard.0;
        // A leader hears of it with the next answer to its pings, and a new one counts from its election.
        let soon = asked.0 + TICK * 500 + 4 * zoo.latency();
        assert!(heard >= asked && (killed || heard.0 <= soon), "seed {seed}");
        let commit = 2 * zoo.latency();
        assert!(silent > timeout * 1_000, "seed {seed}: {silent} of {timeout} ms");
        assert!(
            silent <= (timeout + TICK) * 1_000 + commit,
            "seed {seed}: {silent} of {timeout} ms"
        );
    }
}

/// Random things happen to servers and links while clients take and leave places in a queue.
struct Storm {
    zoo: Zoo,
    draw: Box<dyn FnMut(u64) -> u64>,
    servers: usize,
    down: Vec<usize>,
    cuts: Vec<(usize, usize)>,
    /// Where each client is connected to, if it is.
    at: Vec<Option<usize>>,
    /// What each was told to stand for it, and what it has asked and not heard of yet.
    asked: Vec<Vec<u64>>,
    kept: Vec<String>,
    names: u32,
}

impl Storm {
    fn new(seed: u64) -> Storm {
        let servers = if seed.is_multiple_of(4) { 5 } else { 3 };
        let zoo = Zoo::with(servers, 3, TICK, |start| {
            start.timing.sync_limit = 2;
            start.installed = [(path("/locks"), 0), (path("/kept"), 0)].into();
        });
        let (at, asked) = (vec![None; 3], vec![Vec::new(); 3]);
        let (down, cuts, kept, names) = (Vec::new(), Vec::new(), Vec::new(), 0);
        Storm {
            zoo,
            draw: Box::new(draws(1_000 + seed)),
            servers,
            down,
            cuts,
            at,
            asked,
            kept,
            names,
        }
    }

    fn strike(&mut self) {
        let server = (self.draw)(self.servers as u64 - 1) as usize;
        match (self.draw)(9) {
            0 if !self.down.contains(&server) && self.down.len() + 1 < self.servers => {
                self.zoo.kill(server);
                self.down.push(server);
            }
            1 | 2 => {
                if let Some(server) = self.down.pop() {
                    self.zoo.restart(server);
                }
            }
            3 if !self.down.contains(&server) => {
                let span = Micros::from_millis((self.draw)(6_000));
                self.zoo.pause(server, span);
            }
            4 => {
                let other = (self.draw)(self.servers as u64 - 1) as usize;
                if other != server {
                    self.zoo.cut(server, other, true);
                    self.cuts.push((server, other));
                }
            }
            5 | 6 => {
                if let Some((a, b)) = self.cuts.pop() {
                    self.zoo.cut(a, b, false);
                }
            }
            _ => {}
        }
    }

    fn act(&mut self) {
        let client = (self.draw)(2) as usize;
        if self.zoo.is_closed(client) {
            self.at[client] = None;
        }
        let Some(server) = self.at[client] else {
            let server = (self.draw)(self.servers as u64 - 1) as usize;
            if self.zoo.reconnect_or_begin(client, server, 2_000) {
                self.at[client] = Some(server);
            } else {
                self.zoo.hang_up(client, server);
            }
            return;
        };
        let request = match (self.draw)(6) {
            0 | 1 => lock(),
            2 => delete(&format!("/locks/lock-{:010}", (self.draw)(12))),
            3 => {
                self.names += 1;
                create(&format!("/kept/{}", self.names), CreateMode::Persistent)
            }
            4 => zoo::list("/locks", true),
            5 => Request::CloseSession,
            _ => Request::Ping,
        };
        let number = self.zoo.say(client, server, request);
        self.asked[client].push(number);
    }

    /// What was acknowledged is kept.
    fn note(&mut self) {
        for number in self.asked.iter_mut().flat_map(std::mem::take) {
            if let Some((_, Reply::Created(path, _))) = self.zoo.answer(number)
                && path.as_str().starts_with("/kept/")
            {
                self.kept.push(path.name().to_string());
            }
        }
    }

    /// Everything is whole again, and all servers agree.
    fn calm(&mut self) {
        for (a, b) in std::mem::take(&mut self.cuts) {
            self.zoo.cut(a, b, false);
        }
        for server in std::mem::take(&mut self.down) {
            self.zoo.restart(server);
        }
        // The last pause is over then, too.
        self.zoo.pass(Micros::from_secs(7));
        let servers = self.servers;
        self.zoo.until(60_000, |zoo| {
            let roles: Vec<_> = (0..servers).filter_map(|server| zoo.role(server)).collect();
            roles.len() == servers
                && roles.iter().all(|role| role.0 != "looks for a leader")
                && roles.iter().filter(|role| role.0 == "leads").count() == 1
        });
        self.zoo.pass(Micros::from_secs(1));
    }
}

/// By the word of the servers nobody holds a lock beside another, each grant has a larger number than
/// the ones before, and each ends once.
fn one_at_a_time(zoo: &Zoo, seed: u64) -> usize {
    let (mut open, mut last, mut grants) = (None, 0, 0);
    for (_, _, said) in zoo.said() {
        match said {
            Testimony::Grant { token: Some(token), .. } => {
                assert_eq!(open, None, "seed {seed}: two hold it");
                assert!(token.0 > last, "seed {seed}: {} after {last}", token.0);
                (open, last, grants) = (Some(*token), token.0, grants + 1);
            }
            Testimony::Free(..) => assert!(open.take().is_some(), "seed {seed}: nobody held it"),
            _ => {}
        }
    }
    grants
}

#[test]
fn whatever_happens_nobody_holds_beside_another_and_nothing_that_was_answered_is_lost() {
    let (mut grants, mut kept, mut led) = (0, 0, 0);
    for seed in 0..60 {
        let mut storm = Storm::new(seed);
        for _ in 0..120 {
            match (storm.draw)(5) {
                0 => storm.strike(),
                1 | 2 => {
                    let span = (storm.draw)(400);
                    storm.zoo.pass(Micros::from_millis(span));
                }
                _ => storm.act(),
            }
        }
        storm.zoo.settle();
        storm.note();
        storm.calm();
        grants += one_at_a_time(&storm.zoo, seed);
        kept += storm.kept.len();
        storm.zoo.connect(0, 0, 5_000);
        for server in 0..storm.servers {
            storm.zoo.hang_up(0, server);
            assert!(storm.zoo.reconnect(0, server), "seed {seed}, server {server}");
            let there = children(storm.zoo.call(0, server, zoo::list("/kept", false)));
            let lost = storm.kept.iter().find(|name| !there.contains(name));
            assert_eq!(lost, None, "seed {seed}, server {server}");
        }
        led += storm.zoo.role(0).expect("it runs").1 >> 32;
    }
    assert!(grants > 100 && kept > 100 && led > 100, "{grants} {kept} {led}");
}

#[test]
fn a_connection_between_servers_that_breaks_is_mended_wherever_it_does() {
    for (from, to) in [(0, 2), (2, 0), (0, 1), (1, 0)] {
        for number in 1..16 {
            let start = |start: &mut lockscope::systems::zookeeper::Start| {
                start.timing.sync_limit = 2;
                start.installed = [(path("/locks"), 0)].into();
            };
            let mut zoo = Zoo::losing(3, 1, TICK, start, Some((from, to, number)));
            zoo.connect(0, 1, 5_000);
            // An election, too, has connections that can break.
            zoo.pass(Micros::from_millis(300));
            zoo.pause(2, Micros::from_secs(4));
            zoo.pass(Micros::from_secs(25));
            let roles: Vec<_> = (0..3).filter_map(|server| zoo.role(server)).collect();
            let lead = roles.iter().filter(|role| role.0 == "leads").count();
            let follow = roles.iter().filter(|role| role.0 == "follows").count();
            assert_eq!((lead, follow), (1, 2), "{from}>{to}#{number}: {roles:?}");
        }
    }
}

/// A holds a lock, B waits for it, and the server that A is connected to is cut off from the others:
/// for how long do both believe that they hold it?
fn overlap(timeout: u64, sync_limit: u64, policy: &str, cut_ms: u64) -> u64 {
    let mut case = Case::new(&[("x", 0)])
        .client("client-a", "0s", "acquire; work 50s; release")
        .client("client-b", "1s", "acquire; work 30s; release");
    case.scenario.system = "zookeeper".into();
    case.scenario.settings = Default::default();
    let case = case
        .set("session.timeout", &format!("{timeout}s"))
        .set("zookeeper.sync_limit", &sync_limit.to_string())
        .set("lock.disconnected", policy)
        .edits(&format!("at {cut_ms}ms cut {{zk-a}}|{{zk-b zk-c}} for 55s"));
    case.verdict().overlap_us
}

/// A server that is cut off answers pings until it gives its leader up, and the last ping that it passed
/// on may be a third of the session and half a tick older than the cut. So a holder that stops as soon as
/// it is disconnected is safe only where two thirds of its session are longer than both together.
#[test]
fn to_stop_when_disconnected_is_safe_only_where_a_session_outlasts_the_limit_of_silence() {
    const TICK: u64 = 2;
    let mut at = draws(3);
    let (mut safe, mut unsafe_) = (0, 0);
    for sync_limit in [2, 5] {
        for timeout in [4, 5, 6, 8, 10, 12, 13, 14, 16, 17, 20] {
            for _ in 0..4 {
                let cut = 2_000 + at(3_000);
                let of = |policy| overlap(timeout, sync_limit, policy, cut);
                let [stop, wait, ignore] = ["stop", "wait", "ignore"].map(of);
                let told = format!("{timeout} s, {sync_limit} ticks, cut at {cut} ms: {stop} us");
                assert!(stop <= wait && wait <= ignore, "{told}, {wait}, {ignore}");
                if 4 * timeout > 3 * (2 * sync_limit + 1) * TICK {
                    assert_eq!(stop, 0, "{told}");
                    safe += 1;
                }
                if timeout + 2 * TICK < sync_limit * TICK {
                    assert!(stop > 0, "{told}");
                    unsafe_ += 1;
                }
            }
        }
    }
    assert!(safe > 20 && unsafe_ > 4, "{safe} {unsafe_}");
    // Longer than the limit and a tick is not enough: this cut comes just before a ping is passed on.
    assert_eq!(overlap(12, 5, "stop", 5_100), 800_000);
    assert!((0..140).all(|step| overlap(17, 5, "stop", 2_000 + step * 50) == 0));
}
