//! The right of the page: what each one knows, a client's program, what happened.

use yew::{Callback, Html, Properties, UseReducerDispatcher, component, html, use_state_eq};

use super::draw::Same;
use super::page::Model;
use super::part::part;
use super::show::Size;
use super::state::{Action, State};
use super::strings;
use crate::narrate;
use crate::run::{NodeKind, Run};
use crate::sim::{EventId, TaskState};

/// How many sentences are drawn at once.
const PAGE: usize = 150;

#[derive(Clone, Properties, PartialEq)]
pub struct Props {
    pub state: Same<State>,
    pub to: UseReducerDispatcher<Model>,
}

/// Three small tables, one a node, with what the last step changed marked in words.
pub fn knowledge(props: &Props) -> Html {
    let state = &props.state;
    let (show, head) = (&state.show, state.head);
    let now = narrate::knows(&show.run, &show.world(head));
    let before = show.stepped(head, Size::Event, false);
    let then = narrate::knows(&show.run, &show.world(before));
    let groups = now.iter().enumerate().map(|(i, knows)| {
        let old = then.get(i).map(|k| k.lines.as_slice()).unwrap_or_default();
        let label = show.run.names().node(knows.node).label.clone();
        // What a program does stands beside the program, unless there is nothing else to say.
        let only = knows.lines.len() < 2;
        let lines = knows.lines.iter().filter(|l| only || l.0 != narrate::PROGRAM);
        let lines: Vec<_> = lines.collect();
        let count = lines.len().to_string();
        let rows = lines.into_iter().enumerate().map(|(row, (what, value))| {
            let changed = !old.iter().any(|(w, v)| w == what && v == value);
            html! {
                <tr key={row}>
                    if row == 0 {
                        <th scope="rowgroup" rowspan={count.clone()}>{ &label }</th>
                    }
                    <td>
                        <span class="quiet">{ what }</span>{ " " }{ value }
                        if changed {
                            <span class="changed">{ " ▲" }<span class="aloud">{ " changed" }</span></span>
                        }
                    </td>
                </tr>
            }
        });
        html! { <tbody key={knows.node.0}>{ for rows }</tbody> }
    });
    html! {
        <section class="panel shrinks" aria-labelledby="knows-title">
            <h2 id="knows-title">{ strings::KNOWS }</h2>
            <div class="scrolls" tabindex="0" role="group" aria-labelledby="knows-title">
                <table class="knows" aria-labelledby="knows-title">{ for groups }</table>
            </div>
        </section>
    }
}

/// A client's program, line by line, with the line that it is at.
pub fn program(props: &Props) -> Html {
    let state = &props.state;
    let clients: Vec<_> = state.nodes().into_iter().filter(|n| n.2 == NodeKind::Client).collect();
    let chosen = clients.iter().find(|c| c.0 == state.program).or_else(|| clients.first());
    let Some((client, label, _)) = chosen.cloned() else { return html! {} };
    let world = state.show.world(state.head);
    let place = usize::from(client.0);
    let names = state.show.run.names();
    let programs = names.programs.get(place).map(Vec::as_slice).unwrap_or_default();
    let tasks = names.tasks.get(place).map(Vec::as_slice).unwrap_or_default();
    let lists = programs.iter().enumerate().map(|(task, lines)| {
        let at = world.task(client, task);
        let runs = at.as_ref().is_some_and(|(s, _)| !matches!(s, TaskState::Idle | TaskState::Ended));
        let down = world.is_down(client);
        let started = state.head.event.is_some();
        let here = at.and_then(|(s, pc)| line_of(s, pc)).filter(|_| runs && !down && started);
        let items = lines.iter().enumerate().map(|(i, line)| {
            let current = here == Some(i);
            html! {
                <li key={i} class={current.then_some("current")} aria-current={current.then_some("step")}>
                    <code>{ line }</code>
                </li>
            }
        });
        let title = tasks.get(task).cloned().unwrap_or_default();
        html! {
            <div key={task}>
                if programs.len() > 1 { <h3>{ title }</h3> }
                <ol class="program">{ for items }</ol>
            </div>
        }
    });
    // What it is doing stands here, beside the line that it is at.
    let knows = narrate::knows(&state.show.run, &world);
    let own = knows.iter().find(|k| k.node == client);
    let doing = own.and_then(|k| k.lines.iter().find(|l| l.0 == narrate::PROGRAM));
    let choose = clients.iter().map(|(node, name, _)| {
        let (to, node) = (props.to.clone(), *node);
        let onclick = Callback::from(move |_| to.dispatch(Action::Program(node)));
        let pressed = (node == client).to_string();
        html! { <button type="button" key={node.0} aria-pressed={pressed} {onclick}>{ name }</button> }
    });
    html! {
        <section class="panel" aria-labelledby="program-title">
            <div class="panel-head">
                <h2 id="program-title">{ strings::PROGRAM }</h2>
                <div class="segments small" role="group" aria-label={strings::PROGRAM}>{ for choose }</div>
            </div>
            <p class="doing">{ doing.map(|d| d.1.clone()) }</p>
            <div class="programs scrolls" tabindex="0" role="group" aria-label={strings::program_of(&label)}>{ for lists }</div>
        </section>
    }
}

