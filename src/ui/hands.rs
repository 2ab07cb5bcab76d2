//! What is done to the run on screen: the list of edits, with ways to change each.

use wasm_bindgen::JsCast;
use web_sys::{
    FocusEvent, HtmlElement, HtmlInputElement, InputEvent, KeyboardEvent, MouseEvent, PointerEvent,
    SubmitEvent,
};
use yew::{Callback, Html, UseReducerDispatcher, UseStateHandle, component, props, use_node_ref};

use super::draw::{Choice, ChoiceProps, Same};
use super::hold::{Grip, Number, in_seconds, read};
use super::page::Model;
use super::part::part;
use super::player::{Held, Player};
use super::state::{Action, State, own_edits};
use super::tag::html;
use super::words::Props;
use super::{platform, strings};
use crate::diagram::{Area, Mark, Shape};
use crate::run::Span;

type To = UseReducerDispatcher<Model>;

/// The field that opens beside an edge.
const GRIP_FIELD: &str = "grip-field";
/// The room that the hint takes, in pixels.
const HINT: (i32, i32) = (88, 16);

/// How much a button and an arrow key change a number: a tenth of a second; with Shift a second, with
/// Alt a millisecond.
const STEP: i64 = 100_000;
const LONG_STEP: i64 = 1_000_000;
const SHORT_STEP: i64 = 1_000;

/// All edits of the run on screen, with ways to change each and to take it back.
pub fn edits(props: &Props) -> Html {
    let (state, to) = (&props.state, &props.to);
    let items = (0..state.edits.len()).map(|i| item(state, to, i));
    let act = |word: &'static str, action: Action, able: bool| {
        let onclick = on(to, action);
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
            if state.edits.is_empty() { <p class="quiet">{ strings::NO_EDITS }</p> }
            <ul>{ for items }</ul>
            { part::<Write>("write", props.clone()) }
        </section>
    }
}

fn on(to: &To, action: Action) -> Callback<MouseEvent> {
    let to = to.clone();
    Callback::from(move |_| to.dispatch(action.clone()))
}

/// One edit: its line, its numbers, and where it has a length, the way to the edge.
fn item(state: &State, to: &To, index: usize) -> Html {
    let Some(edit) = state.edits.get(index) else { return html! {} };
    let own = own_edits(&state.lesson, state.variant);
    let sender = to.clone();
    let onclick = Callback::from(move |_: MouseEvent| {
        sender.dispatch(Action::Remove(index));
        platform::focus("edits-title");
    });
    let numbers = state.show.numbers(index);
    let sought = numbers.iter().any(|n| n.0.span == Span::Length);
    let fields = numbers.iter().map(|(number, _)| {
        field(state, to, *number, strings::number_word(number.span), number_id(*number))
    });
    html! {
        <li key={index}>
            <span>
                <code>{ edit }</code>
                if own.contains(edit) { <span class="quiet">{ " " }{ strings::FROM_LESSON }</span> }
                if state.show.run.unused_edits.contains(&index) {
                    <span class="quiet">{ " " }{ strings::NO_OCCASION }</span>
                }
            </span>
            <button type="button" class="remove" aria-label={strings::remove(edit)} title={strings::remove(edit)} {onclick}>
                <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true"><path d="M2 2l8 8M10 2l-8 8" /></svg>
            </button>
            if !numbers.is_empty() {
                <div class="numbers">
                    if sought {
                        <button type="button" class="plain seek" aria-haspopup="dialog" onclick={on(to, Action::Find(Some(index)))}>
                            { strings::FIND }
                        </button>
                    }
                    { for fields }
                </div>
            }
        </li>
    }
}

/// The id of a number's field in the list.
fn number_id(number: Number) -> String {
    format!("number-{}-{}", number.edit, strings::number_word(number.span))
}

/// The field of the first length that the run has, for the key that leads to it.
pub fn first_length(state: &State) -> Option<String> {
    let all = (0..state.edits.len()).flat_map(|i| state.show.numbers(i));
    let mut lengths = all.filter(|n| n.0.span == Span::Length);
    lengths.next().map(|n| number_id(n.0))
}

