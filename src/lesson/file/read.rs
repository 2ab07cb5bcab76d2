//! From a lesson file to a lesson, or to everything that is wrong with it.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::front::{Front, front, short};
use super::markdown::{Body, body, id_of_stem};
use super::place::{Located, Source};
use super::scenario::copied;
use super::teach;
use crate::lesson::claim::{Claim, EventRef};
use crate::lesson::model::{Lesson, Place, Task, Variant};
use crate::run::{Compiled, Names, ScenarioError};
use crate::sim::{LineError, list};

/// The largest lesson file; a lesson is a few kilobytes.
pub const MOST_BYTES: u64 = 1024 * 1024;

/// Why a file is no lesson.
#[derive(Debug)]
pub enum ReadError {
    /// The file cannot be read at all: why, in plain words.
    Unreadable(String),
    /// It was read, and this is wrong with it.
    Wrong(Vec<Located>),
}

/// Reads a lesson file.
///
/// # Errors
/// Everything that is wrong with it.
pub fn read(path: &Path) -> Result<Lesson, ReadError> {
    let unreadable = |error: io::Error| {
        ReadError::Unreadable(match error.kind() {
            io::ErrorKind::NotFound => "there is no such file".into(),
            io::ErrorKind::PermissionDenied => "this file may not be read".into(),
            _ => format!("this file cannot be read: {error}"),
        })
    };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let lesson = parse_with(&bytes, &|name| folder.join(name).is_file());
    lesson.map_err(ReadError::Wrong).and_then(|lesson| named_alike(lesson, path))
}

/// The name of a lesson's file says its number and its id, so that links can be read.
fn named_alike(mut lesson: Lesson, path: &Path) -> Result<Lesson, ReadError> {
    let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or("");
    let number = stem.split_once('-').map(|(n, _)| n);
    let numbered = number.is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()));
    lesson.number = number.and_then(|n| n.parse().ok()).filter(|_| lesson.report.is_none());
    if !(numbered || lesson.report.is_some()) || id_of_stem(stem) == lesson.id {
        return Ok(lesson);
    }
    let message = format!(
        "found the id `{}` in the file `{}.md`, expected `{}`",
        lesson.id,
        short(stem),
        short(id_of_stem(stem))
    );
    Err(ReadError::Wrong(vec![Located { place: Place { line: 1, column: 1 }, message }]))
}

/// Reads a lesson from text.
///
/// # Errors
/// Everything that is wrong with it, in the order of the file.
pub fn parse(text: &str) -> Result<Lesson, Vec<Located>> {
    parse_bytes(text.as_bytes())
}

/// Reads a lesson from bytes, which may not even be text.
///
/// # Errors
/// Everything that is wrong with it, in the order of the file.
pub fn parse_bytes(bytes: &[u8]) -> Result<Lesson, Vec<Located>> {
    parse_with(bytes, &|_| true)
}

fn parse_with(bytes: &[u8], exists: &dyn Fn(&str) -> bool) -> Result<Lesson, Vec<Located>> {
    if bytes.len() as u64 > MOST_BYTES {
        let message = "found a file of more than 1 MiB, expected a lesson of a few kilobytes";
        let place = Place { line: 1, column: 1 };
        return Err(vec![Located { place, message: message.into() }]);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => parse_text(text, exists),
        Err(error) => {
            let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let mut source = Source::new(std::str::from_utf8(valid).unwrap_or(""));
            let byte = bytes.get(error.valid_up_to()).copied().unwrap_or_default();
            let message = format!("found the byte {byte:#04x}, expected text in UTF-8");
            source.wrong(valid.len(), message);
            Err(source.errors)
        }
    }
}

fn parse_text(text: &str, exists: &dyn Fn(&str) -> bool) -> Result<Lesson, Vec<Located>> {
    let mut source = Source::new(text);
    let lesson = lesson(&mut source, exists);
    source.errors.sort();
    source.errors.dedup();
    match lesson {
        Some(lesson) if source.errors.is_empty() => Ok(lesson),
        _ => Err(source.errors),
    }
}

