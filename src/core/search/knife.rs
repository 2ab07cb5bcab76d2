//! The knife edge: the shortest pause that harms, found by bisection.

use crate::judge::{CellId, Section, Testimony};
use crate::run::{Action, Compiled, Edit, Run, ScenarioError};
use crate::sim::{EventId, Micros, MsgId};

/// The step of the search: an edge is told to the millisecond.
const STEP: Micros = Micros::from_millis(1);
/// The longest pause that is tried.
const LONGEST: Micros = Micros::from_secs(10 * 60);

/// How a search compiles the scenario under other edits.
pub type Compile<'s> = dyn Fn(&[String]) -> Result<Compiled, Vec<ScenarioError>> + 's;

/// Two runs that differ by a millisecond of pause, one without harm and one with.
#[derive(Debug)]
pub struct Edge {
    /// The longest pause below the edge; its run does no harm.
    pub safe: Micros,
    /// One millisecond more; its run does harm.
    pub harmful: Micros,
    /// The edits of the run without harm.
    pub safe_edits: Vec<String>,
    /// The edits of the run with harm.
    pub harmful_edits: Vec<String>,
    /// The run without harm.
    pub safe_run: Run,
    /// The run with harm.
    pub harmful_run: Run,
    /// The two operations at a resource whose order the millisecond turned around.
    pub swap: Option<Swap>,
    /// How many runs it took.
    pub runs: u32,
}

/// Two operations that arrive in one order without harm and in the other with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Swap {
    /// The operation that came first without harm: its event in the run without harm, and in the
    /// run with harm.
    pub first: (EventId, EventId),
    /// The operation that overtook it, likewise.
    pub second: (EventId, EventId),
}

/// Why there is no edge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoEdge {
    /// The edit with this index is no pause.
    NotAPause,
    /// Even without the pause there is harm.
    AlwaysHarm,
    /// No pause up to the longest that was tried does harm.
    NeverHarm(Micros),
    /// A run could not be compiled.
    Wrong(Vec<ScenarioError>),
}

/// Finds the shortest pause that harms: the length of the edit with this index is varied, and
/// everything else stays.
///
/// The search doubles the length until a run does harm and halves the gap from there. It finds an
/// edge; where harm comes and goes with the length, it finds the lowest one that the doubling met.
///
/// # Errors
/// Why there is no edge to be found.
pub fn knife_edge(compile: &Compile<'_>, edits: &[String], index: usize) -> Result<Edge, NoEdge> {
    let mut search = Search { compile, edits, index, runs: 0 };
    let (_, zero) = search.run(Micros::ZERO)?;
    if zero.judgement.verdict.harmed() {
        return Err(NoEdge::AlwaysHarm);
    }
    let mut safe = Micros::ZERO;
    let mut harmful = STEP;
    while !search.harms(harmful)? {
        safe = harmful;
        if harmful >= LONGEST {
            return Err(NoEdge::NeverHarm(LONGEST));
        }
        harmful = Micros(harmful.0 * 2).min(LONGEST);
    }
    while harmful.0 - safe.0 > STEP.0 {
        let middle = Micros((safe.0 + harmful.0) / 2 / STEP.0 * STEP.0);
        if search.harms(middle)? {
            harmful = middle;
        } else {
            safe = middle;
        }
    }
    let (safe_edits, safe_run) = search.run(safe)?;
    let (harmful_edits, harmful_run) = search.run(harmful)?;
    let swap = swap(&safe_run, &harmful_run);
    let runs = search.runs;
    Ok(Edge { safe, harmful, safe_edits, harmful_edits, safe_run, harmful_run, swap, runs })
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
        let Some(Edit { action: Action::Pause(node, when, _) }) = compiled.edits.get(self.index)
        else {
            return Err(NoEdge::NotAPause);
        };
        let pause = Edit { action: Action::Pause(node.clone(), when.clone(), length) };
        edits[self.index] = pause.to_string();
        self.runs += 1;
        let compiled = (self.compile)(&edits).map_err(NoEdge::Wrong)?;
        Ok((edits, Run::of(compiled)))
    }

    fn harms(&mut self, length: Micros) -> Result<bool, NoEdge> {
        Ok(self.run(length)?.1.judgement.verdict.harmed())
    }
}

/// An operation at a resource, told apart from all others in any run of the scenario.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Deed {
    section: Section,
    cell: CellId,
    /// The number of the write; none for a read.
    write: Option<u32>,
}

fn deeds(run: &Run) -> Vec<(Deed, EventId)> {
    let events = run.record.events.iter().enumerate();
    let deed = |note: &Testimony| match note {
        Testimony::Serve(op, ..) | Testimony::Reject(op, None, _) => {
            Some(Deed { section: op.section, cell: op.cell, write: None })
        }
        Testimony::Accept(op, write, ..) | Testimony::Reject(op, Some((write, MsgId(_))), _) => {
            Some(Deed { section: op.section, cell: op.cell, write: Some(write.number) })
        }
        _ => None,
    };
    events.filter_map(|(i, e)| Some((deed(e.note()?)?, EventId(i as u32)))).collect()
}

/// The first two operations that stand in another order.
fn swap(safe: &Run, harmful: &Run) -> Option<Swap> {
    let (safe, harmful) = (deeds(safe), deeds(harmful));
    let differs = safe.iter().zip(&harmful).position(|(a, b)| a.0 != b.0)?;
    let (first, second) = (safe[differs], harmful[differs]);
    let first_later = harmful[differs..].iter().find(|d| d.0 == first.0)?;
    let second_later = safe[differs..].iter().find(|d| d.0 == second.0)?;
    Some(Swap { first: (first.1, first_later.1), second: (second_later.1, second.1) })
}
