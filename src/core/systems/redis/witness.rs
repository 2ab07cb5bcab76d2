//! What a server says to the judge of those of its keys that are locks. It decides nothing.
//!
//! The server's record is the truth: from the command that set a key until the key is gone, holds
//! another value, or is over by the server's clock.

use super::command::{Command, Only, Reply};
use super::engine::Happened;
use super::keyspace::{Entry, Keyspace, Value};
use super::poll::{Agreed, Vote};
use super::scripts::Script;
use super::text::Text;
use crate::judge::{Ask, Grant, LockId, Mode, Testimony, Token, TruthEnd};
use crate::sim::{ClockKind, Clocks, Cx, Local, Micros, ProcId};
use crate::systems::{Fact, Locks, Piece};

/// The keys of a lock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LockKeys {
    /// The key that is there while somebody holds it.
    pub lock: Text,
    /// The counter that its fencing tokens come from.
    pub counter: Text,
}

impl LockKeys {
    /// The keys of the n-th lock of a scenario.
    pub fn of(lock: LockId) -> LockKeys {
        let number = lock.0;
        LockKeys {
            lock: Text::new(&format!("lock:{number}")),
            counter: Text::new(&format!("lock:{number}:token")),
        }
    }
}

#[derive(Clone, Debug)]
struct Held {
    client: ProcId,
    value: Text,
    expires: Option<i64>,
    token: Option<Token>,
}

/// One lock, as the server has it.
#[derive(Clone, Debug)]
struct Seat {
    keys: LockKeys,
    held: Option<Held>,
    /// The value that was said last, and when it would end, where one server of several says it.
    said: Option<(Text, Option<Micros>)>,
    /// Who set each value first.
    owners: Vec<(Text, ProcId)>,
}

/// The locks among a server's keys.
#[derive(Clone, Default, Debug)]
pub struct Witness {
    seats: Vec<Seat>,
    /// How many masters there are, of which this is one.
    masters: usize,
}

/// What a command did, as far as its server knows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deed {
    /// Who sent it.
    pub by: ProcId,
    /// Whether it asks for a lock; what sets a key otherwise takes the lock in silence.
    pub asks: bool,
    /// Whether an end that it moves is one that its sender wants to move.
    pub extends: bool,
    /// Which of its sender's requests it is.
    pub request: u64,
}

impl Deed {
    pub(super) fn of(by: ProcId, command: &Command, request: u64) -> Deed {
        let asks = match command {
            Command::Set(set) => set.only == Only::Absent,
            Command::Eval(script, _) | Command::EvalSha(Some(script), _) => {
                *script == Script::Acquire
            }
            Command::Exec => true,
            _ => false,
        };
        // Whoever deletes one key of several moves the end of the majority, and wants no more time.
        let gives_back = match command {
            Command::Del(_) | Command::DelIf(..) | Command::GetDel(_) => true,
            Command::Eval(script, _) | Command::EvalSha(Some(script), _) => {
                *script == Script::Release
            }
            _ => false,
        };
        Deed { by, asks, extends: !asks && !gives_back, request }
    }

    /// What nobody has asked for.
    pub(super) const fn nobodys(by: ProcId) -> Deed {
        Deed { by, asks: false, extends: false, request: 0 }
    }
}

/// The first reading of the wall clock at which a key with this end is gone.
pub(super) fn gone_at(end: i64) -> Local {
    Local(end.saturating_add(1).saturating_mul(1_000))
}

fn text(entry: Option<&Entry>) -> Option<&Text> {
    match entry.map(|entry| &entry.value) {
        Some(Value::Text(text)) => Some(text),
        _ => None,
    }
}

impl Witness {
    /// Of so many locks, at one of so many masters.
    pub fn new(locks: usize, masters: usize) -> Witness {
        let seat = |number| Seat {
            keys: LockKeys::of(LockId(number as u16)),
            held: None,
            said: None,
            owners: Vec::new(),
        };
        Witness { seats: (0..locks).map(seat).collect(), masters }
    }

    /// Keys were changed.
    pub(super) fn changed(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        keys: &Keyspace,
        changes: &[(Text, Happened)],
        deed: Deed,
    ) {
        let masters = self.masters;
        for (index, seat) in self.seats.iter_mut().enumerate() {
            let lock = (LockId(index as u16), masters);
            let last = changes.iter().rev().find(|c| c.0 == seat.keys.lock).map(|c| c.1);
            let counted = changes.iter().any(|c| c.0 == seat.keys.counter);
            if let Some(what) = last {
                seat.look(cx, keys, lock, (what, counted), deed);
            } else if counted {
                seat.mint(cx, keys, lock.0, deed.by);
            }
        }
    }

