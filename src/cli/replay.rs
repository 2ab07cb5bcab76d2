//! `lockscope replay`: whether the simulated servers do what real ones were recorded to do.

use std::fs;
use std::io::{self, Read};

use super::Report;
use super::args::Args;
use crate::lesson::MOST_BYTES;
use crate::replay::{Replayed, read, replay};

/// Runs the command.
pub fn command(arguments: &[&str]) -> Report {
    let files = match Args::sort(arguments, &[]) {
        Ok(args) if args.plain.is_empty() => {
            return Report::usage("`lockscope replay` takes the FILE of a transcript.");
        }
        Ok(args) => args.plain,
        Err(message) => return Report::usage(message),
    };
    let (mut report, mut all) = (Report::default(), Replayed::default());
    for file in files {
        match text(file)
            .and_then(|text| read(&text).map_err(|e| format!("{}: {}", e.line, e.message)))
        {
            Ok(transcript) => {
                let replayed = replay(&transcript);
                for (line, difference) in &replayed.differences {
                    report.out += &format!("{file}:{line}: {difference}\n");
                }
                report.out += &format!("{file}: {}\n", sum(&replayed));
                all.passed += replayed.passed;
                all.failed += replayed.failed;
                all.not_modelled += replayed.not_modelled;
            }
            Err(why) => {
                report.code = 2;
                report.errors.push(format!("{file}:{why}"));
            }
        }
    }
    report.out += &sum(&all);
    report.out.push('\n');
    if all.failed + all.not_modelled > 0 {
        report.code = report.code.max(1);
    }
    report
}

fn sum(replayed: &Replayed) -> String {
    let Replayed { passed, failed, not_modelled, .. } = replayed;
    format!("{passed} passed, {failed} failed, {not_modelled} not modelled")
}

fn text(file: &str) -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = if file == "-" {
        io::stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut bytes)
    } else {
        fs::File::open(file).and_then(|open| open.take(MOST_BYTES + 1).read_to_end(&mut bytes))
    };
    match read {
        Err(error) => Err(format!(" this cannot be read: {error}")),
        Ok(_) if bytes.len() as u64 > MOST_BYTES => {
            Err(format!(" this is longer than {MOST_BYTES} bytes"))
        }
        Ok(_) => String::from_utf8(bytes).map_err(|_| " this is not text in UTF-8".into()),
    }
}
