//! Transcripts of ZooKeeper: requests of raw connections, sessions that are known by name, servers
//! that are known by their part in the ensemble.

mod answers;
pub mod cli;
mod herd;
mod kazoo;
mod ops;
mod roles;
mod scene;
pub mod shown;

use std::rc::Rc;

use serde_json::{Value, json};

use super::args::Args;
use super::compare::{Did, Difference, Symbols, any_order_after};
use super::deed::Deed;
use super::drive::{Drive, PATIENCE};
use super::protocol::{NotModelled, Protocol, Word};
use super::stage::{Stage, clients, span};
use super::transcript::{Event, Step, Transcript};
use crate::sim::{Micros, ProcId, Table};
use crate::systems::Body;
use crate::systems::zookeeper::{Change, Packet, Password, Path, Reply, Request, SessionId, Zxid};
use answers::Said;
use kazoo::Diary;
use roles::Roles;

/// What reached a client unasked.
#[derive(Clone, Debug)]
pub enum Push {
    /// A watch has fired.
    Watch(Change, Path),
    /// What a library has told its application, since it went on.
    Log(Value),
}

/// A client's connection.
#[derive(Clone, Default, Debug)]
struct Line {
    /// The server at its other end; none where it is closed.
    server: Option<ProcId>,
    /// The server at the other end of the last one.
    last: Option<ProcId>,
    /// Whether that server closed it.
    closed_by_server: bool,
    /// The latest transaction of which its client has heard.
    seen: Zxid,
    /// The same, when the last connection was lost.
    seen_at_loss: Zxid,
    /// When something was last sent on it.
    asked: Micros,
}

/// What is known beside the world: connections, passwords, who leads.
pub struct ZooKeeper {
    lines: Table<ProcId, Line>,
    passwords: Table<SessionId, Password>,
    /// Who asked what, until it is answered.
    asked: Table<u64, (ProcId, Rc<Request>)>,
    roles: Roles,
    diaries: Table<ProcId, Diary>,
}

impl Protocol for ZooKeeper {
    type Reply = (Rc<Reply>, Zxid);
    type Push = Push;
    type Said = Said;

    /// Only what waits for another server is not answered at once.
    const SETTLE: Micros = Micros::from_millis(20);

    fn open(transcript: &Transcript, turn: usize) -> Result<(ZooKeeper, Stage), NotModelled> {
        scene::version(&transcript.version)?;
        let described = scene::described(&transcript.server)?;
        let (servers, modes) = scene::servers(&described);
        let names: Vec<String> = servers.iter().map(|server| server.0.clone()).collect();
        let mut clients = clients(transcript, &names);
        let minded = kazoo::minds(transcript);
        clients.retain(|name| !minded.contains(name));
        clients.extend((1..=herd::most(transcript)).map(herd::name));
        let everyone = names.len();
        let minds = minded.iter().map(|name| kazoo::mind(name, everyone));
        let (minds, diaries): (Vec<_>, Vec<Diary>) = minds.unzip();
        let mut stage = Stage::new(servers, clients, minds);
        let mut roles = Roles::new(modes, turn);
        roles.begin(&mut stage);
        let found = minded.iter().filter_map(|name| stage.find(name));
        let zookeeper = ZooKeeper {
            lines: Table::new(),
            passwords: Table::new(),
            asked: Table::new(),
            roles,
            diaries: found.zip(diaries).collect(),
        };
        Ok((zookeeper, stage))
    }

    fn turns(&self) -> usize {
        self.roles.turns()
    }

    fn word(body: &Body) -> Option<Word<Self::Reply, Push>> {
        match body.get::<Packet>()? {
            Packet::Answer(reply, zxid) => Some(Word::Answer(body.request, (reply.clone(), *zxid))),
            Packet::Event(change, path) => Some(Word::Push(Push::Watch(*change, path.clone()))),
            Packet::Close => Some(Word::Close),
            Packet::Ask(_) => None,
        }
    }

