//! The lengths of a pause that change an order.
//!
//! A pause begins before an instruction and ends at a moment, its *return*. Until then the rest of
//! the world goes on as if the process stood still for ever; from then on whatever the return brings
//! about moves with it, microsecond for microsecond, and everything else stays where it is. So a run
//! changes its order only where something that moves passes something that does not, at a node that
//! handles both, or before the judge, who hears all nodes. From one return the next one at which that
//! can happen is computed ([`Trace::until_next`]); in between the order is the same.
//!
//! Two things can spoil that. What is compared without being awaited (a client that looks at its
//! clock) turns once within such a stretch. And what waits for the later of two things (a message
//! behind another one on its stream) stands still first and moves then. So the far end of a stretch is
//! run too: where it is not what the beginning foretold, the stretch is halved until the bend is found,
//! and another one begins there.

use super::ear::Ear;
use super::repeats::{Repeat, Tape, repeat};
use crate::judge::Setup;
use crate::run::Compiled;
use crate::sim::{Halt, Micros, Plan, ProcId, Step, Stop, World, sort_by_key};
use crate::systems::{Fact, Locks};

use std::rc::Rc;

/// A pause that ends with the run is as long as any longer one.
const FOREVER: Micros = Micros(u64::MAX);
/// A microsecond, the smallest step of time.
const TICK: Micros = Micros(1);

/// A world in which a process stands still before an instruction, with what was heard so far.
#[derive(Clone, Debug)]
pub(super) struct Still {
    world: World<Locks>,
    ear: Ear,
    who: ProcId,
    /// When the pause began.
    pub from: Micros,
}

impl Still {
    /// Runs the scenario until the process is about to execute that instruction and stops there; none
    /// where it never is.
    pub fn before(compiled: &Compiled, step: Step, setup: Option<&Setup>) -> Option<Still> {
        let (who, word, number) = step;
        let mut plan: Plan<Locks> = (*compiled.plan).clone();
        plan.stops.push(Stop {
            proc: who,
            task: 0,
            word: word.into(),
            number,
            halt: Some(Halt::Pause),
            span: FOREVER,
            edit: plan.edits,
        });
        plan.edits += 1;
        let nodes = plan.procs.len();
        let mut world = World::new(Rc::new(plan));
        let mut ear = Ear::new(nodes, setup);
        while world.halt(who).map(|h| h.1) != Some(FOREVER) {
            if !world.step(&mut ear) {
                return None;
            }
        }
        let from = world.now();
        Some(Still { world, ear, who, from })
    }

    /// Goes on to just before a moment, while the process stands still.
    pub fn go_to(&mut self, at: Micros) {
        while self.world.next_due().is_some_and(|due| due.at < at) && self.world.step(&mut self.ear)
        {
        }
    }

    /// How many events there were so far.
    pub fn heard(&self) -> u32 {
        self.ear.heard()
    }

    /// What the run hears whose pause ends at this moment, and when that run ends. The moment is not
    /// before the one that was gone to.
    pub fn hear(&self, back: Micros) -> (Ear, Micros) {
        let (mut world, mut ear) =
            (self.world.clone().resuming_at(self.who, back), self.ear.clone());
        world.run(&mut ear);
        (ear, world.now())
    }

    /// The same run with everything that was handled in it, or was still due at its end.
    fn trace(&self, back: Micros) -> (u64, Trace) {
        let (mut world, mut ear) =
            (self.world.clone().resuming_at(self.who, back), self.ear.clone());
        let mut trace = Trace::default();
        let until = world.until();
        while let Some(due) = world.next_due().filter(|due| due.at <= until) {
            let before = ear.weighings;
            let address = due.message.map_or(0, |m| ear.address(m));
            if !world.step(&mut ear) {
                break;
            }
            let entry = Entry { at: due.at, what: due.what, address };
            trace.last = due.at;
            trace.add(due.whom.map(|p| p.0), entry);
            if ear.weighings > before {
                trace.add(Some(JUDGE), entry);
            }
        }
        for due in world.all_due() {
            let address = due.message.map_or(0, |m| ear.address(m));
            trace.add(due.whom.map(|p| p.0), Entry { at: due.at, what: due.what, address });
        }
        trace.end(until);
        (ear.order(), trace)
    }

    /// After this moment nothing happens any more while the process stands still, and no deadline
    /// that it knows of is to come. And from when on what happens repeats itself.
    fn last(&self) -> (Micros, Option<Repeat>) {
        let (mut still, mut tape) = (self.clone(), Tape::default());
        let mut last = still.from;
        for fact in still.world.facts(still.who) {
            if let Fact::Ring { until, .. } = fact {
                last = last.max(until.unwrap_or_default());
            }
        }
        let end = still.world.until();
        let own = still.world.all_due().into_iter();
        let own = own.filter(|due| due.whom == Some(still.who) && due.at <= end).map(|due| due.at);
        let longest = still.world.plan().settings.longest();
        let least = own.fold(still.from.plus(longest).plus(longest), Micros::max);
        while let Some(due) = still.world.next_due().filter(|due| due.at != FOREVER) {
            tape.handled(&due);
            if !still.world.step(&mut tape) {
                break;
            }
            last = last.max(due.at);
        }
        let repeat = repeat(&still.world, &tape, least);
        // A whole second more, because whoever comes back then is alone, and reads better.
        let second = Micros::from_secs(1);
        let last = last.plus(Micros(second.0 - last.since(still.from).0 % second.0));
        (last.min(still.world.until()), repeat)
    }
}

