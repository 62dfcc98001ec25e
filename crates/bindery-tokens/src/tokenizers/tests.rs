use bindery_core::CountTokens;

use super::*;

fn built_in() -> Tokenizers {
    Tokenizers::built_in().unwrap()
}

#[test]
fn every_model_gets_its_way_of_counting() {
    let tokenizers = built_in();
    let name = |model: &str| {
        let name = tokenizers.counter(model).name();
        name.strip_suffix(" by classes").unwrap_or(name).to_owned()
    };
    for (model, expected) in [
        ("gpt-4o", "o200k_base"),
        ("gpt-4o-mini-2024-07-18", "o200k_base"),
        ("gpt-4.1-nano", "o200k_base"),
        ("gpt-5", "o200k_base"),
        ("gpt-5.6-sol", "o200k_base"),
        ("gpt-6.2-astra", "o200k_base"),
        ("openai/gpt-oss-120b", "o200k_base"),
        ("o1", "o200k_base"),
        ("o3-mini", "o200k_base"),
        ("o4-mini", "o200k_base"),
        ("gpt-4", "cl100k_base"),
        ("gpt-4-turbo-2024-04-09", "cl100k_base"),
        ("gpt-35-turbo", "cl100k_base"),
        ("ft:gpt-3.5-turbo:acme::x", "cl100k_base"),
        ("text-embedding-3-small", "cl100k_base"),
        ("claude-opus-4-7", "claude"),
        ("claude-opus-4-8-20260801", "claude"),
        ("claude-sonnet-5-5", "claude"),
        ("claude-fable-5-1", "claude"),
        ("us.anthropic.claude-mythos-5-v1:0", "claude"),
        ("claude-opus-4-6", "claude-before-4.7"),
        ("claude-sonnet-4-5-20250929", "claude-before-4.7"),
        ("claude-3-7-sonnet-latest", "claude-before-4.7"),
        ("deepseek-v4-pro", "deepseek"),
        ("gemini-4-argon", "gemini"),
        ("meta-llama/Llama-3.3-70B-Instruct", "llama"),
        ("Qwen/Qwen3-Coder", "qwen"),
        ("grok-5", "unknown"),
        ("", "unknown"),
    ] {
        assert_eq!(name(model), expected, "{model}");
    }
}

#[test]
fn exactness_is_only_claimed_where_tables_are() {
    let tokenizers = built_in();
    let exact = cfg!(feature = "exact");
    let openai = tokenizers.counter("gpt-5");
    assert_eq!(openai.count("hello world").exact, exact);
    assert_eq!(openai.is_exact(), exact);
    assert_eq!(openai.error() == ErrorBound::NONE, exact);
    for model in ["claude-opus-5", "deepseek-chat", "gemini-4-argon", "grok-5"] {
        let counter = tokenizers.counter(model);
        assert!(!counter.count("hello world").exact, "{model}");
        assert!(counter.error().english_and_code > 0.0, "{model}");
    }
}

#[test]
fn nothing_costs_nothing_and_anything_costs_something() {
    let tokenizers = built_in();
    for model in [
        "gpt-5",
        "gpt-4",
        "claude-opus-5",
        "deepseek-chat",
        "gemini-3",
        "qwen3",
        "llama-3",
        "x",
    ] {
        let counter = tokenizers.counter(model);
        assert_eq!(counter.count("").value, 0, "{model}");
        for text in ["a", " ", "\n", "é", "中", "\u{301}"] {
            assert!(counter.count(text).value > 0, "{model} of {text:?}");
        }
    }
}

/// Texts and their counts by the tokenizers that the estimates stand for, made with Hugging Face
/// `tokenizers` 0.23 in Python, without special tokens.
#[test]
fn estimates_lie_within_their_stated_error() {
    let tokenizers = built_in();
    let models = ["deepseek-chat", "gemini-4-argon", "llama-3", "qwen3"];
    let samples: &[(&str, [u64; 4], [u64; 2])] = &include!("samples.in");
    for (text, counts, _) in samples {
        for (model, truth) in models.into_iter().zip(*counts) {
            within(tokenizers.counter(model), text, truth);
        }
    }
}

#[test]
fn stand_ins_lie_within_their_stated_error() {
    let table: Table = crate::data::read(BUILT_IN.0, BUILT_IN.1, |table: &Table| table.version).unwrap();
    let stand_ins = StandIns::read(BUILT_IN.0, table.stand_in).unwrap();
    let samples: &[(&str, [u64; 4], [u64; 2])] = &include!("samples.in");
    for (text, _, counts) in samples {
        for (encoding, truth) in [Encoding::O200kBase, Encoding::Cl100kBase]
            .into_iter()
            .zip(*counts)
        {
            within(&Counter::Estimate(stand_ins.0[&encoding].clone()), text, truth);
        }
    }
}

#[track_caller]
fn within(counter: &Counter, text: &str, truth: u64) {
    let tokens = counter.count(text).value;
    let off = crate::scale::real(tokens) / crate::scale::real(truth) - 1.0;
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let wide = |c: &char| c.is_alphabetic() && !c.is_ascii();
    let foreign = text.chars().filter(wide).count() * 100 > letters;
    let error = counter.error();
    let bound = if foreign {
        error.other_languages
    } else {
        error.english_and_code
    };
    assert!(
        off.abs() <= bound,
        "{}: {tokens} for {truth}: {text:?}",
        counter.name()
    );
}

const SMALL: &str = r#"
version = 1
default = "rough"
[[model]]
prefixes = ["a"]
estimate = "rough"
source = "s"
[[estimate]]
name = "rough"
error = { english_and_code = 0.5, other_languages = 0.5 }
source = "s"
weights = { letters = 0.25, words = 0.5 }
[[stand_in]]
encoding = "o200k_base"
error = { english_and_code = 0.1, other_languages = 0.1 }
source = "s"
weights = { letters = 0.25 }
"#;

#[test]
fn a_table_of_ones_own() {
    let tokenizers = Tokenizers::from_toml("mine.toml", SMALL).unwrap();
    assert_eq!(tokenizers.counter("a-1").count("four four").value, 3);
}

#[test]
fn what_is_wrong_with_a_table_is_said() {
    let cases = [
        (
            SMALL.replace("version = 1", "version = 7"),
            "version 7 of this table is not known",
        ),
        (
            SMALL.replace("default = \"rough\"", "default = \"none\""),
            "none: no [[estimate]] has",
        ),
        (
            SMALL.replace("estimate = \"rough\"", ""),
            "a: a [[model]] has either",
        ),
        (
            SMALL.replace("estimate = \"rough\"", "encoding = \"p50k_base\""),
            "unknown variant",
        ),
        (
            SMALL.replace("[\"a\"]", "[\"a\", \"a\"]"),
            "prefix `a` is empty or given twice",
        ),
        (
            SMALL.replace("languages = 0.5", "languages = 50"),
            "rough: a bound of `error`",
        ),
        (
            SMALL.replace("words = 0.5", "words = nan"),
            "rough: a weight is not between",
        ),
        (
            SMALL.replace("words = 0.5", "wrods = 0.5"),
            "unknown variant `wrods`",
        ),
        (
            SMALL.replace("weights = { letters = 0.25, w", "factor = 2.0\nweights = { w"),
            "`base` and a positive",
        ),
        (SMALL.replace("code = 0.5", "code = \"much\""), "line"),
    ];
    for (text, expected) in cases {
        let message = Tokenizers::from_toml("mine.toml", &text).unwrap_err().to_string();
        assert!(message.starts_with("mine.toml: "), "{message}");
        assert!(message.contains(expected), "{expected:?} not in {message:?}");
    }
}