    fn farewell() -> Body {
        Body::new("close", 0, Packet::Close)
    }

    fn said(&mut self, request: u64, (reply, zxid): Self::Reply, before: usize) -> Said {
        let Some((client, asked)) = self.asked.remove(&request) else {
            return answers::answer(&Request::Ping, &reply, zxid, before);
        };
        if let Reply::Connected { session, password, .. } = &*reply {
            self.passwords.insert(*session, *password);
        }
        let line = self.lines.entry(client).or_default();
        line.seen = line.seen.max(zxid);
        answers::answer(&asked, &reply, zxid, before)
    }

    fn lost(&mut self, client: ProcId, server: ProcId) {
        let line = self.lines.entry(client).or_default();
        if line.server == Some(server) {
            (line.server, line.closed_by_server) = (None, true);
            line.seen_at_loss = line.seen;
        }
    }

    fn dropped(&mut self, client: ProcId, server: ProcId) {
        self.lost(client, server);
        self.lines.entry(client).or_default().closed_by_server = false;
    }

    fn ask(drive: &mut Drive<'_, ZooKeeper>, step: &Step) -> Result<Did<Said>, NotModelled> {
        if step.client == "harness" {
            return herd::experiment(drive, step);
        }
        if step.argv.is_some() || step.node.is_some() {
            return Err(format!("{} with `argv` or `node` beside its arguments", step.name));
        }
        let client = drive.stage.client(&step.client).ok_or("a client without a name")?;
        if step.name.starts_with("kazoo.") {
            return kazoo::asked(drive, client, step);
        }
        if drive.protocol.has_a_mind(client) {
            return Err(format!("{} past the library of {}", step.name, step.client));
        }
        if step.name == "connect" {
            return connect(drive, client, step);
        }
        let seen = |said: &Value| seen(drive, said);
        let request = ops::request(&Args::new(&step.name, &step.args), &seen)?;
        let Some(server) = drive.protocol.lines.get(&client).and_then(|line| line.server) else {
            return Ok(Did::ConnectionClosed);
        };
        let request = say(drive, client, server, request);
        let did = drive.answer(step, client, server, request)?;
        drive.stage.settle();
        Ok(did)
    }

    fn change(
        drive: &mut Drive<'_, ZooKeeper>,
        step: &Step,
        args: &Args<'_>,
    ) -> Result<Option<Did<Said>>, NotModelled> {
        Ok(Some(match step.name.as_str() {
            "ping" => {
                let client = connection(drive, args)?;
                args.done()?;
                ping(drive, client)
            }
            "socket_state" => {
                let client = connection(drive, args)?;
                args.done()?;
                let line = drive.protocol.lines.get(&client).filter(|line| line.last.is_some());
                let closed = line.ok_or("the state of a socket that never was")?.closed_by_server;
                Did::Answered(Said(json!({ "type": "closed_by_server", "value": closed })))
            }
            "wait_for_event" => {
                let client = connection(drive, args)?;
                wait_for_event(drive, client, args)?
            }
            "epochs" => {
                args.done()?;
                epochs(drive, step)?
            }
            "new_leader_elected" => {
                let followed = match args.text("was")? {
                    None => false,
                    Some("a follower") => true,
                    Some(_) => return Err(args.wrong("was")),
                };
                args.done()?;
                new_leader(drive, followed)
            }
            "role" => {
                let server = drive.node(Some(role(args.word("of")?)))?;
                args.done()?;
                match drive.protocol.roles.await_mode(&mut drive.stage, server) {
                    Some(mode) => Did::Answered(Said(json!({ "type": "role", "value": mode }))),
                    None => Did::Failed("it knows no leader".into()),
                }
            }
            _ => return Ok(None),
        }))
    }

