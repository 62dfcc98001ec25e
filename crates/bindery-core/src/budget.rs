//! What a request may hold, and who takes it up.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use crate::{CountTokens, Fragment, Kind, Lane, Message, Part, SystemPrompt, TokenCount, Tool, Trust};

/// A share, in thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Fraction(u16);

/// What is no share of a window.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no fraction; write a number from 0 to 1, such as 0.8")]
pub struct NoFraction(pub String);

impl Fraction {
    /// So many thousandths; at most the whole.
    pub const fn thousandths(thousandths: u16) -> Self {
        Self(if thousandths > 1000 { 1000 } else { thousandths })
    }

    /// This share of a number of tokens.
    pub fn of(self, tokens: u64) -> u64 {
        let share = u128::from(tokens) * u128::from(self.0) / 1000;
        u64::try_from(share).unwrap_or(u64::MAX)
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

impl std::str::FromStr for Fraction {
    type Err = NoFraction;

    fn from_str(text: &str) -> Result<Self, NoFraction> {
        let wrong = || NoFraction(text.to_owned());
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let digits: String = part.chars().chain("000".chars()).take(3).collect();
        let is_short = part.len() <= 3 && !whole.is_empty();
        let value: Option<u16> = format!("{whole}{digits}").parse().ok();
        value
            .filter(|value| *value <= 1000 && is_short)
            .map(Self)
            .ok_or_else(wrong)
    }
}

/// What a request may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Budget {
    /// The most input tokens of the model.
    pub window: u64,
    /// Kept free for the answer.
    pub answer: u64,
    /// Kept free for the results of tools in the next step.
    pub tools: u64,
    /// From this share of the room on, large results give way.
    pub prune: Fraction,
    /// From this share of the room on, history is compacted.
    pub compact: Fraction,
}

impl Budget {
    /// A budget with reserves: the answer's limit, an eighth of the rest for tools; pruning from 0.6 on,
    /// compaction from 0.8 on.
    pub fn new(window: u64, answer: u64) -> Self {
        let answer = answer.min(window / 2);
        Self {
            window,
            answer,
            tools: (window - answer) / 8,
            prune: Fraction::thousandths(600),
            compact: Fraction::thousandths(800),
        }
    }

    /// What may be filled.
    pub fn room(&self) -> u64 {
        self.window.saturating_sub(self.answer).saturating_sub(self.tools)
    }

    /// How far `used` tokens press.
    pub fn pressure(&self, used: u64) -> Pressure {
        if used > self.window.saturating_sub(self.answer) {
            Pressure::Over
        } else if used >= self.compact.of(self.room()) {
            Pressure::Compact
        } else if used >= self.prune.of(self.room()) {
            Pressure::Prune
        } else {
            Pressure::Fits
        }
    }
}

/// How far a request presses on its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Pressure {
    /// There is room.
    Fits,
    /// Large results should give way.
    Prune,
    /// History should be compacted.
    Compact,
    /// It does not leave room for the answer: it may not be sent.
    Over,
}

/// What a fragment takes up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Share {
    /// The fragment.
    pub fragment: Arc<str>,
    /// What it is.
    pub kind: Kind,
    /// By which lane it travels.
    pub lane: Lane,
    /// How far it is trusted.
    pub trust: Trust,
    /// Where it came from.
    pub source: String,
    /// Its tokens.
    pub tokens: TokenCount,
}

/// A request against its budget. The rows add up to what is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BudgetReport {
    /// The budget.
    pub budget: Budget,
    /// What may be filled.
    pub room: u64,
    /// What is.
    pub used: TokenCount,
    /// How far that presses.
    pub pressure: Pressure,
    /// The way of counting.
    pub counted_by: String,
    /// Every fragment in the order of the request.
    pub shares: Vec<Share>,
}

impl BudgetReport {
    /// Counts a request.
    pub fn of(
        budget: Budget,
        system: &SystemPrompt,
        tools: &[Tool],
        messages: &[Message],
        counter: &dyn CountTokens,
    ) -> Self {
        let mut shares: Vec<Share> = tools.iter().map(|tool| tool_share(tool, counter)).collect();
        let fragments = system.fragments().iter().chain(system.tail());
        shares.extend(fragments.map(|fragment| share(fragment, counter)));
        for part in messages.iter().flat_map(|message| &message.parts) {
            match part {
                Part::Media { fragment, media } => shares.push(sized(fragment, media.tokens())),
                _ => shares.extend(part.fragments().iter().map(|fragment| share(fragment, counter))),
            }
        }
        let used: TokenCount = shares.iter().map(|share| share.tokens).sum();
        Self {
            budget,
            room: budget.room(),
            used,
            pressure: budget.pressure(used.value),
            counted_by: counter.name().to_owned(),
            shares,
        }
    }

    /// Tokens by kind, largest first.
    pub fn by_kind(&self) -> Vec<(Kind, TokenCount)> {
        let mut out: Vec<(Kind, TokenCount)> = Vec::new();
        for share in &self.shares {
            match out.iter_mut().find(|(kind, _)| *kind == share.kind) {
                Some((_, tokens)) => *tokens += share.tokens,
                None => out.push((share.kind, share.tokens)),
            }
        }
        out.sort_by(|(one, a), (two, b)| b.value.cmp(&a.value).then(one.cmp(two)));
        out
    }
}

