//! How a learner gets about in a run: playing, stepping, jumping, turning to a piece of the story.

use super::show::{Head, Size};
use super::state::State;
use super::strings;
use super::voice::Wish;
use crate::run::kind;

impl State {
    pub(super) fn play(&mut self) {
        if self.head.event == self.show.last() {
            self.jump(Head::default());
        }
        self.turned = None;
        self.told = None;
        self.stopped = None;
        self.playing = true;
    }

    pub(super) fn reach(&mut self, event: u32) {
        let passed = self.head.event.map_or(0, |e| e + 1)..=event;
        self.head = self.show.head(Some(event));
        // Many events can happen between two frames; the last one that decides something is told.
        if let Some(event) = passed.rev().find(|e| self.decides(*e)) {
            let kind = self.show.run.record.events.get(event as usize).map_or("", kind::kind);
            let words = self.event_told(event).unwrap_or_default();
            self.say(Wish::Passed { kind, words });
        }
        if Some(event) == self.show.last() {
            self.head = self.show.end();
            self.playing = false;
            self.jumps += 1;
            let verdict = &self.show.headline;
            let words = match self.look.eyes {
                // Nobody in a run is told how it ended.
                Some(_) => strings::NOTHING_MORE_SEEN.into(),
                None => format!("{} {}", verdict.word, verdict.rest),
            };
            self.say(Wish::Passed { kind: "end", words });
        }
    }

    /// Playing came to a beat or a question: it stops there, and says why.
    pub(super) fn arrive(&mut self, event: u32) {
        self.reach(event);
        self.playing = false;
        self.jumps += 1;
        if self.looking().is_some() {
            // The title of the story would answer it.
            self.stopped = Some(strings::STOPPED_TO_LOOK);
            let words = strings::STOPPED_TO_LOOK.to_string();
            return self.say(Wish::Passed { kind: "stop", words });
        }
        let asked = self.show.questions.iter().flatten().any(|q| q.0 == event);
        let why = if asked { strings::STOPPED_TO_ASK } else { strings::STOPPED_TO_TELL };
        self.stopped = Some(why);
        let beat = self.beat().and_then(|i| self.lesson.beats.get(i));
        let title = beat.map_or("", |b| b.title.as_str());
        self.say(Wish::Passed { kind: "stop", words: format!("{why} {title}") });
        if asked {
            self.ask_class(event);
        }
    }

    fn decides(&self, event: u32) -> bool {
        self.show.decisions.binary_search(&event).is_ok() && self.sees(event)
    }

    pub(super) fn jump(&mut self, head: Head) {
        self.head = head;
        self.stopped = None;
        self.toward = None;
        self.turned = None;
        self.told = None;
        self.look.chosen = None;
        self.playing = false;
        self.jumps += 1;
    }

    /// Goes to an event and selects it.
    pub(super) fn go_to(&mut self, event: Option<u32>) {
        self.jump_and_say(self.show.head(event));
        self.look.chosen = event;
    }

    /// A step: to what happens next, or to what the node whose eyes these are sees next.
    pub(super) fn step(&mut self, size: Size, forward: bool) {
        let head = self.stepped_with_eyes(forward);
        let head = head.unwrap_or_else(|| self.show.stepped(self.head, size, forward));
        self.jump_and_say(head);
    }

    pub(super) fn jump_and_say(&mut self, head: Head) {
        self.jump(head);
        self.say(match head.event {
            Some(event) => Wish::Step {
                words: self.event_told(event).unwrap_or_default(),
                decision: self.decides(event),
            },
            None => Wish::Step { words: strings::AT_START.into(), decision: true },
        });
    }

    pub(super) fn turn(&mut self, beat: usize) {
        let here = self.show.story.contains(&beat);
        match self.show.beats.get(beat) {
            Some(Ok(event)) if here => {
                self.jump_and_say(self.show.head(Some(*event)));
                self.told = Some(beat);
            }
            Some(_) => {
                self.playing = false;
                self.turned = Some(beat);
            }
            None => {}
        }
    }

    pub(super) fn say(&mut self, wish: Wish) {
        self.spoken = (self.spoken.0 + 1, wish);
    }

    /// Says that something has been done.
    pub(super) fn done(&mut self, words: String) {
        self.say(Wish::Done(words));
    }
}
