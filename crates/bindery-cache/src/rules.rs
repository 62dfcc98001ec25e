//! The rules of a provider's prompt cache, as data.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::by_model::{best, plain_name};
use crate::{Region, Settings};

/// The table that is built in, and its name in messages.
const BUILT_IN: (&str, &str) = (
    "models/cache-rules.toml",
    include_str!("../../../models/cache-rules.toml"),
);

/// A kind of cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Family {
    /// Anthropic: explicit breakpoints.
    #[serde(rename = "anthropic")]
    Anthropic,
    /// OpenAI up to GPT-5.5: automatic, by intervals of tokens.
    #[serde(rename = "openai-automatic")]
    OpenaiAutomatic,
    /// OpenAI from GPT-5.6: boundaries, implicit and explicit, with a price for writes.
    #[serde(rename = "openai-boundaries")]
    OpenaiBoundaries,
    /// DeepSeek: stored units.
    #[serde(rename = "deepseek")]
    Deepseek,
    /// Gemini, implicit.
    #[serde(rename = "gemini")]
    Gemini,
    /// vLLM: full blocks of tokens.
    #[serde(rename = "vllm")]
    Vllm,
    /// `SGLang`: a radix tree.
    #[serde(rename = "sglang")]
    Sglang,
    /// llama.cpp's server: slots.
    #[serde(rename = "llama.cpp")]
    LlamaCpp,
}

impl Family {
    /// All families.
    pub const ALL: [Self; 8] = [
        Self::Anthropic,
        Self::OpenaiAutomatic,
        Self::OpenaiBoundaries,
        Self::Deepseek,
        Self::Gemini,
        Self::Vllm,
        Self::Sglang,
        Self::LlamaCpp,
    ];

    /// The name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenaiAutomatic => "openai-automatic",
            Self::OpenaiBoundaries => "openai-boundaries",
            Self::Deepseek => "deepseek",
            Self::Gemini => "gemini",
            Self::Vllm => "vllm",
            Self::Sglang => "sglang",
            Self::LlamaCpp => "llama.cpp",
        }
    }

    /// Whether requests carry breakpoints of their own.
    pub fn has_marks(self) -> bool {
        matches!(self, Self::Anthropic | Self::OpenaiBoundaries)
    }

    /// The numbers without which the simulator of a family cannot run.
    fn required(self) -> &'static [&'static str] {
        match self {
            Self::Anthropic => &[
                "most_marks",
                "look_back",
                "minimum",
                "strips_thinking",
                "server_tool_marks",
                "first_token_ms",
                "ttl_separates",
            ],
            Self::OpenaiAutomatic => &[
                "minimum",
                "interval",
                "report_step",
                "hidden_tokens",
                "idle_in_memory_ms",
                "longest_in_memory_ms",
                "idle_24h_ms",
                "longest_24h_ms",
                "retention_24h",
                "overflow_per_minute",
                "routing_tokens",
            ],
            Self::OpenaiBoundaries => &[
                "minimum",
                "most_writes",
                "first_marks",
                "latest_marks",
                "earlier_ends",
            ],
            Self::Deepseek => &["interval", "common_prefixes", "build_ms", "idle_ms"],
            Self::Gemini => &["minimum", "idle_ms"],
            Self::Vllm | Self::Sglang => &["block", "capacity"],
            Self::LlamaCpp => &["slots", "similarity_per_mille"],
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Family {
    type Err = RuleError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|family| family.name() == name);
        found.ok_or_else(|| RuleError::UnknownFamily(name.to_owned()))
    }
}

