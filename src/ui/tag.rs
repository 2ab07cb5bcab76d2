//! The page's own `html!`, which reads as Yew's does and is written out as calls of the functions here: Yew's macro
//! writes all that an element is made of into the place where it stands, some 300 bytes each time, and everybody who
//! opens a lesson downloads that.
//!
//! It knows elements, `<>…</>`, `{ expression }`, `{ for iterator }`, `if` with `else` and `if let`; attributes with a
//! literal or in braces, `{name}` for `name={name}`, `key`, `ref`, and the listeners in [`on`]. Components are mounted
//! by [`part`](super::part::part).

use std::rc::Rc;

use yew::virtual_dom::{AttributeOrProperty, Attributes, Key, Listener, VList, VNode, VTag, VText};
use yew::{AttrValue, Html, NodeRef};

/// An element that is being built.
pub struct Tag(Box<Draft>);

struct Draft {
    tag: VTag,
    /// How many attributes have their values.
    set: usize,
}

/// An element with attributes of these names, whose values are to be [`set`](Tag::set) in their order.
#[inline(never)]
pub fn tag(name: &'static str, attributes: &'static [&'static str]) -> Tag {
    let mut tag = VTag::new(name);
    let values = vec![None; attributes.len()].into_boxed_slice();
    tag.set_attributes(Attributes::Dynamic { keys: attributes, values });
    Tag(Box::new(Draft { tag, set: 0 }))
}

/// What an attribute can be; without a value it is left away.
pub trait Value {
    /// As the page has it.
    fn value(self) -> Option<AttrValue>;

    /// The element with it as its next attribute.
    fn put(self, tag: Tag) -> Tag
    where
        Self: Sized,
    {
        tag.attribute(self.value())
    }
}

impl Value for &'static str {
    fn value(self) -> Option<AttrValue> {
        Some(AttrValue::Static(self))
    }

    #[inline(never)]
    fn put(self, tag: Tag) -> Tag {
        tag.attribute(self.value())
    }
}

impl Value for String {
    fn value(self) -> Option<AttrValue> {
        Some(self.into())
    }

    #[inline(never)]
    fn put(self, tag: Tag) -> Tag {
        tag.attribute(self.value())
    }
}

/// An attribute that is there or not.
impl Value for bool {
    fn value(self) -> Option<AttrValue> {
        self.then_some(AttrValue::Static(""))
    }
}

impl<V: Value> Value for Option<V> {
    fn value(self) -> Option<AttrValue> {
        self.and_then(V::value)
    }
}

/// What an element can contain.
pub trait Content: Sized {
    /// As a node.
    fn html(self) -> Html;

    /// The element with it behind what it has.
    fn put(self, tag: Tag) -> Tag {
        tag.child(self.html())
    }
}

impl Content for VNode {
    fn html(self) -> Html {
        self
    }
}

impl Content for Tag {
    #[inline(never)]
    fn html(self) -> Html {
        self.0.tag.into()
    }

    #[inline(never)]
    fn put(self, tag: Tag) -> Tag {
        tag.child(self.html())
    }
}

impl Content for &str {
    #[inline(never)]
    fn html(self) -> Html {
        self.to_string().html()
    }

    #[inline(never)]
    fn put(self, tag: Tag) -> Tag {
        tag.child(self.html())
    }
}

impl Content for String {
    #[inline(never)]
    fn html(self) -> Html {
        VText::new(self).into()
    }

    #[inline(never)]
    fn put(self, tag: Tag) -> Tag {
        tag.child(self.html())
    }
}

impl Content for &String {
    fn html(self) -> Html {
        self.clone().html()
    }

    #[inline(never)]
    fn put(self, tag: Tag) -> Tag {
        tag.child(self.html())
    }
}

/// Without a content there is nothing.
impl<C: Content> Content for Option<C> {
    fn html(self) -> Html {
        self.map_or_else(Html::default, C::html)
    }

    fn put(self, tag: Tag) -> Tag {
        match self {
            Some(content) => content.put(tag),
            None => tag,
        }
    }
}

impl Content for usize {
    fn html(self) -> Html {
        self.to_string().html()
    }
}

impl Tag {
    /// With its next attribute.
    pub fn set(self, value: impl Value) -> Tag {
        value.put(self)
    }

    #[inline(never)]
    fn attribute(mut self, value: Option<AttrValue>) -> Tag {
        let draft = &mut *self.0;
        if let Attributes::Dynamic { values, .. } = &mut draft.tag.attributes
            && let Some(place) = values.get_mut(draft.set)
        {
            *place = value.map(AttributeOrProperty::Attribute);
        }
        draft.set += 1;
        self
    }

    /// Of a field: what it holds.
    pub fn value(self, value: impl Value) -> Tag {
        self.holding(value.value())
    }

