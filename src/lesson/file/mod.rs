//! Lesson files: reading them, checking them, packing them. Natively only.

mod check;
mod debate;
mod front;
mod grammar;
mod machine;
mod markdown;
mod place;
mod questions;
mod read;
mod scenario;
mod schema;
mod tasks;
mod teach;

pub use check::{Checked, check, pack};
pub use place::Located;
pub use read::{MOST_BYTES, ReadError, parse, parse_bytes, read};
pub use schema::schema;
