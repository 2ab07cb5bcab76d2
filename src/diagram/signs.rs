//! The signs of single events: what was accepted, rejected, harmed, crashed, changed.

use super::palette::Role;
use super::picture::{Point, Shape};
use super::words::{ending, refusal, short, value};
use crate::judge::{
    Ask, BeliefEnd, Finding, Operation, Rejection, SessionState, Standing, Testimony, Token,
    TruthEnd, Write,
};
use crate::narrate;
use crate::run::{Action, NodeKind, Run, kind};
use crate::sim::{CrashKind, Event, EventId, Limit, Micros, MsgId, ProcId, Set, Table, What};

/// Which sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Accepted,
    StaleAccepted,
    Duplicate,
    Rejected,
    Corruption,
    Torn,
    Expired,
    Crash,
    Restart,
    Notice,
    Clock,
    /// One of several servers says yes, or no.
    Yes,
    No,
    /// Words alone.
    Bare,
}

/// A sign with its words.
#[derive(Clone, Debug)]
pub(super) struct Sign {
    pub kind: Kind,
    pub role: Role,
    pub event: EventId,
    pub at: Micros,
    pub node: ProcId,
    /// The message that brought it about ends at the edge of the sign.
    pub message: Option<MsgId>,
    /// The same words in different numbers of lines, the best first.
    pub words: Vec<Vec<String>>,
    pub strong: bool,
    /// It comes from nobody in the picture.
    pub by_hand: bool,
    /// The picture is wrong without these words; the others go where there is no room.
    pub needed: bool,
}

impl Kind {
    /// Half the width of the sign.
    pub fn reach(self) -> i32 {
        match self {
            Kind::Accepted | Kind::StaleAccepted => 8,
            Kind::Duplicate => 11,
            Kind::Rejected => 13,
            Kind::Corruption => 16,
            Kind::Torn | Kind::Expired | Kind::Restart | Kind::Clock => 9,
            Kind::Crash => 11,
            Kind::Notice => 6,
            Kind::Yes | Kind::No => 5,
            Kind::Bare => 0,
        }
    }

    /// The shape at a place.
    pub fn shape(self, at: Point) -> Option<Shape> {
        Some(match self {
            Kind::Accepted => Shape::Accepted { at },
            Kind::StaleAccepted => Shape::StaleAccepted { at },
            Kind::Duplicate => Shape::Duplicate { at },
            Kind::Rejected => Shape::Rejected { at },
            Kind::Corruption => Shape::Corruption { at },
            Kind::Torn => Shape::Torn { at },
            Kind::Expired => Shape::Hourglass { at },
            Kind::Crash => Shape::Crash { at },
            Kind::Restart => Shape::Restart { at },
            Kind::Notice => Shape::Notice { at },
            Kind::Clock => Shape::ClockFace { at },
            Kind::Yes => Shape::Yes { at },
            Kind::No => Shape::No { at },
            Kind::Bare => return None,
        })
    }
}

/// What the judge found, by event.
#[derive(Default)]
struct Clues {
    harmed: Set<EventId>,
    lost: Set<EventId>,
    stale: Set<EventId>,
    rightful: Set<EventId>,
    twice: Set<EventId>,
    regress: Set<EventId>,
    double: Set<EventId>,
    broken: Set<EventId>,
    others: Table<EventId, Vec<Finding>>,
}

impl Clues {
    fn of(run: &Run) -> Clues {
        let mut clues = Clues::default();
        for finding in &run.judgement.findings {
            let event = finding.event();
            match finding {
                Finding::Corruption { culprit, .. } => {
                    clues.harmed.insert(event);
                    clues.harmed.insert(*culprit);
                }
                Finding::LostUpdate { .. } => {
                    clues.lost.insert(event);
                }
                Finding::StaleAccepted { .. } => {
                    clues.stale.insert(event);
                }
                Finding::LegitRejected { .. } => {
                    clues.rightful.insert(event);
                }
                Finding::Duplicate { .. } => {
                    clues.twice.insert(event);
                }
                // Where nothing compares tokens, none has to be above another.
                Finding::TokenRegress { .. } if !run.compares_tokens(event) => {}
                Finding::TokenRegress { .. } => {
                    clues.regress.insert(event);
                }
                Finding::DoubleGrant { .. } => {
                    clues.double.insert(event);
                }
                Finding::Broken { .. } => {
                    clues.broken.insert(event);
                }
                Finding::Torn { .. } | Finding::InvariantBroken { .. } => {
                    clues.others.entry(event).or_default().push(finding.clone());
                }
                Finding::StaleRejected { .. }
                | Finding::Overlap { .. }
                | Finding::Outlived { .. } => {}
            }
        }
        clues
    }
}

