//! Which commands a server of a version has: an unknown name is an error of the server's, a known
//! one that is not modelled is named.

use crate::systems::redis::Version;

/// What is known of a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Known {
    /// It is modelled, with at least and at most so many arguments.
    Yes(usize, Option<usize>),
    /// The server has it, and the simulated one has not.
    NotHere,
    /// No server of this version has it.
    No,
    /// It is in no list, and the lists of this version are not whole.
    Unsure,
}

const ANY: Option<usize> = None;

/// Commands that are modelled: name, least and most arguments.
const MODELLED: &[(&str, usize, Option<usize>)] = &[
    ("APPEND", 2, Some(2)),
    ("CLIENT", 1, ANY),
    ("CONFIG", 1, ANY),
    ("DBSIZE", 0, Some(0)),
    ("DEBUG", 1, ANY),
    ("DECR", 1, Some(1)),
    ("DECRBY", 2, Some(2)),
    ("DEL", 1, ANY),
    ("DISCARD", 0, Some(0)),
    ("EVAL", 2, ANY),
    ("EVALSHA", 2, ANY),
    ("EXEC", 0, Some(0)),
    ("EXISTS", 1, ANY),
    ("EXPIRE", 2, ANY),
    ("EXPIREAT", 2, ANY),
    ("EXPIRETIME", 1, Some(1)),
    ("FAILOVER", 0, ANY),
    ("FLUSHALL", 0, ANY),
    ("FLUSHDB", 0, ANY),
    ("GET", 1, Some(1)),
    ("GETDEL", 1, Some(1)),
    ("GETEX", 1, ANY),
    ("GETSET", 2, Some(2)),
    ("INCR", 1, Some(1)),
    ("INCRBY", 2, Some(2)),
    ("LLEN", 1, Some(1)),
    ("LPUSH", 2, ANY),
    ("LPUSHX", 2, ANY),
    ("MGET", 1, ANY),
    ("MSET", 2, ANY),
    ("MSETNX", 2, ANY),
    ("MULTI", 0, Some(0)),
    ("PERSIST", 1, Some(1)),
    ("PEXPIRE", 2, ANY),
    ("PEXPIREAT", 2, ANY),
    ("PEXPIRETIME", 1, Some(1)),
    ("PING", 0, ANY),
    ("PSETEX", 3, Some(3)),
    ("PSUBSCRIBE", 1, ANY),
    ("PTTL", 1, Some(1)),
    ("PUBLISH", 2, Some(2)),
    ("RENAME", 2, Some(2)),
    ("RENAMENX", 2, Some(2)),
    ("PUNSUBSCRIBE", 0, ANY),
    ("REPLICAOF", 2, Some(2)),
    ("ROLE", 0, Some(0)),
    ("RPUSH", 2, ANY),
    ("RPUSHX", 2, ANY),
    ("SAVE", 0, Some(0)),
    ("SCRIPT", 1, ANY),
    ("SET", 2, ANY),
    ("SETEX", 3, Some(3)),
    ("SETNX", 2, Some(2)),
    ("SHUTDOWN", 0, ANY),
    ("SLAVEOF", 2, Some(2)),
    ("STRLEN", 1, Some(1)),
    ("SUBSCRIBE", 1, ANY),
    ("TOUCH", 1, ANY),
    ("TTL", 1, Some(1)),
    ("TYPE", 1, Some(1)),
    ("UNLINK", 1, ANY),
    ("UNSUBSCRIBE", 0, ANY),
    ("UNWATCH", 0, Some(0)),
    ("WAIT", 2, Some(2)),
    ("WATCH", 1, ANY),
];

/// Commands that are modelled and came later: name, arguments, since which Redis, which Valkey.
const LATER: &[(&str, usize, usize, u16, u16)] =
    &[("WAITAOF", 3, 3, 702, 702), ("DELEX", 1, 3, 804, 902), ("DELIFEQ", 2, 2, u16::MAX, 900)];

