//! Three scripts that locks are made of, known by their exact text, and one that some libraries
//! have. There is no Lua here: a text that is none of the three is not modelled.

use super::command::{Call, Life, Only, Refusal, Reply, SetCommand, SetReply};
use super::engine::Engine;
use super::text::Text;

/// A script.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Script {
    /// Compare and delete: the release.
    Release,
    /// Compare and set another time to live: the extension.
    Extend,
    /// Set where there is none, and count: an acquire with a fencing token.
    Acquire,
    /// Compare and set another time to live, and set where there is none: an extension that takes a
    /// lock again which is gone.
    Refresh,
}

impl Script {
    /// Those that are known by their text.
    pub const ALL: [Script; 3] = [Script::Release, Script::Extend, Script::Acquire];

    /// Its text.
    pub const fn text(self) -> &'static str {
        match self {
            Script::Release => {
                r#"if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end"#
            }
            Script::Extend => {
                r#"if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("pexpire",KEYS[1],ARGV[2]) else return 0 end"#
            }
            Script::Acquire => {
                r#"if redis.call("set",KEYS[1],ARGV[1],"NX","PX",ARGV[2]) then return redis.call("incr",KEYS[2]) else return nil end"#
            }
            // Each library writes it in its own way.
            Script::Refresh => "",
        }
    }

    /// The SHA-1 of its text, by which `EVALSHA` names it.
    pub const fn sha(self) -> &'static str {
        match self {
            Script::Release => "b70c2384248f88e6b75b9f89241a180f856ad852",
            Script::Extend => "36e94d1c6e02fcefaa7ee5d79eee614dbac55f10",
            Script::Acquire => "707d6587b4946f852e177a8c8127bc2b93aa653f",
            Script::Refresh => "",
        }
    }

    /// The word for it, as messages are named.
    pub const fn name(self) -> &'static str {
        match self {
            Script::Release => "compare and delete",
            Script::Extend => "compare and extend",
            Script::Acquire => "set and count",
            Script::Refresh => "extend or set",
        }
    }

    /// The script with this text.
    pub fn of_text(text: &str) -> Option<Script> {
        Script::ALL.into_iter().find(|script| script.text() == text)
    }

    /// The script with this SHA-1, in letters of either case.
    pub fn of_sha(sha: &str) -> Option<Script> {
        Script::ALL.into_iter().find(|script| script.sha().eq_ignore_ascii_case(sha))
    }

    /// Runs it. The whole of it is one instant; what it has written stays where it fails.
    pub(super) fn run(self, engine: &mut Engine<'_>, call: &Call) -> Reply {
        match self.result(engine, call) {
            Ok(reply) => reply,
            Err(refusal) => Reply::Error(refusal),
        }
    }

    fn result(self, engine: &mut Engine<'_>, call: &Call) -> Result<Reply, Refusal> {
        // A key or an argument that was not given is `nil`, which no command takes.
        let key = call.keys.first().ok_or(Refusal::ScriptArguments)?;
        let second = || call.args.get(1).ok_or(Refusal::ScriptArguments);
        match self {
            Script::Refresh if engine.string(key)?.is_none() => {
                let (Some(value), Some(ms)) = (call.args.first(), second()?.number()) else {
                    return Err(Refusal::ScriptArguments);
                };
                engine.may_write()?;
                let (only, life, reply) = (Only::Absent, Life::For(ms), SetReply::Count);
                let (key, value) = (key.clone(), value.clone());
                engine.set(&SetCommand { key, value, only, life, reply })
            }
            Script::Release | Script::Extend | Script::Refresh => {
                // A missing key is Lua's `false`, which equals no argument.
                let held = engine.string(key)?;
                if held.is_none() || held.as_ref() != call.args.first() {
                    return Ok(Reply::Number(0));
                }
                if self == Script::Release {
                    engine.may_write()?;
                    return Ok(Reply::yes(engine.delete(key)));
                }
                let ms = second()?;
                engine.may_write()?;
                let ms = ms.number().ok_or(Refusal::NotInteger)?;
                engine.expire(key, Life::For(ms), Default::default()).map(Reply::yes)
            }
            Script::Acquire => {
                let (Some(value), ms) = (call.args.first(), second()?) else {
                    return Err(Refusal::ScriptArguments);
                };
                engine.may_write()?;
                engine.may_grow()?;
                let ms = ms.number().ok_or(Refusal::NotInteger)?;
                let ms = if ms > 0 { ms } else { return Err(Refusal::ExpireTime) };
                let set = SetCommand {
                    key: key.clone(),
                    value: value.clone(),
                    only: Only::Absent,
                    life: Life::For(ms),
                    reply: SetReply::Plain,
                };
                if engine.set(&set)? == Reply::Nil {
                    return Ok(Reply::Nil);
                }
                let counter: &Text = call.keys.get(1).ok_or(Refusal::ScriptArguments)?;
                engine.add(counter, 1).map(|count| Reply::Number(through_lua(count)))
            }
        }
    }
}

