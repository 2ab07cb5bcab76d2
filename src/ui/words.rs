//! The left of the page: the story, the prediction, the defences; `hands` has what is done to the run.

use web_sys::{MouseEvent, SubmitEvent};
use yew::{Callback, Html, Properties, UseReducerDispatcher, component, html, use_state_eq};

use super::draw::Same;
use super::hands::edits;
use super::page::Model;
use super::part::part;
use super::state::{Action, Said, State, own_edits};
use super::strings;
use crate::lesson::{Block, Inline, Predict, Target};

const SURENESS: [u32; 3] = [50, 70, 90];

#[derive(Clone, Properties, PartialEq)]
pub struct Props {
    pub state: Same<State>,
    pub to: UseReducerDispatcher<Model>,
}

/// All of it, from the top down. Whatever has no state of its own here is a function: each component
/// costs the page ten kilobytes.
pub fn words(props: &Props) -> Html {
    html! {
        <>
            { story(props) }
            { prediction(props) }
            { closing(props) }
            { defences(props) }
            { edits(props) }
        </>
    }
}

/// The words of the beat at the head; before the first one, what opens the lesson.
fn story(props: &Props) -> Html {
    let (state, to) = (&props.state, &props.to);
    let lesson = &state.lesson;
    let beat = state.beat();
    let told = beat.and_then(|i| lesson.beats.get(i));
    let opening = || {
        html! {
            <>
                <p class="hook">{ &lesson.hook }</p>
                <>{ blocks(&lesson.intro, state, to) }</>
            </>
        }
    };
    if let Some(variant) = state.strayed() {
        return strayed(state, to, variant);
    }
    let other = state.turned.is_some_and(|i| !state.show.story.contains(&i));
    html! {
        <section class="story" aria-label={strings::STORY}>
            { turns(state, to) }
            <p class="kicker">
                if told.is_some() { { &lesson.title }{ " · " } }
                { strings::minutes(lesson.minutes) }
            </p>
            <h1>{ told.map_or(&lesson.title, |b| &b.title) }</h1>
            { elsewhere(state, to) }
            <div class={if other { "prose other" } else { "prose" }}>
                { told.map_or_else(opening, |b| blocks(&b.blocks, state, to)) }
            </div>
        </section>
    }
}

/// Where the run goes a way that nobody has told: said once, instead of words that are over.
fn strayed(state: &State, to: &UseReducerDispatcher<Model>, variant: usize) -> Html {
    let lesson = &state.lesson;
    let title = |i: usize| lesson.variants.get(i).map_or("", |v| v.title.as_str());
    let exact = own_edits(lesson, state.show.variant) == state.edits;
    let own = if exact { title(state.show.variant) } else { strings::YOUR_OWN_RUN };
    let to_other = to.clone();
    let onclick = Callback::from(move |_: MouseEvent| to_other.dispatch(Action::Variant(variant)));
    html! {
        <section class="story" aria-label={strings::STORY}>
            { turns(state, to) }
            <p class="kicker">{ &lesson.title }</p>
            <h1>{ own }</h1>
            <div class="prose">
                <p>{ strings::strayed(title(variant)) }</p>
                <p><button type="button" class="link" {onclick}>{ strings::SWITCH_RUN }</button></p>
            </div>
        </section>
    }
}

/// What to take along, once nothing is left to happen.
fn closing(props: &Props) -> Html {
    let state = &props.state;
    if !state.at_end() {
        return html! {};
    }
    let questions = state.lesson.recall.iter().enumerate().map(|(i, recall)| {
        html! {
            <details key={i}>
                <summary class="question">{ &recall.question }</summary>
                <p>{ &recall.answer }</p>
            </details>
        }
    });
    html! {
        <section class="card closing" id="closing" aria-labelledby="closing-title">
            <h2 id="closing-title">{ strings::RECALL }</h2>
            { for questions }
            <h2>{ strings::SAY }</h2>
            <p class="say">{ &state.lesson.say }</p>
        </section>
    }
}

