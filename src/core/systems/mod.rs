//! The simulated systems: lock services, the client library in front of them, the protected resource.
//!
//! A system adds its own file and one line in [`Registry::standard`]. It describes itself in the
//! closed set of [`Fact`]s and testifies in the closed set of [`Testimony`], so that diagram,
//! inspector and judge need not know it.

mod client;
mod desk;
mod lease;
mod order;
pub mod quorum;
pub mod redis;
mod resource;
mod rules;
mod settings;
mod words;
pub mod zookeeper;

use std::any::Any;
use std::fmt::Debug;
use std::rc::Rc;

pub use client::{Client, LockClient, Requests};
pub use desk::Desk;
pub use lease::Lease;
pub use order::Order;
pub use resource::{Condition, Gateway, Resource, by_hand};
pub use rules::{Basis, RESOURCE_RULES, Rule, Rules, Steps};
pub use settings::{COMMON, Kind, Preset, Settings, SettingsError, Spec};
pub use words::{Op, Step, link_writes, parse_word};

use crate::judge::{CellId, LockId, Testimony, Token};
use crate::sim::{Actor, Domain, LineError, Micros, ProcId, Scanner, Set};

/// The domain of locks: what the simulator runs here.
#[derive(Clone, Copy, Debug)]
pub struct Locks;

impl Domain for Locks {
    type Note = Testimony;
    type Body = Body;
    type Op = Op;
    type Fact = Fact;
    type Settings = Settings;
    type Commons = Commons;

    fn verb(op: &Op) -> &'static str {
        op.verb()
    }
}

/// What an observer of all processes knows at once, by system. It is for notes alone.
#[derive(Clone, Default, Debug)]
pub struct Commons {
    /// What each Redis has under the keys of locks.
    polls: redis::Polls,
    /// Who stands in the queue of each lock of a ZooKeeper ensemble.
    queues: zookeeper::Queues,
}

/// What a message carries: a name, the request it belongs to, the token where it has one, and the
/// system's own typed content.
#[derive(Clone, Debug)]
pub struct Body {
    /// The protocol's word for it.
    pub name: &'static str,
    /// The number that a reply shares with its request.
    pub request: u64,
    /// The token it carries, for the eye.
    pub token: Option<Token>,
    spell: Option<Spell>,
    content: Rc<dyn Content>,
}

/// Writes a message out in full; `locks` are the names of the locks.
pub type Spell = fn(body: &Body, locks: &[String]) -> Option<String>;

/// Typed content of a message; every `'static` type is one.
pub trait Content: Any {}
impl<T: Any> Content for T {}

impl Debug for dyn Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Content")
    }
}

impl Body {
    /// A message with this content.
    pub fn new(name: &'static str, request: u64, content: impl Content) -> Body {
        Body { name, request, token: None, spell: None, content: Rc::new(content) }
    }

    /// The same message with a token to show.
    #[must_use]
    pub fn with_token(self, token: Option<Token>) -> Body {
        Body { token, ..self }
    }

    /// The same message, which can be written out.
    #[must_use]
    pub fn spelled(self, spell: Spell) -> Body {
        Body { spell: Some(spell), ..self }
    }

    /// What it says in full, where that is more than its name.
    pub fn in_full(&self, locks: &[String]) -> Option<String> {
        self.spell.and_then(|spell| spell(self, locks))
    }

    /// The content, if it is of this type.
    pub fn get<T: Content>(&self) -> Option<&T> {
        let content: &dyn Any = self.content.as_ref();
        content.downcast_ref()
    }
}

/// What a resource may ask a lock service, and the answer. A service that knows it answers with the
/// number of the request; its word is about the moment in which it speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inquiry {
    /// Does whoever has this token hold the lock?
    Holds(LockId, Token),
    /// Yes or no.
    Answer(bool),
    /// This server knows it no better than whoever asks: another one has to be asked.
    Unknown,
}

/// A piece of a fact; whoever shows it puts names to ids.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Piece {
    Word(&'static str),
    Lock(LockId),
    Client(ProcId),
    Cell(CellId),
    Token(Token),
    Number(i64),
    /// The number of a change, see [`Traffic::change`].
    Change(u64),
    Span(Micros),
    Moment(Micros),
}

