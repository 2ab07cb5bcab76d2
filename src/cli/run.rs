//! `lockscope run`: one variant of a lesson with the visitor's edits.

use super::Report;
use super::args::Args;
use super::asked::Asked;
use crate::diagram;
use crate::lesson::anchor;
use crate::narrate;
use crate::run::Run;
use crate::sim::{Micros, list};

const OPTIONS: [&str; 7] =
    ["--variant", "--edit", "--own-edits", "--seed", "--until", "--format", "--why"];
const FORMATS: [&str; 5] = ["log", "json", "mermaid", "svg", "markdown"];

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
    own_edits: bool,
    until: Option<&'a str>,
    format: &'a str,
    /// The event whose causes are asked for, in place of the run.
    why: Option<&'a str>,
}

fn wanted<'a>(arguments: &[&'a str]) -> Result<Wanted<'a>, String> {
    let args = Args::sort(arguments, &OPTIONS)?;
    let asked = Asked::of(&args, "run")?;
    let format = args.one("--format")?.unwrap_or("log");
    if !FORMATS.contains(&format) {
        let known = list(FORMATS);
        return Err(format!("There is no format `{format}`; the formats are {known}."));
    }
    let own_edits = match args.one("--own-edits")? {
        None | Some("keep") => true,
        Some("drop") => false,
        Some(word) => {
            return Err(format!("Found `{word}` for --own-edits, expected keep or drop."));
        }
    };
    let until = args.one("--until")?;
    if let Some(text) = until
        && Micros::parse(text).is_none()
    {
        return Err(format!("Found `{text}` for --until, expected a duration such as `20s`."));
    }
    Ok(Wanted { asked, own_edits, until, format, why: args.one("--why")? })
}

fn carry_out(wanted: &Wanted<'_>) -> Report {
    let asked = &wanted.asked;
    let mut lesson = match asked.lesson() {
        Ok(lesson) => lesson,
        Err(report) => return report,
    };
    if let Some(until) = wanted.until {
        lesson.scenario.until = until.into();
    }
    if !wanted.own_edits {
        lesson.variants.iter_mut().for_each(|v| v.edits.clear());
    }
    match lesson.compile(asked.variant, &asked.edits) {
        Ok(compiled) => {
            let run = Run::of(compiled);
            match wanted.why {
                None => Report::done(printed(&run, wanted.format)),
                Some(event) => match anchor(&run, event) {
                    Ok(id) => Report::done(narrate::why_text(&run, id)),
                    Err(message) => Report::refused(vec![format!("--why \"{event}\": {message}")]),
                },
            }
        }
        Err(errors) => asked.refused(&lesson, &errors),
    }
}

fn printed(run: &Run, format: &str) -> String {
    match format {
        "json" => format!("{:#}\n", narrate::json(run)),
        "mermaid" => narrate::mermaid(run),
        "svg" => diagram::svg(run, &diagram::layout(run, &diagram::Layout::default())),
        "markdown" => narrate::markdown(run),
        _ => narrate::log(run),
    }
}
