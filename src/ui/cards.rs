//! Sorting a lesson's cards: said by the learner, decided by the run of each card.

use std::rc::Rc;

use super::open::own_edits;
use super::past::Snapshot;
use super::state::{Action, State};
use super::strings;
use crate::lesson::{Card, Class, misconception};

/// How far the sorting has come.
#[derive(Clone, Debug)]
pub struct Cards {
    /// The card on top.
    pub top: usize,
    /// What was said of each card.
    pub said: Vec<Option<Class>>,
    /// While cards are being sorted: where the story waits.
    pub sorting: Option<Rc<Snapshot>>,
}

impl Cards {
    /// None of so many is sorted.
    pub fn of(count: usize) -> Cards {
        Cards { top: 0, said: vec![None; count], sorting: None }
    }

    /// Whether all are sorted.
    pub fn done(&self) -> bool {
        self.said.iter().all(Option::is_some)
    }
}

impl State {
    /// The card on top, and what was said of it.
    pub fn card(&self) -> Option<(&Card, Option<Class>)> {
        let top = self.cards.top;
        Some((self.lesson.cards.get(top)?, self.cards.said.get(top).copied().flatten()))
    }

    /// What a card is called.
    pub fn card_title(&self, card: usize) -> &str {
        let variant = self.lesson.cards.get(card).map_or("", |c| c.variant.text.as_str());
        self.lesson.variant(variant).map_or("", |v| v.title.as_str())
    }

    /// The cards that were put into this tray, by their index.
    pub fn tray(&self, tray: Class) -> Vec<usize> {
        let said = self.cards.said.iter().enumerate();
        said.filter(|(_, s)| **s == Some(tray)).map(|(i, _)| i).collect()
    }

    /// Whether the run of a card agrees with what was said of it; `check` has compared run and tray.
    pub fn agrees(&self, card: usize) -> bool {
        let tray = self.lesson.cards.get(card).map(|c| c.tray);
        tray.is_some() && self.cards.said.get(card).copied().flatten() == tray
    }

    /// Where the runs say otherwise: what makes one say it, with the names of the cards.
    pub fn stumbled(&self) -> Vec<(&'static str, String)> {
        let mut found: Vec<(&'static str, String)> = Vec::new();
        for (index, card) in self.lesson.cards.iter().enumerate() {
            let said = self.cards.said.get(index).copied().flatten();
            let Some(belief) = misconception(&card.misconception) else { continue };
            if said.is_none() || self.agrees(index) {
                continue;
            }
            let title = self.card_title(index);
            match found.iter_mut().find(|f| f.0 == belief) {
                Some((_, titles)) => *titles = format!("{titles}, {title}"),
                None => found.push((belief, title.to_string())),
            }
        }
        found
    }

    /// Takes up a card, and puts its run on screen if it is sorted.
    pub(super) fn deal(&mut self, card: usize) {
        if card >= self.lesson.cards.len() {
            return;
        }
        self.cards.top = card;
        self.hearing.at = None;
        self.begin_sorting();
        match self.cards.said.get(card).copied().flatten() {
            Some(_) => self.show_card(card),
            None => self.done(strings::card_of(card + 1, self.lesson.cards.len())),
        }
    }

    /// Puts the card on top into a tray, and shows what its run makes of it.
    pub(super) fn sort_card(&mut self, tray: Class) {
        let top = self.cards.top;
        let Some(place) = self.cards.said.get_mut(top) else { return };
        *place = Some(tray);
        self.begin_sorting();
        self.show_card(top);
    }

    pub(super) fn begin_sorting(&mut self) {
        if self.cards.sorting.is_none() {
            self.cards.sorting = Some(Rc::new(self.snapshot()));
        }
    }

    /// What is done to the run, or to the words, ends the sorting; the story goes on where it stood.
    pub(super) fn settle_cards(&mut self, action: &Action) {
        match action {
            Action::Story | Action::Next(_) | Action::Present => {
                let Some(back) = self.cards.sorting.take() else { return };
                if self.variant != back.variant || self.edits != back.edits {
                    self.edit(back.variant, back.edits.clone(), None, String::new());
                }
                self.jump(back.head);
                self.done(strings::BACK_TO_STORY.into());
            }
            Action::Beat(_) | Action::Variant(_) | Action::Level(_) | Action::Follow(_) => {
                self.cards.sorting = None;
            }
            _ => {}
        }
    }

    /// The end of a card's run, where all that it says has happened.
    fn show_card(&mut self, card: usize) {
        let lesson = self.lesson.clone();
        let Some(found) = lesson.cards.get(card) else { return };
        let name = &found.variant.text;
        let Some(variant) = lesson.variants.iter().position(|v| v.name == *name) else { return };
        let said = self.cards.said.get(card).copied().flatten();
        let words = said.map_or_else(String::new, |said| strings::sorted(said, found.tray));
        let edits = own_edits(&lesson, variant);
        if self.variant != variant || self.edits != edits {
            self.edit(variant, edits, None, words.clone());
        }
        self.jump(self.show.end());
        self.done(words);
    }
}
