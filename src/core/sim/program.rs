//! Programs: scenario data that tasks execute line by line.
//!
//! `sim` knows time, control flow and locals; what a `call` means is the business of the actor
//! that the process runs, so a lock client's words are parsed by whoever understands them.

use super::expr::Expr;
use super::text::{LineError, Scanner, list};
use super::time::Micros;

/// How a call ended, as the client's own code learns it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// Done as asked.
    Ok,
    /// The lock service said no: held by another, or no longer yours.
    Refused,
    /// The resource said no.
    Rejected,
    /// No answer in time. Unknown, never a failure: the request may have been carried out.
    Timeout,
    /// The client found its own deadline passed, or was told that it lost the lock.
    Lost,
    /// The connection was reset while waiting. Unknown, as a time-out is.
    Closed,
}

impl Outcome {
    /// All outcomes, in the order of the documentation.
    pub const ALL: [Outcome; 6] = [
        Outcome::Ok,
        Outcome::Refused,
        Outcome::Rejected,
        Outcome::Timeout,
        Outcome::Lost,
        Outcome::Closed,
    ];

    /// The word that programs test.
    pub const fn word(self) -> &'static str {
        match self {
            Outcome::Ok => "ok",
            Outcome::Refused => "refused",
            Outcome::Rejected => "rejected",
            Outcome::Timeout => "timeout",
            Outcome::Lost => "lost",
            Outcome::Closed => "closed",
        }
    }

    /// Whether the request may or may not have been carried out.
    pub const fn unknown(self) -> bool {
        matches!(self, Outcome::Timeout | Outcome::Closed)
    }
}

/// A place in a program: the index of a line.
pub type Pc = usize;

/// What a line does. Everything takes no time but `work`, `sleep` and calls that wait.
#[derive(Clone, Debug)]
pub enum Instr<Op> {
    /// A label or a closing word: nothing happens.
    Nop,
    /// Processor time; a pause stretches it.
    Work(Micros),
    /// A timer on the process's monotonic clock.
    Sleep(Micros),
    /// Sets a local.
    Let(usize, Expr),
    /// Continues elsewhere.
    Goto(Pc),
    /// The end of a loop: looks at its head again.
    Again(Pc),
    /// Continues elsewhere when the last call ended so (or, negated, otherwise).
    OnOutcome(Outcome, bool, Pc),
    /// Continues elsewhere when the expression is not 0.
    If(Expr, Pc),
    /// Enters a loop's body once more, up to `times`; then continues after `end`.
    Repeat {
        /// Which of the process's loop counters.
        counter: usize,
        /// How often at most.
        times: u32,
        /// The loop's `end` line.
        end: Pc,
    },
    /// Leaves the loop with this counter.
    Break {
        /// Which of the process's loop counters.
        counter: usize,
        /// The loop's `end` line.
        end: Pc,
    },
    /// Ends a task: this one, or the one with this index.
    Stop(Option<usize>),
    /// A word of the process's actor.
    Call(Op),
}

/// One line of a program.
#[derive(Clone, Debug)]
pub struct Line<Op> {
    /// As written in the scenario.
    pub text: String,
    /// What it does.
    pub instr: Instr<Op>,
}

/// What makes a task start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trigger {
    /// The start of the process.
    Start,
    /// A notice with this name that the actor raises: the task is a handler.
    Notice(String),
}

/// A task: a program with a name and what starts it. The first task of a process is `main`.
#[derive(Clone, Debug)]
pub struct Task<Op> {
    /// `main`, `heartbeat`, or for a handler the notice's name.
    pub name: String,
    /// When it starts.
    pub trigger: Trigger,
    /// Its lines.
    pub lines: Vec<Line<Op>>,
}

/// What the tasks of one process share by name.
#[derive(Clone, Default, Debug)]
pub struct Names {
    /// Locals; the index is the place in expressions.
    pub locals: Vec<String>,
    /// Names of all tasks, for `stop NAME`.
    pub tasks: Vec<String>,
    /// How many loops the process's programs hold.
    pub counters: usize,
}

impl Names {
    /// The place of a local, made when it is new.
    pub fn local(&mut self, name: &str) -> usize {
        self.locals.iter().position(|n| n == name).unwrap_or_else(|| {
            self.locals.push(name.to_string());
            self.locals.len() - 1
        })
    }
}

/// How often a `repeat` may go round.
const MOST_TIMES: u32 = 1_000_000;

/// How many lines one program may have.
pub const MOST_LINES: usize = 400;

