//! A run laid out as marks.
