//! From byte offsets in a file to lines and columns.

use std::fmt;
use std::ops::Range;

use crate::lesson::model::Place;

/// Of more mistakes than these, nobody reads the rest.
const MOST_ERRORS: usize = 100;

/// Something that is wrong at a place of a file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Located {
    /// Where.
    pub place: Place,
    /// What was found and what was expected.
    pub message: String,
}

/// `line:column: message`; whoever knows the file puts `file:` in front.
impl fmt::Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// A text with the beginnings of its lines, and what was found wrong in it.
#[derive(Debug)]
pub struct Source<'t> {
    /// The whole text.
    pub text: &'t str,
    starts: Vec<usize>,
    /// What is wrong.
    pub errors: Vec<Located>,
}

impl<'t> Source<'t> {
    /// A text without errors so far.
    pub fn new(text: &'t str) -> Source<'t> {
        let breaks = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1);
        Source { text, starts: std::iter::once(0).chain(breaks).collect(), errors: Vec::new() }
    }

    /// The place of a byte.
    pub fn place(&self, byte: usize) -> Place {
        let byte = self.text.floor_char_boundary(byte);
        let line = self.starts.partition_point(|s| *s <= byte).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        let before = self.text.get(start..byte).unwrap_or("");
        Place { line, column: before.chars().count() + 1 }
    }

    /// Something is wrong at this byte.
    pub fn wrong(&mut self, byte: usize, message: impl Into<String>) {
        self.wrong_at(self.place(byte), message);
    }

    /// Something is wrong at this place.
    pub fn wrong_at(&mut self, place: Place, message: impl Into<String>) {
        let message = match self.errors.len() {
            0..MOST_ERRORS => message.into(),
            MOST_ERRORS => "found more mistakes than can be shown, expected fewer".into(),
            _ => return,
        };
        self.errors.push(Located { place, message });
    }

    /// The byte of the character number `at` of a TOML string whose literal, quotes included, spans
    /// these bytes.
    pub fn inside(&self, literal: Range<usize>, at: usize) -> usize {
        let Some(raw) = self.text.get(literal.clone()) else {
            return literal.start;
        };
        let quotes = ["\"\"\"", "'''", "\"", "'"];
        let quote = quotes.into_iter().find(|q| raw.starts_with(q)).unwrap_or("");
        let mut rest = &raw[quote.len()..];
        if quote.len() == 3 {
            // A line break right after the opening quotes is not part of the string.
            rest = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')).unwrap_or(rest);
        }
        let escapes = quote.starts_with('"');
        for _ in 0..at {
            let step = width(rest, escapes);
            rest = rest.get(step..).unwrap_or("");
        }
        // Past the last character stands the closing quote: that is where a line ends.
        literal.end.saturating_sub(rest.len()).max(literal.start)
    }
}

/// How many bytes the next character of a string takes as it is written.
fn width(rest: &str, escapes: bool) -> usize {
    let mut chars = rest.chars();
    let Some(first) = chars.next() else {
        return 0;
    };
    if first != '\\' || !escapes {
        return first.len_utf8();
    }
    match chars.next() {
        Some('u') => 6,
        Some('U') => 10,
        Some('x') => 4,
        Some(c) if c.is_whitespace() => {
            // A line that ends with a backslash goes on with the next text; nothing is between.
            let skipped = rest[1..].len() - rest[1..].trim_start().len() + 1;
            skipped + width(&rest[skipped..], escapes)
        }
        Some(c) => 1 + c.len_utf8(),
        None => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_scalar_values_and_escapes_count_as_one() {
        let text = "a\nk = \"é\\u00e9\\\"x\"";
        let source = Source::new(text);
        let literal = 6..text.len();
        assert_eq!(source.place(source.inside(literal.clone(), 0)), Place { line: 2, column: 6 });
        assert_eq!(source.place(source.inside(literal.clone(), 1)), Place { line: 2, column: 7 });
        assert_eq!(source.place(source.inside(literal.clone(), 3)), Place { line: 2, column: 15 });
        assert_eq!(source.place(source.inside(literal, 99)).line, 2);
        assert_eq!(source.place(usize::MAX).line, 2);
    }
}
