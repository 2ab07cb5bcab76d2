//! Sentences and exports.
