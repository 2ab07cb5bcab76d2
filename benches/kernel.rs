//! Speed of the kernel beside a bare binary heap, of seeking, and of whole judged runs.
//!
//! `cargo bench` prints a table; each figure is the best of several rounds, because everything
//! that disturbs a measurement makes it slower.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;
use std::rc::Rc;
use std::time::Instant;

use lockscope::run::{ClientSpec, Compiled, Run, Scenario, compile};
use lockscope::search::{Aim, Proof};
use lockscope::sim::{EventId, Record, World};
use lockscope::systems::{Locks, Registry};

const ROUNDS: usize = 9;

/// Two clients that take the lock in turn, as often as asked.
fn scenario(rounds: u32) -> Compiled {
    let body = "acquire;read x;work 10ms;write x = x + 1;release;sleep 5ms";
    let mut program = vec![format!("repeat {rounds}")];
    program.extend(body.split(';').map(String::from));
    program.push("end".into());
    let client = |start: &str| ClientSpec {
        start: Some(start.into()),
        program: program.clone(),
        ..ClientSpec::default()
    };
    let scenario = Scenario {
        system: "lease".into(),
        until: "20000s".into(),
        seed: 1,
        settings: [("link.delay".to_string(), "2ms".to_string())].into(),
        locks: vec!["lock".into()],
        cells: [("x".to_string(), 0)].into(),
        resources: Default::default(),
        gateway: false,
        invariant: None,
        clients: [("client-a".to_string(), client("0s")), ("client-b".to_string(), client("1ms"))]
            .into(),
    };
    compile(&scenario, &[], &Registry::standard()).expect("the scenario is right")
}

/// Seconds of the fastest of several rounds.
fn best(mut work: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        work();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}

/// What a bare loop costs that pops, records and pushes as many events: the limit of any kernel.
fn bare_heap(events: usize) {
    let mut heap = BinaryHeap::new();
    let mut record: Vec<[u64; 6]> = Vec::new();
    for n in 0..16u64 {
        heap.push(Reverse((n * 7, n)));
    }
    let mut created = 16;
    while record.len() < events {
        let Some(Reverse((at, n))) = heap.pop() else { break };
        record.push([at, n, at ^ n, created, 0, 0]);
        created += 1;
        heap.push(Reverse((at + 1 + (n * 2_654_435_761) % 1_000, created)));
    }
    black_box(record.len());
}

fn main() {
    let compiled = scenario(5_000);
    let mut events = 0;
    let kernel = best(|| {
        let mut world = World::new(compiled.plan.clone());
        let mut record: Record<Locks> = Record::default();
        world.run(&mut record);
        events = record.events.len();
        black_box(&record);
    });
    let bare = best(|| bare_heap(events));
    println!("kernel, full record     {:>8.2} M events/s", events as f64 / kernel / 1e6);
    println!("bare binary heap        {:>8.2} M events/s", events as f64 / bare / 1e6);
    println!("kernel / bare heap      {:>8.1} %", bare / kernel * 100.0);
    seek(10_000);
    seek(100_000);
    judged();
    searched();
    crowded();
}

/// Seeking to pseudo-random events of a run with about so many events.
fn seek(wanted: usize) {
    let run = Run::of(scenario((wanted / 56) as u32));
    let events = run.record.events.len();
    let mut times: Vec<f64> = (0..2_000usize)
        .map(|n| {
            let event = EventId((n * 7_919 % events) as u32);
            let start = Instant::now();
            black_box(run.world_at(event));
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let p99 = times[times.len() * 99 / 100];
    println!(
        "seek in {events:>7} events   {p99:>8.3} ms p99, {:.3} ms median",
        times[times.len() / 2]
    );
}

/// Whole short runs, simulated and judged, from one plan.
fn judged() {
    let compiled = scenario(1);
    let plan = compiled.plan.clone();
    const RUNS: usize = 2_000;
    let time = best(|| {
        for _ in 0..RUNS {
            let mut world = World::new(Rc::clone(&plan));
            let mut record = Record::default();
            world.run(&mut record);
            let end = world.now();
            black_box(lockscope::judge::judge(&record.events, &compiled.setup, end));
        }
    });
    println!("short runs judged       {:>8.1} k runs/s", RUNS as f64 / time / 1e3);
}

/// Every placement of one pause in the lease-expiration race: first the lengths that change an order
/// are found, then each schedule is run and judged under three checks.
fn searched() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/lessons/05-lease-expiration.md");
    let lesson = lockscope::lesson::read(path.as_ref()).expect("it is a lesson");
    let compile = |edits: &[String]| compile(&lesson.scenario, edits, &Registry::standard());
    let (mut whole, mut tries, mut found) = (f64::MAX, f64::MAX, (0, 0));
    for _ in 0..ROUNDS * 3 {
        let start = Instant::now();
        let mut proof = Proof::new(&compile, &[], Aim::Harm).expect("the scenario is right");
        while !proof.counted() {
            proof.step();
        }
        let counted = Instant::now();
        proof.finish();
        tries = tries.min(counted.elapsed().as_secs_f64());
        whole = whole.min(start.elapsed().as_secs_f64());
        found = (proof.schedules.len() * proof.rows.len(), proof.runs);
    }
    println!("search, runs judged     {:>8.1} k runs/s", found.0 as f64 / tries / 1e3);
    println!("search, from first to last {:>6.1} ms for {} runs", whole * 1e3, found.1);
}

/// Fifty clients on five servers, all woken by each release: simulated, judged and laid out.
fn crowded() {
    let program = ["acquire", "read x", "work 2s", "write x = x + 1", "release"];
    let client = |number: u32| ClientSpec {
        start: Some(format!("{}ms", 20 * number)),
        program: program.map(String::from).to_vec(),
        ..ClientSpec::default()
    };
    let settings = [("lock.watch", "parent"), ("zookeeper.servers", "5")];
    let scenario = Scenario {
        system: "zookeeper".into(),
        until: "300s".into(),
        seed: 1,
        settings: settings.map(|(key, value)| (key.to_string(), value.to_string())).into(),
        locks: vec!["lock".into()],
        cells: [("x".to_string(), 0)].into(),
        resources: Default::default(),
        gateway: false,
        invariant: None,
        clients: (0..50).map(|n| (format!("client-{:02}", n + 1), client(n))).collect(),
    };
    let compiled = compile(&scenario, &[], &Registry::standard()).expect("the scenario is right");
    let run = Run::of(compiled.clone());
    let simulated = best(|| drop(black_box(Run::of(compiled.clone()))));
    let layout = lockscope::diagram::Layout::default();
    let drawn = best(|| drop(black_box(lockscope::diagram::layout(&run, &layout))));
    println!(
        "50 clients, 5 servers   {:>8.0} ms simulated and judged, {:.0} ms laid out, {} events",
        simulated * 1e3,
        drawn * 1e3,
        run.record.events.len()
    );
}
