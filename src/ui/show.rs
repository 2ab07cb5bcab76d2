//! A run with all that is derived from it for showing: stops, beats, questions, the picture.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::rc::Rc;

use super::moments::Moments;
use super::strings;
use crate::diagram::{self, Frozen, Layout, Picture};
use crate::judge::Finding;
use crate::lesson::{Claim, Lesson, Predict, anchor};
use crate::narrate;
use crate::run::kind::{self, Weight};
use crate::run::{self, Run};
use crate::sim::{Micros, ProcId, World, sort, sort_by_key};
use crate::systems::{Locks, Registry};

/// How far one step goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    /// To the next piece of the story.
    Beat,
    /// To the next thing that happens.
    Event,
    /// To the next thing that decides something.
    Decision,
}

/// Where in a run the learner is: everything up to `event` has happened.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Head {
    /// The last event that has happened; none at the very start.
    pub event: Option<u32>,
    /// The moment; not before that event, and before the next one.
    pub at: Micros,
}

/// A run with all that is derived from it for showing.
#[derive(Clone, Debug)]
pub struct Show {
    /// The run.
    pub run: Rc<Run>,
    /// Its picture.
    pub picture: Rc<Picture>,
    /// Events that a step stops at.
    pub stops: Vec<u32>,
    /// Those of them that decide something.
    pub decisions: Vec<u32>,
    /// Where each beat of the lesson stands in this run, or why it does not.
    pub beats: Vec<Result<u32, String>>,
    /// The beats whose words are true of this run, by the order of their events.
    pub story: Vec<usize>,
    /// Where this run leaves the last run that the story was written for, and that run's variant.
    pub leaves: Option<(u32, usize)>,
    /// Where each prediction is asked and where it is answered, where it belongs to this run.
    pub questions: Vec<Option<(u32, u32)>>,
    /// The index of the lesson's variant whose words this run comes nearest to.
    pub variant: usize,
    /// The verdict in one sentence.
    pub headline: narrate::Headline,
    /// From this event on the verdict gives nothing away.
    pub decided: u32,
    hash: OnceCell<u64>,
    moments: Moments,
}

impl Show {
    /// Runs a variant of a lesson with these edits and prepares what is shown of it.
    ///
    /// # Errors
    /// What is wrong with the lesson or an edit, the latter with its index.
    pub fn of(
        lesson: &Lesson,
        variant: usize,
        edits: &[String],
        written: &[Option<Rc<Run>>],
        width: i32,
    ) -> Result<Show, (usize, String)> {
        Show::laid_out(lesson, variant, edits, written, &|run| picture(run, width))
    }

    /// The same, with its picture laid out in some other way.
    ///
    /// # Errors
    /// What is wrong with the lesson or an edit, the latter with its index.
    pub fn laid_out(
        lesson: &Lesson,
        variant: usize,
        edits: &[String],
        written: &[Option<Rc<Run>>],
        lay_out: &dyn Fn(&Run) -> Picture,
    ) -> Result<Show, (usize, String)> {
        let run = Rc::new(simulated(lesson, variant, edits)?);
        let picture = Rc::new(lay_out(&run));
        let events = || run.record.events.iter().enumerate().map(|(i, e)| (i as u32, e));
        let heavier = |least: Weight| {
            events().filter(|(_, e)| kind::weight(e) >= least).map(|(i, _)| i).collect::<Vec<_>>()
        };
        let (stops, mut decisions) = (heavier(Weight::Step), heavier(Weight::Decision));
        decisions.extend(run.judgement.findings.iter().map(|f| f.event().0));
        sort(&mut decisions);
        decisions.dedup();
        let nearest = nearest(lesson, variant, edits);
        let name = lesson.variants.get(nearest).map_or("", |v| v.name.as_str());
        let find = |line: &str| anchor(&run, line).map(|id| id.0);
        let beats: Vec<_> = lesson.beats.iter().map(|b| find(&b.at.text)).collect();
        let told = |i: &usize| match (lesson.beats.get(*i), beats.get(*i)) {
            (Some(beat), Some(Ok(event))) => {
                let place = lesson.variants.iter().position(|v| v.name == beat.variant);
                let other = place.and_then(|p| written.get(p)).and_then(Option::as_ref);
                other.is_some_and(|o| *event < same_until(o, &run))
            }
            _ => false,
        };
        let mut story: Vec<usize> = (0..beats.len()).filter(told).collect();
        sort_by_key(&mut story, |i| beats.get(*i).and_then(|b| b.as_ref().ok().copied()));
        let asked = |p: &Predict| {
            let place = (find(&p.at.text).ok()?, find(&p.shown.text).ok()?);
            (p.variant == name).then_some(place)
        };
        let questions = lesson.predictions.iter().map(asked).collect();
        let headline = narrate::headline(&run);
        let decided = decided(&run, headline.tone);
        let leaves = leaves(&run, written);
        Ok(Show {
            picture,
            stops,
            decisions,
            beats,
            story,
            leaves,
            questions,
            variant: nearest,
            headline,
            decided,
            run,
            hash: OnceCell::new(),
            moments: Moments::default(),
        })
    }