/// The line that a task is at: what waits has already been counted as begun.
fn line_of(state: &TaskState, next: usize) -> Option<usize> {
    match state {
        TaskState::Working(..) | TaskState::Sleeping(_) | TaskState::Waiting(_) => {
            next.checked_sub(1)
        }
        TaskState::Idle | TaskState::Ready | TaskState::Ended => Some(next),
    }
}

/// What happened so far, one sentence an event, each a way to go there.
#[component]
pub fn Log(props: &Props) -> Html {
    let state = &props.state;
    let decisions = use_state_eq(|| false);
    let pages = use_state_eq(|| 1_usize);
    let list = if *decisions { &state.show.decisions } else { &state.show.stops };
    let past = state.head.event.map_or(0, |e| list.partition_point(|s| *s <= e));
    let first = past.saturating_sub(PAGE * *pages);
    let entries: Vec<u32> = list.get(first..past).map(<[u32]>::to_vec).unwrap_or_default();
    let filter = |only: bool, word: &'static str| {
        let setter = decisions.setter();
        let onclick = Callback::from(move |_| setter.set(only));
        let pressed = (*decisions == only).to_string();
        html! { <button type="button" key={word} aria-pressed={pressed} {onclick}>{ word }</button> }
    };
    let more = {
        let pages = pages.clone();
        Callback::from(move |_| pages.set(*pages + 1))
    };
    let run = Same(state.show.run.clone());
    let newest = entries.last().copied();
    let items = entries.into_iter().map(|event| {
        let current = newest == Some(event);
        part::<Entry>(event, EntryProps { run: run.clone(), event, current, to: props.to.clone() })
    });
    html! {
        <section class="panel log" aria-labelledby="log-title">
            <div class="panel-head">
                <h2 id="log-title">{ strings::HAPPENED }</h2>
                <div class="segments small" role="group" aria-label={strings::SHOW}>
                    { filter(false, strings::ALL) }
                    { filter(true, strings::DECISIONS) }
                </div>
            </div>
            if past == 0 { <p class="quiet">{ strings::NOTHING_YET }</p> }
            if first > 0 {
                <button type="button" class="link" onclick={more}>{ strings::EARLIER }</button>
            }
            <div class="log-scroll"><ol class="entries">{ for items }</ol></div>
        </section>
    }
}

#[derive(Properties, PartialEq)]
struct EntryProps {
    run: Same<Run>,
    event: u32,
    current: bool,
    to: UseReducerDispatcher<Model>,
}

#[component]
fn Entry(props: &EntryProps) -> Html {
    let (to, event) = (props.to.clone(), props.event);
    let onclick = Callback::from(move |_| to.dispatch(Action::GoTo(Some(event))));
    let at = props.run.record.events.get(event as usize).map(|e| e.at).unwrap_or_default();
    html! {
        <li aria-current={props.current.then_some("step")}>
            <button type="button" {onclick}>
                <span class="time">{ narrate::moment(at) }</span>{ " " }
                <span>{ narrate::sentence(&props.run, EventId(event)) }</span>
            </button>
        </li>
    }
}
