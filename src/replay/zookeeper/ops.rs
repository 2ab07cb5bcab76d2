//! Requests of a transcript as the simulated servers take them. What is not modelled is named: an
//! operation, a mode, an argument.

use std::rc::Rc;

use serde_json::{Map, Value};

use super::super::protocol::NotModelled;
use crate::systems::zookeeper::{AddWatch, CreateMode, Path, Request, WatchKind, Zxid};

/// Operations that are not modelled, and that change neither a server nor a session.
const LOOKS: [&str; 12] = [
    "getACL",
    "getAllChildrenNumber",
    "getEphemerals",
    "checkWatches",
    "whoAmI",
    "ruok",
    "srvr",
    "stat",
    "mntr",
    "cons",
    "wchs",
    "conf",
];

/// Whether an operation that is not modelled is known to change nothing.
pub fn changes_nothing(name: &str) -> bool {
    LOOKS.contains(&name)
}

/// A client's operation, all but `connect`. `seen` reads what a `setWatches` says that its client had
/// seen.
///
/// # Errors
/// What of it is not modelled.
pub fn request(
    name: &str,
    args: &Map<String, Value>,
    seen: &dyn Fn(&Value) -> Result<Zxid, NotModelled>,
) -> Result<Request, NotModelled> {
    let mut args = Args::new(name, args);
    let request = match name {
        "create" | "create2" | "createContainer" | "delete" | "setData" => change(&mut args)?,
        "multi" => Request::Multi(multi(&mut args)?),
        "exists" => Request::Exists { path: args.path()?, watch: args.flag("watch")? },
        "getData" => Request::GetData { path: args.path()?, watch: args.flag("watch")? },
        "getChildren" | "getChildren2" => Request::GetChildren {
            path: args.path()?,
            watch: args.flag("watch")?,
            stat: name == "getChildren2",
        },
        "sync" => Request::Sync { path: args.path()? },
        "setWatches" => Request::SetWatches {
            seen: seen(args.take("relative_zxid").unwrap_or(&Value::Null))?,
            data: args.paths("data_watches")?,
            exist: args.paths("exist_watches")?,
            child: args.paths("child_watches")?,
        },
        "addWatch" => Request::AddWatch { path: args.path()?, mode: watch_mode(&mut args)? },
        "removeWatches" => {
            Request::RemoveWatches { path: args.path()?, kind: watch_kind(&mut args)? }
        }
        "closeSession" => Request::CloseSession,
        other => return Err(other.into()),
    };
    args.done()?;
    Ok(request)
}

/// A request that may be part of a `multi`.
fn change(args: &mut Args<'_>) -> Result<Request, NotModelled> {
    Ok(match args.of {
        "create" | "create2" | "createContainer" => {
            let own = args.of == "createContainer";
            let usual = if own { "container" } else { "persistent" };
            let mode = create_mode(args.text("mode")?.unwrap_or(usual))?;
            // A container has an operation of its own, which always answers with the stat.
            let stat = args.of == "create2" || mode == CreateMode::Container;
            Request::Create { path: args.path()?, data: args.data()?, mode, stat }
        }
        "delete" => Request::Delete { path: args.path()?, version: args.version()? },
        "setData" => {
            Request::SetData { path: args.path()?, data: args.data()?, version: args.version()? }
        }
        "check" => Request::Check { path: args.path()?, version: args.version()? },
        other => return Err(format!("{other} in a multi")),
    })
}

fn multi(args: &mut Args<'_>) -> Result<Rc<[Request]>, NotModelled> {
    let ops = args.take("ops").and_then(Value::as_array).ok_or("a multi without `ops`")?;
    let one = |op: &Value| {
        let fields = op.as_object().ok_or("a part of a multi that is no object")?;
        let mut args = Args::new("a part of a multi", fields);
        args.of = args.text("op")?.ok_or("a part of a multi without `op`")?;
        let request = change(&mut args)?;
        args.done()?;
        Ok(request)
    };
    ops.iter().map(one).collect()
}

