//! The headings of the log: who holds and who believes, part by part.

mod support;

use lockscope::judge::Testimony;
use lockscope::narrate::phases;
use lockscope::run::Run;
use lockscope::sim::{Event, EventId};
use support::{Case, race, random_case, seeds};

fn titles(run: &Run) -> Vec<String> {
    phases(run).into_iter().map(|p| p.title).collect()
}

#[test]
fn the_lease_race_falls_into_the_parts_of_its_story() {
    let expected = [
        "Nobody holds the lock",
        "Client A holds 41",
        "Nobody holds the lock",
        "Client B holds 42",
        "Client A and Client B both believe",
        "Client B holds 42",
        "Nobody holds the lock",
    ];
    assert_eq!(titles(&race().run()), expected);
}

#[test]
fn a_change_of_the_servers_that_ends_a_grant_and_makes_the_next_leaves_no_gap() {
    let mut case = Case::new(&[("x", 0)]);
    case.scenario.system = "zookeeper".into();
    case.scenario.settings = Default::default();
    let work = "acquire; read x; work 1s; write x = x + 1; release";
    let case = case.set("zookeeper.servers", "3").client("client-a", "0s", work);
    let run =
        case.client("client-b", "1s", work).edits("pause client-a before write#1 for 14s").run();
    let expected =
        ["Nobody holds the lock", "Client A holds 1:4", "Client A and Client B both believe"];
    assert_eq!(titles(&run)[..2], expected[..2]);
    assert!(!titles(&run)[1..4].contains(&expected[0].to_owned()), "{:#?}", titles(&run));
    let phases = phases(&run);
    let freed = |e: &Event<Testimony>| matches!(e.note(), Some(Testimony::Free(..)));
    let end = run.record.events.iter().position(freed).expect("A's grant ends");
    assert_eq!(phases[2].from, EventId(end as u32), "the next one begins with the end");
}

#[test]
fn no_phase_begins_and_ends_within_one_step_of_the_world() {
    for seed in seeds(60) {
        let run = random_case(seed).run();
        for pair in phases(&run).windows(2) {
            let step = run.world_at(pair[0].from).events();
            let about = format!("replay with: SEED={seed} cargo test --test phases no_phase");
            assert!(pair[1].from.0 >= step, "{about}: {pair:#?}");
        }
    }
}

#[test]
fn phases_part_every_run_from_its_first_event_and_neighbours_differ() {
    for seed in seeds(200) {
        let run = random_case(seed).run();
        let phases = phases(&run);
        let about = format!("replay with: SEED={seed} cargo test --test phases phases_part");
        if run.record.events.is_empty() {
            assert!(phases.is_empty(), "{about}");
            continue;
        }
        assert_eq!(phases[0].from.0, 0, "{about}");
        for pair in phases.windows(2) {
            assert!(pair[0].from < pair[1].from, "{about}");
            assert_ne!(pair[0].title, pair[1].title, "{about}");
        }
    }
}
