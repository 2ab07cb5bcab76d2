//! The accepted history of a resource and the harm in it.
//!
//! Two sections conflict where both touch a cell and one of them writes it. Their conflicts order
//! them; if the orders form a cycle, no order of whole sections keeps every conflicting pair, and
//! that is corruption. Versions of a cell are counted from 0, the initial value, which is nobody's.

use std::collections::VecDeque;

use super::testimony::{CellId, Section};
use crate::sim::{EventId, Set, Table, sort};

/// An accepted operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// A read of this version, whose answer was consumed.
    Read(u32),
    /// A write that made the next version: the section's write with this number, under the grant
    /// of its lock with this ordinal (0 without one), and what it wrote.
    #[allow(missing_docs, reason = "said above")]
    Write { number: u32, ordinal: u32, value: i64 },
}

/// What one operation did to the history.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ruling {
    /// The operation adds a new edge on a cycle: these sections, the operation's own first.
    pub cycle: Option<Vec<Section>>,
    /// The write replaced what this event wrote, unread or newer.
    pub lost: Option<EventId>,
}

#[derive(Clone, Debug)]
struct Version {
    section: usize,
    number: u32,
    ordinal: u32,
    value: i64,
    event: EventId,
    /// The same write had made the version before, so that this one changed nothing.
    again: bool,
}

#[derive(Clone, Default, Debug)]
struct Cell {
    /// The writes that made versions 1, 2, and so on.
    writes: Vec<Version>,
    /// Consumed reads: who, of which version.
    reads: Set<(usize, u32)>,
    /// All sections that wrote, and all that wrote or read.
    writers: Bits,
    touchers: Bits,
}

/// A set of sections, by index.
#[derive(Clone, Default, Debug)]
struct Bits(Vec<u64>);

impl Bits {
    fn set(&mut self, index: usize) {
        if self.0.len() <= index / 64 {
            self.0.resize(index / 64 + 1, 0);
        }
        self.0[index / 64] |= 1 << (index % 64);
    }

    fn has(&self, index: usize) -> bool {
        self.0.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
    }

    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let words = self.0.iter().enumerate().filter(|(_, word)| **word != 0);
        words.flat_map(|(n, word)| {
            (0..64).filter(move |b| word >> b & 1 == 1).map(move |b| n * 64 + b)
        })
    }

    /// The members of this set that are not in `other`, and not `but`.
    fn without(&self, other: &Bits, but: usize) -> Vec<usize> {
        let words = self.0.iter().enumerate();
        let left = words.map(|(n, w)| w & !other.0.get(n).copied().unwrap_or(0)).collect();
        Bits(left).iter().filter(|index| *index != but).collect()
    }
}

/// The history so far.
#[derive(Clone, Default, Debug)]
pub struct History {
    cells: Table<CellId, Cell>,
    sections: Table<Section, usize>,
    names: Vec<Section>,
    /// `before[a]` holds b, and `after[b]` holds a: b's part of a conflict came before a's.
    before: Vec<Bits>,
    after: Vec<Bits>,
}

impl History {
    /// Adds an accepted operation, in the order of acceptance (of consumption, for a read).
    pub fn add(
        &mut self,
        section: Section,
        cell: CellId,
        effect: Effect,
        event: EventId,
    ) -> Ruling {
        let me = self.index(section);
        let record = self.cells.entry(cell).or_default();
        let mut ruling = Ruling::default();
        let (mut earlier, mut later) = (Vec::new(), Vec::new());
        match effect {
            Effect::Read(version) if version as usize >= record.writes.len() => {
                earlier = record.writers.without(&self.before[me], me);
                record.reads.insert((me, version));
            }
            Effect::Read(version) => {
                for (index, write) in record.writes.iter().enumerate().filter(|w| !w.1.again) {
                    let seen = index < version as usize;
                    if seen { &mut earlier } else { &mut later }.push(write.section);
                }
                record.reads.insert((me, version));
            }
            Effect::Write { number, ordinal, value } => {
                // A copy of a write that lands where the write itself still stands changes nothing;
                // whoever has read it meanwhile has read the same.
                let same = |w: &Version| (w.section, w.number, w.value) == (me, number, value);
                let again = record.writes.last().is_some_and(same);
                if !again {
                    ruling.lost = record.replaces_unread(me, number, ordinal);
                    earlier = record.touchers.without(&self.before[me], me);
                }
                record.writes.push(Version { section: me, number, ordinal, value, event, again });
                record.writers.set(me);
            }
        }
        record.touchers.set(me);
        let mut fresh: Vec<(usize, usize)> = earlier.into_iter().map(|other| (other, me)).collect();
        fresh.extend(later.into_iter().map(|other| (me, other)));
        fresh.retain(|(from, to)| from != to && !self.after[*from].has(*to));
        sort(&mut fresh);
        fresh.dedup();
        for (from, to) in &fresh {
            self.after[*from].set(*to);
            self.before[*to].set(*from);
        }
        ruling.cycle = self.cycle(me, &fresh);
        ruling
    }

