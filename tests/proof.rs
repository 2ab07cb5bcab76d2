//! Proof in the small: the schedules are all there are, and what is counted is what each run says.

mod support;

use std::collections::{BTreeMap, BTreeSet};

use lockscope::judge::{Testimony, Verdict};
use lockscope::run::{NodeKind, Run, compile, kind};
use lockscope::search::{Aim, CHECKS, Proof};
use lockscope::sim::{Micros, What};
use lockscope::systems::Registry;
use support::{Case, Draws, busy, race, seeds, transfer};

fn compiled(case: &Case, edits: &[String]) -> Run {
    Run::of(compile(&case.scenario, edits, &Registry::standard()).expect("it compiles"))
}

fn proof(case: &Case, aim: Aim) -> Proof {
    let compile = |edits: &[String]| compile(&case.scenario, edits, &Registry::standard());
    let mut proof = Proof::new(&compile, &case.edits, aim).expect("the case compiles");
    proof.finish();
    proof
}

/// What each node saw, in its own order, and what the judge weighs, in the order of all: written
/// from the record, by code that shares nothing with the search.
fn order(run: &Run) -> String {
    let mut lanes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for event in &run.record.events {
        let node = run.names().node(event.node).id.clone();
        let address = event.message().map(|m| run.names().message(run.record.message(m)));
        let words = format!("{} {}", kind::kind(event), address.unwrap_or_default());
        let section = matches!(
            event.note(),
            Some(
                Testimony::Grant { .. }
                    | Testimony::Free(..)
                    | Testimony::Believe(..)
                    | Testimony::Doubt(..)
                    | Testimony::Begin(..)
                    | Testimony::Job(..)
                    | Testimony::Close(..)
                    | Testimony::Write(..)
                    | Testimony::Accept(..)
                    | Testimony::Reject(..)
                    | Testimony::Void(..)
                    | Testimony::Learn(..)
            )
        );
        if section || matches!(event.what, What::Lose(_)) {
            lanes.entry("judge".into()).or_default().push(format!("{node} {words}"));
        }
        lanes.entry(node).or_default().push(words);
    }
    format!("{lanes:?}")
}

/// Every address of an instruction that the run without a pause executes.
fn instructions(case: &Case, edits: &[String]) -> BTreeSet<(String, String, u32)> {
    let words = ["acquire", "renew", "release", "check", "read", "write", "begin", "abort", "job"];
    let plain = compiled(case, edits);
    let clients = plain.names().nodes.iter().filter(|n| n.kind == NodeKind::Client);
    let mut found = BTreeSet::new();
    for client in clients {
        let lines = plain.names().programs[plain.names().find(&client.id).unwrap().0 as usize][0]
            .join("\n");
        for word in words.into_iter().chain(["work", "sleep"]).filter(|w| lines.contains(w)) {
            for number in 1.. {
                let pause = format!("pause {} before {word}#{number} for 1us", client.id);
                let edits = [edits, &[pause]].concat();
                if compiled(case, &edits).unused_edits.contains(&(edits.len() - 1)) {
                    break;
                }
                found.insert((client.id.clone(), word.to_string(), number));
            }
        }
    }
    found
}

/// All schedules by trying every length on a grid: how many there are, and for each check how many
/// harm, and how many in each way.
fn brute_force(
    case: &Case,
    edits: &[String],
    grid: u64,
    longest: u64,
) -> (usize, Vec<(usize, [usize; 5])>) {
    let (mut count, mut rows) = (0, vec![(0, [0; 5]); CHECKS.len()]);
    for (client, word, number) in instructions(case, edits) {
        let mut classes: BTreeMap<Vec<String>, Vec<[bool; 5]>> = BTreeMap::new();
        for order_on_resume in ["program-first", "timers-first"] {
            for length in (1..=longest / grid).map(|n| n * grid) {
                let runs: Vec<Run> = CHECKS
                    .iter()
                    .map(|check| {
                        let more = [
                            format!("set resume.order {order_on_resume}"),
                            format!("set resource.check {check}"),
                            format!("pause {client} before {word}#{number} for {length}ms"),
                        ];
                        compiled(case, &[edits, &more].concat())
                    })
                    .collect();
                let harm = runs.iter().map(|r| harm(&r.judgement.verdict)).collect();
                let known = classes.insert(runs.iter().map(order).collect(), Clone::clone(&harm));
                assert!(known.is_none_or(|known| known == harm), "one order, two verdicts");
            }
        }
        count += classes.len();
        for harms in classes.values() {
            for (row, harm) in rows.iter_mut().zip(harms) {
                row.0 += usize::from(harm.contains(&true));
                row.1.iter_mut().zip(harm).for_each(|(n, h)| *n += usize::from(*h));
            }
        }
    }
    (count, rows)
}

