//! Dialogs: taking the run along, help. Each is the browser's own `dialog`, which
//! keeps the focus inside, closes on Escape, and gives the focus back.

use wasm_bindgen::JsCast;
use web_sys::{FocusEvent, HtmlDialogElement, HtmlInputElement, MouseEvent, SubmitEvent};
use yew::{
    Callback, Html, Properties, UseReducerDispatcher, component, props, use_effect_with,
    use_node_ref, use_state_eq,
};

use super::draw::{Choice, ChoiceProps, Same};
use super::page::Model;
use super::part::part;
use super::settings::{Settings, Words};
use super::state::{Action, State};
use super::tag::html;
use super::{platform, strings};
use crate::diagram;
use crate::narrate;

#[derive(Properties, PartialEq)]
pub struct DialogProps {
    pub title: String,
    pub on_close: Callback<()>,
    pub class: &'static str,
    pub body: Html,
}

/// A modal dialog around these contents.
pub fn dialog(title: String, class: &'static str, on_close: Callback<()>, body: Html) -> Html {
    part::<Dialog>("dialog", DialogProps { title, on_close, class, body })
}

/// A modal dialog that is open as long as it is drawn.
#[component]
pub fn Dialog(props: &DialogProps) -> Html {
    let dialog = use_node_ref();
    let opened = dialog.clone();
    use_effect_with((), move |()| {
        if let Some(dialog) = opened.cast::<HtmlDialogElement>() {
            let _ = dialog.show_modal();
        }
        // Closed before it leaves the page, so that the focus goes back to its opener.
        move || {
            if let Some(dialog) = opened.cast::<HtmlDialogElement>() {
                dialog.close();
            }
            // What opened it may be gone, or the page itself had the focus.
            platform::keep_focus("stage");
        }
    });
    let onclose = {
        let on_close = props.on_close.clone();
        Callback::from(move |_: yew::Event| on_close.emit(()))
    };
    let shut = dialog.clone();
    let close = Callback::from(move |_: MouseEvent| {
        if let Some(dialog) = shut.cast::<HtmlDialogElement>() {
            dialog.close();
        }
    });
    let own = dialog.clone();
    let shut = dialog.clone();
    // A press beside the dialog lands on the dialog element itself.
    let onclick = Callback::from(move |event: MouseEvent| {
        let beside = event.target().is_some()
            && event.target().as_ref() == own.get().as_deref().map(AsRef::as_ref);
        if let (true, Some(dialog)) = (beside, shut.cast::<HtmlDialogElement>()) {
            dialog.close();
        }
    });
    html! {
        <dialog ref={dialog} class={props.class} aria-labelledby="dialog-title" {onclose} {onclick}>
            <div class="sheet">
                <div class="panel-head">
                    <h2 id="dialog-title">{ &props.title }</h2>
                    <button type="button" class="link" onclick={close}>{ strings::CLOSE }</button>
                </div>
                { props.body.clone() }
            </div>
        </dialog>
    }
}

/// A field that the focus comes to is selected, so that typing replaces what it holds.
pub fn whole() -> Callback<FocusEvent> {
    Callback::from(|event: FocusEvent| {
        if let Some(field) = event.target().and_then(|t| t.dyn_into::<HtmlInputElement>().ok()) {
            field.select();
        }
    })
}

#[derive(Properties, PartialEq)]
pub struct TakeProps {
    pub state: Same<State>,
    pub on_close: Callback<()>,
}

/// The run as a link, a picture, data and a report.
#[component]
pub fn Take(props: &TakeProps) -> Html {
    let state = &props.state;
    let told = use_state_eq(String::new);
    // What could not be copied, for the reader's own hands.
    let left = use_state_eq(|| None::<String>);
    let copy = |word: &'static str, text: Box<dyn Fn(&State) -> String>| {
        let (state, told, left) = (state.clone(), told.setter(), left.setter());
        let onclick = Callback::from(move |_: MouseEvent| {
            let (text, told, left) = (text(&state), told.clone(), left.clone());
            wasm_bindgen_futures::spawn_local(async move {
                if platform::copy(text.clone()).await {
                    told.set(strings::COPIED.into());
                    left.set(None);
                } else {
                    told.set(strings::NOT_COPIED.into());
                    left.set(Some(text));
                }
            });
        });
        html! { <button type="button" class="plain" {onclick}>{ word }</button> }
    };
    let save = |word: &'static str,
                ending: &'static str,
                kind: &'static str,
                text: fn(&State) -> String| {
        let (state, told) = (state.clone(), told.setter());
        let onclick = Callback::from(move |_: MouseEvent| {
            let name = format!("lockscope-{}.{ending}", state.lesson.id);
            if platform::save(&name, kind, &text(&state)) {
                told.set(strings::saved_as(&name));
            }
        });
        html! { <button type="button" class="plain" {onclick}>{ word }</button> }
    };
    let print = Callback::from(|_: MouseEvent| platform::print());
    let body = html! {
        <>
            <div class="acts column">
                { copy(strings::COPY_LINK, Box::new(|_| platform::address())) }
                { copy(strings::COPY_MERMAID, Box::new(|s| narrate::mermaid(&s.show.run))) }
                { save(strings::SAVE_SVG, "svg", "image/svg+xml", |s| diagram::svg(&s.show.run, &s.show.picture)) }
                { save(strings::SAVE_JSON, "json", "application/json", |s| format!("{:#}\n", narrate::json(&s.show.run))) }
                { save(strings::SAVE_MARKDOWN, "md", "text/markdown", |s| narrate::markdown(&s.show.run)) }
                <button type="button" class="plain" onclick={print}>{ strings::PRINT }</button>
            </div>
            if state.lesson.report.is_none() {
                <p><a href={format!("lessons/{}-teacher.html", state.lesson.id)}>{ strings::TEACHER }</a></p>
            }
            <p role="status" class="quiet">{ &*told }</p>
            if let Some(text) = &*left {
                <textarea readonly=true rows="6" aria-label={strings::TAKE} value={text.clone()} />
            }
        </>
    };
    dialog(strings::TAKE.into(), "", props.on_close.clone(), body)
}

