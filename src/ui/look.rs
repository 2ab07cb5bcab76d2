//! Looking: what is selected, what it was asked about, in which view, and through whose eyes.

use std::rc::Rc;

use super::show::Head;
use super::state::State;
use super::strings;
use super::voice::Wish;
use crate::narrate::{self, Why};
use crate::run::eyes::{Eyes, Seen};
use crate::run::kind;
use crate::sim::{EventId, Micros, MsgId, ProcId, TaskState, What, sort};

/// Which picture of the run the stage shows.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum View {
    /// Time runs down.
    #[default]
    Diagram,
    /// A moment, on a plane.
    Topology,
}

/// What was asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Asked {
    /// Why something happened.
    Event(Rc<Why>),
    /// What a node waits for, and on what it relies.
    Node(ProcId),
}

/// What a learner looks at.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Look {
    /// The event that is selected.
    pub chosen: Option<u32>,
    /// What was asked, while the answer is shown.
    pub asked: Option<Asked>,
    /// Which picture is on the stage.
    pub view: View,
    /// What one node has seen, while the page is seen through its eyes.
    pub eyes: Option<Rc<Eyes>>,
}

/// What a learner does with their eyes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum See {
    /// Selects an event.
    Event(u32),
    /// Selects the latest event of a line of a program: node, task, line.
    Line(ProcId, usize, usize),
    /// Selects nothing, and asks nothing.
    Clear,
    /// Asks why the selected event happened, or this one; again, and the answer goes away.
    Why(Option<u32>),
    /// Asks what a node waits for and relies on.
    WhyNode(ProcId),
    /// Turns to a picture.
    View(View),
    /// Sees with the eyes of a node, or with everybody's.
    Eyes(Option<ProcId>),
}

impl View {
    /// The word for it in an address.
    pub const fn word(self) -> &'static str {
        match self {
            View::Diagram => "diagram",
            View::Topology => "topology",
        }
    }
}

/// What the word of a view in an address begins with that is the eyes of a node.
pub const AS: &str = "as-";

impl State {
    /// The word for how the page is looked at in an address; none for everybody's diagram.
    pub(super) fn view_word(&self) -> Option<String> {
        if let Some(eyes) = &self.look.eyes {
            return Some(format!("{AS}{}", self.show.run.names().node(eyes.node).id));
        }
        let view = self.look.view;
        (view != View::Diagram).then(|| view.word().into())
    }

    pub(super) fn see(&mut self, see: See) {
        match see {
            See::Event(event) => self.choose(event),
            See::Line(node, task, line) => match self.event_of(node, task, line) {
                Some(event) => self.choose(event),
                None => self.done(strings::NOT_YET_EXECUTED.into()),
            },
            See::Clear => {
                (self.look.chosen, self.look.asked) = (None, None);
                self.done(strings::NOTHING_SELECTED.into());
            }
            See::Why(event) => self.ask_why(event),
            See::WhyNode(node) => {
                self.look.asked = Some(Asked::Node(node));
                let words = self.obstacles(node).into_iter().map(|m| m.words);
                self.done(words.collect::<Vec<_>>().join(" "));
            }
            See::View(view) => {
                self.look.view = view;
                self.done(strings::view_is(view));
            }
            See::Eyes(node) => self.see_as(node),
        }
    }

    /// Selects an event; one that has not happened yet is gone to.
    fn choose(&mut self, event: u32) {
        if Some(event) > self.head.event {
            self.jump(self.show.head(Some(event)));
        }
        self.look.chosen = Some(event);
        if let Some(event) = self.show.run.record.events.get(event as usize)
            && self.look.eyes.is_none()
        {
            self.program = event.node;
        }
        let words = self.event_told(event).unwrap_or_default();
        self.say(Wish::Step { words: strings::selected_event(&words), decision: true });
    }

    fn ask_why(&mut self, event: Option<u32>) {
        let wanted = event.or(self.look.chosen).or(self.head.event);
        let shown = match &self.look.asked {
            Some(Asked::Event(why)) => Some(why.event.0),
            _ => None,
        };
        let Some(wanted) = wanted.filter(|w| Some(*w) != shown) else {
            self.look.asked = None;
            return;
        };
        if self.look.eyes.is_some() {
            return self.done(strings::WHY_IS_FOG.into());
        }
        self.playing = false;
        let why = narrate::why(&self.show.run, EventId(wanted));
        let count = why.steps.len();
        let missing = why.missing.as_ref().map_or("", |m| m.words.as_str());
        self.look.chosen = Some(wanted);
        self.done(strings::why_told(count, missing));
        self.look.asked = Some(Asked::Event(Rc::new(why)));
    }

    pub(super) fn see_as(&mut self, node: Option<ProcId>) {
        (self.look.chosen, self.look.asked) = (None, None);
        match node {
            Some(node) => {
                self.playing = false;
                self.look.view = View::Diagram;
                self.program = node;
                self.look.eyes = Some(Rc::new(Eyes::of(&self.show.run, node)));
                let label = self.show.run.names().node(node).label.clone();
                self.done(strings::sees_as(&label));
            }
            None => {
                self.look.eyes = None;
                self.done(strings::FOG_LIFTED.into());
            }
        }
    }

    /// After a change of the run nothing that was selected is there any more; eyes stay whose they are.
    pub(super) fn look_anew(&mut self) {
        (self.look.chosen, self.look.asked) = (None, None);
        let nodes = self.show.run.names().nodes.len();
        let node = self.look.eyes.as_ref().map(|e| e.node);
        let node = node.filter(|n| usize::from(n.0) < nodes);
        self.look.eyes = node.map(|node| Rc::new(Eyes::of(&self.show.run, node)));
    }

