//! How long sessions last: what a leader knows of them, and what its followers tell it.
//!
//! Source: `SessionTrackerImpl` and `ExpiryQueue`. Only the leader lets a session expire. It counts in
//! whole ticks of its monotonic clock: one that was heard of at p ends with the first multiple of the
//! tick that is greater than p + T.

use super::request::{Code, Password, SessionId};
use super::tree::Tree;
use crate::sim::{Local, Micros, Table};
use crate::systems::quorum::Peer;

/// Until when a session may be silent, and where its client is.
#[derive(Clone, Copy, Debug)]
struct Tracked {
    timeout: Micros,
    /// The end of its silence, in milliseconds of the monotonic clock.
    end: i64,
    /// Its end is decided by this leader, and perhaps not yet by the others.
    closing: bool,
    /// The server that its client has connected to last.
    owner: Option<Peer>,
    /// When it was heard of last.
    heard: Local,
}

/// A leader's books of all sessions.
#[derive(Clone, Debug)]
pub(super) struct Tracker {
    tick: i64,
    of: Table<SessionId, Tracked>,
}

/// Servers count time in milliseconds.
fn millis(now: Local) -> i64 {
    now.0.div_euclid(1_000)
}

impl Tracker {
    /// What a server begins with that leads from now on: every session that it knows has all its time
    /// again.
    pub fn new(tick: Micros, tree: &Tree, now: Local) -> Tracker {
        let tick = i64::try_from(tick.0 / 1_000).unwrap_or(i64::MAX).max(1);
        let mut tracker = Tracker { tick, of: Table::new() };
        for (id, session) in tree.sessions() {
            tracker.track(id, session.timeout, now);
        }
        tracker
    }

    fn end(&self, timeout: Micros, now: Local) -> i64 {
        let silent = millis(now).saturating_add_unsigned(timeout.0 / 1_000);
        silent.div_euclid(self.tick).saturating_add(1).saturating_mul(self.tick)
    }

    /// A session begins, or is known from before.
    pub fn track(&mut self, id: SessionId, timeout: Micros, now: Local) {
        let end = self.end(timeout, now);
        let fresh = Tracked { timeout, end, closing: false, owner: None, heard: now };
        let tracked = self.of.entry(id).or_insert(fresh);
        (tracked.end, tracked.heard) = (end, now);
    }

    /// A session was heard of; false for one that is over.
    pub fn touch(&mut self, id: SessionId, timeout: Micros, now: Local) -> bool {
        let end = self.end(timeout, now);
        let Some(tracked) = self.of.get_mut(&id).filter(|tracked| !tracked.closing) else {
            return false;
        };
        (tracked.timeout, tracked.end, tracked.heard) = (timeout, end, now);
        true
    }

    /// Whether a request of that session may come from that server.
    pub fn check(&mut self, id: SessionId, from: Peer) -> Result<(), Code> {
        let Some(tracked) = self.of.get_mut(&id).filter(|tracked| !tracked.closing) else {
            return Err(Code::SessionExpired);
        };
        let owner = *tracked.owner.get_or_insert(from);
        if owner == from { Ok(()) } else { Err(Code::SessionMoved) }
    }

    /// The session's client is connected to that server now.
    pub fn own(&mut self, id: SessionId, owner: Peer) {
        if let Some(tracked) = self.of.get_mut(&id).filter(|tracked| !tracked.closing) {
            tracked.owner = Some(owner);
        }
    }

    /// The session's end is proposed.
    pub fn closing(&mut self, id: SessionId) {
        if let Some(tracked) = self.of.get_mut(&id) {
            tracked.closing = true;
        }
    }

    /// The session's end is decided.
    pub fn remove(&mut self, id: SessionId) {
        self.of.remove(&id);
    }

    /// When the next one has been silent for too long.
    pub fn next(&self) -> Option<Local> {
        let open = self.of.values().filter(|tracked| !tracked.closing);
        open.map(|tracked| moment(tracked.end)).min()
    }

    /// Those that have been silent for too long, the earliest first: they are closing from now on.
    pub fn expired(&mut self, now: Local) -> Vec<SessionId> {
        let now = millis(now);
        let over = self.of.iter().filter(|(_, t)| !t.closing && t.end <= now);
        let mut over: Vec<(i64, SessionId)> = over.map(|(id, t)| (t.end, *id)).collect();
        crate::sim::sort(&mut over);
        for (_, id) in &over {
            self.closing(*id);
        }
        over.into_iter().map(|(_, id)| id).collect()
    }

    /// Each session, with the end of its silence and the whole of its time; and when it was heard of.
    pub fn iter(&self) -> impl Iterator<Item = (SessionId, Local, Micros, Local)> {
        self.of.iter().map(|(id, t)| (*id, moment(t.end), t.timeout, t.heard))
    }
}

fn moment(millis: i64) -> Local {
    Local(millis.saturating_mul(1_000))
}

/// What proves a session: every server can reckon it from the number alone.
///
/// Source: `ZooKeeperServer.generatePasswd`, which draws from a generator that the number seeds.
pub(super) fn password(id: SessionId) -> Password {
    Password((id.0 ^ 0xB341_5C00).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}
