//! A link: all that determines a run and where in it one looks, as an address's fragment.
//!
//! `#/lesson/ID?v=1.1.abcd.efgh&run=fixed&event=57&e=…`: version of this format, version of the rules, a
//! mark over all that follows, a mark of the run; then what differs from the lesson as it opens. A link
//! can be mistyped, cut off, old, or of an edition to come, and must never be worse than its lesson
//! without it: everything here reads what can be read, and says what cannot.
//!
//! A link written by hand has no `v` and its edits as text: `?edits=at+3s+pause+client-a+for+12s;…`.

use super::replay::Fnv;
use super::short::{mark, shorten};

/// The version of this format. Pieces may be added to edits without raising it.
pub const VERSION: u32 = 1;

/// The version of the rules. Raise it whenever a change makes some scenario, edits and seed give
/// another record than before: another order of events, another time, a rule of a system or of the
/// resource, a draw. A link of another version says so when it opens. Words, pictures and verdicts do
/// not count, and neither does what no link could hold before.
pub const RULES: u32 = 2;

/// What a link says.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Link {
    /// The lesson's id.
    pub lesson: String,
    /// The variant by name, where it is not the first.
    pub variant: Option<String>,
    /// The task, where it is not the story.
    pub level: Option<String>,
    /// The seed, where it is not the lesson's.
    pub seed: Option<u64>,
    /// The last event that has happened.
    pub event: Option<u32>,
    /// All edits, where they are not the variant's own.
    pub edits: Option<Vec<String>>,
    /// It is on a projector.
    pub present: bool,
    /// Which picture is on the stage, where it is not the diagram.
    pub view: Option<String>,
}

/// How far a link can be trusted.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Mark {
    /// It was written by hand, and says nothing about itself.
    #[default]
    Unmarked,
    /// It is not as it was written: mistyped, or cut off.
    Damaged,
    /// It is of another version of this format.
    Version(u32),
    /// It is as it was written.
    Whole {
        /// The version of the rules by which it was written.
        rules: u32,
        /// The mark of its run, to compare with [`run_mark`].
        run: [u8; 4],
    },
}

/// A link as far as it can be read before its lesson is known.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Reading {
    /// What it says; of edits, only those that are written out.
    pub link: Link,
    /// Its edits, shortened: to be read by [`super::lengthen`] with the lesson's nodes.
    pub short: Option<String>,
    /// How far it can be trusted.
    pub mark: Mark,
    /// Parts of it that mean nothing here.
    pub unread: Vec<String>,
}

impl Link {
    /// The fragment, with its `#`. `nodes` are the ids of the variant's nodes, `run` is the run's hash.
    pub fn write(&self, nodes: &[String], run: u64) -> String {
        let mut parts = Vec::new();
        let mut say = |key: &str, value: Option<String>| {
            parts.extend(value.map(|value| format!("{key}={value}")));
        };
        say("run", self.variant.as_deref().map(encode));
        say("level", self.level.as_deref().map(encode));
        say("seed", self.seed.map(|s| s.to_string()));
        say("event", self.event.map(|e| e.to_string()));
        say("view", self.view.as_deref().map(encode));
        say("e", self.edits.as_ref().map(|e| shorten(e, nodes)));
        let lesson = &self.lesson;
        let present = if self.present { "&present=1" } else { "" };
        if parts.is_empty() && !self.present {
            return format!("#/lesson/{lesson}");
        }
        let rest = parts.join("&");
        let marks = format!("{}.{}", checked(lesson, &rest), mark(run));
        let and = if rest.is_empty() { "" } else { "&" };
        format!("#/lesson/{lesson}?v={VERSION}.{RULES}.{marks}{and}{rest}{present}")
    }

