//! Who answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use bindery::Provider;
use bindery_agent::replay::{self, Go};
use bindery_providers::sim::{CacheSimulator, PrefixCache, SimModel};
use bindery_providers::{Endpoint, HttpModel, Model, Secret};
use bindery_store::LogReader;
use bindery_wire::Segment;

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

/// The model for a session whose log is given: a simulated cache remembers what was sent before.
pub(super) fn model(
    args: &RunArgs,
    provider: Provider,
    environment: &BTreeMap<String, String>,
    log: &dyn LogReader,
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
    let mut cache = PrefixCache::new(provider);
    replay::each(log, |_, _, attempt, body| {
        let same = &*attempt.provider == provider.name();
        if let Some(body) = body.ok().filter(|_| same)
            && let Ok(segments) = Segment::of_body(provider, &body)
        {
            cache.request(&attempt.model, &segments);
        }
        Go::On
    })?;
    Ok(Arc::new(SimModel::with_rules(provider).cache(cache)))
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
