//! The steps of the recipe: what each asks, and what it does with the answer.

use std::rc::Rc;

use super::line::{before, stem};
use super::options::{Naming, TokenOf, Watching};
use super::path::{Path, number_of};
use super::recipe::{Aim, Kept, Library, Open, Turn, Word, Znode};
use super::request::{Code, CreateMode, Reply, Request, SessionId, Stat};
use crate::judge::{Ask, Grant, LockId, Mode, Testimony, Token, TruthEnd};
use crate::sim::{Cx, Micros, Outcome, Purpose};
use crate::systems::client::{asks, refused};
use crate::systems::{Desk, Locks, Step};

impl Library {
    /// A place in the queue: the one that it has in this session, or a new one.
    pub(super) fn enter(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        id: u64,
        mode: Mode,
        note: Option<Testimony>,
    ) {
        let Some(turn) = self.turn(id) else { return };
        self.change_mode(desk, turn.lock, mode);
        let session = self.handle.session();
        let place = self.place(turn.lock);
        if place.znode.as_ref().is_some_and(|znode| Some(znode.session) == session) {
            if let Some(note) = note {
                cx.note(note);
            }
            return self.entered(cx, desk, turn);
        }
        self.create(cx, desk, id, note);
    }

    /// Who asks for a lock in the other mode than it has it in keeps what it has: it asks with another
    /// znode, or goes back to one that it has already.
    fn change_mode(&mut self, desk: &Desk, lock: LockId, mode: Mode) {
        let held = desk.believes(lock);
        let session = self.handle.session();
        let place = self.place(lock);
        if std::mem::replace(&mut place.mode, mode) == mode {
            return;
        }
        let before = if mode == Mode::Shared { Mode::Exclusive } else { Mode::Shared };
        let earlier = place.kept.iter().position(|kept| kept.mode == mode);
        let earlier = earlier.map(|place_of| place.kept.remove(place_of).znode);
        if let Some(znode) = std::mem::replace(&mut place.znode, earlier)
            && Some(znode.session) == session
        {
            place.kept.push(Kept { mode: before, znode, held });
        }
    }

    /// A znode at the end of the queue; where the answer to an earlier create was lost, a client that
    /// can tell its own znode looks for it first (ZOOKEEPER-1262).
    fn create(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        id: u64,
        note: Option<Testimony>,
    ) {
        let Some(turn) = self.turn(id) else { return };
        let (parent, naming) = (self.parent(turn.lock), self.options.naming);
        if self.place(turn.lock).unsure && naming != Naming::Plain {
            if let Some(note) =
                note.filter(|note| matches!(note, Testimony::Ask { first: true, .. }))
            {
                cx.note(note);
            }
            return self.find(cx, desk, id, Aim::Find);
        }
        if naming == Naming::Session && self.handle.session().is_none() {
            // There is no name before there is a session.
            if let Some(note) = note {
                cx.note(note);
            }
            return self.park(Open { turn: id, lock: turn.lock, aim: Aim::Create });
        }
        let kept = self.place(turn.lock).letters.take();
        let first = kept.unwrap_or_else(|| self.first_part(cx));
        let place = self.place(turn.lock);
        let name = [&*first, stem(place.mode)].concat();
        place.letters = Some(first);
        place.stem = parent.child(&name);
        (place.before, place.watching, place.fired) = (None, None, false);
        let path = place.stem.clone();
        // Its books come with the answer where they are what the client shows the resource.
        let stat = matches!(self.options.token, TokenOf::Czxid | TokenOf::Version | TokenOf::Mzxid);
        let mode = CreateMode::EphemeralSequential;
        let request = Request::Create { path, data: "".into(), mode, stat };
        let open = Open { turn: id, lock: turn.lock, aim: Aim::Create };
        self.ask(cx, desk, open, request, note);
    }

