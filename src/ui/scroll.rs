//! How the box is scrolled that the picture lies in, and where it has to be scrolled to.

use std::cell::Cell;

use web_sys::Element;

use super::player::y_at;
use crate::diagram::Picture;

/// The box that the picture scrolls in, as it was last seen: asking the browser makes it lay out the page.
/// All lengths are in pixels of the screen.
#[derive(PartialEq, Default)]
pub struct Sight {
    /// How far it is scrolled.
    pub top: Cell<i32>,
    /// Its height; 0 before the page knows.
    pub height: Cell<i32>,
    /// A hand has something in it.
    pub held: Cell<bool>,
}

/// How the play head came to where it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// By playing.
    Played,
    /// By a jump in the picture.
    Jumped,
    /// By a jump to another moment of another run, whose picture was in sight nowhere.
    Elsewhere,
}

impl Way {
    /// That of a jump.
    pub const fn jumped(elsewhere: bool) -> Way {
        if elsewhere { Way::Elsewhere } else { Way::Jumped }
    }
}

/// What has just come about on a wall reaches so far under the present.
const NEWS: f64 = 54.0;
/// A box lower than this stands above what it goes with, and not beside it.
const LOW: f64 = 520.0;

/// The height that is taken to be in sight before the page knows better.
pub const FIRST_HEIGHT: i32 = 800;

impl Sight {
    /// Takes over how the box really is.
    pub fn measure(&self, element: &Element) {
        self.top.set(element.scroll_top());
        self.height.set(element.client_height());
    }

    /// How much of the picture is in sight.
    pub fn height(&self) -> i32 {
        match self.height.get() {
            0 => FIRST_HEIGHT,
            height => height,
        }
    }

    /// How far the box has to be scrolled so that this moment is well in sight; none if it is already.
    pub fn follow(&self, picture: &Picture, at: f64, scale: f64, way: Way) -> Option<i32> {
        // Nothing may run away under a hand.
        if self.held.get() {
            return None;
        }
        let jumped = way != Way::Played;
        let height = f64::from(self.height()) / scale;
        let y = y_at(picture, at);
        let top = f64::from(self.top.get()) / scale;
        // After a jump, what led to the present is in sight, and not only what hides the future.
        let least = f64::from(picture.header_height) + 24.0;
        let above = if jumped { (height * 0.3).max(least) } else { least };
        let low = 1.0 - (NEWS / height).clamp(0.12, 0.3);
        // On a wall there is no room to spare for what has not happened yet.
        // In a low box neither: whoever reads under it sees its lower end.
        let (lowest, after_jump) = match () {
            () if scale > 1.0 => (low, low),
            () if height < LOW => (0.8, 0.8),
            () => (0.72, 0.6),
        };
        // On a wall the present stands low, so that what led to it is in sight; so it does where nothing of this picture
        // was in sight before.
        let anew = jumped && (scale > 1.0 || way == Way::Elsewhere);
        let wanted = if anew {
            y - height * after_jump
        } else if y > top + height * lowest {
            y - height * if jumped { after_jump } else { lowest }
        } else if y < top + above {
            y - if jumped { height * after_jump } else { above }
        } else {
            return None;
        };
        Some((wanted.max(0.0) * scale).round() as i32)
    }
}
