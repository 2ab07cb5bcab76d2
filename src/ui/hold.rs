//! The numbers of edits under a learner's hand: typed, nudged, or dragged in the picture.

use std::rc::Rc;

use super::show::{Head, Show, picture, picture_frozen, simulated};
use super::state::{Action, Snapshot, State};
use super::strings;
use crate::diagram::{Frozen, Point};
use crate::narrate;
use crate::run::{Action as Deed, Span, Whom};
use crate::sim::{EventId, Micros, ProcId, What};

/// The shortest and the longest length, and the latest moment.
const SHORTEST: Micros = Micros::from_millis(1);
const LONGEST: Micros = Micros::from_secs(600);
/// A hand is exact to this, and where it means it, to a millisecond.
const GRAIN: u64 = 10_000;
const FINE: u64 = 1_000;

/// One of the times of an edit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Number {
    /// The index of the edit.
    pub edit: usize,
    /// Which of its times.
    pub span: Span,
}

/// An edge of a pause: where a hand can take hold of the picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grip {
    /// What it changes: the moment at the start of a pause, the length at its end.
    pub number: Number,
    /// Whose pause.
    pub node: ProcId,
    /// Where it is in the picture.
    pub point: Point,
    /// The length of the pause.
    pub length: Micros,
}

/// An edge in a hand.
#[derive(Clone, Debug)]
pub struct Hold {
    /// What it changes.
    pub number: Number,
    /// Where the edge is now.
    pub edge: Micros,
    map: Rc<Frozen>,
    /// From when the number counts.
    from: Micros,
    show: Rc<Show>,
    before: Snapshot,
}

impl Hold {
    /// Where the learner was before the hand came.
    pub(super) fn before_head(&self) -> Head {
        self.before.head
    }

    /// How high the picture was: while a hand is there it does not shrink under it.
    pub fn height(&self) -> i32 {
        self.show.picture.height
    }
}

impl Show {
    /// When the pause of an edit begins in this run, whose it is, and how long it is.
    fn pause(&self, edit: usize) -> Option<(EventId, Micros, ProcId, Micros)> {
        let Deed::Halt(_, _, span) = &self.run.compiled.edits.get(edit)?.action else {
            return None;
        };
        let id = (*self.run.edit_events.get(edit)?)?;
        let event = self.run.record.events.get(id.0 as usize)?;
        Some((id, event.at, event.node, *span))
    }

    /// The times of an edit, with what they are now. A pause that waits for an occasion has the
    /// moment of that occasion, as long as there is one.
    pub fn numbers(&self, edit: usize) -> Vec<(Number, Micros)> {
        let Some(written) = self.run.compiled.edits.get(edit) else { return Vec::new() };
        let mut spans = written.spans();
        if !spans.iter().any(|s| s.0 == Span::Moment)
            && let Some((_, at, ..)) = self.pause(edit)
        {
            spans.insert(0, (Span::Moment, at));
        }
        spans.into_iter().map(|(span, time)| (Number { edit, span }, time)).collect()
    }

    /// What a number is now.
    pub fn number(&self, number: Number) -> Option<Micros> {
        let found = self.numbers(number.edit).into_iter().find(|n| n.0 == number);
        found.map(|n| n.1)
    }

    /// The edges of pauses up to a moment, in the order of the edits.
    pub fn grips(&self, until: Micros) -> Vec<Grip> {
        let mut grips = Vec::new();
        for edit in 0..self.run.compiled.edits.len() {
            let Some((id, start, node, length)) = self.pause(edit) else { continue };
            let Some(lane) = self.picture.lanes.get(usize::from(node.0)) else { continue };
            let end = start.plus(length);
            let rest = self.run.record.events.iter().skip(id.0 as usize);
            let resumed = rest.filter(|e| e.node == node && matches!(e.what, What::Resume));
            // Where several pauses are one, its end belongs to the one that lasts longest.
            let ends = resumed.map(|e| e.at).next() == Some(end);
            let edges = [(Span::Moment, start, true), (Span::Length, end, ends)];
            for (span, at, there) in edges {
                if there && at <= until {
                    let point = Point { x: lane.x, y: self.picture.y_of(at) };
                    grips.push(Grip { number: Number { edit, span }, node, point, length });
                }
            }
        }
        grips
    }
}

impl State {
    /// Where a hand can take hold now: what it holds stays under it, whatever becomes of the run.
    pub fn grips(&self) -> Vec<Grip> {
        let mut grips = match self.head.event {
            Some(_) => self.show.grips(self.head.at),
            None => Vec::new(),
        };
        let Some(hold) = &self.hold else { return grips };
        let y = hold.map.y_of(hold.edge);
        match grips.iter_mut().find(|g| g.number == hold.number) {
            Some(grip) => grip.point.y = y,
            None => {
                let held = hold.show.grips(Micros(u64::MAX)).into_iter();
                if let Some(grip) = held.into_iter().find(|g| g.number == hold.number) {
                    grips.push(Grip { point: Point { y, ..grip.point }, ..grip });
                }
            }
        }
        grips
    }

