//! The words of the page itself. Words about a run come from `narrate`, words of a lesson from its file.
#![allow(missing_docs, reason = "the words say what they are")]

mod debate;
mod work;

pub use debate::*;
pub use work::*;

use super::learn::{Seen, Standing};
use crate::lesson::{Class, Level};
use crate::narrate;
use crate::run::Span;
use crate::sim::{Halt, Micros, Ratio};
use crate::systems::Basis;

/// The product.
pub const NAME: &str = "Lockscope";
pub const SKIP: &str = "Skip to the lesson";
pub const LESSONS: &str = "Lessons";
pub const IT_HAPPENED: &str = "It happened";
pub const LOADING: &str = "Loading…";
pub const TRY_AGAIN: &str = "Try again";
pub const ALL_LESSONS: &str = "All lessons";
pub const NO_VARIANT: &str = "the lesson has no variant to run";
pub const THEME: &str = "Colours";
pub const HELP: &str = "Keys and help";
pub const HELP_WORD: &str = "Help";
pub const CLOSE: &str = "Close";
pub const NO_DIAGRAM_NAME: &str = "Space-time diagram";

pub const PREVIOUS: &str = "Previous";
pub const NEXT: &str = "Next";
pub const BEGIN: &str = "Begin";
pub const TO_END: &str = "To the end";
pub const YOUR_OWN_RUN: &str = "Your own run";
pub const RECALL: &str = "Answer first, then look";
pub const SAY: &str = "Say it";
pub const TOO_LONG_TO_SEARCH: &str =
    "This run is too long to search for the millisecond: make it shorter first.";
pub const TAKE_ALONG: &str = "To take along";
pub const WATCH: &str =
    "Press play, or step with the buttons below the picture. Nothing moves by itself.";
pub const SWITCH_RUN: &str = "Switch to that run";

/// The levels of guidance.
pub const LEVELS: &str = "How much help";
pub const BACK_TO_STORY: &str = "Back to the story.";
pub const HINT: &str = "A hint";
pub const SHOW_SOLUTION: &str = "Show a solution";
pub const SOLUTION_SHOWN: &str = "A solution is on screen. Play it. Your own run is one undo away.";
pub const GOAL_OPEN: &str = "Not reached yet. The run on screen decides.";
pub const GOAL_IN_THIS_RUN: &str = "Reached: this run does it.";
pub const GOAL_IN_ANOTHER_RUN: &str = "Reached before; not in this run.";
pub const GOAL_REACHED: &str = "Goal reached: this run does it.";
pub const SEND_A_TOKEN: &str = "Send a token by hand";
pub const SEND: &str = "Send";
pub const FINISHED: &str = "You have done this lesson";
pub const STILL_YOURS: &str = "Still to do by yourself";

pub const RULES: &str = "How it behaves, and how we know";
pub const ALL_EVIDENCE: &str = "All recordings of real servers, and what each rule rests on";
pub const GROUNDS: &str = "What this rests on";
pub const EVIDENCE_OPENS: &str = ": see the evidence, in a new window";

pub const MACHINE: &str = "Do it on your machine";
pub const COPY_LINES: &str = "Copy the lines";
pub const LINES_COPIED: &str = "Lines copied.";

pub const PREDICT: &str = "Before you go on";
pub const SURE: &str = "How sure are you?";
pub const COMMIT: &str = "Commit";
pub const WHY: &str = "Why? One line, for yourself.";
pub const LOOK: &str = "What happened at the resource?";
pub const SKIP_LOOK: &str = "Tell me";
pub const DECIDES: &str = "The step that decides it:";
pub const COMMITTED: &str = "Noted. The run decides.";
pub const RUN_DECIDES: &str = "Go on: the run decides.";
pub const NONE_OF_THESE: &str = "In this run, none of the answers.";

/// Cards and trays.
pub const ASK_TRAY: &str = "Two do it at once. What is it?";
pub const NEXT_CARD: &str = "Next card";
pub const CARD_BEFORE: &str = "Card before";
pub const STORY_AGAIN: &str = "Back to the story";
pub const RUN_DIFFERS: &str = "its run says otherwise";

