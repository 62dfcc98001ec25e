//! A recorded trace under another policy: what would have been read, written and paid.

use std::collections::BTreeMap;

use bindery_core::Usage;
use serde::Serialize;

use crate::by_model::plain_name;
use crate::plan::{Foreign, PlanOptions, plan};
use crate::{
    CacheRules, Cost, Exchange, Family, Mark, Measured, PriceBook, RuleBook, RuleError, Simulator, Tier, Ttl,
    simulator,
};

/// How breakpoints are set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// As the requests were sent.
    AsRecorded,
    /// No breakpoints but one that the provider sets at the end.
    Automatic,
    /// As [`mod@crate::plan`] sets them.
    Planned,
    /// The recorded breakpoints, each for an hour; planned ones where there were none.
    OneHour,
}

impl Policy {
    /// All policies, in the order of a comparison.
    pub const ALL: [Self; 4] = [Self::AsRecorded, Self::Automatic, Self::Planned, Self::OneHour];

    /// The name, as settings write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::AsRecorded => "as-recorded",
            Self::Automatic => "automatic",
            Self::Planned => "planned",
            Self::OneHour => "one-hour",
        }
    }
}

/// One request under a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Simulated {
    /// Its buckets. The output is the recorded one.
    pub usage: Usage,
    /// The bill; `None` without a price.
    pub cost: Option<Cost>,
    /// Why the provider would have refused it.
    pub refused: Option<String>,
}

/// A trace under a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Run {
    /// The policy.
    pub policy: Policy,
    /// Request by request; `None` for models without rules.
    pub requests: Vec<Option<Simulated>>,
    /// The sum of all buckets.
    pub usage: Usage,
    /// The sum of all bills that have a price.
    pub cost: Cost,
    /// How many requests have no price or no rules, and are in no sum of money.
    pub unpriced: usize,
}

/// Simulates a trace under a policy. `family` overrides what models' names say.
pub fn simulate(
    trace: &[Exchange],
    policy: Policy,
    family: Option<Family>,
    rules: &RuleBook,
    prices: &PriceBook,
) -> Result<Run, RuleError> {
    let mut simulation = Simulation::new(policy, family, rules, prices);
    for exchange in trace {
        simulation.observe(exchange)?;
    }
    Ok(simulation.finish())
}

/// A policy that is tried on one request after another, for traces that are too large to be held.
pub struct Simulation<'b> {
    rules: &'b RuleBook,
    prices: &'b PriceBook,
    family: Option<Family>,
    simulators: BTreeMap<String, Box<dyn Simulator>>,
    last: BTreeMap<String, Measured>,
    run: Run,
}

impl<'b> Simulation<'b> {
    /// Begins with empty caches. `family` overrides what models' names say.
    pub fn new(policy: Policy, family: Option<Family>, rules: &'b RuleBook, prices: &'b PriceBook) -> Self {
        Self {
            rules,
            prices,
            family,
            simulators: BTreeMap::new(),
            last: BTreeMap::new(),
            run: Run {
                policy,
                requests: Vec::new(),
                usage: Usage::default(),
                cost: Cost::default(),
                unpriced: 0,
            },
        }
    }

    /// Takes the next request, in the order of time.
    pub fn observe(&mut self, exchange: &Exchange) -> Result<(), RuleError> {
        let settings = exchange.request.request().settings();
        let model = settings.model();
        let name = plain_name(model);
        let found = match self.family {
            Some(family) => Some(self.rules.rules_of(family, model)?),
            None => self.rules.rules(model)?,
        };
        let run = &mut self.run;
        let Some(of_model) = found else {
            run.requests.push(None);
            run.unpriced += 1;
            return Ok(());
        };
        let session = format!("{name}\n{}", exchange.session().unwrap_or_default());
        let request = under(run.policy, &exchange.request, self.last.get(&session), &of_model);
        let simulator = self.simulators.entry(name).or_insert_with(|| simulator(of_model));
        let outcome = simulator.respond(&crate::Call {
            request: &request,
            ..exchange.call()
        });
        self.last.insert(session, request);
        let output = exchange.usage.unwrap_or_default();
        let usage = Usage {
            output: output.output,
            reasoning: output.reasoning,
            ..outcome.usage
        };
        let row = self.prices.of(model, Tier::of_settings(settings), usage.input());
        let cost = row.map(|row| row.cost(&usage));
        run.unpriced += usize::from(cost.is_none());
        run.usage += usage;
        run.cost = run.cost + cost.unwrap_or_default();
        run.requests.push(Some(Simulated {
            usage,
            cost,
            refused: outcome.refusal.map(|refusal| refusal.to_string()),
        }));
        Ok(())
    }

