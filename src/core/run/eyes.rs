//! A run as one of its nodes has seen it: what it did itself, what it sent, what reached it, each by
//! its own clock. Whatever else happened is fog.
//!
//! A message is seen when it is read, not when it arrives: a process that stands still sees nothing.
//! Its own pauses it does not see either; afterwards its clock is further on than it should be. And a
//! process that starts again remembers nothing of its earlier life.

use super::kind;
use super::replay::Run;
use crate::judge::{Operation, Standing, Testimony};
use crate::sim::{ClockKind, Discard, Event, EventId, Local, MsgId, Outcome, ProcId, What, World};

/// One thing that a node has seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seen {
    /// The event.
    pub event: EventId,
    /// The event from which on it is known: a letter in the inbox of a paused process is read later.
    pub since: EventId,
    /// What its monotonic clock showed ...
    pub local: Local,
    /// ... and its others: wall and boot time.
    pub others: [Local; 2],
    /// In which way it concerns the node.
    pub what: Sight,
}

/// In which way something concerns a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sight {
    /// It did it, or says it of itself.
    Did,
    /// It sent this message.
    Sent(MsgId),
    /// It read this message.
    Got(MsgId),
    /// It learned that a connection to this peer is gone.
    Gone(ProcId),
}

/// All that a node has seen in a run, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Eyes {
    /// Whose.
    pub node: ProcId,
    /// What.
    pub seen: Vec<Seen>,
}

impl Eyes {
    /// Looks at a run through the eyes of a node.
    pub fn of(run: &Run, node: ProcId) -> Eyes {
        let mut watch = Watch { run, node, seen: Vec::new(), unread: Vec::new(), alive: true };
        let mut world = World::new(run.compiled.plan.clone());
        loop {
            let first = world.events();
            let stood = world.halt(node).is_some();
            if !world.step(&mut Discard) {
                break;
            }
            let [local, wall, boot] = [ClockKind::Mono, ClockKind::Wall, ClockKind::Boot]
                .map(|kind| world.clocks(node).get(kind).read(world.now()));
            let now = (local, [wall, boot]);
            watch.step(first..world.events(), now, stood, world.halt(node).is_some());
        }
        Eyes { node, seen: watch.seen }
    }

    /// What it has seen once this event has happened: nothing of an earlier life.
    pub fn until(&self, run: &Run, last: Option<EventId>) -> &[Seen] {
        let Some(last) = last else { return &[] };
        let seen = &self.seen[..self.seen.partition_point(|s| s.since <= last)];
        let starts =
            |s: &Seen| matches!(run.record.event(s.event).what, What::Start | What::Restart);
        let dies = |e: &Event<Testimony>| e.node == self.node && matches!(e.what, What::Crash(_));
        let events = &run.record.events;
        let past = events.get(..=last.0 as usize).unwrap_or(events);
        let died = past.iter().rposition(dies);
        let born = seen.iter().rposition(starts).unwrap_or(0);
        match (died, seen.get(born)) {
            // It is dead, and sees nothing.
            (Some(died), Some(start)) if start.event.0 < died as u32 => &[],
            _ => &seen[born..],
        }
    }
}

/// What its clocks show: the monotonic one, and the others.
type Now = (Local, [Local; 2]);

struct Watch<'r> {
    run: &'r Run,
    node: ProcId,
    seen: Vec<Seen>,
    /// What lies in the inbox.
    unread: Vec<(EventId, Sight)>,
    alive: bool,
}

impl Watch<'_> {
    /// Everything that one step of the world brought about.
    fn step(&mut self, events: std::ops::Range<u32>, now: Now, stood: bool, stands: bool) {
        let mut stood = stood;
        for id in events.clone().map(EventId) {
            let event = self.run.record.event(id);
            if event.node != self.node {
                continue;
            }
            match &event.what {
                What::Resume => stood = false,
                What::Crash(_) => {
                    self.alive = false;
                    self.unread.clear();
                }
                What::Start | What::Restart => self.alive = true,
                _ => {}
            }
            let Some(what) = sight(event).filter(|_| self.alive) else { continue };
            if matches!(what, Sight::Got(_) | Sight::Gone(_)) {
                if stood {
                    self.unread.push((id, what));
                    continue;
                }
            } else {
                self.read(event, id, now);
            }
            let (local, others) = now;
            self.seen.push(Seen { event: id, since: id, local, others, what });
        }
        if !stood
            && !stands
            && let Some(last) = events.last()
        {
            self.read_all(usize::MAX, EventId(last), now);
        }
    }

    /// Whatever a letter brings about, it was read before.
    fn read(&mut self, event: &Event<Testimony>, id: EventId, now: Now) {
        let letter = |u: &(EventId, Sight)| event.causes.iter().any(|c| c == u.0);
        if let Some(place) = self.unread.iter().position(letter) {
            self.read_all(place + 1, id, now);
        }
    }

    fn read_all(&mut self, count: usize, since: EventId, now: Now) {
        let count = count.min(self.unread.len());
        for (event, what) in self.unread.drain(..count) {
            let (local, others) = now;
            self.seen.push(Seen { event, since, local, others, what });
        }
    }
}

