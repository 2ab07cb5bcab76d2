//! The event record: what happened, in order, and why. It lives beside the world.

use super::actor::{CrashKind, Domain, Halt, ProcId};
use super::time::{Micros, Ratio};
use super::wire::ConnId;

/// The index of an event in its record.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EventId(pub u32);

/// The index of a message in its record, in the order of sending.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MsgId(pub u32);

/// Up to three events that brought another one about, the nearest first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Causes([u32; 3]);

/// No event has this id: a run ends long before.
const NOBODY: u32 = u32::MAX;

impl Default for Causes {
    fn default() -> Causes {
        Causes::NONE
    }
}

impl Causes {
    /// Nothing in the run: an edit or the start.
    pub const NONE: Causes = Causes([NOBODY; 3]);

    /// A single cause.
    pub const fn one(id: EventId) -> Causes {
        Causes([id.0, NOBODY, NOBODY])
    }

    /// These causes and one more, if it is new and there is room.
    #[must_use]
    pub fn and(mut self, id: Option<EventId>) -> Causes {
        let Some(id) = id else { return self };
        let known = self.0.contains(&id.0);
        if let Some(free) = self.0.iter_mut().find(|c| **c == NOBODY && !known) {
            *free = id.0;
        }
        self
    }

    /// The causes, nearest first.
    pub fn iter(&self) -> impl Iterator<Item = EventId> + '_ {
        self.0.iter().filter(|c| **c != NOBODY).map(|c| EventId(*c))
    }
}

/// What an event is. Closed: every reader of records handles every case.
#[derive(Clone, PartialEq, Debug)]
pub enum What<N> {
    /// A process starts for the first time.
    Start,
    /// A message leaves; a note says what its sender does with it, where it does more than answer.
    Send(MsgId, Option<N>),
    /// A copy of a message, which its sender knows nothing of, leaves on a connection of its own:
    /// the copy, and what it is a copy of.
    Copy(MsgId, MsgId),
    /// A message reaches its process's inbox.
    Deliver(MsgId),
    /// A message that will never arrive: dropped, behind a dropped one, or nobody is there.
    Lose(MsgId),
    /// A message reached the place of a cut and is held there until the link heals.
    Hold(MsgId),
    /// A connection of a process is gone: the peer died, or lives another life. A process that stands
    /// still learns of it when it goes on.
    Reset(ProcId),
    /// A task begins to use the processor for that long.
    Work(Micros),
    /// A task sets a timer and waits.
    Sleep(Micros),
    /// A notice starts a handler task with this index.
    Handle(usize),
    /// A task ended. The process ends with its first task.
    End(usize),
    /// A process stops for that long; which of its clocks run on depends on how.
    Halt(Halt, Micros),
    /// A stopped process goes on.
    Resume,
    /// Clocks that stood still run again, under a stop of another kind that lasts longer.
    Wake,
    /// One task of a process stops for that long.
    PauseTask(usize, Micros),
    /// It goes on.
    ResumeTask(usize),
    /// A process dies.
    Crash(CrashKind),
    /// A crashed process starts again.
    Restart,
    /// The way from this event's node to that one is cut.
    Cut(ProcId),
    /// It is whole again.
    Heal(ProcId),
    /// A clock is stepped by that many microseconds.
    ClockStep(i64),
    /// A clock runs at another rate.
    ClockRate(Ratio),
    /// A setting changed from here on; the index counts the scenario's changes.
    Set(usize),
    /// A message that no process has sent reaches its process's inbox; the index is the edit's.
    Outside(usize),
    /// A limit is reached, and the run ends.
    Limit(Limit),
    /// What an actor says of itself.
    Note(N),
}

/// What a run can have too much of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// Its node's program executed [`super::MOST_STEPS`] lines in a row and never waited.
    Steps,
    /// The run has [`super::MOST_EVENTS`] events.
    Events,
    /// [`super::MOST_AT_ONCE`] events lie at one moment: time does not go on.
    AtOnce,
}

