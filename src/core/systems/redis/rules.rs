//! The rules that the simulated Redis keeps, each with where it comes from.

use crate::systems::rules::steps;
use crate::systems::{Rule, Rules};

/// Rules of the servers.
pub const SERVER_RULES: Rules =
    Rules { name: "redis", title: "A Redis server and its clients", list: SERVER };

/// Rules of Redlock: of the masters, which know nothing of it, and of its client.
pub const REDLOCK_RULES: Rules =
    Rules { name: "redlock", title: "Redlock, its masters and its clients", list: REDLOCK };

const SERVER: &[Rule] = &[
    Rule::recorded(
        "SET NX PX sets a key that is not there, and answers nil, no error, where it is.",
        "Redis 7.0.15",
        &[steps("redis-7.0/set_nx_px", 1, 3)],
    )
    .under(&["SET NX PX OK", "SET NX PX nil", "grant", "refuse acquire", "decline acquire"]),
    Rule::recorded(
        "A plain SET replaces whatever there is, of any type, and the key then has no end.",
        "Redis 7.0.15",
        &[steps("redis-7.0/set_variants", 14, 15), steps("redis-7.0/wrong_type", 7, 7)],
    )
    .under(&["SET OK"]),
    Rule::recorded(
        "A plain DEL deletes the key of whoever holds it.",
        "Redis 7.0.15",
        &[steps("redis-7.0/plain_del_steals", 4, 6)],
    )
    .under(&["DEL 1", "DEL 0", "remove"]),
    Rule::source(
        "A command, a script or a transaction is one instant: the clock stands still in it, so that \
         no key ends between the comparison and the deletion of a release.",
        "Redis, server.c: commandTimeSnapshot",
    ),
    Rule::recorded(
        "A script that compares and deletes answers 0 where the value is another one or no key is \
         there, and 1 where it deleted.",
        "Redis 7.0.15",
        &[steps("redis-7.0/compare_and_delete", 6, 16)],
    )
    .under(&[
        "compare and delete 1", "compare and delete 0", "free", "refuse release", "decline release",
    ]),
    Rule::recorded(
        "A script that compares and extends answers 1 where it moved the end, later or earlier, and 0 \
         where the value is another one or no key is there: it never sets one.",
        "Redis 7.0.15",
        &[steps("redis-7.0/compare_and_extend", 2, 7), steps("redis-7.0/compare_and_extend", 15, 15)],
    )
    .under(&[
        "compare and extend 1", "compare and extend 0", "extend lock.extend=compare",
        "extend redlock.extend=compare", "refuse renew", "decline renew",
    ]),
    Rule::recorded(
        "PEXPIRE moves the end of the key of whoever holds it, and answers 0 where none is there.",
        "Redis 7.0.15",
        &[steps("redis-7.0/compare_and_extend", 8, 9), steps("redis-7.0/compare_and_extend", 16, 16)],
    )
    .under(&["EXPIRE 1", "EXPIRE 0", "extend lock.extend=pexpire"]),
    Rule::recorded(
        "GET and then DEL are two moments: between them the lock can pass to another.",
        "Redis 7.0.15",
        &[steps("more-redis-7.0/wrong_release", 1, 6)],
    )
    .under(&["GET value", "GET nil", "GET number"]),
    Rule::recorded(
        "A SET that refreshes sets the key again where it is gone, and nobody hears of it.",
        "Redis 7.0.15",
        &[steps("more-redis-7.0/wrong_release", 8, 11)],
    )
    .under(&["SET OK", "extend lock.extend=set", "extend redlock.extend=set"]),
    Rule::recorded(
        "SETNX without an end sets a key that stays for ever if nobody sets the end.",
        "Redis 7.0.15",
        &[steps("more-redis-7.0/wrong_release", 12, 14)],
    )
    .under(&["SETNX 1", "SETNX 0"]),
    Rule::recorded(
        "A script that sets and counts makes the lock and its number in one step; it counts only where \
         it set.",
        "Redis 7.0.15",
        &[steps("redis-7.0/incr_fencing", 1, 4)],
    )
    .under(&[
        "set and count number", "set and count 1", "set and count nil", "mint lock.acquire=script",
        "grant lock.acquire=script",
    ]),
    Rule::recorded(
        "INCR counts for whoever asks: a holder that comes late for its number gets a higher one than \
         the holder of now.",
        "Redis 7.0.15",
        &[steps("redis-7.0/incr_fencing", 9, 14)],
    )
    .under(&["INCR number", "INCR 1", "INCR 0", "mint lock.acquire=set-then-incr"]),
    Rule::recorded(
        "PEXPIRE with nothing or less than nothing deletes the key and answers 1.",
        "Redis 7.0.15",
        &[steps("redis-7.0/compare_and_extend", 18, 22)],
    ),
    Rule::source(
        "An end is an absolute moment of the server’s wall clock. A key is there as long as the \
         clock shows no later millisecond.",
        "Redis, db.c: keyIsExpired",
    )
    .under(&["expire", "keep"]),
    Rule::recorded(
        "A step of the wall clock ends keys at once, or lets them live on.",
        "Redis 7.0.15, with a shim for its clock",
        &[steps("redlock/clock_jump", 12, 13), steps("redlock/clock_jump", 21, 22)],
    )
    .under(&["shift"]),
    Rule::recorded(
        "What has ended is gone for every reader, and is deleted when somebody touches it or by a \
         look around ten times a second.",
        "Redis 7.0.15",
        &[steps("redis-7.0/read_after_expiry", 6, 9), steps("redis-7.0/read_after_expiry", 23, 23)],
    )
    .under(&["expire"]),
    Rule::recorded(
        "A watched key that was written, with the same value too, or that ended meanwhile, makes \
         EXEC answer nil and do nothing.",
        "Redis 7.0.15",
        &[steps("redis-7.0/multi_watch", 8, 22)],
    ),
    Rule::recorded(
        "A command of a transaction that fails takes nothing back of the others.",
        "Redis 7.0.15",
        &[steps("redis-7.0/multi_watch", 27, 31)],
    ),
    Rule::recorded(
        "Scripts are in memory: after a restart EVALSHA answers NOSCRIPT.",
        "Redis 7.0.15",
        &[steps("more-redis-7.0/connection_state", 56, 59)],
    ),
    Rule::document(
        "A replica opens the connection, asks from where it is, gets all of its master’s keys where that \
         is too long ago, and every write since.",
        "Redis documentation, “Redis replication”",
    )
    .under(&["send PSYNC", "send snapshot", "send close"]),
    Rule::recorded(
        "A master answers before any replica has what was written.",
        "Redis 7.0.15",
        &[steps("redis-7.0/replica_promotion", 8, 12)],
    )
    .under(&["send stream", "send ACK", "send GETACK"]),
    Rule::recorded(
        "WAIT counts the replicas that have what was written up to this connection’s last command. It \
         undoes nothing, and a short count is no error.",
        "Redis 7.0.15",
        &[steps("redis-7.0/wait_result", 11, 15)],
    )
    .under(&["WAIT 0", "WAIT 1", "WAIT number"]),
    Rule::recorded(
        "Redis before 7.2 lets WAIT ask for whatever was written before the connection’s last \
         command; later ones ask for the connection’s own writes only.",
        "Redis 7.0.15 and Valkey 9.1.2",
        &[steps("more-redis-7.0/wait_more", 5, 8), steps("more-valkey-9.1/wait_more", 5, 8)],
    ),
    Rule::recorded(
        "A promoted replica knows only what had reached it; the old master goes on until it is \
         told, and then throws away what only it had.",
        "Redis 7.0.15",
        &[steps("redis-7.0/replica_promotion", 13, 25)],
    )
    .under(&["forget", "lead"]),
    Rule::document(
        "A fail-over takes what has reached the replica. Clients and the old master learn of it later, \
         and until then that master goes on; of two fail-overs the later one holds.",
        "Redis documentation, “High availability with Redis Sentinel”",
    )
    .under(&["lead", "forget", "send REPLICAOF", "send greeting"]),
    Rule::source(
        "A replica gets an end as the moment that its master’s clock will show, and a promoted one \
         judges it by its own clock.",
        "Redis, t_string.c: setGenericCommand; expire.c: propagation of PEXPIREAT",
    )
    .under(&["shift"]),
    Rule::document(
        "Enough replicas for WAIT do not keep a lock: another one can be promoted.",
        "Redis documentation, WAIT",
    )
    .under(&["WAIT number", "WAIT 1"]),
    Rule::recorded(
        "A master that restarts empty makes its replica empty.",
        "Redis 7.0.15",
        &[steps("more-redis-7.0/master_restarts_empty", 4, 8)],
    ),
    Rule::recorded(
        "Too few replicas are noticed only after their silence has lasted; then writes are refused, \
         and a release by script too.",
        "Redis 7.0.15",
        &[steps("redis-7.0/wait_result", 16, 23)],
    ),
    Rule::recorded(
        "Without files a restart forgets everything, the counter of tokens included.",
        "Redis 7.0.15",
        &[steps("redis-7.0/restart_no_persistence", 5, 10)],
    )
    .under(&["forget redis.files=none"]),
    Rule::recorded(
        "With snapshots a kill loses what came after the last one; an orderly end takes one first, \
         where there are save points.",
        "Redis 7.0.15",
        &[steps("redis-7.0/restart_rdb", 1, 24)],
    )
    .under(&["forget redis.files=rdb"]),
    Rule::recorded(
        "An append-only file is written before the answer, unless a slow sync holds that up: a kill loses \
         nothing of it, with everysec too.",
        "Redis 7.0.15",
        &[steps("more-redis-7.0/aof_everysec", 1, 6)],
    ),
    Rule::document(
        "A power loss takes what was not synced: about a second of writes with everysec, nothing \
         with always.",
        "Redis documentation, “Redis persistence”",
    )
    .under(&["forget redis.files=aof-everysec"]),
    Rule::recorded(
        "Ends are kept as absolute moments, so that the time in which a server is down counts.",
        "Redis 7.0.15",
        &[steps("redis-7.0/restart_aof", 3, 11)],
    ),
    Rule::recorded(
        "CLIENT PAUSE holds commands and carries them out later, in their order; meanwhile time goes on.",
        "Redis 7.0.15",
        &[steps("redis-7.0/client_pause", 1, 6)],
    ),
    Rule::recorded(
        "A command that a client gave up waiting for is still carried out, if it had reached the server.",
        "Redis 7.0.15",
        &[steps("redlock/timed_out_set_still_applies", 6, 13)],
    ),
    Rule::recorded(
        "Where memory is short, keys with an end are thrown out under a volatile policy, and no others: a \
         lock is such a key.",
        "Redis 7.0.15",
        &[steps("more-redis-7.0/memory", 19, 25)],
    )
    .under(&["forget", "evict"]),
    Rule::recorded(
        "SET IFEQ compares and sets, DELIFEQ compares and deletes, in Valkey.",
        "Valkey 9.1.2",
        &[steps("valkey-9.1/set_ifeq", 2, 9)],
    ),
    Rule::document(
        "SET IFEQ and DELEX IFEQ do the same in Redis from 8.4 on.",
        "Redis documentation, SET and DELEX",
    ),
    Rule::inference(
        "Numbers that go through a script keep 53 bits: a counter beyond 2^53 repeats itself there.",
        "Numbers of Lua are doubles (Redis documentation, “Redis Lua API reference”).",
    ),
];

