//! Assertions: what a lesson claims of a run, and the events that its beats stand on.
//!
//! ```text
//! stale_accepted == 1 and balance == 90          figures of the verdict, metrics, cells at the end
//! invariant_broken == null                       the figure does not arise in this run
//! expire client-a#1 before write client-a#1      order of events
//! accept client-a#1 token 41 value 90 at 13.2s   an event and facts about it
//! no reject client-a                             an event that must not happen
//! setting resource.check token                   a setting, from the start to the end
//! at most 2 faults                               how much was broken
//! ```

use std::fmt;

use super::figures::{FIGURES, figures};
use crate::judge::Testimony;
use crate::run::{Action, Names, Run, kind};
use crate::sim::{Event, EventId, Expr, LineError, Micros, ProcId, Scanner, list, meant};

/// An event by its kind, the node or client that it is about, and its number among those.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventRef {
    /// One of [`kind::KINDS`].
    pub kind: &'static str,
    /// The node in which it happens, or the client that it is about; of a message that is lost or
    /// held up, either end.
    pub node: ProcId,
    /// Which of them, from 1.
    pub number: u32,
}

/// A fact about an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fact {
    At(Micros),
    Token(u64),
    Value(i64),
}

/// What an assertion claims.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claim(Form);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Form {
    /// The expression is not 0; its variables are figures and then cells.
    Holds(Expr),
    /// The figure at this index is null, or (false) is not.
    Null(usize, bool),
    /// These events happen in this order, and facts hold of each.
    Happen(Vec<(EventRef, Vec<Fact>)>),
    /// The event does not happen.
    Never(EventRef),
    /// The setting has this value all the time.
    Setting(String, String),
    /// No more than so many edits break something.
    AtMost(usize),
}

impl EventRef {
    /// Reads `grant client-a#1`; without a number, the first is meant.
    ///
    /// # Errors
    /// An unknown kind or node, with those that exist.
    pub fn parse(text: &str, names: &Names) -> Result<EventRef, LineError> {
        let mut s = Scanner::new(text);
        let event = EventRef::scan(&mut s, names)?;
        s.end()?;
        Ok(event)
    }

    fn scan(s: &mut Scanner<'_>, names: &Names) -> Result<EventRef, LineError> {
        let token = s.take("the kind of an event such as `grant`")?;
        let Some((kind, _)) = kind::KINDS.iter().find(|k| k.0 == token.text) else {
            let known = list(kind::KINDS.iter().map(|k| k.0));
            let meant = meant(token.text, kind::KINDS.iter().map(|k| k.0));
            let message =
                format!("no kind of event `{}`; the kinds are {known}{meant}", token.text);
            return Err(s.wrong(token, message));
        };
        let token = s.take("the id of a node")?;
        let Some(node) = names.find(token.text) else {
            let known = list(names.nodes.iter().map(|n| n.id.as_str()));
            let meant = meant(token.text, names.nodes.iter().map(|n| n.id.as_str()));
            let message = format!("no node `{}`; the nodes are {known}{meant}", token.text);
            return Err(s.wrong(token, message));
        };
        let mut number = 1;
        if s.accept("#") {
            if s.peek_text() == "0" {
                return Err(s.expected("a number from 1"));
            }
            number = s.number("a number from 1")?;
        }
        Ok(EventRef { kind, node, number })
    }

    /// The event in this run, if it happens.
    pub fn find(&self, run: &Run) -> Option<EventId> {
        let skipped = usize::try_from(self.number.saturating_sub(1)).unwrap_or(usize::MAX);
        self.all(run).nth(skipped)
    }

    fn all<'r>(&self, run: &'r Run) -> impl Iterator<Item = EventId> + use<'r> {
        let EventRef { kind, node, .. } = *self;
        let events = run.record.events.iter().enumerate();
        let is = move |e: &Event<Testimony>| {
            kind::kind(e) == kind && (e.node == node || kind::concerns(&run.record, e, node))
        };
        events.filter(move |(_, e)| is(e)).map(|(i, _)| EventId(i as u32))
    }

    fn words(&self, names: &Names) -> String {
        format!("{} {}#{}", self.kind, names.node(self.node).id, self.number)
    }

    /// Why the event is not in this run.
    fn absence(&self, run: &Run) -> String {
        let of = format!("{} {}", self.kind, run.names().node(self.node).id);
        match self.all(run).count() {
            0 => format!("there is no `{of}` in this run"),
            1 => format!("there is only one `{of}` in this run"),
            n => format!("there are only {n} `{of}` in this run"),
        }
    }
}

