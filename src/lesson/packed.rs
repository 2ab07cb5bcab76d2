//! Reads packed lessons. What they look like is defined by the serde attributes of their types; this is the same in
//! little code, and a test compares the two.

use super::debate::{Pin, Point, Ruling, Shown};
use super::model::{
    Answer, Beat, Block, Card, Class, Defence, Evidence, Inline, Lesson, Level, Line, Machine,
    Place, Predict, Recall, Report, Step, Target, Task, Teach, Typed, Variant,
};
use crate::json::Json;
use crate::run::{ClientSpec, ResourceSpec, Scenario};
use crate::sim::Table;
use crate::systems::Basis;

/// Reads a lesson that `pack` wrote.
///
/// # Errors
/// Where in the text something is not what was expected there.
pub fn unpack(text: &str) -> Result<Lesson, String> {
    Lesson::read(&Json::parse(text)?)
}

trait Packed: Sized {
    fn read(json: &Json) -> Result<Self, String>;

    /// What stands where the field is left out; none where it may not be.
    fn missing() -> Option<Self> {
        None
    }
}

fn expected<T>(what: &str) -> Result<T, String> {
    Err(format!("expected {what}"))
}

/// An error inside something that has a name or a number.
fn inside(name: &str, wrong: String) -> String {
    format!("{name}: {wrong}")
}

fn field<T: Packed>(json: &Json, name: &str) -> Result<T, String> {
    match json.get(name) {
        Some(value) => T::read(value).map_err(|wrong| inside(name, wrong)),
        None => T::missing().ok_or_else(|| inside(name, "it is missing".into())),
    }
}

fn list(json: &Json) -> Result<&[Json], String> {
    match json {
        Json::List(values) => Ok(values),
        _ => expected("a list"),
    }
}

/// The only field of an object: a case with what belongs to it.
fn case(json: &Json) -> Result<(&str, &Json), String> {
    match json {
        Json::Object(fields) if fields.len() == 1 => Ok((&fields[0].0, &fields[0].1)),
        _ => expected("an object with one field"),
    }
}

impl Packed for String {
    fn read(json: &Json) -> Result<String, String> {
        match json {
            Json::Text(text) => Ok(text.clone()),
            _ => expected("text"),
        }
    }
}

impl Packed for bool {
    fn read(json: &Json) -> Result<bool, String> {
        match json {
            Json::Bool(yes) => Ok(*yes),
            _ => expected("true or false"),
        }
    }

    fn missing() -> Option<bool> {
        Some(false)
    }
}

impl Packed for u64 {
    fn read(json: &Json) -> Result<u64, String> {
        match json {
            Json::Number(number) => Ok(*number),
            _ => expected("a whole number from 0"),
        }
    }
}

impl Packed for u32 {
    fn read(json: &Json) -> Result<u32, String> {
        u64::read(json)?.try_into().or_else(|_| expected("a smaller number"))
    }
}

impl Packed for i64 {
    fn read(json: &Json) -> Result<i64, String> {
        match json {
            Json::Negative(number) => Ok(*number),
            _ => u64::read(json)?.try_into().or_else(|_| expected("a smaller number")),
        }
    }
}

impl<T: Packed> Packed for Vec<T> {
    fn read(json: &Json) -> Result<Vec<T>, String> {
        let mut out = Vec::new();
        for (index, value) in list(json)?.iter().enumerate() {
            out.push(T::read(value).map_err(|wrong| inside(&index.to_string(), wrong))?);
        }
        Ok(out)
    }

    fn missing() -> Option<Vec<T>> {
        Some(Vec::new())
    }
}

impl<T: Packed> Packed for Option<T> {
    fn read(json: &Json) -> Result<Option<T>, String> {
        match json {
            Json::Null => Ok(None),
            value => T::read(value).map(Some),
        }
    }

    fn missing() -> Option<Option<T>> {
        Some(None)
    }
}

impl<A: Packed, B: Packed> Packed for (A, B) {
    fn read(json: &Json) -> Result<(A, B), String> {
        match list(json)? {
            [a, b] => Ok((A::read(a)?, B::read(b)?)),
            _ => expected("two values"),
        }
    }
}

impl<T: Packed> Packed for Table<String, T> {
    fn read(json: &Json) -> Result<Table<String, T>, String> {
        let Json::Object(fields) = json else { return expected("an object") };
        let mut table = Table::new();
        for (name, value) in fields {
            table.insert(name.clone(), T::read(value).map_err(|wrong| inside(name, wrong))?);
        }
        Ok(table)
    }

    fn missing() -> Option<Table<String, T>> {
        Some(Table::new())
    }
}

