//! Two runs compared, on screen: where they part, both pictures, both verdicts, the figures that differ.

use web_sys::MouseEvent;
use yew::{Callback, Html, Properties, UseReducerDispatcher, component, use_memo};

use super::dialogs::dialog;
use super::draw::{Same, node, tone};
use super::page::Model;
use super::part::part;
use super::state::{Action, State};
use super::strings;
use super::tag::html;
use super::versus::Versus;

/// The width that each picture is laid out for.
const WIDTH: i32 = 460;

#[derive(Properties, PartialEq)]
struct Props {
    to: UseReducerDispatcher<Model>,
    versus: Same<Versus>,
}

/// The dialog of two runs, while two are compared.
pub fn beside(state: &Same<State>, to: &UseReducerDispatcher<Model>) -> Option<Html> {
    let versus = Same(state.versus.clone()?);
    Some(part::<Beside>("beside", Props { to: to.clone(), versus }))
}

#[component]
fn Beside(props: &Props) -> Html {
    let versus = &props.versus;
    let pictures = use_memo(versus.clone(), |versus| versus.pictures(WIDTH));
    let shut = props.to.clone();
    let on_close = Callback::from(move |()| shut.dispatch(Action::Compare(None)));
    let sides = (0..2).map(|i| {
        let picture = pictures.as_ref().as_ref().and_then(|p| p.get(i)).map(node);
        side(props, i, picture)
    });
    let body = html! {
        <>
            <p class="turned" id="parting">{ versus.words() }</p>
            if versus.parting.is_some() { <p class="quiet">{ strings::ABOVE_EQUAL }</p> }
            <div class="edge versus">{ for sides }</div>
            { figures(versus) }
        </>
    };
    dialog(versus.title.clone(), "edge-dialog versus-dialog", on_close, body)
}

/// One of the two runs.
fn side(props: &Props, index: usize, picture: Option<Html>) -> Html {
    let Some(side) = props.versus.sides.get(index) else { return html! {} };
    let verdicts = props.versus.verdicts();
    let verdict = verdicts.as_ref().and_then(|v| v.get(index));
    let to = props.to.clone();
    let onclick = Callback::from(move |_: MouseEvent| to.dispatch(Action::Side(index)));
    html! {
        <section class="edge-side" aria-label={side.name.clone()}>
            <h3>{ tone(verdict.map(|v| v.tone)) }<span>{ &side.name }
                if let Some(verdict) = verdict { { ": " }{ &verdict.word } }
            </span></h3>
            if let Some(verdict) = verdict { <p class="quiet">{ &verdict.rest }</p> }
            <section class="edge-picture" tabindex="0" aria-label={strings::act_on(strings::PICTURE, &side.name)}>{ for picture }</section>
            <div class="acts">
                <button type="button" class="plain" {onclick}
                    aria-label={strings::act_on(strings::OPEN_OTHER, &side.name)}>{ strings::OPEN_OTHER }</button>
            </div>
        </section>
    }
}

/// The counts that differ, side by side.
fn figures(versus: &Versus) -> Html {
    if versus.runs().is_none() {
        return html! {};
    }
    let figures = versus.figures();
    if figures.is_empty() {
        return html! { <p class="quiet">{ strings::NO_FIGURE_DIFFERS }</p> };
    }
    let rows = figures.iter().map(|(one, other)| {
        html! { <tr><th scope="row">{ one.about }</th><td>{ one.text() }</td><td>{ other.text() }</td></tr> }
    });
    let heads = versus.sides.iter().map(|s| html! { <th scope="col">{ &s.name }</th> });
    html! {
        <table class="figures">
            <caption>{ strings::FIGURES_DIFFER }</caption>
            <thead><tr><th scope="col">{ strings::FIGURE }</th>{ for heads }</tr></thead>
            <tbody>{ for rows }</tbody>
        </table>
    }
}