/// One thing that happened.
#[derive(Clone, PartialEq, Debug)]
pub struct Event<N> {
    /// When, in true time.
    pub at: Micros,
    /// Where.
    pub node: ProcId,
    /// What.
    pub what: What<N>,
    /// Why.
    pub causes: Causes,
}

impl<N> Event<N> {
    /// What an actor says of itself with this event.
    pub fn note(&self) -> Option<&N> {
        match &self.what {
            What::Note(note) | What::Send(_, Some(note)) => Some(note),
            _ => None,
        }
    }

    /// The message that this event is about.
    pub fn message(&self) -> Option<MsgId> {
        match self.what {
            What::Send(id, _)
            | What::Copy(id, _)
            | What::Deliver(id)
            | What::Lose(id)
            | What::Hold(id) => Some(id),
            _ => None,
        }
    }
}

/// What is known of a message that was sent.
#[derive(Clone, Debug)]
pub struct MessageInfo<B> {
    /// The sender.
    pub from: ProcId,
    /// The receiver.
    pub to: ProcId,
    /// The connection it went on; each direction of it is one FIFO stream.
    pub conn: ConnId,
    /// Which send of that ordered pair, from 1: the number of `client-a>resource#1`. A copy has
    /// the number of its original.
    pub number: u32,
    /// What it is a copy of.
    pub copy_of: Option<MsgId>,
    /// Content.
    pub body: B,
    /// The event of its sending.
    pub sent: EventId,
    /// The event of its arrival, if it arrived.
    pub delivered: Option<EventId>,
    /// The event of its loss, if it was lost.
    pub lost: Option<EventId>,
}

/// Where a world writes what happens.
pub trait Sink<D: Domain> {
    /// Takes the next event; ids count up from 0.
    fn event(&mut self, event: Event<D::Note>);
    /// Takes the next message, not yet delivered or lost; ids count up from 0. Its sending is the
    /// next event.
    fn message(&mut self, message: MessageInfo<D::Body>);
}

/// A sink that forgets: for seeking, where the record exists already.
#[derive(Clone, Copy, Debug)]
pub struct Discard;

impl<D: Domain> Sink<D> for Discard {
    fn event(&mut self, _: Event<D::Note>) {}
    fn message(&mut self, _: MessageInfo<D::Body>) {}
}

/// All events and messages of a run.
#[derive(Debug)]
pub struct Record<D: Domain> {
    /// Events in order; [`EventId`] is the index.
    pub events: Vec<Event<D::Note>>,
    /// Messages in the order of sending; [`MsgId`] is the index.
    pub messages: Vec<MessageInfo<D::Body>>,
}

impl<D: Domain> Default for Record<D> {
    fn default() -> Self {
        Record { events: Vec::new(), messages: Vec::new() }
    }
}

impl<D: Domain> Record<D> {
    /// The event with this id.
    pub fn event(&self, id: EventId) -> &Event<D::Note> {
        &self.events[id.0 as usize]
    }

    /// The message with this id.
    pub fn message(&self, id: MsgId) -> &MessageInfo<D::Body> {
        &self.messages[id.0 as usize]
    }

    /// The event in which its sender sent a message; for a copy, that of its original.
    pub fn sending(&self, id: MsgId) -> EventId {
        let message = self.message(id);
        message.copy_of.map_or(message.sent, |of| self.message(of).sent)
    }
}

impl<D: Domain> Sink<D> for Record<D> {
    fn event(&mut self, event: Event<D::Note>) {
        let id = EventId(self.events.len() as u32);
        match event.what {
            What::Deliver(msg) => self.messages[msg.0 as usize].delivered = Some(id),
            What::Lose(msg) => self.messages[msg.0 as usize].lost = Some(id),
            _ => {}
        }
        self.events.push(event);
    }

    fn message(&mut self, message: MessageInfo<D::Body>) {
        self.messages.push(message);
    }
}
