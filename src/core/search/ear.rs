//! Hearing a run: what a search keeps of it instead of a record.

use crate::judge::{Bench, Judgement, Setup, Testimony};
use crate::run::kind;
use crate::sim::{Event, EventId, MessageInfo, Micros, MsgId, ProcId, Sink, What};
use crate::systems::{Body, Locks};

/// FNV-1a over words of 64 bits: orders are told apart by it, and it never leaves the program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mix(u64);

impl Default for Mix {
    fn default() -> Mix {
        START
    }
}

impl Mix {
    /// What it has come to.
    pub fn sum(self) -> u64 {
        self.0
    }

    /// Adds a number.
    pub fn add(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0100_0000_01B3).rotate_left(29);
    }

    /// Adds a word of text; its first eight bytes and its length tell all kinds of events apart.
    pub fn word(&mut self, text: &str) {
        let bytes = text.bytes().take(8).fold(0, |sum, byte| sum << 8 | u64::from(byte));
        self.add(bytes ^ (text.len() as u64) << 56);
    }
}

const START: Mix = Mix(0xCBF2_9CE4_8422_2325);

/// A sink that keeps the order of a run as each node and the judge saw it, and what the judge says
/// of it where that is wanted.
#[derive(Clone, Debug)]
pub(super) struct Ear {
    /// What each node did and met, in its own order.
    lanes: Vec<Mix>,
    /// What the judge weighs, in the order of all nodes together.
    weighed: Mix,
    /// How many things it weighed.
    pub weighings: u32,
    /// The address of each message: from, to, number.
    addresses: Vec<u64>,
    next: u32,
    bench: Option<Bench>,
}

impl Ear {
    /// An ear for so many nodes; with a setup it judges.
    pub fn new(nodes: usize, setup: Option<&Setup>) -> Ear {
        Ear {
            lanes: vec![START; nodes],
            weighed: START,
            weighings: 0,
            addresses: Vec::with_capacity(32),
            next: 0,
            bench: setup.map(|s| Bench::new(s.clone())),
        }
    }

    /// The order of the run so far: the same for two runs in which every node saw the same things
    /// in the same order, and the judge did.
    pub fn order(&self) -> u64 {
        let mut all = self.weighed;
        self.lanes.iter().for_each(|lane| all.add(lane.0));
        all.0
    }

    /// The address of a message by its number in the run.
    pub fn address(&self, id: MsgId) -> u64 {
        self.addresses.get(id.0 as usize).copied().unwrap_or_default()
    }

    /// How many events it has heard.
    pub fn heard(&self) -> u32 {
        self.next
    }

    /// The kinds of harm so far.
    pub fn harm(&self) -> [bool; 5] {
        self.bench.as_ref().map(|b| b.so_far().harm()).unwrap_or_default()
    }

    /// All that the judge says at the end.
    pub fn close(self, end: Micros) -> Judgement {
        self.bench.map(|b| b.close(end)).unwrap_or_default()
    }
}

/// What the order of nodes among each other can make a difference for.
fn is_weighed(note: &Testimony) -> bool {
    use Testimony::{
        Accept, Begin, Believe, Close, Doubt, Free, Grant, Job, Learn, Reject, Void, Write,
    };
    matches!(
        note,
        Grant { .. }
            | Free(..)
            | Believe(..)
            | Doubt(..)
            | Begin(_)
            | Job(..)
            | Close(..)
            | Write(..)
            | Accept(..)
            | Reject(..)
            | Void(..)
            | Learn(_)
    )
}

impl Sink<Locks> for Ear {
    fn event(&mut self, event: Event<Testimony>) {
        let mut word = START;
        word.word(kind::kind(&event));
        word.add(event.message().map_or(0, |m| self.address(m)));
        if let Some(lane) = self.lanes.get_mut(usize::from(event.node.0)) {
            lane.add(word.0);
        }
        if event.note().is_some_and(is_weighed) || matches!(event.what, What::Lose(_)) {
            word.add(u64::from(event.node.0));
            self.weighed.add(word.0);
            self.weighings += 1;
        }
        if let Some(bench) = &mut self.bench {
            bench.hear(EventId(self.next), &event);
        }
        self.next += 1;
    }

    fn message(&mut self, message: MessageInfo<Body>) {
        let ProcId(from) = message.from;
        let ProcId(to) = message.to;
        let address = u64::from(from) << 48 | u64::from(to) << 32 | u64::from(message.number);
        self.addresses.push(address);
    }
}
