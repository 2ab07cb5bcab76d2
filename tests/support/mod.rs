//! Scenarios and runs for tests, built as briefly as they are thought of.
#![allow(dead_code, reason = "each test file uses its own part")]

use lockscope::judge::{Finding, Verdict};
use lockscope::run::{ClientSpec, ResourceSpec, Run, Scenario, compile, kind};
use lockscope::sim::{EventId, Micros, Purpose, Table, keyed, up_to};
use lockscope::systems::{COMMON, Kind, Registry};

/// Lines of a program or edits, separated by `;`.
pub fn lines(text: &str) -> Vec<String> {
    text.split(';').map(|l| l.trim().to_string()).filter(|l| !l.is_empty()).collect()
}

/// A scenario on the lease service, first generation 41, built step by step.
pub struct Case {
    pub scenario: Scenario,
    pub edits: Vec<String>,
}

impl Case {
    pub fn new(cells: &[(&str, i64)]) -> Case {
        let scenario = Scenario {
            system: "lease".into(),
            until: "60s".into(),
            seed: 1,
            settings: [("lock.first_token".to_string(), "41".to_string())].into(),
            locks: vec!["lock".into()],
            cells: cells.iter().map(|(n, v)| (n.to_string(), *v)).collect(),
            resources: Default::default(),
            gateway: false,
            invariant: None,
            clients: Default::default(),
        };
        Case { scenario, edits: Vec::new() }
    }

    pub fn client(mut self, id: &str, start: &str, program: &str) -> Case {
        let start = Some(start.to_string());
        let spec = ClientSpec { start, program: lines(program), ..ClientSpec::default() };
        self.scenario.clients.insert(id.into(), spec);
        self
    }

    pub fn task(mut self, id: &str, name: &str, program: &str) -> Case {
        let client = self.scenario.clients.get_mut(id).expect("the client exists");
        client.tasks.insert(name.into(), lines(program));
        self
    }

    pub fn set(mut self, key: &str, value: &str) -> Case {
        self.scenario.settings.insert(key.into(), value.into());
        self
    }

    pub fn invariant(mut self, text: &str) -> Case {
        self.scenario.invariant = Some(text.into());
        self
    }

    pub fn until(mut self, text: &str) -> Case {
        self.scenario.until = text.into();
        self
    }

    pub fn seed(mut self, seed: u64) -> Case {
        self.scenario.seed = seed;
        self
    }

    pub fn edits(mut self, text: &str) -> Case {
        self.edits.extend(lines(text));
        self
    }

    /// The run; with `SHOW=1` its log is printed, for whoever looks into a test.
    pub fn run(&self) -> Run {
        let run = match compile(&self.scenario, &self.edits, &Registry::standard()) {
            Ok(compiled) => Run::of(compiled),
            Err(errors) => panic!("{errors:#?}"),
        };
        if std::env::var_os("SHOW").is_some() {
            eprintln!("{}", lockscope::narrate::log(&run));
        }
        run
    }

    pub fn verdict(&self) -> Verdict {
        self.run().judgement.verdict
    }
}

/// Two clients that count in one cell, on another system than the lease service.
pub fn counters(system: &str, program: &str, second: &str) -> Case {
    let mut case = Case::new(&[("x", 0)])
        .client("client-a", "0s", program)
        .client("client-b", second, program)
        .invariant("x == done");
    case.scenario.system = system.into();
    case.scenario.settings = Table::new();
    case
}

/// The lease-expiration race of the lesson.
pub fn race() -> Case {
    Case::new(&[("balance", 100)])
        .set("acquire.wait", "retry")
        .set("acquire.retry", "3s")
        .invariant("balance == 100 - 10 * done")
        .client(
            "client-a",
            "0s",
            "acquire; read balance; work 1s; write balance = balance - 10; release",
        )
        .client(
            "client-b",
            "1s",
            "acquire; read balance; work 2s; write balance = balance - 10; release",
        )
        .edits("pause client-a before write#1 for 12s")
}

/// A transfer in two writes, torn apart by a pause; another client takes 10 in between.
pub fn transfer() -> Case {
    let two_writes = "acquire; read X; read Y; write X = X - 40; write Y = Y + 40; release";
    let take = "acquire; read X; read taken; write X = X - 10; write taken = taken + 10; release";
    Case::new(&[("X", 100), ("Y", 0), ("taken", 0)])
        .invariant("X + Y + taken == 100")
        .client("client-a", "0s", two_writes)
        .client("client-b", "1s", take)
        .edits("pause client-a before write#2 for 12s")
}

/// The spans of overlap.
pub fn overlaps(run: &Run) -> Vec<(u64, u64)> {
    let spans = run.judgement.findings.iter().filter_map(|f| match f {
        Finding::Overlap { from, to, .. } => Some((from.0, to.0)),
        _ => None,
    });
    spans.collect()
}