    fn changed(drive: &mut Drive<'_, ZooKeeper>, step: &Step, deed: &Deed) -> Option<Did<Said>> {
        match deed {
            Deed::Restart(server) => {
                let (roles, stage) = (&drive.protocol.roles, &mut drive.stage);
                // Too few that are alive find no leader, however long anybody waits.
                let up = !roles.most_live(stage) || roles.await_mode(stage, *server).is_some();
                drive.listen();
                (!up).then(|| Did::Failed("it finds no leader".into()))
            }
            Deed::Stop(client) => {
                kazoo::suspended(drive, *client);
                None
            }
            Deed::GoOn(client) => {
                kazoo::resumed(drive, *client, step);
                None
            }
            _ => None,
        }
    }

    fn server_named<'a>(args: &Args<'a>) -> Result<Option<&'a str>, NotModelled> {
        for name in ["role", "server", "node"] {
            if let Some(named) = args.text(name)? {
                return Ok(Some(role(named)));
            }
        }
        Ok(None)
    }

    fn has_a_mind(&self, client: ProcId) -> bool {
        self.diaries.contains_key(&client)
    }

    fn is_connected(&self, client: ProcId, server: ProcId) -> bool {
        self.lines.get(&client).is_some_and(|line| line.server == Some(server))
    }

    fn server(drive: &Drive<'_, ZooKeeper>, name: Option<&str>) -> Option<ProcId> {
        drive.protocol.roles.find(&drive.stage, name)
    }

    fn changes_nothing(&self, step: &Step) -> bool {
        ops::changes_nothing(&step.name)
    }

    fn any_order(transcript: &Transcript, step: &Step) -> bool {
        transcript.order.iter().any(|text| any_order_after(text) == Some(step.number))
    }

    fn awaited(transcript: &Transcript, step: &Step, client: &str) -> bool {
        let next = transcript.steps.iter().find(|next| next.number == step.number + 1);
        next.is_some_and(|next| {
            next.client == client && next.reply.get("events_before_reply").is_some()
        })
    }

    fn compare(recorded: &Value, said: &Said, symbols: &mut Symbols) -> Result<(), Difference> {
        answers::compare(recorded, said, symbols)
    }

    fn knows(kind: &str) -> bool {
        answers::FORMS.contains(&kind)
    }

    fn compare_push(event: &Event, push: &Push, symbols: &mut Symbols) -> Result<(), Difference> {
        match push {
            Push::Watch(change, path) => {
                answers::same("an event", &event.what, &answers::event(*change, path), symbols)
            }
            Push::Log(log) => answers::same("an event", &event.what, log, symbols),
        }
    }

    fn knows_event(kind: &str) -> bool {
        ["watch", "client_log"].contains(&kind)
    }

    fn function(name: &str, value: i128) -> Option<i128> {
        (name == "epoch").then_some(value >> 32)
    }

    fn told(said: &Said) -> String {
        answers::told(said)
    }

    fn told_push(push: &Push) -> String {
        match push {
            Push::Watch(change, path) => format!("{} {}", change.name(), path.as_str()),
            Push::Log(log) => answers::told(&Said(log.clone())),
        }
    }
}

/// A server by its part or by its name: `role:leader` is `leader`.
fn role(named: &str) -> &str {
    named.strip_prefix("role:").unwrap_or(named)
}

/// The raw connection that a step is about.
fn connection(drive: &Drive<'_, ZooKeeper>, args: &Args<'_>) -> Result<ProcId, NotModelled> {
    let client = drive.stage.client(args.word("client")?);
    let raw = client.filter(|client| !drive.protocol.has_a_mind(*client));
    raw.ok_or_else(|| args.wrong("client"))
}

/// Waits until another server leads; whether it followed the one that led before.
fn new_leader(drive: &mut Drive<'_, ZooKeeper>, followed: bool) -> Did<Said> {
    let before = drive.protocol.roles.followers().to_vec();
    let elected = drive.wait_until(|drive| {
        let (roles, stage) = (&mut drive.protocol.roles, &drive.stage);
        roles.elected(stage)
    });
    let leader = drive.protocol.roles.leader();
    match (elected, leader.is_some_and(|leader| before.contains(&leader)) || !followed) {
        (false, _) => Did::Failed("nobody leads".into()),
        (true, false) => Did::Failed("whoever leads was no follower".into()),
        (true, true) => Did::Done,
    }
}

