//! Adding a system touches its own file and one registry line: this file is the system, and
//! `registry` below is the line.

mod support;

use lockscope::judge::{Grant, LockId, Mode, Testimony, TruthEnd};
use lockscope::run::{Run, compile};
use lockscope::sim::{
    Actor, Clocks, ConnId, CrashKind, Cx, EventId, Flow, Micros, Outcome, ProcId, Table, Waiting,
};
use lockscope::systems::{
    Body, Desk, Fact, LockClient, Locks, Piece, Registry, Settings, Spec, System,
};
use support::Case;

/// A service that gives everybody the lock: the shortest lie there is.
#[derive(Clone, Copy, Debug)]
struct Yes;

fn registry() -> Registry {
    Registry::standard().with(&Yes)
}

impl System for Yes {
    fn name(&self) -> &'static str {
        "yes"
    }
    fn about(&self) -> &'static str {
        "Says yes to everybody."
    }
    fn token_word(&self) -> &'static str {
        "yes"
    }
    fn settings(&self) -> &'static [Spec] {
        &[]
    }
    fn servers(
        &self,
        _: &Settings,
        _: usize,
        _: ProcId,
    ) -> Vec<(String, String, Box<dyn Actor<Locks>>)> {
        vec![("yes-1".into(), "Yes".into(), Box::new(Server))]
    }
    fn client(&self, _: &Settings, servers: &[ProcId]) -> Box<dyn LockClient> {
        Box::new(Caller { server: servers[0], task: None })
    }
}

#[derive(Clone, Copy, Debug)]
enum Talk {
    Please,
    Yes(EventId),
    Thanks(Grant),
}

#[derive(Clone, Debug)]
struct Server;

impl Actor<Locks> for Server {
    fn boxed(&self) -> Box<dyn Actor<Locks>> {
        Box::new(self.clone())
    }
    fn on_message(&mut self, cx: &mut Cx<'_, Locks>, client: ProcId, conn: ConnId, body: &Body) {
        match body.get::<Talk>() {
            Some(Talk::Please) => {
                let (lock, mode) = (LockId(0), Mode::Exclusive);
                let (token, term, expires, asked, woken) = (None, None, None, true, false);
                let note =
                    Testimony::Grant { lock, client, mode, token, term, expires, asked, woken };
                let grant = cx.note(note);
                cx.send(conn, Body::new("yes", body.request, Talk::Yes(grant)), None);
            }
            Some(Talk::Thanks(grant)) => {
                cx.note(Testimony::Free(*grant, TruthEnd::Released));
            }
            _ => {}
        }
    }
    fn on_crash(&mut self, _: &mut Cx<'_, Locks>, _: CrashKind) {}
    fn on_settings(&mut self, _: &Settings) {}
    fn facts(&self, _: Micros, _: &Clocks) -> Vec<Fact> {
        vec![Fact::Row { key: vec![Piece::Word("says")], value: vec![Piece::Word("yes")] }]
    }
}

#[derive(Clone, Debug)]
struct Caller {
    server: ProcId,
    task: Option<usize>,
}

impl LockClient for Caller {
    fn boxed(&self) -> Box<dyn LockClient> {
        Box::new(self.clone())
    }
    fn acquire(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        task: usize,
        _: LockId,
        _: Mode,
        _: Option<Micros>,
    ) -> Flow {
        self.task = Some(task);
        cx.ask(self.server, Body::new("please", desk.request(), Talk::Please), None);
        Flow::Wait(Waiting { verb: "acquire", on: self.server, until: None })
    }
    fn renew(&mut self, _: &mut Cx<'_, Locks>, _: &mut Desk, _: usize, _: LockId) -> Flow {
        Flow::Done(Outcome::Ok)
    }
    fn release(&mut self, cx: &mut Cx<'_, Locks>, desk: &mut Desk, _: usize, lock: LockId) -> Flow {
        if let Some(grant) = desk.last_grant(lock) {
            desk.doubt(cx, lock, lockscope::judge::BeliefEnd::Released);
            cx.ask(self.server, Body::new("thanks", desk.request(), Talk::Thanks(grant)), None);
        }
        Flow::Done(Outcome::Ok)
    }
    fn on_message(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        desk: &mut Desk,
        _: (ProcId, ConnId),
        body: &Body,
    ) {
        let (Some(Talk::Yes(grant)), Some(task)) = (body.get::<Talk>(), self.task.take()) else {
            return;
        };
        desk.believe(cx, LockId(0), Mode::Exclusive, Grant(*grant), None, None);
        cx.finish(task, Outcome::Ok);
    }
    fn on_timer(&mut self, _: &mut Cx<'_, Locks>, _: &mut Desk, _: u64) {}
    fn on_closed(&mut self, _: &mut Cx<'_, Locks>, _: &mut Desk, _: ProcId, _: ConnId) {}
    fn on_crash(&mut self) {}
    fn on_settings(&mut self, _: &Settings) {}
}

#[test]
fn a_system_of_one_file_is_simulated_judged_told_and_drawn_like_any_other() {
    let program = "acquire; read x; work 1s; write x = x + 1; release";
    let mut case = Case::new(&[("x", 0)])
        .client("client-a", "0s", program)
        .client("client-b", "200ms", program);
    case.scenario.system = "yes".into();
    case.scenario.settings = Table::new();
    let compiled = compile(&case.scenario, &[], &registry()).expect("the scenario is right");
    let run = Run::of(compiled);
    let verdict = &run.judgement.verdict;
    assert_eq!((verdict.grants, verdict.double_grant, verdict.corruption), (2, 1, 1));
    assert_eq!(verdict.overlap_us, 1_000_000);
    let told = lockscope::narrate::log(&run);
    assert!(told.contains("Yes"), "{told}");
    let picture = lockscope::diagram::layout(&run, &lockscope::diagram::Layout::default());
    assert!(lockscope::diagram::svg(&run, &picture).contains("Yes"));
}