/// The moment of the n-th event of a kind at a node.
pub fn when(run: &Run, what: &str, node: &str, n: usize) -> Micros {
    let node = run.names().find(node).expect("the node exists");
    let events = run.record.events.iter();
    let mut found = events.filter(|e| kind::kind(e) == what && e.node == node);
    found.nth(n - 1).map(|e| e.at).unwrap_or_else(|| panic!("no {what} number {n}"))
}

/// Draws for one random case; the n-th draw is a function of seed and n.
pub struct Draws {
    pub seed: u64,
    n: u64,
}

impl Draws {
    pub fn new(seed: u64) -> Draws {
        Draws { seed, n: 0 }
    }

    /// A number from 0 to `most`.
    pub fn up_to(&mut self, most: u64) -> u64 {
        self.n += 1;
        up_to(keyed(self.seed, Purpose::Backoff, 7, self.n), most)
    }

    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.up_to(items.len() as u64 - 1) as usize]
    }
}

/// The seeds of a property test: `SEED=n` replays one, `CASES=n` runs more. A test that fails in the
/// loop over them says with which command it fails again.
pub fn seeds(cases: u64) -> Seeds {
    let number = |key: &str| std::env::var(key).ok().and_then(|s| s.parse::<u64>().ok());
    let left = match number("SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("CASES").unwrap_or(cases),
    };
    Seeds { left, now: None }
}

pub struct Seeds {
    left: std::ops::Range<u64>,
    now: Option<u64>,
}

impl Iterator for Seeds {
    type Item = u64;
    fn next(&mut self) -> Option<u64> {
        self.now = self.left.next();
        self.now
    }
}

impl Drop for Seeds {
    fn drop(&mut self) {
        let Some(seed) = self.now.filter(|_| std::thread::panicking()) else { return };
        let program = std::env::current_exe().unwrap_or_default();
        let stem = program.file_stem().unwrap_or_default().to_string_lossy();
        // Cargo puts a hash behind the name of the file.
        let file = stem.rsplit_once('-').map_or(&*stem, |(file, _)| file);
        let test = std::thread::current();
        let name = test.name().unwrap_or_default();
        eprintln!("replay with: SEED={seed} cargo test --test {file} {name}");
    }
}

/// A scenario with three clients, a heartbeat, a handler, two locks, two resources, retries.
pub fn busy(draws: &mut Draws) -> Case {
    let sections = [
        "acquire; read x; work 300ms; write x = x + 1; release",
        "repeat 3; acquire within 4s; if not ok goto out; read x; write x = x + 1 within 500ms; release; \
         sleep 200ms; end; out:",
        "acquire; read x; check; if lost goto out; work 1s; write x = x + 1; write y = x; out:; release; \
         stop heartbeat",
        "acquire; acquire other; read z; write z = z + 1; read x; write x = z; release other; release",
        "acquire shared; read x; work 500ms; read x; release",
        "again:; begin; read x; write x = x + 1; if rejected goto again; job nightly; write y = 1",
        "acquire; claim; read x; write x = x + 1 where version; insert y = 7; release",
        "read x; write x = x + 1 where y < 5 and x < 9 within 400ms; insert z = x",
    ];
    let mut case = Case::new(&[("x", 0), ("y", 0)]).invariant("x >= 0 or done > 3").until("20s");
    case.scenario.gateway = true;
    case.scenario.locks.push("other".into());
    let ledger = ResourceSpec {
        label: None,
        cells: [("z".to_string(), 5)].into(),
        lock: Some("other".into()),
    };
    case.scenario.resources.insert("ledger".into(), ledger);
    for id in ["client-a", "client-b", "client-c"] {
        let start = format!("{}ms", draws.up_to(1_500));
        case = case.client(id, &start, draws.pick(&sections));
        case = case.task(id, "heartbeat", "loop; sleep 700ms; renew; end");
        let client = case.scenario.clients.get_mut(id).expect("just made");
        client.on.insert("lost".into(), lines("let lost_at = 1; stop heartbeat"));
        client.on.insert("undo".into(), lines("read x; write x = x - 1"));
    }
    for (key, values) in [
        ("lease.ttl", &["800ms", "2s", "5s"][..]),
        ("acquire.wait", &["queue", "retry"]),
        ("resource.check", checks()),
        ("resource.gap", &["0s", "100ms", "900ms"]),
        ("gateway.order", &["concurrent", "serial"]),
        ("resource.reads", &["plain", "token"]),
        ("lease.token", &["generation", "random", "set-then-incr", "timestamp", "read-late"]),
        ("lease.deadline", &["send", "receipt", "none"]),
        ("renew.failure", &["carry-on", "carry-on", "stop", "stop-and-undo"]),
        ("renew.rule", &["correct", "careless"]),
        ("release.rule", &["correct", "careless", "get-then-del"]),
        ("lease.clock", &["mono", "wall", "boot"]),
        ("client.clock", &["mono", "wall", "boot"]),
        ("client.margin", &["0s", "300ms"]),
        ("deadline.rule", &["checked", "timer"]),
        ("resume.order", &["program-first", "timers-first"]),
        ("link.jitter", &["0s", "30ms"]),
        ("request.timeout", &["300ms", "2s"]),
    ] {
        let value = draws.pick(values).to_string();
        case = case.set(key, &value);
    }
    case.seed(draws.up_to(1_000))
}

