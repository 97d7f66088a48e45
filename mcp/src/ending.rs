//! How a server ends: its client is gone, or the process is told to stop. Either way every run ends first.

use std::io;
use std::time::Duration;

use ops::LiveRuns;
use process::Cancel;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Runs that were asked politely are ended at once after this.
const POLITE: Duration = Duration::from_secs(1);
/// For the end without grace.
const AT_ONCE: Duration = Duration::from_millis(500);
/// For answers that are still on their way to the client.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// Why a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerExit {
    /// The client closed its end.
    ClientGone,
    /// SIGTERM or SIGINT, by number.
    Signal(i32),
}

/// The signals that ask a server to end.
pub(crate) struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
}

impl Signals {
    /// Takes the signals over: from here on they end no process by themselves.
    #[cfg(unix)]
    pub(crate) fn take() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    #[cfg(unix)]
    async fn next(&mut self) -> (i32, &'static str) {
        use tokio::signal::unix::SignalKind;
        tokio::select! {
            _ = self.terminate.recv() => (SignalKind::terminate().as_raw_value(), "SIGTERM"),
            _ = self.interrupt.recv() => (SignalKind::interrupt().as_raw_value(), "SIGINT"),
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn take() -> io::Result<Self> {
        Ok(Self {})
    }

    #[cfg(not(unix))]
    async fn next(&mut self) -> (i32, &'static str) {
        match tokio::signal::ctrl_c().await {
            Ok(()) => (2, "Ctrl-C"),
            Err(_) => std::future::pending().await,
        }
    }
}

/// Waits for `gone` or a signal, then ends all runs. A second signal ends them at once. Takes two seconds at most.
///
/// A client that is gone may still read: `last_words` may finish. After a signal there are none (`silent` is
/// cancelled): whether a half-finished call is answered must not depend on which task comes first.
pub(crate) async fn wait(
    gone: impl Future<Output = ServerExit>,
    live: &LiveRuns,
    stop: &Cancel,
    silent: &CancellationToken,
    last_words: impl Future<Output = ()>,
) -> io::Result<ServerExit> {
    let mut signals = Signals::take()?;
    let (ended, by) = tokio::select! {
        ended = gone => (ended, "the client, which is gone"),
        (number, name) = signals.next() => {
            silent.cancel();
            (ServerExit::Signal(number), name)
        }
    };
    stop.ask(by);
    let polite = async { timeout(POLITE, live.shut_down(by, false)).await.is_ok() };
    let all_ended = tokio::select! {
        all = polite => all,
        _ = signals.next() => false,
    };
    if !all_ended {
        stop.at_once(by);
        // A run that does not end now is ended by its supervisor, once this process is gone.
        let _ = timeout(AT_ONCE, live.shut_down(by, true)).await;
    }
    if ended == ServerExit::ClientGone {
        let _ = timeout(LAST_WORDS, last_words).await;
    }
    Ok(ended)
}
