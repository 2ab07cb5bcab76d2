//! Keyed randomness: a pure function of (seed, purpose, owner, ordinal).
//!
//! Nothing is drawn from a running stream, so an edit changes only the draws that it causes.
//! The mixing is our own because recorded links must give the same numbers for years.

/// What a random number is for. Append only: the number is part of every link's meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Purpose {
    /// The part of a message's latency above the link's least.
    Jitter = 1,
    /// A lock value that identifies its owner and has no order.
    LockValue = 2,
    /// The wait before another try.
    Backoff = 3,
}

/// The random number for this key: 64 uniform bits.
pub fn keyed(seed: u64, purpose: Purpose, owner: u64, ordinal: u64) -> u64 {
    let mut x = mix(seed ^ 0x9E37_79B9_7F4A_7C15);
    x = mix(x ^ purpose as u64);
    x = mix(x ^ owner);
    mix(x ^ ordinal)
}

/// A number from 0 to `most`, both included, without a noticeable bias.
pub fn up_to(random: u64, most: u64) -> u64 {
    ((u128::from(random) * (u128::from(most) + 1)) >> 64) as u64
}

/// The finalizer of SplitMix64 (Steele, Lea, Flood 2014), which is a bijection on 64 bits.
const fn mix(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_behind_links_never_change() {
        let draws: Vec<u64> = (0..3).map(|n| keyed(7, Purpose::Jitter, 1, n)).collect();
        expect_test::expect![[r#"
            [
                4401061254843007656,
                512360164106761866,
                5261248170996999013,
            ]
        "#]]
        .assert_debug_eq(&draws);
    }

    #[test]
    fn a_bounded_number_reaches_both_ends_and_no_further() {
        let seen: std::collections::BTreeSet<u64> =
            (0..1_000).map(|n| up_to(keyed(1, Purpose::Backoff, 0, n), 4)).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    }
}
