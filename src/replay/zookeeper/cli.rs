//! Lines for `zkCli.sh`, as a lesson offers them to do at home, typed to a simulated server.
//!
//! `zkCli.sh` opens a session in the terminal that is in front, and what follows is typed there until
//! `quit`; `# terminal 2` puts another one in front and shows what has come there meanwhile. What
//! comes back is what `zkCli.sh` 3.8 prints, without what differs in every run: its banner, the times
//! of a znode and the number of a session.

use std::rc::Rc;

use super::super::protocol::NotModelled;
use super::super::shell::{Argv, commands, head, seconds};
use super::super::stage::{Heard, Stage};
use super::scene;
use crate::sim::{Micros, ProcId};
use crate::systems::Body;
use crate::systems::zookeeper::{
    Code, CreateMode, Packet, Path, Reply, Request, Stat, WatchKind, Zxid,
};

/// How a server is started at home: the configuration that comes with it.
const SERVER: &str = "standalone, tickTime=2000 initLimit=10 syncLimit=5";
/// The time-out for which `zkCli.sh` asks.
const TIMEOUT: Micros = Micros::from_secs(30);
/// How often it pings.
const PING: Micros = Micros::from_secs(10);
/// How long an answer is waited for.
const PATIENCE: Micros = Micros::from_secs(60);
/// A lesson needs no more terminals.
const MOST_TERMINALS: usize = 4;

/// Whether these lines are about ZooKeeper.
pub fn is_for(lines: &[&str]) -> bool {
    lines.iter().any(|line| line.split_whitespace().next() == Some("zkCli.sh"))
}

/// Types lines one after the other; what each of them prints, without the last line break.
pub fn typed(lines: &[&str]) -> Vec<Result<String, NotModelled>> {
    match Home::new() {
        Ok(mut home) => lines.iter().map(|line| home.line(line)).collect(),
        Err(what) => lines.iter().map(|_| Err(what.clone())).collect(),
    }
}

/// A terminal, and what has come to it that was not shown yet.
#[derive(Clone, Default, Debug)]
struct Terminal {
    open: bool,
    news: Vec<String>,
}

/// A server at home, and the terminals before it.
struct Home {
    stage: Stage,
    terminals: Vec<Terminal>,
    /// The place of the one in front.
    front: usize,
}

fn called(place: usize) -> String {
    format!("terminal {}", place + 1)
}

impl Home {
    fn new() -> Result<Home, NotModelled> {
        let (servers, _) = scene::servers(&scene::described(SERVER)?);
        let clients = (0..MOST_TERMINALS).map(called).collect();
        let stage = Stage::new(servers, clients, Vec::new());
        Ok(Home { stage, terminals: vec![Terminal::default(); MOST_TERMINALS], front: 0 })
    }

    fn line(&mut self, line: &str) -> Result<String, NotModelled> {
        if let Some(words) = line.trim().strip_prefix('#') {
            return self.turn_to(words.trim());
        }
        if self.terminals[self.front].open {
            // Within zkCli.sh nothing is the shell's; its words are parted by blanks, with quotes.
            let argv = commands(line)?.pop().unwrap_or_default();
            return self.command(&argv);
        }
        let mut printed = Vec::new();
        for argv in commands(line)? {
            match head(&argv) {
                Some(("zkCli.sh", [])) => self.connect()?,
                Some(("zkCli.sh", [flag, at])) if flag == "-server" && is_here(at) => {
                    self.connect()?;
                }
                Some(("sleep", [span])) => self.sleep(seconds(span)?)?,
                _ => return Err(format!("the command `{}`", argv.join(" "))),
            }
            printed.append(&mut self.terminals[self.front].news);
        }
        Ok(printed.join("\n"))
    }

    /// `terminal 2`: puts it in front.
    fn turn_to(&mut self, words: &str) -> Result<String, NotModelled> {
        let place = (0..MOST_TERMINALS).find(|place| called(*place) == words);
        self.front = place.ok_or_else(|| format!("`# {words}`; known is `# terminal 1`"))?;
        self.listen(self.front, u64::MAX);
        Ok(std::mem::take(&mut self.terminals[self.front].news).join("\n"))
    }

    fn connect(&mut self) -> Result<(), NotModelled> {
        let connect = Request::Connect { session: None, timeout: TIMEOUT, seen: Zxid(0) };
        self.ask(self.front, connect)?;
        self.terminals[self.front].open = true;
        Ok(())
    }

