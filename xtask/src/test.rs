//! `cargo xtask test`: every check of the project, in the order in which failing early saves most time.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::wasm::Profile;
use crate::workspace::{cargo, dist, program, root, run, run_lines, seconds, shown};
use crate::{Failure, build, needs};

/// How many checks a stage made, and how they went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    passed: u64,
    failed: u64,
}

/// What a stage found: its count, and what went wrong, if anything did.
struct Finding {
    count: Count,
    problem: Option<String>,
}

struct Stage {
    name: &'static str,
    about: &'static str,
    check: fn() -> Finding,
    /// What the stage needs from the machine; made sure of before the first stage runs.
    needs: fn() -> Result<(), String>,
}

const STAGES: [Stage; 7] = [
    Stage {
        name: "format",
        about: "the code is formatted",
        check: || one(run(cargo().args(["fmt", "--all", "--check"]))),
        needs: needs::lint_tools,
    },
    Stage {
        name: "clippy",
        about: "no lint complains, natively",
        check: || clippy(&["--workspace", "--all-targets"]),
        needs: needs::lint_tools,
    },
    Stage {
        name: "clippy-wasm",
        about: "no lint complains, for the browser",
        check: || clippy(&["--package", "lockscope", "--target", needs::WASM_TARGET]),
        needs: || needs::lint_tools().and_then(|()| needs::wasm_target()),
    },
    Stage {
        name: "native",
        about: "tests of the simulator and the tools",
        check: native,
        needs: || Ok(()),
    },
    Stage {
        name: "lessons",
        about: "every lesson does what it says",
        check: lessons,
        needs: || Ok(()),
    },
    Stage {
        name: "build",
        about: "the page builds",
        check: || one(build::build(Profile::Release, &dist())),
        needs: needs::wasm_target,
    },
    Stage {
        name: "browser",
        about: "the built page works in a browser",
        check: browser,
        needs: needs::browser_tests,
    },
];

/// The names of all stages, for people.
pub fn stage_names() -> String {
    STAGES.map(|stage| stage.name).join(", ")
}

/// Runs the subcommand.
pub fn command(arguments: &[String]) -> Result<(), Failure> {
    let start = Instant::now();
    let chosen = chosen(arguments)?;
    if let Err(problem) = prepare(&chosen) {
        println!("{problem}");
        return end(Count { passed: 0, failed: 1 });
    }
    let mut done: Vec<(&Stage, Finding, Duration)> = Vec::new();
    for stage in &chosen {
        println!("\n=== {}: {}", stage.name, stage.about);
        let stage_start = Instant::now();
        let finding = (stage.check)();
        let time = stage_start.elapsed();
        let verdict = if finding.problem.is_none() { "passed" } else { "FAILED" };
        println!("=== {} {verdict} after {}", stage.name, seconds(time));
        let stop = finding.problem.is_some();
        done.push((stage, finding, time));
        if stop {
            break;
        }
    }
    summary(&chosen, &done, start.elapsed())
}

fn chosen(arguments: &[String]) -> Result<Vec<&'static Stage>, Failure> {
    let name = match arguments {
        [] => return Ok(STAGES.iter().collect()),
        [option, name] if option == "--only" => name.as_str(),
        [option] if option.starts_with("--only=") => &option["--only=".len()..],
        _ => {
            return Err(Failure::Usage("test takes nothing, or --only and one stage.".into()));
        }
    };
    match STAGES.iter().find(|stage| stage.name == name) {
        Some(stage) => Ok(vec![stage]),
        None => Err(Failure::Usage(format!(
            "there is no stage \"{name}\"; the stages are {}.",
            stage_names()
        ))),
    }
}

/// Sees to everything that may be missing before the first long stage, so that nobody waits to learn it.
fn prepare(stages: &[&Stage]) -> Result<(), String> {
    for stage in stages {
        (stage.needs)().map_err(|problem| {
            format!("{problem}\nOther stages run alone: `cargo xtask test --only STAGE`.")
        })?;
    }
    Ok(())
}

/// Prints each stage's result; the last line is the sum on a line of its own.
fn summary(
    chosen: &[&Stage],
    done: &[(&Stage, Finding, Duration)],
    time: Duration,
) -> Result<(), Failure> {
    println!("\n{:<12} {:>8} {:>8}   time", "stage", "passed", "failed");
    let mut sum = Count::default();
    for (stage, Finding { count, .. }, time) in done {
        println!("{:<12} {:>8} {:>8}   {}", stage.name, count.passed, count.failed, seconds(*time));
        sum.passed += count.passed;
        sum.failed += count.failed;
    }
    for stage in &chosen[done.len()..] {
        println!("{:<12} {:>8} {:>8}", stage.name, "not run", "");
    }
    println!("All of it took {}.", seconds(time));
    let problem = done.iter().find_map(|(stage, finding, _)| {
        finding
            .problem
            .as_ref()
            .map(|problem| format!("the stage {} failed: {problem}", stage.name))
    });
    if let Some(problem) = problem {
        println!("{problem}");
    }
    end(sum)
}

/// Prints the sum as the very last line, where whatever runs this looks for it.
fn end(sum: Count) -> Result<(), Failure> {
    println!("{} passed, {} failed", sum.passed, sum.failed);
    if sum.failed == 0 { Ok(()) } else { Err(Failure::Told) }
}