    /// What stands in front of a znode's name; every try of one create has the same (Curator's
    /// `ProtectedMode`). Real letters are 128 bits; four hexadecimal digits of
    /// which no two creates share all keep a picture readable.
    fn first_part(&mut self, cx: &Cx<'_, Locks>) -> String {
        let digits = |number: u64, count: u32| -> String {
            let places = (0..count).rev();
            let digit = |place| char::from_digit((number >> (4 * place) & 15) as u32, 16);
            places.filter_map(digit).collect()
        };
        match self.options.naming {
            Naming::Plain => String::new(),
            Naming::Session => {
                let session = self.handle.session().map_or(0, |session| session.0);
                ["x-", &digits(session, 16), "-"].concat()
            }
            Naming::Guid => {
                // The lower half tells clients apart, the upper half the tries of each.
                let drawn = cx.random(Purpose::LockValue, 0).wrapping_add(self.names * 157);
                self.names += 1;
                let guid = (drawn & 0xff) << 8 | u64::from(cx.me().0) & 0xff;
                [&*digits(guid, 4), "-"].concat()
            }
        }
    }

    fn find(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, id: u64, aim: Aim) {
        let Some(turn) = self.turn(id) else { return };
        let lock = turn.lock;
        let request = Request::GetChildren { path: self.parent(lock), watch: false, stat: false };
        let note = asks(lock, Ask::Find, true, None);
        self.ask(cx, desk, Open { turn: id, lock, aim }, request, note);
    }

    /// Its znode stands in the queue.
    fn entered(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, turn: Turn) {
        match turn.word {
            Word::Acquire => self.list(cx, desk, turn.id),
            _ => {
                cx.note(Testimony::Answer(turn.lock, Ask::Enter, Outcome::Ok));
                self.finish(cx, turn.id, Outcome::Ok);
            }
        }
    }

    /// Who stands in the queue? Without a watch: whoever watched here would be woken by everybody.
    pub(super) fn list(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, id: u64) {
        let Some(turn) = self.turn(id) else { return };
        let (lock, session) = (turn.lock, self.handle.session());
        let place = self.place(lock);
        if place.znode.as_ref().is_none_or(|znode| Some(znode.session) != session) {
            place.znode = None;
            return self.gone(cx, desk, turn);
        }
        let stat = matches!(self.options.token, TokenOf::Cversion | TokenOf::Pzxid);
        let request = Request::GetChildren { path: self.parent(lock), watch: false, stat };
        let note = asks(lock, Ask::List, true, None);
        self.ask(cx, desk, Open { turn: id, lock, aim: Aim::List }, request, note);
    }

    /// Its own znode is not there: `acquire` makes another, a program is told.
    fn gone(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, turn: Turn) {
        match turn.word {
            Word::Acquire => {
                // It begins anew, with letters of its own (Curator's `LockInternals` likewise).
                self.place(turn.lock).letters = None;
                let note = asks(turn.lock, Ask::Acquire, false, None);
                self.create(cx, desk, turn.id, note);
            }
            _ => self.lose(cx, turn),
        }
    }

    /// Asks to be told when what stands before it is gone.
    pub(super) fn watch(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, id: u64) {
        let Some(turn) = self.turn(id) else { return };
        let (lock, parent) = (turn.lock, self.parent(turn.lock));
        let Some(path) = self.place(lock).before.clone() else { return };
        let (aim, request) = match self.options.watching {
            Watching::Parent => {
                let request = Request::GetChildren { path: parent, watch: true, stat: false };
                (Aim::WatchAll, request)
            }
            _ => (Aim::Watch, Request::Exists { path, watch: true }),
        };
        let note = asks(lock, self.options.watching.asked(), true, None);
        self.ask(cx, desk, Open { turn: id, lock, aim }, request, note);
    }

    /// Is its own znode still there?
    pub(super) fn renew_it(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, id: u64) {
        let Some(turn) = self.turn(id) else { return };
        let Some(path) = self.place(turn.lock).znode.as_ref().map(|z| z.path.clone()) else {
            return;
        };
        let (lock, note) = (turn.lock, asks(turn.lock, Ask::Renew, true, None));
        let open = Open { turn: id, lock, aim: Aim::Renew };
        self.ask(cx, desk, open, Request::Exists { path, watch: false }, note);
    }

    /// Gives its place up.
    pub(super) fn delete(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, id: u64) {
        let Some(turn) = self.turn(id) else { return };
        self.delete_again(cx, desk, turn, true);
    }

