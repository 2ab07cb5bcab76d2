//! The verdict of a run in one sentence.

use super::teller::Teller;
use super::words::{and, capital, count, one_line, span};
use crate::judge::{Ask, Finding, LockId, Mode, Section, Testimony, Verdict};
use crate::run::{NodeKind, Run};
use crate::sim::{Event, EventId, Micros, ProcId, Set, What, sort};

/// How a verdict feels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tone {
    /// Nothing happened.
    Calm,
    /// It could have done harm and did not.
    Near,
    /// The resource was harmed.
    Harm,
    /// A late write was rejected.
    Fenced,
}

/// The verdict in one sentence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Headline {
    /// How it feels.
    pub tone: Tone,
    /// One word or a few, with a full stop: `Corrupted.`
    pub word: String,
    /// What happened.
    pub rest: String,
}

/// The verdict in one sentence: harm first, then what came close to it, then what was prevented.
pub fn headline(run: &Run) -> Headline {
    let teller = Teller { run };
    let verdict = &run.judgement.verdict;
    let (tone, mut word, what) = teller.harm().unwrap_or_else(|| teller.no_harm(verdict));
    let said = [teller.service_fault(), teller.overlap(), Some(what)];
    let said: Vec<String> = said.into_iter().flatten().filter(|s| !s.is_empty()).collect();
    let mut rest = format!("{}.", capital(&said.join("; ")));
    if let Some(ended) = teller.ended_early() {
        rest.push_str(&ended);
        word = match word {
            "Safe." => "Safe so far.",
            "Harmless." => "Harmless so far.",
            other => other,
        };
    }
    if verdict.invariant_judged == Some(0) {
        let began = |e: &Event<Testimony>| matches!(e.note(), Some(Testimony::Begin(_)));
        let why = if run.record.events.iter().any(began) {
            "not every section was over"
        } else {
            "no section ever began"
        };
        rest.push_str(&format!(" The invariant was never judged: {why}."));
        if word == "Safe." {
            word = "Safe so far.";
        }
    }
    if teller.nobody_left() && tone == Tone::Calm {
        // Whoever does nothing does no harm: that is not what safe means.
        rest.push_str(" But every client was down at the end.");
        word = "Nobody is left.";
    }
    Headline { tone, word: word.into(), rest }
}

