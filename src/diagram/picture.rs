//! What a laid-out run is: lanes, marks, and the map between time and height.

use super::height;
use super::palette::Role;
use super::text;
use crate::judge::{Ballot, Standing};
use crate::run::NodeKind;
use crate::sim::{EventId, Halt, Micros, MsgId, ProcId};

/// How large text and signs are.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Scale {
    /// For a reader before a screen: the smallest text is 12 px.
    #[default]
    Page,
    /// For a room before a wall: the smallest text is 20 px.
    Wall,
}

/// What a layout may be asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// The width of the picture in pixels; a narrower one than the lanes need becomes wider.
    pub width: i32,
    /// How large text and signs are.
    pub scale: Scale,
}

impl Default for Layout {
    fn default() -> Self {
        Layout { width: 800, scale: Scale::Page }
    }
}

/// A place in a picture, in pixels.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Point {
    /// From the left.
    pub x: i32,
    /// From the top.
    pub y: i32,
}

/// A box in a picture, in pixels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Area {
    /// Its left edge.
    pub left: i32,
    /// Its top edge.
    pub top: i32,
    /// Its right edge.
    pub right: i32,
    /// Its bottom edge.
    pub bottom: i32,
}

impl Area {
    /// Whether two boxes share more than an edge.
    pub fn meets(&self, other: &Area) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

/// The line under a lane's name, from one moment on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Saying {
    /// From when.
    pub from: Micros,
    /// The event that made it so.
    pub event: EventId,
    /// `holds 42`, `42 → B`, `highest seen 42`.
    pub text: String,
}

/// The common name above the lanes of a group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Head {
    /// The box around the names of its lanes.
    pub area: Area,
    /// Its name.
    pub label: String,
    /// What stands beside the name, in the order of time.
    pub sayings: Vec<Saying>,
}

impl Head {
    /// What stands beside the name at that moment, and since when.
    pub fn saying(&self, at: Micros) -> Option<&Saying> {
        let next = self.sayings.partition_point(|s| s.from <= at);
        next.checked_sub(1).and_then(|i| self.sayings.get(i))
    }
}

/// A lane: a node's header box and its lifeline.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lane {
    /// Whose.
    pub node: ProcId,
    /// What it is.
    pub kind: NodeKind,
    /// Where its lifeline runs.
    pub x: i32,
    /// The header box.
    pub header: Area,
    /// Its name; of one in a group, what tells it apart.
    pub label: String,
    /// It stands under a common name.
    pub grouped: bool,
    /// What stands under the name, in the order of time.
    pub sayings: Vec<Saying>,
    /// What it is to the other servers from when on, where one of them leads.
    pub stands: Vec<(Micros, Standing)>,
}

impl Lane {
    /// What stands under the name at that moment.
    pub fn saying(&self, at: Micros) -> &str {
        let next = self.sayings.partition_point(|s| s.from <= at);
        let last = next.checked_sub(1).and_then(|i| self.sayings.get(i));
        last.map_or("", |s| s.text.as_str())
    }

    /// The last moment up to this one at which what stands under the name changed; the beginning, if none did.
    fn turned(&self, at: Micros) -> Micros {
        let said = self.sayings.partition_point(|s| s.from <= at);
        let said = said.checked_sub(1).and_then(|i| self.sayings.get(i)).map(|s| s.from);
        let stood = self.stands.partition_point(|s| s.0 <= at);
        let stood = stood.checked_sub(1).and_then(|i| self.stands.get(i)).map(|s| s.0);
        said.max(stood).unwrap_or_default()
    }

    /// What it is to the other servers at that moment.
    pub fn stand(&self, at: Micros) -> Option<Standing> {
        let next = self.stands.partition_point(|s| s.0 <= at);
        next.checked_sub(1).and_then(|i| self.stands.get(i)).map(|s| s.1)
    }
}

/// How a line of text stands to its point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Anchor {
    /// It begins there.
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
    End,
}

