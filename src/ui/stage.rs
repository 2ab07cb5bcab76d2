//! The stage: the picture of the run. A still layer that playing never touches, a layer of signs that
//! appear one by one, and a moving layer that only the player writes to.

use std::rc::Rc;

use web_sys::{HtmlElement, MouseEvent};
use yew::virtual_dom::{Key, VNode};
use yew::{
    Callback, Html, Properties, TargetCast, UseReducerDispatcher, component, hook, use_effect_with,
    use_force_update, use_mut_ref, use_state_eq,
};

use super::draw::{Same, icon, node, nodes, tag};
use super::hands;
use super::hold::{Hold, Number};
use super::layer::{self, Layer};
use super::look::Asked;
use super::page::Model;
use super::part::part;
use super::platform::{self, use_box, use_width};
use super::player::{Nodes, Player};
use super::scroll::{Sight, Way};
use super::sight;
use super::state::{Action, State};
use super::strings;
use super::tag::html;
use super::transport::PLAY;
use crate::diagram::{Area, Element, Fate, Mark, Picture, Primitive, Shape, defs, header, paths};
use crate::lesson::{Block, Inline};
use crate::narrate;
use crate::sim::{Micros, ProcId};

/// The picture is drawn in stretches of this height: those in sight, and one more on either side.
const STRETCH: i32 = 200;

#[derive(Properties, PartialEq)]
pub struct Props {
    pub state: Same<State>,
    pub to: UseReducerDispatcher<Model>,
    pub nodes: Nodes,
    pub on_break: Callback<ProcId>,
    /// What hands are given to; before a class nobody drags.
    pub player: Option<Same<Player>>,
}

#[component]
pub fn Stage(props: &Props) -> Html {
    let (state, parts) = (&props.state, &props.nodes);
    let scale = scale(state);
    let width = use_width(&parts.scroll) * 100 / scale;
    let (stretch, onscroll) = use_sight(state, parts);
    let to = props.to.clone();
    use_effect_with(width, move |width| {
        if *width > 0 {
            to.dispatch(Action::Width(*width));
        }
    });
    // The number whose field is open beside its edge.
    let open = use_state_eq(|| None::<Number>);
    let picture = Same(state.show.picture.clone());
    let least = state.hold.as_ref().map_or(0, Hold::height);
    let size = (picture.width, picture.height.max(least), picture.header_height);
    let player = props.player.as_ref();
    let grips = player.map(|player| hands::grips(state, &props.to, player, &open));
    let (all, step) = (state.show.stops.len(), state.show.step(state.head));
    let name = strings::diagram_name(step, all);
    let hash = format!("{:016x}", state.show.hash());
    let at = state.head.event.map(|_| state.head.at);
    let on_break = props.on_break.clone();
    let headers = if state.present {
        names(&picture, at, scale)
    } else {
        // Between two changes of the header it is the same one.
        let (at, selected) = (at.map(|at| picture.turned(at)), state.program);
        part::<Headers>(
            "headers",
            HeadersProps { picture: picture.clone(), at, selected, on_break },
        )
    };
    let lit = Rc::new(state.lit());
    // What grows is drawn whole, and one rectangle hides the future.
    let still =
        layer::Props { picture: picture.clone(), grows: true, at: None, stretch, lit: lit.clone() };
    let signs = layer::Props { picture: picture.clone(), grows: false, at, stretch, lit };
    let asked = matches!(state.look.asked, Some(Asked::Event(_)));
    let choose = sight::on_diagram(state, &props.to, scale);
    let bounds = format!("0 {} {} {}", size.2, size.0, size.1 - size.2);
    let shown = |length: i32| length * scale / 100;
    let box_style = format!("width:{}px", shown(size.0));
    html! {
        <div class="stage" data-run-hash={hash} data-step={step.to_string()}>
            <section class="stage-scroll" id="stage" ref={parts.scroll.clone()} tabindex="0"
                aria-label={strings::NO_DIAGRAM_NAME} {onscroll}>
                <div class="stage-head" style={box_style.clone()}>
                    { headers }
                </div>
                { for grips }
                <svg class={if asked { "picture dims" } else { "picture" }} role="img" aria-label={name} onclick={choose} viewBox={bounds} style={box_style}
                    width={shown(size.0).to_string()} height={shown(size.1 - size.2).to_string()}>
                    { node(&defs()) }
                    <clipPath id="past">
                        <rect ref={parts.clip.clone()} x="0" y={size.2.to_string()} width={size.0.to_string()} height="0" />
                    </clipPath>
                    { part::<Layer>("still", still) }
                    if platform::reduced_motion() { { arrivals(&picture, state.head.at) } }
                    { part::<Layer>("signs", signs) }
                    { part::<MovingLayer>("moving", MovingProps { picture, nodes: parts.clone() }) }
                </svg>
            </section>
            if !state.present { { sight::corner(state, &props.to) } }
            { sight::chosen(state, &props.to) }
            if at.is_none() && !state.playing && !state.present { { begin(&props.to) } }
        </div>
    }
}

