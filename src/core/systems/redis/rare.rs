//! Commands that no lock is made of: transcripts ask for them, and no page does, so that they are not
//! downloaded.

use std::collections::VecDeque;

use super::command::{Bounds, Command, Life, Only, Refusal, Reply};
use super::config::{Config, Notify, Policy, Setting};
use super::engine::{Answer, Engine, Happened};
use super::keyspace::Value;
use super::server::{Packet, Server};
use super::text::Text;
use crate::sim::{ConnId, Cx, ProcId};
use crate::systems::{Body, Locks};

impl Engine<'_> {
    /// Executes what else there is; none for what is not about keys.
    pub(super) fn rare(&mut self, command: &Command) -> Option<Answer> {
        Some(match command {
            Command::GetMany(keys) => {
                Ok(Reply::Array(keys.iter().map(|k| self.string_or_nil(k)).collect()))
            }
            Command::SetMany(pairs, only) => Ok(self.set_many(pairs, only)),
            Command::GetDel(key) => self.string(key).map(|old| {
                self.delete(key);
                Reply::bulk(old)
            }),
            Command::GetEx(key, life) => self.get_and_expire(key, life.as_ref()),
            Command::Append(key, more) => self.append(key, more),
            Command::DelIf(key, only) => self.delete_if(key, only),
            Command::Exists(keys) => {
                let there = keys.iter().filter(|key| self.find(key).is_some()).count();
                Ok(Reply::Number(there as i64))
            }
            Command::Left { key, seconds, absolute } => Ok(self.left(key, *seconds, *absolute)),
            Command::Persist(key) => Ok(Reply::yes(self.persist(key))),
            Command::Type(key) => Ok(Reply::Word(match self.find(key).map(|e| &e.value) {
                None => "none",
                Some(Value::Text(_)) => "string",
                Some(Value::List(_)) => "list",
            })),
            Command::Strlen(key) => {
                self.string(key).map(|text| Reply::Number(text.map_or(0, |t| t.bytes())))
            }
            Command::Push { key, values, left, only_present } => {
                self.push(key, values, *left, *only_present)
            }
            Command::ListLen(key) => match self.find(key).map(|e| &e.value) {
                None => Ok(Reply::Number(0)),
                Some(Value::List(list)) => Ok(Reply::Number(list.len() as i64)),
                Some(Value::Text(_)) => Err(Refusal::WrongType),
            },
            Command::Rename { from, to, only_absent } => self.rename(from, to, *only_absent),
            Command::DbSize => Ok(Reply::Number(self.keys.len() as i64)),
            Command::Flush => Ok(self.flush()),
            Command::Ping => Ok(Reply::Word("PONG")),
            Command::Malformed { refusal, .. } => Err(*refusal),
            _ => return None,
        })
    }

    fn flush(&mut self) -> Reply {
        for key in self.keys.those(|_| true) {
            self.keys.put(key.clone(), None);
            self.changes.push((key, Happened::Flushed));
        }
        Reply::OK
    }

    fn string_or_nil(&mut self, key: &Text) -> Reply {
        self.string(key).map_or(Reply::Nil, Reply::bulk)
    }

    fn set_many(&mut self, pairs: &[(Text, Text)], only: &Only) -> Reply {
        let taken = pairs.iter().filter(|pair| self.find(&pair.0).is_some()).count();
        let holds = *only != Only::Absent || taken == 0;
        if holds {
            for (key, value) in pairs {
                self.place(key, Value::Text(value.clone()), None, Happened::Set);
            }
        }
        if *only == Only::Absent { Reply::yes(holds) } else { Reply::OK }
    }

    fn get_and_expire(&mut self, key: &Text, life: Result<&Option<Life>, &Refusal>) -> Answer {
        if let (Ok(Some(life)), true) = (life, self.stores_no_past) {
            // Valkey looks at the time first.
            self.end(*life)?;
        }
        let old = self.string(key)?;
        if old.is_none() {
            return Ok(Reply::Nil);
        }
        match *life.map_err(|refusal| *refusal)? {
            None => {}
            Some(Life::Forever | Life::Kept) => {
                self.persist(key);
            }
            Some(life) => {
                self.expire(key, life, Bounds::default())?;
            }
        }
        Ok(Reply::bulk(old))
    }

    fn append(&mut self, key: &Text, more: &Text) -> Answer {
        let old = self.string(key)?;
        let expires = self.keys.live(key, self.now).and_then(|e| e.expires);
        let text = match old {
            None => more.clone(),
            Some(old) => Text::new(&format!("{old}{more}")),
        };
        let length = text.bytes();
        self.place(key, Value::Text(text), expires, Happened::Append);
        Ok(Reply::Number(length))
    }

    fn delete_if(&mut self, key: &Text, only: &Only) -> Answer {
        let holds = match (only, self.string(key)?) {
            (Only::Equal(wanted), Some(held)) => held == *wanted,
            (Only::Unequal(other), Some(held)) => held != *other,
            _ => false,
        };
        Ok(Reply::yes(holds && self.delete(key)))
    }

    fn left(&mut self, key: &Text, seconds: bool, absolute: bool) -> Reply {
        let now = self.now;
        Reply::Number(match self.find(key).map(|entry| entry.expires) {
            None => -2,
            Some(None) => -1,
            Some(Some(end)) => {
                let ms = if absolute { end } else { end.saturating_sub(now).max(0) };
                if seconds { ms.saturating_add(500) / 1_000 } else { ms }
            }
        })
    }

    fn persist(&mut self, key: &Text) -> bool {
        self.touch(key);
        let held = self.keys.live_mut(key, self.now).and_then(|entry| entry.expires.take());
        if held.is_some() {
            self.changes.push((key.clone(), Happened::Persist));
        }
        held.is_some()
    }

    fn push(&mut self, key: &Text, values: &[Text], left: bool, only_present: bool) -> Answer {
        self.touch(key);
        let there = self.keys.live(key, self.now);
        let expires = there.and_then(|entry| entry.expires);
        let mut list = match there.map(|entry| &entry.value) {
            Some(Value::Text(_)) => return Err(Refusal::WrongType),
            Some(Value::List(list)) => list.clone(),
            None if only_present => return Ok(Reply::Number(0)),
            None => VecDeque::new(),
        };
        for value in values.iter().cloned() {
            if left {
                list.push_front(value);
            } else {
                list.push_back(value);
            }
        }
        let length = list.len() as i64;
        let what = if left { Happened::LPush } else { Happened::RPush };
        self.place(key, Value::List(list), expires, what);
        Ok(Reply::Number(length))
    }

    fn rename(&mut self, from: &Text, to: &Text, only_absent: bool) -> Answer {
        let entry = self.find(from).cloned().ok_or(Refusal::NoKey)?;
        if only_absent && self.find(to).is_some() {
            return Ok(Reply::Number(0));
        }
        if from != to {
            self.keys.put(from.clone(), None);
            self.keys.put(to.clone(), Some(entry));
            self.changes.push((from.clone(), Happened::RenameFrom));
            self.changes.push((to.clone(), Happened::RenameTo));
        }
        Ok(if only_absent { Reply::Number(1) } else { Reply::OK })
    }
}

