//! What came between a beginning and its end: the renewal and the clocks that a lease was counted
//! by, the renewals that did not come through before a belief ended, what kept a session silent, the
//! restart in which a mark was forgotten.

use super::Walk;
use crate::judge::{
    Ask, BeliefEnd, Grant, LockId, Operation, Standing, Testimony, Token, TruthEnd,
};
use crate::run::replay::Run;
use crate::sim::{Event, EventId, Micros, MsgId, Outcome, ProcId, Set, Table, What};

/// The highest tokens that a resource had seen and kept nowhere but in memory, of each lock, where
/// this is the restart in which it has forgotten them. Locks with one mark in common count as the
/// first.
pub fn forgotten(run: &Run, restart: EventId) -> Vec<(LockId, Token)> {
    let Some(event) = run.record.events.get(restart.0 as usize) else { return Vec::new() };
    if event.what != What::Restart || !in_memory(run, restart) {
        return Vec::new();
    }
    let mut marks: Table<LockId, Token> = Table::new();
    let walk = Walk { run, id: restart, event };
    let own = walk.before().filter(|(_, e)| e.node == event.node);
    for (id, earlier) in own.take_while(|(_, e)| e.what != What::Restart) {
        if let Some((lock, token)) = raised(run, id, earlier) {
            let mark = marks.entry(lock).or_insert(token);
            *mark = token.max(*mark);
        }
    }
    marks.into_iter().collect()
}

fn in_memory(run: &Run, at: EventId) -> bool {
    run.setting("resource.check", at) == "token-volatile"
}

/// The mark in memory that an event at a resource leaves behind.
fn raised(run: &Run, id: EventId, event: &Event<Testimony>) -> Option<(LockId, Token)> {
    let (lock, token) = match event.note()? {
        Testimony::Serve(op, ..) if run.setting("resource.reads", id) == "token" => {
            (op.lock, op.token?)
        }
        Testimony::Accept(op, ..) | Testimony::Mark(op) => (op.lock, op.token?),
        Testimony::Hand(lock, token, None) => (*lock, *token),
        _ => return None,
    };
    in_memory(run, id).then(|| (shared_mark(run, id, lock), token))
}

fn shared_mark(run: &Run, at: EventId, lock: LockId) -> LockId {
    if run.setting("resource.marks", at) == "shared" { LockId(0) } else { lock }
}

/// Of the reasons of an event, those without which it is not understood, though they are nothing
/// great in themselves: the renewal that an expiry was counted from, the end of the belief under
/// which something was sent.
pub(super) fn decisive(run: &Run, id: EventId) -> Vec<EventId> {
    let mut found = super::known(run, id);
    found.retain(|reason| {
        let reason = run.record.event(*reason).note();
        match run.record.event(id).note() {
            Some(Testimony::Free(_, TruthEnd::Expired(_))) => {
                matches!(reason, Some(Testimony::Extend(..)))
            }
            Some(
                Testimony::Read(_)
                | Testimony::Write(..)
                | Testimony::Check(..)
                | Testimony::Ask { ask: Ask::Renew, .. },
            ) => matches!(reason, Some(Testimony::Doubt(..))),
            _ => false,
        }
    });
    found
}

