//! Who has logged how much, and what a majority has.

use super::{Peer, majority};

/// Some of the servers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub(super) struct Peers(u32);

impl Peers {
    pub fn insert(&mut self, peer: Peer) {
        self.0 |= 1_u32.checked_shl(peer.0.into()).unwrap_or(0);
    }

    /// Whether they are enough to decide for so many.
    pub fn are_majority(self, of: u8) -> bool {
        self.0.count_ones() as usize >= majority(of)
    }
}

/// How many entries of the leader's log each server has acknowledged, in order of their places.
///
/// A server's word stands when its connection ends: as long as this leader can have a majority, it
/// keeps what it logged, unless it comes again and is told to forget it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Progress(Vec<usize>);

impl Progress {
    pub fn new(of: u8) -> Progress {
        Progress(vec![0; of.into()])
    }

    /// A server has logged so many entries.
    pub fn logged(&mut self, peer: Peer, entries: usize) {
        if let Some(known) = self.0.get_mut(usize::from(peer.0)) {
            *known = entries.max(*known);
        }
    }

    /// A server comes again: what it is sent takes the place of what it had, if not at once.
    pub fn forget(&mut self, peer: Peer) {
        if let Some(known) = self.0.get_mut(usize::from(peer.0)) {
            *known = 0;
        }
    }

    /// Who has logged so many entries, by their places.
    pub fn have(&self, entries: usize) -> impl Iterator<Item = bool> {
        self.0.iter().map(move |known| *known >= entries)
    }

    /// How many entries a majority has logged.
    pub fn decided(&self) -> usize {
        let decided = |most: &usize| {
            let have = self.0.iter().filter(|n| *n >= most).count();
            have > self.0.len() / 2
        };
        self.0.iter().copied().filter(decided).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_lesser_half_has_is_not_decided() {
        for (logged, decided) in
            [([3, 0, 0], 0), ([3, 2, 0], 2), ([3, 2, 1], 2), ([3, 3, 3], 3), ([0, 1, 5], 1)]
        {
            let mut progress = Progress::new(3);
            for (place, entries) in logged.into_iter().enumerate() {
                progress.logged(Peer(place as u8), entries);
            }
            assert_eq!(progress.decided(), decided, "{logged:?}");
        }
    }
}
