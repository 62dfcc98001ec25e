//! What Codex's own settings say to the model, for whoever runs with its dialect.
//!
//! Measured with Codex 0.171.0: `model_instructions_file` takes the place of the base prompt (its text
//! trimmed) and counts more than `instructions`, which does the same; `developer_instructions` speak as the
//! developer beside either; `--profile NAME` lays `NAME.config.toml` over `config.toml`, and a profile file
//! that is not there is passed over; `[profiles.NAME]` and `profile = …` stop Codex.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use bindery_core::{Interpolation, PromptText, Source, Trust};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::notice::{Notice, Position};
use crate::places::Places;
use crate::strict_file;

/// What the settings say to the model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CodexPrompts {
    /// What takes the place of the base prompt.
    pub base: Option<PromptText>,
    /// What speaks as the developer.
    pub developer: Option<PromptText>,
    /// What was passed over, and why.
    pub notices: Vec<Notice>,
}

/// The file of a profile.
pub fn profile_file(home: &Path, profile: &str) -> PathBuf {
    home.join(format!("{profile}.config.toml"))
}

/// Reads `config.toml` of Codex's folder and the profile's file over it. A file that Codex would refuse is
/// passed over with a notice: here it is a guest.
pub fn read(home: &Path, profile: Option<&str>, places: &Places) -> CodexPrompts {
    let mut out = CodexPrompts::default();
    let files = [
        Some(home.join("config.toml")),
        profile.map(|name| profile_file(home, name)),
    ];
    let mut instructions: Option<PromptText> = None;
    for path in files.into_iter().flatten() {
        let shown = places.shown(&path);
        let text = match strict_file::read(&path, &shown, None) {
            Ok(Some(text)) => text,
            Ok(None) => continue,
            Err(notice) => {
                out.notices
                    .push(Notice::warning("codex-settings", notice.at, notice.message));
                continue;
            }
        };
        let table = match DeTable::parse(&text) {
            Ok(table) => table,
            Err(error) => {
                let at =
                    Position::of_offset(shown.as_str(), &text, error.span().map_or(0, |span| span.start));
                let message = format!(
                    "not valid TOML, so nothing of it holds: {}",
                    error.message().replace('\n', "; ")
                );
                out.notices.push(Notice::warning("codex-settings", at, message));
                continue;
            }
        };
        let file = File {
            text: &text,
            shown: &shown,
            table: table.get_ref(),
        };
        out.notices.extend(file.refused());
        let base = file.named("model_instructions_file", home, places, &mut out.notices);
        out.base = base.or(out.base.take());
        instructions = file.string("instructions").or(instructions);
        out.developer = file.string("developer_instructions").or(out.developer.take());
    }
    out.base = out.base.or(instructions);
    out
}

/// A settings file of Codex.
struct File<'f> {
    text: &'f str,
    shown: &'f str,
    table: &'f DeTable<'f>,
}

impl<'f> File<'f> {
    fn get(&self, key: &str) -> Option<&'f Spanned<DeValue<'f>>> {
        let found = self.table.iter().find(|(name, _)| name.get_ref() == key);
        found.map(|(_, value)| value)
    }

    fn at(&self, value: &Spanned<DeValue<'_>>) -> Position {
        Position::of_offset(self.shown, self.text, value.span().start)
    }

    fn string(&self, key: &str) -> Option<PromptText> {
        let value = self.get(key)?;
        let text = value.get_ref().as_str()?;
        let line = self.at(value).line;
        Some(prompt(text, self.shown, Some((line, line))))
    }

    /// The text of the file that a key names.
    fn named(
        &self,
        key: &str,
        home: &Path,
        places: &Places,
        notices: &mut Vec<Notice>,
    ) -> Option<PromptText> {
        let value = self.get(key)?;
        let path = home.join(value.get_ref().as_str()?);
        let shown = places.shown(&path);
        match strict_file::read(&path, &shown, None) {
            Ok(Some(text)) => Some(prompt(text.trim(), &shown, None)),
            Ok(None) => {
                let message = format!("`{shown}` does not exist; Codex would stop here");
                notices.push(Notice::warning("codex-settings", self.at(value), message));
                None
            }
            Err(notice) => {
                notices.push(Notice::warning("codex-settings", self.at(value), notice.message));
                None
            }
        }
    }

    fn refused(&self) -> Vec<Notice> {
        let old = ["profile", "profiles"];
        let found = old.into_iter().filter_map(|key| Some((key, self.get(key)?)));
        found
            .map(|(key, value)| {
                let message = format!("Codex stops at `{key}`; profiles are files of their own");
                let notice = Notice::warning("codex-settings", self.at(value), message);
                notice.mend("move it into NAME.config.toml beside this file, and say --profile NAME")
            })
            .collect()
    }
}

fn prompt(text: &str, shown: &str, lines: Option<(u32, u32)>) -> PromptText {
    PromptText {
        text: text.into(),
        source: Source::File {
            path: shown.into(),
            lines,
        },
        trust: Trust::User,
        grant: None,
        interpolation: Interpolation::Literal,
    }
}
