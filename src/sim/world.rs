//! The world: processes, their programs and timers, the event queue, and the faults of a run.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::fmt::Debug;
use std::rc::Rc;

use super::program::{Instr, Outcome, Pc, Task, Trigger};
use super::record::{Causes, Event, EventId, MessageInfo, MsgId, Sink, What};
use super::rng::{Purpose, keyed, up_to};
use super::time::{ClockKind, Clocks, Local, Micros, Ratio};
use super::wire::{Arrival, ConnId, Departure, MessageFault, OnTheWay, Slot, Wire};

/// How many events a run may have; a longer one ends there and says so.
pub const MOST_EVENTS: u32 = 200_000;
/// How many instructions a task may execute without waiting; a longer stretch ends the run.
const MOST_STEPS: u32 = 10_000;

/// A process of a scenario: the index of its lane.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ProcId(pub u16);

/// What the simulated systems add to the simulator.
pub trait Domain: Sized + 'static {
    /// What actors say of themselves, as events.
    type Note: Clone + PartialEq + Debug;
    /// What messages carry.
    type Body: Clone + Debug;
    /// The words of programs that are not control flow.
    type Op: Clone + Debug;
    /// What actors show of their state.
    type Fact: Clone + PartialEq + Debug;
    /// What can be set.
    type Settings: Clone + Debug;

    /// The word that names an operation: `write` for `write balance = 90`.
    fn verb(op: &Self::Op) -> &'static str;
}

/// How a process dies. What it loses differs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CrashKind {
    /// The process is killed; the operating system's cache survives.
    Kill,
    /// The machine loses power; only what was synced survives.
    Power,
    /// An orderly shut-down: everything written is synced first.
    Clean,
}

/// State on a disk: what the operating system holds in its cache, and what is durable.
///
/// What an actor keeps outside of a `Disk` is volatile.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Disk<T> {
    cached: T,
    durable: T,
}

impl<T: Clone> Disk<T> {
    /// A disk that holds `value` durably.
    pub fn new(value: T) -> Disk<T> {
        Disk { cached: value.clone(), durable: value }
    }

    /// What a reader sees.
    pub fn read(&self) -> &T {
        &self.cached
    }

    /// Changes what a reader sees; a power loss forgets it until it is synced.
    pub fn write(&mut self) -> &mut T {
        &mut self.cached
    }

    /// Makes everything written durable (`fsync`).
    pub fn sync(&mut self) {
        self.durable.clone_from(&self.cached);
    }

    /// What is left after a crash.
    pub fn crash(&mut self, how: CrashKind) {
        match how {
            CrashKind::Kill => {}
            CrashKind::Power => self.cached.clone_from(&self.durable),
            CrashKind::Clean => self.sync(),
        }
    }
}

/// Whether a call is over at once or waits.
#[derive(Clone, PartialEq, Debug)]
pub enum Flow {
    /// The program goes on in the same instant.
    Done(Outcome),
    /// The task waits until [`Cx::finish`].
    Wait(Waiting),
}

/// What a waiting instruction waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// The word of the instruction.
    pub verb: &'static str,
    /// Whose answer it needs.
    pub on: ProcId,
    /// When it gives up, on the process's monotonic clock.
    pub until: Option<Local>,
}

