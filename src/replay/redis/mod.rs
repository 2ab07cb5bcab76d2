//! Transcripts of Redis and Valkey: what was sent word for word, and RESP in answer.

mod answers;
mod argv;
mod names;
mod redlock;
mod scene;
pub mod typed;

use serde_json::Value;

use super::args::Args;
use super::compare::{Did, Difference, Symbols};
use super::deed::all_known;
use super::drive::{Drive, PATIENCE};
use super::protocol::{NotModelled, Protocol, Word};
use super::stage::{Stage, clients};
use super::transcript::{Event, Step, Transcript};
use crate::sim::{Micros, ProcId, Set};
use crate::systems::Body;
use crate::systems::redis::{Command, Packet, Reply, Version};
use answers::Said;
use redlock::Tries;

/// Who is in a transaction, and what Redlock libraries have counted.
pub struct Redis {
    version: Version,
    tries: Tries,
    /// Who is in a transaction, and with which server.
    queueing: Vec<(String, Option<String>)>,
    /// Clients and servers between which there is a connection: it begins with the first command.
    lines: Set<(ProcId, ProcId)>,
}

impl Protocol for Redis {
    type Reply = Reply;
    type Push = Reply;
    type Said = Said;

    const SETTLE: Micros = Micros::from_millis(150);

    fn open(transcript: &Transcript, _: usize) -> Result<(Redis, Stage), NotModelled> {
        let version = scene::version(&transcript.version)?;
        let persistence = scene::persistence(&transcript.server)?;
        let (servers, replicas) = scene::nodes(transcript)?;
        let clients = clients(transcript, &servers);
        let stage = scene::stage(version, &persistence, servers, &replicas, clients);
        Ok((
            Redis { version, tries: Tries::default(), queueing: Vec::new(), lines: Set::new() },
            stage,
        ))
    }

    fn word(body: &Body) -> Option<Word<Reply, Reply>> {
        match body.get::<Packet>()? {
            Packet::Answer(reply) => Some(Word::Answer(body.request, reply.clone())),
            Packet::Push(reply) => Some(Word::Push(reply.clone())),
            _ => None,
        }
    }

    fn farewell() -> Body {
        Body::new("close", 0, Packet::Close)
    }

    fn said(&mut self, _: u64, reply: Reply, _: usize) -> Said {
        Said::Reply(reply)
    }

    fn lost(&mut self, client: ProcId, server: ProcId) {
        self.lines.remove(&(client, server));
    }

    fn dropped(&mut self, client: ProcId, server: ProcId) {
        self.lost(client, server);
    }

    fn is_connected(&self, client: ProcId, server: ProcId) -> bool {
        self.lines.contains(&(client, server))
    }

    /// A client's command, or what its library concludes.
    fn ask(drive: &mut Drive<'_, Redis>, step: &Step) -> Result<Did<Said>, NotModelled> {
        if step.client == "harness" {
            return Err(format!("the experiment {}", step.name));
        }
        if step.name.starts_with("REDLOCK_") {
            if step.argv.is_some() || step.node.is_some() {
                return Err(format!("{} with `argv` or `node`", step.name));
            }
            let (servers, now) = (drive.stage.servers(), drive.stage.now());
            return drive.protocol.tries.decide(step, servers, now);
        }
        let argv = step.argv.as_ref().ok_or_else(|| step.name.clone())?;
        agree(step, argv)?;
        let ports = |port: &str| scene::on_port(&drive.stage, port);
        let command = argv::parse(argv, drive.protocol.version, &ports)?;
        let server = drive.node(step.node.as_deref())?;
        let client = drive.stage.client(&step.client).ok_or("a client without a name")?;
        drive.protocol.tries.asks(step, &command, drive.stage.now());
        if drive.stage.is_down(server) {
            return Ok(Did::ConnectionRefused);
        }
        drive.protocol.lines.insert((client, server));
        let request = say(&mut drive.stage, client, server, command.clone());
        let did = drive.answer(step, client, server, request)?;
        drive.protocol.tries.hears(step, &command, &did);
        drive.stage.settle();
        Ok(did)
    }

    fn change(
        drive: &mut Drive<'_, Redis>,
        step: &Step,
        args: &Args<'_>,
    ) -> Result<Option<Did<Said>>, NotModelled> {
        match step.name.as_str() {
            "replication_established" => replication(drive, args).map(Some),
            _ => Ok(None),
        }
    }

