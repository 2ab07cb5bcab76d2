//! What a learner breaks at the play head, and the edit that it becomes.

use super::state::{Action, State};
use super::strings;
use crate::judge::Testimony;
use crate::narrate;
use crate::run::{Action as Deed, Edit, MOST_EDITS, NodeKind, Ways, When, Whom, kind};
use crate::sim::{CrashKind, Halt, Micros, ProcId, Ratio, What};

/// The words of a program that a pause can wait for here.
pub const OCCASIONS: [&str; 8] =
    ["write", "read", "acquire", "enter", "list", "watch", "await", "release"];

/// What a learner does to the run at the play head.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// A process stops for that long.
    Pause(ProcId, Micros),
    /// A client stops for that long just before its program executes this word for the next time.
    PauseBefore(ProcId, &'static str, Micros),
    /// The host of a process sleeps for that long.
    Suspend(ProcId, Micros),
    /// Its machine is frozen for that long.
    Freeze(ProcId, Micros),
    /// One of its tasks stops for that long.
    PauseTask(ProcId, usize, Micros),
    /// A process is killed.
    Crash(ProcId),
    /// Its machine loses power.
    PowerOff(ProcId),
    /// It is shut down in order.
    ShutDown(ProcId),
    /// A dead process starts again.
    Restart(ProcId),
    /// All ways between two sides are cut for that long.
    CutSides(Vec<ProcId>, Vec<ProcId>, Micros),
    /// All ways between two sides are whole again.
    HealSides(Vec<ProcId>, Vec<ProcId>),
    /// The way between two is cut for that long; without a second one, the way to everybody.
    Cut(ProcId, Option<ProcId>, Micros),
    /// Only the way from the first to the second is.
    CutOneWay(ProcId, ProcId, Micros),
    /// The way between two is whole again.
    Heal(ProcId, Option<ProcId>),
    /// The next message from one to the other is lost.
    Lose(ProcId, ProcId),
    /// It is held for that long.
    Delay(ProcId, ProcId, Micros),
    /// A copy of it arrives that much later.
    Duplicate(ProcId, ProcId, Micros),
    /// The wall clock of a process is set forward, or back, by that much.
    Clock(ProcId, bool, Micros),
    /// All its clocks run at that rate.
    Rate(ProcId, Ratio),
}

impl State {
    /// Whether an action would add an edit to a run that has as many as a run may have.
    pub(super) fn is_full(&self, action: &Action) -> bool {
        let adds = match action {
            Action::Break(_) | Action::Send(_) => true,
            Action::Defend(index) => {
                self.lesson.defences.get(*index).is_some_and(|d| !self.edits.contains(&d.edit.text))
            }
            _ => false,
        };
        adds && self.edits.len() >= MOST_EDITS
    }

    /// Whether the lesson offers this kind of fault; one that names none offers all.
    pub fn offers(&self, fault: &str) -> bool {
        let faults = &self.lesson.faults;
        faults.is_empty() || faults.iter().any(|f| f == fault)
    }

    /// The moment at which an injection happens: the head's, or just after it where something has
    /// happened at that very moment, so that all of the past stays.
    pub fn moment(&self) -> Micros {
        let at = self.head.at;
        let Some(event) = self.head.event else { return Micros::ZERO };
        let next =
            self.show.run.record.events.iter().find(|e| e.at > at).map_or(u64::MAX, |e| e.at.0);
        let least = if self.show.time(event) == at { at.0 + 1 } else { at.0 };
        // The roundest of the moments close by.
        let round = [10_000, 1_000, 100, 10].into_iter().map(|grain| least.div_ceil(grain) * grain);
        Micros(round.into_iter().find(|m| *m < next).unwrap_or(least))
    }

    /// How many events have happened.
    fn happened(&self) -> usize {
        self.head.event.map_or(0, |e| e as usize + 1)
    }

    /// The number that the next execution of a word by a client has, if this run has one.
    pub fn next_time(&self, client: ProcId, word: &str) -> Option<u32> {
        let events = self.show.run.record.events.iter().enumerate();
        let (mut number, mut paused, mut resumed) = (0, None, None);
        for (index, event) in events.filter(|(_, e)| e.node == client) {
            match &event.what {
                What::Halt(..) => paused = paused.or(Some(index)),
                What::Resume => resumed = paused.take().map(|since| (since, event.at)),
                _ => {}
            }
            let again = matches!(event.note(), Some(Testimony::Ask { first: false, .. }));
            if kind::kind(event) != word || again {
                continue;
            }
            number += 1;
            // What a client does as it wakes up it may have stood before since it was paused.
            let stood = resumed.filter(|r| r.1 == event.at).map_or(index, |r| r.0);
            if stood >= self.happened() {
                return Some(number);
            }
        }
        None
    }

    /// The number that the next message from one node to another has, if this run has one.
    pub fn next_message(&self, from: ProcId, to: ProcId) -> Option<u32> {
        let messages = self.show.run.record.messages.iter();
        let mut later = messages
            .filter(|m| (m.from, m.to) == (from, to) && m.copy_of.is_none())
            .filter(|m| m.sent.0 as usize >= self.happened());
        later.next().map(|m| m.number)
    }

