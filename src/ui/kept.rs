//! What the browser keeps of a learner's work, and what goes into a file of it: branches, undo,
//! predictions, tasks. It is JSON of one version; other versions are left alone.
//!
//! Whatever writes reads first and merges, because another tab may have written meanwhile.

use super::learn::{Said, Seen};
use crate::json::Json;
use crate::lesson::Level;
use crate::run::{Branch, Branches, Course, LONGEST_NAME, MOST_BRANCHES, MOST_EDITS};
use crate::sim::{Micros, sort_by_key};

/// Under which name the browser keeps it.
pub const KEY: &str = "lockscope.kept";
/// The version of what is kept.
const VERSION: u64 = 1;
/// The largest file that is read, in bytes.
pub const LARGEST: usize = 4_000_000;
/// For how many tabs of one lesson the undo list is kept.
const MOST_TABS: usize = 3;
/// The longest text of an edit, or of a reason, in bytes.
const LONGEST_TEXT: usize = 2_000;

/// What a learner answered to a prediction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// The prediction's id.
    pub id: String,
    /// What was said.
    pub said: Option<Said>,
    /// What was seen at the resource.
    pub looked: Option<Seen>,
    /// The number of the last change.
    pub changed: u64,
}

/// Whether a task was solved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Solved {
    /// The task.
    pub level: Level,
    /// Whether it was.
    pub yes: bool,
    /// The number of the last change.
    pub changed: u64,
}

/// A state of the run that undo or redo brings back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Past {
    /// The task, where it was not the story.
    pub level: Option<Level>,
    /// What was run.
    pub course: Course,
    /// Where in it the learner was.
    pub event: Option<u32>,
    /// The moment.
    pub at: Micros,
}

/// What a tab can undo.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Undo {
    /// Which tab: a number that no other has.
    pub tab: u64,
    /// The id of the course that is on screen there.
    pub now: u64,
    /// What undo brings back, the latest last.
    pub past: Vec<Past>,
    /// What redo brings back, the latest last.
    pub future: Vec<Past>,
    /// The number of the last change.
    pub changed: u64,
}

/// Everything that is kept of one lesson.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Kept {
    /// The runs that were made.
    pub branches: Branches,
    /// Predictions.
    pub answers: Vec<Answer>,
    /// Tasks.
    pub solved: Vec<Solved>,
    /// Undo lists, the latest last.
    pub undo: Vec<Undo>,
}

impl Kept {
    /// The largest number of a change.
    fn clock(&self) -> u64 {
        let answers = self.answers.iter().map(|a| a.changed);
        let solved = self.solved.iter().map(|s| s.changed);
        let undo = self.undo.iter().map(|u| u.changed);
        answers.chain(solved).chain(undo).fold(self.branches.clock(), u64::max)
    }

    /// A number larger than that of every change so far.
    pub fn tick(&mut self) -> u64 {
        // What came from elsewhere may be ahead.
        self.branches.hear(self.clock());
        self.branches.tick()
    }

    /// Takes over whatever is newer in another; whether anything was.
    pub fn merge(&mut self, other: &Kept) -> bool {
        let before = self.clone();
        self.branches.merge(&other.branches);
        for answer in &other.answers {
            let weight =
                |a: &Answer| (a.changed, a.said.is_some(), format!("{:?}{:?}", a.said, a.looked));
            match self.answers.iter_mut().find(|a| a.id == answer.id) {
                Some(own) if weight(own) < weight(answer) => *own = answer.clone(),
                Some(_) => {}
                None => self.answers.push(answer.clone()),
            }
        }
        sort_by_key(&mut self.answers, |a| a.id.clone());
        for solved in &other.solved {
            match self.solved.iter_mut().find(|s| s.level == solved.level) {
                Some(own) if (own.changed, own.yes) < (solved.changed, solved.yes) => {
                    *own = *solved
                }
                Some(_) => {}
                None => self.solved.push(*solved),
            }
        }
        sort_by_key(&mut self.solved, |s| s.level.word());
        for undo in &other.undo {
            self.keep_undo(undo.clone());
        }
        *self != before
    }