const REDLOCK: &[Rule] = &[
    Rule::document(
        "A client holds the lock if a majority of the masters said yes and less than the time to live \
         has passed since it began to ask.",
        "Redis documentation, “Distributed Locks with Redis”",
    )
    .under(&["believe", "grant", "count"]),
    Rule::source(
        "It then holds it for the time to live, less what has passed, less a hundredth of the time to \
         live and 2 ms.",
        "antirez/redlock-rb, redlock.rb",
    )
    .under(&["believe", "doubt", "check", "count"]),
    Rule::document(
        "Whoever fails deletes its value on all masters, also where it believes that it was not set.",
        "Redis documentation, “Distributed Locks with Redis”",
    )
    .under(&["compare and delete 0", "compare and delete 1"]),
    Rule::recorded(
        "A master that answers too late has set the key all the same.",
        "Five of Redis 7.0.15",
        &[steps("redlock/timed_out_set_still_applies", 6, 13)],
    ),
    Rule::recorded(
        "Where asking takes longer than the time to live, the first keys are gone when the last yes comes: \
         enough votes, and no lock.",
        "Five of Redis 7.0.15",
        &[steps("redlock/slow_acquire_validity", 2, 14)],
    )
    .under(&["refuse acquire"]),
    Rule::recorded(
        "A master that restarts without files votes again: a second client gets a majority while the promise \
         to the first one runs.",
        "Five of Redis 7.0.15",
        &[steps("redlock/restart_double_grant", 8, 23)],
    )
    .under(&["forget"]),
    Rule::recorded(
        "A step of one master’s wall clock takes a vote away before its time.",
        "Five of Redis 7.0.15, the third with a shim for its clock",
        &[steps("redlock/clock_jump", 8, 19)],
    )
    .under(&["shift", "expire"]),
    Rule::document(
        "A master that stays out after a restart for longer than the time to live takes no vote away \
         that is still needed.",
        "Redis documentation, “Distributed Locks with Redis”",
    ),
    Rule::document(
        "How often a lock is extended has to be limited, or nobody else gets it.",
        "Redis documentation, “Distributed Locks with Redis”",
    )
    .under(&["extend"]),
    Rule::inference(
        "Each master has one value, so that there are never two majorities at one time; a majority can \
         end while the time that its holder was promised still runs.",
        "It follows from counting: two majorities of the same masters share one.",
    )
    .under(&["grant", "expire", "free", "remove", "forget", "keep"]),
    Rule::disputed(
        "Whether this is safe enough where correctness depends on it.",
        "Martin Kleppmann, “How to do distributed locking”, 2016; antirez, “Is Redlock safe?”, 2016",
    ),
];
