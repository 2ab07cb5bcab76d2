//! A run through the eyes of one node: its own lane by its own clock; the other lanes are fog, and
//! what it sent goes nowhere that it could see.

use super::lanes::{BARS, name_face};
use super::palette::Role;
use super::picture::{Anchor, Area, Fate, Lane, Mark, Picture, Point, Scale, Shape, Words};
use super::text::{SIZE, fit, width as width_of};
use crate::judge::Testimony;
use crate::narrate;
use crate::run::Run;
use crate::run::eyes::{Seen, Sight};
use crate::sim::{EventId, Local, Micros, MsgId, ProcId};

/// The height of the header with its margins.
const HEADER: i32 = 60;
/// The width of the axis.
const AXIS: i32 = 62;
/// How much lower the next thing of the same instant stands.
const NEXT: i32 = 24;
/// How far two instants lie apart at least and at most.
const NEAR: i32 = 30;
const FAR: i32 = 64;
/// A gap longer than this is written out.
const LONG: i64 = 2_500_000;
/// How much a line slants between a lane and the fog.
const SLANT: i32 = 10;

/// Lays out what a node has seen. The events of the marks count what was seen, from 0: in this
/// picture there is nothing that another run with the same history would not have.
pub fn through_eyes(run: &Run, node: ProcId, seen: &[Seen], width: i32) -> Picture {
    let (lanes, width) = lanes(run, width);
    let own = lanes.iter().find(|l| l.node == node).map_or(AXIS, |l| l.x);
    let mut drawn = Drawn { run, node, lanes, own, width, marks: Vec::new(), y: HEADER + 20 };
    let mut last: Option<Local> = None;
    let mut belief: Option<(i32, usize)> = None;
    for (index, seen) in seen.iter().enumerate() {
        let words = narrate::seen_words(run, seen);
        let note = run.record.event(seen.event).note().filter(|_| seen.what == Sight::Did);
        let draws = words.is_some() || !matches!(seen.what, Sight::Did);
        if !draws {
            if let Some(Testimony::Doubt(..)) = note {
                drawn.believed(belief.take());
            }
            continue;
        }
        drawn.go_to(index, last, seen.local);
        last = Some(seen.local);
        match note {
            Some(Testimony::Believe(..)) if belief.is_none() => belief = Some((drawn.y, index)),
            Some(Testimony::Doubt(..)) => drawn.believed(belief.take()),
            _ => {}
        }
        match seen.what {
            Sight::Sent(msg) => drawn.message(index, msg, true),
            Sight::Got(msg) => drawn.message(index, msg, false),
            Sight::Did | Sight::Gone(_) => {}
        }
        if let Some(words) = words {
            drawn.say(index, note, &words);
        }
    }
    drawn.believed(belief);
    drawn.finish(!seen.is_empty())
}

/// The lanes as wide apart as there is room; all names, because it knows that the others exist.
fn lanes(run: &Run, width: i32) -> (Vec<Lane>, i32) {
    let nodes = &run.names().nodes;
    let count = nodes.len() as i32;
    let width = width.max(AXIS + BARS + 76 * count);
    let spacing = (width - AXIS - BARS - 50) / (count - 1).max(1);
    let lanes = nodes.iter().enumerate().map(|(index, node)| {
        let x = AXIS + BARS + 6 + spacing * index as i32;
        let half = (spacing - 8).clamp(60, 128) / 2;
        let left = (x - half).max(2);
        let header = Area { left, top: 8, right: (x + half).min(width - 2), bottom: HEADER - 8 };
        let (size, strong) = name_face(&header);
        let label = fit(&node.label, header.right - header.left - 6, size, strong);
        let (proc, kind) = (ProcId(index as u16), node.kind);
        let sayings = Vec::new();
        let stands = Vec::new();
        Lane { node: proc, kind, x, header, label, grouped: false, sayings, stands }
    });
    (lanes.collect(), width)
}

struct Drawn<'r> {
    run: &'r Run,
    node: ProcId,
    lanes: Vec<Lane>,
    own: i32,
    width: i32,
    marks: Vec<Mark>,
    /// The height of what is being drawn.
    y: i32,
}