/// Every way in which a resource can check.
pub fn checks() -> &'static [&'static str] {
    let spec = COMMON.iter().find(|spec| spec.key == "resource.check");
    match spec.map(|spec| spec.kind) {
        Some(Kind::Choice(words)) => words,
        other => panic!("resource.check is a choice, not {other:?}"),
    }
}

/// The nodes of a busy scenario.
const NODES: [&str; 7] =
    ["client-a", "client-b", "client-c", "lock-service", "gateway", "resource", "ledger"];

/// All nodes but these.
fn others(these: &[&str]) -> String {
    let rest: Vec<&str> = NODES.into_iter().filter(|n| !these.contains(n)).collect();
    rest.join(" ")
}

pub fn random_edit(draws: &mut Draws) -> String {
    let node = |d: &mut Draws| d.pick(&NODES).to_string();
    let at = draws.up_to(8_000);
    let span = draws.up_to(4_000);
    let n = 1 + draws.up_to(4);
    let (a, mut b) = (node(draws), node(draws));
    while b == a {
        b = node(draws);
    }
    match draws.up_to(26) {
        0 | 1 => format!("at {at}ms pause {a} for {span}ms"),
        2 => format!("pause client-a before write#{n} for {span}ms"),
        3 => format!("at {at}ms cut {a} {b} for {span}ms"),
        4 => format!("at {at}ms cut {a}>{b}"),
        5 => format!("at {at}ms heal {a} {b}"),
        6 => format!("at {at}ms crash {a}"),
        7 => format!("at {at}ms restart {a}"),
        8 => format!("drop {a}>{b}#{n}"),
        9 => format!("delay {a}>{b}#{n} by {span}ms"),
        10 => format!("at {at}ms send {} {n}", draws.pick(&["resource", "ledger"])),
        11 => format!("send resource {n}"),
        12 => format!("at {at}ms suspend {a} for {span}ms"),
        13 => format!("at {at}ms freeze {a} for {span}ms"),
        14 => format!("freeze client-b before read#{n} for {span}ms"),
        15 => {
            format!("at {at}ms pause client-a.{} for {span}ms", draws.pick(&["main", "heartbeat"]))
        }
        16 => format!("pause client-a.heartbeat before renew#{n} for {span}ms"),
        17 => format!("at {at}ms clock {a} {}{span}ms", draws.pick(&["+", "-"])),
        18 => format!("at {at}ms rate {a} {}", draws.pick(&["4/5", "3/2", "1/7", "3"])),
        19 => format!("at {at}ms {} {a}", draws.pick(&["kill", "power-off", "shut-down"])),
        20 => format!("duplicate {a}>{b}#{n}"),
        21 => format!("duplicate {a}>{b}#{n} by {span}ms"),
        22 => format!("at {at}ms set gateway.bypass {}", draws.pick(&["none", "client-a"])),
        23 => format!("at {at}ms cut {{{a} {b}}}|{{{}}} for {span}ms", others(&[&a, &b])),
        24 => format!("at {at}ms heal {{{a}}}|{{{}}}", others(&[&a])),
        25 => {
            format!("suspend client-c before {}#{n} for {span}ms", draws.pick(&["acquire", "read"]))
        }
        _ => format!("at {at}ms set resource.check {}", draws.pick(checks())),
    }
}

/// A random case whose edits all compile (a client may lack a `write` line to pause before).
pub fn random_case(seed: u64) -> Case {
    let mut draws = Draws::new(seed);
    let mut case = busy(&mut draws);
    for _ in 0..draws.up_to(6) {
        let edit = random_edit(&mut draws);
        case.edits.push(edit);
        if compile(&case.scenario, &case.edits, &Registry::standard()).is_err() {
            case.edits.pop();
        }
    }
    case
}

/// What a node waits for at a moment.
pub fn waits(run: &Run, node: &str, at_ms: u64) -> String {
    let at = Micros::from_millis(at_ms);
    let last = EventId(run.record.events.partition_point(|e| e.at <= at) as u32 - 1);
    let node = run.names().find(node).expect("the node exists");
    let missing = lockscope::narrate::waits(run, &run.world_when(last, at), node);
    missing.map_or("It goes on.".into(), |missing| missing.words)
}
