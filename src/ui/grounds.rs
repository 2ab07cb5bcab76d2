//! What stands behind the rules of a run, one click away.

use yew::Html;

use super::strings;
use super::tag::html;
use crate::run::{Ground, Run, grounds};
use crate::sheet::evidence_of;
use crate::sim::EventId;

/// The rules that an event rests on, each with a badge that leads to its evidence.
pub fn behind(run: &Run, event: EventId) -> Html {
    html! { <ul class="grounds" aria-label={strings::GROUNDS}>{ for grounds(run, event).iter().map(rule) }</ul> }
}

/// A rule with its badge.
pub fn rule(ground: &Ground) -> Html {
    html! { <li>{ badge(ground) }{ " " }{ ground.rule.says }</li> }
}

/// The kind of evidence of a rule as a link to it, in a window of its own: what is on screen stays.
fn badge(ground: &Ground) -> Html {
    let basis = ground.rule.basis;
    html! {
        <a class="badge" href={evidence_of(ground)} target="_blank" rel="noopener" title={strings::basis(basis)}>
            { basis.word() }<span class="aloud">{ strings::EVIDENCE_OPENS }</span>
        </a>
    }
}

/// The badges alone, where there is little room.
pub fn badges(run: &Run, event: EventId) -> Html {
    let mut kinds: Vec<Ground> = grounds(run, event);
    kinds.truncate(2);
    html! { <span class="badges">{ for kinds.iter().map(badge) }</span> }
}
