//! The judge: intervals of truth, promise and belief, effects at the resource, and the verdict.
//!
//! Two layers are computed independently. *Order facts* say whether a write came late; *harm* is
//! computed from the accepted history alone. The judge never learns which system it judges: it
//! reads [`Testimony`] and nothing else.

mod bench;
mod grants;
mod history;
mod sections;
mod spans;
mod testimony;
mod verdict;

pub use bench::{Bench, Setup, judge};
pub use history::{Effect, History, Ruling};
pub use spans::{Span, total, union, without};
pub use testimony::{
    Ask, Ballot, BeliefEnd, CellId, Grant, LockId, Mode, Operation, Rejection, Seat, Section,
    SectionEnd, SessionState, Standing, Testimony, Token, TruthEnd, Unmet, Write,
};
pub use verdict::{Finding, Interval, IntervalKind, Judgement, Metrics, Orphaned, Verdict};
