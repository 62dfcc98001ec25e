//! On which line of a settings file a key stands.

use toml::de::{DeTable, DeValue};

use crate::dialect::SettingFormat;

/// The line of a key's value, from 1; of a format without places the first line that names the key.
pub(super) fn line_of(text: &str, format: SettingFormat, key: &[String]) -> Option<u32> {
    match format {
        SettingFormat::Toml => in_toml(text, key),
        SettingFormat::Json | SettingFormat::Yaml => {
            let last = key.last()?;
            let line = text.lines().position(|line| line.contains(last.as_str()))?;
            u32::try_from(line + 1).ok()
        }
    }
}

/// The line of an offset in bytes.
pub(super) fn line_at(text: &str, offset: usize) -> u32 {
    let before = text.bytes().take(offset).filter(|byte| *byte == b'\n').count();
    u32::try_from(before + 1).unwrap_or(u32::MAX)
}

fn in_toml(text: &str, key: &[String]) -> Option<u32> {
    let document = DeTable::parse(text).ok()?;
    let (last, tables) = key.split_last()?;
    let mut here = document.get_ref();
    for part in tables {
        let DeValue::Table(inner) = here.get(part.as_str())?.get_ref() else {
            return None;
        };
        here = inner;
    }
    Some(line_at(text, here.get(last.as_str())?.span().start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_in_its_table() {
        let key = |path: &[&str]| path.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>();
        let toml = "a = 1\n[t]\nb = 2\n\n[t.u]\na = [\n  3,\n]\n";
        let line = |path| line_of(toml, SettingFormat::Toml, &key(path));
        assert_eq!(line(&["a"]), Some(1));
        assert_eq!(line(&["t", "b"]), Some(3));
        assert_eq!(line(&["t", "u", "a"]), Some(6));
        assert_eq!((line(&["b"]), line(&["a", "b"]), line(&[])), (None, None, None));
        let json = "{\n \"limits\": {\n  \"most\": -1}}";
        assert_eq!(
            line_of(json, SettingFormat::Json, &key(&["limits", "most"])),
            Some(3)
        );
    }
}
