//! A lesson on paper says what its run says, tells no answer too early, and holds no foreign markup.

use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use lockscope::diagram::{Element, Layout, layout};
use lockscope::lesson::{self, Lesson, anchor, misconception};
use lockscope::run::Run;
use lockscope::sheet::{self, Scene, Shell, WIDTH};
use lockscope::sim::EventId;

const SHELL: Shell<'_> = Shell { style: "../style.css", icon: "../favicon.svg", home: "../" };

/// A lesson with one of everything that a sheet shows.
const SMALL: &str = r##"+++
id = "small"
title = "Small <b>&</b>"
minutes = 2
class = "correctness"
hook = "A \"hook\" <script>alert(1)</script>."
say = "A word."
[scenario]
system = "lease"
until = "30s"
cells = { balance = 100 }
[scenario.settings]
"lease.ttl" = "2s"
[scenario.clients.client-a]
label = "A <i>"
program = ["acquire", "read balance", "write balance = balance - 10", "release"]
[scenario.clients.client-b]
program = ["acquire", "read balance", "write balance = balance - 10", "release"]
[variants.base]
title = "Late <u>"
edits = ["pause client-a before write#1 for 4s"]
expect = ["corruption == 1"]
[variants.fixed]
edits = ["pause client-a before write#1 for 4s", "set resource.check token"]
expect = ["corruption == 0"]
[[predict]]
id = "late"
question = "Is it accepted <now>?"
at = "resume client-a"
shown = "accept client-a"
why = "Because nobody compares <it>."
answers = [
    { text = "Yes", when = "accept client-a" },
    { text = "No <x>", when = "reject client-a", misconception = "M7" },
]
[[recall]]
question = "Who?"
answer = "Only the <resource>."
[teach]
script = [{ minute = 0, say = "Look <here>.", show = "late" }, { minute = 1, say = "And here." }]
board = "A ->\nB <-"
discuss = [{ question = "Why <?>", answer = "So <!>." }]
+++

It *begins*, and [here](#late) it ends.

## Late {#late at="accept client-a"}

- one `<a>`
- two

## Not now {#fixed at="reject client-a" variant="fixed"}

Rejected.
"##;

fn small() -> Lesson {
    lesson::parse(SMALL).expect("the small lesson can be read")
}

fn lessons() -> Vec<Lesson> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("lessons");
    let entries = fs::read_dir(folder).expect("the folder is there").flatten();
    let paths = entries.map(|e| e.path());
    let is_lesson =
        |p: &PathBuf| p.extension().is_some_and(|e| e == "md") && !p.ends_with("README.md");
    let mut paths: Vec<PathBuf> = paths.filter(is_lesson).collect();
    paths.sort();
    paths.iter().map(|p| lesson::read(p).expect("it can be read")).collect()
}

/// The hand-out of a run, as the page prints it.
fn handout(
    lesson: &Lesson,
    edits: &[&str],
    told: &[(usize, EventId)],
    leaves: Option<EventId>,
) -> Element {
    let edits: Vec<String> = edits.iter().map(|e| e.to_string()).collect();
    let run = Rc::new(Run::of(lesson.compile("base", &edits).expect("it compiles")));
    let picture = layout(&run, &Layout { width: WIDTH, ..Layout::default() });
    let (frames, left) = sheet::story(lesson, &run, told, leaves);
    let scene = Scene { title: "Mine".into(), run: &run, picture: &picture, frames, left };
    sheet::handout(lesson, &[scene], &[Some(run.clone())])
}

fn base_beats(lesson: &Lesson) -> Vec<(usize, EventId)> {
    let run = Run::of(lesson.compile("base", &[]).expect("it compiles"));
    let beats = lesson.beats.iter().enumerate().filter(|b| b.1.variant == "base");
    beats.map(|(i, b)| (i, anchor(&run, &b.at.text).expect("it happens"))).collect()
}

/// The document as an outline: one line an element that says something, pictures by their names.
fn outline(element: &Element, depth: usize, out: &mut String) {
    let attribute = |name| element.attributes.iter().find(|a| a.0 == name).map(|a| a.1.as_str());
    let inline = ["strong", "em", "code", "span", "sup", ""].contains(&element.tag);
    if element.tag == "svg" {
        if let Some(name) = attribute("aria-label") {
            out.push_str(&format!("{:depth$}[{name}]\n", ""));
        }
        return;
    }
    let said = spoken(element);
    if inline || said.is_empty() {
        element.children.iter().for_each(|c| outline(c, depth, out));
        return;
    }
    let flat = element
        .children
        .iter()
        .all(|c| ["strong", "em", "code", "span", "sup", "cite", ""].contains(&c.tag));
    let class = attribute("class").map_or(String::new(), |c| format!(".{}", c.replace(' ', ".")));
    out.push_str(&format!("{:depth$}{}{class}", "", element.tag));
    if flat {
        out.push_str(&format!(" {said}\n"));
        return;
    }
    out.push('\n');
    element.children.iter().for_each(|c| outline(c, depth + 2, out));
}

fn spoken(element: &Element) -> String {
    let mut text = element.text.clone();
    if element.tag != "svg" || !element.children.is_empty() {
        element.children.iter().for_each(|c| text.push_str(&spoken(c)));
    }
    text
}

