//! Where a rule's evidence is, as addresses within the site.

use crate::run::Ground;
use crate::systems::Steps;

/// The name of a rule on the page of all evidence: whose it is, and its place.
pub fn anchor(ground: &Ground) -> String {
    format!("{}-{}", ground.rules.name, ground.place + 1)
}

/// A name and steps of a transcript, in words.
pub fn whereabouts(steps: &Steps) -> String {
    let name = steps.transcript.rsplit('/').next().unwrap_or_default().replace('_', " ");
    match (steps.first, steps.last) {
        (first, last) if first == last => format!("{name}, step {first}"),
        (first, last) => format!("{name}, steps {first} to {last}"),
    }
}

/// The address of a rule's evidence: the first step of a recording, or the rule among all.
pub fn evidence_of(ground: &Ground) -> String {
    match ground.rule.steps.first() {
        Some(steps) => format!("evidence/{}.html#step-{}", steps.transcript, steps.first),
        None => format!("evidence/index.html#{}", anchor(ground)),
    }
}
