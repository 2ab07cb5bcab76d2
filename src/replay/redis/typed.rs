//! Lines for a shell about Redis, as a lesson offers them to do at home, typed to simulated servers.
//!
//! A command is `redis-server`, `redis-cli` or `sleep`. What comes back is what `redis-cli` prints in
//! a terminal.

use super::super::protocol::{NotModelled, Protocol, Word};
use super::super::shell::{Argv, commands, head, seconds};
use super::super::stage::{Heard, Stage};
use super::argv::parse;
use super::scene::{persistence, stage, version};
use super::{Redis, say};
use crate::sim::{Micros, ProcId};
use crate::systems::redis::{Persistence, Reply, Version};

/// The port of a server for which a line names none.
const PORT: u16 = 6379;
/// How long `redis-cli` is waited for.
const PATIENCE: Micros = Micros::from_secs(60);
/// A lesson starts no more servers.
const MOST_SERVERS: usize = 16;

/// Types lines one after the other, to servers of that version, such as `redis 7.0.15`. What each of
/// them prints, without the last line break.
///
/// Servers run in their order from the first one: those that the lines start, or one on port 6379 if
/// they start none.
pub fn typed(release: &str, lines: &[&str]) -> Vec<Result<String, NotModelled>> {
    let commands: Vec<_> = lines.iter().map(|line| commands(line)).collect();
    match Terminal::new(release, &commands) {
        Ok(mut terminal) => commands.into_iter().map(|line| terminal.line(&line?)).collect(),
        Err(what) => commands.iter().map(|_| Err(what.clone())).collect(),
    }
}

/// The servers of the lines, and who types.
struct Terminal {
    version: Version,
    stage: Stage,
    ports: Vec<u16>,
    /// Which of them were started.
    up: Vec<bool>,
    typist: ProcId,
}

impl Terminal {
    fn new(
        release: &str,
        lines: &[Result<Vec<Argv>, NotModelled>],
    ) -> Result<Terminal, NotModelled> {
        let mut ports = Vec::new();
        let mut files = None;
        for argv in lines.iter().flatten().flatten() {
            let Some(("redis-server", options)) = head(argv) else { continue };
            let (port, how) = started(options)?;
            if files.get_or_insert_with(|| how.clone()) != &how {
                return Err("servers that keep different files".into());
            }
            if !ports.contains(&port) {
                ports.push(port);
            }
        }
        let own = !ports.is_empty();
        if !own {
            ports.push(PORT);
        }
        if ports.len() > MOST_SERVERS {
            return Err(format!("more than {MOST_SERVERS} servers"));
        }
        let servers = ports.iter().map(u16::to_string).collect();
        let files = files.unwrap_or_else(Persistence::none);
        let version = version(release)?;
        let stage = stage(version, &files, servers, &[], vec!["typist".into()]);
        let typist = ProcId(ports.len() as u16);
        Ok(Terminal { version, stage, up: vec![!own; ports.len()], ports, typist })
    }

    fn line(&mut self, commands: &[Argv]) -> Result<String, NotModelled> {
        let mut printed = Vec::new();
        for argv in commands {
            match head(argv) {
                Some(("redis-server", options)) => self.start(started(options)?.0),
                Some(("redis-cli", words)) => printed.extend(self.ask(words)?),
                Some(("sleep", [span])) => self.stage.pass(seconds(span)?),
                _ => return Err(format!("the command `{}`", argv.join(" "))),
            }
        }
        Ok(printed.join("\n"))
    }

    fn start(&mut self, port: u16) {
        let Some(place) = self.ports.iter().position(|p| *p == port) else { return };
        let server = ProcId(place as u16);
        if self.stage.is_down(server) {
            self.stage.strike(&crate::sim::Fault::Restart(server));
        }
        self.up[place] = true;
        self.stage.settle();
    }

    /// What `redis-cli` prints, if anything.
    fn ask(&mut self, words: &[String]) -> Result<Option<String>, NotModelled> {
        let (port, words) = match words {
            [flag, port, rest @ ..] if flag == "-p" => (number(port)?, rest),
            _ => (PORT, words),
        };
        let refused = || {
            let at = format!("127.0.0.1:{port}");
            Ok(Some(format!("Could not connect to Redis at {at}: Connection refused")))
        };
        let Some(place) = self.ports.iter().position(|p| *p == port) else { return refused() };
        let server = ProcId(place as u16);
        if !self.up[place] || self.stage.is_down(server) {
            return refused();
        }
        let ports = &self.ports;
        let node = |port: &str| {
            let port: u16 = port.parse().ok()?;
            ports.iter().position(|p| *p == port).map(|place| ProcId(place as u16))
        };
        let command = parse(words, self.version, &node)?;
        let request = say(&mut self.stage, self.typist, server, command);
        let until = self.stage.now().plus(PATIENCE);
        loop {
            let more = self.stage.step_until(until);
            while let Some((_, heard)) = self.stage.hear() {
                // A server that shuts down says nothing more.
                let Heard::Message(_, body) = heard else { return Ok(None) };
                if let Some(Word::Answer(answered, reply)) = Redis::word(&body)
                    && answered == request
                {
                    self.stage.hang_up(self.typist, server, Some(Redis::farewell()));
                    self.stage.settle();
                    return printed(&reply, "").map(Some);
                }
            }
            if !more {
                return Err(format!("`{}`, which nobody answers", words.join(" ")));
            }
        }
    }
}

/// The port of a server, and what it keeps.
fn started(options: &[String]) -> Result<(u16, Persistence), NotModelled> {
    let mut port = PORT;
    let mut kept = String::new();
    for pair in options.chunks(2) {
        match pair {
            [name, value] if name == "--port" => port = number(value)?,
            [name, value] if name == "--daemonize" && value == "yes" => {}
            [name, value] if name.starts_with("--") => kept += &format!("{name} '{value}' "),
            _ => return Err(format!("`redis-server {}`", options.join(" "))),
        }
    }
    Ok((port, persistence(&kept)?))
}

fn number(text: &str) -> Result<u16, NotModelled> {
    text.parse().map_err(|_| format!("the port `{text}`"))
}

/// An answer as `redis-cli` prints it in a terminal, its later lines with a margin.
///
/// What a server adds to the text of an error is not modelled.
fn printed(reply: &Reply, margin: &str) -> Result<String, NotModelled> {
    Ok(match reply {
        Reply::Word(word) => (*word).to_string(),
        Reply::Number(number) => format!("(integer) {number}"),
        Reply::Bulk(text) => format!("{:?}", text.to_string()),
        Reply::Nil | Reply::NilArray => "(nil)".into(),
        Reply::Array(replies) if replies.is_empty() => "(empty array)".into(),
        Reply::Array(replies) => {
            let wide = replies.len().to_string().len();
            let inner = format!("{margin}{}", " ".repeat(wide + 2));
            let each = replies.iter().enumerate().map(|(index, reply)| {
                Ok(format!("{:>wide$}) {}", index + 1, printed(reply, &inner)?))
            });
            each.collect::<Result<Vec<_>, NotModelled>>()?.join(&format!("\n{margin}"))
        }
        Reply::Error(refusal) => return Err(format!("the text of the error {}", refusal.kind())),
    })
}
