//! Fans: one question to several servers, and their answers. Each arrow is a mark of its own, and one
//! label speaks for all that say the same.

use super::routine::{Exchange, Routine};
use super::several::Tally;
use super::story::{End, Flight};
use crate::judge::{Ask, LockId, Testimony, Token};
use crate::run::{NodeKind, Run};
use crate::sim::{EventId, Micros, MsgId, ProcId, Table, What};

/// A question of a client to several servers, and their answers.
pub(super) struct Fan {
    client: ProcId,
    /// What it asks for, whether for the first time, and of which lock.
    ask: Option<(Ask, bool, LockId)>,
    /// When it was asked first.
    sent: Micros,
    name: &'static str,
    token: Option<Token>,
    out: Vec<MsgId>,
    back: Vec<MsgId>,
}

/// All fans of a run, in the order of time; none where no servers grant together.
pub(super) fn fans(run: &Run) -> Vec<Fan> {
    let names = run.names();
    let mut fans: Vec<Fan> = Vec::new();
    if !names.counted() {
        return fans;
    }
    let mut last: Table<ProcId, usize> = Table::new();
    let mut asked: Table<(ProcId, ProcId, u64), usize> = Table::new();
    for (index, info) in run.record.messages.iter().enumerate() {
        let (id, from, to) = (MsgId(index as u32), info.from, info.to);
        let (name, token, request) = (info.body.name, info.body.token, info.body.request);
        if info.copy_of.is_some() {
            continue;
        }
        if names.node(from).kind == NodeKind::Client && names.member(to).is_some() {
            let event = run.record.event(info.sent);
            let ask = match event.note() {
                Some(Testimony::Ask { lock, ask, first, .. }) => Some((*ask, *first, *lock)),
                _ => None,
            };
            let same = last.get(&from).copied().filter(|fan| {
                let fan = fans.get(*fan);
                ask.is_none() && fan.is_some_and(|f| (f.name, f.token) == (name, token))
            });
            let fan = same.unwrap_or(fans.len());
            if same.is_none() {
                let (client, sent, out, back) = (from, event.at, Vec::new(), Vec::new());
                fans.push(Fan { client, ask, sent, name, token, out, back });
            }
            last.insert(from, fan);
            asked.insert((from, to, request), fan);
            fans[fan].out.push(id);
        } else if names.member(from).is_some() {
            let fan = asked.get(&(to, from, request));
            if let Some(fan) = fan.and_then(|fan| fans.get_mut(*fan)) {
                fan.back.push(id);
            }
        }
    }
    fans
}

