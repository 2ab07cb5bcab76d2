//! A learner's work beyond the run on screen: branches, and what outlives the page.

use std::cell::RefCell;
use std::rc::Rc;

use super::kept::{Answer, Kept, Past, Solved, Undo};
use super::learn::Said;
use super::open::own_edits;
use super::past::Snapshot;
use super::show::{Head, simulated};
use super::state::{Action, State};
use super::strings;
use crate::lesson::{Card, Class, Lesson};
use crate::narrate::{self, Tone};
use crate::run::{Branch, Course};
use crate::sim::Table;

/// Verdicts of branches by their ids: each run is judged once.
pub type Verdicts = Rc<RefCell<Table<u64, Option<(Tone, String)>>>>;

/// What sort of action was taken, for what is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    /// A step of a number; with the flag, of the one that the last step was of.
    Nudges(bool),
    /// What another tab has is taken over.
    Hears,
    /// Any other.
    Other,
}

impl Sort {
    pub(super) fn of(action: &Action, before: &State) -> Sort {
        match action {
            Action::Nudge(number, _) => Sort::Nudges(before.nudged == Some(*number)),
            Action::TakeOver(_) => Sort::Hears,
            _ => Sort::Other,
        }
    }
}

impl State {
    /// All that determines the run on screen.
    pub fn course(&self) -> Course {
        self.course_of(self.variant, self.lesson.scenario.seed, &self.edits)
    }

    fn course_of(&self, variant: usize, seed: u64, edits: &[String]) -> Course {
        let name = self.lesson.variants.get(variant).map(|v| v.name.clone());
        Course {
            variant: name.unwrap_or_default(),
            seed: (seed != self.own_seed).then_some(seed),
            edits: edits.to_vec(),
        }
    }

    /// Notes what an action did to that which is kept. Each run that a learner makes is a branch from
    /// then on, and so is the run of the lesson that it was made from; those that the story turns to are
    /// the lesson's. The steps of one number are one. What another tab has written need not be written
    /// again.
    pub(super) fn keep_up(&mut self, before: &State, action: Sort) {
        if self.hold.is_some() {
            return;
        }
        let known = if action == Sort::Hears { self.kept.clone() } else { before.kept.clone() };
        let moved = self.variant != before.variant
            || self.lesson.scenario.seed != before.lesson.scenario.seed
            || self.edits != before.edits
            || before.hold.is_some();
        if moved {
            self.change_branch(before, action);
        }
        if self.decided() && self.kept.branches.get(self.branch).is_some_and(|b| !b.told) {
            let id = self.branch;
            self.keep_mut().branches.tell(id);
        }
        if action != Sort::Hears {
            self.keep_answers(before);
        }
        let undo = |s: &State| (s.past.len(), s.future.len());
        let undone = moved || undo(self) != undo(before);
        if undone || !Rc::ptr_eq(&self.kept, &known) {
            self.keeps += 1;
        }
        // An undo list is told from the one that this tab wrote before by its number, whatever else has changed.
        if undone {
            self.keep_mut().tick();
        }
    }

    fn keep_mut(&mut self) -> &mut Kept {
        Rc::make_mut(&mut self.kept)
    }

    fn change_branch(&mut self, before: &State, action: Sort) {
        let (course, head, left) = (self.course(), self.head, before.branch);
        let id = course.id();
        if id == left {
            return;
        }
        // Where a hand came from is where the learner was.
        let was = before.hold.as_ref().map_or(before.head, |h| h.before_head());
        let goes_on = action == Sort::Nudges(true);
        let step = self.fresh.filter(|fresh| goes_on && *fresh == left);
        let theirs = self.cards.sorting.is_some() || self.is_lessons(&course);
        let from = self.lessons_course(left).filter(|_| !theirs && before.cards.sorting.is_none());
        let told = before.decided();
        let branches = &mut self.keep_mut().branches;
        if from.is_some_and(|from| branches.visit(&from, was.event, was.at)) && told {
            branches.tell(left);
        }
        let unnamed = branches.get(left).is_some_and(|b| b.name.is_none());
        match step {
            Some(step) if unnamed => drop(branches.delete(step)),
            _ => branches.leave(left, was.event, was.at),
        }
        let new = !theirs && branches.visit(&course, head.event, head.at);
        self.fresh = (new && matches!(action, Sort::Nudges(_))).then_some(id);
        self.branch = id;
        self.deleted = None;
    }

