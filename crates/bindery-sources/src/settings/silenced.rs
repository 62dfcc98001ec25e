//! `[check] ignore` of `bindery.toml`: which diagnostics of `bindery check` a project does not want, and why.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::notice::{Notice, Position};

/// One entry of `[check] ignore`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Silenced {
    /// The diagnostic's code, such as `BND110`.
    pub code: String,
    /// A pattern of paths from the project's root; every file where there is none.
    pub path: Option<String>,
    /// Why. An entry without a reason is told by `bindery check`.
    pub reason: Option<String>,
    /// Where the entry stands.
    pub at: Position,
}

const SHAPE: &str = "write ignore = [{ code = \"BND110\", path = \"docs/*.md\", reason = \"…\" }]";

/// The entries of a settings file. A text that is not TOML has none: [`super::parse`] says what is wrong.
pub fn silenced(text: &str, shown: &str) -> Vec<Silenced> {
    let table = DeTable::parse(text).ok();
    let check = table.as_ref().and_then(|table| table.get_ref().get("check"));
    check.map_or_else(Vec::new, |check| read(check, text, shown).unwrap_or_default())
}

/// Reads the value of `check`.
pub(super) fn read(check: &Spanned<DeValue<'_>>, text: &str, shown: &str) -> Result<Vec<Silenced>, Notice> {
    let wrong = |span: std::ops::Range<usize>, message: &str| {
        let at = Position::of_offset(shown, text, span.start);
        Notice::error("setting-value", at, message)
            .excerpt_of(text)
            .mend(SHAPE)
    };
    let table = check.get_ref().as_table();
    let table = table.ok_or_else(|| wrong(check.span(), "`check` must be a table"))?;
    let mut out = Vec::new();
    for (name, value) in table {
        let entries = value.get_ref().as_array().filter(|_| name.get_ref() == "ignore");
        let entries = entries.ok_or_else(|| wrong(name.span(), "`check` holds one list, `ignore`"))?;
        for entry in entries {
            let fields = entry.get_ref().as_table();
            let fields = fields.ok_or_else(|| wrong(entry.span(), "an entry of `ignore` is a table"))?;
            let mut silenced = Silenced {
                code: String::new(),
                path: None,
                reason: None,
                at: Position::of_offset(shown, text, entry.span().start),
            };
            for (key, value) in fields {
                let said = value.get_ref().as_str();
                let said = said
                    .ok_or_else(|| wrong(value.span(), "this must be a text"))?
                    .to_owned();
                match key.get_ref().as_ref() {
                    "code" => silenced.code = said,
                    "path" => silenced.path = Some(said),
                    "reason" => silenced.reason = Some(said),
                    _ => return Err(wrong(key.span(), "an entry has `code`, `path` and `reason`")),
                }
            }
            if silenced.code.is_empty() {
                return Err(wrong(entry.span(), "this entry names no `code`"));
            }
            out.push(silenced);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_have_a_place_and_may_lack_a_reason() {
        let text = "model = \"m\"\n[check]\nignore = [\n  { code = \"BND110\", path = \"docs/*\" },\n]\n";
        let read = silenced(text, "bindery.toml");
        assert_eq!(read.len(), 1);
        assert_eq!(read[0].at.to_string(), "bindery.toml:4:3");
        assert_eq!(
            (read[0].path.as_deref(), read[0].reason.as_deref()),
            (Some("docs/*"), None)
        );
    }

    #[test]
    fn a_wrong_shape_is_an_error_with_its_place() {
        for text in [
            "check = 1",
            "[check]\nx = 1",
            "[check]\nignore = [1]",
            "[check]\nignore = [{}]",
            "[check]\nignore = [{ code = 1 }]",
        ] {
            let problems =
                super::super::parse(text, "b", std::path::Path::new(""), super::super::Owner::Project);
            assert_eq!(problems.unwrap_err()[0].code, "setting-value", "{text}");
        }
    }
}