/// A run of words at a place; `y` is the baseline.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Words {
    /// What it says.
    pub text: String,
    /// The point that it is anchored to, on its baseline.
    pub at: Point,
    /// How it stands to that point.
    pub anchor: Anchor,
    /// The size of the letters, in pixels.
    pub size: i32,
    /// Heavier than its surroundings.
    pub strong: bool,
    /// Figures in a column: a fixed width.
    pub mono: bool,
    /// A rim of the page's colour keeps a line that crosses them away from the letters.
    pub halo: bool,
}

/// What becomes of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It arrives.
    Arrives,
    /// It is lost on its way.
    Lost,
    /// It is still on its way when the run ends.
    Open,
}

/// The drawing of a mark. Closed: the page and the file draw every case through [`super::paths`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "each variant says what its fields are")]
pub enum Shape {
    /// A stretch of a lifeline; dashed while its process is dead.
    Lifeline { x: i32, top: i32, bottom: i32, dashed: bool },
    /// A moment on the time axis.
    Tick { left: i32, right: i32, y: i32 },
    /// Elided time: two wavy lines across each lane, from the left to the right of its marks.
    Fold { across: Vec<(i32, i32)>, y: i32 },
    /// Two or more believers: a band behind the lanes, with dotted edges and a bracket.
    Band { area: Area },
    /// A client believes: an outlined, hatched bar.
    Belief { area: Area },
    /// The service says so: a solid bar.
    Truth { area: Area },
    /// Where a promise ends: a tick beside the bars.
    PromiseEnd { left: i32, right: i32, y: i32 },
    /// Where a truth ends other than by its holder's release: a flat cap.
    Cap { left: i32, right: i32, y: i32 },
    /// Time ran out: an hourglass in a ring.
    Hourglass { at: Point },
    /// A contender waits: a dotted outline.
    Waiting { area: Area },
    /// A client is at work without any lock: an empty bar.
    Section { area: Area },
    /// One of several servers has the lock as this client's: a slim bar in that client's pattern.
    Kept { area: Area, whose: u16 },
    /// From the first question of a try to its decision: a thin bracket.
    Stopwatch { left: i32, right: i32, top: i32, bottom: i32 },
    /// For how long a client may act by its own arithmetic: a slim empty bar.
    Valid { area: Area },
    /// What several servers answered: a box each, with a tick, a stroke, or nothing in it. The corner
    /// is the upper left one.
    Ballot { at: Point, ballot: Ballot },
    /// One of several servers says yes: a small box with a tick.
    Yes { at: Point },
    /// It says no: a small box with a stroke.
    No { at: Point },
    /// A client asks again, after a rest: a rung across the outline of its waiting.
    Rung { left: i32, right: i32, y: i32 },
    /// A deadline that drains: what is left of its span, in thousandths; none while its clock stands.
    Ring { at: Point, left: Option<u16> },
    /// Words on a filled plate, in the page's own colour.
    Plaque { area: Area, text: String },
    /// A session that drains: what is left of it and of what comes on top because its end is rounded up,
    /// in thousandths of both; nothing while its clock stands.
    Session { at: Point, left: Option<[u16; 2]> },
    /// A paused span: a ladder on the lifeline.
    Ladder { x: i32, top: i32, bottom: i32 },
    /// The sign at both ends of a pause.
    PauseSign { at: Point, how: Halt },
    /// A clock was stepped, or runs at another rate: a clock's face.
    ClockFace { at: Point },
    /// A message: a track whose height is its time, so that it is wherever the track crosses the
    /// height of the present moment. `soft` draws an answer that says nothing new more lightly. Its
    /// words and its plate are marks of their own. A lost one ends at a cross.
    Message {
        id: MsgId,
        track: Vec<Point>,
        sent: Micros,
        arrives: Option<Micros>,
        fate: Fate,
        soft: bool,
    },
    /// A message is held at this point until the way heals.
    Held { at: Point },
    /// A token in a rounded plate, centred there.
    Plate { at: Point, text: String, width: i32 },
    /// Words.
    Words(Words),
    /// The resource accepts a write: a filled square with a tick.
    Accepted { at: Point },
    /// It accepts a write that came late and did no harm: the same square, outlined and hatched.
    StaleAccepted { at: Point },
    /// A job was done once more: two stacked squares.
    Duplicate { at: Point },
    /// It refuses an operation: an octagon with a shield and a slash.
    Rejected { at: Point },
    /// Harm: a starburst with an exclamation mark.
    Corruption { at: Point },
    /// A section ended with a part of its writes: a torn square.
    Torn { at: Point },
    /// A process dies: lightning across its lifeline.
    Crash { at: Point },
    /// A dead process starts again: a turning arrow.
    Restart { at: Point },
    /// The way between two lanes is cut: a jagged line from one moment to another.
    Cut { x: i32, top: i32, bottom: i32 },
    /// A way is whole again.
    Heal { at: Point },
    /// Nothing is known of what happens there: a wash, dotted at its edges.
    Fog { area: Area },
    /// A way between two nodes; dotted where it only joins a lock to what it guards.
    Link { from: Point, to: Point, dotted: bool },
    /// A node's box.
    Box { area: Area },
    /// Something reaches a lane from outside of the picture: a short dashed arrow to the edge of its sign.
    Hand { from: Point, to: Point },
    /// Something changed that has no sign of its own: a small diamond.
    Notice { at: Point },
    /// What a leader and the other servers say about a change: thin lines out, back and out again. Where
    /// another's word arrives is a dot, and a larger one where it makes the majority.
    Round { legs: Vec<[Point; 2]>, words: Vec<Point>, decides: Option<Point> },
    /// One watches another, or several do from one moment on: an eye and a dashed curve each; when they
    /// are told, the eyes open and the curves are solid. Both ends in one place have no curve.
    Watch { ends: Vec<[Point; 2]>, fired: bool },
    /// What many send to one, or one to many, in one instant: a thin line each.
    Fan { legs: Vec<[Point; 2]> },
    /// Nothing is heard of a client's session: a slim bar in that client's pattern.
    Silent { area: Area, whose: u16 },
    /// Who stands in a queue, a box each, whoever holds the lock in a filled one, and how many more. The
    /// corner is the upper left one.
    Seats { at: Point, seats: Vec<(String, bool)>, more: usize },
}

