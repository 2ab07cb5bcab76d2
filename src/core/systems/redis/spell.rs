//! The commands that locks are made of, written out as somebody would type them.

use super::command::{Command, Life, Only, SetCommand, SetReply};
use super::server::Packet;
use super::text::Text;
use super::witness::LockKeys;
use crate::judge::LockId;
use crate::systems::Body;

/// What a client asks, in full; none for what no lock is made of. Keys are called after their locks.
pub(super) fn spell(body: &Body, locks: &[String]) -> Option<String> {
    let Some(Packet::Ask(command)) = body.get::<Packet>() else { return None };
    let key = |key: &Text| name_of(key, locks);
    Some(match command.as_ref() {
        Command::Set(set) => set_in_full(set, &key(&set.key)),
        Command::Get(of) => format!("GET {}", key(of)),
        Command::Del(keys) => format!("DEL {}", key(keys.first()?)),
        Command::Expire { key: of, life: Life::For(ms), .. } => format!("PEXPIRE {} {ms}", key(of)),
        Command::Add(of, 1) => format!("INCR {}", key(of)),
        Command::Wait { replicas, timeout } => format!("WAIT {replicas} {timeout}"),
        Command::Eval(script, call) => {
            let mut words = format!("EVAL “{}” {}", script.name(), call.keys.len());
            let keys = call.keys.iter().map(key);
            for word in keys.chain(call.args.iter().map(Text::to_string)) {
                words.push(' ');
                words.push_str(&word);
            }
            words
        }
        _ => return None,
    })
}

fn set_in_full(set: &SetCommand, key: &str) -> String {
    if set.reply == SetReply::Count {
        return format!("SETNX {key} {}", set.value);
    }
    let only = if set.only == Only::Absent { " NX" } else { "" };
    let life = match set.life {
        Life::For(ms) => format!(" PX {ms}"),
        _ => String::new(),
    };
    format!("SET {key} {}{only}{life}", set.value)
}

/// What a key is called: after its lock, whose number it has in the simulation.
fn name_of(key: &Text, locks: &[String]) -> String {
    let named = locks.iter().enumerate().find_map(|(number, name)| {
        let keys = LockKeys::of(LockId(number as u16));
        // A lock that is called nothing else needs no first name.
        let first = if name == "lock" { "" } else { "lock:" };
        match key {
            _ if *key == keys.lock => Some(format!("{first}{name}")),
            _ if *key == keys.counter => Some(format!("{first}{name}:token")),
            _ => None,
        }
    });
    named.unwrap_or_else(|| key.to_string())
}
