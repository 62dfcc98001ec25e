//! Dialects: what one version of one client does with instruction files, as data.
//!
//! A dialect is a TOML file (`dialects/NAME@VERSION.toml`). It says where to look, which of several
//! files counts, in which order, what is cut, what an import looks like and what waits for a path.
//! The loader in [`crate::instructions`] has one algorithm and no client's name in it: where a client
//! is strange, the strangeness is an option here, with its source in the dialect's own comments.

mod activation;
mod catalogue;
mod imports;
mod limits;
mod place;
mod screen;
mod settings;
mod text;
mod touch;
mod validate;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use bindery_core::{Authority, Lane};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use activation::{Activation, GlobStyle, RelativeTo, Unreadable, WithoutPatterns};
pub use catalogue::{Catalogue, CatalogueError, Listed, SHIPPED};
pub use imports::{ImportBase, Imports, OutsideRule, Placement, TokenRules};
pub use limits::{Cap, CapAcross, CapUnit, Cut, DynamicLimit, FixedLimit, Keep};
pub use place::{Anchor, Files, MainCheckout, OnLoop, Place, Scope, ShownPath, Take, WalkFrom};
pub use screen::{Screen, ScreenPattern};
pub use settings::{
    BadSettings, Expects, JsonType, Merge, Setting, SettingAnchor, SettingFile, SettingFormat, SettingUse,
};
pub use text::{Blank, Bom, Comments, Decode, FrontMatter, FrontMatterFence, TextRules, Trim};
pub use touch::{Touch, TouchDirection, TouchedLinks};
pub use validate::DialectError;

/// One client's rules for instruction files, at one version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Dialect {
    /// Short name, as typed after `--dialect`: lower-case letters, digits and hyphens.
    pub name: String,
    /// The client's version whose rules these are; `NAME@VERSION` is the dialect's identity.
    pub version: String,
    /// The client's own name, for people.
    pub client: String,
    /// One sentence on what the client does.
    pub summary: String,
    /// Exact version against which the rules were measured, or how they are known otherwise.
    pub known_from: String,
    /// Files and folders that only somebody has who uses this client, for those who ask which clients a
    /// project is for. Without any, all of its names count.
    #[serde(default)]
    pub signs: Vec<String>,
    /// Names that in other letters are ordinary file names (`conventions.md`): no look-alikes.
    #[serde(default)]
    pub common_words: Vec<String>,
    /// Context window in tokens that the totals are compared with.
    #[serde(default = "default_window")]
    pub context_window: u64,
    /// Where the client keeps the user's own files.
    #[serde(default)]
    pub config_home: Option<ConfigHome>,
    /// Where an administrator lays down files for this client, by operating system (`linux`, `macos`,
    /// `windows`).
    #[serde(default)]
    pub managed: BTreeMap<String, String>,
    /// How the project's root is found.
    #[serde(default)]
    pub project: ProjectRoot,
    /// How files travel to the model unless a place says otherwise.
    pub request: Request,
    /// Decoding, trimming, comments and front matter.
    #[serde(default)]
    pub text: TextRules,
    /// What makes a file load: always, for paths, on request.
    #[serde(default)]
    pub activation: Activation,
    /// Import syntax; absent where the client imports nothing.
    #[serde(default)]
    pub imports: Option<Imports>,
    /// Size limits by name, for places and file sets to refer to.
    #[serde(default)]
    pub caps: BTreeMap<String, Cap>,
    /// The client's own content filter, where it refuses files by their text.
    #[serde(default)]
    pub screen: Option<Screen>,
    /// The client's settings that change what loads, and where it keeps them.
    #[serde(default)]
    pub settings: Vec<Setting>,
    /// What the client does when it does not understand its own settings.
    #[serde(default)]
    pub bad_settings: BadSettings,
    /// Where to look, in load order.
    pub places: Vec<Place>,
    /// What attaches when the agent touches a file.
    #[serde(default)]
    pub touch: Option<Touch>,
    /// How two candidates are recognised as one.
    #[serde(default)]
    pub duplicates: Duplicates,
}

fn default_window() -> u64 {
    200_000
}

/// The client's configuration directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ConfigHome {
    /// Environment variable that moves it.
    #[serde(default)]
    pub env: Option<String>,
    /// Where it is otherwise; `~/` stands for the home directory.
    pub default: String,
}

/// How the project's root directory is recognised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct ProjectRoot {
    /// The nearest directory at or above the working directory that holds one of these is the root.
    pub markers: Vec<String>,
    /// Whether files above the root are refused (and listed as outside the project) instead of loaded.
    pub refuse_outside: bool,
}

impl Default for ProjectRoot {
    fn default() -> Self {
        Self {
            markers: vec![".git".to_owned()],
            refuse_outside: false,
        }
    }
}

/// How a file travels to the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Request {
    /// The lane.
    #[schemars(with = "String")]
    pub lane: Lane,
    /// On whose authority the text stands there.
    #[schemars(with = "String")]
    pub authority: Authority,
    /// What stands before and after a file's text; `{path}`, `{name}`, `{dir}`, `{label}` and `{text}`
    /// are filled in.
    #[serde(default = "default_wrapper")]
    pub wrapper: String,
}

fn default_wrapper() -> String {
    "{text}".to_owned()
}

/// How two candidates are recognised as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Duplicates {
    /// Never: the same file under two names is sent twice.
    #[default]
    Keep,
    /// By path: a loaded file's own path and, for a link, its target may not load again.
    Path,
    /// By real file and by equal content.
    Content,
}

impl Dialect {
    /// The dialect's identity, `NAME@VERSION`.
    pub fn id(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }

    /// Every relative file name this dialect may read at some directory, sorted, without duplicates.
    /// Folders of rules are not among them.
    pub fn known_names(&self) -> Vec<&str> {
        let touch = self.touch.iter().flat_map(|touch| touch.files.iter());
        let mut names: Vec<&str> = self
            .places
            .iter()
            .filter(|place| matches!(place.scope, Scope::Project | Scope::Local))
            .flat_map(|place| place.files.iter())
            .chain(touch)
            .flat_map(|files| files.names.iter().map(String::as_str))
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The known names whose other spellings were probably meant as them.
    pub fn distinctive_names(&self) -> Vec<&str> {
        let mut names = self.known_names();
        names.retain(|name| !self.common_words.iter().any(|word| word == name));
        names
    }

    /// Every folder of rules that this dialect may read at some directory.
    pub fn known_folders(&self) -> Vec<&Files> {
        let touch = self.touch.iter().flat_map(|touch| touch.files.iter());
        self.places
            .iter()
            .filter(|place| matches!(place.scope, Scope::Project | Scope::Local))
            .flat_map(|place| place.files.iter())
            .chain(touch)
            .filter(|files| files.folder.is_some())
            .collect()
    }
}

/// The JSON Schema of a dialect file, generated from these types.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Dialect).into()
}
