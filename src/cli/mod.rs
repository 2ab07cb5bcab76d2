//! The terminal face: the same functions as the page, as commands.
//!
//! Exit codes: 0 = done; 1 = the thing asked about is false (a lesson that fails); 2 = bad usage,
//! unreadable input, a bad edit. Results go to standard output, errors in plain words to standard
//! error.

mod args;
mod asked;
mod check;
mod link;
mod replay;
mod run;
mod search;

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use crate::lesson::{self, Lesson, MOST_BYTES, ReadError};

/// What a command has to say at its end.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct Report {
    /// For standard output.
    out: String,
    /// For standard error, a line each.
    errors: Vec<String>,
    /// The exit code.
    code: u8,
}

impl Report {
    fn done(out: String) -> Report {
        Report { out, ..Report::default() }
    }

    /// The command cannot be carried out.
    fn refused(errors: Vec<String>) -> Report {
        Report { errors, code: 2, ..Report::default() }
    }

    fn usage(message: impl Into<String>) -> Report {
        Report::refused(vec![message.into(), "Try `lockscope help`.".into()])
    }
}

const HELP: &str = "\
Lockscope shows why a distributed lock is not a mutex.

lockscope run FILE      Run a lesson and print what happens.
lockscope search FILE   Try every pause at every instruction, and say which do harm.
lockscope check PATH... Check lessons and run every assertion in them.
lockscope replay FILE.. Play transcripts of real servers with the simulated ones, and compare.
lockscope link FILE     Print the address that shows a run.
lockscope pack FILE     Print a lesson as the page fetches it.
lockscope schema        Print the grammar of lessons and edits as JSON.
lockscope help          Print this text.

`lockscope run --help` says more about one command.
FILE may be `-` for standard input. Files and edits are described in lessons/README.md.

Exit code: 0 done; 1 the thing asked about is false, such as a lesson that fails;
           2 bad usage, unreadable input, a bad edit.
";

const RUN_HELP: &str = "\
lockscope run FILE [OPTION]...

Runs a variant of a lesson, judges it and prints it.

  --variant NAME    The variant to run. [base]
  --edit \"EDIT\"     One more edit, after the variant's own; may be repeated.
                    Example: --edit \"at 3s pause client-a for 12s\"
  --own-edits WORD  keep the variant's own edits, or drop them. [keep]
  --seed N          Another seed of randomness.
  --until T         Another latest end of the run, such as 20s.
  --format FORMAT   log, json, mermaid, svg or markdown. [log]
  --why EVENT       Print how that event came about, and no more of the run.
                    Example: --why \"reject resource#1\"
";

const LINK_HELP: &str = "\
lockscope link FILE [OPTION]...

Prints the part of the page's address, from `#` on, that shows a run of a lesson.

  --variant NAME    The variant to run. [base]
  --edit \"EDIT\"     One more edit, after the variant's own; may be repeated.
  --seed N          Another seed of randomness.
  --level LEVEL     A task of the lesson: help or challenge.
  --at EVENT        The event to stand at, as beats name it: --at \"grant client-b#1\",
                    or by its number in `lockscope run --format json`.
  --base URL        The address of the page, printed in front.
";

const SEARCH_HELP: &str = "\
lockscope search FILE [OPTION]...

Tries every placement of one pause in a variant of a lesson: before every instruction that a client
executes, with one length for every order that a length can bring about. All of them run under each
check of the resource, and the harm is counted. Edits of the variant that stop a process are left out.
A search has bounds, and prints them: at most 400 instructions, and 100,000,000 events in its runs to
find the schedules, and as many to try them. How far it has come is said on standard error; Ctrl+C ends
it.

  --variant NAME    The variant. [base]
  --edit \"EDIT\"     One more edit, after the variant's own; may be repeated.
  --seed N          Another seed of randomness.
  --goal GOAL       What to look for: harm, corruption, overlap or stall. [harm]
  --faults LIST     What may go wrong. Only `pause` is built. [pause]
  --max-faults K    How often. Only `1` is built. [1]
  --format FORMAT   text or json. [text]

Exit code: 0 no schedule reaches the goal under the variant's own check; 1 one does, and the command
that replays it is printed; 2 bad usage or input.
";

const CHECK_HELP: &str = "\
lockscope check PATH...

Reads lesson files, and those in folders, README.md excepted; runs every variant and every
assertion. Errors are printed as file:line:column. The last line is
N lessons, N assertions passed, N failed
";

const REPLAY_HELP: &str = "\
lockscope replay FILE...

Plays transcripts of real servers (JSON Lines) with the simulated servers, and compares every answer,
every message that came unasked, and every relation between values. What differs is printed as
file:line, with what was recorded and what was done. What is not modelled is printed by name, and
counts as failed. The last line is

