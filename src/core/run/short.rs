//! Edits in as few letters as a link can carry, and all of them in letters that no messenger changes.
//!
//! An edit is cut into pieces: pieces that edits are made of, the lesson's nodes by their number, and
//! whatever is left letter by letter. Reading puts the same pieces together again, so that every text
//! comes back as it was, whether it is an edit or not: a new kind of edit needs nothing here, and
//! becomes shorter with a piece of its own.

/// The letters: none of them is written otherwise in an address, and none ends a link in running text.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/// What stands between two edits. It is no letter, so that damage to one leaves the others readable.
const BETWEEN: char = '.';
/// Stands for a number in a piece.
const SLOT: char = '?';

/// Pieces of one letter. Links of years stand on this order: nothing may move, and there is no room
/// for more.
const FEW: [&str; 48] = [
    "at ?s ",
    "at ?ms ",
    "at ?us ",
    " for ?s",
    " for ?ms",
    " for ?us",
    " by ?s",
    " by ?ms",
    " by ?us",
    "#?",
    "pause ",
    " before ",
    "write",
    "read",
    "acquire",
    "release",
    "cut ",
    "heal ",
    "crash ",
    "kill ",
    "restart ",
    "drop ",
    "delay ",
    "duplicate ",
    "suspend ",
    "freeze ",
    "power-off ",
    "shut-down ",
    "clock ",
    "rate ",
    "set ",
    "send ",
    ">",
    " ",
    "?",
    " +?s",
    " -?s",
    " ?/?",
    " ?s",
    " ?ms",
    "resource.check ",
    "token",
    "none",
    ".heartbeat ",
    "{",
    "}|{",
    "}",
    ".",
];

/// Pieces of two letters. New ones go to the end: nothing may move.
const MANY: &[&str] = &[
    " at ?s",
    " at ?ms",
    " at ?us",
    " +?ms",
    " -?ms",
    " ?us",
    "us",
    "ms",
    "s",
    "renew",
    "check",
    "work",
    "sleep",
    "fail-over ",
    " to ",
    "evict ",
    "lock",
    "lease.",
    "client.",
    "resource.",
    "link.",
    "request.timeout ",
    "acquire.wait ",
    "acquire.retry ",
    "lease.ttl ",
    "lease.token ",
    "lease.clock ",
    "lease.deadline ",
    "link.delay ",
    "link.jitter ",
    "lock.first_token ",
    "lock.delay ",
    "resume.order ",
    "resource.reads ",
    "resource.gap ",
    "client.clock ",
    "client.margin ",
    "deadline.rule ",
    "renew.failure ",
    "renew.rule ",
    "release.rule ",
    "token-once",
    "token-racy",
    "token-volatile",
    "version",
    "claim",
    "session",
    "gateway",
    "plain",
    "queue",
    "retry",
    "generation",
    "random",
    "timestamp",
    "set-then-incr",
    "read-late",
    "mono",
    "wall",
    "boot",
    "receipt",
    "program-first",
    "timers-first",
    "checked",
    "timer",
    "carry-on",
    "stop",
    "stop-and-undo",
    "correct",
    "careless",
    "get-then-del",
    "insert",
    "begin",
    "gateway.bypass ",
    "gateway.order ",
    "concurrent",
    "serial",
    ".main ",
    ".on-lost ",
];

/// The first letter that means a node.
const NODE: usize = 48;
/// How many nodes have one letter.
const NEAR_NODES: usize = 10;
/// The letter before a node's number.
const FAR_NODE: usize = 58;
/// The letters before the number of a piece of [`MANY`], for the first and the second 64.
const MANY_PIECES: usize = 59;
/// The letter before a count and as many letters that stand for themselves.
const SPELLED: usize = 61;
/// The letter before a byte in two letters.
const BYTE: usize = 62;

/// All edits of a run; `nodes` are the ids of its nodes in the order of their lanes.
pub fn shorten(edits: &[String], nodes: &[String]) -> String {
    let mut out = String::new();
    for (index, edit) in edits.iter().enumerate() {
        if index > 0 {
            out.push(BETWEEN);
        }
        shorten_one(edit, nodes, &mut out);
    }
    out
}

