//! Redlock: a client library that holds a lock where a majority of independent masters say so.
//!
//! By the book: a fresh value for each try, sent to all masters at once; when all have answered or
//! were given up, the lock is held if a majority said yes and time is left, after what passed and
//! what clocks may drift; whoever fails deletes its value everywhere, also where it believes that it
//! was not set, and tries again after a random while.

use super::command::{Call, Command, Only, Reply};
use super::drawn::Drawn;
use super::redlock::{drift, quorum, validity};
use super::scripts::Script;
use super::server::Packet;
use super::spell::spell;
use super::text::Text;
use super::witness::{LockKeys, worthless};
use crate::judge::{Ask, Ballot, BeliefEnd, LockId, Mode, Testimony, Token, TruthEnd};
use crate::sim::{
    ClockKind, Clocks, ConnId, Cx, Flow, Local, Micros, Outcome, ProcId, Purpose, Waiting, up_to,
};
use crate::systems::client::{LockClient, Requests, asks, refused};
use crate::systems::{Body, Desk, Fact, Locks, Settings};

/// What a round of questions is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Aim {
    Acquire,
    Extend,
    Release,
    /// It deletes what a failed try has left; nobody waits for it.
    Clean,
}

impl Aim {
    const fn ask(self) -> Ask {
        match self {
            Aim::Acquire => Ask::Acquire,
            Aim::Extend => Ask::Renew,
            Aim::Release | Aim::Clean => Ask::Release,
        }
    }
}

/// One question to all masters, and what they answered so far.
#[derive(Clone, Debug)]
struct Round {
    id: u64,
    aim: Aim,
    task: usize,
    lock: LockId,
    value: i64,
    /// When it began, on the clock that the client reads.
    sent: Local,
    /// For how long it asks the masters, and what it allows for clocks, as the settings stood when it
    /// began: all its requests and its count go by these, whatever is set meanwhile.
    ttl: Micros,
    drift: Micros,
    /// When the whole acquire gives up.
    until: Option<Local>,
    /// How many tries came before.
    tries: u64,
    /// Yes, no, or nothing yet; a master that was given up has said no.
    answers: Vec<Option<bool>>,
    /// The next master, where they are asked one after another.
    next: usize,
    /// The masters that did not answer.
    silent: Vec<usize>,
}

impl Round {
    /// The answers, in the order of the masters; none where there is none.
    fn answered(&self) -> impl Iterator<Item = Option<bool>> + '_ {
        self.answers.iter().enumerate().map(|(n, said)| said.filter(|_| !self.silent.contains(&n)))
    }
}

/// What the library waits for.
#[derive(Clone, Debug)]
enum Open {
    Vote { round: u64, node: usize, conn: Option<ConnId> },
    Rest(Round),
}

/// The library of one client.
#[derive(Clone, Debug)]
pub(super) struct Majority {
    masters: Vec<ProcId>,
    open: Requests<Open>,
    rounds: Vec<Round>,
    counted: u64,
    drawn: Drawn,
    /// The value under which each lock was taken last, and how often it was extended since.
    values: Vec<(LockId, i64, u64)>,
    /// What the masters answered when it counted last, of each lock.
    last: Vec<(LockId, Vec<Option<bool>>)>,
    ttl: Micros,
    retry: Micros,
    jitter: Micros,
    patience: Micros,
    drift: Micros,
    most_extensions: u64,
    in_turn: bool,
    checks: bool,
    /// Whether it takes a lock of which no time at all is left.
    nothing_is_enough: bool,
    hurries: bool,
    keeps_value: bool,
    cleans: bool,
    raises: bool,
    sets_again: bool,
    most_tries: u64,
}

impl Majority {
    pub(super) fn new(settings: &Settings, masters: &[ProcId]) -> Majority {
        let mut library = Majority {
            masters: masters.to_vec(),
            open: Requests::default(),
            rounds: Vec::new(),
            counted: 0,
            drawn: Drawn::default(),
            values: Vec::new(),
            last: Vec::new(),
            ttl: Micros::ZERO,
            retry: Micros::ZERO,
            jitter: Micros::ZERO,
            patience: Micros::ZERO,
            drift: Micros::ZERO,
            most_extensions: 0,
            in_turn: false,
            checks: true,
            nothing_is_enough: false,
            hurries: false,
            keeps_value: false,
            cleans: true,
            raises: false,
            sets_again: false,
            most_tries: 0,
        };
        library.on_settings(settings);
        library
    }