    /// Reads a fragment, with or without its `#`; none for one that leads to no lesson.
    pub fn read(fragment: &str) -> Option<Reading> {
        let text = fragment.strip_prefix('#').unwrap_or(fragment).strip_prefix("/lesson/")?;
        // What a sentence puts behind a link is not the link's.
        let text = text.trim_end_matches(|c: char| ".,;:!)>]}\"'”’ ".contains(c));
        let (id, query) = text.split_once('?').unwrap_or((text, ""));
        let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if id.is_empty() || !id.chars().all(good) {
            return None;
        }
        let mut reading = Reading::default();
        reading.link.lesson = id.into();
        let (mut version, mut marked) = (None, Vec::new());
        for pair in query.split('&').filter(|p| !p.is_empty()) {
            // Some programs write `&` as it is written in a page.
            let pair = pair.strip_prefix("amp;").unwrap_or(pair);
            match pair.split_once('=') {
                Some(("v", value)) => version = Some(value),
                // What a reader adds by hand is not marked.
                Some(("present", on @ ("0" | "1"))) => reading.link.present = on == "1",
                Some(("present", _)) => reading.unread.push(decode(pair)),
                Some(("theme", _)) => {}
                Some((key, value)) => {
                    // What stands twice counts once.
                    let again = marked.iter().any(|m: &&str| m.split('=').next() == Some(key));
                    marked.push(pair);
                    if again {
                        reading.unread.push(decode(pair));
                    } else {
                        reading.take(key, value, pair);
                    }
                }
                None => {
                    marked.push(pair);
                    reading.unread.push(decode(pair));
                }
            }
        }
        reading.mark = match version {
            Some(version) => trust(version, &checked(id, &marked.join("&"))),
            // Nobody writes shortened edits by hand.
            None if reading.short.is_some() => Mark::Damaged,
            None => Mark::Unmarked,
        };
        Some(reading)
    }
}

impl Reading {
    fn take(&mut self, key: &str, value: &str, pair: &str) {
        let link = &mut self.link;
        match key {
            "run" => link.variant = Some(decode(value)),
            "level" => link.level = Some(decode(value)),
            "view" => link.view = Some(decode(value)),
            "seed" => link.seed = value.parse().ok(),
            "event" => link.event = number(value),
            "e" => self.short = Some(decode(value)),
            "edits" if value.is_empty() => link.edits = Some(Vec::new()),
            "edits" => link.edits = Some(value.split(';').map(decode).collect()),
            _ => self.unread.push(decode(pair)),
        }
        let lost = key == "seed" && link.seed.is_none() || key == "event" && link.event.is_none();
        if lost {
            self.unread.push(decode(pair));
        }
    }
}

/// The number of an event; one that is too large for any run is beyond the end of this one.
fn number(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u32::MAX))
}

/// The mark over a lesson's id and the rest of a link.
fn checked(lesson: &str, rest: &str) -> String {
    let mut hash = Fnv::new();
    hash.bytes(lesson.as_bytes());
    hash.bytes(b"?");
    hash.bytes(rest.as_bytes());
    mark(hash.0 ^ (hash.0 >> 24))
}

/// What the mark of a run is, by the run's hash.
pub fn run_mark(hash: u64) -> [u8; 4] {
    mark(hash).as_bytes().try_into().unwrap_or_default()
}

/// What `v` says, if the rest of the link has this mark.
fn trust(version: &str, check: &str) -> Mark {
    let mut parts = version.split('.');
    let mut next = || parts.next().unwrap_or_default();
    let Ok(version) = next().parse::<u32>() else { return Mark::Damaged };
    if version != VERSION {
        return Mark::Version(version);
    }
    let (rules, found, run) = (next().parse::<u32>(), next(), next().as_bytes().try_into());
    match (rules, run) {
        (Ok(rules), Ok(run)) if found == check && parts.next().is_none() => {
            Mark::Whole { rules, run }
        }
        _ => Mark::Damaged,
    }
}

