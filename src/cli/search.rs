//! `lockscope search`: proof in the small, with its bounds.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use super::Report;
use super::args::Args;
use super::asked::Asked;
use crate::json::Json;
use crate::judge::Verdict;
use crate::lesson::{BASE, Lesson};
use crate::narrate;
use crate::run::{self, ScenarioError};
use crate::search::{Aim, MOST_WORK, Proof, Row};
use crate::sim::list;
use crate::systems::Registry;

const OPTIONS: [&str; 7] =
    ["--variant", "--edit", "--seed", "--goal", "--faults", "--max-faults", "--format"];
const FORMATS: [&str; 2] = ["text", "json"];
/// What may go wrong in a search of a later edition.
const UNBUILT: [&str; 7] = ["cut", "crash", "kill", "delay", "drop", "duplicate", "clock"];

/// How much a search handles here, where nobody waits for a page: see [`MOST_WORK`].
const MOST_HERE: u32 = 5 * MOST_WORK;

/// What was asked for.
struct Wanted<'a> {
    asked: Asked<'a>,
    goal: &'a str,
    aim: Aim,
    json: bool,
}

/// Runs the command.
pub fn command(arguments: &[&str]) -> Report {
    match wanted(arguments) {
        Ok(wanted) => carry_out(&wanted),
        Err(message) => Report::usage(message),
    }
}

fn wanted<'a>(arguments: &[&'a str]) -> Result<Wanted<'a>, String> {
    let args = Args::sort(arguments, &OPTIONS)?;
    let asked = Asked::of(&args, "search")?;
    let format = args.one("--format")?.unwrap_or("text");
    if !FORMATS.contains(&format) {
        return Err(format!("There is no format `{format}`; the formats are {}.", list(FORMATS)));
    }
    for fault in args.one("--faults")?.unwrap_or("pause").split(',') {
        match fault.trim() {
            "pause" => {}
            known if UNBUILT.contains(&known) => {
                return Err(format!("`--faults {known}` is not built yet; `pause` is."));
            }
            other => return Err(format!("There is no fault `{other}` to search; there is pause.")),
        }
    }
    match args.one("--max-faults")?.unwrap_or("1") {
        "1" => {}
        text if text.parse::<u64>().is_ok_and(|k| k > 1) => {
            return Err("More than one fault at a time is not built yet.".into());
        }
        text => return Err(format!("Found `{text}` for --max-faults, expected 1.")),
    }
    let goal = args.one("--goal")?.unwrap_or("harm");
    let known = || list(Aim::ALL.iter().map(|(word, _)| *word));
    let found = Aim::ALL.into_iter().find(|(word, _)| *word == goal);
    let (goal, aim) =
        found.ok_or_else(|| format!("There is no goal `{goal}`; the goals are {}.", known()))?;
    Ok(Wanted { asked, goal, aim, json: format == "json" })
}

fn carry_out(wanted: &Wanted<'_>) -> Report {
    let lesson = match wanted.asked.lesson() {
        Ok(lesson) => lesson,
        Err(report) => return report,
    };
    match searched(&lesson, wanted) {
        // Nothing was tried, so that nothing can be said.
        Ok(proof) if proof.exhausted && proof.places.is_empty() => {
            let mut said = narrate::bounds(&proof);
            said.truncate(1);
            let shorter = "Let its programs repeat less, its clocks run alike, or the run end earlier with `until`.";
            Report::refused(vec![format!("{}: {} {shorter}", wanted.asked.file, said.concat())])
        }
        Ok(proof) => {
            let found = proof.rows.get(proof.own).is_some_and(|row| row.met > 0);
            let out = if wanted.json {
                format!("{:#}\n", json(wanted, &proof))
            } else {
                text(wanted, &proof)
            };
            Report { out, errors: Vec::new(), code: u8::from(found) }
        }
        Err(errors) => wanted.asked.refused(&lesson, &errors),
    }
}

fn searched(lesson: &Lesson, wanted: &Wanted<'_>) -> Result<Proof, Vec<ScenarioError>> {
    // That says what is wrong with the variant's name or an edit.
    let given = lesson.compile(wanted.asked.variant, &wanted.asked.edits)?;
    let edits: Vec<String> = given.edits.iter().map(ToString::to_string).collect();
    let registry = Registry::standard();
    let compile = |edits: &[String]| run::compile(&given.scenario, edits, &registry);
    let mut proof = Proof::new(&compile, &edits, wanted.aim)?;
    proof.most = MOST_HERE;
    let mut meter = Meter::new();
    while proof.step() {
        meter.show(&proof);
    }
    meter.clear();
    Ok(proof)
}

/// Says on standard error how far a search has come: in place on a terminal, and elsewhere a line now
/// and then, from the time on at which one would wonder.
struct Meter {
    terminal: bool,
    said: Instant,
    lines: u32,
}

