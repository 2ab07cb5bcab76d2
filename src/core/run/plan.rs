//! From a scenario and its edits to a plan that the simulator runs, with located errors.

use std::rc::Rc;

use super::address::{Names, Node, NodeKind};
use super::edit::{Action, Edit, MOST_EDITS, When, Whom, parse_edit};
use super::scenario::Scenario;
use crate::judge::{CellId, LockId, Setup, Token};
use crate::sim::{
    self, Clocks, Expr, Fault, Instr, MessageFault, Micros, Plan, ProcId, ProcPlan, Scanner, Stop,
    Table, Task, list, sort_by_key,
};
use crate::systems::{
    Client, Gateway, Kind, Locks, Op, Order, Registry, Resource, Settings, SettingsError, System,
    Vocabulary, by_hand,
};

/// Where in a scenario something is wrong: the path of keys, and where in that value.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Place {
    /// Keys from the scenario down: `clients`, `client-a`, `program`, `3`. Edits are under `edits`.
    pub path: Vec<String>,
    /// Unicode scalar values from the start of that text.
    pub at: usize,
}

/// What is wrong with a scenario, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScenarioError {
    /// Where.
    pub place: Place,
    /// What was found and what was expected.
    pub message: String,
}

impl std::fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}, character {}: {}",
            self.place.path.join("."),
            self.place.at + 1,
            self.message
        )
    }
}

/// A scenario with its edits, ready to run.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The scenario as written.
    pub scenario: Rc<Scenario>,
    /// Its edits as read.
    pub edits: Vec<Edit>,
    /// What the simulator runs.
    pub plan: Rc<Plan<Locks>>,
    /// What everything is called.
    pub names: Rc<Names>,
    /// What the judge must know.
    pub setup: Setup,
    /// The settings at the start, edits included.
    pub settings: Rc<Settings>,
}

const MOST_NODES: usize = 64;
const MOST_CELLS: usize = 64;
/// Words of expressions, programs and assertions, which no cell and no lock can be called.
const RESERVED: [&str; 14] = [
    "done", "and", "or", "not", "no", "before", "at", "as", "token", "value", "within", "shared",
    "where", "version",
];
/// Settings that shape the whole run and cannot change in the middle of it.
const FIXED: [&str; 17] = [
    "client.clock",
    "lease.clock",
    "link.delay",
    "link.jitter",
    "resume.order",
    "lock.first_token",
    "redis.version",
    "redis.files",
    "redis.restart_delay",
    "redis.replicas",
    "redlock.masters",
    "zookeeper.servers",
    "zookeeper.tick",
    "zookeeper.sync_limit",
    "zookeeper.init_limit",
    "zookeeper.version",
    "zookeeper.created",
];
/// The longest run.
pub const LONGEST: Micros = Micros::from_secs(24 * 60 * 60);

/// Reads a scenario and its edits.
///
/// # Errors
/// Everything that is wrong, each with its place.
pub fn compile(
    scenario: &Scenario,
    edits: &[String],
    registry: &Registry,
) -> Result<Compiled, Vec<ScenarioError>> {
    let mut builder = Builder { errors: Vec::new(), scenario };
    match builder.build(edits, registry) {
        Some(compiled) if builder.errors.is_empty() => Ok(compiled),
        _ => Err(builder.errors),
    }
}

/// The ids of a scenario's nodes in lane order, before any edit: what a link counts them by.
pub fn node_ids(scenario: &Scenario, registry: &Registry) -> Vec<String> {
    let Some(system) = registry.find(&scenario.system) else { return Vec::new() };
    let mut settings = defaults(system, scenario);
    let _ = settings.set_all(&scenario.settings);
    let (names, _) = Builder { errors: Vec::new(), scenario }.names(system, &settings);
    names.nodes.into_iter().map(|node| node.id).collect()
}

/// The settings that a scenario has before it sets any.
fn defaults(system: &dyn System, scenario: &Scenario) -> Settings {
    Settings::defaults(system.settings(), system.presets()).with_locks(&scenario.locks)
}

pub(super) struct Builder<'s> {
    pub(super) errors: Vec<ScenarioError>,
    pub(super) scenario: &'s Scenario,
}

