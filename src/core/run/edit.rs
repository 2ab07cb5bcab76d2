//! Edits: what a learner does to a run, one line each, the same words everywhere.

use std::fmt;

use crate::sim::{LineError, Micros, Scanner, list, meant};

/// How many edits a run may have.
pub const MOST_EDITS: usize = 200;

/// What is wrong with an edit.
pub type EditError = LineError;

/// When an action happens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum When {
    /// At a moment.
    At(Micros),
    /// Before the n-th execution of a word by the client's main task.
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
    /// A process stops for that long.
    Pause(String, When, Micros),
    /// These ways are cut, for that long or until healed.
    Cut(Ways, Micros, Option<Micros>),
    /// These ways are whole again.
    Heal(Ways, Micros),
    /// A process dies.
    Crash(String, Micros),
    /// A dead process starts again.
    Restart(String, Micros),
    /// A message and what is behind it on its stream is lost.
    Drop(String, String, u32),
    /// A message and what is behind it on its stream is held.
    Delay(String, String, u32, Micros),
    /// A setting, from the start or from a moment on.
    Set(String, String, Option<Micros>),
    /// A token that somebody sends to a resource by hand, at the start or at a moment.
    Send(String, u64, Option<Micros>),
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
    /// Its times, in the order in which it is written. An edit that waits for an occasion has no
    /// moment of its own.
    pub fn spans(&self) -> Vec<(Span, Micros)> {
        let moment = |at: &Micros| (Span::Moment, *at);
        let length = |span: &Micros| (Span::Length, *span);
        match &self.action {
            Action::Pause(_, When::At(at), span) | Action::Cut(_, at, Some(span)) => {
                vec![moment(at), length(span)]
            }
            Action::Pause(_, When::Before(..), span) | Action::Delay(_, _, _, span) => {
                vec![length(span)]
            }
            Action::Cut(_, at, None)
            | Action::Heal(_, at)
            | Action::Crash(_, at)
            | Action::Restart(_, at) => vec![moment(at)],
            Action::Drop(..) => Vec::new(),
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
            (Action::Pause(_, when, _), Span::Moment) => *when = When::At(time),
            (
                Action::Cut(_, at, _)
                | Action::Heal(_, at)
                | Action::Crash(_, at)
                | Action::Restart(_, at)
                | Action::Set(_, _, Some(at))
                | Action::Send(_, _, Some(at)),
                Span::Moment,
            ) => *at = time,
            (
                Action::Pause(_, _, span)
                | Action::Cut(_, _, Some(span))
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

const ACTIONS: &str = "`at`, `pause`, `set`, `send`, `drop` or `delay`";
const TIMED: &str = "`pause`, `cut`, `heal`, `crash`, `restart`, `set` or `send`";

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
            "pause" => {
                self.s.demand("pause")?;
                let node = self.node()?;
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
                Ok(Action::Pause(node, when, self.s.duration()?))
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
        if !["pause", "cut", "heal", "crash", "restart"].contains(&word) {
            return Err(self.s.expected(TIMED));
        }
        self.s.take(TIMED)?;
        match word {
            "pause" => {
                let node = self.node()?;
                self.s.demand("for")?;
                Ok(Action::Pause(node, When::At(at), self.s.duration()?))
            }
            "cut" => {
                let ways = self.ways()?;
                let span = if self.s.accept("for") { Some(self.s.duration()?) } else { None };
                Ok(Action::Cut(ways, at, span))
            }
            "heal" => Ok(Action::Heal(self.ways()?, at)),
            "crash" => Ok(Action::Crash(self.node()?, at)),
            _ => Ok(Action::Restart(self.node()?, at)),
        }
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

/// The one form that [`parse_edit`] reads back to the same edit.
impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.action {
            Action::Pause(node, When::At(at), span) => write!(f, "at {at} pause {node} for {span}"),
            Action::Pause(node, When::Before(word, n), span) => {
                write!(f, "pause {node} before {word}#{n} for {span}")
            }
            Action::Cut(ways, at, None) => write!(f, "at {at} cut {ways}"),
            Action::Cut(ways, at, Some(span)) => write!(f, "at {at} cut {ways} for {span}"),
            Action::Heal(ways, at) => write!(f, "at {at} heal {ways}"),
            Action::Crash(node, at) => write!(f, "at {at} crash {node}"),
            Action::Restart(node, at) => write!(f, "at {at} restart {node}"),
            Action::Drop(from, to, n) => write!(f, "drop {from}>{to}#{n}"),
            Action::Delay(from, to, n, span) => write!(f, "delay {from}>{to}#{n} by {span}"),
            Action::Set(key, value, None) => write!(f, "set {key} {value}"),
            Action::Set(key, value, Some(at)) => write!(f, "at {at} set {key} {value}"),
            Action::Send(node, token, None) => write!(f, "send {node} {token}"),
            Action::Send(node, token, Some(at)) => write!(f, "at {at} send {node} {token}"),
        }
    }
}
