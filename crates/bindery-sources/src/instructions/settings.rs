//! The client's own settings, read where the client keeps them.

mod lines;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use self::lines::{line_at, line_of};
use super::diagnostic::{Code, Diagnostic, Severity};
use super::host::Host;
use super::roots::{Roots, down};
use crate::dialect::{
    BadSettings, Dialect, Merge, Setting, SettingAnchor, SettingFile, SettingFormat, SettingUse,
};
use crate::reading::{Problem, Reader};

/// Largest settings file that is read.
const BOUND: u64 = 16 * 1024 * 1024;

/// What the client's settings say.
#[derive(Debug, Default)]
pub(super) struct Settings {
    values: BTreeMap<(SettingUse, Option<String>), Value>,
    parsed: BTreeMap<PathBuf, Option<Value>>,
    pub(super) notes: Vec<Diagnostic>,
    /// Why the client does not start with these settings.
    pub(super) stopped: Option<String>,
}

/// What a value is read with.
struct Asked<'a> {
    dialect: &'a Dialect,
    roots: &'a Roots,
    reader: &'a mut Reader,
}

impl Settings {
    /// Reads the settings of one use. The project's root is not known yet while its markers are read.
    pub(super) fn read(
        &mut self,
        uses: &[SettingUse],
        dialect: &Dialect,
        host: &Host,
        roots: &Roots,
        reader: &mut Reader,
    ) {
        let mut asked = Asked {
            dialect,
            roots,
            reader,
        };
        for setting in dialect
            .settings
            .iter()
            .filter(|setting| uses.contains(&setting.sets))
        {
            for file in &setting.files {
                for path in paths(file, host, roots) {
                    if let Some(value) = self.value_at(&path, file, setting, &mut asked) {
                        self.take(setting, value);
                    }
                }
            }
        }
    }

    fn take(&mut self, setting: &Setting, value: Value) {
        let too_small = |least: u64| value.as_u64().is_some_and(|number| number < least);
        if setting.at_least.is_some_and(too_small) {
            return;
        }
        let key = (setting.sets, setting.cap.clone());
        match (setting.merge, self.values.get_mut(&key), value) {
            (Merge::Join, Some(Value::Array(known)), Value::Array(more)) => known.extend(more),
            (_, _, value) => {
                self.values.insert(key, value);
            }
        }
    }

    fn value_at(
        &mut self,
        path: &Path,
        file: &SettingFile,
        setting: &Setting,
        asked: &mut Asked<'_>,
    ) -> Option<Value> {
        if !file.trust_key.is_empty() && !self.is_trusted(path, file, asked) {
            return None;
        }
        let document = self.document(path, file.format, asked)?;
        if let Some(key) = void(&document, setting) {
            let message =
                format!("`{key}` has the wrong type, and this client then takes nothing from the file");
            self.notes
                .push(Diagnostic::new(Code::Settings, Severity::Warning, path, message));
            return None;
        }
        let project = asked.roots.project_or_cwd().display().to_string();
        let main = asked.roots.main_checkout().display().to_string();
        let names = [
            ("{project}", project.as_str()),
            ("{main-checkout}", main.as_str()),
        ];
        let value = lookup(&document, &setting.key, &names)?;
        match setting.expects.filter(|expects| !expects.fits(&value)) {
            None => Some(value),
            Some(expects) => {
                let text = asked.reader.read(path, BOUND).ok();
                let text = text.map(|contents| String::from_utf8_lossy(&contents.bytes).into_owned());
                let line = text.and_then(|text| line_of(&text, file.format, &setting.key));
                let key = setting.key.join(".");
                self.refuse(
                    path,
                    line,
                    &format!("`{key}` is {value}; give {}", expects.words()),
                    asked.dialect,
                );
                None
            }
        }
    }

    /// Notes settings that the client does not understand, and whether it starts with them.
    fn refuse(&mut self, path: &Path, line: Option<u32>, what: &str, dialect: &Dialect) {
        let client = &dialect.client;
        let (severity, message) = match dialect.bad_settings {
            BadSettings::Ignored => (
                Severity::Warning,
                format!("settings not understood, so none of them count: {what}"),
            ),
            BadSettings::Stop => (
                Severity::Error,
                format!("{client} does not start with these settings: {what}"),
            ),
        };
        let mut note = Diagnostic::new(Code::Settings, severity, path, message);
        note.line = line;
        self.notes.push(note);
        if dialect.bad_settings == BadSettings::Stop && self.stopped.is_none() {
            let line = line.map_or_else(String::new, |line| format!(":{line}"));
            self.stopped = Some(format!("{client} does not start: see {}{line}", path.display()));
        }
    }

