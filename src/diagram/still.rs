//! A picture as it stands at a moment, cropped to what matters.

use super::draw::{filled, header, level, paths, pen};
use super::paint::{Dash, Element, Fill, Ink, Pen, Primitive};
use super::palette::Role;
use super::picture::{Anchor, Area, Mark, Picture, Point, Shape, Words};
use super::text::{SIZE, width};
use crate::narrate;
use crate::run::Run;
use crate::sim::{EventId, Micros};

/// How much room stays above the first moment and under the last one.
const MARGIN: i32 = 14;
/// How far under the present moment something may begin that is already so, and that has just come about.
const AHEAD: i32 = 24;
const NEWS: i32 = 96;
/// How far an outline stands off its mark.
const OFF: i32 = 3;

/// Which still picture.
///
/// It has no ids of its own, so that many may stand on one page. Hatched areas refer to the patterns
/// of [`super::defs`], which the page holds once.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Still {
    /// The play head: what comes later is not drawn. Without one, the whole run is.
    pub at: Option<Micros>,
    /// The upper edge of the crop, in pixels of the picture; otherwise where its lanes begin.
    pub top: Option<i32>,
    /// The lower edge; otherwise as far down as anything is drawn.
    pub bottom: Option<i32>,
    /// A moment to which a line is drawn across.
    pub rule: Option<Micros>,
    /// The signs, bars and arrows of these events are outlined.
    pub highlight: Vec<EventId>,
    /// What it is called by those who cannot see it; otherwise what stands under the names.
    pub name: Option<String>,
}

impl Still {
    /// What happened between two moments, as it stands at the later one.
    pub fn between(picture: &Picture, from: Micros, to: Micros) -> Still {
        let top = (picture.y_of(from) - MARGIN).max(picture.header_height);
        Still { at: Some(to), top: Some(top), ..Still::default() }
    }
}

/// The picture at that moment: the names with what is so, and below them the marks within the crop.
pub fn still(run: &Run, picture: &Picture, still: &Still) -> Element {
    let at = still.at;
    let head = at.map(|at| Head::of(picture, at));
    let y = head.as_ref().map_or(picture.height, |h| h.y);
    let rule = still.rule.map(|at| Head::of(picture, at));
    let covered = |m: &Mark| rule.as_ref().is_some_and(|r| r.covers(m));
    let seen = |m: &&Mark| {
        at.is_none_or(|at| m.from <= at) && head.iter().all(|h| h.leaves(m)) && !covered(m)
    };
    let (growing, whole): (Vec<&Mark>, Vec<&Mark>) =
        picture.marks.iter().filter(seen).partition(|m| grows_still(m, at));
    let lowest = whole.iter().map(|m| m.bounds.bottom).max().unwrap_or(0);
    let top = still.top.unwrap_or(picture.header_height);
    let bottom = still.bottom.unwrap_or((y.max(lowest) + MARGIN).min(picture.height)).max(top + 1);
    // Of a sign or a word, a half says nothing.
    let inside = |m: &&&Mark| m.bounds.top >= top && m.bounds.bottom <= bottom || m.grows();
    let lit = |m: &Mark| still.highlight.contains(&m.event);
    let (names, wide) = (picture.header_height, picture.width);
    let window = |until: i32| {
        let high = (until.min(bottom) - top).max(0);
        let svg = Element::new("svg").with("x", 0).with("y", names);
        let svg = svg.with("width", wide).with("height", high);
        svg.with("viewBox", format!("0 {top} {wide} {high}"))
    };
    let passes = |m: &&&Mark| m.bounds.bottom >= top && m.bounds.top <= bottom;
    let past = growing.iter().filter(passes).flat_map(|m| mark(m, lit(m), y));
    let signs = whole.iter().filter(passes).filter(inside).flat_map(|m| mark(m, lit(m), y));
    let heads = || head.iter().chain(&rule);
    let line = heads().map(|h| h.line(picture).element());
    let dots = growing.iter().filter_map(|m| dot(m, at?, y, lit(m)));
    let front = dots.chain(heads().flat_map(Head::plate)).map(|p| p.element());
    let high = names + bottom - top;
    Element::new("svg")
        .with("class", "still")
        .with("role", "img")
        .with("aria-label", still.name.clone().unwrap_or_else(|| name(run, picture, at)))
        .with("viewBox", format!("0 0 {wide} {high}"))
        .with("width", wide)
        .with("height", high)
        .holding([window(y).holding(past), window(bottom).holding(line.chain(signs).chain(front))])
        .holding(header(picture, Some(at.unwrap_or(run.end))).iter().map(Primitive::element))
}

/// The names above empty lifelines of that height, for a hand to draw between them.
pub fn blank(picture: &Picture, high: i32, name: &str) -> Element {
    let (wide, top) = (picture.width, picture.header_height - MARGIN);
    let upright = |x: i32, ink: Pen| Primitive::Line {
        from: Point { x, y: top },
        to: Point { x, y: high },
        pen: ink,
    };
    let lanes = picture.lanes.iter().map(|l| upright(l.x, pen(Role::Ink, 15, Dash::Solid)));
    let axis = upright(20, pen(Role::Muted, 10, Dash::Dashed));
    Element::new("svg")
        .with("class", "still")
        .with("role", "img")
        .with("aria-label", name)
        .with("viewBox", format!("0 0 {wide} {high}"))
        .with("width", wide)
        .with("height", high)
        .holding(lanes.chain([axis]).chain(header(picture, None)).map(|p| p.element()))
}

