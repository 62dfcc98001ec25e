//! The trees that ask about one rule each, written as data: families of cases over a common tree.
//!
//! `{{W}}` in a text becomes a word that occurs nowhere else; `{{CASE}}` becomes the case's text.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::case::{Case, Content, Expected, Touched};
use super::words::Words;

/// A data file: all families of one client.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Catalogue {
    family: Vec<Family>,
}

/// Cases over a common tree.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Family {
    id: String,
    /// The rule in one sentence.
    rule: String,
    #[serde(flatten)]
    common: Tree,
    /// Cases by name.
    cases: BTreeMap<String, Variant>,
}

/// What a case adds to its family's tree, or replaces in it.
#[derive(Debug, Clone, Default, Deserialize)]
struct Tree {
    cwd: Option<String>,
    #[serde(default)]
    files: BTreeMap<String, Source>,
    #[serde(default)]
    symlinks: BTreeMap<String, String>,
    #[serde(default)]
    config: Map<String, Value>,
    /// Files that Bindery refuses on purpose, with the reason.
    #[serde(default)]
    refused: BTreeMap<String, String>,
    touch: Option<Vec<String>>,
    unordered: Option<bool>,
}

/// A case: the text for `{{CASE}}` alone, or with changes to the tree.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Variant {
    Text(String),
    Changed(Box<Changed>),
}

#[derive(Debug, Default, Deserialize)]
struct Changed {
    #[serde(default)]
    text: String,
    /// Files of the family that this case has not.
    #[serde(default)]
    without: Vec<String>,
    #[serde(flatten)]
    tree: Tree,
}

/// A file's content as a person writes it.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Source {
    Text(String),
    Encoded {
        text: String,
        encoding: Encoding,
    },
    Repeated {
        #[serde(default)]
        pre: String,
        unit: String,
        n: usize,
        #[serde(default)]
        post: String,
    },
}

/// How a text becomes bytes.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Encoding {
    #[serde(rename = "utf-16le")]
    Utf16Le,
    #[serde(rename = "utf-16be")]
    Utf16Be,
    #[serde(rename = "latin-1")]
    Latin1,
}

/// The cases of a catalogue, truth not yet known.
pub(crate) fn cases(dialect: &str, prefix: &str, catalogue: &str) -> Result<Vec<Case>> {
    let catalogue: Catalogue =
        toml::from_str(catalogue).with_context(|| format!("the {dialect} catalogue"))?;
    let mut cases = Vec::new();
    for family in &catalogue.family {
        for (name, variant) in &family.cases {
            let id = format!("{prefix}-{}-{name}", family.id);
            cases.push(make(&id, dialect, family, variant));
        }
    }
    Ok(cases)
}

fn make(id: &str, dialect: &str, family: &Family, variant: &Variant) -> Case {
    let none = Changed::default();
    let (text, changed) = match variant {
        Variant::Text(text) => (text.as_str(), &none),
        Variant::Changed(changed) => (changed.text.as_str(), changed.as_ref()),
    };
    let mut tree = family.common.clone();
    tree.files.retain(|path, _| !changed.without.contains(path));
    tree.files.extend(changed.tree.files.clone());
    tree.symlinks.extend(changed.tree.symlinks.clone());
    tree.config.extend(changed.tree.config.clone());
    let touch = changed.tree.touch.clone().or(tree.touch).unwrap_or_default();
    let mut words = Words::of(id);
    let files = tree
        .files
        .iter()
        .map(|(path, source)| (path.clone(), source.content(text, &mut words)))
        .collect();
    let cwd = changed.tree.cwd.clone().or(tree.cwd);
    Case {
        id: id.to_owned(),
        dialect: dialect.to_owned(),
        client: String::new(),
        rule: family.rule.clone(),
        cwd: cwd.unwrap_or_else(|| "repo".to_owned()),
        files,
        symlinks: tree.symlinks,
        config: tree.config,
        refused: changed.tree.refused.clone(),
        expected: Expected {
            unordered: changed.tree.unordered.or(tree.unordered) == Some(true),
            after_touch: touched(touch),
            ..Expected::default()
        },
    }
}

/// Touches whose effect is not yet known.
pub(crate) fn touched(paths: Vec<String>) -> Vec<Touched> {
    paths
        .into_iter()
        .map(|touch| Touched {
            touch,
            loaded: Vec::new(),
        })
        .collect()
}

impl Source {
    fn content(&self, case: &str, words: &mut Words) -> Content {
        let mut fill = |text: &str| words.fill(&text.replace("{{CASE}}", case));
        match self {
            Self::Text(text) => Content::Text(fill(text)),
            Self::Encoded { text, encoding } => Content::Bytes {
                b64: STANDARD.encode(encoding.bytes(&fill(text))),
            },
            Self::Repeated { pre, unit, n, post } => Content::Repeated {
                pre: fill(pre),
                unit: unit.clone(),
                n: *n,
                post: fill(post),
            },
        }
    }
}

impl Encoding {
    fn bytes(self, text: &str) -> Vec<u8> {
        match self {
            Self::Utf16Le => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Self::Utf16Be => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
            Self::Latin1 => text
                .chars()
                .map(|character| u8::try_from(u32::from(character)).unwrap_or(b'?'))
                .collect(),
        }
    }
}
