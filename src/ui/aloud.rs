//! The page's one polite region: what the queue lets through is written there.

use std::cell::RefCell;
use std::rc::Rc;

use gloo_timers::callback::Timeout;
use web_sys::Element;
use yew::{NodeRef, UseReducerDispatcher};

use super::draw::Same;
use super::page::Model;
use super::platform;
use super::state::{Action, State};
use super::voice::{Saying, Voice};

/// How long a notice is shown, in milliseconds.
const NOTICE: u32 = 4000;

/// Tells a screen reader what the state wishes to be told.
pub struct Speaker {
    region: NodeRef,
    voice: RefCell<Voice>,
    timer: RefCell<Option<Timeout>>,
    notice: RefCell<Option<Timeout>>,
    heard: RefCell<(u32, Option<Same<State>>)>,
}

impl Speaker {
    /// A speaker that writes into this node.
    pub fn new(region: NodeRef) -> Rc<Speaker> {
        let (voice, timer, notice) = Default::default();
        Rc::new(Speaker { region, voice, timer, notice, heard: Default::default() })
    }

    /// Takes over what the state says; called after every rendering.
    pub fn hear(self: &Rc<Self>, state: &Same<State>, to: &UseReducerDispatcher<Model>) {
        let (number, wish) = &state.spoken;
        let before = self.heard.replace((*number, Some(state.clone()))).0;
        if before == *number {
            return;
        }
        if state.notice.is_some() {
            let to = to.clone();
            let over = Timeout::new(NOTICE, move || to.dispatch(Action::Seen));
            *self.notice.borrow_mut() = Some(over);
        }
        let telling = platform::settings().telling;
        self.voice.borrow_mut().wish(platform::now(), telling, wish.clone());
        self.turn();
    }

    /// Tells what is due, and asks again when more may be.
    fn turn(self: &Rc<Self>) {
        let now = platform::now();
        let said = self.voice.borrow_mut().due(now);
        let words = said.and_then(|saying| match (saying, &self.heard.borrow().1) {
            (Saying::Words(words), _) => Some(words),
            (Saying::Summary, Some(s)) => Some(match s.look.eyes {
                Some(_) => super::sight::eyes_stand(s),
                None => s.show.summary(s.head).to_string(),
            }),
            (Saying::Summary, None) => None,
        });
        if let (Some(words), Some(region)) = (words, self.region.cast::<Element>()) {
            region.set_text_content(Some(&words));
        }
        let next = self.voice.borrow().next();
        let again = next.map(|at| {
            let weak = Rc::downgrade(self);
            // A timer may fire a little early.
            Timeout::new(at.saturating_sub(now) as u32 + 1, move || {
                if let Some(speaker) = weak.upgrade() {
                    speaker.turn();
                }
            })
        });
        *self.timer.borrow_mut() = again;
    }
}
