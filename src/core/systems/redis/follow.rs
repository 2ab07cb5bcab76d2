//! Masters and replicas: who follows whom, and how one takes the other's place.

use super::command::{Refusal, Reply};
use super::config::Fsync;
use super::persist::{Batch, apply};
use super::replica::{Link, Stream, Upstream};
use super::server::{Packet, Server, alarm};
use super::text::Text;
use crate::sim::{ClockKind, ConnId, Cx, Micros, ProcId};
use crate::systems::{Body, Locks};

const BEAT: Micros = Micros::from_secs(1);

impl Server {
    /// Becomes the replica of that master. What it had is there until the master's keys come.
    pub(super) fn follow(&mut self, cx: &mut Cx<'_, Locks>, master: ProcId) {
        if self.upstream.is_some_and(|u| u.master == master) {
            return;
        }
        self.leave_master(cx);
        for link in std::mem::take(&mut self.replicas) {
            // Its own replicas have to ask anew.
            cx.send(link.conn, Body::new("close", 0, Packet::Close), None);
        }
        self.upstream = Some(Upstream { master, conn: None });
        self.witness.steps_down();
        self.plan_sweep(cx);
        self.ask_for_everything(cx);
        if self.circle.is_empty() {
            self.plan_beat(cx);
        }
    }

    /// Becomes a master, with what it has.
    pub(super) fn lead(&mut self, cx: &mut Cx<'_, Locks>) {
        self.leave_master(cx);
        if let Some(beat) = self.alarms.beat.take() {
            cx.cancel(beat);
        }
        self.plan_sweep(cx);
    }

    fn leave_master(&mut self, cx: &mut Cx<'_, Locks>) {
        // Among others, a master that is known to be gone is not told.
        let told = |u: &Upstream| self.circle.is_empty() || u.conn.is_some();
        if let Some(upstream) = self.upstream.take().filter(told) {
            cx.ask(upstream.master, Body::new("close", 0, Packet::Close), None);
            cx.abandon(upstream.master);
        }
    }

    pub(super) fn ask_for_everything(&mut self, cx: &mut Cx<'_, Locks>) {
        if let Some(upstream) = self.upstream {
            cx.abandon(upstream.master);
            cx.ask(upstream.master, Body::new(Stream::Sync.name(), 0, Stream::Sync), None);
        }
    }

    fn plan_beat(&mut self, cx: &mut Cx<'_, Locks>) {
        let at = cx.clock(ClockKind::Mono).plus(BEAT);
        if let Some(beat) = self.alarms.beat.replace(cx.timer(ClockKind::Mono, at, alarm::BEAT)) {
            cx.cancel(beat);
        }
    }

    /// Once a second a replica says how far it is, or asks for its master again.
    pub(super) fn beat(&mut self, cx: &mut Cx<'_, Locks>) {
        self.alarms.beat = None;
        if self.upstream.is_some_and(|u| u.conn.is_none()) {
            self.ask_for_everything(cx);
        } else {
            self.acknowledge(cx);
        }
        if self.upstream.is_some() {
            self.plan_beat(cx);
        }
    }

    /// Tells the master how far this replica is.
    pub(super) fn acknowledge(&mut self, cx: &mut Cx<'_, Locks>) {
        if let Some(conn) = self.upstream.and_then(|u| u.conn) {
            let ack = Stream::Ack(self.offset, self.files.synced);
            cx.send(conn, Body::new(ack.name(), 0, ack), None);
        }
    }

    /// Asks all replicas how far they are, if somebody waits to know.
    pub(super) fn ask_for_acks(&mut self, cx: &mut Cx<'_, Locks>) {
        if std::mem::take(&mut self.asks_for_acks) && !self.replicas.is_empty() {
            self.offset += 1;
            for link in &self.replicas {
                let ask = Stream::GetAck(self.offset);
                cx.send(link.conn, Body::new(ask.name(), 0, ask), None);
            }
        }
    }

    /// Files and replicas get what happened.
    pub(super) fn spread(&mut self, cx: &mut Cx<'_, Locks>, batch: Batch) {
        let how = self.config.persistence.clone();
        self.files.append(&batch, self.offset, &how);
        if how.append_only && how.fsync == Fsync::EverySecond && self.alarms.sync.is_none() {
            let at = cx.clock(ClockKind::Mono).plus(BEAT);
            self.alarms.sync = Some(cx.timer(ClockKind::Mono, at, alarm::SYNC));
        }
        for link in &self.replicas {
            let change = Stream::Change(batch.clone(), self.offset);
            cx.send(link.conn, Body::new(change.name(), 0, change), None);
        }
        self.plan_save(cx);
    }

