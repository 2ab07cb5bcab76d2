//! `lockscope link`: a run as the address that shows it.

use super::Report;
use super::args::Args;
use super::asked::Asked;
use crate::lesson::{BASE, Lesson, Level, anchor};
use crate::run::{Link, Run, node_ids};
use crate::sim::list;
use crate::systems::Registry;

const OPTIONS: [&str; 6] = ["--variant", "--edit", "--seed", "--level", "--at", "--base"];

/// Runs the command.
pub fn command(arguments: &[&str]) -> Report {
    match wanted(arguments) {
        Ok(wanted) => carry_out(&wanted),
        Err(message) => Report::usage(message),
    }
}

/// What was asked for.
struct Wanted<'a> {
    asked: Asked<'a>,
    level: Option<Level>,
    at: Option<&'a str>,
    base: &'a str,
}

fn wanted<'a>(arguments: &[&'a str]) -> Result<Wanted<'a>, String> {
    let args = Args::sort(arguments, &OPTIONS)?;
    let asked = Asked::of(&args, "link")?;
    let level = args.one("--level")?.map(|text| {
        let level = Level::ALL.into_iter().find(|l| l.word() == text);
        let known = list(Level::ALL.map(Level::word));
        level.ok_or(format!("There is no level `{text}`; the levels are {known}."))
    });
    let base = args.one("--base")?.unwrap_or_default();
    if !leads_to_a_page(base) {
        return Err(format!(
            "Found `{base}` for --base, expected the address of the page, such as \
             `https://example.org/`."
        ));
    }
    Ok(Wanted { asked, level: level.transpose()?, at: args.one("--at")?, base })
}

/// Whether an address can be that of a page: what a browser would run, or not take for one address, is
/// none.
fn leads_to_a_page(base: &str) -> bool {
    let odd = |c: char| c.is_whitespace() || c.is_control();
    let scheme = base.split_once(':').map(|s| s.0).filter(|s| !s.contains(['/', '?', '#']));
    let known = |s: &str| ["http", "https", "file"].iter().any(|k| s.eq_ignore_ascii_case(k));
    !base.contains(odd) && scheme.is_none_or(known)
}

fn carry_out(wanted: &Wanted<'_>) -> Report {
    let asked = &wanted.asked;
    // The file's own seed needs no place in a link.
    let mut lesson = match asked.own_lesson() {
        Ok(lesson) => lesson,
        Err(report) => return report,
    };
    let own_seed = lesson.scenario.seed;
    lesson.scenario.seed = asked.seed.unwrap_or(own_seed);
    let run = match lesson.compile(asked.variant, &asked.edits) {
        Ok(compiled) => Run::of(compiled),
        Err(errors) => return asked.refused(&lesson, &errors),
    };
    if let Some(level) = wanted.level.filter(|level| lesson.task(*level).is_none()) {
        return Report::usage(format!("{} has no task `{}`.", asked.file, level.word()));
    }
    match event(&run, wanted.at) {
        Ok(event) => Report::done(link(wanted, &lesson, own_seed, &run, event) + "\n"),
        Err(why) => Report::usage(format!("--at: {why}")),
    }
}

/// The number of an event that is asked for by its number or by its name.
fn event(run: &Run, at: Option<&str>) -> Result<Option<u32>, String> {
    let Some(at) = at else { return Ok(None) };
    let all = run.record.events.len() as u32;
    match at.parse::<u32>() {
        Ok(number) if number < all => Ok(Some(number)),
        Ok(number) => Err(format!(
            "there is no event {number}; the run has events 0 to {}",
            all.saturating_sub(1)
        )),
        Err(_) => anchor(run, at).map(|event| Some(event.0)),
    }
}

fn link(
    wanted: &Wanted<'_>,
    lesson: &Lesson,
    own_seed: u64,
    run: &Run,
    event: Option<u32>,
) -> String {
    let asked = &wanted.asked;
    let Some(variant) = lesson.variant(asked.variant) else { return String::new() };
    let first = asked.variant == BASE && wanted.level.is_none();
    let mut edits: Vec<String> = variant.edits.iter().map(|e| e.text.clone()).collect();
    edits.extend_from_slice(&asked.edits);
    let seed = lesson.scenario.seed;
    let link = Link {
        lesson: lesson.id.clone(),
        variant: (!first).then(|| asked.variant.into()),
        level: wanted.level.map(|l| l.word().into()),
        seed: (seed != own_seed).then_some(seed),
        event,
        edits: (!asked.edits.is_empty()).then_some(edits),
        present: false,
        view: None,
    };
    let nodes = node_ids(&lesson.scenario_of(variant), &Registry::standard());
    let base = wanted.base.split('#').next().unwrap_or_default();
    format!("{base}{}", link.write(&nodes, run.hash()))
}