/// Spaces become `+`; letters, digits and a few signs stay readable.
pub fn encode(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b' ' => out.push('+'),
            b'-' | b'_' | b'.' | b'~' | b'/' | b':' | b',' => out.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// The inverse; whatever is not well formed stays as it is, so that its reader can complain.
pub fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut place = 0;
    while let Some(byte) = bytes.get(place) {
        let hex = (*byte == b'%').then(|| text.get(place + 1..place + 3)).flatten();
        match hex.and_then(|h| u8::from_str_radix(h, 16).ok()) {
            Some(decoded) => {
                out.push(decoded);
                place += 3;
            }
            None => {
                out.push(if *byte == b'+' { b' ' } else { *byte });
                place += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{Link, Mark, RULES, Reading, VERSION, decode, encode, run_mark};
    use crate::run::lengthen;

    fn link() -> Link {
        Link {
            lesson: "a-b".into(),
            variant: Some("c".into()),
            level: Some("help".into()),
            view: Some("topology".into()),
            seed: Some(u64::MAX),
            event: Some(7),
            edits: Some(vec!["at 3s pause client-a for 12s".into(), "drop a>b#1".into()]),
            present: true,
        }
    }

    fn nodes() -> Vec<String> {
        vec!["client-a".into()]
    }

    #[test]
    fn a_link_reads_back_as_it_was_written() {
        let text = link().write(&nodes(), 0xDEAD_BEEF);
        let read = Link::read(&text).unwrap();
        assert_eq!(read.mark, Mark::Whole { rules: RULES, run: run_mark(0xDEAD_BEEF) });
        let edits = lengthen(&read.short.unwrap(), &nodes()).into_iter().collect::<Result<_, _>>();
        assert_eq!(Link { edits: Some(edits.unwrap()), ..read.link }, link());
        assert_eq!(read.unread, Vec::<String>::new());
        let plain = Link { lesson: "x".into(), ..Link::default() };
        assert_eq!(plain.write(&nodes(), 1), "#/lesson/x");
        let shown = Link { present: true, ..plain };
        assert_eq!(Link::read(&shown.write(&nodes(), 1)).unwrap().link, shown);
    }

    #[test]
    fn whatever_is_cut_off_or_changed_is_noticed() {
        let text = Link { present: false, ..link() }.write(&nodes(), 1);
        let from = text.find("?v=").unwrap();
        for cut in from + 2..text.len() {
            let read = Link::read(&text[..cut]).unwrap();
            assert!(!matches!(read.mark, Mark::Whole { .. }), "{}", &text[..cut]);
        }
        for place in text.find("&run").unwrap()..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[place] = if bytes[place] == b'x' { b'y' } else { b'x' };
            let read = Link::read(std::str::from_utf8(&bytes).unwrap()).unwrap();
            assert_eq!(read.mark, Mark::Damaged, "{place}");
        }
        // What a reader adds and what surrounds a link in a sentence is no damage.
        for kind in [
            format!("{text}&present=1&theme=dark"),
            format!("{text})."),
            text.replace('&', "&amp;"),
        ] {
            assert!(matches!(Link::read(&kind).unwrap().mark, Mark::Whole { .. }), "{kind}");
        }
    }

    #[test]
    fn other_versions_are_told_apart_and_read_as_far_as_they_go() {
        let text = link().write(&nodes(), 1).replace(&format!("v={VERSION}."), "v=7.") + "&tempo=3";
        let read = Link::read(&text).unwrap();
        assert_eq!((read.mark, read.link.event), (Mark::Version(7), Some(7)));
        assert_eq!(read.unread, ["tempo=3"]);
        assert_eq!(Link::read("#/lesson/x?v=0&edits=set+a+b").unwrap().mark, Mark::Version(0));
        let other_rules =
            link().write(&nodes(), 1).replace(&format!("v={VERSION}.{RULES}."), "v=1.9.");
        assert!(matches!(Link::read(&other_rules).unwrap().mark, Mark::Whole { rules: 9, .. }));
    }

    #[test]
    fn a_link_written_by_hand_needs_no_mark() {
        let edits = vec!["set x y".into(), "drop a>b#1".into()];
        let expected = Link { seed: None, view: None, edits: Some(edits), ..link() };
        let unread = vec!["new=1".to_string()];
        let address =
            "#/lesson/a-b?run=c&edits=set+x+y;drop+a%3Eb%231&level=help&event=7&new=1&present=1";
        assert_eq!(
            Link::read(address),
            Some(Reading { link: expected, unread, ..Reading::default() })
        );
        let none = Link::read("/lesson/x?edits=&event=-3").unwrap();
        assert_eq!((none.link.edits, none.link.event), (Some(Vec::new()), None));
        // Whatever cannot be followed is named, also where a hand wrote it.
        let odd = "/lesson/x?event=99999999999999&tempo=3&event=5&present=yes&seed=-1&&loud";
        let odd = Link::read(odd).unwrap();
        assert_eq!(
            (odd.link.event, odd.link.seed, odd.link.present),
            (Some(u32::MAX), None, false)
        );
        assert_eq!(odd.unread, ["tempo=3", "event=5", "present=yes", "seed=-1", "loud"]);
        for unknown in ["#some-run", "#/lesson/", "#/lesson/../x", "#/lesson/%00", "#/sandbox"] {
            assert_eq!(Link::read(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn an_edit_survives_the_address() {
        for edit in ["pause client-a before write#1 for 12s", "at 5s cut {a b}|{c} + %41;&=", "ü"]
        {
            assert_eq!(decode(&encode(edit)), edit);
        }
        assert_eq!(encode("at 3s pause client-a for 12s"), "at+3s+pause+client-a+for+12s");
    }
}
