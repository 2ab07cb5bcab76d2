//! Which rules stand behind an event: why the simulated world answers as it does.

use super::kind::{asked, kind};
use super::replay::Run;
use crate::judge::Testimony;
use crate::sim::{Event, EventId, MessageInfo, What};
use crate::systems::{Body, RESOURCE_RULES, Rule, Rules};

/// A rule by its place among those of one kind of node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ground {
    /// Whose rules.
    pub rules: &'static Rules,
    /// Which of them, from 0.
    pub place: usize,
    /// The rule itself.
    pub rule: &'static Rule,
}

/// The rules that an event rests on, in the order in which their system tells them. An answer that
/// has none of its own rests on what its sender decided, or passed on.
pub fn grounds(run: &Run, id: EventId) -> Vec<Ground> {
    let own = rules_of(run, id);
    if !own.is_empty() {
        return own;
    }
    let Some(event) = run.record.events.get(id.0 as usize) else { return own };
    let (What::Send(message, None) | What::Deliver(message)) = event.what else { return own };
    let sent = run.record.event(run.record.message(message).sent);
    let at_once = |id: &EventId| {
        let cause = run.record.event(*id);
        cause.node == sent.node && cause.at == sent.at
    };
    sent.causes
        .iter()
        .filter(at_once)
        .map(|id| grounds(run, id))
        .find(|g| !g.is_empty())
        .unwrap_or(own)
}

impl Ground {
    /// Each of some rules.
    pub fn each(rules: &'static Rules) -> impl Iterator<Item = Ground> {
        let list = rules.list.iter().enumerate();
        list.map(move |(place, rule)| Ground { rules, place, rule })
    }
}

fn rules_of(run: &Run, id: EventId) -> Vec<Ground> {
    let Some(event) = run.record.events.get(id.0 as usize) else { return Vec::new() };
    let (kind, answer) = (kind(event), answer(run, event));
    let rests = |ground: &Ground| {
        ground.rule.of.iter().any(|of| match of.rsplit_once(' ') {
            Some((of, condition)) if condition.contains('=') => {
                is(of, kind, answer) && holds(run, condition, id)
            }
            _ => is(of, kind, answer),
        })
    };
    let all = run.names().rules.iter().chain([&RESOURCE_RULES]);
    all.flat_map(Ground::each).filter(rests).collect()
}

/// Whether the words of a rule mean this kind of event, or this answer.
fn is(of: &str, kind: &str, answer: Option<(&str, &str)>) -> bool {
    match answer {
        None => of == kind,
        Some((request, answer)) => {
            of.strip_prefix(request).and_then(|rest| rest.strip_prefix(' ')) == Some(answer)
        }
    }
}

/// Whether a setting has that value then: `resource.check=token`.
fn holds(run: &Run, condition: &str, id: EventId) -> bool {
    condition.split_once('=').is_some_and(|(key, value)| run.setting(key, id) == value)
}

/// What was asked and what is answered, where the event is an answer on its way or come; of a refusal,
/// what is refused; of what nobody asked for, `send` and its name.
fn answer<'r>(run: &'r Run, event: &Event<Testimony>) -> Option<(&'r str, &'r str)> {
    match event.note() {
        Some(Testimony::Refuse(_, _, ask)) => return Some(("refuse", asked(*ask))),
        Some(Testimony::Decline(_, _, ask)) => return Some(("decline", asked(*ask))),
        _ => {}
    }
    let (What::Send(message, None) | What::Deliver(message)) = event.what else { return None };
    let answer = run.record.message(message);
    let asked = |m: &&MessageInfo<Body>| {
        (m.from, m.to, m.conn) == (answer.to, answer.from, answer.conn)
            && m.body.request == answer.body.request
    };
    let before = run.record.messages.iter().take(message.0 as usize);
    let request = before.rev().find(asked).filter(|_| answer.body.request > 0);
    let request = request.map_or("send", |request| request.body.name);
    Some((request, answer.body.name))
}
