//! The part of the address after `#`: which page, and for a lesson its edits and place.

use super::state::{Place, State, own_edits};
use crate::lesson::Level;

/// Where an address leads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Route {
    /// The list of lessons.
    Home,
    /// A lesson.
    Lesson {
        /// Which.
        id: String,
        /// Where in it.
        place: Place,
    },
    /// Nothing that exists.
    Unknown(String),
}

impl Route {
    /// Reads an address's fragment, with or without its `#`.
    pub fn parse(hash: &str) -> Route {
        let text = hash.strip_prefix('#').unwrap_or(hash);
        if text.is_empty() || text == "/" {
            return Route::Home;
        }
        let Some(rest) = text.strip_prefix("/lesson/") else { return Route::Unknown(text.into()) };
        let (id, query) = rest.split_once('?').unwrap_or((rest, ""));
        let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if id.is_empty() || !id.chars().all(good) {
            return Route::Unknown(text.into());
        }
        let mut place = Place::default();
        for pair in query.split('&') {
            match pair.split_once('=') {
                Some(("run", name)) => place.variant = Some(decode(name)),
                Some(("edits", "")) => place.edits = Some(Vec::new()),
                Some(("edits", list)) => {
                    place.edits = Some(list.split(';').map(decode).collect());
                }
                Some(("event", number)) => place.event = number.parse().ok(),
                Some(("present", on)) => place.present = on == "1",
                Some(("level", word)) => {
                    place.level = Level::ALL.into_iter().find(|l| l.word() == word);
                }
                // A later edition may know more; what this one does not know it leaves out.
                _ => {}
            }
        }
        Route::Lesson { id: id.into(), place }
    }

    /// The fragment that leads to this state, with its `#`.
    pub fn of(state: &State) -> String {
        Route::to(state, &state.edits, state.head.event)
    }

    /// The fragment that leads to the same lesson with these edits, at this event.
    pub fn to(state: &State, edits: &[String], event: Option<u32>) -> String {
        let mut query = Vec::new();
        if let Some(variant) = state
            .lesson
            .variants
            .get(state.variant)
            .filter(|_| state.variant > 0 || state.level.is_some())
        {
            query.push(format!("run={}", encode(&variant.name)));
        }
        if edits != own_edits(&state.lesson, state.variant) {
            let list: Vec<String> = edits.iter().map(|e| encode(e)).collect();
            query.push(format!("edits={}", list.join(";")));
        }
        if let Some(level) = state.level {
            query.push(format!("level={}", level.word()));
        }
        if let Some(event) = event {
            query.push(format!("event={event}"));
        }
        if state.present {
            query.push("present=1".into());
        }
        let mark = if query.is_empty() { "" } else { "?" };
        format!("#/lesson/{}{mark}{}", state.lesson.id, query.join("&"))
    }
}

/// Spaces become `+`; letters, digits and a few signs stay readable.
fn encode(text: &str) -> String {
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
fn decode(text: &str) -> String {
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
    use super::{Level, Place, Route, decode, encode};

    #[test]
    fn an_edit_survives_the_address() {
        for edit in ["pause client-a before write#1 for 12s", "at 5s cut {a b}|{c} + %41;&=", "ü"]
        {
            assert_eq!(decode(&encode(edit)), edit);
        }
        assert_eq!(encode("at 3s pause client-a for 12s"), "at+3s+pause+client-a+for+12s");
    }

    #[test]
    fn addresses_lead_somewhere_or_say_that_they_do_not() {
        assert_eq!(Route::parse(""), Route::Home);
        assert_eq!(Route::parse("#/"), Route::Home);
        let lesson = |id: &str, place| Route::Lesson { id: id.into(), place };
        let edits = vec!["set x y".into(), "drop a>b#1".into()];
        let (variant, level) = (Some("c".into()), Some(Level::Help));
        let all = Place { variant, edits: Some(edits), event: Some(7), present: true, level };
        let address =
            "#/lesson/a-b?run=c&edits=set+x+y;drop+a%3Eb%231&level=help&event=7&new=1&present=1";
        assert_eq!(Route::parse(address), lesson("a-b", all));
        let none = Place { edits: Some(vec![]), ..Place::default() };
        assert_eq!(Route::parse("#/lesson/x?edits=&event=-3"), lesson("x", none));
        for unknown in ["#some-run", "#/lesson/", "#/lesson/../x", "#/lesson/%00", "#/sandbox"] {
            assert!(matches!(Route::parse(unknown), Route::Unknown(_)), "{unknown}");
        }
    }
}
