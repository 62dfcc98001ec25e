//! What the answers of several hooks come to.

use serde_json::{Map, Value};

use crate::answer::{Answer, Failure, Verdict};
use crate::permission::Rule;

/// Something a hook said, with the name of the hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named<T> {
    /// The hook.
    pub hook: String,
    /// What it said.
    pub said: T,
}

/// What all hooks of one event come to. Lists are in the order of the hooks, whichever ended first.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The strictest verdict.
    pub verdict: Verdict,
    /// Why, from every hook that gave this verdict.
    pub reasons: Vec<Named<String>>,
    /// Another input for the tool; the last one that was given, unless the tool does not run.
    pub rewrite: Option<Named<Map<String, Value>>>,
    /// Context for the model.
    pub contexts: Vec<Named<String>>,
    /// Messages for the user.
    pub messages: Vec<Named<String>>,
    /// The first that stops the session's work.
    pub halt: Option<Named<String>>,
    /// States that are reached.
    pub states: Vec<Named<String>>,
    /// What takes the place of the conversation; the first one that was given.
    pub replacement: Option<Named<Value>>,
    /// Hooks that failed.
    pub failures: Vec<Named<Failure>>,
    /// What the hooks' authors should know.
    pub remarks: Vec<Named<String>>,
}

/// Merges answers. The verdict does not depend on their order, and what a hook left out erases nothing.
pub fn merge(answers: &[Named<Answer>]) -> Outcome {
    let verdict = answers
        .iter()
        .map(|answer| answer.said.verdict)
        .max()
        .unwrap_or(Rule::None);
    let reasons = all(answers, |answer| {
        answer.reason.clone().filter(|_| answer.verdict == verdict)
    });
    let rewrites = all(answers, |answer| answer.rewrite.clone());
    let replacements = all(answers, |answer| answer.replacement.clone());
    let mut remarks = many(answers, |answer| &answer.remarks);
    if let Some((last, earlier)) = rewrites.split_last() {
        let overruled = earlier.iter().filter(|other| other.said != last.said);
        remarks.extend(overruled.map(|other| Named {
            hook: other.hook.clone(),
            said: format!("its input for the tool is overruled by that of `{}`", last.hook),
        }));
    }
    remarks.extend(replacements.iter().skip(1).map(|other| Named {
        hook: other.hook.clone(),
        said: "another hook's replacement came first".to_owned(),
    }));
    Outcome {
        verdict,
        reasons,
        rewrite: rewrites.into_iter().last().filter(|_| verdict != Rule::Deny),
        contexts: all(answers, |answer| answer.context.clone()),
        messages: all(answers, |answer| answer.message.clone()),
        halt: all(answers, |answer| answer.halt.clone()).into_iter().next(),
        states: many(answers, |answer| &answer.states),
        replacement: replacements.into_iter().next(),
        failures: all(answers, |answer| answer.failure.clone()),
        remarks,
    }
}

fn all<T>(answers: &[Named<Answer>], get: impl Fn(&Answer) -> Option<T>) -> Vec<Named<T>> {
    let one = |answer: &Named<Answer>| {
        let hook = answer.hook.clone();
        get(&answer.said).map(|said| Named { hook, said })
    };
    answers.iter().filter_map(one).collect()
}

