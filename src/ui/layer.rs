//! Layers of the picture that draw their marks themselves. A jump in a long run changes all of them at once, and
//! making a virtual and a real node of each took longer than a frame. Here the nodes of marks that are gone become
//! those of marks that come: only their attributes change.

use std::mem::{discriminant, take};
use std::rc::Rc;

use web_sys::Document;
use yew::{Html, Properties, component, use_effect_with, use_mut_ref, use_node_ref};

use super::draw::Same;
use super::platform;
use super::stage::group;
use super::tag::html;
use crate::diagram::{Element, Mark, Picture};
use crate::sim::Micros;

const SVG: &str = "http://www.w3.org/2000/svg";

#[derive(Clone, Properties, PartialEq)]
pub struct Props {
    pub picture: Same<Picture>,
    /// Whether it has the marks that grow while time passes, or those that appear whole.
    pub grows: bool,
    /// The present moment; none before anything has happened. What grows is there from the start, and clipped.
    #[prop_or_default]
    pub at: Option<Micros>,
    /// From where to where the picture is drawn.
    pub stretch: (i32, i32),
    /// The events that are lit.
    pub lit: Rc<Vec<u32>>,
}

impl Props {
    fn holds(&self, mark: &Mark) -> bool {
        let (top, bottom) = self.stretch;
        let near = mark.bounds.bottom >= top && mark.bounds.top <= bottom;
        near && mark.grows() == self.grows && (self.grows || Some(mark.from) <= self.at)
    }
}

/// A layer of marks. It is rendered when an event is reached, not in between.
#[component]
pub fn Layer(props: &Props) -> Html {
    let place = use_node_ref();
    let drawn = use_mut_ref(Drawn::default);
    let here = place.clone();
    use_effect_with(props.clone(), move |props| {
        if let (Some(place), Some(document)) = (here.cast(), platform::document()) {
            drawn.borrow_mut().show(props, &place, &document);
        }
    });
    html! { <g ref={place} clip-path={props.grows.then_some("url(#past)")} /> }
}

/// What a layer has drawn.
#[derive(Default)]
struct Drawn {
    picture: Option<Same<Picture>>,
    marks: Vec<Shown>,
}

/// A mark that is drawn.
struct Shown {
    /// Its place in the picture.
    index: usize,
    lit: bool,
    node: Node,
}

impl Drawn {
    fn show(&mut self, props: &Props, place: &web_sys::Element, document: &Document) {
        let picture = &props.picture;
        let before = self.picture.replace(picture.clone());
        let was = |index: usize| before.as_ref().and_then(|b| b.marks.get(index));
        let same = before.as_ref() == Some(picture);
        let wanted: Vec<_> =
            picture.marks.iter().enumerate().filter(|(_, mark)| props.holds(mark)).collect();
        let stays = |shown: &Shown| wanted.binary_search_by_key(&shown.index, |w| w.0).is_ok();
        let (kept, mut spare): (Vec<_>, Vec<_>) =
            take(&mut self.marks).into_iter().partition(stays);
        let (mut kept, mut moved) = (kept.into_iter().peekable(), false);
        for (index, mark) in wanted {
            let lit = props.lit.contains(&mark.event.0);
            let like = |s: &Shown| {
                was(s.index).is_some_and(|w| discriminant(&w.shape) == discriminant(&mark.shape))
            };
            let found = kept.next_if(|s| s.index == index);
            let as_it_was = |s: &Shown| s.lit == lit && (same || was(index) == Some(mark));
            if found.as_ref().is_some_and(as_it_was) {
                self.marks.extend(found);
                continue;
            }
            let element = group(mark, lit);
            moved |= found.is_none();
            let found = found.or_else(|| spare.iter().position(like).map(|i| spare.remove(i)));
            let node = match found {
                Some(mut shown) => {
                    shown.node.turn_into(element, document);
                    Some(shown.node)
                }
                None => Node::new(element, document),
            };
            self.marks.extend(node.map(|node| Shown { index, lit, node }));
        }
        spare.iter().for_each(|gone| gone.node.real.remove());
        if moved {
            self.order(place);
        }
    }

    /// Puts the nodes into the order of their marks; most are already there.
    fn order(&self, place: &web_sys::Element) {
        let mut next: Option<&web_sys::Node> = None;
        for shown in self.marks.iter().rev() {
            let real: &web_sys::Node = &shown.node.real;
            if real.parent_node().is_none() || real.next_sibling().as_ref() != next {
                let _ = place.insert_before(real, next);
            }
            next = Some(real);
        }
    }
}

/// An element of the picture, and its node in the page.
struct Node {
    element: Element,
    real: web_sys::Element,
    children: Vec<Node>,
}

impl Node {
    fn new(element: Element, document: &Document) -> Option<Node> {
        let real = document.create_element_ns(Some(SVG), element.tag).ok()?;
        let mut node = Node { element: Element::new(element.tag), real, children: Vec::new() };
        node.turn_into(element, document);
        Some(node)
    }

    /// Changes the node into that of another element of the same tag.
    fn turn_into(&mut self, mut element: Element, document: &Document) {
        let (old, new) = (&self.element.attributes, &element.attributes);
        for (name, _) in old.iter().filter(|o| !new.iter().any(|n| n.0 == o.0)) {
            let _ = self.real.remove_attribute(name);
        }
        for (name, value) in new.iter().filter(|n| !old.contains(n)) {
            let _ = self.real.set_attribute(name, value);
        }
        if self.element.text != element.text {
            self.real.set_text_content(Some(&element.text));
        }
        let children = take(&mut element.children);
        self.element = element;
        let mut old = take(&mut self.children).into_iter();
        for child in children {
            let node = match old.next() {
                Some(mut node) if node.element.tag == child.tag => {
                    node.turn_into(child, document);
                    Some(node)
                }
                other => {
                    let node = Node::new(child, document);
                    if let Some(node) = &node {
                        let _ = self
                            .real
                            .insert_before(&node.real, other.as_ref().map(|o| o.real.as_ref()));
                    }
                    if let Some(other) = other {
                        other.real.remove();
                    }
                    node
                }
            };
            self.children.extend(node);
        }
        old.for_each(|gone| gone.real.remove());
    }
}
