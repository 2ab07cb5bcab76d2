//! Elements as the text of a document.

use crate::diagram::{Element, escape};

/// Elements that never hold anything and have no end tag.
const VOID: [&str; 5] = ["br", "hr", "img", "link", "meta"];

/// The element as HTML. Whatever it says is text, never markup.
pub fn html(element: &Element) -> String {
    let mut out = String::new();
    write(&mut out, element);
    out
}

fn write(out: &mut String, element: &Element) {
    if element.tag.is_empty() {
        out.push_str(&escape(&element.text));
        return;
    }
    out.push('<');
    out.push_str(element.tag);
    for (name, value) in &element.attributes {
        out.push_str(&format!(" {name}=\"{}\"", escape(value)));
    }
    out.push('>');
    if VOID.contains(&element.tag) {
        return;
    }
    out.push_str(&escape(&element.text));
    element.children.iter().for_each(|child| write(out, child));
    out.push_str(&format!("</{}>", element.tag));
}
