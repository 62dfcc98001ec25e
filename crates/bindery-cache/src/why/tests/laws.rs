use super::*;

fn pair(first: Step, then: Step) -> Why {
    last(Format::Anthropic, OPUS, &[first, then])
}

#[test]
fn the_change_is_found_to_the_byte_and_shown() {
    let why = pair(
        step(
            "s:S=3000* u:<system-reminder>¶#_claudeMd¶Contents_of_/repo/CLAUDE.md_(project):¶¶Use_tabs.¶Be_brief.¶</system-reminder>=500 +:go=10*",
        ),
        step(
            "s:S=3000* u:<system-reminder>¶#_claudeMd¶Contents_of_/repo/CLAUDE.md_(project):¶¶Use_spaces.¶Be_brief.¶</system-reminder>=500 +:go=10*",
        ),
    );
    let change = why.change.as_ref().unwrap();
    assert_eq!(change.diff, "-Use tabs.\n+Use spaces.");
    assert_eq!(change.fragment, "instructions:/repo/CLAUDE.md");
    assert_eq!(change.words, Some(("tabs.".to_owned(), "spaces.".to_owned())));
    let body = step("s:S=3000* u:<system-reminder>¶#_claudeMd¶Contents_of_/repo/CLAUDE.md_(project):¶¶Use_spaces.¶Be_brief.¶</system-reminder>=500 +:go=10*")
        .exchange(Format::Anthropic, OPUS, 0);
    let body = body.request.request().body();
    assert!(
        body.get(change.offset..)
            .unwrap()
            .starts_with("spaces.\\nBe brief.")
    );
}

#[test]
fn money_is_the_difference_to_reading() {
    let why = pair(step("s:Sa=100000* u:q=0*"), step("s:Sb=100000* u:q=0*"));
    // 100,000 tokens written at 6.25 $ instead of read at 0.50 $ a million.
    assert_eq!((why.lost.rewritten, why.lost.in_full), (100_000, 0));
    assert_eq!(why.lost.extra.unwrap().to_string(), "$0.575");
    assert_eq!(why.cost.unwrap().total().to_string(), "$0.625");
}

#[test]
fn money_is_exact_for_plain_tokens_too() {
    let steps = [
        step("s:Aa=10000 u:q=0").set(json!({"model": "gpt-4o"})),
        step("s:Ba=10000 u:q=0").set(json!({"model": "gpt-4o"})),
    ];
    let why = last(Format::OpenaiChat, "gpt-4o", &steps);
    assert_eq!(
        line(&why),
        "prefix_changed | changed system | volatile_system | 10000"
    );
    assert_eq!(
        (why.lost.in_full, why.lost.extra.unwrap().to_string()),
        (10_000, "$0.0125".to_owned())
    );
}

#[test]
fn predicted_stands_beside_reported() {
    let base = step("s:S=20000* u:q=10*");
    let grown = "s:S=20000* u:q=10 a:x=5 u:r=5*";
    let fits = pair(
        base.clone().reported(0, 0, 20_100),
        step(grown).reported(0, 20_100, 12),
    );
    assert_eq!(
        (fits.verdict, fits.mismatch, fits.predicted.read),
        (Verdict::Hit, None, 20_010)
    );
    let differs = pair(
        base.clone().reported(0, 0, 20_100),
        step(grown).reported(20_000, 0, 0),
    );
    assert_eq!(
        (differs.verdict, differs.mismatch),
        (Verdict::ProviderUnknown, Some(-20_010))
    );
    let lucky = pair(
        base.reported(0, 0, 20_100),
        step("s:T=20000* u:q=10*").reported(0, 20_000, 10),
    );
    assert_eq!(
        (lucky.verdict, lucky.mismatch),
        (Verdict::Hit, Some(20_000)),
        "what was reported counts"
    );
}

