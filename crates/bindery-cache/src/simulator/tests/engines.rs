use serde_json::json;

use super::*;
use crate::fixtures::{request, simulator_of, simulator_with};
use crate::{Family, Format};

fn chat(model: &str, parts: &str) -> Measured {
    request(Format::OpenaiChat, parts, &json!({"model": model}))
}

mod deepseek {
    use super::*;

    fn on(parts: &str) -> Measured {
        chat("deepseek-flash", parts)
    }

    fn turns(requests: &[&str]) -> Vec<String> {
        let mut simulator = simulator_of("deepseek-flash");
        requests
            .iter()
            .zip(0..)
            .map(|(parts, at)| send(&mut *simulator, at * MINUTE, &on(parts)))
            .collect()
    }

    /// The page's example: A+B, then A+C misses and only then is A stored; A+D hits A.
    #[test]
    fn a_common_prefix_is_stored_once_it_was_seen_twice() {
        assert_eq!(
            turns(&["s:A u:B=10", "s:A u:C=10", "s:A u:D=10"]),
            ["0/0/1010", "0/0/1010", "1000/0/10"]
        );
        let mut without = simulator_with(Family::Deepseek, &[("common_prefixes", 0)]);
        for (parts, at) in [("s:A u:B=10", 0), ("s:A u:C=10", 1)] {
            send(&mut *without, at * MINUTE, &on(parts));
        }
        assert_eq!(send(&mut *without, 2 * MINUTE, &on("s:A u:D=10")), "0/0/1010");
    }

    #[test]
    fn units_end_with_the_input_and_with_the_answer_to_it() {
        assert_eq!(turns(&["s:A u:q=10", "s:A u:q=10 a:r=50 u:n=5"])[1], "1060/0/5");
        assert_eq!(turns(&["s:A u:q=10", "s:A u:q=10 u:n=5"])[1], "1010/0/5");
    }

    #[test]
    fn a_unit_matches_in_full_or_not_at_all() {
        assert_eq!(turns(&["s:Aaaa u:q=10", "s:Aaab u:q=10"])[1], "0/0/1010");
    }

    #[test]
    fn intervals_are_left_out_unless_set() {
        let mut simulator = simulator_with(Family::Deepseek, &[("interval", 64)]);
        send(&mut *simulator, 0, &on("s:A u:B=10"));
        assert_eq!(send(&mut *simulator, MINUTE, &on("s:A u:C=10")), "960/0/50");
    }

    #[test]
    fn units_take_seconds_to_build_and_go_after_hours() {
        let one = on("s:A u:q=10");
        for (after, expected) in [
            (1999, "0/0/1010"),
            (2000, "1010/0/0"),
            (6 * 60 * MINUTE - 1, "1010/0/0"),
            (6 * 60 * MINUTE, "0/0/1010"),
        ] {
            let mut simulator = simulator_of("deepseek-flash");
            send(&mut *simulator, 0, &one);
            assert_eq!(send(&mut *simulator, after, &one), expected, "{after}");
        }
    }

    #[test]
    fn a_model_has_units_of_its_own() {
        let mut simulator = simulator_of("deepseek-flash");
        send(&mut *simulator, 0, &on("s:A u:q=10"));
        assert_eq!(
            send(&mut *simulator, MINUTE, &chat("deepseek-v4-pro", "s:A u:q=10")),
            "0/0/1010"
        );
    }
}

#[test]
fn gemini_reads_from_its_minimum_on() {
    for (model, tokens, expected) in [
        ("gemini-2.5-pro", 2047, "0/0/2057"),
        ("gemini-2.5-pro", 2048, "2048/0/10"),
        ("gemini-4-argon", 4095, "0/0/4105"),
        ("gemini-4-argon", 4096, "4096/0/10"),
    ] {
        let of = |word: &str| chat(model, &format!("s:S={tokens} u:{word}=10"));
        let mut simulator = simulator_of(model);
        send(&mut *simulator, 0, &of("x"));
        assert_eq!(send(&mut *simulator, MINUTE, &of("y")), expected, "{model}");
    }
    let one = chat("gemini-2.5-pro", "s:S=4000");
    let mut simulator = simulator_of("gemini-2.5-pro");
    send(&mut *simulator, 0, &one);
    assert_eq!(send(&mut *simulator, 60 * MINUTE, &one), "0/0/4000");
}