/// A number as a field in seconds, between a button for less and one for more.
fn field(state: &State, to: &To, number: Number, word: &'static str, id: String) -> Html {
    let label = state.label(number);
    let value = state.show.number(number).unwrap_or_default();
    let typed = state.typed.as_ref().filter(|t| t.0 == number);
    let wrong = typed.is_some_and(|t| t.2);
    let shown = typed.map_or_else(|| in_seconds(value), |t| t.1.clone());
    let oninput = {
        let to = to.clone();
        Callback::from(move |event: InputEvent| {
            let field = event.target().and_then(|t| t.dyn_into::<HtmlInputElement>().ok());
            if let Some(field) = field {
                to.dispatch(Action::Type(number, field.value()));
            }
        })
    };
    let onblur = {
        let to = to.clone();
        Callback::from(move |_: FocusEvent| to.dispatch(Action::Enter(number)))
    };
    let onkeydown = {
        let to = to.clone();
        Callback::from(move |event: KeyboardEvent| {
            let action = match (event.key().as_str(), step(&event)) {
                ("Enter", _) => Action::Enter(number),
                ("Escape", _) => Action::Type(number, in_seconds(value)),
                ("ArrowUp", step) => Action::Nudge(number, step),
                ("ArrowDown", step) => Action::Nudge(number, -step),
                _ => return,
            };
            event.prevent_default();
            to.dispatch(action);
        })
    };
    let button = |by: i64, name: String, path: &'static str| {
        html! {
            <button type="button" class="step" aria-label={name} onclick={on(to, Action::Nudge(number, by))}>
                <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true"><path d={path} /></svg>
            </button>
        }
    };
    let told = format!("{id}-wrong");
    html! {
        <div class="number">
            <label for={id.clone()}>{ word }</label>
            { button(-STEP, strings::less(&label), "M2 6h8") }
            <input type="text" inputmode="decimal" autocomplete="off" {id} value={shown} {oninput} {onblur} {onkeydown}
                aria-label={strings::in_seconds(&label)} aria-invalid={wrong.then_some("true")}
                aria-describedby={wrong.then(|| told.clone())} />
            { button(STEP, strings::more(&label), "M2 6h8M6 2v8") }
            <span class="unit" aria-hidden="true">{ "s" }</span>
            <div role="alert" id={told}>
                if wrong { <p class="wrong">{ strings::bad_number(number.span) }</p> }
            </div>
        </div>
    }
}

/// How far an arrow key goes.
fn step(event: &KeyboardEvent) -> i64 {
    match (event.shift_key(), event.alt_key()) {
        (true, _) => LONG_STEP,
        (_, true) => SHORT_STEP,
        _ => STEP,
    }
}

/// What lies over the picture for hands: the edges of pauses, and the play head.
///
/// They are buttons of the page beside the picture, because a picture has no controls inside.
pub fn grips(
    state: &Same<State>,
    to: &To,
    player: &Same<Player>,
    open: &UseStateHandle<Option<Number>>,
) -> Html {
    let header = state.show.picture.header_height;
    let all = state.grips();
    let handles = all.iter().map(|grip| handle(state, to, player, grip, open));
    let field = all.iter().find(|g| Some(g.number) == **open).map(|grip| {
        let style = format!("left:{}px;top:{}px", grip.point.x + 18, grip.point.y - header + 8);
        let (shut, own) = (open.setter(), grip_id(grip.number));
        // What cannot be read stays, with what is wrong with it.
        let typed = state.typed.as_ref().filter(|t| t.0 == grip.number);
        let good = typed.is_none_or(|t| read(t.0, &t.1).is_some());
        let onkeydown = Callback::from(move |event: KeyboardEvent| {
            let key = event.key();
            if key == "Escape" || key == "Enter" && good {
                shut.set(None);
                focus_later(own.clone());
            }
        });
        let (shut, own) = (open.setter(), grip_id(grip.number));
        let onclick = Callback::from(move |_: MouseEvent| {
            shut.set(None);
            focus_later(own.clone());
        });
        html! {
            <div key="field" class="grip-field" role="group" aria-label={state.label(grip.number)} {style} {onkeydown}>
                { field_here(state, to, grip.number) }
                <button type="button" class="link" {onclick}>{ strings::CLOSE }</button>
            </div>
        }
    });
    let now = {
        let (down, over, up) = (player.clone(), player.clone(), player.clone());
        let onpointerdown = Callback::from(move |event: PointerEvent| {
            if capture(&event) {
                down.take_hold(Held::Now, 0, event.client_y());
            }
        });
        let onpointermove = Callback::from(move |event: PointerEvent| {
            over.pull(event.client_y(), false);
        });
        let onlostpointercapture = Callback::from(move |_: PointerEvent| {
            up.release();
        });
        // For keys and for those who listen, the scrubber is the same.
        html! {
            <div key="now" class="now-grip" aria-hidden="true" ref={player.plate()}
                {onpointerdown} {onpointermove} {onlostpointercapture} />
        }
    };
    html! {
        <div class="grips" style={format!("width:{}px", state.show.picture.width)}>
            { now }
            { for handles }
            { for field }
        </div>
    }
}

/// Puts the focus on an element once what was just changed is drawn.
fn focus_later(id: String) {
    gloo_timers::callback::Timeout::new(0, move || {
        platform::focus(&id);
    })
    .forget();
}

fn grip_id(number: Number) -> String {
    format!("grip-{}", number_id(number))
}

fn field_here(state: &State, to: &To, number: Number) -> Html {
    field(state, to, number, strings::number_word(number.span), GRIP_FIELD.into())
}

