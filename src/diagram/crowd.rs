//! Many clients: their lanes move close together under one head, and their bars become slim.

use super::labels::{Spots, Want, single};
use super::lanes::{BARS, COLUMN};
use super::layout::Composer;
use super::palette::Role;
use super::picture::{Point, Saying, Shape};
use super::queue::{BURST, Woken};
use super::story::{End, Flight, Story};
use super::text::{SIZE, fit, width};
use super::words::short;
use crate::judge::Testimony;
use crate::run::{NodeKind, Run};
use crate::sim::{EventId, Micros, ProcId, Set, Table};

/// More clients than this are a crowd.
const CROWD: usize = 8;

/// How far the parts of a client's bars lie to the left of its lifeline.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gauge {
    /// The belief's edges.
    pub belief: [i32; 2],
    /// The truth's edges.
    pub truth: [i32; 2],
    /// The edges of a flat cap.
    pub cap: [i32; 2],
    /// How far all of it reaches.
    pub reach: i32,
    /// How much further each more column does.
    pub column: i32,
}

impl Gauge {
    /// That of a run.
    pub fn of(run: &Run) -> Gauge {
        if is_crowd(run) {
            Gauge { belief: [13, 8], truth: [7, 3], cap: [14, 2], reach: 13, column: 12 }
        } else {
            let (belief, truth, cap) = ([BARS, 21], [17, 7], [34, 5]);
            Gauge { belief, truth, cap, reach: BARS, column: COLUMN }
        }
    }
}

/// Whether there are so many clients that their lanes stand close together.
pub(super) fn is_crowd(run: &Run) -> bool {
    run.names().of_kind(NodeKind::Client).count() > CROWD
}

/// The nearest and the furthest that two lanes of a crowd stand apart.
pub(super) const NARROW: [i32; 2] = [19, 44];

/// What stands above the lanes of a crowd.
pub(super) fn label(run: &Run) -> String {
    format!("{} clients", run.names().of_kind(NodeKind::Client).count())
}

/// What stands beside it: the servers, where each change says how many it has woken, are seldom in sight with the
/// first of a crowd.
pub(super) fn sayings(story: &Story) -> Vec<Saying> {
    let told = |woken: &Woken| Saying {
        event: woken.event,
        from: woken.at,
        text: format!("{} woken so far", woken.all),
    };
    story.woken.iter().map(told).collect()
}

/// What tells one of a crowd apart.
pub(super) fn name(run: &Run, node: ProcId, most: i32) -> String {
    let name = short(run, node);
    if width(&name, SIZE, false, false) <= most + 2 { name } else { fit(&name, most, SIZE, false) }
}

/// What many say to one server in one instant or one burst, or it to them.
#[derive(Clone, Debug)]
pub(super) struct Many {
    /// The first of these sendings, whose mark shows all of them.
    pub event: EventId,
    /// The others.
    pub others: Vec<EventId>,
    /// From whom to whom, and when each was sent and arrives.
    pub legs: Vec<(ProcId, ProcId, Micros, Micros)>,
    pub from: Micros,
    /// All were sent in one instant.
    pub at_once: bool,
    words: String,
    /// It wakes them.
    wakes: bool,
}

