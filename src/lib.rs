//! Lockscope: the oscilloscope of distributed locks.
//!
//! Rooms, from the bottom up; each uses only those above it in this list:
//!
//! - [`sim`]: time, event queue, clocks, streams, processes, programs, faults. It never knows what a lock is.
//! - [`judge`]: truth, promise, belief, effects; the verdict. It never knows which system it judges.
//! - [`systems`]: lock services, client libraries, the protected resource.
//! - [`run`]: scenario, edits, keyframes: from text to a judged [`run::Run`].
//! - [`search`]: which change of a schedule makes the difference.
//! - [`json`]: a tree of JSON, for what is packed and what is exported.
//! - [`narrate`]: sentences, log, Mermaid, JSON, Markdown.
//! - [`diagram`]: a run laid out as marks; geometry only.
//! - [`lesson`]: the file format, its validation with located errors, its assertions.
//! - [`replay`] (native only): transcripts of real servers, played with the simulated ones.
//! - [`sheet`]: a lesson on paper and as a page without the program; the teacher's sheet; what real servers answered.
//! - [`ui`]: the page; its state and addresses are plain Rust, the rest is wasm32 only.
//! - `cli` (native only): the terminal.
//!
//! Start reading at [`run::Run::of`], which is the whole flow in a page.

// Markup is read token by token (`ui::tag`).
#![recursion_limit = "512"]

#[cfg(not(target_arch = "wasm32"))]
pub mod cli;
pub mod diagram;
pub mod json;
pub mod lesson;
pub mod narrate;
#[cfg(not(target_arch = "wasm32"))]
pub mod replay;
pub mod sheet;
pub mod ui;

// The lower rooms are a package of their own; here they are rooms like all others.
pub use lockscope_core::{judge, run, search, sim, systems};