/// The signs of a run, in the order of their events.
pub(super) fn signs(run: &Run) -> Vec<Sign> {
    let clues = Clues::of(run);
    let mut signs = Vec::new();
    for (index, event) in run.record.events.iter().enumerate() {
        let id = EventId(index as u32);
        let found = match event.note() {
            Some(note) => of_note(run, &clues, id, event, note),
            None => of_event(run, id, event),
        };
        signs.extend(found);
        for finding in clues.others.get(&id).into_iter().flatten() {
            signs.extend(of_finding(run, event, finding));
        }
    }
    signs
}

fn sign(id: EventId, event: &Event<Testimony>, kind: Kind, role: Role, words: &[&str]) -> Sign {
    let lines: Vec<String> = words.iter().map(|w| w.to_string()).collect();
    let words = match lines.len() {
        0 => Vec::new(),
        1 => vec![lines],
        _ => vec![vec![lines.join(" ")], lines],
    };
    Sign {
        kind,
        role,
        event: id,
        at: event.at,
        node: event.node,
        message: None,
        words,
        strong: matches!(kind, Kind::Accepted | Kind::Rejected | Kind::Corruption | Kind::Torn),
        by_hand: matches!(event.note(), Some(Testimony::Hand(..))),
        needed: kind != Kind::Bare,
    }
}

fn of_note(
    run: &Run,
    clues: &Clues,
    id: EventId,
    event: &Event<Testimony>,
    note: &Testimony,
) -> Option<Sign> {
    let make = |kind, role, words: &[&str]| Some(sign(id, event, kind, role, words));
    let figure = |token| narrate::figure(run.names(), token);
    match note {
        Testimony::Accept(op, write, _, msg) => {
            Some(Sign { message: Some(*msg), ..accepted(run, clues, id, event, op, write) })
        }
        Testimony::Serve(..) | Testimony::Learn(_) if clues.harmed.contains(&id) => {
            make(Kind::Corruption, Role::Danger, &["no order", "explains it"])
        }
        Testimony::Reject(op, write, why) => {
            let rightful = clues.rightful.contains(&id);
            let [reason, word] = refusal(run, op.token, *why, rightful);
            let role = if rightful { Role::Stale } else { Role::Fenced };
            let made = sign(id, event, Kind::Rejected, role, &[&reason, &word]);
            Some(Sign { message: write.map(|w| w.1), ..made })
        }
        Testimony::Mark(op) => {
            let token = op.token.map_or_else(|| "claim".into(), |t| format!("claim {}", figure(t)));
            make(Kind::Accepted, Role::Hold, &[&token])
        }
        Testimony::Admit(op, ..) => {
            let token = op.token.map_or_else(String::new, |t| figure(t) + " ");
            make(Kind::Bare, Role::Ink, &[&format!("{token}passes,"), "not written"])
                .map(|made| Sign { needed: true, ..made })
        }
        Testimony::Void(..) => make(Kind::Notice, Role::Stale, &["write", "forgotten"]),
        Testimony::Hand(_, token, None) => {
            let words = [format!("{} by hand,", figure(*token)), "passes".to_string()];
            make(Kind::Accepted, Role::Hold, &[&words[0], &words[1]])
        }
        Testimony::Hand(_, token, Some(why)) => {
            let [reason, word] = refusal(run, Some(*token), *why, false);
            make(Kind::Rejected, Role::Fenced, &[&format!("by hand {reason}"), &word])
        }
        Testimony::Free(grant, why @ TruthEnd::Expired(at)) => {
            let words = [ending(run, id, *grant, *why), narrate::moment(*at)];
            let made = sign(id, event, Kind::Expired, Role::Ink, &[&words[0], &words[1]]);
            // A paused service says so only when it goes on; the truth ended at its deadline.
            Some(Sign { at: *at, strong: true, ..made })
        }
        Testimony::Free(grant, why @ (TruthEnd::Removed(_) | TruthEnd::Forgotten)) => {
            let role = if clues.broken.contains(&id) { Role::Danger } else { Role::Ink };
            make(Kind::Notice, role, &[&ending(run, id, *grant, *why)])
        }
        Testimony::Lead(_) => make(Kind::Notice, Role::Ink, &["leads now"]),
        Testimony::Evict(_) => make(Kind::Notice, Role::Ink, &["evicted"]),
        Testimony::Grant { token: Some(token), .. } | Testimony::Mint(_, token)
            if clues.regress.contains(&id) =>
        {
            let words = [format!("{} is not", figure(*token)), "a higher number".into()];
            make(Kind::Notice, Role::Danger, &[&words[0], &words[1]])
        }
        Testimony::Grant { .. } if clues.double.contains(&id) => {
            make(Kind::Notice, Role::Danger, &["granted twice"])
        }
        Testimony::Grant { asked: false, .. } => {
            make(Kind::Notice, Role::Stale, &["set again,", "nobody asked"])
        }
        Testimony::Doubt(_, why) => make(Kind::Bare, Role::Ink, no_longer(*why)?),
        _ => of_several(run, id, event, note).or_else(|| of_ensemble(run, id, event, note)),
    }
}

