//! The world: the loop that handles what is due, program lines, messages, timers and faults.

use std::collections::BinaryHeap;
use std::rc::Rc;

use super::actor::{Actor, CrashKind, Cx, Domain, Flow, Halt, ProcId, TimerId};
use super::heart::{Due, Heart};
use super::plan::{Fault, Plan};
use super::proc::{Kept, Letter, Proc, TaskNow, TaskState, TimerKey};
use super::program::{Instr, Outcome, Pc, Trigger};
use super::record::{Causes, EventId, Limit, Sink, What};
use super::time::{ClockKind, Clocks, Micros};
use super::wire::{Arrival, ConnId, OnTheWay, Slot, Wire};
use std::cmp::Reverse;

/// How many events a run may have; a longer one ends there and says so.
pub const MOST_EVENTS: u32 = 200_000;
/// The most events at one moment. Where nothing takes any time, processes can ask and answer for ever without time
/// going on; a crowd of fifty that all wake at once has some hundreds.
pub const MOST_AT_ONCE: u32 = 2_000;
/// How many instructions a task may execute without waiting; a longer stretch ends the run.
pub const MOST_STEPS: u32 = 10_000;

/// The simulated world at one moment. Cloning it is a keyframe or a fork.
#[derive(Clone, Debug)]
pub struct World<D: Domain> {
    pub(super) core: Heart<D>,
    pub(super) actors: Vec<Box<dyn Actor<D>>>,
}

impl<D: Domain> World<D> {
    /// The world before anything happens.
    pub fn new(plan: Rc<Plan<D>>) -> World<D> {
        let procs: Vec<Proc<D::Body>> = plan.procs.iter().map(Proc::new).collect();
        let wire = Wire::new(procs.len(), plan.latency.clone());
        let mut core = Heart {
            now: Micros::ZERO,
            created: 0,
            queue: BinaryHeap::with_capacity(64),
            wire,
            settings: plan.settings.clone(),
            next_event: 0,
            next_message: 0,
            used: vec![None; plan.edits],
            faults_left: plan.faults.len() as u32,
            resets_left: 0,
            programs_left: plan.procs.iter().filter(|p| !p.tasks.is_empty()).count() as u32,
            over: false,
            moment: 0,
            dry: false,
            commons: D::Commons::default(),
            roll: None,
            procs,
            plan: plan.clone(),
        };
        for (index, (at, _, _)) in plan.faults.iter().enumerate() {
            core.schedule(*at, Due::Fault(index as u32));
        }
        for (index, proc) in plan.procs.iter().enumerate() {
            core.schedule(proc.start, Due::Start(index as u16));
        }
        World { core, actors: plan.procs.iter().map(|p| p.actor.clone()).collect() }
    }

    /// Handles the next thing that is due; false when the run is over.
    pub fn step(&mut self, sink: &mut dyn Sink<D>) -> bool {
        if self.core.over {
            return false;
        }
        let next = self.core.queue.pop();
        let Some(Reverse((at, _, due))) = next.filter(|n| n.0.0 <= self.core.plan.until) else {
            let later = next.iter().chain(&self.core.queue);
            self.core.dry = !later.map(|entry| entry.0.2).any(|due| self.core.is_live(due));
            self.core.now = self.core.plan.until;
            self.core.over = true;
            return false;
        };
        if self.core.now < at {
            self.core.moment = self.core.next_event;
        }
        self.core.now = at;
        self.handle(due, sink);
        if self.core.next_event >= MOST_EVENTS {
            self.limit(ProcId(0), Limit::Events, sink);
        }
        if self.core.next_event - self.core.moment >= MOST_AT_ONCE {
            self.limit(ProcId(0), Limit::AtOnce, sink);
        }
        self.core.over |= self.quiet();
        true
    }

    /// Runs to the end.
    pub fn run(&mut self, sink: &mut dyn Sink<D>) {
        while self.step(sink) {}
    }

    /// The present moment; after the end, the moment of the end.
    pub fn now(&self) -> Micros {
        self.core.now
    }

