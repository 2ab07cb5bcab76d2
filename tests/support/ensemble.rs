//! An ensemble without a network: what is on the way stands in queues, and an observer who sees all
//! servers at once says what must not be.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::collections::VecDeque;
use std::rc::Rc;

use lockscope::sim::{Local, Micros};
use lockscope::systems::quorum::{
    Effect, Entry, Link, Member, Message, Peer, QuorumPacket, Role, Stamp, Timing,
};

/// What is on the way from one server to another.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Way {
    Said(Message<u16>),
    /// The operating system closed the connection.
    Closed,
}

/// Servers, and what is on the way between them. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Ensemble {
    pub members: Vec<Rc<Member<u16>>>,
    pub running: Vec<bool>,
    /// By place of the sender times the number of servers, plus place of the receiver.
    pub ways: Vec<Rc<VecDeque<Way>>>,
    /// Pairs between which all that is said waits, in the same order; both ways are marked.
    pub cut: Vec<bool>,
    /// What each server's clock shows.
    pub clocks: Vec<Local>,
    pub observer: Observer,
}

/// Who sees all.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Observer {
    /// What was decided, in the order in which the first server learned it.
    pub decided: Vec<Entry<u16>>,
    /// How much of that each process has carried out.
    pub carried: Vec<usize>,
    /// Who was established as leader, by term.
    pub leaders: Vec<(u32, Peer)>,
}

/// How servers of these tests wait.
pub fn timing(tick_ms: u64, init_limit: u32, sync_limit: u32) -> Timing {
    Timing { tick: Micros::from_millis(tick_ms), init_limit, sync_limit }
}

impl Ensemble {
    /// So many servers of which none has started.
    pub fn new(members: Vec<Member<u16>>) -> Ensemble {
        let of = members.len();
        Ensemble {
            members: members.into_iter().map(Rc::new).collect(),
            running: vec![false; of],
            ways: (0..of * of).map(|_| Rc::default()).collect(),
            cut: vec![false; of * of],
            clocks: vec![Local(0); of],
            observer: Observer { carried: vec![0; of], ..Observer::default() },
        }
    }

    /// Servers that were never started before.
    pub fn fresh(of: u8, timing: Timing) -> Ensemble {
        Ensemble::new((0..of).map(|p| Member::new(Peer(p), of, timing)).collect())
    }

    /// Servers of which the last one led before, all of them running.
    pub fn established(of: u8, log: &[Entry<u16>], timing: Timing) -> Ensemble {
        let leader = Peer(of - 1);
        let member = |p| Member::established(Peer(p), of, leader, log.to_vec(), timing);
        let mut ensemble = Ensemble::new((0..of).map(member).collect());
        ensemble.observer.decided = log.to_vec();
        for server in (0..of.into()).rev() {
            ensemble.start(server).expect("nothing is wrong at the start");
        }
        ensemble
    }

    pub fn of(&self) -> usize {
        self.members.len()
    }

    pub fn way(&self, from: usize, to: usize) -> usize {
        from * self.of() + to
    }

    /// A server is told something; what it does is done, and observed.
    pub fn tell(
        &mut self,
        server: usize,
        what: impl FnOnce(&mut Member<u16>, Local) -> Vec<Effect<u16>>,
    ) -> Result<usize, String> {
        let now = self.clocks[server];
        let effects = what(Rc::make_mut(&mut self.members[server]), now);
        let count = effects.len();
        for effect in effects {
            match effect {
                Effect::Send(to, message) => self.send(server, to.0.into(), message),
                Effect::Commit(entry) => self.carried_out(server, entry)?,
                Effect::Became(role) => self.became(server, role)?,
            }
        }
        Ok(count)
    }

    fn send(&mut self, from: usize, to: usize, message: Message<u16>) {
        let way = self.way(from, to);
        Rc::make_mut(&mut self.ways[way]).push_back(Way::Said(message));
    }