impl Drawn<'_> {
    fn push(&mut self, index: usize, role: Role, shape: Shape) {
        let (event, bounds) = (EventId(index as u32), shape.bounds());
        let from = Micros::ZERO;
        self.marks.push(Mark { event, role, shape, from, until: None, bounds });
    }

    fn words(&mut self, index: usize, role: Role, text: String, at: Point, anchor: Anchor) {
        let words = Words { text, at, anchor, size: SIZE, strong: false, mono: false, halo: true };
        self.push(index, role, Shape::Words(words));
    }

    /// Goes down to the next thing, and writes its time where that is another one.
    fn go_to(&mut self, index: usize, last: Option<Local>, now: Local) {
        let passed = last.map(|last| now.0 - last.0);
        self.y += match passed {
            None => 0,
            Some(0) => NEXT,
            Some(passed) => (passed * 24 / 1_000_000).clamp(NEAR.into(), FAR.into()) as i32,
        };
        if let Some(passed) = passed.filter(|p| *p > LONG) {
            let (left, right) = (self.own - 18, self.own + 18);
            let y = self.y - FAR / 2;
            self.push(index, Role::Muted, Shape::Fold { across: vec![(left, right)], y });
            let span = narrate::span(Micros(passed.unsigned_abs()));
            let at = Point { x: AXIS - 8, y: y + 4 };
            self.words(index, Role::Muted, format!("≈ {span}"), at, Anchor::End);
        }
        if passed != Some(0) {
            let at = Point { x: AXIS - 8, y: self.y + 4 };
            self.words(index, Role::Muted, narrate::reading(now), at, Anchor::End);
            let (left, right) = (AXIS - 5, AXIS);
            self.push(index, Role::Muted, Shape::Tick { left, right, y: self.y });
        }
    }

    fn message(&mut self, index: usize, msg: MsgId, sends: bool) {
        let info = self.run.record.message(msg);
        let peer = if sends { info.to } else { info.from };
        let there = self.lanes.iter().find(|l| l.node == peer).map_or(self.width, |l| l.x);
        let side = (there - self.own).signum();
        // Where the fog begins: beyond it nobody here knows anything.
        let edge = there - side * 14;
        let (here, fog) = (self.own, edge);
        let track = if sends {
            vec![Point { x: here, y: self.y }, Point { x: fog, y: self.y + SLANT }]
        } else {
            vec![Point { x: fog, y: self.y - SLANT }, Point { x: here, y: self.y }]
        };
        let text = narrate::message_words(self.run, msg);
        let middle = Point { x: (here + fog) / 2, y: self.y + if sends { 0 } else { -SLANT } };
        let (fate, arrives) =
            if sends { (Fate::Open, None) } else { (Fate::Arrives, Some(Micros::ZERO)) };
        let (id, sent, soft) = (msg_number(index), Micros::ZERO, false);
        self.push(index, Role::Ink, Shape::Message { id, track, sent, arrives, fate, soft });
        self.words(index, Role::Ink, text, Point { y: middle.y - 1, ..middle }, Anchor::Middle);
    }

    /// A line of words beside the lane, on the side that has room.
    fn say(&mut self, index: usize, note: Option<&Testimony>, words: &str) {
        let role = match note {
            Some(Testimony::Reject(..)) => Role::Fenced,
            Some(Testimony::Accept(..) | Testimony::Grant { .. } | Testimony::Believe(..)) => {
                Role::Hold
            }
            _ => Role::Ink,
        };
        let at = Point { x: self.own, y: self.y };
        let sign = match note {
            Some(Testimony::Accept(..)) => Some(Shape::Accepted { at }),
            Some(Testimony::Reject(..)) => Some(Shape::Rejected { at }),
            Some(Testimony::Free(..)) => Some(Shape::Hourglass { at }),
            _ => None,
        };
        let clear = sign.as_ref().map_or(8, |s| s.bounds().right - self.own + 4);
        if let Some(sign) = sign {
            self.push(index, role, sign);
        }
        let wide = width_of(words, SIZE, false, false);
        let right = self.own + clear + wide < self.width;
        let x = if right { self.own + clear } else { self.own - clear };
        let anchor = if right { Anchor::Start } else { Anchor::End };
        self.words(index, role, words.into(), Point { x, y: self.y + 4 }, anchor);
    }

    fn believed(&mut self, from: Option<(i32, usize)>) {
        let Some((top, index)) = from else { return };
        let area = Area {
            left: self.own - BARS + 4,
            top,
            right: self.own - 8,
            bottom: self.y.max(top + 8),
        };
        self.push(index, Role::Hold, Shape::Belief { area });
    }

    fn finish(mut self, any: bool) -> Picture {
        let bottom = self.y + 36;
        let node = self.node;
        let others = self.lanes.iter().filter(|l| l.node != node).map(|l| l.x);
        let mut behind: Vec<Shape> = others
            .map(|x| Shape::Fog { area: Area { left: x - 14, top: HEADER, right: x + 14, bottom } })
            .collect();
        if any {
            let (x, top) = (self.own, HEADER);
            behind.push(Shape::Lifeline { x, top, bottom: self.y + 12, dashed: false });
        }
        let marks = std::mem::take(&mut self.marks);
        for shape in behind {
            self.push(0, Role::Muted, shape);
        }
        self.marks.extend(marks);
        Picture {
            width: self.width,
            room: self.width,
            height: bottom,
            header_height: HEADER,
            scale: Scale::Page,
            lanes: self.lanes,
            heads: Vec::new(),
            marks: self.marks,
            shared: Vec::new(),
            knots: Vec::new(),
        }
    }
}

/// The messages of this picture are counted with what was seen.
fn msg_number(index: usize) -> MsgId {
    MsgId(index as u32)
}
