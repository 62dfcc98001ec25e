//! `bindery models`: prices and windows as data, with their sources.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use bindery::Windows;
use bindery_cache::{PriceBook, PriceRow, Tier, import};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;

use crate::books::{self, Books};
use crate::layout::{cell, folded, right, thousands};
use crate::status::{Status, UsageError};
use crate::terminal::{Terminal, printable};

/// Show prices and windows of models.
#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    #[command(subcommand)]
    command: Option<ModelsCommand>,
    /// One document, schema `bindery.models/1`
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum ModelsCommand {
    /// List models with prices in dollars a million tokens (the default)
    List {
        /// Only models whose names hold this
        #[arg(value_name = "PART")]
        part: Option<String>,
        /// Tariffs beside the ordinary one, and prices of long requests
        #[arg(long)]
        all: bool,
    },
    /// Read prices and windows from litellm's `model_prices_and_context_window.json` or models.dev's `api.json`, and lay
    /// them over the built-in ones
    Import {
        /// The list
        file: PathBuf,
        /// Where it is from, as people will read it; the file's name if left out
        #[arg(long, value_name = "TEXT")]
        source: Option<String>,
        /// Only models whose names begin so; repeatable
        #[arg(long, value_name = "START")]
        only: Vec<String>,
        /// Print a table instead of saving both
        #[arg(long, value_name = "TABLE", num_args = 0..=1, default_missing_value = "prices")]
        print: Option<ModelTable>,
    },
}

/// A table that an import makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ModelTable {
    /// What tokens cost
    Prices,
    /// The most input tokens of a request
    Windows,
}

pub(crate) fn run(args: &ModelsArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    match &args.command {
        None => list(None, false, args.json, terminal),
        Some(ModelsCommand::List { part, all }) => list(part.as_deref(), *all, args.json, terminal),
        Some(ModelsCommand::Import {
            file,
            source,
            only,
            print,
        }) => read_in(file, source.as_deref(), only, *print, terminal),
    }
}

fn list(part: Option<&str>, all: bool, json: bool, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let books = Books::open(None)?;
    let windows = books::windows()?;
    let wanted = |row: &&PriceRow| {
        let plain = all || (row.tier == Tier::Standard && row.above == 0);
        plain && part.is_none_or(|part| row.id.contains(part))
    };
    let mut rows: Vec<&PriceRow> = books.prices.rows().iter().filter(wanted).collect();
    rows.sort_by(|a, b| (&a.id, a.tier, a.above).cmp(&(&b.id, b.tier, b.above)));
    if json {
        let page = json!({
            "schema": "bindery.models/1",
            "windows": {"source": windows.source(), "read": windows.read()},
            "models": rows.iter().map(|row| json!({
                "price": row,
                "window": windows.tokens(&row.id),
                "cache": books.rules.family(&row.id),
                "minimum": minimum(&books, &row.id),
            })).collect::<Vec<_>>(),
        });
        writeln!(terminal.out, "{}", serde_json::to_string_pretty(&page)?)?;
        return Ok(found(!rows.is_empty()));
    }
    table(&rows, &books, &windows, terminal)?;
    let mut sources: Vec<&str> = Vec::new();
    for row in &rows {
        if !sources.contains(&&*row.source) {
            sources.push(&row.source);
        }
    }
    writeln!(terminal.out)?;
    for source in sources {
        let line = format!("{:<10}{}", "prices", printable(source));
        writeln!(terminal.out, "{}", folded(&line, terminal.width))?;
    }
    let line = format!("{:<10}{}, read {}", "windows", windows.source(), windows.read());
    writeln!(terminal.out, "{}", folded(&line, terminal.width))?;
    if rows.is_empty() {
        writeln!(
            terminal.err,
            "no model's name holds `{}`",
            printable(part.unwrap_or_default())
        )?;
    }
    Ok(found(!rows.is_empty()))
}

fn found(any: bool) -> Status {
    if any { Status::Success } else { Status::Finding }
}

/// The least prefix that is cached, by the rules of the model's provider.
fn minimum(books: &Books, model: &str) -> Option<u64> {
    let rules = books.rules.rules(model).ok().flatten()?;
    Some(rules.number("minimum")).filter(|minimum| *minimum > 0)
}

