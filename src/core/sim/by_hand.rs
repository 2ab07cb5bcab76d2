//! A world that somebody outside drives step by step, as a transcript demands: time goes on only as
//! far as asked, and faults come when they are called for.

use super::actor::{Domain, ProcId};
use super::plan::Fault;
use super::record::Sink;
use super::time::Micros;
use super::world::World;

impl<D: Domain> World<D> {
    /// Lets everything happen that is due until that moment, which is then the present one.
    pub fn run_until(&mut self, at: Micros, sink: &mut dyn Sink<D>) {
        while !self.core.over && self.next_due().is_some_and(|due| due.at <= at) {
            self.step(sink);
        }
        self.core.now = self.core.now.max(at.min(self.core.plan.until));
    }

    /// Something happens from outside, now; false where it finds no occasion. A cut lasts until it
    /// is taken back: one with a span of its own has to be planned before the run.
    pub fn strike(&mut self, fault: &Fault<D>, sink: &mut dyn Sink<D>) -> bool {
        !matches!(fault, Fault::Cut(_, Some(_))) && self.fault(fault, 0, 0, sink)
    }

    /// A stopped process goes on now.
    pub fn let_go(&mut self, p: ProcId, sink: &mut dyn Sink<D>) {
        let now = self.core.now;
        for place in &mut self.core.procs[usize::from(p.0)].halts {
            *place = place.map(|until| until.min(now));
        }
        self.halts_over(p, sink);
    }
}
