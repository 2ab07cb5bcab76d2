//! What a search needs of a world: to see what is due, to know which instructions were executed, and
//! to let a pause that has begun end at another moment.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::actor::{Domain, Halt, ProcId};
use super::heart::{Due, Heart};
use super::record::MsgId;
use super::time::Micros;
use super::world::World;

/// An execution of a word by a process's main task: which word, and the how manieth.
pub type Step = (ProcId, &'static str, u32);

/// Something that a world will handle at a moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pending {
    /// When.
    pub at: Micros,
    /// The process that handles it; none for a fault that concerns several.
    pub whom: Option<ProcId>,
    /// What kind of thing it is, and its number among the process's own things of that kind.
    pub what: (u32, u32),
    /// The message that arrives.
    pub message: Option<MsgId>,
}

impl<D: Domain> World<D> {
    /// What will be handled next; what no longer has an effect is among it.
    pub fn next_due(&self) -> Option<Pending> {
        let Reverse((at, _, due)) = self.core.queue.peek()?;
        Some(self.core.pending(*at, *due))
    }

    /// Everything that is due, in order.
    pub fn all_due(&self) -> Vec<Pending> {
        let mut queue = self.core.queue.clone();
        let next = || queue.pop().map(|Reverse((at, _, due))| self.core.pending(at, due));
        std::iter::from_fn(next).collect()
    }

    /// From here on this world and its copies remember every word that a main task executes.
    pub fn call_roll(&mut self) {
        self.core.roll = Some(Vec::new());
    }

    /// The words that main tasks executed since then, in order.
    pub fn roll(&self) -> &[Step] {
        self.core.roll.as_deref().unwrap_or_default()
    }

    /// Lets a paused process resume at another moment, which is not in the past.
    ///
    /// It is the world that would be here if the pause had had that length from the beginning: the
    /// resumption keeps its place in the order of creation.
    #[must_use]
    pub fn resuming_at(mut self, p: ProcId, at: Micros) -> World<D> {
        let world = &mut self;
        let proc = &mut world.core.procs[usize::from(p.0)];
        let until = proc.halts[Halt::Pause as usize].replace(at);
        let mut due = std::mem::take(&mut world.core.queue).into_vec();
        // Of a stop of another kind that ends at the same moment, another entry tells the end.
        let own = due.iter_mut().filter(|d| Some(d.0.0) == until && d.0.2 == Due::Resume(p.0));
        if let Some(Reverse((when, ..))) = own.max_by_key(|d| d.0.1) {
            *when = at;
        }
        world.core.queue = BinaryHeap::from(due);
        self
    }
}

impl<D: Domain> Heart<D> {
    fn pending(&self, at: Micros, due: Due) -> Pending {
        let mut message = None;
        let (whom, what) = match due {
            Due::Start(p) => (Some(p), (0, 0)),
            Due::Arrive(slot) => {
                let arriving = self.wire.get(slot);
                message = arriving.map(|m| m.id);
                (arriving.map(|m| m.to.0), (1, 0))
            }
            Due::Timer(p, slot, generation) => (Some(p), (2 + slot, generation)),
            // Numbers of timers' places are small; all other kinds count down from the top.
            Due::Work(p, task, generation) => {
                (Some(p), (u32::MAX - u32::from(task) - 8, generation))
            }
            Due::Resume(p) => (Some(p), (u32::MAX, 0)),
            Due::ResumeTask(p, task) => (Some(p), (u32::MAX - 4, u32::from(task))),
            Due::Reset(p, ..) => (Some(p), (u32::MAX - 1, 0)),
            Due::Fault(index) => (None, (u32::MAX - 2, index)),
            Due::Heal(index) => (None, (u32::MAX - 3, index)),
            Due::Leave(p) => (Some(p), (u32::MAX - 5, 0)),
        };
        Pending { at, whom: whom.map(ProcId), what, message }
    }
}
