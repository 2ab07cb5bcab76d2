//! The part of the address after `#`: which page, and for a lesson its run and place.

use super::look::{AS, View};
use super::state::{Place, State, own_edits};
use crate::lesson::Level;
use crate::run::{Link, node_ids};
use crate::systems::Registry;

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
        let Some(reading) = Link::read(text) else { return Route::Unknown(text.into()) };
        let (link, mut unread) = (reading.link, reading.unread);
        let eyes = link.view.as_deref().and_then(|v| v.strip_prefix(AS)).map(String::from);
        let view = match link.view.as_deref() {
            Some("topology") => View::Topology,
            Some("diagram") | None => View::Diagram,
            Some(_) if eyes.is_some() => View::Diagram,
            Some(view) => {
                unread.push(format!("view={view}"));
                View::Diagram
            }
        };
        let word = link.level.as_deref();
        let level = Level::ALL.into_iter().find(|l| Some(l.word()) == word);
        if let (Some(word), None) = (word, level) {
            unread.push(format!("level={word}"));
        }
        let place = Place {
            variant: link.variant,
            edits: link.edits,
            short: reading.short,
            seed: link.seed,
            event: link.event,
            present: link.present,
            view,
            eyes,
            level,
            mark: reading.mark,
            unread,
        };
        Route::Lesson { id: link.lesson, place }
    }

    /// The fragment that leads to this state, with its `#`.
    pub fn of(state: &State) -> String {
        Route::to(state, &state.edits, state.head.event, state.show.hash())
    }

    /// The fragment that leads to the same lesson with these edits, at this event; `hash` is the run's.
    pub fn to(state: &State, edits: &[String], event: Option<u32>, hash: u64) -> String {
        let lesson = &state.lesson;
        let variant = lesson.variants.get(state.variant);
        let named = variant.filter(|_| state.variant > 0 || state.level.is_some());
        let seed = lesson.scenario.seed;
        let link = Link {
            lesson: lesson.id.clone(),
            variant: named.map(|v| v.name.clone()),
            level: state.level.map(|l| l.word().into()),
            seed: (seed != state.own_seed).then_some(seed),
            event,
            edits: (edits != own_edits(lesson, state.variant)).then(|| edits.to_vec()),
            present: state.present,
            view: state.view_word(),
        };
        link.write(&nodes(lesson, state.variant), hash)
    }
}

/// The nodes that a link counts by: those of a variant.
pub(super) fn nodes(lesson: &crate::lesson::Lesson, variant: usize) -> Vec<String> {
    let scenario = lesson.variants.get(variant).map(|v| lesson.scenario_of(v));
    scenario.map_or_else(Vec::new, |s| node_ids(&s, &Registry::standard()))
}

#[cfg(test)]
mod tests {
    use super::{Level, Place, Route};

    #[test]
    fn addresses_lead_somewhere_or_say_that_they_do_not() {
        assert_eq!(Route::parse(""), Route::Home);
        assert_eq!(Route::parse("#/"), Route::Home);
        let lesson = |id: &str, place| Route::Lesson { id: id.into(), place };
        let edits = vec!["set x y".into(), "drop a>b#1".into()];
        let (variant, level) = (Some("c".into()), Some(Level::Help));
        let all = Place {
            variant,
            edits: Some(edits),
            event: Some(7),
            present: true,
            level,
            unread: vec!["new=1".into()],
            ..Place::default()
        };
        let address =
            "#/lesson/a-b?run=c&edits=set+x+y;drop+a%3Eb%231&level=help&event=7&new=1&present=1";
        assert_eq!(Route::parse(address), lesson("a-b", all));
        for unknown in ["#some-run", "#/lesson/", "#/lesson/../x", "#/lesson/%00", "#/sandbox"] {
            assert!(matches!(Route::parse(unknown), Route::Unknown(_)), "{unknown}");
        }
    }
}
