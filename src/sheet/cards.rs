//! A lesson's cards on paper: a page to cut up, and on another what their runs make of them.

use super::prose::{plain, said, tag};
use super::words;
use crate::diagram::Element;
#[cfg(not(target_arch = "wasm32"))]
use crate::lesson::misconception;
use crate::lesson::{Card, Class, Lesson};

/// The trays in the order in which they are offered.
const TRAYS: [Class; 2] = [Class::Efficiency, Class::Correctness];

/// A page of cards, each with a box to tick for whoever cuts nothing.
pub fn to_cut(lesson: &Lesson) -> Option<Element> {
    let card = |card: &Card| {
        let tick = |tray: Class| {
            tag("span", "", [tag("span", "box", []), plain(format!(" {} ", words::tray(tray)))])
        };
        tag("li", "cut", [said("p", "", &card.text), tag("p", "sure", TRAYS.map(tick))])
    };
    let page = tag(
        "section",
        "leaf",
        [
            said("h2", "", words::CARDS),
            said("p", "quiet", words::CARDS_NOTE),
            tag("ol", "cuts", lesson.cards.iter().map(card)),
        ],
    );
    (!lesson.cards.is_empty()).then_some(page)
}

/// Where the cards belong, on a page of its own.
pub fn sorted(lesson: &Lesson) -> Option<Element> {
    let section =
        |table| tag("section", "leaf decided", [said("h2", "", words::CARDS_SORTED), table]);
    table(lesson).map(section)
}

/// Each card with its tray and why.
pub fn table(lesson: &Lesson) -> Option<Element> {
    let row = |card: &Card| {
        let title = lesson.variant(&card.variant.text).map_or("", |v| v.title.as_str());
        let why = [said("p", "", &card.text), said("p", "quiet", &card.why)];
        let tray = said("td", "", words::tray(card.tray));
        let name = said("th", "", title).with("scope", "row");
        tag("tr", "", [name, tray, tag("td", "", why)])
    };
    let head = words::CARDS_HEAD.map(|w| said("th", "", w).with("scope", "col"));
    let head = tag("thead", "", [tag("tr", "", head)]);
    let body = tag("tbody", "", lesson.cards.iter().map(row));
    (!lesson.cards.is_empty()).then(|| tag("table", "events trays-table", [head, body]))
}

/// What makes one put cards into the other tray, said once for all of them.
#[cfg(not(target_arch = "wasm32"))]
pub fn tempting(lesson: &Lesson) -> Option<Element> {
    let mut beliefs: Vec<&str> = Vec::new();
    for belief in lesson.cards.iter().filter_map(|c| misconception(&c.misconception)) {
        if !beliefs.contains(&belief) {
            beliefs.push(belief);
        }
    }
    let lines = beliefs.iter().map(|belief| said("li", "", words::behind(belief)));
    (!lesson.cards.is_empty()).then(|| tag("ul", "quiet", lines))
}

/// On a page without the program: the cards, and folded under each where it belongs.
#[cfg(not(target_arch = "wasm32"))]
pub fn to_unfold(lesson: &Lesson) -> Option<Element> {
    let card = |card: &Card| {
        let answer = tag(
            "details",
            "",
            [
                said("summary", "", words::SHOW_ANSWER),
                tag("p", "", [said("strong", "", words::tray(card.tray))]),
                said("p", "", &card.why),
            ],
        );
        tag("li", "asked", [said("p", "question", &card.text), answer])
    };
    let list = tag("ol", "questions", lesson.cards.iter().map(card));
    let note = said("p", "quiet", words::CARDS_NOTE);
    let page = tag("section", "screen", [said("h2", "", words::CARDS), note, list]);
    (!lesson.cards.is_empty()).then_some(page)
}
