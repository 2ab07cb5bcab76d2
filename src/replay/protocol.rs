//! What tells the servers of one system from those of another, when transcripts are played.

use std::fmt::Debug;

use serde_json::Value;

use super::args::Args;
use super::compare::{Did, Difference, Symbols};
use super::deed::Deed;
use super::drive::Drive;
use super::stage::Stage;
use super::transcript::{Event, Step, Transcript};
use crate::sim::{Micros, ProcId};
use crate::systems::Body;

/// What of a transcript is not modelled, by name.
pub type NotModelled = String;

/// What a message that reached a client is.
#[derive(Clone, Debug)]
pub enum Word<R, P> {
    /// The answer to that request.
    Answer(u64, R),
    /// Something that was said unasked.
    Push(P),
    /// The server has closed the connection.
    Close,
}

/// One kind of servers on stage: how they are started, what is said to them and how what they say
/// is held against the record.
pub trait Protocol: Sized {
    /// What a server answers.
    type Reply: Clone + Debug;
    /// What a server says unasked.
    type Push: Clone + Debug;
    /// What is held against the record: an answer with its circumstances, or what a client
    /// concluded from answers.
    type Said: Clone + Debug;

    /// How long an answer may take before a step counts as blocked.
    const SETTLE: Micros;

    /// The world that a transcript describes, and what is kept about it beside the world. Where a
    /// transcript leaves something open, each turn fills it in otherwise.
    ///
    /// # Errors
    /// What of it is not modelled.
    fn open(transcript: &Transcript, turn: usize) -> Result<(Self, Stage), NotModelled>;

    /// How many turns there are, as far as the transcript was played.
    fn turns(&self) -> usize {
        1
    }

    /// What a message that reached a client is; nothing of a client's concern where it is none.
    fn word(body: &Body) -> Option<Word<Self::Reply, Self::Push>>;

    /// The last message on a connection that a client closes.
    fn farewell() -> Body;

    /// An answer came to a request, after that many messages that came unasked since the last step.
    fn said(&mut self, request: u64, reply: Self::Reply, before: usize) -> Self::Said;

    /// A connection of a client is gone, and its client did not end it.
    fn lost(&mut self, client: ProcId, server: ProcId);

    /// A client has dropped its connection.
    fn dropped(&mut self, client: ProcId, server: ProcId);

    /// A client's step.
    ///
    /// # Errors
    /// What of it is not modelled.
    fn ask(drive: &mut Drive<'_, Self>, step: &Step) -> Result<Did<Self::Said>, NotModelled>;

    /// A change of the world that only these servers know; none where it is not one of them.
    ///
    /// # Errors
    /// What of it is not modelled.
    fn change(
        drive: &mut Drive<'_, Self>,
        step: &Step,
        args: &Args<'_>,
    ) -> Result<Option<Did<Self::Said>>, NotModelled>;

    /// Waits for what a change of the world that all servers know brings about with these; none
    /// where it did.
    fn changed(
        _drive: &mut Drive<'_, Self>,
        _step: &Step,
        _deed: &Deed,
    ) -> Option<Did<Self::Said>> {
        None
    }

    /// Where a step's arguments say which server they mean.
    ///
    /// # Errors
    /// They say it in another way than by a name.
    fn server_named<'a>(args: &Args<'a>) -> Result<Option<&'a str>, NotModelled>;

    /// Whether a client is a process with a library in it; the others are connections alone.
    fn has_a_mind(&self, _client: ProcId) -> bool {
        false
    }

    /// Whether a client has a connection with a server.
    fn is_connected(&self, client: ProcId, server: ProcId) -> bool;

    /// The server of that name, or the only one.
    fn server(drive: &Drive<'_, Self>, name: Option<&str>) -> Option<ProcId> {
        drive.stage.server(name)
    }

    /// The step is played; what a later one depends on is noted.
    fn played(&mut self, _step: &Step) {}

    /// Whether a step that was not played is known to have changed nothing.
    fn changes_nothing(&self, step: &Step) -> bool;

    /// Whether messages after a step that came unasked may come in any order.
    fn any_order(_transcript: &Transcript, _step: &Step) -> bool {
        false
    }

    /// Whether what came to this client after a step is recorded with its own next step, whose answer
    /// it precedes: there the clients were so quick that nobody looked in between.
    fn awaited(_transcript: &Transcript, _step: &Step, _client: &str) -> bool {
        false
    }

    /// Holds an answer against the record.
    ///
    /// # Errors
    /// That it is another, or that the record has an unknown form.
    fn compare(
        recorded: &Value,
        said: &Self::Said,
        symbols: &mut Symbols,
    ) -> Result<(), Difference>;

    /// Whether answers of this type can be recorded of these servers.
    fn knows(kind: &str) -> bool;

    /// Holds what came unasked against the record of an event.
    ///
    /// # Errors
    /// That it is another, or that the record has an unknown form.
    fn compare_push(
        event: &Event,
        push: &Self::Push,
        symbols: &mut Symbols,
    ) -> Result<(), Difference>;

    /// Whether events of this type can be recorded of these servers.
    fn knows_event(kind: &str) -> bool;

    /// A function of a named value in a relation of the last line: `epoch(zxid4)`.
    fn function(_name: &str, _value: i128) -> Option<i128> {
        None
    }

    /// An answer as a person writes it.
    fn told(said: &Self::Said) -> String;

    /// What came unasked, as a person writes it.
    fn told_push(push: &Self::Push) -> String;
}