/// The event that a beat or a prediction stands on in this run.
///
/// # Errors
/// Why it is not there: the line cannot be read here, or no such event happened.
pub fn anchor(run: &Run, text: &str) -> Result<EventId, String> {
    let event = EventRef::parse(text, run.names()).map_err(|e| e.to_string())?;
    event.find(run).ok_or_else(|| event.absence(run))
}

impl Claim {
    /// Reads an assertion about runs with these names.
    ///
    /// # Errors
    /// What was found and what was expected, with its place in the line.
    pub fn parse(text: &str, names: &Names) -> Result<Claim, LineError> {
        let mut s = Scanner::new(text);
        let form = Form::scan(&mut s, names)?;
        s.end()?;
        Ok(Claim(form))
    }

    /// Whether it holds of this run.
    ///
    /// # Errors
    /// What the run gave instead.
    pub fn test(&self, run: &Run) -> Result<(), String> {
        match &self.0 {
            Form::Holds(expr) => holds(expr, run),
            Form::Null(index, wanted) => {
                let given = figures(&run.judgement).get(*index).copied().flatten();
                if given.is_none() == *wanted { Ok(()) } else { Err(shown(*index, given)) }
            }
            Form::Never(event) => match event.find(run) {
                None => Ok(()),
                Some(id) => {
                    let at = run.record.event(id).at;
                    Err(format!("`{}` happened at {}", event.words(run.names()), seconds(at)))
                }
            },
            Form::Happen(events) => happen(events, run),
            Form::Setting(key, value) => set(key, value, run),
            Form::AtMost(most) => {
                let given = run.compiled.edits.iter().filter(|edit| edit.is_fault()).count();
                if given <= *most { Ok(()) } else { Err(format!("{given} faults")) }
            }
        }
    }

    /// The event with which it has come true, for one that speaks of events that happen.
    pub fn comes_true(&self, run: &Run) -> Option<EventId> {
        match &self.0 {
            Form::Happen(events) => events.last().and_then(|(event, _)| event.find(run)),
            _ => None,
        }
    }

    /// Whether it speaks of what came out, which only the figures say.
    pub fn is_figure(&self) -> bool {
        matches!(self.0, Form::Holds(_) | Form::Null(..))
    }
}

impl Form {
    fn scan(s: &mut Scanner<'_>, names: &Names) -> Result<Form, LineError> {
        if s.peek_text() == "no" {
            s.demand("no")?;
            return Ok(Form::Never(EventRef::scan(s, names)?));
        }
        let second = s.peek_second();
        if s.peek_text() == "setting" && second.starts_with(char::is_alphabetic) {
            s.demand("setting")?;
            let key = s.take("a setting such as `resource.check`")?.text.to_string();
            return Ok(Form::Setting(key, s.take("its value")?.text.to_string()));
        }
        if s.peek_text() == "at" && second == "most" {
            s.demand("at")?;
            s.demand("most")?;
            let most = whole(s, "how many faults, a whole number")?;
            s.demand("faults")?;
            return Ok(Form::AtMost(most));
        }
        let joins = ["", "and", "or"].contains(&second);
        if second.starts_with(char::is_alphabetic) && !joins && s.peek_text() != "not" {
            return Form::scan_event(s, names);
        }
        let figure = FIGURES.iter().position(|f| f.key == s.peek_text());
        if let Some(index) = figure {
            let mut ahead = s.clone();
            ahead.take("a figure")?;
            let wanted = ahead.peek_text() == "==";
            if (wanted || ahead.peek_text() == "!=") && ahead.peek_second() == "null" {
                ahead.take("a comparison")?;
                ahead.demand("null")?;
                *s = ahead;
                return Ok(Form::Null(index, wanted));
            }
        }
        let known: Vec<String> = variables(names).map(String::from).collect();
        Ok(Form::Holds(Expr::parse(s, &known)?))
    }

    fn scan_event(s: &mut Scanner<'_>, names: &Names) -> Result<Form, LineError> {
        let mut events = Vec::new();
        loop {
            let event = EventRef::scan(s, names)?;
            events.push((event, Form::scan_facts(s)?));
            if !s.accept("before") {
                return Ok(Form::Happen(events));
            }
        }
    }

