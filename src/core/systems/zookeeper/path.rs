//! Where a znode is.

use std::rc::Rc;

/// A path, such as `/locks/stock`; it need not be one that the server takes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Path(Rc<str>);

impl Path {
    /// This path.
    pub fn new(text: &str) -> Path {
        Path(text.into())
    }

    /// The parent of the znodes that stand in the queue of the lock with this name.
    pub fn of_lock(name: &str) -> Path {
        Path(["/locks/", name].concat().into())
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path of what it is a child of; none for the root and for what has no slash.
    pub fn parent(&self) -> Option<Path> {
        let (parent, name) = self.0.rsplit_once('/')?;
        match (parent, name) {
            ("", "") => None,
            ("", _) => Some(Path::new("/")),
            _ => Some(Path::new(parent)),
        }
    }

    /// What comes behind the last slash.
    pub fn name(&self) -> &str {
        self.0.rsplit_once('/').map_or(&*self.0, |(_, name)| name)
    }

    /// A child of it.
    #[must_use]
    pub fn child(&self, name: &str) -> Path {
        let slash = if &*self.0 == "/" { "" } else { "/" };
        Path([&*self.0, slash, name].concat().into())
    }

    /// The same with the number that a sequential znode gets: ten digits at least, or a sign and nine.
    #[must_use]
    pub fn numbered(&self, number: i32) -> Path {
        let mut digits = [b'0'; 11];
        let mut rest = number.unsigned_abs();
        for digit in digits.iter_mut().rev() {
            *digit += (rest % 10) as u8;
            rest /= 10;
        }
        let least = if number < 0 { 9 } else { 10 };
        let used = number.unsigned_abs().checked_ilog10().unwrap_or(0) as usize + 1;
        let shown = &digits[digits.len() - used.max(least)..];
        let sign = if number < 0 { "-" } else { "" };
        let shown = std::str::from_utf8(shown).unwrap_or_default();
        Path([&*self.0, sign, shown].concat().into())
    }
}

/// The number behind the last `-` of a name, as the recipe reads it; none where there is no number.
///
/// A number below 0 has a `-` of its own.
pub fn number_of(name: &str) -> Option<i32> {
    let digits = name.len() - name.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (stem, number) = name.split_at(digits);
    let negative = stem.strip_suffix('-').is_some_and(|stem| stem.ends_with('-'));
    let size = number.parse::<i64>().ok()?;
    i32::try_from(if negative { -size } else { size }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_ten_digits_and_runs_over_to_a_sign() {
        let lock = Path::new("/locks/lock-");
        let written = |n: i32| lock.numbered(n).name().to_string();
        assert_eq!(written(0), "lock-0000000000");
        assert_eq!(written(7), "lock-0000000007");
        assert_eq!(written(i32::MAX), "lock-2147483647");
        assert_eq!(written(i32::MIN), "lock--2147483648");
        assert_eq!(written(-1), "lock--000000001");
        for number in [0, 7, 12_345, i32::MAX, i32::MIN, -1] {
            assert_eq!(number_of(lock.numbered(number).name()), Some(number));
        }
        assert_eq!(number_of("lock-"), None);
    }

    #[test]
    fn a_path_has_a_parent_and_a_name() {
        let parent = |text: &str| Path::new(text).parent().map(|p| p.as_str().to_string());
        assert_eq!(parent("/locks/a").as_deref(), Some("/locks"));
        assert_eq!(parent("/locks").as_deref(), Some("/"));
        assert_eq!(parent("/"), None);
        assert_eq!(parent("nopath"), None);
        assert_eq!(parent("/trail/").as_deref(), Some("/trail"));
        assert_eq!(Path::new("/").child("a").as_str(), "/a");
        assert_eq!(Path::new("/a").child("b").name(), "b");
    }
}