/// The list of what the judge weighs, beside those of the nodes.
const JUDGE: u16 = u16::MAX;
/// The list of what all nodes meet at once: faults, and the end.
const ALL: u16 = u16::MAX - 1;

#[derive(Clone, Copy, PartialEq, Debug)]
struct Entry {
    at: Micros,
    what: (u32, u32),
    address: u64,
}

/// What was handled in a run, and by whom.
#[derive(Clone, Default, Debug)]
struct Trace {
    entries: Vec<(u16, Entry)>,
    /// When the last thing was handled.
    last: Micros,
}

impl Trace {
    fn add(&mut self, whom: Option<u16>, entry: Entry) {
        self.entries.push((whom.unwrap_or(ALL), entry));
    }

    /// The end of the run passes over every node.
    fn end(&mut self, until: Micros) {
        let place = self.entries.iter().position(|e| e.1.at > until).unwrap_or(self.entries.len());
        let end = Entry { at: until, what: (u32::MAX - 4, 0), address: 0 };
        self.entries.insert(place, (ALL, end));
        let mut lists: Vec<(u16, Vec<Entry>)> = Vec::new();
        for (node, _) in &self.entries {
            if *node != ALL && !lists.iter().any(|list| list.0 == *node) {
                lists.push((*node, Vec::new()));
            }
        }
        sort_by_key(&mut lists, |list| list.0);
        for (node, entry) in self.entries.drain(..) {
            // What concerns all nodes stands in each one's list.
            let whose = lists.iter_mut().filter(|list| node == ALL || list.0 == node);
            whose.for_each(|list| list.1.push(entry));
        }
        let each = |(node, list): (u16, Vec<Entry>)| list.into_iter().map(move |e| (node, e));
        self.entries = lists.into_iter().flat_map(each).collect();
    }

    /// How many microseconds the return can come later until two things at one node meet: computed
    /// from the same run with a return one microsecond later, by which everything either moved or
    /// did not. None where nothing ever meets; an error where the order is another already.
    fn until_next(&self, later: &Trace) -> Result<Option<Micros>, ()> {
        if self.entries.len() != later.entries.len() {
            return Err(());
        }
        let mut next: Option<Micros> = None;
        let mut before: Option<(u16, Micros, u64)> = None;
        for ((node, one), (other, two)) in self.entries.iter().zip(&later.entries) {
            if (node, one.what, one.address) != (other, two.what, two.address) {
                return Err(());
            }
            let speed = two.at.since(one.at).0;
            if let Some((_, at, faster)) = before.filter(|b| b.0 == *node && b.2 > speed) {
                let gap = Micros(one.at.since(at).0.div_ceil(faster - speed).max(1));
                next = Some(next.map_or(gap, |n| n.min(gap)));
            }
            before = Some((*node, one.at, speed));
        }
        Ok(next)
    }
}

impl Trace {
    /// Whether another run is the one that comes out when everything goes on moving as it began to:
    /// `later` is a microsecond later, `then` so much.
    fn goes_on(&self, later: &Trace, so_much: Micros, then: &Trace) -> bool {
        let all = self.entries.iter().zip(&later.entries).zip(&then.entries);
        self.entries.len() == then.entries.len()
            && all.into_iter().all(|(((node, one), (_, two)), (other, three))| {
                let speed = two.at.since(one.at).0;
                (node, one.what, one.address) == (other, three.what, three.address)
                    && three.at == one.at.plus(Micros(speed.saturating_mul(so_much.0)))
            })
    }
}

/// A stretch of lengths that lead to one order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stretch {
    /// The first of them.
    pub from: Micros,
    /// The order that they lead to.
    pub order: u64,
}

/// Lengths that are not looked at, because those of one period before stand for them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Skipped {
    /// The first of them.
    pub from: Micros,
    /// The first that is looked at again.
    pub to: Micros,
    /// The period.
    pub period: Micros,
}

/// Goes through the returns of a pause from the earliest to the latest.
#[derive(Clone, Debug)]
pub(super) struct Sweep {
    still: Still,
    /// The same as it was at first, and how many stretches of another sweep were found here too; none
    /// where it goes its own way.
    behind: Option<(Box<Still>, usize)>,
    /// The next return to look at.
    at: Micros,
    last: Micros,
    /// Where the rest of the world repeats itself, until that is made use of.
    repeat: Option<Repeat>,
    /// How long a run goes on after a return in which it does.
    slowest: Micros,
    /// The lengths that repeat what shorter ones brought about, a whole number of periods shorter.
    pub skipped: Option<Skipped>,
    /// What was found, in order; stretches that follow each other differ.
    pub found: Vec<Stretch>,
    /// How many runs it took.
    pub runs: u64,
    /// How much was handled in all of them.
    pub work: u64,
}

