//! How wide words are, estimated from a fixed table so that a layout is the same everywhere.
//!
//! The table is of DejaVu Sans, the widest of the fonts that system stacks resolve to: what fits by
//! it fits by the others.

use super::picture::{Anchor, Area, Words};

/// The height of a line of text of 12 px.
pub(super) const LINE: i32 = 15;
/// The size of words.
pub(super) const SIZE: i32 = 12;

/// Advances of U+0020 to U+007E in thousandths of the size.
const REGULAR: [i32; 95] = [
    318, 401, 460, 838, 637, 951, 780, 275, 391, 391, 500, 838, 318, 361, 318, 337, 637, 637, 637,
    637, 637, 637, 637, 637, 637, 637, 337, 337, 838, 838, 838, 531, 1000, 685, 687, 699, 771, 632,
    576, 775, 752, 295, 295, 656, 558, 863, 749, 788, 604, 788, 695, 635, 611, 732, 685, 989, 686,
    611, 686, 391, 337, 391, 838, 500, 500, 613, 635, 550, 635, 616, 353, 635, 634, 278, 278, 580,
    278, 975, 634, 612, 635, 635, 412, 521, 393, 634, 592, 818, 592, 592, 525, 637, 337, 637, 838,
];

/// The same for strong text.
const STRONG: [i32; 95] = [
    349, 457, 521, 838, 696, 1002, 873, 307, 458, 458, 523, 838, 380, 416, 380, 366, 696, 696, 696,
    696, 696, 696, 696, 696, 696, 696, 400, 400, 838, 838, 838, 581, 1000, 774, 763, 734, 831, 684,
    684, 821, 837, 373, 373, 775, 638, 996, 837, 851, 733, 851, 771, 721, 683, 813, 774, 1104, 771,
    725, 726, 458, 366, 458, 838, 500, 500, 675, 716, 593, 716, 679, 436, 716, 712, 343, 343, 666,
    343, 1042, 712, 688, 716, 716, 494, 596, 479, 712, 652, 924, 646, 652, 583, 712, 366, 712, 838,
];

/// Every advance of the fixed-width stack.
const MONO: i32 = 603;
/// Anything that the tables do not have.
const OTHER: i32 = 1000;

/// How wide a text is at most, in pixels.
pub(super) fn width(text: &str, size: i32, strong: bool, mono: bool) -> i32 {
    let table = if strong { &STRONG } else { &REGULAR };
    let advance = |c: char| {
        let index = (c as usize).wrapping_sub(0x20);
        let known = table.get(index).copied();
        if mono && known.is_some() { MONO } else { known.unwrap_or(OTHER) }
    };
    let thousandths: i32 = text.chars().map(advance).sum();
    (thousandths * size + 999) / 1_000
}

/// The text, cut to a width with an ellipsis where it is too long.
pub(super) fn fit(text: &str, most: i32, size: i32, strong: bool) -> String {
    if width(text, size, strong, false) <= most {
        return text.into();
    }
    let mut kept: String = text.into();
    while kept.pop().is_some() {
        let cut = format!("{}…", kept.trim_end());
        if width(&cut, size, strong, false) <= most {
            return cut;
        }
    }
    String::new()
}

/// The box of a line of text.
pub(super) fn area(words: &Words) -> Area {
    let wide = width(&words.text, words.size, words.strong, words.mono);
    let left = match words.anchor {
        Anchor::Start => words.at.x,
        Anchor::Middle => words.at.x - wide / 2,
        Anchor::End => words.at.x - wide,
    };
    let top = words.at.y - words.size + 1;
    Area { left, top, right: left + wide, bottom: words.at.y + words.size / 4 }
}