    /// Time passes, and every open terminal pings.
    fn sleep(&mut self, span: Micros) -> Result<(), NotModelled> {
        let mut left = span;
        while left > Micros::ZERO {
            let part = left.min(PING);
            self.stage.pass(part);
            left = Micros(left.0 - part.0);
            for place in 0..MOST_TERMINALS {
                if self.terminals[place].open {
                    self.ask(place, Request::Ping)?;
                }
            }
        }
        Ok(())
    }

    fn client(&self, place: usize) -> Result<ProcId, NotModelled> {
        self.stage.find(&called(place)).ok_or_else(|| called(place))
    }

    /// Sends a request, and waits for its answer.
    fn ask(&mut self, place: usize, request: Request) -> Result<Rc<Reply>, NotModelled> {
        let (client, server) = (self.client(place)?, ProcId(0));
        let number = self.stage.next_request();
        let body = Body::new(request.name(), number, Packet::Ask(request.into()));
        self.stage.say(client, server, body);
        let until = self.stage.now().plus(PATIENCE);
        loop {
            let more = self.stage.step_until(until);
            if let Some(reply) = self.listen(place, number) {
                self.stage.settle();
                self.listen(place, u64::MAX);
                return Ok(reply);
            }
            if !more {
                return Err("a request that nobody answers".into());
            }
        }
    }

    /// Sorts what reached the terminals; the answer to that request of that terminal, if it came.
    fn listen(&mut self, place: usize, number: u64) -> Option<Rc<Reply>> {
        let mut answer = None;
        while let Some((client, heard)) = self.stage.hear() {
            let at = (0..MOST_TERMINALS).find(|p| self.stage.name(client) == called(*p));
            let (Some(at), Heard::Message(_, body)) = (at, heard) else { continue };
            match body.get::<Packet>() {
                Some(Packet::Answer(reply, _)) if at == place && body.request == number => {
                    answer = Some(reply.clone());
                }
                Some(Packet::Event(change, path)) => {
                    let (change, path) = (change.name(), path.as_str());
                    self.terminals[at].news.push(format!(
                        "WATCHER::\n\nWatchedEvent state:SyncConnected type:{change} path:{path}"
                    ));
                }
                Some(Packet::Close) => self.stage.hang_up(client, ProcId(0), None),
                _ => {}
            }
        }
        answer
    }

    /// A command of `zkCli.sh`.
    fn command(&mut self, argv: &Argv) -> Result<String, NotModelled> {
        let place = self.front;
        let (request, options) = match read(argv)? {
            Some(read) => read,
            None => {
                self.ask(place, Request::CloseSession)?;
                let quit = Terminal::default();
                let mut news = std::mem::replace(&mut self.terminals[place], quit).news;
                news.push("WATCHER::\n\nWatchedEvent state:Closed type:None path:null".to_string());
                return Ok(news.join("\n"));
            }
        };
        let reply = self.ask(place, request.clone())?;
        let mut lines = std::mem::take(&mut self.terminals[place].news);
        lines.extend(printed(&request, &reply, options.stat)?);
        Ok(lines.join("\n"))
    }
}

fn is_here(address: &str) -> bool {
    ["localhost:2181", "127.0.0.1:2181", "localhost", "127.0.0.1"].contains(&address)
}

/// What stands before the words of a command.
#[derive(Clone, Copy, Default, Debug)]
struct Options {
    stat: bool,
    watch: bool,
    ephemeral: bool,
    sequential: bool,
    container: bool,
    version: Option<i32>,
    kind: Option<WatchKind>,
}

