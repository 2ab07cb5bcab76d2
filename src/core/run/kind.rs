//! The closed list of event kinds, and what an event is about.

use super::replay::Run;
use crate::judge::{
    Ask, BeliefEnd, Grant, LockId, Operation, SessionState, Standing, Testimony, Token, TruthEnd,
};
use crate::sim::{Event, EventId, ProcId, Record, What};
use crate::systems::Locks;

/// Every kind with one sentence, in the order of the documentation.
pub const KINDS: &[(&str, &str)] = &[
    ("start", "A process starts."),
    ("acquire", "A client asks for a lock."),
    ("renew", "A client asks for more time."),
    ("release", "A client sends its release."),
    ("fetch-token", "A client fetches a token for a grant that it already has."),
    ("ask-holder", "A client asks who holds a lock, before it ends whatever lease there is."),
    ("enter", "A client that has asked for a lock asks for a place in its queue."),
    ("list", "A client asks who stands in the queue of a lock."),
    (
        "watch",
        "A client asks to be told when what stands before it in the queue is gone, or when anything changes there.",
    ),
    ("find", "A client looks whether it has a place in the queue after all."),
    ("session", "A client's library tells how its session with the service is."),
    ("read", "A client sends a read."),
    ("write", "A client sends a write."),
    ("claim", "A client sends a claim: the resource is to know its token before anything else."),
    ("send", "A process answers."),
    (
        "copy",
        "A copy of a message leaves on a connection of its own; its sender knows nothing of it.",
    ),
    ("deliver", "A message arrives."),
    ("lose", "A message is lost."),
    ("hold", "A cut holds a message until the link heals."),
    (
        "reset",
        "A process's connection to a peer is gone: the peer died or restarted. A process that stands \
         still learns of it when it goes on.",
    ),
    ("grant", "The service grants a lock: a truth and a promise begin."),
    ("mint", "A grant gets its token."),
    ("extend", "The service accepts a renewal."),
    (
        "shift",
        "The service's clock changed: a truth, or what one of several servers has, will now end at \
         another moment, or, while that clock stands still, at none.",
    ),
    ("refuse", "The service says no."),
    ("queue", "The service puts a client in its queue."),
    ("wake-up", "A service tells one who waits that something has changed."),
    ("expire", "A truth ends by time."),
    ("free", "A truth ends by its holder's release."),
    ("remove", "A truth is ended by somebody else's request."),
    ("forget", "The service loses a truth."),
    ("stand", "A server leads, follows or looks for a leader from now on."),
    ("decide", "A majority of the servers has logged a change: it is decided."),
    ("line", "The queue of a lock is another one than before."),
    ("watched", "A server will tell a client when another one's place in a queue is gone."),
    ("lapse", "A server has heard nothing of a client's session for too long."),
    ("lead", "A server takes the place of another one: what it says counts from now on."),
    ("evict", "A server throws out what it knew of a lock."),
    (
        "keep",
        "One of several servers, none of which grants alone, has the lock as another's than before, or \
         as nobody's, or for longer.",
    ),
    ("decline", "Such a server says no to a client."),
    ("count", "A client counts what such servers answered, and decides."),
    ("answer", "A client's request to the service is over."),
    ("believe", "A client consumes a grant: its belief begins."),
    ("doubt", "A client's belief ends."),
    ("check", "A client looks at its own deadline."),
    ("begin", "A section begins."),
    ("job", "A section's work gets a name."),
    ("close", "A section ends."),
    ("serve", "The resource answers a read."),
    ("learn", "A client consumes what it read."),
    ("mark", "The resource takes a claim, or a gateway does: no cell changes."),
    ("admit", "A write passes the check of a resource or gateway, and is not applied yet."),
    ("forward", "A gateway passes an operation on to its resource."),
    ("void", "A write that had come is forgotten before it was applied: whoever had it died."),
    ("inquire", "The resource asks the lock service whether a token is the holder's."),
    ("accept", "The resource accepts a write."),
    ("reject", "The resource refuses an operation, or its gateway does."),
    (
        "hand",
        "What somebody does by hand reaches its node: a token, nothing else, at a resource; an order at \
         a server.",
    ),
    ("pass", "The resource lets a token pass that was sent by hand."),
    ("block", "The resource rejects a token that was sent by hand."),
    ("told", "A client consumes the answer to a write or a claim, or gives up waiting."),
    ("work", "A task uses the processor."),
    ("sleep", "A task waits for a timer."),
    ("handle", "A notice starts a handler."),
    (
        "end",
        "A task ends by itself or is stopped by another. With the main one the whole program is over, \
         and nothing more is said of its other tasks; where it stops because the lock is gone, it is \
         over with its last handler.",
    ),
    ("pause", "A process stops; its clocks run on."),
    ("suspend", "A process's host sleeps: its monotonic clock stands still."),
    ("freeze", "A process's machine stops: all its clocks stand still."),
    ("resume", "A stopped process goes on."),
    ("wake", "Clocks that stood still run again, while their process is still stopped otherwise."),
    ("pause-task", "One task of a process stops; the others go on."),
    ("resume-task", "A task that was paused goes on."),
    ("crash", "A process dies."),
    ("restart", "A dead process starts again."),
    ("cut", "A way between two nodes is cut."),
    ("heal", "A way between two nodes is whole again."),
    ("clock", "A clock is stepped or changes its rate."),
    ("set", "A setting changes."),
    (
        "limit",
        "A program ran on without ever waiting, or the run has as many events as it may: it ends.",
    ),
];

