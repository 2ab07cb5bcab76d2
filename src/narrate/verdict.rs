//! The verdict's counts with their names and a few words each.

use super::words::span;
use crate::judge::Verdict;
use crate::run::Run;
use crate::sim::Micros;

/// One count of the verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Count {
    /// Its key in the JSON and in assertions: `stale_accepted`.
    pub key: &'static str,
    /// How many; none where this kind of figure does not arise in the run.
    pub value: Option<u64>,
    /// What it counts.
    pub about: &'static str,
}

impl Count {
    /// The value as people read it: a span where it is one.
    pub fn text(&self) -> String {
        match self.value {
            None => "–".into(),
            Some(us) if self.key.ends_with("_us") => span(Micros(us)),
            Some(n) => n.to_string(),
        }
    }
}

/// All counts of a run's verdict, in the order of their documentation.
pub fn counts(run: &Run) -> Vec<Count> {
    let v = &run.judgement.verdict;
    let rows = order(v).into_iter().chain(harm(v)).chain(service(v));
    rows.map(|(key, value, about)| Count { key, value, about }).collect()
}

type Row = (&'static str, Option<u64>, &'static str);

fn order(v: &Verdict) -> Vec<Row> {
    vec![
        ("grants", Some(v.grants), "grants made; renewals do not count"),
        ("overlap_us", Some(v.overlap_us), "time in which clients believed against each other"),
        ("double_grant", Some(v.double_grant), "grants made while another's promise stood"),
        ("broken_promises", Some(v.broken_promises), "promises that the service ended too early"),
        ("outlived", Some(v.outlived), "promises that an operation of their holder came after"),
        ("stale_attempts", Some(v.stale_attempts), "writes that came after a newer grant"),
        ("stale_accepted", Some(v.stale_accepted), "of these, accepted"),
        ("stale_rejected", Some(v.stale_rejected), "of these, rejected"),
        ("stale_pending", Some(v.stale_pending), "of these, undecided at the end"),
        ("legit_rejected", Some(v.legit_rejected), "operations of the rightful holder, rejected"),
        ("token_regress", v.token_regress, "grants whose token was not above an earlier one's"),
    ]
}

fn harm(v: &Verdict) -> Vec<Row> {
    vec![
        ("corruption", Some(v.corruption), "operations that no order of whole sections explains"),
        (
            "lost_updates",
            Some(v.lost_updates),
            "writes that replaced what their section never read",
        ),
        ("torn_sections", Some(v.torn_sections), "sections of which only a part was applied"),
        ("invariant_broken", v.invariant_broken, "times that the invariant turned false"),
        ("invariant_judged", v.invariant_judged, "times that the invariant was judged"),
        ("duplicate_work", v.duplicate_work, "effects of a job beyond its first"),
    ]
}

fn service(v: &Verdict) -> Vec<Row> {
    vec![
        ("false_expiry", Some(v.false_expiry), "grants that expired while their holder lived"),
        ("foreign_release", Some(v.foreign_release), "requests that ended another's grant"),
        ("silent_reacquire", Some(v.silent_reacquire), "grants that nobody had asked for"),
        (
            "loss_unreported",
            Some(v.loss_unreported),
            "losses that a believing client did not learn of before it acted",
        ),
        (
            "orphan_us",
            Some(v.orphan_us),
            "time in which a grant stood whose client did not believe in it",
        ),
        ("stalled", Some(v.stalled), "clients that waited for the lock at the end"),
        ("renewal_failures", v.renewal_failures, "renewals without an OK in time"),
    ]
}
