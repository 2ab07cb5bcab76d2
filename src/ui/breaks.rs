//! The menu of what can be broken at the play head: stops, deaths, clocks, ways and messages.

use wasm_bindgen::JsCast;
use web_sys::{HtmlInputElement, InputEvent, MouseEvent, SubmitEvent};
use yew::{Callback, Html, Properties, UseReducerDispatcher, component, props, use_state_eq};

use super::dialogs::{dialog, whole};
use super::draw::{Choice, ChoiceProps, Same};
use super::fault::{Fault, OCCASIONS};
use super::keys::Act;
use super::page::Model;
use super::part::part;
use super::state::{Action, State};
use super::strings;
use super::tag::html;
use crate::lesson::FAULTS;
use crate::narrate;
use crate::run::NodeKind;
use crate::sim::{Halt, Micros, ProcId, Ratio};

/// The longest fault that the field takes.
const LONGEST: Micros = Micros::from_secs(600);

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
    let task = use_state_eq(|| 0);
    let rate = use_state_eq(|| 0);
    let side = use_state_eq(Vec::<ProcId>::new);
    // A lesson offers what it is about; all else is one press away.
    let more = use_state_eq(|| false);
    let nodes = state.nodes();
    let me = *node;
    let offers = |fault: &str| *more || state.offers(fault);

    let act = |which: Option<Act>,
               word: &'static str,
               why_not: WhyNot,
               fault: Box<dyn Fn(Micros) -> Fault>| {
        let ready = which.is_some() && which == props.act && why_not.is_none();
        act_button(props, &length, wrong.setter(), (word, why_not, ready), fault)
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
                    <input type="number" autofocus={matches!(props.act, Some(Act::Pause | Act::Cut | Act::Clock))} {oninput}
                        onfocus={whole()} value={(*length).clone()} min="0.001" max="600" step="any" inputmode="decimal" />
                </label>
            </div>
            <div role="alert">if *wrong { <p class="wrong">{ strings::BAD_LENGTH }</p> }</div>
            { break_process(state, me, &word, &task, (&offers, &act)) }
            { break_clock(me, &rate, (&offers, &act)) }
            { break_ways(state, me, &nodes, (&peer, &side), (&offers, &act)) }
            </form>
            { offered(state, &more) }
            <p class="quiet">{ strings::past_stays(later.then(|| narrate::moment(state.head.at))) }</p>
        </>
    };
    dialog(strings::break_at(&at), "break-dialog", props.on_close.clone(), body)
}

/// Which faults the lesson offers, and the way to all others.
fn offered(state: &State, more: &yew::UseStateHandle<bool>) -> Html {
    let all = FAULTS.iter().filter(|fault| **fault != "send");
    if all.clone().all(|fault| state.offers(fault)) {
        return html! {};
    }
    let names = all.filter(|fault| state.offers(fault)).map(|fault| strings::fault(fault));
    let (setter, next) = (more.setter(), !**more);
    let onclick = Callback::from(move |_: MouseEvent| setter.set(next));
    html! {
        <p class="offered">
            <span class="quiet">{ strings::offered(&names.collect::<Vec<_>>().join(", ")) }</span>{ " " }
            <button type="button" class="link" aria-expanded={more.to_string()} {onclick}>
                { if **more { strings::FEWER_FAULTS } else { strings::MORE_FAULTS } }
            </button>
        </p>
    }
}

/// Why something cannot be done now; none where it can.
type WhyNot = Option<String>;

