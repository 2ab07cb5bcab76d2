//! The simulator: time, event queue, clocks, streams, processes, programs, faults.
//!
//! It never knows what a lock is. A [`Domain`] says what messages carry, what actors note about
//! themselves and which words their programs have; [`World`] runs it. The same world, faults and
//! seed give the same [`Event`]s, natively and in the browser, byte for byte.

mod actor;
mod by_hand;
mod expr;
mod faults;
mod fork;
mod heart;
mod plan;
mod proc;
mod program;
mod record;
mod rng;
mod table;
mod text;
mod time;
mod wire;
mod world;

pub use actor::{Actor, CrashKind, Cx, Disk, Domain, Flow, Halt, ProcId, TimerId, Waiting};
pub use expr::{Binary, Expr};
pub use fork::{Pending, Step};
pub use plan::{Fault, Plan, ProcPlan, Stop};
pub use proc::TaskState;
pub use program::{Instr, Line, MOST_LINES, Names, Outcome, Pc, Task, Trigger, local_name, parse};
pub use record::{Causes, Discard, Event, EventId, Limit, MessageInfo, MsgId, Record, Sink, What};
pub use rng::{Purpose, keyed, up_to};
pub use table::{Entry, Set, Table, sort, sort_by_key};
pub use text::{LineError, Scanner, Token, list, meant};
pub use time::{Clock, ClockKind, Clocks, Local, Micros, Ratio};
pub use wire::{ConnId, MessageFault};
pub use world::{MOST_AT_ONCE, MOST_EVENTS, MOST_STEPS, World};
