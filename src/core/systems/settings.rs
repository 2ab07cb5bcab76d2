//! What a scenario can set, with its default, its kind and one sentence of documentation.

use std::fmt;

use crate::sim::{ClockKind, Micros, Table, list, meant};

/// What values a setting takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `250ms`, `3s`.
    Span,
    /// The same, but not nothing: a lease of no time would end as it begins.
    Term,
    /// The same, but not shorter than this.
    Least(Micros),
    /// A whole number, not negative; with the name of a lock behind the key, for that lock.
    Number,
    /// The same, and not above this.
    UpTo(u64),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// `none`, or the id of one of the scenario's clients.
    Client,
}

/// A setting: its key, what it takes, its default, what it does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spec {
    /// The dotted key.
    pub key: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// As one would write it.
    pub default: &'static str,
    /// One sentence.
    pub about: &'static str,
}

/// Settings that go together under one word of another setting: a client library, say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Preset {
    /// The setting that names it.
    pub key: &'static str,
    /// The word for it.
    pub word: &'static str,
    /// What it is, in a sentence or two.
    pub about: &'static str,
    /// Where that comes from.
    pub place: &'static str,
    /// The settings, each with its value.
    pub settings: &'static [(&'static str, &'static str)],
}

/// Settings that every system has: links, clients, the resource.
pub const COMMON: &[Spec] = &[
    Spec {
        key: "link.delay",
        kind: Kind::Span,
        default: "50ms",
        about: "How long a message travels at least, one way.",
    },
    Spec {
        key: "link.jitter",
        kind: Kind::Span,
        default: "0s",
        about: "The most that a message takes beyond that, drawn from the seed for each message.",
    },
    Spec {
        key: "request.timeout",
        kind: Kind::Span,
        default: "2s",
        about: "How long a client waits for an answer to anything but a queued acquire.",
    },
    Spec {
        key: "acquire.wait",
        kind: Kind::Choice(&["queue", "retry"]),
        default: "queue",
        about: "What a client does while another holds the lock: wait at the service, or ask again.",
    },
    Spec {
        key: "acquire.retry",
        kind: Kind::Span,
        default: "1s",
        about: "How long a refused client waits before it asks again.",
    },
    Spec {
        key: "renew.failure",
        kind: Kind::Choice(&["carry-on", "stop", "stop-and-undo"]),
        default: "carry-on",
        about: "What a client does when it learns that a lock is gone, by a refusal, a notice or its \
                own deadline: its program goes on; its program ends; its program ends and its \
                handler `on.undo` runs.",
    },
    Spec {
        key: "client.clock",
        kind: Kind::Choice(&["mono", "wall", "boot"]),
        default: "mono",
        about: "Which of its clocks a client reads for its own deadline.",
    },
    Spec {
        key: "client.margin",
        kind: Kind::Span,
        default: "0s",
        about: "How much before the end of its lease a client's own deadline is.",
    },
    Spec {
        key: "deadline.rule",
        kind: Kind::Choice(&["checked", "timer"]),
        default: "checked",
        about: "Whether a client looks at its own deadline only where its program says `check`, or a \
                timer ends its belief there.",
    },
    Spec {
        key: "resume.order",
        kind: Kind::Choice(&["program-first", "timers-first"]),
        default: "program-first",
        about: "What a process does first when a pause ends.",
    },
    Spec {
        key: "resource.check",
        kind: Kind::Choice(&[
            "none",
            "token",
            "token-once",
            "token-racy",
            "token-volatile",
            "claim",
            "last-claim",
            "version",
            "session",
            "gateway",
        ]),
        default: "none",
        about: "What the resource checks: nothing; token >= the highest seen; token > the highest \
                seen; token >= the highest seen, but it writes `resource.gap` later; the same with a \
                mark that a restart forgets; that the token was claimed; that it was claimed last; that \
                the cell is still at the version which the writer read; at the lock service, that \
                the token is the holder's; nothing, the gateway in front of it compares token >= the \
                highest seen.",
    },
    Spec {
        key: "resource.gap",
        kind: Kind::Span,
        default: "100ms",
        about: "How long after its check a write is applied, with `token-racy`, or passed on, with \
                `gateway`.",
    },
    Spec {
        key: "gateway.order",
        kind: Kind::Choice(&["concurrent", "serial"]),
        default: "concurrent",
        about: "Whether a gateway goes on while an operation is on its way, or waits for its answer \
                and at most `request.timeout`.",
    },
    Spec {
        key: "gateway.bypass",
        kind: Kind::Client,
        default: "none",
        about: "Which client goes around the gateway, to the resource itself.",
    },
    Spec {
        key: "resource.marks",
        kind: Kind::Choice(&["per-lock", "shared"]),
        default: "per-lock",
        about: "Whether a resource keeps the highest token of each lock, or one for all of them, as a \
                table does that has a single column for it.",
    },
    Spec {
        key: "resource.reads",
        kind: Kind::Choice(&["plain", "token"]),
        default: "plain",
        about: "Whether reads carry the token too, and raise the resource's mark.",
    },
];

