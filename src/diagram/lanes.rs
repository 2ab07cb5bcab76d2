//! Where lanes stand and what stands under their names while time passes.

use super::crowd::{self, Gauge, NARROW, is_crowd};
use super::picture::{Area, Head, Lane, Saying};
use super::signs::seen;
use super::story::Story;
use super::text::{SIZE, fit, width as width_of};
use super::words::{short, value};
use crate::judge::{Ask, Grant, Testimony, Token};
use crate::narrate;
use crate::run::{NodeKind, Run};
use crate::sim::{EventId, Micros, ProcId, Set, Table, What};

/// The height of the header with its margins.
pub(super) const HEADER: i32 = 60;
/// The size of a lane's name.
pub(super) const NAME: i32 = 13;
/// How far the bars of one column reach to the left of the lifeline.
pub(super) const BARS: i32 = 32;
/// How much further each more column reaches.
pub(super) const COLUMN: i32 = 28;
/// How much further the times of a try reach.
pub(super) const ASIDE: i32 = 10;
/// The distance between two lanes of a group, and how far the marks of one reach to the left.
const CLOSE: i32 = 40;
const CLOSER: i32 = 32;
const CLOSEST: i32 = 26;
const SLIM: i32 = 16;
/// What the words at the last lane need.
const RIGHT: i32 = 112;
/// The least distance between two lanes where nothing presses.
const NEAREST: i32 = 104;
/// The same two on the narrowest page.
const TIGHT_RIGHT: i32 = 48;
const SNUG_RIGHT: i32 = 72;
const TIGHTEST: i32 = 70;
/// The same of two clients where there are several of them beside a group; and what else then makes way.
const SEVERAL: i32 = 5;
const ELBOW: i32 = 52;
const ELBOW_GROUP: i32 = 66;
const ELBOW_RIGHT: i32 = 52;
/// A header of this width holds its name in full; beyond it, headers move apart first.
const FULL_HEADER: i32 = 100;
/// A header narrower than this has its name in smaller and lighter letters.
const SMALL_HEADER: i32 = 104;

/// The size of a lane's name in a header, and whether it is strong.
pub(super) fn name_face(header: &Area) -> (i32, bool) {
    if header.right - header.left < SMALL_HEADER { (SIZE, false) } else { (NAME, true) }
}

/// How far the marks of a lane reach to the left of its lifeline.
pub(super) fn reach(run: &Run, lane: &Lane, story: &Story) -> i32 {
    let gauge = Gauge::of(run);
    if lane.kind != NodeKind::Client {
        let several = (run.names().locks.len() as i32 - 1).clamp(0, 2);
        return if lane.grouped { SLIM + 9 * several } else { 8 };
    }
    let columns = story.bars.iter().filter(|b| b.client == lane.node).map(|b| b.column).max();
    gauge.reach + 3 + story.aside() + story.pitch() * columns.unwrap_or(0)
}

/// The common name of a group, how many lanes it has, and how far apart they stand at least, so that
/// the name has room above them.
fn group(run: &Run, tight: bool) -> (String, i32, i32) {
    let names = run.names();
    let nodes = (0..names.nodes.len()).map(|index| ProcId(index as u16));
    let count = nodes.filter(|node| names.member(*node).is_some()).count() as i32;
    let mut label = names.group.map_or_else(String::new, |group| group.name.to_string());
    if tight && width_of(&label, SIZE, true, false) + 10 > CLOSEST * count {
        label = label.split(' ').next().unwrap_or_default().to_string();
    }
    let room = width_of(&label, SIZE, true, false) + 10;
    (label, count, room / count.max(1) + 1)
}

/// How lanes are spread over a width.
struct Spread {
    /// Where the first stands.
    first: i32,
    /// How far apart two stand, two clients, two of a group, and two of a crowd.
    spacing: i32,
    clients: i32,
    close: i32,
    narrow: i32,
    /// Half the width of a header.
    half: i32,
    /// There is a crowd.
    crowd: bool,
    width: i32,
}

