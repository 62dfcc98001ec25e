//! Every public miss report that we know of, and the laws of a diagnosis.

mod laws;
mod reports;

use serde_json::{Value, json};

use super::*;
use crate::Format;
use crate::fixtures::{PRICES, RULES, request};

/// One minute, in milliseconds.
const MINUTE: u64 = 60_000;

/// A model of Anthropic's with a minimum of 1,024 tokens, and one of OpenAI's with boundaries.
const OPUS: &str = "claude-opus-4-8";
const SOL: &str = "gpt-5.6-sol";

/// One request of a scenario.
#[derive(Clone)]
struct Step {
    parts: String,
    settings: Value,
    minute: u64,
    route: &'static str,
    usage: Option<Usage>,
    diagnosis: Option<Diagnosis>,
}

fn step(parts: &str) -> Step {
    Step {
        parts: parts.to_owned(),
        settings: json!({}),
        minute: 0,
        route: "",
        usage: None,
        diagnosis: None,
    }
}

impl Step {
    fn set(mut self, settings: Value) -> Self {
        self.settings = settings;
        self
    }

    fn at(mut self, minute: u64) -> Self {
        self.minute = minute;
        self
    }

    fn route(mut self, route: &'static str) -> Self {
        self.route = route;
        self
    }

    /// What the provider reported: uncached, read, written.
    fn reported(mut self, uncached: u64, read: u64, written: u64) -> Self {
        self.usage = Some(Usage {
            uncached,
            read,
            write_5m: written,
            ..Usage::default()
        });
        self
    }

    fn diagnosed(mut self, reason: &str) -> Self {
        self.diagnosis = Some(Diagnosis::Miss {
            reason: reason.to_owned(),
            tokens: None,
        });
        self
    }

    fn exchange(&self, format: Format, model: &str, number: u64) -> Exchange {
        let mut settings = json!({"model": model});
        settings
            .as_object_mut()
            .unwrap()
            .extend(self.settings.as_object().unwrap().clone());
        let at = if self.minute == 0 {
            number * MINUTE
        } else {
            self.minute * MINUTE
        };
        Exchange {
            route: self.route.into(),
            usage: self.usage,
            diagnosis: self.diagnosis.clone(),
            ..Exchange::new(request(format, &self.parts, &settings), at)
        }
    }
}

/// Explains all steps, a minute apart unless they say otherwise.
fn explain(format: Format, model: &str, family: Option<Family>, steps: &[Step]) -> Vec<Why> {
    let mut explainer = Explainer::new(&RULES, &PRICES);
    if let Some(family) = family {
        explainer = explainer.family(family);
    }
    let exchanges = steps
        .iter()
        .zip(0..)
        .map(|(step, number)| step.exchange(format, model, number));
    exchanges
        .map(|exchange| explainer.observe(exchange).unwrap())
        .collect()
}

fn last(format: Format, model: &str, steps: &[Step]) -> Why {
    explain(format, model, None, steps).pop().unwrap()
}

/// A diagnosis on one line: verdict, what changed, advice, tokens lost.
fn line(why: &Why) -> String {
    let what = match (&why.verdict, &why.change) {
        (Verdict::SettingsChanged { changes }, _) => changes
            .iter()
            .map(|change| change.name.clone())
            .collect::<Vec<_>>()
            .join(","),
        (Verdict::KeyOrRouteChanged { what, .. }, _) => what.clone(),
        (_, Some(change)) => {
            let kind = serde_json::to_value(change.kind).unwrap();
            format!("{} {}", kind.as_str().unwrap(), change.fragment)
        }
        _ => "-".to_owned(),
    };
    let advice = why.advice.as_ref().map_or("-", |advice| advice.code);
    format!("{} | {what} | {advice} | {}", why.verdict.name(), why.lost.tokens)
}
