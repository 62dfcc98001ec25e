use serde_json::{Value, json};

use super::*;
use crate::Format;
use crate::fixtures::{request, simulator_of, simulator_with};

fn on(model: &str, parts: &str) -> Measured {
    with(model, parts, &json!({}))
}

fn with(model: &str, parts: &str, settings: &Value) -> Measured {
    let mut all = json!({"model": model});
    all.as_object_mut()
        .unwrap()
        .extend(settings.as_object().unwrap().clone());
    request(Format::OpenaiResponses, parts, &all)
}

mod automatic {
    use super::*;

    fn second(first: &Measured, then: &Measured) -> String {
        let mut simulator = simulator_of(first.request().settings().model());
        send(&mut *simulator, 0, first);
        send(&mut *simulator, 1000, then)
    }

    #[test]
    fn hits_grow_in_steps_of_128_from_1024_on() {
        for (tokens, expected) in [
            (1000, "0/0/1050"),
            (1024, "1024/0/50"),
            (1151, "1024/0/177"),
            (1152, "1152/0/50"),
        ] {
            let one = on("gpt-5", &format!("d:S={tokens} u:q=50"));
            let other = on("gpt-5", &format!("d:S={tokens} u:another=50"));
            assert_eq!(second(&one, &other), expected, "{tokens}");
        }
    }

    #[test]
    fn gpt_5_5_keeps_intervals_of_2048_counted_from_hidden_text() {
        let (one, other) = (on("gpt-5.5", "d:S=5000 u:q=50"), on("gpt-5.5", "d:S=5000 u:r=50"));
        assert_eq!(second(&one, &other), "4096/0/954");
        let mut simulator = simulator_with(
            crate::Family::OpenaiAutomatic,
            &[("interval", 2048), ("hidden_tokens", 300)],
        );
        send(&mut *simulator, 0, &one);
        // 5,300 with the hidden text, of which 4,096 are whole intervals: 3,796 visible, in steps 3,712.
        assert_eq!(send(&mut *simulator, 1000, &other), "3712/0/1338");
    }

    #[test]
    fn what_was_used_longest_ago_is_forgotten_first_where_bodies_are_bounded() {
        let (one, other) = (on("gpt-5", "d:S=4000 u:q=50"), on("gpt-5", "d:T=4000 u:q=50"));
        let longer = on("gpt-5", "d:S=4000 u:q=50 a:s=50 u:t=50");
        let after = |bytes: usize| {
            let mut simulator = simulator_of("gpt-5");
            simulator.hold_at_most(bytes);
            send(&mut *simulator, 0, &one);
            send(&mut *simulator, 1000, &other);
            send(&mut *simulator, 2000, &longer)
        };
        let both = one.request().body().len() + other.request().body().len();
        assert_eq!(after(both), "3968/0/182");
        assert_eq!(after(both - 1), "0/0/4150");
    }

    #[test]
    fn the_match_goes_on_inside_a_text() {
        let (one, other) = (on("gpt-5", "d:aaaaaaaaaa=4000"), on("gpt-5", "d:aaaaabbbbb=4000"));
        assert_eq!(second(&one, &other), "1920/0/2080");
    }

    #[test]
    fn retention_decides_how_long() {
        let minute = 60_000;
        for (retention, alive, dead) in [
            ("in_memory", 5 * minute - 1, 5 * minute),
            ("24h", 30 * minute - 1, 30 * minute),
        ] {
            let one = with(
                "gpt-5",
                "d:S=2048 u:q=0",
                &json!({"prompt_cache_retention": retention}),
            );
            for (after, expected) in [(alive, "2048/0/0"), (dead, "0/0/2048")] {
                let mut simulator = simulator_of("gpt-5");
                send(&mut *simulator, 0, &one);
                assert_eq!(
                    send(&mut *simulator, after, &one),
                    expected,
                    "{retention} {after}"
                );
            }
        }
        // In memory at most an hour, however often it is read.
        let one = with(
            "gpt-5",
            "d:S=2048 u:q=0",
            &json!({"prompt_cache_retention": "in_memory"}),
        );
        let next = with(
            "gpt-5",
            "d:S=2048 u:q=0 a:x=9",
            &json!({"prompt_cache_retention": "in_memory"}),
        );
        let mut simulator = simulator_of("gpt-5");
        send(&mut *simulator, 0, &next);
        let reads: Vec<bool> = (1..=15)
            .map(|round| send(&mut *simulator, round * 4 * minute + 1, &one).starts_with("2048"))
            .collect();
        assert!(reads[..14].iter().all(|read| *read), "{reads:?}");
        let default = on("gpt-5", "d:S=2048 u:q=0");
        let mut simulator = simulator_of("gpt-5");
        send(&mut *simulator, 0, &default);
        assert_eq!(
            send(&mut *simulator, 20 * minute, &default),
            "2048/0/0",
            "a day is the default"
        );
    }

