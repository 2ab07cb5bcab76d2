//! The lesson on a projector: the beat, the picture, the verdict, and before each answer a vote.

use wasm_bindgen::JsCast;
use web_sys::{HtmlInputElement, InputEvent, MouseEvent};
use yew::{Callback, Html, UseReducerDispatcher};

use super::class::Count;
use super::draw::{Same, icon};
use super::page::Model;
use super::part::part;
use super::stage::{self, Stage};
use super::state::{Action, State};
use super::tag::html;
use super::{points, strings, transport, trays, words};
use crate::lesson::Predict;

const BACK: &str = "M14 4 6 10l8 6z";
const ON: &str = "M6 4l8 6-8 6z";
const LEAVE: &str = "M5 5l10 10M15 5 5 15";
const FEWER: &str = "M4 10h12";
const MORE: &str = "M4 10h12M10 4v12";

/// The page as a class sees it.
pub fn view(controls: &transport::Props) -> Html {
    let (state, to) = (&controls.state, &controls.to);
    let asked = state.vote.and_then(|i| Some((i, state.lesson.predictions.get(i)?)));
    let body = match asked {
        Some((index, question)) => vote(state, to, index, question),
        None if state.cards.sorting.is_some() && state.heard().is_none() => {
            let props = words::Props { state: state.clone(), to: to.clone() };
            html! { <div class="vote">{ trays::cards(&props) }</div> }
        }
        None => lesson(controls),
    };
    let act = |word: &'static str, path: &'static str, action: Action| {
        let to = to.clone();
        let onclick = Callback::from(move |_: MouseEvent| to.dispatch(action.clone()));
        html! { <button type="button" class="square" aria-label={word} title={word} {onclick}>{ icon(path) }</button> }
    };
    let lit = {
        let to = to.clone();
        Callback::from(move |_: MouseEvent| to.dispatch(Action::Blank(false)))
    };
    html! {
        <>
            <main class="wall" id="lesson" tabindex="-1">
                { body }
                <div class="corner">
                    <p class="count">{ strings::step_of(state.show.step(state.head), state.show.stops.len()) }</p>
                    { act(strings::PREVIOUS, BACK, Action::Turn(false)) }
                    { act(strings::NEXT, ON, Action::Turn(true)) }
                    { act(strings::LEAVE, LEAVE, Action::Leave) }
                </div>
            </main>
            if state.blank { <div class="blank" onclick={lit}></div> }
        </>
    }
}

/// The words at the head and the picture. At the event that the words are about they get the room that
/// they take; later on, where they do not fit, the style sheet shows the sentence of the event in their
/// place.
fn lesson(controls: &transport::Props) -> Html {
    let (state, to) = (&controls.state, &controls.to);
    let beat = state.beat().and_then(|i| state.lesson.beats.get(i));
    let beat = beat.filter(|_| state.strayed().is_none());
    let heard = state.heard();
    // A run that a link led to has words of its own.
    let followed = state.followed().filter(|_| state.tells_story());
    let told = (heard.is_none() && state.stands_at_beat()).to_string();
    let title = match (heard, followed) {
        (Some((_, point, _)), _) => strings::point_of(&point.id, &point.title),
        (None, Some(variant)) => variant.title.clone(),
        (None, None) => beat.map_or(&state.lesson.title, |b| &b.title).clone(),
    };
    let full = match (heard, beat, state.head.event) {
        (Some((_, point, run)), ..) => points::on_the_wall(point, run, false),
        (None, Some(beat), _) => match followed {
            Some(variant) => words::shown_there(variant, beat, state, to),
            None => words::blocks(&beat.blocks, state, to),
        },
        (None, None, None) => html! { <p>{ &state.lesson.hook }</p> },
        (None, None, Some(_)) => html! {},
    };
    let brief = match heard {
        Some((_, point, run)) => points::on_the_wall(point, run, true),
        None => stage::caption(state),
    };
    let stage = part::<Stage>(
        "wall",
        stage::Props {
            state: state.clone(),
            to: to.clone(),
            nodes: controls.nodes.clone(),
            on_break: Callback::noop(),
            player: None,
        },
    );
    html! {
        <>
            <section class="said" aria-label={strings::STORY}>
                <h1>{ title }</h1>
                <div class="fits" id="fits" data-told={told}>
                    <div class="prose full">{ full }</div>
                    <div class="brief">{ brief }</div>
                </div>
                { outcome(state) }
            </section>
            { stage }
            if state.decided() { { transport::verdict(state) } }
        </>
    }
}

