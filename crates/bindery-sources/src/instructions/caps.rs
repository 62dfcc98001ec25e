//! Size limits: what each file asks for, what it is given, and what is lost.

mod ends;
mod lost;
mod must_keep;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::manifest::{Lost, fill_path};
use crate::dialect::{Cap, CapAcross, CapUnit, Dialect, FixedLimit, Keep};

use ends::{Kept, cut_ends, first_chars};
pub(super) use lost::{lost_sections, marked_titles, measure, must_sections};

/// What a cap leaves of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// All of it.
    Whole,
    /// A part.
    Part {
        /// The text that is sent.
        text: String,
        /// Bytes of the file that are sent.
        bytes: u64,
        lost: Lost,
    },
    /// Nothing.
    Nothing {
        /// The limit that was used up.
        limit: u64,
    },
}

/// The limits of a run, and how much of the shared ones is used.
#[derive(Debug)]
pub(super) struct Budget<'a> {
    caps: &'a BTreeMap<String, Cap>,
    limits: BTreeMap<String, u64>,
    used: BTreeMap<String, u64>,
    /// What is set aside for files that were not met yet.
    reserved: Reserve,
    /// What the files that were met must keep.
    met: Reserve,
}

/// A file before its cap.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) path: &'a Path,
    pub(super) raw: &'a [u8],
    pub(super) text: &'a str,
    /// Parts of the text that must be kept, in order; none where the cut is the client's own.
    pub(super) must: &'a [Range<usize>],
}

/// Units of shared limits that later files need for what must be kept, by cap and path.
pub(super) type Reserve = BTreeMap<(String, PathBuf), u64>;

impl<'a> Budget<'a> {
    /// The limits of a dialect, as the client's settings and the model's window make them.
    pub(super) fn new(dialect: &'a Dialect, window: Option<u64>, set: &BTreeMap<String, u64>) -> Self {
        let limits = dialect.caps.iter().map(|(name, cap)| {
            let limit = set
                .get(name)
                .copied()
                .unwrap_or_else(|| limit_of(&cap.limit, window));
            (name.clone(), limit)
        });
        Self {
            caps: &dialect.caps,
            limits: limits.collect(),
            used: BTreeMap::new(),
            reserved: Reserve::new(),
            met: Reserve::new(),
        }
    }

    /// Sets units aside for files to come.
    pub(super) fn reserve(&mut self, reserved: Reserve) {
        self.reserved = reserved;
    }

    /// What the files that were met must keep of shared limits.
    pub(super) fn met(&self) -> &Reserve {
        &self.met
    }

    /// Notes what a file must keep of a shared limit, which is then no longer set aside.
    fn meet(&mut self, name: &str, asked: Asked<'_>) {
        let key = (name.to_owned(), asked.path.to_owned());
        self.reserved.remove(&key);
        if let Some(cap) = self.caps.get(name).filter(|_| !asked.must.is_empty()) {
            self.met.insert(key, must_keep::units(cap, asked));
        }
    }

    pub(super) fn cap(&self, name: &str) -> Option<&'a Cap> {
        self.caps.get(name)
    }

    pub(super) fn limit(&self, name: &str) -> u64 {
        self.limits.get(name).copied().unwrap_or(u64::MAX)
    }

    fn left(&self, name: &str) -> u64 {
        let reserved: u64 = self
            .reserved
            .iter()
            .filter(|((cap, _), _)| cap == name)
            .map(|(_, units)| units)
            .sum();
        self.limit(name)
            .saturating_sub(self.used.get(name).copied().unwrap_or_default())
            .saturating_sub(reserved)
    }

    fn spend(&mut self, name: &str, units: u64) {
        let used = self.used.entry(name.to_owned()).or_default();
        *used = used.saturating_add(units);
    }

    /// What a cap gives a file. Text of white space costs nothing.
    pub(super) fn give(&mut self, name: &str, asked: Asked<'_>) -> Verdict {
        let Some(cap) = self.caps.get(name) else {
            return Verdict::Whole;
        };
        match cap.across {
            CapAcross::Joined => Verdict::Whole,
            CapAcross::All => self.give_shared(name, cap, asked),
            CapAcross::File => self.give_own(name, cap, asked),
        }
    }

    fn give_shared(&mut self, name: &str, cap: &Cap, asked: Asked<'_>) -> Verdict {
        self.meet(name, asked);
        let left = self.left(name);
        let verdict = cut(cap, left, asked);
        match &verdict {
            Verdict::Whole => self.spend(name, size(cap.unit, asked)),
            Verdict::Part { .. } => self.spend(name, left),
            Verdict::Nothing { .. } => {
                return Verdict::Nothing {
                    limit: self.limit(name),
                };
            }
        }
        verdict.with_limit(self.limit(name))
    }

    fn give_own(&mut self, name: &str, cap: &Cap, asked: Asked<'_>) -> Verdict {
        let own = self.limit(name);
        let Some(total) = &cap.total else {
            return cut(cap, own, asked);
        };
        self.meet(total, asked);
        let left = self.left(total);
        let least = self.caps.get(total).map_or(0, |total| total.least_useful);
        if left < least || left == 0 {
            return Verdict::Nothing {
                limit: self.limit(total),
            };
        }
        let verdict = cut(cap, own.min(left), asked);
        let given = match &verdict {
            Verdict::Whole => size(cap.unit, asked),
            Verdict::Part { text, .. } => text.chars().count() as u64,
            Verdict::Nothing { .. } => 0,
        };
        self.spend(total, given);
        verdict.with_limit(if own <= left { own } else { self.limit(total) })
    }
}