    fn carried_out(&mut self, server: usize, entry: Entry<u16>) -> Result<(), String> {
        let place = self.observer.carried[server];
        self.observer.carried[server] += 1;
        if let Some(known) = self.observer.decided.get(place) {
            let alike = *known == entry;
            let said = || format!("{server} carries out {entry:?} as no. {place}, not {known:?}");
            return if alike { Ok(()) } else { Err(said()) };
        }
        if self.observer.decided.last().is_some_and(|last| entry.stamp <= last.stamp) {
            return Err(format!("{entry:?} is decided after one with a larger name"));
        }
        let have = self.members.iter().filter(|m| m.has(entry.stamp)).count();
        if have <= self.of() / 2 {
            return Err(format!("{server} carries out {entry:?}, which only {have} have logged"));
        }
        if self.observer.leaders.iter().any(|(term, _)| entry.stamp.term < *term) {
            return Err(format!("{server} decides {entry:?} for a leader that was deposed"));
        }
        self.observer.decided.push(entry);
        Ok(())
    }

    fn became(&mut self, server: usize, role: Role) -> Result<(), String> {
        let (term, me) = (self.members[server].term(), Peer(server as u8));
        let leaders = &mut self.observer.leaders;
        match role {
            Role::Leading if self.members.len() == 1 => Ok(()),
            Role::Looking => Ok(()),
            Role::Following(leader) if leaders.contains(&(term, leader)) => Ok(()),
            Role::Following(leader) => Err(format!("{leader:?} does not lead term {term}")),
            Role::Leading if leaders.iter().any(|(known, _)| *known == term) => {
                Err(format!("{server} leads term {term} after {leaders:?}"))
            }
            // The last word that a leader needs may come when a later one leads already: then it leads
            // nobody, and knows what it knows.
            Role::Leading
                if leaders.iter().all(|(known, _)| *known < term)
                    && self.observer.carried[server] < self.observer.decided.len() =>
            {
                Err(format!("{server} leads and does not know all that was decided"))
            }
            Role::Leading => {
                leaders.push((term, me));
                Ok(())
            }
        }
    }

    /// A process starts, for the first time or again.
    pub fn start(&mut self, server: usize) -> Result<(), String> {
        self.running[server] = true;
        self.observer.carried[server] = 0;
        self.tell(server, |m, now| m.start(now)).map(|_| ())
    }

    /// A process dies. What is on the way to it is lost. Its operating system closes its connections,
    /// unless the machine itself is off.
    pub fn crash(&mut self, server: usize, off: bool) {
        Rc::make_mut(&mut self.members[server]).crash();
        self.running[server] = false;
        for other in (0..self.of()).filter(|o| *o != server) {
            let (to, from) = (self.way(other, server), self.way(server, other));
            self.ways[to] = Rc::new(VecDeque::new());
            if !off {
                Rc::make_mut(&mut self.ways[from]).push_back(Way::Closed);
            }
        }
    }

    /// Whether something can arrive on this way.
    pub fn arrives(&self, from: usize, to: usize) -> bool {
        let way = self.way(from, to);
        !self.cut[way] && !self.ways[way].is_empty()
    }

    /// The first thing on this way arrives. A machine whose process is dead refuses it, if it is on.
    pub fn deliver(&mut self, from: usize, to: usize, off: bool) -> Result<(), String> {
        let (way, back) = (self.way(from, to), self.way(to, from));
        let Some(first) = Rc::make_mut(&mut self.ways[way]).pop_front() else { return Ok(()) };
        let peer = Peer(from as u8);
        match (first, self.running[to]) {
            (Way::Said(message), true) => self.tell(to, |m, now| m.receive(now, peer, message)),
            (Way::Closed, true) => self.tell(to, |m, now| m.lost(now, peer)),
            (Way::Said(_), false) if !off => {
                Rc::make_mut(&mut self.ways[back]).push_back(Way::Closed);
                Ok(0)
            }
            (_, false) => Ok(0),
        }
        .map(|_| ())
    }

    /// The connections between two servers break: what was on them is gone, and each is told, some time.
    pub fn reset(&mut self, one: usize, other: usize) {
        for (from, to) in [(one, other), (other, one)] {
            let way = self.way(from, to);
            self.ways[way] = Rc::new(VecDeque::from([Way::Closed]));
        }
    }

    /// Separates two servers, or no longer.
    pub fn set_cut(&mut self, one: usize, other: usize, cut: bool) {
        let (there, back) = (self.way(one, other), self.way(other, one));
        (self.cut[there], self.cut[back]) = (cut, cut);
    }

