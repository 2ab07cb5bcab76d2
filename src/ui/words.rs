//! The left of the page: the story and the defences; `tasks` has what there is to do, `ask` the
//! predictions, `hands` what is done to the run.

use web_sys::MouseEvent;
use yew::{Callback, Html, Properties, UseReducerDispatcher, component};

use super::ask::prediction;
use super::branches::Branches;
use super::draw::{Same, node};
use super::grounds::rule;
use super::hands::{edits, runs};
use super::label::label;
use super::page::Model;
use super::part::part;
use super::platform;
use super::points::debate;
use super::proof::{self, Prover};
use super::state::{Action, State, own_edits};
use super::strings;
use super::tag::html;
use super::tasks::{by_hand, levels, task, yours};
use super::trays::{back, cards};
use super::versus::Against;
use crate::lesson::{Beat, Block, Inline, Lesson, Machine, Target, Variant};
use crate::run::{Ground, Run};
use crate::sheet::{reported, to_type};
use crate::systems::{RESOURCE_RULES, Rules};

#[derive(Clone, Properties, PartialEq)]
pub struct Props {
    pub state: Same<State>,
    pub to: UseReducerDispatcher<Model>,
}

/// All of it, from the top down. Whatever has no state of its own here is a function, because each
/// component adds to what is downloaded.
pub fn words(props: &Props, prover: &Same<Prover>) -> Html {
    let state = &props.state;
    // Whoever is asked what happened looks at the picture, not at the words that explain it.
    let sorting = state.level.is_none() && state.cards.sorting.is_some();
    let story_told = state.level.is_none() && !sorting;
    let grounds = GroundsProps {
        lesson: Same(state.lesson.clone()),
        run: Same(state.show.run.clone()),
        to: props.to.clone(),
    };
    html! {
        <>
            { levels(props) }
            { task(props) }
            if state.level.is_some() { { by_hand(props) } }
            if sorting { { back(props) } }
            if story_told { { story(props) } }
            { prediction(props) }
            if state.question().is_none() { { cards(props) } { debate(props) } }
            if !sorting { { closing(props) } }
            { defences(props) }
            { label(props) }
            { edits(props) }
            if state.level.is_none() { { by_hand(props) } }
            <div class="folds">
                <details id="runs">
                    <summary><h2>{ strings::RUNS }{ strings::made(state.made()) }</h2></summary>
                    { runs(props) }
                    { part::<Branches>("branches", props.clone()) }
                </details>
                { proof::section(&props.state, &props.to, prover) }
                { part::<Grounds>("grounds", grounds) }
            </div>
        </>
    }
}

#[derive(Properties, PartialEq)]
struct GroundsProps {
    lesson: Same<Lesson>,
    run: Same<Run>,
    to: UseReducerDispatcher<Model>,
}

/// What the lesson stands on: machines to try it on, and rules with their evidence. No step changes it.
#[component]
fn Grounds(props: &GroundsProps) -> Html {
    html! { <>{ machines(&props.lesson, &props.to) }{ rules(&props.run) }</> }
}

/// What to type on a machine of one's own, each with a button that copies it.
fn machines(lesson: &Lesson, to: &UseReducerDispatcher<Model>) -> Html {
    if lesson.machines.is_empty() {
        return html! {};
    }
    let each = |machine: &Machine| {
        let (to, text) = (to.clone(), machine.script());
        let onclick = Callback::from(move |_: MouseEvent| {
            let (to, text) = (to.clone(), text.clone());
            wasm_bindgen_futures::spawn_local(async move {
                let copied = platform::copy(text).await;
                let words = if copied { strings::LINES_COPIED } else { strings::NOT_ALLOWED };
                to.dispatch(Action::Notice(words));
            });
        });
        html! {
            <>
                <h3>{ &machine.title }</h3>
                <p>{ &machine.needs }</p>
                { node(&to_type(machine)) }
                <button type="button" class="plain" {onclick}>{ strings::COPY_LINES }</button>
            </>
        }
    };
    html! {
        <details class="rules">
            <summary><h2>{ strings::MACHINE }</h2></summary>
            { for lesson.machines.iter().map(each) }
        </details>
    }
}

