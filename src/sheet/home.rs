//! The start page's list of lessons, each with the miniature of its own run.

use super::html::html;
use super::prose::{plain, said, tag};
use super::words;
use crate::diagram::Element;
use crate::lesson::{BASE, Lesson, MarkKind, Miniature};
use crate::run::Run;

/// The width of a miniature.
const WIDTH: u32 = 320;
/// The height of a client's row in it.
const ROW: u32 = 18;

/// The gallery of cases: what happened to somebody, each with the thread that tells of it.
pub fn cases(lessons: &[Lesson]) -> String {
    let cases = lessons.iter().filter_map(|lesson| Some((lesson, lesson.report.as_ref()?)));
    html(&tag(
        "ol",
        "cards cases",
        cases.map(|(lesson, report)| {
            let more = read(lesson, "", words::READ);
            let thread = plain(format!(" · {}", report.thread));
            tag("li", "", [link(lesson, None, report.symptom.as_str())]).holding([tag(
                "p",
                "card-more quiet",
                [more, thread],
            )])
        }),
    ))
}

/// The lessons as links: the card opens the simulation, the line under it what can be read and printed.
///
/// A lesson whose base variant does not run has no miniature; `check` says why it does not.
pub fn home(lessons: &[Lesson]) -> String {
    let lessons: Vec<&Lesson> = lessons.iter().filter(|l| l.report.is_none()).collect();
    let paths: Vec<Element> = words::PATHS.iter().filter_map(|p| path_of(&lessons, p)).collect();
    let paths = (!paths.is_empty()).then(|| html(&tag("ul", "paths quiet", paths)));
    let list = tag("ol", "cards", lessons.iter().copied().enumerate().map(card));
    // There is one way to begin; who has less time than the whole list takes finds shorter ones below it.
    html(&list) + &paths.unwrap_or_default()
}

/// A way through some of the lessons, for whoever has not the time for all; none where there are
/// not even two of them.
fn path_of(lessons: &[&Lesson], (name, ids): &(&str, &[&str])) -> Option<Element> {
    let on: Vec<&&Lesson> =
        ids.iter().filter_map(|id| lessons.iter().find(|l| l.id == *id)).collect();
    let minutes = on.iter().map(|l| l.minutes).sum();
    let steps = on.iter().enumerate().flat_map(|(i, lesson)| {
        let link = said("a", "", &lesson.title).with("href", format!("#/lesson/{}", lesson.id));
        [Some(link), (i + 1 < on.len()).then(|| plain(" → "))].into_iter().flatten()
    });
    let head = [said("strong", "", *name), plain(words::path_minutes(minutes))];
    (on.len() > 1).then(|| tag("li", "", head).holding(steps))
}

fn card((index, lesson): (usize, &Lesson)) -> Element {
    // Whoever has never been here begins with the first one, so it says so.
    let first = index == 0;
    let number = lesson.number.map_or(String::new(), words::lesson_number);
    let facts = format!("{number}{} min · {}", lesson.minutes, lesson.class.word());
    let ways =
        [read(lesson, "", words::READ), plain(" · "), read(lesson, "-teacher", words::TEACHER)];
    let link = link(lesson, first.then_some(words::START_HERE), &facts);
    tag("li", if first { "first" } else { "" }, [link, tag("p", "card-more quiet", ways)])
}

/// What opens the simulation: title, incident, a quiet line, and the miniature of its run.
fn link(lesson: &Lesson, go: Option<&str>, quiet: &str) -> Element {
    let words = tag(
        "span",
        "card-words",
        [
            said("span", "card-title", &lesson.title),
            said("span", "card-hook", &lesson.hook),
            said("span", "quiet", quiet),
        ],
    );
    let words = words.holding(go.map(|go| said("span", "go", go)));
    let run = lesson.compile(BASE, &[]).ok().map(Run::of);
    let link = tag("a", "card-link", [words]).with("href", format!("#/lesson/{}", lesson.id));
    link.holding(run.map(|run| miniature(&Miniature::of(&run))))
}

/// A page of a lesson that is read without the program.
fn read(lesson: &Lesson, ending: &str, what: &str) -> Element {
    let href = format!("lessons/{}{ending}.html", lesson.id);
    said("a", "", what).with("href", href).with("aria-label", format!("{what}: {}", lesson.title))
}

/// A lesson's run at a glance: a line for each client, truth solid, belief without it in another colour
/// and hatched, and the signs of what decided.
fn miniature(tiny: &Miniature) -> Element {
    let x = |unit: u32| unit * WIDTH / 1000;
    let line = |y: u32| path("tiny-line", format!("M0 {y}H{WIDTH}"));
    let mut drawn = Vec::new();
    for (index, lane) in tiny.lanes.iter().enumerate() {
        let y = 8 + ROW * index as u32;
        drawn.push(line(y + 5));
        for (spans, class, dy, height) in [
            (&lane.belief, "tiny-belief", 1, 8),
            (&lane.truth, "tiny-truth", 1, 8),
            (&lane.work, "tiny-work", 1, 8),
            (&lane.stopped, "tiny-stopped", 11, 2),
        ] {
            drawn.extend(spans.iter().map(|(from, to)| {
                let rect = tag("rect", class, []).with("x", x(*from)).with("y", y + dy);
                rect.with("width", (x(*to) - x(*from)).max(1)).with("height", height)
            }));
        }
        // Each time that somebody is woken: a small upright stroke.
        drawn.extend(lane.woken.iter().map(|at| path("tiny-woken", format!("M{} {y}v10", x(*at)))));
    }
    let base = 14 + ROW * tiny.lanes.len() as u32;
    drawn.push(line(base + 3));
    drawn.extend(tiny.marks.iter().filter_map(|mark| {
        let x = x(mark.at);
        let left = x.saturating_sub(3);
        Some(match mark.kind {
            MarkKind::Accept => path("tiny-accept", format!("M{left} {base}h6v6h-6z")),
            MarkKind::Reject => {
                let left = x.saturating_sub(1);
                path("tiny-reject", format!("M{left} {base}h3l2 2v3l-2 2h-3l-2-2v-3z"))
            }
            MarkKind::Harm => {
                let top = base - 2;
                path("tiny-harm", format!("M{x} {top}l2 3 4 1-3 3 1 4-4-2-4 2 1-4-3-3 4-1z"))
            }
            MarkKind::Stale => path("tiny-stale", format!("M{left} {base}h6v6h-6z")),
            _ => return None,
        })
    }));
    let view = format!("-6 0 {} {}", WIDTH + 12, base + 12);
    tag("svg", "tiny", drawn).with("viewBox", view).with("aria-hidden", "true")
}

fn path(class: &str, d: String) -> Element {
    tag("path", class, []).with("d", d)
}
