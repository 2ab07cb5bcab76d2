//! Branches: the runs that a learner made of a lesson, each kept until it is deleted.
//!
//! Two tabs, or two machines by way of a file, may change the same branches without knowing of each
//! other. Each change carries a number larger than all that its maker has seen, and a deleted branch
//! leaves its number behind; so two lists always become one, in whichever order they meet, and nothing
//! of either is lost.

use super::replay::Fnv;
use crate::sim::{Micros, sort_by_key};

/// How many branches are kept. Beyond that, the oldest without a name goes.
pub const MOST_BRANCHES: usize = 60;
/// How many deleted branches are remembered as deleted.
const MOST_GONE: usize = 200;
/// The longest name, in characters.
pub const LONGEST_NAME: usize = 80;

/// All that determines a run of a lesson.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct Course {
    /// The variant by name: it says which clients there are.
    pub variant: String,
    /// The seed, where it is not the lesson's.
    pub seed: Option<u64>,
    /// All edits.
    pub edits: Vec<String>,
}

impl Course {
    /// What tells it from any other: wherever it is made, it is the same.
    pub fn id(&self) -> u64 {
        let mut hash = Fnv::new();
        hash.bytes(self.variant.as_bytes());
        hash.number(self.seed.map_or(0, |s| s.wrapping_add(1)));
        for edit in &self.edits {
            hash.bytes(&[0]);
            hash.bytes(edit.as_bytes());
        }
        hash.0
    }
}

/// A run that a learner made.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Branch {
    /// The number of its last change; of two versions the larger one holds.
    pub changed: u64,
    /// It is deleted; only its id and this are left.
    pub gone: bool,
    /// The id of its course.
    pub id: u64,
    /// When it was made, among the others.
    pub made: u64,
    /// What the learner calls it.
    pub name: Option<String>,
    /// What is run.
    pub course: Course,
    /// Where the learner left it: the last event that had happened, and the moment.
    pub event: Option<u32>,
    /// The moment.
    pub at: Micros,
    /// The learner has seen what came out.
    pub told: bool,
}

/// All branches of a lesson.
#[derive(Clone, Default, Debug)]
pub struct Branches {
    /// By their ids.
    all: Vec<Branch>,
    /// The largest number of a change so far.
    clock: u64,
}

/// How far somebody has counted makes no difference.
impl PartialEq for Branches {
    fn eq(&self, other: &Branches) -> bool {
        self.all == other.all
    }
}

impl Eq for Branches {}

impl Branches {
    /// Those that are there, the oldest first.
    pub fn list(&self) -> Vec<&Branch> {
        let mut list: Vec<&Branch> = self.all.iter().filter(|b| !b.gone).collect();
        sort_by_key(&mut list, |b| (b.made, b.id));
        list
    }

    /// Everything, for keeping: deleted ones too.
    pub fn all(&self) -> &[Branch] {
        &self.all
    }

    /// The one with this id, if it is there.
    pub fn get(&self, id: u64) -> Option<&Branch> {
        self.all.get(self.place(id).ok()?).filter(|b| !b.gone)
    }

    /// The largest number of a change so far.
    pub fn clock(&self) -> u64 {
        self.clock
    }

    /// Somebody else's changes have come to this number.
    pub fn hear(&mut self, clock: u64) {
        self.clock = self.clock.max(clock);
    }

    /// A number larger than all so far.
    pub fn tick(&mut self) -> u64 {
        self.clock = self.clock.saturating_add(1);
        self.clock
    }

    fn place(&self, id: u64) -> Result<usize, usize> {
        self.all.binary_search_by(|b| b.id.cmp(&id))
    }

    /// A course comes on screen; whether it is a new branch.
    pub fn visit(&mut self, course: &Course, event: Option<u32>, at: Micros) -> bool {
        let id = course.id();
        let place = self.place(id);
        if place.is_ok_and(|i| self.all.get(i).is_some_and(|b| !b.gone)) {
            return false;
        }
        let changed = self.tick();
        let branch = Branch {
            changed,
            gone: false,
            id,
            made: changed,
            name: None,
            course: course.clone(),
            event,
            at,
            told: false,
        };
        match place {
            Ok(i) => self.all[i] = branch,
            Err(i) => self.all.insert(i, branch),
        }
        self.prune(id);
        true
    }

    /// The learner leaves a branch here.
    pub fn leave(&mut self, id: u64, event: Option<u32>, at: Micros) {
        self.change(id, |b| (b.event, b.at) = (event, at));
    }

    /// The learner has seen what came out.
    pub fn tell(&mut self, id: u64) {
        self.change(id, |b| b.told = true);
    }

