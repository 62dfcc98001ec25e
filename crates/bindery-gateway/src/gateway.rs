//! The server: connections, and how it stops.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::net::TcpListener;

use crate::copy::Budget;
use crate::door::Door;
use crate::recorder::{Recorder, Recording};
use crate::relay::{Relay, Routes};
use crate::workers::Workers;

/// How long to wait before accepting again when the system has no file handles left.
const BREATH: Duration = Duration::from_millis(50);

/// Tells the time in milliseconds since 1970.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// How a gateway listens.
#[derive(Clone)]
pub struct GatewayOptions {
    /// Where to listen.
    pub listen: SocketAddr,
    /// Whether other machines may reach it: without this, only loopback is listened on.
    pub exposed: bool,
    /// Names under which it may be called, beside addresses and `localhost`.
    pub hosts: Vec<String>,
    /// The clock.
    pub clock: Clock,
    /// The bytes that copies for the recording may take while they wait.
    pub copies: usize,
    /// How long requests under way may go on once the gateway is to stop.
    pub grace: Duration,
    /// How many threads serve connections. Each connection stays on one.
    pub threads: NonZeroUsize,
}

impl GatewayOptions {
    /// The usual options, on this address.
    pub fn new(listen: SocketAddr, clock: Clock) -> Self {
        Self {
            listen,
            exposed: false,
            hosts: Vec::new(),
            clock,
            copies: 64 * 1024 * 1024,
            grace: Duration::from_secs(10),
            threads: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
        }
    }
}

/// Why a gateway does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatewayError {
    /// Others could use it, and nobody said that they may.
    #[error(
        "{0} can be reached from other machines, and whoever reaches it can send requests through it; \
         listen on 127.0.0.1 or [::1], or say `--expose`"
    )]
    Exposed(SocketAddr),
    /// The address cannot be listened on.
    #[error("{address} cannot be listened on: {cause}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// It would send requests to itself.
    #[error("the upstream {0} is the gateway itself: name the provider, or another gateway")]
    Loop(Arc<str>),
    /// The recorder could not be started.
    #[error("the recorder could not be started: {0}")]
    Recorder(#[source] io::Error),
    /// A thread that serves connections could not be started.
    #[error(
        "a thread for connections could not be started: {0}; let the system have more, or serve with fewer"
    )]
    Workers(#[source] io::Error),
}

/// A gateway that listens.
pub struct Gateway {
    listener: TcpListener,
    address: SocketAddr,
    workers: Workers,
    stopping: Arc<AtomicBool>,
    recorder: Recorder,
}

impl Gateway {
    /// Listens. Requests are answered once it runs.
    pub async fn bind(
        options: GatewayOptions,
        routes: Routes,
        recording: Recording,
    ) -> Result<Self, GatewayError> {
        let wanted = options.listen;
        if !options.exposed && !wanted.ip().is_loopback() {
            return Err(GatewayError::Exposed(wanted));
        }
        let failed = |cause| GatewayError::Listen {
            address: wanted,
            cause,
        };
        let looped = routes.shown().into_iter().find(|route| leads_to(route, wanted));
        if let Some(route) = looped {
            return Err(GatewayError::Loop(route));
        }
        let listener = TcpListener::bind(wanted).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let recorder = Recorder::start(recording).map_err(GatewayError::Recorder)?;
        let stopping = Arc::new(AtomicBool::new(false));
        let relay = Relay {
            door: Door::new(&options.hosts),
            routes,
            inbox: recorder.inbox(),
            budget: Budget::new(options.copies),
            clock: options.clock,
            stopping: stopping.clone(),
            count: Arc::new(AtomicU64::new(0)),
        };
        let apart = || Relay {
            routes: relay.routes.apart(),
            ..relay.clone()
        };
        let workers = Workers::start(options.threads, apart, options.grace).map_err(GatewayError::Workers)?;
        Ok(Self {
            listener,
            address,
            workers,
            stopping,
            recorder,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` is ready; then lets what is under way come to its end, for a while or until `now` is
    /// ready, and writes what waits to be written.
    pub async fn run(self, stop: impl Future<Output = ()>, now: impl Future<Output = ()>) {
        let Self {
            listener,
            workers,
            stopping,
            recorder,
            ..
        } = self;
        tokio::pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => break,
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => workers.serve(stream),
                    Err(_) => tokio::time::sleep(BREATH).await,
                },
            }
        }
        drop(listener);
        stopping.store(true, Ordering::Relaxed);
        workers.finish(now).await;
        recorder.finish().await;
    }
}

/// Whether a route is this address.
fn leads_to(route: &str, address: SocketAddr) -> bool {
    let Some((_, rest)) = route.split_once("://") else {
        return false;
    };
    let authority = rest.split('/').next().unwrap_or_default();
    let same = authority
        .parse::<SocketAddr>()
        .is_ok_and(|other| other == address);
    same || (address.ip().is_loopback() && *authority == *format!("localhost:{}", address.port()))
}
