//! Why a request read what it read: the first thing that changed, where it is from, what it cost and what
//! would have avoided it.
//!
//! Three sources are kept apart: what the two requests show, what the simulator predicts from the
//! published rules, and what the provider reported. Where bytes, settings and time all allowed a hit and
//! none came, the verdict is [`Verdict::ProviderUnknown`]: no guess is shown as a fact.

mod advice;
mod bill;
mod cause;
mod change;
mod predecessor;
mod texts;
mod volatile;

use std::collections::BTreeMap;

use bindery_core::Usage;
use serde::Serialize;

use crate::by_model::plain_name;
use crate::{
    CacheRules, Cost, Diagnosis, Exchange, Family, Money, Outcome, PriceBook, Refusal, RuleBook, RuleError,
    SettingChange, Simulator, Tier, Ttl, simulator,
};
pub use advice::Advice;
pub use change::{Change, ChangeKind, Tail};
pub use predecessor::Relation;

/// How many exchanges are remembered to compare with.
const REMEMBERED: usize = 64;
/// How many bytes of bodies are remembered with them: a proxy explains for days.
const REMEMBERED_BYTES: usize = 64 * 1024 * 1024;

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum Verdict {
    /// What could be read was read.
    Hit,
    /// Nothing had been written that this request could read.
    Cold,
    /// It had been written, and its time was over.
    Expired {
        /// How long it had not been used, in milliseconds.
        idle_ms: u64,
        /// The lifetime it had, where one is promised.
        ttl: Option<Ttl>,
    },
    /// The marked prefix is too short to be cached.
    BelowMinimum {
        /// Its tokens.
        tokens: u64,
        /// How many it needs.
        minimum: u64,
    },
    /// Something in the prefix changed: see [`Why::change`].
    PrefixChanged,
    /// It stands unchanged, but too many blocks behind it for the breakpoint to find it.
    LookBackExceeded {
        /// The positions from the breakpoint back to it, both counted.
        positions: usize,
        /// How many the provider checks.
        limit: usize,
    },
    /// Another key, deployment or machine.
    KeyOrRouteChanged {
        /// What changed: `cache_key`, `cache_salt`, `route`, `overflow`.
        what: String,
        /// Before.
        old: String,
        /// Now.
        new: String,
    },
    /// Settings of the request changed that are part of the cache's key.
    SettingsChanged {
        /// Those that count, the most harmful first.
        changes: Vec<SettingChange>,
    },
    /// Nothing in the request asks for caching.
    NotMarked {
        /// Whether the request before had marks: then they were lost on the way.
        had_marks: bool,
    },
    /// The request that writes it had not begun to answer.
    NotYetAvailable,
    /// The provider would refuse the request.
    Refused {
        /// Why.
        refusal: Refusal,
    },
    /// Bytes, settings and time allowed a hit: not your change.
    ProviderUnknown,
}

impl Verdict {
    /// The name, as in machine-readable output.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::Cold => "cold",
            Self::Expired { .. } => "expired",
            Self::BelowMinimum { .. } => "below_minimum",
            Self::PrefixChanged => "prefix_changed",
            Self::LookBackExceeded { .. } => "look_back_exceeded",
            Self::KeyOrRouteChanged { .. } => "key_or_route_changed",
            Self::SettingsChanged { .. } => "settings_changed",
            Self::NotMarked { .. } => "not_marked",
            Self::NotYetAvailable => "not_yet_available",
            Self::Refused { .. } => "refused",
            Self::ProviderUnknown => "provider_unknown",
        }
    }
}

/// What was lost against a full hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Lost {
    /// Tokens that could have been read and were not.
    pub tokens: u64,
    /// Those of them that were written again.
    pub rewritten: u64,
    /// Those of them that were paid in full.
    pub in_full: u64,
    /// What that cost more than reading them; `None` without a price.
    pub extra: Option<Money>,
}

/// An earlier request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Predecessor {
    /// Its number among those observed, from 0.
    pub number: usize,
    /// How the two belong together.
    pub relation: Relation,
}

