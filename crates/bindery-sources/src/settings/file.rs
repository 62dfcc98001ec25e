//! A settings file: TOML with the keys of the table at the top and in `[profile.NAME]`.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::key::{self, KEYS};
use super::layer::{Layered, Origin, Rank};
use super::value::Value;
use crate::notice::{Notice, Position};

/// A parsed settings file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SettingsFile {
    /// What stands at its top.
    pub base: Layered,
    /// What stands in its profiles.
    pub profiles: BTreeMap<String, Layered>,
}

/// Who a settings file speaks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// The user: any key may be set.
    User,
    /// A repository: keys that carry authority are refused.
    Project,
}

impl Owner {
    fn ranks(self) -> (Rank, Rank) {
        match self {
            Self::User => (Rank::UserFile, Rank::UserProfile),
            Self::Project => (Rank::ProjectFile, Rank::ProjectProfile),
        }
    }
}

/// Reads a settings file's text. `shown` names the file in messages; relative paths are taken from
/// `folder`. All problems are reported at once, in order of their places.
pub fn parse(text: &str, shown: &str, folder: &Path, owner: Owner) -> Result<SettingsFile, Vec<Notice>> {
    let table = DeTable::parse(text).map_err(|error| vec![syntax(&error, text, shown)])?;
    let mut reader = Reader {
        text,
        shown,
        folder,
        problems: Vec::new(),
    };
    let (base, profile) = owner.ranks();
    let mut out = SettingsFile::default();
    for (name, value) in table.get_ref() {
        if name.get_ref() == "profile" {
            out.profiles = reader.profiles(value, profile);
        } else if name.get_ref() == "check" && owner == Owner::Project {
            reader
                .problems
                .extend(super::silenced::read(value, text, shown).err());
        } else if TABLES.contains(&&**name.get_ref()) {
            // Tables that `crate::hooks`, `crate::mcp` and `crate::variants` read.
        } else {
            reader.entry(name, value, base, &mut out.base);
        }
    }
    if reader.problems.is_empty() {
        return Ok(out);
    }
    reader.problems.sort_by(|a, b| a.at.cmp(&b.at));
    Err(reader.problems)
}

/// Tables that are no settings.
const TABLES: [&str; 5] = ["hook", "gate", "state", "mcp", "variant"];

struct Reader<'a> {
    text: &'a str,
    shown: &'a str,
    folder: &'a Path,
    problems: Vec<Notice>,
}

impl Reader<'_> {
    fn profiles(&mut self, value: &Spanned<DeValue<'_>>, rank: Rank) -> BTreeMap<String, Layered> {
        let mut out = BTreeMap::new();
        let Some(profiles) = value.get_ref().as_table() else {
            let problem = self
                .problem(
                    "setting-value",
                    value.span(),
                    "`profile` must hold tables".to_owned(),
                )
                .mend("write [profile.NAME] and the keys below it");
            self.problems.push(problem);
            return out;
        };
        for (name, value) in profiles {
            let mut layer = Layered::default();
            if let Some(table) = value.get_ref().as_table() {
                for (key, value) in table {
                    self.entry(key, value, rank, &mut layer);
                }
            } else {
                let message = format!(
                    "profile `{}` must be a table",
                    crate::visible::escaped(name.get_ref())
                );
                let problem = self
                    .problem("setting-value", value.span(), message)
                    .mend("write [profile.NAME] and the keys below it");
                self.problems.push(problem);
            }
            out.insert(name.get_ref().to_string(), layer);
        }
        out
    }

    fn entry(
        &mut self,
        name: &Spanned<std::borrow::Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
        rank: Rank,
        layer: &mut Layered,
    ) {
        if let Some(table) = value
            .get_ref()
            .as_table()
            .filter(|_| key::is_table(name.get_ref()))
        {
            for (part, value) in table {
                let full = format!("{}.{}", name.get_ref(), part.get_ref());
                self.entry(&Spanned::new(part.span(), full.into()), value, rank, layer);
            }
            return;
        }
        match self.checked(name, value, rank) {
            Ok((key, value, origin)) => layer.set(key, value, origin),
            Err(problem) => self.problems.push(problem),
        }
    }

    fn checked(
        &self,
        name: &Spanned<std::borrow::Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
        rank: Rank,
    ) -> Result<(key::Key, Value, Origin), Notice> {
        let Some(info) = key::by_name(name.get_ref()) else {
            let (message, mend) = unknown(name.get_ref());
            return Err(self.problem("setting-unknown", name.span(), message).mend(mend));
        };
        if let Some(reason) = info.not_in_project.filter(|_| rank.is_project()) {
            let message = format!("a repository may not set `{}`: {reason}", info.name);
            let mend = format!(
                "remove the line; to set `{0}` yourself, use {1}, -c {0}=… or your own config.toml",
                info.name,
                info.key.flag()
            );
            return Err(self.problem("setting-forbidden", name.span(), message).mend(mend));
        }
        let value_of = Value::from_toml(info, value.get_ref(), self.folder).map_err(|message| {
            self.problem("setting-value", value.span(), message)
                .mend(info.mend())
        })?;
        let at = Position::of_offset(self.shown, self.text, name.span().start);
        Ok((info.key, value_of, Origin { rank, at }))
    }

    fn problem(&self, code: &'static str, span: Range<usize>, message: String) -> Notice {
        let at = Position::of_offset(self.shown, self.text, span.start);
        Notice::error(code, at, message).excerpt_of(self.text)
    }
}

/// What to say of a key that is not in the table, and its mend.
pub(super) fn unknown(name: &str) -> (String, String) {
    let names = KEYS.iter().map(|info| info.name);
    let mend = match key::near_miss(name, names.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known keys are {}", names.collect::<Vec<_>>().join(", ")),
    };
    (
        format!("unknown key `{}`", crate::visible::clipped(name, 60)),
        mend,
    )
}

fn syntax(error: &toml::de::Error, text: &str, shown: &str) -> Notice {
    let at = match error.span() {
        Some(span) => Position::of_offset(shown, text, span.start),
        None => Position::whole(shown),
    };
    let message = format!("not valid TOML: {}", error.message().replace('\n', "; "));
    let mend = match error.message() {
        said if said.contains("quoted") => "put the text in quotation marks",
        said if said.contains("duplicate") => "remove one of the two",
        _ => "https://toml.io shows how it is written",
    };
    Notice::error("setting-syntax", at, message)
        .excerpt_of(text)
        .mend(mend)
}
