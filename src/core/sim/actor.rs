//! What runs in a process: the trait of servers and client libraries, and what they may do.

use std::fmt::Debug;

use super::heart::{Due, Heart};
use super::proc::{TaskState, TimerKey};
use super::program::{Outcome, Pc, Trigger};
use super::record::{Causes, EventId, MessageInfo, MsgId, Sink, What};
use super::rng::{Purpose, keyed, up_to};
use super::time::{ClockKind, Clocks, Local, Micros};
use super::wire::{ConnId, Departure, MessageFault, OnTheWay};

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
    /// What an observer of all processes knows at once, for what actors note about themselves.
    type Commons: Clone + Default + Debug;

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

/// How a process is stopped for a while. It executes nothing meanwhile, and what arrives waits in
/// its inbox: nobody else can tell one from the other.
///
/// Stops of one kind unite where they overlap. Stops of different kinds do not disturb each other:
/// the process goes on when the last of them is over, and each clock stands still as long as any
/// stop is open that stops it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Halt {
    /// All clocks run on: garbage collection, `SIGSTOP`, a starved processor.
    Pause,
    /// The host sleeps: the monotonic clock stands still, wall and boot time run on.
    Suspend,
    /// A virtual machine is stopped: all its clocks stand still, and stay behind from then on.
    Freeze,
}

impl Halt {
    /// All kinds, from the mildest.
    pub const ALL: [Halt; 3] = [Halt::Pause, Halt::Suspend, Halt::Freeze];

    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Halt::Pause => "pause",
            Halt::Suspend => "suspend",
            Halt::Freeze => "freeze",
        }
    }

    /// Whether a clock stands still under it.
    pub const fn stops(self, clock: ClockKind) -> bool {
        match self {
            Halt::Pause => false,
            Halt::Suspend => matches!(clock, ClockKind::Mono),
            Halt::Freeze => true,
        }
    }
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

/// Actors are not shown: a `Debug` in each one's table would be code in the page that never runs.
impl<D: Domain> Debug for dyn Actor<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Actor")
    }
}

