//! A run as JSON, schema 1.

use super::sentence::sentence;
use crate::json::Json;
use crate::judge::{Seat, Testimony};
use crate::run::{ClientSpec, ResourceSpec, Run, Scenario, kind};
use crate::sim::{Discard, EventId, Micros, MsgId, ProcId, Table, What, World};

/// The run as JSON: adding keys is fine, a key keeps its meaning.
pub fn json(run: &Run) -> Json {
    let nodes = run.names().nodes.iter().map(|n| {
        object([
            ("id", n.id.as_str().into()),
            ("kind", n.kind.word().into()),
            ("label", n.label.as_str().into()),
        ])
    });
    let clocks = wall_clocks(run).into_iter().enumerate();
    let edits = run.compiled.edits.iter().map(|e| e.to_string().into());
    object([
        ("schema", 1_u64.into()),
        ("scenario", scenario(&run.compiled.scenario)),
        ("seed", run.compiled.plan.seed.into()),
        ("edits", edits.collect()),
        // Those of the edits that found no occasion.
        ("unused_edits", unused(run).collect()),
        ("nodes", nodes.collect()),
        ("events", clocks.map(|(i, local)| event(run, EventId(i as u32), local)).collect()),
        ("intervals", intervals(run)),
        ("verdict", figures(run.judgement.verdict.figures())),
        ("metrics", figures(run.judgement.metrics.figures())),
        ("hash", format!("{:016x}", run.hash()).into()),
    ])
}

