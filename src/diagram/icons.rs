//! The signs, each as paths around a point, in tenths of a pixel.

use super::draw::{filled, pen, through};
use super::paint::{Dash, Fill, Ink, Pen, Primitive, tenths};
use super::palette::Role;
use super::picture::{Area, Point, Shape, TICK};
use crate::judge::Ballot;
use crate::sim::Halt;

/// What draws a sign.
pub(super) fn icon(shape: &Shape, at: Point, role: Role) -> Vec<Primitive> {
    let thin = pen(role, 15, Dash::Solid);
    match shape {
        Shape::PauseSign { how, .. } => stopped(*how, at, role),
        Shape::ClockFace { .. } => {
            let hands: &[&[(i32, i32)]] = &[&[(0, -55), (0, 0), (38, 22)]];
            vec![disc(at, 85, thin), stroke(at, hands, pen(role, 17, Dash::Solid))]
        }
        Shape::Hourglass { .. } => {
            let glass: &[(i32, i32)] = &[(-35, -45), (35, -45), (-35, 45), (35, 45)];
            vec![
                disc(at, 85, thin),
                shaped(at, glass, Some(pen(role, 13, Dash::Solid)), Fill::None),
                shaped(at, &[(-24, 40), (24, 40), (0, 12)], None, Fill::Solid(role)),
            ]
        }
        Shape::Held { .. } => {
            let bars: &[&[(i32, i32)]] = &[&[(-60, 0), (60, 0)]];
            vec![disc(at, 45, thin), stroke(at, bars, pen(role, 20, Dash::Solid))]
        }
        Shape::Accepted { .. } => {
            vec![square(at, 8, None, Fill::Solid(role)), tick(at, Ink::Ground)]
        }
        Shape::StaleAccepted { .. } => {
            let frame = Some(pen(role, 20, Dash::Solid));
            vec![square(at, 8, frame, Fill::Ground), tick(at, Ink::Role(role))]
        }
        Shape::Duplicate { .. } => {
            let frame = Some(pen(role, 20, Dash::Solid));
            let (back, front) =
                (Point { x: at.x + 3, y: at.y - 3 }, Point { x: at.x - 3, y: at.y + 3 });
            let squares =
                [square(back, 7, frame, Fill::Ground), square(front, 7, frame, Fill::Ground)];
            [squares.to_vec(), vec![tick(front, Ink::Role(role))]].concat()
        }
        Shape::Rejected { .. } => rejected(at, role),
        Shape::Corruption { .. } => corruption(at, role),
        Shape::Torn { .. } => torn(at, role),
        Shape::Crash { .. } => {
            let bolt = [(20, -110), (-55, 15), (-5, 15), (-25, 110), (60, -25), (5, -25)];
            vec![shaped(at, &bolt, Some(pen(role, 10, Dash::Solid)), Fill::Solid(role))]
        }
        Shape::Restart { .. } => restart(at, role),
        Shape::Heal { .. } => vec![disc(at, 50, thin), stroke(at, &[&[(-25, 0), (25, 0)]], thin)],
        Shape::Ring { left, .. } => ring(at, *left, role),
        Shape::Session { left, .. } => session(at, *left, role),
        Shape::Ballot { ballot, .. } => boxes(*ballot, at, role),
        Shape::Yes { .. } => answer(at, Some(true), Role::Hold),
        Shape::No { .. } => answer(at, Some(false), role),
        Shape::Notice { .. } => {
            let diamond = [(0, -60), (60, 0), (0, 60), (-60, 0)];
            vec![shaped(at, &diamond, Some(thin), Fill::Ground)]
        }
        _ => Vec::new(),
    }
}

fn disc(at: Point, radius: i32, pen: Pen) -> Primitive {
    Primitive::Circle { at, tenths: radius, pen: Some(pen), fill: Fill::Ground }
}

fn shaped(at: Point, points: &[(i32, i32)], pen: Option<Pen>, fill: Fill) -> Primitive {
    Primitive::Path { data: through(at, points, true), pen, fill }
}

fn stroke(at: Point, lines: &[&[(i32, i32)]], pen: Pen) -> Primitive {
    let data: String = lines.iter().map(|line| through(at, line, false)).collect();
    Primitive::Path { data, pen: Some(pen), fill: Fill::None }
}

fn square(at: Point, half: i32, pen: Option<Pen>, fill: Fill) -> Primitive {
    let area =
        Area { left: at.x - half, top: at.y - half, right: at.x + half, bottom: at.y + half };
    filled(&area, pen, fill, 1)
}

fn tick(at: Point, ink: Ink) -> Primitive {
    let pen = Pen { ink, tenths: 20, dash: Dash::Solid };
    stroke(at, &[&[(-40, 0), (-12, 30), (42, -34)]], pen)
}

