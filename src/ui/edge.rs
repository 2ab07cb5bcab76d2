//! The knife edge on screen: two runs that a millisecond tells apart, side by side.

use web_sys::MouseEvent;
use yew::{Callback, Html, Properties, UseReducerDispatcher, component, use_memo, use_state_eq};

use super::dialogs::dialog;
use super::draw::{Same, node, tone};
use super::page::Model;
use super::part::part;
use super::route::Route;
use super::sought::Found;
use super::state::{Action, State};
use super::tag::html;
use super::{platform, strings};
use crate::narrate;
use crate::run::Run;
use crate::search::{Goal, NoEdge};
use crate::sim::Micros;

/// The width that each picture is laid out for.
const WIDTH: i32 = 460;

#[derive(Properties, PartialEq)]
struct Props {
    state: Same<State>,
    to: UseReducerDispatcher<Model>,
    found: Same<Found>,
}

/// The dialog of what was found, while there is something.
pub fn found(state: &Same<State>, to: &UseReducerDispatcher<Model>) -> Html {
    let Some(found) = state.found.clone() else { return html! {} };
    part::<FoundDialog>("found", Props { state: state.clone(), to: to.clone(), found: Same(found) })
}

/// What was found: both lengths with the words of their runs, both pictures, and the ways to go on.
#[component]
fn FoundDialog(props: &Props) -> Html {
    let found = &props.found;
    let told = use_state_eq(|| "");
    let pictures = use_memo(found.clone(), |found| found.pictures(WIDTH));
    let shut = props.to.clone();
    let on_close = Callback::from(move |()| shut.dispatch(Action::Find(None)));
    let why = found.no_harm.as_ref().map(|why| {
        html! { <p>{ no_harm(why) }{ " " }{ found.edge.as_ref().map_or("", |e| instead(e.goal)) }</p> }
    });
    let columns = found.edge.as_ref().map(|edge| {
        let both = [(false, edge.safe, &edge.safe_run), (true, edge.harmful, &edge.harmful_run)];
        let sides = both.into_iter().enumerate().map(|(i, (harmful, length, run))| {
            let picture = pictures.as_ref().as_ref().and_then(|p| p.get(i)).map(node);
            side(props, harmful, length, run, picture, told.setter())
        });
        html! {
            <>
                if let Some(words) = found.turned() { <p class="turned">{ words }</p> }
                <div class="edge">{ for sides }</div>
            </>
        }
    });
    let stale = found.stale.as_ref().map(|stale| {
        let word = narrate::headline(&stale.harmful_run).word;
        html! { <p>{ strings::stale_from(stale.harmful, &word) }</p> }
    });
    let body = html! {
        <>
            { for why }
            { for columns }
            { for stale }
            <p class="quiet">{ strings::varied(&found.label, found.runs) }</p>
            <p role="status" class="quiet">{ *told }</p>
        </>
    };
    dialog(strings::EDGE.into(), "edge-dialog", on_close, body)
}

/// One of the two runs.
fn side(
    props: &Props,
    harmful: bool,
    length: Micros,
    run: &Run,
    picture: Option<Html>,
    told: yew::UseStateSetter<&'static str>,
) -> Html {
    let length = strings::milliseconds(length);
    let headline = narrate::headline(run);
    let place = props.found.place(harmful);
    let open = {
        let (to, place) = (props.to.clone(), place.clone());
        Callback::from(move |_: MouseEvent| {
            if let Some((edits, event)) = place.clone() {
                to.dispatch(Action::Open(edits, event));
            }
        })
    };
    let copy = {
        let (state, hash) = (props.state.clone(), run.hash());
        Callback::from(move |_: MouseEvent| {
            let Some((edits, event)) = place.clone() else { return };
            let (address, told) = (platform::address(), told.clone());
            let page = address.split('#').next().unwrap_or_default();
            let link = format!("{page}{}", Route::to(&state, &edits, Some(event), hash));
            wasm_bindgen_futures::spawn_local(async move {
                let copied = platform::copy(link).await;
                told.set(if copied { strings::COPIED } else { strings::NOT_ALLOWED });
            });
        })
    };
    html! {
        <section class="edge-side" data-length={length.clone()}>
            <h3>{ tone(Some(headline.tone)) }<span>{ &length }{ ": " }{ &headline.word }</span></h3>
            <div class="edge-picture">{ for picture }</div>
            <div class="acts">
                <button type="button" class="plain" onclick={open} aria-label={strings::open_run(&length)}>{ strings::OPEN_RUN }</button>
                <button type="button" class="plain" onclick={copy} aria-label={strings::copy_link_of(&length)}>{ strings::COPY_LINK }</button>
            </div>
        </section>
    }
}

fn no_harm(why: &NoEdge) -> String {
    match why {
        NoEdge::NoLength => strings::NO_LENGTH.into(),
        NoEdge::Always => strings::ALWAYS_HARM.into(),
        NoEdge::Never(longest) => strings::never_harm(*longest),
        NoEdge::Wrong(_) => strings::CANNOT_RUN.into(),
    }
}

/// What turns where no harm does.
fn instead(goal: Goal) -> &'static str {
    match goal {
        Goal::Harm => "",
        Goal::Rejected => strings::YET_REJECTED,
        Goal::Stale => strings::YET_STALE,
    }
}
