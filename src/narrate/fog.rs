//! A run in the words of one of its nodes: what it has seen, by its own clock, and nothing that only
//! an observer knows.

use super::knows::{Knows, last_of};
use super::teller::Teller;
use super::words::{capital, carried, moment, one_line, span};
use crate::judge::{Ask, BeliefEnd, LockId, Operation, Rejection, Testimony, Token, TruthEnd};
use crate::run::eyes::{Eyes, Seen, Sight};
use crate::run::{Run, kind};
use crate::sim::{EventId, Local, Micros, MsgId, Outcome, ProcId, What, World};
use crate::systems::{Fact, Locks};

/// A reading of a clock: `12.40 s`, or `-0.50 s` before it counts from nothing.
pub fn reading(at: Local) -> String {
    let sign = if at.0 < 0 { "-" } else { "" };
    format!("{sign}{}", moment(Micros(at.0.unsigned_abs())))
}

/// What a node has seen, as a sentence without its time.
pub fn seen_sentence(run: &Run, node: ProcId, seen: &Seen) -> String {
    let teller = Teller { run };
    capital(&match seen.what {
        Sight::Got(msg) => teller.arrives(msg),
        Sight::Gone(peer) => {
            format!("{} finds its connection to {} gone.", teller.label(node), teller.label(peer))
        }
        Sight::Sent(_) | Sight::Did => teller.own(seen.event, node),
    })
}

/// The same in a few words, where it is worth a mark beside the node's own lane.
pub fn seen_words(run: &Run, seen: &Seen) -> Option<String> {
    let teller = Teller { run };
    match seen.what {
        Sight::Got(_) | Sight::Sent(_) => None,
        Sight::Gone(peer) => Some(format!("connection to {} gone", teller.label(peer))),
        Sight::Did => teller.glance(seen.event),
    }
}

/// What a message is called beside its line.
pub fn message_words(run: &Run, msg: MsgId) -> String {
    let body = &run.record.message(msg).body;
    match carried(run.names(), body) {
        Some(token) => format!("{} ({token})", body.name),
        None => body.name.into(),
    }
}

/// Whether a node would write it down: everything but the bookkeeping between two steps.
pub fn worth_telling(run: &Run, seen: &Seen) -> bool {
    match seen.what {
        Sight::Got(_) | Sight::Gone(_) => true,
        Sight::Sent(_) => true,
        Sight::Did => kind::weight(run.record.event(seen.event)) > kind::Weight::Detail,
    }
}

/// What a node knows when it last looked, in its own time; nothing where it does not run.
pub fn knows_itself(run: &Run, eyes: &Eyes, last: Option<EventId>) -> Knows {
    let teller = Teller { run };
    let node = eyes.node;
    let title = format!("{} knows", teller.label(node));
    let lines = match eyes.until(run, last).last() {
        Some(seen) => {
            let (world, at) = as_it_was(run, eyes, seen, last);
            let mut lines = vec![("its clock".to_string(), reading(at))];
            lines.extend(teller.own_lines(&world, node));
            lines
        }
        None => Vec::new(),
    };
    Knows { node, title, lines, seats: Vec::new() }
}

/// The reading of its own clock when the node last could look.
pub fn own_time(run: &Run, eyes: &Eyes, last: Option<EventId>) -> Option<Local> {
    let seen = eyes.until(run, last).last()?;
    Some(as_it_was(run, eyes, seen, last).1)
}

/// The world when a node looked last; nothing where it does not run.
pub fn own_world(run: &Run, eyes: &Eyes, last: Option<EventId>) -> Option<World<Locks>> {
    let seen = eyes.until(run, last).last()?;
    Some(as_it_was(run, eyes, seen, last).0)
}

/// The world as the node saw it last: one that stands still looks at nothing, so its time stops.
fn as_it_was(run: &Run, eyes: &Eyes, seen: &Seen, last: Option<EventId>) -> (World<Locks>, Local) {
    let now = last.unwrap_or(seen.since).max(seen.since);
    let mut world = run.world_at(now);
    if world.halt(eyes.node).is_some() {
        world = run.world_at(seen.since);
    }
    let at = world.clocks(eyes.node).mono.read(world.now());
    (world, at)
}

