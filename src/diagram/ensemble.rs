//! Servers of which one leads: what they say about a change in one small figure, who leads when, and
//! how long they had not heard of a session that ends.

use super::labels::{Face, Line, Want, blocks};
use super::layout::Composer;
use super::palette::Role;
use super::picture::{Area, Point, Shape};
use super::queue::BURST;
use super::words::short;
use crate::judge::{Standing, Testimony, Token};
use crate::narrate;
use crate::run::Run;
use crate::sim::{EventId, Micros, MsgId, ProcId, Set, Table, What};

/// What a leader and the others say about a change: its proposal, their words that it is logged, and its
/// word that it is decided.
#[derive(Clone, Debug)]
pub(super) struct Round {
    pub leader: ProcId,
    /// The first of the messages, whose mark shows all of them; and the others.
    pub event: EventId,
    pub others: Vec<EventId>,
    /// From whom to whom, and when it was sent and arrived.
    pub legs: Vec<(ProcId, ProcId, Micros, Micros)>,
    /// When words arrived, and whose makes the majority.
    words: Vec<(MsgId, Micros)>,
    decides: Option<Micros>,
}

/// A majority has a change.
#[derive(Clone, Debug)]
pub(super) struct Decision {
    pub event: EventId,
    pub at: Micros,
    /// How many have it, of how many.
    pub have: [u32; 2],
}

/// What a server is to the others, from one moment on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stand {
    pub node: ProcId,
    pub at: Micros,
    pub standing: Standing,
}

/// A session of which nothing was heard for too long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lapse {
    pub event: EventId,
    pub node: ProcId,
    pub client: ProcId,
    pub which: u16,
    pub heard: Micros,
    /// From when on it was too long.
    pub due: Micros,
    pub at: Micros,
}

/// When messages are sent and arrive that go their way undisturbed.
struct Ways<'r> {
    run: &'r Run,
    held: Set<MsgId>,
    slow: Micros,
}