/// What the provider itself says about the miss.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProviderAnswer {
    /// Its diagnosis.
    #[serde(flatten)]
    pub diagnosis: Diagnosis,
    /// Whether that fits ours; `None` where it says nothing that could.
    pub agrees: Option<bool>,
}

/// A request explained.
#[derive(Debug, Clone, Serialize)]
pub struct Why {
    /// What happened.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The request it is compared with.
    pub predecessor: Option<Predecessor>,
    /// What changed, if something in the prefix did.
    pub change: Option<Change>,
    /// The tokens that the predecessor left to be read.
    pub expected: u64,
    /// What the published rules predict.
    pub predicted: Usage,
    /// What the provider reported.
    pub reported: Option<Usage>,
    /// Reported minus predicted reads, where that is more than counting can explain.
    pub mismatch: Option<i64>,
    /// What was lost.
    pub lost: Lost,
    /// The bill: of what was reported, else of what is predicted.
    pub cost: Option<Cost>,
    /// What would have avoided it.
    pub advice: Option<Advice>,
    /// What the provider says.
    pub provider: Option<ProviderAnswer>,
    /// Whether token counts are the model's own.
    pub exact: bool,
    /// What else has to be known to read this.
    pub notes: Vec<String>,
}

/// An exchange that was explained, with what its simulator said.
struct Seen {
    number: usize,
    /// The one before it in the same conversation.
    follows: Option<usize>,
    exchange: Exchange,
    outcome: Outcome,
}

impl Seen {
    /// The bytes of its body.
    fn bytes(&self) -> usize {
        self.exchange.request.request().body().len()
    }
}

/// Explains requests in the order in which they were sent.
pub struct Explainer<'b> {
    rules: &'b RuleBook,
    prices: &'b PriceBook,
    family: Option<Family>,
    most_bytes: Option<usize>,
    simulators: BTreeMap<String, Box<dyn Simulator>>,
    seen: Vec<Seen>,
    count: usize,
}

impl<'b> Explainer<'b> {
    /// One that knows these rules and prices.
    pub fn new(rules: &'b RuleBook, prices: &'b PriceBook) -> Self {
        Self {
            rules,
            prices,
            family: None,
            most_bytes: None,
            simulators: BTreeMap::new(),
            seen: Vec::new(),
            count: 0,
        }
    }

    /// Takes all requests to go to this family of caches, whatever the model is called: for engines one runs
    /// oneself.
    #[must_use]
    pub fn family(mut self, family: Family) -> Self {
        self.family = Some(family);
        self
    }

    /// Bounds what the simulated cache of each model keeps: see [`Simulator::hold_at_most`].
    #[must_use]
    pub fn hold_at_most(mut self, bytes: usize) -> Self {
        self.most_bytes = Some(bytes);
        self
    }

    /// Explains a request by those observed before it.
    pub fn observe(&mut self, exchange: Exchange) -> Result<Why, RuleError> {
        let model = exchange.request.request().settings().model().to_owned();
        let why = match self.simulate(&model, &exchange)? {
            None => self.unknown_model(&model, &exchange),
            Some((outcome, rules)) => {
                let why = self.explain(&exchange, &outcome, &rules);
                let follows = why
                    .predecessor
                    .filter(|before| before.relation == Relation::SameConversation)
                    .map(|before| before.number);
                self.remember(exchange, outcome, follows);
                why
            }
        };
        self.count += 1;
        Ok(why)
    }

    fn simulate(
        &mut self,
        model: &str,
        exchange: &Exchange,
    ) -> Result<Option<(Outcome, CacheRules)>, RuleError> {
        let name = plain_name(model);
        if !self.simulators.contains_key(&name) {
            let rules = match self.family {
                Some(family) => Some(self.rules.rules_of(family, model)?),
                None => self.rules.rules(model)?,
            };
            let Some(rules) = rules else { return Ok(None) };
            let mut simulator = simulator(rules);
            if let Some(bytes) = self.most_bytes {
                simulator.hold_at_most(bytes);
            }
            self.simulators.insert(name.clone(), simulator);
        }
        let Some(simulator) = self.simulators.get_mut(&name) else {
            return Ok(None);
        };
        let outcome = simulator.respond(&exchange.call());
        Ok(Some((outcome, simulator.rules().clone())))
    }