fn create_mode(name: &str) -> Result<CreateMode, NotModelled> {
    Ok(match name {
        "persistent" => CreateMode::Persistent,
        "persistent_sequential" => CreateMode::PersistentSequential,
        "ephemeral" => CreateMode::Ephemeral,
        "ephemeral_sequential" => CreateMode::EphemeralSequential,
        "container" => CreateMode::Container,
        other => return Err(format!("a create with the mode {other}")),
    })
}

fn watch_mode(args: &mut Args<'_>) -> Result<AddWatch, NotModelled> {
    match args.text("mode")? {
        Some("persistent") => Ok(AddWatch::Persistent),
        Some("persistent_recursive") => Ok(AddWatch::PersistentRecursive),
        other => Err(format!("an addWatch with the mode {}", other.unwrap_or("?"))),
    }
}

fn watch_kind(args: &mut Args<'_>) -> Result<WatchKind, NotModelled> {
    match args.text("watcher_type")? {
        None | Some("any") => Ok(WatchKind::Any),
        Some("data") => Ok(WatchKind::Data),
        Some("children") => Ok(WatchKind::Children),
        Some(other) => Err(format!("a removeWatches of the type {other}")),
    }
}

/// Arguments, each of which has to be understood.
struct Args<'a> {
    of: &'a str,
    all: &'a Map<String, Value>,
    taken: Vec<&'static str>,
}

impl<'a> Args<'a> {
    fn new(of: &'a str, all: &'a Map<String, Value>) -> Args<'a> {
        Args { of, all, taken: Vec::new() }
    }

    fn take(&mut self, name: &'static str) -> Option<&'a Value> {
        self.taken.push(name);
        self.all.get(name)
    }

    fn wrong(&self, name: &str) -> NotModelled {
        match self.all.get(name) {
            Some(value) => format!("{} with `{name}` {value}", self.of),
            None => format!("{} without `{name}`", self.of),
        }
    }

    fn text(&mut self, name: &'static str) -> Result<Option<&'a str>, NotModelled> {
        match self.take(name) {
            None => Ok(None),
            Some(value) => value.as_str().map(Some).ok_or_else(|| self.wrong(name)),
        }
    }

    fn path(&mut self) -> Result<Path, NotModelled> {
        self.text("path")?.map(Path::new).ok_or_else(|| self.wrong("path"))
    }

    fn paths(&mut self, name: &'static str) -> Result<Rc<[Path]>, NotModelled> {
        let Some(value) = self.take(name) else { return Ok(Rc::new([])) };
        let paths = value.as_array().map(|all| all.iter().map(|path| path.as_str().map(Path::new)));
        paths.and_then(Iterator::collect).ok_or_else(|| self.wrong(name))
    }

    fn data(&mut self) -> Result<Rc<str>, NotModelled> {
        Ok(self.text("data")?.unwrap_or_default().into())
    }

    fn flag(&mut self, name: &'static str) -> Result<bool, NotModelled> {
        match self.take(name) {
            None => Ok(false),
            Some(value) => value.as_bool().ok_or_else(|| self.wrong(name)),
        }
    }

    /// Any version is none, as −1 is on the wire.
    fn version(&mut self) -> Result<Option<i32>, NotModelled> {
        let Some(value) = self.take("version") else { return Ok(None) };
        let version = value.as_i64().and_then(|version| i32::try_from(version).ok());
        let version = version.ok_or_else(|| self.wrong("version"))?;
        Ok(Some(version).filter(|version| *version != -1))
    }

    /// An argument that nobody asked for would change what the request means.
    fn done(&self) -> Result<(), NotModelled> {
        let rest = self.all.iter().find(|(name, _)| !self.taken.contains(&name.as_str()));
        rest.map_or(Ok(()), |(name, value)| Err(format!("{} with `{name}` {value}", self.of)))
    }
}
