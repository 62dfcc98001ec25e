//! Bodies on their way.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use crate::watch::{Side, Watch};

/// Why a body broke.
pub type BodyError = Box<dyn std::error::Error + Send + Sync>;

/// A body, in either direction.
pub type Body = UnsyncBoxBody<Bytes, BodyError>;

/// A body that is there already.
pub(crate) fn whole(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into())
        .map_err(|never| match never {})
        .boxed_unsync()
}

/// A body that is passed on frame by frame, and seen. It reads no faster than its reader.
pub(crate) struct Seen<B> {
    inner: B,
    side: Side,
    watch: Arc<Watch>,
    over: bool,
}

impl<B> Seen<B>
where
    B: HttpBody<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<BodyError>,
{
    /// Shows what passes to `watch`.
    pub(crate) fn body(inner: B, side: Side, watch: Arc<Watch>) -> Body {
        let mut seen = Self {
            inner,
            side,
            watch,
            over: false,
        };
        seen.end_if_over();
        seen.map_err(Into::into).boxed_unsync()
    }

    /// Whoever knows the length does not ask for the end.
    fn end_if_over(&mut self) {
        if !self.over && self.inner.is_end_stream() {
            self.over = true;
            self.watch.end(self.side);
        }
    }
}

impl<B> HttpBody for Seen<B>
where
    B: HttpBody<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<BodyError>,
{
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = &mut *self;
        let frame = std::task::ready!(Pin::new(&mut this.inner).poll_frame(task));
        Poll::Ready(match frame {
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    this.watch.pass(this.side, data);
                }
                this.end_if_over();
                Some(Ok(frame))
            }
            Some(Err(error)) => {
                let error = error.into();
                this.over = true;
                this.watch.broke(this.side, &*error);
                Some(Err(error))
            }
            None => {
                if !std::mem::replace(&mut this.over, true) {
                    this.watch.end(this.side);
                }
                None
            }
        })
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// Pieces that are flushed one by one: the runtime gets a turn before each.
pub(crate) struct Pieces {
    pieces: std::vec::IntoIter<String>,
    breathed: bool,
}

impl Pieces {
    /// A body of these pieces.
    pub(crate) fn body(pieces: Vec<String>) -> Body {
        let pieces = Self {
            pieces: pieces.into_iter(),
            breathed: false,
        };
        pieces.boxed_unsync()
    }
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        self.breathed = !self.breathed;
        if self.breathed {
            task.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(self.pieces.next().map(|piece| Ok(Frame::data(piece.into()))))
    }
}
