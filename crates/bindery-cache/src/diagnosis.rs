//! What providers themselves say about a miss: Anthropic's and OpenAI's cache diagnostics.

use serde::Serialize;

use crate::json::Fields;
use crate::{Region, Verdict, Why};

/// A provider's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "answer")]
pub enum Diagnosis {
    /// The two requests do not part, or the cache was hit.
    NoDivergence,
    /// Not known yet.
    Pending,
    /// They part.
    Miss {
        /// The provider's word for it: `tools_changed`, `prompt_cache_key_changed`, …
        reason: String,
        /// The tokens that were missed, as the provider estimates them.
        tokens: Option<u64>,
    },
    /// The response to compare with is unknown to the provider.
    NotFound,
    /// The provider cannot tell.
    Unavailable,
}

impl Diagnosis {
    /// Reads it from a response's JSON (of a stream, from the event that carries it). `None` if the
    /// response says nothing about it.
    pub fn read(response: &str) -> Option<Self> {
        let fields = Fields::parse(response.trim_start())?;
        if let Some(raw) = fields.get("diagnostics") {
            return Some(anthropic(raw));
        }
        let answer = Fields::of(fields.get("prompt_cache_diagnostics")?)?;
        Some(match answer.text("type").as_deref() {
            Some("cache_hit") => Self::NoDivergence,
            Some("cache_miss") => Self::Miss {
                reason: answer.text("reason").unwrap_or_default().into_owned(),
                tokens: answer.get("cache_missed_tokens").and_then(|raw| raw.parse().ok()),
            },
            Some("comparison_response_not_found") => Self::NotFound,
            _ => Self::Unavailable,
        })
    }

    /// Whether it fits what we say; `None` where it says nothing that could fit or not.
    pub fn agrees(&self, why: &Why) -> Option<bool> {
        let blames_the_bytes = matches!(
            why.verdict,
            Verdict::PrefixChanged | Verdict::SettingsChanged { .. } | Verdict::KeyOrRouteChanged { .. }
        );
        match self {
            Self::Pending | Self::NotFound | Self::Unavailable => None,
            Self::NoDivergence => Some(!blames_the_bytes),
            Self::Miss { reason, .. } => Some(blames_the_bytes && fits(reason, why)),
        }
    }
}

fn anthropic(raw: &str) -> Diagnosis {
    let Some(fields) = Fields::of(raw) else {
        return Diagnosis::NoDivergence;
    };
    let Some(reason) = fields.get("cache_miss_reason").and_then(Fields::of) else {
        return Diagnosis::Pending;
    };
    match reason.text("type").as_deref() {
        Some("previous_message_not_found") => Diagnosis::NotFound,
        None | Some("unavailable") => Diagnosis::Unavailable,
        Some(kind) => Diagnosis::Miss {
            reason: kind.to_owned(),
            tokens: reason
                .get("cache_missed_input_tokens")
                .and_then(|raw| raw.parse().ok()),
        },
    }
}

/// Whether a provider's reason names what we name.
fn fits(reason: &str, why: &Why) -> bool {
    let region = why.change.as_ref().map(|change| change.region);
    let named = |names: &[&str]| match &why.verdict {
        Verdict::SettingsChanged { changes, .. } => {
            changes.iter().any(|change| names.contains(&&*change.name))
        }
        Verdict::KeyOrRouteChanged { what, .. } => names.contains(&&**what),
        _ => false,
    };
    match reason {
        "model_changed" => named(&["model", "speed"]),
        "system_changed" => region == Some(Region::System),
        "tools_changed" => region == Some(Region::Tools),
        "messages_changed" => region == Some(Region::Messages),
        "input_changed" | "context_compacted" => matches!(region, Some(Region::System | Region::Messages)),
        "prompt_cache_key_changed" => named(&["cache_key"]),
        "service_tier_changed" => named(&["service_tier"]),
        "text_format_changed" => named(&["text_format"]),
        "reasoning_effort_changed" => named(&["effort"]),
        "verbosity_changed" => named(&["verbosity"]),
        // A word that is newer than this: it contradicts nothing that we know of.
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_providers_answers_are_read() {
        let miss = |reason: &str, tokens| Diagnosis::Miss {
            reason: reason.to_owned(),
            tokens,
        };
        for (response, expected) in [
            (r#"{"id":"m"}"#, None),
            (r#"{"diagnostics":null}"#, Some(Diagnosis::NoDivergence)),
            (
                r#"{"diagnostics":{"cache_miss_reason":null}}"#,
                Some(Diagnosis::Pending),
            ),
            (
                r#"{"diagnostics":{"cache_miss_reason":{"type":"tools_changed","cache_missed_input_tokens":1200}}}"#,
                Some(miss("tools_changed", Some(1200))),
            ),
            (
                r#"{"diagnostics":{"cache_miss_reason":{"type":"previous_message_not_found"}}}"#,
                Some(Diagnosis::NotFound),
            ),
            (
                r#"{"diagnostics":{"cache_miss_reason":{"type":"unavailable"}}}"#,
                Some(Diagnosis::Unavailable),
            ),
            (
                r#"{"prompt_cache_diagnostics":{"type":"cache_hit"}}"#,
                Some(Diagnosis::NoDivergence),
            ),
            (
                r#"{"prompt_cache_diagnostics":{"type":"cache_miss","reason":"input_changed","cache_missed_tokens":7}}"#,
                Some(miss("input_changed", Some(7))),
            ),
            (
                r#"{"prompt_cache_diagnostics":{"type":"comparison_response_not_found"}}"#,
                Some(Diagnosis::NotFound),
            ),
        ] {
            assert_eq!(Diagnosis::read(response), expected, "{response}");
        }
    }
}
