//! Changes of the world that servers of every system know. All of a step is read before any of it is
//! done, so that a step of which something is not modelled changes nothing.

use serde_json::Value;

use super::args::Args;
use super::compare::Did;
use super::drive::Drive;
use super::protocol::{NotModelled, Protocol};
use super::stage::span;
use crate::sim::{CrashKind, Fault, Micros, ProcId};

/// A change of the world, or a look at it.
#[derive(Clone, Debug)]
pub enum Deed {
    /// Nothing but words.
    Note,
    /// Time passes.
    Pass(Micros),
    /// Time passes, in which nothing comes to a client.
    Silence(ProcId, Micros),
    /// A server dies.
    Crash(ProcId, CrashKind),
    /// A server that was dead starts.
    Restart(ProcId),
    /// A server ends by itself.
    Exited(ProcId),
    /// A process stops.
    Stop(ProcId),
    /// A process that was stopped goes on.
    GoOn(ProcId),
    /// A server's wall clock is set, by so many milliseconds.
    ClockStep(ProcId, i64),
    /// Ways are cut.
    Cut(Vec<(ProcId, ProcId)>),
    /// Ways are open again.
    Heal(Vec<(ProcId, ProcId)>),
    /// A client closes its connections with these.
    HangUp(ProcId, Vec<ProcId>),
}

/// What a step of the world says is to be done.
///
/// # Errors
/// What of it is not modelled.
pub fn read<P: Protocol>(drive: &Drive<'_, P>, args: &Args<'_>) -> Result<Deed, NotModelled> {
    let reader = Reader { drive, args };
    let deed = match args.of() {
        "note" => args.word("text").map(|_| Deed::Note)?,
        "advance" => Deed::Pass(span(args.number("ms")?)?),
        "no_event_within" => Deed::Silence(reader.client()?, span(args.number("ms")?)?),
        "kill" => Deed::Crash(reader.running()?, reader.signal()?),
        "power_off" => Deed::Crash(reader.running()?, CrashKind::Power),
        "restart" => Deed::Restart(reader.dead()?),
        "exited" => Deed::Exited(reader.server()?),
        "suspend" => Deed::Stop(reader.stopped(false, "SIGSTOP")?),
        "resume" => Deed::GoOn(reader.stopped(true, "SIGCONT")?),
        "clock_step" => {
            let ms = args.number("ms")?;
            span(ms.saturating_abs())?;
            Deed::ClockStep(reader.server()?, ms)
        }
        "partition" => Deed::Cut(reader.turned(true)?),
        "heal" => Deed::Heal(reader.turned(false)?),
        "drop_connection" => reader.hang_up()?,
        other => return Err(format!("the change of the world `{other}`")),
    };
    args.done()?;
    Ok(deed)
}

/// A step on the way to a deed.
struct Reader<'r, 't, 'a, P: Protocol> {
    drive: &'r Drive<'t, P>,
    args: &'r Args<'a>,
}

