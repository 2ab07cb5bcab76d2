//! A moment of a run on a plane: clients on the left, the service and the resource that its lock
//! guards on the right, and what is on its way between them.

use super::crowd::is_crowd;
use super::ensemble::beats;
use super::palette::Role;
use super::picture::{Anchor, Area, Fate, Lane, Mark, Point, Shape, Words};
use super::row::Said;
use super::story::slow;
use super::text::{SIZE, fit, width as width_of};
use super::words::{message, short};
use crate::judge::{Interval, IntervalKind, Testimony};
use crate::narrate;
use crate::run::{NodeKind, Run};
use crate::sim::{EventId, Halt, Micros, MsgId, ProcId, What, World};
use crate::systems::{Fact, Locks};

/// The height of a node's box.
const BOX: i32 = 74;
/// The size of a node's name.
const NAME: i32 = 13;
/// The room at the edge of the picture.
const EDGE: i32 = 10;
/// How far the ends of two links lie apart at a box.
const PORT: i32 = 16;

/// Where a node stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spot {
    /// Which.
    pub node: ProcId,
    /// Its box.
    pub area: Area,
    /// Its name.
    pub label: String,
    /// What is said of it in a few words.
    pub says: String,
}

/// A moment on a plane.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Topology {
    /// Its width.
    pub width: i32,
    /// Its height.
    pub height: i32,
    /// The nodes.
    pub spots: Vec<Spot>,
    /// What is drawn, from the back to the front.
    pub marks: Vec<Mark>,
}

/// Lays out the moment of a world. `lanes` say what stands under each name while time passes; `last`
/// is the last event that has happened.
pub fn topology(
    run: &Run,
    lanes: &[Lane],
    world: &World<Locks>,
    last: Option<EventId>,
    width: i32,
) -> Topology {
    let (crowd, queue) = (is_crowd(run), Area::default());
    let mut plane = Plane { run, world, last, out: Topology::default(), crowd, queue };
    plane.place(width);
    plane.links();
    plane.guards();
    plane.boxes(lanes);
    plane.seats();
    plane.flights();
    plane.out
}

pub(super) struct Plane<'r> {
    pub(super) run: &'r Run,
    pub(super) world: &'r World<Locks>,
    pub(super) last: Option<EventId>,
    pub(super) out: Topology,
    /// There are so many clients that each has but a small box.
    pub(super) crowd: bool,
    /// Where the places of queues stand.
    pub(super) queue: Area,
}

