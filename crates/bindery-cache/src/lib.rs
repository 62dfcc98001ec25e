//! Provider prompt caches, understood: what a request will read, write and pay, and why it missed. No IO.
//!
//! Read a body with [`RequestReader`], count it with [`Measurer`], then ask: [`Explainer`] says why it missed,
//! [`plan::plan`] where breakpoints belong, [`simulator()`] and [`simulate()`] what it would cost by the published
//! rules ([`RuleBook`]) and prices ([`PriceBook`]), [`meter()`] where its tokens are.
//!
//! ```
//! use bindery_cache::typing::Typing;
//! use bindery_cache::{Exchange, Explainer, Format, Measurer, PriceBook, RequestReader, RuleBook, Verdict};
//! # struct ByFour;
//! # impl bindery_core::CountTokens for ByFour {
//! #     fn count(&self, text: &str) -> bindery_core::TokenCount {
//! #         bindery_core::TokenCount::estimate(text.len() as u64 / 4)
//! #     }
//! #     fn name(&self) -> &str { "bytes by four" }
//! # }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let reader = RequestReader::new(Typing::built_in()?);
//! let (rules, prices) = (RuleBook::built_in()?, PriceBook::built_in()?);
//! let mut measurer = Measurer::new(&ByFour);
//! let mut explainer = Explainer::new(&rules, &prices);
//!
//! let body = |clock: &str| {
//!     let system = format!("It is {clock} now. {}", "You are careful. ".repeat(500));
//!     format!(r#"{{"model":"claude-opus-5","messages":[{{"role":"user","content":"hi"}}],
//!         "system":[{{"type":"text","text":"{system}","cache_control":{{"type":"ephemeral"}}}}]}}"#)
//! };
//! let first = reader.read(Format::Anthropic, body("08:00:01").as_bytes())?;
//! explainer.observe(Exchange::new(measurer.measure(&first.into()), 0))?;
//! let second = reader.read(Format::Anthropic, body("08:00:17").as_bytes())?;
//! let why = explainer.observe(Exchange::new(measurer.measure(&second.into()), 16_000))?;
//!
//! assert_eq!(why.verdict, Verdict::PrefixChanged);
//! assert_eq!(why.change.unwrap().text_offset, 12);
//! assert_eq!(why.advice.unwrap().code, "clock");
//! # Ok(())
//! # }
//! ```

mod by_model;
mod compare;
mod diagnosis;
#[cfg(test)]
mod fixtures;
pub mod forecast;
mod format;
mod import;
mod json;
mod measure;
mod meter;
mod money;
pub mod plan;
mod policy;
mod prefix;
mod prices;
mod request;
mod rules;
mod segment;
mod settings;
mod simulator;
mod trace;
mod transcript;
pub mod typing;
pub mod why;

pub use compare::{Comparison, SegmentDifference, compare};
pub use diagnosis::Diagnosis;
pub use format::{Format, UnknownFormat};
pub use import::{ImportError, Imported, Skipped, import};
pub use measure::{Measured, Measurer};
pub use meter::{MeterRow, meter};
pub use money::{Money, Price, PriceError};
pub use policy::{Policy, Run, Simulated, Simulation, simulate};
pub use prefix::PrefixChain;
pub use prices::{Cost, PriceBook, PriceRow, PriceTableError, Tier};
pub use request::{ReadError, RequestReader, WireRequest};
pub use rules::{CacheRules, Family, Number, RuleBook, RuleError};
pub use segment::{Form, Mark, Region, Segment, Ttl};
pub use settings::{SettingChange, Settings};
pub use simulator::{Boundary, Call, Outcome, Refusal, Simulator, simulator};
pub use trace::{Exchange, Trace};
pub use transcript::{TranscriptExchange, TranscriptKind, TranscriptProblem, TranscriptReader, UNRECORDED};
pub use why::{Explainer, Verdict, Why};
