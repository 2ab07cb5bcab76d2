//! What the page shows and what changes it: one reducer, free of anything that only a browser has.

use std::rc::Rc;

use super::class::{Count, Tally};
pub use super::fault::Fault;
use super::hold::{Hold, Number};
use super::learn::{Said, Seen, given};
use super::show::{Head, Show, Size, picture, simulated};
use super::sought::Found;
use super::strings;
use super::voice::Wish;
use crate::lesson::{Lesson, Level};
use crate::narrate;
use crate::run::{Run, kind};
use crate::sim::{EventId, Micros, ProcId};

/// How many steps back the undo list goes.
pub const MOST_UNDO: usize = 50;
/// The width of the picture before the page knows its own.
const FIRST_WIDTH: i32 = 640;
/// The speeds of playing, in quarters.
pub const SPEEDS: [u32; 5] = [1, 2, 4, 8, 16];

/// An earlier or undone state of the edits.
#[derive(Clone, Debug)]
pub struct Branch {
    pub(super) level: Option<Level>,
    pub(super) variant: usize,
    pub(super) edits: Vec<String>,
    pub(super) head: Head,
}

/// Where in a lesson a link leads.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Place {
    /// The variant by name, where it is not the first.
    pub variant: Option<String>,
    /// All edits, where they are not the variant's own.
    pub edits: Option<Vec<String>>,
    /// The last event that has happened.
    pub event: Option<u32>,
    /// It is on a projector.
    pub present: bool,
    /// The task, where it is not the story.
    pub level: Option<Level>,
}

/// Everything about an open lesson.
#[derive(Clone, Debug)]
pub struct State {
    /// The lesson.
    pub lesson: Rc<Lesson>,
    /// The task that is shown; none for the story.
    pub level: Option<Level>,
    /// Which steps of it are done in the run that it begins with.
    pub given: Vec<bool>,
    /// Which tasks were reached, by their index: it is said once.
    pub solved: Vec<bool>,
    /// The beat that the learner was on the way to when a question came first.
    pub toward: Option<usize>,
    /// The solution on screen was asked for, and not found.
    pub shown_solution: bool,
    /// The lesson's variant that the learner started from: it says which clients there are.
    pub variant: usize,
    /// All edits of the run on screen, the variant's own first.
    pub edits: Vec<String>,
    /// The runs that the beats were written for, by variant; none for a variant without beats.
    pub written: Rc<Vec<Option<Rc<Run>>>>,
    /// The run on screen.
    pub show: Rc<Show>,
    /// Where in it the learner is.
    pub head: Head,
    /// Counts the changes of `head` that did not come from playing.
    pub jumps: u32,
    /// The latest moment of this run that the learner has seen: the strip tells no more.
    pub seen: Micros,
    /// Time is passing.
    pub playing: bool,
    /// How far a step of the buttons goes.
    pub size: Size,
    /// How fast, in quarters.
    pub speed: u32,
    /// Playing stops at beats, and not only at questions.
    pub stop_at_beats: bool,
    /// Why playing stopped here, where it was not the learner.
    pub stopped: Option<&'static str>,
    /// A beat that the learner turned to although this run does not reach it.
    pub turned: Option<usize>,
    /// What was said to each prediction.
    pub said: Vec<Option<Said>>,
    /// What the learner saw at the resource, for each prediction that asks.
    pub looked: Vec<Option<Seen>>,
    /// Whose program is shown.
    pub program: ProcId,
    /// The edit that could not be read, and why.
    pub wrong: Option<(String, String)>,
    /// Where one millisecond decides, while that is shown.
    pub found: Option<Rc<Found>>,
    /// The edge that a hand holds.
    pub hold: Option<Hold>,
    /// The number that keys or buttons change step by step: all its steps are one thing to undo.
    pub nudged: Option<Number>,
    /// What is typed into the field of a number, and whether it was tried in vain.
    pub typed: Option<(Number, String, bool)>,
    /// What undo brings back, the latest last.
    pub past: Vec<Branch>,
    /// What redo brings back, the latest last.
    pub future: Vec<Branch>,
    /// What a screen reader may be told; the number tells two equal wishes apart.
    pub spoken: (u32, Wish),
    /// Words that everybody is shown for a moment.
    pub notice: Option<&'static str>,
    /// The page is on a projector.
    pub present: bool,
    /// The hands that a class raised for each prediction.
    pub tallies: Vec<Tally>,
    /// The prediction that a class is voting on.
    pub vote: Option<usize>,
    /// The screen is black.
    pub blank: bool,
}

