//! What of a run is worth a mark: messages on their way, spans, and the stretches that are folded.

use super::crowd::{self, Gauge, Many, is_crowd};
use super::ensemble::{self, Decision, Lapse, Round, Stand};
use super::fans;
use super::lanes::ASIDE;
use super::queue::{self, Glance, Turn, Woken};
use super::rests::{range, rests};
use super::routine::{self, Exchange, Routine};
use super::several::{Kept, Tally, broken, kept, tallies};
use crate::judge::{Finding, IntervalKind, SessionState, Testimony, Token};
use crate::narrate::figure;
use crate::run::{Run, kind};
use crate::sim::{Event, EventId, Micros, MsgId, ProcId, Set, Table, What, sort_by_key};

/// How long nothing must happen for a stretch to be folded.
pub(super) const IDLE: Micros = Micros::from_millis(2_500);
/// The least height between two moments at which something is drawn; and where there are many clients.
const HOP: i32 = 20;
const CLOSE_HOP: i32 = 9;
const WIDE_HOP: i32 = 36;

/// A message that travels longer than this says so.
pub(super) fn slow(run: &Run) -> Micros {
    let settings = &run.compiled.settings;
    let usual = settings.span("link.delay").plus(settings.span("link.jitter"));
    usual.plus(Micros::from_millis(500))
}

/// How a message ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    Arrives(Micros),
    /// Lost; `far` where the receiver's side lost it.
    Lost(Micros, bool),
    Open,
}

/// A message on its way.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    pub id: MsgId,
    pub from: ProcId,
    pub to: ProcId,
    pub event: EventId,
    pub sent: Micros,
    pub end: End,
    /// Held at a cut from ... until, with the event of that.
    pub held: Option<(Micros, Micros, EventId)>,
    pub words: String,
    pub plate: Option<Token>,
    /// An answer that says nothing new.
    pub soft: bool,
    /// It is one of several that go or come together.
    pub many: bool,
    /// Another of them says already that it is lost, or held.
    pub hushed: bool,
    /// Its words go where there is no room for them.
    pub spare: bool,
}

/// A bar beside a lifeline.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bar {
    pub kind: IntervalKind,
    pub client: ProcId,
    pub event: EventId,
    pub from: Micros,
    pub to: Micros,
    /// How many columns further to the left it stands.
    pub column: i32,
    /// The truth behind it has ended.
    pub stale: bool,
    /// It ran out by itself or was ended by time.
    pub cap: Option<EventId>,
}

/// A span on a lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub node: ProcId,
    pub event: EventId,
    pub from: Micros,
    pub to: Micros,
    /// The event that ended it, where one did.
    pub ended: Option<EventId>,
}

/// A cut way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Severed {
    pub from: ProcId,
    pub to: ProcId,
    pub both: bool,
    pub event: EventId,
    pub at: Micros,
    pub until: Micros,
    pub healed: Option<EventId>,
}

/// An idle stretch, and what repeats in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fold {
    pub from: Micros,
    pub to: Micros,
    pub event: EventId,
    pub refused: u32,
    pub renewed: u32,
    pub beats: u32,
    /// The shortest and the longest rest between its refused tries, where they differ.
    pub rests: Option<(Micros, Micros)>,
}

/// All that a picture shows, without a place.
#[derive(Debug, Default)]
pub(super) struct Story {
    pub flights: Vec<Flight>,
    pub bars: Vec<Bar>,
    pub waits: Vec<Stretch>,
    /// Sections that no lock covers.
    pub sections: Vec<Stretch>,
    pub pauses: Vec<Stretch>,
    pub downs: Vec<Stretch>,
    pub cuts: Vec<Severed>,
    pub folds: Vec<Fold>,
    /// What is left of broken promises.
    pub broken: Vec<Bar>,
    /// What each of several servers has.
    pub kept: Vec<Kept>,
    /// How clients count their answers.
    pub tallies: Vec<Tally>,
    /// The rests of a client between two tries, where they are not all alike.
    pub rests: Vec<Stretch>,
    /// What servers say about changes, where one of them leads.
    pub rounds: Vec<Round>,
    pub decisions: Vec<Decision>,
    pub stands: Vec<Stand>,
    pub lapses: Vec<Lapse>,
    /// Queues, who watches whom in them, and whom they wake.
    pub turns: Vec<Turn>,
    pub glances: Vec<Glance>,
    pub woken: Vec<Woken>,
    /// What waits behind something that is held, and that.
    behind: Vec<(EventId, EventId)>,
    /// What many say to one, or one says to many.
    pub crowded: Vec<Many>,
    /// Moments in which many send: under them there is more room.
    pub wide: Set<Micros>,
    /// Messages that say only that their sender is there.
    beats: Set<MsgId>,
    /// How far each more column of bars reaches.
    column: i32,
    /// The least height between two moments.
    hop: i32,
    /// What was said in exchanges that disappear in folds.
    pub quiet: Set<EventId>,
    /// The moments at which something is drawn, in order.
    pub moments: Vec<Micros>,
}

