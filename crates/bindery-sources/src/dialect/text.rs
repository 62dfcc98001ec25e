//! What happens to a file's bytes before the model sees them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Decoding, trimming, comments, front matter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct TextRules {
    /// How bytes become text.
    pub decode: Decode,
    /// What happens to a leading byte order mark.
    pub bom: Bom,
    /// White space at the ends.
    pub trim: Trim,
    /// HTML comments.
    pub comments: Comments,
    /// Front matter.
    pub front_matter: FrontMatter,
    /// What a file without text does.
    pub blank: Blank,
    /// Most bytes read of any file; what lies behind is reported, not read.
    pub read_at_most: u64,
    /// Words in headings (or `<!-- must-keep -->` below one) whose section no cap may lose without an error.
    pub must_keep: Vec<String>,
    /// Whether a cut keeps those sections first, and other text gives way.
    pub must_keep_first: bool,
}

impl Default for TextRules {
    fn default() -> Self {
        Self {
            decode: Decode::default(),
            bom: Bom::default(),
            trim: Trim::default(),
            comments: Comments::default(),
            front_matter: FrontMatter::default(),
            blank: Blank::default(),
            read_at_most: 8 * 1024 * 1024,
            must_keep: vec!["MUST".to_owned()],
            must_keep_first: false,
        }
    }
}

/// How bytes become text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Decode {
    /// UTF-8, UTF-16 by mark or by pattern; broken bytes become U+FFFD.
    #[default]
    Detect,
    /// UTF-8 whatever it is; broken bytes become U+FFFD.
    Utf8Lossy,
    /// UTF-8; a file with a broken byte is skipped.
    Utf8Strict,
}

/// What happens to a leading byte order mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Bom {
    /// It goes before anything else looks at the text.
    #[default]
    Strip,
    /// It goes last, so that it hides front matter from the reader of front matter.
    StripLast,
    /// It stays.
    Keep,
}

/// White space at the ends of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Trim {
    /// It stays.
    #[default]
    None,
    /// It goes at both ends.
    Both,
}

/// HTML comments in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Comments {
    /// They stay.
    #[default]
    Keep,
    /// Comments that are a block of their own go with their line; line ends become LF where one went.
    StripBlocks,
}

/// What happens to front matter.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct FrontMatter {
    /// Whether it is taken out of the text.
    pub strip: bool,
    /// What counts as front matter.
    pub fence: FrontMatterFence,
    /// Keys that mean something to the client, beside those that activate; others are reported.
    pub known_keys: Vec<String>,
    /// Whether a file of nothing but front matter keeps it as its text.
    pub keep_if_alone: bool,
}

/// What counts as front matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FrontMatterFence {
    /// `---` alone on the first line up to the next line that is `---` alone.
    #[default]
    Lines,
    /// `---` on the first line up to the next `---` anywhere, with the white space after it.
    AnyDashes,
    /// A text that starts with `---`, up to the next line that starts with `---`.
    LineStart,
}

/// What a file without text does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Blank {
    /// It is skipped.
    #[default]
    Skip,
    /// It is sent.
    Send,
}
