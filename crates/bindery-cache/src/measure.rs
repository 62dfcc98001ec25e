//! A request with the tokens of its segments.

use std::collections::BTreeMap;
use std::sync::Arc;

use bindery_core::{ContentHash, CountTokens, TokenCount};

use crate::{Form, WireRequest};

/// A request whose segments are counted. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Measured {
    request: Arc<WireRequest>,
    /// For each segment, the tokens up to its end.
    ends: Arc<[u64]>,
    exact: bool,
}

/// Counts tokens and remembers them, so that a history is counted once.
pub struct Measurer<'c> {
    counter: &'c dyn CountTokens,
    known: BTreeMap<ContentHash, TokenCount>,
    image_tokens: u64,
}

impl<'c> Measurer<'c> {
    /// What an image is taken to cost, unless set: providers count pixels, which a body does not tell.
    pub const IMAGE_TOKENS: u64 = 1_500;

    /// Counts with this counter.
    pub fn new(counter: &'c dyn CountTokens) -> Self {
        Self {
            counter,
            known: BTreeMap::new(),
            image_tokens: Self::IMAGE_TOKENS,
        }
    }

    /// Takes another number for images.
    #[must_use]
    pub fn image_tokens(mut self, tokens: u64) -> Self {
        self.image_tokens = tokens;
        self
    }

    /// Counts a request. Images and documents are assumed, and make the count an estimate.
    pub fn measure(&mut self, request: &Arc<WireRequest>) -> Measured {
        let mut total = TokenCount::ZERO;
        let mut ends = Vec::with_capacity(request.segments().len());
        for segment in request.segments() {
            total += match segment.form {
                Form::ToolOutsidePrefix => TokenCount::ZERO,
                Form::Image | Form::Document => TokenCount::estimate(self.image_tokens),
                _ => *self
                    .known
                    .entry(segment.hash)
                    .or_insert_with(|| self.counter.count(&request.text(segment))),
            };
            ends.push(total.value);
        }
        Measured {
            request: request.clone(),
            ends: ends.into(),
            exact: total.exact,
        }
    }
}

impl Measured {
    /// A request whose tokens somebody else counted, segment by segment. Missing counts are 0, and what
    /// stands outside the prefix counts nothing.
    pub fn with_tokens(request: &Arc<WireRequest>, tokens: &[u64]) -> Self {
        let mut total = 0_u64;
        let counts = tokens.iter().copied().chain(std::iter::repeat(0));
        let ends = request.segments().iter().zip(counts).map(|(segment, tokens)| {
            total = total.saturating_add(if segment.in_prefix() { tokens } else { 0 });
            total
        });
        Self {
            ends: ends.collect(),
            exact: true,
            request: request.clone(),
        }
    }

    /// The same, with the whole stretched to what the provider counted. Every part keeps its share.
    #[must_use]
    pub fn scaled_to(&self, total: u64) -> Self {
        let counted = u128::from(self.total());
        if counted == 0 {
            return self.clone();
        }
        let scale = |end: &u64| {
            let scaled = u128::from(*end) * u128::from(total) / counted;
            u64::try_from(scaled).unwrap_or(u64::MAX)
        };
        Self {
            request: self.request.clone(),
            ends: self.ends.iter().map(scale).collect(),
            exact: false,
        }
    }

    /// The same, as counts that are not the model's own.
    #[must_use]
    pub fn estimated(self) -> Self {
        Self { exact: false, ..self }
    }

    /// The same counts for the same request with other marks.
    #[must_use]
    pub fn with_request(&self, request: WireRequest) -> Self {
        Self {
            request: Arc::new(request),
            ends: self.ends.clone(),
            exact: self.exact,
        }
    }

    /// The request.
    pub fn request(&self) -> &WireRequest {
        &self.request
    }

    /// The tokens of the first `depth` segments.
    pub fn end(&self, depth: usize) -> u64 {
        match depth.min(self.ends.len()).checked_sub(1) {
            Some(last) => self.ends.get(last).copied().unwrap_or(0),
            None => 0,
        }
    }

    /// The tokens of one segment.
    pub fn tokens(&self, index: usize) -> u64 {
        self.end(index + 1).saturating_sub(self.end(index))
    }

    /// All tokens.
    pub fn total(&self) -> u64 {
        self.end(self.ends.len())
    }

    /// Whether the counts are the model's own.
    pub fn is_exact(&self) -> bool {
        self.exact
    }
}
