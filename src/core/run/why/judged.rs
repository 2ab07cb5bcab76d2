//! What the judge of a run relates to an event: the newer grant that made a write late, what it
//! replaced, whose promise still stood.

use super::{Walk, ended};
use crate::judge::{Finding, IntervalKind, Operation, Testimony};
use crate::sim::EventId;

impl<'r> Walk<'r> {
    /// What the judge relates to an event.
    pub(super) fn judged(&self, finding: &Finding) -> Vec<EventId> {
        let intervals = || self.run.judgement.intervals.iter();
        match finding {
            Finding::StaleAccepted { .. } | Finding::StaleRejected { .. } => {
                self.newer().into_iter().collect()
            }
            Finding::Corruption { culprit, .. } => vec![*culprit],
            Finding::LostUpdate { lost, .. } => {
                let read = self.own_read();
                read.into_iter().chain([*lost]).collect()
            }
            Finding::Torn { section, .. } => self
                .before()
                .filter(|(_, e)| match e.note() {
                    Some(Testimony::Accept(op, ..) | Testimony::Reject(op, Some(_), _)) => {
                        op.section == *section
                    }
                    _ => false,
                })
                .map(|(id, _)| id)
                .take(4)
                .collect(),
            Finding::Overlap { lock, clients, .. } => intervals()
                .filter(|i| {
                    let open = i.began < self.id && i.ended.is_none_or(|end| end > self.id);
                    let other = i.client != self.event.node && clients.contains(&i.client);
                    i.kind == IntervalKind::Belief && i.lock == *lock && open && other
                })
                .map(|i| i.began)
                .collect(),
            Finding::DoubleGrant { .. } => {
                let Some(Testimony::Grant { lock, client, .. }) = self.event.note() else {
                    return Vec::new();
                };
                let promised = intervals().filter(|i| {
                    let open = i.began < self.id && i.to > self.event.at;
                    i.kind == IntervalKind::Promise
                        && i.lock == *lock
                        && open
                        && i.client != *client
                });
                promised.map(|i| i.began).collect()
            }
            Finding::Outlived { grant, .. } | Finding::Broken { grant, .. } => {
                ended(self.run, *grant, self.id).into_iter().collect()
            }
            Finding::Duplicate { job, .. } => {
                let same = |n: &Testimony| matches!(n, Testimony::Job(_, j) if j == job);
                let mut before = self.before();
                before
                    .find(|(_, e)| e.note().is_some_and(same))
                    .map(|(id, _)| id)
                    .into_iter()
                    .collect()
            }
            Finding::LegitRejected { .. }
            | Finding::InvariantBroken { .. }
            | Finding::TokenRegress { .. } => Vec::new(),
        }
    }

    fn operation(&self) -> Option<&'r Operation> {
        match self.event.note()? {
            Testimony::Accept(op, ..) | Testimony::Reject(op, ..) => Some(op),
            _ => None,
        }
    }

    /// The newest grant that makes this operation late.
    fn newer(&self) -> Option<EventId> {
        let op = self.operation()?;
        let truths =
            || self.run.judgement.intervals.iter().filter(|i| i.kind == IntervalKind::Truth);
        let own = truths().find(|i| Some(i.grant) == op.grant)?;
        let newer = truths().filter(|i| {
            let conflicts = i.client != own.client && i.mode.conflicts(own.mode);
            i.lock == own.lock && i.ordinal > own.ordinal && conflicts && i.began < self.id
        });
        newer.map(|i| i.began).max()
    }

    /// What the section of this operation had read of its cell.
    fn own_read(&self) -> Option<EventId> {
        let op = self.operation()?;
        self.said(self.event.node, |n| {
            matches!(n, Testimony::Serve(read, ..) if (read.section, read.cell) == (op.section, op.cell))
        })
    }
}