impl Server {
    /// Carries out what concerns channels and settings: the answer, where there is one; none for any
    /// other command.
    pub(super) fn rare(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        whose: (ConnId, ProcId),
        command: &Command,
    ) -> Option<Option<Reply>> {
        Some(match command {
            Command::Subscribe(channels, patterns) => {
                self.subscribe(cx, whose, channels, *patterns)
            }
            Command::Unsubscribe(channels, patterns) => {
                self.unsubscribe(cx, whose, channels, *patterns)
            }
            Command::Ping if self.session(whose.0, whose.1).listens() => {
                let words = ["pong", ""].map(|word| Reply::Bulk(Text::Word(word.into())));
                Some(Reply::Array(words.to_vec()))
            }
            Command::Publish(channel, message) => {
                Some(Reply::Number(self.publish(cx, channel, message)))
            }
            Command::Configure(settings) => Some(self.configure(cx, settings)),
            Command::ActiveExpire(on) => {
                self.config.active_expire = *on;
                self.plan_sweep(cx);
                Some(Reply::OK)
            }
            _ => return None,
        })
    }

    /// Tells whoever listens what happened to keys.
    pub(super) fn tell(&mut self, cx: &mut Cx<'_, Locks>, changes: &[(Text, Happened)]) {
        if self.config.notify != Notify::default() {
            for (key, what) in changes {
                self.tell_of(cx, key, *what);
            }
        }
    }

