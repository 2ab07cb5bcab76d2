//! What the judge found, in words: as the consequence behind an event's sentence, and on its own.

use super::teller::Teller;
use super::words::{and, capital, count, one_line, span};
use crate::judge::{
    Bench, Finding, Grant, IntervalKind, LockId, Section, SectionEnd, Testimony, Token,
};
use crate::run::Run;
use crate::sim::{EventId, Micros, ProcId};

/// Each finding in words, with the event that shows it, in the order of the events.
pub fn findings(run: &Run) -> Vec<(EventId, String)> {
    let teller = Teller { run };
    let found = run.judgement.findings.iter();
    let mut said: Vec<_> = found.map(|f| (f.event(), teller.finding(f))).collect();
    said.dedup();
    // What means nothing under these settings is a figure, and no sentence.
    said.retain(|f| !f.1.is_empty());
    said
}

impl Teller<'_> {
    /// The findings that show at an event.
    pub fn found_at(&self, id: EventId) -> &[Finding] {
        let found = &self.run.judgement.findings;
        let first = found.partition_point(|f| f.event() < id);
        let length = found[first..].partition_point(|f| f.event() == id);
        &found[first..first + length]
    }

    /// Whether the write of an event came late.
    pub fn is_late(&self, id: EventId) -> bool {
        let late = |f: &Finding| {
            matches!(f, Finding::StaleAccepted { .. } | Finding::StaleRejected { .. })
        };
        self.found_at(id).iter().any(late)
    }

    /// What follows from an event, as sentences to put behind its own.
    pub fn consequences(&self, id: EventId) -> Vec<String> {
        let found = self.found_at(id);
        let lost = found.iter().any(|f| matches!(f, Finding::LostUpdate { .. }));
        let mut said: Vec<String> =
            found.iter().filter_map(|f| self.consequence(f, lost)).collect();
        // A token may be out of order with several others; one of them is example enough.
        said.dedup();
        said
    }

    /// The consequence of one finding, whatever else shows at its event.
    pub fn alone(&self, finding: &Finding) -> Option<String> {
        self.consequence(finding, false)
    }

    fn consequence(&self, finding: &Finding, lost: bool) -> Option<String> {
        let event = finding.event();
        match finding {
            Finding::StaleAccepted { .. } if lost => None,
            Finding::StaleAccepted { .. } => self.why_late(event),
            // The word "late" and the reason for refusing say it already.
            Finding::StaleRejected { .. } => None,
            Finding::Outlived { .. } if self.is_late(event) => None,
            Finding::Outlived { grant, .. } => Some(self.outlived(*grant, event)),
            Finding::Overlap { lock, from, to, clients, .. } => {
                Some(self.so_does(event, *lock, to.since(*from), clients))
            }
            Finding::LostUpdate { lost, .. } => Some(self.replaced(event, *lost)),
            Finding::Corruption { culprit, .. } => Some(self.corrupted(event, *culprit)),
            Finding::LegitRejected { .. } => {
                let holder = self.label(self.client(event)?);
                let lock = match self.run.record.event(event).note() {
                    Some(Testimony::Reject(op, ..)) => self.lock(op.lock),
                    _ => "the lock".into(),
                };
                Some(format!("Yet {holder} holds {lock}: the rightful holder is refused."))
            }
            Finding::Torn { section, .. } => Some(self.torn(*section, event)),
            Finding::InvariantBroken { .. } => Some(self.invariant_broken(event)),
            Finding::Duplicate { job, .. } => Some(self.duplicate(*job)),
            Finding::DoubleGrant { .. } => self.double_grant(event),
            Finding::Broken { grant, .. } => Some(self.broken(*grant, event)),
            // Where nothing compares tokens, none has to be above another.
            Finding::TokenRegress { .. } if !self.run.compares_tokens(event) => None,
            Finding::TokenRegress { .. } => self.token_regress(event),
        }
    }

    /// A finding as a sentence that stands on its own.
    fn finding(&self, finding: &Finding) -> String {
        let event = finding.event();
        let operation = |event| {
            self.operation(event, self.is_late(event)).unwrap_or_else(|| "An operation".into())
        };
        match finding {
            Finding::StaleAccepted { .. } => format!("{} was accepted.", operation(event)),
            Finding::StaleRejected { .. } => format!("{} was rejected.", operation(event)),
            Finding::LegitRejected { .. } => {
                format!("{} was rejected although its client held the lock.", operation(event))
            }
            Finding::Outlived { grant, .. } => {
                let whose = self.holder(*grant).map_or_else(String::new, |p| self.whose(p));
                format!("{} arrived after {whose} promise was over.", operation(event))
            }
            Finding::LostUpdate { lost, .. } => {
                format!("An update was lost. {}", self.replaced(event, *lost))
            }
            Finding::Overlap { lock, from, to, clients, .. } => {
                let clients: Vec<String> = clients.iter().map(|c| self.label(*c)).collect();
                let (who, lock) = (and(&clients), self.lock(*lock));
                format!("{who} believed they held {lock} for {}.", span(to.since(*from)))
            }
            Finding::DoubleGrant { .. } => {
                let lock = self.lock_of(Grant(event));
                let still = self.double_grant(event).unwrap_or_default();
                format!("{} was granted twice. {still}", capital(&lock))
            }
            _ => self.consequence(finding, false).unwrap_or_default(),
        }
    }

    /// To whom a grant was made.
    pub fn holder(&self, grant: Grant) -> Option<ProcId> {
        crate::run::kind::grantee(&self.run.record, grant)
    }

    fn lock_of(&self, grant: Grant) -> String {
        let event = self.run.record.event(grant.0);
        let lock = crate::run::kind::lock(&self.run.record, grant.0, event);
        self.lock(lock.unwrap_or(LockId(0)))
    }

    fn why_late(&self, event: EventId) -> Option<String> {
        let Testimony::Accept(op, ..) = self.run.record.event(event).note()? else {
            return None;
        };
        let newer = self.newer_grant(op, event)?;
        let (who, lock) = (self.label(newer.client), self.lock(newer.lock));
        // Where check and write are two moments, it may have arrived in time.
        let gap =
            matches!(&*self.setting("resource.check", event), "token-racy" | "session" | "gateway");
        let then = if gap { "was written" } else { "arrived" };
        Some(format!(
            "{who} had been granted {lock}{} before it {then}.",
            self.bracket(newer.grant, event)
        ))
    }

    fn outlived(&self, grant: Grant, event: EventId) -> String {
        if self.is_own_making(grant) {
            let who = self.holder(grant).map_or_else(|| "it".into(), |p| self.label(p));
            return format!("Nobody had granted it to {who}.");
        }
        let at = self.run.record.event(event).at;
        let whose = self.holder(grant).map_or_else(|| "Its".into(), |p| self.whose(p));
        let ended = self.interval(IntervalKind::Promise, grant).map_or(at, |i| i.to);
        // What was promised can end before the lease does: its holder sent the release, or the service's clock is slow.
        let stands = self.interval(IntervalKind::Truth, grant).is_some_and(|i| i.to > at);
        let lease = self.term(grant).is_some() && !stands;
        let what = if lease { "lease had" } else { "promise had" };
        match at.since(ended) {
            Micros::ZERO => format!("{whose} {what} just ended."),
            late => format!("{whose} {what} ended {} before.", span(late)),
        }
    }

    /// Who else believes at the event that an overlap begins with.
    fn so_does(&self, event: EventId, lock: LockId, d: Micros, clients: &[ProcId]) -> String {
        let me = self.run.record.event(event).node;
        let others: Vec<String> = self
            .open_at(IntervalKind::Belief, event)
            .filter(|i| i.lock == lock && i.client != me && clients.contains(&i.client))
            .map(|i| self.label(i.client))
            .collect();
        let one = others.len() == 1;
        let (believe, itself) =
            if one { ("believes", "itself") } else { ("believe", "themselves") };
        let (who, many) = (and(&others), count(others.len() + 1));
        format!("{who} {believe} that of {itself} too: {many} believers, for {}.", span(d))
    }

    /// `It replaces Client B's 90, which Client A never read.`
    pub fn replaced(&self, event: EventId, lost: EventId) -> String {
        let note = |id: EventId| self.run.record.events.get(id.0 as usize).and_then(|e| e.note());
        let (Some(Testimony::Accept(op, ..)), Some(Testimony::Accept(old, write, ..))) =
            (note(event), note(lost))
        else {
            return "It replaces what its client never read.".into();
        };
        let (who, whose) = (self.label(op.section.client), self.whose(old.section.client));
        if op.section == old.section {
            return format!("It replaces {whose} own newer {}.", write.value);
        }
        if op.section.client == old.section.client {
            let (own, other) = (op.section.number, old.section.number);
            let value = write.value;
            return format!(
                "It replaces the {value} of {whose} section {other}, unread by section {own}."
            );
        }
        format!("It replaces {whose} {}, which {who} never read.", write.value)
    }

    fn corrupted(&self, event: EventId, culprit: EventId) -> String {
        let mut findings = self.run.judgement.findings.iter();
        let first = findings.find(|f| matches!(f, Finding::Corruption { .. }));
        let no_order = if first.is_none_or(|f| f.event() == event) {
            "From here on no order of whole sections explains the resource: it is corrupted"
        } else {
            "That adds to the corruption"
        };
        if event == culprit {
            return format!("{no_order}.");
        }
        let made = self.operation(culprit, self.is_late(culprit));
        let made = made.unwrap_or_else(|| "an earlier write".into());
        format!("{no_order}, and {made} made that inevitable.")
    }

    fn torn(&self, section: Section, event: EventId) -> String {
        format!("{} section is torn: it {}.", self.whose(section.client), self.half(section, event))
    }

    /// `wrote X and never Y`.
    pub fn half(&self, section: Section, event: EventId) -> String {
        let (written, missing) = self.parts(section, event);
        let written = if written.is_empty() { "a part".into() } else { and(&written) };
        let closed = self.events_to(event).find_map(|e| match e.note() {
            Some(Testimony::Close(of, why)) if *of == section => Some(*why),
            _ => None,
        });
        if closed == Some(SectionEnd::Undone) {
            return format!("wrote {written} and could not take all of it back");
        }
        // Two writes of one cell have one name: then it says nothing to name the missing one.
        if missing.is_empty() || missing.iter().any(|m| written.contains(m.as_str())) {
            return format!("wrote {written} and never the rest");
        }
        format!("wrote {written} and never {}", and(&missing))
    }

    /// The invariant and what the cells hold, at an event where it turned false.
    fn invariant_broken(&self, event: EventId) -> String {
        let text = one_line(self.run.compiled.scenario.invariant.as_deref().unwrap_or(""));
        let mut bench = Bench::new(self.run.compiled.setup.clone());
        for (index, heard) in self.run.record.events.iter().enumerate().take(event.0 as usize + 1) {
            bench.hear(EventId(index as u32), heard);
        }
        let mentioned = |name: &str| {
            text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
        };
        let cells = self.run.names().cells.iter().zip(bench.cells());
        let mut values: Vec<String> =
            cells.filter(|c| mentioned(c.0)).map(|(name, v)| format!("{name} is {v}")).collect();
        if mentioned("done") {
            let sections = if bench.done() == 1 { "section is" } else { "sections are" };
            values.push(format!("{} {sections} done", bench.done()));
        }
        format!("The invariant {text} does not hold: {}.", and(&values))
    }

    fn duplicate(&self, job: u16) -> String {
        let name = self.run.names().jobs.get(usize::from(job)).map_or("?", String::as_str);
        format!("The job {} has its effect once more.", one_line(name))
    }

    fn double_grant(&self, event: EventId) -> Option<String> {
        let Testimony::Grant { lock, client, mode, .. } = self.run.record.event(event).note()?
        else {
            return None;
        };
        let at = self.run.record.event(event).at;
        let mut open = self.run.judgement.intervals.iter().filter(|i| {
            i.kind == IntervalKind::Promise
                && i.lock == *lock
                && i.client != *client
                && i.mode.conflicts(*mode)
                && i.began < event
                && i.to > at
        });
        let other = self.label(open.next_back()?.client);
        Some(format!("Yet {other} was promised it, and that promise still stands."))
    }

    fn broken(&self, grant: Grant, event: EventId) -> String {
        let who = self.holder(grant).map_or_else(|| "its holder".into(), |p| self.label(p));
        let at = self.run.record.event(event).at;
        let term = self.events_to(event).find_map(|e| match e.note() {
            Some(Testimony::Extend(of, term, _)) if *of == grant => Some((e.at, *term)),
            _ => None,
        });
        let (from, term) =
            term.unwrap_or_else(|| (self.run.record.event(grant.0).at, self.term(grant)));
        match term {
            Some(term) => {
                let left = span(from.plus(term).since(at));
                format!("The promise to {who} is broken: it had {left} to go.")
            }
            None => format!("The promise to {who} is broken."),
        }
    }

    fn token_regress(&self, event: EventId) -> Option<String> {
        let (grant, token) = match self.run.record.event(event).note()? {
            Testimony::Grant { token: Some(token), .. } => (Grant(event), *token),
            Testimony::Mint(grant, token) => (*grant, *token),
            _ => return None,
        };
        let own = self.interval(IntervalKind::Truth, grant)?;
        let mut truths =
            self.run.judgement.intervals.iter().filter(|i| {
                i.kind == IntervalKind::Truth && i.lock == own.lock && i.grant != grant
            });
        let has = |i: &crate::judge::Interval| self.token_at(i.grant, event);
        let wrong = truths.find_map(|i| {
            let other: Token = has(i)?;
            let low = i.ordinal < own.ordinal && token <= other;
            let high = i.ordinal > own.ordinal && token >= other;
            (low || high).then_some((i, other, low))
        })?;
        let (other, its, low) = (self.label(wrong.0.client), self.figure(wrong.1), wrong.2);
        let (how, age) = if low { ("not above", "older") } else { ("not below", "newer") };
        Some(format!("That is {how} the {its} of {other}, whose grant is {age}."))
    }
}
