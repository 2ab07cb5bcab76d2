//! The words of the sheets themselves. Words about a run come from `narrate`, those of a lesson from
//! its file.
#![cfg_attr(target_arch = "wasm32", allow(dead_code, reason = "the page prints hand-outs only"))]

use crate::lesson::{Class, Outcome};
#[cfg(not(target_arch = "wasm32"))]
use crate::replay::Replayed;

pub const DONE_TO: &str = "What is done to this run: ";
pub const NOTHING_DONE: &str = "nothing, everybody is punctual.";
pub const LOG: &str = "What happened";
pub const TIME: &str = "Time";
/// Between two moments.
pub const UNTIL: &str = "to";
pub const EVIDENCE: &str = "Where this comes from";
pub const MACHINE: &str = "Do it on your machine";
pub const NEEDS: &str = "You need: ";
pub const DRAW: &str = "Draw it yourself";
pub const DRAW_NOTE: &str = "Time runs down. Draw each message as a slanted arrow with the number \
    that it carries. To the left of a client’s line draw two bars: when it believes that it holds the \
    lock, and when the lock service says so.";
pub const BLANK: &str = "Empty lifelines, to draw on";
pub const QUESTIONS: &str = "Questions";
pub const QUESTIONS_NOTE: &str =
    "Decide before you look at the run: tick one answer, say how sure you are, and why.";
pub const SURE: &str = "How sure?";
pub const WHY: &str = "Why?";
pub const RECALL: &str = "Answer first, then look";
pub const MEMORY: &str = "From memory";
pub const ANSWERS: &str = "Answers";
pub const SAY: &str = "Say it";
pub const NONE_OF_THESE: &str = "none of these";

pub const CARDS: &str = "Cards to sort";
pub const CARDS_NOTE: &str = "Two do it at once. Is that only wasteful, or is something wrong \
    afterwards? Decide for each card before you look.";
pub const CARDS_SORTED: &str = "The cards, sorted by their runs";
pub const CARDS_HEAD: [&str; 3] = ["Card", "Done twice", "Why"];

pub const START_HERE: &str = "Start here: break it";
/// Ways through some of the lessons, by their ids.
pub const PATHS: [(&str, &[&str]); 2] = [
    ("With a class", &["break-it", "lease-expiration", "fencing-tokens"]),
    (
        "An interview tonight",
        &[
            "break-it",
            "efficiency-or-correctness",
            "fencing-tokens",
            "what-a-fence-does-not-do",
            "redlock-under-fire",
            "ask-the-resource",
        ],
    ),
];
pub const READ: &str = "Read and print";
pub const OPEN: &str = "Open the simulation";
pub const TEACHER: &str = "Teacher’s sheet";
pub const PRINT_NOTE: &str = "printed, this page is a hand-out with room to draw, questions, and answers on a page of their own.";
pub const DECIDE_FIRST: &str = "Decide first";
pub const SHOW_ANSWER: &str = "What the run says";

pub const ON_THE_WALL: &str = "Show the lesson to a room";
pub const FOR_THE_CLASS: &str = "Hand-out to print";
pub const SCRIPT: &str = "What to say, in three minutes";
pub const MINUTE: &str = "Minute";
pub const SAY_THIS: &str = "Say, and show";
pub const SHOW: &str = "On the wall: ";
pub const BOARD: &str = "On the board";
pub const VOTES: &str = "Let them vote";
pub const VOTES_NOTE: &str = "Hands first, then half a minute with a neighbour, then hands again. \
    Say nothing about who is right: the run does. Behind each other answer stands what makes it tempting.";
pub const ASK_AT: &str = "Stop here to ask: ";
pub const CAME_TRUE: &str = "(this is what the run does)";
pub const DISCUSS: &str = "Talk about it";
pub const TAKE_ALONG: &str = "To take along";
pub const MOMENTS: &str = "All moments of the story";

pub const SYMPTOM: &str = "What an operator would see: ";
pub const THREAD: &str = "Told after the public thread ";
pub const OWN_WORDS: &str = ". The run here is ours, and so is every word.";

pub const EVIDENCE_TITLE: &str = "What real servers answered";
pub const EVIDENCE_HOOK: &str = "Every rule of the simulation says what it rests on. Nothing here was made up without saying so.";
pub const RECORDINGS: &str = "Which servers were asked";
pub const DEVIATIONS: &str = "Known to be otherwise";
pub const RULES: &str = "The rules, and what each rests on";
pub const ALL_EVIDENCE: &str = "All recordings and rules";
pub const STEP_HEAD: [&str; 5] = ["Step", "Who", "Asked", "Answered", "Simulated"];
pub const SAME: &str = "the same";

pub const fn tray(tray: Class) -> &'static str {
    match tray {
        Class::Efficiency => "only wasteful",
        Class::Correctness => "wrong",
    }
}

pub fn kicker(minutes: u32) -> String {
    format!("Lockscope · {minutes} min")
}

pub fn teacher_kicker(minutes: u32) -> String {
    format!("{TEACHER} · the whole lesson takes {minutes} min")
}

pub fn teacher_title(title: &str) -> String {
    format!("{TEACHER}: {title}")
}

pub fn see(moment: &str) -> String {
    format!("See {moment} in the simulation")
}

