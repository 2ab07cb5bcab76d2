//! What is done to the run on screen: the list of edits, with ways to change each.

use web_sys::{HtmlInputElement, MouseEvent, SubmitEvent};
use yew::{Callback, Html, component, html, props, use_node_ref};

use super::draw::{Choice, ChoiceProps};
use super::part::part;
use super::state::{Action, own_edits};
use super::strings;
use super::words::Props;

/// All edits of the run on screen, with ways to take them back and to write one by hand.
pub fn edits(props: &Props) -> Html {
    let (state, to) = (&props.state, &props.to);
    let own = own_edits(&state.lesson, state.variant);
    let unused = &state.show.run.unused_edits;
    let items = state.edits.iter().enumerate().map(|(i, edit)| {
        let sender = to.clone();
        let onclick = Callback::from(move |_: MouseEvent| {
            sender.dispatch(Action::Remove(i));
            super::platform::focus("edits-title");
        });
        html! {
            <li key={format!("{i} {edit}")}>
                <code>{ edit }</code>
                if own.contains(edit) { <span class="quiet">{ strings::FROM_LESSON }</span> }
                if unused.contains(&i) { <span class="quiet">{ strings::NO_OCCASION }</span> }
                <button type="button" class="remove" aria-label={strings::remove(edit)} title={strings::remove(edit)} {onclick}>
                    <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true"><path d="M2 2l8 8M10 2l-8 8" /></svg>
                </button>
            </li>
        }
    });
    let act = |word: &'static str, action: Action, able: bool| {
        let to = to.clone();
        let onclick = Callback::from(move |_: MouseEvent| to.dispatch(action.clone()));
        let off = (!able).then_some("true");
        html! { <button type="button" class="link" aria-disabled={off} {onclick}>{ word }</button> }
    };
    html! {
        <section class="edits" aria-labelledby="edits-title">
            <div class="panel-head">
                <h2 id="edits-title" tabindex="-1">{ strings::EDITS }</h2>
                <span class="pair">
                    { act(strings::UNDO, Action::Undo, !state.past.is_empty()) }
                    { act(strings::REDO, Action::Redo, !state.future.is_empty()) }
                </span>
            </div>
            { runs(props) }
            if state.edits.is_empty() { <p class="quiet">{ strings::NO_EDITS }</p> }
            <ul>{ for items }</ul>
            { part::<Write>("write", props.clone()) }
        </section>
    }
}

/// The lesson's own runs, to start from.
fn runs(props: &Props) -> Html {
    let state = &props.state;
    if state.lesson.variants.len() < 2 {
        return html! {};
    }
    let to = props.to.clone();
    let on_choice = Callback::from(move |value: String| {
        if let Ok(index) = value.parse() {
            to.dispatch(Action::Variant(index));
        }
    });
    let nearest = state.show.variant;
    let exact = own_edits(&state.lesson, nearest) == state.edits;
    let variants = state.lesson.variants.iter().enumerate();
    let mut options: Vec<_> = variants.map(|(i, v)| (i.to_string(), v.title.clone())).collect();
    let mut value = nearest.to_string();
    if !exact {
        value = "own".into();
        options.push((value.clone(), strings::YOUR_OWN.into()));
    }
    part::<Choice>(
        "runs",
        props!(ChoiceProps { class: "runs", label: strings::RUN, options, value, on_choice }),
    )
}

#[component]
fn Write(props: &Props) -> Html {
    let input = use_node_ref();
    let (to, field) = (props.to.clone(), input.clone());
    let count = props.state.past.len();
    // What was typed stays until it has been taken over; a link may bring what cannot be.
    let unread = props.state.wrong.as_ref().map(|w| w.0.clone());
    yew::use_effect_with(count, move |_| {
        if let Some(field) = field.cast::<HtmlInputElement>() {
            field.set_value(unread.as_deref().unwrap_or_default());
            if unread.is_some() {
                super::platform::reveal("write");
            }
        }
    });
    let field = input.clone();
    let onsubmit = Callback::from(move |event: SubmitEvent| {
        event.prevent_default();
        if let Some(field) = field.cast::<HtmlInputElement>() {
            to.dispatch(Action::Add(field.value()));
        }
    });
    let wrong = props.state.wrong.as_ref();
    html! {
        <form class="write" id="write" {onsubmit}>
            <label for="edit">{ strings::ADD_EDIT }</label>
            <div class="field">
                <input type="text" id="edit" ref={input} autocomplete="off" autocapitalize="off" spellcheck="false"
                    placeholder={strings::EDIT_EXAMPLE} aria-invalid={wrong.map(|_| "true")}
                    aria-describedby={wrong.map(|_| "edit-wrong")} />
                <button type="submit" class="plain">{ strings::ADD }</button>
            </div>
            <div role="alert" id="edit-wrong">
                if let Some((text, words)) = wrong {
                    <p class="wrong">
                        if !text.is_empty() { <code>{ text }</code>{ " · " } }
                        { words }
                    </p>
                }
            </div>
        </form>
    }
}
