//! What one reply cost, in tokens, in buckets that never overlap.
//!
//! Providers count in two ways. Anthropic's `input_tokens` leave out what the cache read or wrote;
//! OpenAI, DeepSeek and Gemini count it within the prompt. Whoever adds cached tokens to an inclusive
//! prompt counts them twice; whoever drops the cache counters of an exclusive one loses most of the
//! bill. So the way of counting is stated once, where a report is read, and from then on every number
//! is in exactly one bucket.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// Tokens of one reply, or of many added up. A token is in exactly one bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Usage {
    /// Input that was neither read from a cache nor written to one.
    pub uncached: u64,
    /// Input read from a cache.
    pub read: u64,
    /// Input written for five minutes (Anthropic).
    pub write_5m: u64,
    /// Input written for one hour (Anthropic).
    pub write_1h: u64,
    /// Input written for thirty minutes (OpenAI from GPT-5.6).
    pub write_30m: u64,
    /// Input written for twelve hours (OpenAI Responses from GPT-5.6).
    pub write_12h: u64,
    /// Output that the reader sees: text and tool calls.
    pub output: u64,
    /// Output that was thought, where the provider tells it apart; billed as output.
    pub reasoning: u64,
}

/// What a provider's prompt or input count means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Counting {
    /// Without what the cache read and wrote (Anthropic, Bedrock).
    Exclusive,
    /// With it (OpenAI, DeepSeek, Gemini, OpenTelemetry).
    Inclusive,
}

/// A provider's own numbers: `output` includes `reasoning` with all of them, and `input` is as
/// [`Counting`] says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReportedUsage {
    /// The input or prompt count.
    pub input: u64,
    /// Read from a cache.
    pub read: u64,
    /// Written for five minutes.
    pub write_5m: u64,
    /// Written for one hour.
    pub write_1h: u64,
    /// Written for thirty minutes.
    pub write_30m: u64,
    /// Written for twelve hours.
    pub write_12h: u64,
    /// The output or completion count.
    pub output: u64,
    /// The part of it that was thought.
    pub reasoning: u64,
}

/// Counters of one report that contradict one another.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{part} ({part_tokens} tokens) is more than {whole} ({whole_tokens} tokens) that should include it")]
pub struct UsageContradiction {
    part: &'static str,
    part_tokens: u64,
    whole: &'static str,
    whole_tokens: u64,
}

