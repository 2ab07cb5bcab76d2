//! The front matter: a TOML tree read key by key, so that every mistake is found, with its place.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::place::Source;
use crate::lesson::debate::{Pin, Point, Ruling};
use crate::lesson::model::{
    BASE, Card, Class, Defence, Evidence, FAULTS, Line, Machine, Predict, Recall, Report, Task,
    Teach, Variant,
};
use crate::run::Scenario;
use crate::sim::list;

/// How long a line of text in a lesson file may be: a title, an edit, a line of a program.
pub const MOST_CHARS: usize = 1000;
/// How many entries a list or table may have.
pub const MOST_ITEMS: usize = 500;
pub const MOST_VARIANTS: usize = 40;
pub const MOST_FAULTS: usize = 4;
pub const MOST_MINUTES: u32 = 60;

pub(super) type Value<'t> = Spanned<DeValue<'t>>;

/// All of a lesson that stands in its front matter.
#[derive(Debug)]
pub struct Front {
    pub id: String,
    pub title: String,
    pub minutes: u32,
    pub class: Class,
    pub covers: Vec<String>,
    pub faults: Vec<String>,
    pub hook: String,
    pub say: String,
    pub scenario: Scenario,
    pub variants: Vec<Variant>,
    pub defences: Vec<Defence>,
    pub predictions: Vec<Predict>,
    pub recall: Vec<Recall>,
    pub tasks: Vec<Task>,
    pub cards: Vec<Card>,
    pub debate: Vec<Point>,
    pub rulings: Vec<Ruling>,
    pub pin: Option<Pin>,
    pub evidence: Vec<Evidence>,
    pub machines: Vec<Machine>,
    pub report: Option<Report>,
    pub teach: Teach,
}

/// A table that is being read: what it holds, where it is, which keys were asked for.
pub(super) struct Fields<'v, 't> {
    table: &'v DeTable<'t>,
    at: usize,
    name: String,
    known: Vec<&'static str>,
}

impl<'v, 't> Fields<'v, 't> {
    fn get(&mut self, key: &'static str) -> Option<&'v Value<'t>> {
        self.known.push(key);
        self.table.get(key)
    }
}

/// Reads the tree; what is wrong goes to `source`. Offsets in the tree count from `base`.
///
/// Where something is missing that the scenario can do without, a blank stands for it, so that the
/// scenario's own mistakes are found in the same go.
pub fn front(source: &mut Source<'_>, tree: &Spanned<DeTable<'_>>, base: usize) -> Option<Front> {
    Reader { source, base }.front(tree.get_ref())
}

pub(super) struct Reader<'s, 't> {
    source: &'s mut Source<'t>,
    base: usize,
}

impl Reader<'_, '_> {
    fn front(&mut self, table: &DeTable<'_>) -> Option<Front> {
        let mut f = Fields { table, at: 0, name: "the front matter".into(), known: Vec::new() };
        let id = self.need(&mut f, "id", Self::id);
        let title = self.need(&mut f, "title", Self::words);
        let minutes = self.need(&mut f, "minutes", Self::minutes);
        let class = self.need(&mut f, "class", Self::class);
        let covers = self.want(&mut f, "covers", Self::covers).unwrap_or_default();
        let faults = self.want(&mut f, "faults", Self::faults).unwrap_or_default();
        let hook = self.need(&mut f, "hook", Self::words);
        let say = self.need(&mut f, "say", Self::words);
        let scenario = self.need(&mut f, "scenario", Self::scenario);
        let variants = self.need(&mut f, "variants", Self::variants);
        let defences = self.want(&mut f, "defence", Self::defences).unwrap_or_default();
        let predictions = self.want(&mut f, "predict", Self::predictions).unwrap_or_default();
        let recall = self.want(&mut f, "recall", Self::recalls).unwrap_or_default();
        let tasks = self.want(&mut f, "task", Self::tasks_to_do).unwrap_or_default();
        let cards = self.want(&mut f, "card", Self::cards).unwrap_or_default();
        let debate = self.want(&mut f, "debate", Self::debate).unwrap_or_default();
        let rulings = self.want(&mut f, "verdict", Self::rulings).unwrap_or_default();
        let pin = self.want(&mut f, "pin", Self::pin);
        let evidence = self.want(&mut f, "evidence", Self::evidence).unwrap_or_default();
        let machines = self.want(&mut f, "machine", Self::machines).unwrap_or_default();
        let report = self.want(&mut f, "report", Self::report);
        // A case is read by oneself: nobody teaches a class with it.
        let teach = match f.table.contains_key("report") {
            true => self.want(&mut f, "teach", Self::teach),
            false => self.need(&mut f, "teach", Self::teach),
        };
        self.rest(f);
        Some(Front {
            id: id.unwrap_or_default(),
            title: title.unwrap_or_default(),
            minutes: minutes.unwrap_or_default(),
            class: class.unwrap_or(Class::Correctness),
            covers,
            faults,
            hook: hook.unwrap_or_default(),
            say: say.unwrap_or_default(),
            scenario: scenario?,
            variants: variants?,
            defences,
            predictions,
            recall,
            tasks,
            cards,
            debate,
            rulings,
            pin,
            evidence,
            machines,
            report,
            teach: teach.unwrap_or_default(),
        })
    }