/// What is left of a number that goes through Lua: 53 significant bits, rounded to the nearest, to
/// the even one of two; what is larger than any answer becomes the smallest. Tokens beyond 2^53
/// repeat there.
fn through_lua(number: i64) -> i64 {
    let size = number.unsigned_abs();
    let spare = (64 - size.leading_zeros()).saturating_sub(53);
    let half = (1_u64 << spare) >> 1;
    let (kept, rest) = (size >> spare, size & ((1 << spare) - 1));
    let up = rest > half || (rest == half && half > 0 && kept & 1 == 1);
    let size = (u128::from(kept) + u128::from(up)) << spare;
    match i64::try_from(size) {
        Ok(size) if number < 0 => -size,
        Ok(size) => size,
        Err(_) => i64::MIN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SHA-1 as FIPS 180-4 describes it: here alone, to hold the constants.
    fn sha1(text: &str) -> String {
        let mut state = [0x6745_2301_u32, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0];
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0x80);
        while bytes.len() % 64 != 56 {
            bytes.push(0);
        }
        bytes.extend((text.len() as u64 * 8).to_be_bytes());
        for block in bytes.chunks(64) {
            let mut words: Vec<u32> = block
                .chunks(4)
                .map(|four| four.iter().fold(0, |word, byte| word << 8 | u32::from(*byte)))
                .collect();
            for place in 16..80 {
                let mixed =
                    words[place - 3] ^ words[place - 8] ^ words[place - 14] ^ words[place - 16];
                words.push(mixed.rotate_left(1));
            }
            let [mut a, mut b, mut c, mut d, mut e] = state;
            for (place, word) in words.iter().enumerate() {
                let (mix, key) = match place / 20 {
                    0 => ((b & c) | (!b & d), 0x5A82_7999),
                    1 => (b ^ c ^ d, 0x6ED9_EBA1),
                    2 => ((b & c) | (b & d) | (c & d), 0x8F1B_BCDC),
                    _ => (b ^ c ^ d, 0xCA62_C1D6_u32),
                };
                let sum = a.rotate_left(5).wrapping_add(mix).wrapping_add(e);
                let next = sum.wrapping_add(key).wrapping_add(*word);
                (e, d, c, b, a) = (d, c, b.rotate_left(30), a, next);
            }
            for (old, new) in state.iter_mut().zip([a, b, c, d, e]) {
                *old = old.wrapping_add(new);
            }
        }
        state.iter().map(|word| format!("{word:08x}")).collect()
    }

    #[test]
    fn each_script_is_found_by_its_text_and_by_the_sha_of_its_text() {
        assert_eq!(sha1("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
        for script in Script::ALL {
            assert_eq!(script.sha(), sha1(script.text()));
            assert_eq!(Script::of_text(script.text()), Some(script));
            assert_eq!(Script::of_sha(&script.sha().to_uppercase()), Some(script));
        }
        assert_eq!(Script::of_text("return 1"), None);
    }

    #[test]
    fn numbers_that_go_through_lua_keep_53_bits() {
        for (number, left) in [
            (7, 7),
            (-7, -7),
            ((1 << 53) + 1, 1 << 53),
            ((1 << 53) + 3, (1 << 53) + 4),
            (-9_223_372_036_854_775_805, i64::MIN),
            (i64::MAX, i64::MIN),
        ] {
            assert_eq!(through_lua(number), left, "{number}");
        }
    }
}
