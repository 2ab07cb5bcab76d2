//! The cards of a lesson: one on top, two trays, and what the runs make of it.

use web_sys::MouseEvent;
use yew::{Callback, Html};

use super::platform;
use super::state::Action;
use super::strings;
use super::tag::html;
use super::words::Props;
use crate::lesson::Class;

/// Wasteful first: nobody guesses from the order.
const TRAYS: [Class; 2] = [Class::Efficiency, Class::Correctness];

/// A button that does something to the cards, and leaves the focus at their title.
fn button(props: &Props, class: &'static str, words: &str, action: Action) -> Html {
    let to = props.to.clone();
    let onclick = Callback::from(move |_: MouseEvent| {
        to.dispatch(action.clone());
        platform::focus_soon("cards-title");
    });
    html! { <button type="button" {class} {onclick}>{ words }</button> }
}

/// The card on top with what was said of it, and the trays under it.
pub fn cards(props: &Props) -> Html {
    let state = &props.state;
    let all = state.lesson.cards.len();
    let Some((card, said)) = state.card().filter(|_| state.level.is_none()) else {
        return html! {};
    };
    let top = state.cards.top;
    let go = |words, to: usize| button(props, "plain", words, Action::Deal(to));
    let body = match said {
        None => html! {
            <div role="group" aria-label={strings::ASK_TRAY}>
                <p>{ strings::ASK_TRAY }</p>
                <p class="sorting">
                    { for TRAYS.map(|t| button(props, "plain", strings::tray(t), Action::Sort(t))) }
                </p>
            </div>
        },
        Some(said) => html! {
            <>
                <p><strong>{ strings::sorted(said, card.tray) }</strong></p>
                <p class="quiet">{ &card.why }</p>
            </>
        },
    };
    // While cards are sorted, no story stands above them.
    let words = strings::card_of(top + 1, all);
    let title = match state.cards.sorting {
        Some(_) => html! { <h1 id="cards-title" tabindex="-1">{ words }</h1> },
        None => html! { <h2 id="cards-title" tabindex="-1">{ words }</h2> },
    };
    html! {
        <section class="card sort" aria-labelledby="cards-title">
            { title }
            <p class="question">{ &card.text }</p>
            { body }
            <p class="sorting">
                if top > 0 { { go(strings::CARD_BEFORE, top - 1) } }
                if top + 1 < all { { go(strings::NEXT_CARD, top + 1) } }
            </p>
            { result(props) }
            <div class="trays">{ for TRAYS.map(|t| tray(props, t)) }</div>
        </section>
    }
}

/// What was put into a tray; each card leads back to its run.
fn tray(props: &Props, tray: Class) -> Html {
    let state = &props.state;
    let cards = state.tray(tray).into_iter().map(|card| {
        html! {
            <li key={card}>
                { button(props, "link", state.card_title(card), Action::Deal(card)) }
                if !state.agrees(card) { <span class="quiet">{ strings::RUN_DIFFERS }</span> }
            </li>
        }
    });
    let name = strings::tray(tray);
    html! { <div><p><strong>{ name }</strong></p><ul aria-label={name}>{ for cards }</ul></div> }
}

/// Once all are sorted: how often the runs agree, and where they do not, what makes one say so.
fn result(props: &Props) -> Html {
    let state = &props.state;
    let all = state.lesson.cards.len();
    if !state.cards.done() {
        return html! {};
    }
    let agreed = (0..all).filter(|card| state.agrees(*card)).count();
    let stumbled = state.stumbled();
    html! {
        <>
            <p><strong>{ strings::agreed(agreed, all) }</strong></p>
            { for stumbled.iter().map(|(belief, titles)| html! {
                <p>{ strings::stumbled(titles, belief) }</p>
            }) }
        </>
    }
}

/// While cards are sorted: the way back to the story.
pub fn back(props: &Props) -> Html {
    let to = props.to.clone();
    let onclick = Callback::from(move |_: MouseEvent| {
        to.dispatch(Action::Story);
        platform::focus("words");
    });
    html! {
        <div class="turns">
            <button type="button" class="plain" {onclick}>{ strings::STORY_AGAIN }</button>
        </div>
    }
}
