//! Between whole tokens and fractions of them, in one place.

/// A count as a real number; exact up to 2^53 tokens.
#[expect(clippy::cast_precision_loss, reason = "no text has 2^53 tokens")]
pub(crate) fn real(count: u64) -> f64 {
    count as f64
}

/// The nearest count; nothing below zero.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and what is not a number becomes zero"
)]
pub(crate) fn whole(tokens: f64) -> u64 {
    tokens.round() as u64
}
