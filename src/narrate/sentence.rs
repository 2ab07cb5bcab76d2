//! One sentence for each event: who does what, and what follows from it.

use super::teller::Teller;
use super::words::{and, capital, carried, moment, one_line, span, thousands};
use crate::judge::{
    Ask, BeliefEnd, Grant, IntervalKind, LockId, Mode, Operation, Rejection, SectionEnd,
    SessionState, Testimony, Token, TruthEnd,
};
use crate::run::{Action, NodeKind, Run, kind};
use crate::sim::{
    CrashKind, Event, EventId, Halt, Limit, MOST_AT_ONCE, MOST_EVENTS, MOST_STEPS, Micros, MsgId,
    Outcome, ProcId, What,
};

/// An event as a sentence, with its consequence behind it; its own time is not in it.
pub fn sentence(run: &Run, id: EventId) -> String {
    let teller = Teller { run };
    let Some(event) = run.record.events.get(id.0 as usize) else {
        return "Nothing happens.".into();
    };
    let mut text = match event.note() {
        Some(note) => teller.testimony(id, event.node, note),
        None => teller.happening(id, event.node, &event.what),
    };
    for consequence in teller.consequences(id) {
        text.push(' ');
        text.push_str(&consequence);
    }
    capital(&text)
}

impl Teller<'_> {
    pub fn testimony(&self, id: EventId, node: ProcId, note: &Testimony) -> String {
        let me = self.label(node);
        match note {
            Testimony::Grant { .. }
            | Testimony::Mint(..)
            | Testimony::Extend(..)
            | Testimony::Expires(..)
            | Testimony::Refuse(..)
            | Testimony::Queue(..)
            | Testimony::Wake(..)
            | Testimony::Lead(_)
            | Testimony::Evict(_)
            | Testimony::Free(..) => self.by_service(id, &me, note),
            Testimony::Keep { .. }
            | Testimony::Moves(..)
            | Testimony::Decline(..)
            | Testimony::Count(..) => self.one_of_several(id, node, note),
            Testimony::Stand(_)
            | Testimony::Decide(..)
            | Testimony::Line(..)
            | Testimony::Watched { .. }
            | Testimony::Lapse { .. } => self.one_of_an_ensemble(id, node, note),
            Testimony::Ask { lock, ask, first, .. } => {
                let asked = self.ask(&me, *lock, *ask, *first);
                self.in_full(id, asked)
            }
            Testimony::Session(state) => session(&me, *state),
            Testimony::Answer(lock, ask, outcome) => self.answer(&me, *lock, *ask, *outcome),
            Testimony::Believe(lock, grant, mode) => self.believe(id, &me, *lock, *grant, *mode),
            Testimony::Doubt(lock, why) => {
                let stops = if self.stops(id, node, *why) { " Its program stops." } else { "" };
                self.doubt(id, node, *lock, *why) + stops
            }
            Testimony::Check(lock, holds) => self.check(id, node, *lock, *holds),
            Testimony::Begin(section) => format!("{me} begins section {}.", section.number),
            Testimony::Job(_, job) => {
                let name = self.run.names().jobs.get(usize::from(*job));
                format!("{me} takes up the job {}.", one_line(name.map_or("?", String::as_str)))
            }
            Testimony::Close(section, why) => close(&me, section.number, *why),
            _ => self.at_resource(id, &me, note),
        }
    }

    fn by_service(&self, id: EventId, me: &str, note: &Testimony) -> String {
        match note {
            // A client that counts answers which are over already.
            Testimony::Grant { lock, client, token, .. } if self.label(*client) == me => {
                let token = token.map_or_else(String::new, |t| format!(" ({})", self.token(t)));
                format!("{me} takes {}{token} for granted.", self.lock(*lock))
            }
            Testimony::Grant { lock, client, mode, token, term, asked, woken, .. } => {
                let (who, lock) = (self.label(*client), self.lock(*lock));
                let how = if *mode == Mode::Shared { " to share" } else { "" };
                let waited = if *woken { ", which was waiting" } else { "" };
                let unasked = if *asked { "" } else { " without being asked" };
                let term = term.map(|t| match t {
                    Micros::ZERO => "for a try of which no time is left".to_string(),
                    t => format!("for {}", span(t)),
                });
                let terms = match (token, term) {
                    (Some(token), Some(term)) => format!(": {}, {term}", self.token(*token)),
                    (Some(token), None) => format!(": {}", self.token(*token)),
                    (None, Some(term)) => format!("{} {term}", if *woken { "," } else { "" }),
                    (None, None) => String::new(),
                };
                format!("{me} grants {lock}{how} to {who}{waited}{unasked}{terms}.")
            }
            Testimony::Mint(grant, token) => {
                let whose = self.holder(*grant).map_or_else(|| "a".into(), |p| self.whose(p));
                format!("{me} gives {whose} grant its token: {}.", self.token(*token))
            }
            Testimony::Extend(grant, term, _) => {
                let whose = self.holder(*grant).map_or_else(|| "a".into(), |p| self.whose(p));
                match term {
                    Some(t) => format!("{me} renews {whose} lease: {} from now.", span(*t)),
                    None => format!("{me} accepts {whose} renewal."),
                }
            }
            Testimony::Expires(grant, at) => {
                let whose = self.holder(*grant).map_or_else(|| "a".into(), |p| self.whose(p));
                match at {
                    Some(at) => {
                        format!("By the clock of {me}, {whose} lease will end at {}.", moment(*at))
                    }
                    None => format!("While the clock of {me} stands still, {whose} lease lasts."),
                }
            }
            Testimony::Refuse(lock, client, ask) => self.refuse(id, me, *lock, *client, *ask),
            Testimony::Queue(lock, client) => {
                let (who, lock_name) = (self.label(*client), self.lock(*lock));
                let because = self.held_by_other(*lock, *client, id);
                format!("{me} lets {who} wait for {lock_name}{because}.")
            }
            Testimony::Wake(lock, client) => {
                let (who, lock) = (self.label(*client), self.lock(*lock));
                self.in_full(id, format!("{me} wakes {who}, which waits for {lock}."))
            }
            Testimony::Free(grant, why) => self.free(id, me, *grant, *why),
            Testimony::Lead(after) => {
                let after = self.label(*after);
                format!("{me} takes the place of {after}: what it says counts from now on.")
            }
            Testimony::Evict(lock) => {
                format!("{me} throws out what it knew of {}.", self.lock(*lock))
            }
            _ => format!("{me} does something."),
        }
    }

    /// `: Client A holds it (generation 41)`, or nothing where nobody does.
    fn held_by_other(&self, lock: LockId, client: ProcId, id: EventId) -> String {
        if let Some(i) = self.other_holder(lock, client, id) {
            return format!(": {} holds it{}", self.label(i.client), self.bracket(i.grant, id));
        }
        // Whoever started again, or forgot what it has, asks anew and stands in its own way.
        let mut own = self.open_at(IntervalKind::Truth, id);
        let own = own.find(|i| (i.lock, i.client) == (lock, client) && i.began < id);
        own.map_or_else(String::new, |i| {
            let token = self.bracket(i.grant, id);
            format!(": what it was granted earlier{token} still stands")
        })
    }

    fn refuse(&self, id: EventId, me: &str, lock: LockId, client: ProcId, ask: Ask) -> String {
        let (who, whose, name) = (self.label(client), self.whose(client), self.lock(lock));
        match ask {
            Ask::Acquire => {
                format!("{me} refuses {name} to {who}{}.", self.held_by_other(lock, client, id))
            }
            Ask::Renew => format!("{me} refuses {whose} renewal: {who} no longer holds {name}."),
            Ask::Release => format!("{me} refuses {whose} release: {who} no longer holds {name}."),
            Ask::Token => format!("{me} gives {who} no token for {name}."),
            Ask::Holder => format!("{me} tells {who} that another holds {name}, or nobody."),
            Ask::Enter | Ask::List | Ask::Watch | Ask::WatchAll | Ask::Find => {
                format!("{me} tells {who} nothing of the queue for {name}.")
            }
        }
    }

    fn free(&self, id: EventId, me: &str, grant: Grant, why: TruthEnd) -> String {
        let Some(client) = self.holder(grant) else {
            return format!("{me} ends a grant.");
        };
        let (who, token) = (self.label(client), self.bracket(grant, id));
        let lock = self.interval(IntervalKind::Truth, grant).map_or(LockId(0), |i| i.lock);
        let several = self.run.names().locks.len() > 1;
        let of_lock = if several { format!(" on {}", self.lock(lock)) } else { String::new() };
        let what = match why {
            TruthEnd::Released => {
                return format!("{me} frees {}: {who} has released it.", self.lock(lock));
            }
            TruthEnd::Expired(_) if who == me => {
                return format!("No majority of the servers has what {me} counts on: it is over.");
            }
            TruthEnd::Expired(moment) => {
                let by_time = self.term(grant).is_some();
                // Redis has no sessions: a key can be set first and be given its end later.
                let keys = matches!(&*self.run.compiled.scenario.system, "redis" | "redlock");
                let what = match (by_time, keys) {
                    (true, _) => "lease of",
                    (false, true) => "key of",
                    (false, false) => "session of",
                };
                let at = self.run.record.event(id).at;
                if moment < at {
                    let ago = self.ago(moment, at);
                    format!("{me} sees that the {what} {who}{token}{of_lock} expired {ago}.")
                } else {
                    format!("The {what} {who}{token}{of_lock} expires.")
                }
            }
            TruthEnd::Removed(by) if by == client => {
                format!("{me} ends the grant of {who}{token}{of_lock} at its own request.")
            }
            TruthEnd::Removed(by) => {
                let by = self.label(by);
                format!("{me} ends the grant of {who}{token}{of_lock}: {by} asked for it.")
            }
            // It has said so to itself.
            TruthEnd::Forgotten if who == me => {
                return format!("By what the servers have, nobody has granted it to {me}.");
            }
            TruthEnd::Forgotten => {
                let because = self.run.record.event(id).causes.iter().next();
                let because = because.map(|cause| self.run.record.event(cause).note());
                let what = format!("the grant of {who}{token}{of_lock}");
                match because.flatten() {
                    Some(Testimony::Grant { .. }) => {
                        format!("What {me} says counts no more: {what} ends as it is made.")
                    }
                    Some(Testimony::Lead(_)) => {
                        format!("{me} knows nothing of {what}: it is over.")
                    }
                    _ => format!("{me} forgets {what}."),
                }
            }
        };
        format!("{what}{}", self.what_its_client_knows(id, grant, client))
    }

    /// What the client of a grant that just ended knows of it.
    fn what_its_client_knows(&self, id: EventId, grant: Grant, client: ProcId) -> String {
        let (who, whose) = (self.label(client), self.whose(client));
        if self.believes(grant, id) {
            return format!(" {who} does not know.");
        }
        let belief = match self.interval(IntervalKind::Belief, grant) {
            None => return format!(" {who} never learned of it."),
            Some(belief) if belief.began > id => return format!(" {who} has not heard of it yet."),
            Some(belief) => belief,
        };
        let ended = belief.ended.and_then(|e| self.run.record.event(e).note());
        match ended {
            Some(Testimony::Doubt(_, BeliefEnd::Released)) => {
                format!(" {whose} release has had no effect on it.")
            }
            Some(Testimony::Doubt(_, BeliefEnd::Crashed)) => format!(" {who} had crashed."),
            Some(Testimony::Doubt(_, BeliefEnd::GivenUp)) => {
                format!(" {who} had declared it lost.")
            }
            _ => String::new(),
        }
    }

    fn ask(&self, me: &str, lock: LockId, ask: Ask, first: bool) -> String {
        let lock = self.lock(lock);
        let again = if first { "" } else { " again" };
        match ask {
            Ask::Acquire => format!("{me} asks for {lock}{again}."),
            Ask::Renew => format!("{me} asks for more time with {lock}{again}."),
            Ask::Release => format!("{me} sends its release of {lock}{again}."),
            Ask::Token => format!("{me} asks for a token for its grant{again}."),
            Ask::Holder => format!("{me} asks who holds {lock}{again}."),
            Ask::Enter => format!("{me} asks for a place in the queue for {lock}{again}."),
            Ask::List => format!("{me} asks who stands in the queue for {lock}{again}."),
            Ask::Watch => {
                format!("{me} asks to be told when what stands before it in the queue is gone.")
            }
            Ask::WatchAll => format!("{me} asks to be told when anything changes in the queue."),
            Ask::Find => {
                format!("{me} looks whether it has a place in the queue for {lock} after all.")
            }
        }
    }

    /// What is asked, and what is sent for it, where that can be written out.
    fn in_full(&self, id: EventId, asked: String) -> String {
        let message = self.run.record.event(id).message();
        let body = message.map(|m| &self.run.record.message(m).body);
        match body.and_then(|body| body.in_full(&self.run.names().locks)) {
            Some(full) => format!("{}: {full}.", asked.trim_end_matches('.')),
            None => asked,
        }
    }

    fn answer(&self, me: &str, lock: LockId, ask: Ask, outcome: Outcome) -> String {
        let lock = self.lock(lock);
        let what = match ask {
            Ask::Acquire => format!("request for {lock}"),
            Ask::Renew => "renewal".to_string(),
            Ask::Release => "release".to_string(),
            Ask::Token => "request for a token".to_string(),
            Ask::Holder => "question who holds it".to_string(),
            Ask::Enter => format!("request for a place in the queue for {lock}"),
            Ask::List => "question who stands in the queue".to_string(),
            Ask::Watch | Ask::WatchAll => "request to be told".to_string(),
            Ask::Find => "search for its own place in the queue".to_string(),
        };
        if let Some(found) = queued(me, &lock, ask, outcome) {
            return found;
        }
        match outcome {
            Outcome::Ok if ask == Ask::Acquire => {
                format!("{me} learns that it was granted {lock}.")
            }
            Outcome::Ok if ask == Ask::Token => format!("{me} learns its token."),
            Outcome::Ok if ask == Ask::Holder => format!("{me} learns that it holds {lock}."),
            Outcome::Refused if ask == Ask::Holder => {
                format!("{me} learns that it does not hold {lock}.")
            }
            Outcome::Ok => format!("{me} learns that its {what} was accepted."),
            Outcome::Refused | Outcome::Rejected | Outcome::Lost => {
                format!("{me} learns that its {what} was refused.")
            }
            Outcome::Timeout => {
                format!("{me} waits no longer for an answer to its {what}. {UNKNOWN}")
            }
            Outcome::Closed => {
                format!(
                    "{me} loses the connection on which it awaited an answer to its {what}. {UNKNOWN}"
                )
            }
        }
    }

    fn believe(&self, id: EventId, me: &str, lock: LockId, grant: Grant, mode: Mode) -> String {
        let (name, token) = (self.lock(lock), self.bracket(grant, id));
        let holds = if mode == Mode::Shared { "shares" } else { "holds" };
        let over = self
            .interval(IntervalKind::Truth, grant)
            .filter(|i| i.ended.is_some_and(|end| end < id))
            .map_or("", |_| match self.is_own_making(grant) {
                true => " But nobody has granted it.",
                false => " But that grant has ended already.",
            });
        format!("{me} believes that it {holds} {name}{token}.{over}")
    }

    /// Whether a grant is none: its client has taken it for granted, and no server ever said so.
    pub fn is_own_making(&self, grant: Grant) -> bool {
        let truth = self.interval(IntervalKind::Truth, grant);
        truth.is_some_and(|truth| {
            let end = truth.ended.map(|end| self.run.record.event(end));
            let own = |end: &Event<Testimony>| {
                let forgotten = matches!(end.note(), Some(Testimony::Free(_, TruthEnd::Forgotten)));
                end.node == truth.client && forgotten
            };
            end.is_some_and(own)
        })
    }

    /// Whether the service says, at this event, that a client holds a lock.
    fn holds_at(&self, client: ProcId, lock: LockId, id: EventId) -> bool {
        self.run.judgement.intervals.iter().any(|i| {
            let his = i.kind == IntervalKind::Truth && i.client == client && i.lock == lock;
            his && i.began < id && i.ended.is_none_or(|end| end > id)
        })
    }

    fn doubt(&self, id: EventId, node: ProcId, which: LockId, why: BeliefEnd) -> String {
        let (me, lock) = (self.label(node), self.lock(which));
        match why {
            BeliefEnd::Released => format!("{me} gives {lock} up."),
            // Whoever is refused concludes that it lost the lock; the service may say otherwise.
            BeliefEnd::Refused if self.holds_at(node, which, id) => {
                format!("{me} concludes that it no longer holds {lock}, although it does.")
            }
            BeliefEnd::Refused => format!("{me} learns that it no longer holds {lock}."),
            BeliefEnd::Notice => format!("{me} is told that it has lost {lock}."),
            BeliefEnd::Deadline => {
                format!("{me} no longer believes that it holds {lock}: its own deadline is over.")
            }
            BeliefEnd::GivenUp => format!("{me} declares {lock} lost, and tells nobody."),
            BeliefEnd::Exited => format!("{me} acts on {lock} no more: its program is over."),
            BeliefEnd::Crashed => format!("{me} acts on {lock} no more: it has crashed."),
        }
    }

    /// Whether a client's program stops because it has learned that a lock is gone.
    fn stops(&self, id: EventId, node: ProcId, why: BeliefEnd) -> bool {
        let lost = |e: &Event<Testimony>| matches!(e.note(), Some(Testimony::Doubt(_, why)) if why.is_loss());
        let before = self.run.record.events.iter().take(id.0 as usize).rev();
        let mut since = before.filter(|e| e.node == node).take_while(|e| e.what != What::Restart);
        // It stops once, and its last handler may lose another lock after that.
        why.is_loss() && self.setting("renew.failure", id) != "carry-on" && !since.any(lost)
    }

    fn check(&self, id: EventId, node: ProcId, lock: LockId, holds: bool) -> String {
        let (me, name) = (self.label(node), self.lock(lock));
        let belief = self
            .open_at(IntervalKind::Belief, id)
            .find(|i| i.client == node && i.lock == lock && i.began < id);
        if !holds {
            return match belief {
                Some(_) => format!("{me} looks at its clock: its own deadline has passed."),
                None => format!("{me} checks whether it holds {name}: it does not."),
            };
        }
        let truth = belief.and_then(|b| self.interval(IntervalKind::Truth, b.grant));
        let over = truth.filter(|t| t.ended.is_some_and(|end| end < id));
        let but = match over {
            Some(truth) if self.is_own_making(truth.grant) => ". But nobody has granted it",
            Some(_) => ". But that grant has ended already",
            None => "",
        };
        format!("{me} looks at its clock: by its own deadline it holds {name}{but}.")
    }

    fn at_resource(&self, id: EventId, me: &str, note: &Testimony) -> String {
        let names = self.run.names();
        let cell = |op: &Operation| one_line(names.cell(op.cell));
        match note {
            Testimony::Read(op) => match kind::read_token(self.run, self.run.record.event(id)) {
                Some(token) => {
                    let token = self.figure(token);
                    format!("{me} sends a read of {} with token {token}.", cell(op))
                }
                None => format!("{me} sends a read of {}.", cell(op)),
            },
            Testimony::Write(op, write) => self.sends_write(id, me, op, write.value),
            Testimony::Claim(op) => {
                let token = op
                    .token
                    .map_or_else(|| "no token".into(), |t| format!("token {}", self.figure(t)));
                format!("{me} claims the resource for itself, with {token}.")
            }
            Testimony::Mark(op) => self.marked(id, me, op),
            Testimony::Admit(op, write, _) => {
                let write = self.write(op, write, false);
                format!("{me} has checked {write} and lets it pass. It is not written yet.")
            }
            Testimony::Forward(op, write) => {
                let whose = self.whose(op.section.client);
                let what = match write {
                    Some((write, _)) => self.write(op, write, false),
                    None if op.claims => format!("{whose} claim"),
                    None => format!("{whose} read of {}", cell(op)),
                };
                format!("{me} passes {what} on.")
            }
            Testimony::Void(op, write, _) => {
                let write = self.write(op, write, false);
                format!("{me} forgets {write}: it had come, and was not written.")
            }
            Testimony::Inquire(_, token) => {
                let token = self.figure(*token);
                format!("{me} asks {} whether token {token} is the holder's.", self.service())
            }
            Testimony::Serve(op, _, value) => {
                let whose = self.whose(op.section.client);
                format!("{me} answers {whose} read: {}.", self.assignment(op, *value))
            }
            Testimony::Learn(served) => {
                let served = self.run.record.events.get(served.0 as usize).and_then(|e| e.note());
                match served {
                    Some(Testimony::Serve(op, _, value)) => {
                        format!("{me} reads {}.", self.assignment(op, *value))
                    }
                    _ => format!("{me} consumes what it read."),
                }
            }
            Testimony::Accept(op, write, ..) => {
                format!("{me} accepts {}.", self.write(op, write, self.is_late(id)))
            }
            Testimony::Reject(op, write, why) => {
                self.reject(id, me, op, write.map(|w| w.0.value), *why)
            }
            Testimony::Told(_, outcome) => self.told(id, me, *outcome),
            Testimony::Hand(_, token, why) => self.handed(id, me, *token, *why),
            _ => format!("{me} does something."),
        }
    }

    /// A write sets out: with what token, and what its client no longer believes.
    fn sends_write(&self, id: EventId, me: &str, op: &Operation, value: i64) -> String {
        let token = match op.token {
            Some(token) => format!("with {} {}", self.number_word(), self.figure(token)),
            None => "without a token".into(),
        };
        let lock = self.lock(op.lock);
        let but = match self.lost_before(op, id) {
            None => String::new(),
            Some((BeliefEnd::Released, _)) => format!(", although it has released {lock}"),
            // Whether it is right in that is not for its own line to say.
            Some(_) => format!(", although it no longer believes that it holds {lock}"),
        };
        format!("{me} sends {} {} {token}{but}.", self.word(id), self.assignment(op, value))
    }

    fn reject(
        &self,
        id: EventId,
        me: &str,
        op: &Operation,
        value: Option<i64>,
        why: Rejection,
    ) -> String {
        let (whose, reason) = (self.whose(op.section.client), self.reason(op, why));
        let late = match self.is_late(id) {
            true => format!("{} ", self.overtaken(op)),
            false => String::new(),
        };
        match value {
            Some(value) => {
                format!(
                    "{me} rejects {whose} {late}write {}: {reason}.",
                    self.assignment(op, value)
                )
            }
            None if op.claims => format!("{me} rejects {whose} claim: {reason}."),
            None => {
                let cell = one_line(self.run.names().cell(op.cell));
                format!("{me} rejects {whose} read of {cell}: {reason}.")
            }
        }
    }

    /// A claim is taken: what the resource knows from now on.
    fn marked(&self, id: EventId, me: &str, op: &Operation) -> String {
        let whose = self.whose(op.section.client);
        let keeps = self.setting("resource.check", id);
        if let Some(token) = op.token.filter(|_| keeps == "last-claim") {
            let token = self.figure(token);
            return format!("{me} takes {whose} claim: from here on only token {token} is let in.");
        }
        match op
            .token
            .filter(|_| keeps.starts_with("token") || keeps == "claim" || keeps == "gateway")
        {
            Some(token) => {
                let token = self.figure(token);
                format!("{me} takes {whose} claim: whatever is lower than {token} is refused.")
            }
            None => format!(
                "{me} takes {whose} claim, and does nothing with it: it compares no tokens."
            ),
        }
    }

    /// What a message is called: `write`, `insert`.
    fn word(&self, id: EventId) -> &'static str {
        let message = self.run.record.event(id).message();
        message.map_or("write", |m| self.run.record.message(m).body.name)
    }

    /// A client learns what became of a write or a claim.
    fn told(&self, id: EventId, me: &str, outcome: Outcome) -> String {
        let cause = self.run.record.event(id).causes.iter().next();
        let answer = cause.and_then(|c| self.run.record.event(c).message());
        let claim = answer.is_some_and(|m| self.run.record.message(m).body.name == "claimed");
        if claim {
            return format!("{me} learns that its claim was taken.");
        }
        told(me, outcome)
    }

    /// What a resource makes of a token that somebody sent by hand.
    fn handed(&self, id: EventId, me: &str, token: Token, why: Option<Rejection>) -> String {
        let token = self.figure(token);
        let by_hand = format!("token {token}, sent by hand");
        match why {
            None if matches!(&*self.setting("resource.check", id), "none" | "gateway") => {
                format!("{me} lets {by_hand}, pass: it compares nothing.")
            }
            None => format!("{me} lets {by_hand}, pass. It has seen nothing higher."),
            Some(Rejection::Lower(highest)) => {
                format!("{me} rejects {by_hand}: it is lower than {}.", self.figure(highest))
            }
            Some(Rejection::Again(_)) => format!("{me} rejects {by_hand}: it was used before."),
            Some(Rejection::Unclaimed) => {
                format!("{me} rejects {by_hand}: nobody has claimed with it.")
            }
            Some(Rejection::NotHolder) => {
                format!("{me} rejects {by_hand}: nobody was granted a lock for it.")
            }
            Some(_) => format!("{me} rejects {by_hand}: whoever sends it has read nothing."),
        }
    }

    /// What happens to processes, messages, links and clocks.
    pub fn happening(&self, id: EventId, node: ProcId, what: &What<Testimony>) -> String {
        let me = self.label(node);
        match what {
            What::Start => format!("{me} starts."),
            What::Send(msg, _) => self.sends(*msg),
            What::Copy(msg, _) => {
                let copy = self.message(*msg);
                format!("{} sets out on a connection of its own.", copy.trim_end_matches(','))
            }
            What::Deliver(msg) => self.arrives(*msg),
            What::Lose(msg) => format!("{} is lost.", self.message(*msg)),
            What::Hold(msg) => {
                format!("{} is held up where the link is cut.", self.message(*msg))
            }
            What::Reset(peer) => {
                // Whether it knows yet is another matter: whoever stands still learns of it later.
                let (whose, label) = (self.whose(node), self.label(*peer));
                let lost =
                    self.run.record.event(id).causes.iter().next().filter(|cause| {
                        matches!(self.run.record.event(*cause).what, What::Lose(_))
                    });
                match lost {
                    Some(lost) if self.down_at(*peer, lost) => {
                        format!("{whose} connection to {label} is refused: {label} is down.")
                    }
                    _ => format!(
                        "{whose} connection to {label} is gone: {label} died or started anew."
                    ),
                }
            }
            What::Work(d) => format!("{me} works for {}.", span(*d)),
            What::Sleep(d) => format!("{me} sleeps for {}.", span(*d)),
            What::Handle(task) => format!("{me} runs its handler `{}`.", self.task(node, *task)),
            What::End(0) => format!("{me} ends its program."),
            What::End(task) => format!("{me} ends its task `{}`.", self.task(node, *task)),
            What::Halt(how, d) => {
                let d = span(*d);
                match how {
                    Halt::Pause => format!("{me} is paused for {d}."),
                    Halt::Suspend => {
                        format!("{me} is suspended for {d}. Its monotonic clock stands still.")
                    }
                    Halt::Freeze => format!("{me} is frozen for {d}. All its clocks stand still."),
                }
            }
            What::Wake => format!("{me} is still stopped, but its clocks run again."),
            What::PauseTask(task, d) => {
                let task = self.task(node, *task);
                format!("The task `{task}` of {me} is paused for {}; the others go on.", span(*d))
            }
            What::ResumeTask(task) => {
                format!("The task `{}` of {me} goes on.", self.task(node, *task))
            }
            What::Resume => format!("{me} goes on.{}", self.still_believes(id, node)),
            What::Crash(how) => self.crash(id, node, *how),
            What::Restart => format!("{me} starts again.{}", self.forgotten(id)),
            What::Cut(to) => format!("The way from {me} to {} is cut.", self.label(*to)),
            What::Heal(to) => format!("The way from {me} to {} is whole again.", self.label(*to)),
            What::ClockStep(us) => {
                let way = if *us < 0 { "back" } else { "forward" };
                let by = span(Micros(us.unsigned_abs()));
                format!("The wall clock of {me} jumps {way} by {by}.")
            }
            What::ClockRate(rate) => format!("The clocks of {me} run at {rate} of true speed."),
            What::Set(index) => self.set(*index),
            What::Outside(index) => self.by_hand(*index, &me),
            What::Limit(limit) => format!("The run ends here: {}.", self.limited(*limit, node)),
            What::Note(_) => format!("{me} does something."),
        }
    }

    /// Which limit a run has come to, as a clause.
    pub fn limited(&self, limit: Limit, node: ProcId) -> String {
        match limit {
            Limit::Steps => {
                let (who, lines) = (self.label(node), thousands(MOST_STEPS));
                format!("{who} executed {lines} lines in a row and never waited")
            }
            Limit::AtOnce => {
                format!(
                    "{} things happened at one moment, and time did not go on",
                    thousands(MOST_AT_ONCE)
                )
            }
            Limit::Events => {
                format!("it has {} events, the most that one may have", thousands(MOST_EVENTS))
            }
        }
    }

    fn task(&self, node: ProcId, task: usize) -> String {
        let tasks = self.run.names().tasks.get(usize::from(node.0));
        one_line(tasks.and_then(|t| t.get(task)).map_or("?", String::as_str))
    }

    fn set(&self, index: usize) -> String {
        match self.run.compiled.edits.get(index).map(|e| &e.action) {
            Some(Action::Set(key, value, _)) => format!("The setting {key} becomes {value}."),
            _ => "A setting changes.".into(),
        }
    }

    fn by_hand(&self, index: usize, me: &str) -> String {
        let edit = self.run.compiled.edits.get(index).map(|e| &e.action);
        if let Some(Action::FailOver(from, ..)) = edit {
            let names = self.run.names();
            let after = names.find(from).map_or_else(|| from.clone(), |p| self.label(p));
            return format!("The order to take the place of {after} reaches {me}.");
        }
        if let Some(Action::Evict(_, lock, _)) = edit {
            let locks = &self.run.names().locks;
            let lock = locks.iter().position(|l| l == lock).unwrap_or(0);
            let lock = self.lock(LockId(lock as u16));
            return format!("{me} finds its memory short, and picks {lock} to throw out.");
        }
        let token = match edit {
            Some(Action::Send(_, token, _)) => format!("The token {token}"),
            _ => "A token".into(),
        };
        format!("{token} that somebody sends by hand reaches {me}.")
    }

    /// What a message is called: written out, or by its name and ` (token 41)`, of what servers say about
    /// a change ` (zxid 41)`.
    fn written(&self, msg: MsgId) -> String {
        let body = &self.run.record.message(msg).body;
        let names = self.run.names();
        let changes = names.traffic.round.is_some_and(|round| round.contains(&body.name));
        let word = if changes { names.traffic.change } else { "token" };
        body.in_full(&names.locks).unwrap_or_else(|| match carried(names, body) {
            Some(token) => format!("{} ({word} {token})", body.name),
            None => body.name.into(),
        })
    }

    fn sends(&self, msg: MsgId) -> String {
        let info = self.run.record.message(msg);
        let (from, to, name) = (self.label(info.from), self.label(info.to), self.written(msg));
        let does = if self.is_answer(msg) { "answers" } else { "sends" };
        let to = if does == "sends" { format!("to {to}") } else { to };
        format!("{from} {does} {to}: {name}.")
    }

    pub fn arrives(&self, msg: MsgId) -> String {
        let info = self.run.record.message(msg);
        let (from, to, name) = (self.whose_copy(msg), self.label(info.to), self.written(msg));
        if self.is_answer(msg) {
            return format!("{from} answer reaches {to}: {name}.");
        }
        format!("{from} {name} reaches {to}.")
    }

    /// `Client A’s`, or `a copy of Client A’s`.
    fn whose_copy(&self, msg: MsgId) -> String {
        let info = self.run.record.message(msg);
        let copy = if info.copy_of.is_some() { "a copy of " } else { "" };
        format!("{copy}{}", self.whose(info.from))
    }

    /// A message as the subject of a sentence.
    fn message(&self, msg: MsgId) -> String {
        let info = self.run.record.message(msg);
        let (from, to, name) = (self.whose_copy(msg), self.label(info.to), self.written(msg));
        if self.is_answer(msg) {
            return format!("{from} answer to {to}, {name},");
        }
        format!("{from} {name} to {to}")
    }

    /// Whether a message answers another: its sender says nothing more of it, and it has the number of a
    /// request. Clients answer nobody.
    pub fn is_answer(&self, msg: MsgId) -> bool {
        if self.run.record.message(msg).body.request == 0 {
            return false;
        }
        let sent = self.run.record.event(self.run.record.sending(msg));
        let nodes = &self.run.names().nodes;
        let client =
            nodes.get(usize::from(sent.node.0)).is_some_and(|node| node.kind == NodeKind::Client);
        matches!(sent.what, What::Send(_, None)) && !client
    }

    /// What a client that goes on still believes although it is over.
    pub fn still_believes(&self, id: EventId, node: ProcId) -> String {
        let at = self.run.record.event(id).at;
        let mut beliefs = self.open_at(IntervalKind::Belief, id).filter(|i| i.client == node);
        let over = beliefs.find_map(|i| {
            let truth = self.interval(IntervalKind::Truth, i.grant)?;
            let ended = truth.ended.filter(|end| *end < id)?;
            let lapsed = matches!(
                self.run.record.event(ended).note(),
                Some(Testimony::Free(_, TruthEnd::Expired(_)))
            );
            let by_time = lapsed && self.term(i.grant).is_some();
            Some((
                self.lock(i.lock),
                if by_time { "its lease expired" } else { "that ended" },
                truth.to,
            ))
        });
        over.map_or_else(String::new, |(lock, what, ended)| {
            let ago = self.ago(ended, at);
            format!(" It still believes that it holds {lock}, but {what} {ago}.")
        })
    }

    /// Which marks a resource has forgotten with this restart, as a sentence.
    pub fn forgotten(&self, restart: EventId) -> String {
        let marks = crate::run::why::forgotten(self.run, restart);
        match marks.as_slice() {
            [] => String::new(),
            [(_, token)] => {
                format!(" It has forgotten the highest token, {}.", self.figure(*token))
            }
            many => {
                let each = many
                    .iter()
                    .map(|(l, token)| format!("{} of {}", self.figure(*token), self.lock(*l)));
                let each: Vec<String> = each.collect();
                format!(" It has forgotten the highest tokens: {}.", and(&each))
            }
        }
    }

    fn crash(&self, id: EventId, node: ProcId, how: CrashKind) -> String {
        let me = self.label(node);
        let what = match how {
            CrashKind::Kill => "crashes",
            CrashKind::Power => "loses its power",
            CrashKind::Clean => "is shut down",
        };
        let mut truths = self.open_at(IntervalKind::Truth, id);
        let held = truths.find(|i| i.client == node && i.began < id);
        let held = held.map_or_else(String::new, |i| {
            let service = self.service();
            format!(" For {service} it still holds {}.", self.lock(i.lock))
        });
        format!("{me} {what}.{held}")
    }
}

