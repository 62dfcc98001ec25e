//! Provider prompt caches, understood: what a request will read, write and pay, and why it missed. No IO.

mod by_model;
mod diagnosis;
#[cfg(test)]
mod fixtures;
mod format;
mod import;
mod json;
mod measure;
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
pub mod typing;
pub mod why;

pub use diagnosis::Diagnosis;
pub use format::{Format, UnknownFormat};
pub use import::{ImportError, Imported, Skipped, import};
pub use measure::{Measured, Measurer};
pub use money::{Money, Price, PriceError};
pub use policy::{Policy, Run, Simulated, simulate};
pub use prefix::PrefixChain;
pub use prices::{Cost, PriceBook, PriceRow, PriceTableError, Tier};
pub use request::{ReadError, RequestReader, WireRequest};
pub use rules::{CacheRules, Family, Number, RuleBook, RuleError};
pub use segment::{Form, Mark, Region, Segment, Ttl};
pub use settings::{SettingChange, Settings};
pub use simulator::{Boundary, Call, Outcome, Refusal, Simulator, simulator};
pub use trace::{Exchange, Trace};
pub use why::{Explainer, Verdict, Why};
