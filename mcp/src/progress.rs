//! Progress of a call, for clients that asked for it: strictly increasing, at most four a second, a sign of life
//! also when no test ends, and nothing once the call is over.

use std::sync::Mutex;
use std::time::Duration;

use ops::LiveRuns;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RoleServer};
use runner_core::event::RunEvent;
use runner_core::panic::lock;
use runner_core::report::{Iteration, Report};
use runner_core::visible::visible;
use tokio::time::{Instant, MissedTickBehavior};

/// Not more often than this.
const TICK: Duration = Duration::from_millis(250);
/// Clients give up on calls that are silent for some minutes; ten seconds are asked for.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// Clients show about this much of a message.
const MESSAGE_CHARS: usize = 200;

/// Which run of this process the call is about now, and what those before it came to.
#[derive(Debug, Default)]
pub(crate) struct Watched(Mutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    run_id: Option<String>,
    /// Of the runs that have ended: one suite after another.
    before: Before,
}

#[derive(Clone, Copy, Debug, Default)]
struct Before {
    done: u64,
    failed: u64,
}

impl Watched {
    /// Learns the run's id from its first event, and its counts from the last. The record of a run that goes on is looked at
    /// when something is to be said.
    pub(crate) fn take(&self, event: &RunEvent, report: &Report) {
        match event {
            RunEvent::Started(facts) => lock(&self.0).run_id = Some(facts.run_id.clone()),
            RunEvent::Finished { .. } => {
                let counts = Counts::of(report);
                let mut seen = lock(&self.0);
                seen.run_id = None;
                seen.before.done += counts.done;
                seen.before.failed += counts.failed;
            }
            _ => {}
        }
    }

    /// How far the run is. `None` before it begins and once it has ended.
    fn counts(&self, live: &LiveRuns) -> Option<Counts> {
        let (run_id, before) = {
            let seen = lock(&self.0);
            (seen.run_id.clone()?, seen.before)
        };
        let run = live.get(&run_id)?;
        Some(run.look(Counts::of).after(before))
    }
}

/// What a report comes to so far, over all iterations.
#[derive(Clone, Debug, Default, PartialEq)]
struct Counts {
    iterations: u32,
    /// 0 while the run waits for its turn.
    iteration: usize,
    /// Of one iteration. `None` until the framework has said.
    selected: Option<u64>,
    done: u64,
    failed: u64,
    current: Option<String>,
}

impl Counts {
    fn of(report: &Report) -> Self {
        let iterations = &report.iterations;
        let now = iterations.last();
        let done = |iteration: &Iteration| iteration.finished_tests() + iteration.found.len();
        let failed = |iteration: &Iteration| {
            let rows = iteration.rows.iter();
            rows.filter(|row| row.outcome.is_bad()).count() + iteration.collection_errors.len()
        };
        let current = now.and_then(|iteration| iteration.unfinished().last());
        Self {
            iterations: report.facts.iterations.max(1),
            iteration: iterations.len(),
            selected: now.and_then(|iteration| iteration.selected),
            done: iterations.iter().map(done).sum::<usize>() as u64,
            failed: iterations.iter().map(failed).sum::<usize>() as u64,
            current: current.map(|test| test.nodeid.clone()),
        }
    }

    /// With what ran before it in the same call.
    fn after(mut self, before: Before) -> Self {
        self.selected = self.selected.map(|selected| selected + before.done);
        self.done += before.done;
        self.failed += before.failed;
        self
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
    watched: &Watched,
    live: &LiveRuns,
    over: impl Future<Output = ()>,
) {
    let mut steps = Steps::default();
    let mut counts = Counts::default();
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tokio::pin!(over);
    loop {
        tokio::select! {
            biased;
            () = &mut over => return,
            _ = ticks.tick() => {}
        }
        counts = watched.counts(live).unwrap_or(counts);
        let Some((value, total, message)) = steps.next(counts.clone(), Instant::now()) else {
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
    use runner_core::event::TestEvent;
    use runner_core::facts::RunFacts;
    use runner_core::model::{Outcome, TestResult};

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

    fn begun(selected: u64) -> Report {
        let counted = TestEvent::Counted {
            selected,
            deselected: 0,
        };
        Report::fold(&[
            RunEvent::Started(Box::new(RunFacts {
                iterations: 1,
                ..RunFacts::default()
            })),
            RunEvent::IterationStarted { iteration: 1 },
            test(counted),
        ])
    }

    #[test]
    fn the_message_counts_and_names_the_running_test() {
        let message = |report: &Report| Counts::of(report).message();
        assert_eq!(message(&Report::default()), "waiting for its turn");
        let mut report = begun(3);
        report.add(&finished("t::a", Outcome::Failed));
        report.add(&started("t::b"));
        assert_eq!(message(&report), "1/3 tests, 1 failed, now t::b");
        report.add(&started(&"x".repeat(500)));
        assert_eq!(message(&report).chars().count(), MESSAGE_CHARS);
    }

    #[test]
    fn values_rise_strictly_and_stay_quiet_between() {
        let mut report = begun(2);
        let mut steps = Steps::default();
        let start = Instant::now();
        let mut last = 0.0;
        let mut sent = 0;
        for tick in 0..200u32 {
            if tick == 10 || tick == 20 {
                report.add(&finished(&format!("t::{tick}"), Outcome::Passed));
            }
            let now = start + TICK * tick;
            if let Some((value, total, _)) = steps.next(Counts::of(&report), now) {
                assert!(value > last, "{value} after {last}");
                assert!(total.is_none_or(|total| value <= total));
                last = value;
                sent += 1;
            }
        }
        // 50 s: the first, two tests, and a sign of life every 5 s.
        assert!((10..=13).contains(&sent), "{sent}");
    }

    #[test]
    fn a_suite_after_another_goes_on_where_the_first_ended() {
        let live = LiveRuns::default();
        let watched = Watched::default();
        assert_eq!(watched.counts(&live), None);
        watched.take(&RunEvent::Started(Box::default()), &Report::default());
        assert_eq!(watched.counts(&live), None, "a run that has left");
        let mut first = begun(1);
        first.add(&finished("t::a", Outcome::Failed));
        let end = RunEvent::Finished {
            cause: runner_core::event::StopReason::Done,
            duration_s: 1.0,
        };
        watched.take(&end, &first);
        let before = lock(&watched.0).before;
        let counts = Counts::of(&begun(4)).after(before);
        assert_eq!(counts.message(), "1/5 tests, 1 failed");
    }
}
