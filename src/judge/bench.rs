//! The judge's bench: hears the events of a run in order and keeps count.

use std::collections::BTreeMap;

use super::history::{Effect, History};
use super::spans::{Span, total, union, without};
use super::testimony::{
    Ask, BeliefEnd, Grant, LockId, Mode, Operation, Section, SectionEnd, Testimony, Token,
    TruthEnd, Write,
};
use super::verdict::{Finding, Interval, IntervalKind, Judgement};
use crate::sim::{Event, EventId, Expr, Micros, MsgId, Outcome, ProcId, What};

/// What the judge must know beforehand.
#[derive(Clone, Default, Debug)]
pub struct Setup {
    /// The initial value of each cell.
    pub cells: Vec<i64>,
    /// The invariant over the cells, in order, and after them `done`.
    pub invariant: Option<Expr>,
    /// Whether any program names a job.
    pub jobs: bool,
    /// Whether any program renews.
    pub renews: bool,
    /// Whether tokens are numbers that a comparison means something for.
    pub tokens: bool,
}

/// Judges a whole run that ended at `end`.
pub fn judge(events: &[Event<Testimony>], setup: &Setup, end: Micros) -> Judgement {
    let mut bench = Bench::new(setup.clone());
    for (index, event) in events.iter().enumerate() {
        bench.hear(EventId(index as u32), event);
    }
    bench.close(end)
}

#[derive(Clone, Debug)]
struct GrantState {
    lock: LockId,
    client: ProcId,
    mode: Mode,
    ordinal: u32,
    token: Option<Token>,
    from: Micros,
    truth_end: Option<(Micros, EventId)>,
    /// When the promise runs out by time; none for a promise without a term.
    term_end: Option<Micros>,
    /// When its holder ended the promise: release sent, or crash.
    given_up: Option<(Micros, EventId)>,
    /// When the service broke it.
    broken_at: Option<(Micros, EventId)>,
    outlived: bool,
    /// It ended while its client believed, and the client does not know yet.
    unnoticed: bool,
}

impl GrantState {
    fn promise_end(&self) -> Option<Micros> {
        let given_up = self.given_up.map(|g| g.0);
        let broken = self.broken_at.map(|b| b.0);
        [self.term_end, given_up, broken].into_iter().flatten().min()
    }

    fn conflicts(&self, other: &GrantState) -> bool {
        self.lock == other.lock && self.client != other.client && self.mode.conflicts(other.mode)
    }
}

#[derive(Clone, Debug)]
struct Belief {
    grant: Grant,
    mode: Mode,
    from: Micros,
    began: EventId,
}

#[derive(Clone, Default, Debug)]
struct Logical {
    applied: bool,
}

#[derive(Clone, Default, Debug)]
struct SectionState {
    closed: Option<SectionEnd>,
    writes: BTreeMap<u32, Logical>,
    /// The last write sent said that another was to come.
    more: bool,
    in_flight: u32,
    job: Option<u16>,
    /// The writes applied so far, copies counted.
    applied: u32,
    settled: bool,
}

#[derive(Clone, Copy, Debug)]
struct Attempt {
    op: Operation,
}

#[derive(Clone, Debug)]
struct Request {
    from: Micros,
    within: Option<Micros>,
}

/// The judge while it hears a run.
#[derive(Clone, Default, Debug)]
pub struct Bench {
    setup: Setup,
    out: Judgement,
    grants: BTreeMap<Grant, GrantState>,
    ordinals: BTreeMap<LockId, u32>,
    beliefs: BTreeMap<(LockId, ProcId), Belief>,
    overlaps: BTreeMap<LockId, (Micros, EventId, Vec<ProcId>)>,
    sections: BTreeMap<Section, SectionState>,
    history: History,
    attempts: BTreeMap<MsgId, Attempt>,
    serves: BTreeMap<EventId, (Operation, u32)>,
    stale: Vec<EventId>,
    cells: Vec<i64>,
    invariant_holds: bool,
    jobs: BTreeMap<u16, u64>,
    requests: BTreeMap<(LockId, ProcId, Ask), Request>,
    request_spans: BTreeMap<(LockId, ProcId), Vec<Span>>,
    acquires: BTreeMap<LockId, Vec<(ProcId, Span)>>,
    belief_spans: BTreeMap<(LockId, ProcId), Vec<Span>>,
    waits: Vec<u64>,
    trips: BTreeMap<ProcId, u64>,
    released: BTreeMap<(LockId, ProcId), bool>,
    dead: BTreeMap<ProcId, bool>,
    holder_crashes: Vec<(Micros, LockId, ProcId)>,
    grant_moments: Vec<(Micros, LockId)>,
}

