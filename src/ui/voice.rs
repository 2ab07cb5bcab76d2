//! What a screen reader is told, and when: the one queue before the page's one polite region.
//!
//! It is plain: time comes in with each call, in milliseconds.

use super::settings::Telling;

/// The least time between two things that are told while time passes.
pub const PACE: u64 = 1500;
/// How long the play head must stand still before it is told where.
pub const STILL: u64 = 500;

/// Something that may be worth telling.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wish {
    /// The learner went to an event.
    Step {
        /// Its sentence.
        words: String,
        /// It decides something.
        decision: bool,
    },
    /// Playing passed something that decides, or stopped.
    Passed {
        /// What kind of thing: the newest of a kind takes the place of one that waits.
        kind: &'static str,
        /// Its sentence.
        words: String,
    },
    /// The play head is being moved.
    Moving,
    /// Something that the learner did has been done.
    Done(String),
}

/// What is told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Saying {
    /// These words.
    Words(String),
    /// How things stand, which is put in words when it is told.
    Summary,
}

/// The queue.
#[derive(Clone, Default, Debug)]
pub struct Voice {
    /// To be told at once.
    now: Option<String>,
    waiting: Vec<(&'static str, String)>,
    still: Option<u64>,
    last: Option<u64>,
}

impl Voice {
    /// Takes a wish.
    pub fn wish(&mut self, now: u64, telling: Telling, wish: Wish) {
        // What waits is about a place that a learner has left.
        if !matches!(wish, Wish::Passed { .. }) {
            self.waiting.clear();
            self.still = None;
            self.now = None;
        }
        match wish {
            _ if telling == Telling::Off => {}
            Wish::Step { decision: false, .. } if telling == Telling::Decisions => {}
            Wish::Step { words, .. } | Wish::Done(words) => self.now = Some(words),
            Wish::Moving => self.still = Some(now + STILL),
            Wish::Passed { kind, words } => match self.waiting.iter_mut().find(|w| w.0 == kind) {
                Some(waits) => waits.1 = words,
                None => self.waiting.push((kind, words)),
            },
        }
    }

    /// What is told at this moment; asked until there is nothing more.
    pub fn due(&mut self, now: u64) -> Option<Saying> {
        if let Some(words) = self.now.take() {
            self.last = Some(now);
            return Some(Saying::Words(words));
        }
        if self.still.is_some_and(|at| at <= now) {
            (self.still, self.last) = (None, Some(now));
            return Some(Saying::Summary);
        }
        if self.waiting.is_empty() || self.free() > now {
            return None;
        }
        self.last = Some(now);
        Some(Saying::Words(self.waiting.remove(0).1))
    }

    /// When to ask again.
    pub fn next(&self) -> Option<u64> {
        let free = (!self.waiting.is_empty()).then(|| self.free());
        self.still.into_iter().chain(free).min()
    }

    fn free(&self) -> u64 {
        self.last.map_or(0, |last| last + PACE)
    }
}

#[cfg(test)]
mod tests {
    use super::{Saying, Voice, Wish};
    use crate::ui::settings::Telling;

    fn passed(kind: &'static str, words: &str) -> Wish {
        Wish::Passed { kind, words: words.into() }
    }

    fn step(words: &str, decision: bool) -> Wish {
        Wish::Step { words: words.into(), decision }
    }

    /// What is said when, given what happens when; asked as rarely as a page asks.
    fn told(telling: Telling, script: &[(u64, Wish)]) -> Vec<String> {
        let mut voice = Voice::default();
        let mut said = Vec::new();
        let mut turn = |voice: &mut Voice, at: u64| {
            while let Some(saying) = voice.due(at) {
                said.push(match saying {
                    Saying::Words(words) => format!("{at} {words}"),
                    Saying::Summary => format!("{at} (summary)"),
                });
            }
        };
        for (at, wish) in script {
            while let Some(next) = voice.next().filter(|next| next < at) {
                turn(&mut voice, next);
            }
            voice.wish(*at, telling, wish.clone());
            turn(&mut voice, *at);
        }
        while let Some(next) = voice.next() {
            turn(&mut voice, next);
        }
        said
    }

    #[test]
    fn a_step_is_told_once_and_at_once() {
        let script = [(0, step("a", false)), (10, step("b", true)), (20, step("b", true))];
        assert_eq!(told(Telling::Events, &script), ["0 a", "10 b", "20 b"]);
    }

    #[test]
    fn while_it_plays_the_newest_of_each_kind_is_told_and_one_in_a_second_and_a_half() {
        let script = [
            (100, passed("grant", "grant 41")),
            (200, passed("expire", "41 expires")),
            (300, passed("grant", "grant 42")),
            (400, passed("accept", "first write")),
            (900, passed("grant", "grant 43")),
            (4000, passed("accept", "second write")),
        ];
        let said = told(Telling::Events, &script);
        assert_eq!(
            said,
            ["100 grant 41", "1600 41 expires", "3100 grant 43", "4600 second write"],
            "the first write waited when the second one came"
        );
    }

    #[test]
    fn a_step_makes_what_waits_untold() {
        let script = [
            (0, passed("grant", "grant 41")),
            (100, passed("expire", "41 expires")),
            (200, step("back", false)),
        ];
        assert_eq!(told(Telling::Events, &script), ["0 grant 41", "200 back"]);
    }

    #[test]
    fn moving_is_silent_until_it_has_been_still_for_half_a_second() {
        let script = [(0, Wish::Moving), (300, Wish::Moving), (700, Wish::Moving)];
        assert_eq!(told(Telling::Events, &script), ["1200 (summary)"]);
        let script = [(0, Wish::Moving), (300, step("there", false))];
        assert_eq!(told(Telling::Events, &script), ["300 there"]);
    }

    #[test]
    fn the_reader_chooses_how_much_is_told() {
        let script = [
            (0, step("small", false)),
            (10, step("large", true)),
            (20, Wish::Done("paused".into())),
            (5000, Wish::Moving),
        ];
        assert!(told(Telling::Off, &script).is_empty());
        assert_eq!(told(Telling::Decisions, &script), ["10 large", "20 paused", "5500 (summary)"]);
        assert_eq!(told(Telling::Events, &script).len(), 4);
    }
}