/// Reads a program; `word` reads the words that are not control flow.
///
/// # Errors
/// The index of the faulty line with what is wrong in it.
pub fn parse<Op>(
    lines: &[String],
    names: &mut Names,
    word: &mut dyn FnMut(&mut Scanner<'_>, &mut Names) -> Result<Op, LineError>,
) -> Result<Vec<Line<Op>>, (usize, LineError)> {
    if lines.len() > MOST_LINES {
        let message = format!("a program has at most {MOST_LINES} lines");
        return Err((MOST_LINES, LineError { at: 0, message }));
    }
    let layout = Layout::of(lines, names)?;
    let mut program = Vec::with_capacity(lines.len());
    for (pc, text) in lines.iter().enumerate() {
        let instr = layout.instruction(pc, text, names, word).map_err(|e| (pc, e))?;
        program.push(Line { text: text.clone(), instr });
    }
    Ok(program)
}

/// Where labels and loops stand, found before any line is read.
struct Layout {
    labels: Vec<(String, Pc)>,
    /// (first line, end line, counter), outer loops before inner ones.
    loops: Vec<(Pc, Pc, usize)>,
}

impl Layout {
    fn of(lines: &[String], names: &mut Names) -> Result<Layout, (usize, LineError)> {
        let mut layout = Layout { labels: Vec::new(), loops: Vec::new() };
        let mut open = Vec::new();
        for (pc, text) in lines.iter().enumerate() {
            let scanner = Scanner::new(text);
            let first = scanner.peek_text();
            if scanner.peek_second() == ":" {
                if layout.labels.iter().any(|(l, _)| l == first) {
                    let message = format!("the label `{first}` stands twice");
                    return Err((pc, LineError { at: 0, message }));
                }
                layout.labels.push((first.to_string(), pc));
            } else if first == "loop" || first == "repeat" {
                open.push(layout.loops.len());
                layout.loops.push((pc, 0, names.counters));
                names.counters += 1;
            } else if first == "end" {
                let Some(index) = open.pop() else {
                    let message = "`end` without a `loop` or `repeat` above it".to_string();
                    return Err((pc, LineError { at: 0, message }));
                };
                layout.loops[index].1 = pc;
            }
        }
        match open.pop() {
            None => Ok(layout),
            Some(index) => {
                let message = "this loop has no `end`".to_string();
                Err((layout.loops[index].0, LineError { at: 0, message }))
            }
        }
    }

    fn target(&self, scanner: &mut Scanner<'_>) -> Result<Pc, LineError> {
        let token = scanner.take("the name of a label")?;
        self.labels.iter().find(|(l, _)| l == token.text).map(|(_, pc)| *pc).ok_or_else(|| {
            let known = list(self.labels.iter().map(|(l, _)| l.as_str()));
            scanner.wrong(token, format!("no label `{}`; the labels are {known}", token.text))
        })
    }

    fn instruction<Op>(
        &self,
        pc: Pc,
        text: &str,
        names: &mut Names,
        word: &mut dyn FnMut(&mut Scanner<'_>, &mut Names) -> Result<Op, LineError>,
    ) -> Result<Instr<Op>, LineError> {
        let mut s = Scanner::new(text);
        if s.peek_second() == ":" {
            s.take("a label")?;
            s.demand(":")?;
            s.end()?;
            return Ok(Instr::Nop);
        }
        let loop_here = self.loops.iter().find(|l| l.0 == pc || l.1 == pc);
        let instr = match s.peek_text() {
            "" | "#" => return Ok(Instr::Nop),
            "loop" | "repeat" => self.loop_line(&mut s, loop_here)?,
            "end" => {
                s.demand("end")?;
                loop_here.map_or(Instr::Nop, |l| Instr::Again(l.0))
            }
            "break" => {
                let inner = self.loops.iter().rev().find(|l| l.0 < pc && pc < l.1);
                let (_, end, counter) =
                    *inner.ok_or_else(|| s.expected("`break` only inside a loop"))?;
                s.demand("break")?;
                Instr::Break { counter, end }
            }
            "goto" => {
                s.demand("goto")?;
                Instr::Goto(self.target(&mut s)?)
            }
            "if" => self.branch(&mut s, names)?,
            _ => plain(&mut s, names, word)?,
        };
        s.end()?;
        Ok(instr)
    }

    fn loop_line<Op>(
        &self,
        s: &mut Scanner<'_>,
        found: Option<&(Pc, Pc, usize)>,
    ) -> Result<Instr<Op>, LineError> {
        let times = if s.accept("repeat") {
            match s.number("how often, a whole number")? {
                times @ ..=MOST_TIMES => times,
                _ => return Err(s.expected("at most 1000000 times; `loop` has no end")),
            }
        } else {
            s.demand("loop")?;
            u32::MAX
        };
        let (_, end, counter) = *found.ok_or_else(|| s.expected("an `end` below"))?;
        Ok(Instr::Repeat { counter, times, end })
    }

    fn branch<Op>(&self, s: &mut Scanner<'_>, names: &Names) -> Result<Instr<Op>, LineError> {
        s.demand("if")?;
        let negated = s.peek_text() == "not" && outcome(s.peek_second()).is_some();
        if negated {
            s.demand("not")?;
        }
        if let Some(outcome) = outcome(s.peek_text()) {
            s.take("an outcome")?;
            s.demand("goto")?;
            return Ok(Instr::OnOutcome(outcome, negated, self.target(s)?));
        }
        let expr = Expr::parse(s, &names.locals)?;
        s.demand("goto")?;
        Ok(Instr::If(expr, self.target(s)?))
    }
}

/// Takes the name of a local that is set here.
///
/// # Errors
/// What cannot be a name, or is the word of an outcome or of an expression.
pub fn local_name<'a>(s: &mut Scanner<'a>) -> Result<&'a str, LineError> {
    let token = s.take("the name of a local")?;
    if outcome(token.text).is_some() {
        let message = format!(
            "`{}` is the word of an outcome, as in `if {0} goto …`; a local needs another name",
            token.text
        );
        return Err(s.wrong(token, message));
    }
    let named = token.text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    if !named || ["and", "or", "not"].contains(&token.text) {
        let message = format!("found `{}`, expected the name of a local", token.text);
        return Err(s.wrong(token, message));
    }
    Ok(token.text)
}

