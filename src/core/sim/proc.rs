//! A process at one moment: its tasks, timers, inbox and clocks.

use std::collections::VecDeque;

use super::actor::Domain;
use super::actor::{Halt, ProcId, TimerId, Waiting};
use super::plan::ProcPlan;
use super::program::{Outcome, Pc};
use super::record::{Causes, EventId, MsgId};
use super::time::{ClockKind, Clocks, Local, Micros};
use super::wire::ConnId;

/// What a task is doing.
#[derive(Clone, PartialEq, Debug)]
pub enum TaskState {
    /// Not started: a handler, or the process has not begun.
    Idle,
    /// Will execute its next line as soon as the process runs.
    Ready,
    /// Uses the processor; so much was left at that moment.
    Working(Micros, Micros),
    /// Waits for a timer.
    Sleeping(Local),
    /// Waits for an answer.
    Waiting(Waiting),
    /// At its end, stopped, or dead with its process.
    Ended,
}

#[derive(Clone, Debug)]
pub(super) struct TaskNow {
    pub(super) state: TaskState,
    pub(super) pc: Pc,
    pub(super) outcome: Outcome,
    pub(super) last: Option<EventId>,
    /// Invalidates what the queue still holds for an earlier state of this task.
    pub(super) generation: u32,
    /// The coming instruction was counted, for `pause before`.
    pub(super) counted: bool,
    /// The loop's end was passed: its head goes on counting.
    pub(super) again: bool,
    /// Until when this task alone is paused.
    pub(super) paused_until: Option<Micros>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum TimerKey {
    Actor(u64),
    Task(u16),
}

#[derive(Clone, Debug)]
pub(super) struct TimerSlot {
    pub(super) clock: ClockKind,
    pub(super) deadline: Local,
    pub(super) key: TimerKey,
    pub(super) causes: Causes,
    /// Which use of the slot this is; a [`TimerId`] names one.
    pub(super) generation: u32,
    /// Which of the queue's entries for the slot counts; a change of clock makes another.
    pub(super) planned: u32,
    pub(super) live: bool,
}

/// What waits until a task that is paused goes on.
#[derive(Clone, Debug)]
pub(super) enum Kept<B> {
    Letter(Letter<B>),
    Timer(TimerId),
}

/// What waits in an inbox until its process handles it, with the event of its arrival.
#[derive(Clone, Debug)]
pub(super) enum Letter<B> {
    Message { id: MsgId, from: ProcId, conn: ConnId, body: B, arrived: EventId },
    Reset { peer: ProcId, conn: ConnId, arrived: EventId },
    Outside { body: B, arrived: EventId },
}

#[derive(Clone, Debug)]
pub(super) struct Proc<B> {
    pub(super) alive: bool,
    /// It is dead, and its machine has no power: nobody is there to refuse a connection.
    pub(super) dark: bool,
    /// It began in this life.
    pub(super) started: bool,
    /// Its main program ended.
    pub(super) exited: bool,
    /// Its program was stopped from within; it ends with its last handler.
    pub(super) stopping: bool,
    pub(super) life: u32,
    /// Until when each kind of stop lasts, in the order of [`Halt::ALL`].
    pub(super) halts: [Option<Micros>; 3],
    pub(super) resumed: Option<EventId>,
    pub(super) clocks: Clocks,
    pub(super) tasks: Vec<TaskNow>,
    pub(super) locals: Vec<i64>,
    pub(super) counters: Vec<u32>,
    pub(super) timers: Vec<TimerSlot>,
    pub(super) free_timers: Vec<u32>,
    pub(super) inbox: VecDeque<Letter<B>>,
    pub(super) late: Vec<TimerId>,
    /// What came for a paused task, in order, with that task.
    pub(super) kept: Vec<(usize, Kept<B>)>,
    /// How often each word was executed by each task; kept only where an edit asks.
    pub(super) executed: Vec<(usize, &'static str, u32)>,
}

impl<B> Proc<B> {
    pub(super) fn new<D: Domain>(plan: &ProcPlan<D>) -> Proc<B> {
        let task = TaskNow {
            state: TaskState::Idle,
            pc: 0,
            outcome: Outcome::Ok,
            last: None,
            generation: 0,
            counted: false,
            again: false,
            paused_until: None,
        };
        Proc {
            alive: true,
            dark: false,
            started: false,
            exited: false,
            stopping: false,
            life: 0,
            halts: [None; 3],
            resumed: None,
            clocks: plan.clocks,
            tasks: vec![task; plan.tasks.len()],
            locals: vec![0; plan.locals],
            counters: vec![0; plan.counters],
            timers: Vec::new(),
            free_timers: Vec::new(),
            inbox: VecDeque::new(),
            late: Vec::new(),
            kept: Vec::new(),
            executed: Vec::new(),
        }
    }

