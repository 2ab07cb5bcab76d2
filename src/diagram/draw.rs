//! What draws each shape. Every sign is a path, never a glyph of some font.

use super::lanes::{HEADER, name_face};
use super::paint::{Dash, Fill, Ink, Pen, Primitive, push_tenths};
use super::palette::Role;
use super::picture::{
    Anchor, Area, Fate, Head, NOBODY, Picture, Point, SEAT, Shape, Words, more_words, seat_width,
};
use super::text::{SIZE, width as width_of};
use crate::judge::Standing;
use crate::run::NodeKind;
use crate::sim::Micros;

/// How far the name of a crowd stands from its first lane's edge, which may be framed.
const INSET: i32 = 24;
/// The size of the figures on a plate.
const FIGURES: i32 = 13;

/// What draws a shape in a role, from the back to the front.
pub fn paths(shape: &Shape, role: Role) -> Vec<Primitive> {
    match shape {
        Shape::Lifeline { x, top, bottom, dashed } => {
            let dash = if *dashed { Dash::Dashed } else { Dash::Solid };
            vec![upright(*x, *top, *bottom, pen(role, 15, dash))]
        }
        Shape::Tick { left, right, y } | Shape::Rung { left, right, y } => {
            vec![level(*left, *right, *y, pen(role, 10, Dash::Solid))]
        }
        Shape::Fold { across, y } => across.iter().flat_map(|a| fold(*a, *y, role)).collect(),
        Shape::Band { area } => band(area, role),
        Shape::Fog { area } => vec![filled(area, None, Fill::Tint(role), 6)],
        Shape::Box { area } => {
            vec![filled(area, Some(pen(role, 15, Dash::Solid)), Fill::Ground, 8)]
        }
        Shape::Belief { area } => {
            vec![filled(area, Some(pen(role, 15, Dash::Solid)), Fill::Hatch(role), 0)]
        }
        Shape::Truth { area } => vec![filled(area, None, Fill::Solid(role), 0)],
        Shape::PromiseEnd { left, right, y } => {
            vec![level(*left, *right, *y, pen(role, 20, Dash::Dotted))]
        }
        Shape::Cap { left, right, y } => vec![level(*left, *right, *y, pen(role, 25, Dash::Solid))],
        Shape::Waiting { area } => {
            vec![filled(area, Some(pen(role, 15, Dash::Dotted)), Fill::None, 0)]
        }
        Shape::Section { area } => {
            vec![filled(area, Some(pen(role, 15, Dash::Solid)), Fill::Ground, 0)]
        }
        Shape::Kept { area, whose } => vec![kept(area, *whose, role, true)],
        Shape::Valid { area } => {
            vec![filled(area, Some(pen(role, 13, Dash::Solid)), Fill::Ground, 0)]
        }
        Shape::Ladder { x, top, bottom } => ladder(*x, *top, *bottom, role),
        Shape::Message { track, fate, soft, .. } => message(track, *fate, *soft, role),
        Shape::Plate { at, text, width } => plate(*at, text, *width, role),
        Shape::Words(words) => vec![text(words, Ink::Role(role))],
        Shape::Cut { x, top, bottom } => jagged(*x, *top, *bottom, role),
        Shape::PauseSign { at, .. }
        | Shape::ClockFace { at }
        | Shape::Hourglass { at }
        | Shape::Held { at }
        | Shape::Accepted { at }
        | Shape::StaleAccepted { at }
        | Shape::Duplicate { at }
        | Shape::Rejected { at }
        | Shape::Corruption { at }
        | Shape::Torn { at }
        | Shape::Crash { at }
        | Shape::Restart { at }
        | Shape::Heal { at }
        | Shape::Ring { at, .. }
        | Shape::Session { at, .. }
        | Shape::Ballot { at, .. }
        | Shape::Yes { at }
        | Shape::No { at }
        | Shape::Notice { at } => super::icons::icon(shape, *at, role),
        Shape::Round { .. }
        | Shape::Watch { .. }
        | Shape::Fan { .. }
        | Shape::Silent { .. }
        | Shape::Seats { .. }
        | Shape::Stopwatch { .. }
        | Shape::Hand { .. }
        | Shape::Link { .. }
        | Shape::Plaque { .. } => more(shape, role),
    }
}