    /// A directory's settings count when the user trusts it or the project it belongs to.
    fn is_trusted(&mut self, path: &Path, file: &SettingFile, asked: &mut Asked<'_>) -> bool {
        let (Some(home), Some(name)) = (&asked.roots.config_home, &file.trusted_by) else {
            return false;
        };
        let Some(document) = self.document(&home.join(name), file.format, asked) else {
            return false;
        };
        let project = asked.roots.project_or_cwd().display().to_string();
        let holder = path.ancestors().nth(Path::new(&file.name).components().count());
        let dir = holder.unwrap_or(path).display().to_string();
        let level = lookup(
            &document,
            &file.trust_key,
            &[("{project}", &project), ("{dir}", &dir)],
        );
        level.as_ref().and_then(Value::as_str) == Some("trusted")
    }

    fn document(&mut self, path: &Path, format: SettingFormat, asked: &mut Asked<'_>) -> Option<Value> {
        if let Some(known) = self.parsed.get(path) {
            return known.clone();
        }
        let document = match asked.reader.read(path, BOUND) {
            Ok(contents) => {
                let text = String::from_utf8_lossy(&contents.bytes);
                self.parse(path, text.trim_start_matches('\u{FEFF}'), format, asked.dialect)
            }
            Err(Problem::Missing) => None,
            Err(problem) => {
                let message = format!("settings not read: {problem}");
                self.notes
                    .push(Diagnostic::new(Code::Settings, Severity::Warning, path, message));
                None
            }
        };
        self.parsed.insert(path.to_owned(), document.clone());
        document
    }

    fn parse(&mut self, path: &Path, text: &str, format: SettingFormat, dialect: &Dialect) -> Option<Value> {
        if text.trim().is_empty() {
            return None;
        }
        let parsed = match format {
            SettingFormat::Json => {
                let line = |fault: &serde_json::Error| u32::try_from(fault.line()).ok();
                serde_json::from_str(text).map_err(|fault| (line(&fault), fault.to_string()))
            }
            SettingFormat::Toml => toml::from_str::<Value>(text).map_err(|fault| {
                let line = fault.span().map(|span| line_at(text, span.start));
                (line, fault.message().to_owned())
            }),
            SettingFormat::Yaml => serde_saphyr::from_str(text).map_err(|fault| {
                let line = fault.location().and_then(|at| u32::try_from(at.line()).ok());
                (line, crate::front_matter::first_line(&fault.to_string()))
            }),
        };
        match parsed {
            Ok(value) => Some(value),
            Err((line, reason)) => {
                let first = reason.lines().next().unwrap_or_default();
                self.refuse(path, line.filter(|line| *line > 0), first, dialect);
                None
            }
        }
    }

    fn get(&self, sets: SettingUse) -> Option<&Value> {
        self.values.get(&(sets, None))
    }

    /// A list of strings; one string counts as a list of one.
    pub(super) fn list(&self, sets: SettingUse) -> Option<Vec<String>> {
        match self.get(sets)? {
            Value::Array(items) => Some(
                items
                    .iter()
                    .filter_map(Value::as_str)
                    .map(str::to_owned)
                    .collect(),
            ),
            Value::String(one) => Some(vec![one.clone()]),
            _ => None,
        }
    }

    /// Whether a setting says yes.
    pub(super) fn is_true(&self, sets: SettingUse) -> bool {
        self.get(sets).and_then(Value::as_bool).unwrap_or_default()
    }

    /// A number.
    pub(super) fn number(&self, sets: SettingUse, cap: Option<&str>) -> Option<u64> {
        self.values.get(&(sets, cap.map(str::to_owned)))?.as_u64()
    }
}

/// The key whose type voids a settings file.
fn void<'s>(document: &Value, setting: &'s Setting) -> Option<&'s str> {
    let wrong = setting
        .void_unless
        .iter()
        .find(|(key, kind)| document.get(key.as_str()).is_some_and(|value| !kind.fits(value)));
    if let Some((key, _)) = wrong {
        return Some(key);
    }
    let value = lookup(document, &setting.key, &[])?;
    let strings = value
        .as_array()
        .is_some_and(|items| items.iter().all(Value::is_string));
    if setting.strings_only && !strings {
        return setting.key.last().map(String::as_str);
    }
    None
}

fn paths(file: &SettingFile, host: &Host, roots: &Roots) -> Vec<PathBuf> {
    let bases = match file.at {
        SettingAnchor::Managed => host.managed.iter().cloned().collect(),
        SettingAnchor::Home => host.home.iter().cloned().collect(),
        SettingAnchor::ConfigHome => roots.config_home.iter().cloned().collect(),
        SettingAnchor::Cwd => vec![roots.cwd.clone()],
        SettingAnchor::ProjectToCwd => down(Some(roots.project_or_cwd()), &roots.cwd),
    };
    bases
        .into_iter()
        .map(|base: PathBuf| base.join(&file.name))
        .collect()
}

fn lookup(document: &Value, key: &[String], fill: &[(&str, &str)]) -> Option<Value> {
    let mut here = document;
    for part in key {
        let part = super::manifest::fill(part, fill);
        here = here.as_object()?.get(&part)?;
    }
    Some(here.clone())
}
