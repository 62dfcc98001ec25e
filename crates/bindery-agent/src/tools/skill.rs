//! `skill`: the instructions of a skill, read when they are wanted.

use std::fmt::Write as _;
use std::path::{Component, Path};
use std::sync::Arc;

use bindery_core::{BoxFuture, Tool};
use bindery_sources::reading::Reader;
use bindery_sources::skills::SkillIndex;
use serde_json::json;

use super::{blocking, either, text};
use crate::tool::{Effect, Input, Outcome, Runner};

/// The most bytes of a file beside a skill that are read.
const MOST_FILE: u64 = 1024 * 1024;

/// Reads skills of an index, and files beside them.
pub struct SkillTool(Arc<SkillIndex>);

impl SkillTool {
    /// For the skills of an index; `None` where the model may ask for none.
    pub fn new(index: SkillIndex) -> Option<Self> {
        let is_offered = index.offered().next().is_some();
        is_offered.then(|| Self(Arc::new(index)))
    }
}

impl Runner for SkillTool {
    fn tool(&self) -> Tool {
        let schema = json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "The skill, as the index names it"},
                "file": {"type": "string", "description": "A file beside its instructions, from the skill's folder"},
            },
            "required": ["name"],
            "additionalProperties": false,
        });
        Tool::new(
            "skill",
            "Reads the instructions of a skill, or a file that they name.",
            &schema,
        )
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn describe(&self, input: &Input) -> String {
        format!("skill {}", text(input, "name").unwrap_or_default())
    }

    fn run(self: Arc<Self>, input: Input) -> BoxFuture<'static, Outcome> {
        blocking(move || either(read(&self.0, &input)))
    }
}

fn read(index: &SkillIndex, input: &Input) -> Result<Outcome, Outcome> {
    let name = text(input, "name")?;
    let skill = index.offered().find(|skill| skill.name == name).ok_or_else(|| {
        let known: Vec<&str> = index.offered().map(|skill| skill.name.as_str()).collect();
        Outcome::failed(format!(
            "there is no skill `{name}`; there are: {}",
            known.join(", ")
        ))
    })?;
    let folder = skill.path.parent().unwrap_or(&skill.path);
    if let Some(file) = input.get("file").and_then(serde_json::Value::as_str) {
        return beside(folder, file);
    }
    let body = index.body(name, &mut Reader::new());
    let body = body.and_then(Result::ok).filter(|body| !body.trim().is_empty());
    let body = body.ok_or_else(|| {
        Outcome::failed(format!(
            "skill `{name}` has no instructions, or cannot be read by now"
        ))
    })?;
    let text = format!("Skill `{name}`, in {}\n\n{}", folder.display(), body.trim());
    Ok(Outcome::done(text).touching(&skill.path))
}

/// A file of the skill's folder; links are resolved, and must not lead out of it.
fn beside(folder: &Path, file: &str) -> Result<Outcome, Outcome> {
    let plain = Path::new(file)
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let path = folder.join(file);
    let inside = path.canonicalize().ok().zip(folder.canonicalize().ok());
    if !plain || !inside.is_some_and(|(path, folder)| path.starts_with(folder)) {
        return Err(Outcome::failed(format!(
            "{file}: there is no such file in the skill's folder"
        )));
    }
    let contents = Reader::new().read(&path, MOST_FILE);
    let contents = contents.map_err(|problem| Outcome::failed(format!("{file}: {problem}")))?;
    let Ok(text) = std::str::from_utf8(&contents.bytes) else {
        return Err(Outcome::failed(format!("{file}: this is no text")));
    };
    let mut text = text.to_owned();
    if contents.is_bounded() {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n[cut: the file has {} bytes]", contents.size);
    }
    Ok(Outcome::done(text).touching(path))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use bindery_sources::dialect::Scope;
    use bindery_sources::places::Places;
    use bindery_sources::skills::SkillRoot;

    use super::*;

    #[test]
    fn a_body_comes_on_demand_and_no_file_from_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let lay = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        lay(
            "skills/pdf/SKILL.md",
            "---\ndescription: Reads PDF\n---\nUse pdftotext.",
        );
        lay("skills/pdf/forms.md", "FORMS");
        lay(
            "skills/quiet/SKILL.md",
            "---\ndescription: x\ndisable-model-invocation: true\n---\nQUIET",
        );
        lay("secret.md", "SECRET");
        lay("skills/pdf/binary", "\u{0}");
        fs::write(folder.path().join("skills/pdf/binary"), b"\xff\xfe\xfd").unwrap();
        let root = SkillRoot {
            path: folder.path().join("skills"),
            scope: Scope::Project,
        };
        let places = Places::new(None, None, folder.path());
        let index = SkillIndex::read(&[root], &places, &mut Reader::new());
        let ask = |input: serde_json::Value| {
            let input = input.as_object().unwrap().clone();
            either(read(&index, &input))
        };
        assert!(ask(json!({"name": "pdf"})).text.ends_with("\n\nUse pdftotext."));
        assert_eq!(ask(json!({"name": "pdf", "file": "forms.md"})).text, "FORMS");
        for input in [
            json!({"name": "quiet"}),
            json!({"name": "none"}),
            json!({"name": "pdf", "file": "../../secret.md"}),
            json!({"name": "pdf", "file": "/etc/hostname"}),
            json!({"name": "pdf", "file": "binary"}),
            json!({"name": "pdf", "file": "none.md"}),
            json!({}),
        ] {
            assert!(ask(input.clone()).is_error, "{input}");
        }
        assert!(SkillTool::new(SkillIndex::default()).is_none());
    }
}
