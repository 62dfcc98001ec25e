//! The front matter of a section file, typed and strict.

use bindery_core::{Authority, Cadence, Group, Modes};
use serde::Deserialize;
use serde_saphyr::{Error, Spanned};

use crate::notice::{Notice, Position};
use crate::settings::near_miss;

/// Every field with its meaning, for documentation.
pub const FIELDS: &[(&str, &str)] = &[
    (
        "key",
        "Name of the section; by default the file's name without `.md`",
    ),
    (
        "group",
        "`static` (before the cache boundary), `dynamic` or `appended`; by default `static`",
    ),
    (
        "order",
        "Whole number; lower stands first within the group; by default 0",
    ),
    (
        "cadence",
        "`session`, `submission` or `step`; by default `session`",
    ),
    (
        "reason",
        "Why the text changes at every step; with `cadence: step` only, and required there",
    ),
    ("modes", "List of `full` and `minimal`; by default both"),
    ("authority", "`system` or `developer`; by default `system`"),
    (
        "complete",
        "`true` makes this section the whole system prompt; by default `false`",
    ),
    (
        "interpolate",
        "`false` takes `{{name}}` as it is; by default `true`",
    ),
];

/// A checked header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) key: Option<String>,
    pub(super) group: Group,
    pub(super) order: i32,
    pub(super) cadence: Cadence,
    pub(super) modes: Modes,
    pub(super) authority: Authority,
    pub(super) complete: bool,
    pub(super) interpolate: bool,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Raw {
    key: Option<Spanned<String>>,
    group: Option<Group>,
    order: Option<i32>,
    cadence: Option<Spanned<CadenceWord>>,
    reason: Option<Spanned<String>>,
    modes: Option<Spanned<Vec<ModeWord>>>,
    authority: Option<AuthorityWord>,
    complete: Option<bool>,
    interpolate: Option<bool>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum CadenceWord {
    Session,
    Submission,
    Step,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum ModeWord {
    Full,
    Minimal,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum AuthorityWord {
    System,
    Developer,
}

/// Reads a header. `yaml` starts on line 2 of the file `shown`, whose whole text is `text`.
pub(super) fn parse(yaml: &str, shown: &str, text: &str) -> Result<Header, Notice> {
    let raw = if yaml.trim().is_empty() {
        Raw::default()
    } else {
        serde_saphyr::from_str::<Option<Raw>>(yaml)
            .map_err(|error| from_yaml(&error, shown, text))?
            .unwrap_or_default()
    };
    raw.check().map_err(|(line, message, mend)| {
        Notice::error(
            "section-front-matter",
            Position::line(shown, file_line(line)),
            message,
        )
        .excerpt_of(text)
        .mend(mend)
    })
}

/// Line within the YAML, what is wrong, and the mend.
type Problem = (u64, &'static str, &'static str);

impl Raw {
    fn check(self) -> Result<Header, Problem> {
        let group = self.group.unwrap_or(Group::Static);
        if let Some(key) = &self.key {
            check_key(key)?;
        }
        Ok(Header {
            cadence: cadence(self.cadence.as_ref(), self.reason.as_ref(), group)?,
            modes: self.modes.as_ref().map_or(Ok(Modes::Both), modes)?,
            key: self.key.map(|key| key.value),
            group,
            order: self.order.unwrap_or(0),
            authority: match self.authority {
                Some(AuthorityWord::Developer) => Authority::Developer,
                Some(AuthorityWord::System) | None => Authority::System,
            },
            complete: self.complete.unwrap_or(false),
            interpolate: self.interpolate.unwrap_or(true),
        })
    }
}

/// Keys are shown, granted by name and written into settings; they must survive all of that.
pub(super) fn is_key(key: &str) -> bool {
    let good = |c: char| c.is_alphanumeric() || "._-/".contains(c);
    !key.is_empty() && key.len() <= 128 && key.chars().all(good)
}

fn check_key(key: &Spanned<String>) -> Result<(), Problem> {
    if is_key(&key.value) {
        return Ok(());
    }
    Err((
        key.referenced.line(),
        "`key` must be at most 128 letters, digits and `._-/`",
        "a short name in lower case with hyphens, such as `house-style`",
    ))
}

fn cadence(
    word: Option<&Spanned<CadenceWord>>,
    reason: Option<&Spanned<String>>,
    group: Group,
) -> Result<Cadence, Problem> {
    let (word, line) = word.map_or((CadenceWord::Session, 1), |word| {
        (word.value, word.referenced.line())
    });
    if word == CadenceWord::Step {
        if group == Group::Static {
            return Err((
                line,
                "a static section cannot have cadence `step`: static text stands before the cache boundary",
                "use `cadence: session`, or `group: dynamic`",
            ));
        }
        return match reason {
            Some(reason) if !reason.value.trim().is_empty() => Ok(Cadence::Step {
                reason: reason.value.trim().into(),
            }),
            _ => Err((
                line,
                "cadence `step` needs a `reason`: every change re-reads what follows it",
                "add `reason:` and say why the text must change at every step",
            )),
        };
    }
    if let Some(reason) = reason {
        return Err((
            reason.referenced.line(),
            "`reason` goes with `cadence: step` only",
            "remove it, or set `cadence: step`",
        ));
    }
    Ok(match word {
        CadenceWord::Submission => Cadence::Submission,
        CadenceWord::Session | CadenceWord::Step => Cadence::Session,
    })
}

fn modes(words: &Spanned<Vec<ModeWord>>) -> Result<Modes, Problem> {
    let full = words.value.contains(&ModeWord::Full);
    let minimal = words.value.contains(&ModeWord::Minimal);
    match (full, minimal) {
        (true, true) => Ok(Modes::Both),
        (true, false) => Ok(Modes::FullOnly),
        (false, true) => Ok(Modes::MinimalOnly),
        (false, false) => Err((
            words.referenced.line(),
            "`modes` is empty, so this section would never be used",
            "write `modes: [full]`, `[minimal]` or `[full, minimal]`, or remove the line",
        )),
    }
}

/// A line of the YAML as a line of the file: the opening fence stands before it.
fn file_line(line: u64) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX).saturating_add(1)
}

fn from_yaml(error: &Error, shown: &str, text: &str) -> Notice {
    let inner = innermost(error);
    let at = match error.location() {
        Some(place) if place.line() > 0 => Position {
            path: shown.into(),
            line: file_line(place.line()),
            column: u32::try_from(place.column()).unwrap_or(0),
        },
        _ => Position::line(shown, 1),
    };
    let (message, mend) = told(inner);
    Notice::error("section-front-matter", at, message)
        .excerpt_of(text)
        .mend(mend)
}

fn innermost(mut error: &Error) -> &Error {
    while let Error::WithSnippet { error: inner, .. } | Error::AliasError { error: inner, .. } = error {
        error = inner;
    }
    error
}

/// What to say of a YAML error, and its mend.
fn told(error: &Error) -> (String, String) {
    match error {
        Error::SerdeUnknownField { field, .. } => {
            let names = FIELDS.iter().map(|(name, _)| *name);
            let mend = match near_miss(field, names.clone()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known fields are {}", names.collect::<Vec<_>>().join(", ")),
            };
            (
                format!("unknown field `{}`", crate::visible::clipped(field, 60)),
                mend,
            )
        }
        Error::SerdeUnknownVariant {
            variant, expected, ..
        } => {
            let mend = format!("write one of {}", expected.join(", "));
            (
                format!(
                    "`{}` is no value of this field",
                    crate::visible::clipped(variant, 60)
                ),
                mend,
            )
        }
        Error::DuplicateMappingKey { key: Some(key), .. } => (
            format!("field `{}` stands twice", crate::visible::clipped(key, 60)),
            "remove one of them".to_owned(),
        ),
        other => {
            // The renderer adds a place of its own, counted from the front matter's first line.
            let text = other.without_snippet().to_string();
            let first = text.lines().next().unwrap_or_default();
            let said = match first.split(" at line ").next().unwrap_or(first) {
                "invalid i32" => "this must be a whole number from -2147483648 to 2147483647",
                "invalid boolean" => "this must be `true` or `false`",
                "expected string scalar" => "this must be a text",
                "expected mapping start" => "there are no fields",
                "externally tagged enum expected scalar or mapping" => "this must be a word",
                said => said,
            };
            (
                format!("bad front matter: {}", crate::visible::clipped(said, 200)),
                "front matter is YAML: one `field: value` a line, between two lines of `---`".to_owned(),
            )
        }
    }
}
