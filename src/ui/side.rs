//! What stands beside the picture on a wide page: what each one knows, a program, what happened.
//!
//! While it plays, all of this would take as long as the picture in each frame that an event falls into. It gets frames
//! of its own, which follow at once, so that none of them is late.

use std::cell::{Cell, RefCell};

use yew::functional::UseForceUpdateHandle;
use yew::{Html, Properties, UseReducerDispatcher, component, use_effect_with, use_force_update};

use super::draw::Same;
use super::page::Model;
use super::panels::{self, Log, Program};
use super::part::part;
use super::player::Player;
use super::state::State;
use super::tag::html;

/// So many frames with an event in each, and what stands beside them is drawn all the same.
const PATIENCE: u32 = 6;

/// Says while it plays when what stands beside the picture is drawn, and in which state.
pub struct Feed {
    latest: RefCell<Same<State>>,
    /// How many frames the latest has waited; none when it is drawn.
    waits: Cell<Option<u32>>,
    again: RefCell<Option<UseForceUpdateHandle>>,
}

impl Feed {
    pub fn new(state: Same<State>) -> Feed {
        Feed { latest: RefCell::new(state), waits: Cell::new(None), again: RefCell::new(None) }
    }

    /// The page is in this state now.
    pub fn put(&self, state: &Same<State>) {
        if *self.latest.borrow() == *state {
            return;
        }
        self.latest.replace(state.clone());
        self.waits.set(state.playing.then(|| self.waits.get().unwrap_or(0)));
    }

    /// A frame goes by; whether an event fell into it.
    pub fn frame(&self, busy: bool) {
        match self.waits.get() {
            Some(waited) if busy && waited < PATIENCE => self.waits.set(Some(waited + 1)),
            Some(_) => {
                self.waits.set(None);
                let again = self.again.borrow().clone();
                if let Some(again) = again {
                    again.force_update();
                }
            }
            None => {}
        }
    }
}

#[derive(Properties, PartialEq)]
pub struct Props {
    /// What to draw; while it plays, the player says.
    pub at_rest: Option<Same<State>>,
    pub player: Same<Player>,
    pub to: UseReducerDispatcher<Model>,
}

#[component]
pub fn Side(props: &Props) -> Html {
    let (again, player) = (use_force_update(), props.player.clone());
    use_effect_with((), move |()| {
        player.side.again.replace(Some(again));
    });
    let state = props.at_rest.clone().unwrap_or_else(|| props.player.side.latest.borrow().clone());
    let class = if state.look.asked.is_some() { "side asking" } else { "side" };
    let beside = panels::Props { state, to: props.to.clone() };
    html! {
        <div {class}>
            { panels::knowledge(&beside) }
            { part::<Program>("program", beside.clone()) }
            { part::<Log>("log", beside) }
        </div>
    }
}
