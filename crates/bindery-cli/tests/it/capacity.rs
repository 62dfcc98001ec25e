//! Sessions that outgrow their window, at the command line.

use serde_json::Value;
use std::fmt::Write as _;

use crate::place::Place;

/// A place with a file that no conversation can hold, and a line in its middle.
fn place() -> Place {
    let place = Place::new();
    let mut log = String::new();
    for line in 0..30_000 {
        let _ = writeln!(log, "{line} INFO building unit {line} of the tree");
        if line == 15_000 {
            log.push_str("needle: port 8081 was taken\n");
        }
    }
    place.write("home/repo/README.md", log);
    place
}

#[test]
fn a_large_file_is_read_by_reference_and_what_was_summarised_can_be_read() {
    let place = place();
    let run = |arguments: &[&str]| {
        let base = ["run", "--provider", "sim", "--session", "s", "--window", "16000"];
        place.bindery(&[&base[..], arguments].concat())
    };
    let ran = run(&["Goal: find the port\nNever push."]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.out.contains("30001 lines") || ran.err.contains("30001 lines"),
        "{}{}",
        ran.out,
        ran.err
    );
    let ran = run(&["--compact", "And now?"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.err.contains("items of the ledger stand word for word"),
        "{}",
        ran.err
    );
    let request = place.bindery(&["replay", "s", "--at", "4"]);
    assert!(
        request.out.contains("Never push.") && request.out.contains("find the port"),
        "{}",
        request.out
    );
    assert!(request.out.len() < 40_000, "{}", request.out.len());
    let before = place.bindery(&["log", "show", "s", "--before-compaction"]);
    assert!(before.out.starts_with("── user, event "), "{}", before.out);
    assert!(before.out.contains("30001 lines, "), "{}", before.out);
    let verified = place.bindery(&["replay", "s", "--verify"]);
    assert_eq!(verified.code, 0, "{}", verified.out);
}

#[test]
fn the_experiment_passes_and_says_the_same_twice() {
    let place = Place::new();
    let arguments = [
        "experiment",
        "occupancy",
        "--levels",
        "40",
        "--json",
        "--svg",
        "o.svg",
    ];
    let ran = place.bindery(&arguments);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let page: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(page["schema"], "bindery.occupancy/1");
    let ours = &page["outcomes"][2];
    assert_eq!(
        (&ours["policy"], &ours["success"]),
        (&"bindery".into(), &true.into())
    );
    assert_eq!(ours["lost"], serde_json::json!([]));
    assert_eq!(ours["references"], ours["recovered"]);
    assert_eq!(ours["refused"], 0);
    assert_eq!(page["outcomes"][0]["success"], false);
    let svg = std::fs::read_to_string(place.path("home/repo/o.svg")).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert_eq!(place.bindery(&arguments).out, ran.out);
}

#[test]
fn a_window_that_cannot_hold_the_log_is_the_callers_to_mend() {
    let place = Place::new();
    let ran = place.bindery(&["experiment", "occupancy", "--window", "100000"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("take one of 400000"), "{}", ran.err);
    assert_eq!(
        place
            .bindery(&["experiment", "occupancy", "--model", "nobody"])
            .code,
        2
    );
    assert_eq!(place.bindery(&["run", "--compact-at", "2", "x"]).code, 2);
}
