//! The verdict and the metrics, and the intervals and findings behind them.

use serde::Serialize;

use super::testimony::{Grant, LockId, Mode, Section, Token};
use crate::sim::{EventId, Micros, ProcId};

/// The counts of a run. `None` where this kind of figure does not arise; spans in microseconds.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Verdict {
    /// Ordinals given; renewals are no grants.
    pub grants: u64,
    /// Per lock, time with two or more believers in conflicting modes.
    pub overlap_us: u64,
    /// Grants made while another client's promise in a conflicting mode was open.
    pub double_grant: u64,
    /// Promises that the service ended before their time, other than by their holder's own act.
    pub broken_promises: u64,
    /// Promises after whose end an operation of their holder arrived.
    pub outlived: u64,
    /// Writes that arrived when another client's newer, conflicting grant existed; copies counted.
    pub stale_attempts: u64,
    /// Stale attempts that the resource accepted.
    pub stale_accepted: u64,
    /// Stale attempts that the resource refused.
    pub stale_rejected: u64,
    /// Stale attempts that were on the way, or checked and not applied, at the end.
    pub stale_pending: u64,
    /// Operations refused although their holder's truth was open and nobody held a newer grant.
    pub legit_rejected: u64,
    /// Grants whose token was not above that of an earlier grant of the same lock.
    pub token_regress: Option<u64>,
    /// Accepted operations that closed a cycle: no order of whole sections explains them.
    pub corruption: u64,
    /// Writes that replaced what their section had not read.
    pub lost_updates: u64,
    /// Sections with one write applied and another never.
    pub torn_sections: u64,
    /// How often the invariant turned false.
    pub invariant_broken: Option<u64>,
    /// How often the invariant was judged: whenever every opened section was settled.
    pub invariant_judged: Option<u64>,
    /// Named jobs whose effect was accepted more than once.
    pub duplicate_work: Option<u64>,
    /// Truths ended by time or session while the holder lived and had not sent its release.
    pub false_expiry: u64,
    /// Requests that ended another's truth.
    pub foreign_release: u64,
    /// Truths that began without an acquire instruction.
    pub silent_reacquire: u64,
    /// Truths that ended unnoticed by a client that believed.
    pub loss_unreported: u64,
    /// Time in which a truth was open and its client, in the life in which it had asked, neither believed
    /// nor had a request open.
    pub orphan_us: u64,
    /// Clients whose acquire was open at the end.
    pub stalled: u64,
    /// Renewals whose OK was not consumed within the request's time-out.
    pub renewal_failures: Option<u64>,
}

/// What a run cost.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Metrics {
    /// Acquire requests sent, retries included.
    pub attempts: u64,
    /// Acquire requests that were refused, not answered, or not granted by enough servers.
    pub failed_attempts: u64,
    /// Median wait from the first send of an acquire to its grant (nearest rank).
    pub wait_us_p50: Option<u64>,
    /// The wait that 95 of 100 did not exceed (nearest rank).
    pub wait_us_p95: Option<u64>,
    /// The longest wait.
    pub wait_us_max: Option<u64>,
    /// Messages sent, heartbeats included, copies not.
    pub messages: u64,
    /// Requests that the first consumed grant took.
    pub round_trips_to_acquire: Option<u64>,
    /// Waiters woken.
    pub wakeups: u64,
    /// Releases sent.
    pub releases: u64,
    /// The greatest time from a holder's crash (or the first waiter, if later) to the next grant.
    pub recovery_us: Option<u64>,
    /// Time in which nobody held while somebody's acquire was open: from its first send, so that the
    /// way to the service counts, to the grant or its end.
    pub idle_us: u64,
    /// Time in which a process stood still in a pause, added up over all of them.
    pub paused_us: u64,
}

/// What kind of interval.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum IntervalKind {
    /// What the lock service says.
    Truth,
    /// What the holder was promised.
    Promise,
    /// What the client acts upon.
    Belief,
}

impl IntervalKind {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            IntervalKind::Truth => "truth",
            IntervalKind::Promise => "promise",
            IntervalKind::Belief => "belief",
        }
    }
}

/// A span of truth, promise or belief, cut at the end of the run.
#[derive(Clone, PartialEq, Debug)]
pub struct Interval {
    /// Which of the three.
    pub kind: IntervalKind,
    /// The lock.
    pub lock: LockId,
    /// Whose.
    pub client: ProcId,
    /// In which mode.
    pub mode: Mode,
    /// Of which grant.
    pub grant: Grant,
    /// The grant's ordinal for its lock, from 1.
    pub ordinal: u32,
    /// Its token, once it had one.
    pub token: Option<Token>,
    /// The event that began it.
    pub began: EventId,
    /// The event that ended it; none where it ran out by itself or was cut by the end.
    pub ended: Option<EventId>,
    /// From when ...
    pub from: Micros,
    /// ... until when.
    pub to: Micros,
    /// Still open when the run ended.
    pub open: bool,
}

/// A lock that stood for a client that neither believed nor asked: the parts of
/// [`Verdict::orphan_us`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Orphaned {
    /// The lock.
    pub lock: LockId,
    /// For whom it stood.
    pub client: ProcId,
    /// When that began for the first time.
    pub from: Micros,
    /// For how long in all.
    pub us: u64,
    /// Who else asked for the lock meanwhile, and for how long.
    pub waited: Vec<(ProcId, u64)>,
}

