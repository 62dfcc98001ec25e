//! `bindery bench explain`: the instruction files of a large repository, beside listing its files.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use clap::Args;

use super::measure::{Spread, Usage, in_turn, process};
use super::{Comparison, print};
use crate::status::Status;
use crate::terminal::Terminal;

/// Folders that hold the files.
const FOLDERS: u32 = 500;

#[derive(Debug, Args)]
pub(crate) struct BenchExplainArgs {
    /// How often each is run
    #[arg(long, default_value_t = 21, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: u32,
    /// Files in the repository
    #[arg(long, default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    files: u32,
    /// Nested instruction files among its folders
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u32).range(0..=i64::from(FOLDERS)))]
    nested: u32,
    /// The client; repeatable
    #[arg(long = "dialect", value_name = "NAME", default_values = ["auto", "claude"])]
    dialects: Vec<String>,
}

/// A program that lists files, ready to be run in the repository.
struct Rival {
    name: &'static str,
    command: Command,
}

pub(super) fn run(args: &BenchExplainArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let folder = tempfile::tempdir().context("no temporary folder")?;
    let (repository, home) = (folder.path().join("repository"), folder.path().join("home"));
    std::fs::create_dir_all(&home)?;
    lay_repository(&repository, args.files, args.nested)?;
    let mut rivals = rivals(&repository);
    for missing in ["git", "rg"]
        .iter()
        .filter(|name| !rivals.iter().any(|rival| rival.name.starts_with(**name)))
    {
        writeln!(
            terminal.err,
            "`{missing}` cannot be run here, so nothing is measured beside it"
        )?;
    }
    let bindery = std::env::current_exe().context("the path of this program is not known")?;
    let (mut time, mut memory) = (Vec::new(), Vec::new());
    for dialect in &args.dialects {
        for touch in [&[][..], &["--touch", "**"]] {
            let mut ours = Command::new(&bindery);
            ours.args(["explain", "--dialect", dialect]).args(touch);
            ours.current_dir(&repository)
                .env_clear()
                .env("HOME", &home)
                .env("PATH", "/usr/bin:/bin");
            let what = format!("explain {dialect} {}", touch.join(" "));
            for rival in &mut rivals {
                let used = in_turn(
                    args.runs as usize,
                    || process(&mut ours),
                    || process(&mut rival.command),
                )?;
                time.push(row(&what, rival.name, &used, |used| {
                    Spread::times(used.map(|one| one.cpu))
                }));
                memory.push(row(&what, rival.name, &used, |used| {
                    Spread::sizes(used.map(|one| one.memory))
                }));
            }
        }
    }
    writeln!(
        terminal.out,
        "user and system time: {} files, {} nested\n",
        args.files, args.nested
    )?;
    print(&time, &mut terminal.out)?;
    writeln!(terminal.out, "\npeak memory\n")?;
    print(&memory, &mut terminal.out)?;
    Ok(Status::Success)
}

fn row(
    what: &str,
    rival: &'static str,
    (ours, theirs): &(Vec<Usage>, Vec<Usage>),
    spread: impl Fn(std::iter::Copied<std::slice::Iter<'_, Usage>>) -> Spread,
) -> Comparison {
    Comparison {
        what: what.trim_end().to_owned(),
        ours: spread(ours.iter().copied()),
        rival,
        theirs: spread(theirs.iter().copied()),
    }
}

/// The programs that can be run here.
fn rivals(repository: &Path) -> Vec<Rival> {
    let known = [
        ("git ls-files", "git", "ls-files"),
        ("rg --files", "rg", "--files"),
    ];
    let known = known.into_iter().map(|(name, program, argument)| {
        let mut command = Command::new(program);
        command.arg(argument).current_dir(repository);
        Rival { name, command }
    });
    known
        .filter_map(|mut rival| process(&mut rival.command).is_ok().then_some(rival))
        .collect()
}

/// A repository whose files git knows, if git is there.
fn lay_repository(root: &Path, files: u32, nested: u32) -> anyhow::Result<()> {
    std::fs::create_dir_all(root)?;
    let folder = |index: u32| {
        let index = index % FOLDERS;
        root.join(format!("packages/p{:02}/src/m{:02}", index % 50, index / 50))
    };
    for index in 0..FOLDERS {
        std::fs::create_dir_all(folder(index))?;
    }
    for index in 0..files {
        std::fs::write(
            folder(index).join(format!("f{index}.ts")),
            "export const x = 1;\n",
        )?;
    }
    std::fs::write(
        root.join("AGENTS.md"),
        "# Rules\n\nRun the tests before you commit.\n",
    )?;
    std::fs::write(root.join("CLAUDE.md"), "@AGENTS.md\n")?;
    for index in 0..nested {
        let name = if index % 2 == 0 { "AGENTS.md" } else { "CLAUDE.md" };
        let text =
            format!("# Rules of part {index}\n\nKeep functions small, and name them after what they do.\n");
        std::fs::write(folder(index).join(name), text)?;
    }
    std::fs::create_dir_all(root.join(".git"))?;
    for arguments in [&["init", "--quiet"][..], &["add", "--all"]] {
        let mut git = Command::new("git");
        git.args(arguments).current_dir(root);
        git.stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        match git.status() {
            Ok(status) if !status.success() => bail!("{git:?} ended with {status}"),
            // Without git there is still a repository to look at, if not one beside which to measure.
            _ => {}
        }
    }
    Ok(())
}
