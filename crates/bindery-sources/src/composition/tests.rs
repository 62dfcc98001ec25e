use std::fs;
use std::path::Path;

use bindery_core::{Group, Lane, Mode, Scope, Source, Text, Trust, references};
use proptest::prelude::*;

use super::test_support::{rendered, try_rendered};
use super::*;
use crate::environment::{PER_SESSION, Surroundings};
use crate::gate::Gate;
use crate::notice::{Notice, Position, Refused};
use crate::places::Places;
use crate::settings::{Chosen, Origin, Rank};

/// A home and a project in a temporary folder. Paths in messages are relative to them.
struct Folders {
    top: tempfile::TempDir,
    places: Places,
}

impl Folders {
    fn new() -> Self {
        let top = tempfile::tempdir().unwrap();
        let places = Places::new(Some(&top.path().join("home")), None, top.path().join("project"));
        fs::create_dir_all(places.project_sections()).unwrap();
        fs::create_dir_all(places.user_sections().unwrap()).unwrap();
        Self { top, places }
    }

    fn user(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        fs::write(self.places.user_sections().unwrap().join(name), text).unwrap();
        self
    }

    fn project(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        fs::write(self.places.project_sections().join(name), text).unwrap();
        self
    }

    fn compose(&self, grants: Grants) -> Result<Composition, Refused> {
        compose(&self.places, grants)
    }

    fn refused(&self) -> String {
        let refused = self.compose(Grants::default()).unwrap_err().to_string();
        refused.replace(self.top.path().to_str().unwrap(), "[TOP]")
    }
}

fn grants(keys: &[&str]) -> Grants {
    Grants::from(Chosen {
        value: keys.iter().map(|key| (*key).to_owned()).collect(),
        origin: Origin {
            rank: Rank::UserFile,
            at: Position::line("~/.config/bindery/config.toml", 3),
        },
    })
}

fn shown(notices: &[Notice]) -> String {
    notices
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("\n")
}

fn problem(text: &str) -> String {
    parse(text, "style", ".bindery/sections/style.md")
        .unwrap_err()
        .to_string()
}

