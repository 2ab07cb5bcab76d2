//! Before a class: the lesson beat by beat on a projector, and no prediction is passed without a vote
//! by show of hands. The counts stay in the page and are sent nowhere.

use super::show::Head;
use super::state::{Action, State, own_edits};
use super::strings;

/// The most hands that are counted for one answer.
const MOST: u32 = 9_999;

/// The hands for the answers of one question.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Tally {
    /// For each answer the hands of the first and of the second vote.
    pub hands: Vec<[u32; 2]>,
    /// The class has discussed and votes again.
    pub again: bool,
    /// The question was voted on or skipped, so playing goes on.
    pub over: bool,
}

/// What is done to a tally.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Count {
    /// This many hands for an answer.
    Set(usize, u32),
    /// After discussing, the second vote begins.
    Again,
    /// The question is done with.
    Over,
}

impl Tally {
    /// A tally for a question with that many answers.
    pub fn of(answers: usize) -> Tally {
        Tally { hands: vec![[0; 2]; answers], ..Tally::default() }
    }

    /// The tally after a change.
    pub fn take(&mut self, count: Count) {
        let round = usize::from(self.again);
        match count {
            Count::Set(answer, hands) => {
                if let Some(place) = self.hands.get_mut(answer).and_then(|h| h.get_mut(round)) {
                    *place = hands.min(MOST);
                }
            }
            Count::Again => self.again = true,
            Count::Over => self.over = true,
        }
    }

    /// All hands of a vote.
    pub fn all(&self, round: usize) -> u32 {
        self.hands.iter().filter_map(|h| h.get(round)).sum()
    }
}

impl State {
    /// Leaves the vote, and where there is none, the projector.
    pub(super) fn leave(&mut self) {
        if self.vote.take().is_none() {
            self.on_projector(false);
        }
    }

    /// The last question that hands were counted for and that the run has answered.
    pub fn voted(&self) -> Option<usize> {
        let counted = |i: usize| self.tallies.get(i).is_some_and(|t| t.all(0) > 0);
        (0..self.tallies.len()).rev().find(|i| counted(*i) && self.answered(*i))
    }

    pub(super) fn on_projector(&mut self, on: bool) {
        self.present = on;
        if on {
            // A class sees everything, and nothing that one reader had selected.
            self.look = super::look::Look::default();
        }
        self.vote = None;
        self.playing = false;
        self.jumps += 1;
    }

    /// Puts a question to the class where an action would pass it; whether it did.
    pub(super) fn asks_first(&mut self, action: &Action) -> bool {
        let target = match action {
            // Playing stops by itself at every question ahead, so only one that is here counts.
            Action::Play => self.head.event,
            Action::Step(size, true) => self.show.stepped(self.head, *size, true).event,
            Action::End => self.show.last(),
            _ => return false,
        };
        let playing = *action == Action::Play;
        let Some(question) = self.passed(self.head.event, target, playing) else { return false };
        self.put(question);
        true
    }

    /// The first question without an answer that a way from one event to another passes.
    fn passed(&self, from: Option<u32>, target: Option<u32>, arriving: bool) -> Option<usize> {
        let mut questions = self.show.questions.iter().enumerate();
        questions.find_map(|(i, question)| {
            let (asked, shown) = (*question)?;
            let open = self.said.get(i).is_some_and(Option::is_none)
                && self.tallies.get(i).is_some_and(|t| !t.over);
            let reached = if arriving { Some(asked) <= target } else { Some(asked) < target };
            (open && reached && from < Some(shown)).then_some(i)
        })
    }

    /// Shows a question to the class, at the moment that it is about.
    fn put(&mut self, question: usize) {
        let place = self.show.questions.get(question).copied().flatten();
        let Some((asked, shown)) = place else { return };
        // Where the run was changed for it, its answer may be on screen already.
        if self.head.event < Some(asked) || self.head.event >= Some(shown) {
            let head: Head = self.show.head(Some(asked));
            self.jump_and_say(head);
        }
        self.playing = false;
        self.vote = Some(question);
    }

