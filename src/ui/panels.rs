//! The right of the page: what each one knows, a client's program, what happened.

use std::rc::Rc;

use gloo_timers::callback::Timeout;
use web_sys::MouseEvent;
use yew::{
    Callback, Html, Properties, UseReducerDispatcher, component, hook, props, use_effect_with,
    use_force_update, use_memo, use_mut_ref, use_state_eq,
};

use super::draw::{Choice, ChoiceProps, Same};
use super::grounds::behind;
use super::look::See;
use super::page::Model;
use super::part::part;
use super::platform;
use super::show::Size;
use super::sight::{answer, eyes_button, eyes_log, sees};
use super::state::{Action, State};
use super::strings;
use super::tag::html;
use crate::narrate;
use crate::run::{NodeKind, Run};
use crate::sim::{EventId, ProcId, TaskState, World};
use crate::systems::Locks;

/// How many sentences are drawn at once.
pub const PAGE: usize = 100;
/// As long as a long run is scrubbed, only so many: more than are in sight.
const FEW: usize = 15;
/// From so many sentences to another is no step but a jump.
const JUMP: usize = 20;
/// More clients than this are told by the place that their programs are at, and a server has so many lines.
const MANY: usize = 8;
/// More clients than this have no room for a button each above a program.
const BUTTONS: usize = 4;
/// How long the head must rest until all are drawn, in milliseconds.
const RESTS: u32 = 400;

#[derive(Clone, Properties, PartialEq)]
pub struct Props {
    pub state: Same<State>,
    pub to: UseReducerDispatcher<Model>,
}

