//! A debate on the page: its points, the one that is heard with its runs, and all of them side by side.

use web_sys::MouseEvent;
use yew::{Callback, Html, UseReducerDispatcher};

use super::dialogs::dialog;
use super::draw::{Same, node};
use super::page::Model;
use super::platform;
use super::state::{Action, State, own_edits};
use super::strings;
use super::tag::html;
use super::words::{Props, mark, source};
use crate::lesson::{Outcome, Point};
use crate::sheet::{self, Ways};

/// A button that takes up a point, and leaves the focus at its title.
fn to_point(
    props: &Props,
    class: &'static str,
    words: String,
    label: Option<String>,
    at: (usize, usize),
) -> Html {
    let to = props.to.clone();
    let onclick = Callback::from(move |_: MouseEvent| {
        to.dispatch(Action::Point(at.0, at.1));
        platform::focus_soon("point-title");
    });
    let now = props.state.heard().map(|(index, _, _)| index) == Some(at.0);
    let current = now.then_some("true");
    html! { <button type="button" {class} aria-label={label} aria-current={current} {onclick}>{ words }</button> }
}

/// The debate in the column of words: the point that is heard, and the list of all.
pub fn debate(props: &Props) -> Html {
    let state = &props.state;
    if state.lesson.debate.is_empty() || state.level.is_some() {
        return html! {};
    }
    let heard = state.heard();
    let to = props.to.clone();
    let onclick = Callback::from(move |_: MouseEvent| to.dispatch(Action::AllClaims(true)));
    let all = html! { <p><button type="button" class="link" aria-haspopup="dialog" {onclick}>{ strings::ALL_CLAIMS }</button></p> };
    let body = match heard {
        Some((index, point, shown)) => html! {
            <>
                <h1 id="point-title" tabindex="-1">{ strings::point_of(&point.id, &point.title) }</h1>
                { hearing(props, index, point, shown) }
                { turns(props, index) }
            </>
        },
        None => html! {
            <>
                <h2 id="point-title" tabindex="-1">{ strings::DEBATE }</h2>
                <p class="quiet">{ strings::DEBATE_ABOUT }</p>
            </>
        },
    };
    html! {
        <section class={if heard.is_some() { "card hearing" } else { "card" }} aria-labelledby="point-title">
            { body }
            { sides(props, heard.is_some()) }
            { all }
        </section>
    }
}

/// The points of both, one column each; of the one who is heard, the names alone.
fn sides(props: &Props, brief: bool) -> Html {
    let lesson = &props.state.lesson;
    let opens = lesson.opens();
    let other = lesson.debate.iter().find(|p| p.by != opens).map_or("", |p| p.by.as_str());
    let side = |by: &str| {
        let points = lesson.debate.iter().enumerate().filter(|(_, point)| point.by == by);
        let each = points.map(|(index, point)| {
            let name = strings::point_name(&point.id, &point.title);
            let (class, words) = match brief {
                true => ("plain", point.id.clone()),
                false => ("link", name.clone()),
            };
            html! { <li key={index}>{ to_point(props, class, words, brief.then_some(name), (index, 0)) }</li> }
        });
        html! { <div><p><strong>{ by }</strong></p><ul aria-label={by.to_string()}>{ for each }</ul></div> }
    };
    html! { <div class={if brief { "sides brief" } else { "sides" }}>{ side(opens) }{ side(other) }</div> }
}