impl<P: Protocol> Reader<'_, '_, '_, P> {
    /// The server that is meant.
    fn server(&self) -> Result<ProcId, NotModelled> {
        self.drive.node(P::server_named(self.args)?)
    }

    fn running(&self) -> Result<ProcId, NotModelled> {
        self.is_down(false, "is not running")
    }

    fn dead(&self) -> Result<ProcId, NotModelled> {
        self.is_down(true, "is running")
    }

    fn is_down(&self, wanted: bool, otherwise: &str) -> Result<ProcId, NotModelled> {
        let (server, stage) = (self.server()?, &self.drive.stage);
        if stage.is_down(server) == wanted {
            return Ok(server);
        }
        Err(format!("a {} of {}, which {otherwise}", self.args.of(), stage.name(server)))
    }

    /// The client that is meant.
    fn client(&self) -> Result<ProcId, NotModelled> {
        let name = self.args.word("client")?;
        self.drive.stage.client(name).ok_or_else(|| self.args.wrong("client"))
    }

    fn signal(&self) -> Result<CrashKind, NotModelled> {
        match self.args.word("signal")? {
            "SIGKILL" => Ok(CrashKind::Kill),
            "SIGTERM" | "SIGINT" => Ok(CrashKind::Clean),
            other => Err(format!("the signal {other}")),
        }
    }

    /// Who is stopped or goes on: a server, or a client that is a process of its own.
    fn stopped(&self, now: bool, signal: &str) -> Result<ProcId, NotModelled> {
        if self.args.text("signal")?.is_some_and(|sent| sent != signal) {
            return Err(self.args.wrong("signal"));
        }
        let (drive, what) = (self.drive, self.args.of());
        let who = match self.args.text("client")? {
            None => self.running()?,
            Some(_) => self.client()?,
        };
        let name = drive.stage.name(who);
        // Behind a raw connection is the recorder itself: to stop it stops the recording.
        if !drive.is_server(who) && !drive.protocol.has_a_mind(who) {
            return Err(format!("a {what} of {name}, which is a connection and no process"));
        }
        match (drive.stage.is_stopped(who), now) {
            (true, false) => Err(format!("a {what} of {name}, which is stopped")),
            (false, true) => Err(format!("a {what} of {name}, which is not stopped")),
            _ => Ok(who),
        }
    }

    /// The ways that are cut or healed. Where all of them are so before, whoever names them is mistaken about
    /// the world.
    fn turned(&self, cut: bool) -> Result<Vec<(ProcId, ProcId)>, NotModelled> {
        let ways = self.ways()?;
        let wrong = ways.iter().all(|way| self.drive.stage.is_cut(*way) == cut);
        let how = if cut { "which is cut" } else { "which is not cut" };
        if wrong { Err(format!("a {} of a way {how}", self.args.of())) } else { Ok(ways) }
    }

    /// Both directions between all pairs that are named, or between one server and all others.
    fn ways(&self) -> Result<Vec<(ProcId, ProcId)>, NotModelled> {
        let (drive, stage) = (self.drive, &self.drive.stage);
        let Some(names) = self.args.texts("between")? else {
            let named = P::server_named(self.args)?;
            let node = drive.node(Some(named.ok_or_else(|| self.args.wrong("between"))?))?;
            let others = stage.everybody().filter(|other| *other != node);
            return Ok(others.flat_map(|other| [(node, other), (other, node)]).collect());
        };
        let find = |name: &str| {
            let found = P::server(drive, Some(name)).or_else(|| stage.client(name));
            found.ok_or_else(|| format!("a node `{name}`"))
        };
        let named = names.into_iter().map(find).collect::<Result<Vec<_>, _>>()?;
        let ways = pairs(&named);
        if ways.is_empty() { Err(self.args.wrong("between")) } else { Ok(ways) }
    }

    fn hang_up(&self) -> Result<Deed, NotModelled> {
        let (drive, client) = (self.drive, self.client()?);
        if drive.protocol.has_a_mind(client) {
            return Err(self.args.wrong("client"));
        }
        let servers: Vec<ProcId> = match P::server_named(self.args)? {
            Some(name) => vec![drive.node(Some(name))?],
            None => (0..drive.stage.servers() as u16).map(ProcId).collect(),
        };
        if !servers.iter().any(|server| drive.protocol.is_connected(client, *server)) {
            let name = drive.stage.name(client);
            return Err(format!("a drop_connection of {name}, which has none"));
        }
        Ok(Deed::HangUp(client, servers))
    }
}

fn pairs(named: &[ProcId]) -> Vec<(ProcId, ProcId)> {
    let all = named.iter().flat_map(|a| named.iter().map(move |b| (*a, *b)));
    all.filter(|(a, b)| a != b).collect()
}

/// Does it.
pub fn does<P: Protocol>(drive: &mut Drive<'_, P>, deed: &Deed) -> Did<P::Said> {
    match deed {
        Deed::Note => {}
        Deed::Pass(span) => drive.stage.pass(*span),
        Deed::Silence(client, span) => {
            return if drive.is_silent(*client, *span) {
                Did::Done
            } else {
                Did::Failed("something came meanwhile".into())
            };
        }
        Deed::Crash(node, how) => {
            drive.stage.strike(&Fault::Crash(*node, *how));
        }
        Deed::Restart(node) => {
            drive.stage.strike(&Fault::Restart(*node));
        }
        Deed::Exited(node) => {
            if !drive.wait_until(|drive| drive.stage.is_down(*node)) {
                return Did::Failed("the server still runs".into());
            }
        }
        Deed::Stop(who) => drive.stage.stop(*who),
        Deed::GoOn(who) => drive.stage.let_go(*who),
        Deed::ClockStep(node, ms) => {
            drive.stage.strike(&Fault::ClockStep(*node, ms * 1_000));
        }
        Deed::Cut(ways) => {
            drive.stage.strike(&Fault::Cut(ways.clone(), None));
        }
        Deed::Heal(ways) => {
            drive.stage.strike(&Fault::Heal(ways.clone()));
        }
        Deed::HangUp(client, servers) => {
            for server in servers {
                drive.hang_up(*client, *server);
            }
        }
    }
    Did::Done
}

/// A field of a record that nobody asks for, by name: `where` says in what.
///
/// # Errors
/// The first such field.
pub fn all_known(fields: &Value, known: &[&str], place: &str) -> Result<(), NotModelled> {
    let mut names = fields.as_object().into_iter().flatten();
    let strange = names.find(|(name, _)| !known.contains(&name.as_str()) && *name != "note");
    strange.map_or(Ok(()), |(name, value)| Err(format!("{place} with `{name}` {value}")))
}