    /// Of each conversation the last two are worth their room: the one that the next request continues,
    /// and the one before it, for a user who goes back.
    fn remember(&mut self, exchange: Exchange, outcome: Outcome, follows: Option<usize>) {
        let before = self.seen.iter().find(|seen| Some(seen.number) == follows);
        if let Some(older) = before.and_then(|seen| seen.follows) {
            self.seen.retain(|seen| seen.number != older);
        }
        let bytes = |seen: &[Seen]| seen.iter().map(Seen::bytes).sum::<usize>();
        while self.seen.len() == REMEMBERED || (!self.seen.is_empty() && bytes(&self.seen) > REMEMBERED_BYTES)
        {
            self.seen.remove(0);
        }
        self.seen.push(Seen {
            number: self.count,
            follows,
            exchange,
            outcome,
        });
    }

    fn unknown_model(&self, model: &str, exchange: &Exchange) -> Why {
        let named = if model.is_empty() {
            "no model is named".to_owned()
        } else {
            format!("no rules are known for `{model}`")
        };
        Why {
            cost: exchange
                .usage
                .as_ref()
                .and_then(|usage| self.cost(exchange, usage)),
            reported: exchange.usage,
            provider: exchange.diagnosis.clone().map(|diagnosis| ProviderAnswer {
                diagnosis,
                agrees: None,
            }),
            exact: exchange.request.is_exact(),
            notes: vec![format!("{named}: name the cache's family to have it explained")],
            ..Why::of(Verdict::ProviderUnknown)
        }
    }

    fn explain(&self, exchange: &Exchange, outcome: &Outcome, rules: &CacheRules) -> Why {
        let found = predecessor::find(&self.seen, exchange);
        let before = found.and_then(|(at, relation)| Some((self.seen.get(at)?, relation)));
        let judged = cause::judge(before, exchange, outcome, rules);
        let used = exchange.usage.unwrap_or(outcome.usage);
        let price = self.price(exchange, &used);
        let mut why = Why {
            predecessor: before.map(|(seen, relation)| Predecessor {
                number: seen.number,
                relation,
            }),
            expected: judged.expected,
            predicted: outcome.usage,
            reported: exchange.usage,
            mismatch: exchange
                .usage
                .and_then(|reported| judged.mismatch(&reported, &outcome.usage)),
            lost: bill::lost(judged.missing, &used, price),
            cost: price.map(|price| price.cost(&used)),
            exact: exchange.request.is_exact(),
            notes: judged.notes,
            change: judged.change,
            ..Why::of(judged.verdict)
        };
        why.advice = advice::for_why(&why, rules);
        why.provider = exchange.diagnosis.clone().map(|diagnosis| {
            let agrees = diagnosis.agrees(&why);
            ProviderAnswer { diagnosis, agrees }
        });
        if why
            .provider
            .as_ref()
            .is_some_and(|answer| answer.agrees == Some(false))
        {
            why.notes
                .push("the provider's own diagnosis disagrees; both are shown".to_owned());
        }
        why
    }

    fn price(&self, exchange: &Exchange, usage: &Usage) -> Option<&crate::PriceRow> {
        let settings = exchange.request.request().settings();
        self.prices
            .of(settings.model(), Tier::of_settings(settings), usage.input())
    }

    fn cost(&self, exchange: &Exchange, usage: &Usage) -> Option<Cost> {
        self.price(exchange, usage).map(|price| price.cost(usage))
    }
}

impl Why {
    fn of(verdict: Verdict) -> Self {
        Self {
            verdict,
            predecessor: None,
            change: None,
            expected: 0,
            predicted: Usage::default(),
            reported: None,
            mismatch: None,
            lost: Lost::default(),
            cost: None,
            advice: None,
            provider: None,
            exact: true,
            notes: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests;
