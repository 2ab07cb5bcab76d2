//! Where things are, and how other programs are run.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

/// The root of the repository, wherever the command was called from.
pub fn root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        // Cargo says where it runs us from; what was true when we were compiled may be another
        // checkout that shares the target directory.
        let running = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let xtask = running.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
        xtask.parent().map(Path::to_owned).unwrap_or(xtask)
    })
}

/// Where the finished page is written.
pub fn dist() -> PathBuf {
    root().join("dist")
}

/// The cargo that runs us, so that every stage uses one toolchain.
pub fn cargo() -> Command {
    program(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The npm of this machine.
pub fn npm() -> Command {
    program(if cfg!(windows) { "npm.cmd" } else { "npm" })
}

/// A program that runs in the root of the repository and asks nothing.
pub fn program(name: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(name);
    command.current_dir(root()).stdin(Stdio::null());
    command
}

/// Runs a command to its end with its output shown; an exit code other than 0 is an error.
pub fn run(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| cannot_start(command, &error))?;
    if status.success() { Ok(()) } else { Err(format!("`{}` failed ({status}).", shown(command))) }
}

/// Runs a command for what it prints on standard output; `None` if it cannot start or fails.
pub fn ask(command: &mut Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Runs a command and hands over each line of its standard output as it comes; says whether it succeeded.
pub fn run_lines(command: &mut Command, mut line: impl FnMut(&str)) -> Result<bool, String> {
    let mut child =
        command.stdout(Stdio::piped()).spawn().map_err(|error| cannot_start(command, &error))?;
    if let Some(output) = child.stdout.take() {
        for bytes in BufReader::new(output).split(b'\n') {
            let bytes = bytes.map_err(|error| format!("`{}`: {error}.", shown(command)))?;
            line(String::from_utf8_lossy(&bytes).trim_end_matches('\r'));
        }
    }
    let status = child.wait().map_err(|error| format!("`{}`: {error}.", shown(command)))?;
    Ok(status.success())
}

fn cannot_start(command: &Command, error: &std::io::Error) -> String {
    format!("`{}` could not be started: {error}.", shown(command))
}

/// The command as one would type it; paths inside the repository are shown from its root.
pub fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let root = format!("{}{}", root().display(), std::path::MAIN_SEPARATOR);
    let words = words.map(|word| word.to_string_lossy().replace(&root, ""));
    let mut words: Vec<String> = words.collect();
    if let Some(name) = Path::new(&words[0]).file_name() {
        words[0] = name.to_string_lossy().into_owned();
    }
    words.join(" ")
}

/// A span of real time for people.
pub fn seconds(span: Duration) -> String {
    let whole = span.as_secs();
    if whole >= 60 {
        format!("{} min {:02} s", whole / 60, whole % 60)
    } else {
        format!("{:.1} s", span.as_secs_f64())
    }
}

/// An error of the file system, with the file it is about.
pub fn about(path: &Path) -> impl FnOnce(std::io::Error) -> String {
    move |error| format!("{}: {error}.", path.display())
}
