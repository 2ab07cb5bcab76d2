//! The page of a lesson: holds the state, lays the parts out, listens to the keys.

use std::rc::Rc;

use wasm_bindgen::JsCast;
use web_sys::{KeyboardEvent, MouseEvent};
use yew::{
    Callback, Html, Properties, Reducible, UseReducerDispatcher, UseStateHandle, UseStateSetter,
    component, hook, use_callback, use_effect, use_effect_with, use_memo, use_mut_ref,
    use_node_ref, use_reducer, use_state, use_state_eq,
};

use super::aloud::Speaker;
use super::beside::beside;
use super::breaks::{Break, BreakProps};
use super::dialogs::{Take, TakeProps, go};
use super::draw::Same;
use super::edge;
use super::home::{Header, HeaderProps};
use super::keys::{Deed, Part, Press, Sheet, deed};
use super::label::use_trial;
use super::look::View;
use super::panels::{self, Log, Program};
use super::paper::use_paper;
use super::part::part;
use super::platform::{self, Listener, use_media};
use super::player::{Nodes, Player};
use super::points::side_by_side;
use super::present;
use super::proof::{Prover, use_prover};
use super::route::Route;
use super::side::{self, Side};
use super::sight;
use super::stage::{Stage, lead};
use super::state::{Action, State};
use super::store::use_store;
use super::strings;
use super::tag::html;
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
    Sheet(Sheet),
    Take,
}

#[component]
pub fn LessonPage(props: &Props) -> Html {
    let first = props.state.clone();
    let model = use_reducer(move || Model(first.0));
    let to = model.dispatcher();
    let state = Same(model.0.clone());
    let nodes = (*use_memo((), |()| Nodes::default())).clone();
    let open = use_state_eq(|| None::<Open>);
    let narrow = use_media("(max-width: 71.24rem)");

    let player = {
        let (nodes, to, state) = (nodes.clone(), to.clone(), state.clone());
        use_state(move || Player::new(nodes, to, state))
    };
    {
        let (player, state) = ((*player).clone(), state.clone());
        use_effect(move || player.sync(&state));
    }
    let said = use_speaker(&state, &to);
    let tab = use_state_eq(|| 0_usize);
    use_surroundings(&state, &to);
    use_trial(&state, &to);
    use_sight_of_story(&state, *tab == 0);
    use_sight_of_picture(state.playing && narrow);
    use_answer(state.look.asked.is_some() && narrow, &tab);
    use_keys(&state, &to, &open, &tab);
    let close = {
        let setter = open.setter();
        Callback::from(move |()| setter.set(None))
    };
    let opening = |what: Open| {
        let setter = open.setter();
        Callback::from(move |_: MouseEvent| setter.set(Some(what)))
    };
    // The same one from step to step, so that what hangs on it may rest.
    let break_node = use_callback((open.setter(), to.clone()), |node: ProcId, (setter, to)| {
        to.dispatch(Action::Program(node));
        setter.set(Some(Open::Sheet(Sheet::Break(None))));
    });
    let dialog = dialog(*open, &state, &to, close);
    let controls = transport::Props {
        state: state.clone(),
        to: to.clone(),
        nodes: nodes.clone(),
        narrow,
        on_break: opening(Open::Sheet(Sheet::Break(None))),
    };
    let class = layout(&state);
    let (paper, prover) = (use_paper(&state), use_prover());
    html! {
        <div {class}>
            { paper }
            if state.present {
                { present::view(&controls) }
            } else {
                { part::<Head>("head", HeadProps { to: to.clone(), open: open.setter() }) }
                { notes(&state, &to) }
                { body(&controls, &break_node, &tab, Same((*player).clone()), &prover) }
            }
            <p role="status" aria-live="polite" aria-atomic="true" class="aloud" id="said" ref={said}></p>
            if let Some(words) = state.notice { <p class="notice" aria-hidden="true">{ words }</p> }
            { dialog }
        </div>
    }
}

/// The one live region, and what is written into it.
#[hook]
fn use_speaker(state: &Same<State>, to: &UseReducerDispatcher<Model>) -> yew::NodeRef {
    let said = use_node_ref();
    let speaker = {
        let said = said.clone();
        use_state(move || Speaker::new(said))
    };
    let (speaker, state, to) = ((*speaker).clone(), state.clone(), to.clone());
    use_effect(move || speaker.hear(&state, &to));
    said
}

