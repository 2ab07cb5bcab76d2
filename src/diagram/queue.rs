//! The queue of a lock where clients keep it themselves: who stands in it, who watches whom, and whom a
//! change wakes.

use std::rc::Rc;

use super::labels::{Face, Line, Want};
use super::layout::Composer;
use super::palette::Role;
use super::picture::{Lane, Point, SEAT, Shape, seat_width};
use super::words::short;
use crate::judge::{LockId, Seat, Testimony};
use crate::run::{NodeKind, Run};
use crate::sim::{EventId, Micros, ProcId, Table};

/// How many places of a queue are drawn; of the others their number is said.
const DRAWN: usize = 6;
/// Whoever comes that soon after another comes with them.
pub(super) const BURST: Micros = Micros::from_millis(150);

/// The queue of a lock from one moment on.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    pub event: EventId,
    pub at: Micros,
    pub seats: Rc<[Seat]>,
}

/// A client will be told when another's place is gone, or when anything changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Glance {
    pub event: EventId,
    pub at: Micros,
    pub watcher: ProcId,
    pub server: ProcId,
    pub of: Option<ProcId>,
    /// The event in which it was told, when that left and when it came.
    pub fired: Option<(EventId, Micros, Micros)>,
}

/// How many a change has woken, and how many were woken until then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Woken {
    pub event: EventId,
    pub at: Micros,
    pub count: u32,
    pub all: u32,
}

/// The queues of all locks, in the order of time.
pub(super) fn turns(run: &Run) -> Vec<Turn> {
    let events = run.record.events.iter().enumerate();
    let turns = events.filter_map(|(index, event)| match event.note() {
        Some(Testimony::Line(_, seats)) => {
            let (event, at) = (EventId(index as u32), event.at);
            Some(Turn { event, at, seats: seats.clone() })
        }
        _ => None,
    });
    turns.collect()
}

/// Who watches whom, in the order of time.
pub(super) fn glances(run: &Run) -> Vec<Glance> {
    let mut open: Table<(LockId, ProcId), usize> = Table::new();
    let mut glances: Vec<Glance> = Vec::new();
    for (index, event) in run.record.events.iter().enumerate() {
        let (id, server, at) = (EventId(index as u32), event.node, event.at);
        match event.note() {
            Some(Testimony::Watched { lock, watcher, of }) => {
                open.insert((*lock, *watcher), glances.len());
                let (watcher, of, event) = (*watcher, *of, id);
                glances.push(Glance { event, at, watcher, server, of, fired: None });
            }
            Some(Testimony::Wake(lock, watcher)) => {
                let message = event.message().map(|m| run.record.message(m));
                let came = message.and_then(|m| m.delivered).map(|e| run.record.event(e).at);
                let place = open.remove(&(*lock, *watcher));
                if let (Some(glance), Some(came)) =
                    (place.and_then(|place| glances.get_mut(place)), came)
                {
                    glance.fired = Some((id, at, came));
                }
            }
            _ => {}
        }
    }
    glances
}

/// How many each change has woken: all that are told between two changes of a queue in which somebody
/// leaves it.
pub(super) fn woken(run: &Run) -> Vec<Woken> {
    let mut woken: Vec<Woken> = Vec::new();
    let (mut all, mut anew) = (0, true);
    let mut stood: Table<LockId, usize> = Table::new();
    for (index, event) in run.record.events.iter().enumerate() {
        let (id, at) = (EventId(index as u32), event.at);
        match event.note() {
            Some(Testimony::Line(lock, seats)) => {
                let before = stood.insert(*lock, seats.len());
                anew |= before.is_some_and(|before| seats.len() <= before);
            }
            Some(Testimony::Wake(..)) => {
                all += 1;
                match woken.last_mut().filter(|_| !anew) {
                    Some(last) => {
                        *last = Woken { event: id, at, count: last.count + 1, all };
                    }
                    None => woken.push(Woken { event: id, at, count: 1, all }),
                }
                anew = false;
            }
            _ => {}
        }
    }
    woken
}

/// Eyes that are drawn together.
#[derive(Default)]
struct Sight {
    first: Option<EventId>,
    /// From when on all of them are what they are.
    shown: Micros,
    ends: Vec<[Point; 2]>,
}

impl Sight {
    fn add(&mut self, event: EventId, at: Micros, ends: [Point; 2]) {
        self.first.get_or_insert(event);
        self.shown = self.shown.max(at);
        self.ends.push(ends);
    }
}