fn harm(verdict: &Verdict) -> [bool; 5] {
    [
        verdict.corruption > 0,
        verdict.lost_updates > 0,
        verdict.torn_sections > 0,
        verdict.invariant_broken.is_some_and(|n| n > 0),
        verdict.duplicate_work.is_some_and(|n| n > 0),
    ]
}

/// A client with a heartbeat that stands still with it, so that timers are late on resume.
fn heartbeat() -> Case {
    let program =
        "acquire; read x; work 500ms; check; if lost goto out; write x = x + 1; release; out:";
    Case::new(&[("x", 0)])
        .invariant("x == done")
        .until("20s")
        .set("lease.ttl", "2s")
        .client("client-a", "0s", program)
        .task("client-a", "heartbeat", "loop; sleep 700ms; renew; end")
        .client("client-b", "300ms", "acquire; read x; write x = x + 1; release")
}

#[test]
fn the_counts_equal_those_of_trying_every_length() {
    for (name, case, grid, longest) in [
        ("race", race(), 25, 16_000),
        ("transfer", transfer(), 25, 12_000),
        ("heartbeat", heartbeat(), 25, 6_000),
    ] {
        let proof = proof(&case, Aim::Harm);
        let plain: Vec<String> = Vec::new();
        let (count, rows) = brute_force(&case, &plain, grid, longest);
        let places = instructions(&case, &plain);
        assert_eq!(proof.places.len(), places.len(), "{name}");
        // Whoever it is that stops, the other one included.
        let clients: BTreeSet<&str> = places.iter().map(|p| p.0.as_str()).collect();
        assert_eq!(clients, BTreeSet::from(["client-a", "client-b"]), "{name}");
        let found: Vec<_> = proof.rows.iter().map(|r| (r.harmful, r.kinds)).collect();
        assert_eq!((proof.schedules.len(), found), (count, rows), "{name}");
        println!("{name}: {count} {:?}", proof.rows.iter().map(|r| r.harmful).collect::<Vec<_>>());
    }
}

#[test]
fn every_schedule_replays_from_its_edits_to_what_was_counted() {
    for case in [race(), transfer(), heartbeat()] {
        let proof = proof(&case, Aim::Harm);
        for (index, row) in proof.rows.iter().enumerate() {
            let mut kinds = [0; 5];
            let mut harmful = 0;
            for schedule in 0..proof.schedules.len() {
                let run = compiled(&case, &proof.edits(schedule, index));
                assert!(run.unused_edits.is_empty(), "{:?}", proof.edits(schedule, index));
                assert_eq!(run.compiled.settings.word("resource.check"), row.check);
                let harm = harm(&run.judgement.verdict);
                harmful += usize::from(harm.contains(&true));
                kinds.iter_mut().zip(harm).for_each(|(n, h)| *n += usize::from(h));
                if row.first == Some(schedule) {
                    assert!(harm.contains(&true));
                }
            }
            assert_eq!((harmful, kinds), (row.harmful, row.kinds), "{}", row.check);
        }
    }
}

