//! A run in words: sentences, log, Mermaid, JSON, Markdown.
//!
//! Everything here is a pure function of a [`Run`](crate::run::Run); whoever shows words (page,
//! screen reader, terminal, export) takes them from here, so that they all say the same. Words come
//! from labels, from the system's own facts and from what the judge found: which system runs is
//! never asked.

mod aside;
mod bounds;
mod consequence;
mod ensemble;
mod fog;
mod headline;
mod json;
mod knows;
mod log;
mod mermaid;
mod parting;
mod phases;
mod sentence;
mod several;
mod teller;
mod turned;
mod verdict;
mod why;
mod words;

pub use bounds::bounds;
pub use consequence::findings;
pub use fog::{
    knows_itself, message_words, own_time, own_world, reading, seen_sentence, seen_words,
    worth_telling,
};
pub use headline::{Headline, Tone, headline};
pub use json::json;
pub use knows::{Alike, Knows, PROGRAM, alike, knows, knows_of, line_of, summary};
pub use log::{log, markdown};
pub use mermaid::mermaid;
pub use parting::{differing, parting};
pub use phases::{Phase, phases};
pub use sentence::sentence;
pub use turned::turned;
pub use verdict::{Count, counts};
pub use why::{Missing, Why, beliefs, missing, waits, why, why_text};
pub use words::{carried, change, figure, moment, ordinal, span, stopped};