impl Bench {
    /// A bench that has heard nothing.
    pub fn new(setup: Setup) -> Bench {
        Bench { cells: setup.cells.clone(), invariant_holds: true, setup, ..Bench::default() }
    }

    /// Hears the next event.
    pub fn hear(&mut self, id: EventId, event: &Event<Testimony>) {
        let at = event.at;
        match &event.what {
            What::Send(msg, note) => {
                self.out.metrics.messages += 1;
                if let Some(note) = note {
                    self.note(id, at, event.node, note, Some(*msg));
                }
            }
            What::Note(note) => self.note(id, at, event.node, note, None),
            What::Lose(msg) => {
                if let Some(attempt) = self.attempts.remove(msg) {
                    self.landed(attempt.op.section);
                    self.settle(id);
                }
            }
            What::Crash(_) => self.crash(id, at, event.node),
            What::Restart => {
                self.dead.insert(event.node, false);
            }
            What::End(0) => {
                self.dead.insert(event.node, true);
            }
            _ => {}
        }
    }

    fn note(
        &mut self,
        id: EventId,
        at: Micros,
        node: ProcId,
        note: &Testimony,
        msg: Option<MsgId>,
    ) {
        match note {
            Testimony::Grant { lock, client, mode, token, term, asked, woken } => {
                self.out.verdict.silent_reacquire += u64::from(!asked);
                self.out.metrics.wakeups += u64::from(*woken);
                let term_end = term.map(|t| at.plus(t));
                self.grant(Grant(id), at, *lock, *client, *mode, *token, term_end);
            }
            Testimony::Mint(grant, token) => self.mint(id, *grant, *token),
            Testimony::Extend(grant, term) => {
                if let Some(state) = self.grants.get_mut(grant) {
                    state.term_end = term.map(|t| at.plus(t));
                }
            }
            Testimony::Refuse(_, _, ask) => {
                self.out.metrics.failed_attempts += u64::from(*ask == Ask::Acquire);
            }
            Testimony::Free(grant, why) => self.free(id, at, *grant, *why),
            Testimony::Ask { lock, ask, first, within } => {
                self.ask(id, at, node, *lock, *ask, *first, *within);
            }
            Testimony::Answer(lock, ask, outcome) => self.answer(at, node, *lock, *ask, *outcome),
            Testimony::Believe(lock, grant, mode) => {
                self.believe(id, at, node, *lock, *grant, *mode)
            }
            Testimony::Doubt(lock, why) => self.doubt(id, at, node, *lock, *why),
            Testimony::Begin(section) => {
                self.sections.insert(*section, SectionState::default());
            }
            Testimony::Job(section, job) => {
                self.sections.entry(*section).or_default().job = Some(*job);
                self.jobs.entry(*job).or_default();
            }
            Testimony::Close(section, why) => {
                self.sections.entry(*section).or_default().closed.get_or_insert(*why);
                self.settle(id);
            }
            Testimony::Read(op) => self.acts(op),
            Testimony::Write(op, write) => self.write(op, write, msg),
            Testimony::Serve(op, version, _) => {
                self.arrives(id, at, op);
                self.serves.insert(id, (*op, *version));
            }
            Testimony::Learn(served) => self.learn(id, *served),
            Testimony::Accept(op, write, _, msg) => self.accept(id, at, op, write, *msg),
            Testimony::Reject(op, write, _) => self.reject(id, at, op, write.as_ref().map(|w| w.1)),
            Testimony::Queue(..) | Testimony::Check(..) | Testimony::Told(..) => {}
        }
    }