/// Where one of several servers leads: what they say among themselves is drawn lightly, and between lanes
/// that stand close no word has room. What many clients say or hear in one burst is taken together.
pub(super) fn gather(run: &Run, flights: &mut Vec<Flight>) -> Vec<Many> {
    let names = run.names();
    let mut all: Vec<Many> = Vec::new();
    if !names.led() {
        return all;
    }
    let crowd = is_crowd(run);
    let serves = |node: ProcId| names.node(node).kind == NodeKind::Service;
    let mut places: Table<(Micros, ProcId, bool, &str), usize> = Table::new();
    let mut taken = Set::new();
    for flight in flights.iter_mut() {
        let (asked, told) = (serves(flight.to), serves(flight.from));
        if asked && told {
            (flight.soft, flight.hushed) = (true, true);
            flight.words.clear();
        }
        if !crowd || asked == told {
            continue;
        }
        let wakes = matches!(run.record.event(flight.event).note(), Some(Testimony::Wake(..)));
        flight.soft |= !wakes;
        flight.spare = true;
        let (End::Arrives(at), None) = (flight.end, flight.held) else { continue };
        let (side, server) = if asked { (at, flight.to) } else { (flight.sent, flight.from) };
        // Whom one change wakes are seen to be woken together.
        let side = if wakes { side } else { Micros(side.0 / BURST.0) };
        let name = run.record.message(flight.id).body.name;
        let leg = (flight.from, flight.to, flight.sent, at);
        let place = places.entry((side, server, asked, name)).or_insert(all.len());
        match all.get_mut(*place) {
            Some(many) => {
                many.legs.push(leg);
                many.others.push(flight.event);
                many.at_once &= many.from == flight.sent;
                many.from = many.from.min(flight.sent);
            }
            None => all.push(Many {
                event: flight.event,
                others: Vec::new(),
                legs: vec![leg],
                from: flight.sent,
                at_once: true,
                words: name.into(),
                wakes,
            }),
        }
        taken.insert(flight.event);
    }
    let alone: Set<EventId> = all.iter().filter(|m| m.legs.len() < 2).map(|m| m.event).collect();
    all.retain(|many| many.legs.len() > 1);
    flights.retain(|flight| !taken.contains(&flight.event) || alone.contains(&flight.event));
    all
}

/// Of what servers say to one another across a cut, the first that is held stands for all that waits
/// behind it; returns the others, each with that one.
pub(super) fn behind(
    run: &Run,
    slow: Micros,
    flights: &mut Vec<Flight>,
) -> Vec<(EventId, EventId)> {
    let member = |node: ProcId| run.names().led() && run.names().member(node).is_some();
    let mut held: Table<(ProcId, ProcId), EventId> = Table::new();
    let mut waits = Vec::new();
    flights.retain(|flight| {
        let way = (flight.from, flight.to);
        if !(member(flight.from) && member(flight.to)) {
            return true;
        }
        if flight.held.is_some() {
            held.insert(way, flight.event);
            return true;
        }
        let late = match flight.end {
            End::Arrives(at) => at.since(flight.sent) > slow,
            _ => false,
        };
        let first = held.get(&way).copied().filter(|_| late);
        waits.extend(first.map(|first| (flight.event, first)));
        first.is_none()
    });
    waits
}

impl Composer<'_> {
    /// What many say or hear: thin lines, and one word with their number.
    pub(super) fn many(&mut self, many: &Many) {
        let point = |node: ProcId, at: Micros| Point { x: self.x(node), y: self.y(at) };
        let leg = |(from, to, sent, at): &(ProcId, ProcId, Micros, Micros)| {
            let (from, to) = (point(*from, *sent), point(*to, *at));
            [from, Point { y: to.y.max(from.y + 1), ..to }]
        };
        let legs: Vec<[Point; 2]> = many.legs.iter().map(leg).collect();
        let wide = |leg: &&[Point; 2]| (leg[0].x - leg[1].x).abs();
        let (Some(near), Some(far)) = (legs.iter().min_by_key(wide), legs.iter().max_by_key(wide))
        else {
            return;
        };
        self.board.draw(far[0], far[1]);
        self.board.draw(near[0], near[1]);
        let track = near.to_vec();
        let face = single(&format!("{} ×{}", many.words, many.legs.len()));
        let spots = Spots::Along { stretches: self.stretches(&track), track };
        let role = if many.wakes { Role::Ink } else { Role::Muted };
        let (event, from, y) = (many.event, many.from, near[0].y);
        self.wants.push(Want { event, role, from, face, spots, turn: 3, y, needed: false });
        let until = many.legs.iter().map(|leg| leg.3).max();
        self.push(event, role, from, until, Shape::Fan { legs });
    }
}