/// What a process runs: a server, or the library behind a client's program.
pub trait Actor<D: Domain> {
    /// A copy for a keyframe or a fork.
    fn boxed(&self) -> Box<dyn Actor<D>>;
    /// The process starts, for the first time or again.
    fn on_start(&mut self, _cx: &mut Cx<'_, D>) {}
    /// A message is handled.
    fn on_message(&mut self, cx: &mut Cx<'_, D>, from: ProcId, conn: ConnId, body: &D::Body);
    /// A message that no process has sent is handled: nobody waits for an answer.
    fn on_outside(&mut self, _cx: &mut Cx<'_, D>, _body: &D::Body) {}
    /// Whether such a message means anything to it as it is now; where it does not, it never comes,
    /// and the edit that sends it has found no occasion.
    fn heeds(&self, _body: &D::Body, _now: Micros, _clocks: &Clocks) -> bool {
        true
    }
    /// A timer of this actor is handled, late where the process was paused.
    fn on_timer(&mut self, _cx: &mut Cx<'_, D>, _key: u64) {}
    /// A task calls one of the domain's words.
    fn on_call(&mut self, _cx: &mut Cx<'_, D>, _task: usize, _op: &D::Op) -> Flow {
        Flow::Done(Outcome::Ok)
    }
    /// Its clocks have changed from `before` to what they are now: a step, another rate, a sleep that
    /// began or ended. This is no code of the process, which may be stopped or dead: what it says
    /// here of its deadlines is a fact about its clocks.
    fn on_clock(&mut self, _cx: &mut Cx<'_, D>, _before: &Clocks) {}
    /// The task whose wait this message is about to end; while that task is paused, the message
    /// waits for it.
    fn task_of(&self, _body: &D::Body) -> Option<usize> {
        None
    }
    /// The same for a timer of this actor.
    fn task_of_timer(&self, _key: u64) -> Option<usize> {
        None
    }
    /// That connection to the peer is gone: nothing asked on it, or on an older one, will be answered.
    /// What a process that had stood still meanwhile has asked on a newer one since may be.
    fn on_closed(&mut self, _cx: &mut Cx<'_, D>, _peer: ProcId, _conn: ConnId) {}
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
    pub(super) slot: u32,
    pub(super) generation: u32,
}

/// What an actor may do while it handles something: everything it causes goes through here.
pub struct Cx<'a, D: Domain> {
    pub(super) core: &'a mut Heart<D>,
    pub(super) sink: &'a mut dyn Sink<D>,
    pub(super) me: ProcId,
    pub(super) causes: Causes,
    pub(super) handling: Option<MsgId>,
}

impl<D: Domain> Cx<'_, D> {
    /// This process.
    pub fn me(&self) -> ProcId {
        self.me
    }

    /// The moment of true time, which no clock of a process need show: for what is said of its
    /// clocks, never for what it decides.
    pub fn now(&self) -> Micros {
        self.core.now
    }

    /// Whether this process stands still: only its clocks can bring it to say something then.
    pub fn is_still(&self) -> bool {
        self.core.procs[usize::from(self.me.0)].is_still()
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

    /// The true moment at which one of this process's clocks, as it runs now, will show a reading;
    /// none for a clock that stands still before it.
    pub fn when(&self, kind: ClockKind, reading: Local) -> Option<Micros> {
        let now = self.core.now;
        self.core.procs[usize::from(self.me.0)].clocks.get(kind).when(now, reading)
    }

    /// Whether a task still waits for what it asked; a task that was stopped does not.
    pub fn waits(&self, task: usize) -> bool {
        let tasks = &self.core.procs[usize::from(self.me.0)].tasks;
        tasks.get(task).is_some_and(|t| matches!(t.state, TaskState::Waiting(_)))
    }

    /// Notes something; what follows is caused by it.
    pub fn note(&mut self, note: D::Note) -> EventId {
        let id = self.core.emit(self.me, What::Note(note), self.causes, self.sink);
        self.causes = Causes::one(id);
        id
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
        let message =
            self.announce(conn, (from, to, number), body, None, |id| What::Send(id, note));
        let (id, sent) = (message.id, message.sent);
        self.causes = Causes::one(sent);
        let (mut lost, mut travel) = (false, self.travel(from, to, number));
        let mut copies = Vec::new();
        for (a, b, n, fault, edit) in &self.core.plan.message_faults {
            if (*a, *b, *n) == (from, to, number) {
                self.core.used[*edit].get_or_insert(sent);
                match fault {
                    MessageFault::Drop => lost = true,
                    MessageFault::Delay(span) => travel = travel.plus(*span),
                    MessageFault::Duplicate(later) => copies.push(*later),
                }
            }
        }
        for later in copies {
            let later = later.unwrap_or(self.core.wire.latency(from, to));
            // The network makes a copy, not the sender: it counts as no send.
            let lives = [self.life(from), self.life(to)];
            let apart = self.core.wire.apart(from, to, lives);
            let (body, numbered) = (message.body.clone(), (from, to, number));
            let copy = self.announce(apart, numbered, body, Some(id), |copy| What::Copy(copy, id));
            self.depart(copy, travel.plus(later), false);
        }
        self.depart(message, travel, lost);
        id
    }

    /// Records a message and says that it is there; it has not departed yet.
    fn announce(
        &mut self,
        conn: ConnId,
        (from, to, number): (ProcId, ProcId, u32),
        body: D::Body,
        copy_of: Option<MsgId>,
        what: impl FnOnce(MsgId) -> What<D::Note>,
    ) -> OnTheWay<D::Body> {
        let id = MsgId(self.core.next_message);
        self.core.next_message += 1;
        let sent = EventId(self.core.next_event);
        let (delivered, lost, shown) = (None, None, body.clone());
        self.sink.message(MessageInfo {
            from,
            to,
            conn,
            number,
            body: shown,
            sent,
            delivered,
            lost,
            copy_of,
        });
        self.core.emit(from, what(id), self.causes, self.sink);
        OnTheWay { id, from, to, conn, body, sent, due: false }
    }

    /// Puts a message on its stream, unless it is lost there.
    fn depart(&mut self, message: OnTheWay<D::Body>, travel: Micros, lost: bool) {
        let (id, from, sent) = (message.id, message.from, message.sent);
        match self.core.wire.depart(message, self.core.now, travel, lost) {
            Departure::Due(slot, at) => self.core.schedule(at, Due::Arrive(slot)),
            Departure::Lost => {
                self.core.emit(from, What::Lose(id), Causes::one(sent), self.sink);
            }
        }
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

    /// The connection to `peer` on which this process sends now.
    pub fn connection(&self, peer: ProcId) -> Option<ConnId> {
        self.core.wire.current(self.me, peer)
    }

    /// Gives that connection to `peer` up, unless it was given up before.
    pub fn hang_up(&mut self, peer: ProcId, conn: Option<ConnId>) {
        if conn.is_some() && self.connection(peer) == conn {
            self.abandon(peer);
        }
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

    /// Ends the main program and every task that began with the process. The process ends with its
    /// last handler, or at once where none is running.
    pub fn stop_program(&mut self) {
        let tasks = self.core.plan.procs[usize::from(self.me.0)].tasks.clone();
        let proc = &mut self.core.procs[usize::from(self.me.0)];
        proc.stopping = !proc.exited;
        for (index, task) in tasks.iter().enumerate() {
            if task.trigger == Trigger::Start && proc.tasks[index].state != TaskState::Ended {
                proc.end(index);
            }
        }
        // What came for a paused one waits for nobody any more.
        let kept: Vec<usize> = proc.kept.iter().map(|k| k.0).collect();
        for task in kept {
            let at = self.core.now;
            self.core.schedule(at, Due::ResumeTask(self.me.0, task as u16));
        }
    }

    /// Starts the handlers of a notice, where the scenario has any that are not running. True where
    /// there is one.
    pub fn notify(&mut self, notice: &str) -> bool {
        let mut any = false;
        let tasks = self.core.plan.procs[usize::from(self.me.0)].tasks.clone();
        for (index, task) in tasks.iter().enumerate() {
            let waits = matches!(&task.trigger, Trigger::Notice(name) if name == notice);
            let now = &mut self.core.procs[usize::from(self.me.0)].tasks[index];
            any |= waits;
            if waits && matches!(now.state, TaskState::Idle | TaskState::Ended) {
                now.state = TaskState::Ready;
                now.pc = 0;
                let id = self.core.emit(self.me, What::Handle(index), self.causes, self.sink);
                self.causes = Causes::one(id);
            }
        }
        any
    }

    /// Ends this process in an orderly way, when this handler is done: it shuts itself down.
    pub fn leave(&mut self) {
        let now = self.core.now;
        self.core.schedule(now, Due::Leave(self.me.0));
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

    /// What an observer of all processes knows. It is for notes, like [`Cx::now`]: no process may
    /// decide by it.
    pub fn commons(&mut self) -> &mut D::Commons {
        &mut self.core.commons
    }

    /// A random number for this process: the same key gives the same number in every run.
    pub fn random(&self, purpose: Purpose, ordinal: u64) -> u64 {
        keyed(self.core.plan.seed, purpose, u64::from(self.me.0), ordinal)
    }
}
