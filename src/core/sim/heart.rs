//! The state that actors act upon: the queue of what is due, the processes, the wire.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use super::actor::{Domain, Halt, ProcId, TimerId};
use super::fork::Step;
use super::plan::Plan;
use super::proc::{Kept, Proc, TaskState, TimerKey, TimerSlot};
use super::program::Instr;
use super::record::{Causes, Event, EventId, Sink, What};
use super::time::{ClockKind, Local, Micros};
use super::wire::{ConnId, Slot, Wire};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    Start(u16),
    Arrive(Slot),
    Timer(u16, u32, u32),
    Work(u16, u16, u32),
    Resume(u16),
    ResumeTask(u16, u16),
    Reset(u16, ConnId, u32),
    Fault(u32),
    Heal(u32),
    Leave(u16),
}

#[derive(Clone, Debug)]
pub(super) struct Heart<D: Domain> {
    pub(super) plan: Rc<Plan<D>>,
    pub(super) now: Micros,
    pub(super) created: u64,
    pub(super) queue: BinaryHeap<Reverse<(Micros, u64, Due)>>,
    pub(super) procs: Vec<Proc<D::Body>>,
    pub(super) wire: Wire<D::Body>,
    pub(super) settings: Rc<D::Settings>,
    pub(super) next_event: u32,
    pub(super) next_message: u32,
    pub(super) used: Vec<Option<EventId>>,
    pub(super) faults_left: u32,
    pub(super) resets_left: u32,
    pub(super) programs_left: u32,
    pub(super) over: bool,
    /// The first event of the present moment.
    pub(super) moment: u32,
    /// It is over because nothing was due any more.
    pub(super) dry: bool,
    pub(super) commons: D::Commons,
    /// Every word that a main task executed, where a search wants to know.
    pub(super) roll: Option<Vec<Step>>,
}

impl<D: Domain> Heart<D> {
    pub(super) fn schedule(&mut self, at: Micros, due: Due) {
        self.created += 1;
        self.queue.push(Reverse((at, self.created, due)));
    }

    /// Whether something in the queue will still bring anything about; what was taken back stays there.
    pub(super) fn is_live(&self, due: Due) -> bool {
        match due {
            Due::Timer(p, slot, planned) => {
                let timer = &self.procs[usize::from(p)].timers[slot as usize];
                timer.live && timer.planned == planned
            }
            Due::Work(p, task, generation) => {
                self.procs[usize::from(p)].tasks[usize::from(task)].generation == generation
            }
            Due::Resume(p) => self.procs[usize::from(p)].is_still(),
            _ => true,
        }
    }

    pub(super) fn emit(
        &mut self,
        node: ProcId,
        what: What<D::Note>,
        causes: Causes,
        sink: &mut dyn Sink<D>,
    ) -> EventId {
        let id = EventId(self.next_event);
        self.next_event += 1;
        sink.event(Event { at: self.now, node, what, causes });
        id
    }

    /// Stops `p`, or this task of it, if the task is about to execute an instruction that an edit
    /// names.
    pub(super) fn stop_before(
        &mut self,
        p: ProcId,
        task: usize,
        instr: &Instr<D::Op>,
        causes: Causes,
        sink: &mut dyn Sink<D>,
    ) -> bool {
        let told = task == 0 && self.roll.is_some();
        if !told && !self.plan.stops.iter().any(|s| s.proc == p && s.task == task) {
            return false;
        }
        let verb = match instr {
            Instr::Call(op) => D::verb(op),
            Instr::Work(_) => "work",
            Instr::Sleep(_) => "sleep",
            _ => return false,
        };
        let proc = &mut self.procs[usize::from(p.0)];
        if std::mem::replace(&mut proc.tasks[task].counted, true) {
            proc.tasks[task].counted = false;
            return false;
        }
        let count = match proc.executed.iter_mut().find(|e| e.0 == task && e.1 == verb) {
            Some(entry) => {
                entry.2 += 1;
                entry.2
            }
            None => {
                proc.executed.push((task, verb, 1));
                1
            }
        };
        if let (0, Some(roll)) = (task, &mut self.roll) {
            roll.push((p, verb, count));
        }
        let plan = self.plan.clone();
        let mut stopped = false;
        for stop in &plan.stops {
            if (stop.proc, stop.task, stop.number) != (p, task, count) || stop.word != verb {
                continue;
            }
            self.used[stop.edit].get_or_insert(EventId(self.next_event));
            stopped |= match stop.halt {
                Some(how) => self.halt(p, how, stop.span, causes, sink),
                None => self.pause_task(p, task, stop.span, causes, sink),
            };
        }
        if !stopped {
            self.procs[usize::from(p.0)].tasks[task].counted = false;
        }
        stopped
    }

