use std::fs;

use super::*;

#[test]
fn what_the_settings_say_has_the_authority_that_codex_gives_it() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join(".codex");
    fs::create_dir_all(&home).unwrap();
    let places = Places::new(Some(folder.path()), None, folder.path().join("p"));
    let lay = |name: &str, text: &str| fs::write(home.join(name), text).unwrap();
    let shown = |prompt: &Option<PromptText>| {
        prompt
            .as_ref()
            .map(|prompt| format!("{} ({})", prompt.text.as_str(), prompt.source))
    };
    let read = |profile| read(&home, profile, &places);
    assert_eq!(read(None), CodexPrompts::default());
    lay(
        "config.toml",
        "instructions = \"I\"\ndeveloper_instructions = \"D\"\n",
    );
    let plain = read(Some("none"));
    assert_eq!(shown(&plain.base).as_deref(), Some("I (~/.codex/config.toml:1)"));
    assert_eq!(
        shown(&plain.developer).as_deref(),
        Some("D (~/.codex/config.toml:2)")
    );
    lay("base.md", "\n BASE \n");
    lay(
        "p.config.toml",
        "model_instructions_file = \"base.md\"\ndeveloper_instructions = \"P\"\n",
    );
    let layered = read(Some("p"));
    assert_eq!(shown(&layered.base).as_deref(), Some("BASE (~/.codex/base.md)"));
    assert_eq!(
        shown(&layered.developer).as_deref(),
        Some("P (~/.codex/p.config.toml:2)")
    );
    assert_eq!(layered.notices, []);
}

#[test]
fn what_codex_would_refuse_is_passed_over_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let places = Places::new(Some(folder.path()), None, folder.path().join("p"));
    let said = |text: &str| {
        fs::write(folder.path().join("config.toml"), text).unwrap();
        let read = read(folder.path(), None, &places);
        let notices: Vec<String> = read.notices.iter().map(|notice| notice.at.to_string()).collect();
        (read.base.is_some(), notices)
    };
    assert_eq!(
        said("profile = \"x\"\n"),
        (false, vec!["~/config.toml:1:11".to_owned()])
    );
    assert_eq!(
        said("\nmodel_instructions_file = \"no.md\"\n").1,
        ["~/config.toml:2:27"]
    );
    assert_eq!(said("= broken").1.len(), 1);
    assert_eq!(said("instructions = 3"), (false, vec![]));
}