/// Spreads the lanes of a run between the axis and a width. Where they need more, they move together if
/// they may be tight, and then the width grows.
fn spread(run: &Run, story: &Story, axis: i32, width: i32, tight: bool) -> Spread {
    let names = run.names();
    let mut columns = vec![0; names.nodes.len()];
    for bar in &story.bars {
        if let Some(most) = columns.get_mut(usize::from(bar.client.0)) {
            *most = bar.column.max(*most);
        }
    }
    let most = columns.iter().copied().max().unwrap_or(0);
    let own = story.pitch() * columns.first().copied().unwrap_or(0);
    let bars = Gauge::of(run).reach + story.aside() + own;
    let first = axis + if tight { 12 } else { 16 } + bars;
    let (_, members, least) = group(run, tight);
    let inner = (members - 1).max(0);
    let clients = names.of_kind(NodeKind::Client).count() as i32;
    let crowd = if is_crowd(run) { clients - 1 } else { 0 };
    let [narrowest, narrow] = NARROW.map(|narrow| narrow + story.pitch() * most);
    let gaps = (names.nodes.len() as i32 - 1 - inner - crowd).max(1);
    let first_to_last = |gap, close| gaps * (gap + story.pitch() * most) + inner * close;
    let roomy = first + RIGHT + first_to_last(NEAREST, CLOSE.max(least)) + crowd * narrow;
    // Lanes that stand in a group make way first, so that all others are in sight.
    let snug = tight || members > 0;
    let short = if snug { (roomy - width).max(0) } else { 0 };
    let right = (RIGHT - short / 2).max(if tight { TIGHT_RIGHT } else { SNUG_RIGHT });
    // Where there are many clients, the servers have what they say of them on their right.
    let nearest = if snug && crowd == 0 { TIGHTEST } else { NEAREST };
    let close = match (tight, short) {
        (true, _) => CLOSEST,
        (false, 0) => CLOSE,
        (false, _) => CLOSER,
    };
    let close = close.max(least);
    let others = first + right + first_to_last(nearest, close);
    let several = if tight { 2 } else { SEVERAL };
    if others > width && names.led() && crowd == 0 && clients >= several {
        let (first, right) = (first - 8, right.min(ELBOW_RIGHT));
        let (more, pairs) = (story.pitch() * most, clients - 1);
        let spacing = ELBOW_GROUP + more;
        let others = first + right + (gaps - pairs) * spacing + inner * close;
        let clients = ((width - others) / pairs).clamp(ELBOW + more, TIGHTEST + more);
        let width = width.max(others + pairs * clients);
        let half = (spacing - 3) / 2;
        return Spread { first, spacing, clients, close, narrow, half, crowd: false, width };
    }
    let width = width.max(others + crowd * narrowest);
    let narrow = ((width - others) / crowd.max(1)).clamp(narrowest, narrow);
    let spacing = (width - first - right - inner * close - crowd * narrow) / gaps;
    let between = (spacing - FULL_HEADER).clamp(3, 20);
    let half = (spacing - between).min(128) / 2;
    Spread { first, spacing, clients: spacing, close, narrow, half, crowd: crowd > 0, width }
}

