//! From time to height: room for busy instants, folds for idle ones, and the axis.

use super::lanes::tick;
use super::palette::Role;
use super::picture::{Anchor, Knot, Mark, Picture, Point, Shape, Words};
use super::story::Story;
use super::text::SIZE;
use crate::run::Run;
use crate::sim::{EventId, Micros, Set};

/// The least height between two moments at which something is drawn.
const HOP: i32 = 20;
/// The height of a second, where nothing needs more.
const SECOND: u64 = 40;
/// The height of a fold.
const FOLD: i32 = 64;

/// The knots of a run; `extra` is room that labels asked for after each moment.
pub(super) fn knots(story: &Story, top: i32, extra: &[i32]) -> Vec<Knot> {
    let mut knots: Vec<Knot> = Vec::with_capacity(story.moments.len());
    let mut folds = story.folds.iter().peekable();
    let mut y = top;
    for (index, at) in story.moments.iter().enumerate() {
        if let Some(before) = knots.last() {
            let folded = folds.next_if(|f| f.from == before.at).is_some();
            let linear = (at.since(before.at).0 * SECOND / 1_000_000) as i32;
            let room = index.checked_sub(1).and_then(|i| extra.get(i)).copied().unwrap_or(0);
            y += room + if folded { FOLD } else { linear.max(HOP) };
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
