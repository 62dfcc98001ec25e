//! Requests, at a pace or as fast as they go.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::json;

/// How the answer comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// In one piece.
    Whole,
    /// As events.
    Stream,
}

impl Shape {
    pub(super) const ALL: [Self; 2] = [Self::Whole, Self::Stream];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Stream => "stream",
        }
    }
}

/// Requests of one shape. Cheap to clone.
#[derive(Clone)]
pub(super) struct Load {
    client: Client<HttpConnector, Full<Bytes>>,
    body: Bytes,
}

impl Load {
    pub(super) fn new(shape: Shape) -> Self {
        let mut tcp = HttpConnector::new();
        tcp.set_nodelay(true);
        let turn = |number: usize| {
            let role = if number.is_multiple_of(2) {
                "user"
            } else {
                "assistant"
            };
            json!({"role": role, "content": format!("Turn {number}. {}", "Some words of a conversation. ".repeat(12))})
        };
        let messages: Vec<_> = (0..21).map(turn).collect();
        let body = json!({"model": "gpt-5.5", "stream": shape == Shape::Stream, "messages": messages});
        Self {
            client: Client::builder(TokioExecutor::new()).build(tcp),
            body: body.to_string().into(),
        }
    }

    /// One request: until the last byte of its answer.
    async fn one(&self, url: &str) -> anyhow::Result<Duration> {
        let request = Request::post(format!("{url}/v1/chat/completions"))
            .header("content-type", "application/json")
            .header("authorization", "Bearer sk-made-up-0123456789")
            .body(Full::new(self.body.clone()))?;
        let start = Instant::now();
        let response = self
            .client
            .request(request)
            .await
            .with_context(|| format!("asking {url}"))?;
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        if !status.is_success() {
            bail!("{url} answered {status}: {}", String::from_utf8_lossy(&body));
        }
        Ok(start.elapsed())
    }

    /// `count` requests to each of two, `rate` a second to each; none waits for another.
    pub(super) async fn paced(
        &self,
        urls: &[String; 2],
        rate: u32,
        count: u32,
    ) -> anyhow::Result<[Vec<Duration>; 2]> {
        let mut ticks = tokio::time::interval(Duration::from_secs(1) / rate / 2);
        let mut running = [Vec::new(), Vec::new()];
        for number in 0..count {
            // Who goes first changes, so that neither always finds the caches warm.
            let order = if number.is_multiple_of(2) { [0, 1] } else { [1, 0] };
            for which in order {
                ticks.tick().await;
                let (Some(url), Some(list)) = (urls.get(which).cloned(), running.get_mut(which)) else {
                    continue;
                };
                let load = self.clone();
                list.push(tokio::spawn(async move { load.one(&url).await }));
            }
        }
        let mut out = [Vec::new(), Vec::new()];
        for (tasks, times) in running.into_iter().zip(&mut out) {
            for task in tasks {
                times.push(task.await??);
            }
        }
        Ok(out)
    }

    /// `count` requests over so many connections, each as soon as the one before is answered.
    pub(super) async fn flood(
        &self,
        url: &str,
        connections: usize,
        count: usize,
    ) -> anyhow::Result<Duration> {
        let left = Arc::new(AtomicUsize::new(count));
        let start = Instant::now();
        let workers = (0..connections).map(|_| {
            let (load, url, left) = (self.clone(), url.to_owned(), left.clone());
            tokio::spawn(async move {
                let less = |left: usize| left.checked_sub(1);
                while left
                    .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
                    .is_ok()
                {
                    load.one(&url).await?;
                }
                anyhow::Ok(())
            })
        });
        for worker in workers.collect::<Vec<_>>() {
            worker.await??;
        }
        Ok(start.elapsed())
    }
}