    fn command(&self, round: &Round) -> Command {
        let ms = i64::try_from(round.ttl.0 / 1_000).unwrap_or(i64::MAX);
        let (key, value) = (LockKeys::of(round.lock).lock, Text::Number(round.value));
        let call = |args| Call { keys: vec![key.clone()], args };
        match round.aim {
            Aim::Acquire => Command::set_for(key, value, Only::Absent, ms),
            Aim::Extend if self.sets_again => {
                Command::Eval(Script::Refresh, call(vec![value, Text::Number(ms)]))
            }
            Aim::Extend => Command::Eval(Script::Extend, call(vec![value, Text::Number(ms)])),
            Aim::Release | Aim::Clean => Command::Eval(Script::Release, call(vec![value])),
        }
    }

    /// Begins a round: to all masters at once, or to the first of them.
    fn begin(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, round: Round, first: bool) {
        self.counted += 1;
        let answers = vec![None; self.masters.len()];
        let (ttl, drift) = (self.ttl, self.drift);
        let round =
            Round { id: self.counted, ttl, drift, answers, next: 0, silent: Vec::new(), ..round };
        if matches!(round.aim, Aim::Acquire | Aim::Extend) {
            self.promise(cx, desk, &round, ttl.since(drift));
        }
        let within = Some(self.patience);
        let mut note = asks(round.lock, round.aim.ask(), first, within);
        let (id, count) = (round.id, if self.in_turn { 1 } else { self.masters.len() });
        self.rounds.push(round);
        for _ in 0..count {
            self.send_next(cx, desk, id, note.take());
        }
    }

    fn send_next(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        id: u64,
        note: Option<Testimony>,
    ) {
        let Some(round) = self.rounds.iter_mut().find(|round| round.id == id) else { return };
        let node = round.next;
        round.next += 1;
        let round = round.clone();
        let Some(master) = self.masters.get(node).copied() else { return };
        let command = self.command(&round);
        let number = desk.request();
        let token = u64::try_from(round.value).ok().map(Token);
        let body = Body::new(command.name(), number, Packet::Ask(command.into()))
            .with_token(token)
            .spelled(spell);
        cx.ask(master, body, note);
        let conn = cx.connection(master);
        self.open.add(cx, number, Some(self.patience), Open::Vote { round: id, node, conn });
    }

    /// A master has answered, or was given up.
    fn heard(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        (id, node): (u64, usize),
        answer: Option<bool>,
    ) {
        let (masters, in_turn) = (self.masters.len(), self.in_turn);
        let Some(place) = self.rounds.iter().position(|round| round.id == id) else { return };
        let round = &mut self.rounds[place];
        if answer.is_none() {
            round.silent.push(node);
        }
        if let Some(place) = round.answers.get_mut(node) {
            *place = Some(answer.unwrap_or(false));
        }
        let votes = round.answers.iter().filter(|answer| **answer == Some(true)).count();
        let early = self.hurries && round.aim == Aim::Acquire && votes >= quorum(masters);
        if in_turn && round.next < masters && !early {
            return self.send_next(cx, desk, id, None);
        }
        if early || round.answers.iter().all(Option::is_some) {
            let round = self.rounds.remove(place);
            self.conclude(cx, desk, round, votes);
        }
    }

    fn conclude(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, round: Round, votes: usize) {
        let enough = votes >= quorum(self.masters.len());
        let elapsed = round.sent.until(cx.clock(desk.clock()));
        let gone = elapsed.plus(round.drift);
        let nothing = (self.nothing_is_enough && gone == round.ttl).then_some(Micros::ZERO);
        let left = validity(round.ttl, elapsed, round.drift).or(nothing);
        let good = enough && (left.is_some() || !self.checks);
        let deadline = round.sent.plus(round.ttl.since(round.drift));
        if matches!(round.aim, Aim::Acquire | Aim::Extend) {
            let ballot = Ballot::of(round.answered());
            let left = left.filter(|_| enough);
            cx.note(Testimony::Count(round.lock, round.aim.ask(), ballot, elapsed, left));
            self.last.retain(|last| last.0 != round.lock);
            self.last.push((round.lock, round.answered().collect()));
        }
        match round.aim {
            Aim::Acquire if enough && !round.silent.is_empty() && self.raises => {
                self.finish(cx, &round, Outcome::Closed);
            }
            Aim::Acquire if good => self.holds(cx, desk, &round, deadline),
            Aim::Acquire => {
                self.promise(cx, desk, &round, Micros::ZERO);
                if self.cleans {
                    let clean = Round { aim: Aim::Clean, ..round.clone() };
                    self.begin(cx, desk, clean, true);
                }
                self.again_later(cx, desk, round);
            }
            Aim::Extend if good => {
                for value in self.values.iter_mut().filter(|value| value.0 == round.lock) {
                    value.2 += 1;
                }
                desk.extend(cx, round.lock, Some(deadline));
                self.finish(cx, &round, Outcome::Ok);
            }
            Aim::Extend => refused(cx, desk, round.task, round.lock, Ask::Renew),
            Aim::Release => {
                let outcome = if enough { Outcome::Ok } else { Outcome::Refused };
                self.finish(cx, &round, outcome);
            }
            Aim::Clean => {
                cx.note(Testimony::Answer(round.lock, Ask::Release, Outcome::Ok));
            }
        }
    }