    /// Playing has come to an event with a question.
    pub(super) fn ask_class(&mut self, event: u32) {
        if self.present {
            self.vote = self.passed(self.head.event, Some(event), true);
        }
    }

    pub(super) fn count(&mut self, count: Count) {
        let Some(tally) = self.vote.and_then(|v| self.tallies.get_mut(v)) else { return };
        tally.take(count);
        if tally.over {
            self.vote = None;
        }
    }

    /// The variant to put on screen for a beat, where it is another one: also where the words are true
    /// of the run on screen, because only their own run asks the questions that belong to them.
    fn run_for(&self, beat: usize) -> Option<usize> {
        let name = &self.lesson.beats.get(beat)?.variant;
        let variant = self.lesson.variants.iter().position(|v| v.name == *name)?;
        let untouched = own_edits(&self.lesson, self.variant) == self.edits;
        let other = untouched && self.variant != variant;
        (other || !self.show.story.contains(&beat)).then_some(variant)
    }

    /// Turns to the next or the previous beat, in whichever of the lesson's runs it happens.
    pub(super) fn turn_class(&mut self, forward: bool) {
        if self.vote.is_some() {
            if forward {
                self.count(Count::Over);
            }
            self.vote = None;
            return;
        }
        if self.turn_cards(forward) || self.turn_points(forward) {
            return;
        }
        let toward = self.toward.filter(|_| forward);
        let Some(beat) = toward.or_else(|| self.neighbour(forward)) else {
            let target = if forward { self.show.end() } else { Head::default() };
            let last = self.lesson.beats.len().checked_sub(1).filter(|_| forward);
            match self.passed(self.head.event, target.event, false).filter(|_| forward) {
                Some(question) => self.put(question),
                None => self.jump_and_say(target),
            }
            // Other parts of the story may happen later in this run; the last one stays the last.
            self.told = last.filter(|l| self.show.story.contains(l));
            return;
        };
        let mut from = self.head.event;
        if let Some(variant) = self.run_for(beat) {
            self.take_edit(Action::Variant(variant));
            // Nobody has seen anything of this run, wherever its head stands for the moment.
            from = None;
        }
        let event = self.show.beats.get(beat).and_then(|b| b.as_ref().ok().copied());
        match self.passed(from, event, false).filter(|_| forward) {
            Some(question) => {
                self.put(question);
                self.toward = Some(beat);
            }
            None => self.turn(beat),
        }
    }
}

impl State {
    /// Before a class the cards come after the last part of the story, one after the other; whether a
    /// turn was one of theirs.
    fn turn_cards(&mut self, forward: bool) -> bool {
        let (top, all) = (self.cards.top, self.lesson.cards.len());
        let next = if self.cards.sorting.is_some() && self.heard().is_none() {
            if forward { Some(top + 1) } else { top.checked_sub(1) }
        } else if forward && all > 0 && self.at_end() && self.neighbour(true).is_none() {
            Some(0)
        } else {
            return false;
        };
        match next.filter(|card| *card < all) {
            Some(card) => self.deal(card),
            None => self.settle_cards(&Action::Story),
        }
        true
    }

    /// The points of a debate come there too, after the cards.
    fn turn_points(&mut self, forward: bool) -> bool {
        let all = self.lesson.debate.len();
        let next = match self.heard() {
            Some((point, _, _)) if forward => Some(point + 1),
            Some((point, _, _)) => point.checked_sub(1),
            None if forward && all > 0 && self.at_end() && self.neighbour(true).is_none() => {
                Some(0)
            }
            None => return false,
        };
        match next.filter(|point| *point < all) {
            Some(point) => self.hear(point, 0),
            // After the last word nothing begins anew: its run goes to its end.
            None if forward => self.jump_and_say(self.show.end()),
            None => self.settle_cards(&Action::Story),
        }
        true
    }
}

