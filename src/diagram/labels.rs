//! Labels: what they say, where they may stand, and the pass that gives each a place of its own.

use super::board::{Board, Place, height};
use super::palette::Role;
use super::picture::{Anchor, Area, Mark, Point, SEAT, Shape, TICK, Words, seats_width};
use super::text::{LINE, SIZE, width};
use crate::judge::Ballot;
use crate::sim::{EventId, Micros, sort_by_key};

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
    /// Who stands in a queue, and how many more.
    Seats(Vec<(String, bool)>, usize),
    /// What several servers answered, and lines under it.
    Ballot(Ballot, Vec<Vec<Line>>),
}

/// Where a label may stand.
#[derive(Clone, Debug)]
pub(super) enum Spots {
    /// At these places, the preferred first.
    Given(Vec<Place>),
    /// To the right and to the left of a point, this far away; for a span, also further down its
    /// lane, to this height.
    Beside { at: Point, right: i32, left: i32, down: i32 },
    /// Above and below a line, between the lanes.
    Along { track: Vec<Point>, stretches: Vec<(i32, i32)> },
    /// On a line, between the lanes.
    Upon { track: Vec<Point>, stretches: Vec<(i32, i32)> },
}

impl Spots {
    /// Places that are given one by one.
    pub fn given(self) -> Vec<Place> {
        match self {
            Spots::Given(places) => places,
            _ => Vec::new(),
        }
    }
}

/// A label that wants a place.
#[derive(Clone, Debug)]
pub(super) struct Want {
    pub event: EventId,
    pub role: Role,
    pub from: Micros,
    pub face: Face,
    /// Where.
    pub spots: Spots,
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

/// Words broken into lines of at most this width, as far as their spaces allow.
fn wrapped(lines: &[Line], most: i32) -> Vec<Line> {
    let mut out: Vec<Line> = Vec::new();
    for line in lines {
        let mut begun = false;
        for word in line.text.split(' ') {
            let last = out.last_mut().filter(|_| begun);
            let longer = last.as_ref().map(|l| format!("{} {word}", l.text));
            // A number keeps its unit, and a sign stays with what it follows.
            let clings = word.len() <= 2 && !word.starts_with(|c: char| c.is_ascii_digit());
            match (last, longer) {
                (Some(last), Some(longer))
                    if clings || width(&longer, SIZE, line.strong, false) <= most =>
                {
                    last.text = longer;
                }
                _ => out.push(Line { text: word.into(), strong: line.strong }),
            }
            begun = true;
        }
    }
    out
}

impl Face {
    /// The same with one more form, the last resort: its first words in lines of at most this width.
    pub fn or_wrapped(self, most: i32) -> Face {
        match self {
            Face::Blocks(mut forms) if forms.len() < FORMS => {
                forms.extend(forms.first().map(|lines| wrapped(lines, most)));
                Face::Blocks(forms)
            }
            other => other,
        }
    }

    /// How many forms it has.
    pub fn forms(&self) -> usize {
        self.count()
    }

    /// The size of one of its blocks.
    pub fn size(&self, block: usize) -> (i32, i32) {
        match self {
            Face::Plate(text) => (width(text, FIGURES, true, true) + 10, PLATE),
            Face::Seats(seats, more) => (seats_width(seats, *more), SEAT),
            Face::Ballot(ballot, blocks) => {
                let lines = blocks.get(block).map_or(&[][..], Vec::as_slice);
                let (boxes, under) = boxed(*ballot, block);
                let wide = lines.iter().map(|l| width(&l.text, SIZE, l.strong, false)).max();
                (boxes.max(wide.unwrap_or(0)), under + LINE * lines.len() as i32)
            }
            Face::Blocks(blocks) => {
                let lines = blocks.get(block).map_or(&[][..], Vec::as_slice);
                let wide = lines.iter().map(|l| width(&l.text, SIZE, l.strong, false)).max();
                (wide.unwrap_or(0), LINE * lines.len() as i32 - 1)
            }
        }
    }

