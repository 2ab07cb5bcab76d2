//! What a run looks like at the moments that were asked for last. Several parts of the page ask for the same one, and
//! with fifty clients a world is too large to make it anew for each.

use std::cell::RefCell;
use std::rc::Rc;

use super::show::Head;
use crate::narrate::{self, Knows};
use crate::run::Run;
use crate::sim::{EventId, ProcId, World};
use crate::systems::Locks;

/// So many are kept: the present one, the one before its last step, and those of the step before.
const KEPT: usize = 4;

/// A world, what each node knows in it, and how things stand there.
#[derive(Clone, Debug)]
struct Moment {
    head: Head,
    world: Rc<World<Locks>>,
    /// The moment lies between two events: nothing goes on from this world.
    between: bool,
    /// By lane, of those that were asked for.
    knows: Vec<Option<Rc<Knows>>>,
    summary: Option<Rc<str>>,
}

/// The moments of one run that were asked for last, the newest at the end.
#[derive(Clone, Default, Debug)]
pub struct Moments {
    kept: RefCell<Vec<Moment>>,
}

impl Moments {
    /// The world of this run at a head.
    pub fn world(&self, run: &Run, head: Head) -> Rc<World<Locks>> {
        self.at(run, head, |moment| moment.world.clone())
    }

    /// What a node of this run knows at a head.
    pub fn knows(&self, run: &Run, head: Head, node: ProcId) -> Rc<Knows> {
        self.at(run, head, |moment| {
            let made = || Rc::new(narrate::knows_of(run, &moment.world, node));
            match moment.knows.get_mut(usize::from(node.0)) {
                Some(known) => known.get_or_insert_with(made).clone(),
                None => made(),
            }
        })
    }

    /// How things stand in this run at a head.
    pub fn summary(&self, run: &Run, head: Head) -> Rc<str> {
        self.at(run, head, |moment| {
            let world = &moment.world;
            moment.summary.get_or_insert_with(|| narrate::summary(run, world).into()).clone()
        })
    }

    fn at<T>(&self, run: &Run, head: Head, take: impl FnOnce(&mut Moment) -> T) -> T {
        let mut kept = self.kept.borrow_mut();
        let known = kept.iter().position(|moment| moment.head == head);
        let mut moment = match known {
            Some(place) => kept.remove(place),
            None => {
                let (world, between) = made(run, head, &kept);
                let knows = vec![None; run.names().nodes.len()];
                Moment { head, world: Rc::new(world), between, knows, summary: None }
            }
        };
        let taken = take(&mut moment);
        kept.push(moment);
        let over = kept.len().saturating_sub(KEPT);
        kept.drain(..over);
        taken
    }
}

/// The world of a run at a head, and whether that lies between two events. While it plays, the next moment is a few
/// events later than the last one.
fn made(run: &Run, head: Head, kept: &[Moment]) -> (World<Locks>, bool) {
    let Some(event) = head.event else { return (World::new(run.compiled.plan.clone()), false) };
    let before = kept.iter().filter(|m| !m.between && m.head.event < head.event);
    let last = before.max_by_key(|m| m.head.event).map(|m| &*m.world);
    let mut world = run.world_from(last, EventId(event));
    let between = world.now() < head.at;
    world.look_at(head.at);
    (world, between)
}