/// A stop sign with a shield and a slash.
fn rejected(at: Point, role: Role) -> Vec<Primitive> {
    let octagon = [
        (-50, -120),
        (50, -120),
        (120, -50),
        (120, 50),
        (50, 120),
        (-50, 120),
        (-120, 50),
        (-120, -50),
    ];
    let (x, y) = (at.x * 10, at.y * 10);
    let p = |dx: i32, dy: i32| format!("{} {}", tenths(x + dx), tenths(y + dy));
    let shield = format!(
        "M{}L{}V{}C{} {} {}C{} {} {}Z",
        p(-45, -50),
        p(45, -50),
        tenths(y + 5),
        p(45, 40),
        p(18, 58),
        p(0, 66),
        p(-18, 58),
        p(-45, 40),
        p(-45, 5),
    );
    vec![
        shaped(at, &octagon, Some(pen(role, 25, Dash::Solid)), Fill::Ground),
        Primitive::Path { data: shield, pen: Some(pen(role, 15, Dash::Solid)), fill: Fill::None },
        stroke(at, &[&[(-62, 62), (62, -62)]], pen(role, 20, Dash::Solid)),
    ]
}

/// A starburst of nine rays with an exclamation mark.
fn corruption(at: Point, role: Role) -> Vec<Primitive> {
    let burst = [
        (0, -165),
        (35, -98),
        (106, -126),
        (90, -52),
        (162, -29),
        (104, 18),
        (143, 83),
        (67, 80),
        (56, 155),
        (0, 104),
        (-56, 155),
        (-67, 80),
        (-143, 83),
        (-104, 18),
        (-162, -29),
        (-90, -52),
        (-106, -126),
        (-35, -98),
    ];
    let ground = Pen { ink: Ink::Ground, tenths: 30, dash: Dash::Solid };
    vec![
        shaped(at, &burst, None, Fill::Solid(role)),
        stroke(at, &[&[(0, -62), (0, 15)]], ground),
        stroke(at, &[&[(0, 38), (0, 64)]], ground),
    ]
}

/// A square of which only one half is whole.
fn torn(at: Point, role: Role) -> Vec<Primitive> {
    let whole = [(-85, -85), (15, -85), (-20, -45), (20, -5), (-20, 40), (15, 85), (-85, 85)];
    let missing = [(45, -85), (85, -85), (85, 85), (45, 85), (10, 40), (50, -5), (10, -45)];
    vec![
        shaped(at, &whole, Some(pen(role, 15, Dash::Solid)), Fill::Solid(role)),
        shaped(at, &missing, Some(pen(role, 15, Dash::Dotted)), Fill::Ground),
    ]
}

/// Two strokes for a pause, a moon for a host that sleeps, a star of ice for a frozen machine.
fn stopped(how: Halt, at: Point, role: Role) -> Vec<Primitive> {
    let around = disc(at, 80, pen(role, 15, Dash::Solid));
    let lines = |lines: &[&[(i32, i32)]], width| stroke(at, lines, pen(role, width, Dash::Solid));
    match how {
        Halt::Pause => vec![around, lines(&[&[(-22, -35), (-22, 35)], &[(22, -35), (22, 35)]], 20)],
        Halt::Suspend => {
            let moon = [
                (8, -48),
                (-18, -42),
                (-40, -20),
                (-44, 10),
                (-28, 36),
                (0, 48),
                (28, 40),
                (44, 16),
                (18, 22),
                (-6, 8),
                (-10, -18),
            ];
            vec![around, shaped(at, &moon, None, Fill::Solid(role))]
        }
        Halt::Freeze => {
            let star: &[&[(i32, i32)]] =
                &[&[(0, -48), (0, 48)], &[(-42, -24), (42, 24)], &[(-42, 24), (42, -24)]];
            vec![around, lines(star, 15)]
        }
    }
}

/// The eyes of those that watch, open or shut.
pub(super) fn eyes(ends: &[[Point; 2]], open: bool, role: Role) -> Vec<Primitive> {
    let line = Some(pen(role, 14, Dash::Solid));
    let (mut lids, mut lashes, mut pupils) = (String::new(), String::new(), String::new());
    for [at, _] in ends {
        let (x, y) = (at.x * 10, at.y * 10);
        let p = |dx: i32, dy: i32| format!("{} {}", tenths(x + dx), tenths(y + dy));
        let lash =
            |from: (i32, i32), to: (i32, i32)| format!("M{}L{}", p(from.0, from.1), p(to.0, to.1));
        if open {
            let (left, right) = (p(-80, 0), p(80, 0));
            lids += &format!("M{left}Q{} {right}Q{} {left}Z", p(0, -90), p(0, 90));
            pupils += &format!("M{}a2.2 2.2 0 1 0 4.4 0a2.2 2.2 0 1 0 -4.4 0Z", p(-22, 0));
        } else {
            lids += &format!("M{}Q{} {}", p(-70, -15), p(0, 65), p(70, -15));
            lashes += &lash((-42, 14), (-58, 38));
            lashes += &lash((0, 26), (0, 52));
            lashes += &lash((42, 14), (58, 38));
        }
    }
    if open {
        return vec![
            Primitive::Path { data: lids, pen: line, fill: Fill::Ground },
            Primitive::Path { data: pupils, pen: None, fill: Fill::Solid(role) },
        ];
    }
    // What lies behind must not look like a part of it.
    let ground = Pen { ink: Ink::Ground, tenths: 45, dash: Dash::Solid };
    let clear = Primitive::Path { data: lids.clone(), pen: Some(ground), fill: Fill::None };
    vec![clear, Primitive::Path { data: lids + &lashes, pen: line, fill: Fill::None }]
}

