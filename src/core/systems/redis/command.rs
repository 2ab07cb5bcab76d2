//! What a client may ask a simulated Redis, and what it answers: closed sets.
//!
//! Whoever reads commands as text does so outside (`replay`), and names what has no place here.

use super::config::Setting;
use super::scripts::Script;
use super::text::Text;
use crate::sim::ProcId;

/// Whose server it is, and of which version: some answers differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Version {
    /// Valkey, which left Redis at 7.2.
    pub valkey: bool,
    /// `704` is 7.4.
    pub number: u16,
}

impl Version {
    /// The one of which most is recorded.
    pub const REDIS_7_0: Version = Version { valkey: false, number: 700 };
    /// The first with a delete that compares.
    pub const REDIS_8_4: Version = Version { valkey: false, number: 804 };
    /// Recorded too.
    pub const VALKEY_9_1: Version = Version { valkey: true, number: 901 };

    /// Whether it is at least this version of Redis, or this one of Valkey.
    pub const fn since(self, redis: u16, valkey: u16) -> bool {
        self.number >= if self.valkey { valkey } else { redis }
    }

    /// Whether `SET` knows `IFEQ`.
    pub const fn compares(self) -> bool {
        self.since(804, 801)
    }

    /// Whether a command that may not be queued spoils the transaction in which it stands.
    pub const fn spoils(self) -> bool {
        self.since(u16::MAX, 900)
    }

    /// Whether a key that is given an end in the past counts as over, and is not even stored.
    pub const fn stores_no_past(self) -> bool {
        self.since(u16::MAX, 900)
    }

    /// Whether a command that needs no memory can be queued where memory is short.
    pub const fn queues_when_short(self) -> bool {
        self.since(u16::MAX, 900)
    }

    /// Whether `WAIT` asks for every write before the connection's last command, and not only for
    /// the connection's own.
    pub const fn waits_for_all(self) -> bool {
        !self.since(702, 702)
    }
}

/// An error that a server answers with. Clients tell them apart by the first word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the texts say it")]
pub enum Refusal {
    Unknown,
    Arguments,
    Subcommand,
    Syntax,
    NotInteger,
    Overflow,
    ExpireTime,
    Options,
    WrongType,
    ReadOnly,
    NoReplicas,
    NoScript,
    Memory,
    Aborted,
    ExecAlone,
    DiscardAlone,
    Nested,
    WatchInside,
    Inside,
    Timeout,
    WaitOnReplica,
    NoAppendOnly,
    ScriptArguments,
    SubscriberOnly,
    FailOver,
    Setting,
    NoKey,
}

impl Refusal {
    /// The whole text, as the server writes it, without what it adds of the command.
    pub const fn text(self) -> &'static str {
        match self {
            Refusal::Unknown => "ERR unknown command",
            Refusal::Arguments => "ERR wrong number of arguments",
            Refusal::Subcommand => "ERR unknown subcommand",
            Refusal::Syntax => "ERR syntax error",
            Refusal::NotInteger => "ERR value is not an integer or out of range",
            Refusal::Overflow => "ERR increment or decrement would overflow",
            Refusal::ExpireTime => "ERR invalid expire time",
            Refusal::Options => "ERR options are not compatible",
            Refusal::WrongType => {
                "WRONGTYPE Operation against a key holding the wrong kind of value"
            }
            Refusal::ReadOnly => "READONLY You can't write against a read only replica.",
            Refusal::NoReplicas => "NOREPLICAS Not enough good replicas to write.",
            Refusal::NoScript => "NOSCRIPT No matching script.",
            Refusal::Memory => "OOM command not allowed when used memory > 'maxmemory'.",
            Refusal::Aborted => "EXECABORT Transaction discarded because of previous errors.",
            Refusal::ExecAlone => "ERR EXEC without MULTI",
            Refusal::DiscardAlone => "ERR DISCARD without MULTI",
            Refusal::Nested => "ERR MULTI calls can not be nested",
            Refusal::WatchInside => "ERR WATCH inside MULTI is not allowed",
            Refusal::Inside => "ERR Command not allowed inside a transaction",
            Refusal::Timeout => "ERR timeout is negative",
            Refusal::WaitOnReplica => "ERR WAIT cannot be used with replica instances.",
            Refusal::NoAppendOnly => {
                "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled."
            }
            Refusal::ScriptArguments => {
                "ERR Lua redis lib command arguments must be strings or integers"
            }
            Refusal::SubscriberOnly => "ERR Can't execute this in the context of a subscriber",
            Refusal::FailOver => "ERR FAILOVER is not possible here",
            Refusal::Setting => "ERR CONFIG SET failed",
            Refusal::NoKey => "ERR no such key",
        }
    }

    /// Its kind: the first word.
    pub fn kind(self) -> &'static str {
        self.text().split(' ').next().unwrap_or_default()
    }
}

