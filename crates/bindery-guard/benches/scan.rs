//! Speed of a scan: plain ASCII Markdown, and text for which every view is active.

use bindery_guard::{Scanner, scan};
use divan::Bencher;
use divan::counter::BytesCount;

fn main() {
    divan::main();
}

/// Markdown as instruction files have it.
const PLAIN: &str = "## Build\n\n- Run `cargo build --release` before every commit, and read the output.\n\
                     - Prefer small functions; see [the style guide](docs/style.md) for the reasons.\n\n\
                     ```sh\ncargo test --workspace\n```\n\nThe server reads its settings from `config.toml`.\n\n";

/// The same with other scripts, escapes, an encoded line and digits within words.
const MIXED: &str = "## Сборка und Prüfung\n\n- 运行 `cargo build`，然后查看输出。 نمی‌خواهم café 👩🏽‍💻\n\
                     - See https://example.org/a%20b%20c%20d?x=1 and &lt;tag&gt; &amp; more.\n\
                     - Checksum: VGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcyBvdmVyIHRoZSBsYXp5IGRvZw==\n- u53 th3 l0c4l c0py\n\n";

fn bench(bencher: Bencher, unit: &str) {
    let Ok(scanner) = Scanner::builtin() else {
        return;
    };
    let text = unit.repeat(1_000_000 / unit.len());
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| scan(divan::black_box(text.as_bytes()), &scanner));
}

#[divan::bench]
fn plain(bencher: Bencher) {
    bench(bencher, PLAIN);
}

#[divan::bench]
fn every_view(bencher: Bencher) {
    bench(bencher, MIXED);
}

#[divan::bench]
fn build_scanner() {
    divan::black_box(Scanner::builtin().is_ok());
}
