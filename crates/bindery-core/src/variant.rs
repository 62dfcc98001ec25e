//! Who gets which variant of a prompt: weighted rendezvous hashing.
//!
//! Every variant draws a number for every unit (a user, a project), and the unit gets the one with the best
//! draw for its weight. What a variant draws depends on nothing but the experiment's name, its own and the
//! unit's, so that a new weight moves only units to or from the variant whose weight it is, and a variant
//! that comes or goes takes or leaves only its own.
//!
//! The draw is the first eight bytes, most significant first, of the BLAKE3 hash of the fields `variant`,
//! experiment, variant, unit ([`ContentHash::of_fields`]). With it as a number `u` between 0 and 1 the variant
//! of the largest `weight / -log2(u)` wins; in whole numbers, so that every machine comes to the same.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ContentHash;

/// A variant with its weight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weighted {
    /// Its name, unique within its experiment.
    pub name: Arc<str>,
    /// How much of the units it gets, beside the others; 0 for none.
    pub weight: u32,
}

/// The place of the variant that a unit gets; `None` where no variant has a weight. Among equals, which no
/// two hashes are, the first counts.
pub fn choose(experiment: &str, unit: &str, variants: &[Weighted]) -> Option<usize> {
    let mut best: Option<(usize, u128, u128)> = None;
    for (index, variant) in variants
        .iter()
        .enumerate()
        .filter(|(_, variant)| variant.weight > 0)
    {
        let weight = u128::from(variant.weight);
        let cost = u128::from(rarity(draw(experiment, &variant.name, unit)));
        // weight / cost against weight / cost, without dividing.
        if best.is_none_or(|(_, other, its)| weight * its > other * cost) {
            best = Some((index, weight, cost));
        }
    }
    best.map(|(index, _, _)| index)
}

fn draw(experiment: &str, variant: &str, unit: &str) -> u64 {
    let fields = [experiment, variant, unit].map(str::as_bytes);
    let hash = ContentHash::of_fields("variant", fields);
    let first = hash.as_bytes().iter().take(8);
    first.fold(0, |number, byte| (number << 8) | u64::from(*byte))
}

/// `-log2(draw / 2^64)` in units of 2^-32, at least 1.
fn rarity(draw: u64) -> u64 {
    let draw = draw.max(1);
    let zeros = draw.leading_zeros();
    // Between 2^63 and 2^64; squaring it gives the next binary digit of its logarithm.
    let mut number = u128::from(draw << zeros);
    let mut fraction = 0_u64;
    for _ in 0..32 {
        number = (number * number) >> 63;
        fraction <<= 1;
        if number >= 1 << 64 {
            fraction |= 1;
            number >>= 1;
        }
    }
    let logarithm = (u64::from(63 - zeros) << 32) | fraction;
    (64_u64 << 32).saturating_sub(logarithm).max(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn variants(weights: &[(&str, u32)]) -> Vec<Weighted> {
        let weighted = |(name, weight): &(&str, u32)| Weighted {
            name: (*name).into(),
            weight: *weight,
        };
        weights.iter().map(weighted).collect()
    }

    fn who(weights: &[(&str, u32)], users: usize) -> Vec<Option<String>> {
        let variants = variants(weights);
        let of = |user| choose("e", &format!("user-{user}"), &variants);
        (0..users)
            .map(|user| of(user).map(|index| variants[index].name.to_string()))
            .collect()
    }

    #[test]
    fn the_logarithm_is_exact_where_it_is_whole_and_close_elsewhere() {
        for power in 0..64 {
            assert_eq!(rarity(1 << power), (64 - power) << 32, "2^{power}");
        }
        // The root of one half, of which 2^64 is the whole.
        let half_root = rarity(0xB504_F333_F9DE_6800);
        assert!(half_root.abs_diff(1 << 31) < 4, "{half_root}");
        assert_eq!(rarity(u64::MAX), 1);
    }

    #[test]
    fn the_choice_is_what_it_was() {
        // These must never change: users would change sides.
        let who = who(&[("a", 1), ("b", 1)], 8);
        let shown: Vec<&str> = who.iter().map(|name| name.as_deref().unwrap()).collect();
        insta::assert_snapshot!(shown.join(" "), @"a b a b b b a a");
    }

    #[test]
    fn units_are_shared_out_by_weight() {
        let who = who(&[("a", 1), ("b", 3), ("c", 0)], 4000);
        let count = |name: &str| who.iter().filter(|one| one.as_deref() == Some(name)).count();
        assert!((900..1100).contains(&count("a")), "{}", count("a"));
        assert_eq!(count("a") + count("b"), 4000);
        assert_eq!(choose("e", "u", &variants(&[("a", 0)])), None);
        assert_eq!(choose("e", "u", &[]), None);
    }

    proptest! {
        #[test]
        fn a_weight_moves_units_to_its_variant_or_away_from_it_alone(
            before in prop::array::uniform3(0_u32..50), changed in 0_u32..50,
        ) {
            let [a, b, c] = before;
            let old = who(&[("a", a), ("b", b), ("c", c)], 200);
            let new = who(&[("a", a), ("b", changed), ("c", c)], 200);
            for (old, new) in old.iter().zip(&new).filter(|(old, new)| old != new) {
                let gains = changed > b;
                let moved = if gains { new } else { old };
                prop_assert_eq!(moved.as_deref(), Some("b"));
            }
        }
    }
}