/// What a time-out means.
const UNKNOWN: &str = "Whether it was carried out is unknown.";

fn told(me: &str, outcome: Outcome) -> String {
    match outcome {
        Outcome::Ok => format!("{me} learns that its write was accepted."),
        Outcome::Rejected => format!("{me} learns that it was rejected."),
        Outcome::Timeout => format!("{me} waits no longer for the resource's answer. {UNKNOWN}"),
        Outcome::Closed => {
            format!(
                "{me} loses the connection on which it awaited the resource's answer. {UNKNOWN}"
            )
        }
        Outcome::Refused | Outcome::Lost => format!("{me} gets no answer from the resource."),
    }
}

fn close(me: &str, number: u32, why: SectionEnd) -> String {
    let how = match why {
        SectionEnd::Released => "it releases the lock",
        SectionEnd::Dropped => "it no longer believes that it holds the lock",
        SectionEnd::Crashed => "it has crashed",
        SectionEnd::StartedOver => "it starts over",
        SectionEnd::Aborted => "it gives the section up by intention",
        SectionEnd::Exited => "its program is over",
        SectionEnd::Undone => "it has taken back what it could",
        SectionEnd::Refused => "its write was refused, and nothing of it was written",
    };
    format!("{me} ends section {number}: {how}.")
}

