//! What a run looks like at the moments that were asked for last. Several parts of the page ask for the same one, and
//! with fifty clients a world is too large to make it anew for each.

use std::cell::RefCell;
use std::rc::Rc;

use super::show::Head;
use crate::narrate::{self, Knows};
use crate::run::Run;
use crate::sim::{EventId, World};
use crate::systems::Locks;

/// So many are kept: the present one, the one before its last step, and those of the step before.
const KEPT: usize = 4;

/// A world, and what each node knows in it.
#[derive(Clone, Debug)]
struct Moment {
    head: Head,
    world: Rc<World<Locks>>,
    knows: Option<Rc<Vec<Knows>>>,
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

    /// What each node of this run knows at a head.
    pub fn knows(&self, run: &Run, head: Head) -> Rc<Vec<Knows>> {
        self.at(run, head, |moment| {
            let world = &moment.world;
            moment.knows.get_or_insert_with(|| Rc::new(narrate::knows(run, world))).clone()
        })
    }

    fn at<T>(&self, run: &Run, head: Head, take: impl FnOnce(&mut Moment) -> T) -> T {
        let mut kept = self.kept.borrow_mut();
        let known = kept.iter().position(|moment| moment.head == head);
        let mut moment = match known {
            Some(place) => kept.remove(place),
            None => {
                let world = match head.event {
                    Some(event) => run.world_when(EventId(event), head.at),
                    None => World::new(run.compiled.plan.clone()),
                };
                Moment { head, world: Rc::new(world), knows: None }
            }
        };
        let taken = take(&mut moment);
        kept.push(moment);
        let over = kept.len().saturating_sub(KEPT);
        kept.drain(..over);
        taken
    }
}