/// The point that is heard: the claim, what its runs show, what was given up, what answers what.
fn hearing(props: &Props, index: usize, point: &Point, shown: usize) -> Html {
    let state = &props.state;
    let runs = point.runs.iter().enumerate().map(|(i, run)| {
        let name = &run.variant.text;
        let variant = state.lesson.variants.iter().position(|v| v.name == *name);
        let title = variant.and_then(|v| state.lesson.variants.get(v)).map_or("", |v| v.title.as_str());
        let now = i == shown && variant.is_some_and(|v| own_edits(&state.lesson, v) == state.edits);
        let to = props.to.clone();
        let onclick = Callback::from(move |_: MouseEvent| to.dispatch(Action::Point(index, i)));
        // The figures are those of the run on screen: nobody has written them down.
        let given = || sheet::figures(&Outcome::of(&state.show.run.judgement.verdict));
        let changed = if now { "" } else { strings::WITH_CHANGES };
        let figures = (i == shown).then(|| format!("{changed}{}", given()));
        html! {
            <li key={i}>
                <button type="button" class="link" aria-pressed={now.to_string()} {onclick}>{ title }</button>
                <span class="says">{ &run.shows }</span>
                <>if let Some(figures) = figures { <span class="figures-of">{ figures }</span> }</>
            </li>
        }
    });
    let answers: Vec<(usize, &Point)> =
        point.answers.iter().filter_map(|id| state.lesson.point(id)).collect();
    html! {
        <>
            <p class="kicker">{ strings::claims(&point.by) }</p>
            <p>{ &point.claim }{ " " }{ mark(&point.evidence, state) }</p>
            { source(&point.evidence, state) }
            <p class="quiet">{ strings::SHOWN_BY }</p>
            <ul class="shown">{ for runs }</ul>
            <>if let Some(words) = &point.gave_up { <p><strong>{ strings::GAVE_UP }</strong>{ words }</p> }</>
            { linked(props, strings::ANSWERS, &answers) }
            { linked(props, strings::ANSWERED_BY, &state.lesson.replies(&point.id)) }
        </>
    }
}

/// Points of the other one that belong to this one.
fn linked(props: &Props, words: &'static str, points: &[(usize, &Point)]) -> Html {
    if points.is_empty() {
        return html! {};
    }
    let each = points.iter().map(|(index, point)| {
        to_point(props, "link", strings::point_name(&point.id, &point.title), None, (*index, 0))
    });
    html! { <p class="linked">{ words }{ for each }</p> }
}

/// The point that is heard, for a room: who claims what, and what the run on the wall shows; where there is little
/// room, the latter alone.
pub fn on_the_wall(point: &Point, shown: usize, brief: bool) -> Html {
    let shows = point.runs.get(shown).map_or("", |run| run.shows.as_str());
    let claim = || html! { <p>{ strings::claims(&point.by) }{ " " }{ &point.claim }</p> };
    html! {
        <>
            <>if !brief { { claim() } }</>
            <p>{ strings::THE_RUN }<strong>{ shows }</strong></p>
        </>
    }
}

fn turns(props: &Props, index: usize) -> Html {
    let all = props.state.lesson.debate.len();
    html! {
        <p class="sorting">
            if index > 0 { { to_point(props, "plain", strings::POINT_BEFORE.into(), None, (index - 1, 0)) } }
            if index + 1 < all { { to_point(props, "plain", strings::NEXT_POINT.into(), None, (index + 1, 0)) } }
        </p>
    }
}

/// All claims side by side, while they are shown. Its buttons are marked with the run that they lead to.
pub fn side_by_side(state: &Same<State>, to: &UseReducerDispatcher<Model>) -> Option<Html> {
    if !state.hearing.table {
        return None;
    }
    let table = sheet::debate(&state.lesson, Ways::Page)?;
    let lesson = state.lesson.clone();
    let sender = to.clone();
    let onclick = Callback::from(move |event: MouseEvent| {
        let Some(run) = platform::marked(&event, "data-run") else { return };
        let point = platform::marked(&event, "data-point").and_then(|p| p.parse::<usize>().ok());
        let shown = point.and_then(|p| {
            let runs = lesson.debate.get(p)?.runs.iter();
            Some((p, runs.clone().position(|r| r.variant.text == run)?))
        });
        match (shown, lesson.variants.iter().position(|v| v.name == run)) {
            (Some((point, shown)), _) => sender.dispatch(Action::Point(point, shown)),
            (None, Some(variant)) => {
                sender.dispatch(Action::AllClaims(false));
                sender.dispatch(Action::Variant(variant));
            }
            (None, None) => {}
        }
        platform::focus_soon("point-title");
    });
    let shut = to.clone();
    let on_close = Callback::from(move |()| shut.dispatch(Action::AllClaims(false)));
    let body = html! { <div {onclick}>{ node(&table) }</div> };
    Some(dialog(strings::ALL_CLAIMS_TITLE.into(), "edge-dialog claims-dialog", on_close, body))
}
