//! From a run to a picture.

use super::board::Board;
use super::height::{axis, knots};
use super::labels::{Face, Line, Place, Want, along, beside, blocks, place, single, upon};
use super::lanes::{self, BARS, COLUMN, HEADER, reach};
use super::palette::Role;
use super::picture::{Anchor, Area, Fate, Lane, Layout, Mark, Picture, Point, Scale, Shape};
use super::signs::{Sign, signs};
use super::story::{Bar, End, Flight, Fold, Severed, Story, Stretch};
use super::words::short;
use crate::judge::{Finding, IntervalKind};
use crate::narrate;
use crate::run::{NodeKind, Run};
use crate::sim::{EventId, Micros, MsgId, ProcId};

/// How often a picture is laid out anew because labels lacked room.
const ROUNDS: usize = 6;
/// How much room is made where a label found none.
const ROOM: i32 = 14;

/// Lays a run out.
pub fn layout(run: &Run, layout: &Layout) -> Picture {
    let story = Story::of(run);
    let signs = signs(run);
    let mut extra = vec![0; story.moments.len()];
    for _ in 1..ROUNDS {
        let (picture, missing) = Composer::compose(run, &story, &signs, layout, &extra);
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
    Composer::compose(run, &story, &signs, layout, &extra).0
}

struct Composer<'r> {
    run: &'r Run,
    story: &'r Story,
    picture: Picture,
    board: Board,
    marks: Vec<Mark>,
    wants: Vec<Want>,
    bands: Vec<Area>,
    reaches: Vec<i32>,
    /// The left edge of all that is not the axis.
    left: i32,
}

impl<'r> Composer<'r> {
    fn compose(
        run: &'r Run,
        story: &'r Story,
        signs: &[Sign],
        layout: &Layout,
        extra: &[i32],
    ) -> (Picture, Vec<i32>) {
        let mut composer = Composer::new(run, story, layout, extra);
        composer.lifelines();
        composer.overlaps();
        composer.bars();
        composer.spans();
        story.folds.iter().for_each(|fold| composer.fold(fold));
        let places = composer.signs(signs);
        story.cuts.iter().for_each(|cut| composer.cut(cut));
        story.flights.iter().for_each(|flight| composer.flight(flight, &places));
        let Composer { mut picture, mut board, mut marks, wants, bands, left, .. } = composer;
        let missing = place(wants, &mut board, &bands, &mut marks);
        axis(run, story, &picture, left, &mut marks);
        marks.sort_by_key(|m| (layer(&m.shape), m.bounds.top, m.event));
        picture.marks = marks;
        (picture, missing)
    }