fn object<const N: usize>(fields: [(&'static str, Json); N]) -> Json {
    Json::object(fields.map(|(name, value)| (name, Some(value))))
}

fn figures(figures: Vec<(&'static str, Option<u64>)>) -> Json {
    Json::object(figures.into_iter().map(|(name, value)| (name, Some(value.into()))))
}

fn table<T>(table: &Table<String, T>, value: impl Fn(&T) -> Json) -> Json {
    Json::Object(table.iter().map(|(name, v)| (name.clone(), value(v))).collect())
}

fn texts(list: &[String]) -> Json {
    list.iter().map(|text| text.as_str().into()).collect()
}

fn scenario(scenario: &Scenario) -> Json {
    object([
        ("system", scenario.system.as_str().into()),
        ("until", scenario.until.as_str().into()),
        ("seed", scenario.seed.into()),
        ("settings", table(&scenario.settings, |s| s.as_str().into())),
        ("locks", texts(&scenario.locks)),
        ("cells", table(&scenario.cells, |c| (*c).into())),
        ("resources", table(&scenario.resources, resource)),
        ("gateway", scenario.gateway.into()),
        ("invariant", scenario.invariant.clone().into()),
        ("clients", table(&scenario.clients, client)),
    ])
}

fn resource(resource: &ResourceSpec) -> Json {
    object([
        ("label", resource.label.clone().into()),
        ("cells", table(&resource.cells, |c| (*c).into())),
        ("lock", resource.lock.clone().into()),
    ])
}

fn client(client: &ClientSpec) -> Json {
    object([
        ("label", client.label.clone().into()),
        ("start", client.start.clone().into()),
        ("program", texts(&client.program)),
        ("tasks", table(&client.tasks, |t| texts(t))),
        ("on", table(&client.on, |t| texts(t))),
    ])
}

fn unused(run: &Run) -> impl Iterator<Item = Json> {
    let edits = run.unused_edits.iter().filter_map(|i| run.compiled.edits.get(*i));
    edits.map(|e| e.to_string().into())
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

fn event(run: &Run, at: EventId, local_us: i64) -> Json {
    let event = run.record.event(at);
    Json::object([
        ("id", Some(u64::from(at.0).into())),
        ("t_us", Some(event.at.0.into())),
        // What the node's wall clock shows.
        ("local_us", Some(local_us.into())),
        ("node", Some(id(run, event.node).into())),
        ("kind", Some(kind::kind(event).into())),
        ("causes", Some(event.causes.iter().map(|c| u64::from(c.0).into()).collect())),
        ("message", event.message().map(|m| message(run, m))),
        // A decimal string, because a token may exceed what a double holds.
        ("token", kind::token(&run.record, event).map(|t| t.0.to_string().into())),
        // The event in which the grant was made that this event is about.
        ("grant", kind::grant(at, event).map(|g| u64::from(g.0.0).into())),
        ("keeps", keeps(run, event.note())),
        ("count", count(event.note())),
        ("decides", decides(event.note())),
        ("line", line(run, event.note())),
        ("sentence", Some(sentence(run, at).into())),
    ])
}

/// What one of several servers has: whose, and until when by its clock.
fn keeps(run: &Run, note: Option<&Testimony>) -> Option<Json> {
    let Some(Testimony::Keep { of, until, .. }) = note else { return None };
    Some(object([
        ("client", of.map(|of| id(run, of.0)).into()),
        ("until_us", until.map(|until| until.0).into()),
    ]))
}

/// What a client has counted of the answers of several servers.
fn count(note: Option<&Testimony>) -> Option<Json> {
    let Some(Testimony::Count(_, _, ballot, elapsed, left)) = note else { return None };
    let [yes, no, of] = ballot.counts().map(u64::from);
    Some(object([
        ("yes", yes.into()),
        ("no", no.into()),
        ("of", of.into()),
        ("elapsed_us", elapsed.0.into()),
        // `null` where the client may not act.
        ("left_us", left.map(|left| left.0).into()),
    ]))
}

/// How many servers have logged what is decided.
fn decides(note: Option<&Testimony>) -> Option<Json> {
    let Some(Testimony::Decide(_, ballot)) = note else { return None };
    let [yes, _, of] = ballot.counts().map(u64::from);
    Some(object([("logged", yes.into()), ("of", of.into())]))
}

/// Who stands in a queue, in its order.
fn line(run: &Run, note: Option<&Testimony>) -> Option<Json> {
    let Some(Testimony::Line(_, seats)) = note else { return None };
    let seat = |seat: &Seat| {
        object([
            ("client", id(run, seat.client).into()),
            ("number", seat.number.to_string().into()),
            ("holds", seat.holds.into()),
        ])
    };
    Some(seats.iter().map(seat).collect())
}

fn message(run: &Run, msg: MsgId) -> Json {
    let info = run.record.message(msg);
    let delivered = info.delivered.map(|d| run.record.event(d).at.0);
    object([
        ("id", run.names().message(info).into()),
        ("from", id(run, info.from).into()),
        ("to", id(run, info.to).into()),
        ("name", info.body.name.into()),
        // A copy has the id of its original.
        ("copy", info.copy_of.is_some().into()),
        ("sent_us", run.record.event(info.sent).at.0.into()),
        // `null` for a message that was lost or is on the way at the end.
        ("delivered_us", delivered.into()),
    ])
}

fn intervals(run: &Run) -> Json {
    let names = run.names();
    let judged = run.judgement.intervals.iter().map(|i| {
        Json::object([
            ("of", Some(i.kind.word().into())),
            ("lock", Some(names.lock(i.lock).into())),
            ("client", Some(id(run, i.client).into())),
            ("mode", Some(i.mode.word().into())),
            ("from_us", Some(i.from.0.into())),
            ("to_us", Some(i.to.0.into())),
            ("token", i.token.map(|t| t.0.to_string().into())),
            // It was still open when the run ended.
            ("open", Some(i.open.into())),
        ])
    });
    // A pause is of a node, which may be a server, and of no lock.
    let pauses = pauses(run).into_iter().map(|(node, from, to)| {
        object([
            ("of", "pause".into()),
            ("lock", Json::Null),
            ("client", id(run, node).into()),
            ("mode", Json::Null),
            ("from_us", from.0.into()),
            ("to_us", to.map_or(run.end.0, |t| t.0).into()),
            ("open", to.is_none().into()),
        ])
    });
    judged.chain(pauses).collect()
}

/// Each node's pauses, united where they overlap; one that the end cut off has no end.
fn pauses(run: &Run) -> Vec<(ProcId, Micros, Option<Micros>)> {
    let mut pauses: Vec<(ProcId, Micros, Option<Micros>)> = Vec::new();
    for event in &run.record.events {
        let mut open = pauses.iter_mut().filter(|p| p.0 == event.node && p.2.is_none());
        match (&event.what, open.next()) {
            (What::Halt(..), None) => pauses.push((event.node, event.at, None)),
            (What::Resume | What::Crash(_), Some(pause)) => pause.2 = Some(event.at),
            _ => {}
        }
    }
    pauses
}