/// Three quarters of a circle that end in an arrow.
fn restart(at: Point, role: Role) -> Vec<Primitive> {
    let (x, y) = (at.x * 10, at.y * 10);
    let arc =
        format!("M{} {}A5 5 0 1 1 {} {}", tenths(x + 50), tenths(y), tenths(x), tenths(y - 50));
    vec![
        disc(at, 90, pen(role, 15, Dash::Solid)),
        Primitive::Path { data: arc, pen: Some(pen(role, 20, Dash::Solid)), fill: Fill::None },
        shaped(at, &[(-5, -85), (40, -50), (-5, -15)], None, Fill::Solid(role)),
    ]
}

/// A box for each answer, side by side from a corner on.
fn boxes(ballot: Ballot, at: Point, role: Role) -> Vec<Primitive> {
    let place = |index: i32| Point { x: at.x + TICK * index + TICK / 2, y: at.y + TICK / 2 };
    let boxes = ballot.answers().enumerate();
    boxes.flat_map(|(index, said)| answer(place(index as i32), said, role)).collect()
}

/// A small box: a tick for yes, a stroke for no, nothing for no answer.
fn answer(at: Point, said: Option<bool>, role: Role) -> Vec<Primitive> {
    let dash = if said.is_none() { Dash::Dotted } else { Dash::Solid };
    let frame = square(at, TICK / 2 - 1, Some(pen(role, 13, dash)), Fill::Ground);
    let bold = pen(role, 17, Dash::Solid);
    let inside = match said {
        Some(true) => Some(stroke(at, &[&[(-27, 2), (-8, 22), (27, -22)]], bold)),
        Some(false) => Some(stroke(at, &[&[(-24, 0), (24, 0)]], bold)),
        None => None,
    };
    std::iter::once(frame).chain(inside).collect()
}

/// The points of a circle at every 24th part of a turn, from the top and clockwise.
const TURN: [(i32, i32); 25] = [
    (0, -70),
    (18, -68),
    (35, -61),
    (49, -49),
    (61, -35),
    (68, -18),
    (70, 0),
    (68, 18),
    (61, 35),
    (49, 49),
    (35, 61),
    (18, 68),
    (0, 70),
    (-18, 68),
    (-35, 61),
    (-49, 49),
    (-61, 35),
    (-68, 18),
    (-70, 0),
    (-68, -18),
    (-61, -35),
    (-49, -49),
    (-35, -61),
    (-18, -68),
    (0, -70),
];

/// What is left of a span as a thick arc that ends at the top; the rest of the circle is thin.
fn ring(at: Point, left: Option<u16>, role: Role) -> Vec<Primitive> {
    let Some(left) = left else {
        return vec![disc(at, 70, pen(role, 20, Dash::Dotted))];
    };
    let gone = 24 - (usize::from(left.min(1_000)) * 24).div_ceil(1_000);
    let thin = disc(at, 70, pen(Role::Muted, 10, Dash::Solid));
    let arc = TURN.get(gone..).filter(|arc| arc.len() > 1);
    let arc = arc.map(|arc| stroke(at, &[arc], pen(role, 30, Dash::Solid)));
    std::iter::once(thin).chain(arc).collect()
}

/// What is left of a session: a thick arc, and behind it a thin double one for what its end is rounded up
/// by.
fn session(at: Point, left: Option<[u16; 2]>, role: Role) -> Vec<Primitive> {
    let Some(left) = left else {
        return vec![disc(at, 70, pen(role, 20, Dash::Dotted))];
    };
    let [own, up] = left.map(|left| (usize::from(left.min(1_000)) * 24).div_ceil(1_000));
    let turn = 24_usize.saturating_sub(up);
    let start = turn.saturating_sub(own);
    let arc = |from: usize, to: usize, pen: Pen| {
        let points = TURN.get(from..=to).filter(|arc| arc.len() > 1);
        points.map(|arc| stroke(at, &[arc], pen))
    };
    let thin = disc(at, 70, pen(Role::Muted, 10, Dash::Solid));
    let solid = arc(start, turn, pen(role, 30, Dash::Solid));
    let dotted = arc(turn, 24, pen(role, 30, Dash::Dotted));
    std::iter::once(thin).chain(solid).chain(dotted).collect()
}