/// The edits that were shortened; for one that cannot be read, why not.
pub fn lengthen(short: &str, nodes: &[String]) -> Vec<Result<String, String>> {
    if short.is_empty() {
        return Vec::new();
    }
    let mut edits = short.split(BETWEEN).map(|one| lengthen_one(one, nodes));
    edits.by_ref().take(super::MOST_EDITS + 1).collect()
}

fn shorten_one(text: &str, nodes: &[String], out: &mut String) {
    let mut rest = text;
    while !rest.is_empty() {
        let of = |pieces: &[&'static str], first: usize| {
            let found =
                pieces.iter().enumerate().filter_map(|(i, p)| Some((i + first, begins(rest, p)?)));
            // Of several that fit, the first one of the longest.
            found.fold((0, 0), |best, (i, taken)| if taken > best.1 { (i, taken) } else { best })
        };
        let (few, many) = (of(&FEW, 0), of(MANY, FEW.len()));
        let named = nodes
            .iter()
            .enumerate()
            .filter(|(i, n)| *i < LETTERS.len() && rest.starts_with(n.as_str()));
        let node =
            named.fold((0, 0), |best, (i, n)| if n.len() > best.1 { (i, n.len()) } else { best });
        let taken = if node.1 > few.1.max(many.1) {
            push_node(node.0, out);
            node.1
        } else if many.1 > few.1 {
            let index = many.0 - FEW.len();
            push(MANY_PIECES + index / LETTERS.len(), out);
            push(index % LETTERS.len(), out);
            push_numbers(MANY.get(index).copied().unwrap_or_default(), rest, out);
            many.1
        } else if few.1 > 0 {
            push(few.0, out);
            push_numbers(FEW.get(few.0).copied().unwrap_or_default(), rest, out);
            few.1
        } else {
            spell(rest, out)
        };
        rest = rest.get(taken..).unwrap_or_default();
    }
}

/// How many bytes of a text a piece stands for, if the text begins with it.
fn begins(text: &str, piece: &str) -> Option<usize> {
    let mut rest = text;
    for (index, fixed) in piece.split(SLOT).enumerate() {
        if index > 0 {
            rest = rest.get(digits(rest)?.1..)?;
        }
        rest = rest.strip_prefix(fixed)?;
    }
    Some(text.len() - rest.len())
}

/// The number that a text begins with, and how many digits it has: only as it would be printed.
fn digits(text: &str) -> Option<(u64, usize)> {
    let count = text.bytes().take_while(u8::is_ascii_digit).count();
    let number: u64 = text.get(..count)?.parse().ok()?;
    (number.to_string().len() == count).then_some((number, count))
}

fn push(value: usize, out: &mut String) {
    out.push(LETTERS.get(value).copied().map_or(BETWEEN, char::from));
}

fn push_node(index: usize, out: &mut String) {
    if index < NEAR_NODES {
        push(NODE + index, out);
    } else {
        push(FAR_NODE, out);
        push(index, out);
    }
}

/// The numbers that fill a piece at the beginning of a text.
fn push_numbers(piece: &str, text: &str, out: &mut String) {
    let mut rest = text;
    for (index, fixed) in piece.split(SLOT).enumerate() {
        if index > 0 {
            let (number, count) = digits(rest).unwrap_or_default();
            push_number(number, out);
            rest = rest.get(count..).unwrap_or_default();
        }
        rest = rest.strip_prefix(fixed).unwrap_or_default();
    }
}

/// Five bits a letter, the lowest first; all but the last letter are from the upper half.
fn push_number(mut number: u64, out: &mut String) {
    while number >= 32 {
        push(32 + (number % 32) as usize, out);
        number /= 32;
    }
    push(number as usize, out);
}