/// A button that does something for the length that was typed. The one that is ready is what Enter
/// does; one that can do nothing says why.
fn act_button(
    props: &BreakProps,
    length: &str,
    wrong: yew::UseStateSetter<bool>,
    (word, why_not, ready): (&'static str, WhyNot, bool),
    fault: Box<dyn Fn(Micros) -> Fault>,
) -> Html {
    let (to, length, on_close) = (props.to.clone(), length.to_string(), props.on_close.clone());
    let able = why_not.is_none();
    let onclick = Callback::from(move |event: MouseEvent| {
        event.prevent_default();
        match span(&length) {
            _ if !able => {}
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
    html! {
        <span class="act">
            <button type={kind} {class} aria-disabled={(!able).then_some("true")} {autofocus} {onclick}>
                { word }
                <>if let Some(why) = why_not { <span class="why-not">{ why }</span> }</>
            </button>
        </span>
    }
}

/// A button that breaks something: the key that makes it ready, its words, why it cannot, and what
/// it does with the length.
type Button<'a> =
    dyn Fn(Option<Act>, &'static str, WhyNot, Box<dyn Fn(Micros) -> Fault>) -> Html + 'a;

/// Which kinds of fault are shown, and how their buttons are made.
type Offer<'a> = (&'a dyn Fn(&str) -> bool, &'a Button<'a>);

/// A group of what can be done, under its word.
fn group(word: &'static str, acts: Vec<Html>) -> Html {
    if acts.is_empty() {
        return html! {};
    }
    html! {
        <div role="group" aria-label={word}>
            <p class="kind" aria-hidden="true">{ word }</p>
            <div class="acts">{ for acts }</div>
        </div>
    }
}

/// Stopping and killing.
fn break_process(
    state: &State,
    me: ProcId,
    word: &yew::UseStateHandle<String>,
    task: &yew::UseStateHandle<usize>,
    (offers, act): Offer<'_>,
) -> Html {
    let world = state.show.world(state.head);
    let down = world.is_down(me);
    // What is dead or has nothing left to do cannot be stopped.
    let gone = match (down, world.has_ended(me)) {
        (true, _) => Some(strings::DOWN.to_string()),
        (_, true) => Some(strings::PROGRAM_OVER.to_string()),
        _ => None,
    };
    // A stop within one that stops as much would change nothing.
    let within = |least: &[Halt]| {
        let halt = world.halt(me).filter(|h| least.contains(&h.0));
        gone.clone().or(halt.map(|h| strings::stopped_until(&narrate::moment(h.1))))
    };
    let mut stops = Vec::new();
    if offers("pause") {
        let any = [Halt::Pause, Halt::Suspend, Halt::Freeze];
        let pause = Box::new(move |d| Fault::Pause(me, d));
        stops.push(act(Some(Act::Pause), strings::PAUSE_NOW, within(&any), pause));
    }
    if offers("suspend") {
        let suspend = Box::new(move |d| Fault::Suspend(me, d));
        stops.push(act(None, strings::SUSPEND, within(&[Halt::Suspend, Halt::Freeze]), suspend));
    }
    if offers("freeze") {
        let freeze = Box::new(move |d| Fault::Freeze(me, d));
        stops.push(act(None, strings::FREEZE, within(&[Halt::Freeze]), freeze));
    }
    let there = OCCASIONS.iter().copied().filter(|w| state.next_time(me, w).is_some());
    let there: Vec<&'static str> = there.collect();
    let chosen = there.iter().copied().find(|w| *w == **word).or(there.first().copied());
    let pauses = offers("pause") && gone.is_none();
    let waits = chosen.filter(|_| pauses).map(|chosen| {
        let setter = word.setter();
        let on_choice = Callback::from(move |value: String| setter.set(value));
        let options: Vec<_> = there.iter().map(|w| (w.to_string(), w.to_string())).collect();
        let before = Box::new(move |d| Fault::PauseBefore(me, chosen, d));
        let button = act(None, strings::PAUSE_BEFORE, None, before);
        row(strings::ITS_NEXT, options, chosen.to_string(), on_choice, button)
    });
    html! {
        <>
            { group(strings::STOP_IT, stops) }
            <>{ for waits }</>
            <>{ for one_task(state, me, task, act).filter(|_| pauses) }</>
            { group(strings::LET_IT_DIE, deaths(me, down, &gone, (offers, act))) }
        </>
    }
}

/// The ways to die, or the way back.
fn deaths(me: ProcId, down: bool, gone: &WhyNot, (offers, act): Offer<'_>) -> Vec<Html> {
    if !offers("crash") {
        return Vec::new();
    }
    if down {
        let restart = Box::new(move |_| Fault::Restart(me));
        return vec![act(Some(Act::Crash), strings::RESTART, None, restart)];
    }
    let crash = Box::new(move |_| Fault::Crash(me));
    vec![
        act(Some(Act::Crash), strings::CRASH, gone.clone(), crash),
        act(None, strings::POWER_OFF, gone.clone(), Box::new(move |_| Fault::PowerOff(me))),
        act(None, strings::SHUT_DOWN, gone.clone(), Box::new(move |_| Fault::ShutDown(me))),
    ]
}

/// A choice, and beside it what is done with it.
fn row(
    label: &'static str,
    options: Vec<(String, String)>,
    value: String,
    on_choice: Callback<String>,
    button: Html,
) -> Html {
    let class = "stack";
    let choice =
        part::<Choice>(label, props!(ChoiceProps { class, label, options, value, on_choice }));
    html! { <div class="row">{ choice }{ button }</div> }
}

/// Pausing one of several tasks.
fn one_task(
    state: &State,
    me: ProcId,
    task: &yew::UseStateHandle<usize>,
    act: &Button<'_>,
) -> Option<Html> {
    let tasks = state.show.run.names().tasks.get(usize::from(me.0)).filter(|t| t.len() > 1)?;
    let chosen = if **task < tasks.len() { **task } else { 0 };
    let setter = task.setter();
    let on_choice = Callback::from(move |value: String| setter.set(value.parse().unwrap_or(0)));
    let options = tasks.iter().enumerate().map(|(i, name)| (i.to_string(), name.clone())).collect();
    let pause = Box::new(move |d| Fault::PauseTask(me, chosen, d));
    let button = act(None, strings::PAUSE_TASK, None, pause);
    Some(row(strings::ONE_TASK, options, chosen.to_string(), on_choice, button))
}

/// Setting clocks, and letting them run at another speed.
fn break_clock(me: ProcId, rate: &yew::UseStateHandle<usize>, (offers, act): Offer<'_>) -> Html {
    if !offers("clock") {
        return html! {};
    }
    let forward = Box::new(move |d| Fault::Clock(me, true, d));
    let back = Box::new(move |d| Fault::Clock(me, false, d));
    let steps = vec![
        act(Some(Act::Clock), strings::CLOCK_FORWARD, None, forward),
        act(None, strings::CLOCK_BACK, None, back),
    ];
    let setter = rate.setter();
    let on_choice = Callback::from(move |value: String| setter.set(value.parse().unwrap_or(0)));
    let name = |r: &Ratio| if r.den == 1 { format!("×{}", r.num) } else { format!("×{r}") };
    let options = RATES.iter().enumerate().map(|(i, r)| (i.to_string(), name(r))).collect();
    let chosen = RATES.get(**rate).copied().unwrap_or(Ratio::ONE);
    let button = act(None, strings::SET_RATE, None, Box::new(move |_| Fault::Rate(me, chosen)));
    html! {
        <>
            { group(strings::ITS_CLOCKS, steps) }
            { row(strings::SPEED_OF_CLOCKS, options, rate.to_string(), on_choice, button) }
        </>
    }
}

/// The speeds that clocks are offered; others can be typed as an edit.
const RATES: [Ratio; 6] = [
    Ratio { num: 4, den: 5 },
    Ratio { num: 1, den: 2 },
    Ratio { num: 99, den: 100 },
    Ratio { num: 5, den: 4 },
    Ratio { num: 2, den: 1 },
    Ratio::ONE,
];

/// Cutting ways, and losing or holding what goes along them.
fn break_ways(
    state: &State,
    me: ProcId,
    nodes: &[(ProcId, String, NodeKind)],
    (peer, side): (&yew::UseStateHandle<ProcId>, &yew::UseStateHandle<Vec<ProcId>>),
    (offers, act): Offer<'_>,
) -> Html {
    let (cut, lose, hold) = (offers("cut"), offers("drop"), offers("delay"));
    let twice = offers("duplicate");
    let mut peers: Vec<_> = nodes.iter().filter(|n| n.0 != me).cloned().collect();
    let Some(other) = other(&peers, **peer).filter(|_| cut || lose || hold || twice) else {
        return html! {};
    };
    let world = state.show.world(state.head);
    let grouped = cut && **peer == EVERYBODY;
    let severed = !grouped && world.is_cut(me, other);
    let others = peers.clone();
    if cut && peers.len() > 1 {
        peers.push((EVERYBODY, strings::TWO_SIDES.into(), NodeKind::Client));
    }
    let shown = if grouped { EVERYBODY } else { other };
    let none = state.next_message(me, other).is_none();
    let next = || none.then(|| strings::NO_MESSAGE.to_string());
    let acts = if grouped {
        html! { { sides(state, me, &others, side, act) } }
    } else {
        html! {
            <div class="acts">
                if cut && severed {
                    { act(Some(Act::Cut), strings::HEAL, None, Box::new(move |_| Fault::Heal(me, Some(other)))) }
                }
                if cut && !severed {
                    { act(Some(Act::Cut), strings::CUT, None, Box::new(move |d| Fault::Cut(me, Some(other), d))) }
                    { act(None, strings::CUT_ONE_WAY, None, Box::new(move |d| Fault::CutOneWay(me, other, d))) }
                }
                if hold {
                    { act(None, strings::DELAY, next(), Box::new(move |d| Fault::Delay(me, other, d))) }
                }
                if lose {
                    { act(None, strings::LOSE, next(), Box::new(move |_| Fault::Lose(me, other))) }
                }
                if twice {
                    { act(None, strings::DUPLICATE, next(), Box::new(move |d| Fault::Duplicate(me, other, d))) }
                }
            </div>
        }
    };
    html! {
        <>
            { choose(strings::WAY_TO, false, &peers, shown, peer.setter()) }
            { acts }
        </>
    }
}

/// A cut between two sides: this node with whoever is chosen, and all the others.
fn sides(
    state: &State,
    me: ProcId,
    others: &[(ProcId, String, NodeKind)],
    side: &yew::UseStateHandle<Vec<ProcId>>,
    act: &Button<'_>,
) -> Html {
    let with = |node: &ProcId| side.contains(node);
    let boxes = others.iter().map(|(node, label, _)| {
        let (setter, node, now) = (side.setter(), *node, side.to_vec());
        let onchange = Callback::from(move |_: yew::Event| {
            let mut next = now.clone();
            match next.iter().position(|n| *n == node) {
                Some(place) => drop(next.remove(place)),
                None => next.push(node),
            }
            setter.set(next);
        });
        html! {
            <label key={node.0} class="choice">
                <input type="checkbox" checked={with(&node)} {onchange} /><span>{ label }</span>
            </label>
        }
    });
    let near: Vec<ProcId> = others.iter().map(|o| o.0).filter(with).chain([me]).collect();
    let far: Vec<ProcId> = others.iter().map(|o| o.0).filter(|n| !with(n)).collect();
    let nobody = far.is_empty().then(|| strings::NOBODY_LEFT.to_string());
    let world = state.show.world(state.head);
    let severed = nobody.is_none() && near.iter().all(|a| far.iter().all(|b| world.is_cut(*a, *b)));
    let label = &state.show.run.names().node(me).label;
    let (word, fault): (_, Box<dyn Fn(Micros) -> Fault>) = if severed {
        (strings::HEAL, Box::new(move |_| Fault::HealSides(near.clone(), far.clone())))
    } else {
        (strings::CUT, Box::new(move |d| Fault::CutSides(near.clone(), far.clone(), d)))
    };
    html! {
        <>
            <fieldset class="sides">
                <legend>{ strings::together_with(label) }</legend>
                <div>{ for boxes }</div>
            </fieldset>
            <div class="acts">{ act(Some(Act::Cut), word, nobody, fault) }</div>
        </>
    }
}

/// Stands for two sides in the list of those that a way leads to.
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
