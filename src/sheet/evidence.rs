//! Where the rules come from: a page with what was asked of real servers and every rule that is kept,
//! and a page for each transcript.

use super::grounds::{anchor, whereabouts};
use super::prose::{plain, said, tag};
use super::site::{Shell, page};
use super::words;
use crate::diagram::Element;
use crate::replay::{DEVIATIONS, Replayed, Step, Transcript, answered, asked, came, replay};
use crate::run::Ground;
use crate::systems::{RESOURCE_RULES, Registry, Rules};

/// A transcript and what became of it when it was played.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Its folder and name: `redis-7.0/set_nx_px`.
    pub name: String,
    /// What it says.
    pub transcript: Transcript,
    played: Replayed,
}

impl Recording {
    /// Plays it.
    pub fn new(name: String, transcript: Transcript) -> Recording {
        let played = replay(&transcript);
        Recording { name, transcript, played }
    }

    fn folder(&self) -> &str {
        self.name.split_once('/').map_or("", |(folder, _)| folder)
    }

    fn title(&self) -> String {
        let title = self.name.split_once('/').map_or(self.name.as_str(), |(_, title)| title);
        capital(&title.replace('_', " "))
    }
}

/// The page of one transcript: each step with what was asked, what the real server answered, and
/// whether the simulated one does the same.
pub fn recording_page(recording: &Recording, shell: &Shell<'_>) -> String {
    let transcript = &recording.transcript;
    let heads = words::STEP_HEAD.map(|head| said("th", "", head).with("scope", "col"));
    let rows = transcript.steps.iter().map(|step| row(transcript, step, &recording.played));
    let head = tag("thead", "", [tag("tr", "", heads)]);
    let table = tag("table", "recorded", [head, tag("tbody", "", rows)]);
    let all = said("a", "", words::ALL_EVIDENCE).with("href", "../index.html");
    let main = tag(
        "main",
        "handout site",
        [
            said("p", "kicker", words::evidence_kicker(&capital(&transcript.version))),
            said("h1", "", recording.title()),
            said("p", "hook", sentence(&transcript.establishes)),
            said("p", "", words::started(&transcript.server)),
            said("p", "", words::played(&recording.played)),
            tag("p", "ways screen", [all]),
            tag("div", "wide", [table]),
        ],
    );
    page(shell, &recording.title(), &transcript.establishes, main)
}

fn row(transcript: &Transcript, step: &Step, played: &Replayed) -> Element {
    let node = step.node.as_ref().map(|node| said("span", "quiet", format!(" {node}")));
    let mut answer = vec![said("pre", "", answered(&step.reply))];
    for event in &step.events {
        let said_later = words::later(&event.client, &came(&event.what));
        answer.push(said("pre", "quiet", said_later));
    }
    let differs = played.differences.iter().filter(|d| d.0 == step.line);
    let differs: Vec<Element> = differs.map(|d| said("p", "", &d.1)).collect();
    let verdict = if differs.is_empty() { vec![plain(words::SAME)] } else { differs };
    tag(
        "tr",
        "",
        [
            said("th", "", step.number.to_string()).with("scope", "row"),
            tag("td", "", [plain(&step.client)]).holding(node),
            tag("td", "", [said("pre", "", asked(transcript, step))]),
            tag("td", "", answer),
            tag("td", "", verdict),
        ],
    )
    .with("id", format!("step-{}", step.number))
}

/// The page of all evidence: which servers were asked and what became of each transcript, the rules of
/// every system with what they rest on, and what is known to be otherwise.
pub fn evidence_page(recordings: &[Recording], shell: &Shell<'_>) -> String {
    let mut all = Replayed::default();
    for recording in recordings {
        all.passed += recording.played.passed;
        all.failed += recording.played.failed;
        all.not_modelled += recording.played.not_modelled;
    }
    let mut rules: Vec<&'static Rules> = Vec::new();
    for group in
        Registry::standard().iter().flat_map(|system| system.rules()).chain([&RESOURCE_RULES])
    {
        if !rules.contains(&group) {
            rules.push(group);
        }
    }
    let deviations = DEVIATIONS.iter().map(|deviation| said("li", "", *deviation));
    let main = tag(
        "main",
        "handout site",
        [
            said("h1", "", words::EVIDENCE_TITLE),
            said("p", "hook", words::EVIDENCE_HOOK),
            said("p", "", words::all_played(recordings.len(), &all)),
            said("h2", "", words::RECORDINGS),
        ],
    )
    .holding(folders(recordings))
    .holding([said("h2", "", words::DEVIATIONS), tag("ul", "plain-list", deviations)])
    .holding([said("h2", "", words::RULES)])
    .holding(rules.into_iter().map(|rules| rules_of(rules, recordings)));
    page(shell, words::EVIDENCE_TITLE, words::EVIDENCE_HOOK, main)
}

/// One section for each folder of transcripts, in their order.
fn folders(recordings: &[Recording]) -> Vec<Element> {
    let mut names: Vec<&str> = recordings.iter().map(Recording::folder).collect();
    names.dedup();
    // What was recorded comes before what was written by hand, the main part before the rest.
    names.sort_by_key(|name| (*name == words::BY_HAND, name.starts_with(words::MORE)));
    let section = |name: &&str| {
        let of_folder = || recordings.iter().filter(|r| r.folder() == *name);
        let versions = of_folder().next().map_or("", |r| r.transcript.version.as_str());
        let items = of_folder().map(|recording| {
            let to = format!("{}.html", recording.name);
            let link = said("a", "", recording.title()).with("href", to);
            let told = words::told(&recording.transcript.establishes, &recording.played);
            tag("li", "", [link, plain(told)])
        });
        let folded =
            tag("details", "", [said("summary", "", words::folder(name, &capital(versions)))]);
        folded.holding([tag("ul", "", items)])
    };
    names.iter().map(section).collect()
}

fn rules_of(rules: &'static Rules, recordings: &[Recording]) -> Element {
    let item = |ground: Ground| {
        let rule = ground.rule;
        let badge = said("strong", "badge", rule.basis.word());
        let place = said("span", "quiet", rule.place);
        let mut item = vec![badge, plain(format!(" {} ", rule.says)), place];
        for steps in rule.steps {
            let name = whereabouts(steps);
            let known = recordings.iter().any(|r| r.name == steps.transcript);
            let to = format!("{}.html#step-{}", steps.transcript, steps.first);
            item.push(plain(", "));
            item.push(if known { said("a", "", name).with("href", to) } else { plain(name) });
        }
        tag("li", "", item).with("id", anchor(&ground))
    };
    let list = tag("ul", "rules-list", Ground::each(rules).map(item));
    tag("section", "", [said("h3", "", rules.title), list])
}

/// As a sentence.
fn sentence(text: &str) -> String {
    format!("{}.", capital(text.trim_end_matches('.')))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_uppercase().collect::<String>()).unwrap_or_default();
    first + letters.as_str()
}