    /// Whether a run is one of the lesson's, and nobody has made it.
    pub fn is_lessons(&self, course: &Course) -> bool {
        let variant = self.lesson.variants.iter().position(|v| v.name == course.variant);
        course.seed.is_none() && variant.is_some_and(|v| own_edits(&self.lesson, v) == course.edits)
    }

    /// The lesson's own run with this id.
    fn lessons_course(&self, id: u64) -> Option<Course> {
        let variants = 0..self.lesson.variants.len();
        let mut all =
            variants.map(|v| self.course_of(v, self.own_seed, &own_edits(&self.lesson, v)));
        all.find(|course| course.id() == id)
    }

    /// How many branches the learner has made.
    pub fn made(&self) -> usize {
        let list = self.kept.branches.list();
        list.iter().filter(|b| !self.is_lessons(&b.course)).count()
    }

    /// Whoever compares two runs is told how both end.
    pub(super) fn tell_compared(&mut self) {
        let Some(versus) = self.versus.clone() else { return };
        for side in versus.sides.iter().filter(|s| s.run.is_ok()) {
            let id = side.course.id();
            if self.kept.branches.get(id).is_some_and(|b| !b.told) {
                self.keep_mut().branches.tell(id);
            }
        }
    }

    fn keep_answers(&mut self, before: &State) {
        let (now, then) = (self.answers(), before.answers());
        for (answer, old) in now.into_iter().zip(then) {
            if answer != old {
                let kept = self.keep_mut();
                let changed = kept.tick();
                kept.answers.retain(|a| a.id != answer.id);
                kept.answers.push(Answer { changed, ..answer });
            }
        }
        let levels = self.lesson.tasks.iter().map(|t| t.level).zip(self.solved.clone());
        for (index, (level, yes)) in levels.collect::<Vec<_>>().into_iter().enumerate() {
            if before.solved.get(index) != Some(&yes) {
                let kept = self.keep_mut();
                let changed = kept.tick();
                kept.solved.retain(|s| s.level != level);
                kept.solved.push(Solved { level, yes, changed });
            }
        }
    }

    /// What was said to each prediction and of each card.
    fn answers(&self) -> Vec<Answer> {
        let predictions = self.lesson.predictions.iter().enumerate().map(|(i, p)| Answer {
            id: p.id.clone(),
            said: self.said.get(i).cloned().flatten(),
            looked: self.looked.get(i).copied().flatten(),
            changed: 0,
        });
        let cards = self.lesson.cards.iter().enumerate().map(|(i, card)| {
            let tray = self.cards.said.get(i).copied().flatten();
            let place = tray.and_then(|tray| Class::ALL.iter().position(|c| *c == tray));
            let said = place.map(|answer| Said { answer, sure: 0, why: String::new() });
            Answer { id: card_id(card), said, looked: None, changed: 0 }
        });
        predictions.chain(cards).collect()
    }

    /// Takes over what was kept when the lesson was open before; `tabs` are the numbers
    /// that this tab has had.
    #[must_use]
    pub fn recall(mut self, kept: Kept, tabs: &[u64]) -> State {
        let course = self.course();
        let undo = kept.undo_for(tabs, course.id()).cloned();
        self.kept = Rc::new(kept);
        self.take_answers();
        self.visit(&course);
        if let Some(undo) = undo {
            let back = |list: &[Past]| list.iter().filter_map(|p| self.snapshot_of(p)).collect();
            (self.past, self.future) = (back(&undo.past), back(&undo.future));
        }
        self
    }

