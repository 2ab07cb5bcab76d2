//! What the page shows and what changes it: one reducer, free of anything that only a browser has.

use std::rc::Rc;

use super::cards::Cards;
use super::class::{Count, Tally};
use super::debate::{Hearing, Trial};
pub use super::fault::Fault;
use super::hold::{Hold, Number};
use super::kept::Kept;
use super::learn::{Said, Seen};
use super::look::{Look, See};
pub use super::open::{Place, own_edits};
pub use super::past::{MOST_UNDO, Snapshot};
use super::show::{Head, Show, Size, picture};
use super::sought::Found;
use super::strings;
use super::versus::{Against, Versus};
use super::voice::Wish;
use super::work::{Sort, Verdicts};
use crate::lesson::{Class, Lesson, Level};
use crate::run::{Branch, Run};
use crate::sim::{Micros, ProcId};

/// A search for the millisecond runs hundreds of runs while the page waits: no longer ones than this.
const MOST_SOUGHT: usize = 4_000;
/// The speeds of playing, in quarters.
pub const SPEEDS: [u32; 5] = [1, 2, 4, 8, 16];

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
    /// The last of them led to another moment of another run.
    pub elsewhere: bool,
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
    /// The beat that the learner turned to and still is at: others may stand at the same event.
    pub told: Option<usize>,
    /// What was said to each prediction.
    pub said: Vec<Option<Said>>,
    /// What the learner saw at the resource, for each prediction that asks.
    pub looked: Vec<Option<Seen>>,
    /// The predictions of which the learner would not say what was seen.
    pub skipped: Vec<usize>,
    /// How far the cards are sorted.
    pub cards: Cards,
    /// Where in the debate the learner is.
    pub hearing: Hearing,
    /// The label on the design on screen, and what was tried on it.
    pub trial: Option<Rc<Trial>>,
    /// Whose program is shown.
    pub program: ProcId,
    /// The seed that the lesson itself says; the lesson here has that of the run on screen.
    pub own_seed: u64,
    /// What outlives the page.
    pub kept: Rc<Kept>,
    /// The branch on screen.
    pub branch: u64,
    /// The branch that the last step of a number made: the next step replaces it.
    pub fresh: Option<u64>,
    /// The branch that was just deleted.
    pub deleted: Option<Branch>,
    /// A branch that could not be put on screen, and why.
    pub unopened: Option<String>,
    /// The verdicts on branches that are known.
    pub verdicts: Verdicts,
    /// Counts the changes of what is to be kept.
    pub keeps: u32,
    /// Another run beside the one on screen, while they are compared.
    pub versus: Option<Rc<Versus>>,
    /// What a link said that could not be followed, a sentence each.
    pub notes: Vec<String>,
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
    pub past: Vec<Snapshot>,
    /// What redo brings back, the latest last.
    pub future: Vec<Snapshot>,
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
    /// What is selected, and through whose eyes.
    pub look: Look,
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
    /// Selects, asks why, turns to another picture, sees through other eyes.
    See(See),
    /// Sends a token to the resource by hand.
    Send(u64),
    /// Takes up a card.
    Deal(usize),
    /// Puts the card on top into a tray.
    Sort(Class),
    /// Leaves the cards or the debate; the story goes on where it stood.
    Story,
    /// Takes up a point of the debate with one of its runs.
    Point(usize, usize),
    /// Shows all claims side by side, or closes that.
    AllClaims(bool),
    /// Pins the label on the design on screen.
    PinLabel,
    /// Tries the next attack on it.
    TryAttack,
    /// Puts an attack on the design on screen.
    ShowAttack(usize),
    /// What a link could not do has been read.
    Heard,
    /// Puts a branch on screen.
    Branch(u64),
    /// Gives a branch a name.
    Rename(u64, String),
    /// Deletes a branch.
    Delete(u64),
    /// Brings back the branch that was deleted last.
    Revive,
    /// Takes over what another tab or a file has.
    TakeOver(Rc<Kept>),
    /// Forgets what was answered and solved.
    Forget,
    /// Shows another run beside the one on screen, or closes that.
    Compare(Option<Against>),
    /// Puts one of the two compared runs on screen.
    Side(usize),
}

impl State {
    /// The state after an action.
    #[must_use]
    pub fn after(&self, action: Action) -> State {
        let mut next = self.clone();
        let sort = Sort::of(&action, self);
        if !(next.present && next.asks_first(&action)) {
            next.take(action);
        }
        // Another run has another future.
        let same = Rc::ptr_eq(&next.show.run, &self.show.run);
        if !same {
            next.look_anew();
        }
        if next.jumps != self.jumps {
            next.elsewhere = !same && next.head.at != self.head.at;
        }
        next.seen = if same { self.seen } else { Micros::ZERO }.max(next.head.at);
        next.ask_to_look(self);
        next.notice_the_goal();
        next.keep_label();
        next.keep_up(self, sort);
        next
    }

    fn take(&mut self, action: Action) {
        self.settle(&action);
        self.settle_cards(&action);
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
            Action::GoTo(event) => self.go_to(event),
            Action::Step(size, forward) => self.step(size, forward),
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
            Action::Heard => self.notes.clear(),
            Action::See(see) => self.see(see),
            Action::Blank(on) => self.blank = on,
            Action::Present => self.on_projector(true),
            Action::Leave => self.leave(),
            Action::Turn(forward) => self.turn_class(forward),
            Action::Count(count) => self.count(count),
            Action::Look(question, seen) => self.look(question, seen),
            Action::Level(level) => self.turn_to(level),
            Action::Find(edit) => self.find(edit),
            Action::AllClaims(on) => self.show_all_claims(on),
            Action::PinLabel => self.pin_label(),
            Action::TryAttack => self.try_attack(),
            Action::Compare(against) => {
                self.playing = false;
                self.versus = against.and_then(|other| Versus::of(self, &other)).map(Rc::new);
                self.tell_compared();
            }
            edit => self.take_edit(edit),
        }
    }

    /// Looks for the millisecond, where the run is short enough to be run hundreds of times.
    fn find(&mut self, edit: Option<usize>) {
        self.playing = false;
        if edit.is_some() && self.show.run.record.events.len() > MOST_SOUGHT {
            self.notice = Some(strings::TOO_LONG_TO_SEARCH);
            self.done(strings::TOO_LONG_TO_SEARCH.into());
            return;
        }
        self.found = edit.and_then(|edit| Found::of(self, edit)).map(Rc::new);
    }

    pub(super) fn take_edit(&mut self, action: Action) {
        if self.is_full(&action) {
            self.notice = Some(strings::EDITS_FULL);
            return self.done(strings::EDITS_FULL.into());
        }
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
            Action::Deal(card) => self.deal(card),
            Action::Sort(tray) => self.sort_card(tray),
            Action::Point(point, run) => self.hear(point, run),
            Action::ShowAttack(attack) => self.show_attack(attack),
            Action::Send(token) => self.send(token),
            Action::Undo => self.undo(),
            Action::Redo => self.redo(),
            other => self.take_hand(other),
        }
    }
}
