//! Sections: tries at a unit of work, what they wrote, and when they are settled.

use super::testimony::{Section, SectionEnd, Write};
use crate::sim::{Expr, Table};

#[derive(Clone, Default, Debug)]
struct SectionState {
    closed: Option<SectionEnd>,
    /// The section's writes by number: was it applied?
    writes: Table<u32, bool>,
    /// The last write sent said that another was to come.
    more: bool,
    in_flight: u32,
    job: Option<u16>,
    settled: bool,
    /// It is counted among the torn ones.
    torn: bool,
    /// It is counted among those that did their work.
    done: bool,
}

impl SectionState {
    fn all_applied(&self) -> bool {
        self.writes.values().all(|applied| *applied)
    }

    /// It ended against its will with another write to come.
    fn cut_short(&self) -> bool {
        self.more && matches!(self.closed, Some(SectionEnd::Crashed | SectionEnd::Dropped))
    }

    /// Ended with all writes accepted; a section that never wrote did not do the work, nor one that
    /// took back what it wrote.
    fn is_done(&self) -> bool {
        self.closed != Some(SectionEnd::Undone)
            && !self.writes.is_empty()
            && self.all_applied()
            && !self.cut_short()
    }

    fn is_torn(&self) -> bool {
        let any = self.writes.values().any(|applied| *applied);
        any && (!self.all_applied() || self.cut_short())
    }
}

/// All sections of a run, and the cells that they share.
#[derive(Clone, Default, Debug)]
pub(super) struct Sections {
    all: Table<Section, SectionState>,
    unsettled: usize,
    done: i64,
    cells: Vec<i64>,
    broken: bool,
    /// For each job, how many sections had an effect under its name.
    jobs: Table<u16, u32>,
}

impl Sections {
    pub fn new(cells: Vec<i64>) -> Sections {
        Sections { cells, ..Sections::default() }
    }

    fn state(&mut self, section: Section) -> &mut SectionState {
        let unsettled = &mut self.unsettled;
        self.all.entry(section).or_insert_with(|| {
            *unsettled += 1;
            SectionState::default()
        })
    }

    pub fn begin(&mut self, section: Section) {
        self.state(section);
    }

    /// Names a section's work. Returns the job if that makes its effect one too many: something was
    /// applied before the name came.
    pub fn name(&mut self, section: Section, job: u16) -> Option<u16> {
        let state = self.state(section);
        state.job = Some(job);
        let any = state.writes.values().any(|applied| *applied);
        let sections = self.jobs.entry(job).or_default();
        *sections += u32::from(any);
        (any && *sections > 1).then_some(job)
    }

    pub fn close(&mut self, section: Section, why: SectionEnd) {
        self.state(section).closed.get_or_insert(why);
    }

    /// A write, or another try of one, is on its way.
    pub fn sent(&mut self, section: Section, write: &Write) {
        let state = self.state(section);
        state.writes.entry(write.number).or_default();
        state.more = write.more;
        state.in_flight += 1;
        let was_settled = std::mem::replace(&mut state.settled, false);
        let was_done = std::mem::replace(&mut state.done, false);
        self.unsettled += usize::from(was_settled);
        self.done -= i64::from(was_done);
    }

    /// A copy of a write that was just sent is on its way too.
    pub fn copied(&mut self, section: Section) {
        self.state(section).in_flight += 1;
    }

    /// A copy of a write was accepted, refused or lost.
    pub fn landed(&mut self, section: Section) {
        let state = self.state(section);
        state.in_flight = state.in_flight.saturating_sub(1);
    }

    /// A write took effect. Returns the job whose effect that repeats, if it does.
    pub fn applied(&mut self, section: Section, cell: usize, write: &Write) -> Option<u16> {
        if let Some(cell) = self.cells.get_mut(cell) {
            *cell = write.value;
        }
        let state = self.state(section);
        let first = !state.writes.values().any(|applied| *applied);
        let copy = std::mem::replace(state.writes.entry(write.number).or_default(), true);
        let job = state.job?;
        let sections = self.jobs.entry(job).or_default();
        *sections += u32::from(first);
        (copy || (first && *sections > 1)).then_some(job)
    }

    /// Looks whether the section is settled now. `Some(true)` when it turns out torn; `Some(false)`
    /// when it was, and a client that went on has written the rest.
    pub fn settle(&mut self, section: Section) -> Option<bool> {
        let state = self.state(section);
        if state.settled || state.closed.is_none() || state.in_flight > 0 {
            return None;
        }
        state.settled = true;
        state.done = state.is_done();
        let done = state.done;
        let torn = state.is_torn();
        let was_torn = std::mem::replace(&mut state.torn, torn);
        self.unsettled -= 1;
        self.done += i64::from(done);
        (torn != was_torn).then_some(torn)
    }

    /// The value of each cell by what was accepted so far.
    pub fn cells(&self) -> &[i64] {
        &self.cells
    }

    /// How many sections ended with all their writes accepted so far.
    pub fn done(&self) -> i64 {
        self.done
    }

    /// Judges the invariant if every opened section is settled. `Some(true)` when it turns false.
    pub fn invariant(&mut self, invariant: &Expr) -> Option<bool> {
        if self.unsettled > 0 || self.all.is_empty() {
            return None;
        }
        let mut values = self.cells.clone();
        values.push(self.done);
        let broken = invariant.eval(&values) == 0;
        let was_broken = std::mem::replace(&mut self.broken, broken);
        Some(broken && !was_broken)
    }
}
