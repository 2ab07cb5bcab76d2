//! The judge's bench: hears the events of a run in order and keeps count.

use super::grants::Grants;
use super::history::{Effect, History};
use super::sections::Sections;
use super::spans::{Span, total, without};
use super::testimony::{
    Ask, BeliefEnd, Grant, LockId, Mode, Operation, Rejection, Section, Testimony, Token, TruthEnd,
    Write,
};
use super::verdict::{Finding, Interval, IntervalKind, Judgement, Orphaned, Verdict};
use crate::sim::{
    Event, EventId, Expr, Micros, MsgId, Outcome, ProcId, Table, What, sort, sort_by_key,
};

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
struct Belief {
    grant: Grant,
    mode: Mode,
    from: Micros,
    began: EventId,
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
    grants: Grants,
    beliefs: Table<(LockId, ProcId), Belief>,
    overlaps: Table<LockId, (Micros, EventId, Vec<ProcId>)>,
    sections: Sections,
    history: History,
    attempts: Table<MsgId, Operation>,
    serves: Table<EventId, (Operation, u32)>,
    stale: Vec<EventId>,
    requests: Table<(LockId, ProcId, Ask), Request>,
    request_spans: Table<(LockId, ProcId), Vec<Span>>,
    acquires: Table<LockId, Vec<(ProcId, Span)>>,
    belief_spans: Table<(LockId, ProcId), Vec<Span>>,
    waits: Vec<u64>,
    /// The last event that was heard.
    heard: u32,
    /// Whether the service refused the last try of an acquire.
    refused: Table<(LockId, ProcId), bool>,
    trips: Table<ProcId, u64>,
    released: Table<(LockId, ProcId), bool>,
    dead: Table<ProcId, bool>,
    paused: Table<ProcId, Micros>,
    holder_crashes: Vec<(Micros, LockId)>,
    grant_moments: Vec<(Micros, LockId)>,
}

impl Bench {
    /// A bench that has heard nothing.
    pub fn new(setup: Setup) -> Bench {
        Bench { sections: Sections::new(setup.cells.clone()), setup, ..Bench::default() }
    }

    /// The value of each cell by what was accepted so far.
    pub fn cells(&self) -> &[i64] {
        self.sections.cells()
    }

    /// How many sections ended with all their writes accepted so far.
    pub fn done(&self) -> i64 {
        self.sections.done()
    }

    /// The counts so far. Harm is in it as it is heard; spans of time and what is judged at the end are not.
    pub fn so_far(&self) -> &Verdict {
        &self.out.verdict
    }