/// One mark of a picture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark {
    /// The event that it shows. Every event has a sentence.
    pub event: EventId,
    /// What it means.
    pub role: Role,
    /// What it looks like.
    pub shape: Shape,
    /// The first moment at which it is visible.
    pub from: Micros,
    /// The end of its span, where it has one.
    pub until: Option<Micros>,
    /// The box that it lies in.
    pub bounds: Area,
}

/// The side of a box with an answer in it.
pub(super) const TICK: i32 = 12;
/// The height of a place in a queue.
pub(super) const SEAT: i32 = 17;

/// How wide a place in a queue is that has this name on it.
pub(super) fn seat_width(name: &str) -> i32 {
    (text::width(name, text::SIZE, true, false) + 6).max(SEAT)
}

/// How many more there are, in words.
pub(super) fn more_words(more: usize) -> String {
    if more == 0 { String::new() } else { format!("+{more}") }
}

/// How wide a queue is.
pub(super) fn seats_width(seats: &[(String, bool)], more: usize) -> i32 {
    if seats.is_empty() {
        return text::width(NOBODY, text::SIZE, false, false);
    }
    let wide: i32 = seats.iter().map(|seat| seat_width(&seat.0)).sum();
    let more = more_words(more);
    wide + if more.is_empty() { 0 } else { 4 + text::width(&more, text::SIZE, false, false) }
}

/// The box around lines, with so much room.
fn around(lines: &[[Point; 2]], room: i32) -> Area {
    let points = || lines.iter().flatten();
    Area {
        left: points().map(|p| p.x).min().unwrap_or(0) - room,
        top: points().map(|p| p.y).min().unwrap_or(0) - room,
        right: points().map(|p| p.x).max().unwrap_or(0) + room,
        bottom: points().map(|p| p.y).max().unwrap_or(0) + room,
    }
}

/// What is said of a queue in which nobody stands.
pub(super) const NOBODY: &str = "nobody queues";

impl Shape {
    /// The box of the eye of a watch.
    pub(super) fn eye(at: Point) -> Area {
        Area { left: at.x - 9, top: at.y - 6, right: at.x + 9, bottom: at.y + 6 }
    }