/// The kind of an event.
pub fn kind(event: &Event<Testimony>) -> &'static str {
    if let Some(note) = event.note() {
        return note_kind(note);
    }
    match event.what {
        What::Start => "start",
        What::Send(..) | What::Note(_) => "send",
        What::Deliver(_) => "deliver",
        What::Copy(..) => "copy",
        What::Lose(_) => "lose",
        What::Hold(_) => "hold",
        What::Reset(_) => "reset",
        What::Work(_) => "work",
        What::Sleep(_) => "sleep",
        What::Handle(_) => "handle",
        What::End(_) => "end",
        What::Halt(how, _) => how.word(),
        What::Resume => "resume",
        What::Wake => "wake",
        What::PauseTask(..) => "pause-task",
        What::ResumeTask(_) => "resume-task",
        What::Crash(_) => "crash",
        What::Restart => "restart",
        What::Cut(_) => "cut",
        What::Heal(_) => "heal",
        What::ClockStep(_) | What::ClockRate(_) => "clock",
        What::Set(_) => "set",
        What::Outside(_) => "hand",
        What::Limit(_) => "limit",
    }
}

fn note_kind(note: &Testimony) -> &'static str {
    match note {
        Testimony::Grant { .. } => "grant",
        Testimony::Mint(..) => "mint",
        Testimony::Extend(..) => "extend",
        Testimony::Expires(..) | Testimony::Moves(..) => "shift",
        Testimony::Keep { .. } => "keep",
        Testimony::Decline(..) => "decline",
        Testimony::Count(..) => "count",
        Testimony::Refuse(..) => "refuse",
        Testimony::Queue(..) => "queue",
        Testimony::Wake(..) => "wake-up",
        Testimony::Free(_, why) => match why {
            TruthEnd::Expired(_) => "expire",
            TruthEnd::Released => "free",
            TruthEnd::Removed(_) => "remove",
            TruthEnd::Forgotten => "forget",
        },
        Testimony::Stand(_) => "stand",
        Testimony::Decide(..) => "decide",
        Testimony::Line(..) => "line",
        Testimony::Watched { .. } => "watched",
        Testimony::Lapse { .. } => "lapse",
        Testimony::Lead(_) => "lead",
        Testimony::Evict(_) => "evict",
        Testimony::Ask { ask, .. } => asked(*ask),
        Testimony::Session(_) => "session",
        Testimony::Answer(..) => "answer",
        Testimony::Believe(..) => "believe",
        Testimony::Doubt(..) => "doubt",
        Testimony::Check(..) => "check",
        Testimony::Begin(_) => "begin",
        Testimony::Job(..) => "job",
        Testimony::Close(..) => "close",
        Testimony::Read(_) => "read",
        Testimony::Write(..) => "write",
        Testimony::Claim(_) => "claim",
        Testimony::Mark(_) => "mark",
        Testimony::Admit(..) => "admit",
        Testimony::Forward(..) => "forward",
        Testimony::Void(..) => "void",
        Testimony::Inquire(..) => "inquire",
        Testimony::Serve(..) => "serve",
        Testimony::Learn(_) => "learn",
        Testimony::Accept(..) => "accept",
        Testimony::Reject(..) => "reject",
        Testimony::Told(..) => "told",
        Testimony::Hand(_, _, None) => "pass",
        Testimony::Hand(_, _, Some(_)) => "block",
    }
}

