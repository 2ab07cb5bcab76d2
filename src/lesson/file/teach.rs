//! What a teacher needs, out of the front matter.

use toml::de::DeValue;

use super::front::{Reader, Value, short};
use super::markdown::Body;
use super::place::Source;
use crate::lesson::model::{Cue, Line, Teach};
use crate::sim::list;

/// The latest minute of a script; a longer one is a lecture.
pub const LAST_MINUTE: i64 = 9;
/// How many characters a line of a sketch may have: more do not fit a board, nor a page.
pub const BOARD_WIDTH: usize = 72;

impl Reader<'_, '_> {
    pub(super) fn teach(&mut self, value: &Value<'_>) -> Option<Teach> {
        let mut f = self.table(value, "`[teach]`")?;
        let script = self.need(&mut f, "script", Self::script);
        let board = self.need(&mut f, "board", Self::board);
        let discuss = self.need(&mut f, "discuss", Self::discussion);
        self.rest(f);
        Some(Teach { script: script?, board: board?, discuss: discuss? })
    }

    fn script(&mut self, value: &Value<'_>) -> Option<Vec<Cue>> {
        let script = self.list(value, "a list of tables", |reader, value| {
            let mut f = reader.table(value, "this line of the script")?;
            let minute = reader.need(&mut f, "minute", Self::minute);
            let say = reader.need(&mut f, "say", Self::words);
            let show = reader.want(&mut f, "show", Self::line);
            reader.rest(f);
            Some(Cue { minute: minute?, say: say?, show })
        })?;
        if script.is_empty() {
            self.wrong(value.span().start, "found an empty script, expected what to say");
        }
        let turn = script.windows(2).position(|pair| pair[0].minute > pair[1].minute);
        if let (Some(turn), DeValue::Array(lines)) = (turn, value.get_ref()) {
            let at = lines.get(turn + 1).map_or(value.span().start, |line| line.span().start);
            self.wrong(at, "this minute comes before the one above it, expected the order of time");
        }
        Some(script)
    }

    fn minute(&mut self, value: &Value<'_>) -> Option<u32> {
        let number = self.whole(value)?;
        if !(0..=LAST_MINUTE).contains(&number) {
            let message = format!("found minute {number}, expected 0 to {LAST_MINUTE}");
            self.wrong(value.span().start, message);
            return None;
        }
        u32::try_from(number).ok()
    }

    /// A sketch in letters, line by line.
    fn board(&mut self, value: &Value<'_>) -> Option<String> {
        let text = self.words(value)?;
        let text = text.trim_matches('\n').trim_end();
        if let Some(line) = text.lines().find(|l| l.chars().count() > BOARD_WIDTH) {
            let message = format!("the line `{}` of the board is too long", short(line.trim()));
            let expected = format!("expected at most {BOARD_WIDTH} characters");
            self.wrong(value.span().start, format!("{message}, {expected}"));
        }
        Some(text.to_string())
    }

    fn discussion(&mut self, value: &Value<'_>) -> Option<Vec<(String, String)>> {
        let questions = self.list(value, "a list of tables", |reader, value| {
            let mut f = reader.table(value, "this question")?;
            let question = reader.need(&mut f, "question", Self::words);
            let answer = reader.need(&mut f, "answer", Self::words);
            reader.rest(f);
            Some((question?, answer?))
        })?;
        if questions.is_empty() {
            self.wrong(value.span().start, "found no question, expected at least one to discuss");
        }
        Some(questions)
    }
}

/// What the script shows are beats of the lesson.
pub(super) fn check(source: &mut Source<'_>, teach: &Teach, words: &Body) {
    let unknown = |show: &&Line| !words.beats.iter().any(|draft| draft.beat.id == show.text);
    for show in teach.script.iter().filter_map(|cue| cue.show.as_ref()).filter(unknown) {
        let known = list(words.beats.iter().map(|draft| draft.beat.id.as_str()));
        let message = format!("no beat `{}` to show; the beats are {known}", short(&show.text));
        source.wrong_at(show.place, message);
    }
}
