//! The hand-out: what happened picture by picture, then pages to draw, to decide and to compare.

use std::rc::Rc;

use super::debate::{self, Ways};
use super::prose::{Prose, plain, said, tag};
use super::questions::Asked;
use super::strip::{self, Frame};
use super::{cards, machine, words};
use crate::diagram::{Element, Picture, blank, defs};
use crate::lesson::{Lesson, Report};
use crate::run::Run;

/// The height of empty lifelines: they fill a page below its heading.
const BLANK: i32 = 680;

/// A run that is told on the hand-out.
#[derive(Clone, Debug)]
pub struct Scene<'l> {
    /// What it is called.
    pub title: String,
    /// The run.
    pub run: &'l Run,
    /// Its picture, [`super::WIDTH`] wide.
    pub picture: &'l Picture,
    /// Its key moments.
    pub frames: Vec<Frame<'l>>,
    /// How many decisions have no frame.
    pub left: usize,
}

/// A lesson on paper. `written` are runs of its variants by index, as far as they are there.
pub fn handout(lesson: &Lesson, scenes: &[Scene<'_>], written: &[Option<Rc<Run>>]) -> Element {
    let prose = Prose { lesson, links: false };
    let asked = Asked::of(lesson, written);
    tag("article", "handout", [patterns()])
        .holding(opening(prose))
        .holding(scenes.iter().map(|scene| shown(prose, scene)))
        .holding(scenes.first().map(|scene| logged(scene)))
        .holding(machine::section(lesson))
        .holding(sources(prose))
        .holding(scenes.first().map(|scene| to_draw(scene.picture)))
        .holding(cards::to_cut(lesson))
        .holding(to_answer(&asked))
        .holding(cards::sorted(lesson))
        .holding(debate::debated(lesson, Ways::Paper))
        .holding(debate::pinned(lesson, Ways::Paper))
}

/// The patterns that hatched areas refer to, once for all pictures.
pub fn patterns() -> Element {
    let svg = Element::new("svg").with("class", "patterns").with("aria-hidden", "true");
    svg.with("width", 0).with("height", 0).holding([defs()])
}

/// Title, incident, and what sets the scene.
pub fn opening(prose: Prose<'_>) -> Vec<Element> {
    let lesson = prose.lesson;
    let intro = tag("div", "prose", prose.blocks(&lesson.intro));
    let mut opening = vec![
        said("p", "kicker", words::kicker(lesson.minutes)),
        said("h1", "", &lesson.title),
        said("p", "hook", &lesson.hook),
    ];
    opening.extend(lesson.report.as_ref().map(reported));
    opening.push(intro);
    opening
}

/// What a case tells of: the symptom, and the thread, which nothing on the page depends on.
pub fn reported(report: &Report) -> Element {
    let thread = said("a", "", &report.thread).with("href", report.address());
    let thread = thread.with("rel", "noreferrer");
    tag(
        "div",
        "report",
        [
            tag("p", "", [said("strong", "", words::SYMPTOM), plain(&report.symptom)]),
            tag("p", "quiet", [plain(words::THREAD), thread, plain(words::OWN_WORDS)]),
        ],
    )
}

/// A run, picture by picture, to its verdict.
pub fn shown(prose: Prose<'_>, scene: &Scene<'_>) -> Element {
    let more = (scene.left > 0).then(|| said("p", "quiet", words::more_in_log(scene.left)));
    tag(
        "section",
        "scene",
        [
            said("h2", "", &scene.title),
            tag("div", "done-to", [plain(words::DONE_TO), strip::edits(scene.run)]),
            strip::strip(prose, scene.run, scene.picture, &scene.frames),
        ],
    )
    .holding(more)
    .holding([strip::verdict(scene.run)])
}

fn logged(scene: &Scene<'_>) -> Element {
    tag("section", "", [said("h2", "", words::LOG), strip::log(scene.run)])
}

/// Where the claims come from that no run can show.
pub fn sources(prose: Prose<'_>) -> Option<Element> {
    let list = prose.evidence()?;
    Some(tag("section", "", [said("h2", "", words::EVIDENCE), list]))
}

/// A page to draw on.
pub fn to_draw(picture: &Picture) -> Element {
    tag(
        "section",
        "leaf",
        [
            said("h2", "", words::DRAW),
            said("p", "quiet", words::DRAW_NOTE),
            blank(picture, BLANK, words::BLANK),
        ],
    )
}

/// A page of questions, and one of answers.
pub fn to_answer(asked: &Asked<'_>) -> Vec<Element> {
    if asked.each().next().is_none() {
        return Vec::new();
    }
    vec![
        tag("section", "leaf", [said("h2", "", words::QUESTIONS), asked.sheet()]),
        tag("section", "leaf decided", [said("h2", "", words::ANSWERS), asked.answers()]),
    ]
}
