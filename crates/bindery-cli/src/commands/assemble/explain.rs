//! `--explain`: which prompts take part and which do not, which variants hold, and who said so.

use std::io::Write;

use bindery::here::Here;
use bindery::sources::settings::Key;
use bindery::sources::variants::{Assigned, Because, Unit};
use bindery::{NextRequest, Rendered};
use serde::Serialize;

use crate::terminal::{Terminal, printable};

/// A prompt from outside the composition, or the composition itself.
#[derive(Debug, Serialize)]
pub(super) struct PromptRow {
    name: String,
    takes_part: bool,
    /// Where it came from; for the composition, how many sections stand.
    from: String,
    /// On whose authority it speaks, or why it takes no part.
    what: String,
}

/// What `--json` has of it.
#[derive(Debug, Serialize)]
pub(super) struct Explained<'a> {
    prompts: Vec<PromptRow>,
    user: Option<&'a str>,
    variants: &'a [Assigned],
}

/// Prompts in the order of the request, then those that take no part.
fn prompts(rendered: &Rendered) -> Vec<PromptRow> {
    let assembly = &rendered.assembly;
    let (given, composed): (Vec<_>, Vec<_>) = assembly
        .sections
        .iter()
        .partition(|item| item.key.starts_with("prompt:"));
    let mut rows = Vec::new();
    if composed.is_empty() {
        // Sections of another mode, and those that a nearer one shadows, would have been left out anyway.
        let mut reasons = assembly
            .shadowed
            .iter()
            .filter(|one| one.what == "section" && is_for_all(&one.reason));
        let why = reasons
            .next()
            .map_or("there are no sections", |one| one.reason.as_str());
        rows.push(row("default", false, "the composition".to_owned(), why));
    } else {
        let from = format!("{} sections", composed.len());
        rows.push(row("default", true, from, "each as its row says"));
    }
    rows.extend(given.iter().map(|item| {
        let name = item.key.trim_start_matches("prompt:");
        row(name, true, item.source.to_string(), item.authority.name())
    }));
    let left_out = assembly.shadowed.iter().filter(|one| one.what == "prompt source");
    rows.extend(left_out.map(|one| row(&one.name, false, String::new(), &one.reason)));
    rows
}

/// Whether a reason leaves out every section.
fn is_for_all(reason: &str) -> bool {
    reason.ends_with("replaces the default") || reason.ends_with("is the whole system prompt")
}

fn row(name: &str, takes_part: bool, from: String, what: &str) -> PromptRow {
    // Appended texts are numbered only where there are several.
    let name = name.strip_suffix(".0000").unwrap_or(name).to_owned();
    let what = what.to_owned();
    PromptRow {
        name,
        takes_part,
        from,
        what,
    }
}

pub(super) fn page<'a>(request: &NextRequest, here: &'a Here) -> Explained<'a> {
    Explained {
        prompts: prompts(&request.rendered),
        user: here.user.as_deref(),
        variants: &here.variants,
    }
}

/// The page for people.
pub(super) fn write(rendered: &Rendered, here: &Here, terminal: &mut Terminal) -> anyhow::Result<()> {
    let out = &mut terminal.out;
    writeln!(out, "prompts")?;
    for row in prompts(rendered) {
        let fate = if row.takes_part { "stands  " } else { "left out" };
        let from = if row.from.is_empty() {
            String::new()
        } else {
            format!("{} · ", printable(&row.from))
        };
        writeln!(out, "  {:<12} {fate}  {from}{}", printable(&row.name), row.what)?;
    }
    let shadowed = |one: &&bindery::assembly::Shadowed| one.what == "section" && !is_for_all(&one.reason);
    for one in rendered.assembly.shadowed.iter().filter(shadowed) {
        writeln!(
            out,
            "  section `{}` left out: {}",
            printable(&one.name),
            one.reason
        )?;
    }
    writeln!(out, "\nvariants")?;
    if here.variants.is_empty() {
        writeln!(out, "  none is declared")?;
    }
    for assigned in &here.variants {
        writeln!(
            out,
            "  {}: {} · {}",
            assigned.experiment,
            assigned.variant,
            why(assigned, here.user.as_deref())
        )?;
    }
    writeln!(out, "\nmanner")?;
    for key in [Key::OutputStyle, Key::Language, Key::Effort, Key::Tier] {
        let chosen = here.settings.layered().winner(key);
        let value = chosen.map_or_else(
            || "not set".to_owned(),
            |chosen| format!("{} ({})", printable(&chosen.value.to_string()), chosen.origin),
        );
        writeln!(out, "  {:<12} {value}", key.name())?;
    }
    writeln!(out, "\nmemory and skills")?;
    let skills = here.launch.skills.offered().count();
    let books = here.launch.books().count();
    writeln!(
        out,
        "  {books} memories (bindery memory list), {skills} skills offered (bindery skills list)"
    )?;
    Ok(())
}

fn why(assigned: &Assigned, user: Option<&str>) -> String {
    let share = format!("weight {} of {}", assigned.weight, assigned.of);
    match (assigned.because, assigned.unit, user) {
        (Because::Flag, _, _) => "asked for by --variant".to_owned(),
        (Because::Session, _, _) => "the session had it before".to_owned(),
        (Because::Hash, Unit::User, Some(user)) => {
            format!("by the hash of user `{}`, {share}", printable(user))
        }
        (Because::Hash, Unit::User, None) => {
            format!("nobody knows who the user is; all such users get this one, {share}")
        }
        (Because::Hash, Unit::Project, _) => format!("by the hash of the project, {share}"),
    }
}
