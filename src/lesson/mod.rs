//! Lesson files.
