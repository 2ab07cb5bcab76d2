//! Lets time pass: the one animation-frame loop, and the only place that writes to nodes of the page.
//!
//! While it plays, nothing is rendered again but when the next event is reached. What moves (the clip
//! that hides the future, the play head, the dots of messages, the scrubber, the clock) is written
//! straight into its node.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Element, HtmlElement, HtmlInputElement};
use yew::{NodeRef, UseReducerDispatcher};

use super::draw::Same;
use super::hold::Number;
use super::page::Model;
use super::platform;
use super::scroll::{Sight, Way};
use super::show::{Head, Show, Size};
use super::side::Feed;
use super::state::{Action, State};
use crate::diagram::{Picture, Shape};
use crate::narrate;
use crate::sim::Micros;

/// How fast the play head moves at normal speed, in pixels a second.
const PACE: f64 = 72.0;
/// The longest time that one frame may count: a tab that was hidden goes on where it stopped.
const LONGEST_FRAME: f64 = 50.0;
/// How long each event stands when motion is unwanted, in milliseconds.
const SLIDE: f64 = 1500.0;
/// How far a pointer may go, in pixels, and has still only pressed.
const TREMBLE: i32 = 3;
/// How near a pointer comes to the edge of the box, in pixels, before the picture comes along.
const CLOSE: i32 = 28;
/// How many messages in flight are drawn at once.
pub const DOTS: usize = 24;

/// The nodes that the player writes to.
#[derive(Clone, PartialEq, Default)]
pub struct Nodes {
    /// The rectangle that the past is clipped to.
    pub clip: NodeRef,
    /// The play head.
    pub head: NodeRef,
    /// Its label.
    pub label: NodeRef,
    /// Messages in flight.
    pub dots: [NodeRef; DOTS],
    /// The box that the picture scrolls in.
    pub scroll: NodeRef,
    /// How that box is scrolled.
    pub sight: Rc<Sight>,
    /// The scrubber.
    pub range: NodeRef,
    /// The clock beside it.
    pub clock: NodeRef,
    /// What a finger takes the play head by.
    pub plate: NodeRef,
}

/// What a pointer has hold of.
#[derive(Clone, Copy, PartialEq)]
pub enum Held {
    /// The play head.
    Now,
    /// An edge of a pause.
    Edge(Number),
}

/// A pointer on its way.
#[derive(Clone, Copy)]
struct Pull {
    held: Held,
    /// Where what it holds was in the picture.
    y: i32,
    /// Where the pointer and the scrolled box were.
    from: (i32, i32),
    /// Where the pointer is.
    client: i32,
    /// To the millisecond.
    fine: bool,
    /// It went further than a hand that presses trembles.
    moved: bool,
    /// It went on since the last frame.
    due: bool,
}

/// A message on its way: it is wherever its track crosses the height of the play head.
struct Flight {
    sent: f64,
    arrives: f64,
    track: Vec<(f64, f64)>,
}

impl Flight {
    fn x(&self, y: f64) -> Option<f64> {
        let pair = self.track.windows(2).find(|p| p[0].1 <= y && y <= p[1].1)?;
        let (from, to) = (pair[0], pair[1]);
        Some(from.0 + (to.0 - from.0) * (y - from.1) / (to.1 - from.1).max(1.0))
    }
}

struct Inner {
    show: Option<Rc<Show>>,
    flights: Vec<Flight>,
    halts: Vec<u32>,
    event: Option<u32>,
    at: f64,
    jumps: u32,
    playing: bool,
    speed: f64,
    /// How much larger the picture is shown than it is laid out.
    scale: f64,
    frame: Option<i32>,
    last: Option<f64>,
    slide: f64,
    pull: Option<Pull>,
}

/// What the browser calls before it draws.
type Tick = Closure<dyn FnMut(f64)>;

/// The loop. One for each open lesson.
pub struct Player {
    nodes: Nodes,
    to: UseReducerDispatcher<Model>,
    inner: RefCell<Inner>,
    moved: Cell<bool>,
    /// What stands beside the picture.
    pub side: Feed,
    tick: RefCell<Option<Tick>>,
}

impl Player {
    /// A player at rest.
    pub fn new(nodes: Nodes, to: UseReducerDispatcher<Model>, state: Same<State>) -> Rc<Player> {
        let inner = Inner {
            show: None,
            flights: Vec::new(),
            halts: Vec::new(),
            event: None,
            at: 0.0,
            jumps: u32::MAX,
            playing: false,
            speed: 1.0,
            scale: 1.0,
            frame: None,
            last: None,
            slide: 0.0,
            pull: None,
        };
        let tick = RefCell::new(None);
        let player = Rc::new(Player {
            nodes,
            to,
            inner: RefCell::new(inner),
            moved: Cell::new(false),
            side: Feed::new(state),
            tick,
        });
        let weak = Rc::downgrade(&player);
        let closure = Tick::new(move |now| {
            if let Some(player) = weak.upgrade() {
                player.frame(now);
            }
        });
        *player.tick.borrow_mut() = Some(closure);
        player
    }

