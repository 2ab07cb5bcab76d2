//! What a step says of itself, field by field. A field that nobody asks for would change what the step
//! means, and one of another type would have to be guessed: both are named, and the step is not played.

use std::cell::RefCell;

use serde_json::{Map, Value};

use super::protocol::NotModelled;

/// The arguments of a step, or the fields of a part of it.
#[derive(Debug)]
pub struct Args<'a> {
    of: &'a str,
    all: &'a Map<String, Value>,
    taken: RefCell<Vec<&'a str>>,
}

impl<'a> Args<'a> {
    /// The arguments of what is called so.
    pub fn new(of: &'a str, all: &'a Map<String, Value>) -> Args<'a> {
        Args { of, all, taken: RefCell::new(Vec::new()) }
    }

    /// What they are arguments of.
    pub fn of(&self) -> &'a str {
        self.of
    }

    /// The same fields under another name: what a part of a step is called stands in the part itself.
    pub fn called(self, of: &'a str) -> Args<'a> {
        Args { of, ..self }
    }

    /// An argument, of whatever type.
    pub fn take(&self, name: &str) -> Option<&'a Value> {
        let (name, value) = self.all.get_key_value(name)?;
        self.taken.borrow_mut().push(name);
        Some(value)
    }

    /// What is said of an argument that is missing, or is not as it is expected.
    pub fn wrong(&self, name: &str) -> NotModelled {
        match self.all.get(name) {
            Some(value) => format!("{} with `{name}` {value}", self.of),
            None => format!("{} without `{name}`", self.of),
        }
    }

    /// An argument that has to be there.
    ///
    /// # Errors
    /// It is not.
    pub fn need(&self, name: &str) -> Result<&'a Value, NotModelled> {
        self.take(name).ok_or_else(|| self.wrong(name))
    }

    fn read<T>(
        &self,
        name: &str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, NotModelled> {
        let Some(value) = self.take(name) else { return Ok(None) };
        read(value).map(Some).ok_or_else(|| self.wrong(name))
    }

    /// A text that may be missing.
    ///
    /// # Errors
    /// It is something else.
    pub fn text(&self, name: &str) -> Result<Option<&'a str>, NotModelled> {
        self.read(name, Value::as_str)
    }

    /// A text that has to be there.
    ///
    /// # Errors
    /// It is missing, or something else.
    pub fn word(&self, name: &str) -> Result<&'a str, NotModelled> {
        self.text(name)?.ok_or_else(|| self.wrong(name))
    }

    /// A whole number that may be missing.
    ///
    /// # Errors
    /// It is something else.
    pub fn whole(&self, name: &str) -> Result<Option<i64>, NotModelled> {
        self.read(name, Value::as_i64)
    }

    /// A whole number that has to be there.
    ///
    /// # Errors
    /// It is missing, or something else.
    pub fn number(&self, name: &str) -> Result<i64, NotModelled> {
        self.whole(name)?.ok_or_else(|| self.wrong(name))
    }

    /// Yes or no; no where it is missing.
    ///
    /// # Errors
    /// It is something else.
    pub fn flag(&self, name: &str) -> Result<bool, NotModelled> {
        Ok(self.read(name, Value::as_bool)?.unwrap_or(false))
    }

    /// A list of texts that may be missing.
    ///
    /// # Errors
    /// It is something else, or one of its members is.
    pub fn texts(&self, name: &str) -> Result<Option<Vec<&'a str>>, NotModelled> {
        self.read(name, |value| value.as_array()?.iter().map(Value::as_str).collect())
    }

    /// Fields for which nobody has asked so far; they are asked for now.
    pub fn rest(&self) -> Vec<(&'a str, &'a Value)> {
        let fields = self.all.iter().map(|(name, value)| (name.as_str(), value));
        let left = |field: &(&str, &Value)| !self.taken.borrow().contains(&field.0);
        let rest: Vec<_> = fields.filter(left).collect();
        self.taken.borrow_mut().extend(rest.iter().map(|field| field.0));
        rest
    }

    /// All of them are understood.
    ///
    /// # Errors
    /// The first for which nobody asked.
    pub fn done(&self) -> Result<(), NotModelled> {
        self.rest().first().map_or(Ok(()), |(name, _)| Err(self.wrong(name)))
    }
}
