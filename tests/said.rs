//! That the headline and the log say whose fault it was, how often it happened, and what a client knew.

mod support;

use lockscope::lesson::Claim;
use lockscope::narrate;
use lockscope::run::Run;
use support::Case;

/// A holder whose renewal is answered in vain, and who gives up although its lease lasts.
fn gives_up() -> Case {
    let heartbeat = "loop; sleep 3s; renew; if timeout goto lost; end; lost:; give-up; stop main";
    Case::new(&[("n", 0)])
        .set("lease.ttl", "10s")
        .set("request.timeout", "2s")
        .client("client-a", "0s", "acquire; repeat 30; work 500ms; end; release")
        .task("client-a", "heartbeat", heartbeat)
        .client("client-b", "1s", "acquire; read n; write n = n + 1; release")
        .edits("drop lock-service>client-a#2")
}

/// A client whose handler goes on writing after its own deadline.
fn drains() -> Case {
    let writes = "begin; read n; work 500ms; write n = n + 1";
    let mut case = Case::new(&[("n", 0)])
        .set("lease.ttl", "15s")
        .set("client.margin", "5s")
        .set("deadline.rule", "timer")
        .set("request.timeout", "2s")
        .set("renew.failure", "stop")
        .client("client-a", "0s", &format!("acquire; loop; {writes}; end"))
        .task("client-a", "heartbeat", "loop; sleep 2s; renew; end")
        .client("client-b", "1s", &format!("acquire; repeat 10; {writes}; end; release"))
        .edits("at 4.5s cut client-a lock-service for 60s");
    let client = case.scenario.clients.get_mut("client-a").expect("just made");
    client.on.insert("lost".into(), support::lines(&format!("repeat 12; {writes}; end")));
    case
}

fn in_turn(cells: &[(&str, i64)], ttl: &str, program: &str) -> Case {
    let case = Case::new(cells).set("lease.ttl", ttl);
    case.client("client-a", "0s", program).client("client-b", "1s", program)
}

fn said(run: &Run) -> String {
    let headline = narrate::headline(run);
    format!("{} {}", headline.word, headline.rest)
}

/// Holds each run's headline against a part of it.
fn assert_said(cases: impl IntoIterator<Item = (Case, &'static str)>) {
    for (case, part) in cases {
        let said = said(&case.run());
        assert!(said.contains(part), "{said}\nhas no\n{part}");
    }
}

#[test]
fn the_headline_says_whose_fault_it_was_and_what_its_client_knew() {
    let steps = Case::new(&[("n", 0)])
        .set("lease.ttl", "30s")
        .set("lease.clock", "wall")
        .client("client-a", "0s", "acquire; read n; work 10s; write n = n + 1; release")
        .client("client-b", "1s", "acquire; read n; work 8s; write n = n + 1; release")
        .edits("at 4s clock lock-service +60s");
    let finds_nothing = Case { scenario: steps.scenario.clone(), edits: steps.edits.clone() };
    let finds_nothing =
        finds_nothing.client("client-a", "0s", "acquire; read n; work 10s; abort; release");
    assert_said([
        (
            gives_up(),
            "Safe. No two clients ever believed they held the lock at once; but for 8.05 s Lock \
             service kept the lock for Client A, which had declared it lost, and meanwhile Client B \
             waited for 8.05 s.",
        ),
        (
            gives_up().client("client-b", "20s", "acquire; release"),
            "for Client A, which had declared it lost.",
        ),
        (
            steps,
            "Corrupted. Lock service broke its promise to Client A and granted the lock twice; two \
             clients believed they held the lock for 6.25 s; ",
        ),
        (
            finds_nothing,
            "Near miss. Lock service broke its promise to Client A and granted the lock twice; two \
             clients believed they held the lock for 6.15 s; no late write reached the resource.",
        ),
        (drains(), ", sent although Client A knew that its lock was gone, "),
        (
            drains().set("resource.check", "token").set("resource.reads", "token"),
            "Client A's late write, sent although Client A knew that its lock was gone, was rejected, \
             the first of ",
        ),
    ]);
}

#[test]
fn the_headline_says_how_often_it_was_done_and_what_was_refused() {
    let mail = "acquire; job report; work 8s; write mail = 1; insert sent = 1; release";
    let once = "acquire; job report; work 8s; insert sent = 1; release";
    let report = "acquire; job report; work 8s; write sent = 1; release";
    let mut shared = Case::new(&[("x", 0), ("y", 0)])
        .set("lock.first_token.a", "1000")
        .set("lock.first_token.b", "998")
        .set("resource.check", "token")
        .set("resource.marks", "shared")
        .client("client-a", "0s", "acquire a; write x = 1 under a; release a")
        .client(
            "client-b",
            "1s",
            "repeat 5; acquire b; write y = 1 under b; release b; sleep 1s; end",
        );
    shared.scenario.locks = vec!["a".into(), "b".into()];
    assert_said([
        (
            in_turn(&[("mail", 0), ("sent", 0)], "5s", mail),
            "that does not undo what came before; the job report had its effect twice.",
        ),
        (
            in_turn(&[("sent", 0)], "5s", report).client("client-c", "2s", report),
            "Done three times. Three clients, never more than two at once, believed they held the \
             lock for 6.2 s altogether; the job report had its effect three times.",
        ),
        (
            in_turn(&[("sent", 0)], "3s", report).client("client-c", "2s", report),
            "Done three times. Three clients believed they held the lock for ",
        ),
        (
            in_turn(&[("sent", 0)], "5s", once),
            "was accepted, but Client B's second insert of sent was refused, and no harm was done.",
        ),
        (
            shared,
            "was rejected, the first of two, although Client B held the lock b: token 998 is lower \
             than 1000, a token of the lock a.",
        ),
    ]);
}

#[test]
fn the_log_says_where_a_program_stops_and_which_corruption_was_the_first() {
    let log = narrate::log(&drains().run());
    let lines = [
        "Client A no longer believes that it holds the lock: its own deadline is over. Its program stops.",
        "with token 41, although it no longer believes that it holds the lock.",
        "From here on no order of whole sections explains the resource: it is corrupted",
        "That adds to the corruption",
        "Client A ends its program.",
        "time in which a grant stood whose client did not believe in it",
    ];
    let mut rest = log.lines();
    for line in lines {
        assert!(rest.any(|l| l.contains(line)), "no {line} in its place in\n{log}");
    }
    assert_eq!(log.matches("From here on").count(), 1, "{log}");
    assert!(narrate::log(&gives_up().run()).contains("Client A ends its program."));
}

#[test]
fn an_assertion_finds_a_lost_message_from_both_its_ends() {
    let run = gives_up().run();
    for line in ["lose lock-service at 3.05s", "lose client-a", "no lose client-b"] {
        let claim = Claim::parse(line, run.names()).expect("it can be read");
        assert_eq!(claim.test(&run), Ok(()), "{line}");
    }
}

#[test]
fn a_promise_that_its_holder_gave_up_is_no_lease_that_ended() {
    let run = Case::new(&[("x", 0)])
        .client("client-a", "0s", "acquire; write x = 1 within 120ms; release; sleep 5s")
        .edits("delay client-a>resource#1 by 100ms")
        .run();
    let said = narrate::log(&run);
    assert!(said.contains("promise had ended") && !said.contains("lease had ended"), "{said}");
}
