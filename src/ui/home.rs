//! The application: follows the address, shows the list of lessons, fetches and opens one.

use std::rc::Rc;

use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::{KeyboardEvent, MouseEvent};
use yew::{Callback, Html, Properties, component, html, use_effect_with, use_state, use_state_eq};

use super::dialogs::{help, settings};
use super::draw::{Same, logo};
use super::page::LessonPage;
use super::part::part;
use super::platform::{self, Listener};
use super::route::Route;
use super::settings::Settings;
use super::state::{Place, State};
use super::strings;
use crate::lesson::{self, Card, MarkKind, Miniature};

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
        Route::Home => part::<Home>(format!("home {visit}"), HomeProps { unknown: None }),
        Route::Unknown(what) => {
            part::<Home>(format!("home {visit}"), HomeProps { unknown: Some(what) })
        }
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
                let key = event.dyn_ref::<KeyboardEvent>().map(KeyboardEvent::key);
                let wanted = platform::settings().letters && !platform::takes_keys(event.target());
                if key.as_deref() == Some("?") && wanted {
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
                <nav aria-label="Lockscope"><a href="#/">{ strings::LESSONS }</a></nav>
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

#[derive(Properties, PartialEq)]
struct HomeProps {
    unknown: Option<String>,
}

#[component]
fn Home(props: &HomeProps) -> Html {
    use_effect_with((), |()| platform::set_title(strings::NAME));
    html! {
        <div class="page">
            { header() }
            <main class="home" id="words" tabindex="-1">
                <h1>{ strings::NAME }</h1>
                <p class="lead">{ strings::TAGLINE }</p>
                <p class="about">{ strings::ABOUT }</p>
                if let Some(what) = &props.unknown {
                    <p class="note" role="alert">{ strings::no_page(what) }</p>
                }
                { part::<List>("list", ()) }
            </main>
        </div>
    }
}

/// The lessons, each with the miniature of its own run.
#[component]
fn List() -> Html {
    let index = use_state_eq(|| Loaded::<Vec<Card>>::Not);
    let tries = use_state_eq(|| 0_u32);
    let setter = index.setter();
    use_effect_with(*tries, move |_| {
        wasm_bindgen_futures::spawn_local(async move {
            let what = strings::THE_LIST;
            setter.set(match platform::fetch_text("lessons/index.json").await {
                Err(why) => Loaded::Failed(strings::not_loaded(what, &why)),
                Ok(text) => match lesson::unpack_index(&text) {
                    Ok(index) => Loaded::Yes(index.lessons),
                    Err(why) => Loaded::Failed(strings::not_readable(what, &why)),
                },
            });
        });
    });
    let body = match &*index {
        Loaded::Not => html! { <p class="quiet">{ strings::LOADING }</p> },
        Loaded::Failed(words) => {
            let tries = tries.clone();
            let again = Callback::from(move |_: MouseEvent| tries.set(*tries + 1));
            failure(words, again)
        }
        Loaded::Yes(cards) if cards.is_empty() => {
            html! { <p class="quiet">{ strings::NO_LESSONS }</p> }
        }
        Loaded::Yes(cards) => {
            html! { <ol class="cards">{ for cards.iter().enumerate().map(card) }</ol> }
        }
    };
    html! {
        <section aria-labelledby="lessons-title">
            <h2 id="lessons-title">{ strings::LESSONS }</h2>
            { body }
        </section>
    }
}

fn card((index, card): (usize, &Card)) -> Html {
    // Whoever has never been here begins with the first one, so it says so.
    let first = index == 0;
    html! {
        <li key={card.id.clone()} class={first.then_some("first")}>
            <a class="card-link" href={format!("#/lesson/{}", card.id)}>
                <span class="card-words">
                    <span class="card-title">{ &card.title }</span>
                    <span class="card-hook">{ &card.hook }</span>
                    <span class="quiet">{ strings::minutes(card.minutes) }{ " · " }{ card.class.word() }</span>
                    if first { <span class="go">{ strings::START_HERE }</span> }
                </span>
                { miniature(&card.miniature) }
            </a>
        </li>
    }
}

/// A lesson's run at a glance: a line for each client, truth solid, belief without it in another
/// colour and hatched, and the signs of what decided.
fn miniature(tiny: &Miniature) -> Html {
    let (width, row) = (320_u32, 18_u32);
    let x = |unit: u32| unit * width / 1000;
    let lanes = tiny.lanes.iter().enumerate().map(|(i, lane)| {
        let y = 8 + row * i as u32;
        let bars = |spans: &[(u32, u32)], class: &'static str, dy: u32, height: u32| {
            let bar = |(n, (from, to)): (usize, &(u32, u32))| {
                html! {
                    <rect key={n} {class} x={x(*from).to_string()} y={(y + dy).to_string()}
                        width={(x(*to) - x(*from)).max(1).to_string()} height={height.to_string()} />
                }
            };
            html! { <g>{ for spans.iter().enumerate().map(bar) }</g> }
        };
        html! {
            <g key={i}>
                <path class="tiny-line" d={format!("M0 {}H{width}", y + 5)} />
                { bars(&lane.belief, "tiny-belief", 1, 8) }
                { bars(&lane.truth, "tiny-truth", 1, 8) }
                { bars(&lane.stopped, "tiny-stopped", 11, 2) }
            </g>
        }
    });
    let base = 14 + row * tiny.lanes.len() as u32;
    let marks = tiny.marks.iter().enumerate().filter_map(|(i, mark)| {
        let x = x(mark.at);
        let (class, d) = match mark.kind {
            MarkKind::Accept => {
                ("tiny-accept", format!("M{} {}h6v6h-6z", x.saturating_sub(3), base))
            }
            MarkKind::Reject => (
                "tiny-reject",
                format!("M{} {}h3l2 2v3l-2 2h-3l-2-2v-3z", x.saturating_sub(1), base),
            ),
            MarkKind::Harm => {
                ("tiny-harm", format!("M{x} {}l2 3 4 1-3 3 1 4-4-2-4 2 1-4-3-3 4-1z", base - 2))
            }
            MarkKind::Stale => ("tiny-stale", format!("M{} {}h6v6h-6z", x.saturating_sub(3), base)),
            _ => return None,
        };
        Some(html! { <path key={i} {class} {d} /> })
    });
    html! {
        <svg class="tiny" viewBox={format!("-6 0 {} {}", width + 12, base + 12)} aria-hidden="true">
            <g>{ for lanes }</g>
            <path class="tiny-line" d={format!("M0 {}H{width}", base + 3)} />
            <g>{ for marks }</g>
        </svg>
    }
}

fn failure(words: &str, again: Callback<MouseEvent>) -> Html {
    html! {
        <div role="alert" class="note">
            <p>{ words }</p>
            <button type="button" class="plain" onclick={again}>{ strings::TRY_AGAIN }</button>
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
        Loaded::Failed(words) => html! {
            <>
                { failure(words, again) }
                { part::<List>("list", ()) }
            </>
        },
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
    State::open(lesson, place).map_err(|why| strings::not_runnable(&title, &why))
}