impl Teller<'_> {
    /// A sentence that says nothing but what the node says or does itself.
    fn own(&self, id: EventId, node: ProcId) -> String {
        let (event, me) = (self.run.record.event(id), self.label(node));
        let Some(note) = event.note() else {
            return match &event.what {
                What::Start | What::Restart => format!("{me} starts."),
                what => self.happening(id, node, what),
            };
        };
        match note {
            Testimony::Believe(lock, grant, _) => {
                let token = self.bracket(*grant, id);
                format!("{me} believes that it holds {}{token}.", self.lock(*lock))
            }
            Testimony::Doubt(lock, BeliefEnd::Refused) => {
                format!("{me} learns that it no longer holds {}.", self.lock(*lock))
            }
            Testimony::Check(lock, holds) => {
                let (lock, not) =
                    (self.lock(*lock), if *holds { "holds" } else { "does not hold" });
                format!("{me} looks at its clock: by its own deadline it {not} {lock}.")
            }
            Testimony::Refuse(lock, client, ask) => self.own_refusal(&me, *lock, *client, *ask),
            Testimony::Queue(lock, client) => {
                format!("{me} lets {} wait for {}.", self.label(*client), self.lock(*lock))
            }
            Testimony::Free(grant, why) => {
                let who = self.holder(*grant).map_or_else(String::new, |p| self.label(p));
                let token = self.bracket(*grant, id);
                match why {
                    TruthEnd::Expired(_) => {
                        format!("{me} ends the lease of {who}{token}: its time is over.")
                    }
                    TruthEnd::Released => format!("{me} frees the lock: {who} has released it."),
                    _ => format!("{me} ends the grant of {who}{token}."),
                }
            }
            // When its record will end in true time is for an observer alone.
            Testimony::Keep { lock, of, ended, .. } => {
                self.keeps(id, node, *lock, *of, None, *ended)
            }
            // For how long, its own clock might say otherwise.
            Testimony::Lapse { client, .. } => {
                let whose = self.whose(*client);
                format!(
                    "{me} has heard nothing of {whose} session for too long, and wants it to end."
                )
            }
            Testimony::Read(op) => format!("{me} sends a read of {}.", self.cell_of(op)),
            Testimony::Accept(op, write, ..) => {
                format!("{me} accepts {}.", self.write(op, write, false))
            }
            Testimony::Reject(op, write, why) => {
                let what = match write {
                    Some((write, _)) => self.write(op, write, false),
                    None => {
                        format!("{} read of {}", self.whose(op.section.client), self.cell_of(op))
                    }
                };
                format!("{me} rejects {what}{}.", self.own_reason(op, *why))
            }
            Testimony::Hand(_, token, why) => {
                let does = if why.is_some() { "rejects" } else { "lets pass" };
                let token = self.figure(*token);
                format!("{me} {does} token {token}, which nobody it knows has sent.")
            }
            _ => self.testimony(id, node, note),
        }
    }

    fn cell_of(&self, op: &Operation) -> String {
        one_line(self.run.names().cell(op.cell))
    }

    fn own_refusal(&self, me: &str, lock: LockId, client: ProcId, ask: Ask) -> String {
        let (who, lock) = (self.label(client), self.lock(lock));
        let what = match ask {
            Ask::Acquire => return format!("{me} refuses {lock} to {who}."),
            Ask::Renew => "renewal",
            Ask::Release => "release",
            Ask::Token => "request for a token",
            Ask::Holder => "question who holds it",
            Ask::Enter | Ask::List | Ask::Watch | Ask::WatchAll | Ask::Find => {
                "question about the queue"
            }
        };
        format!("{me} refuses {} {what}.", self.whose(client))
    }

    fn glance(&self, id: EventId) -> Option<String> {
        let event = self.run.record.event(id);
        let figures = |token: Option<Token>| token.map_or("it".into(), |t| self.figure(t));
        let Some(note) = event.note() else {
            return match &event.what {
                What::Work(d) => Some(format!("works {}", span(*d))),
                What::Sleep(d) => Some(format!("sleeps {}", span(*d))),
                What::End(0) => Some("its program is over".into()),
                _ => None,
            };
        };
        Some(match note {
            Testimony::Believe(_, grant, _) => {
                format!("thinks: {}", figures(self.token_at(*grant, id)))
            }
            Testimony::Doubt(_, BeliefEnd::Refused) => "learns that it lost it".into(),
            Testimony::Doubt(_, BeliefEnd::Deadline) => "its own deadline is over".into(),
            Testimony::Doubt(_, BeliefEnd::GivenUp) => "declares it lost".into(),
            Testimony::Check(_, holds) => {
                format!("by its own clock it {}", if *holds { "holds" } else { "does not hold" })
            }
            Testimony::Answer(_, _, outcome) | Testimony::Told(_, outcome) if outcome.unknown() => {
                "no answer".into()
            }
            Testimony::Told(_, Outcome::Rejected) => "rejected".into(),
            Testimony::Learn(_) | Testimony::Serve(..) => return None,
            Testimony::Grant { client, token, .. } => {
                format!("grants {} to {}", figures(*token), self.label(*client))
            }
            Testimony::Free(grant, why) => {
                let end = if matches!(why, TruthEnd::Expired(_)) { "expires" } else { "ends" };
                format!("{} {end}", figures(self.token_at(*grant, id)))
            }
            Testimony::Queue(_, client) => format!("{} waits", self.label(*client)),
            Testimony::Keep { of: Some((client, _)), .. } => {
                format!("has it as {}", self.whose(*client))
            }
            Testimony::Keep { of: None, .. } => "has it as nobody's".into(),
            Testimony::Count(_, _, ballot, ..) => {
                let [yes, _, of] = ballot.counts();
                format!("counts {yes} of {of}")
            }
            Testimony::Decline(_, client, _) | Testimony::Refuse(_, client, _) => {
                format!("refuses {}", self.label(*client))
            }
            Testimony::Accept(op, write, ..) => {
                format!("accepts {}{}", self.assignment(op, write.value), self.carried(op))
            }
            Testimony::Reject(op, ..) => format!("rejects {}", figures(op.token)),
            Testimony::Hand(_, token, why) => {
                let does = if why.is_some() { "rejects" } else { "lets pass" };
                format!("{does} {}", self.figure(*token))
            }
            _ => return None,
        })
    }

    /// What the node can say of itself; nothing about pauses and cuts, which it cannot see.
    fn own_lines(&self, world: &World<Locks>, node: ProcId) -> Vec<(String, String)> {
        let mut lines = self.doing(world, node, true);
        for fact in world.facts(node) {
            lines.push(match &fact {
                Fact::Ring { lock, until: Some(until), .. } => {
                    let mono = world.clocks(node).mono;
                    let (at, now) = (mono.read(*until), mono.read(world.now()));
                    let value = match now.until(at) {
                        Micros::ZERO => "over".to_string(),
                        left => format!("{}, {} left", reading(at), span(left)),
                    };
                    (self.deadline_of(*lock), value)
                }
                Fact::Session { client, which, until: Some(until), span: of, rounded } => {
                    let mono = world.clocks(node).mono;
                    let (at, now) = (mono.read(*until), mono.read(world.now()));
                    let left = now.until(at);
                    let key = self.session_of(*client, *which, last_of(world));
                    self.session(key, (reading(at), left), (*of, *rounded))
                }
                fact => self.fact(world, fact),
            });
        }
        lines.extend(self.locals(world, node));
        lines
    }

    /// ` (token 41): token 41 is lower than 42` without anything that was set elsewhere.
    fn own_reason(&self, op: &Operation, why: Rejection) -> String {
        let token = op.token.map_or_else(|| "0".into(), |t| self.figure(t));
        match why {
            Rejection::Lower(seen) => format!(": {token} is lower than {}", self.figure(seen)),
            Rejection::Again(_) => format!(": {token} was used before"),
            _ => String::new(),
        }
    }
}
