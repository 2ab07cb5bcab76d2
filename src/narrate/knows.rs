//! What each node knows at a moment: the inspector's columns, and all of it in one sentence.

use std::cmp::Reverse;

use super::teller::Teller;
use super::words::{and, change, hex, moment, one_line, span, stopped};
use crate::judge::{IntervalKind, LockId};
use crate::run::{NodeKind, Run};
use crate::sim::{
    ClockKind, EventId, Local, Micros, Pc, ProcId, TaskState, What, World, sort_by_key,
};
use crate::systems::{Fact, Figures, Locks, ON_DISK, Piece};

/// The key of the line that says what a client's main program is doing.
pub const PROGRAM: &str = "program";

/// What one node knows at a moment, as a small table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Knows {
    /// Which node.
    pub node: ProcId,
    /// `Client A knows`.
    pub title: String,
    /// What, and its value, in order.
    pub lines: Vec<(String, String)>,
    /// Which of the lines are places in a queue.
    pub seats: Vec<usize>,
}

/// What each node knows at the moment of a world, in the order of the lanes.
pub fn knows(run: &Run, world: &World<Locks>) -> Vec<Knows> {
    let nodes = (0..run.names().nodes.len()).map(|lane| ProcId(lane as u16));
    nodes.map(|node| knows_of(run, world, node)).collect()
}

/// The same of one node.
pub fn knows_of(run: &Run, world: &World<Locks>, node: ProcId) -> Knows {
    let teller = Teller { run };
    let (lines, seats) = teller.lines(world, node);
    Knows { node, title: format!("{} knows", teller.label(node)), lines, seats }
}

/// Clients whose programs are at the same place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Alike {
    /// Who, as `38 clients`, or the name of one alone.
    pub who: String,
    /// Where they are: a line of the program, or a state.
    pub place: String,
    /// Which of them, where there are several: `Client 13 to Client 50`.
    pub which: String,
}

/// Where the programs of many clients are, the fullest place first. Of fifty clients nobody reads fifty tables.
pub fn alike(run: &Run, world: &World<Locks>) -> Vec<Alike> {
    let teller = Teller { run };
    let mut places: Vec<(String, Vec<ProcId>)> = Vec::new();
    for client in run.names().of_kind(NodeKind::Client) {
        let place = teller.place(world, client);
        match places.iter_mut().find(|p| p.0 == place) {
            Some((_, clients)) => clients.push(client),
            None => places.push((place, vec![client])),
        }
    }
    sort_by_key(&mut places, |(_, clients)| Reverse(clients.len()));
    let told = |(place, clients): (String, Vec<ProcId>)| {
        let who = match clients.as_slice() {
            [one] => teller.label(*one),
            several => format!("{} clients", several.len()),
        };
        let which = if clients.len() > 1 { teller.ranges(&clients) } else { String::new() };
        Alike { who, place, which }
    };
    places.into_iter().map(told).collect()
}

/// `Client A believes it holds generation 41; Lock service says …; Resource has seen …`.
pub fn summary(run: &Run, world: &World<Locks>) -> String {
    let teller = Teller { run };
    let mut parts = Vec::new();
    if let Some(last) = world.events().checked_sub(1).map(EventId) {
        for lock in 0..run.names().locks.len() {
            parts.extend(teller.beliefs(world, LockId(lock as u16), last));
        }
        for lock in 0..run.names().locks.len() {
            parts.push(teller.truths(world, LockId(lock as u16), last));
        }
    }
    let resources = run.names().of_kind(NodeKind::Gateway);
    let resources = resources.chain(run.names().of_kind(NodeKind::Resource));
    parts.extend(resources.filter_map(|node| teller.seen(world, node)));
    if parts.is_empty() {
        return "Nothing has happened yet.".into();
    }
    super::words::capital(&format!("{}.", parts.join("; ")))
}

/// The line that a task is at: what waits has already been counted as begun.
pub fn line_of(state: &TaskState, next: Pc) -> Option<Pc> {
    match state {
        TaskState::Working(..) | TaskState::Sleeping(_) | TaskState::Waiting(_) => {
            next.checked_sub(1)
        }
        TaskState::Idle | TaskState::Ready | TaskState::Ended => Some(next),
    }
}