/// Another part of the story, or another question, is read from its beginning.
#[hook]
fn use_sight_of_story(state: &State, in_front: bool) {
    let told = (state.beat(), state.question(), state.looking(), state.strayed(), state.toward);
    let first = use_mut_ref(|| true);
    use_effect_with(told, move |_| {
        if !first.replace(false) && in_front {
            platform::to_top_of_story();
        }
    });
}

/// What plays is seen: where the picture can be scrolled off the page, it comes back.
#[hook]
fn use_sight_of_picture(plays: bool) {
    use_effect_with(plays, move |plays| {
        if *plays {
            platform::picture_in_sight();
        }
    });
}

/// Where the log is a tab, an answer brings it into sight.
#[hook]
fn use_answer(asks: bool, tab: &UseStateHandle<usize>) {
    let tab = tab.setter();
    use_effect_with(asks, move |asks| {
        if *asks {
            tab.set(TABS.len() - 1);
            platform::reveal("why");
        }
    });
}

fn layout(state: &State) -> &'static str {
    match (state.present, state.notes.is_empty()) {
        (true, _) => "lesson present",
        (false, true) => "page lesson",
        (false, false) => "page lesson noted",
    }
}

#[derive(Properties, PartialEq)]
struct HeadProps {
    to: UseReducerDispatcher<Model>,
    open: UseStateSetter<Option<Open>>,
}

/// The head of the page with what only a lesson has. As a component it rests while the lesson goes on.
#[component]
fn Head(props: &HeadProps) -> Html {
    let (to, open) = (&props.to, props.open.clone());
    let on_take = Callback::from(move |_: MouseEvent| open.set(Some(Open::Take)));
    let sender = to.clone();
    let on_change =
        Callback::from(move |()| sender.dispatch(Action::StopAtBeats(platform::settings().stops)));
    let to = to.clone();
    let present = Callback::from(move |_: MouseEvent| to.dispatch(Action::Present));
    let more = html! {
        <>
            <button type="button" class="quietly" aria-haspopup="dialog" onclick={on_take}>{ strings::TAKE }</button>
            <button type="button" class="quietly to-wall" onclick={present}>{ strings::PRESENT }</button>
        </>
    };
    part::<Header>("header", HeaderProps { more, on_change })
}

/// What of the link that led here could not be followed, until it has been read.
fn notes(state: &State, to: &UseReducerDispatcher<Model>) -> Html {
    if state.notes.is_empty() {
        return html! {};
    }
    let to = to.clone();
    let onclick = Callback::from(move |_: MouseEvent| {
        to.dispatch(Action::Heard);
        platform::focus("lesson");
    });
    html! {
        <section class="note about-link" role="alert" aria-labelledby="about-link">
            <h2 id="about-link">{ strings::LINK_TITLE }</h2>
            <ul>{ for state.notes.iter().map(|words| html! { <li>{ words }</li> }) }</ul>
            <button type="button" class="plain" {onclick}>{ strings::CLOSE }</button>
        </section>
    }
}

/// Address, title, focus, and what must be seen.
#[hook]
fn use_surroundings(state: &Same<State>, to: &UseReducerDispatcher<Model>) {
    use_store(state, to);
    {
        // The address follows what is on screen, so that a reload or a copied link brings it back.
        let at_rest = (!state.playing && state.hold.is_none()).then(|| Route::of(state));
        use_effect_with(at_rest, |hash| {
            if let Some(hash) = hash {
                platform::replace_hash_soon(hash.clone());
            }
        });
        use_effect_with((), |()| platform::forget_address);
    }
    // So does the title: telling the browser takes as long as drawing a step.
    let step = (!state.playing).then(|| state.show.step(state.head));
    use_effect_with((Same(state.lesson.clone()), step), |(lesson, step)| {
        if let Some(step) = step {
            platform::set_title_soon(strings::page_title(&lesson.title, *step));
        }
    });

    {
        // The keys work at once, because a lesson that opens has the focus.
        let to = to.clone();
        use_effect_with((), move |()| {
            platform::focus("lesson");
            to.dispatch(Action::StopAtBeats(platform::settings().stops));
        });
    }
    // On a wall the focus is where the next key belongs.
    use_effect_with((state.present, state.vote), move |(_, vote)| {
        platform::focus_soon(if vote.is_some() { "vote-title" } else { "lesson" });
    });
    // Another run has other words at the same event.
    let words = (state.head.event, state.beat(), state.show.variant);
    let event = (state.present, state.vote, words, state.show.picture.width);
    use_effect_with(event, |event| {
        if event.0 {
            platform::fit("fits");
        }
    });
    // A question that playing stopped for must be seen.
    let asked = state.stopped.is_some_and(|why| why != strings::STOPPED_TO_TELL);
    // Where it stands alone, so must the ways on and back that stand above it.
    let place = if state.tells_story() { "predict" } else { "told" };
    use_effect_with((asked, state.jumps), move |(asked, _)| {
        if *asked {
            platform::reveal(place);
        }
    });
}

