//! Why something happened, and why something does not: causes as a short list, and the one thing
//! that is missing as a sentence.

use super::sentence::sentence;
use super::teller::Teller;
use super::words::{and, moment, one_line, span};
use crate::judge::{
    Ask, Interval, IntervalKind, LockId, Operation, Rejection, SessionState, Testimony,
};
use crate::run::{Run, kind, why as causes};
use crate::sim::{EventId, Micros, MsgId, ProcId, TaskState, Waiting, What, World};
use crate::systems::{Fact, Locks};

/// Why an event happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Why {
    /// The event.
    pub event: EventId,
    /// The story from its first cause to itself, one sentence each.
    pub steps: Vec<EventId>,
    /// How many steps were left out behind the first few.
    pub left_out: usize,
    /// Every event that belongs to it, in order.
    pub thread: Vec<EventId>,
    /// What it would have taken, where the event is a refusal or the end of a vain wait.
    pub missing: Option<Missing>,
}

/// What it takes for something to happen, or what keeps a belief alive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Missing {
    /// One sentence, or two.
    pub words: String,
    /// The event that made it so.
    pub because: Option<EventId>,
    /// The event of this run that decides it.
    pub decides: Option<EventId>,
}

/// Why an event happened.
pub fn why(run: &Run, event: EventId) -> Why {
    let thread = causes::thread(run, event);
    let causes::Steps { events: steps, left_out } = causes::steps(run, &thread);
    Why { event, steps, left_out, thread, missing: missing(run, event) }
}

/// The same for a terminal.
pub fn why_text(run: &Run, event: EventId) -> String {
    if run.record.events.get(event.0 as usize).is_none() {
        return String::new();
    }
    let why = why(run, event);
    let mut text = String::new();
    let width = moment(run.record.event(event).at).len();
    for (index, step) in why.steps.iter().enumerate() {
        if index == 3 && why.left_out > 0 {
            text.push_str(&format!("{:>width$}  … {} more …\n", "", why.left_out));
        }
        let at = moment(run.record.event(*step).at);
        text.push_str(&format!("{at:>width$}  {}\n", sentence(run, *step)));
    }
    if let Some(missing) = why.missing {
        text.push_str(&format!("\n{}\n", missing.words));
    }
    text
}

/// What an event that is a refusal, or the end of a vain wait, would have taken.
pub fn missing(run: &Run, id: EventId) -> Option<Missing> {
    let teller = Teller { run };
    let event = run.record.events.get(id.0 as usize)?;
    match event.note()? {
        Testimony::Reject(op, _, why) => {
            let because = causes::refuser(run, id);
            let words = teller.would_pass(id, op, *why, because);
            Some(Missing { words, because, decides: None })
        }
        Testimony::Refuse(lock, client, Ask::Acquire) => {
            let holders = teller.holders(*lock, id);
            let other = holders.iter().find(|i| i.client != *client);
            let because = other.or(holders.first()).map(|i| i.began);
            Some(Missing {
                words: teller.must_end(*lock, *client, id, None)?,
                because,
                decides: None,
            })
        }
        Testimony::Refuse(_, client, ask) => {
            let what = if *ask == Ask::Renew { "A renewal" } else { "A release" };
            let because = causes::known(run, id)
                .into_iter()
                .rfind(|e| matches!(run.record.event(*e).note(), Some(Testimony::Free(..))));
            let ended = because.map_or_else(String::new, |e| {
                format!(
                    " {} did not, from {} on.",
                    teller.whose_grant(*client),
                    moment(run.record.event(e).at)
                )
            });
            let words = format!("{what} counts only while the grant stands.{ended}");
            Some(Missing { words, because, decides: None })
        }
        Testimony::Answer(_, _, outcome) | Testimony::Told(_, outcome) if outcome.unknown() => {
            let because = causes::observed(run, id).first().copied();
            let words = match because {
                Some(kept) => format!("What was missing is an answer. {}", sentence(run, kept)),
                None => "What was missing is an answer: it was still on its way.".into(),
            };
            Some(Missing { words, because, decides: None })
        }
        _ => None,
    }
}

