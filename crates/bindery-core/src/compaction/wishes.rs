//! What the user's own files say about compaction.

use crate::{Kind, Message};

/// The headings under which it stands, without upper case.
const HEADINGS: [&str; 3] = [
    "compact instructions",
    "compaction instructions",
    "summary instructions",
];

/// The texts under such headings in instructions that stand in a conversation, each with its source.
pub fn wishes(messages: &[Message]) -> Vec<(String, String)> {
    let instructions = messages
        .iter()
        .flat_map(Message::fragments)
        .filter(|fragment| fragment.kind == Kind::Instructions);
    let found = instructions.filter_map(|fragment| {
        let text = section(&fragment.text)?;
        Some((fragment.source.to_string(), text))
    });
    found.collect()
}

/// The text under the heading, up to the next one of its level or above.
fn section(text: &str) -> Option<String> {
    let mut level = 0;
    let mut out = String::new();
    for line in text.lines() {
        let hashes = line.bytes().take_while(|byte| *byte == b'#').count();
        let is_heading = hashes > 0 && line.as_bytes().get(hashes) == Some(&b' ');
        if level == 0 {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            if is_heading && HEADINGS.contains(&title.as_str()) {
                level = hashes;
            }
        } else if is_heading && hashes <= level || line.starts_with("</bindery-") {
            break;
        } else {
            out.push_str(line);
            out.push('\n');
        }
    }
    let out = out.trim();
    (!out.is_empty()).then(|| out.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_section_ends_with_the_next_of_its_level() {
        let text = "# House\nx\n## Compact Instructions\nKeep ids\n### Also\nports\n## Next\ny";
        assert_eq!(section(text).as_deref(), Some("Keep ids\n### Also\nports"));
        assert_eq!(section("# Compact\nx"), None);
        assert_eq!(section("# Compact Instructions\n\n"), None);
    }
}
