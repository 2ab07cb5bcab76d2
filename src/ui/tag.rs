//! Elements of the page, built by plain calls: what `html!` writes out anew for each element is here once, and the
//! program that everybody downloads is smaller by that.
//!
//! ```ignore
//! tag("p").class("quiet").set("id", "said").on(Click, leave).put(strings::LEAVE).html()
//! ```

use std::rc::Rc;

use web_sys::{Event, InputEvent, KeyboardEvent, MouseEvent};
use yew::html::{onchange, onclick, oninput, onkeydown};
use yew::virtual_dom::{AttrValue, Key, Listener, VList, VNode, VTag, VText};
use yew::{Callback, Html, NodeRef};

/// An element that is being built.
pub struct Tag(Box<VTag>);

/// An element of this name, without anything.
#[inline(never)]
pub fn tag(name: &'static str) -> Tag {
    Tag(Box::new(VTag::new(name)))
}

/// A button that does nothing yet.
#[inline(never)]
pub fn button(class: &'static str) -> Tag {
    tag("button").set("type", "button").class(class)
}

/// What an attribute can be.
pub trait Value {
    /// The tag with it.
    fn set(self, tag: Tag, name: &'static str) -> Tag;
}

impl Value for &'static str {
    #[inline(never)]
    fn set(self, mut tag: Tag, name: &'static str) -> Tag {
        tag.0.add_attribute(name, self);
        tag
    }
}

impl Value for String {
    #[inline(never)]
    fn set(self, mut tag: Tag, name: &'static str) -> Tag {
        tag.0.add_attribute(name, AttrValue::from(self));
        tag
    }
}

/// As ARIA has it: the word, and not whether the attribute is there.
impl Value for bool {
    #[inline(never)]
    fn set(self, tag: Tag, name: &'static str) -> Tag {
        tag.set(name, if self { "true" } else { "false" })
    }
}

/// Without a value there is no attribute.
impl<V: Value> Value for Option<V> {
    fn set(self, tag: Tag, name: &'static str) -> Tag {
        match self {
            Some(value) => value.set(tag, name),
            None => tag,
        }
    }
}

/// What an element can contain.
pub trait Content {
    /// The tag with it behind what it has.
    fn put(self, tag: Tag) -> Tag;
}

impl Content for VNode {
    #[inline(never)]
    fn put(self, mut tag: Tag) -> Tag {
        tag.0.add_child(self);
        tag
    }
}

impl Content for Tag {
    #[inline(never)]
    fn put(self, tag: Tag) -> Tag {
        self.html().put(tag)
    }
}

impl Content for &'static str {
    #[inline(never)]
    fn put(self, mut tag: Tag) -> Tag {
        tag.0.add_child(VText::new(self).into());
        tag
    }
}

impl Content for String {
    #[inline(never)]
    fn put(self, mut tag: Tag) -> Tag {
        tag.0.add_child(VText::new(self).into());
        tag
    }
}

/// What may be missing keeps its place, so that its neighbours stay who they are.
impl<C: Content> Content for Option<C> {
    fn put(self, tag: Tag) -> Tag {
        match self {
            Some(content) => content.put(tag),
            None => VNode::VList(Rc::new(VList::new())).put(tag),
        }
    }
}

/// A kind of event, with what its listeners are told.
pub trait On {
    type Event;
    fn listener(call: Callback<Self::Event>) -> Rc<dyn Listener>;
}

macro_rules! kinds {
    ($($name:ident, $words:literal: $event:ty = $module:ident;)*) => {$(
        #[doc = $words]
        pub struct $name;

        impl On for $name {
            type Event = $event;

            #[inline(never)]
            fn listener(call: Callback<$event>) -> Rc<dyn Listener> {
                Rc::new($module::Wrapper::new(call))
            }
        }
    )*};
}

kinds! {
    Click, "It is pressed.": MouseEvent = onclick;
    Change, "It has another value.": Event = onchange;
    Input, "Its value is changing.": InputEvent = oninput;
    Keydown, "A key goes down.": KeyboardEvent = onkeydown;
}

impl Tag {
    /// With this class.
    pub fn class(self, class: impl Value) -> Tag {
        class.set(self, "class")
    }

    /// With this attribute.
    pub fn set(self, name: &'static str, value: impl Value) -> Tag {
        value.set(self, name)
    }

    /// Containing this behind what it has.
    pub fn put(self, content: impl Content) -> Tag {
        content.put(self)
    }

    /// Containing all of these behind what it has.
    pub fn all(mut self, nodes: impl IntoIterator<Item = Html>) -> Tag {
        for node in nodes {
            self = node.put(self);
        }
        self
    }

    /// Calling this at events of a kind.
    pub fn on<K: On>(self, _: K, call: Callback<K::Event>) -> Tag {
        self.listening(K::listener(call))
    }

    #[inline(never)]
    fn listening(mut self, listener: Rc<dyn Listener>) -> Tag {
        self.0.add_listener(listener);
        self
    }

    /// Ticked or not, as a box to tick is.
    #[inline(never)]
    pub fn checked(mut self, on: bool) -> Tag {
        self.0.set_checked(on);
        self
    }

    /// Known by this among its siblings.
    pub fn key(self, key: impl Into<Key>) -> Tag {
        self.known(key.into())
    }

    #[inline(never)]
    fn known(mut self, key: Key) -> Tag {
        self.0.key = Some(key);
        self
    }

    /// Leading to its node in the page.
    #[inline(never)]
    pub fn at(mut self, node: &NodeRef) -> Tag {
        self.0.node_ref = node.clone();
        self
    }

    /// The element, done.
    #[inline(never)]
    pub fn html(self) -> Html {
        (*self.0).into()
    }
}