    /// Gives a name, or with nothing but spaces takes it away.
    pub fn rename(&mut self, id: u64, name: &str) {
        self.change(id, |b| b.name = tidy(name));
    }

    /// Deletes a branch, and returns it as it was.
    pub fn delete(&mut self, id: u64) -> Option<Branch> {
        let before = self.get(id)?.clone();
        self.change(id, bury);
        self.prune(id);
        Some(before)
    }

    /// Brings a deleted branch back.
    pub fn revive(&mut self, branch: Branch) {
        let changed = self.tick();
        let branch = Branch { changed, gone: false, ..branch };
        match self.place(branch.id) {
            Ok(i) => self.all[i] = branch,
            Err(i) => self.all.insert(i, branch),
        }
    }

    fn change(&mut self, id: u64, change: impl Fn(&mut Branch)) {
        let Some(branch) = self.place(id).ok().and_then(|i| self.all.get_mut(i)) else { return };
        let mut new = branch.clone();
        change(&mut new);
        if !branch.gone && new != *branch {
            new.changed = self.clock.saturating_add(1);
            *branch = new;
            self.tick();
        }
    }

    /// Takes over whatever is newer in another list; whether anything was.
    pub fn merge(&mut self, other: &Branches) -> bool {
        let before = self.all.clone();
        for branch in &other.all {
            self.insert(branch.clone());
        }
        self.clock = self.clock.max(other.clock);
        self.prune(0);
        self.all != before
    }

    /// This list with what a file has that somebody loads by hand: what was deleted here comes back, and
    /// nothing is deleted. That something is deleted is for other tabs to know, not for whoever asks for it.
    #[must_use]
    pub fn with_file(&self, file: &Branches) -> Branches {
        let mut both = self.clone();
        both.hear(file.clock);
        for branch in file.list() {
            let own = self.place(branch.id).ok().and_then(|i| self.all.get(i));
            match own.is_some_and(|own| own.gone) {
                true => both.revive(branch.clone()),
                false => both.insert(branch.clone()),
            }
        }
        both.prune(0);
        both
    }

    /// Takes over a branch, unless a newer version of it is there.
    pub fn insert(&mut self, branch: Branch) {
        self.clock = self.clock.max(branch.changed).max(branch.made);
        match self.place(branch.id) {
            Err(i) => self.all.insert(i, branch),
            Ok(i) => {
                if let Some(own) = self.all.get_mut(i).filter(|own| **own < branch) {
                    *own = branch;
                }
            }
        }
    }

    /// Where there are too many: the oldest without a name go, and the longest deleted are forgotten.
    fn prune(&mut self, keep: u64) {
        let alive = self.list();
        let mut over = alive.len().saturating_sub(MOST_BRANCHES);
        let mut old: Vec<u64> = Vec::new();
        for branch in alive.iter().filter(|b| b.name.is_none() && b.id != keep) {
            if over == 0 {
                break;
            }
            over -= 1;
            old.push(branch.id);
        }
        // Their numbers stay, so that every list that meets the same branches drops the same ones.
        for branch in self.all.iter_mut().filter(|b| old.contains(&b.id)) {
            bury(branch);
        }
        let mut gone: Vec<u64> = self.all.iter().filter(|b| b.gone).map(|b| b.changed).collect();
        if gone.len() > MOST_GONE {
            crate::sim::sort(&mut gone);
            let least = gone.get(gone.len() - MOST_GONE).copied().unwrap_or(0);
            self.all.retain(|b| !b.gone || b.changed >= least);
        }
    }
}

/// Nothing but the number stays.
fn bury(branch: &mut Branch) {
    *branch = Branch {
        changed: branch.changed,
        gone: true,
        id: branch.id,
        made: branch.made,
        name: None,
        course: Course::default(),
        event: None,
        at: Micros::ZERO,
        told: false,
    };
}