/// What is wrong with a table of rules, or with what is asked of it.
#[derive(Debug, thiserror::Error)]
pub enum RuleError {
    /// The table is not the TOML it should be.
    #[error("{file}: {error}")]
    Toml {
        /// The file.
        file: String,
        /// What is wrong, with line and column.
        error: Box<toml::de::Error>,
    },
    /// A number is missing.
    #[error("the rules for `{family}` lack `{name}`: add a [[number]] row with its value and source")]
    Missing {
        /// The family.
        family: Family,
        /// The number.
        name: &'static str,
    },
    /// A row names a source that the table does not have.
    #[error("{file}: `{row}` names the source `{source_name}`, which is not under [sources]")]
    UnknownSource {
        /// The file.
        file: String,
        /// The row.
        row: String,
        /// The source it names.
        source_name: String,
    },
    /// A row says neither where its value is published nor why it is assumed.
    #[error("{file}: `{0}` has neither `source` nor `assumed`: say where the value comes from", file = .1)]
    NoSource(String, String),
    /// No family has this name.
    #[error(
        "unknown cache family `{0}`; known are: anthropic, openai-automatic, openai-boundaries, deepseek, gemini, vllm, sglang, llama.cpp"
    )]
    UnknownFamily(String),
    /// No number of any family has this name.
    #[error("no cache rule is called `{name}`; there are: {known}")]
    UnknownName {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// No number of a family has this name.
    #[error("the rules for `{family}` have no `{name}`; they have: {known}")]
    UnknownNumber {
        /// The family.
        family: Family,
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[expect(dead_code, reason = "read to be refused if it is missing; one version exists")]
    version: u32,
    read: String,
    sources: BTreeMap<String, String>,
    family: Vec<FamilyRow>,
    number: Vec<NumberRow>,
    invalidates: Vec<Invalidation>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FamilyRow {
    name: Family,
    models: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NumberRow {
    family: Family,
    name: String,
    value: u64,
    #[serde(default)]
    models: Vec<String>,
    source: Option<String>,
    assumed: Option<String>,
}

/// A setting whose change loses a region of the prefix.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Invalidation {
    family: Family,
    setting: String,
    loses: RegionName,
    /// Values that mean the same as none.
    #[serde(default)]
    same: Vec<String>,
    #[serde(default)]
    models: Vec<String>,
    source: String,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RegionName {
    Tools,
    System,
    Messages,
}

/// One number of the rules, and where it is from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Number {
    /// The value.
    pub value: u64,
    /// The page it is from; `None` for what no page says.
    pub source: Option<String>,
    /// Why it was taken, where that is not simply published.
    pub assumed: Option<String>,
}

/// The rules of all families.
#[derive(Debug)]
pub struct RuleBook(Table);

/// The rules for one model.
#[derive(Debug, Clone)]
pub struct CacheRules {
    family: Family,
    model: String,
    numbers: BTreeMap<String, Number>,
    invalidates: Vec<(String, Region, Vec<String>)>,
}

impl RuleBook {
    /// The rules that are built in.
    ///
    /// # Errors
    ///
    /// None that a released build can have: a test reads them.
    pub fn built_in() -> Result<Self, RuleError> {
        let (file, text) = BUILT_IN;
        Self::from_toml(file, text)
    }

    /// Rules in TOML, shaped like those that are built in. The file's name is for messages.
    pub fn from_toml(file: &str, text: &str) -> Result<Self, RuleError> {
        let table: Table = toml::from_str(text).map_err(|error| RuleError::Toml {
            file: file.to_owned(),
            error: Box::new(error),
        })?;
        for row in &table.number {
            if row.source.is_none() && row.assumed.is_none() {
                return Err(RuleError::NoSource(row.name.clone(), file.to_owned()));
            }
        }
        let named = table
            .number
            .iter()
            .filter_map(|row| Some((&row.name, row.source.as_ref()?)));
        let named = named.chain(table.invalidates.iter().map(|row| (&row.setting, &row.source)));
        for (row, source) in named {
            if !table.sources.contains_key(source) {
                return Err(RuleError::UnknownSource {
                    file: file.to_owned(),
                    row: row.clone(),
                    source_name: source.clone(),
                });
            }
        }
        Ok(Self(table))
    }

    /// Sets a number wherever a row has it: to try another assumption for all models.
    pub fn set(&mut self, name: &str, value: u64) -> Result<(), RuleError> {
        let mut found = false;
        for row in self.0.number.iter_mut().filter(|row| row.name == name) {
            row.value = value;
            row.assumed = Some("set by the caller".to_owned());
            found = true;
        }
        if found {
            return Ok(());
        }
        let names: std::collections::BTreeSet<&str> = self.0.number.iter().map(|row| &*row.name).collect();
        Err(RuleError::UnknownName {
            name: name.to_owned(),
            known: names.into_iter().collect::<Vec<_>>().join(", "),
        })
    }

    /// The day on which the sources were read.
    pub fn read(&self) -> &str {
        &self.0.read
    }

    /// The family of a model; `None` for a model of nobody's that is known.
    pub fn family(&self, model: &str) -> Option<Family> {
        let name = plain_name(model);
        let known = self.0.family.iter().filter(|row| !row.models.is_empty());
        best(known, &name, |row| &row.models).map(|row| row.name)
    }

    /// The rules for a model. Of a model that no family names, nothing can be said.
    pub fn rules(&self, model: &str) -> Result<Option<CacheRules>, RuleError> {
        self.family(model)
            .map(|family| self.rules_of(family, model))
            .transpose()
    }

    /// The rules of a family, for a model: for engines that serve any.
    pub fn rules_of(&self, family: Family, model: &str) -> Result<CacheRules, RuleError> {
        let name = plain_name(model);
        let of_family = || self.0.number.iter().filter(|row| row.family == family);
        let mut numbers = BTreeMap::new();
        for row in of_family() {
            let same = of_family().filter(|other| other.name == row.name);
            if let Some(row) = best(same, &name, |row| &row.models) {
                numbers.entry(row.name.clone()).or_insert_with(|| Number {
                    value: row.value,
                    source: row
                        .source
                        .as_ref()
                        .and_then(|source| self.0.sources.get(source).cloned()),
                    assumed: row.assumed.clone(),
                });
            }
        }
        if let Some(name) = family
            .required()
            .iter()
            .find(|name| !numbers.contains_key(**name))
        {
            return Err(RuleError::Missing { family, name });
        }
        let applies =
            |row: &&Invalidation| row.family == family && best([*row], &name, |row| &row.models).is_some();
        let invalidates = self.0.invalidates.iter().filter(applies).map(|row| {
            let region = match row.loses {
                RegionName::Tools => Region::Tools,
                RegionName::System => Region::System,
                RegionName::Messages => Region::Messages,
            };
            (row.setting.clone(), region, row.same.clone())
        });
        Ok(CacheRules {
            family,
            model: model.to_owned(),
            numbers,
            invalidates: invalidates.collect(),
        })
    }
}

impl CacheRules {
    /// The family.
    pub fn family(&self) -> Family {
        self.family
    }

    /// The model.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// All numbers, by name.
    pub fn numbers(&self) -> &BTreeMap<String, Number> {
        &self.numbers
    }

    /// Sets a number: to try another assumption.
    pub fn set(&mut self, name: &str, value: u64) -> Result<(), RuleError> {
        let family = self.family;
        if let Some(number) = self.numbers.get_mut(name) {
            number.value = value;
            number.assumed = Some("set by the caller".to_owned());
            return Ok(());
        }
        Err(RuleError::UnknownNumber {
            family,
            name: name.to_owned(),
            known: self.numbers.keys().cloned().collect::<Vec<_>>().join(", "),
        })
    }

    /// A number by name; 0 for one that the family does not have (the required ones are always there).
    pub fn number(&self, name: &str) -> u64 {
        self.numbers.get(name).map_or(0, |number| number.value)
    }

    /// The region that is lost when a setting changes; `None` if the cache does not care.
    pub fn loses(&self, setting: &str) -> Option<Region> {
        self.invalidates
            .iter()
            .filter(|(name, ..)| name == setting)
            .map(|(_, region, _)| *region)
            .min()
    }

    /// The values of all settings that lose a region or one before it: equal for two requests exactly if
    /// settings do not part them there.
    pub(crate) fn fingerprint(&self, settings: &Settings, region: Region) -> String {
        let mut out = String::new();
        for (name, loses, same) in &self.invalidates {
            if *loses > region {
                continue;
            }
            if let Some(value) = settings
                .get(name)
                .filter(|value| !same.iter().any(|same| same == value))
            {
                out.extend([name, "=", value, "\n"]);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(model: &str, name: &str) -> u64 {
        RuleBook::built_in()
            .unwrap()
            .rules(model)
            .unwrap()
            .unwrap()
            .number(name)
    }

    #[test]
    fn every_family_has_its_numbers_and_every_number_its_source() {
        let book = RuleBook::built_in().unwrap();
        for family in Family::ALL {
            assert_eq!(family.name().parse::<Family>().unwrap(), family);
            let rules = book.rules_of(family, "any").unwrap();
            assert!(
                rules
                    .numbers()
                    .values()
                    .all(|number| number.source.is_some() || number.assumed.is_some())
            );
        }
        assert_eq!(book.read(), "2026-11-30");
    }

    #[test]
    fn families_by_model() {
        let book = RuleBook::built_in().unwrap();
        for (model, family) in [
            ("claude-opus-5", Some(Family::Anthropic)),
            ("us.anthropic.claude-haiku-4-5-v1:0", Some(Family::Anthropic)),
            ("gpt-5.5", Some(Family::OpenaiAutomatic)),
            ("gpt-5.6-sol", Some(Family::OpenaiBoundaries)),
            ("gpt-6.2-astra", Some(Family::OpenaiBoundaries)),
            ("gpt-4o", Some(Family::OpenaiAutomatic)),
            ("deepseek/deepseek-flash", Some(Family::Deepseek)),
            ("gemini-4-argon", Some(Family::Gemini)),
            ("my-own-model", None),
        ] {
            assert_eq!(book.family(model), family, "{model}");
        }
    }

    #[test]
    fn minimums_by_model_as_the_page_lists_them() {
        for (model, minimum) in [
            ("claude-opus-5-5", 512),
            ("claude-fable-5", 512),
            ("claude-mythos-5-1", 512),
            ("claude-sonnet-5-5", 512),
            ("claude-haiku-5-5", 512),
            ("claude-opus-4-8", 1024),
            ("claude-opus-4-1", 1024),
            ("claude-sonnet-5", 1024),
            ("claude-sonnet-4-6", 1024),
            ("claude-opus-4-7", 2048),
            ("claude-mythos-preview", 2048),
            ("claude-3-5-haiku-20241022", 2048),
            ("claude-opus-4-6", 4096),
            ("claude-opus-4-5-20251101", 4096),
            ("claude-haiku-4-5", 4096),
            ("gpt-6-luna", 1024),
            ("gemini-2.5-pro", 2048),
            ("gemini-3.1-pro", 4096),
        ] {
            assert_eq!(number(model, "minimum"), minimum, "{model}");
        }
    }

    #[test]
    fn a_table_that_lacks_a_number_or_a_source_is_refused() {
        let (file, text) = BUILT_IN;
        let without = text.replace("name = \"look_back\"", "name = \"look_bakc\"");
        let book = RuleBook::from_toml(file, &without).unwrap();
        insta::assert_snapshot!(
            book.rules("claude-opus-5").unwrap_err(),
            @"the rules for `anthropic` lack `look_back`: add a [[number]] row with its value and source"
        );
        let unnamed = text.replace("source = \"R1\"", "source = \"R9\"");
        insta::assert_snapshot!(
            RuleBook::from_toml(file, &unnamed).unwrap_err(),
            @"models/cache-rules.toml: `ttl_separates` names the source `R9`, which is not under [sources]"
        );
    }

    #[test]
    fn assumptions_can_be_set_by_name() {
        let mut rules = RuleBook::built_in()
            .unwrap()
            .rules("deepseek-flash")
            .unwrap()
            .unwrap();
        rules.set("interval", 64).unwrap();
        assert_eq!(rules.number("interval"), 64);
        insta::assert_snapshot!(
            rules.set("unit", 64).unwrap_err(),
            @"the rules for `deepseek` have no `unit`; they have: build_ms, common_prefixes, idle_ms, interval"
        );
    }
}
