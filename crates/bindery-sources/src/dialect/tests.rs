use super::*;

#[test]
fn every_shipped_dialect_reads_and_is_named_after_itself() {
    let catalogue = Catalogue::shipped();
    let names: Vec<String> = catalogue
        .list()
        .iter()
        .map(|listed| listed.name.clone())
        .collect();
    for name in [
        "auto", "claude", "codex", "copilot", "cursor", "gemini", "hermes", "openclaw",
    ] {
        assert!(names.iter().any(|known| known == name), "{name}");
    }
    for listed in catalogue.list() {
        let dialect = catalogue
            .get(&format!("{}@{}", listed.name, listed.version))
            .unwrap();
        assert!(!dialect.known_names().is_empty(), "{}", dialect.id());
    }
}

#[test]
fn a_name_without_version_is_the_highest_version() {
    let folder = tempfile::tempdir().unwrap();
    let old = SHIPPED
        .iter()
        .find(|(file, _)| *file == "codex@0.171.toml")
        .unwrap()
        .1;
    for version in ["0.9", "0.1000"] {
        let text = old.replace("version = \"0.171\"", &format!("version = \"{version}\""));
        std::fs::write(folder.path().join(format!("codex@{version}.toml")), text).unwrap();
    }
    let mut catalogue = Catalogue::shipped();
    catalogue.add_directory(folder.path()).unwrap();
    assert_eq!(catalogue.get("codex").unwrap().version, "0.1000");
    assert_eq!(catalogue.get("codex@0.9").unwrap().version, "0.9");
    assert!(
        catalogue
            .get("codex@7")
            .unwrap_err()
            .to_string()
            .contains("codex@0.171")
    );
}

#[test]
fn mistakes_are_named_with_file_and_place() {
    let text = SHIPPED
        .iter()
        .find(|(file, _)| *file == "codex@0.171.toml")
        .unwrap()
        .1;
    let wrong = |from: &str, to: &str| {
        Dialect::parse(&text.replace(from, to), "d.toml")
            .unwrap_err()
            .to_string()
    };
    assert!(wrong("take =", "tale =").starts_with("d.toml: TOML parse error at line"));
    assert_eq!(
        wrong("cap = \"project\"\n", "cap = \"none\"\n"),
        "d.toml: place `project`: cap `none` does not exist"
    );
    assert_eq!(
        wrong("\"AGENTS.md\"]\ntake", "\"../A.md\"]\ntake"),
        "d.toml: place `user`: `../A.md` leaves its directory"
    );
    assert_eq!(
        wrong("id = \"user\"", "id = \"project\""),
        "d.toml: place `project` is named twice, or `nested`"
    );
}

#[test]
fn the_schema_knows_every_field() {
    let schema = schema();
    let properties = schema["properties"].as_object().unwrap();
    for key in ["name", "places", "imports", "caps", "touch", "screen", "settings"] {
        assert!(properties.contains_key(key), "{key}");
    }
    assert_eq!(schema["additionalProperties"], false);
}

/// The documentation, whose table and example are held to the data.
const DOCS: &str = include_str!("../../../../docs/dialects.md");

#[test]
fn the_documented_table_is_the_data() {
    let catalogue = Catalogue::shipped();
    let rows: Vec<String> = catalogue
        .list()
        .iter()
        .map(|listed| {
            catalogue
                .get(&format!("{}@{}", listed.name, listed.version))
                .unwrap()
        })
        .map(|dialect| {
            format!(
                "| `{}` | {} | {} | {} |",
                dialect.id(),
                dialect.client,
                dialect.known_from,
                dialect.summary
            )
        })
        .collect();
    let table = DOCS
        .split("|---|---|---|---|\n")
        .nth(1)
        .unwrap()
        .split("<!--")
        .next()
        .unwrap();
    assert_eq!(table.trim_end().lines().collect::<Vec<_>>(), rows);
}

#[test]
fn a_dialect_takes_one_file_and_no_code() {
    use crate::instructions::{Host, Loader, Status};
    let example = DOCS
        .split("```toml\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    std::fs::create_dir_all(base.join("dialects")).unwrap();
    std::fs::write(base.join("dialects/house@1.toml"), example).unwrap();
    std::fs::create_dir_all(base.join("repo/.git")).unwrap();
    std::fs::write(base.join("repo/HOUSE.md"), "Rules: @more.md").unwrap();
    std::fs::write(base.join("repo/more.md"), "be kind").unwrap();
    std::fs::create_dir_all(base.join("repo/sub")).unwrap();
    std::fs::write(base.join("repo/sub/house.md"), "x".repeat(600)).unwrap();
    let mut catalogue = Catalogue::shipped();
    catalogue.add_directory(&base.join("dialects")).unwrap();
    let host = Host {
        cwd: base.join("repo/sub"),
        ..Host::default()
    };
    let manifest = Loader::new(&catalogue.get("house").unwrap()).load(&host);
    assert_eq!(manifest.files[0].text.as_deref(), Some("Rules: be kind"));
    let cut = &manifest.files[2];
    assert_eq!((cut.status, cut.bytes_loaded), (Status::Cut, 500));
}