fn lesson(source: &mut Source<'_>, exists: &dyn Fn(&str) -> bool) -> Option<Lesson> {
    let (from, to, rest) = split(source)?;
    let words = body(source, rest, exists);
    if words.headings == 0 {
        source.wrong(
            rest,
            "found no beat, expected at least one heading `## Title {#id at=\"EVENT\"}`",
        );
    }
    let matter = source.text.get(from..to)?;
    let (tree, errors) = DeTable::parse_recoverable(matter);
    if !errors.is_empty() {
        syntax_errors(source, from, &errors);
        return None;
    }
    let front = front(source, &tree, from)?;
    let lesson = joined(front, &words);
    teach::check(source, &lesson.teach, &words);
    Checker { source, tree: &tree, base: from }.check(&lesson, &words);
    Some(lesson)
}

/// What is no TOML at all. One mistake can confuse the reader for the rest of a line, so that only
/// the first of each line is said.
fn syntax_errors(source: &mut Source<'_>, base: usize, errors: &[toml::de::Error]) {
    let mut lines = BTreeSet::new();
    for error in errors {
        let byte = base + error.span().map_or(0, |s| s.start);
        if !lines.insert(source.place(byte).line) {
            continue;
        }
        let said = error.message().lines().collect::<Vec<_>>().join(", ");
        let message = match said.as_str() {
            "duplicate key" => "found this key a second time, expected each key once".into(),
            _ if said.contains("expected") => format!("found no valid TOML: {said}"),
            _ => format!("found no valid TOML: {said}; expected `key = value`"),
        };
        source.wrong(byte, message);
    }
}

/// What stands above and below the front matter.
const FENCE: &str = "+++";

/// A front matter that seems to end twice: the rest of it would be read as words.
fn again(source: &mut Source<'_>, mut at: usize) {
    let words = source.text.get(at..).unwrap_or_default();
    for line in words.split_inclusive('\n') {
        if line.trim_end() == FENCE {
            source.wrong(
                at,
                "found a third line `+++`, expected one above the front matter and one below it",
            );
            return;
        }
        at += line.len();
    }
}

/// The bytes of the front matter, and where the words begin.
fn split(source: &mut Source<'_>) -> Option<(usize, usize, usize)> {
    let text = source.text;
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut lines = text.get(start..)?.split_inclusive('\n');
    let first = lines.next().unwrap_or("");
    if first.trim_end() != FENCE {
        let found = if text.trim().is_empty() {
            "an empty file".to_string()
        } else {
            format!("`{}`", short(first.trim_end()))
        };
        source
            .wrong(start, format!("found {found}, expected a line `+++` before the front matter"));
        return None;
    }
    let from = start + first.len();
    let mut at = from;
    for line in lines {
        if line.trim_end() == FENCE {
            again(source, at + line.len());
            return Some((from, at, at + line.len()));
        }
        at += line.len();
    }
    source.wrong(text.len(), "the file ends here, expected a line `+++` after the front matter");
    None
}

fn joined(front: Front, words: &Body) -> Lesson {
    Lesson {
        id: front.id,
        number: None,
        title: front.title,
        minutes: front.minutes,
        class: front.class,
        covers: front.covers,
        faults: front.faults,
        hook: front.hook,
        say: front.say,
        scenario: front.scenario,
        variants: front.variants,
        defences: front.defences,
        predictions: front.predictions,
        recall: front.recall,
        tasks: front.tasks,
        cards: front.cards,
        debate: front.debate,
        rulings: front.rulings,
        pin: front.pin,
        evidence: front.evidence,
        machines: front.machines,
        report: front.report,
        teach: front.teach,
        intro: words.intro.clone(),
        beats: words.beats.iter().map(|d| d.beat.clone()).collect(),
    }
}

