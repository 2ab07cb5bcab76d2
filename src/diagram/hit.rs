//! Which mark lies under a finger.

use super::picture::{Area, Mark, Point, Shape};

/// The mark that a press at this point means: the nearest one within reach, of several the smallest.
/// What only lies behind others, such as a lifeline, is never meant.
pub fn hit<'m>(marks: impl Iterator<Item = &'m Mark>, at: Point, reach: i32) -> Option<&'m Mark> {
    let near = marks.filter_map(|mark| {
        let away = distance(mark, at)?;
        (away <= reach).then(|| (away, extent(&mark.bounds), mark))
    });
    near.min_by_key(|(away, extent, _)| (*away, *extent)).map(|(_, _, mark)| mark)
}

/// How far a point is from a mark that can be meant.
fn distance(mark: &Mark, at: Point) -> Option<i32> {
    match &mark.shape {
        Shape::Lifeline { .. }
        | Shape::Tick { .. }
        | Shape::Fold { .. }
        | Shape::Band { .. }
        | Shape::Fog { .. }
        | Shape::Box { .. }
        | Shape::Link { .. } => None,
        Shape::Message { track, .. } => {
            track.windows(2).map(|leg| from_line(leg[0], leg[1], at)).min()
        }
        Shape::Round { legs, .. } | Shape::Fan { legs } => {
            legs.iter().map(|leg| from_line(leg[0], leg[1], at)).min()
        }
        Shape::Watch { ends, .. } => {
            let near = |ends: &[Point; 2]| {
                from_line(ends[0], ends[1], at).min(from_area(&Shape::eye(ends[0]), at))
            };
            ends.iter().map(near).min()
        }
        _ => Some(from_area(&mark.bounds, at)),
    }
}

fn extent(area: &Area) -> i32 {
    (area.right - area.left).saturating_mul(area.bottom - area.top)
}

fn from_area(area: &Area, at: Point) -> i32 {
    let beside = (area.left - at.x).max(at.x - area.right).max(0);
    let above = (area.top - at.y).max(at.y - area.bottom).max(0);
    beside.max(above)
}

/// The distance from a stretch of line, in whole pixels.
fn from_line(from: Point, to: Point, at: Point) -> i32 {
    let wide = |n: i32| i64::from(n);
    let (dx, dy) = (wide(to.x - from.x), wide(to.y - from.y));
    let (px, py) = (wide(at.x - from.x), wide(at.y - from.y));
    let length = (dx * dx + dy * dy).max(1);
    let along = (px * dx + py * dy).clamp(0, length);
    // The nearest point of the line, a thousandth of a pixel at a time.
    let (nx, ny) =
        (px * 1_000 - dx * along * 1_000 / length, py * 1_000 - dy * along * 1_000 / length);
    ((nx * nx + ny * ny).isqrt() / 1_000) as i32
}
