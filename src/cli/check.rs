//! `lockscope check`: whether lessons are well formed and what they assert is so.

use std::fs;
use std::path::Path;

use super::args::Args;
use super::{Report, read};
use crate::lesson::{self, Checked, Lesson, Located, Place};
use crate::replay;

/// Folders within folders are searched so deep.
const DEEPEST: usize = 8;

/// Runs the command.
pub fn command(arguments: &[&str]) -> Report {
    let paths = match Args::sort(arguments, &[]) {
        Ok(args) if args.plain.is_empty() => {
            return Report::usage("`lockscope check` takes the PATH of a lesson or a folder.");
        }
        Ok(args) => args.plain,
        Err(message) => return Report::usage(message),
    };
    let mut tally = Tally::default();
    for path in paths {
        tally.path(path);
    }
    tally.report()
}

#[derive(Default)]
struct Tally {
    lessons: usize,
    passed: usize,
    failed: usize,
    unreadable: bool,
    out: String,
    errors: Vec<String>,
    ids: Vec<(String, String)>,
}

impl Tally {
    fn path(&mut self, path: &str) {
        if path == "-" || !Path::new(path).is_dir() {
            self.file(path);
            return;
        }
        let mut files = Vec::new();
        if let Err(error) = lessons_in(Path::new(path), 0, &mut files) {
            self.refuse(vec![format!("{path}: this folder cannot be read: {error}")]);
        }
        if files.is_empty() {
            self.refuse(vec![format!("{path}: there is no lesson in this folder")]);
        }
        for file in files {
            self.file(&file);
        }
    }

    fn file(&mut self, file: &str) {
        self.lessons += 1;
        match read(file) {
            Ok(lesson) => self.lesson(file, &lesson),
            Err(errors) => {
                self.failed += 1;
                self.refuse(errors);
            }
        }
    }

    fn lesson(&mut self, file: &str, lesson: &Lesson) {
        if let Some((_, other)) = self.ids.iter().find(|i| i.0 == lesson.id && i.1 != file) {
            let message = format!("{file}:1:1: found the id `{}` of {other} again", lesson.id);
            self.failed += 1;
            self.refuse(vec![message]);
        }
        self.ids.push((lesson.id.clone(), file.into()));
        let mut checked = lesson::check(lesson);
        typed(lesson, &mut checked);
        self.passed += checked.passed;
        self.failed += checked.failed.len();
        for note in &checked.notes {
            self.out += &format!("{file}:{note} (no failure)\n");
        }
        self.errors.extend(checked.failed.iter().map(|f| format!("{file}:{f}")));
        let (passed, failed) = (checked.passed, checked.failed.len());
        self.out += &format!("{file}: {passed} passed, {failed} failed\n");
    }

    fn refuse(&mut self, errors: Vec<String>) {
        self.unreadable = true;
        self.errors.extend(errors);
    }

    fn report(self) -> Report {
        let Tally { lessons, passed, failed, .. } = self;
        let plural = |n: usize| if n == 1 { "" } else { "s" };
        let last = format!(
            "{lessons} lesson{}, {passed} assertion{} passed, {failed} failed\n",
            plural(lessons),
            plural(passed)
        );
        let code = if self.unreadable { 2 } else { u8::from(failed > 0) };
        Report { out: self.out + &last, errors: self.errors, code }
    }
}

/// Which servers the lines of a lesson are typed to.
const RELEASE: &str = "redis 7.0.15";

/// Types what a lesson offers to do at home to simulated servers, and compares what they print.
fn typed(lesson: &Lesson, checked: &mut Checked) {
    for machine in &lesson.machines {
        let lines: Vec<&str> = machine.lines.iter().map(|line| line.text.text.as_str()).collect();
        for (line, printed) in machine.lines.iter().zip(replay::typed(RELEASE, &lines)) {
            let expected = line.prints.as_ref().map_or("", |prints| prints.text.as_str());
            let place = line.prints.as_ref().map_or(line.text.place, |prints| prints.place);
            let mut wrong = |place: Place, message: String| {
                checked.failed.push(Located { place, message });
            };
            match printed {
                Ok(printed) if printed == expected => checked.passed += 1,
                Ok(printed) => {
                    wrong(
                        place,
                        format!("a simulated server prints {printed:?}, expected {expected:?}"),
                    );
                }
                Err(what) => wrong(line.text.place, format!("not modelled: {what}")),
            }
        }
    }
}

/// The lesson files below a folder in the order of their names; README.md is for authors.
fn lessons_in(folder: &Path, depth: usize, files: &mut Vec<String>) -> std::io::Result<()> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)? {
        entries.push(entry?.path());
    }
    entries.sort();
    for path in entries {
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
        if path.is_dir() && depth < DEEPEST && !name.starts_with('.') {
            lessons_in(&path, depth + 1, files)?;
        } else if path.is_file() && name.ends_with(".md") && name != "README.md" {
            files.push(path.display().to_string());
        }
    }
    Ok(())
}
