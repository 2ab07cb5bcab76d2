//! A lesson as data: what a file says, and what a packed lesson carries.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::debate::{Pin, Point, Ruling};
use crate::judge::Verdict;
use crate::run::{self, ClientSpec, Compiled, Scenario, ScenarioError};
use crate::sim::Table;
use crate::systems::{Basis, Registry};

/// The variant that is run by default; every lesson has it.
pub const BASE: &str = "base";

/// The kinds of fault that a lesson can offer, by the words of their edits.
pub const FAULTS: [&str; 10] =
    ["pause", "suspend", "freeze", "cut", "crash", "clock", "delay", "drop", "duplicate", "send"];

/// A place in a lesson file: line and column count from 1, the column in Unicode scalar values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct Place {
    /// The line, from 1; 0 in a packed lesson, which has no file.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A lesson.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Lesson {
    /// The name in links and file names: `lease-expiration`.
    pub id: String,
    /// Its number among the lessons, which the name of its file begins with; a case has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
    /// The title.
    pub title: String,
    /// How long it takes.
    pub minutes: u32,
    /// Which kind of lock it is about.
    pub class: Class,
    /// Atoms of the curriculum that it covers: `A4`, `B15.1`.
    pub covers: Vec<String>,
    /// The kinds of fault that it offers, at most four, out of [`FAULTS`].
    pub faults: Vec<String>,
    /// One sentence that opens it: a concrete incident.
    pub hook: String,
    /// One sentence to say aloud at the end.
    pub say: String,
    /// The scenario that all variants share.
    pub scenario: Scenario,
    /// Variants, [`BASE`] first, then in the order of the file.
    pub variants: Vec<Variant>,
    /// Switches beside the stage, each an edit.
    #[serde(default)]
    pub defences: Vec<Defence>,
    /// Questions before the deciding event.
    #[serde(default)]
    pub predictions: Vec<Predict>,
    /// Questions at the end.
    #[serde(default)]
    pub recall: Vec<Recall>,
    /// What to do oneself, at most one of each level.
    #[serde(default)]
    pub tasks: Vec<Task>,
    /// Cases to sort into two trays.
    #[serde(default)]
    pub cards: Vec<Card>,
    /// What two people say against each other, each claim with the runs that show it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub debate: Vec<Point>,
    /// What comes of it, by what may fail.
    #[serde(default, rename = "verdict", skip_serializing_if = "Vec::is_empty")]
    pub rulings: Vec<Ruling>,
    /// A label that a design has to earn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pin: Option<Pin>,
    /// Where the claims of the words come from, those that no run can show.
    #[serde(default)]
    pub evidence: Vec<Evidence>,
    /// What to type on a machine of one's own, to see the same on real servers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<Machine>,
    /// What it tells of, where it happened to somebody: then it is a case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Report>,
    /// What a teacher needs. The page does not: the teacher's sheet is made when a site is built.
    #[serde(skip)]
    pub teach: Teach,
    /// Words before the first beat.
    #[serde(default)]
    pub intro: Vec<Block>,
    /// Beats: pieces of the story, each anchored to an event.
    pub beats: Vec<Beat>,
}

/// Which kind of lock: what happens when it fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Two holders would corrupt something.
    Correctness,
    /// Two holders would waste something.
    Efficiency,
}

impl Class {
    /// Both, in the order of the documentation.
    pub const ALL: [Class; 2] = [Class::Correctness, Class::Efficiency];

    /// What a verdict makes of a lock that let two in: something has to hold and does not, or work
    /// was done twice and nothing else happened.
    pub fn of(verdict: &Verdict) -> Option<Class> {
        let broken = verdict.invariant_broken > Some(0);
        let harm = verdict.corruption + verdict.lost_updates + verdict.torn_sections > 0;
        let twice = verdict.duplicate_work > Some(0);
        match (broken, harm, twice) {
            (true, ..) => Some(Class::Correctness),
            (false, false, true) => Some(Class::Efficiency),
            _ => None,
        }
    }

    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Class::Correctness => "correctness",
            Class::Efficiency => "efficiency",
        }
    }
}