pub const DEFENCES: &str = "Defences";
pub const DEFENCES_NOTE: &str = "Same schedule, new run.";
pub const EDITS: &str = "What is done to this run";
pub const NO_EDITS: &str = "Nothing. Everybody is punctual.";
pub const FROM_LESSON: &str = "from the lesson";
pub const NO_OCCASION: &str = "found no occasion";
pub const ADD_EDIT: &str = "Add an edit";
pub const ADD: &str = "Add";
pub const EDIT_EXAMPLE: &str = "For example: at 3s pause client-a for 12s";
pub const EMPTY_EDIT: &str =
    "character 1: found nothing, expected an edit such as `at 3s pause client-a for 12s`";
pub const RUN: &str = "Run";
pub const RUNS: &str = "Other runs, and your branches";
pub const YOUR_OWN: &str = "Your own";
pub const UNDO: &str = "Undo";
pub const REDO: &str = "Redo";
pub const UNDONE: &str = "Undone. The run before is back.";
pub const REDONE: &str = "Done again.";
pub const ADDED: &str = "Edit added. Undo brings the run before back.";
pub const EDITS_FULL: &str = "A run has at most 200 edits: take one away first.";
pub const AT_START: &str = "At the start. Nothing has happened yet.";

pub const BREAK: &str = "Break it";
pub const LENGTH: &str = "Seconds, how long or far";
pub const MORE_FAULTS: &str = "More faults";
pub const FEWER_FAULTS: &str = "Fewer faults";
pub const TWO_SIDES: &str = "two sides…";
pub const NOBODY_LEFT: &str = "Nobody is left on the other side.";
pub const NO_MESSAGE: &str = "No message goes that way any more.";
pub const BAD_LENGTH: &str =
    "A length is a number of seconds from 0.001 to 600, such as 12 or 0.5.";
pub const WHICH: &str = "Which one";
pub const PAUSE_NOW: &str = "Pause now";
pub const ITS_NEXT: &str = "Its next";
pub const PAUSE_BEFORE: &str = "Pause just before that";
pub const EVERYBODY: &str = "everybody";
pub const CUT_ONE_WAY: &str = "Cut this direction only";
pub const LOSE: &str = "Lose the next message";
pub const DELAY: &str = "Delay the next message";
pub const CRASH: &str = "Kill";
pub const POWER_OFF: &str = "Cut its power";
pub const SHUT_DOWN: &str = "Shut down";
pub const STOP_IT: &str = "Stop it";
pub const LET_IT_DIE: &str = "Let it die";
pub const ITS_CLOCKS: &str = "Its clocks";
pub const SUSPEND: &str = "Let its host sleep";
pub const FREEZE: &str = "Freeze its machine";
pub const ONE_TASK: &str = "Only its task";
pub const PAUSE_TASK: &str = "Pause that task";
pub const CLOCK_FORWARD: &str = "Set forward";
pub const CLOCK_BACK: &str = "Set back";
pub const SPEED_OF_CLOCKS: &str = "Their speed";
pub const SET_RATE: &str = "Let them run so";
pub const DUPLICATE: &str = "Let a copy of the next message arrive too";
pub const RESTART: &str = "Restart";
pub const CUT: &str = "Cut";
pub const HEAL: &str = "Heal";
pub const WAY_TO: &str = "The way to";

pub const KNOWS: &str = "What each one knows";
pub const HAPPENED: &str = "What happened";
pub const ALL: &str = "All";
pub const LATER: &str = "Show later";
pub const DECISIONS: &str = "Decisions";
pub const SHOW: &str = "Show";
pub const EARLIER: &str = "Show earlier";
pub const NOTHING_YET: &str = "Nothing yet.";
pub const NO_PROGRAM: &str = "It runs no program. It answers.";
pub const DOWN: &str = "It is down.";
pub const PROGRAM_OVER: &str = "Its program is over.";
pub const STORY: &str = "Story";
pub const PROGRAM: &str = "Program";
pub const WHOSE_PROGRAM: &str = "Whose program";

pub const TO_START: &str = "To the start";
pub const BACK: &str = "Step back";
pub const PLAY_FROM_START: &str = "Play from the start";
pub const PLAY: &str = "Play";
pub const PAUSE: &str = "Pause playing";
pub const FORWARD: &str = "Step forward";
pub const STEP_SIZE: &str = "Step size";
pub const SPEED: &str = "Speed";
pub const MORE_TOOLS: &str = "Step size and speed";
pub const STOP_AT_BEATS: &str = "Stop at beats";
pub const STOPPED_TO_TELL: &str = "Stopped for the story.";
pub const STOPPED_TO_LOOK: &str = "Stopped. What happened at the resource?";
pub const STOPPED_TO_ASK: &str = "Stopped for your prediction.";
pub const POSITION: &str = "Position in the run";

