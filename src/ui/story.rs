//! Where the learner is in the story: beats, questions, whether the verdict may be told.

use super::state::State;
use crate::lesson::{Variant, anchor};

impl State {
    /// The beat whose words are shown: the last one that has happened.
    pub fn beat(&self) -> Option<usize> {
        let event = self.head.event;
        let happened = |i: &&usize| match self.show.beats.get(**i) {
            Some(Ok(at)) => Some(*at) <= event,
            _ => false,
        };
        self.turned
            .or_else(|| self.linked())
            .or(self.told)
            .or_else(|| self.show.story.iter().rev().find(happened).copied())
    }

    /// Whether the head stands at the very event that the words on screen are about.
    pub fn stands_at_beat(&self) -> bool {
        let of_beat = || self.show.beats.get(self.beat()?)?.as_ref().ok().copied();
        // The words of a run that a link led to are about where it says itself that there is to look.
        let there = |variant: &Variant| anchor(&self.show.run, &variant.at.as_ref()?.text).ok();
        let event = self.followed().and_then(there).map(|event| event.0).or_else(of_beat);
        self.strayed().is_none() && event.is_some() && event == self.head.event
    }

    /// Whether the run has gone a way that the story does not tell: then the variant that it left.
    pub fn strayed(&self) -> Option<usize> {
        let told = self.turned.is_some() || self.linked().is_some();
        let (event, variant) = self.show.leaves.filter(|_| !told)?;
        (Some(event) <= self.head.event).then_some(variant)
    }

    /// Whether it is the story that the learner reads: no task, no cards, no question whose answer is
    /// on screen, no run that nobody has told, and not the eyes of one node.
    pub fn tells_story(&self) -> bool {
        self.level.is_none()
            && self.cards.sorting.is_none()
            && self.looking().is_none()
            && self.toward.is_none()
            && self.strayed().is_none()
            && self.look.eyes.is_none()
    }

    /// Whether nothing is left to happen.
    pub fn at_end(&self) -> bool {
        self.head.event.is_some() && self.head.event == self.show.last()
    }

    /// The neighbouring beat in the order of the lesson.
    pub fn neighbour(&self, forward: bool) -> Option<usize> {
        let story = &self.show.story;
        match (self.beat(), forward) {
            (Some(beat), false) if self.strayed().is_some() => Some(beat),
            (None, true) => story.first().copied().or(Some(0)),
            (None, false) => None,
            (Some(beat), true) => Some(beat + 1),
            (Some(beat), false) => beat.checked_sub(1),
        }
        .filter(|i| *i < self.lesson.beats.len())
    }

    /// The question at the head: asked, and either answered by the learner, or neither by the run nor
    /// by what the story has told since.
    pub fn question(&self) -> Option<usize> {
        // Whoever sorts cards is not asked by the story.
        let event = self.head.event.filter(|_| self.cards.sorting.is_none())?;
        let asked = |q: &Option<(u32, u32)>| q.is_some_and(|q| q.0 <= event);
        let last = self.show.questions.iter().rposition(asked)?;
        let (asked, shown) = self.show.questions.get(last).copied().flatten()?;
        let stays = match self.said.get(last).is_some_and(Option::is_some) {
            // What was answered stays as long as the story speaks of it.
            true => self.must_look(last) || !self.told_since(shown),
            false => !self.answered(last) && !self.told_since(asked),
        };
        stays.then_some(last)
    }

    /// Whether the story went on after an event.
    fn told_since(&self, event: u32) -> bool {
        let told = |beat: &usize| match self.show.beats.get(*beat) {
            Some(Ok(at)) => *at > event && Some(*at) <= self.head.event,
            _ => false,
        };
        self.show.story.iter().any(told)
    }

    /// Whether the run on screen has shown the answer of a question.
    pub fn answered(&self, question: usize) -> bool {
        let place = self.show.questions.get(question).copied().flatten();
        place.is_some_and(|(_, shown)| Some(shown) <= self.head.event)
    }

    /// Whether the verdict gives nothing away any more.
    pub fn decided(&self) -> bool {
        self.looking().is_none() && self.head.event.is_some_and(|e| e >= self.show.decided)
    }
}
