//! Keys with values and ends. Time comes from outside, in milliseconds of the server's wall clock.

use std::collections::VecDeque;

use super::text::Text;
use crate::sim::Table;

/// What stands under a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A string.
    Text(Text),
    /// A list: enough of another type to be of the wrong one.
    List(VecDeque<Text>),
}

/// A key's value, and when it ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The value.
    pub value: Value,
    /// The end, absolute, by the wall clock; none for a key that stays.
    pub expires: Option<i64>,
}

impl Entry {
    /// Whether its time is over. In the very millisecond of its end a key is still there.
    pub fn is_over(&self, now: i64) -> bool {
        self.expires.is_some_and(|end| now > end)
    }
}

/// All keys of a server, those included whose time is over and that nobody has touched since.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Keyspace(Table<Text, Entry>);

impl Keyspace {
    /// What stands under a key, over or not.
    pub fn raw(&self, key: &Text) -> Option<&Entry> {
        self.0.get(key)
    }

    /// What a reader finds.
    pub fn live(&self, key: &Text, now: i64) -> Option<&Entry> {
        self.0.get(key).filter(|entry| !entry.is_over(now))
    }

    /// The same, to be changed.
    pub fn live_mut(&mut self, key: &Text, now: i64) -> Option<&mut Entry> {
        self.0.get_mut(key).filter(|entry| !entry.is_over(now))
    }

    /// Gives a key this entry, or takes it away.
    pub fn put(&mut self, key: Text, entry: Option<Entry>) -> Option<Entry> {
        match entry {
            Some(entry) => self.0.insert(key, entry),
            None => self.0.remove(&key),
        }
    }

    /// How many keys are kept, those included whose time is over.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All keys in order.
    pub fn iter(&self) -> impl Iterator<Item = (&Text, &Entry)> {
        self.0.iter()
    }

    /// The earliest end of any key.
    pub fn earliest_end(&self) -> Option<i64> {
        self.0.values().filter_map(|entry| entry.expires).min()
    }

    /// The keys for which this holds.
    pub fn those(&self, holds: impl Fn(&Entry) -> bool) -> Vec<Text> {
        self.0.iter().filter(|pair| holds(pair.1)).map(|pair| pair.0.clone()).collect()
    }

    /// The keyspace without what is over: what a master takes from a snapshot.
    #[must_use]
    pub fn without_over(&self, now: i64) -> Keyspace {
        let live = self.0.iter().filter(|pair| !pair.1.is_over(now));
        Keyspace(live.map(|(key, entry)| (key.clone(), entry.clone())).collect())
    }
}
