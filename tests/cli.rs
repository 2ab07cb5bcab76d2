//! The command line as a program: exit codes, and what it says of bad input.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lockscope::run::kind;
use lockscope::sim::EventId;
use lockscope::ui::route::Route;
use lockscope::ui::state::State;

const RACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/lessons/05-lease-expiration.md");

/// The smallest lesson, to be spoilt in one way at a time.
const SMALL: &str = r#"+++
id = "small"
title = "Small"
minutes = 5
class = "efficiency"
hook = "A hook."
say = "A word."
[scenario]
system = "lease"
cells = { balance = 100 }
[scenario.clients.client-a]
program = ["acquire", "read balance", "write balance = balance - 10", "release"]
[variants.base]
edits = ["pause client-a before write#1 for 1s"]
expect = ["grants == 1"]
[teach]
script = [{ minute = 0, say = "Look.", show = "beat" }]
board = "A -> B"
discuss = [{ question = "Why?", answer = "So." }]
+++

## A beat {#beat at="grant client-a"}

Words.
"#;

struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

fn lockscope(arguments: &[&str], input: &[u8]) -> Said {
    let mut child = Command::new(env!("CARGO_BIN_EXE_lockscope"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // It may refuse before it has read everything.
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(input));
    let output = child.wait_with_output().expect("the program ends");
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!err.contains("panicked") && !err.contains("backtrace"), "{err}");
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    Said { code: output.status.code(), out, err }
}

/// Checks a lesson from standard input; the exit code, and the errors without the file's name.
fn check(text: impl AsRef<[u8]>) -> (Option<i32>, Vec<String>) {
    let said = lockscope(&["check", "-"], text.as_ref());
    assert!(said.out.ends_with(" failed\n"), "{}", said.out);
    let line = |l: &str| l.strip_prefix("-:").unwrap_or(l).to_string();
    (said.code, said.err.lines().map(line).collect())
}

/// A file for a test, in a folder of its own.
fn file(folder: &str, name: &str, text: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(folder);
    fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(name);
    fs::write(&path, text).expect("a file");
    path
}

#[test]
fn the_small_lesson_is_fine_before_it_is_spoilt() {
    assert_eq!(check(SMALL), (Some(0), vec![]));
    // Line ends of other systems, and the mark that some editors put in front.
    assert_eq!(check(SMALL.replace('\n', "\r\n")), (Some(0), vec![]));
    assert_eq!(check(format!("\u{feff}{SMALL}")), (Some(0), vec![]));
}

#[test]
fn what_is_no_lesson_at_all_is_said_at_its_first_place() {
    for (text, said) in [
        (&b""[..], "1:1: found an empty file, expected a line `+++`"),
        (b"# Hello\n", "1:1: found `# Hello`, expected a line `+++`"),
        (b"+++\nid = \"x\"\n", "3:1: the file ends here, expected a line `+++`"),
        ("+++\nx = \"\u{e9}\u{e9}".as_bytes(), "2:8: the file ends here"),
        (b"+++\nW \xff", "2:3: found the byte 0xff, expected text in UTF-8"),
        (&[b'x'; 10 * 1024 * 1024], "1:1: found a file of more than 1 MiB"),
    ] {
        let (code, errors) = check(text);
        assert_eq!(code, Some(2), "{said}");
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(errors[0].starts_with(said), "{errors:?}");
    }
}