/// The same for shapes that only some systems have.
fn more(shape: &Shape, role: Role) -> Vec<Primitive> {
    match shape {
        Shape::Round { legs, words, decides } => round(legs, words, *decides, role),
        Shape::Watch { ends, fired } => watch(ends, *fired, role),
        Shape::Fan { legs } => vec![arrows(legs, 7, role)],
        Shape::Silent { area, whose } => vec![kept(area, *whose, role, true)],
        Shape::Seats { at, seats, more } => queue(*at, seats, *more, role),
        Shape::Plaque { area, text: words } => {
            let words = Words {
                text: words.clone(),
                at: Point { x: (area.left + area.right) / 2, y: area.top + 13 },
                anchor: Anchor::Middle,
                size: SIZE,
                strong: true,
                mono: false,
                halo: false,
            };
            vec![filled(area, None, Fill::Solid(role), 4), text(&words, Ink::Ground)]
        }
        Shape::Stopwatch { left, right, top, bottom } => {
            let area = Area { left: *left, right: *right, top: *top, bottom: *bottom };
            vec![bracket(&area, role)]
        }
        Shape::Hand { from, to } => vec![
            Primitive::Line { from: *from, to: *to, pen: pen(role, 15, Dash::Dashed) },
            arrow_head(*from, *to, 80, role),
        ],
        Shape::Link { from, to, dotted } => {
            let (tenths, dash) = if *dotted { (15, Dash::Dotted) } else { (10, Dash::Solid) };
            vec![Primitive::Line { from: *from, to: *to, pen: pen(role, tenths, dash) }]
        }
        _ => Vec::new(),
    }
}

/// What draws the header at a moment: the boxes with their names, what stands under them, and the
/// dotted line that joins the lock to what it protects. Before anything has happened there is no
/// moment, and nothing stands under a name.
pub fn header(picture: &Picture, at: Option<Micros>) -> Vec<Primitive> {
    let mut drawn = Vec::new();
    for pair in picture.lanes.windows(2) {
        let (from, to) = (&pair[0], &pair[1]);
        let guards = matches!(from.kind, NodeKind::Service | NodeKind::Gateway);
        if guards && matches!(to.kind, NodeKind::Gateway | NodeKind::Resource) {
            let y = (HEADER - 8 + 8) / 2;
            let pen = pen(Role::Ink, 15, Dash::Dotted);
            drawn.push(level(from.header.right, to.header.left, y, pen));
        }
    }
    drawn.extend(picture.heads.iter().flat_map(|head| common(picture, head, at)));
    for lane in picture.lanes.iter().filter(|lane| !lane.grouped) {
        let hairline = Pen { ink: Ink::Hairline, tenths: 10, dash: Dash::Solid };
        drawn.push(filled(&lane.header, Some(hairline), Fill::Ground, 6));
        let middle = (lane.header.left + lane.header.right) / 2;
        let line = |y: i32, words: &str, size: i32, strong: bool| Words {
            text: words.into(),
            at: Point { x: middle, y },
            anchor: Anchor::Middle,
            size,
            strong,
            mono: false,
            halo: false,
        };
        let (size, strong) = name_face(&lane.header);
        let name = line(lane.header.top + 18, &lane.label, size, strong);
        drawn.push(text(&name, Ink::Role(Role::Ink)));
        if let Some(at) = at {
            let saying = line(lane.header.top + 35, lane.saying(at), SIZE, false);
            drawn.push(text(&saying, Ink::Role(Role::Muted)));
        }
    }
    drawn
}

