//! A run as text: the log of the terminal, and the report in Markdown.

use std::fmt::Write as _;

use super::headline::headline;
use super::mermaid::mermaid;
use super::sentence::sentence;
use super::teller::Teller;
use super::verdict::{Count, counts};
use super::words::{fits_two_decimals, moment_with, one_line};
use crate::judge::{Interval, IntervalKind, Testimony};
use crate::run::{Run, kind};
use crate::sim::{EventId, What};

/// The run for a terminal: what happened, the verdict, the counts that are not zero, the grants.
pub fn log(run: &Run) -> String {
    let mut text = story(run);
    let headline = headline(run);
    let _ = write!(text, "\n{} {}\n", headline.word, headline.rest);
    section(&mut text, "Verdict", &verdict_table(run));
    section(&mut text, "Grants", &grants_table(run));
    for note in notes(run) {
        let _ = write!(text, "\nNote: {note}\n");
    }
    text
}

/// The run as a report: what was changed, the verdict, the diagram, the log.
pub fn markdown(run: &Run) -> String {
    let scenario = &run.compiled.scenario;
    let mut text = "# A run of Lockscope\n\n".to_string();
    let _ = writeln!(text, "System `{}`, seed {}.", one_line(&scenario.system), scenario.seed);
    if !run.compiled.edits.is_empty() {
        text.push_str("\nWhat was changed:\n\n");
        for edit in &run.compiled.edits {
            let _ = writeln!(text, "- `{edit}`");
        }
    }
    let headline = headline(run);
    let rest = prose(&headline.rest);
    let _ = write!(
        text,
        "\n**{}** {rest}\n\n| count | value | meaning |\n|---|--:|---|\n",
        headline.word
    );
    for count in told(run) {
        let _ = writeln!(text, "| `{}` | {} | {} |", count.key, count.text(), count.about);
    }
    for note in notes(run) {
        let _ = write!(text, "\nNote: {note}\n");
    }
    let _ = write!(text, "\n## Diagram\n\n{}", fenced("mermaid", &mermaid(run)));
    let _ = write!(text, "\n## Log\n\n{}", fenced("text", &story(run)));
    text
}

/// Words of a scenario that Markdown would take for its own.
fn prose(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if "\\`*_[]<>#|".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A code block whose fence is longer than any in it.
fn fenced(language: &str, text: &str) -> String {
    let mut fence = "```".to_string();
    while text.contains(&fence) {
        fence.push('`');
    }
    format!("{fence}{language}\n{text}{fence}\n")
}

/// Whether a line of the log is worth reading: all but what follows from the lines beside it.
fn matters(run: &Run, id: EventId) -> bool {
    let event = run.record.event(id);
    if kind::weight(event) > kind::Weight::Detail {
        return true;
    }
    let unknown = match event.note() {
        Some(Testimony::Answer(_, _, outcome) | Testimony::Told(_, outcome)) => outcome.unknown(),
        Some(Testimony::Close(_, why)) => *why == crate::judge::SectionEnd::Aborted,
        // From here on the log has nothing more of that program.
        None => matches!(event.what, What::End(_)),
        _ => false,
    };
    unknown || !Teller { run }.found_at(id).is_empty()
}

/// `time  node  sentence`, one line an event.
fn story(run: &Run) -> String {
    let teller = Teller { run };
    let ids: Vec<EventId> =
        (0..run.record.events.len() as u32).map(EventId).filter(|id| matters(run, *id)).collect();
    let exact = ids.iter().all(|id| fits_two_decimals(run.record.event(*id).at));
    let decimals = if exact { 2 } else { 3 };
    let rows: Vec<Vec<String>> = ids
        .into_iter()
        .map(|id| {
            let event = run.record.event(id);
            let at = moment_with(event.at, decimals);
            // Settings and the limit belong to the run, not to the node that carries the event.
            let whole = matches!(event.what, What::Set(_) | What::Limit(_));
            let who = if whole { "(the run)".into() } else { teller.label(event.node) };
            vec![at, who, sentence(run, id)]
        })
        .collect();
    table(&rows, &[Align::Right, Align::Left, Align::Left], "")
}

/// The counts that are not zero, and those that say that something was never looked at.
fn told(run: &Run) -> Vec<Count> {
    let counts = counts(run).into_iter();
    counts.filter(|c| c.value.is_some_and(|n| n > 0) || never_judged(c)).collect()
}

fn never_judged(count: &Count) -> bool {
    count.key == "invariant_judged" && count.value == Some(0)
}

fn verdict_table(run: &Run) -> String {
    let rows: Vec<Vec<String>> =
        told(run).iter().map(|c| vec![c.key.to_string(), c.text(), c.about.to_string()]).collect();
    table(&rows, &[Align::Left, Align::Right, Align::Left], "  ")
}

/// One line a grant: who, which token, and its truth, promise and belief.
fn grants_table(run: &Run) -> String {
    let teller = Teller { run };
    let several = run.names().locks.len() > 1;
    let intervals = &run.judgement.intervals;
    let truths = intervals.iter().filter(|i| i.kind == IntervalKind::Truth);
    let exact = intervals.iter().all(|i| fits_two_decimals(i.from) && fits_two_decimals(i.to));
    let decimals = if exact { 2 } else { 3 };
    let mut rows = vec![["", "", "truth", "promise", "belief"].map(String::from).to_vec()];
    for truth in truths {
        let mut who = teller.label(truth.client);
        if several {
            who = format!("{who}, {}", one_line(run.names().lock(truth.lock)));
        }
        let token = truth.token.map_or_else(|| "no token".into(), |t| teller.token(t));
        let mut row = vec![who, token];
        for kind in [IntervalKind::Truth, IntervalKind::Promise, IntervalKind::Belief] {
            let interval = teller.interval(kind, truth.grant);
            row.push(interval.map_or_else(|| "–".into(), |i| from_to(i, decimals)));
        }
        rows.push(row);
    }
    if rows.len() == 1 {
        return String::new();
    }
    table(&rows, &[Align::Left; 5], "  ")
}

fn from_to(interval: &Interval, decimals: usize) -> String {
    let from = moment_with(interval.from, decimals);
    let to = if interval.open { "the end".into() } else { moment_with(interval.to, decimals) };
    format!("{} to {to}", from.trim_end_matches(" s"))
}

/// Edits that found no occasion.
fn notes(run: &Run) -> Vec<String> {
    let edits = run.unused_edits.iter().filter_map(|i| run.compiled.edits.get(*i));
    edits.map(|edit| format!("the edit `{edit}` found no occasion in this run.")).collect()
}

fn section(text: &mut String, title: &str, body: &str) {
    if !body.is_empty() {
        let _ = write!(text, "\n{title}\n{body}");
    }
}

#[derive(Clone, Copy)]
enum Align {
    Left,
    Right,
}

/// Columns two spaces apart; the last one is as long as it is.
fn table(rows: &[Vec<String>], aligns: &[Align], indent: &str) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..aligns.len()).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = indent.to_string();
        for ((cell, align), width) in row.iter().zip(aligns).zip(&widths) {
            match align {
                Align::Left => line.push_str(&format!("{cell:<width$}  ")),
                Align::Right => line.push_str(&format!("{cell:>width$}  ")),
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