    #[test]
    fn a_key_is_part_of_the_route_and_a_route_overflows() {
        let keyed = |key: &str| with("gpt-5", "d:S=2048 u:q=0", &json!({"prompt_cache_key": key}));
        assert_eq!(second(&keyed("a"), &keyed("b")), "0/0/2048");
        let mut simulator = simulator_of("gpt-5");
        let answers: Vec<String> = (0..17)
            .map(|at| send(&mut *simulator, at * 100, &keyed("a")))
            .collect();
        assert_eq!(
            (answers[14].as_str(), answers[15].as_str(), answers[16].as_str()),
            ("2048/0/0", "0/0/2048", "2048/0/0")
        );
        assert_eq!(
            send(&mut *simulator, 90_000, &keyed("a")),
            "2048/0/0",
            "a minute later the first machine serves again"
        );
    }

    #[test]
    fn requests_that_begin_otherwise_go_another_way_and_do_not_overflow() {
        let long = |start: &str| on("gpt-5", &format!("d:{start}{}=4096", "x".repeat(2000)));
        let mut simulator = simulator_of("gpt-5");
        let answers = (0..24).map(|at| {
            send(
                &mut *simulator,
                at * 100,
                &long(if at % 2 == 0 { "a" } else { "b" }),
            )
        });
        let misses = answers.filter(|answer| answer.starts_with("0/")).count();
        assert_eq!(misses, 2, "one cold start each");
    }

    #[test]
    fn each_setting_that_breaks_it() {
        let base = on("gpt-5", "d:S=2048 u:q=0");
        for (setting, keeps) in [
            (json!({"model": "gpt-5-mini"}), false),
            (json!({"service_tier": "flex"}), false),
            (json!({"parallel_tool_calls": false}), false),
            (json!({"text": {"format": {"type": "json_object"}}}), false),
            (json!({"text": {"verbosity": "low"}}), false),
            (json!({"reasoning": {"effort": "low"}}), false),
            (json!({"tool_choice": "none"}), true),
            (json!({"max_output_tokens": 7}), true),
        ] {
            let expected = if keeps { "2048/0/0" } else { "0/0/2048" };
            assert_eq!(
                second(&base, &with("gpt-5", "d:S=2048 u:q=0", &setting)),
                expected,
                "{setting}"
            );
        }
    }
}

mod boundaries {
    use super::*;

    const MODEL: &str = "gpt-5.6-sol";

    fn turns(requests: &[Measured]) -> Vec<String> {
        let mut simulator = simulator_of(MODEL);
        requests
            .iter()
            .zip(0..)
            .map(|(request, at)| send(&mut *simulator, at * MINUTE, request))
            .collect()
    }

    #[test]
    fn a_conversation_that_grows_reads_what_it_wrote() {
        let answers = turns(&[
            on(MODEL, "t:a=500 d:S=1000 u:q1=100"),
            on(MODEL, "t:a=500 d:S=1000 u:q1=100 a:r=40 u:q2=60"),
            on(
                MODEL,
                "t:a=500 d:S=1000 u:q1=100 a:r=40 u:q2=60 c:c=10 r:o=20 r:p=30",
            ),
        ]);
        assert_eq!(answers, ["0/30m:1600/0", "1600/30m:100/0", "1700/30m:60/0"]);
    }

