//! Running a lesson's assertions, and packing lessons for the page.

use super::debate::MOST_PINNED;
use super::place::Located;
use crate::judge::Finding;
use crate::lesson::claim::{Claim, EventRef, anchor};
use crate::lesson::debate::{Design, Outcome, Pin};
use crate::lesson::model::{Beat, Card, Class, Lesson, Level, Line, Predict, Task, Variant};
use crate::run::{Run, ScenarioError};
use crate::sim::list;

/// What came out of checking a lesson.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Checked {
    /// How many assertions hold; beats and predictions are assertions too.
    pub passed: usize,
    /// Those that do not, with what the run gave instead.
    pub failed: Vec<Located>,
    /// What is no failure, but probably not meant.
    pub notes: Vec<Located>,
}

/// Runs every variant of a lesson and every assertion about it.
pub fn check(lesson: &Lesson) -> Checked {
    let mut checked = Checked::default();
    for variant in &lesson.variants {
        match lesson.compile(&variant.name, &[]) {
            Ok(compiled) => checked.variant(lesson, variant, &Run::of(compiled)),
            // A lesson that was read compiles; one that was made by a program may not.
            Err(errors) => checked.uncompiled(variant, &errors),
        }
    }
    for task in &lesson.tasks {
        checked.task(lesson, task);
    }
    checked.rulings(lesson);
    if let Some(pin) = &lesson.pin {
        checked.pin(lesson, pin);
    }
    checked
}

impl Checked {
    fn claim(&mut self, at: &Line, result: Result<(), String>) {
        match result {
            Ok(()) => self.passed += 1,
            Err(message) => self.failed.push(Located { place: at.place, message }),
        }
    }

    fn uncompiled(&mut self, variant: &Variant, errors: &[ScenarioError]) {
        let place = variant.expect.first().map(|l| l.place).unwrap_or_default();
        for error in errors {
            self.failed.push(Located { place, message: error.to_string() });
        }
    }

    fn variant(&mut self, lesson: &Lesson, variant: &Variant, run: &Run) {
        for line in &variant.expect {
            let result = Claim::parse(&line.text, run.names())
                .map_err(|e| e.to_string())
                .and_then(|claim| claim.test(run));
            let words = |given: String| {
                let text = line.text.split_whitespace().collect::<Vec<_>>().join(" ");
                format!("in the run of `{}`: {given}; expected `{text}`", variant.name)
            };
            self.claim(line, result.map_err(words));
        }
        if let Some(at) = &variant.at {
            let expected = |why: String| format!("{why}; expected the event where links arrive");
            self.claim(at, anchor(run, &at.text).map(|_| ()).map_err(expected));
        }
        let beats: Vec<&Beat> = lesson.beats.iter().filter(|b| b.variant == variant.name).collect();
        for (index, beat) in beats.iter().enumerate() {
            let before = index.checked_sub(1).and_then(|i| beats.get(i)).copied();
            self.claim(&beat.at, beat_stands(beat, before, run));
        }
        for prediction in lesson.predictions.iter().filter(|p| p.variant == variant.name) {
            self.prediction(prediction, run);
        }
        for card in lesson.cards.iter().filter(|c| c.variant.text == variant.name) {
            self.claim(&card.variant, card_stands(card, run));
        }
        for index in &run.unused_edits {
            if let Some(edit) = variant.edits.get(*index) {
                let message = format!("the edit `{}` found no occasion in this run", edit.text);
                self.notes.push(Located { place: edit.place, message });
            }
        }
    }

    /// The run that it begins with does not fulfil it, and the solution does; with help, some steps
    /// are done from the start and some are not.
    fn task(&mut self, lesson: &Lesson, task: &Task) {
        let Some(variant) = lesson.variant(&task.variant) else { return };
        let start = lesson.compile_edited(&task.variant, &variant.edits).map(Run::of);
        let solved = lesson.compile_edited(&task.variant, &task.solution).map(Run::of);
        let (Ok(start), Ok(solved)) = (start, solved) else { return };
        let holds = |line: &Line, run: &Run| {
            let claim = Claim::parse(&line.text, run.names()).map_err(|e| e.to_string())?;
            claim.test(run)
        };
        let word = task.level.word();
        let steps = || task.steps.iter().map(|s| &s.done);
        for line in task.done.iter().chain(steps()) {
            let words = |given: String| {
                format!("in the solution of `{word}`: {given}; expected `{}`", line.text)
            };
            self.claim(line, holds(line, &solved).map_err(words));
        }
        let Some(first) = task.done.first() else { return };
        let open = task.done.iter().any(|line| holds(line, &start).is_err());
        let message = format!(
            "the run that `{word}` begins with fulfils it already; expected something to do"
        );
        self.claim(first, if open { Ok(()) } else { Err(message) });
        if task.level == Level::Help {
            let done = steps().filter(|line| holds(line, &start).is_ok()).count();
            let message = format!(
                "{done} of {} steps of `{word}` are done from the start; expected some, and some \
                 left",
                task.steps.len()
            );
            let some = 0 < done && done < task.steps.len();
            self.claim(first, if some { Ok(()) } else { Err(message) });
        }
        for index in &solved.unused_edits {
            if let Some(edit) = task.solution.get(*index) {
                let message = format!("the edit `{}` found no occasion in this run", edit.text);
                self.notes.push(Located { place: edit.place, message });
            }
        }
    }

