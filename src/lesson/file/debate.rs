//! The debate, its verdict and the label in the front matter.

use super::front::{Reader, Value, is_short_name, short};
use super::read::{Checker, unknown_variant};
use crate::lesson::debate::{Pin, Point, Ruling, Shown};
use crate::lesson::model::{Lesson, Line};
use crate::sim::list;

/// How many points a debate may have.
pub const MOST_POINTS: usize = 24;
/// How many defences a lesson with a label may have: every combination of them is tried.
pub const MOST_PINNED: usize = 8;
/// How many runs may show one point.
const MOST_SHOWN: usize = 8;

impl Reader<'_, '_> {
    pub(super) fn debate(&mut self, value: &Value<'_>) -> Option<Vec<Point>> {
        let points = self.list(value, "tables `[[debate]]`", Self::point)?;
        if points.len() > MOST_POINTS {
            let message = format!("found {} points, expected at most {MOST_POINTS}", points.len());
            self.wrong(value.span().start, message);
        }
        let mut speakers: Vec<&str> = points.iter().map(|point| point.by.as_str()).collect();
        speakers.sort_unstable();
        speakers.dedup();
        if speakers.len() != 2 {
            let message = format!("found {} who speak, expected two", speakers.len());
            self.wrong(value.span().start, message);
        }
        Some(points)
    }

    fn point(&mut self, value: &Value<'_>) -> Option<Point> {
        let mut f = self.table(value, "this point")?;
        let id = self.need(&mut f, "id", Self::short_name);
        let by = self.need(&mut f, "by", Self::words);
        let title = self.need(&mut f, "title", Self::words);
        let claim = self.need(&mut f, "claim", Self::words);
        let runs = self.need(&mut f, "runs", Self::shown);
        let answers = self.want(&mut f, "answers", Self::short_names).unwrap_or_default();
        let gave_up = self.want(&mut f, "gave_up", Self::words);
        let evidence = self.need(&mut f, "evidence", Self::id);
        self.rest(f);
        Some(Point {
            id: id?,
            by: by?,
            title: title?,
            claim: claim?,
            runs: runs?,
            answers,
            gave_up,
            evidence: evidence?,
        })
    }

    fn shown(&mut self, value: &Value<'_>) -> Option<Vec<Shown>> {
        let shown = self.list(value, "a list of runs", |reader, value| {
            let mut f = reader.table(value, "this run")?;
            let variant = reader.need(&mut f, "variant", Self::line);
            let shows = reader.need(&mut f, "shows", Self::words);
            reader.rest(f);
            Some(Shown { variant: variant?, shows: shows? })
        })?;
        if !(1..=MOST_SHOWN).contains(&shown.len()) {
            let message = format!("found {} runs, expected 1 to {MOST_SHOWN}", shown.len());
            self.wrong(value.span().start, message);
        }
        Some(shown)
    }

    /// `K4`.
    fn short_name(&mut self, value: &Value<'_>) -> Option<String> {
        let text = self.words(value)?;
        if is_short_name(&text) {
            return Some(text);
        }
        self.unexpected(value, "a name of at most four letters and digits, such as \"K4\"");
        None
    }

    fn short_names(&mut self, value: &Value<'_>) -> Option<Vec<String>> {
        self.list(value, "a list of names such as \"K4\"", Self::short_name)
    }

    pub(super) fn rulings(&mut self, value: &Value<'_>) -> Option<Vec<Ruling>> {
        self.list(value, "tables `[[verdict]]`", |reader, value| {
            let mut f = reader.table(value, "this verdict")?;
            let when = reader.need(&mut f, "when", Self::words);
            let correctness = reader.need(&mut f, "correctness", Self::line);
            let efficiency = reader.need(&mut f, "efficiency", Self::line);
            let says = reader.need(&mut f, "says", Self::words);
            reader.rest(f);
            Some(Ruling {
                when: when?,
                correctness: correctness?,
                efficiency: efficiency?,
                says: says?,
            })
        })
    }

