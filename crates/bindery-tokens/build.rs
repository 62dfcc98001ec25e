//! Writes the vocabulary and character tables of the exact counters into `OUT_DIR`.
//!
//! The token lists are those that `tiktoken-rs` carries; the crate itself is needed only here and
//! in tests.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/exact/layout.rs");
    println!("cargo::rerun-if-changed=src/exact/class.rs");
    #[cfg(feature = "exact")]
    tables::write();
}

#[cfg(feature = "exact")]
#[path = "src/exact/class.rs"]
mod class;

#[cfg(feature = "exact")]
#[path = "src/exact/layout.rs"]
mod layout;

#[cfg(feature = "exact")]
#[expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a failed build script is a failed build"
)]
mod tables {
    use std::path::{Path, PathBuf};

    use super::{class, layout};

    /// Writes everything; a failure here is a broken build, so it may panic.
    pub(crate) fn write() {
        let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
        vocabulary(&out, "o200k", &tiktoken_rs::o200k_base().expect("a vocabulary"));
        vocabulary(&out, "cl100k", &tiktoken_rs::cl100k_base().expect("a vocabulary"));
        classes(&out);
    }

    fn vocabulary(out: &Path, name: &str, bpe: &tiktoken_rs::CoreBPE) {
        // Ranks run from zero without a gap; the special tokens begin after one.
        let tokens: Vec<Vec<u8>> = (0..).map_while(|rank| bpe.decode_bytes(&[rank]).ok()).collect();
        let is_short = |token: &&Vec<u8>| token.len() <= layout::SHORT_LEN;
        let short_slots = slots(tokens.iter().filter(is_short).count());
        let long_slots = slots(tokens.iter().filter(|token| !is_short(token)).count());
        let mut short = vec![[0_u8; layout::SHORT_SLOT]; short_slots];
        let mut long = vec![[0_u8; layout::LONG_SLOT]; long_slots];
        let mut bytes = Vec::new();
        for (rank, token) in tokens.iter().enumerate() {
            let len = u32::try_from(token.len()).expect("a short token");
            assert!((1..256).contains(&len), "token {rank} has {len} bytes");
            let rank = u32::try_from(rank).expect("a small rank");
            let mark = (rank | (len << layout::LEN_SHIFT)).to_le_bytes();
            if is_short(&token) {
                let word = word(token);
                let slot = free(&short, layout::short_hash(word, u64::from(len)));
                fill(&mut short, slot, &word.to_le_bytes(), mark);
            } else {
                let (first, last) = (word(&token[..8]), word(&token[token.len() - 8..]));
                let slot = free(&long, layout::long_hash(first, last, u64::from(len)));
                let offset = u32::try_from(bytes.len()).expect("a small table").to_le_bytes();
                fill(&mut long, slot, &offset, mark);
                bytes.extend_from_slice(token);
            }
        }
        std::fs::write(out.join(format!("{name}.short")), short.as_flattened()).expect("a writable OUT_DIR");
        std::fs::write(out.join(format!("{name}.long")), long.as_flattened()).expect("a writable OUT_DIR");
        std::fs::write(out.join(format!("{name}.bytes")), bytes).expect("a writable OUT_DIR");
    }

    /// Slots for so many tokens: a power of two, at most two thirds full.
    fn slots(tokens: usize) -> usize {
        (tokens + tokens / 2).next_power_of_two()
    }

    /// At most eight bytes as a little-endian word.
    fn word(bytes: &[u8]) -> u64 {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(word)
    }

    /// The first empty slot at or after the hash; a mark of zero, at the slot's end, is empty.
    fn free<const N: usize>(slots: &[[u8; N]], hash: u64) -> usize {
        let mask = slots.len() - 1;
        let mut at = usize::try_from(hash & u64::try_from(mask).expect("fits")).expect("fits");
        while slots[at][N - 4..] != [0; 4] {
            at = (at + 1) & mask;
        }
        at
    }

    fn fill<const N: usize>(slots: &mut [[u8; N]], at: usize, key: &[u8], mark: [u8; 4]) {
        slots[at][..N - 4].copy_from_slice(key);
        slots[at][N - 4..].copy_from_slice(&mark);
    }

    /// The class of every character, in blocks: an index of blocks, then the distinct blocks.
    fn classes(out: &Path) {
        let mut of = vec![0_u8; 0x11_0000];
        for (pattern, bits) in [
            (r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", class::UPPER),
            (r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", class::LOWER),
            (r"\p{L}", class::LETTER),
            (r"\p{N}", class::NUMBER),
            (r"\s", class::SPACE),
            (r"[\r\n]", class::NEWLINE),
        ] {
            for range in ranges(pattern) {
                for scalar in range.start()..=range.end() {
                    of[scalar as usize] |= bits;
                }
            }
        }
        let mut blocks: Vec<&[u8]> = Vec::new();
        let mut index = Vec::new();
        for block in of.chunks(class::BLOCK) {
            let at = blocks
                .iter()
                .position(|known| *known == block)
                .unwrap_or_else(|| {
                    blocks.push(block);
                    blocks.len() - 1
                });
            index.extend_from_slice(&u16::try_from(at).expect("few blocks").to_le_bytes());
        }
        std::fs::write(out.join("classes.index"), index).expect("a writable OUT_DIR");
        std::fs::write(out.join("classes.blocks"), blocks.concat()).expect("a writable OUT_DIR");
    }

    fn ranges(pattern: &str) -> Vec<regex_syntax::hir::ClassUnicodeRange> {
        let hir = regex_syntax::parse(pattern).expect("a valid class");
        match hir.kind() {
            regex_syntax::hir::HirKind::Class(regex_syntax::hir::Class::Unicode(class)) => {
                class.ranges().to_vec()
            }
            other => panic!("{pattern} is not a class: {other:?}"),
        }
    }
}