/// How a class voted, once the run has shown the answer.
fn outcome(state: &State) -> Html {
    let Some(index) = state.voted() else { return html! {} };
    let (Some(tally), Some(question)) =
        (state.tallies.get(index), state.lesson.predictions.get(index))
    else {
        return html! {};
    };
    let Some(right) = state.show.answer(question) else { return html! {} };
    let answer = question.answers.get(right).map_or("", |a| a.text.trim_end_matches('.'));
    let hands = |round: usize| {
        let own = tally.hands.get(right).and_then(|h| h.get(round)).copied().unwrap_or(0);
        strings::hands(own, tally.all(round))
    };
    html! {
        <p class="result">
            <strong>{ strings::run_says(answer) }</strong>{ " " }{ hands(0) }
            if tally.again { { strings::then(&hands(1)) } }
        </p>
    }
}

/// The question, large, with fields for the hands of two votes.
fn vote(
    state: &Same<State>,
    to: &UseReducerDispatcher<Model>,
    index: usize,
    question: &Predict,
) -> Html {
    let Some(tally) = state.tallies.get(index) else { return html! {} };
    let rounds = if tally.again { 0..2 } else { 0..1 };
    let rows = question.answers.iter().enumerate().map(|(i, answer)| {
        let fields = rounds.clone().map(|round| {
            let hands = tally.hands.get(i).and_then(|h| h.get(round)).copied().unwrap_or(0);
            let open = round == usize::from(tally.again);
            field(to, i, hands, open, strings::hands_for(&answer.text, round))
        });
        html! { <li key={i}><span>{ &answer.text }</span><>{ for fields }</></li> }
    });
    let act = |word: &'static str, count: Count| {
        let to = to.clone();
        let onclick = Callback::from(move |_: MouseEvent| to.dispatch(Action::Count(count)));
        html! { <button type="button" class="plain" {onclick}>{ word }</button> }
    };
    let counted = tally.all(0) > 0;
    html! {
        <section class="vote" aria-labelledby="vote-title">
            <h1 id="vote-title" tabindex="-1">{ &question.question }</h1>
            <ol class="answers">{ for rows }</ol>
            <p class="help">{ if tally.again { strings::VOTE_AGAIN } else { strings::VOTE } }</p>
            <div class="acts">
                if !tally.again { { act(strings::DISCUSSED, Count::Again) } }
                { act(if counted { strings::RUN_DECIDES_NOW } else { strings::SKIP_VOTE }, Count::Over) }
            </div>
        </section>
    }
}

fn field(
    to: &UseReducerDispatcher<Model>,
    answer: usize,
    hands: u32,
    open: bool,
    label: String,
) -> Html {
    let sender = to.clone();
    let oninput = Callback::from(move |event: InputEvent| {
        let field = event.target().and_then(|t| t.dyn_into::<HtmlInputElement>().ok());
        let number = field.and_then(|f| f.value().parse().ok()).unwrap_or(0);
        sender.dispatch(Action::Count(Count::Set(answer, number)));
    });
    let add = |word: &'static str, path: &'static str, number: u32| {
        let to = to.clone();
        let onclick = Callback::from(move |_: MouseEvent| {
            to.dispatch(Action::Count(Count::Set(answer, number)));
        });
        let name = format!("{word} {label}");
        html! { <button type="button" class="plain" aria-label={name} {onclick}>{ icon(path) }</button> }
    };
    if !open {
        return html! { <span class="was" aria-label={label}>{ hands.to_string() }</span> };
    }
    html! {
        <span class="hands">
            { add(strings::FEWER, FEWER, hands.saturating_sub(1)) }
            <input type="number" min="0" aria-label={label.clone()} value={hands.to_string()} {oninput} />
            { add(strings::MORE, MORE, hands + 1) }
        </span>
    }
}
