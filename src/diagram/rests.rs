//! The rests of a client between its tries: a ladder where each is drawn anew or grows.

use super::labels::{Spots, Want, single};
use super::lanes::BARS;
use super::layout::Composer;
use super::palette::Role;
use super::picture::{Area, Point, Shape};
use super::story::Stretch;
use crate::judge::{Ask, Testimony};
use crate::narrate;
use crate::run::Run;
use crate::sim::{EventId, Micros, ProcId, Table, sort_by_key};

/// The rests of each client that does not always rest alike, in the order of time.
pub(super) fn rests(run: &Run) -> Vec<Stretch> {
    let mut all: Table<ProcId, Vec<Stretch>> = Table::new();
    for (index, event) in run.record.events.iter().enumerate() {
        let (id, node, to) = (EventId(index as u32), event.node, event.at);
        let note = event.note();
        let again = matches!(note, Some(Testimony::Ask { ask: Ask::Acquire, first: false, .. }));
        let cause = event.causes.iter().next().filter(|_| again);
        let Some(from) = cause.map(|cause| run.record.event(cause).at) else { continue };
        let rest = Stretch { node, event: id, from, to, ended: Some(id) };
        all.entry(node).or_default().push(rest);
    }
    let mut found = Vec::new();
    for (_, rests) in all {
        if rests.windows(2).any(|pair| long(&pair[0]) != long(&pair[1])) {
            found.extend(rests.into_iter().filter(|rest| rest.from < rest.to));
        }
    }
    sort_by_key(&mut found, |rest| (rest.to, rest.event));
    found
}

/// How long a rest is, in whole milliseconds: nobody reads more of it.
pub(super) fn long(rest: &Stretch) -> Micros {
    Micros((rest.to.since(rest.from).0 + 500) / 1_000 * 1_000)
}

/// The shortest and the longest of the rests that end between two moments, where they differ.
pub(super) fn range(rests: &[Stretch], from: Micros, to: Micros) -> Option<(Micros, Micros)> {
    let inside = rests.iter().filter(|rest| from < rest.to && rest.to < to).map(long);
    let (least, most) = inside.fold((Micros(u64::MAX), Micros::ZERO), |(least, most), span| {
        (least.min(span), most.max(span))
    });
    (least < most).then_some((least, most))
}

/// `90–180 ms apart`.
pub(super) fn apart((least, most): (Micros, Micros)) -> String {
    let round = |span: Micros| match span.0 {
        0..1_000_000 => span,
        long => Micros((long + 50_000) / 100_000 * 100_000),
    };
    let [least, most] = [least, most].map(|span| narrate::span(round(span)));
    let unit = most.find(' ').and_then(|place| most.get(place..)).unwrap_or_default();
    format!("{}–{most} apart", least.strip_suffix(unit).unwrap_or(&least))
}

impl Composer<'_> {
    /// A rung where each rest ends, and how long it was.
    pub(super) fn rests(&mut self) {
        let moments = &self.story.moments;
        let seen = |at: &Micros| moments.binary_search(at).is_ok();
        for rest in self.story.rests.iter().filter(|rest| seen(&rest.from) && seen(&rest.to)) {
            let x = self.x(rest.node);
            let (left, right, y) = (x - BARS, x - 7, self.y(rest.to));
            self.push(rest.event, Role::Muted, rest.to, None, Shape::Rung { left, right, y });
            let area = Area { left, top: y - 1, right, bottom: y + 1 };
            self.board.block(area);
            let words = format!("rests {}", narrate::span(long(rest)));
            let (top, down) = (self.y(rest.from), self.y(rest.to));
            let at = Point { x, y: (top + down) / 2 };
            let (left, face) = (self.reach(rest.node) + 2, self.face(single(&words)));
            let spots = Spots::Beside { at, right: 12, left, down };
            let (event, role, from, turn) = (rest.event, Role::Muted, rest.to, 7);
            // The rung alone says that it was tried again.
            self.wants.push(Want { event, role, from, face, spots, turn, y: top, needed: false });
        }
    }
}