    fn take_answers(&mut self) {
        let kept = self.kept.clone();
        for (index, prediction) in self.lesson.predictions.iter().enumerate() {
            let Some(answer) = kept.answers.iter().find(|a| a.id == prediction.id) else {
                continue;
            };
            let known = |said: &Said| said.answer < prediction.answers.len();
            if let Some(place) = self.said.get_mut(index) {
                *place = answer.said.clone().filter(known);
            }
            if let Some(place) = self.looked.get_mut(index) {
                *place = answer.looked;
            }
        }
        for (index, card) in self.lesson.cards.iter().enumerate() {
            let id = card_id(card);
            let Some(answer) = kept.answers.iter().find(|a| a.id == id) else { continue };
            if let Some(place) = self.cards.said.get_mut(index) {
                *place = answer.said.as_ref().and_then(|s| Class::ALL.get(s.answer).copied());
            }
        }
        for (index, task) in self.lesson.tasks.iter().enumerate() {
            let solved = kept.solved.iter().find(|s| s.level == task.level);
            if let (Some(place), Some(solved)) = (self.solved.get_mut(index), solved) {
                *place = solved.yes;
            }
        }
    }

    fn snapshot_of(&self, past: &Past) -> Option<Snapshot> {
        let course = &past.course;
        let variant = self.lesson.variants.iter().position(|v| v.name == course.variant)?;
        Some(Snapshot {
            level: past.level.filter(|l| self.lesson.task(*l).is_some()),
            variant,
            seed: course.seed.unwrap_or(self.own_seed),
            edits: course.edits.clone(),
            head: Head { event: past.event, at: past.at },
        })
    }

    /// What is to be kept, with what this tab can undo.
    pub fn to_keep(&self, tab: u64) -> Kept {
        let past = |s: &Snapshot| Past {
            level: s.level,
            course: self.course_of(s.variant, s.seed, &s.edits),
            event: s.head.event,
            at: s.head.at,
        };
        let mut kept = (*self.kept).clone();
        let changed = kept.tick();
        kept.keep_undo(Undo {
            tab,
            now: self.branch,
            past: self.past.iter().map(past).collect(),
            future: self.future.iter().map(past).collect(),
            changed,
        });
        kept
    }

    /// Another tab, or a file, has more.
    fn take_over(&mut self, other: &Kept) {
        let mut all = (*self.kept).clone();
        if !all.merge(other) {
            return;
        }
        // If they have less, they may have written over what this one wrote: it writes again.
        self.keeps += u32::from(all.has_more_than(other));
        self.kept = Rc::new(all);
        self.take_answers();
        // What is on screen is a branch, whatever others did.
        self.visit(&self.course());
    }

    /// The run on screen is a branch, if it is not the lesson's.
    fn visit(&mut self, course: &Course) {
        let Head { event, at } = self.head;
        if !self.is_lessons(course) {
            self.keep_mut().branches.visit(course, event, at);
        }
    }

    /// Everything about branches, and what is kept.
    pub(super) fn take_work(&mut self, action: Action) {
        match action {
            Action::Branch(id) => self.open_branch(id),
            Action::Rename(id, name) => {
                self.keep_mut().branches.rename(id, &name);
                let called = self.kept.branches.get(id).map(|b| self.name_of(b));
                self.done(called.map_or_else(String::new, |n| strings::renamed(&n)));
            }
            // What is on screen stays where it is.
            Action::Delete(id) if id != self.branch => {
                if let Some(branch) = self.keep_mut().branches.delete(id) {
                    self.done(strings::deleted(&self.name_of(&branch)));
                    self.deleted = Some(branch);
                }
            }
            Action::Revive => {
                if let Some(branch) = self.deleted.take() {
                    self.done(strings::revived(&self.name_of(&branch)));
                    self.keep_mut().branches.revive(branch);
                }
            }
            Action::TakeOver(kept) => self.take_over(&kept),
            Action::Side(side) => self.open_side(side),
            Action::Forget => {
                self.said.iter_mut().for_each(|s| *s = None);
                self.looked.iter_mut().for_each(|l| *l = None);
                self.cards.said.iter_mut().for_each(|c| *c = None);
                self.solved.iter_mut().for_each(|s| *s = false);
                self.done(strings::FORGOTTEN.into());
            }
            _ => {}
        }
    }