#[derive(Clone, PartialEq, Eq, Debug)]
enum Value {
    Span(Micros),
    Number(u64),
    Word(&'static str),
    Name(String),
}

/// What is wrong with a setting.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SettingsError {
    /// There is no such key; the message lists those that exist.
    Key(String),
    /// The value is not of the key's kind.
    Value(String),
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (SettingsError::Key(message) | SettingsError::Value(message)) = self;
        f.write_str(message)
    }
}

/// The values of all settings of a scenario.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    specs: Vec<Spec>,
    presets: &'static [Preset],
    values: Table<&'static str, Value>,
    /// The scenario's locks, and numbers that are set for one of them.
    locks: Vec<String>,
    of_locks: Table<(&'static str, usize), u64>,
}

impl Settings {
    /// Defaults of the common settings and these.
    pub fn defaults(own: &[Spec], presets: &'static [Preset]) -> Settings {
        let specs = [COMMON, own].concat();
        let mut settings = Settings { specs, presets, ..Settings::default() };
        for spec in settings.specs.clone() {
            // A default that does not fit its own kind is caught by the test below.
            if let Ok(value) = read(&spec, spec.default) {
                settings.values.insert(spec.key, value);
            }
        }
        settings
    }

    /// The same for a scenario with these locks.
    #[must_use]
    pub fn with_locks(self, locks: &[String]) -> Settings {
        Settings { locks: locks.to_vec(), ..self }
    }

    /// The number that `KEY.LOCK` is about, and the lock's name.
    fn of_lock<'k>(&self, key: &'k str) -> Option<(&Spec, &'k str)> {
        let numbers = self.specs.iter().filter(|s| matches!(s.kind, Kind::Number | Kind::UpTo(_)));
        let mut named =
            numbers.filter_map(|s| Some((s, key.strip_prefix(s.key)?.strip_prefix('.')?)));
        named.next()
    }

    /// Sets a number for one lock.
    fn set_of_lock(&mut self, spec: &Spec, lock: &str, text: &str) -> Result<(), SettingsError> {
        let Some(index) = self.locks.iter().position(|l| l == lock) else {
            let known = list(self.locks.iter().map(String::as_str));
            let message = format!("no lock `{lock}` for {}; the locks are {known}", spec.key);
            return Err(SettingsError::Key(message));
        };
        match read(spec, text) {
            Ok(Value::Number(number)) => {
                self.of_locks.insert((spec.key, index), number);
                Ok(())
            }
            Ok(_) => Ok(()),
            Err(wanted) => {
                let key = format!("{}.{lock}", spec.key);
                Err(SettingsError::Value(format!("found `{text}` for {key}, expected {wanted}")))
            }
        }
    }

    /// Sets all of these from their texts, in an order that lets what is said of a setting alone hold
    /// against what a preset says of it. Returns what is wrong, by key.
    pub fn set_all(&mut self, pairs: &Table<String, String>) -> Vec<(String, SettingsError)> {
        let names_preset = |key: &str| self.presets.iter().any(|preset| preset.key == key);
        let (first, then): (Vec<_>, Vec<_>) = pairs.iter().partition(|pair| names_preset(pair.0));
        let mut wrong = Vec::new();
        for (key, text) in first.into_iter().chain(then) {
            if let Err(error) = self.set(key, text) {
                wrong.push((key.clone(), error));
            }
        }
        wrong
    }

    /// Sets one value from its text, and with it whatever goes together under that word.
    ///
    /// # Errors
    /// An unknown key lists all keys; a value that does not fit says what would.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), SettingsError> {
        let Some(spec) = self.specs.iter().find(|s| s.key == key) else {
            if let Some((spec, lock)) = self.of_lock(key) {
                let spec = *spec;
                return self.set_of_lock(&spec, lock, text);
            }
            let known = list(self.specs.iter().map(|s| s.key));
            return Err(SettingsError::Key(format!(
                "no setting `{key}`; the settings are {known}{}",
                meant(key, self.specs.iter().map(|s| s.key))
            )));
        };
        let value = read(spec, text).map_err(|wanted| {
            SettingsError::Value(format!("found `{text}` for {key}, expected {wanted}"))
        })?;
        self.values.insert(spec.key, value);
        let chosen = self.presets.iter().find(|p| p.key == key && p.word == text);
        for (key, text) in chosen.map_or(&[][..], |preset| preset.settings) {
            self.set(key, text)?;
        }
        Ok(())
    }

    /// The names of the scenario's locks, by their ids.
    pub fn locks(&self) -> &[String] {
        &self.locks
    }

    /// All specs, in the order of the documentation.
    pub fn specs(&self) -> &[Spec] {
        &self.specs
    }

    /// A value as one would write it.
    pub fn text(&self, key: &str) -> String {
        if let Some((spec, lock)) = self.of_lock(key) {
            let index = self.locks.iter().position(|l| l == lock);
            return index.map_or_else(String::new, |i| self.number_for(spec.key, i).to_string());
        }
        match self.values.get(key) {
            Some(Value::Span(span)) => span.to_string(),
            Some(Value::Number(number)) => number.to_string(),
            Some(Value::Word(word)) => (*word).to_string(),
            Some(Value::Name(name)) => name.clone(),
            None => String::new(),
        }
    }

    /// A span; zero for a key that is none.
    pub fn span(&self, key: &str) -> Micros {
        match self.values.get(key) {
            Some(Value::Span(span)) => *span,
            _ => Micros::ZERO,
        }
    }

    /// A number; zero for a key that is none.
    pub fn number(&self, key: &str) -> u64 {
        match self.values.get(key) {
            Some(Value::Number(number)) => *number,
            _ => 0,
        }
    }

    /// A number for the lock with this index; that of all locks where it has none of its own.
    pub fn number_for(&self, key: &'static str, lock: usize) -> u64 {
        self.of_locks.get(&(key, lock)).copied().unwrap_or_else(|| self.number(key))
    }

    /// A name; empty for a key that is none.
    pub fn name(&self, key: &str) -> &str {
        match self.values.get(key) {
            Some(Value::Name(name)) => name,
            _ => "",
        }
    }

    /// The clock that a setting names; the monotonic one for a key that is none.
    pub fn clock(&self, key: &str) -> ClockKind {
        match self.word(key) {
            "wall" => ClockKind::Wall,
            "boot" => ClockKind::Boot,
            _ => ClockKind::Mono,
        }
    }

    /// The longest span that is set.
    pub fn longest(&self) -> Micros {
        let span = |value: &Value| if let Value::Span(span) = value { *span } else { Micros::ZERO };
        self.values.values().map(span).max().unwrap_or_default()
    }

    /// A word; empty for a key that is none.
    pub fn word(&self, key: &str) -> &'static str {
        match self.values.get(key) {
            Some(Value::Word(word)) => word,
            _ => "",
        }
    }
}