/// What a system shows of its state: a closed set, so that every picture can draw every system.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs, reason = "each variant says what its fields are")]
pub enum Fact {
    /// A line of a table.
    Row { key: Vec<Piece>, value: Vec<Piece> },
    /// A number between 0 and a maximum.
    Gauge { label: &'static str, value: u64, most: u64 },
    /// A deadline that drains: the moment, none while its clock stands still, and the whole span, in
    /// true time.
    Ring { lock: LockId, until: Option<Micros>, span: Micros },
    /// `m` of `n`, each with its answer: yes, no, or none yet.
    Ticks { label: &'static str, answers: Vec<Option<bool>> },
    /// Who waits, in order.
    Queue { lock: LockId, waiting: Vec<ProcId> },
    /// One waits for something of another; where it waits for any change of a queue, of the server that
    /// has it.
    Watch { watcher: ProcId, of: ProcId },
    /// A place in the queue of a lock, with its number and the name of the record that stands for it; those
    /// that hold the lock come first.
    Seat { lock: LockId, client: ProcId, number: i64, name: Rc<str>, holds: bool },
    /// A session, which of its client’s, that ends unless something is heard of it: at that moment, none while the clock stands
    /// still; for how long it may be silent; and how much later than that the moment is at most, because
    /// it is rounded up.
    Session { client: ProcId, which: u16, until: Option<Micros>, span: Micros, rounded: Micros },
    /// A clock that does not show true time, with the difference in microseconds.
    Clock { ahead_us: i64 },
}

/// Servers of which none grants alone: a picture shows them side by side under one name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Group {
    /// Their common name: `Redis masters`.
    pub name: &'static str,
    /// What the label of each begins with; the rest tells them apart.
    pub each: &'static str,
}

/// What a server keeps when it dies: the key of the lines that hold then.
pub const ON_DISK: &str = "on disk";

/// How a number is written for people.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Figures {
    /// `4294967300`.
    #[default]
    Decimal,
    /// `0x200000000140001`.
    Hex,
    /// Two in one, of 32 bits each: which time of a leader, and a count in it: `1:4`.
    Pair,
}

/// How to read what is sent, for whoever draws it.
#[derive(Clone, Copy, Default, Debug)]
pub struct Traffic {
    /// The names of messages that say only that their sender is there: no picture has room for them.
    pub beats: &'static [&'static str],
    /// What the servers say to one another about one change, where one of them leads: its proposal, the
    /// others' word that they have logged it, its word that it is decided. All three carry the number of
    /// the change as their token.
    pub round: Option<[&'static str; 3]>,
    /// What the field calls that number: `zxid`, `index`.
    pub change: &'static str,
    /// How that number is written.
    pub figures: Figures,
    /// What the field calls the time of one leader: `epoch`, `term`.
    pub term: &'static str,
}

/// What a token is called that has no order: it can be told from others, and no more.
pub const UNORDERED: &str = "random value";

/// A lock service's servers and its client library, by name.
pub trait System: Sync {
    /// The name that scenarios use.
    fn name(&self) -> &'static str;
    /// One sentence for the schema.
    fn about(&self) -> &'static str;
    /// What the field calls its token: `generation`, `zxid`, `revision`.
    fn token_word(&self) -> &'static str;
    /// The same under these settings, where one of them gives tokens another nature.
    fn token_word_under(&self, _settings: &Settings) -> &'static str {
        self.token_word()
    }
    /// How its tokens are written under these settings.
    fn figures_under(&self, _settings: &Settings) -> Figures {
        Figures::Decimal
    }
    /// What can be set beside the [`COMMON`] settings.
    fn settings(&self) -> &'static [Spec];
    /// Settings that go together under one word.
    fn presets(&self) -> &'static [Preset] {
        &[]
    }
    /// The rules that it keeps, each with where it comes from, by whose they are.
    fn rules(&self) -> &'static [Rules] {
        &[]
    }
    /// Its servers as a group, where they are one.
    fn group(&self) -> Option<Group> {
        None
    }
    /// How its messages are to be read.
    fn traffic(&self) -> Traffic {
        Traffic::default()
    }
    /// Why its locks cannot be shared; none where they can.
    fn exclusive(&self) -> Option<&'static str> {
        None
    }
    /// Why a program cannot take its locks step by step, with `enter`, `list`, `watch` and `await`;
    /// none where it can.
    fn stepless(&self) -> Option<&'static str> {
        Some("this system has no such steps")
    }
    /// Why its servers cannot carry an order out, under any circumstances; none where they can.
    fn cannot(&self, _settings: &Settings, order: Order) -> Option<&'static str> {
        Some(match order {
            Order::Lead { .. } => "there is no replica that could take a server’s place",
            Order::Evict(_) => "its servers throw out nothing that they were told",
        })
    }
    /// Its servers: id, label, actor. The first of them is at the lane `first`, behind all clients.
    fn servers(
        &self,
        settings: &Settings,
        locks: usize,
        first: ProcId,
    ) -> Vec<(String, String, Box<dyn Actor<Locks>>)>;
    /// Which of its servers a resource can ask who holds a lock, in the order in which it turns to them.
    fn witnesses(&self, servers: &[ProcId]) -> Vec<ProcId> {
        servers.first().copied().into_iter().collect()
    }
    /// What a client process uses to talk to these servers.
    fn client(&self, settings: &Settings, servers: &[ProcId]) -> Box<dyn LockClient>;
}

