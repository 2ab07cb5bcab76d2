//! What to do on a real server, out of the front matter.

use super::front::{Reader, Value};
use crate::lesson::model::{Line, Machine, Typed};

/// A lesson is no manual of a server: few lines, each of which fits.
pub const MOST_LINES: usize = 12;
/// How many characters a line may have.
pub const MOST_TYPED: usize = 240;

impl Reader<'_, '_> {
    pub(super) fn machines(&mut self, value: &Value<'_>) -> Option<Vec<Machine>> {
        self.list(value, "tables `[[machine]]`", |reader, value| {
            let mut f = reader.table(value, "this `[[machine]]`")?;
            let title = reader.need(&mut f, "title", Self::words);
            let needs = reader.need(&mut f, "needs", Self::words);
            let lines = reader.need(&mut f, "lines", Self::typed_lines);
            reader.rest(f);
            Some(Machine { title: title?, needs: needs?, lines: lines? })
        })
    }

    fn typed_lines(&mut self, value: &Value<'_>) -> Option<Vec<Typed>> {
        let lines = self.list(value, "a list of tables", |reader, value| {
            let mut f = reader.table(value, "this line")?;
            let text = reader.need(&mut f, "type", Self::typed);
            let prints = reader.want(&mut f, "prints", Self::line);
            let note = reader.want(&mut f, "note", Self::words);
            reader.rest(f);
            Some(Typed { text: text?, prints, note })
        })?;
        if !(1..=MOST_LINES).contains(&lines.len()) {
            let message = format!("found {} lines, expected 1 to {MOST_LINES}", lines.len());
            self.wrong(value.span().start, message);
        }
        Some(lines)
    }

    /// What somebody types and ends with the enter key.
    fn typed(&mut self, value: &Value<'_>) -> Option<Line> {
        let line = self.line(value)?;
        let characters = line.text.chars().count();
        if line.text.contains(char::is_control) {
            self.unexpected(value, "one line to type");
        } else if characters > MOST_TYPED {
            let message = format!("found {characters} characters, expected at most {MOST_TYPED}");
            self.wrong(value.span().start, message);
        }
        Some(line)
    }
}
