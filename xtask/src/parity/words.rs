//! Words that occur nowhere else: where one shows up in a request, its file was loaded.

use fastrand::Rng;

/// Letters without vowels and look-alikes, so that no word means anything.
const LETTERS: &[u8] = b"BCDFGHJKLMNPQRSTVWXZ23456789";

/// Where every run starts, so that two runs make the same trees.
const SEED: u64 = 0x00B1_4DE2;

/// The source of a case's words.
pub(crate) struct Words {
    rng: Rng,
}

impl Words {
    /// Words that depend on the case alone, not on the cases around it.
    pub(crate) fn of(id: &str) -> Self {
        Self { rng: rng(id) }
    }

    /// A new word of nine letters.
    pub(crate) fn next(&mut self) -> String {
        let mut word = String::from("K");
        for _ in 0..8 {
            let letter = self.rng.choice(LETTERS).copied().unwrap_or(b'Z');
            word.push(char::from(letter));
        }
        word
    }

    /// Fills every `{{W}}` with a new word.
    pub(crate) fn fill(&mut self, text: &str) -> String {
        let mut parts = text.split("{{W}}");
        let mut out = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            out.push_str(&self.next());
            out.push_str(part);
        }
        out
    }
}

/// A generator that depends on a name and the seed (FNV-1a).
pub(crate) fn rng(name: &str) -> Rng {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325 ^ SEED, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Rng::with_seed(hash)
}

/// The words of a text, with their byte positions, in order of appearance.
pub(crate) fn find(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (start, _) in text.match_indices('K') {
        let Some(word) = text.get(start..start + 9) else {
            continue;
        };
        if word.bytes().skip(1).all(|byte| LETTERS.contains(&byte)) {
            found.push((start, word));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Words, find};

    #[test]
    fn words_depend_on_the_name_alone_and_are_found_again() {
        let text = Words::of("a").fill("x {{W}} y {{W}}");
        assert_eq!(text, Words::of("a").fill("x {{W}} y {{W}}"));
        assert_ne!(text, Words::of("b").fill("x {{W}} y {{W}}"));
        assert_eq!(find(&text).len(), 2);
    }
}