/// What a node that does not go on waits for at a moment, in one sentence; nothing where it goes on.
pub fn waits(run: &Run, world: &World<Locks>, node: ProcId) -> Option<Missing> {
    let teller = Teller { run };
    let last = EventId(world.events().checked_sub(1)?);
    let me = teller.label(node);
    if world.is_down(node) {
        let decides = teller.next(node, last, |w| *w == What::Restart);
        let words = format!("{me} is down. Only a restart makes it go on.");
        let because = teller.previous(node, last, |w| matches!(w, What::Crash(_)));
        return Some(Missing { words, because, decides });
    }
    if let Some((_, until)) = world.halt(node) {
        let decides = teller.next(node, last, |w| *w == What::Resume);
        let at = moment(until);
        let words = format!(
            "{me} stands still until {at}. Until then it executes nothing, whatever reaches it."
        );
        let because = teller.previous(node, last, |w| matches!(w, What::Halt(..)));
        return Some(Missing { words, because, decides });
    }
    let tasks = run.names().tasks.get(usize::from(node.0)).map_or(0, Vec::len);
    let waiting = (0..tasks).find_map(|task| match world.task(node, task)?.0 {
        TaskState::Waiting(waiting) => Some(*waiting),
        _ => None,
    })?;
    let queued = teller.disconnected(node, last).or_else(|| teller.in_line(world, node, last));
    queued.or_else(|| teller.unanswered(world, node, &waiting, last))
}

/// The rule behind each belief that a client has at a moment, and the event that it rests on.
pub fn beliefs(run: &Run, world: &World<Locks>, node: ProcId) -> Vec<Missing> {
    let teller = Teller { run };
    let Some(last) = world.events().checked_sub(1).map(EventId) else { return Vec::new() };
    let open = teller.open_at(IntervalKind::Belief, last);
    let own = open.filter(|i| i.client == node && i.ended != Some(last));
    own.map(|belief| Missing {
        words: teller.rule(world, belief, last),
        because: Some(belief.began),
        decides: belief.ended,
    })
    .collect()
}

