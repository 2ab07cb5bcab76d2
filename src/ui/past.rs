//! Changing the run on screen, and taking that back.

use std::rc::Rc;

use super::show::{Head, Show};
use super::state::State;
use super::strings;
use crate::lesson::Level;
use crate::sim::Micros;

/// How many steps back the undo list goes.
pub const MOST_UNDO: usize = 50;

/// An earlier or undone state of the edits.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(super) level: Option<Level>,
    pub(super) variant: usize,
    pub(super) seed: u64,
    pub(super) edits: Vec<String>,
    pub(super) head: Head,
}

impl State {
    /// What undo needs to bring this back.
    pub(super) fn snapshot(&self) -> Snapshot {
        Snapshot {
            level: self.level,
            variant: self.variant,
            seed: self.lesson.scenario.seed,
            edits: self.edits.clone(),
            head: self.head,
        }
    }

    /// Runs other edits, if they can be read; the state before goes into the undo list.
    pub(super) fn edit(
        &mut self,
        variant: usize,
        edits: Vec<String>,
        at: Option<Micros>,
        words: String,
    ) {
        self.shown_solution = false;
        let before = self.snapshot();
        let width = self.show.picture.room;
        match Show::of(&self.lesson, variant, &edits, &self.written, width) {
            Ok(show) => {
                let head = match at {
                    Some(at) => show.head_at(at),
                    None => self.show.seen_in(&show, self.head),
                };
                self.show = Rc::new(show);
                self.variant = variant;
                self.edits = edits;
                self.jump(head);
                self.remember(before);
                self.wrong = None;
                self.done(words);
            }
            Err((index, words)) => {
                let text = edits.get(index).cloned().unwrap_or_default();
                self.playing = false;
                self.wrong = Some((text, words));
            }
        }
    }

    /// From here, undo leads to this.
    pub(super) fn remember(&mut self, before: Snapshot) {
        self.past.push(before);
        if self.past.len() > MOST_UNDO {
            self.past.remove(0);
        }
        self.future.clear();
        self.typed = None;
    }

    pub(super) fn undo(&mut self) {
        let Some(back) = self.past.pop() else { return };
        let now = self.snapshot();
        if self.restore(back, strings::UNDONE) {
            self.future.push(now);
        }
    }

    pub(super) fn redo(&mut self) {
        let Some(back) = self.future.pop() else { return };
        let now = self.snapshot();
        if self.restore(back, strings::REDONE) {
            self.past.push(now);
        }
    }

    /// Puts a run that was there before on screen again; whether that was possible.
    pub(super) fn restore(&mut self, back: Snapshot, words: &str) -> bool {
        self.shown_solution = false;
        let now = self.lesson.scenario.seed;
        self.set_seed(back.seed);
        let Snapshot { variant, edits, .. } = &back;
        let width = self.show.picture.room;
        match Show::of(&self.lesson, *variant, edits, &self.written, width) {
            Ok(show) => {
                self.variant = *variant;
                self.show = Rc::new(show);
                self.edits = back.edits;
                self.set_level(back.level);
                // What a browser kept may be of another edition, and of another length.
                let end = self.show.end();
                self.jump(if back.head.event <= end.event { back.head } else { end });
                self.wrong = None;
                self.typed = None;
                self.done(words.into());
                true
            }
            Err((index, words)) => {
                self.set_seed(now);
                self.playing = false;
                self.wrong = Some((edits.get(index).cloned().unwrap_or_default(), words));
                false
            }
        }
    }

    /// From now on the lesson runs with this seed.
    pub(super) fn set_seed(&mut self, seed: u64) {
        if self.lesson.scenario.seed != seed {
            Rc::make_mut(&mut self.lesson).scenario.seed = seed;
        }
    }
}
