//! A client's books: what it believes, which section is open, what it wrote and knows in it.

use super::{Locks, Settings};
use crate::judge::{
    BeliefEnd, CellId, Grant, LockId, Mode, Operation, Section, SectionEnd, Testimony, Token,
};
use crate::sim::{ClockKind, Cx, Local, Micros, TimerId};

/// What a client believes of one lock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) token: Option<Token>,
    /// When the client's own rule says that the grant is over, on the clock that it reads.
    pub(super) deadline: Option<Local>,
    /// The timer that ends the belief then, where the client sets one.
    timer: Option<TimerId>,
}

/// A write of the open section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    pub(super) site: (usize, usize),
    pub(super) cell: CellId,
    pub(super) value: i64,
    pub(super) number: u32,
    /// Its last attempt was not answered, so that the next alike is a retry of it.
    pub(super) unanswered: bool,
    /// It was refused, so that it has certainly done nothing.
    pub(super) refused: bool,
}

#[derive(Clone, Debug)]
pub(super) struct OpenSection {
    pub(super) name: Section,
    pub(super) closed: Option<SectionEnd>,
    pub(super) written: Vec<Written>,
    /// The version of each cell that this section knows.
    pub(super) known: Vec<(CellId, u32)>,
}

/// A client's books: beliefs, sections, numbers of requests. Shared with its lock library.
#[derive(Clone, Default, Debug)]
pub struct Desk {
    pub(super) held: Vec<(LockId, Held)>,
    /// The latest grant of each lock and its token; kept when the belief ends, because a careless
    /// client goes on using it.
    pub(super) last: Vec<(LockId, Grant, Option<Token>)>,
    pub(super) section: Option<OpenSection>,
    sections: u32,
    requests: u64,
    life: u32,
    /// What the client does when it learns that a lock is gone.
    pub(super) failure: Failure,
    /// Its handler `undo` is at work in the open section.
    undoing: bool,
    /// How it keeps its own deadline.
    own: Own,
}

/// How a client keeps its own deadline.
#[derive(Clone, Copy, Debug)]
pub(super) struct Own {
    /// The clock that it reads.
    pub(super) clock: ClockKind,
    /// How much earlier the deadline is than the end of its lease.
    margin: Micros,
    /// Whether a timer ends the belief.
    timer: bool,
}

impl Own {
    pub(super) fn of(settings: &Settings) -> Own {
        Own {
            clock: settings.clock("client.clock"),
            margin: settings.span("client.margin"),
            timer: settings.word("deadline.rule") == "timer",
        }
    }
}

impl Default for Own {
    fn default() -> Own {
        Own { clock: ClockKind::Mono, margin: Micros::ZERO, timer: false }
    }
}

/// What a client does when it learns that a lock is gone.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Failure {
    /// Its program goes on.
    #[default]
    CarryOn,
    /// Its program ends.
    Stop,
    /// Its program ends, and its handler takes back what it did.
    StopAndUndo,
}

impl Failure {
    pub(super) fn of(settings: &Settings) -> Failure {
        match settings.word("renew.failure") {
            "stop" => Failure::Stop,
            "stop-and-undo" => Failure::StopAndUndo,
            _ => Failure::CarryOn,
        }
    }
}

impl Desk {
    pub(super) fn new(settings: &Settings) -> Desk {
        let mut desk = Desk::default();
        desk.configure(settings);
        desk
    }

    /// Settings changed; deadlines that are kept already stay.
    pub(super) fn configure(&mut self, settings: &Settings) {
        self.failure = Failure::of(settings);
        self.own = Own::of(settings);
    }

    /// The clock that the client reads for its own deadlines.
    pub fn clock(&self) -> ClockKind {
        self.own.clock
    }

    /// The key of the timer that ends the belief in a lock; requests have smaller ones.
    const fn deadline_key(lock: LockId) -> u64 {
        1 << 63 | lock.0 as u64
    }