    /// The answer to a command: what of it is a refusal. One of several masters only says no: what
    /// that means is its client's conclusion.
    pub(super) fn answered(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        command: &Command,
        reply: &Reply,
        by: ProcId,
    ) {
        if !matches!(reply, Reply::Nil | Reply::Number(0)) {
            return;
        }
        let (key, ask) = match command {
            Command::Set(set) if set.only == Only::Absent => (Some(&set.key), Ask::Acquire),
            Command::Eval(script, call) | Command::EvalSha(Some(script), call) => {
                let ask = match script {
                    Script::Acquire => Ask::Acquire,
                    Script::Extend | Script::Refresh => Ask::Renew,
                    Script::Release => Ask::Release,
                };
                (call.keys.first(), ask)
            }
            Command::Expire { key, .. } => (Some(key), Ask::Renew),
            Command::Del(keys) => (keys.first(), Ask::Release),
            _ => return,
        };
        let seat = self.seats.iter().position(|seat| Some(&seat.keys.lock) == key);
        if let Some(index) = seat {
            let lock = LockId(index as u16);
            match self.masters {
                1 => cx.note(Testimony::Refuse(lock, by, ask)),
                _ => cx.note(Testimony::Decline(lock, by, ask)),
            };
        }
    }

    /// The server is there again. As long as it was not, nobody could be told otherwise than before.
    /// What it brings back can be nothing, or an older holder's.
    pub(super) fn restarted(&mut self, cx: &mut Cx<'_, Locks>, keys: &Keyspace, now: i64) {
        let masters = self.masters;
        for (index, seat) in self.seats.iter_mut().enumerate() {
            let there = keys.live(&seat.keys.lock, now);
            let (value, expires) = (text(there).cloned(), there.and_then(|entry| entry.expires));
            let known = seat.held.as_ref().map(|held| (held.value.clone(), held.expires));
            if known == value.clone().map(|value| (value, expires)) {
                continue;
            }
            let owner = |value: &Text| seat.owners.iter().find(|o| o.0 == *value).map(|o| o.1);
            seat.held = value.and_then(|value| {
                let token = value.number().and_then(token);
                Some(Held { client: owner(&value)?, value, expires, token })
            });
            let deed = Deed::nobodys(cx.me());
            seat.vote(cx, (LockId(index as u16), masters), TruthEnd::Forgotten, deed);
        }
    }

    /// The server takes another one's place, with what it has.
    pub(super) fn leads(&mut self, cx: &mut Cx<'_, Locks>, keys: &Keyspace, now: i64) {
        let (masters, me) = (self.masters, cx.me());
        cx.commons().polls.lead(me);
        for (index, seat) in self.seats.iter_mut().enumerate() {
            let lock = LockId(index as u16);
            let there = keys.live(&seat.keys.lock, now);
            let expires = there.and_then(|entry| entry.expires);
            // Who set a key elsewhere, an observer knows.
            seat.held = text(there).cloned().map(|value| {
                let (client, token) =
                    cx.commons().polls.owner_of(lock, &value).unwrap_or((me, None));
                Held { client, value, expires, token }
            });
            let deed = Deed::nobodys(me);
            seat.vote(cx, (lock, masters), TruthEnd::Forgotten, deed);
        }
    }

    /// The server is a replica from now on: nothing that it has is its own word.
    pub(super) fn steps_down(&mut self) {
        self.seats.iter_mut().for_each(|seat| seat.held = None);
    }

    /// What a replica shows of its locks.
    pub(super) fn copies(
        &self,
        keys: &Keyspace,
        now: Micros,
        clocks: &Clocks,
        ttl: Micros,
    ) -> Vec<Fact> {
        let mut facts = Vec::new();
        let wall = clocks.get(ClockKind::Wall);
        for (index, seat) in self.seats.iter().enumerate() {
            let lock = LockId(index as u16);
            let live = keys.live(&seat.keys.lock, wall.read(now).0.div_euclid(1_000));
            let value = match text(live).and_then(Text::number).and_then(token) {
                Some(token) => vec![Piece::Word("a copy of"), Piece::Token(token)],
                None => vec![Piece::Word("no copy")],
            };
            facts.push(Fact::Row { key: vec![Piece::Lock(lock)], value });
            if let Some(end) = live.and_then(|entry| entry.expires) {
                facts.push(Fact::Ring { lock, until: wall.when(now, gone_at(end)), span: ttl });
            }
        }
        facts
    }

    /// The wall clock changed, and with it when each key will be over.
    pub(super) fn clock_changed(&mut self, cx: &mut Cx<'_, Locks>, keys: &Keyspace) {
        let masters = self.masters;
        for (index, seat) in self.seats.iter_mut().enumerate() {
            // One that is over and was not deleted is there again where the clock went back.
            if seat.held.is_some() && keys.raw(&seat.keys.lock).is_some() {
                let deed = Deed::nobodys(cx.me());
                seat.vote(cx, (LockId(index as u16), masters), TruthEnd::Forgotten, deed);
            }
        }
    }