    fn delete_again(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, turn: Turn, first: bool) {
        let Some(path) = self.place(turn.lock).znode.as_ref().map(|z| z.path.clone()) else {
            return self.released(cx, desk, turn, Outcome::Refused);
        };
        let (lock, note) = (turn.lock, asks(turn.lock, Ask::Release, first, None));
        let open = Open { turn: turn.id, lock, aim: Aim::Delete };
        self.ask(cx, desk, open, Request::Delete { path, version: None }, note);
    }

    fn released(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, turn: Turn, outcome: Outcome) {
        let place = self.place(turn.lock);
        (place.znode, place.before, place.watching) = (None, None, None);
        place.fired = false;
        // A program has one word for all that its client has of a lock: the newest goes first.
        if let Some(kept) = place.kept.pop() {
            (place.mode, place.znode) = (kept.mode, Some(kept.znode));
            return self.delete_again(cx, desk, turn, false);
        }
        self.tidy(cx, desk, turn.lock);
        cx.note(Testimony::Answer(turn.lock, Ask::Release, outcome));
        self.finish(cx, turn.id, outcome);
    }

    /// Deletes a znode that nobody wants any more.
    pub(super) fn clean(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        lock: LockId,
        path: Path,
    ) {
        let open = Open { turn: 0, lock, aim: Aim::Clean(path.clone()) };
        self.ask(cx, desk, open, Request::Delete { path, version: None }, None);
    }

    fn tidy(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, lock: LockId) {
        if self.options.deletes_parent {
            let request = Request::Delete { path: self.parent(lock), version: None };
            self.ask(cx, desk, Open { turn: 0, lock, aim: Aim::Tidy }, request, None);
        }
    }

    /// What was asked is answered.
    pub(super) fn answered(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        open: Open,
        reply: &Reply,
    ) {
        match (open.aim, reply) {
            (Aim::Clean(_), _) => self.tidy(cx, desk, open.lock),
            (Aim::FindToClean, Reply::Children(names, _)) => {
                if let Some(path) = self.found(open.lock, names) {
                    self.clean(cx, desk, open.lock, path);
                }
            }
            (Aim::Create, Reply::Created(path, books)) => {
                self.created(cx, desk, (open.turn, open.lock), path, *books);
            }
            (aim, reply) => {
                if let Some(turn) = self.turn(open.turn) {
                    self.answer(cx, desk, turn, aim, reply);
                }
            }
        }
    }

    /// The same for a turn that still wants to know.
    fn answer(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        turn: Turn,
        aim: Aim,
        reply: &Reply,
    ) {
        let lock = turn.lock;
        match (aim, reply) {
            (Aim::Create, Reply::Error(Code::NoNode)) => {
                let path = self.parent(lock);
                let mode = CreateMode::Persistent;
                let request = Request::Create { path, data: "".into(), mode, stat: false };
                let open = Open { turn: turn.id, lock, aim: Aim::Parent };
                self.ask(cx, desk, open, request, None);
            }
            (Aim::Create, _) => {
                self.told(cx, lock, Outcome::Refused);
                self.finish(cx, turn.id, Outcome::Refused);
            }
            (Aim::Parent, _) => {
                self.create(cx, desk, turn.id, asks(lock, Ask::Acquire, false, None))
            }
            (Aim::Find, reply) => self.looked(cx, desk, turn, reply),
            (Aim::Owner(path), Reply::Stat(stat)) => self.adopt(cx, desk, turn, path, *stat),
            (Aim::Owner(_), _) => self.anew(cx, desk, turn),
            (Aim::Books, Reply::Stat(stat)) => {
                cx.note(Testimony::Answer(lock, Ask::Token, Outcome::Ok));
                if let Some(znode) = &mut self.place(lock).znode {
                    znode.books = Some(*stat);
                }
                self.hold(cx, desk, turn);
            }
            (Aim::Books, _) => {
                cx.note(Testimony::Answer(lock, Ask::Token, Outcome::Refused));
                self.gone(cx, desk, turn);
            }
            (Aim::List, Reply::Children(names, books)) => {
                self.place(lock).parent = *books;
                self.listed(cx, desk, turn, names);
            }
            (Aim::List, _) => self.gone(cx, desk, turn),
            (Aim::Watch | Aim::WatchAll, reply) => self.set(cx, desk, turn, reply),
            (Aim::Renew, Reply::Stat(stat)) if stat.owner == self.handle.session() => {
                cx.note(Testimony::Answer(lock, Ask::Renew, Outcome::Ok));
                self.finish(cx, turn.id, Outcome::Ok);
            }
            (Aim::Renew, _) => {
                self.place(lock).znode = None;
                refused(cx, desk, turn.task, lock, Ask::Renew);
                self.finish(cx, turn.id, Outcome::Refused);
            }
            (Aim::Delete, reply) => {
                let done = if *reply == Reply::Done { Outcome::Ok } else { Outcome::Refused };
                self.released(cx, desk, turn, done);
            }
            (Aim::Clean(_) | Aim::FindToClean | Aim::Tidy, _) => {}
        }
    }

