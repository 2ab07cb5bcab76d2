//! When a lock is held by the servers that have its key: by one alone, or by a majority of masters
//! that know nothing of each other.
//!
//! No process reads this: an observer who saw all masters at once would. A master says what its key
//! is now; when that makes a majority, or ends one, it is said to the judge in the same event.

use super::redlock::quorum;
use super::text::Text;
use crate::judge::{Grant, LockId, Token, TruthEnd};
use crate::sim::{Micros, ProcId};

/// What one master has under a lock's key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Vote {
    pub master: ProcId,
    pub value: Text,
    /// Who set it.
    pub client: ProcId,
    /// When the master's clock, as it runs now, will end it; none for a key without an end.
    pub gone: Option<Micros>,
}

/// The value that a majority has.
#[derive(Clone, Debug)]
struct Seated {
    value: Text,
    grant: Grant,
    ends: Option<Micros>,
}

/// Until when the client that tries or extends with this value may act at most, by its own arithmetic,
/// and the masters that have agreed to that.
#[derive(Clone, Debug)]
struct Promise {
    value: Text,
    until: Micros,
    after: u64,
    agreed: Vec<ProcId>,
}

/// Whether a majority of the masters has agreed to a try or an extension. One server alone always has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Agreed {
    /// Too few have, or nobody was asked.
    No,
    /// It has with this word.
    Now,
    /// It had before.
    Before,
}

/// What was granted once.
#[derive(Clone, Debug)]
struct Granted {
    value: Text,
    client: ProcId,
    grant: Grant,
    token: Option<Token>,
}

/// The masters' keys of one lock.
#[derive(Clone, Default, Debug)]
struct Poll {
    votes: Vec<Vote>,
    seated: Option<Seated>,
    /// All that was ever granted.
    grants: Vec<Granted>,
    /// What clients can promise themselves.
    promises: Vec<Promise>,
}

/// What a vote changes.
#[derive(Debug)]
pub(super) struct Turn {
    /// A majority is no more.
    pub ended: Option<(Grant, TruthEnd)>,
    /// It will end at another moment.
    pub moved: Option<(Grant, Option<Micros>)>,
    /// There is a new one, which will end then.
    pub made: Option<(ProcId, Text, Option<Micros>)>,
}

/// The polls of all locks.
#[derive(Clone, Default, Debug)]
pub struct Polls {
    of: Vec<(LockId, Poll)>,
    /// The server that was ordered to take another one's place; none where the first master leads, or
    /// where masters know nothing of each other.
    leader: Option<ProcId>,
}

impl Polls {
    fn of(&mut self, lock: LockId) -> &mut Poll {
        let place = self.of.iter().position(|poll| poll.0 == lock).unwrap_or_else(|| {
            self.of.push((lock, Poll::default()));
            self.of.len() - 1
        });
        &mut self.of[place].1
    }

    /// From now on the word of this server counts, and of no other.
    pub(super) fn lead(&mut self, server: ProcId) {
        self.leader = Some(server);
        for (_, poll) in &mut self.of {
            poll.votes.retain(|vote| vote.master == server);
        }
    }

    /// Whether another server has this one's place.
    pub(super) fn is_deposed(&self, server: ProcId) -> bool {
        self.leader.is_some_and(|leader| leader != server)
    }

    /// A master says what its key is now; `why` an end is not brought about by time.
    pub(super) fn vote(
        &mut self,
        (lock, masters): (LockId, usize),
        now: Micros,
        master: ProcId,
        vote: Option<Vote>,
        why: TruthEnd,
    ) -> Turn {
        self.of(lock).vote(quorum(masters), now, master, vote, why)
    }

    /// The grant that the last turn has made.
    pub(super) fn seat(
        &mut self,
        lock: LockId,
        (client, value, ends): (ProcId, Text, Option<Micros>),
        (grant, token): (Grant, Option<Token>),
    ) {
        self.remember(lock, (value.clone(), client), (grant, token));
        self.of(lock).seated = Some(Seated { value, grant, ends });
    }

