//! The page: Yew components that draw marks, facts and sentences, and know no protocol.
//!
//! [`state`] is the one reducer ([`open`], [`past`], [`pace`], [`story`], [`work`], [`learn`], [`cards`] and [`debate`]
//! are parts of it),
//! [`show`] what it derives from a run, [`route`] the address, [`keys`]
//! what a key does, [`voice`] what a screen reader is told, [`class`] what a class is asked,
//! [`look`] what is selected and through whose eyes,
//! [`settings`] what the reader wants, [`kept`] what the browser keeps, [`versus`] two runs compared, [`fault`] what is broken, [`hold`] the times that a hand changes,
//! [`sought`] where one of them decides; they are plain Rust and tested natively.
//! All else exists on wasm32 only: `player` lets time pass and writes into nodes of the picture,
//! `aloud` into the one live region, `platform` is the only other contact with the browser, the rest
//! are components.

pub mod cards;
pub mod class;
pub mod debate;
pub mod fault;
pub mod hold;
pub mod kept;
pub mod keys;
pub mod learn;
pub mod look;
pub mod moments;
mod open;
pub mod pace;
pub mod past;
pub mod route;
pub mod settings;
pub mod show;
pub mod sought;
pub mod state;
pub mod story;
pub mod strings;
pub mod versus;
pub mod voice;
pub mod work;

#[cfg(target_arch = "wasm32")]
mod aloud;
#[cfg(target_arch = "wasm32")]
mod ask;
#[cfg(target_arch = "wasm32")]
mod beside;
#[cfg(target_arch = "wasm32")]
mod branches;
#[cfg(target_arch = "wasm32")]
mod breaks;
#[cfg(target_arch = "wasm32")]
mod dialogs;
#[cfg(target_arch = "wasm32")]
mod draw;
#[cfg(target_arch = "wasm32")]
mod edge;
#[cfg(target_arch = "wasm32")]
mod grounds;
#[cfg(target_arch = "wasm32")]
mod hands;
#[cfg(target_arch = "wasm32")]
mod home;
#[cfg(target_arch = "wasm32")]
mod label;
#[cfg(target_arch = "wasm32")]
mod layer;
#[cfg(target_arch = "wasm32")]
mod page;
#[cfg(target_arch = "wasm32")]
mod panels;
#[cfg(target_arch = "wasm32")]
mod paper;
#[cfg(target_arch = "wasm32")]
mod part;
#[cfg(target_arch = "wasm32")]
mod platform;
#[cfg(target_arch = "wasm32")]
mod player;
#[cfg(target_arch = "wasm32")]
mod points;
#[cfg(target_arch = "wasm32")]
mod present;
#[cfg(target_arch = "wasm32")]
mod proof;
#[cfg(target_arch = "wasm32")]
mod scroll;
#[cfg(target_arch = "wasm32")]
mod side;
#[cfg(target_arch = "wasm32")]
mod sight;
#[cfg(target_arch = "wasm32")]
mod stage;
#[cfg(target_arch = "wasm32")]
mod store;
#[cfg(target_arch = "wasm32")]
mod tag;
#[cfg(target_arch = "wasm32")]
mod tasks;
#[cfg(target_arch = "wasm32")]
mod transport;
#[cfg(target_arch = "wasm32")]
mod trays;
#[cfg(target_arch = "wasm32")]
mod words;

#[cfg(target_arch = "wasm32")]
pub use home::start;