    #[allow(clippy::too_many_arguments, reason = "the fields of one testimony")]
    fn grant(
        &mut self,
        grant: Grant,
        at: Micros,
        lock: LockId,
        client: ProcId,
        mode: Mode,
        token: Option<Token>,
        term_end: Option<Micros>,
    ) {
        let ordinal = self.ordinals.entry(lock).or_default();
        *ordinal += 1;
        let state = GrantState {
            lock,
            client,
            mode,
            ordinal: *ordinal,
            token: None,
            from: at,
            truth_end: None,
            term_end,
            given_up: None,
            broken_at: None,
            outlived: false,
            unnoticed: false,
        };
        let promised = |g: &GrantState| g.promise_end().is_none_or(|end| end > at);
        if self.grants.values().any(|g| g.conflicts(&state) && promised(g)) {
            self.out.verdict.double_grant += 1;
            self.out.findings.push(Finding::DoubleGrant { event: grant.0 });
        }
        self.out.verdict.grants += 1;
        self.grant_moments.push((at, lock));
        self.released.insert((lock, client), false);
        self.grants.insert(grant, state);
        if let Some(token) = token {
            self.mint(grant.0, grant, token);
        }
    }

    fn mint(&mut self, id: EventId, grant: Grant, token: Token) {
        let Some(state) = self.grants.get_mut(&grant) else {
            return;
        };
        state.token = Some(token);
        let (lock, ordinal) = (state.lock, state.ordinal);
        let regressed = |g: &GrantState| match (g.token, g.ordinal.cmp(&ordinal)) {
            (Some(other), std::cmp::Ordering::Less) => token <= other,
            (Some(other), std::cmp::Ordering::Greater) => other <= token,
            _ => false,
        };
        // Counted once for each grant of a pair that is out of order: the newer one's token is low.
        let newer_is_low = self.grants.values().filter(|g| g.lock == lock && regressed(g));
        let count = newer_is_low.filter(|g| g.ordinal > ordinal).count() as u64;
        let older_is_high =
            self.grants.values().any(|g| g.lock == lock && g.ordinal < ordinal && regressed(g));
        let found = count + u64::from(older_is_high);
        if found > 0 {
            *self.out.verdict.token_regress.get_or_insert(0) += found;
            self.out.findings.push(Finding::TokenRegress { event: id });
        }
    }

    fn free(&mut self, id: EventId, at: Micros, grant: Grant, why: TruthEnd) {
        let Some(state) = self.grants.get_mut(&grant) else {
            return;
        };
        if state.truth_end.is_some() {
            return;
        }
        let at = if let TruthEnd::Expired(moment) = why { moment } else { at };
        state.truth_end = Some((at, id));
        let (lock, client) = (state.lock, state.client);
        if let TruthEnd::Removed(by) = why {
            self.out.verdict.foreign_release += u64::from(by != client);
        }
        let by_holder = why == TruthEnd::Released || state.given_up.is_some();
        let broken = !by_holder && state.term_end.is_none_or(|end| at < end);
        if broken {
            state.broken_at = Some((at, id));
            self.out.verdict.broken_promises += 1;
            self.out.findings.push(Finding::Broken { event: id, grant });
        }
        let believes = self.beliefs.get(&(lock, client)).is_some_and(|b| b.grant == grant);
        state.unnoticed = believes && why != TruthEnd::Released;
        let lives = !self.dead.get(&client).copied().unwrap_or(false);
        let sent_release = self.released.get(&(lock, client)).copied().unwrap_or(false);
        if matches!(why, TruthEnd::Expired(_)) && lives && !sent_release {
            self.out.verdict.false_expiry += 1;
        }
    }

    #[allow(clippy::too_many_arguments, reason = "the fields of one testimony")]
    fn ask(
        &mut self,
        id: EventId,
        at: Micros,
        client: ProcId,
        lock: LockId,
        ask: Ask,
        first: bool,
        within: Option<Micros>,
    ) {
        match ask {
            Ask::Acquire => {
                self.out.metrics.attempts += 1;
                let trips = self.trips.entry(client).or_default();
                *trips = if first { 1 } else { *trips + 1 };
            }
            Ask::Token => *self.trips.entry(client).or_default() += 1,
            Ask::Release if first => {
                self.out.metrics.releases += 1;
                self.released.insert((lock, client), true);
                self.give_up(id, at, client, Some(lock));
            }
            Ask::Release | Ask::Renew => {}
        }
        if first || !self.requests.contains_key(&(lock, client, ask)) {
            self.requests.insert((lock, client, ask), Request { from: at, within });
        }
    }

    /// The holder itself ends its promises: of one lock, or all of them.
    fn give_up(&mut self, id: EventId, at: Micros, client: ProcId, lock: Option<LockId>) {
        for state in self.grants.values_mut() {
            let his = state.client == client && lock.is_none_or(|l| l == state.lock);
            if his && state.truth_end.is_none() {
                state.given_up.get_or_insert((at, id));
            }
        }
    }