    fn created(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        (id, lock): (u64, LockId),
        path: &Path,
        books: Option<Stat>,
    ) {
        let Some(turn) = self.turn(id) else {
            // It was given up meanwhile.
            return self.clean(cx, desk, lock, path.clone());
        };
        let Some(session) = self.handle.session() else { return };
        self.own(turn.lock, Znode { path: path.clone(), session, books });
        self.entered(cx, desk, turn);
    }

    fn own(&mut self, lock: LockId, znode: Znode) {
        let place = self.place(lock);
        place.unsure = false;
        place.znode = Some(znode);
    }

    /// The znode with this client's letters, if there is one.
    fn found(&mut self, lock: LockId, names: &[Rc<str>]) -> Option<Path> {
        let stem = self.place(lock).stem.clone();
        let name = names.iter().find(|name| name.starts_with(stem.name()))?;
        Some(self.parent(lock).child(name))
    }

    fn looked(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, turn: Turn, reply: &Reply) {
        let names = if let Reply::Children(names, _) = reply { &names[..] } else { &[] };
        let found = self.found(turn.lock, names);
        let outcome = if found.is_some() { Outcome::Ok } else { Outcome::Refused };
        cx.note(Testimony::Answer(turn.lock, Ask::Find, outcome));
        let (lock, id) = (turn.lock, turn.id);
        match found {
            None => self.anew(cx, desk, turn),
            Some(path) if self.options.adopts_any => {
                if let Some(session) = self.handle.session() {
                    self.own(lock, Znode { path, session, books: None });
                    self.entered(cx, desk, turn);
                }
            }
            Some(path) => {
                let open = Open { turn: id, lock, aim: Aim::Owner(path.clone()) };
                self.ask(cx, desk, open, Request::Exists { path, watch: false }, None);
            }
        }
    }

    /// Nothing is there of the create that was not answered: it creates again.
    fn anew(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, turn: Turn) {
        self.place(turn.lock).unsure = false;
        self.create(cx, desk, turn.id, asks(turn.lock, Ask::Acquire, false, None));
    }

    /// A znode with its own letters counts where it is of the present session; one of a session that is
    /// over is about to go, and is deleted (CURATOR-498).
    fn adopt(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        turn: Turn,
        path: Path,
        books: Stat,
    ) {
        match self.handle.session() {
            Some(session) if books.owner == Some(session) => {
                self.own(turn.lock, Znode { path, session, books: Some(books) });
                self.entered(cx, desk, turn);
            }
            _ => {
                self.clean(cx, desk, turn.lock, path);
                self.anew(cx, desk, turn);
            }
        }
    }

    fn listed(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, turn: Turn, names: &[Rc<str>]) {
        let lock = turn.lock;
        let Some(line) = self.line(lock, names) else {
            self.place(lock).znode = None;
            cx.note(Testimony::Answer(lock, Ask::List, Outcome::Lost));
            return self.gone(cx, desk, turn);
        };
        if line.is_empty() {
            cx.note(Testimony::Answer(lock, Ask::List, Outcome::Ok));
            return self.hold(cx, desk, turn);
        }
        cx.note(Testimony::Answer(lock, Ask::List, Outcome::Refused));
        match turn.word {
            Word::Acquire => self.watch(cx, desk, turn.id),
            _ => self.finish(cx, turn.id, Outcome::Refused),
        }
    }

