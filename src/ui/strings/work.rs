//! The words of a learner’s work: branches, what the browser keeps, two runs compared, every pause tried.

// Branches.

pub const BRANCHES: &str = "Branches";
pub const BRANCHES_NOTE: &str = "every run that you made";
pub const ON_SCREEN: &str = "on screen";
pub const NOT_SEEN: &str = "not seen to its end";
pub const NAME_IT: &str = "Name";
pub const RENAME: &str = "Rename";
pub const DELETE: &str = "Delete";
pub const COMPARE: &str = "Compare";
pub const FORGET: &str = "Forget my answers";
pub const FORGOTTEN: &str = "Your predictions and tasks of this lesson are forgotten.";
pub const NO_SUCH_RUN: &str = "this lesson has no such run any more";

pub fn branch_name(
    title: &str,
    more: &[&str],
    missing: &[&str],
    empty: bool,
    seed: Option<u64>,
) -> String {
    let mut name = title.to_string();
    let count = more.len();
    match more {
        [] => {}
        [one] => name.push_str(&format!(", with: {one}")),
        [.., last] => name.push_str(&format!(", with {count} edits, last: {last}")),
    }
    // Where only a number is another, what stands there now has been said.
    let words = |edit: &str| edit.rsplit_once(' ').map(|e| e.0.to_string());
    let instead = |edit: &&&str| more.iter().any(|other| words(other) == words(edit));
    let without: Vec<&str> = missing.iter().filter(|edit| !instead(edit)).copied().collect();
    match without.as_slice() {
        [] if missing.is_empty() => {}
        [] => name.push_str(", changed"),
        _ if empty => name.push_str(", with nothing done to it"),
        [one] => name.push_str(&format!(", without: {one}")),
        [..] => name.push_str(&format!(", without {} of its edits", without.len())),
    }
    if let Some(seed) = seed {
        name.push_str(&format!(", seed {seed}"));
    }
    name
}

pub fn all_branches(count: usize) -> String {
    format!("Show all {count}")
}

pub fn branch_opened(name: &str) -> String {
    format!("On screen: {name}.")
}

/// How many branches the learner has made, after the words that they wait behind.
pub fn made(count: usize) -> String {
    if count == 0 { String::new() } else { format!(" · {count}") }
}

pub fn not_opened(name: &str, why: &str) -> String {
    format!("“{name}” cannot be put on screen: {why}.")
}

pub fn renamed(name: &str) -> String {
    format!("Called “{name}”.")
}

pub fn deleted(name: &str) -> String {
    format!("Deleted: {name}.")
}

pub fn revived(name: &str) -> String {
    format!("Back again: {name}.")
}

pub fn act_on(act: &str, name: &str) -> String {
    format!("{act}: {name}")
}

// What the browser keeps.

pub const KEEPS_NOTHING: &str = "This browser keeps nothing here: your branches and answers last until you \
     close the page. “Save to a file” takes them along.";
pub const KEEPS_NO_MORE: &str = "There is no more room in this browser’s storage: what you do from now on lasts \
     until you close the page. “Save to a file” takes it along.";
pub const SAVE_WORK: &str = "Save to a file";
pub const LOAD_WORK: &str = "Load a file";
pub const NOT_SAVED: &str = "The browser did not allow saving.";
pub const YOUR_WORK: &str = "Your work";
pub const WORK_STAYS: &str = "Branches, undo, predictions and tasks stay in this browser and go nowhere. A file \
     holds those of all lessons; loading one adds to what is here.";
pub const UNREADABLE: &str = "the browser could not read the file as text";

pub fn too_large(most: usize) -> String {
    format!("the file has more than {most} bytes")
}

pub const DISCARD: &str = "Discard it and begin anew";

pub fn keeps_foreign(why: &str) -> String {
    format!(
        "What is stored in this browser under Lockscope’s name cannot be read ({why}). It is left as it \
         is, and what you do now lasts until you close the page."
    )
}

pub fn not_imported(why: &str) -> String {
    format!("Nothing was loaded: {why}.")
}

