//! What all sentences look up: labels, who held and who believed at an event, operations in words.

use super::words::{figure, one_line, span};
use crate::judge::{
    Finding, Grant, Interval, IntervalKind, LockId, Operation, Rejection, Section, Testimony,
    Token, Unmet, Write,
};
use crate::run::{NodeKind, Run, kind};
use crate::sim::{EventId, Micros, ProcId, sort};
use crate::systems::UNORDERED;

/// Looks things up in a run. It holds nothing of its own, so that one sentence costs one sentence.
#[derive(Clone, Copy)]
pub(super) struct Teller<'r> {
    pub run: &'r Run,
}

impl<'r> Teller<'r> {
    /// What a node is called.
    pub fn label(&self, node: ProcId) -> String {
        let nodes = &self.run.names().nodes;
        nodes.get(usize::from(node.0)).map_or_else(|| "?".into(), |n| one_line(&n.label))
    }

    /// `Client A's`.
    pub fn whose(&self, node: ProcId) -> String {
        format!("{}'s", self.label(node))
    }

    /// `the lock`, and its name only where there are several.
    pub fn lock(&self, lock: LockId) -> String {
        let names = self.run.names();
        if names.locks.len() < 2 {
            return "the lock".into();
        }
        format!("the lock {}", one_line(names.lock(lock)))
    }

    /// The service where a sentence needs one as a whole: its only server, or all of them.
    pub fn service(&self) -> String {
        let mut servers = self.run.names().of_kind(NodeKind::Service);
        match (servers.next(), servers.next()) {
            (Some(only), None) => self.label(only),
            _ => "the lock service".into(),
        }
    }

    /// `generation 41`, in the field's own word for this system's tokens.
    pub fn token(&self, token: Token) -> String {
        format!("{} {}", self.run.names().token_word, self.figure(token))
    }

    /// `41`: a token alone.
    pub fn figure(&self, token: Token) -> String {
        figure(self.run.names(), token)
    }

