use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;
use crate::fixtures::file;

fn variables(pairs: &[(&str, Option<&str>)]) -> Variables {
    pairs
        .iter()
        .map(|(name, value)| (Arc::from(*name), value.map(Text::from)))
        .collect()
}

fn error(source: &Source, text: &str, variables: &Variables) -> String {
    let (offset, problem) = interpolate(text, variables).unwrap_err();
    let error = RenderError {
        what: "section",
        name: "rules".to_owned(),
        place: place(source, text, offset),
        problem,
    };
    error.to_string()
}

#[test]
fn references_are_replaced_and_everything_else_stays() {
    let known = variables(&[("a", Some("1")), ("b_2", Some(""))]);
    for (text, rendered) in [
        ("", ""),
        ("no references", "no references"),
        ("{{a}}", "1"),
        ("x{{a}}y{{b_2}}z{{a}}", "x1yz1"),
        ("{{a}}}}", "1}}"),
        ("{ {a}} {a} }}{", "{ {a}} {a} }}{"),
        ("{\"a\":{\"b\":1}}", "{\"a\":{\"b\":1}}"),
        ("é{{a}}\u{1f600}", "é1\u{1f600}"),
    ] {
        assert_eq!(interpolate(text, &known).unwrap(), rendered, "{text}");
    }
}

#[test]
fn a_text_without_references_is_not_copied() {
    assert!(matches!(
        interpolate("plain", &Variables::new()),
        Ok(Cow::Borrowed("plain"))
    ));
}

#[test]
fn values_are_never_scanned_again() {
    let known = variables(&[("a", Some("{{b}} {{")), ("b", Some("}}{{a}}"))]);
    assert_eq!(interpolate("{{a}}|{{b}}", &known).unwrap(), "{{b}} {{|}}{{a}}");
}

#[test]
fn errors_name_file_line_and_column() {
    let known = variables(&[("cwd", Some("/")), ("branch", None)]);
    let none = Variables::new();
    let plain = file("sections/rules.md", None);
    let after_front_matter = file("sections/rules.md", Some((7, 30)));
    let plugin = Source::Plugin { name: "clock".into() };
    let errors = [
        error(&plain, "{{cdw}}", &known),
        error(&plain, "{{cwd}}{{cdw}}", &known),
        error(&plain, "one\r\ntwo {{branch}}", &known),
        error(&plain, "né\u{1f600}\n日本 {{x}}", &none),
        error(&after_front_matter, "first\n\n  {{ cwd }}", &known),
        error(&after_front_matter, "{{cwd", &known),
        error(&plugin, "a\n{{CWD}} and {{cwd}}", &known),
        error(&plain, "{{}}", &known),
        error(&plain, "{{{cwd}}}", &known),
        error(&plain, "{{a\nb}}", &known),
        error(&plain, "{{a.b.c.d.e.f.g.h.i.j.k.l.m}}", &known),
        error(&plain, "{{\u{1b}[31m}}", &known),
    ];
    assert_snapshot!(errors.join("\n"), @"
    sections/rules.md:1:1: unknown variable `{{cdw}}`; known are: branch, cwd; correct the name, or register the variable (in section `rules`)
    sections/rules.md:1:8: unknown variable `{{cdw}}`; known are: branch, cwd; correct the name, or register the variable (in section `rules`)
    sections/rules.md:2:5: variable `{{branch}}` is undefined here: its provider gave no value; leave the reference out where it has none, or give it one (in section `rules`)
    sections/rules.md:2:4: unknown variable `{{x}}`; known are: none; correct the name, or register the variable (in section `rules`)
    sections/rules.md:9:3: malformed reference `{{ cwd }}`; write `{{name}}` with a name of lower-case letters, digits and underscores, or take the text as it is: `interpolate: false` in front matter, `literal()` in code (in section `rules`)
    sections/rules.md:7:1: malformed reference `{{cwd`; write `{{name}}` with a name of lower-case letters, digits and underscores, or take the text as it is: `interpolate: false` in front matter, `literal()` in code (in section `rules`)
    plugin:clock, line 2, column 1: malformed reference `{{CWD}} and {{cwd}}`; write `{{name}}` with a name of lower-case letters, digits and underscores, or take the text as it is: `interpolate: false` in front matter, `literal()` in code (in section `rules`)
    sections/rules.md:1:1: malformed reference `{{}}`; write `{{name}}` with a name of lower-case letters, digits and underscores, or take the text as it is: `interpolate: false` in front matter, `literal()` in code (in section `rules`)
    sections/rules.md:1:1: malformed reference `{{{cwd}}}`; write `{{name}}` with a name of lower-case letters, digits and underscores, or take the text as it is: `interpolate: false` in front matter, `literal()` in code (in section `rules`)
    sections/rules.md:1:1: malformed reference `{{a`; write `{{name}}` with a name of lower-case letters, digits and underscores, or take the text as it is: `interpolate: false` in front matter, `literal()` in code (in section `rules`)
    sections/rules.md:1:1: malformed reference `{{a.b.c.d.e.f.g.h.i.j.k.`; write `{{name}}` with a name of lower-case letters, digits and underscores, or take the text as it is: `interpolate: false` in front matter, `literal()` in code (in section `rules`)
    sections/rules.md:1:1: malformed reference `{{�[31m}}`; write `{{name}}` with a name of lower-case letters, digits and underscores, or take the text as it is: `interpolate: false` in front matter, `literal()` in code (in section `rules`)
    ");
}

#[test]
fn references_lists_names_in_order_of_appearance() {
    assert_eq!(references("{{b}} {{a}}{{b}} {{ bad }} {{c}}"), ["b", "a", "b"]);
}

/// A second implementation, by hand and by byte.
fn naive(text: &str, variables: &Variables) -> Option<String> {
    let mut out = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"{{") {
            let mut end = at + 2;
            while bytes
                .get(end)
                .is_some_and(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_'))
            {
                end += 1;
            }
            let name = text.get(at + 2..end)?;
            if !bytes[end..].starts_with(b"}}") || !name.starts_with(|c: char| c.is_ascii_lowercase()) {
                return None;
            }
            out.extend_from_slice(variables.get(name)?.as_ref()?.as_bytes());
            at = end + 2;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    Some(String::from_utf8(out).unwrap())
}

proptest! {
    #[test]
    fn agrees_with_a_naive_implementation(
        text in "(\\{\\{a\\}\\}|\\{\\{b\\}\\}|\\{\\{c\\}\\}|[{}ab\né]){0,12}",
        a in "(\\{\\{b\\}\\}|[{}a]){0,4}",
    ) {
        let known = variables(&[("a", Some(&a)), ("b", Some("{{a}}")), ("c", None)]);
        let rendered = interpolate(&text, &known);
        match &rendered {
            Ok(_) => {}
            Err((offset, _)) => prop_assert!(text.get(*offset..).is_some_and(|rest| rest.starts_with("{{"))),
        }
        prop_assert_eq!(rendered.ok().map(Cow::into_owned), naive(&text, &known));
    }

    #[test]
    fn places_are_within_the_text(text in "[a\né\r]{0,20}", offset in 0_usize..40) {
        let place = place(&file("f", Some((5, 9))), &text, offset);
        prop_assert!(place.line >= 5 && place.column >= 1);
        prop_assert!(place.line - 5 <= u32::try_from(text.matches('\n').count()).unwrap());
    }
}