    /// Tells of an event of a key, on the channels that the settings say.
    fn tell_of(&mut self, cx: &mut Cx<'_, Locks>, key: &Text, what: Happened) {
        let (kind, word) = match what {
            Happened::Set => (Notify::STRING, "set"),
            Happened::IncrBy => (Notify::STRING, "incrby"),
            Happened::Append => (Notify::STRING, "append"),
            Happened::LPush => (Notify::LIST, "lpush"),
            Happened::RPush => (Notify::LIST, "rpush"),
            Happened::Expire => (Notify::GENERIC, "expire"),
            Happened::Del => (Notify::GENERIC, "del"),
            Happened::Persist => (Notify::GENERIC, "persist"),
            Happened::RenameFrom => (Notify::GENERIC, "rename_from"),
            Happened::RenameTo => (Notify::GENERIC, "rename_to"),
            Happened::Expired => (Notify::EXPIRED, "expired"),
            Happened::Evicted => (Notify::EVICTED, "evicted"),
            Happened::Flushed => return,
        };
        let notify = self.config.notify;
        if !notify.has(kind) {
            return;
        }
        if notify.has(Notify::KEYSPACE) {
            let channel = Text::new(&format!("__keyspace@0__:{key}"));
            self.publish(cx, &channel, &Text::Word(word.into()));
        }
        if notify.has(Notify::KEYEVENT) {
            let channel = Text::new(&format!("__keyevent@0__:{word}"));
            self.publish(cx, &channel, key);
        }
    }

    fn publish(&mut self, cx: &mut Cx<'_, Locks>, channel: &Text, message: &Text) -> i64 {
        let mut heard = 0;
        let word = |word: &str| Text::Word(word.into());
        for session in &self.sessions {
            let exact = session.channels.iter().filter(|c| *c == channel).map(|_| None);
            let fits = session.patterns.iter().filter(|pattern| matches(pattern, channel));
            for pattern in exact.chain(fits.map(Some)) {
                heard += 1;
                let mut parts = match pattern {
                    None => vec![word("message")],
                    Some(pattern) => vec![word("pmessage"), pattern.clone()],
                };
                parts.extend([channel.clone(), message.clone()]);
                let push = Reply::Array(parts.into_iter().map(Reply::Bulk).collect());
                cx.send(session.conn, Body::new("message", 0, Packet::Push(push)), None);
            }
        }
        heard
    }

    fn subscribe(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        (conn, peer): (ConnId, ProcId),
        channels: &[Text],
        patterns: bool,
    ) -> Option<Reply> {
        let mut first = None;
        for channel in channels {
            let session = self.session(conn, peer);
            let list = if patterns { &mut session.patterns } else { &mut session.channels };
            if !list.contains(channel) {
                list.push(channel.clone());
            }
            let count = session.channels.len() + session.patterns.len();
            let what = if patterns { "psubscribe" } else { "subscribe" };
            let reply = listening(what, Reply::Bulk(channel.clone()), count as i64);
            confirm(cx, conn, &mut first, reply);
        }
        first
    }

