//! The client library of a lock: the recipe, as one word or step by step, on a handle.
//!
//! `acquire` does all of it: create a znode at the end of the queue, list the queue, hold the lock where
//! its own is the first, watch the one before it where it is not, and list again when that one is gone.
//! `enter`, `list`, `watch` and `await` are the same steps as words of programs. What each step asks and
//! does with its answer is in `steps`.

use super::handle::{Handle, Heard};
use super::options::{Doubting, Naming, Options};
use super::path::Path;
use super::request::{Packet, Request, SessionId, Stat};
use crate::judge::{Ask, BeliefEnd, LockId, Mode, SessionState, Testimony};
use crate::sim::{ClockKind, Clocks, ConnId, Cx, Flow, Micros, Outcome, ProcId, Waiting};
use crate::systems::client::{LockClient, Requests, asks};
use crate::systems::{Body, Desk, Fact, Locks, Piece, Settings, Step};

/// A word of a program that is being carried out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Word {
    Acquire,
    Step(Step),
    Renew,
    Release,
}

impl Word {
    const fn verb(self) -> &'static str {
        match self {
            Word::Acquire => "acquire",
            Word::Step(step) => step.word(),
            Word::Renew => "renew",
            Word::Release => "release",
        }
    }
}

/// Who carries it out, and for which lock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) id: u64,
    pub(super) word: Word,
    pub(super) task: usize,
    pub(super) lock: LockId,
    /// The request whose time-out ends it.
    limit: Option<u64>,
    /// It waits until a watch fires.
    awaits: bool,
}

/// What a request is for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Aim {
    /// A znode of its own.
    Create,
    /// The parent, which is not there.
    Parent,
    /// The znode that a create may have made whose answer was lost.
    Find,
    /// Whose the znode is that was found.
    Owner(Path),
    /// The books of its own znode, for the token.
    Books,
    List,
    Watch,
    /// The watch on the parent.
    WatchAll,
    Renew,
    Delete,
    /// It deletes what nobody wants any more; nobody waits for it.
    Clean(Path),
    /// It looks for what a create may have made that was given up meanwhile.
    FindToClean,
    /// It deletes the parent, if that is empty.
    Tidy,
}

/// A request that waits for its answer, or for a connection.
#[derive(Clone, Debug)]
pub(super) struct Open {
    /// The turn that it belongs to; 0 where nobody waits for it.
    pub(super) turn: u64,
    pub(super) lock: LockId,
    pub(super) aim: Aim,
}

/// A znode of this client in a lock's queue.
#[derive(Clone, Debug)]
pub(super) struct Znode {
    pub(super) path: Path,
    /// The session that it ends with.
    pub(super) session: SessionId,
    pub(super) books: Option<Stat>,
}

/// A place that a client keeps while it asks for the same lock in the other mode. In libraries these are
/// two lock objects of one pair: whoever has taken the one keeps its znode while it waits for the other.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) mode: Mode,
    pub(super) znode: Znode,
    /// It believed that it held the lock by it.
    pub(super) held: bool,
}

/// A client's place in the queue of one lock.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) lock: LockId,
    pub(super) mode: Mode,
    /// The path of its znode without the number.
    pub(super) stem: Path,
    pub(super) znode: Option<Znode>,
    /// What it has beside that, the newest last.
    pub(super) kept: Vec<Kept>,
    /// The letters in front of its znode's name, as long as it tries to create one.
    pub(super) letters: Option<String>,
    /// A create was not answered: there may be a znode of which it does not know.
    pub(super) unsure: bool,
    /// What it has to wait for, as it last read the queue.
    pub(super) before: Option<Path>,
    /// What it watches, and whose that is, for the eye.
    pub(super) watching: Option<(Path, Option<ProcId>)>,
    /// The watch has fired, and nobody has waited for it yet.
    pub(super) fired: bool,
    /// The parent's books, as they came with the list.
    pub(super) parent: Option<Stat>,
    /// It asks for the lock and has not been told the end of it.
    pub(super) wants: bool,
}

/// The library of one client.
#[derive(Clone, Debug)]
pub(super) struct Library {
    pub(super) handle: Handle,
    pub(super) options: Options,
    /// The parents of all locks.
    parents: Vec<Path>,
    pub(super) places: Vec<Place>,
    turns: Vec<Turn>,
    counted: u64,
    pub(super) open: Vec<(u64, Open)>,
    /// What waits until there is a connection.
    parked: Vec<Open>,
    limits: Requests<u64>,
    pub(super) names: u64,
    /// How the latest word ended.
    ended: Option<(u64, Outcome)>,
    me: Option<ProcId>,
}

