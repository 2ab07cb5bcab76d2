//! The entries that a server has written down, in order of their names.

use std::rc::Rc;

use super::{Entry, Stamp};

/// How many entries are kept, and copied, together.
const CHUNK: usize = 64;

/// A log that is cheap to clone: chunks of entries are shared between clones, and only the last one is
/// copied when the log goes on. All chunks but the last are full, and none is empty.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Log<C> {
    chunks: Vec<Rc<Vec<Entry<C>>>>,
}

impl<C: Clone> Log<C> {
    pub fn new() -> Log<C> {
        Log { chunks: Vec::new() }
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        let last = self.chunks.last().map_or(0, |c| c.len());
        self.chunks.len().saturating_sub(1) * CHUNK + last
    }

    /// The name of the last entry; the beginning of time where there is none.
    pub fn last(&self) -> Stamp {
        self.chunks.last().and_then(|c| c.last()).map_or(Stamp::default(), |e| e.stamp)
    }

    /// The entry before which there are so many.
    pub fn get(&self, place: usize) -> Option<&Entry<C>> {
        self.chunks.get(place / CHUNK)?.get(place % CHUNK)
    }

    /// The entries from that place on, up to before another.
    pub fn range(&self, from: usize, to: usize) -> impl Iterator<Item = &Entry<C>> {
        (from..to).map_while(|place| self.get(place))
    }

    /// How many entries have this name or a smaller one.
    pub fn up_to(&self, stamp: Stamp) -> usize {
        let begun = |c: &Rc<Vec<Entry<C>>>| c.first().is_some_and(|e| e.stamp <= stamp);
        let chunks = self.chunks.partition_point(begun);
        let Some(before) = chunks.checked_sub(1) else { return 0 };
        let within = self.chunks.get(before).map_or(0, |c| c.partition_point(|e| e.stamp <= stamp));
        before * CHUNK + within
    }

    /// Writes down what comes next.
    pub fn push(&mut self, entry: Entry<C>) {
        match self.chunks.last_mut().filter(|c| c.len() < CHUNK) {
            Some(chunk) => Rc::make_mut(chunk).push(entry),
            None => self.chunks.push(Rc::new(vec![entry])),
        }
    }

    /// Forgets all but so many entries.
    pub fn truncate(&mut self, len: usize) {
        self.chunks.truncate(len.div_ceil(CHUNK));
        let before = self.chunks.len().saturating_sub(1) * CHUNK;
        if let Some(chunk) = self.chunks.last_mut().filter(|c| before + c.len() > len) {
            Rc::make_mut(chunk).truncate(len - before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(place: usize) -> Stamp {
        // Terms of five entries each, with gaps between.
        Stamp { term: place as u32 / 5 * 2, index: place as u32 % 5 + 1 }
    }

    #[test]
    fn a_log_is_a_list_with_a_search_and_its_clones_are_apart() {
        for len in [0, 1, 63, 64, 65, 200] {
            let mut log = Log::new();
            for place in 0..len {
                log.push(Entry { stamp: named(place), command: place });
            }
            assert_eq!(log.len(), len);
            assert_eq!(log.last(), len.checked_sub(1).map_or(Stamp::default(), named));
            for place in 0..len {
                assert_eq!(log.get(place).map(|e| e.command), Some(place));
                assert_eq!(log.up_to(named(place)), place + 1);
            }
            assert_eq!(log.up_to(Stamp::default()), 0);
            for cut in 0..=len {
                let mut other = log.clone();
                other.truncate(cut);
                assert_eq!(other.len(), cut);
                other.push(Entry { stamp: named(len + 9), command: 0 });
                assert_eq!(other.range(0, 999).count(), cut + 1);
                assert_eq!(log.len(), len);
            }
        }
    }

    #[test]
    fn a_name_between_two_entries_finds_the_lower() {
        let mut log = Log::new();
        for place in 0..130 {
            log.push(Entry { stamp: named(place), command: () });
        }
        assert_eq!(log.up_to(Stamp::beginning(2)), 5);
        assert_eq!(log.up_to(Stamp { term: 1, index: 77 }), 5);
        assert_eq!(log.up_to(Stamp { term: 99, index: 1 }), 130);
    }
}
