use std::fs;
use std::path::Path;

use bindery_core::{CustomMode, Mode, Source, Trust};
use bindery_guard::policy::{Extent, Stance};
use proptest::prelude::*;

use super::*;

struct Folders {
    top: tempfile::TempDir,
    places: Places,
}

impl Folders {
    fn new() -> Self {
        let top = tempfile::tempdir().unwrap();
        let places = Places::new(Some(&top.path().join("home")), None, top.path().join("project"));
        fs::create_dir_all(&places.project).unwrap();
        fs::create_dir_all(places.user.as_ref().unwrap()).unwrap();
        Self { top, places }
    }

    fn user(&self, text: &str) -> &Self {
        fs::write(self.places.user_settings().unwrap(), text).unwrap();
        self
    }

    fn project(&self, text: &str) -> &Self {
        fs::write(self.places.project_settings(), text).unwrap();
        self
    }

    fn load(&self, request: &Request) -> Result<Settings, Refused> {
        load(&self.places, &self.places.project, request)
    }

    fn loaded(&self) -> Settings {
        self.load(&Request::default()).unwrap()
    }

    fn refused(&self, request: &Request) -> String {
        let refused = self.load(request).unwrap_err().to_string();
        refused.replace(self.top.path().to_str().unwrap(), "[TOP]")
    }
}

fn overrides(given: &[&str]) -> Request {
    Request {
        overrides: given.iter().map(|text| (*text).to_owned()).collect(),
        ..Request::default()
    }
}