    /// Puts a branch on screen where it was left; undo leads back.
    fn open_branch(&mut self, id: u64) {
        let Some(branch) = self.kept.branches.get(id).cloned() else { return };
        let name = self.name_of(&branch);
        self.open_course(name, branch.course, Head { event: branch.event, at: branch.at });
    }

    /// Puts one of two compared runs on screen, where they part.
    fn open_side(&mut self, side: usize) {
        let Some(versus) = self.versus.take() else { return };
        let Some(chosen) = versus.sides.get(side) else { return };
        let head = versus.head(side);
        if chosen.course == self.course() {
            return self.jump_and_say(head);
        }
        self.open_course(chosen.name.clone(), chosen.course.clone(), head);
    }

    fn open_course(&mut self, name: String, course: Course, head: Head) {
        self.unopened = None;
        let past = Past { level: self.level, course, event: head.event, at: head.at };
        let Some(to) = self.snapshot_of(&past) else {
            return self.cannot_open(&name, strings::NO_SUCH_RUN);
        };
        let before = (self.snapshot(), self.wrong.take());
        if self.restore(to, &strings::branch_opened(&name)) {
            return self.remember(before.0);
        }
        // It is the branch that cannot be read, and nothing that was typed.
        let why = std::mem::replace(&mut self.wrong, before.1);
        let why = why.map_or_else(String::new, |(edit, why)| format!("{edit}: {why}"));
        self.cannot_open(&name, &why);
    }

    fn cannot_open(&mut self, name: &str, why: &str) {
        let words = strings::not_opened(name, why);
        self.done(words.clone());
        self.unopened = Some(words);
    }

    /// What a branch is called: by its name, or by what is done to which of the lesson's runs.
    pub fn name_of(&self, branch: &Branch) -> String {
        branch.name.clone().unwrap_or_else(|| name_of(&self.lesson, &branch.course))
    }

    /// The verdict on a branch, if the learner has seen it and it can still run.
    pub fn verdict_of(&self, branch: &Branch) -> Option<(Tone, String)> {
        if !branch.told {
            return None;
        }
        if branch.id == self.branch {
            return Some((self.show.headline.tone, self.show.headline.word.clone()));
        }
        if let Some(known) = self.verdicts.borrow().get(&branch.id) {
            return known.clone();
        }
        let run = self.run_of(&branch.course).ok();
        let said = run.map(|run| narrate::headline(&run)).map(|h| (h.tone, h.word));
        self.verdicts.borrow_mut().insert(branch.id, said.clone());
        said
    }

    /// Runs a course of this lesson.
    ///
    /// # Errors
    /// Why it cannot be run.
    pub fn run_of(&self, course: &Course) -> Result<crate::run::Run, String> {
        let variant = self.lesson.variants.iter().position(|v| v.name == course.variant);
        let variant = variant.ok_or(strings::NO_SUCH_RUN)?;
        let seed = course.seed.unwrap_or(self.own_seed);
        let mut lesson = self.lesson.clone();
        if lesson.scenario.seed != seed {
            Rc::make_mut(&mut lesson).scenario.seed = seed;
        }
        simulated(&lesson, variant, &course.edits).map_err(|e| e.1)
    }
}

/// What a course is called that has no name: `A long pause, with: set resource.check token`.
pub fn name_of(lesson: &Lesson, course: &Course) -> String {
    let Some(variant) = lesson.variants.iter().position(|v| v.name == course.variant) else {
        return course.variant.clone();
    };
    let title = lesson.variants.get(variant).map_or("", |v| v.title.as_str());
    let own = own_edits(lesson, variant);
    // The same edit twice is one more than the lesson's.
    let mut missing: Vec<&str> = own.iter().map(String::as_str).collect();
    let mut more: Vec<&str> = Vec::new();
    for edit in &course.edits {
        match missing.iter().position(|own| own == edit) {
            Some(place) => drop(missing.remove(place)),
            None => more.push(edit),
        }
    }
    strings::branch_name(title, &more, &missing, course.edits.is_empty(), course.seed)
}

/// Under which id it is kept what was said of a card; no prediction has a space in its id.
fn card_id(card: &Card) -> String {
    format!("card {}", card.variant.text)
}
