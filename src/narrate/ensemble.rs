//! What is said of servers of which one leads, and of a queue that clients keep there themselves.

use super::teller::Teller;
use super::words::{change, ordinal, span};
use crate::judge::{LockId, Seat, Standing, Testimony};
use crate::sim::{EventId, Micros, ProcId};

/// Of a longer queue the first are named.
const NAMED: usize = 4;

impl Teller<'_> {
    /// A statement of such a server.
    pub fn one_of_an_ensemble(&self, id: EventId, node: ProcId, note: &Testimony) -> String {
        let me = self.label(node);
        match note {
            Testimony::Stand(Standing::Leads(term)) => {
                let word = self.run.names().term();
                format!("{me} leads from now on, in {word} {term}.")
            }
            Testimony::Stand(Standing::Follows(leader)) => {
                format!("{me} follows {} from now on.", self.label(*leader))
            }
            Testimony::Stand(Standing::Seeks) => {
                format!("{me} knows of nobody who leads, and looks for a leader.")
            }
            Testimony::Decide(number, ballot) => {
                let [yes, _, of] = ballot.counts();
                let number = change(self.run.names(), number.0);
                format!("Change {number} is decided: {yes} of {of} servers have logged it.")
            }
            Testimony::Line(lock, seats) => self.line(*lock, seats),
            Testimony::Watched { lock, watcher, of } => {
                let who = self.label(*watcher);
                let what = match of {
                    // Whoever does not know of a place of its own waits for that, too.
                    Some(of) if of == watcher => {
                        format!("an earlier place of {who} in the queue is gone, its own")
                    }
                    Some(of) => format!("{} place in the queue is gone", self.whose(*of)),
                    None => format!("anything changes in the queue for {}", self.lock(*lock)),
                };
                format!("{me} will tell {who} when {what}.")
            }
            Testimony::Lapse { client, which, heard, silent, span: lasts } => {
                let truly = self.run.record.event(id).at.since(*heard);
                let by = if truly == *silent { "" } else { " by its own clock" };
                let whose = self.session_of(*client, *which, id);
                let (silent, lasts) = (span(*silent), span(*lasts));
                format!(
                    "{me} has heard nothing of {whose} for {silent}{by}, and {lasts} are allowed: it \
                     wants the session to end."
                )
            }
            _ => format!("{me} does something."),
        }
    }

    fn line(&self, lock: LockId, seats: &[Seat]) -> String {
        let name = self.lock(lock);
        let numbered = |seat: &Seat| format!("{} ({})", self.label(seat.client), seat.number);
        let holding = seats.iter().filter(|seat| seat.holds).map(numbered);
        let holding: Vec<String> = holding.collect();
        let waiting: Vec<&Seat> = seats.iter().filter(|seat| !seat.holds).collect();
        let mut named: Vec<String> = waiting.iter().take(NAMED).map(|s| numbered(s)).collect();
        if waiting.len() > NAMED {
            named.push(format!("{} more", waiting.len() - NAMED));
        }
        let (held, wait) = (super::words::and(&holding), named.join(", then "));
        let verb = if holding.len() > 1 { "hold" } else { "holds" };
        match (holding.is_empty(), named.is_empty()) {
            (true, true) => format!("The queue for {name} is empty."),
            (false, true) => format!("{held} {verb} {name}; nobody waits in the queue."),
            (true, false) => format!("Nobody holds {name}; in the queue: {wait}."),
            (false, false) => format!("{held} {verb} {name}; in the queue: {wait}."),
        }
    }

    /// `Client A's session`, and which of them where it has had several.
    pub fn session_of(&self, client: ProcId, which: u16, last: EventId) -> String {
        let whose = self.whose(client);
        if which > 1 || self.run.has_had_two_sessions(client, last) {
            return format!("{whose} {} session", ordinal(which));
        }
        format!("{whose} session")
    }

    /// A session as a line: when it ends unless something is heard of its client.
    pub fn session(
        &self,
        key: String,
        (at, left): (String, Micros),
        (lasts, rounded): (Micros, Micros),
    ) -> (String, String) {
        let left = match left {
            Micros::ZERO => "over".to_string(),
            left => format!("ends at {at}, {} left", span(left)),
        };
        let up = format!("{}, rounded up by at most {}", span(lasts), span(rounded));
        (key, format!("{left} ({up})"))
    }
}