/// The common name of a group in one box, and under it what tells its lanes apart.
fn common(picture: &Picture, head: &Head, at: Option<Micros>) -> Vec<Primitive> {
    let hairline = Pen { ink: Ink::Hairline, tenths: 10, dash: Dash::Solid };
    let line = |x: i32, y: i32, words: &str, strong: bool| {
        let (text, at) = (words.to_string(), Point { x, y });
        let (anchor, size, mono, halo) = (Anchor::Middle, SIZE, false, false);
        Words { text, at, anchor, size, strong, mono, halo }
    };
    let area = &head.area;
    let mut name = line((area.left + area.right) / 2, area.top + 18, &head.label, true);
    let mut drawn = vec![filled(area, Some(hairline), Fill::Ground, 6)];
    if !head.sayings.is_empty() {
        // A crowd is wider than the window: its middle may be out of sight.
        (name.anchor, name.at.x) = (Anchor::Start, area.left + INSET);
        let said = at.and_then(|at| head.saying(at)).map_or("", |said| &said.text);
        let x = name.at.x + width_of(&name.text, SIZE, true, false) + 10;
        let said = Words { anchor: Anchor::Start, ..line(x, name.at.y, said, false) };
        drawn.push(text(&said, Ink::Role(Role::Muted)));
    }
    drawn.push(text(&name, Ink::Role(Role::Ink)));
    let inside = |x: i32| area.left <= x && x <= area.right;
    for lane in picture.lanes.iter().filter(|lane| lane.grouped && inside(lane.x)) {
        let stand = lane.stand(at.unwrap_or_default());
        let leads = matches!(stand, Some(Standing::Leads(_)));
        let letter = line(lane.x, area.top + 35, &lane.label, leads);
        let plate =
            Area { left: lane.x - 9, top: area.top + 23, right: lane.x + 9, bottom: area.top + 40 };
        match stand {
            Some(Standing::Leads(_)) => {
                drawn.push(filled(&plate, None, Fill::Solid(Role::Ink), 4));
                drawn.push(text(&letter, Ink::Ground));
                continue;
            }
            Some(Standing::Seeks) => {
                let dotted = Some(pen(Role::Muted, 13, Dash::Dotted));
                drawn.push(filled(&plate, dotted, Fill::None, 4));
            }
            _ => {}
        }
        drawn.push(text(&letter, Ink::Role(Role::Ink)));
    }
    drawn
}

/// Thin lines with small heads, all of them one path: a straight line has no inside that its filling would show.
fn arrows(legs: &[[Point; 2]], tenths: i32, role: Role) -> Primitive {
    let mut data = String::new();
    for [from, to] in legs {
        let points = [*from, *to].map(|p| (p.x * 10, p.y * 10));
        trace(&mut data, Point::default(), &points);
        // Where a line ends its head begins: there are many, and from here their numbers are short.
        let [(bx, by), (cx, cy)] = head(*from, *to, 50);
        data.push_str("m0 0");
        for (sign, n) in [('l', bx), (' ', by), (' ', cx - bx), (' ', cy - by)] {
            data.push(sign);
            push_tenths(&mut data, n);
        }
        data.push('z');
    }
    let pen = Some(pen(role, tenths, Dash::Solid));
    Primitive::Path { data, pen, fill: Fill::Solid(role) }
}

/// Thin lines with small heads, and dots for the words that count.
fn round(
    legs: &[[Point; 2]],
    words: &[Point],
    decides: Option<Point>,
    role: Role,
) -> Vec<Primitive> {
    let mut drawn = vec![arrows(legs, 8, role)];
    drawn.extend(words.iter().map(|at| Primitive::Circle {
        at: *at,
        tenths: 25,
        pen: Some(pen(role, 13, Dash::Solid)),
        fill: Fill::Ground,
    }));
    drawn.extend(decides.map(|at| Primitive::Circle {
        at,
        tenths: 45,
        pen: None,
        fill: Fill::Solid(Role::Ink),
    }));
    drawn
}