fn read(spec: &Spec, text: &str) -> Result<Value, String> {
    match spec.kind {
        Kind::Span => Micros::parse(text)
            .map(Value::Span)
            .ok_or_else(|| "a duration such as `250ms` or `10s`, not negative".to_string()),
        Kind::Term => Micros::parse(text)
            .filter(|span| *span > Micros::ZERO)
            .map(Value::Span)
            .ok_or_else(|| "a duration such as `10s`: in no time nothing can be held".to_string()),
        Kind::Least(least) => Micros::parse(text)
            .filter(|span| *span >= least)
            .map(Value::Span)
            .ok_or_else(|| format!("a duration of at least {least}")),
        // Tokens are counted up from such a number and must not run over 64 bits.
        Kind::Number => whole(text, i64::MAX as u64),
        Kind::UpTo(most) => whole(text, most),
        // Which clients there are is known to the scenario alone, which looks at it.
        Kind::Client => Ok(Value::Name(text.to_string())),
        Kind::Choice(words) => words
            .iter()
            .find(|w| **w == text)
            .map(|w| Value::Word(w))
            .ok_or_else(|| format!("one of {}", list(words.iter().copied()))),
    }
}

fn whole(text: &str, most: u64) -> Result<Value, String> {
    match text.parse() {
        Ok(number) if number <= most => Ok(Value::Number(number)),
        _ => Err(format!("a whole number from 0 to {most}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_fits_its_own_kind_and_every_sentence_ends() {
        for system in crate::systems::Registry::standard().iter() {
            for spec in COMMON.iter().chain(system.settings()) {
                assert!(read(spec, spec.default).is_ok(), "{}", spec.key);
                assert!(spec.about.ends_with('.'), "{}", spec.key);
            }
            for preset in system.presets() {
                let mut settings = Settings::defaults(system.settings(), system.presets());
                assert_eq!(settings.set(preset.key, preset.word), Ok(()));
                for (key, text) in preset.settings {
                    assert_eq!(settings.text(key), *text, "{}", preset.word);
                }
                assert!(preset.about.ends_with('.'), "{}", preset.word);
            }
        }
    }

    #[test]
    fn an_unknown_setting_lists_them_all() {
        let mut settings = Settings::defaults(&[], &[]);
        let error = settings.set("resource.chek", "none").unwrap_err().to_string();
        assert!(COMMON.iter().all(|s| error.contains(s.key)), "{error}");
        assert!(error.ends_with("did you mean `resource.check`?"), "{error}");
        let error = settings.set("resource.check", "maybe").unwrap_err().to_string();
        assert!(error.contains("`token-once`"), "{error}");
        assert!(settings.set("link.delay", "-1s").is_err());
    }
}