    /// Who has to go before this client holds the lock; keeps which of them it is to watch.
    fn line(&mut self, lock: LockId, names: &[Rc<str>]) -> Option<Vec<Path>> {
        let (parent, options) = (self.parent(lock), self.options);
        let place = self.place(lock);
        let mine = place.znode.as_ref()?.path.clone();
        let mut line = before(names, mine.name(), options.sorting)?;
        let owns = |kept: &Kept| kept.held && kept.mode == Mode::Exclusive;
        if place.mode == Mode::Shared && place.kept.iter().any(owns) {
            // Whoever holds the lock alone may read as well (Curator's `InterProcessReadWriteLock`); the
            // other way round a writer waits for every reader, itself included.
            line.clear();
        }
        let path = |name: &&str| parent.child(name);
        place.before = match options.watching {
            Watching::Predecessor => line.last().map(path),
            Watching::Lowest => line.first().map(path),
            Watching::Parent => line.first().map(|_| parent.clone()),
        };
        Some(line.iter().map(path).collect())
    }

    /// A watch is set, or what it was to watch has gone in the meantime.
    fn set(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, turn: Turn, reply: &Reply) {
        let lock = turn.lock;
        // A watch on the parent comes with the names as they are by now.
        let first = match reply {
            Reply::Children(names, _) => self.line(lock, names).is_none_or(|line| line.is_empty()),
            _ => false,
        };
        let set = !first && !matches!(reply, Reply::Error(_));
        let outcome = if set { Outcome::Ok } else { Outcome::Refused };
        if set {
            let path = self.place(lock).before.clone();
            let owner = if let Reply::Stat(stat) = reply { stat.owner } else { None };
            let of = owner.and_then(|session| cx.commons().queues.client(session));
            let place = self.place(lock);
            (place.watching, place.fired) = (path.map(|path| (path, of)), false);
        }
        cx.note(Testimony::Answer(lock, self.options.watching.asked(), outcome));
        match (turn.word, set) {
            (Word::Acquire, true) => self.await_it(cx, desk, turn.id),
            (Word::Acquire, false) => self.list(cx, desk, turn.id),
            _ => self.finish(cx, turn.id, outcome),
        }
    }

    /// Nobody stands before it: from here on it believes that it holds the lock.
    fn hold(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, turn: Turn) {
        let (lock, session) = (turn.lock, self.handle.session());
        let rule = self.options.token;
        let place = self.place(lock);
        let (mode, parent) = (place.mode, place.parent);
        let Some(znode) = place.znode.clone() else { return self.gone(cx, desk, turn) };
        let own = matches!(rule, TokenOf::Czxid | TokenOf::Version | TokenOf::Mzxid);
        if own && znode.books.is_none() {
            let request = Request::Exists { path: znode.path, watch: false };
            let note = asks(lock, Ask::Token, true, None);
            let open = Open { turn: turn.id, lock, aim: Aim::Books };
            return self.ask(cx, desk, open, request, note);
        }
        if !cx.waits(turn.task) {
            // The task that asked was stopped: no code of the client consumes the grant.
            self.told(cx, lock, Outcome::Closed);
            return self.finish(cx, turn.id, Outcome::Closed);
        }
        let owns = |kept: &Kept| kept.held && kept.mode == Mode::Exclusive;
        if self.place(lock).kept.iter().any(owns) && desk.believes(lock) {
            // It has the lock alone, and goes on having it so.
            self.told(cx, lock, Outcome::Ok);
            return self.finish(cx, turn.id, Outcome::Ok);
        }
        let token = shown(rule, &znode, parent, session);
        // For the books: which grant it is that the client consumes.
        let grant = match cx.commons().queues.grant_of(lock, &znode.path) {
            Some((grant, shown)) => {
                if let (None, Some(token)) = (shown, token) {
                    // A value that the client reads itself is the grant's token from here on.
                    cx.note(Testimony::Mint(grant, token));
                }
                grant
            }
            None => worthless(cx, lock, mode, token),
        };
        self.told(cx, lock, Outcome::Ok);
        desk.believe(cx, lock, mode, grant, token, None);
        self.finish(cx, turn.id, Outcome::Ok);
    }