impl<'r> Ways<'r> {
    fn of(run: &'r Run, slow: Micros) -> Ways<'r> {
        let held = run.record.events.iter().filter_map(|event| match event.what {
            What::Hold(id) => Some(id),
            _ => None,
        });
        Ways { run, held: held.collect(), slow }
    }

    fn quick(&self, id: MsgId) -> Option<(Micros, Micros)> {
        let info = self.run.record.message(id);
        let at = |event: EventId| self.run.record.event(event).at;
        let (sent, arrived) = (at(info.sent), at(info.delivered?));
        let undisturbed = info.copy_of.is_none() && !self.held.contains(&id);
        (undisturbed && arrived.since(sent) <= self.slow).then_some((sent, arrived))
    }
}

/// Messages that say only that their sender is there, and their answers: no picture has room for them,
/// unless something happens to them.
pub(super) fn beats(run: &Run, slow: Micros) -> Set<MsgId> {
    let names = run.names().traffic.beats;
    let mut beats = Set::new();
    if names.is_empty() {
        return beats;
    }
    let ways = Ways::of(run, slow);
    let mut asked: Set<(ProcId, ProcId, u64)> = Set::new();
    for (index, info) in run.record.messages.iter().enumerate() {
        let (id, body) = (MsgId(index as u32), &info.body);
        let asks = names.contains(&body.name);
        let answers = asked.contains(&(info.to, info.from, body.request));
        // What servers say of themselves to one another is no more when it is late.
        let member = |node| run.names().member(node).is_some();
        let among = member(info.from) && member(info.to);
        if !(asks || answers) || !among && ways.quick(id).is_none() {
            continue;
        }
        if asks && body.request != 0 {
            asked.insert((info.from, info.to, body.request));
        }
        beats.insert(id);
    }
    beats
}

/// What is still on its way to a client whose program has ended in good order: it misses nothing.
pub(super) fn late(run: &Run) -> Set<MsgId> {
    let mut ends: Table<ProcId, EventId> = Table::new();
    for (index, event) in run.record.events.iter().enumerate() {
        if let What::End(0) = event.what {
            ends.insert(event.node, EventId(index as u32));
        }
    }
    let messages = run.record.messages.iter().enumerate().filter(|_| run.names().led());
    let late = messages.filter(|(_, info)| {
        let ended = ends.get(&info.to).zip(info.lost);
        info.delivered.is_none() && ended.is_some_and(|(end, lost)| *end < lost)
    });
    late.map(|(index, _)| MsgId(index as u32)).collect()
}

/// What the servers say about each change, and which messages that are.
pub(super) fn rounds(run: &Run, slow: Micros) -> (Vec<Round>, Vec<Decision>, Set<MsgId>) {
    let (mut rounds, mut decisions, mut messages) = (Vec::<Round>::new(), Vec::new(), Set::new());
    let Some(names) = run.names().traffic.round.filter(|_| run.names().led()) else {
        return (rounds, decisions, messages);
    };
    let ways = Ways::of(run, slow);
    let mut open: Table<(ProcId, Token), usize> = Table::new();
    for (index, info) in run.record.messages.iter().enumerate() {
        let id = MsgId(index as u32);
        let part = names.iter().position(|name| *name == info.body.name);
        let (Some(part), Some(token)) = (part, info.body.token) else { continue };
        let Some((sent, arrived)) = ways.quick(id) else { continue };
        let leader = if part == 1 { info.to } else { info.from };
        let leg = (info.from, info.to, sent, arrived);
        match open.get(&(leader, token)).and_then(|place| rounds.get_mut(*place)) {
            Some(round) => {
                round.legs.push(leg);
                round.others.push(info.sent);
                if part == 1 {
                    round.words.push((id, arrived));
                }
            }
            None if part == 0 => {
                open.insert((leader, token), rounds.len());
                let (event, others, words) = (info.sent, Vec::new(), Vec::new());
                let legs = vec![leg];
                rounds.push(Round { leader, event, others, legs, words, decides: None });
            }
            None => continue,
        }
        messages.insert(id);
    }
    for (index, event) in run.record.events.iter().enumerate() {
        let Some(Testimony::Decide(token, ballot)) = event.note() else { continue };
        let [yes, _, of] = ballot.counts();
        let (id, at) = (EventId(index as u32), event.at);
        decisions.push(Decision { event: id, at, have: [yes, of] });
        let place = open.get(&(event.node, *token)).copied();
        if let Some(round) = place.and_then(|place| rounds.get_mut(place)) {
            round.decides = Some(at);
        }
    }
    (rounds, decisions, messages)
}

/// What each server is to the others, in the order of time.
pub(super) fn stands(run: &Run) -> Vec<Stand> {
    let stands = run.record.events.iter().filter_map(|event| {
        let standing = match (event.note(), &event.what) {
            (Some(Testimony::Stand(standing)), _) => *standing,
            // Whoever is dead leads nobody.
            (_, What::Crash(_)) => Standing::Seeks,
            _ => return None,
        };
        Some(Stand { node: event.node, at: event.at, standing })
    });
    stands.collect()
}

/// The sessions that ended because nothing was heard of them.
pub(super) fn lapses(run: &Run) -> Vec<Lapse> {
    let events = run.record.events.iter().enumerate();
    let lapses = events.filter_map(|(index, event)| match event.note() {
        Some(Testimony::Lapse { client, which, heard, span, .. }) => Some(Lapse {
            which: *which,
            event: EventId(index as u32),
            node: event.node,
            client: *client,
            heard: *heard,
            due: heard.plus(*span).min(event.at),
            at: event.at,
        }),
        _ => None,
    });
    lapses.collect()
}

/// `A’s session`, and which of them where it has had several before an event.
pub(super) fn session(run: &Run, client: ProcId, which: u16, event: EventId) -> String {
    let who = short(run, client);
    let before = event.0.checked_sub(1).map(EventId);
    if which > 1 || before.is_some_and(|last| run.has_had_two_sessions(client, last)) {
        return format!("{who}’s {} session", narrate::ordinal(which));
    }
    format!("{who}’s session")
}

/// The same of the session whose end was wanted last before an event.
pub(super) fn lapsed(run: &Run, client: ProcId, event: EventId) -> String {
    let mut before = run.record.events.iter().take(event.0 as usize).rev();
    let which = before.find_map(|event| match event.note() {
        Some(Testimony::Lapse { client: of, which, .. }) if *of == client => Some(*which),
        _ => None,
    });
    session(run, client, which.unwrap_or(1), event)
}

impl Composer<'_> {
    /// What is said about each change: thin lines out, back and out again.
    pub(super) fn rounds(&mut self) {
        for round in &self.story.rounds {
            let point = |node: ProcId, at: Micros| Point { x: self.x(node), y: self.y(at) };
            let leg = |(from, to, sent, at): &(ProcId, ProcId, Micros, Micros)| {
                let (from, to) = (point(*from, *sent), point(*to, *at));
                [from, Point { y: to.y.max(from.y + 1), ..to }]
            };
            let legs: Vec<[Point; 2]> = round.legs.iter().map(leg).collect();
            let words = round.words.iter().map(|word| word.1);
            let words = words.filter(|at| Some(*at) != round.decides);
            let words: Vec<Point> = words.map(|at| point(round.leader, at)).collect();
            let decides = round.decides.map(|at| point(round.leader, at));
            let first = round.legs.iter().map(|leg| leg.2).min().unwrap_or_default();
            let until = round.legs.iter().map(|leg| leg.3).max();
            legs.iter().for_each(|leg| self.board.draw(leg[0], leg[1]));
            let shape = Shape::Round { legs, words, decides };
            self.push(round.event, Role::Muted, first, until, shape);
        }
        for (index, decision) in self.story.decisions.iter().enumerate() {
            let next = self.story.decisions.get(index + 1);
            // Of many that come close together, the last one's figure stands for all.
            if self.crowd && next.is_some_and(|next| next.at.since(decision.at) < BURST) {
                continue;
            }
            let [yes, of] = decision.have;
            let y = self.y(decision.at);
            let face =
                Face::Blocks(vec![vec![Line { text: format!("{yes} of {of}"), strong: true }]]);
            let spots = self.right_of(&face, y);
            let (event, from, role) = (decision.event, decision.at, Role::Ink);
            self.wants.push(Want { event, role, from, face, spots, turn: 6, y, needed: false });
        }
    }