pub(super) type Programs = Vec<(Rc<Vec<Task<Op>>>, sim::Names)>;

impl Builder<'_> {
    pub(super) fn wrong(&mut self, path: &[&str], at: usize, message: impl Into<String>) {
        let path = path.iter().map(|p| p.to_string()).collect();
        self.errors.push(ScenarioError { place: Place { path, at }, message: message.into() });
    }

    fn build(&mut self, edits: &[String], registry: &Registry) -> Option<Compiled> {
        let Some(system) = registry.find(&self.scenario.system) else {
            let known = list(registry.iter().map(|s| s.name()));
            let message = format!("no system `{}`; the systems are {known}", self.scenario.system);
            self.wrong(&["system"], 0, message);
            return None;
        };
        let mut settings = defaults(system, self.scenario);
        for (key, error) in settings.set_all(&self.scenario.settings) {
            self.wrong(&["settings", &key], 0, error.to_string());
        }
        for (key, text) in &self.scenario.settings {
            if let Some(message) = self.unfit(&settings, key, text) {
                self.wrong(&["settings", key], 0, message);
            }
        }
        let until = self.span(&["until"], &self.scenario.until).unwrap_or(LONGEST);
        if until > LONGEST || until == Micros::ZERO {
            self.wrong(
                &["until"],
                0,
                format!("found `{until}`, expected a time from 1us to {LONGEST}"),
            );
        }
        let (mut names, mut vocabulary) = self.names(system, &settings);
        let initial = self.cells(&mut names, &mut vocabulary);
        let programs = self.programs(&mut names, &mut vocabulary);
        let invariant = self.invariant(&names);
        let texts = edits;
        let edits = self.edits(texts, &names, &|order| system.cannot(&settings, order));
        let settings_then = self.set_from_start(&edits, texts, &mut settings);
        self.same_nodes(system, &settings, &names);
        if !self.errors.is_empty() {
            return None;
        }
        names.token_word = system.token_word_under(&settings);
        names.figures = system.figures_under(&settings);
        let settings = Rc::new(settings);
        let setup = Setup {
            cells: initial.iter().map(|c| c.1).collect(),
            invariant,
            jobs: !vocabulary.jobs.is_empty(),
            renews: any(&programs, |op| matches!(op, Op::Renew { .. })),
            tokens: any(&programs, |op| matches!(op, Op::Acquire { .. } | Op::Step { .. })),
        };
        names.jobs = vocabulary.jobs.clone();
        let procs = self.procs(system, &settings, &names, &vocabulary, &programs, &initial);
        let mut plan = Plan {
            latency: vec![settings.span("link.delay"); procs.len() * procs.len()],
            procs,
            jitter: settings.span("link.jitter"),
            seed: self.scenario.seed,
            settings: settings.clone(),
            timers_first: settings.word("resume.order") == "timers-first",
            faults: Vec::new(),
            stops: Vec::new(),
            message_faults: Vec::new(),
            edits: edits.len(),
            until,
        };
        place_edits(&mut plan, &names, &edits, settings_then);
        Some(Compiled {
            scenario: Rc::new(self.scenario.clone()),
            edits,
            plan: Rc::new(plan),
            names: Rc::new(names),
            setup,
            settings,
        })
    }

    /// The nodes are those of the scenario: an edit cannot bring one in.
    fn same_nodes(&mut self, system: &dyn System, settings: &Settings, names: &Names) {
        let first = ProcId(self.scenario.clients.len() as u16);
        let servers = system.servers(settings, self.scenario.locks.len(), first).len();
        if servers != names.of_kind(NodeKind::Service).count() {
            let message = "an edit changes how many nodes there are; write it into the scenario";
            self.wrong(&["edits"], 0, message);
        }
    }

    /// What is wrong with a setting's value in this scenario, although it is one of the setting's.
    fn unfit(&self, settings: &Settings, key: &str, text: &str) -> Option<String> {
        let spec = settings.specs().iter().find(|s| s.key == key)?;
        let clients = &self.scenario.clients;
        if spec.kind == Kind::Client && text != "none" && !clients.contains_key(text) {
            let known = list(["none"].into_iter().chain(clients.keys().map(String::as_str)));
            return Some(format!("found `{text}` for {key}, expected one of {known}"));
        }
        let needs = key == "gateway.bypass" || (key, text) == ("resource.check", "gateway");
        (needs && text != "none" && !self.scenario.gateway)
            .then(|| "the scenario has no gateway; write `gateway = true` in it".to_string())
    }

    fn span(&mut self, path: &[&str], text: &str) -> Option<Micros> {
        let span = Micros::parse(text);
        if span.is_none() {
            let message = format!(
                "found `{text}`, expected a duration such as `250ms` or `3s`, not negative"
            );
            self.wrong(path, 0, message);
        }
        span
    }

    /// Nodes in lane order (clients, lock service, resources), and the locks.
    fn names(&mut self, system: &dyn System, settings: &Settings) -> (Names, Vocabulary) {
        let s = self.scenario;
        let mut names = Names {
            token_word: system.token_word(),
            group: system.group(),
            traffic: system.traffic(),
            rules: system.rules(),
            ..Names::default()
        };
        for (id, client) in &s.clients {
            let label = client.label.clone().unwrap_or_else(|| label_of(id));
            names.nodes.push(Node { id: id.clone(), label, kind: NodeKind::Client });
            if let Some(text) = &client.start {
                self.span(&["clients", id, "start"], text);
            }
        }
        if s.clients.is_empty() {
            self.wrong(&["clients"], 0, "expected at least one client");
        }
        if s.locks.is_empty() {
            self.wrong(&["locks"], 0, "expected at least one lock");
        }
        let first = ProcId(names.nodes.len() as u16);
        for (id, label, _) in system.servers(settings, s.locks.len(), first) {
            names.nodes.push(Node { id, label, kind: NodeKind::Service });
        }
        if names.led() && names.of_kind(NodeKind::Service).nth(1).is_none() {
            // One alone stands under no common name.
            names.group = None;
        }
        if s.gateway {
            let (id, label) = ("gateway".to_string(), "Gateway".to_string());
            names.nodes.push(Node { id, label, kind: NodeKind::Gateway });
        }
        if !s.cells.is_empty() || s.resources.is_empty() {
            let (id, label) = ("resource".to_string(), "Resource".to_string());
            names.nodes.push(Node { id, label, kind: NodeKind::Resource });
        }
        for (id, resource) in &s.resources {
            let label = resource.label.clone().unwrap_or_else(|| label_of(id));
            names.nodes.push(Node { id: id.clone(), label, kind: NodeKind::Resource });
        }
        self.check_ids(&names);
        self.check_locks();
        names.locks.clone_from(&s.locks);
        let gateway = names.of_kind(NodeKind::Gateway).next();
        let locks = s.locks.clone();
        let exclusive = system.exclusive();
        let stepless = system.stepless();
        let vocabulary =
            Vocabulary { locks, gateway, exclusive, stepless, ..Vocabulary::default() };
        (names, vocabulary)
    }

    fn check_locks(&mut self) {
        for (index, lock) in self.scenario.locks.iter().enumerate() {
            let good = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
            let path = ["locks", &index.to_string()];
            let named = lock.chars().all(good) && lock.starts_with(char::is_alphabetic);
            if !named || RESERVED.contains(&lock.as_str()) {
                let message = format!(
                    "found `{lock}`, expected a name of letters, digits, `_` and `-` that is no \
                     word of the grammar"
                );
                self.wrong(&path, 0, message);
            }
            if self.scenario.locks[..index].contains(lock) {
                self.wrong(&path, 0, format!("two locks are called `{lock}`"));
            }
        }
    }

    fn check_ids(&mut self, names: &Names) {
        if names.nodes.len() > MOST_NODES {
            self.wrong(&["clients"], 0, format!("expected at most {MOST_NODES} nodes in all"));
        }
        for (index, node) in names.nodes.iter().enumerate() {
            let section = if node.kind == NodeKind::Client { "clients" } else { "resources" };
            let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            if !node.id.chars().all(good) || !node.id.starts_with(|c: char| c.is_ascii_lowercase())
            {
                let message = format!(
                    "found `{}`, expected an id of lower-case letters, digits and `-`",
                    node.id
                );
                self.wrong(&[section, &node.id], 0, message);
            }
            if names.nodes[..index].iter().any(|other| other.id == node.id) {
                self.wrong(&[section, &node.id], 0, format!("two nodes are called `{}`", node.id));
            }
        }
    }

    fn cells(&mut self, names: &mut Names, vocabulary: &mut Vocabulary) -> Vec<(CellId, i64)> {
        let s = self.scenario;
        let mut initial = Vec::new();
        let mut add = |home: &str, cell: &str, value: i64, guard: LockId, names: &mut Names| {
            let Some(home) = names.find(home) else { return };
            initial.push((CellId(names.cells.len() as u16), value));
            names.cells.push(cell.to_string());
            names.guards.push(guard);
            names.homes.push(home);
        };
        for (cell, value) in &s.cells {
            add("resource", cell, *value, LockId(0), names);
        }
        let mut unknown = Vec::new();
        for (id, resource) in &s.resources {
            let guard = match &resource.lock {
                None => Some(0),
                Some(lock) => s.locks.iter().position(|l| l == lock),
            };
            let guard = guard.unwrap_or_else(|| {
                unknown.push(id.clone());
                0
            });
            for (cell, value) in &resource.cells {
                add(id, cell, *value, LockId(guard as u16), names);
            }
        }
        for id in unknown {
            let known = list(s.locks.iter().map(String::as_str));
            self.wrong(
                &["resources", &id, "lock"],
                0,
                format!("no such lock; the locks are {known}"),
            );
        }
        self.check_cells(names);
        vocabulary.cells.clone_from(&names.cells);
        vocabulary.guards.clone_from(&names.guards);
        vocabulary.homes.clone_from(&names.homes);
        initial
    }

    fn check_cells(&mut self, names: &Names) {
        if names.cells.len() > MOST_CELLS {
            self.wrong(&["cells"], 0, format!("expected at most {MOST_CELLS} cells in all"));
        }
        for (index, cell) in names.cells.iter().enumerate() {
            if names.cells[..index].contains(cell) || RESERVED.contains(&cell.as_str()) {
                self.wrong(&["cells", cell], 0, format!("the name `{cell}` is taken"));
            }
            let good = |c: char| c.is_alphanumeric() || c == '_';
            if !cell.chars().all(good) || !cell.starts_with(char::is_alphabetic) {
                let message = format!("found `{cell}`, expected a name of letters, digits and `_`");
                self.wrong(&["cells", cell], 0, message);
            }
        }
    }

    fn invariant(&mut self, names: &Names) -> Option<Expr> {
        let text = self.scenario.invariant.as_ref()?;
        let mut variables = names.cells.clone();
        variables.push("done".into());
        let mut scanner = Scanner::new(text);
        let parsed = Expr::parse(&mut scanner, &variables).and_then(|e| scanner.end().map(|()| e));
        match parsed {
            Ok(expr) => Some(expr),
            Err(error) => {
                self.wrong(&["invariant"], error.at, error.message);
                None
            }
        }
    }

    fn edits(&mut self, texts: &[String], names: &Names, cannot: &Cannot<'_>) -> Vec<Edit> {
        if texts.len() > MOST_EDITS {
            let found = texts.len();
            let message = format!("found {found} edits, expected at most {MOST_EDITS} in a run");
            self.wrong(&["edits", &MOST_EDITS.to_string()], 0, message);
            return Vec::new();
        }
        let ids: Vec<&str> = names.nodes.iter().map(|n| n.id.as_str()).collect();
        let mut edits = Vec::new();
        for (index, text) in texts.iter().enumerate() {
            match parse_edit(text, &ids) {
                Ok(edit) => {
                    self.check_edit(&edit, index, text, names);
                    if let Err((at, message)) = self.check_order(&edit, text, names, cannot) {
                        self.wrong(&["edits", &index.to_string()], at, message);
                    }
                    edits.push(edit);
                }
                Err(error) => self.wrong(&["edits", &index.to_string()], error.at, error.message),
            }
        }
        edits
    }

    /// What the grammar alone cannot see: a stop before a word, or of a task, needs a program.
    fn check_edit(&mut self, edit: &Edit, index: usize, text: &str, names: &Names) {
        let index = index.to_string();
        if let Action::Halt(whom, when, _) = &edit.action {
            let (node, task) = (whom.node(), whom.task());
            let lane = names.find(node).map_or(usize::MAX, |p| usize::from(p.0));
            let found = names.task(node, task);
            let lines = found.and_then(|t| names.programs.get(lane)?.get(t));
            match (when, whom) {
                (_, Whom::Task(..)) if found.is_none() => {
                    let tasks = names.tasks.get(lane).map_or(&[][..], |t| t);
                    let known = list(tasks.iter().map(|t| t.as_str()));
                    let message = match tasks {
                        [] => format!("`{node}` runs no program and has no tasks"),
                        _ => format!("`{node}` has no task `{task}`; its tasks are {known}"),
                    };
                    self.wrong(&["edits", &index], place_of(text, task), message);
                }
                (When::Before(word, _), _) => {
                    let first_word = |l: &String| l.split_whitespace().next() == Some(word);
                    if !lines.is_some_and(|lines| lines.iter().any(first_word)) {
                        let message =
                            format!("the {task} program of `{node}` has no line `{word}`");
                        self.wrong(&["edits", &index], 0, message);
                    }
                }
                (When::At(_), _) => {}
            }
        }
        if let Action::Send(node, ..) = &edit.action {
            let lane = names.find(node).map(|p| names.node(p).kind);
            let checks = |kind| matches!(kind, NodeKind::Resource | NodeKind::Gateway);
            if !lane.is_some_and(checks) {
                let known = names.nodes.iter().filter(|n| n.kind == NodeKind::Resource);
                let known = list(known.map(|n| n.id.as_str()));
                let message = format!("`{node}` checks no token; the resources are {known}");
                self.wrong(&["edits", &index], place_of(text, node), message);
            }
        }
    }

    /// An order needs servers that can carry it out, and a lock that exists.
    fn check_order(
        &self,
        edit: &Edit,
        text: &str,
        names: &Names,
        cannot: &Cannot<'_>,
    ) -> Result<(), (usize, String)> {
        let Some((order, nodes)) = order(edit, names, 1) else { return Ok(()) };
        let servers = names.of_kind(NodeKind::Service);
        let known = list(servers.map(|p| names.node(p).id.as_str()));
        let is_server =
            |id: &str| names.find(id).is_some_and(|p| names.node(p).kind == NodeKind::Service);
        if let Some(other) = nodes.iter().find(|id| !is_server(id)) {
            let message = format!("`{other}` is no server of the lock service; those are {known}");
            return Err((place_of(text, other), message));
        }
        if let Some(why) = cannot(order) {
            let (word, system) = (order.word(), &self.scenario.system);
            return Err((place_of(text, word), format!("no `{word}` under `{system}`: {why}")));
        }
        match &edit.action {
            Action::Evict(_, lock, _) if !names.locks.contains(lock) => {
                let locks = list(names.locks.iter().map(String::as_str));
                Err((place_of(text, lock), format!("no lock `{lock}`; the locks are {locks}")))
            }
            _ => Ok(()),
        }
    }

    /// Applies the settings that hold from the start; returns those that change later, in order.
    fn set_from_start(
        &mut self,
        edits: &[Edit],
        texts: &[String],
        settings: &mut Settings,
    ) -> Vec<(Micros, usize, Settings)> {
        let mut later = Vec::new();
        for (index, edit) in edits.iter().enumerate() {
            let Action::Set(key, value, at) = &edit.action else { continue };
            let path = ["edits".to_string(), index.to_string()];
            let path = [path[0].as_str(), path[1].as_str()];
            let text = texts.get(index).map_or("", String::as_str);
            let mut scratch = settings.clone();
            let set = if at.is_none() { settings.set(key, value) } else { scratch.set(key, value) };
            if let Err(error) = set {
                let culprit = if matches!(error, SettingsError::Key(_)) { key } else { value };
                self.wrong(&path, place_of(text, culprit), error.to_string());
            } else if let Some(message) = self.unfit(settings, key, value) {
                self.wrong(&path, place_of(text, value), message);
            }
            if let Some(at) = at {
                let whole = |k: &&str| {
                    key.strip_prefix(k).is_some_and(|r| r.is_empty() || r.starts_with('.'))
                };
                if FIXED.iter().any(whole) {
                    let message = format!("`{key}` holds for a whole run; write it without `at`");
                    self.wrong(&path, place_of(text, key), message);
                }
                later.push((*at, index, key, value));
            }
        }
        sort_by_key(&mut later, |l| l.0);
        let mut current = settings.clone();
        let mut changes = Vec::new();
        for (at, index, key, value) in later {
            if current.set(key, value).is_ok() {
                changes.push((at, index, current.clone()));
            }
        }
        changes
    }

    fn procs(
        &mut self,
        system: &dyn System,
        settings: &Settings,
        names: &Names,
        vocabulary: &Vocabulary,
        programs: &Programs,
        initial: &[(CellId, i64)],
    ) -> Vec<ProcPlan<Locks>> {
        let services: Vec<ProcId> = names.of_kind(NodeKind::Service).collect();
        let mut servers: Table<String, _> = system
            .servers(settings, names.locks.len(), services.first().copied().unwrap_or(ProcId(0)))
            .into_iter()
            .map(|(id, _, actor)| (id, actor))
            .collect();
        let mut procs = Vec::new();
        for (index, node) in names.nodes.iter().enumerate() {
            let mut start = Micros::ZERO;
            let actor: Box<dyn sim::Actor<Locks>> = match node.kind {
                NodeKind::Client => {
                    let spec = self.scenario.clients.get(&node.id);
                    let text = spec.and_then(|spec| spec.start.as_deref()).unwrap_or_default();
                    start = Micros::parse(text).unwrap_or_default();
                    let library = system.client(settings, &services);
                    Box::new(Client::new(&node.id, settings, library, vocabulary))
                }
                NodeKind::Service => match servers.remove(&node.id) {
                    Some(actor) => actor,
                    None => continue,
                },
                NodeKind::Resource => {
                    let home = |c: &&(CellId, i64)| {
                        usize::from(names.homes[usize::from(c.0.0)].0) == index
                    };
                    let cells = initial.iter().filter(home).copied();
                    Box::new(Resource::new(settings, system.witnesses(&services), cells))
                }
                NodeKind::Gateway => Box::new(Gateway::new(settings, names.homes.clone())),
            };
            let (tasks, locals) = &programs[index];
            procs.push(ProcPlan {
                actor,
                tasks: tasks.clone(),
                locals: locals.locals.len(),
                counters: locals.counters,
                start,
                clocks: Clocks::TRUE,
            });
        }
        procs
    }
}

