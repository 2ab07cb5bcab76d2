//! The rules that the simulated Redis keeps, each with where it comes from.

use crate::systems::{Basis, Rule};

const fn recorded(says: &'static str, place: &'static str) -> Rule {
    Rule { says, basis: Basis::Recorded, place }
}

const fn source(says: &'static str, place: &'static str) -> Rule {
    Rule { says, basis: Basis::Source, place }
}

const fn documented(says: &'static str, place: &'static str) -> Rule {
    Rule { says, basis: Basis::Document, place }
}

/// Rules of the servers.
pub const SERVER_RULES: &[Rule] = &[
    recorded(
        "SET NX PX sets a key that is not there, and answers nil, no error, where it is.",
        "Redis 7.0.15, set_nx_px, steps 1-3",
    ),
    recorded(
        "A plain SET replaces whatever there is, of any type, and the key then has no end.",
        "Redis 7.0.15, set_variants, steps 14-15; wrong_type, step 7",
    ),
    recorded(
        "A plain DEL deletes the key of whoever holds it.",
        "Redis 7.0.15, plain_del_steals, steps 4-6",
    ),
    source(
        "A command, a script or a transaction is one instant: the clock stands still in it, so that \
         no key ends between the comparison and the deletion of a release.",
        "Redis, server.c: commandTimeSnapshot",
    ),
    recorded(
        "A script that compares and deletes answers 0 where the value is another one or no key is \
         there, and 1 where it deleted.",
        "Redis 7.0.15, compare_and_delete, steps 6-16",
    ),
    recorded(
        "PEXPIRE with nothing or less than nothing deletes the key and answers 1.",
        "Redis 7.0.15, compare_and_extend, steps 18-22",
    ),
    source(
        "An end is an absolute moment of the server’s wall clock. A key is there as long as the \
         clock shows no later millisecond.",
        "Redis, db.c: keyIsExpired",
    ),
    recorded(
        "A step of the wall clock ends keys at once, or lets them live on.",
        "Redis 7.0.15, clock_jump, steps 12-13 and 21-22",
    ),
    recorded(
        "What has ended is gone for every reader, and is deleted when somebody touches it or by a \
         look around ten times a second.",
        "Redis 7.0.15, read_after_expiry, steps 6-9 and 23",
    ),
    recorded(
        "A watched key that was written, with the same value too, or that ended meanwhile, makes \
         EXEC answer nil and do nothing.",
        "Redis 7.0.15, multi_watch, steps 8-22",
    ),
    recorded(
        "A command of a transaction that fails takes nothing back of the others.",
        "Redis 7.0.15, multi_watch, steps 27-31",
    ),
    recorded(
        "Scripts are in memory: after a restart EVALSHA answers NOSCRIPT.",
        "Redis 7.0.15, connection_state, steps 56-59",
    ),
    recorded(
        "A master answers before any replica has what was written.",
        "Redis 7.0.15, replica_promotion, steps 8-12",
    ),
    recorded(
        "WAIT counts the replicas that have what this connection wrote. It undoes nothing, and a \
         short count is no error.",
        "Redis 7.0.15, wait_result, steps 11-15",
    ),
    recorded(
        "Redis before 7.2 lets WAIT ask for whatever was written before the connection’s last \
         command; later ones ask for the connection’s own writes only.",
        "Redis 7.0.15 and Valkey 9.1.2, wait_more, steps 5-8",
    ),
    recorded(
        "A promoted replica knows only what had reached it; the old master goes on until it is \
         told, and then throws away what only it had.",
        "Redis 7.0.15, replica_promotion, steps 13-25",
    ),
    documented(
        "A fail-over takes what has reached the replica. Clients and the old master learn of it later, \
         and until then that master goes on; of two fail-overs the later one holds.",
        "Redis documentation, “High availability with Redis Sentinel”",
    ),
    source(
        "A replica gets an end as the moment that its master’s clock will show, and a promoted one \
         judges it by its own clock.",
        "Redis, t_string.c: setGenericCommand; expire.c: propagation of PEXPIREAT",
    ),
    documented(
        "Enough replicas for WAIT do not keep a lock: another one can be promoted.",
        "Redis documentation, WAIT",
    ),
    recorded(
        "A master that restarts empty makes its replica empty.",
        "Redis 7.0.15, master_restarts_empty, steps 4-8",
    ),
    recorded(
        "Too few replicas are noticed only after their silence has lasted; then writes are refused, \
         and a release by script too.",
        "Redis 7.0.15, wait_result, steps 16-23",
    ),
    recorded(
        "Without files a restart forgets everything, the counter of tokens included.",
        "Redis 7.0.15, restart_no_persistence, steps 5-10",
    ),
    recorded(
        "With snapshots a kill loses what came after the last one; an orderly end takes one first, \
         where there are save points.",
        "Redis 7.0.15, restart_rdb, steps 1-24",
    ),
    recorded(
        "An append-only file is written before the answer: a kill loses nothing of it, whenever it \
         is synced.",
        "Redis 7.0.15, aof_everysec, steps 1-6",
    ),
    documented(
        "A power loss takes what was not synced: about a second of writes with everysec, nothing \
         with always.",
        "Redis documentation, “Redis persistence”",
    ),
    recorded(
        "Ends are kept as absolute moments, so that the time in which a server is down counts.",
        "Redis 7.0.15, restart_aof, steps 3-11",
    ),
    recorded(
        "CLIENT PAUSE holds commands and carries them out later, in their order; meanwhile time goes on.",
        "Redis 7.0.15, client_pause, steps 1-6",
    ),
    recorded(
        "A command that a client gave up waiting for is still carried out, if it had reached the server.",
        "Redis 7.0.15, timed_out_set_still_applies, steps 6-13",
    ),
    recorded(
        "Where memory is short, keys with an end are thrown out first under a volatile policy: a \
         lock is such a key.",
        "Redis 7.0.15, memory, steps 19-24",
    ),
    recorded(
        "SET IFEQ compares and sets, DELIFEQ compares and deletes, in Valkey.",
        "Valkey 9.1.2, set_ifeq, steps 2-9",
    ),
    documented(
        "SET IFEQ and DELEX IFEQ do the same in Redis from 8.4 on.",
        "Redis documentation, SET and DELEX",
    ),
    recorded(
        "Numbers that go through a script keep 53 bits: a counter beyond 2^53 repeats itself there.",
        "Redis 7.0.15, random commands",
    ),
];