/// Listens at the window, because undo must work wherever the focus is, or nowhere.
#[hook]
fn use_keys(
    state: &Same<State>,
    to: &UseReducerDispatcher<Model>,
    open: &UseStateHandle<Option<Open>>,
    tab: &UseStateHandle<usize>,
) {
    let hands = Hands { to: to.clone(), open: open.setter(), tab: tab.setter() };
    use_effect_with(state.clone(), move |state| {
        let state = state.clone();
        let listener = platform::window().map(|window| {
            Listener::new(&window, "keydown", move |event| {
                if let Some(event) = event.dyn_ref::<KeyboardEvent>() {
                    hands.press(event, &state);
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
        None => beside(&state, &to)
            .or_else(|| side_by_side(&state, &to))
            .unwrap_or_else(|| edge::found(&state, &to)),
        Some(Open::Sheet(Sheet::Break(act))) => {
            let node = state.program;
            part::<Break>("break", BreakProps { state, to, node, act, on_close })
        }
        Some(Open::Sheet(Sheet::Go)) => go(&state, &to, on_close),
        Some(Open::Take) => part::<Take>("take", TakeProps { state, on_close }),
    }
}

fn body(
    controls: &transport::Props,
    on_break: &Callback<ProcId>,
    tab: &UseStateHandle<usize>,
    player: Same<Player>,
    prover: &Same<Prover>,
) -> Html {
    let (state, to, nodes) = (&controls.state, &controls.to, &controls.nodes);
    let (shown, sender, on_break) = (state.clone(), to.clone(), on_break.clone());
    let foggy = state.look.eyes.is_some();
    let at_rest = (!state.playing).then(|| state.clone());
    let side = side::Props { at_rest, player: player.clone(), to: to.clone() };
    let stage = if foggy || state.look.view != View::Diagram {
        sight::other(sight::Props { state: shown, to: sender, on_break })
    } else {
        let (nodes, player) = (nodes.clone(), Some(player));
        let props = super::stage::Props { state: shown, to: sender, nodes, on_break, player };
        part::<Stage>("stage", props)
    };
    if controls.narrow {
        let beside = panels::Props { state: state.clone(), to: to.clone() };
        return html! {
            <main class="work narrow" id="lesson" tabindex="-1">
                { lead(state) }
                { stage }
                { transport::transport(controls) }
                { transport::verdict(state) }
                { tabs(&beside, tab, prover) }
            </main>
        };
    }
    html! {
        <main class="work" id="lesson" tabindex="-1">
            <div class="words" id="words" tabindex="-1">
                if foggy {
                    { sight::eyes_card(state, to) }
                } else {
                    { words(&words::Props { state: state.clone(), to: to.clone() }, prover) }
                }
            </div>
            { stage }
            { transport::transport(controls) }
            { part::<Side>("side", side) }
        </main>
    }
}

const TABS: [&str; 4] = [strings::STORY, "Knows", strings::PROGRAM, strings::HAPPENED];

/// Where there is little room, what stands beside the stage on a wide page is one tab each.
fn tabs(props: &panels::Props, chosen: &UseStateHandle<usize>, prover: &Same<Prover>) -> Html {
    let now = **chosen;
    let setter = chosen.setter();
    let onkeydown = Callback::from(move |event: KeyboardEvent| {
        let next = match event.key().as_str() {
            "ArrowRight" => (now + 1) % TABS.len(),
            "ArrowLeft" => (now + TABS.len() - 1) % TABS.len(),
            _ => return,
        };
        event.prevent_default();
        setter.set(next);
        platform::focus(&format!("tab-{next}"));
    });
    let tabs = TABS.iter().enumerate().map(|(i, word)| {
        let setter = chosen.setter();
        let onclick = Callback::from(move |_: MouseEvent| setter.set(i));
        html! {
            <button type="button" key={i} role="tab" id={format!("tab-{i}")} aria-selected={(now == i).to_string()}
                aria-controls="tab-panel" tabindex={if now == i { "0" } else { "-1" }} {onclick}>{ *word }</button>
        }
    });
    let (state, to) = (props.state.clone(), props.to.clone());
    let panel = match now {
        0 if state.look.eyes.is_some() => sight::eyes_card(&state, &to),
        0 => words(&words::Props { state, to }, prover),
        1 => panels::knowledge(props),
        2 => part::<Program>("program", panels::Props { state, to }),
        _ => part::<Log>("log", panels::Props { state, to }),
    };
    let title = &props.state.lesson.title;
    html! {
        <div class="tabs">
            <div role="tablist" class="tablist" {onkeydown}>{ for tabs }</div>
            <div role="tabpanel" id="tab-panel" tabindex="0" aria-labelledby={format!("tab-{now}")} class="tabpanel">
                // The story has a heading of its own.
                <>if now > 0 { <h1 class="aloud">{ title }</h1> }</>
                { panel }
            </div>
        </div>
    }
}

/// Where a number leads: the element on a wide page, and the tab on a narrow one.
const fn place_of(part: Part) -> (&'static str, usize) {
    match part {
        Part::Log => ("log", 3),
        Part::Diagram => ("stage", usize::MAX),
        Part::Program => ("program", 2),
        Part::Knows => ("knows", 1),
    }
}

/// What keys can reach.
struct Hands {
    to: UseReducerDispatcher<Model>,
    open: UseStateSetter<Option<Open>>,
    tab: UseStateSetter<usize>,
}

impl Hands {
    fn press(&self, event: &KeyboardEvent, state: &Same<State>) {
        let (key, target) = (event.key(), platform::belongs_to(event));
        if state.blank {
            self.to.dispatch(Action::Blank(false));
            return;
        }
        let control = event.ctrl_key() || event.meta_key();
        if platform::in_dialog(target.clone()) {
            return;
        }
        if control && key.eq_ignore_ascii_case("z") && !platform::is_text_field(target.clone()) {
            event.prevent_default();
            self.to.dispatch(if event.shift_key() { Action::Redo } else { Action::Undo });
            return;
        }
        let press = Press {
            key: &key,
            shift: event.shift_key(),
            ctrl: event.ctrl_key(),
            alt: event.alt_key(),
            meta: event.meta_key(),
            apple: platform::apple(),
        };
        let Some(deed) = deed(press, state, platform::settings().letters) else { return };
        // Keys work wherever the focus is, and never take from a control what it does with them.
        let everywhere = match deed {
            Deed::Turn(_) | Deed::Leave => true,
            Deed::Blank => !platform::is_text_field(target.clone()),
            _ => false,
        };
        if !everywhere && platform::takes_key(target, &key) {
            return;
        }
        event.prevent_default();
        if deed == Deed::Do(Action::Next(true)) && state.neighbour(true).is_none() {
            platform::reveal("closing");
        }
        if deed == Deed::Length {
            self.tab.set(0);
            if let Some(id) = super::hands::first_length(state) {
                // Keys may come fast: a field that is there takes the next one.
                if !platform::select(&id) {
                    platform::select_soon(id);
                }
            }
            return;
        }
        self.act(deed);
    }

    fn act(&self, deed: Deed) {
        match deed {
            Deed::Do(action @ Action::See(_)) => {
                self.to.dispatch(action);
                // What had the focus may be gone with what was closed.
                platform::keep_focus("stage");
            }
            Deed::Do(action) => self.to.dispatch(action),
            Deed::Turn(forward) => self.to.dispatch(Action::Turn(forward)),
            Deed::Leave => self.to.dispatch(Action::Leave),
            Deed::Blank => self.to.dispatch(Action::Blank(true)),
            Deed::Open(sheet) => self.open.set(Some(Open::Sheet(sheet))),
            Deed::To(what) => {
                let (id, tab) = place_of(what);
                if tab < TABS.len() {
                    self.tab.set(tab);
                }
                platform::focus_soon(id);
            }
            Deed::Length => {}
            Deed::Link => {
                let to = self.to.clone();
                wasm_bindgen_futures::spawn_local(async move {
                    let copied = platform::copy(platform::address()).await;
                    let words =
                        if copied { strings::LINK_COPIED } else { strings::LINK_NOT_COPIED };
                    to.dispatch(Action::Notice(words));
                });
            }
        }
    }
}
