//! The arithmetic of Redlock: how many masters are a majority, and for how long they are good.

use crate::sim::Micros;

/// How many of so many masters are a majority.
pub const fn quorum(masters: usize) -> usize {
    masters / 2 + 1
}

/// What the reference code allows for clocks that do not run alike: a hundredth of the time to
/// live in whole milliseconds, a millisecond for the precision of ends, and another for very short
/// ones.
pub const fn drift(ttl: Micros) -> Micros {
    Micros::from_millis(ttl.0 / 100_000 + 2)
}

/// For how long the holder may act, from the moment in which it looks: none where nothing is left.
pub fn validity(ttl: Micros, elapsed: Micros, drift: Micros) -> Option<Micros> {
    let left = ttl.since(elapsed).since(drift);
    (left > Micros::ZERO).then_some(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_seconds_of_which_three_tenths_are_gone_leave_9_598_ms() {
        let ttl = Micros::from_secs(10);
        let left = validity(ttl, Micros::from_millis(300), drift(ttl));
        assert_eq!(left, Some(Micros::from_millis(9_598)));
        assert_eq!([3, 4, 5, 7].map(quorum), [2, 3, 3, 4]);
        assert_eq!(validity(ttl, Micros(9_898_000), drift(ttl)), None);
        assert_eq!(validity(ttl, Micros(9_897_999), drift(ttl)), Some(Micros(1)));
    }
}