impl Story {
    /// Reads a run.
    pub fn of(run: &Run) -> Story {
        let hop = if is_crowd(run) { CLOSE_HOP } else { HOP };
        let (column, beats) = (Gauge::of(run).column, ensemble::beats(run, slow(run)));
        let mut story = Story { column, hop, beats, ..Story::default() };
        let within;
        (story.rounds, story.decisions, within) = ensemble::rounds(run, slow(run));
        (story.stands, story.lapses) = (ensemble::stands(run), ensemble::lapses(run));
        (story.turns, story.glances) = (queue::turns(run), queue::glances(run));
        story.woken = queue::woken(run);
        story.spans(run);
        story.bars(run);
        story.sections(run);
        story.broken = broken(run, &story.bars);
        story.kept = kept(run);
        story.tallies = tallies(run);
        story.rests = rests(run);
        let fans = fans::fans(run);
        let exchanges = routine::exchanges(run, &fans);
        let mut hushed = story.time(run, exchanges);
        let late = ensemble::late(run);
        story.beats.iter().chain(within.iter()).chain(late.iter()).for_each(|id| {
            hushed.insert(*id);
        });
        story.flights(run, &hushed);
        story.behind = crowd::behind(run, slow(run), &mut story.flights);
        story.crowded = crowd::gather(run, &mut story.flights);
        let wide = story.crowded.iter().filter(|many| many.legs.len() > 3 && many.at_once);
        story.wide = wide.map(|many| many.from).collect();
        fans::unite(run, (&fans, &story.tallies), slow(run), &mut story.flights);
        story
    }

    /// Events that have no mark of their own, each with the event whose mark shows it.
    pub fn shared(&self) -> Vec<(EventId, EventId)> {
        let many = self.crowded.iter().map(|many| (many.event, &many.others));
        let rounds = self.rounds.iter().map(|round| (round.event, &round.others));
        let of = |(event, others): (EventId, &Vec<EventId>)| -> Vec<(EventId, EventId)> {
            others.iter().map(|other| (*other, event)).collect()
        };
        let mut shared: Vec<_> = many.chain(rounds).flat_map(of).collect();
        shared.extend(self.behind.iter().copied());
        sort_by_key(&mut shared, |pair| *pair);
        shared
    }

    /// How much further to the left each more column of bars reaches.
    pub fn pitch(&self) -> i32 {
        self.column + self.aside()
    }

    /// The least height under a moment.
    pub fn least(&self, at: Micros) -> i32 {
        if self.wide.contains(&at) { WIDE_HOP } else { self.hop }
    }

    /// The room that the times of a try take beside the bars, where there are any.
    pub fn aside(&self) -> i32 {
        if self.tallies.is_empty() { 0 } else { ASIDE }
    }

