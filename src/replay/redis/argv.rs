//! From the words that a client sent to a simulated server's command.
//!
//! Three things are kept apart: what the server would refuse (an answer like any other), what it
//! would do, and what is not modelled here, which is named and never guessed.

use super::names::{Known, known};
use crate::sim::ProcId;
use crate::systems::redis::{
    Bounds, Call, Command, Fsync, Life, Notify, Only, Policy, Refusal, Script, SetCommand,
    SetReply, Setting, Text, Version, default_save,
};

/// A command, or the name of what is not modelled.
pub type Parsed = Result<Command, String>;

/// Reads a command as a server of that version does. `node` says which server listens on a port.
pub fn parse(argv: &[String], version: Version, node: &dyn Fn(&str) -> Option<ProcId>) -> Parsed {
    let Some((first, rest)) = argv.split_first() else { return Err("an empty command".into()) };
    let name = first.to_ascii_uppercase();
    let args: Vec<&str> = rest.iter().map(String::as_str).collect();
    match known(&name, version) {
        Known::No => return Ok(Command::Rejected(Refusal::Unknown)),
        Known::NotHere | Known::Unsure => return Err(name),
        Known::Yes(least, most) => {
            if args.len() < least || most.is_some_and(|most| args.len() > most) {
                return Ok(Command::Rejected(Refusal::Arguments));
            }
        }
    }
    let reader = Reader { name: &name, args: &args, version };
    reader.keys().or_else(|| reader.scripts()).or_else(|| reader.server(node)).unwrap_or(Err(name))
}

struct Reader<'a> {
    name: &'a str,
    args: &'a [&'a str],
    version: Version,
}

/// Options of `SET` or `GETEX` as they were read.
struct Options {
    only: Only,
    /// The word of the time to live, and where its number stands.
    unit: Option<String>,
    place: usize,
    reply: SetReply,
}

impl Options {
    fn may_compare(&self, known: bool) -> bool {
        known && self.only == Only::Always
    }

    fn life(&self, reader: &Reader<'_>) -> Result<Life, Refusal> {
        match self.unit.as_deref() {
            None | Some("PERSIST") => Ok(Life::Forever),
            Some("KEEPTTL") => Ok(Life::Kept),
            Some(unit) => reader.life_of(unit, self.place),
        }
    }
}

/// The command fails once it is executed, with this.
fn wrong(refusal: Refusal) -> Parsed {
    Ok(Command::Malformed { refusal, writes: true })
}

fn texts(args: &[&str]) -> Vec<Text> {
    args.iter().map(|arg| Text::new(arg)).collect()
}

fn number(text: &str) -> Result<i64, Refusal> {
    Text::new(text).number().ok_or(Refusal::NotInteger)
}

/// What is in a `Result` of a command that may fail by itself.
fn settle(result: Result<Command, Refusal>) -> Parsed {
    result.or_else(wrong)
}

