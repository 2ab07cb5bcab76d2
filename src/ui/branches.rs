//! The list of branches, and the file of them.

use web_sys::{HtmlInputElement, MouseEvent, SubmitEvent};
use yew::{Callback, Html, component, use_node_ref, use_state_eq};

use super::draw::tone;
use super::part::part;
use super::state::Action;
use super::store::{self, Keeping};
use super::strings;
use super::tag::html;
use super::versus::Against;
use super::words::Props;
use super::{platform, work};
use crate::run::Branch;

/// How many branches are shown at first: the latest.
const FEW: usize = 6;

/// The branches, once there is more than one, and what is kept of them.
#[component]
pub fn Branches(props: &Props) -> Html {
    let state = &props.state;
    let told = use_state_eq(String::new);
    let all = use_state_eq(|| false);
    let list = state.kept.branches.list();
    let keeping = store::keeping();
    // A run of the lesson is no list yet.
    let several = state.made() > 0 || list.len() > 1 || state.deleted.is_some();
    let hidden = if *all { 0 } else { list.len().saturating_sub(FEW) };
    // The one on screen is always in sight.
    let shown = list.iter().enumerate().filter(|(i, b)| *i >= hidden || b.id == state.branch);
    let rows = shown.map(|(_, branch)| row(props, branch));
    let more = {
        let all = all.clone();
        Callback::from(move |_: MouseEvent| all.set(true))
    };
    let revive = {
        let to = props.to.clone();
        Callback::from(move |_: MouseEvent| {
            to.dispatch(Action::Revive);
            platform::focus("branches-title");
        })
    };
    html! {
        <section class="branches" aria-label={strings::BRANCHES}>
            if several {
                <h2 id="branches-title" tabindex="-1">{ strings::BRANCHES }<span class="quiet">{ " · " }{ strings::BRANCHES_NOTE }</span></h2>
                <ul>{ for rows }</ul>
            }
            if hidden > 0 {
                <button type="button" class="link" onclick={more}>{ strings::all_branches(list.len()) }</button>
            }
            <div role="alert">
                if let Some(words) = &state.unopened { <p class="wrong">{ words }</p> }
            </div>
            if let Some(branch) = &state.deleted {
                <p class="quiet">
                    { strings::deleted(&state.name_of(branch)) }{ " " }
                    <button type="button" class="link" onclick={revive}>{ strings::UNDO }</button>
                </p>
            }
            { kept(props, keeping) }
            { files(props, &told) }
        </section>
    }
}

/// One branch: what it is called and what came of it; opened, its edits and what can be done with it.
fn row(props: &Props, branch: &Branch) -> Html {
    let (state, id) = (&props.state, branch.id);
    let name = state.name_of(branch);
    let here = id == state.branch;
    let verdict = state.verdict_of(branch);
    let word = verdict.as_ref().map_or(strings::NOT_SEEN, |v| v.1.as_str());
    let act = |word: &'static str, action: Action, focus: Option<&'static str>| {
        let to = props.to.clone();
        let onclick = Callback::from(move |_: MouseEvent| {
            to.dispatch(action.clone());
            if let Some(focus) = focus {
                platform::focus(focus);
            }
        });
        html! { <button type="button" class="link" aria-label={strings::act_on(word, &name)} {onclick}>{ word }</button> }
    };
    let edits = branch.course.edits.iter().map(|e| html! { <li><code>{ e }</code></li> });
    html! {
        <li key={id.to_string()} aria-current={here.then_some("true")}>
            <details>
                <summary>
                    { tone(verdict.as_ref().map(|v| v.0)) }
                    <span title={name.clone()}><span class="branch-name">{ &name }</span>{ " " }
                    <span class="quiet">{ if here { strings::ON_SCREEN } else { word } }</span></span>
                </summary>
                if branch.name.is_some() {
                    <p class="quiet">{ work::name_of(&state.lesson, &branch.course) }</p>
                }
                if branch.course.edits.is_empty() { <p class="quiet">{ strings::NO_EDITS }</p> }
                <ul class="branch-edits">{ for edits }</ul>
                if !here {
                    <p class="pair">
                        { act(strings::OPEN_RUN, Action::Branch(id), Some("branches-title")) }
                        { act(strings::COMPARE, Action::Compare(Some(Against::Branch(id))), None) }
                        { act(strings::DELETE, Action::Delete(id), Some("branches-title")) }
                    </p>
                }
                { part::<Rename>(format!("rename {id}"), RenameProps { props: props.clone(), id, name: name.clone() }) }
            </details>
        </li>
    }
}

