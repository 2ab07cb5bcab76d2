//! Where labels find room: a board of boxes that must stay free and of lines that should.

use super::picture::{Anchor, Area, Point};

/// The height of a row of the index.
const ROW: i32 = 64;
/// What a crossed line costs, in places of preference; and a dotted one, under which words stay legible.
const CROSSING: i32 = 26;
const DOTTED: i32 = 12;

/// A place that a label may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub area: Area,
    pub anchor: Anchor,
    /// In which of its forms the label fits here.
    pub block: usize,
}

impl Place {
    /// What a label takes for itself: it keeps a little distance from all else.
    pub fn claim(&self) -> Area {
        let area = &self.area;
        Area { left: area.left - 3, top: area.top, right: area.right + 3, bottom: area.bottom + 1 }
    }
}

/// The occupied places of a picture.
pub(super) struct Board {
    limits: Area,
    boxes: Vec<Area>,
    /// Each with what it costs to cross it.
    lines: Vec<(Point, Point, i32)>,
    box_rows: Vec<Vec<u32>>,
    line_rows: Vec<Vec<u32>>,
}

impl Board {
    /// An empty board within these limits.
    pub fn new(limits: Area) -> Board {
        let rows = usize::try_from(limits.bottom / ROW + 2).unwrap_or(1);
        Board {
            limits,
            boxes: Vec::new(),
            lines: Vec::new(),
            box_rows: vec![Vec::new(); rows],
            line_rows: vec![Vec::new(); rows],
        }
    }

    fn rows(&self, top: i32, bottom: i32) -> std::ops::Range<usize> {
        let row = |y: i32| usize::try_from(y / ROW).unwrap_or(0);
        let last = self.box_rows.len();
        row(top.max(0)).min(last)..(row(bottom.max(0)) + 1).min(last)
    }

    /// Nothing may lie in this box.
    pub fn block(&mut self, area: Area) {
        let id = self.boxes.len() as u32;
        self.boxes.push(area);
        for row in self.rows(area.top, area.bottom) {
            self.box_rows[row].push(id);
        }
    }

    /// A label should not lie on this line.
    pub fn draw(&mut self, from: Point, to: Point) {
        self.cross(from, to, CROSSING);
    }

    /// It may rather lie on this one, which is dotted.
    pub fn dot(&mut self, from: Point, to: Point) {
        self.cross(from, to, DOTTED);
    }

    fn cross(&mut self, from: Point, to: Point, cost: i32) {
        let id = self.lines.len() as u32;
        self.lines.push(if from.x <= to.x { (from, to, cost) } else { (to, from, cost) });
        for row in self.rows(from.y.min(to.y), from.y.max(to.y)) {
            self.line_rows[row].push(id);
        }
    }

    /// Whether a box is within the limits and free.
    pub fn is_free(&self, area: &Area) -> bool {
        let l = &self.limits;
        let inside = area.left >= l.left
            && area.right <= l.right
            && area.top >= l.top
            && area.bottom <= l.bottom;
        inside
            && self
                .rows(area.top, area.bottom)
                .all(|row| self.box_rows[row].iter().all(|i| !self.boxes[*i as usize].meets(area)))
    }

    /// What the lines that cross a box cost.
    fn crossings(&self, area: &Area) -> i32 {
        let (mut seen, mut cost) = (Vec::<u32>::new(), 0);
        for row in self.rows(area.top, area.bottom) {
            for id in &self.line_rows[row] {
                let (from, to, price) = self.lines[*id as usize];
                if !seen.contains(id) && crosses((from, to), area) {
                    seen.push(*id);
                    cost += price;
                }
            }
        }
        cost
    }

    /// The best of these places, the preferred first: free, and crossed by few lines; and whether a
    /// line crosses it. Places are asked for only as long as one of them could still be better.
    pub fn choose(&self, places: impl Iterator<Item = Place>) -> Option<(Place, bool)> {
        let mut best: Option<(i32, Place, bool)> = None;
        for (rank, place) in places.enumerate() {
            let rank = rank as i32;
            if best.is_some_and(|b| b.0 <= rank) {
                break;
            }
            let area = place.claim();
            if self.is_free(&area) {
                let crossings = self.crossings(&area);
                let cost = rank + crossings;
                if best.is_none_or(|b| cost < b.0) {
                    best = Some((cost, place, crossings > 0));
                }
            }
        }
        best.map(|b| (b.1, b.2))
    }
}

/// Whether a line from left to right meets a box.
fn crosses((from, to): (Point, Point), area: &Area) -> bool {
    let (left, right) = (from.x.max(area.left), to.x.min(area.right));
    if left > right {
        return false;
    }
    let (a, b) = (height(from, to, left), height(from, to, right));
    let (a, b) = if from.x == to.x { (from.y, to.y) } else { (a, b) };
    a.min(b) < area.bottom && a.max(b) > area.top
}

/// Where a line is at `x`.
pub(super) fn height(from: Point, to: Point, x: i32) -> i32 {
    let run = i64::from(to.x - from.x);
    if run == 0 {
        return from.y;
    }
    from.y + (i64::from(to.y - from.y) * i64::from(x - from.x) / run) as i32
}