#[test]
fn every_mistake_is_located_and_says_what_was_expected() {
    let cases = [
        ("minutes = 5", "minutes = 5\nminuts = 6", "5:1: found the key `minuts`"),
        ("minutes = 5", "minutes = 0", "4:11: found 0 minutes, expected 1 to 60"),
        ("minutes = 5", "minutes = = 5", "4:11: found no valid TOML"),
        ("title = \"Small\"", "", "2:1: the front matter has no `title`"),
        ("title", "id", "3:1: found this key a second time"),
        ("\"efficiency\"", "\"fun\"", "5:9: found the text \"fun\", expected one of"),
        ("\"lease\"", "\"leese\"", "9:11: no system `leese`; the systems are `lease`"),
        ("variants.base", "variants.bass", "13:2: there is no variant `base`"),
        ("pause client-a", "pause client-z", "14:17: no node `client-z`; the nodes are `client-a`"),
        ("for 1s", "for -1s", "14:45: found `-`, expected a duration"),
        ("for 1s\"", "for 1s now\"", "14:48: found `now`, expected the end of the line"),
        ("before write#1", "before wriite#1", "14:11: the main program of `client-a` has no line"),
        ("\"acquire\"", "\"\u{e9} acquire\"", "12:13: found `\u{e9}`, expected one of `acquire`"),
        ("balance - 10", "balnce - 10", "12:56: there is no `balnce` here"),
        ("grants == 1", "grants == 1 +", "15:25: the line ends here, expected a number"),
        (
            "grants == 1",
            "no grnt client-a",
            "15:15: no kind of event `grnt`; the kinds are `start`",
        ),
        ("at=\"grant client-a\"", "at=\"grant client-q\"", "22:28: no node `client-q`"),
        (" at=\"grant client-a\"", "", "22:1: found no anchor, expected `{#id at=\"EVENT\"}`"),
        ("Words.", "A <b>word</b>.", "24:3: found raw HTML `<b>`"),
        ("Words.", "\u{e9} <script>x</script>", "24:3: found raw HTML `<script>`"),
        ("Words.", "[x](https://example.org)", "24:1: found a link to `https://example.org`"),
        ("[teach]", "[teech]", "16:2: found the key `teech`"),
        ("[teach]", "[teech]", "2:1: the front matter has no `teach`"),
        ("minute = 0", "minute = 10", "17:22: found minute 10, expected 0 to 9"),
        (
            "show = \"beat\"",
            "show = \"b\u{e9}at\"",
            "17:48: no beat `b\u{e9}at` to show; the beats are",
        ),
        ("say = \"Look.\", ", "", "17:11: this line of the script has no `say`"),
        (
            "[{ minute = 0",
            "[{ minute = 2, say = \"x\" }, { minute = 0",
            "17:38: this minute comes before",
        ),
        ("\"Why?\"", "7", "19:25: found 7, expected a text in quotes"),
        ("[{ question", "[] # [{ question", "19:11: found no question"),
        ("Words.", "[x](#nowhere)", "24:1: no beat `#nowhere`; the beats are `beat`"),
    ];
    for (from, to, said) in cases {
        assert!(SMALL.contains(from), "{from}");
        let (code, errors) = check(SMALL.replacen(from, to, 1));
        assert_eq!(code, Some(2), "{said}");
        assert!(errors.iter().any(|e| e.starts_with(said)), "{said}\n{errors:#?}");
        assert!(errors.iter().all(|e| !e.contains('\u{1b}')));
    }
}

#[test]
fn several_mistakes_are_all_reported_in_the_order_of_the_file() {
    let text = SMALL
        .replace("minutes = 5", "minutes = 500")
        .replace("\"acquire\",", "\"aquire\", \"fly\",")
        .replace("Words.", "<b>")
        .replace("pause client-a", "pause client-z");
    let (code, errors) = check(text);
    assert_eq!(code, Some(2));
    let places: Vec<&str> = errors.iter().map(|e| &e[..e.find(": ").unwrap_or(0)]).collect();
    assert_eq!(places, ["4:11", "12:13", "12:23", "14:17", "24:1"], "{errors:#?}");
}

/// Input that is made to exhaust a reader: deep, wide or endless.
#[test]
fn hostile_input_is_refused_quickly_and_without_a_panic() {
    let hostile = [
        SMALL.replace("= 5", &format!("= {}", "[".repeat(100_000))),
        SMALL.replace("minutes = 5", &"x = = 5\n".repeat(100_000)),
        SMALL.replace("grants == 1", &format!("1{}", "+1".repeat(300_000))),
        SMALL.replace("\"acquire\",", &"\"fly\",".repeat(100_000)),
        SMALL.replace("cells = {", &format!("cells = {{ {}", "a = 1,".repeat(100_000))),
        format!("{SMALL}\n{}x", "> ".repeat(5_000)),
        format!("{SMALL}\n{}", "<b>".repeat(200_000)),
    ];
    for text in hostile {
        let (code, errors) = check(&text);
        assert_eq!(code, Some(2), "{}", &text[..80]);
        assert!((1..=101).contains(&errors.len()), "{}", errors.len());
    }
    assert_eq!(check(format!("{SMALL}\n{}a", "*".repeat(100_000))).0, Some(0));
}

