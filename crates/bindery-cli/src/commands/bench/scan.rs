//! `bindery bench scan`: scanning on one core, beside the scanner of `hermes-agent` (Python) on the same
//! files. Both by the CPU time of the one thread that works.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail};
use bindery::fixture;
use bindery::guard::{Scanner, scan};
use clap::Args;

use super::measure::{Spread, worked};
use super::{Comparison, print};
use crate::status::Status;
use crate::terminal::Terminal;

/// The script that scans with the rival.
const SCRIPT: &str = include_str!("hermes.py");

/// Bytes of each made-up file: the rival reads no more than 65,536 characters of one.
const FILE: usize = 32 << 10;
/// How many made-up files there are of each kind.
const FILES: usize = 32;

#[derive(Debug, Args)]
pub(crate) struct BenchScanArgs {
    /// Files to scan, besides made-up ones
    files: Vec<PathBuf>,
    /// A Python that has `hermes-agent`; without it, only ours is measured
    #[arg(long, value_name = "PROGRAM")]
    python: Option<PathBuf>,
    /// How often each is run
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: u32,
}

/// Files that are measured together.
struct Load {
    name: &'static str,
    paths: Vec<PathBuf>,
    texts: Vec<Vec<u8>>,
}

pub(super) fn run(args: &BenchScanArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let folder = tempfile::tempdir().context("no temporary folder")?;
    let mut loads = vec![
        made_up(folder.path(), "plain ASCII", &ascii())?,
        made_up(folder.path(), "not ASCII", &wide())?,
        made_up(folder.path(), "encoded", &encoded())?,
    ];
    if !args.files.is_empty() {
        loads.push(given(&args.files)?);
    }
    let scanner = Scanner::builtin()?;
    let mut rows = Vec::new();
    for load in &loads {
        let theirs = args
            .python
            .as_deref()
            .map(|python| hermes(python, load, args.runs))
            .transpose()?;
        let ours = ours(&scanner, load, args.runs)?;
        let bytes: usize = load.texts.iter().map(Vec::len).sum();
        report(load.name, bytes, &ours, theirs.as_ref(), &mut terminal.out)?;
        if let Some(theirs) = theirs {
            rows.push(Comparison {
                what: format!("scan {} kB, {}", bytes / 1000, load.name),
                ours,
                rival: "hermes-agent (Python)",
                theirs,
            });
        }
    }
    if !rows.is_empty() {
        writeln!(terminal.out)?;
        print(&rows, &mut terminal.out)?;
    }
    Ok(Status::Success)
}

fn ours(scanner: &Scanner, load: &Load, runs: u32) -> anyhow::Result<Spread> {
    let all = || -> usize {
        load.texts
            .iter()
            .map(|text| scan(text, scanner).findings.len())
            .sum()
    };
    all();
    let times: anyhow::Result<Vec<Duration>> = (0..runs).map(|_| worked(|| Ok(all()))).collect();
    Ok(Spread::times(times?))
}

#[expect(clippy::cast_precision_loss, reason = "throughput is shown to one decimal")]
fn report(
    name: &str,
    bytes: usize,
    ours: &Spread,
    theirs: Option<&Spread>,
    out: &mut impl std::io::Write,
) -> std::io::Result<()> {
    let rate = |spread: &Spread| bytes as f64 / spread.median() / 1e6;
    write!(out, "{name}: {:.1} MB/s", rate(ours))?;
    if let Some(theirs) = theirs {
        write!(
            out,
            ", {:.0} times hermes-agent's {:.2} MB/s",
            rate(ours) / rate(theirs),
            rate(theirs)
        )?;
    }
    writeln!(out)
}

/// How long the rival takes.
fn hermes(python: &Path, load: &Load, runs: u32) -> anyhow::Result<Spread> {
    let output = Command::new(python)
        .args(["-c", SCRIPT])
        .arg(runs.to_string())
        .args(&load.paths)
        .output()
        .with_context(|| format!("`{}` could not be started", python.display()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().last().unwrap_or_default();
        bail!(
            "hermes-agent did not run ({last}): `pip install --no-deps hermes-agent` for `{}`",
            python.display()
        );
    }
    let printed = String::from_utf8(output.stdout)?;
    let times = printed
        .lines()
        .skip(1)
        .map(|line| Ok(Duration::try_from_secs_f64(line.parse()?)?));
    Ok(Spread::times(times.collect::<anyhow::Result<Vec<Duration>>>()?))
}

fn made_up(folder: &Path, name: &'static str, text: &str) -> anyhow::Result<Load> {
    let mut load = Load {
        name,
        paths: Vec::new(),
        texts: Vec::new(),
    };
    let mut rest = text;
    for number in 0..FILES {
        let end = (0..=rest.len().min(FILE))
            .rev()
            .find(|end| rest.is_char_boundary(*end));
        let (file, tail) = rest.split_at_checked(end.unwrap_or(0)).unwrap_or((rest, ""));
        rest = tail;
        let path = folder.join(format!("{}-{number}.md", name.replace(' ', "-")));
        std::fs::write(&path, file)?;
        load.paths.push(path);
        load.texts.push(file.as_bytes().to_vec());
    }
    Ok(load)
}

fn given(files: &[PathBuf]) -> anyhow::Result<Load> {
    let read =
        |path: &PathBuf| std::fs::read(path).with_context(|| format!("{} could not be read", path.display()));
    Ok(Load {
        name: "given files",
        paths: files.to_vec(),
        texts: files.iter().map(read).collect::<anyhow::Result<_>>()?,
    })
}

/// Markdown as instruction files have it.
fn ascii() -> String {
    fixture::markdown(FILE * FILES * 2)
        .chars()
        .filter(char::is_ascii)
        .collect()
}

/// Prose in several scripts.
fn wide() -> String {
    const PROSE: &str = "## Сборка und Prüfung\n\nПеред каждым коммитом запускайте тесты и читайте вывод.\n\n- 每次提交之前先运行测试,然后查看输出。\n\
                         - コミットする前にテストを実行して、出力を読みます。\n- 커밋하기 전에 테스트를 실행하고 출력을 읽습니다.\n\
                         - قبل كل التزام شغل الاختبارات واقرأ المخرجات.\n- Vor jedem Commit: die Tests ausführen, größere Änderungen erklären. 👩🏽‍💻\n\n";
    PROSE.repeat(FILE * FILES / PROSE.len() + 1)
}

/// Text with an encoding in nearly every line.
fn encoded() -> String {
    const LINES: &str = "- See https://example.org/a%20b%20c%20d?x=1 and &lt;tag&gt; &amp; more.\n\
                         - Checksum: VGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcyBvdmVyIHRoZSBsYXp5IGRvZw==\n\
                         - Digest: 54686520717569636b2062726f776e20666f78206a756d7073\n- Keys: \\u0074\\u0065\\u0073\\u0074\n- u53 th3 l0c4l c0py\n\n";
    LINES.repeat(FILE * FILES / LINES.len() + 1)
}
