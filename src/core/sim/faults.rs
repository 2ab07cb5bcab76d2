//! What happens to processes from outside: stops and their ends, changes of clocks, deaths.

use super::actor::{CrashKind, Domain, ProcId};
use super::heart::Due;
use super::plan::Fault;
use super::proc::Letter;
use super::record::{Causes, EventId, Sink, What};
use super::time::{Clocks, Micros};
use super::world::World;

impl<D: Domain> World<D> {
    /// Lets the clocks of a process run or stand still as its open stops demand.
    pub(super) fn sync_clocks(&mut self, p: ProcId, causes: Causes, sink: &mut dyn Sink<D>) {
        let now = self.core.now;
        let proc = &mut self.core.procs[usize::from(p.0)];
        let before = proc.clocks;
        if proc.set_clocks(now) {
            self.clocks_changed(p, before, causes, sink);
        }
    }

    fn clocks_changed(
        &mut self,
        p: ProcId,
        before: Clocks,
        causes: Causes,
        sink: &mut dyn Sink<D>,
    ) {
        self.core.replan_timers(p);
        self.with_actor(p, causes, sink, |actor, cx| actor.on_clock(cx, &before));
    }

    /// Somebody changes the clocks of a process, dead or alive.
    fn set_clocks(
        &mut self,
        p: ProcId,
        what: What<D::Note>,
        sink: &mut dyn Sink<D>,
        change: impl FnOnce(&mut Clocks, Micros),
    ) -> bool {
        let now = self.core.now;
        let clocks = &mut self.core.procs[usize::from(p.0)].clocks;
        let before = *clocks;
        change(clocks, now);
        let id = self.core.emit(p, what, Causes::NONE, sink);
        self.clocks_changed(p, before, Causes::one(id), sink);
        true
    }

    /// A stop of a process may be over. With the last one it goes on; with another its clocks may
    /// run again before that.
    pub(super) fn halts_over(&mut self, p: ProcId, sink: &mut dyn Sink<D>) {
        let now = self.core.now;
        let proc = &mut self.core.procs[usize::from(p.0)];
        let mut any = false;
        for place in &mut proc.halts {
            if place.is_some_and(|until| until <= now) {
                *place = None;
                any = true;
            }
        }
        let before = proc.clocks;
        match (any, proc.is_still()) {
            (true, false) => self.resume(p, sink),
            (true, true) if proc.set_clocks(now) => {
                let id = self.core.emit(p, What::Wake, Causes::NONE, sink);
                self.clocks_changed(p, before, Causes::one(id), sink);
            }
            _ => {}
        }
    }

    /// On resume: the program until it next waits, then messages by arrival, then timers by
    /// deadline; or timers first where the plan says so.
    fn resume(&mut self, p: ProcId, sink: &mut dyn Sink<D>) {
        let index = usize::from(p.0);
        let id = self.core.emit(p, What::Resume, Causes::NONE, sink);
        self.sync_clocks(p, Causes::one(id), sink);
        self.core.procs[index].resumed = Some(id);
        for task in 0..self.core.procs[index].tasks.len() {
            self.core.restart_work(p, task);
        }
        if self.core.now >= self.core.plan.procs[index].start {
            self.start(p, What::Start, sink);
        }
        if self.core.plan.timers_first {
            self.late_timers(p, sink);
        }
        let resumed = self.core.procs[index].resumed;
        if self.core.procs[index].ready().is_some() {
            self.core.procs[index].resumed = None;
            self.run_ready(p, Causes::NONE.and(resumed), sink);
        }
        while !self.core.procs[index].is_still() {
            let Some(letter) = self.core.procs[index].inbox.pop_front() else {
                break;
            };
            self.core.procs[index].resumed = Some(id);
            self.read_letter(p, letter, sink);
        }
        self.late_timers(p, sink);
    }

    /// On resume of one task the same order holds for it: its program, then what came for it, then
    /// its timers. A task that was stopped for good gives what was kept for it back.
    pub(super) fn resume_task(&mut self, p: ProcId, task: usize, sink: &mut dyn Sink<D>) {
        let (index, now) = (usize::from(p.0), self.core.now);
        match self.core.procs[index].tasks[task].paused_until {
            Some(until) if until > now => return,
            Some(_) => {
                let id = self.core.emit(p, What::ResumeTask(task), Causes::NONE, sink);
                self.core.procs[index].tasks[task].paused_until = None;
                self.core.procs[index].resumed = Some(id);
            }
            None => {}
        }
        let proc = &mut self.core.procs[index];
        let (letters, timers) = proc.take_kept(task);
        if proc.is_still() {
            // It came before whatever waits for the process.
            letters.into_iter().rev().for_each(|letter| proc.inbox.push_front(letter));
            proc.late.splice(0..0, timers);
            proc.resumed = None;
            return;
        }
        self.core.restart_work(p, task);
        let (first, last) =
            if self.core.plan.timers_first { (timers, Vec::new()) } else { (Vec::new(), timers) };
        let resumed = self.core.procs[index].resumed;
        first.into_iter().for_each(|id| self.timer(p, id, sink));
        self.run_ready(p, Causes::NONE.and(resumed), sink);
        for letter in letters {
            let proc = &mut self.core.procs[index];
            if proc.alive && !proc.exited {
                proc.resumed = resumed;
                self.post(p, letter, sink);
            }
        }
        last.into_iter().for_each(|id| self.timer(p, id, sink));
        self.core.procs[index].resumed = None;
    }

