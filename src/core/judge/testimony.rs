//! What systems say to the judge: a closed set of statements that knows no protocol.

use std::rc::Rc;

use crate::sim::{EventId, Micros, MsgId, Outcome, ProcId};

/// A lock: its index in the scenario.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LockId(pub u16);

/// A named cell of a protected resource: its index in the scenario.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CellId(pub u16);

/// A number that a client sends along with its operations: a generation, a zxid, a random value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Token(pub u64);

/// In which way a lock is held.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mode {
    /// Nobody else may hold it.
    Exclusive,
    /// Others may hold it in this mode too.
    Shared,
}

impl Mode {
    /// Whether two holders in these modes exclude each other.
    pub fn conflicts(self, other: Mode) -> bool {
        self == Mode::Exclusive || other == Mode::Exclusive
    }

    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Mode::Exclusive => "exclusive",
            Mode::Shared => "shared",
        }
    }
}

/// A grant, named by the event in which it was made.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Grant(pub EventId);

/// One try at a unit of work: the n-th section of a client, from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Section {
    /// Whose it is.
    pub client: ProcId,
    /// Which of that client's.
    pub number: u32,
}

/// What a client asks a lock service for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Ask {
    /// The lock.
    Acquire,
    /// More time.
    Renew,
    /// To end its grant.
    Release,
    /// The token of a grant that was made without one.
    Token,
    /// Who holds the lock, before it ends the lease of whoever that is.
    Holder,
    /// A place in the lock's queue, by a step of its own. [`Ask::Acquire`] is what asks for it; this is
    /// what its answer is called.
    Enter,
    /// Who stands in the queue, and whether it is itself the first.
    List,
    /// To be told when what stands before it is gone.
    Watch,
    /// To be told when anything changes in the queue.
    WatchAll,
    /// Whether it has a place in the queue after all: the answer to its request was lost.
    Find,
}

/// How the session is that a client has with a service, as its library tells it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SessionState {
    /// It has begun.
    Begun,
    /// It goes on, on another connection.
    Resumed,
    /// There is no connection: it goes on, or is over.
    Unsure,
    /// It is over, and with it all that was bound to it.
    Over,
}

/// Why a truth ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TruthEnd {
    /// Its time ran out by the service's clock, or its session did, at that moment of true time;
    /// a service that was paused says so only when it goes on.
    Expired(Micros),
    /// Its holder released it.
    Released,
    /// A request of somebody else ended it.
    Removed(ProcId),
    /// The service lost it: restart, fail-over, eviction.
    Forgotten,
}

/// Why a belief ended. It ends only where the client's own code says so, or with the client.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BeliefEnd {
    /// The client sent its release.
    Released,
    /// It consumed a refusal.
    Refused,
    /// It consumed a notice that the lock is lost.
    Notice,
    /// It found its own deadline passed.
    Deadline,
    /// It declared the lock lost, by its own decision, and told nobody.
    GivenUp,
    /// Its program ended.
    Exited,
    /// It crashed.
    Crashed,
}

impl BeliefEnd {
    /// The client learned that the lock is gone, or concluded it.
    pub const fn is_loss(self) -> bool {
        matches!(self, BeliefEnd::Refused | BeliefEnd::Notice | BeliefEnd::Deadline)
    }
}

/// Why a section ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SectionEnd {
    /// The client sent the release.
    Released,
    /// It dropped its belief.
    Dropped,
    /// It crashed.
    Crashed,
    /// It began another.
    StartedOver,
    /// It gave this one up by intention.
    Aborted,
    /// Its program ended.
    Exited,
    /// A write of it was refused because its condition no longer held, and nothing of it was
    /// written: whatever comes next is another try.
    Refused,
    /// It lost its lock and wrote back what it had done, as far as it could.
    Undone,
}

/// An operation at the resource: whose, in which section, under which grant, with which token.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Operation {
    /// The section it belongs to.
    pub section: Section,
    /// The cell; of a claim, the first of those that it is for.
    pub cell: CellId,
    /// The lock that guards the cell.
    pub lock: LockId,
    /// The latest grant of that lock which the client consumed before it sent this.
    pub grant: Option<Grant>,
    /// The token that it carries.
    pub token: Option<Token>,
    /// It is a claim: it raises the resource's mark and touches no cell.
    pub claims: bool,
}

