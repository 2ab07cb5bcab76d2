//! A picture as a file that stands alone.

use std::fmt::Write;

use super::draw::{filled, header, paths, pen, text};
use super::paint::{Dash, Element, Fill, HATCHED, Ink, Primitive, defs};
use super::palette::{DARK, LIGHT, Palette, Role};
use super::picture::{Anchor, Area, Mark, Picture, Point, Scale, Shape, Words};
use super::text::{SIZE, width};
use super::words::short;
use crate::judge::Ballot;
use crate::narrate;
use crate::run::{NodeKind, Run};

/// The height of the legend's rows.
const ROW: i32 = 22;

/// The picture as an SVG file with its own styles, light and dark, and a legend of its patterns.
pub fn svg(run: &Run, picture: &Picture) -> String {
    let (legend, legend_height) = legend(run, picture);
    let height = picture.height + legend_height;
    let (wide, high) = match picture.scale {
        Scale::Page => (picture.width, height),
        Scale::Wall => (picture.width * 5 / 3, height * 5 / 3),
    };
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\" \
         viewBox=\"0 0 {} {height}\" role=\"img\" aria-labelledby=\"title desc\">",
        picture.width
    );
    let headline = narrate::headline(run);
    let _ = writeln!(out, "<title id=\"title\">{}</title>", escape(&title(run)));
    let desc = format!("{} {}", headline.word, headline.rest);
    let _ = writeln!(out, "<desc id=\"desc\">{}</desc>", escape(desc.trim_end()));
    let _ = writeln!(out, "<style>\n{}</style>", style());
    write(&mut out, &defs());
    let page = Area { left: 0, top: 0, right: picture.width, bottom: height };
    let page = filled(&page, None, Fill::Ground, 0);
    let marks = picture.marks.iter().flat_map(|m| paths(&m.shape, m.role));
    let all =
        std::iter::once(page).chain(marks).chain(header(picture, Some(run.end))).chain(legend);
    all.for_each(|primitive| write(&mut out, &primitive.element()));
    out.push_str("</svg>\n");
    out
}

/// A still picture as a file of its own, with its styles.
pub fn alone(still: &Element) -> String {
    let style = Element { text: style(), ..Element::new("style") };
    let mut svg = still.clone().with("xmlns", "http://www.w3.org/2000/svg");
    svg.children.splice(0..0, [style, defs()]);
    let mut out = String::new();
    write(&mut out, &svg);
    out
}

fn title(run: &Run) -> String {
    let names: Vec<&str> = run.names().nodes.iter().map(|n| n.label.as_str()).collect();
    format!("Space-time diagram: {}", names.join(", "))
}

/// Colours as classes. The file cannot use the page's variables: many viewers do not know them.
fn style() -> String {
    let mut out = String::from(
        "text{font-family:system-ui,-apple-system,\"Segoe UI\",sans-serif}\n\
         .mono{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}\n\
         .strong{font-weight:600}\n.f-none{fill:none}\npath,line{stroke-linejoin:round}\n",
    );
    colours(&mut out, &LIGHT);
    out.push_str(".halo{paint-order:stroke;stroke-width:3px}\n");
    for role in Role::ALL {
        let word = role.word();
        let _ = writeln!(out, ".t-{word}{{fill-opacity:.08}}");
    }
    for role in HATCHED {
        let word = role.word();
        let _ = writeln!(out, ".h-{word}{{fill:url(#hatch-{word})}}");
    }
    out.push_str("@media (prefers-color-scheme:dark){\n");
    colours(&mut out, &DARK);
    for role in Role::ALL {
        let _ = writeln!(out, ".t-{}{{fill-opacity:.14}}", role.word());
    }
    out.push_str("}\n");
    out
}

fn colours(out: &mut String, palette: &Palette) {
    for role in Role::ALL {
        let (word, colour) = (role.word(), palette.of(role));
        let _ = writeln!(
            out,
            ".s-{word}{{stroke:#{colour:06X}}}.f-{word},.t-{word}{{fill:#{colour:06X}}}"
        );
    }
    for (word, colour) in [("ground", palette.ground), ("hairline", palette.hairline)] {
        let _ = writeln!(out, ".s-{word}{{stroke:#{colour:06X}}}.f-{word}{{fill:#{colour:06X}}}");
    }
}

