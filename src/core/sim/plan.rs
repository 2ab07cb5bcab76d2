//! Everything that determines a run: processes, links, faults, seed.

use std::rc::Rc;

use super::actor::{Actor, CrashKind, Domain, Halt, ProcId};
use super::program::Task;
use super::time::{Clocks, Micros, Ratio};
use super::wire::MessageFault;

/// What a fault does when its time has come. Faults that wait for an occasion are in [`Plan`].
#[derive(Clone, Debug)]
pub enum Fault<D: Domain> {
    /// Stops a process for that long.
    Halt(ProcId, Halt, Micros),
    /// Stops one task of a process for that long; the others go on.
    PauseTask(ProcId, usize, Micros),
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
    /// Hands a process a message that no process has sent.
    Outside(ProcId, D::Body),
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

/// A stop that waits for its occasion: the `number`-th execution of `word` by a task.
#[derive(Clone, Debug)]
pub struct Stop {
    /// Whose task.
    pub proc: ProcId,
    /// Which of its tasks.
    pub task: usize,
    /// The word.
    pub word: String,
    /// From 1.
    pub number: u32,
    /// How the whole process stops; none where only that task does.
    pub halt: Option<Halt>,
    /// For how long.
    pub span: Micros,
    /// The index of its edit.
    pub edit: usize,
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
    /// What stops before the n-th execution of a word in one of a process's tasks.
    pub stops: Vec<Stop>,
    /// Faults of single messages: (from, to, number).
    pub message_faults: Vec<(ProcId, ProcId, u32, MessageFault, usize)>,
    /// How many edits there are.
    pub edits: usize,
    /// The latest end of the run.
    pub until: Micros,
}
