//! What the learner does beside watching: tasks, predictions, a look at the resource.

use super::show::simulated;
use super::state::{State, own_edits};
use super::strings;
use super::voice::Wish;
use crate::judge::Finding;
use crate::lesson::{Claim, Lesson, Level, Line, Task, Variant, anchor};
use crate::run::{Action as Deed, Edit, NodeKind, Run};
use crate::sim::Micros;

/// How far apart tokens sent by hand are, so that each has room in the picture.
const APART: Micros = Micros::from_secs(1);

/// The first moment at which a token is sent by hand.
const EARLIEST: Micros = Micros::from_millis(10);

/// What a learner said to a prediction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Said {
    /// The index of the answer.
    pub answer: usize,
    /// How sure, in per cent.
    pub sure: u32,
    /// Why, in the learner's own words; it may be empty.
    pub why: String,
}

/// What became of a late write at the resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen {
    /// It was accepted.
    Accepted,
    /// It was rejected.
    Rejected,
    /// None came.
    Nothing,
}

impl Seen {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Seen; 3] = [Seen::Accepted, Seen::Rejected, Seen::Nothing];
}

/// How a step of a task stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// The run that the task begins with has done it.
    Given,
    /// The run on screen has done it.
    Done,
    /// Neither, or not as far as the learner has seen.
    Open,
}

/// Whether a claim holds of a run.
fn holds(run: &Run, line: &Line) -> Option<Claim> {
    let claim = Claim::parse(&line.text, run.names()).ok()?;
    claim.test(run).is_ok().then_some(claim)
}

/// Which steps of a task are done in the run that it begins with.
pub(super) fn given(lesson: &Lesson, level: Option<Level>) -> Vec<bool> {
    let Some((_, task)) = level.and_then(|l| lesson.task(l)) else { return Vec::new() };
    let start = start(lesson, task);
    let Ok(run) = simulated(lesson, start, &own_edits(lesson, start)) else { return Vec::new() };
    task.steps.iter().map(|step| holds(&run, &step.done).is_some()).collect()
}

/// The index of the variant that a task begins with.
fn start(lesson: &Lesson, task: &Task) -> usize {
    lesson.variants.iter().position(|v| v.name == task.variant).unwrap_or(0)
}

/// Tasks.
impl State {
    /// The task on screen, and its index.
    pub fn task(&self) -> Option<(usize, &Task)> {
        self.lesson.task(self.level?)
    }

    pub(super) fn set_level(&mut self, level: Option<Level>) {
        if level != self.level {
            self.given = given(&self.lesson, level);
            self.level = level;
        }
    }

    /// Turns to a task or the story; the run that it begins with is put on screen, and what was
    /// there is one undo away.
    pub(super) fn turn_to(&mut self, level: Option<Level>) {
        let lesson = self.lesson.clone();
        let task = level.and_then(|l| lesson.task(l));
        if level == self.level || level.is_some() && task.is_none() {
            return;
        }
        let variant = task.map_or(0, |(_, t)| start(&lesson, t));
        let words = task.map_or_else(|| strings::BACK_TO_STORY.into(), |(_, t)| t.goal.clone());
        self.edit(variant, own_edits(&lesson, variant), Some(Micros::ZERO), words);
        self.set_level(level);
    }

    /// Whether the run has done what a claim says, as far as the learner has seen.
    fn seen_to_hold(&self, line: &Line) -> bool {
        let show = &self.show;
        let Some(claim) = holds(&show.run, line) else { return false };
        match claim.comes_true(&show.run) {
            Some(event) => show.time(event.0) <= self.seen,
            // What came out is known once the deciding event was seen.
            None if claim.is_figure() => show.time(show.decided) <= self.seen,
            None => true,
        }
    }

    /// How a step of the task on screen stands.
    pub fn standing(&self, step: usize) -> Standing {
        let step_of = |(_, task): (usize, &Task)| task.steps.get(step).map(|s| s.done.clone());
        let given = self.given.get(step).copied().unwrap_or(false);
        match self.task().and_then(step_of) {
            // What was done at the start can be undone by the learner, and then it is open.
            Some(line) if given && holds(&self.show.run, &line).is_some() => Standing::Given,
            Some(line) if self.seen_to_hold(&line) => Standing::Done,
            _ => Standing::Open,
        }
    }

    /// Whether the run on screen has reached the goal, as far as the learner has seen.
    pub fn at_goal(&self) -> bool {
        self.task().is_some_and(|(_, task)| task.done.iter().all(|line| self.seen_to_hold(line)))
    }

