//! Which key does what: a table, free of the browser.

use super::look::{See, View};
use super::show::Size;
use super::state::{Action, SPEEDS, State};
use crate::sim::ProcId;

/// A key with what was held down beside it.
#[derive(Clone, Copy, Default, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Press<'a> {
    /// The key by the browser's name for it.
    pub key: &'a str,
    pub shift: bool,
    pub ctrl: bool,
    pub alt: bool,
    pub meta: bool,
    /// On a keyboard of Apple's, where Ctrl with an arrow belongs to the system.
    pub apple: bool,
}

/// A dialog.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sheet {
    /// What can be done to the selected node, with an act that is ready.
    Break(Option<Act>),
    /// A field for the number of a step.
    Go,
}

/// What the dialog for breaking things does at Enter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    /// It pauses.
    Pause,
    /// It crashes or restarts.
    Crash,
    /// It cuts or heals.
    Cut,
    /// Its clock is set.
    Clock,
}

/// A part of the page that a number leads to, in the order of the numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Part {
    Log,
    Diagram,
    Program,
    Knows,
}

/// What a key does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Deed {
    /// It changes the state.
    Do(Action),
    /// It opens a dialog.
    Open(Sheet),
    /// It leads to a part of the page.
    To(Part),
    /// It leads to the first length of an edit.
    Length,
    /// It copies the link.
    Link,
    /// It turns to the next or the previous beat of a class.
    Turn(bool),
    /// It makes the screen black.
    Blank,
    /// It ends presenting.
    Leave,
}

/// What a key does in a lesson, if anything. `letters` says whether single letters, digits and signs
/// are wanted.
pub fn deed(press: Press, state: &State, letters: bool) -> Option<Deed> {
    let Press { key, shift, ctrl, alt, meta, apple } = press;
    let size = match (shift, if apple { alt } else { ctrl }) {
        (true, _) => Size::Decision,
        (_, true) => Size::Beat,
        _ => Size::Event,
    };
    // With other keys held down an arrow belongs to the browser: it goes back a page.
    let held = meta || if apple { ctrl } else { alt };
    let act = |action| Some(Deed::Do(action));
    match key {
        "ArrowRight" if !held => return act(step(state, size, true)),
        "ArrowLeft" if !held => return act(step(state, size, false)),
        _ if ctrl || alt || meta => return None,
        "Home" => return act(Action::Start),
        "End" => return act(Action::End),
        " " => return act(toggle(state)),
        "PageDown" if state.present => return Some(Deed::Turn(true)),
        "PageUp" if state.present => return Some(Deed::Turn(false)),
        "Escape" if state.present => return Some(Deed::Leave),
        "Escape" if state.look.chosen.is_some() || state.look.asked.is_some() => {
            return act(Action::See(See::Clear));
        }
        "Escape" if state.look.eyes.is_some() => return act(Action::See(See::Eyes(None))),
        _ if !letters => return None,
        "k" | "K" => return act(toggle(state)),
        "." | "b" | "B" if state.present => return Some(Deed::Blank),
        _ if state.present => return None,
        _ => {}
    }
    match key {
        "," => faster(state, false),
        "." => faster(state, true),
        "e" | "E" => Some(Deed::Length),
        "f" | "F" => act(Action::Defend(0)),
        "[" => neighbour(state, false),
        "]" => neighbour(state, true),
        "g" | "G" => Some(Deed::Open(Sheet::Go)),
        "i" | "I" => Some(Deed::Open(Sheet::Break(None))),
        "p" | "P" => Some(Deed::Open(Sheet::Break(Some(Act::Pause)))),
        "c" | "C" => Some(Deed::Open(Sheet::Break(Some(Act::Crash)))),
        "t" | "T" => Some(Deed::Open(Sheet::Break(Some(Act::Clock)))),
        "x" | "X" => Some(Deed::Open(Sheet::Break(Some(Act::Cut)))),
        "1" => Some(Deed::To(Part::Log)),
        "2" => Some(Deed::To(Part::Diagram)),
        "3" => Some(Deed::To(Part::Program)),
        "4" => Some(Deed::To(Part::Knows)),
        "l" | "L" => Some(Deed::Link),
        "w" | "W" => act(Action::See(See::Why(None))),
        "v" | "V" if state.look.eyes.is_none() => act(Action::See(See::View(other_view(state)))),
        "s" | "S" => act(Action::See(See::Eyes(other_eyes(state)))),
        _ => None,
    }
}

/// What an arrow does. Where the story stands on the page, its parts are turned as its own buttons turn
/// them: on into whichever of the lesson's runs they are told of.
pub fn step(state: &State, size: Size, forward: bool) -> Action {
    let told = state.level.is_none() && state.cards.sorting.is_none() && state.look.eyes.is_none();
    match size {
        Size::Beat if state.present => Action::Turn(forward),
        Size::Beat if told => Action::Next(forward),
        _ => Action::Step(size, forward),
    }
}

fn other_view(state: &State) -> View {
    match state.look.view {
        View::Diagram => View::Topology,
        View::Topology => View::Diagram,
    }
}

/// The eyes of the selected node, or everybody's.
fn other_eyes(state: &State) -> Option<ProcId> {
    state.look.eyes.is_none().then_some(state.program)
}

fn toggle(state: &State) -> Action {
    if state.playing { Action::Pause } else { Action::Play }
}

fn faster(state: &State, more: bool) -> Option<Deed> {
    let now = SPEEDS.iter().position(|s| *s == state.speed)?;
    let next = if more { now + 1 } else { now.checked_sub(1)? };
    SPEEDS.get(next).map(|speed| Deed::Do(Action::Speed(*speed)))
}

fn neighbour(state: &State, forward: bool) -> Option<Deed> {
    let nodes = state.nodes();
    let now = nodes.iter().position(|n| n.0 == state.program).unwrap_or(0);
    let next = if forward { now + 1 } else { now + nodes.len() - 1 } % nodes.len().max(1);
    nodes.get(next).map(|n| Deed::Do(Action::Select(n.0)))
}