    /// The last accepted write among `sections` for which `picks` holds.
    pub fn last_write(
        &self,
        sections: &[Section],
        mut picks: impl FnMut(EventId) -> bool,
    ) -> Option<EventId> {
        let writes = self.cells.values().flat_map(|c| &c.writes);
        writes
            .filter(|w| sections.contains(&self.names[w.section]))
            .map(|w| w.event)
            .filter(|event| picks(*event))
            .max()
    }

    fn index(&mut self, section: Section) -> usize {
        *self.sections.entry(section).or_insert_with(|| {
            self.names.push(section);
            self.before.push(Bits::default());
            self.after.push(Bits::default());
            self.names.len() - 1
        })
    }

    /// A cycle through one of the new edges, the section `me` first. Every new edge touches `me`,
    /// so a section with nothing after it, as in any serial run, is settled at once.
    fn cycle(&self, me: usize, fresh: &[(usize, usize)]) -> Option<Vec<Section>> {
        if self.after[me].0.is_empty() {
            return None;
        }
        let mut path = fresh.iter().find_map(|(from, to)| self.path(*to, *from))?;
        if let Some(at) = path.iter().position(|s| *s == me) {
            path.rotate_left(at);
        }
        Some(path.into_iter().map(|s| self.names[s]).collect())
    }

    /// A shortest way from one section to another along the edges, both ends included.
    fn path(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let mut came = vec![usize::MAX; self.names.len()];
        let mut queue = VecDeque::from([from]);
        came[from] = from;
        while let Some(here) = queue.pop_front() {
            if here == to {
                let mut path = vec![here];
                while path[path.len() - 1] != from {
                    path.push(came[path[path.len() - 1]]);
                }
                path.reverse();
                return Some(path);
            }
            for next in self.after[here].iter() {
                if came[next] == usize::MAX {
                    came[next] = here;
                    queue.push_back(next);
                }
            }
        }
        None
    }
}

