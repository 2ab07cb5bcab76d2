//! The words of clients' programs: what they mean is in [`super::client`].

use std::rc::Rc;

use super::Vocabulary;
use super::resource::Condition;
use crate::judge::{CellId, LockId, Mode};
use crate::sim::{Expr, Instr, Line, LineError, Micros, Names, Scanner, local_name};

/// A word of a client's program that is not control flow.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the words are documented in lessons/README.md")]
pub enum Op {
    Acquire {
        lock: LockId,
        mode: Mode,
        within: Option<Micros>,
    },
    /// One step of taking a lock, where the system's library has steps.
    Step {
        lock: LockId,
        mode: Mode,
        step: Step,
    },
    Renew {
        lock: LockId,
    },
    Release {
        lock: LockId,
    },
    Check {
        lock: LockId,
    },
    GiveUp {
        lock: LockId,
    },
    Read {
        cell: CellId,
        /// The lock whose token it carries.
        lock: LockId,
        place: usize,
        within: Option<Micros>,
    },
    Write {
        cell: CellId,
        /// The lock whose token it carries.
        lock: LockId,
        value: Expr,
        /// What it demands of the cells. Places beyond them are the client's locals.
        condition: Option<Rc<Condition>>,
        within: Option<Micros>,
        more: bool,
    },
    Claim {
        lock: LockId,
        within: Option<Micros>,
    },
    Begin,
    Abort,
    Job(u16),
}

/// The steps in which a program can take a lock by itself, where `acquire` does all of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// It puts its own record at the end of the lock's queue.
    Enter,
    /// It reads the queue: is its own record the first?
    List,
    /// It asks to be told when the record before its own is gone.
    Watch,
    /// It waits until it is told.
    Await,
}

impl Step {
    /// All steps, in the order of the recipe.
    pub const ALL: [Step; 4] = [Step::Enter, Step::List, Step::Watch, Step::Await];

    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Step::Enter => "enter",
            Step::List => "list",
            Step::Watch => "watch",
            Step::Await => "await",
        }
    }
}

impl Op {
    /// The word itself.
    pub fn verb(&self) -> &'static str {
        match self {
            Op::Acquire { .. } => "acquire",
            Op::Step { step, .. } => step.word(),
            Op::Renew { .. } => "renew",
            Op::Release { .. } => "release",
            Op::Check { .. } => "check",
            Op::GiveUp { .. } => "give-up",
            Op::Read { .. } => "read",
            Op::Write { condition, .. } => match condition.as_deref() {
                Some(Condition::Fresh) => "insert",
                _ => "write",
            },
            Op::Claim { .. } => "claim",
            Op::Begin => "begin",
            Op::Abort => "abort",
            Op::Job(_) => "job",
        }
    }
}

const WORDS: &str = "one of `acquire`, `enter`, `list`, `watch`, `await`, `renew`, `release`, `check`, `give-up`, `claim`, `read`, \
                     `write`, `insert`, `begin`, `abort`, `job`, `work`, `sleep`, `let`, `if`, `goto`, `loop`, `repeat`, `end`, \
                     `break`, `stop` or a label such as `again:`";

/// Reads one word of a client's program.
///
/// # Errors
/// What was found and what was expected, with its place in the line.
pub fn parse_word(
    s: &mut Scanner<'_>,
    names: &mut Names,
    vocabulary: &mut Vocabulary,
) -> Result<Op, LineError> {
    let word = s.peek_text();
    let known = [
        "acquire", "renew", "release", "check", "give-up", "claim", "read", "write", "insert",
        "begin", "abort", "job",
    ];
    if let Some(step) = Step::ALL.into_iter().find(|step| step.word() == word) {
        return parse_step(s, vocabulary, step);
    }
    if !known.contains(&word) {
        return Err(s.expected(WORDS));
    }
    s.take("a word")?;
    match word {
        "acquire" => {
            let lock = optional_lock(s, vocabulary)?;
            let mode = mode(s, vocabulary)?;
            Ok(Op::Acquire { lock, mode, within: within(s)? })
        }
        "renew" => Ok(Op::Renew { lock: optional_lock(s, vocabulary)? }),
        "release" => Ok(Op::Release { lock: optional_lock(s, vocabulary)? }),
        "check" => Ok(Op::Check { lock: optional_lock(s, vocabulary)? }),
        "give-up" => Ok(Op::GiveUp { lock: optional_lock(s, vocabulary)? }),
        "read" => {
            let name = s.peek_text();
            let cell = vocabulary.cell(s)?;
            let local = if s.accept("as") { local_name(s)? } else { name };
            let lock = under(s, vocabulary, cell)?;
            Ok(Op::Read { cell, lock, place: names.local(local), within: within(s)? })
        }
        "write" | "insert" => {
            let cell = vocabulary.cell(s)?;
            s.demand("=")?;
            let value = Expr::parse(s, &names.locals)?;
            let lock = under(s, vocabulary, cell)?;
            let condition = match word {
                "insert" => Some(Condition::Fresh),
                _ if s.accept("where") => Some(condition(s, names, vocabulary, cell)?),
                _ => None,
            };
            let condition = condition.map(Rc::new);
            Ok(Op::Write { cell, lock, value, condition, within: within(s)?, more: false })
        }
        "claim" => {
            let lock = optional_lock(s, vocabulary)?;
            Ok(Op::Claim { lock, within: within(s)? })
        }
        "begin" => Ok(Op::Begin),
        "abort" => Ok(Op::Abort),
        _ => {
            let name = s.take("the job's name")?.text.to_string();
            let jobs = &mut vocabulary.jobs;
            let index = jobs.iter().position(|j| *j == name).unwrap_or(jobs.len());
            if index == jobs.len() {
                jobs.push(name);
            }
            Ok(Op::Job(index as u16))
        }
    }
}