/// A line of text that is read as a language of its own: an edit, an assertion.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Line {
    /// As written.
    pub text: String,
    /// Where it begins in the file.
    #[serde(skip)]
    pub place: Place,
}

/// Something to do on a machine of one's own.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Machine {
    /// What it shows.
    pub title: String,
    /// What has to be there: `Redis 7.0 or later`.
    pub needs: String,
    /// What to type, in this order.
    pub lines: Vec<Typed>,
}

impl Machine {
    /// All its lines, as a terminal takes them.
    pub fn script(&self) -> String {
        self.lines.iter().flat_map(|line| [line.text.text.as_str(), "\n"]).collect()
    }
}

/// A line to type, and what it prints.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Typed {
    /// The line.
    #[serde(rename = "type")]
    pub text: Line,
    /// What it prints; nothing where it prints nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prints: Option<Line>,
    /// A remark behind what it prints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The scenario with some edits, and what must come out.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Variant {
    /// Its name: `base`, `fixed`, or the author's own.
    pub name: String,
    /// What a tab calls it.
    pub title: String,
    /// Settings in place of the scenario's of the same keys: what no edit can change.
    #[serde(default, skip_serializing_if = "Table::is_empty")]
    pub settings: Table<String, String>,
    /// Clients that replace the scenario's clients of the same ids.
    #[serde(default, skip_serializing_if = "Clients::is_empty")]
    pub clients: Clients,
    /// Cells in place of all the scenario's cells, where it has any of its own.
    #[serde(default, skip_serializing_if = "Table::is_empty")]
    pub cells: Table<String, i64>,
    /// An invariant in place of the scenario's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invariant: Option<String>,
    /// Whether it has a gateway, where the scenario has none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gateway: bool,
    /// Its edits.
    pub edits: Vec<Line>,
    /// What is asserted of its run.
    pub expect: Vec<Line>,
    /// What its run shows, for whoever comes to it by a link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shows: Option<String>,
    /// The event at which a link to it arrives; without one, the moment on screen stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Line>,
}

/// Clients by node id.
pub type Clients = Table<String, ClientSpec>;

/// A switch: one edit with a name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Defence {
    /// What the switch is called: `The resource checks the token`.
    pub title: String,
    /// The edit that it adds.
    pub edit: Line,
}

/// A piece of the story.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Beat {
    /// Its name in links.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The event that it speaks of: `grant client-a#1`.
    pub at: Line,
    /// The variant that it belongs to.
    pub variant: String,
    /// Its words.
    pub blocks: Vec<Block>,
}

/// A question before the deciding event; the run decides, not the text.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Predict {
    /// Its name.
    pub id: String,
    /// The question.
    pub question: String,
    /// The event just after which it is asked.
    pub at: Line,
    /// The variant in which it is asked.
    pub variant: String,
    /// Two to four answers.
    pub answers: Vec<Answer>,
    /// The event that shows the answer.
    pub shown: Line,
    /// Whether the learner is asked what happened at the resource before it is explained.
    #[serde(default)]
    pub look: bool,
    /// Why, in a sentence or two.
    pub why: String,
}

/// One answer to a prediction.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Answer {
    /// Its words.
    pub text: String,
    /// The assertion that makes it right in a run.
    pub when: Line,
    /// The misconception that it comes from: `M3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub misconception: Option<String>,
}

/// A question at the end, with its answer to compare with.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Recall {
    /// The question.
    pub question: String,
    /// The answer.
    pub answer: String,
    /// The lesson that it goes back to, where that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// How much of a task is left to the learner.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// A goal with steps, some of them done.
    Help,
    /// A goal and nothing else.
    Challenge,
}

impl Level {
    /// Both, in the order of the documentation.
    pub const ALL: [Level; 2] = [Level::Help, Level::Challenge];

    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Level::Help => "help",
            Level::Challenge => "challenge",
        }
    }
}

/// Something to bring about; the run on screen decides whether it was.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Task {
    /// How much of it is left to the learner.
    pub level: Level,
    /// What to bring about, in words.
    pub goal: String,
    /// The variant that it begins with.
    pub variant: String,
    /// Steps towards it; of a challenge, none.
    #[serde(default)]
    pub steps: Vec<Step>,
    /// What has to hold of the run: all of it.
    pub done: Vec<Line>,
    /// A hint for whoever asks for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// All edits of a run in which it holds.
    pub solution: Vec<Line>,
}

