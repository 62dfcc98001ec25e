//! `--watch`: the page again whenever what it says has changed.
//!
//! Directories are watched, not files: a file that is replaced or deleted keeps its directory.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use bindery::sources::instructions::Host;

use super::Looked;
use super::why::Side;
use crate::status::Status;
use crate::terminal::Terminal;

/// Changes that come within so long of each other are one.
const QUIET: Duration = Duration::from_millis(60);

/// Prints what `look` gives, and again when it differs, until somebody interrupts.
pub(super) fn run(
    terminal: &mut Terminal,
    mut look: impl FnMut(&mut Terminal) -> anyhow::Result<Looked>,
) -> anyhow::Result<Status> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("no runtime to wait in")?;
    let (sender, mut changes) = unbounded_channel();
    let source = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let is_reading = event
            .as_ref()
            .is_ok_and(|event| matches!(event.kind, EventKind::Access(_)));
        if !is_reading {
            // Nobody listens any more when the command is about to end.
            let _ = sender.send(());
        }
    });
    let mut watch = Watched {
        watcher: source.context("this system cannot watch for changes")?,
        directories: BTreeSet::new(),
    };
    // What changes after the first look and before the watch began is seen by the second.
    watch.follow(terminal.keeping(&mut look)?.0.directories);
    let mut printed = Vec::new();
    loop {
        match terminal.keeping(&mut look) {
            Ok((looked, page)) => {
                watch.follow(looked.directories);
                if page != printed {
                    if !printed.is_empty() {
                        writeln!(terminal.out, "\n{}\n", "─".repeat(terminal.width))?;
                    }
                    terminal.out.write_all(&page)?;
                    terminal.out.flush()?;
                    printed = page;
                }
            }
            // What is wrong now may be right again after the next change.
            Err(error) => writeln!(terminal.err, "error: {error:#}")?,
        }
        if runtime.block_on(interrupted(&mut changes))? {
            return Ok(Status::Success);
        }
    }
}

/// Waits for a change and for quiet after it; whether somebody interrupted instead.
async fn interrupted(changes: &mut UnboundedReceiver<()>) -> std::io::Result<bool> {
    tokio::select! {
        signal = tokio::signal::ctrl_c() => return signal.map(|()| true),
        change = changes.recv() => if change.is_none() { return Ok(true) },
    }
    loop {
        tokio::select! {
            signal = tokio::signal::ctrl_c() => return signal.map(|()| true),
            next = tokio::time::timeout(QUIET, changes.recv()) => if next.is_err() { return Ok(false) },
        }
    }
}

/// The directories that are watched.
struct Watched {
    watcher: RecommendedWatcher,
    directories: BTreeSet<PathBuf>,
}

impl Watched {
    /// Watches these directories and no others. One that is gone is watched again once it is there: its
    /// parent tells.
    fn follow(&mut self, directories: BTreeSet<PathBuf>) {
        for gone in self.directories.difference(&directories) {
            let _ = self.watcher.unwatch(gone);
        }
        for directory in &directories {
            // The system forgets the watch of a directory that was replaced, so each is asked for again.
            let _ = self.watcher.watch(directory, RecursiveMode::NonRecursive);
        }
        self.directories = directories;
    }
}

/// The directories in which a change may change what is loaded: those of every candidate, from the project's
/// root to the working directory, the clients' own, and what lies on the way to files that are not there yet.
pub(super) fn directories(sides: &[Side], host: &Host) -> BTreeSet<PathBuf> {
    let mut out = BTreeSet::new();
    for Side { dialect, manifest } in sides {
        let root = manifest.project_root.as_ref().unwrap_or(&manifest.cwd);
        let walk = manifest.cwd.ancestors().take_while(|up| up.starts_with(root));
        let names = dialect.known_names().into_iter().map(Path::new);
        let folders = dialect.known_folders().into_iter();
        let folders: Vec<&Path> = names
            .filter_map(Path::parent)
            .chain(folders.filter_map(|files| files.folder.as_deref().map(Path::new)))
            .collect();
        for directory in walk {
            out.insert(directory.to_owned());
            out.extend(
                folders
                    .iter()
                    .flat_map(|folder| on_the_way(&directory.join(folder), directory)),
            );
        }
        // Whoever replaces the working directory does it from above.
        out.extend(manifest.cwd.parent().map(Path::to_owned));
        let files = manifest.files.iter().map(|file| &file.path);
        let files = files.chain(manifest.diagnostics.iter().map(|note| &note.path));
        out.extend(files.filter_map(|path| path.parent()).map(Path::to_owned));
        out.extend(
            host.config_home(dialect.config_home.as_ref())
                .map(|home| nearest(&home)),
        );
    }
    out.retain(|directory| directory.is_dir());
    out
}

/// The directories from `top` to `bottom` that exist.
fn on_the_way(bottom: &Path, top: &Path) -> Vec<PathBuf> {
    let way = bottom.ancestors().take_while(|up| up.starts_with(top));
    way.filter(|up| up.is_dir()).map(Path::to_owned).collect()
}

/// A directory, or the nearest above it that is there.
fn nearest(directory: &Path) -> PathBuf {
    let there = directory.ancestors().find(|up| up.is_dir());
    there.unwrap_or(directory).to_owned()
}
