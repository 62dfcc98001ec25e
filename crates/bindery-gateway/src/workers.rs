//! The threads that serve connections. Each has a runtime and upstream connections of its own: an exchange stays on
//! one thread, so that no event of a stream waits for another thread to wake up.

use std::future::Future;
use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;

use crate::relay::Relay;

/// All threads.
pub(crate) struct Workers {
    each: Vec<Worker>,
    /// Whether what is under way is to be broken off.
    broken_off: watch::Sender<bool>,
}

/// One thread, as the others see it.
struct Worker {
    streams: mpsc::UnboundedSender<std::net::TcpStream>,
    /// How many connections it has.
    busy: Arc<AtomicUsize>,
    over: oneshot::Receiver<()>,
}

impl Workers {
    /// Starts so many threads. Each answers by a relay of its own.
    pub(crate) fn start(count: NonZeroUsize, relay: impl Fn() -> Relay, grace: Duration) -> io::Result<Self> {
        let broken_off = watch::Sender::new(false);
        let mut each = Vec::new();
        for number in 0..count.get() {
            each.push(Worker::start(number, relay(), grace, broken_off.subscribe())?);
        }
        Ok(Self { each, broken_off })
    }

    /// Serves a connection, on the thread that has fewest.
    pub(crate) fn serve(&self, stream: TcpStream) {
        let least = self
            .each
            .iter()
            .min_by_key(|worker| worker.busy.load(Ordering::Relaxed));
        // A stream that cannot leave its runtime, or a thread that is gone: the client sees it closed.
        if let (Some(worker), Ok(stream)) = (least, stream.into_std()) {
            worker.busy.fetch_add(1, Ordering::Relaxed);
            worker.streams.send(stream).unwrap_or_default();
        }
    }

    /// Lets what is under way come to its end, until `now` is ready.
    pub(crate) async fn finish(self, now: impl Future<Output = ()>) {
        let over: Vec<_> = self
            .each
            .into_iter()
            // Without a sender, a thread knows that no more comes.
            .map(|worker| worker.over)
            .collect();
        let all = async {
            for over in over {
                // A thread that is gone is over, too.
                let _over = over.await;
            }
        };
        tokio::pin!(all);
        tokio::select! {
            () = &mut all => {}
            () = now => {
                self.broken_off.send_replace(true);
                all.await;
            }
        }
    }
}

impl Worker {
    fn start(
        number: usize,
        relay: Relay,
        grace: Duration,
        broken_off: watch::Receiver<bool>,
    ) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (streams, coming) = mpsc::unbounded_channel();
        let (end, over) = oneshot::channel();
        let busy = Arc::new(AtomicUsize::new(0));
        let thread = Thread {
            relay: Arc::new(relay),
            busy: busy.clone(),
            connections: GracefulShutdown::new(),
            tasks: JoinSet::new(),
        };
        std::thread::Builder::new()
            .name(format!("relay {number}"))
            .spawn(move || {
                runtime.block_on(thread.work(coming, grace, broken_off));
                // Idle connections upstream end with the runtime.
                drop(runtime);
                // Who does not wait does not care.
                let _gone = end.send(());
            })?;
        Ok(Self { streams, busy, over })
    }
}

/// One thread, from inside.
struct Thread {
    relay: Arc<Relay>,
    busy: Arc<AtomicUsize>,
    connections: GracefulShutdown,
    tasks: JoinSet<()>,
}

impl Thread {
    async fn work(
        mut self,
        mut coming: mpsc::UnboundedReceiver<std::net::TcpStream>,
        grace: Duration,
        mut broken_off: watch::Receiver<bool>,
    ) {
        while let Some(stream) = coming.recv().await {
            let connected = stream
                .set_nonblocking(true)
                .and_then(|()| TcpStream::from_std(stream));
            match connected {
                Ok(stream) => self.serve(stream),
                Err(_) => {
                    self.busy.fetch_sub(1, Ordering::Relaxed);
                }
            }
            while self.tasks.try_join_next().is_some() {}
        }
        tokio::select! {
            () = self.connections.shutdown() => {}
            () = tokio::time::sleep(grace) => {}
            // Whoever could say so is gone: that is as good as said.
            _ = broken_off.wait_for(|off| *off) => {}
        }
        self.tasks.shutdown().await;
    }

    fn serve(&mut self, stream: TcpStream) {
        // Events are small and must not wait for each other.
        stream.set_nodelay(true).unwrap_or_default();
        let relay = self.relay.clone();
        let service = service_fn(move |request| relay.clone().answer(request));
        let connection = http1::Builder::new()
            .preserve_header_case(true)
            .auto_date_header(false)
            .serve_connection(TokioIo::new(stream), service);
        let connection = self.connections.watch(connection);
        let busy = Busy(self.busy.clone());
        self.tasks.spawn(async move {
            let _busy = busy;
            // A client that breaks off is seen by the watch of its request.
            let _broken = connection.await;
        });
    }
}

/// Counts one connection less when it ends, however it does.
struct Busy(Arc<AtomicUsize>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