/// A write as a section means it; copies and retries share the number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Write {
    /// Which of the section's writes, from 0, in the order of first sending.
    pub number: u32,
    /// What it writes.
    pub value: i64,
    /// Another write of this section is still to come in the program.
    pub more: bool,
}

/// Why a resource refused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rejection {
    /// It has seen a higher token.
    Lower(Token),
    /// It takes each token once, and has seen this one.
    Again(Token),
    /// The operation carries no token.
    Missing,
    /// The cell is no longer at the version that the writer read.
    Version,
    /// The resource compares versions, and the writer has read none.
    Unread,
    /// Nobody has claimed with this token.
    Unclaimed,
    /// The lock service says that another holds the lock, or nobody.
    NotHolder,
    /// The lock service, which the resource had asked, does not answer.
    Unasked,
    /// The write's own condition does not hold.
    Unmet(Unmet),
}

/// Which condition of a write does not hold.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unmet {
    /// The cell is no longer at the version that the writer read.
    Version,
    /// The cell was written before.
    Fresh,
    /// What the write demands of the cells.
    Cells,
}

/// What the servers answered of which none grants alone, each by its place among them: yes, no, or
/// nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Ballot {
    yes: u8,
    no: u8,
    of: u8,
}

impl Ballot {
    /// These answers; of more than eight servers the first eight.
    pub fn of(answers: impl Iterator<Item = Option<bool>>) -> Ballot {
        let mut ballot = Ballot::default();
        for answer in answers.take(8) {
            let bit = 1 << ballot.of;
            match answer {
                Some(true) => ballot.yes |= bit,
                Some(false) => ballot.no |= bit,
                None => {}
            }
            ballot.of += 1;
        }
        ballot
    }

    /// The answers, in the order of the servers.
    pub fn answers(self) -> impl Iterator<Item = Option<bool>> {
        (0..self.of).map(move |place| match (self.yes >> place & 1, self.no >> place & 1) {
            (1, _) => Some(true),
            (_, 1) => Some(false),
            _ => None,
        })
    }

    /// How many said yes, how many said no, and how many were asked.
    pub const fn counts(self) -> [u32; 3] {
        [self.yes.count_ones(), self.no.count_ones(), self.of as u32]
    }

    /// Whether more than half of them said yes.
    pub const fn carried(self) -> bool {
        self.yes.count_ones() * 2 > self.of as u32
    }

    /// The same as a number, for comparing.
    pub const fn bits(self) -> i64 {
        (self.yes as i64) << 16 | (self.no as i64) << 8 | self.of as i64
    }
}

/// What a server is to the others, where one of them leads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Standing {
    /// It leads, in this term.
    Leads(u32),
    /// It follows that one.
    Follows(ProcId),
    /// It knows of nobody who leads.
    Seeks,
}

/// A place in the queue of a lock.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Seat {
    /// Whose it is.
    pub client: ProcId,
    /// The number on it.
    pub number: i64,
    /// Whoever sits there holds the lock.
    pub holds: bool,
}

