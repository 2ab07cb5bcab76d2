//! Who stands in the queue of each lock, by the true number of creation.
//!
//! No process reads this: an observer who saw all servers at once would. The first server that learns
//! an entry of the log to be decided says to the judge what it changes, each entry once.

use super::path::{Path, number_of};
use super::request::{SessionId, Zxid};
use super::tree::{Tree, Znode};
use super::txn::{Deed, Owner, Txn};
use std::rc::Rc;

use crate::judge::{self, Grant, LockId, Mode, Testimony, Token, TruthEnd};
use crate::sim::{Cx, Micros, ProcId, Table};
use crate::systems::Locks;

/// Which number of a znode is its token.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum TokenRule {
    /// The transaction that made it.
    #[default]
    Czxid,
    /// The number behind its name.
    Sequence,
    /// Its version.
    Version,
    /// The session that it ends with.
    Session,
    /// What its client reads later, of the parent.
    Later,
}

impl TokenRule {
    /// What `lock.token` says.
    pub fn of(word: &str) -> TokenRule {
        match word {
            "sequence" => TokenRule::Sequence,
            "version" => TokenRule::Version,
            "session" => TokenRule::Session,
            "cversion" | "pzxid" => TokenRule::Later,
            // Nobody sets the data of a znode that stands for a lock: both are the same.
            _ => TokenRule::Czxid,
        }
    }

    /// The token of a znode.
    pub fn token(self, path: &Path, made: Zxid, session: Option<SessionId>) -> Option<Token> {
        match self {
            TokenRule::Czxid => Some(Token(made.0)),
            // A number below nothing is less than all others.
            TokenRule::Sequence => {
                number_of(path.name()).map(|n| Token(u64::try_from(n).unwrap_or(0)))
            }
            TokenRule::Version => Some(Token(0)),
            TokenRule::Session => session.map(|session| Token(session.0)),
            TokenRule::Later => None,
        }
    }
}

/// A znode in the queue of a lock.
#[derive(Clone, Debug)]
struct Seat {
    path: Path,
    made: Zxid,
    session: Option<SessionId>,
    client: ProcId,
    mode: Mode,
    token: Option<Token>,
    /// The grant that it stood for, and from which transaction on.
    grant: Option<(Grant, Zxid)>,
    gone: bool,
}

/// The queues of all locks.
#[derive(Clone, Default, Debug)]
pub struct Queues {
    /// Up to which transaction was told.
    told: Zxid,
    clients: Table<SessionId, ProcId>,
    of: Table<LockId, Vec<Seat>>,
}

/// What an entry changes.
enum Said {
    Free(Grant, TruthEnd),
    Queued(LockId, ProcId),
    Granted(LockId, usize),
    /// Somebody has come or gone.
    Changed(LockId),
}

/// In which way a znode stands in a queue, by its name; none where it does not.
///
/// Sources: the recipes of ZooKeeper's documentation (`lock-`, `read-`, `write-`), Curator
/// (`__READ__`, `__WRIT__`) and kazoo (`__lock__`, `__rlock__`); all of them end in the number.
pub(super) fn mode_of(name: &str) -> Option<Mode> {
    number_of(name)?;
    let shares = ["read-", "__READ__", "__rlock__"].iter().any(|word| name.contains(word));
    Some(if shares { Mode::Shared } else { Mode::Exclusive })
}

