//! Servers of which none grants alone: what each of them has and until when, and how a client counts
//! their answers.

use super::board::Place;
use super::labels::{Face, Line, Spots, Want, blocks};
use super::lanes::{ASIDE, BARS};
use super::layout::{Composer, SHORT_LINE};
use super::palette::Role;
use super::picture::{Anchor, Area, Point, Shape, Words};
use super::signs::Sign;
use super::story::Bar;
use super::text::{SIZE, area};
use super::words::short;
use crate::judge::{Ask, Ballot, Finding, Grant, IntervalKind, LockId, Testimony, TruthEnd};
use crate::narrate;
use crate::run::{NodeKind, Run};
use crate::sim::{EventId, Micros, ProcId, Table, sort_by_key};

/// Whose a lock is at one of several servers, from when to when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    pub node: ProcId,
    pub lock: LockId,
    pub client: ProcId,
    pub event: EventId,
    pub from: Micros,
    pub to: Micros,
    /// The event that shows its end, where its client did not bring that about.
    pub cap: Option<EventId>,
}

/// A client counts answers: from when it asked to when it decides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tally {
    pub node: ProcId,
    pub asked: EventId,
    pub from: Micros,
    pub event: EventId,
    pub at: Micros,
    pub ballot: Ballot,
    pub elapsed: Micros,
    pub left: Option<Micros>,
    /// Until when it may act, or until it lets go, or counts again.
    pub good: Option<Micros>,
    /// Which of its grants it is that the others stand to the right of.
    pub column: i32,
}

/// What each of several servers has, in the order of time.
pub(super) fn kept(run: &Run) -> Vec<Kept> {
    let mut open: Table<(ProcId, LockId), (Kept, Option<Micros>)> = Table::new();
    let mut all = Vec::new();
    for (index, event) in run.record.events.iter().enumerate() {
        let (id, node, at) = (EventId(index as u32), event.node, event.at);
        match event.note() {
            Some(Testimony::Keep { lock, of, until, ended }) => {
                if let (None, Some(held)) = (ended, open.get_mut(&(node, *lock))) {
                    held.1 = *until;
                    continue;
                }
                if let Some((kept, ends)) = open.remove(&(node, *lock)) {
                    let said = match ended {
                        Some(TruthEnd::Expired(at)) => *at,
                        _ => at,
                    };
                    let to = ends.map_or(said, |end| end.min(said));
                    let cap = (*ended != Some(TruthEnd::Released)).then_some(id);
                    all.push(Kept { to, cap, ..kept });
                }
                if let Some((client, _)) = of {
                    let (lock, client, to) = (*lock, *client, run.end);
                    let kept = Kept { node, lock, client, event: id, from: at, to, cap: None };
                    open.insert((node, lock), (kept, *until));
                }
            }
            Some(Testimony::Moves(lock, until)) => {
                if let Some(held) = open.get_mut(&(node, *lock)) {
                    held.1 = *until;
                }
            }
            _ => {}
        }
    }
    for (_, (kept, ends)) in open {
        // Nobody has asked since it was over.
        let over = ends.filter(|end| *end <= run.end);
        all.push(Kept { to: over.unwrap_or(run.end), cap: over.map(|_| kept.event), ..kept });
    }
    all.retain(|kept| kept.from < kept.to);
    sort_by_key(&mut all, |kept| kept.event);
    all
}