impl Meter {
    fn new() -> Meter {
        Meter { terminal: std::io::stderr().is_terminal(), said: Instant::now(), lines: 0 }
    }

    fn show(&mut self, proof: &Proof) {
        let every = if self.terminal { 200 } else { 10_000 };
        if self.said.elapsed() < Duration::from_millis(every) {
            return;
        }
        let words = if proof.counted() {
            format!("{} of {} schedules tried", proof.tried, proof.schedules.len())
        } else {
            format!("{} of {} instructions looked at", proof.counted_places(), proof.places.len())
        };
        let line = if self.terminal { format!("\r\x1b[K{words}") } else { format!("{words}\n") };
        // Whether anybody reads it or not, the search goes on.
        let _ = std::io::stderr().write_all(line.as_bytes());
        (self.said, self.lines) = (Instant::now(), self.lines + 1);
    }

    fn clear(&self) {
        if self.terminal && self.lines > 0 {
            let _ = std::io::stderr().write_all(b"\r\x1b[K");
        }
    }
}

/// The command that shows a schedule's run.
fn replay(wanted: &Wanted<'_>, edits: &[String]) -> String {
    let mut command = format!("lockscope run {} --own-edits drop", quoted(wanted.asked.file));
    if wanted.asked.variant != BASE {
        command += &format!(" --variant {}", quoted(wanted.asked.variant));
    }
    if let Some(seed) = wanted.asked.seed {
        command += &format!(" --seed {seed}");
    }
    for edit in edits {
        command += &format!(" --edit {}", quoted(edit));
    }
    command
}

/// As a shell reads it back.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.into();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn text(wanted: &Wanted<'_>, proof: &Proof) -> String {
    let mut out = String::new();
    for sentence in narrate::bounds(proof) {
        out += &format!("{sentence}\n");
    }
    let total = proof.schedules.len();
    out += &format!("\n{:<16}{:<16}", "resource.check", wanted.goal);
    out += &Verdict::HARMS.map(|key| format!("{key:<18}")).concat();
    for (index, row) in proof.rows.iter().enumerate() {
        let own = if index == proof.own { " *" } else { "" };
        let count = format!("{} of {total}", row.met);
        out.truncate(out.trim_end().len());
        out += &format!("\n{:<16}{count:<16}", format!("{}{own}", row.check));
        out += &row.kinds.map(|kind| format!("{kind:<18}")).concat();
    }
    out.truncate(out.trim_end().len());
    out += "\n* as the variant has it\n";
    for (index, row) in proof.rows.iter().enumerate() {
        let Some(first) = row.first_met else { continue };
        let edits = proof.edits(first, index);
        out +=
            &format!("\n{}, the first of {}:\n  {}\n", row.check, row.met, replay(wanted, &edits));
    }
    out
}

fn json(wanted: &Wanted<'_>, proof: &Proof) -> Json {
    let rows = proof.rows.iter().enumerate();
    let rows = rows.map(|(index, row)| check(wanted, proof, index, row)).collect();
    let some = |value: Json| Some(value);
    Json::object([
        ("schema", some(1_u64.into())),
        ("goal", some(wanted.goal.into())),
        ("variant", some(wanted.asked.variant.into())),
        ("seed", some(proof.seed.into())),
        ("until_us", some(proof.until.0.into())),
        ("bounds", some(narrate::bounds(proof).into_iter().map(Json::Text).collect())),
        ("instructions", some((proof.places.len() as u64).into())),
        ("schedules", some((proof.schedules.len() as u64).into())),
        ("untried_instructions", some((proof.untried_places as u64).into())),
        ("untried_schedules", some((proof.untried_schedules as u64).into())),
        ("runs", some(proof.runs.into())),
        ("checks", some(rows)),
    ])
}

fn check(wanted: &Wanted<'_>, proof: &Proof, index: usize, row: &Row) -> Json {
    let number = |n: usize| Json::Number(n as u64);
    let kinds = Verdict::HARMS.into_iter().zip(row.kinds).map(|(key, n)| (key, Some(number(n))));
    let first = row.first_met.map(|first| {
        let edits = proof.edits(first, index);
        let replay = replay(wanted, &edits);
        Json::object([
            ("edits", Some(edits.into_iter().map(Json::Text).collect())),
            ("replay", Some(replay.as_str().into())),
        ])
    });
    Json::object([
        ("check", Some(row.check.as_str().into())),
        ("own", Some(Json::Bool(index == proof.own))),
        ("found", Some(number(row.met))),
        ("harmful", Some(number(row.harmful))),
        ("kinds", Some(Json::object(kinds))),
        ("first", Some(first.unwrap_or(Json::Null))),
    ])
}
