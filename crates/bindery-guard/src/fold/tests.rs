use super::*;

fn folded(source: &str) -> String {
    String::from_utf8(fold(source).text().to_vec()).unwrap()
}

#[test]
fn readers_see_one_spelling() {
    let cases = [
        ("Plain  Text\r\n\n here", "plain text\nhere"),
        ("Ｆｕｌｌ ｗｉｄｔｈ：。", "full width:."),
        ("𝗕𝗼𝗹𝗱 ⓒⓘⓡⓒⓛⓔ 🅱ox", "bold circle box"),
        ("Ⅳ ﬁne éàü Łódź", "iv fine eau lodz"),
        ("s̶t̶r̶u̶c̶k̶", "struck"),
        ("раypal сору", "paypal copy"),
        ("Не игнорируйте", "не игнорируйте"),
        ("Ещё", "еще"),
        ("zero\u{200B}width soft\u{AD}hyphen", "zerowidth softhyphen"),
        ("\u{1b}[8mhidden\u{1b}[0m b\u{8}o\u{8}ld", "hidden bold"),
        ("“quoted” – it’s", "\"quoted\" - it's"),
        ("İSTANBUL ısı", "istanbul isi"),
        ("نمی‌خواهم أنا", "نميخواهم انا"),
        ("ブラウザ 하세요", "ブラウザ 하세요"),
    ];
    for (source, expected) in cases {
        assert_eq!(folded(source), expected, "{source:?}");
    }
}

#[test]
fn offsets_lead_back_to_the_source() {
    let source = "a \u{200B} ｂ  é!";
    let view = fold(source);
    let at = view.text().iter().position(|byte| *byte == b'b').unwrap();
    let range = view.source_range(&(at..at + 1));
    assert_eq!(source.get(range.start..range.start + 3), Some("ｂ"));
    let bang = view.text().iter().position(|byte| *byte == b'!').unwrap();
    assert_eq!(
        view.source_range(&(bang..bang + 1)),
        source.len() - 1..source.len()
    );
}

/// As [`fold`], letter by letter.
fn fold_fully(source: &str) -> View {
    let mut view = View::with_capacity(source.len());
    let mut lookalikes = Lookalikes::default();
    let mut at = 0;
    while let Some(&byte) = source.as_bytes().get(at) {
        at = match class_of(byte) {
            Class::Plain => {
                view.push(byte.to_ascii_lowercase(), at, 1);
                at + 1
            }
            Class::Blank | Class::Bell | Class::Break => {
                fold_blanks(source.as_bytes(), at, &mut view, &mut Vec::new())
            }
            Class::Control => at + terminal::sequence_len(&source.as_bytes()[at..]),
            Class::Wide => fold_one(source, at, &mut view, &mut lookalikes),
        };
    }
    view
}

proptest::proptest! {
    #[test]
    fn the_short_cut_changes_nothing(
        source in "[A-Za-zА-яёα-ωÀ-ÿğİ \\n]{0,40}|[авеоpacxй\u{300}\u{200d}é中かナ한ا-يأ-ہ०-९क-ह ]{0,40}|(?s).{0,40}"
    ) {
        let (short, full) = (fold(&source), fold_fully(&source));
        proptest::prop_assert_eq!(String::from_utf8_lossy(short.text()), String::from_utf8_lossy(full.text()));
        for at in 0..=short.text().len() {
            proptest::prop_assert_eq!(short.source_of(at), full.source_of(at));
            proptest::prop_assert_eq!(short.source_range(&(0..at)), full.source_range(&(0..at)));
        }
    }

    #[test]
    fn folding_is_total_and_maps_inside(source in "\\PC{0,60}|(?s).{0,60}") {
        let view = fold(&source);
        for at in 0..view.text().len() {
            let range = view.source_range(&(at..at + 1));
            assert!(range.start <= range.end && range.end <= source.len());
        }
    }

    #[test]
    fn folding_ascii_twice_changes_nothing(source in "[ -~\n]{0,80}") {
        let once = folded(&source);
        assert_eq!(folded(&once), once);
    }
}