/// What is said of sessions, and by servers of which one leads.
fn of_ensemble(run: &Run, id: EventId, event: &Event<Testimony>, note: &Testimony) -> Option<Sign> {
    let make = |kind, role, words: &[&str]| Some(sign(id, event, kind, role, words));
    match note {
        // Who leads from the start is said at the head of its lane.
        Testimony::Stand(_) if event.at == Micros::ZERO => None,
        Testimony::Stand(Standing::Leads(term)) => {
            make(Kind::Notice, Role::Ink, &["leads,", &format!("{} {term}", run.names().term())])
        }
        Testimony::Stand(Standing::Follows(_)) => make(Kind::Notice, Role::Muted, &[]),
        Testimony::Stand(Standing::Seeks) => make(Kind::Notice, Role::Muted, &["seeks a leader"])
            .map(|made| Sign { needed: false, ..made }),
        Testimony::Session(SessionState::Unsure) => make(Kind::Bare, Role::Ink, &["disconnected"]),
        Testimony::Session(SessionState::Resumed) => {
            make(Kind::Bare, Role::Muted, &["connected again"])
        }
        Testimony::Session(SessionState::Over) => make(Kind::Bare, Role::Ink, &["session over"]),
        _ => None,
    }
}

/// What one of several servers says.
fn of_several(run: &Run, id: EventId, event: &Event<Testimony>, note: &Testimony) -> Option<Sign> {
    let make = |kind, role, words: &[&str]| Some(sign(id, event, kind, role, words));
    match note {
        Testimony::Keep { of: Some(_), .. } => {
            let message = asked(run, event)?;
            make(Kind::Yes, Role::Hold, &[]).map(|made| Sign { message: Some(message), ..made })
        }
        Testimony::Keep { of: None, ended: Some(TruthEnd::Removed(by)), .. }
            if *by != event.node =>
        {
            make(Kind::Notice, Role::Ink, &[&format!("{} removes it", short(run, *by))])
        }
        Testimony::Decline(_, _, Ask::Acquire | Ask::Renew) => {
            let message = asked(run, event)?;
            make(Kind::No, Role::Ink, &[]).map(|made| Sign { message: Some(message), ..made })
        }
        _ => None,
    }
}

/// The request of a client that brings an event about.
fn asked(run: &Run, event: &Event<Testimony>) -> Option<MsgId> {
    let cause = event.causes.iter().next().map(|cause| run.record.event(cause))?;
    match cause.what {
        What::Deliver(message) => Some(message),
        _ => None,
    }
}

/// Why a client believes no longer, where no other mark says it.
fn no_longer(why: BeliefEnd) -> Option<&'static [&'static str]> {
    match why {
        BeliefEnd::Deadline => Some(&["own deadline", "passed"]),
        BeliefEnd::GivenUp => Some(&["declares", "it lost"]),
        BeliefEnd::Notice => Some(&["told: lock lost"]),
        _ => None,
    }
}