    /// The box that it lies in.
    pub fn bounds(&self) -> Area {
        let upright = |x: i32, reach: i32, top: i32, bottom: i32| Area {
            left: x - reach,
            top,
            right: x + reach,
            bottom,
        };
        match self {
            Shape::Lifeline { x, top, bottom, .. } => upright(*x, 1, *top, *bottom),
            Shape::Ladder { x, top, bottom } => upright(*x, 6, *top, *bottom),
            Shape::Cut { x, top, bottom } => upright(*x, 6, *top, *bottom),
            Shape::Tick { left, right, y }
            | Shape::PromiseEnd { left, right, y }
            | Shape::Rung { left, right, y }
            | Shape::Cap { left, right, y } => {
                Area { left: *left, top: y - 1, right: *right, bottom: y + 1 }
            }
            Shape::Fold { across, y } => Area {
                left: across.iter().map(|a| a.0).min().unwrap_or(0),
                top: y - 7,
                right: across.iter().map(|a| a.1).max().unwrap_or(0),
                bottom: y + 7,
            },
            Shape::Stopwatch { left, right, top, bottom } => {
                Area { left: *left, top: *top, right: *right, bottom: *bottom }
            }
            Shape::Ballot { at, ballot } => Area {
                left: at.x,
                top: at.y,
                right: at.x + TICK * ballot.counts()[2] as i32,
                bottom: at.y + TICK,
            },
            Shape::Link { from, to, .. } => Area {
                left: from.x.min(to.x) - 1,
                top: from.y.min(to.y) - 1,
                right: from.x.max(to.x) + 1,
                bottom: from.y.max(to.y) + 1,
            },
            Shape::Message { track, .. } => Area {
                left: track.iter().map(|p| p.x).min().unwrap_or(0) - 5,
                top: track.iter().map(|p| p.y).min().unwrap_or(0) - 5,
                right: track.iter().map(|p| p.x).max().unwrap_or(0) + 5,
                bottom: track.iter().map(|p| p.y).max().unwrap_or(0) + 5,
            },
            Shape::Plate { at, width, .. } => Area {
                left: at.x - width / 2,
                top: at.y - 10,
                right: at.x - width / 2 + width,
                bottom: at.y + 10,
            },
            Shape::Words(words) => super::text::area(words),
            Shape::Hand { from, to } => {
                let (top, bottom) = (from.y.min(to.y) - 4, from.y.max(to.y) + 4);
                Area { left: from.x.min(to.x), top, right: from.x.max(to.x), bottom }
            }
            sign => match (sign.area(), sign.sign()) {
                (Some(area), _) => area,
                (None, sign) => {
                    let (at, reach) = sign.unwrap_or_default();
                    upright(at.x, reach, at.y - reach, at.y + reach)
                }
            },
        }
    }

    /// The box of what is nothing but a box, or lines.
    fn area(&self) -> Option<Area> {
        Some(match self {
            Shape::Band { area }
            | Shape::Fog { area }
            | Shape::Box { area }
            | Shape::Belief { area }
            | Shape::Truth { area }
            | Shape::Section { area }
            | Shape::Kept { area, .. }
            | Shape::Plaque { area, .. }
            | Shape::Silent { area, .. }
            | Shape::Valid { area }
            | Shape::Waiting { area } => *area,
            Shape::Round { legs, .. } | Shape::Fan { legs } => around(legs, 5),
            Shape::Watch { ends, .. } => around(ends, 9),
            Shape::Seats { at, seats, more } => Area {
                left: at.x,
                top: at.y,
                right: at.x + seats_width(seats, *more),
                bottom: at.y + SEAT,
            },
            _ => return None,
        })
    }

    /// The place of a sign, and how far it reaches from there.
    fn sign(&self) -> Option<(Point, i32)> {
        let (at, reach) = match self {
            Shape::PauseSign { at, .. }
            | Shape::ClockFace { at }
            | Shape::Held { at }
            | Shape::Hourglass { at }
            | Shape::Ring { at, .. }
            | Shape::Session { at, .. }
            | Shape::Torn { at }
            | Shape::Restart { at } => (at, 9),
            Shape::Accepted { at } | Shape::StaleAccepted { at } => (at, 8),
            Shape::Duplicate { at } | Shape::Crash { at } => (at, 11),
            Shape::Rejected { at } => (at, 13),
            Shape::Corruption { at } => (at, 16),
            Shape::Heal { at } | Shape::Notice { at } => (at, 6),
            Shape::Yes { at } | Shape::No { at } => (at, 5),
            _ => return None,
        };
        Some((*at, reach))
    }

