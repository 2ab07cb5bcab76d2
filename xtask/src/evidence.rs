//! Turns the transcripts of real servers into pages beside the lessons.

use std::fs;
use std::path::PathBuf;

use lockscope::replay;
use lockscope::sheet::{self, Recording, Shell};

use crate::build::Files;
use crate::page::versioned;
use crate::workspace::{about, root};

/// Puts `evidence/index.html` and a page for each transcript of `tests/golden/` into `files`, which
/// must already hold what they refer to.
pub fn pages(files: &mut Files) -> Result<(), String> {
    let (style, icon) = (versioned("style.css", files)?, versioned("favicon.svg", files)?);
    let recordings = recordings()?;
    let up = |levels: usize, name: &str| format!("{}{name}", "../".repeat(levels));
    let (near, far) = ((up(1, &style), up(1, &icon)), (up(2, &style), up(2, &icon)));
    let shell = Shell { style: &near.0, icon: &near.1, home: "../" };
    files.insert("evidence/index.html".into(), sheet::evidence_page(&recordings, &shell).into());
    let shell = Shell { style: &far.0, icon: &far.1, home: "../../" };
    for recording in &recordings {
        let page = sheet::recording_page(recording, &shell);
        files.insert(format!("evidence/{}.html", recording.name), page.into());
    }
    Ok(())
}

/// All transcripts, folder by folder.
fn recordings() -> Result<Vec<Recording>, String> {
    let golden = root().join("tests/golden");
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(&golden).map_err(about(&golden))? {
        let folder = entry.map_err(about(&golden))?.path();
        if folder.is_dir() {
            for entry in fs::read_dir(&folder).map_err(about(&folder))? {
                paths.push(entry.map_err(about(&folder))?.path());
            }
        }
    }
    paths.sort();
    paths
        .iter()
        .map(|path| {
            let text = fs::read_to_string(path).map_err(about(path))?;
            let transcript = replay::read(&text)
                .map_err(|e| format!("{}:{}: {}", path.display(), e.line, e.message))?;
            let name = path.strip_prefix(&golden).unwrap_or(path).with_extension("");
            Ok(Recording::new(name.to_string_lossy().replace('\\', "/"), transcript))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use lockscope::run::Ground;
    use lockscope::systems::Registry;

    use super::*;

    #[test]
    fn every_transcript_has_its_page_and_every_rule_its_place() {
        let mut files = Files::new();
        for name in ["style.css", "favicon.svg"] {
            files.insert(name.into(), Vec::new());
        }
        pages(&mut files).unwrap();
        let page = |name: &str| {
            let page = files.get(name).unwrap_or_else(|| panic!("no {name}"));
            String::from_utf8(page.clone()).unwrap()
        };
        let all = page("evidence/index.html");
        let registry = Registry::standard();
        for ground in registry.iter().flat_map(|system| system.rules()).flat_map(Ground::each) {
            let address = sheet::evidence_of(&ground);
            let (file, id) = address.split_once('#').unwrap();
            assert!(page(file).contains(&format!("id=\"{id}\"")), "{address}");
            assert!(all.contains(ground.rule.says), "{}", ground.rule.says);
        }
        assert!(page("evidence/redlock/clock_jump.html").contains("the same"));
    }
}
