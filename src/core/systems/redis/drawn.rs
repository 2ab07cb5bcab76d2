//! The values under which a client takes its locks.

use crate::sim::{Cx, Purpose, up_to};
use crate::systems::Locks;

/// What a client has drawn so far. What was drawn twice stands for a draw too, so that the next one is
/// another.
#[derive(Clone, Default, Debug)]
pub(super) struct Drawn(Vec<i64>);

impl Drawn {
    /// How many draws there were.
    pub(super) fn count(&self) -> u64 {
        self.0.len() as u64
    }

    /// A value that no other try of any client has. Real ones have 160 bits; four digits keep the
    /// figure readable, and what matters is that they have no order.
    pub(super) fn value(&mut self, cx: &Cx<'_, Locks>) -> i64 {
        const CLIENTS: u64 = 64;
        loop {
            let ordinal = self.count();
            let draw = up_to(cx.random(Purpose::LockValue, ordinal), 139.max(ordinal * 2));
            let value = 1_000 + (draw * CLIENTS + u64::from(cx.me().0) % CLIENTS) as i64;
            let fresh = !self.0.contains(&value);
            self.0.push(if fresh { value } else { -1 });
            if fresh {
                return value;
            }
        }
    }
}