/// What a node makes of an event at its lane; nothing of what only the world knows.
fn sight(event: &Event<Testimony>) -> Option<Sight> {
    match event.what {
        What::Send(msg, _) => Some(Sight::Sent(msg)),
        What::Deliver(msg) => Some(Sight::Got(msg)),
        What::Reset(peer) => Some(Sight::Gone(peer)),
        What::Start
        | What::Restart
        | What::Work(_)
        | What::Sleep(_)
        | What::Handle(_)
        | What::End(_) => Some(Sight::Did),
        // When a truth will end by a perfect clock is for the judge alone.
        What::Note(Testimony::Expires(..) | Testimony::Moves(..)) => None,
        What::Note(_) => Some(Sight::Did),
        _ => None,
    }
}

/// How many things two nodes have seen alike, from the beginning of their runs: the same things by
/// the same readings of their own clocks.
pub fn alike(one: (&Run, &Eyes), other: (&Run, &Eyes)) -> usize {
    let pairs = one.1.seen.iter().zip(&other.1.seen);
    pairs
        .take_while(|(a, b)| {
            (a.local, a.others) == (b.local, b.others) && same(one.0, a, other.0, b)
        })
        .count()
}

fn same(one: &Run, a: &Seen, other: &Run, b: &Seen) -> bool {
    let message = |run: &Run, id: MsgId| {
        let info = run.record.message(id);
        (info.from, info.to, info.body.name, info.body.request, info.body.token)
    };
    let alike = match (a.what, b.what) {
        (Sight::Did, Sight::Did) => true,
        (Sight::Sent(a), Sight::Sent(b)) | (Sight::Got(a), Sight::Got(b)) => {
            message(one, a) == message(other, b)
        }
        (Sight::Gone(a), Sight::Gone(b)) => a == b,
        _ => false,
    };
    alike && gist(one, a.event) == gist(other, b.event)
}

/// What an event says to its node, without the numbers of events that only an observer has.
type Gist = (&'static str, Option<ProcId>, Option<u64>, Option<u16>, [i64; 3]);

fn gist(run: &Run, id: EventId) -> Gist {
    let event = run.record.event(id);
    // Whether it is a first start or another one, a process cannot tell.
    let kind = if event.what == What::Restart { "start" } else { kind::kind(event) };
    let client = kind::client(&run.record, event);
    let token = kind::token(&run.record, event).map(|t| t.0);
    let lock = kind::lock(&run.record, id, event).map(|l| l.0);
    let more = match (event.note(), &event.what) {
        (Some(note), _) => said(run, note),
        (None, What::Work(span) | What::Sleep(span)) => [span.0 as i64, 0, 0],
        (None, What::Handle(task) | What::End(task)) => [*task as i64, 0, 0],
        _ => [0; 3],
    };
    (kind, client, token, lock, more)
}

fn said(run: &Run, note: &Testimony) -> [i64; 3] {
    let at = |op: &Operation| [i64::from(op.cell.0), i64::from(op.section.number)];
    let outcome = |o: Outcome| o as i64;
    match note {
        Testimony::Answer(_, ask, o) => [*ask as i64, outcome(*o), 0],
        Testimony::Told(section, o) => [i64::from(section.number), outcome(*o), 0],
        Testimony::Ask { ask, first, .. } => [*ask as i64, i64::from(*first), 0],
        Testimony::Session(state) => [*state as i64, 0, 0],
        Testimony::Check(_, holds) => [i64::from(*holds), 0, 0],
        Testimony::Doubt(_, why) => [*why as i64, 0, 0],
        Testimony::Close(section, why) => [i64::from(section.number), *why as i64, 0],
        Testimony::Begin(section) => [i64::from(section.number), 0, 0],
        Testimony::Job(_, job) => [i64::from(*job), 0, 0],
        Testimony::Write(op, write) | Testimony::Accept(op, write, ..) => {
            [at(op)[0], at(op)[1], write.value]
        }
        Testimony::Serve(op, version, value) => [at(op)[0], i64::from(*version), *value],
        Testimony::Reject(op, write, _) => [at(op)[0], at(op)[1], write.map_or(0, |w| w.0.value)],
        Testimony::Read(op) => [at(op)[0], at(op)[1], 0],
        Testimony::Learn(served) => {
            match run.record.events.get(served.0 as usize).and_then(|e| e.note()) {
                Some(served @ Testimony::Serve(..)) => said(run, served),
                _ => [0; 3],
            }
        }
        Testimony::Grant { term, mode, woken, .. } => {
            [term.map_or(0, |t| t.0 as i64), *mode as i64, i64::from(*woken)]
        }
        Testimony::Stand(Standing::Leads(term)) => [0, i64::from(*term), 0],
        Testimony::Stand(Standing::Follows(whom)) => [1, i64::from(whom.0), 0],
        Testimony::Stand(Standing::Seeks) => [2, 0, 0],
        Testimony::Decide(_, ballot) => [ballot.bits(), 0, 0],
        Testimony::Line(_, seats) => {
            let last = seats.last().map_or(0, |seat| seat.number);
            [seats.len() as i64, seats.first().map_or(0, |seat| seat.number), last]
        }
        Testimony::Watched { of, .. } => [of.map_or(-1, |of| i64::from(of.0)), 0, 0],
        Testimony::Lead(after) => [i64::from(after.0), 0, 0],
        Testimony::Decline(_, _, ask) => [*ask as i64, 0, 0],
        Testimony::Count(_, ask, ballot, elapsed, left) => {
            let left = left.map_or(-1, |left| left.0 as i64);
            [ballot.bits() << 8 | *ask as i64, elapsed.0 as i64, left]
        }
        Testimony::Extend(_, term, _) => [term.map_or(0, |t| t.0 as i64), 0, 0],
        _ => [0; 3],
    }
}