/// The systems there are.
#[derive(Clone)]
pub struct Registry {
    systems: Vec<&'static dyn System>,
}

impl Registry {
    /// All systems of this edition: one line each.
    pub fn standard() -> Registry {
        Registry { systems: vec![&Lease, &redis::Redis, &redis::Redlock, &zookeeper::ZooKeeper] }
    }

    /// These and one more.
    #[must_use]
    pub fn with(mut self, system: &'static dyn System) -> Registry {
        self.systems.push(system);
        self
    }

    /// The system with this name.
    pub fn find(&self, name: &str) -> Option<&'static dyn System> {
        self.systems.iter().copied().find(|s| s.name() == name)
    }

    /// All systems, in order.
    pub fn iter(&self) -> impl Iterator<Item = &'static dyn System> + '_ {
        self.systems.iter().copied()
    }
}

/// Names of a scenario that programs refer to.
#[derive(Clone, Default, Debug)]
pub struct Vocabulary {
    /// Locks, by [`LockId`].
    pub locks: Vec<String>,
    /// Cells, by [`CellId`].
    pub cells: Vec<String>,
    /// The lock that guards each cell.
    pub guards: Vec<LockId>,
    /// The resource that holds each cell: its lane.
    pub homes: Vec<ProcId>,
    /// Why its locks cannot be shared; none where they can.
    pub exclusive: Option<&'static str>,
    /// Why a program cannot take its locks step by step; none where it can.
    pub stepless: Option<&'static str>,
    /// What stands in front of all resources, where something does.
    pub gateway: Option<ProcId>,
    /// Jobs, collected while programs are read.
    pub jobs: Vec<String>,
    /// Under which locks programs read or write which cells, other than the locks that guard them;
    /// collected in the same way.
    pub under: Set<(LockId, CellId)>,
}

impl Vocabulary {
    /// Reads the name of a lock.
    ///
    /// # Errors
    /// A name that does not exist, with those that do.
    pub fn lock(&self, s: &mut Scanner<'_>) -> Result<LockId, LineError> {
        lookup(s, &self.locks, "lock").map(|i| LockId(i as u16))
    }

    /// Which cells each lock is taken for: those that it guards, and those that a program names it for.
    pub fn locked(&self) -> Vec<(LockId, CellId)> {
        let guards = self.guards.iter().enumerate();
        let guards = guards.map(|(cell, lock)| (*lock, CellId(cell as u16)));
        guards.chain(self.under.iter().copied()).collect()
    }

    /// Reads the name of a cell.
    ///
    /// # Errors
    /// A name that does not exist, with those that do.
    pub fn cell(&self, s: &mut Scanner<'_>) -> Result<CellId, LineError> {
        lookup(s, &self.cells, "cell").map(|i| CellId(i as u16))
    }
}

fn lookup(s: &mut Scanner<'_>, names: &[String], what: &str) -> Result<usize, LineError> {
    let token = s.peek().ok_or_else(|| s.expected(&format!("the name of a {what}")))?;
    let place = names.iter().position(|n| n == token.text).ok_or_else(|| {
        let known = crate::sim::list(names.iter().map(String::as_str));
        s.wrong(token, format!("no {what} `{}`; the {what}s are {known}", token.text))
    })?;
    s.take(what)?;
    Ok(place)
}
