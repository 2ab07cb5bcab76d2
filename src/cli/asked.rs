//! What `run`, `link` and `search` are asked alike: a lesson, one of its variants, edits, a seed.

use super::args::Args;
use super::{Report, read};
use crate::lesson::{BASE, Lesson};
use crate::run::ScenarioError;

/// A run by its lesson, variant, edits and seed.
pub struct Asked<'a> {
    /// The lesson's file; `-` for standard input.
    pub file: &'a str,
    /// The variant, or the base.
    pub variant: &'a str,
    /// Edits after the variant's own.
    pub edits: Vec<String>,
    /// The seed, where it is not the lesson's.
    pub seed: Option<u64>,
}

impl<'a> Asked<'a> {
    /// Takes it from the arguments of a command.
    ///
    /// # Errors
    /// One sentence about a file that is missing or one too many, or a seed that is no number.
    pub fn of(args: &Args<'a>, command: &str) -> Result<Asked<'a>, String> {
        let [file] = args.plain.as_slice() else {
            return Err(format!(
                "`lockscope {command}` takes one FILE, found {}.",
                args.plain.len()
            ));
        };
        let wrong = |text| format!("Found `{text}` for --seed, expected a whole number.");
        let seed = args.one("--seed")?.map(|text| text.parse().map_err(|_| wrong(text)));
        Ok(Asked {
            file,
            variant: args.one("--variant")?.unwrap_or(BASE),
            edits: args.all("--edit").map(String::from).collect(),
            seed: seed.transpose()?,
        })
    }

    /// The lesson as it is in its file.
    ///
    /// # Errors
    /// What is wrong with the file, as a report.
    pub fn own_lesson(&self) -> Result<Lesson, Report> {
        read(self.file).map_err(Report::refused)
    }

    /// The lesson with that seed.
    ///
    /// # Errors
    /// What is wrong with the file, as a report.
    pub fn lesson(&self) -> Result<Lesson, Report> {
        let mut lesson = self.own_lesson()?;
        lesson.scenario.seed = self.seed.unwrap_or(lesson.scenario.seed);
        Ok(lesson)
    }

    /// What is wrong with the variant or an edit.
    pub fn refused(&self, lesson: &Lesson, errors: &[ScenarioError]) -> Report {
        Report::refused(errors.iter().map(|e| self.complaint(lesson, e)).collect())
    }

    /// An error by the part of the command line that it comes from: the file itself was right.
    fn complaint(&self, lesson: &Lesson, error: &ScenarioError) -> String {
        let (place, message) = (&error.place, &error.message);
        let own = lesson.variant(self.variant).map_or(0, |v| v.edits.len());
        match place.path.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["edits", index] => {
                let number = index.parse::<usize>().unwrap_or(0).saturating_sub(own);
                let text = self.edits.get(number).map_or("", String::as_str);
                format!("--edit \"{text}\", character {}: {message}", place.at + 1)
            }
            ["variants"] => format!("--variant {}: {message}", self.variant),
            ["until"] => format!("--until: {message}"),
            _ => format!("{}: {error}", self.file),
        }
    }
}
