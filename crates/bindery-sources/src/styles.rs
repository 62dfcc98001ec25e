//! How the model answers: output styles from files, and the language.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use bindery_core::{Context, Group, Kind, Modes, RegisterError, Registration, Scope, Section, Source, Trust};
use bindery_guard::policy::Approval;

use crate::clients::ClientHomes;
use crate::definition;
use crate::gate::{Gate, Passage};
use crate::notice::{Notice, Position, Refused};
use crate::places::Places;
use crate::reading::Reader;
use crate::settings::{Chosen, Settings};

/// The words of the language. Text that people edit lives in files.
const LANGUAGE: &str = include_str!("../../../sections/runtime/language.md");
/// The section of a style, and the key by which a repository's is granted.
pub const KEY: &str = "output-style";
/// The default section on manner, which every style takes the place of.
const MANNER: &str = "tone";
/// The default sections on work, which a style of Claude Code's takes the place of unless it keeps them.
const WORK: [&str; 2] = ["tasks", "changes"];
/// The front-matter field by which a style of Claude Code's keeps them.
const KEEPS: &str = "keep-coding-instructions";

/// An output style.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Style {
    /// Its name: the front matter's, else its file's.
    pub name: String,
    /// What it is for; empty where the file says nothing.
    pub description: String,
    /// Its file.
    pub path: PathBuf,
    /// How far that is trusted.
    pub trust: Trust,
    /// Default sections that it takes the place of.
    pub replaces: Vec<&'static str>,
    /// Its text.
    pub text: String,
}

/// Where a style can lie.
struct Folder {
    path: PathBuf,
    trust: Trust,
    is_claude: bool,
}

