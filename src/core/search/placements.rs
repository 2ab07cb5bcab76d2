//! Proof in the small: every placement of one pause, run and judged under each check of the resource.
//!
//! A placement is an instruction that a client's main program executes in the run where nobody is
//! paused, and one length for each order that a length can bring about there ([`super::orders`]). The
//! orders are told apart by the runs under all the checks at once, so that every check is tried with
//! the same schedules and none is spared one. Where the order on resume makes a difference, both are
//! tried.

use std::rc::Rc;

use super::ear::Ear;
use super::knife::Compile;
use super::orders::{Still, Sweep};
use crate::judge::Verdict;
use crate::run::{Action, Compiled, Names, Scenario, ScenarioError};
use crate::sim::{Discard, Micros, Set, Step, World, sort};

/// The checks that are compared; that of the scenario itself comes to them where it is another.
pub const CHECKS: [&str; 3] = ["none", "token", "version"];
/// How many instructions are tried.
const MOST_PLACES: usize = 400;
/// How much a search handles, in events of all its runs: so much until it knows the schedules, and as
/// much again until it has tried them. Many times what a lesson needs.
pub const MOST_WORK: u32 = 20_000_000;
const CHECK: &str = "resource.check";
const ORDER: &str = "resume.order";
/// Both orders on resume.
const ORDERS: [&str; 2] = ["program-first", "timers-first"];

/// What is looked for in each run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Aim {
    /// Harm of any kind.
    Harm,
    /// An accepted history that no order of sections explains.
    Corruption,
    /// Two clients that believe in conflicting modes.
    Overlap,
    /// A client whose acquire is open at the end.
    Stall,
}

impl Aim {
    /// All of them with their words.
    pub const ALL: [(&'static str, Aim); 4] = [
        ("harm", Aim::Harm),
        ("corruption", Aim::Corruption),
        ("overlap", Aim::Overlap),
        ("stall", Aim::Stall),
    ];

    fn is_met(self, harm: [bool; 5], ear: Ear, end: Micros) -> bool {
        let told = |figure: fn(&Verdict) -> u64| figure(&ear.close(end).verdict) > 0;
        match self {
            Aim::Harm => harm.contains(&true),
            Aim::Corruption => harm[0],
            Aim::Overlap => told(|v| v.overlap_us),
            Aim::Stall => told(|v| v.stalled),
        }
    }
}

/// A pause before an instruction, with a length that stands for all that lead to the same order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// Which instruction: an index into [`Proof::places`].
    pub place: usize,
    /// The order on resume is the other one of the two.
    pub turned: bool,
    /// How long the pause is.
    pub length: Micros,
    /// The shortest and the longest length that lead to this order.
    pub span: (Micros, Micros),
}

/// What came out under one check.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Row {
    /// The check.
    pub check: String,
    /// How many schedules did harm.
    pub harmful: usize,
    /// How many did it in each of the ways of [`Verdict::HARMS`].
    pub kinds: [usize; 5],
    /// How many brought about what was looked for.
    pub met: usize,
    /// The first schedule that did harm.
    pub first: Option<usize>,
    /// The first one for each kind of harm.
    pub firsts: [Option<usize>; 5],
    /// The first one that brought about what was looked for.
    pub first_met: Option<usize>,
}

