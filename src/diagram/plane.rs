//! The plane of servers of which one leads: the queue with its numbers and who watches whom in it, the
//! clocks of sessions, and many clients in small boxes.

use super::palette::Role;
use super::picture::{Anchor, Area, Point, Shape, Words};
use super::queue::glances;
use super::text::{SIZE, fit};
use super::topology::{Plane, Spot};
use super::words::short;
use crate::judge::{IntervalKind, Standing, Testimony};
use crate::run::NodeKind;
use crate::sim::{EventId, Micros, ProcId};
use crate::systems::Fact;

/// A place in a queue: its box, and the room above it for who watches whom.
const WIDE: i32 = 34;
const HIGH: i32 = 34;
const ABOVE: i32 = 20;
/// What stands before the first place.
const LABEL: i32 = 46;
/// One of many clients.
const CELL: [i32; 2] = [38, 28];

/// A place in a queue as one server knows it.
struct Place {
    client: ProcId,
    number: i64,
    holds: bool,
}

impl Plane<'_> {
    /// What a server is to the others by now.
    pub(super) fn standing(&self, node: ProcId) -> Option<Standing> {
        let last = self.last.filter(|_| !self.world.is_down(node))?;
        let past = self.run.record.events.iter().take(last.0 as usize + 1).rev();
        past.filter(|event| event.node == node).find_map(|event| match event.note() {
            Some(Testimony::Stand(standing)) => Some(*standing),
            _ => None,
        })
    }

    /// The server that knows most: the one that leads, or the first that is there.
    fn leader(&self) -> Option<ProcId> {
        let servers = || self.run.names().of_kind(NodeKind::Service);
        let up = |node: &ProcId| !self.world.is_down(*node);
        let leads = |node: &ProcId| matches!(self.standing(*node), Some(Standing::Leads(_)));
        servers().filter(up).find(leads).or_else(|| servers().find(up))
    }

    /// Keeps room for the queue under the servers, where there ever is one; returns where the rest begins.
    pub(super) fn line(&mut self, above: i32, left: i32, right: i32) -> i32 {
        let events = self.run.record.events.iter();
        let most = events.filter_map(|event| match event.note() {
            Some(Testimony::Line(_, seats)) => Some(seats.len() as i32),
            _ => None,
        });
        let Some(most) = most.max() else { return above };
        let left = left + if right < 550 { 14 } else { 36 };
        let rows = (most + self.fitting(left, right) - 1) / self.fitting(left, right);
        let bottom = above + 14 + rows.max(1) * (HIGH + ABOVE);
        self.queue = Area { left, top: above + 14, right, bottom };
        bottom
    }

    fn fitting(&self, left: i32, right: i32) -> i32 {
        ((right - left - LABEL) / WIDE).max(1)
    }

    /// Where the n-th place of the queue stands.
    fn seat(&self, index: usize) -> Area {
        let fitting = self.fitting(self.queue.left, self.queue.right);
        let (row, column) = (index as i32 / fitting, index as i32 % fitting);
        let left = self.queue.left + LABEL + column * WIDE;
        let top = self.queue.top + row * (HIGH + ABOVE) + ABOVE;
        Area { left, top, right: left + WIDE - 4, bottom: top + HIGH }
    }

    /// The queue as it stands, and who watches whom in it.
    pub(super) fn seats(&mut self) {
        let (Some(server), true) = (self.leader(), self.queue != Area::default()) else { return };
        if self.last.is_none() {
            return;
        }
        let facts = self.world.facts(server);
        let places = facts.into_iter().filter_map(|fact| match fact {
            Fact::Seat { client, number, holds, .. } => Some(Place { client, number, holds }),
            _ => None,
        });
        let places: Vec<Place> = places.collect();
        let changed = self.previous(|_, what| {
            let note = match what {
                crate::sim::What::Note(note) | crate::sim::What::Send(_, Some(note)) => note,
                _ => return false,
            };
            matches!(note, Testimony::Line(..))
        });
        let at = Point { x: self.queue.left, y: self.queue.top + ABOVE + 22 };
        self.words(changed, Role::Muted, "queue", at, Anchor::Start);
        for (index, place) in places.iter().enumerate() {
            self.sit(changed, self.seat(index), place);
        }
        self.arcs(&places);
    }

    fn sit(&mut self, event: EventId, area: Area, place: &Place) {
        let middle = (area.left + area.right) / 2;
        let number = place.number.to_string();
        let number = fit(&number, WIDE - 6, SIZE, false);
        let at = Point { x: middle, y: area.top + 13 };
        let name = short(self.run, place.client);
        let name = fit(&name, WIDE - 8, SIZE, true);
        if place.holds {
            let lower = Area { top: area.top + 17, ..area };
            self.push(event, Role::Hold, Shape::Box { area });
            self.push(event, Role::Hold, Shape::Plaque { area: lower, text: name });
        } else {
            self.push(event, Role::Muted, Shape::Box { area });
            let (size, strong, mono, halo) = (SIZE, true, false, false);
            let (at, anchor) = (Point { x: middle, y: area.top + 30 }, Anchor::Middle);
            let words = Words { text: name, at, anchor, size, strong, mono, halo };
            self.push(event, Role::Ink, Shape::Words(words));
        }
        let (anchor, size, strong, mono, halo) = (Anchor::Middle, SIZE, false, false, false);
        let words = Words { text: number, at, anchor, size, strong, mono, halo };
        self.push(event, Role::Muted, Shape::Words(words));
    }

    /// Who watches whom, above the places; what has just fired is solid.
    fn arcs(&mut self, places: &[Place]) {
        let top = |node: ProcId| {
            let index = places.iter().position(|place| place.client == node)?;
            let area = self.seat(index);
            Some(Point { x: (area.left + area.right) / 2, y: area.top - 7 })
        };
        let whole = Point { x: self.queue.left + 16, y: self.queue.top + ABOVE + 6 };
        let Some(last) = self.last else { return };
        let now = self.world.now();
        let mut arcs = Vec::new();
        for glance in glances(self.run) {
            let fired = glance.fired.filter(|fired| fired.0 <= last);
            if glance.event > last || fired.is_some_and(|fired| fired.2 < now) {
                continue;
            }
            let Some(from) = top(glance.watcher) else { continue };
            let to = match glance.of {
                Some(of) => top(of),
                None => Some(whole),
            };
            // Whose place is gone already has none to point to.
            let to = to.unwrap_or(Point { x: whole.x + 24, y: from.y });
            let event = fired.map_or(glance.event, |fired| fired.0);
            arcs.push((event, from, to, fired.is_some()));
        }
        for (event, from, to, fired) in arcs {
            let role = if fired { Role::Ink } else { Role::Muted };
            let ends = vec![[from, to]];
            self.push(event, role, Shape::Watch { ends, fired });
        }
    }

    /// What is left of a client's session as the leader counts it, in the corner of its box.
    pub(super) fn session(&mut self, node: ProcId, area: Area) {
        if self.kind(node) != NodeKind::Client || self.last.is_none() {
            return;
        }
        let Some(server) = self.leader() else { return };
        // Of several, the one that the client has now.
        let found = self.world.facts(server).into_iter().filter_map(|fact| match fact {
            Fact::Session { client, which, until, span, rounded } if client == node => {
                Some((which, until, span, rounded))
            }
            _ => None,
        });
        let found = found.max_by_key(|session| session.0);
        let Some((_, until, span, rounded)) = found else { return };
        let now = self.world.now();
        let whole = u128::from(span.0.saturating_add(rounded.0).max(1));
        let share = |left: Micros| (u128::from(left.0) * 1_000 / whole).min(1_000) as u16;
        let left = until.map(|until| {
            let left = until.since(now);
            let up = left.min(rounded);
            [share(left.since(up)), share(up)]
        });
        let event = self.previous(|n, _| n == node);
        let at = Point { x: area.right - 13, y: area.top + 14 };
        self.push(event, Role::Hold, Shape::Session { at, left });
    }

    /// Gives each of many clients a small box; returns how far down they reach.
    pub(super) fn cells(&mut self, clients: &[ProcId], left: i32, wide: i32) -> i32 {
        let [cell, high] = CELL;
        let each = (wide / cell).max(1);
        let mut reach = 0;
        for (index, node) in clients.iter().copied().enumerate() {
            let (row, column) = (index as i32 / each, index as i32 % each);
            let (left, top) = (left + column * cell, 10 + row * high);
            let area = Area { left, top, right: left + cell - 4, bottom: top + high - 4 };
            let label = self.run.names().node(node).label.clone();
            self.out.spots.push(Spot { node, area, label, says: String::new() });
            reach = area.bottom;
        }
        reach + 10
    }

    /// One of many clients: its name, and what it believes and the service says; returns what is said of
    /// it beside that.
    pub(super) fn cell(&mut self, node: ProcId, area: Area, event: EventId) -> &'static str {
        let name = fit(&short(self.run, node), CELL[0] - 18, SIZE, true);
        let at = Point { x: area.right - 5, y: area.top + 16 };
        let (anchor, size, strong, mono, halo) = (Anchor::End, SIZE, false, false, false);
        let words = Words { text: name, at, anchor, size, strong, mono, halo };
        self.push(event, Role::Ink, Shape::Words(words));
        let bar = |left: i32| Area {
            left: area.left + left,
            top: area.top + 4,
            right: area.left + left + 5,
            bottom: area.bottom - 4,
        };
        let role = self.role(node);
        let belief = self.open(IntervalKind::Belief, node).map(|i| i.began);
        let truth = self.open(IntervalKind::Truth, node).map(|i| i.began);
        if let Some(event) = belief {
            self.push(event, role, Shape::Belief { area: bar(4) });
        }
        if let Some(event) = truth {
            self.push(event, Role::Hold, Shape::Truth { area: bar(11) });
        }
        if self.world.is_down(node) { ", down" } else { "" }
    }
}