    pub(super) fn pin(&mut self, value: &Value<'_>) -> Option<Pin> {
        let mut f = self.table(value, "`[pin]`")?;
        let label = self.need(&mut f, "label", Self::words);
        let attacks = self.need(&mut f, "attacks", Self::lines);
        let needs = self.need(&mut f, "needs", Self::line);
        self.rest(f);
        if attacks.as_ref().is_some_and(Vec::is_empty) {
            self.wrong(value.span().start, "found no attack, expected what is tried on the design");
        }
        Some(Pin { label: label?, attacks: attacks?, needs: needs? })
    }
}

/// What is wrong with the names of points, each with where it stands.
fn names(points: &[Point], wrong: &mut dyn FnMut(&[&str], String)) {
    for (index, point) in points.iter().enumerate() {
        let place = index.to_string();
        if points.iter().take(index).any(|other| other.id == point.id) {
            let message = format!("found the point `{}` twice, expected another name", point.id);
            wrong(&["debate", &place, "id"], message);
        }
        for (number, answered) in point.answers.iter().enumerate() {
            let path = ["debate", &place, "answers", &number.to_string()];
            match points.iter().find(|other| other.id == *answered) {
                None => {
                    let known = list(points.iter().map(|p| p.id.as_str()));
                    wrong(&path, format!("no point `{}`; there is {known}", short(answered)));
                }
                Some(other) if other.by == point.by => {
                    let message = format!("found an answer to `{answered}` of the same speaker");
                    wrong(&path, format!("{message}, expected one of the other’s points"));
                }
                Some(_) => {}
            }
        }
    }
}

/// What only the whole lesson can tell.
impl Checker<'_, '_, '_> {
    /// Points have names of their own, runs that exist, and evidence; answers are to points of the other.
    pub(super) fn debate(&mut self, lesson: &Lesson) {
        names(&lesson.debate, &mut |path, message| self.wrong(path, 0, message));
        for (index, point) in lesson.debate.iter().enumerate() {
            let index = index.to_string();
            for (number, run) in point.runs.iter().enumerate() {
                let path = ["debate", &index, "runs", &number.to_string(), "variant"];
                self.exists(lesson, &run.variant, &path);
            }
            if !lesson.evidence.iter().any(|e| e.id == point.evidence) {
                let known = list(lesson.evidence.iter().map(|e| e.id.as_str()));
                let message = format!("no evidence `{}`; there is {known}", short(&point.evidence));
                self.wrong(&["debate", &index, "evidence"], 0, message);
            }
        }
        for (index, ruling) in lesson.rulings.iter().enumerate() {
            let index = index.to_string();
            self.exists(lesson, &ruling.correctness, &["verdict", &index, "correctness"]);
            self.exists(lesson, &ruling.efficiency, &["verdict", &index, "efficiency"]);
        }
    }

    /// What is tried exists, and what the label needs is one of the defences, which are few.
    pub(super) fn pin(&mut self, lesson: &Lesson) {
        let Some(pin) = &lesson.pin else { return };
        for (index, attack) in pin.attacks.iter().enumerate() {
            self.exists(lesson, attack, &["pin", "attacks", &index.to_string()]);
        }
        let count = lesson.defences.len();
        if count > MOST_PINNED {
            let most = MOST_PINNED;
            let message = format!("found {count} defences beside a label, expected at most {most}");
            self.wrong(&["pin", "needs"], 0, message);
        }
        if !lesson.defences.iter().any(|d| d.edit.text == pin.needs.text) {
            let known = list(lesson.defences.iter().map(|d| d.edit.text.as_str()));
            let message = format!("no defence `{}`; there is {known}", short(&pin.needs.text));
            self.wrong(&["pin", "needs"], 0, message);
        }
    }

    fn exists(&mut self, lesson: &Lesson, variant: &Line, path: &[&str]) {
        if let Some(message) = unknown_variant(lesson, &variant.text) {
            self.wrong(path, 0, message);
        }
    }
}