/// A name without what surrounds it, at most so long; none without letters.
fn tidy(name: &str) -> Option<String> {
    let line: Vec<&str> = name.split(|c: char| c.is_whitespace() || c.is_control()).collect();
    let words: Vec<&str> = line.into_iter().filter(|w| !w.is_empty()).collect();
    let name: String = words.join(" ").chars().take(LONGEST_NAME).collect();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::{Branches, Course, MOST_BRANCHES};
    use crate::sim::{Micros, Purpose, keyed, up_to};

    fn course(number: u64) -> Course {
        Course {
            variant: "base".into(),
            seed: None,
            edits: vec![format!("at {number}s crash client-a")],
        }
    }

    /// Something that a learner may do, by chance.
    fn act(branches: &mut Branches, seed: u64, step: u64) {
        let draw = |n: u64, most: u64| up_to(keyed(seed, Purpose::Backoff, n, step), most);
        let id = course(draw(1, 9)).id();
        match draw(0, 5) {
            0 => drop(branches.delete(id)),
            1 => branches.rename(id, &format!(" name  {} ", draw(2, 3))),
            2 => branches.leave(id, Some(draw(2, 9) as u32), Micros(7)),
            3 => branches.tell(id),
            _ => drop(branches.visit(&course(draw(1, 9)), None, Micros::ZERO)),
        }
    }

    #[test]
    fn two_lists_become_one_in_whichever_order_they_meet() {
        for seed in 0..2_000 {
            let mut lists = [Branches::default(), Branches::default(), Branches::default()];
            for step in 0..40 {
                let who = up_to(keyed(seed, Purpose::Jitter, 0, step), 2) as usize;
                act(&mut lists[who], seed, step);
                if step % 11 == 0 {
                    let other = lists[(who + 1) % 3].clone();
                    lists[who].merge(&other);
                }
            }
            let [a, b, c] = lists;
            let meet = |first: &Branches, second: &Branches, third: &Branches| {
                let mut all = first.clone();
                all.merge(second);
                all.merge(third);
                all
            };
            let all = meet(&a, &b, &c);
            assert_eq!(all, meet(&c, &b, &a), "{seed}");
            assert_eq!(all, meet(&b, &a, &c), "{seed}");
            let mut again = all.clone();
            assert!(!again.merge(&a) && again == all, "{seed}");
        }
    }

    #[test]
    fn what_one_tab_made_and_the_other_never_saw_is_kept_and_what_one_deleted_stays_deleted() {
        let mut one = Branches::default();
        for number in 0..3 {
            assert!(one.visit(&course(number), Some(1), Micros(5)));
        }
        assert!(!one.visit(&course(1), None, Micros::ZERO), "it is there already");
        let mut two = one.clone();
        one.delete(course(0).id());
        one.rename(course(1).id(), "  the \n good\tone ");
        two.visit(&course(9), None, Micros::ZERO);
        two.leave(course(2).id(), Some(4), Micros(6));
        assert!(two.merge(&one));
        assert!(one.merge(&two));
        assert_eq!(one.list(), two.list());
        let names: Vec<_> = one
            .list()
            .iter()
            .map(|b| (b.course.edits[0].clone(), b.name.clone(), b.event))
            .collect();
        let edit = |n: u64| course(n).edits[0].clone();
        let good = Some("the good one".to_string());
        assert_eq!(
            names,
            [(edit(1), good, Some(1)), (edit(2), None, Some(4)), (edit(9), None, None)]
        );
    }

    #[test]
    fn a_deleted_branch_comes_back_by_undo_and_by_being_made_again() {
        let mut branches = Branches::default();
        branches.visit(&course(1), Some(3), Micros(5));
        branches.rename(course(1).id(), "mine");
        let deleted = branches.delete(course(1).id()).unwrap();
        assert!(branches.list().is_empty() && branches.get(course(1).id()).is_none());
        let mut back = branches.clone();
        back.revive(deleted);
        assert_eq!(back.get(course(1).id()).unwrap().name.as_deref(), Some("mine"));
        branches.merge(&back);
        assert_eq!(branches.list().len(), 1);
        branches.delete(course(1).id());
        assert!(branches.visit(&course(1), None, Micros::ZERO));
        assert_eq!(branches.get(course(1).id()).unwrap().name, None);
    }

    #[test]
    fn the_oldest_without_a_name_go_first() {
        let mut branches = Branches::default();
        for number in 0..MOST_BRANCHES as u64 + 10 {
            branches.visit(&course(number), None, Micros::ZERO);
            if number == 3 {
                branches.rename(course(3).id(), "three");
            }
        }
        assert_eq!(branches.list().len(), MOST_BRANCHES);
        assert!(branches.get(course(3).id()).is_some() && branches.get(course(4).id()).is_none());
        assert!(branches.get(course(MOST_BRANCHES as u64 + 9).id()).is_some());
    }

    #[test]
    fn different_courses_have_different_ids() {
        let base = course(1);
        let others = [
            Course { seed: Some(0), ..base.clone() },
            Course { variant: "fixed".into(), ..base.clone() },
            Course { edits: Vec::new(), ..base.clone() },
            Course { edits: vec![base.edits[0].clone(), String::new()], ..base.clone() },
        ];
        assert!(others.iter().all(|o| o.id() != base.id()));
    }
}
