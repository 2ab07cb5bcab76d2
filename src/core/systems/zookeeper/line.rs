//! The queue as a client reads it from the names of a lock's znodes.

use std::rc::Rc;

use super::options::Sorting;
use super::path::number_of;
use crate::judge::Mode;
use crate::sim::sort_by_key;

/// What stands before the number in the name of a znode that wants the lock in this mode.
pub(super) const fn stem(mode: Mode) -> &'static str {
    match mode {
        Mode::Exclusive => "lock-",
        Mode::Shared => "read-",
    }
}

/// Whether the znode with this name shares the lock with others of its kind.
fn shares(name: &str) -> bool {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    // A number below 0 has a sign.
    stem.strip_suffix('-').unwrap_or(stem).trim_end_matches('-').ends_with("read")
}

/// The znodes that have to go before the one called `mine` holds the lock, in the order of the queue;
/// none where its own is not among them.
///
/// A reader waits for writers alone, a writer for everybody (the recipe for shared locks).
pub(super) fn before<'n>(
    names: &'n [Rc<str>],
    mine: &str,
    sorting: Sorting,
) -> Option<Vec<&'n str>> {
    let numbered = names.iter().filter_map(|name| Some((number_of(name)?, &**name)));
    let mut line: Vec<(i32, &str)> = numbered.collect();
    match sorting {
        Sorting::Number => sort_by_key(&mut line, |entry| *entry),
        Sorting::Name => sort_by_key(&mut line, |entry| entry.1),
    }
    let place = line.iter().position(|entry| entry.1 == mine)?;
    let earlier = line.into_iter().take(place).map(|entry| entry.1);
    Some(earlier.filter(|name| !(shares(mine) && shares(name))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits_for(names: &[&str], mine: &str, sorting: Sorting) -> Option<Vec<String>> {
        let names: Vec<Rc<str>> = names.iter().map(|name| (*name).into()).collect();
        let found = before(&names, mine, sorting)?;
        Some(found.into_iter().map(str::to_string).collect())
    }

    #[test]
    fn the_number_decides_and_not_what_stands_before_it() {
        let names = ["f0-lock-0000000007", "0f-lock-0000000008"];
        assert_eq!(waits_for(&names, names[0], Sorting::Number), Some(vec![]));
        assert_eq!(waits_for(&names, names[1], Sorting::Number), Some(vec![names[0].into()]));
        // By the whole name both are the first: the one sees itself alone, the other comes before it.
        assert_eq!(waits_for(&names[..1], names[0], Sorting::Name), Some(vec![]));
        assert_eq!(waits_for(&names, names[1], Sorting::Name), Some(vec![]));
        assert_eq!(waits_for(&names, "00-lock-0000000001", Sorting::Number), None);
    }

    #[test]
    fn a_number_that_ran_over_comes_first() {
        let names = ["a-lock-2147483647", "b-lock--2147483648"];
        assert_eq!(waits_for(&names, names[1], Sorting::Number), Some(vec![]));
    }

    #[test]
    fn readers_wait_for_writers_alone_and_writers_for_everybody() {
        let names = ["a-read-0000000001", "b-lock-0000000002", "c-read-0000000003"];
        assert_eq!(waits_for(&names, names[2], Sorting::Number), Some(vec![names[1].into()]));
        assert_eq!(waits_for(&names, names[1], Sorting::Number), Some(vec![names[0].into()]));
        assert!(shares("a-read--2147483648") && !shares("bread-lock-0000000001"));
        assert!(shares("read-0000000001"));
    }
}