    fn late_timers(&mut self, p: ProcId, sink: &mut dyn Sink<D>) {
        let late = std::mem::take(&mut self.core.procs[usize::from(p.0)].late);
        for id in late {
            self.timer(p, id, sink);
        }
    }

    /// Applies a fault; false when it found no occasion.
    pub(super) fn fault(
        &mut self,
        fault: &Fault<D>,
        index: u32,
        edit: usize,
        sink: &mut dyn Sink<D>,
    ) -> bool {
        match fault {
            Fault::Halt(p, how, span) => {
                let id = EventId(self.core.next_event);
                let stopped = self.core.halt(*p, *how, *span, Causes::NONE, sink);
                self.sync_clocks(*p, Causes::one(id), sink);
                stopped
            }
            Fault::PauseTask(p, task, span) => {
                self.core.pause_task(*p, *task, *span, Causes::NONE, sink)
            }
            Fault::Cut(ways, span) => {
                for (from, to) in ways {
                    self.core.wire.cut(*from, *to);
                    self.core.emit(*from, What::Cut(*to), Causes::NONE, sink);
                }
                if let Some(span) = span {
                    self.core.faults_left += 1;
                    let at = self.core.now.plus(*span);
                    self.core.schedule(at, Due::Heal(index));
                }
                true
            }
            Fault::Heal(ways) => {
                ways.iter().fold(false, |any, way| self.core.heal(*way, true, sink) | any)
            }
            Fault::Crash(p, how) => self.crash(*p, *how, sink),
            Fault::Restart(p) => self.restart(*p, sink),
            Fault::ClockStep(p, delta) => {
                self.set_clocks(*p, What::ClockStep(*delta), sink, |clocks, now| {
                    clocks.wall.step(now, *delta);
                })
            }
            Fault::ClockRate(p, rate) => {
                self.set_clocks(*p, What::ClockRate(*rate), sink, |clocks, now| {
                    for clock in [&mut clocks.wall, &mut clocks.mono, &mut clocks.boot] {
                        clock.set_rate(now, *rate);
                    }
                })
            }
            Fault::Set(settings) => {
                self.core.settings = settings.clone();
                for actor in &mut self.actors {
                    actor.on_settings(settings);
                }
                self.core.emit(ProcId(0), What::Set(edit), Causes::NONE, sink);
                true
            }
            Fault::Outside(p, body) => {
                let proc = &self.core.procs[usize::from(p.0)];
                let heeds = self.actors[usize::from(p.0)].heeds(body, self.core.now, &proc.clocks);
                if !proc.alive || proc.exited || !heeds {
                    return false;
                }
                let arrived = self.core.emit(*p, What::Outside(edit), Causes::NONE, sink);
                self.post(*p, Letter::Outside { body: body.clone(), arrived }, sink);
                true
            }
        }
    }

    fn restart(&mut self, p: ProcId, sink: &mut dyn Sink<D>) -> bool {
        let index = usize::from(p.0);
        if self.core.procs[index].alive {
            return false;
        }
        self.core.procs[index].revive(&self.core.plan.procs[index]);
        self.core.programs_left += u32::from(!self.core.procs[index].tasks.is_empty());
        self.start(p, What::Restart, sink);
        true
    }

    pub(super) fn crash(&mut self, p: ProcId, how: CrashKind, sink: &mut dyn Sink<D>) -> bool {
        let proc = &mut self.core.procs[usize::from(p.0)];
        if !proc.alive || proc.exited {
            return false;
        }
        proc.die();
        proc.dark = how == CrashKind::Power;
        let conns = self.core.wire.open_to(p);
        self.core.wire.abandon_all(p);
        let has_program = !self.core.procs[usize::from(p.0)].tasks.is_empty();
        self.core.programs_left -= u32::from(has_program);
        let id = self.core.emit(p, What::Crash(how), Causes::NONE, sink);
        // Whatever had stopped it is over; clocks that stood still stay behind.
        self.sync_clocks(p, Causes::one(id), sink);
        // The operating system of a killed process closes its connections; a machine without
        // power, or behind a cut, says nothing.
        for conn in conns {
            let peer = self.core.wire.other_end(conn, p);
            if how != CrashKind::Power && !self.core.wire.is_cut(p, peer) {
                let at = self.core.now.plus(self.core.wire.latency(p, peer));
                self.core.resets_left += 1;
                self.core.schedule(at, Due::Reset(peer.0, conn, id.0));
            }
        }
        self.with_actor(p, Causes::one(id), sink, |actor, cx| actor.on_crash(cx, how));
        true
    }
}
