//! A run in words: sentences, log, Mermaid, JSON, Markdown.
//!
//! Everything here is a pure function of a [`Run`]; whoever shows words (page, screen reader,
//! terminal, export) takes them from here, so that they say the same everywhere.

use crate::run::Run;
use crate::sim::{EventId, Micros, ProcId, World};
use crate::systems::Locks;

/// How a verdict feels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tone {
    /// Nothing happened.
    Calm,
    /// It could have done harm and did not.
    Near,
    /// The resource was harmed.
    Harm,
    /// A late write was rejected.
    Fenced,
}

/// The verdict in one sentence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Headline {
    /// How it feels.
    pub tone: Tone,
    /// One word or two, with a full stop: `Corrupted.`
    pub word: String,
    /// What happened.
    pub rest: String,
}

/// What one node knows at a moment, as a small table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Knows {
    /// Which node.
    pub node: ProcId,
    /// `Client A knows`.
    pub title: String,
    /// What and its value, in order.
    pub lines: Vec<(String, String)>,
}

/// One event in one sentence, without its time.
pub fn sentence(run: &Run, id: EventId) -> String {
    let event = run.record.event(id);
    format!("{}: {}.", run.names().node(event.node).label, crate::run::kind::kind(event))
}

/// A moment for readers: `12.40 s`.
pub fn moment(at: Micros) -> String {
    format!("{}.{:02} s", at.0 / 1_000_000, at.0 / 10_000 % 100)
}

/// A span for readers: `2.2 s`, `250 ms`.
pub fn span(d: Micros) -> String {
    format!("{} ms", d.0 / 1_000)
}

/// The verdict in one sentence.
pub fn headline(run: &Run) -> Headline {
    let harmed = run.judgement.verdict.harmed();
    let (tone, word) = if harmed { (Tone::Harm, "Harmed.") } else { (Tone::Calm, "Safe.") };
    Headline { tone, word: word.into(), rest: String::new() }
}

/// What the judge found, in words, each with its event.
pub fn findings(run: &Run) -> Vec<(EventId, String)> {
    run.judgement.findings.iter().map(|f| (f.event(), sentence(run, f.event()))).collect()
}

/// What each node knows at that moment.
pub fn knows(_run: &Run, _world: &World<Locks>) -> Vec<Knows> {
    Vec::new()
}

/// Who believes what at that moment, in one sentence.
pub fn summary(_run: &Run, _world: &World<Locks>) -> String {
    String::new()
}

/// The run as a log for a terminal.
pub fn log(run: &Run) -> String {
    let ids = (0..run.record.events.len() as u32).map(EventId);
    ids.map(|id| format!("{}  {}\n", moment(run.record.event(id).at), sentence(run, id))).collect()
}

/// The run as a Mermaid sequence diagram.
pub fn mermaid(_run: &Run) -> String {
    "sequenceDiagram\n".into()
}

/// The run as a report in Markdown.
pub fn markdown(run: &Run) -> String {
    log(run)
}

/// The run as JSON, schema 1.
pub fn json(run: &Run) -> serde_json::Value {
    serde_json::json!({ "schema": 1, "hash": format!("{:016x}", run.hash()) })
}