/// The search while it goes on: each [`Proof::step`] is a small part of it.
#[derive(Debug)]
pub struct Proof {
    /// The rows of the result, by check.
    pub rows: Vec<Row>,
    /// The row of the scenario's own check.
    pub own: usize,
    /// The instructions before which a pause is placed, in the order of the run.
    pub places: Vec<Step>,
    /// How many more there are, which are not tried.
    pub untried_places: usize,
    /// All schedules, once they are known.
    pub schedules: Vec<Schedule>,
    /// How many of them have been tried.
    pub tried: usize,
    /// How many schedules were not tried, because the search had done all that it does.
    pub untried_schedules: usize,
    /// How many runs it took.
    pub runs: u64,
    /// How many events were handled in them ...
    pub work: u64,
    /// ... and how many may be: [`MOST_WORK`].
    pub most: u32,
    /// It had done all that it does before it knew all schedules.
    pub exhausted: bool,
    /// The longest period in which the rest of the world repeats itself while somebody stands still, where
    /// one period's returns stood for later ones.
    pub period: Option<Micros>,
    /// The edits of the scenario that stopped a process, which were left out.
    pub left_out: usize,
    /// What everything is called.
    pub names: Rc<Names>,
    /// The seed of the runs.
    pub seed: u64,
    /// Their latest end.
    pub until: Micros,
    aim: Aim,
    scenario: Rc<Scenario>,
    kept: Vec<String>,
    /// By order on resume and check: the edits that set them, and the scenario under them.
    worlds: Vec<(Vec<String>, Compiled)>,
    /// One for each world; none where the instruction is not executed under that check.
    sweeps: Vec<Option<Sweep>>,
    /// The next placement to be swept.
    next: usize,
    stills: Vec<Option<Still>>,
    stills_of: Option<(usize, bool)>,
}

impl Proof {
    /// Prepares the search in a scenario under these edits, those that stop a process left out.
    ///
    /// # Errors
    /// What is wrong with the scenario.
    pub fn new(
        compile: &Compile<'_>,
        edits: &[String],
        aim: Aim,
    ) -> Result<Proof, Vec<ScenarioError>> {
        let given = compile(edits)?;
        let (own, order) = (given.settings.word(CHECK), given.settings.word(ORDER));
        let mut checks: Vec<&str> = CHECKS.to_vec();
        if !checks.contains(&own) {
            checks.push(own);
        }
        let kept = kept(&given);
        let plain = compile(&kept)?;
        let mut worlds = Vec::new();
        let other = if order == ORDERS[0] { ORDERS[1] } else { ORDERS[0] };
        for order in [order, other] {
            for check in &checks {
                let mut set = Vec::new();
                for (key, word) in [(ORDER, order), (CHECK, check)] {
                    if plain.settings.word(key) != word {
                        set.push(format!("set {key} {word}"));
                    }
                }
                let compiled = compile(&[kept.clone(), set.clone()].concat())?;
                worlds.push((set, compiled));
            }
        }
        let mut proof = Proof {
            own: checks.iter().position(|c| *c == own).unwrap_or(0),
            rows: checks.iter().map(|c| Row { check: (*c).into(), ..Row::default() }).collect(),
            places: executed(&worlds[0].1),
            untried_places: 0,
            schedules: Vec::new(),
            tried: 0,
            untried_schedules: 0,
            runs: 0,
            work: 0,
            most: MOST_WORK,
            exhausted: false,
            period: None,
            left_out: given.edits.iter().filter(|e| stops(&e.action)).count(),
            scenario: given.scenario.clone(),
            names: given.names.clone(),
            seed: given.scenario.seed,
            until: given.plan.until,
            aim,
            kept,
            worlds,
            sweeps: Vec::new(),
            next: 0,
            stills: Vec::new(),
            stills_of: None,
        };
        proof.untried_places = proof.places.len().saturating_sub(MOST_PLACES);
        proof.places.truncate(MOST_PLACES);
        Ok(proof)
    }

    /// Whether this counts the runs of that scenario too: it is the same under the same edits, except
    /// for those that stop a process or set the check.
    pub fn counts(&self, compiled: &Compiled) -> bool {
        compiled.scenario == self.scenario && kept(compiled) == self.kept
    }

    /// Whether all schedules are known, so that their number is.
    pub fn counted(&self) -> bool {
        self.next >= self.places.len() && self.sweeps.is_empty()
    }

    /// How many instructions' schedules are known.
    pub fn counted_places(&self) -> usize {
        self.next.saturating_sub(usize::from(!self.sweeps.is_empty()))
    }

