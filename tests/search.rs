//! The shortest pause that harms equals the closed form, and the two runs show the one swap.

mod support;

use lockscope::run::{Run, compile, kind};
use lockscope::search::{Goal, NoEdge, knife_edge};
use lockscope::systems::Registry;
use support::{Draws, race, seeds};

#[test]
fn the_shortest_harmful_pause_is_the_one_that_arithmetic_predicts() {
    for seed in seeds(60) {
        let mut draws = Draws::new(seed);
        let ttl = 3_000_000 + draws.up_to(20_000) * 1_000 + 501;
        let delay = 1_000 * (1 + draws.up_to(150));
        let case = race()
            .set("acquire.wait", "queue")
            .set("lease.ttl", &format!("{ttl}us"))
            .set("link.delay", &format!("{delay}us"));
        let compiled = |edits: &[String]| compile(&case.scenario, edits, &Registry::standard());
        let find = |goal| knife_edge(&compiled, &case.edits, 0, goal).expect("there is an edge");
        let edge = find(Goal::Harm);
        // A pauses after its grant, its read and its work; B's read is the newer holder's touch.
        let pause_start = 4 * delay + 1_000_000;
        let newer_touch = delay + ttl + 2 * delay;
        let expected = (newer_touch - pause_start - delay).div_ceil(1_000);
        assert_eq!(
            edge.harmful.0 / 1_000,
            expected,
            "SEED={seed} cargo test --test search the_shortest"
        );
        assert_eq!(edge.harmful.0 - edge.safe.0, 1_000);
        assert!(edge.runs < 500, "{} runs", edge.runs);
        let swap = edge.swap.expect("two operations changed places");
        let told = |run: &lockscope::run::Run, id| kind::kind(run.record.event(id));
        // Without harm A's write came first; with harm B's read overtook it.
        assert_eq!(told(&edge.safe_run, swap.first.0), "accept");
        assert_eq!(told(&edge.harmful_run, swap.second.1), "serve");

        // The write is stale as soon as it arrives after B's grant.
        let stale = find(Goal::Stale);
        let newer_grant = delay + ttl;
        let expected = (newer_grant - pause_start - delay).div_ceil(1_000);
        assert_eq!(stale.harmful.0 / 1_000, expected, "SEED={seed} stale");
        let swap = stale.swap.expect("a write and a grant changed places");
        assert_eq!(told(&stale.safe_run, swap.first.0), "accept");
        assert_eq!(told(&stale.harmful_run, swap.second.1), "grant");
    }
}

#[test]
fn there_is_no_edge_behind_a_check_and_none_without_a_pause() {
    // Reads show the newer token, so that no write slips in between.
    let case = race().edits("set resource.check token").edits("set resource.reads token");
    let compiled = |edits: &[String]| compile(&case.scenario, edits, &Registry::standard());
    let find = |index, goal| knife_edge(&compiled, &case.edits, index, goal);
    assert!(matches!(find(0, Goal::Harm), Err(NoEdge::Never(_))));
    assert_eq!(find(1, Goal::Harm).unwrap_err(), NoEdge::NoLength);
    // The late write comes behind the check as well, and from the newer write on it is rejected.
    let stale = find(0, Goal::Stale).expect("there is an edge");
    assert_eq!(stale.harmful_run.judgement.verdict.stale_accepted, 1);
    let rejected = find(0, Goal::Rejected).expect("there is an edge");
    assert!(stale.harmful < rejected.harmful);
    let swap = rejected.swap.expect("the two writes changed places");
    let told = |run: &lockscope::run::Run, id| kind::kind(run.record.event(id));
    assert_eq!(told(&rejected.safe_run, swap.first.0), "accept");
    assert_eq!(told(&rejected.harmful_run, swap.first.1), "reject");
}

#[test]
fn a_length_that_does_harm_on_screen_is_never_denied() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/lessons");
    let mut harmful = 0;
    for name in ["01-break-it", "05-lease-expiration", "06-fencing-tokens"] {
        let path = format!("{folder}/{name}.md");
        let lesson = lockscope::lesson::read(path.as_ref()).expect("it is a lesson");
        for variant in &lesson.variants {
            let scenario = lesson.scenario_of(variant);
            let edits: Vec<String> = variant.edits.iter().map(|e| e.text.clone()).collect();
            let compiled = |edits: &[String]| compile(&scenario, edits, &Registry::standard());
            let run = Run::of(compiled(&edits).expect("it compiles"));
            for index in 0..edits.len() {
                let found = knife_edge(&compiled, &edits, index, Goal::Harm);
                let denied = matches!(found, Err(NoEdge::Never(_)));
                assert!(!denied || !run.judgement.verdict.harmed(), "{name} {}", variant.name);
                harmful += usize::from(found.is_ok());
            }
        }
    }
    assert!(harmful > 10, "{harmful}");
}
