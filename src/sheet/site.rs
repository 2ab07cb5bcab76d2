//! Lessons as pages that any browser can read and print, without the program and without scripts.

use std::rc::Rc;

use super::debate::{self, Ways};
use super::handout::{Scene, opening, patterns, shown, sources, to_answer, to_draw};
use super::html::html;
use super::prose::{Prose, plain, said, tag};
use super::questions::{Asked, decided};
use super::strip::{self, WIDTH, story};
use super::{cards, machine, teacher, words};
use crate::diagram::{Element, Layout, Picture, layout};
use crate::lesson::{BASE, Lesson, anchor};
use crate::run::Run;
use crate::sim::EventId;

/// These pages run nothing at all.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'";

/// What all pages of a site share.
#[derive(Clone, Debug)]
pub struct Shell<'s> {
    /// The style sheet, from a page of the site.
    pub style: &'s str,
    /// The icon, from there.
    pub icon: &'s str,
    /// The start page, from there.
    pub home: &'s str,
}

/// The runs of a lesson: those of all variants that a beat or a prediction is about, by index.
fn runs(lesson: &Lesson) -> Vec<Option<Rc<Run>>> {
    let told = |name: &str| {
        name == BASE
            || lesson.beats.iter().any(|b| b.variant == name)
            || lesson.predictions.iter().any(|p| p.variant == name)
    };
    let run = |v: &crate::lesson::Variant| {
        let compiled = told(&v.name).then(|| lesson.compile(&v.name, &[]).ok()).flatten();
        compiled.map(|c| Rc::new(Run::of(c)))
    };
    lesson.variants.iter().map(run).collect()
}

fn pictures(runs: &[Option<Rc<Run>>]) -> Vec<Picture> {
    let size = Layout { width: WIDTH, ..Layout::default() };
    runs.iter().map(|run| run.as_ref().map(|r| layout(r, &size)).unwrap_or_default()).collect()
}

/// The page of a lesson: the words with their film strips, the questions, the log; and on paper the
/// pages to draw, to decide and to compare.
pub fn lesson_page(lesson: &Lesson, shell: &Shell<'_>) -> String {
    let (prose, runs) = (Prose { lesson, links: true }, runs(lesson));
    let pictures = pictures(&runs);
    let scenes = scenes(lesson, &runs, &pictures);
    let asked = Asked::of(lesson, &runs);
    let base = scenes.first();
    let main = tag("main", "handout site", opening(prose))
        .holding([ways(lesson)])
        .holding(asked.each().next().is_some().then(|| decide(&asked)))
        .holding(cards::to_unfold(lesson))
        .holding(scenes.iter().map(|scene| shown(prose, scene)))
        .holding(debate::debated(lesson, Ways::Site))
        .holding(debate::pinned(lesson, Ways::Site))
        .holding(machine::section(lesson))
        .holding(sources(prose))
        .holding([recall(lesson)])
        .holding(base.map(|scene| folded(words::LOG, [strip::log(scene.run)])))
        .holding(pictures.first().map(to_draw))
        .holding(cards::to_cut(lesson))
        .holding(to_answer(&asked))
        .holding(cards::sorted(lesson));
    page(shell, &lesson.title, &lesson.hook, main)
}

/// The teacher's sheet of a lesson.
pub fn teacher_page(lesson: &Lesson, shell: &Shell<'_>) -> String {
    let runs = runs(lesson);
    let pictures = pictures(&runs);
    let picture = pictures.into_iter().next().unwrap_or_default();
    let title = words::teacher_title(&lesson.title);
    page(shell, &title, &lesson.hook, teacher(lesson, &runs, &picture))
}