    /// The first time that a goal is reached, it is said.
    pub(super) fn notice_the_goal(&mut self) {
        let Some(index) = self.task().map(|t| t.0) else { return };
        if self.solved.get(index) == Some(&false) && self.at_goal() {
            self.solved[index] = true;
            self.done(strings::GOAL_REACHED.into());
        }
    }

    pub(super) fn solve(&mut self) {
        let lesson = self.lesson.clone();
        let Some((_, task)) = self.task() else { return };
        let (variant, edits) = (start(&lesson, task), &task.solution);
        let edits = edits.iter().map(|e| e.text.clone()).collect();
        self.edit(variant, edits, Some(Micros::ZERO), strings::SOLUTION_SHOWN.into());
        self.shown_solution = true;
    }

    /// Whether the run on screen is the solution of the task, and not the learner's own work.
    pub fn shows_solution(&self) -> bool {
        if !self.shown_solution {
            return false;
        }
        self.task().is_some_and(|(_, task)| {
            task.solution.iter().map(|e| e.text.as_str()).eq(self.edits.iter().map(String::as_str))
        })
    }

    /// Whether everything that a lesson asks for was done; watching it is not enough.
    pub fn finished(&self) -> bool {
        self.said.iter().all(Option::is_some)
            && self.cards.done()
            && (self.solved.is_empty() || self.solved.contains(&true))
    }
}

/// Links that run a variant, and tokens by hand.
impl State {
    /// The beat whose words speak of this very run, where the run has no beats of its own.
    pub fn linked(&self) -> Option<usize> {
        let variant = self.lesson.variants.get(self.show.variant)?;
        let own = self.lesson.beats.iter().any(|b| b.variant == variant.name);
        if own || own_edits(&self.lesson, self.show.variant) != self.edits {
            return None;
        }
        let (left, _) = self.show.leaves?;
        self.lesson.links_to(&variant.name).filter(|_| Some(left) <= self.head.event)
    }

    /// Whether the words of a beat link to the run on screen.
    pub fn speaks_of_this_run(&self, beat: usize) -> bool {
        let variant = self.lesson.variants.get(self.show.variant);
        let blocks = self.lesson.beats.get(beat).map(|b| b.blocks.as_slice()).unwrap_or_default();
        variant.is_some_and(|v| blocks.iter().any(|b| b.links_to(&v.name)))
    }

    /// Runs a variant that the words on screen link to. The moment stays, unless the variant says where
    /// to look or the words are about this very run; the words stay, unless it has some of its own.
    pub(super) fn follow(&mut self, index: usize) {
        let Some(variant) = self.lesson.variants.get(index) else { return };
        let (beat, title) = (self.beat(), variant.title.clone());
        let told =
            beat.filter(|b| self.lesson.beats.get(*b).is_some_and(|b| b.variant == variant.name));
        let at = variant.at.as_ref().map(|at| at.text.clone()).filter(|_| told.is_none());
        self.edit(index, own_edits(&self.lesson, index), None, title);
        if let Some(beat) = told {
            self.turn(beat);
            return;
        }
        if let Some(Ok(event)) = at.map(|at| anchor(&self.show.run, &at)) {
            self.jump(self.show.head(Some(event.0)));
        }
        self.turned = beat;
    }

    /// The variant on screen, where a link of the words at the head leads to it and it says itself what
    /// it shows.
    pub fn followed(&self) -> Option<&Variant> {
        let variant = self.lesson.variants.get(self.show.variant).filter(|v| v.shows.is_some())?;
        let index = self.beat().filter(|b| self.speaks_of_this_run(*b))?;
        let other = self.lesson.beats.get(index)?.variant != variant.name;
        let exact = own_edits(&self.lesson, self.show.variant) == self.edits;
        (other && exact).then_some(variant)
    }

    /// The resource that tokens are sent to by hand: the first one.
    pub fn target(&self) -> Option<String> {
        let names = self.show.run.names();
        names.of_kind(NodeKind::Resource).next().map(|node| names.node(node).id.clone())
    }

