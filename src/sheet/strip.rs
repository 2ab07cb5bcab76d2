//! The film strip: one still picture for each key moment of a run, with what is said of it.

use super::prose::{Prose, address, plain, said, tag};
use super::words;
use crate::diagram::{Element, Picture, Still, still};
use crate::lesson::{Beat, Block, Lesson};
use crate::narrate;
use crate::run::Run;
use crate::run::kind::{self, Weight};
use crate::sim::{EventId, Micros, What, sort};

/// How wide the pictures of a strip are laid out: on paper, words find room beside them.
pub const WIDTH: i32 = 600;
/// The least and the greatest height of run that a frame shows above its moment.
const LEAST: i32 = 190;
const MOST: i32 = 440;
/// More frames than this, of moments that no beat tells, nobody looks at.
const MOST_UNTOLD: usize = 8;

/// A key moment and what is said of it.
#[derive(Clone, Debug)]
pub struct Frame<'l> {
    /// The event: the frame shows the run up to it.
    pub event: EventId,
    /// The beat that tells it; a moment without one is told by its sentence.
    pub beat: Option<&'l Beat>,
}

impl Frame<'_> {
    fn title(&self, run: &Run) -> String {
        self.beat.map_or_else(|| narrate::sentence(run, self.event), |b| b.title.clone())
    }

    fn blocks(&self) -> &[Block] {
        self.beat.map_or(&[], |b| &b.blocks)
    }
}

/// The key moments of a run, and how many decisions found no room: the beats that are told of it,
/// and after the event at which it goes its own way, what is decided there.
pub fn story<'l>(
    lesson: &'l Lesson,
    run: &Run,
    told: &[(usize, EventId)],
    leaves: Option<EventId>,
) -> (Vec<Frame<'l>>, usize) {
    let mut frames: Vec<Frame<'l>> = told
        .iter()
        .map(|(beat, event)| Frame { event: *event, beat: lesson.beats.get(*beat) })
        .collect();
    let own = if frames.is_empty() { Some(EventId(0)) } else { leaves };
    let untold = own.map(|from| decisions(run, from)).unwrap_or_default();
    let left = untold.len().saturating_sub(MOST_UNTOLD);
    frames.extend(untold.iter().take(MOST_UNTOLD).map(|e| Frame { event: *e, beat: None }));
    (frames, left)
}

/// What decides the rest of a run from an event on: what is granted, lost, accepted, rejected or
/// stopped, and what harms.
fn decisions(run: &Run, from: EventId) -> Vec<EventId> {
    let events = run.record.events.iter().enumerate();
    let decides = events.filter(|(_, e)| {
        let stops = !matches!(e.what, What::Resume);
        kind::weight(e) == Weight::Decision && stops
    });
    let mut list: Vec<EventId> = decides.map(|(i, _)| EventId(i as u32)).collect();
    list.extend(run.judgement.findings.iter().filter(|f| f.is_harm()).map(|f| f.event()));
    list.retain(|event| *event >= from);
    sort(&mut list);
    list.dedup();
    list
}

/// The strip: a list of figures, each with its caption.
pub fn strip(prose: Prose<'_>, run: &Run, picture: &Picture, frames: &[Frame<'_>]) -> Element {
    let mut before = Micros::ZERO;
    let items = frames.iter().enumerate().map(|(index, frame)| {
        let at = run.record.events.get(frame.event.0 as usize).map_or(run.end, |e| e.at);
        let shown = begun(run, frame.event).filter(|_| at == Micros::ZERO).unwrap_or(at);
        let image = still(run, picture, &window(picture, before, shown, frame.event));
        before = at;
        let mut moment = format!("{} · {}", index + 1, narrate::moment(at));
        if shown > at {
            moment += &format!(" {} {}", words::UNTIL, narrate::moment(shown));
        }
        let caption = [said("p", "kicker", moment), said("h3", "", frame.title(run))];
        let caption = tag("figcaption", "prose", caption)
            .holding(prose.blocks(frame.blocks()))
            .holding(frame.beat.and_then(|beat| prose.linked(beat)));
        let image = tag("div", "frame-picture", [image]).holding(way(prose, frame, at));
        let figure = tag("figure", "frame", [caption, image]);
        let item = tag("li", "", [figure]);
        match frame.beat.filter(|_| prose.links) {
            Some(beat) => item.with("id", &beat.id),
            None => item,
        }
    });
    tag("ol", "film", items)
}

/// When whoever begins something hears the first of it. Of what begins with the run nothing is to be seen
/// before.
fn begun(run: &Run, event: EventId) -> Option<Micros> {
    let node = run.record.events.get(event.0 as usize)?.node;
    let mut later = run.record.events.iter().skip(event.0 as usize);
    later.find(|e| e.node == node && matches!(e.what, What::Deliver(_))).map(|e| e.at)
}

/// Where a frame can be seen in the simulation. On a narrow screen, where the picture scrolls in a box
/// of its own, this is also what the keyboard scrolls it by.
fn way(prose: Prose<'_>, frame: &Frame<'_>, at: Micros) -> Option<Element> {
    let beat = frame.beat.filter(|_| prose.links)?;
    let to = address(prose.lesson, &beat.variant, Some(frame.event), false);
    let link = said("a", "", words::see(&narrate::moment(at))).with("href", format!("../{to}"));
    Some(tag("p", "quiet screen", [link]))
}

/// What has happened since the frame before, and a little of what led to it.
fn window(picture: &Picture, from: Micros, to: Micros, event: EventId) -> Still {
    let y = picture.y_of(to);
    let crop = Still::between(picture, from, to);
    let top = crop.top.unwrap_or(0).clamp(y - MOST, y - LEAST).max(picture.header_height);
    Still { top: Some(top), highlight: vec![event], ..crop }
}

/// What happened, as a table.
pub fn log(run: &Run) -> Element {
    let harmful = |id: EventId| run.judgement.findings.iter().any(|f| f.event() == id);
    let told = run.record.events.iter().enumerate().filter_map(|(i, e)| {
        let id = EventId(i as u32);
        (kind::weight(e) > Weight::Detail || harmful(id)).then_some((id, e.at))
    });
    let rows = told.map(|(id, at)| {
        let time = said("td", "time", narrate::moment(at));
        tag("tr", "", [time, said("td", "", narrate::sentence(run, id))])
    });
    let head = [words::TIME, words::LOG].map(|w| said("th", "", w).with("scope", "col"));
    let head = tag("thead", "", [tag("tr", "", head)]);
    tag("table", "events", [head, tag("tbody", "", rows)])
}

/// The verdict in one sentence.
pub fn verdict(run: &Run) -> Element {
    let headline = narrate::headline(run);
    let word = said("strong", "", headline.word);
    tag("p", "ends", [word, plain(format!(" {}", headline.rest))])
}

/// What is done to a run.
pub fn edits(run: &Run) -> Element {
    let edits = &run.compiled.edits;
    if edits.is_empty() {
        return said("p", "", words::NOTHING_DONE);
    }
    tag("ul", "done", edits.iter().map(|e| tag("li", "", [said("code", "", e.to_string())])))
}
