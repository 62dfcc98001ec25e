//! Keeping a connection: made, watched, lost, made again.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::service::{Peer, RunningService, ServiceExt};
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::sync::{Notify, mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::MOST_MESSAGE;
use crate::client::Client;
use crate::http;
use crate::launch::{Launch, Transport};
use crate::listing::{self, Listing};
use crate::server::{Server, State, Told};
use crate::stdio::{self, Group, Heard};

/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// So many failures in a row, and nothing is tried until somebody asks.
const MOST_FAILURES: u32 = 8;
/// A connection that lasted this long was a good one: the next pause is the first again.
const LASTING: Duration = Duration::from_secs(10);

/// A connection.
struct Connection {
    service: RunningService<RoleClient, Client>,
    listing: Listing,
    tools_changed: Arc<Notify>,
    process: Option<(Group, Heard)>,
}

type Tell = watch::Sender<Told>;

/// What a holder tells the task.
pub(crate) struct Signals {
    /// A tool was called while nobody tried to connect.
    pub(crate) wanted: Arc<Notify>,
    /// A call found the connection broken.
    pub(crate) breaks: mpsc::Receiver<String>,
    /// It is over.
    pub(crate) stop: CancellationToken,
}

/// Keeps a connection until it is stopped.
pub(crate) async fn keep(launch: Launch, tell: Tell, mut signals: Signals) {
    let stop = signals.stop.clone();
    let mut failures = 0_u32;
    loop {
        let attempt = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            attempt = tokio::time::timeout(launch.startup, connect(&launch)) => attempt,
        };
        let why = match attempt {
            Ok(Ok(connection)) => {
                let began = tokio::time::Instant::now();
                let Some(why) = hold(connection, &launch, &tell, &mut signals).await else {
                    return;
                };
                if began.elapsed() >= LASTING {
                    failures = 0;
                }
                why
            }
            Ok(Err(why)) => why,
            Err(_) => format!("it was not ready within {:?}", launch.startup),
        };
        failures = failures.saturating_add(1);
        let gave_up = failures >= MOST_FAILURES;
        tell.send_modify(|told| {
            told.peer = None;
            told.standing.process = None;
            told.standing.state = if gave_up {
                State::GivenUp { why }
            } else {
                State::Away { why }
            };
        });
        let pause = async {
            if gave_up {
                signals.wanted.notified().await;
            } else {
                tokio::time::sleep(pause(launch.pause, failures)).await;
            }
        };
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            () = pause => {}
        }
        if gave_up {
            failures = 0;
        }
    }
}

/// The pause after so many failures: it doubles.
fn pause(first: Duration, failures: u32) -> Duration {
    let doubled = 2_u32.saturating_pow(failures.saturating_sub(1).min(16));
    first.saturating_mul(doubled).min(LONGEST_PAUSE)
}

/// Makes a connection and lists the tools.
async fn connect(launch: &Launch) -> Result<Connection, String> {
    let tools_changed = Arc::new(Notify::new());
    let client = Client {
        tools_changed: tools_changed.clone(),
    };
    let (service, process) = match &launch.transport {
        Transport::Http { url, headers } => {
            let transport = http::transport(url, headers)?;
            let service = client.serve(transport).await.map_err(|error| error.to_string())?;
            (service, None)
        }
        Transport::Stdio {
            command,
            args,
            environment,
            directory,
        } => {
            let mut process = stdio::start(command, args, environment, directory)?;
            let transport = AsyncRwTransport::new_client(process.output, process.input)
                .with_max_line_length(MOST_MESSAGE);
            match client.serve(transport).await {
                Ok(service) => (service, Some((process.group, process.heard))),
                Err(error) => {
                    let ended = tokio::time::timeout(Duration::from_millis(200), process.group.ended()).await;
                    let why = ended.unwrap_or_else(|_| error.to_string());
                    return Err(format!("{why}{}", process.heard.explanation()));
                }
            }
        }
    };
    let heard = process
        .as_ref()
        .map(|(_, heard)| heard.clone())
        .unwrap_or_default();
    let listing = listing::read(service.peer()).await;
    let listing =
        listing.map_err(|error| format!("its tools cannot be listed: {error}{}", heard.explanation()))?;
    Ok(Connection {
        service,
        listing,
        tools_changed,
        process,
    })
}

/// Watches a connection; why it ended, or nothing if it was stopped.
async fn hold(
    mut connection: Connection,
    launch: &Launch,
    tell: &Tell,
    signals: &mut Signals,
) -> Option<String> {
    // What an earlier connection was found to be says nothing of this one.
    while signals.breaks.try_recv().is_ok() {}
    let peer: Peer<RoleClient> = connection.service.peer().clone();
    let process = connection.process.as_ref().and_then(|(group, _)| group.id());
    let first = Arc::new(connection.listing);
    tell.send_modify(|told| {
        told.peer = Some(peer.clone());
        let standing = &mut told.standing;
        standing.state = State::Ready;
        standing.listing = Some(first);
        standing.lists = standing.lists.saturating_add(1);
        standing.connections = standing.connections.saturating_add(1);
        standing.process = process;
    });
    let ended = connection.service.cancellation_token();
    let closed = connection.service.waiting();
    tokio::pin!(closed);
    loop {
        tokio::select! {
            biased;
            () = signals.stop.cancelled() => {
                ended.cancel();
                let _closed = tokio::time::timeout(Server::GOODBYE, &mut closed).await;
                if let Some((group, _)) = &mut connection.process {
                    let _late = tokio::time::timeout(Server::GOODBYE, group.ended()).await;
                }
                return None;
            }
            _ = &mut closed => break,
            Some(why) = signals.breaks.recv(), if connection.process.is_none() => return Some(why),
            () = connection.tools_changed.notified() => {
                // What fails here shows itself with the next call.
                if let Ok(Ok(again)) = tokio::time::timeout(launch.startup, listing::read(&peer)).await {
                    let again = Arc::new(again);
                    tell.send_modify(|told| {
                        told.standing.listing = Some(again);
                        told.standing.lists = told.standing.lists.saturating_add(1);
                    });
                }
            }
        }
    }
    Some(match &mut connection.process {
        None => "the connection was closed".to_owned(),
        Some((group, heard)) => {
            let ended = tokio::time::timeout(Duration::from_millis(200), group.ended()).await;
            let why = ended.unwrap_or_else(|_| "it closed its standard output".to_owned());
            format!("{why}{}", heard.explanation())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_have_a_bound() {
        let first = Duration::from_millis(500);
        let seconds: Vec<f32> = (1..=9)
            .map(|failures| pause(first, failures).as_secs_f32())
            .collect();
        assert_eq!(seconds, [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0]);
        assert_eq!(pause(first, u32::MAX), LONGEST_PAUSE);
    }
}