    /// Takes over what the state says; called after every rendering.
    pub fn sync(&self, state: &Same<State>) {
        self.side.put(state);
        let mut inner = self.inner.borrow_mut();
        let is_new = inner.show.as_ref().is_none_or(|s| !Rc::ptr_eq(s, &state.show));
        if is_new {
            inner.flights = flights(&state.show.picture);
            inner.show = Some(state.show.clone());
        }
        // What was said to a question can add a stop.
        inner.halts = state.halts();
        let jumped = inner.jumps != state.jumps;
        let rested = inner.playing && !state.playing && !jumped;
        inner.jumps = state.jumps;
        inner.event = state.head.event;
        inner.speed = f64::from(state.speed) / 4.0;
        inner.scale = f64::from(super::stage::scale(state)) / 100.0;
        if jumped {
            inner.at = state.head.at.0 as f64;
        }
        if inner.playing != state.playing {
            inner.playing = state.playing;
            inner.last = None;
            inner.slide = 0.0;
        }
        let at = Micros(inner.at as u64);
        if is_new || jumped || rested {
            self.draw(&inner);
            let way = if jumped { Way::jumped(state.elsewhere) } else { Way::Played };
            self.follow(&inner, way);
        }
        if inner.playing || inner.pull.is_some_and(|p| p.due) {
            self.request(&mut inner);
        } else {
            self.cancel(&mut inner);
        }
        drop(inner);
        if rested && at != state.head.at {
            self.to.dispatch(Action::Rested(at));
        }
    }

    fn request(&self, inner: &mut Inner) {
        if inner.frame.is_some() {
            return;
        }
        let tick = self.tick.borrow();
        let (Some(window), Some(tick)) = (platform::window(), tick.as_ref()) else { return };
        inner.frame = window.request_animation_frame(tick.as_ref().unchecked_ref()).ok();
    }

    fn cancel(&self, inner: &mut Inner) {
        if let (Some(frame), Some(window)) = (inner.frame.take(), platform::window()) {
            let _ = window.cancel_animation_frame(frame);
        }
    }

    fn frame(&self, now: f64) {
        let mut inner = self.inner.borrow_mut();
        inner.frame = None;
        if inner.pull.is_some() {
            let actions = self.pulled(&mut inner);
            drop(inner);
            actions.into_iter().flatten().for_each(|action| self.to.dispatch(action));
            return;
        }
        if !inner.playing {
            return;
        }
        let passed = inner.last.map_or(0.0, |last| (now - last).clamp(0.0, LONGEST_FRAME));
        inner.last = Some(now);
        let action = if platform::reduced_motion() {
            slide(&mut inner, passed)
        } else {
            glide(&mut inner, passed)
        };
        // Scrolling comes before what is written, so that nothing is laid out twice in a frame.
        self.follow(&inner, Way::Played);
        self.draw(&inner);
        self.request(&mut inner);
        // The action renders, and that may come back to this player.
        drop(inner);
        self.side.frame(action.is_some());
        if let Some(action) = action {
            self.to.dispatch(action);
        }
    }

    /// A pointer takes hold of something that lies at this height of the picture.
    pub fn take_hold(&self, held: Held, y: i32, client: i32) {
        self.moved.set(false);
        let top = self.nodes.scroll.cast::<HtmlElement>().map_or(0, |s| s.scroll_top());
        let y = match held {
            // The play head is where it is drawn.
            Held::Now => {
                let inner = self.inner.borrow();
                let show = inner.show.as_ref();
                show.map_or(0, |s| y_at(&s.picture, inner.at) as i32)
            }
            Held::Edge(_) => y,
        };
        let from = (client, top);
        let pull = Pull { held, y, from, client, fine: false, moved: false, due: false };
        self.inner.borrow_mut().pull = Some(pull);
        self.nodes.sight.held.set(true);
    }

    /// The pointer went on; what follows from it waits for the next frame.
    pub fn pull(&self, client: i32, fine: bool) {
        let mut inner = self.inner.borrow_mut();
        let Some(pull) = &mut inner.pull else { return };
        (pull.client, pull.fine) = (client, fine);
        if pull.moved || (client - pull.from.0).abs() > TREMBLE {
            pull.due = true;
            self.request(&mut inner);
        }
    }

