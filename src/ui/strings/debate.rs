//! The words of a debate, and of a label that a design has to earn.

// The debate.

pub const DEBATE: &str = "The debate";
pub const DEBATE_ABOUT: &str = "Each claim is a run. Take one up, and change it as you like.";
pub const ALL_CLAIMS: &str = "All claims side by side, and what comes of it";
pub const ALL_CLAIMS_TITLE: &str = "The debate, claim by claim";
pub const POINT_BEFORE: &str = "Point before";
pub const NEXT_POINT: &str = "Next point";
pub const SHOWN_BY: &str = "What the runs show";
/// Before the figures of a run that the learner has changed.
pub const WITH_CHANGES: &str = "With your changes: ";
pub const THE_RUN: &str = "The run: ";
pub const GAVE_UP: &str = "What he gave up: ";
pub const ANSWERS: &str = "Answers ";
pub const ANSWERED_BY: &str = "Answered by ";

pub fn heard(id: &str, by: &str, title: &str, shows: &str) -> String {
    format!("{id}, {by}: {title}. {shows}")
}

pub fn point_of(id: &str, title: &str) -> String {
    format!("{id} · {title}")
}

pub fn point_name(id: &str, title: &str) -> String {
    format!("{id}: {title}")
}

pub fn claims(by: &str) -> String {
    format!("{by}:")
}

// The label.

pub const ON_NOTHING: &str = "Nothing is switched on.";
pub const NOT_TRIED: &str = "not tried";
pub const SHOW_ATTACK: &str = "See";
pub const LOOSE: &str = "not pinned";
pub const STAYS: &str = "stays";
pub const HOLDS: &str = "holds so far";
pub const FALLEN: &str = "fell off";
pub const PIN_AGAIN: &str = "Try again";

pub fn pin_title(label: &str) -> String {
    format!("Pin “{label}” on it")
}

pub fn pin_about(attacks: usize) -> String {
    format!(
        "The design is what is switched on above. Pin the label, and {attacks} attacks are run against it: it stays \
         if none does harm."
    )
}

pub fn pin_it(label: &str) -> String {
    format!("Pin the label “{label}”")
}

pub fn design(on: &[&str]) -> String {
    match on {
        [] => ON_NOTHING.into(),
        titles => format!("Switched on: {}.", titles.join("; ")),
    }
}

pub fn attack_of(number: usize, all: usize) -> String {
    format!("Attack {number} of {all}")
}

pub fn label_pinned(label: &str, attacks: usize) -> String {
    format!("“{label}” is pinned. {attacks} attacks are tried.")
}

/// What became of a label.
pub fn label_came_of(label: &str, harmful: usize, all: usize) -> String {
    match harmful {
        0 => format!(
            "The label “{label}” stays: none of the {all} attacks did harm. That is what was tried, and no proof \
             against all else."
        ),
        1 => format!("The label “{label}” fell off: one of {all} attacks did harm."),
        n => format!("The label “{label}” fell off: {n} of {all} attacks did harm."),
    }
}

pub fn attack_shown(title: &str) -> String {
    format!("On screen: {title}, against this design.")
}

pub fn see_attack(title: &str) -> String {
    format!("See the run: {title}")
}
