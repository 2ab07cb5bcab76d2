//! What can be set of a client: its session, its way of taking a lock.

use crate::judge::Ask;
use crate::sim::Micros;
use crate::systems::{Kind, Settings, Spec};

/// Which znode a waiter asks to be told of.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Watching {
    /// The one before its own.
    #[default]
    Predecessor,
    /// The parent of all: every coming and going.
    Parent,
    /// The first of all.
    Lowest,
}

impl Watching {
    /// What a waiter asks for then.
    pub fn asked(self) -> Ask {
        match self {
            Watching::Predecessor | Watching::Lowest => Ask::Watch,
            Watching::Parent => Ask::WatchAll,
        }
    }
}

/// What stands in a znode's name before its number.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Naming {
    /// Letters that no other try has, so that a client finds its znode again.
    #[default]
    Guid,
    /// Nothing that tells it from another's.
    Plain,
    /// The number of the session.
    Session,
}

/// In which order a client reads the queue.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Sorting {
    /// By the number behind the name.
    #[default]
    Number,
    /// By the whole name.
    Name,
}

/// When a client stops believing, while nobody has told it that its znode is gone.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Doubting {
    /// As soon as its connection is lost.
    #[default]
    Disconnected,
    /// When it hears that its session is over.
    Expired,
    /// Never: it asks nobody.
    Never,
}

/// What a client shows the resource.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum TokenOf {
    /// The transaction that made its znode.
    #[default]
    Czxid,
    /// The number behind its name.
    Sequence,
    /// How often its data was set.
    Version,
    /// The transaction that last set its data.
    Mzxid,
    /// How often a child of the parent came or went.
    Cversion,
    /// The transaction in which one last came or went.
    Pzxid,
    /// The session.
    Session,
}

/// All of it.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Options {
    pub(super) watching: Watching,
    pub(super) naming: Naming,
    pub(super) sorting: Sorting,
    pub(super) doubting: Doubting,
    pub(super) token: TokenOf,
    /// A releaser deletes the parent too, where it is empty.
    pub(super) deletes_parent: bool,
    /// A znode with its letters counts as its own, whosesoever session it is.
    pub(super) adopts_any: bool,
    /// A release that met a broken connection is forgotten.
    pub(super) releases_once: bool,
    /// Watches are not set again on another connection.
    pub(super) forgets_watches: bool,
    /// The session's time-out, as the client asks for it.
    pub(super) timeout: Micros,
    /// The most that it waits before it turns to the next server.
    pub(super) backoff: Micros,
    /// It takes its session for over by itself, after four thirds of the time-out.
    pub(super) expires_itself: bool,
}

impl Options {
    pub(super) fn of(settings: &Settings) -> Options {
        let word = |key| settings.word(key);
        Options {
            watching: match word("lock.watch") {
                "parent" => Watching::Parent,
                "lowest" => Watching::Lowest,
                _ => Watching::Predecessor,
            },
            naming: match word("lock.name") {
                "plain" => Naming::Plain,
                "session" => Naming::Session,
                _ => Naming::Guid,
            },
            sorting: match word("lock.sort") {
                "name" => Sorting::Name,
                _ => Sorting::Number,
            },
            doubting: match word("lock.disconnected") {
                "wait" => Doubting::Expired,
                "ignore" => Doubting::Never,
                _ => Doubting::Disconnected,
            },
            token: match word("lock.token") {
                "sequence" => TokenOf::Sequence,
                "version" => TokenOf::Version,
                "mzxid" => TokenOf::Mzxid,
                "cversion" => TokenOf::Cversion,
                "pzxid" => TokenOf::Pzxid,
                "session" => TokenOf::Session,
                _ => TokenOf::Czxid,
            },
            deletes_parent: word("lock.parent") == "delete",
            adopts_any: word("lock.adopt") == "any",
            releases_once: word("lock.release") == "once",
            forgets_watches: word("lock.rewatch") == "forget",
            timeout: settings.span("session.timeout"),
            backoff: settings.span("session.backoff"),
            expires_itself: word("zookeeper.version") == "zookeeper-3.9.3",
        }
    }
}

/// The settings of a client, beside those of the servers.
pub const CLIENT_SETTINGS: &[Spec] = &[
    Spec {
        key: "zookeeper.profile",
        kind: Kind::Choice(super::profiles::WORDS),
        default: "by-the-book",
        about: "Which client library it is. It sets `lock.watch`, `lock.name`, `lock.sort`, \
                `lock.disconnected`, `lock.adopt` and `lock.release`; what a scenario sets beside it \
                holds.",
    },
    Spec {
        key: "session.timeout",
        kind: Kind::Term,
        default: "10s",
        about: "For how long a client asks the servers to keep its session without hearing of it. They \
                grant between 2 and 20 of their ticks.",
    },
    Spec {
        key: "session.backoff",
        kind: Kind::Span,
        default: "1s",
        about: "The most that a client waits before it turns to the next server, drawn anew each time.",
    },
    Spec {
        key: "lock.watch",
        kind: Kind::Choice(&["predecessor", "parent", "lowest"]),
        default: "predecessor",
        about: "What a waiter watches: the znode before its own; the parent of all of them, which wakes \
                every waiter each time; the first of them, which wakes every waiter when it goes.",
    },
    Spec {
        key: "lock.name",
        kind: Kind::Choice(&["guid", "plain", "session"]),
        default: "guid",
        about: "What stands before the number in a znode’s name: letters of which there are no others, \
                by which a client finds it again when it lost the answer; nothing; the session’s number.",
    },
    Spec {
        key: "lock.sort",
        kind: Kind::Choice(&["number", "name"]),
        default: "number",
        about: "In which order a client reads the queue: by the number behind each name; by the whole \
                name, which whatever stands in front decides.",
    },
    Spec {
        key: "lock.disconnected",
        kind: Kind::Choice(&["stop", "wait", "ignore"]),
        default: "stop",
        about: "When a holder stops believing: when its connection is lost; when it hears that its \
                session is over; at its release, whatever it hears.",
    },
    Spec {
        key: "lock.rewatch",
        kind: Kind::Choice(&["again", "forget"]),
        default: "again",
        about: "What becomes of a client’s watches when it is connected anew: it sets them again, and is \
                told what it missed; they are forgotten.",
    },
    Spec {
        key: "lock.token",
        kind: Kind::Choice(&[
            "czxid", "sequence", "version", "mzxid", "cversion", "pzxid", "session",
        ]),
        default: "czxid",
        about: "What a client shows the resource: the transaction that made its znode; the number behind \
                its name; how often its data was set; the transaction that last did; how often a child of \
                the parent came or went; the transaction in which one last did; its session.",
    },
    Spec {
        key: "lock.parent",
        kind: Kind::Choice(&["keep", "delete"]),
        default: "keep",
        about: "What becomes of a lock’s parent that is empty after a release: it stays; the releaser \
                deletes it, and the next client makes it anew, with numbers from 0.",
    },
    Spec {
        key: "lock.adopt",
        kind: Kind::Choice(&["own-session", "any"]),
        default: "own-session",
        about: "Which znode with its own letters a client takes for its own: one of its present session; \
                any, also that of a session which is over.",
    },
    Spec {
        key: "lock.release",
        kind: Kind::Choice(&["again", "once"]),
        default: "again",
        about: "What a client does about a release whose answer was lost with the connection: it sends \
                it again; nothing.",
    },
];
