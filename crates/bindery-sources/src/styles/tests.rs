use bindery_core::Rendered;

use super::*;
use crate::composition::test_support::rendered;
use crate::settings::{Flags, Key, Request, load};

struct Ground {
    folder: tempfile::TempDir,
    places: Places,
    homes: ClientHomes,
}

impl Ground {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let places = Places::new(Some(&home), None, folder.path().join("p"));
        let homes = ClientHomes {
            claude: Some(home.join(".claude")),
            codex: None,
        };
        fs::create_dir_all(&places.project).unwrap();
        Self {
            folder,
            places,
            homes,
        }
    }

    fn lay(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn settings(&self, words: &[(Key, &str)], grants: &[&str]) -> Settings {
        let flags = Flags {
            words: words
                .iter()
                .map(|(key, word)| (*key, (*word).to_owned()))
                .collect(),
            grants: grants.iter().map(|key| (*key).to_owned()).collect(),
            ..Flags::default()
        };
        let request = Request {
            flags,
            ..Request::default()
        };
        load(&self.places, &self.places.project, &request).unwrap()
    }

    fn with(&self, words: &[(Key, &str)], grants: &[&str]) -> (Rendered, Vec<String>) {
        let global = Scope::global();
        let _default = ["tone", "tasks", "changes"].map(|key| {
            global
                .section(Section::new(key, format!("DEFAULT {key}")))
                .unwrap()
        });
        let scope = global.child("launch");
        let settings = self.settings(words, grants);
        let (_kept, notices) =
            register(&settings, &self.places, &self.homes, &Gate::default(), &scope).unwrap();
        let codes = notices.iter().map(|notice| notice.code.to_string()).collect();
        (rendered(&scope), codes)
    }
}

#[test]
fn a_style_of_the_user_takes_the_place_of_the_section_on_manner() {
    let ground = Ground::new();
    ground.lay(
        "home/.config/bindery/styles/terse.md",
        "---\ndescription: d\n---\nBe terse. {{literal}}",
    );
    let (shown, codes) = ground.with(&[(Key::OutputStyle, "terse"), (Key::Language, "pt-BR")], &[]);
    let text = shown.system.full_text();
    assert!(
        text.contains("Be terse. {{literal}}") && text.contains("Answer in pt-BR,"),
        "{text}"
    );
    assert!(
        !text.contains("DEFAULT tone") && text.contains("DEFAULT tasks"),
        "{text}"
    );
    assert_eq!(codes, ["style-replaces"]);
}

#[test]
fn a_style_of_claude_code_replaces_the_work_as_well_unless_it_keeps_it() {
    let ground = Ground::new();
    ground.lay("home/.claude/output-styles/a.md", "---\nname: Tutor\n---\nTEACH");
    ground.lay(
        "home/.claude/output-styles/b.md",
        "---\nname: Keeps\nkeep-coding-instructions: true\n---\nKEEP",
    );
    let (tutor, _) = ground.with(&[(Key::OutputStyle, "Tutor")], &[]);
    assert_eq!(tutor.system.full_text(), "TEACH");
    let (keeps, _) = ground.with(&[(Key::OutputStyle, "Keeps")], &[]);
    assert_eq!(
        keeps.system.full_text(),
        "DEFAULT changes\n\nDEFAULT tasks\n\nKEEP"
    );
}

#[test]
fn a_repository_s_style_speaks_as_the_system_only_where_it_is_granted() {
    let ground = Ground::new();
    ground.lay("p/.bindery/styles/loud.md", "BE LOUD");
    let (message, codes) = ground.with(&[(Key::OutputStyle, "loud")], &[]);
    assert!(!message.system.full_text().contains("LOUD"));
    assert!(message.system.full_text().contains("DEFAULT tone"));
    assert_eq!(message.context.messages.len(), 1);
    assert_eq!(message.context.messages[0].trust, Trust::Project);
    assert_eq!(codes, ["style-demoted"]);
    let (granted, _) = ground.with(&[(Key::OutputStyle, "loud")], &["output-style"]);
    assert!(granted.system.full_text().contains("BE LOUD"));
    // The user's own of that name counts.
    ground.lay("home/.config/bindery/styles/loud.md", "mine");
    let (own, codes) = ground.with(&[(Key::OutputStyle, "loud")], &[]);
    assert!(own.system.full_text().contains("mine"));
    assert_eq!(codes, ["style-shadowed", "style-replaces"]);
}

#[test]
fn a_style_that_is_not_there_is_an_error_with_those_that_are() {
    let ground = Ground::new();
    ground.lay("p/.bindery/styles/loud.md", "BE LOUD");
    let settings = ground.settings(&[(Key::OutputStyle, "lowd")], &[]);
    let refused = register(
        &settings,
        &ground.places,
        &ground.homes,
        &Gate::default(),
        &Scope::global(),
    );
    let Err(refused) = refused else { panic!() };
    insta::assert_snapshot!(refused.to_string(), @r"
    --output-style: there is no output style `lowd`
      help: there are: `loud`
    ");
}

#[cfg(unix)]
#[test]
fn links_out_of_the_repository_are_not_read() {
    let ground = Ground::new();
    ground.lay("secret.md", "SECRET");
    ground.lay("p/.bindery/styles/a.md", "fine");
    std::os::unix::fs::symlink(
        "../../../secret.md",
        ground.places.project.join(".bindery/styles/b.md"),
    )
    .unwrap();
    std::os::unix::fs::symlink("c.md", ground.places.project.join(".bindery/styles/c.md")).unwrap();
    let (styles, notices) = styles(&ground.places, &ground.homes);
    assert_eq!(styles.len(), 1);
    let codes: Vec<&str> = notices.iter().map(|notice| &*notice.code).collect();
    assert_eq!(codes, ["style-outside-project", "style-unreadable"]);
}
