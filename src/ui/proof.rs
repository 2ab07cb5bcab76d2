//! Proof in the small on the page: every pause is tried, in slices of time between frames.

use std::cell::RefCell;
use std::rc::Rc;

use gloo_timers::callback::Timeout;
use web_sys::MouseEvent;
use yew::{
    Callback, Html, Properties, UseReducerDispatcher, component, hook, use_effect_with, use_memo,
    use_state,
};

use super::draw::Same;
use super::page::Model;
use super::part::part;
use super::state::{Action, State};
use super::tag::html;
use super::{platform, strings};
use crate::narrate;
use crate::run::{self, Run};
use crate::search::{Aim, Proof, Row};
use crate::systems::Registry;

/// How long a slice lasts, in milliseconds: a frame has room for it and for all else.
const SLICE: u64 = 6;
/// How often what is drawn follows, in milliseconds.
const FOLLOW: u64 = 120;

/// A search that goes on while nobody waits for it; it is kept while its panel is out of sight.
#[derive(Default)]
pub struct Prover {
    proof: RefCell<Option<Proof>>,
    /// The next slice; none while it does not go on.
    next: RefCell<Option<Timeout>>,
    /// Whoever draws it.
    drawn: RefCell<Option<Callback<()>>>,
    shown: RefCell<u64>,
}

impl Prover {
    /// Begins anew with the run on screen.
    fn start(self: &Rc<Self>, state: &State) {
        let given = &state.show.run.compiled;
        let registry = Registry::standard();
        let compile = |edits: &[String]| run::compile(&given.scenario, edits, &registry);
        let edits: Vec<String> = given.edits.iter().map(ToString::to_string).collect();
        // What runs on screen can be compiled, pauses or not.
        *self.proof.borrow_mut() = Proof::new(&compile, &edits, Aim::Harm).ok();
        self.go_on();
        self.draw();
    }

    fn go_on(self: &Rc<Self>) {
        let me = self.clone();
        *self.next.borrow_mut() = Some(Timeout::new(0, move || me.slice()));
    }

    fn slice(self: &Rc<Self>) {
        let begun = platform::now();
        let mut more = false;
        if let Some(proof) = self.proof.borrow_mut().as_mut() {
            more = proof.step();
            while more && platform::now().saturating_sub(begun) < SLICE {
                more = proof.step();
            }
        }
        if more {
            self.go_on();
        } else {
            *self.next.borrow_mut() = None;
        }
        if !more || begun.saturating_sub(*self.shown.borrow()) >= FOLLOW {
            *self.shown.borrow_mut() = begun;
            self.draw();
        }
    }

    /// Stops it; what was found until now stays.
    pub fn stop(&self) {
        *self.next.borrow_mut() = None;
        self.draw();
    }

    fn draw(&self) {
        if let Some(drawn) = &*self.drawn.borrow() {
            drawn.emit(());
        }
    }
}

/// The search of a lesson's page, which ends with the page: nobody waits for it in another lesson.
#[hook]
pub fn use_prover() -> Same<Prover> {
    let prover = Same(use_memo((), |()| Prover::default()));
    let leaving = prover.clone();
    use_effect_with((), move |()| move || leaving.stop());
    prover
}

#[derive(Properties, PartialEq)]
struct Props {
    state: Same<State>,
    to: UseReducerDispatcher<Model>,
    prover: Same<Prover>,
}

/// The panel, in the story of a lesson that offers pauses.
pub fn section(
    state: &Same<State>,
    to: &UseReducerDispatcher<Model>,
    prover: &Same<Prover>,
) -> Html {
    if state.level.is_some() || !state.offers("pause") {
        return html! {};
    }
    let (state, to, prover) = (state.clone(), to.clone(), prover.clone());
    part::<Prove>("prove", Props { state, to, prover })
}

#[component]
fn Prove(props: &Props) -> Html {
    let prover = &props.prover;
    let frame = use_state(|| 0_u32);
    {
        // Each drawing hands over the number that it saw.
        let (setter, number) = (frame.setter(), *frame);
        let drawn = Callback::from(move |()| setter.set(number.wrapping_add(1)));
        *prover.drawn.borrow_mut() = Some(drawn);
        let prover = prover.clone();
        use_effect_with((), move |()| move || *prover.drawn.borrow_mut() = None);
    }
    let held = prover.proof.borrow();
    let proof = held.as_ref().filter(|p| p.counts(&props.state.show.run.compiled));
    let going = prover.next.borrow().is_some() && proof.is_some();
    if !going && prover.next.borrow().is_some() {
        // Another run is on screen: nobody waits for this one any more.
        *prover.next.borrow_mut() = None;
    }
    let press = {
        let (prover, state) = (prover.clone(), props.state.clone());
        Callback::from(
            move |_: MouseEvent| if going { prover.stop() } else { prover.0.start(&state) },
        )
    };
    // What was stopped on its way can go on from there; the button goes, and the focus stays beside it.
    let stopped = proof.is_some_and(|p| !going && !p.is_done());
    let on = stopped.then(|| {
        let prover = prover.clone();
        Callback::from(move |_: MouseEvent| {
            prover.0.go_on();
            prover.draw();
            platform::focus("prove");
        })
    });
    let word = match proof {
        None => strings::PROVE,
        Some(_) if going => strings::PROVE_STOP,
        Some(_) => strings::PROVE_AGAIN,
    };
    html! {
        // Once something was tried it stays unfolded, also where a tab of the page was left and entered again.
        <details class="prove" id="pauses" open={held.is_some()}>
            <summary><h2>{ strings::PROVE_TITLE }</h2></summary>
            <p class="quiet">{ strings::PROVE_ABOUT }</p>
            <p class="pair">
                <button type="button" class="plain" id="prove" onclick={press}>{ word }</button>
                <>if let Some(on) = on { <button type="button" class="plain" onclick={on}>{ strings::PROVE_ON }</button> }</>
            </p>
            // In a fragment each, so that the button before them stays the same one and keeps the focus.
            <>{ for proof.map(|proof| progress(proof, going)) }</>
            <p role="status" class="aloud">{ proof.map(|proof| told(proof, going)) }</p>
            <>{ for proof.filter(|p| p.tried > 0).map(|proof| table(props, proof)) }</>
            <>{ for proof.filter(|_| !going).map(bounds) }</>
        </details>
    }
}