pub const TAKE: &str = "Export";
pub const COPY_LINK: &str = "Copy link";
pub const COPY_MERMAID: &str = "Copy as Mermaid";
pub const SAVE_SVG: &str = "Download picture (SVG)";
pub const SAVE_JSON: &str = "Download run (JSON)";
pub const PRINT: &str = "Print hand-out";
pub const TEACHER: &str = "Teacher’s sheet";
pub const SAVE_MARKDOWN: &str = "Download report (Markdown)";
pub const COPIED: &str = "Copied.";
pub const NOT_COPIED: &str =
    "The browser did not allow copying. Select the text and copy it with the keyboard:";

pub const PRESENT: &str = "Present";
pub const MORE: &str = "One more of the";
pub const FEWER: &str = "One fewer of the";
pub const KNOWS_TABLE: &str = "What each one knows, as a table";
pub const EVENTS: &str = "Event by event";
pub const LEAVE: &str = "Leave the projector";
pub const VOTE: &str = "Vote by show of hands. Count, then discuss with your neighbour.";
pub const VOTE_AGAIN: &str = "Now vote again.";
pub const DISCUSSED: &str = "Vote again";
pub const RUN_DECIDES_NOW: &str = "Let the run decide";
pub const SKIP_VOTE: &str = "Skip";
pub const DELIVERED: &str = "→ delivered";
pub const SELECTED: &str = "selected";
pub const SETTINGS: &str = "Settings";
pub const MOTION: &str = "Motion";
pub const TELLING: &str = "Tell a screen reader";
pub const THEMES: &[(&str, &str)] =
    &[("auto", "As the system"), ("light", "Light"), ("dark", "Dark")];
pub const MOTIONS: &[(&str, &str)] = &[("auto", "As the system"), ("reduced", "Reduced")];
pub const TELLINGS: &[(&str, &str)] =
    &[("off", "Nothing"), ("decisions", "Decisions"), ("events", "Every event")];
pub const FORGETS: &str = "This browser keeps nothing: settings last until you close the page.";
pub const LETTERS: &str = "Single-letter keys";
pub const LETTERS_WORK: &str = "These keys work";

pub const GO: &str = "Go to a step";
pub const GO_BUTTON: &str = "Go";
pub const LINK_COPIED: &str = "Link copied.";
pub const LINK_NOT_COPIED: &str = "The browser did not allow copying. “Export” shows the link.";

/// What is left out of a long list of what a server knows.
pub fn more_lines(more: usize) -> String {
    format!("and {more} more; select it to see all")
}

/// The same of a long queue.
pub fn more_queued(more: usize) -> String {
    format!("and {more} more in the queue; select it to see all")
}

/// The keys, with what they do.
pub const KEYS: &[(&str, &str)] = &[
    ("Space", "play or pause"),
    ("→ and ←", "next and previous event"),
    ("Shift with → or ←", "next and previous decision"),
    ("Ctrl (⌥ on a Mac) with → or ←", "next and previous part of the story"),
    ("Home and End", "start and end of the run"),
    ("On an edge of a pause: ↓ and ↑", "0.1 s later or earlier; with Shift 1 s, with Alt 1 ms"),
    ("Ctrl or ⌘ with Z, and with Shift", "undo and redo what you did to the run"),
    ("Esc", "closes what is open, then selects nothing, then lifts the fog"),
];
/// Keys that are a single letter, digit or sign.
pub const LETTER_KEYS: &[(&str, &str)] = &[
    ("K", "play or pause"),
    ("G", "go to a step by its number"),
    (", and .", "slower and faster"),
    ("[ and ]", "select the previous and the next lane"),
    ("I", "break something at this moment"),
    ("E", "change the length of the first pause"),
    ("P, C, X, T", "pause, kill or cut the selected lane, or set its clock"),
    ("F", "switch the first defence on or off"),
    ("1, 2, 3, 4", "to the log, the diagram, the program, what each one knows"),
    ("L", "copy the link to this very step"),
    ("W", "why did the selected event happen; again, and the answer goes"),
    ("V", "the topology in place of the diagram, and back"),
    ("S", "see as the selected lane, and lift the fog"),
    ("?", "this help"),
];
pub const PRESENT_KEYS_TITLE: &str = "On a projector";
pub const PRESENT_KEYS: &[(&str, &str)] = &[
    ("Page down and Page up", "next and previous part of the story"),
    (". or B", "black screen; any key brings it back"),
    ("Esc", "leaves"),
];
pub const KEYS_TITLE: &str = "Keys";
pub const KEYS_NOTE: &str = "Keys work wherever the focus is. In a field they type, and on a button Space and Enter press it.";
pub const HOW_TO_READ: &str = "How to read the picture";
/// Its signs, each with what it says.
pub const LEGEND: &[(&str, &str)] = &[
    (
        "Time runs down",
        "One lane a process. Where nothing happens, the lane is folded and the seconds are written.",
    ),
    ("Hatched bar: belief", "The client will act as holder, without asking again."),
    ("Solid bar: truth", "The lock service says that it is the holder."),
    (
        "Ladder",
        "The process is stopped. Two strokes: paused, its clocks run on. A moon: its host sleeps. A star of ice: frozen with all its clocks.",
    ),
    ("Number in a plate", "The token that a grant or a message carries."),
    ("Band with dotted edges", "Two clients believe at the same time."),
    (
        "Slim bar on a narrow lane",
        "Whose the lock is at that one of several servers. Its letter and its pattern say whose.",
    ),
    (
        "Bracket, then an empty bar",
        "How long a try took, and for how long its client may act, by its own count.",
    ),
    ("Empty bar under a solid one", "What the holder was promised and is true no longer."),
    (
        "Small boxes",
        "What several servers answered: a tick for yes, a stroke for no, nothing where none came.",
    ),
    ("Square, octagon, starburst", "A write was accepted; it was rejected; harm was done."),
];