    fn answer(&mut self, at: Micros, client: ProcId, lock: LockId, ask: Ask, outcome: Outcome) {
        let Some(request) = self.requests.remove(&(lock, client, ask)) else {
            return;
        };
        self.request_over(lock, client, ask, &request, at);
        let failed = outcome != Outcome::Ok;
        if ask == Ask::Renew && failed {
            *self.out.verdict.renewal_failures.get_or_insert(0) += 1;
        }
        if ask == Ask::Acquire {
            if failed && outcome.unknown() {
                self.out.metrics.failed_attempts += 1;
            }
            if outcome == Outcome::Ok {
                self.waits.push(at.since(request.from).0);
                let trips = self.trips.get(&client).copied();
                self.out.metrics.round_trips_to_acquire =
                    self.out.metrics.round_trips_to_acquire.or(trips);
            }
        }
    }

    fn request_over(
        &mut self,
        lock: LockId,
        client: ProcId,
        ask: Ask,
        request: &Request,
        at: Micros,
    ) {
        let span = (request.from, at);
        self.request_spans.entry((lock, client)).or_default().push(span);
        if ask == Ask::Acquire {
            self.acquires.entry(lock).or_default().push((client, span));
        }
    }

    fn believe(
        &mut self,
        id: EventId,
        at: Micros,
        client: ProcId,
        lock: LockId,
        grant: Grant,
        mode: Mode,
    ) {
        if self.beliefs.contains_key(&(lock, client)) {
            self.doubt(id, at, client, lock, BeliefEnd::Refused);
        }
        if let Some(state) = self.grants.get_mut(&grant) {
            // A grant that ended before it was consumed is lost on a client that now believes in it.
            state.unnoticed = state.truth_end.is_some();
        }
        self.beliefs.insert((lock, client), Belief { grant, mode, from: at, began: id });
        self.watch_overlap(id, at, lock);
    }

    fn doubt(&mut self, id: EventId, at: Micros, client: ProcId, lock: LockId, why: BeliefEnd) {
        let Some(belief) = self.beliefs.remove(&(lock, client)) else {
            return;
        };
        self.belief_over(lock, client, &belief, at, Some(id));
        if let Some(state) = self.grants.get_mut(&belief.grant) {
            let told = matches!(why, BeliefEnd::Refused | BeliefEnd::Notice | BeliefEnd::Deadline);
            if std::mem::replace(&mut state.unnoticed, false) && !told {
                self.out.verdict.loss_unreported += 1;
            }
        }
        self.watch_overlap(id, at, lock);
    }

    fn belief_over(
        &mut self,
        lock: LockId,
        client: ProcId,
        belief: &Belief,
        at: Micros,
        ended: Option<EventId>,
    ) {
        self.belief_spans.entry((lock, client)).or_default().push((belief.from, at));
        let grant = self.grants.get(&belief.grant);
        self.out.intervals.push(Interval {
            kind: IntervalKind::Belief,
            lock,
            client,
            mode: belief.mode,
            grant: belief.grant,
            ordinal: grant.map_or(0, |g| g.ordinal),
            token: grant.and_then(|g| g.token),
            began: belief.began,
            ended,
            from: belief.from,
            to: at,
            open: ended.is_none(),
        });
    }

    /// Keeps the span in which two or more believe in conflicting modes.
    fn watch_overlap(&mut self, id: EventId, at: Micros, lock: LockId) {
        let believers: Vec<(ProcId, Mode)> = self
            .beliefs
            .iter()
            .filter(|(key, _)| key.0 == lock)
            .map(|(key, belief)| (key.1, belief.mode))
            .collect();
        let conflict = believers
            .iter()
            .enumerate()
            .any(|(i, a)| believers[i + 1..].iter().any(|b| a.1.conflicts(b.1)));
        if conflict {
            let open = self.overlaps.entry(lock).or_insert((at, id, Vec::new()));
            for (client, _) in believers {
                if !open.2.contains(&client) {
                    open.2.push(client);
                }
            }
        } else {
            self.overlap_over(at, lock);
        }
    }

    fn overlap_over(&mut self, at: Micros, lock: LockId) {
        if let Some((from, event, clients)) = self.overlaps.remove(&lock) {
            self.out.verdict.overlap_us += at.since(from).0;
            if at > from {
                self.out.findings.push(Finding::Overlap { event, lock, from, to: at, clients });
            }
        }
    }