/// One scene for each variant that has beats, in the order in which they are told first.
fn scenes<'l>(
    lesson: &'l Lesson,
    runs: &'l [Option<Rc<Run>>],
    pictures: &'l [Picture],
) -> Vec<Scene<'l>> {
    let mut names: Vec<&str> = vec![BASE];
    for beat in &lesson.beats {
        if !names.contains(&beat.variant.as_str()) {
            names.push(&beat.variant);
        }
    }
    let scene = |name: &&str| {
        let place = lesson.variants.iter().position(|v| v.name == **name)?;
        let run = runs.get(place)?.as_deref()?;
        let beats = lesson.beats.iter().enumerate().filter(|(_, b)| b.variant == **name);
        let told: Vec<(usize, EventId)> =
            beats.filter_map(|(i, b)| Some((i, anchor(run, &b.at.text).ok()?))).collect();
        let (frames, left) = story(lesson, run, &told, None);
        let title = words::the_run(&lesson.variants.get(place)?.title);
        Some(Scene { title, run, picture: pictures.get(place)?, frames, left })
    };
    names.iter().filter_map(scene).collect()
}

fn ways(lesson: &Lesson) -> Element {
    let link = |to: String, text: &str| said("a", "", text).with("href", to);
    let open = link(format!("../#/lesson/{}", lesson.id), words::OPEN);
    if lesson.report.is_some() {
        return tag("p", "ways screen", [open]);
    }
    tag(
        "p",
        "ways screen",
        [
            open,
            plain(" · "),
            link(format!("{}-teacher.html", lesson.id), words::TEACHER),
            plain(format!(" · {}", words::PRINT_NOTE)),
        ],
    )
}

/// The predictions, each with its answer under it, out of sight until somebody has decided.
fn decide(asked: &Asked<'_>) -> Element {
    let each = asked.each().map(|(question, run)| {
        let answers = question.answers.iter().map(|a| said("li", "", &a.text));
        let answer = run.and_then(|run| decided(question, run));
        let text = answer.and_then(|i| question.answers.get(i));
        let text = text.map_or(words::NONE_OF_THESE, |a| a.text.trim_end_matches('.'));
        let result = tag(
            "details",
            "",
            [
                said("summary", "", words::SHOW_ANSWER),
                said("p", "", words::the_run_says(text)),
                said("p", "", &question.why),
            ],
        );
        tag(
            "li",
            "asked",
            [said("p", "question", &question.question), tag("ul", "reveals", answers), result],
        )
    });
    tag("section", "screen", [said("h2", "", words::DECIDE_FIRST), tag("ol", "questions", each)])
}

fn recall(lesson: &Lesson) -> Element {
    let items = lesson.recall.iter().map(|item| {
        tag("details", "", [said("summary", "", &item.question), said("p", "", &item.answer)])
    });
    let title = (!lesson.recall.is_empty()).then(|| said("h2", "", words::RECALL));
    tag("section", "screen", title)
        .holding(items)
        .holding([said("h2", "", words::SAY), said("p", "say", &lesson.say)])
}

/// On a screen folded, on paper open.
fn folded(title: &str, inside: impl IntoIterator<Item = Element> + Clone) -> Element {
    let summary = said("summary", "", title);
    let screen = tag("details", "screen", [summary]).holding(inside.clone());
    let paper = tag("section", "paper", [said("h2", "", title)]).holding(inside);
    tag("div", "", [screen, paper])
}

pub(super) fn page(shell: &Shell<'_>, title: &str, about: &str, main: Element) -> String {
    let meta = |name: &str, content: &str| {
        Element::new("meta").with("name", name).with("content", content)
    };
    let policy = Element::new("meta").with("http-equiv", "Content-Security-Policy");
    let link = |rel: &str, to: &str| Element::new("link").with("rel", rel).with("href", to);
    let head = tag(
        "head",
        "",
        [
            Element::new("meta").with("charset", "utf-8"),
            policy.with("content", POLICY),
            meta("viewport", "width=device-width, initial-scale=1"),
            meta("color-scheme", "light dark"),
            meta("description", about),
            said("title", "", format!("{title} · Lockscope")),
            link("icon", shell.icon).with("type", "image/svg+xml"),
            link("stylesheet", shell.style),
        ],
    );
    let home = said("a", "brand", "Lockscope").with("href", shell.home);
    let body = tag("body", "", [tag("header", "top", [home]), patterns(), main]);
    let document = tag("html", "", [head, body]).with("lang", "en");
    format!("<!DOCTYPE html>\n{}\n", html(&document))
}