    pub(super) fn wrong(&mut self, at: usize, message: impl Into<String>) {
        self.source.wrong(self.base + at, message);
    }

    /// Says what stands at `value` instead of what is `expected`.
    pub(super) fn unexpected(&mut self, value: &Value<'_>, expected: &str) {
        let found = match value.get_ref() {
            DeValue::String(text) => format!("the text \"{}\"", short(text)),
            DeValue::Integer(number) => short(number.as_str()),
            DeValue::Float(number) => short(number.as_str()),
            DeValue::Boolean(truth) => format!("`{truth}`"),
            DeValue::Datetime(_) => "a date".into(),
            DeValue::Array(_) => "a list".into(),
            DeValue::Table(_) => "a table".into(),
        };
        self.wrong(value.span().start, format!("found {found}, expected {expected}"));
    }

    pub(super) fn need<'v, 't, T>(
        &mut self,
        fields: &mut Fields<'v, 't>,
        key: &'static str,
        read: fn(&mut Self, &'v Value<'t>) -> Option<T>,
    ) -> Option<T> {
        let Some(value) = fields.get(key) else {
            self.wrong(fields.at, format!("{} has no `{key}`", fields.name));
            return None;
        };
        read(self, value)
    }

    pub(super) fn want<'v, 't, T>(
        &mut self,
        fields: &mut Fields<'v, 't>,
        key: &'static str,
        read: fn(&mut Self, &'v Value<'t>) -> Option<T>,
    ) -> Option<T> {
        read(self, fields.get(key)?)
    }

    /// Complains about every key that nobody asked for.
    pub(super) fn rest(&mut self, fields: Fields<'_, '_>) {
        for (key, _) in fields.table.iter() {
            if !fields.known.contains(&key.get_ref().as_ref()) {
                let known = list(fields.known.iter().copied());
                let message = format!(
                    "found the key `{}` in {}, expected one of {known}",
                    short(key.get_ref()),
                    fields.name
                );
                self.wrong(key.span().start, message);
            }
        }
    }

    pub(super) fn table<'v, 't>(
        &mut self,
        value: &'v Value<'t>,
        name: impl Into<String>,
    ) -> Option<Fields<'v, 't>> {
        match value.get_ref() {
            DeValue::Table(table) => {
                let at = value.span().start;
                Some(Fields { table, at, name: name.into(), known: Vec::new() })
            }
            _ => {
                self.unexpected(value, "a table");
                None
            }
        }
    }

    /// The entries of a table in the order of the file.
    pub(super) fn entries<'v, 't>(
        &mut self,
        value: &'v Value<'t>,
    ) -> Option<Vec<(String, usize, &'v Value<'t>)>> {
        let fields = self.table(value, "")?;
        let entry = |(k, v): (&'v Spanned<_>, &'v Value<'t>)| {
            let key: &std::borrow::Cow<'t, str> = k.get_ref();
            (key.to_string(), k.span().start, v)
        };
        let mut entries: Vec<_> = fields.table.iter().map(entry).collect();
        entries.sort_by_key(|e| e.1);
        self.few(value, entries.len())?;
        Some(entries)
    }

