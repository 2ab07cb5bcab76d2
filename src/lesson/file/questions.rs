//! Defences, predictions, recall and cards in the front matter.

use super::front::{Reader, Value};
use crate::lesson::misconception::{MISCONCEPTIONS, misconception};
use crate::lesson::model::{Answer, BASE, Card, Class, Defence, Predict, Recall};

/// How many cards a lesson may have: more than these, nobody sorts.
pub const MOST_CARDS: usize = 16;

impl Reader<'_, '_> {
    pub(super) fn defences(&mut self, value: &Value<'_>) -> Option<Vec<Defence>> {
        self.list(value, "tables `[[defence]]`", |reader, value| {
            let mut f = reader.table(value, "this defence")?;
            let title = reader.need(&mut f, "title", Self::words);
            let edit = reader.need(&mut f, "edit", Self::line);
            reader.rest(f);
            Some(Defence { title: title?, edit: edit? })
        })
    }

    pub(super) fn predictions(&mut self, value: &Value<'_>) -> Option<Vec<Predict>> {
        self.list(value, "tables `[[predict]]`", |reader, value| {
            let mut f = reader.table(value, "this prediction")?;
            let id = reader.need(&mut f, "id", Self::id);
            let question = reader.need(&mut f, "question", Self::words);
            let at = reader.need(&mut f, "at", Self::line);
            let variant = reader.want(&mut f, "variant", Self::id);
            let answers = reader.need(&mut f, "answers", Self::answers);
            let shown = reader.need(&mut f, "shown", Self::line);
            let look = reader.want(&mut f, "look", Self::truth).unwrap_or_default();
            let why = reader.need(&mut f, "why", Self::words);
            reader.rest(f);
            Some(Predict {
                id: id?,
                question: question?,
                at: at?,
                variant: variant.unwrap_or_else(|| BASE.into()),
                answers: answers?,
                shown: shown?,
                look,
                why: why?,
            })
        })
    }

    fn answers(&mut self, value: &Value<'_>) -> Option<Vec<Answer>> {
        let answers = self.list(value, "a list of answers", |reader, value| {
            let mut f = reader.table(value, "this answer")?;
            let text = reader.need(&mut f, "text", Self::words);
            let when = reader.need(&mut f, "when", Self::line);
            let misconception = reader.want(&mut f, "misconception", Self::misconception);
            reader.rest(f);
            Some(Answer { text: text?, when: when?, misconception })
        })?;
        if !(2..=4).contains(&answers.len()) {
            let message = format!("found {} answers, expected 2 to 4", answers.len());
            self.wrong(value.span().start, message);
        }
        Some(answers)
    }

    fn misconception(&mut self, value: &Value<'_>) -> Option<String> {
        let text = self.words(value)?;
        if misconception(&text).is_some() {
            return Some(text);
        }
        let last = MISCONCEPTIONS.len();
        self.unexpected(value, &format!("a misconception from \"M1\" to \"M{last}\""));
        None
    }

    pub(super) fn recalls(&mut self, value: &Value<'_>) -> Option<Vec<Recall>> {
        self.list(value, "tables `[[recall]]`", |reader, value| {
            let mut f = reader.table(value, "this recall item")?;
            let question = reader.need(&mut f, "question", Self::words);
            let answer = reader.need(&mut f, "answer", Self::words);
            let from = reader.want(&mut f, "from", Self::id);
            reader.rest(f);
            Some(Recall { question: question?, answer: answer?, from })
        })
    }

    pub(super) fn cards(&mut self, value: &Value<'_>) -> Option<Vec<Card>> {
        let cards = self.list(value, "tables `[[card]]`", Self::card)?;
        if cards.len() > MOST_CARDS {
            let message = format!("found {} cards, expected at most {MOST_CARDS}", cards.len());
            self.wrong(value.span().start, message);
        }
        for tray in Class::ALL {
            if !cards.iter().any(|c| c.tray == tray) {
                let message = format!("found no card for the tray `{}`", tray.word());
                self.wrong(value.span().start, format!("{message}, expected one for each"));
            }
        }
        Some(cards)
    }

    fn card(&mut self, value: &Value<'_>) -> Option<Card> {
        let mut f = self.table(value, "this card")?;
        let text = self.need(&mut f, "text", Self::words);
        let tray = self.need(&mut f, "tray", Self::class);
        let variant = self.need(&mut f, "variant", Self::line);
        let misconception = self.need(&mut f, "misconception", Self::misconception);
        let why = self.need(&mut f, "why", Self::words);
        self.rest(f);
        Some(Card {
            text: text?,
            tray: tray?,
            variant: variant?,
            misconception: misconception?,
            why: why?,
        })
    }
}
