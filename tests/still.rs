//! A still picture shows what was so at its moment, and nothing else.

use std::path::Path;

use lockscope::diagram::{Element, Layout, Picture, Still, alone, layout, still};
use lockscope::lesson::{self, anchor};
use lockscope::run::Run;
use lockscope::sim::{EventId, Micros};

fn race() -> (Run, Picture) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("lessons/05-lease-expiration.md");
    let lesson = lesson::read(&path).expect("the lesson can be read");
    let run = Run::of(lesson.compile("base", &[]).expect("it compiles"));
    let picture = layout(&run, &Layout { width: 640, ..Layout::default() });
    (run, picture)
}

fn event(run: &Run, line: &str) -> (EventId, Micros) {
    let event = anchor(run, line).expect("it happens");
    (event, run.record.event(event).at)
}

/// All words of a picture, in drawing order.
fn said(element: &Element) -> Vec<String> {
    let mut words: Vec<String> = element.children.iter().flat_map(said).collect();
    words.extend((!element.text.is_empty()).then(|| element.text.clone()));
    words
}

fn all<'e>(element: &'e Element, found: &mut Vec<&'e Element>) {
    found.push(element);
    element.children.iter().for_each(|child| all(child, found));
}

fn attribute<'e>(element: &'e Element, name: &str) -> &'e str {
    element.attributes.iter().find(|a| a.0 == name).map_or("", |a| a.1.as_str())
}

#[test]
fn a_still_picture_says_what_was_so_at_its_moment_and_nothing_later() {
    let (run, picture) = race();
    let (_, paused) = event(&run, "pause client-a");
    let early = still(&run, &picture, &Still { at: Some(paused), ..Still::default() });
    let words = said(&early);
    for there in ["Client A", "holds 41", "41", "refused", "1.20 s"] {
        assert!(words.iter().any(|w| w == there), "{there} in {words:?}");
    }
    for later in ["42", "accepted", "lease 41 expires", "thinks 41"] {
        assert!(!words.iter().any(|w| w.contains(later)), "{later} in {words:?}");
    }
    let whole = said(&still(&run, &picture, &Still::default()));
    assert!(whole.iter().any(|w| w == "stale 41") && whole.iter().any(|w| w == "2 believers"));
    assert!(
        attribute(&early, "aria-label")
            .starts_with("Space-time diagram at 1.20 s. Client A: holds 41.")
    );
}

#[test]
fn a_crop_leaves_out_what_lies_outside_and_no_sign_is_cut() {
    let (run, picture) = race();
    let ((_, from), (_, to)) = (event(&run, "resume client-a"), event(&run, "accept client-a"));
    let crop = Still::between(&picture, from, to);
    let drawn = still(&run, &picture, &crop);
    let words = said(&drawn);
    assert!(words.iter().any(|w| w == "stale 41") && !words.iter().any(|w| w == "refused"));
    let high: i32 = attribute(&drawn, "height").parse().expect("a number");
    assert!(high < 200 && high > picture.header_height, "{high}");
    let early = said(&still(&run, &picture, &Still { bottom: Some(140), ..Still::default() }));
    assert!(!early.iter().any(|w| w == "stale 41"), "{early:?}");
}

#[test]
fn what_counts_is_outlined_and_nothing_has_an_id() {
    let (run, picture) = race();
    let (accepted, at) = event(&run, "accept client-a");
    let arrow = picture.marks.iter().find_map(|m| match &m.shape {
        lockscope::diagram::Shape::Message { .. } => Some(m.event),
        _ => None,
    });
    let elements = |highlight: Vec<EventId>| {
        let still = still(&run, &picture, &Still { at: Some(at), highlight, ..Still::default() });
        let mut found = Vec::new();
        all(&still, &mut found);
        assert!(found.iter().all(|e| attribute(e, "id").is_empty()));
        found.len()
    };
    let plain = elements(Vec::new());
    assert_eq!(elements(vec![accepted]), plain + 1, "a box about the sign");
    assert_eq!(elements(vec![arrow.expect("a message")]), plain + 2, "two lines along the arrow");
}

#[test]
fn a_still_picture_that_stands_alone_is_the_same_file_as_before() {
    let (run, picture) = race();
    let ((_, from), (event, to)) = (event(&run, "resume client-a"), event(&run, "accept client-a"));
    let crop = Still { highlight: vec![event], ..Still::between(&picture, from, to) };
    let drawn = alone(&still(&run, &picture, &crop));
    assert!(drawn.starts_with("<svg ") && drawn.contains("<style>"));
    expect_test::expect_file!["snapshots/still.svg"].assert_eq(&drawn);
}
