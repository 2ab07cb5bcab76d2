//! The files around the program: `index.html` with every name filled in, and all of `static/`.

use std::fs;

use lockscope::lesson::Lesson;
use lockscope::sheet;

use crate::build::{Files, content_hash, read_folder};
use crate::wasm::Program;
use crate::workspace::{about, root};
use crate::{evidence, lessons};

/// Adds `static/`, the pages of `lessons`, those of the evidence and `index.html` to `files`, which must already hold
/// everything else.
pub fn shell(program: &Program, lessons: &[Lesson], files: &mut Files) -> Result<(), String> {
    read_folder(&root().join("static"), "", files)?;
    lessons::pages(lessons, files)?;
    evidence::pages(files)?;
    let path = root().join("index.html");
    let template = fs::read_to_string(&path).map_err(about(&path))?;
    let html = fill(&template, program, lessons, files)?;
    files.insert("index.html".into(), html.into_bytes());
    Ok(())
}

/// Replaces each `{{name}}` of the template; a name nobody knows is an error, not an empty string.
fn fill(
    template: &str,
    program: &Program,
    lessons: &[Lesson],
    files: &Files,
) -> Result<String, String> {
    let mut html = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) =
            after.split_once("}}").ok_or("index.html: a \"{{\" has no \"}}\" after it.")?;
        html.push_str(before);
        html.push_str(&match name.trim() {
            // The start page needs no program.
            "lessons" => sheet::home(lessons),
            "cases" => sheet::cases(lessons),
            name => value(name, program, files)?,
        });
        rest = after;
    }
    html.push_str(rest);
    Ok(html)
}

fn value(name: &str, program: &Program, files: &Files) -> Result<String, String> {
    match name {
        "program.js" => Ok(program.js.clone()),
        "program.wasm" => Ok(program.wasm.clone()),
        // Content-Length counts compressed bytes, so the progress bar needs to be told.
        "program.bytes" => Ok(files.get(&program.wasm).map_or(0, Vec::len).to_string()),
        "build" => {
            Ok(content_hash(files.iter().flat_map(|(name, bytes)| [name.as_bytes(), bytes])))
        }
        _ => versioned(name, files),
    }
}

/// Files of static/ keep their names; the query tells caches that the content changed.
pub fn versioned(name: &str, files: &Files) -> Result<String, String> {
    match files.get(name) {
        Some(bytes) => Ok(format!("{name}?v={}", content_hash([&bytes[..]]))),
        None => Err(format!("index.html: nothing is known of \"{{{{{name}}}}}\".")),
    }
}

#[cfg(test)]
mod tests {
    use super::fill;
    use crate::build::Files;
    use crate::wasm::Program;

    fn filled(template: &str) -> Result<String, String> {
        let program = Program { js: "p.js".into(), wasm: "p.wasm".into() };
        let files = Files::from([
            ("p.wasm".to_owned(), vec![0; 1234]),
            ("style.css".to_owned(), b"foobar".to_vec()),
        ]);
        fill(template, &program, &[], &files)
    }

    #[test]
    fn names_are_replaced_and_the_rest_is_kept() {
        assert_eq!(filled("a {{program.js}} {{ program.bytes }} b").unwrap(), "a p.js 1234 b");
        assert_eq!(filled("{{style.css}}").unwrap(), "style.css?v=85944171f73967e8");
        assert_eq!(filled("{{lessons}}").unwrap(), "<ol class=\"cards\"></ol>");
        assert_eq!(filled("nothing to do").unwrap(), "nothing to do");
    }

    #[test]
    fn an_unknown_or_unfinished_name_is_an_error() {
        assert!(filled("{{favicon.ico}}").unwrap_err().contains("{{favicon.ico}}"));
        assert!(filled("{{style.css").is_err());
    }
}
