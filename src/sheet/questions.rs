//! The questions of a lesson with room for a hand, and their answers for a page of their own.

use std::rc::Rc;

use super::prose::{plain, said, tag};
use super::words;
use crate::diagram::Element;
use crate::lesson::{Claim, Lesson, Predict, anchor};
use crate::narrate;
use crate::run::Run;

/// The percentages that somebody may be sure by.
const SURE: [&str; 3] = ["50 %", "70 %", "90 %"];

/// A lesson's predictions, each with the run that decides it.
pub struct Asked<'l> {
    lesson: &'l Lesson,
    runs: Vec<Option<Rc<Run>>>,
}

impl<'l> Asked<'l> {
    /// `written` are runs of the lesson's variants by their index, as far as they are there.
    pub fn of(lesson: &'l Lesson, written: &[Option<Rc<Run>>]) -> Asked<'l> {
        let run = |question: &Predict| {
            let place = lesson.variants.iter().position(|v| v.name == question.variant)?;
            let there = written.get(place).cloned().flatten();
            let made = || lesson.compile(&question.variant, &[]).ok().map(|c| Rc::new(Run::of(c)));
            there.or_else(made)
        };
        Asked { lesson, runs: lesson.predictions.iter().map(run).collect() }
    }

    /// The predictions with the runs that decide them.
    pub fn each(&self) -> impl Iterator<Item = (&'l Predict, Option<&Run>)> + '_ {
        self.lesson.predictions.iter().zip(self.runs.iter().map(|r| r.as_deref()))
    }

    /// Questions with boxes to tick and lines to write on. It tells no answer.
    pub fn sheet(&self) -> Element {
        let asked = self.each().map(|(question, run)| {
            let answers = question.answers.iter().map(|a| tick("li", &a.text));
            let sure = SURE.iter().map(|s| tick("span", s));
            tag("li", "asked", [])
                .holding(run.and_then(|run| self.place(question, run)))
                .holding([
                    said("p", "question", &question.question),
                    tag("ul", "ticks", answers),
                    tag("p", "sure", [plain(words::SURE)]).holding(sure),
                    tag("p", "because", [plain(words::WHY), tag("span", "rule", [])]),
                ])
                .holding(lines(1))
        });
        let recall = self.lesson.recall.iter().map(|item| {
            tag("li", "asked", [said("p", "question", &item.question)]).holding(lines(2))
        });
        tag(
            "div",
            "",
            [
                said("p", "quiet", words::QUESTIONS_NOTE),
                tag("ol", "questions", asked),
                said("h3", "", words::MEMORY),
                tag("ol", "questions", recall),
            ],
        )
    }

    /// When and of which run a question is asked.
    fn place(&self, question: &Predict, run: &Run) -> Option<Element> {
        let event = anchor(run, &question.at.text).ok()?;
        let at = narrate::moment(run.record.events.get(event.0 as usize)?.at);
        let title = self.lesson.variant(&question.variant).map_or("", |v| v.title.as_str());
        Some(said("p", "kicker", words::asked(&at, title)))
    }

    /// What the runs decided, and why; and what to remember.
    pub fn answers(&self) -> Element {
        let decided = self.each().map(|(question, run)| {
            let answer = run.and_then(|run| decided(question, run));
            let text = answer.map_or(words::NONE_OF_THESE, |i| {
                question.answers.get(i).map_or("", |a| a.text.trim_end_matches('.'))
            });
            let words = said("strong", "", words::the_run_says(text));
            tag("li", "", [tag("p", "", [words]), said("p", "", &question.why)])
        });
        let recall = self.lesson.recall.iter().map(|r| said("li", "", &r.answer));
        tag(
            "div",
            "",
            [
                tag("ol", "questions", decided),
                said("h3", "", words::MEMORY),
                tag("ol", "questions", recall),
                said("h3", "", words::SAY),
                said("p", "say", &self.lesson.say),
            ],
        )
    }
}

/// The answer that comes true in a run, by its index.
pub fn decided(question: &Predict, run: &Run) -> Option<usize> {
    question.answers.iter().position(|answer| {
        Claim::parse(&answer.when.text, run.names()).is_ok_and(|claim| claim.test(run).is_ok())
    })
}

fn tick(name: &'static str, text: &str) -> Element {
    tag(name, "", [tag("span", "box", []), plain(format!(" {text}"))])
}

fn lines(count: usize) -> impl Iterator<Item = Element> {
    std::iter::repeat_with(|| tag("div", "rule", [])).take(count)
}