/// The rules that the lock service and the resource keep, each with a badge that leads to where it comes
/// from.
fn rules(run: &Run) -> Html {
    let list = |rules: &'static Rules| {
        html! { <><h3>{ rules.title }</h3><ul>{ for Ground::each(rules).map(|g| rule(&g)) }</ul></> }
    };
    let of_system = run.names().rules.iter();
    html! {
        <details class="rules">
            <summary><h2>{ strings::RULES }</h2></summary>
            <p class="quiet"><a href="evidence/index.html" target="_blank" rel="noopener">{ strings::ALL_EVIDENCE }</a></p>
            { for of_system.chain([&RESOURCE_RULES]).map(list) }
        </details>
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
                { for lesson.report.as_ref().map(|report| node(&reported(report))) }
                <>{ blocks(&lesson.intro, state, to) }</>
                { evidence(&lesson.intro, state) }
            </>
        }
    };
    let elsewhere_told = |i: usize| !state.show.story.contains(&i) && !state.speaks_of_this_run(i);
    if state.toward.is_some() || state.looking().is_some() {
        // A question comes first: these words would be about another part of the story, or answer it.
        return html! {
            <section class="story" id="told" aria-label={strings::STORY}>
                <p class="kicker">{ kicker(state, true) }</p>
                { turns(state, to) }
            </section>
        };
    }
    if let Some(variant) = state.strayed() {
        return strayed(state, to, variant);
    }
    if let (Some(variant), Some(beat)) = (state.followed(), told) {
        return followed(state, to, variant, beat);
    }
    let other = state.turned.is_some_and(elsewhere_told);
    html! {
        <section class="story" aria-label={strings::STORY}>
            <p class="kicker">{ kicker(state, told.is_some()) }</p>
            { turns(state, to) }
            <h1>{ told.map_or(&lesson.title, |b| &b.title) }</h1>
            { elsewhere(state, to) }
            <div class={if other { "prose other" } else { "prose" }}>
                { told.map_or_else(opening, |b: &Beat| html! {
                    <>
                        { blocks(&b.blocks, state, to) }
                        { evidence(&b.blocks, state) }
                    </>
                }) }
            </div>
        </section>
    }
}

/// A run that a link led to: what it shows, the other links beside that one, and the way back.
fn followed(
    state: &State,
    to: &UseReducerDispatcher<Model>,
    variant: &Variant,
    beat: &Beat,
) -> Html {
    let own = state.lesson.variants.iter().position(|v| v.name == beat.variant);
    let to_own = to.clone();
    let onclick = Callback::from(move |_: MouseEvent| {
        own.iter().for_each(|own| to_own.dispatch(Action::Follow(*own)));
        // The button goes away with its press.
        platform::focus("words");
    });
    html! {
        <section class="story" aria-label={strings::STORY}>
            <p class="kicker">{ kicker(state, true) }</p>
            { turns(state, to) }
            <h1>{ &variant.title }</h1>
            <div class="prose">
                { shown_there(variant, beat, state, to) }
                <p><button type="button" class="link" {onclick}>{ strings::back_to(&beat.title) }</button></p>
            </div>
        </section>
    }
}

/// What a run shows that a link of a beat led to, and the other links beside that one.
pub fn shown_there(
    variant: &Variant,
    beat: &Beat,
    state: &State,
    to: &UseReducerDispatcher<Model>,
) -> Html {
    let rows: Vec<Block> = beat.blocks.iter().filter(|b| b.is_row()).cloned().collect();
    html! {
        <>
            <p>{ variant.shows.as_deref().unwrap_or_default() }</p>
            { blocks(&rows, state, to) }
        </>
    }
}

/// Which lesson this is: its number, its title where that is not the heading below, and its minutes.
pub fn kicker(state: &State, titled: bool) -> String {
    let lesson = &state.lesson;
    strings::kicker(lesson.number, titled.then_some(&lesson.title), lesson.minutes)
}

