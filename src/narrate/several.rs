//! What is said of servers of which none grants alone, and of the client that counts their answers.

use super::teller::Teller;
use super::words::{moment, span};
use crate::judge::{Ask, Ballot, LockId, Testimony, Token, TruthEnd};
use crate::sim::{EventId, Micros, ProcId};

impl Teller<'_> {
    /// A statement of such a server, or of such a client.
    pub fn one_of_several(&self, id: EventId, node: ProcId, note: &Testimony) -> String {
        let me = self.label(node);
        match note {
            Testimony::Keep { lock, of, until, ended } => {
                self.keeps(id, node, *lock, *of, *until, *ended)
            }
            Testimony::Moves(lock, until) => {
                let whose =
                    self.kept_there(id, node, *lock).map_or("its".into(), |of| self.whose(of));
                match until {
                    Some(at) if *at <= self.run.record.event(id).at => {
                        format!("By the clock of {me}, {whose} time there is over.")
                    }
                    Some(at) => {
                        let at = moment(*at);
                        format!("By the clock of {me}, {whose} time there will be over at {at}.")
                    }
                    None => {
                        format!("While the clock of {me} stands still, {whose} time there lasts.")
                    }
                }
            }
            Testimony::Decline(lock, client, ask) => {
                let who = self.label(*client);
                let other = self.kept_there(id, node, *lock);
                match (ask, other) {
                    (Ask::Acquire, Some(other)) if other == *client => {
                        format!("{me} says no to {who}: an earlier try of its own is still there.")
                    }
                    (Ask::Acquire, Some(other)) => {
                        let other = self.label(other);
                        format!("{me} says no to {who}: there, {other} has {}.", self.lock(*lock))
                    }
                    (Ask::Release, _) => {
                        format!("{me} has nothing of {who} to delete.")
                    }
                    _ => format!("{me} says no to {who}."),
                }
            }
            Testimony::Count(_, ask, ballot, elapsed, left) => {
                self.counts(&me, *ask, *ballot, *elapsed, *left)
            }
            _ => format!("{me} does something."),
        }
    }

    /// Whose a lock was at such a server before an event.
    fn kept_there(&self, id: EventId, node: ProcId, lock: LockId) -> Option<ProcId> {
        let before = self.run.record.events.iter().take(id.0 as usize).rev();
        let said = before.filter(|e| e.node == node).find_map(|e| match e.note() {
            Some(Testimony::Keep { lock: of_lock, of, .. }) if *of_lock == lock => Some(*of),
            _ => None,
        });
        said.flatten().map(|of| of.0)
    }

    /// Such a server has another record of a lock than before.
    pub fn keeps(
        &self,
        id: EventId,
        node: ProcId,
        lock: LockId,
        of: Option<(ProcId, Option<Token>)>,
        until: Option<Micros>,
        ended: Option<TruthEnd>,
    ) -> String {
        let (me, name) = (self.label(node), self.lock(lock));
        let before = self.kept_there(id, node, lock);
        let old = before.map_or_else(|| "the last holder".into(), |client| self.label(client));
        let over = ended.map(|why| match why {
            TruthEnd::Expired(_) => format!("the time of {old} is over"),
            TruthEnd::Released => format!("{old} has given it up"),
            TruthEnd::Removed(by) if by == node => format!("{me} has removed what {old} had"),
            TruthEnd::Removed(by) => format!("{} has removed what {old} had", self.label(by)),
            TruthEnd::Forgotten => format!("{me} has lost what {old} had"),
        });
        let Some((client, token)) = of else {
            let over = over.map_or_else(String::new, |over| format!(": {over}"));
            return format!("At {me}, {name} is free{over}.");
        };
        let token = token.map_or_else(String::new, |token| format!(" ({})", self.token(token)));
        let until = until.map_or_else(String::new, |at| format!(", until {}", moment(at)));
        let still = if before == Some(client) && over.is_none() { "still " } else { "" };
        let over = over.map_or_else(String::new, |over| format!("; {over}"));
        format!("At {me}, {name} is {still}{}{token}{until}{over}.", self.whose(client))
    }

    /// A client counts answers, and decides.
    fn counts(
        &self,
        me: &str,
        ask: Ask,
        ballot: Ballot,
        elapsed: Micros,
        left: Option<Micros>,
    ) -> String {
        let [yes, no, of] = ballot.counts();
        let silent = of - yes - no;
        let mut votes = format!("{yes} of {of} said yes");
        if silent > 0 {
            votes.push_str(&format!(", {silent} nothing"));
        }
        let what = if ask == Ask::Renew { "renewal" } else { "try" };
        let so = match left {
            Some(left) => format!("that is enough, and leaves {} to act", span(left)),
            None if ballot.carried() => "that would be enough, but no time is left".into(),
            None => "that is not enough".into(),
        };
        format!("{me} counts {} after its {what} began: {votes}; {so}.", span(elapsed))
    }
}
