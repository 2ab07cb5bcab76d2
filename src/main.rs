//! One binary, two faces.
fn main() {}