    /// Whether that token is the holder's, at this moment.
    pub(super) fn holds(&self, lock: LockId, token: Token, keys: &Keyspace, now: i64) -> bool {
        self.seats.get(usize::from(lock.0)).is_some_and(|seat| {
            let there = keys.live(&seat.keys.lock, now).is_some();
            there && seat.held.as_ref().is_some_and(|held| held.token == Some(token))
        })
    }

    /// What the server shows of its locks.
    pub(super) fn facts(&self, now: Micros, clocks: &Clocks, ttl: Micros) -> Vec<Fact> {
        let mut facts = Vec::new();
        let wall = clocks.get(ClockKind::Wall);
        for (index, seat) in self.seats.iter().enumerate() {
            let lock = LockId(index as u16);
            let live = |held: &&Held| held.expires.is_none_or(|end| wall.read(now) < gone_at(end));
            let Some(held) = seat.held.as_ref().filter(live) else {
                let value = vec![Piece::Word("free")];
                facts.push(Fact::Row { key: vec![Piece::Lock(lock)], value });
                continue;
            };
            let mut value = vec![Piece::Client(held.client), Piece::Word("holds")];
            value.push(held.token.map_or(Piece::Word("it"), Piece::Token));
            facts.push(Fact::Row { key: vec![Piece::Lock(lock)], value });
            if let Some(end) = held.expires {
                facts.push(Fact::Ring { lock, until: wall.when(now, gone_at(end)), span: ttl });
            }
        }
        facts
    }
}

impl Seat {
    /// Compares what the key is now with what was said of it last.
    fn look(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        keys: &Keyspace,
        lock: (LockId, usize),
        (what, counted): (Happened, bool),
        deed: Deed,
    ) {
        let there = keys.raw(&self.keys.lock);
        let expires = there.and_then(|entry| entry.expires);
        let old = self.held.take();
        let own = old.as_ref().is_some_and(|held| held.client == deed.by);
        let why = match what {
            Happened::Evicted => TruthEnd::Forgotten,
            _ if own => TruthEnd::Released,
            _ => TruthEnd::Removed(deed.by),
        };
        self.held = text(there).cloned().map(|value| match old {
            Some(held) if held.value == value => Held { expires, ..held },
            _ => {
                let count = keys.raw(&self.keys.counter);
                let number = text(count).filter(|_| counted).and_then(Text::number);
                let token = number.or(value.number()).and_then(token);
                Held { client: deed.by, value, expires, token }
            }
        });
        if let Some(held) = &self.held
            && self.owners.iter().all(|owner| owner.0 != held.value)
        {
            self.owners.push((held.value.clone(), held.client));
        }
        self.vote(cx, lock, why, deed);
    }

    /// Says what the key is now, and to the judge what follows from it.
    fn vote(&mut self, cx: &mut Cx<'_, Locks>, lock: (LockId, usize), why: TruthEnd, deed: Deed) {
        let (me, now) = (cx.me(), cx.now());
        if cx.commons().polls.is_deposed(me) {
            return self.unheard(cx, lock.0, deed);
        }
        let vote = self.held.as_ref().map(|held| Vote {
            master: me,
            value: held.value.clone(),
            client: held.client,
            gone: held.expires.and_then(|end| cx.when(ClockKind::Wall, gone_at(end))),
        });
        if lock.1 > 1 {
            self.say(cx, lock.0, vote.as_ref(), (why, deed));
        }
        let token = self.held.as_ref().and_then(|held| held.token);
        let own_term = self.held.as_ref().and_then(|held| term(cx, held.expires));
        let sets = self.held.as_ref().filter(|_| deed.asks || deed.extends);
        let value = sets.map(|held| held.value.clone());
        let agreed = value
            .as_ref()
            .map_or(Agreed::No, |v| cx.commons().polls.agrees(lock, v, (me, deed.request)));
        let mut turn = cx.commons().polls.vote(lock, now, me, vote, why);
        if cx.is_still() {
            // A clock has changed under a server that is stopped: when the truth ends by it is a fact
            // about the clock, and all else it says when it goes on.
            if let Some((grant, TruthEnd::Expired(end))) = turn.ended {
                cx.note(Testimony::Expires(grant, Some(end)));
            }
            (turn.ended, turn.made) = (None, None);
        }
        if let Some((grant, why)) = turn.ended {
            cx.note(Testimony::Free(grant, why));
        }
        // A majority of the masters extends; and where it had come about of several tries, the last of
        // them is promised more once a majority has agreed to it alone.
        let extended = match (agreed, turn.made.is_some(), turn.moved.is_some()) {
            (Agreed::Now, false, _) => true,
            (Agreed::Before, _, moved) => deed.extends && moved,
            _ => false,
        };
        let seated = value.filter(|_| extended).and_then(|v| cx.commons().polls.seated(lock.0, &v));
        if let Some((grant, value, ends)) = seated {
            let promised = cx.commons().polls.promised(lock.0, &value, now);
            cx.note(Testimony::Extend(grant, promised.or(own_term), ends));
        } else if let Some((grant, ends)) = turn.moved {
            // A further master counts, or a clock has changed.
            cx.note(Testimony::Expires(grant, ends));
        }
        if let Some((client, value, ends)) = turn.made {
            let promised = cx.commons().polls.promised(lock.0, &value, now);
            // What masters have of several tries, no client was promised for as long as the last one.
            let most = ends.filter(|_| agreed == Agreed::No).map(|ends| ends.since(now));
            let promised = promised.map(|p| most.map_or(p, |most| p.min(most)));
            let grant = Grant(cx.note(Testimony::Grant {
                lock: lock.0,
                client,
                mode: Mode::Exclusive,
                token,
                term: promised.or(own_term),
                expires: ends,
                asked: deed.asks,
                woken: false,
            }));
            cx.commons().polls.seat(lock.0, (client, value, ends), (grant, token));
        }
    }