    fn scan_facts(s: &mut Scanner<'_>) -> Result<Vec<Fact>, LineError> {
        let mut facts = Vec::new();
        while s.peek().is_some() && s.peek_text() != "before" {
            if s.accept("at") {
                facts.push(Fact::At(s.duration()?));
            } else if s.accept("token") {
                facts.push(Fact::Token(whole(s, "a token, a whole number")?));
            } else if s.accept("value") {
                let sign = if s.accept("-") { -1 } else { 1 };
                facts.push(Fact::Value(sign * whole::<i64>(s, "a value, a whole number")?));
            } else {
                return Err(s.expected("`before`, `at`, `token`, `value` or the end of the line"));
            }
        }
        Ok(facts)
    }
}

/// A whole number without a sign, as large as its type allows.
fn whole<T: std::str::FromStr>(s: &mut Scanner<'_>, wanted: &str) -> Result<T, LineError> {
    let number = s.peek_text().parse().map_err(|_| s.expected(wanted))?;
    s.take(wanted)?;
    Ok(number)
}

/// The names that expressions know: figures, then cells.
fn variables(names: &Names) -> impl Iterator<Item = &str> {
    FIGURES.iter().map(|f| f.key).chain(names.cells.iter().map(String::as_str))
}

fn holds(expr: &Expr, run: &Run) -> Result<(), String> {
    let figures = figures(&run.judgement);
    let mut values: Vec<Option<i64>> =
        figures.iter().map(|f| f.map(|n| i64::try_from(n).unwrap_or(i64::MAX))).collect();
    values.extend(cells_at_end(run).into_iter().map(Some));
    let mut used = Vec::new();
    collect(expr, &mut used);
    if let Some(index) = used.iter().find(|i| values.get(**i).copied().flatten().is_none()) {
        let key = FIGURES.get(*index).map_or("?", |f| f.key);
        return Err(format!("{key} == null, a figure that does not arise in this run"));
    }
    let numbers: Vec<i64> = values.iter().map(|v| v.unwrap_or(0)).collect();
    if expr.eval(&numbers) != 0 {
        return Ok(());
    }
    let known: Vec<&str> = variables(run.names()).collect();
    let parts =
        used.iter().filter_map(|i| Some(format!("{} == {}", known.get(*i)?, numbers.get(*i)?)));
    Err(parts.collect::<Vec<_>>().join(", "))
}

/// The values of all cells when the run ends.
fn cells_at_end(run: &Run) -> Vec<i64> {
    let mut cells = run.compiled.setup.cells.clone();
    for event in &run.record.events {
        if let Some(Testimony::Accept(op, write, ..)) = event.note()
            && let Some(cell) = cells.get_mut(usize::from(op.cell.0))
        {
            *cell = write.value;
        }
    }
    cells
}

fn collect(expr: &Expr, used: &mut Vec<usize>) {
    match expr {
        Expr::Const(_) => {}
        Expr::Var(place) if used.contains(place) => {}
        Expr::Var(place) => used.push(*place),
        Expr::Not(inner) => collect(inner, used),
        Expr::Binary(_, left, right) => {
            collect(left, used);
            collect(right, used);
        }
    }
}

fn shown(index: usize, given: Option<u64>) -> String {
    let key = FIGURES.get(index).map_or("?", |f| f.key);
    given.map_or_else(|| format!("{key} == null"), |n| format!("{key} == {n}"))
}

/// Whether these events happen in this order, with what is said of each.
fn happen(events: &[(EventRef, Vec<Fact>)], run: &Run) -> Result<(), String> {
    let mut last: Option<(EventRef, EventId)> = None;
    for (event, facts) in events {
        let id = event.find(run).ok_or_else(|| event.absence(run))?;
        facts_hold(event, run.record.event(id), facts, run)?;
        if let Some((earlier, before)) = last.filter(|(_, before)| *before >= id) {
            return Err(format!(
                "`{}` at {} does not come before `{}` at {}",
                earlier.words(run.names()),
                seconds(run.record.event(before).at),
                event.words(run.names()),
                seconds(run.record.event(id).at),
            ));
        }
        last = Some((*event, id));
    }
    Ok(())
}

fn facts_hold(
    event: &EventRef,
    found: &Event<Testimony>,
    facts: &[Fact],
    run: &Run,
) -> Result<(), String> {
    for fact in facts {
        let (holds, given) = match fact {
            Fact::At(at) => (found.at == *at, format!("at {}", seconds(found.at))),
            Fact::Token(token) => {
                let given = kind::token(&run.record, found).map(|t| t.0);
                (given == Some(*token), or_none("token", given))
            }
            Fact::Value(value) => {
                let given = value_of(run, found.note());
                (given == Some(*value), or_none("value", given))
            }
        };
        if !holds {
            return Err(format!("`{}` {given}", event.words(run.names())));
        }
    }
    Ok(())
}

