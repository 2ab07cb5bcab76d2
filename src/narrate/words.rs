//! Numbers and lists as people read them.

use crate::judge::Token;
use crate::run::Names;
use crate::sim::{Halt, Micros};
use crate::systems::{Body, Figures};

/// A token as it is written wherever people read it.
pub fn figure(names: &Names, token: Token) -> String {
    written(names.figures, token.0)
}

/// The number of a change, in the same way.
pub fn change(names: &Names, number: u64) -> String {
    written(names.traffic.figures, number)
}

/// The number that a message carries: servers that agree on changes speak of those.
pub fn carried(names: &Names, body: &Body) -> Option<String> {
    let among = names.traffic.round.is_some_and(|round| round.contains(&body.name));
    body.token.map(|token| if among { change(names, token.0) } else { figure(names, token) })
}

fn written(figures: Figures, number: u64) -> String {
    match figures {
        Figures::Decimal => number.to_string(),
        Figures::Hex => hex(number),
        Figures::Pair => format!("{}:{}", number >> 32, number & u64::from(u32::MAX)),
    }
}

/// The number as programs print it where it is no decimal one.
pub(super) fn hex(number: u64) -> String {
    format!("0x{number:x}")
}

/// Which of several: `first`, `second`.
pub fn ordinal(which: u16) -> String {
    match which {
        1 => "first".into(),
        2 => "second".into(),
        3 => "third".into(),
        n => format!("{n}th"),
    }
}

/// A moment: `12.40 s`, or `12.345 s` where two decimals would hide a difference.
///
/// Digits beyond a millisecond are cut off, never rounded, so that an earlier moment never reads as
/// the later one.
pub fn moment(at: Micros) -> String {
    moment_with(at, if fits_two_decimals(at) { 2 } else { 3 })
}

/// Whether a moment loses nothing with two decimals.
pub(super) fn fits_two_decimals(at: Micros) -> bool {
    at.0.is_multiple_of(10_000)
}

/// A moment with two or three decimals, for columns that must line up.
pub(super) fn moment_with(at: Micros, decimals: usize) -> String {
    let (seconds, rest) = (at.0 / 1_000_000, at.0 % 1_000_000);
    if decimals == 2 {
        format!("{seconds}.{:02} s", rest / 10_000)
    } else {
        format!("{seconds}.{:03} s", rest / 1_000)
    }
}

/// A span: `2.2 s`, `250 ms`, `12 s`.
pub fn span(d: Micros) -> String {
    match d.0 {
        0 => "0 s".into(),
        n @ 1..1_000 => format!("{n} µs"),
        n @ 1_000..1_000_000 => format!("{} ms", decimal(n, 1_000)),
        n => format!("{} s", decimal(n, 1_000_000)),
    }
}

/// `10,000`.
pub(super) fn thousands(n: u32) -> String {
    match n {
        0..1_000 => n.to_string(),
        _ => format!("{},{:03}", thousands(n / 1_000), n % 1_000),
    }
}

/// A whole number of thousandths of a unit, without needless zeros.
fn decimal(n: u64, unit: u64) -> String {
    let (whole, thousandths) = (n / unit, n % unit * 1_000 / unit);
    if thousandths == 0 {
        return whole.to_string();
    }
    format!("{whole}.{thousandths:03}").trim_end_matches('0').to_string()
}

/// What a process is while it is stopped so: `paused`.
pub fn stopped(how: Halt) -> &'static str {
    match how {
        Halt::Pause => "paused",
        Halt::Suspend => "suspended",
        Halt::Freeze => "frozen",
    }
}

/// `A`, `A and B`, `A, B and C`.
pub(super) fn and(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// A small number as a word: `two`.
pub(super) fn count(n: usize) -> String {
    const WORDS: [&str; 11] =
        ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    WORDS.get(n).map_or_else(|| n.to_string(), |w| (*w).to_string())
}

/// The sentence part with a capital letter at its beginning, if that is a letter of English: the
/// cases of all others would be a table of 20 kB in the page.
pub(super) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| c.to_ascii_uppercase().to_string() + chars.as_str())
}

/// One line without control characters, whatever a scenario's author wrote into a label.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_and_spans_read_well() {
        let moments = [0, 12_400_000, 12_345_999, 600_000_000].map(|n| moment(Micros(n)));
        assert_eq!(moments, ["0.00 s", "12.40 s", "12.345 s", "600.00 s"]);
        let spans = [0, 250, 1_500, 250_000, 999_999, 2_200_000, 12_000_000, 3_000_001];
        assert_eq!(
            spans.map(|n| span(Micros(n))),
            ["0 s", "250 µs", "1.5 ms", "250 ms", "999.999 ms", "2.2 s", "12 s", "3 s"]
        );
    }

    #[test]
    fn lists_and_counts_are_words() {
        let list = |n: usize| and(&["A", "B", "C"].map(String::from)[..n]);
        assert_eq!([0, 1, 2, 3].map(list), ["", "A", "A and B", "A, B and C"]);
        assert_eq!([2, 11].map(count), ["two", "11"]);
    }
}
