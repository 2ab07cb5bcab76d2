//! Keeps a learner's work in the browser: reads it when a lesson opens, writes it when it changed, and
//! hears of what other tabs write.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use gloo_timers::callback::Timeout;
use wasm_bindgen::JsCast;
use web_sys::{HtmlInputElement, Storage};
use yew::{UseReducerDispatcher, hook, use_effect_with};

use super::draw::Same;
use super::kept::{self, KEY, Kept};
use super::page::Model;
use super::platform::{self, Listener, window};
use super::state::{Action, State};
use super::strings;

/// How long a change waits until it is written, in milliseconds.
const WAITS: u32 = 150;
/// Under which name a tab remembers what it was.
const TAB_KEY: &str = "lockscope.tab";

/// How well the browser keeps.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum Keeping {
    /// Everything.
    #[default]
    All,
    /// Nothing: storage is forbidden.
    Nothing,
    /// What was kept so far, and no more: storage is full.
    NoMore,
    /// What is stored is not of this page, and was left alone.
    Foreign(String),
}

type To = UseReducerDispatcher<Model>;

thread_local! {
    static KEEPING: RefCell<Keeping> = const { RefCell::new(Keeping::All) };
    /// What this tab is, and what it was before it was loaded anew.
    static TABS: Cell<[u64; 2]> = const { Cell::new([0, 0]) };
    /// What is about to be written.
    static NEXT: RefCell<Option<(Timeout, Same<State>, To)>> = const { RefCell::new(None) };
    /// The last text that was to be kept, where the browser keeps none.
    static MEMORY: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// How well the browser keeps, as far as is known.
pub fn keeping() -> Keeping {
    KEEPING.with_borrow(Clone::clone)
}

fn storage() -> Option<Storage> {
    window().and_then(|w| w.local_storage().ok().flatten())
}

/// What is kept: by the browser, or where it keeps nothing, by this page.
fn text() -> Option<String> {
    match storage() {
        Some(storage) => storage.get_item(KEY).ok().flatten().or_else(remembered),
        None => remembered(),
    }
}

fn remembered() -> Option<String> {
    MEMORY.with_borrow(Clone::clone)
}

fn tabs() -> [u64; 2] {
    let [now, before] = TABS.get();
    if now != 0 {
        return [now, before];
    }
    let session = window().and_then(|w| w.session_storage().ok().flatten());
    let was = session.as_ref().and_then(|s| s.get_item(TAB_KEY).ok().flatten());
    let was = was.and_then(|text| text.parse().ok()).unwrap_or(0);
    // A tab that was doubled is another one: each has a number of its own.
    let new = (js_sys::Math::random() * 9_007_199_254_740_991.0) as u64 + 1;
    if let Some(session) = session {
        let _ = session.set_item(TAB_KEY, &new.to_string());
    }
    TABS.set([new, was]);
    [new, was]
}

/// The state of a lesson with all that was kept of it.
pub fn recall(state: State) -> State {
    let tabs = tabs();
    if storage().is_none() {
        KEEPING.set(Keeping::Nothing);
    }
    match kept::of_lesson(text().as_deref(), &state.lesson.id) {
        Ok(kept) => state.recall(kept, &tabs),
        Err(why) => {
            KEEPING.set(Keeping::Foreign(why));
            state
        }
    }
}

/// Writes what a state has to keep, together with what is there; tells the page what else was there.
fn write(state: &State, to: &To) {
    let kept = state.to_keep(tabs()[0]);
    let was = keeping();
    match kept::put(text().as_deref(), &state.lesson.id, &kept) {
        Ok((new, merged)) => {
            let now = save(&new);
            KEEPING.set(now);
            if merged != kept {
                to.dispatch(Action::TakeOver(Rc::new(merged)));
            }
        }
        Err(why) => KEEPING.set(Keeping::Foreign(why)),
    }
    if keeping() != was {
        // The page says so.
        to.dispatch(Action::TakeOver(Rc::default()));
    }
}

fn save(text: &str) -> Keeping {
    let Some(storage) = storage() else {
        MEMORY.set(Some(text.into()));
        return Keeping::Nothing;
    };
    let less = || kept::without_undo(text).is_some_and(|less| storage.set_item(KEY, &less).is_ok());
    if storage.set_item(KEY, text).is_ok() || less() {
        MEMORY.set(None);
        return Keeping::All;
    }
    MEMORY.set(Some(text.into()));
    Keeping::NoMore
}

fn flush() {
    if let Some((timer, state, to)) = NEXT.take() {
        drop(timer);
        write(&state, &to);
    }
}

/// Keeps what changes, and takes over what other tabs keep.
#[hook]
pub fn use_store(state: &Same<State>, to: &To) {
    let (now, sender) = (state.clone(), to.clone());
    let due = (!state.playing && state.hold.is_none()).then_some(state.keeps);
    use_effect_with(due, move |due| {
        if due.is_some_and(|keeps| keeps > 0) {
            NEXT.set(Some((Timeout::new(WAITS, flush), now, sender)));
        }
    });
    let latest = state.clone();
    let sender = to.clone();
    use_effect_with((), move |()| {
        let id = latest.lesson.id.clone();
        let listeners = window().map(|window| {
            let hear = move |event: web_sys::Event| {
                let key =
                    js_sys::Reflect::get(&event, &"key".into()).ok().and_then(|k| k.as_string());
                if key.as_deref() == Some(KEY)
                    && let Ok(kept) = kept::of_lesson(text().as_deref(), &id)
                {
                    sender.dispatch(Action::TakeOver(Rc::new(kept)));
                }
            };
            let leave = |_: web_sys::Event| flush();
            [Listener::new(&window, "storage", hear), Listener::new(&window, "pagehide", leave)]
        });
        move || {
            flush();
            drop(listeners);
        }
    });
}

/// Offers all that is kept as a file; whether that was possible.
pub fn save_file(state: &State) -> bool {
    let kept = state.to_keep(tabs()[0]);
    // What cannot be read cannot be taken along, but what this page knows can.
    let put = kept::put(text().as_deref(), &state.lesson.id, &kept);
    let put = put.or_else(|_| kept::put(None, &state.lesson.id, &kept));
    let file = put.and_then(|(text, _)| kept::file(&text));
    file.is_ok_and(|file| platform::save("lockscope-branches.json", "application/json", &file))
}

/// Adds the file that was chosen in this field, and says what came of it.
pub fn load_file(
    field: &HtmlInputElement,
    state: Same<State>,
    to: To,
    tell: impl Fn(String) + 'static,
) {
    let Some(file) = field.files().and_then(|files| files.get(0)) else { return };
    let size = file.size();
    // The same file may be chosen again.
    field.set_value("");
    wasm_bindgen_futures::spawn_local(async move {
        if size > kept::LARGEST as f64 {
            return tell(strings::not_imported(&strings::too_large(kept::LARGEST)));
        }
        let read = wasm_bindgen_futures::JsFuture::from(file.text()).await;
        let Some(content) = read.ok().and_then(|t| t.as_string()) else {
            return tell(strings::not_imported(strings::UNREADABLE));
        };
        flush();
        // What is on screen belongs to what is kept, even before its first change.
        let own = state.to_keep(tabs()[0]);
        let base = kept::put(text().as_deref(), &state.lesson.id, &own).map(|p| p.0);
        tell(match base.and_then(|base| kept::import(Some(&base), &content)) {
            Ok((new, came)) => {
                KEEPING.set(save(&new));
                if let Ok(kept) = kept::of_lesson(Some(&new), &state.lesson.id) {
                    to.dispatch(Action::TakeOver(Rc::new(kept)));
                }
                let here = |(id, n): (String, usize)| (id.clone(), id == state.lesson.id, n);
                strings::imported(&came.into_iter().map(here).collect::<Vec<_>>())
            }
            Err(why) => strings::not_imported(&why),
        });
    });
}

/// Throws away what this page cannot read, and keeps anew.
pub fn discard(state: &State, to: &To) {
    if let Some(storage) = storage() {
        let _ = storage.remove_item(KEY);
    }
    KEEPING.set(Keeping::All);
    write(state, to);
    to.dispatch(Action::TakeOver(Rc::new(Kept::default())));
}

/// The element that a change came from, as a field.
pub fn field(event: &yew::Event) -> Option<HtmlInputElement> {
    event.target().and_then(|t| t.dyn_into::<HtmlInputElement>().ok())
}
