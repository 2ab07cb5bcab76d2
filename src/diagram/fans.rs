//! Fans: one question to several servers, and their answers. Each arrow is a mark of its own, and one
//! label speaks for all that say the same.

use super::story::{End, Flight};
use crate::judge::{Ask, Testimony, Token};
use crate::run::{NodeKind, Run};
use crate::sim::{Micros, ProcId, Table};

/// The arrows of a question and of its answers.
struct Fan {
    /// What the question says, and the token that it carries.
    name: &'static str,
    token: Option<Token>,
    /// Its answers say nothing new.
    soft: bool,
    out: Vec<usize>,
    back: Vec<usize>,
}

/// Lets one arrow of each fan speak for all. What takes longer than `slow` speaks for itself.
pub(super) fn unite(run: &Run, slow: Micros, flights: &mut [Flight]) {
    let names = run.names();
    if names.group.is_none() {
        return;
    }
    let is_client = |node: ProcId| names.node(node).kind == NodeKind::Client;
    let mut fans: Vec<Fan> = Vec::new();
    let mut last: Table<ProcId, usize> = Table::new();
    let mut asked: Table<(ProcId, ProcId, u64), usize> = Table::new();
    for (index, flight) in flights.iter().enumerate() {
        let info = run.record.message(flight.id);
        if info.copy_of.is_some() {
            continue;
        }
        let (name, token) = (info.body.name, info.body.token);
        let quick = match flight.end {
            End::Arrives(at) => at.since(flight.sent) <= slow && flight.held.is_none(),
            _ => false,
        };
        if is_client(flight.from) && names.member(flight.to).is_some() {
            let note = run.record.event(flight.event).note();
            let same = last.get(&flight.from).copied().filter(|fan| {
                let fan = fans.get(*fan);
                note.is_none() && fan.is_some_and(|f| (f.name, f.token) == (name, token))
            });
            let fan = same.unwrap_or(fans.len());
            if same.is_none() {
                let soft = matches!(note, Some(Testimony::Ask { ask: Ask::Release, .. }));
                fans.push(Fan { name, token, soft, out: Vec::new(), back: Vec::new() });
            }
            last.insert(flight.from, fan);
            asked.insert((flight.from, flight.to, info.body.request), fan);
            fans[fan].out.push(index);
        } else if names.member(flight.from).is_some() && quick {
            let fan = asked.get(&(flight.to, flight.from, info.body.request));
            if let Some(fan) = fan.and_then(|fan| fans.get_mut(*fan)) {
                fan.back.push(index);
            }
        }
    }
    for fan in fans {
        let words = fan.out.first().and_then(|i| flights.get(*i)).map(|f| f.words.clone());
        let said = (words.unwrap_or_default(), fan.out.len());
        let sent = |index: &usize| flights.get(*index).map(|f| f.sent);
        let at_once = fan.out.windows(2).all(|pair| sent(&pair[0]) == sent(&pair[1]));
        let mut order = fan.out.clone();
        if at_once {
            order.reverse();
        }
        speak(flights, &order, fan.token, &[said]);
        let mut said: Vec<(String, usize)> = Vec::new();
        for index in &fan.back {
            let Some(flight) = flights.get_mut(*index) else { continue };
            flight.soft = fan.soft;
            let name = run.record.message(flight.id).body.name;
            match said.iter_mut().find(|s| s.0 == name) {
                Some(same) => same.1 += 1,
                None => said.push((name.into(), 1)),
            }
        }
        speak(flights, &fan.back, None, &said);
    }
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