/// One thing that the judge found, with the event that shows it.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs, reason = "each variant says what its fields are")]
pub enum Finding {
    /// A write came late and was accepted.
    StaleAccepted { event: EventId },
    /// A write came late and was refused.
    StaleRejected { event: EventId },
    /// The rightful holder was refused.
    LegitRejected { event: EventId },
    /// The operation `event` closes a cycle through these sections; `culprit` made it inevitable.
    Corruption { event: EventId, culprit: EventId, cycle: Vec<Section> },
    /// The write `event` replaced what `lost` wrote, unread.
    LostUpdate { event: EventId, lost: EventId },
    /// A section ended, at `event`, with a part of its writes.
    Torn { event: EventId, section: Section },
    /// The invariant turned false.
    InvariantBroken { event: EventId },
    /// A named job had its effect once more.
    Duplicate { event: EventId, job: u16 },
    /// Two or more clients began to believe in conflicting modes; the span and the believers.
    Overlap { event: EventId, lock: LockId, from: Micros, to: Micros, clients: Vec<ProcId> },
    /// A grant was made against an open promise.
    DoubleGrant { event: EventId },
    /// A promise was broken.
    Broken { event: EventId, grant: Grant },
    /// An operation outlived its holder's promise.
    Outlived { event: EventId, grant: Grant },
    /// A token did not grow.
    TokenRegress { event: EventId },
}

impl Finding {
    /// Whether it is harm to the resource, and not a fact about order.
    pub fn is_harm(&self) -> bool {
        matches!(
            self,
            Finding::Corruption { .. }
                | Finding::LostUpdate { .. }
                | Finding::Torn { .. }
                | Finding::InvariantBroken { .. }
                | Finding::Duplicate { .. }
        )
    }

    /// The event that shows it.
    pub fn event(&self) -> EventId {
        match self {
            Finding::StaleAccepted { event }
            | Finding::StaleRejected { event }
            | Finding::LegitRejected { event }
            | Finding::Corruption { event, .. }
            | Finding::LostUpdate { event, .. }
            | Finding::Torn { event, .. }
            | Finding::InvariantBroken { event }
            | Finding::Duplicate { event, .. }
            | Finding::Overlap { event, .. }
            | Finding::DoubleGrant { event }
            | Finding::Broken { event, .. }
            | Finding::Outlived { event, .. }
            | Finding::TokenRegress { event } => *event,
        }
    }
}

/// All that the judge has to say of a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Judgement {
    /// The counts.
    pub verdict: Verdict,
    /// The costs.
    pub metrics: Metrics,
    /// Truth, promise and belief, in the order of their beginnings.
    pub intervals: Vec<Interval>,
    /// What was found, in the order of the events.
    pub findings: Vec<Finding>,
    /// Which locks stood for whom who did not believe in them.
    pub orphaned: Vec<Orphaned>,
}

impl Verdict {
    /// Whether the resource was harmed.
    pub fn harmed(&self) -> bool {
        self.harm().contains(&true)
    }

    /// In which ways it was: one flag for each of [`Verdict::HARMS`].
    pub fn harm(&self) -> [bool; 5] {
        [
            self.corruption > 0,
            self.lost_updates > 0,
            self.torn_sections > 0,
            self.invariant_broken.unwrap_or(0) > 0,
            self.duplicate_work.unwrap_or(0) > 0,
        ]
    }

    /// The keys of the figures that count harm.
    pub const HARMS: [&'static str; 5] =
        ["corruption", "lost_updates", "torn_sections", "invariant_broken", "duplicate_work"];
}

impl Verdict {
    /// Every figure by its key, in the order of the documentation.
    pub fn figures(&self) -> Vec<(&'static str, Option<u64>)> {
        vec![
            ("grants", self.grants.into()),
            ("overlap_us", self.overlap_us.into()),
            ("double_grant", self.double_grant.into()),
            ("broken_promises", self.broken_promises.into()),
            ("outlived", self.outlived.into()),
            ("stale_attempts", self.stale_attempts.into()),
            ("stale_accepted", self.stale_accepted.into()),
            ("stale_rejected", self.stale_rejected.into()),
            ("stale_pending", self.stale_pending.into()),
            ("legit_rejected", self.legit_rejected.into()),
            ("token_regress", self.token_regress),
            ("corruption", self.corruption.into()),
            ("lost_updates", self.lost_updates.into()),
            ("torn_sections", self.torn_sections.into()),
            ("invariant_broken", self.invariant_broken),
            ("invariant_judged", self.invariant_judged),
            ("duplicate_work", self.duplicate_work),
            ("false_expiry", self.false_expiry.into()),
            ("foreign_release", self.foreign_release.into()),
            ("silent_reacquire", self.silent_reacquire.into()),
            ("loss_unreported", self.loss_unreported.into()),
            ("orphan_us", self.orphan_us.into()),
            ("stalled", self.stalled.into()),
            ("renewal_failures", self.renewal_failures),
        ]
    }
}

impl Metrics {
    /// Every figure by its key, in the order of the documentation.
    pub fn figures(&self) -> Vec<(&'static str, Option<u64>)> {
        vec![
            ("attempts", self.attempts.into()),
            ("failed_attempts", self.failed_attempts.into()),
            ("wait_us_p50", self.wait_us_p50),
            ("wait_us_p95", self.wait_us_p95),
            ("wait_us_max", self.wait_us_max),
            ("messages", self.messages.into()),
            ("round_trips_to_acquire", self.round_trips_to_acquire),
            ("wakeups", self.wakeups.into()),
            ("releases", self.releases.into()),
            ("recovery_us", self.recovery_us),
            ("idle_us", self.idle_us.into()),
            ("paused_us", self.paused_us.into()),
        ]
    }
}