fn write(out: &mut String, element: &Element) {
    let _ = write!(out, "<{}", element.tag);
    for (name, value) in &element.attributes {
        let _ = write!(out, " {name}=\"{}\"", escape(value));
    }
    if element.children.is_empty() && element.text.is_empty() {
        out.push_str("/>\n");
        return;
    }
    out.push('>');
    out.push_str(&escape(&element.text));
    for child in &element.children {
        write(out, child);
    }
    let _ = writeln!(out, "</{}>", element.tag);
}

/// A text as markup shows it, between tags and in the quotes of an attribute.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c < ' ' && c != '\n' && c != '\t' => {}
            c => out.push(c),
        }
    }
    out
}

/// A sample of a mark, how wide it is, and what it means.
struct Entry {
    swatch: Swatch,
    wide: i32,
    words: String,
}

enum Swatch {
    Area(Fill, Role),
    Kept(u16),
    Silent(u16),
    Eye(bool),
    Decides,
    Seats,
    Stopwatch,
    Valid(Role),
    Ballot(Ballot),
}

impl Swatch {
    fn drawn(&self, at: Point) -> Vec<Primitive> {
        let area = Area { left: at.x, top: at.y, right: at.x + 20, bottom: at.y + 11 };
        let slim = Area { left: at.x + 1, right: at.x + 8, ..area };
        match self {
            Swatch::Area(fill, role) => {
                let dash = match fill {
                    Fill::None | Fill::Tint(_) => Dash::Dotted,
                    _ => Dash::Solid,
                };
                vec![filled(&area, Some(pen(*role, 15, dash)), *fill, 0)]
            }
            Swatch::Kept(whose) => paths(&Shape::Kept { area: slim, whose: *whose }, Role::Hold),
            Swatch::Silent(whose) => {
                paths(&Shape::Silent { area: slim, whose: *whose }, Role::Muted)
            }
            Swatch::Eye(fired) => {
                let at = Point { x: at.x + 9, y: at.y + 6 };
                let role = if *fired { Role::Ink } else { Role::Muted };
                paths(&Shape::Watch { ends: vec![[at, at]], fired: *fired }, role)
            }
            Swatch::Decides => {
                let (legs, words) = (Vec::new(), Vec::new());
                let decides = Some(Point { x: at.x + 5, y: at.y + 6 });
                paths(&Shape::Round { legs, words, decides }, Role::Muted)
            }
            Swatch::Seats => {
                let seats = vec![(String::new(), true), (String::new(), false)];
                paths(&Shape::Seats { at: Point { y: at.y - 3, ..at }, seats, more: 0 }, Role::Hold)
            }
            Swatch::Stopwatch => {
                let (left, right, top, bottom) = (slim.left, slim.right, slim.top, slim.bottom);
                paths(&Shape::Stopwatch { left, right, top, bottom }, Role::Ink)
            }
            Swatch::Valid(role) => paths(&Shape::Valid { area: slim }, *role),
            Swatch::Ballot(ballot) => paths(&Shape::Ballot { at, ballot: *ballot }, Role::Ink),
        }
    }
}

