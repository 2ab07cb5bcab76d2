//! The bottom of the page: the verdict, the buttons that let time pass, the scrubber.

use wasm_bindgen::JsCast;
use web_sys::{HtmlInputElement, InputEvent, KeyboardEvent, MouseEvent};
use yew::{
    Callback, Html, Properties, UseReducerDispatcher, component, props, use_memo, use_node_ref,
};

use super::draw::{Choice, ChoiceProps, Same, icon, nodes, tone};
use super::keys::step;
use super::page::Model;
use super::part::part;
use super::platform::use_width;
use super::player::Nodes;
use super::show::Size;
use super::sight::eyes_stand;
use super::state::{Action, SPEEDS, State};
use super::strings;
use super::tag::html;
use crate::diagram::{miniature, miniature_x};
use crate::narrate;
use crate::run::Run;
use crate::sim::Micros;

const TO_START: &str = "M5 4v12M16 4l-8 6 8 6z";
const BACK: &str = "M14 4 6 10l8 6z";
pub const PLAY: &str = "M6 3.5v13l10-6.5z";
const PAUSE: &str = "M6 4h3v12H6zM11.5 4h3v12h-3z";
const DOTS: &str = "M4 9.5h.5v.5H4zM9.5 9.5h.5v.5h-.5zM15 9.5h.5v.5H15z";
const FORWARD: &str = "M6 4l8 6-8 6z";
/// The height of the miniature.
const STRIP: i32 = 32;

const SIZES: [(Size, &str); 3] =
    [(Size::Beat, "Beat"), (Size::Event, "Event"), (Size::Decision, "Decision")];

/// What the transport needs.
pub struct Props {
    pub state: Same<State>,
    pub to: UseReducerDispatcher<Model>,
    pub nodes: Nodes,
    pub narrow: bool,
    pub on_break: Callback<MouseEvent>,
}

fn on(to: &UseReducerDispatcher<Model>, action: Action) -> Callback<MouseEvent> {
    let to = to.clone();
    Callback::from(move |_| to.dispatch(action.clone()))
}

pub fn transport(props: &Props) -> Html {
    let (state, to) = (&props.state, &props.to);
    let size = state.size;
    let play = if state.playing { (strings::PAUSE, PAUSE) } else { (strings::PLAY, PLAY) };
    let toggle = if state.playing { Action::Pause } else { Action::Play };
    let button = |name: &'static str, path: &'static str, class: &'static str, action: Action| {
        html! {
            <button type="button" {class} aria-label={name} title={name} onclick={on(to, action)}>{ icon(path) }</button>
        }
    };
    let scrubber =
        ScrubberProps { state: state.clone(), to: to.clone(), nodes: props.nodes.clone() };
    let scrubber = part::<Scrubber>("scrubber", scrubber);
    html! {
        <section class="transport" aria-label="Transport" id="transport">
            if !props.narrow { { verdict(state) } }
            <div class="controls">
                <div class="buttons">
                    { button(strings::TO_START, TO_START, "square", Action::Start) }
                    { button(strings::BACK, BACK, "square", Action::Step(size, false)) }
                    { button(play.0, play.1, "square strong", toggle) }
                    { button(strings::FORWARD, FORWARD, "square", Action::Step(size, true)) }
                </div>
                if !props.narrow { { sizes(state, to) }{ speeds(state, to, true) } }
                <button type="button" class="plain break" aria-haspopup="dialog" onclick={props.on_break.clone()}>
                    { strings::BREAK }
                </button>
                if props.narrow { { more(state, to) } }
                { scrubber }
                <p class="readout" style={longest_reading(state)}>
                    { reading(props) }
                </p>
            </div>
        </section>
    }
}

/// The room that the longest reading of this run takes: with it the strip beside it keeps its width,
/// and need not be drawn anew at each step.
fn longest_reading(state: &State) -> String {
    let all = state.show.stops.len();
    let (steps, end) = (strings::step_of(all, all), narrate::moment(state.show.run.end));
    format!("--longest: {}", steps.chars().count() + end.chars().count() + 3)
}

/// Where in the run the page is: its step and moment, or what one node has seen and its own clock.
fn reading(props: &Props) -> Html {
    let state = &props.state;
    if let Some(seen) = state.seen_so_far() {
        return html! {
            <span key="own">{ strings::seen_count(seen.len()) }{ " · " }{ state.shown_moment(state.head.at) }</span>
        };
    }
    html! {
        <span key="all">
            <span>{ strings::step_of(state.show.step(state.head), state.show.stops.len()) }</span>
            { " " }<span class="clock" ref={props.nodes.clock.clone()}></span>
        </span>
    }
}

/// On a narrow page, what is seldom chosen waits behind one button.
fn more(state: &State, to: &UseReducerDispatcher<Model>) -> Html {
    html! {
        <>
            <button type="button" class="square" popovertarget="tools" aria-label={strings::MORE_TOOLS} title={strings::MORE_TOOLS}>
                { icon(DOTS) }
            </button>
            <div popover="auto" class="tools" id="tools" role="group" aria-label={strings::MORE_TOOLS}>
                { sizes(state, to) }
                { speeds(state, to, false) }
            </div>
        </>
    }
}

fn sizes(state: &State, to: &UseReducerDispatcher<Model>) -> Html {
    let buttons = SIZES.iter().map(|(size, word)| {
        let pressed = (*size == state.size).to_string();
        html! {
            <button type="button" key={*word} aria-pressed={pressed} onclick={on(to, Action::Size(*size))}>{ *word }</button>
        }
    });
    html! { <div class="segments" role="group" aria-label={strings::STEP_SIZE}>{ for buttons }</div> }
}

