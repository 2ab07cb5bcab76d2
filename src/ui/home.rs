//! The application: follows the address, fetches a lesson and opens it. The start page needs none of this.

use std::rc::Rc;

use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::{KeyboardEvent, MouseEvent};
use yew::{Callback, Html, Properties, component, use_effect_with, use_state, use_state_eq};

use super::dialogs::{help, settings};
use super::draw::{Same, logo};
use super::page::LessonPage;
use super::part::part;
use super::platform::{self, Listener};
use super::route::Route;
use super::settings::Settings;
use super::state::{Place, State};
use super::strings;
use super::tag::html;
use crate::lesson;

#[wasm_bindgen]
extern "C" {
    /// The overlay that `static/boot.mjs` shows when nothing on the page can be trusted any more.
    #[wasm_bindgen(js_namespace = window, js_name = lockscopePanic)]
    fn show_panic(message: &str);
}

/// Mounts the page in place of the shell that `index.html` shows while the program loads.
pub fn start() {
    yew::set_custom_panic_hook(Box::new(|info| show_panic(&info.to_string())));
    platform::load_settings();
    platform::gather_address();
    platform::finish_before_hands();
    let Some(root) = platform::window()
        .and_then(|window| window.document())
        .and_then(|document| document.get_element_by_id("app"))
    else {
        show_panic("The page has no element with the id \"app\" to draw into.");
        return;
    };
    yew::Renderer::<App>::with_root(root).render();
}

/// The whole page.
#[component]
fn App() -> Html {
    // The number makes the same address, entered again, a new visit.
    let route = use_state(|| (0_u32, Route::parse(&platform::hash())));
    let setter = route.setter();
    use_effect_with((), move |()| {
        let mut visit = 0;
        let listener = platform::window().map(|window| {
            Listener::new(&window, "hashchange", move |_| {
                visit += 1;
                setter.set((visit, Route::parse(&platform::hash())));
            })
        });
        move || drop(listener)
    });
    let (visit, route) = (*route).clone();
    match route {
        // The start page is there without the program.
        Route::Home | Route::Unknown(_) => html! {},
        Route::Lesson { id, place } => {
            part::<Loader>(format!("lesson {visit}"), LoaderProps { id, place })
        }
    }
}

#[derive(Properties, PartialEq)]
pub struct HeaderProps {
    /// What only a lesson has: buttons for taking it along and for a projector.
    pub more: Html,
    /// The reader changed a setting.
    pub on_change: Callback<()>,
}

/// The head of a page without a lesson.
fn header() -> Html {
    part::<Header>("header", HeaderProps { more: html! {}, on_change: Callback::noop() })
}

/// What the head of the page has opened.
#[derive(Clone, Copy, PartialEq)]
enum Opened {
    Nothing,
    Help,
    Settings,
}