    /// Whether it is stopped.
    pub(super) fn is_still(&self) -> bool {
        self.halts.iter().any(Option::is_some)
    }

    /// The stop that stops most, and when the process goes on.
    pub(super) fn halt(&self) -> Option<(Halt, Micros)> {
        let until = self.halts.iter().flatten().max()?;
        let most = Halt::ALL.into_iter().rev().find(|how| self.halts[*how as usize].is_some());
        most.map(|how| (how, *until))
    }

    /// Lets each clock run or stand still as the open stops demand; true where one changed.
    pub(super) fn set_clocks(&mut self, now: Micros) -> bool {
        let before = self.clocks;
        let open = |kind: ClockKind| {
            let all = Halt::ALL.into_iter().zip(self.halts);
            all.into_iter().any(|(halt, until)| until.is_some() && halt.stops(kind))
        };
        let (wall, mono, boot) =
            (open(ClockKind::Wall), open(ClockKind::Mono), open(ClockKind::Boot));
        self.clocks.wall.stop(now, wall);
        self.clocks.mono.stop(now, mono);
        self.clocks.boot.stop(now, boot);
        self.clocks != before
    }

    /// The first task that can execute a line.
    pub(super) fn ready(&self) -> Option<usize> {
        self.tasks.iter().position(|t| t.state == TaskState::Ready && t.paused_until.is_none())
    }

    /// Takes what was kept for a task: letters, and timers, each in order.
    pub(super) fn take_kept(&mut self, task: usize) -> (Vec<Letter<B>>, Vec<TimerId>) {
        let (mut letters, mut timers) = (Vec::new(), Vec::new());
        for (of, kept) in std::mem::take(&mut self.kept) {
            match kept {
                kept if of != task => self.kept.push((of, kept)),
                Kept::Letter(letter) => letters.push(letter),
                Kept::Timer(timer) => timers.push(timer),
            }
        }
        (letters, timers)
    }

    pub(super) fn end(&mut self, task: usize) {
        self.tasks[task].state = TaskState::Ended;
        self.tasks[task].paused_until = None;
        self.tasks[task].generation += 1;
        for slot in 0..self.timers.len() {
            if self.timers[slot].live
                && matches!(self.timers[slot].key, TimerKey::Task(t) if usize::from(t) == task)
            {
                self.free_timer(slot as u32);
            }
        }
    }

    pub(super) fn free_timer(&mut self, slot: u32) {
        let timer = &mut self.timers[slot as usize];
        if timer.live {
            timer.live = false;
            timer.generation += 1;
            timer.planned += 1;
            self.free_timers.push(slot);
        }
    }

    pub(super) fn clear_timers(&mut self) {
        for slot in 0..self.timers.len() {
            self.free_timer(slot as u32);
        }
        self.late.clear();
        self.kept.retain(|k| matches!(k.1, Kept::Letter(_)));
    }

    pub(super) fn die(&mut self) {
        self.alive = false;
        self.life += 1;
        self.halts = [None; 3];
        self.resumed = None;
        self.inbox.clear();
        self.kept.clear();
        self.clear_timers();
        for task in 0..self.tasks.len() {
            self.end(task);
        }
    }

    pub(super) fn revive<D: Domain>(&mut self, plan: &ProcPlan<D>) {
        (self.alive, self.dark) = (true, false);
        (self.started, self.stopping) = (false, false);
        self.locals = vec![0; plan.locals];
        self.counters = vec![0; plan.counters];
        for task in &mut self.tasks {
            task.state = TaskState::Idle;
            task.pc = 0;
            task.outcome = Outcome::Ok;
            task.last = None;
        }
    }
}
