//! One command on a keyspace, at one reading of the wall clock: time stands still in it.

use super::command::{Bounds, Command, Life, Only, Refusal, Reply, SetCommand, SetReply};
use super::keyspace::{Entry, Keyspace, Value};
use super::text::Text;

/// What happened to a key. Replicas and files get the key as it is afterwards; whoever listens for
/// events of keys gets the word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names are those of the events")]
pub enum Happened {
    Set,
    Expire,
    Del,
    Persist,
    Expired,
    Evicted,
    IncrBy,
    Append,
    LPush,
    RPush,
    RenameFrom,
    RenameTo,
    /// All keys were thrown away at once, of which nobody is told.
    Flushed,
}

impl Happened {
    /// Whether the key is gone then.
    pub const fn deletes(self) -> bool {
        matches!(
            self,
            Happened::Del
                | Happened::Expired
                | Happened::Evicted
                | Happened::RenameFrom
                | Happened::Flushed
        )
    }
}

/// A keyspace at the moment of a command.
#[derive(Debug)]
pub struct Engine<'a> {
    /// The keys.
    pub keys: &'a mut Keyspace,
    /// The wall clock, in milliseconds.
    pub now: i64,
    /// Whether a key whose time is over is deleted where it is touched. A replica waits for its
    /// master to do it, and to every reader the key is gone all the same.
    pub sweeps: bool,
    /// Why a script may not write here.
    pub refused: Option<Refusal>,
    /// Whether memory is short.
    pub short: bool,
    /// Whether a key with an end in the past is not stored at all.
    pub stores_no_past: bool,
    /// What happened to which key, in order.
    pub changes: Vec<(Text, Happened)>,
}

pub(super) type Answer = Result<Reply, Refusal>;

