//! Rules that the simulated systems keep, each with where it comes from.

use serde::{Deserialize, Serialize};

/// What kind of evidence stands behind a rule or a claim. Closed: the page has a word for each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// A real server was asked, and this is what it did: server, version, step.
    Recorded,
    /// The source code of a real system was read.
    Source,
    /// A document says it.
    Document,
    /// It follows from what the others say; nobody says it in these words.
    Inference,
    /// People who know disagree.
    Disputed,
}

impl Basis {
    /// All of them, in the order of the documentation.
    pub const ALL: [Basis; 5] =
        [Basis::Recorded, Basis::Source, Basis::Document, Basis::Inference, Basis::Disputed];

    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Basis::Recorded => "recorded",
            Basis::Source => "source",
            Basis::Document => "document",
            Basis::Inference => "inference",
            Basis::Disputed => "disputed",
        }
    }
}

/// A rule that a simulated system keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rule {
    /// The rule, in one sentence.
    pub says: &'static str,
    /// What kind of evidence it rests on.
    pub basis: Basis,
    /// Where that is.
    pub place: &'static str,
}

/// The text that the fencing rules are taken from.
const TEXT: &str = "Distributed Locks and Fencing Tokens, “The lease expiration race”";
const MODEL: &str = "Lockscope’s reference resource";

/// Rules of the protected resource, whatever the lock service is.
pub const RESOURCE_RULES: &[Rule] = &[
    Rule {
        says: "A resource that checks tokens stores the highest one that it has accepted and \
               rejects lower ones.",
        basis: Basis::Document,
        place: TEXT,
    },
    Rule {
        says: "It accepts the same token again, so that one grant can write more than once.",
        basis: Basis::Inference,
        place: MODEL,
    },
    Rule {
        says: "It compares and writes in one step, and keeps the highest token with the data: a \
               crash loses neither without the other.",
        basis: Basis::Inference,
        place: MODEL,
    },
    Rule {
        says: "It compares a token only with tokens of the same lock.",
        basis: Basis::Inference,
        place: MODEL,
    },
    Rule {
        says: "A resource that wants claims takes a read or a write only with the token that was \
               claimed last: a new holder makes its token known before it trusts what it reads.",
        basis: Basis::Document,
        place: "Apache Hadoop HDFS, Quorum Journal Manager: `newEpoch` before any edit; Apache \
                BookKeeper: a ledger is fenced before its recovery reads it",
    },
    Rule {
        says: "A check that reads the mark, and writes in a later step, can be overtaken in between.",
        basis: Basis::Inference,
        place: MODEL,
    },
    Rule {
        says: "A mark that is not durable starts anew at nothing, and lets any token pass.",
        basis: Basis::Inference,
        place: MODEL,
    },
    Rule {
        says: "A resource that asks the lock service who holds learns what was so when the service \
               spoke. Only where lock and data are one store is the question part of the write.",
        basis: Basis::Inference,
        place: MODEL,
    },
    Rule {
        says: "A gateway checks before it passes on: it protects from what goes through it, and \
               between its check and the write it can be overtaken, unless it lets one operation \
               through at a time and never gives up waiting.",
        basis: Basis::Inference,
        place: MODEL,
    },
    Rule {
        says: "A unique key, or a condition in the write itself, is decided by the resource in the \
               step that writes, whatever any client believes.",
        basis: Basis::Document,
        place: "Distributed Locks and Fencing Tokens, “PostgreSQL and application alternatives”",
    },
    Rule {
        says: "It knows of a grant only what reaches it: a token that has not arrived yet is not \
               in the comparison.",
        basis: Basis::Inference,
        place: MODEL,
    },
];
