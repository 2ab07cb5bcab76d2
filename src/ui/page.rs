//! The page of a lesson: holds the state, lays the parts out, listens to the keys.

use std::rc::Rc;

use wasm_bindgen::JsCast;
use web_sys::{KeyboardEvent, MouseEvent};
use yew::{
    Callback, Html, Properties, Reducible, UseReducerDispatcher, UseStateHandle, component, hook,
    html, use_effect, use_effect_with, use_memo, use_reducer, use_state, use_state_eq,
};

use super::dialogs::{Break, BreakProps, Take, TakeProps, help};
use super::draw::Same;
use super::home::{Header, HeaderProps};
use super::panels::{self, Log};
use super::part::part;
use super::platform::{self, Listener, use_media};
use super::player::{Nodes, Player};
use super::route::Route;
use super::show::Size;
use super::stage::{Stage, caption};
use super::state::{Action, State};
use super::strings;
use super::transport;
use super::words::{self, words};
use crate::sim::ProcId;

/// The state as the reducer keeps it.
#[derive(Clone)]
pub struct Model(pub Rc<State>);

impl Reducible for Model {
    type Action = Action;

    fn reduce(self: Rc<Self>, action: Action) -> Rc<Self> {
        Rc::new(Model(Rc::new(self.0.after(action))))
    }
}

#[derive(Properties, PartialEq)]
pub struct Props {
    pub state: Same<State>,
}

#[derive(Clone, Copy, PartialEq)]
enum Open {
    Break(ProcId),
    Take,
    Help,
}

#[component]
pub fn LessonPage(props: &Props) -> Html {
    let first = props.state.clone();
    let model = use_reducer(move || Model(first.0));
    let to = model.dispatcher();
    let state = Same(model.0.clone());
    let nodes = use_memo((), |()| Nodes::default());
    let nodes = (*nodes).clone();
    let open = use_state_eq(|| None::<Open>);
    let narrow = use_media("(max-width: 71.24rem)");
    let low = use_media("(max-height: 30rem)");

    let player = {
        let (nodes, to) = (nodes.clone(), to.clone());
        use_state(move || Player::new(nodes, to))
    };
    {
        let (player, state) = ((*player).clone(), state.clone());
        use_effect(move || player.sync(&state));
    }
    use_surroundings(&state, &to);
    use_keys(&state, &to, &open);
    let close = {
        let setter = open.setter();
        Callback::from(move |()| setter.set(None))
    };
    let opening = |what: Open| {
        let setter = open.setter();
        Callback::from(move |_: MouseEvent| setter.set(Some(what)))
    };
    let break_node = {
        let (setter, to) = (open.setter(), to.clone());
        Callback::from(move |node: ProcId| {
            to.dispatch(Action::Program(node));
            setter.set(Some(Open::Break(node)));
        })
    };
    let dialog = dialog(*open, &state, &to, close);
    let controls = transport::Props {
        state: state.clone(),
        to: to.clone(),
        nodes: nodes.clone(),
        narrow,
        low,
        on_break: opening(Open::Break(state.program)),
    };
    let (on_help, on_take) = (opening(Open::Help), Some(opening(Open::Take)));
    let header = part::<Header>("header", HeaderProps { on_help, on_take });
    html! {
        <div class="page lesson">
            { header }
            { body(&controls, &break_node) }
            { transport::transport(&controls) }
            <p role="status" aria-live="polite" aria-atomic="true" class="aloud" id="said">
                <span key={state.spoken.0}>{ &state.spoken.1 }</span>
            </p>
            { dialog }
        </div>
    }
}

/// Address, title, focus, and what must be seen.
#[hook]
fn use_surroundings(state: &Same<State>, to: &UseReducerDispatcher<Model>) {
    {
        // The address follows what is on screen, so that a reload or a copied link brings it back.
        let at_rest = (!state.playing).then(|| Route::of(state));
        use_effect_with(at_rest, |hash| {
            if let Some(hash) = hash.as_ref().filter(|h| **h != platform::hash()) {
                platform::replace_hash(hash);
            }
        });
    }
    let title = format!("{} · {}", state.lesson.title, strings::NAME);
    use_effect_with(title, |title| platform::set_title(title));

    {
        // The keys work at once, because a lesson that opens has the focus.
        let to = to.clone();
        use_effect_with((), move |()| {
            platform::focus("lesson");
            to.dispatch(Action::StopAtBeats(transport::stored_stops()));
        });
    }
    // A question that playing stopped for must be seen.
    let asked = state.stopped == Some(strings::STOPPED_TO_ASK);
    use_effect_with((asked, state.jumps), |(asked, _)| {
        if *asked {
            platform::reveal("predict");
        }
    });
}

/// Listens at the window, because undo must work wherever the focus is, or nowhere.
#[hook]
fn use_keys(
    state: &Same<State>,
    to: &UseReducerDispatcher<Model>,
    open: &UseStateHandle<Option<Open>>,
) {
    let (to, setter) = (to.clone(), open.setter());
    use_effect_with(state.clone(), move |state| {
        let state = state.clone();
        let listener = platform::window().map(|window| {
            Listener::new(&window, "keydown", move |event| {
                if let Some(event) = event.dyn_ref::<KeyboardEvent>() {
                    on_key(event, &to, &state, &setter);
                }
            })
        });
        move || drop(listener)
    });
}

