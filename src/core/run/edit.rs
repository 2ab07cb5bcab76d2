//! Edits: what a learner does to a run, one line each, the same words everywhere.

use std::fmt;

use crate::sim::{CrashKind, Halt, LineError, Micros, Ratio, Scanner, list, meant};

/// How many edits a run may have.
pub const MOST_EDITS: usize = 200;

/// The farthest that a clock is stepped: a year, in microseconds.
pub const MOST_STEP: i64 = 366 * 24 * 60 * 60 * 1_000_000;

/// What is wrong with an edit.
pub type EditError = LineError;

/// What is stopped, and how.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Whom {
    /// A whole process.
    Process(Halt, String),
    /// One task of a process; the others go on.
    Task(String, String),
}

impl Whom {
    /// Whose process it is.
    pub fn node(&self) -> &str {
        match self {
            Whom::Process(_, node) | Whom::Task(node, _) => node,
        }
    }

    /// The task that executes what an edit waits for, by its name in edits.
    pub fn task(&self) -> &str {
        match self {
            Whom::Process(..) => "main",
            Whom::Task(_, task) => task,
        }
    }
}

/// When an action happens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum When {
    /// At a moment.
    At(Micros),
    /// Before the n-th execution of a word by the client's main task, or by the task that is stopped.
    Before(String, u32),
}

/// One line of change to a scenario.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edit {
    /// What happens.
    pub action: Action,
}

/// What an edit does. Nodes are named, so that an edit means the same in any run that has them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// A process, or one task of it, stops for that long.
    Halt(Whom, When, Micros),
    /// These ways are cut, for that long or until healed.
    Cut(Ways, Micros, Option<Micros>),
    /// These ways are whole again.
    Heal(Ways, Micros),
    /// A process dies.
    Crash(String, CrashKind, Micros),
    /// A dead process starts again.
    Restart(String, Micros),
    /// A message and what is behind it on its stream is lost.
    Drop(String, String, u32),
    /// A message and what is behind it on its stream is held.
    Delay(String, String, u32, Micros),
    /// A copy of a message arrives too, on a fresh connection: that much after the message itself,
    /// or one latency.
    Duplicate(String, String, u32, Option<Micros>),
    /// The wall clock of a process is stepped by that many microseconds.
    Clock(String, i64, Micros),
    /// All clocks of a process run at that rate.
    Rate(String, Ratio, Micros),
    /// A setting, from the start or from a moment on.
    Set(String, String, Option<Micros>),
    /// A token that somebody sends to a resource by hand, at the start or at a moment.
    Send(String, u64, Option<Micros>),
    /// The first server is replaced as master by the second one.
    FailOver(String, String, Micros),
    /// A server throws out what it knows of a lock.
    Evict(String, String, Micros),
}

/// What a number of an edit says.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Span {
    /// When it happens.
    Moment,
    /// How long it lasts, or how much later it makes something.
    Length,
    /// What a setting is set to.
    Value,
}

impl Edit {
    /// Whether it breaks something: not where it only sets, mends or asks.
    pub fn is_fault(&self) -> bool {
        use Action::{Heal, Restart, Send, Set};
        !matches!(self.action, Heal(..) | Restart(..) | Set(..) | Send(..))
    }

    /// Its times, in the order in which it is written. An edit that waits for an occasion has no
    /// moment of its own.
    pub fn spans(&self) -> Vec<(Span, Micros)> {
        let moment = |at: &Micros| (Span::Moment, *at);
        let length = |span: &Micros| (Span::Length, *span);
        match &self.action {
            Action::Halt(_, When::At(at), span) | Action::Cut(_, at, Some(span)) => {
                vec![moment(at), length(span)]
            }
            Action::Halt(_, When::Before(..), span)
            | Action::Delay(_, _, _, span)
            | Action::Duplicate(_, _, _, Some(span)) => vec![length(span)],
            // How far a clock is stepped has a sign and is no span.
            Action::Cut(_, at, None)
            | Action::Heal(_, at)
            | Action::Crash(_, _, at)
            | Action::Clock(_, _, at)
            | Action::Rate(_, _, at)
            | Action::FailOver(_, _, at)
            | Action::Evict(_, _, at)
            | Action::Restart(_, at) => vec![moment(at)],
            Action::Drop(..) | Action::Duplicate(_, _, _, None) => Vec::new(),
            Action::Set(_, value, at) => {
                let value = Micros::parse(value).map(|v| (Span::Value, v));
                at.iter().map(moment).chain(value).collect()
            }
            Action::Send(_, _, at) => at.iter().map(moment).collect(),
        }
    }

