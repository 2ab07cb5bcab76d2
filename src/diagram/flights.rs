//! Messages and the cuts that they meet, laid out.

use super::labels::{Face, Spots, Want, blocks, single};
use super::layout::Composer;
use super::palette::Role;
use super::picture::{Fate, Point, Shape};
use super::story::{End, Flight, Severed};
use super::words::short;
use crate::narrate;
use crate::sim::{EventId, Micros, MsgId, ProcId, sort_by_key};

/// How far beside a lane of a group its cut stands, and how long the line is.
const NEAR: i32 = 22;
const STUB: i32 = 30;

/// How far from a lane a way ends that ends at none.
const CLEAR: i32 = 18;

impl Composer<'_> {
    /// Where a cut between two lanes is drawn.
    fn between(&self, a: ProcId, b: ProcId) -> i32 {
        let names = self.run.names();
        let both = [a, b].iter().all(|node| names.member(*node).is_some());
        if let Some(member) = self.member_of(a, b).filter(|_| !both) {
            // Beside the very lane: what stands close to it is not cut.
            return self.x(member) - NEAR;
        }
        let (low, high) = (a.min(b), a.max(b));
        let left = ProcId(low.0 + (high.0 - low.0).saturating_sub(1) / 2);
        let right = ProcId(left.0 + 1);
        (self.x(left) + self.x(right) - self.reach(right)) / 2 + 4
    }

    /// The one of the two that stands in a group.
    fn member_of(&self, a: ProcId, b: ProcId) -> Option<ProcId> {
        [a, b].into_iter().find(|node| self.run.names().member(*node).is_some())
    }

    pub(super) fn cut(&mut self, cut: &Severed) {
        let member = self.member_of(cut.from, cut.to);
        let both = [cut.from, cut.to].iter().all(|n| self.run.names().member(*n).is_some());
        let x = self.between(cut.from, cut.to);
        let (top, end) = (self.y(cut.at), self.y(cut.until));
        // Among lanes that stand close, the line would be a wall before all those behind it.
        let bottom = if member.is_some() { end.min(top + STUB) } else { end };
        let shape = Shape::Cut { x, top, bottom };
        let taken = self.board.is_free(&shape.bounds());
        self.board.block(shape.bounds());
        self.push(cut.event, Role::Ink, cut.at, Some(cut.until), shape);
        if let Some(event) = cut.healed {
            let at = Point { x, y: end };
            self.push(event, Role::Ink, cut.until, None, Shape::Heal { at });
        }
        let (face, needed) = match member {
            Some(_) if both => match self.cut_apart(cut) {
                Some(face) => (face, true),
                None => return,
            },
            Some(member) => match self.cut_off(cut, member) {
                Some(face) => (face, true),
                None => return,
            },
            None if !taken => return,
            None => {
                let arrow = if cut.both { "–" } else { "→" };
                let (from, to) = (short(self.run, cut.from), short(self.run, cut.to));
                let way = format!("{from}{arrow}{to}");
                let forms =
                    [vec![format!("{way} cut")], vec![way, "cut".into()], vec!["cut".into()]];
                (blocks(&forms, false), true)
            }
        };
        let spots =
            Spots::Beside { at: Point { x, y: top + 6 }, right: 10, left: 10, down: bottom };
        let spots = if member.is_some() { self.outside(&face, top + 6) } else { spots };
        let (event, role, from) = (cut.event, Role::Ink, cut.at);
        self.wants.push(Want { event, role, from, face, spots, turn: 5, y: top, needed });
    }

    /// Which servers are cut off from which in one instant, said once: `A cut from B, C`.
    fn cut_apart(&self, cut: &Severed) -> Option<Face> {
        let names = self.run.names();
        let pairs = self.story.cuts.iter().filter_map(|c| {
            let pair = names.member(c.from).zip(names.member(c.to))?;
            (c.at == cut.at).then_some((c.event, pair))
        });
        let (mut these, mut those, mut first) = (Vec::new(), Vec::new(), None);
        for (event, (one, other)) in pairs {
            first.get_or_insert(event);
            for (side, name) in [(&mut these, one), (&mut those, other)] {
                if !side.contains(&name) {
                    side.push(name);
                }
            }
        }
        if first != Some(cut.event) {
            return None;
        }
        let (these, those) = (these.join(", "), those.join(", "));
        let far = format!("cut from {those}");
        Some(blocks(&[vec![format!("{these} {far}")], vec![these, far]], false))
    }

    /// What is cut off from a client in one instant, said once: `D, E cut from A`.
    fn cut_off(&self, cut: &Severed, member: ProcId) -> Option<Face> {
        let client = if member == cut.from { cut.to } else { cut.from };
        let one_way = |c: &Severed| if c.both { 0 } else { 1 + u8::from(c.from == client) };
        let same = self.story.cuts.iter().filter(|c| {
            let of = self.member_of(c.from, c.to);
            let other = if of == Some(c.from) { c.to } else { c.from };
            of.is_some() && other == client && c.at == cut.at && one_way(c) == one_way(cut)
        });
        let all: Vec<ProcId> = same.filter_map(|c| self.member_of(c.from, c.to)).collect();
        if all.first() != Some(&member) {
            return None;
        }
        let names: Vec<&str> =
            all.iter().filter_map(|node| self.run.names().member(*node)).collect();
        let (names, client) = (names.join(", "), short(self.run, client));
        let way = match one_way(cut) {
            0 => format!("cut from {client}"),
            1 => format!("cannot reach {client}"),
            _ => format!("out of {client}’s reach"),
        };
        Some(blocks(&[vec![format!("{names} {way}")], vec![names, way]], false))
    }

    pub(super) fn flight(&mut self, flight: &Flight, signs: &[(MsgId, Point, i32)]) {
        let tail = Point { x: self.x(flight.from), y: self.y(flight.sent) };
        let far = self.x(flight.to);
        let half = self.off_lanes((tail.x + far) / 2);
        let mut track = vec![tail];
        if let Some((at, until, event)) = flight.held {
            // On the sender's side of the jagged line.
            let x = self.between(flight.from, flight.to);
            let clear = if self.member_of(flight.from, flight.to).is_some() { 0 } else { 11 };
            let x = x - clear * (far - tail.x).signum();
            let at_point = Point { x, y: self.y(at).max(tail.y + 1) };
            track.push(at_point);
            // Beside lanes that stand close, the line of one that never goes on would look like a lane.
            if clear > 0 || flight.end != End::Open {
                track.push(Point { x, y: self.y(until).max(at_point.y + 1) });
            }
            self.push(event, Role::Ink, at, Some(until), Shape::Held { at: at_point });
            self.board.block(Shape::Held { at: at_point }.bounds());
            if !flight.hushed {
                self.remark(event, at, at_point, "held", 6);
            }
        }
        let last = track.last().map_or(tail.y, |p| p.y);
        let (fate, arrives) = match flight.end {
            End::Arrives(at) => {
                track.push(self.head(flight, signs, Point { x: far, y: self.y(at).max(last + 1) }));
                (Fate::Arrives, Some(at))
            }
            End::Lost(at, at_peer) => {
                let y = self.y(at).max(last + 8);
                let x = if at_peer { far - 8 * (far - tail.x).signum() } else { half };
                track.push(Point { x, y });
                (Fate::Lost, Some(at))
            }
            End::Open => {
                if flight.held.is_none() {
                    let y = self.y(self.run.end).max(last + 8);
                    track.push(Point { x: half, y });
                }
                (Fate::Open, None)
            }
        };
        for leg in track.windows(2) {
            self.board.draw(leg[0], leg[1]);
        }
        self.flight_words(flight, &track, fate);
        let role = if flight.soft || fate == Fate::Lost { Role::Muted } else { Role::Ink };
        let (id, sent, soft) = (flight.id, flight.sent, flight.soft);
        let shape = Shape::Message { id, track, sent, arrives, fate, soft };
        self.push(flight.event, role, sent, arrives, shape);
    }

    /// A place on a way that no lane passes: what is lost on the way is not lost at somebody else's.
    fn off_lanes(&self, x: i32) -> i32 {
        let near = self.picture.lanes.iter().find(|lane| (lane.x - x).abs() < CLEAR);
        near.map_or(x, |lane| lane.x + CLEAR)
    }

    /// The end of an arrow: the lifeline, or the edge of the sign that it brings about.
    fn head(&self, flight: &Flight, signs: &[(MsgId, Point, i32)], point: Point) -> Point {
        match signs.binary_search_by_key(&flight.id, |s| s.0) {
            Ok(found) => {
                let (_, at, reach) = signs[found];
                let side = (self.x(flight.from) - at.x).signum();
                Point { x: at.x + side * reach, y: at.y }
            }
            Err(_) => point,
        }
    }

    /// Words beside a point that lies on no lane.
    fn remark(&mut self, event: EventId, from: Micros, at: Point, words: &str, turn: u8) {
        let face = single(words);
        let spots = Spots::Beside { at, right: 12, left: 12, down: 0 };
        let (role, y) = (Role::Muted, at.y);
        self.wants.push(Want { event, role, from, face, spots, turn, y, needed: true });
    }

    /// The stretches between lanes that a track crosses, those in its middle first.
    pub(super) fn stretches(&self, track: &[Point]) -> Vec<(i32, i32)> {
        let (Some(first), Some(last)) = (track.first(), track.last()) else { return Vec::new() };
        let (left, right) = (first.x.min(last.x), first.x.max(last.x));
        let lanes = self.picture.lanes.windows(2).zip(self.reaches.iter().skip(1));
        let crossed = lanes.filter(|(pair, _)| pair[0].x < right && pair[1].x > left);
        let mut stretches: Vec<(i32, i32)> = crossed
            .map(|(pair, reach)| {
                ((pair[0].x + 9).max(left + 9), (pair[1].x - reach - 3).min(right - 12))
            })
            .filter(|s| s.0 < s.1)
            .collect();
        if first.x > last.x {
            stretches.reverse();
        }
        if self.across() {
            // Words rather stand across a lifeline than not at all.
            stretches.insert(0, (left + 9, right - 12));
        }
        stretches
    }

    fn flight_words(&mut self, flight: &Flight, track: &[Point], fate: Fate) {
        // Near the receiver the lines of one sender are furthest apart in meaning, and near the
        // sender those of several senders are; the pass over the board decides.
        let mut stretches = self.stretches(track);
        let (event, from, y) = (flight.event, flight.sent, track.first().map_or(0, |p| p.y));
        if let Some(token) = flight.plate {
            let face = Face::Plate(narrate::figure(self.run.names(), token));
            let middle = (stretches.len().saturating_sub(1)) / 2;
            let mut order = stretches.clone();
            let place = |s: &(i32, i32)| stretches.iter().position(|o| o == s);
            sort_by_key(&mut order, |s| place(s).map(|i| i.abs_diff(middle)));
            let spots = Spots::Upon { track: track.to_vec(), stretches: order };
            self.wants.push(Want {
                event,
                role: Role::Ink,
                from,
                face,
                spots,
                turn: 4,
                y,
                needed: true,
            });
        }
        stretches.reverse();
        let role = if flight.soft { Role::Muted } else { Role::Ink };
        if !flight.words.is_empty() {
            let face = single(&flight.words);
            let spots = Spots::Along { track: track.to_vec(), stretches };
            let needed = !flight.soft && !flight.spare;
            let turn = match flight.many {
                // It speaks for all of them, and has but one place.
                true => 1,
                false if flight.soft => 6,
                false => 5,
            };
            self.wants.push(Want { event, role, from, face, spots, turn, y, needed });
        }
        if let (End::Arrives(at), None) = (flight.end, flight.held)
            && at.since(flight.sent) > self.slow
        {
            // Somebody held it: the arrow alone does not say that this took longer than others. Among
            // other arrows the words have to say which.
            let takes = format!("takes {}", narrate::span(at.since(flight.sent)));
            let what = match flight.words.as_str() {
                "" => self.run.record.message(flight.id).body.name,
                words => words,
            };
            let forms = [vec![format!("{what} {takes}")], vec![what.into(), takes]];
            let face = blocks(&forms, false);
            let stretches = self.stretches(track);
            let spots = Spots::Along { track: track.to_vec(), stretches };
            let (role, turn) = (Role::Muted, 6);
            self.wants.push(Want { event, role, from, face, spots, turn, y, needed: false });
        }
        if fate != Fate::Arrives
            && !flight.hushed
            && let Some(last) = track.last()
        {
            let words = if fate == Fate::Lost { "lost" } else { "on its way" };
            self.remark(event, self.picture.time_of(last.y), *last, words, 4);
        }
    }
}