/// The kind of event in which that is asked.
pub(super) const fn asked(ask: Ask) -> &'static str {
    match ask {
        Ask::Acquire => "acquire",
        Ask::Enter => "enter",
        Ask::Renew => "renew",
        Ask::Release => "release",
        Ask::Token => "fetch-token",
        Ask::Holder => "ask-holder",
        Ask::List => "list",
        Ask::Watch | Ask::WatchAll => "watch",
        Ask::Find => "find",
    }
}

/// The client that an event is about, where that is another node than the event's own.
pub fn client(record: &Record<Locks>, event: &Event<Testimony>) -> Option<ProcId> {
    match event.note()? {
        Testimony::Grant { client, .. } => Some(*client),
        Testimony::Refuse(_, client, _)
        | Testimony::Decline(_, client, _)
        | Testimony::Queue(_, client)
        | Testimony::Wake(_, client) => Some(*client),
        Testimony::Keep { of, .. } => of.map(|of| of.0),
        Testimony::Watched { watcher, .. } => Some(*watcher),
        Testimony::Lapse { client, .. } => Some(*client),
        Testimony::Mint(grant, _)
        | Testimony::Extend(grant, ..)
        | Testimony::Expires(grant, _)
        | Testimony::Free(grant, _) => grantee(record, *grant),
        note => at_resource(note).map(|op| op.section.client),
    }
}

/// Whether an event at another node is about this one: about this client, or about a message that was
/// lost or held up on its way here.
pub fn concerns(record: &Record<Locks>, event: &Event<Testimony>, node: ProcId) -> bool {
    match event.what {
        What::Lose(msg) | What::Hold(msg) => {
            let message = record.message(msg);
            message.from == node || message.to == node
        }
        _ => client(record, event) == Some(node),
    }
}

/// The operation that a resource or a gateway deals with.
fn at_resource(note: &Testimony) -> Option<&Operation> {
    match note {
        Testimony::Serve(op, ..)
        | Testimony::Mark(op)
        | Testimony::Admit(op, ..)
        | Testimony::Forward(op, _)
        | Testimony::Void(op, ..)
        | Testimony::Accept(op, ..)
        | Testimony::Reject(op, ..) => Some(op),
        _ => None,
    }
}

/// The operation that an event is about.
fn operation(note: &Testimony) -> Option<&Operation> {
    match note {
        Testimony::Read(op) | Testimony::Write(op, _) | Testimony::Claim(op) => Some(op),
        note => at_resource(note),
    }
}

/// To whom a grant was made.
pub fn grantee(record: &Record<Locks>, grant: Grant) -> Option<ProcId> {
    match record.events.get(grant.0.0 as usize)?.note()? {
        Testimony::Grant { client, .. } => Some(*client),
        _ => None,
    }
}

/// The grant that an event is about.
pub fn grant(id: EventId, event: &Event<Testimony>) -> Option<Grant> {
    match event.note()? {
        Testimony::Grant { .. } => Some(Grant(id)),
        Testimony::Mint(grant, _)
        | Testimony::Extend(grant, ..)
        | Testimony::Expires(grant, _)
        | Testimony::Free(grant, _)
        | Testimony::Believe(_, grant, _) => Some(*grant),
        note => operation(note)?.grant,
    }
}

/// The token that an event shows: a message's, a grant's, an operation's.
pub fn token(record: &Record<Locks>, event: &Event<Testimony>) -> Option<Token> {
    if let Some(message) = event.message() {
        return record.message(message).body.token;
    }
    match event.note()? {
        Testimony::Grant { token, .. } => *token,
        Testimony::Mint(_, token) => Some(*token),
        Testimony::Keep { of, .. } => of.and_then(|of| of.1),
        Testimony::Free(grant, _)
        | Testimony::Extend(grant, ..)
        | Testimony::Expires(grant, _)
        | Testimony::Believe(_, grant, _) => token_of(record, *grant),
        Testimony::Hand(_, token, _) | Testimony::Decide(token, _) => Some(*token),
        note => at_resource(note)?.token,
    }
}