/// The last event that has happened in a world.
pub(super) fn last_of(world: &World<Locks>) -> EventId {
    EventId(world.events().saturating_sub(1))
}

/// The clocks of a node that do not show true time, or do not run with it: those that agree in one
/// line.
fn clocks(world: &World<Locks>, node: ProcId) -> Vec<(String, String)> {
    let (clocks, now) = (world.clocks(node), world.now());
    let shown = |kind: ClockKind| {
        let clock = clocks.get(kind);
        let (reading, rate, stopped) = (clock.read(now), clock.rate(), clock.is_stopped());
        let ahead = reading.0.saturating_sub_unsigned(now.0);
        let off = match ahead {
            0 => String::new(),
            us => {
                let way = if us < 0 { "behind" } else { "ahead" };
                format!(", {} {way}", span(Micros(us.unsigned_abs())))
            }
        };
        let runs = match (stopped, rate.num == rate.den) {
            (true, _) => ", stands still".into(),
            (false, true) => String::new(),
            (false, false) => format!(", runs at {rate}"),
        };
        let sign = if reading.0 < 0 { "-" } else { "" };
        let what = format!("{sign}{}{off}{runs}", moment(Micros(reading.0.unsigned_abs())));
        (!off.is_empty() || !runs.is_empty()).then_some(what)
    };
    let [wall, mono, boot] = [ClockKind::Wall, ClockKind::Mono, ClockKind::Boot].map(shown);
    let lines = if wall == mono && mono == boot {
        vec![("all its clocks", wall)]
    } else {
        vec![("wall clock", wall), ("monotonic clock", mono), ("boot clock", boot)]
    };
    let told = |(key, value): (&str, Option<String>)| {
        // Beside one that lies, the others are worth a word.
        (key.to_string(), value.unwrap_or_else(|| format!("{}, true", moment(now))))
    };
    if lines.iter().all(|l| l.1.is_none()) {
        return Vec::new();
    }
    lines.into_iter().map(told).collect()
}

