//! A run in miniature: the strip under the scrubber and on the home page.

use super::draw::{filled, level, pen, through};
use super::paint::{Dash, Fill, Ink, Pen, Primitive};
use super::palette::Role;
use super::picture::{Area, Point};
use super::several::Kept;
use super::signs::{Kind, signs};
use super::story::{Bar, Story};
use crate::judge::{Finding, IntervalKind};
use crate::run::{NodeKind, Run};
use crate::sim::Micros;

/// The height of the row of marks under the bars.
const MARKS: i32 = 12;

/// The height of the strip of one of several servers.
const STRIP: i32 = 2;

/// Bars and signs that stand closer than this look like one.
const CLOSE: i32 = 3;

/// Where a moment lies in a miniature of that width.
pub fn miniature_x(run: &Run, width: i32, at: Micros) -> i32 {
    let end = u128::from(run.end.0.max(1));
    (u128::from(at.0.min(run.end.0)) * width.max(0) as u128 / end) as i32
}

/// Belief and truth of each client over time, from left to right, the overlaps behind them, and
/// under them the pauses, the writes and the harm. Each with the moment before which it would give away
/// what nobody has seen; what is cut off where the present is comes with the very beginning.
pub fn miniature(run: &Run, width: i32, height: i32) -> Vec<(Micros, Primitive)> {
    let story = Story::of(run);
    let x = |at: Micros| miniature_x(run, width, at);
    let across = |from: Micros, to: Micros, top: i32, bottom: i32| {
        let left = x(from);
        Area { left, top, right: x(to).max(left + 2), bottom }
    };
    let clients = (run.names().of_kind(NodeKind::Client).count() as i32).max(1);
    let strips = strips(run, &story);
    let below = if strips.is_empty() { 0 } else { STRIP * strips.len() as i32 + 1 };
    let room = (height - MARKS - below).max(2 * clients);
    let row = (room / clients).min(16);
    let thick = (row * 5 / 9).clamp(1, 8);
    let mut drawn = Vec::new();
    for finding in &run.judgement.findings {
        if let Finding::Overlap { from, to, .. } = finding {
            let area = across(*from, *to, 0, row * clients);
            drawn.push(filled(&area, None, Fill::Tint(Role::Danger), 0));
            let edge = pen(Role::Danger, 10, Dash::Dotted);
            drawn.extend([area.left, area.right].map(|x| Primitive::Line {
                from: Point { x, y: area.top },
                to: Point { x, y: area.bottom },
                pen: edge,
            }));
        }
    }
    for (bar, left, right) in joined(&story.bars, x) {
        let top = row * i32::from(bar.client.0);
        let across = |top, bottom| Area { left, top, right, bottom };
        match bar.kind {
            IntervalKind::Belief => {
                let role = if bar.stale { Role::Stale } else { Role::Hold };
                let area = across(top, top + thick);
                drawn.push(filled(&area, None, Fill::Ground, 0));
                drawn.push(filled(&area, Some(pen(role, 10, Dash::Solid)), Fill::Hatch(role), 0));
            }
            IntervalKind::Truth => {
                let area = across(top + thick + 1, top + thick + 1 + row / 4);
                drawn.push(filled(&area, None, Fill::Solid(Role::Hold), 0));
            }
            IntervalKind::Promise => {}
        }
    }
    for section in &story.sections {
        let top = row * i32::from(section.node.0);
        let area = across(section.from, section.to, top + 1, top + thick);
        drawn.push(filled(&area, Some(pen(Role::Ink, 10, Dash::Solid)), Fill::Ground, 0));
    }
    drawn.extend(striped(&strips, row * clients + 1, x));
    let y = height - MARKS / 2;
    drawn.push(level(0, width, y, Pen { ink: Ink::Hairline, tenths: 20, dash: Dash::Solid }));
    let mut drawn: Vec<_> = drawn.into_iter().map(|part| (Micros::ZERO, part)).collect();
    drawn.extend(marks(run, &story, width, y));
    drawn
}

/// The pauses and the signs, each from its own moment on.
fn marks(run: &Run, story: &Story, width: i32, y: i32) -> Vec<(Micros, Primitive)> {
    let x = |at: Micros| miniature_x(run, width, at);
    let mut drawn = Vec::new();
    for pause in &story.pauses {
        let area = Area {
            left: x(pause.from),
            top: y - 1,
            right: x(pause.to).max(x(pause.from) + 2),
            bottom: y + 1,
        };
        let at = Point { x: x(pause.from).clamp(4, (width - 4).max(4)), y };
        let [left, right] = pause_sign(at);
        let parts = [filled(&area, None, Fill::Solid(Role::Muted), 0), left, right];
        drawn.extend(parts.map(|part| (pause.from, part)));
    }
    let mut last: Vec<(Kind, Role, i32)> = Vec::new();
    for sign in signs(run) {
        let at = Point { x: x(sign.at).clamp(6, (width - 6).max(6)), y };
        let hidden = |l: &&mut (Kind, Role, i32)| l.0 == sign.kind && l.1 == sign.role;
        match last.iter_mut().find(hidden) {
            Some(same) if at.x - same.2 < CLOSE => continue,
            Some(same) => same.2 = at.x,
            None => last.push((sign.kind, sign.role, at.x)),
        }
        drawn.extend(mark(sign.kind, sign.role, at).map(|part| (sign.at, part)));
    }
    drawn
}

