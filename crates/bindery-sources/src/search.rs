//! Finding texts by words: BM25, best first.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use bm25::{Document, SearchEngineBuilder, Tokenizer};
use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;

/// Words that say nothing. Lists that people edit live in files.
const COMMON: &str = include_str!("../../../checks/common-words.txt");

/// Read once; it never changes.
static COMMON_WORDS: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| {
    let lines = COMMON.lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(str::split_whitespace).collect()
});

/// A text that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Its place among the texts.
    pub index: usize,
    /// How well it fits; comparable within one search alone.
    pub score: f32,
}

/// The texts in which words of `query` occur, best first; among equals the earlier one. Words are those of
/// Unicode's rules, in lower case, English ones by their stems; common ones say nothing.
pub fn rank(query: &str, texts: &[String]) -> Vec<Hit> {
    if texts.is_empty() || Words.tokenize(query).is_empty() {
        return Vec::new();
    }
    let documents = texts
        .iter()
        .enumerate()
        .map(|(index, text)| Document::new(index, text.as_str()));
    let engine =
        SearchEngineBuilder::<usize, u32, Words>::with_tokenizer_and_documents(Words, documents).build();
    let found = engine.search(query, None).into_iter();
    let mut hits: Vec<Hit> = found
        .map(|found| Hit {
            index: found.document.id,
            score: found.score,
        })
        .filter(|hit| hit.score > 0.0)
        .collect();
    // The engine's order among equals is that of a hash map.
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.index.cmp(&b.index)));
    hits
}

/// How texts become words.
struct Words;

impl Tokenizer for Words {
    fn tokenize(&self, text: &str) -> Vec<String> {
        let stemmer = Stemmer::create(Algorithm::English);
        let words = text.unicode_words().map(str::to_lowercase);
        let telling = words.filter(|word| !COMMON_WORDS.contains(word.as_str()));
        telling
            .map(|word| {
                if word.is_ascii() {
                    stemmer.stem(&word).into_owned()
                } else {
                    word
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(query: &str, texts: &[&str]) -> Vec<usize> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        rank(query, &texts).iter().map(|hit| hit.index).collect()
    }

    #[test]
    fn stems_count_and_common_words_do_not() {
        let texts = [
            "We deploy on Tuesdays.",
            "The linter is strict.",
            "Tests need Postgres.",
        ];
        assert_eq!(found("When do we deploy the test?", &texts), [0, 2]);
        assert_eq!(found("what is the", &texts), [0usize; 0]);
        assert_eq!(found("", &texts), [0usize; 0]);
        assert_eq!(found("deploy", &[]), [0usize; 0]);
    }

    #[test]
    fn words_of_other_scripts_are_words() {
        assert_eq!(found("部署", &["我们在星期二部署", "测试"]), [0]);
        assert_eq!(found("сборка", &["Сборка идёт ночью", "тесты"]), [0]);
    }

    #[test]
    fn equals_stand_in_their_order() {
        assert_eq!(found("port", &["port 1", "port 2", "port 3"]), [0, 1, 2]);
    }
}
