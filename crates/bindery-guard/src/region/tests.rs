use super::*;

fn position_of(source: &str, needle: &str) -> Position {
    Regions::new(source, &mut Work::default()).at(source.find(needle).unwrap())
}

#[test]
fn places_are_told_apart() {
    let source = "---\nfront: matter\n---\n\nprose `inline` [shown](http://target) ![alternative](http://image)\n\n\
                  > quoted\n\n```\nfenced <!-- not a comment -->\n```\n\n<!-- comment -->\n\n\
                  <div style=\"display: none\">unseen</div>\n\nafter\n\n<p hidden>gone</p>\n\n[//]: # (aside)\n";
    let expected = [
        ("front", Position::FrontMatter),
        ("prose", Position::Prose),
        ("inline", Position::InlineCode),
        ("shown", Position::Prose),
        ("http://target", Position::LinkTarget),
        ("alternative", Position::LinkTarget),
        ("quoted", Position::Quotation),
        ("fenced", Position::CodeBlock),
        ("not a comment", Position::CodeBlock),
        ("comment -->\n\n<div", Position::Comment),
        ("unseen", Position::HiddenMarkup),
        ("after", Position::Prose),
        ("gone", Position::HiddenMarkup),
        ("aside", Position::Comment),
    ];
    for (needle, position) in expected {
        assert_eq!(position_of(source, needle), position, "{needle}");
    }
}

#[test]
fn unclosed_markup_reaches_to_the_end() {
    assert_eq!(position_of("a\n\n<!-- b c", "c"), Position::Comment);
    assert_eq!(
        position_of("a <span style='opacity:0'>b c", "c"),
        Position::HiddenMarkup
    );
}
