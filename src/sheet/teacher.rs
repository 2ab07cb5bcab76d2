//! The teacher's sheet: for somebody with a few spare minutes, a projector and a board.

use super::debate::{self, Ways};
use super::prose::{Prose, address, plain, said, tag};
use super::questions::{Asked, decided};
use super::{cards, handout, machine, words};
use crate::diagram::{Element, Picture};
use crate::lesson::{Answer, BASE, Beat, Lesson, Predict, anchor, misconception};
use crate::narrate;
use crate::run::Run;

/// The sheet. `runs` are the runs of the variants by index; `picture` is that of the first.
pub fn teacher(lesson: &Lesson, runs: &[Option<std::rc::Rc<Run>>], picture: &Picture) -> Element {
    let sheet = Sheet { lesson, runs };
    let prose = Prose { lesson, links: true };
    let asked = Asked::of(lesson, runs);
    let heading = |text: &str| said("h2", "", text);
    tag("main", "handout teacher", [])
        .holding([
            said("p", "kicker", words::teacher_kicker(lesson.minutes)),
            said("h1", "", &lesson.title),
            said("p", "hook", &lesson.hook),
            sheet.ways(),
            heading(words::SCRIPT),
            sheet.script(),
            heading(words::BOARD),
            said("pre", "board", &lesson.teach.board).with("tabindex", 0),
            heading(words::VOTES),
            said("p", "quiet", words::VOTES_NOTE),
            tag("ol", "questions", asked.each().map(|(q, run)| sheet.vote(q, run))),
        ])
        .holding(cards::table(lesson).map(|table| {
            let section = tag("section", "", [heading(words::CARDS_SORTED), table]);
            section.holding(cards::tempting(lesson))
        }))
        .holding(debate::debated(lesson, Ways::Site))
        .holding(debate::pinned(lesson, Ways::Site))
        .holding([
            heading(words::DISCUSS),
            sheet.discussion(),
            heading(words::TAKE_ALONG),
            said("p", "say", &lesson.say),
            heading(words::MOMENTS),
            sheet.moments(),
        ])
        .holding(machine::section(lesson))
        .holding(handout::sources(prose))
        .holding([handout::to_draw(picture)])
        .holding(cards::to_cut(lesson))
}

struct Sheet<'l> {
    lesson: &'l Lesson,
    runs: &'l [Option<std::rc::Rc<Run>>],
}

impl Sheet<'_> {
    /// Where the lesson is, for the wall and for everybody.
    fn ways(&self) -> Element {
        let wall = address(self.lesson, BASE, None, true);
        let leaf = format!("{}.html", self.lesson.id);
        tag(
            "p",
            "ways",
            [
                link(&format!("../{wall}"), words::ON_THE_WALL),
                plain(" · "),
                link(&leaf, words::FOR_THE_CLASS),
            ],
        )
    }

    fn script(&self) -> Element {
        let row = |cue: &crate::lesson::Cue| {
            let shown = cue.show.as_ref().and_then(|show| {
                let beat = self.lesson.beats.iter().find(|b| b.id == show.text)?;
                Some(tag("p", "show", [plain(words::SHOW), self.beat(beat)]))
            });
            let minute = said("td", "time", format!("{}:00", cue.minute));
            tag("tr", "", [minute, tag("td", "", [said("p", "", &cue.say)]).holding(shown)])
        };
        let head = [words::MINUTE, words::SAY_THIS].map(|w| said("th", "", w).with("scope", "col"));
        let head = tag("thead", "", [tag("tr", "", head)]);
        let body = tag("tbody", "", self.lesson.teach.script.iter().map(row));
        tag("table", "events script", [head, body])
    }

    fn beat(&self, beat: &Beat) -> Element {
        self.moment(&beat.title, &beat.variant, &beat.at.text)
    }

    /// A link to a moment, with its address for those who hold the sheet in their hands.
    fn moment(&self, title: &str, variant: &str, line: &str) -> Element {
        let place = self.lesson.variants.iter().position(|v| v.name == variant);
        let run = place.and_then(|p| self.runs.get(p)).and_then(Option::as_ref);
        let event = run.and_then(|run| Some((run, anchor(run, line).ok()?)));
        let to = address(self.lesson, variant, event.map(|e| e.1), true);
        let at = event.and_then(|(run, e)| run.record.events.get(e.0 as usize)).map(|e| e.at);
        let at = at.map_or_else(String::new, |at| format!(", {}", narrate::moment(at)));
        let named = format!("{title}{at}");
        tag("span", "", [link(&format!("../{to}"), &named), plain(" "), said("code", "paper", to)])
    }

    /// A question with what its answers reveal.
    fn vote(&self, question: &Predict, run: Option<&Run>) -> Element {
        let right = run.and_then(|run| decided(question, run));
        let answers = question.answers.iter().enumerate().map(|(i, answer)| {
            let meaning = if right == Some(i) { came_true() } else { behind(answer) };
            tag("li", "", [plain(format!("{} ", answer.text)), meaning])
        });
        let title = self.lesson.variant(&question.variant).map_or("", |v| v.title.as_str());
        let ask = self.moment(&words::the_run(title), &question.variant, &question.at.text);
        tag(
            "li",
            "asked",
            [
                said("p", "question", &question.question),
                tag("p", "kicker", [plain(words::ASK_AT), ask]),
                tag("ul", "reveals", answers),
                said("p", "", &question.why),
            ],
        )
    }

    fn discussion(&self) -> Element {
        let teach = &self.lesson.teach;
        let own = teach.discuss.iter().map(|(q, a)| (q, a));
        let recall = self.lesson.recall.iter().map(|r| (&r.question, &r.answer));
        let items = own.chain(recall).map(|(question, answer)| {
            tag("li", "asked", [said("p", "question", question), said("p", "", answer)])
        });
        tag("ol", "questions", items)
    }

    fn moments(&self) -> Element {
        let items = self.lesson.beats.iter().map(|beat| tag("li", "", [self.beat(beat)]));
        tag("ol", "moments", items)
    }
}

fn came_true() -> Element {
    said("strong", "", words::CAME_TRUE)
}

fn behind(answer: &Answer) -> Element {
    let thought = answer.misconception.as_deref().and_then(misconception).unwrap_or("");
    said("span", "quiet", words::behind(thought))
}

fn link(to: &str, text: &str) -> Element {
    said("a", "", text).with("href", to)
}