#[test]
fn no_length_leads_to_an_order_that_was_not_tried() {
    for seed in seeds(3) {
        let mut draws = Draws::new(seed);
        let mut case = busy(&mut draws).until("9s");
        case.scenario.clients.remove("client-c");
        let mut known: BTreeMap<usize, BTreeSet<Vec<String>>> = BTreeMap::new();
        let proof = proof(&case, Aim::Harm);
        let longest = |place: usize| {
            let here = proof.schedules.iter().filter(|s| s.place == place);
            here.map(|s| s.span.1.0).max().unwrap_or(1)
        };
        let cut = std::cell::Cell::new(false);
        let runs = |edits: &dyn Fn(usize) -> Vec<String>| -> Vec<String> {
            cut.set(false);
            let one = |row| {
                let run = compiled(&case, &edits(row));
                cut.set(cut.get() | (run.end == run.compiled.plan.until));
                order(&run)
            };
            (0..proof.rows.len()).map(one).collect()
        };
        for (index, schedule) in proof.schedules.iter().enumerate() {
            known.entry(schedule.place).or_default().insert(runs(&|row| proof.edits(index, row)));
        }
        let mut whole = 0;
        for _ in 0..200 {
            let index = draws.up_to(proof.schedules.len() as u64 - 1) as usize;
            let place = proof.schedules[index].place;
            // Longer ones lead to no other order, but the end of the run may cut it off.
            let length = 1 + draws.up_to(longest(place) - 1);
            let orders = runs(&|row| {
                let mut edits = proof.edits(index, row);
                let pause = edits.pop().expect("the pause is last");
                let (before, _) = pause.rsplit_once(' ').expect("its length is last");
                edits.push(format!("{before} {length}us"));
                edits
            });
            let hint = format!(
                "SEED={seed} cargo test --test proof no_length: {:?} {length}us",
                proof.edits(index, 0)
            );
            assert!(cut.get() || known[&place].contains(&orders), "{hint}");
            whole += u32::from(!cut.get());
        }
        println!("seed {seed}: {whole} of 200 lengths lead to whole runs");
    }
}

#[test]
fn a_token_does_not_keep_a_transfer_in_one_piece() {
    // The first write of A is accepted, the second comes too late and is refused: half a transfer.
    let proof = proof(&transfer(), Aim::Harm);
    let by = |check: &str| proof.rows.iter().position(|r| r.check == check).expect("it is there");
    let (none, token) = (&proof.rows[by("none")], &proof.rows[by("token")]);
    assert!(none.harmful > token.harmful && token.harmful > 0);
    assert_eq!(none.kinds[2], 0, "without a check nothing is refused, so that nothing is torn");
    // No order of sections is broken and nothing is lost; the sum is wrong all the same.
    let torn = |schedule: &usize| {
        let run = compiled(&transfer(), &proof.edits(*schedule, by("token")));
        let verdict = run.judgement.verdict;
        (verdict.stale_rejected > 0 && verdict.torn_sections == 1)
            && verdict.invariant_broken == Some(1)
            && (verdict.corruption, verdict.lost_updates) == (0, 0)
    };
    assert!((0..proof.schedules.len()).filter(torn).count() > 2);
}

#[test]
fn pauses_of_the_variant_are_left_out_and_its_own_check_has_a_row() {
    let case = race().edits("set resource.check token-once; at 2s cut client-b resource for 1s");
    let proof = proof(&case, Aim::Overlap);
    assert_eq!((proof.left_out, proof.rows.len()), (1, CHECKS.len() + 1));
    assert_eq!(proof.rows[proof.own].check, "token-once");
    let met = proof.rows[proof.own].first_met.expect("two clients can believe at once");
    let edits = proof.edits(met, proof.own);
    assert_eq!(edits[..2], ["at 2s cut client-b resource for 1s", "set resource.check token-once"]);
    assert_eq!(edits.len(), 3);
    assert!(compiled(&case, &edits).judgement.verdict.overlap_us > 0);
}