/// A statement. Times and places are those of the event that carries it.
#[derive(Clone, PartialEq, Debug)]
pub enum Testimony {
    /// A service gives a lock: a truth and a promise begin. `term` is how long, if it ends by time, and `expires`
    /// is when the service's clock, as it runs now, will have come so far;
    /// `asked` is false where no acquire instruction brought it about; `woken` says that a waiter
    /// was woken for it.
    #[allow(missing_docs, reason = "said above")]
    Grant {
        lock: LockId,
        client: ProcId,
        mode: Mode,
        token: Option<Token>,
        term: Option<Micros>,
        expires: Option<Micros>,
        asked: bool,
        woken: bool,
    },
    /// A grant that was made without a token gets one.
    Mint(Grant, Token),
    /// A service accepts a renewal: the promise now lasts that long from here; and when the service's
    /// clock, as it runs now, will have come so far.
    Extend(Grant, Option<Micros>, Option<Micros>),
    /// A service's clock has changed: when that truth will now end, by the clock as it runs; at no
    /// moment while it stands still.
    Expires(Grant, Option<Micros>),
    /// A service says no.
    Refuse(LockId, ProcId, Ask),
    /// A service puts a client in its queue.
    Queue(LockId, ProcId),
    /// A service tells one who waits for a lock that something has changed: it is woken, and looks
    /// whether it is its turn.
    Wake(LockId, ProcId),
    /// A truth ends.
    Free(Grant, TruthEnd),
    /// One of several servers, none of which grants alone, has another record of a lock than before:
    /// whose it is there, with which token, and when its clock, as it runs now, will end that; and
    /// how the record before ended, where there was another. It is no truth.
    #[allow(missing_docs, reason = "said above")]
    Keep {
        lock: LockId,
        of: Option<(ProcId, Option<Token>)>,
        until: Option<Micros>,
        ended: Option<TruthEnd>,
    },
    /// The clock of such a server has changed: when its record of a lock will now end, by that clock as
    /// it runs; at no moment while it stands still.
    Moves(LockId, Option<Micros>),
    /// Such a server says no to a client. It is no refusal: that is the client's conclusion.
    Decline(LockId, ProcId, Ask),
    /// A client has asked such servers, and counts what they answered; how long ago it asked first, by
    /// its own clock, and for how long it may act from now on, by its own arithmetic: none where it may
    /// not.
    Count(LockId, Ask, Ballot, Micros, Option<Micros>),
    /// A client sends a request; `first` is false for another try of the same instruction; `within`
    /// is the request's time-out.
    #[allow(missing_docs, reason = "said above")]
    Ask { lock: LockId, ask: Ask, first: bool, within: Option<Micros> },
    /// A client's library tells how its session is.
    Session(SessionState),
    /// A client's instruction is over, with this outcome as its code learns it.
    Answer(LockId, Ask, Outcome),
    /// A client consumes a grant: its belief begins.
    Believe(LockId, Grant, Mode),
    /// A client's belief ends.
    Doubt(LockId, BeliefEnd),
    /// A client looks at its own clock: does it still hold the lock? The answer.
    Check(LockId, bool),
    /// A section begins.
    Begin(Section),
    /// The section's work has a name: what is done twice under it is duplicate work.
    Job(Section, u16),
    /// A section ends.
    Close(Section, SectionEnd),
    /// A client sends a read.
    Read(Operation),
    /// A client sends a write.
    Write(Operation, Write),
    /// The resource answers a read with this version and value.
    Serve(Operation, u32, i64),
    /// A client consumes a read's answer: that [`Testimony::Serve`] event.
    Learn(EventId),
    /// A client sends a claim: it wants the resource to know its token before it reads or writes.
    Claim(Operation),
    /// The resource takes a claim.
    Mark(Operation),
    /// A write passes the check, and is not applied yet: it can still be overtaken. The message is
    /// the copy.
    Admit(Operation, Write, MsgId),
    /// A gateway passes an operation on; of a write, it came as that message.
    Forward(Operation, Option<(Write, MsgId)>),
    /// A write that had come is forgotten before it was applied: whoever had it died.
    Void(Operation, Write, MsgId),
    /// A resource asks the lock service whether that token is the holder's.
    Inquire(LockId, Token),
    /// The resource accepts a write: it makes this version. The message is the copy that did it.
    Accept(Operation, Write, u32, MsgId),
    /// The resource refuses a write (the message is the copy) or a read.
    Reject(Operation, Option<(Write, MsgId)>, Rejection),
    /// A client consumes the answer to a write or a claim, or a refusal, or gives up waiting.
    Told(Section, Outcome),
    /// What a server is to the others from now on.
    Stand(Standing),
    /// A majority of the servers has logged what has this number, which decides it: who has said so, by
    /// their places.
    Decide(Token, Ballot),
    /// Who stands in the queue of a lock from now on, in its order; those that hold the lock come first.
    Line(LockId, Rc<[Seat]>),
    /// A server will tell a client when that one's place in the queue of a lock is gone, or when anything
    /// changes in the whole queue.
    #[allow(missing_docs, reason = "said above")]
    Watched { lock: LockId, watcher: ProcId, of: Option<ProcId> },
    /// A server has not heard of a client's session, which of them, since then, which by the server's own
    /// clock is so long ago, and longer than the session's span: it wants the session to end.
    #[allow(missing_docs, reason = "said above")]
    Lapse { client: ProcId, which: u16, heard: Micros, silent: Micros, span: Micros },
    /// A server takes the place of that one: what it says counts from now on.
    Lead(ProcId),
    /// A server throws out what it knew of a lock.
    Evict(LockId),
    /// A resource compares a token that somebody sends by hand, and refuses it for this reason or lets
    /// it pass. It belongs to no section and writes nothing.
    Hand(LockId, Token, Option<Rejection>),
}