impl Library {
    pub(super) fn new(settings: &Settings, servers: &[ProcId]) -> Library {
        let options = Options::of(settings);
        Library {
            handle: Handle::new(servers, options),
            options,
            parents: settings.locks().iter().map(|name| Path::of_lock(name)).collect(),
            places: Vec::new(),
            turns: Vec::new(),
            counted: 0,
            open: Vec::new(),
            parked: Vec::new(),
            limits: Requests::default(),
            names: 0,
            ended: None,
            me: None,
        }
    }

    /// The parent of a lock's znodes.
    pub(super) fn parent(&self, lock: LockId) -> Path {
        let known = self.parents.get(usize::from(lock.0)).cloned();
        known.unwrap_or_else(|| Path::of_lock("lock"))
    }

    pub(super) fn place(&mut self, lock: LockId) -> &mut Place {
        let place = self.places.iter().position(|place| place.lock == lock);
        let place = place.unwrap_or_else(|| {
            let stem = self.parent(lock);
            self.places.push(Place {
                lock,
                mode: Mode::Exclusive,
                stem,
                znode: None,
                kept: Vec::new(),
                letters: None,
                unsure: false,
                before: None,
                watching: None,
                fired: false,
                parent: None,
                wants: false,
            });
            self.places.len() - 1
        });
        &mut self.places[place]
    }

    pub(super) fn turn(&self, id: u64) -> Option<Turn> {
        self.turns.iter().find(|turn| turn.id == id).copied()
    }

    fn begin(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        (task, lock, word): (usize, LockId, Word),
        within: Option<Micros>,
    ) -> u64 {
        self.counted += 1;
        let id = self.counted;
        let limit = within.map(|_| desk.request());
        if let Some(number) = limit {
            self.limits.add(cx, number, within, id);
        }
        self.turns.push(Turn { id, word, task, lock, limit, awaits: false });
        id
    }

    /// A word is done: its program goes on.
    pub(super) fn finish(&mut self, cx: &mut Cx<'_, Locks>, id: u64, outcome: Outcome) {
        let Some(place) = self.turns.iter().position(|turn| turn.id == id) else { return };
        let turn = self.turns.remove(place);
        if let Some(limit) = turn.limit {
            self.limits.take(cx, limit);
        }
        self.ended = Some((id, outcome));
        cx.finish(turn.task, outcome);
    }

    fn waiting(&self, cx: &Cx<'_, Locks>, verb: &'static str, within: Option<Micros>) -> Flow {
        let until = within.map(|span| cx.clock(ClockKind::Mono).plus(span));
        Flow::Wait(Waiting { verb, on: self.handle.server().unwrap_or(cx.me()), until })
    }

    /// Asks for a turn, or for nobody.
    pub(super) fn ask(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        open: Open,
        request: Request,
        note: Option<Testimony>,
    ) {
        let number = self.handle.ask(cx, desk, request, note);
        self.open.push((number, open));
    }

    /// A turn waits for its watch; where that has fired already it goes on at once.
    pub(super) fn await_it(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, id: u64) {
        let Some(turn) = self.turn(id) else { return };
        let place = self.place(turn.lock);
        if std::mem::take(&mut place.fired) {
            return self.woken(cx, desk, turn);
        }
        for turn in self.turns.iter_mut().filter(|turn| turn.id == id) {
            turn.awaits = true;
        }
    }

    fn woken(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, turn: Turn) {
        for turn in self.turns.iter_mut().filter(|other| other.id == turn.id) {
            turn.awaits = false;
        }
        match turn.word {
            Word::Acquire => self.list(cx, desk, turn.id),
            _ => self.finish(cx, turn.id, Outcome::Ok),
        }
    }

    /// What the handle has to tell.
    fn hear(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, heard: Vec<Heard>) {
        for heard in heard {
            match heard {
                Heard::Answer(number, reply) => {
                    if let Some(open) = self.take(number) {
                        self.answered(cx, desk, open, &reply);
                    }
                }
                Heard::Broken(number) => {
                    if let Some(open) = self.take(number) {
                        self.broken(cx, open);
                    }
                }
                Heard::Event(path) => self.fired(cx, desk, &path),
                Heard::Connected(fresh) => {
                    let state = if fresh { SessionState::Begun } else { SessionState::Resumed };
                    cx.note(Testimony::Session(state));
                    for open in std::mem::take(&mut self.parked) {
                        self.resume(cx, desk, open);
                    }
                }
                Heard::Disconnected => {
                    cx.note(Testimony::Session(SessionState::Unsure));
                    if self.options.doubting == Doubting::Disconnected {
                        self.doubt_all(cx, desk);
                    }
                }
                Heard::Expired => self.expired(cx, desk),
            }
        }
    }