/// A step of a task.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Step {
    /// What to bring about, in words.
    pub text: String,
    /// What has to hold of the run.
    pub done: Line,
    /// A hint for whoever asks for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// A case to sort: what comes of it when its work is done twice? Its run decides.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Card {
    /// The case, in words.
    pub text: String,
    /// The tray that it belongs in.
    pub tray: Class,
    /// The variant whose run shows what comes of it; the card is called by its title.
    pub variant: Line,
    /// The misconception that the other tray comes from.
    pub misconception: String,
    /// Why, in a sentence or two.
    pub why: String,
}

/// Where a claim comes from that no run can show.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Evidence {
    /// Its name in the words: `[^id]`.
    pub id: String,
    /// What kind of evidence it is.
    pub kind: Basis,
    /// What exactly it says.
    pub says: String,
    /// Who says it, and where: a title, a chapter.
    #[serde(rename = "where")]
    pub place: String,
}

/// A public report of what happened with real software.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Where people speak of it: `owner/project#number`.
    pub thread: String,
    /// What somebody who operates the system would have seen.
    pub symptom: String,
}

impl Report {
    /// The thread's address; one address serves issues and pull requests alike.
    pub fn address(&self) -> String {
        let (project, number) = self.thread.split_once('#').unwrap_or((&self.thread, ""));
        format!("https://github.com/{project}/issues/{number}")
    }
}

/// What a teacher needs who has a few spare minutes and a projector.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Teach {
    /// What to say, in the order of time.
    pub script: Vec<Cue>,
    /// A sketch to draw on the board, in lines of letters.
    pub board: String,
    /// Questions to talk about, each with what a good answer says.
    pub discuss: Vec<(String, String)>,
}

/// A line of a teacher's script.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Cue {
    /// From which minute on, counted from 0.
    pub minute: u32,
    /// What to say.
    pub say: String,
    /// The id of the beat to show meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub show: Option<Line>,
}

/// A block of words. Closed: a page draws exactly these.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Block {
    /// A paragraph.
    Paragraph(Vec<Inline>),
    /// A list without numbers.
    List(Vec<Vec<Block>>),
    /// A list with numbers from 1.
    Steps(Vec<Vec<Block>>),
    /// Lines of code, as they are.
    Code(String),
    /// Words of somebody else.
    Quote(Vec<Block>),
}

/// A piece of a line of words.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Inline {
    /// Plain text.
    Text(String),
    /// Stressed.
    Emphasis(Vec<Inline>),
    /// Stressed strongly.
    Strong(Vec<Inline>),
    /// Code.
    Code(String),
    /// A link to something that is known to exist.
    Link(Target, Vec<Inline>),
    /// A mark behind a claim: the id of the evidence for it.
    Evidence(String),
}

/// Where a link in a lesson can lead.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// A beat of the same lesson, by its id.
    Beat(String),
    /// Another lesson, by its id.
    Lesson(String),
    /// A variant of the same lesson, by its name: it is run.
    Run(String),
    /// A task of the same lesson.
    Level(Level),
}

impl Block {
    /// Whether it holds a link that runs this variant.
    pub fn links_to(&self, variant: &str) -> bool {
        self.any(&|i| matches!(i, Inline::Link(Target::Run(name), _) if name == variant))
    }

    /// Whether it holds a mark with this id.
    pub fn refers_to(&self, evidence: &str) -> bool {
        self.any(&|i| matches!(i, Inline::Evidence(id) if id == evidence))
    }

    /// Whether it is a paragraph of nothing but links to runs, which stand in a row.
    pub fn is_row(&self) -> bool {
        let Block::Paragraph(line) = self else { return false };
        line.iter().all(|inline| match inline {
            Inline::Link(Target::Run(_), _) => true,
            Inline::Text(text) => text.trim().is_empty(),
            _ => false,
        })
    }