    /// Whether it has something besides undo lists that another has not.
    pub fn has_more_than(&self, other: &Kept) -> bool {
        let mut both = other.clone();
        both.merge(&Kept { undo: Vec::new(), ..self.clone() })
    }

    /// Keeps what a tab can undo, and forgets the tabs of long ago.
    pub fn keep_undo(&mut self, undo: Undo) {
        match self.undo.iter_mut().find(|u| u.tab == undo.tab) {
            Some(own) if own.changed < undo.changed => *own = undo,
            Some(_) => {}
            None => self.undo.push(undo),
        }
        sort_by_key(&mut self.undo, |u| (u.changed, u.tab));
        let over = self.undo.len().saturating_sub(MOST_TABS);
        self.undo.drain(..over);
    }

    /// What a tab that shows this course can undo: its own list, otherwise the latest that fits. `tabs`
    /// are the numbers that it has had.
    pub fn undo_for(&self, tabs: &[u64], course: u64) -> Option<&Undo> {
        let fits = || self.undo.iter().rev().filter(|u| u.now == course);
        fits().find(|u| tabs.contains(&u.tab)).or_else(|| fits().next())
    }
}

// ---- Everything that is kept: lessons by their ids -----------------------------------------------

/// The lessons in a text that was kept.
fn lessons(text: &str) -> Result<Vec<(String, Json)>, String> {
    if text.len() > LARGEST {
        return Err(format!("it has more than {LARGEST} bytes"));
    }
    let json = Json::parse(text)?;
    match json.get("lockscope") {
        Some(Json::Number(VERSION)) => {}
        Some(Json::Number(other)) => {
            return Err(format!(
                "`lockscope`: it is of version {other}, and this page reads {VERSION}"
            ));
        }
        _ => {
            return Err(
                "`lockscope`: expected a version, such as 1: it is no file of Lockscope".into()
            );
        }
    }
    match json.get("lessons") {
        Some(Json::Object(fields)) => Ok(fields.clone()),
        _ => Err("`lessons`: expected lessons by their ids".into()),
    }
}

fn whole(lessons: Vec<(String, Json)>) -> Json {
    Json::object([("lockscope", Some(VERSION.into())), ("lessons", Some(Json::Object(lessons)))])
}

/// What is kept of a lesson; nothing, where nothing is.
///
/// # Errors
/// Where what is kept is not of this page, and what was expected there.
pub fn of_lesson(text: Option<&str>, id: &str) -> Result<Kept, String> {
    let Some(text) = text else { return Ok(Kept::default()) };
    let all = lessons(text)?;
    let found = all.iter().find(|l| l.0 == id);
    found.map_or_else(
        || Ok(Kept::default()),
        |(id, json)| At::new(json, format!("lessons.{id}")).kept(),
    )
}

/// The text that keeps a lesson beside what is kept already, and all that is then kept of the lesson.
///
/// # Errors
/// Where what is kept is not of this page: it must be left as it is.
pub fn put(text: Option<&str>, id: &str, kept: &Kept) -> Result<(String, Kept), String> {
    let mut all = text.map_or_else(|| Ok(Vec::new()), lessons)?;
    let mut merged = of_lesson(text, id)?;
    merged.merge(kept);
    let json = written(&merged);
    match all.iter_mut().find(|l| l.0 == id) {
        Some(place) => place.1 = json,
        None => all.push((id.into(), json)),
    }
    Ok((whole(all).to_string(), merged))
}

/// The same without any undo list, for a browser that has no more room.
pub fn without_undo(text: &str) -> Option<String> {
    let mut all = lessons(text).ok()?;
    for (_, lesson) in &mut all {
        if let Json::Object(fields) = lesson {
            fields.retain(|f| f.0 != "undo");
        }
    }
    Some(whole(all).to_string())
}