    /// A grant, whatever became of it.
    pub(super) fn remember(
        &mut self,
        lock: LockId,
        (value, client): (Text, ProcId),
        (grant, token): (Grant, Option<Token>),
    ) {
        self.of(lock).grants.push(Granted { value, client, grant, token });
    }

    /// A grant gets its token.
    pub(super) fn mint(&mut self, lock: LockId, grant: Grant, token: Token) {
        for granted in self.of(lock).grants.iter_mut().filter(|g| g.grant == grant) {
            granted.token = Some(token);
        }
    }

    /// Whose value that is, and with which token.
    pub(super) fn owner_of(
        &mut self,
        lock: LockId,
        value: &Text,
    ) -> Option<(ProcId, Option<Token>)> {
        let granted = self.of(lock).grants.iter().rev().find(|g| g.value == *value);
        granted.map(|g| (g.client, g.token))
    }

    /// The grant of the newest majority for a value.
    pub(super) fn grant_of(&mut self, lock: LockId, value: &Text) -> Option<Grant> {
        self.of(lock).grants.iter().rev().find(|g| g.value == *value).map(|g| g.grant)
    }

    /// The newest grant of a client.
    pub(super) fn grant_by(&mut self, lock: LockId, client: ProcId) -> Option<Grant> {
        self.of(lock).grants.iter().rev().find(|g| g.client == client).map(|g| g.grant)
    }

    /// A client that tries or extends with this value will act until that moment at most.
    /// It asks with requests that come after that one.
    pub(super) fn promise(&mut self, lock: LockId, value: Text, until: Micros, after: u64) {
        let poll = self.of(lock);
        poll.promises.retain(|promise| promise.value != value);
        poll.promises.push(Promise { value, until, after, agreed: Vec::new() });
    }

    /// A master agrees to what a client tries or extends with this value.
    pub(super) fn agrees(
        &mut self,
        (lock, masters): (LockId, usize),
        value: &Text,
        (master, request): (ProcId, u64),
    ) -> Agreed {
        let promises = &mut self.of(lock).promises;
        let Some(promise) = promises.iter_mut().find(|promise| promise.value == *value) else {
            return Agreed::Before;
        };
        // What an earlier try has sent comes late, and agrees to nothing.
        let new = request > promise.after && !promise.agreed.contains(&master);
        if new {
            promise.agreed.push(master);
        }
        match promise.agreed.len() {
            count if count < quorum(masters) => Agreed::No,
            count if new && count == quorum(masters) => Agreed::Now,
            _ => Agreed::Before,
        }
    }

    /// For how long from now the client may act that has this value; none where it says nothing.
    pub(super) fn promised(&mut self, lock: LockId, value: &Text, now: Micros) -> Option<Micros> {
        let promise = self.of(lock).promises.iter().find(|promise| promise.value == *value);
        promise.map(|promise| promise.until.since(now))
    }

    /// The grant of a value that has its majority, and when that ends.
    pub(super) fn seated(
        &mut self,
        lock: LockId,
        value: &Text,
    ) -> Option<(Grant, Text, Option<Micros>)> {
        let seated = self.of(lock).seated.as_ref().filter(|s| s.value == *value)?;
        Some((seated.grant, seated.value.clone(), seated.ends))
    }
}

impl Poll {
    /// When a value that enough masters have is left with too few, if nothing else happens: the end
    /// of the one whose end leaves too few. None where there are too few already.
    fn end_of(&self, value: &Text, quorum: usize) -> Option<Option<Micros>> {
        let mut ends: Vec<Option<Micros>> =
            self.votes.iter().filter(|vote| vote.value == *value).map(|vote| vote.gone).collect();
        crate::sim::sort_by_key(&mut ends, |end| end.map_or(u64::MAX, |end| end.0));
        let place = ends.len().checked_sub(quorum)?;
        ends.get(place).copied()
    }

