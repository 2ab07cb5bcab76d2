//! The label that a design has to earn: pinned by the learner, tried by attacks, and off as soon as one does harm.

use gloo_timers::callback::Timeout;
use web_sys::MouseEvent;
use yew::{Callback, Html, UseReducerDispatcher, hook, use_effect_with};

use super::page::Model;
use super::platform;
use super::state::{Action, State};
use super::strings;
use super::tag::html;
use super::words::Props;
use crate::lesson::Outcome;
use crate::sheet;

/// Tries one attack after the other, each in a turn of its own, so that the page stays at hand.
#[hook]
pub fn use_trial(state: &State, to: &UseReducerDispatcher<Model>) {
    let tried = state.trial.as_ref().filter(|_| state.tries()).map(|trial| trial.outcomes.len());
    let to = to.clone();
    use_effect_with(tried, move |tried| {
        let next = tried.map(|_| Timeout::new(0, move || to.dispatch(Action::TryAttack)));
        move || drop(next)
    });
}

/// The label, the button that pins it, and what each attack did.
pub fn label(props: &Props) -> Html {
    let state = &props.state;
    let Some(pin) = state.lesson.pin.as_ref().filter(|_| state.level.is_none()) else {
        return html! {};
    };
    let trial = state.trial.as_deref();
    let tries = state.tries();
    let (class, word) = match trial {
        None => ("tag loose", strings::LOOSE),
        Some(trial) if !trial.stays() => ("tag fallen", strings::FALLEN),
        Some(_) if tries => ("tag", strings::HOLDS),
        Some(_) => ("tag", strings::STAYS),
    };
    let on = state.lesson.defences.iter().zip(state.lesson.design(&state.edits));
    let on: Vec<&str> = on.filter(|(_, on)| *on).map(|(d, _)| d.title.as_str()).collect();
    let to = props.to.clone();
    let onclick = Callback::from(move |_: MouseEvent| to.dispatch(Action::PinLabel));
    let all = pin.attacks.len();
    let attacks =
        (0..all).map(|i| attack(props, i, trial.and_then(|t| t.outcomes.get(i).copied())));
    let button = match trial {
        None => strings::pin_it(&pin.label),
        Some(_) => strings::PIN_AGAIN.into(),
    };
    html! {
        <section class="card pinning" id="pinning" aria-labelledby="pin-title">
            <h2 id="pin-title" tabindex="-1">{ strings::pin_title(&pin.label) }</h2>
            <p class="quiet">{ strings::pin_about(all) }</p>
            <p class="board"><span {class}><span class="hole" aria-hidden="true"></span>{ &pin.label }</span>{ " " }<strong>{ word }</strong></p>
            <p>{ strings::design(&on) }</p>
            <p><button type="button" class="plain" {onclick}>{ button }</button></p>
            <>if let Some(trial) = trial { { progress(state, trial.outcomes.len(), all) } }</>
            <ol class="attacks">{ for attacks }</ol>
            <>if let Some(trial) = trial.filter(|_| !tries) { <p class="came-of">{ state.came_of(trial) }</p> }</>
        </section>
    }
}

fn progress(state: &State, done: usize, all: usize) -> Html {
    if !state.tries() {
        return html! {};
    }
    let words = strings::attack_of(done + 1, all);
    html! {
        <p><progress aria-label={words.clone()} value={done.to_string()} max={all.to_string()}></progress>{ " " }{ words }</p>
    }
}

/// An attack, what it did to this design, and the way to its run.
fn attack(props: &Props, index: usize, outcome: Option<Outcome>) -> Html {
    let title = props.state.attack_title(index);
    let word = outcome.as_ref().map_or(strings::NOT_TRIED, sheet::withstood);
    let harm = outcome.is_some_and(|o| o.harmed());
    let to = props.to.clone();
    let onclick = Callback::from(move |_: MouseEvent| {
        to.dispatch(Action::ShowAttack(index));
        platform::focus("stage");
        platform::reveal("lesson");
    });
    html! {
        <li key={index}>
            <span>{ title }{ ": " }<span class={if harm { "harm" } else { "quiet" }}>{ word }</span></span>
            <>if outcome.is_some() {
                <button type="button" class="link" aria-label={strings::see_attack(title)} {onclick}>{ strings::SHOW_ATTACK }</button>
            }</>
        </li>
    }
}
