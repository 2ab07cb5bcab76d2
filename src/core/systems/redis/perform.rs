//! Carrying a command out, and what follows: transactions, waits, events of keys, the stream.

use super::command::{Command, Refusal, Reply};
use super::engine::Happened;
use super::persist::{batch, next_save};
use super::server::{Server, alarm, place_of};
use super::session::Blocked;
use super::text::Text;
use super::witness::Deed;
use crate::sim::{ClockKind, ConnId, Cx, Local, Micros, ProcId};
use crate::systems::Locks;

type Changes = Vec<(Text, Happened)>;

impl Server {
    /// Carries a command out; none where its answer comes later, or never.
    pub(super) fn perform(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        conn: ConnId,
        peer: ProcId,
        request: u64,
        command: &Command,
    ) -> Option<Reply> {
        match command {
            Command::Multi => self.session(conn, peer).queue = Some(Vec::new()),
            Command::Exec => return Some(self.exec(cx, conn, peer)),
            Command::Discard => {
                let session = self.session(conn, peer);
                if session.queue.is_none() {
                    return Some(Reply::Error(Refusal::DiscardAlone));
                }
                session.forget_transaction();
            }
            Command::Watch(keys) => {
                let now = Server::now(cx);
                for key in keys {
                    let over = self.keys.raw(key).is_some_and(|entry| entry.is_over(now));
                    self.session(conn, peer).watch(key, over);
                }
            }
            Command::Unwatch => self.session(conn, peer).unwatch(),
            Command::Wait { .. } | Command::WaitAof { .. } => {
                return self.wait(cx, conn, peer, request, command);
            }
            Command::Shutdown(save) => {
                self.parting = *save;
                cx.leave();
                return None;
            }
            _ => {
                if let Some(reply) = self.rare(cx, (conn, peer), command) {
                    return reply;
                }
                let mut changes = Vec::new();
                let reply = self.carry_out(cx, command, &mut changes);
                self.changed(cx, &changes);
                return Some(reply);
            }
        }
        Some(Reply::OK)
    }

    /// A command that can stand in a transaction too. It waits for nobody.
    fn carry_out(&mut self, cx: &mut Cx<'_, Locks>, command: &Command, all: &mut Changes) -> Reply {
        match command {
            Command::EvalSha(script, _)
                if script.is_none_or(|script| !self.scripts[place_of(script)]) =>
            {
                Reply::Error(Refusal::NoScript)
            }
            Command::Eval(script, call) | Command::EvalSha(Some(script), call) => {
                self.scripts[place_of(*script)] = true;
                let mut engine = self.engine(Server::now(cx));
                let reply = script.run(&mut engine, call);
                all.append(&mut engine.changes);
                reply
            }
            Command::ScriptLoad(script) => {
                self.scripts[place_of(*script)] = true;
                Reply::Bulk(Text::Word(script.sha().into()))
            }
            Command::ScriptExists(scripts) => {
                let has = |s: &Option<_>| s.is_some_and(|s| self.scripts[place_of(s)]);
                Reply::Array(scripts.iter().map(|s| Reply::yes(has(s))).collect())
            }
            Command::ScriptFlush => {
                self.scripts = [false; 4];
                Reply::OK
            }
            Command::Role => self.role(),
            Command::ReplicaOf(None) => {
                self.lead(cx);
                Reply::OK
            }
            Command::ReplicaOf(Some(master)) => {
                self.follow(cx, *master);
                Reply::OK
            }
            Command::FailOver(to) => self.hand_over(cx, *to),
            Command::Save => {
                self.snapshot(cx);
                Reply::OK
            }
            Command::Unpause => {
                self.resume(cx);
                Reply::OK
            }
            Command::Pause { ms, writes_only } => {
                let until = Server::now(cx).saturating_add(*ms);
                self.pause(cx, until, *writes_only);
                Reply::OK
            }
            _ => {
                let mut engine = self.engine(Server::now(cx));
                let reply = engine.run(command).unwrap_or(Reply::Error(Refusal::Unknown));
                all.append(&mut engine.changes);
                reply
            }
        }
    }