    /// What determines the run.
    pub fn plan(&self) -> &Plan<D> {
        &self.core.plan
    }

    /// The latest end of the run.
    pub fn until(&self) -> Micros {
        self.core.plan.until
    }

    /// Whether the run is over.
    pub fn is_over(&self) -> bool {
        self.core.over
    }

    /// Whether it ended because nothing was due any more: whoever waits there waits for ever.
    pub fn is_dry(&self) -> bool {
        self.core.dry
    }

    /// How many events happened so far.
    pub fn events(&self) -> u32 {
        self.core.next_event
    }

    /// The first event that each edit brought about so far; none for one that found no occasion.
    pub fn used_edits(&self) -> &[Option<EventId>] {
        &self.core.used
    }

    /// What a process shows now.
    pub fn facts(&self, proc: ProcId) -> Vec<D::Fact> {
        let index = usize::from(proc.0);
        self.actors[index].facts(self.core.now, &self.core.procs[index].clocks)
    }

    /// What a task of a process is doing, and the line it is at.
    pub fn task(&self, proc: ProcId, task: usize) -> Option<(&TaskState, Pc)> {
        let task = self.core.procs[usize::from(proc.0)].tasks.get(task)?;
        Some((&task.state, task.pc))
    }

    /// A process's locals, in the order of their names.
    pub fn locals(&self, proc: ProcId) -> &[i64] {
        &self.core.procs[usize::from(proc.0)].locals
    }

    /// The clocks of a process.
    pub fn clocks(&self, proc: ProcId) -> &Clocks {
        &self.core.procs[usize::from(proc.0)].clocks
    }

    /// How a process is stopped, by the stop that stops most, and until when.
    pub fn halt(&self, proc: ProcId) -> Option<(Halt, Micros)> {
        self.core.procs[usize::from(proc.0)].halt()
    }

    /// Until when one task of a process is paused.
    pub fn task_paused_until(&self, proc: ProcId, task: usize) -> Option<Micros> {
        self.core.procs[usize::from(proc.0)].tasks.get(task)?.paused_until
    }

    /// Whether a process is dead.
    pub fn is_down(&self, proc: ProcId) -> bool {
        !self.core.procs[usize::from(proc.0)].alive
    }

    /// Whether a process lives on and its main program has ended: no stop and no death changes anything.
    pub fn has_ended(&self, proc: ProcId) -> bool {
        let proc = &self.core.procs[usize::from(proc.0)];
        proc.alive && proc.exited
    }

    /// Whether the way from one process to another is cut.
    pub fn is_cut(&self, from: ProcId, to: ProcId) -> bool {
        self.core.wire.is_cut(from, to)
    }

    /// The processes whose main program has begun or would, and has not ended.
    pub fn unfinished(&self) -> Vec<ProcId> {
        let procs = self.core.procs.iter().enumerate();
        let left = procs.filter(|(_, p)| !p.tasks.is_empty() && p.alive && !p.exited);
        left.map(|(index, _)| ProcId(index as u16)).collect()
    }

    /// Moves the clock on to `at` without letting anything happen: for looking at a moment between
    /// two events. A world that was looked at so must not be stepped on.
    pub fn look_at(&mut self, at: Micros) {
        self.core.now = self.core.now.max(at);
    }

    /// Every program ended, nothing is on the way, no fault is due and no actor holds anything.
    fn quiet(&self) -> bool {
        self.core.programs_left == 0
            && self.core.wire.in_flight == 0
            && self.core.faults_left == 0
            && self.core.resets_left == 0
            && self
                .core
                .procs
                .iter()
                .all(|p| p.inbox.is_empty() && p.kept.is_empty() && !p.is_still())
            && !self.actors.iter().any(|a| a.busy())
    }

