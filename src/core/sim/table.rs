//! Ordered maps, sets and sorting in few instructions.
//!
//! The page is downloaded before it shows anything, and Rust compiles a collection again for each
//! type in it: with `BTreeMap` and `slice::sort` a fifth of the program was trees and quicksorts.
//! Here a map is a sorted `Vec`, and all sorting shares one function that is compiled once. What
//! the simulator looks up is numbered as it arises, so nearly every insertion is a push.

use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};

/// A map that is iterated in the order of its keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Table<K, V>(Vec<(K, V)>);

/// A set that is iterated in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set<K>(Table<K, ()>);

/// The place of a key in a [`Table`], taken or not.
#[derive(Debug)]
pub struct Entry<'a, K, V> {
    table: &'a mut Table<K, V>,
    key: K,
}

type Pairs<'a, K, V> =
    std::iter::Map<std::slice::Iter<'a, (K, V)>, fn(&'a (K, V)) -> (&'a K, &'a V)>;

impl<K, V> Default for Table<K, V> {
    fn default() -> Table<K, V> {
        Table(Vec::new())
    }
}

impl<K: Ord, V> Table<K, V> {
    /// An empty map.
    pub fn new() -> Table<K, V> {
        Table::default()
    }

    fn place<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        self.0.binary_search_by(|pair| pair.0.borrow().cmp(key))
    }

    /// The value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).ok()?;
        self.0.get(place).map(|pair| &pair.1)
    }

    /// The value of a key, to be changed.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).ok()?;
        self.0.get_mut(place).map(|pair| &mut pair.1)
    }

    /// Whether the key has a value.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.place(key).is_ok()
    }

    /// Gives the key this value and returns the one it had.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.place(&key) {
            Ok(place) => Some(std::mem::replace(&mut self.0[place].1, value)),
            Err(place) => {
                self.0.insert(place, (key, value));
                None
            }
        }
    }

    /// Takes the key's value out.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let place = self.place(key).ok()?;
        Some(self.0.remove(place).1)
    }

    /// The key's place, to be filled where it is empty.
    pub fn entry(&mut self, key: K) -> Entry<'_, K, V> {
        Entry { table: self, key }
    }
}

impl<K, V> Table<K, V> {
    /// Keys and values in the order of the keys.
    pub fn iter(&self) -> Pairs<'_, K, V> {
        self.0.iter().map(|pair| (&pair.0, &pair.1))
    }

    /// The keys in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + ExactSizeIterator {
        self.0.iter().map(|pair| &pair.0)
    }

    /// The values in the order of their keys.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + ExactSizeIterator {
        self.0.iter().map(|pair| &pair.1)
    }

    /// The values in the order of their keys, to be changed.
    pub fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut V> {
        self.0.iter_mut().map(|pair| &mut pair.1)
    }

    /// The values in the order of their keys, without the map.
    pub fn into_values(self) -> impl DoubleEndedIterator<Item = V> {
        self.0.into_iter().map(|pair| pair.1)
    }

    /// How many keys have a value.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no key has a value.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'a, K: Ord, V> Entry<'a, K, V> {
    /// The value, which this makes where there is none.
    pub fn or_insert_with(self, make: impl FnOnce() -> V) -> &'a mut V {
        let Entry { table, key } = self;
        let place = match table.place(&key) {
            Ok(place) => place,
            Err(place) => {
                table.0.insert(place, (key, make()));
                place
            }
        };
        &mut table.0[place].1
    }

    /// The value, or this one where there is none.
    pub fn or_insert(self, value: V) -> &'a mut V {
        self.or_insert_with(|| value)
    }

    /// The value, or the default where there is none.
    pub fn or_default(self) -> &'a mut V
    where
        V: Default,
    {
        self.or_insert_with(V::default)
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for Table<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Table<K, V> {
        let mut table = Table::new();
        for (key, value) in pairs {
            table.insert(key, value);
        }
        table
    }
}

impl<K: Ord, V, const N: usize> From<[(K, V); N]> for Table<K, V> {
    fn from(pairs: [(K, V); N]) -> Table<K, V> {
        pairs.into_iter().collect()
    }
}

impl<K, V> IntoIterator for Table<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, K, V> IntoIterator for &'a Table<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Pairs<'a, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<K: Serialize, V: Serialize> Serialize for Table<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self)
    }
}

impl<'de, K: Ord + Deserialize<'de>, V: Deserialize<'de>> Deserialize<'de> for Table<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Table<K, V>, D::Error> {
        deserializer.deserialize_map(TableVisitor(PhantomData))
    }
}

struct TableVisitor<K, V>(PhantomData<(K, V)>);