/// The story as one learner reads it.
impl State {
    /// Goes on or back in the story. On the way, a question that was answered is decided by its run, and
    /// one that was not is asked.
    pub(super) fn turn_story(&mut self, forward: bool) {
        if forward && let Some(question) = self.looking() {
            // Whoever would rather read on than say what was seen is told.
            self.skip_look(question);
            return;
        }
        let decides = self.question().filter(|q| {
            forward && self.said.get(*q).is_some_and(Option::is_some) && !self.answered(*q)
        });
        let place = |state: &State, q: usize| state.show.questions.get(q).copied().flatten();
        let toward = self.toward.filter(|_| forward);
        let beat = toward.or_else(|| self.neighbour(forward));
        let event_of = |state: &State, beat: usize| {
            state.show.beats.get(beat).and_then(|b| b.as_ref().ok().copied())
        };
        // What this run tells before that comes before that.
        let here = beat.filter(|b| self.show.story.contains(b)).and_then(|b| event_of(self, b));
        let shown = decides.and_then(|q| place(self, q)).map(|p| p.1);
        if let Some(shown) = shown.filter(|s| here.is_none_or(|h| h > *s)) {
            self.jump_and_say(self.show.head(Some(shown)));
            self.toward = toward;
            return;
        }
        let before = self.head.event;
        let mut since = before;
        if let Some(name) = beat.and_then(|b| self.lesson.beats.get(b)).map(|b| b.variant.clone())
            && beat.is_some_and(|b| !self.show.story.contains(&b))
        {
            // Whoever changed the run keeps it: then the words say which run they are about.
            let untouched = own_edits(&self.lesson, self.variant) == self.edits;
            let variant = self.lesson.variants.iter().position(|v| v.name == name);
            if let Some(variant) = variant.filter(|_| untouched) {
                self.take_edit(Action::Variant(variant));
                since = None;
            }
        }
        let target = match beat {
            Some(beat) => event_of(self, beat),
            None if forward => self.show.last(),
            None => None,
        };
        // A question stands where its own part of the story comes; what was passed there is not asked
        // again where a later part returns to the same run.
        let told = |other: &usize| beat.is_some_and(|b| *other < b);
        let told = self.show.story.iter().filter(|b| told(b)).filter_map(|b| event_of(self, *b));
        let since = since.max(told.max());
        let asked = self.show.questions.iter().enumerate().find_map(|(i, place)| {
            let (asked, _) = (*place)?;
            let open = self.said.get(i).is_some_and(Option::is_none);
            (open && since < Some(asked) && Some(asked) < target).then_some(asked)
        });
        match (asked.filter(|_| forward && self.level.is_none()), beat) {
            (Some(asked), _) => {
                self.jump_and_say(self.show.head(Some(asked)));
                self.stopped = Some(strings::STOPPED_TO_ASK);
                self.toward = beat;
            }
            (None, Some(beat)) => self.turn(beat),
            (None, None) if forward => {
                let last = self.beat();
                self.jump_and_say(self.show.end());
                // Other parts of the story may happen later in this run; the last one stays the last.
                self.told = last.filter(|l| self.show.story.contains(l));
            }
            (None, None) => self.jump_and_say(Head::default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Count, Tally};

    #[test]
    fn hands_are_counted_twice() {
        let mut tally = Tally::of(2);
        for count in [
            Count::Set(0, 1),
            Count::Set(0, 11),
            Count::Set(1, 3),
            Count::Set(7, 1),
            Count::Again,
            Count::Set(1, 14),
        ] {
            tally.take(count);
        }
        assert_eq!(tally.hands, [[11, 0], [3, 14]]);
        assert_eq!([tally.all(0), tally.all(1)], [14, 14]);
        assert!(!tally.over);
        tally.take(Count::Over);
        assert!(tally.over);
    }
}
