use super::*;

/// A scenario: the report, where it goes, the requests, and the diagnosis of the last.
type Case = (&'static str, Format, &'static str, Vec<Step>, &'static str);

fn check(cases: Vec<Case>) {
    let mut wrong = Vec::new();
    for (report, format, model, steps, expected) in cases {
        let found = line(&last(format, model, &steps));
        if found != expected {
            wrong.push(format!("{report}\n  found    {found}\n  expected {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn steps(parts: &[&str]) -> Vec<Step> {
    parts.iter().map(|parts| step(parts)).collect()
}

/// A conversation behind a static head, with one mark on the head and one on the last message.
fn anthropic(first: &str, then: &str) -> Vec<Step> {
    steps(&[first, then])
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn breakpoints() {
    let long_turn = |mark: &str| {
        let calls = " c:f=10 r:out=10".repeat(12);
        format!("t:a s:S* u:q=500{mark}{calls} u:next=10*")
    };
    check(vec![
        (
            "anthropics/claude-code#96101: the last mark sits on a reminder that does not stay",
            Format::Anthropic,
            OPUS,
            anthropic(
                "t:a s:S* u:q=500 a:x=50 u:more=20 sys:note=30*",
                "t:a s:S* u:q=500 a:x=50 u:more=20 a:y=50 u:third=20 sys:note_two=30*",
            ),
            "prefix_changed | removed system-message | passing_block | 600",
        ),
        (
            "anthropics/claude-code#63930: a turn longer than twenty blocks",
            Format::Anthropic,
            OPUS,
            anthropic("t:a s:S* u:q=500*", &long_turn("")),
            "look_back_exceeded | - | mark_within_look_back | 500",
        ),
        (
            "the same with one mark within the window",
            Format::Anthropic,
            OPUS,
            anthropic("t:a s:S* u:q=500*", &long_turn("*")),
            "hit | - | - | 0",
        ),
        (
            "bug-ops/zeph#1079, pydantic/pydantic-ai#3630: one mark behind static and changing text",
            Format::Anthropic,
            OPUS,
            anthropic("s:S=5000 s:recall_a=50* u:q=10", "s:S=5000 s:recall_b=50* u:q=10"),
            "prefix_changed | changed system | volatile_system | 5050",
        ),
        (
            "pydantic/pydantic-ai#3630, mended: the changing text stands behind the mark",
            Format::Anthropic,
            OPUS,
            anthropic("s:S=5000* s:recall_a=50 u:q=10", "s:S=5000* s:recall_b=50 u:q=10"),
            "hit | - | - | 0",
        ),
        (
            "yuki-uix/agent-cost-lab#22: a change behind the last mark is no miss",
            Format::Anthropic,
            OPUS,
            anthropic("s:S=5000* u:one=100", "s:S=5000* u:two=100"),
            "hit | - | - | 0",
        ),
        (
            "BerriAI/litellm#41424, maximhq/bifrost#1935, vercel/ai#5883: marks dropped on the way",
            Format::Anthropic,
            OPUS,
            anthropic("s:S=5000* u:q=10*", "s:S=5000 u:q=10 a:x=10 u:r=10"),
            "not_marked | - | keep_marks | 5010",
        ),
        (
            "vercel/ai#5883: an option that never reached the wire",
            Format::Anthropic,
            OPUS,
            anthropic("s:S=5000 u:q=10", "s:S=5000 u:q=10 a:x=10 u:r=10"),
            "not_marked | - | add_mark | 0",
        ),
        (
            "vercel/ai#4335: below the minimum",
            Format::Anthropic,
            OPUS,
            anthropic("s:S=500* u:q=10", "s:S=500* u:q=10"),
            "below_minimum | - | below_minimum | 0",
        ),
        (
            "langchain4j#3051, BerriAI/litellm#10226: too many marks",
            Format::Anthropic,
            OPUS,
            anthropic("t:a*", "t:a* t:b* t:c* s:S* u:q*"),
            "refused | - | repair_marks | 0",
        ),
        (
            "cnighswonger/claude-code-cache-fix#44: a longer lifetime behind a shorter",
            Format::Anthropic,
            OPUS,
            anthropic("t:a*", "t:a* s:S*1h u:q*1h"),
            "refused | - | repair_marks | 0",
        ),
        (
            "anthropics/claude-code#47261: five minutes, then an hour",
            Format::Anthropic,
            OPUS,
            anthropic("s:S=5000* u:q=10*", "s:S=5000*1h u:q=10*1h"),
            "settings_changed | ttl | one_ttl | 5010",
        ),
        (
            "anthropics/claude-code#50213: a sub-agent's environment behind the only mark",
            Format::Anthropic,
            OPUS,
            anthropic(
                "s:S=4700 s:<env>¶cwd_/a¶</env>=50* u:task_x=10",
                "s:S=4700 s:<env>¶cwd_/b¶</env>=50* u:task_y=10",
            ),
            "prefix_changed | changed environment | freeze_environment | 4750",
        ),
    ]);
}

#[test]
fn tools() {
    check(vec![
        (
            "anthropics/claude-code#92033, DeepSeek-Reasonix#110: a server's tools change",
            Format::Anthropic,
            OPUS,
            anthropic(
                "t:Bash t:mcp~~git~~log s:S u:q=10*",
                "t:Bash t:mcp~~git~~log t:mcp~~git~~show s:S u:q=10 a:x=5 u:r=5*",
            ),
            "prefix_changed | added tool:mcp__git__show | mcp_drift | 3010",
        ),
        (
            "anomalyco/opencode#23571, can1357/oh-my-pi#890: the same tools in another order after a restart",
            Format::Anthropic,
            OPUS,
            anthropic(
                "t:mcp~~x~~a t:mcp~~x~~b s:S u:q=10*",
                "t:mcp~~x~~b t:mcp~~x~~a s:S u:q=10 a:x=5 u:r=5*",
            ),
            "prefix_changed | moved tool:mcp__x__b | sort_tools | 3010",
        ),
        (
            "openai/codex#2610, maximhq/bifrost#2347: an unordered map of tools",
            Format::OpenaiResponses,
            "gpt-5",
            steps(&["t:b t:a t:c d:S u:q=10", "t:c t:a t:b d:S u:q=10 a:x=5 u:r=5"]),
            "prefix_changed | moved tool:c | sort_tools | 4010",
        ),
        (
            "dust-tt/dust#20991: two of one name",
            Format::OpenaiChat,
            SOL,
            steps(&["t:x t:y s:S u:q=10", "t:y t:x s:S u:q=10 a:x=5 u:r=5"]),
            "prefix_changed | moved tool:y | sort_tools | 3010",
        ),
        (
            "a tool loaded on demand stands outside the prefix",
            Format::Anthropic,
            OPUS,
            anthropic("t:a s:S u:q=10*", "t:a td:later s:S u:q=10 a:x=5 u:r=5*"),
            "hit | - | - | 0",
        ),
    ]);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn the_system_prompt() {
    let in_system = |old: &str, new: &str| {
        anthropic(
            &format!("t:a s:{old}=3000* u:q=10*"),
            &format!("t:a s:{new}=3000* u:q=10 a:x=5 u:r=5*"),
        )
    };
    check(vec![
        (
            "goruck/home-generative-agent#617: the time in front of the prompt",
            Format::Anthropic,
            OPUS,
            in_system("It_is_08:00:01_now._You_are_X", "It_is_08:00:17_now._You_are_X"),
            "prefix_changed | changed system | clock | 4010",
        ),
        (
            "NousResearch/hermes-agent#24778: the minute rolls over",
            Format::OpenaiChat,
            SOL,
            steps(&[
                "s:You_are_H.¶Started:_2026-05-01T08:59=3000 u:q=10",
                "s:You_are_H.¶Started:_2026-05-01T09:00=3000 u:q=10 a:x=5 u:r=5",
            ]),
            "prefix_changed | changed system | clock | 3010",
        ),
        (
            "openclaw/openclaw#20894: a message's id in the prompt",
            Format::Anthropic,
            OPUS,
            in_system(
                "##_Inbound¶id:_9f8a7b6c5d4e3f21",
                "##_Inbound¶id:_1a2b3c4d5e6f7a8b",
            ),
            "prefix_changed | changed section:Inbound | identifier | 4010",
        ),
        (
            "openclaw/openclaw#54256: statistics in the prompt",
            Format::Anthropic,
            OPUS,
            in_system("##_Usage¶cost_so_far_12_cents", "##_Usage¶cost_so_far_14_cents"),
            "prefix_changed | changed section:Usage | counter | 4010",
        ),
        (
            "jayzeng/pi-memory#12, morganlinton/Albatross#20: recall for the question in the prompt",
            Format::OpenaiChat,
            "deepseek-flash",
            steps(&[
                "s:You_are_P.¶<memory-context>¶likes_tea¶</memory-context>=3000 u:q=10",
                "s:You_are_P.¶<memory-context>¶has_a_cat¶</memory-context>=3000 u:q=10 a:x=5 u:r=5",
            ]),
            "prefix_changed | changed memory | memory_behind | 3010",
        ),
        (
            "anomalyco/opencode#29672, #5224: a flag and a file list in the environment",
            Format::Anthropic,
            OPUS,
            in_system(
                "You_are_O.¶<env>¶git:_no¶</env>",
                "You_are_O.¶<env>¶git:_yes¶</env>",
            ),
            "prefix_changed | changed environment | freeze_environment | 4010",
        ),
        (
            "ggml-org/llama.cpp#21793, vllm#36829: the billing line",
            Format::Anthropic,
            OPUS,
            anthropic(
                "s:x-anthropic-billing-header:_cc~version=2.1.197.abc;_cch=1f3d5;=80 s:S=3000* u:q=10*",
                "s:x-anthropic-billing-header:_cc~version=2.1.197.abc;_cch=aa3d5;=80 s:S=3000* u:q=10 a:x=5 u:r=5*",
            ),
            "prefix_changed | changed billing-header | billing_header | 3090",
        ),
        (
            "NousResearch/hermes-agent#100336: a model switch rebuilds the prompt",
            Format::Anthropic,
            OPUS,
            vec![
                step("s:You_are_H._Old_words=3000* u:q=10*"),
                step("s:You_are_H._New_words=3000* u:q=10 a:x=5 u:r=5*")
                    .set(json!({"model": "claude-sonnet-5"})),
            ],
            "settings_changed | model | same_model | 3010",
        ),
        (
            "multica-ai/multica#6008: CLAUDE.md is written anew in each run",
            Format::Anthropic,
            OPUS,
            anthropic(
                "s:S=3000* u:<system-reminder>¶#_claudeMd¶Contents_of_/repo/CLAUDE.md_(project):¶¶run_1¶</system-reminder>=500 +:fix_it=10*",
                "s:S=3000* u:<system-reminder>¶#_claudeMd¶Contents_of_/repo/CLAUDE.md_(project):¶¶run_2¶</system-reminder>=500 +:fix_it=10*",
            ),
            "prefix_changed | changed instructions:/repo/CLAUDE.md | instructions_edited | 510",
        ),
        (
            "anthropics/claude-code#86299: resumed on another day",
            Format::Anthropic,
            OPUS,
            anthropic(
                "s:S=3000* u:<system-reminder>¶#_currentDate¶Today's_date_is_2026-08-16.¶</system-reminder>=500 +:fix_it=10*",
                "s:S=3000* u:<system-reminder>¶#_currentDate¶Today's_date_is_2026-08-17.¶</system-reminder>=500 +:fix_it=10 a:x=5 u:r=5*",
            ),
            "prefix_changed | changed date | clock | 510",
        ),
    ]);
}

#[test]
fn the_history() {
    check(vec![
        (
            "openclaw/openclaw#86063: metadata taken out of the message that was the last",
            Format::Anthropic,
            OPUS,
            anthropic(
                "s:S=3000* u:hello=10 +:meta=20*",
                "s:S=3000* u:hello=10 a:x=5 u:again=10 +:meta=20*",
            ),
            "prefix_changed | removed user-prompt | passing_block | 30",
        ),
        (
            "code-yeongyu/oh-my-openagent#7234: a hook's block is gone on the next turn",
            Format::Anthropic,
            OPUS,
            anthropic(
                "s:S=3000* u:UserPromptSubmit_hook_additional_context:_X=300 +:hello=10*",
                "s:S=3000* u:hello=10 a:x=5 u:UserPromptSubmit_hook_additional_context:_Y=300 +:next=10*",
            ),
            "prefix_changed | removed hook:UserPromptSubmit | keep_history | 310",
        ),
        (
            "anomalyco/opencode#32515: old tool results pruned",
            Format::Anthropic,
            OPUS,
            anthropic(
                "s:S=3000* u:q=10 c:f=10 r:a_long_output=90000 c:g=10 r:other=500*",
                "s:S=3000* u:q=10 c:f=10 r:cut=10 c:g=10 r:other=500 c:h=10 r:o=10*",
            ),
            "prefix_changed | changed tool-result | pruned_results | 90530",
        ),
        (
            "headroomlabs-ai/headroom#3379: sent bytes compressed again in the background",
            Format::OpenaiChat,
            SOL,
            steps(&[
                "s:S=3000 u:a_long_story=500 a:x=5 u:b=5",
                "s:S=3000 u:a_shorter_story=200 a:x=5 u:b=5 a:y=5 u:c=5",
            ]),
            "prefix_changed | changed user-prompt | history_edited | 3510",
        ),
        (
            "farion1231/cc-switch#7252: a system message steers in mid-conversation",
            Format::OpenaiChat,
            "deepseek-flash",
            steps(&[
                "s:S=3000 u:q=10 a:x=5 u:b=5",
                "s:S=3000 s:steer=20 u:q=10 a:x=5 u:b=5 a:y=5 u:c=5",
            ]),
            "prefix_changed | added system | volatile_system | 3020",
        ),
        (
            "openai/codex#35300: the implicit mark lands behind a changing tail",
            Format::OpenaiResponses,
            SOL,
            steps(&[
                "d:S=9000 u:fix=20 u:tail_one=40",
                "d:S=9000 u:fix=20 u:tail_two=40",
            ]),
            "prefix_changed | changed user-prompt | changing_tail | 9060",
        ),
        (
            "openai/codex#35300, mended by one explicit mark",
            Format::OpenaiResponses,
            SOL,
            steps(&[
                "d:S=9000 u:fix=20* u:tail_one=40",
                "d:S=9000 u:fix=20* u:tail_two=40",
            ]),
            "prefix_changed | changed user-prompt | changing_tail | 40",
        ),
        (
            "a message that was extended",
            Format::OpenaiResponses,
            SOL,
            steps(&["d:S=9000 u:fix=20", "d:S=9000 u:fix=20 +:and_more=5"]),
            "prefix_changed | extended user-prompt | extended_message | 9020",
        ),
        (
            "old thinking stripped when the user speaks",
            Format::Anthropic,
            "claude-sonnet-4-5",
            anthropic(
                "s:S=3000* u:q=10 th:t=500 c:f=10 r:o=10*",
                "s:S=3000* u:q=10 th:t=500 c:f=10 r:o=10 u:more=5*",
            ),
            "prefix_changed | stripped reasoning | thinking_stripped | 530",
        ),
    ]);
}

#[test]
fn settings_keys_and_routes() {
    let grown = |settings: Value| step("d:S=3000 u:q=10 a:x=5 u:r=5").set(settings);
    let first = |settings: Value| step("d:S=3000 u:q=10").set(settings);
    check(vec![
        (
            "openai/codex#35416, anthropics/claude-code#66005: another effort",
            Format::OpenaiResponses,
            SOL,
            vec![
                first(json!({"reasoning": {"effort": "high"}})),
                grown(json!({"reasoning": {"effort": "low"}})),
            ],
            "settings_changed | effort | same_effort | 3010",
        ),
        (
            "openai/codex#35416: going back hits again",
            Format::OpenaiResponses,
            SOL,
            vec![
                first(json!({"reasoning": {"effort": "high"}})),
                grown(json!({"reasoning": {"effort": "low"}})),
                grown(json!({"reasoning": {"effort": "high"}})),
            ],
            "settings_changed | effort | same_effort | 10",
        ),
        (
            "NousResearch/hermes-agent#103481: another key",
            Format::OpenaiResponses,
            SOL,
            vec![
                first(json!({"prompt_cache_key": "a", "session_id": "s"})),
                grown(json!({"prompt_cache_key": "b", "session_id": "s"})),
            ],
            "key_or_route_changed | cache_key | keep_key | 3010",
        ),
        (
            "BerriAI/litellm#6784, #19226: balanced over deployments",
            Format::OpenaiResponses,
            SOL,
            vec![first(json!({})).route("east"), grown(json!({})).route("west")],
            "key_or_route_changed | route | same_route | 3010",
        ),
        (
            "an implicit end read in explicit mode",
            Format::OpenaiResponses,
            SOL,
            vec![
                first(json!({})),
                step("d:S=3000 u:q=10 a:x=5 u:r=5*")
                    .set(json!({"prompt_cache_options": {"mode": "explicit"}})),
            ],
            "settings_changed | cache_mode | cache_mode | 3010",
        ),
        (
            "a tool choice loses the conversation only",
            Format::Anthropic,
            OPUS,
            vec![
                step("s:S=3000* u:q=10*"),
                step("s:S=3000* u:q=10 a:x=5 u:r=5*").set(json!({"tool_choice": {"type": "any"}})),
            ],
            "settings_changed | tool_choice | tool_choice | 10",
        ),
    ]);
}

#[test]
fn time_and_the_provider() {
    let base = "s:S=20000* u:q=10*";
    let grown = "s:S=20000* u:q=10 a:x=5 u:r=5*";
    check(vec![
        (
            "liaohch3/claude-tap#437: a cold start is no miss",
            Format::Anthropic,
            OPUS,
            steps(&[base]),
            "cold | - | - | 0",
        ),
        (
            "liaohch3/claude-tap#437: expired",
            Format::Anthropic,
            OPUS,
            vec![step(base), step(grown).at(6)],
            "expired | - | longer_ttl | 20010",
        ),
        (
            "an expired hour",
            Format::Anthropic,
            OPUS,
            vec![
                step("s:S=20000*1h u:q=10*1h"),
                step("s:S=20000*1h u:q=10*1h").at(61),
            ],
            "expired | - | keep_warm | 20010",
        ),
        (
            "Yeachan-Heo/gajae-code#2020, anthropic-auth#157: same bytes, in time, and still a miss",
            Format::Anthropic,
            OPUS,
            vec![
                step(base).reported(0, 0, 20_010),
                step(grown).reported(20_020, 0, 0),
            ],
            "provider_unknown | - | not_your_change | 20010",
        ),
        (
            "FerroxLabs/wayland#1166: a flat three per cent is not healthy",
            Format::Anthropic,
            OPUS,
            vec![
                step(base).reported(0, 600, 19_410),
                step(grown).reported(0, 600, 19_420),
                step("s:S=20000* u:q=10 a:x=5 u:r=5 a:y=5 u:t=5*").reported(0, 600, 19_430),
            ],
            "provider_unknown | - | not_your_change | 19420",
        ),
        (
            "requests that start together",
            Format::Anthropic,
            OPUS,
            vec![
                step(base),
                Step {
                    minute: 0,
                    ..step(base)
                },
                step(base),
            ],
            "hit | - | - | 0",
        ),
    ]);
}

#[test]
fn requests_that_start_together_all_pay() {
    let mut explainer = Explainer::new(&RULES, &PRICES);
    let one = step("s:S=20000* u:q=10*").exchange(Format::Anthropic, OPUS, 0);
    let slow = Exchange {
        began_ms: Some(4_000),
        ..one
    };
    explainer.observe(slow.clone()).unwrap();
    let why = explainer.observe(Exchange { at_ms: 1_000, ..slow }).unwrap();
    assert_eq!(line(&why), "not_yet_available | - | wait_for_first | 20010");
}

#[test]
fn every_code_of_advice_has_its_sentence() {
    let sentences = advice::sentences();
    assert!(
        sentences
            .values()
            .all(|text| text.ends_with('.') && text.len() < 260)
    );
    let source = [include_str!("../advice.rs"), include_str!("../volatile.rs")].concat();
    for code in sentences.keys() {
        assert!(
            source.contains(&format!("\"{code}\"")),
            "no verdict leads to `{code}`"
        );
    }
}
