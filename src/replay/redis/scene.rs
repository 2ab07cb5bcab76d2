//! Which servers a transcript of Redis describes, and how they were started.

use super::super::protocol::NotModelled;
use super::super::stage::{Named, Stage};
use super::super::transcript::Transcript;
use super::argv::{save_points, setting};
use crate::sim::{Micros, ProcId};
use crate::systems::redis::{Persistence, Server, Setting, Start, Version, default_save};

/// These servers, those of these places as replicas of the first, and who asks them.
pub fn stage(
    version: Version,
    persistence: &Persistence,
    servers: Vec<String>,
    replicas: &[usize],
    clients: Vec<String>,
) -> Stage {
    let server = |(index, name): (usize, String)| -> Named {
        let master = replicas.contains(&index).then_some(ProcId(0));
        let persistence = persistence.clone();
        let start = Start { version, persistence, master, stays_out: Micros::ZERO };
        (name, Box::new(Server::new(start)))
    };
    Stage::new(servers.into_iter().enumerate().map(server).collect(), clients, Vec::new())
}

/// The server that listens on a port: they count up from the first one's.
pub fn on_port(stage: &Stage, port: &str) -> Option<ProcId> {
    let number: usize = port.parse().ok()?;
    let place = (number % 100).checked_sub(1)?;
    (place < stage.servers()).then_some(ProcId(place as u16))
}

/// Releases that were compared with real servers or whose differences are known, as the servers
/// themselves count: 7.0 is 700.
const MODELLED: [(bool, u16); 7] =
    [(false, 700), (false, 704), (false, 804), (true, 801), (true, 900), (true, 901), (true, 902)];

/// `redis 7.0.15` or `valkey 9.1.2`. Another release may answer otherwise, so it is not played.
pub fn version(text: &str) -> Result<Version, NotModelled> {
    let unknown = || format!("the version `{text}`");
    let (name, number) = text.split_once(' ').ok_or_else(unknown)?;
    let mut parts = number.split('.').map(|part| part.parse::<u16>().ok());
    let (major, minor) = match (parts.next(), parts.next()) {
        (Some(Some(major)), Some(Some(minor))) if major < 100 && minor < 100 => (major, minor),
        _ => return Err(unknown()),
    };
    let valkey = match name.to_ascii_lowercase().as_str() {
        "redis" => false,
        "valkey" => true,
        _ => return Err(unknown()),
    };
    let number = major * 100 + minor;
    if !MODELLED.contains(&(valkey, number)) {
        return Err(unknown());
    }
    Ok(Version { valkey, number })
}

/// What the words about the servers say of their files: options as on a command line, or `no
/// persistence`.
pub fn persistence(server: &str) -> Result<Persistence, NotModelled> {
    let mut how = Persistence::none();
    let mut rest = server;
    while let Some((_, after)) = rest.split_once("--") {
        let (name, after) = after.split_once(' ').unwrap_or((after, ""));
        let (value, after) = match after.strip_prefix('\'') {
            Some(quoted) => quoted.split_once('\'').unwrap_or((quoted, "")),
            None => after.split_once([' ', ',', ';']).unwrap_or((after, "")),
        };
        rest = after;
        if name == "save" {
            how.save = save_points(value).ok_or_else(|| format!("the option --save {value}"))?;
            continue;
        }
        match setting(name, value) {
            Some(Ok(Some(Setting::AppendOnly(on)))) => how.append_only = on,
            Some(Ok(Some(Setting::AppendFsync(fsync)))) => how.fsync = fsync,
            Some(Ok(None)) => {}
            _ => return Err(format!("the option --{name} {value}")),
        }
    }
    if server.contains("redis.conf default") && !server.contains("--save") {
        how.save = default_save();
    }
    Ok(how)
}

/// A description names no more masters than this.
const MOST_MASTERS: usize = 16;

/// The servers' names in the order of their ports, and which of them are replicas of the first:
/// `single node`, `5 independent masters n1..n5` or `master m + replica r`. Nothing else says which
/// servers there are, so a step at another one finds nobody.
pub fn nodes(transcript: &Transcript) -> Result<(Vec<String>, Vec<usize>), NotModelled> {
    let clean = |word: &str| word.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_string();
    let words: Vec<String> = transcript.server.split_whitespace().map(clean).collect();
    let first: Vec<&str> = words.iter().take(3).map(String::as_str).collect();
    let unknown = || format!("the servers `{}`", transcript.server);
    match first[..] {
        ["single", "node", ..] => Ok((vec!["s1".into()], Vec::new())),
        [count, "masters", ..] | [count, "independent", "masters"] => match count.parse() {
            Ok(count @ 1..=MOST_MASTERS) => {
                Ok(((1..=count).map(|number| format!("n{number}")).collect(), Vec::new()))
            }
            _ => Err(unknown()),
        },
        ["master", ..] => {
            let nodes = followed(transcript, &words);
            // The first is the master; without a name for it, a replica would stand in its place.
            if nodes.0.is_empty() || nodes.1.contains(&0) { Err(unknown()) } else { Ok(nodes) }
        }
        _ => Err(unknown()),
    }
}

/// `master m + replica r`: a name stands behind what it is. Further replicas are words that
/// steps name as servers.
fn followed(transcript: &Transcript, words: &[String]) -> (Vec<String>, Vec<usize>) {
    let mut names: Vec<String> = Vec::new();
    let mut replicas = Vec::new();
    let is_name = |word: &str| {
        transcript.steps.iter().any(|step| {
            let named = |value: &serde_json::Value| match value {
                serde_json::Value::String(text) => text == word,
                serde_json::Value::Array(list) => list.iter().any(|v| v == word),
                _ => false,
            };
            step.node.as_deref() == Some(word)
                || (step.client == "env" && step.args.values().any(named))
        })
    };
    let mut role = "";
    let mut before = "";
    for word in words {
        let close = matches!(before, "master" | "replica");
        before = word;
        match word.as_str() {
            "master" | "replica" | "replicas" => role = word,
            name if !name.is_empty()
                && !role.is_empty()
                && (close || is_name(name))
                && !names.iter().any(|n| n == name) =>
            {
                if role.starts_with("replica") {
                    replicas.push(names.len());
                }
                names.push(name.into());
            }
            _ => {}
        }
    }
    (names, replicas)
}