fn outcome(word: &str) -> Option<Outcome> {
    Outcome::ALL.into_iter().find(|o| o.word() == word)
}

fn plain<Op>(
    s: &mut Scanner<'_>,
    names: &mut Names,
    word: &mut dyn FnMut(&mut Scanner<'_>, &mut Names) -> Result<Op, LineError>,
) -> Result<Instr<Op>, LineError> {
    match s.peek_text() {
        "work" => {
            s.demand("work")?;
            Ok(Instr::Work(s.duration()?))
        }
        "sleep" => {
            s.demand("sleep")?;
            Ok(Instr::Sleep(s.duration()?))
        }
        "let" => {
            s.demand("let")?;
            let name = local_name(s)?;
            s.demand("=")?;
            let expr = Expr::parse(s, &names.locals)?;
            Ok(Instr::Let(names.local(name), expr))
        }
        "stop" => {
            s.demand("stop")?;
            let Some(token) = s.peek() else {
                return Ok(Instr::Stop(None));
            };
            let task = names.tasks.iter().position(|t| t == token.text).ok_or_else(|| {
                let known = list(names.tasks.iter().map(String::as_str));
                s.wrong(token, format!("no task `{}`; the tasks are {known}", token.text))
            })?;
            s.take("a task")?;
            Ok(Instr::Stop(Some(task)))
        }
        _ => Ok(Instr::Call(word(s, names)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Result<Vec<Line<String>>, (usize, LineError)> {
        let lines: Vec<String> = lines.iter().map(|l| l.to_string()).collect();
        let mut names = Names { tasks: vec!["main".into()], ..Names::default() };
        parse(&lines, &mut names, &mut |s, _| {
            let token = s.take("a word")?;
            if token.text == "knock" {
                Ok("knock".into())
            } else {
                Err(s.wrong(token, "no".into()))
            }
        })
    }

    #[test]
    fn labels_and_loops_resolve_to_lines() {
        let program =
            read(&["again:", "knock", "if not ok goto again", "repeat 3", "break", "end"]).unwrap();
        assert!(matches!(program[2].instr, Instr::OnOutcome(Outcome::Ok, true, 0)));
        assert!(matches!(program[3].instr, Instr::Repeat { counter: 0, times: 3, end: 5 }));
        assert!(matches!(program[4].instr, Instr::Break { counter: 0, end: 5 }));
        assert!(matches!(program[5].instr, Instr::Again(3)));
    }

    #[test]
    fn errors_say_where_and_what_was_expected() {
        let error = |lines: &[&str]| read(lines).unwrap_err();
        let (line, e) = error(&["knock", "work -3s"]);
        assert_eq!((line, e.at), (1, 5));
        assert!(e.message.contains("expected a duration"), "{e}");
        assert!(error(&["goto nowhere"]).1.message.contains("the labels are none"));
        assert!(error(&["loop"]).1.message.contains("no `end`"));
        assert!(error(&["end"]).1.message.contains("without a `loop`"));
        assert!(error(&["knock twice"]).1.message.contains("expected the end of the line"));
    }
}