/// A step of taking a lock; only `enter` says whether it is to be shared, because the others are about
/// the record that it made.
fn parse_step(
    s: &mut Scanner<'_>,
    vocabulary: &mut Vocabulary,
    step: Step,
) -> Result<Op, LineError> {
    if let (Some(why), Some(word)) = (vocabulary.stepless, s.peek()) {
        let message =
            format!("found `{}`, but {why}; `acquire` takes a lock in every system", word.text);
        return Err(s.wrong(word, message));
    }
    s.take("a word")?;
    let lock = optional_lock(s, vocabulary)?;
    let mode = if step == Step::Enter { mode(s, vocabulary)? } else { Mode::Exclusive };
    Ok(Op::Step { lock, mode, step })
}

/// The lock under which a client reads or writes a cell: the one that guards it, unless the line names
/// another. Two clients that do not take the same lock for one cell exclude nobody.
fn under(
    s: &mut Scanner<'_>,
    vocabulary: &mut Vocabulary,
    cell: CellId,
) -> Result<LockId, LineError> {
    let guard = vocabulary.guards.get(usize::from(cell.0)).copied().unwrap_or(LockId(0));
    if !s.accept("under") {
        return Ok(guard);
    }
    let lock = vocabulary.lock(s)?;
    vocabulary.under.insert((lock, cell));
    Ok(lock)
}

/// Whether a lock is to be shared, where that can be.
fn mode(s: &mut Scanner<'_>, vocabulary: &Vocabulary) -> Result<Mode, LineError> {
    let token = s.peek();
    if !s.accept("shared") {
        return Ok(Mode::Exclusive);
    }
    match (vocabulary.exclusive, token) {
        (Some(why), Some(token)) => {
            let message = format!("found `shared`, but {why}; write `acquire` alone");
            Err(s.wrong(token, message))
        }
        _ => Ok(Mode::Shared),
    }
}

fn optional_lock(s: &mut Scanner<'_>, vocabulary: &Vocabulary) -> Result<LockId, LineError> {
    match s.peek_text() {
        "" | "shared" | "within" => Ok(LockId(0)),
        _ => vocabulary.lock(s),
    }
}

/// What a write demands: that its cell is still at the version which the client read, or something
/// of the cells beside it, and of the client's own locals.
fn condition(
    s: &mut Scanner<'_>,
    names: &Names,
    vocabulary: &Vocabulary,
    cell: CellId,
) -> Result<Condition, LineError> {
    if s.peek_text() == "version" && matches!(s.peek_second(), "" | "within") {
        s.take("a condition")?;
        return Ok(Condition::Version);
    }
    let home = vocabulary.homes.get(usize::from(cell.0));
    let cells = vocabulary.cells.iter().zip(&vocabulary.homes);
    // A cell of another resource has no name here: no write can look there.
    let here =
        |(name, at): (&String, _)| if Some(at) == home { name.clone() } else { String::new() };
    let mut known: Vec<String> = cells.map(here).collect();
    known.extend(names.locals.iter().cloned());
    Expr::parse(s, &known).map(Condition::Cells)
}

fn within(s: &mut Scanner<'_>) -> Result<Option<Micros>, LineError> {
    if s.accept("within") { s.duration().map(Some) } else { Ok(None) }
}

/// Tells each write whether another is to come before its section ends, on the way that the program
/// takes from there when nothing turns it aside.
///
/// The judge needs it to see that a crash between two writes tore the section. How often a loop will
/// still run is not known here: the way leads out of it.
pub fn link_writes(lines: &mut [Line<Op>]) {
    for pc in 0..lines.len() {
        let another = another_write(lines, pc + 1);
        if let Instr::Call(Op::Write { more, .. }) = &mut lines[pc].instr {
            *more = another;
        }
    }
}

fn another_write(lines: &[Line<Op>], mut pc: usize) -> bool {
    while let Some(line) = lines.get(pc) {
        pc = match &line.instr {
            Instr::Call(Op::Write { .. }) => return true,
            Instr::Call(
                Op::Acquire { .. } | Op::Step { .. } | Op::Release { .. } | Op::Begin | Op::Abort,
            )
            | Instr::Stop(_) => return false,
            Instr::Goto(to) if *to > pc => *to,
            _ => pc + 1,
        };
    }
    false
}