    fn count(&self) -> usize {
        match self {
            Face::Plate(_) | Face::Seats(..) => 1,
            Face::Blocks(blocks) | Face::Ballot(_, blocks) => blocks.len(),
        }
    }
}

/// The most forms of a label.
const FORMS: usize = 3;

/// How far beside a height a label may stand, the nearest first.
const OFFSETS: [i32; 11] = [0, 8, -8, 14, -14, 20, -20, 28, -28, 38, -38];

/// The sizes of a label's forms; it has at most three.
type Sizes = [Option<(i32, i32)>; FORMS];

/// A place with its middle at this height, to the right of `x` or to the left.
fn at_side(size: (i32, i32), block: usize, x: i32, y: i32, anchor: Anchor) -> Place {
    let (wide, high) = size;
    let (left, top) = (if anchor == Anchor::Start { x } else { x - wide }, y - high / 2);
    Place { area: Area { left, top, right: left + wide, bottom: top + high }, anchor, block }
}

/// Places to the right of a point, then to the left, as near to its height as possible; and then
/// further down on the right.
fn beside(
    sizes: Sizes,
    at: Point,
    right: i32,
    left: i32,
    down: i32,
) -> impl Iterator<Item = Place> {
    let forms = move |sizes: Sizes, x: i32, y: i32, anchor: Anchor| {
        let known = sizes.into_iter().enumerate();
        known.filter_map(move |(i, size)| Some(at_side(size?, i, x, y, anchor)))
    };
    let near = move |sizes: Sizes| {
        let sides = [(at.x + right, Anchor::Start), (at.x - left, Anchor::End)];
        sides.into_iter().flat_map(move |(x, anchor)| {
            OFFSETS.into_iter().flat_map(move |off| forms(sizes, x, at.y + off, anchor))
        })
    };
    // The third form is for want of a better one: it says less.
    let [first, second, third] = sizes;
    let full = [first, second, None];
    let lower = (at.y + 16..down).step_by(14).take(24);
    let lower = lower.flat_map(move |y| forms(full, at.x + right, y, Anchor::Start));
    // Above and under the sign there is more room than beside it, up to the lifeline.
    let under = sizes.into_iter().enumerate().filter_map(|(i, size)| Some((i, size?)));
    let under = under.flat_map(move |(i, size)| {
        let (clear, half) = (right - 3, size.1 / 2);
        let heights = [at.y + clear + half, at.y - clear - half];
        let sides = [(at.x + 5, Anchor::Start), (at.x - 5, Anchor::End)];
        let both = move |y| sides.map(|(x, anchor)| at_side(size, i, x, y, anchor));
        heights.into_iter().flat_map(both)
    });
    near(full).chain(lower).chain(under).chain(near([None, None, third]))
}

/// Places above and below a line for one form of a label, in each of these free stretches, the preferred
/// stretch first.
fn along<'a>(
    (block, (wide, high)): (usize, (i32, i32)),
    track: &'a [Point],
    stretches: &'a [(i32, i32)],
) -> impl Iterator<Item = Place> + 'a {
    let sides = [false, true].into_iter();
    let places = sides.flat_map(move |below| {
        let fitting = stretches.iter().filter(move |s| s.1 - s.0 >= wide);
        fitting.flat_map(move |s| {
            [2, 3, 1, 4, 0].map(|part| (below, s.0 + (s.1 - s.0 - wide) * part / 4))
        })
    });
    places.filter_map(move |(below, left)| {
        let (a, b) = ends(track, left, left + wide)?;
        let top = if below { a.max(b) + 3 } else { a.min(b) - 3 - high };
        let area = Area { left, top, right: left + wide, bottom: top + high };
        Some(Place { area, anchor: Anchor::Middle, block })
    })
}

