//! From time to height: room for busy instants, folds for idle ones, and the axis.

use super::lanes::tick;
use super::palette::Role;
use super::picture::{Anchor, Knot, Mark, Picture, Point, Shape, Words};
use super::story::Story;
use super::text::SIZE;
use crate::run::Run;
use crate::sim::{EventId, Micros, Set};

/// The height of a second, where nothing needs more.
const SECOND: u64 = 40;
/// The height of a fold.
const FOLD: i32 = 64;

/// A map between time and height that stays as it is while a hand moves an edge of the run along it.
///
/// What lies before the edge does not change with it, so it need not move either.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frozen {
    knots: Vec<Knot>,
}

impl Frozen {
    /// The map of a picture up to the edge at `edge`, and below that the one of `beyond`: a run in
    /// which the edge never comes.
    pub fn of(picture: &Picture, edge: Micros, beyond: &Run) -> Frozen {
        let mut kept: Vec<Knot> = picture.knots.iter().copied().filter(|k| k.at <= edge).collect();
        let story = Story::of(beyond);
        let own = knots(&story, 0, &[], None);
        // The end of that run says nothing: below the last thing that happens time runs evenly.
        let all = own.len().saturating_sub(1);
        let rest = own.partition_point(|k| k.at <= edge);
        let last = kept.last().copied().unwrap_or(Knot { at: Micros::ZERO, y: 0 });
        let mut before = rest.checked_sub(1).and_then(|i| own.get(i)).copied().unwrap_or(last);
        let mut y = last.y;
        for (index, knot) in own.iter().enumerate().take(all).skip(rest) {
            // The first of them counts from the edge, and not from whatever came before it there.
            let first = index == rest && knot.at.since(last.at) < knot.at.since(before.at);
            y += if first {
                linear(last.at, knot.at).max(story.least(last.at))
            } else {
                knot.y - before.y
            };
            kept.push(Knot { at: knot.at, y });
            before = *knot;
        }
        Frozen { knots: kept }
    }

    /// One map for two pictures: wherever one of them needs room, the other leaves it.
    pub fn both(one: &Picture, other: &Picture) -> Frozen {
        let moments: Set<Micros> = one.knots.iter().chain(&other.knots).map(|k| k.at).collect();
        let mut knots: Vec<Knot> = Vec::new();
        for at in moments.iter().copied() {
            let y = match knots.last() {
                None => one.y_of(at).max(other.y_of(at)),
                Some(last) => {
                    let room = |picture: &Picture| picture.y_of(at) - picture.y_of(last.at);
                    last.y + room(one).max(room(other))
                }
            };
            knots.push(Knot { at, y });
        }
        Frozen { knots }
    }

    /// The height of a moment.
    pub fn y_of(&self, at: Micros) -> i32 {
        match self.knots.last() {
            Some(last) if last.at < at => last.y + linear(last.at, at),
            _ => y_of(&self.knots, at).unwrap_or(0),
        }
    }

    /// The moment at a height.
    pub fn time_of(&self, y: i32) -> Micros {
        match self.knots.last() {
            Some(last) if last.y < y => {
                last.at.plus(Micros((y - last.y) as u64 * 1_000_000 / SECOND))
            }
            _ => time_of(&self.knots, y).unwrap_or_default(),
        }
    }
}

fn linear(from: Micros, to: Micros) -> i32 {
    (to.since(from).0 * SECOND / 1_000_000) as i32
}

/// The height at which a moment lies.
pub(super) fn y_of(knots: &[Knot], at: Micros) -> Option<i32> {
    let next = knots.partition_point(|k| k.at <= at);
    let before = next.checked_sub(1).and_then(|i| knots.get(i));
    let (before, after) = match (before, knots.get(next)) {
        (Some(before), Some(after)) => (before, after),
        (one, other) => return one.or(other).map(|k| k.y),
    };
    let span = i128::from(after.at.0 - before.at.0);
    let passed = i128::from(at.0 - before.at.0);
    Some(before.y + (i128::from(after.y - before.y) * passed / span.max(1)) as i32)
}

/// The first moment that lies at a height.
pub(super) fn time_of(knots: &[Knot], y: i32) -> Option<Micros> {
    let next = knots.partition_point(|k| k.y < y);
    let before = next.checked_sub(1).and_then(|i| knots.get(i));
    let (before, after) = match (before, knots.get(next)) {
        (Some(before), Some(after)) => (before, after),
        (one, other) => return one.or(other).map(|k| k.at),
    };
    let (rise, run) = (i128::from(after.y - before.y), i128::from(after.at.0 - before.at.0));
    let passed = (run * i128::from(y - before.y) + rise - 1) / rise.max(1);
    Some(Micros(before.at.0 + passed as u64))
}

/// The knots of a run; `extra` is room that labels asked for after each moment. Up to the moment
/// that comes with a frozen map, that one holds.
pub(super) fn knots(
    story: &Story,
    top: i32,
    extra: &[i32],
    frozen: Option<(&Frozen, Micros)>,
) -> Vec<Knot> {
    let mut knots: Vec<Knot> = Vec::with_capacity(story.moments.len());
    let mut folds = story.folds.iter().peekable();
    let mut y = top;
    for (index, at) in story.moments.iter().enumerate() {
        if let Some(before) = knots.last() {
            let folded = folds.next_if(|f| f.from == before.at).is_some();
            let room = index.checked_sub(1).and_then(|i| extra.get(i)).copied().unwrap_or(0);
            y += room
                + if folded { FOLD } else { linear(before.at, *at).max(story.least(before.at)) };
        }
        if let Some((map, _)) = frozen.filter(|f| *at <= f.1) {
            y = map.y_of(*at);
        }
        knots.push(Knot { at: *at, y });
    }
    knots
}

/// The axis: whole seconds first, finer moments where there is room, nothing inside of folds.
pub(super) fn axis(run: &Run, story: &Story, picture: &Picture, right: i32, marks: &mut Vec<Mark>) {
    let mut taken: Set<i32> = Set::new();
    let folded: Set<Micros> = story.folds.iter().map(|f| f.from).collect();
    for (step, distance) in [(10_000_000, 18), (1_000_000, 18), (500_000, 30), (100_000, 34)] {
        for pair in picture.knots.windows(2) {
            if folded.contains(&pair[0].at) {
                continue;
            }
            let first = pair[0].at.0.div_ceil(step) * step;
            let moments = (first..=pair[1].at.0).step_by(step as usize).map(Micros);
            for at in moments {
                let y = picture.y_of(at);
                if !taken.any_in(y - distance + 1..y + distance) {
                    taken.insert(y);
                    push(run, at, Point { x: right, y }, marks);
                }
            }
        }
    }
}

fn push(run: &Run, at: Micros, point: Point, marks: &mut Vec<Mark>) {
    let events = &run.record.events;
    let event = EventId(events.partition_point(|e| e.at <= at).saturating_sub(1) as u32);
    let words = Words {
        text: tick(at),
        at: Point { x: point.x - 8, y: point.y + 4 },
        anchor: Anchor::End,
        size: SIZE,
        strong: false,
        mono: true,
        halo: false,
    };
    let tick = Shape::Tick { left: point.x - 4, right: point.x, y: point.y };
    for shape in [Shape::Words(words), tick] {
        let bounds = shape.bounds();
        marks.push(Mark { event, role: Role::Muted, shape, from: at, until: None, bounds });
    }
}
