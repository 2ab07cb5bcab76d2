//! What the page shows of looking: the bar of what is selected, the answer to “why?”, the topology,
//! and all of it through the eyes of one node.

use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlElement, MouseEvent};
use yew::{
    Callback, Html, NodeRef, Properties, UseReducerDispatcher, component, use_effect_with,
    use_node_ref, use_state_eq,
};

use super::draw::{Same, icon, node, nodes};
use super::grounds::badges;
use super::look::{Asked, See, View};
use super::page::Model;
use super::panels;
use super::part::part;
use super::platform::{self, use_width};
use super::scroll::FIRST_HEIGHT;
use super::stage::{drawn, in_sight};
use super::state::{Action, State};
use super::strings;
use super::tag::html;
use crate::diagram::{self, Area, Mark, Picture, Point, defs, header, hit};
use crate::narrate::{self, Missing};
use crate::sim::{EventId, ProcId};

type To = UseReducerDispatcher<Model>;

/// How far beside a mark a finger may land.
const REACH: i32 = 14;

/// A click that does this.
pub fn sees(to: &To, see: See) -> Callback<MouseEvent> {
    let to = to.clone();
    Callback::from(move |_| {
        to.dispatch(Action::See(see.clone()));
        platform::keep_focus("stage");
    })
}

/// Where in a picture a click landed; `scale` in per cent.
pub fn place(event: &MouseEvent, scale: i32, top: i32) -> Option<Point> {
    let target = event.target()?.dyn_into::<Element>().ok()?;
    let picture = target.closest("svg.picture").ok()??;
    let area = picture.get_bounding_client_rect();
    let (x, y) = (event.client_x() - area.left() as i32, event.client_y() - area.top() as i32);
    let scale = scale.max(1);
    Some(Point { x: x * 100 / scale, y: y * 100 / scale + top })
}

/// Selects the mark under a click among those that are shown.
fn selects<'m>(
    to: &To,
    marks: impl Iterator<Item = &'m Mark>,
    at: Point,
    name: impl Fn(EventId) -> Option<u32>,
) {
    if let Some(event) = hit(marks, at, REACH).and_then(|mark| name(mark.event)) {
        to.dispatch(Action::See(See::Event(event)));
    }
}

/// A click into the diagram: what has happened can be selected.
pub fn on_diagram(state: &Same<State>, to: &To, scale: i32) -> Callback<MouseEvent> {
    let (state, to) = (state.clone(), to.clone());
    Callback::from(move |event: MouseEvent| {
        let picture = &state.show.picture;
        let Some(at) = place(&event, scale, picture.header_height) else { return };
        let (now, past) = (state.head.at, picture.y_of(state.head.at));
        let shown = picture.marks.iter().filter(|m| m.from <= now && m.bounds.top <= past);
        selects(&to, shown, at, |event| Some(event.0));
    })
}

const PLANE: &str = "M4 5h4v4H4zM12 3h4v4h-4zM12 13h4v4h-4zM8 7l4-2M8 8l4 7";
const EYE: &str = "M2 10q8-8 16 0q-8 8-16 0M10 7.5a2.5 2.5 0 1 0 0 5a2.5 2.5 0 1 0 0-5M4 17 16 3";

/// In the corner of the stage, above the axis: the way to the other picture, or out of the fog.
pub fn corner(state: &State, to: &To) -> Html {
    let plane = state.look.view == View::Topology;
    let (name, path, see) = match (state.look.eyes.is_some(), plane) {
        (true, _) => (strings::LIFT_FOG, EYE, See::Eyes(None)),
        (false, true) => (strings::TOPOLOGY, PLANE, See::View(View::Diagram)),
        (false, false) => (strings::TOPOLOGY, PLANE, See::View(View::Topology)),
    };
    html! {
        <button type="button" class="corner" aria-label={name} title={name} aria-pressed={plane.to_string()}
            onclick={sees(to, see)}>{ icon(path) }</button>
    }
}