/// Places on a line.
fn upon<'a>(
    (wide, high): (i32, i32),
    track: &'a [Point],
    stretches: &'a [(i32, i32)],
) -> impl Iterator<Item = Place> + 'a {
    let places = stretches.iter().flat_map(move |s| {
        [4, 2, 6, 1, 7, 3, 5, 0, 8].map(|part| s.0 + (s.1 - s.0 - wide).max(0) * part / 8)
    });
    places.filter_map(move |left| {
        let (a, b) = ends(track, left, left + wide)?;
        let top = (a + b) / 2 - high / 2;
        let area = Area { left, top, right: left + wide, bottom: top + high };
        Some(Place { area, anchor: Anchor::Middle, block: 0 })
    })
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
    time_of: &dyn Fn(i32) -> Micros,
) -> Vec<i32> {
    sort_by_key(&mut wants, |w| (w.turn, w.y, w.event));
    let mut missing = Vec::new();
    for want in wants {
        let Some((place, crossed)) = choose(&want, board) else {
            if want.needed {
                missing.push(want.y);
            }
            continue;
        };
        board.block(place.claim());
        // On the wash of a band only ink keeps its contrast.
        let inside = bands.iter().any(|b| b.meets(&place.area));
        let role = if inside { Role::Ink } else { want.role };
        // What stands along an arrow appears when time has come as far, not when the arrow starts.
        let rides = matches!(want.spots, Spots::Along { .. } | Spots::Upon { .. });
        let middle = (place.area.top + place.area.bottom) / 2;
        let from = if rides { want.from.max(time_of(middle)) } else { want.from };
        draw(&Want { from, ..want }, &place, role, crossed && !inside, marks);
    }
    missing
}

fn choose(want: &Want, board: &Board) -> Option<(Place, bool)> {
    let size = |block| (block < want.face.count()).then(|| want.face.size(block));
    let first = want.face.size(0);
    match &want.spots {
        Spots::Given(places) => board.choose(places.iter().copied()),
        Spots::Beside { at, right, left, down } => {
            board.choose(beside([size(0), size(1), size(2)], *at, *right, *left, *down))
        }
        Spots::Along { track, stretches } => {
            let forms = [0, 1, 2].into_iter().filter_map(|block| Some((block, size(block)?)));
            board.choose(forms.flat_map(|form| along(form, track, stretches)))
        }
        Spots::Upon { track, stretches } => board.choose(upon(first, track, stretches)),
    }
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
        Face::Seats(seats, more) => {
            let at = Point { x: area.left, y: area.top };
            push(Shape::Seats { at, seats: seats.clone(), more: *more });
        }
        Face::Ballot(ballot, blocks) => {
            let lines = blocks.get(place.block).map_or(&[][..], Vec::as_slice);
            let at = Point { x: area.left, y: area.top };
            let (boxes, under) = boxed(*ballot, place.block);
            if boxes > 0 {
                push(Shape::Ballot { at, ballot: *ballot });
            }
            let place = Place { area: Area { top: area.top + under, ..*area }, ..*place };
            written(lines, &place, halo, push);
        }
        Face::Blocks(blocks) => {
            let lines = blocks.get(place.block).map_or(&[][..], Vec::as_slice);
            written(lines, place, halo, push);
        }
    }
}

/// How wide the boxes of a ballot are, and how far under their top the words begin. The third form,
/// for want of room, has words alone.
fn boxed(ballot: Ballot, block: usize) -> (i32, i32) {
    if block < 2 { (TICK * ballot.counts()[2] as i32, TICK + 1) } else { (0, 0) }
}

/// Lines of words at a place.
fn written(lines: &[Line], place: &Place, halo: bool, mut push: impl FnMut(Shape)) {
    let area = &place.area;
    let x = match place.anchor {
        Anchor::Start => area.left,
        Anchor::Middle => (area.left + area.right) / 2,
        Anchor::End => area.right,
    };
    for (row, line) in lines.iter().enumerate() {
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
