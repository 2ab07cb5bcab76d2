//! Requests, written out as somebody would type them.

use super::request::{CreateMode, Packet, Request};
use crate::systems::Body;

/// What a client asks, in full; none for what its name says already.
pub(super) fn spell(body: &Body, _locks: &[String]) -> Option<String> {
    let Some(Packet::Ask(request)) = body.get::<Packet>() else { return None };
    let watching = |watch: bool| if watch { ", watching it" } else { "" };
    let name = request.name();
    Some(match request.as_ref() {
        Request::Create { path, mode, .. } => {
            let how = match mode {
                CreateMode::Persistent => "",
                CreateMode::PersistentSequential => ", numbered",
                CreateMode::Ephemeral => ", ephemeral",
                CreateMode::EphemeralSequential => ", ephemeral and numbered",
                CreateMode::Container => ", as a container",
            };
            format!("{name} {}{how}", path.as_str())
        }
        Request::Delete { path, .. } => format!("{name} {}", path.as_str()),
        Request::Exists { path, watch } | Request::GetChildren { path, watch, .. } => {
            format!("{name} {}{}", path.as_str(), watching(*watch))
        }
        _ => return None,
    })
}
