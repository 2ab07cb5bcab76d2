//! A finished run, its judgement and its keyframes.

use std::rc::Rc;

use super::address::Names;
use super::edit::Action;
use super::kind;
use super::plan::Compiled;
use crate::judge::{Judgement, SessionState, Testimony, judge};
use crate::sim::{Discard, Event, EventId, Limit, Micros, ProcId, Record, What, World};
use crate::systems::{Locks, UNORDERED};

/// How many events lie between two keyframes of a run that is not very long.
pub const KEYFRAME_EVERY: u32 = 256;

/// How many keyframes a run keeps; seeking in the longest run replays a few thousand events.
const MOST_KEYFRAMES: usize = 64;

/// A run from its beginning to its end.
#[derive(Debug)]
pub struct Run {
    /// What was run.
    pub compiled: Compiled,
    /// What happened.
    pub record: Record<Locks>,
    /// What the judge says of it.
    pub judgement: Judgement,
    /// The moment of the end.
    pub end: Micros,
    /// Indices of edits that found no occasion.
    pub unused_edits: Vec<usize>,
    /// The first event that each edit brought about: a pause its pause, a fault of a message the
    /// sending. None for an edit without an occasion, and for a setting that holds from the start.
    pub edit_events: Vec<Option<EventId>>,
    /// Clients whose program had not ended when the run was cut off at its latest end.
    pub cut_off: Vec<ProcId>,
    /// Nothing was due any more when they were: they would wait for ever.
    pub stuck: bool,
    /// What each node came to first, in the order of the lanes. Questions about it are asked at every step of a
    /// page, of every node: a run of tens of thousands of events is not read again for each.
    pub firsts: Vec<Firsts>,
    keyframes: Vec<World<Locks>>,
}

/// What a node came to for the first time, and at which event.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Firsts {
    /// It learned something by reading.
    pub learned: Option<EventId>,
    /// It had a session before, and began another one.
    pub another_session: Option<EventId>,
}

/// What each of so many nodes came to first.
fn firsts(record: &Record<Locks>, nodes: usize) -> Vec<Firsts> {
    let mut firsts = vec![(Firsts::default(), false); nodes];
    for (index, event) in record.events.iter().enumerate() {
        let id = EventId(index as u32);
        let Some((first, had_one)) = firsts.get_mut(usize::from(event.node.0)) else { continue };
        match event.note() {
            Some(Testimony::Learn(_)) => first.learned = first.learned.or(Some(id)),
            Some(Testimony::Session(SessionState::Begun)) if *had_one => {
                first.another_session = first.another_session.or(Some(id));
            }
            Some(Testimony::Session(SessionState::Begun)) => *had_one = true,
            _ => {}
        }
    }
    firsts.into_iter().map(|(first, _)| first).collect()
}

impl Run {
    /// Runs a compiled scenario to its end and judges it.
    pub fn of(compiled: Compiled) -> Run {
        let mut world = World::new(compiled.plan.clone());
        let mut record = Record::default();
        let mut keyframes = vec![world.clone()];
        let (mut every, mut next) = (KEYFRAME_EVERY, KEYFRAME_EVERY);
        while world.step(&mut record) {
            if world.events() >= next {
                if keyframes.len() >= MOST_KEYFRAMES {
                    // A long run keeps every other one, and takes the next ones half as often.
                    let mut index = 0;
                    keyframes.retain(|_| {
                        index += 1;
                        index % 2 == 1
                    });
                    every *= 2;
                }
                keyframes.push(world.clone());
                next = world.events() + every;
            }
        }
        let end = world.now();
        let judgement = judge(&record.events, &compiled.setup, end);
        let edit_events = world.used_edits().to_vec();
        let is_set = |i: usize| matches!(compiled.edits[i].action, Action::Set(_, _, None));
        let unused_edits =
            (0..edit_events.len()).filter(|i| edit_events[*i].is_none() && !is_set(*i)).collect();
        let cut_off = world.unfinished();
        let firsts = firsts(&record, compiled.names.nodes.len());
        let stuck = world.is_dry();
        Run {
            compiled,
            record,
            judgement,
            end,
            unused_edits,
            edit_events,
            cut_off,
            stuck,
            firsts,
            keyframes,
        }
    }