    /// The pointer is gone; whether it moved what it had.
    pub fn release(&self) -> bool {
        let mut inner = self.inner.borrow_mut();
        let due = inner.pull.is_some_and(|p| p.due);
        let last = if due { self.pulled(&mut inner) } else { [None, None] };
        let moved = inner.pull.take().is_some_and(|p| p.moved);
        self.nodes.sight.held.set(false);
        drop(inner);
        self.moved.set(moved);
        last.into_iter().flatten().for_each(|action| self.to.dispatch(action));
        if moved {
            self.to.dispatch(Action::LetGo);
        }
        moved
    }

    /// Whether the press that just ended moved what it had; asked once.
    pub fn has_moved(&self) -> bool {
        self.moved.replace(false)
    }

    /// Whatever a pointer has, it has no longer.
    pub fn forget(&self) {
        let held = self.inner.borrow_mut().pull.take().is_some();
        self.nodes.sight.held.set(false);
        // The click that ends such a press means nothing any more.
        self.moved.set(held || self.moved.get());
    }

    /// The node that the play head is taken by.
    pub fn plate(&self) -> NodeRef {
        self.nodes.plate.clone()
    }

    /// What the way of a pointer since the last frame brings about.
    fn pulled(&self, inner: &mut Inner) -> [Option<Action>; 2] {
        let (Some(mut pull), Some(scroll)) = (inner.pull, self.nodes.scroll.cast::<HtmlElement>())
        else {
            return [None, None];
        };
        let grabs = !pull.moved;
        (pull.moved, pull.due) = (true, false);
        // At the edge of its box the picture comes along.
        let area = scroll.get_bounding_client_rect();
        let head = inner.show.as_ref().map_or(0, |s| s.picture.header_height);
        let (top, bottom) = (area.top() as i32 + head, area.bottom() as i32);
        let by = (pull.client - bottom + CLOSE).max(0) - (top + CLOSE - pull.client).max(0);
        if by != 0 {
            let before = scroll.scroll_top();
            scroll.set_scroll_top(before + by.clamp(-CLOSE, CLOSE) / 3);
            pull.due = scroll.scroll_top() != before;
        }
        let y = pull.y + pull.client - pull.from.0 + scroll.scroll_top() - pull.from.1;
        inner.pull = Some(pull);
        if pull.due {
            self.request(inner);
        }
        match (pull.held, &inner.show) {
            (Held::Now, Some(show)) => {
                [Some(Action::Seek(Micros(time_at(&show.picture, f64::from(y)) as u64))), None]
            }
            (Held::Now, None) => [None, None],
            (Held::Edge(number), _) => {
                [grabs.then_some(Action::Grab(number)), Some(Action::Drag(y, pull.fine))]
            }
        }
    }

    fn draw(&self, inner: &Inner) {
        let Some(show) = &inner.show else { return };
        let picture = &show.picture;
        let y = y_at(picture, inner.at);
        let from_top = y - f64::from(picture.header_height);
        if let Some(clip) = self.nodes.clip.cast::<Element>() {
            let _ = clip.set_attribute("height", &tenths(from_top.max(0.0)));
        }
        if let Some(head) = self.nodes.head.cast::<Element>() {
            let _ = head.set_attribute("transform", &format!("translate(0 {})", tenths(y)));
        }
        if let Some(plate) = self.nodes.plate.cast::<HtmlElement>() {
            let _ = plate.set_attribute("style", &format!("top:{}px", tenths(from_top)));
        }
        // While it plays, digits that nobody can read in time would only flicker.
        let grain = if inner.playing { 10_000 } else { 1 };
        let moment = narrate::moment(Micros(inner.at as u64 / grain * grain));
        for node in [&self.nodes.label, &self.nodes.clock] {
            if let Some(node) = node.cast::<Element>() {
                node.set_text_content(Some(&moment));
            }
        }
        if let Some(range) = self.nodes.range.cast::<HtmlInputElement>() {
            range.set_value_as_number(inner.at);
        }
        self.draw_dots(inner, y);
    }

    fn draw_dots(&self, inner: &Inner, y: f64) {
        let under_way = |f: &&Flight| f.sent < inner.at && inner.at < f.arrives;
        let mut flying = inner.flights.iter().filter(under_way).filter_map(|f| f.x(y));
        for dot in &self.nodes.dots {
            let Some(dot) = dot.cast::<Element>() else { continue };
            let x = flying.next();
            if let Some(x) = x {
                let place = format!("translate({} {})", tenths(x), tenths(y));
                let _ = dot.set_attribute("transform", &place);
            }
            let seen = if x.is_some() { "visible" } else { "hidden" };
            let _ = dot.set_attribute("visibility", seen);
        }
    }

