//! A process at one moment: its tasks, timers, inbox and clocks.

use std::collections::VecDeque;

use super::actor::Domain;
use super::actor::{ProcId, TimerId, Waiting};
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
    pub(super) generation: u32,
    pub(super) live: bool,
}

/// What waits in an inbox until its process handles it, with the event of its arrival.
#[derive(Clone, Debug)]
pub(super) enum Letter<B> {
    Message { id: MsgId, from: ProcId, conn: ConnId, body: B, arrived: EventId },
    Reset { peer: ProcId, arrived: EventId },
    Outside { body: B, arrived: EventId },
}

#[derive(Clone, Debug)]
pub(super) struct Proc<B> {
    pub(super) alive: bool,
    /// It began in this life.
    pub(super) started: bool,
    /// Its main program ended.
    pub(super) exited: bool,
    /// Its program was stopped from within; it ends with its last handler.
    pub(super) stopping: bool,
    pub(super) life: u32,
    pub(super) paused_until: Option<Micros>,
    pub(super) pause_generation: u32,
    pub(super) resumed: Option<EventId>,
    pub(super) clocks: Clocks,
    pub(super) tasks: Vec<TaskNow>,
    pub(super) locals: Vec<i64>,
    pub(super) counters: Vec<u32>,
    pub(super) timers: Vec<TimerSlot>,
    pub(super) free_timers: Vec<u32>,
    pub(super) inbox: VecDeque<Letter<B>>,
    pub(super) late: Vec<TimerId>,
    /// How often each word was executed by the main task; kept only where an edit asks.
    pub(super) executed: Vec<(&'static str, u32)>,
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
        };
        Proc {
            alive: true,
            started: false,
            exited: false,
            stopping: false,
            life: 0,
            paused_until: None,
            pause_generation: 0,
            resumed: None,
            clocks: plan.clocks,
            tasks: vec![task; plan.tasks.len()],
            locals: vec![0; plan.locals],
            counters: vec![0; plan.counters],
            timers: Vec::new(),
            free_timers: Vec::new(),
            inbox: VecDeque::new(),
            late: Vec::new(),
            executed: Vec::new(),
        }
    }

    pub(super) fn end(&mut self, task: usize) {
        self.tasks[task].state = TaskState::Ended;
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
            self.free_timers.push(slot);
        }
    }

    pub(super) fn clear_timers(&mut self) {
        for slot in 0..self.timers.len() {
            self.free_timer(slot as u32);
        }
        self.late.clear();
    }

    pub(super) fn die(&mut self) {
        self.alive = false;
        self.life += 1;
        self.paused_until = None;
        self.pause_generation += 1;
        self.resumed = None;
        self.inbox.clear();
        self.clear_timers();
        for task in 0..self.tasks.len() {
            self.end(task);
        }
    }

    pub(super) fn revive<D: Domain>(&mut self, plan: &ProcPlan<D>) {
        self.alive = true;
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