impl Composer<'_> {
    /// Who watches whom: a dashed line with an eye at the watcher's end; when it is told, the eye opens
    /// and the line is solid. What begins in one instant is one mark, of many clients what begins in one
    /// burst.
    pub(super) fn glances(&mut self) {
        let burst = |at: Micros| Micros(if self.crowd { at.0 / BURST.0 } else { at.0 });
        let mut marks: Table<(bool, Micros, ProcId, bool), Sight> = Table::new();
        for glance in &self.story.glances {
            let x = self.x(glance.watcher);
            let far = self.x(glance.of.unwrap_or(glance.server));
            let y = self.y(glance.at);
            let whole = glance.of.is_none();
            let key = (false, burst(glance.at), glance.server, whole);
            let ends = [Point { x, y }, Point { x: far, y }];
            marks.entry(key).or_default().add(glance.event, glance.at, ends);
            let Some((event, left, came)) = glance.fired else { continue };
            let from = Point { x, y: self.y(came) };
            // Of a whole queue the server tells, and its arrow is there already.
            let to = match glance.of {
                Some(_) => Point { x: far, y: self.y(left) },
                None => from,
            };
            let key = (true, burst(came), glance.server, whole);
            marks.entry(key).or_default().add(event, came, [from, to]);
        }
        for ((fired, ..), Sight { first, shown, ends }) in marks {
            let (Some(event), role) = (first, if fired { Role::Ink } else { Role::Muted }) else {
                continue;
            };
            ends.iter().for_each(|ends| self.board.block(Shape::eye(ends[0])));
            self.push(event, role, shown, None, Shape::Watch { ends, fired });
        }
    }

    /// How many places of a queue have room beside the servers.
    fn drawn(&self) -> usize {
        let names = self.run.names();
        let served = |lane: &&Lane| names.node(lane.node).kind == NodeKind::Service;
        let last = self.picture.lanes.iter().rfind(served);
        let next = last.and_then(|l| self.picture.lanes.get(usize::from(l.node.0) + 1));
        let (Some(last), Some(next)) = (last, next) else { return DRAWN };
        // A queue may stand across the next lifeline where words may.
        let room = match self.across() {
            true => self.picture.width - last.x - 14 - 8,
            false => next.x - self.reach(next.node) - last.x - 14 - 30,
        };
        let widest = self.picture.lanes.iter().filter(|l| l.kind == NodeKind::Client);
        let widest = widest.map(|l| seat_width(&short(self.run, l.node))).max().unwrap_or(SEAT);
        usize::try_from(room / widest).unwrap_or(1).clamp(2, DRAWN)
    }

    /// The queue as it stands after each change, and how many each change has woken. Of many clients that
    /// come one after the other, the last one's coming is enough.
    pub(super) fn turns(&mut self) {
        let most = self.drawn();
        for (index, turn) in self.story.turns.iter().enumerate() {
            let next = self.story.turns.get(index + 1);
            let grows = next.is_some_and(|next| {
                next.seats.len() > turn.seats.len() && next.at.since(turn.at) < BURST
            });
            if self.crowd && grows {
                continue;
            }
            let seat = |seat: &Seat| (short(self.run, seat.client), seat.holds);
            let all = turn.seats.len();
            let shown = if all <= most + 1 { all } else { most };
            let seats: Vec<(String, bool)> = turn.seats.iter().take(shown).map(seat).collect();
            let face = Face::Seats(seats, all - shown);
            let y = self.y(turn.at);
            let spots = self.in_column(&face, y + 18);
            let (event, from, role, needed) = (turn.event, turn.at, Role::Hold, !self.crowd);
            self.wants.push(Want { event, role, from, face, spots, turn: 1, y, needed });
        }
        let most = self.story.woken.iter().map(|w| w.count).max();
        for woken in &self.story.woken {
            let line = |text: String, strong| Line { text, strong };
            let first = line(format!("{} woken", woken.count), true);
            let second = line(format!("{} in all", woken.all), false);
            let face = Face::Blocks(vec![vec![first, second]]);
            let y = self.y(woken.at);
            let spots = self.in_column(&face, y + 24);
            let (event, from, role) = (woken.event, woken.at, Role::Ink);
            // One at a time is no news.
            let needed = most > Some(1);
            self.wants.push(Want { event, role, from, face, spots, turn: 2, y, needed });
        }
    }
}
