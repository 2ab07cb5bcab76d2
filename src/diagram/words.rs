//! The few words that stand beside marks.

use super::ensemble::lapsed;
use super::story::token_words;
use crate::judge::{CellId, Grant, Rejection, Testimony, Token, TruthEnd, Unmet};
use crate::narrate;
use crate::run::{NodeKind, Run, kind};
use crate::sim::{EventId, MessageInfo, MsgId, ProcId, What};
use crate::systems::Body;

/// What a message's label says, the token on its plate, and whether it only answers.
pub(super) fn message(
    run: &Run,
    id: MsgId,
    info: &MessageInfo<Body>,
) -> (String, Option<Token>, bool) {
    let record = &run.record;
    let sent = record.event(record.sending(id));
    if let Some(note) = sent.note() {
        return match note {
            Testimony::Read(op) => {
                // A token that the resource does not look at is not shown as if it counted.
                let reads = run.compiled.settings.word("resource.reads") == "token";
                (cell(run, "read", op.cell), op.token.filter(|_| reads), false)
            }
            Testimony::Write(op, write) => {
                (value(run, "write ", op.cell, write.value), op.token, false)
            }
            Testimony::Claim(op) => ("claim".into(), op.token, false),
            Testimony::Forward(op, Some((write, _))) => {
                (value(run, "write ", op.cell, write.value), op.token, false)
            }
            Testimony::Forward(op, None) if op.claims => ("claim".into(), op.token, false),
            Testimony::Forward(op, None) => {
                let reads = run.compiled.settings.word("resource.reads") == "token";
                (cell(run, "read", op.cell), op.token.filter(|_| reads), false)
            }
            Testimony::Ask { lock, .. } if run.names().locks.len() > 1 => {
                let words = format!("{} {}", info.body.name, run.names().lock(*lock));
                (words, info.body.token, false)
            }
            _ => (info.body.name.into(), info.body.token, false),
        };
    }
    let cause = sent.causes.iter().next().map(|c| record.event(c));
    // Whoever passes an answer on says what the answer said.
    if let Some(What::Deliver(answer)) = cause.map(|c| &c.what)
        && record.message(*answer).body.name == info.body.name
    {
        return message(run, *answer, record.message(*answer));
    }
    match cause.and_then(|c| c.note()) {
        Some(Testimony::Grant { .. } | Testimony::Mint(..)) => match info.body.token {
            Some(token) => (String::new(), Some(token), false),
            None => (info.body.name.into(), None, false),
        },
        Some(Testimony::Serve(op, _, read)) => (value(run, "", op.cell, *read), None, true),
        Some(Testimony::Accept(..) | Testimony::Reject(..) | Testimony::Mark(_)) => {
            (String::new(), None, true)
        }
        Some(Testimony::Free(_, TruthEnd::Released)) => (String::new(), None, true),
        Some(Testimony::Extend(..)) => (info.body.name.into(), None, true),
        _ => (info.body.name.into(), None, false),
    }
}

fn cell(run: &Run, verb: &str, cell: CellId) -> String {
    match run.names().cells.len() {
        0 | 1 => verb.into(),
        _ => format!("{verb} {}", run.names().cell(cell)),
    }
}

/// `write 90`, or `write x = 90` where there are several cells.
pub(super) fn value(run: &Run, verb: &str, cell: CellId, value: i64) -> String {
    match run.names().cells.len() {
        0 | 1 => format!("{verb}{value}"),
        _ => format!("{verb}{} = {value}", run.names().cell(cell)),
    }
}

/// A client's name where there is little room: `A` for `Client A`.
pub(super) fn short(run: &Run, node: ProcId) -> String {
    let node = run.names().node(node);
    let short = node.label.strip_prefix("Client ").filter(|_| node.kind == NodeKind::Client);
    short.unwrap_or(&node.label).to_string()
}

/// A refusal, in one line and in two.
pub(super) fn refusal(
    run: &Run,
    token: Option<Token>,
    why: Rejection,
    rightful: bool,
) -> [String; 2] {
    let figure = |t| narrate::figure(run.names(), t);
    let token = token.map_or_else(|| "?".into(), figure);
    let reason = match why {
        _ if rightful => format!("holder's {token}"),
        Rejection::Lower(seen) => format!("{token} < {}", figure(seen)),
        Rejection::Again(_) => format!("{token} again"),
        Rejection::Missing => "no token".into(),
        Rejection::Version | Rejection::Unmet(Unmet::Version) => "version changed".into(),
        Rejection::Unread => "never read".into(),
        Rejection::Unclaimed => format!("{token} unclaimed"),
        Rejection::NotHolder => format!("{token} holds nothing"),
        Rejection::Unasked => "nobody to ask".into(),
        Rejection::Unmet(Unmet::Fresh) => "exists".into(),
        Rejection::Unmet(Unmet::Cells) => "condition unmet".into(),
    };
    [reason, "rejected".into()]
}

/// What became of a grant, for the service's lane.
pub(super) fn ending(run: &Run, event: EventId, grant: Grant, why: TruthEnd) -> String {
    let token = token_words(run, grant);
    let lock = kind::lock(&run.record, grant.0, run.record.event(grant.0));
    let several = lock.filter(|_| run.names().locks.len() > 1).map(|l| run.names().lock(l));
    let name = match (several, token.is_empty()) {
        (Some(lock), _) => format!("{lock} {token}").trim_end().to_string(),
        (None, true) => "lock".into(),
        (None, false) => format!("lease {token}"),
    };
    if run.names().led() {
        let client = kind::grantee(&run.record, grant);
        let holder = client.map_or_else(String::new, |client| short(run, client));
        return match why {
            TruthEnd::Expired(_) => {
                let ended = client.map(|client| lapsed(run, client, event));
                format!("{} ends", ended.unwrap_or_default())
            }
            TruthEnd::Removed(by) => format!("{} removes {holder}’s place", short(run, by)),
            // A client took for a grant what is none; its place in the queue is as it was.
            _ if run.names().node(run.record.event(grant.0).node).kind == NodeKind::Client => {
                "granted by nobody".into()
            }
            _ => format!("{holder}’s place is gone"),
        };
    }
    if run.names().counted() {
        return match why {
            TruthEnd::Forgotten => "majority lost".into(),
            TruthEnd::Removed(by) => format!("{} ends majority", short(run, by)),
            _ => "majority ends".into(),
        };
    }
    match why {
        TruthEnd::Expired(_) => format!("{name} expires"),
        TruthEnd::Released => format!("{name} released"),
        TruthEnd::Removed(by) => format!("{} removes {token}", short(run, by)).trim_end().into(),
        TruthEnd::Forgotten => format!("{name} forgotten"),
    }
}
