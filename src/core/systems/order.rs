//! What is ordered of a server from outside, by an administrator or by whoever watches over all
//! servers: the one way in which an edit reaches a lock service.
//!
//! The simulator hands an order to its server and asks nothing; what it means is the system's business,
//! which says beforehand what it cannot do ([`super::System::cannot`]) and, when the time has come,
//! whether there is anything to do ([`crate::sim::Actor::heeds`]).

use super::Body;
use crate::judge::LockId;
use crate::sim::ProcId;

/// An order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Take the place of that server: what you say counts from now on.
    Lead {
        /// Whose place.
        after: ProcId,
        /// Which of a run's orders of this kind it is, from 1: of two that were heard of, the later one
        /// holds.
        number: u32,
    },
    /// Throw out what you know of this lock.
    Evict(LockId),
}

impl Order {
    /// The word for it, as edits have it.
    pub const fn word(self) -> &'static str {
        match self {
            Order::Lead { .. } => "fail-over",
            Order::Evict(_) => "evict",
        }
    }

    /// What reaches the server.
    pub fn body(self) -> Body {
        Body::new(self.word(), 0, self)
    }
}