pub fn step_up_to(all: usize) -> String {
    format!("Step, 0 to {all}")
}

pub fn hands(own: u32, all: u32) -> String {
    format!("{own} of {all} hands")
}

pub fn then(hands: &str) -> String {
    format!(", after discussing {hands}")
}

pub fn hands_for(answer: &str, round: usize) -> String {
    format!("hands in vote {} for: {answer}", round + 1)
}

pub fn page_title(lesson: &str, step: usize) -> String {
    format!("{lesson}, step {step} · {NAME}")
}

pub fn go_to(step: usize) -> String {
    format!("Go to step {step}")
}

pub fn selected(label: &str) -> String {
    format!("{label} is selected.")
}

pub fn at_speed(quarters: u32) -> String {
    format!("Speed {}.", speed(quarters))
}

pub fn level(level: Option<Level>) -> &'static str {
    match level {
        None => "Show me",
        Some(Level::Help) => "Help me",
        Some(Level::Challenge) => "Challenge",
    }
}

pub fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::Given => "Done for you:",
        Standing::Done => "Done:",
        Standing::Open => "To do:",
    }
}

pub fn done_or_open(done: bool) -> &'static str {
    if done { "Done:" } else { "Open:" }
}

pub fn predictions(said: usize, all: usize) -> String {
    format!("{said} of {all} predictions made")
}

pub fn sent(token: u64) -> String {
    format!("Sent token {token}. What the resource does with it stands in the picture.")
}

/// What each kind of evidence is.
pub fn basis(basis: Basis) -> &'static str {
    match basis {
        Basis::Recorded => "a real server was asked, and this is what it did.",
        Basis::Source => "the source code was read.",
        Basis::Document => "somebody says so in writing.",
        Basis::Inference => "it follows from what others say; nobody says it in these words.",
        Basis::Disputed => "people who know disagree.",
    }
}

pub fn where_from(kind: &str) -> String {
    format!("{kind}: where this comes from")
}

pub fn what_was_seen(seen: Seen) -> &'static str {
    match seen {
        Seen::Accepted => "It accepted the late write",
        Seen::Rejected => "It rejected the late write",
        Seen::Nothing => "No late write came",
    }
}

/// What was seen, beside what was.
pub fn looked(seen: Seen, was: Seen) -> String {
    let said = match seen {
        Seen::Accepted => "accepted",
        Seen::Rejected => "rejected",
        Seen::Nothing => "no late write",
    };
    let so = match was {
        Seen::Accepted => "It was accepted.",
        Seen::Rejected => "It was rejected.",
        Seen::Nothing => "No late write came.",
    };
    if seen == was {
        return format!("You said: {said}. So it was.");
    }
    format!("You said: {said}. {so}")
}

pub fn your_why(why: &str) -> String {
    format!("Your why: “{why}”")
}