/// Everything that can happen to a [`State`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Action {
    Width(i32),
    Play,
    Pause,
    /// Playing passed this event.
    Reached(u32),
    /// Playing came to something that it stops at.
    Arrived(u32),
    /// Playing ended here, between two events.
    Rested(Micros),
    Seek(Micros),
    GoTo(Option<u32>),
    Step(Size, bool),
    Start,
    End,
    Beat(usize),
    Size(Size),
    Speed(u32),
    StopAtBeats(bool),
    Program(ProcId),
    Defend(usize),
    Break(Fault),
    Add(String),
    Remove(usize),
    /// A hand takes hold of an edge of a pause.
    Grab(Number),
    /// It is at this height of the picture; with the flag, it means it to the millisecond.
    Drag(i32, bool),
    LetGo,
    /// Everything is as it was before the hand came.
    Cancel,
    /// A number of an edit changes by so many microseconds.
    Nudge(Number, i64),
    /// A number of an edit is being typed.
    Type(Number, String),
    /// What was typed holds.
    Enter(Number),
    /// Looks for the length of the edit with this index at which all turns, or closes what was found.
    Find(Option<usize>),
    /// Shows the run with these edits at this event.
    Open(Vec<String>, u32),
    Variant(usize),
    Undo,
    Redo,
    Commit(usize, Said),
    /// Selects a node, and says so.
    Select(ProcId),
    /// Says these words, and shows them.
    Notice(&'static str),
    /// The words that were shown go away.
    Seen,
    /// Makes the screen black, or not.
    Blank(bool),
    /// Goes on a projector.
    Present,
    /// Leaves a vote, or the projector.
    Leave,
    /// Turns to the next or the previous beat before a class, unless it has to vote first.
    Turn(bool),
    /// Counts hands.
    Count(Count),
    /// What was seen at the resource.
    Look(usize, Seen),
    /// Turns to a task, or to the story.
    Level(Option<Level>),
    /// Puts a task's solution in place of the edits.
    Solve,
    /// Runs a variant that the words on screen link to; they stay.
    Follow(usize),
    /// Goes on or back in the story, in whichever of the lesson's runs it happens.
    Next(bool),
    /// Sends a token to the resource by hand.
    Send(u64),
}

/// The edits that a variant begins with.
pub fn own_edits(lesson: &Lesson, variant: usize) -> Vec<String> {
    let found = lesson.variants.get(variant);
    found.map(|v| v.edits.iter().map(|e| e.text.clone()).collect()).unwrap_or_default()
}

impl State {
    /// Opens a lesson. Edits of a link that cannot be read are left out, and said.
    ///
    /// # Errors
    /// Why the lesson itself cannot run.
    pub fn open(lesson: Lesson, place: &Place) -> Result<State, String> {
        let named = place.variant.as_ref();
        let level = place.level.filter(|level| lesson.task(*level).is_some());
        let task = level.and_then(|l| lesson.task(l)).map(|(_, task)| &task.variant);
        let find = |name: &String| lesson.variants.iter().position(|v| v.name == *name);
        let variant = named.and_then(find).or_else(|| task.and_then(find)).unwrap_or(0);
        let mut edits = place.edits.clone().unwrap_or_else(|| own_edits(&lesson, variant));
        let has_beats = |name: &str| lesson.beats.iter().any(|b| b.variant == name);
        let written = lesson.variants.iter().enumerate().map(|(i, v)| {
            let run = || simulated(&lesson, i, &own_edits(&lesson, i)).ok().map(Rc::new);
            has_beats(&v.name).then(run).flatten()
        });
        let written: Rc<Vec<_>> = Rc::new(written.collect());
        let mut wrong = None;
        let show = loop {
            match Show::of(&lesson, variant, &edits, &written, FIRST_WIDTH) {
                Ok(show) => break show,
                Err((index, words)) if index < edits.len() => {
                    wrong = Some((edits.remove(index), words));
                    if edits.is_empty() {
                        // A link with nothing that can be read leaves the lesson as it is.
                        edits = own_edits(&lesson, variant);
                    }
                }
                Err((_, words)) => return Err(words),
            }
        };
        let head = show.head(place.event);
        let state = State {
            said: vec![None; lesson.predictions.len()],
            tallies: lesson.predictions.iter().map(|p| Tally::of(p.answers.len())).collect(),
            vote: None,
            blank: false,
            present: place.present,
            notice: None,
            looked: vec![None; lesson.predictions.len()],
            solved: vec![false; lesson.tasks.len()],
            toward: None,
            shown_solution: false,
            level,
            given: given(&lesson, level),
            lesson: Rc::new(lesson),
            variant,
            edits,
            written,
            show: Rc::new(show),
            head,
            jumps: 0,
            seen: head.at,
            playing: false,
            size: Size::Event,
            speed: 4,
            stop_at_beats: true,
            stopped: None,
            turned: None,
            program: ProcId(0),
            wrong,
            found: None,
            hold: None,
            nudged: None,
            typed: None,
            past: Vec::new(),
            future: Vec::new(),
            spoken: (0, Wish::Moving),
        };
        Ok(state)
    }