/// When a `SET` sets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Only {
    /// Always.
    Always,
    /// `NX`: where there is no such key.
    Absent,
    /// `XX`: where there is one.
    Present,
    /// `IFEQ`: where it has this value.
    Equal(Text),
    /// `IFNE`: where it has another value, or is not there.
    Unequal(Text),
}

/// How long a key will be there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Life {
    /// For ever.
    Forever,
    /// As long as before.
    Kept,
    /// So many milliseconds from now.
    For(i64),
    /// Until the wall clock shows that, in milliseconds.
    Until(i64),
}

/// How a `SET` answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SetReply {
    /// `OK`, or nil.
    Plain,
    /// 1, or 0.
    Count,
    /// The value before.
    Old,
}

/// `SET` with all that can stand behind it, and its older forms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SetCommand {
    /// The key.
    pub key: Text,
    /// Its new value.
    pub value: Text,
    /// When.
    pub only: Only,
    /// For how long.
    pub life: Life,
    /// What it answers.
    pub reply: SetReply,
}

impl SetCommand {
    /// The word for it, which tells a taken lock from a plain write.
    const fn name(&self) -> &'static str {
        match (&self.only, self.life, self.reply) {
            (Only::Absent, Life::Forever, SetReply::Count) => "SETNX",
            (Only::Absent, Life::For(_), _) => "SET NX PX",
            (Only::Absent, ..) => "SET NX",
            _ => "SET",
        }
    }
}

impl Command {
    /// `SET key value PX ms`, or with `NX`: how a lock is taken, or set again.
    pub fn set_for(key: Text, value: Text, only: Only, ms: i64) -> Command {
        let (life, reply) = (Life::For(ms), SetReply::Plain);
        Command::Set(Box::new(SetCommand { key, value, only, life, reply }))
    }
}

/// The conditions of `PEXPIRE` and its relatives.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Bounds {
    /// `NX`: only where there is none.
    pub absent: bool,
    /// `XX`: only where there is one.
    pub present: bool,
    /// `GT`: only later; a key without an end ends later than all.
    pub later: bool,
    /// `LT`: only earlier.
    pub earlier: bool,
}

/// A script's keys and arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// `KEYS`.
    pub keys: Vec<Text>,
    /// `ARGV`.
    pub args: Vec<Text>,
}

/// A command.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names are those of the commands")]
pub enum Command {
    Ping,
    Get(Text),
    Set(Box<SetCommand>),
    SetMany(Vec<(Text, Text)>, Only),
    GetMany(Vec<Text>),
    GetDel(Text),
    /// None changes nothing. A wrong time is looked at only where there is such a key.
    GetEx(Text, Result<Option<Life>, Refusal>),
    Append(Text, Text),
    Del(Vec<Text>),
    /// Deletes where the value is that one, or is another.
    DelIf(Text, Only),
    Exists(Vec<Text>),
    /// `TTL`, `PTTL`, `EXPIRETIME`, `PEXPIRETIME`.
    Left {
        key: Text,
        seconds: bool,
        absolute: bool,
    },
    Expire {
        key: Text,
        life: Life,
        only: Bounds,
    },
    Persist(Text),
    Add(Text, i64),
    Type(Text),
    Strlen(Text),
    Push {
        key: Text,
        values: Vec<Text>,
        left: bool,
        only_present: bool,
    },
    ListLen(Text),
    Rename {
        from: Text,
        to: Text,
        only_absent: bool,
    },
    DbSize,
    Flush,
    Eval(Script, Call),
    /// None is the hash of a script that nobody has.
    EvalSha(Option<Script>, Call),
    ScriptLoad(Script),
    ScriptExists(Vec<Option<Script>>),
    ScriptFlush,
    Multi,
    Exec,
    Discard,
    Watch(Vec<Text>),
    Unwatch,
    Wait {
        replicas: i64,
        timeout: i64,
    },
    WaitAof {
        local: i64,
        replicas: i64,
        timeout: i64,
    },
    Role,
    /// None is `NO ONE`.
    ReplicaOf(Option<ProcId>),
    FailOver(Option<ProcId>),
    Pause {
        ms: i64,
        writes_only: bool,
    },
    Unpause,
    /// To channels, or to patterns of them.
    Subscribe(Vec<Text>, bool),
    /// None are all.
    Unsubscribe(Vec<Text>, bool),
    Publish(Text, Text),
    Configure(Vec<Setting>),
    Save,
    /// Whether it saves first; none where the save points say it.
    Shutdown(Option<bool>),
    ActiveExpire(bool),
    /// No command of this version, or one with too many or too few arguments: it is refused before
    /// anything else is looked at.
    Rejected(Refusal),
    /// A command that fails by itself, once it is executed.
    Malformed {
        refusal: Refusal,
        writes: bool,
    },
}

