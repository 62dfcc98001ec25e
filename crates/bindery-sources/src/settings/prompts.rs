//! The prompts that settings name, read and signed.

use std::path::{Path, PathBuf};

use bindery_core::{Interpolation, PromptSources, PromptText, Source, Trust};

use super::layer::{Chosen, Origin, Rank};
use super::typed::{Prompt, Settings};
use crate::notice::{Notice, Position, Refused};
use crate::places::Places;
use crate::strict_file;

/// Reads `system_prompt`, `append_system_prompt`, `agent` and `coordinator`. Their texts are taken literally.
///
/// A file inside the project keeps the trust of the project; that the user or operator named it is its
/// grant, and stands in the fragment.
pub fn prompt_sources(settings: &Settings, places: &Places) -> Result<PromptSources, Refused> {
    let mut problems = Vec::new();
    let mut keep = |result: Result<PromptText, Notice>| result.map_err(|problem| problems.push(problem)).ok();
    let custom = settings
        .system_prompt()
        .and_then(|chosen| keep(read(&chosen, places)));
    let append = settings
        .append_system_prompt()
        .and_then(|chosen| keep(read(&chosen, places)));
    let developer = settings
        .developer_instructions()
        .and_then(|chosen| keep(read(&chosen, places)));
    let mut definition = |chosen: Option<Chosen<PathBuf>>| {
        let Chosen { value, origin } = chosen?;
        let value = Prompt::File(value);
        keep(read(&Chosen { value, origin }, places).and_then(without_front_matter))
    };
    let agent = definition(settings.agent());
    let coordinator = definition(settings.coordinator());
    if !problems.is_empty() {
        return Err(Refused(problems));
    }
    let (override_prompt, custom) = if settings.replaces_all() {
        (custom, None)
    } else {
        (None, custom)
    };
    Ok(PromptSources {
        override_prompt,
        coordinator,
        agent: agent.map(|text| (text, settings.agent_mode())),
        custom: custom.map(|text| (text, settings.custom_mode())),
        developer,
        append: append.into_iter().collect(),
    })
}

fn read(chosen: &Chosen<Prompt>, places: &Places) -> Result<PromptText, Notice> {
    let Chosen { value, origin } = chosen;
    match value {
        Prompt::Text(text) => Ok(PromptText {
            text: text.as_str().into(),
            source: origin.source(),
            trust: origin.rank.trust(),
            grant: None,
            interpolation: Interpolation::Literal,
        }),
        Prompt::File(path) => file(path, origin, places),
    }
}

fn file(path: &Path, origin: &Origin, places: &Places) -> Result<PromptText, Notice> {
    let shown = places.shown(path);
    let Some(text) = strict_file::read(path, &shown, None)? else {
        let message = format!("`{shown}` does not exist");
        let start = match origin.rank {
            Rank::Override | Rank::Flag => "on the command line it starts at the directory you are in",
            _ => "in a settings file it starts at that file's folder",
        };
        return Err(Notice::error("prompt-missing", origin.at.clone(), message)
            .mend(format!("check the path; {start}")));
    };
    let in_project = is_within(path, &places.project);
    Ok(PromptText {
        text: text.into(),
        source: Source::File {
            path: shown.into(),
            lines: None,
        },
        trust: if in_project {
            Trust::Project
        } else {
            origin.rank.trust()
        },
        grant: in_project.then(|| origin.source()),
        interpolation: Interpolation::Literal,
    })
}

/// Whether a file is the repository's, links followed.
fn is_within(path: &Path, folder: &Path) -> bool {
    match (path.canonicalize(), folder.canonicalize()) {
        (Ok(path), Ok(folder)) => path.starts_with(folder),
        _ => path.starts_with(folder),
    }
}

/// An agent's file without the front matter that other clients put there. What it says is for them.
fn without_front_matter(mut prompt: PromptText) -> Result<PromptText, Notice> {
    let Some(split) = crate::composition::split(&prompt.text) else {
        return if prompt
            .text
            .lines()
            .next()
            .is_some_and(crate::composition::is_fence)
        {
            Err(crate::composition::unclosed(
                "agent-front-matter",
                &prompt.source.to_string(),
            ))
        } else {
            Ok(prompt)
        };
    };
    let last = crate::notice::number(prompt.text.lines().count());
    if let Source::File { lines, .. } = &mut prompt.source {
        *lines = Some((split.body_line, last.max(split.body_line)));
    }
    prompt.text = split.body.into();
    Ok(prompt)
}

/// For settings that a caller checks itself: an error at the setting's place.
pub fn refused(origin: &Origin, message: impl Into<String>, mend: impl Into<String>) -> Notice {
    let at = Position {
        column: 0,
        ..origin.at.clone()
    };
    Notice::error("setting-value", at, message).mend(mend)
}