/// The one thing to do where nothing has happened yet, large and in the middle.
fn begin(to: &UseReducerDispatcher<Model>) -> Html {
    let to = to.clone();
    let onclick = Callback::from(move |_: MouseEvent| {
        // The button goes away with its press; the keys of the player are where it was.
        platform::focus("stage");
        to.dispatch(Action::Play);
    });
    html! {
        <button type="button" class="begin" {onclick}>{ icon(PLAY) }{ strings::PLAY_FROM_START }</button>
    }
}

/// How large the picture is shown, in per cent of how it is laid out.
pub fn scale(state: &State) -> i32 {
    if state.present { platform::wall() } else { 100 }
}

/// The names above the lanes.
fn names(picture: &Picture, at: Option<Micros>, scale: i32) -> Html {
    let (width, height) = (picture.width, picture.header_height);
    html! {
        <svg aria-hidden="true" width={(width * scale / 100).to_string()} height={(height * scale / 100).to_string()}
            viewBox={format!("0 0 {width} {height}")}>
            { nodes(&header(picture, at)) }
        </svg>
    }
}

/// Where nothing may move, a message is there at once when it has arrived, and the words say what the
/// moving would have shown. What has not happened yet is not told: as far as a message has come is drawn
/// already, and of a lost one the picture says that it is lost.
fn arrivals(picture: &Picture, at: Micros) -> Html {
    let marks = picture.marks.iter().enumerate().filter_map(|(i, mark)| {
        let Shape::Message { track, arrives: Some(arrives), fate: Fate::Arrives, .. } = &mark.shape
        else {
            return None;
        };
        if *arrives != at {
            return None;
        }
        let (from, to) = (track.first()?, track.last()?);
        let (anchor, x) = if from.x < to.x { ("end", to.x - 10) } else { ("start", to.x + 10) };
        Some(html! {
            <text key={i} class="f-ink halo" font-size="12" text-anchor={anchor} x={x.to_string()} y={(to.y - 7).to_string()}>
                { strings::DELIVERED }
            </text>
        })
    });
    html! { <g>{ for marks }</g> }
}

