//! From a run to a picture.

use super::board::{Board, Place};
use super::crowd::{Gauge, is_crowd};
use super::height::{Frozen, axis, knots};
use super::labels::{Face, Line, Spots, Want, blocks, place, single};
use super::lanes::{self, HEADER, reach};
use super::palette::Role;
use super::picture::{Anchor, Area, Knot, Lane, Layout, Mark, Picture, Point, Scale, Shape};
use super::rests::apart;
use super::signs::{Sign, signs};
use super::story::{Bar, Fold, Story, Stretch, slow};
use crate::judge::{Finding, IntervalKind};
use crate::narrate;
use crate::run::{NodeKind, Run};
use crate::sim::{EventId, Halt, Micros, MsgId, ProcId, Set, What, sort, sort_by_key};

/// How often a picture is laid out anew because labels lacked room.
const ROUNDS: usize = 4;
/// On a page narrower than this, lanes move together so that all of them are in sight.
const NARROW: i32 = 560;
/// How wide a line of words is at most, where words have to be broken.
pub(super) const SHORT_LINE: i32 = 60;
/// Between lanes that stand this far apart, most words have room.
const ROOMY: i32 = 112;
/// How much room is made where a label found none.
const ROOM: i32 = 14;

/// Lays a run out.
pub fn layout(run: &Run, layout: &Layout) -> Picture {
    laid_out(run, layout, None)
}

/// Lays a run out while a hand moves an edge of it: everything up to that moment stands where it
/// stood, the edge lies where the map says, and only what comes after it finds its place anew.
pub fn layout_frozen(run: &Run, layout: &Layout, map: &Frozen, edge: Micros) -> Picture {
    laid_out(run, layout, Some((map, edge)))
}

/// Lays two runs out so that the same moment lies at the same height in both.
pub fn layout_both(runs: [&Run; 2], layout: &Layout) -> [Picture; 2] {
    let [one, other] = runs.map(|run| laid_out(run, layout, None));
    let map = Frozen::both(&one, &other);
    runs.map(|run| laid_out(run, layout, Some((&map, Micros(u64::MAX)))))
}

fn laid_out(run: &Run, layout: &Layout, frozen: Option<(&Frozen, Micros)>) -> Picture {
    let story = Story::of(run);
    let signs = signs(run);
    let mut extra = vec![0; story.moments.len()];
    let knots = |extra: &[i32]| knots(&story, HEADER + 22, extra, frozen);
    for _ in 1..ROUNDS {
        let knots = knots(&extra);
        let (picture, missing) = Composer::compose(run, &story, &signs, layout, knots);
        if missing.is_empty() {
            return picture;
        }
        for y in missing {
            let next = picture.knots.partition_point(|k| k.y <= y);
            if let Some(room) = next.checked_sub(1).and_then(|i| extra.get_mut(i)) {
                *room += ROOM;
            }
        }
    }
    Composer::compose(run, &story, &signs, layout, knots(&extra)).0
}

/// A picture while it is put together.
pub(super) struct Composer<'r> {
    pub(super) run: &'r Run,
    pub(super) story: &'r Story,
    pub(super) picture: Picture,
    pub(super) board: Board,
    marks: Vec<Mark>,
    pub(super) wants: Vec<Want>,
    bands: Vec<Area>,
    pub(super) reaches: Vec<i32>,
    /// A message that travels longer than this says so.
    pub(super) slow: Micros,
    /// The left edge of all that is not the axis.
    left: i32,
    /// The lanes have moved together: words are broken into short lines where they do not fit.
    pub(super) tight: bool,
    /// There are so many clients that their lanes stand close together.
    pub(super) crowd: bool,
    gauge: Gauge,
}

impl<'r> Composer<'r> {
    fn compose(
        run: &'r Run,
        story: &'r Story,
        signs: &[Sign],
        layout: &Layout,
        knots: Vec<Knot>,
    ) -> (Picture, Vec<i32>) {
        let mut composer = Composer::new(run, story, layout, knots);
        composer.lifelines();
        composer.overlaps();
        composer.bars();
        composer.broken();
        composer.kept();
        composer.tallies();
        composer.rests();
        composer.lapses();
        composer.sections();
        composer.spans();
        story.folds.iter().for_each(|fold| composer.fold(fold));
        let places = composer.signs(signs);
        composer.owners();
        story.cuts.iter().for_each(|cut| composer.cut(cut));
        composer.glances();
        composer.rounds();
        composer.turns();
        story.flights.iter().for_each(|flight| composer.flight(flight, &places));
        story.crowded.iter().for_each(|many| composer.many(many));
        let Composer { mut picture, mut board, mut marks, wants, bands, left, .. } = composer;
        let missing = place(wants, &mut board, &bands, &mut marks, &|y| picture.time_of(y));
        axis(run, story, &picture, left, &mut marks);
        sort_by_key(&mut marks, |m| (layer(&m.shape), m.bounds.top, m.event));
        picture.marks = marks;
        (picture, missing)
    }