/// What a process runs: a server, or the library behind a client's program.
pub trait Actor<D: Domain>: Debug {
    /// A copy for a keyframe or a fork.
    fn boxed(&self) -> Box<dyn Actor<D>>;
    /// The process starts, for the first time or again.
    fn on_start(&mut self, _cx: &mut Cx<'_, D>) {}
    /// A message is handled.
    fn on_message(&mut self, cx: &mut Cx<'_, D>, from: ProcId, conn: ConnId, body: &D::Body);
    /// A timer of this actor is handled, late where the process was paused.
    fn on_timer(&mut self, _cx: &mut Cx<'_, D>, _key: u64) {}
    /// A task calls one of the domain's words.
    fn on_call(&mut self, _cx: &mut Cx<'_, D>, _task: usize, _op: &D::Op) -> Flow {
        Flow::Done(Outcome::Ok)
    }
    /// The peer's earlier life is over: nothing asked on that connection will be answered.
    fn on_closed(&mut self, _cx: &mut Cx<'_, D>, _peer: ProcId) {}
    /// The process dies; volatile state is to be dropped.
    fn on_crash(&mut self, cx: &mut Cx<'_, D>, how: CrashKind);
    /// The process's main program ended.
    fn on_exit(&mut self, _cx: &mut Cx<'_, D>) {}
    /// Settings changed.
    fn on_settings(&mut self, settings: &D::Settings);
    /// Whether the run must go on for this actor's sake: it holds something that will end by itself.
    fn busy(&self) -> bool {
        false
    }
    /// What the actor shows, at this reading of its clocks.
    fn facts(&self, now: Micros, clocks: &Clocks) -> Vec<D::Fact>;
}

impl<D: Domain> Clone for Box<dyn Actor<D>> {
    fn clone(&self) -> Self {
        self.boxed()
    }
}

/// A timer that was set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimerId {
    slot: u32,
    generation: u32,
}

/// What a fault does when its time has come. Faults that wait for an occasion are in [`Plan`].
#[derive(Clone, Debug)]
pub enum Fault<D: Domain> {
    /// Stops a process for that long.
    Pause(ProcId, Micros),
    /// Cuts these directions, for that long or until healed.
    Cut(Vec<(ProcId, ProcId)>, Option<Micros>),
    /// Takes all cuts of these directions back.
    Heal(Vec<(ProcId, ProcId)>),
    /// Kills a process.
    Crash(ProcId, CrashKind),
    /// Starts a dead process again.
    Restart(ProcId),
    /// Steps a wall clock by that many microseconds.
    ClockStep(ProcId, i64),
    /// Lets all clocks of a process run at another rate.
    ClockRate(ProcId, Ratio),
    /// Changes settings.
    Set(Rc<D::Settings>),
}

/// A process as a run begins.
#[derive(Clone, Debug)]
pub struct ProcPlan<D: Domain> {
    /// What it runs.
    pub actor: Box<dyn Actor<D>>,
    /// Its tasks, `main` first; none for a server.
    pub tasks: Rc<Vec<Task<D::Op>>>,
    /// How many locals and loop counters its programs use.
    pub locals: usize,
    /// Loop counters.
    pub counters: usize,
    /// When it starts.
    pub start: Micros,
    /// Its clocks.
    pub clocks: Clocks,
}

/// Everything that determines a run.
#[derive(Clone, Debug)]
pub struct Plan<D: Domain> {
    /// The processes, by lane.
    pub procs: Vec<ProcPlan<D>>,
    /// The least latency of each ordered pair, row by row.
    pub latency: Vec<Micros>,
    /// The most that a message takes beyond its latency; drawn anew for each message.
    pub jitter: Micros,
    /// The key of all randomness.
    pub seed: u64,
    /// Settings at the start.
    pub settings: Rc<D::Settings>,
    /// On resume, timers before the program and its messages.
    pub timers_first: bool,
    /// Faults at moments, each with the index of its edit.
    pub faults: Vec<(Micros, Fault<D>, usize)>,
    /// Pauses before the n-th execution of a word in a process's main task.
    pub stops: Vec<(ProcId, String, u32, Micros, usize)>,
    /// Faults of single messages: (from, to, number).
    pub message_faults: Vec<(ProcId, ProcId, u32, MessageFault, usize)>,
    /// How many edits there are.
    pub edits: usize,
    /// The latest end of the run.
    pub until: Micros,
}

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
struct TaskNow {
    state: TaskState,
    pc: Pc,
    outcome: Outcome,
    last: Option<EventId>,
    /// Invalidates what the queue still holds for an earlier state of this task.
    generation: u32,
    /// The coming instruction was counted, for `pause before`.
    counted: bool,
}

#[derive(Clone, Copy, Debug)]
enum TimerKey {
    Actor(u64),
    Task(u16),
}

#[derive(Clone, Debug)]
struct TimerSlot {
    clock: ClockKind,
    deadline: Local,
    key: TimerKey,
    causes: Causes,
    generation: u32,
    live: bool,
}

/// What waits in an inbox until its process handles it, with the event of its arrival.
#[derive(Clone, Debug)]
enum Letter<B> {
    Message { id: MsgId, from: ProcId, conn: ConnId, body: B, arrived: EventId },
    Reset { peer: ProcId, arrived: EventId },
}

#[derive(Clone, Debug)]
struct Proc<B> {
    alive: bool,
    /// It began in this life.
    started: bool,
    /// Its main program ended.
    exited: bool,
    life: u32,
    paused_until: Option<Micros>,
    pause_generation: u32,
    resumed: Option<EventId>,
    clocks: Clocks,
    tasks: Vec<TaskNow>,
    locals: Vec<i64>,
    counters: Vec<u32>,
    timers: Vec<TimerSlot>,
    free_timers: Vec<u32>,
    inbox: VecDeque<Letter<B>>,
    late: Vec<TimerId>,
    /// How often each word was executed by the main task; kept only where an edit asks.
    executed: Vec<(&'static str, u32)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Start(u16),
    Arrive(Slot),
    Timer(u16, u32, u32),
    Work(u16, u16, u32),
    Resume(u16, u32),
    Reset(u16, u16, u32, u32),
    Fault(u32),
    Heal(u32),
}

/// The simulated world at one moment. Cloning it is a keyframe or a fork.
#[derive(Clone, Debug)]
pub struct World<D: Domain> {
    core: Core<D>,
    actors: Vec<Box<dyn Actor<D>>>,
}

#[derive(Clone, Debug)]
struct Core<D: Domain> {
    plan: Rc<Plan<D>>,
    now: Micros,
    created: u64,
    queue: BinaryHeap<Reverse<(Micros, u64, Due)>>,
    procs: Vec<Proc<D::Body>>,
    wire: Wire<D::Body>,
    settings: Rc<D::Settings>,
    next_event: u32,
    next_message: u32,
    used: Vec<bool>,
    faults_left: u32,
    programs_left: u32,
    over: bool,
}

/// What an actor may do while it handles something: everything it causes goes through here.
pub struct Cx<'a, D: Domain> {
    core: &'a mut Core<D>,
    sink: &'a mut dyn Sink<D>,
    me: ProcId,
    causes: Causes,
    handling: Option<MsgId>,
}

impl<D: Domain> World<D> {
    /// The world before anything happens.
    pub fn new(plan: Rc<Plan<D>>) -> World<D> {
        let procs: Vec<Proc<D::Body>> = plan.procs.iter().map(Proc::new).collect();
        let wire = Wire::new(procs.len(), plan.latency.clone());
        let mut core = Core {
            now: Micros::ZERO,
            created: 0,
            queue: BinaryHeap::with_capacity(64),
            wire,
            settings: plan.settings.clone(),
            next_event: 0,
            next_message: 0,
            used: vec![false; plan.edits],
            faults_left: plan.faults.len() as u32,
            programs_left: plan.procs.iter().filter(|p| !p.tasks.is_empty()).count() as u32,
            over: false,
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
            self.core.now = self.core.plan.until;
            self.core.over = true;
            return false;
        };
        self.core.now = at;
        self.handle(due, sink);
        if self.core.next_event >= MOST_EVENTS {
            self.limit(ProcId(0), sink);
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

    /// Whether the run is over.
    pub fn is_over(&self) -> bool {
        self.core.over
    }

    /// How many events happened so far.
    pub fn events(&self) -> u32 {
        self.core.next_event
    }

    /// Which edits found an occasion so far.
    pub fn used_edits(&self) -> &[bool] {
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

    /// Until when a process is paused.
    pub fn paused_until(&self, proc: ProcId) -> Option<Micros> {
        self.core.procs[usize::from(proc.0)].paused_until
    }

    /// Whether a process is dead.
    pub fn is_down(&self, proc: ProcId) -> bool {
        !self.core.procs[usize::from(proc.0)].alive
    }

    /// Whether the way from one process to another is cut.
    pub fn is_cut(&self, from: ProcId, to: ProcId) -> bool {
        self.core.wire.is_cut(from, to)
    }

    /// Every program ended, nothing is on the way, no fault is due and no actor holds anything.
    fn quiet(&self) -> bool {
        self.core.programs_left == 0
            && self.core.wire.in_flight == 0
            && self.core.faults_left == 0
            && self.core.procs.iter().all(|p| p.inbox.is_empty() && p.paused_until.is_none())
            && !self.actors.iter().any(|a| a.busy())
    }

    fn handle(&mut self, due: Due, sink: &mut dyn Sink<D>) {
        match due {
            Due::Start(p) => self.start(ProcId(p), What::Start, sink),
            Due::Arrive(slot) => self.arrive(slot, sink),
            Due::Timer(p, slot, generation) => {
                self.timer(ProcId(p), TimerId { slot, generation }, sink);
            }
            Due::Work(p, task, generation) => {
                let now = &mut self.core.procs[usize::from(p)].tasks[usize::from(task)];
                if now.generation == generation {
                    now.state = TaskState::Ready;
                    self.run_ready(ProcId(p), Causes::NONE, sink);
                }
            }
            Due::Resume(p, generation) => {
                if self.core.procs[usize::from(p)].pause_generation == generation {
                    self.resume(ProcId(p), sink);
                }
            }
            Due::Reset(p, peer, life, lost) => {
                self.reset(ProcId(p), ProcId(peer), life, EventId(lost), sink);
            }
            Due::Fault(index) => {
                self.core.faults_left -= 1;
                let plan = self.core.plan.clone();
                let (_, fault, edit) = &plan.faults[index as usize];
                if self.fault(fault, index, *edit, sink) {
                    self.core.used[*edit] = true;
                }
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

    fn start(&mut self, p: ProcId, what: What<D::Note>, sink: &mut dyn Sink<D>) {
        let proc = &mut self.core.procs[usize::from(p.0)];
        if !proc.alive || proc.paused_until.is_some() || proc.started {
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
    fn with_actor(
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
            Arrival::Here(slots) => {
                for slot in slots {
                    if let Some(message) = self.core.wire.take(slot) {
                        self.deliver(message, sink);
                    }
                }
            }
        }
    }

    fn deliver(&mut self, message: OnTheWay<D::Body>, sink: &mut dyn Sink<D>) {
        let OnTheWay { id, from, to, conn, body, sent, .. } = message;
        let proc = &self.core.procs[usize::from(to.0)];
        let earlier_life = self.core.wire.life_at_opening(conn, to) != proc.life;
        if !proc.alive || proc.exited || earlier_life {
            let lost = self.core.emit(to, What::Lose(id), Causes::one(sent), sink);
            let proc = &self.core.procs[usize::from(to.0)];
            if proc.alive && !proc.exited {
                let life = self.core.procs[usize::from(from.0)].life;
                let at = self.core.now.plus(self.core.wire.latency(to, from));
                self.core.schedule(at, Due::Reset(from.0, to.0, life, lost.0));
            }
            return;
        }
        let arrived = self.core.emit(to, What::Deliver(id), Causes::one(sent), sink);
        self.post(to, Letter::Message { id, from, conn, body, arrived }, sink);
    }

    /// Hands a letter to a running process, or leaves it in the inbox of a paused one.
    fn post(&mut self, p: ProcId, letter: Letter<D::Body>, sink: &mut dyn Sink<D>) {
        let proc = &mut self.core.procs[usize::from(p.0)];
        if proc.paused_until.is_some() {
            proc.inbox.push_back(letter);
        } else {
            self.read_letter(p, letter, sink);
        }
    }

    fn read_letter(&mut self, p: ProcId, letter: Letter<D::Body>, sink: &mut dyn Sink<D>) {
        let resumed = self.core.procs[usize::from(p.0)].resumed.take();
        let (Letter::Message { arrived, .. } | Letter::Reset { arrived, .. }) = letter;
        let causes = Causes::one(arrived).and(resumed);
        let causes = self.with_actor(p, causes, sink, |actor, cx| match letter {
            Letter::Message { id, from, conn, body, .. } => {
                cx.handling = Some(id);
                actor.on_message(cx, from, conn, &body);
            }
            Letter::Reset { peer, .. } => actor.on_closed(cx, peer),
        });
        self.run_ready(p, causes, sink);
    }

    /// A reset by the peer's host: a living process answers bytes of a connection from before its
    /// restart so; a dead machine answers nothing.
    fn reset(&mut self, p: ProcId, peer: ProcId, life: u32, lost: EventId, sink: &mut dyn Sink<D>) {
        let proc = &self.core.procs[usize::from(p.0)];
        if !proc.alive || proc.exited || proc.life != life {
            return;
        }
        self.core.wire.abandon(p, peer);
        let arrived = self.core.emit(p, What::Reset(peer), Causes::one(lost), sink);
        self.post(p, Letter::Reset { peer, arrived }, sink);
    }

    fn timer(&mut self, p: ProcId, id: TimerId, sink: &mut dyn Sink<D>) {
        let proc = &mut self.core.procs[usize::from(p.0)];
        let slot = &proc.timers[id.slot as usize];
        if !slot.live || slot.generation != id.generation {
            return;
        }
        if proc.paused_until.is_some() {
            proc.late.push(id);
            return;
        }
        let (key, causes) = (slot.key, slot.causes);
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

    /// On resume: the program until it next waits, then messages by arrival, then timers by
    /// deadline; or timers first where the plan says so.
    fn resume(&mut self, p: ProcId, sink: &mut dyn Sink<D>) {
        let index = usize::from(p.0);
        let id = self.core.emit(p, What::Resume, Causes::NONE, sink);
        self.core.procs[index].paused_until = None;
        self.core.procs[index].resumed = Some(id);
        self.core.restart_work(p);
        if self.core.now >= self.core.plan.procs[index].start {
            self.start(p, What::Start, sink);
        }
        if self.core.plan.timers_first {
            self.late_timers(p, sink);
        }
        let resumed = self.core.procs[index].resumed;
        if self.core.procs[index].tasks.iter().any(|t| t.state == TaskState::Ready) {
            self.core.procs[index].resumed = None;
            self.run_ready(p, Causes::NONE.and(resumed), sink);
        }
        while self.core.procs[index].paused_until.is_none() {
            let Some(letter) = self.core.procs[index].inbox.pop_front() else {
                break;
            };
            self.core.procs[index].resumed = Some(id);
            self.read_letter(p, letter, sink);
        }
        self.late_timers(p, sink);
    }

    fn late_timers(&mut self, p: ProcId, sink: &mut dyn Sink<D>) {
        let late = std::mem::take(&mut self.core.procs[usize::from(p.0)].late);
        for id in late {
            self.timer(p, id, sink);
        }
    }

    /// Runs every task of `p` that is ready until all wait.
    fn run_ready(&mut self, p: ProcId, causes: Causes, sink: &mut dyn Sink<D>) {
        loop {
            let proc = &self.core.procs[usize::from(p.0)];
            if proc.paused_until.is_some() || !proc.alive {
                return;
            }
            let Some(task) = proc.tasks.iter().position(|t| t.state == TaskState::Ready) else {
                return;
            };
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
            if task == 0 && self.core.stop_before(p, &line.instr, causes, sink) {
                return;
            }
            causes = self.execute(p, task, &line.instr, causes, sink);
            let proc = &mut self.core.procs[usize::from(p.0)];
            proc.tasks[task].last = causes.iter().next();
            if proc.tasks[task].state != TaskState::Ready || !proc.alive {
                return;
            }
        }
        self.limit(p, sink);
    }

    fn limit(&mut self, p: ProcId, sink: &mut dyn Sink<D>) {
        if !self.core.over {
            self.core.emit(p, What::Limit, Causes::NONE, sink);
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
            Instr::Stop(which) => {
                let which = which.unwrap_or(task);
                self.end_task(p, which, causes, sink);
                return causes;
            }
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
        let id = self.core.emit(p, What::End(task), causes, sink);
        if task == 0 {
            let proc = &mut self.core.procs[usize::from(p.0)];
            for other in 1..proc.tasks.len() {
                proc.end(other);
            }
            proc.exited = true;
            proc.inbox.clear();
            proc.clear_timers();
            self.core.programs_left -= 1;
            self.with_actor(p, Causes::one(id), sink, |actor, cx| actor.on_exit(cx));
        }
    }

    /// Applies a fault; false when it found no occasion.
    fn fault(&mut self, fault: &Fault<D>, index: u32, edit: usize, sink: &mut dyn Sink<D>) -> bool {
        match fault {
            Fault::Pause(p, span) => self.core.pause(*p, *span, Causes::NONE, sink),
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
            Fault::Restart(p) => {
                let proc = &mut self.core.procs[usize::from(p.0)];
                if proc.alive {
                    return false;
                }
                proc.revive(&self.core.plan.procs[usize::from(p.0)]);
                self.core.programs_left +=
                    u32::from(!self.core.procs[usize::from(p.0)].tasks.is_empty());
                self.start(*p, What::Restart, sink);
                true
            }
            Fault::ClockStep(p, delta) => {
                let now = self.core.now;
                self.core.procs[usize::from(p.0)].clocks.wall.step(now, *delta);
                self.core.emit(*p, What::ClockStep(*delta), Causes::NONE, sink);
                self.core.replan_timers(*p);
                true
            }
            Fault::ClockRate(p, rate) => {
                let now = self.core.now;
                let clocks = &mut self.core.procs[usize::from(p.0)].clocks;
                for clock in [&mut clocks.wall, &mut clocks.mono, &mut clocks.boot] {
                    clock.set_rate(now, *rate);
                }
                self.core.emit(*p, What::ClockRate(*rate), Causes::NONE, sink);
                self.core.replan_timers(*p);
                true
            }
            Fault::Set(settings) => {
                self.core.settings = settings.clone();
                for actor in &mut self.actors {
                    actor.on_settings(settings);
                }
                self.core.emit(ProcId(0), What::Set(edit), Causes::NONE, sink);
                true
            }
        }
    }

    fn crash(&mut self, p: ProcId, how: CrashKind, sink: &mut dyn Sink<D>) -> bool {
        let proc = &mut self.core.procs[usize::from(p.0)];
        if !proc.alive || proc.exited {
            return false;
        }
        proc.die();
        self.core.wire.abandon_all(p);
        let has_program = !self.core.procs[usize::from(p.0)].tasks.is_empty();
        self.core.programs_left -= u32::from(has_program);
        let id = self.core.emit(p, What::Crash(how), Causes::NONE, sink);
        self.with_actor(p, Causes::one(id), sink, |actor, cx| actor.on_crash(cx, how));
        true
    }
}

impl<B> Proc<B> {
    fn new<D: Domain>(plan: &ProcPlan<D>) -> Proc<B> {
        let task = TaskNow {
            state: TaskState::Idle,
            pc: 0,
            outcome: Outcome::Ok,
            last: None,
            generation: 0,
            counted: false,
        };
        Proc {
            alive: true,
            started: false,
            exited: false,
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

    fn end(&mut self, task: usize) {
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

    fn free_timer(&mut self, slot: u32) {
        let timer = &mut self.timers[slot as usize];
        if timer.live {
            timer.live = false;
            timer.generation += 1;
            self.free_timers.push(slot);
        }
    }

    fn clear_timers(&mut self) {
        for slot in 0..self.timers.len() {
            self.free_timer(slot as u32);
        }
        self.late.clear();
    }

    fn die(&mut self) {
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

    fn revive<D: Domain>(&mut self, plan: &ProcPlan<D>) {
        self.alive = true;
        self.started = false;
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

impl<D: Domain> Core<D> {
    fn schedule(&mut self, at: Micros, due: Due) {
        self.created += 1;
        self.queue.push(Reverse((at, self.created, due)));
    }

    fn emit(
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
    fn stop_before(
        &mut self,
        p: ProcId,
        instr: &Instr<D::Op>,
        causes: Causes,
        sink: &mut dyn Sink<D>,
    ) -> bool {
        if !self.plan.stops.iter().any(|s| s.0 == p) {
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
        let plan = self.plan.clone();
        let mut paused = false;
        for (who, word, number, span, edit) in &plan.stops {
            if *who == p && word == verb && *number == count {
                paused |= self.pause(p, *span, causes, sink);
                self.used[*edit] = true;
            }
        }
        if !paused {
            self.procs[usize::from(p.0)].tasks[0].counted = false;
        }
        paused
    }

    /// Pauses a process; overlapping pauses unite.
    fn pause(&mut self, p: ProcId, span: Micros, causes: Causes, sink: &mut dyn Sink<D>) -> bool {
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
    fn park_work(&mut self, p: ProcId) {
        let now = self.now;
        for task in &mut self.procs[usize::from(p.0)].tasks {
            if let TaskState::Working(left, since) = task.state {
                task.state = TaskState::Working(left.since(now.since(since)), now);
                task.generation += 1;
            }
        }
    }

    fn restart_work(&mut self, p: ProcId) {
        for task in 0..self.procs[usize::from(p.0)].tasks.len() {
            let now = &mut self.procs[usize::from(p.0)].tasks[task];
            if let TaskState::Working(left, _) = now.state {
                now.state = TaskState::Working(left, self.now);
                self.plan_work(p, task, left);
            }
        }
    }

    fn plan_work(&mut self, p: ProcId, task: usize, left: Micros) {
        let now = &mut self.procs[usize::from(p.0)].tasks[task];
        now.generation += 1;
        let generation = now.generation;
        let at = self.now.plus(left);
        self.schedule(at, Due::Work(p.0, task as u16, generation));
    }

    fn set_timer(
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
    fn replan_timers(&mut self, p: ProcId) {
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

    fn heal(&mut self, way: (ProcId, ProcId), all: bool, sink: &mut dyn Sink<D>) -> bool {
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

impl<D: Domain> Cx<'_, D> {
    /// This process.
    pub fn me(&self) -> ProcId {
        self.me
    }

    /// What one of this process's clocks shows.
    pub fn clock(&self, kind: ClockKind) -> Local {
        self.core.procs[usize::from(self.me.0)].clocks.get(kind).read(self.core.now)
    }

    /// The true moment at which one of this process's clocks came to show a reading that it has
    /// passed; for what a paused process says late.
    pub fn passed(&self, kind: ClockKind, reading: Local) -> Micros {
        self.core.procs[usize::from(self.me.0)].clocks.get(kind).passed(reading)
    }

    /// Notes something; what follows is caused by it.
    pub fn note(&mut self, note: D::Note) -> EventId {
        let id = self.core.emit(self.me, What::Note(note), self.causes, self.sink);
        self.causes = Causes::one(id);
        id
    }

    /// Adds a cause to whatever follows.
    pub fn because(&mut self, id: Option<EventId>) {
        self.causes = self.causes.and(id);
    }

    /// The message that is being handled.
    pub fn handling(&self) -> Option<MsgId> {
        self.handling
    }

    /// Sends a request on the connection to `to`, which is opened where there is none; `note`
    /// says what the sender does with it.
    pub fn ask(&mut self, to: ProcId, body: D::Body, note: Option<D::Note>) -> MsgId {
        let lives = [self.life(self.me), self.life(to)];
        let conn = self.core.wire.conn(self.me, to, lives);
        self.send(conn, body, note)
    }

    /// Sends on a connection that a request came on.
    pub fn send(&mut self, conn: ConnId, body: D::Body, note: Option<D::Note>) -> MsgId {
        let (from, to) = (self.me, self.core.wire.other_end(conn, self.me));
        let number = self.core.wire.count_send(from, to);
        let id = MsgId(self.core.next_message);
        self.core.next_message += 1;
        let sent = EventId(self.core.next_event);
        let copy = body.clone();
        let (delivered, lost) = (None, None);
        self.sink.message(MessageInfo {
            from,
            to,
            conn,
            number,
            body: copy,
            sent,
            delivered,
            lost,
        });
        self.core.emit(from, What::Send(id, note), self.causes, self.sink);
        self.causes = Causes::one(sent);
        let (mut lost, mut travel) = (false, self.travel(from, to, number));
        for (a, b, n, fault, edit) in &self.core.plan.message_faults {
            if (*a, *b, *n) == (from, to, number) {
                self.core.used[*edit] = true;
                match fault {
                    MessageFault::Drop => lost = true,
                    MessageFault::Delay(span) => travel = travel.plus(*span),
                }
            }
        }
        let message = OnTheWay { id, from, to, conn, body, sent, due: false };
        match self.core.wire.depart(message, self.core.now, travel, lost) {
            Departure::Due(slot, at) => self.core.schedule(at, Due::Arrive(slot)),
            Departure::Lost => {
                self.core.emit(from, What::Lose(id), Causes::one(sent), self.sink);
            }
        }
        id
    }

    fn travel(&self, from: ProcId, to: ProcId, number: u32) -> Micros {
        let least = self.core.wire.latency(from, to);
        let jitter = self.core.plan.jitter;
        if jitter == Micros::ZERO {
            return least;
        }
        let owner = u64::from(from.0) << 16 | u64::from(to.0);
        let draw = keyed(self.core.plan.seed, Purpose::Jitter, owner, u64::from(number));
        least.plus(Micros(up_to(draw, jitter.0)))
    }

    fn life(&self, p: ProcId) -> u32 {
        self.core.procs[usize::from(p.0)].life
    }

    /// Gives the connection to `peer` up: the next send opens a fresh one.
    pub fn abandon(&mut self, peer: ProcId) {
        self.core.wire.abandon(self.me, peer);
    }

    /// Sets a timer on one of this process's clocks; `key` comes back in [`Actor::on_timer`].
    pub fn timer(&mut self, clock: ClockKind, deadline: Local, key: u64) -> TimerId {
        self.core.set_timer(self.me, clock, deadline, TimerKey::Actor(key), self.causes)
    }

    /// Cancels a timer; one that fired already is no error.
    pub fn cancel(&mut self, id: TimerId) {
        let proc = &mut self.core.procs[usize::from(self.me.0)];
        if proc.timers[id.slot as usize].generation == id.generation {
            proc.free_timer(id.slot);
        }
    }

    /// Ends the wait of a task: it goes on when this handler is done.
    pub fn finish(&mut self, task: usize, outcome: Outcome) {
        let now = &mut self.core.procs[usize::from(self.me.0)].tasks[task];
        if matches!(now.state, TaskState::Waiting(_)) {
            now.state = TaskState::Ready;
            now.outcome = outcome;
        }
    }

    /// Starts the handlers of a notice, where the scenario has any that are not running.
    pub fn notify(&mut self, notice: &str) {
        let tasks = self.core.plan.procs[usize::from(self.me.0)].tasks.clone();
        for (index, task) in tasks.iter().enumerate() {
            let waits = matches!(&task.trigger, Trigger::Notice(name) if name == notice);
            let now = &mut self.core.procs[usize::from(self.me.0)].tasks[index];
            if waits && matches!(now.state, TaskState::Idle | TaskState::Ended) {
                now.state = TaskState::Ready;
                now.pc = 0;
                let id = self.core.emit(self.me, What::Handle(index), self.causes, self.sink);
                self.causes = Causes::one(id);
            }
        }
    }

    /// The line that a task of this process is executing.
    pub fn pc(&self, task: usize) -> Pc {
        self.core.procs[usize::from(self.me.0)].tasks[task].pc
    }

    /// The locals of this process.
    pub fn locals(&self) -> &[i64] {
        &self.core.procs[usize::from(self.me.0)].locals
    }

    /// Sets a local of this process.
    pub fn set_local(&mut self, place: usize, value: i64) {
        self.core.procs[usize::from(self.me.0)].locals[place] = value;
    }

    /// A random number for this process: the same key gives the same number in every run.
    pub fn random(&self, purpose: Purpose, ordinal: u64) -> u64 {
        keyed(self.core.plan.seed, purpose, u64::from(self.me.0), ordinal)
    }
}