/// As a file: the same, in lines that people can read.
///
/// # Errors
/// Where what is kept is not of this page.
pub fn file(text: &str) -> Result<String, String> {
    Ok(format!("{:#}\n", whole(lessons(text)?)))
}

/// Adds a file to what is kept; all of it is read before anything is changed. Branches that were deleted
/// since come back. Returns the text to keep,
/// and how many branches came, by the ids of their lessons.
///
/// # Errors
/// What is wrong with the file or with what is kept, and where.
pub fn import(text: Option<&str>, file: &str) -> Result<(String, Vec<(String, usize)>), String> {
    let mut kept = text.map(String::from);
    let mut came = Vec::new();
    for (id, json) in lessons(file)? {
        let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if id.is_empty() || !id.chars().all(good) {
            return Err(format!("`lessons`: “{}” is no id of a lesson", shown(&id)));
        }
        let mut new = At::new(&json, format!("lessons.{id}")).kept()?;
        // Whose turn it is to undo is a matter of the tab that wrote it.
        new.undo.clear();
        let own = of_lesson(kept.as_deref(), &id)?.branches;
        let before = own.list().len();
        new.branches = own.with_file(&new.branches);
        let (text, merged) = put(kept.as_deref(), &id, &new)?;
        kept = Some(text);
        let new = merged.branches.list().len().saturating_sub(before);
        if new > 0 {
            came.push((id, new));
        }
    }
    Ok((kept.unwrap_or_else(|| whole(Vec::new()).to_string()), came))
}

// ---- Writing --------------------------------------------------------------------------------------

fn written(kept: &Kept) -> Json {
    let list = |values: Vec<Json>| (!values.is_empty()).then_some(Json::List(values));
    Json::object([
        ("branches", list(kept.branches.all().iter().map(branch).collect())),
        ("answers", list(kept.answers.iter().map(answer).collect())),
        ("solved", list(kept.solved.iter().map(solved).collect())),
        ("undo", list(kept.undo.iter().map(undo).collect())),
    ])
}

/// The fields of a course and a place in it.
fn course(course: &Course, event: Option<u32>, at: Micros) -> [(&'static str, Option<Json>); 5] {
    [
        ("run", Some(course.variant.clone().into())),
        ("seed", course.seed.map(Json::from)),
        ("edits", Some(course.edits.iter().map(|e| Json::from(e.as_str())).collect())),
        ("event", event.map(|e| u64::from(e).into())),
        ("at_us", Some(at.0.into())),
    ]
}

fn branch(branch: &Branch) -> Json {
    let stamps = [("made", Some(branch.made.into())), ("changed", Some(branch.changed.into()))];
    if branch.gone {
        let id = [("gone", Some(Json::from(format!("{:016x}", branch.id))))];
        return Json::object(id.into_iter().chain(stamps));
    }
    let name = [("name", branch.name.clone().map(Json::from))];
    let own = course(&branch.course, branch.event, branch.at);
    let told = [("told", branch.told.then_some(Json::Bool(true)))];
    Json::object(name.into_iter().chain(own).chain(told).chain(stamps))
}

const SEEN: [(Seen, &str); 3] =
    [(Seen::Accepted, "accepted"), (Seen::Rejected, "rejected"), (Seen::Nothing, "nothing")];

fn answer(answer: &Answer) -> Json {
    let said = answer.said.as_ref();
    let word = answer.looked.and_then(|l| SEEN.iter().find(|s| s.0 == l)).map(|s| s.1);
    Json::object([
        ("id", Some(answer.id.clone().into())),
        ("answer", said.map(|s| (s.answer as u64).into())),
        ("sure", said.map(|s| u64::from(s.sure).into())),
        ("why", said.map(|s| s.why.clone().into())),
        ("looked", word.map(Json::from)),
        ("changed", Some(answer.changed.into())),
    ])
}

fn solved(solved: &Solved) -> Json {
    Json::object([
        ("level", Some(solved.level.word().into())),
        ("yes", Some(solved.yes.into())),
        ("changed", Some(solved.changed.into())),
    ])
}

fn undo(undo: &Undo) -> Json {
    let past = |p: &Past| {
        let level = [("level", p.level.map(|l| Json::from(l.word())))];
        Json::object(level.into_iter().chain(course(&p.course, p.event, p.at)))
    };
    Json::object([
        ("tab", Some(undo.tab.into())),
        ("now", Some(format!("{:016x}", undo.now).into())),
        ("past", Some(undo.past.iter().map(past).collect())),
        ("future", Some(undo.future.iter().map(past).collect())),
        ("changed", Some(undo.changed.into())),
    ])
}

// ---- Reading --------------------------------------------------------------------------------------

/// A value with its place, for saying where something is wrong.
struct At<'j> {
    json: &'j Json,
    path: String,
}

