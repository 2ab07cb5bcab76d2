//! Labels: what they say, where they may stand, and the pass that gives each a place of its own.

use super::board::{Board, height};
use super::palette::Role;
use super::picture::{Anchor, Area, Lane, Mark, Point, Shape, Words};
use super::text::{LINE, SIZE, width};
use crate::sim::{EventId, Micros};

/// The height of a token's plate.
pub(super) const PLATE: i32 = 20;
/// The size of a token's figures.
pub(super) const FIGURES: i32 = 13;

/// A line of a label.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub text: String,
    pub strong: bool,
}

/// What a label draws.
#[derive(Clone, Debug)]
pub(super) enum Face {
    /// The same words in different numbers of lines; a place refers to one of them.
    Blocks(Vec<Vec<Line>>),
    /// A token.
    Plate(String),
}

/// A place that a label may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub area: Area,
    pub anchor: Anchor,
    pub block: usize,
}

/// A label that wants a place.
#[derive(Clone, Debug)]
pub(super) struct Want {
    pub event: EventId,
    pub role: Role,
    pub from: Micros,
    pub face: Face,
    /// The preferred first.
    pub places: Vec<Place>,
    /// Who chooses first: the smallest.
    pub turn: u8,
    /// Where room is made if there is none.
    pub y: i32,
    /// Without it the picture would be wrong: room is made for it. The others are left out.
    pub needed: bool,
}

/// Words as blocks of lines, strong or not.
pub(super) fn blocks(words: &[Vec<String>], strong: bool) -> Face {
    let line = |text: &String| Line { text: text.clone(), strong };
    Face::Blocks(words.iter().map(|w| w.iter().map(line).collect()).collect())
}

/// A single line.
pub(super) fn single(text: &str) -> Face {
    Face::Blocks(vec![vec![Line { text: text.into(), strong: false }]])
}

impl Face {
    /// The size of one of its blocks.
    pub fn size(&self, block: usize) -> (i32, i32) {
        match self {
            Face::Plate(text) => (width(text, FIGURES, true, true) + 10, PLATE),
            Face::Blocks(blocks) => {
                let lines = blocks.get(block).map_or(&[][..], Vec::as_slice);
                let wide = lines.iter().map(|l| width(&l.text, SIZE, l.strong, false)).max();
                (wide.unwrap_or(0), LINE * lines.len() as i32 - 1)
            }
        }
    }

    fn count(&self) -> usize {
        match self {
            Face::Plate(_) => 1,
            Face::Blocks(blocks) => blocks.len(),
        }
    }
}

/// Places beside a lane at a height: to the right of what reaches `right` from the lifeline, then
/// to the left of what reaches `left`; as near to the height as possible.
pub(super) fn beside(face: &Face, lane: &Lane, y: i32, right: i32, left: i32) -> Vec<Place> {
    let mut places = Vec::new();
    for off in [0, 8, -8, 14, -14, 20, -20, 28, -28, 38, -38] {
        for block in 0..face.count() {
            let (wide, high) = face.size(block);
            let top = y + off - high / 2;
            let start = lane.x + right;
            let area = Area { left: start, top, right: start + wide, bottom: top + high };
            places.push(Place { area, anchor: Anchor::Start, block });
        }
    }
    for off in [0, 8, -8, 14, -14, 20, -20, 28, -28] {
        for block in 0..face.count() {
            let (wide, high) = face.size(block);
            let top = y + off - high / 2;
            let end = lane.x - left;
            let area = Area { left: end - wide, top, right: end, bottom: top + high };
            places.push(Place { area, anchor: Anchor::End, block });
        }
    }
    places
}

