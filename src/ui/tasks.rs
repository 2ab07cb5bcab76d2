//! What there is to do in a lesson: the levels of guidance, the task on screen, tokens by hand.

use web_sys::{MouseEvent, SubmitEvent};
use yew::{Callback, Html};

use super::draw::icon;
use super::learn::Standing;
use super::platform;
use super::state::Action;
use super::strings;
use super::tag::html;
use super::words::{Props, kicker};
use crate::lesson::Level;

const TICK: &str = "M4 10.5l4 4 8-9";
const RING: &str = "M10 4a6 6 0 100 12 6 6 0 000-12z";

/// From the worked example to the goal alone, one click each.
pub fn levels(props: &Props) -> Html {
    let state = &props.state;
    let level = |level: Option<Level>| {
        let to = props.to.clone();
        let onclick = Callback::from(move |_: MouseEvent| to.dispatch(Action::Level(level)));
        let pressed = (state.level == level).to_string();
        html! { <button type="button" aria-pressed={pressed} {onclick}>{ strings::level(level) }</button> }
    };
    let there = |l: &Level| state.lesson.task(*l).is_some();
    let tasks: Vec<Level> = Level::ALL.into_iter().filter(there).collect();
    if tasks.is_empty() {
        return html! {};
    }
    html! {
        <div class="segments levels" role="group" aria-label={strings::LEVELS}>
            { level(None) }
            { for tasks.into_iter().map(|l| level(Some(l))) }
        </div>
    }
}

/// A sign with the word that says the same.
fn sign(done: bool, word: &'static str) -> Html {
    let class = if done { "sign done" } else { "sign" };
    html! { <span {class}>{ icon(if done { TICK } else { RING }) }<span>{ word }</span></span> }
}

fn hint(words: Option<&String>) -> Html {
    html! {
        if let Some(words) = words {
            <details><summary>{ strings::HINT }</summary><p>{ words }</p></details>
        }
    }
}

/// The goal, its steps with what the run has done of them, and help for whoever wants it.
pub fn task(props: &Props) -> Html {
    let state = &props.state;
    let Some((index, task)) = state.task() else { return html! {} };
    let steps = task.steps.iter().enumerate().map(|(i, step)| {
        let standing = state.standing(i);
        let word = strings::standing(standing);
        html! {
            <li key={i}>
                { sign(standing != Standing::Open, word) }
                <span>{ &step.text }</span>
                { hint(step.hint.as_ref()) }
            </li>
        }
    });
    let reached = state.at_goal();
    let solved = state.solved.get(index) == Some(&true);
    let to = props.to.clone();
    let onclick = Callback::from(move |_: MouseEvent| {
        to.dispatch(Action::Solve);
        // The button goes away; the focus stays in the card.
        platform::focus("task-title");
    });
    let word = match (reached, solved) {
        (true, _) => strings::GOAL_IN_THIS_RUN,
        (false, true) => strings::GOAL_IN_ANOTHER_RUN,
        _ => strings::GOAL_OPEN,
    };
    html! {
        <section class="card task" aria-labelledby="task-title">
            <p class="kicker">{ kicker(state, true) }</p>
            <h1 id="task-title" tabindex="-1">{ strings::level(state.level) }</h1>
            <p class="goal">{ &task.goal }</p>
            if !task.steps.is_empty() { <ol class="steps">{ for steps }</ol> }
            <p class="reached">{ sign(reached, word) }</p>
            { hint(task.hint.as_ref()) }
            if reached {
            } else if state.shows_solution() {
                <p class="note">{ strings::SOLUTION_SHOWN }</p>
            } else {
                <p><button type="button" class="link" {onclick}>{ strings::SHOW_SOLUTION }</button></p>
            }
        </section>
    }
}

/// Where the lesson offers it: a token for the resource, sent at the play head.
pub fn by_hand(props: &Props) -> Html {
    let state = &props.state;
    if !state.lesson.faults.iter().any(|f| f == "send") {
        return html! {};
    }
    let to = props.to.clone();
    let onsubmit = Callback::from(move |event: SubmitEvent| {
        event.prevent_default();
        if let Ok(token) = platform::typed("token").unwrap_or_default().parse() {
            to.dispatch(Action::Send(token));
        }
    });
    html! {
        <form class="by-hand" {onsubmit}>
            <label for="token">{ strings::SEND_A_TOKEN }</label>
            <input type="number" id="token" min="0" max="999999" step="1" required=true value="42" />
            <button type="submit" class="plain">{ strings::SEND }</button>
        </form>
    }
}

/// At the end: what was done of it, and what is still to do.
pub fn yours(props: &Props) -> Html {
    let state = &props.state;
    let said = state.said.iter().filter(|s| s.is_some()).count();
    let all = state.said.len();
    let tasks = state.lesson.tasks.iter().zip(&state.solved).map(|(task, solved)| {
        let (to, level) = (props.to.clone(), Some(task.level));
        let onclick = Callback::from(move |_: MouseEvent| {
            to.dispatch(Action::Level(level));
            platform::focus_soon("task-title");
        });
        html! {
            <li>
                { sign(*solved, strings::done_or_open(*solved)) }
                <button type="button" class="link" {onclick}>{ strings::level(level) }</button>
            </li>
        }
    });
    let sorted = state.cards.said.iter().flatten().count();
    let cards = state.lesson.cards.len();
    let title = if state.finished() { strings::FINISHED } else { strings::STILL_YOURS };
    html! {
        <>
            <h2>{ title }</h2>
            <ul class="yours">
                if all > 0 {
                    <li>
                        { sign(said == all, strings::done_or_open(said == all)) }
                        <span>{ strings::predictions(said, all) }</span>
                    </li>
                }
                if cards > 0 {
                    <li>
                        { sign(sorted == cards, strings::done_or_open(sorted == cards)) }
                        <span>{ strings::cards_sorted(sorted, cards) }</span>
                    </li>
                }
                { for tasks }
            </ul>
        </>
    }
}
