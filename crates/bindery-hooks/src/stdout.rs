//! What a hook wrote: nothing, plain text, or one JSON object.

use serde_json::{Map, Value};

/// Output as it is to be taken.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Stdout {
    /// Only white space.
    Nothing,
    /// Plain text, without white space around it.
    Text(String),
    /// A JSON object, and what stood before it if something did.
    Object {
        fields: Map<String, Value>,
        noise: Option<String>,
    },
    /// It begins as JSON does and is none, or there is more than one document.
    Broken(String),
}

/// Top-level fields of the protocol. An object behind other text is a control object only if it has no others.
const KNOWN: [&str; 9] = [
    "continue",
    "stopReason",
    "suppressOutput",
    "systemMessage",
    "decision",
    "reason",
    "hookSpecificOutput",
    "replace",
    "set",
];

/// How much of noise is shown.
const SHOWN: usize = 200;

/// Reads what a hook wrote.
pub(crate) fn parse(bytes: &[u8]) -> Stdout {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Stdout::Nothing;
    }
    if text.starts_with('{') {
        return match object(text) {
            Ok(fields) => Stdout::Object { fields, noise: None },
            Err(why) => Stdout::Broken(why),
        };
    }
    behind_noise(text).unwrap_or_else(|| Stdout::Text(text.to_owned()))
}

/// A control object behind what a shell's profile printed. Of an object in the midst of prose nothing is made.
fn behind_noise(text: &str) -> Option<Stdout> {
    let at = text.rfind("\n{").map(|at| at + 1).into_iter();
    let first = text.find("\n{").map(|at| at + 1);
    for start in first.into_iter().chain(at) {
        let (noise, rest) = (text.get(..start)?, text.get(start..)?);
        if let Ok(fields) = object(rest)
            && fields.keys().all(|key| KNOWN.contains(&key.as_str()))
        {
            let noise = noise.trim_end().chars().take(SHOWN).collect();
            return Some(Stdout::Object {
                fields,
                noise: Some(noise),
            });
        }
    }
    None
}

/// Exactly one object. `Err` says what else there is, with its offset.
fn object(text: &str) -> Result<Map<String, Value>, String> {
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let first = match documents.next() {
        Some(Ok(Value::Object(fields))) => fields,
        Some(Ok(_)) | None => return Err("the output is no JSON object".to_owned()),
        Some(Err(error)) => return Err(format!("the output begins as JSON and is none: {error}")),
    };
    let rest = text.get(documents.byte_offset()..).unwrap_or_default();
    let gap = rest.len() - rest.trim_start().len();
    let offset = documents.byte_offset() + gap;
    match documents.next() {
        None => Ok(first),
        Some(Ok(_)) => Err(format!(
            "the output has two JSON documents; the second begins at byte {offset}"
        )),
        Some(Err(_)) => Err(format!("other text follows the JSON object, from byte {offset}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_told_apart() {
        let shown = |text: &str| match parse(text.as_bytes()) {
            Stdout::Object { fields, noise } => format!("{} after {noise:?}", Value::Object(fields)),
            other => format!("{other:?}"),
        };
        let cases = [
            "",
            " \n",
            "plain text\n",
            "{}",
            "\u{feff}{\"continue\":true}\n",
            "ready\n{}",
            "loaded\n{\"decision\":\"block\"}\n",
            "use this:\n{\"name\": \"x\"}",
            "[1]",
            "{\"a\":1}\n{\"b\":2}",
            "{\"a\":1} trailing",
            "{\"a\":",
            "{not json}",
        ];
        let told: Vec<String> = cases
            .iter()
            .map(|case| format!("{case:?} → {}", shown(case)))
            .collect();
        insta::assert_snapshot!(told.join("\n"));
    }
}
