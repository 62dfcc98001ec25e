//! Rows that apply to models by the beginning of their names.

/// A model's name as tables write it: without the route in front of it and marks behind it.
/// `us.anthropic/claude-opus-4.8[1m]` is `claude-opus-4-8` where Anthropic's dots are concerned.
pub(crate) fn plain_name(model: &str) -> String {
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    let name = name.split('[').next().unwrap_or_default();
    // Bedrock and Vertex put region, vendor and version around it: `us.anthropic.claude-…-v1:0`, `claude-…@20250929`.
    let name = name
        .rfind("anthropic.")
        .and_then(|at| name.get(at + "anthropic.".len()..))
        .unwrap_or(name);
    let name = name.split(['@', ':']).next().unwrap_or_default();
    if name.starts_with("claude") {
        name.replace('.', "-")
    } else {
        name.to_owned()
    }
}

/// How well a prefix fits a model's plain name: its length, if the name goes on at a word boundary.
pub(crate) fn fit(prefix: &str, name: &str) -> Option<usize> {
    let rest = name.strip_prefix(prefix)?;
    (rest.is_empty() || rest.starts_with(['-', '.', '_'])).then_some(prefix.len())
}

/// The row that fits best; of two that fit alike, the later. Rows without prefixes fit everything, worst.
pub(crate) fn best<'r, T>(
    rows: impl IntoIterator<Item = &'r T>,
    name: &str,
    prefixes: impl Fn(&T) -> &[String],
) -> Option<&'r T>
where
    T: 'r,
{
    let fitness = |row: &T| {
        let prefixes = prefixes(row);
        let found = prefixes.iter().filter_map(|prefix| fit(prefix, name)).max();
        if prefixes.is_empty() {
            Some(0)
        } else {
            found.map(|length| length + 1)
        }
    };
    rows.into_iter()
        .filter_map(|row| Some((fitness(row)?, row)))
        .max_by_key(|(fits, _)| *fits)
        .map(|(_, row)| row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_and_marks_are_no_part_of_a_name() {
        for (given, plain) in [
            ("claude-opus-4-8", "claude-opus-4-8"),
            ("anthropic/claude-opus-4.8", "claude-opus-4-8"),
            ("claude-opus-5-5[1m]", "claude-opus-5-5"),
            ("us.anthropic.claude-sonnet-4-6-v1:0", "claude-sonnet-4-6-v1"),
            ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
            ("GPT-5.6-sol", "gpt-5.6-sol"),
        ] {
            assert_eq!(plain_name(given), plain);
        }
    }

    #[test]
    fn the_longest_prefix_that_ends_at_a_word_wins() {
        assert_eq!(fit("gpt-5", "gpt-5.6"), Some(5));
        assert_eq!(fit("gpt-5", "gpt-55"), None);
        let rows = [
            vec![],
            vec!["gpt-5".to_owned()],
            vec!["gpt-5.6".to_owned(), "x".to_owned()],
        ];
        let found = |name: &str| best(&rows, name, |row| row).map(Vec::len);
        assert_eq!(
            (found("gpt-5.6-sol"), found("gpt-5.4"), found("other")),
            (Some(2), Some(1), Some(0))
        );
    }
}