impl Reader<'_> {
    fn key(&self) -> Text {
        self.text(0)
    }

    fn text(&self, place: usize) -> Text {
        Text::new(self.args.get(place).copied().unwrap_or_default())
    }

    fn word(&self, place: usize) -> String {
        self.args.get(place).copied().unwrap_or_default().to_ascii_uppercase()
    }

    /// Commands on keys.
    fn keys(&self) -> Option<Parsed> {
        let key = self.key();
        Some(match self.name {
            "GET" => Ok(Command::Get(key)),
            "MGET" => Ok(Command::GetMany(texts(self.args))),
            "SET" => settle(self.set()),
            "SETNX" => Ok(self.set_as(1, Only::Absent, Life::Forever, SetReply::Count)),
            "GETSET" => Ok(self.set_as(1, Only::Always, Life::Forever, SetReply::Old)),
            "SETEX" | "PSETEX" => self.set_with_life(),
            "MSET" | "MSETNX" => self.set_many(),
            "GETDEL" => Ok(Command::GetDel(key)),
            "GETEX" => settle(self.get_and_expire(key)),
            "APPEND" => Ok(Command::Append(key, self.text(1))),
            "DEL" | "UNLINK" => Ok(Command::Del(texts(self.args))),
            "DELIFEQ" => Ok(Command::DelIf(key, Only::Equal(self.text(1)))),
            "DELEX" => self.delete_if(key),
            "EXISTS" | "TOUCH" => Ok(Command::Exists(texts(self.args))),
            "TTL" => Ok(Command::Left { key, seconds: true, absolute: false }),
            "PTTL" => Ok(Command::Left { key, seconds: false, absolute: false }),
            "EXPIRETIME" => Ok(Command::Left { key, seconds: true, absolute: true }),
            "PEXPIRETIME" => Ok(Command::Left { key, seconds: false, absolute: true }),
            "EXPIRE" | "PEXPIRE" | "EXPIREAT" | "PEXPIREAT" => settle(self.expire(key)),
            "PERSIST" => Ok(Command::Persist(key)),
            "INCR" => Ok(Command::Add(key, 1)),
            "DECR" => Ok(Command::Add(key, -1)),
            "INCRBY" => settle(number(&self.text(1).to_string()).map(|by| Command::Add(key, by))),
            "DECRBY" => settle(
                number(&self.text(1).to_string())
                    .and_then(|by| by.checked_neg().ok_or(Refusal::Overflow))
                    .map(|by| Command::Add(key, by)),
            ),
            "TYPE" => Ok(Command::Type(key)),
            "STRLEN" => Ok(Command::Strlen(key)),
            "LPUSH" | "RPUSH" | "LPUSHX" | "RPUSHX" => Ok(Command::Push {
                key,
                values: texts(self.args.get(1..).unwrap_or_default()),
                left: self.name.starts_with('L'),
                only_present: self.name.ends_with('X'),
            }),
            "LLEN" => Ok(Command::ListLen(key)),
            "RENAME" | "RENAMENX" => Ok(Command::Rename {
                from: key,
                to: self.text(1),
                only_absent: self.name == "RENAMENX",
            }),
            "DBSIZE" => Ok(Command::DbSize),
            "FLUSHALL" | "FLUSHDB" => match (self.word(0).as_str(), self.args.len()) {
                ("", 0) | ("SYNC" | "ASYNC", 1) => Ok(Command::Flush),
                _ => wrong(Refusal::Syntax),
            },
            "PING" if self.args.is_empty() => Ok(Command::Ping),
            _ => return None,
        })
    }

    fn set_as(&self, value: usize, only: Only, life: Life, reply: SetReply) -> Command {
        let (key, value) = (self.key(), self.text(value));
        Command::Set(Box::new(SetCommand { key, value, only, life, reply }))
    }

    fn set_with_life(&self) -> Parsed {
        let unit = if self.name == "SETEX" { "EX" } else { "PX" };
        settle(
            self.life_of(unit, 1).map(|life| self.set_as(2, Only::Always, life, SetReply::Plain)),
        )
    }

    fn set_many(&self) -> Parsed {
        if self.args.len() % 2 == 1 {
            return wrong(Refusal::Arguments);
        }
        let pairs = self.args.chunks(2).filter_map(|pair| match pair {
            [key, value] => Some((Text::new(key), Text::new(value))),
            _ => None,
        });
        let only = if self.name == "MSETNX" { Only::Absent } else { Only::Always };
        Ok(Command::SetMany(pairs.collect(), only))
    }

    /// A time to live whose word is `EX`, `PX`, `EXAT` or `PXAT` and whose number stands there.
    fn life_of(&self, unit: &str, place: usize) -> Result<Life, Refusal> {
        let count = number(self.args.get(place).copied().unwrap_or_default())?;
        let seconds = unit.starts_with('E');
        let ms = if seconds { count.checked_mul(1_000) } else { Some(count) };
        match ms {
            Some(ms) if ms > 0 && unit.ends_with("AT") => Ok(Life::Until(ms)),
            Some(ms) if ms > 0 => Ok(Life::For(ms)),
            _ => Err(Refusal::ExpireTime),
        }
    }

    /// `SET key value` and whatever of its options stands behind it, in any order.
    fn set(&self) -> Result<Command, Refusal> {
        let options = self.options(2)?;
        let life = options.life(self)?;
        Ok(self.set_as(1, options.only, life, options.reply))
    }

    /// Options of `SET`, or of `GETEX`, from a place on. The time itself is read later.
    fn options(&self, from: usize) -> Result<Options, Refusal> {
        let sets = self.name == "SET";
        let mut options =
            Options { only: Only::Always, unit: None, place: 0, reply: SetReply::Plain };
        let mut place = from;
        while place < self.args.len() {
            let word = self.word(place);
            let more = place + 1 < self.args.len();
            // The same option may stand twice, and the last one counts; others exclude each other.
            let free = options.unit.as_ref().is_none_or(|unit| *unit == word);
            match word.as_str() {
                "NX" if sets && matches!(options.only, Only::Always | Only::Absent) => {
                    options.only = Only::Absent;
                }
                "XX" if sets && matches!(options.only, Only::Always | Only::Present) => {
                    options.only = Only::Present;
                }
                "GET" if sets => options.reply = SetReply::Old,
                "KEEPTTL" if sets && free => options.unit = Some(word),
                "PERSIST" if !sets && free => options.unit = Some(word),
                "EX" | "PX" | "EXAT" | "PXAT" if more && free => {
                    place += 1;
                    (options.unit, options.place) = (Some(word), place);
                }
                "IFEQ" if sets && more && options.may_compare(self.version.compares()) => {
                    place += 1;
                    options.only = Only::Equal(self.text(place));
                }
                "IFNE"
                    if sets && more && options.may_compare(self.version.since(804, u16::MAX)) =>
                {
                    place += 1;
                    options.only = Only::Unequal(self.text(place));
                }
                _ => return Err(Refusal::Syntax),
            }
            place += 1;
        }
        Ok(options)
    }

    fn get_and_expire(&self, key: Text) -> Result<Command, Refusal> {
        let options = self.options(1)?;
        let life = match options.unit.as_deref() {
            None => Ok(None),
            // Valkey looks at the time first, Redis at the key.
            Some(_) if self.version.since(u16::MAX, 900) => Ok(Some(options.life(self)?)),
            Some(_) => options.life(self).map(Some),
        };
        Ok(Command::GetEx(key, life))
    }

    fn delete_if(&self, key: Text) -> Parsed {
        match (self.word(1).as_str(), self.args.len()) {
            ("", 1) => Ok(Command::Del(vec![key])),
            ("IFEQ", 3) => Ok(Command::DelIf(key, Only::Equal(self.text(2)))),
            ("IFNE", 3) => Ok(Command::DelIf(key, Only::Unequal(self.text(2)))),
            ("IFDEQ" | "IFDNE", 3) => Err("DELEX by digest".into()),
            _ => wrong(Refusal::Syntax),
        }
    }

    fn expire(&self, key: Text) -> Result<Command, Refusal> {
        let mut only = Bounds::default();
        for place in 2..self.args.len() {
            match self.word(place).as_str() {
                "NX" => only.absent = true,
                "XX" => only.present = true,
                "GT" => only.later = true,
                "LT" => only.earlier = true,
                _ => return Err(Refusal::Options),
            }
        }
        if (only.absent && (only.present || only.later || only.earlier))
            || (only.later && only.earlier)
        {
            return Err(Refusal::Options);
        }
        let count = number(self.args.get(1).copied().unwrap_or_default())?;
        let seconds = !self.name.starts_with('P');
        let ms = if seconds { count.checked_mul(1_000) } else { Some(count) };
        let ms = ms.ok_or(Refusal::ExpireTime)?;
        let life = if self.name.ends_with("AT") { Life::Until(ms) } else { Life::For(ms) };
        Ok(Command::Expire { key, life, only })
    }

    /// Scripts and transactions.
    fn scripts(&self) -> Option<Parsed> {
        Some(match self.name {
            "EVAL" | "EVALSHA" => self.eval(),
            "SCRIPT" => match self.word(0).as_str() {
                "LOAD" => match self.args {
                    [_, text] => Script::of_text(text)
                        .map(Command::ScriptLoad)
                        .ok_or_else(|| "SCRIPT LOAD of another script than the three".into()),
                    _ => Ok(Command::Rejected(Refusal::Arguments)),
                },
                "EXISTS" if self.args.len() > 1 => {
                    let shas = self.args.get(1..).unwrap_or_default();
                    Ok(Command::ScriptExists(shas.iter().map(|sha| Script::of_sha(sha)).collect()))
                }
                "EXISTS" => Ok(Command::Rejected(Refusal::Arguments)),
                "FLUSH" => match self.word(1).as_str() {
                    "" | "SYNC" | "ASYNC" if self.args.len() < 3 => Ok(Command::ScriptFlush),
                    _ => Ok(Command::Malformed { refusal: Refusal::Syntax, writes: false }),
                },
                "KILL" | "DEBUG" | "HELP" | "SHOW" => Err(format!("SCRIPT {}", self.word(0))),
                _ => Ok(Command::Rejected(Refusal::Subcommand)),
            },
            "MULTI" => Ok(Command::Multi),
            "EXEC" => Ok(Command::Exec),
            "DISCARD" => Ok(Command::Discard),
            "WATCH" => Ok(Command::Watch(texts(self.args))),
            "UNWATCH" => Ok(Command::Unwatch),
            _ => return None,
        })
    }

    fn eval(&self) -> Parsed {
        let fails = |refusal| Ok(Command::Malformed { refusal, writes: false });
        let [script, count, rest @ ..] = self.args else { return fails(Refusal::Arguments) };
        let keys = match number(count).map(usize::try_from) {
            Err(refusal) => return fails(refusal),
            Ok(Ok(keys)) if keys <= rest.len() => keys,
            Ok(_) => return fails(Refusal::Arguments),
        };
        let (keys, args) = rest.split_at(keys);
        let call = Call { keys: texts(keys), args: texts(args) };
        if self.name == "EVALSHA" {
            return Ok(Command::EvalSha(Script::of_sha(script), call));
        }
        match Script::of_text(script) {
            Some(script) => Ok(Command::Eval(script, call)),
            None => Err("EVAL of another script than the three".into()),
        }
    }

    /// Commands about the server.
    fn server(&self, node: &dyn Fn(&str) -> Option<ProcId>) -> Option<Parsed> {
        let fails = |refusal| Ok(Command::Malformed { refusal, writes: false });
        Some(match self.name {
            "WAIT" | "WAITAOF" => self.wait().or_else(fails),
            "ROLE" => Ok(Command::Role),
            "REPLICAOF" | "SLAVEOF" => match (self.word(0).as_str(), self.word(1).as_str()) {
                ("NO", "ONE") => Ok(Command::ReplicaOf(None)),
                (_, port) => node(port)
                    .map(|master| Command::ReplicaOf(Some(master)))
                    .ok_or_else(|| format!("{} of port {port}", self.name)),
            },
            "FAILOVER" => match (self.word(0).as_str(), self.args.len()) {
                ("", 0) => Ok(Command::FailOver(None)),
                ("TO", 3) => node(&self.word(2))
                    .map(|to| Command::FailOver(Some(to)))
                    .ok_or_else(|| format!("FAILOVER to port {}", self.word(2))),
                (option, _) => Err(format!("FAILOVER {option}")),
            },
            "CLIENT" => self.client(),
            // Classes of letters and escapes in patterns are not modelled.
            "PSUBSCRIBE" if self.args.iter().any(|arg| arg.contains(['[', '\\'])) => {
                Err("PSUBSCRIBE with classes or escapes".into())
            }
            "SUBSCRIBE" | "PSUBSCRIBE" => {
                Ok(Command::Subscribe(texts(self.args), self.name == "PSUBSCRIBE"))
            }
            "UNSUBSCRIBE" | "PUNSUBSCRIBE" => {
                Ok(Command::Unsubscribe(texts(self.args), self.name == "PUNSUBSCRIBE"))
            }
            "PUBLISH" => Ok(Command::Publish(self.key(), self.text(1))),
            "CONFIG" => self.config(),
            "SAVE" => Ok(Command::Save),
            "SHUTDOWN" => self.shutdown(),
            "DEBUG" => match (self.word(0).as_str(), self.word(1).as_str()) {
                ("SET-ACTIVE-EXPIRE", "0") => Ok(Command::ActiveExpire(false)),
                ("SET-ACTIVE-EXPIRE", "1") => Ok(Command::ActiveExpire(true)),
                (what, _) => Err(format!("DEBUG {what}")),
            },
            _ => return None,
        })
    }

    fn wait(&self) -> Result<Command, Refusal> {
        let numbers: Result<Vec<i64>, Refusal> = self.args.iter().map(|arg| number(arg)).collect();
        match numbers?[..] {
            [.., timeout] if timeout < 0 => Err(Refusal::Timeout),
            [replicas, timeout] => Ok(Command::Wait { replicas, timeout }),
            [local, replicas, timeout] if (0..=1).contains(&local) && replicas >= 0 => {
                Ok(Command::WaitAof { local, replicas, timeout })
            }
            _ => Err(Refusal::NotInteger),
        }
    }

    fn client(&self) -> Parsed {
        const OTHERS: [&str; 15] = [
            "CACHING",
            "GETNAME",
            "GETREDIR",
            "HELP",
            "ID",
            "INFO",
            "KILL",
            "LIST",
            "NO-EVICT",
            "NO-TOUCH",
            "REPLY",
            "SETNAME",
            "TRACKING",
            "TRACKINGINFO",
            "UNBLOCK",
        ];
        let fails = |refusal| Ok(Command::Malformed { refusal, writes: false });
        match (self.word(0).as_str(), self.args.len()) {
            ("PAUSE", 2 | 3) => {
                let writes_only = match self.word(2).as_str() {
                    "" | "ALL" => false,
                    "WRITE" => true,
                    _ => return fails(Refusal::Syntax),
                };
                match number(self.args.get(1).copied().unwrap_or_default()) {
                    Ok(ms) if ms < 0 => fails(Refusal::Timeout),
                    Ok(ms) => Ok(Command::Pause { ms, writes_only }),
                    Err(refusal) => fails(refusal),
                }
            }
            ("UNPAUSE", 1) => Ok(Command::Unpause),
            ("PAUSE" | "UNPAUSE", _) => Ok(Command::Rejected(Refusal::Arguments)),
            (other, _) if OTHERS.contains(&other) => Err(format!("CLIENT {other}")),
            _ => Ok(Command::Rejected(Refusal::Subcommand)),
        }
    }

    fn config(&self) -> Parsed {
        match self.word(0).as_str() {
            "SET" => {}
            other @ ("GET" | "RESETSTAT" | "REWRITE" | "HELP") => {
                return Err(format!("CONFIG {other}"));
            }
            _ => return Ok(Command::Rejected(Refusal::Subcommand)),
        }
        let pairs = self.args.get(1..).unwrap_or_default();
        if pairs.is_empty() || pairs.len() % 2 == 1 {
            return Ok(Command::Rejected(Refusal::Arguments));
        }
        let mut settings = Vec::new();
        for pair in pairs.chunks(2) {
            let [name, value] = pair else { continue };
            match setting(&name.to_ascii_lowercase(), value) {
                None => return Err(format!("CONFIG SET {name} {value}")),
                Some(Ok(setting)) => settings.extend(setting),
                Some(Err(())) => {
                    let refusal = Refusal::Setting;
                    return Ok(Command::Malformed { refusal, writes: false });
                }
            }
        }
        Ok(Command::Configure(settings))
    }

    fn shutdown(&self) -> Parsed {
        let mut save = None;
        for place in 0..self.args.len() {
            match (self.word(place).as_str(), save) {
                ("NOSAVE", None) => save = Some(false),
                ("SAVE", None) => save = Some(true),
                ("NOW" | "FORCE", _) => {}
                ("ABORT", _) => return Err("SHUTDOWN ABORT".into()),
                // It is refused before anything else, because it may not stand in a transaction.
                _ => return Ok(Command::Rejected(Refusal::Syntax)),
            }
        }
        Ok(Command::Shutdown(save))
    }
}

