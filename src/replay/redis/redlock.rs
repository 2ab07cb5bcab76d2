//! What a Redlock library concludes from the answers that it got.

use super::super::args::Args;
use super::super::compare::{Did, thousandths};
use super::super::stage::span;
use super::super::transcript::Step;
use super::answers::{Decision, Said};
use crate::sim::Micros;
use crate::systems::redis::redlock::{drift, quorum, validity};
use crate::systems::redis::{Command, Only, Reply, Script};

/// One client's tries at one lock.
#[derive(Default, Debug)]
struct Try {
    client: String,
    key: String,
    /// The value that it asked them to set.
    value: Option<String>,
    /// When it began to ask the masters.
    began: Option<Micros>,
    /// The masters that said yes.
    votes: Vec<String>,
    /// The masters on which its release deleted something.
    deleted: Vec<String>,
}

/// The tries of all clients.
#[derive(Default, Debug)]
pub struct Tries(Vec<Try>);

impl Tries {
    fn of(&mut self, client: &str, key: &str) -> &mut Try {
        let place = self.0.iter().position(|t| t.client == client && t.key == key);
        let place = place.unwrap_or_else(|| {
            self.0.push(Try { client: client.into(), key: key.into(), ..Try::default() });
            self.0.len() - 1
        });
        &mut self.0[place]
    }

    /// A client is about to send a command.
    pub fn asks(&mut self, step: &Step, command: &Command, now: Micros) {
        if let Command::Set(set) = command
            && set.only == Only::Absent
        {
            let of = self.of(&step.client, &set.key.to_string());
            of.began = of.began.or(Some(now));
            of.value = Some(set.value.to_string());
        }
    }

    /// It has an answer.
    pub fn hears(&mut self, step: &Step, command: &Command, did: &Did<Said>) {
        let Did::Answered(Said::Reply(reply)) = did else { return };
        let node = step.node.clone().unwrap_or_default();
        match (command, reply) {
            (Command::Set(set), Reply::Word("OK")) if set.only == Only::Absent => {
                self.of(&step.client, &set.key.to_string()).votes.push(node);
            }
            (
                Command::Eval(Script::Release, call)
                | Command::EvalSha(Some(Script::Release), call),
                Reply::Number(1),
            ) => {
                if let Some(key) = call.keys.first() {
                    self.of(&step.client, &key.to_string()).deleted.push(node);
                }
            }
            _ => {}
        }
    }

    /// The library looks at its clock and at its votes.
    ///
    /// # Errors
    /// What of its arguments is not modelled.
    pub fn decide(
        &mut self,
        step: &Step,
        masters: usize,
        now: Micros,
    ) -> Result<Did<Said>, String> {
        if !["REDLOCK_DECISION", "REDLOCK_RELEASED"].contains(&step.name.as_str()) {
            return Err(step.name.clone());
        }
        let args = Args::new("a decision", &step.args);
        let key = args.word("key")?;
        if step.name == "REDLOCK_RELEASED" {
            args.done()?;
            let of = std::mem::take(self.of(&step.client, key));
            return Ok(Did::Answered(Said::Decided(Decision::Release(of.deleted.len()))));
        }
        let ttl = span(args.number("ttl_ms")?)?;
        let wanted = args.whole("quorum")?;
        if wanted.is_some_and(|wanted| u64::try_from(wanted) != Ok(quorum(masters) as u64)) {
            return Err(format!("a quorum that is not {} of {masters}", quorum(masters)));
        }
        let allowed = drift(ttl);
        let said = args.take("drift_ms").map(|ms| thousandths(ms).ok_or(ms));
        if said.is_some_and(|us| us.map(u64::try_from) != Ok(Ok(allowed.0))) {
            return Err(format!("a drift that is not {allowed} for a TTL of {ttl}"));
        }
        let (value, nodes) = (args.text("value")?, args.texts("nodes_ok")?);
        args.done()?;
        let of = std::mem::take(self.of(&step.client, key));
        if value.is_some_and(|value| of.value.as_ref().is_some_and(|set| set != value)) {
            return Ok(Did::Failed(format!("the value that was set is {:?}", of.value)));
        }
        if let Some(nodes) = nodes.filter(|nodes| *nodes != of.votes) {
            let why = format!("the votes are of {:?}, recorded were {nodes:?}", of.votes);
            return Ok(Did::Failed(why));
        }
        let elapsed = of.began.map_or(Micros::ZERO, |began| now.since(began));
        let votes = of.votes.len();
        let enough = votes >= quorum(masters);
        let left = validity(ttl, elapsed, allowed).filter(|_| enough);
        let why = if enough { "validity <= 0" } else { "no quorum" };
        let (validity_us, why) = (left.map(|left| left.0), left.is_none().then_some(why));
        Ok(Did::Answered(Said::Decided(Decision::Acquire { votes, validity_us, why })))
    }
}
