//! The figures of a run by name: verdict and metrics, with their definitions.

use crate::judge::Judgement;

/// A figure that assertions can name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Figure {
    /// Its key in JSON and in assertions.
    pub key: &'static str,
    /// Whether it is of the verdict; otherwise it is a metric.
    pub verdict: bool,
    /// What it counts, in one sentence.
    pub about: &'static str,
}

const fn verdict(key: &'static str, about: &'static str) -> Figure {
    Figure { key, verdict: true, about }
}

const fn metric(key: &'static str, about: &'static str) -> Figure {
    Figure { key, verdict: false, about }
}

/// All figures, in the order of the documentation. Spans are in microseconds.
pub const FIGURES: &[Figure] = &[
    verdict("grants", "Grants made; a renewal or a re-entry is none."),
    verdict("overlap_us", "Time with two or more believers in conflicting modes, for each lock."),
    verdict("double_grant", "Grants made while another client's conflicting promise was open."),
    verdict("broken_promises", "Promises that the service ended before their time."),
    verdict("outlived", "Promises after whose end an operation of their holder arrived."),
    verdict(
        "stale_attempts",
        "Writes that arrived when another client's newer, conflicting grant existed; copies counted.",
    ),
    verdict("stale_accepted", "Stale attempts that the resource accepted."),
    verdict("stale_rejected", "Stale attempts that the resource rejected."),
    verdict("stale_pending", "Stale attempts that were not decided when the run ended."),
    verdict(
        "legit_rejected",
        "Operations rejected although their holder's truth was open and no newer grant existed.",
    ),
    verdict("token_regress", "Grants whose token was not above that of an earlier grant."),
    verdict(
        "corruption",
        "Accepted operations after which no order of whole sections explains what happened.",
    ),
    verdict("lost_updates", "Writes that replaced what their section had not read."),
    verdict("torn_sections", "Sections with one write applied and another never."),
    verdict("invariant_broken", "How often the invariant turned false."),
    verdict(
        "invariant_judged",
        "How often the invariant was judged: whenever every opened section was settled.",
    ),
    verdict("duplicate_work", "Named jobs whose effect was accepted more than once."),
    verdict(
        "false_expiry",
        "Truths ended by time while the holder lived and had not sent its release.",
    ),
    verdict("foreign_release", "Requests that ended another client's truth."),
    verdict("silent_reacquire", "Truths that began without an acquire instruction."),
    verdict(
        "loss_unreported",
        "Truths that ended while their client believed, and of which it learned only after it had acted, or never.",
    ),
    verdict(
        "orphan_us",
        "Time in which a truth was open and its client neither believed nor had a request to the service open. It may still write.",
    ),
    verdict("stalled", "Clients whose acquire was open when the run ended."),
    verdict("renewal_failures", "Renewals whose OK was not consumed within the time-out."),
    metric("attempts", "Acquire requests sent, repeated ones included."),
    metric(
        "failed_attempts",
        "Acquire requests that were refused, not answered, or not granted by enough servers.",
    ),
    metric("wait_us_p50", "The median wait from the first send of an acquire to its grant."),
    metric("wait_us_p95", "The wait that 95 of 100 did not exceed, by nearest rank."),
    metric("wait_us_max", "The longest wait."),
    metric("messages", "Messages sent, heartbeats included, copies not."),
    metric("round_trips_to_acquire", "Requests that the first consumed grant took."),
    metric("wakeups", "Waiting clients woken."),
    metric("releases", "Releases sent."),
    metric(
        "recovery_us",
        "The longest time from a holder's crash (or the first waiter, if later) to the next grant.",
    ),
    metric(
        "idle_us",
        "Time in which nobody held the lock while somebody asked for it; the way of a request to the \
         service counts.",
    ),
    metric("paused_us", "Time for which processes stood still in pauses, added up."),
];

/// The value of every figure, in the order of [`FIGURES`]; `None` where it does not arise.
pub fn figures(judgement: &Judgement) -> Vec<Option<u64>> {
    let (verdict, metrics) = (judgement.verdict.figures(), judgement.metrics.figures());
    let value = |f: &Figure| {
        let mut figures = if f.verdict { &verdict } else { &metrics }.iter();
        figures.find(|(key, _)| *key == f.key).and_then(|(_, value)| *value)
    };
    FIGURES.iter().map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_of_the_judge_is_described_and_none_besides() {
        let judgement = Judgement::default();
        let mut there: Vec<String> = Vec::new();
        let written = |tree: Result<serde_json::Value, _>| {
            tree.unwrap().as_object().unwrap().keys().cloned().collect::<Vec<_>>()
        };
        there.extend(written(serde_json::to_value(&judgement.verdict)));
        there.extend(written(serde_json::to_value(&judgement.metrics)));
        let named = judgement.verdict.figures().into_iter().chain(judgement.metrics.figures());
        let mut named: Vec<String> = named.map(|f| f.0.to_string()).collect();
        named.sort();
        let mut described: Vec<String> = FIGURES.iter().map(|f| f.key.to_string()).collect();
        there.sort();
        described.sort();
        assert_eq!(there, described);
        assert_eq!(there, named);
        assert!(FIGURES.iter().all(|f| f.about.ends_with('.')));
    }
}