impl Walk<'_> {
    /// What the end of a lease was counted by: its last renewal, and each change of the service's
    /// clock since then that moved it.
    pub(super) fn counted_by(&self, grant: Grant) -> Vec<EventId> {
        let mut found = Vec::new();
        let own = self.before().take_while(|(id, _)| *id > grant.0);
        for (id, event) in own.filter(|(_, e)| e.node == self.event.node) {
            match event.note() {
                Some(Testimony::Expires(of, _)) if *of == grant => found.push(id),
                Some(Testimony::Extend(of, ..)) if *of == grant => {
                    found.push(id);
                    break;
                }
                _ => {}
            }
        }
        found
    }

    /// The end of a belief, where it lies before this event.
    pub(super) fn lost(&self, lock: LockId, belief: EventId) -> Option<EventId> {
        let ended = |n: &Testimony| matches!(n, Testimony::Doubt(l, _) if *l == lock);
        self.said(self.event.node, ended).filter(|end| *end > belief)
    }

    /// The renewals that had brought nothing when a client's deadline came or it gave up: the last
    /// and the first, for what lies between tells no more.
    pub(super) fn vain_renewals(&self) -> Vec<(EventId, MsgId)> {
        let Some(Testimony::Doubt(lock, BeliefEnd::Deadline | BeliefEnd::GivenUp)) =
            self.event.note()
        else {
            return Vec::new();
        };
        let good = |n: &Testimony| match n {
            Testimony::Believe(of, ..) => of == lock,
            Testimony::Answer(of, Ask::Renew, outcome) => of == lock && *outcome == Outcome::Ok,
            _ => false,
        };
        let mut found = Vec::new();
        for (id, event) in self.before().filter(|(_, e)| e.node == self.event.node) {
            match (event.note(), event.message()) {
                (Some(note), _) if good(note) => break,
                (Some(Testimony::Ask { lock: of, ask: Ask::Renew, .. }), Some(msg))
                    if of == lock =>
                {
                    found.push((id, msg));
                }
                _ => {}
            }
        }
        if found.len() > 2 {
            found.drain(1..found.len() - 1);
        }
        found
    }

    /// What made a server count a silence from that moment on, where it is that it leads since then.
    /// What it did last, which set its timer, explains nothing.
    pub(super) fn counts_since(&self, heard: Micros) -> Vec<EventId> {
        let begins = |e: &Event<Testimony>| {
            e.at == heard && matches!(e.note(), Some(Testimony::Stand(Standing::Leads(_))))
        };
        self.last(self.event.node, begins).into_iter().collect()
    }

    /// What kept a server from hearing of a client's session since a moment: whoever stood still on the
    /// way there, and what did not come through. Only where there is nothing of that kind, the
    /// server's own standstill and the clocks that both count by.
    pub(super) fn silence(&self, client: ProcId, heard: Micros, allowed: Micros) -> Vec<EventId> {
        let (me, names) = (self.event.node, self.run.names());
        let serves = |node: ProcId| node == me || names.member(node).is_some();
        let mut found = self.stood_still(client, heard, allowed);
        found.extend(self.kept_on(heard, |from, to| from == client && serves(to)));
        let messages = self.run.record.messages.iter().rev();
        let since = messages.filter(|m| m.sent < self.id && m.from == client && serves(m.to));
        let since = since.take_while(|m| self.run.record.event(m.sent).at >= heard);
        let relays: Set<ProcId> = since.map(|m| m.to).filter(|to| *to != me).collect();
        for relay in relays.iter().copied() {
            found.extend(self.stood_still(relay, heard, allowed));
            // What it has heard it says when it is asked.
            found.extend(
                self.kept_on(heard, |from, to| {
                    (from, to) == (relay, me) || (from, to) == (me, relay)
                }),
            );
        }
        if found.is_empty() {
            let clock = |node| self.last(node, |e| matches!(e.what, What::ClockRate(_)));
            found = self.stood_still(me, heard, allowed);
            found.extend([me, client].into_iter().filter_map(clock));
        }
        found
    }

    /// The standstills and crashes of a node that took a third of the time allowed, or more, since a
    /// moment: a client that is well says something as often as that.
    fn stood_still(&self, node: ProcId, since: Micros, allowed: Micros) -> Vec<EventId> {
        let (mut found, mut end) = (Vec::new(), self.event.at);
        for (id, event) in self.before().filter(|(_, e)| e.node == node) {
            match event.what {
                What::Halt(..) | What::Crash(_) => {
                    let lasted = end.since(event.at.max(since));
                    if lasted.0.saturating_mul(3) >= allowed.0 {
                        found.push(id);
                    }
                }
                What::Resume | What::Restart => end = event.at,
                _ => continue,
            }
            if end <= since {
                break;
            }
        }
        found
    }

    /// The first and the last time since a moment that something was held or lost on these ways, by who
    /// sent it to whom: what lies between tells no more, nor does the last one at the same cut.
    fn kept_on(&self, since: Micros, way: impl Fn(ProcId, ProcId) -> bool) -> Vec<EventId> {
        let kept = |e: &Event<Testimony>| match e.what {
            What::Hold(msg) | What::Lose(msg) => {
                let info = self.run.record.message(msg);
                way(info.from, info.to)
            }
            _ => false,
        };
        let events = self.before().take_while(|(_, e)| e.at >= since);
        let mut found = events.filter(|(_, e)| kept(e)).map(|(id, _)| id);
        let Some(last) = found.next() else { return Vec::new() };
        let first = found.last().unwrap_or(last);
        let cut = |id| {
            let mut reasons = super::known(self.run, id).into_iter();
            reasons.find(|id| matches!(self.run.record.event(*id).what, What::Cut(_)))
        };
        if cut(first).is_some() && cut(first) == cut(last) {
            vec![first]
        } else {
            vec![first, last]
        }
    }

    /// The restart in which a resource forgot a mark that would have kept this operation out.
    pub(super) fn let_in(&self, op: &Operation) -> Option<EventId> {
        let token = op.token.filter(|_| in_memory(self.run, self.id))?;
        let lock = shared_mark(self.run, self.id, op.lock);
        let mut starts =
            self.before().filter(|(_, e)| e.node == self.event.node && e.what == What::Restart);
        let kept_out = |id: EventId| {
            let marks = forgotten(self.run, id);
            marks.iter().any(|(of, mark)| *of == lock && *mark > token)
        };
        starts.find(|(id, _)| kept_out(*id)).map(|(id, _)| id)
    }
}
