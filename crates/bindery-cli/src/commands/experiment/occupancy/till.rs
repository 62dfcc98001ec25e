//! Who is asked, and what it costs.

use std::collections::BTreeMap;

use anyhow::Context as _;
use bindery::{Message, Params, Provider, Request, Usage};
use bindery_cache::{Money, PriceRow};
use bindery_providers::sim::SimulatedCache;
use bindery_providers::{Endpoint, HttpModel, Model as _, Outgoing, Secret};
use tokio::runtime::Runtime;

use super::scene::Scene;
use crate::status::UsageError;

/// The tokens of a scripted answer, and the most that a provider is asked for.
pub(super) const ANSWER: u64 = 150;

/// Who counts.
#[derive(Debug, Clone)]
pub(super) struct Counter {
    /// In whose format requests are written.
    pub(super) provider: Provider,
    /// Where it is asked; nobody is where its cache is simulated.
    asked: Option<(Endpoint, Option<Secret>)>,
}

impl Counter {
    /// What `--provider` and `--base-url` name.
    pub(super) fn of(
        name: &str,
        base_url: Option<&str>,
        environment: &BTreeMap<String, String>,
    ) -> anyhow::Result<Self> {
        let family = |name: &str| name.parse::<Provider>().map_err(|error| UsageError::of(&error));
        if name == "sim" || name.starts_with("sim:") {
            if base_url.is_some() {
                let message = "`--base-url` needs a provider that is asked: `--provider anthropic`, …";
                return Err(UsageError(message.to_owned()).into());
            }
            let provider = family(name.strip_prefix("sim:").unwrap_or("anthropic"))?;
            return Ok(Self {
                provider,
                asked: None,
            });
        }
        let provider = family(name)?;
        let variable = Endpoint::key_variable(provider);
        let key = environment.get(variable).and_then(|key| Secret::new(key));
        let elsewhere = base_url.or_else(|| {
            environment
                .get(Endpoint::url_variable(provider))
                .map(String::as_str)
        });
        if key.is_none() && elsewhere.is_none() {
            let message = format!("there is no key for {provider}: set {variable}, or use `--provider sim`");
            return Err(UsageError(message).into());
        }
        let base = elsewhere.unwrap_or(Endpoint::published_url(provider));
        let endpoint = Endpoint::new(base).map_err(|error| UsageError::of(&error))?;
        Ok(Self {
            provider,
            asked: Some((endpoint, key)),
        })
    }

    pub(super) fn is_simulated(&self) -> bool {
        self.asked.is_none()
    }

    fn open(&self) -> anyhow::Result<Desk> {
        Ok(match &self.asked {
            None => Desk::Simulated(Box::new(SimulatedCache::new(self.provider)?)),
            Some((endpoint, key)) => Desk::Asked {
                model: Box::new(HttpModel::new(self.provider, endpoint.clone(), key.clone())?),
                runtime: tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .context("starting the runtime")?,
            },
        })
    }
}

enum Desk {
    Simulated(Box<SimulatedCache>),
    Asked { model: Box<HttpModel>, runtime: Runtime },
}

/// Sends requests and adds up what they cost. What is answered is not used: the script goes on as it stands, so
/// that all policies keep the same conversation.
pub(super) struct Till<'r> {
    desk: Desk,
    provider: Provider,
    row: &'r PriceRow,
    params: Params,
    pub(super) usage: Usage,
    pub(super) cost: Money,
}

impl<'r> Till<'r> {
    pub(super) fn open(counter: &Counter, model: &str, row: &'r PriceRow) -> anyhow::Result<Self> {
        let most = u32::try_from(ANSWER).unwrap_or(u32::MAX);
        let answer = if counter.is_simulated() { 4_096 } else { most };
        Ok(Self {
            desk: counter.open()?,
            provider: counter.provider,
            row,
            params: Params::new(model.to_owned(), answer),
            usage: Usage::default(),
            cost: Money::ZERO,
        })
    }

    pub(super) fn provider(&self) -> Provider {
        self.provider
    }

    /// The body of a request, sent. `output` is what a scripted answer has.
    pub(super) fn send(
        &mut self,
        scene: &Scene,
        messages: &[Message],
        output: u64,
    ) -> anyhow::Result<Vec<u8>> {
        let request = Request {
            system: &scene.system,
            tools: &scene.tools,
            messages,
            params: &self.params,
        };
        let encoded = self.provider.encode(&request)?;
        let usage = match &mut self.desk {
            Desk::Simulated(cache) => Usage {
                output,
                ..cache
                    .request(&self.params.model, &encoded.body)
                    .map_err(|failure| anyhow::anyhow!("{failure}"))?
            },
            Desk::Asked { model, runtime } => {
                let outgoing = Outgoing {
                    encoded: &encoded,
                    request,
                };
                let reply = runtime.block_on(async {
                    let exchange = model.send(outgoing).await?;
                    exchange.reply().await.map_err(|interrupted| interrupted.failure)
                });
                let reply = reply.with_context(|| format!("{} did not answer", self.provider))?;
                reply
                    .usage
                    .with_context(|| format!("{} did not say what it counted", self.provider))?
            }
        };
        self.cost += self.row.cost(&usage).total();
        self.usage += usage;
        Ok(encoded.body)
    }
}