    /// Whether the search is over.
    pub fn is_done(&self) -> bool {
        self.counted() && self.tried == self.schedules.len()
    }

    /// Does a small part of the work; false when all is done.
    pub fn step(&mut self) -> bool {
        if !self.counted() {
            self.sweep();
        } else if self.tried < self.schedules.len() {
            self.try_next();
        }
        self.give_in();
        !self.is_done()
    }

    /// Ends a search that has done all that it does: what it knows and has tried so far counts.
    fn give_in(&mut self) {
        let most = u64::from(self.most);
        if self.counted() {
            if self.work > 2 * most {
                self.untried_schedules += self.schedules.len() - self.tried;
                self.schedules.truncate(self.tried);
            }
        } else if self.work + self.sweeps.iter().flatten().map(|s| s.work).sum::<u64>() > most {
            let known = self.counted_places();
            self.untried_places += self.places.len() - known;
            self.places.truncate(known);
            self.sweeps.clear();
            (self.next, self.exhausted, self.work) = (known, true, most);
        }
    }

    /// Does all of the work.
    pub fn finish(&mut self) {
        while self.step() {}
    }

    /// The edits that give the run of a schedule under the check of a row.
    pub fn edits(&self, schedule: usize, row: usize) -> Vec<String> {
        let mut edits = self.kept.clone();
        if let Some(found) = self.schedules.get(schedule) {
            let world = usize::from(found.turned) * self.rows.len() + row;
            edits.extend(self.worlds.get(world).into_iter().flat_map(|w| w.0.clone()));
            edits.extend(self.places.get(found.place).map(|step| self.pause(*step, found.length)));
        }
        edits
    }

    fn pause(&self, (who, word, number): Step, length: Micros) -> String {
        format!("pause {} before {word}#{number} for {length}", self.names.node(who).id)
    }

    /// Finds the orders that a pause at one instruction can bring about, a stretch of lengths a time.
    fn sweep(&mut self) {
        if self.sweeps.is_empty() {
            let step = self.places[self.next];
            self.sweeps = self.worlds.iter().map(|w| Sweep::new(&w.1, step)).collect();
            self.next += 1;
        }
        let open = |s: &Option<Sweep>| s.as_ref().is_some_and(|s| !s.is_done());
        let Some(index) = self.sweeps.iter().position(open) else { return self.merge() };
        // The worlds under one order on resume stand together; the first of them goes ahead.
        let lead = index - index % self.rows.len();
        let (before, rest) = self.sweeps.split_at_mut(index);
        let Some(Some(sweep)) = rest.first_mut() else { return };
        match before.get(lead) {
            Some(Some(lead)) => sweep.step_behind(lead),
            _ => sweep.step(),
        }
    }

    /// Makes schedules of the stretches that were found at one instruction: a new one wherever the
    /// order changes under any of the checks, unless these orders were there before.
    fn merge(&mut self) {
        let sweeps = std::mem::take(&mut self.sweeps);
        let place = self.next - 1;
        let mut seen: Set<Vec<u64>> = Set::new();
        for (turned, sweeps) in [false, true].into_iter().zip(sweeps.chunks(self.rows.len())) {
            let there = || sweeps.iter().flatten();
            let mut starts: Vec<Micros> = there().flat_map(|s| &s.found).map(|s| s.from).collect();
            sort(&mut starts);
            starts.dedup();
            let longest = there().map(Sweep::longest).max().unwrap_or_default();
            for (index, start) in starts.iter().enumerate() {
                let end = starts.get(index + 1).map_or(longest, |next| Micros(next.0 - 1));
                let order = |s: &Option<Sweep>| s.as_ref().map_or(0, |s| s.order_at(*start));
                if seen.insert(sweeps.iter().map(order).collect()) {
                    // What is not looked at is the last that an order is shown by.
                    let skips = there().filter_map(|s| s.skipped).map(|s| s.from);
                    let end = skips
                        .filter(|from| start < from)
                        .fold(end, |end, from| end.min(Micros(from.0 - 1)));
                    let span = (*start, end.max(*start));
                    let length = roundest(span);
                    self.schedules.push(Schedule { place, turned, length, span });
                }
            }
            let periods = there().filter_map(|s| s.skipped).map(|s| s.period);
            self.period = periods.chain(self.period).max();
            self.runs += there().map(|s| s.runs).sum::<u64>();
            self.work += there().map(|s| s.work).sum::<u64>();
        }
    }

