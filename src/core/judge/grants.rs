//! Grants and what became of them: truths and promises, in order per lock.

use super::testimony::{Grant, LockId, Mode, Operation, Token};
use super::verdict::{Interval, IntervalKind};
use crate::sim::{EventId, Micros, ProcId, Table};

/// A grant and what is known of it so far.
#[derive(Clone, Debug)]
pub(super) struct GrantState {
    pub lock: LockId,
    pub client: ProcId,
    pub mode: Mode,
    /// Its place among the lock's grants, from 1.
    pub ordinal: u32,
    /// Its token and the event that gave it.
    pub token: Option<(Token, EventId)>,
    pub from: Micros,
    /// When the truth ended, and the event that said so; a service that is down or paused says so
    /// later or never.
    pub truth_end: Option<(Micros, Option<EventId>)>,
    /// When the service's clock, as it runs now, ends the truth.
    pub expires: Option<Micros>,
    /// When its holder died, or ended; from then on it stands for nobody, whoever asks in that name.
    pub died: Option<Micros>,
    /// When the promise runs out by time; none for a promise without a term.
    pub term_end: Option<Micros>,
    /// When its holder ended the promise: release sent, lock given up, crash; or belief dropped after
    /// the service had broken it.
    pub given_up: Option<(Micros, EventId)>,
    /// Its holder believes in it no longer.
    pub dropped: bool,
    pub outlived: bool,
    /// It ended while its client believed, and the client does not know yet.
    pub unnoticed: bool,
}

impl GrantState {
    /// When the promise ends: by its term, or where its holder gave it up. A service that breaks it
    /// does not end it: a holder who knows nothing of that still counts on it.
    pub fn promise_end(&self) -> Option<Micros> {
        [self.term_end, self.given_up.map(|g| g.0)].into_iter().flatten().min()
    }

    fn conflicts(&self, other: &GrantState) -> bool {
        self.lock == other.lock && self.client != other.client && self.mode.conflicts(other.mode)
    }

    fn promised_at(&self, at: Micros) -> bool {
        self.promise_end().is_none_or(|end| end > at)
    }

    /// The truth ends. True when that breaks the promise: before its time, and not after its holder
    /// gave it up.
    pub fn end_truth(&mut self, at: Micros, said: Option<EventId>, seen: EventId) -> bool {
        self.truth_end = Some((at, said));
        let broken = self.given_up.is_none() && self.term_end.is_none_or(|end| at < end);
        if self.dropped {
            // Nobody counts on it any more.
            self.given_up.get_or_insert((at, seen));
        }
        broken
    }

    /// The service promises more time; `anew` says that the client asked again after a release which
    /// the service has not seen, so that it is given up no longer.
    pub fn extend(&mut self, term_end: Option<Micros>, expires: Option<Micros>, anew: bool) {
        (self.term_end, self.expires) = (term_end, expires);
        if anew {
            self.given_up = None;
        }
    }
}

/// All grants of a run.
#[derive(Clone, Default, Debug)]
pub(super) struct Grants {
    all: Table<Grant, GrantState>,
    by_lock: Table<LockId, Vec<Grant>>,
    /// Grants whose promise was open when last looked at.
    promised: Vec<Grant>,
    /// Grants whose truth is open.
    open: Vec<Grant>,
}

impl Grants {
    pub fn get(&self, grant: Grant) -> Option<&GrantState> {
        self.all.get(&grant)
    }

    pub fn get_mut(&mut self, grant: Grant) -> Option<&mut GrantState> {
        self.all.get_mut(&grant)
    }

    pub fn values(&self) -> impl Iterator<Item = &GrantState> {
        self.all.values()
    }

    /// A truth is over.
    pub fn close(&mut self, grant: Grant) {
        self.open.retain(|g| *g != grant);
    }

    /// Adds a grant; true when another client's conflicting promise is open.
    pub fn add(
        &mut self,
        grant: Grant,
        (lock, client, mode): (LockId, ProcId, Mode),
        from: Micros,
        term_end: Option<Micros>,
    ) -> bool {
        let list = self.by_lock.entry(lock).or_default();
        list.push(grant);
        let state = GrantState {
            lock,
            client,
            mode,
            ordinal: list.len() as u32,
            token: None,
            from,
            truth_end: None,
            expires: None,
            died: None,
            term_end,
            given_up: None,
            dropped: false,
            outlived: false,
            unnoticed: false,
        };
        let all = &self.all;
        self.promised.retain(|g| all.get(g).is_some_and(|g| g.promised_at(from)));
        let mut promised = self.promised.iter().filter_map(|g| all.get(g));
        let double = promised.any(|g| g.conflicts(&state));
        self.promised.push(grant);
        self.open.push(grant);
        self.all.insert(grant, state);
        double
    }