    fn server_named<'a>(args: &Args<'a>) -> Result<Option<&'a str>, NotModelled> {
        args.text("node")
    }

    /// Remembers who is in a transaction: a command that is not played is missing in it.
    fn played(&mut self, step: &Step) {
        let connection = (step.client.clone(), step.node.clone());
        match step.name.to_ascii_uppercase().as_str() {
            "MULTI" => self.queueing.push(connection),
            "EXEC" | "DISCARD" => self.queueing.retain(|queueing| *queueing != connection),
            _ => {}
        }
    }

    fn changes_nothing(&self, step: &Step) -> bool {
        let concluded = step.name.starts_with("REDLOCK_");
        let looks = step.argv.as_deref().is_some_and(names::changes_nothing);
        concluded || looks && !self.queueing.contains(&(step.client.clone(), step.node.clone()))
    }

    fn compare(recorded: &Value, said: &Said, symbols: &mut Symbols) -> Result<(), Difference> {
        answers::compare(recorded, said, symbols)
    }

    fn knows(kind: &str) -> bool {
        answers::FORMS.contains(&kind)
    }

    fn compare_push(event: &Event, push: &Reply, symbols: &mut Symbols) -> Result<(), Difference> {
        let unknown = Difference::NotModelled;
        all_known(&event.what, &["type", "message"], "an event").map_err(unknown)?;
        let message = event.what.get("message").cloned();
        let message = message.ok_or_else(|| unknown("an event without `message`".into()))?;
        let recorded = serde_json::json!({ "type": "array", "value": message });
        answers::answered(&recorded, push, symbols)
    }

    fn knows_event(kind: &str) -> bool {
        kind == "pubsub"
    }

    fn told(said: &Said) -> String {
        answers::told(said)
    }

    fn told_push(push: &Reply) -> String {
        answers::told(&Said::Reply(push.clone()))
    }
}

/// The words that were sent are played; the arguments beside them are for people. Only where they claim to be
/// those words (`raw`) they have to be, or nobody knows which of the two was meant.
fn agree(step: &Step, argv: &[String]) -> Result<(), NotModelled> {
    let args = Args::new(&step.name, &step.args);
    match args.texts("raw")? {
        Some(raw) if raw != argv.get(1..).unwrap_or_default() => Err(args.wrong("raw")),
        _ => Ok(()),
    }
}

/// A client sends a command; the number is that of its answer.
fn say(stage: &mut Stage, client: ProcId, server: ProcId, command: Command) -> u64 {
    let request = stage.next_request();
    let name = command.name();
    stage.say(client, server, Body::new(name, request, Packet::Ask(command.into())));
    request
}

/// Waits until a replica follows its master and has all that the master has.
fn replication(drive: &mut Drive<'_, Redis>, args: &Args<'_>) -> Result<Did<Said>, NotModelled> {
    let server = |name: &str| drive.node(Some(args.word(name)?));
    let (master, replica) = (server("master")?, server("replica")?);
    args.done()?;
    let until = drive.stage.now().plus(PATIENCE);
    while drive.stage.now() < until {
        let of_replica = role(drive, replica);
        let of_master = role(drive, master);
        if follows(&of_replica, master) && is_followed(&of_master, &of_replica) {
            return Ok(Did::Done);
        }
        drive.stage.pass(Micros::from_millis(10));
    }
    Ok(Did::Failed("the replica does not follow".into()))
}

fn role(drive: &mut Drive<'_, Redis>, server: ProcId) -> Vec<Reply> {
    let observer = drive.stage.observer();
    if drive.stage.is_down(server) {
        return Vec::new();
    }
    let request = say(&mut drive.stage, observer, server, Command::Role);
    match drive.wait(observer, server, request, Redis::SETTLE, true) {
        Did::Answered(Said::Reply(Reply::Array(replies))) => replies,
        _ => Vec::new(),
    }
}

/// Whether a `ROLE` is that of a replica which has its master's keys.
fn follows(role: &[Reply], master: ProcId) -> bool {
    match role {
        [Reply::Bulk(what), Reply::Number(of), Reply::Bulk(link), _] => {
            what.to_string() == "slave"
                && *of == i64::from(master.0)
                && link.to_string() == "connected"
        }
        _ => false,
    }
}

/// Whether a `ROLE` is that of a master with a replica as far as this one.
fn is_followed(role: &[Reply], replica: &[Reply]) -> bool {
    match (role, replica.last()) {
        ([_, Reply::Number(offset), Reply::Array(acked)], Some(Reply::Number(reached))) => {
            offset == reached && acked.contains(&Reply::Number(*offset))
        }
        _ => false,
    }
}
