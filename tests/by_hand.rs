//! Tokens that somebody sends to a resource by hand.

mod support;

use lockscope::diagram::{Layout, Shape, layout};
use lockscope::judge::Testimony;
use lockscope::narrate;
use lockscope::run::{Run, parse_edit};
use lockscope::sim::{EventId, What};
use support::{Case, Draws, race, seeds};

/// The tokens that a resource compared, each with whether it passed.
fn compared(run: &Run) -> Vec<(u64, bool)> {
    let hands = run.record.events.iter().filter_map(|e| match e.note()? {
        Testimony::Hand(_, token, why) => Some((token.0, why.is_none())),
        _ => None,
    });
    hands.collect()
}

fn bench(tokens: &[u64], check: &str) -> Run {
    let mut case = Case::new(&[("seats", 100)]).client("client-a", "0s", "work 1ms");
    for (second, token) in tokens.iter().enumerate() {
        case = case.edits(&format!("at {}s send resource {token}", second + 1));
    }
    case.set("resource.check", check).run()
}

#[test]
fn the_resource_compares_as_its_check_says() {
    let sent = [42, 41, 43, 42, 43];
    let passes = |check| compared(&bench(&sent, check)).iter().map(|c| c.1).collect::<Vec<_>>();
    assert_eq!(passes("none"), [true; 5]);
    assert_eq!(passes("token"), [true, false, true, false, true]);
    assert_eq!(passes("token-once"), [true, false, true, false, false]);
    // Whoever sends by hand has read nothing, so that there is no version to compare.
    assert_eq!(passes("version"), [false; 5]);
}

#[test]
fn each_has_an_arrow_that_comes_from_nobody() {
    let run = bench(&[42, 41], "token");
    let picture = layout(&run, &Layout::default());
    let hands = run.record.events.iter().enumerate();
    let hands = hands.filter(|(_, e)| matches!(e.note(), Some(Testimony::Hand(..))));
    for (index, event) in hands {
        let mark = picture
            .marks
            .iter()
            .find(|m| m.event == EventId(index as u32) && matches!(m.shape, Shape::Hand { .. }));
        assert_eq!(mark.map(|m| m.from), Some(event.at));
    }
}

#[test]
fn what_passes_is_what_a_fold_over_the_highest_lets_pass() {
    for seed in seeds(200) {
        let mut draws = Draws::new(seed);
        let tokens: Vec<u64> = (0..12).map(|_| draws.up_to(9)).collect();
        let mut highest = 0;
        let expected: Vec<(u64, bool)> = tokens
            .iter()
            .map(|t| {
                let passes = *t >= highest;
                highest = highest.max(*t);
                (*t, passes)
            })
            .collect();
        assert_eq!(compared(&bench(&tokens, "token")), expected, "seed {seed}");
    }
}

#[test]
fn it_changes_no_cell_and_gives_the_judge_nothing_to_judge() {
    let without = race().edits("set resource.check token");
    let with = race().edits("set resource.check token; at 500ms send resource 7");
    let (without, with) = (without.run(), with.run());
    assert_eq!(compared(&with), [(7, true)]);
    assert_eq!(with.judgement.verdict, without.judgement.verdict);
    let accepted = |run: &Run| {
        let is = |e: &&_| matches!(lockscope::sim::Event::note(*e), Some(Testimony::Accept(..)));
        run.record.events.iter().filter(is).count()
    };
    assert_eq!(accepted(&with), accepted(&without));
}

#[test]
fn a_higher_token_by_hand_locks_the_rightful_holder_out() {
    let case = Case::new(&[("x", 0)])
        .client("client-a", "0s", "acquire; work 1s; write x = 1; release")
        .edits("set resource.check token; at 500ms send resource 99");
    let run = case.run();
    assert_eq!(compared(&run), [(99, true)]);
    assert_eq!(run.judgement.verdict.legit_rejected, 1);
    assert_eq!(run.judgement.verdict.stale_attempts, 0);
}

#[test]
fn a_resource_that_is_down_hears_nothing_and_a_paused_one_later() {
    let run = Case::new(&[("x", 0)])
        .client("client-a", "0s", "sleep 5s")
        .edits("at 1s crash resource; at 2s send resource 42; at 3s restart resource")
        .run();
    assert_eq!(compared(&run), []);
    assert_eq!(run.unused_edits, [1]);
    let run = Case::new(&[("x", 0)])
        .client("client-a", "0s", "sleep 1s")
        .edits("at 2s pause resource for 3s; at 3s send resource 42; set resource.check token")
        .run();
    let at = |is: fn(&What<Testimony>) -> bool| {
        run.record.events.iter().find(|e| is(&e.what)).map(|e| e.at.0 / 1_000_000)
    };
    assert_eq!(at(|w| matches!(w, What::Outside(_))), Some(3));
    assert_eq!(at(|w| matches!(w, What::Note(Testimony::Hand(..)))), Some(5));
    assert!(run.unused_edits.is_empty());
}

#[test]
fn each_lock_has_a_mark_of_its_own() {
    let ledger = lockscope::run::ResourceSpec {
        label: None,
        cells: [("y".to_string(), 0)].into(),
        lock: Some("other".into()),
    };
    let mut case = Case::new(&[("x", 0)])
        .client("client-a", "0s", "sleep 5s")
        .set("resource.check", "token")
        .edits("at 1s send resource 42; at 2s send ledger 41; at 3s send resource 41");
    case.scenario.locks.push("other".into());
    case.scenario.resources.insert("ledger".into(), ledger);
    assert_eq!(compared(&case.run()), [(42, true), (41, true), (41, false)]);
}

#[test]
fn it_is_told_in_words_and_a_wrong_one_is_an_error_with_its_place() {
    let run = bench(&[42, 41], "token");
    let told: Vec<String> = (0..run.record.events.len() as u32)
        .map(|i| narrate::sentence(&run, EventId(i)))
        .filter(|s| s.contains("by hand"))
        .collect();
    assert_eq!(
        told,
        [
            "The token 42 that somebody sends by hand reaches Resource.",
            "Resource lets token 42, sent by hand, pass. It has seen nothing higher.",
            "The token 41 that somebody sends by hand reaches Resource.",
            "Resource rejects token 41, sent by hand: it is lower than 42.",
        ]
    );
    let nodes = ["client-a", "lock-service", "resource"];
    for (text, at) in [("send resource x9f", 14), ("at 3s send resourc 4", 11), ("send", 4)] {
        let error = parse_edit(text, &nodes).expect_err(text);
        assert_eq!(error.at, at, "{text}: {error}");
    }
    let case = Case::new(&[]).client("client-a", "0s", "sleep 1s");
    let registry = lockscope::systems::Registry::standard();
    let edits = ["at 1s send lock-service 42".to_string()];
    let errors = lockscope::run::compile(&case.scenario, &edits, &registry).expect_err("no mark");
    assert_eq!((errors[0].place.at, errors.len()), (11, 1));
    assert!(errors[0].message.contains("`resource`"), "{}", errors[0].message);
}