    /// The holder itself ends its promises: of one lock, or all of them. Returns the locks.
    pub fn give_up(
        &mut self,
        id: EventId,
        at: Micros,
        client: ProcId,
        lock: Option<LockId>,
    ) -> Vec<LockId> {
        let mut locks = Vec::new();
        // A promise that was broken is open although its truth is not.
        for grant in self.open.iter().chain(&self.promised) {
            let his = |g: &&mut GrantState| g.client == client && lock.is_none_or(|l| l == g.lock);
            if let Some(state) = self.all.get_mut(grant).filter(his) {
                state.given_up.get_or_insert((at, id));
                if state.truth_end.is_none() && !locks.contains(&state.lock) {
                    locks.push(state.lock);
                }
            }
        }
        locks
    }

    /// A client's belief in a lock begins or ends. Where the service has broken its promise, that
    /// promise ends with the belief; one that the service keeps goes on.
    pub fn relied_upon(
        &mut self,
        id: EventId,
        at: Micros,
        (lock, client): (LockId, ProcId),
        relied: bool,
    ) {
        for grant in self.open.iter().chain(&self.promised) {
            let his = |g: &&mut GrantState| (g.lock, g.client) == (lock, client);
            if let Some(state) = self.all.get_mut(grant).filter(his) {
                state.dropped = !relied;
                if !relied && state.truth_end.is_some() {
                    state.given_up.get_or_insert((at, id));
                }
            }
        }
    }

    /// A client died or ended, and with it the holder of all its grants.
    pub fn bury(&mut self, at: Micros, client: ProcId) {
        for grant in &self.open {
            if let Some(state) = self.all.get_mut(grant).filter(|g| g.client == client) {
                state.died.get_or_insert(at);
            }
        }
    }

    /// The grants whose truth the service's clock has ended before `at` without a word.
    pub fn lapsed(&self, at: Micros) -> Vec<(Micros, Grant)> {
        let mut lapsed = Vec::new();
        for grant in &self.open {
            let expires = self.get(*grant).and_then(|g| g.expires);
            lapsed.extend(expires.filter(|e| *e < at).map(|e| (e, *grant)));
        }
        lapsed
    }

    /// Whether another client's newer, conflicting grant of the operation's lock exists.
    pub fn is_stale(&self, op: &Operation) -> bool {
        let Some(own) = op.grant.and_then(|g| self.get(g)) else { return false };
        let list = self.by_lock.get(&own.lock).into_iter().flatten().rev();
        list.filter_map(|g| self.get(*g))
            .take_while(|g| g.ordinal > own.ordinal)
            // What ended as it was made was never true.
            .any(|g| g.conflicts(own) && g.truth_end.is_none_or(|end| end.0 > g.from))
    }

    /// The event that shows it, for each grant whose token is not above that of an earlier one. What a client only took
    /// for granted was over as it began, and nobody gave it a token.
    pub fn regressions(&self) -> Vec<EventId> {
        let mut found = Vec::new();
        for list in self.by_lock.values() {
            let mut highest: Option<(Token, EventId)> = None;
            let given = |g: &&GrantState| g.term_end.is_none_or(|end| end > g.from);
            let given = list.iter().filter_map(|g| self.get(*g).filter(given)?.token);
            for (token, minted) in given {
                match highest {
                    Some((high, by)) if token <= high => found.push(minted.max(by)),
                    _ => highest = Some((token, minted)),
                }
            }
        }
        found
    }

    /// Truths and promises, cut at the end of the run.
    pub fn intervals(&self, end: Micros, into: &mut Vec<Interval>) {
        for (grant, g) in &self.all {
            let truth = Interval {
                kind: IntervalKind::Truth,
                lock: g.lock,
                client: g.client,
                mode: g.mode,
                grant: *grant,
                ordinal: g.ordinal,
                token: g.token.map(|t| t.0),
                began: grant.0,
                ended: g.truth_end.and_then(|t| t.1),
                from: g.from,
                to: g.truth_end.map_or(end, |t| t.0),
                open: g.truth_end.is_none(),
            };
            let to = g.promise_end().map_or(end, |p| p.min(end));
            let early = g.given_up.filter(|e| e.0 == to);
            let open = g.promise_end().is_none_or(|p| p > end);
            let ended = early.map(|e| e.1);
            let promise =
                Interval { kind: IntervalKind::Promise, ended, to, open, ..truth.clone() };
            into.extend([truth, promise]);
        }
    }
}