/// Where the run goes a way that nobody has told: said once, instead of words that are over.
fn strayed(state: &State, to: &UseReducerDispatcher<Model>, variant: usize) -> Html {
    let lesson = &state.lesson;
    let title = |i: usize| lesson.variants.get(i).map_or("", |v| v.title.as_str());
    let exact = own_edits(lesson, state.show.variant) == state.edits;
    let own = if exact { title(state.show.variant) } else { strings::YOUR_OWN_RUN };
    let to_other = to.clone();
    let onclick = Callback::from(move |_: MouseEvent| {
        to_other.dispatch(Action::Variant(variant));
        // The button goes away with its press.
        platform::focus("lesson");
    });
    html! {
        <section class="story" aria-label={strings::STORY}>
            <p class="kicker">{ kicker(state, true) }</p>
            { turns(state, to) }
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
    if !state.at_end() || state.level.is_some() {
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
        <section class="card closing" id="closing" aria-label={strings::TAKE_ALONG}>
            if !state.lesson.predictions.is_empty() {
                { yours(props) }
            }
            if !state.lesson.recall.is_empty() {
                <h2>{ strings::RECALL }</h2>
            }
            { for questions }
            <h2>{ strings::SAY }</h2>
            <p class="say">{ &state.lesson.say }</p>
            <p><a href="#/">{ strings::ALL_LESSONS }</a></p>
        </section>
    }
}

/// For a beat that this run does not come to: why, and the way to the run that does.
fn elsewhere(state: &State, to: &UseReducerDispatcher<Model>) -> Html {
    let Some(beat) = state.turned.filter(|b| !state.speaks_of_this_run(*b)) else {
        return html! {};
    };
    let lesson = &state.lesson;
    let Some(told) = lesson.beats.get(beat) else { return html! {} };
    let variant = lesson.variants.iter().position(|v| v.name == told.variant);
    let Some(index) = variant else { return html! {} };
    let title = lesson.variants.get(index).map_or("", |v| v.title.as_str());
    let to = to.clone();
    let onclick = Callback::from(move |_: MouseEvent| {
        to.dispatch(Action::Variant(index));
        to.dispatch(Action::Beat(beat));
        platform::focus("words");
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
        let ends = forward && beat.is_none();
        let to = to.clone();
        let able = beat.is_some() || begins || ends;
        let onclick = Callback::from(move |_: MouseEvent| {
            if able {
                to.dispatch(Action::Next(forward));
            }
            if ends {
                platform::reveal("closing");
            }
        });
        // Disabled buttons would lose the focus of whoever presses them last.
        let off = (!able).then_some("true");
        html! { <button type="button" class="plain" aria-disabled={off} {onclick}>{ word }</button> }
    };
    let all = state.lesson.beats.len();
    if all == 0 {
        return html! {};
    }
    let (first, place) = match state.toward.map_or(state.beat(), |b| b.checked_sub(1)) {
        Some(beat) if beat + 1 == all => {
            let word = if state.at_end() { strings::TAKE_ALONG } else { strings::TO_END };
            (word, strings::beat_of(all, all))
        }
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

/// What stands behind the marks of some words: each is opened by its mark.
fn evidence(list: &[Block], state: &State) -> Html {
    let all = state.lesson.evidence.iter();
    all.filter(|e| list.iter().any(|b| b.refers_to(&e.id))).map(|e| source(&e.id, state)).collect()
}

/// What stands behind the mark of this evidence.
pub fn source(id: &str, state: &State) -> Html {
    let Some(e) = state.lesson.evidence.iter().find(|e| e.id == id) else { return html! {} };
    html! {
        <div key={e.id.clone()} popover="auto" class="evidence" id={format!("evidence-{}", e.id)}>
            <p><strong>{ e.kind.word() }</strong>{ ": " }{ strings::basis(e.kind) }</p>
            <p>{ &e.says }</p>
            <p class="quiet">{ &e.place }</p>
        </div>
    }
}

pub fn blocks(list: &[Block], state: &State, to: &UseReducerDispatcher<Model>) -> Html {
    let block = |block: &Block| match block {
        Block::Paragraph(line) if block.is_row() => {
            html! { <p class="run-row">{ inlines(line, state, to) }</p> }
        }
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

/// The mark behind a claim: what kind of evidence there is, one click from it.
pub fn mark(id: &str, state: &State) -> Html {
    let Some(evidence) = state.lesson.evidence.iter().find(|e| e.id == id) else { return html! {} };
    let word = evidence.kind.word();
    html! {
        <button type="button" class="badge" popovertarget={format!("evidence-{id}")}
            aria-label={strings::where_from(word)}>{ word }</button>
    }
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
        Inline::Link(target, inner) => {
            let lesson = &state.lesson;
            let (action, pressed) = match target {
                Target::Beat(id) => {
                    (lesson.beats.iter().position(|b| b.id == *id).map(Action::Beat), None)
                }
                Target::Run(name) => {
                    let variant = lesson.variants.iter().position(|v| v.name == *name);
                    let now = variant.is_some_and(|v| own_edits(lesson, v) == state.edits)
                        && variant == Some(state.show.variant);
                    (variant.map(Action::Follow), Some(now.to_string()))
                }
                Target::Level(level) => (Some(Action::Level(Some(*level))), None),
                Target::Lesson(_) => (None, None),
            };
            let sender = to.clone();
            let onclick = Callback::from(move |_: MouseEvent| {
                action.iter().for_each(|action| sender.dispatch(action.clone()));
                if matches!(action, Some(Action::Level(_))) {
                    // These words go away; the focus moves on to what takes their place.
                    platform::focus_soon("task-title");
                }
            });
            let words = inlines(inner, state, to);
            html! { <button type="button" class="link" aria-pressed={pressed} {onclick}>{ words }</button> }
        }
        Inline::Evidence(id) => mark(id, state),
    };
    line.iter().map(inline).collect()
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
        let to = props.to.clone();
        let compare = Callback::from(move |_: MouseEvent| {
            to.dispatch(Action::Compare(Some(Against::Defence(i))));
        });
        html! {
            <div key={i} class="defence">
                <button type="button" role="switch" class="switch" aria-checked={on.to_string()} {onclick}>
                    <span>{ &defence.title }</span>
                    <span class="knob" aria-hidden="true"></span>
                </button>
                <button type="button" class="link versus-link" aria-haspopup="dialog" onclick={compare}
                    aria-label={strings::compare_on_and_off(&defence.title)}>{ strings::COMPARE }</button>
            </div>
        }
    });
    html! {
        <section class="defences" aria-labelledby="defences-title">
            <h2 id="defences-title">{ strings::DEFENCES }<span class="quiet">{ " · " }{ strings::DEFENCES_NOTE }</span></h2>
            <div>{ for switches }</div>
        </section>
    }
}
