//! The core of Lockscope: what simulates, judges and searches.
//!
//! Rooms, from the bottom up; each uses only those above it in this list:
//!
//! - [`sim`]: time, event queue, clocks, streams, processes, programs, faults. It never knows what a lock is.
//! - [`judge`]: truth, promise, belief, effects; the verdict. It never knows which system it judges.
//! - [`systems`]: lock services, client libraries, the protected resource.
//! - [`run`]: scenario, edits, keyframes: from text to a judged [`run::Run`].
//! - [`search`]: which change of a schedule makes the difference.
//!
//! Nothing here has floats, wall clock, hash-map order or the web: the same scenario, edits and seed give the same
//! record everywhere.

pub mod judge;
pub mod run;
pub mod search;
pub mod sim;
pub mod systems;
