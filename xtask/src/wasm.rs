//! Compiles the program to WebAssembly, makes its bindings, and lets `wasm-opt` shrink it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use wasm_bindgen_cli_support::Bindgen;

use crate::build::{Files, content_hash, read_folder};
use crate::needs;
use crate::workspace::{about, cargo, program as run_program, root, run_lines, seconds, shown};

/// How much work goes into a fast and small program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Compiles soon; the page is large and slower.
    Dev,
    /// What visitors get.
    Release,
}

/// The names of the program's two files in [`Files`], each with the hash of its content.
#[derive(Debug)]
pub struct Program {
    /// The bindings, an ES module.
    pub js: String,
    /// The program itself.
    pub wasm: String,
}

/// `-O3` rather than `-Oz`: the simulator is hot, and after gzip the sizes are within a percent.
const OPTIMISE: &str = "-O3";

/// Compiles the program and puts its files into `files`.
pub fn program(profile: Profile, files: &mut Files) -> Result<Program, String> {
    let start = Instant::now();
    println!("Compiling the program for the browser (the first time takes a minute or two).");
    let compiled = compile(profile)?;
    println!("Compiled in {}.", seconds(start.elapsed()));

    let mut made = bind(profile, &compiled)?;
    let wasm = made.remove("lockscope_bg.wasm").ok_or("wasm-bindgen wrote no wasm file.")?;
    let js = made.remove("lockscope.js").ok_or("wasm-bindgen wrote no JavaScript file.")?;
    // What is left are snippets that crates bring along; the bindings import them by these very paths.
    files.append(&mut made);

    let wasm = match profile {
        Profile::Dev => wasm,
        Profile::Release => optimise(wasm, &compiled)?,
    };
    let program = Program {
        js: format!("lockscope-{}.js", content_hash([&js[..]])),
        wasm: format!("lockscope-{}.wasm", content_hash([&wasm[..]])),
    };
    files.insert(program.js.clone(), js);
    files.insert(program.wasm.clone(), wasm);
    Ok(program)
}

/// Runs cargo and returns the path of the compiled module.
fn compile(profile: Profile) -> Result<PathBuf, String> {
    let mut command = cargo();
    command.args(["build", "--package", "lockscope", "--bin", "lockscope"]);
    command.args(["--target", needs::WASM_TARGET, "--message-format=json-render-diagnostics"]);
    if profile == Profile::Release {
        command.arg("--release");
        hide_local_paths(&mut command);
    }
    let mut module = None;
    let success = run_lines(&mut command, |line| {
        if let Some(path) = module_of(line) {
            module = Some(path);
        }
    })?;
    if !success {
        return Err("the program does not compile for the browser; see above.".into());
    }
    module.ok_or_else(|| format!("`{}` named no wasm file.", shown(&command)))
}

/// Panic messages hold paths of source files; without this the published page would show the builder's
/// home folder, and two people would get two different files from one commit.
fn hide_local_paths(command: &mut Command) {
    let mut flags = vec![format!("--remap-path-prefix={}=.", root().display())];
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| {
        let home = std::env::home_dir()?;
        Some(home.join(".cargo"))
    });
    if let Some(home) = home {
        flags.push(format!("--remap-path-prefix={}=cargo", home.display()));
    }
    let flags = serde_json::Value::from(flags);
    command.args(["--config", &format!("target.{}.rustflags={flags}", needs::WASM_TARGET)]);
}

/// The wasm file that a line of cargo's messages announces, if it does.
fn module_of(line: &str) -> Option<PathBuf> {
    let message: serde_json::Value = serde_json::from_str(line).ok()?;
    if message["reason"] != "compiler-artifact" || message["target"]["name"] != "lockscope" {
        return None;
    }
    let names = message["filenames"].as_array()?;
    let names = names.iter().filter_map(|name| name.as_str());
    names.map(PathBuf::from).find(|name| name.extension().is_some_and(|end| end == "wasm"))
}

/// Makes the bindings beside the compiled module and reads them back.
fn bind(profile: Profile, compiled: &Path) -> Result<Files, String> {
    let start = Instant::now();
    let release = profile == Profile::Release;
    let folder = compiled.with_file_name("lockscope-bindings");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(about(&folder))?;
    }
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(compiled)
        .out_name("lockscope")
        .typescript(false)
        // boot.mjs finds the module by the link in index.html: its name carries a hash.
        .omit_default_module_path(true)
        .debug(!release)
        // The debug sections of a dev build are 15 MB that no browser reads without an extension.
        .keep_debug(false)
        .remove_name_section(release)
        .remove_producers_section(release);
    bindgen
        .web(true)
        .and_then(|bindgen| bindgen.generate(&folder))
        .map_err(|error| format!("the bindings could not be made: {error:#}."))?;
    let mut files = Files::new();
    read_folder(&folder, "", &mut files)?;
    println!("Made the bindings in {}.", seconds(start.elapsed()));
    Ok(files)
}

/// Lets `wasm-opt` shrink the module, if Node.js is there to run it.
fn optimise(wasm: Vec<u8>, compiled: &Path) -> Result<Vec<u8>, String> {
    let start = Instant::now();
    let script = match needs::wasm_opt() {
        Ok(script) => script,
        Err(reason) => {
            println!("The program stays a little larger than it could be: {reason}");
            return Ok(wasm);
        }
    };
    // The hash in the name makes a second build of the same program free.
    let name = content_hash([&wasm[..], OPTIMISE.as_bytes()]);
    let output = compiled.with_file_name(format!("lockscope-{name}.optimised.wasm"));
    if let Ok(known) = fs::read(&output) {
        return Ok(known);
    }
    let input = compiled.with_file_name("lockscope-input.wasm");
    fs::write(&input, &wasm).map_err(about(&input))?;
    let mut command = run_program("node");
    command.arg(script).arg(OPTIMISE).arg(&input).arg("-o").arg(&output);
    crate::workspace::run(&mut command)?;
    let optimised = fs::read(&output).map_err(about(&output))?;
    println!("wasm-opt took {}.", seconds(start.elapsed()));
    Ok(optimised)
}

#[cfg(test)]
mod tests {
    use super::module_of;

    #[test]
    fn only_the_announcement_of_our_module_names_a_path() {
        let ours = r#"{"reason":"compiler-artifact","target":{"name":"lockscope"},"filenames":["/t/lockscope.d","/t/lockscope.wasm"]}"#;
        let library = r#"{"reason":"compiler-artifact","target":{"name":"lockscope"},"filenames":["/t/liblockscope.rlib"]}"#;
        assert_eq!(module_of(ours).unwrap().to_str(), Some("/t/lockscope.wasm"));
        assert_eq!(module_of(library), None);
        assert_eq!(module_of(r#"{"reason":"build-finished","success":true}"#), None);
        assert_eq!(module_of("not JSON"), None);
    }
}