#[test]
fn the_provider_s_answer_stands_beside_ours() {
    let base = "t:a s:S=3000* u:q=10*";
    let changed = |reason: &str| pair(step(base), step("t:b s:S=3000* u:q=10*").diagnosed(reason));
    let agrees = changed("tools_changed");
    assert_eq!(agrees.provider.as_ref().unwrap().agrees, Some(true));
    let disagrees = changed("system_changed");
    assert_eq!(disagrees.provider.as_ref().unwrap().agrees, Some(false));
    assert!(disagrees.notes.iter().any(|note| note.contains("disagrees")));
    let mut nothing = step("t:b s:S=3000* u:q=10*");
    nothing.diagnosis = Some(Diagnosis::NoDivergence);
    assert_eq!(pair(step(base), nothing).provider.unwrap().agrees, Some(false));
    let mut unavailable = step("t:b s:S=3000* u:q=10*");
    unavailable.diagnosis = Some(Diagnosis::Unavailable);
    assert_eq!(pair(step(base), unavailable).provider.unwrap().agrees, None);
}

#[test]
fn the_predecessor_is_of_the_same_conversation_not_merely_the_last() {
    let whys = explain(
        Format::Anthropic,
        OPUS,
        None,
        &[
            step("t:Bash t:Read s:You_are_the_main_agent=3000* u:first_task=10*"),
            step("t:Read s:You_explore=2000* u:look_around=10*"),
            step("t:Bash t:Read s:You_are_the_main_agent=3000* u:first_task=10 a:x=5 u:on=5*"),
            step("t:Read s:You_explore=2000* u:look_around=10 a:y=5 u:deeper=5*"),
        ],
    );
    let found: Vec<(String, Option<usize>)> = whys
        .iter()
        .map(|why| {
            (
                why.verdict.name().to_owned(),
                why.predecessor.map(|before| before.number),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("cold".into(), None),
            ("cold".into(), None),
            ("hit".into(), Some(0)),
            ("hit".into(), Some(1))
        ]
    );
}

#[test]
fn sessions_are_kept_apart_even_if_they_say_the_same() {
    let session = |name: &str, parts: &str| {
        step(parts).set(json!({"metadata": {"user_id": format!("{{\"session_id\":\"{name}\"}}")}}))
    };
    let whys = explain(
        Format::Anthropic,
        OPUS,
        None,
        &[
            session("a", "s:S=3000* s:Sa=100 u:go=10*"),
            session("b", "s:S=3000* s:Sb=100 u:go=10*"),
            session("a", "s:S=3000* s:Sa=100 u:go=10 a:x=5 u:on=5*"),
        ],
    );
    let found: Vec<_> = whys
        .iter()
        .map(|why| {
            (
                why.verdict.clone(),
                why.predecessor.map(|before| (before.number, before.relation)),
            )
        })
        .collect();
    assert_eq!(
        found[1],
        (Verdict::Hit, Some((0, Relation::SharedPrefix))),
        "the static part is shared"
    );
    assert_eq!(found[2], (Verdict::Hit, Some((0, Relation::SameConversation))));
}

#[test]
fn an_unknown_model_is_said_to_be_unknown_unless_a_family_is_named() {
    let steps = [step("s:S=3000 u:q=10"), step("s:S=3000 u:q=10 a:x=5 u:r=5")];
    let unknown = last(Format::OpenaiChat, "my-own", &steps);
    assert_eq!(unknown.verdict, Verdict::ProviderUnknown);
    assert_eq!(
        unknown.notes,
        ["no rules are known for `my-own`: name the cache's family to have it explained"]
    );
    let named = explain(Format::OpenaiChat, "my-own", Some(Family::LlamaCpp), &steps)
        .pop()
        .unwrap();
    assert_eq!((named.verdict, named.predicted.read), (Verdict::Hit, 3010));
}

#[test]
fn a_diagnosis_is_written_as_json() {
    let why = pair(step("t:a s:Sa=3000* u:q=10*"), step("t:a s:Sb=3000* u:q=10*"));
    insta::assert_snapshot!(serde_json::to_string_pretty(&why).unwrap());
}
