//! A provider that answers at once.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::{BodyExt, Either, Full};
use hyper::body::{Body, Frame, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Words of a streamed answer, an event each.
const WORDS: usize = 24;

/// The server. It ends with the process.
pub(super) struct Server {
    address: SocketAddr,
}

impl Server {
    pub(super) async fn start() -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                stream.set_nodelay(true).unwrap_or_default();
                tokio::spawn(async move {
                    let connection =
                        http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer));
                    // A client that is done breaks off.
                    let _over = connection.await;
                });
            }
        });
        Ok(Self { address })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<Either<Full<Bytes>, Events>>, Infallible> {
    let body = request
        .into_body()
        .collect()
        .await
        .map(http_body_util::Collected::to_bytes)
        .unwrap_or_default();
    let stream = body.windows(13).any(|window| window == b"\"stream\":true");
    let (content_type, body) = if stream {
        ("text/event-stream", Either::Right(Events { next: 0 }))
    } else {
        ("application/json", Either::Left(Full::new(whole())))
    };
    let mut response = Response::new(body);
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    Ok(response)
}

fn usage() -> Value {
    json!({"prompt_tokens": 1900, "completion_tokens": WORDS, "total_tokens": 1900 + WORDS,
        "prompt_tokens_details": {"cached_tokens": 1792}})
}

fn whole() -> Bytes {
    let message = json!({"role": "assistant", "content": "word ".repeat(WORDS)});
    let body = json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": "gpt-5.5",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage()});
    body.to_string().into()
}

/// Events, each flushed by itself.
struct Events {
    next: usize,
}

impl Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.next += 1;
        if self.next.is_multiple_of(2) {
            task.waker().wake_by_ref();
            return Poll::Pending;
        }
        let chunk = |choices: Value, usage: Value| {
            let event = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0,
                "model": "gpt-5.5", "choices": choices, "usage": usage});
            format!("data: {event}\n\n")
        };
        let delta = |delta: Value, finish: Value| {
            chunk(
                json!([{"index": 0, "delta": delta, "finish_reason": finish}]),
                Value::Null,
            )
        };
        let event = match self.next / 2 {
            0 => delta(json!({"role": "assistant", "content": ""}), Value::Null),
            number if number <= WORDS => delta(json!({"content": "word "}), Value::Null),
            number if number == WORDS + 1 => delta(json!({}), json!("stop")),
            number if number == WORDS + 2 => chunk(json!([]), usage()),
            number if number == WORDS + 3 => "data: [DONE]\n\n".to_owned(),
            _ => return Poll::Ready(None),
        };
        Poll::Ready(Some(Ok(Frame::data(event.into()))))
    }
}
