//! The shortest pause that harms equals the closed form, and the two runs show the one swap.

mod support;

use lockscope::run::{compile, kind};
use lockscope::search::{NoEdge, knife_edge};
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
        let edge = knife_edge(&compiled, &case.edits, 0).expect("there is an edge");
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
        assert!(edge.runs < 60, "{} runs", edge.runs);
        let swap = edge.swap.expect("two operations changed places");
        let told = |run: &lockscope::run::Run, id| kind::kind(run.record.event(id));
        // Without harm A's write came first; with harm B's read overtook it.
        assert_eq!(told(&edge.safe_run, swap.first.0), "accept");
        assert_eq!(told(&edge.harmful_run, swap.second.1), "serve");
    }
}

#[test]
fn there_is_no_edge_behind_a_check_and_none_without_a_pause() {
    let case = race().edits("set resource.check token");
    let compiled = |edits: &[String]| compile(&case.scenario, edits, &Registry::standard());
    assert!(matches!(knife_edge(&compiled, &case.edits, 0), Err(NoEdge::NeverHarm(_))));
    assert_eq!(knife_edge(&compiled, &case.edits, 1).unwrap_err(), NoEdge::NotAPause);
}