/// The lanes of a run between the axis and a width. Those of a group stand close together, under one head.
pub(super) fn lanes(
    run: &Run,
    story: &Story,
    axis: i32,
    width: i32,
    tight: bool,
) -> (Vec<Lane>, Vec<Head>, i32) {
    let names = run.names();
    let spread = spread(run, story, axis, width, tight);
    let Spread { first, spacing, clients, close, narrow, half, crowd, width } = spread;
    let sayings = Sayings::of(run);
    let mut lanes: Vec<Lane> = Vec::new();
    for (index, node) in names.nodes.iter().enumerate() {
        let proc = ProcId(index as u16);
        let member = names.member(proc);
        let crowded = crowd && node.kind == NodeKind::Client;
        let grouped = member.is_some() || crowded;
        let pitch = if crowded { narrow } else { close };
        let x = lanes.last().map_or(first, |last| {
            last.x
                + match (last.grouped && grouped, last.kind == node.kind, node.kind) {
                    (true, true, _) => pitch,
                    (_, true, NodeKind::Client) => clients,
                    _ => spacing,
                }
        });
        let half = match node.kind {
            _ if grouped => pitch / 2,
            NodeKind::Client if clients < spacing => (clients - 3) / 2,
            _ => half,
        };
        let header = Area { left: x - half, top: 8, right: x + half, bottom: HEADER - 8 };
        let most = 2 * half - if spacing < NEAREST { 2 } else { 8 };
        let mut sayings = sayings.get(&proc).cloned().unwrap_or_default();
        if !grouped {
            sayings.iter_mut().for_each(|saying| shorten(saying, most));
        }
        let (size, strong) = name_face(&header);
        let label = match member {
            Some(name) => name.to_string(),
            None if crowded => crowd::name(run, proc, narrow),
            // Where a whole name has no room, what tells it apart has.
            None if width_of(&node.label, size, strong, false) > most => {
                fit(&short(run, proc), most, size, strong)
            }
            None => node.label.clone(),
        };
        let own = story.stands.iter().filter(|stand| stand.node == proc);
        let stands = own.map(|stand| (stand.at, stand.standing)).collect();
        let kind = node.kind;
        lanes.push(Lane { node: proc, kind, x, header, label, grouped, sayings, stands });
    }
    let of = |kind: NodeKind, label: String, sayings| head(&lanes, kind, label, sayings);
    let heads = [
        of(NodeKind::Client, crowd::label(run), crowd::sayings(story)),
        of(NodeKind::Service, group(run, tight).0, Vec::new()),
    ];
    let heads = heads.into_iter().flatten().collect();
    (lanes, heads, width)
}

/// The box around the names of a group.
fn head(lanes: &[Lane], kind: NodeKind, label: String, sayings: Vec<Saying>) -> Option<Head> {
    let own = lanes.iter().filter(|lane| lane.grouped && lane.kind == kind);
    let mut grouped = own.map(|lane| lane.header);
    let first = grouped.next()?;
    let right = grouped.next_back().unwrap_or(first).right;
    Some(Head { area: Area { right, ..first }, label, sayings })
}

/// Makes words fit under a name.
fn shorten(saying: &mut Saying, most: i32) {
    // Where a value and its name have little room, the sign between them goes first.
    if width_of(&saying.text, SIZE, false, false) > most {
        saying.text = saying.text.replace(" = ", " ");
    }
    let rest = saying.text.split_once(' ').map(|(_, rest)| rest.to_string());
    if let Some(rest) = rest.filter(|_| width_of(&saying.text, SIZE, false, false) > most) {
        saying.text = rest;
    }
    saying.text = fit(&saying.text, most, SIZE, false);
}

/// How wide the axis is: as wide as the longest moment that it shows.
pub(super) fn axis(run: &Run) -> i32 {
    width_of(&tick(Micros(run.end.0 / 100_000 * 100_000 + 100_000)), SIZE, false, true).max(40) + 14
}

/// A moment on the axis: `3 s`, `3.5 s`.
pub(super) fn tick(at: Micros) -> String {
    match at.0 / 100_000 % 10 {
        0 => format!("{} s", at.0 / 1_000_000),
        tenth => format!("{}.{tenth} s", at.0 / 1_000_000),
    }
}

/// What stands under each name, as it is known event by event.
struct Sayings<'r> {
    run: &'r Run,
    said: Table<ProcId, Vec<Saying>>,
    tokens: Table<Grant, (ProcId, ProcId, Option<Token>)>,
    believed: Table<ProcId, Grant>,
    held: Table<ProcId, Vec<Grant>>,
    highest: Table<ProcId, Token>,
    down: Set<ProcId>,
}

