//! Values, checked against the shape of their key.

use std::fmt;
use std::path::{Path, PathBuf};

use bindery_core::ToolOrder;
use bindery_core::budget::Fraction;
use toml::de::DeValue;

use super::key::{KeyInfo, Shape};

/// A checked value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A text, name or choice.
    Text(String),
    /// A number.
    Count(u64),
    /// A share.
    Fraction(Fraction),
    /// A list of names.
    Names(Vec<String>),
    /// A file, absolute or relative to the working directory.
    File(PathBuf),
}

impl Value {
    /// A value from TOML. Relative paths are taken from `base`. `Err` says what is wrong with it.
    pub(super) fn from_toml(info: &KeyInfo, value: &DeValue<'_>, base: &Path) -> Result<Self, String> {
        match (info.shape, value) {
            (Shape::Count(..), DeValue::Integer(number)) => {
                let parsed = u64::from_str_radix(number.as_str(), number.radix()).ok();
                count(info, parsed, number.as_str())
            }
            (Shape::Fraction, DeValue::Float(number)) => fraction(info, number.as_str()),
            (Shape::Fraction, DeValue::Integer(number)) => fraction(info, number.as_str()),
            (Shape::Names | Shape::ToolOrder, DeValue::Array(items)) => {
                let names: Option<Vec<String>> = items
                    .iter()
                    .map(|item| item.get_ref().as_str().map(str::to_owned))
                    .collect();
                let names = names.ok_or_else(|| format!("`{}` must hold texts only", info.name))?;
                list(info, names)
            }
            (Shape::Prompt, DeValue::Table(table)) => {
                let mut entries = table.iter();
                match (entries.next(), entries.next()) {
                    (Some((key, value)), None) if key.get_ref() == "file" => value
                        .get_ref()
                        .as_str()
                        .map(|path| Self::File(base.join(path)))
                        .ok_or_else(|| format!("`{}.file` must be the path of a file", info.name)),
                    _ => Err(format!("`{}` as a table has exactly one key, `file`", info.name)),
                }
            }
            (_, DeValue::String(text)) => Self::from_text(info, text, base),
            (shape, other) => Err(format!(
                "`{}` must be {shape}, not {}",
                info.name,
                article(other.type_str())
            )),
        }
    }

    /// A value from a bare text.
    pub(super) fn from_text(info: &KeyInfo, text: &str, base: &Path) -> Result<Self, String> {
        match info.shape {
            Shape::Prompt => Ok(Self::Text(text.to_owned())),
            Shape::File if text.is_empty() => Err(format!("`{}` is empty", info.name)),
            Shape::File => Ok(Self::File(base.join(text))),
            Shape::Name if is_name(text) => Ok(Self::Text(text.to_owned())),
            Shape::Name => Err(format!(
                "`{}` must be a name of at most 128 letters, digits and `._:/@+-`",
                info.name
            )),
            Shape::Choice(words) | Shape::Strictness(words) if words.contains(&text) => {
                Ok(Self::Text(text.to_owned()))
            }
            Shape::Names | Shape::ToolOrder if text.trim_start().starts_with('[') => Err(format!(
                "`{}` is no complete list in TOML: {}",
                info.name,
                crate::visible::clipped(text, 40)
            )),
            shape => Err(format!(
                "`{}` must be {shape}, not \"{}\"",
                info.name,
                crate::visible::clipped(text, 40)
            )),
        }
    }
}

fn count(info: &KeyInfo, number: Option<u64>, written: &str) -> Result<Value, String> {
    match (info.shape, number) {
        (Shape::Count(least, most), Some(number)) if (least..=most).contains(&number) => {
            Ok(Value::Count(number))
        }
        (shape, _) => Err(format!("`{}` must be {shape}, not {written}", info.name)),
    }
}

fn fraction(info: &KeyInfo, written: &str) -> Result<Value, String> {
    let parsed = written.parse().map(Value::Fraction);
    parsed.map_err(|_| format!("`{}` must be {}, not {written}", info.name, info.shape))
}

fn list(info: &KeyInfo, names: Vec<String>) -> Result<Value, String> {
    if info.shape == Shape::ToolOrder {
        ToolOrder::new(names.iter().map(String::as_str)).map_err(|error| error.to_string())?;
    }
    Ok(Value::Names(names))
}

fn is_name(text: &str) -> bool {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || b"._:/@+-".contains(&byte);
    !text.is_empty() && text.len() <= 128 && text.bytes().all(good)
}

fn article(kind: &str) -> String {
    let vowel = kind.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {kind}", if vowel { "an" } else { "a" })
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "\"{}\"", crate::visible::clipped(text, 60)),
            Self::Count(number) => write!(f, "{number}"),
            Self::Fraction(share) => write!(f, "{share}"),
            Self::Names(names) => {
                let quoted: Vec<String> = names
                    .iter()
                    .map(|name| format!("\"{}\"", crate::visible::clipped(name, 60)))
                    .collect();
                write!(f, "[{}]", quoted.join(", "))
            }
            Self::File(path) => {
                write!(f, "file \"{}\"", crate::visible::escaped(&path.to_string_lossy()))
            }
        }
    }
}