#[test]
fn an_assertion_that_fails_says_what_the_run_gave_and_exits_with_1() {
    let (code, errors) = check(SMALL.replace("grants == 1", "grants == 2"));
    assert_eq!(code, Some(1));
    assert_eq!(errors, ["15:12: in the run of `base`: grants == 1; expected `grants == 2`"]);
    let (_, errors) = check(SMALL.replace("grants == 1", "accept client-a value 80"));
    assert!(errors[0].contains("`accept client-a#1` value 90"), "{errors:?}");
    let (_, errors) = check(SMALL.replace("grants == 1", "duplicate_work == 0"));
    assert!(errors[0].contains("does not arise"), "{errors:?}");
    let (code, errors) = check(SMALL.replace("at=\"grant client-a\"", "at=\"reject client-a\""));
    assert_eq!(code, Some(1));
    assert!(errors[0].starts_with("22:22: there is no `reject client-a`"), "{errors:?}");
}

#[test]
fn check_reads_folders_and_sums_up_in_its_last_line() {
    file("sums", "01-small.md", SMALL);
    file("sums", "README.md", "not a lesson");
    let bad = SMALL.replace("grants == 1", "grants == 2").replace("\"small\"", "\"bad\"");
    let folder = file("sums/more", "02-bad.md", &bad);
    let folder = folder.parent().and_then(|p| p.parent()).expect("a folder");
    let said = lockscope(&["check", &folder.display().to_string()], b"");
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert_eq!(said.out.lines().last(), Some("2 lessons, 3 assertions passed, 1 failed"));
    assert!(said.err.contains("02-bad.md:15:12: "), "{}", said.err);
    let said = lockscope(&["check", "no-such-folder"], b"");
    assert_eq!(said.code, Some(2));
    assert_eq!(said.err, "no-such-folder: there is no such file\n");
    let said = lockscope(&["check"], b"");
    assert_eq!(said.code, Some(2));
}

#[test]
fn a_file_bears_the_id_of_its_lesson() {
    let path = file("ids", "03-other.md", SMALL).display().to_string();
    let said = lockscope(&["run", &path], b"");
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains(":1:1: found the id `small`"), "{}", said.err);
}

#[test]
fn run_prints_every_format_and_the_learners_edit_changes_the_verdict() {
    for format in ["log", "json", "mermaid", "svg", "markdown"] {
        let said = lockscope(&["run", RACE, "--format", format], b"");
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{format}");
        assert!(said.out.ends_with('\n') && said.out.len() > 20, "{format}");
    }
    let json = |more: &[&str]| -> serde_json::Value {
        let said = lockscope(&[&["run", RACE, "--format=json"], more].concat(), b"");
        serde_json::from_str(&said.out).expect("it is JSON")
    };
    let plain = json(&[]);
    assert_eq!(plain["hash"], json(&["--seed", "2"])["hash"], "nothing here is random");
    let fenced = json(&["--edit", "set resource.check token"]);
    assert_ne!(plain["hash"], fenced["hash"]);
    assert_eq!(fenced["hash"], json(&["--variant", "fixed"])["hash"]);
    assert_ne!(plain["hash"], json(&["--until", "9s"])["hash"]);
    let piped = lockscope(&["run", "-"], SMALL.as_bytes());
    assert_eq!(piped.code, Some(0), "{}", piped.err);
}

