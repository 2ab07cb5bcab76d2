//! The state that actors act upon: the queue of what is due, the processes, the wire.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use super::actor::{Domain, ProcId, TimerId};
use super::fork::Step;
use super::plan::Plan;
use super::proc::{Proc, TaskState, TimerKey, TimerSlot};
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
    Resume(u16, u32),
    Reset(u16, ConnId, u32),
    Fault(u32),
    Heal(u32),
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
    /// Every word that a main task executed, where a search wants to know.
    pub(super) roll: Option<Vec<Step>>,
}

impl<D: Domain> Heart<D> {
    pub(super) fn schedule(&mut self, at: Micros, due: Due) {
        self.created += 1;
        self.queue.push(Reverse((at, self.created, due)));
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

    /// Pauses `p` if the main task is about to execute an instruction that an edit names.
    pub(super) fn stop_before(
        &mut self,
        p: ProcId,
        instr: &Instr<D::Op>,
        causes: Causes,
        sink: &mut dyn Sink<D>,
    ) -> bool {
        if self.roll.is_none() && !self.plan.stops.iter().any(|s| s.0 == p) {
            return false;
        }
        let verb = match instr {
            Instr::Call(op) => D::verb(op),
            Instr::Work(_) => "work",
            Instr::Sleep(_) => "sleep",
            _ => return false,
        };
        let proc = &mut self.procs[usize::from(p.0)];
        if std::mem::replace(&mut proc.tasks[0].counted, true) {
            proc.tasks[0].counted = false;
            return false;
        }
        let count = match proc.executed.iter_mut().find(|e| e.0 == verb) {
            Some(entry) => {
                entry.1 += 1;
                entry.1
            }
            None => {
                proc.executed.push((verb, 1));
                1
            }
        };
        if let Some(roll) = &mut self.roll {
            roll.push((p, verb, count));
        }
        let plan = self.plan.clone();
        let mut paused = false;
        for (who, word, number, span, edit) in &plan.stops {
            if *who == p && word == verb && *number == count {
                self.used[*edit].get_or_insert(EventId(self.next_event));
                paused |= self.pause(p, *span, causes, sink);
            }
        }
        if !paused {
            self.procs[usize::from(p.0)].tasks[0].counted = false;
        }
        paused
    }

    /// Pauses a process; overlapping pauses unite.
    pub(super) fn pause(
        &mut self,
        p: ProcId,
        span: Micros,
        causes: Causes,
        sink: &mut dyn Sink<D>,
    ) -> bool {
        let until = self.now.plus(span);
        let proc = &mut self.procs[usize::from(p.0)];
        if !proc.alive || proc.exited {
            return false;
        }
        if proc.paused_until.is_none() {
            self.park_work(p);
        }
        let proc = &mut self.procs[usize::from(p.0)];
        if proc.paused_until.is_none_or(|end| end < until) {
            proc.paused_until = Some(until);
            proc.pause_generation += 1;
            let generation = proc.pause_generation;
            self.schedule(until, Due::Resume(p.0, generation));
        }
        self.emit(p, What::Pause(span), causes, sink);
        true
    }

    /// Work stands still: what is left of it is kept.
    pub(super) fn park_work(&mut self, p: ProcId) {
        let now = self.now;
        for task in &mut self.procs[usize::from(p.0)].tasks {
            if let TaskState::Working(left, since) = task.state {
                task.state = TaskState::Working(left.since(now.since(since)), now);
                task.generation += 1;
            }
        }
    }

    pub(super) fn restart_work(&mut self, p: ProcId) {
        for task in 0..self.procs[usize::from(p.0)].tasks.len() {
            let now = &mut self.procs[usize::from(p.0)].tasks[task];
            if let TaskState::Working(left, _) = now.state {
                if left == Micros::ZERO {
                    // The pause began as the work ended: the program goes on at once.
                    now.state = TaskState::Ready;
                    continue;
                }
                now.state = TaskState::Working(left, self.now);
                self.plan_work(p, task, left);
            }
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
            let blank = TimerSlot { clock, deadline, key, causes, generation: 0, live: false };
            proc.timers.push(blank);
            proc.timers.len() as u32 - 1
        });
        let timer = &mut proc.timers[slot as usize];
        let generation = timer.generation + 1;
        *timer = TimerSlot { clock, deadline, key, causes, generation, live: true };
        let at = proc.clocks.get(clock).when(self.now, deadline);
        self.schedule(at, Due::Timer(p.0, slot, generation));
        TimerId { slot, generation }
    }

    /// After a change of clock every timer of the process is due at another true moment.
    pub(super) fn replan_timers(&mut self, p: ProcId) {
        let index = usize::from(p.0);
        for slot in 0..self.procs[index].timers.len() {
            let id = TimerId {
                slot: slot as u32,
                generation: self.procs[index].timers[slot].generation,
            };
            let timer = &self.procs[index].timers[slot];
            if !timer.live || self.procs[index].late.contains(&id) {
                continue;
            }
            let at = self.procs[index].clocks.get(timer.clock).when(self.now, timer.deadline);
            let timer = &mut self.procs[index].timers[slot];
            timer.generation += 1;
            let generation = timer.generation;
            self.schedule(at, Due::Timer(p.0, slot as u32, generation));
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
