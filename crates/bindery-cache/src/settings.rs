//! The settings of a request that a cache may care about, under one name for all formats.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::json::{self, Fields};

/// Where each setting stands in a body. A dot leads into an object.
const PLACES: [(&str, &str); 27] = [
    ("model", "model"),
    ("tool_choice", "tool_choice"),
    ("toolConfig", "tool_choice"),
    ("tool_choice.disable_parallel_tool_use", "parallel_tool_calls"),
    ("parallel_tool_calls", "parallel_tool_calls"),
    ("thinking", "thinking"),
    ("generationConfig.thinkingConfig", "thinking"),
    ("output_config.effort", "effort"),
    ("reasoning.effort", "effort"),
    ("reasoning_effort", "effort"),
    ("output_config.format", "text_format"),
    ("text.format", "text_format"),
    ("response_format", "text_format"),
    ("text.verbosity", "verbosity"),
    ("verbosity", "verbosity"),
    ("speed", "speed"),
    ("service_tier", "service_tier"),
    ("context_management", "context_management"),
    ("prompt_cache_key", "cache_key"),
    ("prompt_cache_retention", "retention"),
    ("prompt_cache_options.mode", "cache_mode"),
    ("prompt_cache_options.ttl", "cache_ttl"),
    ("cache_salt", "cache_salt"),
    ("cachedContent", "cached_content"),
    ("cache_prompt", "cache_prompt"),
    ("id_slot", "slot"),
    ("max_tokens", "max_tokens"),
];

/// Named settings, values as compact JSON (strings without quotes). What a request does not set is not there.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(transparent)]
pub struct Settings(BTreeMap<String, String>);

/// A setting that two requests do not have in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SettingChange {
    /// The setting.
    pub name: String,
    /// Its value in the older request.
    pub old: Option<String>,
    /// Its value in the newer one.
    pub new: Option<String>,
}

impl Settings {
    /// The settings of a body's top level.
    pub(crate) fn read(body: &Fields<'_>) -> Self {
        let mut out = Self::default();
        for (place, name) in PLACES {
            let value = match place.split_once('.') {
                None => body.get(place),
                Some((outer, inner)) => body
                    .get(outer)
                    .and_then(Fields::of)
                    .and_then(|fields| fields.get(inner)),
            };
            if let Some(value) = value.filter(|value| *value != "null") {
                out.set(name, &compact(value));
            }
        }
        out
    }

    /// Sets one: for what travels outside the body (beta headers, the workspace) or is derived from it.
    pub fn set(&mut self, name: &str, value: &str) {
        self.0.insert(name.to_owned(), value.to_owned());
    }

    /// A setting's value.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The model; empty if none is named.
    pub fn model(&self) -> &str {
        self.get("model").unwrap_or_default()
    }

    /// What differs, by name.
    pub fn changes(&self, newer: &Self) -> Vec<SettingChange> {
        let names: std::collections::BTreeSet<&String> = self.0.keys().chain(newer.0.keys()).collect();
        names
            .into_iter()
            .filter(|name| self.get(name) != newer.get(name))
            .map(|name| SettingChange {
                name: name.clone(),
                old: self.get(name).map(str::to_owned),
                new: newer.get(name).map(str::to_owned),
            })
            .collect()
    }
}

/// A value without its quotes, or as compact JSON: white space says nothing.
fn compact(raw: &str) -> String {
    if let Some(text) = json::string(raw) {
        return text.into_owned();
    }
    serde_json::from_str::<serde_json::Value>(raw).map_or_else(|_| raw.to_owned(), |value| value.to_string())
}