    /// The transaction, in one instant; not at all, where a watched key was changed or is over.
    fn exec(&mut self, cx: &mut Cx<'_, Locks>, conn: ConnId, peer: ProcId) -> Reply {
        let now = Server::now(cx);
        let session = self.session(conn, peer);
        if session.queue.is_none() {
            return Reply::Error(Refusal::ExecAlone);
        }
        let (spoiled, mut dirty) = (session.spoiled, session.dirty);
        let watched = std::mem::take(&mut session.watched);
        let queue = session.forget_transaction();
        let is_over = |key: &Text| self.keys.raw(key).is_some_and(|entry| entry.is_over(now));
        dirty |= watched.iter().any(|(key, was_over)| !was_over && is_over(key));
        if spoiled {
            return Reply::Error(Refusal::Aborted);
        }
        if dirty {
            return Reply::NilArray;
        }
        let (mut changes, mut replies) = (Vec::new(), Vec::new());
        for command in queue {
            let command = command.as_ref();
            let reply = match command {
                Command::Wait { .. } | Command::WaitAof { .. } => {
                    self.wait_for_nobody(conn, peer, command)
                }
                Command::Unwatch => Reply::OK,
                _ => match self.rare(cx, (conn, peer), command) {
                    Some(reply) => reply.unwrap_or(Reply::Nil),
                    None => self.carry_out(cx, command, &mut changes),
                },
            };
            replies.push(reply);
        }
        self.changed(cx, &changes);
        Reply::Array(replies)
    }

    /// What follows when keys were changed: whoever watches or listens learns it, the files and the
    /// replicas get it.
    pub(super) fn changed(&mut self, cx: &mut Cx<'_, Locks>, changes: &Changes) {
        if changes.is_empty() {
            return;
        }
        for (key, what) in changes {
            self.sessions.iter_mut().for_each(|session| session.touched(key, what.deletes()));
        }
        let deed = self.deed.unwrap_or(Deed::nobodys(cx.me()));
        self.witness.changed(cx, &self.keys, changes, deed);
        self.offset += 1;
        self.spread(cx, batch(changes, &self.keys));
        self.tell(cx, changes);
        self.plan_sweep(cx);
    }

    /// An administrator's command, which comes on no connection and is not answered.
    pub(super) fn by_hand(&mut self, cx: &mut Cx<'_, Locks>, command: &Command) {
        let mut changes = Vec::new();
        self.carry_out(cx, command, &mut changes);
        self.changed(cx, &changes);
    }

    /// Takes a snapshot.
    pub(super) fn snapshot(&mut self, cx: &mut Cx<'_, Locks>) {
        self.files.save(&self.keys);
        self.alarms.last_save = Server::now(cx);
        self.plan_save(cx);
    }

    pub(super) fn plan_save(&mut self, cx: &mut Cx<'_, Locks>) {
        if let Some(timer) = self.alarms.save.take() {
            cx.cancel(timer);
        }
        let how = &self.config.persistence;
        if let Some(at) = next_save(how, self.files.dirty, self.alarms.last_save) {
            let at = Local(at.saturating_add(1).saturating_mul(1_000));
            self.alarms.save = Some(cx.timer(ClockKind::Wall, at, alarm::SAVE));
        }
    }

    /// Waits for the earliest end of any key. The server looks ten times a second; in between
    /// nothing would be found, so it is not simulated.
    pub(super) fn plan_sweep(&mut self, cx: &mut Cx<'_, Locks>) {
        let sweeps = self.config.active_expire && self.is_master() && self.paused.is_none();
        let end = self.keys.earliest_end().filter(|_| sweeps);
        if self.alarms.sweep.map(|planned| planned.0) == end {
            return;
        }
        if let Some((_, timer)) = self.alarms.sweep.take() {
            cx.cancel(timer);
        }
        self.alarms.sweep = end.map(|end| {
            let at = Local(end.saturating_add(1).saturating_mul(1_000));
            (end, cx.timer(ClockKind::Wall, at, alarm::END))
        });
    }

    /// A key's time is over: it will be found in the next of the ten rounds a second.
    pub(super) fn plan_round(&mut self, cx: &mut Cx<'_, Locks>) {
        const ROUND: u64 = 100_000;
        let Some((end, _)) = self.alarms.sweep else { return };
        let now = cx.clock(ClockKind::Mono);
        let passed = self.alarms.began.until(now).0;
        let next = self.alarms.began.plus(Micros(passed.div_ceil(ROUND) * ROUND));
        self.alarms.sweep = Some((end, cx.timer(ClockKind::Mono, next, alarm::SWEEP)));
    }

    /// A round of the active expiry.
    pub(super) fn round(&mut self, cx: &mut Cx<'_, Locks>) {
        self.alarms.sweep = None;
        let mut engine = self.engine(Server::now(cx));
        engine.sweep();
        let changes = engine.changes;
        self.changed(cx, &changes);
        self.plan_sweep(cx);
    }