    /// The state after an action.
    #[must_use]
    pub fn after(&self, action: Action) -> State {
        let mut next = self.clone();
        if !(next.present && next.asks_first(&action)) {
            next.take(action);
        }
        // Another run has another future.
        let same = Rc::ptr_eq(&next.show.run, &self.show.run);
        next.seen = if same { self.seen } else { Micros::ZERO }.max(next.head.at);
        next.notice_the_goal();
        next
    }

    fn take(&mut self, action: Action) {
        self.settle(&action);
        match action {
            Action::Width(width) => {
                let mut show = (*self.show).clone();
                show.picture = Rc::new(picture(&show.run, width));
                self.show = Rc::new(show);
                self.jumps += 1;
            }
            Action::Play => self.play(),
            Action::Pause => self.playing = false,
            Action::Reached(event) => self.reach(event),
            Action::Arrived(event) => self.arrive(event),
            Action::Rested(at) => self.head.at = self.head.at.max(at.min(self.show.run.end)),
            Action::Seek(at) => {
                self.jump(self.show.head_at(at));
                self.say(Wish::Moving);
            }
            Action::GoTo(event) => self.jump_and_say(self.show.head(event)),
            Action::Step(size, forward) => {
                self.jump_and_say(self.show.stepped(self.head, size, forward));
            }
            Action::Start => self.jump_and_say(Head::default()),
            Action::End => self.jump_and_say(self.show.end()),
            Action::Beat(beat) => self.turn(beat),
            Action::Next(forward) => self.turn_story(forward),
            Action::Size(size) => self.size = size,
            Action::Speed(speed) => {
                self.speed = speed;
                self.done(strings::at_speed(speed));
            }
            Action::StopAtBeats(stop) => self.stop_at_beats = stop,
            Action::Program(node) => self.program = node,
            Action::Commit(question, said) => {
                if let Some(place) = self.said.get_mut(question) {
                    *place = Some(said);
                }
                self.done(strings::COMMITTED.into());
            }
            Action::Select(node) => {
                self.program = node;
                let label = self.show.run.names().node(node).label.clone();
                self.done(strings::selected(&label));
            }
            Action::Notice(words) => {
                self.notice = Some(words);
                self.done(words.into());
            }
            Action::Seen => self.notice = None,
            Action::Blank(on) => self.blank = on,
            Action::Present => self.on_projector(true),
            Action::Leave => self.leave(),
            Action::Turn(forward) => self.turn_class(forward),
            Action::Count(count) => self.count(count),
            Action::Look(question, seen) => self.look(question, seen),
            Action::Level(level) => self.turn_to(level),
            Action::Find(edit) => {
                self.playing = false;
                self.found = edit.and_then(|edit| Found::of(self, edit)).map(Rc::new);
            }
            edit => self.take_edit(edit),
        }
    }

    pub(super) fn take_edit(&mut self, action: Action) {
        let mut edits = self.edits.clone();
        match action {
            Action::Defend(index) => {
                let Some(defence) = self.lesson.defences.get(index).cloned() else { return };
                let words = match edits.iter().position(|e| *e == defence.edit.text) {
                    Some(place) => {
                        edits.remove(place);
                        strings::switched(&defence.title, false)
                    }
                    None => {
                        edits.push(defence.edit.text);
                        strings::switched(&defence.title, true)
                    }
                };
                self.edit(self.variant, edits, None, words);
            }
            Action::Break(fault) => {
                let (edit, at) = self.edit_for(&fault);
                edits.push(edit.to_string());
                let words = self.words_for(&fault);
                self.edit(self.variant, edits, at, words);
            }
            Action::Add(text) => {
                let text = text.trim().to_string();
                if text.is_empty() {
                    self.wrong = Some((text, strings::EMPTY_EDIT.into()));
                    return;
                }
                edits.push(text);
                self.edit(self.variant, edits, None, strings::ADDED.into());
            }
            Action::Remove(index) if index < edits.len() => {
                let gone = edits.remove(index);
                self.edit(self.variant, edits, None, strings::removed(&gone));
            }
            Action::Variant(index) => {
                let Some(variant) = self.lesson.variants.get(index) else { return };
                let title = variant.title.clone();
                edits = variant.edits.iter().map(|e| e.text.clone()).collect();
                self.edit(index, edits, None, title);
            }
            Action::Solve => self.solve(),
            Action::Follow(index) => self.follow(index),
            Action::Send(token) => self.send(token),
            Action::Undo => {
                let Some(branch) = self.past.pop() else { return };
                self.future.push(self.branch());
                self.restore(branch, strings::UNDONE);
            }
            Action::Redo => {
                let Some(branch) = self.future.pop() else { return };
                self.past.push(self.branch());
                self.restore(branch, strings::REDONE);
            }
            other => self.take_hand(other),
        }
    }