    /// What stands in a node's way, and on what it relies, at the head.
    pub fn obstacles(&self, node: ProcId) -> Vec<narrate::Missing> {
        let (run, world) = (&self.show.run, self.show.world(self.head));
        let mut answers: Vec<_> = narrate::waits(run, &world, node).into_iter().collect();
        if self.head.event.is_some() {
            answers.extend(narrate::beliefs(run, &world, node));
        }
        answers
    }

    /// What one node has seen so far, while the page is seen through its eyes.
    pub fn seen_so_far(&self) -> Option<&[Seen]> {
        let eyes = self.look.eyes.as_ref()?;
        Some(eyes.until(&self.show.run, self.head.event.map(EventId)))
    }

    /// An event in words, by whoever's eyes these are; nothing where they see nothing of it.
    pub fn event_told(&self, event: u32) -> Option<String> {
        let run = &self.show.run;
        let Some(eyes) = &self.look.eyes else {
            return Some(narrate::sentence(run, EventId(event)));
        };
        let seen = eyes.seen.iter().rev().find(|s| s.since <= EventId(event))?;
        let words = narrate::seen_sentence(run, eyes.node, seen);
        Some(format!("{}. {words}", narrate::reading(seen.local)))
    }

    /// Whether an event is seen by whoever's eyes these are.
    pub fn sees(&self, event: u32) -> bool {
        let Some(eyes) = &self.look.eyes else { return true };
        eyes.seen.iter().any(|s| s.since.0 == event)
    }

    /// The next or the previous thing that the node whose eyes these are has seen.
    pub(super) fn stepped_with_eyes(&self, forward: bool) -> Option<Head> {
        let (run, eyes) = (&self.show.run, self.look.eyes.as_ref()?);
        let mut stops: Vec<u32> = eyes
            .seen
            .iter()
            .filter(|s| narrate::worth_telling(run, s))
            .map(|s| s.since.0)
            .collect();
        stops.dedup();
        let next = if forward {
            stops.iter().copied().find(|s| Some(*s) > self.head.event)
        } else {
            stops.iter().rev().copied().find(|s| Some(*s) < self.head.event)
        };
        Some(match (next, forward) {
            (Some(event), _) => self.show.head(Some(event)),
            (None, true) => self.head,
            (None, false) => Head::default(),
        })
    }

    /// The events that are lit: those of an answer, or the selected one and what belongs to it.
    pub fn lit(&self) -> Vec<u32> {
        if let Some(Asked::Event(why)) = &self.look.asked {
            return why.thread.iter().map(|id| id.0).collect();
        }
        let Some(chosen) = self.look.chosen else { return Vec::new() };
        let record = &self.show.run.record;
        let message = record.events.get(chosen as usize).and_then(|e| e.message());
        let mut lit = vec![chosen];
        if let Some(id) = message {
            lit.extend(self.of_message(id));
        }
        // An answer has no line in the log: what was answered has one.
        let mut near = chosen;
        while let Some(event) = record.events.get(near as usize)
            && kind::weight(event) == kind::Weight::Detail
            && let Some(cause) = event.causes.iter().next()
        {
            near = cause.0;
            lit.push(near);
        }
        let picture = &self.show.picture;
        let shared: Vec<u32> = lit.iter().map(|event| picture.shows(EventId(*event)).0).collect();
        lit.extend(shared);
        sort(&mut lit);
        lit.dedup();
        lit
    }

    fn of_message(&self, id: MsgId) -> Vec<u32> {
        let record = &self.show.run.record;
        let info = record.message(id);
        let held = record.events.iter().position(|e| e.what == What::Hold(id));
        let ends = [Some(info.sent), info.delivered, info.lost];
        let ends = ends.into_iter().flatten().map(|e| e.0);
        ends.chain(held.map(|h| h as u32)).collect()
    }

    /// The line of a program at which an event happened: its task and the line.
    pub fn line_of(&self, event: u32) -> Option<(usize, usize)> {
        let run = &self.show.run;
        let happened = run.record.events.get(event as usize)?;
        let word = kind::kind(happened);
        let world = run.world_at(EventId(event));
        let programs = run.names().programs.get(usize::from(happened.node.0))?;
        programs.iter().enumerate().find_map(|(task, lines)| {
            let (state, next) = world.task(happened.node, task)?;
            let waits = matches!(
                state,
                TaskState::Waiting(_) | TaskState::Working(..) | TaskState::Sleeping(_)
            );
            let line = if waits { next.checked_sub(1)? } else { next };
            let says = lines.get(line).is_some_and(|l| l.trim_start().starts_with(word));
            says.then_some((task, line))
        })
    }

    /// The latest event up to the head that a line of a program brought about.
    fn event_of(&self, node: ProcId, task: usize, line: usize) -> Option<u32> {
        let run = &self.show.run;
        let text = run.names().programs.get(usize::from(node.0))?.get(task)?.get(line)?;
        let word = text.split_whitespace().next()?;
        let last = self.head.event?;
        let events = run.record.events.iter().enumerate().take(last as usize + 1).rev();
        let mut own = events.filter(|(_, e)| e.node == node && kind::kind(e) == word);
        // Each of a few candidates costs a look at its world.
        let found = own.by_ref().take(40).find(|(index, _)| {
            let place = self.line_of(*index as u32);
            place.is_none() || place == Some((task, line))
        });
        found.map(|(index, _)| index as u32)
    }

    /// The moment that is shown: by the clock of whoever's eyes these are.
    pub fn shown_moment(&self, at: Micros) -> String {
        match &self.look.eyes {
            None => narrate::moment(at),
            Some(eyes) => {
                let last = self.head.event.map(EventId);
                let time = narrate::own_time(&self.show.run, eyes, last);
                time.map_or_else(String::new, narrate::reading)
            }
        }
    }
}
