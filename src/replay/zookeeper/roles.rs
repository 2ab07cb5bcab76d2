//! Servers by their part in the ensemble: steps say `leader`, `follower1`, `old leader`, `survivor`.

use std::cell::Cell;
use std::rc::Rc;

use super::super::drive::PATIENCE;
use super::super::stage::Stage;
use crate::sim::{Micros, ProcId};

/// What a server is to the others, as `srvr` says it; none while it knows no leader.
pub type Mode = Option<&'static str>;
/// Where a server says so.
pub type Sign = Rc<Cell<Mode>>;

/// No more ways are tried to fill in what a transcript leaves open.
const MOST_TURNS: usize = 16;

/// Who is who.
pub struct Roles {
    modes: Vec<Sign>,
    /// Names are of the servers that had these parts at the start, or when a leader was last elected.
    leader: Option<ProcId>,
    followers: Vec<ProcId>,
    old_leader: Option<ProcId>,
    /// Which of the ways this is to fill in what a transcript leaves open, what of it is left for
    /// later choices, and how many ways the choices so far leave.
    rest: usize,
    ways: usize,
}

impl Roles {
    /// Servers that show their modes there.
    pub fn new(modes: Vec<Sign>, turn: usize) -> Roles {
        let (leader, followers, old_leader) = (None, Vec::new(), None);
        Roles { modes, leader, followers, old_leader, rest: turn, ways: 1 }
    }

    /// The ensemble is there: who leads now is called the leader.
    pub fn begin(&mut self, stage: &mut Stage) {
        let until = stage.now().plus(PATIENCE);
        while (0..self.modes.len()).any(|place| self.mode(ProcId(place as u16)).is_none())
            && stage.now() < until
        {
            stage.pass(Micros::from_millis(1));
        }
        self.name(stage);
    }

    /// How many ways there were to fill in what the transcript leaves open.
    pub fn turns(&self) -> usize {
        self.ways.min(MOST_TURNS)
    }

    fn mode(&self, server: ProcId) -> Mode {
        self.modes.get(usize::from(server.0)).and_then(|sign| sign.get())
    }

    fn alive(&self, stage: &Stage) -> Vec<ProcId> {
        let all = (0..self.modes.len() as u16).map(ProcId);
        all.filter(|server| !stage.is_down(*server)).collect()
    }

    /// Whether a majority is alive.
    pub fn most_live(&self, stage: &Stage) -> bool {
        self.alive(stage).len() * 2 > self.modes.len()
    }

    fn name(&mut self, stage: &Stage) {
        let alive = self.alive(stage);
        let leads = |server: &&ProcId| matches!(self.mode(**server), Some("leader" | "standalone"));
        self.leader = alive.iter().find(|s| leads(s) && Some(**s) != self.old_leader).copied();
        self.followers = alive
            .into_iter()
            .filter(|server| Some(*server) != self.leader && Some(*server) != self.old_leader)
            .collect();
    }

    /// Whether another server leads than the one that was called the leader; it is called so from now
    /// on.
    pub fn elected(&mut self, stage: &Stage) -> bool {
        let alive = self.alive(stage);
        let before = self.leader;
        let leads = |s: &&ProcId| Some(**s) != before && self.mode(**s) == Some("leader");
        if !alive.iter().any(|server| leads(&server)) {
            return false;
        }
        let rest = alive.iter().filter(|server| Some(**server) != before);
        if rest.clone().any(|server| self.mode(*server).is_none()) {
            return false;
        }
        self.old_leader = before;
        self.name(stage);
        true
    }

    /// The server that is called the leader.
    pub fn leader(&self) -> Option<ProcId> {
        self.leader
    }

    /// The servers that are called followers.
    pub fn followers(&self) -> &[ProcId] {
        &self.followers
    }

    /// Waits until a server knows what it is.
    pub fn await_mode(&self, stage: &mut Stage, server: ProcId) -> Mode {
        let until = stage.now().plus(PATIENCE);
        while self.mode(server).is_none() && stage.now() < until {
            stage.pass(Micros::from_millis(1));
        }
        self.mode(server)
    }

    /// The server that a step means.
    pub fn find(&self, stage: &Stage, name: Option<&str>) -> Option<ProcId> {
        let Some(name) = name else { return stage.server(None) };
        if let Some(number) = name.strip_prefix("follower") {
            let place = if number.is_empty() { Ok(1) } else { number.parse::<usize>() };
            return self.followers.get(place.ok()?.checked_sub(1)?).copied();
        }
        match name {
            "leader" | "standalone" => self.leader,
            "old leader" => self.old_leader.or(self.leader),
            name => stage.server(Some(name)),
        }
    }

    /// The server to which a client goes that wants this one: whoever leads now, where the one that
    /// is called the leader is dead.
    pub fn goes_to(&self, stage: &Stage, name: Option<&str>) -> Option<ProcId> {
        let found = self.find(stage, name);
        if name != Some("leader") || !found.is_some_and(|leader| stage.is_down(leader)) {
            return found;
        }
        let alive = self.alive(stage);
        alive.into_iter().find(|server| self.mode(*server) == Some("leader")).or(found)
    }

    /// The server of a step that leaves open to which of the living ones its client goes: the one to
    /// which it was connected, and if that is dead, another one each turn.
    pub fn survivor(
        &mut self,
        stage: &Stage,
        named: Option<&str>,
        last: Option<ProcId>,
    ) -> Option<ProcId> {
        if named != Some("survivor") {
            return None;
        }
        let alive = self.alive(stage);
        if let Some(last) = last.filter(|last| alive.contains(last)) {
            return Some(last);
        }
        let count = alive.len().max(1);
        let place = self.rest % count;
        self.rest /= count;
        self.ways = self.ways.saturating_mul(count);
        alive.get(place).copied()
    }
}