/// All counts of a run, in the order of time.
pub(super) fn tallies(run: &Run) -> Vec<Tally> {
    let mut asked: Table<(ProcId, LockId, Ask), (EventId, Micros)> = Table::new();
    let mut all: Vec<(Tally, LockId)> = Vec::new();
    for (index, event) in run.record.events.iter().enumerate() {
        let (id, node, at) = (EventId(index as u32), event.node, event.at);
        match event.note() {
            Some(Testimony::Ask { lock, ask, .. }) => {
                asked.insert((node, *lock, *ask), (id, at));
            }
            Some(Testimony::Count(lock, ask, ballot, elapsed, left)) => {
                let (began, from) = asked.get(&(node, *lock, *ask)).copied().unwrap_or((id, at));
                if *ask == Ask::Renew && left.is_some() {
                    // From here on another moment counts.
                    let last = all.iter_mut().rev().find(|t| t.0.node == node && t.1 == *lock);
                    if let Some(good) = last.and_then(|t| t.0.good.as_mut()) {
                        *good = at.min(*good);
                    }
                }
                let good = left.and_then(|left| until(run, (node, *lock), at, left));
                let (ballot, elapsed, left) = (*ballot, *elapsed, *left);
                let tally = Tally {
                    node,
                    asked: began,
                    from,
                    event: id,
                    at,
                    ballot,
                    elapsed,
                    left,
                    good,
                    column: 0,
                };
                all.push((tally, *lock));
            }
            _ => {}
        }
    }
    all.into_iter().map(|t| t.0).collect()
}

/// Until when a client may act that decides now: by its own arithmetic, unless it lets go before.
fn until(run: &Run, whose: (ProcId, LockId), at: Micros, left: Micros) -> Option<Micros> {
    let mut promises = run.judgement.intervals.iter().filter(|i| {
        let his = (i.client, i.lock) == whose && i.kind == IntervalKind::Promise;
        his && i.from <= at && at <= i.to
    });
    let promise = promises.next_back()?;
    let let_go = promise.ended.map_or(Micros(u64::MAX), |_| promise.to);
    Some(at.plus(left).min(let_go).min(run.end))
}

/// What is left of promises that were broken, where no bar of its own shows how long they are.
pub(super) fn broken(run: &Run, bars: &[Bar]) -> Vec<Bar> {
    if run.names().counted() {
        return Vec::new();
    }
    let intervals = &run.judgement.intervals;
    let of = |kind: IntervalKind, grant: Grant| {
        intervals.iter().find(|i| i.kind == kind && i.grant == grant)
    };
    let found = run.judgement.findings.iter().filter_map(|finding| {
        let Finding::Broken { event, grant, .. } = finding else { return None };
        let truth = of(IntervalKind::Truth, *grant)?;
        let promise = of(IntervalKind::Promise, *grant)?;
        let own = |b: &&Bar| b.kind == IntervalKind::Truth && b.event == truth.began;
        let bar = bars.iter().find(own)?;
        // What its client is granted next stands in its place.
        let same = |b: &&Bar| (b.client, b.column) == (bar.client, bar.column);
        let later = bars.iter().filter(same).map(|b| b.from).filter(|from| *from > truth.to);
        let to = later.fold(promise.to.min(run.end), Micros::min);
        Some(Bar { event: *event, from: truth.to, to, cap: None, ..*bar })
    });
    found.filter(|bar| bar.from < bar.to).collect()
}

