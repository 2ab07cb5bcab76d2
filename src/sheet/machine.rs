//! What to do on a real server, as a part of a document.

use super::prose::{said, tag};
use super::words;
use crate::diagram::Element;
use crate::lesson::{Lesson, Machine};

/// The lines to type, each with what it prints, and a remark behind that.
pub fn lines(machine: &Machine) -> Element {
    let line = |typed: &crate::lesson::Typed| {
        let prints = typed.prints.as_ref().map(|p| said("samp", "", format!("\n{}", p.text)));
        let note = typed.note.as_ref().map(|note| said("span", "remark", format!("   # {note}")));
        let end = said("span", "", "\n");
        [Some(said("code", "", &typed.text.text)), prints, note, Some(end)].into_iter().flatten()
    };
    tag("pre", "machine", machine.lines.iter().flat_map(line))
}

/// All that a lesson offers to do at home.
pub fn section(lesson: &Lesson) -> Option<Element> {
    let each = |machine: &Machine| {
        [
            said("h3", "", &machine.title),
            said("p", "quiet", format!("{}{}", words::NEEDS, machine.needs)),
            lines(machine),
        ]
    };
    let all = lesson.machines.iter().flat_map(each);
    let heading = [said("h2", "", words::MACHINE)];
    (!lesson.machines.is_empty()).then(|| tag("section", "", heading).holding(all))
}
