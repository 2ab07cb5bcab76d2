//! Why an event happened: the record's causes, walked back to where they began.
//!
//! The record says what each handler and each line of a program was brought about by. A line of a
//! program also follows from every line before it, which explains nothing, so the walk leaves a
//! program at what it acts upon: the belief under which it sends, the pause from which it wakes. And
//! a server answers out of what it has become: the walk goes on from there to the events that made
//! it so.

mod judged;
mod since;

pub use since::forgotten;

use super::kind::{self, Weight};
use super::replay::Run;
use crate::judge::{Ask, Grant, Interval, IntervalKind, LockId, Operation, Rejection};
use crate::judge::{Testimony, TruthEnd};
use crate::sim::{Event, EventId, MessageInfo, Micros, MsgId, ProcId, What, sort};
use crate::systems::Body;

/// How many steps a story of causes has at most; what lies in its middle is left out.
const MOST_STEPS: usize = 12;
/// How many of them stand before the gap.
const BEFORE_GAP: usize = 3;

/// The story of an event, from its first cause to itself.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Steps {
    /// The events that a reader needs, in order; the last one is the event itself.
    pub events: Vec<EventId>,
    /// How many more were left out, behind the first few.
    pub left_out: usize,
}

/// The causes of an event and theirs, back to the beginning: in order, the event itself at the end.
pub fn thread(run: &Run, id: EventId) -> Vec<EventId> {
    let length = (id.0 as usize + 1).min(run.record.events.len());
    let mut part = vec![false; length];
    if let Some(last) = part.last_mut() {
        *last = true;
    }
    // Every reason lies before what it explains, so one pass backwards finds them all.
    for index in (0..length).rev() {
        if !part[index] {
            continue;
        }
        let event = &run.record.events[index];
        let mut found = reasons(run, EventId(index as u32));
        let itself = index + 1 == length;
        if itself && found.is_empty() {
            // Where a story would be the event alone, the line of the program before it says more.
            found.extend(event.causes.iter());
        }
        let waits = matches!(
            event.note(),
            Some(Testimony::Queue(..) | Testimony::Refuse(_, _, Ask::Acquire))
        );
        if waits && !itself {
            // That somebody had to wait explains what came after; how the one before him came to
            // hold, and the one before that, is another story.
            found = event.causes.iter().collect();
        }
        for reason in found {
            part[reason.0 as usize] = true;
        }
    }
    (0..length).filter(|i| part[*i]).map(|i| EventId(i as u32)).collect()
}

/// The events of a thread that tell its story: what set out, what was decided, what went wrong, and
/// what led to the event at once.
pub fn steps(run: &Run, thread: &[EventId]) -> Steps {
    let Some(last) = thread.last().copied() else { return Steps::default() };
    let at_once = at_once(run, last);
    let weighs = |id: &EventId, least| kind::weight(run.record.event(*id)) >= least;
    let first = thread.iter().position(|id| weighs(id, Weight::Step));
    let told = |(index, id): &(usize, &EventId)| {
        Some(*index) == first
            || **id == last
            || at_once.contains(id)
            || weighs(id, Weight::Decision)
            || went_wrong(&run.record.event(**id).what)
    };
    let told = thread.iter().enumerate().filter(told).map(|(_, id)| *id);
    let mut events: Vec<EventId> = told.collect();
    let decisive: Vec<EventId> = events.iter().flat_map(|id| since::decisive(run, *id)).collect();
    events.extend(decisive);
    sort(&mut events);
    events.dedup();
    let left_out = events.len().saturating_sub(MOST_STEPS);
    if left_out > 0 {
        events.drain(BEFORE_GAP..BEFORE_GAP + left_out);
    }
    Steps { events, left_out }
}

/// What happens to a run from outside of every program.
fn went_wrong(what: &What<Testimony>) -> bool {
    matches!(
        what,
        What::Cut(_)
            | What::Heal(_)
            | What::Hold(_)
            | What::Lose(_)
            | What::Reset(_)
            | What::ClockStep(_)
            | What::ClockRate(_)
            | What::Set(_)
            | What::Outside(_)
            | What::Restart
            | What::Copy(..)
            | What::PauseTask(..)
    )
}

/// The nearest reasons that are worth a sentence.
fn at_once(run: &Run, id: EventId) -> Vec<EventId> {
    let (mut near, mut found) = (reasons(run, id), Vec::new());
    while let Some(reason) = near.pop() {
        if kind::weight(run.record.event(reason)) > Weight::Detail {
            found.push(reason);
        } else {
            near.extend(reasons(run, reason));
        }
    }
    found
}

