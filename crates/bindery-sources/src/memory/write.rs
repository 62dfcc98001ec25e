//! Adding to a memory: one writer at a time, each file replaced as a whole.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use super::roots::{Keeper, MemoryRoot};
use crate::notice::{Notice, Position, number};
use crate::places::Places;
use crate::strict_file;

/// The most bytes of a note.
pub const MOST_NOTE: usize = 2_000;
/// The most characters of a topic's name.
const MOST_NAME: usize = 64;
/// What ends the text of a note and begins its provenance.
const MARK: &str = "<!--";

/// Who noted something, and when.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Provenance {
    /// Who wrote it down: `user`, `agent`.
    pub by: String,
    /// Whose word it is, where somebody else wrote it down: `user`, `tool`, `document`.
    pub told_by: Option<String>,
    /// The session.
    pub session: Option<String>,
    /// The turn in it.
    pub turn: Option<u64>,
    /// The day, as `2026-11-30`.
    pub day: Option<String>,
}

/// What became of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    /// It stands there now.
    Added {
        /// The file, as people read it.
        shown: String,
        /// The line.
        line: u32,
    },
    /// The same words stand there already.
    Known {
        /// The file, as people read it.
        shown: String,
        /// The line.
        line: u32,
    },
}

impl Provenance {
    /// As it stands in the file: a comment, so that pages show the note alone.
    pub fn comment(&self) -> String {
        let mut out = format!("by {}", plain(&self.by));
        let parts = [
            self.told_by.as_ref().map(|who| format!("told by {}", plain(who))),
            self.session.as_ref().map(|id| format!("session {}", plain(id))),
            self.turn.map(|turn| format!("turn {turn}")),
            self.day.as_ref().map(|day| plain(day)),
        ];
        for part in parts.into_iter().flatten() {
            // Writing to a string cannot fail.
            let _ = write!(out, "; {part}");
        }
        format!("{MARK} {out} -->")
    }
}

/// A word that cannot end the comment.
fn plain(word: &str) -> String {
    let keeps = |c: char| c.is_alphanumeric() || "._:@ ".contains(c) || c == '-';
    let kept: String = word.chars().filter(|c| keeps(*c)).take(64).collect();
    kept.replace("--", "-")
}

/// A note as it may stand on one line. `Err` says what is wrong with it.
pub fn checked(text: &str) -> Result<String, String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = text.trim_start_matches(['-', '*', '+', '#', ' ']).to_owned();
    if text.is_empty() {
        return Err("there is nothing to note".to_owned());
    }
    if text.len() > MOST_NOTE {
        return Err(format!(
            "a note has at most {MOST_NOTE} bytes, and this one {}; say it shorter, or in several",
            text.len()
        ));
    }
    if text.contains(MARK) || text.contains("-->") {
        return Err("a note holds no comments: they are how its provenance is written".to_owned());
    }
    if text.chars().any(char::is_control) {
        return Err("a note holds no control characters".to_owned());
    }
    Ok(text)
}

/// A topic's name as it may be a file's. `Err` says what is wrong with it.
pub fn checked_topic(name: &str) -> Result<String, String> {
    let name = name.trim().trim_end_matches(".md").to_lowercase();
    let good = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.chars().count() > MOST_NAME || !name.chars().all(good) {
        return Err(format!(
            "a topic is named by at most {MOST_NAME} letters, digits, `-` and `_`"
        ));
    }
    if name == "memory" {
        return Err("`memory` is the index itself; leave the topic out to write there".to_owned());
    }
    Ok(name)
}

/// Adds a note: to a topic, which the index then names, or to the index. Two writers take turns, a reader sees
/// the old file or the new one, and whatever fails leaves the files as they were. The note is not scanned here.
pub fn add(
    root: &MemoryRoot,
    places: &Places,
    topic: Option<&str>,
    note: &str,
    provenance: &Provenance,
) -> Result<Written, Notice> {
    let refused = |why: String| Notice::error("memory-note", Position::whole("note"), why);
    let note = checked(note).map_err(refused)?;
    let topic = topic.map(checked_topic).transpose().map_err(refused)?;
    let folder = Folder::open(root, places)?;
    let index = folder.path.join("MEMORY.md");
    let file = topic
        .as_ref()
        .map_or_else(|| index.clone(), |topic| folder.path.join(format!("{topic}.md")));
    let shown = places.shown(&file);
    let heading = topic.clone().unwrap_or_else(|| "Memory".to_owned());
    let before = folder.text(&file)?.unwrap_or_else(|| format!("# {heading}\n\n"));
    if let Some(line) = line_of(&before, &note) {
        return Ok(Written::Known { shown, line });
    }
    let mut after = before;
    if !after.is_empty() && !after.ends_with('\n') {
        after.push('\n');
    }
    // Writing to a string cannot fail.
    let _ = writeln!(after, "- {note} {}", provenance.comment());
    let line = number(after.lines().count());
    folder.replace(&file, &after)?;
    if let Some(topic) = topic {
        folder.name_in_index(&index, &topic)?;
    }
    Ok(Written::Added { shown, line })
}

