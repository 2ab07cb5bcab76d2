//! Redis and Valkey: servers that answer as recorded ones did.
//!
//! One command, one script or one transaction is one instant, at one reading of the server's wall
//! clock. Keys end at absolute moments of that clock. What is written reaches replicas later, and
//! files by the server's own rules.
//!
//! What no record, source or document says is not here: a command that is not in [`Command`] is
//! named by whoever reads it, and never guessed.

mod circle;
mod command;
#[cfg(target_arch = "wasm32")]
mod common;
mod config;
mod drawn;
mod engine;
mod follow;
mod keyspace;
mod library;
mod majority;
mod perform;
mod persist;
mod poll;
mod profiles;
#[cfg(not(target_arch = "wasm32"))]
mod rare;
pub mod redlock;
mod replica;
mod rules;
mod scripts;
mod server;
mod session;
mod spell;
mod system;
mod text;
mod witness;

pub use command::{
    Bounds, Call, Command, Life, Only, Refusal, Reply, SetCommand, SetReply, Version,
};
pub use config::{Fsync, Notify, Policy, Setting};
pub use engine::{Engine, Happened};
pub use keyspace::{Entry, Keyspace, Value};
pub use persist::Persistence;
pub use poll::Polls;
pub use profiles::PROFILES;
pub use replica::Stream;
pub use rules::{REDLOCK_RULES, SERVER_RULES};
pub use scripts::Script;
pub use server::{DEFAULT_FSYNC, Packet, Server, Start, default_save};
pub use system::{Redis, Redlock};
pub use text::Text;
pub use witness::{LockKeys, Witness};