#[derive(yew::Properties, PartialEq)]
struct RenameProps {
    props: Props,
    id: u64,
    name: String,
}

/// The field in which a branch gets its name.
#[component]
fn Rename(props: &RenameProps) -> Html {
    let field = use_node_ref();
    let (to, id, typed) = (props.props.to.clone(), props.id, field.clone());
    let onsubmit = Callback::from(move |event: SubmitEvent| {
        event.prevent_default();
        if let Some(field) = typed.cast::<HtmlInputElement>() {
            to.dispatch(Action::Rename(id, field.value()));
        }
    });
    let named = props.props.state.kept.branches.get(id).and_then(|b| b.name.clone());
    let own = format!("name-{id:x}");
    let most = crate::run::LONGEST_NAME.to_string();
    html! {
        <form class="field" {onsubmit}>
            <label for={own.clone()}>{ strings::NAME_IT }</label>
            <input type="text" id={own} ref={field} autocomplete="off" maxlength={most} value={named.unwrap_or_default()}
                aria-label={strings::act_on(strings::NAME_IT, &props.name)} />
            <button type="submit" class="plain">{ strings::RENAME }</button>
        </form>
    }
}

/// What the browser does not keep, and what can be done about that.
fn kept(props: &Props, keeping: Keeping) -> Html {
    let words = match &keeping {
        Keeping::All => return html! {},
        Keeping::Nothing => strings::KEEPS_NOTHING.to_string(),
        Keeping::NoMore => strings::KEEPS_NO_MORE.to_string(),
        Keeping::Foreign(why) => strings::keeps_foreign(why),
    };
    let (state, to) = (props.state.clone(), props.to.clone());
    let onclick = Callback::from(move |_: MouseEvent| store::discard(&state, &to));
    html! {
        <p class="note" id="keeping">
            { words }
            if matches!(keeping, Keeping::Foreign(_)) {
                { " " }<button type="button" class="link" {onclick}>{ strings::DISCARD }</button>
            }
        </p>
    }
}

/// Taking all branches along, and bringing them back.
fn files(props: &Props, told: &yew::UseStateHandle<String>) -> Html {
    let (state, setter) = (props.state.clone(), told.setter());
    let save = Callback::from(move |_: MouseEvent| {
        let saved = store::save_file(&state);
        setter.set(if saved {
            strings::saved_as("lockscope-branches.json")
        } else {
            strings::NOT_SAVED.into()
        });
    });
    let (state, to, setter) = (props.state.clone(), props.to.clone(), told.setter());
    let onchange = Callback::from(move |event: yew::Event| {
        let setter = setter.clone();
        if let Some(field) = store::field(&event) {
            store::load_file(&field, state.clone(), to.clone(), move |words| setter.set(words));
        }
    });
    let to = props.to.clone();
    let forget = Callback::from(move |_: MouseEvent| to.dispatch(Action::Forget));
    let state = &props.state;
    let answered = state.said.iter().any(Option::is_some)
        || state.cards.said.iter().any(Option::is_some)
        || state.solved.contains(&true);
    html! {
        <details class="files">
            <summary>{ strings::YOUR_WORK }</summary>
            <p class="quiet">{ strings::WORK_STAYS }</p>
            <p class="pair">
                <button type="button" class="plain" onclick={save}>{ strings::SAVE_WORK }</button>
                <label class="plain file">{ strings::LOAD_WORK }<input type="file" accept="application/json,.json" class="aloud" {onchange} /></label>
                if answered { <button type="button" class="link" onclick={forget}>{ strings::FORGET }</button> }
            </p>
            <p role="status" id="work-told">{ &**told }</p>
        </details>
    }
}