    /// The note of the event in which a grant was made.
    fn granted(&self, grant: Grant) -> Option<&'r Testimony> {
        self.run.record.events.get(grant.0.0 as usize)?.note()
    }

    /// For how long a grant was given, if it ends by time.
    pub fn term(&self, grant: Grant) -> Option<Micros> {
        match self.granted(grant)? {
            Testimony::Grant { term, .. } => *term,
            _ => None,
        }
    }

    /// The token that a grant has at an event; it may get one later than itself.
    pub fn token_at(&self, grant: Grant, id: EventId) -> Option<Token> {
        match self.granted(grant)? {
            Testimony::Grant { token: Some(token), .. } => Some(*token),
            _ => self.events_to(id).find_map(|e| match e.note() {
                Some(Testimony::Mint(of, token)) if *of == grant => Some(*token),
                _ => None,
            }),
        }
    }

    /// ` (generation 41)`, or nothing for a grant that has no token at that event.
    pub fn bracket(&self, grant: Grant, id: EventId) -> String {
        self.token_at(grant, id).map_or_else(String::new, |t| format!(" ({})", self.token(t)))
    }

    /// The events up to this one, the latest first.
    pub fn events_to(
        &self,
        id: EventId,
    ) -> impl Iterator<Item = &'r crate::sim::Event<Testimony>> + 'r {
        let events = &self.run.record.events;
        events[..events.len().min(id.0 as usize + 1)].iter().rev()
    }

    /// The intervals of one kind that are open at an event; one that ends there still is, unless
    /// it had run out before and was only noticed there.
    pub fn open_at(
        &self,
        kind: IntervalKind,
        id: EventId,
    ) -> impl Iterator<Item = &'r Interval> + 'r {
        let intervals = self.run.judgement.intervals.iter();
        intervals
            .filter(move |i| i.kind == kind && i.began <= id && i.ended.is_none_or(|end| end >= id))
    }

    /// The belief in a grant that is open at an event.
    pub fn believes(&self, grant: Grant, id: EventId) -> bool {
        self.open_at(IntervalKind::Belief, id).any(|i| i.grant == grant && i.ended != Some(id))
    }

    /// The lock's truth that was open just before an event, of somebody else than `client`.
    pub fn other_holder(&self, lock: LockId, client: ProcId, id: EventId) -> Option<&'r Interval> {
        let mut truths = self.open_at(IntervalKind::Truth, id);
        truths.find(|i| i.lock == lock && i.client != client && i.began < id)
    }

    /// The interval of one kind of a grant.
    pub fn interval(&self, kind: IntervalKind, grant: Grant) -> Option<&'r Interval> {
        self.run.judgement.intervals.iter().find(|i| i.kind == kind && i.grant == grant)
    }

    /// The newest grant that conflicts with the operation's own and was made before an event.
    pub fn newer_grant(&self, op: &Operation, id: EventId) -> Option<&'r Interval> {
        let own = self.interval(IntervalKind::Truth, op.grant?)?;
        let truths = self.run.judgement.intervals.iter();
        let newer = truths.filter(|i| {
            i.kind == IntervalKind::Truth
                && i.lock == own.lock
                && i.client != own.client
                && i.mode.conflicts(own.mode)
                && i.ordinal > own.ordinal
                && i.began < id
        });
        newer.max_by_key(|i| i.ordinal)
    }

    /// The value of a setting at an event, edits included.
    pub fn setting(&self, key: &str, id: EventId) -> String {
        self.run.setting(key, id)
    }

    /// `balance = 90`.
    pub fn assignment(&self, op: &Operation, value: i64) -> String {
        format!("{} = {value}", one_line(self.run.names().cell(op.cell)))
    }

    /// ` (token 41)`, or nothing for an operation without one.
    pub fn carried(&self, op: &Operation) -> String {
        op.token
            .map_or_else(String::new, |t| format!(" ({} {})", self.number_word(), self.figure(t)))
    }

    /// What the number is called that an operation carries: what has no order is no token.
    pub fn number_word(&self) -> &'static str {
        let word = self.run.names().token_word;
        if word == UNORDERED { word } else { "token" }
    }

    /// What a write is called that comes under a newer grant: *late*, unless its holder was in time and
    /// the service had not kept its promise.
    pub fn overtaken(&self, op: &Operation) -> &'static str {
        let of = |finding: &Finding| match finding {
            Finding::Broken { grant, .. } => Some((*grant, false)),
            Finding::Outlived { grant, .. } => Some((*grant, true)),
            _ => None,
        };
        let findings = self.run.judgement.findings.iter().filter_map(of);
        let mut kinds = findings.filter(|f| Some(f.0) == op.grant).map(|f| f.1).peekable();
        if kinds.peek().is_some() && kinds.all(|outlived| !outlived) { "stale" } else { "late" }
    }

    /// `Client A's late write balance = 90 (token 41)`.
    pub fn write(&self, op: &Operation, write: &Write, late: bool) -> String {
        let (whose, what) = (self.whose(op.section.client), self.assignment(op, write.value));
        let late = if late { format!("{} ", self.overtaken(op)) } else { String::new() };
        format!("{whose} {late}write {what}{}", self.carried(op))
    }

    /// An event that is an operation at the resource, in words: `Client A's late write x = 1`.
    pub fn operation(&self, id: EventId, late: bool) -> Option<String> {
        match self.run.record.events.get(id.0 as usize)?.note()? {
            Testimony::Accept(op, write, ..) | Testimony::Reject(op, Some((write, _)), _) => {
                Some(self.write(op, write, late))
            }
            Testimony::Mark(op) | Testimony::Reject(op, None, _) if op.claims => {
                Some(format!("{} claim{}", self.whose(op.section.client), self.carried(op)))
            }
            Testimony::Serve(op, ..) | Testimony::Reject(op, None, _) => {
                let cell = one_line(self.run.names().cell(op.cell));
                Some(format!("{} read of {cell}", self.whose(op.section.client)))
            }
            Testimony::Learn(served) => self.operation(*served, late),
            _ => None,
        }
    }

    /// Why a resource refuses: `token 41 is lower than 42`.
    pub fn reason(&self, op: &Operation, why: Rejection) -> String {
        let cell = one_line(self.run.names().cell(op.cell));
        let token = op.token.map_or_else(|| "0".into(), |t| self.figure(t));
        match why {
            Rejection::Lower(highest) => {
                let whose = self.mark_of_another(op, highest);
                format!("token {token} is lower than {}{whose}", self.figure(highest))
            }
            Rejection::Again(_) => format!("token {token} was used before"),
            Rejection::Version | Rejection::Unmet(Unmet::Version) => {
                format!("{cell} has changed since its client read it")
            }
            Rejection::Unread => format!("its client has not read {cell}"),
            Rejection::Missing => "it carries no token".into(),
            Rejection::Unclaimed => format!("no claim with token {token} stands"),
            Rejection::NotHolder => {
                format!("{} says that token {token} holds nothing", self.service())
            }
            Rejection::Unasked => format!("{} does not answer", self.service()),
            Rejection::Unmet(Unmet::Fresh) => format!("{cell} was written before"),
            Rejection::Unmet(Unmet::Cells) => "its condition does not hold".into(),
        }
    }

    /// How long before `at` a moment was: `3.15 s ago`, or `just now`.
    pub fn ago(&self, then: Micros, at: Micros) -> String {
        if at > then { format!("{} ago", span(at.since(then))) } else { "just now".into() }
    }

    /// Which cells of a section were written, and which were sent a write that never came through.
    pub fn parts(&self, section: Section, id: EventId) -> (Vec<String>, Vec<String>) {
        let (mut applied, mut sent) = (Vec::new(), Vec::new());
        for event in self.events_to(id) {
            match event.note() {
                Some(Testimony::Accept(op, write, ..)) if op.section == section => {
                    applied.push((write.number, op.cell));
                }
                Some(Testimony::Write(op, write)) if op.section == section => {
                    sent.push((write.number, op.cell));
                }
                _ => {}
            }
        }
        let missing = sent.into_iter().filter(|s| !applied.iter().any(|a| a.0 == s.0)).collect();
        (self.cells(applied), self.cells(missing))
    }

    /// The cells of some writes in the order of the writes, each once.
    fn cells(&self, mut writes: Vec<(u32, crate::judge::CellId)>) -> Vec<String> {
        sort(&mut writes);
        let mut cells: Vec<String> = Vec::new();
        for (_, cell) in writes {
            let name = one_line(self.run.names().cell(cell));
            if !cells.contains(&name) {
                cells.push(name);
            }
        }
        cells
    }

    /// The client that an event is about, where it is another node than the event's own.
    pub fn client(&self, id: EventId) -> Option<ProcId> {
        kind::client(&self.run.record, self.run.record.event(id))
    }
}
