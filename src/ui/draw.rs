//! Small things that several components draw with.

use std::ops::Deref;
use std::rc::Rc;

use web_sys::HtmlSelectElement;
use yew::virtual_dom::{VNode, VTag, VText};
use yew::{Callback, Html, Properties, component, use_effect, use_node_ref};

use super::tag::html;

use crate::diagram::{Element, Primitive};
use crate::narrate::Tone;

/// A shared value that equals only itself: comparing two costs a pointer.
pub struct Same<T>(pub Rc<T>);

impl<T> Clone for Same<T> {
    fn clone(&self) -> Self {
        Same(self.0.clone())
    }
}

impl<T> PartialEq for Same<T> {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl<T> Deref for Same<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// An element of a picture as a node of the page.
pub fn node(element: &Element) -> VNode {
    if element.tag.is_empty() {
        return VText::new(element.text.clone()).into();
    }
    tag(element).into()
}

/// An element that has a tag as a node of the page.
pub fn tag(element: &Element) -> VTag {
    let mut tag = VTag::new(element.tag);
    for (name, value) in &element.attributes {
        tag.add_attribute(name, value.clone());
    }
    if !element.text.is_empty() {
        tag.add_child(VText::new(element.text.clone()).into());
    }
    tag.add_children(element.children.iter().map(node));
    tag
}

/// Primitives as nodes. They have no keys: whoever draws a list of them rebuilds it as a whole.
pub fn nodes(primitives: &[Primitive]) -> Html {
    primitives.iter().map(|p| node(&p.element())).collect()
}

/// An icon of the transport and the header, 20 by 20.
pub fn icon(path: &'static str) -> Html {
    html! {
        <svg class="icon" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true"><path d={path} /></svg>
    }
}

/// The sign of the product.
pub fn logo() -> Html {
    html! {
        <svg class="logo" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
            <rect x="1.5" y="1.5" width="21" height="21" rx="4.5" />
            <path d="M4 14.5h3.5v-6h4.5v8h4v-6h4" />
        </svg>
    }
}

/// The sign of a verdict; none stands for one that is not given yet.
pub fn tone(tone: Option<Tone>) -> Html {
    let (class, path) = match tone {
        None => ("tone tone-open", "M10 4a6 6 0 1 0 0 12 6 6 0 1 0 0-12z"),
        Some(Tone::Calm) => ("tone tone-calm", "M10 2a8 8 0 1 0 0 16 8 8 0 1 0 0-16zM6 10l3 3 5-6"),
        Some(Tone::Near) => ("tone tone-near", "M10 2.5 18.5 17h-17zM10 8v4M10 14v1"),
        Some(Tone::Harm) => (
            "tone tone-harm",
            "M10 1l2 4 4-2-.8 4.4L19.5 9l-3.6 2.6L17 16l-4.4-.6L10 19l-2.6-3.6L3 16l1.1-4.4L.5 9l4.3-1.6L4 3l4 2z",
        ),
        Some(Tone::Fenced) => {
            ("tone tone-fenced", "M6.7 2h6.6L18 6.7v6.6L13.3 18H6.7L2 13.3V6.7zM6 14 14 6")
        }
    };
    html! {
        <svg {class} viewBox="0 0 20 20" width="20" height="20" aria-hidden="true"><path d={path} /></svg>
    }
}

#[derive(Properties, PartialEq)]
pub struct ChoiceProps {
    pub label: &'static str,
    /// The label is only for those who listen.
    #[prop_or_default]
    pub unseen: bool,
    #[prop_or_default]
    pub class: &'static str,
    /// It has the focus in a dialog that opens.
    #[prop_or_default]
    pub autofocus: bool,
    /// Value and words of each.
    pub options: Vec<(String, String)>,
    pub value: String,
    pub on_choice: Callback<String>,
}

/// A field to choose one of several in, always showing `value`.
#[component]
pub fn Choice(props: &ChoiceProps) -> Html {
    let select = use_node_ref();
    let (shown, value) = (select.clone(), props.value.clone());
    // A browser forgets the attribute `selected` once somebody has chosen, so the value is set.
    use_effect(move || {
        if let Some(select) = shown.cast::<HtmlSelectElement>() {
            select.set_value(&value);
        }
    });
    let (on_choice, chosen) = (props.on_choice.clone(), select.clone());
    let onchange = Callback::from(move |_: yew::Event| {
        if let Some(select) = chosen.cast::<HtmlSelectElement>() {
            on_choice.emit(select.value());
        }
    });
    let options = props.options.iter().map(|(value, words)| {
        html! { <option key={value.clone()} value={value.clone()}>{ words }</option> }
    });
    html! {
        <label class={props.class}>
            <span class={props.unseen.then_some("aloud")}>{ props.label }</span>
            <select ref={select} autofocus={props.autofocus} {onchange}>{ for options }</select>
        </label>
    }
}
