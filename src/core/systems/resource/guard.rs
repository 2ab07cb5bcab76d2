//! The check in front of a resource: what it compares, and the marks that it keeps.
//!
//! A resource has one, and so has a gateway; which of the two compares is a setting.

use super::Touch;
use crate::judge::{LockId, Operation, Rejection, Token};
use crate::sim::{CrashKind, Disk, Table};
use crate::systems::{Fact, Piece, Settings};

/// Where the check is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// In the resource itself.
    Resource,
    /// In a node in front of it.
    Gateway,
}

/// What is compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Check {
    None,
    /// The token with the highest one seen.
    Token(Tokens),
    /// Only who has claimed is let in, and a claim counts unless its token is lower than the last.
    Claim,
    /// Only who has claimed last is let in: tokens are told apart, and have no order.
    LastClaim,
    /// The version of the cell with the one that the writer read; where the data is.
    Version,
    /// The token with that of the present holder, whom the lock service knows.
    Session,
    /// Somebody in front compares.
    Gateway,
}

/// In which way tokens are compared and kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tokens {
    /// The same one may come again; the mark is kept with the data.
    Plain,
    /// Each is used once.
    Once,
    /// Compared now, applied later.
    Racy,
    /// The mark is forgotten in a restart.
    Volatile,
}

/// The highest token of each lock.
type Marks = Table<LockId, Token>;

#[derive(Clone, Debug)]
pub(super) struct Guard {
    place: Place,
    pub check: Check,
    reads_carry_token: bool,
    /// One mark for the tokens of all locks.
    shared: bool,
    /// Written in the same step as the data, so that a crash loses neither without the other.
    kept: Disk<Marks>,
    memory: Marks,
}

impl Guard {
    pub fn new(place: Place, settings: &Settings) -> Guard {
        let (kept, memory) = (Disk::default(), Marks::new());
        let mut guard = Guard {
            place,
            check: Check::None,
            reads_carry_token: false,
            shared: false,
            kept,
            memory,
        };
        guard.configure(settings);
        guard
    }

    pub fn configure(&mut self, settings: &Settings) {
        let word = settings.word("resource.check");
        self.check = match (self.place, word) {
            (Place::Gateway, "gateway") => Check::Token(Tokens::Plain),
            (Place::Gateway, _) => Check::None,
            (_, "token") => Check::Token(Tokens::Plain),
            (_, "token-once") => Check::Token(Tokens::Once),
            (_, "token-racy") => Check::Token(Tokens::Racy),
            (_, "token-volatile") => Check::Token(Tokens::Volatile),
            (_, "claim") => Check::Claim,
            (_, "last-claim") => Check::LastClaim,
            (_, "version") => Check::Version,
            (_, "session") => Check::Session,
            (_, "gateway") => Check::Gateway,
            _ => Check::None,
        };
        self.reads_carry_token = settings.word("resource.reads") == "token";
        self.shared = settings.word("resource.marks") == "shared";
    }

    /// Whether it compares tokens with a mark of its own.
    pub fn keeps_marks(&self) -> bool {
        matches!(self.check, Check::Token(_) | Check::Claim | Check::LastClaim)
    }

    fn marks(&self) -> &Marks {
        match self.check {
            Check::Token(Tokens::Volatile) => &self.memory,
            _ => self.kept.read(),
        }
    }

    fn raise(&mut self, lock: LockId, token: Token) {
        if self.check == Check::Token(Tokens::Volatile) {
            self.memory.insert(lock, token);
        } else {
            self.kept.write().insert(lock, token);
            self.kept.sync();
        }
    }

    /// Compares the token with the highest seen, and remembers it where it passes.
    fn compare(&mut self, lock: LockId, token: Token, once: bool) -> Result<(), Rejection> {
        match self.marks().get(&lock) {
            Some(highest) if token < *highest => return Err(Rejection::Lower(*highest)),
            Some(highest) if once && token == *highest => return Err(Rejection::Again(token)),
            _ => {}
        }
        self.raise(lock, token);
        Ok(())
    }

    /// Looks whether somebody claimed with this token, and nobody with a higher one.
    fn claimed(&self, lock: LockId, token: Token) -> Result<(), Rejection> {
        match self.marks().get(&lock) {
            Some(mark) if token == *mark => Ok(()),
            // Where any claim counts, a lower token says nothing about who is newer.
            Some(mark) if token < *mark && self.check == Check::Claim => {
                Err(Rejection::Lower(*mark))
            }
            _ => Err(Rejection::Unclaimed),
        }
    }

    /// Lets a token pass or not; `None` for the token where an operation carries none.
    fn token(&mut self, touch: Touch, lock: LockId, token: Option<Token>) -> Result<(), Rejection> {
        let check = self.check;
        let looks = match check {
            Check::Token(_) => touch != Touch::Read || self.reads_carry_token,
            Check::Claim | Check::LastClaim => true,
            _ => false,
        };
        if !looks {
            return Ok(());
        }
        let token = token.ok_or(Rejection::Missing)?;
        let lock = if self.shared { LockId(0) } else { lock };
        match check {
            Check::Claim | Check::LastClaim if touch != Touch::Claim => self.claimed(lock, token),
            Check::LastClaim => {
                self.raise(lock, token);
                Ok(())
            }
            // Neither a read nor a claim uses a token up, so that the holder's first write passes.
            _ => {
                let once = check == Check::Token(Tokens::Once) && touch == Touch::Write;
                self.compare(lock, token, once)
            }
        }
    }

    /// Examines an operation; what only the data can tell is not examined here.
    pub fn examine(&mut self, touch: Touch, op: &Operation) -> Result<(), Rejection> {
        self.token(touch, op.lock, op.token)
    }

    /// Examines a token that somebody sends by hand, as that of a write.
    pub fn by_hand(&mut self, lock: LockId, token: Token) -> Result<(), Rejection> {
        match self.check {
            // It has read nothing, so there is no version that it could know.
            Check::Version => Err(Rejection::Unread),
            // Nobody was granted a lock for it.
            Check::Session => Err(Rejection::NotHolder),
            _ => self.token(Touch::Write, lock, Some(token)),
        }
    }

    /// What is left after a crash.
    pub fn crash(&mut self, how: CrashKind) {
        self.kept.crash(how);
        self.memory = Marks::new();
    }

    pub fn facts(&self, facts: &mut Vec<Fact>) {
        let checks = match self.check {
            Check::None => "nothing",
            Check::Token(Tokens::Plain) => "token ≥ highest",
            Check::Token(Tokens::Once) => "token > highest",
            Check::Token(Tokens::Racy) => "token ≥ highest, and writes later",
            Check::Token(Tokens::Volatile) => "token ≥ highest, in memory",
            Check::Claim => "token = the one claimed",
            Check::LastClaim => "token = the one claimed last",
            Check::Version => "version read",
            Check::Session => "who holds, at the service",
            Check::Gateway => "nothing: the gateway does",
        };
        let word = |word| vec![Piece::Word(word)];
        facts.push(Fact::Row { key: word("checks"), value: word(checks) });
        if !self.keeps_marks() {
            return;
        }
        let claims = matches!(self.check, Check::Claim | Check::LastClaim);
        if self.marks().is_empty() {
            let key = if claims { "claimed" } else { "highest seen" };
            facts.push(Fact::Row { key: word(key), value: word("none yet") });
        }
        for (lock, token) in self.marks() {
            let key = if claims { "claimed for" } else { "highest seen for" };
            facts.push(Fact::Row {
                key: vec![Piece::Word(key), Piece::Lock(*lock)],
                value: vec![Piece::Token(*token)],
            });
        }
    }
}