/// Tries that were refused and changed nothing, each but the first of its acquire: the question, what
/// its client deletes after it, and all answers.
pub(super) fn refused(run: &Run, fans: &[Fan]) -> Vec<Exchange> {
    let record = &run.record;
    // What servers said of each message: no, or that something is another's now.
    let mut said: Table<MsgId, (Vec<EventId>, bool)> = Table::new();
    let mut counts: Table<(ProcId, LockId, Micros), EventId> = Table::new();
    for (index, event) in record.events.iter().enumerate() {
        let id = EventId(index as u32);
        let cause = event.causes.iter().next().map(|cause| &record.event(cause).what);
        match (event.note(), cause) {
            (Some(Testimony::Decline(..)), Some(What::Deliver(message))) => {
                said.entry(*message).or_default().0.push(id);
            }
            (Some(Testimony::Keep { .. }), Some(What::Deliver(message))) => {
                said.entry(*message).or_default().1 = true;
            }
            (Some(Testimony::Count(lock, Ask::Acquire, ballot, ..)), _) if !ballot.carried() => {
                counts.insert((event.node, *lock, event.at), id);
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    for (index, fan) in fans.iter().enumerate() {
        let Some((Ask::Acquire, false, lock)) = fan.ask else { continue };
        let later = fans.get(index + 1..).unwrap_or_default();
        let clean = later.iter().find(|f| f.client == fan.client);
        let clean = clean.filter(|f| matches!(f.ask, Some((Ask::Release, ..))));
        let Some(clean) = clean else { continue };
        let Some(count) = counts.get(&(fan.client, lock, clean.sent)) else { continue };
        let parts = [&fan.out, &fan.back, &clean.out, &clean.back];
        let messages: Vec<MsgId> = parts.into_iter().flatten().copied().collect();
        let arrivals = messages.iter().map(|id| record.message(*id).delivered);
        let Some(arrivals) = arrivals.collect::<Option<Vec<EventId>>>() else { continue };
        if messages.len() != 4 * fan.out.len()
            || messages.iter().any(|id| said.get(id).is_some_and(|said| said.1))
        {
            continue;
        }
        let to = arrivals.iter().map(|id| record.event(*id).at).max().unwrap_or(clean.sent);
        let mut events = vec![*count];
        events
            .extend(messages.iter().filter_map(|id| said.get(id)).flat_map(|said| said.0.clone()));
        let (routine, from) = (Some(Routine::Refused), fan.sent);
        found.push(Exchange { messages, events, routine, from, to });
    }
    found
}

/// Lets one arrow of each fan speak for all. What takes longer than `slow` speaks for itself.
pub(super) fn unite(
    run: &Run,
    (fans, tallies): (&[Fan], &[Tally]),
    slow: Micros,
    flights: &mut [Flight],
) {
    let quick = |flight: &Flight| match flight.end {
        End::Arrives(at) => at.since(flight.sent) <= slow && flight.held.is_none(),
        _ => false,
    };
    for fan in fans {
        let drawn = |ids: &[MsgId], flights: &[Flight]| -> Vec<usize> {
            let place = |id: &MsgId| flights.binary_search_by_key(id, |flight| flight.id).ok();
            ids.iter().filter_map(place).collect()
        };
        let mut out = drawn(&fan.out, flights);
        let words = out.first().and_then(|i| flights.get(*i)).map(|f| f.words.clone());
        let said = (words.unwrap_or_default(), out.len());
        let sent = |index: &usize| flights.get(*index).map(|f| f.sent);
        if out.windows(2).all(|pair| sent(&pair[0]) == sent(&pair[1])) {
            out.reverse();
        }
        speak(flights, &out, fan.token, &[said]);
        let mut back = drawn(&fan.back, flights);
        back.retain(|index| flights.get(*index).is_some_and(quick));
        let soft = matches!(fan.ask, Some((Ask::Release, ..)));
        // What comes after its client has counted is no part of what it counted.
        let counted = tallies.iter().find(|t| (t.node, t.from) == (fan.client, fan.sent));
        let in_time = |index: &usize| match (flights.get(*index).map(|f| f.end), counted) {
            (Some(End::Arrives(at)), Some(tally)) => at <= tally.at,
            _ => true,
        };
        let (heard, late): (Vec<usize>, Vec<usize>) = back.into_iter().partition(in_time);
        for part in [heard, late] {
            answers(run, flights, &part, soft);
        }
    }
}

/// One arrow says what all these answers say.
fn answers(run: &Run, flights: &mut [Flight], arrows: &[usize], soft: bool) {
    let mut said: Vec<(String, usize)> = Vec::new();
    for index in arrows {
        let Some(flight) = flights.get_mut(*index) else { continue };
        flight.soft = soft;
        let name = run.record.message(flight.id).body.name;
        match said.iter_mut().find(|s| s.0 == name) {
            Some(same) => same.1 += 1,
            None => said.push((name.into(), 1)),
        }
    }
    speak(flights, arrows, None, &said);
}

/// The first of these arrows that arrives gets the words, the others none. Of a question that is the
/// one that goes furthest, or the first of those that go one after another, of the answers the one that comes from nearest: above it there is room.
fn speak(flights: &mut [Flight], arrows: &[usize], plate: Option<Token>, said: &[(String, usize)]) {
    let whole = |index: &&usize| {
        let flight = flights.get(**index);
        flight.is_some_and(|f| matches!(f.end, End::Arrives(_)) && f.held.is_none())
    };
    let Some(speaker) = arrows.iter().find(whole).or(arrows.first()).copied() else { return };
    let words: Vec<String> = said
        .iter()
        .map(|(words, count)| match count {
            1 => words.clone(),
            _ => format!("{words} ×{count}"),
        })
        .collect();
    let mut told = [false; 3];
    for index in arrows {
        if let Some(flight) = flights.get_mut(*index) {
            let speaks = *index == speaker;
            flight.words = if speaks { words.join(", ") } else { String::new() };
            flight.plate = plate.filter(|_| speaks);
            flight.many = arrows.len() > 1;
            let fate = match (flight.end, flight.held) {
                (End::Lost(..), _) => 0,
                (_, Some(_)) => 1,
                _ => 2,
            };
            flight.hushed = std::mem::replace(&mut told[fate], true);
        }
    }
}