#[test]
fn a_search_has_a_bound_and_says_what_it_left_out() {
    let case = race();
    let compile = |edits: &[String]| compile(&case.scenario, edits, &Registry::standard());
    let bounded = |most: u32| {
        let mut proof = Proof::new(&compile, &case.edits, Aim::Harm).expect("the case compiles");
        proof.most = most;
        proof.finish();
        proof
    };
    let whole = bounded(lockscope::search::MOST_WORK);
    assert_eq!((whole.untried_places, whole.untried_schedules), (0, 0));
    let said = |proof: &Proof| lockscope::narrate::bounds(proof).join(" ");
    assert!(!said(&whole).contains("not tried:"), "{}", said(&whole));
    let mut fewer = 0;
    for most in [u32::try_from(whole.work).expect("it is small") / 3, 4_000, 2_000] {
        let part = bounded(most);
        assert_eq!(part.places.len() + part.untried_places, whole.places.len());
        // What was tried was tried as ever: it is the beginning of the whole.
        assert_eq!(part.schedules[..], whole.schedules[..part.schedules.len()]);
        assert!(part.rows.iter().zip(&whole.rows).all(|(p, w)| p.harmful <= w.harmful));
        assert!(part.is_done());
        if part.untried_places + part.untried_schedules > 0 {
            fewer += 1;
            assert!(said(&part).contains("the search ends after"), "{}", said(&part));
        }
    }
    assert!(fewer > 0);
    let none = bounded(10);
    assert!(none.places.is_empty() && none.schedules.is_empty());
    assert!(said(&none).starts_with("There is too much to try:"), "{}", said(&none));
}

#[test]
fn where_servers_only_keep_one_another_company_one_round_stands_for_all() {
    // Three servers talk for as long as the run goes on. An edit that names a message by its number, which
    // never comes, forbids to take one round for another.
    let work = "acquire; read x; work 300ms; write x = x + 1; release";
    let mut case = Case::new(&[("x", 0)]).client("client-a", "0s", work);
    case.scenario.system = "zookeeper".into();
    case.scenario.settings = Default::default();
    let case = case
        .client("client-b", "200ms", work)
        .set("session.timeout", "4s")
        .set("lock.disconnected", "wait")
        // A client takes its session for over by itself, by a deadline that no event shows.
        .set("zookeeper.version", "zookeeper-3.9.3")
        .set("link.delay", "10ms")
        .until("28s");
    let whole = "drop client-a>resource#9999";
    let short = proof(&case, Aim::Harm);
    let case = case.edits(whole);
    let long = proof(&case, Aim::Harm);
    assert!(short.period == Some(Micros::from_secs(1)) && long.period.is_none());
    assert!(!short.exhausted && !long.exhausted && short.places == long.places);
    assert!(10 * short.work < 9 * long.work, "{} {}", short.work, long.work);
    let mut harmful = 0;
    for (a, b) in short.rows.iter().zip(&long.rows) {
        assert_eq!(a.kinds.map(|n| n > 0), b.kinds.map(|n| n > 0), "{}", a.check);
        let first = |proof: &Proof, row: &lockscope::search::Row| {
            row.first.map(|first| (proof.schedules[first].place, proof.schedules[first].length))
        };
        assert_eq!(first(&short, a), first(&long, b), "{}", a.check);
        harmful += a.harmful;
    }
    assert!(harmful > 0, "it is to be seen in something");
    // Every instruction has the same outcomes, all figures of the verdict compared.
    let outcomes = |proof: &Proof, scenario: &lockscope::run::Scenario| {
        let mut found: BTreeSet<(usize, bool, String)> = BTreeSet::new();
        for (index, schedule) in proof.schedules.iter().enumerate() {
            let edits = proof.edits(index, 0);
            let run =
                Run::of(compile(scenario, &edits, &Registry::standard()).expect("it compiles"));
            let mut verdict = run.judgement.verdict;
            // Spans grow with the pause.
            (verdict.overlap_us, verdict.orphan_us) = (0, 0);
            found.insert((schedule.place, schedule.turned, format!("{verdict:?}")));
        }
        found
    };
    assert_eq!(outcomes(&short, &case.scenario), outcomes(&long, &case.scenario));
}