    pub(super) fn list<'v, 't, T>(
        &mut self,
        value: &'v Value<'t>,
        expected: &str,
        read: fn(&mut Self, &'v Value<'t>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let DeValue::Array(array) = value.get_ref() else {
            self.unexpected(value, expected);
            return None;
        };
        self.few(value, array.len())?;
        let read: Vec<Option<T>> = array.iter().map(|v| read(self, v)).collect();
        read.into_iter().collect()
    }

    fn few(&mut self, value: &Value<'_>, count: usize) -> Option<()> {
        if count <= MOST_ITEMS {
            return Some(());
        }
        let message = format!("found {count} entries, expected at most {MOST_ITEMS}");
        self.wrong(value.span().start, message);
        None
    }

    /// One line of text.
    pub(super) fn words(&mut self, value: &Value<'_>) -> Option<String> {
        let DeValue::String(text) = value.get_ref() else {
            self.unexpected(value, "a text in quotes");
            return None;
        };
        if text.chars().count() > MOST_CHARS {
            let message = format!("found a text of more than {MOST_CHARS} characters");
            self.wrong(value.span().start, format!("{message}, expected a shorter one"));
            return None;
        }
        if text.trim().is_empty() {
            self.wrong(value.span().start, "found an empty text, expected words");
            return None;
        }
        Some(text.to_string())
    }

    /// A line of a program: it may be empty.
    fn code(&mut self, value: &Value<'_>) -> Option<String> {
        match value.get_ref() {
            DeValue::String(text) if text.is_empty() => Some(String::new()),
            _ => self.words(value),
        }
    }

    /// A line of text with its place.
    pub(super) fn line(&mut self, value: &Value<'_>) -> Option<Line> {
        let text = self.words(value)?;
        let place = self.source.place(self.source.inside(self.literal(value), 0));
        Some(Line { text, place })
    }

    fn literal(&self, value: &Value<'_>) -> Range<usize> {
        let span = value.span();
        span.start + self.base..span.end + self.base
    }

    pub(super) fn lines(&mut self, value: &Value<'_>) -> Option<Vec<Line>> {
        self.list(value, "a list of texts", Self::line)
    }

    pub(super) fn codes(&mut self, value: &Value<'_>) -> Option<Vec<String>> {
        self.list(value, "a list of texts, each a line of the program", Self::code)
    }

    pub(super) fn id(&mut self, value: &Value<'_>) -> Option<String> {
        let text = self.words(value)?;
        if is_id(&text) {
            return Some(text);
        }
        self.unexpected(value, "an id of lower-case letters, digits and `-`");
        None
    }

    pub(super) fn whole(&mut self, value: &Value<'_>) -> Option<i64> {
        if let DeValue::Integer(n) = value.get_ref()
            && let Ok(n) = i64::from_str_radix(n.as_str(), n.radix())
        {
            return Some(n);
        }
        self.unexpected(value, "a whole number of 64 bits");
        None
    }

    pub(super) fn truth(&mut self, value: &Value<'_>) -> Option<bool> {
        match value.get_ref() {
            DeValue::Boolean(truth) => Some(*truth),
            _ => {
                self.unexpected(value, "`true` or `false`");
                None
            }
        }
    }

    fn minutes(&mut self, value: &Value<'_>) -> Option<u32> {
        let number = self.whole(value)?;
        let minutes = u32::try_from(number).ok().filter(|n| (1..=MOST_MINUTES).contains(n));
        if minutes.is_none() {
            let message = format!("found {number} minutes, expected 1 to {MOST_MINUTES}");
            self.wrong(value.span().start, message);
        }
        minutes
    }

    pub(super) fn class(&mut self, value: &Value<'_>) -> Option<Class> {
        let text = self.words(value)?;
        let class = Class::ALL.into_iter().find(|c| c.word() == text);
        if class.is_none() {
            self.unexpected(value, &one_of(&Class::ALL.map(Class::word)));
        }
        class
    }

    fn report(&mut self, value: &Value<'_>) -> Option<Report> {
        let mut f = self.table(value, "`[report]`")?;
        let thread = self.need(&mut f, "thread", |reader, value| {
            let text = reader.words(value)?;
            if is_thread(&text) {
                return Some(text);
            }
            reader.unexpected(value, "a public thread such as \"owner/project#123\"");
            None
        });
        let symptom = self.need(&mut f, "symptom", Self::words);
        self.rest(f);
        Some(Report { thread: thread?, symptom: symptom? })
    }

    fn covers(&mut self, value: &Value<'_>) -> Option<Vec<String>> {
        self.list(value, "a list of atoms such as \"A4\"", |reader, value| {
            let text = reader.words(value)?;
            if is_atom(&text) {
                return Some(text);
            }
            reader.unexpected(value, "an atom such as \"A4\" or \"B15.1\"");
            None
        })
    }

    fn faults(&mut self, value: &Value<'_>) -> Option<Vec<String>> {
        let faults = self.list(value, "a list of kinds of fault", |reader, value| {
            let text = reader.words(value)?;
            if FAULTS.contains(&text.as_str()) {
                return Some(text);
            }
            reader.unexpected(value, &one_of(&FAULTS));
            None
        })?;
        if faults.len() > MOST_FAULTS {
            let message = format!("found {} kinds of fault", faults.len());
            self.wrong(value.span().start, format!("{message}, expected at most {MOST_FAULTS}"));
            return None;
        }
        Some(faults)
    }

    fn variants(&mut self, value: &Value<'_>) -> Option<Vec<Variant>> {
        let entries = self.entries(value)?;
        if !entries.iter().any(|e| e.0 == BASE) {
            let message = format!("there is no variant `{BASE}`, expected `[variants.{BASE}]`");
            self.wrong(value.span().start, message);
        }
        if entries.len() > MOST_VARIANTS {
            let message = format!("found {} variants", entries.len());
            self.wrong(value.span().start, format!("{message}, expected at most {MOST_VARIANTS}"));
            return None;
        }
        let mut variants = Vec::new();
        for (name, at, value) in entries {
            if !is_id(&name) {
                let found = short(&name);
                let message = format!("found the variant `{found}`");
                self.wrong(at, format!("{message}, expected lower-case letters, digits and `-`"));
            }
            variants.extend(self.variant(name, value));
        }
        // The default comes first, wherever it stands.
        variants.sort_by_key(|v| v.name != BASE);
        Some(variants)
    }

    fn variant(&mut self, name: String, value: &Value<'_>) -> Option<Variant> {
        let mut f = self.table(value, format!("the variant `{name}`"))?;
        let title = self.want(&mut f, "title", Self::words);
        let clients = self.want(&mut f, "clients", Self::clients).unwrap_or_default();
        let settings = self.want(&mut f, "settings", Self::settings).unwrap_or_default();
        let cells = self.want(&mut f, "cells", Self::cells).unwrap_or_default();
        let invariant = self.want(&mut f, "invariant", Self::words);
        let gateway = self.want(&mut f, "gateway", Self::truth).unwrap_or_default();
        let edits = self.want(&mut f, "edits", Self::lines).unwrap_or_default();
        let expect = self.need(&mut f, "expect", Self::lines);
        let shows = self.want(&mut f, "shows", Self::words);
        let at = self.want(&mut f, "at", Self::line);
        self.rest(f);
        let title = title.unwrap_or_else(|| default_title(&name));
        Some(Variant {
            name,
            title,
            settings,
            clients,
            cells,
            invariant,
            gateway,
            edits,
            expect: expect?,
            shows,
            at,
        })
    }
}

/// Lower-case letters, digits and `-`, beginning with a letter.
pub fn is_id(text: &str) -> bool {
    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    text.chars().all(good) && text.starts_with(|c: char| c.is_ascii_lowercase())
}

/// `owner/project#123`, as the large forges write it.
fn is_thread(text: &str) -> bool {
    let name = |s: &str| {
        let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        s.chars().all(good) && s.contains(|c: char| c.is_ascii_alphanumeric())
    };
    text.split_once('#').is_some_and(|(project, number)| {
        !number.is_empty()
            && number.bytes().all(|b| b.is_ascii_digit())
            && project.split_once('/').is_some_and(|(owner, project)| name(owner) && name(project))
    })
}

/// `K4`.
pub(super) fn is_short_name(text: &str) -> bool {
    (1..=4).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// `A4`, `B15.1`.
fn is_atom(text: &str) -> bool {
    let Some(rest) = text.strip_prefix(['A', 'B']) else {
        return false;
    };
    let number = |n: &str| (1..=2).contains(&n.len()) && n.bytes().all(|b| b.is_ascii_digit());
    rest.split('.').count() <= 2 && rest.split('.').all(number)
}

pub(super) fn one_of(words: &[&str]) -> String {
    format!("one of {}", list(words.iter().copied()))
}

/// `Own check` for `own-check`.
fn default_title(name: &str) -> String {
    let spaced = name.replace('-', " ");
    let mut chars = spaced.chars();
    chars.next().map(|c| c.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// The beginning of a text that might be long or hold line breaks.
pub fn short(text: &str) -> String {
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let mut words: String = text.chars().take(40).map(clean).collect();
    if text.chars().nth(40).is_some() {
        words.push('…');
    }
    words
}