    fn take(&mut self, number: u64) -> Option<Open> {
        let place = self.open.iter().position(|open| open.0 == number)?;
        Some(self.open.remove(place).1)
    }

    fn doubt_all(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk) {
        let locks: Vec<LockId> = self.places.iter().map(|place| place.lock).collect();
        for lock in locks {
            desk.doubt(cx, lock, BeliefEnd::Notice);
        }
    }

    fn fired(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, path: &Path) {
        for place in 0..self.places.len() {
            let place = &mut self.places[place];
            let lock = place.lock;
            if place.watching.take_if(|watching| watching.0 == *path).is_none() {
                continue;
            }
            let waits = |turn: &&Turn| turn.awaits && turn.lock == lock;
            match self.turns.iter().find(waits).copied() {
                Some(turn) => self.woken(cx, desk, turn),
                None => self.place(lock).fired = true,
            }
        }
    }

    /// The session is over, and every znode of it is gone or will be.
    fn expired(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk) {
        cx.note(Testimony::Session(SessionState::Over));
        for place in &mut self.places {
            (place.znode, place.before, place.watching) = (None, None, None);
            place.fired = false;
            place.kept.clear();
        }
        if self.options.doubting != Doubting::Never {
            self.doubt_all(cx, desk);
        }
        let waiting: Vec<Turn> = self.turns.iter().filter(|turn| turn.awaits).copied().collect();
        for turn in waiting {
            match turn.word {
                Word::Acquire => {
                    for turn in self.turns.iter_mut().filter(|other| other.id == turn.id) {
                        turn.awaits = false;
                    }
                    self.park(Open { turn: turn.id, lock: turn.lock, aim: Aim::Create });
                }
                _ => self.lose(cx, turn),
            }
        }
    }

    /// A step finds that its own znode is gone: the program has to begin anew.
    pub(super) fn lose(&mut self, cx: &mut Cx<'_, Locks>, turn: Turn) {
        self.told(cx, turn.lock, Outcome::Lost);
        self.finish(cx, turn.id, Outcome::Lost);
    }

    /// Its request for the lock has come to an end.
    pub(super) fn told(&mut self, cx: &mut Cx<'_, Locks>, lock: LockId, outcome: Outcome) {
        if std::mem::take(&mut self.place(lock).wants) {
            cx.note(Testimony::Answer(lock, Ask::Acquire, outcome));
        }
    }

    /// This is done again as soon as there is a connection.
    pub(super) fn park(&mut self, open: Open) {
        self.parked.push(open);
    }

    /// The program waits no longer: it leaves the queue.
    fn give_up(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, id: u64) {
        let Some(turn) = self.turn(id) else { return };
        self.told(cx, turn.lock, Outcome::Timeout);
        self.finish(cx, id, Outcome::Timeout);
        let (lock, place) = (turn.lock, self.place(turn.lock));
        (place.before, place.watching, place.fired) = (None, None, false);
        let (znode, unsure) = (place.znode.take(), std::mem::take(&mut place.unsure));
        if let Some(kept) = place.kept.pop() {
            // It has what it had before it asked.
            (place.mode, place.znode) = (kept.mode, Some(kept.znode));
        }
        if let Some(znode) = znode {
            self.clean(cx, desk, lock, znode.path);
        } else if unsure && self.options.naming != Naming::Plain {
            self.park(Open { turn: 0, lock, aim: Aim::FindToClean });
        }
    }

    /// One word of a program; the note says that it asks for the lock, where it does.
    fn say(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        whose: (usize, LockId, Word),
        mode: Mode,
        within: Option<Micros>,
    ) -> Flow {
        let id = self.begin(cx, desk, whose, within);
        let (lock, word) = (whose.1, whose.2);
        match word {
            Word::Acquire | Word::Step(Step::Enter) => {
                let place = self.place(lock);
                place.wants = true;
                if !place.unsure {
                    // Another lock is asked for; a try that was not answered keeps its letters.
                    place.letters = None;
                }
                let note = asks(lock, Ask::Acquire, true, within);
                self.enter(cx, desk, id, mode, note);
            }
            Word::Step(Step::List) => self.list(cx, desk, id),
            Word::Step(Step::Watch) => self.watch(cx, desk, id),
            Word::Step(Step::Await) => self.await_it(cx, desk, id),
            Word::Renew => self.renew_it(cx, desk, id),
            Word::Release => self.delete(cx, desk, id),
        }
        match self.ended.filter(|ended| ended.0 == id) {
            None => self.waiting(cx, word.verb(), within),
            // It was over before anything had to be asked.
            Some((_, outcome)) => Flow::Done(outcome),
        }
    }
}

impl LockClient for Library {
    fn boxed(&self) -> Box<dyn LockClient> {
        Box::new(self.clone())
    }