fn share(fragment: &Fragment, counter: &dyn CountTokens) -> Share {
    sized(fragment, counter.count(&fragment.text))
}

fn sized(fragment: &Fragment, tokens: TokenCount) -> Share {
    Share {
        fragment: fragment.key.clone(),
        kind: fragment.kind,
        lane: fragment.lane,
        trust: fragment.trust,
        source: fragment.source.to_string(),
        tokens,
    }
}

fn tool_share(tool: &Tool, counter: &dyn CountTokens) -> Share {
    let texts = [tool.name(), tool.description(), tool.parameters().get()];
    Share {
        fragment: tool.fragment_key().clone(),
        kind: Kind::ToolSchema,
        lane: Lane::Tools,
        trust: tool.trust(),
        source: tool.source().to_string(),
        tokens: texts.into_iter().map(|text| counter.count(text)).sum(),
    }
}

/// A number of tokens with the way in which it was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Measured {
    /// The way of counting.
    pub by: String,
    /// The tokens.
    pub tokens: TokenCount,
}

/// Two counts that cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("counts by `{before}` and by `{after}` cannot be subtracted; count both in one way")]
pub struct TwoWays {
    /// How the first was found.
    pub before: String,
    /// How the second was found.
    pub after: String,
}

impl Measured {
    /// The tokens of texts.
    pub fn of<'t>(texts: impl IntoIterator<Item = &'t str>, counter: &dyn CountTokens) -> Self {
        Self {
            by: counter.name().to_owned(),
            tokens: texts.into_iter().map(|text| counter.count(text)).sum(),
        }
    }

    /// The tokens of messages, images included.
    pub fn of_messages<'m>(
        messages: impl IntoIterator<Item = &'m Message>,
        counter: &dyn CountTokens,
    ) -> Self {
        Self {
            by: counter.name().to_owned(),
            tokens: messages.into_iter().map(|message| message.tokens(counter)).sum(),
        }
    }

    /// How many tokens fewer `after` are; refused where the two were not counted in one way.
    pub fn saved_by(&self, after: &Self) -> Result<i128, TwoWays> {
        if self.by != after.by {
            return Err(TwoWays {
                before: self.by.clone(),
                after: after.by.clone(),
            });
        }
        Ok(i128::from(self.tokens.value) - i128::from(after.tokens.value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Authority, Role, said};

    struct Quarters;

    impl CountTokens for Quarters {
        fn count(&self, text: &str) -> TokenCount {
            TokenCount::estimate(text.len().div_ceil(4) as u64)
        }

        fn name(&self) -> &'static str {
            "quarters"
        }
    }

    #[test]
    fn reserves_and_thresholds_are_shares_of_the_window() {
        let budget = Budget::new(200_000, 20_000);
        assert_eq!((budget.tools, budget.room()), (22_500, 157_500));
        let at = |used| budget.pressure(used);
        assert_eq!(at(94_499), Pressure::Fits);
        assert_eq!(at(94_500), Pressure::Prune);
        assert_eq!(at(126_000), Pressure::Compact);
        assert_eq!(at(180_001), Pressure::Over);
        assert_eq!("0.75".parse(), Ok(Fraction::thousandths(750)));
        assert_eq!("1".parse(), Ok(Fraction::thousandths(1000)));
        for wrong in ["1.1", "-0.5", "0.7555", "x", "", "2"] {
            assert!(wrong.parse::<Fraction>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn results_of_tools_count_and_the_rows_add_up() {
        let json = format!("{{\"a\": \"{}\"}}", "x".repeat(102_400));
        let content = said("m1.0", Kind::ToolResult, Authority::Tool, Trust::External, json);
        let result = Part::ToolResult {
            id: "c".into(),
            content,
            is_error: false,
        };
        let messages = [
            Message::user("m0", "hi"),
            Message {
                role: Role::User,
                parts: vec![result],
                is_meta: false,
            },
        ];
        let report = BudgetReport::of(
            Budget::new(200_000, 0),
            &SystemPrompt::default(),
            &[],
            &messages,
            &Quarters,
        );
        assert_eq!(
            report.used.value,
            report.shares.iter().map(|share| share.tokens.value).sum::<u64>()
        );
        assert_eq!(
            report.by_kind()[0],
            (Kind::ToolResult, TokenCount::estimate(25_603))
        );
    }

    #[test]
    fn counts_found_in_two_ways_are_not_subtracted() {
        let before = Measured {
            by: "usage".into(),
            tokens: TokenCount::exact(3_000),
        };
        let after = Measured {
            by: "heuristic".into(),
            tokens: TokenCount::estimate(9_000),
        };
        assert!(before.saved_by(&after).is_err());
        let same = Measured {
            by: "usage".into(),
            tokens: TokenCount::exact(1_000),
        };
        assert_eq!(before.saved_by(&same), Ok(2_000));
    }
}