#[test]
fn bad_usage_is_answered_in_words_with_exit_2() {
    let cases: &[(&[&str], &str)] = &[
        (&[], "lockscope run FILE"),
        (&["fly"], "There is no command `fly`; the commands are `run`"),
        (&["sweep"], "not built yet"),
        (&["replay"], "takes the FILE of a transcript"),
        (&["link"], "takes one FILE"),
        (&["link", RACE, "--level", "hard"], "the levels are `help` and `challenge`"),
        (&["link", RACE, "--at", "grant client-b#9"], "--at: "),
        (&["link", RACE, "--at", "9999"], "there is no event 9999"),
        (&["link", RACE, "--base", "javascript:alert(1)//"], "expected the address of the page"),
        (&["link", RACE, "--base", "JavaScript:x"], "Found `JavaScript:x` for --base"),
        (&["link", RACE, "--base", "https://a.example/ b"], "expected the address of the page"),
        (
            &["link", RACE, "--edit", "at 3s pose client-a"],
            "--edit \"at 3s pose client-a\", character 7",
        ),
        (&["run"], "takes one FILE"),
        (&["run", RACE, RACE], "takes one FILE"),
        (&["run", "nowhere.md"], "nowhere.md: there is no such file"),
        (&["run", RACE, "--edits", "x"], "There is no option `--edits`"),
        (&["run", RACE, "--edit"], "`--edit` needs a value"),
        (&["run", RACE, "--seed", "-1"], "expected a whole number"),
        (&["run", RACE, "--seed", "1", "--seed", "2"], "stands twice"),
        (&["run", RACE, "--until", "-3s"], "expected a duration"),
        (&["run", RACE, "--until", "0s"], "--until: "),
        (&["run", RACE, "--why", "reject resource#9"], "--why \"reject resource#9\""),
        (&["run", RACE, "--format", "png"], "the formats are `log`"),
        (&["run", RACE, "--variant", "best"], "no variant `best`; the variants are `base`"),
        (
            &["run", RACE, "--edit", "at 3s pause client-c for 1s"],
            "character 13: no node `client-c`",
        ),
        (
            &["run", RACE, "--edit", "set resource.chek x"],
            "no setting `resource.chek`; the settings",
        ),
        (&["run", RACE, "--edit", ""], "the line ends here, expected `at`"),
        (&["pack"], "takes one FILE"),
        (&["schema", "now"], "takes no `now`"),
    ];
    for (arguments, said) in cases {
        let heard = lockscope(arguments, b"");
        assert_eq!(heard.code, Some(2), "{arguments:?}");
        assert!(heard.err.contains(said), "{arguments:?}: {}", heard.err);
        assert_eq!(heard.out, "", "{arguments:?}");
    }
}

/// A command line as a shell reads it, where nothing is quoted but with apostrophes.
fn words(command: &str) -> Vec<String> {
    let quoted = command.split('\'').enumerate();
    let parts = quoted.flat_map(|(i, part)| match i % 2 {
        0 => part.split_whitespace().map(String::from).collect::<Vec<_>>(),
        _ => vec![part.to_string()],
    });
    parts.collect()
}

#[test]
fn a_search_counts_what_each_check_lets_pass_and_prints_what_replays_it() {
    let said = lockscope(&["search", RACE, "--format", "json"], b"");
    assert_eq!(said.code, Some(1), "{}", said.err);
    let found: serde_json::Value = serde_json::from_str(&said.out).expect("it is JSON");
    let check = |i: usize| &found["checks"][i];
    assert_eq!(check(0)["check"], "none");
    assert!(check(0)["harmful"].as_u64() > check(1)["harmful"].as_u64(), "{found:#}");
    assert_eq!(check(2)["harmful"], 0);
    // The command that it prints shows that harm.
    let replay = words(check(0)["first"]["replay"].as_str().expect("a command"));
    let arguments: Vec<&str> = replay[1..].iter().map(String::as_str).collect();
    let run = lockscope(&[&arguments[..], &["--format", "json"]].concat(), b"");
    let run: serde_json::Value = serde_json::from_str(&run.out).expect("it is JSON");
    assert!(run["verdict"]["corruption"].as_u64() > Some(0), "{}", run["verdict"]);

    let text = lockscope(&["search", RACE], b"").out;
    assert!(text.contains(check(0)["first"]["replay"].as_str().expect("a command")), "{text}");
    assert!(text.contains("One pause, right before any of the 10 instructions"), "{text}");
}

