use std::fs;

use super::*;

#[test]
fn the_index_is_bounded_and_names_its_topics() {
    let folder = tempfile::tempdir().unwrap();
    let lay = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    lay(
        "MEMORY.md",
        "- [Build](build.md)\n- [Gone](gone.md)\n- [Out](../x.md)\nmore\nand more\n",
    );
    lay("build.md", "BUILD");
    lay("loose.md", "LOOSE");
    let bounds = Bounds {
        lines: 4,
        bytes: 1000,
    };
    let mut reader = Reader::new();
    let memory = Memory::read(folder.path(), bounds, &mut reader).unwrap();
    assert_eq!(memory.text.lines().count(), 4);
    let topics: Vec<(&str, bool)> = memory
        .topics
        .iter()
        .map(|topic| (topic.title.as_str(), topic.indexed))
        .collect();
    assert_eq!(topics, [("Build", true), ("loose", false)]);
    assert_eq!(memory.topic("Build", &mut reader).unwrap().unwrap(), "BUILD");
    let codes: Vec<Code> = memory.diagnostics.iter().map(|note| note.code).collect();
    assert_eq!(codes, [Code::Truncated, Code::DanglingLink]);
}

#[test]
fn a_line_that_does_not_fit_ends_the_index() {
    assert_eq!(within("ab\ncdef\ng\n", Bounds { lines: 10, bytes: 5 }), "ab\n");
    assert_eq!(within("ab\n", Bounds::default()), "ab\n");
}

#[test]
fn no_index_is_a_named_problem() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(
        Memory::read(folder.path(), Bounds::default(), &mut Reader::new()).unwrap_err(),
        Problem::Missing
    );
}
