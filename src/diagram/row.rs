//! Servers that grant together, in a row on the plane; what a deadline has left, and what a client that
//! asks has been answered.

use super::palette::Role;
use super::picture::{Anchor, Area, Point, Shape, TICK, Words};
use super::text::{SIZE, fit, width as width_of};
use super::topology::{Plane, Spot};
use super::words::short;
use crate::judge::{Ballot, Standing, Testimony};
use crate::run::NodeKind;
use crate::sim::{EventId, Micros, ProcId, What};
use crate::systems::{Fact, Piece};

/// The height of a server's card in a row, and of the name above them.
const CARD: i32 = 64;
const NAME: i32 = 20;

/// What messages say that are on their way, and how many say it.
pub(super) struct Said {
    pub event: EventId,
    pub name: String,
    /// The number that they carry, as it is written.
    pub token: Option<String>,
    pub held: bool,
    pub way: [Point; 3],
    /// The client, where the other end is one of several servers in a row.
    pub of: Option<ProcId>,
    pub count: usize,
    /// Both ends are servers.
    pub among: bool,
}

impl Said {
    /// Adds it to what others say, or to the number of those who say the same.
    pub fn join(self, said: &mut Vec<Said>) {
        let same = |s: &Said| (s.of, &s.name, s.held) == (self.of, &self.name, self.held);
        match said.iter_mut().find(|s| s.of.is_some() && same(s)) {
            Some(same) => {
                same.count += 1;
                same.token = same.token.take().or(self.token);
            }
            None => said.push(self),
        }
    }
}