/// What else Redis 7.0 has.
const OTHERS: &str = " ACL ASKING AUTH BGREWRITEAOF BGSAVE BITCOUNT BITFIELD BITFIELD_RO BITOP BITPOS \
    BLMOVE BLMPOP BLPOP BRPOP BRPOPLPUSH BZMPOP BZPOPMAX BZPOPMIN CLUSTER COMMAND COPY DUMP ECHO \
    EVALSHA_RO EVAL_RO FCALL FCALL_RO FUNCTION GEOADD GEODIST GEOHASH GEOPOS GEORADIUS \
    GEORADIUSBYMEMBER GEORADIUSBYMEMBER_RO GEORADIUS_RO GEOSEARCH GEOSEARCHSTORE GETBIT GETRANGE \
    HDEL HELLO HEXISTS HGET HGETALL HINCRBY HINCRBYFLOAT HKEYS HLEN HMGET HMSET HRANDFIELD HSCAN \
    HSET HSETNX HSTRLEN HVALS INCRBYFLOAT INFO KEYS LASTSAVE LATENCY LCS LINDEX LINSERT LMOVE \
    LMPOP LOLWUT LPOP LPOS LRANGE LREM LSET LTRIM MEMORY MIGRATE MODULE MONITOR MOVE OBJECT PFADD \
    PFCOUNT PFDEBUG PFMERGE PFSELFTEST PSYNC PUBSUB QUIT RANDOMKEY READONLY \
    READWRITE REPLCONF RESET RESTORE RESTORE-ASKING RPOP RPOPLPUSH SADD SCAN SCARD SDIFF SDIFFSTORE \
    SELECT SETBIT SETRANGE SINTER SINTERCARD SINTERSTORE SISMEMBER SLOWLOG SMEMBERS SMISMEMBER \
    SMOVE SORT SORT_RO SPOP SPUBLISH SRANDMEMBER SREM SSCAN SSUBSCRIBE SUBSTR SUNION SUNIONSTORE \
    SUNSUBSCRIBE SWAPDB SYNC TIME XACK XADD XAUTOCLAIM XCLAIM XDEL XGROUP XINFO XLEN XPENDING \
    XRANGE XREAD XREADGROUP XREVRANGE XSETID XTRIM ZADD ZCARD ZCOUNT ZDIFF ZDIFFSTORE ZINCRBY \
    ZINTER ZINTERCARD ZINTERSTORE ZLEXCOUNT ZMPOP ZMSCORE ZPOPMAX ZPOPMIN ZRANDMEMBER ZRANGE \
    ZRANGEBYLEX ZRANGEBYSCORE ZRANGESTORE ZRANK ZREM ZREMRANGEBYLEX ZREMRANGEBYRANK \
    ZREMRANGEBYSCORE ZREVRANGE ZREVRANGEBYLEX ZREVRANGEBYSCORE ZREVRANK ZSCAN ZSCORE ZUNION \
    ZUNIONSTORE ";

/// What came after 7.0 and is not modelled: name, since which Redis, since which Valkey.
const NEWER: &[(&str, u16, u16)] = &[
    ("DIGEST", 804, u16::MAX),
    ("MSETEX", 804, 901),
    ("HEXPIRE", 704, 900),
    ("HPEXPIRE", 704, 900),
    ("HEXPIREAT", 704, 900),
    ("HPEXPIREAT", 704, 900),
    ("HTTL", 704, 900),
    ("HPTTL", 704, 900),
    ("HEXPIRETIME", 704, 900),
    ("HPEXPIRETIME", 704, 900),
    ("HPERSIST", 704, 900),
    ("HGETEX", 800, 900),
    ("HSETEX", 800, 900),
    ("HGETDEL", 800, 901),
    ("XACKDEL", 802, u16::MAX),
    ("XDELEX", 802, u16::MAX),
    ("COMMANDLOG", u16::MAX, 801),
];

/// Commands that are not modelled, and that change neither a server nor the connection on which they
/// are asked; each with its second word, where only some of them do not.
const LOOKS: &[(&str, &[&str])] = &[
    ("CLIENT", &["GETNAME", "GETREDIR", "HELP", "ID", "INFO", "LIST", "TRACKINGINFO"]),
    ("COMMAND", &[]),
    ("CONFIG", &["GET", "HELP"]),
    ("DEBUG", &["HELP", "OBJECT"]),
    ("ECHO", &[]),
    ("INFO", &[]),
    ("LASTSAVE", &[]),
    ("LOLWUT", &[]),
    ("MEMORY", &["DOCTOR", "HELP", "STATS", "USAGE"]),
    ("OBJECT", &["ENCODING", "FREQ", "HELP", "IDLETIME", "REFCOUNT"]),
    ("PING", &[]),
    ("PUBSUB", &[]),
    ("SCRIPT", &["HELP", "SHOW"]),
    ("SLOWLOG", &["GET", "HELP", "LEN"]),
    ("TIME", &[]),
];

/// Whether a command that is not modelled is known to change nothing, outside of a transaction.
pub fn changes_nothing(argv: &[String]) -> bool {
    let word = |place: usize| argv.get(place).map(|word| word.to_ascii_uppercase());
    let (first, second) = (word(0).unwrap_or_default(), word(1).unwrap_or_default());
    let found = LOOKS.iter().find(|looks| looks.0 == first);
    found.is_some_and(|(_, seconds)| seconds.is_empty() || seconds.contains(&second.as_str()))
}

/// Stands in transcripts for a name that no server of any release has.
const NOBODY: &str = "NOSUCH";

/// What a server of that version knows of a name, which is in capitals.
pub fn known(name: &str, version: Version) -> Known {
    if let Some((_, least, most)) = MODELLED.iter().find(|m| m.0 == name) {
        return Known::Yes(*least, *most);
    }
    if let Some((_, least, most, redis, valkey)) = LATER.iter().find(|l| l.0 == name) {
        return if version.since(*redis, *valkey) {
            Known::Yes(*least, Some(*most))
        } else {
            Known::No
        };
    }
    if let Some((_, redis, valkey)) = NEWER.iter().find(|newer| newer.0 == name) {
        return if version.since(*redis, *valkey) { Known::NotHere } else { Known::No };
    }
    let old = !name.contains(' ') && !name.is_empty() && OTHERS.contains(&format!(" {name} "));
    match version {
        _ if old => Known::NotHere,
        // All names of 7.0 are listed, of later versions only some.
        Version::REDIS_7_0 => Known::No,
        _ if name == NOBODY => Known::No,
        _ => Known::Unsure,
    }
}
