//! What lies at a path, without opening it.

use std::fmt;
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// What a path leads to, links followed.
#[derive(Debug, Clone)]
pub struct Found {
    pub(super) metadata: Metadata,
    /// Whether the path itself is a symbolic link.
    pub is_link: bool,
}

/// Why a path gives no bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// Nothing is there.
    Missing,
    /// A link leads nowhere; to where it leads.
    Dangling {
        /// The link's target as written.
        target: PathBuf,
    },
    /// A link leads back to itself.
    Loop,
    /// A directory.
    Directory,
    /// A named pipe; opening it could wait for ever.
    Fifo,
    /// A socket.
    Socket,
    /// A block or character device.
    Device,
    /// Reading is not permitted.
    Denied,
    /// Larger than memory allows.
    TooLarge {
        /// Size in bytes.
        size: u64,
    },
    /// Anything else, in the system's words.
    Other(String),
}

impl Problem {
    /// What a failure of the system means.
    pub(crate) fn of(path: &Path, fault: &io::Error) -> Self {
        match fault.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => match fs::read_link(path) {
                Ok(target) => Self::Dangling { target },
                Err(_) => Self::Missing,
            },
            ErrorKind::PermissionDenied => Self::Denied,
            ErrorKind::IsADirectory => Self::Directory,
            _ if is_loop(fault) => Self::Loop,
            _ => Self::Other(fault.to_string()),
        }
    }

    /// A stable word for the problem.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Dangling { .. } => "dangling_link",
            Self::Loop => "link_loop",
            Self::Directory => "is_directory",
            Self::Fifo => "is_fifo",
            Self::Socket => "is_socket",
            Self::Device => "is_device",
            Self::Denied => "permission_denied",
            Self::TooLarge { .. } => "too_large",
            Self::Other(_) => "unreadable",
        }
    }
}

#[cfg(unix)]
fn is_loop(fault: &io::Error) -> bool {
    fault.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(not(unix))]
fn is_loop(_fault: &io::Error) -> bool {
    false
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("nothing is there"),
            Self::Dangling { target } => write!(f, "a link to {}, which does not exist", target.display()),
            Self::Loop => f.write_str("a link that leads back to itself"),
            Self::Directory => f.write_str("a directory, not a file"),
            Self::Fifo => f.write_str("a named pipe; reading it could wait for ever"),
            Self::Socket => f.write_str("a socket, not a file"),
            Self::Device => f.write_str("a device, not a file"),
            Self::Denied => f.write_str("not readable: permission denied"),
            Self::TooLarge { size } => write!(f, "{size} bytes, more than memory allows"),
            Self::Other(reason) => write!(f, "not readable: {reason}"),
        }
    }
}

impl Found {
    pub(super) fn of(metadata: Metadata) -> Self {
        Self {
            metadata,
            is_link: false,
        }
    }

    /// Whether it is a directory.
    pub fn is_dir(&self) -> bool {
        self.metadata.is_dir()
    }

    /// Whether it is a regular file.
    pub fn is_file(&self) -> bool {
        self.metadata.is_file()
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        self.metadata.len()
    }

    /// Only a regular file may be read.
    pub fn is_readable(&self) -> Result<(), Problem> {
        if self.is_file() {
            return Ok(());
        }
        Err(if self.is_dir() {
            Problem::Directory
        } else {
            special(&self.metadata)
        })
    }
}

#[cfg(unix)]
fn special(metadata: &Metadata) -> Problem {
    use std::os::unix::fs::FileTypeExt;
    let kind = metadata.file_type();
    if kind.is_fifo() {
        Problem::Fifo
    } else if kind.is_socket() {
        Problem::Socket
    } else {
        Problem::Device
    }
}

#[cfg(not(unix))]
fn special(_metadata: &Metadata) -> Problem {
    Problem::Device
}

/// Looks at a path without opening it; links are followed.
pub fn look(path: &Path) -> Result<Found, Problem> {
    let own = fs::symlink_metadata(path).map_err(|fault| Problem::of(path, &fault))?;
    if !own.file_type().is_symlink() {
        return Ok(Found::of(own));
    }
    let metadata = fs::metadata(path).map_err(|fault| Problem::of(path, &fault))?;
    Ok(Found {
        metadata,
        is_link: true,
    })
}