    /// The same edit with one of its times replaced. A pause that waits for an occasion gets a
    /// moment in its place; what an edit does not have stays as it is.
    #[must_use]
    pub fn with(&self, which: Span, time: Micros) -> Edit {
        let mut edit = self.clone();
        match (&mut edit.action, which) {
            (Action::Halt(_, when, _), Span::Moment) => *when = When::At(time),
            (
                Action::Cut(_, at, _)
                | Action::Heal(_, at)
                | Action::Crash(_, _, at)
                | Action::Clock(_, _, at)
                | Action::Rate(_, _, at)
                | Action::Restart(_, at)
                | Action::FailOver(_, _, at)
                | Action::Evict(_, _, at)
                | Action::Set(_, _, Some(at))
                | Action::Send(_, _, Some(at)),
                Span::Moment,
            ) => *at = time,
            (
                Action::Halt(_, _, span)
                | Action::Cut(_, _, Some(span))
                | Action::Duplicate(_, _, _, Some(span))
                | Action::Delay(_, _, _, span),
                Span::Length,
            ) => *span = time,
            (Action::Set(_, value, _), Span::Value) => *value = time.to_string(),
            _ => {}
        }
        edit
    }
}

/// Between whom, and in which directions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ways {
    /// Both directions between two nodes.
    Between(String, String),
    /// One direction.
    OneWay(String, String),
    /// Both directions between any two of two groups.
    Groups(Vec<String>, Vec<String>),
}

impl Ways {
    /// Every direction, as pairs of node ids.
    pub fn pairs(&self) -> Vec<(&str, &str)> {
        match self {
            Ways::OneWay(a, b) => vec![(a, b)],
            Ways::Between(a, b) => vec![(a, b), (b, a)],
            Ways::Groups(left, right) => left
                .iter()
                .flat_map(|a| right.iter().flat_map(move |b| [(a.as_str(), b.as_str()), (b, a)]))
                .collect(),
        }
    }
}

const ACTIONS: &str = "`at`, `pause`, `suspend`, `freeze`, `set`, `send`, `drop`, `delay` or \
                       `duplicate`";
const TIMED: &str = "`pause`, `suspend`, `freeze`, `cut`, `heal`, `kill`, `power-off`, `shut-down`, \
                     `restart`, `clock`, `rate`, `fail-over`, `evict`, `set` or `send`";

/// The words of the stops.
fn halt(word: &str) -> Option<Halt> {
    Halt::ALL.into_iter().find(|halt| halt.word() == word)
}

/// The words of the ways to die; `crash` is the same as `kill`.
fn death(word: &str) -> Option<CrashKind> {
    match word {
        "kill" | "crash" => Some(CrashKind::Kill),
        "power-off" => Some(CrashKind::Power),
        "shut-down" => Some(CrashKind::Clean),
        _ => None,
    }
}

/// Reads one edit; `nodes` are the ids that exist.
///
/// # Errors
/// What was found and what was expected; for a name that does not exist, those that do.
pub fn parse_edit(text: &str, nodes: &[&str]) -> Result<Edit, EditError> {
    let mut s = Scanner::new(text);
    let mut reader = Reader { s: &mut s, nodes };
    let action = reader.action()?;
    s.end()?;
    Ok(Edit { action })
}

struct Reader<'r, 'a> {
    s: &'r mut Scanner<'a>,
    nodes: &'r [&'r str],
}

impl Reader<'_, '_> {
    fn action(&mut self) -> Result<Action, EditError> {
        match self.s.peek_text() {
            "at" => {
                self.s.demand("at")?;
                let at = self.s.duration()?;
                self.timed(at)
            }
            "pause" | "suspend" | "freeze" => {
                let whom = self.whom()?;
                let when = if self.s.accept("before") {
                    let word = self.s.take("a word of the program such as `write`")?.text.into();
                    self.s.demand("#")?;
                    When::Before(word, self.ordinal()?)
                } else if self.s.accept("at") {
                    When::At(self.s.duration()?)
                } else {
                    return Err(self.s.expected("`before` or `at`"));
                };
                self.s.demand("for")?;
                Ok(Action::Halt(whom, when, self.s.duration()?))
            }
            "set" => self.set(None),
            "send" => self.send(None),
            "drop" => {
                self.s.demand("drop")?;
                let (from, to, n) = self.message()?;
                Ok(Action::Drop(from, to, n))
            }
            "delay" => {
                self.s.demand("delay")?;
                let (from, to, n) = self.message()?;
                self.s.demand("by")?;
                Ok(Action::Delay(from, to, n, self.s.duration()?))
            }
            "duplicate" => {
                self.s.demand("duplicate")?;
                let (from, to, n) = self.message()?;
                let later = if self.s.accept("by") { Some(self.s.duration()?) } else { None };
                Ok(Action::Duplicate(from, to, n, later))
            }
            word if TIMED.contains(&format!("`{word}`")) => {
                Err(self.s.expected(&format!("a moment before it, such as `at 3s {word} …`")))
            }
            _ => Err(self.s.expected(ACTIONS)),
        }
    }

