//! Finds hostile or hidden text before a model reads it. Pure.
//!
//! ```text
//! bytes ─ source ─┬─ fold ──── matcher ─┬─ judge ─ findings ─ policy
//!                 ├─ decode ── fold ────┤
//!                 └─ unicode ───────────┘
//! ```
//!
//! Build a [`Scanner`] once, call [`scan`] for each text, and let [`policy`] say what happens. The
//! scan is total on any bytes, reads all of them, and takes time linear in their number.
//!
//! Scanning is one wall of several. Text without findings is not safe text: who may command is
//! decided by authority and trust, whatever the scanner says.

mod broken;
mod decode;
mod finding;
mod fold;
mod heads;
mod judge;
mod lines;
mod matcher;
mod patterns;
pub mod policy;
mod region;
mod scan;
mod scanner;
mod source;
mod starts;
mod survey;
mod unicode;
mod view;
pub mod wrap;

pub use finding::{Confidence, DECODED_LIMIT, Finding, Kind, Position, Reading, Severity};
pub use lines::LineIndex;
pub use patterns::{BUILTIN, PatternError};
pub use scan::{Report, scan};
pub use scanner::{Rule, Scanner};

/// One scanner for all tests: building it takes a while without optimisation.
#[cfg(test)]
pub(crate) fn test_scanner() -> &'static Scanner {
    static SCANNER: std::sync::LazyLock<Scanner> =
        std::sync::LazyLock::new(|| Scanner::builtin().unwrap_or_else(|error| panic!("{error}")));
    &SCANNER
}
