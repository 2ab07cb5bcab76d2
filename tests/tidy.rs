//! The invariants of ARCHITECTURE.md, as ordinary tests over the source text.

use std::fs;
use std::path::{Path, PathBuf};

/// The rooms from the bottom up: each may use those before it.
const ROOMS: &[&str] = &[
    "sim", "judge", "systems", "run", "search", "narrate", "diagram", "lesson", "replay", "sheet",
    "ui", "cli",
];
/// Rooms whose results must be the same everywhere, byte for byte.
const CORE: &[&str] = &["sim", "judge", "systems", "run", "search"];

fn folder_of(room: &str) -> String {
    let package = if CORE.contains(&room) { "src/core" } else { "src" };
    format!("{package}/{room}")
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files_below(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name();
        let skipped = ["target", "dist", "node_modules", ".git", "shots"];
        if path.is_dir() && !skipped.iter().any(|s| *s == name) {
            files_below(&path, ending, found);
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
}

fn files(folder: &str, ending: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    files_below(&root().join(folder), ending, &mut found);
    found.sort();
    let read = |path: PathBuf| fs::read_to_string(&path).ok().map(|text| (path, text));
    found.into_iter().filter_map(read).collect()
}

/// The file without its tests and comments.
fn code(text: &str) -> String {
    let code = text.split("#[cfg(test)]").next().unwrap_or("");
    let lines = code.lines().map(|l| l.split("//").next().unwrap_or(""));
    lines.collect::<Vec<_>>().join("\n")
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
}

#[test]
fn the_core_knows_no_float_no_wall_clock_no_hash_order_and_no_web() {
    let banned = [
        "f32",
        "f64",
        "HashMap",
        "HashSet",
        "SystemTime",
        "Instant",
        "thread_rng",
        "RandomState",
        "yew",
        "web_sys",
        "js_sys",
        "wasm_bindgen",
        "gloo_timers",
    ];
    for room in CORE {
        for (path, text) in files(&folder_of(room), ".rs") {
            let code = code(&text);
            let found = words(&code).find(|w| banned.contains(w));
            assert_eq!(found, None, "{}", path.display());
        }
    }
}

#[test]
fn rooms_use_only_the_rooms_below_them() {
    for (place, room) in ROOMS.iter().enumerate() {
        for (path, text) in files(&folder_of(room), ".rs") {
            let code = code(&text);
            for (above, other) in ROOMS.iter().enumerate() {
                let used = code.contains(&format!("crate::{other}"));
                assert!(!used || above <= place, "{} uses {other}", path.display());
            }
        }
    }
}

#[test]
fn neither_the_judge_nor_any_picture_names_a_system() {
    let mut systems: Vec<String> = lockscope::systems::Registry::standard()
        .iter()
        .map(|s| format!("systems::{}", s.name()))
        .collect();
    systems.push("\"lease\"".into());
    for room in ["sim", "judge", "run", "narrate", "diagram", "sheet", "ui"] {
        for (path, text) in files(&folder_of(room), ".rs") {
            let code = code(&text);
            for system in &systems {
                assert!(!code.contains(system.as_str()), "{} names {system}", path.display());
            }
        }
    }
}

#[test]
fn the_web_is_touched_only_by_the_page() {
    for room in ["narrate", "diagram", "lesson", "sheet", "replay", "cli"] {
        for (path, text) in files(&folder_of(room), ".rs") {
            let code = code(&text);
            let found =
                words(&code).find(|w| ["yew", "web_sys", "js_sys", "wasm_bindgen"].contains(w));
            assert_eq!(found, None, "{}", path.display());
        }
    }
}

#[test]
fn no_event_makes_a_string() {
    for file in ["actor.rs", "heart.rs", "proc.rs", "world.rs", "wire.rs", "record.rs", "rng.rs"] {
        let text = fs::read_to_string(root().join("src/core/sim").join(file)).expect("it exists");
        let code = code(&text);
        for maker in ["format!", "to_string()", "String::from"] {
            assert!(!code.contains(maker), "{file} uses {maker}");
        }
    }
}

#[test]
fn functions_fit_a_screen() {
    const LONGEST: usize = 70;
    for folder in ["src", "xtask/src"] {
        for (path, text) in files(folder, ".rs") {
            let mut start = None;
            for (number, line) in text.lines().enumerate() {
                let trimmed = line.trim_start();
                let indent = line.len() - trimmed.len();
                let opens = [
                    "fn ",
                    "pub fn ",
                    "pub(super) fn ",
                    "pub(crate) fn ",
                    "pub const fn ",
                    "const fn ",
                ];
                if opens.iter().any(|o| trimmed.starts_with(o)) && !trimmed.ends_with(';') {
                    start = Some((number, indent));
                }
                let Some((first, depth)) = start else { continue };
                if trimmed == "}" && indent == depth {
                    let length = number - first + 1;
                    let place = format!("{}:{}", path.display(), first + 1);
                    assert!(length <= LONGEST, "{place} has {length} lines");
                    start = None;
                }
            }
        }
    }
}

#[test]
fn the_repository_speaks_of_itself_alone() {
    // Written in pieces, so that this file does not contain what it forbids.
    let banned = [
        concat!("../sha", "red"),
        concat!("/wo", "rk/"),
        concat!("/tm", "p/"),
        concat!("crates", ".io"),
        concat!("registry.npm", "js"),
        concat!("py", "pi"),
    ];
    let endings = [".rs", ".md", ".toml", ".mjs", ".css", ".html", ".json", "run"];
    for ending in endings {
        for (path, text) in files(".", ending) {
            // Cargo.lock and workspace metadata are generated; everything else is ours.
            for word in banned {
                assert!(!text.contains(word), "{} says {word}", path.display());
            }
        }
    }
}

#[test]
fn every_test_that_the_list_of_what_is_shown_names_is_there() {
    let list = fs::read_to_string(root().join("CONTRIBUTING.md")).expect("it is there");
    let (_, list) = list.split_once("## Which test shows what").expect("it has the list");
    let named: Vec<&str> =
        list.split('`').skip(1).step_by(2).filter(|w| w.contains("::")).collect();
    assert!(named.len() > 30);
    for name in named {
        let (file, test) = name.split_once("::").unwrap_or_default();
        let text = fs::read_to_string(root().join(format!("tests/{file}.rs"))).unwrap_or_default();
        assert!(text.contains(&format!("#[test]\nfn {test}(")), "there is no test {name}");
    }
}
