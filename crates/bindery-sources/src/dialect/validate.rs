//! Reading a dialect file, and what must hold beyond its types.

use std::collections::BTreeSet;

use super::{Cap, Dialect, Files};

/// What is wrong with a dialect file.
#[derive(Debug, thiserror::Error)]
pub enum DialectError {
    /// It is not TOML, or a key or value is not one of a dialect's.
    #[error("{origin}: {message}")]
    Syntax {
        /// The file.
        origin: String,
        /// The reader's message, with line and column.
        message: String,
    },
    /// It reads, but contradicts itself.
    #[error("{origin}: {what}")]
    Meaning {
        /// The file.
        origin: String,
        /// What is wrong and where.
        what: String,
    },
    /// The file's name is not the dialect's.
    #[error("{origin} describes `{says}`; name the file {says}.toml")]
    Misnamed {
        /// The file.
        origin: String,
        /// The identity in it.
        says: String,
    },
}

impl Dialect {
    /// Reads a dialect file. `origin` names it in errors.
    pub fn parse(text: &str, origin: &str) -> Result<Self, DialectError> {
        let dialect: Self = toml::from_str(text).map_err(|fault| DialectError::Syntax {
            origin: origin.to_owned(),
            message: fault.to_string(),
        })?;
        match dialect.first_fault() {
            None => Ok(dialect),
            Some(what) => Err(DialectError::Meaning {
                origin: origin.to_owned(),
                what,
            }),
        }
    }

    fn first_fault(&self) -> Option<String> {
        if self.name.is_empty()
            || !self
                .name
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        {
            return Some(format!(
                "name `{}` is not lower-case letters, digits and hyphens",
                self.name
            ));
        }
        let mut ids = BTreeSet::new();
        for place in &self.places {
            if place.id == "nested" || !ids.insert(place.id.as_str()) {
                return Some(format!("place `{}` is named twice, or `nested`", place.id));
            }
            if let Some(fault) = place.files.iter().find_map(|files| self.files_fault(files)) {
                return Some(format!("place `{}`: {fault}", place.id));
            }
        }
        for (name, cap) in &self.caps {
            if let Some(fault) = self.cap_fault(cap) {
                return Some(format!("cap `{name}`: {fault}"));
            }
        }
        for setting in &self.settings {
            let missing = setting.cap.as_ref().filter(|cap| !self.caps.contains_key(*cap));
            if let Some(cap) = missing {
                return Some(format!("a setting sets cap `{cap}`, which does not exist"));
            }
            if setting.key.is_empty() || setting.files.is_empty() {
                return Some("a setting has no key or no file".to_owned());
            }
        }
        self.touch_fault(&ids).or_else(|| self.screen_fault())
    }

    fn files_fault(&self, files: &Files) -> Option<String> {
        if files.folder.is_some() == (!files.names.is_empty() || files.fallback_names) {
            return Some("a file set needs either names or a folder".to_owned());
        }
        if files.folder.is_some() && files.suffixes.is_empty() {
            return Some("a folder needs suffixes".to_owned());
        }
        let escapes = |name: &String| name.starts_with('/') || name.split('/').any(|part| part == "..");
        if let Some(name) = files.names.iter().chain(&files.folder).find(|name| escapes(name)) {
            return Some(format!("`{name}` leaves its directory"));
        }
        let caps = files.cap.iter().chain(files.caps_by_name.values());
        for cap in caps {
            if !self.caps.contains_key(cap) {
                return Some(format!("cap `{cap}` does not exist"));
            }
        }
        None
    }

    fn cap_fault(&self, cap: &Cap) -> Option<String> {
        let shares = [cap.cut.head, cap.cut.tail, cap.cut.digest];
        if shares.iter().any(|share| !(0.0..=1.0).contains(share)) || shares.iter().sum::<f64>() > 1.0 + 1e-9
        {
            return Some("head, tail and digest are shares that make up at most 1".to_owned());
        }
        match &cap.total {
            Some(total) if !self.caps.contains_key(total) => {
                Some(format!("total cap `{total}` does not exist"))
            }
            _ => None,
        }
    }

    fn touch_fault(&self, places: &BTreeSet<&str>) -> Option<String> {
        let touch = self.touch.as_ref()?;
        let known = |step: &&String| step.as_str() != "nested" && !places.contains(step.as_str());
        if let Some(step) = touch.sequence.iter().find(known) {
            return Some(format!("touch: `{step}` is no place"));
        }
        let fault = touch.files.iter().find_map(|files| self.files_fault(files))?;
        Some(format!("touch: {fault}"))
    }

    fn screen_fault(&self) -> Option<String> {
        let screen = self.screen.as_ref()?;
        let code = screen
            .invisible
            .iter()
            .find(|code| u32::from_str_radix(code, 16).is_err());
        code.map(|code| format!("screen: `{code}` is no hexadecimal code point"))
    }
}
