//! The experiment of the herd: so many clients queue and go, and who is told of each going is counted.

use serde_json::{Value, json};

use super::super::args::Args;
use super::super::compare::Did;
use super::super::drive::{Drive, PATIENCE};
use super::super::protocol::NotModelled;
use super::super::transcript::{Step, Transcript};
use super::answers::Said;
use super::{Push, ZooKeeper, say};
use crate::sim::{Micros, ProcId};
use crate::systems::zookeeper::{Change, CreateMode, Path, Request, Zxid};

/// A transcript has no larger herd.
const MOST: u64 = 100;
/// The time-out of the sessions of a herd.
const TIMEOUT: Micros = Micros::from_secs(10);

/// Who sets a watch again, where the parent is watched.
const AGAIN: &str = "waiters other than the new holder re-arm the parent watch after each release";

/// What a waiter watches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Watched {
    Parent,
    Predecessor,
}

/// What the raw clients of herds are called.
pub fn name(number: u64) -> String {
    format!("herd {number}")
}

/// How many of them a transcript needs.
pub fn most(transcript: &Transcript) -> u64 {
    let counts = transcript.steps.iter().filter(|step| step.client == "harness");
    let counts = counts.filter_map(|step| step.args.get("clients").and_then(Value::as_u64));
    counts.max().unwrap_or(0).min(MOST)
}

/// One client of a herd.
struct Waiter {
    client: ProcId,
    server: ProcId,
    node: Path,
}

/// Runs an experiment.
pub fn experiment(drive: &mut Drive<'_, ZooKeeper>, step: &Step) -> Result<Did<Said>, NotModelled> {
    if step.name != "herd_run" {
        return Err(format!("the experiment {}", step.name));
    }
    if step.argv.is_some() || step.node.is_some() {
        return Err("a herd with `argv` or `node`".into());
    }
    let args = Args::new(&step.name, &step.args);
    let count = u64::try_from(args.number("clients")?).ok();
    let count = count.filter(|count| (1..=MOST).contains(count));
    let count = count.ok_or_else(|| format!("a herd of no clients or of more than {MOST}"))?;
    let words = (args.word("watch")?, args.word("event_type")?, args.word("rewatch")?);
    args.done()?;
    let (watched, change) = match words {
        ("parent", "NodeChildrenChanged", AGAIN) => (Watched::Parent, Change::ChildrenChanged),
        ("predecessor", "NodeDeleted", "none") => (Watched::Predecessor, Change::Deleted),
        other => return Err(format!("a herd that watches {other:?}")),
    };
    let parent = Path::new(&format!("/herd-{}", step.number));
    let waiters = match gather(drive, &parent, count) {
        Ok(waiters) => waiters,
        Err(did) => return Ok(did),
    };
    for place in 1..waiters.len() {
        if let Err(did) = watch(drive, &parent, &waiters, place, watched) {
            return Ok(did);
        }
    }
    let mut counts: Vec<Vec<usize>> = Vec::new();
    for leaving in 0..waiters.len() {
        let node = waiters[leaving].node.clone();
        let delete = Request::Delete { path: node, version: None };
        if let Err(did) = call(drive, &waiters[leaving], delete) {
            return Ok(did);
        }
        drive.stage.settle();
        drive.listen();
        let told = |waiter: &Waiter| {
            let heard = drive.take_unasked(waiter.client).into_iter();
            heard.filter(|push| matches!(push, Push::Watch(c, _) if *c == change)).count()
        };
        counts.push(waiters.iter().map(told).collect());
        // The next one holds the lock now and watches nothing; the others set their watches again.
        for place in leaving + 2..waiters.len() {
            if watched == Watched::Parent
                && let Err(did) = watch(drive, &parent, &waiters, place, watched)
            {
                return Ok(did);
            }
        }
    }
    for waiter in &waiters {
        // The answer is followed by the end of the connection.
        let _ = call(drive, waiter, Request::CloseSession);
    }
    let per_release: Vec<usize> = counts.iter().map(|all| all.iter().sum()).collect();
    Ok(Did::Answered(Said(json!({
        "type": "counts",
        "events_per_release": per_release,
        "total": per_release.iter().sum::<usize>(),
        "by_client_per_release": counts,
    }))))
}

/// Each client gets a session and a place in the queue.
fn gather(
    drive: &mut Drive<'_, ZooKeeper>,
    parent: &Path,
    count: u64,
) -> Result<Vec<Waiter>, Did<Said>> {
    // An ensemble’s herd is counted where all of it is decided.
    let server = drive.node(Some("leader")).map_err(Did::Failed)?;
    let mut waiters = Vec::new();
    for number in 1..=count {
        let client = drive.stage.find(&name(number));
        let client = client.ok_or_else(|| Did::Failed("nobody to join the herd".into()))?;
        let mut waiter = Waiter { client, server, node: parent.clone() };
        let connect = Request::Connect { session: None, timeout: TIMEOUT, seen: Zxid(0) };
        call(drive, &waiter, connect)?;
        if number == 1 {
            call(drive, &waiter, create(parent.clone(), CreateMode::Persistent))?;
        }
        let place = create(parent.child("lock-"), CreateMode::EphemeralSequential);
        let Said(created) = call(drive, &waiter, place)?;
        waiter.node = Path::new(created["path"].as_str().unwrap_or_default());
        waiters.push(waiter);
    }
    Ok(waiters)
}

fn create(path: Path, mode: CreateMode) -> Request {
    Request::Create { path, data: "".into(), mode, stat: false }
}

/// One who waits sets its watch.
fn watch(
    drive: &mut Drive<'_, ZooKeeper>,
    parent: &Path,
    waiters: &[Waiter],
    place: usize,
    watched: Watched,
) -> Result<Said, Did<Said>> {
    let request = match watched {
        Watched::Parent => Request::GetChildren { path: parent.clone(), watch: true, stat: false },
        Watched::Predecessor => {
            Request::Exists { path: waiters[place - 1].node.clone(), watch: true }
        }
    };
    call(drive, &waiters[place], request)
}

fn call(
    drive: &mut Drive<'_, ZooKeeper>,
    waiter: &Waiter,
    request: Request,
) -> Result<Said, Did<Said>> {
    let number = say(drive, waiter.client, waiter.server, request);
    match drive.wait(waiter.client, waiter.server, number, PATIENCE, false) {
        Did::Answered(said) => Ok(said),
        other => Err(other),
    }
}