    /// Keeps a deadline for a lock that is held: earlier by the margin, with a timer where one is set.
    fn keep(&mut self, cx: &mut Cx<'_, Locks>, lock: LockId, deadline: Option<Local>) {
        let (own, early) = (self.own, i64::try_from(self.own.margin.0).unwrap_or(i64::MAX));
        let deadline = deadline.map(|d| Local(d.0.saturating_sub(early)));
        let Some((_, held)) = self.held.iter_mut().find(|h| h.0 == lock) else { return };
        held.deadline = deadline;
        if let Some(timer) = held.timer.take() {
            cx.cancel(timer);
        }
        if let (true, Some(deadline)) = (own.timer, deadline) {
            held.timer = Some(cx.timer(own.clock, deadline, Desk::deadline_key(lock)));
        }
    }

    /// A timer fired: true where it was one that ends a belief.
    pub(super) fn on_timer(&mut self, cx: &mut Cx<'_, Locks>, key: u64) -> bool {
        let own = self.held.iter().find(|h| Desk::deadline_key(h.0) == key).map(|h| h.0);
        if let Some(lock) = own {
            self.doubt(cx, lock, BeliefEnd::Deadline);
        }
        key >> 63 == 1
    }

    /// Whether the client may still act as holder by its own clock.
    pub(super) fn in_time(&self, cx: &Cx<'_, Locks>, lock: LockId) -> bool {
        let held = self.held.iter().find(|h| h.0 == lock);
        let now = cx.clock(self.own.clock);
        held.is_some_and(|h| h.1.deadline.is_none_or(|deadline| now < deadline))
    }

    /// A number for a new request; also the key of its timer.
    pub fn request(&mut self) -> u64 {
        self.requests += 1;
        self.requests
    }

    /// The number of the latest request.
    pub fn last_request(&self) -> u64 {
        self.requests
    }

    /// The key of a lock library's timer for a request.
    pub const fn key(request: u64) -> u64 {
        request << 1
    }

    /// Which life of the process this is; servers see each as another client.
    pub fn life(&self) -> u32 {
        self.life
    }

    /// Whether the client believes that it holds the lock.
    pub fn believes(&self, lock: LockId) -> bool {
        self.held.iter().any(|h| h.0 == lock)
    }

    /// The latest grant of a lock that the client consumed.
    pub fn last_grant(&self, lock: LockId) -> Option<Grant> {
        self.last.iter().find(|l| l.0 == lock).map(|l| l.1)
    }

    /// The client consumes a grant: its belief and a section begin.
    pub fn believe(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        lock: LockId,
        mode: Mode,
        grant: Grant,
        token: Option<Token>,
        deadline: Option<Local>,
    ) {
        let again = self.believes(lock) && self.last_grant(lock) == Some(grant);
        let alone = self.held.iter().all(|h| h.0 == lock);
        self.let_go(cx, lock);
        self.held.push((lock, Held { token, deadline: None, timer: None }));
        self.keep(cx, lock, deadline);
        self.last.retain(|l| l.0 != lock);
        self.last.push((lock, grant, token));
        if !again {
            cx.note(Testimony::Believe(lock, grant, mode));
        }
        // A second lock taken while another is held belongs to the same unit of work.
        if alone {
            self.begin(cx);
        }
    }

    /// A renewal was accepted: the client's own deadline moves.
    pub fn extend(&mut self, cx: &mut Cx<'_, Locks>, lock: LockId, deadline: Option<Local>) {
        self.keep(cx, lock, deadline);
    }

    /// Forgets a lock that is held, and the timer that would end the belief in it.
    fn let_go(&mut self, cx: &mut Cx<'_, Locks>, lock: LockId) {
        for timer in self.held.iter().filter(|h| h.0 == lock).filter_map(|h| h.1.timer) {
            cx.cancel(timer);
        }
        self.held.retain(|h| h.0 != lock);
    }

    /// The client's belief ends, and with its last one the section.
    pub fn doubt(&mut self, cx: &mut Cx<'_, Locks>, lock: LockId, why: BeliefEnd) {
        if !self.believes(lock) {
            return;
        }
        self.let_go(cx, lock);
        cx.note(Testimony::Doubt(lock, why));
        let lost = why.is_loss();
        let undo = lost && self.failure == Failure::StopAndUndo;
        // The section goes on while it is taken back.
        self.undoing |= undo && cx.notify("undo");
        if self.held.is_empty() && !self.undoing {
            self.close(cx, section_end(why));
        }
        if lost {
            cx.notify("lost");
            if self.failure != Failure::CarryOn {
                cx.stop_program();
            }
        }
    }

