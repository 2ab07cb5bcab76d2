//! What a visitor's first load weighs.

use std::fmt::Write as _;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::build::Files;

/// The budget of a first load, gzip: of the start page, and of a lesson that is opened directly.
const FIRST_LOAD_MAX_BYTES: usize = 350_000;

/// A table of the start page's files, of what a lesson adds to them, and of the rest.
pub fn table(files: &Files) -> String {
    let mut text = row("file of the start page", "raw", "gzip");
    let start = listed(files, &mut text, |name| !is_aside(name) && !is_program(name));
    text += &row("what the first lesson adds", "raw", "gzip");
    let program = listed(files, &mut text, is_program);
    let lessons = files.iter().filter(|(name, _)| name.ends_with(".json"));
    let largest = lessons.map(|(_, bytes)| (gzip_len(bytes), bytes.len())).max();
    if let Some((gzip, raw)) = largest {
        text += &row("the largest lesson", &kilobytes(raw), &kilobytes(gzip));
    }
    let lesson = start + program + largest.map_or(0, |l| l.0);
    let _ = writeln!(text, "First load of the start page: {}.", judged(start));
    let _ = writeln!(text, "First load of a lesson: {}.", judged(lesson));
    text
}

/// The files of a kind, a row each; returns what they weigh packed.
fn listed(files: &Files, text: &mut String, kind: impl Fn(&str) -> bool) -> usize {
    let mut packed = 0;
    for (name, bytes) in files.iter().filter(|(name, _)| kind(name)) {
        let gzip = gzip_len(bytes);
        packed += gzip;
        *text += &row(name, &kilobytes(bytes.len()), &kilobytes(gzip));
    }
    packed
}

fn judged(bytes: usize) -> String {
    let budget = kilobytes(FIRST_LOAD_MAX_BYTES);
    let verdict = if bytes <= FIRST_LOAD_MAX_BYTES { "within" } else { "OVER" };
    format!("{} gzip, {verdict} the budget of {budget}", kilobytes(bytes))
}

/// What is loaded only by whoever opens it.
fn is_aside(name: &str) -> bool {
    name.starts_with("lessons/") || name.starts_with("evidence/")
}

/// The start page is written when the site is built; only a lesson needs the program.
fn is_program(name: &str) -> bool {
    name.starts_with("lockscope-")
}

fn row(name: &str, raw: &str, gzip: &str) -> String {
    format!("  {name:<36} {raw:>12} {gzip:>12}\n")
}

fn kilobytes(bytes: usize) -> String {
    format!("{}.{} kB", bytes / 1000, bytes % 1000 / 100)
}

fn gzip_len(bytes: &[u8]) -> usize {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    // Writing to memory does not fail; if it ever did, the raw size is an honest upper bound.
    match encoder.write_all(bytes).and_then(|()| encoder.finish()) {
        Ok(packed) => packed.len(),
        Err(_) => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lesson_weighs_the_program_and_the_start_page_does_not() {
        let noise = |length: u32| {
            (0..length).map(|i| (i.wrapping_mul(i) / 7 % 251) as u8).collect::<Vec<_>>()
        };
        let files = Files::from([
            ("index.html".to_owned(), vec![b'a'; 2_500]),
            ("lockscope-1.wasm".to_owned(), noise(900_000)),
            ("lessons/fencing.json".to_owned(), vec![b'c'; 9_000]),
            ("lessons/fencing.html".to_owned(), noise(400_000)),
        ]);
        let table = table(&files);
        let last: Vec<&str> = table.lines().rev().take(2).collect();
        assert!(
            last[1].starts_with("First load of the start page: 0.0 kB gzip, within"),
            "{table}"
        );
        assert!(last[0].starts_with("First load of a lesson: "), "{table}");
        assert!(!table.contains("fencing.html"), "{table}");
    }
}