fn or_none(what: &str, given: Option<impl fmt::Display>) -> String {
    given.map_or_else(|| format!("without a {what}"), |g| format!("{what} {g}"))
}

/// What an event reads, writes, or (for a check) answers: 1 for yes; of a count, for how many microseconds
/// the client may act.
fn value_of(run: &Run, note: Option<&Testimony>) -> Option<i64> {
    match note? {
        Testimony::Write(_, write) | Testimony::Accept(_, write, ..) => Some(write.value),
        Testimony::Reject(_, write, _) => write.map(|w| w.0.value),
        Testimony::Serve(_, _, value) => Some(*value),
        Testimony::Check(_, holds) => Some(i64::from(*holds)),
        Testimony::Count(.., left) => Some(left.map_or(0, |left| left.0 as i64)),
        Testimony::Learn(served) => value_of(run, run.record.events.get(served.0 as usize)?.note()),
        _ => None,
    }
}

fn set(key: &str, value: &str, run: &Run) -> Result<(), String> {
    let then = run.compiled.settings.text(key);
    if then.is_empty() {
        let known = list(run.compiled.settings.specs().iter().map(|s| s.key));
        return Err(format!("no setting `{key}`; the settings are {known}"));
    }
    if then != value {
        return Err(format!("{key} is {then}"));
    }
    let later = run.compiled.edits.iter().find_map(|edit| match &edit.action {
        Action::Set(other, new, Some(at)) if other == key && new != value => Some((new, at)),
        _ => None,
    });
    later.map_or(Ok(()), |(new, at)| Err(format!("{key} becomes {new} at {at}")))
}

/// A moment as assertions write it: `10.05s`.
fn seconds(at: Micros) -> String {
    let (whole, rest) = (at.0 / 1_000_000, at.0 % 1_000_000);
    if rest == 0 {
        return format!("{whole}s");
    }
    format!("{whole}.{}s", format!("{rest:06}").trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Node;

    fn error(text: &str) -> (usize, String) {
        let client = crate::run::NodeKind::Client;
        let node = Node { id: "client-a".into(), label: "Client A".into(), kind: client };
        let cells = vec!["balance".to_string()];
        let names = Names { nodes: vec![node], cells, ..Names::default() };
        match Claim::parse(text, &names) {
            Ok(_) => (usize::MAX, String::new()),
            Err(error) => (error.at, error.message),
        }
    }

    #[test]
    fn assertions_that_can_be_read() {
        for text in [
            "balance == 90",
            "not balance",
            "invariant_broken == null",
            "wait_us_p50 != null",
            "grant client-a before expire client-a#2 before accept client-a",
            "accept client-a token 18446744073709551615 value -5 at 1.5s",
            "no grant client-a#3",
            "grant client-a token 41 before accept client-a value 90 at 2s before expire client-a",
            "setting resource.check token",
            "at most 2 faults",
        ] {
            assert_eq!(error(text).0, usize::MAX, "{text}: {}", error(text).1);
        }
    }

    #[test]
    fn what_cannot_be_read_is_said_with_its_place() {
        for (text, at, said) in [
            ("balnce == 90", 0, "there is no `balnce` here"),
            ("corruption == nil", 14, "there is no `nil` here"),
            ("balance == null", 11, "there is no `null` here"),
            ("grnt client-a", 0, "no kind of event `grnt`; the kinds are"),
            ("grant client-b", 6, "no node `client-b`; the nodes are `client-a`"),
            ("grant client-a#0", 15, "expected a number from 1"),
            ("grant client-a before", 21, "expected the kind of an event"),
            ("grant client-a after", 15, "expected `before`, `at`, `token`"),
            ("grant client-a token x", 21, "expected a token, a whole number"),
            ("grant client-a at -1s", 18, "expected a duration"),
            ("no", 2, "expected the kind of an event"),
            ("at most two faults", 8, "expected how many faults"),
            ("at most 2", 9, "`faults`"),
            ("", 0, "expected a number, a name or `(`"),
        ] {
            let (place, message) = error(text);
            assert_eq!(place, at, "{text}: {message}");
            assert!(message.contains(said), "{text}: {message}");
        }
    }
}