fn table(
    rows: &[&PriceRow],
    books: &Books,
    windows: &Windows,
    terminal: &mut Terminal,
) -> anyhow::Result<()> {
    let name = terminal.width.saturating_sub(56).clamp(22, 40);
    writeln!(
        terminal.out,
        "{}{}{}{}{}{}{}",
        cell("$ a million tokens", name),
        right("input", 8),
        right("output", 8),
        right("read", 8),
        right("write", 14),
        right("window", 10),
        right("least", 7)
    )?;
    for row in rows {
        let tier = match (row.tier, row.above) {
            (Tier::Standard, 0) => String::new(),
            (tier, 0) => format!(" {}", tier.name()),
            (tier, above) => format!(" {} >{}k", tier.name(), above / 1000),
        };
        let writes: Vec<String> = [row.write_5m, row.write_30m, row.write_1h, row.write_12h]
            .into_iter()
            .flatten()
            .map(bindery_cache::Price::to_per_million)
            .collect();
        let count = |tokens: Option<u64>| {
            tokens.map_or_else(
                || "–".to_owned(),
                |tokens| thousands(bindery::TokenCount::exact(tokens)),
            )
        };
        writeln!(
            terminal.out,
            "{}{}{}{}{}{}{}",
            cell(&printable(&format!("{}{tier}", row.id)), name),
            right(&row.input.to_per_million(), 8),
            right(&row.output.to_per_million(), 8),
            right(
                &row.read
                    .map_or_else(|| "–".to_owned(), bindery_cache::Price::to_per_million),
                8
            ),
            right(
                &if writes.is_empty() {
                    "–".to_owned()
                } else {
                    writes.join(" / ")
                },
                14
            ),
            right(&count(windows.tokens(&row.id)), 10),
            right(&count(minimum(books, &row.id)), 7)
        )?;
    }
    Ok(())
}

fn read_in(
    file: &Path,
    source: Option<&str>,
    only: &[String],
    print: Option<ModelTable>,
    terminal: &mut Terminal,
) -> anyhow::Result<Status> {
    let list = std::fs::read(file).with_context(|| format!("{} cannot be read", file.display()))?;
    let day = crate::outside::today().to_string();
    let name = file
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let source = source.unwrap_or(&name);
    let mut imported = import(&list, &format!("{source}, read {day}"))
        .map_err(|error| UsageError(format!("{}: {error}", file.display())))?;
    imported.retain(|id| only.is_empty() || only.iter().any(|start| id.starts_with(start.as_str())));
    let (rows, skipped) = (imported.rows.len(), imported.skipped.len());
    if rows == 0 {
        return Err(UsageError(format!("{} has no model that is asked for", file.display())).into());
    }
    let (prices, windows) = (
        imported.to_toml(source, &day),
        imported.windows_to_toml(source, &day),
    );
    if let Some(table) = print {
        let text = match table {
            ModelTable::Prices => prices,
            ModelTable::Windows => windows,
        };
        terminal.out.write_all(text.as_bytes())?;
    } else {
        let (Some(to_prices), Some(to_windows)) = (books::own_prices(), books::own_windows()) else {
            let message = "there is no place for settings: set HOME, or XDG_CONFIG_HOME to an absolute path";
            return Err(UsageError(message.to_owned()).into());
        };
        // What will be read next time is what was written now.
        PriceBook::from_toml(&to_prices.display().to_string(), &prices)?;
        Windows::from_toml(&to_windows.display().to_string(), &windows)?;
        save(&to_prices, &prices)?;
        save(&to_windows, &windows)?;
        let known = imported.windows.len();
        writeln!(terminal.out, "{rows} prices are in {}", to_prices.display())?;
        writeln!(terminal.out, "{known} windows are in {}", to_windows.display())?;
    }
    if skipped > 0 {
        writeln!(
            terminal.err,
            "note      {skipped} entries were left out: they have no price for text or no prompt"
        )?;
    }
    Ok(Status::Success)
}

/// Writes a file whole or not at all.
fn save(path: &Path, text: &str) -> anyhow::Result<()> {
    let parent = path.parent().unwrap_or_else(|| Path::new("."));
    let failed = || format!("{} cannot be written", path.display());
    std::fs::create_dir_all(parent).with_context(failed)?;
    let mut file = tempfile::NamedTempFile::new_in(parent).with_context(failed)?;
    file.write_all(text.as_bytes()).with_context(failed)?;
    file.persist(path)
        .map_err(|error| error.error)
        .with_context(failed)?;
    Ok(())
}