    /// Runs the next schedule under every check.
    fn try_next(&mut self) {
        let index = self.tried;
        let Schedule { place, turned, length, .. } = self.schedules[index];
        let checks = self.rows.len();
        if self.stills_of != Some((place, turned)) {
            let worlds = self.worlds.iter().skip(usize::from(turned) * checks).take(checks);
            let step = self.places[place];
            let still = |w: &(_, Compiled)| Still::before(&w.1, step, Some(&w.1.setup));
            self.stills = worlds.map(still).collect();
            self.stills_of = Some((place, turned));
        }
        let worlds = self.worlds.iter().skip(usize::from(turned) * checks);
        for ((still, row), world) in self.stills.iter_mut().zip(&mut self.rows).zip(worlds) {
            let mut before = 0;
            let (ear, end) = match still {
                Some(still) => {
                    let back = still.from.plus(length);
                    still.go_to(back);
                    before = still.heard();
                    still.hear(back)
                }
                None => heard(&world.1),
            };
            self.work += u64::from(ear.heard() - before);
            let harm = ear.harm();
            row.count(index, harm, self.aim.is_met(harm, ear, end));
            self.runs += 1;
        }
        self.tried += 1;
    }
}

impl Row {
    fn count(&mut self, index: usize, harm: [bool; 5], met: bool) {
        let each = self.kinds.iter_mut().zip(&mut self.firsts).zip(harm);
        for ((count, first), _) in each.filter(|(_, harmed)| *harmed) {
            *count += 1;
            first.get_or_insert(index);
        }
        if harm.contains(&true) {
            self.harmful += 1;
            self.first.get_or_insert(index);
        }
        if met {
            self.met += 1;
            self.first_met.get_or_insert(index);
        }
    }
}

/// What the judge hears of a run in which nobody is stopped.
fn heard(compiled: &Compiled) -> (Ear, Micros) {
    let mut world = World::new(compiled.plan.clone());
    let mut ear = Ear::new(compiled.plan.procs.len(), Some(&compiled.setup));
    world.run(&mut ear);
    (ear, world.now())
}

/// Whether an edit stops a process.
fn stops(action: &Action) -> bool {
    matches!(action, Action::Halt(..))
}

/// The edits that stay: all but those that stop a process or set what the search sets.
fn kept(compiled: &Compiled) -> Vec<String> {
    let sets = |action: &Action| match action {
        Action::Set(key, ..) => [CHECK, ORDER].contains(&key.as_str()),
        _ => false,
    };
    let stay = compiled.edits.iter().filter(|e| !stops(&e.action) && !sets(&e.action));
    stay.map(ToString::to_string).collect()
}

/// The words that main programs execute in the run where nobody is stopped, in order.
fn executed(compiled: &Compiled) -> Vec<Step> {
    let mut world = World::new(compiled.plan.clone());
    world.call_roll();
    world.run(&mut Discard);
    world.roll().to_vec()
}

/// The length in this span that is written with the fewest digits, or the shortest of those.
fn roundest((least, most): (Micros, Micros)) -> Micros {
    let mut unit = 1_000_000;
    while unit > 1 {
        let rounded = least.0.div_ceil(unit) * unit;
        if rounded > 0 && rounded <= most.0 {
            return Micros(rounded);
        }
        unit /= 10;
    }
    least
}