    /// The run's hash, computed when it is first asked for.
    pub fn hash(&self) -> u64 {
        *self.hash.get_or_init(|| self.run.hash())
    }

    /// The index of the last event.
    pub fn last(&self) -> Option<u32> {
        (self.run.record.events.len() as u32).checked_sub(1)
    }

    /// When an event happened.
    pub fn time(&self, event: u32) -> Micros {
        self.run.record.events.get(event as usize).map_or(self.run.end, |e| e.at)
    }

    /// The head at an event.
    pub fn head(&self, event: Option<u32>) -> Head {
        let event = event.and_then(|e| Some(e.min(self.last()?)));
        Head { event, at: event.map_or(Micros::ZERO, |e| self.time(e)) }
    }

    /// The head at a moment.
    pub fn head_at(&self, at: Micros) -> Head {
        let at = at.min(self.run.end);
        let count = self.run.record.events.partition_point(|e| e.at <= at) as u32;
        // At the very start nothing has happened yet, not even what happens at 0 s.
        let event = if at == Micros::ZERO { None } else { count.checked_sub(1) };
        Head { event, at }
    }

    /// The events at which playing stops: questions, and beats if they are wanted.
    pub fn halts(&self, beats: bool) -> Vec<u32> {
        let mut halts = if beats { self.beat_events() } else { Vec::new() };
        halts.extend(self.questions.iter().flatten().map(|q| q.0));
        sort(&mut halts);
        halts.dedup();
        halts
    }

    fn beat_events(&self) -> Vec<u32> {
        let event = |i: &usize| self.beats.get(*i).and_then(|b| b.as_ref().ok().copied());
        let mut events: Vec<u32> = self.story.iter().filter_map(event).collect();
        events.dedup();
        events
    }

    /// The step's number: how many of the stops lie at or before the head.
    pub fn step(&self, head: Head) -> usize {
        head.event.map_or(0, |e| self.stops.partition_point(|s| *s <= e))
    }

    /// The world at the head.
    pub fn world(&self, head: Head) -> Rc<World<Locks>> {
        self.moments.world(&self.run, head)
    }

    /// What a node knows at the head.
    pub fn knows(&self, head: Head, node: ProcId) -> Rc<narrate::Knows> {
        self.moments.knows(&self.run, head, node)
    }

    /// How things stand at the head, in one sentence.
    pub fn summary(&self, head: Head) -> Rc<str> {
        self.moments.summary(&self.run, head)
    }

    fn list(&self, size: Size) -> Cow<'_, [u32]> {
        match size {
            Size::Beat => self.beat_events().into(),
            Size::Event => self.stops.as_slice().into(),
            Size::Decision => self.decisions.as_slice().into(),
        }
    }

    /// Where a step leads.
    pub fn stepped(&self, head: Head, size: Size, forward: bool) -> Head {
        let list = self.list(size);
        if forward {
            let next = match head.event {
                None => list.first(),
                Some(e) => list.get(list.partition_point(|s| *s <= e)),
            };
            return next.map_or_else(|| self.end(), |e| self.head(Some(*e)));
        }
        let Some(event) = head.event else { return Head::default() };
        // Between two of them, the first step back leads to the one that has happened.
        let count = list.partition_point(|s| *s <= event);
        let at = |count: usize| count.checked_sub(1).and_then(|i| list.get(i)).copied();
        match at(count) {
            Some(last) if self.time(last) < head.at => self.head(Some(last)),
            Some(_) => self.head(at(count - 1)),
            None => Head::default(),
        }
    }

    /// The end of the run.
    pub fn end(&self) -> Head {
        Head { event: self.last(), at: self.run.end }
    }

    /// The answer of a prediction that this run makes right, by its index.
    pub fn answer(&self, question: &Predict) -> Option<usize> {
        question.answers.iter().position(|answer| {
            Claim::parse(&answer.when.text, self.run.names())
                .is_ok_and(|claim| claim.test(&self.run).is_ok())
        })
    }
}