    /// Where a message is when the play head is at this height; none before it leaves and after it
    /// arrived.
    pub fn on_track(&self, y: i32) -> Option<Point> {
        let Shape::Message { track, .. } = self else { return None };
        let pair = track.windows(2).find(|p| p[0].y <= y && y < p[1].y.max(p[0].y + 1))?;
        let (from, to) = (pair[0], pair[1]);
        let (rise, run) = (i64::from((to.y - from.y).max(1)), i64::from(to.x - from.x));
        Some(Point { x: from.x + (run * i64::from(y - from.y) / rise) as i32, y })
    }
}

impl Mark {
    /// Whether it grows while time passes: the page clips it at the play head. The others appear
    /// whole at [`Mark::from`].
    pub fn grows(&self) -> bool {
        matches!(
            self.shape,
            Shape::Lifeline { .. }
                | Shape::Band { .. }
                | Shape::Belief { .. }
                | Shape::Truth { .. }
                | Shape::Waiting { .. }
                | Shape::Section { .. }
                | Shape::Kept { .. }
                | Shape::Stopwatch { .. }
                | Shape::Valid { .. }
                | Shape::Ladder { .. }
                | Shape::Round { .. }
                | Shape::Fan { .. }
                | Shape::Silent { .. }
                | Shape::Message { .. }
                | Shape::Cut { .. }
        )
    }
}

/// A point of the map between time and height; between two of them it is linear.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Knot {
    /// The moment.
    pub at: Micros,
    /// Its height.
    pub y: i32,
}

/// A run, laid out.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Picture {
    /// Its width.
    pub width: i32,
    /// The width that it was laid out for. Where lanes need more, the picture is wider.
    pub room: i32,
    /// Its height, header included.
    pub height: i32,
    /// How much of the height the header takes; lifelines begin there.
    pub header_height: i32,
    /// How large text and signs are.
    pub scale: Scale,
    /// The lanes, from left to right.
    pub lanes: Vec<Lane>,
    /// The common names of lanes that stand close together.
    pub heads: Vec<Head>,
    /// The marks, in the order of their tops.
    pub marks: Vec<Mark>,
    /// Events that have no mark of their own, each with the event whose mark shows them, sorted.
    pub shared: Vec<(EventId, EventId)>,
    /// The map between time and height, from the start of the run to its end.
    pub knots: Vec<Knot>,
}

impl Picture {
    /// The height at which a moment lies.
    pub fn y_of(&self, at: Micros) -> i32 {
        height::y_of(&self.knots, at).unwrap_or(self.header_height)
    }

    /// The first moment that lies at a height; the inverse of [`Picture::y_of`] at every knot.
    pub fn time_of(&self, y: i32) -> Micros {
        height::time_of(&self.knots, y).unwrap_or_default()
    }

    /// The last moment up to this one at which what stands under or beside the names changed. The header is the same from there on.
    pub fn turned(&self, at: Micros) -> Micros {
        let heads = self.heads.iter().filter_map(|head| head.saying(at)).map(|said| said.from);
        self.lanes.iter().map(|lane| lane.turned(at)).chain(heads).max().unwrap_or_default()
    }

    /// The event whose mark shows this one.
    pub fn shows(&self, event: EventId) -> EventId {
        let found = self.shared.binary_search_by_key(&event, |shared| shared.0);
        found.ok().and_then(|i| self.shared.get(i)).map_or(event, |shared| shared.1)
    }

    /// The marks that meet a stretch of height, in drawing order.
    pub fn marks_between(&self, top: i32, bottom: i32) -> impl Iterator<Item = &Mark> + '_ {
        self.marks.iter().filter(move |m| m.bounds.bottom >= top && m.bounds.top <= bottom)
    }
}
