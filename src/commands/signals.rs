//! Ctrl-C and SIGTERM: the first asks a run to end with grace, the second ends it at once.

use process::Cancel;

/// A cancel that the process's signals ask for.
pub(super) fn cancel() -> Cancel {
    let cancel = Cancel::new();
    let asked = cancel.clone();
    tokio::spawn(async move {
        let mut times = 0;
        while let Some(name) = next_signal().await {
            times += 1;
            if times == 1 {
                asked.ask(name);
            } else {
                asked.at_once(name);
            }
        }
    });
    cancel
}

#[cfg(unix)]
async fn next_signal() -> Option<&'static str> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt()).ok()?;
    let mut terminate = signal(SignalKind::terminate()).ok()?;
    tokio::select! {
        _ = interrupt.recv() => Some("SIGINT"),
        _ = terminate.recv() => Some("SIGTERM"),
    }
}

#[cfg(not(unix))]
async fn next_signal() -> Option<&'static str> {
    tokio::signal::ctrl_c().await.ok().map(|()| "Ctrl-C")
}