/// What a file brought: of each lesson its id, whether it is the one on screen, and how many branches.
pub fn imported(came: &[(String, bool, usize)]) -> String {
    let branches = |n: usize| if n == 1 { "one branch".into() } else { format!("{n} branches") };
    let there = |(id, here, n): &(String, bool, usize)| match here {
        true => format!("{} in this lesson, under “{}”", branches(*n), super::RUNS),
        false => format!("{} in the lesson “{id}”", branches(*n)),
    };
    match came {
        [] => "Loaded. Nothing in it was new.".into(),
        came => format!("Loaded: {}.", came.iter().map(there).collect::<Vec<_>>().join("; ")),
    }
}

// Two runs compared.

pub const HERE_AND_THERE: [&str; 2] = ["here", "There"];
pub const WITH_AND_WITHOUT: [&str; 2] = ["with it", "Without it"];
pub const COMPARED: &str = "Two runs compared";
pub const ON: &str = "On";
pub const OFF: &str = "Off";
pub const FIGURES_DIFFER: &str = "Figures that differ";
pub const NO_FIGURE_DIFFERS: &str = "No figure of the verdict differs.";
pub const FIGURE: &str = "Figure";
pub const ABOVE_EQUAL: &str =
    "Both pictures have one scale and begin shortly before the first difference, which is marked.";
pub const PICTURE: &str = "Picture";
pub const OPEN_OTHER: &str = "Open this run";

pub fn compare_on_and_off(title: &str) -> String {
    format!("{COMPARE} on and off: {title}")
}

pub fn cannot_compare(why: &str) -> String {
    format!("That run cannot be computed any more: {why}.")
}

pub const PROVE_TITLE: &str = "Proof in the small";
pub const PROVE: &str = "Try every pause";
pub const PROVE_ABOUT: &str = "Once before every instruction, with every length that changes an order. Which of them do harm?";
pub const PROVE_STOP: &str = "Stop";
pub const PROVE_AGAIN: &str = "Try again";
pub const PROVE_ON: &str = "Go on";
/// A harmful schedule was opened.
pub const HARM_OPENED: &str =
    "A schedule that does harm is on screen, at its harm. Undo brings back what was there.";
pub const PROVE_BOUNDS: &str = "What was tried";
pub const PROVE_CAPTION: &str = "Schedules that do harm, by what the resource checks";
pub const CHECKED: &str = "Checked";
pub const DO_HARM: &str = "Do harm; open the first of a kind";
pub const KINDS_OF_HARM: [&str; 5] =
    ["corruption", "lost update", "torn section", "invariant broken", "duplicate work"];
pub const TOKEN_IS_NOT_ALL: &str = "A token is checked, and some still do harm. The check compares the writes of two \
     holders: it sees no reads, and it does not keep the writes of one section together.";

/// What a check is called in the table.
pub fn check_word(check: &str) -> String {
    if check == "none" { "nothing".into() } else { check.into() }
}

/// `33 of 105`.
pub fn of(count: usize, all: usize) -> String {
    format!("{count} of {all}")
}

/// The button that opens the first run with that kind of harm.
pub fn open_harm(kind: &str, count: usize, edits: &[String]) -> String {
    format!("{kind} {count}: open the first, {}", edits.join(", "))
}

/// Which lengths there are is being found out.
pub fn counting(done: usize, all: usize) -> String {
    format!("Looking for the lengths that change an order: {done} of {all} instructions.")
}

/// The schedules are being tried.
pub fn trying(done: usize, all: usize) -> String {
    format!("Trying: {done} of {all} schedules.")
}

/// The search was stopped before it knew how many schedules there are.
pub fn stopped_counting(done: usize, all: usize) -> String {
    format!("Stopped after {done} of {all} instructions. Nothing has been tried yet.")
}

/// The search was stopped among the schedules.
pub fn stopped_trying(done: usize, all: usize) -> String {
    format!("Stopped after {done} of {all} schedules. The figures are about those.")
}

/// All was tried; or nothing, where the runs are too long.
pub fn all_tried(schedules: usize, runs: u64) -> String {
    if schedules == 0 {
        return "Nothing was tried: runs of this scenario have more steps than this search takes. Pauses \
                of your own can still be tried, one by one."
            .into();
    }
    format!("All {schedules} schedules are tried, in {runs} runs.")
}
