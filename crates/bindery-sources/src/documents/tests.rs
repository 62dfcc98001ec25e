use std::fmt::Write as _;

use bindery_core::{CountTokens, TokenCount};
use lopdf::content::{Content as Operations, Operation};
use lopdf::{Document as Pdf, EncryptionState, EncryptionVersion, Object, Permissions, Stream, dictionary};
use proptest::prelude::*;

use super::excerpts::{Chosen, select};
use super::*;

struct Quarters;

impl CountTokens for Quarters {
    fn count(&self, text: &str) -> TokenCount {
        TokenCount::estimate(text.len().div_ceil(4) as u64)
    }

    fn name(&self) -> &'static str {
        "quarters"
    }
}

/// A PDF with these lines, a page each.
fn pdf(lines: &[&str]) -> Pdf {
    let mut pdf = Pdf::with_version("1.5");
    let tree = pdf.new_object_id();
    let font = pdf.add_object(dictionary! {
        "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier",
    });
    let resources = pdf.add_object(dictionary! { "Font" => dictionary! { "F1" => font } });
    let pages: Vec<Object> = lines
        .iter()
        .map(|line| {
            let operations = vec![
                Operation::new("BT", vec![]),
                Operation::new("Tf", vec!["F1".into(), 12.into()]),
                Operation::new("Td", vec![50.into(), 700.into()]),
                Operation::new("Tj", vec![Object::string_literal(*line)]),
                Operation::new("ET", vec![]),
            ];
            let content = Operations { operations }.encode().unwrap();
            let content = pdf.add_object(Stream::new(dictionary! {}, content));
            pdf.add_object(dictionary! { "Type" => "Page", "Parent" => tree, "Contents" => content })
                .into()
        })
        .collect();
    let count = i64::try_from(pages.len()).unwrap();
    let media = vec![0.into(), 0.into(), 595.into(), 842.into()];
    let tree_of = dictionary! {
        "Type" => "Pages", "Kids" => pages, "Count" => count, "Resources" => resources, "MediaBox" => media,
    };
    pdf.objects.insert(tree, Object::Dictionary(tree_of));
    let catalogue = pdf.add_object(dictionary! { "Type" => "Catalog", "Pages" => tree });
    pdf.trailer.set("Root", catalogue);
    pdf.trailer.set(
        "ID",
        vec![
            Object::string_literal("0123456789abcdef"),
            Object::string_literal("0123456789abcdef"),
        ],
    );
    pdf
}

fn bytes(mut pdf: Pdf) -> Vec<u8> {
    let mut out = Vec::new();
    pdf.save_to(&mut out).unwrap();
    out
}

/// What becomes of a file with these bytes.
fn reads(name: &str, bytes: &[u8]) -> Result<Document, Unusable> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    read(&path, &InProcess)
}

fn text_of(document: Document) -> Pages {
    match document.content {
        Content::Text(pages) => pages,
        Content::Image(media) => panic!("{media}"),
    }
}

#[test]
fn text_markdown_and_web_pages_are_read() {
    let text = text_of(reads("a.txt", b"\xef\xbb\xbfhello\n").unwrap());
    assert_eq!(
        (text.kind, text.text.as_str(), text.page(0)),
        ("text", "hello\n", None)
    );
    assert_eq!(text_of(reads("a.MD", b"# Hi").unwrap()).kind, "Markdown");
    let page = "<!DOCTYPE html><style>p{}</style><script>alert(1)</script><h1>Port</h1><p>It is <b>8081</b>.</p>\
                <table><tr><td>a</td><td>b</td></tr></table>";
    let page = text_of(reads("a", page.as_bytes()).unwrap());
    assert_eq!(page.kind, "HTML");
    assert!(
        page.text.contains("8081") && !page.text.contains("alert"),
        "{}",
        page.text
    );
    let wide = text_of(reads("a.txt", b"\xff\xfeh\0i\0").unwrap());
    assert_eq!(wide.text, "hi");
    let old = reads(
        "a.txt",
        &[b"caf\xe9 ".as_slice(), &b"au lait ".repeat(20)].concat(),
    )
    .unwrap();
    insta::assert_snapshot!(old.remarks.join("\n"), @"it is not valid text from byte 3 on; it looks like ISO 8859-1: 1 characters are replaced");
}

#[test]
fn images_say_what_they_are() {
    let png = [
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR".as_slice(),
        &640_u32.to_be_bytes(),
        &480_u32.to_be_bytes(),
        &[8, 2, 0, 0, 0],
    ]
    .concat();
    let Content::Image(media) = reads("shot.txt", &png).unwrap().content else {
        panic!()
    };
    assert_eq!(
        (&*media.media_type, media.pixels),
        ("image/png", Some((640, 480)))
    );
    assert!(matches!(
        reads("a.png", &png[..16]),
        Err(Unusable::BrokenImage(_) | Unusable::Binary { .. })
    ));
}

#[test]
fn a_pdf_has_pages_and_a_scan_has_none() {
    let document = reads("a", &bytes(pdf(&["The port is 8081", "The host is left"]))).unwrap();
    let pages = text_of(document);
    assert_eq!(
        pages.text,
        "[page 1]\nThe port is 8081\n\n[page 2]\nThe host is left\n\n"
    );
    let host = pages.text.find("host").unwrap();
    assert_eq!((pages.page(0), pages.page(host)), (Some(1), Some(2)));
    assert_eq!(
        reads("a.pdf", &bytes(pdf(&["", ""]))),
        Err(Unusable::NoText { pages: 2 })
    );
}

