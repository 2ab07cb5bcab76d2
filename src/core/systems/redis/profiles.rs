//! Client libraries for Redlock as they are, each as the settings in which it differs.
//!
//! What a library does with an error of one master, with its own retries and its own clock is read in
//! its source; what is not modelled is said in its words.

use crate::systems::Preset;

const KEY: &str = "redlock.profile";

const fn profile(
    word: &'static str,
    about: &'static str,
    place: &'static str,
    settings: &'static [(&'static str, &'static str)],
) -> Preset {
    Preset { key: KEY, word, about, place, settings }
}

/// The words of all profiles, in the order in which they are shown.
pub(super) const WORDS: &[&str] = &[
    "by-the-book",
    "redlock-rb",
    "redlock-rb-2023",
    "redlock-py",
    "redsync",
    "node-redlock",
    "redisson",
    "pottery",
    "redlock-net",
];

/// The profiles. The first is the official text, with the reference code’s allowance for clocks.
pub const PROFILES: &[Preset] = &[
    profile(
        "by-the-book",
        "All masters at once, a fresh value for each try, the time looked at when all have answered, \
         everything deleted after a failure, three extensions (it names no number; this one is ours).",
        "Redis documentation, “Distributed Locks with Redis”",
        &[
            ("redlock.order", "parallel"),
            ("redlock.patience", "500ms"),
            ("redlock.decide", "all"),
            ("redlock.elapsed", "checked"),
            ("redlock.drift", "reference"),
            ("redlock.value", "per-try"),
            ("redlock.failed", "delete"),
            ("redlock.error", "no"),
            ("redlock.extend", "compare"),
            ("redlock.extensions", "3"),
            ("redlock.tries", "0"),
            ("acquire.retry", "1s"),
            ("acquire.jitter", "200ms"),
            ("client.clock", "mono"),
        ],
    ),
    profile(
        "redlock-rb",
        "The reference: one master after another, three tries with the same value, up to 200 ms between \
         them, the wall clock.",
        "antirez/redlock-rb, 2021, redlock.rb",
        &[
            ("redlock.order", "sequential"),
            ("redlock.patience", "5s"),
            ("redlock.decide", "all"),
            ("redlock.elapsed", "checked"),
            ("redlock.drift", "reference"),
            ("redlock.value", "per-acquire"),
            ("redlock.failed", "delete"),
            ("redlock.error", "no"),
            ("redlock.extend", "compare"),
            ("redlock.extensions", "0"),
            ("redlock.tries", "3"),
            ("acquire.retry", "0s"),
            ("acquire.jitter", "200ms"),
            ("client.clock", "wall"),
        ],
    ),
    profile(
        "redlock-rb-2023",
        "One master after another, a fresh value for each of four tries, 200 to 250 ms between them; an \
         extension sets a lock again that is gone. It also takes a lock of which no time at all is left.",
        "leandromoreira/redlock-rb, 2023",
        &[
            ("redlock.order", "sequential"),
            ("redlock.patience", "100ms"),
            ("redlock.decide", "all"),
            ("redlock.elapsed", "not-negative"),
            ("redlock.drift", "reference"),
            ("redlock.value", "per-try"),
            ("redlock.failed", "delete"),
            ("redlock.error", "no"),
            ("redlock.extend", "set"),
            ("redlock.extensions", "1000000"),
            ("redlock.tries", "4"),
            ("acquire.retry", "200ms"),
            ("acquire.jitter", "50ms"),
            ("client.clock", "mono"),
        ],
    ),
    profile(
        "redlock-py",
        "One master after another, three tries with the same value, 200 ms between them; where one \
         master fails although a majority said yes, it raises an error and leaves the keys.",
        "SPSCommerce/redlock-py, 2016",
        &[
            ("redlock.order", "sequential"),
            ("redlock.patience", "60s"),
            ("redlock.decide", "all"),
            ("redlock.elapsed", "checked"),
            ("redlock.drift", "reference"),
            ("redlock.value", "per-acquire"),
            ("redlock.failed", "delete"),
            ("redlock.error", "raise"),
            ("redlock.extend", "compare"),
            ("redlock.extensions", "0"),
            ("redlock.tries", "3"),
            ("acquire.retry", "200ms"),
            ("acquire.jitter", "0s"),
            ("client.clock", "wall"),
        ],
    ),
    profile(
        "redsync",
        "All masters at once, 32 tries with the same value, 50 to 250 ms between them, a hundredth for \
         clocks without the 2 ms; a round waits for a twentieth of the time to live, here of 8 s.",
        "go-redsync/redsync v4, 2026",
        &[
            ("redlock.order", "parallel"),
            ("redlock.patience", "400ms"),
            ("redlock.decide", "all"),
            ("redlock.elapsed", "checked"),
            ("redlock.drift", "hundredth"),
            ("redlock.value", "per-acquire"),
            ("redlock.failed", "delete"),
            ("redlock.error", "no"),
            ("redlock.extend", "compare"),
            ("redlock.extensions", "1000000"),
            ("redlock.tries", "32"),
            ("acquire.retry", "50ms"),
            ("acquire.jitter", "200ms"),
            ("client.clock", "mono"),
        ],
    ),
    profile(
        "node-redlock",
        "Decides as soon as a majority has said yes and never looks if there is time left; what a failed \
         try has set blocks its next one. Eleven tries, 100 to 300 ms between them, the wall clock.",
        "mike-marcacci/node-redlock v5 beta, 2025; pull request 369",
        &[
            ("redlock.order", "parallel"),
            ("redlock.patience", "60s"),
            ("redlock.decide", "quorum"),
            ("redlock.elapsed", "unchecked"),
            ("redlock.drift", "nearest"),
            ("redlock.value", "per-acquire"),
            ("redlock.failed", "leave"),
            ("redlock.error", "no"),
            ("redlock.extend", "compare"),
            ("redlock.extensions", "1000000"),
            ("redlock.tries", "11"),
            ("acquire.retry", "100ms"),
            ("acquire.jitter", "200ms"),
            ("client.clock", "wall"),
        ],
    ),
    profile(
        "redisson",
        "One master after another, no allowance for clocks and no look at the time that is left. That it \
         waits for messages of its masters instead of trying again is not modelled.",
        "redisson/redisson, RedissonRedLock, deprecated",
        &[
            ("redlock.order", "sequential"),
            ("redlock.patience", "3s"),
            ("redlock.decide", "all"),
            ("redlock.elapsed", "unchecked"),
            ("redlock.drift", "none"),
            ("redlock.value", "per-acquire"),
            ("redlock.failed", "delete"),
            ("redlock.error", "no"),
            ("redlock.extend", "compare"),
            ("redlock.extensions", "1000000"),
            ("redlock.tries", "0"),
            ("acquire.retry", "1s"),
            ("acquire.jitter", "0s"),
            ("client.clock", "wall"),
        ],
    ),
    profile(
        "pottery",
        "All masters at once, decided at a majority, a fresh value for each try, up to 200 ms between \
         them, three extensions.",
        "brainix/pottery, 2026",
        &[
            ("redlock.order", "parallel"),
            ("redlock.patience", "60s"),
            ("redlock.decide", "quorum"),
            ("redlock.elapsed", "checked"),
            ("redlock.drift", "exact"),
            ("redlock.value", "per-try"),
            ("redlock.failed", "delete"),
            ("redlock.error", "no"),
            ("redlock.extend", "compare"),
            ("redlock.extensions", "3"),
            ("redlock.tries", "0"),
            ("acquire.retry", "0s"),
            ("acquire.jitter", "200ms"),
            ("client.clock", "mono"),
        ],
    ),
    profile(
        "redlock-net",
        "All masters at once, three tries with the same value, up to 400 ms between them; it extends \
         without a limit, and an extension sets a lock again that is gone.",
        "samcook/RedLock.net, 2022, Extend.lua",
        &[
            ("redlock.order", "parallel"),
            ("redlock.patience", "5s"),
            ("redlock.decide", "all"),
            ("redlock.elapsed", "checked"),
            ("redlock.drift", "exact"),
            ("redlock.value", "per-acquire"),
            ("redlock.failed", "delete"),
            ("redlock.error", "no"),
            ("redlock.extend", "set"),
            ("redlock.extensions", "1000000"),
            ("redlock.tries", "3"),
            ("acquire.retry", "0s"),
            ("acquire.jitter", "400ms"),
            ("client.clock", "mono"),
        ],
    ),
];