pub const A_CUT: &str = "the cut";
pub const A_TOKEN: &str = "the token sent by hand";
pub const A_HEALING: &str = "the healing";

pub fn a_pause_of(who: &str) -> String {
    format!("the pause of {who}")
}

pub fn a_stop_of(how: Halt, who: &str) -> String {
    match how {
        Halt::Pause => a_pause_of(who),
        Halt::Suspend => format!("the sleep of {who}"),
        Halt::Freeze => format!("the freeze of {who}"),
    }
}

pub fn a_clock_of(who: &str) -> String {
    format!("the change of {who}’s clock")
}

pub fn a_copy_of(from: &str, to: &str, number: u32) -> String {
    format!("the copy of message {number} from {from} to {to}")
}

pub fn a_crash_of(who: &str) -> String {
    format!("the crash of {who}")
}

pub fn a_restart_of(who: &str) -> String {
    format!("the restart of {who}")
}

pub fn a_delay_of(from: &str, to: &str, number: u32) -> String {
    format!("the delay of message {number} from {from} to {to}")
}

pub fn a_change_of(setting: &str) -> String {
    format!("the change of {setting}")
}

/// A time of an edit in one word.
pub fn number_word(span: Span) -> &'static str {
    match span {
        Span::Moment => "Start",
        Span::Length => "Length",
        Span::Value => "Value",
    }
}

/// What a number is called: `Length of the pause of Client A`.
pub fn number(span: Span, thing: &str) -> String {
    format!("{} of {thing}", number_word(span))
}

pub const FIND: &str = "Find the millisecond";

/// The name of a number's field.
pub fn in_seconds(label: &str) -> String {
    format!("{label}, seconds")
}

pub fn less(label: &str) -> String {
    format!("{label}: 0.1 s less")
}

pub fn more(label: &str) -> String {
    format!("{label}: 0.1 s more")
}

pub fn bad_number(span: Span) -> &'static str {
    match span {
        Span::Moment => "A moment is a number of seconds from 0 to 600, such as 3 or 0.5.",
        _ => BAD_LENGTH,
    }
}

/// What stands beside the end of a pause while it is dragged.
pub fn paused_for(length: Micros) -> String {
    format!("paused {}", narrate::span(length))
}

/// What stands beside its start.
pub fn starts_at(at: Micros) -> String {
    format!("from {}", narrate::moment(at))
}

/// The name of an edge.
pub fn grip(label: &str, value: Micros) -> String {
    format!("{label}: {}. Drag, or use the arrow keys.", narrate::span(value))
}

pub const DRAG: &str = "drag to change";

pub const EDGE: &str = "Where one millisecond decides";
pub const NO_LENGTH: &str = "This edit has no length, so there is nothing to vary.";
pub const CANNOT_RUN: &str = "With another length the run cannot be computed.";

/// Milliseconds with a gap at the thousands: `11 284 ms`.
pub fn milliseconds(time: Micros) -> String {
    let (thousands, rest) = (time.0 / 1_000_000, time.0 / 1_000 % 1_000);
    match thousands {
        0 => format!("{rest} ms"),
        n => format!("{n}\u{202f}{rest:03} ms"),
    }
}

pub fn varied(label: &str, runs: u32) -> String {
    let label = label.replacen("Length", "length", 1);
    match runs {
        0 => format!("Only the {label} was varied."),
        _ => format!("Only the {label} was varied. It took {runs} runs."),
    }
}

/// From where on a write is late before that decides anything.
pub fn stale_from(from: Micros, word: &str) -> String {
    format!(
        "At {} already, the write comes after the newer grant: it is stale. The verdict at that length is “{}”",
        milliseconds(from),
        word
    )
}

pub const ALWAYS_HARM: &str =
    "There is harm even if it lasts no time at all, so its length decides nothing.";

pub fn never_harm(longest: Micros) -> String {
    format!("None of the lengths that were tried, up to {}, does harm.", narrate::span(longest))
}

pub const YET_REJECTED: &str =
    "What turns at this millisecond is whether the resource rejects the write.";
pub const YET_STALE: &str =
    "What turns at this millisecond is whether the write comes after the newer grant.";

pub const OPEN_RUN: &str = "Open";
pub const NOT_ALLOWED: &str = "The browser did not allow copying.";

pub fn open_run(length: &str) -> String {
    format!("Open the run with {length}")
}

pub fn copy_link_of(length: &str) -> String {
    format!("Copy link of the run with {length}")
}

pub fn at_character(character: usize, message: &str) -> String {
    format!("character {character}: {message}")
}

