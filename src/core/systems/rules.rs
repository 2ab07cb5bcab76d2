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
    /// Where that is; of recordings, which servers were asked.
    pub place: &'static str,
    /// The steps of recordings that show it.
    pub steps: &'static [Steps],
    /// What of a run rests on it: kinds of events (`expire`), requests with their answers (`SET nil`),
    /// what is refused (`refuse renew`), what is sent unasked (`send stream`); with a setting behind it
    /// (`accept resource.check=token`), only where that has this value.
    pub of: &'static [&'static str],
}

/// Rules of one kind of node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// A word for them in addresses, lower-case.
    pub name: &'static str,
    /// Whose they are.
    pub title: &'static str,
    /// Each rule. New ones come last: their places are in addresses.
    pub list: &'static [Rule],
}

/// Steps of a transcript, both ends included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Steps {
    /// Its folder and name, such as `redis-7.0/set_nx_px`.
    pub transcript: &'static str,
    /// The first one, from 1.
    pub first: u16,
    /// The last one.
    pub last: u16,
}

/// Steps of a transcript.
pub(super) const fn steps(transcript: &'static str, first: u16, last: u16) -> Steps {
    Steps { transcript, first, last }
}

impl Rule {
    const fn new(says: &'static str, basis: Basis, place: &'static str) -> Rule {
        Rule { says, basis, place, steps: &[], of: &[] }
    }

    /// What a real server was seen to do.
    pub(super) const fn recorded(
        says: &'static str,
        servers: &'static str,
        steps: &'static [Steps],
    ) -> Rule {
        Rule { steps, ..Rule::new(says, Basis::Recorded, servers) }
    }

    /// What source code says.
    pub(super) const fn source(says: &'static str, place: &'static str) -> Rule {
        Rule::new(says, Basis::Source, place)
    }

    /// What a document says.
    pub(super) const fn document(says: &'static str, place: &'static str) -> Rule {
        Rule::new(says, Basis::Document, place)
    }

    /// What follows from other rules.
    pub(super) const fn inference(says: &'static str, place: &'static str) -> Rule {
        Rule::new(says, Basis::Inference, place)
    }

    /// What those who know disagree about.
    pub(super) const fn disputed(says: &'static str, place: &'static str) -> Rule {
        Rule::new(says, Basis::Disputed, place)
    }

    /// The same rule, on which these parts of a run rest.
    #[must_use]
    pub(super) const fn under(self, of: &'static [&'static str]) -> Rule {
        Rule { of, ..self }
    }
}

/// The text that the fencing rules are taken from.
const TEXT: &str = "Distributed Locks and Fencing Tokens, “The lease expiration race”";
const MODEL: &str = "Lockscope’s reference resource";

/// Rules of the protected resource, whatever the lock service is.
pub const RESOURCE_RULES: Rules =
    Rules { name: "resource", title: "The protected resource", list: RESOURCE };

const RESOURCE: &[Rule] = &[
    Rule::inference(
        "A resource that checks nothing accepts whatever reaches it, in the order in which it comes.",
        MODEL,
    )
    .under(&["accept resource.check=none", "pass resource.check=none"]),
    Rule::inference(
        "It answers a read with what it holds at that moment; what the reader learns is older by the way back.",
        MODEL,
    )
    .under(&["serve"]),
    Rule::document(
        "A resource that checks tokens stores the highest one that it has accepted and \
               rejects lower ones.",
        TEXT,
    )
    .under(&[
        "accept resource.check=token", "accept resource.check=token-once",
        "accept resource.check=token-racy", "accept resource.check=token-volatile",
        "accept resource.check=gateway", "reject resource.check=token",
        "reject resource.check=token-once", "reject resource.check=token-racy",
        "reject resource.check=token-volatile", "reject resource.check=gateway",
        "pass resource.check=token", "pass resource.check=token-once",
        "pass resource.check=token-racy", "pass resource.check=token-volatile",
        "pass resource.check=gateway", "block resource.check=token",
        "block resource.check=token-once", "block resource.check=token-racy",
        "block resource.check=token-volatile", "block resource.check=gateway",
    ]),
    Rule::inference(
        "It accepts the same token again, so that one grant can write more than once.",
        MODEL,
    )
    .under(&["accept resource.check=token", "pass resource.check=token"]),
    Rule::inference(
        "It compares and writes in one step, and keeps the highest token with the data: a \
               crash loses neither without the other.",
        MODEL,
    )
    .under(&[
        "accept resource.check=token", "accept resource.check=token-once",
        "accept resource.check=version", "serve resource.check=token",
        "serve resource.check=token-once", "serve resource.check=version",
    ]),
    Rule::inference("It compares a token only with tokens of the same lock.", MODEL),
    Rule::document(
        "A resource that wants claims takes a read or a write only with the token that was \
               claimed last: a new holder makes its token known before it trusts what it reads.",
        "Apache Hadoop HDFS, Quorum Journal Manager: `newEpoch` before any edit; Apache \
                BookKeeper: a ledger is fenced before its recovery reads it",
    )
    .under(&[
        "mark resource.check=claim", "reject resource.check=claim", "serve resource.check=claim",
        "accept resource.check=claim",
    ]),
    Rule::document(
        "A resource that lets in whoever claimed last compares for equality alone, which random values \
         can do. It knows no order: a late holder that claims anew gets in.",
        "antirez, “Is Redlock safe?”, 2016: the token is written first, and what is changed has to carry \
         the one that stands",
    )
    .under(&[
        "mark resource.check=last-claim",
        "reject resource.check=last-claim",
        "serve resource.check=last-claim",
        "accept resource.check=last-claim",
    ]),
    Rule::inference(
        "A check that reads the mark, and writes in a later step, can be overtaken in between.",
        MODEL,
    )
    .under(&[
        "admit resource.check=token-racy", "accept resource.check=token-racy",
        "void resource.check=token-racy",
    ]),
    Rule::inference(
        "A mark that is not durable starts anew at nothing, and lets any token pass.",
        MODEL,
    ),
    Rule::inference(
        "A resource that asks the lock service who holds learns what was so when the service \
               spoke. Only where lock and data are one store is the question part of the write.",
        MODEL,
    )
    .under(&[
        "inquire resource.check=session", "accept resource.check=session",
        "reject resource.check=session", "serve resource.check=session",
    ]),
    Rule::inference(
        "A gateway checks before it passes on: it protects from what goes through it, and \
               between its check and the write it can be overtaken, unless it lets one operation \
               through at a time and never gives up waiting.",
        MODEL,
    )
    .under(&[
        "forward", "admit resource.check=gateway", "mark resource.check=gateway",
        "reject resource.check=gateway", "void resource.check=gateway",
    ]),
    Rule::document(
        "A unique key, or a condition in the write itself, is decided by the resource in the \
               step that writes, whatever any client believes.",
        "Distributed Locks and Fencing Tokens, “PostgreSQL and application alternatives”",
    )
    .under(&[
        "accept resource.check=version", "reject resource.check=version",
        "reject resource.check=none",
    ]),
    Rule::inference(
        "It knows of a grant only what reaches it: a token that has not arrived yet is not \
               in the comparison.",
        MODEL,
    )
    .under(&[
        "accept resource.check=token", "accept resource.check=token-once",
        "pass resource.check=token", "pass resource.check=token-once",
    ]),
];
