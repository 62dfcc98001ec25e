//! Text in two invisible symbols.

use super::readable;

/// Reads a run of symbols as bits: eight or seven a character, either symbol as zero.
pub(super) fn decode(symbols: &[char]) -> Option<String> {
    let zero = *symbols.first()?;
    let one = *symbols.iter().find(|symbol| **symbol != zero)?;
    let bits: Vec<bool> = symbols
        .iter()
        .filter(|symbol| **symbol == zero || **symbol == one)
        .map(|symbol| *symbol == one)
        .collect();
    if bits.len() * 10 < symbols.len() * 8 {
        return None;
    }
    [8, 7]
        .into_iter()
        .find_map(|width| read(&bits, width, false).or_else(|| read(&bits, width, true)))
}

fn read(bits: &[bool], width: usize, inverted: bool) -> Option<String> {
    let bytes: Vec<u8> = bits
        .chunks_exact(width)
        .map(|chunk| {
            chunk
                .iter()
                .fold(0, |byte, bit| (byte << 1) | u8::from(*bit != inverted))
        })
        .collect();
    readable(&bytes)
}