    /// `WAIT`: how many replicas have what the connection wrote, at once or later.
    fn wait(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        conn: ConnId,
        peer: ProcId,
        request: u64,
        command: &Command,
    ) -> Option<Reply> {
        let (local, replicas, timeout) = match command {
            Command::Wait { replicas, timeout } => (None, *replicas, *timeout),
            Command::WaitAof { local, replicas, timeout } => {
                (Some(*local > 0), *replicas, *timeout)
            }
            _ => return None,
        };
        if let Some(refusal) = self.unfit_wait(local) {
            return Some(Reply::Error(refusal));
        }
        let replicas = usize::try_from(replicas).unwrap_or(0);
        let offset = self.session(conn, peer).offset;
        if self.is_enough(offset, replicas, local) {
            return Some(self.count(offset, local));
        }
        self.asks_for_acks = true;
        let timer = (timeout > 0).then(|| {
            let span = Micros::from_millis(timeout.unsigned_abs().min(1 << 50));
            let at = cx.clock(ClockKind::Mono).plus(span);
            cx.timer(ClockKind::Mono, at, alarm::WAIT | u64::from(conn.0))
        });
        let blocked = Blocked::Replicas { request, replicas, local, offset, timer };
        self.session(conn, peer).blocked = Some(blocked);
        None
    }

    fn unfit_wait(&self, local: Option<bool>) -> Option<Refusal> {
        if !self.is_master() {
            return Some(Refusal::WaitOnReplica);
        }
        let no_file = local == Some(true) && !self.config.persistence.append_only;
        no_file.then_some(Refusal::NoAppendOnly)
    }

    /// Inside a transaction a wait counts and goes on.
    fn wait_for_nobody(&mut self, conn: ConnId, peer: ProcId, command: &Command) -> Reply {
        let local = match command {
            Command::WaitAof { local, .. } => Some(*local > 0),
            _ => None,
        };
        let offset = self.session(conn, peer).offset;
        self.unfit_wait(local).map_or_else(|| self.count(offset, local), Reply::Error)
    }

    /// How many replicas have that much: of the stream for `WAIT`, in their files for `WAITAOF`.
    fn reached(&self, offset: u64, files: bool) -> usize {
        let far = |l: &super::replica::Link| if files { l.durable } else { l.acked };
        self.replicas
            .iter()
            .filter(|l| l.online && far(l) >= offset && (!files || far(l) > 0))
            .count()
    }

    /// Whether the server's own file has that much.
    fn is_durable(&self, offset: u64) -> bool {
        self.config.persistence.append_only && self.files.synced >= offset
    }

    fn is_enough(&self, offset: u64, replicas: usize, local: Option<bool>) -> bool {
        let own = local != Some(true) || self.is_durable(offset);
        own && self.reached(offset, local.is_some()) >= replicas
    }

    fn count(&self, offset: u64, local: Option<bool>) -> Reply {
        let reached = Reply::Number(self.reached(offset, local.is_some()) as i64);
        match local {
            None => reached,
            Some(_) => Reply::Array(vec![Reply::yes(self.is_durable(offset)), reached]),
        }
    }

    /// Something was acknowledged: whoever waited for it has an answer.
    pub(super) fn look_at_waits(&mut self, cx: &mut Cx<'_, Locks>) {
        let done: Vec<ConnId> = self
            .sessions
            .iter()
            .filter(|session| match &session.blocked {
                Some(Blocked::Replicas { replicas, local, offset, .. }) => {
                    self.is_enough(*offset, *replicas, *local)
                }
                _ => false,
            })
            .map(|session| session.conn)
            .collect();
        for conn in done {
            self.waited_enough(cx, conn);
        }
    }

    /// A wait is over: it is answered with what is, which may be less than was asked for.
    pub(super) fn waited_enough(&mut self, cx: &mut Cx<'_, Locks>, conn: ConnId) {
        let Some(session) = self.sessions.iter_mut().find(|s| s.conn == conn) else { return };
        if !matches!(session.blocked, Some(Blocked::Replicas { .. })) {
            return;
        }
        if let Some(Blocked::Replicas { request, local, offset, timer, .. }) =
            session.blocked.take()
        {
            if let Some(timer) = timer {
                cx.cancel(timer);
            }
            let reply = self.count(offset, local);
            Server::answer(cx, conn, request, reply);
            self.unblock(cx, conn);
        }
    }
}