/// A command as a request; none for one that ends the session.
fn read(argv: &Argv) -> Result<Option<(Request, Options)>, NotModelled> {
    let whole = || format!("the command `{}` of zkCli.sh", argv.join(" "));
    let (name, rest) = head(argv).ok_or_else(whole)?;
    let mut options = Options::default();
    let mut words = Vec::new();
    let mut rest = rest.iter();
    while let Some(word) = rest.next() {
        match (name, word.as_str()) {
            ("create", "-e") => options.ephemeral = true,
            ("create", "-s") => options.sequential = true,
            ("create", "-c") => options.container = true,
            ("ls" | "get" | "set", "-s") => options.stat = true,
            ("ls" | "get" | "stat", "-w") => options.watch = true,
            ("set" | "delete", "-v") => {
                let version = rest.next().and_then(|word| word.parse().ok());
                options.version = Some(version.ok_or_else(whole)?);
            }
            ("removewatches", "-d") => options.kind = Some(WatchKind::Data),
            ("removewatches", "-c") => options.kind = Some(WatchKind::Children),
            (_, word) if word.starts_with('-') => return Err(whole()),
            (_, word) => words.push(word),
        }
    }
    let version = options.version.filter(|version| *version != -1);
    let Options { watch, stat, .. } = options;
    let request = match (name, &words[..]) {
        ("quit" | "close", []) => return Ok(None),
        ("create", [path, data @ ..]) if data.len() < 2 => Request::Create {
            path: Path::new(path),
            data: data.first().copied().unwrap_or_default().into(),
            mode: mode(options).ok_or_else(whole)?,
            stat: false,
        },
        ("delete", [path]) => Request::Delete { path: Path::new(path), version },
        ("set", [path, data]) => {
            Request::SetData { path: Path::new(path), data: (*data).into(), version }
        }
        ("get", [path]) => Request::GetData { path: Path::new(path), watch },
        ("stat", [path]) => Request::Exists { path: Path::new(path), watch },
        ("ls", [path]) => Request::GetChildren { path: Path::new(path), watch, stat },
        ("sync", [path]) => Request::Sync { path: Path::new(path) },
        ("removewatches", [path]) => Request::RemoveWatches {
            path: Path::new(path),
            kind: options.kind.unwrap_or(WatchKind::Any),
        },
        _ => return Err(whole()),
    };
    Ok(Some((request, options)))
}

fn mode(options: Options) -> Option<CreateMode> {
    Some(match (options.ephemeral, options.sequential, options.container) {
        (false, false, false) => CreateMode::Persistent,
        (false, true, false) => CreateMode::PersistentSequential,
        (true, false, false) => CreateMode::Ephemeral,
        (true, true, false) => CreateMode::EphemeralSequential,
        (false, false, true) => CreateMode::Container,
        _ => return None,
    })
}

/// What is printed about an answer.
fn printed(request: &Request, reply: &Reply, books: bool) -> Result<Vec<String>, NotModelled> {
    let mut lines = Vec::new();
    match reply {
        Reply::Created(path, _) => lines.push(format!("Created {}", path.as_str())),
        Reply::Done => {
            if let Request::Sync { .. } = request {
                lines.push("Sync is OK".into());
            }
        }
        Reply::Stat(stat) => {
            if books || matches!(request, Request::Exists { .. }) {
                lines.extend(stat_lines(stat));
            }
        }
        Reply::Data(data, stat) => {
            // What was created without data has none.
            lines.push(if data.is_empty() { "null".into() } else { data.to_string() });
            lines.extend(books.then(|| stat_lines(stat)).into_iter().flatten());
        }
        Reply::Children(names, stat) => {
            lines.push(format!("[{}]", names.join(", ")));
            lines.extend(stat.iter().flat_map(stat_lines));
        }
        Reply::Error(code) => lines.push(refusal(*code, request)?),
        _ => return Err("such an answer to zkCli.sh".into()),
    }
    Ok(lines)
}

fn stat_lines(stat: &Stat) -> Vec<String> {
    let mut lines = vec![
        format!("cZxid = {:#x}", stat.czxid.0),
        format!("mZxid = {:#x}", stat.mzxid.0),
        format!("pZxid = {:#x}", stat.pzxid.0),
        format!("cversion = {}", stat.cversion),
        format!("dataVersion = {}", stat.version),
        "aclVersion = 0".into(),
    ];
    if stat.owner.is_none() {
        lines.push("ephemeralOwner = 0x0".into());
    }
    lines.push(format!("dataLength = {}", stat.length));
    lines.push(format!("numChildren = {}", stat.children));
    lines
}

/// What `zkCli.sh` makes of an error.
fn refusal(code: Code, request: &Request) -> Result<String, NotModelled> {
    let path = match request {
        Request::Create { path, .. }
        | Request::Delete { path, .. }
        | Request::SetData { path, .. }
        | Request::GetData { path, .. }
        | Request::Exists { path, .. }
        | Request::GetChildren { path, .. } => path.as_str(),
        _ => "",
    };
    Ok(match code {
        Code::NoNode => format!("Node does not exist: {path}"),
        Code::NodeExists => format!("Node already exists: {path}"),
        Code::NotEmpty => format!("Node not empty: {path}"),
        Code::BadVersion => format!("version No is not valid : {path}"),
        Code::NoChildrenForEphemerals => format!("Ephemerals cannot have children: {path}"),
        code => return Err(format!("what zkCli.sh prints for {}", code.name())),
    })
}