impl Sweep {
    /// Prepares to vary the length of a pause before an instruction.
    pub fn new(compiled: &Compiled, step: Step) -> Option<Sweep> {
        let still = Still::before(compiled, step, None)?;
        let at = still.from.plus(TICK);
        let (last, repeat) = still.last();
        Some(Sweep {
            behind: Some((Box::new(still.clone()), 0)),
            still,
            at,
            last: last.plus(TICK),
            repeat,
            slowest: Micros::ZERO,
            skipped: None,
            found: Vec::new(),
            runs: 0,
            work: 0,
        })
    }

    /// The longest pause that is looked at.
    pub fn longest(&self) -> Micros {
        self.last.since(self.still.from).max(TICK)
    }

    /// Whether all stretches are found.
    pub fn is_done(&self) -> bool {
        self.at > self.last
    }

    /// The order that a pause of this length leads to.
    pub fn order_at(&self, length: Micros) -> u64 {
        let length = match self.skipped.filter(|s| s.from <= length && length < s.to) {
            Some(s) => Micros(length.0 - (length.since(s.from).0 / s.period.0 + 1) * s.period.0),
            None => length,
        };
        let after = self.found.partition_point(|s| s.from <= length);
        after.checked_sub(1).and_then(|i| self.found.get(i)).map_or(0, |s| s.order)
    }

    /// Looks whether one more stretch of a sweep that is done is one of this world too, in which another
    /// check is made. A check that has let everything pass has changed nothing, and it lets the same pass
    /// wherever all comes in the same order: so one run says it of the whole stretch. Where one is another,
    /// this world goes its own way.
    pub fn step_behind(&mut self, lead: &Sweep) {
        let Some((_, place)) = self.behind else { return self.step() };
        let Some(stretch) = lead.found.get(place) else {
            (self.found, self.skipped) = (lead.found.clone(), lead.skipped);
            self.at = self.last.plus(TICK);
            return;
        };
        let back = self.still.from.plus(stretch.from);
        self.still.go_to(back);
        let (order, trace) = self.still.trace(back);
        self.runs += 1;
        self.work += trace.entries.len() as u64;
        let same = order == stretch.order && self.last == lead.last;
        match self.behind.take() {
            Some((first, place)) if same => self.behind = Some((first, place + 1)),
            Some((first, _)) => self.still = *first,
            None => {}
        }
    }

    /// Looks at one stretch.
    pub fn step(&mut self) {
        let from = self.at;
        self.still.go_to(from);
        let (order, trace) = self.still.trace(from);
        if self.found.last().is_none_or(|s| s.order != order) {
            self.found.push(Stretch { from: from.since(self.still.from), order });
        }
        let (_, later) = self.still.trace(from.plus(TICK));
        self.runs += 2;
        self.work += (trace.entries.len() + later.entries.len()) as u64;
        let next = match trace.until_next(&later) {
            Err(()) => Some(from.plus(TICK)),
            Ok(gap) => gap.map(|gap| from.plus(gap)),
        };
        let end = next.map_or(self.last, |next| Micros(next.0 - 1).min(self.last));
        let mut bends = |at: Micros| {
            self.runs += 1;
            let (there, then) = self.still.trace(at);
            self.work += then.entries.len() as u64;
            there != order || !trace.goes_on(&later, at.since(from), &then)
        };
        let bend = first(from, end, &mut bends);
        self.at = bend.unwrap_or(end.plus(TICK));
        if self.repeat.is_some_and(|repeat| self.at > repeat.from) {
            let longest = trace.last.since(from).max(later.last.since(from));
            self.slowest = self.slowest.max(longest);
            self.skip();
        }
    }

    /// Whoever comes back a whole number of periods later meets the same; only towards the end of the run
    /// there is less time for what it brings about.
    fn skip(&mut self) {
        let until = self.still.world.until();
        let Some(Repeat { from, period }) = self.repeat else { return };
        if self.at < from.plus(period) {
            return;
        }
        self.repeat = None;
        let needed = self.at.plus(self.slowest).plus(period);
        let periods = until.since(needed).0 / period.0;
        if needed < until && periods > 0 {
            let start = self.at.since(self.still.from);
            self.at = Micros(self.at.0 + periods * period.0);
            self.skipped =
                Some(Skipped { from: start, to: self.at.since(self.still.from), period });
        }
    }
}

/// The first moment after `from` and not after `to` for which this holds, if it holds at `to` and does
/// not cease to hold.
fn first(from: Micros, to: Micros, holds: &mut dyn FnMut(Micros) -> bool) -> Option<Micros> {
    if to <= from || !holds(to) {
        return None;
    }
    let (mut not, mut does) = (from, to);
    while does.0 - not.0 > 1 {
        let middle = Micros(not.0 + (does.0 - not.0) / 2);
        if holds(middle) { does = middle } else { not = middle }
    }
    Some(does)
}
