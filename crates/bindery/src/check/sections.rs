//! The composition: variables, order, sections that never arrive, files that are wrong.

use std::collections::BTreeSet;

use bindery_core::{Assembly, Group, Interpolation, Source, references};
use bindery_sources::composition::default_sections;
use bindery_sources::{Level, Notice, Position};

use super::codes::Code;
use super::diagnostic::Diagnostic;
use super::subject::Subject;
use super::tables::Tables;

pub(super) fn check(subject: &Subject, _: &Tables, out: &mut Vec<Diagnostic>) {
    let composed = &subject.composed;
    out.extend(
        composed
            .notices
            .iter()
            .filter_map(|notice| noticed(subject, notice)),
    );
    for assembly in &composed.assemblies {
        variables(assembly, out);
        order(assembly, out);
    }
    for (at, message) in &composed.failures {
        let at = at.clone().unwrap_or_else(|| Position::whole("system prompt"));
        let is_told = out.iter().any(|one| {
            one.code == Code::VariableUnknown && (&one.at.path, one.at.line) == (&at.path, at.line)
        });
        if !is_told {
            out.push(Diagnostic::at(Code::SectionInvalid, at, message.clone()));
        }
    }
    unused(subject, out);
}

/// What reading said, as far as it is about sections and settings.
fn noticed(subject: &Subject, notice: &Notice) -> Option<Diagnostic> {
    let is_builtin = notice.at.path.starts_with("sections/default/");
    let code = match &*notice.code {
        "section-volatile" => Code::VolatileVariable,
        "section-shadowed" if !is_builtin => Code::SectionUnused,
        code if code.starts_with("memory-") => Code::Memory,
        code if code == "skill" || code.starts_with("skill-") || code == "skills-budget" => Code::Skill,
        _ if notice.level < Level::Error => return None,
        _ if notice.at.path.ends_with(".toml") => Code::SettingsInvalid,
        _ => Code::SectionInvalid,
    };
    let mut at = notice.at.clone();
    if code == Code::VolatileVariable
        && let Some(text) = subject.texts.get(&at.path)
    {
        // The notice quotes the reference; its line is the first that has it.
        let reference = notice.message.split('`').find(|part| part.starts_with("{{"));
        at.line = reference.map_or(0, |reference| text.line_where(|line| line.contains(reference)));
    }
    Some(Diagnostic::at(code, at, notice.message.clone()).mend(notice.mend.clone()))
}

/// Names that no variable has.
fn variables(assembly: &Assembly, out: &mut Vec<Diagnostic>) {
    for item in assembly
        .sections
        .iter()
        .filter(|item| item.interpolation == Interpolation::Strict)
    {
        let Source::File { path, lines } = &item.source else {
            continue;
        };
        for name in references(&item.text) {
            if assembly.variables.contains_key(name) {
                continue;
            }
            let offset = item.text.find(&format!("{{{{{name}}}}}")).unwrap_or(0);
            let mut at = Position::of_offset(path.clone(), &item.text, offset);
            at.line = at
                .line
                .saturating_add(lines.map_or(0, |(first, _)| first.saturating_sub(1)));
            let known: Vec<&str> = assembly.variables.keys().map(|name| &**name).collect();
            let message = format!("there is no variable `{name}`; nothing would be assembled");
            let mend = format!(
                "known are {}; or take the text as it is with `interpolate: false`",
                known.join(", ")
            );
            out.push(Diagnostic::at(Code::VariableUnknown, at, message).mend(mend));
        }
    }
}

/// Neighbours that only their names put in order.
fn order(assembly: &Assembly, out: &mut Vec<Diagnostic>) {
    for (before, after) in assembly.sections.iter().zip(assembly.sections.iter().skip(1)) {
        if (before.group, before.order) != (after.group, after.order) {
            continue;
        }
        let file = [after, before].into_iter().find_map(|item| match &item.source {
            Source::File { path, .. } => Some((path.clone(), item)),
            _ => None,
        });
        let Some((path, own)) = file else { continue };
        let other = if own.key == after.key { before } else { after };
        let message = format!(
            "`{}` and `{}` have the order {} in the {} group, so only their names decide: `{}` stands first",
            own.key,
            other.key,
            own.order,
            group_name(own.group),
            before.key
        );
        out.push(Diagnostic::new(Code::SectionOrder, path, 0, message).mend("give it an `order` of its own"));
    }
}

/// Files that reach the model in no mode.
fn unused(subject: &Subject, out: &mut Vec<Diagnostic>) {
    let composed = &subject.composed;
    if composed.assemblies.is_empty() {
        return;
    }
    let used: BTreeSet<&str> = composed
        .assemblies
        .iter()
        .flat_map(|one| &one.sections)
        .map(|item| &*item.key)
        .collect();
    let complete = composed
        .assemblies
        .iter()
        .flat_map(|one| &one.sections)
        .find(|item| item.complete);
    let builtin: BTreeSet<String> = default_sections()
        .unwrap_or_default()
        .into_iter()
        .map(|file| file.key.to_string())
        .collect();
    for (index, file) in composed.sections.iter().enumerate() {
        let replaces = builtin.contains(&*file.key)
            || composed
                .sections
                .iter()
                .take(index)
                .any(|other| other.key == file.key);
        let is_empty = file.body.trim().is_empty();
        // A variant that does not hold here may have it.
        if used.contains(&*file.key) || composed.by_variant.contains(&*file.key) || (is_empty && replaces) {
            continue;
        }
        let (message, mend) = match complete {
            Some(complete) if !is_empty => (
                format!(
                    "`{}` is complete, so this section never reaches the model",
                    complete.key
                ),
                "remove one of the two",
            ),
            _ if is_empty => (
                "the section is empty, and there is none of its name to remove".to_owned(),
                "write its text, or remove the file",
            ),
            _ => (
                "the section reaches the model in no mode".to_owned(),
                "see `modes` in docs/sections.md",
            ),
        };
        out.push(Diagnostic::new(Code::SectionUnused, file.shown.clone(), 0, message).mend(mend));
    }
}

fn group_name(group: Group) -> &'static str {
    match group {
        Group::Static => "static",
        Group::Dynamic => "dynamic",
        Group::Appended => "appended",
    }
}