    /// The connection broke before this was answered.
    pub(super) fn broken(&mut self, cx: &mut Cx<'_, Locks>, open: Open) {
        let lock = open.lock;
        if open.aim == Aim::Create {
            let lives = self.turn(open.turn).is_some();
            self.place(lock).unsure = lives;
            if !lives && self.options.naming != Naming::Plain {
                return self.park(Open { aim: Aim::FindToClean, ..open });
            }
        }
        let Some(turn) = self.turn(open.turn) else {
            if !self.options.releases_once && open.aim != Aim::Tidy {
                self.park(open);
            }
            return;
        };
        let again = match turn.word {
            Word::Acquire => true,
            Word::Release => !self.options.releases_once,
            _ => false,
        };
        if again {
            return self.park(open);
        }
        let ask = match turn.word {
            Word::Release => Ask::Release,
            Word::Renew => Ask::Renew,
            Word::Step(Step::List) => Ask::List,
            Word::Step(Step::Watch) => self.options.watching.asked(),
            _ => Ask::Enter,
        };
        match ask {
            Ask::Release => {
                let place = self.place(lock);
                place.znode = None;
                place.kept.clear();
            }
            // Whether it has a place it does not know: its request has come to an end.
            Ask::Enter if self.place(lock).wants => {
                self.told(cx, lock, Outcome::Closed);
                return self.finish(cx, turn.id, Outcome::Closed);
            }
            _ => {}
        }
        cx.note(Testimony::Answer(lock, ask, Outcome::Closed));
        self.finish(cx, turn.id, Outcome::Closed);
    }

    /// There is a connection again: what was left undone is done.
    pub(super) fn resume(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, open: Open) {
        let (lock, id) = (open.lock, open.turn);
        match (open.aim, self.turn(id)) {
            (Aim::Clean(path), _) => self.clean(cx, desk, lock, path),
            (Aim::FindToClean, _) => {
                let path = self.parent(lock);
                let request = Request::GetChildren { path, watch: false, stat: false };
                let open = Open { turn: 0, lock, aim: Aim::FindToClean };
                self.ask(cx, desk, open, request, None);
            }
            (_, None) => {}
            (Aim::Create | Aim::Parent | Aim::Find | Aim::Owner(_), Some(_)) => {
                self.create(cx, desk, id, asks(lock, Ask::Acquire, false, None));
            }
            (Aim::Delete, Some(turn)) => self.delete_again(cx, desk, turn, false),
            _ => self.list(cx, desk, id),
        }
    }
}

/// What a client shows the resource. A number below 0 is below all others, as 0 is.
fn shown(
    rule: TokenOf,
    znode: &Znode,
    parent: Option<Stat>,
    session: Option<SessionId>,
) -> Option<Token> {
    let count = |number: i32| u64::try_from(number).unwrap_or(0);
    let number = match rule {
        TokenOf::Czxid => znode.books?.czxid.0,
        TokenOf::Mzxid => znode.books?.mzxid.0,
        TokenOf::Version => count(znode.books?.version),
        TokenOf::Sequence => count(number_of(znode.path.name())?),
        TokenOf::Cversion => count(parent?.cversion),
        TokenOf::Pzxid => parent?.pzxid.0,
        TokenOf::Session => session?.0,
    };
    Some(Token(number))
}

/// What a client takes for a grant that the service has made to somebody else, or to nobody. Nothing is
/// promised with it, and nobody has granted twice: it is the client's own rule that erred.
fn worthless(cx: &mut Cx<'_, Locks>, lock: LockId, mode: Mode, token: Option<Token>) -> Grant {
    let (term, expires) = (Some(Micros::ZERO), Some(cx.now()));
    let (client, asked, woken) = (cx.me(), true, false);
    let grant = Testimony::Grant { lock, client, mode, token, term, expires, asked, woken };
    let grant = Grant(cx.note(grant));
    cx.note(Testimony::Free(grant, TruthEnd::Forgotten));
    grant
}
