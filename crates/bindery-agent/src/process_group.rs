//! A process and what it started.

use tokio::process::Child;

/// Ends a process that has a group of its own, and everything in that group. One that was waited for has no id any
/// more, and is left alone.
pub(crate) fn kill(child: &Child) {
    #[cfg(unix)]
    if let Some(pid) = child
        .id()
        .and_then(|id| i32::try_from(id).ok())
        .and_then(rustix::process::Pid::from_raw)
    {
        // A group that is gone already needs no signal.
        let _gone = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
    }
    #[cfg(not(unix))]
    let _ = child;
}