impl Teller<'_> {
    fn previous(
        &self,
        node: ProcId,
        last: EventId,
        is: impl Fn(&What<Testimony>) -> bool,
    ) -> Option<EventId> {
        let found = (0..=last.0).rev().map(EventId);
        let mut found = found.filter(|id| self.run.record.event(*id).node == node);
        found.find(|id| is(&self.run.record.event(*id).what))
    }

    fn next(
        &self,
        node: ProcId,
        last: EventId,
        is: impl Fn(&What<Testimony>) -> bool,
    ) -> Option<EventId> {
        let later = self.run.record.events.iter().enumerate().skip(last.0 as usize + 1);
        let mut later = later.filter(|(_, e)| e.node == node);
        later.find(|(_, e)| is(&e.what)).map(|(i, _)| EventId(i as u32))
    }

    fn whose_grant(&self, client: ProcId) -> String {
        format!("{} grant", self.whose(client))
    }

    /// The truths of a lock after an event.
    fn holders(&self, lock: LockId, last: EventId) -> Vec<&Interval> {
        let open = self.open_at(IntervalKind::Truth, last);
        open.filter(|i| i.lock == lock && i.ended != Some(last)).collect()
    }

    fn would_pass(
        &self,
        id: EventId,
        op: &Operation,
        why: Rejection,
        because: Option<EventId>,
    ) -> String {
        let resource = self.label(self.run.record.event(id).node);
        let by = because.and_then(|e| self.operation(e, self.is_late(e)));
        let with = by.as_ref().map_or_else(String::new, |by| format!(", with {by}"));
        match why {
            Rejection::Lower(seen) => format!(
                "It would have passed with token {0} or a higher one: {resource} had seen {0}{with}.",
                self.figure(seen)
            ),
            Rejection::Again(seen) => format!(
                "It would have passed with a token above {}: {resource} takes each token once, and had this one{with}.",
                self.figure(seen)
            ),
            Rejection::Version => {
                let cell = one_line(self.run.names().cell(op.cell));
                let changed = by.map_or_else(String::new, |by| format!(" {by} changed it."));
                format!(
                    "It would have passed as long as {cell} was what its client had read.{changed}"
                )
            }
            _ => format!("It was refused because {}.", self.reason(op, why)),
        }
    }

    /// Whose grants have to end before a client can have a lock.
    fn must_end(
        &self,
        lock: LockId,
        client: ProcId,
        last: EventId,
        by_clock: Option<(ProcId, Micros)>,
    ) -> Option<String> {
        let holders = self.holders(lock, last);
        let others = holders.iter().filter(|i| i.client != client);
        let who: Vec<String> = others
            .map(|i| format!("{}{}", self.label(i.client), self.bracket(i.grant, last)))
            .collect();
        if who.is_empty() {
            // Whoever started again, or forgot what it has, stands in its own way.
            let own = holders.first()?;
            let (me, token) = (self.label(own.client), self.bracket(own.grant, last));
            let at = by_clock.map_or_else(String::new, |(service, until)| {
                format!(", by the clock of {} at {}", self.label(service), moment(until))
            });
            return Some(format!(
                "What {me} was granted earlier{token} still stands: it must end{at}."
            ));
        }
        let (hold, it) = if who.len() == 1 { ("holds", "it") } else { ("hold", "they") };
        let (must, lease) =
            if who.len() == 1 { ("must", "its lease") } else { ("must all", "their leases") };
        let by_time = holders.iter().any(|i| self.term(i.grant).is_some());
        let or = match by_clock {
            Some((service, until)) => {
                format!(
                    ", or {lease} must end, by the clock of {} at {}",
                    self.label(service),
                    moment(until)
                )
            }
            None if by_time => format!(", or {lease} must end"),
            None => String::new(),
        };
        let name = self.lock(lock);
        Some(format!("{} {hold} {name}: {it} {must} release it{or}.", and(&who)))
    }

    /// Whoever has lost its connection waits for another before anything else.
    fn disconnected(&self, node: ProcId, last: EventId) -> Option<Missing> {
        let told = |what: &What<Testimony>| matches!(what, What::Note(Testimony::Session(_)));
        let because = self.previous(node, last, told)?;
        let unsure = Testimony::Session(SessionState::Unsure);
        if self.run.record.event(because).note() != Some(&unsure) {
            return None;
        }
        let words = format!("{} waits until a server lets it in again.", self.label(node));
        Some(Missing { words, because: Some(because), decides: self.next(node, last, told) })
    }

    /// Who stands before a client that watches its place in the queue.
    fn in_line(&self, world: &World<Locks>, node: ProcId, last: EventId) -> Option<Missing> {
        let facts = world.facts(node).into_iter();
        let mut of = facts.filter_map(|fact| match fact {
            Fact::Watch { watcher, of } if watcher == node => Some(of),
            _ => None,
        });
        let of = of.next()?;
        let asked = self.previous(node, last, |what| {
            matches!(what, What::Send(_, Some(Testimony::Ask { ask: Ask::Watch, .. })))
        })?;
        let lock = kind::lock(&self.run.record, asked, self.run.record.event(asked))?;
        let (me, other, name) = (self.label(node), self.whose(of), self.lock(lock));
        let mut words = if of == node {
            format!("{me} waits until an earlier place of its own in the queue for {name} is gone.")
        } else {
            format!("{me} waits until {other} place in the queue for {name} is gone.")
        };
        if let Some(holders) = self.must_end(lock, node, last, None) {
            words.push(' ');
            words.push_str(&holders);
        }
        let ends = |what: &What<Testimony>| matches!(what, What::Deliver(id) if self.run.record.message(*id).body.request == 0);
        Some(Missing { words, because: Some(asked), decides: self.next(node, last, ends) })
    }

    /// What a request waits for that has no answer yet.
    fn unanswered(
        &self,
        world: &World<Locks>,
        node: ProcId,
        waiting: &Waiting,
        last: EventId,
    ) -> Option<Missing> {
        let (me, peer) = (self.label(node), self.label(waiting.on));
        let asked = self.request(node, waiting, last)?;
        let what = format!("{} {}", self.whose(node), self.run.record.message(asked).body.name);
        if let Some(missing) = self.on_the_way(world, asked, &what, last) {
            return Some(missing);
        }
        let info = self.run.record.message(asked);
        if world.is_down(waiting.on) {
            let because = self.previous(waiting.on, last, |w| matches!(w, What::Crash(_)));
            let words =
                format!("{what} has reached {peer}, which is down: nobody is there to answer.");
            return Some(Missing { words, because, decides: None });
        }
        let answered = causes::answer(self.run, asked, last);
        if let Some(answer) = answered {
            let what = format!("{} answer to {me}", self.whose(waiting.on));
            if let Some(missing) = self.on_the_way(world, answer, &what, last) {
                return Some(missing);
            }
        }
        let stopped = world
            .halt(waiting.on)
            .map(|(_, until)| format!(" {peer} stands still until {}.", moment(until)));
        if let (None, Some(stopped)) = (answered, &stopped) {
            let because = self.previous(waiting.on, last, |w| matches!(w, What::Halt(..)));
            let decides = self.next(waiting.on, last, |w| *w == What::Resume);
            let words = format!("{what} lies unread.{stopped}");
            return Some(Missing { words, because, decides });
        }
        let Some(Testimony::Ask { lock, ask: Ask::Acquire | Ask::Watch | Ask::WatchAll, .. }) =
            self.run.record.event(info.sent).note()
        else {
            return None;
        };
        self.for_the_lock(world, node, waiting.on, *lock, last, stopped.unwrap_or_default())
    }

    /// What a client waits for whose request for a lock was put off.
    fn for_the_lock(
        &self,
        world: &World<Locks>,
        node: ProcId,
        service: ProcId,
        lock: LockId,
        last: EventId,
        stopped: String,
    ) -> Option<Missing> {
        let me = self.label(node);
        let facts = world.facts(service);
        let ends = facts.iter().filter_map(|fact| match fact {
            Fact::Ring { lock: of, until, .. } if *of == lock => *until,
            _ => None,
        });
        let mut holders = self.must_end(lock, node, last, ends.max().map(|at| (service, at)))?;
        let queue = facts.iter().find_map(|fact| match fact {
            Fact::Queue { lock: of, waiting } if *of == lock => {
                let place = waiting.iter().position(|p| *p == node)?;
                Some(waiting[..place].iter().map(|p| self.label(*p)).collect::<Vec<_>>())
            }
            _ => None,
        });
        let because = self.holders(lock, last).iter().find(|i| i.client != node).map(|i| i.began);
        let events = self.run.record.events.iter().enumerate().skip(last.0 as usize + 1);
        let later = events.map(|(i, e)| (EventId(i as u32), e));
        let decides = match &queue {
            Some(before) => {
                if !before.is_empty() {
                    let waits = if before.len() == 1 { "waits" } else { "wait" };
                    holders.push_str(&format!(" {} {waits} before it.", and(before)));
                }
                let mut later = later;
                later.find_map(|(id, e)| match e.note()? {
                    Testimony::Free(..) if kind::lock(&self.run.record, id, e) == Some(lock) => {
                        Some(id)
                    }
                    _ => None,
                })
            }
            // Nobody keeps its place: it has to come again.
            None => {
                let mut later = later;
                let again = later.find(|(_, e)| {
                    let asks = matches!(e.note(), Some(Testimony::Ask { ask: Ask::Acquire, .. }));
                    e.node == node && asks
                });
                if let Some((_, event)) = again {
                    holders.push_str(&format!(" {me} asks again at {}.", moment(event.at)));
                }
                again.map(|a| a.0)
            }
        };
        let words = format!("{me} waits. {holders}{stopped}");
        Some(Missing { words, because, decides })
    }

    /// The message that a waiting instruction sent last.
    fn request(&self, node: ProcId, waiting: &Waiting, last: EventId) -> Option<MsgId> {
        let messages = self.run.record.messages.iter().enumerate();
        let sent = messages.take_while(|(_, m)| m.sent <= last);
        let own = sent.filter(|(_, m)| (m.from, m.to) == (node, waiting.on));
        let all = own.clone();
        let same = own.filter(|(_, m)| {
            let kind = kind::kind(self.run.record.event(m.sent));
            // What several requests are needed for waits for the latest of them.
            let parts: &[&str] = match waiting.verb {
                "acquire" => &["fetch-token", "enter", "list", "watch", "find"],
                "enter" => &["acquire", "find"],
                "await" => &["watch"],
                _ => &[],
            };
            kind == waiting.verb || parts.contains(&kind)
        });
        // Whoever keeps a connection may have to be let in before it can ask at all.
        let said = |index: usize| MsgId(index as u32);
        same.last().or_else(|| all.last()).map(|(index, _)| said(index))
    }

    /// What became of a message that has not arrived.
    fn on_the_way(
        &self,
        world: &World<Locks>,
        msg: MsgId,
        what: &str,
        last: EventId,
    ) -> Option<Missing> {
        let info = self.run.record.message(msg);
        let to = self.label(info.to);
        if info.delivered.is_some_and(|d| d <= last) {
            return None;
        }
        if let Some(lost) = info.lost.filter(|l| *l <= last) {
            let words = format!("{what} was lost on its way to {to}: no answer can come of it.");
            return Some(Missing { words, because: Some(lost), decides: None });
        }
        let held = self.previous(info.from, last, |w| *w == What::Hold(msg));
        if let Some(held) = held.filter(|_| world.is_cut(info.from, info.to)) {
            let words =
                format!("{what} is held where the way to {to} is cut: the way has to heal.");
            let healed = |w: &What<Testimony>| *w == What::Heal(info.to);
            let decides = self.next(info.from, last, healed);
            return Some(Missing { words, because: Some(held), decides });
        }
        let words = format!("{what} is on its way to {to}.");
        Some(Missing { words, because: Some(info.sent), decides: info.delivered.or(info.lost) })
    }

    /// Why a client believes, and what can end it.
    fn rule(&self, world: &World<Locks>, belief: &Interval, last: EventId) -> String {
        let (me, lock) = (self.label(belief.client), self.lock(belief.lock));
        let began = self.run.record.event(belief.began).at;
        let token = self.bracket(belief.grant, last);
        let believes = format!(
            "{me} believes that it holds {lock}{token} since its grant reached it at {}.",
            moment(began)
        );
        let facts = world.facts(belief.client);
        let deadline = facts.iter().find_map(|fact| match fact {
            Fact::Ring { lock: of, until, .. } if *of == belief.lock => Some(*until),
            _ => None,
        });
        let Some(deadline) = deadline else {
            return format!(
                "{believes} It has no deadline of its own: only a refusal or a notice ends it."
            );
        };
        let own = match deadline {
            None => "Its own deadline does not come while its clock stands still.".into(),
            Some(deadline) if deadline > world.now() => {
                let counted = self.counted_from(belief, deadline, last);
                format!("Its own deadline is {}{counted}.", moment(deadline))
            }
            Some(_) => "Its own deadline has passed.".into(),
        };
        let programs = self.run.names().programs.get(usize::from(belief.client.0));
        let mut lines = programs.into_iter().flatten().flatten();
        let looks = match self.setting("deadline.rule", last).as_str() {
            "timer" => "A timer ends the belief at that deadline.",
            _ if lines.any(|line| line.trim_start().starts_with("check")) => {
                "It looks at that deadline only where its program says `check`."
            }
            _ => "Its program never looks at it: only a refusal or a notice ends the belief.",
        };
        format!("{believes} {own} {looks}")
    }

    /// `, 10 s after it asked`, where the deadline lies so.
    fn counted_from(&self, belief: &Interval, deadline: Micros, last: EventId) -> String {
        let Some(term) = self.term(belief.grant) else { return String::new() };
        let events = self.run.record.events.iter().take(last.0 as usize + 1).rev();
        let mut own = events.filter(|e| e.node == belief.client);
        own.find_map(|e| match e.note()? {
            Testimony::Ask { lock, ask: Ask::Acquire | Ask::Renew, .. } if *lock == belief.lock => {
                let ask = e.note().map(|n| matches!(n, Testimony::Ask { ask: Ask::Renew, .. }));
                let what = if ask == Some(true) { "it asked for more time" } else { "it asked" };
                (e.at.plus(term) == deadline).then(|| format!(", {} after {what}", span(term)))
            }
            Testimony::Answer(lock, Ask::Renew, _) if *lock == belief.lock => {
                let counted = e.at.plus(term) == deadline;
                counted.then(|| format!(", {} after its renewal was accepted", span(term)))
            }
            Testimony::Believe(lock, ..) if *lock == belief.lock => {
                let counted = e.at.plus(term) == deadline;
                counted.then(|| format!(", {} after the grant reached it", span(term)))
            }
            _ => None,
        })
        .unwrap_or_default()
    }
}
