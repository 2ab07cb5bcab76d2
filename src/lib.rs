//! Lockscope.
