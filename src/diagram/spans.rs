//! Stretches of lanes: pauses, deaths, waits, cuts, and work that no lock covers.

use super::story::{Bar, Severed, Story, Stretch};
use crate::judge::{Ask, IntervalKind, Section, Testimony};
use crate::run::Run;
use crate::sim::{Event, EventId, Micros, ProcId, Table, What, sort_by_key};

impl Story {
    /// Pauses, deaths, waits and cuts.
    pub(super) fn spans(&mut self, run: &Run) {
        let mut open: Table<(u8, ProcId), usize> = Table::new();
        let mut waiting: Table<ProcId, (Stretch, bool)> = Table::new();
        let end = run.end;
        for (index, event) in run.record.events.iter().enumerate() {
            let id = EventId(index as u32);
            let node = event.node;
            let stretch = Stretch { node, event: id, from: event.at, to: end, ended: None };
            match &event.what {
                // A pause within a pause only makes it longer.
                What::Halt(..) if open.get(&(0, node)).is_none() => {
                    open.insert((0, node), self.pauses.len());
                    self.pauses.push(stretch);
                }
                What::Resume => {
                    close(&mut self.pauses, open.remove(&(0, node)), event.at, id);
                }
                What::Crash(_) => {
                    close(&mut self.pauses, open.remove(&(0, node)), event.at, id);
                    open.insert((1, node), self.downs.len());
                    self.downs.push(stretch);
                    self.waited(waiting.remove(&node), event.at, id);
                }
                What::Restart => {
                    close(&mut self.downs, open.remove(&(1, node)), event.at, id);
                }
                What::Cut(to) => self.cut(id, event, *to, end),
                What::Heal(to) => self.heal(id, event, *to),
                _ => {}
            }
            match event.note() {
                Some(Testimony::Ask { ask: Ask::Acquire, first: true, .. }) => {
                    waiting.insert(node, (stretch, false));
                }
                Some(Testimony::Refuse(_, client, Ask::Acquire))
                | Some(Testimony::Queue(_, client)) => {
                    if let Some(wait) = waiting.get_mut(client) {
                        wait.1 = true;
                    }
                }
                Some(Testimony::Count(_, Ask::Acquire, _, _, None)) => {
                    if let Some(wait) = waiting.get_mut(&node) {
                        wait.1 = true;
                    }
                }
                Some(Testimony::Answer(_, Ask::Acquire, _)) => {
                    self.waited(waiting.remove(&node), event.at, id);
                }
                _ => {}
            }
        }
        for (_, (stretch, refused)) in waiting {
            self.waits.extend(refused.then_some(stretch));
        }
        sort_by_key(&mut self.waits, |w| w.event);
        // Two pauses that meet are one.
        self.pauses.retain(|p| p.from < p.to);
    }

    fn waited(&mut self, wait: Option<(Stretch, bool)>, at: Micros, id: EventId) {
        if let Some((stretch, true)) = wait {
            self.waits.push(Stretch { to: at, ended: Some(id), ..stretch });
        }
    }

    fn cut(&mut self, id: EventId, event: &Event<Testimony>, to: ProcId, end: Micros) {
        let (from, at) = (event.node, event.at);
        let back = |c: &&mut Severed| c.from == to && c.to == from && c.at == at && !c.both;
        match self.cuts.iter_mut().rev().take(64).find(back) {
            Some(other) => other.both = true,
            None => self.cuts.push(Severed {
                from,
                to,
                both: false,
                event: id,
                at,
                until: end,
                healed: None,
            }),
        }
    }

    fn heal(&mut self, id: EventId, event: &Event<Testimony>, to: ProcId) {
        let same = |c: &&mut Severed| {
            let (a, b) = (event.node, to);
            c.healed.is_none() && ((c.from, c.to) == (a, b) || c.both && (c.to, c.from) == (a, b))
        };
        for cut in self.cuts.iter_mut().filter(|c| same(c)) {
            cut.until = event.at;
            cut.healed = Some(id);
        }
    }

    /// Sections whose client believes to hold nothing when they begin: work without a lock.
    pub(super) fn sections(&mut self, run: &Run) {
        let mut open: Table<Section, usize> = Table::new();
        for (index, event) in run.record.events.iter().enumerate() {
            let (id, node) = (EventId(index as u32), event.node);
            match event.note() {
                Some(Testimony::Begin(section)) => {
                    let covers = |b: &Bar| {
                        b.kind == IntervalKind::Belief
                            && b.client == node
                            && (b.from..=b.to).contains(&event.at)
                    };
                    if !self.bars.iter().any(covers) {
                        open.insert(*section, self.sections.len());
                        let (from, to) = (event.at, run.end);
                        self.sections.push(Stretch { node, event: id, from, to, ended: None });
                    }
                }
                Some(Testimony::Close(section, _)) => {
                    close(&mut self.sections, open.remove(section), event.at, id);
                }
                _ => {}
            }
        }
        self.sections.retain(|s| s.from < s.to);
    }
}

fn close(stretches: &mut [Stretch], index: Option<usize>, at: Micros, id: EventId) {
    if let Some(stretch) = index.and_then(|i| stretches.get_mut(i)) {
        stretch.to = at;
        stretch.ended = Some(id);
    }
}
