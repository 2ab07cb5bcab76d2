//! Reading one line of text: tokens that know their place, and errors that say it.
//!
//! Programs, edits, expressions and assertions are all read with this, so they all complain alike.

use std::fmt;

/// What is wrong with a line: where, what was found, what was expected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LineError {
    /// Where it begins, in Unicode scalar values from the start of the line.
    pub at: usize,
    /// One plain sentence without the place.
    pub message: String,
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)
    }
}

/// A piece of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token<'a> {
    /// Its text; a symbol of one or two characters, or a word or number.
    pub text: &'a str,
    /// Where it begins, in Unicode scalar values.
    pub at: usize,
}

/// A line cut into tokens, read from left to right.
#[derive(Clone, Debug)]
pub struct Scanner<'a> {
    line: &'a str,
    tokens: Vec<Token<'a>>,
    next: usize,
}

const DOUBLE: [&str; 4] = ["==", "!=", "<=", ">="];

impl<'a> Scanner<'a> {
    /// Cuts `line` into words (letters, digits, `_`, `-`, `.`), numbers and symbols.
    ///
    /// A `-` belongs to a word only between two letters or digits, so that `x - 1` is three tokens.
    pub fn new(line: &'a str) -> Scanner<'a> {
        let chars: Vec<(usize, char)> = line.char_indices().collect();
        let end_of = |i: usize| chars.get(i).map_or(line.len(), |c| c.0);
        let mut tokens = Vec::new();
        let mut i = 0;
        while i < chars.len() {
            let (start, c) = chars[i];
            if c.is_whitespace() {
                i += 1;
                continue;
            }
            let first = i;
            if word_char(c) {
                while i < chars.len() && (word_char(chars[i].1) || inner_mark(&chars, i)) {
                    i += 1;
                }
            } else {
                i += 1;
                if i < chars.len() && DOUBLE.contains(&&line[start..end_of(i + 1)]) {
                    i += 1;
                }
            }
            tokens.push(Token { text: &line[start..end_of(i)], at: first });
        }
        Scanner { line, tokens, next: 0 }
    }

    /// The whole line.
    pub fn line(&self) -> &'a str {
        self.line
    }

    /// The next token, left where it is.
    pub fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.next).copied()
    }

    /// The next token's text, or an empty text at the end.
    pub fn peek_text(&self) -> &'a str {
        self.peek().map_or("", |t| t.text)
    }

    /// The token after the next one, or an empty text.
    pub fn peek_second(&self) -> &'a str {
        self.tokens.get(self.next + 1).map_or("", |t| t.text)
    }

    /// Takes the next token, or complains that `expected` is missing.
    pub fn take(&mut self, expected: &str) -> Result<Token<'a>, LineError> {
        match self.peek() {
            Some(token) => {
                self.next += 1;
                Ok(token)
            }
            None => Err(self.expected(expected)),
        }
    }

    /// Takes the next token if it is `text`.
    pub fn accept(&mut self, text: &str) -> bool {
        let found = self.peek_text() == text;
        self.next += usize::from(found);
        found
    }

    /// Takes exactly `text`.
    pub fn demand(&mut self, text: &str) -> Result<(), LineError> {
        if self.accept(text) { Ok(()) } else { Err(self.expected(&format!("`{text}`"))) }
    }

    /// Takes a duration such as `250ms`.
    pub fn duration(&mut self) -> Result<super::Micros, LineError> {
        let wanted = "a duration such as `250ms`, `3s` or `2m`, not negative";
        let token = self.peek().ok_or_else(|| self.expected(wanted))?;
        let span = super::Micros::parse(token.text);
        let span =
            span.ok_or_else(|| self.apart(token).unwrap_or_else(|| self.expected(wanted)))?;
        self.next += 1;
        Ok(span)
    }

    /// What to say of `5 s`.
    fn apart(&self, token: Token<'_>) -> Option<LineError> {
        let joined = format!("{}{}", token.text, self.peek_second());
        super::Micros::parse(&joined)?;
        let message = format!(
            "found `{} {}`, expected `{joined}`: the unit follows its number without a space",
            token.text,
            self.peek_second()
        );
        Some(self.wrong(token, message))
    }

    /// Takes a whole number, not negative.
    pub fn number(&mut self, what: &str) -> Result<u32, LineError> {
        let token = self.peek().ok_or_else(|| self.expected(what))?;
        let number = token.text.parse().map_err(|_| self.expected(what))?;
        self.next += 1;
        Ok(number)
    }

    /// Complains about anything that is left.
    pub fn end(&self) -> Result<(), LineError> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.expected("the end of the line")),
        }
    }

    /// The error that here something else stands than `expected`.
    pub fn expected(&self, expected: &str) -> LineError {
        match self.peek() {
            Some(token) => LineError {
                at: token.at,
                message: format!("found `{}`, expected {expected}", token.text),
            },
            None => LineError {
                at: self.line.chars().count(),
                message: format!("the line ends here, expected {expected}"),
            },
        }
    }

    /// An error at `token` in other words.
    pub fn wrong(&self, token: Token<'_>, message: String) -> LineError {
        LineError { at: token.at, message }
    }
}

fn word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

fn inner_mark(chars: &[(usize, char)], i: usize) -> bool {
    chars[i].1 == '-'
        && i > 0
        && word_char(chars[i - 1].1)
        && chars.get(i + 1).is_some_and(|c| word_char(c.1))
}

/// `a`, `b` and `c`, each in backquotes, for messages that list what there is.
pub fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|n| format!("`{n}`")).collect();
    match names.split_last() {
        None => "none".into(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

/// `; did you mean `x`?` for a misspelt name of which one that exists is near, or nothing.
pub fn meant<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let near = names.into_iter().map(|name| (distance(word, name), name)).min();
    match near {
        Some((far, name)) if 0 < far && far <= 2 && far < word.len().div_ceil(2) => {
            format!("; did you mean `{name}`?")
        }
        _ => String::new(),
    }
}

/// How many letters have to be put in, taken out or changed to make one word of the other.
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.chars().count()).collect();
    for (i, a) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in other.chars().enumerate() {
            let changed = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j].min(diagonal) + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_is_told_the_nearest_and_a_strange_one_nothing() {
        let names = ["client-a", "client-b", "lock-service", "resource"];
        for (word, found) in [
            ("resorce", "resource"),
            ("clinet-b", "client-b"),
            ("lockservice", "lock-service"),
            ("client-", "client-a"),
        ] {
            assert_eq!(meant(word, names), format!("; did you mean `{found}`?"), "{word}");
        }
        for word in ["redis", "a", "", "resource", "xresourcexx"] {
            assert_eq!(meant(word, names), "", "{word}");
        }
    }

    #[test]
    fn tokens_know_their_place_in_scalar_values() {
        let scanner = Scanner::new("é write x1 = x1 - 10 client-a>resource#1 a<=b");
        let texts: Vec<&str> = scanner.tokens.iter().map(|t| t.text).collect();
        assert_eq!(
            texts,
            [
                "é", "write", "x1", "=", "x1", "-", "10", "client-a", ">", "resource", "#", "1",
                "a", "<=", "b"
            ]
        );
        assert_eq!(scanner.tokens[1].at, 2);
    }
}