impl Plane<'_> {
    pub(super) fn push(&mut self, event: EventId, role: Role, shape: Shape) {
        let bounds = shape.bounds();
        self.out.marks.push(Mark { event, role, shape, from: Micros::ZERO, until: None, bounds });
    }

    pub(super) fn words(
        &mut self,
        event: EventId,
        role: Role,
        text: &str,
        at: Point,
        anchor: Anchor,
    ) {
        let (text, size) = (text.to_string(), SIZE);
        let words = Words { text, at, anchor, size, strong: false, mono: false, halo: true };
        self.push(event, role, Shape::Words(words));
    }

    /// Gives every node its box: two columns, each evenly filled.
    fn place(&mut self, width: i32) {
        let names = self.run.names();
        let clients: Vec<ProcId> = names.of_kind(NodeKind::Client).collect();
        let services = names.of_kind(NodeKind::Service);
        let (row, mut right): (Vec<ProcId>, Vec<ProcId>) =
            services.partition(|node| names.member(*node).is_some());
        right.extend(names.of_kind(NodeKind::Gateway));
        right.extend(names.of_kind(NodeKind::Resource));
        let width = width.max(300);
        let wide = (width * 36 / 100).clamp(112, 200);
        let alone = if self.crowd { 1 } else { clients.len() };
        let rows = alone.max(right.len()).max(1) as i32;
        let mut pitch =
            if width < 560 { (380 / rows).clamp(124, 170) } else { (540 / rows).clamp(140, 250) };
        self.out.width = width;
        let mut above = self.row(&row, EDGE + wide, width - EDGE);
        above = self.line(above, EDGE + wide, width - EDGE);
        let mut columns = vec![(right, width - EDGE - wide)];
        if self.crowd {
            let cells = self.cells(&clients, EDGE, wide);
            pitch = pitch.max((cells - above) / rows);
        } else {
            columns.insert(0, (clients, EDGE));
        }
        self.out.height = above + rows * pitch + 2 * EDGE;
        for (nodes, left) in columns {
            let each = rows * pitch / (nodes.len() as i32).max(1);
            for (index, node) in nodes.into_iter().enumerate() {
                let top = above + EDGE + each * index as i32 + (each - BOX) / 2;
                let area = Area { left, top, right: left + wide, bottom: top + BOX };
                let label = fit(&names.node(node).label, wide - 12, NAME, true);
                self.out.spots.push(Spot { node, area, label, says: String::new() });
            }
        }
    }

    pub(super) fn spot(&self, node: ProcId) -> Option<&Spot> {
        self.out.spots.iter().find(|s| s.node == node)
    }

    pub(super) fn kind(&self, node: ProcId) -> NodeKind {
        self.run.names().node(node).kind
    }

    /// The two ends of the link between a client and whom it talks to, the client's first; of two
    /// servers, that of the first one.
    fn ends(&self, client: ProcId, peer: ProcId) -> Option<(Point, Point)> {
        let (from, to) = (self.spot(client)?.area, self.spot(peer)?.area);
        if self.is_member(client) && self.is_member(peer) {
            // Two servers of a row speak along its foot.
            let foot = |area: Area| Point {
                x: (area.left + area.right) / 2,
                y: area.bottom + if from.left < to.left { 5 } else { 9 },
            };
            return Some((foot(from), foot(to)));
        }
        if self.kind(client) != NodeKind::Client {
            let x = from.left + (from.right - from.left) / 4;
            let down = from.top < to.top;
            let (start, end) = if down { (from.bottom, to.top) } else { (from.top, to.bottom) };
            return Some((Point { x, y: start }, Point { x, y: end }));
        }
        let place = |of_client: bool, node: ProcId| {
            let column = self
                .out
                .spots
                .iter()
                .filter(|s| (self.kind(s.node) == NodeKind::Client) == of_client);
            let count = column.clone().count() as i32;
            let index = column.clone().position(|s| s.node == node).unwrap_or(0) as i32;
            (2 * index - count + 1) * PORT.min((BOX - 20) / count.max(1)) / 2
        };
        let middle = |area: Area| (area.top + area.bottom) / 2;
        if self.run.names().member(peer).is_some() {
            let start = Point { x: from.right, y: middle(from) + place(false, peer) };
            let x = (to.left + to.right + place(true, client)) / 2;
            return Some((start, Point { x, y: to.bottom }));
        }
        Some((
            Point { x: from.right, y: middle(from) + place(false, peer) },
            Point { x: to.left, y: middle(to) + place(true, client) },
        ))
    }

    pub(super) fn previous(&self, is: impl Fn(ProcId, &What<Testimony>) -> bool) -> EventId {
        let count = self.last.map_or(0, |l| l.0 as usize + 1);
        let past = self.run.record.events.iter().take(count);
        let found = past.enumerate().filter(|(_, e)| is(e.node, &e.what)).last();
        found.map_or(EventId(0), |(i, _)| EventId(i as u32))
    }

    /// The ways between nodes, and where they are cut.
    fn links(&mut self) {
        let clients: Vec<ProcId> = self.run.names().of_kind(NodeKind::Client).collect();
        let peers: Vec<ProcId> = self
            .out
            .spots
            .iter()
            .map(|s| s.node)
            .filter(|n| self.kind(*n) != NodeKind::Client)
            .collect();
        let before = peers.iter().filter(|p| self.kind(**p) == NodeKind::Gateway).copied();
        let talk = [clients, before.collect()].concat();
        for client in talk {
            let own = self.kind(client);
            // A gateway talks to what stands behind it.
            let behind =
                |p: &&ProcId| own == NodeKind::Client || self.kind(**p) == NodeKind::Resource;
            for peer in peers.iter().filter(behind).copied().collect::<Vec<_>>().iter() {
                let Some((from, to)) = self.ends(client, *peer) else { continue };
                if self.crowd && own == NodeKind::Client {
                    self.cut(client, *peer, from, to);
                    continue;
                }
                self.push(EventId(0), Role::Muted, Shape::Link { from, to, dotted: false });
                self.cut(client, *peer, from, to);
            }
        }
    }

    fn cut(&mut self, client: ProcId, peer: ProcId, from: Point, to: Point) {
        let (there, back) = (self.world.is_cut(client, peer), self.world.is_cut(peer, client));
        if !there && !back {
            return;
        }
        let ways = [(client, peer), (peer, client)];
        let event = self.previous(|node, what| match what {
            What::Cut(to) => ways.contains(&(node, *to)),
            _ => false,
        });
        let middle = Point { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
        let (top, bottom) = (middle.y - 14, middle.y + 14);
        self.push(event, Role::Ink, Shape::Cut { x: middle.x, top, bottom });
        let words = match (there, back) {
            (true, true) => "cut",
            (true, false) => "cut →",
            _ => "cut ←",
        };
        let at = Point { x: middle.x, y: bottom + 13 };
        self.words(event, Role::Ink, words, at, Anchor::Middle);
    }

    /// Each lock is joined by name to the resource that it guards.
    fn guards(&mut self) {
        let names = self.run.names();
        let services: Vec<ProcId> = names.of_kind(NodeKind::Service).collect();
        let resources: Vec<ProcId> = names.of_kind(NodeKind::Resource).collect();
        let Some(service) = services.last().and_then(|s| self.spot(*s)).map(|s| s.area) else {
            return;
        };
        for resource in resources {
            let Some(area) = self.spot(resource).map(|s| s.area) else { continue };
            let cell = names.homes.iter().position(|home| *home == resource);
            let lock = cell.and_then(|c| names.guards.get(c)).map(|l| names.lock(*l));
            let x = (area.left + area.right) / 2;
            let (from, to) = (Point { x, y: service.bottom }, Point { x, y: area.top });
            self.push(EventId(0), Role::Ink, Shape::Link { from, to, dotted: true });
            let words = match lock {
                Some(lock) if names.locks.len() > 1 => format!("{lock} guards this"),
                _ => "the lock guards this".into(),
            };
            let at = Point { x, y: area.top - 8 };
            self.words(EventId(0), Role::Muted, &words, at, Anchor::Middle);
        }
    }

    /// The interval of one kind that a client has open.
    pub(super) fn open(&self, kind: IntervalKind, client: ProcId) -> Option<&Interval> {
        let last = self.last?;
        self.run.judgement.intervals.iter().find(|i| {
            let open = i.began <= last && i.ended.is_none_or(|end| end > last);
            i.kind == kind && i.client == client && open
        })
    }

    fn boxes(&mut self, lanes: &[Lane]) {
        for index in 0..self.out.spots.len() {
            let Some(spot) = self.out.spots.get(index).cloned() else { continue };
            let (node, area) = (spot.node, spot.area);
            let member = self.run.names().member(node).map(str::to_string);
            let saying = self.last.and_then(|last| {
                let lane = lanes.iter().find(|l| l.node == node)?;
                let next = lane.sayings.partition_point(|s| s.event <= last);
                lane.sayings.get(next.checked_sub(1)?)
            });
            let event = saying.map_or(EventId(0), |s| s.event);
            self.push(event, Role::Ink, Shape::Box { area });
            if self.crowd && self.kind(node) == NodeKind::Client {
                let says = self.cell(node, area, event);
                if let Some(spot) = self.out.spots.get_mut(index) {
                    spot.says = saying.map_or(String::new(), |s| s.text.clone()) + says;
                }
                continue;
            }
            if let Some(name) = member {
                let said = saying.map_or(String::new(), |s| s.text.clone());
                let says = [Some(said), self.more(node)].into_iter().flatten();
                let says: Vec<String> = says.filter(|words| !words.is_empty()).collect();
                self.card(node, area, &name, event);
                if let Some(spot) = self.out.spots.get_mut(index) {
                    spot.says = says.join(", ");
                }
                continue;
            }
            self.rings(node, area);
            self.session(node, area);
            self.ticks(node, area);
            let bars = self.bars(node, area);
            let x = area.left + 10 + bars;
            let most = area.right - x - 6;
            let mut words = vec![saying.map_or(String::new(), |s| s.text.clone())];
            words.extend(self.more(node));
            let title = Words {
                text: fit(&spot.label, most, NAME, true),
                at: Point { x, y: area.top + 21 },
                anchor: Anchor::Start,
                size: NAME,
                strong: true,
                mono: false,
                halo: false,
            };
            self.push(event, Role::Ink, Shape::Words(title));
            for (row, text) in words.iter().filter(|w| !w.is_empty()).take(2).enumerate() {
                let at = Point { x, y: area.top + 41 + 18 * row as i32 };
                let role = if row == 0 { self.role(node) } else { Role::Muted };
                // Where there is no room for a moment, the word before it is the news.
                let short = text.split(" to ").next().unwrap_or_default();
                let fits = width_of(text, SIZE, false, false) <= most;
                let text = if fits { text.clone() } else { fit(short, most, SIZE, false) };
                self.words(event, role, &text, at, Anchor::Start);
            }
            if let Some(spot) = self.out.spots.get_mut(index) {
                spot.says =
                    words.into_iter().filter(|w| !w.is_empty()).collect::<Vec<_>>().join(", ");
            }
        }
    }

    pub(super) fn role(&self, node: ProcId) -> Role {
        let truth = |belief: &Interval| {
            let open = self.open(IntervalKind::Truth, node);
            open.is_some_and(|truth| truth.grant == belief.grant)
        };
        match self.open(IntervalKind::Belief, node) {
            Some(belief) if truth(belief) => Role::Hold,
            Some(_) => Role::Stale,
            None => Role::Ink,
        }
    }

    /// What a client believes and what the service says of it, as the bars that the diagram has;
    /// returns the room that they take.
    fn bars(&mut self, node: ProcId, area: Area) -> i32 {
        if self.kind(node) != NodeKind::Client {
            return 0;
        }
        let bar = |left: i32| Area {
            left: area.left + left,
            top: area.top + 12,
            right: area.left + left + 12,
            bottom: area.bottom - 12,
        };
        let role = self.role(node);
        let belief = self.open(IntervalKind::Belief, node).map(|i| i.began);
        let truth = self.open(IntervalKind::Truth, node).map(|i| i.began);
        if let Some(event) = belief {
            self.push(event, role, Shape::Belief { area: bar(8) });
        }
        if let Some(event) = truth {
            self.push(event, Role::Hold, Shape::Truth { area: bar(24) });
        }
        34
    }

    /// A second line of words: what stands still or is down, who waits, until when.
    fn more(&self, node: ProcId) -> Option<String> {
        self.last?;
        if self.world.is_down(node) {
            return None;
        }
        if let Some((how, until)) = self.world.halt(node) {
            let how = match how {
                Halt::Pause => "paused",
                Halt::Suspend => "suspended",
                Halt::Freeze => "frozen",
            };
            return Some(format!("{how} to {}", narrate::moment(until)));
        }
        if self.kind(node) == NodeKind::Client {
            return None;
        }
        let facts = self.world.facts(node);
        let queue = facts.iter().find_map(|fact| match fact {
            Fact::Queue { waiting, .. } => {
                let who: Vec<String> = waiting.iter().map(|p| short(self.run, *p)).collect();
                Some(format!("then {}", who.join(", ")))
            }
            _ => None,
        });
        let until = facts.iter().find_map(|fact| match fact {
            Fact::Ring { until, .. } => until.map(|at| format!("to {}", narrate::moment(at))),
            _ => None,
        });
        match (until, queue) {
            (Some(until), Some(queue)) => Some(format!("{until}, {queue}")),
            (one, other) => one.or(other),
        }
    }

    /// What is on its way, as far as it has come.
    fn flights(&mut self) {
        let Some(last) = self.last else { return };
        let now = self.world.now();
        let messages = &self.run.record.messages;
        let sent = messages.partition_point(|m| m.sent <= last);
        let mut said: Vec<Said> = Vec::new();
        let beats = beats(self.run, slow(self.run));
        for index in 0..sent {
            let Some(info) = messages.get(index) else { continue };
            let at = |id: EventId| self.run.record.event(id).at;
            let ended = info.delivered.or(info.lost).filter(|e| *e <= last);
            // What has just arrived is still shown.
            if ended.is_some_and(|e| at(e) < now) {
                continue;
            }
            let id = MsgId(index as u32);
            if beats.contains(&id) {
                continue;
            }
            let Some((tail, end)) = self.way(info.from, info.to) else { continue };
            let held = self.previous(|_, what| *what == What::Hold(id));
            let held = matches!(self.run.record.event(held).what, What::Hold(m) if m == id);
            let (fate, share) = match (info.delivered, info.lost) {
                (Some(arrives), _) if arrives <= last => (Fate::Arrives, 1_000),
                (_, Some(lost)) if lost <= last => (Fate::Lost, 500),
                _ if held => (Fate::Open, 440),
                (Some(arrives), _) => {
                    let whole = at(arrives).since(at(info.sent)).0.max(1);
                    (Fate::Open, (now.since(at(info.sent)).0 * 1_000 / whole).min(1_000))
                }
                _ => (Fate::Open, 300),
            };
            let share = share.max(60) as i32;
            let head = Point {
                x: tail.x + (end.x - tail.x) * share / 1_000,
                y: tail.y + (end.y - tail.y) * share / 1_000,
            };
            let (words, token, soft) = message(self.run, id, info);
            let token = token.map(|token| narrate::figure(self.run.names(), token));
            let role = if fate == Fate::Lost { Role::Muted } else { Role::Ink };
            let (sent, arrives) = (at(info.sent), info.delivered.map(at));
            let event = info.sent;
            let track = vec![tail, head];
            let soft = soft || self.crowd && !self.wakes(event);
            self.push(event, role, Shape::Message { id, track, sent, arrives, fate, soft });
            let name = if words.is_empty() { info.body.name.to_string() } else { words };
            let held = held && fate == Fate::Open;
            // One label speaks for all that say the same to servers that stand in a row.
            let (asks, tells) = (self.is_member(info.to), self.is_member(info.from));
            let of = match (self.crowd, asks) {
                // One of many clients is not worth a word of its own.
                (true, true) | (false, false) => info.to,
                _ => info.from,
            };
            let of = (asks || tells).then_some(of);
            let way = [tail, head, end];
            let among = asks && tells;
            Said { event, name, token, held, way, of, count: 1, among }.join(&mut said);
        }
        self.say(said);
    }

    /// Whether it wakes somebody who waits.
    fn wakes(&self, sent: EventId) -> bool {
        matches!(self.run.record.event(sent).note(), Some(Testimony::Wake(..)))
    }

    fn is_member(&self, node: ProcId) -> bool {
        self.run.names().member(node).is_some()
    }

    /// Where a message's words stand: above the middle of the way that it has come, and where a box is
    /// in the way, further along, so that no edge runs through them.
    pub(super) fn beside_way(
        &self,
        words: &str,
        [tail, head, end]: [Point; 3],
        row: i32,
    ) -> Option<Point> {
        let half = width_of(words, SIZE, false, false) / 2;
        let most = (self.out.width - half - 4).max(half + 4);
        let up = 9 + 15 * row;
        let middle = Point { x: (tail.x + head.x) / 2, y: (tail.y + head.y) / 2 };
        let along = [20, 35, 50, 65, 80].map(|share| Point {
            x: tail.x + (end.x - tail.x) * share / 100,
            y: tail.y + (end.y - tail.y) * share / 100,
        });
        let placed = |p: &Point| Point { x: p.x.clamp(half + 4, most), y: p.y - up };
        let free = |p: &Point| {
            let (top, bottom) = (p.y - SIZE, p.y + 4);
            let area = Area { left: p.x - half - 2, top, right: p.x + half + 2, bottom };
            !self.out.spots.iter().any(|s| s.area.meets(&area))
        };
        let all = [middle].into_iter().chain(along);
        let found = all.map(|p| placed(&p)).find(free);
        // Among the boxes of many clients, words would only be in the way.
        found.or((!self.crowd).then(|| placed(&middle)))
    }

    /// The way of a message: above the link where it asks, below it where it answers.
    fn way(&self, from: ProcId, to: ProcId) -> Option<(Point, Point)> {
        let lower = |p: Point, by: i32| Point { x: p.x, y: p.y + by };
        if self.kind(from) == NodeKind::Client || self.kind(to) != NodeKind::Client {
            let (from, to) = self.ends(from, to)?;
            return Some((lower(from, -3), lower(to, -3)));
        }
        let (to, from) = self.ends(to, from)?;
        Some((lower(from, 3), lower(to, 3)))
    }
}
