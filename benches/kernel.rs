//! Kernel benchmark.
fn main() {}
