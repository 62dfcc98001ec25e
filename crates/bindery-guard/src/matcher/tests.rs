use super::*;
use crate::fold::fold;

/// Words that anchors, later segments and gaps of the shipped patterns are made of, and others.
const WORDS: &str = "ignore|disregard|forget|all|previous|earlier|instructions|rules|your|the|send|upload|copy|post|api|key|\
    password|token|to|https://x.example/a|me@x.example|reveal|print|show|system|prompt|you|are|now|unrestricted|do|not|tell|\
    user|never|mention|remember|future|sessions|without|approval|skip|confirmation|read|open|collect|and|it|them|in|with|every|\
    reply|commit|message|note|ai|assistants|must|run|curl|word|for|verbatim|output|of|env|conversation|before|any|other|tool|\
    use|always|silently|backdoor|hidden|text|above|what|is|written|say|state|email|it|whole|rules|given|developer|mode|enabled|\
    if|when|reading|this|page|agent|recommend|as|best|write|memory|from|now|on|approved|safe|webhook|.npmrc|/etc/shadow|base64|\
    ~/.ssh/id_rsa|.env|file|=|(|/|, |. |\n|- |`|игнорируй|все|предыдущие|инструкции|忽略|之前的|所有|指令|oublie|toutes|les|\
    instructions precedentes|ignoriere|alle|vorherigen|anweisungen|ignora|todas|las|anteriores|以前の|指示|を無視|무시|이전|지시";

fn texts() -> impl proptest::strategy::Strategy<Value = String> {
    use proptest::prelude::*;
    let words: Vec<&str> = WORDS.split('|').map(str::trim_start).collect();
    let separators =
        proptest::sample::select(vec![" ", " ", " ", " ", "", "  ", " - ", "/", "\n", " = ", ": "]);
    proptest::collection::vec((proptest::sample::select(words), separators), 0..24)
        .prop_map(|parts| parts.into_iter().flat_map(|(word, gap)| [word, gap]).collect())
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(400))]
    /// Needs, filters and looks ahead spare work and change no hit.
    #[test]
    fn short_cuts_change_no_hit(text in texts()) {
        let scanner = crate::test_scanner();
        let folded = fold(&text);
        let fully = scanner.plain_hits_fully(folded.text());
        let mut work = Work::default();
        // Twice, as what is kept from one text must not count for the next.
        for _ in 0..2 {
            proptest::prop_assert_eq!(&scanner.plain_hits(folded.text(), &mut work), &fully);
            let survey = scanner.survey(folded.text());
            proptest::prop_assert_eq!(&scanner.surveyed_hits(folded.text(), &survey, &mut work), &fully);
        }
    }
}