    /// Scrolls the picture's own box so that the play head is in sight.
    fn follow(&self, inner: &Inner, way: Way) {
        let (Some(show), sight) = (&inner.show, &self.nodes.sight) else { return };
        let wanted = sight.follow(&show.picture, inner.at, inner.scale, way);
        let Some(wanted) = wanted.filter(|top| *top != sight.top.get()) else { return };
        if let Some(scroll) = self.nodes.scroll.cast::<HtmlElement>() {
            scroll.set_scroll_top(wanted);
            // The browser has laid out the page to scroll it, so that looking costs nothing.
            sight.top.set(scroll.scroll_top());
        }
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        let mut inner = self.inner.borrow_mut();
        if let (Some(frame), Some(window)) = (inner.frame.take(), platform::window()) {
            let _ = window.cancel_animation_frame(frame);
        }
    }
}

/// Moves the head along the picture, so that a fold takes as long as it is high.
fn glide(inner: &mut Inner, passed: f64) -> Option<Action> {
    let show = inner.show.clone()?;
    let y = y_at(&show.picture, inner.at) + PACE * inner.speed * passed / 1000.0;
    let at = time_at(&show.picture, y).max(inner.at).min(show.run.end.0 as f64);
    let next = inner.event.map_or(0, |e| e + 1);
    let halt = inner.halts.iter().find(|h| **h >= next).copied();
    if let Some(halt) = halt
        && show.time(halt).0 as f64 <= at
    {
        inner.at = show.time(halt).0 as f64;
        return Some(Action::Arrived(halt));
    }
    inner.at = at;
    let events = &show.run.record.events;
    let count = events.partition_point(|e| e.at.0 as f64 <= at) as u32;
    if at >= show.run.end.0 as f64 {
        return Some(Action::Reached(show.last()?));
    }
    if count > next {
        inner.event = Some(count - 1);
        return Some(Action::Reached(count - 1));
    }
    None
}

/// Shows one event after the other, each for a while.
fn slide(inner: &mut Inner, passed: f64) -> Option<Action> {
    let show = inner.show.clone()?;
    inner.slide += passed * inner.speed;
    if inner.slide < SLIDE {
        return None;
    }
    inner.slide = 0.0;
    let head = Head { event: inner.event, at: Micros(inner.at as u64) };
    let next = show.stepped(head, Size::Event, true).event?;
    let halt = inner.halts.iter().find(|h| Some(**h) > inner.event && **h <= next).copied();
    let event = halt.unwrap_or(next);
    inner.event = Some(event);
    inner.at = show.time(event).0 as f64;
    Some(if halt.is_some() { Action::Arrived(event) } else { Action::Reached(event) })
}

fn flights(picture: &Picture) -> Vec<Flight> {
    let flight = |shape: &Shape| match shape {
        Shape::Message { track, sent, arrives: Some(arrives), .. } => Some(Flight {
            sent: sent.0 as f64,
            arrives: arrives.0 as f64,
            track: track.iter().map(|p| (f64::from(p.x), f64::from(p.y))).collect(),
        }),
        _ => None,
    };
    picture.marks.iter().filter_map(|m| flight(&m.shape)).collect()
}

/// A length with one decimal; writing floats would bring 20 kB of code along.
fn tenths(length: f64) -> String {
    let tenths = (length * 10.0) as i64;
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// The height of a moment, finer than a pixel.
pub fn y_at(picture: &Picture, at: f64) -> f64 {
    let next = picture.knots.partition_point(|k| k.at.0 as f64 <= at);
    let knot = |i: usize| picture.knots.get(i).map(|k| (k.at.0 as f64, f64::from(k.y)));
    match (next.checked_sub(1).and_then(knot), knot(next)) {
        (Some(a), Some(b)) => a.1 + (b.1 - a.1) * (at - a.0) / (b.0 - a.0).max(1.0),
        (Some(only), None) | (None, Some(only)) => only.1,
        (None, None) => f64::from(picture.header_height),
    }
}

/// The moment at a height, finer than a pixel.
fn time_at(picture: &Picture, y: f64) -> f64 {
    let next = picture.knots.partition_point(|k| f64::from(k.y) <= y);
    let knot = |i: usize| picture.knots.get(i).map(|k| (k.at.0 as f64, f64::from(k.y)));
    match (next.checked_sub(1).and_then(knot), knot(next)) {
        (Some(a), Some(b)) => a.0 + (b.0 - a.0) * (y - a.1) / (b.1 - a.1).max(1.0),
        (Some(only), None) => only.0,
        _ => 0.0,
    }
}
