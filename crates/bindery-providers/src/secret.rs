//! A key that is never printed.

use std::fmt;

/// A key. It shows itself as `[secret]` everywhere, has no serialised form, and can only be put into a
/// request header.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Box<str>);

impl Secret {
    /// Takes a key; space around it, as shells and files leave it, is dropped. `None` for no key.
    pub fn new(key: &str) -> Option<Self> {
        let key = key.trim();
        (!key.is_empty()).then(|| Self(key.into()))
    }

    /// The key itself.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// The text with the key, should it occur, made unreadable: providers quote keys in errors.
    pub(crate) fn redact(&self, text: &str) -> String {
        text.replace(&*self.0, "[secret]")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_does_not_print() {
        let key = Secret::new(" sk-made-up\n").unwrap();
        assert_eq!(
            format!("{key} {key:?} {:#?}", Some(&key)),
            "[secret] [secret] Some(\n    [secret],\n)"
        );
        assert_eq!(key.redact("wrong key sk-made-up!"), "wrong key [secret]!");
        assert_eq!(key.reveal(), "sk-made-up");
    }

    #[test]
    fn blank_is_no_key() {
        assert_eq!(Secret::new(" \n"), None);
    }
}