fn many(answers: &[Named<Answer>], get: impl Fn(&Answer) -> &Vec<String>) -> Vec<Named<String>> {
    let named = |answer: &Named<Answer>| {
        let hook = answer.hook.clone();
        get(&answer.said)
            .iter()
            .map(move |said| Named {
                hook: hook.clone(),
                said: said.clone(),
            })
            .collect::<Vec<_>>()
    };
    answers.iter().flat_map(named).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::{Contract, Ending, Event, OnError, Ran, read};

    fn answer(hook: &str, output: &Value) -> Named<Answer> {
        let ran = Ran {
            ending: Ending::Exited(0),
            stdout: output.to_string().into_bytes(),
            stderr: Vec::new(),
            cut: false,
        };
        Named {
            hook: hook.to_owned(),
            said: read(Contract::Claude, Event::PreToolUse, OnError::Allow, &ran),
        }
    }

    fn specific(fields: &Value) -> Value {
        let mut fields = fields.clone();
        fields["hookEventName"] = json!("PreToolUse");
        json!({"hookSpecificOutput": fields})
    }

    #[test]
    fn an_empty_answer_erases_no_rewrite_wherever_it_stands() {
        let rewrite = answer("b", &specific(&json!({"updatedInput": {"command": "B"}})));
        let empty = answer("a", &specific(&json!({"updatedInput": null})));
        for order in [[rewrite.clone(), empty.clone()], [empty, rewrite]] {
            let merged = merge(&order);
            assert_eq!(
                merged.rewrite.map(|one| one.said["command"].clone()),
                Some(json!("B"))
            );
        }
    }

    #[test]
    fn the_strictest_verdict_holds_with_its_reasons() {
        let say = |hook: &str, word: &str| {
            answer(
                hook,
                &specific(&json!({"permissionDecision": word, "permissionDecisionReason": hook})),
            )
        };
        let merged = merge(&[
            say("a", "allow"),
            say("b", "deny"),
            say("c", "ask"),
            say("d", "deny"),
        ]);
        assert_eq!(merged.verdict, Rule::Deny);
        let reasons: Vec<&str> = merged.reasons.iter().map(|one| one.said.as_str()).collect();
        assert_eq!(reasons, ["b", "d"]);
        assert_eq!(merge(&[]).verdict, Rule::None);
    }

    #[test]
    fn rewrites_that_disagree_are_told_and_a_refused_tool_has_none() {
        let one = answer("a", &specific(&json!({"updatedInput": {"x": 1}})));
        let two = answer("b", &specific(&json!({"updatedInput": {"x": 2}})));
        let merged = merge(&[one.clone(), two.clone()]);
        assert_eq!(merged.rewrite.as_ref().map(|one| one.hook.as_str()), Some("b"));
        assert_eq!(merged.remarks.len(), 1);
        let deny = answer("c", &json!({"decision": "block", "reason": "no"}));
        assert_eq!(merge(&[one, two, deny]).rewrite, None);
    }

    /// What random hooks write: bytes, texts, and objects with fields of the protocol and values that may
    /// be anything.
    fn output() -> impl Strategy<Value = Vec<u8>> {
        let value = prop_oneof![
            Just(json!("deny")),
            Just(json!("ask")),
            Just(json!("allow")),
            Just(json!("block")),
            Just(json!(null)),
            Just(json!(7)),
            Just(json!({"a": 1})),
            Just(json!(["a"])),
            "[a-z{\"]{0,6}".prop_map(Value::from),
        ];
        let field = "(hookSpecificOutput|decision|reason|continue|set|replace|systemMessage|colour)";
        let inner = "(hookEventName|permissionDecision|additionalContext|updatedInput|x)";
        let specific = proptest::collection::btree_map(inner, value.clone(), 0..4)
            .prop_map(|fields| json!({"hookSpecificOutput": fields}).to_string().into_bytes());
        let object = proptest::collection::btree_map(field, value, 0..4)
            .prop_map(|fields| json!(fields).to_string().into_bytes());
        prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..40),
            "\\PC{0,30}".prop_map(String::into_bytes),
            specific,
            object,
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]
        #[test]
        fn no_output_crashes_and_no_failed_answer_reaches_the_model(
            outputs in proptest::collection::vec((output(), 0_i32..4), 0..4),
            event in 0..Event::ALL.len(),
            contract in 0..3_usize,
        ) {
            let event = Event::ALL[event];
            let contract = [Contract::Claude, Contract::Codex, Contract::Own][contract];
            let answers: Vec<Named<Answer>> = outputs
                .into_iter()
                .enumerate()
                .map(|(index, (stdout, code))| {
                    let ending = Ending::Exited(code);
                    let ran = Ran { ending, stdout, stderr: Vec::new(), cut: false };
                    Named { hook: index.to_string(), said: read(contract, event, OnError::Allow, &ran) }
                })
                .collect();
            let merged = merge(&answers);
            let failed: Vec<&str> = merged.failures.iter().map(|one| one.hook.as_str()).collect();
            prop_assert!(merged.contexts.iter().all(|one| !failed.contains(&one.hook.as_str())));
            prop_assert!(merged.contexts.is_empty() || event.takes_context());
            prop_assert!(merged.verdict != Rule::Deny || event.can_block());
            let mut backwards = answers;
            backwards.reverse();
            prop_assert_eq!(merge(&backwards).verdict, merged.verdict);
        }
    }
}
