//! Speed of counting, by kind of text: `cargo bench -p bindery-tokens`.

#![expect(clippy::expect_used, reason = "a bench that cannot start may stop")]

use bindery_tokens::{CountTokens, Tokenizers};
use divan::counter::BytesCount;
use divan::{Bencher, black_box};

const MODELS: &[&str] = &["gpt-5", "gpt-4", "claude-opus-5", "gemini-4-argon"];

fn main() {
    divan::main();
}

/// About so many bytes of a text that is repeated.
fn sized(text: &str, bytes: usize) -> String {
    text.repeat(bytes.div_ceil(text.len()))
}

fn count(bencher: Bencher<'_, '_>, model: &str, text: &str) {
    let tokenizers = Tokenizers::built_in().expect("the built-in table");
    let counter = tokenizers.counter(model);
    bencher
        .counter(BytesCount::of_str(text))
        .bench(|| counter.count(black_box(text)));
}

#[divan::bench(args = MODELS)]
fn markdown(bencher: Bencher<'_, '_>, model: &str) {
    count(
        bencher,
        model,
        &sized(include_str!("../../../docs/tokens.md"), 1 << 20),
    );
}

#[divan::bench(args = MODELS)]
fn code(bencher: Bencher<'_, '_>, model: &str) {
    count(
        bencher,
        model,
        &sized(include_str!("../src/exact/text.rs"), 1 << 20),
    );
}

#[divan::bench(args = MODELS)]
fn one_section(bencher: Bencher<'_, '_>, model: &str) {
    count(
        bencher,
        model,
        &sized("Say why in a comment, not what it does. ", 2_000),
    );
}

#[divan::bench(args = MODELS)]
fn chinese(bencher: Bencher<'_, '_>, model: &str) {
    count(
        bencher,
        model,
        &sized(
            "图书馆的门口有一棵很老的树。每天早上,学生们在树下等开门。\n",
            1 << 17,
        ),
    );
}

/// One pre-token without end: quadratic work would show here.
#[divan::bench(args = ["a", " ", "xq", "👩‍👩‍👧"])]
fn long_runs(bencher: Bencher<'_, '_>, unit: &str) {
    count(bencher, "gpt-5", &sized(unit, 20_000));
}

/// Reading the tables of models, which a process does once.
#[divan::bench]
fn built_in_table() -> Tokenizers {
    Tokenizers::built_in().expect("the built-in table")
}
