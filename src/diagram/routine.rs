//! Exchanges that repeat what was seen before, and which of them disappear in folds.

use super::fans::Fan;
use super::story::IDLE;
use crate::judge::{Ask, Testimony};
use crate::run::Run;
use crate::sim::{EventId, Micros, MsgId, ProcId, Set, Table, sort, sort_by_key};

/// A request and its answer that repeat what was seen before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Routine {
    Refused,
    Renewed,
}

#[derive(Clone, Debug)]
pub(super) struct Exchange {
    pub messages: Vec<MsgId>,
    /// What else was said in it that would have a mark of its own.
    pub events: Vec<EventId>,
    pub routine: Option<Routine>,
    pub from: Micros,
    pub to: Micros,
}

impl Exchange {
    /// The moments at which something of it is drawn.
    fn moments<'r>(&'r self, run: &'r Run) -> impl Iterator<Item = Micros> + 'r {
        self.messages.iter().flat_map(move |id| {
            let info = run.record.message(*id);
            let both = [Some(info.sent), info.delivered];
            both.into_iter().flatten().map(move |event| run.record.event(event).at)
        })
    }

    /// Whether an idle stretch between two moments that are drawn holds it entirely.
    fn lies_within(&self, (from, to): (Micros, Micros)) -> bool {
        from < self.from && self.to < to && to.since(from) >= IDLE
    }
}

/// Keeps of the exchanges those that an idle stretch holds entirely, and adds the moments of the others
/// to those that are drawn, sorted.
///
/// An exchange that is drawn makes the stretches beside it shorter, so that the next one may have to
/// be drawn as well: a way from the front and one from the back follow each such chain to its end.
pub(super) fn draw(run: &Run, exchanges: &mut Vec<Exchange>, moments: &mut Vec<Micros>) {
    loop {
        let before = exchanges.len();
        for front in [true, false] {
            sort(moments);
            moments.dedup();
            let known = std::mem::take(moments);
            let mut drawn = Vec::new();
            if front {
                from_front(run, exchanges, &known, &mut drawn);
            } else {
                from_back(run, exchanges, &known, &mut drawn);
            }
            *moments = known;
            moments.append(&mut drawn);
        }
        if exchanges.len() == before {
            return;
        }
    }
}

/// The moments around one.
fn around(known: &[Micros], at: Micros) -> (Micros, Micros) {
    let next = known.partition_point(|m| *m < at);
    let before = next.checked_sub(1).and_then(|i| known.get(i)).copied();
    // Nothing lies strictly between a moment and itself.
    (before.unwrap_or(at), known.get(next).copied().unwrap_or(at))
}

fn from_front(run: &Run, exchanges: &mut Vec<Exchange>, known: &[Micros], drawn: &mut Vec<Micros>) {
    // Of what was drawn on this way: the last moment that lies behind, and those that lie ahead.
    let (mut passed, mut ahead) = (Micros::ZERO, Vec::new());
    exchanges.retain(|exchange| {
        ahead.retain(|at: &Micros| {
            let behind = *at < exchange.from;
            if behind {
                passed = passed.max(*at);
            }
            !behind
        });
        let (from, to) = around(known, exchange.from);
        let to = ahead.iter().copied().fold(to, Micros::min);
        let folded = exchange.lies_within((from.max(passed), to));
        if !folded {
            let start = drawn.len();
            drawn.extend(exchange.moments(run));
            ahead.extend_from_slice(&drawn[start..]);
        }
        folded
    });
}

fn from_back(run: &Run, exchanges: &mut Vec<Exchange>, known: &[Micros], drawn: &mut Vec<Micros>) {
    // Whatever is drawn on this way lies behind the exchanges that are still to come.
    let mut least = Micros(u64::MAX);
    exchanges.reverse();
    exchanges.retain(|exchange| {
        let (from, to) = around(known, exchange.from);
        let folded = exchange.lies_within((from, to.min(least)));
        if !folded {
            drawn.extend(exchange.moments(run));
            least = exchange.moments(run).fold(least, Micros::min);
        }
        folded
    });
    exchanges.reverse();
}

/// Refused polls and accepted renewals, each but the first of its kind, in the order of time.
pub(super) fn exchanges(run: &Run, fans: &[Fan]) -> Vec<Exchange> {
    let record = &run.record;
    // A request's number counts for its client; its answer repeats it.
    let mut answers: Table<(ProcId, ProcId, u64), MsgId> = Table::new();
    for (index, info) in record.messages.iter().enumerate() {
        if info.copy_of.is_none() {
            answers.insert((info.from, info.to, info.body.request), MsgId(index as u32));
        }
    }
    let mut renewed: Set<ProcId> = Set::new();
    let mut found: Vec<Exchange> = Vec::new();
    for event in &record.events {
        let routine = match event.note() {
            Some(Testimony::Refuse(_, _, Ask::Acquire)) => Routine::Refused,
            Some(Testimony::Extend(..)) => Routine::Renewed,
            Some(Testimony::Believe(..)) => {
                renewed.remove(&event.node);
                continue;
            }
            _ => continue,
        };
        let cause = event.causes.iter().next().and_then(|c| record.event(c).message());
        let Some(asked) = cause else { continue };
        let info = record.message(asked);
        let again = match record.event(record.sending(asked)).note() {
            Some(Testimony::Ask { ask: Ask::Acquire, first, .. }) => !first,
            Some(Testimony::Ask { ask: Ask::Renew, .. }) => !renewed.insert(info.from),
            _ => false,
        };
        let Some(answer) = answers.get(&(info.to, info.from, info.body.request)) else { continue };
        let (Some(last), true) = (record.message(*answer).delivered, again) else { continue };
        let (from, to) = (record.event(info.sent).at, record.event(last).at);
        let messages = vec![asked, *answer];
        found.push(Exchange { messages, events: Vec::new(), routine: Some(routine), from, to });
    }
    found.extend(super::fans::refused(run, fans));
    sort_by_key(&mut found, |e| (e.from, e.messages.first().copied()));
    found
}
