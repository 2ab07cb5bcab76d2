//! The headings of the log: who holds and who believes, part by part.

mod support;

use lockscope::narrate::phases;
use lockscope::run::Run;
use support::{race, random_case, seeds};

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