/// What each of several servers has, a thin strip each.
fn strips<'s>(run: &Run, story: &'s Story) -> Vec<Vec<&'s Kept>> {
    if story.kept.is_empty() {
        return Vec::new();
    }
    let servers = run.names().of_kind(NodeKind::Service);
    servers.map(|node| story.kept.iter().filter(|kept| kept.node == node).collect()).collect()
}

/// The strips, from this height on.
fn striped(strips: &[Vec<&Kept>], top: i32, x: impl Fn(Micros) -> i32) -> Vec<Primitive> {
    let mut drawn = Vec::new();
    for (place, kept) in strips.iter().enumerate() {
        let top = top + STRIP * place as i32;
        drawn.extend(kept.iter().map(|kept| {
            let (left, bottom) = (x(kept.from), top + STRIP - 1);
            let area = Area { left, top, right: x(kept.to).max(left + 2), bottom };
            super::draw::kept(&area, kept.client.0, Role::Hold, false)
        }));
    }
    drawn
}

/// Bars with their edges. Those of one kind that nobody could tell apart become one, so that the
/// miniature of a long run stays as small as it looks.
fn joined(bars: &[Bar], x: impl Fn(Micros) -> i32) -> Vec<(&Bar, i32, i32)> {
    let mut out: Vec<(&Bar, i32, i32)> = Vec::new();
    for bar in bars {
        let (left, right) = (x(bar.from), x(bar.to).max(x(bar.from) + 2));
        let alike = |o: &&mut (&Bar, i32, i32)| {
            (o.0.client, o.0.kind, o.0.stale) == (bar.client, bar.kind, bar.stale)
        };
        match out.iter_mut().rev().find(alike) {
            Some(same) if left - same.2 < CLOSE => same.2 = same.2.max(right),
            _ => out.push((bar, left, right)),
        }
    }
    out
}

fn pause_sign(at: Point) -> [Primitive; 2] {
    let stroke = pen(Role::Muted, 15, Dash::Solid);
    [-2, 2].map(|dx| Primitive::Line {
        from: Point { x: at.x + dx, y: at.y - 4 },
        to: Point { x: at.x + dx, y: at.y + 4 },
        pen: stroke,
    })
}

/// A sign, small: told apart by its outline as well as by its colour.
fn mark(kind: Kind, role: Role, at: Point) -> Option<Primitive> {
    let thin = Some(pen(role, 15, Dash::Solid));
    let shaped = |points: &[(i32, i32)], pen: Option<Pen>, fill: Fill| {
        Some(Primitive::Path { data: through(at, points, true), pen, fill })
    };
    match kind {
        Kind::Accepted => {
            shaped(&[(-30, -30), (30, -30), (30, 30), (-30, 30)], None, Fill::Solid(role))
        }
        Kind::StaleAccepted | Kind::Duplicate => {
            shaped(&[(-30, -30), (30, -30), (30, 30), (-30, 30)], thin, Fill::Ground)
        }
        Kind::Rejected => {
            let octagon = [
                (-20, -50),
                (20, -50),
                (50, -20),
                (50, 20),
                (20, 50),
                (-20, 50),
                (-50, 20),
                (-50, -20),
            ];
            shaped(&octagon, thin, Fill::Ground)
        }
        Kind::Corruption | Kind::Torn => {
            let star =
                [(0, -60), (18, -18), (60, 0), (18, 18), (0, 60), (-18, 18), (-60, 0), (-18, -18)];
            shaped(&star, None, Fill::Solid(role))
        }
        Kind::Crash => {
            let bolt = [(10, -60), (-30, 8), (-3, 8), (-14, 60), (32, -14), (3, -14)];
            shaped(&bolt, None, Fill::Solid(role))
        }
        Kind::Expired => shaped(&[(-30, -40), (30, -40), (-30, 40), (30, 40)], thin, Fill::Ground),
        Kind::Restart | Kind::Notice | Kind::Clock | Kind::Yes | Kind::No | Kind::Bare => None,
    }
}