/// The token that a read shows the resource: the client knows one, and reads carry it at that moment.
pub fn read_token(run: &Run, event: &Event<Testimony>) -> Option<Token> {
    let Some(Testimony::Read(op)) = event.note() else { return None };
    op.token.filter(|_| run.setting_at("resource.reads", event.at) == "token")
}

/// The token that a grant was given, with it or later.
pub fn token_of(record: &Record<Locks>, grant: Grant) -> Option<Token> {
    match record.events.get(grant.0.0 as usize)?.note()? {
        Testimony::Grant { token: Some(token), .. } => Some(*token),
        _ => record.events.iter().find_map(|e| match e.note() {
            Some(Testimony::Mint(of, token)) if *of == grant => Some(*token),
            _ => None,
        }),
    }
}

/// The lock that an event is about.
pub fn lock(record: &Record<Locks>, id: EventId, event: &Event<Testimony>) -> Option<LockId> {
    match event.note()? {
        Testimony::Grant { lock, .. }
        | Testimony::Refuse(lock, ..)
        | Testimony::Queue(lock, _)
        | Testimony::Wake(lock, _)
        | Testimony::Ask { lock, .. }
        | Testimony::Answer(lock, ..)
        | Testimony::Believe(lock, ..)
        | Testimony::Doubt(lock, _)
        | Testimony::Check(lock, _)
        | Testimony::Keep { lock, .. }
        | Testimony::Moves(lock, _)
        | Testimony::Decline(lock, ..)
        | Testimony::Count(lock, ..)
        | Testimony::Inquire(lock, _)
        | Testimony::Evict(lock)
        | Testimony::Line(lock, _)
        | Testimony::Watched { lock, .. }
        | Testimony::Hand(lock, ..) => Some(*lock),
        note => {
            if let Some(op) = operation(note) {
                return Some(op.lock);
            }
            let grant = grant(id, event)?;
            match record.events.get(grant.0.0 as usize)?.note()? {
                Testimony::Grant { lock, .. } => Some(*lock),
                _ => None,
            }
        }
    }
}

/// How much an event weighs for a learner who steps through a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Weight {
    /// Bookkeeping that follows from what stands beside it: arrivals, answers, ends of sections.
    Detail,
    /// Something happens.
    Step,
    /// A grant, an expiry, an accepted or refused write: a learner stops here.
    Decision,
}

/// How much an event weighs.
pub fn weight(event: &Event<Testimony>) -> Weight {
    match event.note() {
        Some(
            Testimony::Grant { .. }
            | Testimony::Accept(..)
            | Testimony::Reject(..)
            | Testimony::Admit(..)
            | Testimony::Mark(_)
            | Testimony::Void(..)
            | Testimony::Check(..)
            | Testimony::Hand(..)
            | Testimony::Lead(_)
            | Testimony::Stand(Standing::Leads(_))
            | Testimony::Lapse { .. }
            | Testimony::Evict(_)
            | Testimony::Session(SessionState::Unsure | SessionState::Over)
            | Testimony::Refuse(_, _, Ask::Renew),
        ) => Weight::Decision,
        Some(Testimony::Free(_, why)) if *why != TruthEnd::Released => Weight::Decision,
        Some(Testimony::Doubt(_, why)) => match why {
            BeliefEnd::Released | BeliefEnd::Exited | BeliefEnd::Crashed => Weight::Detail,
            _ => Weight::Decision,
        },
        // What one server has follows from what it is asked, unless it loses it.
        Some(Testimony::Keep {
            ended: Some(TruthEnd::Removed(_) | TruthEnd::Forgotten), ..
        }) => Weight::Step,
        Some(
            Testimony::Keep { .. }
            | Testimony::Moves(..)
            | Testimony::Decide(..)
            | Testimony::Line(..)
            | Testimony::Decline(..)
            | Testimony::Answer(..)
            | Testimony::Session(_)
            | Testimony::Begin(_)
            | Testimony::Close(..)
            | Testimony::Expires(..)
            | Testimony::Told(..),
        ) => Weight::Detail,
        Some(_) => Weight::Step,
        None => match event.what {
            What::Crash(_) | What::Halt(..) | What::Resume => Weight::Decision,
            What::Deliver(_) | What::Outside(_) | What::Send(..) | What::Start | What::End(_) => {
                Weight::Detail
            }
            _ => Weight::Step,
        },
    }
}