    /// What other actions end: a hand lets go, and steps of a number are over.
    pub(super) fn settle(&mut self, action: &Action) {
        match action {
            Action::Width(_) | Action::Notice(_) | Action::Seen | Action::TakeOver(_) => return,
            Action::Drag(..) | Action::Cancel => return,
            _ => self.let_go(),
        }
        let goes_on = matches!(action, Action::Nudge(number, _) if self.nudged == Some(*number));
        if !goes_on {
            self.nudged = None;
        }
    }

    pub(super) fn take_hand(&mut self, action: Action) {
        match action {
            Action::Grab(number) => self.grab(number),
            Action::Drag(y, fine) => self.drag(y, fine),
            Action::Cancel => self.cancel(),
            Action::Nudge(number, by) => self.nudge(number, by),
            Action::Type(number, text) => self.typed = Some((number, text, false)),
            Action::Enter(number) => self.enter(number),
            Action::Open(edits, event) => self.open_run(edits, event),
            other => self.take_work(other),
        }
    }

    /// Shows the run with these edits at an event; where the verdict comes later, at that.
    fn open_run(&mut self, edits: Vec<String>, event: u32) {
        self.edit(self.variant, edits, None, String::new());
        let event = event.max(self.show.decided);
        self.jump_and_say(self.show.head(Some(event)));
        self.found = None;
    }

    fn grab(&mut self, number: Number) {
        let Some((_, start, ..)) = self.show.pause(number.edit) else { return };
        let Some(value) = self.show.number(number) else { return };
        let Some(edit) = self.show.run.compiled.edits.get(number.edit) else { return };
        // What lies beyond the edge: the same run with the edge out of reach.
        let (mut edits, from) = (self.edits.clone(), self.count_from(number.span, start));
        let Some(text) = edits.get_mut(number.edit) else { return };
        match number.span {
            Span::Length => *text = edit.with(Span::Length, LONGEST).to_string(),
            _ => {
                edits.remove(number.edit);
            }
        }
        let Ok(beyond) = simulated(&self.lesson, self.variant, &edits) else { return };
        let edge = from.plus(value);
        let map = Rc::new(Frozen::of(&self.show.picture, edge, &beyond));
        self.playing = false;
        self.stopped = None;
        self.typed = None;
        let (show, before) = (self.show.clone(), self.snapshot());
        self.hold = Some(Hold { number, edge, map, from, show, before });
    }

    fn count_from(&self, span: Span, start: Micros) -> Micros {
        if span == Span::Length { start } else { Micros::ZERO }
    }

    fn drag(&mut self, y: i32, fine: bool) {
        let Some(hold) = self.hold.clone() else { return };
        let grain = if fine { FINE } else { GRAIN };
        let asked = hold.map.time_of(y).0.saturating_sub(hold.from.0);
        let value = within(hold.number.span, Micros((asked + grain / 2) / grain * grain));
        if self.show.number(hold.number) == Some(value) {
            return;
        }
        let Some(edits) = self.edits_with(hold.number, value) else { return };
        let (edge, width) = (hold.from.plus(value), self.show.picture.room);
        let lay_out = |run: &_| picture_frozen(run, width, &hold.map, edge);
        let show = Show::laid_out(&self.lesson, self.variant, &edits, &self.written, &lay_out);
        let Ok(show) = show else { return };
        // The learner stays where the hand came, or comes along with the edge.
        let head = hold.show.seen_in(&show, hold.before.head);
        let head = if head.at < edge { show.head_at(edge) } else { head };
        self.show = Rc::new(show);
        self.edits = edits;
        self.jump(head);
        self.hold = Some(Hold { edge, ..hold });
    }

    /// The hand is gone: the picture finds its place, and all of the way is one thing to undo.
    fn let_go(&mut self) {
        let Some(hold) = self.hold.take() else { return };
        if self.edits == hold.before.edits {
            self.put_back(hold);
            return;
        }
        let mut show = (*self.show).clone();
        show.picture = Rc::new(picture(&show.run, show.picture.room));
        self.show = Rc::new(show);
        self.jumps += 1;
        self.wrong = None;
        self.remember(hold.before);
        let words = self.told(hold.number);
        self.done(words);
    }

    fn cancel(&mut self) {
        if let Some(hold) = self.hold.take() {
            self.put_back(hold);
        }
    }