    #[inline(never)]
    fn holding(mut self, value: Option<AttrValue>) -> Tag {
        self.0.tag.set_value(value);
        self
    }

    /// Of a box to tick: whether it is.
    #[inline(never)]
    pub fn checked(mut self, on: bool) -> Tag {
        self.0.tag.set_checked(on);
        self
    }

    /// Known by this among its siblings.
    pub fn key(self, key: impl Into<Key>) -> Tag {
        self.known(key.into())
    }

    #[inline(never)]
    fn known(mut self, key: Key) -> Tag {
        self.0.tag.key = Some(key);
        self
    }

    /// Leading to its node in the page.
    #[inline(never)]
    pub fn at(mut self, node: NodeRef) -> Tag {
        self.0.tag.node_ref = node;
        self
    }

    /// Telling a listener.
    #[inline(never)]
    pub fn on(mut self, listener: Rc<dyn Listener>) -> Tag {
        self.0.tag.add_listener(listener);
        self
    }

    /// Containing this behind what it has.
    pub fn put(self, content: impl Content) -> Tag {
        content.put(self)
    }

    #[inline(never)]
    fn child(mut self, node: Html) -> Tag {
        self.0.tag.add_child(node);
        self
    }

    /// Containing all of these behind what it has.
    pub fn all(self, nodes: impl IntoIterator<Item = Html>) -> Tag {
        nodes.into_iter().fold(self, Tag::child)
    }
}

/// Nothing yet, where markup begins.
pub struct Nothing;

impl Nothing {
    /// This, and so far nothing else.
    pub fn put(self, content: impl Content) -> One {
        One(content.html())
    }
}

/// A node that may stay alone.
pub struct One(Html);

impl One {
    /// Beside this.
    pub fn put(self, content: impl Content) -> Many {
        many().put(self.0).put(content)
    }
}

/// Nodes beside each other.
pub struct Many(Vec<Html>);

/// No nodes yet.
pub fn many() -> Many {
    Many(Vec::new())
}

impl Many {
    /// With this behind them.
    pub fn put(self, content: impl Content) -> Many {
        self.child(content.html())
    }

    #[inline(never)]
    fn child(mut self, node: Html) -> Many {
        self.0.push(node);
        self
    }

    /// With all of these behind them.
    pub fn all(self, nodes: impl IntoIterator<Item = Html>) -> Many {
        nodes.into_iter().fold(self, Many::child)
    }
}

impl Content for One {
    fn html(self) -> Html {
        self.0
    }
}

impl Content for Many {
    #[inline(never)]
    fn html(self) -> Html {
        VList::with_children(self.0, None).into()
    }
}

/// What listens, by the name of what it listens to.
pub mod on {
    use std::rc::Rc;

    use yew::Callback;
    use yew::virtual_dom::Listener;

    macro_rules! listeners {
        ($($name:ident)*) => {$(
            #[inline(never)]
            pub fn $name(call: Callback<yew::html::$name::Event>) -> Rc<dyn Listener> {
                Rc::new(yew::html::$name::Wrapper::new(call))
            }
        )*};
    }

    listeners! {
        onblur onchange onclick onclose onfocus oninput onkeydown onlostpointercapture
        onpointercancel onpointerdown onpointermove onscroll onsubmit
    }
}

/// Whether two names are one: an element has to be closed by its own.
pub const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

