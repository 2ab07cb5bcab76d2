//! The knife edge: the shortest pause (or cut, or delay) that does it, found by bisection.

use crate::judge::{CellId, Section, Testimony};
use crate::run::{Compiled, Edit, Run, ScenarioError, Span};
use crate::sim::{EventId, Micros, MsgId, ProcId, sort};

/// The step of the search: an edge is told to the millisecond.
const STEP: Micros = Micros::from_millis(1);
/// The longest length that is tried.
const LONGEST: Micros = Micros::from_secs(10 * 60);

/// Into how many grains the length of the run is divided.
const GRAINS: u64 = 400;

/// How a search compiles the scenario under other edits.
pub type Compile<'s> = dyn Fn(&[String]) -> Result<Compiled, Vec<ScenarioError>> + 's;

/// What a longer pause may bring about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// Harm at the resource.
    Harm,
    /// A write that arrives when a newer grant exists, and is rejected.
    Rejected,
    /// A write that arrives when a newer grant exists, whatever becomes of it.
    Stale,
}

impl Goal {
    /// Whether it came about in this run.
    pub fn is_met(self, run: &Run) -> bool {
        let verdict = &run.judgement.verdict;
        match self {
            Goal::Harm => verdict.harmed(),
            Goal::Rejected => verdict.stale_rejected > 0,
            Goal::Stale => verdict.stale_attempts > 0,
        }
    }
}

/// Two runs that differ by a millisecond of one length, one that does not do it and one that does.
#[derive(Debug)]
pub struct Edge {
    /// What was sought.
    pub goal: Goal,
    /// The longest length below the edge.
    pub safe: Micros,
    /// One millisecond more.
    pub harmful: Micros,
    /// The edits of the run below the edge.
    pub safe_edits: Vec<String>,
    /// The edits of the run beyond it.
    pub harmful_edits: Vec<String>,
    /// The run below the edge.
    pub safe_run: Run,
    /// The run beyond it.
    pub harmful_run: Run,
    /// The two events whose order the millisecond turned around.
    pub swap: Option<Swap>,
    /// How many runs it took.
    pub runs: u32,
}

/// Two events that come in one order below the edge and in the other beyond it: operations at a
/// resource, or such an operation and a grant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Swap {
    /// What came first below the edge: its event in the run below, and in the run beyond.
    pub first: (EventId, EventId),
    /// What overtook it, likewise.
    pub second: (EventId, EventId),
}

/// Why there is no edge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoEdge {
    /// The edit with this index has no length.
    NoLength,
    /// It comes about even with a length of nothing.
    Always,
    /// No length up to the longest that was tried brings it about.
    Never(Micros),
    /// A run could not be compiled.
    Wrong(Vec<ScenarioError>),
}

/// Finds the shortest length of the edit with this index that reaches the goal: everything else
/// stays.
///
/// The search tries a length at each grain of the run's own length, and the present one, until a run
/// reaches the goal, and halves the gap from there. Where the goal comes and goes with the length,
/// it finds the lowest edge, unless a whole window of lengths lies within a grain.
///
/// # Errors
/// Why there is no edge to be found.
pub fn knife_edge(
    compile: &Compile<'_>,
    edits: &[String],
    index: usize,
    goal: Goal,
) -> Result<Edge, NoEdge> {
    let mut search = Search { compile, edits, index, runs: 0 };
    let (_, zero) = search.run(Micros::ZERO)?;
    if goal.is_met(&zero) {
        return Err(NoEdge::Always);
    }
    let mut safe = Micros::ZERO;
    for length in search.lengths(&zero) {
        if goal.is_met(&search.run(length)?.1) {
            return search.bisect(goal, safe, length);
        }
        safe = length;
    }
    Err(NoEdge::Never(LONGEST))
}

/// The edge between a length that does not reach the goal and a longer one that does: for a goal that
/// comes and goes with the length, which doubling may miss.
///
/// # Errors
/// Why there is no edge to be found.
pub fn knife_edge_between(
    compile: &Compile<'_>,
    edits: &[String],
    index: usize,
    goal: Goal,
    (safe, harmful): (Micros, Micros),
) -> Result<Edge, NoEdge> {
    Search { compile, edits, index, runs: 0 }.bisect(goal, safe, harmful)
}