fn speeds(state: &State, to: &UseReducerDispatcher<Model>, unseen: bool) -> Html {
    let to = to.clone();
    let on_choice = Callback::from(move |value: String| {
        if let Ok(speed) = value.parse() {
            to.dispatch(Action::Speed(speed));
        }
    });
    let options: Vec<_> = SPEEDS.iter().map(|s| (s.to_string(), strings::speed(*s))).collect();
    let value = state.speed.to_string();
    part::<Choice>(
        "speed",
        props!(ChoiceProps {
            class: "speed",
            label: strings::SPEED,
            unseen,
            options,
            value,
            on_choice
        }),
    )
}

/// The verdict, once it gives nothing away; before that, where things stand. On a phone it is as
/// many lines as fit, and whole for whoever touches it.
pub fn verdict(state: &State) -> Html {
    if state.look.eyes.is_some() {
        return html! { <p class="verdict" id="verdict">{ tone(None) }<span>{ eyes_stand(state) }</span></p> };
    }
    let why = state.stopped.map(|why| html! { <span class="quiet">{ why }{ " " }</span> });
    if state.decided() {
        let headline = &state.show.headline;
        return html! {
            <p class="verdict" id="verdict">
                { tone(Some(headline.tone)) }
                <span>{ why }<strong class={tone_class(headline.tone)}>{ &headline.word }</strong>{ " " }{ &headline.rest }</span>
            </p>
        };
    }
    let words = match state.head.event {
        Some(_) => state.show.summary(state.head),
        None => strings::WATCH.into(),
    };
    html! { <p class="verdict" id="verdict">{ tone(None) }<span>{ why }{ &*words }</span></p> }
}

fn tone_class(tone: narrate::Tone) -> &'static str {
    match tone {
        narrate::Tone::Calm => "word-calm",
        narrate::Tone::Near => "word-near",
        narrate::Tone::Harm => "word-harm",
        narrate::Tone::Fenced => "word-fenced",
    }
}

#[derive(Properties, PartialEq)]
struct ScrubberProps {
    state: Same<State>,
    to: UseReducerDispatcher<Model>,
    nodes: Nodes,
}

#[component]
fn Scrubber(props: &ScrubberProps) -> Html {
    let (state, to) = (&props.state, &props.to);
    let strip = use_node_ref();
    let width = use_width(&strip);
    let oninput = {
        let to = to.clone();
        Callback::from(move |event: InputEvent| {
            let input = event.target().and_then(|t| t.dyn_into::<HtmlInputElement>().ok());
            let Some(value) = input.map(|i| i.value_as_number()).filter(|v| v.is_finite()) else {
                return;
            };
            to.dispatch(Action::Seek(Micros(value.max(0.0) as u64)));
        })
    };
    let onkeydown = {
        let (to, state) = (to.clone(), state.clone());
        Callback::from(move |event: KeyboardEvent| {
            let size = if event.shift_key() {
                Size::Decision
            } else if event.ctrl_key() || event.alt_key() {
                Size::Beat
            } else {
                Size::Event
            };
            let action = match event.key().as_str() {
                "ArrowRight" | "ArrowUp" => step(&state, size, true),
                "ArrowLeft" | "ArrowDown" => step(&state, size, false),
                "Home" => Action::Start,
                "End" => Action::End,
                _ => return,
            };
            event.prevent_default();
            event.stop_propagation();
            to.dispatch(action);
        })
    };
    let (step, all) = (state.show.step(state.head), state.show.stops.len());
    let foggy = state.look.eyes.is_some();
    let words = strings::position(&state.shown_moment(state.head.at), step, all);
    html! {
        <div class="scrubber">
            <div class="strip" ref={strip}>
                if !foggy { { part::<Strip>("strip", StripProps { run: Same(state.show.run.clone()), width, seen: state.seen }) } }
            </div>
            <input type="range" min="0" max={state.show.run.end.0.to_string()} step="1" ref={props.nodes.range.clone()}
                aria-label={strings::POSITION} aria-valuetext={words} {oninput} {onkeydown} />
        </div>
    }
}

#[derive(Properties, PartialEq)]
struct StripProps {
    run: Same<Run>,
    width: i32,
    seen: Micros,
}

#[component]
fn Strip(props: &StripProps) -> Html {
    let drawn =
        use_memo((props.run.clone(), props.width), |(run, width)| miniature(run, *width, STRIP));
    let shown = drawn.iter().filter(|(from, _)| *from <= props.seen).count();
    let marks = use_memo((Same(drawn.clone()), shown), |_| {
        let shown = drawn.iter().filter(|(from, _)| *from <= props.seen);
        nodes(&shown.map(|(_, part)| part.clone()).collect::<Vec<_>>())
    });
    if props.width <= 0 {
        return html! {};
    }
    // What nobody has seen yet stays hidden, or it would answer the question before the run does.
    let hidden = props.width - miniature_x(&props.run, props.width, props.seen);
    let style =
        if hidden > 0 { format!("clip-path:inset(0 {hidden}px 0 0)") } else { String::new() };
    html! {
        <svg aria-hidden="true" width={props.width.to_string()} height={STRIP.to_string()}
            viewBox={format!("0 0 {} {STRIP}", props.width)} {style}>
            { (*marks).clone() }
        </svg>
    }
}
