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

proptest::proptest! {
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