impl Verdict {
    fn with_limit(mut self, limit: u64) -> Self {
        if let Self::Part { lost, .. } = &mut self {
            lost.limit = limit;
        }
        self
    }
}

fn limit_of(limit: &FixedLimit, window: Option<u64>) -> u64 {
    match limit {
        FixedLimit::Fixed(limit) => *limit,
        FixedLimit::Dynamic(rule) => {
            let Some(window) = window else {
                return rule.at_least;
            };
            #[expect(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "windows are far below 2^52, and the product is not negative"
            )]
            let scaled = (window as f64 * rule.per_token) as u64;
            scaled.clamp(rule.at_least, rule.at_most)
        }
    }
}

fn size(unit: CapUnit, asked: Asked<'_>) -> u64 {
    match unit {
        CapUnit::Bytes => asked.raw.len() as u64,
        CapUnit::Characters => asked.text.chars().count() as u64,
    }
}

fn size_of(unit: CapUnit, text: &str) -> u64 {
    match unit {
        CapUnit::Bytes => text.len() as u64,
        CapUnit::Characters => text.chars().count() as u64,
    }
}

fn cut(cap: &Cap, limit: u64, asked: Asked<'_>) -> Verdict {
    if let Some(kept) = cut_around(cap, limit, &heading(cap, asked.path), asked) {
        return kept.verdict(cap.unit, asked, limit);
    }
    match (cap.unit, cap.cut.keep) {
        (CapUnit::Bytes, _) => cut_bytes(limit, asked),
        (CapUnit::Characters, Keep::Start) => cut_start(cap, limit, asked),
        (CapUnit::Characters, Keep::Ends) => {
            let Some(kept) = cut_ends(cap, limit, &heading(cap, asked.path), asked) else {
                return Verdict::Whole;
            };
            kept.verdict(cap.unit, asked, limit)
        }
    }
}

/// Cuts a text that is too long so that what must be kept is; `None` where nothing must be, or where that
/// alone is over the limit.
fn cut_around(cap: &Cap, limit: u64, heading: &str, asked: Asked<'_>) -> Option<Kept> {
    let is_over = size(cap.unit, asked) + size_of(cap.unit, heading) > limit;
    (is_over && !asked.must.is_empty())
        .then(|| must_keep::cut_around(cap, limit, heading, asked))
        .flatten()
}

/// Cuts files that were joined; `None` where they fit.
pub(super) fn cut_joined(cap: &Cap, limit: u64, asked: Asked<'_>) -> Option<Kept> {
    cut_around(cap, limit, "", asked).or_else(|| cut_ends(cap, limit, "", asked))
}

/// The text that counts with a file.
fn heading(cap: &Cap, path: &Path) -> String {
    let heading = cap.heading.as_deref();
    heading
        .map(|heading| fill_path(heading, path))
        .unwrap_or_default()
}

/// The first bytes, even inside a character; a cut that leaves white space leaves nothing.
fn cut_bytes(limit: u64, asked: Asked<'_>) -> Verdict {
    let limit_here = usize::try_from(limit).unwrap_or(usize::MAX);
    if asked.raw.len() <= limit_here {
        return Verdict::Whole;
    }
    let kept = asked.raw.get(..limit_here).unwrap_or_default();
    let text = String::from_utf8_lossy(kept).into_owned();
    if text.trim().is_empty() {
        return Verdict::Nothing { limit };
    }
    let whole = String::from_utf8_lossy(asked.raw);
    let lost_bytes = asked.raw.len() - kept.len();
    let at = whole.floor_char_boundary(kept.len());
    let lost = measure(
        &whole,
        std::slice::from_ref(&(0..at)),
        limit,
        "bytes",
        lost_bytes as u64,
    );
    Verdict::Part {
        text,
        bytes: kept.len() as u64,
        lost,
    }
}

fn cut_start(cap: &Cap, limit: u64, asked: Asked<'_>) -> Verdict {
    let count = asked.text.chars().count() as u64;
    if count <= limit {
        return Verdict::Whole;
    }
    let kept = first_chars(asked.text, limit);
    let lost = measure(
        asked.text,
        std::slice::from_ref(&(0..kept.len())),
        limit,
        "characters",
        count - limit,
    );
    let marker = ends::fill_marker(&cap.cut.marker, asked.path, limit, 0, count);
    Verdict::Part {
        bytes: kept.len() as u64,
        text: format!("{kept}{marker}"),
        lost,
    }
}
