//! Who answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use bindery::Provider;
use bindery_agent::replay::{self, Go};
use bindery_agent::{Clock as _, SystemClock};
use bindery_providers::sim::{SimModel, SimulatedCache};
use bindery_providers::{Endpoint, HttpModel, Model, Secret};
use bindery_store::Journal;

use super::arguments::RunArgs;
use crate::status::UsageError;

/// What was asked for with `--provider`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Choice {
    /// A simulation of a provider, or of the one of the settings.
    Sim(Option<String>),
    /// A provider.
    Real(String),
    /// Nothing was said.
    Unsaid,
}

impl Choice {
    pub(super) fn of(args: &RunArgs) -> Self {
        match args.provider.as_deref() {
            None => Self::Unsaid,
            Some("sim") => Self::Sim(None),
            Some(name) => match name.strip_prefix("sim:") {
                Some(family) => Self::Sim(Some(family.to_owned())),
                None => Self::Real(name.to_owned()),
            },
        }
    }

    /// The provider in whose format requests are written, where one was named.
    pub(super) fn family(&self) -> Option<String> {
        match self {
            Self::Sim(family) => family.clone(),
            Self::Real(name) => Some(name.clone()),
            Self::Unsaid => None,
        }
    }
}

/// So many of the newest requests of a session fill a simulated cache: what older ones wrote is part of
/// what these did.
const REMEMBERED: u64 = 40;

/// The model for a session that goes on, or for a new one: a simulated cache remembers what was sent before.
pub(super) fn model(
    args: &RunArgs,
    provider: Provider,
    environment: &BTreeMap<String, String>,
    known: Option<&Journal>,
) -> anyhow::Result<Arc<dyn Model>> {
    let key = environment
        .get(Endpoint::key_variable(provider))
        .and_then(|key| Secret::new(key));
    let elsewhere = args
        .base_url
        .as_ref()
        .or_else(|| environment.get(Endpoint::url_variable(provider)));
    match Choice::of(args) {
        Choice::Unsaid if key.is_none() && elsewhere.is_none() => {}
        Choice::Sim(_) => {}
        Choice::Unsaid | Choice::Real(_) => {
            if key.is_none() && elsewhere.is_none() {
                let variable = Endpoint::key_variable(provider);
                let message =
                    format!("there is no key for {provider}: set {variable}, or use `--provider sim`");
                return Err(UsageError(message).into());
            }
            let base = elsewhere.map_or(Endpoint::published_url(provider), String::as_str);
            let endpoint = endpoint(base, &args.headers)?;
            return Ok(Arc::new(HttpModel::new(provider, endpoint, key)?));
        }
    }
    let cache = SimulatedCache::new(provider)?.in_time_of(|| SystemClock.now_ms());
    let cache = match known {
        Some(journal) => remembering(cache, provider, journal)?,
        None => cache,
    };
    Ok(Arc::new(SimModel::with_rules(provider).cache(cache)))
}

/// The caches as the newest requests of the log left them.
fn remembering(
    mut cache: SimulatedCache,
    provider: Provider,
    journal: &Journal,
) -> anyhow::Result<SimulatedCache> {
    let requests = journal.state().attempts();
    replay::each(journal.log(), |asked| {
        let (attempt, at_ms) = (asked.request.attempt, asked.at_ms);
        let counts = asked.request.number.saturating_add(REMEMBERED) > requests;
        if counts
            && &*attempt.provider == provider.name()
            && let Ok(body) = asked.body()
        {
            // What the provider would have refused wrote nothing.
            let _refused = cache.sent_before(at_ms, &attempt.model, body);
        }
        Go::On
    })?;
    Ok(cache)
}

fn endpoint(base: &str, headers: &[String]) -> anyhow::Result<Endpoint> {
    let mut endpoint = Endpoint::new(base).map_err(|error| UsageError::of(&error))?;
    for header in headers {
        let Some((name, value)) = header.split_once(':') else {
            let message = "a header is written as `NAME: VALUE`".to_owned();
            return Err(UsageError(message).into());
        };
        endpoint = endpoint
            .header(name.trim(), value.trim())
            .map_err(|error| UsageError::of(&error))?;
    }
    Ok(endpoint)
}