    fn put_back(&mut self, hold: Hold) {
        self.show = hold.show;
        self.edits = hold.before.edits;
        self.head = hold.before.head;
        self.jumps += 1;
    }

    fn edits_with(&self, number: Number, value: Micros) -> Option<Vec<String>> {
        let edit = self.show.run.compiled.edits.get(number.edit)?;
        let mut edits = self.edits.clone();
        *edits.get_mut(number.edit)? = edit.with(number.span, value).to_string();
        Some(edits)
    }

    fn set(&mut self, number: Number, value: Micros) {
        let Some(edits) = self.edits_with(number, value) else { return };
        self.typed = None;
        if edits == self.edits {
            return;
        }
        self.edit(self.variant, edits, None, String::new());
        let words = self.told(number);
        self.done(words);
    }

    fn nudge(&mut self, number: Number, by: i64) {
        let Some(value) = self.show.number(number) else { return };
        let value = within(number.span, Micros(value.0.saturating_add_signed(by)));
        // The steps before are part of this one.
        let first = (self.nudged == Some(number)).then(|| self.past.pop()).flatten();
        let count = self.past.len();
        self.set(number, value);
        match (first, self.past.len() > count) {
            (Some(first), true) => {
                if let Some(last) = self.past.last_mut() {
                    *last = first;
                }
            }
            (Some(first), false) => self.past.push(first),
            (None, _) => {}
        }
        self.nudged = Some(number);
    }

    fn enter(&mut self, number: Number) {
        let Some((typed, text, _)) = self.typed.clone().filter(|t| t.0 == number) else { return };
        match read(number, &text) {
            Some(value) => self.set(number, value),
            None => self.typed = Some((typed, text, true)),
        }
    }

    /// What was done to a number, and where it is known already, what came of it.
    fn told(&self, number: Number) -> String {
        let value = self.show.number(number).map_or_else(String::new, narrate::span);
        let label = self.label(number);
        match self.decided() {
            true => format!("{label}: {value}. {}", self.show.headline.word),
            false => format!("{label}: {value}."),
        }
    }

    /// What a number is called: `Length of the pause of Client A`.
    pub fn label(&self, number: Number) -> String {
        let Some(edit) = self.show.run.compiled.edits.get(number.edit) else {
            return String::new();
        };
        let names = self.show.run.names();
        let label =
            |id: &String| names.find(id).map_or(id.clone(), |p| names.node(p).label.clone());
        let thing = match &edit.action {
            Deed::Halt(whom, ..) => {
                let node = names.find(whom.node());
                let label = node.map_or(whom.node(), |p| &names.node(p).label);
                match whom {
                    Whom::Process(how, _) => strings::a_stop_of(*how, label),
                    Whom::Task(_, task) => strings::a_pause_of(&format!("{task}, {label}")),
                }
            }
            Deed::Crash(node, ..) => strings::a_crash_of(&label(node)),
            Deed::Clock(node, ..) | Deed::Rate(node, ..) => strings::a_clock_of(&label(node)),
            Deed::Duplicate(from, to, n, _) => strings::a_copy_of(&label(from), &label(to), *n),
            Deed::Restart(node, _) => strings::a_restart_of(&label(node)),
            Deed::Cut(..) => strings::A_CUT.into(),
            Deed::Heal(..) => strings::A_HEALING.into(),
            Deed::Delay(from, to, n, _) => strings::a_delay_of(&label(from), &label(to), *n),
            Deed::Set(key, ..) if number.span == Span::Value => return key.clone(),
            Deed::Set(key, ..) => strings::a_change_of(key),
            Deed::Send(..) => strings::A_TOKEN.into(),
            _ => String::new(),
        };
        strings::number(number.span, &thing)
    }
}

/// The nearest that a number may be.
fn within(span: Span, time: Micros) -> Micros {
    let least = if span == Span::Moment { Micros::ZERO } else { SHORTEST };
    time.clamp(least, LONGEST)
}

/// What was typed for a number, where that can be.
pub fn read(number: Number, text: &str) -> Option<Micros> {
    seconds(text).filter(|value| within(number.span, *value) == *value)
}

/// Reads seconds as people type them: `12`, `0.5`, `0,5`, `250 ms`.
pub fn seconds(text: &str) -> Option<Micros> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let text = text.replace(',', ".");
    Micros::parse(&text).or_else(|| Micros::parse(&format!("{text}s")))
}

/// Seconds as a field shows them: `11.284`.
pub fn in_seconds(time: Micros) -> String {
    let (whole, rest) = (time.0 / 1_000_000, time.0 % 1_000_000);
    let text = format!("{whole}.{rest:06}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}
