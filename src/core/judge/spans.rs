//! Sets of half-open spans of time.

use crate::sim::{Micros, sort};

/// From the first moment, included, to the second, excluded.
pub type Span = (Micros, Micros);

/// The same moments as sorted spans that neither touch nor overlap.
pub fn union(mut spans: Vec<Span>) -> Vec<Span> {
    spans.retain(|s| s.0 < s.1);
    sort(&mut spans);
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.0 <= last.1 => last.1 = last.1.max(span.1),
            _ => merged.push(span),
        }
    }
    merged
}

/// The moments of `from` that are in none of `holes`.
pub fn without(from: Vec<Span>, holes: Vec<Span>) -> Vec<Span> {
    let holes = union(holes);
    let mut left = Vec::new();
    let mut first = 0;
    for (mut start, end) in union(from) {
        // Both lists are sorted: a hole that ends before this span ends before all later ones.
        while holes.get(first).is_some_and(|h| h.1 <= start) {
            first += 1;
        }
        for hole in holes[first..].iter().take_while(|h| h.0 < end) {
            if hole.0 > start {
                left.push((start, hole.0));
            }
            start = start.max(hole.1);
        }
        if start < end {
            left.push((start, end));
        }
    }
    left
}

/// How long the spans last together; they must not overlap.
pub fn total(spans: &[Span]) -> u64 {
    spans.iter().map(|s| s.1.since(s.0).0).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_unite_and_subtract() {
        let s = |a, b| (Micros(a), Micros(b));
        assert_eq!(union(vec![s(5, 7), s(1, 3), s(3, 4), s(6, 9), s(2, 2)]), [s(1, 4), s(5, 9)]);
        assert_eq!(without(vec![s(0, 10)], vec![s(2, 3), s(8, 20), s(3, 4)]), [s(0, 2), s(4, 8)]);
        assert_eq!(total(&[s(0, 2), s(4, 8)]), 6);
    }
}
