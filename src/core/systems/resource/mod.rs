//! The protected resource: named cells with versions, the check in front of them, and the gateway
//! that may stand before a resource which cannot check.
//!
//! Rules (inference from the requirement that a stale holder be refused, and the two source texts'
//! own statement "stores the highest token accepted and rejects lower tokens"): check and apply are
//! one atomic step, and the highest token is durable together with the data. Each of the other ways
//! to check breaks one of these, so that it can be seen what it is good for.

mod gateway;
mod guard;
mod store;

use std::rc::Rc;

use super::Body;
use crate::judge::{LockId, Operation, Rejection, Token, Write};
use crate::sim::{EventId, Expr};

pub use gateway::Gateway;
pub use store::Resource;

/// What a client asks of a resource.
#[derive(Clone, Debug)]
pub enum Request {
    /// The value of a cell.
    Read(Operation),
    /// A write, and what it demands.
    Write(Operation, Write, Terms),
    /// To raise the mark to the operation's token, and nothing else.
    Claim(Operation),
    /// Nothing but a token of a lock, sent by hand: it is compared and writes nothing.
    Try(LockId, Token),
}

/// What a write knows and demands of the cells, for the resource to look at as it writes.
#[derive(Clone, Debug)]
pub struct Terms {
    /// The version of its cell that the writer knows, where it knows one.
    pub known: Option<u32>,
    /// What must hold, or the write is refused.
    pub condition: Option<Rc<Condition>>,
}

/// A condition of a write, evaluated in the same step as the write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Condition {
    /// The cell is still at the version that the writer read.
    Version,
    /// The cell was never written.
    Fresh,
    /// This is not 0 over the cells, each at the place of its id.
    Cells(Expr),
}

/// What a resource answers.
#[derive(Clone, Copy, Debug)]
pub enum Reply {
    /// The value and its version, and the event of serving.
    Value(i64, u32, EventId),
    /// The write made this version.
    Accepted(u32),
    /// The mark stands at the claim's token.
    Claimed,
    /// The operation was refused.
    Rejected(Rejection),
}

impl Reply {
    /// A message with this answer to a request.
    fn body(self, request: u64, token: Option<Token>) -> Body {
        let name = match self {
            Reply::Value(..) => "value",
            Reply::Accepted(_) => "accepted",
            Reply::Claimed => "claimed",
            Reply::Rejected(_) => "rejected",
        };
        Body::new(name, request, self).with_token(token)
    }
}

/// What an operation does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Touch {
    Read,
    Write,
    Claim,
}

/// A request that carries nothing but a token, as somebody sends it by hand.
pub fn by_hand(lock: LockId, token: Token) -> Body {
    Body::new("token", 0, Request::Try(lock, token)).with_token(Some(token))
}
