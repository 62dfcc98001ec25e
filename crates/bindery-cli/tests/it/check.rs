//! `bindery check`: formats, fixes, exit codes.

use serde_json::Value;

use crate::place::Place;

/// A project with an error, two things to mend, and a note.
fn project() -> Place {
    let place = Place::new();
    place.write(
        "home/repo/AGENTS.md",
        format!(
            "See [x](Docs/a.md).\n{}\n## Last\n\nThe tail.\n",
            "Words.\n".repeat(4700)
        ),
    );
    place.write("home/repo/CLAUDE.md", "@docs/A.md\r\n\r\nCurrent sprint: 14\r\n");
    place.write("home/repo/docs/a.md", "A.\n");
    place
}

#[test]
fn a_cut_file_fails_the_check_and_is_told_with_line_and_mend() {
    let ran = project().bindery(&["check"]);
    assert_eq!(ran.code, 1);
    insta::assert_snapshot!(format!("{}---\n{}", ran.out, ran.err));
}

#[test]
fn the_threshold_decides_the_exit_code() {
    let place = Place::new();
    place.write("home/repo/AGENTS.md", "Current sprint: 14\n");
    assert_eq!(place.bindery(&["check"]).code, 0);
    assert_eq!(place.bindery(&["check", "--fail-on", "note"]).code, 1);
    let place = project();
    assert_eq!(place.bindery(&["check", "--fail-on", "never"]).code, 0);
    assert_eq!(place.bindery(&["check", "--dialect", "nobody"]).code, 2);
    assert_eq!(place.bindery(&["check", "--explain", "BND999"]).code, 2);
    assert_eq!(place.bindery(&["check", "missing"]).code, 3);
    let explained = place.bindery(&["check", "--explain", "bnd101"]);
    assert!(
        explained.out.starts_with("### BND101 `rules-cut`"),
        "{}",
        explained.out
    );
}

#[test]
fn fixes_change_the_named_bytes_alone() {
    let place = project();
    let before = std::fs::read_to_string(place.path("home/repo/AGENTS.md")).unwrap();
    let ran = place.bindery(&["check", "--fix"]);
    assert!(
        ran.err.starts_with("fixed 2 in AGENTS.md, CLAUDE.md\n"),
        "{}",
        ran.err
    );
    let read = |name: &str| std::fs::read_to_string(place.path(name)).unwrap();
    assert_eq!(
        read("home/repo/AGENTS.md"),
        before.replace("Docs/a.md", "docs/a.md")
    );
    assert_eq!(
        read("home/repo/CLAUDE.md"),
        "@docs/a.md\r\n\r\nCurrent sprint: 14\r\n"
    );
    assert!(!ran.out.contains("wrong-case"), "{}", ran.out);
    assert!(!place.bindery(&["check", "--fix"]).err.contains("fixed"));
}

#[test]
fn machines_get_json_sarif_and_annotations() {
    let place = project();
    let json: Value = serde_json::from_str(&place.bindery(&["check", "--json"]).out).unwrap();
    assert_eq!(json["schema"], "bindery.check/1");
    let diagnostics = json["diagnostics"].as_array().unwrap();
    assert!(
        diagnostics
            .iter()
            .any(|one| one["code"] == "BND101" && one["level"] == "error")
    );
    let sarif: Value = serde_json::from_str(&place.bindery(&["check", "--format", "sarif"]).out).unwrap();
    let run = &sarif["runs"][0];
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), diagnostics.len());
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
    }
    let github = place.bindery(&["check", "--format", "github"]).out;
    assert_eq!(github.lines().count(), diagnostics.len());
    assert!(
        github
            .lines()
            .any(|line| line.starts_with("::error file=AGENTS.md,line=")),
        "{github}"
    );
}