impl<'de, K: Ord + Deserialize<'de>, V: Deserialize<'de>> Visitor<'de> for TableVisitor<K, V> {
    type Value = Table<K, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Table<K, V>, A::Error> {
        let mut table = Table::new();
        while let Some((key, value)) = map.next_entry()? {
            table.insert(key, value);
        }
        Ok(table)
    }
}

impl<K> Default for Set<K> {
    fn default() -> Set<K> {
        Set(Table::default())
    }
}

impl<K: Ord> Set<K> {
    /// An empty set.
    pub fn new() -> Set<K> {
        Set::default()
    }

    /// Whether the set has this member.
    pub fn contains(&self, key: &K) -> bool {
        self.0.contains_key(key)
    }

    /// Adds a member; false if it was one already.
    pub fn insert(&mut self, key: K) -> bool {
        self.0.insert(key, ()).is_none()
    }

    /// Removes a member; false if it was none.
    pub fn remove(&mut self, key: &K) -> bool {
        self.0.remove(key).is_some()
    }

    /// Whether a member lies in this range.
    pub fn any_in(&self, range: std::ops::Range<K>) -> bool {
        let (Ok(place) | Err(place)) = self.0.place(&range.start);
        self.0.0.get(place).is_some_and(|pair| pair.0 < range.end)
    }
}

impl<K> Set<K> {
    /// The members in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &K> + ExactSizeIterator {
        self.0.keys()
    }

    /// Keeps the members for which this holds.
    pub fn retain(&mut self, mut keep: impl FnMut(&K) -> bool) {
        self.0.0.retain(|pair| keep(&pair.0));
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no member.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<K: Ord> FromIterator<K> for Set<K> {
    fn from_iter<I: IntoIterator<Item = K>>(keys: I) -> Set<K> {
        Set(keys.into_iter().map(|key| (key, ())).collect())
    }
}

/// Sorts; what compares equal stays in its order.
pub fn sort<T: Ord>(items: &mut [T]) {
    sort_by(items, |a, b| a <= b);
}

/// Sorts by a key; what has the same key stays in its order.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(items, |a, b| key(a) <= key(b));
}

fn sort_by<T>(items: &mut [T], in_order: impl Fn(&T, &T) -> bool) {
    let pairs = swaps(items.len(), &|a, b| match (items.get(a), items.get(b)) {
        (Some(a), Some(b)) => in_order(a, b),
        _ => true,
    });
    for (a, b) in pairs {
        items.swap(a, b);
    }
}

/// The swaps that sort so many items stably, given which two are in order: a merge sort of their
/// indices. This much is compiled once, whatever the items are.
#[inline(never)]
fn swaps(count: usize, in_order: &dyn Fn(usize, usize) -> bool) -> Vec<(usize, usize)> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut width = 1;
    while width < count {
        let mut merged = Vec::with_capacity(count);
        for run in order.chunks(2 * width) {
            let (mut left, mut right) = run.split_at(width.min(run.len()));
            while let (&[a, ref others @ ..], &[b, ref rest @ ..]) = (left, right) {
                if in_order(a, b) {
                    merged.push(a);
                    left = others;
                } else {
                    merged.push(b);
                    right = rest;
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        order = merged;
        width *= 2;
    }
    // Along each cycle of the permutation, every swap puts one item where it belongs.
    let mut swaps = Vec::new();
    for start in 0..count {
        let mut place = start;
        loop {
            let from = std::mem::replace(&mut order[place], place);
            if from == start || from == place {
                break;
            }
            swaps.push((place, from));
            place = from;
        }
    }
    swaps
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::sim::{Purpose, keyed, up_to};

    #[test]
    fn a_table_does_what_a_tree_does() {
        let mut draw = 0;
        let mut next = |most: u64| {
            draw += 1;
            up_to(keyed(7, Purpose::Jitter, 0, draw), most)
        };
        let (mut table, mut tree) = (Table::new(), BTreeMap::new());
        for _ in 0..2000 {
            let (key, value) = (next(40), next(1000));
            match next(3) {
                0 => assert_eq!(table.remove(&key), tree.remove(&key)),
                1 => {
                    assert_eq!(table.entry(key).or_insert(value), tree.entry(key).or_insert(value))
                }
                _ => assert_eq!(table.insert(key, value), tree.insert(key, value)),
            }
            assert_eq!(table.get(&value), tree.get(&value));
            assert!(table.iter().eq(tree.iter()));
        }
    }

    #[test]
    fn sorting_is_stable() {
        for count in 0..70_u64 {
            let mut items: Vec<(u64, u64)> = (0..count)
                .map(|i| (up_to(keyed(count, Purpose::Jitter, 0, i), count / 3), i))
                .collect();
            let mut expected = items.clone();
            expected.sort_by_key(|i| i.0);
            sort_by_key(&mut items, |i| i.0);
            assert_eq!(items, expected);
            items.reverse();
            sort(&mut items);
            assert_eq!(items, expected);
        }
    }
}