/// Eyes, shut while they watch and open when they are told; and a curve from each to what it watches.
fn watch(ends: &[[Point; 2]], fired: bool, role: Role) -> Vec<Primitive> {
    let dash = if fired { Dash::Solid } else { Dash::Dashed };
    let (mut curves, mut drawn) = (String::new(), Vec::new());
    for [from, to] in ends.iter().filter(|ends| ends[0] != ends[1]) {
        let side = if to.x < from.x { -8 } else { 8 };
        let (bend, dip) = ((from.x + to.x) / 2, from.y.max(to.y) + 14);
        curves.push_str(&format!("M{} {}Q{bend} {dip} {} {}", from.x + side, from.y, to.x, to.y));
    }
    if !curves.is_empty() {
        let pen = Some(pen(role, 12, dash));
        drawn.push(Primitive::Path { data: curves, pen, fill: Fill::None });
    }
    drawn.extend(super::icons::eyes(ends, fired, role));
    drawn
}

/// The places of a queue, side by side.
fn queue(at: Point, seats: &[(String, bool)], more: usize, role: Role) -> Vec<Primitive> {
    let word = |x: i32, words: &str, anchor: Anchor, strong: bool| Words {
        text: words.into(),
        at: Point { x, y: at.y + 13 },
        anchor,
        size: SIZE,
        strong,
        mono: false,
        halo: false,
    };
    if seats.is_empty() {
        return vec![text(&word(at.x, NOBODY, Anchor::Start, false), Ink::Role(Role::Muted))];
    }
    let (mut drawn, mut x) = (Vec::new(), at.x);
    for (name, holds) in seats {
        let wide = seat_width(name);
        let area = Area { left: x, top: at.y + 1, right: x + wide - 1, bottom: at.y + SEAT };
        let (fill, ink) = match holds {
            true => (Fill::Solid(role), Ink::Ground),
            false => (Fill::Ground, Ink::Role(Role::Ink)),
        };
        drawn.push(filled(&area, Some(pen(role, 13, Dash::Solid)), fill, 2));
        drawn.push(text(&word(x + wide / 2, name, Anchor::Middle, true), ink));
        x += wide;
    }
    let more = more_words(more);
    if !more.is_empty() {
        drawn.push(text(&word(x + 4, &more, Anchor::Start, false), Ink::Role(Role::Muted)));
    }
    drawn
}

pub(super) fn pen(role: Role, tenths: i32, dash: Dash) -> Pen {
    Pen { ink: Ink::Role(role), tenths, dash }
}

fn upright(x: i32, top: i32, bottom: i32, pen: Pen) -> Primitive {
    Primitive::Line { from: Point { x, y: top }, to: Point { x, y: bottom }, pen }
}

pub(super) fn level(left: i32, right: i32, y: i32, pen: Pen) -> Primitive {
    Primitive::Line { from: Point { x: left, y }, to: Point { x: right, y }, pen }
}

pub(super) fn filled(area: &Area, pen: Option<Pen>, fill: Fill, round: i32) -> Primitive {
    Primitive::Rect {
        at: Point { x: area.left, y: area.top },
        width: area.right - area.left,
        height: (area.bottom - area.top).max(1),
        round,
        pen,
        fill,
    }
}

pub(super) fn text(words: &Words, ink: Ink) -> Primitive {
    Primitive::Text {
        at: words.at,
        text: words.text.clone(),
        anchor: words.anchor,
        size: words.size,
        strong: words.strong,
        mono: words.mono,
        ink,
        halo: words.halo,
    }
}

/// Path data through these points, in tenths of a pixel relative to a point.
pub(super) fn through(at: Point, points: &[(i32, i32)], closed: bool) -> String {
    let mut data = String::new();
    trace(&mut data, at, points);
    if closed {
        data.push('Z');
    }
    data
}