    /// Hears the next event.
    pub fn hear(&mut self, id: EventId, event: &Event<Testimony>) {
        let at = event.at;
        self.heard = id.0;
        for (moment, grant) in self.grants.lapsed(at) {
            self.over(None, id, moment, grant, TruthEnd::Expired(moment));
        }
        match &event.what {
            What::Send(msg, note) => {
                self.out.metrics.messages += 1;
                if let Some(note) = note {
                    self.note(id, at, event.node, note, Some(*msg));
                }
            }
            What::Note(note) => self.note(id, at, event.node, note, None),
            What::Copy(copy, of) => {
                if let Some(op) = self.attempts.get(of).copied() {
                    self.sections.copied(op.section);
                    self.attempts.insert(*copy, op);
                }
            }
            What::Lose(msg) => {
                if let Some(op) = self.attempts.get(msg) {
                    self.forgotten(id, op.section, *msg);
                }
            }
            What::Halt(..) => {
                self.paused.entry(event.node).or_insert(at);
            }
            What::Resume => self.resumed(event.node, at),
            What::Crash(_) => self.crash(id, at, event.node),
            What::Restart => {
                self.dead.insert(event.node, false);
            }
            What::End(0) => {
                self.dead.insert(event.node, true);
                self.grants.bury(at, event.node);
                self.hang_up(event.node, at);
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
            Testimony::Grant { lock, client, mode, token, term, expires, asked, woken } => {
                self.out.verdict.silent_reacquire += u64::from(!asked);
                self.out.metrics.wakeups += u64::from(*woken);
                let term_end = term.map(|t| at.plus(t));
                let is_over = expires.is_some_and(|end| end <= at);
                self.grant(Grant(id), at, (*lock, *client, *mode), term_end, is_over);
                if let Some(state) = self.grants.get_mut(Grant(id)) {
                    state.token = token.map(|t| (t, id));
                    state.expires = *expires;
                }
            }
            Testimony::Mint(grant, token) => self.mint(id, *grant, *token),
            Testimony::Extend(grant, term, expires) => self.extend(at, *grant, *term, *expires),
            Testimony::Expires(grant, expires) => {
                if let Some(state) = self.grants.get_mut(*grant) {
                    state.expires = *expires;
                }
            }
            Testimony::Refuse(lock, client, Ask::Acquire) => self.failed(*lock, *client),
            // Several servers refuse nothing together: their client counts too few of them.
            Testimony::Count(lock, Ask::Acquire, _, _, None) => self.failed(*lock, node),
            Testimony::Wake(..) => self.out.metrics.wakeups += 1,
            Testimony::Free(grant, why) => self.free(id, at, *grant, *why),
            Testimony::Ask { lock, ask, first, within } => {
                self.ask(id, (*lock, node, *ask), *first, Request { from: at, within: *within });
            }
            Testimony::Answer(lock, ask, outcome) => self.answer(at, node, *lock, *ask, *outcome),
            Testimony::Believe(lock, grant, mode) => {
                self.believe(id, at, node, *lock, *grant, *mode)
            }
            Testimony::Doubt(lock, why) => self.doubt(id, at, node, *lock, *why),
            Testimony::Begin(section) => self.sections.begin(*section),
            Testimony::Job(section, job) => {
                if let Some(job) = self.sections.name(*section, *job) {
                    *self.out.verdict.duplicate_work.get_or_insert(0) += 1;
                    self.out.findings.push(Finding::Duplicate { event: id, job });
                }
            }
            Testimony::Close(section, why) => {
                self.sections.close(*section, *why);
                self.settle(id, *section);
            }
            _ => self.at_resource(id, at, note, msg),
        }
    }

    fn at_resource(&mut self, id: EventId, at: Micros, note: &Testimony, msg: Option<MsgId>) {
        match note {
            Testimony::Read(op) | Testimony::Claim(op) => self.acts(op),
            Testimony::Mark(op) => self.arrives(id, at, op),
            Testimony::Forward(_, write) => self.passed_on(write.map(|w| w.1), msg),
            Testimony::Void(op, _, msg) => self.forgotten(id, op.section, *msg),
            Testimony::Write(op, write) => self.write(op, write, msg),
            Testimony::Serve(op, version, _) => {
                self.arrives(id, at, op);
                self.serves.insert(id, (*op, *version));
            }
            Testimony::Learn(served) => self.learn(id, *served),
            Testimony::Accept(op, write, _, msg) => self.accept(id, at, op, write, *msg),
            Testimony::Reject(op, write, why) => {
                self.reject(id, at, op, write.as_ref().map(|w| w.1), *why);
            }
            // What somebody sends by hand writes nothing, so that there is nothing to judge; nor do
            // questions, and a check that passes is judged by what is written.
            _ => {}
        }
    }

    fn grant(
        &mut self,
        grant: Grant,
        at: Micros,
        whose: (LockId, ProcId, Mode),
        term_end: Option<Micros>,
        is_over: bool,
    ) {
        // What a client takes for granted that is over already, nobody has granted twice.
        if self.grants.add(grant, whose, at, term_end) && !is_over {
            self.out.verdict.double_grant += 1;
            self.out.findings.push(Finding::DoubleGrant { event: grant.0 });
        }
        if self.dead.get(&whose.1).copied().unwrap_or(false) {
            // What a client asked for that is gone since.
            self.grants.bury(at, whose.1);
        }
        self.out.verdict.grants += 1;
        self.grant_moments.push((at, whose.0));
        self.released.insert((whose.0, whose.1), false);
    }

    fn extend(&mut self, at: Micros, grant: Grant, term: Option<Micros>, expires: Option<Micros>) {
        if let Some(state) = self.grants.get_mut(grant) {
            let key = (state.lock, state.client);
            let gone = self.released.get(&key).copied().unwrap_or(false);
            state.extend(term.map(|t| at.plus(t)), expires, !gone);
        }
    }

    fn mint(&mut self, id: EventId, grant: Grant, token: Token) {
        if let Some(state) = self.grants.get_mut(grant) {
            state.token = Some((token, id));
        }
    }

    fn free(&mut self, id: EventId, at: Micros, grant: Grant, why: TruthEnd) {
        match self.grants.get_mut(grant).map(|g| &mut g.truth_end) {
            Some(None) => {
                let at = if let TruthEnd::Expired(moment) = why { moment } else { at };
                self.over(Some(id), id, at, grant, why);
            }
            // The service's clock had ended it; now the service says so.
            Some(Some((_, said))) => *said = said.or(Some(id)),
            None => {}
        }
    }

    /// A truth ends at a moment; `said` is the event that says so, `seen` the one by which the judge
    /// can know it.
    fn over(
        &mut self,
        said: Option<EventId>,
        seen: EventId,
        at: Micros,
        grant: Grant,
        why: TruthEnd,
    ) {
        self.grants.close(grant);
        let Some(state) = self.grants.get_mut(grant) else { return };
        let (lock, client, died) = (state.lock, state.client, state.died);
        let believed = self.beliefs.get(&(lock, client)).is_some_and(|b| b.grant == grant);
        if why == TruthEnd::Released && !believed {
            // Its own client ended it and has never heard of it: a try that it had given up.
            state.given_up.get_or_insert((at, seen));
        }
        if matches!(why, TruthEnd::Expired(_)) && state.term_end.is_none() {
            // What is promised for as long as a session lasts is promised no longer.
            state.given_up.get_or_insert((at, seen));
        }
        let broken = state.end_truth(at, said, seen);
        state.unnoticed = believed;
        if broken {
            self.out.verdict.broken_promises += 1;
            self.out.findings.push(Finding::Broken { event: seen, grant });
        }
        if let TruthEnd::Removed(by) = why {
            self.out.verdict.foreign_release += u64::from(by != client);
        }
        let lives = died.is_none() && !self.dead.get(&client).copied().unwrap_or(false);
        let sent_release = self.released.get(&(lock, client)).copied().unwrap_or(false);
        if matches!(why, TruthEnd::Expired(_)) && lives && !sent_release {
            self.out.verdict.false_expiry += 1;
        }
    }

    fn ask(
        &mut self,
        id: EventId,
        (lock, client, ask): (LockId, ProcId, Ask),
        first: bool,
        request: Request,
    ) {
        match ask {
            Ask::Acquire => {
                self.out.metrics.attempts += 1;
                self.refused.insert((lock, client), false);
                self.released.insert((lock, client), false);
                let trips = self.trips.entry(client).or_default();
                *trips = if first { 1 } else { *trips + 1 };
            }
            Ask::Token => *self.trips.entry(client).or_default() += 1,
            Ask::Release if first => {
                self.out.metrics.releases += 1;
                self.released.insert((lock, client), true);
                self.grants.give_up(id, request.from, client, Some(lock));
            }
            Ask::List | Ask::Watch | Ask::WatchAll | Ask::Find => {
                *self.trips.entry(client).or_default() += 1
            }
            Ask::Release | Ask::Renew | Ask::Holder | Ask::Enter => {}
        }
        if first {
            self.requests.insert((lock, client, ask), request);
        }
    }

    /// A try to acquire got no lock.
    fn failed(&mut self, lock: LockId, client: ProcId) {
        self.refused.insert((lock, client), true);
        self.out.metrics.failed_attempts += 1;
    }

    fn answer(&mut self, at: Micros, client: ProcId, lock: LockId, ask: Ask, outcome: Outcome) {
        let Some(request) = self.requests.remove(&(lock, client, ask)) else {
            return;
        };
        self.request_over(lock, client, ask, &request, at);
        if ask == Ask::Acquire {
            // What it asked on the way is over with it, answered or not.
            for part in [Ask::Enter, Ask::Find, Ask::List, Ask::Watch, Ask::WatchAll] {
                if let Some(request) = self.requests.remove(&(lock, client, part)) {
                    self.request_over(lock, client, part, &request, at);
                }
            }
        }
        let failed = outcome != Outcome::Ok;
        let late = request.within.is_some_and(|within| at.since(request.from) > within);
        if ask == Ask::Renew && (failed || late) {
            *self.out.verdict.renewal_failures.get_or_insert(0) += 1;
        }
        if ask == Ask::Acquire {
            // A try that was refused is counted already.
            let refused = self.refused.get(&(lock, client)).copied().unwrap_or(false);
            if failed && outcome.unknown() && !refused {
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
        self.beliefs.insert((lock, client), Belief { grant, mode, from: at, began: id });
        self.grants.relied_upon(id, at, (lock, client), true);
        self.watch_overlap(id, at, lock);
    }

    fn doubt(&mut self, id: EventId, at: Micros, client: ProcId, lock: LockId, why: BeliefEnd) {
        let Some(belief) = self.beliefs.remove(&(lock, client)) else {
            return;
        };
        self.belief_over(lock, client, &belief, at, Some(id));
        if why == BeliefEnd::GivenUp {
            self.grants.give_up(id, at, client, Some(lock));
        }
        self.grants.relied_upon(id, at, (lock, client), false);
        if let Some(state) = self.grants.get_mut(belief.grant) {
            // Whoever gives up by itself has not acted upon a lock that it had lost.
            let told = why.is_loss() || why == BeliefEnd::GivenUp;
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
        let grant = self.grants.get(belief.grant);
        self.out.intervals.push(Interval {
            kind: IntervalKind::Belief,
            lock,
            client,
            mode: belief.mode,
            grant: belief.grant,
            ordinal: grant.map_or(0, |g| g.ordinal),
            token: grant.and_then(|g| g.token).map(|t| t.0),
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
        let Some(state) = op.grant.and_then(|g| self.grants.get_mut(g)) else {
            return;
        };
        if std::mem::replace(&mut state.unnoticed, false) {
            self.out.verdict.loss_unreported += 1;
        }
    }

    fn write(&mut self, op: &Operation, write: &Write, msg: Option<MsgId>) {
        self.acts(op);
        self.sections.sent(op.section, write);
        if let Some(msg) = msg {
            self.attempts.insert(msg, *op);
        }
    }

    /// A write goes on its way as another message.
    fn passed_on(&mut self, came: Option<MsgId>, goes: Option<MsgId>) {
        let op = came.and_then(|msg| self.attempts.remove(&msg));
        if let (Some(op), Some(goes)) = (op, goes) {
            self.attempts.insert(goes, op);
        }
    }

    /// A copy of a write will never be applied.
    fn forgotten(&mut self, id: EventId, section: Section, msg: MsgId) {
        if self.attempts.remove(&msg).is_some() {
            self.sections.landed(section);
            self.settle(id, section);
        }
    }

    /// An operation reaches the resource: has it outlived its holder's promise?
    fn arrives(&mut self, id: EventId, at: Micros, op: &Operation) {
        let Some(grant) = op.grant else { return };
        let Some(state) = self.grants.get_mut(grant) else {
            return;
        };
        if !state.outlived && state.promise_end().is_some_and(|end| at >= end) {
            state.outlived = true;
            self.out.verdict.outlived += 1;
            self.out.findings.push(Finding::Outlived { event: id, grant });
        }
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

    fn accept(&mut self, id: EventId, at: Micros, op: &Operation, write: &Write, msg: MsgId) {
        self.arrives(id, at, op);
        let stale = self.grants.is_stale(op);
        if stale {
            self.stale.push(id);
            self.out.verdict.stale_accepted += 1;
            self.out.findings.push(Finding::StaleAccepted { event: id });
        }
        if self.attempts.remove(&msg).is_some() {
            self.sections.landed(op.section);
        }
        let ordinal = op.grant.and_then(|g| self.grants.get(g)).map_or(0, |g| g.ordinal);
        let effect = Effect::Write { number: write.number, ordinal, value: write.value };
        let ruling = self.history.add(op.section, op.cell, effect, id);
        if let Some(lost) = ruling.lost {
            self.out.verdict.lost_updates += 1;
            self.out.findings.push(Finding::LostUpdate { event: id, lost });
        }
        if let Some(cycle) = ruling.cycle {
            self.corruption(id, stale, cycle);
        }
        if let Some(job) = self.sections.applied(op.section, usize::from(op.cell.0), write) {
            *self.out.verdict.duplicate_work.get_or_insert(0) += 1;
            self.out.findings.push(Finding::Duplicate { event: id, job });
        }
        self.settle(id, op.section);
    }

    fn reject(
        &mut self,
        id: EventId,
        at: Micros,
        op: &Operation,
        msg: Option<MsgId>,
        why: Rejection,
    ) {
        self.arrives(id, at, op);
        let stale = self.grants.is_stale(op);
        if stale && msg.is_some() {
            self.out.verdict.stale_rejected += 1;
            self.out.findings.push(Finding::StaleRejected { event: id });
        }
        let own = op.grant.and_then(|g| self.grants.get(g));
        // A write whose own condition does not hold is refused because its writer wanted it so.
        let wanted = matches!(why, Rejection::Unmet(_));
        if !stale && !wanted && own.is_some_and(|g| g.truth_end.is_none()) {
            self.out.verdict.legit_rejected += 1;
            self.out.findings.push(Finding::LegitRejected { event: id });
        }
        if msg.is_some_and(|m| self.attempts.remove(&m).is_some()) {
            self.sections.landed(op.section);
        }
        self.settle(id, op.section);
    }

    /// A pause is over.
    fn resumed(&mut self, node: ProcId, at: Micros) {
        if let Some(since) = self.paused.remove(&node) {
            self.out.metrics.paused_us += at.since(since).0;
        }
    }

    fn crash(&mut self, id: EventId, at: Micros, client: ProcId) {
        self.dead.insert(client, true);
        self.resumed(client, at);
        let locks = self.grants.give_up(id, at, client, None);
        self.grants.bury(at, client);
        self.holder_crashes.extend(locks.into_iter().map(|lock| (at, lock)));
        self.hang_up(client, at);
    }

    /// A process is gone, and waits for nothing any more.
    fn hang_up(&mut self, client: ProcId, at: Micros) {
        let open: Vec<(LockId, ProcId, Ask)> =
            self.requests.keys().filter(|k| k.1 == client).copied().collect();
        for key in open {
            if let Some(request) = self.requests.remove(&key) {
                self.request_over(key.0, key.1, key.2, &request, at);
            }
        }
    }

    /// Looks whether a section is settled now, and when all are, at the invariant.
    fn settle(&mut self, id: EventId, section: Section) {
        match self.sections.settle(section) {
            Some(true) => {
                self.out.verdict.torn_sections += 1;
                self.out.findings.push(Finding::Torn { event: id, section });
            }
            Some(false) => {
                self.out.verdict.torn_sections -= 1;
                let of_it =
                    |f: &Finding| matches!(f, Finding::Torn { section: s, .. } if *s == section);
                self.out.findings.retain(|f| !of_it(f));
            }
            None => {}
        }
        let Some(invariant) = &self.setup.invariant else { return };
        if let Some(turned_false) = self.sections.invariant(invariant) {
            *self.out.verdict.invariant_judged.get_or_insert(0) += 1;
            if turned_false {
                *self.out.verdict.invariant_broken.get_or_insert(0) += 1;
                self.out.findings.push(Finding::InvariantBroken { event: id });
            }
        }
    }

    /// Ends the hearing: cuts what is open and adds up the spans.
    pub fn close(mut self, end: Micros) -> Judgement {
        let last = EventId(self.heard);
        for (moment, grant) in self.grants.lapsed(end.plus(Micros(1))) {
            self.over(None, last, moment, grant, TruthEnd::Expired(moment));
        }
        let stale_pending = self.attempts.values().filter(|op| self.grants.is_stale(op)).count();
        let regressions = self.grants.regressions();
        let v = &mut self.out.verdict;
        v.token_regress = Some(regressions.len() as u64);
        let regress = regressions.into_iter().map(|event| Finding::TokenRegress { event });
        self.out.findings.extend(regress);
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
        for node in self.paused.keys().copied().collect::<Vec<_>>() {
            self.resumed(node, end);
        }
        for ((lock, client), belief) in std::mem::take(&mut self.beliefs) {
            self.belief_over(lock, client, &belief, end, None);
            let unnoticed = self.grants.get(belief.grant).is_some_and(|g| g.unnoticed);
            self.out.verdict.loss_unreported += u64::from(unnoticed);
        }
        self.grants.intervals(end, &mut self.out.intervals);
        self.spans(end);
        sort_by_key(&mut self.out.intervals, |i| (i.from, i.client, i.kind, i.grant));
        sort_by_key(&mut self.out.findings, Finding::event);
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
        sort(&mut stalled);
        stalled.dedup();
        self.out.verdict.stalled = stalled.len() as u64;
    }

    /// Somebody's grant stood in these spans, and he neither believed nor asked.
    fn orphaned(&mut self, (lock, client): (LockId, ProcId), spans: Vec<Span>) {
        let Some(from) = spans.first().map(|s| s.0) else { return };
        let us = total(&spans);
        let mut asked: Table<ProcId, Vec<Span>> = Table::new();
        for (who, span) in self.acquires.get(&lock).into_iter().flatten() {
            if *who != client {
                asked.entry(*who).or_default().push(*span);
            }
        }
        let left = |asked: Vec<Span>| us - total(&without(spans.clone(), asked));
        let waited = asked.into_iter().map(|(who, asked)| (who, left(asked)));
        let waited = waited.filter(|w| w.1 > 0).collect();
        self.out.orphaned.push(Orphaned { lock, client, from, us, waited });
    }

    fn spans(&mut self, end: Micros) {
        let mut truths: Table<LockId, Vec<Span>> = Table::new();
        let mut held: Table<(LockId, ProcId), [Vec<Span>; 2]> = Table::new();
        for g in self.grants.values() {
            let truth = (g.from, g.truth_end.map_or(end, |t| t.0));
            truths.entry(g.lock).or_default().push(truth);
            let [alive, buried] = held.entry((g.lock, g.client)).or_default();
            // Whoever comes back after a death believes and asks for itself, not for what it had.
            let death = g.died.map_or(truth.1, |died| died.clamp(truth.0, truth.1));
            alive.push((truth.0, death));
            buried.push((death, truth.1));
        }
        for (key, [alive, buried]) in held {
            let mut accounted = self.belief_spans.get(&key).cloned().unwrap_or_default();
            accounted.extend(self.request_spans.get(&key).into_iter().flatten());
            let mut orphaned = without(alive, accounted);
            orphaned.extend(buried);
            self.orphaned(key, without(orphaned, Vec::new()));
        }
        self.out.verdict.orphan_us = self.out.orphaned.iter().map(|o| o.us).sum();
        let mut idle = 0;
        for (lock, waits) in &self.acquires {
            let waits = waits.iter().map(|w| w.1).collect();
            idle += total(&without(waits, truths.remove(lock).unwrap_or_default()));
        }
        sort(&mut self.waits);
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
        let one = |(at, lock): &(Micros, LockId)| {
            let waits = first_wait(self.acquires.get(lock)?, *at);
            let from = (*at).max(waits?);
            let next = self.grant_moments.iter().find(|g| g.1 == *lock && g.0 >= from)?;
            Some(next.0.since(from).0)
        };
        self.holder_crashes.iter().filter_map(one).max()
    }
}

/// The start of the first wait that lasts beyond `at`.
fn first_wait(acquires: &[(ProcId, Span)], at: Micros) -> Option<Micros> {
    acquires.iter().map(|a| a.1).filter(|span| span.1 > at).map(|span| span.0).min()
}