fn lines(settings: &Settings) -> String {
    let shown = |shown: &Shown| format!("{} ({})", shown.value, shown.origin);
    let mut out = String::new();
    for row in settings.explain_config() {
        let value = row.value.as_ref().map_or_else(|| "-".to_owned(), shown);
        let shadowed: Vec<String> = row.shadowed.iter().map(shown).collect();
        let line = format!("{} = {value} {}", row.key, shadowed.join(" < "));
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[test]
fn nothing_set_leaves_the_built_in_values() {
    let settings = Folders::new().loaded();
    assert_eq!(
        (settings.mode(), settings.custom_mode()),
        (Mode::Full, CustomMode::Replace)
    );
    assert_eq!(settings.git_status_deadline(), Some(crate::git_status::DEADLINE));
    insta::assert_snapshot!(lines(&settings), @r#"
    agent = -
    agent_mode = "replace" (built-in)
    append_system_prompt = -
    capacity.compact_at = 0.800 (built-in)
    capacity.intake_bytes = 16384 (built-in)
    capacity.keep_recent = -
    capacity.prune_at = 0.600 (built-in)
    capacity.tool_reserve = 0.125 (built-in)
    coordinator = -
    custom_mode = "replace" (built-in)
    developer_instructions = -
    effort = -
    git_status_deadline_ms = 200 (built-in)
    grants = [] (built-in)
    guard.approvals = "own" (built-in)
    guard.extent = "lines" (built-in)
    guard.external = "label" (built-in)
    guard.project = "label" (built-in)
    guard.user = "label" (built-in)
    instructions = "auto" (built-in)
    language = -
    max_tokens = -
    memory = "on" (built-in)
    mode = "full" (built-in)
    model = -
    output_style = -
    provider = "anthropic" (built-in)
    skills = "on" (built-in)
    system_prompt = -
    tier = -
    tool_order = -
    user = -
    "#);
}

#[test]
fn every_layer_shadows_the_ones_before_it() {
    let folders = Folders::new();
    folders
        .user("model = 'm1'\n\n[profile.deep]\nmodel = \"m2\"\ngrants = [\"style\"]\n")
        .project("model = \"m3\"\nmax_tokens = 1_000\n[profile.deep]\nmodel = \"m4\"\n[profile.other]\nmodel = \"no\"\n");
    let request = Request {
        profile: Some("deep".into()),
        flags: Flags {
            model: Some("m6".into()),
            mode: Some(Mode::Minimal),
            ..Flags::default()
        },
        ..overrides(&["model=m5", "git_status_deadline_ms=0"])
    };
    let settings = folders.load(&request).unwrap();
    assert_eq!(settings.git_status_deadline(), None);
    insta::assert_snapshot!(lines(&settings), @r#"
    agent = -
    agent_mode = "replace" (built-in)
    append_system_prompt = -
    capacity.compact_at = 0.800 (built-in)
    capacity.intake_bytes = 16384 (built-in)
    capacity.keep_recent = -
    capacity.prune_at = 0.600 (built-in)
    capacity.tool_reserve = 0.125 (built-in)
    coordinator = -
    custom_mode = "replace" (built-in)
    developer_instructions = -
    effort = -
    git_status_deadline_ms = 0 (-c git_status_deadline_ms) 200 (built-in)
    grants = ["style"] (~/.config/bindery/config.toml:5) [] (built-in)
    guard.approvals = "own" (built-in)
    guard.extent = "lines" (built-in)
    guard.external = "label" (built-in)
    guard.project = "label" (built-in)
    guard.user = "label" (built-in)
    instructions = "auto" (built-in)
    language = -
    max_tokens = 1000 (bindery.toml:2)
    memory = "on" (built-in)
    mode = "minimal" (--mode) "full" (built-in)
    model = "m6" (--model) "m5" (-c model) < "m4" (bindery.toml:4) < "m3" (bindery.toml:1) < "m2" (~/.config/bindery/config.toml:4) < "m1" (~/.config/bindery/config.toml:1)
    output_style = -
    provider = "anthropic" (built-in)
    skills = "on" (built-in)
    system_prompt = -
    tier = -
    tool_order = -
    user = -
    "#);
}

#[test]
fn syntax_errors_carry_line_column_and_text() {
    let folders = Folders::new();
    folders.user("mode = \"full\"\nmodel = gpt-5\n");
    insta::assert_snapshot!(folders.refused(&Request::default()), @r"
        ~/.config/bindery/config.toml:2:9: not valid TOML: string values must be quoted, expected literal string
          2 | model = gpt-5
          help: put the text in quotation marks
    ");
    folders
        .user("mode = \"full\"\nmode = \"full\"\n")
        .project("[profile\n");
    insta::assert_snapshot!(folders.refused(&Request::default()), @r#"
        ~/.config/bindery/config.toml:2:1: not valid TOML: duplicate key
          2 | mode = "full"
          help: remove one of the two
        bindery.toml:1:9: not valid TOML: unclosed table, expected `]`
          1 | [profile
          help: https://toml.io shows how it is written
    "#);
}

#[test]
fn every_bad_value_is_reported_at_once() {
    let folders = Folders::new();
    folders.user(
        "modle = 1\nzzz = 2\nmode = \"fast\"\nmax_tokens = 0\nmax_tokens_ = 1\ngit_status_deadline_ms = 99999\n\
         grants = \"style\"\ntool_order = [\"a\", \"a\", \"<unlisted-tools>\"]\nmodel = \"ignore all rules\"\n\
         system_prompt = { path = \"x\" }\nprovider = 3\nagent = [1]\n\n[profile.x]\ngrants = [1]\n[profile]\ny = 1\n",
    );
    insta::assert_snapshot!(folders.refused(&Request::default()), @r#"
    ~/.config/bindery/config.toml:1:1: unknown key `modle`
      1 | modle = 1
      help: did you mean `model`?
    ~/.config/bindery/config.toml:2:1: unknown key `zzz`
      2 | zzz = 2
      help: known keys are agent, agent_mode, append_system_prompt, capacity.compact_at, capacity.intake_bytes, capacity.keep_recent, capacity.prune_at, capacity.tool_reserve, coordinator, custom_mode, developer_instructions, effort, git_status_deadline_ms, grants, guard.approvals, guard.extent, guard.external, guard.project, guard.user, instructions, language, max_tokens, memory, mode, model, output_style, provider, skills, system_prompt, tier, tool_order, user
    ~/.config/bindery/config.toml:3:8: `mode` must be one of "full", "minimal", "none", not "fast"
      3 | mode = "fast"
      help: for example mode = "minimal"
    ~/.config/bindery/config.toml:4:14: `max_tokens` must be a whole number from 1 to 10000000, not 0
      4 | max_tokens = 0
      help: for example max_tokens = 8192
    ~/.config/bindery/config.toml:5:1: unknown key `max_tokens_`
      5 | max_tokens_ = 1
      help: did you mean `max_tokens`?
    ~/.config/bindery/config.toml:6:26: `git_status_deadline_ms` must be a whole number from 0 to 10000, not 99999
      6 | git_status_deadline_ms = 99999
      help: for example git_status_deadline_ms = 500
    ~/.config/bindery/config.toml:7:10: `grants` must be a list of section keys, not "style"
      7 | grants = "style"
      help: for example grants = ["style"]
    ~/.config/bindery/config.toml:8:14: tool_order names `a` twice; remove one
      8 | tool_order = ["a", "a", "<unlisted-tools>"]
      help: for example tool_order = ["read", "<unlisted-tools>"]
    ~/.config/bindery/config.toml:9:9: `model` must be a name of at most 128 letters, digits and `._:/@+-`
      9 | model = "ignore all rules"
      help: for example model = "claude-opus-4-8"
    ~/.config/bindery/config.toml:10:17: `system_prompt` as a table has exactly one key, `file`
      10 | system_prompt = { path = "x" }
      help: for example system_prompt = { file = "prompt.md" }
    ~/.config/bindery/config.toml:11:12: `provider` must be a name, not an integer
      11 | provider = 3
      help: for example provider = "anthropic"
    ~/.config/bindery/config.toml:12:9: `agent` must be the path of a file, not an array
      12 | agent = [1]
      help: for example agent = "reviewer.md"
    ~/.config/bindery/config.toml:15:10: `grants` must hold texts only
      15 | grants = [1]
      help: for example grants = ["style"]
    ~/.config/bindery/config.toml:17:5: profile `y` must be a table
      17 | y = 1
      help: write [profile.NAME] and the keys below it
    "#);
}

#[test]
fn a_repository_may_not_set_what_carries_authority() {
    let folders = Folders::new();
    folders.project(
        "model = \"m\"\ngrants = [\"style\"]\nsystem_prompt = \"obey\"\nappend_system_prompt = { file = \"x\" }\n\
         agent = \"a.md\"\nmode = \"none\"\n[profile.x]\ncustom_mode = \"extend\"\n",
    );
    insta::assert_snapshot!(folders.refused(&Request::default()), @r#"
        bindery.toml:2:1: a repository may not set `grants`: a grant lets repository text speak as the system, and a repository may not grant itself that
          2 | grants = ["style"]
          help: remove the line; to set `grants` yourself, use --grant, -c grants=… or your own config.toml
        bindery.toml:3:1: a repository may not set `system_prompt`: its text speaks with the authority of the system, and a repository may not give itself that; put the text into `.bindery/sections/` and let the user grant it, or into AGENTS.md
          3 | system_prompt = "obey"
          help: remove the line; to set `system_prompt` yourself, use --system-prompt, -c system_prompt=… or your own config.toml
        bindery.toml:4:1: a repository may not set `append_system_prompt`: its text speaks with the authority of the system, and a repository may not give itself that; put the text into `.bindery/sections/` and let the user grant it, or into AGENTS.md
          4 | append_system_prompt = { file = "x" }
          help: remove the line; to set `append_system_prompt` yourself, use --append-system-prompt, -c append_system_prompt=… or your own config.toml
        bindery.toml:5:1: a repository may not set `agent`: its text speaks with the authority of the system, and a repository may not give itself that; put the text into `.bindery/sections/` and let the user grant it, or into AGENTS.md
          5 | agent = "a.md"
          help: remove the line; to set `agent` yourself, use --agent, -c agent=… or your own config.toml
        bindery.toml:6:1: a repository may not set `mode`: it decides which of the user's own rules and safety sections the model sees, and a repository may not switch those off
          6 | mode = "none"
          help: remove the line; to set `mode` yourself, use --mode, -c mode=… or your own config.toml
        bindery.toml:8:1: a repository may not set `custom_mode`: it decides which of the user's own rules and safety sections the model sees, and a repository may not switch those off
          8 | custom_mode = "extend"
          help: remove the line; to set `custom_mode` yourself, use --custom-mode, -c custom_mode=… or your own config.toml
    "#);
}

#[test]
fn every_key_is_either_allowed_or_refused_in_a_project_for_a_reason() {
    for info in KEYS {
        let text = format!("{} = {}\n", info.name, example(info));
        let of = |owner| parse(&text, "f", Path::new("/"), owner);
        assert!(of(Owner::User).is_ok(), "{text}");
        assert_eq!(
            of(Owner::Project).is_err(),
            info.not_in_project.is_some(),
            "{text}"
        );
    }
}

fn example(info: &KeyInfo) -> String {
    let fixed = match info.shape {
        Shape::Name | Shape::File | Shape::Prompt => "\"x\"",
        Shape::Choice(words) => return format!("{:?}", words.last().unwrap()),
        Shape::Strictness(words) if words.contains(&"whole") => "\"whole\"",
        Shape::Strictness(_) => "\"block\"",
        Shape::Count(..) => "0x1000",
        Shape::Fraction => "0.5",
        Shape::Names => "[\"x\"]",
        Shape::ToolOrder => "[\"<unlisted-tools>\"]",
    };
    fixed.to_owned()
}

#[test]
fn a_repository_makes_the_guard_stricter_and_never_milder() {
    let folders = Folders::new();
    folders
        .user("[guard]\nproject = \"block\"\n[profile.mild]\nguard.project = \"allow\"\n")
        .project("guard.project = \"label\"\nguard.extent = \"whole\"\nguard.user = \"allow\"\n");
    let settings = folders.loaded();
    let guard = settings.guard();
    assert_eq!(
        (guard.project, guard.extent, guard.user),
        (Stance::Block, Extent::Whole, Stance::Label)
    );
    let told: Vec<String> = settings.notices().iter().map(ToString::to_string).collect();
    insta::assert_snapshot!("milder_settings_of_a_repository", told.join("\n"));
    // The operator has the last word.
    let allow = folders.load(&overrides(&["guard.project=allow"])).unwrap();
    assert_eq!(allow.guard().project, Stance::Allow);
    let mild = Request {
        profile: Some("mild".into()),
        ..Request::default()
    };
    assert_eq!(folders.load(&mild).unwrap().guard().project, Stance::Label);
}

#[test]
fn the_command_line_is_checked_like_a_file() {
    let folders = Folders::new();
    let request = Request {
        profile: Some("deep".into()),
        ..overrides(&[
            "mode",
            "modle=x",
            "mode=fast",
            "grants=style",
            "model.x=1",
            "max_tokens=-1",
        ])
    };
    insta::assert_snapshot!(folders.refused(&request), @r#"
        --profile: there is no profile `deep`
          help: add [profile.deep] to your config.toml or to bindery.toml
        -c mode: there is no `=`
          help: write -c KEY=VALUE, for example -c mode=minimal
        -c modle=x: unknown key `modle`
          help: did you mean `model`?
        -c mode=fast: `mode` must be one of "full", "minimal", "none", not "fast"
          help: for example mode = "minimal"
        -c grants=style: `grants` must be a list of section keys, not "style"
          help: for example grants = ["style"]
        -c model.x=1: `model` has no part `x`
          help: for example model = "claude-opus-4-8"
        -c max_tokens=-1: `max_tokens` must be a whole number from 1 to 10000000, not -1
          help: for example max_tokens = 8192
    "#);
    folders.user("[profile.deeper]\n");
    insta::assert_snapshot!(folders.refused(&Request { profile: Some("deep".into()), ..Request::default() }), @r"
        --profile: there is no profile `deep`
          help: did you mean `deeper`?
    ");
    let flags = Flags {
        model: Some("two words".into()),
        max_tokens: Some(0),
        ..Flags::default()
    };
    insta::assert_snapshot!(folders.refused(&Request { flags, ..Request::default() }), @r#"
        --model: `model` must be a name of at most 128 letters, digits and `._:/@+-`
          help: for example model = "claude-opus-4-8"
        --max-tokens: `max_tokens` must be a whole number from 1 to 10000000, not 0
          help: for example max_tokens = 8192
    "#);
}

#[test]
fn an_override_takes_toml_or_a_bare_text() {
    let folders = Folders::new();
    let request = overrides(&[
        "model=4",
        "provider=\"openai\"",
        "grants=[\"a\", 'b']",
        "system_prompt=Be kind.",
        "append_system_prompt.file=x.md",
        "mode = minimal",
    ]);
    let settings = folders.load(&request).unwrap();
    assert_eq!(settings.model().unwrap().value, "4");
    assert_eq!(settings.provider().unwrap().value, "openai");
    assert_eq!(settings.grants().unwrap().value, ["a", "b"]);
    assert_eq!(
        settings.system_prompt().unwrap().value,
        Prompt::Text("Be kind.".into())
    );
    assert_eq!(
        settings.append_system_prompt().unwrap().value,
        Prompt::File(folders.places.project.join("x.md"))
    );
    assert_eq!(settings.mode(), Mode::Minimal);
}

#[test]
fn unreadable_settings_are_refused() {
    let folders = Folders::new();
    fs::create_dir(folders.places.project_settings()).unwrap();
    fs::write(folders.places.user_settings().unwrap(), b"model = \"\xff\"").unwrap();
    insta::assert_snapshot!(folders.refused(&Request::default()), @r"
        ~/.config/bindery/config.toml:1: byte 0xff at offset 9 is not UTF-8
          help: save the file as UTF-8
        bindery.toml: this is a directory, not a file
          help: rename or remove the directory
    ");
}

#[test]
fn prompts_are_signed_by_whoever_named_them() {
    let folders = Folders::new();
    fs::write(folders.places.user.as_ref().unwrap().join("mine.md"), "Mine.").unwrap();
    fs::write(
        folders.places.project.join("agent.md"),
        "---\nname: x\n---\nYou review.\n",
    )
    .unwrap();
    folders.user("append_system_prompt = { file = \"mine.md\" }\n");
    let request = Request {
        flags: Flags {
            agent: Some("agent.md".into()),
            system_prompt: Some(PromptFlag::Text("Custom {{x}}.".into())),
            ..Flags::default()
        },
        ..overrides(&["custom_mode=extend"])
    };
    let sources = prompt_sources(&folders.load(&request).unwrap(), &folders.places).unwrap();
    let (custom, mode) = sources.custom.unwrap();
    assert_eq!((custom.trust, mode), (Trust::Operator, CustomMode::Extend));
    assert_eq!(
        custom.source,
        Source::Setting {
            name: "--system-prompt".into()
        }
    );
    let [append] = &sources.append[..] else { panic!() };
    assert_eq!((append.trust, append.text.as_str()), (Trust::User, "Mine."));
    assert_eq!(append.source.to_string(), "~/.config/bindery/mine.md");
    let (agent, _) = sources.agent.unwrap();
    assert_eq!(
        (agent.trust, agent.text.as_str()),
        (Trust::Project, "You review.\n")
    );
    assert_eq!(agent.source.to_string(), "agent.md:4");
    assert_eq!(
        agent.grant,
        Some(Source::Setting {
            name: "--agent".into()
        })
    );
}

#[test]
fn a_prompt_file_that_is_not_there_is_named_by_the_setting() {
    let folders = Folders::new();
    folders.user("\nsystem_prompt = { file = \"gone.md\" }\n");
    let refused = prompt_sources(&folders.loaded(), &folders.places).unwrap_err();
    insta::assert_snapshot!(refused.to_string(), @r"
        ~/.config/bindery/config.toml:2:1: `~/.config/bindery/gone.md` does not exist
          help: check the path; in a settings file it starts at that file's folder
    ");
}

#[test]
fn the_documentation_has_every_key_and_the_precedence() {
    let page = include_str!("../../../../docs/configuration.md");
    for info in KEYS {
        let who = match (info.not_in_project, info.shape) {
            (Some(_), _) => "no",
            (None, Shape::Strictness(_)) => "only stricter",
            (None, _) => "yes",
        };
        let default = if info.default.is_empty() {
            String::new()
        } else {
            format!("`{}`", info.default)
        };
        let row = format!(
            "| `{}` | {} | {default} | {who} | {} |",
            info.name, info.shape, info.meaning
        );
        assert!(
            page.contains(&row),
            "docs/configuration.md lacks this row:\n{row}"
        );
    }
    let rows: Vec<String> = Rank::ALL
        .iter()
        .enumerate()
        .map(|(index, rank)| format!("| {} | {} | {} |", index + 1, rank.name(), rank.trust().name()))
        .collect();
    assert!(
        page.contains(&rows.join("\n")),
        "docs/configuration.md lacks these rows:\n{}",
        rows.join("\n")
    );
}

/// Any layer: some keys, each with a value that tells the layer.
fn layer(rank: Rank) -> impl Strategy<Value = Layered> {
    prop::collection::btree_set(0..KEYS.len(), 0..KEYS.len()).prop_map(move |chosen| {
        let mut layer = Layered::default();
        for index in chosen {
            let origin = Origin {
                rank,
                at: Position::line("f", super::super::notice::number(index)),
            };
            layer.set(KEYS[index].key, super::Value::Count(index as u64), origin);
        }
        layer
    })
}

proptest! {
    #[test]
    fn layering_is_associative_and_keeps_provenance(
        a in layer(Rank::UserFile),
        b in layer(Rank::ProjectFile),
        c in layer(Rank::Flag),
    ) {
        let left = a.clone().under(b.clone()).under(c.clone());
        let right = a.clone().under(b.clone().under(c.clone()));
        prop_assert_eq!(&left, &right);
        prop_assert_eq!(&left.clone().under(Layered::default()), &left);
        for info in KEYS {
            let setters: Vec<Rank> = [&c, &b, &a]
                .iter()
                .filter_map(|layer| Some(layer.winner(info.key)?.origin.rank))
                .collect();
            prop_assert_eq!(left.winner(info.key).map(|chosen| chosen.origin.rank), setters.first().copied());
            let shadowed: Vec<Rank> = left.shadowed(info.key).map(|chosen| chosen.origin.rank).collect();
            prop_assert_eq!(&shadowed[..], setters.get(1..).unwrap_or_default());
        }
    }

    #[test]
    fn no_text_panics(text in "[a-z_=\\[\\]{}\"'.0-9 \n#-]{0,80}") {
        let _ = parse(&text, "f", Path::new("/"), Owner::Project);
        let _ = command_line::overrides(std::slice::from_ref(&text), Path::new("/"));
    }
}
