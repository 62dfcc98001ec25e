use std::fs;

use super::*;

#[test]
fn skills_are_indexed_by_name_and_read_on_demand() {
    let folder = tempfile::tempdir().unwrap();
    let lay = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    lay(
        "project/pdf/SKILL.md",
        "---\nname: pdf\ndescription: Reads: everything\n---\nBODY\n",
    );
    lay(
        "project/zip/SKILL.md",
        "\u{FEFF}---\ndescription: Packs\n---\nZIP\n",
    );
    lay(
        "user/pdf/SKILL.md",
        "---\nname: pdf\ndescription: Mine\n---\nOTHER\n",
    );
    lay("user/bare/SKILL.md", "no header");
    let roots = ["project", "user"].map(|name| SkillRoot {
        path: folder.path().join(name),
        scope: if name == "user" {
            Scope::User
        } else {
            Scope::Project
        },
    });
    let mut reader = Reader::new();
    let index = SkillIndex::read(&roots, &mut reader);
    let names: Vec<&str> = index.skills.iter().map(|skill| skill.name.as_str()).collect();
    assert_eq!(names, ["bare", "pdf", "zip"]);
    assert_eq!(index.skills[1].description, "Reads: everything");
    assert_eq!(index.shadowed.len(), 1);
    assert_eq!(index.body("pdf", &mut reader).unwrap().unwrap(), "BODY");
    assert!(index.body("none", &mut reader).is_none());
    assert_eq!(reader.opened().len(), 4);
    let codes: Vec<Code> = index.diagnostics.iter().map(|note| note.code).collect();
    assert_eq!(codes, [Code::FrontMatter, Code::Definition]);
}