    fn unsubscribe(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        (conn, peer): (ConnId, ProcId),
        channels: &[Text],
        patterns: bool,
    ) -> Option<Reply> {
        let what = if patterns { "punsubscribe" } else { "unsubscribe" };
        let session = self.session(conn, peer);
        let list = if patterns { &session.patterns } else { &session.channels };
        let all = if channels.is_empty() { list.clone() } else { channels.to_vec() };
        let mut first = None;
        for channel in all {
            let session = self.session(conn, peer);
            let list = if patterns { &mut session.patterns } else { &mut session.channels };
            list.retain(|c| *c != channel);
            let count = session.channels.len() + session.patterns.len();
            let reply = listening(what, Reply::Bulk(channel), count as i64);
            confirm(cx, conn, &mut first, reply);
        }
        let session = self.session(conn, peer);
        let left = (session.channels.len() + session.patterns.len()) as i64;
        Some(first.unwrap_or_else(|| listening(what, Reply::Nil, left)))
    }

    fn configure(&mut self, cx: &mut Cx<'_, Locks>, settings: &[Setting]) -> Reply {
        for setting in settings {
            if matches!(setting, Setting::AppendOnly(true)) && !self.config.persistence.append_only
            {
                self.files.rewrite(&self.keys);
            }
            self.config.set(setting);
        }
        self.plan_save(cx);
        self.make_room(cx);
        Reply::OK
    }

    /// Throws keys out where memory is short. How much a key needs is not modelled: a limit is
    /// passed always, or there is none.
    pub(super) fn make_room(&mut self, cx: &mut Cx<'_, Locks>) {
        if self.config.max_memory == 0 || self.config.policy == Policy::NoEviction {
            return;
        }
        if !self.is_master() {
            return;
        }
        let all = self.config.policy == Policy::AllKeys;
        let mut engine = self.engine(Server::now(cx));
        engine.evict(all);
        let changes = engine.changes;
        self.changed(cx, &changes);
    }
}

impl Config {
    /// Applies a setting.
    pub(super) fn set(&mut self, setting: &Setting) {
        match setting {
            Setting::NotifyKeyspaceEvents(notify) => self.notify = *notify,
            Setting::MinReplicasToWrite(count) => self.min_replicas = *count,
            Setting::MinReplicasMaxLag(seconds) => self.max_lag = *seconds,
            Setting::AppendOnly(on) => self.persistence.append_only = *on,
            Setting::AppendFsync(fsync) => self.persistence.fsync = *fsync,
            Setting::Save(points) => self.persistence.save = points.clone(),
            Setting::MaxMemory(bytes) => self.max_memory = *bytes,
            Setting::MaxMemoryPolicy(policy) => self.policy = *policy,
        }
    }
}

/// Whether a pattern of `*`, `?` and other letters fits a channel.
fn matches(pattern: &Text, channel: &Text) -> bool {
    fn fits(pattern: &[u8], text: &[u8]) -> bool {
        match (pattern, text) {
            ([], []) => true,
            ([b'*', rest @ ..], _) => {
                fits(rest, text) || matches!(text, [_, more @ ..] if fits(pattern, more))
            }
            ([b'?', rest @ ..], [_, more @ ..]) => fits(rest, more),
            ([a, rest @ ..], [b, more @ ..]) => a == b && fits(rest, more),
            _ => false,
        }
    }
    fits(pattern.to_string().as_bytes(), channel.to_string().as_bytes())
}

/// The answer to a subscription: what, to which channel, and how many there are now.
fn listening(what: &str, channel: Reply, count: i64) -> Reply {
    Reply::Array(vec![Reply::Bulk(Text::Word(what.into())), channel, Reply::Number(count)])
}

/// One command is confirmed once for each channel: the first time in the answer.
fn confirm(cx: &mut Cx<'_, Locks>, conn: ConnId, first: &mut Option<Reply>, reply: Reply) {
    match first {
        None => *first = Some(reply),
        Some(_) => {
            cx.send(conn, Body::new(reply.name(), 0, Packet::Push(reply)), None);
        }
    }
}
