//! Lessons: words, a scenario, variants of it, and assertions that keep the words true.
//!
//! A lesson file is read natively only ([`parse`], [`read`]); the page fetches it packed, as the
//! same [`Lesson`] in JSON. Its words are a closed tree of [`Block`]s, so that nothing from a file
//! can reach a page as markup. What both sides share is here too: where a beat is anchored
//! ([`anchor`]), what an assertion says of a run ([`Claim`]), and the run as a miniature.

mod claim;
mod debate;
mod figures;
#[cfg(not(target_arch = "wasm32"))]
mod file;
mod miniature;
mod misconception;
mod model;
mod packed;

pub use claim::{Claim, EventRef, anchor};
pub use debate::{Design, Outcome, Pin, Point, Ruling, Shown};
pub use figures::{FIGURES, Figure, figures};
#[cfg(not(target_arch = "wasm32"))]
pub use file::{
    Checked, Located, MOST_BYTES, ReadError, check, pack, parse, parse_bytes, read, schema,
};
pub use miniature::{Lane, MarkKind, Miniature, TinyMark};
pub use misconception::{MISCONCEPTIONS, misconception};
pub use model::{
    Answer, BASE, Beat, Block, Card, Class, Cue, Defence, Evidence, FAULTS, Inline, Lesson, Level,
    Line, Machine, Place, Predict, Recall, Report, Step, Target, Task, Teach, Typed, Variant,
};
pub use packed::unpack;