fn accepted(
    run: &Run,
    clues: &Clues,
    id: EventId,
    event: &Event<Testimony>,
    op: &Operation,
    write: &Write,
) -> Sign {
    let late = late(run, op.token.or_else(|| token_of(run, op)));
    let make = |kind, role, words: &[&str]| sign(id, event, kind, role, words);
    let harmed = clues.harmed.contains(&id) || clues.lost.contains(&id);
    match (clues.stale.contains(&id), harmed) {
        (true, true) => make(Kind::Corruption, Role::Danger, &[&late, "accepted"]),
        (false, true) if clues.lost.contains(&id) => {
            make(Kind::Corruption, Role::Danger, &["an update", "is lost"])
        }
        (false, true) => make(Kind::Corruption, Role::Danger, &["no order", "explains it"]),
        (true, false) => {
            make(Kind::StaleAccepted, Role::Stale, &[&format!("{late} accepted,"), "no harm"])
        }
        (false, false) if clues.twice.contains(&id) => {
            make(Kind::Duplicate, Role::Stale, &["done twice"])
        }
        (false, false) => {
            make(Kind::Accepted, Role::Hold, &[&value(run, "", op.cell, write.value)])
        }
    }
}

fn token_of(run: &Run, op: &Operation) -> Option<Token> {
    kind::token_of(&run.record, op.grant?)
}

fn late(run: &Run, token: Option<Token>) -> String {
    let figure = |t| narrate::figure(run.names(), t);
    token.map_or_else(|| "stale write".into(), |t| format!("stale {}", figure(t)))
}

fn of_finding(run: &Run, event: &Event<Testimony>, finding: &Finding) -> Option<Sign> {
    match finding {
        Finding::Torn { event: id, section } => {
            let made = sign(*id, event, Kind::Torn, Role::Danger, &["half of it", "written"]);
            Some(Sign { node: section.client, ..made })
        }
        Finding::InvariantBroken { event: id } => {
            let home = run.names().of_kind(NodeKind::Resource).next()?;
            let made = sign(*id, event, Kind::Notice, Role::Danger, &["invariant", "broken"]);
            Some(Sign { node: home, ..made })
        }
        _ => None,
    }
}

fn task_name(run: &Run, node: ProcId, task: usize) -> String {
    let tasks = run.names().tasks.get(usize::from(node.0));
    tasks.and_then(|t| t.get(task)).cloned().unwrap_or_default()
}

fn of_event(run: &Run, id: EventId, event: &Event<Testimony>) -> Option<Sign> {
    let make = |kind, role, words: &[&str]| Some(sign(id, event, kind, role, words));
    match event.what {
        What::Crash(how) => {
            let word = match how {
                CrashKind::Kill => "crash",
                CrashKind::Power => "power off",
                CrashKind::Clean => "shut down",
            };
            make(Kind::Crash, Role::Ink, &[word])
        }
        What::Restart => make(Kind::Restart, Role::Ink, &["restart"]),
        What::ClockStep(by) => {
            let sign = if by < 0 { '−' } else { '+' };
            let words = format!("wall clock {sign}{}", narrate::span(Micros(by.unsigned_abs())));
            make(Kind::Clock, Role::Stale, &[&words])
        }
        What::ClockRate(rate) => make(Kind::Clock, Role::Stale, &[&format!("clocks ×{rate}")]),
        What::PauseTask(task, span) => {
            let words = format!("paused {}", narrate::span(span));
            make(Kind::Notice, Role::Muted, &[&task_name(run, event.node, task), &words])
        }
        What::ResumeTask(task) => {
            make(Kind::Notice, Role::Muted, &[&task_name(run, event.node, task), "goes on"])
        }
        What::Set(_) => {
            let set = run.compiled.edits.iter().find_map(|e| match &e.action {
                Action::Set(key, value, Some(at)) if *at == event.at => Some([key, value]),
                _ => None,
            });
            let [key, value] = set.map_or(["a setting", "changes"], |s| s.map(String::as_str));
            // A setting belongs to no process; its notice stands where it is felt.
            let felt =
                if key.starts_with("resource.") { NodeKind::Resource } else { NodeKind::Service };
            let node = run.names().of_kind(felt).next().unwrap_or(event.node);
            make(Kind::Notice, Role::Muted, &[key, value]).map(|made| Sign { node, ..made })
        }
        What::Limit(limit) => {
            let why = if limit == Limit::Steps { "never waits:" } else { "too long:" };
            make(Kind::Notice, Role::Danger, &[why, "cut off here"])
        }
        _ => None,
    }
}

/// Whether a refusal is one that a token caused, so that the resource has seen a higher one.
pub(super) fn seen(why: Rejection) -> Option<Token> {
    match why {
        Rejection::Lower(seen) => Some(seen),
        _ => None,
    }
}
