//! Cancelling, at every await.

use std::future::Future;

/// Asks a turn to end. Clones are one; once cancelled, always cancelled.
pub use tokio_util::sync::CancellationToken as Cancel;

/// What `future` gives; `None` if `cancel` comes first, and the future is dropped.
pub(crate) async fn unless<T>(cancel: &Cancel, future: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => None,
        out = future => Some(out),
    }
}