    /// A run where two at once would be wrong has something that must hold; one where they would be
    /// wasteful has a job, and no other harm.
    fn rulings(&mut self, lesson: &Lesson) {
        for ruling in &lesson.rulings {
            for (class, line) in
                [(Class::Correctness, &ruling.correctness), (Class::Efficiency, &ruling.efficiency)]
            {
                let Ok(compiled) = lesson.compile(&line.text, &[]) else { continue };
                let verdict = Run::of(compiled).judgement.verdict;
                let message = match class {
                    Class::Correctness if verdict.invariant_broken.is_none() => {
                        "this run has no invariant; expected one of work that two at once would spoil"
                    }
                    Class::Efficiency if verdict.duplicate_work.is_none() => {
                        "this run has no `job`; expected one of work that two at once would only waste"
                    }
                    Class::Efficiency if Outcome::of(&verdict).wrong => {
                        "this run does harm; expected work that two at once would only waste"
                    }
                    _ => "",
                };
                self.claim(line, if message.is_empty() { Ok(()) } else { Err(message.into()) });
            }
        }
    }

    /// The label stays on a design exactly where it has what the label needs, and no attack is idle.
    fn pin(&mut self, lesson: &Lesson, pin: &Pin) {
        let defences = &lesson.defences;
        let bare = vec![false; defences.len()];
        for attack in &pin.attacks {
            let harmed = lesson.outcome_of_attack(&attack.text, &bare).is_some_and(|o| o.harmed());
            let message = "this attack does no harm to a design without any defence; expected some";
            self.claim(attack, if harmed { Ok(()) } else { Err(message.into()) });
        }
        for number in 0..1_u32 << defences.len().min(MOST_PINNED) {
            let design: Design = (0..defences.len()).map(|i| number >> i & 1 == 1).collect();
            let on = || defences.iter().zip(&design).filter(|(_, on)| **on).map(|(d, _)| d);
            let harms = |attack: &&Line| {
                lesson.outcome_of_attack(&attack.text, &design).is_some_and(|o| o.harmed())
            };
            let fell = pin.attacks.iter().find(harms);
            let needed = on().any(|d| d.edit.text == pin.needs.text);
            let titles = list(on().map(|d| d.title.as_str()));
            let result = match (fell, needed) {
                (Some(attack), true) => Err(format!(
                    "with {titles} switched on, `{}` does harm; expected the label to stay",
                    attack.text
                )),
                (None, false) => Err(format!(
                    "with {titles} switched on, no attack does harm; expected the label to fall off"
                )),
                _ => Ok(()),
            };
            self.claim(&pin.needs, result);
        }
    }

    /// Its events happen in order, exactly one answer is right, and every other one names the
    /// misconception that it comes from.
    fn prediction(&mut self, prediction: &Predict, run: &Run) {
        let asked = anchor(run, &prediction.at.text);
        let shown = anchor(run, &prediction.shown.text);
        let order = match (asked, shown) {
            (Ok(asked), Ok(shown)) if asked <= shown => Ok(()),
            (Ok(_), Ok(_)) => Err("the answer is shown before the question is asked".into()),
            (Err(why), _) | (_, Err(why)) => Err(format!("{why}; expected it to happen")),
        };
        self.claim(&prediction.at, order);
        let late = |f: &&Finding| {
            matches!(f, Finding::StaleAccepted { .. } | Finding::StaleRejected { .. })
        };
        if prediction.look && !run.judgement.findings.iter().any(|f| late(&f)) {
            let message =
                "no late write comes to the resource in this run; expected one to look at";
            self.claim(&prediction.at, Err(message.into()));
        }
        let mut right = 0;
        for answer in &prediction.answers {
            let claim = Claim::parse(&answer.when.text, run.names());
            if claim.is_ok_and(|c| c.test(run).is_ok()) {
                right += 1;
            } else if answer.misconception.is_none() {
                let message = format!(
                    "the answer \"{}\" does not come true in `{}`; expected a misconception, such \
                     as `misconception = \"M3\"`",
                    answer.text, prediction.variant
                );
                self.failed.push(Located { place: answer.when.place, message });
            }
        }
        let message = format!("{right} answers come true in the run; expected exactly one");
        self.claim(&prediction.shown, if right == 1 { Ok(()) } else { Err(message) });
    }
}

/// The run of a card agrees with its tray: done twice, its work is wasted and nothing is harmed, or
/// something that has to hold does not.
fn card_stands(card: &Card, run: &Run) -> Result<(), String> {
    let given = Class::of(&run.judgement.verdict);
    if given == Some(card.tray) {
        return Ok(());
    }
    let words = match given {
        Some(Class::Correctness) => "in this run the invariant turns false",
        Some(Class::Efficiency) => "in this run a job is done twice and nothing is harmed",
        None => "in this run nothing is done twice, and the invariant holds",
    };
    let expected = match card.tray {
        Class::Correctness => "expected `invariant_broken >= 1` of a card for `correctness`",
        Class::Efficiency => "expected `duplicate_work >= 1` without harm of one for `efficiency`",
    };
    Err(format!("{words}; {expected}"))
}

/// A beat's event happens, and not before that of the beat above it.
fn beat_stands(beat: &Beat, before: Option<&Beat>, run: &Run) -> Result<(), String> {
    let found = EventRef::parse(&beat.at.text, run.names())
        .map_err(|e| e.to_string())
        .and_then(|_| anchor(run, &beat.at.text))
        .map_err(|why| format!("{why}; expected the event of the beat `#{}`", beat.id))?;
    match before.map(|b| anchor(run, &b.at.text)) {
        Some(Ok(earlier)) if earlier > found => Err(format!(
            "the beat `#{}` happens before the one above it; expected the order of the run",
            beat.id
        )),
        _ => Ok(()),
    }
}

/// A lesson as the page fetches it.
pub fn pack(lesson: &Lesson) -> String {
    // A lesson is text and numbers with text keys: there is nothing that JSON cannot hold.
    serde_json::to_string(lesson).unwrap_or_default()
}