    /// The edit that a fault becomes, and its moment, if it has one.
    pub(super) fn edit_for(&self, fault: &Fault) -> (Edit, Option<Micros>) {
        let id = |node: ProcId| self.show.run.names().node(node).id.clone();
        let now = self.moment();
        let ways = |a: ProcId, b: Option<ProcId>| match b {
            Some(b) => Ways::Between(id(a), id(b)),
            None => {
                let others = self.show.run.names().nodes.iter().map(|n| n.id.clone());
                Ways::Groups(vec![id(a)], others.filter(|n| *n != id(a)).collect())
            }
        };
        let sides = |a: &[ProcId], b: &[ProcId]| {
            let ids = |side: &[ProcId]| side.iter().map(|n| id(*n)).collect();
            Ways::Groups(ids(a), ids(b))
        };
        let number = |from, to| self.next_message(from, to).unwrap_or(1);
        let action = match fault {
            Fault::Pause(node, span) => {
                Deed::Halt(Whom::Process(Halt::Pause, id(*node)), When::At(now), *span)
            }
            Fault::PauseBefore(node, word, span) => {
                let number = self.next_time(*node, word).unwrap_or(1);
                let when = When::Before((*word).into(), number);
                let whom = Whom::Process(Halt::Pause, id(*node));
                return (Edit { action: Deed::Halt(whom, when, *span) }, None);
            }
            Fault::Lose(from, to) => {
                return (Edit { action: Deed::Drop(id(*from), id(*to), number(*from, *to)) }, None);
            }
            Fault::Delay(from, to, span) => {
                let action = Deed::Delay(id(*from), id(*to), number(*from, *to), *span);
                return (Edit { action }, None);
            }
            Fault::Duplicate(from, to, span) => {
                let number = number(*from, *to);
                let action = Deed::Duplicate(id(*from), id(*to), number, Some(*span));
                return (Edit { action }, None);
            }
            Fault::Suspend(node, span) => {
                Deed::Halt(Whom::Process(Halt::Suspend, id(*node)), When::At(now), *span)
            }
            Fault::Freeze(node, span) => {
                Deed::Halt(Whom::Process(Halt::Freeze, id(*node)), When::At(now), *span)
            }
            Fault::PauseTask(node, task, span) => {
                let whom = Whom::Task(id(*node), self.task_name(*node, *task).replace(' ', "-"));
                Deed::Halt(whom, When::At(now), *span)
            }
            Fault::Clock(node, forward, span) => {
                let by = i64::try_from(span.0).unwrap_or(i64::MAX);
                Deed::Clock(id(*node), if *forward { by } else { -by }, now)
            }
            Fault::Rate(node, rate) => Deed::Rate(id(*node), *rate, now),
            Fault::PowerOff(node) => Deed::Crash(id(*node), CrashKind::Power, now),
            Fault::ShutDown(node) => Deed::Crash(id(*node), CrashKind::Clean, now),
            Fault::Crash(node) => Deed::Crash(id(*node), CrashKind::Kill, now),
            Fault::Restart(node) => Deed::Restart(id(*node), now),
            Fault::Cut(a, b, span) => Deed::Cut(ways(*a, *b), now, Some(*span)),
            Fault::CutOneWay(a, b, span) => {
                Deed::Cut(Ways::OneWay(id(*a), id(*b)), now, Some(*span))
            }
            Fault::Heal(a, b) => Deed::Heal(ways(*a, *b), now),
            Fault::CutSides(a, b, span) => Deed::Cut(sides(a, b), now, Some(*span)),
            Fault::HealSides(a, b) => Deed::Heal(sides(a, b), now),
        };
        (Edit { action }, Some(now))
    }

    pub(super) fn words_for(&self, fault: &Fault) -> String {
        let label = |node: &ProcId| self.show.run.names().node(*node).label.clone();
        let other = |node: &Option<ProcId>| node.as_ref().map_or(strings::EVERYBODY.into(), label);
        let span = |span: &Micros| narrate::span(*span);
        let all = |side: &[ProcId]| side.iter().map(label).collect::<Vec<_>>().join(" and ");
        match fault {
            Fault::Pause(node, d) => strings::paused(&label(node), &span(d)),
            Fault::PauseBefore(node, word, d) => strings::will_pause(&label(node), word, &span(d)),
            Fault::Suspend(node, d) => strings::suspended(&label(node), &span(d)),
            Fault::Freeze(node, d) => strings::frozen(&label(node), &span(d)),
            Fault::PauseTask(node, task, d) => {
                strings::task_paused(&self.task_name(*node, *task), &label(node), &span(d))
            }
            Fault::PowerOff(node) => strings::powered_off(&label(node)),
            Fault::ShutDown(node) => strings::shut_down(&label(node)),
            Fault::Clock(node, forward, d) => strings::clock_set(&label(node), *forward, &span(d)),
            Fault::Rate(node, rate) => strings::clock_rate(&label(node), *rate),
            Fault::Duplicate(a, b, d) => strings::duplicated(&label(a), &label(b), &span(d)),
            Fault::Crash(node) => strings::crashed(&label(node)),
            Fault::Restart(node) => strings::restarted(&label(node)),
            Fault::Cut(a, b, d) => strings::cut(&label(a), &other(b), &span(d)),
            Fault::CutOneWay(a, b, d) => strings::cut_one_way(&label(a), &label(b), &span(d)),
            Fault::Heal(a, b) => strings::healed(&label(a), &other(b)),
            Fault::CutSides(a, b, d) => strings::cut(&all(a), &all(b), &span(d)),
            Fault::HealSides(a, b) => strings::healed(&all(a), &all(b)),
            Fault::Lose(a, b) => strings::lost(&label(a), &label(b)),
            Fault::Delay(a, b, d) => strings::delayed(&label(a), &label(b), &span(d)),
        }
    }

    fn task_name(&self, node: ProcId, task: usize) -> String {
        let tasks = self.show.run.names().tasks.get(usize::from(node.0));
        tasks.and_then(|t| t.get(task)).cloned().unwrap_or_default()
    }

    /// All nodes with their index.
    pub fn nodes(&self) -> Vec<(ProcId, String, NodeKind)> {
        let nodes = self.show.run.names().nodes.iter().enumerate();
        nodes.map(|(i, n)| (ProcId(i as u16), n.label.clone(), n.kind)).collect()
    }
}