/// For a beat that this run does not come to: why, and the way to the run that does.
fn elsewhere(state: &State, to: &UseReducerDispatcher<Model>) -> Html {
    let Some(beat) = state.turned else { return html! {} };
    let lesson = &state.lesson;
    let Some(told) = lesson.beats.get(beat) else { return html! {} };
    let variant = lesson.variants.iter().position(|v| v.name == told.variant);
    let Some(index) = variant else { return html! {} };
    let title = lesson.variants.get(index).map_or("", |v| v.title.as_str());
    let to = to.clone();
    let onclick = Callback::from(move |_: MouseEvent| {
        to.dispatch(Action::Variant(index));
        to.dispatch(Action::Beat(beat));
    });
    html! {
        <p class="note">
            { strings::about_run(title) }{ " " }
            <button type="button" class="link" {onclick}>{ strings::SWITCH_RUN }</button>
        </p>
    }
}

fn turns(state: &State, to: &UseReducerDispatcher<Model>) -> Html {
    let turn = |forward: bool, word: &'static str| {
        let beat = state.neighbour(forward);
        let begins = !forward && beat.is_none() && state.beat().is_some();
        let ends = forward && beat.is_none() && !state.at_end();
        let to = to.clone();
        let onclick = Callback::from(move |_: MouseEvent| match beat {
            Some(beat) => to.dispatch(Action::Beat(beat)),
            None if begins => to.dispatch(Action::Start),
            None if ends => {
                to.dispatch(Action::End);
                super::platform::reveal("closing");
            }
            None => {}
        });
        // Disabled buttons would lose the focus of whoever presses them last.
        let off = (beat.is_none() && !begins && !ends).then_some("true");
        html! { <button type="button" class="plain" aria-disabled={off} {onclick}>{ word }</button> }
    };
    let all = state.lesson.beats.len();
    if all == 0 {
        return html! {};
    }
    let (first, place) = match state.beat() {
        Some(beat) if beat + 1 == all => (strings::TO_END, strings::beat_of(all, all)),
        Some(beat) => (strings::NEXT, strings::beat_of(beat + 1, all)),
        None => (strings::BEGIN, strings::beat_of(0, all)),
    };
    html! {
        <div class="turns" role="group" aria-label={strings::STORY}>
            { turn(false, strings::PREVIOUS) }
            <span class="quiet">{ place }</span>
            { turn(true, first) }
        </div>
    }
}

pub fn blocks(list: &[Block], state: &State, to: &UseReducerDispatcher<Model>) -> Html {
    let block = |block: &Block| match block {
        Block::Paragraph(line) => html! { <p>{ inlines(line, state, to) }</p> },
        Block::List(items) => html! { <ul>{ list_items(items, state, to) }</ul> },
        Block::Steps(items) => html! { <ol>{ list_items(items, state, to) }</ol> },
        Block::Code(text) => html! { <pre tabindex="0"><code>{ text }</code></pre> },
        Block::Quote(inner) => html! { <blockquote>{ blocks(inner, state, to) }</blockquote> },
    };
    list.iter().map(block).collect()
}

fn list_items(items: &[Vec<Block>], state: &State, to: &UseReducerDispatcher<Model>) -> Html {
    items.iter().map(|item| html! { <li>{ blocks(item, state, to) }</li> }).collect()
}

