//! Worked examples of each family, the documentation's own among them.

use bindery_core::Lane;

use super::*;

/// Segments of 400 bytes (100 tokens) each, one for each letter; capitals carry a mark, `!` after a
/// letter makes it an hour's, and every letter ends a message.
fn segments(text: &str) -> Vec<Segment> {
    let mut out: Vec<Segment> = Vec::new();
    for letter in text.chars() {
        if letter == '!' {
            out.last_mut().unwrap().mark = Some(MarkLifetime::OneHour);
            continue;
        }
        out.push(Segment {
            lane: Lane::Messages,
            hash: ContentHash::of(letter.to_lowercase().to_string().as_bytes()),
            bytes: 400,
            mark: letter.is_uppercase().then_some(MarkLifetime::FiveMinutes),
            ends_user_message: true,
        });
    }
    out
}

/// (uncached, read, `write_5m`, `write_1h`, `write_30m`), each in hundreds of tokens.
fn asked(provider: Provider, model: &str, requests: &[&str]) -> Vec<[u64; 5]> {
    let mut cache = PrefixCache::new(provider);
    let ask = |text: &&str| {
        let usage = cache.request(model, &segments(text));
        [
            usage.uncached,
            usage.read,
            usage.write_5m,
            usage.write_1h,
            usage.write_30m,
        ]
        .map(|tokens| tokens / 100)
    };
    requests.iter().map(ask).collect()
}

#[test]
fn anthropic_writes_at_marks_and_reads_what_was_written() {
    let asked = |requests: &[&str]| asked(Provider::Anthropic, "claude-opus-5", requests);
    assert_eq!(asked(&["abcdeFg", "abcdeFg"]), [[1, 0, 6, 0, 0], [1, 6, 0, 0, 0]]);
    // Without a mark nothing is read, though the prefix is there.
    assert_eq!(asked(&["abcdeF", "abcdefg"])[1], [7, 0, 0, 0, 0]);
    // A longer conversation reads up to the earlier mark and writes the rest.
    assert_eq!(asked(&["abcdeF", "abcdefghI"])[1], [0, 6, 3, 0, 0]);
    // A change before the mark loses everything.
    assert_eq!(asked(&["abcdeF", "xbcdeF"])[1], [0, 0, 6, 0, 0]);
}

#[test]
fn anthropic_looks_back_over_twenty_blocks_and_not_one_more() {
    let asked = |requests: &[&str]| asked(Provider::Anthropic, "claude-opus-5", requests)[1];
    let first = "abcdefghijklmnO";
    let nineteen = "abcdefghijklmno0123456789012345678";
    assert_eq!(
        asked(&[first, &format!("{}Z", nineteen.get(..33).unwrap())])[1],
        15
    );
    assert_eq!(asked(&[first, &format!("{nineteen}Z")])[1], 0);
    // The documentation's remedy: a second mark where the first request wrote.
    assert_eq!(asked(&[first, "abcdefghijklmnO0123456789012345678Z"])[1], 15);
}

#[test]
fn anthropic_caches_nothing_below_the_model_s_minimum() {
    let of = |model| asked(Provider::Anthropic, model, &["abcdefG"])[0];
    assert_eq!(of("claude-opus-5"), [0, 0, 7, 0, 0]);
    assert_eq!(of("claude-opus-4-8"), [7, 0, 0, 0, 0]);
    assert_eq!(anthropic_minimum("claude-haiku-4-5-20251001"), 4096);
    assert_eq!(anthropic_minimum("claude-sonnet-5"), 1024);
}

#[test]
fn anthropic_bills_an_hour_s_mark_before_a_shorter_one() {
    let usage = asked(Provider::Anthropic, "claude-opus-5", &["abcdeF!ghI"])[0];
    assert_eq!(usage, [0, 0, 3, 6, 0]);
}

#[test]
fn older_openai_models_read_in_steps_and_write_for_nothing() {
    let asked = asked(
        Provider::OpenaiChat,
        "gpt-5.5",
        &["abcdefghijkl", "abcdefghijklm"],
    );
    // 1,200 tokens, rounded down to 1,152.
    assert_eq!(asked, [[12, 0, 0, 0, 0], [1, 11, 0, 0, 0]]);
}

#[test]
fn newer_openai_models_say_what_they_write() {
    let asked = asked(
        Provider::OpenaiResponses,
        "gpt-6-sol",
        &["abcdefghijkl", "abcdefghijklm", "abc"],
    );
    assert_eq!(asked, [[0, 0, 0, 0, 12], [0, 12, 0, 0, 1], [3, 0, 0, 0, 0]]);
    for (model, paid) in [
        ("gpt-5.5", false),
        ("gpt-5.6-sol", true),
        ("gpt-6.1-terra", true),
        ("gpt-4o", false),
        ("o3", false),
    ] {
        assert_eq!(has_paid_writes(model), paid, "{model}");
    }
}

#[test]
fn deepseek_reads_whole_units_and_stores_what_comes_twice() {
    let asked = asked(Provider::Deepseek, "deepseek-flash", &["ab", "ac", "ad", "abe"]);
    assert_eq!(asked.map_reads(), [0, 0, 1, 2]);
}

trait Reads {
    fn map_reads(&self) -> Vec<u64>;
}

impl Reads for Vec<[u64; 5]> {
    fn map_reads(&self) -> Vec<u64> {
        self.iter().map(|usage| usage[1]).collect()
    }
}