    fn play(&mut self) {
        if self.head.event == self.show.last() {
            self.jump(Head::default());
        }
        self.turned = None;
        self.stopped = None;
        self.playing = true;
    }

    fn reach(&mut self, event: u32) {
        let passed = self.head.event.map_or(0, |e| e + 1)..=event;
        self.head = self.show.head(Some(event));
        // Many events can happen between two frames; the last one that decides something is told.
        if let Some(event) = passed.rev().find(|e| self.decides(*e)) {
            let kind = self.show.run.record.events.get(event as usize).map_or("", kind::kind);
            let words = narrate::sentence(&self.show.run, EventId(event));
            self.say(Wish::Passed { kind, words });
        }
        if Some(event) == self.show.last() {
            self.head = self.show.end();
            self.playing = false;
            self.jumps += 1;
            let verdict = &self.show.headline;
            let words = format!("{} {}", verdict.word, verdict.rest);
            self.say(Wish::Passed { kind: "end", words });
        }
    }

    /// Playing came to a beat or a question: it stops there, and says why.
    fn arrive(&mut self, event: u32) {
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
        self.show.decisions.binary_search(&event).is_ok()
    }

    pub(super) fn jump(&mut self, head: Head) {
        self.head = head;
        self.stopped = None;
        self.toward = None;
        self.turned = None;
        self.playing = false;
        self.jumps += 1;
    }

    pub(super) fn jump_and_say(&mut self, head: Head) {
        self.jump(head);
        self.say(match head.event {
            Some(event) => Wish::Step {
                words: narrate::sentence(&self.show.run, EventId(event)),
                decision: self.decides(event),
            },
            None => Wish::Step { words: strings::AT_START.into(), decision: true },
        });
    }

    pub(super) fn turn(&mut self, beat: usize) {
        let here = self.show.story.contains(&beat);
        match self.show.beats.get(beat) {
            Some(Ok(event)) if here => self.jump_and_say(self.show.head(Some(*event))),
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

    pub(super) fn branch(&self) -> Branch {
        Branch {
            level: self.level,
            variant: self.variant,
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
        let before = self.branch();
        let width = self.show.picture.width;
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
    pub(super) fn remember(&mut self, before: Branch) {
        self.past.push(before);
        if self.past.len() > MOST_UNDO {
            self.past.remove(0);
        }
        self.future.clear();
        self.typed = None;
    }

    fn restore(&mut self, branch: Branch, words: &str) {
        self.shown_solution = false;
        // These edits ran before, so they can be read.
        let Branch { variant, edits, .. } = &branch;
        let width = self.show.picture.width;
        if let Ok(show) = Show::of(&self.lesson, *variant, edits, &self.written, width) {
            self.variant = *variant;
            self.show = Rc::new(show);
            self.edits = branch.edits;
            self.set_level(branch.level);
            self.jump(branch.head);
            self.wrong = None;
            self.typed = None;
            self.done(words.into());
        }
    }

    /// The beat whose words are shown: the last one that has happened.
    pub fn beat(&self) -> Option<usize> {
        let event = self.head.event;
        let happened = |i: &&usize| match self.show.beats.get(**i) {
            Some(Ok(at)) => Some(*at) <= event,
            _ => false,
        };
        self.turned
            .or_else(|| self.linked())
            .or_else(|| self.show.story.iter().rev().find(happened).copied())
    }

    /// Whether the run has gone a way that the story does not tell: then the variant that it left.
    pub fn strayed(&self) -> Option<usize> {
        let told = self.turned.is_some() || self.linked().is_some();
        let (event, variant) = self.show.leaves.filter(|_| !told)?;
        (Some(event) <= self.head.event).then_some(variant)
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

    /// The question at the head: asked, and either answered by the learner or not yet by the run.
    pub fn question(&self) -> Option<usize> {
        let event = self.head.event?;
        let asked = |q: &Option<(u32, u32)>| q.is_some_and(|q| q.0 <= event);
        let last = self.show.questions.iter().rposition(asked)?;
        let said = self.said.get(last).is_some_and(Option::is_some);
        (said || !self.answered(last)).then_some(last)
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