/// From where to where the picture is drawn: around what is in sight of it; and what to call when it is scrolled.
#[hook]
fn use_sight(state: &Same<State>, parts: &Nodes) -> ((i32, i32), Callback<yew::Event>) {
    let scale = scale(state);
    let jumps = use_mut_ref(|| state.jumps);
    // A jump scrolls the box when all is drawn; what will be in sight then is drawn at once.
    let jumped = jumps.replace(state.jumps) != state.jumps;
    let at = state.head.at.0 as f64;
    let way = Way::jumped(state.elsewhere);
    let follow = || parts.sight.follow(&state.show.picture, at, f64::from(scale) / 100.0, way);
    let top = jumped.then(follow).flatten().unwrap_or(parts.sight.top.get());
    let around =
        move |top: i32, sight: &Sight| in_sight(top * 100 / scale, sight.height() * 100 / scale);
    let now = around(top, &parts.sight);
    let drawn = use_mut_ref(|| now);
    drawn.replace(now);
    let (sight, again) = (parts.sight.clone(), use_force_update());
    let look = Callback::from(move |element: HtmlElement| {
        sight.measure(&element);
        if *drawn.borrow() != around(sight.top.get(), &sight) {
            again.force_update();
        }
    });
    // On a wall a verdict takes its room from the picture when it comes, and what decided it stays in sight.
    let (sight, picture, changed) = (parts.sight.clone(), state.show.picture.clone(), look.clone());
    let resized = Callback::from(move |element: HtmlElement| {
        sight.measure(&element);
        let wanted = sight.follow(&picture, at, f64::from(scale) / 100.0, Way::Jumped);
        if let Some(wanted) = wanted.filter(|_| scale > 100) {
            element.set_scroll_top(wanted);
        }
        changed.emit(element);
    });
    use_box(&parts.scroll, resized);
    let onscroll = Callback::from(move |event: yew::Event| {
        if let Some(element) = event.target_dyn_into() {
            look.emit(element);
        }
    });
    (now, onscroll)
}

/// The stretch of a picture that is drawn while this much of it is in sight.
pub fn in_sight(top: i32, height: i32) -> (i32, i32) {
    ((top / STRETCH - 1) * STRETCH, ((top + height) / STRETCH + 2) * STRETCH)
}

#[derive(Properties, PartialEq)]
struct HeadersProps {
    picture: Same<Picture>,
    /// The present moment; none before anything has happened.
    #[prop_or_default]
    at: Option<Micros>,
    selected: ProcId,
    on_break: Callback<ProcId>,
}

/// The names above the lanes, each under a button: what is a picture to some is a menu to all.
#[component]
fn Headers(props: &HeadersProps) -> Html {
    let picture = &props.picture;
    let buttons = picture.lanes.iter().map(|lane| {
        let area = lane.header;
        let style = format!(
            "left:{}px;top:{}px;width:{}px;height:{}px",
            area.left,
            area.top,
            area.right - area.left,
            area.bottom - area.top
        );
        let (on_break, node) = (props.on_break.clone(), lane.node);
        let onclick = Callback::from(move |_: MouseEvent| on_break.emit(node));
        let name = strings::break_node(&lane.label);
        let label = match props.at {
            Some(at) => format!("{name}, {}", lane.saying(at)),
            None => name,
        };
        let selected = lane.node == props.selected;
        let label = if selected { format!("{label}, {}", strings::SELECTED) } else { label };
        let class = if selected { "lane selected" } else { "lane" };
        html! {
            <button type="button" key={lane.node.0} {class} {style} {onclick}
                aria-haspopup="dialog" aria-label={label} />
        }
    });
    html! {
        <>
            { names(picture, props.at, 100) }
            <>{ for buttons }</>
        </>
    }
}

/// A mark as an element; one that is lit stands out by a thicker line or a frame.
pub fn group(mark: &Mark, lit: bool) -> Element {
    let group = Element::new("g").with("data-event", mark.event.0);
    let group = group.holding(paths(&mark.shape, mark.role).iter().map(Primitive::element));
    if !lit {
        return group;
    }
    // Words are underlined by their class; a sign gets a frame.
    let framed = !matches!(
        mark.shape,
        Shape::Words(_) | Shape::Tick { .. } | Shape::Cap { .. } | Shape::PromiseEnd { .. }
    );
    let frame = (framed && !mark.grows()).then(|| frame(mark.bounds));
    group.with("class", "lit").holding(frame)
}

