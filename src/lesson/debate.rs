//! A debate whose claims are runs, and a label that a design has to earn.

use serde::{Deserialize, Serialize};

use super::model::{Lesson, Line};
use crate::judge::Verdict;
use crate::run::{self, Run};
use crate::systems::Registry;

/// A point that somebody makes in a debate, with the runs that show what is to it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Point {
    /// Its name among the points: `K4`.
    pub id: String,
    /// Who makes it; a debate has two of them.
    pub by: String,
    /// What it is about, in a few words.
    pub title: String,
    /// What is claimed, in our words.
    pub claim: String,
    /// The runs that show it, the most telling first.
    pub runs: Vec<Shown>,
    /// The points of the other one that it answers, by their names.
    #[serde(default)]
    pub answers: Vec<String>,
    /// What whoever made it gave up in the exchange.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gave_up: Option<String>,
    /// The evidence for who said so, by its id.
    pub evidence: String,
}

/// A run that shows what is to a point.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Shown {
    /// The variant.
    pub variant: Line,
    /// What its run shows, in a sentence.
    pub shows: String,
}

/// What comes of it where this or that may fail: the end of a debate.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Ruling {
    /// What may fail.
    pub when: String,
    /// The variant whose run shows what comes of it where two at once would be wrong.
    pub correctness: Line,
    /// The variant whose run shows it where two at once would be wasteful.
    pub efficiency: Line,
    /// What follows.
    pub says: String,
}

/// A label that a design has to earn: it stays as long as no attack does harm.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Pin {
    /// What the label says.
    pub label: String,
    /// The variants whose schedules are tried on the design.
    pub attacks: Vec<Line>,
    /// The defence without which it falls off, and with which it stays: its edit.
    pub needs: Line,
}

/// What came of a run, in the figures that a debate about locks turns on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// Promises that the service ended too early.
    pub broken: u64,
    /// Promises that an operation of their holder came after.
    pub outlived: u64,
    /// Grants while another's promise stood.
    pub double: u64,
    /// Late writes that the resource refused.
    pub refused: u64,
    /// Operations of a rightful holder that it refused.
    pub rightful: u64,
    /// Whether a job was done twice.
    pub twice: bool,
    /// Whether something is wrong afterwards: what harm there is besides work done twice.
    pub wrong: bool,
}

impl Outcome {
    /// Out of a verdict.
    pub fn of(verdict: &Verdict) -> Outcome {
        let [corrupted, lost, torn, broken, twice] = verdict.harm();
        Outcome {
            broken: verdict.broken_promises,
            outlived: verdict.outlived,
            double: verdict.double_grant,
            refused: verdict.stale_rejected,
            rightful: verdict.legit_rejected,
            twice,
            wrong: corrupted || lost || torn || broken,
        }
    }

    /// Whether it did harm of any kind.
    pub fn harmed(&self) -> bool {
        self.wrong || self.twice
    }
}

/// A design: which of a lesson's defences are switched on, in their order.
pub type Design = Vec<bool>;

impl Lesson {
    /// The point with this name, and its index.
    pub fn point(&self, id: &str) -> Option<(usize, &Point)> {
        self.debate.iter().enumerate().find(|(_, point)| point.id == id)
    }

    /// Who makes the first point of the debate: the others are the other one's.
    pub fn opens(&self) -> &str {
        self.debate.first().map_or("", |point| point.by.as_str())
    }

    /// The points that answer this one, with their indices.
    pub fn replies(&self, id: &str) -> Vec<(usize, &Point)> {
        let points = self.debate.iter().enumerate();
        points.filter(|(_, point)| point.answers.iter().any(|a| a == id)).collect()
    }

    /// The defences that are among these edits.
    pub fn design(&self, edits: &[String]) -> Design {
        self.defences.iter().map(|defence| edits.contains(&defence.edit.text)).collect()
    }

    /// The edits of an attack on a design: what the variant does, and the defences that are on.
    pub fn attack(&self, variant: &str, design: &[bool]) -> Vec<String> {
        let is_defence = |edit: &&Line| self.defences.iter().any(|d| d.edit.text == edit.text);
        let done = self.variant(variant).map(|v| v.edits.iter()).into_iter().flatten();
        let schedule = done.filter(|edit| !is_defence(edit));
        let on = self.defences.iter().zip(design).filter(|(_, on)| **on).map(|(d, _)| &d.edit);
        schedule.chain(on).map(|edit| edit.text.clone()).collect()
    }

    /// What comes of a variant's schedule and clients under these edits; none if they cannot be run.
    pub fn outcome(&self, variant: &str, edits: &[String]) -> Option<Outcome> {
        let scenario = self.scenario_of(self.variant(variant)?);
        let compiled = run::compile(&scenario, edits, &Registry::standard()).ok()?;
        Some(Outcome::of(&Run::of(compiled).judgement.verdict))
    }

    /// What comes of a variant as it stands in the file.
    pub fn outcome_of(&self, variant: &str) -> Option<Outcome> {
        let edits: Vec<String> =
            self.variant(variant)?.edits.iter().map(|edit| edit.text.clone()).collect();
        self.outcome(variant, &edits)
    }

    /// What comes of an attack on a design.
    pub fn outcome_of_attack(&self, variant: &str, design: &[bool]) -> Option<Outcome> {
        self.outcome(variant, &self.attack(variant, design))
    }
}