type Said = (Tone, &'static str, String);

impl Teller<'_> {
    fn find<T>(&self, pick: impl Fn(&Finding) -> Option<T>) -> Option<T> {
        self.run.judgement.findings.iter().find_map(pick)
    }

    /// Whether every client had crashed and none had started again when the run ended.
    fn nobody_left(&self) -> bool {
        let names = self.run.names();
        let mut clients = names.of_kind(NodeKind::Client).peekable();
        clients.peek().is_some()
            && clients.all(|client| {
                let mut last = self.run.record.events.iter().rev().filter(|e| e.node == client);
                let turn =
                    last.find(|e| matches!(e.what, What::Crash(_) | What::Restart | What::End(0)));
                turn.is_some_and(|e| matches!(e.what, What::Crash(_)))
            })
    }

    /// Why the run is over although not every program is, where that is so.
    fn ended_early(&self) -> Option<String> {
        let run = self.run;
        let who: Vec<String> = run.cut_off.iter().map(|p| self.label(*p)).collect();
        let had = format!("{} had not finished", and(&who));
        let end = span(run.end);
        match run.limit() {
            Some((limit, node)) => {
                Some(format!(" The run ended at {end}: {}.", self.limited(limit, node)))
            }
            None if who.is_empty() => None,
            None if run.stuck => Some(format!(" Nothing more could happen: {had}.")),
            None => Some(format!(" The run was cut off at {end}: {had}.")),
        }
    }

    /// An operation with the adjective that it earned.
    fn named(&self, event: EventId) -> String {
        self.operation(event, self.is_late(event)).unwrap_or_else(|| "an operation".into())
    }

    /// `Two clients believed they held the lock for 2.2 s`, where any did.
    fn overlap(&self) -> Option<String> {
        let mut who: Vec<ProcId> = Vec::new();
        let mut locks = Vec::new();
        let mut spans = 0;
        for finding in &self.run.judgement.findings {
            if let Finding::Overlap { lock, clients, .. } = finding {
                who.extend(clients);
                locks.push(*lock);
                spans += 1;
            }
        }
        sort(&mut who);
        who.dedup();
        sort(&mut locks);
        locks.dedup();
        let lock = match locks[..] {
            [] => return None,
            [one] => self.lock(one),
            _ => "the same lock".into(),
        };
        let total = span(Micros(self.run.judgement.verdict.overlap_us));
        let together = if spans > 1 { " altogether" } else { "" };
        let (many, at_once) = (count(who.len()), self.most_at_once());
        if at_once < who.len() {
            return Some(format!(
                "{many} clients, never more than {} at once, believed they held {lock} for \
                 {total}{together}",
                count(at_once)
            ));
        }
        Some(format!("{many} clients believed they held {lock} for {total}{together}"))
    }

    /// The gravest harm, and what else follows from it.
    fn harm(&self) -> Option<Said> {
        let verdict = &self.run.judgement.verdict;
        if !verdict.harmed() {
            return None;
        }
        let broken = verdict.invariant_broken.is_some_and(|n| n > 0);
        let graver = verdict.corruption + verdict.lost_updates + verdict.torn_sections > 0;
        let (word, mut what) = self
            .corruption()
            .or_else(|| self.lost_update())
            .or_else(|| self.torn_section())
            // Done twice is a waste; where something else is wrong, that is what to say first.
            .or_else(|| self.duplicated().filter(|_| !broken))
            .unwrap_or_else(|| {
                let twice = self.duplicated().map(|(_, what)| what);
                let what = self.late_and_accepted().or(twice).unwrap_or_default();
                ("Invariant broken.", what)
            });
        if let Some((_, twice)) = self.duplicated().filter(|_| graver) {
            what.push_str(&format!("; {twice}"));
        }
        if broken {
            let text = one_line(self.run.compiled.scenario.invariant.as_deref().unwrap_or(""));
            let and = if what.is_empty() { "" } else { "; " };
            what.push_str(&format!("{and}the invariant {text} does not hold"));
        }
        Some((Tone::Harm, word, what))
    }

    /// `Client A's late write x = 1 was accepted`, where one was.
    fn late_and_accepted(&self) -> Option<String> {
        let event = self.find(|f| match f {
            Finding::StaleAccepted { event } => Some(*event),
            _ => None,
        })?;
        Some(self.was_accepted(event))
    }

    /// `Client A's late write x = 1, the first of five, was accepted`.
    fn was_accepted(&self, event: EventId) -> String {
        format!("{}{} was accepted", self.named(event), self.aside(event))
    }

    fn corruption(&self) -> Option<(&'static str, String)> {
        let (event, culprit) = self.find(|f| match f {
            Finding::Corruption { event, culprit, .. } => Some((*event, *culprit)),
            _ => None,
        })?;
        let lost = self.find(|f| match f {
            Finding::LostUpdate { event: at, lost } if *at == event => Some(*lost),
            _ => None,
        });
        let what = match lost {
            _ if event != culprit => format!(
                "{} completed the corruption, but {}{} had made it inevitable",
                self.named(event),
                self.named(culprit),
                self.aside(culprit)
            ),
            Some(lost) => self.accepted_and_replaced(event, lost),
            None if matches!(self.run.record.event(event).note(), Some(Testimony::Learn(_))) => {
                format!("{} saw what no order of whole sections explains", self.named(event))
            }
            None => format!(
                "{}, and no order of whole sections explains the resource",
                self.was_accepted(event)
            ),
        };
        Some(("Corrupted.", what))
    }

    fn accepted_and_replaced(&self, event: EventId, lost: EventId) -> String {
        let replaced = self.replaced(event, lost);
        let replaced = replaced.trim_start_matches("It ").trim_end_matches('.');
        let replaced = replaced.replacen("replaces", "replaced", 1);
        format!("{} and {replaced}", self.was_accepted(event))
    }

    fn lost_update(&self) -> Option<(&'static str, String)> {
        let (event, lost) = self.find(|f| match f {
            Finding::LostUpdate { event, lost } => Some((*event, *lost)),
            _ => None,
        })?;
        Some(("Update lost.", self.accepted_and_replaced(event, lost)))
    }

    fn torn_section(&self) -> Option<(&'static str, String)> {
        let (event, section) = self.find(|f| match f {
            Finding::Torn { event, section } => Some((*event, *section)),
            _ => None,
        })?;
        let (who, half) = (self.label(section.client), self.half(section, event));
        let what = match self.rejected_of(section, event) {
            Some(refused) => format!(
                "{who} {half}: {} was rejected, and that does not undo what came before",
                self.named(refused).replacen(&self.whose(section.client), "its", 1)
            ),
            None => format!("{who} {half}"),
        };
        Some(("Torn.", what))
    }

    /// The last write of a section that was rejected up to an event.
    fn rejected_of(&self, section: Section, event: EventId) -> Option<EventId> {
        (0..=event.0).rev().map(EventId).find(|id| {
            let note = self.run.record.events.get(id.0 as usize).and_then(|e| e.note());
            matches!(note, Some(Testimony::Reject(op, Some(_), _)) if op.section == section)
        })
    }

    fn duplicated(&self) -> Option<(&'static str, String)> {
        let job = self.find(|f| match f {
            Finding::Duplicate { job, .. } => Some(*job),
            _ => None,
        })?;
        let name = self.run.names().jobs.get(usize::from(job)).map_or("?", String::as_str);
        let again = self.run.judgement.findings.iter();
        let again = again.filter(|f| matches!(f, Finding::Duplicate { job: of, .. } if *of == job));
        let times = again.count() + 1;
        let word = match times {
            2 => "Done twice.",
            3 => "Done three times.",
            _ => "Done many times.",
        };
        let times = if times == 2 { "twice".into() } else { format!("{} times", count(times)) };
        Some((word, format!("the job {} had its effect {times}", one_line(name))))
    }

    /// No harm: what came close, what was prevented, or that nothing happened.
    fn no_harm(&self, v: &Verdict) -> Said {
        let accepted = self.find(|f| match f {
            Finding::StaleAccepted { event } => Some(*event),
            _ => None,
        });
        let late = match accepted {
            Some(event) => Some(self.was_accepted(event)),
            None if v.stale_rejected > 0 => Some(self.fenced(v.stale_rejected)),
            None => None,
        };
        if v.legit_rejected > 0 {
            let late = late.map_or_else(String::new, |l| format!("{l}; "));
            let what = format!("{late}{}", self.refused_rightful());
            return (Tone::Near, "The rightful holder was refused.", what);
        }
        if let Some(late) = late {
            return if accepted.is_some() {
                let end = match self.second_insert() {
                    Some(refused) => format!("but {refused}, and no harm was done"),
                    None => "and this time it did no harm".into(),
                };
                (Tone::Near, "Harmless.", format!("{late}, {end}"))
            } else {
                (Tone::Fenced, "Rejected.", format!("{late}, and no harm was done"))
            };
        }
        if v.stale_pending > 0 {
            let what = "a late write was still undecided when the run ended".to_string();
            return (Tone::Near, "Near miss.", what);
        }
        if v.overlap_us > 0 {
            return (Tone::Near, "Near miss.", "no late write reached the resource".into());
        }
        if self.service_fault().is_some() {
            return (Tone::Near, "Near miss.", "no late write reached the resource".into());
        }
        if let Some(what) = self.near_without_overlap() {
            return (Tone::Near, "Near miss.", what);
        }
        self.calm(v)
    }

    fn fenced(&self, times: u64) -> String {
        let rejected = self.find(|f| match f {
            Finding::StaleRejected { event } => Some(*event),
            _ => None,
        });
        let note = rejected.and_then(|e| self.run.record.event(e).note());
        let Some(Testimony::Reject(op, _, why)) = note else {
            return "a late write was rejected".into();
        };
        let more = match times {
            0 | 1 => String::new(),
            n => format!(", the first of {}", count(n as usize)),
        };
        let reason = self.reason(op, *why);
        let client = self.whose(op.section.client);
        let knew = rejected.and_then(|event| self.knew(event));
        let knew = knew.map_or_else(String::new, |knew| format!(", sent although {knew},"));
        let late = self.overtaken(op);
        format!("{client} {late} write{knew} was rejected{more}, because {reason}")
    }

    fn refused_rightful(&self) -> String {
        let event = self.find(|f| match f {
            Finding::LegitRejected { event } => Some(*event),
            _ => None,
        });
        let note = event.and_then(|e| self.run.record.event(e).note());
        match (event, note) {
            (Some(event), Some(Testimony::Reject(op, _, why))) => format!(
                "{} was rejected{} although {} held {}: {}",
                self.named(event),
                match self.run.judgement.verdict.legit_rejected {
                    0 | 1 => String::new(),
                    n => format!(", the first of {},", count(n as usize)),
                },
                self.label(op.section.client),
                self.lock(op.lock),
                self.reason(op, *why)
            ),
            _ => "a holder was rejected".into(),
        }
    }

    fn near_without_overlap(&self) -> Option<String> {
        self.find(|f| match f {
            Finding::DoubleGrant { event } => {
                let at = self.run.record.event(*event);
                let who = self.client(*event).map_or_else(String::new, |p| self.label(p));
                Some(format!(
                    "{} granted the lock to {who} while another client was still promised it",
                    self.label(at.node)
                ))
            }
            Finding::Broken { grant, .. } => {
                let who = self.holder(*grant).map_or_else(String::new, |p| self.label(p));
                Some(format!("the promise to {who} was broken before its time, and nobody wrote late"))
            }
            Finding::Outlived { event, grant } => {
                let whose = self.holder(*grant).map_or_else(String::new, |p| self.whose(p));
                let operation = self.named(*event);
                Some(format!(
                    "{operation} arrived after {whose} promise was over, but nobody else had the lock"
                ))
            }
            _ => None,
        })
    }

    fn calm(&self, v: &Verdict) -> Said {
        if v.stalled > 0 {
            let who: Vec<String> = self.stalled().into_iter().map(|p| self.label(p)).collect();
            let was = if who.len() == 1 { "was" } else { "were" };
            let what = format!("no harm, but {} {was} still waiting at the end", and(&who));
            // Whoever waits for something that is still due is not stuck.
            let word = if self.run.stuck { "Safe, but stuck." } else { "Safe so far." };
            return (Tone::Calm, word, what);
        }
        if v.grants == 0 {
            return (Tone::Calm, "Safe.", "nobody was granted a lock, and no harm was done".into());
        }
        let several = self.run.names().locks.len() > 1;
        let it = if several { "the same lock" } else { "the lock" };
        let shared = self.run.judgement.intervals.iter().any(|i| i.mode == Mode::Shared);
        let what = if shared {
            format!("no client believed it held {it} against another")
        } else {
            format!("no two clients ever believed they held {it} at once")
        };
        (Tone::Calm, "Safe.", what + &self.kept())
    }

    /// Clients whose request for a lock is open at the end.
    fn stalled(&self) -> Vec<ProcId> {
        let mut open: Set<(ProcId, LockId)> = Set::new();
        for event in &self.run.record.events {
            match (event.note(), &event.what) {
                (Some(Testimony::Ask { lock, ask: Ask::Acquire, .. }), _) => {
                    open.insert((event.node, *lock));
                }
                (Some(Testimony::Answer(lock, Ask::Acquire, _)), _) => {
                    open.remove(&(event.node, *lock));
                }
                (_, What::Crash(_)) => open.retain(|o| o.0 != event.node),
                _ => {}
            }
        }
        let who: Set<ProcId> = open.iter().map(|o| o.0).collect();
        who.iter().copied().collect()
    }
}