/// Why the servers cannot carry out an order.
type Cannot<'a> = dyn Fn(Order) -> Option<&'static str> + 'a;

/// The order that an edit gives, and the nodes that it names, the one that gets it last; `number` counts
/// such orders of a run.
fn order<'e>(edit: &'e Edit, names: &Names, number: u32) -> Option<(Order, Vec<&'e str>)> {
    let id = |name: &str| names.find(name).unwrap_or(ProcId(0));
    match &edit.action {
        Action::FailOver(from, to, _) => {
            Some((Order::Lead { after: id(from), number }, vec![from, to]))
        }
        Action::Evict(node, lock, _) => {
            let lock = names.locks.iter().position(|l| l == lock).unwrap_or(0);
            Some((Order::Evict(LockId(lock as u16)), vec![node]))
        }
        _ => None,
    }
}

/// How many orders of one server to lead are due before this one, and itself.
fn rank(edits: &[Edit], index: usize, at: Micros) -> u32 {
    let earlier = edits.iter().enumerate().filter(|(other, edit)| {
        matches!(&edit.action, Action::FailOver(_, _, when) if (*when, *other) <= (at, index))
    });
    earlier.count() as u32
}

fn any(programs: &Programs, is: impl Fn(&Op) -> bool) -> bool {
    programs.iter().flat_map(|p| p.0.iter()).flat_map(|t| &t.lines).any(|l| match &l.instr {
        Instr::Call(op) => is(op),
        _ => false,
    })
}