impl Command {
    /// The word for it, as messages are named.
    pub const fn name(&self) -> &'static str {
        match self {
            Command::Ping => "PING",
            Command::Get(_) | Command::GetMany(_) => "GET",
            Command::Set(set) => set.name(),
            Command::SetMany(..) => "SET",
            Command::GetDel(_) => "GETDEL",
            Command::GetEx(..) => "GETEX",
            Command::Append(..) => "APPEND",
            Command::Del(_) => "DEL",
            Command::DelIf(..) => "DEL IFEQ",
            Command::Exists(_) => "EXISTS",
            Command::Left { .. } => "TTL",
            Command::Expire { .. } => "EXPIRE",
            Command::Persist(_) => "PERSIST",
            Command::Add(..) => "INCR",
            Command::Type(_) => "TYPE",
            Command::Strlen(_) => "STRLEN",
            Command::Push { .. } => "PUSH",
            Command::ListLen(_) => "LLEN",
            Command::Rename { .. } => "RENAME",
            Command::DbSize => "DBSIZE",
            Command::Flush => "FLUSHALL",
            Command::Eval(script, _) => script.name(),
            Command::EvalSha(Some(script), _) => script.name(),
            Command::EvalSha(None, _) => "EVALSHA",
            Command::ScriptLoad(_) | Command::ScriptExists(_) | Command::ScriptFlush => "SCRIPT",
            Command::Multi => "MULTI",
            Command::Exec => "EXEC",
            Command::Discard => "DISCARD",
            Command::Watch(_) => "WATCH",
            Command::Unwatch => "UNWATCH",
            Command::Wait { .. } => "WAIT",
            Command::WaitAof { .. } => "WAITAOF",
            Command::Role => "ROLE",
            Command::ReplicaOf(_) => "REPLICAOF",
            Command::FailOver(_) => "FAILOVER",
            Command::Pause { .. } | Command::Unpause => "CLIENT",
            Command::Subscribe(..) => "SUBSCRIBE",
            Command::Unsubscribe(..) => "UNSUBSCRIBE",
            Command::Publish(..) => "PUBLISH",
            Command::Configure(_) => "CONFIG",
            Command::Save => "SAVE",
            Command::Shutdown(_) => "SHUTDOWN",
            Command::ActiveExpire(_) => "DEBUG",
            Command::Rejected(_) | Command::Malformed { .. } => "wrong command",
        }
    }

    /// Whether the server counts it among those that write.
    pub const fn writes(&self) -> bool {
        match self {
            Command::Malformed { writes, .. } => *writes,
            Command::Set(_)
            | Command::SetMany(..)
            | Command::GetDel(_)
            | Command::GetEx(..)
            | Command::Append(..)
            | Command::Del(_)
            | Command::DelIf(..)
            | Command::Expire { .. }
            | Command::Persist(_)
            | Command::Add(..)
            | Command::Push { .. }
            | Command::Rename { .. }
            | Command::Flush => true,
            _ => false,
        }
    }

    /// Whether what it does can reach a replica: writes, scripts, messages.
    pub const fn may_replicate(&self) -> bool {
        matches!(self, Command::Eval(..) | Command::EvalSha(..) | Command::Publish(..))
            || self.writes()
    }

    /// Whether it can need memory.
    pub const fn grows(&self) -> bool {
        match self {
            Command::Malformed { writes, .. } => *writes,
            Command::Set(_)
            | Command::SetMany(..)
            | Command::Append(..)
            | Command::Add(..)
            | Command::Push { .. } => true,
            _ => false,
        }
    }

    /// Whether it may not stand in a transaction.
    pub const fn stands_alone(&self) -> bool {
        matches!(self, Command::Save | Command::Shutdown(_))
    }

    /// Whether it is carried out at once inside a transaction.
    pub const fn is_never_queued(&self) -> bool {
        matches!(self, Command::Multi | Command::Exec | Command::Discard | Command::Watch(_))
    }
}

/// An answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reply {
    /// A word such as `OK`.
    Word(&'static str),
    /// A number.
    Number(i64),
    /// A text.
    Bulk(Text),
    /// No text.
    Nil,
    /// No answers: a transaction that was not carried out.
    NilArray,
    /// Answers.
    Array(Vec<Reply>),
    /// No.
    Error(Refusal),
}

impl Reply {
    /// `OK`.
    pub const OK: Reply = Reply::Word("OK");

    /// What a key that may be missing is answered with.
    pub fn bulk(text: Option<Text>) -> Reply {
        text.map_or(Reply::Nil, Reply::Bulk)
    }

    /// 1 or 0.
    pub fn yes(yes: bool) -> Reply {
        Reply::Number(i64::from(yes))
    }

    /// The word for it, as messages are named.
    pub fn name(&self) -> &'static str {
        match self {
            Reply::Word(word) => word,
            Reply::Number(0) => "0",
            Reply::Number(1) => "1",
            Reply::Number(_) => "number",
            Reply::Bulk(_) => "value",
            Reply::Nil | Reply::NilArray => "nil",
            Reply::Array(_) => "array",
            Reply::Error(refusal) => refusal.kind(),
        }
    }
}