/// A client sends a request; the number is that of its answer.
fn say(drive: &mut Drive<'_, ZooKeeper>, client: ProcId, server: ProcId, request: Request) -> u64 {
    let number = drive.stage.next_request();
    let request = Rc::new(request);
    drive.protocol.asked.insert(number, (client, request.clone()));
    let line = drive.protocol.lines.entry(client).or_default();
    line.asked = drive.stage.now();
    let body = Body::new(request.name(), number, Packet::Ask(request));
    drive.stage.say(client, server, body);
    number
}

/// A client opens a connection, for a new session or for one that it names. Where servers elect or
/// have only just started it tries again, as the one that was recorded did.
fn connect(
    drive: &mut Drive<'_, ZooKeeper>,
    client: ProcId,
    step: &Step,
) -> Result<Did<Said>, NotModelled> {
    let args = Args::new(&step.name, &step.args);
    // A span below none is bounded like none.
    let timeout = span(args.number("timeout_ms")?.max(0))?;
    let session = session(drive, &args)?;
    let seen = match args.take("last_zxid_seen") {
        Some(said) => seen(drive, said)?,
        None => Zxid::default(),
    };
    let named = ZooKeeper::server_named(&args)?;
    args.done()?;
    if let Some(server) = drive.protocol.lines.get(&client).and_then(|line| line.server) {
        drive.stage.hang_up(client, server, Some(ZooKeeper::farewell()));
        drive.protocol.dropped(client, server);
        drive.stage.settle();
    }
    let wanted = step.reply.get("type").and_then(Value::as_str).unwrap_or_default();
    let insists = ["connected", "session_expired"].contains(&wanted);
    let until = drive.stage.now().plus(PATIENCE);
    let last = drive.protocol.lines.get(&client).and_then(|line| line.last);
    let free = drive.protocol.roles.survivor(&drive.stage, named, last);
    loop {
        let meant = free.or_else(|| drive.protocol.roles.goes_to(&drive.stage, named));
        let server = meant.map_or_else(|| drive.node(named), Ok)?;
        let did = if drive.stage.is_down(server) {
            Did::ConnectionRefused
        } else {
            let line = drive.protocol.lines.entry(client).or_default();
            (line.server, line.last) = (Some(server), Some(server));
            line.closed_by_server = false;
            let request = Request::Connect { session, timeout, seen };
            let request = say(drive, client, server, request);
            drive.answer(step, client, server, request)?
        };
        drive.stage.settle();
        let refused = matches!(did, Did::ConnectionRefused | Did::ConnectionClosed);
        if !refused || !insists || drive.stage.now() >= until {
            return Ok(did);
        }
        drive.stage.pass(Micros::from_millis(100));
        drive.listen();
    }
}

/// The session that a client names, with what proves it.
fn session(
    drive: &Drive<'_, ZooKeeper>,
    args: &Args<'_>,
) -> Result<Option<(SessionId, Password)>, NotModelled> {
    let id = match args.need("session")? {
        Value::Number(number) if number.as_u64() == Some(0) => return Ok(None),
        Value::String(name) => drive.symbols.get(name),
        _ => None,
    };
    let id = id.and_then(|id| u64::try_from(id).ok()).map(SessionId);
    let id = id.ok_or("connect with a session that nobody has")?;
    let password = drive.protocol.passwords.get(&id).copied().unwrap_or(Password(0));
    match args.text("password")? {
        None => Ok(Some((id, password))),
        // No password has the bits of another one turned around.
        Some("wrong") => Ok(Some((id, Password(!password.0)))),
        Some(_) => Err(args.wrong("password")),
    }
}