    #[test]
    fn the_minimum_counts_visible_tokens() {
        assert_eq!(
            turns(&[on(MODEL, "u:q=1023"), on(MODEL, "u:q=1023")]),
            ["0/0/1023", "0/0/1023"]
        );
        assert_eq!(
            turns(&[on(MODEL, "u:q=1024"), on(MODEL, "u:q=1024")]),
            ["0/30m:1024/0", "1024/0/0"]
        );
    }

    #[test]
    fn reads_are_exact_and_not_rounded() {
        assert_eq!(
            turns(&[on(MODEL, "u:q=1311"), on(MODEL, "u:q=1311 a:x=5")])[1],
            "1311/0/5"
        );
    }

    /// A changing tail behind the last message of the user: the implicit breakpoint lands behind it, and
    /// nothing is ever read. One explicit mark before the tail mends it.
    #[test]
    fn the_changing_tail_and_its_mend() {
        let tail = |mark: &str, word: &str| on(MODEL, &format!("d:S=9000 u:q=60{mark} u:{word}=40"));
        assert_eq!(turns(&[tail("", "one"), tail("", "two")])[1], "0/30m:9100/0");
        assert_eq!(turns(&[tail("*", "one"), tail("*", "two")])[1], "9060/30m:40/0");
        let no_instructions = |mark: &str, word: &str| on(MODEL, &format!("u:q=9060{mark} +:{word}=40"));
        assert_eq!(
            turns(&[no_instructions("", "one"), no_instructions("", "two")])[1],
            "0/30m:9100/0"
        );
        assert_eq!(
            turns(&[no_instructions("*", "one"), no_instructions("*", "two")])[1],
            "9060/30m:40/0"
        );
    }

    #[test]
    fn extending_a_message_loses_its_old_end() {
        assert_eq!(
            turns(&[on(MODEL, "u:q=2000"), on(MODEL, "u:q=2000 +:more=10")])[1],
            "0/30m:2010/0"
        );
    }

    #[test]
    fn only_the_last_of_a_run_of_outputs_and_no_later_developer_message_ends_a_prefix() {
        let written = |parts: &str| {
            let request = on(MODEL, parts);
            let mut simulator = simulator_of(MODEL);
            let outcome = simulator.respond(&Call {
                at_ms: 0,
                began_ms: None,
                route: "",
                request: &request,
            });
            outcome.kept.iter().map(|kept| kept.depth).collect::<Vec<_>>()
        };
        assert_eq!(written("u:q=2000 c:c=1 c:c=1 r:o=5 r:p=5"), [5]);
        assert_eq!(written("u:q=2000 a:x=1 d:note=5"), [1]);
        assert_eq!(written("u:q=2000 a:x=1"), [1]);
        assert_eq!(
            written("d:S=2000 d:T=10 a:x=1"),
            [2],
            "the end of the initial instructions"
        );
    }

    #[test]
    fn a_run_of_outputs_that_grows_loses_its_old_end() {
        let answers = turns(&[
            on(MODEL, "u:q=2000 c:c=1 r:o=5"),
            on(MODEL, "u:q=2000 c:c=1 r:o=5 r:p=5"),
        ]);
        assert_eq!(answers[1], "0/30m:2011/0");
    }

    #[test]
    fn the_end_of_the_initial_instructions_is_looked_up_however_far_back() {
        let later = format!("d:S=2000 {}", "a:x=1 u:m=1 ".repeat(30));
        let answers = turns(&[on(MODEL, "d:S=2000 a:x=1"), on(MODEL, &later)]);
        assert!(answers[1].starts_with("2000/"), "{answers:?}");
    }

    #[test]
    fn at_most_four_boundaries_are_written() {
        let depths = |settings: Value| {
            let request = with(MODEL, "d:S=2000* u:a=1* u:b=1* u:c=1* u:d=1* u:e=1", &settings);
            let mut simulator = simulator_of(MODEL);
            let outcome = simulator.respond(&Call {
                at_ms: 0,
                began_ms: None,
                route: "",
                request: &request,
            });
            outcome.kept.iter().map(|kept| kept.depth).collect::<Vec<_>>()
        };
        assert_eq!(depths(json!({})), [3, 4, 5, 6]);
        assert_eq!(
            depths(json!({"prompt_cache_options": {"mode": "explicit"}})),
            [2, 3, 4, 5]
        );
    }

