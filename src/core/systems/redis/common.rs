//! What takes the place of the rare commands in the page, which asks for none of them.

use super::command::{Command, Reply};
use super::engine::{Answer, Engine, Happened};
use super::server::Server;
use super::text::Text;
use crate::sim::{ConnId, Cx, ProcId};
use crate::systems::Locks;

impl Engine<'_> {
    /// Nothing else is asked for.
    pub(super) fn rare(&mut self, _: &Command) -> Option<Answer> {
        None
    }
}

impl Server {
    /// Nothing else is asked for.
    pub(super) fn rare(
        &mut self,
        _: &mut Cx<'_, Locks>,
        _: (ConnId, ProcId),
        _: &Command,
    ) -> Option<Option<Reply>> {
        None
    }

    /// Nobody listens.
    pub(super) fn tell(&mut self, _: &mut Cx<'_, Locks>, _: &[(Text, Happened)]) {}

    /// Memory is never short.
    pub(super) fn make_room(&mut self, _: &mut Cx<'_, Locks>) {}
}