    fn new(run: &'r Run, story: &'r Story, layout: &Layout, knots: Vec<Knot>) -> Composer<'r> {
        let asked = match layout.scale {
            Scale::Page => layout.width,
            Scale::Wall => layout.width * 3 / 5,
        };
        let tight = layout.scale == Scale::Page && asked < NARROW;
        let left = lanes::axis(run);
        let crowd = is_crowd(run);
        let (lanes, heads, width) = lanes::lanes(run, story, left, asked, tight);
        let height = knots.last().map_or(HEADER, |k| k.y) + 44;
        let reaches = lanes.iter().map(|l| reach(run, l, story)).collect();
        let picture = Picture {
            width,
            room: layout.width,
            height,
            header_height: HEADER,
            scale: layout.scale,
            lanes,
            heads,
            marks: Vec::new(),
            shared: story.shared(),
            knots,
        };
        let limits = Area { left: left + 4, top: HEADER + 2, right: width - 4, bottom: height };
        let board = Board::new(limits);
        let (marks, wants, bands) = (Vec::new(), Vec::new(), Vec::new());
        let slow = slow(run);
        let gauge = Gauge::of(run);
        Composer {
            run,
            story,
            picture,
            board,
            marks,
            wants,
            bands,
            reaches,
            slow,
            left,
            tight,
            crowd,
            gauge,
        }
    }

    pub(super) fn y(&self, at: Micros) -> i32 {
        self.picture.y_of(at)
    }

    fn lane(&self, node: ProcId) -> Option<&Lane> {
        self.picture.lanes.get(usize::from(node.0))
    }

    pub(super) fn x(&self, node: ProcId) -> i32 {
        self.lane(node).map_or(0, |l| l.x)
    }

    pub(super) fn reach(&self, node: ProcId) -> i32 {
        self.reaches.get(usize::from(node.0)).copied().unwrap_or(0)
    }

    pub(super) fn push(
        &mut self,
        event: EventId,
        role: Role,
        from: Micros,
        until: Option<Micros>,
        shape: Shape,
    ) {
        let bounds = shape.bounds();
        self.marks.push(Mark { event, role, shape, from, until, bounds });
    }

    fn lifelines(&mut self) {
        let bottom = self.picture.height - 14;
        let lanes: Vec<(ProcId, i32)> = self.picture.lanes.iter().map(|l| (l.node, l.x)).collect();
        for (node, x) in lanes {
            let mut top = HEADER - 8;
            let mut from = Micros::ZERO;
            let client = self.run.names().node(node).kind == NodeKind::Client;
            let member = self.run.names().member(node).is_some();
            let close = self.tight && member || self.across();
            if close || self.crowd && client {
                // Between lanes that stand as close as this no words would ever have room.
                self.board.draw(Point { x, y: top }, Point { x, y: bottom });
            } else {
                self.board.block(Area { left: x - 2, top, right: x + 2, bottom });
            }
            let story = self.story;
            for down in story.downs.iter().filter(|d| d.node == node) {
                let (crash, back) = (self.y(down.from), self.y(down.to));
                let back = if down.ended.is_some() { back } else { bottom };
                let alive = Shape::Lifeline { x, top, bottom: crash, dashed: false };
                self.push(down.event, Role::Ink, from, Some(down.from), alive);
                let dead = Shape::Lifeline { x, top: crash, bottom: back, dashed: true };
                self.push(down.event, Role::Muted, down.from, Some(down.to), dead);
                (top, from) = (back, down.to);
            }
            let rest = Shape::Lifeline { x, top, bottom, dashed: false };
            self.push(EventId(0), Role::Ink, from, None, rest);
        }
    }

    fn overlaps(&mut self) {
        let served = |l: &&Lane| l.kind == NodeKind::Service;
        let right =
            self.picture.lanes.iter().rev().find(served).map_or(self.picture.width, |l| l.x);
        for finding in &self.run.judgement.findings {
            let Finding::Overlap { event, from, to, clients, .. } = finding else { continue };
            let (top, bottom) = (self.y(*from), self.y(*to));
            let area = Area { left: self.left + 6, top, right: right + 10, bottom };
            self.push(*event, Role::Danger, *from, Some(*to), Shape::Band { area });
            self.board.block(Area { right: area.left + 8, ..area });
            for y in [top, bottom] {
                self.board.draw(Point { x: area.left, y }, Point { x: area.right, y });
            }
            self.bands.push(area);
            self.believers(*event, *from, *to, clients, &area);
        }
    }

    fn believers(
        &mut self,
        event: EventId,
        from: Micros,
        to: Micros,
        clients: &[ProcId],
        band: &Area,
    ) {
        let first = format!("{} believers", clients.len());
        let second = format!("for {}", narrate::span(to.since(from)));
        let line = |text: &str, strong| Line { text: text.into(), strong };
        let lasts = narrate::span(to.since(from));
        let face = Face::Blocks(vec![
            vec![line(&first, true), line(&second, false)],
            vec![line(&format!("{first} {second}"), true)],
            vec![
                line(&clients.len().to_string(), true),
                line("believe", true),
                line(&lasts, false),
            ],
        ]);
        let mut places = Vec::new();
        for block in 0..face.forms() {
            let (wide, high) = face.size(block);
            let middle = (band.top + band.bottom - high) / 2;
            let reach = (band.bottom - band.top) / 2;
            for off in (0..reach.max(1)).step_by(6).flat_map(|d| [-d, d]) {
                for lane in &self.picture.lanes {
                    let (left, top) = (lane.x + 14, middle + off);
                    let area = Area { left, top, right: left + wide, bottom: top + high };
                    let inside = area.top > band.top + 2 && area.bottom < band.bottom - 2;
                    if inside && area.right < band.right {
                        places.push(Place { area, anchor: Anchor::Start, block });
                    }
                }
            }
        }
        // How long it lasts is known when it is over.
        let (role, y, spots) = (Role::Ink, band.top, Spots::Given(places));
        self.wants.push(Want { event, role, from: to, face, spots, turn: 2, y, needed: true });
    }

    fn bars(&mut self) {
        for bar in &self.story.bars {
            let x = self.x(bar.client) - self.story.pitch() * bar.column;
            let (top, bottom) = (self.y(bar.from), self.y(bar.to.min(self.run.end)));
            match bar.kind {
                IntervalKind::Truth => {
                    let [left, right] = self.gauge.truth;
                    let area = Area { left: x - left, top, right: x - right, bottom };
                    self.span(bar, Role::Hold, Shape::Truth { area }, area);
                    if let Some(event) = bar.cap {
                        let [left, right] = self.gauge.cap;
                        let cap = Shape::Cap { left: x - left, right: x - right, y: bottom };
                        self.push(event, Role::Ink, bar.to, None, cap);
                    }
                }
                IntervalKind::Belief => {
                    let [left, right] = self.gauge.belief;
                    let area = Area { left: x - left, top, right: x - right, bottom };
                    let role = if bar.stale { Role::Stale } else { Role::Hold };
                    self.span(bar, role, Shape::Belief { area }, area);
                }
                IntervalKind::Promise => {
                    let reach = self.gauge.reach + 3 + self.story.aside();
                    let (left, right) = (x - reach, x - 4);
                    let tick = Shape::PromiseEnd { left, right, y: bottom };
                    self.push(bar.event, Role::Muted, bar.to, None, tick);
                }
            }
        }
        self.waits();
    }

    /// How long clients wait, up to the truth that ends their waiting.
    fn waits(&mut self) {
        let truths = self.story.bars.iter().filter(|b| b.kind == IntervalKind::Truth);
        let mut truths: Vec<(ProcId, Micros)> = truths.map(|b| (b.client, b.from)).collect();
        sort(&mut truths);
        let mut told = Set::new();
        for wait in &self.story.waits {
            let x = self.x(wait.node);
            // Its outline makes way for the truth that ends the waiting.
            let next = truths.partition_point(|t| *t <= (wait.node, wait.from));
            let granted = truths.get(next).filter(|t| t.0 == wait.node);
            let to = granted.map_or(wait.to, |t| t.1.min(wait.to));
            let (top, bottom) = (self.y(wait.from), self.y(to));
            let (left, right) = (self.gauge.reach, self.gauge.truth[1]);
            let area = Area { left: x - left, top, right: x - right, bottom };
            self.push(wait.event, Role::Muted, wait.from, Some(wait.to), Shape::Waiting { area });
            if self.tight || self.crowd || self.across() {
                // A dotted outline bears words across it, where there is no other room for them.
                for x in [area.left, area.right] {
                    self.board.dot(Point { x, y: top }, Point { x, y: bottom });
                }
            } else {
                self.board.block(area);
            }
            // Where lanes stand close, a client's first wait says what its outline means; the words of
            // another would only lie on a neighbour's lifeline.
            if !self.crowd && (told.insert(wait.node) || !self.across()) {
                self.beside(wait, wait.from, "waiting", 12, 4);
            }
        }
    }

    /// Work that no lock covers stands where the truth would stand that covers it.
    fn sections(&mut self) {
        for section in &self.story.sections {
            let x = self.x(section.node);
            let (top, bottom) = (self.y(section.from), self.y(section.to));
            let [left, right] = self.gauge.truth;
            let area = Area { left: x - left, top, right: x - right, bottom };
            let shape = Shape::Section { area };
            self.push(section.event, Role::Ink, section.from, Some(section.to), shape);
            self.board.block(area);
            self.beside(section, section.from, "at work", 12, 4);
        }
    }

    /// Whether words may stand across lifelines: where lanes stand close and each has much to say.
    pub(super) fn across(&self) -> bool {
        let close = |pair: &[Lane]| !pair[1].grouped && pair[1].x - pair[0].x < ROOMY;
        let narrow = self.tight || self.picture.lanes.windows(2).any(close);
        self.run.names().led() && narrow && !self.crowd
    }

    /// A label's face, which may be broken into short lines where lanes have moved together.
    pub(super) fn face(&self, face: Face) -> Face {
        if self.tight || self.across() { face.or_wrapped(SHORT_LINE) } else { face }
    }

    fn span(&mut self, bar: &Bar, role: Role, shape: Shape, area: Area) {
        self.push(bar.event, role, bar.from, Some(bar.to), shape);
        self.board.block(area);
    }

    /// Words of a span, near its beginning or anywhere along it.
    fn beside(&mut self, stretch: &Stretch, from: Micros, words: &str, right: i32, turn: u8) {
        let (top, down) = (self.y(stretch.from), self.y(stretch.to));
        let at = Point { x: self.x(stretch.node), y: top + 2 };
        let left = self.reach(stretch.node) + 2;
        let (event, role, face) = (stretch.event, Role::Muted, self.face(single(words)));
        let spots = Spots::Beside { at, right, left, down };
        self.wants.push(Want { event, role, from, face, spots, turn, y: top, needed: true });
    }

    fn spans(&mut self) {
        for pause in &self.story.pauses {
            let x = self.x(pause.node);
            let (top, bottom) = (self.y(pause.from), self.y(pause.to));
            let halt = match self.run.record.event(pause.event).what {
                What::Halt(how, _) => how,
                _ => Halt::Pause,
            };
            let ladder = Shape::Ladder { x, top, bottom };
            self.push(pause.event, Role::Muted, pause.from, Some(pause.to), ladder);
            self.board.block(Area { left: x - 6, top, right: x + 6, bottom });
            let ends = [(Some(pause.event), pause.from), (pause.ended, pause.to)];
            for (event, at) in ends {
                let at_point = Point { x, y: self.y(at) };
                if let Some(event) = event {
                    let sign = Shape::PauseSign { at: at_point, how: halt };
                    self.board.block(sign.bounds());
                    self.push(event, Role::Muted, at, None, sign);
                }
            }
            let length = narrate::span(pause.to.since(pause.from));
            let words = format!("{} {length}", narrate::stopped(halt));
            self.beside(pause, pause.from, &words, 15, 3);
        }
    }

    fn fold(&mut self, fold: &Fold) {
        let y = (self.y(fold.from) + self.y(fold.to)) / 2;
        let at = self.picture.time_of(y);
        // Whole waves of 16 px, which cover the bars of a client and are even about the others.
        let lanes = self.picture.lanes.iter().zip(&self.reaches);
        let across: Vec<(i32, i32)> = lanes
            .map(|(lane, reach)| match lane.kind {
                NodeKind::Client if self.crowd => (lane.x - 8, lane.x + 8),
                NodeKind::Client => (lane.x + 12 - (reach + 12 + 15) / 16 * 16, lane.x + 12),
                _ => (lane.x - 16, lane.x + 16),
            })
            .collect();
        for lane in &across {
            self.board.block(Shape::Fold { across: vec![*lane], y }.bounds());
        }
        self.push(fold.event, Role::Muted, at, None, Shape::Fold { across, y });
        let mut lines = vec![format!("{} pass", narrate::span(fold.to.since(fold.from)))];
        let tell = |n: u32, one: &str, many: &str| match n {
            0 => None,
            1 => Some(format!("1 {one}")),
            n => Some(format!("{n} {many}")),
        };
        lines.extend(tell(fold.refused, "refused try", "refused tries"));
        lines.extend(tell(fold.renewed, "renewal", "renewals"));
        // Where there is room for it.
        let beats = tell(fold.beats, "heartbeat", "heartbeats");
        let more: Vec<String> = beats.into_iter().chain(fold.rests.map(apart)).collect();
        let face = if more.is_empty() {
            blocks(&[lines], false)
        } else {
            blocks(&[[lines.clone(), more].concat(), lines], false)
        };
        let face = self.face(face);
        let mut places = Vec::new();
        let offsets = [0, 10, -10, 18, -18];
        for (block, off) in (0..face.forms()).flat_map(|b| offsets.map(|off| (b, off))) {
            let (wide, high) = face.size(block);
            let pairs = self.picture.lanes.windows(2).zip(&self.reaches[1..]);
            for (pair, reach) in pairs.rev() {
                let (from, to) = (pair[0].x + 14, pair[1].x - reach.max(&14));
                let left = (from + to - wide) / 2;
                let top = y + off - high / 2;
                let area = Area { left, top, right: left + wide, bottom: top + high };
                if left >= from {
                    places.push(Place { area, anchor: Anchor::Middle, block });
                }
            }
        }
        let (event, role, y) = (fold.event, Role::Muted, self.y(fold.from));
        let spots = Spots::Given(places);
        self.wants.push(Want { event, role, from: at, face, spots, turn: 1, y, needed: true });
    }

    /// Places the signs, each on its lane at its moment or just under an earlier one; returns where
    /// the messages that they answer end.
    fn signs(&mut self, signs: &[Sign]) -> Vec<(MsgId, Point, i32)> {
        let mut ends = Vec::new();
        let mut free = vec![i32::MIN; self.picture.lanes.len()];
        for sign in signs.iter().filter(|sign| !self.story.quiet.contains(&sign.event)) {
            let Some(x) = self.lane(sign.node).map(|l| l.x) else { continue };
            let reach = sign.kind.reach();
            let free = &mut free[usize::from(sign.node.0)];
            let at = Point { x, y: self.picture.y_of(sign.at).max(free.saturating_add(reach)) };
            if let Some(shape) = sign.kind.shape(at) {
                *free = at.y + reach + 5;
                self.board.block(shape.bounds());
                self.push(sign.event, sign.role, sign.at, None, shape);
            }
            if sign.by_hand {
                let (from, to) =
                    (Point { x: x - HAND, y: at.y - 14 }, Point { x: x - reach, y: at.y });
                let shape = Shape::Hand { from, to };
                self.board.draw(from, to);
                self.push(sign.event, Role::Ink, sign.at, None, shape);
            }
            ends.extend(sign.message.map(|m| (m, at, reach)));
            if sign.words.is_empty() {
                continue;
            }
            let (face, spots) = self.signed(sign, at, reach);
            self.wants.push(Want {
                event: sign.event,
                role: sign.role,
                from: sign.at,
                face,
                spots,
                turn: if sign.needed { 0 } else { 7 },
                y: at.y,
                needed: sign.needed,
            });
        }
        sort_by_key(&mut ends, |e| e.0);
        ends
    }
}

/// How long the arrow is of what comes from outside, sideways.
const HAND: i32 = 52;

/// What lies on what.
fn layer(shape: &Shape) -> u8 {
    match shape {
        Shape::Band { .. } => 0,
        Shape::Lifeline { .. } | Shape::Tick { .. } => 1,
        Shape::Belief { .. }
        | Shape::Truth { .. }
        | Shape::Waiting { .. }
        | Shape::Kept { .. }
        | Shape::Silent { .. }
        | Shape::Stopwatch { .. }
        | Shape::Valid { .. }
        | Shape::Section { .. } => 2,
        Shape::Ladder { .. }
        | Shape::Rung { .. }
        | Shape::PromiseEnd { .. }
        | Shape::Cap { .. } => 3,
        Shape::Fold { .. } => 4,
        Shape::Cut { .. } | Shape::Heal { .. } => 5,
        Shape::Round { .. } | Shape::Fan { .. } => 5,
        Shape::Message { .. } | Shape::Held { .. } | Shape::Hand { .. } => 6,
        Shape::Words(_) => 9,
        Shape::Plate { .. } => 8,
        _ => 7,
    }
}