/// The line on which a note stands, whatever its provenance.
fn line_of(text: &str, note: &str) -> Option<u32> {
    let stands = |line: &str| {
        let words = line.split(MARK).next().unwrap_or_default();
        words.trim_start_matches(['-', '*', '+', ' ']).trim() == note
    };
    text.lines().position(stands).map(|index| number(index + 1))
}

/// A memory's directory, held for one writer.
struct Folder<'a> {
    path: PathBuf,
    places: &'a Places,
    root: &'a MemoryRoot,
    _held: File,
}

impl<'a> Folder<'a> {
    fn open(root: &'a MemoryRoot, places: &'a Places) -> Result<Self, Notice> {
        let failed = |error: &io::Error| unwritable(&root.path, places, error);
        fs::create_dir_all(&root.path).map_err(|error| failed(&error))?;
        super::notebook::inside(root, &root.path, places).map_err(|notice| {
            Notice::error(
                "memory-outside-project",
                notice.at,
                "a symbolic link that leads out of the project; nothing is written there",
            )
        })?;
        let held = hold(&root.path).map_err(|error| failed(&error))?;
        Ok(Self {
            path: root.path.clone(),
            places,
            root,
            _held: held,
        })
    }

    /// The text of a file; a file that is no text is an error, since it could not be written back.
    fn text(&self, path: &Path) -> Result<Option<String>, Notice> {
        let within = (self.root.keeper == Keeper::Project).then_some(self.places.project.as_path());
        strict_file::read(path, &self.places.shown(path), within)
    }

    fn replace(&self, path: &Path, text: &str) -> Result<(), Notice> {
        let failed = |error: io::Error| unwritable(path, self.places, &error);
        // A link stays a link: what it leads to is replaced.
        let path = &match path.canonicalize() {
            Ok(real) => real,
            Err(error) if error.kind() == ErrorKind::NotFound => path.to_path_buf(),
            Err(error) => return Err(failed(error)),
        };
        let folder = path.parent().unwrap_or(&self.path);
        let mut file = builder(self.root.keeper).tempfile_in(folder).map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        if let Ok(old) = fs::metadata(path) {
            fs::set_permissions(file.path(), old.permissions()).map_err(failed)?;
        }
        file.as_file().sync_all().map_err(failed)?;
        file.persist(path).map_err(|error| failed(error.error))?;
        Ok(())
    }

    fn name_in_index(&self, index: &Path, topic: &str) -> Result<(), Notice> {
        let mut text = self.text(index)?.unwrap_or_else(|| "# Memory\n\n".to_owned());
        if text.contains(&format!("]({topic}.md)")) {
            return Ok(());
        }
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        // Writing to a string cannot fail.
        let _ = writeln!(text, "- [{topic}]({topic}.md)");
        self.replace(index, &text)
    }
}

fn builder(keeper: Keeper) -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".bindery-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // A repository's memory is for everybody who may read the project; the umask takes away from it.
        let mode = if keeper == Keeper::Project { 0o666 } else { 0o600 };
        builder.permissions(fs::Permissions::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = keeper;
    builder
}

/// Waits until nobody else writes to the memory. Closing the file lets the next one in.
#[cfg(unix)]
fn hold(folder: &Path) -> io::Result<File> {
    let held = File::open(folder)?;
    held.lock()?;
    Ok(held)
}

#[cfg(not(unix))]
fn hold(folder: &Path) -> io::Result<File> {
    let held = File::create(folder.join(".guard"))?;
    held.lock()?;
    Ok(held)
}

