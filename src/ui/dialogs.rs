//! Dialogs: breaking something, taking the run along, help. Each is the browser's own `dialog`, which
//! keeps the focus inside, closes on Escape, and gives the focus back.

use wasm_bindgen::JsCast;
use web_sys::{
    FocusEvent, HtmlDialogElement, HtmlInputElement, InputEvent, MouseEvent, SubmitEvent,
};
use yew::{
    Callback, Html, Properties, UseReducerDispatcher, component, html, props, use_effect_with,
    use_node_ref, use_state_eq,
};

use super::draw::{Choice, ChoiceProps, Same};
use super::fault::{Fault, OCCASIONS};
use super::keys::Act;
use super::page::Model;
use super::part::part;
use super::settings::{Settings, Words};
use super::state::{Action, State};
use super::{platform, strings};
use crate::diagram;
use crate::narrate;
use crate::run::NodeKind;
use crate::sim::{Micros, ProcId};

/// The longest fault that the field takes.
const LONGEST: Micros = Micros::from_secs(600);

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

#[derive(Properties, PartialEq)]
pub struct BreakProps {
    pub state: Same<State>,
    pub to: UseReducerDispatcher<Model>,
    pub node: ProcId,
    /// What Enter does.
    pub act: Option<Act>,
    pub on_close: Callback<()>,
}

/// What can be done to a process at the play head, as far as the lesson offers it.
#[component]
pub fn Break(props: &BreakProps) -> Html {
    let state = &props.state;
    let node = use_state_eq(|| props.node);
    let length = use_state_eq(|| "12".to_string());
    let word = use_state_eq(|| OCCASIONS[0].to_string());
    let wrong = use_state_eq(|| false);
    let peer = use_state_eq(|| ProcId(u16::MAX));
    let nodes = state.nodes();
    let me = *node;

    let act = |which: Option<Act>,
               word: &'static str,
               able: bool,
               fault: Box<dyn Fn(Micros) -> Fault>| {
        let ready = which.is_some() && which == props.act && able;
        act_button(props, &length, wrong.setter(), (word, able, ready), fault)
    };
    let oninput = typed(length.setter());
    let moment = state.moment();
    let later = moment != state.head.at;
    let at = narrate::moment(moment);
    let onsubmit = Callback::from(|event: SubmitEvent| event.prevent_default());
    let body = html! {
        <>
            <form novalidate=true {onsubmit}>
            <div class="row">
                { choose(strings::WHICH, props.act.is_none(), &nodes, me, node.setter()) }
                <label class="stack">
                    { strings::LENGTH }
                    <input type="number" autofocus={matches!(props.act, Some(Act::Pause | Act::Cut))} {oninput}
                        onfocus={whole()} value={(*length).clone()} min="0.001" max="600" step="any" inputmode="decimal" />
                </label>
            </div>
            <div role="alert">if *wrong { <p class="wrong">{ strings::BAD_LENGTH }</p> }</div>
            { break_process(state, me, &word, &act) }
            { break_ways(state, me, &nodes, &peer, &act) }
            </form>
            <p class="quiet">{ strings::past_stays(later.then(|| narrate::moment(state.head.at))) }</p>
        </>
    };
    dialog(strings::break_at(&at), "break-dialog", props.on_close.clone(), body)
}