/// What a client finds in the queue for a lock; none where it finds nothing out.
fn queued(me: &str, lock: &str, ask: Ask, outcome: Outcome) -> Option<String> {
    Some(match (ask, outcome) {
        (Ask::Enter, Outcome::Ok) => format!("{me} has its place in the queue for {lock}."),
        (Ask::List, Outcome::Ok) => format!("{me} finds nobody before it in the queue for {lock}."),
        (Ask::List, Outcome::Refused) => {
            format!("{me} finds others before it in the queue for {lock}.")
        }
        (Ask::List, Outcome::Lost) => {
            format!("{me} finds that its own place in the queue for {lock} is gone.")
        }
        (Ask::Acquire, Outcome::Lost) => {
            format!("{me} has lost its place in the queue for {lock}, and with it its request.")
        }
        (Ask::Watch, Outcome::Ok) => {
            format!("{me} will be told when what stands before it in the queue is gone.")
        }
        (Ask::WatchAll, Outcome::Ok) => {
            format!("{me} will be told when anything changes in the queue.")
        }
        (Ask::Watch | Ask::WatchAll, Outcome::Refused) => {
            format!("{me} finds that what it wanted to watch is gone already.")
        }
        (Ask::Find, Outcome::Ok) => format!("{me} finds its place in the queue for {lock}."),
        (Ask::Find, Outcome::Refused) => {
            format!("{me} finds no place of its own in the queue for {lock}.")
        }
        _ => return None,
    })
}

/// How a client's session is, as its library tells it.
fn session(me: &str, state: SessionState) -> String {
    match state {
        SessionState::Begun => format!("{me} begins a session with the service."),
        SessionState::Resumed => format!("{me} is connected again: its session goes on."),
        SessionState::Unsure => {
            format!("{me} has lost its connection and cannot know whether its session goes on.")
        }
        SessionState::Over => {
            format!(
                "{me} hears from its library that its session is over, with all that was bound to it."
            )
        }
    }
}
