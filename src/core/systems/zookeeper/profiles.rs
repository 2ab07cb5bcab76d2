//! Client libraries as they are, each as the settings in which it differs.
//!
//! What a library does with a lost connection, an answer that never came and a session that is over is
//! read in its source; what is not modelled is said in its words.

use crate::systems::Preset;

const fn profile(
    word: &'static str,
    about: &'static str,
    place: &'static str,
    settings: &'static [(&'static str, &'static str)],
) -> Preset {
    Preset { key: "zookeeper.profile", word, about, place, settings }
}

/// The words of all profiles, in the order in which they are shown.
pub(super) const WORDS: &[&str] = &["by-the-book", "curator", "kazoo", "write-lock"];

/// The profiles. The first is the recipe in ZooKeeper's documentation, in a program that stops when it
/// is disconnected.
pub const PROFILES: &[Preset] = &[
    profile(
        "by-the-book",
        "A unique name, the order of the numbers, a watch on the znode before one’s own, and a holder \
         that stops when it is disconnected.",
        "ZooKeeper documentation, Recipes, “Locks”, and Programmer’s Guide, “ZooKeeper Sessions”",
        &[
            ("lock.watch", "predecessor"),
            ("lock.name", "guid"),
            ("lock.sort", "number"),
            ("lock.disconnected", "stop"),
            ("lock.adopt", "own-session"),
            ("lock.release", "again"),
        ],
    ),
    profile(
        "curator",
        "InterProcessMutex: a protected create, a delete that is repeated until it is done, and a holder \
         that is told nothing of a lost session unless its program listens. Its second acquire by one \
         thread, which asks nobody, and its parents, which the server deletes some time after they are \
         empty, are not modelled.",
        "apache/curator, InterProcessMutex, LockInternals, StandardLockInternalsDriver, ProtectedMode",
        &[
            ("lock.watch", "predecessor"),
            ("lock.name", "guid"),
            ("lock.sort", "number"),
            ("lock.disconnected", "ignore"),
            ("lock.adopt", "own-session"),
            ("lock.release", "again"),
        ],
    ),
    profile(
        "kazoo",
        "Lock: a unique prefix that is looked for before it creates again, whosesoever session the znode \
         is of; a flag `is_acquired` that only the release takes back; a release that is repeated. That \
         it wakes its waiters at each change of its state is not modelled.",
        "python-zk/kazoo, recipe/lock.py",
        &[
            ("lock.watch", "predecessor"),
            ("lock.name", "guid"),
            ("lock.sort", "number"),
            ("lock.disconnected", "ignore"),
            ("lock.adopt", "any"),
            ("lock.release", "again"),
        ],
    ),
    profile(
        "write-lock",
        "ZooKeeper’s own WriteLock: its session in the name, by which it finds its znode again, the order \
         of the numbers since ZOOKEEPER-2931, a delete that is tried once, and an owner that no event \
         makes doubt.",
        "apache/zookeeper, zookeeper-recipes-lock, WriteLock, ZNodeName",
        &[
            ("lock.watch", "predecessor"),
            ("lock.name", "session"),
            ("lock.sort", "number"),
            ("lock.disconnected", "ignore"),
            ("lock.adopt", "own-session"),
            ("lock.release", "once"),
        ],
    ),
];
