//! A lesson on paper: its run as a film strip, its questions, its answers, and what a teacher needs.
//!
//! Everything here is a tree of [`Element`](crate::diagram::Element)s, a pure function of a lesson and
//! its runs. The page draws [`handout`] while it prints; natively, `site` writes the same as pages
//! that can be read without any program, and beside them pages of what the rules rest on.

mod cards;
mod debate;
#[cfg(not(target_arch = "wasm32"))]
mod evidence;
mod grounds;
mod handout;
#[cfg(not(target_arch = "wasm32"))]
mod home;
#[cfg(not(target_arch = "wasm32"))]
mod html;
mod machine;
mod prose;
mod questions;
#[cfg(not(target_arch = "wasm32"))]
mod site;
mod strip;
#[cfg(not(target_arch = "wasm32"))]
mod teacher;
mod words;

pub use debate::{Ways, debate};
#[cfg(not(target_arch = "wasm32"))]
pub use evidence::{Recording, evidence_page, recording_page};
pub use grounds::{evidence_of, whereabouts};
pub use handout::{Scene, handout, reported};
#[cfg(not(target_arch = "wasm32"))]
pub use home::{cases, home};
#[cfg(not(target_arch = "wasm32"))]
pub use html::html;
pub use machine::lines as to_type;
#[cfg(not(target_arch = "wasm32"))]
pub use site::{Shell, lesson_page, teacher_page};
pub use strip::{Frame, WIDTH, story};
#[cfg(not(target_arch = "wasm32"))]
pub use teacher::teacher;
pub use words::{figures, the_run as heading, withstood};
