//! Lines for a shell, as a lesson offers them to do at home.
//!
//! There is no shell here. A line is one command, or `for NAME in WORDS; do COMMAND; done`. What else
//! stands there is named and never guessed.

use super::protocol::NotModelled;
use crate::sim::Micros;

/// The words of one command.
pub type Argv = Vec<String>;

/// The commands that a shell makes of a line.
///
/// # Errors
/// What of it is not modelled.
pub fn commands(line: &str) -> Result<Vec<Argv>, NotModelled> {
    let Some(looped) = line.trim().strip_prefix("for ") else {
        return Ok(vec![words(line, None)?]);
    };
    let form = || format!("this loop: {line}; known is `for NAME in WORDS; do COMMAND; done`");
    let (name, rest) = looped.split_once(" in ").ok_or_else(form)?;
    let (values, rest) = rest.split_once("; do ").ok_or_else(form)?;
    let body = rest.trim_end().strip_suffix("; done").ok_or_else(form)?;
    let each = |value: &str| words(body, Some((name.trim(), value)));
    values.split_whitespace().map(each).collect()
}

/// Words as a shell parts them: by blanks, with quotes, and with the value of one variable.
///
/// # Errors
/// What of them is not modelled.
pub fn words(line: &str, variable: Option<(&str, &str)>) -> Result<Argv, NotModelled> {
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match (quote, c) {
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), _) if open == c => quote = None,
            (None | Some('"'), '$') => {
                let (name, value) = variable.ok_or("a variable that no loop sets")?;
                rest = rest.strip_prefix(name).ok_or("a variable that the loop does not set")?;
                word.get_or_insert_default().push_str(value);
            }
            (None, ';' | '|' | '&' | '>' | '<' | '`' | '(' | '#' | '*' | '\\')
            | (Some('"'), '`' | '\\') => return Err(format!("`{c}` in a line for the shell")),
            (None, ' ') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err("a quote that is not closed".into());
    }
    words.extend(word);
    Ok(words)
}

/// A command and its words.
pub fn head(argv: &Argv) -> Option<(&str, &[String])> {
    argv.split_first().map(|(first, rest)| (first.as_str(), rest))
}

/// `10` or `1.5`, in seconds.
///
/// # Errors
/// It is another text.
pub fn seconds(text: &str) -> Result<Micros, NotModelled> {
    let wrong = || format!("`sleep {text}`");
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| text.parse::<u32>().map(u64::from).map_err(|_| wrong());
    if part.is_empty() || part.len() > 6 {
        return Err(wrong());
    }
    let parts = (part.len()..6).fold(digits(part)?, |parts, _| parts * 10);
    Ok(Micros(digits(whole)? * 1_000_000 + parts))
}