    fn any(&self, is: &dyn Fn(&Inline) -> bool) -> bool {
        match self {
            Block::Paragraph(line) => line.iter().any(|i| i.any(is)),
            Block::List(items) | Block::Steps(items) => items.iter().flatten().any(|b| b.any(is)),
            Block::Quote(inner) => inner.iter().any(|b| b.any(is)),
            Block::Code(_) => false,
        }
    }
}

impl Inline {
    fn any(&self, is: &dyn Fn(&Inline) -> bool) -> bool {
        let within = match self {
            Inline::Emphasis(inner) | Inline::Strong(inner) | Inline::Link(_, inner) => inner,
            _ => return is(self),
        };
        is(self) || within.iter().any(|i| i.any(is))
    }
}

impl Variant {
    /// Whether two variants differ in their edits only.
    pub fn same_scene(&self, other: &Variant) -> bool {
        (&self.settings, &self.clients, &self.cells, &self.invariant, self.gateway)
            == (&other.settings, &other.clients, &other.cells, &other.invariant, other.gateway)
    }

    /// Whether the part of the scenario at this path is the variant's own.
    pub fn has_own(&self, path: &[&str]) -> bool {
        match path.first() {
            Some(&"settings") => path.get(1).is_some_and(|key| self.settings.contains_key(*key)),
            Some(&"cells") => !self.cells.is_empty(),
            Some(&"invariant") => self.invariant.is_some(),
            _ => false,
        }
    }
}

impl Lesson {
    /// The task of this level.
    pub fn task(&self, level: Level) -> Option<(usize, &Task)> {
        self.tasks.iter().enumerate().find(|(_, t)| t.level == level)
    }

    /// The first beat whose words link to a variant.
    pub fn links_to(&self, variant: &str) -> Option<usize> {
        self.beats.iter().position(|beat| beat.blocks.iter().any(|b| b.links_to(variant)))
    }

    /// The variant with this name.
    pub fn variant(&self, name: &str) -> Option<&Variant> {
        self.variants.iter().find(|v| v.name == name)
    }

    /// The scenario of a variant: the lesson's, with the variant's own parts in place of theirs.
    pub fn scenario_of(&self, variant: &Variant) -> Scenario {
        let mut scenario = self.scenario.clone();
        for (key, value) in &variant.settings {
            scenario.settings.insert(key.clone(), value.clone());
        }
        for (id, client) in &variant.clients {
            scenario.clients.insert(id.clone(), client.clone());
        }
        if !variant.cells.is_empty() {
            scenario.cells.clone_from(&variant.cells);
        }
        scenario.gateway |= variant.gateway;
        if variant.invariant.is_some() {
            scenario.invariant.clone_from(&variant.invariant);
        }
        scenario
    }

    /// Reads a variant with `extra_edits` after its own, ready to run.
    ///
    /// # Errors
    /// Everything that is wrong; edits are counted through, the variant's own first.
    pub fn compile(
        &self,
        variant: &str,
        extra_edits: &[String],
    ) -> Result<Compiled, Vec<ScenarioError>> {
        let Some(found) = self.variant(variant) else {
            let known = crate::sim::list(self.variants.iter().map(|v| v.name.as_str()));
            let message = format!("no variant `{variant}`; the variants are {known}");
            let place = run::Place { path: vec!["variants".into()], at: 0 };
            return Err(vec![ScenarioError { place, message }]);
        };
        let mut edits: Vec<String> = found.edits.iter().map(|e| e.text.clone()).collect();
        edits.extend_from_slice(extra_edits);
        run::compile(&self.scenario_of(found), &edits, &Registry::standard())
    }

    /// Reads a variant's scenario with these edits in place of its own, ready to run.
    ///
    /// # Errors
    /// Everything that is wrong.
    pub fn compile_edited(
        &self,
        variant: &str,
        edits: &[Line],
    ) -> Result<Compiled, Vec<ScenarioError>> {
        // A variant that does not exist has been complained about where it is named.
        let Some(found) = self.variant(variant) else { return Err(Vec::new()) };
        let edits: Vec<String> = edits.iter().map(|e| e.text.clone()).collect();
        run::compile(&self.scenario_of(found), &edits, &Registry::standard())
    }
}