impl Cell {
    /// The write that a new one replaces without right: another section's version, unread by the
    /// writer, if the writer had touched the cell before or holds an older grant; or the writer's
    /// own newer one.
    fn replaces_unread(&self, section: usize, number: u32, ordinal: u32) -> Option<EventId> {
        let replaced = self.writes.last()?;
        let version = self.writes.len() as u32;
        let lost = if replaced.section == section {
            number < replaced.number
        } else {
            // One that a copy made again is what it was before.
            let copies = self.writes.iter().rev().take_while(|w| w.again).count() as u32;
            let read = (version - copies..=version).any(|v| self.reads.contains(&(section, v)));
            let older = ordinal > 0 && ordinal < replaced.ordinal;
            !read && (older || self.touchers.has(section))
        };
        lost.then_some(replaced.event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::{ProcId, Purpose, keyed, up_to};

    type Op = (Section, CellId, Effect);

    fn section(n: u16) -> Section {
        Section { client: ProcId(n), number: 1 }
    }

    /// Whether some order of whole sections keeps every conflicting pair, by trying all.
    fn serial_order_exists(history: &[Op]) -> bool {
        let mut sections: Vec<Section> = history.iter().map(|o| o.0).collect();
        sections.sort_unstable();
        sections.dedup();
        let pairs = conflicting_pairs(history);
        permutations(&sections).iter().any(|order| {
            let place = |s: Section| order.iter().position(|o| *o == s);
            pairs.iter().all(|(a, b)| place(*a) < place(*b))
        })
    }

    /// (earlier, later) by section, judged from versions alone and not by the code under test.
    fn conflicting_pairs(history: &[Op]) -> Vec<(Section, Section)> {
        // Each operation's moment on its cell: a write makes version v at 2v, a read of v is at 2v+1.
        // A copy that lands on what it is a copy of is nothing but one more version.
        let mut made: Table<CellId, (u64, Option<Op>)> = Table::new();
        let moments: Vec<(Op, u64, bool)> = history
            .iter()
            .filter_map(|op| match op.2 {
                Effect::Write { .. } => {
                    let (v, last) = made.entry(op.1).or_default();
                    *v += 1;
                    let again = last.replace(*op) == Some(*op);
                    (!again).then_some((*op, *v * 2, true))
                }
                Effect::Read(v) => Some((*op, u64::from(v) * 2 + 1, false)),
            })
            .collect();
        let mut pairs = Vec::new();
        for (a, at, a_writes) in &moments {
            for (b, bt, b_writes) in &moments {
                if a.0 != b.0 && a.1 == b.1 && (*a_writes || *b_writes) && at < bt {
                    pairs.push((a.0, b.0));
                }
            }
        }
        pairs
    }

    fn permutations(items: &[Section]) -> Vec<Vec<Section>> {
        if items.is_empty() {
            return vec![Vec::new()];
        }
        let mut all = Vec::new();
        for (i, first) in items.iter().enumerate() {
            let mut rest = items.to_vec();
            rest.remove(i);
            for mut tail in permutations(&rest) {
                tail.insert(0, *first);
                all.push(tail);
            }
        }
        all
    }

    fn random_history(seed: u64) -> Vec<Op> {
        let mut n = 0;
        let mut draw = |most: u64| {
            n += 1;
            up_to(keyed(seed, Purpose::Backoff, 99, n), most)
        };
        let (sections, cells) = (1 + draw(4), 1 + draw(1));
        let mut versions = [0u32; 2];
        let mut writes: Vec<Op> = Vec::new();
        (0..2 + draw(8))
            .map(|_| {
                let cell = draw(cells - 1) as usize;
                if let (0, Some(write)) = (draw(4), writes.last().copied()) {
                    // A copy arrives, at once or later.
                    versions[usize::from(write.1.0)] += 1;
                    return write;
                }
                let who = section(draw(sections - 1) as u16);
                let effect = if draw(1) == 0 {
                    // A consumed read may be of any version up to the present one.
                    Effect::Read(draw(u64::from(versions[cell])) as u32)
                } else {
                    versions[cell] += 1;
                    // Values mean nothing here: whatever is written is 7.
                    Effect::Write { number: versions[cell], ordinal: 0, value: 7 }
                };
                let op = (who, CellId(cell as u16), effect);
                writes.extend(matches!(effect, Effect::Write { .. }).then_some(op));
                op
            })
            .collect()
    }

    #[test]
    fn corruption_begins_with_the_first_operation_that_no_serial_order_explains() {
        let one = std::env::var("SEED").ok().and_then(|s| s.parse().ok());
        for seed in one.map_or(0..6_000, |s: u64| s..s + 1) {
            let ops = random_history(seed);
            let mut history = History::default();
            let mut corrupt = false;
            for (n, op) in ops.iter().enumerate() {
                let ruling = history.add(op.0, op.1, op.2, EventId(n as u32));
                let explained = serial_order_exists(&ops[..=n]);
                assert!(
                    corrupt || ruling.cycle.is_some() != explained,
                    "SEED={seed} cargo test corruption_begins: operation {n} of {ops:?}"
                );
                corrupt |= ruling.cycle.is_some();
                assert_eq!(corrupt, !explained, "SEED={seed} cargo test corruption_begins");
            }
        }
    }

    #[test]
    fn every_cycle_named_is_a_cycle_of_conflicts() {
        for seed in 0..2_000 {
            let ops = random_history(seed);
            let mut history = History::default();
            for (n, op) in ops.iter().enumerate() {
                let Some(cycle) = history.add(op.0, op.1, op.2, EventId(n as u32)).cycle else {
                    continue;
                };
                let pairs = conflicting_pairs(&ops[..=n]);
                for (i, s) in cycle.iter().enumerate() {
                    assert!(pairs.contains(&(*s, cycle[(i + 1) % cycle.len()])), "seed {seed}");
                }
                assert_eq!(cycle[0], op.0, "the operation's own section stands first");
            }
        }
    }

    #[test]
    fn an_older_own_write_after_a_newer_one_is_a_lost_update_and_a_copy_is_not() {
        let write = |number| Effect::Write { number, ordinal: 1, value: 0 };
        let mut history = History::default();
        let (s, x) = (section(0), CellId(0));
        assert_eq!(history.add(s, x, write(0), EventId(0)), Ruling::default());
        assert_eq!(history.add(s, x, write(0), EventId(1)), Ruling::default());
        assert_eq!(history.add(s, x, write(1), EventId(2)), Ruling::default());
        assert_eq!(history.add(s, x, write(0), EventId(3)).lost, Some(EventId(2)));
    }
}
