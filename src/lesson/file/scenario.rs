//! The scenario in the front matter: what [`crate::run::compile`] reads further.

use toml::de::DeValue;

use super::front::{Reader, Value, short};
use crate::run::{ClientSpec, ResourceSpec, Scenario};
use crate::sim::{Micros, Table};

/// How many copies of a client there can be; more than that no scenario has nodes for.
const MOST_COPIES: u32 = 60;

impl Reader<'_, '_> {
    pub(super) fn scenario(&mut self, value: &Value<'_>) -> Option<Scenario> {
        let mut f = self.table(value, "the scenario")?;
        let system = self.need(&mut f, "system", Self::words);
        let until = self.want(&mut f, "until", Self::words);
        let seed = self.want(&mut f, "seed", Self::seed);
        let settings = self.want(&mut f, "settings", Self::settings).unwrap_or_default();
        let locks = self.want(&mut f, "locks", Self::names);
        let cells = self.want(&mut f, "cells", Self::cells).unwrap_or_default();
        let resources = self.want(&mut f, "resources", Self::resources).unwrap_or_default();
        let gateway = self.want(&mut f, "gateway", Self::truth).unwrap_or_default();
        let invariant = self.want(&mut f, "invariant", Self::words);
        let clients = self.need(&mut f, "clients", Self::clients);
        self.rest(f);
        Some(Scenario {
            system: system?,
            until: until.unwrap_or_else(|| "60s".into()),
            seed: seed.unwrap_or(1),
            settings,
            locks: locks.unwrap_or_else(|| vec!["lock".into()]),
            cells,
            resources,
            gateway,
            invariant,
            clients: clients?,
        })
    }

    fn seed(&mut self, value: &Value<'_>) -> Option<u64> {
        let number = self.whole(value)?;
        let seed = u64::try_from(number).ok();
        if seed.is_none() {
            self.wrong(value.span().start, format!("found {number}, expected a seed from 0"));
        }
        seed
    }

    fn names(&mut self, value: &Value<'_>) -> Option<Vec<String>> {
        self.list(value, "a list of names", Self::words)
    }

    /// Settings by dotted key; tables within are the same keys written apart.
    pub(super) fn settings(&mut self, value: &Value<'_>) -> Option<Table<String, String>> {
        let mut settings = Table::new();
        self.settings_below(value, "", &mut settings)?;
        Some(settings)
    }

    fn settings_below(
        &mut self,
        value: &Value<'_>,
        prefix: &str,
        settings: &mut Table<String, String>,
    ) -> Option<()> {
        for (key, at, value) in self.entries(value)? {
            let key = format!("{prefix}{key}");
            let text = match value.get_ref() {
                // A key has two parts; deeper tables would only be a way to exhaust the stack.
                DeValue::Table(_) if prefix.is_empty() => {
                    self.settings_below(value, &format!("{key}."), settings);
                    continue;
                }
                DeValue::String(text) => text.to_string(),
                DeValue::Integer(_) => self.whole(value)?.to_string(),
                _ => {
                    self.unexpected(value, "a text or a whole number");
                    continue;
                }
            };
            if settings.insert(key.clone(), text).is_some() {
                self.wrong(at, format!("found the setting `{}` twice", short(&key)));
            }
        }
        Some(())
    }

    pub(super) fn cells(&mut self, value: &Value<'_>) -> Option<Table<String, i64>> {
        let mut cells = Table::new();
        for (name, _, value) in self.entries(value)? {
            cells.insert(name, self.whole(value).unwrap_or_default());
        }
        Some(cells)
    }

    fn resources(&mut self, value: &Value<'_>) -> Option<Table<String, ResourceSpec>> {
        let mut resources = Table::new();
        for (id, _, value) in self.entries(value)? {
            let Some(mut f) = self.table(value, format!("the resource `{}`", short(&id))) else {
                continue;
            };
            let label = self.want(&mut f, "label", Self::words);
            let cells = self.want(&mut f, "cells", Self::cells).unwrap_or_default();
            let lock = self.want(&mut f, "lock", Self::words);
            self.rest(f);
            resources.insert(id, ResourceSpec { label, cells, lock });
        }
        Some(resources)
    }

    pub(super) fn clients(&mut self, value: &Value<'_>) -> Option<Table<String, ClientSpec>> {
        let mut clients = Table::new();
        for (id, _, value) in self.entries(value)? {
            let Some(mut f) = self.table(value, format!("the client `{}`", short(&id))) else {
                continue;
            };
            let label = self.want(&mut f, "label", Self::words);
            let start = self.want(&mut f, "start", Self::words);
            let program = self.need(&mut f, "program", Self::codes).unwrap_or_default();
            let tasks = self.want(&mut f, "tasks", Self::tasks).unwrap_or_default();
            let on = self.want(&mut f, "on", Self::tasks).unwrap_or_default();
            let copies = self.want(&mut f, "copies", Self::copies);
            let every = self.want(&mut f, "every", Self::span);
            self.rest(f);
            let one = ClientSpec { label, start, program, tasks, on };
            match copies {
                None if every.is_some() => {
                    self.unexpected(value, "`copies` beside `every`");
                }
                None => drop(clients.insert(id, one)),
                Some(copies) => {
                    for number in 1..=copies {
                        let every = every.unwrap_or_default();
                        clients.insert(copy_id(&id, number), copy(&one, number, every));
                    }
                }
            }
        }
        Some(clients)
    }

    fn copies(&mut self, value: &Value<'_>) -> Option<u32> {
        let number = self.whole(value)?;
        let copies = u32::try_from(number).ok().filter(|n| (1..=MOST_COPIES).contains(n));
        if copies.is_none() {
            let message = format!("found {number} copies, expected 1 to {MOST_COPIES}");
            self.wrong(value.span().start, message);
        }
        copies
    }

    fn span(&mut self, value: &Value<'_>) -> Option<Micros> {
        let text = self.words(value)?;
        let span = Micros::parse(&text);
        if span.is_none() {
            self.unexpected(value, "a duration such as `20ms`");
        }
        span
    }

    fn tasks(&mut self, value: &Value<'_>) -> Option<Table<String, Vec<String>>> {
        let mut tasks = Table::new();
        for (name, _, value) in self.entries(value)? {
            tasks.insert(name, self.codes(value).unwrap_or_default());
        }
        Some(tasks)
    }
}

/// The id of a copy. Two digits, so that lanes, which are in the order of the ids, count too.
fn copy_id(id: &str, number: u32) -> String {
    format!("{id}-{number:02}")
}

/// The client that a copy is called after, for the id of a copy.
pub(super) fn copied(id: &str) -> Option<&str> {
    let (of, number) = id.rsplit_once('-')?;
    (number.len() == 2 && number.bytes().all(|b| b.is_ascii_digit())).then_some(of)
}

/// A copy starts so much after the one before it.
fn copy(one: &ClientSpec, number: u32, every: Micros) -> ClientSpec {
    let label = one.label.as_ref().map(|label| format!("{label} {number}"));
    let first = one.start.as_deref().and_then(Micros::parse);
    let later = Micros(every.0.saturating_mul(u64::from(number) - 1));
    let start = match first {
        // What is no duration is said of it where the scenario is compiled.
        None if one.start.is_some() => one.start.clone(),
        first => Some(first.unwrap_or_default().plus(later).to_string()),
    };
    ClientSpec { label, start, ..one.clone() }
}