impl Composer<'_> {
    /// What is left of promises that were broken: an empty bar goes on where the solid one ends.
    pub(super) fn broken(&mut self) {
        for bar in &self.story.broken {
            let x = self.x(bar.client) - self.story.pitch() * bar.column;
            let (top, bottom) = (self.y(bar.from), self.y(bar.to));
            let area = Area { left: x - 16, top, right: x - 8, bottom };
            self.board.block(area);
            self.push(bar.event, Role::Stale, bar.from, Some(bar.to), Shape::Valid { area });
        }
    }

    /// What each of several servers has: a slim bar in the pattern of its client, and whose it is.
    pub(super) fn kept(&mut self) {
        for kept in &self.story.kept {
            let x = self.x(kept.node) - 9 * i32::from(kept.lock.0.min(2));
            let (top, bottom) = (self.y(kept.from), self.y(kept.to));
            let bar = Area { left: x - 13, top, right: x - 6, bottom };
            let shape = Shape::Kept { area: bar, whose: kept.client.0 };
            self.push(kept.event, Role::Hold, kept.from, Some(kept.to), shape);
            self.board.block(bar);
            if let Some(event) = kept.cap {
                let cap = Shape::Cap { left: x - 16, right: x - 3, y: bottom };
                self.push(event, Role::Ink, kept.to, None, cap);
            }
        }
    }

    /// Whose each of these bars is, right under its beginning.
    pub(super) fn owners(&mut self) {
        for kept in &self.story.kept {
            let x = self.x(kept.node);
            let (top, bottom) = (self.y(kept.from), self.y(kept.to));
            let text = short(self.run, kept.client);
            let at = |y: i32| Words {
                text: text.clone(),
                at: Point { x: x + 5, y },
                anchor: Anchor::Start,
                size: SIZE,
                strong: true,
                mono: false,
                halo: true,
            };
            let free = |words: &Words| self.board.is_free(&area(words));
            let Some(words) = (top + 17..bottom + 4).step_by(7).take(30).map(at).find(free) else {
                continue;
            };
            self.board.block(area(&words));
            self.push(kept.event, Role::Hold, kept.from, None, Shape::Words(words));
        }
    }

    /// How long each try took, how many said yes, and for how long that is good.
    pub(super) fn tallies(&mut self) {
        for tally in &self.story.tallies {
            let x = self.x(tally.node);
            let left = x - BARS - ASIDE + 1 - self.story.pitch() * tally.column;
            let (top, bottom) = (self.y(tally.from), self.y(tally.at));
            if top < bottom {
                let shape = Shape::Stopwatch { left, right: left + 6, top, bottom };
                self.board.block(shape.bounds());
                self.push(tally.asked, Role::Ink, tally.from, Some(tally.at), shape);
            }
            if let Some(good) = tally.good.filter(|good| tally.at < *good) {
                let area = Area { left, top: bottom, right: left + 6, bottom: self.y(good) };
                self.board.block(area);
                self.push(tally.event, Role::Ink, tally.at, Some(good), Shape::Valid { area });
            }
            self.verdict(tally, x, bottom);
        }
    }

    /// What a client counted, and what follows from it.
    fn verdict(&mut self, tally: &Tally, x: i32, y: i32) {
        let face = Face::Ballot(tally.ballot, told(tally));
        let far = x - self.reach(tally.node) - 2;
        let mut places = Vec::new();
        for block in 0..face.forms() {
            let (wide, high) = face.size(block);
            let place = |(left, top): (i32, i32)| Place {
                area: Area { left, top, right: left + wide, bottom: top + high },
                anchor: Anchor::Start,
                block,
            };
            let (right, left) = (x + 10, far - wide);
            // Under the decision where it can be, and no further away than it must.
            let under = (y + 4..y + 64).step_by(6).map(|top| (right, top));
            let beside = (y - high..y + 40).step_by(8);
            places.extend(under.chain(beside.flat_map(|y| [(right, y), (left, y)])).map(place));
        }
        let (event, from, role) = (tally.event, tally.at, Role::Ink);
        let (spots, turn) = (Spots::Given(places), 2);
        self.wants.push(Want { event, role, from, face, spots, turn, y, needed: true });
    }
}