/// Markup. It is read from left to right: what is being built, and the stack of what that stands in.
macro_rules! html {
    // `@in built [stack]`: between the tags of what is being built.
    (@in $it:tt []) => { $crate::ui::tag::Content::html($it) };
    (@in $it:tt [[$name:ident] $up:tt $($stack:tt)*] </ $close:ident> $($rest:tt)*) => {
        $crate::ui::tag::html!(@in ({
            const { assert!($crate::ui::tag::same(stringify!($name), stringify!($close)), "closed by another name") };
            $up.put($it)
        }) [$($stack)*] $($rest)*)
    };
    (@in $it:tt [[] $up:tt $($stack:tt)*] </> $($rest:tt)*) => {
        $crate::ui::tag::html!(@in ($up.put($it)) [$($stack)*] $($rest)*)
    };
    (@in $it:tt [$($stack:tt)*] <> $($rest:tt)*) => {
        $crate::ui::tag::html!(@in ($crate::ui::tag::many()) [[] $it $($stack)*] $($rest)*)
    };
    (@in $it:tt [$($stack:tt)*] <$name:ident $($rest:tt)*) => {
        $crate::ui::tag::html!(@tag $name [] [] [$it $($stack)*] $($rest)*)
    };
    (@in $it:tt $stack:tt { for $all:expr } $($rest:tt)*) => {
        $crate::ui::tag::html!(@in ($it.all($all)) $stack $($rest)*)
    };
    (@in $it:tt $stack:tt { $one:expr } $($rest:tt)*) => {
        $crate::ui::tag::html!(@in ($it.put($one)) $stack $($rest)*)
    };
    (@in $it:tt $stack:tt if $($rest:tt)*) => {
        $crate::ui::tag::html!(@if $it $stack [] [] $($rest)*)
    };

    // `@if built [stack] [branches so far] [condition so far]`. A branch that is not taken keeps its place.
    (@if $it:tt $stack:tt [$($so:tt)*] [$($when:tt)*] { $($then:tt)* } else if $($rest:tt)*) => {
        $crate::ui::tag::html!(@if $it $stack
            [$($so)* if $($when)* { $crate::ui::tag::html!($($then)*) } else] [] $($rest)*)
    };
    (@if $it:tt $stack:tt [$($so:tt)*] [$($when:tt)*] { $($then:tt)* } else { $($or:tt)* } $($rest:tt)*) => {
        $crate::ui::tag::html!(@in ($it.put(
            $($so)* if $($when)* { $crate::ui::tag::html!($($then)*) } else { $crate::ui::tag::html!($($or)*) }
        )) $stack $($rest)*)
    };
    (@if $it:tt $stack:tt [$($so:tt)*] [$($when:tt)*] { $($then:tt)* } $($rest:tt)*) => {
        $crate::ui::tag::html!(@if $it $stack [$($so)*] [$($when)*] { $($then)* } else {} $($rest)*)
    };
    (@if $it:tt $stack:tt $so:tt [$($when:tt)*] $more:tt $($rest:tt)*) => {
        $crate::ui::tag::html!(@if $it $stack $so [$($when)* $more] $($rest)*)
    };

    // `@tag name [names of attributes] [calls] [stack]`: inside the tag that opens an element.
    (@tag $name:ident [$($key:tt)*] [$($call:tt)*] [$up:tt $($stack:tt)*] /> $($rest:tt)*) => {
        $crate::ui::tag::html!(@in (
            $up.put($crate::ui::tag::tag(stringify!($name), &[$($key)*])$($call)*)
        ) [$($stack)*] $($rest)*)
    };
    (@tag $name:ident [$($key:tt)*] [$($call:tt)*] [$($stack:tt)*] > $($rest:tt)*) => {
        $crate::ui::tag::html!(@in (
            $crate::ui::tag::tag(stringify!($name), &[$($key)*])$($call)*
        ) [[$name] $($stack)*] $($rest)*)
    };
    (@tag $name:ident $keys:tt $calls:tt $stack:tt { $both:ident } $($rest:tt)*) => {
        $crate::ui::tag::html!(@tag $name $keys $calls $stack $both={ $both } $($rest)*)
    };
    (@tag $name:ident $keys:tt [$($call:tt)*] $stack:tt key={ $key:expr } $($rest:tt)*) => {
        $crate::ui::tag::html!(@tag $name $keys [$($call)* .key($key)] $stack $($rest)*)
    };
    (@tag $name:ident $keys:tt [$($call:tt)*] $stack:tt key=$key:literal $($rest:tt)*) => {
        $crate::ui::tag::html!(@tag $name $keys [$($call)* .key($key)] $stack $($rest)*)
    };
    (@tag $name:ident $keys:tt [$($call:tt)*] $stack:tt ref={ $node:expr } $($rest:tt)*) => {
        $crate::ui::tag::html!(@tag $name $keys [$($call)* .at($node)] $stack $($rest)*)
    };
    (@tag input $keys:tt [$($call:tt)*] $stack:tt checked={ $on:expr } $($rest:tt)*) => {
        $crate::ui::tag::html!(@tag input $keys [$($call)* .checked($on)] $stack $($rest)*)
    };
    (@tag input $keys:tt [$($call:tt)*] $stack:tt value={ $value:expr } $($rest:tt)*) => {
        $crate::ui::tag::html!(@tag input $keys [$($call)* .value($value)] $stack $($rest)*)
    };
    (@tag input $keys:tt [$($call:tt)*] $stack:tt value=$value:literal $($rest:tt)*) => {
        $crate::ui::tag::html!(@tag input $keys [$($call)* .value($value)] $stack $($rest)*)
    };
    (@tag textarea $keys:tt [$($call:tt)*] $stack:tt value={ $value:expr } $($rest:tt)*) => {
        $crate::ui::tag::html!(@tag textarea $keys [$($call)* .value($value)] $stack $($rest)*)
    };
    (@tag $name:ident $keys:tt $calls:tt $stack:tt onblur={ $told:expr } $($rest:tt)*) => {
        $crate::ui::tag::html!(@listen $name $keys $calls $stack onblur ($told) $($rest)*)
    };
    (@tag $name:ident $keys:tt $calls:tt $stack:tt onchange={ $told:expr } $($rest:tt)*) => {
        $crate::ui::tag::html!(@listen $name $keys $calls $stack onchange ($told) $($rest)*)
    };
    (@tag $name:ident $keys:tt $calls:tt $stack:tt onclick={ $told:expr } $($rest:tt)*) => {
        $crate::ui::tag::html!(@listen $name $keys $calls $stack onclick ($told) $($rest)*)
    };
    (@tag $name:ident $keys:tt $calls:tt $stack:tt onclose={ $told:expr } $($rest:tt)*) => {
        $crate::ui::tag::html!(@listen $name $keys $calls $stack onclose ($told) $($rest)*)
    };
    (@tag $name:ident $keys:tt $calls:tt $stack:tt onfocus={ $told:expr } $($rest:tt)*) => {
        $crate::ui::tag::html!(@listen $name $keys $calls $stack onfocus ($told) $($rest)*)
    };
    (@tag $name:ident $keys:tt $calls:tt $stack:tt oninput={ $told:expr } $($rest:tt)*) => {
        $crate::ui::tag::html!(@listen $name $keys $calls $stack oninput ($told) $($rest)*)
    };
    (@tag $name:ident $keys:tt $calls:tt $stack:tt onkeydown={ $told:expr } $($rest:tt)*) => {
        $crate::ui::tag::html!(@listen $name $keys $calls $stack onkeydown ($told) $($rest)*)
    };
    (@tag $name:ident $keys:tt $calls:tt $stack:tt onlostpointercapture={ $told:expr } $($rest:tt)*) => {
        $crate::ui::tag::html!(@listen $name $keys $calls $stack onlostpointercapture ($told) $($rest)*)
    };
    (@tag $name:ident $keys:tt $calls:tt $stack:tt onpointercancel={ $told:expr } $($rest:tt)*) => {
        $crate::ui::tag::html!(@listen $name $keys $calls $stack onpointercancel ($told) $($rest)*)
    };
    (@tag $name:ident $keys:tt $calls:tt $stack:tt onpointerdown={ $told:expr } $($rest:tt)*) => {
        $crate::ui::tag::html!(@listen $name $keys $calls $stack onpointerdown ($told) $($rest)*)
    };
    (@tag $name:ident $keys:tt $calls:tt $stack:tt onpointermove={ $told:expr } $($rest:tt)*) => {
        $crate::ui::tag::html!(@listen $name $keys $calls $stack onpointermove ($told) $($rest)*)
    };
    (@tag $name:ident $keys:tt $calls:tt $stack:tt onscroll={ $told:expr } $($rest:tt)*) => {
        $crate::ui::tag::html!(@listen $name $keys $calls $stack onscroll ($told) $($rest)*)
    };
    (@tag $name:ident $keys:tt $calls:tt $stack:tt onsubmit={ $told:expr } $($rest:tt)*) => {
        $crate::ui::tag::html!(@listen $name $keys $calls $stack onsubmit ($told) $($rest)*)
    };
    (@listen $name:ident $keys:tt [$($call:tt)*] $stack:tt $on:ident $told:tt $($rest:tt)*) => {
        $crate::ui::tag::html!(@tag $name $keys [$($call)* .on($crate::ui::tag::on::$on($told))] $stack $($rest)*)
    };
    (@tag $name:ident [$($key:tt)*] [$($call:tt)*] $stack:tt $a:ident $(-$b:ident)* = { $value:expr } $($rest:tt)*) => {
        $crate::ui::tag::html!(@tag $name
            [$($key)* concat!(stringify!($a) $(, "-", stringify!($b))*),] [$($call)* .set($value)] $stack $($rest)*)
    };
    (@tag $name:ident [$($key:tt)*] [$($call:tt)*] $stack:tt $a:ident $(-$b:ident)* = $value:literal $($rest:tt)*) => {
        $crate::ui::tag::html!(@tag $name
            [$($key)* concat!(stringify!($a) $(, "-", stringify!($b))*),] [$($call)* .set($value)] $stack $($rest)*)
    };

    // Where it begins.
    () => { yew::Html::default() };
    (<$($rest:tt)*) => { $crate::ui::tag::html!(@in ($crate::ui::tag::Nothing) [] <$($rest)*) };
    ({ $($one:tt)* } $($rest:tt)*) => {
        $crate::ui::tag::html!(@in ($crate::ui::tag::Nothing) [] { $($one)* } $($rest)*)
    };
    (if $($rest:tt)*) => { $crate::ui::tag::html!(@in ($crate::ui::tag::Nothing) [] if $($rest)*) };
    ($one:expr) => { $crate::ui::tag::Content::html($one) };
}

pub(crate) use html;