/// Places above and below a line, in each of these free stretches, the preferred stretch first.
pub(super) fn along(face: &Face, track: &[Point], stretches: &[(i32, i32)]) -> Vec<Place> {
    let mut places = Vec::new();
    let (wide, high) = face.size(0);
    for below in [false, true] {
        for (left, right) in stretches {
            let room = right - left - wide;
            if room < 0 {
                continue;
            }
            for part in [2, 3, 1, 4, 0] {
                let start = left + room * part / 4;
                let Some((a, b)) = ends(track, start, start + wide) else { continue };
                let top = if below { a.max(b) + 3 } else { a.min(b) - 3 - high };
                let area = Area { left: start, top, right: start + wide, bottom: top + high };
                places.push(Place { area, anchor: Anchor::Middle, block: 0 });
            }
        }
    }
    places
}

/// Places on a line.
pub(super) fn upon(face: &Face, track: &[Point], stretches: &[(i32, i32)]) -> Vec<Place> {
    let mut places = Vec::new();
    let (wide, high) = face.size(0);
    for (left, right) in stretches {
        let room = right - left - wide;
        for part in [4, 2, 6, 1, 7, 3, 5, 0, 8] {
            let start = left + room.max(0) * part / 8;
            let Some((a, b)) = ends(track, start, start + wide) else { continue };
            let top = (a + b) / 2 - high / 2;
            let area = Area { left: start, top, right: start + wide, bottom: top + high };
            places.push(Place { area, anchor: Anchor::Middle, block: 0 });
        }
    }
    places
}

/// The heights of a track at two places of one of its legs.
fn ends(track: &[Point], left: i32, right: i32) -> Option<(i32, i32)> {
    track.windows(2).find_map(|leg| {
        let (from, to) = (leg[0], leg[1]);
        let spans = from.x.min(to.x) <= left && right <= from.x.max(to.x);
        spans.then(|| (height(from, to, left), height(from, to, right)))
    })
}

/// Gives each label the best place that is left; returns the heights at which room is missing.
pub(super) fn place(
    mut wants: Vec<Want>,
    board: &mut Board,
    bands: &[Area],
    marks: &mut Vec<Mark>,
) -> Vec<i32> {
    wants.sort_by_key(|w| (w.turn, w.y, w.event));
    let mut missing = Vec::new();
    for want in wants {
        let areas: Vec<Area> = want.places.iter().map(|p| grown(&p.area)).collect();
        let chosen = board.choose(&areas);
        let crossed = chosen.and_then(|i| areas.get(i)).is_some_and(|a| board.crossings(a) > 0);
        let Some(place) = chosen.and_then(|i| want.places.get(i)) else {
            if want.needed {
                missing.push(want.y);
            }
            continue;
        };
        board.block(grown(&place.area));
        // On the wash of a band only ink keeps its contrast.
        let inside = bands.iter().any(|b| b.meets(&place.area));
        let role = if inside { Role::Ink } else { want.role };
        draw(&want, place, role, crossed && !inside, marks);
    }
    missing
}

/// Labels keep a little distance from each other and from all else.
fn grown(area: &Area) -> Area {
    Area { left: area.left - 3, top: area.top, right: area.right + 3, bottom: area.bottom + 1 }
}

fn draw(want: &Want, place: &Place, role: Role, halo: bool, marks: &mut Vec<Mark>) {
    let area = &place.area;
    let middle = (area.left + area.right) / 2;
    let mut push = |shape: Shape| {
        let bounds = shape.bounds();
        let (event, from) = (want.event, want.from);
        marks.push(Mark { event, role, shape, from, until: None, bounds });
    };
    match &want.face {
        Face::Plate(text) => {
            let at = Point { x: middle, y: (area.top + area.bottom) / 2 };
            push(Shape::Plate { at, text: text.clone(), width: area.right - area.left });
        }
        Face::Blocks(blocks) => {
            let x = match place.anchor {
                Anchor::Start => area.left,
                Anchor::Middle => middle,
                Anchor::End => area.right,
            };
            for (row, line) in blocks.get(place.block).into_iter().flatten().enumerate() {
                push(Shape::Words(Words {
                    text: line.text.clone(),
                    at: Point { x, y: area.top + 11 + LINE * row as i32 },
                    anchor: place.anchor,
                    size: SIZE,
                    strong: line.strong,
                    mono: false,
                    halo,
                }));
            }
        }
    }
}
