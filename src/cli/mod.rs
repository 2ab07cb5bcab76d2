//! The terminal face.