    /// How long nothing was heard of a session that ends: a bar in its client's pattern, and dotted what
    /// came on top because its end is rounded up.
    pub(super) fn lapses(&mut self) {
        for lapse in &self.story.lapses {
            let x = self.x(lapse.node);
            let (top, due, bottom) = (self.y(lapse.heard), self.y(lapse.due), self.y(lapse.at));
            let bar = Area { left: x - 13, top, right: x - 6, bottom: due };
            let shape = Shape::Silent { area: bar, whose: lapse.client.0 };
            self.push(lapse.event, Role::Muted, lapse.heard, Some(lapse.due), shape);
            let tail = Area { left: x - 13, top: due, right: x - 6, bottom };
            if due < bottom {
                let shape = Shape::Waiting { area: tail };
                self.push(lapse.event, Role::Muted, lapse.due, Some(lapse.at), shape);
            }
            self.board.block(Area { bottom, ..bar });
            let who = session(self.run, lapse.client, lapse.which, lapse.event);
            let lasts = narrate::span(lapse.due.since(lapse.heard));
            let over = narrate::span(lapse.at.since(lapse.due));
            let words = [
                vec![format!("{who}: {lasts} of silence, + {over}")],
                vec![format!("{who}:"), format!("silent {lasts}"), format!("+ {over}")],
            ];
            let face = blocks(&words, false);
            let spots = self.outside(&face, (due + bottom) / 2);
            let (event, from, role, y) = (lapse.event, lapse.at, Role::Muted, due);
            self.wants.push(Want { event, role, from, face, spots, turn: 5, y, needed: false });
        }
    }
}
