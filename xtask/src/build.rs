//! `cargo xtask build`: writes the page to a folder that any static host can serve.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

use crate::wasm::Profile;
use crate::workspace::{about, dist, seconds};
use crate::{Failure, lessons, needs, page, sizes, wasm};

/// The files of the page by their path below its root, `/` between folders.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Runs the subcommand.
pub fn command(arguments: &[String]) -> Result<(), Failure> {
    if let Some(argument) = arguments.first() {
        return Err(Failure::Usage(format!("build takes no arguments, but got \"{argument}\".")));
    }
    Ok(build(Profile::Release, &dist())?)
}

/// Builds the page and writes it to `folder`, replacing what is there only once everything has worked.
pub fn build(profile: Profile, folder: &Path) -> Result<(), String> {
    let start = Instant::now();
    needs::wasm_target()?;
    let mut files = Files::new();
    let program = wasm::program(profile, &mut files)?;
    let lessons = lessons::pack_lessons(&mut files)?;
    page::shell(&program, &lessons, &mut files)?;
    replace(folder, &files)?;
    if profile == Profile::Release {
        print!("{}", sizes::table(&files));
    }
    println!("Wrote {} in {}.", folder.display(), seconds(start.elapsed()));
    Ok(())
}

fn replace(folder: &Path, files: &Files) -> Result<(), String> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(about(folder))?;
    }
    for (name, bytes) in files {
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(about(parent))?;
        fs::write(&path, bytes).map_err(about(&path))?;
    }
    Ok(())
}

/// Reads a folder with all below it into `files`, under the paths they have in it.
pub fn read_folder(folder: &Path, prefix: &str, files: &mut Files) -> Result<(), String> {
    for entry in fs::read_dir(folder).map_err(about(folder))? {
        let path = entry.map_err(about(folder))?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            return Err(format!("{}: the name of this file is not UTF-8.", path.display()));
        };
        if path.is_dir() {
            read_folder(&path, &format!("{prefix}{name}/"), files)?;
        } else {
            let bytes = fs::read(&path).map_err(about(&path))?;
            files.insert(format!("{prefix}{name}"), bytes);
        }
    }
    Ok(())
}

/// A short name for some bytes, so that a cache never mixes two builds (64-bit FNV-1a).
pub fn content_hash<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in parts.into_iter().flatten() {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::content_hash;

    #[test]
    fn the_hash_is_the_published_one() {
        // Reference values of FNV-1a: the empty string and "foobar".
        assert_eq!(content_hash([]), "cbf29ce484222325");
        assert_eq!(content_hash([&b"foo"[..], b"bar"]), "85944171f73967e8");
    }
}
