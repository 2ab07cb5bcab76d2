//! Hearing a debate point by point, each with its runs; and pinning a label on a design until an attack takes it off.

use std::rc::Rc;

use super::open::own_edits;
use super::state::State;
use super::strings;
use crate::lesson::{Design, Outcome, Point};

/// Where in a debate the learner is.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Hearing {
    /// The point that was taken up last, and which of its runs; it is on screen while the story waits.
    pub at: Option<(usize, usize)>,
    /// All claims are shown side by side.
    pub table: bool,
}

/// A label on a design, and what came of the attacks that were tried so far.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trial {
    /// The design that it was pinned on.
    pub design: Design,
    /// What came of each attack, in their order.
    pub outcomes: Vec<Outcome>,
}

impl Trial {
    /// Whether the label is still on.
    pub fn stays(&self) -> bool {
        !self.outcomes.iter().any(Outcome::harmed)
    }
}

/// The debate.
impl State {
    /// The point on screen, and which of its runs.
    pub fn heard(&self) -> Option<(usize, &Point, usize)> {
        let (index, shown) = self.hearing.at.filter(|_| self.cards.sorting.is_some())?;
        Some((index, self.lesson.debate.get(index)?, shown))
    }

    /// Takes up a point: one of its runs is on screen, where it is decided.
    pub(super) fn hear(&mut self, index: usize, shown: usize) {
        let lesson = self.lesson.clone();
        let Some(point) = lesson.debate.get(index) else { return };
        let Some(run) = point.runs.get(shown) else { return };
        let name = &run.variant.text;
        let Some(variant) = lesson.variants.iter().position(|v| v.name == *name) else { return };
        self.begin_sorting();
        self.hearing = Hearing { at: Some((index, shown)), table: false };
        let words = strings::heard(&point.id, &point.by, &point.title, &run.shows);
        let edits = own_edits(&lesson, variant);
        if self.variant != variant || self.edits != edits {
            self.edit(variant, edits, None, words.clone());
        }
        self.jump(self.show.head(Some(self.show.decided)));
        self.done(words);
    }

    /// Shows all claims side by side, or closes that.
    pub(super) fn show_all_claims(&mut self, on: bool) {
        self.playing = false;
        self.hearing.table = on && !self.lesson.debate.is_empty();
    }
}

/// The label.
impl State {
    /// Pins the label on the design on screen; nothing is tried yet.
    pub(super) fn pin_label(&mut self) {
        let Some(pin) = &self.lesson.pin else { return };
        let words = strings::label_pinned(&pin.label, pin.attacks.len());
        let design = self.lesson.design(&self.edits);
        self.trial = Some(Rc::new(Trial { design, outcomes: Vec::new() }));
        self.done(words);
    }

    /// Whether attacks are left to try.
    pub fn tries(&self) -> bool {
        let attacks = self.lesson.pin.as_ref().map_or(0, |pin| pin.attacks.len());
        self.trial.as_ref().is_some_and(|trial| trial.outcomes.len() < attacks)
    }

    /// Tries the next attack; after the last one, says what became of the label.
    pub(super) fn try_attack(&mut self) {
        let (Some(pin), Some(trial)) = (&self.lesson.pin, &self.trial) else { return };
        let Some(attack) = pin.attacks.get(trial.outcomes.len()) else { return };
        let outcome = self.lesson.outcome_of_attack(&attack.text, &trial.design);
        let mut trial = (**trial).clone();
        // What `check` has run can be run here.
        trial.outcomes.push(outcome.unwrap_or_default());
        let words = (trial.outcomes.len() == pin.attacks.len()).then(|| self.came_of(&trial));
        self.trial = Some(Rc::new(trial));
        if let Some(words) = words {
            self.done(words);
        }
    }

    /// What became of the label, in words.
    pub fn came_of(&self, trial: &Trial) -> String {
        let label = self.lesson.pin.as_ref().map_or("", |pin| pin.label.as_str());
        let harmful = trial.outcomes.iter().filter(|outcome| outcome.harmed()).count();
        strings::label_came_of(label, harmful, trial.outcomes.len())
    }

    /// What an attack is called.
    pub fn attack_title(&self, attack: usize) -> &str {
        let name = self.lesson.pin.as_ref().and_then(|pin| pin.attacks.get(attack));
        name.and_then(|name| self.lesson.variant(&name.text)).map_or("", |v| v.title.as_str())
    }

    /// Puts an attack on the design on screen, where it is decided.
    pub(super) fn show_attack(&mut self, attack: usize) {
        let lesson = self.lesson.clone();
        let name = lesson.pin.as_ref().and_then(|pin| pin.attacks.get(attack));
        let Some(name) = name.map(|name| name.text.as_str()) else { return };
        let Some(variant) = lesson.variants.iter().position(|v| v.name == name) else { return };
        let edits = lesson.attack(name, &lesson.design(&self.edits));
        let words = strings::attack_shown(self.attack_title(attack));
        self.edit(variant, edits, None, words.clone());
        self.jump(self.show.head(Some(self.show.decided)));
        self.done(words);
    }

    /// A label is on a design: on another one it has to be pinned anew.
    pub(super) fn keep_label(&mut self) {
        let design = self.lesson.design(&self.edits);
        if self.trial.as_ref().is_some_and(|trial| trial.design != design) {
            self.trial = None;
        }
    }
}