    /// A server that does not know yet that another has its place sets a key: it grants what does not
    /// count.
    fn unheard(&mut self, cx: &mut Cx<'_, Locks>, lock: LockId, deed: Deed) {
        let Some(held) = self.held.as_ref().filter(|_| deed.asks) else { return };
        let (client, value, token) = (held.client, held.value.clone(), held.token);
        if cx.commons().polls.grant_of(lock, &value).is_some() {
            return;
        }
        let term = term(cx, held.expires);
        let grant = worthless(cx, (lock, client), token, (term, TruthEnd::Forgotten));
        cx.commons().polls.remember(lock, (value, client), (grant, token));
    }

    /// Says what one of several masters has, where that is something else than before.
    fn say(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        lock: LockId,
        vote: Option<&Vote>,
        (why, deed): (TruthEnd, Deed),
    ) {
        let now = cx.now();
        let has = vote.map(|vote| (vote.value.clone(), vote.gone));
        let before = std::mem::replace(&mut self.said, has.clone());
        if before == has {
            return;
        }
        let same = before.as_ref().map(|b| &b.0) == has.as_ref().map(|h| &h.0);
        let until = has.and_then(|has| has.1);
        if same && deed.by == cx.me() {
            cx.note(Testimony::Moves(lock, until));
            return;
        }
        let token = self.held.as_ref().and_then(|held| held.token);
        let of = vote.map(|vote| (vote.client, token));
        let ended = before.filter(|_| !same).map(|(_, end)| match end.filter(|end| *end <= now) {
            Some(end) => TruthEnd::Expired(end),
            None => why,
        });
        cx.note(Testimony::Keep { lock, of, until, ended });
    }

    /// Somebody counted in a request of its own: the count is the token of its last grant.
    fn mint(&mut self, cx: &mut Cx<'_, Locks>, keys: &Keyspace, lock: LockId, by: ProcId) {
        let count = text(keys.raw(&self.keys.counter)).and_then(Text::number);
        let grant = cx.commons().polls.grant_by(lock, by);
        if let (Some(grant), Some(token)) = (grant, count.and_then(token)) {
            if let Some(held) = self.held.as_mut().filter(|held| held.client == by) {
                held.token = Some(token);
            }
            cx.commons().polls.mint(lock, grant, token);
            cx.note(Testimony::Mint(grant, token));
        }
    }
}

/// A grant that ends as it is made: no majority ever had it at one time, or another server's word counts
/// by now.
pub(super) fn worthless(
    cx: &mut Cx<'_, Locks>,
    (lock, client): (LockId, ProcId),
    token: Option<Token>,
    (term, why): (Option<Micros>, TruthEnd),
) -> Grant {
    let (mode, asked, woken) = (Mode::Exclusive, true, false);
    // What was over before is no grant beside another's; what a server says is one, counted or not.
    let expires = if let TruthEnd::Expired(end) = why { Some(end) } else { None };
    let grant = Testimony::Grant { lock, client, mode, token, term, expires, asked, woken };
    let grant = Grant(cx.note(grant));
    cx.note(Testimony::Free(grant, why));
    grant
}

fn token(number: i64) -> Option<Token> {
    u64::try_from(number).ok().map(Token)
}

/// How long a key with this end is promised from now on by its server's clock.
fn term(cx: &Cx<'_, Locks>, expires: Option<i64>) -> Option<Micros> {
    let now = cx.clock(ClockKind::Wall).0.div_euclid(1_000);
    let left = expires?.saturating_sub(now);
    Some(Micros::from_millis(u64::try_from(left).unwrap_or(0)))
}