#[test]
fn the_handout_of_the_small_lesson_reads_as_before() {
    let lesson = small();
    let mut text = String::new();
    outline(&handout(&lesson, &[], &base_beats(&lesson), None), 0, &mut text);
    expect_test::expect_file!["snapshots/handout.txt"].assert_eq(&text);
}

#[test]
fn the_teachers_sheet_of_the_small_lesson_is_the_same_file_as_before() {
    let page = sheet::teacher_page(&small(), &SHELL);
    expect_test::expect_file!["snapshots/teacher.html"].assert_eq(&page);
}

#[test]
fn nothing_that_a_lesson_says_becomes_markup() {
    let lesson = small();
    for page in [
        sheet::lesson_page(&lesson, &SHELL),
        sheet::teacher_page(&lesson, &SHELL),
        sheet::home(&[lesson]),
    ] {
        for foreign in
            ["<script", "<b>", "<i>", "<u>", "<now>", "<it>", "<x>", "<here>", "<!>", "<?>"]
        {
            assert!(!page.contains(foreign), "{foreign} in {page}");
        }
        assert!(page.contains("Small &lt;b&gt;&amp;&lt;/b&gt;"));
        assert!(!page.contains("style="), "the policy of these pages allows no style attributes");
    }
}

#[test]
fn every_beat_of_every_lesson_has_its_frame_on_the_page() {
    for lesson in lessons() {
        let page = sheet::lesson_page(&lesson, &SHELL);
        for beat in &lesson.beats {
            assert!(
                page.contains(&format!("<li id=\"{}\">", beat.id)),
                "{} {}",
                lesson.id,
                beat.id
            );
        }
        // One picture a beat, and the empty lifelines.
        assert_eq!(
            page.matches("class=\"still\"").count(),
            lesson.beats.len() + 1,
            "{}",
            lesson.id
        );
        assert_eq!(page.matches("id=\"hatch-hold\"").count(), 1, "{}", lesson.id);
    }
}

#[test]
fn the_page_of_questions_tells_no_answer() {
    for lesson in lessons() {
        let page = sheet::lesson_page(&lesson, &SHELL);
        let (_, after) = page.split_once("<h2>Questions</h2>").expect("there are questions");
        let (questions, answers) =
            after.split_once("<section class=\"leaf decided\">").expect("and answers");
        let written = |text: &str| lockscope::diagram::escape(text);
        assert!(!questions.contains("The run:"), "{}", lesson.id);
        for question in &lesson.predictions {
            assert!(questions.contains(&written(&question.question)), "{}", question.id);
            assert!(!questions.contains(&written(&question.why)), "{}", question.id);
            assert!(answers.contains(&written(&question.why)), "{}", question.id);
        }
        for item in &lesson.recall {
            assert!(questions.contains(&written(&item.question)));
            assert!(
                !questions.contains(&written(&item.answer))
                    && answers.contains(&written(&item.answer))
            );
        }
    }
}

#[test]
fn a_run_of_the_learners_own_is_told_by_what_decides_it() {
    let lesson = small();
    let own = spoken(&handout(&lesson, &["at 100ms kill client-b"], &[], None));
    for words in ["kill client-b", "Client B crashes", "Resource accepts A <i>'s"] {
        assert!(own.contains(words), "{words} in {own}");
    }
    let told = base_beats(&lesson);
    let mut outlines = [String::new(), String::new()];
    outline(&handout(&lesson, &[], &told, None), 0, &mut outlines[0]);
    outline(&handout(&lesson, &[], &told, Some(told[0].1)), 0, &mut outlines[1]);
    let frames = |text: &String| text.matches("figure.frame").count();
    assert!(frames(&outlines[1]) > frames(&outlines[0]), "what nobody tells has frames of its own");
}

#[test]
fn a_teacher_finds_every_moment_and_what_makes_each_other_answer_tempting() {
    for lesson in lessons() {
        let page = sheet::teacher_page(&lesson, &SHELL);
        let answers = lesson.predictions.iter().flat_map(|p| &p.answers);
        for name in answers.filter_map(|a| a.misconception.as_deref()) {
            let thought = misconception(name).expect("it has words");
            assert!(page.contains(&lockscope::diagram::escape(thought)), "{} {name}", lesson.id);
        }
        for beat in &lesson.beats {
            let run = Run::of(lesson.compile(&beat.variant, &[]).expect("it compiles"));
            let event = anchor(&run, &beat.at.text).expect("it happens").0;
            let variant = if beat.variant == "base" {
                String::new()
            } else {
                format!("run={}&amp;", beat.variant)
            };
            let address =
                format!("href=\"../#/lesson/{}?{variant}event={event}&amp;present=1\"", lesson.id);
            assert!(page.contains(&address), "{} {address}", lesson.id);
        }
        for cue in &lesson.teach.script {
            assert!(page.contains(&lockscope::diagram::escape(&cue.say)));
        }
    }
}

/// A step of a path that names no lesson would silently be missing.
#[test]
fn the_ways_through_the_lessons_lead_to_lessons_that_are_there() {
    let home = sheet::home(&lessons());
    let (list, paths) = home.split_once("<ul").expect("shorter ways stand below the list");
    let lines: Vec<usize> =
        paths.split("<li").skip(1).map(|l| l.matches("#/lesson/").count()).collect();
    assert_eq!(lines, [3, 6], "With a class, and An interview tonight");
    for link in paths.split("href=\"").skip(1).filter_map(|l| l.split('"').next()) {
        assert!(list.contains(link), "{link}");
    }
}