/// The bar of what is selected, at the foot of the stage.
pub fn chosen(state: &State, to: &To) -> Html {
    let Some(event) = state.look.chosen else { return html! {} };
    let words = state.event_told(event).unwrap_or_default();
    let at = state.show.time(event);
    let foggy = state.look.eyes.is_some();
    let asked = matches!(&state.look.asked, Some(Asked::Event(why)) if why.event.0 == event);
    let go = {
        let to = to.clone();
        Callback::from(move |_: MouseEvent| to.dispatch(Action::GoTo(Some(event))))
    };
    html! {
        <section class="chosen" aria-label={strings::SELECTED_EVENT}>
            <p>
                if !foggy { <span class="time">{ narrate::moment(at) }</span>{ " " } }
                { words }
                if !foggy { { " " }{ badges(&state.show.run, EventId(event)) } }
            </p>
            <div class="acts">
                if !foggy {
                    <button type="button" class="plain" aria-pressed={asked.to_string()} onclick={sees(to, See::Why(Some(event)))}>
                        { strings::ASK_WHY }
                    </button>
                    if state.head.event != Some(event) {
                        <button type="button" class="plain" onclick={go}>{ strings::GO_THERE }</button>
                    }
                }
                <button type="button" class="plain" onclick={sees(to, See::Clear)}>{ strings::CLEAR }</button>
            </div>
        </section>
    }
}

/// The answer to what was asked, in place of the log.
pub fn answer(state: &State, to: &To, asked: &Asked) -> Html {
    let run = &state.show.run;
    let body = match asked {
        Asked::Event(why) => {
            let steps = why.steps.iter().enumerate().map(|(index, id)| {
                let (to, event) = (to.clone(), id.0);
                let onclick = Callback::from(move |_: MouseEvent| {
                    to.dispatch(Action::See(See::Event(event)));
                });
                let current = (state.look.chosen == Some(event)).then_some("true");
                html! {
                    <>
                        if index == 3 && why.left_out > 0 {
                            <li class="quiet">{ strings::left_out(why.left_out) }</li>
                        }
                        <li>
                            <button type="button" aria-current={current} {onclick}>
                                <span class="time">{ narrate::moment(run.record.event(*id).at) }</span>{ " " }
                                <span>{ narrate::sentence(run, *id) }</span>
                            </button>
                        </li>
                    </>
                }
            });
            html! {
                <>
                    <ol>{ for steps }</ol>
                    { for why.missing.iter().map(|m| missing(m, to)) }
                </>
            }
        }
        Asked::Node(client) => {
            let answers = state.obstacles(*client);
            html! {
                <>
                    <p><strong>{ strings::why_node(&run.names().node(*client).label) }</strong></p>
                    if answers.is_empty() { <p>{ strings::GOES_ON }</p> }
                    { for answers.iter().map(|m| missing(m, to)) }
                </>
            }
        }
    };
    let close = {
        let to = to.clone();
        Callback::from(move |_: MouseEvent| {
            to.dispatch(Action::See(See::Clear));
            platform::focus("log");
        })
    };
    html! {
        <div class="entries why" id="why">
            <div class="panel-head">
                <h3>{ strings::WHY_TITLE }</h3>
                <button type="button" class="link" onclick={close}>{ strings::CLOSE }</button>
            </div>
            { body }
        </div>
    }
}

/// One sentence of what is missing, with ways to the events behind it.
fn missing(missing: &Missing, to: &To) -> Html {
    let way = |event: Option<EventId>, word: &'static str| {
        let event = event?.0;
        let to = to.clone();
        let onclick = Callback::from(move |_: MouseEvent| {
            to.dispatch(Action::See(See::Event(event)));
        });
        Some(html! { <button type="button" class="plain" {onclick}>{ word }</button> })
    };
    html! {
        <div class="missing">
            <p>{ &missing.words }</p>
            <div class="acts">
                { for way(missing.because, strings::BECAUSE) }
                { for way(missing.decides, strings::DECIDES_IT) }
            </div>
        </div>
    }
}

/// The way to the eyes of a node, and out of them.
pub fn eyes_button(state: &State, to: &To, node: ProcId) -> Html {
    if state.look.eyes.is_some() {
        return html! {
            <button type="button" class="plain" onclick={sees(to, See::Eyes(None))}>{ strings::LIFT_FOG }</button>
        };
    }
    let label = &state.show.run.names().node(node).label;
    html! {
        <button type="button" class="plain" onclick={sees(to, See::Eyes(Some(node)))}>{ strings::see_as(label) }</button>
    }
}

/// What stands in place of the story while the page is seen through the eyes of one node.
pub fn eyes_card(state: &State, to: &To) -> Html {
    let Some(eyes) = &state.look.eyes else { return html! {} };
    let label = &state.show.run.names().node(eyes.node).label;
    html! {
        <section class="story" aria-labelledby="eyes-title">
            <h1 id="eyes-title">{ strings::eyes_title(label) }</h1>
            <div class="prose"><p>{ strings::EYES_NOTE }</p></div>
            { eyes_button(state, to, eyes.node) }
        </section>
    }
}