/// Where `word` last stands in `text`, in Unicode scalar values.
pub(super) fn place_of(text: &str, word: &str) -> usize {
    text.rfind(word).map_or(0, |byte| text[..byte].chars().count())
}

/// `Client A` for `client-a`.
fn label_of(id: &str) -> String {
    let mut label = String::new();
    for (index, word) in id.split('-').enumerate() {
        let mut chars = word.chars();
        let Some(first) = chars.next() else { continue };
        if index > 0 {
            label.push(' ');
        }
        if index == 0 || word.len() == 1 {
            label.push(first.to_ascii_uppercase());
        } else {
            label.push(first);
        }
        label.push_str(chars.as_str());
    }
    label
}

/// Puts the edits where the simulator looks for them. Names were checked before.
fn place_edits(
    plan: &mut Plan<Locks>,
    names: &Names,
    edits: &[Edit],
    settings: Vec<(Micros, usize, Settings)>,
) {
    let id = |name: &str| names.find(name).unwrap_or(ProcId(0));
    let both = |pairs: Vec<(&str, &str)>| pairs.into_iter().map(|(a, b)| (id(a), id(b))).collect();
    for (index, edit) in edits.iter().enumerate() {
        let mut fault = |at: &Micros, fault| plan.faults.push((*at, fault, index));
        match &edit.action {
            Action::Halt(Whom::Process(how, node), When::At(at), span) => {
                fault(at, Fault::Halt(id(node), *how, *span));
            }
            Action::Halt(Whom::Task(node, task), When::At(at), span) => {
                let task = names.task(node, task).unwrap_or(0);
                fault(at, Fault::PauseTask(id(node), task, *span));
            }
            Action::Halt(whom, When::Before(word, number), span) => {
                let halt = if let Whom::Process(how, _) = whom { Some(*how) } else { None };
                let task = names.task(whom.node(), whom.task()).unwrap_or(0);
                let (proc, word, number) = (id(whom.node()), word.clone(), *number);
                let (span, edit) = (*span, index);
                plan.stops.push(Stop { proc, task, word, number, halt, span, edit });
            }
            Action::Cut(ways, at, span) => fault(at, Fault::Cut(both(ways.pairs()), *span)),
            Action::Heal(ways, at) => fault(at, Fault::Heal(both(ways.pairs()))),
            Action::Crash(node, how, at) => fault(at, Fault::Crash(id(node), *how)),
            Action::Clock(node, by, at) => fault(at, Fault::ClockStep(id(node), *by)),
            Action::Rate(node, rate, at) => fault(at, Fault::ClockRate(id(node), *rate)),
            Action::Restart(node, at) => fault(at, Fault::Restart(id(node))),
            Action::Drop(from, to, n) => {
                plan.message_faults.push((id(from), id(to), *n, MessageFault::Drop, index));
            }
            Action::Delay(from, to, n, span) => {
                plan.message_faults.push((id(from), id(to), *n, MessageFault::Delay(*span), index));
            }
            Action::Duplicate(from, to, n, later) => {
                let copy = MessageFault::Duplicate(*later);
                plan.message_faults.push((id(from), id(to), *n, copy, index));
            }
            Action::Send(node, token, at) => {
                let node = id(node);
                // A resource's cells all have one guard; without cells it is the first lock.
                let cell = names.homes.iter().position(|home| *home == node);
                let lock = cell.and_then(|c| names.guards.get(c)).copied().unwrap_or(LockId(0));
                let body = by_hand(lock, Token(*token));
                fault(&at.unwrap_or_default(), Fault::Outside(node, body));
            }
            Action::FailOver(_, _, at) | Action::Evict(_, _, at) => {
                if let Some((order, nodes)) = order(edit, names, rank(edits, index, *at)) {
                    let to = nodes.last().map_or(ProcId(0), |node| id(node));
                    fault(at, Fault::Outside(to, order.body()));
                }
            }
            Action::Set(..) => {}
        }
    }
    for (at, index, settings) in settings {
        plan.faults.push((at, Fault::Set(Rc::new(settings)), index));
    }
}