fn inlines(line: &[Inline], state: &State, to: &UseReducerDispatcher<Model>) -> Html {
    let inline = |inline: &Inline| match inline {
        Inline::Text(text) => html! { text },
        Inline::Emphasis(inner) => html! { <em>{ inlines(inner, state, to) }</em> },
        Inline::Strong(inner) => html! { <strong>{ inlines(inner, state, to) }</strong> },
        Inline::Code(text) => html! { <code>{ text }</code> },
        Inline::Link(Target::Lesson(id), inner) => {
            html! { <a href={format!("#/lesson/{id}")}>{ inlines(inner, state, to) }</a> }
        }
        Inline::Link(Target::Run(name), inner) => {
            let variant = state.lesson.variants.iter().position(|v| v.name == *name);
            let sender = to.clone();
            let onclick = Callback::from(move |_: MouseEvent| {
                if let Some(variant) = variant {
                    sender.dispatch(Action::Variant(variant));
                }
            });
            html! { <button type="button" class="link" {onclick}>{ inlines(inner, state, to) }</button> }
        }
        Inline::Evidence(_) => html! {},
        Inline::Link(Target::Beat(id), inner) => {
            let beat = state.lesson.beats.iter().position(|b| b.id == *id);
            let sender = to.clone();
            let onclick = Callback::from(move |_: MouseEvent| {
                if let Some(beat) = beat {
                    sender.dispatch(Action::Beat(beat));
                }
            });
            html! { <button type="button" class="link" {onclick}>{ inlines(inner, state, to) }</button> }
        }
    };
    line.iter().map(inline).collect()
}

/// The question that is open at the head: chosen, committed, and answered by the run.
fn prediction(props: &Props) -> Html {
    let state = &props.state;
    let Some(index) = state.question() else { return html! {} };
    let Some(question) = state.lesson.predictions.get(index) else { return html! {} };
    let said = state.said.get(index).copied().flatten();
    let shown = state.answered(index);
    let body = match said {
        None => {
            part::<Ask>(index, AskProps { state: props.state.clone(), to: props.to.clone(), index })
        }
        Some(said) => html! {
            <>
                <p class="question">{ &question.question }</p>
                <p><strong>{ strings::you_said(answer(question, said.answer), said.sure) }</strong></p>
                if shown { { outcome(state, question) } } else { <p class="quiet">{ strings::RUN_DECIDES }</p> }
            </>
        },
    };
    html! {
        <section class="card" id="predict" aria-labelledby="predict-title">
            <h2 id="predict-title">{ strings::PREDICT }</h2>
            { body }
        </section>
    }
}

fn answer(question: &Predict, index: usize) -> &str {
    question.answers.get(index).map_or("", |a| a.text.trim_end_matches('.'))
}

fn outcome(state: &State, question: &Predict) -> Html {
    let words = match state.show.answer(question) {
        Some(index) => strings::run_says(answer(question, index)),
        None => strings::NONE_OF_THESE.to_string(),
    };
    html! { <><p>{ words }</p><p class="quiet">{ &question.why }</p></> }
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
                to.dispatch(Action::Commit(index, Said { answer, sure }));
                // The form goes away with its button; the focus moves on to where things go on.
                super::platform::focus("stage");
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
            <button type="submit" class="plain" disabled={chosen.is_none()}>{ strings::COMMIT }</button>
        </form>
    }
}

/// Switches: each adds or removes one edit, and the same schedule runs again.
fn defences(props: &Props) -> Html {
    let state = &props.state;
    if state.lesson.defences.is_empty() {
        return html! {};
    }
    let switches = state.lesson.defences.iter().enumerate().map(|(i, defence)| {
        let on = state.edits.contains(&defence.edit.text);
        let to = props.to.clone();
        let onclick = Callback::from(move |_: MouseEvent| to.dispatch(Action::Defend(i)));
        html! {
            <button type="button" key={i} role="switch" class="switch" aria-checked={on.to_string()} {onclick}>
                <span>{ &defence.title }</span>
                <span class="knob" aria-hidden="true"></span>
            </button>
        }
    });
    html! {
        <section class="defences" aria-labelledby="defences-title">
            <h2 id="defences-title">{ strings::DEFENCES }<span class="quiet">{ " · " }{ strings::DEFENCES_NOTE }</span></h2>
            <div>{ for switches }</div>
        </section>
    }
}
