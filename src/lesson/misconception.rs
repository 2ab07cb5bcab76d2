//! What people believe about locks that is not so: where the wrong answers to predictions come from.

/// The misconceptions, `M1` first, each as somebody would say it who holds it.
pub const MISCONCEPTIONS: [&str; 20] = [
    "A lock is a lock: what a mutex does in one process, this one does between machines.",
    "If the work is done twice, that does no harm.",
    "A client that looks at its lease right before it writes is safe.",
    "With a lease that is long enough, the race is gone.",
    "Who has just renewed a lease owns the resource.",
    "A random value is as good a token as a number that grows.",
    "Tokens protect as soon as they are handed out; nobody has to compare them.",
    "A lock service with consensus behind it stops late writes by itself.",
    "Where a majority has agreed, nothing can go wrong any more.",
    "A process that does not answer is dead.",
    "Clocks on different machines agree, or are kept together well enough.",
    "A release can only end the lock of the one who sends it.",
    "When a lock becomes free, everybody who waits has to wake up.",
    "Who is woken because a lock became free holds it.",
    "A lock in the database also covers the calls that leave the database.",
    "Exactly once is something that a lock can give.",
    "A fence rejects every late write.",
    "Locking by a quorum of servers is always unsafe, or never, whatever it is used for.",
    "A process that stood still notices it when it goes on.",
    "More workers always get more done.",
];

/// What somebody says who holds the misconception with this name.
pub fn misconception(name: &str) -> Option<&'static str> {
    let number: usize = name.strip_prefix('M')?.parse().ok()?;
    MISCONCEPTIONS.get(number.checked_sub(1)?).copied()
}