    /// A client acts as holder: a loss that it has not noticed by now was not reported to it.
    fn acts(&mut self, op: &Operation) {
        let Some(state) = op.grant.and_then(|g| self.grants.get_mut(&g)) else {
            return;
        };
        if std::mem::replace(&mut state.unnoticed, false) {
            self.out.verdict.loss_unreported += 1;
        }
    }

    fn write(&mut self, op: &Operation, write: &Write, msg: Option<MsgId>) {
        self.acts(op);
        let section = self.sections.entry(op.section).or_default();
        section.writes.entry(write.number).or_default();
        section.more = write.more;
        section.in_flight += 1;
        section.settled = false;
        if let Some(msg) = msg {
            self.attempts.insert(msg, Attempt { op: *op });
        }
    }

    /// An operation reaches the resource: has it outlived its holder's promise?
    fn arrives(&mut self, id: EventId, at: Micros, op: &Operation) {
        let Some(grant) = op.grant else { return };
        let Some(state) = self.grants.get_mut(&grant) else {
            return;
        };
        if !state.outlived && state.promise_end().is_some_and(|end| at >= end) {
            state.outlived = true;
            self.out.verdict.outlived += 1;
            self.out.findings.push(Finding::Outlived { event: id, grant });
        }
    }

    fn is_stale(&self, op: &Operation) -> bool {
        let Some(own) = op.grant.and_then(|g| self.grants.get(&g)) else {
            return false;
        };
        self.grants.values().any(|g| g.conflicts(own) && g.ordinal > own.ordinal)
    }

    fn learn(&mut self, id: EventId, served: EventId) {
        let Some((op, version)) = self.serves.remove(&served) else {
            return;
        };
        let ruling = self.history.add(op.section, op.cell, Effect::Read(version), id);
        if let Some(cycle) = ruling.cycle {
            self.corruption(id, false, cycle);
        }
    }

    fn corruption(&mut self, event: EventId, stale: bool, cycle: Vec<Section>) {
        // An innocent section may close the cycle; then the late write in it made it inevitable.
        let late = self.history.last_write(&cycle, |e| self.stale.contains(&e));
        let culprit = if stale { event } else { late.unwrap_or(event) };
        self.out.verdict.corruption += 1;
        self.out.findings.push(Finding::Corruption { event, culprit, cycle });
    }

    fn landed(&mut self, section: Section) {
        if let Some(section) = self.sections.get_mut(&section) {
            section.in_flight = section.in_flight.saturating_sub(1);
        }
    }

    fn accept(&mut self, id: EventId, at: Micros, op: &Operation, write: &Write, msg: MsgId) {
        self.arrives(id, at, op);
        let stale = self.is_stale(op);
        if stale {
            self.stale.push(id);
            self.out.verdict.stale_accepted += 1;
            self.out.findings.push(Finding::StaleAccepted { event: id });
        }
        if self.attempts.remove(&msg).is_some() {
            self.landed(op.section);
        }
        let ordinal = op.grant.and_then(|g| self.grants.get(&g)).map_or(0, |g| g.ordinal);
        let effect = Effect::Write { number: write.number, ordinal };
        let ruling = self.history.add(op.section, op.cell, effect, id);
        if let Some(lost) = ruling.lost {
            self.out.verdict.lost_updates += 1;
            self.out.findings.push(Finding::LostUpdate { event: id, lost });
        }
        if let Some(cycle) = ruling.cycle {
            self.corruption(id, stale, cycle);
        }
        self.cells[usize::from(op.cell.0)] = write.value;
        self.count_job(id, op.section, write.number);
        self.settle(id);
    }

    fn count_job(&mut self, id: EventId, section: Section, number: u32) {
        let state = self.sections.entry(section).or_default();
        let first_of_section = state.applied == 0;
        let logical = state.writes.entry(number).or_default();
        let copy = std::mem::replace(&mut logical.applied, true);
        state.applied += 1;
        let Some(job) = state.job else { return };
        let sections = self.jobs.entry(job).or_default();
        *sections += u64::from(first_of_section);
        if copy || (first_of_section && *sections > 1) {
            *self.out.verdict.duplicate_work.get_or_insert(0) += 1;
            self.out.findings.push(Finding::Duplicate { event: id, job });
        }
    }

