//! Looking into JSON that is known to be JSON. What is none gives less than there is, and never a panic.

use std::borrow::Cow;

use super::index::Ends;

/// The fields of an object, in order.
pub(super) fn fields<'a>(raw: &'a str, ends: Ends<'_>) -> Option<Vec<(Cow<'a, str>, &'a str)>> {
    let mut at = open(raw, b'{')?;
    let mut out = Vec::with_capacity(4);
    loop {
        at = blank(raw, at);
        match raw.as_bytes().get(at)? {
            b'}' => return Some(out),
            b',' => at += 1,
            _ => {
                let end = value(raw, at, Ends::NONE)?;
                let key = text(raw.get(at..end)?)?;
                at = blank(raw, end);
                // The colon.
                at = blank(raw, at + 1);
                let end = value(raw, at, ends)?;
                out.push((key, raw.get(at..end)?));
                at = end;
            }
        }
    }
}

/// The items of an array, in order.
pub(super) fn items<'a>(raw: &'a str, ends: Ends<'_>) -> Option<Vec<&'a str>> {
    let mut at = open(raw, b'[')?;
    let mut out = Vec::new();
    loop {
        at = blank(raw, at);
        match raw.as_bytes().get(at)? {
            b']' => return Some(out),
            b',' => at += 1,
            _ => {
                let end = value(raw, at, ends)?;
                out.push(raw.get(at..end)?);
                at = end;
            }
        }
    }
}

/// The text of a string. One without escapes is borrowed; one with half a surrogate pair is none.
pub(super) fn text(raw: &str) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    let bytes = inner.as_bytes();
    // Quotes stand behind escapes, so that what is found is one.
    let Some(first) = special(bytes, 0) else {
        return Some(Cow::Borrowed(inner));
    };
    let mut out = String::with_capacity(inner.len());
    let mut from = 0;
    let mut next = Some(first);
    while let Some(at) = next {
        out.push_str(inner.get(from..at)?);
        let (c, length) = escape(inner.get(at..)?)?;
        out.push(c);
        from = at + length;
        next = special(bytes, from);
    }
    out.push_str(inner.get(from..)?);
    Some(Cow::Owned(out))
}

/// The character that an escape stands for, and how many bytes it takes.
fn escape(raw: &str) -> Option<(char, usize)> {
    Some(match raw.as_bytes().get(1)? {
        b'n' => ('\n', 2),
        b't' => ('\t', 2),
        b'r' => ('\r', 2),
        b'b' => ('\u{8}', 2),
        b'f' => ('\u{c}', 2),
        b'u' => {
            let unit = |at: usize| u32::from_str_radix(raw.get(at..at + 4)?, 16).ok();
            match unit(2)? {
                high @ 0xD800..=0xDBFF if raw.get(6..8) == Some("\\u") => {
                    let low = unit(8).filter(|low| (0xDC00..=0xDFFF).contains(low))?;
                    (
                        char::from_u32(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00))?,
                        12,
                    )
                }
                code => (char::from_u32(code)?, 6),
            }
        }
        other => (char::from(*other), 2),
    })
}

fn open(raw: &str, bracket: u8) -> Option<usize> {
    let at = blank(raw, 0);
    (*raw.as_bytes().get(at)? == bracket).then_some(at + 1)
}

/// The next byte that is no white space.
fn blank(raw: &str, mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = raw.as_bytes().get(at) {
        at += 1;
    }
    at
}

/// The end of the value that begins at a byte.
fn value(raw: &str, at: usize, ends: Ends<'_>) -> Option<usize> {
    let bytes = raw.as_bytes();
    match bytes.get(at)? {
        b'"' | b'{' | b'[' if let Some(end) = ends.of(raw, at) => Some(end),
        b'"' => string(bytes, at),
        b'{' | b'[' => nested(bytes, at),
        _ => {
            let rest = bytes.get(at..)?;
            let length = rest
                .iter()
                .take_while(|byte| !matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t'))
                .count();
            // Nothing that could be a value: there is no going on from here.
            (length > 0).then_some(at + length)
        }
    }
}

/// The end of the string whose quote stands at a byte.
pub(super) fn string(bytes: &[u8], at: usize) -> Option<usize> {
    let mut from = at + 1;
    loop {
        let found = special(bytes, from)?;
        if bytes.get(found) == Some(&b'"') {
            return Some(found + 1);
        }
        from = found + 2;
    }
}

/// How far is looked eight bytes at a time before a long search is worth its start.
const NEAR: usize = 64;

/// The next quote or backslash.
fn special(bytes: &[u8], from: usize) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let zero = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS;
    let mut at = from;
    while at < from + NEAR
        && let Some(word) = bytes.get(at..at + 8).and_then(|part| part.try_into().ok())
    {
        let word = u64::from_le_bytes(word);
        let found = zero(word ^ (ONES * 0x22)) | zero(word ^ (ONES * 0x5c));
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    memchr::memchr2(b'"', b'\\', bytes.get(at..)?).map(|offset| at + offset)
}

/// The end of the object or array whose bracket stands at a byte.
fn nested(bytes: &[u8], at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = at;
    loop {
        match bytes.get(at)? {
            b'"' => {
                at = string(bytes, at)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use crate::json::index::Index;

    /// A value put together again from the slices.
    fn rebuilt(raw: &str, ends: Ends<'_>) -> Value {
        if let Some(fields) = fields(raw, ends) {
            let fields = fields.into_iter();
            return Value::Object(
                fields
                    .map(|(key, raw)| (key.into_owned(), rebuilt(raw, ends)))
                    .collect(),
            );
        }
        if let Some(items) = items(raw, ends) {
            return items.into_iter().map(|raw| rebuilt(raw, ends)).collect();
        }
        match text(raw) {
            Some(text) => Value::String(text.into_owned()),
            None => serde_json::from_str(raw).unwrap(),
        }
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[a\"\\\\\n{}\\[\\],:é😀 ]{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a\"\\\\{}é]{0,3}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    #[test]
    fn escapes_are_read_as_serde_reads_them() {
        for raw in [
            r#""plain""#,
            r#""\n\t\r\b\f\/\\\"""#,
            r#""\u00e9\ud83d\ude00é""#,
            r#""\ud83d""#,
            r#""\ud83dx""#,
            r#""\ude00""#,
            r#""""#,
        ] {
            let expected: Option<String> = serde_json::from_str(raw).ok();
            assert_eq!(text(raw).map(Cow::into_owned), expected, "{raw}");
        }
    }

    proptest! {
        #[test]
        fn it_sees_what_serde_sees(value in json(), pretty in any::<bool>()) {
            let raw = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
            let raw = raw.unwrap();
            prop_assert_eq!(rebuilt(&raw, Ends::NONE), value.clone());
            let index = Index::of(&raw);
            prop_assert_eq!(rebuilt(&raw, index.ends(&raw)), value);
        }

        #[test]
        fn what_is_no_json_is_no_end(raw in "[\\[\\]{}\",:\\\\u0a é]{0,24}") {
            let (a, b, c) = (fields(&raw, Ends::NONE), items(&raw, Ends::NONE), text(&raw));
            Index::of(&raw);
            prop_assert!(a.is_none() || b.is_none() || c.is_none());
        }
    }
}