impl Engine<'_> {
    /// Executes a command on keys; none where it is about something else.
    pub fn run(&mut self, command: &Command) -> Option<Reply> {
        Some(match self.answer(command)? {
            Ok(reply) => reply,
            Err(refusal) => Reply::Error(refusal),
        })
    }

    fn answer(&mut self, command: &Command) -> Option<Answer> {
        Some(match command {
            Command::Get(key) => self.string(key).map(Reply::bulk),
            Command::Set(set) => self.set(set),
            Command::Del(keys) => {
                let gone = keys.iter().filter(|key| self.delete(key)).count();
                Ok(Reply::Number(gone as i64))
            }
            Command::Expire { key, life, only } => self.expire(key, *life, *only).map(Reply::yes),
            Command::Add(key, by) => self.add(key, *by).map(Reply::Number),
            _ => return self.rare(command),
        })
    }

    /// Whether a script may write here.
    pub(super) fn may_write(&self) -> Result<(), Refusal> {
        self.refused.map_or(Ok(()), Err)
    }

    /// Whether a script may write what needs memory.
    pub(super) fn may_grow(&self) -> Result<(), Refusal> {
        if self.short { Err(Refusal::Memory) } else { Ok(()) }
    }

    /// Deletes a key whose time is over, where that is this server's business.
    pub(super) fn touch(&mut self, key: &Text) {
        if self.sweeps && self.keys.raw(key).is_some_and(|entry| entry.is_over(self.now)) {
            self.keys.put(key.clone(), None);
            self.changes.push((key.clone(), Happened::Expired));
        }
    }

    pub(super) fn find(&mut self, key: &Text) -> Option<&Entry> {
        self.touch(key);
        self.keys.live(key, self.now)
    }

    /// The string under a key.
    pub(super) fn string(&mut self, key: &Text) -> Result<Option<Text>, Refusal> {
        match self.find(key).map(|entry| &entry.value) {
            None => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text.clone())),
            Some(Value::List(_)) => Err(Refusal::WrongType),
        }
    }

    /// The moment that a time to live ends; one that the clock cannot show is refused.
    pub(super) fn end(&self, life: Life) -> Result<Option<i64>, Refusal> {
        match life {
            Life::Forever | Life::Kept => Ok(None),
            Life::For(ms) => self.now.checked_add(ms).map(Some).ok_or(Refusal::ExpireTime),
            Life::Until(end) => Ok(Some(end)),
        }
    }

    pub(super) fn place(&mut self, key: &Text, value: Value, expires: Option<i64>, what: Happened) {
        self.keys.put(key.clone(), Some(Entry { value, expires }));
        self.changes.push((key.clone(), what));
    }

    /// `SET` and its older forms.
    pub(super) fn set(&mut self, set: &SetCommand) -> Answer {
        let SetCommand { key, value, only, life, reply } = set;
        let end = self.end(*life)?;
        let old = match (reply, only) {
            // Who compares or wants the old value wants a string; all others replace any type.
            (SetReply::Old, _) | (_, Only::Equal(_) | Only::Unequal(_)) => self.string(key)?,
            _ => None,
        };
        let there = self.find(key);
        let holds = match only {
            Only::Always => true,
            Only::Absent => there.is_none(),
            Only::Present => there.is_some(),
            Only::Equal(wanted) => old.as_ref() == Some(wanted),
            Only::Unequal(other) => old.as_ref() != Some(other),
        };
        let end = if *life == Life::Kept { there.and_then(|e| e.expires) } else { end };
        if holds && self.stores_no_past && end.is_some_and(|end| end <= self.now) {
            self.drop_as(key, Happened::Expired);
        } else if holds {
            self.place(key, Value::Text(value.clone()), end, Happened::Set);
            if end.is_some() && *life != Life::Kept {
                self.changes.push((key.clone(), Happened::Expire));
            }
        }
        Ok(match reply {
            SetReply::Plain if holds => Reply::OK,
            SetReply::Plain => Reply::Nil,
            SetReply::Count => Reply::yes(holds),
            SetReply::Old => Reply::bulk(old),
        })
    }

    /// Deletes a key; false where there is none.
    pub(super) fn delete(&mut self, key: &Text) -> bool {
        self.drop_as(key, Happened::Del)
    }

    pub(super) fn drop_as(&mut self, key: &Text, what: Happened) -> bool {
        let there = self.find(key).is_some();
        if there {
            self.keys.put(key.clone(), None);
            self.changes.push((key.clone(), what));
        }
        there
    }

    /// Gives a key another end; false where there is no such key, or a condition does not hold. An
    /// end that has passed deletes it.
    pub(super) fn expire(&mut self, key: &Text, life: Life, only: Bounds) -> Result<bool, Refusal> {
        let Some(end) = self.end(life)? else { return Ok(false) };
        let (now, sweeps) = (self.now, self.sweeps);
        let Some(current) = self.find(key).map(|entry| entry.expires) else { return Ok(false) };
        let unfit = (only.absent && current.is_some())
            || (only.present && current.is_none())
            || (only.later && current.is_none_or(|current| end <= current))
            || (only.earlier && current.is_some_and(|current| end >= current));
        if unfit {
            return Ok(false);
        }
        if end <= now && sweeps {
            let what = if self.stores_no_past { Happened::Expired } else { Happened::Del };
            return Ok(self.drop_as(key, what));
        }
        if let Some(entry) = self.keys.live_mut(key, now) {
            entry.expires = Some(end);
        }
        self.changes.push((key.clone(), Happened::Expire));
        Ok(true)
    }

    /// Adds to the number under a key, which keeps its end.
    pub(super) fn add(&mut self, key: &Text, by: i64) -> Result<i64, Refusal> {
        let old = self.string(key)?.unwrap_or(Text::Number(0));
        let old = old.number().ok_or(Refusal::NotInteger)?;
        let sum = old.checked_add(by).ok_or(Refusal::Overflow)?;
        let expires = self.keys.live(key, self.now).and_then(|e| e.expires);
        self.place(key, Value::Text(Text::Number(sum)), expires, Happened::IncrBy);
        Ok(sum)
    }

    /// Deletes every key whose time is over: a round of the active expiry.
    pub fn sweep(&mut self) {
        let now = self.now;
        for key in self.keys.those(|entry| entry.is_over(now)) {
            self.touch(&key);
        }
    }

    /// Throws keys out: those with an end, or all.
    pub fn evict(&mut self, all: bool) {
        for key in self.keys.those(|entry| all || entry.expires.is_some()) {
            self.keys.put(key.clone(), None);
            self.changes.push((key, Happened::Evicted));
        }
    }
}