/// A press that did not move the edge opens its field.
fn opens_field(
    number: Number,
    player: &Same<Player>,
    open: &UseStateHandle<Option<Number>>,
) -> Callback<MouseEvent> {
    let (pressed, setter) = (player.clone(), open.setter());
    Callback::from(move |_: MouseEvent| {
        // A press that moved the edge is over with that.
        if !pressed.has_moved() {
            setter.set(Some(number));
            platform::select_soon(GRIP_FIELD.into());
        }
    })
}

/// The button on one edge.
fn handle(
    state: &Same<State>,
    to: &To,
    player: &Same<Player>,
    grip: &Grip,
    open: &UseStateHandle<Option<Number>>,
) -> Html {
    let Grip { number, point, length, .. } = *grip;
    let header = state.show.picture.header_height;
    let held = state.hold.as_ref().is_some_and(|h| h.number == number);
    let ends = number.span == Span::Length;
    let (down, over, up) = (player.clone(), player.clone(), player.clone());
    let onpointerdown = Callback::from(move |event: PointerEvent| {
        if capture(&event) {
            down.take_hold(Held::Edge(number), point.y, event.client_y());
        }
    });
    let onpointermove = Callback::from(move |event: PointerEvent| {
        over.pull(event.client_y(), event.shift_key());
    });
    let onlostpointercapture = Callback::from(move |_: PointerEvent| {
        up.release();
    });
    let onpointercancel = {
        // What the system takes away has not been let go.
        let (to, player) = (to.clone(), player.clone());
        Callback::from(move |_: PointerEvent| {
            player.forget();
            to.dispatch(Action::Cancel);
        })
    };
    let onclick = opens_field(number, player, open);
    let onkeydown = {
        let (to, player) = (to.clone(), player.clone());
        Callback::from(move |event: KeyboardEvent| {
            let action = match (event.key().as_str(), step(&event)) {
                ("ArrowDown" | "ArrowRight", step) => Action::Nudge(number, step),
                ("ArrowUp" | "ArrowLeft", step) => Action::Nudge(number, -step),
                ("Escape", _) => {
                    player.forget();
                    Action::Cancel
                }
                _ => return,
            };
            event.prevent_default();
            to.dispatch(action);
        })
    };
    let value = state.show.number(number).unwrap_or_default();
    let class = match (ends, held) {
        (true, true) => "grip grip-end held",
        (true, false) => "grip grip-end",
        (false, true) => "grip held",
        (false, false) => "grip",
    };
    let style = format!("left:{}px;top:{}px", point.x, point.y - header);
    let says = if ends { strings::paused_for(length) } else { strings::starts_at(value) };
    html! {
        <>
            <button type="button" key={number_id(number)} id={grip_id(number)} {class} {style}
                aria-label={strings::grip(&state.label(number), value)}
                {onpointerdown} {onpointermove} {onpointercancel} {onlostpointercapture} {onclick} {onkeydown} />
            if held {
                <span key="says" class="grip-says" style={format!("left:{}px;top:{}px", point.x + 18, point.y - header - 12)}>{ says }</span>
            } else if ends {
                { hint(state, grip) }
            }
        </>
    }
}

/// That an edge can be dragged, in the first place near it where nothing else stands.
fn hint(state: &State, grip: &Grip) -> Html {
    let picture = &state.show.picture;
    let places = [-24, -32, -42, 8, 20, 32].map(|off| {
        let (left, top) = (grip.point.x + 14, grip.point.y + off);
        Area { left, top, right: left + HINT.0, bottom: top + HINT.1 }
    });
    let past = || picture.marks.iter().filter(|m| m.from <= state.head.at);
    let meets = |mark: &Mark, area: &Area| match &mark.shape {
        Shape::Message { .. } => (area.top..area.bottom).any(|y| {
            let at = mark.shape.on_track(y);
            at.is_some_and(|p| area.left < p.x && p.x < area.right)
        }),
        Shape::Band { .. } | Shape::Tick { .. } => false,
        _ => mark.bounds.meets(area),
    };
    let free = places.iter().find(|a| a.right < picture.width && !past().any(|m| meets(m, a)));
    free.map_or_else(Html::default, |area| {
        let style = format!("left:{}px;top:{}px", area.left, area.top - picture.header_height);
        html! { <span key={strings::DRAG} class="grip-hint" aria-hidden="true" {style}>{ strings::DRAG }</span> }
    })
}

/// Takes the pointer for the element that it pressed, which holds nothing else; only a finger or the
/// first button does.
fn capture(event: &PointerEvent) -> bool {
    if event.button() != 0 {
        return false;
    }
    let target = event.target().and_then(|t| t.dyn_into::<HtmlElement>().ok());
    let Some(element) = target else { return false };
    let _ = element.focus();
    element.set_pointer_capture(event.pointer_id()).is_ok()
}

/// The lesson's own runs, to start from.
pub fn runs(props: &Props) -> Html {
    let state = &props.state;
    // In a task the run is the learner's to make.
    if state.lesson.variants.len() < 2 || state.level.is_some() {
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
