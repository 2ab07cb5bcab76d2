//! A run as a Mermaid sequence diagram.
//!
//! Mermaid has no slanted arrows, so one moment must stand for a message's two. An arrow stands
//! where its message arrives or is lost, and everything else where it happens: whoever reads
//! downwards reads the order in which the nodes learned and acted, and a write that was sent early
//! and arrived late stands late.

use super::teller::Teller;
use super::words::{and, capital, count, one_line, span};
use crate::judge::{
    Ask, BeliefEnd, Finding, IntervalKind, LockId, SessionState, Testimony, TruthEnd,
};
use crate::run::{NodeKind, Run};
use crate::sim::{EventId, Halt, Micros, MsgId, ProcId, Table, What, sort};

/// The run as a Mermaid sequence diagram: participants in lane order, requests as solid arrows,
/// answers dashed, what was lost with a cross, everything else as notes.
pub fn mermaid(run: &Run) -> String {
    let teller = Teller { run };
    let mut sketch = Sketch::new(teller);
    for index in 0..run.record.events.len() as u32 {
        sketch.event(EventId(index));
    }
    sketch.still_on_the_way();
    let mut text = "sequenceDiagram\n".to_string();
    for (lane, node) in run.names().nodes.iter().enumerate() {
        let id = sketch.id(ProcId(lane as u16));
        text.push_str(&format!("    participant {id} as {}\n", escape(&node.label)));
    }
    for line in folded(sketch.lines) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// Words that mean something to Mermaid at the beginning of a line.
const RESERVED: &[&str] = &[
    "activate",
    "actor",
    "alt",
    "and",
    "as",
    "autonumber",
    "box",
    "break",
    "create",
    "critical",
    "deactivate",
    "destroy",
    "else",
    "end",
    "left",
    "link",
    "links",
    "loop",
    "note",
    "opt",
    "option",
    "over",
    "par",
    "participant",
    "rect",
    "right",
    "title",
];

/// Text for a label: characters that Mermaid or a browser would take for their own become entities.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in one_line(text).chars() {
        if "#;<>&%$\"`\\{}".contains(c) {
            out.push_str(&format!("#{};", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    out.trim().to_string()
}

/// A line of the diagram; arrows may fold into loops.
#[derive(Clone, PartialEq, Eq)]
enum Line {
    Arrow(String),
    Note(String),
}

/// Requests that were repeated with the same answer become one loop.
fn folded(lines: Vec<Line>) -> Vec<String> {
    let pair = |i: usize| match lines.get(i..i + 2) {
        Some([Line::Arrow(a), Line::Arrow(b)]) => Some((a, b)),
        _ => None,
    };
    let mut out = Vec::new();
    let mut i = 0;
    while i < lines.len() {
        let first = pair(i);
        let mut times = 1;
        while first.is_some() && pair(i + 2 * times) == first {
            times += 1;
        }
        match (first, &lines[i]) {
            (Some((a, b)), _) if times > 1 => {
                out.push(format!("    loop {times} times"));
                out.extend([format!("        {a}"), format!("        {b}"), "    end".into()]);
                i += 2 * times;
            }
            (_, Line::Arrow(line) | Line::Note(line)) => {
                out.push(format!("    {line}"));
                i += 1;
            }
        }
    }
    out
}

/// Who leads from the start is nothing that happens.
fn is_at_the_start(run: &Run, id: EventId) -> bool {
    run.record.event(id).at == Micros::ZERO
}

struct Sketch<'r> {
    teller: Teller<'r>,
    lines: Vec<Line>,
    /// Messages of writes that came late.
    late: Vec<MsgId>,
    /// `lease` where grants end by time, otherwise `lock`.
    thing: String,
    /// For each message that asks, the grant that answers it.
    granted: Table<(ProcId, ProcId, u64), EventId>,
}

impl<'r> Sketch<'r> {
    fn new(teller: Teller<'r>) -> Sketch<'r> {
        let run = teller.run;
        let late = run.judgement.findings.iter().filter_map(|f| {
            let late = matches!(f, Finding::StaleAccepted { .. } | Finding::StaleRejected { .. });
            match run.record.event(f.event()).note() {
                Some(Testimony::Accept(_, _, _, msg)) if late => Some(*msg),
                Some(Testimony::Reject(_, Some((_, msg)), _)) if late => Some(*msg),
                _ => None,
            }
        });
        let ends_by_time = |e: &crate::sim::Event<Testimony>| {
            matches!(e.note(), Some(Testimony::Grant { term: Some(_), .. }))
        };
        let by_time = run.record.events.iter().any(ends_by_time);
        let mut sketch = Sketch {
            teller,
            lines: Vec::new(),
            late: late.collect(),
            thing: (if by_time { "Lease" } else { "Lock" }).to_ascii_lowercase(),
            granted: Default::default(),
        };
        for (index, message) in run.record.messages.iter().enumerate() {
            if let Some((grant, Testimony::Grant { .. })) = sketch.because(MsgId(index as u32)) {
                let key = (message.to, message.from, message.body.request);
                sketch.granted.insert(key, grant);
            }
        }
        sketch
    }

    /// A participant's name in the source of the diagram.
    fn id(&self, node: ProcId) -> String {
        let nodes = &self.teller.run.names().nodes;
        let id = nodes.get(usize::from(node.0)).map_or("x", |n| n.id.as_str());
        let safe: String =
            id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        if RESERVED.contains(&safe.as_str()) { format!("{safe}_") } else { safe }
    }

    fn note(&mut self, over: &[ProcId], text: &str) {
        let mut lanes = over.to_vec();
        sort(&mut lanes);
        let place = match lanes[..] {
            [] => return,
            [one] => self.id(one),
            [first, .., last] => format!("{},{}", self.id(first), self.id(last)),
        };
        self.lines.push(Line::Note(format!("Note over {place}: {}", escape(text))));
    }

    fn self_arrow(&mut self, node: ProcId, text: &str) {
        let id = self.id(node);
        self.lines.push(Line::Note(format!("{id}->>{id}: {}", escape(text))));
    }

    fn event(&mut self, id: EventId) {
        let event = self.teller.run.record.event(id);
        let node = event.node;
        match &event.what {
            What::Deliver(msg) => self.arrow(*msg, false),
            What::Lose(msg) => self.arrow(*msg, true),
            What::Halt(how, d) => self.pause(id, node, *how, *d),
            What::Resume => {
                let still = self.teller.still_believes(id, node);
                let still =
                    if still.is_empty() { "" } else { ", still believes that it holds the lock" };
                self.note(&[node], &format!("Goes on{still}"));
            }
            What::Crash(_) => self.note(&[node], "Crashes"),
            What::Restart => {
                let text = format!("Starts again.{}", self.teller.forgotten(id));
                self.note(&[node], text.trim_end_matches('.'));
            }
            What::Cut(to) | What::Heal(to) => self.plain(id, &[node, *to]),
            What::PauseTask(..)
            | What::ResumeTask(_)
            | What::ClockStep(_)
            | What::ClockRate(_)
            | What::Limit(_) => self.plain(id, &[node]),
            What::Set(_) => {
                let last = self.teller.run.names().nodes.len().saturating_sub(1);
                self.plain(id, &[ProcId(0), ProcId(last as u16)]);
            }
            What::Note(note) => self.testimony(id, node, note),
            _ => {}
        }
        self.harm(id, node);
    }

    /// The event's own sentence as a note.
    fn plain(&mut self, id: EventId, over: &[ProcId]) {
        let text = super::sentence(self.teller.run, id);
        self.note(over, text.trim_end_matches('.'));
    }

    fn pause(&mut self, id: EventId, node: ProcId, halt: Halt, d: Micros) {
        let run = self.teller.run;
        let resumes = run.record.event(id).at.plus(d);
        let mut truths = self.teller.open_at(IntervalKind::Truth, id);
        let outlasts = truths.any(|i| i.client == node && !i.open && i.to < resumes);
        let thing = &self.thing;
        let how = if outlasts { format!(", longer than its {thing} lasts") } else { String::new() };
        let stopped = capital(super::words::stopped(halt));
        self.self_arrow(node, &format!("{stopped} for {}{how}", span(d)));
    }

    fn testimony(&mut self, id: EventId, node: ProcId, note: &Testimony) {
        match note {
            Testimony::Free(_, TruthEnd::Released) => {}
            Testimony::Free(grant, TruthEnd::Expired(_)) => {
                let who =
                    self.teller.holder(*grant).map_or_else(String::new, |p| self.teller.label(p));
                let (what, token) = (capital(&self.thing), self.teller.bracket(*grant, id));
                self.self_arrow(node, &format!("{what} of {who} expires{token}"));
            }
            Testimony::Free(..) => {
                let text = super::sentence(self.teller.run, id);
                self.self_arrow(node, text.trim_end_matches('.'));
            }
            Testimony::Hand(..)
            | Testimony::Admit(..)
            | Testimony::Void(..)
            | Testimony::Lead(_)
            | Testimony::Evict(_) => {
                self.plain(id, &[node]);
            }
            Testimony::Believe(..) => self.overlap(id),
            Testimony::Decide(_, ballot) => {
                let [yes, _, of] = ballot.counts();
                self.note(&[node], &format!("Logged by {yes} of {of}"));
            }
            Testimony::Stand(_) if is_at_the_start(self.teller.run, id) => {}
            Testimony::Stand(_)
            | Testimony::Lapse { .. }
            | Testimony::Session(SessionState::Unsure | SessionState::Over) => {
                self.plain(id, &[node]);
            }
            Testimony::Doubt(_, BeliefEnd::Refused | BeliefEnd::Notice) => {
                self.note(&[node], "Learns that it no longer holds the lock");
            }
            Testimony::Doubt(_, BeliefEnd::Deadline) => {
                self.note(&[node], "Finds its own deadline passed");
            }
            Testimony::Doubt(_, BeliefEnd::GivenUp) => {
                self.note(&[node], "Declares the lock lost");
            }
            _ => {}
        }
    }

    fn overlap(&mut self, id: EventId) {
        let run = self.teller.run;
        let found = self.teller.found_at(id).iter().find_map(|f| match f {
            Finding::Overlap { lock, from, to, .. } => Some((*lock, to.since(*from))),
            _ => None,
        });
        let Some((lock, d)) = found else { return };
        let believers = self.teller.open_at(IntervalKind::Belief, id).filter(|i| i.lock == lock);
        let mut who: Vec<ProcId> =
            believers.filter(|i| i.ended != Some(id)).map(|i| i.client).collect();
        sort(&mut who);
        who.dedup();
        let labels: Vec<String> = who.iter().map(|p| self.teller.label(*p)).collect();
        let many = if who.len() == 2 { "Both".to_string() } else { capital(&count(who.len())) };
        let both = if run.names().nodes.len() > 2 && who.len() > 2 { and(&labels) } else { many };
        let lock = self.teller.lock(lock);
        self.note(&who, &format!("{both} believe they hold {lock}, for {}", span(d)));
    }

    /// Harm that shows at an event, as a note over the resource.
    fn harm(&mut self, id: EventId, node: ProcId) {
        let found = self.teller.found_at(id);
        let corrupted = found.iter().any(|f| matches!(f, Finding::Corruption { .. }));
        let lost = found.iter().any(|f| matches!(f, Finding::LostUpdate { .. }));
        let texts: Vec<String> = found
            .iter()
            .filter_map(|f| match f {
                Finding::LostUpdate { lost, .. } => {
                    let word = if corrupted { "Corrupted" } else { "Update lost" };
                    let text = self.teller.replaced(id, *lost).replacen("It ", "it ", 1);
                    Some(format!("{word}: {}", text.trim_end_matches('.')))
                }
                Finding::Corruption { .. } if lost => None,
                Finding::Corruption { .. } => {
                    Some("Corrupted: no order of whole sections explains this".into())
                }
                Finding::Torn { .. }
                | Finding::InvariantBroken { .. }
                | Finding::Duplicate { .. } => self.teller.alone(f),
                _ => None,
            })
            .collect();
        let names = self.teller.run.names();
        let is_resource =
            names.nodes.get(usize::from(node.0)).is_some_and(|n| n.kind == NodeKind::Resource);
        let resource = names.of_kind(NodeKind::Resource).next();
        let place = if is_resource { node } else { resource.unwrap_or(node) };
        for text in texts {
            self.note(&[place], text.trim_end_matches('.'));
        }
    }

    /// What says only that its sender is there; what the servers say about a change, which one note sums
    /// up; and what comes too late for a client whose program has ended.
    fn chatter(&self, msg: MsgId, lost: bool) -> bool {
        let (run, info) = (self.teller.run, self.teller.run.record.message(msg));
        let traffic = &run.names().traffic;
        if !run.names().led() {
            return false;
        }
        let events = &run.record.events;
        let ended = || events.iter().any(|e| e.node == info.to && matches!(e.what, What::End(0)));
        let answered = || {
            let sent = run.record.event(run.record.sending(msg));
            let asked = sent.causes.iter().next().and_then(|c| run.record.event(c).message());
            asked.map(|asked| run.record.message(asked).body.name)
        };
        let beat = |name: &str| traffic.beats.contains(&name);
        let round = traffic.round.is_some_and(|round| round.contains(&info.body.name));
        match lost {
            true => ended(),
            false => round || beat(info.body.name) || answered().is_some_and(beat),
        }
    }

    fn arrow(&mut self, msg: MsgId, lost: bool) {
        if self.chatter(msg, lost) {
            return;
        }
        let info = self.teller.run.record.message(msg);
        let (from, to) = (self.id(info.from), self.id(info.to));
        let answer = self.teller.is_answer(msg);
        let line = if answer { "--" } else { "-" };
        let head = if lost { "x" } else { ">>" };
        let label = escape(&self.label(msg));
        let gone = if lost { " (lost)" } else { "" };
        self.lines.push(Line::Arrow(format!("{from}{line}{head}{to}: {label}{gone}")));
    }

    /// What an answer was sent for: the note that its sender made just before.
    fn because(&self, msg: MsgId) -> Option<(EventId, &'r Testimony)> {
        let record = &self.teller.run.record;
        let sent = record.event(record.sending(msg));
        let cause = sent.causes.iter().next().filter(|_| self.teller.is_answer(msg))?;
        Some((cause, record.event(cause).note()?))
    }

    fn label(&self, msg: MsgId) -> String {
        let record = &self.teller.run.record;
        let info = record.message(msg);
        if let Some((id, note)) = self.because(msg)
            && let Some(label) = self.answer(id, note)
        {
            return label;
        }
        let asked =
            record.event(record.sending(msg)).note().and_then(|note| self.request(msg, note));
        asked.unwrap_or_else(|| capital(info.body.name))
    }

    /// ` on orders` where there are several locks.
    fn on(&self, lock: LockId) -> String {
        let names = self.teller.run.names();
        let several = names.locks.len() > 1;
        if several { format!(" on {}", names.lock(lock)) } else { String::new() }
    }

    fn request(&self, msg: MsgId, note: &Testimony) -> Option<String> {
        let info = self.teller.run.record.message(msg);
        let thing = &self.thing;
        match note {
            Testimony::Ask { lock, ask, .. } => {
                let on = self.on(*lock);
                Some(match ask {
                    Ask::Acquire => {
                        let key = (info.from, info.to, info.body.request);
                        let grant = self.granted.get(&key).copied();
                        let token = grant.map(|g| self.teller.bracket(crate::judge::Grant(g), g));
                        format!("Acquire {thing}{on}{}", token.unwrap_or_default())
                    }
                    Ask::Renew => format!("Renew {thing}{on}"),
                    Ask::Release => format!("Release {thing}{on}"),
                    Ask::Token => format!("Fetch a token{on}"),
                    Ask::Holder => format!("Who holds {thing}{on}?"),
                    Ask::Enter => format!("Queue up{on}"),
                    Ask::List => format!("Who is in the queue{on}?"),
                    Ask::Watch => format!("Tell me when the one before me is gone{on}"),
                    Ask::WatchAll => format!("Tell me when the queue changes{on}"),
                    Ask::Find => format!("Do I have a place{on}?"),
                })
            }
            Testimony::Read(op) => Some(format!("Read {}", self.teller.run.names().cell(op.cell))),
            Testimony::Claim(op) => Some(format!("Claim{}", self.teller.carried(op))),
            Testimony::Forward(op, Some((write, _))) => {
                let what = self.teller.assignment(op, write.value);
                Some(format!("Pass on: write {what}{}", self.teller.carried(op)))
            }
            Testimony::Forward(op, None) => {
                let cell = self.teller.run.names().cell(op.cell);
                Some(format!("Pass on: read {cell}"))
            }
            Testimony::Inquire(_, token) => {
                Some(format!("Does token {} hold?", self.teller.figure(*token)))
            }
            Testimony::Write(op, write) => {
                let what = self.teller.assignment(op, write.value);
                let late = self.late.contains(&msg);
                let token = match op.token {
                    Some(token) if late => {
                        format!(" with stale token {}", self.teller.figure(token))
                    }
                    Some(token) => format!(" with token {}", self.teller.figure(token)),
                    None => String::new(),
                };
                Some(format!("{} {what}{token}", if late { "Delayed write" } else { "Write" }))
            }
            _ => None,
        }
    }

    fn answer(&self, id: EventId, note: &Testimony) -> Option<String> {
        let thing = capital(&self.thing);
        Some(match note {
            Testimony::Grant { lock, .. } => {
                let token = self.teller.bracket(crate::judge::Grant(id), id);
                format!("{thing}{} granted{token}", self.on(*lock))
            }
            Testimony::Extend(grant, ..) => {
                format!("{thing} renewed{}", self.teller.bracket(*grant, id))
            }
            Testimony::Refuse(..) => "Refused".into(),
            Testimony::Queue(..) => "Queued".into(),
            Testimony::Free(_, TruthEnd::Released) => "Released".into(),
            Testimony::Mint(_, token) => capital(&self.teller.token(*token)),
            Testimony::Serve(op, _, value) => self.teller.assignment(op, *value),
            Testimony::Mark(op) => format!("Claim taken{}", self.teller.carried(op)),
            Testimony::Accept(op, ..) => format!("Accepted{}", self.teller.carried(op)),
            Testimony::Reject(op, _, why) => {
                format!("Rejected: {}", self.teller.reason(op, *why))
            }
            _ => return None,
        })
    }

    /// Messages that the end of the run cut off.
    fn still_on_the_way(&mut self) {
        for index in 0..self.teller.run.record.messages.len() as u32 {
            let info = self.teller.run.record.message(MsgId(index));
            if info.delivered.is_none() && info.lost.is_none() {
                let text = format!("Still on the way at the end: {}", self.label(MsgId(index)));
                self.note(&[info.from, info.to], &text);
            }
        }
    }
}