impl Plane<'_> {
    /// Writes what messages say beside their ways.
    pub(super) fn say(&mut self, said: Vec<Said>) {
        // What servers say among themselves has its line, and its sentence in the log.
        let told = said.into_iter().filter(|said| !said.among);
        for (row, said) in told.enumerate() {
            let mut words = said.name;
            if let Some(token) = said.token {
                words.push_str(&format!(" ({token})"));
            }
            if said.count > 1 {
                words.push_str(&format!(" ×{}", said.count));
            }
            if said.held {
                words.push_str(", held");
            }
            let Some(at) = self.beside_way(&words, said.way, row as i32 % 3) else { continue };
            self.words(said.event, Role::Ink, &words, at, Anchor::Middle);
        }
    }

    /// Gives each of several servers a card in a row, to the right of the clients and above all else;
    /// returns how much lower the rest stands.
    pub(super) fn row(&mut self, servers: &[ProcId], left: i32, right: i32) -> i32 {
        let Some(group) = self.run.names().group.filter(|_| !servers.is_empty()) else { return 0 };
        let left = left + if right < 550 { 14 } else { 36 };
        let each = (right - left) / servers.len() as i32;
        let top = NAME + 10;
        for (index, node) in servers.iter().copied().enumerate() {
            let left = left + each * index as i32;
            let area = Area { left, top, right: left + each - 6, bottom: top + CARD };
            let label = self.run.names().node(node).label.clone();
            self.out.spots.push(Spot { node, area, label, says: String::new() });
        }
        let at = Point { x: (left + right - 6) / 2, y: NAME };
        let name = fit(group.name, right - left, SIZE, true);
        self.words(EventId(0), Role::Ink, &name, at, Anchor::Middle);
        top + CARD
    }

    /// A server's card: its name, whose the lock is there, and what is left of its time.
    pub(super) fn card(&mut self, node: ProcId, area: Area, name: &str, event: EventId) {
        let middle = (area.left + area.right) / 2;
        let strong = |text: String, at: Point, anchor: Anchor| {
            let (size, strong, mono, halo) = (SIZE, true, false, false);
            Shape::Words(Words { text, at, anchor, size, strong, mono, halo })
        };
        let at = Point { x: middle, y: area.top + 17 };
        match self.standing(node) {
            Some(Standing::Leads(term)) => {
                let words = format!("{name} leads");
                let narrow = width_of(&words, SIZE, true, false) > area.right - area.left - 8;
                let words = if narrow { name.to_string() } else { words };
                let half = width_of(&words, SIZE, true, false) / 2 + 6;
                let (left, right) = (middle - half, middle + half);
                let plate = Area { left, top: area.top + 4, right, bottom: area.top + 22 };
                self.push(event, Role::Ink, Shape::Plaque { area: plate, text: words });
                let at = Point { x: middle, y: area.top - 5 };
                let word = self.run.names().term();
                if term > 0 {
                    self.words(event, Role::Muted, &format!("{word} {term}"), at, Anchor::Middle);
                }
            }
            _ => self.push(event, Role::Ink, strong(name.to_string(), at, Anchor::Middle)),
        }
        let holder = self.world.facts(node).into_iter().find_map(|fact| match fact {
            Fact::Row { value, .. } => value.iter().find_map(|piece| match piece {
                Piece::Client(client) => Some(*client),
                _ => None,
            }),
            _ => None,
        });
        let foot = Point { x: middle, y: area.bottom - 14 };
        let still = self.world.halt(node).map(|_| "stopped");
        let seeks = matches!(self.standing(node), Some(Standing::Seeks)).then_some("no leader");
        let state = if self.world.is_down(node) { Some("down") } else { still.or(seeks) };
        match (state, holder) {
            (None, Some(client)) => {
                let (left, top) = (area.left + 6, area.top + 26);
                let bar = Area { left, top, right: left + 7, bottom: area.bottom - 8 };
                self.push(event, Role::Hold, Shape::Kept { area: bar, whose: client.0 });
                let at = Point { x: left + 11, y: area.bottom - 17 };
                let letter = strong(short(self.run, client), at, Anchor::Start);
                self.push(event, Role::Hold, letter);
                if area.right - area.left >= 50 {
                    self.rings(node, area);
                }
            }
            (state, _) => {
                let words = state.unwrap_or("free");
                let most = area.right - area.left - 4;
                if width_of(words, SIZE, false, false) <= most {
                    self.words(event, Role::Muted, words, foot, Anchor::Middle);
                }
            }
        }
    }

    /// What a server's deadline has left, as a ring that drains.
    pub(super) fn rings(&mut self, node: ProcId, area: Area) {
        if self.kind(node) != NodeKind::Service || self.world.is_down(node) || self.last.is_none() {
            return;
        }
        let now = self.world.now();
        let ring = self.world.facts(node).into_iter().find_map(|fact| match fact {
            Fact::Ring { until, span, .. } => Some((until, span)),
            _ => None,
        });
        let Some((until, span)) = ring else { return };
        let share = |until: Micros| {
            let left = u128::from(until.since(now).0) * 1_000 / u128::from(span.0.max(1));
            left.min(1_000) as u16
        };
        let event = self.previous(|n, what| {
            let note = match what {
                What::Note(note) | What::Send(_, Some(note)) => note,
                _ => return false,
            };
            let sets = matches!(
                note,
                Testimony::Grant { .. }
                    | Testimony::Extend(..)
                    | Testimony::Expires(..)
                    | Testimony::Keep { .. }
                    | Testimony::Moves(..)
            );
            n == node && sets
        });
        let at = Point { x: area.right - 16, y: area.bottom - 21 };
        self.push(event, Role::Hold, Shape::Ring { at, left: until.map(share) });
    }

    /// What a client that asks several servers has been answered, above its box.
    pub(super) fn ticks(&mut self, node: ProcId, area: Area) {
        let answers = self.world.facts(node).into_iter().find_map(|fact| match fact {
            Fact::Ticks { answers, .. } => Some(answers),
            _ => None,
        });
        let Some(answers) = answers.filter(|_| self.last.is_some()) else { return };
        let ballot = Ballot::of(answers.into_iter());
        let event = self.previous(|n, what| {
            let note = match what {
                What::Note(note) | What::Send(_, Some(note)) => note,
                _ => return false,
            };
            n == node && matches!(note, Testimony::Count(..) | Testimony::Ask { .. })
        });
        let at = Point { x: area.left + 8, y: area.top - TICK - 4 };
        self.push(event, Role::Ink, Shape::Ballot { at, ballot });
        let [yes, _, of] = ballot.counts();
        let at = Point { x: at.x + TICK * of as i32 + 6, y: area.top - 6 };
        self.words(event, Role::Ink, &format!("{yes} of {of}"), at, Anchor::Start);
    }
}