    fn new(run: &'r Run, story: &'r Story, layout: &Layout, extra: &[i32]) -> Composer<'r> {
        let asked = match layout.scale {
            Scale::Page => layout.width,
            Scale::Wall => layout.width * 3 / 5,
        };
        let left = lanes::axis(run);
        let (lanes, width) = lanes::lanes(run, story, left, asked);
        let knots = knots(story, HEADER + 22, extra);
        let height = knots.last().map_or(HEADER, |k| k.y) + 44;
        let reaches = lanes.iter().map(|l| reach(l, story)).collect();
        let picture = Picture {
            width,
            height,
            header_height: HEADER,
            scale: layout.scale,
            lanes,
            marks: Vec::new(),
            knots,
        };
        let limits = Area { left: left + 4, top: HEADER + 2, right: width - 4, bottom: height };
        let board = Board::new(limits);
        let (marks, wants, bands) = (Vec::new(), Vec::new(), Vec::new());
        Composer { run, story, picture, board, marks, wants, bands, reaches, left }
    }

    fn y(&self, at: Micros) -> i32 {
        self.picture.y_of(at)
    }

    fn lane(&self, node: ProcId) -> Option<&Lane> {
        self.picture.lanes.get(usize::from(node.0))
    }

    fn x(&self, node: ProcId) -> i32 {
        self.lane(node).map_or(0, |l| l.x)
    }

    fn reach(&self, node: ProcId) -> i32 {
        self.reaches.get(usize::from(node.0)).copied().unwrap_or(0)
    }

    fn push(
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
        for lane in self.picture.lanes.clone() {
            let mut top = HEADER - 8;
            let mut from = Micros::ZERO;
            self.board.block(Area { left: lane.x - 2, top, right: lane.x + 2, bottom });
            let story = self.story;
            for down in story.downs.iter().filter(|d| d.node == lane.node) {
                let (crash, back) = (self.y(down.from), self.y(down.to));
                let back = if down.ended.is_some() { back } else { bottom };
                let x = lane.x;
                let alive = Shape::Lifeline { x, top, bottom: crash, dashed: false };
                self.push(down.event, Role::Ink, from, Some(down.from), alive);
                let dead = Shape::Lifeline { x, top: crash, bottom: back, dashed: true };
                self.push(down.event, Role::Muted, down.from, Some(down.to), dead);
                (top, from) = (back, down.to);
            }
            let rest = Shape::Lifeline { x: lane.x, top, bottom, dashed: false };
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
        let face = Face::Blocks(vec![
            vec![line(&first, true), line(&second, false)],
            vec![line(&format!("{first} {second}"), true)],
        ]);
        let mut places = Vec::new();
        for block in 0..2 {
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
        let (role, y) = (Role::Ink, band.top);
        self.wants.push(Want { event, role, from, face, places, turn: 2, y, needed: true });
    }

    fn bars(&mut self) {
        for bar in &self.story.bars {
            let x = self.x(bar.client) - COLUMN * bar.column;
            let (top, bottom) = (self.y(bar.from), self.y(bar.to.min(self.run.end)));
            match bar.kind {
                IntervalKind::Truth => {
                    let area = Area { left: x - 17, top, right: x - 7, bottom };
                    self.span(bar, Role::Hold, Shape::Truth { area }, area);
                    if let Some(event) = bar.cap {
                        let cap = Shape::Cap { left: x - 34, right: x - 5, y: bottom };
                        self.push(event, Role::Ink, bar.to, None, cap);
                    }
                }
                IntervalKind::Belief => {
                    let area = Area { left: x - BARS, top, right: x - 21, bottom };
                    let role = if bar.stale { Role::Stale } else { Role::Hold };
                    self.span(bar, role, Shape::Belief { area }, area);
                }
                IntervalKind::Promise => {
                    let (left, right) = (x - BARS - 3, x - 4);
                    let tick = Shape::PromiseEnd { left, right, y: bottom };
                    self.push(bar.event, Role::Muted, bar.to, None, tick);
                }
            }
        }
        for wait in &self.story.waits {
            let x = self.x(wait.node);
            // Its outline makes way for the truth that ends the waiting.
            let granted = |b: &&Bar| b.client == wait.node && b.kind == IntervalKind::Truth;
            let truths = self.story.bars.iter().filter(granted).map(|b| b.from);
            let to = truths.filter(|t| *t > wait.from).min().map_or(wait.to, |t| t.min(wait.to));
            let (top, bottom) = (self.y(wait.from), self.y(to));
            let area = Area { left: x - BARS, top, right: x - 7, bottom };
            self.push(wait.event, Role::Muted, wait.from, Some(wait.to), Shape::Waiting { area });
            self.board.block(area);
            self.beside(wait, wait.from, "waiting", 12, 4);
        }
    }

    fn span(&mut self, bar: &Bar, role: Role, shape: Shape, area: Area) {
        self.push(bar.event, role, bar.from, Some(bar.to), shape);
        self.board.block(area);
    }

    /// Words of a span, near its beginning or anywhere along it.
    fn beside(&mut self, stretch: &Stretch, from: Micros, words: &str, right: i32, turn: u8) {
        let Some(lane) = self.lane(stretch.node) else { return };
        let face = single(words);
        let (top, bottom) = (self.y(stretch.from), self.y(stretch.to));
        let left = self.reach(stretch.node);
        let mut places = beside(&face, lane, top + 2, right, left + 2);
        let further = (top + 16..bottom).step_by(14).take(24);
        for y in further {
            places.extend(beside(&face, lane, y, right, left + 2).into_iter().take(1));
        }
        let event = stretch.event;
        let role = Role::Muted;
        self.wants.push(Want { event, role, from, face, places, turn, y: top, needed: true });
    }

    fn spans(&mut self) {
        for pause in &self.story.pauses {
            let x = self.x(pause.node);
            let (top, bottom) = (self.y(pause.from), self.y(pause.to));
            let ladder = Shape::Ladder { x, top, bottom };
            self.push(pause.event, Role::Muted, pause.from, Some(pause.to), ladder);
            self.board.block(Area { left: x - 6, top, right: x + 6, bottom });
            let ends = [(Some(pause.event), pause.from), (pause.ended, pause.to)];
            for (event, at) in ends {
                let at_point = Point { x, y: self.y(at) };
                if let Some(event) = event {
                    let sign = Shape::PauseSign { at: at_point };
                    self.board.block(sign.bounds());
                    self.push(event, Role::Muted, at, None, sign);
                }
            }
            let words = format!("paused {}", narrate::span(pause.to.since(pause.from)));
            self.beside(pause, pause.from, &words, 15, 3);
        }
    }

    fn fold(&mut self, fold: &Fold) {
        let y = (self.y(fold.from) + self.y(fold.to)) / 2;
        let xs: Vec<i32> = self.picture.lanes.iter().map(|l| l.x).collect();
        let at = self.picture.time_of(y);
        for x in &xs {
            let one = Shape::Fold { xs: vec![*x], y };
            self.board.block(one.bounds());
        }
        self.push(fold.event, Role::Muted, at, None, Shape::Fold { xs, y });
        let mut lines = vec![format!("{} pass", narrate::span(fold.to.since(fold.from)))];
        let tell = |n: u32, one: &str, many: &str| match n {
            0 => None,
            1 => Some(format!("1 {one}")),
            n => Some(format!("{n} {many}")),
        };
        lines.extend(tell(fold.refused, "refused try", "refused tries"));
        lines.extend(tell(fold.renewed, "renewal", "renewals"));
        let face = blocks(&[lines], false);
        let (wide, high) = face.size(0);
        let mut places = Vec::new();
        for off in [0, 10, -10, 18, -18] {
            let pairs = self.picture.lanes.windows(2).zip(&self.reaches[1..]);
            for (pair, reach) in pairs.rev() {
                let (from, to) = (pair[0].x + 14, pair[1].x - reach.max(&14));
                let left = (from + to - wide) / 2;
                let top = y + off - high / 2;
                let area = Area { left, top, right: left + wide, bottom: top + high };
                if left >= from {
                    places.push(Place { area, anchor: Anchor::Middle, block: 0 });
                }
            }
        }
        let (event, role, y) = (fold.event, Role::Muted, self.y(fold.from));
        self.wants.push(Want { event, role, from: at, face, places, turn: 1, y, needed: true });
    }

    /// Places the signs, each on its lane at its moment or just under an earlier one; returns where
    /// the messages that they answer end.
    fn signs(&mut self, signs: &[Sign]) -> Vec<(MsgId, Point, i32)> {
        let mut ends = Vec::new();
        let mut free = vec![i32::MIN; self.picture.lanes.len()];
        for sign in signs {
            let Some(lane) = self.lane(sign.node).cloned() else { continue };
            let reach = sign.kind.reach();
            let free = &mut free[usize::from(sign.node.0)];
            let at =
                Point { x: lane.x, y: self.picture.y_of(sign.at).max(free.saturating_add(reach)) };
            if let Some(shape) = sign.kind.shape(at) {
                *free = at.y + reach + 5;
                self.board.block(shape.bounds());
                self.push(sign.event, sign.role, sign.at, None, shape);
            }
            ends.extend(sign.message.map(|m| (m, at, reach)));
            if sign.words.is_empty() {
                continue;
            }
            let face = blocks(&sign.words, sign.strong);
            let left = self.reach(sign.node).max(reach + 6);
            let places = beside(&face, &lane, at.y, reach.max(6) + 6, left + 2);
            self.wants.push(Want {
                event: sign.event,
                role: sign.role,
                from: sign.at,
                face,
                places,
                turn: if sign.needed { 0 } else { 7 },
                y: at.y,
                needed: sign.needed,
            });
        }
        ends.sort_by_key(|e| e.0);
        ends
    }

    /// Where a cut between two lanes is drawn.
    fn between(&self, a: ProcId, b: ProcId) -> i32 {
        let (low, high) = (a.min(b), a.max(b));
        let left = ProcId(low.0 + (high.0 - low.0).saturating_sub(1) / 2);
        let right = ProcId(left.0 + 1);
        (self.x(left) + self.x(right) - self.reach(right)) / 2 + 4
    }

    fn cut(&mut self, cut: &Severed) {
        let x = self.between(cut.from, cut.to);
        let (top, bottom) = (self.y(cut.at), self.y(cut.until));
        let shape = Shape::Cut { x, top, bottom };
        let taken = self.board.is_free(&shape.bounds());
        self.board.block(shape.bounds());
        self.push(cut.event, Role::Ink, cut.at, Some(cut.until), shape);
        if let Some(event) = cut.healed {
            let at = Point { x, y: bottom };
            self.push(event, Role::Ink, cut.until, None, Shape::Heal { at });
        }
        if !taken {
            return;
        }
        let arrow = if cut.both { "–" } else { "→" };
        let (from, to) = (short(self.run, cut.from), short(self.run, cut.to));
        let way = format!("{from}{arrow}{to}");
        let face = blocks(&[vec![format!("{way} cut")], vec![way, "cut".into()]], false);
        let lane = Lane {
            node: cut.from,
            kind: NodeKind::Service,
            x,
            header: Area::default(),
            label: String::new(),
            sayings: Vec::new(),
        };
        let mut places = beside(&face, &lane, top + 6, 10, 10);
        for y in (top + 20..bottom).step_by(14).take(24) {
            places.extend(beside(&face, &lane, y, 10, 10).into_iter().take(2));
        }
        let (event, role, from) = (cut.event, Role::Ink, cut.at);
        self.wants.push(Want { event, role, from, face, places, turn: 5, y: top, needed: true });
    }

    fn flight(&mut self, flight: &Flight, signs: &[(MsgId, Point, i32)]) {
        let tail = Point { x: self.x(flight.from), y: self.y(flight.sent) };
        let far = self.x(flight.to);
        let half = (tail.x + far) / 2;
        let mut track = vec![tail];
        if let Some((at, until, event)) = flight.held {
            // On the sender's side of the jagged line.
            let x = self.between(flight.from, flight.to);
            let x = x - 11 * (far - tail.x).signum();
            let at_point = Point { x, y: self.y(at).max(tail.y + 1) };
            track.push(at_point);
            track.push(Point { x, y: self.y(until).max(at_point.y + 1) });
            self.push(event, Role::Ink, at, Some(until), Shape::Held { at: at_point });
            self.board.block(Shape::Held { at: at_point }.bounds());
        }
        let last = track.last().map_or(tail.y, |p| p.y);
        let (fate, arrives) = match flight.end {
            End::Arrives(at) => {
                track.push(self.head(flight, signs, Point { x: far, y: self.y(at).max(last + 1) }));
                (Fate::Arrives, Some(at))
            }
            End::Lost(at, at_peer) => {
                let y = self.y(at).max(last + 8);
                let x = if at_peer { far - 8 * (far - tail.x).signum() } else { half };
                track.push(Point { x, y });
                (Fate::Lost, Some(at))
            }
            End::Open => {
                if flight.held.is_none() {
                    let y = self.y(self.run.end).max(last + 8);
                    track.push(Point { x: half, y });
                }
                (Fate::Open, None)
            }
        };
        for leg in track.windows(2) {
            self.board.draw(leg[0], leg[1]);
        }
        self.flight_words(flight, &track, fate);
        let role = if flight.soft || fate == Fate::Lost { Role::Muted } else { Role::Ink };
        let (id, sent, soft) = (flight.id, flight.sent, flight.soft);
        let shape = Shape::Message { id, track, sent, arrives, fate, soft };
        self.push(flight.event, role, sent, arrives, shape);
    }

    /// The end of an arrow: the lifeline, or the edge of the sign that it brings about.
    fn head(&self, flight: &Flight, signs: &[(MsgId, Point, i32)], point: Point) -> Point {
        match signs.binary_search_by_key(&flight.id, |s| s.0) {
            Ok(found) => {
                let (_, at, reach) = signs[found];
                let side = (self.x(flight.from) - at.x).signum();
                Point { x: at.x + side * reach, y: at.y }
            }
            Err(_) => point,
        }
    }

    /// The stretches between lanes that a track crosses, those in its middle first.
    fn stretches(&self, track: &[Point]) -> Vec<(i32, i32)> {
        let (Some(first), Some(last)) = (track.first(), track.last()) else { return Vec::new() };
        let (left, right) = (first.x.min(last.x), first.x.max(last.x));
        let lanes = self.picture.lanes.windows(2).zip(self.reaches.iter().skip(1));
        let crossed = lanes.filter(|(pair, _)| pair[0].x < right && pair[1].x > left);
        let mut stretches: Vec<(i32, i32)> = crossed
            .map(|(pair, reach)| {
                ((pair[0].x + 9).max(left + 9), (pair[1].x - reach - 3).min(right - 12))
            })
            .filter(|s| s.0 < s.1)
            .collect();
        if first.x > last.x {
            stretches.reverse();
        }
        stretches
    }

    fn flight_words(&mut self, flight: &Flight, track: &[Point], fate: Fate) {
        // Near the receiver the lines of one sender are furthest apart in meaning, and near the
        // sender those of several senders are; the pass over the board decides.
        let mut stretches = self.stretches(track);
        let (event, from, y) = (flight.event, flight.sent, track.first().map_or(0, |p| p.y));
        if let Some(token) = flight.plate {
            let face = Face::Plate(token.0.to_string());
            let middle = (stretches.len().saturating_sub(1)) / 2;
            let mut order = stretches.clone();
            order
                .sort_by_key(|s| stretches.iter().position(|o| o == s).map(|i| i.abs_diff(middle)));
            let places = upon(&face, track, &order);
            self.wants.push(Want {
                event,
                role: Role::Ink,
                from,
                face,
                places,
                turn: 4,
                y,
                needed: true,
            });
        }
        stretches.reverse();
        let role = if flight.soft { Role::Muted } else { Role::Ink };
        if !flight.words.is_empty() {
            let face = single(&flight.words);
            let places = along(&face, track, &stretches);
            let needed = !flight.soft;
            let turn = if flight.soft { 6 } else { 5 };
            self.wants.push(Want { event, role, from, face, places, turn, y, needed });
        }
        if fate != Fate::Arrives
            && let Some(last) = track.last()
        {
            let face = single(if fate == Fate::Lost { "lost" } else { "on its way" });
            let lane = Lane {
                node: flight.to,
                kind: NodeKind::Service,
                x: last.x,
                header: Area::default(),
                label: String::new(),
                sayings: Vec::new(),
            };
            let places = beside(&face, &lane, last.y, 12, 12);
            let from = self.picture.time_of(last.y);
            self.wants.push(Want {
                event,
                role: Role::Muted,
                from,
                face,
                places,
                turn: 4,
                y,
                needed: true,
            });
        }
    }
}

/// What lies on what.
fn layer(shape: &Shape) -> u8 {
    match shape {
        Shape::Band { .. } => 0,
        Shape::Lifeline { .. } | Shape::Tick { .. } => 1,
        Shape::Belief { .. } | Shape::Truth { .. } | Shape::Waiting { .. } => 2,
        Shape::Ladder { .. } | Shape::PromiseEnd { .. } | Shape::Cap { .. } => 3,
        Shape::Fold { .. } => 4,
        Shape::Cut { .. } | Shape::Heal { .. } => 5,
        Shape::Message { .. } | Shape::Held { .. } => 6,
        Shape::Words(_) => 9,
        Shape::Plate { .. } => 8,
        _ => 7,
    }
}