const fn inferred(says: &'static str, place: &'static str) -> Rule {
    Rule { says, basis: Basis::Inference, place }
}

/// Rules of Redlock: of the masters, which know nothing of it, and of its client.
pub const REDLOCK_RULES: &[Rule] = &[
    documented(
        "A client holds the lock if a majority of the masters said yes and less than the time to live \
         has passed since it began to ask.",
        "Redis documentation, “Distributed Locks with Redis”",
    ),
    source(
        "It then holds it for the time to live, less what has passed, less a hundredth of the time to \
         live and 2 ms.",
        "antirez/redlock-rb, redlock.rb",
    ),
    documented(
        "Whoever fails deletes its value on all masters, also where it believes that it was not set.",
        "Redis documentation, “Distributed Locks with Redis”",
    ),
    recorded(
        "A master that answers too late has set the key all the same.",
        "Five of Redis 7.0.15, timed_out_set_still_applies, steps 6-13",
    ),
    recorded(
        "A client with enough votes that came too late does not hold the lock.",
        "Five of Redis 7.0.15, slow_acquire_validity, step 12",
    ),
    recorded(
        "A master that restarts without files votes again, and two clients have a majority.",
        "Five of Redis 7.0.15, restart_double_grant, steps 8-23",
    ),
    recorded(
        "A step of one master’s wall clock takes a vote away before its time.",
        "Five of Redis 7.0.15, clock_jump, steps 8-19",
    ),
    documented(
        "A master that stays out after a restart for longer than the time to live takes no vote away \
         that is still needed.",
        "Redis documentation, “Distributed Locks with Redis”",
    ),
    documented(
        "How often a lock is extended has to be limited, or nobody else gets it.",
        "Redis documentation, “Distributed Locks with Redis”",
    ),
    inferred(
        "Each master has one value, so that there are never two majorities at one time; a majority can \
         end while the time that its holder was promised still runs.",
        "It follows from counting: two majorities of the same masters share one.",
    ),
    Rule {
        says: "Whether this is safe enough where correctness depends on it.",
        basis: Basis::Disputed,
        place: "Martin Kleppmann, “How to do distributed locking”, 2016; antirez, “Is Redlock safe?”, 2016",
    },
];