/// What no piece stands for: letters as they are, everything else by its bytes; how many were taken.
fn spell(text: &str, out: &mut String) -> usize {
    let plain = text.bytes().take_while(|b| LETTERS.contains(b)).take(LETTERS.len() - 1).count();
    if plain > 0 {
        push(SPELLED, out);
        push(plain, out);
        out.push_str(text.get(..plain).unwrap_or_default());
        return plain;
    }
    let first = text.chars().next().map_or(0, char::len_utf8);
    for byte in text.bytes().take(first) {
        push(BYTE, out);
        push(usize::from(byte >> 6), out);
        push(usize::from(byte & 63), out);
    }
    first
}

fn lengthen_one(short: &str, nodes: &[String]) -> Result<String, String> {
    let mut reader = Reader { letters: short.as_bytes(), at: 0, out: Vec::new() };
    while reader.at < reader.letters.len() {
        reader.piece(nodes)?;
    }
    if reader.out.is_empty() {
        return Err("nothing is left of it".into());
    }
    String::from_utf8(reader.out).map_err(|_| "its letters make no text".into())
}

struct Reader<'s> {
    letters: &'s [u8],
    at: usize,
    out: Vec<u8>,
}

impl Reader<'_> {
    fn letter(&mut self) -> Result<usize, String> {
        let Some(letter) = self.letters.get(self.at) else {
            return Err("its end is missing".into());
        };
        self.at += 1;
        let value = LETTERS.iter().position(|l| l == letter);
        value.ok_or_else(|| format!("letter {} of it means nothing", self.at))
    }

    fn piece(&mut self, nodes: &[String]) -> Result<(), String> {
        let value = self.letter()?;
        match value {
            NODE..FAR_NODE => self.node(value - NODE, nodes),
            FAR_NODE => {
                let index = self.letter()?;
                self.node(index, nodes)
            }
            MANY_PIECES..SPELLED => {
                let index = (value - MANY_PIECES) * LETTERS.len() + self.letter()?;
                self.fill(MANY.get(index).copied())
            }
            SPELLED => {
                for _ in 0..self.letter()? {
                    self.letter()?;
                    self.out.extend(self.letters.get(self.at - 1));
                }
                Ok(())
            }
            BYTE => {
                let byte = self.letter()? << 6 | self.letter()?;
                self.out.push(u8::try_from(byte).map_err(|_| "its letters make no text")?);
                Ok(())
            }
            _ => self.fill(FEW.get(value).copied()),
        }
    }

    fn node(&mut self, index: usize, nodes: &[String]) -> Result<(), String> {
        let missing = || format!("it is about node {}, and there are {}", index + 1, nodes.len());
        self.out.extend_from_slice(nodes.get(index).ok_or_else(missing)?.as_bytes());
        Ok(())
    }

    fn fill(&mut self, piece: Option<&str>) -> Result<(), String> {
        let at = self.at;
        let piece = piece.ok_or_else(|| format!("letter {at} of it is from a newer edition"))?;
        for (index, fixed) in piece.split(SLOT).enumerate() {
            if index > 0 {
                let number = self.number()?;
                self.out.extend_from_slice(number.to_string().as_bytes());
            }
            self.out.extend_from_slice(fixed.as_bytes());
        }
        Ok(())
    }

    fn number(&mut self) -> Result<u64, String> {
        let (mut number, mut scale) = (0_u64, 1_u64);
        loop {
            let digit = self.letter()? as u64;
            let more = (digit % 32).checked_mul(scale).and_then(|d| number.checked_add(d));
            number = more.ok_or("a number in it is too large")?;
            if digit < 32 {
                return Ok(number);
            }
            scale = scale.checked_mul(32).ok_or("a number in it is too large")?;
        }
    }
}

/// The lowest 24 bits of a number, in four letters.
pub(super) fn mark(number: u64) -> String {
    let mut out = String::new();
    (0..4).for_each(|i| push((number >> (6 * i)) as usize % LETTERS.len(), &mut out));
    out
}

#[cfg(test)]
mod tests {
    use super::{FEW, LETTERS, MANY, digits, lengthen, shorten};

