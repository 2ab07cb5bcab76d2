//! The project's own tool: builds, serves and tests Lockscope with nothing but cargo.
//!
//! One file per subcommand ([`build`], [`serve`], [`test`]), and one per thing they share:
//! [`wasm`] compiles the program, [`page`], [`lessons`] and [`evidence`] make the other files of `dist/`,
//! [`sizes`] weighs them, [`http`] serves them, [`needs`] installs what is missing.

mod build;
mod evidence;
mod http;
mod lessons;
mod needs;
mod page;
mod serve;
mod sizes;
mod test;
mod wasm;
mod workspace;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask COMMAND

  build                   Write the page to dist/, ready for any static host at any sub-path.
  serve [--port N] [--dev|--release]
                          Build the page and serve it at http://127.0.0.1:8080.
                          --release (the default) is what visitors get;
                          --dev leaves out the optimiser, for work on the code.
  test [--only STAGE]     Run every check, first installing what the browser tests need.
                          Stages, in this order: STAGES.
  help                    Show this text.
";

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub enum Failure {
    /// The command line makes no sense; exit code 2.
    Usage(String),
    /// The work was tried and failed; exit code 1.
    Work(String),
    /// As `Work`, but everything has been said, and nothing may follow the last line; exit code 1.
    Told,
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Failure::Work(message)
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Work(message)) => {
            eprintln!("error: {message}");
            ExitCode::from(1)
        }
        Err(Failure::Told) => ExitCode::from(1),
        Err(Failure::Usage(message)) => {
            eprintln!("error: {message}\n\n{}", help());
            ExitCode::from(2)
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<(), Failure> {
    let Some((command, rest)) = arguments.split_first() else {
        return Err(Failure::Usage("no command was given.".into()));
    };
    match command.as_str() {
        "build" => build::command(rest),
        "serve" => serve::command(rest),
        "test" => test::command(rest),
        "help" | "--help" | "-h" => {
            print!("{}", help());
            Ok(())
        }
        other => Err(Failure::Usage(format!("there is no command \"{other}\"."))),
    }
}

fn help() -> String {
    HELP.replace("STAGES", &test::stage_names())
}