    fn timed(&mut self, at: Micros) -> Result<Action, EditError> {
        let word = self.s.peek_text();
        if word == "set" {
            return self.set(Some(at));
        }
        if word == "send" {
            return self.send(Some(at));
        }
        if halt(word).is_some() {
            let whom = self.whom()?;
            self.s.demand("for")?;
            return Ok(Action::Halt(whom, When::At(at), self.s.duration()?));
        }
        let others = ["cut", "heal", "restart", "clock", "rate", "fail-over", "evict"];
        if !others.contains(&word) && death(word).is_none() {
            return Err(self.s.expected(TIMED));
        }
        self.s.take(TIMED)?;
        if let Some(how) = death(word) {
            return Ok(Action::Crash(self.node()?, how, at));
        }
        match word {
            "cut" => {
                let ways = self.ways()?;
                let span = if self.s.accept("for") { Some(self.s.duration()?) } else { None };
                Ok(Action::Cut(ways, at, span))
            }
            "heal" => Ok(Action::Heal(self.ways()?, at)),
            "clock" => {
                let node = self.node()?;
                Ok(Action::Clock(node, self.step()?, at))
            }
            "rate" => {
                let node = self.node()?;
                Ok(Action::Rate(node, self.rate()?, at))
            }
            "fail-over" => {
                let from = self.node()?;
                self.s.demand("to")?;
                let token = self.s.peek();
                let to = self.node()?;
                match token {
                    Some(token) if from == to => {
                        Err(self.s.wrong(token, "found the same node twice, expected two".into()))
                    }
                    _ => Ok(Action::FailOver(from, to, at)),
                }
            }
            "evict" => {
                let node = self.node()?;
                Ok(Action::Evict(node, self.s.take("the name of a lock")?.text.into(), at))
            }
            _ => Ok(Action::Restart(self.node()?, at)),
        }
    }

    /// A stop's word, and whom it stops: `pause client-a`, `pause client-a.heartbeat`.
    fn whom(&mut self) -> Result<Whom, EditError> {
        let word = self.s.take("a stop")?;
        let how = halt(word.text).unwrap_or(Halt::Pause);
        let whole = |text: &str| self.nodes.contains(&text);
        let token = self.s.peek();
        match token.and_then(|t| t.text.split_once('.')) {
            Some((node, task)) if whole(node) && how == Halt::Pause => {
                self.s.take("a task")?;
                Ok(Whom::Task(node.into(), task.into()))
            }
            Some((node, _)) if whole(node) => {
                let what = format!("`{node}`: only `pause` can stop one task of a process");
                Err(self.s.expected(&what))
            }
            _ => Ok(Whom::Process(how, self.node()?)),
        }
    }

    /// How far a clock is stepped: `+8s`, `-500ms`.
    fn step(&mut self) -> Result<i64, EditError> {
        let forward = self.s.accept("+");
        if !forward && !self.s.accept("-") {
            return Err(self.s.expected("how far and which way, such as `+8s` or `-8s`"));
        }
        let token = self.s.peek();
        let span = i64::try_from(self.s.duration()?.0).unwrap_or(i64::MAX);
        match token {
            Some(token) if span > MOST_STEP => {
                let message = format!("found `{}`, expected at most a year", token.text);
                Err(self.s.wrong(token, message))
            }
            _ => Ok(if forward { span } else { -span }),
        }
    }

    /// How fast clocks run: `4/5`, `2`.
    fn rate(&mut self) -> Result<Ratio, EditError> {
        let wanted = "a fraction from `1/1000` to `1000` such as `4/5`; a clock that stands still is \
                      `freeze`";
        let token = self.s.peek().ok_or_else(|| self.s.expected(wanted))?;
        let num = self.s.number(wanted)?;
        let den = if self.s.accept("/") { self.s.number(wanted)? } else { 1 };
        let near = |a: u32, b: u32| u64::from(a) <= 1_000 * u64::from(b);
        if num == 0 || den == 0 || !near(num, den) || !near(den, num) {
            let message = format!("found `{num}/{den}`, expected {wanted}");
            return Err(self.s.wrong(token, message));
        }
        Ok(Ratio { num, den })
    }

    fn set(&mut self, at: Option<Micros>) -> Result<Action, EditError> {
        self.s.demand("set")?;
        let key = self.s.take("a setting such as `resource.check`")?.text.to_string();
        let value = self.s.take("a value")?.text.to_string();
        Ok(Action::Set(key, value, at))
    }

    fn send(&mut self, at: Option<Micros>) -> Result<Action, EditError> {
        self.s.demand("send")?;
        let node = self.node()?;
        let wanted = "a token, a whole number";
        let token = self.s.peek_text().parse().map_err(|_| self.s.expected(wanted))?;
        self.s.take(wanted)?;
        Ok(Action::Send(node, token, at))
    }