/// The queue under a lock's parent as one server knows it, and how many of its first hold the lock.
pub(super) fn queue<'t>(tree: &'t Tree, parent: &Path) -> (Vec<(Path, &'t Znode)>, usize) {
    let mut queue = Vec::new();
    if let Some(node) = tree.get(parent) {
        for name in node.children.iter().filter(|name| mode_of(name).is_some()) {
            let path = parent.child(name);
            queue.extend(tree.get(&path).map(|node| (path, node)));
        }
    }
    crate::sim::sort_by_key(&mut queue, |(_, node)| node.czxid);
    let modes = queue.iter().filter_map(|(path, _)| mode_of(path.name()));
    let holding = holding(modes);
    (queue, holding)
}

/// How many of the first in a queue hold the lock: one, or all that share it.
fn holding(modes: impl Iterator<Item = Mode>) -> usize {
    let mut shared = 0;
    for mode in modes {
        match mode {
            Mode::Shared => shared += 1,
            Mode::Exclusive => return shared.max(1),
        }
    }
    shared
}

impl Queues {
    /// The newest grant that this znode stands for, and its token.
    pub fn grant_of(&self, lock: LockId, path: &Path) -> Option<(Grant, Option<Token>)> {
        let seats = self.of.get(&lock)?;
        let seat = seats.iter().rev().find(|seat| seat.path == *path && seat.grant.is_some())?;
        seat.grant.map(|grant| (grant.0, seat.token))
    }

    /// Whether that session waited for the lock until this transaction.
    pub(super) fn waited(&self, lock: LockId, session: SessionId, until: Zxid) -> bool {
        let seats = self.of.get(&lock).into_iter().flatten();
        let mut own = seats.filter(|seat| seat.session == Some(session) && seat.made < until);
        own.any(|seat| !seat.gone && seat.grant.is_none_or(|grant| grant.1 >= until))
    }

    /// Whose session that is.
    pub fn client(&self, session: SessionId) -> Option<ProcId> {
        self.clients.get(&session).copied()
    }

    fn hear(
        &mut self,
        (parents, rule): (&[Path], TokenRule),
        now: Micros,
        zxid: Zxid,
        txn: &Txn,
    ) -> Vec<Said> {
        if zxid <= self.told {
            return Vec::new();
        }
        self.told = zxid;
        let mut said = Vec::new();
        if let (Deed::Open { .. }, Some(session)) = (&txn.deed, txn.session) {
            self.clients.insert(session, txn.by);
        }
        let before = self.sizes();
        self.act((parents, rule), now, zxid, txn, &txn.deed, &mut said);
        for (lock, seats) in &self.of {
            let live = || seats.iter().enumerate().filter(|(_, seat)| !seat.gone);
            let holding = holding(live().map(|(_, seat)| seat.mode));
            let first = live().take(holding).filter(|(_, seat)| seat.grant.is_none());
            said.extend(first.map(|(place, _)| Said::Granted(*lock, place)));
            let rest = live().skip(holding).filter(|(_, seat)| seat.made == zxid);
            said.extend(rest.map(|(_, seat)| Said::Queued(*lock, seat.client)));
        }
        let now = self.sizes().into_iter().filter(|size| !before.contains(size));
        said.extend(now.map(|size| Said::Changed(size.0)));
        said
    }

    /// How many have come into the queue of each lock, and how many have gone.
    fn sizes(&self) -> Vec<(LockId, usize, usize)> {
        let gone = |seats: &[Seat]| seats.iter().filter(|seat| seat.gone).count();
        self.of.iter().map(|(lock, seats)| (*lock, seats.len(), gone(seats))).collect()
    }

    /// The queue of a lock, for a picture.
    fn line(&self, lock: LockId) -> Rc<[judge::Seat]> {
        let live = self.of.get(&lock).into_iter().flatten().filter(|seat| !seat.gone);
        live.map(|seat| judge::Seat {
            client: seat.client,
            number: number_of(seat.path.name()).map_or(0, i64::from),
            holds: seat.grant.is_some(),
        })
        .collect()
    }

    fn act(
        &mut self,
        (parents, rule): (&[Path], TokenRule),
        now: Micros,
        zxid: Zxid,
        txn: &Txn,
        deed: &Deed,
        said: &mut Vec<Said>,
    ) {
        match deed {
            Deed::Create { path, owner, .. } => {
                let parent = path.parent();
                let lock = parents.iter().position(|p| Some(p) == parent.as_ref());
                let Some((lock, mode)) = lock.zip(mode_of(path.name())) else { return };
                let session = match owner {
                    Owner::Session(session) => Some(*session),
                    _ => None,
                };
                let (path, client, made) = (path.clone(), txn.by, zxid);
                let token = rule.token(&path, made, session);
                let (grant, gone) = (None, false);
                let seat = Seat { path, made, session, client, mode, token, grant, gone };
                self.of.entry(LockId(lock as u16)).or_default().push(seat);
            }
            Deed::Delete(path) => said.extend(self.leave(path, |seat| {
                // Who takes back a place of its own, of whichever of its sessions, is deprived of nothing.
                let own = seat.session.is_some()
                    && (seat.session == txn.session || seat.client == txn.by);
                match txn.session {
                    _ if own => TruthEnd::Released,
                    Some(_) => TruthEnd::Removed(txn.by),
                    None => TruthEnd::Forgotten,
                }
            })),
            Deed::Close { gone, expired } => {
                let why = if *expired { TruthEnd::Expired(now) } else { TruthEnd::Released };
                gone.iter().for_each(|path| said.extend(self.leave(path, |_| why)));
            }
            Deed::Multi(deeds) if !deeds.iter().any(|d| matches!(d, Deed::Error(_))) => {
                for deed in deeds.iter() {
                    self.act((parents, rule), now, zxid, txn, deed, said);
                }
            }
            _ => {}
        }
    }

    /// A znode leaves its queue.
    fn leave(&mut self, path: &Path, why: impl Fn(&Seat) -> TruthEnd) -> Option<Said> {
        let mut seats = self.of.values_mut().flatten();
        let seat = seats.find(|seat| seat.path == *path && !seat.gone)?;
        seat.gone = true;
        seat.grant.map(|grant| Said::Free(grant.0, why(seat)))
    }
}

/// A server has learnt that an entry is decided. The first one that does says what it changes.
pub(super) fn tell(
    cx: &mut Cx<'_, Locks>,
    (parents, rule): (&[Path], TokenRule),
    zxid: Zxid,
    txn: &Txn,
) {
    let now = cx.now();
    for said in cx.commons().queues.hear((parents, rule), now, zxid, txn) {
        match said {
            Said::Free(grant, why) => {
                cx.note(Testimony::Free(grant, why));
            }
            Said::Queued(lock, client) => {
                cx.note(Testimony::Queue(lock, client));
            }
            Said::Granted(lock, place) => grant(cx, lock, place, zxid),
            Said::Changed(lock) => {
                let line = cx.commons().queues.line(lock);
                cx.note(Testimony::Line(lock, line));
            }
        }
    }
}

fn grant(cx: &mut Cx<'_, Locks>, lock: LockId, place: usize, zxid: Zxid) {
    let seats = cx.commons().queues.of.get(&lock);
    let Some(seat) = seats.and_then(|seats| seats.get(place)) else { return };
    let grant = Testimony::Grant {
        lock,
        client: seat.client,
        mode: seat.mode,
        token: seat.token,
        term: None,
        expires: None,
        asked: true,
        // Whom a change wakes is said where it is told.
        woken: false,
    };
    let grant = Grant(cx.note(grant));
    let seats = cx.commons().queues.of.get_mut(&lock);
    if let Some(seat) = seats.and_then(|seats| seats.get_mut(place)) {
        seat.grant = Some((grant, zxid));
    }
}