/// Three small tables, one a node, with what the last step changed marked in words.
pub fn knowledge(props: &Props) -> Html {
    let state = &props.state;
    let show = &state.show;
    let names = show.run.names();
    // Through the eyes of one there is nobody else to make room for.
    let crowd = names.of_kind(NodeKind::Client).count() > MANY && state.look.eyes.is_none();
    let told = |node: &ProcId| match &state.look.eyes {
        Some(eyes) => eyes.node == *node,
        None => !crowd || state.program == *node || names.node(*node).kind != NodeKind::Client,
    };
    let nodes = (0..names.nodes.len()).map(|lane| ProcId(lane as u16)).filter(told);
    let groups = nodes.map(|node| {
        let [knows, then] = known(state, node);
        let (old, label) = (&then.lines, &names.node(node).label);
        let (to, selected) = (props.to.clone(), state.program == node);
        let choose = Callback::from(move |_: MouseEvent| to.dispatch(Action::Select(node)));
        // What a program does stands beside the program, unless there is nothing else to say.
        let only = knows.lines.len() < 2;
        let lines = knows.lines.iter().filter(|l| only || l.0 != narrate::PROGRAM);
        let mut lines: Vec<_> = lines.collect();
        let more = if selected || !crowd { 0 } else { lines.len().saturating_sub(MANY) };
        lines.truncate(lines.len() - more);
        let count = (lines.len() + usize::from(more > 0)).to_string();
        // Of a long queue it is said how many more stand in it, not how many lines there are.
        let queued = knows.seats.iter().filter(|place| **place >= lines.len()).count();
        let rest = (more > 0).then(|| {
            let words = if queued > 0 { strings::more_queued(queued) } else { strings::more_lines(more) };
            html! { <tr key="more"><td class="quiet">{ words }</td></tr> }
        });
        let rows = lines.into_iter().enumerate().map(|(row, (what, value))| {
            let changed = !old.iter().any(|(w, v)| w == what && v == value);
            html! {
                <tr key={row}>
                    if row == 0 {
                        <th scope="rowgroup" rowspan={count.clone()}>
                            <button type="button" aria-pressed={selected.to_string()} onclick={choose.clone()}>{ label }</button>
                        </th>
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
        html! { <tbody key={node.0}>{ for rows.chain(rest) }</tbody> }
    });
    html! {
        <section class="panel shrinks" aria-labelledby="knows-title">
            <h2 id="knows-title">{ strings::KNOWS }</h2>
            <section class="scrolls" id="knows" tabindex="0" aria-label={strings::KNOWS_TABLE}>
                <table class="knows" aria-labelledby="knows-title">
                    if crowd { { places(state) } }
                    { for groups }
                </table>
            </section>
        </section>
    }
}

/// Where the programs of many clients are.
fn places(state: &State) -> Html {
    let world = state.show.world(state.head);
    let rows =
        narrate::alike(&state.show.run, &world).into_iter().enumerate().map(|(row, alike)| {
            html! {
                <tr key={row}>
                    <th scope="row">{ alike.who }</th>
                    <td>{ alike.place }<span class="quiet">{ " " }{ alike.which }</span></td>
                </tr>
            }
        });
    html! { <tbody key="places">{ for rows }</tbody> }
}

/// What a node knows at the head, and before the last step; by its own lights, where these are its eyes.
fn known(state: &State, node: ProcId) -> [Rc<narrate::Knows>; 2] {
    let (show, head) = (&state.show, state.head);
    let Some(eyes) = &state.look.eyes else {
        let before = show.stepped(head, Size::Event, false);
        return [head, before].map(|head| show.knows(head, node));
    };
    let before = state.seen_so_far().unwrap_or_default();
    let before = before.iter().rev().map(|s| s.since.0).find(|s| Some(*s) < head.event);
    let at = |event: Option<u32>| narrate::knows_itself(&show.run, eyes, event.map(EventId));
    [head.event, before].map(|event| Rc::new(at(event)))
}

/// A client's program, line by line, with the line that it is at.
#[component]
pub fn Program(props: &Props) -> Html {
    let state = &props.state;
    // Of a long one, that line is in sight.
    use_effect_with((state.program, state.head.event), |_| platform::center_line_soon());
    let nodes = state.nodes();
    let chosen = nodes.iter().find(|n| n.0 == state.program).or_else(|| nodes.first());
    let Some((client, label, kind)) = chosen.cloned() else { return html! {} };
    let clients: Vec<_> = nodes.iter().filter(|n| n.2 == NodeKind::Client).collect();
    let foggy = state.look.eyes.is_some();
    let last = state.head.event.map(EventId);
    let own = state.look.eyes.as_ref().and_then(|e| narrate::own_world(&state.show.run, e, last));
    let world = own.map_or_else(|| state.show.world(state.head), Rc::new);
    let lists = lines(props, client, &world);
    // What it is doing stands here, beside the line that it is at.
    let [own, _] = known(state, client);
    let stuck = !foggy
        && kind == NodeKind::Client
        && narrate::waits(&state.show.run, &world, client).is_some();
    let otherwise = if world.is_down(client) { strings::DOWN } else { strings::NO_PROGRAM };
    let doing = own.lines.iter().find(|l| own.node == client && l.0 == narrate::PROGRAM);
    html! {
        <section class="panel code" aria-labelledby="program-title">
            <div class="panel-head">
                <h2 id="program-title">{ strings::PROGRAM }</h2>
                if !foggy { { whose(&clients, client, &props.to) } }
            </div>
            <div class="acts small">
                <p class="doing">
                    if kind != NodeKind::Client { <strong>{ &label }</strong>{ ": " } }
                    { doing.map_or(otherwise, |d| &d.1) }
                </p>
                if stuck {
                    <button type="button" class="plain" onclick={sees(&props.to, See::WhyNode(client))}>{ strings::WHY_NOT }</button>
                }
                { eyes_button(state, &props.to, client) }
            </div>
            <section class="programs scrolls" id="program" tabindex="0" aria-label={strings::program_of(&label)}>{ lists }</section>
        </section>
    }
}

/// Whose program is shown: a button each, and a list where there are many.
fn whose(
    clients: &[&(ProcId, String, NodeKind)],
    now: ProcId,
    to: &UseReducerDispatcher<Model>,
) -> Html {
    let choose = |node: ProcId| {
        let to = to.clone();
        Callback::from(move |_: MouseEvent| to.dispatch(Action::Program(node)))
    };
    if clients.len() > BUTTONS {
        let to = to.clone();
        let on_choice = Callback::from(move |word: String| {
            if let Ok(node) = word.parse() {
                to.dispatch(Action::Program(ProcId(node)));
            }
        });
        let options = clients.iter().map(|c| (c.0.0.to_string(), c.1.clone())).collect::<Vec<_>>();
        let (class, label, unseen, value) =
            ("filter", strings::WHOSE_PROGRAM, true, now.0.to_string());
        return part::<Choice>(
            "whose",
            props!(ChoiceProps { class, label, unseen, options, value, on_choice }),
        );
    }
    let buttons = clients.iter().map(|(node, name, _)| {
        let pressed = (*node == now).to_string();
        html! { <button type="button" key={node.0} aria-pressed={pressed} onclick={choose(*node)}>{ name }</button> }
    });
    html! { <div class="segments small" role="group" aria-label={strings::PROGRAM}>{ for buttons }</div> }
}

/// The lines of a node's tasks, each a way to what it did last, with those that the tasks are at.
fn lines(props: &Props, client: ProcId, world: &World<Locks>) -> Html {
    let state = &props.state;
    let foggy = state.look.eyes.is_some();
    let lit = state.look.chosen.filter(|_| !foggy).and_then(|event| state.line_of(event));
    let place = usize::from(client.0);
    let names = state.show.run.names();
    let programs = names.programs.get(place).map(Vec::as_slice).unwrap_or_default();
    let tasks = names.tasks.get(place).map(Vec::as_slice).unwrap_or_default();
    let lists = programs.iter().enumerate().map(|(task, lines)| {
        let at = world.task(client, task);
        let runs = at.as_ref().is_some_and(|(s, _)| !matches!(s, TaskState::Idle | TaskState::Ended));
        let down = world.is_down(client);
        let started = state.head.event.is_some();
        let here = at.and_then(|(s, pc)| narrate::line_of(s, pc)).filter(|_| runs && !down && started);
        let items = lines.iter().enumerate().map(|(i, line)| {
            let current = here == Some(i);
            let class = match (current, lit == Some((task, i)) && state.program == client) {
                (true, true) => Some("current lit"),
                (true, false) => Some("current"),
                (false, true) => Some("lit"),
                (false, false) => None,
            };
            let onclick = sees(&props.to, See::Line(client, task, i));
            html! {
                <li key={i} {class} aria-current={current.then_some("step")}>
                    if foggy || line.trim().is_empty() {
                        <code>{ line }</code>
                    } else {
                        <button type="button" title={strings::LINE_EVENT} {onclick}><code>{ line }</code></button>
                    }
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
    html! { <>{ for lists }</> }
}

/// What of the log is shown.
#[derive(Clone, Copy, PartialEq)]
enum Filter {
    All,
    Decisions,
    Node(ProcId),
}

/// What happened so far: how things stand now, and before it the events, one sentence each, below
/// headings that say who held the lock.
#[component]
pub fn Log(props: &Props) -> Html {
    let state = &props.state;
    let filter = use_state_eq(|| Filter::All);
    // How many pages back from the newest one.
    let back = use_state_eq(|| 0_usize);
    let run = Same(state.show.run.clone());
    let list = use_memo((run.clone(), *filter), |(run, filter)| listed(state, run, *filter));
    let phases = use_memo(run.clone(), |run| narrate::phases(run));
    // Where the log stands beside the picture, what is selected there is in sight here.
    use_effect_with(state.look.chosen, |chosen| {
        if chosen.is_some() {
            platform::reveal_lit();
        }
    });
    let past = state.head.event.map_or(0, |e| list.partition_point(|s| *s <= e));
    let last = past.saturating_sub(PAGE * *back).max(past.min(PAGE));
    let jumps = use_jumps(past, list.len(), state.playing);
    let first = last.saturating_sub(if jumps { FEW } else { PAGE });
    let entries = list.get(first..last).unwrap_or_default();
    let newest = past.checked_sub(1).and_then(|i| list.get(i)).copied();
    let step = |event: u32| state.show.stops.partition_point(|s| *s <= event);
    let lit = state.lit();
    // An entry is known by its event; in a jump all are others, and only the words in their places change.
    let key = |place: usize, event: u32| if jumps { place } else { event as usize };
    let groups =
        groups(entries, &phases).into_iter().enumerate().map(|(place, (phase, title, events))| {
            // By its first sentence here a group would be another one with each step.
            let group = key(place, phase);
            let items = events.iter().enumerate().map(|(place, event)| {
                let (event, step, current) = (*event, step(*event), newest == Some(*event));
                let (run, to) = (run.clone(), props.to.clone());
                let lit = lit.contains(&event);
                part::<Entry>(key(place, event), EntryProps { run, event, step, current, lit, to })
            });
            html! { <div key={group}><h3>{ title }</h3><ol>{ for items }</ol></div> }
        });
    let turn = |to: usize, word: &'static str| {
        let setter = back.setter();
        let onclick = Callback::from(move |_: MouseEvent| setter.set(to));
        html! { <button type="button" class="link" {onclick}>{ word }</button> }
    };
    let now = match state.head.event {
        Some(_) => state.show.summary(state.head),
        None => strings::NOTHING_YET.into(),
    };
    if state.look.eyes.is_some() {
        return eyes_log(state, &props.to);
    }
    html! {
        <section class="panel log" aria-labelledby="log-title">
            <div class="panel-head">
                <h2 id="log-title">{ strings::HAPPENED }</h2>
                { filters(state, *filter, filter.setter()) }
            </div>
            <p class="stands">{ &*now }</p>
            if first > 0 { { turn(*back + 1, strings::EARLIER) } }
            <section class={if state.look.asked.is_some() { "log-scroll reads" } else { "log-scroll" }} id="log"
                tabindex="0" aria-label={strings::EVENTS}>
                if let Some(asked) = &state.look.asked {
                    { answer(state, &props.to, asked) }
                } else {
                    <div class="entries">{ for groups }</div>
                }
            </section>
            if last < past { { turn(back.saturating_sub(1), strings::LATER) } }
        </section>
    }
}

/// Whether the head jumps about in a run that is longer than a page, or plays on after a jump, as where much happens at
/// one moment: there is no time to draw all of one.
#[hook]
fn use_jumps(past: usize, all: usize, plays: bool) -> bool {
    let (rested, again) = (use_mut_ref(|| past), use_force_update());
    let jumps = all > PAGE && rested.borrow().abs_diff(past) > JUMP;
    if !jumps {
        rested.replace(past);
    }
    // While it plays, the next jump would take away again what is drawn in between.
    use_effect_with((past, jumps && !plays), move |(past, rests)| {
        let past = *past;
        let timer = rests.then(|| {
            Timeout::new(RESTS, move || {
                rested.replace(past);
                again.force_update();
            })
        });
        move || drop(timer)
    });
    jumps
}

fn listed(state: &State, run: &Run, filter: Filter) -> Vec<u32> {
    let show = &state.show;
    let of = |node: ProcId, event: &u32| {
        run.record.events.get(*event as usize).is_some_and(|e| e.node == node)
    };
    match filter {
        Filter::All => show.stops.clone(),
        Filter::Decisions => show.decisions.clone(),
        Filter::Node(node) => show.stops.iter().copied().filter(|e| of(node, e)).collect(),
    }
}

/// Events below the phases that they happen in, each with the event that it begins with.
fn groups<'a>(entries: &'a [u32], phases: &'a [narrate::Phase]) -> Vec<(u32, &'a str, &'a [u32])> {
    let mut groups = Vec::new();
    let mut rest = entries;
    while let Some(first) = rest.first() {
        let next = phases.partition_point(|p| p.from.0 <= *first);
        let end = phases.get(next).map_or(u32::MAX, |p| p.from.0);
        let phase = next.checked_sub(1).and_then(|i| phases.get(i));
        let (from, title) = phase.map_or((0, ""), |p| (p.from.0, p.title.as_str()));
        let (these, later) = rest.split_at(rest.partition_point(|e| *e < end));
        groups.push((from, title, these));
        rest = later;
    }
    groups
}

fn filters(state: &State, now: Filter, setter: yew::UseStateSetter<Filter>) -> Html {
    let nodes = state.nodes();
    let mut all = vec![Filter::All, Filter::Decisions];
    let mut options = vec![strings::ALL.to_string(), strings::DECISIONS.to_string()];
    for (node, label, _) in nodes {
        all.push(Filter::Node(node));
        options.push(label);
    }
    let value = all.iter().position(|f| *f == now).unwrap_or(0).to_string();
    let options: Vec<_> =
        options.into_iter().enumerate().map(|(i, o)| (i.to_string(), o)).collect();
    let on_choice = Callback::from(move |word: String| {
        if let Some(filter) = word.parse::<usize>().ok().and_then(|i| all.get(i)) {
            setter.set(*filter);
        }
    });
    let (class, label, unseen) = ("filter", strings::SHOW, true);
    part::<Choice>(
        "filter",
        props!(ChoiceProps { class, label, unseen, options, value, on_choice }),
    )
}

#[derive(Properties, PartialEq)]
struct EntryProps {
    run: Same<Run>,
    event: u32,
    step: usize,
    current: bool,
    lit: bool,
    to: UseReducerDispatcher<Model>,
}

#[component]
fn Entry(props: &EntryProps) -> Html {
    let (to, event) = (props.to.clone(), props.event);
    let onclick = Callback::from(move |_| to.dispatch(Action::GoTo(Some(event))));
    let at = props.run.record.events.get(event as usize).map(|e| e.at).unwrap_or_default();
    html! {
        <li class={props.lit.then_some("lit")}>
            <button type="button" aria-current={props.current.then_some("step")} {onclick}>
                <span class="aloud">{ strings::go_to(props.step) }{ ": " }</span>
                <span class="time">{ narrate::moment(at) }</span>{ " " }
                <span>{ narrate::sentence(&props.run, EventId(event)) }</span>
            </button>
            if props.lit {
                <button type="button" class="plain ask" onclick={sees(&props.to, See::Why(Some(event)))}>{ strings::ASK_WHY }</button>
                { behind(&props.run, EventId(event)) }
            }
        </li>
    }
}