    /// The limit that ended the run, and the node whose program reached it.
    pub fn limit(&self) -> Option<(Limit, ProcId)> {
        match self.record.events.last()? {
            Event { what: What::Limit(limit), node, .. } => Some((*limit, *node)),
            _ => None,
        }
    }

    /// The value of a setting at an event, edits included.
    pub fn setting(&self, key: &str, id: EventId) -> String {
        self.setting_at(key, self.record.event(id).at)
    }

    /// The same at a moment.
    pub fn setting_at(&self, key: &str, at: Micros) -> String {
        let changes = self.compiled.edits.iter().filter_map(|e| match &e.action {
            Action::Set(k, value, Some(when)) if k == key && *when <= at => Some((*when, value)),
            _ => None,
        });
        match changes.max_by_key(|c| c.0) {
            Some((_, value)) => value.clone(),
            None => self.compiled.settings.text(key),
        }
    }

    /// Whether a token that is not above an earlier one means something at an event: it is of a kind that
    /// has an order, or the resource or its gateway compares it all the same.
    pub fn compares_tokens(&self, id: EventId) -> bool {
        let check = self.setting("resource.check", id);
        self.names().token_word != UNORDERED
            || check.starts_with("token")
            || matches!(&*check, "claim" | "last-claim" | "gateway")
    }

    /// What everything is called.
    pub fn names(&self) -> &Rc<Names> {
        &self.compiled.names
    }

    /// Whether a node has begun a second session by an event.
    pub fn has_had_two_sessions(&self, node: ProcId, by: EventId) -> bool {
        let first = self.firsts.get(usize::from(node.0)).and_then(|f| f.another_session);
        first.is_some_and(|event| event <= by)
    }

    /// The world after this event and whatever happened in the same step.
    ///
    /// A step is everything that one arrival, timer or edit brings about in one instant.
    pub fn world_at(&self, event: EventId) -> World<Locks> {
        self.world_from(None, event)
    }

    /// The same, from an earlier world of this run if that is nearer than a keyframe. It must not have been
    /// [looked at](World::look_at) a moment between two events.
    pub fn world_from(&self, earlier: Option<&World<Locks>>, event: EventId) -> World<Locks> {
        let wanted = event.0 + 1;
        let index = self.keyframes.partition_point(|k| k.events() <= wanted);
        let keyframe = &self.keyframes[index.saturating_sub(1)];
        let nearer = earlier.filter(|e| (keyframe.events()..=wanted).contains(&e.events()));
        let mut world = nearer.unwrap_or(keyframe).clone();
        while world.events() < wanted && world.step(&mut Discard) {}
        world
    }

    /// The world after this event, with its clocks at a moment before the next one.
    pub fn world_when(&self, event: EventId, at: Micros) -> World<Locks> {
        let mut world = self.world_at(event);
        world.look_at(at);
        world
    }

    /// A 64-bit FNV-1a hash over time, node, kind, message, token and causes of every event.
    ///
    /// Words are not in it: a sentence can be mended without making old links wrong.
    pub fn hash(&self) -> u64 {
        let mut hash = Fnv::new();
        for event in &self.record.events {
            hash.number(event.at.0);
            hash.number(u64::from(event.node.0));
            hash.bytes(kind::kind(event).as_bytes());
            hash.number(event.message().map_or(u64::MAX, |m| u64::from(m.0)));
            hash.number(kind::token(&self.record, event).map_or(u64::MAX, |t| t.0));
            for cause in event.causes.iter() {
                hash.number(u64::from(cause.0));
            }
        }
        hash.0
    }
}

/// A 64-bit FNV-1a hash under way.
pub(super) struct Fnv(pub(super) u64);

impl Fnv {
    pub(super) fn new() -> Fnv {
        Fnv(0xCBF2_9CE4_8422_2325)
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }

    pub(super) fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }
}