    #[test]
    fn explicit_mode_without_marks_caches_nothing_and_loses_implicit_ends() {
        let explicit = json!({"prompt_cache_options": {"mode": "explicit"}});
        let answers = turns(&[
            on(MODEL, "u:q=2000"),
            with(MODEL, "u:q=2000", &explicit),
            with(MODEL, "u:q=2000*", &explicit),
        ]);
        assert_eq!(answers, ["0/30m:2000/0", "0/0/2000", "2000/0/0"]);
    }

    #[test]
    fn lookups_have_limits_that_can_be_set() {
        let long = |messages: usize| {
            let parts: Vec<String> = (0..messages).map(|at| format!("u:m{at}=1 a:x{at}=1")).collect();
            on(MODEL, &format!("u:first=2000 {}", parts.join(" ")))
        };
        let second = |messages: usize, numbers: &[(&str, u64)]| {
            let mut simulator = simulator_with(crate::Family::OpenaiBoundaries, numbers);
            send(&mut *simulator, 0, &long(0));
            send(&mut *simulator, MINUTE, &long(messages))
        };
        assert!(second(20, &[]).starts_with("2000/"));
        assert!(second(21, &[]).starts_with("0/"));
        assert!(second(21, &[("earlier_ends", 21)]).starts_with("2000/"));

        let marked = |marks: usize| {
            let parts: Vec<String> = (0..marks).map(|at| format!("+:m{at}=1*")).collect();
            with(
                MODEL,
                &format!("u:a=2000* +:b=1* +:c=1* {}", parts.join(" ")),
                &json!({"prompt_cache_options": {"mode": "explicit"}}),
            )
        };
        let read = |marks: usize, numbers: &[(&str, u64)]| {
            let mut simulator = simulator_with(crate::Family::OpenaiBoundaries, numbers);
            send(&mut *simulator, 0, &marked(0));
            let answer = send(&mut *simulator, MINUTE, &marked(marks));
            answer.split('/').next().unwrap().to_owned()
        };
        assert_eq!(read(49, &[]), "2002", "the third is still among the latest 50");
        assert_eq!(read(60, &[]), "2001", "the first two always are");
        assert_eq!(read(60, &[("latest_marks", 80)]), "2002");
        assert_eq!(read(60, &[("first_marks", 1)]), "2000");
    }

    #[test]
    fn lifetimes_are_thirty_minutes_or_twelve_hours_and_reads_refresh() {
        let hours = 60 * MINUTE;
        for (settings, alive, dead) in [
            (json!({}), 30 * MINUTE - 1, 30 * MINUTE),
            (
                json!({"prompt_cache_options": {"ttl": "12h"}}),
                12 * hours - 1,
                12 * hours,
            ),
        ] {
            let one = with(MODEL, "u:q=2000", &settings);
            let mut simulator = simulator_of(MODEL);
            send(&mut *simulator, 0, &one);
            assert_eq!(send(&mut *simulator, alive, &one), "2000/0/0");
            assert_eq!(send(&mut *simulator, 2 * alive, &one), "2000/0/0");
            let mut simulator = simulator_of(MODEL);
            let first = send(&mut *simulator, 0, &one);
            assert_eq!(send(&mut *simulator, dead, &one), first);
        }
        let twelve = with(
            MODEL,
            "u:q=2000",
            &json!({"prompt_cache_options": {"ttl": "12h"}}),
        );
        assert_eq!(send(&mut *simulator_of(MODEL), 0, &twelve), "0/12h:2000/0");
    }

    #[test]
    fn a_key_has_an_account_of_its_own() {
        let keyed = |key: &str| with(MODEL, "u:q=2000", &json!({"prompt_cache_key": key}));
        assert_eq!(
            turns(&[keyed("a"), keyed("b"), keyed("a")]),
            ["0/30m:2000/0", "0/30m:2000/0", "2000/0/0"]
        );
    }

    #[test]
    fn effort_misses_and_going_back_hits_again() {
        let effort = |effort: &str| with(MODEL, "u:q=2000", &json!({"reasoning": {"effort": effort}}));
        assert_eq!(
            turns(&[effort("high"), effort("low"), effort("high")]),
            ["0/30m:2000/0", "0/30m:2000/0", "2000/0/0"]
        );
    }
}
