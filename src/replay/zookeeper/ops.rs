//! Requests of a transcript as the simulated servers take them. What is not modelled is named: an
//! operation, a mode, an argument.

use std::rc::Rc;

use serde_json::Value;

use super::super::args::Args;
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
    args: &Args<'_>,
    seen: &dyn Fn(&Value) -> Result<Zxid, NotModelled>,
) -> Result<Request, NotModelled> {
    let path = || path(args);
    let name = args.of();
    let request = match name {
        "create" | "create2" | "createContainer" | "delete" | "setData" => change(args)?,
        "multi" => Request::Multi(multi(args)?),
        "exists" => Request::Exists { path: path()?, watch: args.flag("watch")? },
        "getData" => Request::GetData { path: path()?, watch: args.flag("watch")? },
        "getChildren" | "getChildren2" => Request::GetChildren {
            path: path()?,
            watch: args.flag("watch")?,
            stat: name == "getChildren2",
        },
        "sync" => Request::Sync { path: path()? },
        "setWatches" => Request::SetWatches {
            seen: seen(args.need("relative_zxid")?)?,
            data: paths(args, "data_watches")?.ok_or_else(|| args.wrong("data_watches"))?,
            exist: paths(args, "exist_watches")?.ok_or_else(|| args.wrong("exist_watches"))?,
            // Clients that watch no children are recorded without this list.
            child: paths(args, "child_watches")?.unwrap_or_default(),
        },
        "addWatch" => Request::AddWatch { path: path()?, mode: watch_mode(args)? },
        "removeWatches" => Request::RemoveWatches { path: path()?, kind: watch_kind(args)? },
        "closeSession" => Request::CloseSession,
        other => return Err(other.into()),
    };
    args.done()?;
    Ok(request)
}

/// A request that may be part of a `multi`.
fn change(args: &Args<'_>) -> Result<Request, NotModelled> {
    Ok(match args.of() {
        "create" | "create2" | "createContainer" => {
            // Only the operation of containers says of itself what it creates.
            let mode = match args.text("mode")? {
                None if args.of() == "createContainer" => CreateMode::Container,
                mode => create_mode(mode.ok_or_else(|| args.wrong("mode"))?)?,
            };
            // A container has an operation of its own, which always answers with the stat.
            let stat = args.of() == "create2" || mode == CreateMode::Container;
            Request::Create { path: path(args)?, data: data(args)?, mode, stat }
        }
        "delete" => Request::Delete { path: path(args)?, version: version(args)? },
        "setData" => Request::SetData {
            path: path(args)?,
            data: args.word("data")?.into(),
            version: version(args)?,
        },
        "check" => Request::Check { path: path(args)?, version: version(args)? },
        other => return Err(format!("{other} in a multi")),
    })
}

fn multi(args: &Args<'_>) -> Result<Rc<[Request]>, NotModelled> {
    let ops = args.need("ops")?.as_array().ok_or_else(|| args.wrong("ops"))?;
    let one = |op: &Value| {
        let fields = op.as_object().ok_or("a part of a multi that is no object")?;
        let args = Args::new("a part of a multi", fields);
        let name = args.word("op")?;
        let args = args.called(name);
        let request = change(&args)?;
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

fn watch_mode(args: &Args<'_>) -> Result<AddWatch, NotModelled> {
    match args.text("mode")? {
        Some("persistent") => Ok(AddWatch::Persistent),
        Some("persistent_recursive") => Ok(AddWatch::PersistentRecursive),
        other => Err(format!("an addWatch with the mode {}", other.unwrap_or("?"))),
    }
}

fn watch_kind(args: &Args<'_>) -> Result<WatchKind, NotModelled> {
    match args.text("watcher_type")? {
        None | Some("any") => Ok(WatchKind::Any),
        Some("data") => Ok(WatchKind::Data),
        Some("children") => Ok(WatchKind::Children),
        Some(other) => Err(format!("a removeWatches of the type {other}")),
    }
}

fn path(args: &Args<'_>) -> Result<Path, NotModelled> {
    args.word("path").map(Path::new)
}

/// Watches of a kind, where the record lists them.
fn paths(args: &Args<'_>, name: &str) -> Result<Option<Rc<[Path]>>, NotModelled> {
    Ok(args.texts(name)?.map(|paths| paths.into_iter().map(Path::new).collect()))
}

/// What a create leaves out is empty.
fn data(args: &Args<'_>) -> Result<Rc<str>, NotModelled> {
    Ok(args.text("data")?.unwrap_or_default().into())
}

/// Any version is none, as −1 is on the wire.
fn version(args: &Args<'_>) -> Result<Option<i32>, NotModelled> {
    let Some(version) = args.whole("version")? else { return Ok(None) };
    let version = i32::try_from(version).map_err(|_| args.wrong("version"))?;
    Ok(Some(version).filter(|version| *version != -1))
}