#[test]
fn vllm_reads_full_blocks_and_always_evaluates_one_token() {
    let second = |first: &str, then: &str, numbers: &[(&str, u64)]| {
        let mut simulator = simulator_with(Family::Vllm, numbers);
        send(&mut *simulator, 0, &chat("m", first));
        send(&mut *simulator, 1, &chat("m", then))
    };
    assert_eq!(second("s:S=100 u:q=50", "s:S=100 u:r=50", &[]), "96/0/54");
    assert_eq!(second("s:S=96", "s:S=96", &[]), "80/0/16");
    assert_eq!(
        second("s:S=100 u:q=50", "s:S=100 u:r=50", &[("block", 64)]),
        "64/0/86"
    );
}

#[test]
fn a_salt_and_a_model_keep_blocks_apart() {
    let salted = |salt: &str| {
        request(
            Format::OpenaiChat,
            "s:S=160 u:q=1",
            &json!({"model": "m", "cache_salt": salt}),
        )
    };
    let mut simulator = simulator_with(Family::Vllm, &[]);
    send(&mut *simulator, 0, &salted("a"));
    assert_eq!(send(&mut *simulator, 1, &salted("b")), "0/0/161");
    assert_eq!(send(&mut *simulator, 2, &salted("a")), "160/0/1");
    assert_eq!(
        send(&mut *simulator, 3, &chat("lora", "s:S=160 u:q=1")),
        "0/0/161"
    );
}

#[test]
fn what_was_not_used_longest_is_evicted() {
    for (capacity, expected) in [(0, "200/0/1"), (450, "0/0/201")] {
        let mut simulator = simulator_with(Family::Sglang, &[("capacity", capacity)]);
        for (parts, at) in [("s:A=200 u:q=1", 0), ("s:B=200 u:q=1", 1), ("s:C=200 u:q=1", 2)] {
            send(&mut *simulator, at, &chat("m", parts));
        }
        assert_eq!(send(&mut *simulator, 3, &chat("m", "s:A=200 u:r=1")), expected);
    }
}

#[test]
fn sglang_matches_token_by_token() {
    let mut simulator = simulator_with(Family::Sglang, &[]);
    send(&mut *simulator, 0, &chat("m", "s:S=101 u:q=1"));
    assert_eq!(send(&mut *simulator, 1, &chat("m", "s:S=101 u:r=1")), "101/0/1");
    assert_eq!(
        send(&mut *simulator, 2, &chat("m", "s:S=101 u:r=1")),
        "101/0/1",
        "one token is evaluated"
    );
}

#[test]
fn a_slot_of_llama_cpp_serves_what_is_like_it() {
    let two = [("slots", 2)];
    let mut simulator = simulator_with(Family::LlamaCpp, &two);
    assert_eq!(send(&mut *simulator, 0, &chat("m", "s:A=100 u:q=10")), "0/0/110");
    assert_eq!(send(&mut *simulator, 1, &chat("m", "s:B=100 u:q=10")), "0/0/110");
    assert_eq!(
        send(&mut *simulator, 2, &chat("m", "s:A=100 u:r=10")),
        "100/0/10",
        "the slot that shares most"
    );
    assert_eq!(
        send(&mut *simulator, 3, &chat("m", "s:B=100 u:q=10")),
        "109/0/1",
        "one token is evaluated"
    );
    // Another prefix takes the slot that was unused the longest: A's.
    assert_eq!(send(&mut *simulator, 4, &chat("m", "s:C=100 u:q=10")), "0/0/110");
    assert_eq!(send(&mut *simulator, 5, &chat("m", "s:B=100 u:q=10")), "109/0/1");
    assert_eq!(send(&mut *simulator, 6, &chat("m", "s:A=100 u:q=10")), "0/0/110");
}

#[test]
fn one_slot_holds_one_sequence() {
    let mut simulator = simulator_with(Family::LlamaCpp, &[]);
    send(&mut *simulator, 0, &chat("m", "s:A=100 u:q=10"));
    send(&mut *simulator, 1, &chat("m", "s:B=100 u:q=10"));
    assert_eq!(send(&mut *simulator, 2, &chat("m", "s:A=100 u:q=10")), "0/0/110");
}

#[test]
fn a_slot_that_is_hardly_alike_is_not_chosen_but_still_used_if_it_is_the_last() {
    let numbers = [("slots", 2), ("similarity_per_mille", 500)];
    let mut simulator = simulator_with(Family::LlamaCpp, &numbers);
    send(&mut *simulator, 0, &chat("m", "s:A=40 u:q=60"));
    // 40 of 100 are alike: below half, so the empty slot is taken, and the first one is kept.
    assert_eq!(send(&mut *simulator, 1, &chat("m", "s:A=40 u:r=60")), "0/0/100");
    assert_eq!(send(&mut *simulator, 2, &chat("m", "s:A=40 u:q=60")), "99/0/1");
}