pub fn kicker(number: Option<u32>, title: Option<&String>, minutes: u32) -> String {
    let first = number.map_or(IT_HAPPENED.to_string(), |n| format!("Lesson {n}"));
    let title = title.map_or(String::new(), |t| format!(" · {t}"));
    format!("{first}{title} · {minutes} min")
}

pub fn not_loaded(what: &str, why: &str) -> String {
    format!("{what} could not be loaded: {why}.")
}

pub fn not_readable(what: &str, why: &str) -> String {
    format!("{what} was loaded, but it cannot be read: {why}.")
}

pub fn not_runnable(title: &str, why: &str) -> String {
    format!("“{title}” cannot run: {why}.")
}

pub fn switched(title: &str, on: bool) -> String {
    format!("{title}: {}. Same schedule, new run.", if on { "on" } else { "off" })
}

pub fn removed(edit: &str) -> String {
    format!("Removed: {edit}.")
}

pub fn remove(edit: &str) -> String {
    format!("Remove: {edit}")
}

pub fn paused(who: &str, span: &str) -> String {
    format!("Paused {who} for {span}. Undo brings the old run back.")
}

pub fn will_pause(who: &str, word: &str, span: &str) -> String {
    format!("{who} will pause before its next {word} for {span}.")
}

pub fn cut_one_way(from: &str, to: &str, span: &str) -> String {
    format!("Cut {from} to {to}, one way, for {span}.")
}

pub fn lost(from: &str, to: &str) -> String {
    format!("Next message {from} to {to}: will be lost.")
}

pub fn delayed(from: &str, to: &str, span: &str) -> String {
    format!("Next message {from} to {to}: held for {span}.")
}

pub fn crashed(who: &str) -> String {
    format!("{who} crashes. Undo brings the old run back.")
}

pub fn powered_off(who: &str) -> String {
    format!("{who} loses its power. Undo takes it back.")
}

pub fn shut_down(who: &str) -> String {
    format!("{who} is shut down. Undo takes it back.")
}

pub fn suspended(who: &str, span: &str) -> String {
    format!("{who} sleeps for {span}. Undo takes it back.")
}

pub fn frozen(who: &str, span: &str) -> String {
    format!("{who} is frozen for {span}. Undo takes it back.")
}

pub fn task_paused(task: &str, who: &str, span: &str) -> String {
    format!("Paused {task} of {who} for {span}.")
}

pub fn clock_set(who: &str, forward: bool, span: &str) -> String {
    let way = if forward { "forward" } else { "back" };
    format!("Wall clock of {who} set {way} by {span}.")
}

pub fn clock_rate(who: &str, rate: Ratio) -> String {
    format!("Clocks of {who} run at {rate} of true speed.")
}

pub fn duplicated(from: &str, to: &str, span: &str) -> String {
    format!("Next message {from} to {to}: copied, {span} later.")
}

pub fn restarted(who: &str) -> String {
    format!("{who} starts again.")
}

pub fn cut(a: &str, b: &str, span: &str) -> String {
    format!("Cut {a} from {b} for {span}.")
}

pub fn healed(a: &str, b: &str) -> String {
    format!("Healed the way between {a} and {b}.")
}

pub fn stopped_until(moment: &str) -> String {
    format!("It is stopped already, until {moment}.")
}

pub fn together_with(label: &str) -> String {
    format!("On one side with {label}; the others on the other")
}

/// Which kinds of fault a lesson offers.
pub fn offered(kinds: &str) -> String {
    format!("This lesson offers: {kinds}.")
}

