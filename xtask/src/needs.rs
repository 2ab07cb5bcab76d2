//! What the tools need from the machine: found, installed where that is safe, or else named.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::workspace::{about, ask, npm, program, root, run};

/// The page's compilation target.
pub const WASM_TARGET: &str = "wasm32-unknown-unknown";

/// The oldest Node.js whose test runner knows the options we use.
const NODE_MIN: (u32, u32) = (20, 11);

/// Makes sure that the toolchain can compile for the browser.
pub fn wasm_target() -> Result<(), String> {
    let present = || {
        let mut rustc = program("rustc");
        let folder = ask(rustc.args(["--print", "target-libdir", "--target", WASM_TARGET]));
        folder.is_some_and(|folder| Path::new(&folder).is_dir())
    };
    if present() {
        return Ok(());
    }
    println!("Adding the target {WASM_TARGET} to the Rust toolchain.");
    let added = run(program("rustup").args(["target", "add", WASM_TARGET]));
    if added.is_ok() && present() {
        return Ok(());
    }
    Err(format!(
        "the Rust toolchain cannot compile for the browser: the target {WASM_TARGET} is missing. \
         With rustup: `rustup target add {WASM_TARGET}`; otherwise install your system's package \
         of Rust's standard library for that target."
    ))
}

/// Makes sure that rustfmt and clippy are there.
pub fn lint_tools() -> Result<(), String> {
    for (tool, component) in [("rustfmt", "rustfmt"), ("cargo-clippy", "clippy")] {
        let present = || ask(program(tool).arg("--version")).is_some();
        if present() {
            continue;
        }
        println!("Adding {component} to the Rust toolchain.");
        let added = run(program("rustup").args(["component", "add", component]));
        if added.is_err() || !present() {
            return Err(format!(
                "{tool} is missing. With rustup: `rustup component add {component}`."
            ));
        }
    }
    Ok(())
}

/// The script that shrinks the program, installed on first use; an error says why there is none.
pub fn wasm_opt() -> Result<PathBuf, String> {
    node()?;
    let folder = root().join("xtask");
    node_packages(&folder)?;
    Ok(folder.join("node_modules/binaryen/bin/wasm-opt"))
}

/// Makes sure of everything that the browser tests need; an error names all that is missing at once.
pub fn browser_tests() -> Result<(), String> {
    let packages = node().and_then(|()| node_packages(&root().join("tests/browser")));
    let missing: Vec<String> =
        [packages, chromium().map(|_| ())].into_iter().filter_map(Result::err).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(format!("the browser tests cannot run:\n  - {}", missing.join("\n  - ")))
}

fn node() -> Result<(), String> {
    let how = format!(
        "Node.js {}.{} or newer with npm is needed: from nodejs.org, or your system's packages.",
        NODE_MIN.0, NODE_MIN.1
    );
    let Some(version) = ask(program("node").arg("--version")) else {
        return Err(format!("Node.js was not found. {how}"));
    };
    if !is_new_enough(&version) {
        return Err(format!("the Node.js found here is {version}. {how}"));
    }
    if ask(npm().arg("--version")).is_none() {
        return Err(format!("Node.js is here, but npm was not found. {how}"));
    }
    Ok(())
}

fn is_new_enough(version: &str) -> bool {
    let mut numbers = version.trim_start_matches('v').split('.').map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= NODE_MIN,
        _ => false,
    }
}

/// Installs what a folder's lock file names, unless precisely that is installed already.
fn node_packages(folder: &Path) -> Result<(), String> {
    let lock_path = folder.join("package-lock.json");
    let lock = fs::read(&lock_path).map_err(about(&lock_path))?;
    let stamp = folder.join("node_modules/.installed-lock.json");
    if fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    let place = folder.strip_prefix(root()).unwrap_or(folder).display();
    println!("Installing the Node packages of {place}.");
    // No package of ours needs to run a script of its own to be installed.
    let mut command = npm();
    command.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(folder);
    run(&mut command).map_err(|error| {
        format!(
            "the Node packages of {place} could not be installed (is there a network?): {error}"
        )
    })?;
    fs::write(&stamp, lock).map_err(about(&stamp))
}

/// The browser that the tests drive, installed if we may.
pub fn chromium() -> Result<PathBuf, String> {
    if let Some(chosen) = std::env::var_os("CHROMIUM") {
        let chosen = PathBuf::from(chosen);
        return if starts(&chosen) {
            Ok(chosen)
        } else {
            Err(format!("the variable CHROMIUM names {}, which does not start.", chosen.display()))
        };
    }
    if let Some(found) = find_chromium() {
        return Ok(found);
    }
    if is_root() && ask(program("apt-get").arg("--version")).is_some() {
        install_chromium()?;
        if let Some(found) = find_chromium() {
            return Ok(found);
        }
    }
    Err("Chromium or Chrome was not found. On Debian: `apt-get install chromium`; elsewhere install \
         either browser, and if it is in an unusual place set the variable CHROMIUM to its path."
        .into())
}

fn install_chromium() -> Result<(), String> {
    println!("Installing Chromium with apt-get.");
    let apt = || {
        let mut command = program("apt-get");
        command.env("DEBIAN_FRONTEND", "noninteractive");
        command
    };
    run(apt().args(["update", "--quiet"]))?;
    // The two fonts make text as wide on a bare machine as on a developer's.
    let packages = ["chromium", "fonts-liberation", "fonts-dejavu-core"];
    let mut install = apt();
    install.args(["install", "--quiet", "--yes", "--no-install-recommends"]).args(packages);
    run(&mut install)
}

fn find_chromium() -> Option<PathBuf> {
    let names = [
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    ];
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&folders).collect();
    // Joining an absolute path replaces the folder, so those two are looked at as they are.
    let mut places =
        names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    places.find(|place| place.is_file() && starts(place))
}

/// Some systems ship a stub under the browser's name that only tells where to get it.
fn starts(browser: &Path) -> bool {
    let status =
        program(browser).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

fn is_root() -> bool {
    ask(program("id").arg("-u")).is_some_and(|id| id == "0")
}

#[cfg(test)]
mod tests {
    use super::is_new_enough;

    #[test]
    fn versions_compare_as_numbers() {
        assert!(is_new_enough("v20.11.0"));
        assert!(is_new_enough("v100.0.0"));
        assert!(!is_new_enough("v20.9.0"));
        assert!(!is_new_enough("v8.20.0"));
        assert!(!is_new_enough("nonsense"));
    }
}
