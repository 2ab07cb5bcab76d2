//! A string as Redis has them, of which no command makes a copy.

use std::fmt;
use std::rc::Rc;

/// A key or a value. Whole numbers are kept as such, as Redis itself does: a text is a number
/// exactly where Redis would read one, so that `INCR` and a time to live need no parsing.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Text {
    /// `7`, `-12`; never `+7`, `07` or ` 7`, which are words.
    Number(i64),
    /// Anything else, the empty text included.
    Word(Rc<str>),
}

impl Text {
    /// This text.
    pub fn new(text: &str) -> Text {
        match integer(text) {
            Some(number) => Text::Number(number),
            None => Text::Word(text.into()),
        }
    }

    /// The number that Redis reads in it.
    pub fn number(&self) -> Option<i64> {
        match self {
            Text::Number(number) => Some(*number),
            Text::Word(_) => None,
        }
    }

    /// How many bytes it has.
    pub fn bytes(&self) -> i64 {
        match self {
            Text::Number(number) => {
                let digits = number.unsigned_abs().checked_ilog10().unwrap_or(0) + 1;
                i64::from(digits) + i64::from(*number < 0)
            }
            Text::Word(word) => i64::try_from(word.len()).unwrap_or(i64::MAX),
        }
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Text::Number(number) => write!(f, "{number}"),
            Text::Word(word) => f.write_str(word),
        }
    }
}

/// Reads a number that is written in the only way in which Redis writes it.
fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let canonical = match digits.as_bytes() {
        [b'0'] => digits.len() == text.len(),
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    if canonical { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_what_redis_takes_for_one() {
        for number in ["0", "7", "-7", "9223372036854775807", "-9223372036854775808"] {
            let text = Text::new(number);
            assert!(text.number().is_some(), "{number}");
            assert_eq!(text.to_string(), number);
            assert_eq!(text.bytes(), number.len() as i64);
        }
        for word in ["", "-", "-0", "+1", " 1", "1 ", "01", "1.5", "9223372036854775808", "x"] {
            let text = Text::new(word);
            assert_eq!(text.number(), None, "{word}");
            assert_eq!((text.to_string(), text.bytes()), (word.to_string(), word.len() as i64));
        }
    }
}
