use std::fs;

use super::*;

#[test]
fn every_form_gives_agents_and_nothing_is_dropped_silently() {
    let folder = tempfile::tempdir().unwrap();
    let lay = |path: &str, text: &[u8]| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    // A byte order mark before the header: the agent is registered all the same.
    lay("claude/m.md", b"\xef\xbb\xbf---\nname: m\n---\nbody");
    lay(
        "claude/r.md",
        b"---\nname: reviewer\ndescription: Reviews\ntools: Read, Grep\nmodel: haiku\n---\nPROMPT\n",
    );
    lay(
        "codex/w.toml",
        b"description = \"Works\"\ndeveloper_instructions = \"DO\"\n",
    );
    lay("codex/bad.toml", b"= no");
    lay(
        "openclaw.json",
        br#"{"agents": {"list": [{"id": "main", "name": "Main", "workspace": "/w"}, {"name": "x"}]}}"#,
    );
    let root = |path: &str, form| AgentRoot {
        path: folder.path().join(path),
        form,
        scope: Scope::Project,
    };
    let roots = [
        root("claude", Form::Markdown),
        root("codex", Form::Toml),
        root("openclaw.json", Form::Settings),
        root("none", Form::Toml),
    ];
    let found = Agents::read(&roots, &mut Reader::new());
    let names: Vec<&str> = found.agents.iter().map(|agent| agent.name.as_str()).collect();
    assert_eq!(names, ["m", "main", "reviewer", "w"]);
    assert_eq!(found.agents[0].prompt, "body");
    assert_eq!(found.agents[1].workspace.as_deref(), Some(Path::new("/w")));
    assert_eq!(found.agents[2].tools, ["Read", "Grep"]);
    assert_eq!(found.agents[3].prompt, "DO");
    let errors = found
        .diagnostics
        .iter()
        .filter(|note| note.severity == Severity::Error);
    assert_eq!(errors.count(), 2);
}
