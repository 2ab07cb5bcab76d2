//! What a proof in the small has tried, in words: without its bounds a count means nothing.

use super::words::{and, span, thousands};
use crate::run::NodeKind;
use crate::search::Proof;

/// What was tried and what was not, a sentence each.
pub fn bounds(proof: &Proof) -> Vec<String> {
    let mut said = vec![where_it_begins(proof)];
    if proof.untried_places > 0 {
        let left = proof.untried_places;
        let s = if left == 1 { "" } else { "s" };
        let why = if proof.exhausted { worked(proof) } else { String::new() };
        said.push(format!("The run is long: its last {left} instruction{s} are not tried{why}."));
    }
    if proof.untried_schedules > 0 {
        let left = proof.untried_schedules;
        let s = if left == 1 { "" } else { "s" };
        said.push(format!("The last {left} schedule{s} are not tried{}.", worked(proof)));
    }
    if proof.counted() {
        said.push(how_long_it_is(proof));
    }
    if let Some(period) = proof.period {
        said.push(format!(
            "Where all others only repeat themselves, at the latest every {}, a later return meets what one \
             of a period before met: those of one period are tried, and those so late that the run ends \
             before their consequences do.",
            span(period)
        ));
    }
    said.push(
        "An order is what each node sees, one thing after the other, and what the judge weighs."
            .into(),
    );
    said.push(format!(
        "Seed {}; settings and other edits as they are here; the run ends at {} at the latest.",
        proof.seed,
        span(proof.until)
    ));
    if proof.left_out > 0 {
        said.push(match proof.left_out {
            1 => "The edit that stops a process is left out.".into(),
            n => format!("{n} edits that stop a process are left out."),
        });
    }
    said.push(
        "Not tried: two pauses, a pause in the middle of waiting or working, any other fault."
            .into(),
    );
    said
}

/// Why a search ends before its end.
fn worked(proof: &Proof) -> String {
    format!(": the search ends after {} events", thousands(proof.most))
}

fn where_it_begins(proof: &Proof) -> String {
    let clients = proof.names.of_kind(NodeKind::Client).filter_map(|client| {
        let count = proof.places.iter().filter(|p| p.0 == client).count();
        (count > 0).then(|| format!("{} {count}", proof.names.node(client).label))
    });
    let (clients, count) = (and(&clients.collect::<Vec<_>>()), proof.places.len());
    if count == 0 && proof.exhausted {
        return format!(
            "There is too much to try: all that a pause before its first instruction can \
             bring about takes more than {} events.",
            thousands(proof.most)
        );
    }
    if count == 0 {
        return "No client executes an instruction, so that there is nothing to pause.".into();
    }
    let which = if count == 1 { "the one".into() } else { format!("any of the {count}") };
    let s = if count == 1 { "" } else { "s" };
    format!("One pause, right before {which} instruction{s} that the clients execute: {clients}.")
}

fn how_long_it_is(proof: &Proof) -> String {
    let longest = proof.schedules.iter().map(|s| s.length).max().unwrap_or_default();
    let turned = proof.schedules.iter().filter(|s| s.turned).count();
    let turned = match turned {
        0 => String::new(),
        n => format!(", {n} of them with timers first on resume"),
    };
    format!(
        "For each of them one length for every order that a length can bring about: {} schedules{turned}, \
         the longest pause {}. Longer ones change no order any more, as long as the run goes on.",
        proof.schedules.len(),
        span(longest)
    )
}