/// The same as a node of the page.
pub fn drawn(mark: &Mark, index: usize, lit: bool) -> VNode {
    let mut group = tag(&group(mark, lit));
    group.key = Some(Key::from(index));
    group.into()
}

/// A frame around a mark that is lit.
fn frame(area: Area) -> Element {
    let frame = Element::new("rect").with("class", "frame").with("rx", 3);
    let frame = frame.with("x", area.left - 3).with("y", area.top - 3);
    frame.with("width", area.right - area.left + 6).with("height", area.bottom - area.top + 6)
}

#[derive(Properties, PartialEq)]
struct MovingProps {
    picture: Same<Picture>,
    nodes: Nodes,
}

/// The play head and the messages on their way. Its attributes change only through the player.
#[component]
fn MovingLayer(props: &MovingProps) -> Html {
    let width = props.picture.width;
    let last = props.picture.knots.last().map_or(Micros::ZERO, |k| k.at);
    // Room for the longest time that it will show.
    let plate = 13 + 7 * narrate::moment(last).len().max(7) as i32;
    let dots = props.nodes.dots.iter().enumerate().map(|(i, dot)| {
        html! { <g key={i} ref={dot.clone()} class="dot" visibility="hidden"><circle r="5" /></g> }
    });
    html! {
        <g aria-hidden="true">
            <g ref={props.nodes.head.clone()} class="now">
                <path d={format!("M{plate} 0H{width}")} />
                <rect x="0" y="-10" width={plate.to_string()} height="20" rx="4" />
                <text x={(plate / 2).to_string()} y="4" text-anchor="middle" ref={props.nodes.label.clone()}></text>
            </g>
            <g>{ for dots }</g>
        </g>
    }
}

/// The sentence of the last event, as a caption where there is little room.
pub fn caption(state: &State) -> Html {
    let words = match state.head.event {
        Some(event) => state.event_told(event).unwrap_or_default(),
        None => strings::AT_START.to_string(),
    };
    html! { <p class="caption">{ words }</p> }
}

/// What stands above the picture where there is little room: the title of this part of the story and
/// its first words; between two parts, what happened last.
pub fn lead(state: &State) -> Html {
    let beat = state.beat().and_then(|i| Some((i, state.lesson.beats.get(i)?)));
    let told = state.tells_story();
    let title = beat.filter(|_| told).map_or(&state.lesson.title, |b| &b.1.title);
    let here = |i: usize| match state.show.beats.get(i) {
        Some(Ok(event)) => state.head.event == Some(*event) || state.turned == Some(i),
        _ => state.turned == Some(i),
    };
    let followed = state.followed().filter(|_| told);
    let title = followed.map_or(title, |v| &v.title);
    let words = match (beat, state.head.event) {
        _ if state.looking().is_some() => strings::LOOK.into(),
        _ if followed.is_some() => followed.and_then(|v| v.shows.clone()).unwrap_or_default(),
        (None, None) => state.lesson.hook.clone(),
        (Some((i, beat)), _) if told && here(i) => first_words(&beat.blocks),
        (_, Some(event)) => state.event_told(event).unwrap_or_default(),
        (_, None) => strings::AT_START.to_string(),
    };
    html! { <div class="lead-in"><p><strong>{ title }</strong></p><p class="caption">{ words }</p></div> }
}

/// The first paragraph as text.
fn first_words(blocks: &[Block]) -> String {
    fn text(line: &[Inline]) -> String {
        let piece = |inline: &Inline| match inline {
            Inline::Text(text) | Inline::Code(text) => text.clone(),
            Inline::Emphasis(inner) | Inline::Strong(inner) | Inline::Link(_, inner) => text(inner),
            Inline::Evidence(_) => String::new(),
        };
        line.iter().map(piece).collect()
    }
    let first = blocks.iter().find_map(|b| match b {
        Block::Paragraph(line) => Some(text(line)),
        _ => None,
    });
    first.unwrap_or_default()
}