impl Search<'_> {
    /// The lengths to try, in order: what is longer than the run is as long as the run.
    fn lengths(&self, run: &Run) -> Vec<Micros> {
        let plan = &run.compiled.plan;
        let whole = |length: u64| Micros(length / STEP.0 * STEP.0).max(STEP);
        let grain = whole(plan.until.0 / GRAINS);
        let mut lengths: Vec<Micros> =
            (1..=GRAINS).map(|n| Micros(grain.0 * n)).filter(|l| *l <= LONGEST).collect();
        let now = (self.compile)(self.edits).ok();
        let now = now.and_then(|c| c.edits.get(self.index).map(Edit::spans));
        let now = now.and_then(|spans| Some(spans.iter().find(|s| s.0 == Span::Length)?.1));
        lengths.extend(now.map(|now| whole(now.0).min(LONGEST)));
        lengths.push(LONGEST);
        sort(&mut lengths);
        lengths.dedup();
        lengths
    }

    fn bisect(mut self, goal: Goal, mut safe: Micros, mut harmful: Micros) -> Result<Edge, NoEdge> {
        while harmful.0 - safe.0 > STEP.0 {
            let middle = Micros((safe.0 + harmful.0) / 2 / STEP.0 * STEP.0);
            if goal.is_met(&self.run(middle)?.1) {
                harmful = middle;
            } else {
                safe = middle;
            }
        }
        let (safe_edits, safe_run) = self.run(safe)?;
        let (harmful_edits, harmful_run) = self.run(harmful)?;
        let swap = swap(&safe_run, &harmful_run, goal);
        let runs = self.runs;
        Ok(Edge {
            goal,
            safe,
            harmful,
            safe_edits,
            harmful_edits,
            safe_run,
            harmful_run,
            swap,
            runs,
        })
    }
}

struct Search<'s> {
    compile: &'s Compile<'s>,
    edits: &'s [String],
    index: usize,
    runs: u32,
}

impl Search<'_> {
    fn run(&mut self, length: Micros) -> Result<(Vec<String>, Run), NoEdge> {
        let mut edits = self.edits.to_vec();
        let compiled = (self.compile)(&edits).map_err(NoEdge::Wrong)?;
        let edit = compiled.edits.get(self.index).ok_or(NoEdge::NoLength)?;
        if !edit.spans().iter().any(|s| s.0 == Span::Length) {
            return Err(NoEdge::NoLength);
        }
        edits[self.index] = edit.with(Span::Length, length).to_string();
        self.runs += 1;
        let compiled = (self.compile)(&edits).map_err(NoEdge::Wrong)?;
        Ok((edits, Run::of(compiled)))
    }
}

/// Something whose place in the order counts, told apart from all others in any run of the scenario.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Deed {
    /// An operation at a resource, with the number of a write.
    Operation(Section, CellId, Option<u32>),
    /// The n-th grant to a client.
    Grant(ProcId, usize),
}

fn deeds(run: &Run, goal: Goal) -> Vec<(Deed, EventId)> {
    let mut found: Vec<(Deed, EventId)> = Vec::new();
    for (index, event) in run.record.events.iter().enumerate() {
        let deed = match event.note() {
            Some(
                Testimony::Serve(op, ..) | Testimony::Mark(op) | Testimony::Reject(op, None, _),
            ) => Deed::Operation(op.section, op.cell, None),
            Some(
                Testimony::Accept(op, write, ..)
                | Testimony::Reject(op, Some((write, MsgId(_))), _),
            ) => Deed::Operation(op.section, op.cell, Some(write.number)),
            Some(Testimony::Grant { client, .. }) if goal == Goal::Stale => {
                let same = |f: &&(Deed, EventId)| matches!(f.0, Deed::Grant(c, _) if c == *client);
                Deed::Grant(*client, found.iter().filter(same).count())
            }
            _ => continue,
        };
        found.push((deed, EventId(index as u32)));
    }
    found
}

/// The first two that stand in another order.
fn swap(safe: &Run, harmful: &Run, goal: Goal) -> Option<Swap> {
    let (safe, harmful) = (deeds(safe, goal), deeds(harmful, goal));
    let differs = safe.iter().zip(&harmful).position(|(a, b)| a.0 != b.0)?;
    let (first, second) = (safe[differs], harmful[differs]);
    let first_later = harmful[differs..].iter().find(|d| d.0 == first.0)?;
    let second_later = safe[differs..].iter().find(|d| d.0 == second.0)?;
    Some(Swap { first: (first.1, first_later.1), second: (second_later.1, second.1) })
}
