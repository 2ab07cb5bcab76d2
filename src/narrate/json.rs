//! A run as JSON, schema 1.

use serde::Serialize;

use super::sentence::sentence;
use crate::judge::{Metrics, Verdict};
use crate::run::{Run, Scenario, kind};
use crate::sim::{Discard, EventId, Micros, MsgId, ProcId, What, World};

/// The run as JSON: adding keys is fine, a key keeps its meaning.
pub fn json(run: &Run) -> serde_json::Value {
    serde_json::to_value(document(run)).unwrap_or_default()
}

#[derive(Serialize)]
struct Document<'r> {
    schema: u32,
    scenario: &'r Scenario,
    seed: u64,
    edits: Vec<String>,
    /// Those of the edits that found no occasion.
    unused_edits: Vec<String>,
    nodes: Vec<Node<'r>>,
    events: Vec<Event<'r>>,
    intervals: Vec<Interval<'r>>,
    verdict: &'r Verdict,
    metrics: &'r Metrics,
    hash: String,
}

#[derive(Serialize)]
struct Node<'r> {
    id: &'r str,
    kind: &'static str,
    label: &'r str,
}

#[derive(Serialize)]
struct Event<'r> {
    id: u32,
    t_us: u64,
    /// What the node's wall clock shows.
    local_us: i64,
    node: &'r str,
    kind: &'static str,
    causes: Vec<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message<'r>>,
    /// A decimal string, because a token may exceed what a double holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    /// The id of the event in which the grant was made that this event is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    grant: Option<u32>,
    sentence: String,
}

#[derive(Serialize)]
struct Message<'r> {
    id: String,
    from: &'r str,
    to: &'r str,
    name: &'static str,
    sent_us: u64,
    /// `null` for a message that was lost or is on the way at the end.
    delivered_us: Option<u64>,
}

#[derive(Serialize)]
struct Interval<'r> {
    of: &'static str,
    /// `null` for a pause.
    lock: Option<&'r str>,
    /// The client; for a pause the node, which may be a server.
    client: &'r str,
    /// `null` for a pause.
    mode: Option<&'static str>,
    from_us: u64,
    to_us: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    /// It was still open when the run ended.
    open: bool,
}

fn document(run: &Run) -> Document<'_> {
    let names = run.names();
    let nodes = names.nodes.iter();
    let clocks = wall_clocks(run).into_iter().enumerate();
    Document {
        schema: 1,
        scenario: &run.compiled.scenario,
        seed: run.compiled.plan.seed,
        edits: run.compiled.edits.iter().map(ToString::to_string).collect(),
        unused_edits: unused(run),
        nodes: nodes.map(|n| Node { id: &n.id, kind: n.kind.word(), label: &n.label }).collect(),
        events: clocks.map(|(i, local_us)| event(run, EventId(i as u32), local_us)).collect(),
        intervals: intervals(run),
        verdict: &run.judgement.verdict,
        metrics: &run.judgement.metrics,
        hash: format!("{:016x}", run.hash()),
    }
}

fn unused(run: &Run) -> Vec<String> {
    let edits = run.unused_edits.iter().filter_map(|i| run.compiled.edits.get(*i));
    edits.map(ToString::to_string).collect()
}

/// What each event's node reads on its wall clock, found by running the world alongside.
fn wall_clocks(run: &Run) -> Vec<i64> {
    let events = &run.record.events;
    let mut world = World::new(run.compiled.plan.clone());
    let mut shown = Vec::with_capacity(events.len());
    loop {
        let goes_on = world.step(&mut Discard);
        // A clock changes in a step of its own, so that one reading holds for a whole step.
        while let Some(event) =
            events.get(shown.len()).filter(|_| shown.len() < world.events() as usize)
        {
            shown.push(world.clocks(event.node).wall.read(event.at).0);
        }
        if !goes_on {
            return shown;
        }
    }
}

fn id(run: &Run, node: ProcId) -> &str {
    run.names().nodes.get(usize::from(node.0)).map_or("?", |n| &n.id)
}

fn event(run: &Run, at: EventId, local_us: i64) -> Event<'_> {
    let event = run.record.event(at);
    Event {
        id: at.0,
        t_us: event.at.0,
        local_us,
        node: id(run, event.node),
        kind: kind::kind(event),
        causes: event.causes.iter().map(|c| c.0).collect(),
        message: event.message().map(|m| message(run, m)),
        token: kind::token(&run.record, event).map(|t| t.0.to_string()),
        grant: kind::grant(at, event).map(|g| g.0.0),
        sentence: sentence(run, at),
    }
}

fn message(run: &Run, msg: MsgId) -> Message<'_> {
    let info = run.record.message(msg);
    Message {
        id: run.names().message(info),
        from: id(run, info.from),
        to: id(run, info.to),
        name: info.body.name,
        sent_us: run.record.event(info.sent).at.0,
        delivered_us: info.delivered.map(|d| run.record.event(d).at.0),
    }
}

fn intervals(run: &Run) -> Vec<Interval<'_>> {
    let names = run.names();
    let judged = run.judgement.intervals.iter().map(|i| Interval {
        of: i.kind.word(),
        lock: Some(names.lock(i.lock)),
        client: id(run, i.client),
        mode: Some(i.mode.word()),
        from_us: i.from.0,
        to_us: i.to.0,
        token: i.token.map(|t| t.0.to_string()),
        open: i.open,
    });
    let pauses = pauses(run).into_iter().map(|(node, from, to)| Interval {
        of: "pause",
        lock: None,
        client: id(run, node),
        mode: None,
        from_us: from.0,
        to_us: to.map_or(run.end.0, |t| t.0),
        token: None,
        open: to.is_none(),
    });
    judged.chain(pauses).collect()
}

/// Each node's pauses, united where they overlap; one that the end cut off has no end.
fn pauses(run: &Run) -> Vec<(ProcId, Micros, Option<Micros>)> {
    let mut pauses: Vec<(ProcId, Micros, Option<Micros>)> = Vec::new();
    for event in &run.record.events {
        let mut open = pauses.iter_mut().filter(|p| p.0 == event.node && p.2.is_none());
        match (&event.what, open.next()) {
            (What::Pause(_), None) => pauses.push((event.node, event.at, None)),
            (What::Resume | What::Crash(_), Some(pause)) => pause.2 = Some(event.at),
            _ => {}
        }
    }
    pauses
}