/// A kind of fault, by the word that lesson files have for it.
pub fn fault(word: &'static str) -> &'static str {
    match word {
        "suspend" => "a host that sleeps",
        "freeze" => "a machine that freezes",
        "pause" => "a pause",
        "cut" => "a cut",
        "crash" => "a death",
        "clock" => "a clock that is wrong",
        "delay" => "a message delayed",
        "drop" => "a message lost",
        "duplicate" => "a message twice",
        other => other,
    }
}

pub fn break_at(moment: &str) -> String {
    format!("Break it at {moment}")
}

/// `just_before` is the moment of the head, where the break comes a little later.
pub fn past_stays(just_before: Option<String>) -> String {
    let stays = match just_before {
        Some(at) => format!("What happened at {at} stays, so this begins just after it."),
        None => "What has happened stays.".into(),
    };
    format!("{stays} The old future is one undo away.")
}

pub fn break_node(label: &str) -> String {
    format!("{label}: break it")
}

pub fn program_of(label: &str) -> String {
    format!("{label}’s program")
}

pub fn step_of(step: usize, all: usize) -> String {
    format!("Step {step} of {all}")
}

pub fn diagram_name(step: usize, all: usize) -> String {
    format!(
        "Space-time diagram, step {step} of {all}. The list “What happened” says the same in words."
    )
}

pub fn position(seconds: &str, step: usize, all: usize) -> String {
    format!("{seconds}, step {step} of {all}")
}

pub fn beat_of(beat: usize, all: usize) -> String {
    format!("{beat} of {all}")
}

pub fn you_said(answer: &str, sure: u32) -> String {
    format!("You said: {answer}, {sure} % sure.")
}

pub fn run_says(answer: &str) -> String {
    format!("The run: {answer}.")
}

pub fn sure(percent: u32) -> String {
    format!("{percent} %")
}

pub fn speed(quarters: u32) -> String {
    match quarters {
        1 => "0.25×".into(),
        2 => "0.5×".into(),
        n => format!("{}×", n / 4),
    }
}

pub fn saved_as(name: &str) -> String {
    format!("Saved as {name}.")
}

pub fn about_run(title: &str) -> String {
    format!("These words are about the run “{title}”.")
}

pub fn back_to(title: &str) -> String {
    format!("Back to “{title}”")
}

pub fn strayed(title: &str) -> String {
    format!(
        "From here on this run goes its own way, and the story is about the run “{title}”. What \
        happens here is told by the picture, the list “What happened” and the verdict."
    )
}

pub fn lesson(id: &str) -> String {
    format!("The lesson “{id}”")
}

// What a link says that cannot be followed.

pub const LINK_TITLE: &str = "About this link";
pub const LINK_DAMAGED: &str = "This link was changed or cut off on its way. Here is what could be read of it; \
     ask for the link again if something is missing.";
pub const EDITS_OF_OTHER_VERSION: &str =
    "What it does to the run is written in a way that this page does not know, and was left out.";
pub const LESSON_CHANGED: &str = "The lesson has changed since this link was made: the run is not quite the one that was shared.";
pub const BEYOND_THE_END: &str =
    "The link leads to a step beyond the end of this run, so here is its end.";

pub fn newer_link(version: u32, known: u32) -> String {
    format!(
        "This link was made by a newer edition of Lockscope (version {version}, and this page reads \
         version {known}). Reloading may bring that edition. Here is what could be read of it."
    )
}

pub fn older_link(version: u32, known: u32) -> String {
    format!(
        "This link is of version {version}, and this page reads version {known}. Here is what could be \
         read of it."
    )
}

pub fn other_rules(then: u32, now: u32, same: bool) -> String {
    let so = if same {
        "This run comes out the same."
    } else {
        "This run does not come out as the one that was shared."
    };
    format!(
        "Rules of the simulation have changed since this link was made (version {then}, now {now}). {so}"
    )
}

pub fn no_task(level: Level) -> String {
    format!("This lesson has no task “{}”, so here is its story.", level_word(level))
}

fn level_word(task: Level) -> &'static str {
    level(Some(task))
}

pub fn no_node(id: &str) -> String {
    format!("This run has no node “{id}” to see as, so here is what everybody sees.")
}

pub fn no_run(name: &str, known: &str) -> String {
    format!("This lesson has no run “{name}”; its runs are {known}.")
}

pub fn edit_left_out(edit: &str, why: &str) -> String {
    format!("Left out: “{edit}”, {why}.")
}

pub fn edit_unread(number: usize, all: usize, why: &str) -> String {
    format!("Left out: edit {number} of {all}, which cannot be read: {why}.")
}

pub fn too_long_edits(edits: usize, longest: usize) -> String {
    let edits = if edits == 1 { "An edit".into() } else { format!("{edits} edits") };
    format!("{edits} of more than {longest} characters left out.")
}

pub fn too_many_edits(most: usize) -> String {
    format!("A run has at most {most} edits; those beyond were left out.")
}

pub fn parts_unread(parts: &[String]) -> String {
    let short = |part: &String| match part.chars().nth(40) {
        Some(_) => part.chars().take(40).chain(['…']).collect(),
        None => part.clone(),
    };
    let mut named: Vec<String> = parts.iter().take(5).map(short).collect();
    if parts.len() > 5 {
        named.push("…".into());
    }
    format!(
        "This page does not know what to make of these parts of its address: {}.",
        named.join(", ")
    )
}