    fn nodes() -> Vec<String> {
        ["client-a", "client-b", "lock-service", "resource"].map(String::from).into()
    }

    fn both_ways(text: &str) -> String {
        let edits = [text.to_string(), "heal client-a resource".into()];
        let short = shorten(&edits, &nodes());
        let again: Vec<_> = lengthen(&short, &nodes()).into_iter().map(Result::unwrap).collect();
        assert_eq!(again, edits, "{short}");
        shorten(&edits[..1], &nodes())
    }

    #[test]
    fn every_text_comes_back_as_it_was() {
        for text in [
            "pause client-a before write#1 for 12s",
            "at 18446744073709551615us cut {client-a resource}|{lock-service zk-1} for 00s",
            "at 99999999999999999999s set resource.check ü\u{10ffff}; \"?\"",
            "client-ab client-a. ? #? . .. -_",
            "set x 007",
            "\u{0}",
        ] {
            both_ways(text);
        }
        assert_eq!(lengthen("", &nodes()), Vec::new());
        assert_eq!(shorten(&[], &nodes()), "");
    }

    #[test]
    fn common_edits_are_short() {
        for (text, most) in [
            ("pause client-a before write#1 for 12s", 8),
            ("at 3s pause client-a for 12s", 6),
            ("at 5s cut client-a>lock-service for 6s", 8),
            ("drop client-a>resource#1", 6),
            ("delay client-a>resource#1 by 4s", 8),
            ("set resource.check token", 3),
            ("at 4s clock lock-service -8s", 6),
            ("at 11284ms rate client-a 4/5", 9),
        ] {
            let short = both_ways(text);
            assert!(short.len() <= most, "{text}: {short}");
        }
    }

    #[test]
    fn what_is_damaged_says_so_and_leaves_the_others() {
        let edits = ["at 3s pause client-a for 12s".to_string(), "set resource.check token".into()];
        let short = shorten(&edits, &nodes());
        for cut in 0..short.len() {
            for one in lengthen(&short[..cut], &nodes()).iter().flatten() {
                assert!(edits.iter().any(|e| e.starts_with(one.as_str())), "{one}");
            }
        }
        let spoilt = short.replacen('A', "!", 1);
        assert_eq!(
            lengthen(&spoilt, &nodes()),
            [Err("letter 1 of it means nothing".into()), Ok(edits[1].clone())]
        );
        assert!(lengthen(".", &nodes()).iter().all(Result::is_err));
        assert!(lengthen("x", &nodes()[..1])[0].is_err_and_says("there are 1"));
        assert!(lengthen("8_", &nodes())[0].is_err_and_says("newer edition"));
        assert!(lengthen(&"i".repeat(3_000), &nodes())[0].is_err_and_says("too large"));
        assert!(lengthen(&"A.".repeat(3_000), &nodes()).len() < 300);
    }

    trait Says {
        fn is_err_and_says(&self, words: &str) -> bool;
    }

    impl Says for Result<String, String> {
        fn is_err_and_says(&self, words: &str) -> bool {
            self.as_ref().is_err_and(|e| e.contains(words))
        }
    }

    #[test]
    fn pieces_that_links_stand_on_never_move() {
        assert!(FEW.len() <= 48 && MANY.len() <= 2 * LETTERS.len());
        assert_eq!(digits("12s"), Some((12, 2)));
        let all: Vec<&str> = FEW.iter().chain(MANY).copied().collect();
        let mut once = all.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), all.len(), "a piece stands twice");
        // A link of the first edition. It must be readable for ever.
        let short = "KwLMJBDM.AFQwgyDG.eop.BkrKKxEf.AEcykI";
        expect_test::expect![[r#"
            pause client-a before write#1 for 12s
            at 5s cut client-a>lock-service for 6s
            set resource.check token
            at 10596ms pause client-b for 31ms
            at 4s clock lock-service -8s
        "#]]
        .assert_eq(
            &lengthen(short, &nodes())
                .into_iter()
                .map(|e| e.unwrap_or_else(|e| e) + "\n")
                .collect::<String>(),
        );
    }
}