    fn reject(&mut self, id: EventId, at: Micros, op: &Operation, msg: Option<MsgId>) {
        self.arrives(id, at, op);
        let stale = self.is_stale(op);
        if stale && msg.is_some() {
            self.out.verdict.stale_rejected += 1;
            self.out.findings.push(Finding::StaleRejected { event: id });
        }
        let own = op.grant.and_then(|g| self.grants.get(&g));
        if !stale && own.is_some_and(|g| g.truth_end.is_none()) {
            self.out.verdict.legit_rejected += 1;
            self.out.findings.push(Finding::LegitRejected { event: id });
        }
        if msg.is_some_and(|m| self.attempts.remove(&m).is_some()) {
            self.landed(op.section);
        }
        self.settle(id);
    }

    fn crash(&mut self, id: EventId, at: Micros, client: ProcId) {
        self.dead.insert(client, true);
        let holds = |g: &&GrantState| g.client == client && g.truth_end.is_none();
        let locks: Vec<LockId> = self.grants.values().filter(holds).map(|g| g.lock).collect();
        self.holder_crashes.extend(locks.into_iter().map(|lock| (at, lock, client)));
        self.give_up(id, at, client, None);
        let open: Vec<(LockId, ProcId, Ask)> =
            self.requests.keys().filter(|k| k.1 == client).copied().collect();
        for key in open {
            if let Some(request) = self.requests.remove(&key) {
                self.request_over(key.0, key.1, key.2, &request, at);
            }
        }
    }

    /// Looks whether sections are settled now, and when all are, at the invariant.
    fn settle(&mut self, id: EventId) {
        let mut all = !self.sections.is_empty();
        for (name, state) in &mut self.sections {
            let settled = state.closed.is_some() && state.in_flight == 0;
            if settled && !state.settled && state.torn() {
                self.out.verdict.torn_sections += 1;
                self.out.findings.push(Finding::Torn { event: id, section: *name });
            }
            state.settled |= settled;
            all &= settled;
        }
        if all {
            self.judge_invariant(id);
        }
    }

    fn judge_invariant(&mut self, id: EventId) {
        let Some(invariant) = &self.setup.invariant else {
            return;
        };
        let done = self.sections.values().filter(|s| s.done()).count() as i64;
        let mut values = self.cells.clone();
        values.push(done);
        let holds = invariant.eval(&values) != 0;
        *self.out.verdict.invariant_judged.get_or_insert(0) += 1;
        if self.invariant_holds && !holds {
            *self.out.verdict.invariant_broken.get_or_insert(0) += 1;
            self.out.findings.push(Finding::InvariantBroken { event: id });
        }
        self.invariant_holds = holds;
    }

    /// Ends the hearing: cuts what is open and adds up the spans.
    pub fn close(mut self, end: Micros) -> Judgement {
        let stale_pending = self.attempts.values().filter(|a| self.is_stale(&a.op)).count();
        let v = &mut self.out.verdict;
        v.stale_pending = stale_pending as u64;
        v.stale_attempts = v.stale_accepted + v.stale_rejected + v.stale_pending;
        let null = |used: bool, value: &mut Option<u64>| {
            *value = used.then(|| value.unwrap_or(0));
        };
        null(self.setup.tokens, &mut v.token_regress);
        null(self.setup.jobs, &mut v.duplicate_work);
        null(self.setup.renews, &mut v.renewal_failures);
        null(self.setup.invariant.is_some(), &mut v.invariant_broken);
        null(self.setup.invariant.is_some(), &mut v.invariant_judged);
        for lock in self.overlaps.keys().copied().collect::<Vec<_>>() {
            self.overlap_over(end, lock);
        }
        self.close_requests(end);
        for ((lock, client), belief) in std::mem::take(&mut self.beliefs) {
            self.belief_over(lock, client, &belief, end, None);
            let unnoticed = self.grants.get(&belief.grant).is_some_and(|g| g.unnoticed);
            self.out.verdict.loss_unreported += u64::from(unnoticed);
        }
        self.service_intervals(end);
        self.spans(end);
        self.out.intervals.sort_by_key(|i| (i.from, i.client, i.kind, i.grant));
        self.out.findings.sort_by_key(Finding::event);
        self.out
    }