/// The button that puts a card into a tray, and the tray's name.
pub const fn tray(tray: Class) -> &'static str {
    match tray {
        Class::Efficiency => "Only wasteful",
        Class::Correctness => "Wrong",
    }
}

pub fn card_of(number: usize, all: usize) -> String {
    format!("Card {number} of {all}")
}

/// What was said of a card, and what its run shows.
pub fn sorted(said: Class, shown: Class) -> String {
    match (said, shown) {
        (Class::Efficiency, Class::Efficiency) => {
            "You said “only wasteful”, and so it is: run twice, the work is done twice, and nothing is wrong."
        }
        (Class::Efficiency, Class::Correctness) => {
            "You said “only wasteful”. Run twice, something is wrong: see the picture."
        }
        (Class::Correctness, Class::Correctness) => {
            "You said “wrong”, and so it is: run twice, what has to hold no longer does."
        }
        (Class::Correctness, Class::Efficiency) => {
            "You said “wrong”. Run twice, the work is done twice, and all else is right: see the picture."
        }
    }
    .to_string()
}

pub fn agreed(count: usize, all: usize) -> String {
    format!("Of {all} runs, {count} say what you said.")
}

/// Where the runs say otherwise: the cards, and what makes one say it.
pub fn stumbled(titles: &str, belief: &str) -> String {
    format!("{titles}: who says that often thinks: “{belief}”")
}

pub fn cards_sorted(sorted: usize, all: usize) -> String {
    format!("{sorted} of {all} cards sorted")
}

/// What one can do with one's eyes.
pub const NOT_YET_EXECUTED: &str = "Not executed yet.";
pub const NOTHING_SELECTED: &str = "Nothing is selected.";
pub const WHY_IS_FOG: &str = "Why is not for one node to see. Lift the fog first.";
pub const FOG_LIFTED: &str = "The fog is lifted. Everything is in sight again.";
pub const NOTHING_MORE_SEEN: &str = "Nothing more happens that it could see.";
pub const ASK_WHY: &str = "Why?";
pub const WHY_NOT: &str = "Why not?";
pub const WHY_TITLE: &str = "How this came about";
pub const GO_THERE: &str = "Go there";
pub const CLEAR: &str = "Clear";
pub const BECAUSE: &str = "What made it so";
pub const DECIDES_IT: &str = "What decides it in this run";
pub const GOES_ON: &str = "It goes on; nothing stands in its way.";
pub const DIAGRAM: &str = "Diagram";
pub const TOPOLOGY: &str = "Topology";
pub const LIFT_FOG: &str = "Lift the fog";
pub const SELECTED_EVENT: &str = "Selected";
pub const EYES_NOTE: &str = "Only what it did, sent and read is here, by its own clock. Slow and dead look the same from here.";
pub const EYES_ASLEEP: &str = "It sees nothing: it does not run.";
pub const BY_OWN_CLOCK: &str = "by its own clock";
pub const LINE_EVENT: &str = "Select what this line did last";

pub fn view_is(view: super::look::View) -> String {
    match view {
        super::look::View::Diagram => "The picture is the diagram: time runs down.".into(),
        super::look::View::Topology => {
            "The picture is the topology: this moment on a plane.".into()
        }
    }
}

pub fn selected_event(words: &str) -> String {
    format!("Selected: {words}")
}

pub fn why_told(steps: usize, missing: &str) -> String {
    let steps = if steps == 1 { "one step".into() } else { format!("{steps} steps") };
    format!("How it came about, in {steps}, beside the picture. {missing}").trim_end().into()
}

pub fn see_as(label: &str) -> String {
    format!("See as {label}")
}

pub fn sees_as(label: &str) -> String {
    format!("You see what {label} sees. Everything else is fog.")
}

pub fn eyes_title(label: &str) -> String {
    format!("You are {label}")
}

pub fn eyes_picture(label: &str) -> String {
    format!("What {label} has seen, by its own clock")
}

pub fn topology_name(step: usize, all: usize) -> String {
    format!("Topology, step {step} of {all}")
}

pub fn left_out(count: usize) -> String {
    format!("{count} more steps")
}

pub fn why_node(label: &str) -> String {
    format!("{label}: what it waits for, what it relies on")
}

pub fn seen_count(count: usize) -> String {
    format!("{count} seen")
}
