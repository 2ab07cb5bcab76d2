//! The queue of a lock where clients keep it themselves: who stands in it, who watches whom, and whom a
//! change wakes.

use std::rc::Rc;

use super::labels::{Face, Line, Want};
use super::layout::Composer;
use super::palette::Role;
use super::picture::{Point, Shape};
use super::words::short;
use crate::judge::{LockId, Seat, Testimony};
use crate::run::Run;
use crate::sim::{EventId, Micros, ProcId, Table};

/// How many places of a queue are drawn; of the others their number is said.
const DRAWN: usize = 6;

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

impl Composer<'_> {
    /// Who watches whom: a dashed line with an eye at the watcher's end; when it is told, the eye opens
    /// and the line is solid.
    pub(super) fn glances(&mut self) {
        for glance in &self.story.glances {
            let x = self.x(glance.watcher);
            let far = self.x(glance.of.unwrap_or(glance.server));
            let y = self.y(glance.at);
            let (from, to) = (Point { x, y }, Point { x: far, y });
            let shape = Shape::Watch { from, to, fired: false };
            self.board.block(Shape::eye(from));
            self.push(glance.event, Role::Muted, glance.at, None, shape);
            let Some((event, left, came)) = glance.fired else { continue };
            let from = Point { x, y: self.y(came) };
            // Of a whole queue the server tells, and its arrow is there already.
            let to = match glance.of {
                Some(_) => Point { x: far, y: self.y(left) },
                None => from,
            };
            self.board.block(Shape::eye(from));
            self.push(event, Role::Ink, came, None, Shape::Watch { from, to, fired: true });
        }
    }

    /// The queue as it stands after each change, and how many each change has woken.
    pub(super) fn turns(&mut self) {
        for turn in &self.story.turns {
            let seat = |seat: &Seat| (short(self.run, seat.client), seat.holds);
            let seats: Vec<(String, bool)> = turn.seats.iter().take(DRAWN).map(seat).collect();
            let face = Face::Seats(seats, turn.seats.len().saturating_sub(DRAWN));
            let y = self.y(turn.at);
            let spots = self.outside(&face, y + 10);
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
            let spots = self.outside(&face, y + 8);
            let (event, from, role) = (woken.event, woken.at, Role::Ink);
            // One at a time is no news.
            let needed = most > Some(1);
            self.wants.push(Want { event, role, from, face, spots, turn: 2, y, needed });
        }
    }
}
