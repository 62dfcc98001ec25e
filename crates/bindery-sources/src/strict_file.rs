//! Reading small text files that must be right: sections and settings. Whatever cannot be read as it
//! stands is an error with its mend; nothing is guessed.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;

use crate::notice::{Notice, Position, number};

/// Section and settings files are written by people: a mebibyte is far beyond any of them.
pub(crate) const MOST_BYTES: u64 = 1024 * 1024;

/// The text of a file, without a byte order mark; `None` where there is none.
///
/// `within` is the folder that the file must lie in once symbolic links are followed: a repository
/// must not be able to put a file from elsewhere into a prompt.
pub(crate) fn read(path: &Path, shown: &str, within: Option<&Path>) -> Result<Option<String>, Notice> {
    let at = || Position::whole(shown);
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if is_absent(path, &error) => return Ok(None),
        Err(error) => return Err(unreadable(path, shown, &error)),
    };
    if metadata.is_dir() {
        return Err(
            Notice::error("file-is-directory", at(), "this is a directory, not a file")
                .mend("rename or remove the directory"),
        );
    }
    if !metadata.is_file() {
        return Err(Notice::error(
            "file-not-regular",
            at(),
            "this is a pipe, socket or device, not a file",
        )
        .mend("replace it by a regular file"));
    }
    if metadata.len() > MOST_BYTES {
        return Err(too_large(shown, metadata.len()));
    }
    if let Some(folder) = within {
        check_within(path, shown, folder)?;
    }
    let bytes = bounded(path).map_err(|error| unreadable(path, shown, &error))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(too_large(shown, bytes.len() as u64));
    }
    text(bytes, shown).map(Some)
}

/// Nothing there at all, as against a link whose target is missing.
fn is_absent(path: &Path, error: &std::io::Error) -> bool {
    let missing = matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
    missing && fs::symlink_metadata(path).is_err()
}

fn bounded(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn text(bytes: Vec<u8>, shown: &str) -> Result<String, Notice> {
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        let before = bytes.get(..good).unwrap_or_default();
        let line = number(before.split(|byte| *byte == b'\n').count());
        let byte = bytes.get(good).copied().unwrap_or_default();
        let utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
        let message = if utf16 {
            "the file is UTF-16, not UTF-8".to_owned()
        } else {
            format!("byte 0x{byte:02x} at offset {good} is not UTF-8")
        };
        Notice::error("file-not-utf8", Position::line(shown, line), message).mend("save the file as UTF-8")
    })?;
    if text.starts_with('\u{feff}') {
        text.remove(0);
    }
    Ok(text)
}

fn check_within(path: &Path, shown: &str, folder: &Path) -> Result<(), Notice> {
    let real = path
        .canonicalize()
        .map_err(|error| unreadable(path, shown, &error))?;
    let folder = folder
        .canonicalize()
        .map_err(|error| unreadable(folder, shown, &error))?;
    if real.starts_with(folder) {
        return Ok(());
    }
    Err(Notice::error(
        "file-outside-project",
        Position::whole(shown),
        "this is a symbolic link to a file outside the project; a repository may not bring in files from elsewhere",
    )
    .mend("copy the file into the project, or move it to your own configuration"))
}

/// A file or folder that is there and cannot be read.
pub(crate) fn unreadable(path: &Path, shown: &str, error: &std::io::Error) -> Notice {
    let at = Position::whole(shown);
    // The standard library has no stable name for this one.
    if rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::LOOP) {
        return Notice::error("file-link-loop", at, "symbolic links form a loop")
            .mend("remove the link, or point it at a file");
    }
    match error.kind() {
        ErrorKind::NotFound => Notice::error(
            "file-link-broken",
            at,
            "this is a symbolic link to a file that does not exist",
        )
        .mend("remove the link, or point it at a file"),
        ErrorKind::PermissionDenied => {
            Notice::error("file-unreadable", at, "permission denied").mend(format!(
                "make it readable: chmod u+r '{}'",
                crate::visible::escaped(&path.to_string_lossy())
            ))
        }
        _ => Notice::error("file-unreadable", at, format!("it cannot be read: {error}"))
            .mend("check the path and the disk"),
    }
}

fn too_large(shown: &str, bytes: u64) -> Notice {
    Notice::error(
        "file-too-large",
        Position::whole(shown),
        format!("the file has {bytes} bytes; at most {MOST_BYTES} are read"),
    )
    .mend("split it, or keep data out of it and let the agent read that when needed")
}