fn trace(data: &mut String, at: Point, points: &[(i32, i32)]) {
    for (index, (x, y)) in points.iter().enumerate() {
        data.push(if index == 0 { 'M' } else { 'L' });
        push_tenths(data, at.x * 10 + x);
        data.push(' ');
        push_tenths(data, at.y * 10 + y);
    }
}

fn band(area: &Area, role: Role) -> Vec<Primitive> {
    let edge = pen(role, 15, Dash::Dotted);
    let at = Point { x: area.left, y: area.top };
    let high = (area.bottom - area.top) * 10;
    let bracket = [(60, 20), (20, 20), (20, high - 20), (60, high - 20)];
    vec![
        filled(area, None, Fill::Tint(role), 0),
        level(area.left, area.right, area.top, edge),
        level(area.left, area.right, area.bottom, edge),
        Primitive::Path {
            data: through(at, &bracket, false),
            pen: Some(pen(role, 20, Dash::Solid)),
            fill: Fill::None,
        },
    ]
}

/// A bracket that is open to the right.
fn bracket(area: &Area, role: Role) -> Primitive {
    let at = Point { x: area.left, y: area.top };
    let (wide, high) = ((area.right - area.left) * 10, (area.bottom - area.top) * 10);
    let data = through(at, &[(wide, 0), (0, 0), (0, high), (wide, high)], false);
    Primitive::Path { data, pen: Some(pen(role, 15, Dash::Solid)), fill: Fill::None }
}

/// A slim bar; who it belongs to is told by its pattern, and by a letter beside it.
pub(super) fn kept(area: &Area, whose: u16, role: Role, outlined: bool) -> Primitive {
    let outline = Some(pen(role, 13, Dash::Solid)).filter(|_| outlined);
    match whose % 4 {
        0 => filled(area, None, Fill::Solid(role), 0),
        1 => filled(area, outline, Fill::Hatch(role), 0),
        2 => filled(area, outline, if outlined { Fill::Ground } else { Fill::Tint(role) }, 0),
        _ => filled(area, Some(pen(role, 13, Dash::Dashed)), Fill::Tint(role), 0),
    }
}

/// Two waves across a lane, with the page between them: what lies behind is torn apart.
fn fold((left, right): (i32, i32), y: i32, role: Role) -> Vec<Primitive> {
    let wave = |y: i32| {
        let mut data = String::new();
        let mut from = left;
        data.push_str(&format!("M{from} {y}"));
        let mut up = true;
        while from < right {
            let bend = if up { y - 4 } else { y + 4 };
            data.push_str(&format!("Q{} {bend} {} {y}", from + 4, from + 8));
            from += 8;
            up = !up;
        }
        data
    };
    let (upper, lower) = (wave(y - 3), wave(y + 3));
    let ground = Pen { ink: Ink::Ground, tenths: 50, dash: Dash::Solid };
    let line = |data: &str| Primitive::Path {
        data: data.into(),
        pen: Some(pen(role, 12, Dash::Solid)),
        fill: Fill::None,
    };
    let clear = Primitive::Path { data: wave(y), pen: Some(ground), fill: Fill::None };
    vec![clear, line(&upper), line(&lower)]
}

fn ladder(x: i32, top: i32, bottom: i32, role: Role) -> Vec<Primitive> {
    let mut data = format!("M{} {top}V{bottom}M{} {top}V{bottom}", x - 5, x + 5);
    for y in (top + 8..bottom).step_by(8) {
        data.push_str(&format!("M{} {y}H{}", x - 5, x + 5));
    }
    // The lifeline rests while its process does.
    let clear = Area { left: x - 5, top, right: x + 5, bottom };
    vec![
        filled(&clear, None, Fill::Ground, 0),
        Primitive::Path { data, pen: Some(pen(role, 15, Dash::Solid)), fill: Fill::None },
    ]
}

