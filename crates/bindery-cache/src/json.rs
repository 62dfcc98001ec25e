//! Reading JSON without copying it: fields and items as slices of the body, so that every range is exact.
//!
//! A body is checked once, by `serde_json`, where it comes in ([`Fields::parse`]). From then on it is known to
//! be JSON, and looking into it again needs no more than skipping over strings and brackets.

mod index;
mod skip;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

pub(crate) use index::{Ends, Index};

/// A string of the body: borrowed where it has no escapes.
pub(crate) struct Text<'a>(pub(crate) Cow<'a, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Read)
    }
}

/// An object's fields in the order of the wire, values unread.
pub(crate) struct Fields<'a>(Vec<(Cow<'a, str>, &'a str)>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Fields<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut out = Vec::with_capacity(8);
                while let Some(Text(key)) = map.next_key()? {
                    out.push((key, map.next_value::<&RawValue>()?.get()));
                }
                Ok(Fields(out))
            }
        }
        deserializer.deserialize_map(Read)
    }
}

impl<'a> Fields<'a> {
    /// The fields of a text that may be anything; `None` if it is no JSON object.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        text.starts_with('{').then(|| serde_json::from_str(text).ok())?
    }

    /// The fields of an object within JSON that was checked; `None` if it is something else.
    pub(crate) fn of(raw: &'a str) -> Option<Self> {
        Self::within(raw, Ends::NONE)
    }

    /// The same, with what is known of where values end.
    pub(crate) fn within(raw: &'a str, ends: Ends<'_>) -> Option<Self> {
        skip::fields(raw, ends).map(Self)
    }

    /// A field. Of a name given twice, the last counts, as for nearly every reader.
    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        let (_, value) = self.0.iter().rev().find(|(key, _)| key == name)?;
        Some(value)
    }

    /// A field that is a string.
    pub(crate) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        string(self.get(name)?)
    }

    /// A field that is an array; empty where it is anything else.
    pub(crate) fn items(&self, name: &str) -> Vec<&'a str> {
        self.get(name).and_then(items).unwrap_or_default()
    }

    /// The same, with what is known of where values end.
    pub(crate) fn items_within(&self, name: &str, ends: Ends<'_>) -> Vec<&'a str> {
        let raw = self.get(name);
        raw.and_then(|raw| items_within(raw, ends)).unwrap_or_default()
    }

    /// All fields, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.0.iter().map(|(key, value)| (&**key, *value))
    }
}

/// The text of a JSON string within JSON that was checked.
pub(crate) fn string(raw: &str) -> Option<Cow<'_, str>> {
    skip::text(raw)
}

/// The items of an array within JSON that was checked.
pub(crate) fn items(raw: &str) -> Option<Vec<&str>> {
    items_within(raw, Ends::NONE)
}

/// The same, with what is known of where values end.
pub(crate) fn items_within<'a>(raw: &'a str, ends: Ends<'_>) -> Option<Vec<&'a str>> {
    skip::items(raw, ends)
}

/// Where a slice of the body stands in it. An empty range at the start for a slice of something else.
pub(crate) fn range(body: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr().wrapping_sub(body.as_ptr().addr());
    let end = start.saturating_add(part.len());
    if end <= body.len() { start..end } else { 0..0 }
}

/// The byte of a JSON string's raw form (quote included) at which a byte of its text is written.
pub(crate) fn raw_offset(raw: &str, text_offset: usize) -> usize {
    let bytes = raw.as_bytes();
    let mut at = 1;
    let mut passed = 0;
    while passed < text_offset {
        let (raw_len, text_len) = match (bytes.get(at), bytes.get(at + 1)) {
            (Some(b'\\'), Some(b'u')) => escaped_unit(raw, at),
            (Some(b'\\'), Some(_)) => (2, 1),
            (Some(_), _) => (1, 1),
            (None, _) => return raw.len(),
        };
        if passed + text_len > text_offset {
            break;
        }
        at += raw_len;
        passed += text_len;
    }
    at
}

/// The lengths of a `\u` escape: on the wire, and as text. A surrogate pair is one character.
fn escaped_unit(raw: &str, at: usize) -> (usize, usize) {
    let unit = |at: usize| u32::from_str_radix(raw.get(at + 2..at + 6)?, 16).ok();
    match unit(at) {
        Some(0xD800..=0xDBFF) => (12, 4),
        Some(code) => (6, char::from_u32(code).map_or(3, char::len_utf8)),
        None => (2, 1),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ranges_are_those_of_the_body() {
        let body = r#"{"a": [1, "x\n"], "b": {"c": null}}"#;
        let fields = Fields::of(body).unwrap();
        let items = fields.items("a");
        assert_eq!(items, ["1", r#""x\n""#]);
        assert_eq!(body.get(range(body, items[1])).unwrap(), r#""x\n""#);
        assert_eq!(range(body, "elsewhere"), 0..0);
        assert_eq!(fields.text("b"), None);
        assert!(Fields::of("[1]").is_none() && string("1").is_none() && super::items("{}").is_none());
        assert!(Fields::parse("{\"a\":").is_none() && Fields::parse("{\"a\":1}").is_some());
    }

    #[test]
    fn the_last_of_a_name_given_twice_counts() {
        assert_eq!(Fields::of(r#"{"a":1,"a":2}"#).unwrap().get("a"), Some("2"));
    }

    proptest! {
        #[test]
        fn a_text_offset_is_found_on_the_wire(text in "[a\"\\\\\n\u{1}é😀]{0,12}", ascii in any::<bool>()) {
            let mut raw = serde_json::to_string(&text).unwrap();
            if ascii {
                let mut escaped = String::new();
                for unit in raw.encode_utf16() {
                    match u8::try_from(unit).ok().filter(u8::is_ascii) {
                        Some(byte) => escaped.push(char::from(byte)),
                        None => write!(escaped, "\\u{unit:04x}").unwrap(),
                    }
                }
                raw = escaped;
            }
            for (at, _) in text.char_indices() {
                let rest = format!("\"{}", raw.get(raw_offset(&raw, at)..).unwrap());
                prop_assert_eq!(string(&rest).unwrap(), text.get(at..).unwrap());
            }
        }
    }
}
