//! From when on the rest of the world only repeats itself while a process stands still.
//!
//! Servers that keep one another company do so for ever. A pause that ends a whole round later meets the
//! same, and what comes of it is the same, a round later. So the returns of one round stand for all, up to
//! those after which the run has no time to come to its end.
//!
//! It is read off what the world in fact does from there to the end of the run, event for event, to the
//! microsecond and at least four times over; a single draw, fault or timer that does not fit begins it
//! anew. What is compared without being awaited shows in no event. So deadlines that processes keep have to
//! be over before, and whatever the process that stands still had set itself; and it has to have stood
//! still for twice the longest span that any setting names. Messages that an edit names by their number are
//! none of it, because rounds count them.

use crate::run::kind;
use crate::sim::{Event, MessageInfo, Micros, Pending, Sink, World};
use crate::systems::{Body, Fact, Locks};

use super::ear::Mix;
use crate::judge::Testimony;

/// How often it has to be seen.
const TIMES: u64 = 4;
/// How many events a round may have.
const LONGEST: usize = 400;

/// The first number of a timer among what is due; behind it come others, and rarer things.
const TIMER: u32 = 2;

/// What happens when, with no number that counts up.
#[derive(Default)]
pub(super) struct Tape {
    words: Vec<(Micros, u64)>,
    /// What each message is: from, to, name.
    messages: Vec<u64>,
}

impl Tape {
    /// Something is handled that may leave no other trace.
    pub fn handled(&mut self, due: &Pending) {
        let mut word = Mix::default();
        word.word("handled");
        word.add(due.whom.map_or(u64::MAX, |p| u64::from(p.0)));
        // Which of its timers it is counts up.
        word.add(u64::from(due.what.0.min(TIMER)));
        self.words.push((due.at, word.sum()));
    }
}

impl Sink<Locks> for Tape {
    fn event(&mut self, event: Event<Testimony>) {
        let mut word = Mix::default();
        word.word(kind::kind(&event));
        word.add(u64::from(event.node.0));
        let message = event.message().and_then(|m| self.messages.get(m.0 as usize));
        word.add(message.copied().unwrap_or_default());
        self.words.push((event.at, word.sum()));
    }

    fn message(&mut self, message: MessageInfo<Body>) {
        let mut word = Mix::default();
        word.word(message.body.name);
        word.add(u64::from(message.from.0) << 16 | u64::from(message.to.0));
        self.messages.push(word.sum());
    }
}

/// A world that repeats itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Repeat {
    /// From this moment on.
    pub from: Micros,
    /// So often.
    pub period: Micros,
}

/// Whether a world that has come to its end, and was heard on this tape, repeats itself from some moment
/// on, which is not before this one.
pub(super) fn repeat(world: &World<Locks>, tape: &Tape, least: Micros) -> Option<Repeat> {
    let plan = world.plan();
    let end = plan.until;
    if !plan.message_faults.is_empty() {
        return None;
    }
    let found = periodic(&tape.words, end)?;
    let everybody = (0..plan.procs.len() as u16).map(crate::sim::ProcId);
    let mut from = found.from.max(least);
    for fact in everybody.flat_map(|p| world.facts(p)) {
        match fact {
            Fact::Ring { until: Some(until), .. } if until <= end => from = from.max(until),
            Fact::Ring { .. } => return None,
            _ => {}
        }
    }
    (end.since(from) >= Micros(TIMES * found.period.0)).then_some(Repeat { from, ..found })
}

/// The shortest period of the end of a tape, and from when on it holds.
fn periodic(words: &[(Micros, u64)], end: Micros) -> Option<Repeat> {
    let (last, earlier) = words.split_last()?;
    let candidates = earlier.iter().enumerate().rev().take(LONGEST);
    for (place, word) in candidates.filter(|(_, word)| word.1 == last.1) {
        let (period, count) = (last.0.since(word.0), earlier.len() - place);
        // What would come next must not be missing already.
        let next = words.get(place + 1).map_or(last.0, |next| next.0).plus(period);
        if period == Micros::ZERO || next <= end {
            continue;
        }
        let pairs = words.iter().zip(words.iter().skip(count)).rev();
        let same = |(a, b): &(&(Micros, u64), &(Micros, u64))| {
            a.1 == b.1 && b.0.since(a.0) == period && a.0 <= b.0
        };
        let alike = pairs.take_while(same).count();
        // The latest that does not fit; from behind it on all does. Before the first word was another silence.
        let odd = (words.len() - count).checked_sub(alike + 1).and_then(|odd| words.get(odd));
        let first = words.first().map_or(end, |first| first.0);
        let from = odd.map_or(first, |odd| odd.0.plus(Micros(1)));
        if end.since(from) >= Micros(TIMES * period.0) {
            return Some(Repeat { from, period });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tape(words: &[(u64, u64)]) -> Vec<(Micros, u64)> {
        words.iter().map(|(at, word)| (Micros(*at), *word)).collect()
    }

    #[test]
    fn what_repeats_itself_to_the_end_is_seen_and_nothing_else() {
        // 7 and 8 every ten, from behind the 9 on.
        let mut words = vec![(3, 7), (12, 9)];
        words.extend((2..9).flat_map(|n| [(n * 10 + 3, 7), (n * 10 + 5, 8)]));
        let whole = tape(&words);
        let found = Some(Repeat { from: Micros(13), period: Micros(10) });
        assert_eq!(periodic(&whole, Micros(90)), found);
        // Too long a silence at the end, a word too many, one that comes too late.
        assert_eq!(periodic(&whole, Micros(96)), None);
        for odd in [(84, 1), (85, 7)] {
            let mut other = words.clone();
            other.push(odd);
            crate::sim::sort(&mut other);
            assert_eq!(periodic(&tape(&other), Micros(90)), None, "{odd:?}");
        }
        let mut late = words.clone();
        late[12].0 += 1;
        assert_eq!(periodic(&tape(&late), Micros(90)), None);
        assert_eq!(periodic(&whole[8..], Micros(90)), None, "it is not seen often enough");
    }
}