    fn close_requests(&mut self, end: Micros) {
        let mut stalled = Vec::new();
        for ((lock, client, ask), request) in std::mem::take(&mut self.requests) {
            if ask == Ask::Acquire {
                stalled.push(client);
            }
            let overdue = request.within.is_some_and(|w| end >= request.from.plus(w));
            if ask == Ask::Renew && overdue {
                *self.out.verdict.renewal_failures.get_or_insert(0) += 1;
            }
            self.request_over(lock, client, ask, &request, end);
        }
        stalled.sort_unstable();
        stalled.dedup();
        self.out.verdict.stalled = stalled.len() as u64;
    }

    fn service_intervals(&mut self, end: Micros) {
        for (grant, g) in &self.grants {
            let base = Interval {
                kind: IntervalKind::Truth,
                lock: g.lock,
                client: g.client,
                mode: g.mode,
                grant: *grant,
                ordinal: g.ordinal,
                token: g.token,
                began: grant.0,
                ended: g.truth_end.map(|t| t.1),
                from: g.from,
                to: g.truth_end.map_or(end, |t| t.0),
                open: g.truth_end.is_none(),
            };
            let to = g.promise_end().map_or(end, |p| p.min(end));
            let early = [g.given_up, g.broken_at].into_iter().flatten().find(|e| e.0 == to);
            let open = g.promise_end().is_none_or(|p| p > end);
            let ended = early.map(|e| e.1);
            let promise = Interval { kind: IntervalKind::Promise, ended, to, open, ..base.clone() };
            self.out.intervals.push(base);
            self.out.intervals.push(promise);
        }
    }

    fn spans(&mut self, end: Micros) {
        let mut truths: BTreeMap<LockId, Vec<Span>> = BTreeMap::new();
        let mut orphan = 0;
        for g in self.grants.values() {
            let truth = (g.from, g.truth_end.map_or(end, |t| t.0));
            truths.entry(g.lock).or_default().push(truth);
            let key = (g.lock, g.client);
            let mut accounted = self.belief_spans.get(&key).cloned().unwrap_or_default();
            accounted.extend(self.request_spans.get(&key).into_iter().flatten());
            orphan += total(&without(vec![truth], accounted));
        }
        self.out.verdict.orphan_us = orphan;
        let mut idle = 0;
        for (lock, waits) in &self.acquires {
            let waits = waits.iter().map(|w| w.1).collect();
            idle += total(&without(waits, truths.remove(lock).unwrap_or_default()));
        }
        self.waits.sort_unstable();
        let rank = |percent: usize| {
            let n = self.waits.len();
            (n > 0).then(|| self.waits[(n * percent).div_ceil(100).max(1) - 1])
        };
        let ranks = (rank(50), rank(95), rank(100));
        let recovery = self.recovery();
        let m = &mut self.out.metrics;
        (m.wait_us_p50, m.wait_us_p95, m.wait_us_max) = ranks;
        (m.idle_us, m.recovery_us) = (idle, recovery);
    }

    fn recovery(&self) -> Option<u64> {
        let one = |(at, lock, dead): &(Micros, LockId, ProcId)| {
            let waits = union_starts(self.acquires.get(lock)?, *dead, *at);
            let from = (*at).max(waits?);
            let next = self.grant_moments.iter().find(|g| g.1 == *lock && g.0 >= from)?;
            Some(next.0.since(from).0)
        };
        self.holder_crashes.iter().filter_map(one).max()
    }
}

/// The start of the first wait of somebody else that lasts beyond `at`.
fn union_starts(acquires: &[(ProcId, Span)], dead: ProcId, at: Micros) -> Option<Micros> {
    let others = acquires.iter().filter(|a| a.0 != dead && a.1.1 > at).map(|a| a.1).collect();
    union(others).first().map(|s| s.0)
}

impl SectionState {
    fn all_applied(&self) -> bool {
        self.writes.values().all(|w| w.applied)
    }

    /// Ended with all writes accepted; a section that never wrote did not do the work.
    fn done(&self) -> bool {
        self.closed.is_some() && !self.writes.is_empty() && self.all_applied() && !self.cut_short()
    }

    /// It ended against its will with another write to come.
    fn cut_short(&self) -> bool {
        self.more && matches!(self.closed, Some(SectionEnd::Crashed | SectionEnd::Dropped))
    }

    fn torn(&self) -> bool {
        let any = self.writes.values().any(|w| w.applied);
        any && (!self.all_applied() || self.cut_short())
    }
}