/// How things stand for a node, in place of the verdict, which nobody in a run is told.
pub fn eyes_stand(state: &State) -> String {
    let Some(eyes) = &state.look.eyes else { return String::new() };
    let last = state.head.event.map(EventId);
    let knows = narrate::knows_itself(&state.show.run, eyes, last);
    if knows.lines.is_empty() {
        return strings::EYES_ASLEEP.into();
    }
    let lines = knows.lines.iter().map(|(what, value)| format!("{what}: {value}"));
    format!("{}: {}.", knows.title, lines.collect::<Vec<_>>().join("; "))
}

/// The log of one node: what it has seen, by its own clock.
pub fn eyes_log(state: &State, to: &To) -> Html {
    let run = &state.show.run;
    let Some((eyes, seen)) = state.look.eyes.as_ref().zip(state.seen_so_far()) else {
        return html! {};
    };
    let told: Vec<_> = seen.iter().filter(|s| narrate::worth_telling(run, s)).collect();
    let newest = told.len().checked_sub(1);
    let first = told.len().saturating_sub(panels::PAGE);
    let items = told.iter().enumerate().skip(first).map(|(index, seen)| {
        let (to, event) = (to.clone(), seen.since.0);
        let onclick = Callback::from(move |_: MouseEvent| to.dispatch(Action::GoTo(Some(event))));
        html! {
            <li key={index}>
                <button type="button" aria-current={(newest == Some(index)).then_some("step")} {onclick}>
                    <span class="time">{ narrate::reading(seen.local) }</span>{ " " }
                    <span>{ narrate::seen_sentence(run, eyes.node, seen) }</span>
                </button>
            </li>
        }
    });
    let none = told.is_empty();
    html! {
        <section class="panel log" aria-labelledby="log-title">
            <div class="panel-head"><h2 id="log-title">{ strings::HAPPENED }</h2></div>
            <section class="log-scroll" id="log" tabindex="0" aria-label={strings::EVENTS}>
                if none { <p class="quiet">{ strings::EYES_ASLEEP }</p> }
                <div class="entries"><ol>{ for items }</ol></div>
            </section>
        </section>
    }
}

#[derive(Properties, PartialEq)]
pub struct Props {
    pub state: Same<State>,
    pub to: To,
    pub on_break: Callback<ProcId>,
}

/// The stage while it shows no time that runs down: one node's eyes, or the topology.
#[component]
pub fn OtherStage(props: &Props) -> Html {
    let (state, to) = (&props.state, &props.to);
    let scroll = use_node_ref();
    let width = use_width(&scroll);
    let foggy = state.look.eyes.is_some();
    // Of a long run only what is in sight is drawn; at first that is what was seen last.
    let sight = use_state_eq(|| None::<(i32, i32)>);
    let setter = sight.setter();
    let onscroll = Callback::from(move |event: Event| {
        if let Some(element) = event.target().and_then(|t| t.dyn_into::<HtmlElement>().ok()) {
            setter.set(Some(in_sight(element.scroll_top(), element.client_height())));
        }
    });
    let count = state.seen_so_far().map_or(0, <[_]>::len);
    let follows = scroll.clone();
    // What was seen last is in sight; a plane begins at its top.
    use_effect_with((count, width, foggy), move |(.., foggy)| {
        if *foggy {
            to_the_end(&follows);
        }
    });
    let step = state.show.step(state.head);
    html! {
        <div class="stage" data-step={step.to_string()}>
            <section class="stage-scroll" id="stage" ref={scroll} tabindex="0" {onscroll}
                aria-label={if foggy { strings::DIAGRAM } else { strings::TOPOLOGY }}>
                if width > 0 {
                    if foggy { { eyes(state, to, width, *sight) } } else { { plane(props, width) } }
                }
            </section>
            { corner(state, to) }
            { chosen(state, to) }
        </div>
    }
}

fn to_the_end(scroll: &NodeRef) {
    if let Some(scroll) = scroll.cast::<HtmlElement>() {
        scroll.set_scroll_top(scroll.scroll_height());
    }
}