    /// For the books: for how long from now the client can act at most, on a perfect clock; no longer
    /// where it gives a try up.
    fn promise(&self, cx: &mut Cx<'_, Locks>, desk: &Desk, round: &Round, span: Micros) {
        let (value, until) = (Text::Number(round.value), cx.now().plus(span));
        cx.commons().polls.promise(round.lock, value, until, desk.last_request());
    }

    fn finish(&self, cx: &mut Cx<'_, Locks>, round: &Round, outcome: Outcome) {
        cx.note(Testimony::Answer(round.lock, round.aim.ask(), outcome));
        cx.finish(round.task, outcome);
    }

    fn holds(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, round: &Round, deadline: Local) {
        if !cx.waits(round.task) {
            // The task that asked was stopped: no code of the client consumes the grant.
            cx.note(Testimony::Answer(round.lock, Ask::Acquire, Outcome::Closed));
            return;
        }
        // For the books: which grant it is that the client consumes.
        let known = cx.commons().polls.grant_of(round.lock, &Text::Number(round.value));
        let token = u64::try_from(round.value).ok().map(Token);
        let grant = known.unwrap_or_else(|| {
            // Its first keys were over before the last were set.
            let end = (Some(Micros::ZERO), TruthEnd::Expired(cx.now()));
            worthless(cx, (round.lock, cx.me()), token, end)
        });
        self.values.retain(|value| value.0 != round.lock);
        self.values.push((round.lock, round.value, 0));
        cx.note(Testimony::Answer(round.lock, Ask::Acquire, Outcome::Ok));
        desk.believe(cx, round.lock, Mode::Exclusive, grant, token, Some(deadline));
        cx.finish(round.task, Outcome::Ok);
    }

    /// A try failed: the client rests, each time for another while, and tries again.
    fn again_later(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, round: Round) {
        let jitter = up_to(cx.random(Purpose::Backoff, self.counted), self.jitter.0);
        let wait = self.retry.plus(Micros(jitter));
        let now = cx.clock(ClockKind::Mono);
        let spent = self.most_tries > 0 && round.tries + 1 >= self.most_tries;
        if spent || round.until.is_some_and(|until| now.plus(wait) >= until) {
            return self.finish(cx, &round, Outcome::Timeout);
        }
        let number = desk.request();
        let next = Round { tries: round.tries + 1, ..round };
        self.open.add(cx, number, Some(wait), Open::Rest(next));
    }

    fn try_once(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, round: Round) {
        let keeps = self.keeps_value && round.tries > 0;
        let value = if keeps { round.value } else { self.drawn.value(cx) };
        let (sent, first) = (cx.clock(desk.clock()), round.tries == 0);
        self.begin(cx, desk, Round { aim: Aim::Acquire, value, sent, ..round }, first);
    }

    fn blank(&self, cx: &Cx<'_, Locks>, desk: &Desk, task: usize, lock: LockId) -> Round {
        Round {
            id: 0,
            aim: Aim::Acquire,
            task,
            lock,
            value: self.values.iter().find(|value| value.0 == lock).map_or(0, |value| value.1),
            sent: cx.clock(desk.clock()),
            ttl: self.ttl,
            drift: self.drift,
            until: None,
            tries: 0,
            answers: Vec::new(),
            next: 0,
            silent: Vec::new(),
        }
    }

    fn waiting(&self, cx: &Cx<'_, Locks>, verb: &'static str) -> Flow {
        let rounds = if self.in_turn { self.masters.len() as u64 } else { 1 };
        let span = Micros(self.patience.0.saturating_mul(rounds));
        let until = Some(cx.clock(ClockKind::Mono).plus(span));
        let on = self.masters.first().copied().unwrap_or(cx.me());
        Flow::Wait(Waiting { verb, on, until })
    }
}

impl LockClient for Majority {
    fn boxed(&self) -> Box<dyn LockClient> {
        Box::new(self.clone())
    }

    fn acquire(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        task: usize,
        lock: LockId,
        _mode: Mode,
        within: Option<Micros>,
    ) -> Flow {
        let until = within.map(|span| cx.clock(ClockKind::Mono).plus(span));
        let round = Round { until, ..self.blank(cx, desk, task, lock) };
        self.try_once(cx, desk, round);
        let on = self.masters.first().copied().unwrap_or(cx.me());
        Flow::Wait(Waiting { verb: "acquire", on, until })
    }