    fn on_start(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk) {
        self.me = Some(cx.me());
        self.handle.open(cx, desk);
    }

    fn on_exit(&mut self, cx: &mut Cx<'_, Locks>, _desk: &mut Desk) {
        self.handle.close(cx);
    }

    fn acquire(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        task: usize,
        lock: LockId,
        mode: Mode,
        within: Option<Micros>,
    ) -> Flow {
        self.say(cx, desk, (task, lock, Word::Acquire), mode, within)
    }

    fn step(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        task: usize,
        lock: LockId,
        mode: Mode,
        step: Step,
    ) -> Flow {
        let place = self.place(lock);
        let ready = match step {
            Step::Enter => true,
            Step::List if place.znode.is_none() => {
                self.told(cx, lock, Outcome::Lost);
                return Flow::Done(Outcome::Lost);
            }
            Step::List => true,
            Step::Watch => place.before.is_some(),
            Step::Await => place.watching.is_some() || place.fired,
        };
        match step {
            _ if !ready => Flow::Done(Outcome::Refused),
            Step::Await if std::mem::take(&mut place.fired) => Flow::Done(Outcome::Ok),
            _ => self.say(cx, desk, (task, lock, Word::Step(step)), mode, None),
        }
    }

    fn renew(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        task: usize,
        lock: LockId,
    ) -> Flow {
        if self.place(lock).znode.is_none() {
            desk.doubt(cx, lock, BeliefEnd::Refused);
            return Flow::Done(Outcome::Refused);
        }
        self.say(cx, desk, (task, lock, Word::Renew), Mode::Exclusive, None)
    }

    fn release(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        task: usize,
        lock: LockId,
    ) -> Flow {
        desk.doubt(cx, lock, BeliefEnd::Released);
        self.told(cx, lock, Outcome::Timeout);
        if self.place(lock).znode.is_none() {
            return Flow::Done(Outcome::Refused);
        }
        self.say(cx, desk, (task, lock, Word::Release), Mode::Exclusive, None)
    }

    fn on_message(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        (_, conn): (ProcId, ConnId),
        body: &Body,
    ) {
        let heard = self.handle.on_message(cx, desk, conn, body);
        self.hear(cx, desk, heard);
    }

    fn on_timer(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, request: u64) {
        if let Some(heard) = self.handle.on_timer(cx, desk, request) {
            self.hear(cx, desk, heard);
        } else if let Some(turn) = self.limits.take(cx, request) {
            self.give_up(cx, desk, turn);
        }
    }

    fn on_closed(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, peer: ProcId, conn: ConnId) {
        let heard = self.handle.on_closed(cx, desk, (peer, conn));
        self.hear(cx, desk, heard);
    }

    fn task_of(&self, request: u64) -> Option<usize> {
        let open = self.open.iter().find(|open| open.0 == request).map(|open| open.1.turn);
        let turn = open.or_else(|| self.limits.get(request).copied())?;
        self.turn(turn).map(|turn| turn.task)
    }

    fn task_told(&self, body: &Body) -> Option<usize> {
        let Some(Packet::Event(_, path)) = body.get::<Packet>() else { return None };
        let watches = |place: &&Place| place.watching.as_ref().is_some_and(|w| w.0 == *path);
        let lock = self.places.iter().find(watches)?.lock;
        let turn = self.turns.iter().find(|turn| turn.awaits && turn.lock == lock)?;
        Some(turn.task)
    }

    fn on_crash(&mut self) {
        self.handle.forget();
        self.places.clear();
        self.turns.clear();
        self.open.clear();
        self.parked.clear();
        self.limits.clear();
    }

    fn on_settings(&mut self, settings: &Settings) {
        self.options = Options::of(settings);
        self.handle.configure(self.options);
    }

    fn facts(&self, now: Micros, clocks: &Clocks) -> Vec<Fact> {
        let mut facts = self.handle.facts(now, clocks);
        for place in &self.places {
            let number =
                |path: &Path| super::number_of(path.name()).map(|n| Piece::Number(n.into()));
            if let Some(number) = place.znode.as_ref().and_then(|znode| number(&znode.path)) {
                let key = vec![Piece::Lock(place.lock), Piece::Word("my znode")];
                facts.push(Fact::Row { key, value: vec![number] });
            }
            let Some((path, of)) = &place.watching else { continue };
            let key = vec![Piece::Lock(place.lock), Piece::Word("I watch")];
            let what = number(path).unwrap_or(Piece::Word("the parent"));
            facts.push(Fact::Row { key, value: vec![what] });
            if let Some((watcher, of)) = self.me.zip(*of) {
                facts.push(Fact::Watch { watcher, of });
            }
        }
        facts
    }
}