/// Before what else is said of a lesson.
pub fn lesson_number(number: u32) -> String {
    format!("Lesson {number} · ")
}

pub fn path_minutes(minutes: u32) -> String {
    format!(", {minutes} min: ")
}

/// What a run is called above its pictures.
pub fn the_run(title: &str) -> String {
    format!("The run “{title}”")
}

pub fn asked(moment: &str, title: &str) -> String {
    format!("Asked at {moment} of the run “{title}”")
}

pub fn the_run_says(answer: &str) -> String {
    format!("The run: {answer}.")
}

pub fn behind(thought: &str) -> String {
    format!("Behind it: “{thought}”")
}

pub fn more_in_log(count: usize) -> String {
    format!("{count} more decisions of this run stand in the list of what happened.")
}

pub const DEBATE: &str = "The debate, claim by claim";
pub const DEBATE_NOTE: &str = "Claims in our words. Under each stand runs that show what is to it, with their \
    figures: promises that the servers broke and promises that their holder outlived, grants while another’s promise \
    stood (granted twice), and what is wrong afterwards.";
pub const NO_ANSWER: &str = "No answer of his own.";
pub const NO_CLAIM: &str = "Answers no single claim.";
pub const GAVE_UP: &str = "What he gave up:";
pub const RULINGS: &str = "What comes of it";
pub const RULINGS_HEAD: [&str; 4] =
    ["What may fail", "Two at once would be wrong", "Two at once would be wasteful", "So"];
pub const PINNED: &str = "Designs under attack";
pub const DESIGN: &str = "What is switched on";
pub const NO_DEFENCE: &str = "Nothing";
pub const ALL_DEFENCES: &str = "All of these";

pub fn answered_above(id: &str, title: &str) -> String {
    format!("{id} answers this too: {title}.")
}

pub fn all_but(defence: &str) -> String {
    format!("All but “{defence}”")
}

pub fn label_named(label: &str) -> String {
    format!("The label “{label}”")
}

pub fn pinned_note(attacks: usize) -> String {
    format!(
        "Each design is run against {attacks} attacks. What it withstood here is what was tried, and no proof \
         against all else."
    )
}

/// Whether a label holds on a design.
pub const fn label(stays: bool) -> &'static str {
    if stays { "stays" } else { "falls off" }
}

/// What came of a run, in a few words.
pub fn came(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome { wrong: true, .. } => "Something is wrong.",
        Outcome { twice: true, .. } => "Done twice, and nothing is wrong.",
        Outcome { refused: 1.., .. } => "The late write is refused; nothing is wrong.",
        Outcome { rightful: 1.., .. } => "A rightful holder is refused; nothing is wrong.",
        _ => "Nothing is wrong.",
    }
}

/// What came of an attack on a design.
pub fn withstood(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome { wrong: true, .. } => "wrong",
        Outcome { twice: true, .. } => "done twice",
        Outcome { refused: 1.., .. } => "late write refused",
        _ => "no harm",
    }
}

/// The figures that a debate about locks turns on, and what they came to.
pub fn figures(outcome: &Outcome) -> String {
    let Outcome { broken, outlived, double, .. } = outcome;
    let came = came(outcome);
    format!("Promises broken {broken} · outlived {outlived} · granted twice {double}. {came}")
}

/// The folder of transcripts that nobody recorded.
pub const BY_HAND: &str = "by-hand";
/// How the folders begin that add to others.
pub const MORE: &str = "more-";

pub fn evidence_kicker(version: &str) -> String {
    format!("Asked: {version}")
}

pub fn started(server: &str) -> String {
    format!("How it was set up: {server}.")
}

#[cfg(not(target_arch = "wasm32"))]
pub fn played(played: &Replayed) -> String {
    let Replayed { passed, failed, not_modelled, .. } = played;
    match failed + not_modelled {
        0 => format!("The simulated servers do the same in all {passed} steps and relations."),
        _ => format!(
            "The simulated servers do the same in {passed} steps and relations; {failed} differ, \
             {not_modelled} are not modelled."
        ),
    }
}

#[cfg(not(target_arch = "wasm32"))]
pub fn all_played(transcripts: usize, all: &Replayed) -> String {
    format!(
        "{transcripts} transcripts were played with the simulated servers when this page was made. {}",
        played(all)
    )
}

/// What a transcript shows, and what became of it.
#[cfg(not(target_arch = "wasm32"))]
pub fn told(establishes: &str, played: &Replayed) -> String {
    let Replayed { passed, failed, not_modelled, .. } = played;
    let figures = match failed + not_modelled {
        0 => format!("{passed} the same"),
        _ => format!("{passed} the same, {failed} differ, {not_modelled} not modelled"),
    };
    format!(": {establishes} ({figures})")
}

pub fn folder(name: &str, version: &str) -> String {
    match name {
        BY_HAND => {
            "Written by hand from the documentation, because it could not be recorded".into()
        }
        name if name.starts_with(MORE) => format!("{version}: what the others leave open"),
        "redlock" => format!("Five masters of {version}"),
        name if name.starts_with("zookeeper") => {
            format!("{version}: names, errors, transactions, watches, sessions, ensembles")
        }
        _ => format!("{version}: commands, expiry, scripts, transactions, replication, restarts"),
    }
}

pub fn later(client: &str, what: &str) -> String {
    format!("then, to {client}: {what}")
}