    /// Belief and truth of each client; a belief is split where its truth ends.
    fn bars(&mut self, run: &Run) {
        let intervals = &run.judgement.intervals;
        let truths: Table<_, _> = intervals
            .iter()
            .filter(|i| i.kind == IntervalKind::Truth)
            .map(|i| (i.grant, i))
            .collect();
        // A belief that ends in the instant in which it began has no height.
        let lasting = intervals.iter().filter(|i| i.from < i.to);
        // Which grant stands in which column of a client: the first that is free.
        let mut columns: Table<ProcId, Vec<(Micros, EventId)>> = Table::new();
        for interval in lasting {
            let (client, grant) = (interval.client, interval.grant.0);
            let taken = columns.entry(client).or_default();
            let own = taken.iter().position(|c| c.1 == grant);
            let column = own.or_else(|| taken.iter().position(|c| c.0 <= interval.from));
            let column = column.unwrap_or_else(|| {
                taken.push((Micros::ZERO, grant));
                taken.len() - 1
            });
            if interval.kind != IntervalKind::Promise {
                let until = if taken[column].1 == grant { taken[column].0 } else { Micros::ZERO };
                taken[column] = (until.max(interval.to), grant);
            }
            let bar = Bar {
                kind: interval.kind,
                client,
                event: interval.began,
                from: interval.from,
                to: interval.to,
                column: column as i32,
                stale: false,
                cap: None,
            };
            match interval.kind {
                IntervalKind::Truth => {
                    let by_time = |id: &EventId| {
                        let note = run.record.event(*id).note();
                        let released = crate::judge::TruthEnd::Released;
                        matches!(note, Some(Testimony::Free(_, why)) if *why != released)
                    };
                    self.bars.push(Bar { cap: interval.ended.filter(by_time), ..bar });
                }
                IntervalKind::Promise => {
                    let ran_out = interval.ended.is_none() && !interval.open;
                    let alone = truths.get(&interval.grant).is_none_or(|t| t.to != interval.to);
                    if ran_out && alone {
                        self.bars.push(Bar { cap: Some(interval.began), ..bar });
                    }
                }
                IntervalKind::Belief => match truths.get(&interval.grant) {
                    Some(truth) if !truth.open && truth.to < interval.to => {
                        let turn = truth.to.max(interval.from);
                        if turn > interval.from {
                            self.bars.push(Bar { to: turn, ..bar });
                        }
                        let event = truth.ended.unwrap_or(interval.began);
                        self.bars.push(Bar { from: turn, stale: true, event, ..bar });
                    }
                    _ => self.bars.push(bar),
                },
            }
        }
    }

    /// Finds the moments that are drawn and the stretches that are folded; returns the messages
    /// that disappear in folds.
    fn time(&mut self, run: &Run, mut exchanges: Vec<Exchange>) -> Set<MsgId> {
        let mut routine = vec![false; run.record.messages.len()];
        for id in exchanges.iter().flat_map(|e| &e.messages).chain(self.beats.iter()) {
            routine[id.0 as usize] = true;
        }
        let said: Set<EventId> = exchanges.iter().flat_map(|e| e.events.iter().copied()).collect();
        let mut moments: Vec<Micros> = self.always(run);
        moments.extend(run.record.events.iter().enumerate().filter_map(|(index, event)| {
            let hushed = event.message().is_some_and(|m| routine[m.0 as usize]);
            let hushed = hushed || said.contains(&EventId(index as u32));
            (!hushed && is_drawn(event)).then_some(event.at)
        }));
        routine::draw(run, &mut exchanges, &mut moments);
        self.moments = moments;
        self.fold(run, &exchanges);
        self.quiet = exchanges.iter().flat_map(|e| e.events.iter().copied()).collect();
        let quiet = &self.quiet;
        self.tallies.retain(|tally| !quiet.contains(&tally.event));
        exchanges.iter().flat_map(|e| e.messages.iter().copied()).collect()
    }

    /// The ends of spans, which are drawn whatever events there are.
    fn always(&self, run: &Run) -> Vec<Micros> {
        let mut moments = vec![Micros::ZERO, run.end];
        moments.extend(self.bars.iter().flat_map(|b| [b.from, b.to.min(run.end)]));
        moments.extend(self.sections.iter().flat_map(|s| [s.from, s.to]));
        moments.extend(self.broken.iter().map(|b| b.to));
        moments.extend(self.kept.iter().flat_map(|k| [k.from, k.to]));
        moments.extend(self.tallies.iter().filter_map(|t| t.good));
        moments.extend(self.lapses.iter().flat_map(|l| [l.heard, l.due]));
        let found = run.judgement.findings.iter().map(Finding::event);
        moments.extend(found.map(|e| run.record.event(e).at));
        moments
    }