/// Why an event happened: what its node knew of, and what only an observer can relate to it.
pub fn reasons(run: &Run, id: EventId) -> Vec<EventId> {
    let mut found = known(run, id);
    found.extend(observed(run, id));
    found.retain(|reason| *reason < id);
    sort(&mut found);
    found.dedup();
    found
}

/// The reasons that had reached the event's node: it could not have happened so without them.
pub fn known(run: &Run, id: EventId) -> Vec<EventId> {
    let Some(event) = run.record.events.get(id.0 as usize) else { return Vec::new() };
    let walk = Walk { run, id, event };
    let mut found = match event.note() {
        Some(note) => walk.of_note(note),
        None => walk.of_happening(),
    };
    found.retain(|reason| *reason < id);
    found
}

/// What an observer of the whole run relates to an event: what kept a message or an answer away, or a
/// client silent, and what the judge saw.
pub fn observed(run: &Run, id: EventId) -> Vec<EventId> {
    let Some(event) = run.record.events.get(id.0 as usize) else { return Vec::new() };
    let walk = Walk { run, id, event };
    let mut found = match (&event.what, event.note()) {
        (What::Deliver(msg), _) => walk.delayed(*msg),
        (_, Some(Testimony::Answer(_, _, outcome) | Testimony::Told(_, outcome)))
            if outcome.unknown() =>
        {
            walk.asked().map_or_else(Vec::new, |msg| walk.kept_away(msg))
        }
        (_, Some(Testimony::Lapse { client, heard, silent, span, .. })) => {
            // A clock that stood still since then no longer knows when that was.
            let counted = Micros(event.at.0.saturating_sub(silent.0));
            walk.silence(*client, counted.min(*heard), *span)
        }
        (_, Some(Testimony::Doubt(..))) => {
            walk.vain_renewals().into_iter().flat_map(|(_, msg)| walk.kept_away(msg)).collect()
        }
        _ => Vec::new(),
    };
    let all = &run.judgement.findings;
    let first = all.partition_point(|f| f.event() < id);
    for finding in all[first..].iter().take_while(|f| f.event() == id) {
        found.extend(walk.judged(finding));
    }
    found.retain(|reason| *reason < id);
    found
}

/// The event that made a resource refuse an operation, where one did.
pub fn refuser(run: &Run, id: EventId) -> Option<EventId> {
    let event = run.record.events.get(id.0 as usize)?;
    match event.note()? {
        Testimony::Reject(op, _, why) => Walk { run, id, event }.refused(op, *why),
        _ => None,
    }
}

/// The message that answers a request, if one was sent before this event.
pub fn answer(run: &Run, asked: MsgId, before: EventId) -> Option<MsgId> {
    let messages = &run.record.messages;
    let request = messages.get(asked.0 as usize)?;
    let answers = |m: &&MessageInfo<Body>| {
        (m.from, m.to, m.body.request) == (request.to, request.from, request.body.request)
    };
    let later = messages.iter().enumerate().skip(asked.0 as usize);
    let sent = later.take_while(|(_, m)| m.sent <= before).filter(|(_, m)| answers(m));
    // A request may be answered in two steps: the last one counts.
    sent.last().map(|(index, _)| MsgId(index as u32))
}

/// The end of a grant's truth, where it ended before an event.
pub fn ended(run: &Run, grant: Grant, before: EventId) -> Option<EventId> {
    let mut truths = run.judgement.intervals.iter();
    truths
        .find(|i| i.kind == IntervalKind::Truth && i.grant == grant)?
        .ended
        .filter(|end| *end < before)
}

struct Walk<'r> {
    run: &'r Run,
    id: EventId,
    event: &'r Event<Testimony>,
}

impl<'r> Walk<'r> {
    fn causes(&self) -> Vec<EventId> {
        self.event.causes.iter().collect()
    }