/// The keys, and how to read the picture.
pub fn help(letters: bool, change: &Change, on_close: Callback<()>) -> Html {
    let list = |pairs: &'static [(&'static str, &'static str)]| {
        let items = pairs.iter().map(|(what, words)| {
            html! { <div key={*what}><dt>{ *what }</dt><dd>{ *words }</dd></div> }
        });
        html! { <dl class="pairs">{ for items }</dl> }
    };
    let body = html! {
        <>
            <h3>{ strings::HOW_TO_READ }</h3>
            { list(strings::LEGEND) }
            <h3>{ strings::KEYS_TITLE }</h3>
            <p>{ strings::KEYS_NOTE }</p>
            { list(strings::KEYS) }
            <h3>{ strings::LETTERS }</h3>
            { switch(change, strings::LETTERS_WORK, "letters", letters) }
            { list(strings::LETTER_KEYS) }
            <h3>{ strings::PRESENT_KEYS_TITLE }</h3>
            { list(strings::PRESENT_KEYS) }
        </>
    };
    dialog(strings::HELP.into(), "help", on_close, body)
}

/// What changes one setting: its key and its word.
pub type Change = Callback<(&'static str, String)>;

fn switch(change: &Change, label: &'static str, key: &'static str, on: bool) -> Html {
    let onclick = change.reform(move |_: MouseEvent| (key, (!on).word().to_string()));
    html! {
        <button type="button" role="switch" class="switch" aria-checked={on.to_string()} {onclick}>
            <span>{ label }</span>
            <span class="knob" aria-hidden="true"></span>
        </button>
    }
}

/// What the reader wants of the page.
pub fn settings(now: Settings, change: &Change, on_close: Callback<()>) -> Html {
    let row = |label, key: &'static str, words: &[(&str, &str)], value: &str| {
        let on_choice = change.reform(move |word: String| (key, word));
        let options: Vec<_> = words.iter().map(|w| (w.0.to_string(), w.1.to_string())).collect();
        let value = value.to_string();
        let class = "setting";
        part::<Choice>(key, props!(ChoiceProps { class, label, options, value, on_choice }))
    };
    let body = html! {
        <>
            { row(strings::THEME, "theme", strings::THEMES, now.theme.word()) }
            { row(strings::MOTION, "motion", strings::MOTIONS, now.motion.word()) }
            { row(strings::TELLING, "telling", strings::TELLINGS, now.telling.word()) }
            { switch(change, strings::LETTERS, "letters", now.letters) }
            { switch(change, strings::STOP_AT_BEATS, "stops", now.stops) }
            <p role="status" class="quiet">if platform::forgets() { { strings::FORGETS } }</p>
        </>
    };
    dialog(strings::SETTINGS.into(), "", on_close, body)
}

/// A field for the number of a step.
pub fn go(state: &Same<State>, to: &UseReducerDispatcher<Model>, on_close: Callback<()>) -> Html {
    let (all, step) = (state.show.stops.len(), state.show.step(state.head));
    let (stops, to, done) = (state.clone(), to.clone(), on_close.clone());
    let onsubmit = Callback::from(move |event: SubmitEvent| {
        event.prevent_default();
        let number = platform::typed("go-step").and_then(|text| text.trim().parse::<usize>().ok());
        let Some(number) = number.filter(|n| *n <= all) else { return };
        let stop = number.checked_sub(1).and_then(|i| stops.show.stops.get(i)).copied();
        to.dispatch(Action::GoTo(stop));
        done.emit(());
    });
    let body = html! {
            <form class="row" {onsubmit}>
                <label class="stack">
                    { strings::step_up_to(all) }
                    <input type="number" id="go-step" autofocus=true onfocus={whole()} required=true min="0" max={all.to_string()} step="1"
                        value={step.to_string()} inputmode="numeric" />
                </label>
                <button type="submit" class="plain">{ strings::GO_BUTTON }</button>
            </form>
    };
    dialog(strings::GO.into(), "", on_close, body)
}
