//! The parts that a run falls into, by who holds the lock and who believes so: headings of the log.

use super::teller::Teller;
use super::words::{and, one_line};
use crate::judge::{Finding, Interval, IntervalKind, LockId, Testimony};
use crate::run::Run;
use crate::sim::{Event, EventId, Micros, ProcId, What, sort};

/// A part of a run in which the same clients hold and believe.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Phase {
    /// The event that it begins with; it lasts until the next one begins.
    pub from: EventId,
    /// `Client A holds 41`, as a heading.
    pub title: String,
}

/// The phases of a run from its first event on; neighbours differ. How things stand in the middle of a step
/// is no phase: it lasts for nobody, and the picture shows the world after the whole step.
pub fn phases(run: &Run) -> Vec<Phase> {
    let teller = Teller { run };
    let mut turns = vec![EventId(0)];
    for interval in &run.judgement.intervals {
        if interval.kind == IntervalKind::Truth {
            turns.push(interval.began);
            turns.push(interval.ended.unwrap_or_else(|| first_from(run, interval.to)));
        }
    }
    for finding in &run.judgement.findings {
        if let Finding::Overlap { event, to, .. } = finding {
            turns.extend([*event, first_from(run, *to)]);
        }
    }
    sort(&mut turns);
    turns.dedup();
    turns.retain(|turn| (turn.0 as usize) < run.record.events.len());
    let mut phases: Vec<Phase> = Vec::new();
    for step in turns.chunk_by(|one, next| in_one_step(run, *one, *next)) {
        let [from, ..] = *step else { continue };
        let title = teller.phase(step.last().copied().unwrap_or(from));
        if phases.last().is_none_or(|p| p.title != title) {
            phases.push(Phase { from, title });
        }
    }
    phases
}

/// Whether all between two events is what one node did in one instant, and nothing reached it in between:
/// what arrives begins a step of its own.
fn in_one_step(run: &Run, one: EventId, next: EventId) -> bool {
    let events = run.record.events.get(one.0 as usize..=next.0 as usize).unwrap_or_default();
    let alike =
        |pair: &[Event<Testimony>]| (pair[0].node, pair[0].at) == (pair[1].node, pair[1].at);
    events.windows(2).all(|pair| alike(pair) && !matches!(pair[1].what, What::Deliver(_)))
}

/// The first event that happens at a moment or after it.
fn first_from(run: &Run, at: Micros) -> EventId {
    EventId(run.record.events.partition_point(|e| e.at < at) as u32)
}

impl Teller<'_> {
    /// How things stand once an event has happened.
    fn phase(&self, id: EventId) -> String {
        let locks = (0..self.run.names().locks.len() as u16).map(LockId);
        let parts: Vec<String> = locks.filter_map(|lock| self.standing(lock, id)).collect();
        match parts.len() {
            0 if self.run.names().locks.len() > 1 => "Nobody holds a lock".into(),
            0 => "Nobody holds the lock".into(),
            _ => parts.join("; "),
        }
    }

    fn standing(&self, lock: LockId, id: EventId) -> Option<String> {
        let several = self.run.names().locks.len() > 1;
        let name = one_line(self.run.names().lock(lock));
        let together = self.together(lock, id);
        if !together.is_empty() {
            let labels: Vec<String> = together.iter().map(|p| self.label(*p)).collect();
            let word = if labels.len() == 2 { "both" } else { "all" };
            let what = if several { format!(" it holds {name}") } else { String::new() };
            return Some(format!("{} {word} believe{what}", and(&labels)));
        }
        let holds = |i: &Interval| {
            let token = i.token.map_or_else(String::new, |t| format!(" {}", self.figure(t)));
            let what = match (several, token.is_empty()) {
                (true, _) => format!(" {name}{token}"),
                (false, true) => " the lock".into(),
                (false, false) => token,
            };
            format!("{} holds{what}", self.label(i.client))
        };
        let open = self.open_at(IntervalKind::Truth, id);
        // A truth whose time is up is over, whoever notices it when.
        let at = self.run.record.event(id).at;
        let open = open.filter(|i| i.lock == lock && i.ended != Some(id) && (i.open || at < i.to));
        let holders: Vec<String> = open.map(holds).collect();
        (!holders.is_empty()).then(|| and(&holders))
    }

    /// Who believes against each other at an event.
    fn together(&self, lock: LockId, id: EventId) -> Vec<ProcId> {
        let at = self.run.record.event(id).at;
        let mut who = Vec::new();
        for finding in &self.run.judgement.findings {
            if let Finding::Overlap { event, lock: of, to, clients, .. } = finding
                && *of == lock
                && *event <= id
                && at < *to
            {
                who.extend(clients);
            }
        }
        sort(&mut who);
        who.dedup();
        who
    }
}