impl Usage {
    /// All input: what the model read, whatever it cost.
    pub fn input(&self) -> u64 {
        [self.uncached, self.read, self.written()]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// All input written to a cache, whatever its lifetime.
    pub fn written(&self) -> u64 {
        [self.write_5m, self.write_1h, self.write_30m, self.write_12h]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// All output, thought or seen: what is billed as output.
    pub fn generated(&self) -> u64 {
        self.output.saturating_add(self.reasoning)
    }

    /// Input and output together.
    pub fn total(&self) -> u64 {
        self.input().saturating_add(self.generated())
    }
}

impl ReportedUsage {
    /// The buckets. A part larger than its whole fills the whole; [`ReportedUsage::check`] tells.
    pub fn buckets(&self, counting: Counting) -> Usage {
        let cached = self.cached();
        let uncached = match counting {
            Counting::Exclusive => self.input,
            Counting::Inclusive => self.input.saturating_sub(cached),
        };
        let reasoning = self.reasoning.min(self.output);
        Usage {
            uncached,
            read: self.read,
            write_5m: self.write_5m,
            write_1h: self.write_1h,
            write_30m: self.write_30m,
            write_12h: self.write_12h,
            output: self.output.saturating_sub(reasoning),
            reasoning,
        }
    }

    /// Whether the counters can all be true.
    pub fn check(&self, counting: Counting) -> Result<(), UsageContradiction> {
        let within = |part, part_tokens, whole, whole_tokens| {
            let contradiction = UsageContradiction {
                part,
                part_tokens,
                whole,
                whole_tokens,
            };
            if part_tokens > whole_tokens {
                Err(contradiction)
            } else {
                Ok(())
            }
        };
        if counting == Counting::Inclusive {
            within("cached input", self.cached(), "the input", self.input)?;
        }
        within("reasoning", self.reasoning, "the output", self.output)
    }

    fn cached(&self) -> u64 {
        [
            self.read,
            self.write_5m,
            self.write_1h,
            self.write_30m,
            self.write_12h,
        ]
        .into_iter()
        .fold(0, u64::saturating_add)
    }
}

impl Add for Usage {
    type Output = Self;

    /// Bucket by bucket; at the end of the number range it stays there.
    fn add(self, other: Self) -> Self {
        Self {
            uncached: self.uncached.saturating_add(other.uncached),
            read: self.read.saturating_add(other.read),
            write_5m: self.write_5m.saturating_add(other.write_5m),
            write_1h: self.write_1h.saturating_add(other.write_1h),
            write_30m: self.write_30m.saturating_add(other.write_30m),
            write_12h: self.write_12h.saturating_add(other.write_12h),
            output: self.output.saturating_add(other.output),
            reasoning: self.reasoning.saturating_add(other.reasoning),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Usage {
    fn sum<I: Iterator<Item = Self>>(usages: I) -> Self {
        usages.fold(Self::default(), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn cached_input_is_counted_once_whichever_way_a_provider_counts() {
        let openai = ReportedUsage {
            input: 1000,
            read: 900,
            output: 20,
            ..ReportedUsage::default()
        };
        let anthropic = ReportedUsage {
            input: 6,
            read: 1000,
            write_5m: 50,
            output: 10,
            ..ReportedUsage::default()
        };
        let openai = openai.buckets(Counting::Inclusive);
        let anthropic = anthropic.buckets(Counting::Exclusive);
        assert_eq!((openai.uncached, openai.total()), (100, 1020));
        assert_eq!((anthropic.uncached, anthropic.total()), (6, 1066));
    }

    #[test]
    fn sums_keep_every_counter() {
        let one = Usage {
            uncached: 53,
            read: 2560,
            output: 20,
            ..Usage::default()
        };
        let sum: Usage = [one, one].into_iter().sum();
        assert_eq!(
            (sum.uncached, sum.read, sum.written(), sum.output),
            (106, 5120, 0, 40)
        );
    }

    #[test]
    fn a_contradiction_is_told_and_does_not_underflow() {
        let report = ReportedUsage {
            input: 10,
            read: 12,
            output: 1,
            reasoning: 5,
            ..ReportedUsage::default()
        };
        insta::assert_snapshot!(
            report.check(Counting::Inclusive).unwrap_err(),
            @"cached input (12 tokens) is more than the input (10 tokens) that should include it"
        );
        let usage = report.buckets(Counting::Inclusive);
        assert_eq!((usage.uncached, usage.output, usage.reasoning), (0, 0, 1));
    }

    #[test]
    fn the_serialised_form_names_every_bucket() {
        let json = serde_json::to_string(&Usage::default()).unwrap();
        insta::assert_snapshot!(json, @r#"{"uncached":0,"read":0,"write_5m":0,"write_1h":0,"write_30m":0,"write_12h":0,"output":0,"reasoning":0}"#);
        assert_eq!(serde_json::from_str::<Usage>("{}").unwrap(), Usage::default());
    }

    proptest! {
        #[test]
        fn an_inclusive_total_is_what_the_provider_counted(
            read in 0..9999u64, write in 0..9999u64, rest in 0..9999u64, seen in 0..9999u64, reasoning in 0..9999u64,
        ) {
            let report = ReportedUsage {
                input: read + write + rest,
                read,
                write_30m: write,
                output: seen + reasoning,
                reasoning,
                ..ReportedUsage::default()
            };
            prop_assert!(report.check(Counting::Inclusive).is_ok());
            let usage = report.buckets(Counting::Inclusive);
            prop_assert_eq!(usage.total(), report.input + report.output);
            prop_assert_eq!((usage.uncached, usage.output), (rest, seen));
        }
    }
}