/// A setting of a server by its name: none where it is not modelled, an error where the server
/// would refuse the value. Some are known and decide nothing here.
pub fn setting(name: &str, value: &str) -> Option<Result<Option<Setting>, ()>> {
    let count = || value.parse::<i64>().ok().filter(|n| *n >= 0).ok_or(());
    let yes = || match value.to_ascii_lowercase().as_str() {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(()),
    };
    let setting = match name {
        "notify-keyspace-events" => {
            Notify::parse(value).map(Setting::NotifyKeyspaceEvents).ok_or(())
        }
        "min-replicas-to-write" | "min-slaves-to-write" => count().map(Setting::MinReplicasToWrite),
        "min-replicas-max-lag" | "min-slaves-max-lag" => count().map(Setting::MinReplicasMaxLag),
        "appendonly" => yes().map(Setting::AppendOnly),
        "appendfsync" => match value.to_ascii_lowercase().as_str() {
            "always" => Ok(Setting::AppendFsync(Fsync::Always)),
            "everysec" => Ok(Setting::AppendFsync(Fsync::EverySecond)),
            "no" => Ok(Setting::AppendFsync(Fsync::No)),
            _ => Err(()),
        },
        "save" => save_points(value).map(Setting::Save).ok_or(()),
        // How much memory a key takes is not modelled: no limit, or one that is always passed.
        "maxmemory" => match value.parse::<i64>() {
            Ok(bytes @ 0..=65_536) => Ok(Setting::MaxMemory(bytes)),
            _ => return None,
        },
        "maxmemory-policy" => match value.to_ascii_lowercase().as_str() {
            "noeviction" => Ok(Setting::MaxMemoryPolicy(Policy::NoEviction)),
            "volatile-lru" | "volatile-lfu" | "volatile-random" | "volatile-ttl" => {
                Ok(Setting::MaxMemoryPolicy(Policy::Volatile))
            }
            "allkeys-lru" | "allkeys-lfu" | "allkeys-random" => {
                Ok(Setting::MaxMemoryPolicy(Policy::AllKeys))
            }
            _ => Err(()),
        },
        "repl-diskless-sync-delay" | "enable-debug-command" | "port" | "bind" | "daemonize" => {
            return Some(Ok(None));
        }
        _ => return None,
    };
    Some(setting.map(Some))
}

/// The save points of `3600 1 300 100`; none of the empty text.
pub fn save_points(text: &str) -> Option<std::rc::Rc<[(i64, u64)]>> {
    if text == "default" {
        return Some(default_save());
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let point = |pair: &[&str]| match pair {
        [seconds, changes] => Some((seconds.parse().ok()?, changes.parse().ok()?)),
        _ => None,
    };
    words.chunks(2).map(point).collect()
}
