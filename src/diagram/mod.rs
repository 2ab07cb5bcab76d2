//! A run laid out as marks: geometry only, in whole pixels.
//!
//! [`layout`] gives a [`Picture`] of lanes and [`Mark`]s. [`paths`] says what draws a mark, and
//! [`Primitive::element`] which element of SVG that is: the page and the file of [`svg`] draw the
//! very same. [`still`] is a part of the picture as it stands at a moment.

mod board;
mod crowd;
mod draw;
mod ensemble;
mod eyes;
mod fans;
mod flights;
mod height;
mod hit;
mod icons;
mod labels;
mod lanes;
mod layout;
mod mini;
mod paint;
pub mod palette;
mod picture;
mod plane;
mod queue;
mod rests;
mod routine;
mod row;
mod several;
mod signs;
mod spans;
mod still;
mod story;
mod svg;
mod text;
mod topology;
mod words;

pub use draw::{header, paths};
pub use eyes::through_eyes;
pub use height::Frozen;
pub use hit::hit;
pub use layout::{layout, layout_both, layout_frozen};
pub use mini::{miniature, miniature_x};
pub use paint::{Dash, Element, Fill, Ink, Pen, Primitive, defs};
pub use palette::Role;
pub use picture::{
    Anchor, Area, Fate, Head, Knot, Lane, Layout, Mark, Picture, Point, Saying, Scale, Shape, Words,
};
pub use still::{Still, blank, still};
pub use svg::{alone, escape, svg};
pub use topology::{Spot, Topology, topology};