fn eyes(state: &Same<State>, to: &To, width: i32, sight: Option<(i32, i32)>) -> Html {
    let run = &state.show.run;
    let Some((eyes, seen)) = state.look.eyes.as_ref().zip(state.seen_so_far()) else {
        return html! {};
    };
    let picture = diagram::through_eyes(run, eyes.node, seen, width - 2);
    let lit = state.lit();
    // The marks count what was seen; the page names events.
    let named = |id: EventId| seen.get(id.0 as usize).map(|s| s.event.0);
    let (top, bottom) =
        sight.unwrap_or_else(|| in_sight(picture.height - FIRST_HEIGHT, FIRST_HEIGHT));
    let shown = |m: &Mark| m.bounds.bottom >= top && m.bounds.top <= bottom;
    let marks = picture.marks.iter().enumerate().filter(|(_, m)| shown(m));
    let marks = marks.map(|(index, mark)| {
        let own = named(mark.event).unwrap_or_default();
        let event = EventId(own);
        drawn(&Mark { event, ..mark.clone() }, index, lit.contains(&own))
    });
    let label = &run.names().node(eyes.node).label;
    let onclick = {
        let (state, to, marks, top) =
            (state.clone(), to.clone(), picture.marks.clone(), picture.header_height);
        Callback::from(move |event: MouseEvent| {
            let seen = state.seen_so_far().unwrap_or_default();
            if let Some(at) = place(&event, 100, top) {
                let named = |id: EventId| seen.get(id.0 as usize).map(|s| s.event.0);
                selects(&to, marks.iter(), at, named);
            }
        })
    };
    let (wide, high, top) = (picture.width, picture.height, picture.header_height);
    html! {
        <>
            <div class="stage-head fog" style={format!("width:{wide}px")}>{ fog_header(&picture, eyes.node) }</div>
            <svg class="picture eyes" role="img" aria-label={strings::eyes_picture(label)}
                viewBox={format!("0 {top} {wide} {}", high - top)} width={wide.to_string()}
                height={(high - top).to_string()} {onclick}>
                { node(&defs()) }
                { for marks }
            </svg>
        </>
    }
}

/// The names above the lanes; that of the node itself stands out.
fn fog_header(picture: &Picture, own: ProcId) -> Html {
    let (width, height) = (picture.width, picture.header_height);
    let alone = |mine: bool| {
        let lanes = picture.lanes.iter().filter(|l| (l.node == own) == mine).cloned().collect();
        let part = Picture { lanes, marks: Vec::new(), ..picture.clone() };
        nodes(&header(&part, None))
    };
    html! {
        <svg aria-hidden="true" width={width.to_string()} height={height.to_string()} viewBox={format!("0 0 {width} {height}")}>
            <g class="foggy">{ alone(false) }</g>
            <g>{ alone(true) }</g>
        </svg>
    }
}

fn plane(props: &Props, width: i32) -> Html {
    let (state, to) = (&props.state, &props.to);
    let (run, world) = (&state.show.run, state.show.world(state.head));
    let lanes = &state.show.picture.lanes;
    // Whatever happened in one instant has happened to the world.
    let last = state.head.event.and_then(|_| world.events().checked_sub(1)).map(EventId);
    let plane = diagram::topology(run, lanes, &world, last, width - 2);
    let lit = state.lit();
    let marks =
        plane.marks.iter().enumerate().map(|(i, mark)| drawn(mark, i, lit.contains(&mark.event.0)));
    let onclick = {
        let (to, marks) = (to.clone(), plane.marks.clone());
        Callback::from(move |event: MouseEvent| {
            if let Some(at) = place(&event, 100, 0) {
                selects(&to, marks.iter(), at, |event| Some(event.0));
            }
        })
    };
    let (step, all) = (state.show.step(state.head), state.show.stops.len());
    let buttons = plane.spots.iter().map(|spot| {
        let (on_break, node) = (props.on_break.clone(), spot.node);
        let onclick = Callback::from(move |_: MouseEvent| on_break.emit(node));
        let name = strings::break_node(&spot.label);
        let name = if spot.says.is_empty() { name } else { format!("{name}, {}", spot.says) };
        let class = if spot.node == state.program { "lane selected" } else { "lane" };
        html! {
            <button type="button" key={node.0} {class} style={style(spot.area)} {onclick}
                aria-haspopup="dialog" aria-label={name} />
        }
    });
    let (wide, high) = (plane.width, plane.height);
    html! {
        <div class="plane" style={format!("width:{wide}px;height:{high}px")}>
            <svg class="picture" role="img" aria-label={strings::topology_name(step, all)}
                viewBox={format!("0 0 {wide} {high}")} width={wide.to_string()} height={high.to_string()} {onclick}>
                { node(&defs()) }
                { for marks }
            </svg>
            { for buttons }
        </div>
    }
}

fn style(area: Area) -> String {
    format!(
        "left:{}px;top:{}px;width:{}px;height:{}px",
        area.left,
        area.top,
        area.right - area.left,
        area.bottom - area.top
    )
}

/// The stage for how the page is looked at.
pub fn other(props: Props) -> Html {
    part::<OtherStage>("other-stage", props)
}