    fn node(&mut self) -> Result<String, EditError> {
        let known = list(self.nodes.iter().copied());
        let token = self.s.peek().ok_or_else(|| self.s.expected("the id of a node"))?;
        if !self.nodes.contains(&token.text) {
            let meant = meant(token.text, self.nodes.iter().copied());
            let message = format!("no node `{}`; the nodes are {known}{meant}", token.text);
            return Err(self.s.wrong(token, message));
        }
        self.s.take("a node")?;
        Ok(token.text.to_string())
    }

    fn ordinal(&mut self) -> Result<u32, EditError> {
        if self.s.peek_text() == "0" {
            return Err(self.s.expected("a number from 1"));
        }
        self.s.number("a number from 1")
    }

    fn message(&mut self) -> Result<(String, String, u32), EditError> {
        let from = self.node()?;
        self.s.demand(">")?;
        let to = self.node()?;
        self.s.demand("#")?;
        Ok((from, to, self.ordinal()?))
    }

    fn ways(&mut self) -> Result<Ways, EditError> {
        let first = self.s.peek();
        let ways = if self.s.peek_text() == "{" {
            let left = self.group()?;
            self.s.demand("|")?;
            Ways::Groups(left, self.group()?)
        } else {
            let from = self.node()?;
            if self.s.accept(">") {
                Ways::OneWay(from, self.node()?)
            } else {
                Ways::Between(from, self.node()?)
            }
        };
        match (ways.pairs().iter().any(|(a, b)| a == b), first) {
            (true, Some(token)) => {
                Err(self.s.wrong(token, "found a node on both sides, expected two nodes".into()))
            }
            _ => Ok(ways),
        }
    }

    fn group(&mut self) -> Result<Vec<String>, EditError> {
        self.s.demand("{")?;
        let mut nodes = vec![self.node()?];
        while !self.s.accept("}") {
            self.s.accept(",");
            nodes.push(self.node()?);
        }
        Ok(nodes)
    }
}

impl fmt::Display for Ways {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ways::Between(a, b) => write!(f, "{a} {b}"),
            Ways::OneWay(a, b) => write!(f, "{a}>{b}"),
            Ways::Groups(a, b) => write!(f, "{{{}}}|{{{}}}", a.join(" "), b.join(" ")),
        }
    }
}

impl fmt::Display for Whom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Whom::Process(how, node) => write!(f, "{} {node}", how.word()),
            Whom::Task(node, task) => write!(f, "pause {node}.{task}"),
        }
    }
}

/// The word for a death.
fn death_word(how: CrashKind) -> &'static str {
    match how {
        CrashKind::Kill => "kill",
        CrashKind::Power => "power-off",
        CrashKind::Clean => "shut-down",
    }
}

/// The one form that [`parse_edit`] reads back to the same edit.
impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.action {
            Action::Halt(whom, When::At(at), span) => write!(f, "at {at} {whom} for {span}"),
            Action::Halt(whom, When::Before(word, n), span) => {
                write!(f, "{whom} before {word}#{n} for {span}")
            }
            Action::Cut(ways, at, None) => write!(f, "at {at} cut {ways}"),
            Action::Cut(ways, at, Some(span)) => write!(f, "at {at} cut {ways} for {span}"),
            Action::Heal(ways, at) => write!(f, "at {at} heal {ways}"),
            Action::Crash(node, how, at) => write!(f, "at {at} {} {node}", death_word(*how)),
            Action::Clock(node, by, at) => {
                let sign = if *by < 0 { '-' } else { '+' };
                write!(f, "at {at} clock {node} {sign}{}", Micros(by.unsigned_abs()))
            }
            Action::Rate(node, rate, at) => write!(f, "at {at} rate {node} {rate}"),
            Action::Restart(node, at) => write!(f, "at {at} restart {node}"),
            Action::Drop(from, to, n) => write!(f, "drop {from}>{to}#{n}"),
            Action::Delay(from, to, n, span) => write!(f, "delay {from}>{to}#{n} by {span}"),
            Action::Duplicate(from, to, n, None) => write!(f, "duplicate {from}>{to}#{n}"),
            Action::Duplicate(from, to, n, Some(later)) => {
                write!(f, "duplicate {from}>{to}#{n} by {later}")
            }
            Action::Set(key, value, None) => write!(f, "set {key} {value}"),
            Action::Set(key, value, Some(at)) => write!(f, "at {at} set {key} {value}"),
            Action::Send(node, token, None) => write!(f, "send {node} {token}"),
            Action::Send(node, token, Some(at)) => write!(f, "at {at} send {node} {token}"),
            Action::FailOver(from, to, at) => write!(f, "at {at} fail-over {from} to {to}"),
            Action::Evict(node, lock, at) => write!(f, "at {at} evict {node} {lock}"),
        }
    }
}
