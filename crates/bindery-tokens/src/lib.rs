//! Token counters: exact tables where they are published, calibrated estimates elsewhere.
//!
//! [`Tokenizers`] gives each model its [`Counter`]; [`Calibrated`] corrects one by what a provider
//! reported; [`Windows`] knows how many tokens a model takes, [`Makers`] whose it is. What is counted exactly, what is
//! estimated and how wrong it may be is in `docs/tokens.md`.
//!
//! Nothing here reads a file, and nothing has to be prepared: the exact tables are laid out by the
//! build script so that they are used where they lie. Without the default feature `exact` there
//! are no tables, and every count is an estimate that says so.

mod calibration;
mod classes;
mod counter;
mod data;
mod encoding;
mod estimate;
#[cfg(feature = "exact")]
mod exact;
mod makers;
mod models;
mod scale;
mod tokenizers;
mod windows;

pub use bindery_core::{CountTokens, TokenCount};
pub use calibration::{Calibrated, Calibration, Reported};
pub use counter::Counter;
pub use data::DataError;
pub use encoding::Encoding;
pub use estimate::{ErrorBound, Estimate};
#[cfg(feature = "exact")]
pub use exact::ExactCounter;
pub use makers::Makers;
pub use tokenizers::Tokenizers;
pub use windows::Windows;