/// The head of every page.
#[component]
pub fn Header(props: &HeaderProps) -> Html {
    let opened = use_state_eq(|| Opened::Nothing);
    // Settings live beside the page; the number makes the head read them again.
    let changes = use_state_eq(|| 0_u32);
    let setter = opened.setter();
    let open = move |what: Opened| {
        let setter = setter.clone();
        Callback::from(move |_: MouseEvent| setter.set(what))
    };
    let setter = opened.setter();
    let on_close = Callback::from(move |()| setter.set(Opened::Nothing));
    let setter = opened.setter();
    use_effect_with((), move |()| {
        let listener = platform::window().map(|window| {
            Listener::new(&window, "keydown", move |event| {
                let Some(key) = event.dyn_ref::<KeyboardEvent>() else { return };
                let taken = || platform::takes_key(platform::belongs_to(key), "?");
                if key.key() == "?" && platform::settings().letters && !taken() {
                    event.prevent_default();
                    setter.set(Opened::Help);
                }
            })
        });
        move || drop(listener)
    });
    let on_change = props.on_change.clone();
    let change = Callback::from(move |(key, word): (&'static str, String)| {
        let line = platform::settings().line();
        platform::change_settings(Settings::parse(&format!("{line} {key}={word}")));
        on_change.emit(());
        changes.set(*changes + 1);
    });
    let skip = Callback::from(|_: MouseEvent| {
        let _ = platform::focus("words") || platform::focus("lesson");
    });
    let now = platform::settings();
    html! {
        <>
            <header class="top">
                <button type="button" class="skip" onclick={skip}>{ strings::SKIP }</button>
                <a class="brand" href="#/">{ logo() }<span>{ strings::NAME }</span></a>
                <nav aria-label="Lockscope"><a href="#/">{ strings::LESSONS }</a><a href="#/cases">{ strings::IT_HAPPENED }</a></nav>
                <span class="gap"></span>
                { props.more.clone() }
                <button type="button" class="quietly" aria-haspopup="dialog" onclick={open(Opened::Settings)}>
                    { strings::SETTINGS }
                </button>
                <button type="button" class="quietly" aria-haspopup="dialog" onclick={open(Opened::Help)}>
                    { strings::HELP_WORD }
                </button>
            </header>
            { match *opened {
                Opened::Nothing => html! {},
                Opened::Help => help(now.letters, &change, on_close),
                Opened::Settings => settings(now, &change, on_close),
            } }
        </>
    }
}

#[derive(Clone, PartialEq)]
enum Loaded<T> {
    Not,
    Yes(T),
    Failed(String),
}

fn failure(words: &str, again: Callback<MouseEvent>) -> Html {
    html! {
        <div role="alert" class="note">
            <p>{ words }</p>
            <button type="button" class="plain" onclick={again}>{ strings::TRY_AGAIN }</button>
            <p><a href="#/">{ strings::ALL_LESSONS }</a></p>
        </div>
    }
}

#[derive(Properties, PartialEq)]
struct LoaderProps {
    id: String,
    place: Place,
}

/// Fetches a lesson and opens it; says why not, with the way back.
#[component]
fn Loader(props: &LoaderProps) -> Html {
    let state = use_state(|| Loaded::<Same<State>>::Not);
    let tries = use_state_eq(|| 0_u32);
    let setter = state.setter();
    let (id, place) = (props.id.clone(), props.place.clone());
    use_effect_with(*tries, move |_| {
        wasm_bindgen_futures::spawn_local(async move {
            setter.set(match platform::fetch_text(&format!("lessons/{id}.json")).await {
                Err(why) => Loaded::Failed(strings::not_loaded(&strings::lesson(&id), &why)),
                Ok(text) => match open(&id, &text, &place) {
                    Ok(state) => Loaded::Yes(Same(Rc::new(state))),
                    Err(words) => Loaded::Failed(words),
                },
            });
        });
    });
    let again = {
        let (state, tries) = (state.setter(), tries.clone());
        Callback::from(move |_: MouseEvent| {
            state.set(Loaded::Not);
            tries.set(*tries + 1);
        })
    };
    let body = match &*state {
        Loaded::Yes(state) => {
            return part::<LessonPage>("page", super::page::Props { state: state.clone() });
        }
        Loaded::Not => html! { <p class="quiet">{ strings::LOADING }</p> },
        Loaded::Failed(words) => failure(words, again),
    };
    html! {
        <div class="page">
            { header() }
            <main class="home" id="words" tabindex="-1"><h1>{ strings::NAME }</h1>{ body }</main>
        </div>
    }
}

fn open(id: &str, text: &str, place: &Place) -> Result<State, String> {
    let lesson =
        lesson::unpack(text).map_err(|why| strings::not_readable(&strings::lesson(id), &why))?;
    let title = lesson.title.clone();
    let opened = State::open(lesson, place).map(super::store::recall);
    opened.map_err(|why| strings::not_runnable(&title, &why))
}