fn folders(places: &Places, homes: &ClientHomes) -> Vec<Folder> {
    let folder = |path: Option<PathBuf>, trust, is_claude| {
        path.map(|path| Folder {
            path,
            trust,
            is_claude,
        })
    };
    let claude = |folder: &Path| folder.join("output-styles");
    let project = |inner: &str| places.project.join(inner);
    [
        folder(
            places.user.as_ref().map(|user| user.join("styles")),
            Trust::User,
            false,
        ),
        folder(homes.claude.as_deref().map(claude), Trust::User, true),
        folder(Some(project(".bindery/styles")), Trust::Project, false),
        folder(
            homes.claude.as_ref().map(|_| project(".claude/output-styles")),
            Trust::Project,
            true,
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Every style here, the user's before the project's; of one name the first counts. What cannot be read is
/// among the notices.
pub fn styles(places: &Places, homes: &ClientHomes) -> (Vec<Style>, Vec<Notice>) {
    let (mut styles, mut notices): (Vec<Style>, Vec<Notice>) = (Vec::new(), Vec::new());
    let mut reader = Reader::new();
    for folder in folders(places, homes) {
        for path in files(&folder.path) {
            match read(&path, &folder, places, &mut reader) {
                Ok(style) if styles.iter().any(|known| known.name == style.name) => {
                    let message = format!(
                        "another style is named `{}` and counts more",
                        shown_name(&style.name)
                    );
                    notices.push(Notice::note(
                        "style-shadowed",
                        Position::whole(places.shown(&path)),
                        message,
                    ));
                }
                Ok(style) => styles.push(style),
                Err(notice) => notices.push(notice),
            }
        }
    }
    (styles, notices)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .collect();
    paths.sort();
    paths
}

fn read(path: &Path, folder: &Folder, places: &Places, reader: &mut Reader) -> Result<Style, Notice> {
    let shown = places.shown(path);
    let at = || Position::whole(shown.as_str());
    let leaves = |real: PathBuf| {
        places
            .project
            .canonicalize()
            .is_ok_and(|project| !real.starts_with(project))
    };
    if folder.trust == Trust::Project && path.canonicalize().is_ok_and(leaves) {
        let message = "a symbolic link that leads out of the project; it is not read";
        return Err(Notice::warning("style-outside-project", at(), message));
    }
    let definition = definition::read(path, reader)
        .map_err(|problem| Notice::warning("style-unreadable", at(), format!("not read: {problem}")))?;
    let header = &definition.header;
    let given = header.text("name");
    let stem = || {
        path.file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let mut replaces = vec![MANNER];
    if folder.is_claude && !header.is_true(KEEPS) {
        replaces.extend(WORK);
    }
    Ok(Style {
        name: if given.is_empty() { stem() } else { given },
        description: header.text("description"),
        path: path.to_owned(),
        trust: folder.trust,
        replaces,
        text: definition.body,
    })
}

/// A name as it may stand in a message.
fn shown_name(name: &str) -> String {
    crate::visible::clipped(name, 60)
}

/// Registers the style and the language that the settings name. A repository's style speaks as the system
/// only where its key is granted; else it is a message, and the default sections stay.
pub fn register(
    settings: &Settings,
    places: &Places,
    homes: &ClientHomes,
    gate: &Gate,
    scope: &Scope,
) -> Result<(Vec<Registration>, Vec<Notice>), Refused> {
    let (mut kept, mut notices) = (Vec::new(), Vec::new());
    let internal = |error: RegisterError| {
        Refused::from(Notice::error("register", Position::whole(KEY), error.to_string()))
    };
    if let Some(language) = settings.language() {
        kept.push(scope.section(of_language(&language)).map_err(internal)?);
    }
    let Some(chosen) = settings.output_style() else {
        return Ok((kept, notices));
    };
    let (known, told) = styles(places, homes);
    notices.extend(told);
    let Some(style) = known.iter().find(|style| style.name == chosen.value) else {
        return Err(unknown(&chosen, &known).into());
    };
    let grants = settings.grants();
    let grant = grants.filter(|grants| grants.value.iter().any(|key| key == KEY));
    let text = passed(style, places, gate);
    let source = Source::File {
        path: places.shown(&style.path).into(),
        lines: None,
    };
    if style.trust == Trust::Project && grant.is_none() {
        let context = Context::new(KEY, text).message(Kind::Instructions).order(300);
        let context = context.modes(Modes::FullOnly).from_source(source, style.trust);
        kept.push(scope.context(context).map_err(internal)?);
        notices.push(demoted(style, places));
        return Ok((kept, notices));
    }
    let mut section = Section::new(KEY, text)
        .group(Group::Static)
        .order(65)
        .modes(Modes::FullOnly);
    section = section.from_source(source, style.trust).literal();
    if let Some(grant) = grant.filter(|_| style.trust == Trust::Project) {
        section = section.granted_by(grant.origin.source());
    }
    kept.push(scope.section(section).map_err(internal)?);
    for key in &style.replaces {
        // An empty section of a nearer scope: the default one of that key is not there.
        let nothing = Section::new(*key, "")
            .modes(Modes::FullOnly)
            .from_source(chosen.origin.source(), Trust::Builtin);
        kept.push(scope.section(nothing).map_err(internal)?);
        let message = format!(
            "section `{key}` gives way to the output style `{}`",
            shown_name(&style.name)
        );
        notices.push(Notice::note(
            "style-replaces",
            Position::whole(places.shown(&style.path)),
            message,
        ));
    }
    Ok((kept, notices))
}

fn of_language(language: &Chosen<String>) -> Section {
    let text = LANGUAGE.trim_end().replace("LANGUAGE", &language.value);
    let section = Section::new("language", text).group(Group::Dynamic).order(10);
    section
        .from_source(language.origin.source(), language.origin.rank.trust())
        .literal()
}

fn unknown(chosen: &Chosen<String>, known: &[Style]) -> Notice {
    let names: Vec<String> = known
        .iter()
        .map(|style| format!("`{}`", shown_name(&style.name)))
        .collect();
    let mend = if names.is_empty() {
        "put a Markdown file of that name into `styles` in your configuration folder".to_owned()
    } else {
        format!("there are: {}", names.join(", "))
    };
    let message = format!("there is no output style `{}`", chosen.value);
    Notice::error("style-unknown", chosen.origin.at.clone(), message).mend(mend)
}

fn demoted(style: &Style, places: &Places) -> Notice {
    let message = format!(
        "output style `{}` is the project's, so it is delivered as a message and replaces nothing",
        shown_name(&style.name)
    );
    let at = Position::whole(places.shown(&style.path));
    Notice::warning("style-demoted", at, message)
        .mend(format!("if you trust it, grant `{KEY}`: --grant {KEY}"))
}

fn passed(style: &Style, places: &Places, gate: &Gate) -> String {
    let shown = places.shown(&style.path);
    let passage = Passage {
        fragment: if style.trust == Trust::Project {
            "context:output-style"
        } else {
            KEY
        },
        shown: &shown,
        trust: style.trust,
        approval: Approval::Missing,
        approve: "read the file, and mend it",
        place: &|line| Position::line(shown.as_str(), line),
    };
    let text: Cow<'_, str> = gate.pass(&style.text, &passage);
    text.into_owned()
}