/// What only a compiled scenario can tell: whether programs, edits, assertions and anchors make sense.
pub(super) struct Checker<'c, 's, 't> {
    source: &'c mut Source<'s>,
    tree: &'c Spanned<DeTable<'t>>,
    base: usize,
}

impl Checker<'_, '_, '_> {
    fn check(&mut self, lesson: &Lesson, words: &Body) {
        for variant in &lesson.variants {
            let Some(compiled) = self.compile(lesson, variant) else {
                continue;
            };
            self.variant(lesson, variant, &compiled);
            self.linked(lesson, variant);
            for draft in words.beats.iter().filter(|d| d.beat.variant == variant.name) {
                if let Err(error) = EventRef::parse(&draft.beat.at.text, &compiled.names) {
                    let text = &draft.beat.at.text;
                    let skipped: usize = text.chars().take(error.at).map(char::len_utf8).sum();
                    self.source.wrong(draft.at_byte + skipped, error.message);
                }
            }
        }
        for draft in &words.beats {
            if let Some(message) = unknown_variant(lesson, &draft.beat.variant) {
                self.source.wrong(draft.variant_byte, message);
            }
        }
        for (name, byte) in &words.runs {
            if let Some(message) = unknown_variant(lesson, name) {
                self.source.wrong(*byte, message);
            }
        }
        self.evidence(lesson, words);
        for (index, task) in lesson.tasks.iter().enumerate() {
            self.task(lesson, index, task);
        }
        for (index, card) in lesson.cards.iter().enumerate() {
            let index = index.to_string();
            if let Some(message) = unknown_variant(lesson, &card.variant.text) {
                self.wrong(&["card", &index, "variant"], 0, message);
            }
        }
        self.debate(lesson);
        self.pin(lesson);
        for (index, prediction) in lesson.predictions.iter().enumerate() {
            if let Some(message) = unknown_variant(lesson, &prediction.variant) {
                self.wrong(&["predict", &index.to_string(), "variant"], 0, message);
            }
            let same = |p: &&crate::lesson::model::Predict| p.id == prediction.id;
            if lesson.predictions.iter().take(index).any(|p| same(&p)) {
                let message = format!("found the prediction `{}` twice", prediction.id);
                self.wrong(&["predict", &index.to_string(), "id"], 0, message);
            }
        }
    }

    /// Every mark has its evidence, every evidence its mark.
    fn evidence(&mut self, lesson: &Lesson, words: &Body) {
        for (id, byte) in &words.evidence {
            if !lesson.evidence.iter().any(|e| e.id == *id) {
                let known = list(lesson.evidence.iter().map(|e| e.id.as_str()));
                let message = match known.as_str() {
                    "none" => format!("no evidence `{}`, expected it as `[[evidence]]`", short(id)),
                    _ => format!("no evidence `{}`; there is {known}", short(id)),
                };
                self.source.wrong(*byte, message);
            }
        }
        for (index, evidence) in lesson.evidence.iter().enumerate() {
            let id = &evidence.id;
            let path = ["evidence", &index.to_string(), "id"];
            if lesson.evidence.iter().take(index).any(|e| e.id == *id) {
                let message = format!("found the evidence `{id}` twice, expected another id");
                self.wrong(&path, 0, message);
            } else if !words.evidence.iter().any(|mark| mark.0 == *id)
                && !lesson.debate.iter().any(|point| point.evidence == *id)
            {
                let message = format!("nothing refers to this, expected `[^{id}]` in the words");
                self.wrong(&path, 0, message);
            }
        }
    }

    /// A task's claims can be read of the run that solves it, and that run can be made.
    fn task(&mut self, lesson: &Lesson, index: usize, task: &Task) {
        let place = index.to_string();
        if let Some(message) = unknown_variant(lesson, &task.variant) {
            return self.wrong(&["task", &place, "variant"], 0, message);
        }
        let compiled = match lesson.compile_edited(&task.variant, &task.solution) {
            Ok(compiled) => compiled,
            Err(errors) => {
                // What is wrong with the scenario itself is said of its variant.
                for error in errors {
                    if let [key, edit] = error.place.path.as_slice()
                        && key == "edits"
                    {
                        let path = ["task", &place, "solution", edit];
                        self.wrong(&path, error.place.at, error.message);
                    }
                }
                return;
            }
        };
        for (number, line) in task.done.iter().enumerate() {
            let parsed = Claim::parse(&line.text, &compiled.names).map(|_| ());
            self.line(parsed, &["task", &place, "done", &number.to_string()]);
        }
        for (number, step) in task.steps.iter().enumerate() {
            let parsed = Claim::parse(&step.done.text, &compiled.names).map(|_| ());
            self.line(parsed, &["task", &place, "steps", &number.to_string(), "done"]);
        }
    }

    fn compile(&mut self, lesson: &Lesson, variant: &Variant) -> Option<Compiled> {
        let extra: Vec<String> = if variant.name == crate::lesson::model::BASE {
            lesson.defences.iter().map(|d| d.edit.text.clone()).collect()
        } else {
            Vec::new()
        };
        let clients = &lesson.scenario.clients;
        // A variant may have more copies of a client than the scenario, but no others.
        let known = |id: &String| {
            let of = copied(id);
            let another = |other: &String| of.is_some() && copied(other) == of;
            clients.contains_key(id) || clients.keys().any(another)
        };
        for id in variant.clients.keys().filter(|id| !known(id)) {
            let known = list(clients.keys().map(String::as_str));
            let message = format!("no client `{}` to replace; the clients are {known}", short(id));
            self.wrong(&["variants", &variant.name, "clients", id], 0, message);
        }
        match lesson.compile(&variant.name, &extra) {
            Ok(compiled) => Some(compiled),
            Err(errors) => {
                for error in errors {
                    self.scenario_error(variant, &error);
                }
                None
            }
        }
    }

    /// Puts an error of the scenario to the place in the file that caused it.
    fn scenario_error(&mut self, variant: &Variant, error: &ScenarioError) {
        let path: Vec<&str> = error.place.path.iter().map(String::as_str).collect();
        let (at, message) = (error.place.at, &error.message);
        match path.as_slice() {
            ["edits", index] => {
                let own = variant.edits.len();
                let number: usize = index.parse().unwrap_or(0);
                if number < own {
                    self.wrong(&["variants", &variant.name, "edits", index], at, message);
                } else {
                    let defence = (number - own).to_string();
                    self.wrong(&["defence", &defence, "edit"], at, message);
                }
            }
            ["edits"] => self.wrong(&["variants", &variant.name, "edits"], at, message),
            ["clients", id, ..] if variant.clients.contains_key(*id) => {
                let whole = [&["variants", &variant.name][..], &path].concat();
                self.wrong(&whole, at, message);
            }
            ["settings" | "cells" | "invariant", ..] if variant.has_own(&path) => {
                let whole = [&["variants", &variant.name][..], &path].concat();
                self.wrong(&whole, at, message);
            }
            _ => self.wrong(&[&["scenario"][..], &path].concat(), at, message),
        }
    }

    /// Words for whoever follows a link need a link.
    fn linked(&mut self, lesson: &Lesson, variant: &Variant) {
        let key = match (&variant.shows, &variant.at) {
            (Some(_), _) => "shows",
            (None, Some(_)) => "at",
            (None, None) => return,
        };
        if lesson.links_to(&variant.name).is_none() {
            let link = format!("expected a link `[words](run:{})` in a beat", variant.name);
            let message = format!("no words lead to this run, so that nobody sees this; {link}");
            self.wrong(&["variants", &variant.name, key], 0, message);
        }
    }

    fn variant(&mut self, lesson: &Lesson, variant: &Variant, compiled: &Compiled) {
        let names = &compiled.names;
        for (index, line) in variant.expect.iter().enumerate() {
            let parsed = Claim::parse(&line.text, names).map(|_| ());
            self.line(parsed, &["variants", &variant.name, "expect", &index.to_string()]);
        }
        if let Some(at) = &variant.at {
            let parsed = EventRef::parse(&at.text, names).map(|_| ());
            self.line(parsed, &["variants", &variant.name, "at"]);
        }
        let own = lesson.predictions.iter().enumerate();
        for (index, prediction) in own.filter(|(_, p)| p.variant == variant.name) {
            let index = index.to_string();
            let event = |text: &str, names: &Names| EventRef::parse(text, names).map(|_| ());
            self.line(event(&prediction.at.text, names), &["predict", &index, "at"]);
            self.line(event(&prediction.shown.text, names), &["predict", &index, "shown"]);
            for (number, answer) in prediction.answers.iter().enumerate() {
                let parsed = Claim::parse(&answer.when.text, names).map(|_| ());
                let path = ["predict", &index, "answers", &number.to_string(), "when"];
                self.line(parsed, &path);
            }
        }
    }

    fn line(&mut self, parsed: Result<(), LineError>, path: &[&str]) {
        if let Err(error) = parsed {
            self.wrong(path, error.at, error.message);
        }
    }

    pub(super) fn wrong(&mut self, path: &[&str], at: usize, message: impl Into<String>) {
        let (span, is_text) = find(self.tree, path);
        let literal = span.start + self.base..span.end + self.base;
        let byte = if is_text { self.source.inside(literal, at) } else { literal.start };
        self.source.wrong(byte, message);
    }
}

