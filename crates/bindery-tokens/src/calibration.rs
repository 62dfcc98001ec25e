//! Correcting a counter by what providers report.

use bindery_core::{CountTokens, TokenCount};
use serde::{Deserialize, Serialize};

use crate::scale;

/// A correction learned from counted texts and the usage that a provider reported for them.
///
/// A plain value: keep it, store it, give it to a [`Calibrated`] counter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Reported tokens per counted token.
    pub factor: f64,
    /// How far the corrected counts were from the reported ones: the root of the mean square of
    /// the difference, as a share of the reported count, large requests weighing more. It says
    /// nothing about texts unlike those it was learned from.
    pub error: f64,
    /// How many pairs it was learned from.
    pub pairs: u64,
}

/// One request: the tokens that were counted in it, and those that the provider reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reported {
    /// Tokens counted before sending.
    pub counted: u64,
    /// Input tokens by the provider's usage, cached ones included.
    pub reported: u64,
}

impl Calibration {
    /// Learns from pairs; those with a zero teach nothing and are passed over. None if no pair is
    /// left.
    pub fn learn(pairs: impl IntoIterator<Item = Reported>) -> Option<Self> {
        let usable = pairs
            .into_iter()
            .filter(|pair| pair.counted > 0 && pair.reported > 0);
        let pairs: Vec<_> = usable
            .map(|pair| (scale::real(pair.counted), scale::real(pair.reported)))
            .collect();
        if pairs.is_empty() {
            return None;
        }
        let counted: f64 = pairs.iter().map(|(counted, _)| counted).sum();
        let reported: f64 = pairs.iter().map(|(_, reported)| reported).sum();
        let factor = reported / counted;
        let squares = pairs.iter().map(|(counted, reported)| {
            let off = (counted * factor - reported) / reported;
            off * off * reported
        });
        let error = (squares.sum::<f64>() / reported).sqrt();
        Some(Self {
            factor,
            error,
            pairs: pairs.len() as u64,
        })
    }
}

/// A counter whose counts are corrected. What comes out is an estimate, whatever goes in: usage
/// includes framing that is nobody's text.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibrated<C> {
    inner: C,
    calibration: Calibration,
    name: String,
}

impl<C: CountTokens> Calibrated<C> {
    /// Corrects a counter. Its name gets the factor, as other counts come out.
    pub fn new(inner: C, calibration: Calibration) -> Self {
        let name = format!("{} x {:.4}", inner.name(), calibration.factor);
        Self {
            inner,
            calibration,
            name,
        }
    }

    /// The correction.
    pub fn calibration(&self) -> Calibration {
        self.calibration
    }

    /// The counter that is corrected.
    pub fn inner(&self) -> &C {
        &self.inner
    }
}

impl<C: CountTokens> CountTokens for Calibrated<C> {
    fn count(&self, text: &str) -> TokenCount {
        let counted = scale::real(self.inner.count(text).value);
        let least = u64::from(!text.is_empty());
        TokenCount::estimate(scale::whole(counted * self.calibration.factor).max(least))
    }

    fn name(&self) -> &str {
        &self.name
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    struct Bytes;

    impl CountTokens for Bytes {
        fn count(&self, text: &str) -> TokenCount {
            TokenCount::exact(text.len() as u64)
        }

        fn name(&self) -> &'static str {
            "bytes"
        }
    }

    fn pair(counted: u64, reported: u64) -> Reported {
        Reported { counted, reported }
    }

    #[test]
    fn a_steady_surplus_is_learned_without_error() {
        let learned = Calibration::learn([pair(100, 125), pair(1000, 1250)]).unwrap();
        assert_eq!(
            learned,
            Calibration {
                factor: 1.25,
                error: 0.0,
                pairs: 2
            }
        );
        let counter = Calibrated::new(Bytes, learned);
        assert_eq!(counter.count("12345678"), TokenCount::estimate(10));
        assert_eq!(counter.count(""), TokenCount::estimate(0));
        assert_eq!(counter.name(), "bytes x 1.2500");
    }

    #[test]
    fn scatter_becomes_the_error() {
        // Both weigh alike, and the factor is one: each is a tenth off.
        let learned = Calibration::learn([pair(900, 1000), pair(1100, 1000)]).unwrap();
        assert!((learned.factor - 1.0).abs() < 1e-12, "{learned:?}");
        assert!((learned.error - 0.1).abs() < 1e-12, "{learned:?}");
    }

    #[test]
    fn nothing_is_learned_from_nothing() {
        assert_eq!(Calibration::learn([]), None);
        assert_eq!(Calibration::learn([pair(0, 12), pair(12, 0)]), None);
        assert_eq!(Calibration::learn([pair(0, 12), pair(10, 20)]).unwrap().pairs, 1);
    }

    proptest! {
        #[test]
        fn corrected_sums_match_the_reported_ones(
            pairs in prop::collection::vec((1_u64..100_000, 1_u64..100_000), 1..20),
        ) {
            let pairs: Vec<_> = pairs.into_iter().map(|(c, r)| pair(c, r)).collect();
            let learned = Calibration::learn(pairs.iter().copied()).unwrap();
            let corrected: f64 =
                pairs.iter().map(|pair| scale::real(pair.counted) * learned.factor).sum();
            let reported = scale::real(pairs.iter().map(|pair| pair.reported).sum());
            prop_assert!((corrected / reported - 1.0).abs() < 1e-9);
            prop_assert!(learned.error >= 0.0 && learned.error.is_finite());
        }
    }
}
