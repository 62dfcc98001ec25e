//! `${NAME}` and `${NAME:-DEFAULT}` in an entry, as Claude Code's documentation describes them.

use std::collections::BTreeMap;

/// The text with values in the variables' places; the first name that has neither value nor default.
pub(super) fn expand(text: &str, environment: &BTreeMap<String, String>) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((inside, behind)) = after.split_once('}') else {
            break;
        };
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        out.push_str(before);
        let set = environment.get(name).map(String::as_str);
        let set = set.filter(|value| default.is_none() || !value.is_empty());
        match set.or(default) {
            Some(value) => out.push_str(value),
            None => return Err(name.to_owned()),
        }
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_defaults_and_what_is_neither() {
        let environment = BTreeMap::from([
            ("A".to_owned(), "1".to_owned()),
            ("EMPTY".to_owned(), String::new()),
            ("NESTED".to_owned(), "${A}".to_owned()),
        ]);
        let expand = |text: &str| expand(text, &environment);
        assert_eq!(expand("x ${A}${A} y"), Ok("x 11 y".to_owned()));
        assert_eq!(expand("${B:-2} ${EMPTY:-3} ${EMPTY}."), Ok("2 3 .".to_owned()));
        assert_eq!(
            expand("${NESTED}"),
            Ok("${A}".to_owned()),
            "a value is not read again"
        );
        assert_eq!(expand("$A ${A ${"), Ok("$A ${A ${".to_owned()));
        assert_eq!(expand("${GONE}"), Err("GONE".to_owned()));
    }
}