impl Teller<'_> {
    fn lines(&self, world: &World<Locks>, node: ProcId) -> (Vec<(String, String)>, Vec<usize>) {
        let (mut lines, mut seats) = (Vec::new(), Vec::new());
        if world.is_down(node) {
            lines.push(("state".into(), "down".into()));
        } else if let Some((how, until)) = world.halt(node) {
            let (how, left) = (stopped(how), span(until.since(world.now())));
            lines.push(("state".into(), format!("{how} until {}, {left} more", moment(until))));
        }
        lines.extend(clocks(world, node));
        lines.extend(self.doing(world, node, false));
        match self.run.names().counted() {
            true if self.run.names().node(node).kind == NodeKind::Service => {
                lines.extend(self.records(world, node));
            }
            _ => {
                let facts =
                    world.facts(node).into_iter().filter(|fact| self.holds(world, node, fact));
                for fact in facts {
                    seats.extend(matches!(fact, Fact::Seat { .. }).then_some(lines.len()));
                    lines.push(self.fact(world, &fact));
                }
            }
        }
        if !world.is_down(node) {
            lines.extend(self.locals(world, node));
        }
        let others = (0..self.run.names().nodes.len() as u16).map(ProcId);
        let cut: Vec<String> =
            others.filter(|other| world.is_cut(node, *other)).map(|o| self.label(o)).collect();
        if !cut.is_empty() {
            lines.push(("cut off from".into(), cut.join(", ")));
        }
        (lines, seats)
    }

    /// Where a client's main program is.
    fn place(&self, world: &World<Locks>, client: ProcId) -> String {
        let task = world.task(client, 0);
        let line = |pc: Pc| {
            let program = self.run.names().programs.get(usize::from(client.0))?.first()?;
            Some(format!("at {}", one_line(program.get(pc)?.trim())))
        };
        let here = match task {
            _ if world.is_down(client) => None,
            Some((TaskState::Idle | TaskState::Ended, _)) | None => None,
            Some((state, next)) => line_of(state, next).and_then(line),
        };
        here.unwrap_or_else(|| match task {
            _ if world.is_down(client) => "down".into(),
            Some((TaskState::Idle, _)) => "not begun".into(),
            _ => "over".into(),
        })
    }

    /// Neighbours in one breath, and what all are called but once: `Client 1, 4 to 9`.
    fn ranges(&self, clients: &[ProcId]) -> String {
        let row = |a: &ProcId, b: &ProcId| a.0 + 1 == b.0;
        let called = clients.first().map(|client| self.label(*client)).unwrap_or_default();
        let called = called.rsplit_once(' ').map_or("", |(kind, _)| kind);
        let own = |client: &ProcId| {
            let label = self.label(*client);
            let own = label.strip_prefix(called).map(|own| own.trim_start().to_string());
            own.unwrap_or(label)
        };
        let told = clients.chunk_by(row).map(|neighbours| match neighbours {
            [first, _, .., last] => format!("{} to {}", own(first), own(last)),
            few => few.iter().map(own).collect::<Vec<_>>().join(", "),
        });
        format!("{called} {}", told.collect::<Vec<_>>().join(", ")).trim_start().to_string()
    }

    /// Whether a fact is one: of a process that is dead only what it keeps.
    fn holds(&self, world: &World<Locks>, node: ProcId, fact: &Fact) -> bool {
        let kept = matches!(fact, Fact::Row { key, .. } if key[..] == [Piece::Word(ON_DISK)]);
        let stored = self.run.names().node(node).kind == NodeKind::Resource;
        kept || stored || !world.is_down(node)
    }

    /// What one of several servers has: there are many of them, so that what belongs together stands in
    /// one line, `Client A: 5736, 9.001 s left`.
    fn records(&self, world: &World<Locks>, node: ProcId) -> Vec<(String, String)> {
        let mut lines: Vec<(String, String)> = Vec::new();
        for fact in world.facts(node).into_iter().filter(|fact| self.holds(world, node, fact)) {
            match (&fact, lines.last_mut()) {
                (Fact::Row { key, value }, _) => {
                    let value = match value[..] {
                        [Piece::Client(client), .., Piece::Token(token)] => {
                            format!("{}: {}", self.label(client), self.figure(token))
                        }
                        _ => self.pieces(value),
                    };
                    lines.push((self.pieces(key), value));
                }
                (Fact::Ring { until: Some(until), .. }, Some(line)) => {
                    line.1 += &format!(", {} left", span(until.since(world.now())));
                }
                (fact, _) => lines.push(self.fact(world, fact)),
            }
        }
        lines
    }

    /// What each task of a client's program does; in its own words, or an observer's.
    pub fn doing(&self, world: &World<Locks>, node: ProcId, own: bool) -> Vec<(String, String)> {
        let tasks = self.run.names().tasks.get(usize::from(node.0)).map_or(&[][..], |t| &t[..]);
        let mut lines = Vec::new();
        for (index, name) in tasks.iter().enumerate() {
            let Some((state, pc)) = world.task(node, index) else { continue };
            let asleep = matches!(state, TaskState::Idle | TaskState::Ended);
            if world.is_down(node) || (index > 0 && asleep) {
                continue;
            }
            let key = if index == 0 { PROGRAM.into() } else { one_line(name) };
            let state = match state {
                // How long a piece of work will still take no program knows.
                TaskState::Working(..) if own => "works".into(),
                state => self.task_state(world, node, index, state, pc),
            };
            lines.push((key, state));
        }
        lines
    }

    fn task_state(
        &self,
        world: &World<Locks>,
        node: ProcId,
        task: usize,
        state: &TaskState,
        pc: Pc,
    ) -> String {
        let on_its_clock = |at: Local| {
            let sign = if at.0 < 0 { "-" } else { "" };
            format!("until {sign}{} by its own clock", moment(Micros(at.0.unsigned_abs())))
        };
        match state {
            TaskState::Idle => "has not begun".into(),
            TaskState::Ended => "is over".into(),
            TaskState::Ready => {
                let lines = self.run.names().programs.get(usize::from(node.0));
                let line = lines.and_then(|p| p.get(task)).and_then(|l| l.get(pc));
                line.map_or_else(|| "is at its end".into(), |l| format!("next: {}", one_line(l)))
            }
            TaskState::Working(left, since) => {
                let paused =
                    world.halt(node).is_some() || world.task_paused_until(node, task).is_some();
                let done = if paused { Micros::ZERO } else { world.now().since(*since) };
                format!("works, {} to go", span(left.since(done)))
            }
            TaskState::Sleeping(until) => format!("sleeps {}", on_its_clock(*until)),
            TaskState::Waiting(waiting) => {
                let (verb, on) = (waiting.verb, self.label(waiting.on));
                let until = waiting.until.map(on_its_clock);
                let until = until.map_or_else(String::new, |u| format!(", {u}"));
                format!("waits in {verb} for {on}{until}")
            }
        }
    }

    /// The locals that the client has learned something for.
    pub fn locals(&self, world: &World<Locks>, node: ProcId) -> Vec<(String, String)> {
        let learned = self.run.firsts.get(usize::from(node.0)).and_then(|f| f.learned);
        let learned = learned.is_some_and(|event| event.0 < world.events());
        let names = self.run.names().locals.get(usize::from(node.0));
        let values = world.locals(node);
        let named = names.into_iter().flatten().zip(values);
        // A local is 0 until something is read into it; before, there is nothing to know.
        let known = named.filter(|(_, value)| **value != 0 || learned);
        known.map(|(name, value)| (one_line(name), value.to_string())).collect()
    }

    fn pieces(&self, pieces: &[Piece]) -> String {
        let alone = pieces.len() == 1;
        let words: Vec<String> = pieces
            .iter()
            .map(|piece| match piece {
                Piece::Word(word) => (*word).to_string(),
                Piece::Lock(lock) => self.short_lock(*lock),
                Piece::Client(client) => self.label(*client),
                Piece::Cell(cell) => one_line(self.run.names().cell(*cell)),
                Piece::Token(token) if alone => self.with_number(self.figure(*token), token.0),
                Piece::Token(token) => self.token(*token),
                Piece::Number(number) => number.to_string(),
                Piece::Change(number) => change(self.run.names(), *number),
                Piece::Span(d) => span(*d),
                Piece::Moment(at) => moment(*at),
            })
            .collect();
        words.join(" ")
    }

    /// A token beside nothing else, and the number itself where it is written in another way.
    fn with_number(&self, figure: String, number: u64) -> String {
        match self.run.names().figures {
            Figures::Pair => format!("{figure} = {number}"),
            _ => figure,
        }
    }

    /// `deadline`, and of which lock where there are several.
    pub fn deadline_of(&self, lock: LockId) -> String {
        if self.run.names().locks.len() < 2 {
            return "deadline".into();
        }
        format!("deadline of {}", self.short_lock(lock))
    }

    /// A lock as a key: its name alone, or `lock` where there is only one.
    fn short_lock(&self, lock: LockId) -> String {
        if self.run.names().locks.len() < 2 {
            return "the lock".into();
        }
        one_line(self.run.names().lock(lock))
    }

    pub fn fact(&self, world: &World<Locks>, fact: &Fact) -> (String, String) {
        match fact {
            Fact::Row { key, value } => {
                let words = self.pieces(value);
                let value = match value[..] {
                    // A server's own is written in full, as its tools print it.
                    [Piece::Word(_), Piece::Change(number)] => format!("{words} = {}", hex(number)),
                    _ => words,
                };
                (self.pieces(key), value)
            }
            Fact::Gauge { label, value, most } => {
                ((*label).to_string(), format!("{value} of {most}"))
            }
            Fact::Ring { lock, until, .. } => {
                let value = match until.map(|until| (until, until.since(world.now()))) {
                    None => "not while its clock stands still".to_string(),
                    // A deadline that has passed is shown as now: when it was is not in the fact.
                    Some((_, Micros::ZERO)) => "over".to_string(),
                    Some((until, left)) => format!("{}, {} left", moment(until), span(left)),
                };
                (self.deadline_of(*lock), value)
            }
            Fact::Ticks { label, answers } => {
                let yes = answers.iter().filter(|a| **a == Some(true)).count();
                let marks = answers.iter().map(|a| match a {
                    Some(true) => "yes",
                    Some(false) => "no",
                    None => "no answer",
                });
                let marks: Vec<&str> = marks.collect();
                ((*label).to_string(), format!("{yes} of {}: {}", answers.len(), marks.join(", ")))
            }
            Fact::Queue { lock, waiting } => {
                let who: Vec<String> = waiting.iter().map(|p| self.label(*p)).collect();
                (format!("waiting for {}", self.short_lock(*lock)), who.join(", then "))
            }
            Fact::Watch { watcher, of } => {
                // A server stands for what all the queue hangs on.
                let whole = self.run.names().node(*of).kind == NodeKind::Service;
                let of = if whole { "the parent".into() } else { self.label(*of) };
                (format!("{} watches", self.label(*watcher)), of)
            }
            Fact::Seat { client, name, holds, .. } => {
                let holds = if *holds { ", holds the lock" } else { "" };
                (one_line(name), format!("{}{holds}", self.label(*client)))
            }
            Fact::Session { client, which, until, span, rounded } => {
                let key = self.session_of(*client, *which, last_of(world));
                let Some(until) = until else {
                    return (key, "lasts while its clock stands still".to_string());
                };
                let left = until.since(world.now());
                self.session(key, (moment(*until), left), (*span, *rounded))
            }
            Fact::Clock { ahead_us } => {
                let way = if *ahead_us < 0 { "behind" } else { "ahead" };
                ("clock".into(), format!("{} {way}", span(Micros(ahead_us.unsigned_abs()))))
            }
        }
    }

    /// Who believes that they hold a lock.
    fn beliefs(&self, world: &World<Locks>, lock: LockId, last: EventId) -> Vec<String> {
        let open = self.open_at(IntervalKind::Belief, last);
        let open = open.filter(|i| i.lock == lock && i.ended != Some(last));
        open.map(|i| {
            let halt = world.halt(i.client);
            let paused = halt.map_or_else(String::new, |(how, _)| format!(", {},", stopped(how)));
            let what = match self.token_at(i.grant, last) {
                Some(token) => self.token(token),
                None => self.lock(lock),
            };
            format!("{}{paused} believes it holds {what}", self.label(i.client))
        })
        .collect()
    }

    /// Whether a node is dead once an event has happened.
    pub fn down_at(&self, node: ProcId, last: EventId) -> bool {
        let events = self.run.record.events.iter().take(last.0 as usize + 1);
        let turns = events.filter(|e| e.node == node);
        turns.rev().find_map(|e| match e.what {
            What::Crash(_) => Some(true),
            What::Restart => Some(false),
            _ => None,
        }) == Some(true)
    }

    /// Who holds a lock by the word of the service.
    fn truths(&self, world: &World<Locks>, lock: LockId, last: EventId) -> String {
        let mut services = self.run.names().of_kind(NodeKind::Service).peekable();
        if services.peek().is_some() && services.all(|p| world.is_down(p)) {
            return format!("{} is down", self.service());
        }
        let open = self.open_at(IntervalKind::Truth, last);
        let open = open.filter(|i| i.lock == lock && i.ended != Some(last));
        let holders: Vec<String> = open
            .map(|i| {
                let token = self.token_at(i.grant, last);
                let what = token.map_or_else(|| self.lock(lock), |t| self.token(t));
                format!("{} holds {what}", self.label(i.client))
            })
            .collect();
        if holders.is_empty() {
            return format!("{} says {} is free", self.service(), self.lock(lock));
        }
        format!("{} says {}", self.service(), and(&holders))
    }

    /// The highest token that a resource has seen; where it looks at none, what its cells hold.
    fn seen(&self, world: &World<Locks>, node: ProcId) -> Option<String> {
        let facts = world.facts(node);
        let token = facts.iter().find_map(|fact| match fact {
            Fact::Row { value, .. } => match value[..] {
                [Piece::Token(token)] => Some(token),
                _ => None,
            },
            _ => None,
        });
        let who = self.label(node);
        if let Some(token) = token {
            return Some(format!("{who} has seen {}", self.token(token)));
        }
        let cells: Vec<String> = facts
            .iter()
            .filter_map(|fact| match fact {
                Fact::Row { key, value } => match (&key[..], &value[..]) {
                    ([Piece::Cell(_)], [Piece::Number(n)]) => {
                        Some(format!("{} = {n}", self.pieces(key)))
                    }
                    _ => None,
                },
                _ => None,
            })
            .take(3)
            .collect();
        (!cells.is_empty()).then(|| format!("{who} holds {}", and(&cells)))
    }
}
