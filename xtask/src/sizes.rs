//! What a visitor's first load weighs.

use std::fmt::Write as _;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::build::Files;

/// The budget for all files of the start page, gzip.
const START_PAGE_MAX_BYTES: usize = 350_000;

/// A table of the start page's files, their total, and one line for the lessons.
pub fn table(files: &Files) -> String {
    let mut text = row("file of the start page", "raw", "gzip");
    let (mut raw, mut packed) = (0, 0);
    for (name, bytes) in files.iter().filter(|(name, _)| is_of_start_page(name)) {
        let gzip = gzip_len(bytes);
        raw += bytes.len();
        packed += gzip;
        text += &row(name, &kilobytes(bytes.len()), &kilobytes(gzip));
    }
    text += &row("together", &kilobytes(raw), &kilobytes(packed));
    let lessons: Vec<_> = files.iter().filter(|(name, _)| !is_of_start_page(name)).collect();
    if !lessons.is_empty() {
        let raw = lessons.iter().map(|(_, bytes)| bytes.len()).sum();
        let gzip = lessons.iter().map(|(_, bytes)| gzip_len(bytes)).sum();
        let name = format!("{} more, each fetched when opened", lessons.len());
        text += &row(&name, &kilobytes(raw), &kilobytes(gzip));
    }
    let budget = kilobytes(START_PAGE_MAX_BYTES);
    let verdict = if packed <= START_PAGE_MAX_BYTES { "within" } else { "OVER" };
    let _ = writeln!(text, "The start page is {verdict} its budget of {budget} gzip.");
    text
}

/// Everything at the root is loaded at once; of the lessons only their index.
fn is_of_start_page(name: &str) -> bool {
    !name.starts_with("lessons/") || name == "lessons/index.json"
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
    fn opened_lessons_are_not_part_of_the_start_page() {
        let files = Files::from([
            ("index.html".to_owned(), vec![b'a'; 2_500]),
            ("lessons/index.json".to_owned(), vec![b'b'; 1_000]),
            ("lessons/fencing.json".to_owned(), vec![b'c'; 9_000]),
        ]);
        let table = table(&files);
        let together = table.lines().find(|line| line.contains("together")).unwrap();
        assert!(together.contains("3.5 kB"), "{table}");
        assert!(table.contains("1 more, each fetched when opened"), "{table}");
        assert!(table.contains("within its budget of 350.0 kB"), "{table}");
    }
}