/// A stage that is itself one check.
fn one(result: Result<(), String>) -> Finding {
    match result {
        Ok(()) => Finding { count: Count { passed: 1, failed: 0 }, problem: None },
        Err(problem) => Finding { count: Count { passed: 0, failed: 1 }, problem: Some(problem) },
    }
}

fn clippy(arguments: &[&str]) -> Finding {
    one(run(cargo().arg("clippy").args(arguments).args(["--", "-D", "warnings"])))
}

fn native() -> Finding {
    counted(cargo().args(["test", "--workspace"]), cargo_count)
}

/// Runs `lockscope check lessons`.
fn lessons() -> Finding {
    let lockscope = ["run", "--quiet", "--package", "lockscope", "--"];
    counted(cargo().args(lockscope).args(["check", "lessons"]), lesson_count)
}

fn browser() -> Finding {
    let mut command = program("node");
    // A test that hangs is a failure with a name, not a silent end of the whole run.
    command.args(["--test", "--test-reporter=spec", "--test-timeout=900000"]);
    command.current_dir(root().join("tests/browser"));
    if let Ok(chromium) = needs::chromium() {
        command.env("CHROMIUM", chromium);
    }
    counted(&mut command, node_count)
}

/// Runs a command whose output says how many tests passed and failed, and adds those numbers up.
fn counted(command: &mut Command, count_of: fn(&str) -> Option<Count>) -> Finding {
    let mut count = Count::default();
    let result = run_lines(command, |line| {
        println!("{line}");
        if let Some(more) = count_of(line) {
            count.passed += more.passed;
            count.failed += more.failed;
        }
    });
    let problem = match result {
        Err(problem) => Some(problem),
        Ok(false) => Some(format!("`{}` failed; see above.", shown(command))),
        Ok(true) if count == Count::default() => {
            // Success without a single test means that the tests were not found.
            Some(format!("`{}` ran no test.", shown(command)))
        }
        Ok(true) if count.failed > 0 => Some(format!("{} failed; see above.", count.failed)),
        Ok(true) => None,
    };
    if problem.is_some() && count.failed == 0 {
        count.failed = 1;
    }
    Finding { count, problem }
}

/// `test result: ok. 12 passed; 0 failed; …`
fn cargo_count(line: &str) -> Option<Count> {
    let (_, numbers) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let number =
        |word| numbers.split("; ").find_map(|part| part.strip_suffix(word)?.trim().parse().ok());
    Some(Count { passed: number(" passed")?, failed: number(" failed")? })
}

/// `12 lessons, 80 assertions passed, 0 failed`
fn lesson_count(line: &str) -> Option<Count> {
    let mut parts = line.split(", ");
    parts.next()?.strip_suffix(" lessons")?;
    let passed = parts.next()?.strip_suffix(" assertions passed")?.parse().ok()?;
    Some(Count { passed, failed: parts.next()?.strip_suffix(" failed")?.parse().ok()? })
}

/// `ℹ pass 3`, `ℹ fail 0`, `ℹ cancelled 0`, one line each
fn node_count(line: &str) -> Option<Count> {
    let (word, number) = line.strip_prefix("ℹ ")?.split_once(' ')?;
    let number = number.parse().ok()?;
    match word {
        "pass" => Some(Count { passed: number, failed: 0 }),
        // A test that was cancelled, by a time-out or a failed set-up, has not passed.
        "fail" | "cancelled" => Some(Count { passed: 0, failed: number }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runners_own_sums_are_read() {
        let line = "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.2s";
        assert_eq!(cargo_count(line), Some(Count { passed: 12, failed: 0 }));
        let line = "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.2s";
        assert_eq!(cargo_count(line), Some(Count { passed: 3, failed: 2 }));
        assert_eq!(cargo_count("test tests::ok ... ok"), None);

        let line = "12 lessons, 80 assertions passed, 1 failed";
        assert_eq!(lesson_count(line), Some(Count { passed: 80, failed: 1 }));
        assert_eq!(lesson_count("lessons/01-x.md:3:1: error"), None);

        assert_eq!(node_count("ℹ pass 3"), Some(Count { passed: 3, failed: 0 }));
        assert_eq!(node_count("ℹ cancelled 1"), Some(Count { passed: 0, failed: 1 }));
        assert_eq!(node_count("ℹ duration_ms 12.5"), None);
        assert_eq!(node_count("✔ the page loads (12ms)"), None);
    }

    #[test]
    fn a_stage_can_be_chosen_by_name() {
        let words =
            |words: &[&str]| -> Vec<String> { words.iter().map(|w| (*w).to_owned()).collect() };
        assert_eq!(chosen(&[]).unwrap().len(), STAGES.len());
        assert_eq!(chosen(&words(&["--only", "native"])).unwrap()[0].name, "native");
        assert_eq!(chosen(&words(&["--only=build"])).unwrap()[0].name, "build");
        assert!(matches!(chosen(&words(&["--only", "all"])), Err(Failure::Usage(_))));
        assert!(matches!(chosen(&words(&["fast"])), Err(Failure::Usage(_))));
    }

    #[cfg(unix)]
    #[test]
    fn a_silent_success_is_a_failure() {
        let finding = counted(&mut program("true"), cargo_count);
        assert_eq!(finding.count, Count { passed: 0, failed: 1 });
        assert!(finding.problem.unwrap().contains("ran no test"));
    }
}