    /// What it came to.
    pub fn finish(self) -> Run {
        self.run
    }
}

/// A request as it would be sent under a policy.
fn under(policy: Policy, request: &Measured, previous: Option<&Measured>, rules: &CacheRules) -> Measured {
    let planned = || {
        let options = PlanOptions {
            foreign: Foreign::Replan,
            ..PlanOptions::default()
        };
        plan(request, previous, rules, &options).segments()
    };
    let marks: Vec<(usize, Mark)> = match policy {
        Policy::AsRecorded => return request.clone(),
        Policy::Automatic => Vec::new(),
        Policy::Planned => planned(),
        Policy::OneHour => {
            let recorded: Vec<(usize, Mark)> = request.request().marks().collect();
            let marks = if recorded.is_empty() { planned() } else { recorded };
            let hour = Mark {
                ttl: Some(Ttl::OneHour),
            };
            marks.into_iter().map(|(at, _)| (at, hour)).collect()
        }
    };
    let mut changed = request.request().with_marks(&marks);
    if policy == Policy::Automatic {
        changed = changed.with_automatic_mark();
    }
    request.with_request(changed)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Format;
    use crate::fixtures::{PRICES, RULES, request};

    const MINUTE: u64 = 60_000;

    /// A long pause after each turn, and one mark too far behind.
    fn trace() -> Vec<Exchange> {
        let turns = [
            ("s:S=10000* u:q=100", 0),
            ("s:S=10000* u:q=100 a:x=50 u:r=5000", 10),
            ("s:S=10000* u:q=100 a:x=50 u:r=5000 a:y=50 u:t=100", 20),
        ];
        let of = |parts| request(Format::Anthropic, parts, &json!({"model": "claude-opus-4-8"}));
        turns
            .map(|(parts, minute)| Exchange::new(of(parts), minute * MINUTE))
            .to_vec()
    }

    fn run(trace: &[Exchange], policy: Policy) -> Run {
        simulate(trace, policy, None, &RULES, &PRICES).unwrap()
    }

    #[test]
    fn policies_side_by_side() {
        let shown: Vec<String> = Policy::ALL
            .into_iter()
            .map(|policy| {
                let run = run(&trace(), policy);
                let usage = run.usage;
                format!(
                    "{:<11} read {:>5} written {:>5} plain {:>5} {}",
                    policy.name(),
                    usage.read,
                    usage.written(),
                    usage.uncached,
                    run.cost.total()
                )
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        as-recorded read     0 written 30000 plain 10550 $0.2403
        automatic   read     0 written 40550 plain     0 $0.2534
        planned     read     0 written 40550 plain     0 $0.2534
        one-hour    read 20000 written 10000 plain 10550 $0.1628
        ");
    }

    #[test]
    fn a_moved_breakpoint_pays_without_pauses() {
        let mut quick = trace();
        for (exchange, minute) in quick.iter_mut().zip(0..) {
            exchange.at_ms = minute * MINUTE;
        }
        let (recorded, planned) = (run(&quick, Policy::AsRecorded), run(&quick, Policy::Planned));
        assert_eq!((recorded.usage.read, planned.usage.read), (20_000, 25_250));
        assert!(planned.cost.total() < recorded.cost.total());
    }

    #[test]
    fn what_has_no_rules_is_counted_as_such() {
        let mut foreign = trace();
        foreign[1].request = request(Format::OpenaiChat, "s:S u:q", &json!({"model": "my-own"}));
        let run = run(&foreign, Policy::AsRecorded);
        assert_eq!((run.unpriced, run.requests[1].is_none()), (1, true));
    }
}