    /// Sends a token to the resource at the play head, some time after the last one.
    pub(super) fn send(&mut self, token: u64) {
        let Some(resource) = self.target() else { return };
        let sent = self.show.run.compiled.edits.iter().filter_map(|edit| match &edit.action {
            Deed::Send(_, _, at) => Some(at.unwrap_or_default()),
            _ => None,
        });
        let mut sent: Vec<Micros> = sent.collect();
        crate::sim::sort(&mut sent);
        // At the very start nothing can be seen to happen, so the earliest is just after it.
        let now = self.moment().max(EARLIEST);
        let near = |at: Micros, other: Micros| at < other.plus(APART) && other <= at.plus(APART);
        let later = |at, other: Micros| if near(at, other) { other.plus(APART) } else { at };
        let at = sent.into_iter().fold(now, later);
        let edit = Edit { action: Deed::Send(resource, token, Some(at)) };
        let mut edits = self.edits.clone();
        edits.push(edit.to_string());
        self.edit(self.variant, edits, Some(at), strings::sent(token));
    }
}

/// Predictions.
impl State {
    /// The prediction whose answer has just been shown and that asks what was seen: until the story
    /// goes on, nothing is explained.
    pub fn looking(&self) -> Option<usize> {
        let question = self.question().filter(|q| self.level.is_none() && self.must_look(*q))?;
        let shown = self.show.questions.get(question).copied().flatten()?.1;
        let told = |beat: &&usize| match self.show.beats.get(**beat) {
            Some(Ok(event)) => *event > shown && Some(*event) <= self.head.event,
            _ => false,
        };
        let went_on = self.turned.is_some() || self.show.story.iter().any(|b| told(&b));
        (!went_on).then_some(question)
    }

    /// Whether a prediction was made and its answer shown, and it is still open what was seen.
    pub fn must_look(&self, question: usize) -> bool {
        let said = self.said.get(question).is_some_and(Option::is_some);
        let looked = self.looked.get(question).is_some_and(Option::is_some);
        let asks = self.lesson.predictions.get(question).is_some_and(|p| p.look);
        asks && said && !looked && !self.skipped.contains(&question) && self.answered(question)
    }

    /// The look at the resource is left out; what the run says is told.
    pub(super) fn skip_look(&mut self, question: usize) {
        self.skipped.push(question);
        self.stopped = None;
        let told = self.beat().and_then(|i| self.lesson.beats.get(i)).map(|b| b.title.clone());
        self.done(told.unwrap_or_default());
    }

    /// Whoever comes to the answer of a prediction is asked what there is to see, however they came.
    pub(super) fn ask_to_look(&mut self, before: &State) {
        if self.looking().is_none() || before.looking().is_some() {
            return;
        }
        self.stopped = Some(strings::STOPPED_TO_LOOK);
        if let Wish::Step { words, decision } = &mut self.spoken.1 {
            *words = format!("{words} {}", strings::LOOK);
            *decision = true;
        }
    }

    pub(super) fn look(&mut self, question: usize, seen: Seen) {
        if let Some(place) = self.looked.get_mut(question) {
            *place = Some(seen);
        }
        let (was, _) = self.decided_by(question);
        self.done(strings::looked(seen, was));
    }

    /// What became of the late write of a prediction, and the event that decides the prediction.
    pub fn decided_by(&self, question: usize) -> (Seen, Option<u32>) {
        let Some((_, shown)) = self.show.questions.get(question).copied().flatten() else {
            return (Seen::Nothing, None);
        };
        // Where nobody is asked what happened at the resource, what shows the answer decides.
        if !self.lesson.predictions.get(question).is_some_and(|p| p.look) {
            return (Seen::Nothing, Some(shown));
        }
        let findings = self.show.run.judgement.findings.iter().rev();
        let late = findings.filter(|f| f.event().0 <= shown).find_map(|finding| match finding {
            Finding::StaleAccepted { event } => Some((Seen::Accepted, event.0)),
            Finding::StaleRejected { event } => Some((Seen::Rejected, event.0)),
            _ => None,
        });
        late.map_or((Seen::Nothing, Some(shown)), |(seen, event)| (seen, Some(event)))
    }

    /// The events at which playing stops: beats if they are wanted, questions, and the answers of
    /// those that ask what was seen.
    pub fn halts(&self) -> Vec<u32> {
        if self.level.is_some() || self.cards.sorting.is_some() {
            // In a task nothing is told and nothing is asked, so there is nothing to stop for.
            return Vec::new();
        }
        let mut halts = self.show.halts(self.stop_at_beats);
        for (index, place) in self.show.questions.iter().enumerate() {
            let said = self.said.get(index).is_some_and(Option::is_some);
            let asks = self.lesson.predictions.get(index).is_some_and(|p| p.look);
            halts.extend(place.filter(|_| said && asks).map(|p| p.1));
        }
        crate::sim::sort(&mut halts);
        halts.dedup();
        halts
    }
}