impl Packed for Line {
    fn read(json: &Json) -> Result<Line, String> {
        Ok(Line { text: String::read(json)?, place: Place::default() })
    }
}

/// It stays out of packed lessons.
impl Packed for Teach {
    fn read(_: &Json) -> Result<Teach, String> {
        expected("nothing")
    }

    fn missing() -> Option<Teach> {
        Some(Teach::default())
    }
}

/// A struct, field by field; a field whose key is another one says so.
macro_rules! packed {
    ($($name:ident { $($field:ident $(= $key:literal)?),* $(,)? })*) => {$(
        impl Packed for $name {
            fn read(json: &Json) -> Result<$name, String> {
                Ok($name { $($field: field(json, packed!(@ $field $($key)?))?),* })
            }
        }
    )*};
    (@ $field:ident) => { stringify!($field) };
    (@ $field:ident $key:literal) => { $key };
}

packed! {
    Lesson {
        id, number, title, minutes, class, covers, faults, hook, say, scenario, variants, defences, predictions, recall, tasks,
        cards, debate, rulings = "verdict", pin, evidence, machines, report, teach, intro, beats,
    }
    Variant { name, title, settings, clients, cells, invariant, gateway, edits, expect, shows, at }
    Defence { title, edit }
    Beat { id, title, at, variant, blocks }
    Predict { id, question, at, variant, answers, shown, look, why }
    Answer { text, when, misconception }
    Recall { question, answer, from }
    Task { level, goal, variant, steps, done, hint, solution }
    Step { text, done, hint }
    Card { text, tray, variant, misconception, why }
    Point { id, by, title, claim, runs, answers, gave_up, evidence }
    Shown { variant, shows }
    Ruling { when, correctness, efficiency, says }
    Pin { label, attacks, needs }
    Evidence { id, kind, says, place = "where" }
    Machine { title, needs, lines }
    Typed { text = "type", prints, note }
    Report { thread, symptom }
    Scenario { system, until, seed, settings, locks, cells, resources, gateway, invariant, clients }
    ResourceSpec { label, cells, lock }
    ClientSpec { label, start, program, tasks, on }
}

/// An enum without contents, by the words of its cases.
macro_rules! words {
    ($($name:ident { $($word:literal = $case:ident),* $(,)? })*) => {$(
        impl Packed for $name {
            fn read(json: &Json) -> Result<$name, String> {
                match json {
                    $(Json::Text(word) if word == $word => Ok($name::$case),)*
                    _ => expected(concat!("one of", $(" ", $word),*)),
                }
            }
        }
    )*};
}

words! {
    Class { "correctness" = Correctness, "efficiency" = Efficiency }
    Level { "help" = Help, "challenge" = Challenge }
    Basis {
        "recorded" = Recorded, "source" = Source, "document" = Document, "inference" = Inference,
        "disputed" = Disputed,
    }
}

impl Packed for Block {
    fn read(json: &Json) -> Result<Block, String> {
        let (kind, value) = case(json)?;
        let block = match kind {
            "paragraph" => Packed::read(value).map(Block::Paragraph),
            "list" => Packed::read(value).map(Block::List),
            "steps" => Packed::read(value).map(Block::Steps),
            "code" => Packed::read(value).map(Block::Code),
            "quote" => Packed::read(value).map(Block::Quote),
            _ => expected("a kind of block"),
        };
        block.map_err(|wrong| inside(kind, wrong))
    }
}

impl Packed for Inline {
    fn read(json: &Json) -> Result<Inline, String> {
        let (kind, value) = case(json)?;
        let inline = match kind {
            "text" => Packed::read(value).map(Inline::Text),
            "emphasis" => Packed::read(value).map(Inline::Emphasis),
            "strong" => Packed::read(value).map(Inline::Strong),
            "code" => Packed::read(value).map(Inline::Code),
            "link" => <(Target, Vec<Inline>)>::read(value).map(|(to, of)| Inline::Link(to, of)),
            "evidence" => Packed::read(value).map(Inline::Evidence),
            _ => expected("a kind of words"),
        };
        inline.map_err(|wrong| inside(kind, wrong))
    }
}

impl Packed for Target {
    fn read(json: &Json) -> Result<Target, String> {
        let (kind, value) = case(json)?;
        let id = String::read(value)?;
        match kind {
            "beat" => Ok(Target::Beat(id)),
            "lesson" => Ok(Target::Lesson(id)),
            "run" => Ok(Target::Run(id)),
            "level" => Packed::read(value).map(Target::Level),
            _ => expected("a kind of link"),
        }
    }
}
