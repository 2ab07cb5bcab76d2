//! From shapes to primitives, and from primitives to elements of SVG: one source for page and file.

use super::palette::Role;
use super::picture::{Anchor, Picture, Point, Shape};
use crate::sim::Micros;

/// What fills a primitive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fill {
    /// Nothing.
    None,
    /// The page's own colour: hides what lies behind.
    Ground,
    /// The colour of a role.
    Solid(Role),
    /// A thin wash of it.
    Tint(Role),
    /// Diagonal lines of it.
    Hatch(Role),
}

/// How a line is broken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dash {
    /// Not at all.
    Solid,
    /// Into points.
    Dotted,
    /// Into short lines.
    Dashed,
}

/// What draws a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ink {
    /// The colour of a role.
    Role(Role),
    /// The page's own colour.
    Ground,
    /// A hairline that only separates.
    Hairline,
}

/// A pen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pen {
    /// With which colour.
    pub ink: Ink,
    /// How wide, in tenths of a pixel.
    pub tenths: i32,
    /// How broken.
    pub dash: Dash,
}

/// What there is to draw with.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "each variant says what its fields are")]
pub enum Primitive {
    /// A straight line.
    Line { from: Point, to: Point, pen: Pen },
    /// Path data in pixels.
    Path { data: String, pen: Option<Pen>, fill: Fill },
    /// A box with rounded corners.
    Rect { at: Point, width: i32, height: i32, round: i32, pen: Option<Pen>, fill: Fill },
    /// A circle; its radius in tenths of a pixel.
    Circle { at: Point, tenths: i32, pen: Option<Pen>, fill: Fill },
    /// A line of text on its baseline; `ink` colours it, `halo` clears a rim around its letters.
    Text {
        at: Point,
        text: String,
        anchor: Anchor,
        size: i32,
        strong: bool,
        mono: bool,
        ink: Ink,
        halo: bool,
    },
}

/// An element of SVG: what the page builds nodes from and the file writes out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Element {
    /// `line`, `path`, `rect`, `circle`, `text`, `defs`, `pattern`.
    pub tag: &'static str,
    /// Its attributes.
    pub attributes: Vec<(&'static str, String)>,
    /// What it contains.
    pub children: Vec<Element>,
    /// The text that it contains.
    pub text: String,
}

impl Primitive {
    /// The element that draws it. Colours are classes: `s-ROLE` for lines, `f-ROLE` for areas,
    /// `t-ROLE` for a wash; a hatch is the pattern `hatch-ROLE` of [`defs`].
    pub fn element(&self) -> Element {
        Element { tag: "g", attributes: Vec::new(), children: Vec::new(), text: String::new() }
    }
}

/// The patterns that hatched areas refer to.
pub fn defs() -> Element {
    Element { tag: "defs", attributes: Vec::new(), children: Vec::new(), text: String::new() }
}

/// What draws a shape in a role.
pub fn paths(_shape: &Shape, _role: Role) -> Vec<Primitive> {
    Vec::new()
}

/// What draws the header at a moment: the boxes with their names, and the line that joins the lock
/// to what it protects.
pub fn header(_picture: &Picture, _at: Micros) -> Vec<Primitive> {
    Vec::new()
}
