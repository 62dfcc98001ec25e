//! `bindery check --request`: what a provider would refuse in a request body.

use std::io::{self, Read as _, Write};
use std::path::{Path, PathBuf};

use anstyle::AnsiColor;
use anyhow::Context as _;
use bindery::ContentHash;
use bindery_cache::Format as Body;
use bindery_wire::{Provider, ShapeProblem, ShapeRule, shape_problems};
use serde::Serialize;
use serde_json::{Value, json};

use super::Format;
use crate::report::github::{self, Annotation, Weight};
use crate::report::sarif::{self, Item, Level, Rule};
use crate::status::{Status, UsageError};
use crate::terminal::{Terminal, printable};

/// The page that describes every rule.
const PAGE: &str = "docs/requests.md";

/// A body that was looked at.
#[derive(Debug, Serialize)]
struct Checked {
    file: String,
    provider: &'static str,
    /// Whether the provider was told by the body's shape.
    guessed: bool,
    problems: Vec<ShapeProblem>,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    requests: &'a [Checked],
}

pub(super) fn run(
    files: &[PathBuf],
    provider: Option<&str>,
    format: Format,
    terminal: &mut Terminal,
) -> anyhow::Result<Status> {
    let provider: Option<Provider> = provider
        .map(str::parse)
        .transpose()
        .map_err(|error| UsageError::of(&error))?;
    let checked = files.iter().map(|file| check(file, provider));
    let checked: Vec<Checked> = checked.collect::<anyhow::Result<_>>()?;
    match format {
        Format::Text => text(&checked, terminal)?,
        Format::Json => json(&checked, &mut terminal.out)?,
        Format::Sarif => sarif(&checked, &mut terminal.out)?,
        Format::Github => annotations(&checked, &mut terminal.out)?,
    }
    let refused = checked.iter().any(|one| !one.problems.is_empty());
    Ok(if refused { Status::Finding } else { Status::Success })
}

fn check(file: &Path, provider: Option<Provider>) -> anyhow::Result<Checked> {
    let shown = if file == Path::new("-") {
        "standard input".to_owned()
    } else {
        file.display().to_string()
    };
    let mut bytes = Vec::new();
    if file == Path::new("-") {
        io::stdin().read_to_end(&mut bytes).context("standard input")?;
    } else {
        bytes = std::fs::read(file).with_context(|| shown.clone())?;
    }
    let wrong = |why: String| UsageError(format!("{shown}: {why}"));
    let text = String::from_utf8(bytes).map_err(|error| {
        wrong(format!(
            "no UTF-8 from byte {} on",
            error.utf8_error().valid_up_to()
        ))
    })?;
    let body: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| wrong(format!("no JSON: {error}; give the body as it is posted")))?;
    let (provider, guessed) = match provider {
        Some(provider) => (provider, false),
        None => (guess(&text).map_err(wrong)?, true),
    };
    Ok(Checked {
        file: shown,
        provider: provider.name(),
        guessed,
        problems: shape_problems(provider, &body),
    })
}

/// The provider whose format a body has.
fn guess(body: &str) -> Result<Provider, String> {
    match Body::of_body(body) {
        Some(Body::Anthropic) => Ok(Provider::Anthropic),
        Some(Body::OpenaiResponses) => Ok(Provider::OpenaiResponses),
        Some(Body::OpenaiChat) => Ok(Provider::OpenaiChat),
        Some(Body::Deepseek) => Ok(Provider::Deepseek),
        Some(Body::Gemini) => Err("this is a body for Gemini, whose rules are not known here".to_owned()),
        None => Err("the format of the body is not recognised; name it with `--provider`".to_owned()),
    }
}

fn text(checked: &[Checked], terminal: &mut Terminal) -> io::Result<()> {
    for one in checked {
        let how = if one.guessed { ", by its shape" } else { "" };
        for problem in &one.problems {
            let head = terminal.palette.paint(
                AnsiColor::Red.on_default().bold(),
                &format!("error {}", problem.rule.code()),
            );
            let (file, at, message) = (
                printable(&one.file),
                pointer(problem),
                printable(&problem.message),
            );
            writeln!(terminal.out, "{file}: {head} {at}: {message}")?;
            writeln!(terminal.out, "  help: {}", problem.rule.mend())?;
        }
        let told = match one.problems.len() {
            0 => "nothing that is known to be refused".to_owned(),
            1 => "1 thing would be refused".to_owned(),
            more => format!("{more} things would be refused"),
        };
        writeln!(
            terminal.err,
            "{}: {told} ({}{how})",
            printable(&one.file),
            one.provider
        )?;
    }
    Ok(())
}

fn pointer(problem: &ShapeProblem) -> String {
    if problem.at.is_empty() {
        "the body".to_owned()
    } else {
        printable(&problem.at)
    }
}

fn json(checked: &[Checked], out: &mut dyn Write) -> io::Result<()> {
    let document = Document {
        schema: "bindery.check-request/1",
        requests: checked,
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

fn sarif(checked: &[Checked], out: &mut dyn Write) -> io::Result<()> {
    let rules: Vec<Rule> = ShapeRule::ALL.into_iter().map(rule).collect();
    let items = checked
        .iter()
        .flat_map(|one| one.problems.iter().map(|problem| item(one, problem)));
    sarif::write(&rules, &items.collect::<Vec<_>>(), out)
}

fn rule(rule: ShapeRule) -> Rule {
    Rule {
        id: rule.code().to_owned(),
        name: rule.code().to_owned(),
        short: rule.about().to_owned(),
        full: rule.about().to_owned(),
        help: format!("{}. See {PAGE}.", rule.mend()),
        level: Level::Error,
        properties: json!({ "tags": ["request"] }),
    }
}

fn item(one: &Checked, problem: &ShapeProblem) -> Item {
    let message = format!(
        "{}: {}. {}",
        pointer(problem),
        printable(&problem.message),
        problem.rule.mend()
    );
    let fields = [problem.rule.code(), &one.file, &problem.at].map(str::as_bytes);
    Item {
        rule: problem.rule.code().to_owned(),
        level: Level::Error,
        message,
        path: one.file.clone(),
        start: (0, 0),
        end: (0, 0),
        snippet: None,
        fingerprint: ContentHash::of_fields("check-request", fields).to_string(),
        properties: json!({ "pointer": problem.at, "provider": one.provider }),
    }
}

fn annotations(checked: &[Checked], out: &mut dyn Write) -> io::Result<()> {
    for one in checked {
        for problem in &one.problems {
            let message = format!(
                "{}: {}\n{}",
                pointer(problem),
                printable(&problem.message),
                problem.rule.mend()
            );
            let annotation = Annotation {
                weight: Weight::Error,
                path: &printable(&one.file),
                line: 0,
                end_line: 0,
                column: 0,
                title: problem.rule.code(),
                message: &message,
            };
            github::write(&annotation, out)?;
        }
    }
    Ok(())
}
