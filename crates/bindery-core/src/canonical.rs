//! Canonical JSON: one byte sequence for equal values.

use std::cmp::Ordering;

use serde_json::Value;
use serde_json::value::RawValue;

/// Compares two strings by UTF-16 code units, as JavaScript sorts and RFC 8785 requires.
pub fn compare_code_units(a: &str, b: &str) -> Ordering {
    // UTF-8 sorts as code points do. UTF-16 differs in one thing: what lies beyond the basic plane
    // (lead bytes from F0) is written with surrogates, which sort before U+E000..=U+FFFF (EE, EF).
    match std::iter::zip(a.bytes(), b.bytes()).find(|(a, b)| a != b) {
        Some((0xF0.., 0xEE..=0xEF)) => Ordering::Less,
        Some((0xEE..=0xEF, 0xF0..)) => Ordering::Greater,
        Some((a, b)) => a.cmp(&b),
        None => a.len().cmp(&b.len()),
    }
}

/// Compact JSON with object keys in code-unit order. Numbers keep the form `serde_json` gives them;
/// arrays keep their order, which is meaningful.
pub fn canonical_json(value: &Value) -> Box<RawValue> {
    let mut out = String::new();
    write(value, &mut out);
    // `write` emits well-formed JSON, so the fallback (the same value, keys as they come) is never taken.
    RawValue::from_string(out)
        .or_else(|_| serde_json::value::to_raw_value(value))
        .unwrap_or_default()
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by(|(a, _), (b, _)| compare_code_units(a, b));
            out.push('{');
            for (index, (key, value)) in entries.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(&Value::String(key.clone()), out);
                out.push(':');
                write(value, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_are_sorted_at_every_depth_and_arrays_are_not() {
        let value = json!({"b": [2, 1], "a": {"d": null, "c": "x\n"}});
        assert_eq!(
            canonical_json(&value).get(),
            r#"{"a":{"c":"x\n","d":null},"b":[2,1]}"#
        );
    }

    #[test]
    fn code_units_differ_from_code_points_beyond_the_basic_plane() {
        assert_eq!(compare_code_units("\u{1F600}", "\u{FF5E}"), Ordering::Less);
        assert_eq!("\u{1F600}".cmp("\u{FF5E}"), Ordering::Greater);
    }

    proptest! {
        #[test]
        fn code_units_are_compared_as_utf_16_would(
            a in "[a\u{e9}\u{d7ff}\u{e000}\u{ff5e}\u{ffff}\u{10000}\u{1f600}\u{10ffff}]{0,4}",
            b in "[a\u{e9}\u{d7ff}\u{e000}\u{ff5e}\u{ffff}\u{10000}\u{1f600}\u{10ffff}]{0,4}",
        ) {
            prop_assert_eq!(compare_code_units(&a, &b), a.encode_utf16().cmp(b.encode_utf16()));
        }
    }
}