    fn handle(&mut self, due: Due, sink: &mut dyn Sink<D>) {
        match due {
            Due::Start(p) => self.start(ProcId(p), What::Start, sink),
            Due::Arrive(slot) => self.arrive(slot, sink),
            Due::Timer(p, slot, planned) => {
                let timer = &self.core.procs[usize::from(p)].timers[slot as usize];
                let generation = timer.generation;
                if timer.planned == planned {
                    self.timer(ProcId(p), TimerId { slot, generation }, sink);
                }
            }
            Due::Work(p, task, generation) => {
                let now = &mut self.core.procs[usize::from(p)].tasks[usize::from(task)];
                if now.generation == generation {
                    now.state = TaskState::Ready;
                    self.run_ready(ProcId(p), Causes::NONE, sink);
                }
            }
            Due::Resume(p) => self.halts_over(ProcId(p), sink),
            Due::ResumeTask(p, task) => self.resume_task(ProcId(p), usize::from(task), sink),
            Due::Reset(p, conn, lost) => {
                self.core.resets_left -= 1;
                self.reset(ProcId(p), conn, EventId(lost), sink);
            }
            Due::Fault(index) => {
                self.core.faults_left -= 1;
                let plan = self.core.plan.clone();
                let (_, fault, edit) = &plan.faults[index as usize];
                let first = EventId(self.core.next_event);
                if self.fault(fault, index, *edit, sink) {
                    self.core.used[*edit].get_or_insert(first);
                }
            }
            Due::Leave(p) => {
                self.crash(ProcId(p), CrashKind::Clean, sink);
            }
            Due::Heal(index) => {
                let plan = self.core.plan.clone();
                self.core.faults_left -= 1;
                if let Fault::Cut(ways, _) = &plan.faults[index as usize].1 {
                    for way in ways {
                        self.core.heal(*way, false, sink);
                    }
                }
            }
        }
    }

    pub(super) fn start(&mut self, p: ProcId, what: What<D::Note>, sink: &mut dyn Sink<D>) {
        let proc = &mut self.core.procs[usize::from(p.0)];
        if !proc.alive || proc.is_still() || proc.started {
            // A process that was paused or killed before it began starts with its resume or restart.
            return;
        }
        proc.started = true;
        for (task, plan) in
            proc.tasks.iter_mut().zip(self.core.plan.procs[usize::from(p.0)].tasks.iter())
        {
            if plan.trigger == Trigger::Start {
                task.state = TaskState::Ready;
            }
        }
        let id = self.core.emit(p, what, Causes::NONE, sink);
        let causes = self.with_actor(p, Causes::one(id), sink, |actor, cx| actor.on_start(cx));
        self.run_ready(p, causes, sink);
    }