#[test]
fn a_search_that_finds_nothing_says_so_by_its_exit_code_and_what_is_not_built_is_refused() {
    let none = lockscope(&["search", RACE, "--edit", "set resource.check version"], b"");
    assert_eq!(none.code, Some(0), "{}", none.out);
    assert!(none.out.contains("version *"), "{}", none.out);
    for (arguments, said) in [
        (&["--faults", "cut"][..], "not built yet"),
        (&["--faults", "meteor"], "no fault `meteor`"),
        (&["--max-faults", "2"], "not built yet"),
        (&["--max-faults", "few"], "expected 1"),
        (&["--goal", "glory"], "the goals are `harm`"),
        (&["--format", "svg"], "the formats are"),
        (&["--variant", "nope"], "no variant `nope`"),
        (&["--edit", "explode"], "--edit \"explode\", character 1"),
        (&["--deeper", "1"], "no option `--deeper`"),
    ] {
        let refused = lockscope(&[&["search", RACE], arguments].concat(), b"");
        assert_eq!(refused.code, Some(2), "{arguments:?}: {}", refused.out);
        assert!(refused.err.contains(said), "{arguments:?}: {}", refused.err);
    }
}

#[test]
fn help_names_what_is_built_and_nothing_else() {
    let help = lockscope(&["--help"], b"");
    assert_eq!((help.code, help.err.as_str()), (Some(0), ""));
    for command in ["run", "search", "check", "replay", "link", "pack", "schema"] {
        assert!(help.out.contains(&format!("lockscope {command}")), "{command}");
        assert_eq!(lockscope(&[command, "--help"], b"").code, Some(0));
        assert_eq!(lockscope(&["help", command], b"").code, Some(0));
    }
    assert!(!help.out.contains("sweep"));
    assert_eq!(lockscope(&["sweep", "--help"], b"").code, Some(2));
}

#[test]
fn pack_and_schema_print_json() {
    for arguments in [&["pack", RACE][..], &["schema"]] {
        let said = lockscope(arguments, b"");
        assert_eq!(said.code, Some(0), "{}", said.err);
        assert!(serde_json::from_str::<serde_json::Value>(&said.out).is_ok());
    }
}

/// `lockscope run FILE | head -1` closes the pipe while the program still writes.
#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_lockscope"))
        .args(["run", RACE, "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[cfg(unix)]
#[test]
fn an_argument_that_is_no_text_is_refused() {
    use std::os::unix::ffi::OsStrExt;
    let output = Command::new(env!("CARGO_BIN_EXE_lockscope"))
        .args(["run".as_ref(), std::ffi::OsStr::from_bytes(b"\xff.md")])
        .output()
        .expect("the program starts");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(String::from_utf8_lossy(&output.stderr).lines().count(), 2);
}

#[test]
fn a_link_leads_to_the_run_that_was_asked_for() {
    let edits = ["--edit", "set resource.check token", "--edit", "at 2s crash client-b"];
    let asked = [
        &["link", RACE, "--at", "grant client-a#1", "--base", "https://example.org/x/"],
        &edits[..],
    ]
    .concat();
    let said = lockscope(&asked, b"");
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    let fragment = said
        .out
        .trim_end()
        .strip_prefix("https://example.org/x/")
        .expect("the base stands in front");
    let Route::Lesson { place, .. } = Route::parse(fragment) else { panic!("{fragment}") };
    let lesson = lockscope::lesson::read(Path::new(RACE)).expect("the race is there");
    let state = State::open(lesson, &place).expect("it runs");
    assert_eq!(state.notes, Vec::<String>::new());
    let ran = lockscope(&[&["run", RACE, "--format", "json"], &edits[..]].concat(), b"").out;
    assert!(ran.contains(&format!("{:016x}", state.show.run.hash())));
    let kind = state.head.event.map(|e| kind::kind(state.show.run.record.event(EventId(e))));
    assert_eq!(kind, Some("grant"));
    assert_eq!(Route::of(&state), fragment, "the page writes the same link");
}

#[test]
fn why_prints_how_an_event_came_about() {
    let said = lockscope(&["run", RACE, "--variant", "fixed", "--why", "reject resource#1"], b"");
    assert_eq!(said.code, Some(0), "{}", said.err);
    let lines: Vec<&str> = said.out.lines().collect();
    assert!(lines.first().is_some_and(|l| l.contains("asks for the lock")), "{}", said.out);
    assert!(said.out.contains("expires") && said.out.contains("rejects"), "{}", said.out);
    assert!(lines.last().is_some_and(|l| l.contains("would have passed")), "{}", said.out);
}
