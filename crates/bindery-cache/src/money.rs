//! Money, exact.
//!
//! The unit is a millionth of a millionth of a dollar: prices are quoted in dollars a million tokens,
//! with up to six decimals, so that one token's price is a whole number of these. Nothing is rounded
//! before it is shown.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub};

use serde::{Serialize, Serializer};

/// How many units a dollar has.
const PER_DOLLAR: i128 = 1_000_000_000_000;

/// An amount in US dollars, or a difference of amounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Money(i128);

/// The price of one token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Price(u64);

/// A number that is no price.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PriceError {
    /// It is no decimal number.
    #[error("`{0}` is not a price: write dollars as a decimal number")]
    NotANumber(String),
    /// It has more digits than a price can have.
    #[error(
        "`{0}` is finer or larger than prices are kept: a token's price has at most twelve decimals of a dollar"
    )]
    OutOfRange(String),
}

impl Money {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// The amount in millionths of a millionth of a dollar.
    pub fn picodollars(self) -> i128 {
        self.0
    }
}

impl Price {
    /// Dollars a million tokens: `"0.25"`.
    pub fn per_million(text: &str) -> Result<Self, PriceError> {
        Self::decimal(text, 6)
    }

    /// Dollars a token, as price lists write them: `"2.5e-07"`.
    pub fn per_token(text: &str) -> Result<Self, PriceError> {
        Self::decimal(text, 12)
    }

    /// A share of it in thousandths, if that is a whole number of units.
    pub fn per_mille(self, share: u64) -> Option<Self> {
        let product = self.0.checked_mul(share)?;
        product.is_multiple_of(1000).then_some(Self(product / 1000))
    }

    /// Dollars a million tokens, as a person writes them.
    pub fn to_per_million(self) -> String {
        decimal_text(i128::from(self.0), 6, 0)
    }

    /// Reads `digits[.digits][e±digits]` and scales it by a power of ten, exactly.
    fn decimal(text: &str, scale: i32) -> Result<Self, PriceError> {
        let not = || PriceError::NotANumber(text.to_owned());
        let out_of_range = || PriceError::OutOfRange(text.to_owned());
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().map_err(|_| not())?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: String = [whole, fraction].concat();
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(not());
        }
        let value: u64 = digits.parse().map_err(|_| out_of_range())?;
        let places = i32::try_from(fraction.len()).map_err(|_| out_of_range())?;
        let power = exponent
            .checked_add(scale)
            .and_then(|sum| sum.checked_sub(places))
            .ok_or_else(out_of_range)?;
        if value == 0 {
            return Ok(Self(0));
        }
        let factor = 10_u64
            .checked_pow(power.unsigned_abs())
            .ok_or_else(out_of_range)?;
        if power >= 0 {
            value.checked_mul(factor).map(Self).ok_or_else(out_of_range)
        } else if value.is_multiple_of(factor) {
            Ok(Self(value / factor))
        } else {
            Err(out_of_range())
        }
    }
}

/// Tokens times price. Saturates far beyond any bill.
impl Mul<Price> for u64 {
    type Output = Money;

    fn mul(self, price: Price) -> Money {
        Money(i128::from(self).saturating_mul(i128::from(price.0)))
    }
}

impl Add for Money {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Money {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Money {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

/// In dollars, to the hundredth of a cent; amounts below that with all their digits.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = PER_DOLLAR / 10_000;
        let text = if self.0 == 0 || self.0.abs() >= unit {
            decimal_text((self.0.abs() + unit / 2) / unit, 4, 2)
        } else {
            decimal_text(self.0.abs(), 12, 2)
        };
        let sign = if self.0 < 0 { "-" } else { "" };
        f.pad(&format!("{sign}${text}"))
    }
}

/// In machine-readable output: dollars as a decimal string, every digit.
impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let sign = if self.0 < 0 { "-" } else { "" };
        serializer.serialize_str(&format!("{sign}{}", decimal_text(self.0.abs(), 12, 0)))
    }
}

impl Serialize for Price {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_per_million())
    }
}

/// A whole number of 10^-`places`, with at least `least` decimals and no zeros behind them.
fn decimal_text(value: i128, places: usize, least: usize) -> String {
    let digits = format!("{value:0>width$}", width = places + 1);
    let (whole, fraction) = digits
        .split_at_checked(digits.len() - places)
        .unwrap_or((&digits, ""));
    let kept = fraction.trim_end_matches('0').len().max(least.min(places));
    match fraction.get(..kept) {
        Some(fraction) if !fraction.is_empty() => format!("{whole}.{fraction}"),
        _ => whole.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn prices_are_read_exactly() {
        for (text, expected) in [
            ("4", "4"),
            ("0.25", "0.25"),
            ("0.003625", "0.003625"),
            ("12.50", "12.5"),
            ("0", "0"),
        ] {
            assert_eq!(Price::per_million(text).unwrap().to_per_million(), expected);
        }
        for (text, expected) in [
            ("5e-06", "5"),
            ("2.5e-07", "0.25"),
            ("3.625e-09", "0.003625"),
            ("0.0", "0"),
            ("1.25E-05", "12.5"),
        ] {
            assert_eq!(Price::per_token(text).unwrap().to_per_million(), expected);
        }
    }

    #[test]
    fn what_is_no_price_is_refused() {
        for text in ["", ".", "-1", "1e", "a", "1.2.3", "NaN"] {
            assert!(
                matches!(Price::per_million(text), Err(PriceError::NotANumber(_))),
                "{text}"
            );
        }
        for text in ["0.0000001", "99999999999999999999", "1e30", "1e-2147483648"] {
            assert!(
                matches!(Price::per_million(text), Err(PriceError::OutOfRange(_))),
                "{text}"
            );
        }
    }

    #[test]
    fn amounts_are_shown_as_people_read_them() {
        let price = Price::per_million("0.25").unwrap();
        assert_eq!((1_000_000 * price).to_string(), "$0.25");
        assert_eq!((1 * price).to_string(), "$0.00000025");
        assert_eq!((1_234 * price).to_string(), "$0.0003");
        assert_eq!((Money::ZERO - 8_000_000 * price).to_string(), "-$2.00");
        assert_eq!(serde_json::to_string(&(1_234 * price)).unwrap(), r#""0.0003085""#);
    }

    proptest! {
        #[test]
        fn a_sum_of_parts_is_the_price_of_the_whole(parts in prop::collection::vec(0..2_000_000u64, 0..50), price in 0..90_000_000u64) {
            let price = Price(price);
            let whole: u64 = parts.iter().sum();
            prop_assert_eq!(parts.into_iter().map(|part| part * price).sum::<Money>(), whole * price);
            prop_assert_eq!(Price::per_million(&price.to_per_million()).unwrap(), price);
        }
    }
}
