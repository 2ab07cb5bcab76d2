//! Predictions: asked, committed, looked at, answered by the run.

use web_sys::{MouseEvent, SubmitEvent};
use yew::{Callback, Html, Properties, UseReducerDispatcher, component, use_state_eq};

use super::draw::Same;
use super::learn::{Said, Seen};
use super::page::Model;
use super::part::part;
use super::platform;
use super::state::{Action, State};
use super::strings;
use super::tag::html;
use super::words::Props;
use crate::lesson::Predict;
use crate::narrate;

const SURENESS: [u32; 3] = [50, 70, 90];
/// How long a reason may be.
const LONGEST: &str = "200";

/// The question that is open at the head: chosen, committed, and answered by the run.
pub fn prediction(props: &Props) -> Html {
    let state = &props.state;
    let Some(index) = state.question().filter(|_| state.level.is_none()) else { return html! {} };
    let Some(question) = state.lesson.predictions.get(index) else { return html! {} };
    let body = match state.said.get(index).and_then(Option::as_ref) {
        None => {
            part::<Ask>(index, AskProps { state: props.state.clone(), to: props.to.clone(), index })
        }
        Some(said) => html! {
            <>
                <p class="question">{ &question.question }</p>
                <p><strong>{ strings::you_said(answer(question, said.answer), said.sure) }</strong></p>
                if !said.why.is_empty() { <p class="quiet">{ strings::your_why(&said.why) }</p> }
                if state.must_look(index) {
                    { look(props, index) }
                } else if state.answered(index) {
                    { outcome(props, index, question) }
                } else {
                    <p class="quiet">{ strings::RUN_DECIDES }</p>
                }
            </>
        },
    };
    // While nothing is explained, no story stands above it.
    let words = if state.looking().is_some() { strings::LOOK } else { strings::PREDICT };
    let title = if state.looking().is_some() || state.toward.is_some() {
        html! { <h1 id="predict-title" tabindex="-1">{ words }</h1> }
    } else {
        html! { <h2 id="predict-title" tabindex="-1">{ words }</h2> }
    };
    html! {
        <section class="card" id="predict" aria-labelledby="predict-title">
            { title }
            { body }
        </section>
    }
}

fn answer(question: &Predict, index: usize) -> &str {
    question.answers.get(index).map_or("", |a| a.text.trim_end_matches('.'))
}

/// Before anything is explained: what happened at the resource?
fn look(props: &Props, question: usize) -> Html {
    let buttons = Seen::ALL.iter().map(|seen| {
        let (to, seen) = (props.to.clone(), *seen);
        let onclick = Callback::from(move |_: MouseEvent| {
            to.dispatch(Action::Look(question, seen));
            // The buttons go away; the focus stays in the card.
            platform::focus_soon("predict-title");
        });
        html! { <button type="button" class="plain" {onclick}>{ strings::what_was_seen(seen) }</button> }
    });
    let skip = {
        let to = props.to.clone();
        Callback::from(move |_: MouseEvent| {
            to.dispatch(Action::Next(true));
            platform::focus_soon("predict-title");
        })
    };
    html! {
        <div role="group" aria-label={strings::LOOK} class="look">
            if props.state.looking().is_none() { <p class="question">{ strings::LOOK }</p> }
            { for buttons }
            <button type="button" class="link" onclick={skip}>{ strings::SKIP_LOOK }</button>
        </div>
    }
}

fn outcome(props: &Props, index: usize, question: &Predict) -> Html {
    let state: &State = &props.state;
    let words = match state.show.answer(question) {
        Some(index) => strings::run_says(answer(question, index)),
        None => strings::NONE_OF_THESE.to_string(),
    };
    let (was, decides) = state.decided_by(index);
    let looked = state.looked.get(index).copied().flatten();
    let to = props.to.clone();
    let onclick = Callback::from(move |_: MouseEvent| to.dispatch(Action::GoTo(decides)));
    html! {
        <>
            if let Some(seen) = looked { <p>{ strings::looked(seen, was) }</p> }
            <p>{ words }</p>
            if let Some(event) = decides {
                <p>
                    { strings::DECIDES }{ " " }
                    <button type="button" class="link" {onclick}>{ narrate::moment(state.show.time(event)) }</button>
                </p>
            }
            <p class="quiet">{ &question.why }</p>
        </>
    }
}

#[derive(Properties, PartialEq)]
struct AskProps {
    state: Same<State>,
    to: UseReducerDispatcher<Model>,
    index: usize,
}

#[component]
fn Ask(props: &AskProps) -> Html {
    let chosen = use_state_eq(|| None::<usize>);
    let sure = use_state_eq(|| 70_u32);
    let index = props.index;
    let Some(question) = props.state.lesson.predictions.get(index) else { return html! {} };
    let answers = question.answers.iter().enumerate().map(|(i, answer)| {
        let setter = chosen.setter();
        let onchange = Callback::from(move |_| setter.set(Some(i)));
        html! {
            <label key={i} class="choice">
                <input type="radio" name="answer" checked={*chosen == Some(i)} {onchange} />
                <span>{ &answer.text }</span>
            </label>
        }
    });
    let surenesses = SURENESS.iter().map(|percent| {
        let setter = sure.setter();
        let onchange = Callback::from(move |_| setter.set(*percent));
        html! {
            <label key={*percent}>
                <input type="radio" name="sure" checked={*sure == *percent} {onchange} />
                <span>{ strings::sure(*percent) }</span>
            </label>
        }
    });
    let onsubmit = {
        let (to, chosen, sure) = (props.to.clone(), *chosen, *sure);
        Callback::from(move |event: SubmitEvent| {
            event.prevent_default();
            if let Some(answer) = chosen {
                let why = platform::typed("own-why").unwrap_or_default().trim().to_string();
                to.dispatch(Action::Commit(index, Said { answer, sure, why }));
                // The form goes away with its button; the focus moves on to where things go on.
                platform::focus("stage");
            }
        })
    };
    html! {
        <form {onsubmit}>
            <fieldset>
                <legend class="question">{ &question.question }</legend>
                <div>{ for answers }</div>
            </fieldset>
            <fieldset class="sure">
                <legend>{ strings::SURE }</legend>
                <div>{ for surenesses }</div>
            </fieldset>
            <label class="why" for="own-why">{ strings::WHY }</label>
            <input type="text" id="own-why" maxlength={LONGEST} autocomplete="off" />
            <button type="submit" class="plain" disabled={chosen.is_none()}>{ strings::COMMIT }</button>
        </form>
    }
}