    fn vote(
        &mut self,
        quorum: usize,
        now: Micros,
        master: ProcId,
        vote: Option<Vote>,
        why: TruthEnd,
    ) -> Turn {
        self.votes.retain(|vote| vote.master != master);
        let has = |value: &Text| vote.as_ref().is_some_and(|vote| vote.value == *value);
        let kept = self.seated.as_ref().is_some_and(|seated| has(&seated.value));
        self.votes.extend(vote);
        let mut turn = Turn { ended: None, moved: None, made: None };
        if let Some(seated) = self.seated.take() {
            let over = seated.ends.filter(|end| *end <= now);
            match (self.end_of(&seated.value, quorum), over) {
                (_, Some(end)) => turn.ended = Some((seated.grant, TruthEnd::Expired(end))),
                (None, None) => turn.ended = Some((seated.grant, why)),
                // Its end was moved into the past; or too few are left but for what was over before.
                (Some(Some(end)), None) if end <= now => {
                    let why = if kept { TruthEnd::Expired(end) } else { why };
                    turn.ended = Some((seated.grant, why));
                }
                (Some(ends), None) => {
                    if ends != seated.ends {
                        turn.moved = Some((seated.grant, ends));
                    }
                    self.seated = Some(Seated { ends, ..seated });
                }
            }
        }
        if self.seated.is_none() {
            let lasts = |vote: &&Vote| {
                let ends = self.end_of(&vote.value, quorum);
                ends.is_some_and(|ends| ends.is_none_or(|end| end > now))
            };
            let made = self.votes.iter().find(lasts);
            turn.made = made.map(|vote| {
                let ends = self.end_of(&vote.value, quorum).flatten();
                (vote.client, vote.value.clone(), ends)
            });
        }
        turn
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::{EventId, Purpose, keyed, up_to};

    /// Against counting by hand, over random votes, ends and losses of five masters.
    #[test]
    fn a_majority_is_there_exactly_as_long_as_more_than_half_of_the_masters_have_its_value() {
        for seed in 0..400 {
            let mut draws = 0;
            let mut draw = |most: u64| {
                draws += 1;
                up_to(keyed(seed, Purpose::Jitter, 3, draws), most)
            };
            let (mut polls, lock) = (Polls::default(), LockId(0));
            let mut own: Vec<Option<Vote>> = vec![None; 5];
            let mut held: Option<(Text, Grant)> = None;
            let mut now = Micros(10);
            for event in 0..60 {
                now = now.plus(Micros(draw(6)));
                let master = draw(4) as usize;
                let client = ProcId(draw(2) as u16);
                let vote = (draw(3) > 0).then(|| Vote {
                    master: ProcId(master as u16),
                    value: Text::Number(i64::from(client.0)),
                    client,
                    gone: Some(now.plus(Micros(1 + draw(40)))),
                });
                own[master].clone_from(&vote);
                let place = ProcId(master as u16);
                let turn = polls.vote((lock, 5), now, place, vote, TruthEnd::Forgotten);
                let counted = (0..3).find(|value| {
                    let has = |vote: &&Vote| {
                        vote.value == Text::Number(*value) && vote.gone.is_some_and(|g| g > now)
                    };
                    own.iter().flatten().filter(has).count() >= 3
                });
                if let Some((grant, _)) = turn.ended {
                    assert_eq!(held.take().map(|held| held.1), Some(grant), "seed {seed}");
                }
                if let Some(made) = turn.made {
                    assert!(held.is_none(), "seed {seed}: two majorities");
                    let grant = Grant(EventId(event));
                    held = Some((made.1.clone(), grant));
                    polls.seat(lock, made, (grant, None));
                }
                let said = held.as_ref().and_then(|held| held.0.number());
                assert_eq!(said, counted, "seed {seed}, event {event}");
            }
        }
    }
}