    pub(super) fn begin(&mut self, cx: &mut Cx<'_, Locks>) {
        self.close(cx, SectionEnd::StartedOver);
        self.sections += 1;
        let name = Section { client: cx.me(), number: self.sections };
        let (written, known) = (Vec::new(), Vec::new());
        self.section = Some(OpenSection { name, closed: None, written, known });
        cx.note(Testimony::Begin(name));
    }

    pub(super) fn close(&mut self, cx: &mut Cx<'_, Locks>, why: SectionEnd) {
        let undone = self.undoing && why == SectionEnd::Exited;
        let why = if undone { SectionEnd::Undone } else { why };
        if let Some(section) = self.section.as_mut().filter(|s| s.closed.is_none()) {
            section.closed = Some(why);
            let name = section.name;
            cx.note(Testimony::Close(name, why));
        }
    }

    /// A write of a section was refused. Where its own condition or the version failed and nothing
    /// of the section was written, whatever the client does next is another try: it must not be
    /// mixed with what the client had read before.
    pub(super) fn refused(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        section: Section,
        number: u32,
        outdated: bool,
    ) {
        let Some(open) = self.section.as_mut().filter(|s| s.name == section) else { return };
        for written in open.written.iter_mut().filter(|w| w.number == number) {
            written.refused = true;
        }
        if outdated && open.written.iter().all(|w| w.refused) {
            self.close(cx, SectionEnd::Refused);
        }
    }

    /// The section that an operation belongs to: the open one, the one whose belief was dropped (a
    /// careless client goes on in it), or a new one.
    pub(super) fn section(&mut self, cx: &mut Cx<'_, Locks>) -> &mut OpenSection {
        let goes_on = |s: &OpenSection| matches!(s.closed, None | Some(SectionEnd::Dropped));
        if !self.section.as_ref().is_some_and(goes_on) {
            self.begin(cx);
        }
        let client = cx.me();
        self.section.get_or_insert_with(|| OpenSection {
            name: Section { client, number: 0 },
            closed: None,
            written: Vec::new(),
            known: Vec::new(),
        })
    }

    pub(super) fn operation(
        &mut self,
        cx: &mut Cx<'_, Locks>,
        cell: CellId,
        lock: LockId,
    ) -> Operation {
        let last = self.last.iter().find(|l| l.0 == lock);
        let (grant, token) = last.map_or((None, None), |l| (Some(l.1), l.2));
        let section = self.section(cx).name;
        Operation { section, cell, lock, grant, token, claims: false }
    }

    pub(super) fn forget(&mut self) {
        let (sections, life, requests) = (self.sections, self.life + 1, self.requests);
        let (failure, own) = (self.failure, self.own);
        *self = Desk { sections, life, requests, failure, own, ..Desk::default() };
    }
}

fn section_end(why: BeliefEnd) -> SectionEnd {
    match why {
        BeliefEnd::Released => SectionEnd::Released,
        BeliefEnd::Refused | BeliefEnd::Notice | BeliefEnd::Deadline | BeliefEnd::GivenUp => {
            SectionEnd::Dropped
        }
        BeliefEnd::Exited => SectionEnd::Exited,
        BeliefEnd::Crashed => SectionEnd::Crashed,
    }
}

impl OpenSection {
    /// The number of this write: that of an unanswered one which it repeats, or the next.
    pub(super) fn number_of(&mut self, site: (usize, usize), cell: CellId, value: i64) -> u32 {
        let next = self.written.iter().map(|w| w.number + 1).max().unwrap_or(0);
        let repeats = |w: &&mut Written| {
            w.unanswered && w.cell == cell && (w.site == site || w.value == value)
        };
        if let Some(earlier) = self.written.iter_mut().find(repeats) {
            (earlier.unanswered, earlier.refused) = (false, false);
            earlier.value = value;
            return earlier.number;
        }
        self.written.push(Written {
            site,
            cell,
            value,
            number: next,
            unanswered: false,
            refused: false,
        });
        next
    }
}
