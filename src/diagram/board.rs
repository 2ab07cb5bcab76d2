//! Where labels find room: a board of boxes that must stay free and of lines that should.

use super::picture::{Area, Point};

/// The height of a row of the index.
const ROW: i32 = 64;
/// What a crossed line costs, in places of preference.
const CROSSING: i32 = 12;

/// The occupied places of a picture.
pub(super) struct Board {
    limits: Area,
    boxes: Vec<Area>,
    lines: Vec<(Point, Point)>,
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
        let id = self.lines.len() as u32;
        self.lines.push(if from.x <= to.x { (from, to) } else { (to, from) });
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

    /// How many lines cross a box.
    pub fn crossings(&self, area: &Area) -> i32 {
        let mut seen: Vec<u32> = Vec::new();
        for row in self.rows(area.top, area.bottom) {
            for id in &self.line_rows[row] {
                if !seen.contains(id) && crosses(self.lines[*id as usize], area) {
                    seen.push(*id);
                }
            }
        }
        seen.len() as i32
    }

    /// The best of these boxes, the preferred first: free, and crossed by few lines.
    pub fn choose(&self, candidates: &[Area]) -> Option<usize> {
        let mut best: Option<(i32, usize)> = None;
        for (rank, area) in candidates.iter().enumerate() {
            if best.is_some_and(|b| b.0 <= rank as i32) {
                break;
            }
            if self.is_free(area) {
                let cost = rank as i32 + CROSSING * self.crossings(area);
                if best.is_none_or(|b| cost < b.0) {
                    best = Some((cost, rank));
                }
            }
        }
        best.map(|b| b.1)
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
