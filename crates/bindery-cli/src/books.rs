//! Rules, prices and windows: those that are built in, with this user's own laid over them.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use bindery::Windows;
use bindery_cache::{Family, PriceBook, RuleBook};

use crate::outside;
use crate::status::UsageError;

/// What requests are judged by.
pub(crate) struct Books {
    pub(crate) rules: RuleBook,
    pub(crate) prices: PriceBook,
}

impl Books {
    /// The built-in tables, the user's own prices over them, and `prices` over those.
    pub(crate) fn open(prices: Option<&Path>) -> anyhow::Result<Self> {
        let rules = RuleBook::built_in().context("the built-in table of cache rules")?;
        let mut book = PriceBook::built_in().context("the built-in table of prices")?;
        let own = own_prices().filter(|path| path.exists());
        for path in own.iter().map(PathBuf::as_path).chain(prices) {
            book = book.overlay(read(path)?);
        }
        Ok(Self { rules, prices: book })
    }
}

/// The built-in windows, with this user's own laid over them.
pub(crate) fn windows() -> anyhow::Result<Windows> {
    let windows = Windows::built_in().context("the built-in table of windows")?;
    let Some(path) = own_windows().filter(|path| path.exists()) else {
        return Ok(windows);
    };
    let text =
        std::fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
    let own =
        Windows::from_toml(&path.display().to_string(), &text).map_err(|error| UsageError::of(&error))?;
    Ok(windows.overlay(own))
}

/// A table of prices in a file.
pub(crate) fn read(path: &Path) -> anyhow::Result<PriceBook> {
    let text = std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
    PriceBook::from_toml(&path.display().to_string(), &text).map_err(|error| UsageError::of(&error).into())
}

/// Where this user's own prices lie: `$XDG_CONFIG_HOME/bindery/models/prices.toml`, by default under
/// `~/.config`.
pub(crate) fn own_prices() -> Option<PathBuf> {
    own("prices.toml")
}

/// Where this user's own windows lie: beside the prices.
pub(crate) fn own_windows() -> Option<PathBuf> {
    own("windows.toml")
}

fn own(table: &str) -> Option<PathBuf> {
    Some(outside::config_home()?.join("bindery").join("models").join(table))
}

/// The family of caches that a person names: a provider's name stands for its newest machine.
pub(crate) fn family(name: &str) -> anyhow::Result<Family> {
    let known = match name {
        "openai" => Ok(Family::OpenaiBoundaries),
        "llama-cpp" | "llamacpp" => Ok(Family::LlamaCpp),
        other => other.parse::<Family>(),
    };
    known.map_err(|_| {
        let names: Vec<&str> = Family::ALL.iter().map(|family| family.name()).collect();
        UsageError(format!(
            "no cache of `{name}` is known; known are: openai (from GPT-5.6), {}",
            names.join(", ")
        ))
        .into()
    })
}