impl Composer<'_> {
    /// The words of a sign, and where they may stand.
    pub(super) fn signed(&self, sign: &Sign, at: Point, reach: i32) -> (Face, Spots) {
        if let Some(name) = self.run.names().member(sign.node) {
            // Between lanes that stand close there is no room: the words say whose they are. Where one
            // leads, what becomes of a lock is no single server's.
            let note = self.run.record.event(sign.event).note();
            let common = matches!(note, Some(Testimony::Grant { .. } | Testimony::Free(..)));
            let mut words = sign.words.clone();
            for first in words.iter_mut().filter_map(|lines| lines.first_mut()) {
                if !(common && self.run.names().led()) {
                    *first = format!("{name}: {first}");
                }
            }
            // A few words across the next lifeline read better than a column of them beside it.
            let face = blocks(&words, sign.strong);
            let column = self.tight || !self.across();
            let face = if column { face.or_wrapped(SHORT_LINE) } else { face };
            let spots = self.outside(&face, at.y);
            return (face, spots);
        }
        let face = self.face(blocks(&sign.words, sign.strong));
        let left = self.reach(sign.node).max(reach + 6);
        let (right, left) = (reach.max(6) + 6, left + 2);
        (face, Spots::Beside { at, right, left, down: 0 })
    }

    /// Places across the lanes of a group, where nothing stands between them.
    fn among(&self, face: &Face, y: i32, left: i32) -> Vec<Place> {
        let mut places = Vec::new();
        for block in 0..face.forms() {
            let (wide, high) = face.size(block);
            for off in [16, 26, -26, 36, -36, 48] {
                for step in 0..12 {
                    let (left, top) = (left + 12 * step, y + off - high / 2);
                    let area = Area { left, top, right: left + wide, bottom: top + high };
                    places.push(Place { area, anchor: Anchor::Start, block });
                }
            }
        }
        places
    }

    /// Places to the right of the servers, and nowhere else.
    pub(super) fn right_of(&self, face: &Face, y: i32) -> Spots {
        match self.outside(face, y) {
            Spots::Given(places) => {
                let right = places.into_iter().filter(|place| place.anchor == Anchor::Start);
                Spots::Given(right.collect())
            }
            other => other,
        }
    }

    /// Places to the right of the servers, also further down, before any other: what stands there in a
    /// column is looked for there.
    pub(super) fn in_column(&self, face: &Face, y: i32) -> Spots {
        let mut places = self.outside(face, y).given();
        if !self.crowd {
            let right = places.iter().find(|place| place.anchor == Anchor::Start).copied();
            let lower = right.into_iter().flat_map(|place| {
                [0, 8, -8, 14, 20, 28, 38, 48, 58, 68, 80, 92].map(|off| {
                    let (top, bottom) = (place.area.top + off, place.area.bottom + off);
                    Place { area: Area { top, bottom, ..place.area }, ..place }
                })
            });
            places = lower.chain(places.clone()).collect();
        }
        Spots::Given(places)
    }

    /// Places to the right of a group of lanes, and then to the left of it.
    pub(super) fn outside(&self, face: &Face, y: i32) -> Spots {
        let servers = |lane: &&super::picture::Lane| lane.kind == NodeKind::Service;
        let grouped = || self.picture.lanes.iter().filter(servers);
        let first = grouped().next().map_or(0, |lane| lane.x - self.reach(lane.node) - 8);
        let last = grouped().next_back().map_or(0, |lane| lane.x + 14);
        let mut places = Vec::new();
        for block in 0..face.forms() {
            let (wide, high) = face.size(block);
            for off in [0, 8, -8, 14, -14, 20, -20, 28, -28] {
                for (left, anchor) in [(last, Anchor::Start), (first - wide, Anchor::End)] {
                    let top = y + off - high / 2;
                    let area = Area { left, top, right: left + wide, bottom: top + high };
                    places.push(Place { area, anchor, block });
                }
            }
        }
        if self.tight {
            places.extend(self.among(face, y, first));
        }
        Spots::Given(places)
    }
}

/// The same words in lines of three widths.
fn told(tally: &Tally) -> Vec<Vec<Line>> {
    let [yes, _, of] = tally.ballot.counts();
    let line = |text: String, strong| Line { text, strong };
    let first = || line(format!("{yes} of {of}"), true);
    let elapsed = narrate::span(tally.elapsed);
    match tally.left.map(narrate::span) {
        Some(left) => ["elapsed ", "took ", ""]
            .map(|took| {
                let valid = if took.is_empty() { "" } else { "valid " };
                let took = line(format!("{took}{elapsed}"), false);
                vec![first(), took, line(format!("{valid}{left}"), false)]
            })
            .to_vec(),
        None if tally.ballot.carried() => ["elapsed ", "took ", ""]
            .map(|took| {
                let late = line("too late".into(), true);
                vec![first(), line(format!("{took}{elapsed}"), false), late]
            })
            .to_vec(),
        None => vec![vec![first()]; 3],
    }
}