impl Sayings<'_> {
    fn of(run: &Run) -> Table<ProcId, Vec<Saying>> {
        let mut sayings = Sayings {
            run,
            said: Table::new(),
            tokens: Table::new(),
            believed: Table::new(),
            held: Table::new(),
            highest: Table::new(),
            down: Set::default(),
        };
        sayings.begin();
        for (index, event) in run.record.events.iter().enumerate() {
            let id = EventId(index as u32);
            match event.what {
                What::Crash(_) => sayings.say(id, event.node, "down".into()),
                What::Restart => sayings.restarted(id, event.node),
                What::End(0) => sayings.say(id, event.node, "done".into()),
                _ => {}
            }
            if let Some(note) = event.note() {
                sayings.hear(id, event.node, note);
            }
            // Nothing that is said of a dead process changes that it is down.
            match event.what {
                What::Crash(_) => {
                    sayings.down.insert(event.node);
                }
                What::Restart => {
                    sayings.down.remove(&event.node);
                }
                _ => {}
            }
        }
        sayings.said
    }

    fn figure(&self, token: Token) -> String {
        narrate::figure(self.run.names(), token)
    }

    fn begin(&mut self) {
        let names = self.run.names();
        for node in names.of_kind(NodeKind::Client) {
            self.say(EventId(0), node, "no lock".into());
        }
        for node in names.of_kind(NodeKind::Service) {
            self.say(EventId(0), node, "free".into());
        }
        for node in names.of_kind(NodeKind::Gateway) {
            let checks = self.run.compiled.settings.word("resource.check") == "gateway";
            self.say(EventId(0), node, if checks { "checks" } else { "passes on" }.into());
        }
        for node in names.of_kind(NodeKind::Resource) {
            // Of several cells, the one that the invariant speaks of first is what it is all about.
            let setup = &self.run.compiled.setup;
            let own = |cell: &usize| names.homes.get(*cell) == Some(&node);
            let first = setup.invariant.as_ref().and_then(|i| i.first_var()).filter(own);
            let first = first.or_else(|| (0..names.homes.len()).find(own));
            let initial = first.and_then(|i| Some((i, setup.cells.get(i)?)));
            let text = match initial {
                Some((cell, value)) => format!("{} = {value}", names.cells[cell]),
                None => String::new(),
            };
            self.say(EventId(0), node, text);
        }
    }

    fn say(&mut self, event: EventId, node: ProcId, text: String) {
        if self.down.contains(&node) && text != "restarted" {
            return;
        }
        let from = self.run.record.events.get(event.0 as usize).map_or(Micros::ZERO, |e| e.at);
        let said = self.said.entry(node).or_default();
        if said.last().is_none_or(|s| s.text != text) {
            said.push(Saying { from, event, text });
        }
    }

    fn hear(&mut self, id: EventId, node: ProcId, note: &Testimony) {
        match note {
            Testimony::Ask { ask: Ask::Acquire, first: true, .. } => {
                self.say(id, node, "asks".into());
            }
            Testimony::Queue(_, client) | Testimony::Refuse(_, client, Ask::Acquire) => {
                self.say(id, *client, "waits".into());
            }
            Testimony::Count(_, Ask::Acquire, _, _, None) => self.say(id, node, "waits".into()),
            Testimony::Grant { client, token, .. } => {
                self.tokens.insert(Grant(id), (node, *client, *token));
                self.held.entry(node).or_default().push(Grant(id));
                self.service(id, node);
            }
            Testimony::Keep { of, .. } => self.keeps(id, node, *of),
            Testimony::Mint(grant, token) => {
                if let Some(known) = self.tokens.get_mut(grant) {
                    known.2 = Some(*token);
                }
            }
            Testimony::Believe(_, grant, _) => {
                self.believed.insert(node, *grant);
                self.believer(id, node);
            }
            Testimony::Doubt(..) => {
                self.believed.remove(&node);
                self.say(id, node, "no lock".into());
            }
            Testimony::Free(grant, _) => self.freed(id, node, *grant),
            Testimony::Accept(op, write, ..) => {
                if let Some(token) = op.token.filter(|_| self.checks()) {
                    self.saw(id, node, token);
                } else {
                    let cell = self.run.names().cell(op.cell);
                    let text = match self.run.names().cells.len() {
                        1 => format!("{cell} = {}", write.value),
                        _ => value(self.run, "", op.cell, write.value),
                    };
                    self.say(id, node, text);
                }
            }
            Testimony::Mark(op) | Testimony::Admit(op, ..) => {
                if let Some(token) = op.token {
                    self.saw(id, node, token);
                }
            }
            Testimony::Forward(op, Some(_)) if self.checks_in_front() => {
                if let Some(token) = op.token {
                    self.saw(id, node, token);
                }
            }
            Testimony::Hand(_, token, None) if self.checks() => self.saw(id, node, *token),
            Testimony::Reject(_, _, why) | Testimony::Hand(_, _, Some(why)) => {
                if let Some(token) = seen(*why) {
                    self.saw(id, node, token);
                }
            }
            _ => {}
        }
    }

    /// A grant has ended: what is said of who granted it, and of whoever still believes in it.
    fn freed(&mut self, id: EventId, node: ProcId, grant: Grant) {
        let known = self.tokens.get(&grant).copied();
        // Another server than the one that granted it may be the one that ends it.
        let other = known.map(|known| known.0).filter(|other| *other != node);
        for server in [Some(node), other].into_iter().flatten() {
            self.held.entry(server).or_default().retain(|g| *g != grant);
            self.service(id, server);
        }
        if let Some((_, client, _)) = known
            && self.believed.get(&client) == Some(&grant)
        {
            self.believer(id, client);
        }
    }

    /// What one of several servers has.
    fn keeps(&mut self, id: EventId, node: ProcId, of: Option<(ProcId, Option<Token>)>) {
        let text = match of {
            None => "free".into(),
            Some((client, Some(token))) => {
                format!("{} → {}", self.figure(token), short(self.run, client))
            }
            Some((client, None)) => format!("held by {}", short(self.run, client)),
        };
        self.say(id, node, text);
    }

    fn checks(&self) -> bool {
        let check = self.run.compiled.settings.word("resource.check");
        check.starts_with("token") || check.ends_with("claim")
    }

    fn checks_in_front(&self) -> bool {
        self.run.compiled.settings.word("resource.check") == "gateway"
    }

    fn saw(&mut self, id: EventId, node: ProcId, token: Token) {
        let highest = self.highest.entry(node).or_insert(token);
        *highest = token.max(*highest);
        let text = format!("highest seen {}", narrate::figure(self.run.names(), *highest));
        self.say(id, node, text);
    }

    fn restarted(&mut self, id: EventId, node: ProcId) {
        let mut text = "restarted".to_string();
        if let Some(highest) = crate::run::why::forgotten(self.run, id).iter().map(|m| m.1).max() {
            self.highest.remove(&node);
            text = format!("restarted, forgot {}", self.figure(highest));
        }
        self.say(id, node, text);
    }

    fn believer(&mut self, id: EventId, client: ProcId) {
        let Some(grant) = self.believed.get(&client) else { return };
        let Some((service, _, token)) = self.tokens.get(grant).copied() else { return };
        let true_still = self.held.get(&service).is_some_and(|h| h.contains(grant));
        let text = match token {
            Some(token) if true_still => format!("holds {}", self.figure(token)),
            Some(token) => format!("thinks {}", self.figure(token)),
            None if true_still => "holds".into(),
            None => "thinks it holds".into(),
        };
        self.say(id, client, text);
    }

    fn service(&mut self, id: EventId, node: ProcId) {
        if self.run.names().member(node).is_some() && !self.run.names().led() {
            // It says what it has itself; a grant is none of its own.
            return;
        }
        let held = self.held.get(&node).cloned().unwrap_or_default();
        let text = match held.as_slice() {
            [] => "free".into(),
            [grant] => match self.tokens.get(grant) {
                Some((_, client, Some(token))) => {
                    format!("{} → {}", self.figure(*token), short(self.run, *client))
                }
                Some((_, client, None)) => format!("held by {}", short(self.run, *client)),
                None => String::new(),
            },
            many => format!("{} grants", many.len()),
        };
        self.say(id, node, text);
    }
}