fn jagged(x: i32, top: i32, bottom: i32, role: Role) -> Vec<Primitive> {
    let mut data = format!("M{x} {top}");
    let (mut y, mut side) = (top + 6, 5);
    while y < bottom {
        data.push_str(&format!("L{} {y}", x + side));
        side = -side;
        y += 8;
    }
    data.push_str(&format!("L{x} {bottom}"));
    vec![Primitive::Path { data, pen: Some(pen(role, 20, Dash::Solid)), fill: Fill::None }]
}

fn plate(at: Point, figures: &str, width: i32, role: Role) -> Vec<Primitive> {
    let left = at.x - width / 2;
    let area = Area { left, top: at.y - 9, right: left + width, bottom: at.y + 9 };
    let words = Words {
        text: figures.into(),
        at: Point { x: at.x, y: at.y + 5 },
        anchor: Anchor::Middle,
        size: FIGURES,
        strong: true,
        mono: true,
        halo: false,
    };
    let frame = filled(&area, Some(pen(role, 15, Dash::Solid)), Fill::Ground, 4);
    vec![frame, text(&words, Ink::Role(role))]
}

fn message(track: &[Point], fate: Fate, soft: bool, role: Role) -> Vec<Primitive> {
    let dash = if fate == Fate::Lost { Dash::Dashed } else { Dash::Solid };
    let width = if soft { 10 } else { 15 };
    let origin = Point::default();
    let points: Vec<(i32, i32)> = track.iter().map(|p| (p.x * 10, p.y * 10)).collect();
    let line = Primitive::Path {
        data: through(origin, &points, false),
        pen: Some(pen(role, width, dash)),
        fill: Fill::None,
    };
    let Some(&[from, to]) = track.windows(2).last().and_then(|w| w.first_chunk::<2>()) else {
        return vec![line];
    };
    match fate {
        Fate::Arrives => vec![line, arrow_head(from, to, if soft { 60 } else { 80 }, role)],
        Fate::Lost => vec![line, cross(to, (to.x - from.x).signum(), role)],
        Fate::Open => {
            let ring = Some(pen(role, 15, Dash::Solid));
            vec![line, Primitive::Circle { at: to, tenths: 35, pen: ring, fill: Fill::Ground }]
        }
    }
}

/// A filled triangle whose tip is the end of a line; `long` in tenths of a pixel.
fn arrow_head(from: Point, to: Point, long: i64, role: Role) -> Primitive {
    let [b, c] = head(from, to, long);
    let data = through(to, &[(0, 0), b, c], true);
    Primitive::Path { data, pen: None, fill: Fill::Solid(role) }
}

/// Its corners but the tip, seen from there, in tenths of a pixel.
fn head(from: Point, to: Point, long: i64) -> [(i32, i32); 2] {
    let (dx, dy) = (i64::from(to.x - from.x), i64::from(to.y - from.y));
    // The root in hundredths keeps the tenths right.
    let length = ((dx * dx + dy * dy) * 10_000).isqrt().max(1);
    let along = |n: i64| n * 100 * long / length;
    let across = |n: i64| n * 100 * long * 2 / 5 / length;
    let (bx, by) = (-along(dx), -along(dy));
    let corner = |side: i64| ((bx - side * across(dy)) as i32, (by + side * across(dx)) as i32);
    [corner(1), corner(-1)]
}

/// Where a message is lost: a cross, and a short bar behind it.
fn cross(at: Point, side: i32, role: Role) -> Primitive {
    let bar = side * 80;
    let strokes = [[(-45, -45), (45, 45)], [(-45, 45), (45, -45)], [(bar, -60), (bar, 60)]];
    let data: String = strokes.iter().map(|s| through(at, s, false)).collect();
    Primitive::Path { data, pen: Some(pen(role, 20, Dash::Solid)), fill: Fill::None }
}
