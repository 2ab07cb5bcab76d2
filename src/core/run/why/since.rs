//! What came between a beginning and its end: the renewal and the clocks that a lease was counted
//! by, the renewals that did not come through before a belief ended, the restart in which a mark was
//! forgotten.

use super::Walk;
use crate::judge::{Ask, BeliefEnd, Grant, LockId, Operation, Testimony, Token, TruthEnd};
use crate::run::replay::Run;
use crate::sim::{Event, EventId, MsgId, Outcome, Table, What};

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