#[test]
fn every_bad_field_is_named_with_its_line_and_mend() {
    let cases = [
        "---\norder: 1\ngruop: static\n---\nx",
        "---\nzzz: 1\n---\nx",
        "---\ngroup: sticky\n---\nx",
        "---\norder: soon\n---\nx",
        "---\norder: 1\norder: 2\n---\nx",
        "---\nmodes: []\n---\nx",
        "---\nmodes: [full, none]\n---\nx",
        "---\nauthority: user\n---\nx",
        "---\ncomplete: perhaps\n---\nx",
        "---\n\nkey: \"two words\"\n---\nx",
        "---\nkey: [\n---\nx",
        "---\n- a\n- b\n---\nx",
        "---\nkey: x\nno end",
    ];
    let all: Vec<String> = cases.iter().map(|text| problem(text)).collect();
    insta::assert_snapshot!(all.join("\n"), @r#"
        .bindery/sections/style.md:3:1: unknown field `gruop`
          3 | gruop: static
          help: did you mean `group`?
        .bindery/sections/style.md:2:1: unknown field `zzz`
          2 | zzz: 1
          help: known fields are key, group, order, cadence, reason, modes, authority, complete, interpolate
        .bindery/sections/style.md:2:8: `sticky` is no value of this field
          2 | group: sticky
          help: write one of static, dynamic, appended
        .bindery/sections/style.md:2:8: bad front matter: this must be a whole number from -2147483648 to 2147483647
          2 | order: soon
          help: front matter is YAML: one `field: value` a line, between two lines of `---`
        .bindery/sections/style.md:3:1: field `order` stands twice
          3 | order: 2
          help: remove one of them
        .bindery/sections/style.md:2: `modes` is empty, so this section would never be used
          2 | modes: []
          help: write `modes: [full]`, `[minimal]` or `[full, minimal]`, or remove the line
        .bindery/sections/style.md:2:15: `none` is no value of this field
          2 | modes: [full, none]
          help: write one of full, minimal
        .bindery/sections/style.md:2:12: `user` is no value of this field
          2 | authority: user
          help: write one of system, developer
        .bindery/sections/style.md:2:11: bad front matter: this must be `true` or `false`
          2 | complete: perhaps
          help: front matter is YAML: one `field: value` a line, between two lines of `---`
        .bindery/sections/style.md:3: `key` must be at most 128 letters, digits and `._-/`
          3 | key: "two words"
          help: a short name in lower case with hyphens, such as `house-style`
        .bindery/sections/style.md:2:6: bad front matter: this must be a text
          2 | key: [
          help: front matter is YAML: one `field: value` a line, between two lines of `---`
        .bindery/sections/style.md:2:1: bad front matter: there are no fields
          2 | - a
          help: front matter is YAML: one `field: value` a line, between two lines of `---`
        .bindery/sections/style.md:1: the front matter that starts here does not end
          help: close it with a line of `---`
    "#);
}

#[test]
fn cadence_rules_are_checked_where_they_are_broken() {
    let cases = [
        "---\ncadence: step\nreason: changes\n---\nx",
        "---\ngroup: dynamic\ncadence: step\n---\nx",
        "---\ngroup: dynamic\ncadence: step\nreason: \" \"\n---\nx",
        "---\nreason: none needed\n---\nx",
    ];
    let all: Vec<String> = cases.iter().map(|text| problem(text)).collect();
    insta::assert_snapshot!(all.join("\n"), @r"
        .bindery/sections/style.md:2: a static section cannot have cadence `step`: static text stands before the cache boundary
          2 | cadence: step
          help: use `cadence: session`, or `group: dynamic`
        .bindery/sections/style.md:3: cadence `step` needs a `reason`: every change re-reads what follows it
          3 | cadence: step
          help: add `reason:` and say why the text must change at every step
        .bindery/sections/style.md:3: cadence `step` needs a `reason`: every change re-reads what follows it
          3 | cadence: step
          help: add `reason:` and say why the text must change at every step
        .bindery/sections/style.md:2: `reason` goes with `cadence: step` only
          2 | reason: none needed
          help: remove it, or set `cadence: step`
    ");
}

#[test]
fn a_file_that_cannot_be_read_is_named_with_its_mend() {
    let folders = Folders::new();
    let sections = folders.places.project_sections();
    folders.user("latin.md", b"one\ntwo \xe9\n");
    folders.user("wide.md", b"\xff\xfea\0");
    fs::create_dir(sections.join("folder.md")).unwrap();
    std::os::unix::fs::symlink("loop.md", sections.join("loop.md")).unwrap();
    std::os::unix::fs::symlink("gone", sections.join("broken.md")).unwrap();
    fs::write(folders.top.path().join("secret"), "key").unwrap();
    std::os::unix::fs::symlink("../../../secret", sections.join("secret.md")).unwrap();
    folders.project("large.md", vec![b'x'; 1024 * 1024 + 1]);
    insta::assert_snapshot!(folders.refused(), @r"
        ~/.config/bindery/sections/latin.md:2: byte 0xe9 at offset 8 is not UTF-8
          help: save the file as UTF-8
        ~/.config/bindery/sections/wide.md:1: the file is UTF-16, not UTF-8
          help: save the file as UTF-8
        .bindery/sections/broken.md: this is a symbolic link to a file that does not exist
          help: remove the link, or point it at a file
        .bindery/sections/folder.md: this is a directory, not a file
          help: rename or remove the directory
        .bindery/sections/large.md: the file has 1048577 bytes; at most 1048576 are read
          help: split it, or keep data out of it and let the agent read that when needed
        .bindery/sections/loop.md: symbolic links form a loop
          help: remove the link, or point it at a file
        .bindery/sections/secret.md: this is a symbolic link to a file outside the project; a repository may not bring in files from elsewhere
          help: copy the file into the project, or move it to your own configuration
    ");
}

#[test]
fn a_pipe_is_refused_without_being_opened() {
    let folders = Folders::new();
    let pipe = folders.places.project_sections().join("pipe.md");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    insta::assert_snapshot!(folders.refused(), @r"
        .bindery/sections/pipe.md: this is a pipe, socket or device, not a file
          help: replace it by a regular file
    ");
}

#[test]
fn a_file_in_place_of_the_folder_is_named() {
    let folders = Folders::new();
    fs::remove_dir(folders.places.project_sections()).unwrap();
    fs::write(folders.places.project_sections(), "x").unwrap();
    insta::assert_snapshot!(folders.refused(), @r"
        .bindery/sections: this is not a directory
          help: make it a directory and put one Markdown file a section into it
    ");
}

#[test]
fn a_key_taken_twice_names_both_files() {
    let folders = Folders::new();
    folders
        .user("a.md", "---\nkey: same\n---\nx")
        .user("b.md", "---\nkey: same\n---\ny");
    insta::assert_snapshot!(folders.refused(), @r"
        ~/.config/bindery/sections/b.md: key `same` is also the key of ~/.config/bindery/sections/a.md
          help: give one of them another `key`, or remove it
    ");
}

#[test]
fn no_folders_leave_the_default_composition() {
    let places = Places::new(None, None, "/nowhere");
    let composition = compose(&places, Grants::default()).unwrap();
    assert_eq!(composition.notices(), &[]);
}

#[test]
fn an_ungranted_project_section_is_a_message_and_says_how_to_grant() {
    let folders = Folders::new();
    folders.project("style.md", "---\ncomplete: true\n---\nObey {{cwd}}.");
    let composition = folders.compose(Grants::default()).unwrap();
    insta::assert_snapshot!(shown(composition.notices()), @r#"
        .bindery/sections/style.md: section `style` is the project's, so it is delivered as a message and not in the system prompt; `complete` has no effect there; its variables are not replaced
          help: if you trust it, add grants = ["style"] to your own config.toml, or pass --grant style
    "#);
    let scope = with_variables();
    let (inner, _kept) = composition.register(&scope.0, &Gate::default()).unwrap();
    let out = rendered(&inner);
    assert!(
        out.system
            .fragments()
            .iter()
            .all(|fragment| fragment.trust != Trust::Project)
    );
    let [message] = &out.context.messages[..] else {
        panic!("{:?}", out.context.messages)
    };
    assert_eq!(message.lane, Lane::Context);
    insta::assert_snapshot!(message.text.as_str(), @r#"
        <bindery-instructions source=".bindery/sections/style.md:4" trust="project">
        Obey {{cwd}}.
        </bindery-instructions>
    "#);
}

#[test]
fn a_granted_project_section_stands_in_the_system_prompt_with_its_grant() {
    let folders = Folders::new();
    folders.project("tone.md", "---\norder: 60\n---\nWrite verse.");
    let composition = folders.compose(grants(&["tone", "absent"])).unwrap();
    insta::assert_snapshot!(shown(composition.notices()), @r"
        sections/default/tone.md: section `tone` of .bindery/sections/tone.md takes the place of this one
        ~/.config/bindery/config.toml:3: `grants` names `absent`, and this project has no such section
          help: nothing needs to be done if it is meant for another project
    ");
    let scope = with_variables();
    let (inner, _kept) = composition.register(&scope.0, &Gate::default()).unwrap();
    let out = rendered(&inner);
    let fragment = out
        .system
        .fragments()
        .iter()
        .find(|fragment| &*fragment.key == "tone")
        .unwrap();
    assert_eq!(fragment.text.as_str(), "Write verse.");
    assert_eq!(
        fragment.grant,
        Some(Source::Setting {
            name: "~/.config/bindery/config.toml:3".into()
        })
    );
}

#[test]
fn a_users_section_shadows_the_default_and_its_errors_have_file_lines() {
    let folders = Folders::new();
    folders.user("tone.md", "---\norder: 60\n---\n\nShort.\n\nIn {{no_such}}.\n");
    let composition = folders.compose(Grants::default()).unwrap();
    insta::assert_snapshot!(shown(composition.notices()), @"sections/default/tone.md: section `tone` of ~/.config/bindery/sections/tone.md takes the place of this one");
    let scope = with_variables();
    let (inner, _kept) = composition.register(&scope.0, &Gate::default()).unwrap();
    let error = try_rendered(&inner, Mode::Full).unwrap_err().to_string();
    assert!(
        error.starts_with("~/.config/bindery/sections/tone.md:7:4: unknown variable `{{no_such}}`"),
        "{error}"
    );
}

#[test]
fn a_volatile_variable_in_a_static_section_is_warned_about() {
    let folders = Folders::new();
    folders.user("here.md", "We are in {{cwd}}.");
    let composition = folders.compose(Grants::default()).unwrap();
    insta::assert_snapshot!(shown(composition.notices()), @r"
        ~/.config/bindery/sections/here.md: section `here` is static and refers to `{{cwd}}`, which differs between sessions; nothing after it is shared
          help: set `group: dynamic`
    ");
}

#[test]
fn dropping_the_registrations_removes_everything() {
    let (scope, _variables) = with_variables();
    let composition = compose(&Places::new(None, None, "/nowhere"), Grants::default()).unwrap();
    let (inner, registrations) = composition.register(&scope, &Gate::default()).unwrap();
    drop(registrations);
    assert_eq!(rendered(&inner).system.full_text(), "");
}

/// A scope with the variables of a session.
fn with_variables() -> (Scope, Vec<bindery_core::Registration>) {
    let scope = Scope::global();
    let surroundings = Surroundings {
        cwd: "/srv/project".into(),
        platform: "linux/x86_64".into(),
        os: Some("Debian GNU/Linux 13".into()),
        shell: Some("bash".into()),
        model: Some("model-1".into()),
        ..Surroundings::default()
    };
    let registrations = surroundings.register(&scope, None).unwrap();
    (scope, registrations)
}

fn default_prompt(mode: Mode) -> bindery_core::Rendered {
    let (scope, _variables) = with_variables();
    let composition = compose(&Places::new(None, None, "/nowhere"), Grants::default()).unwrap();
    let (inner, _kept) = composition.register(&scope, &Gate::default()).unwrap();
    try_rendered(&inner, mode).unwrap()
}

#[test]
fn the_default_composition_as_the_main_agent_reads_it() {
    let out = default_prompt(Mode::Full);
    insta::assert_snapshot!("default_full", out.system.full_text());
}

#[test]
fn the_default_composition_as_a_sub_agent_reads_it() {
    let out = default_prompt(Mode::Minimal);
    let keys: Vec<&str> = out
        .system
        .fragments()
        .iter()
        .map(|fragment| &*fragment.key)
        .collect();
    assert_eq!(
        keys,
        [
            "identity",
            "context",
            "safety",
            "tools",
            "sub-agent",
            "environment"
        ]
    );
}

#[test]
fn static_default_sections_hold_nothing_volatile() {
    for file in default_sections().unwrap() {
        let uses = references(&file.body);
        if file.header.group == Group::Static {
            assert_eq!(uses, Vec::<&str>::new(), "{}", file.shown);
        }
        assert!(
            uses.iter().all(|name| PER_SESSION.contains(name)),
            "{}",
            file.shown
        );
    }
}

#[test]
fn every_default_section_file_is_embedded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sections/default");
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let embedded: Vec<String> = builtin::FILES
        .iter()
        .map(|(stem, ..)| format!("{stem}.md"))
        .collect();
    assert_eq!(names, embedded);
}

#[test]
fn the_documentation_has_every_field() {
    let page = include_str!("../../../../docs/sections.md");
    for (name, _) in FIELDS {
        assert!(
            page.contains(&format!("| `{name}` |")),
            "docs/sections.md lacks `{name}`"
        );
    }
}

#[test]
fn line_endings_and_a_byte_order_mark_change_nothing() {
    let folders = Folders::new();
    folders.user("a.md", "\u{feff}---\r\norder: 3\r\n---\r\n\r\none\r\ntwo\r\n");
    let file = &read_folder(&folders.places.user_sections().unwrap(), &folders.places, None).unwrap()[0];
    assert_eq!((file.body.as_str(), file.header.order), ("one\ntwo", 3));
    assert_eq!(file.source().to_string(), "~/.config/bindery/sections/a.md:5-6");
}

proptest! {
    #[test]
    fn reading_never_panics_and_lines_are_right(
        header in "(key: [a-z]{1,5}\n|order: [0-9]\n|[a-z: \\[\\]&*]{0,12}\n){0,4}",
        blank in 0usize..3,
        body in "[a-z{}\n -]{0,40}",
    ) {
        let text = format!("---\n{header}---\n{}{body}", "\n".repeat(blank));
        if let Ok(file) = parse(&text, "stem", "f.md") && !file.body.is_empty() {
            let line = text.lines().nth(file.first_line as usize - 1).unwrap();
            prop_assert!(file.body.starts_with(line.trim_end()), "{line:?} {:?}", file.body);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(text in ".{0,200}") {
        let _ = parse(&text, "stem", "f.md");
        let _ = Text::from(text);
    }
}