    /// Calls a server's alarm, at the earliest when it is due.
    pub fn alarm(&mut self, server: usize) -> Result<(), String> {
        let Some(due) = self.members[server].next_alarm() else { return Ok(()) };
        self.clocks[server] = self.clocks[server].max(due);
        self.tell(server, |m, now| m.alarm(now)).map(|_| ())
    }

    pub fn is_leading(&self, server: usize) -> bool {
        self.members[server].role() == Role::Leading
    }

    /// Where a leader's ping is the next thing to arrive.
    pub fn pinged(&self) -> Option<(usize, usize)> {
        let pairs = (0..self.of()).flat_map(|f| (0..self.of()).map(move |t| (f, t)));
        pairs.into_iter().find(|(from, to)| {
            let leads = |link: &Link| usize::from(link.by.0) == *to;
            match self.ways[self.way(*from, *to)].front() {
                Some(Way::Said(Message::Linked(link, QuorumPacket::Ping))) => leads(link),
                _ => false,
            }
        })
    }

    pub fn is_looking(&self, server: usize) -> bool {
        self.members[server].role() == Role::Looking
    }

    /// What is on the way arrives, on each way one thing. False if nothing is.
    fn round(&mut self) -> Result<bool, String> {
        let pairs = (0..self.of()).flat_map(|f| (0..self.of()).map(move |t| (f, t)));
        let arriving: Vec<_> = pairs.filter(|(f, t)| self.arrives(*f, *t)).collect();
        for (from, to) in &arriving {
            self.deliver(*from, *to, false)?;
        }
        Ok(!arriving.is_empty())
    }

    /// Everything that is on the way arrives, and then what follows from it, in no time.
    pub fn settle(&mut self) -> Result<(), String> {
        for _ in 0..1_000 {
            if !self.round()? {
                return Ok(());
            }
        }
        Err(format!("they never stop talking: {:?}", self.ways))
    }

    /// Who leads, if all take part that can. A server cannot that has promised a later epoch than the
    /// leader's, which it was to have itself: it has to wait until that leader goes.
    pub fn is_whole(&self) -> Option<usize> {
        let leader = (0..self.of()).rev().find(|s| {
            self.is_leading(*s) && (self.members[*s].followers().count() + 1) > self.of() / 2
        })?;
        let term = self.members[leader].term();
        let follows = Role::Following(Peer(leader as u8));
        let takes_part = |s: usize| {
            let (place, member) = (Peer(s as u8), &self.members[s]);
            let told = self.members[leader].followers().any(|f| f == place);
            let part = member.role() == follows && member.term() == term && told;
            s == leader || part || member.promised() > term
        };
        (0..self.of()).all(takes_part).then_some(leader)
    }

    /// Everything goes right for so long: clocks run alike, alarms ring in time, and each message takes
    /// a millisecond. It may end earlier.
    pub fn run(&mut self, long: Micros, until: impl Fn(&Ensemble) -> bool) -> Result<(), String> {
        let mut passed = 0;
        while passed < long.0 && !until(self) {
            let latency = if self.round()? { 1_000 } else { long.0 };
            let wait = |s: usize| self.members[s].next_alarm().map(|due| self.clocks[s].until(due));
            let wait = (0..self.of()).filter_map(wait).map(|w| w.0).fold(latency, u64::min);
            passed += wait;
            for server in 0..self.of() {
                self.clocks[server] = self.clocks[server].plus(Micros(wait));
                self.tell(server, |m, now| m.alarm(now))?;
            }
        }
        Ok(())
    }

    /// Runs until all take part, and still do when what was on the way has arrived; or says after how
    /// long they did not.
    pub fn recover(&mut self, longest: Micros) -> Result<usize, String> {
        const CALM: Micros = Micros::from_millis(500);
        for _ in 0..longest.0 / CALM.0 {
            self.run(longest, |e| e.is_whole().is_some())?;
            self.run(CALM, |_| false)?;
            if let Some(leader) = self.is_whole() {
                return Ok(leader);
            }
        }
        let roles: Vec<Role> = self.members.iter().map(|m| m.role()).collect();
        Err(format!("after {longest} they are {roles:?}"))
    }
}

/// The name of an entry.
pub fn stamp(term: u32, index: u32) -> Stamp {
    Stamp { term, index }
}