    fn fold(&mut self, run: &Run, exchanges: &[Exchange]) {
        let events = &run.record.events;
        for pair in self.moments.windows(2) {
            let &[from, to] = pair else { continue };
            if to.since(from) < IDLE {
                continue;
            }
            let first =
                events.partition_point(|e| e.at <= from).min(events.len().saturating_sub(1));
            let start = exchanges.partition_point(|e| e.from <= from);
            let inside = || exchanges[start..].iter().take_while(|e| e.from < to);
            let beat = |id: &&MsgId| {
                let info = run.record.message(**id);
                let at = run.record.event(info.sent).at;
                run.names().traffic.beats.contains(&info.body.name) && from < at && at < to
            };
            let beats = self.beats.iter().filter(beat).count() as u32;
            let count = |what| inside().filter(|e| e.routine == Some(what)).count() as u32;
            self.folds.push(Fold {
                from,
                to,
                event: EventId(first as u32),
                refused: count(Routine::Refused),
                renewed: count(Routine::Renewed),
                beats,
                rests: range(&self.rests, from, to),
            });
        }
    }

    fn flights(&mut self, run: &Run, hushed: &Set<MsgId>) {
        let record = &run.record;
        let mut held: Table<MsgId, (Micros, EventId)> = Table::new();
        let mut heals: Vec<(ProcId, ProcId, Micros)> = Vec::new();
        for (index, event) in record.events.iter().enumerate() {
            match event.what {
                What::Hold(id) => {
                    held.entry(id).or_insert((event.at, EventId(index as u32)));
                }
                What::Heal(to) => heals.push((event.node, to, event.at)),
                _ => {}
            }
        }
        for (index, info) in record.messages.iter().enumerate() {
            let id = MsgId(index as u32);
            if hushed.contains(&id) {
                continue;
            }
            let (mut words, plate, mut soft) = super::words::message(run, id, info);
            if info.copy_of.is_some() {
                (words, soft) = (format!("×2 {words}").trim_end().into(), true);
            }
            let end = match (info.delivered, info.lost) {
                (Some(event), _) => End::Arrives(record.event(event).at),
                (None, Some(event)) => {
                    let event = record.event(event);
                    End::Lost(event.at, event.node == info.to)
                }
                (None, None) => End::Open,
            };
            let held = held.get(&id).map(|(at, event)| {
                let healed =
                    heals.iter().find(|h| (h.0, h.1) == (info.from, info.to) && h.2 >= *at);
                (*at, healed.map_or(run.end, |h| h.2), *event)
            });
            let (from, to, event) = (info.from, info.to, info.sent);
            let sent = record.event(event).at;
            let (many, hushed, spare) = (false, false, false);
            self.flights.push(Flight {
                id,
                from,
                to,
                event,
                sent,
                end,
                held,
                words,
                plate,
                soft,
                many,
                hushed,
                spare,
            });
        }
    }
}

/// Whether an event has a mark of its own.
fn is_drawn(event: &Event<Testimony>) -> bool {
    match event.note() {
        Some(
            Testimony::Answer(..)
            | Testimony::Begin(_)
            | Testimony::Job(..)
            | Testimony::Close(..)
            | Testimony::Check(..)
            | Testimony::Learn(_)
            | Testimony::Told(..)
            | Testimony::Refuse(..)
            | Testimony::Extend(..)
            | Testimony::Expires(..)
            | Testimony::Moves(..)
            | Testimony::Session(SessionState::Begun)
            | Testimony::Serve(..),
        ) => false,
        Some(_) => true,
        None => !matches!(
            event.what,
            What::Start
                | What::Work(_)
                | What::Sleep(_)
                | What::Handle(_)
                | What::End(_)
                | What::Outside(_)
                | What::Wake
        ),
    }
}

/// The token of a grant by the event of the grant, for words.
pub(super) fn token_words(run: &Run, grant: crate::judge::Grant) -> String {
    kind::token_of(&run.record, grant).map_or_else(String::new, |t| figure(run.names(), t))
}