/// Whether a mark ends at the play head: a message that has arrived does not.
fn grows_still(mark: &Mark, at: Option<Micros>) -> bool {
    match (&mark.shape, at) {
        (Shape::Message { arrives: Some(arrives), .. }, Some(at)) => *arrives > at,
        _ => mark.grows(),
    }
}

/// The present moment.
struct Head {
    at: Micros,
    y: i32,
    words: String,
    plate: Area,
}

impl Head {
    fn of(picture: &Picture, at: Micros) -> Head {
        let (y, words) = (picture.y_of(at), narrate::moment(at));
        let right = width(&words, SIZE, true, false) + 12;
        Head { at, y, words, plate: Area { left: 0, top: y - 10, right, bottom: y + 10 } }
    }

    /// Whether a mark stands where time has come, and not under the plate.
    fn leaves(&self, mark: &Mark) -> bool {
        let ahead = if mark.from == self.at && !mark.grows() { NEWS } else { AHEAD };
        mark.bounds.top <= self.y + ahead && !self.covers(mark)
    }

    /// Whether the plate lies over these words.
    fn covers(&self, mark: &Mark) -> bool {
        matches!(mark.shape, Shape::Words(_)) && mark.bounds.meets(&self.plate)
    }

    fn line(&self, picture: &Picture) -> Primitive {
        level(self.plate.right, picture.width, self.y, pen(Role::Ink, 10, Dash::Dotted))
    }

    fn plate(&self) -> [Primitive; 2] {
        let figures = Primitive::Text {
            at: Point { x: self.plate.right / 2, y: self.y + 4 },
            text: self.words.clone(),
            anchor: Anchor::Middle,
            size: SIZE,
            strong: true,
            mono: false,
            ink: Ink::Ground,
            halo: false,
        };
        [filled(&self.plate, None, Fill::Solid(Role::Ink), 4), figures]
    }
}

/// What draws a mark, and its outline if it is the one that counts.
fn mark(mark: &Mark, lit: bool, head: i32) -> Vec<Element> {
    // What only begins has nothing yet to draw a line around.
    let lit = lit && !(mark.grows() && mark.bounds.top + OFF > head);
    let mut drawn = match &mark.shape {
        // The line of the present moment must not strike words through.
        Shape::Words(words) if mark.bounds.top < head && mark.bounds.bottom > head => {
            paths(&Shape::Words(Words { halo: true, ..words.clone() }), mark.role)
        }
        shape => paths(shape, mark.role),
    };
    match &mark.shape {
        Shape::Words(_)
        | Shape::Plate { .. }
        | Shape::Lifeline { .. }
        | Shape::Tick { .. }
        | Shape::Cap { .. }
        | Shape::PromiseEnd { .. } => {}
        Shape::Message { .. } if lit => drawn.splice(0..0, beneath(&drawn)).for_each(drop),
        _ if lit => {
            let b = &mark.bounds;
            let area = Area {
                left: b.left - OFF,
                top: b.top - OFF,
                right: b.right + OFF,
                bottom: b.bottom + OFF,
            };
            drawn.push(filled(&area, Some(pen(Role::Ink, 20, Dash::Solid)), Fill::None, OFF));
        }
        _ => {}
    }
    drawn.iter().map(Primitive::element).collect()
}

/// Two lines along an arrow: a broad one with a narrower gap in it.
fn beneath(arrow: &[Primitive]) -> Vec<Primitive> {
    let Some(Primitive::Path { data, pen: Some(stroke), .. }) = arrow.first() else {
        return Vec::new();
    };
    let along = |ink: Ink, tenths: i32| Primitive::Path {
        data: data.clone(),
        pen: Some(Pen { ink, tenths, ..*stroke }),
        fill: Fill::None,
    };
    vec![along(Ink::Role(Role::Ink), 90), along(Ink::Ground, 55)]
}

/// A message that is on its way; one that only leaves, if it is what counts.
fn dot(mark: &Mark, now: Micros, y: i32, lit: bool) -> Option<Primitive> {
    let Shape::Message { sent, .. } = &mark.shape else { return None };
    let leaves = *sent == now;
    let at = mark.shape.on_track(if leaves { y + 1 } else { y }).filter(|_| lit || !leaves)?;
    let ring = Some(pen(Role::Ink, 20, Dash::Solid));
    Some(Primitive::Circle { at, tenths: 45, pen: ring, fill: Fill::Ground })
}

/// The moment, and what stands under each name.
fn name(run: &Run, picture: &Picture, at: Option<Micros>) -> String {
    let moment = at.unwrap_or(run.end);
    let mut name = format!("Space-time diagram at {}.", narrate::moment(moment));
    for lane in &picture.lanes {
        let saying = lane.saying(moment);
        if !saying.is_empty() {
            name.push_str(&format!(" {}: {saying}.", run.names().node(lane.node).label));
        }
    }
    name
}