    /// A word of a master or a replica.
    pub(super) fn heard(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        from: ProcId,
        conn: ConnId,
        stream: &Stream,
    ) {
        let is_master = self.upstream.is_some_and(|u| u.master == from);
        match stream {
            Stream::Sync => {
                self.replicas.retain(|l| l.peer != from);
                let link = Link { conn, peer: from, online: false, acked: 0, durable: 0, heard: 0 };
                self.replicas.push(link);
                let all = Stream::Snapshot(self.keys.clone().into(), self.offset);
                cx.send(conn, Body::new(all.name(), 0, all), None);
            }
            Stream::Snapshot(keys, offset) if is_master => {
                self.upstream = Some(Upstream { master: from, conn: Some(conn) });
                self.keys = keys.as_ref().clone();
                self.offset = *offset;
                if self.config.persistence.append_only {
                    self.files.rewrite(&self.keys);
                    (self.files.written, self.files.synced) = (*offset, *offset);
                }
                self.acknowledge(cx);
            }
            // What an earlier master has sent is no news.
            Stream::Change(batch, offset) if self.upstream.and_then(|u| u.conn) == Some(conn) => {
                apply(&mut self.keys, batch);
                self.offset = *offset;
                for (key, _) in batch.iter() {
                    self.touched(key);
                }
                self.spread(cx, batch.clone());
            }
            Stream::GetAck(offset) if self.upstream.and_then(|u| u.conn) == Some(conn) => {
                // It answers before it counts the question.
                self.acknowledge(cx);
                self.offset = *offset;
            }
            Stream::Ack(offset, durable) => {
                let heard = Server::now(cx).div_euclid(1_000);
                if let Some(link) = self.replicas.iter_mut().find(|l| l.conn == conn) {
                    (link.online, link.heard) = (true, heard);
                    (link.acked, link.durable) = (*offset, *durable);
                }
                self.look_at_waits(cx);
                self.go_on_handing_over(cx);
            }
            Stream::Promote if is_master => {
                self.lead(cx);
            }
            Stream::Follow(_) | Stream::Hello(_) => {
                self.heard_of_masters(cx, (from, conn), stream);
            }
            _ => {}
        }
    }

    fn touched(&mut self, key: &Text) {
        let gone = self.keys.raw(key).is_none();
        self.sessions.iter_mut().for_each(|session| session.touched(key, gone));
    }

    /// `ROLE`: what it is; of a master, how many replicas it has; of a replica, how its link is.
    pub(super) fn role(&self) -> Reply {
        let word = |word: &'static str| Reply::Bulk(Text::Word(word.into()));
        match &self.upstream {
            None => {
                let online = self.replicas.iter().filter(|l| l.online);
                let replicas = online.map(|l| Reply::Number(l.acked as i64)).collect();
                let offset = Reply::Number(self.offset as i64);
                Reply::Array(vec![word("master"), offset, Reply::Array(replicas)])
            }
            Some(upstream) => {
                let master = Reply::Number(i64::from(upstream.master.0));
                let link = if upstream.conn.is_some() { "connected" } else { "connecting" };
                let offset = Reply::Number(self.offset as i64);
                Reply::Array(vec![word("slave"), master, word(link), offset])
            }
        }
    }

    /// `FAILOVER`: writes are held until that replica has everything, and then it leads.
    pub(super) fn hand_over(&mut self, cx: &mut Cx<'_, Locks>, to: Option<ProcId>) -> Reply {
        let there = |l: &&Link| l.online && to.is_none_or(|to| l.peer == to);
        let Some(link) = self.replicas.iter().find(there).copied() else {
            return Reply::Error(Refusal::FailOver);
        };
        if !self.is_master() || self.handing_to.is_some() {
            return Reply::Error(Refusal::FailOver);
        }
        self.handing_to = Some(link.peer);
        self.pause(cx, i64::MAX / 1_000, true);
        Reply::OK
    }

    fn go_on_handing_over(&mut self, cx: &mut Cx<'_, Locks>) {
        let offset = self.offset;
        let ready = |l: &&Link| Some(l.peer) == self.handing_to && l.acked >= offset;
        let Some(link) = self.replicas.iter().find(ready).copied() else { return };
        self.handing_to = None;
        cx.send(link.conn, Body::new(Stream::Promote.name(), 0, Stream::Promote), None);
        self.follow(cx, link.peer);
        self.resume(cx);
    }
}
