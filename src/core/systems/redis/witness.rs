//! What a server says to the judge of those of its keys that are locks. It decides nothing.
//!
//! The server's record is the truth: from the command that set a key until the key is gone, holds
//! another value, or is over by the server's clock.

use super::command::{Command, Only, Reply};
use super::engine::Happened;
use super::keyspace::{Entry, Keyspace, Value};
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
    grant: Grant,
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
    /// Who set each value first, and the grant that it was.
    owners: Vec<(Text, ProcId, Grant)>,
}

/// The locks among a server's keys.
#[derive(Clone, Default, Debug)]
pub struct Witness(Vec<Seat>);

/// What a command did, as far as its server knows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deed {
    /// Who sent it.
    pub by: ProcId,
    /// Whether it asks for a lock; what sets a key otherwise takes the lock in silence.
    pub asks: bool,
}

impl Deed {
    pub(super) fn of(by: ProcId, command: &Command) -> Deed {
        let asks = match command {
            Command::Set(set) => set.only == Only::Absent,
            Command::Eval(script, _) | Command::EvalSha(Some(script), _) => {
                *script == Script::Acquire
            }
            Command::Exec => true,
            _ => false,
        };
        Deed { by, asks }
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
    /// Of so many locks.
    pub fn new(locks: usize) -> Witness {
        let seat = |number| Seat {
            keys: LockKeys::of(LockId(number as u16)),
            held: None,
            owners: Vec::new(),
        };
        Witness((0..locks).map(seat).collect())
    }

    /// Keys were changed: the grant that was made, where one was.
    pub(super) fn changed(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        keys: &Keyspace,
        changes: &[(Text, Happened)],
        deed: Deed,
    ) -> Option<Grant> {
        let mut made = None;
        for (index, seat) in self.0.iter_mut().enumerate() {
            let lock = LockId(index as u16);
            let last = changes.iter().rev().find(|c| c.0 == seat.keys.lock).map(|c| c.1);
            let counted = changes.iter().any(|c| c.0 == seat.keys.counter);
            if let Some(what) = last {
                made = seat.look(cx, keys, (lock, what, counted), deed).or(made);
            } else if counted {
                seat.mint(cx, keys, deed.by);
            }
        }
        made
    }

    /// The answer to a command: what of it is a refusal.
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
                    Script::Extend => Ask::Renew,
                    Script::Release => Ask::Release,
                };
                (call.keys.first(), ask)
            }
            Command::Expire { key, .. } => (Some(key), Ask::Renew),
            Command::Del(keys) => (keys.first(), Ask::Release),
            _ => return,
        };
        let seat = self.0.iter().position(|seat| Some(&seat.keys.lock) == key);
        if let Some(index) = seat {
            cx.note(Testimony::Refuse(LockId(index as u16), by, ask));
        }
    }

    /// The server died, and these keys are what a restart will bring back.
    pub(super) fn crashed(&mut self, cx: &mut Cx<'_, Locks>, left: &Keyspace) {
        for seat in &mut self.0 {
            let kept = text(left.raw(&seat.keys.lock));
            if let Some(held) = seat.held.take_if(|held| Some(&held.value) != kept) {
                cx.note(Testimony::Free(held.grant, TruthEnd::Forgotten));
            }
        }
    }

    /// The server is there again. What it brings back can be an older holder's.
    pub(super) fn restarted(&mut self, cx: &mut Cx<'_, Locks>, keys: &Keyspace, now: i64) {
        for (index, seat) in self.0.iter_mut().enumerate() {
            let lock = LockId(index as u16);
            let there = keys.live(&seat.keys.lock, now);
            match (&seat.held, text(there)) {
                (None, Some(value)) => {
                    let value = value.clone();
                    seat.seat_again(cx, lock, value, there.and_then(|e| e.expires));
                }
                (Some(_), Some(_)) => seat.extend(cx, there.and_then(|e| e.expires)),
                (Some(held), None) => {
                    let gone = held.expires.map_or(Local(i64::MAX), gone_at);
                    let moment = cx.passed(ClockKind::Wall, gone);
                    cx.note(Testimony::Free(held.grant, TruthEnd::Expired(moment)));
                    seat.held = None;
                }
                (None, None) => {}
            }
        }
    }

    /// The wall clock changed, and with it when each truth will end. One that was over, and whose
    /// key nobody had deleted, is there again where the clock went back.
    pub(super) fn clock_changed(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        keys: &Keyspace,
        before: &Clocks,
    ) {
        let now = cx.now();
        for (index, seat) in self.0.iter_mut().enumerate() {
            let Some(end) = seat.held.as_ref().and_then(|held| held.expires) else { continue };
            let (then, gone) = (before.get(ClockKind::Wall), gone_at(end));
            let (was_over, is_over) = (then.read(now) >= gone, cx.clock(ClockKind::Wall) >= gone);
            if was_over && !is_over && keys.raw(&seat.keys.lock).is_some() {
                if let Some(held) = seat.held.take() {
                    let passed = then.passed(gone);
                    cx.note(Testimony::Free(held.grant, TruthEnd::Expired(passed)));
                    seat.seat_again(cx, LockId(index as u16), held.value, Some(end));
                }
            } else if !was_over && let Some(held) = &seat.held {
                let expires = cx.when(ClockKind::Wall, gone);
                cx.note(Testimony::Expires(held.grant, expires));
            }
        }
    }

    /// What the server shows of its locks.
    pub(super) fn facts(&self, now: Micros, clocks: &Clocks, ttl: Micros) -> Vec<Fact> {
        let mut facts = Vec::new();
        let wall = clocks.get(ClockKind::Wall);
        for (index, seat) in self.0.iter().enumerate() {
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
        (lock, what, counted): (LockId, Happened, bool),
        deed: Deed,
    ) -> Option<Grant> {
        let there = keys.raw(&self.keys.lock);
        let expires = there.and_then(|entry| entry.expires);
        let value = text(there).cloned();
        if self.held.as_ref().map(|held| &held.value) == value.as_ref() {
            self.extend(cx, expires);
            return None;
        }
        if let Some(held) = self.held.take() {
            let why = match what {
                _ if held.expires.is_some_and(|end| cx.clock(ClockKind::Wall) >= gone_at(end)) => {
                    let gone = gone_at(held.expires.unwrap_or_default());
                    TruthEnd::Expired(cx.passed(ClockKind::Wall, gone))
                }
                Happened::Evicted => TruthEnd::Forgotten,
                _ if deed.by == held.client => TruthEnd::Released,
                _ => TruthEnd::Removed(deed.by),
            };
            cx.note(Testimony::Free(held.grant, why));
        }
        let value = value?;
        let token = match keys.raw(&self.keys.counter).map(|entry| &entry.value) {
            Some(Value::Text(Text::Number(count))) if counted => Some(*count),
            _ => value.number(),
        };
        let token = token.and_then(|number| u64::try_from(number).ok()).map(Token);
        Some(self.grant(cx, lock, (deed.by, value, expires), token, deed.asks))
    }

    fn grant(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        lock: LockId,
        (client, value, expires): (ProcId, Text, Option<i64>),
        token: Option<Token>,
        asked: bool,
    ) -> Grant {
        let (term, ends) = terms(cx, expires);
        let (mode, woken) = (Mode::Exclusive, false);
        let grant = Grant(cx.note(Testimony::Grant {
            lock,
            client,
            mode,
            token,
            term,
            expires: ends,
            asked,
            woken,
        }));
        self.owners.retain(|owner| owner.0 != value);
        self.owners.push((value.clone(), client, grant));
        self.held = Some(Held { grant, client, value, expires, token });
        grant
    }

    /// A value is there again that somebody had set before.
    fn seat_again(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        lock: LockId,
        value: Text,
        expires: Option<i64>,
    ) {
        let Some(client) = self.owners.iter().find(|o| o.0 == value).map(|o| o.1) else { return };
        let token = value.number().and_then(|number| u64::try_from(number).ok()).map(Token);
        self.grant(cx, lock, (client, value, expires), token, false);
    }

    fn extend(&mut self, cx: &mut Cx<'_, Locks>, expires: Option<i64>) {
        let (term, ends) = terms(cx, expires);
        if let Some(held) = self.held.as_mut().filter(|held| held.expires != expires) {
            held.expires = expires;
            cx.note(Testimony::Extend(held.grant, term, ends));
        }
    }

    /// Somebody counted in a request of its own: the count is the token of its last grant.
    fn mint(&mut self, cx: &mut Cx<'_, Locks>, keys: &Keyspace, by: ProcId) {
        let count = text(keys.raw(&self.keys.counter)).and_then(Text::number);
        let token = count.and_then(|number| u64::try_from(number).ok()).map(Token);
        let grant = self.owners.iter().rev().find(|owner| owner.1 == by).map(|owner| owner.2);
        if let (Some(grant), Some(token)) = (grant, token) {
            if let Some(held) = self.held.as_mut().filter(|held| held.grant == grant) {
                held.token = Some(token);
            }
            cx.note(Testimony::Mint(grant, token));
        }
    }
}

/// How long a key with this end is promised from now on, and when the server's clock will end it.
fn terms(cx: &Cx<'_, Locks>, expires: Option<i64>) -> (Option<Micros>, Option<Micros>) {
    let Some(end) = expires else { return (None, None) };
    let now = cx.clock(ClockKind::Wall).0.div_euclid(1_000);
    let term = Micros::from_millis(u64::try_from(end.saturating_sub(now)).unwrap_or(0));
    (Some(term), cx.when(ClockKind::Wall, gone_at(end)))
}
