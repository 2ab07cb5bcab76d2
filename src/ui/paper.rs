//! The run on screen as a hand-out. It is drawn only while the browser prints, so that the page holds
//! no node of it otherwise.

use yew::{Html, hook, use_effect_with, use_state_eq};

use super::draw::node;
use super::platform::{self, Listener, use_media};
use super::state::{State, own_edits};
use super::strings;
use super::tag::html;
use crate::diagram::{Layout, layout};
use crate::sheet::{self, Scene};
use crate::sim::EventId;

/// The hand-out while the page is being printed. It stands before all else, so that its pictures refer
/// to its own patterns: what is not shown has none.
///
/// Some browsers say by the media query that they print, some by the event.
#[hook]
pub fn use_paper(state: &State) -> Html {
    let media = use_media("print");
    let asked = use_state_eq(|| false);
    let setter = asked.setter();
    use_effect_with((), move |()| {
        let listeners = platform::window().map(|window| {
            [("beforeprint", true), ("afterprint", false)].map(|(name, now)| {
                let setter = setter.clone();
                Listener::new(&window, name, move |_| {
                    setter.set(now);
                    // The browser takes what is there when this returns.
                    platform::finish_drawing();
                })
            })
        });
        move || drop(listeners)
    });
    if media || *asked {
        paper(state)
    } else {
        html! {}
    }
}

/// The hand-out: what is told of this run, and what is decided where it goes its own way.
fn paper(state: &State) -> Html {
    let (lesson, show) = (&state.lesson, &state.show);
    let picture = layout(&show.run, &Layout { width: sheet::WIDTH, ..Layout::default() });
    let event = |i: &usize| Some((*i, EventId(*show.beats.get(*i)?.as_ref().ok()?)));
    let told: Vec<(usize, EventId)> = show.story.iter().filter_map(event).collect();
    let leaves = show.leaves.map(|(event, _)| EventId(event));
    let (frames, left) = sheet::story(lesson, &show.run, &told, leaves);
    let written = own_edits(lesson, show.variant) == state.edits;
    let variant = lesson.variants.get(show.variant).filter(|_| written);
    let title = variant.map_or_else(|| strings::YOUR_OWN_RUN.into(), |v| sheet::heading(&v.title));
    let scene = Scene { title, run: &show.run, picture: &picture, frames, left };
    node(&sheet::handout(lesson, &[scene], &state.written))
}