    /// The events before this one, the latest first.
    fn before(&self) -> impl Iterator<Item = (EventId, &'r Event<Testimony>)> + 'r {
        let events = &self.run.record.events[..self.id.0 as usize];
        events.iter().enumerate().rev().map(|(i, e)| (EventId(i as u32), e))
    }

    /// The latest event of a node before this one that fits.
    fn last(&self, node: ProcId, fits: impl Fn(&Event<Testimony>) -> bool) -> Option<EventId> {
        let mut before = self.before();
        before.find(|(_, e)| e.node == node && fits(e)).map(|(id, _)| id)
    }

    /// The same for what a node says of itself.
    fn said(&self, node: ProcId, fits: impl Fn(&Testimony) -> bool) -> Option<EventId> {
        self.last(node, |e| e.note().is_some_and(&fits))
    }

    fn of_note(&self, note: &Testimony) -> Vec<EventId> {
        let me = self.event.node;
        match note {
            // Asking and giving back are the program's own will.
            Testimony::Ask { ask: Ask::Acquire, first: true, .. }
            | Testimony::Ask { ask: Ask::Release, .. } => self.wakes(),
            Testimony::Ask { ask: Ask::Acquire, lock, .. } => {
                let first = self.said(me, |n| {
                    matches!(n, Testimony::Ask { ask: Ask::Acquire, first: true, lock: l, .. } if l == lock)
                });
                [self.wakes(), first.into_iter().collect()].concat()
            }
            Testimony::Ask { ask: Ask::Renew, lock, .. } | Testimony::Check(lock, _) => {
                let belief = |n: &Testimony| matches!(n, Testimony::Believe(l, ..) if l == lock);
                self.under(*lock, self.said(me, belief))
            }
            Testimony::Read(op) | Testimony::Write(op, _) => {
                let belief = op.grant.and_then(|grant| {
                    self.said(me, |n| matches!(n, Testimony::Believe(_, g, _) if *g == grant))
                });
                self.under(op.lock, belief)
            }
            Testimony::Doubt(..) => {
                let asked = self.vain_renewals().into_iter().map(|(id, _)| id);
                [self.causes(), asked.collect()].concat()
            }
            Testimony::Lapse { heard, .. } => self.counts_since(*heard),
            Testimony::Free(grant, TruthEnd::Expired(_)) => {
                [self.causes(), self.counted_by(*grant)].concat()
            }
            Testimony::Accept(op, ..)
            | Testimony::Admit(op, ..)
            | Testimony::Mark(op)
            | Testimony::Serve(op, ..) => {
                [self.causes(), self.let_in(op).into_iter().collect()].concat()
            }
            Testimony::Grant { lock, client, .. } => {
                let queued = self
                    .said(me, |n| matches!(n, Testimony::Queue(l, c) if (l, c) == (lock, client)));
                let ran_out = |n: &Testimony| match n {
                    Testimony::Free(grant, why) => {
                        *why != TruthEnd::Released && self.lock_of(*grant) == Some(*lock)
                    }
                    _ => false,
                };
                // What was given back is free; what ran out was somebody's.
                let freed = self.said(me, ran_out);
                [self.causes(), queued.into_iter().chain(freed).collect()].concat()
            }
            Testimony::Queue(lock, client) | Testimony::Refuse(lock, client, Ask::Acquire) => {
                let other = self.truths(*lock).any(|i| i.client != *client);
                // Whoever started again may stand in its own way.
                let held = self.truths(*lock).filter(|i| !other || i.client != *client);
                let held = held.map(|i| i.began);
                [self.causes(), held.collect()].concat()
            }
            Testimony::Refuse(lock, client, _) => {
                let truths = self.run.judgement.intervals.iter();
                let own = truths.filter(|i| {
                    i.kind == IntervalKind::Truth && (i.lock, i.client) == (*lock, *client)
                });
                let ended = own.filter_map(|i| i.ended).filter(|end| *end < self.id).max();
                [self.causes(), ended.into_iter().collect()].concat()
            }
            Testimony::Reject(op, _, why) => {
                [self.causes(), self.refused(op, *why).into_iter().collect()].concat()
            }
            _ => self.causes(),
        }
    }

    fn of_happening(&self) -> Vec<EventId> {
        let me = self.event.node;
        let earlier = match self.event.what {
            // Of pauses that unite, each is a reason.
            What::Resume => {
                let woken = self.last(me, |e| e.what == What::Resume).map_or(0, |e| e.0);
                let paused = |(_, e): &(EventId, &Event<Testimony>)| {
                    e.node == me && matches!(e.what, What::Halt(..))
                };
                self.before()
                    .take_while(|(id, _)| id.0 >= woken)
                    .filter(paused)
                    .map(|p| p.0)
                    .collect()
            }
            What::Restart => {
                self.last(me, |e| matches!(e.what, What::Crash(_))).into_iter().collect()
            }
            What::Hold(msg) => {
                let to = self.run.record.message(msg).to;
                self.last(me, |e| e.what == What::Cut(to)).into_iter().collect()
            }
            // Why an edit stops a process just there is not in the run.
            What::Halt(..) => return Vec::new(),
            _ => Vec::new(),
        };
        [self.causes(), earlier].concat()
    }

    /// What woke the program that executes a line here: a pause that ended, a notice.
    fn wakes(&self) -> Vec<EventId> {
        let (mut near, mut found) = (self.causes(), Vec::new());
        while let Some(id) = near.pop() {
            let cause = self.run.record.event(id);
            match cause.what {
                What::Resume | What::Handle(_) => found.push(id),
                // One line may say several things in one instant.
                What::Note(_) if (cause.node, cause.at) == (self.event.node, self.event.at) => {
                    near.extend(cause.causes.iter());
                }
                _ => {}
            }
        }
        found
    }

    /// A line that is executed under a belief, or after it ended; without one, it follows from the
    /// line before.
    fn under(&self, lock: LockId, belief: Option<EventId>) -> Vec<EventId> {
        match belief {
            Some(belief) => {
                let lost = self.lost(lock, belief).into_iter();
                [self.wakes(), vec![belief], lost.collect()].concat()
            }
            None => self.causes(),
        }
    }

    fn lock_of(&self, grant: Grant) -> Option<LockId> {
        match self.run.record.events.get(grant.0.0 as usize)?.note()? {
            Testimony::Grant { lock, .. } => Some(*lock),
            _ => None,
        }
    }

    /// The truths of a lock that were open just before this event.
    fn truths(&self, lock: LockId) -> impl Iterator<Item = &'r Interval> + use<'r> {
        let id = self.id;
        self.run.judgement.intervals.iter().filter(move |i| {
            let open = i.began < id && i.ended.is_none_or(|end| end > id);
            i.kind == IntervalKind::Truth && i.lock == lock && open
        })
    }

    /// What at the resource made it refuse an operation.
    fn refused(&self, op: &Operation, why: Rejection) -> Option<EventId> {
        let me = self.event.node;
        match why {
            Rejection::Lower(seen) | Rejection::Again(seen) => {
                let shown = |n: &Testimony, lock: Option<LockId>| match n {
                    Testimony::Accept(other, ..) | Testimony::Serve(other, ..) => {
                        lock.is_none_or(|l| l == other.lock) && other.token == Some(seen)
                    }
                    Testimony::Hand(of, token, None) => {
                        lock.is_none_or(|l| l == *of) && *token == seen
                    }
                    _ => false,
                };
                // Where one mark is kept for all locks, it may be another's.
                let own = self.said(me, |n| shown(n, Some(op.lock)));
                own.or_else(|| self.said(me, |n| shown(n, None)))
            }
            Rejection::Version => self
                .said(me, |n| matches!(n, Testimony::Accept(other, ..) if other.cell == op.cell)),
            _ => None,
        }
    }

    /// What held a message up on its way.
    fn delayed(&self, msg: MsgId) -> Vec<EventId> {
        let held = self.before().find(|(_, e)| e.what == What::Hold(msg)).map(|(id, _)| id);
        let info = self.run.record.message(msg);
        let healed = held.and_then(|held| {
            let healed = |e: &Event<Testimony>| e.what == What::Heal(info.to);
            self.last(info.from, healed).filter(|heal| *heal > held)
        });
        held.into_iter().chain(healed).collect()
    }

    /// The request whose answer this event gave up: the message that its causes lead to.
    fn asked(&self) -> Option<MsgId> {
        let mut causes = self.causes();
        // A reset, or a timer that was set with the request.
        while let Some(cause) = causes.pop() {
            let event = self.run.record.event(cause);
            match event.message() {
                Some(msg) if event.node == self.event.node => return Some(msg),
                _ => causes.extend(event.causes.iter()),
            }
        }
        None
    }

    /// Why no answer to a request had come: it or its answer was lost or held, or its receiver stood
    /// still.
    fn kept_away(&self, asked: MsgId) -> Vec<EventId> {
        let answer = answer(self.run, asked, self.id);
        let of_message = |msg: MsgId| {
            let lost = self.run.record.message(msg).lost;
            let held = self.before().find(|(_, e)| e.what == What::Hold(msg)).map(|(id, _)| id);
            lost.into_iter().chain(held)
        };
        let mut found: Vec<EventId> =
            [Some(asked), answer].into_iter().flatten().flat_map(of_message).collect();
        if found.is_empty() && answer.is_none() {
            let peer = self.run.record.message(asked).to;
            let stands = |e: &Event<Testimony>| {
                matches!(e.what, What::Halt(..) | What::Resume | What::Crash(_) | What::Restart)
            };
            found.extend(self.last(peer, stands).filter(|id| {
                matches!(self.run.record.event(*id).what, What::Halt(..) | What::Crash(_))
            }));
        }
        found
    }
}