/// How far it is, for the eye.
fn progress(proof: &Proof, going: bool) -> Html {
    let (done, all) = if proof.counted() {
        (proof.tried, proof.schedules.len())
    } else {
        (proof.counted_places(), proof.places.len())
    };
    let words = if proof.is_done() {
        strings::all_tried(all, proof.runs)
    } else {
        match (proof.counted(), going) {
            (false, true) => strings::counting(done, all),
            (false, false) => strings::stopped_counting(done, all),
            (true, true) => strings::trying(done, all),
            (true, false) => strings::stopped_trying(done, all),
        }
    };
    html! {
        <>
            if going {
                <progress aria-label={strings::PROVE} value={done.to_string()} max={all.max(1).to_string()}></progress>
            }
            <p class="so-far">{ words }</p>
        </>
    }
}

/// How far it is, for the ear: at the start, at each quarter, and what came out.
fn told(proof: &Proof, going: bool) -> String {
    let all = proof.schedules.len();
    if going {
        if !proof.counted() {
            return strings::counting(0, proof.places.len());
        }
        let quarter = (proof.tried * 4).checked_div(all).unwrap_or(0);
        return strings::trying(all * quarter / 4, all);
    }
    if !proof.counted() {
        return strings::stopped_counting(proof.counted_places(), proof.places.len());
    }
    let rows = proof.rows.iter().map(|row| {
        let count = strings::of(row.harmful, proof.tried);
        format!("{}: {count}", strings::check_word(&row.check))
    });
    let rows: Vec<String> = rows.collect();
    let mut words = format!("{}. {}.", strings::PROVE_CAPTION, rows.join(", "));
    if !proof.is_done() {
        words = format!("{} {words}", strings::stopped_trying(proof.tried, all));
    }
    words
}

/// What came out, by check, each kind of harm with the way to a run that shows it.
fn table(props: &Props, proof: &Proof) -> Html {
    let rows = proof.rows.iter().enumerate().map(|(index, row)| {
        let kinds = (0..row.kinds.len()).filter_map(|kind| way(props, proof, (index, row), kind));
        html! {
            <tr key={index} data-check={row.check.clone()}>
                <th scope="row">{ strings::check_word(&row.check) }</th>
                <td>
                    <p class={(row.harmful > 0).then_some("harm")}>{ strings::of(row.harmful, proof.tried) }</p>
                    <ul>{ for kinds }</ul>
                </td>
            </tr>
        }
    });
    let all = |row: &Row| row.check == "token" && row.harmful > 0;
    html! {
        <>
            <>if proof.rows.iter().any(all) { <p class="surprise">{ strings::TOKEN_IS_NOT_ALL }</p> }</>
            <table>
                <caption class="aloud">{ strings::PROVE_CAPTION }</caption>
                <thead><tr>
                    <th scope="col">{ strings::CHECKED }</th>
                    <th scope="col">{ strings::DO_HARM }</th>
                </tr></thead>
                <tbody>{ for rows }</tbody>
            </table>
        </>
    }
}

/// The way to the first run that shows a kind of harm under a check.
fn way(props: &Props, proof: &Proof, (index, row): (usize, &Row), kind: usize) -> Option<Html> {
    let first = (*row.firsts.get(kind)?)?;
    let (count, word) = (*row.kinds.get(kind)?, *strings::KINDS_OF_HARM.get(kind)?);
    let edits = proof.edits(first, index);
    let label = strings::open_harm(word, count, &edits);
    let (to, state) = (props.to.clone(), props.state.clone());
    let onclick = Callback::from(move |_: MouseEvent| {
        let at = first_harm(&state, &edits);
        to.dispatch(Action::Open(edits.clone(), at));
        to.dispatch(Action::Notice(strings::HARM_OPENED));
        // Where the picture is out of sight, it comes into sight.
        platform::focus("stage");
        platform::reveal("lesson");
    });
    Some(html! {
        <li key={kind}>
            <button type="button" class="link" aria-label={label.clone()} title={label} {onclick}>{ word }</button>{ ": " }{ count }
        </li>
    })
}

/// The event of the first harm in the run with these edits.
fn first_harm(state: &State, edits: &[String]) -> u32 {
    let scenario = &state.show.run.compiled.scenario;
    let compiled = run::compile(scenario, edits, &Registry::standard());
    let run = compiled.ok().map(Run::of);
    let found =
        run.and_then(|r| Some(r.judgement.findings.iter().find(|f| f.is_harm())?.event().0));
    found.unwrap_or(0)
}

/// What was tried, and what was not.
fn bounds(proof: &Proof) -> Html {
    let said = narrate::bounds(proof).into_iter().map(|words| html! { <li>{ words }</li> });
    html! {
        <>
            <h3>{ strings::PROVE_BOUNDS }</h3>
            <ul class="bounds">{ for said }</ul>
        </>
    }
}
