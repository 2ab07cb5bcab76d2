//! Lessons: words, a scenario, variants of it, and assertions that keep the words true.
//!
//! A lesson file is read natively only ([`parse`], [`read`]); the page fetches it packed, as the
//! same [`Lesson`] in JSON. Its words are a closed tree of [`Block`]s, so that nothing from a file
//! can reach a page as markup. What both sides share is here too: where a beat is anchored
//! ([`anchor`]), what an assertion says of a run ([`Claim`]), and the run as a miniature.

mod claim;
mod figures;
mod miniature;
mod model;

#[cfg(not(target_arch = "wasm32"))]
mod check;
#[cfg(not(target_arch = "wasm32"))]
mod front;
#[cfg(not(target_arch = "wasm32"))]
mod markdown;
#[cfg(not(target_arch = "wasm32"))]
mod place;
#[cfg(not(target_arch = "wasm32"))]
mod read;
#[cfg(not(target_arch = "wasm32"))]
mod scenario;
#[cfg(not(target_arch = "wasm32"))]
mod schema;

pub use claim::{Claim, EventRef, anchor};
pub use figures::{FIGURES, Figure, figures};
pub use miniature::{Card, Index, Lane, MarkKind, Miniature, TinyMark};
pub use model::{
    Answer, BASE, Beat, Block, Class, Defence, FAULTS, Inline, Lesson, Line, Place, Predict,
    Recall, Target, Variant,
};

#[cfg(not(target_arch = "wasm32"))]
pub use check::{Checked, check, index, pack};
#[cfg(not(target_arch = "wasm32"))]
pub use place::Located;
#[cfg(not(target_arch = "wasm32"))]
pub use read::{MOST_BYTES, ReadError, parse, parse_bytes, read};
#[cfg(not(target_arch = "wasm32"))]
pub use schema::schema;