/// A button that does something for the length that was typed. The one that is ready is what Enter
/// does.
fn act_button(
    props: &BreakProps,
    length: &str,
    wrong: yew::UseStateSetter<bool>,
    (word, able, ready): (&'static str, bool, bool),
    fault: Box<dyn Fn(Micros) -> Fault>,
) -> Html {
    let (to, length, on_close) = (props.to.clone(), length.to_string(), props.on_close.clone());
    let onclick = Callback::from(move |event: MouseEvent| {
        event.prevent_default();
        match span(&length) {
            Some(span) => {
                to.dispatch(Action::Break(fault(span)));
                on_close.emit(());
            }
            None => wrong.set(true),
        }
    });
    let kind = if ready { "submit" } else { "button" };
    let class = if ready { "plain ready" } else { "plain" };
    // A crash has no length to type first.
    let autofocus = ready && props.act == Some(Act::Crash);
    html! { <button type={kind} {class} disabled={!able} {autofocus} {onclick}>{ word }</button> }
}

/// A field that the focus comes to is selected, so that typing replaces what it holds.
fn whole() -> Callback<FocusEvent> {
    Callback::from(|event: FocusEvent| {
        if let Some(field) = event.target().and_then(|t| t.dyn_into::<HtmlInputElement>().ok()) {
            field.select();
        }
    })
}

/// A button that breaks something: the key that makes it ready, its words, whether it can, and what
/// it does with the length.
type Button<'a> =
    dyn Fn(Option<Act>, &'static str, bool, Box<dyn Fn(Micros) -> Fault>) -> Html + 'a;

/// Stopping and killing.
fn break_process(
    state: &State,
    me: ProcId,
    word: &yew::UseStateHandle<String>,
    act: &Button<'_>,
) -> Html {
    let down = state.show.world(state.head).is_down(me);
    let there = OCCASIONS.iter().copied().filter(|w| state.next_time(me, w).is_some());
    let there: Vec<&'static str> = there.collect();
    let chosen = there.iter().copied().find(|w| *w == **word).or(there.first().copied());
    let waits = chosen.filter(|_| state.offers("pause") && !down).map(|chosen| {
        let setter = word.setter();
        let on_choice = Callback::from(move |value: String| setter.set(value));
        let options: Vec<_> = there.iter().map(|w| (w.to_string(), w.to_string())).collect();
        let (label, value) = (strings::ITS_NEXT, chosen.to_string());
        let choice =
            part::<Choice>(label, props!(ChoiceProps { class: "stack", label, options, value, on_choice }));
        html! {
            <div class="row">
                { choice }
                { act(None, strings::PAUSE_BEFORE, true, Box::new(move |d| Fault::PauseBefore(me, chosen, d))) }
            </div>
        }
    });
    html! {
        <>
            <div class="acts">
                if state.offers("pause") {
                    { act(Some(Act::Pause), strings::PAUSE_NOW, !down, Box::new(move |d| Fault::Pause(me, d))) }
                }
                if state.offers("crash") && !down {
                    { act(Some(Act::Crash), strings::CRASH, true, Box::new(move |_| Fault::Crash(me))) }
                }
                if state.offers("crash") && down {
                    { act(Some(Act::Crash), strings::RESTART, true, Box::new(move |_| Fault::Restart(me))) }
                }
            </div>
            { for waits }
        </>
    }
}

/// Cutting ways, and losing or holding what goes along them.
fn break_ways(
    state: &State,
    me: ProcId,
    nodes: &[(ProcId, String, NodeKind)],
    peer: &yew::UseStateHandle<ProcId>,
    act: &Button<'_>,
) -> Html {
    let (cut, lose, hold) = (state.offers("cut"), state.offers("drop"), state.offers("delay"));
    let mut peers: Vec<_> = nodes.iter().filter(|n| n.0 != me).cloned().collect();
    let Some(other) = other(&peers, **peer).filter(|_| cut || lose || hold) else {
        return html! {};
    };
    let world = state.show.world(state.head);
    let everybody = cut && **peer == EVERYBODY;
    let severed = if everybody {
        peers.iter().all(|p| world.is_cut(me, p.0))
    } else {
        world.is_cut(me, other)
    };
    if cut && peers.len() > 1 {
        peers.push((EVERYBODY, strings::EVERYBODY.into(), NodeKind::Client));
    }
    let (shown, to) = if everybody { (EVERYBODY, None) } else { (other, Some(other)) };
    let one = !everybody;
    let next = one && state.next_message(me, other).is_some();
    html! {
        <>
            { choose(strings::WAY_TO, false, &peers, shown, peer.setter()) }
            <div class="acts">
                if cut && severed {
                    { act(Some(Act::Cut), strings::HEAL, true, Box::new(move |_| Fault::Heal(me, to))) }
                }
                if cut && !severed {
                    { act(Some(Act::Cut), strings::CUT, true, Box::new(move |d| Fault::Cut(me, to, d))) }
                }
                if cut && one && !severed {
                    { act(None, strings::CUT_ONE_WAY, true, Box::new(move |d| Fault::CutOneWay(me, other, d))) }
                }
                if hold && one {
                    { act(None, strings::DELAY, next, Box::new(move |d| Fault::Delay(me, other, d))) }
                }
                if lose && one {
                    { act(None, strings::LOSE, next, Box::new(move |_| Fault::Lose(me, other))) }
                }
            </div>
        </>
    }
}

/// Stands for all the others in the list of those that a way leads to.
const EVERYBODY: ProcId = ProcId(u16::MAX - 1);

/// What is typed is kept, because a field is drawn anew when another one changes.
fn typed(setter: yew::UseStateSetter<String>) -> Callback<InputEvent> {
    Callback::from(move |event: InputEvent| {
        let field = event.target().and_then(|t| t.dyn_into::<HtmlInputElement>().ok());
        if let Some(field) = field {
            setter.set(field.value());
        }
    })
}

/// The other end of a way: the one that was chosen, otherwise a lock service.
fn other(peers: &[(ProcId, String, NodeKind)], chosen: ProcId) -> Option<ProcId> {
    let service = || peers.iter().find(|p| p.2 == NodeKind::Service);
    let found = peers.iter().find(|p| p.0 == chosen).or_else(service).or_else(|| peers.first());
    found.map(|p| p.0)
}

fn choose(
    label: &'static str,
    autofocus: bool,
    nodes: &[(ProcId, String, NodeKind)],
    chosen: ProcId,
    setter: yew::UseStateSetter<ProcId>,
) -> Html {
    let on_choice = Callback::from(move |value: String| {
        if let Ok(number) = value.parse() {
            setter.set(ProcId(number));
        }
    });
    let options: Vec<_> = nodes.iter().map(|n| (n.0.0.to_string(), n.1.clone())).collect();
    let value = chosen.0.to_string();
    part::<Choice>(
        label,
        props!(ChoiceProps { class: "stack", autofocus, label, options, value, on_choice }),
    )
}

/// Reads seconds as people type them.
fn span(text: &str) -> Option<Micros> {
    let span = Micros::parse(&format!("{}s", text.trim()))?;
    (Micros::ZERO < span && span <= LONGEST).then_some(span)
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
