//! Progress of a call, for clients that asked for it: strictly increasing, at most four a second, a sign of life
//! also when no test ends, and nothing once the call is over.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RoleServer};
use runner_core::event::{RunEvent, TestEvent};
use runner_core::model::Outcome;
use runner_core::visible::visible;
use tokio::time::{Instant, MissedTickBehavior};

/// Not more often than this.
const TICK: Duration = Duration::from_millis(250);
/// Clients give up on calls that are silent for some minutes; ten seconds are asked for.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// Clients show about this much of a message.
const MESSAGE_CHARS: usize = 200;

/// What is known of a run so far.
#[derive(Debug, Default)]
pub(crate) struct Tally(Mutex<Counts>);

#[derive(Clone, Debug, Default, PartialEq)]
struct Counts {
    iterations: u32,
    /// 0 while the run waits for its turn.
    iteration: u32,
    /// Of one iteration. `None` until the framework has said.
    selected: Option<u64>,
    done: u64,
    failed: u64,
    current: Option<String>,
}

impl Tally {
    /// Takes in one event. Quick: it is called between reading and storing.
    pub(crate) fn take(&self, event: &RunEvent) {
        let mut counts = self.lock();
        match event {
            RunEvent::Started(facts) => counts.iterations = facts.iterations.max(1),
            RunEvent::IterationStarted { iteration } => counts.iteration = *iteration,
            RunEvent::Test { test, .. } => counts.test(test),
            _ => {}
        }
    }

    fn counts(&self) -> Counts {
        self.lock().clone()
    }

    /// A panic elsewhere leaves counts that are still right.
    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    fn test(&mut self, event: &TestEvent) {
        match event {
            TestEvent::Counted { selected, .. } => self.selected = Some(*selected),
            TestEvent::Started { nodeid, .. } => self.current = Some(nodeid.clone()),
            TestEvent::Finished(result) => {
                self.done += 1;
                self.failed += u64::from(matches!(result.outcome, Outcome::Failed | Outcome::Error));
                if self.current.as_deref() == Some(result.nodeid.as_str()) {
                    self.current = None;
                }
            }
            TestEvent::Found { .. } => self.done += 1,
            TestEvent::CollectFailed(_) => self.failed += 1,
            _ => {}
        }
    }

    fn total(&self) -> Option<f64> {
        let all = self.selected?.checked_mul(u64::from(self.iterations.max(1)))?;
        Some(all as f64).filter(|_| all > 0)
    }

    fn message(&self) -> String {
        if self.iteration == 0 {
            return "waiting for its turn".to_owned();
        }
        let mut words = vec![match self.total() {
            Some(total) => format!("{}/{total} tests", self.done),
            None => format!("{} tests", self.done),
        }];
        if self.iterations > 1 {
            words.push(format!("repeat {} of {}", self.iteration, self.iterations));
        }
        if self.failed > 0 {
            words.push(format!("{} failed", self.failed));
        }
        words.extend(
            self.current
                .iter()
                .map(|current| format!("now {}", visible(current))),
        );
        shorten(words.join(", "))
    }
}

fn shorten(text: String) -> String {
    match text.char_indices().nth(MESSAGE_CHARS - 1) {
        Some((place, _)) => format!("{}…", &text[..place]),
        None => text,
    }
}

/// Turns counts into the values that are sent: each larger than the one before.
#[derive(Debug, Default)]
struct Steps {
    last: f64,
    sent: Option<(Counts, Instant)>,
}

impl Steps {
    /// What to send now. `None` if there is nothing new and it is not yet time for a sign of life.
    fn next(&mut self, counts: Counts, now: Instant) -> Option<(f64, Option<f64>, String)> {
        let due = match &self.sent {
            None => true,
            Some((known, at)) => {
                known.done != counts.done
                    || known.failed != counts.failed
                    || now.duration_since(*at) >= HEARTBEAT
            }
        };
        if !due {
            return None;
        }
        let done = counts.done as f64;
        let value = if done > self.last { done } else { self.last + 0.001 };
        let total = counts.total().filter(|total| value <= *total);
        let message = counts.message();
        self.last = value;
        self.sent = Some((counts, now));
        Some((value, total, message))
    }
}

/// Reports until `over` is ready or the client cannot be reached. Returns between two notifications, so that none
/// is on its way any more.
pub(crate) async fn report(
    peer: Peer<RoleServer>,
    token: ProgressToken,
    tally: &Tally,
    over: impl Future<Output = ()>,
) {
    let mut steps = Steps::default();
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tokio::pin!(over);
    loop {
        tokio::select! {
            biased;
            () = &mut over => return,
            _ = ticks.tick() => {}
        }
        let Some((value, total, message)) = steps.next(tally.counts(), Instant::now()) else {
            continue;
        };
        let mut progress = ProgressNotificationParam::new(token.clone(), value).with_message(message);
        progress.total = total;
        if peer.notify_progress(progress).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use runner_core::facts::RunFacts;
    use runner_core::model::TestResult;

    use super::*;

    fn test(event: TestEvent) -> RunEvent {
        RunEvent::Test {
            iteration: 1,
            test: event,
        }
    }

    fn started(nodeid: &str) -> RunEvent {
        test(TestEvent::Started {
            nodeid: nodeid.to_owned(),
            worker: None,
        })
    }

    fn finished(nodeid: &str, outcome: Outcome) -> RunEvent {
        test(TestEvent::Finished(Box::new(TestResult::new(nodeid, outcome))))
    }

    fn begin(tally: &Tally, selected: u64) {
        tally.take(&RunEvent::Started(Box::new(RunFacts {
            iterations: 1,
            ..RunFacts::default()
        })));
        tally.take(&RunEvent::IterationStarted { iteration: 1 });
        tally.take(&test(TestEvent::Counted {
            selected,
            deselected: 0,
        }));
    }

    #[test]
    fn the_message_counts_and_names_the_running_test() {
        let tally = Tally::default();
        assert_eq!(tally.counts().message(), "waiting for its turn");
        begin(&tally, 3);
        tally.take(&finished("t::a", Outcome::Failed));
        tally.take(&started("t::b"));
        assert_eq!(tally.counts().message(), "1/3 tests, 1 failed, now t::b");
        tally.take(&started(&"x".repeat(500)));
        assert_eq!(tally.counts().message().chars().count(), MESSAGE_CHARS);
    }

    #[test]
    fn values_rise_strictly_and_stay_quiet_between() {
        let tally = Tally::default();
        let mut steps = Steps::default();
        let start = Instant::now();
        let mut last = 0.0;
        let mut sent = 0;
        begin(&tally, 2);
        for tick in 0..200u32 {
            if tick == 10 || tick == 20 {
                tally.take(&finished(&format!("t::{tick}"), Outcome::Passed));
            }
            let now = start + TICK * tick;
            if let Some((value, total, _)) = steps.next(tally.counts(), now) {
                assert!(value > last, "{value} after {last}");
                assert!(total.is_none_or(|total| value <= total));
                last = value;
                sent += 1;
            }
        }
        // 50 s: the first, two tests, and a sign of life every 5 s.
        assert!((10..=13).contains(&sent), "{sent}");
    }
}