pub(super) fn unknown_variant(lesson: &Lesson, name: &str) -> Option<String> {
    if lesson.variant(name).is_some() {
        return None;
    }
    let known = list(lesson.variants.iter().map(|v| v.name.as_str()));
    Some(format!("no variant `{}`; the variants are {known}", short(name)))
}

/// The bytes of the value at this path, or of the longest part of the path that exists; and whether
/// it is a text in quotes. Of a table, the bytes are those of its key.
fn find(tree: &Spanned<DeTable<'_>>, path: &[&str]) -> (std::ops::Range<usize>, bool) {
    let mut span = 0..0;
    let mut table = Some(tree.get_ref());
    let mut array = None;
    let mut rest = path;
    while let Some((key, tail)) = rest.split_first() {
        let found = match (table, array) {
            (Some(entries), _) => entry(entries, key),
            (None, Some(items)) => {
                let items: &toml::de::DeArray<'_> = items;
                let index = key.parse().unwrap_or(usize::MAX);
                items.get(index).map(|v| (v.span(), v))
            }
            _ => None,
        };
        let Some((key_span, value)) = found else {
            return (span, false);
        };
        rest = tail;
        (table, array) = (None, None);
        match value.get_ref() {
            DeValue::Table(inner) => {
                span = key_span;
                table = Some(inner);
            }
            DeValue::Array(items) => {
                span = value.span();
                array = Some(items);
            }
            DeValue::String(_) if rest.is_empty() => return (value.span(), true),
            _ => span = value.span(),
        }
    }
    (span, false)
}

/// The entry with this key; a dotted key may be written as a table within a table.
fn entry<'v, 't>(
    table: &'v DeTable<'t>,
    key: &str,
) -> Option<(std::ops::Range<usize>, &'v Spanned<DeValue<'t>>)> {
    if let Some((found, value)) = table.get_key_value(key) {
        return Some((found.span(), value));
    }
    // What is said of a copy is said of the client that it is a copy of.
    if let Some((found, value)) = copied(key).and_then(|of| table.get_key_value(of)) {
        return Some((found.span(), value));
    }
    let (first, rest) = key.split_once('.')?;
    let DeValue::Table(inner) = table.get(first)?.get_ref() else {
        return None;
    };
    inner.get_key_value(rest).map(|(k, v)| (k.span(), v))
}
