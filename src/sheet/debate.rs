//! A debate as a table of claims and answers, what comes of it, and a label that designs have to earn: each with what
//! its runs give, which are run for it.

use super::prose::{Prose, plain, said, tag};
use super::words;
use crate::diagram::Element;
use crate::lesson::{Lesson, Outcome, Point, Shown};

/// Where a run that is named leads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ways {
    /// Nowhere: it is on paper.
    Paper,
    /// To the page that runs it.
    Site,
    /// It is a button of that page, marked with what it shows.
    Page,
}

struct Sheet<'l> {
    lesson: &'l Lesson,
    ways: Ways,
}

/// The debate and its end, if the lesson has one.
pub fn debate(lesson: &Lesson, ways: Ways) -> Option<Element> {
    let sheet = Sheet { lesson, ways };
    let body = tag("div", "debate", [said("p", "quiet", words::DEBATE_NOTE), sheet.claims()]);
    (!lesson.debate.is_empty()).then(|| body.holding(sheet.rulings()))
}

/// The debate on a sheet, with its heading.
pub fn debated(lesson: &Lesson, ways: Ways) -> Option<Element> {
    let title = || said("h2", "", words::DEBATE);
    debate(lesson, ways).map(|body| tag("section", leaf(ways, "leaf"), [title(), body]))
}

/// What is a page of its own on paper stands among the rest on a page that is read on a screen.
fn leaf(ways: Ways, class: &'static str) -> &'static str {
    if ways == Ways::Paper { class } else { "wide" }
}

impl Sheet<'_> {
    /// A row for each claim with what answers it; answers to nothing come last.
    fn claims(&self) -> Element {
        let lesson = self.lesson;
        let opens = lesson.opens();
        let mut told: Vec<&str> = Vec::new();
        let mut rows = Vec::new();
        for (index, point) in lesson.debate.iter().enumerate().filter(|(_, p)| p.by == opens) {
            let replies = lesson.replies(&point.id).into_iter().map(|(number, reply)| {
                if told.contains(&reply.id.as_str()) {
                    return said("p", "quiet", words::answered_above(&reply.id, &reply.title));
                }
                told.push(&reply.id);
                self.point(number, reply)
            });
            let replies: Vec<Element> = replies.collect();
            let answer = match replies.is_empty() {
                true => said("p", "quiet", words::NO_ANSWER),
                false => tag("div", "", replies),
            };
            rows.push(tag("tr", "", [cell(self.point(index, point)), cell(answer)]));
        }
        let rest = lesson.debate.iter().enumerate().filter(|(_, p)| p.by != opens);
        for (index, point) in rest.filter(|(_, p)| !told.contains(&p.id.as_str())) {
            let nothing = said("p", "quiet", words::NO_CLAIM);
            rows.push(tag("tr", "", [cell(nothing), cell(self.point(index, point))]));
        }
        let other = lesson.debate.iter().find(|p| p.by != opens).map_or("", |p| p.by.as_str());
        let head = [opens, other].map(|w| said("th", "", w).with("scope", "col"));
        tag("table", "events claims", [tag("thead", "", [tag("tr", "", head)])])
            .holding([tag("tbody", "", rows)])
    }

    fn point(&self, index: usize, point: &Point) -> Element {
        let prose = Prose { lesson: self.lesson, links: self.ways == Ways::Site };
        let name = [said("strong", "", &point.id), plain(format!(" {}", point.title))];
        let mark = (self.ways != Ways::Page).then(|| prose.mark(&point.evidence));
        let runs = point.runs.iter().map(|shown| self.shown(index, shown));
        let gave_up = point.gave_up.as_ref().map(|words| {
            let who = said("strong", "", format!("{} ", words::GAVE_UP));
            tag("p", "gave-up", [who, plain(words)])
        });
        tag("div", "point", [tag("p", "named", name)])
            .holding([tag("p", "", [plain(format!("{} ", point.claim))]).holding(mark)])
            .holding([tag("ul", "shown", runs)])
            .holding(gave_up)
    }

    /// A run, what it shows, and its figures.
    fn shown(&self, point: usize, shown: &Shown) -> Element {
        let variant = &shown.variant.text;
        let figures = self
            .lesson
            .outcome_of(variant)
            .map(|outcome| said("span", "figures-of", format!(" {}", words::figures(&outcome))));
        let way = self.way(variant, Some(point));
        // A button breaks into lines of its own; what it shows stands below it.
        let shows = match self.ways {
            Ways::Page => said("span", "says", &shown.shows),
            _ => plain(format!(": {}", shown.shows)),
        };
        tag("li", "", [way, shows]).holding(figures)
    }

    /// The title of a run, and the way to it.
    fn way(&self, variant: &str, point: Option<usize>) -> Element {
        let title = self.lesson.variant(variant).map_or("", |v| v.title.as_str());
        match self.ways {
            Ways::Paper => said("em", "", title),
            Ways::Site => said("a", "", title)
                .with("href", format!("../#/lesson/{}?run={variant}", self.lesson.id)),
            Ways::Page => {
                let button = said("button", "link", title).with("type", "button");
                let button = button.with("data-run", variant);
                match point {
                    Some(point) => button.with("data-point", point),
                    None => button,
                }
            }
        }
    }

    /// What comes of it, by what may fail and by what the lock is for.
    fn rulings(&self) -> Option<Element> {
        let came = |variant: &str| {
            let outcome = self.lesson.outcome_of(variant).unwrap_or_default();
            let word = said("strong", "", words::came(&outcome));
            cell(tag("div", "", [word, plain(" "), self.way(variant, None)]))
        };
        let row = |ruling: &crate::lesson::Ruling| {
            let when = said("th", "", &ruling.when).with("scope", "row");
            let (wrong, wasteful) = (came(&ruling.correctness.text), came(&ruling.efficiency.text));
            tag("tr", "", [when, wrong, wasteful, said("td", "", &ruling.says)])
        };
        let head = words::RULINGS_HEAD.map(|w| said("th", "", w).with("scope", "col"));
        let table = tag("table", "events rulings", [tag("thead", "", [tag("tr", "", head)])])
            .holding([tag("tbody", "", self.lesson.rulings.iter().map(row))]);
        let title = said("h3", "", words::RULINGS);
        (!self.lesson.rulings.is_empty()).then(|| tag("div", "ruled", [title, table]))
    }
}