/// Lays a run out.
pub(super) fn picture(run: &Run, width: i32) -> Picture {
    diagram::layout(run, &Layout { width, ..Layout::default() })
}

/// Lays a run out while a hand moves one of its edges.
pub(super) fn picture_frozen(run: &Run, width: i32, map: &Frozen, edge: Micros) -> Picture {
    diagram::layout_frozen(run, &Layout { width, ..Layout::default() }, map, edge)
}

fn first(errors: &[run::ScenarioError], edits: &[String]) -> (usize, String) {
    let Some(error) = errors.first() else { return (0, String::new()) };
    let index = match error.place.path.as_slice() {
        [key, index, ..] if key == "edits" => index.parse().unwrap_or(usize::MAX),
        _ => usize::MAX,
    };
    let known = index < edits.len();
    let words = if known {
        strings::at_character(error.place.at + 1, &error.message)
    } else {
        error.to_string()
    };
    (index, words)
}

/// Runs a variant with these edits.
pub(super) fn simulated(
    lesson: &Lesson,
    variant: usize,
    edits: &[String],
) -> Result<Run, (usize, String)> {
    let none = || (usize::MAX, strings::NO_VARIANT.to_string());
    let scenario = lesson.scenario_of(lesson.variants.get(variant).ok_or_else(none)?);
    let compiled = run::compile(&scenario, edits, &Registry::standard());
    compiled.map(Run::of).map_err(|errors| first(&errors, edits))
}

/// The variant with the same clients whose edits this list contains most of.
fn nearest(lesson: &Lesson, variant: usize, edits: &[String]) -> usize {
    let from = lesson.variants.get(variant);
    let mut best = (variant, None);
    for (index, other) in lesson.variants.iter().enumerate() {
        let fits = from.is_some_and(|f| f.same_scene(other))
            && other.edits.iter().all(|e| edits.contains(&e.text));
        if fits && best.1 < Some(other.edits.len()) {
            best = (index, Some(other.edits.len()));
        }
    }
    best.0
}

/// Up to which event, exclusive, words about one run are true of the other.
fn same_until(one: &Run, other: &Run) -> u32 {
    // What events say is compared too: the same grant with another token is another story.
    let pairs = one.record.events.iter().zip(&other.record.events);
    pairs.take_while(|(a, b)| a == b).count() as u32
}

/// The first event of a run that happens in none of the written ones, and the variant of the one
/// that it left last.
fn leaves(run: &Run, written: &[Option<Rc<Run>>]) -> Option<(u32, usize)> {
    let known = written.iter().enumerate().filter_map(|(i, w)| Some((i, w.as_ref()?)));
    let mut last = None;
    for (variant, other) in known {
        let event = same_until(run, other);
        if last.is_none_or(|(e, _)| e < event) {
            last = Some((event, variant));
        }
    }
    last.filter(|(event, _)| (*event as usize) < run.record.events.len())
}

/// The event from which on the verdict gives nothing away.
fn decided(run: &Run, tone: narrate::Tone) -> u32 {
    let harm = |f: &&Finding| f.is_harm();
    let decides = |f: &&Finding| match f {
        Finding::StaleAccepted { .. }
        | Finding::StaleRejected { .. }
        | Finding::LegitRejected { .. } => true,
        _ => harm(f),
    };
    let findings = &run.judgement.findings;
    // What does harm later must not be told at an earlier near miss.
    let first = match tone {
        narrate::Tone::Harm => findings.iter().find(harm),
        _ => findings.iter().find(decides),
    };
    let last = (run.record.events.len() as u32).saturating_sub(1);
    first.or(findings.last()).map_or(last, |f| f.event().0)
}

impl Show {
    /// Where a learner who is at `head` of this run stands in another one: at the same event where it
    /// happened there too, otherwise at the same moment. Whoever has seen how it ends sees how that
    /// one ends, and whoever has seen the verdict sees its verdict.
    pub fn seen_in(&self, other: &Show, head: Head) -> Head {
        let Some(event) = head.event else { return head };
        if head.event == self.last() {
            return other.end();
        }
        let same = |show: &Show| {
            let event = show.run.record.events.get(event as usize)?;
            Some((event.at, event.node, kind::kind(event)))
        };
        let next = other.run.record.events.get(event as usize + 1).map_or(other.run.end, |e| e.at);
        let stays = same(self) == same(other) && head.at <= next;
        let there = if stays { head } else { other.head_at(head.at) };
        if event >= self.decided && there.event < Some(other.decided) {
            return other.head(Some(other.decided));
        }
        there
    }
}
