//! `lockscope run`: one variant of a lesson with the visitor's edits.

use super::args::Args;
use super::{Report, read};
use crate::diagram;
use crate::lesson::{BASE, Lesson, anchor};
use crate::narrate;
use crate::run::{Run, ScenarioError};
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
    file: &'a str,
    variant: &'a str,
    edits: Vec<String>,
    own_edits: bool,
    seed: Option<u64>,
    until: Option<&'a str>,
    format: &'a str,
    /// The event whose causes are asked for, in place of the run.
    why: Option<&'a str>,
}

fn wanted<'a>(arguments: &[&'a str]) -> Result<Wanted<'a>, String> {
    let args = Args::sort(arguments, &OPTIONS)?;
    let [file] = args.plain.as_slice() else {
        return Err(format!("`lockscope run` takes one FILE, found {}.", args.plain.len()));
    };
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
    Ok(Wanted {
        file,
        variant: args.one("--variant")?.unwrap_or(BASE),
        edits: args.all("--edit").map(String::from).collect(),
        own_edits,
        seed: seed(&args)?,
        until,
        format,
        why: args.one("--why")?,
    })
}

/// The seed that was asked for.
pub(super) fn seed(args: &Args<'_>) -> Result<Option<u64>, String> {
    let wrong = |text| format!("Found `{text}` for --seed, expected a whole number.");
    args.one("--seed")?.map(|text| text.parse().map_err(|_| wrong(text))).transpose()
}

fn carry_out(wanted: &Wanted<'_>) -> Report {
    let mut lesson = match read(wanted.file) {
        Ok(lesson) => lesson,
        Err(errors) => return Report::refused(errors),
    };
    if let Some(seed) = wanted.seed {
        lesson.scenario.seed = seed;
    }
    if let Some(until) = wanted.until {
        lesson.scenario.until = until.into();
    }
    if !wanted.own_edits {
        lesson.variants.iter_mut().for_each(|v| v.edits.clear());
    }
    match lesson.compile(wanted.variant, &wanted.edits) {
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
        Err(errors) => {
            let told = |e| complaint(wanted.file, &lesson, wanted.variant, &wanted.edits, e);
            Report::refused(errors.iter().map(told).collect())
        }
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

/// An error by the part of the command line that it comes from: the file itself was right.
pub(super) fn complaint(
    file: &str,
    lesson: &Lesson,
    variant: &str,
    edits: &[String],
    error: &ScenarioError,
) -> String {
    let (place, message) = (&error.place, &error.message);
    let own = lesson.variant(variant).map_or(0, |v| v.edits.len());
    match place.path.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["edits", index] => {
            let number = index.parse::<usize>().unwrap_or(0).saturating_sub(own);
            let text = edits.get(number).map_or("", String::as_str);
            format!("--edit \"{text}\", character {}: {message}", place.at + 1)
        }
        ["variants"] => format!("--variant {variant}: {message}"),
        ["until"] => format!("--until: {message}"),
        _ => format!("{file}: {error}"),
    }
}