fn unwritable(path: &Path, places: &Places, error: &io::Error) -> Notice {
    let at = Position::whole(places.shown(path));
    let message = format!("it cannot be written: {error}; nothing was noted");
    Notice::error("memory-unwritable", at, message).mend("check the folder and the disk")
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Ground {
        folder: tempfile::TempDir,
        places: Places,
        root: MemoryRoot,
    }

    fn ground(keeper: Keeper) -> Ground {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("p");
        fs::create_dir_all(&project).unwrap();
        let places = Places::new(Some(&folder.path().join("home")), None, project);
        let root = super::super::roots(&places, None)
            .into_iter()
            .find(|root| root.keeper == keeper)
            .unwrap();
        Ground { folder, places, root }
    }

    impl Ground {
        fn add(&self, topic: Option<&str>, note: &str) -> Result<Written, Notice> {
            let by = Provenance {
                by: "agent".into(),
                told_by: Some("user".into()),
                session: Some("s-1".into()),
                turn: Some(3),
                day: Some("2026-11-30".into()),
            };
            add(&self.root, &self.places, topic, note, &by)
        }

        fn read(&self, name: &str) -> String {
            fs::read_to_string(self.root.path.join(name)).unwrap()
        }
    }

    #[test]
    fn a_note_says_who_and_when_and_its_topic_is_in_the_index() {
        let ground = ground(Keeper::Private);
        ground.add(Some("Deploys"), "- We deploy\n on Tuesdays.").unwrap();
        ground.add(None, "The linter is strict.").unwrap();
        let known = ground.add(Some("deploys"), "We deploy on Tuesdays.").unwrap();
        assert!(matches!(known, Written::Known { line: 3, .. }), "{known:?}");
        insta::assert_snapshot!(ground.read("deploys.md") + &ground.read("MEMORY.md"), @r"
        # deploys

        - We deploy on Tuesdays. <!-- by agent; told by user; session s-1; turn 3; 2026-11-30 -->
        # Memory

        - [deploys](deploys.md)
        - The linter is strict. <!-- by agent; told by user; session s-1; turn 3; 2026-11-30 -->
        ");
    }

    #[test]
    fn what_cannot_be_a_note_is_refused_and_nothing_is_written() {
        let ground = ground(Keeper::User);
        let long = "x".repeat(MOST_NOTE + 1);
        for (topic, note) in [
            (None, "  \n"),
            (None, "a <!-- by user --> b"),
            (None, long.as_str()),
            (None, "bell \u{7}"),
            (Some("../x"), "a"),
            (Some("MEMORY"), "a"),
            (Some(""), "a"),
        ] {
            assert!(ground.add(topic, note).is_err(), "{topic:?} {note:?}");
        }
        assert!(!ground.root.path.exists());
    }

    #[test]
    fn a_file_that_is_no_text_stays_as_it_is() {
        let ground = ground(Keeper::Private);
        fs::create_dir_all(&ground.root.path).unwrap();
        let index = ground.root.path.join("MEMORY.md");
        fs::write(&index, b"\xff\xfe binary").unwrap();
        assert!(ground.add(None, "a").is_err());
        assert_eq!(fs::read(&index).unwrap(), b"\xff\xfe binary");
        assert_eq!(fs::read_dir(&ground.root.path).unwrap().count(), 1);
    }

    #[test]
    fn writers_take_turns_and_lose_nothing() {
        let ground = ground(Keeper::Private);
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let ground = &ground;
                scope.spawn(move || {
                    for number in 0..10 {
                        ground
                            .add(Some("many"), &format!("note {writer} {number}"))
                            .unwrap();
                    }
                });
            }
        });
        assert_eq!(
            ground
                .read("many.md")
                .lines()
                .filter(|line| line.starts_with("- "))
                .count(),
            40
        );
        assert_eq!(ground.read("MEMORY.md").matches("(many.md)").count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_repository_is_not_written_through() {
        use std::os::unix::fs::symlink;
        let ground = ground(Keeper::Project);
        let outside = ground.folder.path().join("outside");
        fs::create_dir_all(&outside).unwrap();
        fs::create_dir_all(ground.places.project.join(".bindery")).unwrap();
        symlink(&outside, &ground.root.path).unwrap();
        assert!(ground.add(None, "a").is_err());
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
        fs::remove_file(&ground.root.path).unwrap();
        fs::create_dir_all(&ground.root.path).unwrap();
        fs::write(outside.join("x.md"), "theirs").unwrap();
        symlink(outside.join("x.md"), ground.root.path.join("x.md")).unwrap();
        symlink("loop.md", ground.root.path.join("loop.md")).unwrap();
        assert!(ground.add(Some("x"), "a").is_err());
        assert!(ground.add(Some("loop"), "a").is_err());
        assert_eq!(fs::read_to_string(outside.join("x.md")).unwrap(), "theirs");
    }

    proptest::proptest! {
        #[test]
        fn a_note_is_one_line_that_is_found_again(note in "\\PC{0,80}") {
            if let Ok(note) = checked(&note) {
                let by = Provenance { by: "u--> x".into(), ..Provenance::default() };
                let line = format!("- {note} {}", by.comment());
                proptest::prop_assert_eq!(line.lines().count(), 1);
                proptest::prop_assert_eq!(line.matches("-->").count(), 1);
                proptest::prop_assert_eq!(line_of(&line, &note), Some(1));
            }
        }
    }
}