/// What a client says that it has seen: a transaction by its name or number, or what somebody had seen
/// when its connection was lost.
fn seen(drive: &Drive<'_, ZooKeeper>, said: &Value) -> Result<Zxid, NotModelled> {
    let unknown = || format!("what a client has seen: {said}");
    let of = |name: &str| drive.stage.find(name).filter(|_| !name.is_empty());
    match said {
        Value::Number(number) => number.as_u64().map(Zxid).ok_or_else(unknown),
        Value::String(text) => {
            if let Some(number) = drive.symbols.get(text) {
                return u64::try_from(number).map(Zxid).map_err(|_| unknown());
            }
            let rest = text.strip_prefix("last zxid ").ok_or_else(unknown)?;
            let whose = rest.strip_suffix(" saw before the drop").and_then(of);
            let line = whose.and_then(|whose| drive.protocol.lines.get(&whose));
            line.map(|line| line.seen_at_loss).ok_or_else(unknown)
        }
        _ => Err(unknown()),
    }
}

fn ping(drive: &mut Drive<'_, ZooKeeper>, client: ProcId) -> Did<Said> {
    let Some(server) = drive.protocol.lines.get(&client).and_then(|line| line.server) else {
        return Did::ConnectionClosed;
    };
    let request = say(drive, client, server, Request::Ping);
    match drive.wait(client, server, request, PATIENCE, false) {
        Did::Answered(_) => Did::Done,
        other => other,
    }
}

/// Waits until something comes to a client unasked, and looks how late that is.
fn wait_for_event(
    drive: &mut Drive<'_, ZooKeeper>,
    client: ProcId,
    args: &Args<'_>,
) -> Result<Did<Said>, NotModelled> {
    let mut limits = Vec::new();
    for (name, bounds) in args.rest() {
        let whose = name.strip_prefix("elapsed_since_last_request_of_");
        let whose = whose.and_then(|name| name.strip_suffix("_ms"));
        let whose = whose.and_then(|name| drive.stage.client(name));
        let line = whose.and_then(|whose| drive.protocol.lines.get(&whose));
        let asked = line.ok_or_else(|| args.wrong(name))?.asked;
        // What the bounds mean is looked at before anybody waits.
        match super::compare::is_within(bounds, 0) {
            Ok(_) => limits.push((bounds, asked)),
            Err(_) => return Err(args.wrong(name)),
        }
    }
    if !drive.wait_until(|drive| drive.unasked(client) > 0) {
        return Ok(Did::Failed("nothing came".into()));
    }
    for (bounds, asked) in limits {
        let elapsed = drive.stage.now().since(asked);
        let thousandths = i64::try_from(elapsed.0).unwrap_or(i64::MAX);
        if super::compare::is_within(bounds, thousandths) != Ok(true) {
            return Ok(Did::Failed(format!("it came after {elapsed}")));
        }
    }
    drive.stage.settle();
    Ok(Did::Done)
}

/// The epochs of two transactions that the record names.
fn epochs(drive: &Drive<'_, ZooKeeper>, step: &Step) -> Result<Did<Said>, NotModelled> {
    let of = |side: &str| {
        let name = step.reply.get(side).and_then(|side| side.get("of")).and_then(Value::as_str);
        let name = name.ok_or_else(|| format!("epochs without `{side}`"))?;
        let zxid = drive.symbols.get(name).ok_or_else(|| format!("the epoch of `{name}`"))?;
        Ok::<_, NotModelled>((name.to_string(), zxid >> 32, zxid & 0xFFFF_FFFF))
    };
    let (before, after) = (of("before")?, of("after")?);
    let told = |(name, epoch, _): &(String, i128, i128)| json!({ "of": name, "epoch": i64::try_from(*epoch).unwrap_or(i64::MAX) });
    Ok(Did::Answered(Said(json!({
        "type": "zxid_epochs",
        "before": told(&before),
        "after": told(&after),
        "low32_restarts": after.2 < before.2,
    }))))
}