#[test]
fn an_encrypted_pdf_is_refused_with_the_reason() {
    let mut secret = pdf(&["hidden"]);
    let version = EncryptionVersion::V2 {
        document: &secret,
        owner_password: "o",
        user_password: "u",
        key_length: 128,
        permissions: Permissions::all(),
    };
    let state = EncryptionState::try_from(version).unwrap();
    secret.encrypt(&state).unwrap();
    assert_eq!(reads("a.pdf", &bytes(secret)), Err(Unusable::Encrypted));
}

#[test]
fn a_pdf_that_asks_for_no_password_is_read_though_it_is_encrypted() {
    let mut open = pdf(&["readable"]);
    let version = EncryptionVersion::V2 {
        document: &open,
        owner_password: "o",
        user_password: "",
        key_length: 128,
        permissions: Permissions::all(),
    };
    let state = EncryptionState::try_from(version).unwrap();
    open.encrypt(&state).unwrap();
    let pages = text_of(reads("a.pdf", &bytes(open)).unwrap());
    assert!(pages.text.contains("readable"), "{}", pages.text);
}

#[test]
fn what_is_no_document_says_what_it_is() {
    assert_eq!(reads("a", b""), Err(Unusable::Empty));
    assert_eq!(reads("a", b" \n"), Err(Unusable::Empty));
    assert_eq!(reads("a", b"ab\0c"), Err(Unusable::Binary { at: 2 }));
    assert!(matches!(
        reads("a", &[0x80_u8; 100]),
        Err(Unusable::Binary { at: 0 })
    ));
    assert!(matches!(
        reads("a.pdf", b"%PDF-1.7\nrubbish"),
        Err(Unusable::Broken(_))
    ));
    let folder = tempfile::tempdir().unwrap();
    let told = |name: &str| {
        read(&folder.path().join(name), &InProcess)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(told("gone"), "nothing is there");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("loop", folder.path().join("loop")).unwrap();
        assert!(told("loop").contains("leads back to itself"), "{}", told("loop"));
    }
    assert!(told("").contains("a directory"), "{}", told(""));
}

/// A document of numbered paragraphs, one of which is about something else.
fn long() -> Pages {
    let mut text = String::new();
    for number in 0..400 {
        if number == 250 {
            text.push_str("The linker waited: port 8081 was held by the old daemon.\n\n");
        }
        let _ = write!(
            text,
            "Paragraph {number} tells of leaves and pages.\nIt goes on a little.\n\n"
        );
    }
    Pages::plain("text", text)
}

#[test]
fn a_short_document_is_shown_whole_and_a_long_one_where_it_fits_the_question() {
    let pages = long();
    let whole = select(&pages, "anything", 100_000, &Quarters);
    assert_eq!((whole.chosen, whole.excerpts.len()), (Chosen::Whole, 1));
    assert_eq!(whole.excerpts[0].bytes, 0..pages.text.len());
    let found = select(&pages, "Which port did the linker wait for?", 700, &Quarters);
    assert_eq!(found.chosen, Chosen::ByQuestion);
    let shown: Vec<&str> = found
        .excerpts
        .iter()
        .map(|one| pages.text.get(one.bytes.clone()).unwrap())
        .collect();
    assert!(shown.iter().any(|text| text.contains("port 8081")), "{shown:?}");
    assert!(shown.iter().map(|text| text.len()).sum::<usize>() <= 2_800);
    for one in &found.excerpts {
        let first = pages.text.lines().nth(one.lines.0 - 1).unwrap();
        assert!(pages.text.get(one.bytes.clone()).unwrap().starts_with(first));
    }
    let nothing = select(&pages, "xylophone", 700, &Quarters);
    assert_eq!(
        (nothing.chosen, nothing.excerpts[0].lines.0),
        (Chosen::FromBeginning, 1)
    );
}

#[test]
fn words_without_spaces_between_are_found() {
    let text = "第一章は紙について。\n\n".repeat(200)
        + "第二章は港八〇八一について。\n\n"
        + &"第三章は糸。\n\n".repeat(200);
    let pages = Pages::plain("text", text);
    let found = select(&pages, "港", 600, &Quarters);
    let shown: String = found
        .excerpts
        .iter()
        .map(|one| pages.text.get(one.bytes.clone()).unwrap())
        .collect();
    assert!(shown.contains('港'), "{shown}");
}

proptest! {
    #[test]
    fn any_text_is_divided_without_loss_and_within_the_budget(
        text in "[ -~\né港]{0,6000}", question in "[a-z ]{0,20}", most in 0_u64..2_000
    ) {
        let pages = Pages::plain("text", text);
        let selection = select(&pages, &question, most, &Quarters);
        let mut at = 0;
        let mut tokens = 0;
        for one in &selection.excerpts {
            prop_assert!(one.bytes.start >= at);
            at = one.bytes.end;
            tokens += Quarters.count(pages.text.get(one.bytes.clone()).unwrap()).value;
            prop_assert!(one.lines.0 <= one.lines.1);
        }
        prop_assert!(tokens <= most.max(1) || selection.chosen == Chosen::Whole);
        prop_assert_eq!(selection.clone(), select(&pages, &question, most, &Quarters));
    }

    #[test]
    fn any_bytes_are_read_or_refused(rest in prop::collection::vec(any::<u8>(), 0..300), as_pdf in any::<bool>()) {
        let head: &[u8] = if as_pdf { b"%PDF-1.4\n" } else { b"" };
        let _ = reads("a", &[head, &rest].concat());
    }

    #[test]
    fn a_damaged_pdf_is_read_or_refused(at in 0_usize..600, byte in any::<u8>()) {
        let mut damaged = bytes(pdf(&["one", "two"]));
        if let Some(place) = damaged.get_mut(at) {
            *place = byte;
        }
        let _ = reads("a.pdf", &damaged);
    }
}