    fn renew(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        task: usize,
        lock: LockId,
    ) -> Flow {
        let known = self.values.iter().find(|value| value.0 == lock);
        if known.is_none_or(|value| value.2 >= self.most_extensions) {
            // A lock that could be extended for ever would never be anybody else's.
            return Flow::Done(Outcome::Refused);
        }
        let round = Round { aim: Aim::Extend, ..self.blank(cx, desk, task, lock) };
        self.begin(cx, desk, round, true);
        self.waiting(cx, "renew")
    }

    fn release(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        task: usize,
        lock: LockId,
    ) -> Flow {
        if desk.last_grant(lock).is_none() {
            return Flow::Done(Outcome::Refused);
        }
        desk.doubt(cx, lock, BeliefEnd::Released);
        let round = Round { aim: Aim::Release, ..self.blank(cx, desk, task, lock) };
        self.begin(cx, desk, round, true);
        self.waiting(cx, "release")
    }

    fn on_message(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        _: (ProcId, ConnId),
        body: &Body,
    ) {
        let Some(Packet::Answer(reply)) = body.get::<Packet>() else { return };
        let yes = !matches!(reply, Reply::Nil | Reply::Number(0) | Reply::Error(_));
        if let Some(Open::Vote { round, node, .. }) = self.open.take(cx, body.request) {
            self.heard(cx, desk, (round, node), Some(yes));
        }
    }

    fn on_timer(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, request: u64) {
        match self.open.take(cx, request) {
            Some(Open::Rest(round)) => self.try_once(cx, desk, round),
            Some(Open::Vote { round, node, conn }) => {
                if let Some(master) = self.masters.get(node).copied() {
                    cx.hang_up(master, conn);
                }
                self.heard(cx, desk, (round, node), None);
            }
            None => {}
        }
    }

    fn on_closed(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, peer: ProcId, gone: ConnId) {
        let Some(at) = self.masters.iter().position(|master| *master == peer) else { return };
        let is_lost = |open: &Open| matches!(open, Open::Vote { node, conn, .. } if *node == at && *conn <= Some(gone));
        for open in self.open.take_where(cx, is_lost) {
            if let Open::Vote { round, node, .. } = open {
                self.heard(cx, desk, (round, node), None);
            }
        }
    }

    fn task_of(&self, request: u64) -> Option<usize> {
        match self.open.get(request)? {
            Open::Rest(round) => Some(round.task),
            Open::Vote { round, .. } => {
                self.rounds.iter().find(|r| r.id == *round).map(|round| round.task)
            }
        }
    }

    fn on_crash(&mut self) {
        self.open.clear();
        self.rounds.clear();
        self.last.clear();
    }

    fn facts(&self, _now: Micros, _clocks: &Clocks) -> Vec<Fact> {
        let asks = |round: &&Round| matches!(round.aim, Aim::Acquire | Aim::Extend);
        let asked: Vec<&Round> = self.rounds.iter().filter(asks).collect();
        let told = self.last.iter().filter(|last| asked.iter().all(|round| round.lock != last.0));
        let ticks = |label, answers| Fact::Ticks { label, answers };
        let open = asked.iter().map(|round| ticks("answers so far", round.answered().collect()));
        open.chain(told.map(|last| ticks("last answers", last.1.clone()))).collect()
    }

    fn on_settings(&mut self, settings: &Settings) {
        self.ttl = settings.span("lock.ttl");
        self.retry = settings.span("acquire.retry");
        self.jitter = settings.span("acquire.jitter");
        self.patience = settings.span("redlock.patience");
        self.drift = match settings.word("redlock.drift") {
            "nearest" => drift(self.ttl.plus(Micros::from_millis(50))),
            "exact" => Micros(self.ttl.0 / 100 + 2_000),
            "hundredth" => Micros(self.ttl.0 / 100),
            "none" => Micros::ZERO,
            _ => drift(self.ttl),
        };
        self.most_extensions = settings.number("redlock.extensions");
        self.in_turn = settings.word("redlock.order") == "sequential";
        self.checks = settings.word("redlock.elapsed") != "unchecked";
        self.nothing_is_enough = settings.word("redlock.elapsed") == "not-negative";
        self.hurries = settings.word("redlock.decide") == "quorum";
        self.keeps_value = settings.word("redlock.value") == "per-acquire";
        self.cleans = settings.word("redlock.failed") != "leave";
        self.raises = settings.word("redlock.error") == "raise";
        self.sets_again = settings.word("redlock.extend") == "set";
        self.most_tries = settings.number("redlock.tries");
    }
}