N passed, N failed, N not modelled

over all files; what is counted is steps, and relations of a transcript's last line. A step passes if
its answer and all that came unasked after it are as recorded. Errors are compared by their first word.

Exit code: 0 all passed; 1 not all did; 2 bad usage, or a file that is no transcript.
";

const PACK_HELP: &str = "\
lockscope pack FILE

Prints a lesson as the JSON that the page fetches.
";

const SCHEMA_HELP: &str = "\
lockscope schema

Prints the grammar of lesson files, programs, edits and assertions as JSON, with every system,
setting, kind of event and figure that there is.
";

/// Commands of a later edition: named, so that nobody searches for a spelling mistake.
const PLANNED: [&str; 1] = ["sweep"];
/// Commands of this edition.
const COMMANDS: [&str; 8] = ["run", "search", "check", "replay", "link", "pack", "schema", "help"];

/// Carries out the command line of this process.
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let report = command(&arguments);
    // Errors first, so that the last line is the last line where both streams meet.
    for error in &report.errors {
        complain(error);
    }
    match print(&report.out) {
        Ok(()) => ExitCode::from(report.code),
        Err(error) => {
            complain(&format!("The output cannot be written: {error}."));
            ExitCode::from(2)
        }
    }
}

/// Prints to standard output. A reader that has seen enough is no error.
fn print(out: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(out.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Prints to standard error; where nobody reads that either, there is nobody left to tell.
fn complain(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

fn command(arguments: &[OsString]) -> Report {
    let texts: Option<Vec<&str>> = arguments.iter().map(|a| a.to_str()).collect();
    let Some(texts) = texts else {
        return Report::usage("An argument is not text in UTF-8.");
    };
    let Some((first, rest)) = texts.split_first() else {
        return Report::refused(vec![HELP.trim_end().into()]);
    };
    let wants_help = rest.iter().any(|a| *a == "--help" || *a == "-h");
    match *first {
        "help" | "--help" | "-h" => match rest.first() {
            Some(name) => help_of(name),
            None => Report::done(HELP.into()),
        },
        "--version" | "-V" => Report::done(format!("lockscope {}\n", env!("CARGO_PKG_VERSION"))),
        name if wants_help => help_of(name),
        "run" => run::command(rest),
        "search" => search::command(rest),
        "check" => check::command(rest),
        "replay" => replay::command(rest),
        "link" => link::command(rest),
        "pack" => pack(rest),
        "schema" => match rest.first() {
            None => Report::done(lesson::schema() + "\n"),
            Some(extra) => Report::usage(format!("`lockscope schema` takes no `{extra}`.")),
        },
        name => unknown(name),
    }
}

fn help_of(name: &str) -> Report {
    match name {
        "run" => Report::done(RUN_HELP.into()),
        "search" => Report::done(SEARCH_HELP.into()),
        "check" => Report::done(CHECK_HELP.into()),
        "replay" => Report::done(REPLAY_HELP.into()),
        "link" => Report::done(LINK_HELP.into()),
        "pack" => Report::done(PACK_HELP.into()),
        "schema" => Report::done(SCHEMA_HELP.into()),
        "help" | "--help" | "-h" => Report::done(HELP.into()),
        _ => unknown(name),
    }
}

fn unknown(name: &str) -> Report {
    if PLANNED.contains(&name) {
        return Report::usage(format!("`lockscope {name}` is not built yet."));
    }
    let known = crate::sim::list(COMMANDS);
    Report::usage(format!("There is no command `{name}`; the commands are {known}."))
}

fn pack(rest: &[&str]) -> Report {
    match rest {
        [file] if *file == "-" || !file.starts_with('-') => match read(file) {
            Ok(lesson) => Report::done(lesson::pack(&lesson) + "\n"),
            Err(errors) => Report::refused(errors),
        },
        _ => Report::usage("`lockscope pack` takes one FILE."),
    }
}

/// Reads a lesson from a file, or from standard input for `-`; errors as `file:line:column: …`.
fn read(file: &str) -> Result<Lesson, Vec<String>> {
    let lesson = if file == "-" {
        let mut bytes = Vec::new();
        match io::stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut bytes) {
            Ok(_) => lesson::parse_bytes(&bytes).map_err(ReadError::Wrong),
            Err(error) => Err(ReadError::Unreadable(format!("this cannot be read: {error}"))),
        }
    } else {
        lesson::read(Path::new(file))
    };
    lesson.map_err(|error| match error {
        ReadError::Unreadable(why) => vec![format!("{file}: {why}")],
        ReadError::Wrong(errors) => errors.iter().map(|e| format!("{file}:{e}")).collect(),
    })
}
