//! No number of the rules is idle: each has a trace whose outcome it changes.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;
use crate::fixtures::{RULES, request, simulator_with};
use crate::{Family, Format};

/// A number, another value for it, and requests with their settings, a minute apart unless `apart` says
/// otherwise.
struct Row {
    family: Family,
    name: &'static str,
    other: u64,
    /// What has to be set beside it.
    beside: Option<(&'static str, u64)>,
    apart_ms: u64,
    settings: Value,
    requests: Vec<String>,
}

fn row(family: Family, name: &'static str, other: u64, requests: &[&str]) -> Row {
    Row {
        family,
        name,
        other,
        beside: None,
        apart_ms: MINUTE,
        settings: json!({}),
        requests: requests.iter().map(|parts| (*parts).to_owned()).collect(),
    }
}

impl Row {
    fn apart(self, apart_ms: u64) -> Self {
        Self { apart_ms, ..self }
    }

    fn set(self, settings: Value) -> Self {
        Self { settings, ..self }
    }

    fn beside(self, name: &'static str, value: u64) -> Self {
        let beside = Some((name, value));
        Self { beside, ..self }
    }

    fn outcome(&self, number: Option<(&str, u64)>) -> Vec<String> {
        let numbers: Vec<(&str, u64)> = self.beside.into_iter().chain(number).collect();
        let mut simulator = simulator_with(self.family, &numbers);
        let format = match self.family {
            Family::Anthropic => Format::Anthropic,
            Family::OpenaiAutomatic | Family::OpenaiBoundaries => Format::OpenaiResponses,
            _ => Format::OpenaiChat,
        };
        let sent = self.requests.iter().zip(0..).map(|(parts, number)| {
            let request = request(format, parts, &self.settings);
            send(&mut *simulator, number * self.apart_ms, &request)
        });
        sent.collect()
    }
}

fn anthropic() -> Vec<Row> {
    let of = |name, other, requests: &[&str]| row(Family::Anthropic, name, other, requests);
    vec![
        of("most_marks", 1, &["s:S=2000* u:q=10*"]),
        of(
            "look_back",
            1,
            &["s:S=2000 u:q=10*", "s:S=2000 u:q=10 a:x=5 u:r=5*"],
        ),
        of("minimum", 5000, &["s:S=2000*"]),
        of(
            "strips_thinking",
            0,
            &[
                "s:S=3000 u:q=10 th:t=500 c:f=10 r:o=10*",
                "s:S=3000 u:q=10 th:t=500 c:f=10 r:o=10 u:more=5*",
            ],
        ),
        of("server_tool_marks", 0, &["s:S=2000* u:q=10 web:found=500 u:r=5"]),
        of("first_token_ms", 90_000, &["s:S=2000*", "s:S=2000*"]),
        of("ttl_separates", 0, &["s:S=2000*", "s:S=2000*1h"]),
    ]
}

fn openai() -> Vec<Row> {
    let old = |name, other, requests: &[&str]| row(Family::OpenaiAutomatic, name, other, requests);
    let twice = ["d:S=3062 u:q=10", "d:S=3062 u:q=10"];
    let in_memory = || json!({"prompt_cache_retention": "in_memory"});
    let new = |name, other, requests: &[&str]| row(Family::OpenaiBoundaries, name, other, requests);
    let explicit = || json!({"prompt_cache_options": {"mode": "explicit"}});
    let many = format!("u:first=2000*{}", " u:more=10*".repeat(55));
    vec![
        old("minimum", 5000, &twice),
        old("interval", 2048, &twice),
        old("report_step", 1000, &twice),
        old("hidden_tokens", 1000, &twice),
        old("idle_in_memory_ms", 1000, &twice).set(in_memory()),
        old("longest_in_memory_ms", 1000, &twice).set(in_memory()),
        old("idle_24h_ms", 1000, &twice),
        old("longest_24h_ms", 1000, &twice),
        old("retention_24h", 0, &twice).apart(10 * MINUTE),
        old("overflow_per_minute", 1, &twice).apart(1000),
        old("routing_tokens", 5000, &["d:S=3000 u:q=500", "d:S=3000 u:r=500"]),
        new("minimum", 5000, &twice),
        new("most_writes", 1, &["d:S=2000* u:a=10 u:b=10", "d:S=2000* u:c=10"]),
        new("first_marks", 0, &["u:first=2000*", &many]).set(explicit()),
        new(
            "latest_marks",
            0,
            &["u:a=1000* u:b=100* u:c=100*", "u:a=1000* u:b=100* u:c=100*"],
        )
        .set(explicit()),
        new(
            "earlier_ends",
            0,
            &["d:S=2000 u:a=10", "d:S=2000 u:a=10 a:x=5 u:b=5"],
        ),
    ]
}

fn others() -> Vec<Row> {
    let parting = ["s:S=1000 u:a=500", "s:S=1000 u:b=500", "s:S=1000 u:c=500"];
    let twice = ["s:S=5000 u:q=10", "s:S=5000 u:q=10"];
    let apart = ["s:S=500 u:q=10", "s:T=500 u:q=10", "s:S=500 u:q=10"];
    vec![
        row(Family::Deepseek, "interval", 64, &parting),
        row(Family::Deepseek, "common_prefixes", 0, &parting),
        row(Family::Deepseek, "build_ms", 10 * MINUTE, &twice),
        row(Family::Deepseek, "idle_ms", 1000, &twice),
        row(Family::Gemini, "minimum", 9000, &twice),
        row(Family::Gemini, "idle_ms", 1000, &twice),
        row(Family::Vllm, "block", 64, &twice),
        row(Family::Vllm, "capacity", 100, &twice),
        row(Family::Sglang, "block", 64, &twice),
        row(Family::Sglang, "capacity", 100, &twice),
        row(Family::LlamaCpp, "slots", 2, &apart),
        row(
            Family::LlamaCpp,
            "similarity_per_mille",
            1000,
            &["s:S=500 u:q=10", "s:S=500 u:r=10"],
        )
        .beside("slots", 2),
    ]
}

#[test]
fn each_number_changes_an_outcome() {
    let mut covered = BTreeSet::new();
    for row in [anthropic(), openai(), others()].into_iter().flatten() {
        let (as_published, otherwise) = (row.outcome(None), row.outcome(Some((row.name, row.other))));
        assert_ne!(as_published, otherwise, "{} of {} is idle", row.name, row.family);
        covered.insert((row.family, row.name.to_owned()));
    }
    for family in Family::ALL {
        let rules = RULES.rules_of(family, "any").unwrap();
        for name in rules.numbers().keys() {
            // Shares of the price are no matter of the simulators; `prices` holds them to the list.
            let priced = name.ends_with("per_mille") && family != Family::LlamaCpp;
            let known = covered.contains(&(family, name.clone()));
            assert!(known || priced, "no trace shows `{name}` of {family}");
        }
    }
}
