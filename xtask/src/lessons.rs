//! Turns the lesson files into what the page fetches.

use std::fs;
use std::path::PathBuf;

use lockscope::lesson::{self, Lesson, ReadError};
use lockscope::sheet::{self, Shell};

use crate::build::Files;
use crate::page::versioned;
use crate::workspace::{about, root};

/// Puts one file per lesson (`lessons/ID.json`, fetched when it is opened) into `files`.
pub fn pack_lessons(files: &mut Files) -> Result<Vec<Lesson>, String> {
    let mut lessons: Vec<Lesson> = Vec::new();
    for path in sources()? {
        let lesson = lesson::read(&path).map_err(|error| complaint(&path, &error))?;
        if lessons.iter().any(|other| other.id == lesson.id) {
            return Err(format!("{}: another lesson has the id {}", path.display(), lesson.id));
        }
        files.insert(format!("lessons/{}.json", lesson.id), lesson::pack(&lesson).into());
        lessons.push(lesson);
    }
    Ok(lessons)
}

/// Puts the pages that are read without the program into `files`, which must already hold what they
/// refer to: of each lesson `lessons/ID.html`, and its teacher's sheet `lessons/ID-teacher.html`.
pub fn pages(lessons: &[Lesson], files: &mut Files) -> Result<(), String> {
    let (style, icon) = (versioned("style.css", files)?, versioned("favicon.svg", files)?);
    let shell = Shell { style: &format!("../{style}"), icon: &format!("../{icon}"), home: "../" };
    for lesson in lessons {
        let page = sheet::lesson_page(lesson, &shell);
        files.insert(format!("lessons/{}.html", lesson.id), page.into());
        // A case is read by oneself, so that it has no sheet for a teacher.
        if lesson.report.is_none() {
            let page = sheet::teacher_page(lesson, &shell);
            files.insert(format!("lessons/{}-teacher.html", lesson.id), page.into());
        }
    }
    Ok(())
}

/// The lesson files in the order of their numbers, then the cases; README.md is for authors.
fn sources() -> Result<Vec<PathBuf>, String> {
    let lessons = root().join("lessons");
    let mut sources = Vec::new();
    for folder in [lessons.clone(), lessons.join("cases")] {
        let from = sources.len();
        for entry in fs::read_dir(&folder).map_err(about(&folder))? {
            let path = entry.map_err(about(&folder))?.path();
            let is_lesson = path.extension().is_some_and(|end| end == "md");
            if is_lesson && path.file_name().is_some_and(|name| name != "README.md") {
                sources.push(path);
            }
        }
        sources[from..].sort();
    }
    Ok(sources)
}

fn complaint(path: &std::path::Path, error: &ReadError) -> String {
    match error {
        ReadError::Unreadable(why) => format!("{}: {why}", path.display()),
        ReadError::Wrong(errors) => {
            let lines = errors.iter().map(|error| format!("{}:{error}", path.display()));
            lines.collect::<Vec<_>>().join("\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lesson_has_its_files() {
        let mut files = Files::new();
        let lessons = pack_lessons(&mut files).unwrap();
        assert!(lessons.iter().any(|lesson| lesson.id == "lease-expiration"));
        assert_eq!(files.len(), lessons.len());
        for name in ["style.css", "favicon.svg"] {
            files.insert(name.into(), Vec::new());
        }
        pages(&lessons, &mut files).unwrap();
        for card in &lessons {
            let bytes = &files[&format!("lessons/{}.json", card.id)];
            let lesson: Lesson = serde_json::from_slice(bytes).unwrap();
            assert_eq!(lesson.title, card.title);
            let teacher = card.report.is_none().then_some("-teacher");
            for page in [""].into_iter().chain(teacher) {
                let page = &files[&format!("lessons/{}{page}.html", card.id)];
                assert!(page.starts_with(b"<!DOCTYPE html>"));
            }
        }
    }
}
