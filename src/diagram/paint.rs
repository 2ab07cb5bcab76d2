//! From shapes to primitives, and from primitives to elements of SVG: one source for page and file.

use super::palette::Role;
use super::picture::{Anchor, Point};

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

/// An element of SVG or of a document: what the page builds nodes from and files are written from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Element {
    /// `line`, `path`, `svg`, `p`; empty for words that stand beside elements.
    pub tag: &'static str,
    /// Its attributes.
    pub attributes: Vec<(&'static str, String)>,
    /// What it contains.
    pub children: Vec<Element>,
    /// The text that it contains.
    pub text: String,
}

impl Element {
    /// An empty element.
    pub fn new(tag: &'static str) -> Element {
        Element { tag, attributes: Vec::new(), children: Vec::new(), text: String::new() }
    }

    /// The element with one more attribute.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl ToString) -> Element {
        self.attributes.push((name, value.to_string()));
        self
    }

    /// The element with these in it, behind what it has.
    #[must_use]
    pub fn holding(mut self, children: impl IntoIterator<Item = Element>) -> Element {
        self.children.extend(children);
        self
    }
}

impl Ink {
    /// The class of a line in this colour.
    fn line(self) -> String {
        match self {
            Ink::Role(role) => format!("s-{}", role.word()),
            Ink::Ground => "s-ground".into(),
            Ink::Hairline => "s-hairline".into(),
        }
    }

    /// The class of an area or of letters in this colour.
    fn area(self) -> String {
        match self {
            Ink::Role(role) => format!("f-{}", role.word()),
            Ink::Ground => "f-ground".into(),
            Ink::Hairline => "f-hairline".into(),
        }
    }
}

impl Primitive {
    /// The element that draws it. Colours are classes: `s-ROLE` for lines, `f-ROLE` for areas and
    /// letters, `t-ROLE` for a wash, with `ground` and `hairline` beside the roles; `f-none` leaves
    /// an area empty, and `h-ROLE` fills it with the pattern `hatch-ROLE` of [`defs`].
    pub fn element(&self) -> Element {
        match self {
            Primitive::Line { from, to, pen } => drawn(Element::new("line"), Some(pen), None)
                .with("x1", from.x)
                .with("y1", from.y)
                .with("x2", to.x)
                .with("y2", to.y),
            Primitive::Path { data, pen, fill } => {
                drawn(Element::new("path"), pen.as_ref(), Some(*fill)).with("d", data)
            }
            Primitive::Rect { at, width, height, round, pen, fill } => {
                let rect = drawn(Element::new("rect"), pen.as_ref(), Some(*fill));
                let rect = rect.with("x", at.x).with("y", at.y);
                let rect = rect.with("width", width).with("height", height);
                if *round > 0 { rect.with("rx", round) } else { rect }
            }
            Primitive::Circle { at, tenths: radius, pen, fill } => {
                drawn(Element::new("circle"), pen.as_ref(), Some(*fill))
                    .with("cx", at.x)
                    .with("cy", at.y)
                    .with("r", tenths(*radius))
            }
            Primitive::Text { at, text, anchor, size, strong, mono, ink, halo } => {
                let mut class = ink.area();
                for (on, word) in
                    [(*strong, " strong"), (*mono, " mono"), (*halo, " halo s-ground")]
                {
                    class.push_str(if on { word } else { "" });
                }
                let mut element = Element::new("text").with("class", class);
                element = element.with("x", at.x).with("y", at.y).with("font-size", size);
                let anchor = match anchor {
                    Anchor::Start => None,
                    Anchor::Middle => Some("middle"),
                    Anchor::End => Some("end"),
                };
                if let Some(anchor) = anchor {
                    element = element.with("text-anchor", anchor);
                }
                Element { text: text.clone(), ..element }
            }
        }
    }
}

/// The class and the pen of an element that is drawn or filled.
fn drawn(element: Element, pen: Option<&Pen>, fill: Option<Fill>) -> Element {
    let mut classes = Vec::new();
    classes.extend(pen.map(|p| p.ink.line()));
    classes.extend(fill.map(|fill| match fill {
        Fill::None => "f-none".into(),
        Fill::Ground => "f-ground".into(),
        Fill::Solid(role) => format!("f-{}", role.word()),
        Fill::Tint(role) => format!("t-{}", role.word()),
        Fill::Hatch(role) => format!("h-{}", role.word()),
    }));
    let mut element = element.with("class", classes.join(" "));
    if let Some(pen) = pen {
        element = element.with("stroke-width", tenths(pen.tenths));
        let dash = match pen.dash {
            Dash::Solid => None,
            Dash::Dotted => Some("2 4"),
            Dash::Dashed => Some("5 4"),
        };
        if let Some(dash) = dash {
            element = element.with("stroke-dasharray", dash);
        }
    }
    element
}

/// Tenths of a pixel as SVG writes them.
pub(super) fn tenths(n: i32) -> String {
    let mut text = String::new();
    push_tenths(&mut text, n);
    text
}

/// The same at the end of a text. A picture of many has thousands of numbers, and `format!` takes longer than all else
/// that draws them.
pub(super) fn push_tenths(text: &mut String, n: i32) {
    let (whole, rest) = (n.unsigned_abs() / 10, n.unsigned_abs() % 10);
    if n < 0 {
        text.push('-');
    }
    let mut unit = 1;
    while unit <= whole / 10 {
        unit *= 10;
    }
    while unit > 0 {
        text.push(digit(whole / unit % 10));
        unit /= 10;
    }
    if rest > 0 {
        text.push('.');
        text.push(digit(rest));
    }
}

fn digit(n: u32) -> char {
    char::from(b'0' + n as u8)
}

/// In which roles areas may be hatched.
pub(super) const HATCHED: [Role; 3] = [Role::Muted, Role::Hold, Role::Stale];

/// The patterns that hatched areas refer to.
pub fn defs() -> Element {
    let pattern = |role: Role| {
        let line = Element::new("line").with("class", format!("s-{}", role.word()));
        let line = line.with("x1", 0).with("y1", 0).with("x2", 0).with("y2", 5);
        let pattern = Element::new("pattern")
            .with("id", format!("hatch-{}", role.word()))
            .with("width", 4)
            .with("height", 5)
            .with("patternUnits", "userSpaceOnUse")
            .with("patternTransform", "rotate(45)");
        Element { children: vec![line.with("stroke-width", 2)], ..pattern }
    };
    Element { children: HATCHED.into_iter().map(pattern).collect(), ..Element::new("defs") }
}
