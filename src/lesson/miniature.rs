//! A run as a few small integers, for the list of lessons.

use crate::judge::{Finding, IntervalKind, Testimony, TruthEnd};
use crate::run::{NodeKind, Run};
use crate::sim::{EventId, Micros, ProcId, What};

/// The whole run is this many units long.
const LENGTH: u64 = 1000;

/// A run in miniature. All moments count from 0 at its start to 1000 at its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Miniature {
    /// The moment of the end in microseconds.
    pub end_us: u64,
    /// Clients in lane order.
    pub lanes: Vec<Lane>,
    /// What a learner would stop at, in the order of time.
    pub marks: Vec<TinyMark>,
}

/// A client's lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lane {
    /// What it is called.
    pub label: String,
    /// When the service said that it holds a lock.
    pub truth: Vec<(u32, u32)>,
    /// When it believed so.
    pub belief: Vec<(u32, u32)>,
    /// When it was at work without any lock.
    pub work: Vec<(u32, u32)>,
    /// When it was paused or down.
    pub stopped: Vec<(u32, u32)>,
    /// When a watch of its woke it.
    pub woken: Vec<u32>,
}

/// A moment worth a mark.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TinyMark {
    /// When.
    pub at: u32,
    /// The client's lane that it is about, by index; none for the whole run.
    pub lane: Option<u32>,
    /// What it is.
    pub kind: MarkKind,
}

/// What a small mark stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MarkKind {
    /// The lock was granted.
    Grant,
    /// It expired.
    Expire,
    /// A write was accepted.
    Accept,
    /// An operation was rejected.
    Reject,
    /// A write came late and was accepted.
    Stale,
    /// The resource was harmed.
    Harm,
    /// A process stopped.
    Pause,
    /// A process died.
    Crash,
    /// A link was cut.
    Cut,
}

impl Miniature {
    /// The miniature of a run.
    pub fn of(run: &Run) -> Miniature {
        let clients: Vec<ProcId> = run.names().of_kind(NodeKind::Client).collect();
        let lanes = clients.iter().map(|c| lane(run, *c)).collect();
        let marks = run.record.events.iter().enumerate().filter_map(|(i, event)| {
            let (kind, about) = mark(run, EventId(i as u32))?;
            let lane = clients.iter().position(|c| *c == about).map(|i| i as u32);
            Some(TinyMark { at: unit(event.at, run.end), lane, kind })
        });
        Miniature { end_us: run.end.0, lanes, marks: marks.collect() }
    }
}

fn unit(at: Micros, end: Micros) -> u32 {
    let wide = u128::from(at.0.min(end.0)) * u128::from(LENGTH) / u128::from(end.0.max(1));
    wide as u32
}

fn lane(run: &Run, client: ProcId) -> Lane {
    let spans = |kind: IntervalKind| {
        let own = run.judgement.intervals.iter().filter(|i| i.kind == kind && i.client == client);
        own.map(|i| (unit(i.from, run.end), unit(i.to, run.end))).collect()
    };
    let mut stopped = Vec::new();
    let mut since = None;
    for event in run.record.events.iter().filter(|e| e.node == client) {
        match event.what {
            What::Halt(..) | What::Crash(_) => since = since.or(Some(event.at)),
            What::Resume | What::Restart => {
                let from = since.take();
                stopped.extend(from.map(|f| (unit(f, run.end), unit(event.at, run.end))));
            }
            _ => {}
        }
    }
    stopped.extend(since.map(|f| (unit(f, run.end), LENGTH as u32)));
    let belief: Vec<(u32, u32)> = spans(IntervalKind::Belief);
    let covered = |s: &(u32, u32)| belief.iter().any(|b| b.0 <= s.0 && s.0 <= b.1);
    let mut work = sections(run, client);
    work.retain(|s| s.0 < s.1 && !covered(s));
    let wakes =
        run.record.events.iter().filter(
            |e| matches!(e.note(), Some(Testimony::Wake(_, watcher)) if *watcher == client),
        );
    let woken = wakes.map(|e| unit(e.at, run.end)).collect();
    Lane {
        label: run.names().node(client).label.clone(),
        truth: spans(IntervalKind::Truth),
        belief,
        work,
        stopped,
        woken,
    }
}

/// When the sections of a client were open.
fn sections(run: &Run, client: ProcId) -> Vec<(u32, u32)> {
    let mut spans: Vec<(u32, u32)> = Vec::new();
    for event in run.record.events.iter().filter(|e| e.node == client) {
        let at = unit(event.at, run.end);
        match event.note() {
            Some(Testimony::Begin(_)) => spans.push((at, LENGTH as u32)),
            Some(Testimony::Close(..)) => spans.last_mut().into_iter().for_each(|s| s.1 = at),
            _ => {}
        }
    }
    spans
}

/// The mark of an event, and the client that it is about.
fn mark(run: &Run, id: EventId) -> Option<(MarkKind, ProcId)> {
    let event = run.record.event(id);
    let about = crate::run::kind::client(&run.record, event).unwrap_or(event.node);
    let found =
        |is: fn(&Finding) -> bool| run.judgement.findings.iter().any(|f| f.event() == id && is(f));
    if found(Finding::is_harm) {
        return Some((MarkKind::Harm, about));
    }
    if found(|f| matches!(f, Finding::StaleAccepted { .. })) {
        return Some((MarkKind::Stale, about));
    }
    let kind = match event.note() {
        Some(Testimony::Grant { .. }) => MarkKind::Grant,
        Some(Testimony::Free(_, why)) if *why != TruthEnd::Released => MarkKind::Expire,
        Some(Testimony::Accept(..)) => MarkKind::Accept,
        Some(Testimony::Reject(..)) => MarkKind::Reject,
        Some(_) => return None,
        None => match event.what {
            What::Halt(..) => MarkKind::Pause,
            What::Crash(_) => MarkKind::Crash,
            What::Cut(_) => MarkKind::Cut,
            _ => return None,
        },
    };
    Some((kind, about))
}