impl<'j> At<'j> {
    fn new(json: &'j Json, path: String) -> At<'j> {
        At { json, path }
    }

    fn wrong<T>(&self, expected: &str) -> Result<T, String> {
        Err(format!("`{}`: expected {expected}", self.path))
    }

    fn field(&self, name: &str) -> Option<At<'j>> {
        let json = self.json.get(name)?;
        Some(At::new(json, format!("{}.{name}", self.path)))
    }

    fn must(&self, name: &str) -> Result<At<'j>, String> {
        let missing = || format!("`{}`: expected a field `{name}`", self.path);
        self.field(name).ok_or_else(missing)
    }

    fn number(&self) -> Result<u64, String> {
        match self.json {
            // A clock at its end would never change again.
            Json::Number(n) if *n < u64::MAX / 2 => Ok(*n),
            _ => self.wrong("a whole number"),
        }
    }

    fn small(&self) -> Result<u32, String> {
        u32::try_from(self.number()?).or_else(|_| self.wrong("a number of at most 32 bits"))
    }

    fn text(&self) -> Result<String, String> {
        match self.json {
            Json::Text(text) if text.len() <= LONGEST_TEXT => Ok(text.clone()),
            Json::Text(_) => self.wrong(&format!("a text of at most {LONGEST_TEXT} bytes")),
            _ => self.wrong("a text"),
        }
    }

    fn yes(&self) -> Result<bool, String> {
        match self.json {
            Json::Bool(yes) => Ok(*yes),
            _ => self.wrong("true or false"),
        }
    }

    fn id(&self) -> Result<u64, String> {
        let text = self.text()?;
        u64::from_str_radix(&text, 16).or_else(|_| self.wrong("an id of hexadecimal digits"))
    }

    /// The values of a list, at most so many.
    fn list(&self, most: usize) -> Result<Vec<At<'j>>, String> {
        let Json::List(values) = self.json else { return self.wrong("a list") };
        if values.len() > most {
            return self.wrong(&format!("at most {most} of them"));
        }
        let at = |(i, json)| At::new(json, format!("{}.{}", self.path, i + 1));
        Ok(values.iter().enumerate().map(at).collect())
    }

    /// The values of a list in this field; none where there is no such field.
    fn all(&self, name: &str, most: usize) -> Result<Vec<At<'j>>, String> {
        self.field(name).map_or_else(|| Ok(Vec::new()), |at| at.list(most))
    }

    fn kept(&self) -> Result<Kept, String> {
        if !matches!(self.json, Json::Object(_)) {
            return self.wrong("what was kept of a lesson");
        }
        let mut kept = Kept::default();
        // Deleted ones are among them.
        for branch in self.all("branches", 5 * MOST_BRANCHES)? {
            kept.branches.insert(branch.branch()?);
        }
        for answer in self.all("answers", 200)? {
            kept.answers.push(answer.answer()?);
        }
        for solved in self.all("solved", 2)? {
            kept.solved.push(solved.solved()?);
        }
        for undo in self.all("undo", 2 * MOST_TABS)? {
            kept.undo.push(undo.undo()?);
        }
        Ok(kept)
    }

    fn course(&self) -> Result<Course, String> {
        let mut course = Course {
            variant: self.must("run")?.text()?,
            seed: self.field("seed").map(|a| a.seed()).transpose()?,
            edits: Vec::new(),
        };
        for edit in self.must("edits")?.list(MOST_EDITS)? {
            course.edits.push(edit.text()?);
        }
        Ok(course)
    }

    fn seed(&self) -> Result<u64, String> {
        match self.json {
            Json::Number(seed) => Ok(*seed),
            _ => self.wrong("a whole number"),
        }
    }

    fn branch(&self) -> Result<Branch, String> {
        let (made, changed) = (self.must("made")?.number()?, self.must("changed")?.number()?);
        let gone = self.field("gone").map(|a| a.id()).transpose()?;
        let course = if gone.is_some() { Course::default() } else { self.course()? };
        let name = self.field("name").map(|a| a.text()).transpose()?;
        if name.as_ref().is_some_and(|n| n.chars().count() > LONGEST_NAME) {
            return self.must("name")?.wrong(&format!("at most {LONGEST_NAME} characters"));
        }
        Ok(Branch {
            changed,
            gone: gone.is_some(),
            id: gone.unwrap_or_else(|| course.id()),
            made,
            name,
            course,
            event: self.field("event").map(|a| a.small()).transpose()?,
            at: Micros(self.field("at_us").map(|a| a.number()).transpose()?.unwrap_or(0)),
            told: self.field("told").map(|a| a.yes()).transpose()?.unwrap_or(false),
        })
    }

    fn answer(&self) -> Result<Answer, String> {
        let said = match self.field("answer") {
            None => None,
            Some(answer) => Some(Said {
                answer: answer.small()? as usize,
                sure: self.must("sure")?.small()?,
                why: self.field("why").map(|a| a.text()).transpose()?.unwrap_or_default(),
            }),
        };
        let looked = |at: &At<'_>| {
            let word = at.text()?;
            let known = SEEN.iter().find(|s| s.1 == word);
            known.map_or_else(|| at.wrong("accepted, rejected or nothing"), |s| Ok(s.0))
        };
        Ok(Answer {
            id: self.must("id")?.text()?,
            said,
            looked: self.field("looked").map(|a| looked(&a)).transpose()?,
            changed: self.must("changed")?.number()?,
        })
    }

    fn level(&self) -> Result<Level, String> {
        let word = self.text()?;
        let known = Level::ALL.into_iter().find(|l| l.word() == word);
        known.map_or_else(|| self.wrong("help or challenge"), Ok)
    }

    fn solved(&self) -> Result<Solved, String> {
        Ok(Solved {
            level: self.must("level")?.level()?,
            yes: self.must("yes")?.yes()?,
            changed: self.must("changed")?.number()?,
        })
    }

    fn past(&self) -> Result<Past, String> {
        Ok(Past {
            level: self.field("level").map(|a| a.level()).transpose()?,
            course: self.course()?,
            event: self.field("event").map(|a| a.small()).transpose()?,
            at: Micros(self.field("at_us").map(|a| a.number()).transpose()?.unwrap_or(0)),
        })
    }

    fn undo(&self) -> Result<Undo, String> {
        let list = |name: &str| {
            let mut list = Vec::new();
            for past in self.must(name)?.list(2 * super::past::MOST_UNDO)? {
                list.push(past.past()?);
            }
            Ok::<_, String>(list)
        };
        Ok(Undo {
            tab: self.must("tab")?.number()?,
            now: self.must("now")?.id()?,
            past: list("past")?,
            future: list("future")?,
            changed: self.must("changed")?.number()?,
        })
    }
}

/// Somebody else's words, as long as a line.
fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(60).collect()
}
