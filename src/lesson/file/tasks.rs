//! Tasks and evidence in the front matter.

use super::front::{Reader, Value, one_of};
use crate::lesson::model::{BASE, Evidence, Level, Step, Task};
use crate::systems::Basis;

impl Reader<'_, '_> {
    pub(super) fn tasks_to_do(&mut self, value: &Value<'_>) -> Option<Vec<Task>> {
        let mut levels: Vec<Level> = Vec::new();
        let tasks = self.list(value, "tables `[[task]]`", Self::task)?;
        for task in &tasks {
            if levels.contains(&task.level) {
                let word = task.level.word();
                let message = format!("found a second task of the level `{word}`");
                self.wrong(value.span().start, format!("{message}, expected at most one of each"));
            }
            levels.push(task.level);
        }
        Some(tasks)
    }

    fn task(&mut self, value: &Value<'_>) -> Option<Task> {
        let mut f = self.table(value, "this task")?;
        let level = self.need(&mut f, "level", Self::level);
        let goal = self.need(&mut f, "goal", Self::words);
        let variant = self.want(&mut f, "variant", Self::id);
        let steps = self.want(&mut f, "steps", Self::steps).unwrap_or_default();
        let done = self.need(&mut f, "done", Self::lines);
        let hint = self.want(&mut f, "hint", Self::words);
        let solution = self.need(&mut f, "solution", Self::lines);
        self.rest(f);
        let level = level?;
        match level {
            Level::Help if steps.len() < 2 => {
                let message = format!("found {} steps, expected at least two", steps.len());
                self.wrong(value.span().start, format!("{message} in a task of the level `help`"));
            }
            Level::Challenge if !steps.is_empty() => {
                let message = "found steps in a challenge, expected its goal only";
                self.wrong(value.span().start, message);
            }
            _ => {}
        }
        if done.as_ref().is_some_and(Vec::is_empty) {
            let message = "found nothing in `done`, expected what has to hold of the run";
            self.wrong(value.span().start, message);
        }
        Some(Task {
            level,
            goal: goal?,
            variant: variant.unwrap_or_else(|| BASE.into()),
            steps,
            done: done?,
            hint,
            solution: solution?,
        })
    }

    fn level(&mut self, value: &Value<'_>) -> Option<Level> {
        let text = self.words(value)?;
        let level = Level::ALL.into_iter().find(|l| l.word() == text);
        if level.is_none() {
            self.unexpected(value, &one_of(&Level::ALL.map(Level::word)));
        }
        level
    }

    fn steps(&mut self, value: &Value<'_>) -> Option<Vec<Step>> {
        self.list(value, "a list of steps", |reader, value| {
            let mut f = reader.table(value, "this step")?;
            let text = reader.need(&mut f, "text", Self::words);
            let done = reader.need(&mut f, "done", Self::line);
            let hint = reader.want(&mut f, "hint", Self::words);
            reader.rest(f);
            Some(Step { text: text?, done: done?, hint })
        })
    }

    pub(super) fn evidence(&mut self, value: &Value<'_>) -> Option<Vec<Evidence>> {
        self.list(value, "tables `[[evidence]]`", |reader, value| {
            let mut f = reader.table(value, "this evidence")?;
            let id = reader.need(&mut f, "id", Self::id);
            let kind = reader.need(&mut f, "kind", Self::basis);
            let says = reader.need(&mut f, "says", Self::words);
            let place = reader.need(&mut f, "where", Self::words);
            reader.rest(f);
            Some(Evidence { id: id?, kind: kind?, says: says?, place: place? })
        })
    }

    fn basis(&mut self, value: &Value<'_>) -> Option<Basis> {
        let text = self.words(value)?;
        let basis = Basis::ALL.into_iter().find(|b| b.word() == text);
        if basis.is_none() {
            self.unexpected(value, &one_of(&Basis::ALL.map(Basis::word)));
        }
        basis
    }
}
