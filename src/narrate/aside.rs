//! What a sentence says beside the thing itself: how many there were, whose fault it was, what its
//! client knew of it, for whom a lock was kept.

use super::teller::Teller;
use super::words::{and, capital, count, one_line, span};
use crate::judge::{
    BeliefEnd, Finding, Interval, IntervalKind, Mode, Operation, Orphaned, Rejection, Testimony,
    Token, TruthEnd, Unmet,
};
use crate::sim::{EventId, Micros, What};

impl Teller<'_> {
    /// `Lock service broke its promise to Client A and granted the lock twice`, where it did both. Where a
    /// client took for granted what nobody had granted it, it is not the service’s fault.
    pub fn service_fault(&self) -> Option<String> {
        self.broke_promise().or_else(|| self.took_for_granted())
    }

    fn broke_promise(&self) -> Option<String> {
        let mut findings = self.run.judgement.findings.iter();
        let (lock, to) = findings.find_map(|f| match f {
            Finding::Broken { event, grant } => {
                // Whoever ends what another holds has his own part in it.
                let asked = matches!(
                    self.run.record.event(*event).note(),
                    Some(Testimony::Free(_, TruthEnd::Removed(_)))
                );
                let truth = self.interval(IntervalKind::Truth, *grant)?;
                (!asked).then_some((truth.lock, truth.client))
            }
            _ => None,
        })?;
        let twice = |f: &Finding| match f {
            Finding::DoubleGrant { event } => matches!(
                self.run.record.event(*event).note(),
                Some(Testimony::Grant { lock: of, .. }) if *of == lock
            ),
            _ => false,
        };
        self.run.judgement.findings.iter().any(twice).then(|| {
            let (service, who, lock) = (self.service(), self.label(to), self.lock(lock));
            format!("{} broke its promise to {who} and granted {lock} twice", capital(&service))
        })
    }

    /// A client that goes by a rule of its own has believed in what another one holds.
    fn took_for_granted(&self) -> Option<String> {
        let intervals = &self.run.judgement.intervals;
        let truths = || intervals.iter().filter(|i| i.kind == IntervalKind::Truth);
        let own = truths().find(|own| {
            let beside = |other: &&Interval| {
                other.lock == own.lock
                    && other.client != own.client
                    && other.mode.conflicts(own.mode)
                    && other.from <= own.from
                    && own.from < other.to
            };
            self.is_own_making(own.grant) && truths().any(|o| beside(&o))
        })?;
        let (who, lock) = (self.label(own.client), self.lock(own.lock));
        Some(format!("{who} took {lock} for granted while another client was promised it"))
    }

    /// `, the first of five`, of a late write that was accepted and did not stay alone; and what its
    /// client knew when it sent it.
    pub fn among(&self, event: EventId) -> String {
        let late = self.run.judgement.findings.iter().filter_map(|f| match f {
            Finding::StaleAccepted { event } => Some(*event),
            _ => None,
        });
        let late: Vec<EventId> = late.collect();
        let many = match late.len() {
            n if n > 1 && late.first() == Some(&event) => format!(", the first of {}", count(n)),
            n if n > 1 && late.contains(&event) => format!(", one of {} late ones", count(n)),
            _ => String::new(),
        };
        let knew = self.knew(event).map(|knew| format!(", sent although {knew}"));
        many + &knew.unwrap_or_default()
    }

    /// The event with what [`Teller::among`] says of it, to be followed by a verb.
    pub fn aside(&self, event: EventId) -> String {
        let aside = self.among(event);
        if aside.is_empty() { aside } else { format!("{aside},") }
    }

    /// `Client A knew that its lock was gone`: what the client of a write no longer believed when it sent it.
    pub fn knew(&self, event: EventId) -> Option<String> {
        let (op, msg) = match self.run.record.event(event).note()? {
            Testimony::Accept(op, _, _, msg) | Testimony::Reject(op, Some((_, msg)), _) => {
                (op, *msg)
            }
            _ => return None,
        };
        let sent = self.run.record.sending(msg);
        let (why, gone) = self.lost_before(op, sent)?;
        let (who, lock) = (self.label(op.section.client), self.lock(op.lock));
        Some(match why {
            BeliefEnd::Released => format!("{who} had released {lock}"),
            _ if gone => format!("{who} knew that its lock was gone"),
            _ => format!("{who} no longer believed that it held {lock}"),
        })
    }

    /// Why the client of an operation had ceased to believe before it sent it, and whether what it
    /// was granted was over by then.
    pub fn lost_before(&self, op: &Operation, sent: EventId) -> Option<(BeliefEnd, bool)> {
        let beliefs = self.run.judgement.intervals.iter().filter(|i| {
            i.kind == IntervalKind::Belief && i.lock == op.lock && i.client == op.section.client
        });
        let mut last: Option<&Interval> = None;
        for belief in beliefs.filter(|i| i.began < sent) {
            if belief.ended.is_none_or(|end| end > sent) {
                return None;
            }
            if Some(belief.grant) == op.grant {
                last = Some(belief);
            }
        }
        let note = self.run.record.event(last?.ended?).note();
        let Some(Testimony::Doubt(_, why)) = note else { return None };
        let truth = self.interval(IntervalKind::Truth, op.grant?)?;
        Some((*why, truth.ended.is_some_and(|end| end < sent)))
    }

    /// `; but for 8 s Lock service kept the lock for Client A, which no longer believed that it held
    /// it, and meanwhile Client B waited for 7 s`, where it did.
    pub fn kept(&self) -> String {
        let orphaned = &self.run.judgement.orphaned;
        let Some(most) = orphaned.iter().max_by_key(|o| o.us) else { return String::new() };
        let (service, total) = (self.service(), self.run.judgement.verdict.orphan_us);
        let lock = self.lock(most.lock);
        let [one] = &orphaned[..] else {
            let total = span(Micros(total));
            return format!(
                "; but for {total} altogether {service} kept locks for clients that did not believe \
                 that they held them, the longest for {}",
                self.label(most.client)
            );
        };
        let (who, how) = (self.label(one.client), self.why_in_vain(one));
        let waited: Vec<String> = one
            .waited
            .iter()
            .map(|(who, us)| format!("{} waited for {}", self.label(*who), span(Micros(*us))))
            .collect();
        let waited = match waited.is_empty() {
            true => String::new(),
            false => format!(", and meanwhile {}", and(&waited)),
        };
        let us = span(Micros(one.us));
        format!("; but for {us} {service} kept {lock} for {who}, which {how}{waited}")
    }

    /// Why a client did not believe in a lock that stood for it, to follow `which`.
    fn why_in_vain(&self, orphaned: &Orphaned) -> &'static str {
        let beliefs = self.run.judgement.intervals.iter().filter(|i| {
            i.kind == IntervalKind::Belief
                && (i.lock, i.client) == (orphaned.lock, orphaned.client)
                && i.to <= orphaned.from
        });
        let Some(last) = beliefs.max_by_key(|i| i.to) else {
            return "did not know that it held it";
        };
        let ended = last.ended.map(|end| self.run.record.event(end));
        match ended.map(|e| (e.note(), &e.what)) {
            Some((Some(Testimony::Doubt(_, BeliefEnd::Released)), _)) => "had sent its release",
            Some((Some(Testimony::Doubt(_, BeliefEnd::GivenUp)), _)) => "had declared it lost",
            Some((Some(Testimony::Doubt(_, BeliefEnd::Exited)), _)) => "had ended its program",
            Some((Some(Testimony::Doubt(_, BeliefEnd::Crashed)), _))
            | Some((None, What::Crash(_))) => "had crashed",
            _ => "no longer believed that it held it",
        }
    }

    /// The most clients that believed against each other at one moment.
    pub fn most_at_once(&self) -> usize {
        let intervals = &self.run.judgement.intervals;
        let beliefs = || intervals.iter().filter(|i| i.kind == IntervalKind::Belief);
        let at = |one: &Interval| {
            let open = beliefs().filter(|i| {
                i.lock == one.lock
                    && i.from <= one.from
                    && (i.to > one.from || i.grant == one.grant)
            });
            let open: Vec<&Interval> = open.collect();
            let against = open.iter().any(|i| i.mode == Mode::Exclusive);
            let mut who: Vec<_> = open.iter().map(|i| i.client).collect();
            crate::sim::sort(&mut who);
            who.dedup();
            if against { who.len() } else { 0 }
        };
        beliefs().map(at).max().unwrap_or(0)
    }

    /// `Client B's second insert of sent was refused`: a unique key did its work.
    pub fn second_insert(&self) -> Option<String> {
        self.run.record.events.iter().find_map(|e| match e.note() {
            Some(Testimony::Reject(op, Some(_), Rejection::Unmet(Unmet::Fresh))) => {
                let cell = one_line(self.run.names().cell(op.cell));
                Some(format!(
                    "{} second insert of {cell} was refused",
                    self.whose(op.section.client)
                ))
            }
            _ => None,
        })
    }

    /// `, a token of the lock a`, of a mark that a resource has from another lock than the
    /// operation's own.
    pub fn mark_of_another(&self, op: &Operation, mark: Token) -> String {
        let mut other = None;
        for event in &self.run.record.events {
            // What comes later has not made the mark.
            if matches!(
                event.note(),
                Some(Testimony::Reject(of, _, Rejection::Lower(than)))
                    if of.section == op.section && *than == mark
            ) {
                break;
            }
            let (Some(Testimony::Accept(of, ..) | Testimony::Serve(of, ..))
            | Some(Testimony::Admit(of, ..) | Testimony::Mark(of))) = event.note()
            else {
                continue;
            };
            if of.token == Some(mark) {
                if of.lock == op.lock {
                    return String::new();
                }
                other = Some(of.lock);
            }
        }
        other.map_or_else(String::new, |lock| format!(", a token of {}", self.lock(lock)))
    }
}