fn dialog(
    open: Option<Open>,
    state: &Same<State>,
    to: &UseReducerDispatcher<Model>,
    on_close: Callback<()>,
) -> Html {
    let (state, to) = (state.clone(), to.clone());
    match open {
        None => html! {},
        Some(Open::Break(node)) => part::<Break>("break", BreakProps { state, to, node, on_close }),
        Some(Open::Take) => part::<Take>("take", TakeProps { state, on_close }),
        Some(Open::Help) => help(on_close),
    }
}

fn body(controls: &transport::Props, on_break: &Callback<ProcId>) -> Html {
    let (state, to, nodes) = (&controls.state, &controls.to, &controls.nodes);
    let stage = part::<Stage>(
        "stage",
        super::stage::Props {
            state: state.clone(),
            to: to.clone(),
            nodes: nodes.clone(),
            on_break: on_break.clone(),
        },
    );
    if controls.narrow {
        return html! {
            <main class="work narrow" id="lesson" tabindex="-1">
                { caption(state) }
                <div class="tools">{ transport::tools(controls) }</div>
                { stage }
                if controls.low { { transport::verdict(state) } }
                { part::<Tabs>("tabs", TabsProps { state: state.clone(), to: to.clone() }) }
            </main>
        };
    }
    let beside = panels::Props { state: state.clone(), to: to.clone() };
    html! {
        <main class="work" id="lesson" tabindex="-1">
            <div class="words" id="words" tabindex="-1">
                { words(&words::Props { state: state.clone(), to: to.clone() }) }
            </div>
            { stage }
            <div class="side">
                { panels::knowledge(&beside) }
                { panels::program(&beside) }
                { part::<Log>("log", beside) }
            </div>
        </main>
    }
}

#[derive(Properties, PartialEq)]
struct TabsProps {
    state: Same<State>,
    to: UseReducerDispatcher<Model>,
}

const TABS: [&str; 4] = [strings::STORY, "Knows", strings::PROGRAM, strings::HAPPENED];

/// Where there is little room, what stands beside the stage on a wide page is one tab each.
#[component]
fn Tabs(props: &TabsProps) -> Html {
    let chosen = use_state_eq(|| 0_usize);
    let onkeydown = {
        let chosen = chosen.clone();
        Callback::from(move |event: KeyboardEvent| {
            let next = match event.key().as_str() {
                "ArrowRight" => (*chosen + 1) % TABS.len(),
                "ArrowLeft" => (*chosen + TABS.len() - 1) % TABS.len(),
                _ => return,
            };
            event.prevent_default();
            chosen.set(next);
            platform::focus(&format!("tab-{next}"));
        })
    };
    let tabs = TABS.iter().enumerate().map(|(i, word)| {
        let setter = chosen.setter();
        let onclick = Callback::from(move |_: MouseEvent| setter.set(i));
        let now = *chosen == i;
        html! {
            <button type="button" key={i} role="tab" id={format!("tab-{i}")} aria-selected={now.to_string()}
                aria-controls="tab-panel" tabindex={if now { "0" } else { "-1" }} {onclick}>{ *word }</button>
        }
    });
    let (state, to) = (props.state.clone(), props.to.clone());
    let panel = match *chosen {
        0 => words(&words::Props { state, to }),
        1 => panels::knowledge(&panels::Props { state, to }),
        2 => panels::program(&panels::Props { state, to }),
        _ => part::<Log>("log", panels::Props { state, to }),
    };
    html! {
        <div class="tabs">
            <div role="tablist" class="tablist" {onkeydown}>{ for tabs }</div>
            <div role="tabpanel" id="tab-panel" tabindex="0" aria-labelledby={format!("tab-{}", *chosen)} class="tabpanel">
                { panel }
            </div>
        </div>
    }
}

fn on_key(
    event: &KeyboardEvent,
    to: &UseReducerDispatcher<Model>,
    state: &State,
    open: &yew::UseStateSetter<Option<Open>>,
) {
    let key = event.key();
    let control = event.ctrl_key() || event.meta_key();
    if platform::in_dialog(event.target()) {
        return;
    }
    if control && key.eq_ignore_ascii_case("z") && !platform::is_text_field(event.target()) {
        event.prevent_default();
        to.dispatch(if event.shift_key() { Action::Redo } else { Action::Undo });
        return;
    }
    // Single keys belong to the lesson only while it has the focus, and never to a control in it.
    if !platform::in_lesson(event.target()) || platform::takes_keys(event.target()) {
        return;
    }
    let size = if event.shift_key() {
        Size::Decision
    } else if event.ctrl_key() || event.alt_key() {
        Size::Beat
    } else {
        Size::Event
    };
    let plain = !control && !event.alt_key();
    let action = match key.as_str() {
        "ArrowRight" if !event.meta_key() => Action::Step(size, true),
        "ArrowLeft" if !event.meta_key() => Action::Step(size, false),
        "Home" if plain => Action::Start,
        "End" if plain => Action::End,
        " " | "k" | "K" if plain => {
            if state.playing {
                Action::Pause
            } else {
                Action::Play
            }
        }
        "f" | "F" if plain => Action::Defend(0),
        "i" | "I" if plain => {
            event.prevent_default();
            open.set(Some(Open::Break(state.program)));
            return;
        }
        "?" if plain => {
            event.prevent_default();
            open.set(Some(Open::Help));
            return;
        }
        _ => return,
    };
    event.prevent_default();
    to.dispatch(action);
}
