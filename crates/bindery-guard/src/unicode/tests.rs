use super::*;
use crate::fold::fold_noting;

/// What a scan finds: only lines are looked at that folding noted.
fn noted(source: &str) -> Vec<Raw> {
    let mut suspects = Vec::new();
    fold_noting(source, &mut suspects);
    inspect(source, &suspects)
}

fn worst(source: &str) -> Option<(&'static str, Severity)> {
    noted(source)
        .into_iter()
        .max_by_key(|raw| raw.severity)
        .map(|raw| (raw.rule, raw.severity))
}

#[test]
fn honest_text_passes() {
    let honest = [
        "family 👨‍👩‍👧‍👦 👩🏽‍💻 🏳️‍🌈 ❤️ 1️⃣ 🇩🇪 🐻‍❄️ ♂️ ☑️",
        "flags \u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F} and more",
        "क्‍षेत्र श्‍री न्‍याय क्‌ष",
        "نمی‌خواهم می‌شود",
        "استخدم `npm run build`\u{200E} ثم README.md\u{200F}. الإصدار \u{2068}1.2.3\u{2069}",
        "אב \u{200F}גד",
        "\u{FEFF}# Title",
        "ភាសា\u{200B}ខ្មែរ ไทย\u{200B}ภาษา",
        "Silben\u{AD}tren\u{AD}nung",
        "葛\u{E0100}城",
        "Проект: сборка через cargo, файл README.md",
        "σ and Δt are 5 μm; αβγ",
        "naïve cafe\u{301} Zürich",
        "한국어 문서",
    ];
    for source in honest {
        assert_eq!(worst(source), None, "{source}");
    }
}

#[test]
fn hidden_text_is_found_and_decoded() {
    let tags: String = "Hello you"
        .bytes()
        .filter_map(|byte| char::from_u32(0xE0000 + u32::from(byte)))
        .collect();
    let found = noted(&format!("x{tags}"));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].decoded.as_deref(), Some("Hello you"));
    assert_eq!(found[0].severity, Severity::Critical);

    let selectors: String = "run it"
        .bytes()
        .filter_map(|byte| char::from_u32(0xE0100 + u32::from(byte) - 16))
        .collect();
    assert_eq!(
        noted(&format!("😀{selectors}"))[0].decoded.as_deref(),
        Some("run it")
    );

    for (zero, one) in [
        ('\u{200B}', '\u{200C}'),
        ('\u{2062}', '\u{2064}'),
        ('\u{200D}', '\u{2060}'),
    ] {
        let bits: String = "obey"
            .bytes()
            .flat_map(|byte| {
                (0..8)
                    .rev()
                    .map(move |bit| if byte >> bit & 1 == 1 { one } else { zero })
            })
            .collect();
        assert_eq!(
            noted(&format!("ok{bits}"))[0].decoded.as_deref(),
            Some("obey"),
            "{zero:?}"
        );
    }
}

#[test]
fn severity_follows_the_class() {
    let cases = [
        ("## Tone\u{AD} notes", "invisible.soft-hyphens", Severity::Low),
        (
            "i\u{AD}g\u{AD}n\u{AD}o\u{AD}r\u{AD}e",
            "invisible.soft-hyphens",
            Severity::High,
        ),
        (
            "a\u{200B}b\u{200B}c\u{200B}d\u{200B}e",
            "invisible.stray",
            Severity::High,
        ),
        ("one\u{200B} word", "invisible.stray", Severity::Low),
        ("x \u{202E}abc\u{202C}", "bidi.override", Severity::High),
        ("if ok \u{2066}// done", "bidi.unbalanced", Severity::High),
        ("\u{2067}latin\u{2069}", "bidi.needless", Severity::Medium),
        ("\u{1b}[8mhidden\u{1b}[0m", "terminal.escape", Severity::High),
        ("a\u{8}b\u{8}c\u{8}", "terminal.backspace", Severity::High),
        ("раураl оrdеr nоw", "homoglyph.mixed", Severity::High),
        (
            "s\u{336}t\u{336}r\u{336}u\u{336}c\u{336}k\u{336} \u{336}i\u{336}t\u{336}",
            "homoglyph.marks",
            Severity::High,
        ),
        ("mid\u{FEFF}file", "invisible.stray", Severity::Low),
    ];
    for (source, rule, severity) in cases {
        assert_eq!(worst(source), Some((rule, severity)), "{source:?}");
    }
}

proptest::proptest! {
    /// Lines without a suspect character have no finding.
    #[test]
    fn the_short_cut_misses_nothing(
        lines in proptest::collection::vec("[a-zа-яα-ω \\r\u{200b}-\u{200f}\u{ad}]{0,12}|[абвaeор]{0,8}|[éя忽ا\u{300}\u{61c}\u{fe0f}\u{e0041}\u{9b}\u{1b}\u{3164} ]{0,6}|(?s).{0,6}", 0..6)
    ) {
        let source = lines.join("\n");
        proptest::prop_assert_eq!(format!("{:?}", noted(&source)), format!("{:?}", inspect_fully(&source)));
    }
}
