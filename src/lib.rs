//! Lockscope.

#[cfg(target_arch = "wasm32")]
pub mod ui;