    /// Lets the actor of `p` act; returns the causes of whatever follows.
    pub(super) fn with_actor(
        &mut self,
        p: ProcId,
        causes: Causes,
        sink: &mut dyn Sink<D>,
        act: impl FnOnce(&mut Box<dyn Actor<D>>, &mut Cx<'_, D>),
    ) -> Causes {
        let mut cx = Cx { core: &mut self.core, sink, me: p, causes, handling: None };
        act(&mut self.actors[usize::from(p.0)], &mut cx);
        cx.causes
    }

    fn arrive(&mut self, slot: Slot, sink: &mut dyn Sink<D>) {
        match self.core.wire.arrive(slot) {
            Arrival::Behind => {}
            Arrival::Held => {
                if let Some(m) = self.core.wire.get(slot) {
                    let (id, from, causes) = (m.id, m.from, Causes::one(m.sent));
                    self.core.emit(from, What::Hold(id), causes, sink);
                }
            }
            Arrival::Here(conn, from) => {
                while let Some(message) = self.core.wire.take_due(conn, from) {
                    self.deliver(message, sink);
                }
            }
        }
    }

    fn deliver(&mut self, message: OnTheWay<D::Body>, sink: &mut dyn Sink<D>) {
        let OnTheWay { id, from, to, conn, body, sent, .. } = message;
        let proc = &self.core.procs[usize::from(to.0)];
        let earlier_life = self.core.wire.life_at_opening(conn, to) != proc.life;
        if !proc.alive || proc.exited || earlier_life {
            // The machine of a dead process refuses a connection that was opened since; its peers have
            // been told of older ones when it died. Without power, or behind a cut, it says nothing.
            let refuses =
                !proc.alive && !proc.dark && !earlier_life && !self.core.wire.is_cut(to, from);
            let answers = (proc.alive && !proc.exited) || refuses;
            let lost = self.core.emit(to, What::Lose(id), Causes::one(sent), sink);
            if answers {
                let at = self.core.now.plus(self.core.wire.latency(to, from));
                self.core.resets_left += 1;
                self.core.schedule(at, Due::Reset(from.0, conn, lost.0));
            }
            let proc = &self.core.procs[usize::from(to.0)];
            if !proc.alive || proc.exited {
                self.core.wire.outlive(conn, to);
            }
            return;
        }
        let arrived = self.core.emit(to, What::Deliver(id), Causes::one(sent), sink);
        self.post(to, Letter::Message { id, from, conn, body, arrived }, sink);
    }

    /// Hands a letter to a running process, or leaves it in the inbox of a paused one.
    pub(super) fn post(&mut self, p: ProcId, letter: Letter<D::Body>, sink: &mut dyn Sink<D>) {
        let proc = &mut self.core.procs[usize::from(p.0)];
        if proc.is_still() {
            proc.inbox.push_back(letter);
        } else {
            self.read_letter(p, letter, sink);
        }
    }

    /// Whether a task of this process is paused, so that what is for it has to wait.
    fn waits_for(&self, p: ProcId, task: Option<usize>) -> Option<usize> {
        let tasks = &self.core.procs[usize::from(p.0)].tasks;
        task.filter(|t| tasks.get(*t).is_some_and(|t| t.paused_until.is_some()))
    }

    pub(super) fn read_letter(
        &mut self,
        p: ProcId,
        letter: Letter<D::Body>,
        sink: &mut dyn Sink<D>,
    ) {
        if let Letter::Message { body, .. } = &letter {
            let task = self.actors[usize::from(p.0)].task_of(body);
            if let Some(task) = self.waits_for(p, task) {
                self.core.procs[usize::from(p.0)].kept.push((task, Kept::Letter(letter)));
                return;
            }
        }
        let resumed = self.core.procs[usize::from(p.0)].resumed.take();
        let (Letter::Message { arrived, .. }
        | Letter::Reset { arrived, .. }
        | Letter::Outside { arrived, .. }) = letter;
        let causes = Causes::one(arrived).and(resumed);
        let causes = self.with_actor(p, causes, sink, |actor, cx| match letter {
            Letter::Message { id, from, conn, body, .. } => {
                cx.handling = Some(id);
                actor.on_message(cx, from, conn, &body);
            }
            Letter::Reset { peer, conn, .. } => actor.on_closed(cx, peer, conn),
            Letter::Outside { body, .. } => actor.on_outside(cx, &body),
        });
        self.run_ready(p, causes, sink);
    }

    /// A peer's host closed the connection: its process died, or bytes of a connection from before
    /// its restart reached it.
    fn reset(&mut self, p: ProcId, conn: ConnId, lost: EventId, sink: &mut dyn Sink<D>) {
        let proc = &self.core.procs[usize::from(p.0)];
        let wire = &mut self.core.wire;
        if !proc.alive || proc.exited || proc.life != wire.life_at_opening(conn, p) {
            return;
        }
        let peer = wire.other_end(conn, p);
        if wire.opener(conn) == p {
            // Whoever gave the connection up already has another one, which is well.
            if wire.current(p, peer) != Some(conn) {
                return;
            }
            wire.abandon(p, peer);
        }
        let arrived = self.core.emit(p, What::Reset(peer), Causes::one(lost), sink);
        self.post(p, Letter::Reset { peer, conn, arrived }, sink);
    }

    pub(super) fn timer(&mut self, p: ProcId, id: TimerId, sink: &mut dyn Sink<D>) {
        let proc = &mut self.core.procs[usize::from(p.0)];
        let slot = &proc.timers[id.slot as usize];
        if !slot.live || slot.generation != id.generation {
            return;
        }
        if proc.is_still() {
            proc.late.push(id);
            return;
        }
        let (key, causes) = (slot.key, slot.causes);
        if let TimerKey::Actor(key) = key {
            let task = self.actors[usize::from(p.0)].task_of_timer(key);
            if let Some(task) = self.waits_for(p, task) {
                self.core.procs[usize::from(p.0)].kept.push((task, Kept::Timer(id)));
                return;
            }
        }
        let proc = &mut self.core.procs[usize::from(p.0)];
        let causes = causes.and(proc.resumed.take());
        proc.free_timer(id.slot);
        let causes = match key {
            TimerKey::Actor(key) => {
                self.with_actor(p, causes, sink, |actor, cx| actor.on_timer(cx, key))
            }
            TimerKey::Task(task) => {
                self.core.procs[usize::from(p.0)].tasks[usize::from(task)].state = TaskState::Ready;
                causes
            }
        };
        self.run_ready(p, causes, sink);
    }

    /// Runs every task of `p` that is ready until all wait.
    pub(super) fn run_ready(&mut self, p: ProcId, causes: Causes, sink: &mut dyn Sink<D>) {
        loop {
            let proc = &self.core.procs[usize::from(p.0)];
            if proc.is_still() || !proc.alive {
                return;
            }
            let Some(task) = proc.ready() else { return self.leave(p, causes, sink) };
            self.run_task(p, task, causes, sink);
        }
    }

    fn run_task(&mut self, p: ProcId, task: usize, causes: Causes, sink: &mut dyn Sink<D>) {
        let tasks = self.core.plan.procs[usize::from(p.0)].tasks.clone();
        let lines = &tasks[task].lines;
        let now = &self.core.procs[usize::from(p.0)].tasks[task];
        let resumed = self.core.procs[usize::from(p.0)].resumed;
        let mut causes = causes.and(now.last).and(resumed);
        for _ in 0..MOST_STEPS {
            let pc = self.core.procs[usize::from(p.0)].tasks[task].pc;
            let Some(line) = lines.get(pc) else {
                self.end_task(p, task, causes, sink);
                return;
            };
            if self.core.stop_before(p, task, &line.instr, causes, sink) {
                let stopped = EventId(self.core.next_event - 1);
                self.sync_clocks(p, Causes::one(stopped), sink);
                return;
            }
            causes = self.execute(p, task, &line.instr, causes, sink);
            let proc = &mut self.core.procs[usize::from(p.0)];
            proc.tasks[task].last = causes.iter().next();
            if proc.tasks[task].state != TaskState::Ready || !proc.alive {
                return;
            }
        }
        self.limit(p, Limit::Steps, sink);
    }

    fn limit(&mut self, p: ProcId, limit: Limit, sink: &mut dyn Sink<D>) {
        if !self.core.over {
            self.core.emit(p, What::Limit(limit), Causes::NONE, sink);
            self.core.over = true;
            for proc in &mut self.core.procs {
                for task in &mut proc.tasks {
                    task.state = TaskState::Ended;
                }
            }
        }
    }

    fn execute(
        &mut self,
        p: ProcId,
        task: usize,
        instr: &Instr<D::Op>,
        causes: Causes,
        sink: &mut dyn Sink<D>,
    ) -> Causes {
        let now = self.core.now;
        let proc = &mut self.core.procs[usize::from(p.0)];
        let pc = proc.tasks[task].pc;
        let mut next = pc + 1;
        let mut after = causes;
        match instr {
            Instr::Nop => {}
            Instr::Work(span) => {
                proc.tasks[task].state = TaskState::Working(*span, now);
                after = Causes::one(self.core.emit(p, What::Work(*span), causes, sink));
                self.core.plan_work(p, task, *span);
            }
            Instr::Sleep(span) => {
                let until = proc.clocks.mono.read(now).plus(*span);
                proc.tasks[task].state = TaskState::Sleeping(until);
                after = Causes::one(self.core.emit(p, What::Sleep(*span), causes, sink));
                self.core.set_timer(p, ClockKind::Mono, until, TimerKey::Task(task as u16), after);
            }
            Instr::Let(place, expr) => proc.locals[*place] = expr.eval(&proc.locals),
            Instr::Goto(to) => next = *to,
            Instr::Again(to) => {
                next = *to;
                proc.tasks[task].again = true;
            }
            Instr::OnOutcome(outcome, negated, to) => {
                if (proc.tasks[task].outcome == *outcome) != *negated {
                    next = *to;
                }
            }
            Instr::If(expr, to) => {
                if expr.eval(&proc.locals) != 0 {
                    next = *to;
                }
            }
            Instr::Repeat { counter, times, end } => {
                // Whoever enters a loop from outside begins to count anew, however it was left.
                if !std::mem::take(&mut proc.tasks[task].again) {
                    proc.counters[*counter] = 0;
                }
                let count = &mut proc.counters[*counter];
                if *times == u32::MAX || *count < *times {
                    *count = count.saturating_add(1);
                } else {
                    *count = 0;
                    next = end + 1;
                }
            }
            Instr::Break { counter, end } => {
                proc.counters[*counter] = 0;
                next = end + 1;
            }
            // A task that stops another one goes on.
            Instr::Stop(which) => self.end_task(p, which.unwrap_or(task), causes, sink),
            Instr::Call(op) => after = self.call(p, task, op, causes, sink),
        }
        self.core.procs[usize::from(p.0)].tasks[task].pc = next;
        after
    }

    fn call(
        &mut self,
        p: ProcId,
        task: usize,
        op: &D::Op,
        causes: Causes,
        sink: &mut dyn Sink<D>,
    ) -> Causes {
        let mut flow = Flow::Done(Outcome::Ok);
        let causes =
            self.with_actor(p, causes, sink, |actor, cx| flow = actor.on_call(cx, task, op));
        let now = &mut self.core.procs[usize::from(p.0)].tasks[task];
        match flow {
            Flow::Done(outcome) => now.outcome = outcome,
            Flow::Wait(waiting) => now.state = TaskState::Waiting(waiting),
        }
        causes
    }

    /// Ends a task; with the first one the process ends.
    fn end_task(&mut self, p: ProcId, task: usize, causes: Causes, sink: &mut dyn Sink<D>) {
        let proc = &mut self.core.procs[usize::from(p.0)];
        if proc.tasks[task].state == TaskState::Ended {
            return;
        }
        proc.end(task);
        let kept = proc.kept.iter().any(|k| k.0 == task);
        let id = self.core.emit(p, What::End(task), causes, sink);
        if kept {
            let now = self.core.now;
            self.core.schedule(now, Due::ResumeTask(p.0, task as u16));
        }
        if task == 0 {
            self.exit(p, id, sink);
        }
    }

    /// The process is over: nothing of it will run again.
    fn exit(&mut self, p: ProcId, id: EventId, sink: &mut dyn Sink<D>) {
        let proc = &mut self.core.procs[usize::from(p.0)];
        for other in 1..proc.tasks.len() {
            proc.end(other);
        }
        proc.exited = true;
        proc.inbox.clear();
        proc.kept.clear();
        proc.clear_timers();
        self.core.programs_left -= 1;
        self.with_actor(p, Causes::one(id), sink, |actor, cx| actor.on_exit(cx));
    }

    /// A process that stopped its own program ends with its last handler.
    fn leave(&mut self, p: ProcId, causes: Causes, sink: &mut dyn Sink<D>) {
        let proc = &self.core.procs[usize::from(p.0)];
        let idle = |t: &TaskNow| matches!(t.state, TaskState::Idle | TaskState::Ended);
        if proc.stopping && !proc.exited && proc.tasks.iter().all(idle) {
            let id = self.core.emit(p, What::End(0), causes, sink);
            self.exit(p, id, sink);
        }
    }
}