fn cell(inside: Element) -> Element {
    tag("td", "", [inside])
}

/// Designs against attacks, with what came of each: none of the defences, each of them, all but the one that counts,
/// and all.
pub fn pinned(lesson: &Lesson, ways: Ways) -> Option<Element> {
    let pin = lesson.pin.as_ref()?;
    let count = lesson.defences.len();
    let needed = lesson.defences.iter().position(|d| d.edit.text == pin.needs.text)?;
    let mut designs = vec![(words::NO_DEFENCE.to_string(), vec![false; count])];
    for (index, defence) in lesson.defences.iter().enumerate() {
        designs.push((defence.title.clone(), (0..count).map(|i| i == index).collect()));
    }
    let without = lesson.defences.get(needed).map_or("", |d| d.title.as_str());
    designs.push((words::all_but(without), (0..count).map(|i| i != needed).collect()));
    designs.push((words::ALL_DEFENCES.to_string(), vec![true; count]));
    let row = |(name, design): &(String, Vec<bool>)| {
        let outcomes: Vec<Outcome> = pin
            .attacks
            .iter()
            .map(|attack| lesson.outcome_of_attack(&attack.text, design).unwrap_or_default())
            .collect();
        let stays = !outcomes.iter().any(Outcome::harmed);
        let cells = outcomes.iter().map(|o| said("td", "", words::withstood(o)));
        let label = tag("td", "", [said("strong", "", words::label(stays))]);
        tag("tr", "", [said("th", "", name).with("scope", "row")]).holding(cells).holding([label])
    };
    let title = |attack: &crate::lesson::Line| {
        let title = lesson.variant(&attack.text).map_or("", |v| v.title.as_str());
        said("th", "", title).with("scope", "col")
    };
    let head = tag("tr", "", [said("th", "", words::DESIGN).with("scope", "col")])
        .holding(pin.attacks.iter().map(title))
        .holding([said("th", "", words::label_named(&pin.label)).with("scope", "col")]);
    let table = tag("table", "events pinned", [tag("thead", "", [head])]).holding([tag(
        "tbody",
        "",
        designs.iter().map(row),
    )]);
    let note = said("p", "quiet", words::pinned_note(pin.attacks.len()));
    let heading = said("h2", "", words::PINNED);
    Some(tag("section", leaf(ways, "leaf decided"), [heading, note, table]))
}