    /// Stops a process; stops of one kind unite. Its clocks are the caller's business.
    pub(super) fn halt(
        &mut self,
        p: ProcId,
        how: Halt,
        span: Micros,
        causes: Causes,
        sink: &mut dyn Sink<D>,
    ) -> bool {
        let until = self.now.plus(span);
        let proc = &mut self.procs[usize::from(p.0)];
        if !proc.alive || proc.exited {
            return false;
        }
        if !proc.is_still() {
            for task in 0..proc.tasks.len() {
                self.park_work(p, task);
            }
        }
        let place = &mut self.procs[usize::from(p.0)].halts[how as usize];
        if place.is_none_or(|end| end < until) {
            *place = Some(until);
            self.schedule(until, Due::Resume(p.0));
        }
        self.emit(p, What::Halt(how, span), causes, sink);
        true
    }

    /// Stops one task; overlapping pauses of it unite.
    pub(super) fn pause_task(
        &mut self,
        p: ProcId,
        task: usize,
        span: Micros,
        causes: Causes,
        sink: &mut dyn Sink<D>,
    ) -> bool {
        let until = self.now.plus(span);
        let proc = &mut self.procs[usize::from(p.0)];
        if !proc.alive || proc.exited || proc.tasks[task].state == TaskState::Ended {
            return false;
        }
        if !proc.is_still() {
            self.park_work(p, task);
        }
        let now = &mut self.procs[usize::from(p.0)].tasks[task];
        if now.paused_until.is_none_or(|end| end < until) {
            now.paused_until = Some(until);
            self.schedule(until, Due::ResumeTask(p.0, task as u16));
        }
        self.emit(p, What::PauseTask(task, span), causes, sink);
        true
    }

    /// Work of a task that runs stands still from now on: what is left of it is kept.
    fn park_work(&mut self, p: ProcId, task: usize) {
        let now = self.now;
        let task = &mut self.procs[usize::from(p.0)].tasks[task];
        if let (TaskState::Working(left, since), None) = (&task.state, task.paused_until) {
            task.state = TaskState::Working(left.since(now.since(*since)), now);
            task.generation += 1;
        }
    }

    /// Work that stood still goes on.
    pub(super) fn restart_work(&mut self, p: ProcId, task: usize) {
        let now = &mut self.procs[usize::from(p.0)].tasks[task];
        if let (TaskState::Working(left, _), None) = (&now.state, now.paused_until) {
            let left = *left;
            if left == Micros::ZERO {
                // The pause began as the work ended: the program goes on at once.
                now.state = TaskState::Ready;
                return;
            }
            now.state = TaskState::Working(left, self.now);
            self.plan_work(p, task, left);
        }
    }

    pub(super) fn plan_work(&mut self, p: ProcId, task: usize, left: Micros) {
        let now = &mut self.procs[usize::from(p.0)].tasks[task];
        now.generation += 1;
        let generation = now.generation;
        let at = self.now.plus(left);
        self.schedule(at, Due::Work(p.0, task as u16, generation));
    }

    pub(super) fn set_timer(
        &mut self,
        p: ProcId,
        clock: ClockKind,
        deadline: Local,
        key: TimerKey,
        causes: Causes,
    ) -> TimerId {
        let proc = &mut self.procs[usize::from(p.0)];
        let slot = proc.free_timers.pop().unwrap_or_else(|| {
            let (generation, planned, live) = (0, 0, false);
            proc.timers.push(TimerSlot { clock, deadline, key, causes, generation, planned, live });
            proc.timers.len() as u32 - 1
        });
        let timer = &mut proc.timers[slot as usize];
        let (generation, planned) = (timer.generation + 1, timer.planned);
        *timer = TimerSlot { clock, deadline, key, causes, generation, planned, live: true };
        self.plan_timer(p, slot);
        TimerId { slot, generation }
    }

    /// Puts a timer into the queue; one whose clock stands still is never due as it is.
    fn plan_timer(&mut self, p: ProcId, slot: u32) {
        let proc = &mut self.procs[usize::from(p.0)];
        let timer = &mut proc.timers[slot as usize];
        timer.planned += 1;
        let planned = timer.planned;
        if let Some(at) = proc.clocks.get(timer.clock).when(self.now, timer.deadline) {
            self.schedule(at, Due::Timer(p.0, slot, planned));
        }
    }

    /// After a change of clock every timer of the process is due at another true moment.
    pub(super) fn replan_timers(&mut self, p: ProcId) {
        let index = usize::from(p.0);
        for slot in 0..self.procs[index].timers.len() {
            let id = TimerId {
                slot: slot as u32,
                generation: self.procs[index].timers[slot].generation,
            };
            let proc = &self.procs[index];
            // What has come due once stays due, whatever the clock shows later.
            let is_kept = |k: &(usize, _)| matches!(&k.1, Kept::Timer(timer) if *timer == id);
            let due = proc.late.contains(&id) || proc.kept.iter().any(is_kept);
            if proc.timers[slot].live && !due {
                self.plan_timer(p, slot as u32);
            }
        }
    }

    pub(super) fn heal(
        &mut self,
        way: (ProcId, ProcId),
        all: bool,
        sink: &mut dyn Sink<D>,
    ) -> bool {
        let Some(again) = self.wire.heal(way.0, way.1, all, self.now) else {
            return false;
        };
        self.emit(way.0, What::Heal(way.1), Causes::NONE, sink);
        for (slot, at) in again {
            self.schedule(at, Due::Arrive(slot));
        }
        true
    }
}