/// The samples of marks that only servers have of which none grants alone.
fn several(run: &Run, picture: &Picture) -> Vec<Entry> {
    let mut entries = Vec::new();
    let has = |wanted: &dyn Fn(&Shape) -> bool| picture.marks.iter().any(|m| wanted(&m.shape));
    for client in run.names().of_kind(NodeKind::Client) {
        if has(&|s| matches!(s, Shape::Kept { whose, .. } if *whose == client.0)) {
            let words = format!("{} has it at that server", short(run, client));
            entries.push(Entry { swatch: Swatch::Kept(client.0), wide: 9, words });
        }
    }
    for client in run.names().of_kind(NodeKind::Client) {
        if has(&|s| matches!(s, Shape::Silent { whose, .. } if *whose == client.0)) {
            let words = format!("nothing heard of {}’s session", short(run, client));
            entries.push(Entry { swatch: Swatch::Silent(client.0), wide: 9, words });
        }
    }
    for (fired, words) in [(false, "watches"), (true, "its watch fires")] {
        if has(&|s| matches!(s, Shape::Watch { fired: f, .. } if *f == fired)) {
            let words = words.to_string();
            entries.push(Entry { swatch: Swatch::Eye(fired), wide: 18, words });
        }
    }
    if has(&|s| matches!(s, Shape::Round { decides: Some(_), .. })) {
        let words = "makes the majority".to_string();
        entries.push(Entry { swatch: Swatch::Decides, wide: 10, words });
    }
    if has(&|s| matches!(s, Shape::Seats { .. })) {
        let words = "the queue: first holds".to_string();
        entries.push(Entry { swatch: Swatch::Seats, wide: 36, words });
    }
    let answers = [Some(true), Some(false), None].into_iter();
    let over = |m: &Mark| m.role == Role::Stale && matches!(m.shape, Shape::Valid { .. });
    let valid = |m: &Mark| m.role == Role::Ink && matches!(m.shape, Shape::Valid { .. });
    let marks = [
        (
            picture.marks.iter().any(over),
            Swatch::Valid(Role::Stale),
            9,
            "still promised, no longer true",
        ),
        (
            has(&|s| matches!(s, Shape::Stopwatch { .. })),
            Swatch::Stopwatch,
            9,
            "from asking to deciding",
        ),
        (picture.marks.iter().any(valid), Swatch::Valid(Role::Ink), 9, "may act, by its own count"),
        (
            has(&|s| matches!(s, Shape::Ballot { .. })),
            Swatch::Ballot(Ballot::of(answers)),
            36,
            "yes, no, no answer",
        ),
    ];
    let marks = marks.into_iter().filter(|m| m.0);
    entries.extend(marks.map(|(_, swatch, wide, words)| Entry {
        swatch,
        wide,
        words: words.into(),
    }));
    entries
}

/// What the patterns mean, for those that the picture has; and how high that is.
fn legend(run: &Run, picture: &Picture) -> (Vec<Primitive>, i32) {
    let has =
        |wanted: fn(&Shape, Role) -> bool| picture.marks.iter().any(|m| wanted(&m.shape, m.role));
    let swatch = Fill::Hatch(Role::Hold);
    let entries = [
        (
            has(|s, r| matches!(s, Shape::Belief { .. }) && r == Role::Hold),
            swatch,
            Role::Hold,
            "believes it holds",
        ),
        (
            has(|s, _| matches!(s, Shape::Truth { .. })),
            Fill::Solid(Role::Hold),
            Role::Hold,
            "the service says so",
        ),
        (
            has(|s, r| matches!(s, Shape::Belief { .. }) && r == Role::Stale),
            Fill::Hatch(Role::Stale),
            Role::Stale,
            "believes, no longer true",
        ),
        (has(|s, _| matches!(s, Shape::Waiting { .. })), Fill::None, Role::Muted, "waiting"),
        (
            has(|s, _| matches!(s, Shape::Section { .. })),
            Fill::Ground,
            Role::Ink,
            "at work, no lock",
        ),
        (
            has(|s, _| matches!(s, Shape::Band { .. })),
            Fill::Tint(Role::Danger),
            Role::Danger,
            "two believers",
        ),
    ];
    let areas = entries.iter().filter(|e| e.0);
    let areas = areas.map(|(_, fill, role, words)| Entry {
        swatch: Swatch::Area(*fill, *role),
        wide: 20,
        words: (*words).to_string(),
    });
    let mut drawn = Vec::new();
    let (mut x, mut y) = (16, picture.height + 8);
    for Entry { swatch, wide, words } in areas.chain(several(run, picture)) {
        let room = wide + 6 + width(&words, SIZE, false, false) + 22;
        if x + room > picture.width && x > 16 {
            (x, y) = (16, y + ROW);
        }
        drawn.extend(swatch.drawn(Point { x, y }));
        let words = Words {
            text: words,
            at: Point { x: x + wide + 7, y: y + 10 },
            anchor: Anchor::Start,
            size: SIZE,
            strong: false,
            mono: false,
            halo: false,
        };
        drawn.push(text(&words, Ink::Role(Role::Muted)));
        x += room;
    }
    let high = if drawn.is_empty() { 0 } else { y + ROW - picture.height };
    (drawn, high)
}
