//! What nextest prints for people, on standard error, beside its JSON: how tests ended that say nothing themselves.

use std::collections::BTreeMap;

use runner_core::model::Outcome;

#[derive(Default)]
pub(super) struct Beside {
    /// By `binary test`, as nextest shows it.
    how: BTreeMap<String, How>,
    /// Seconds and whether it passed, by the same words.
    times: BTreeMap<String, (bool, f64)>,
    /// The last test whose status was told: what follows may be its reason.
    last: Option<(String, String)>,
    /// Whether nextest was told to stop, by a signal.
    pub(super) was_stopped: bool,
    /// How many tests it says that it ran.
    ran: Option<usize>,
}

/// How a test that failed ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum How {
    Ended {
        reason: Option<String>,
    },
    /// By a signal that may have been meant for nextest.
    Signalled,
}

impl Beside {
    /// Takes a line; gives whether more is known now.
    pub(super) fn line(&mut self, line: &str) -> bool {
        let trimmed = line.trim();
        if trimmed.starts_with("Cancel") && trimmed.contains("ing due to ") {
            self.was_stopped |= ["signal", "interrupt"]
                .iter()
                .any(|word| trimmed.contains(&format!("due to {word}")));
        } else if let Some(count) = summary(trimmed) {
            self.ran = Some(count);
        } else if let Some((status, time, test)) = status(trimmed) {
            let passed = status.ends_with("PASS");
            self.times.insert(test.to_owned(), (passed, time));
            let known = self.close();
            self.last = Some((test.to_owned(), status.to_owned()));
            return known;
        } else if let Some(reason) = trimmed
            .strip_prefix("(test ")
            .and_then(|rest| rest.strip_suffix(')'))
        {
            return self.close_with(Some(format!("test {reason}")));
        }
        false
    }

    /// No reason will follow for the last one.
    pub(super) fn close(&mut self) -> bool {
        self.close_with(None)
    }

    fn close_with(&mut self, reason: Option<String>) -> bool {
        let Some((test, status)) = self.last.take() else {
            return false;
        };
        let reason_is_new = reason.is_some();
        let stops = ["SIGTERM", "SIGKILL", "SIGINT", "SIGHUP", "SIGQUIT"];
        let is_stop = stops
            .iter()
            .any(|signal| status.ends_with(signal) || status.ends_with(&signal[3..]));
        let reason = reason.or_else(|| {
            let word = status.split_whitespace().last()?;
            word.starts_with("SIG").then(|| format!("ended by {word}"))
        });
        let how = if is_stop {
            How::Signalled
        } else {
            How::Ended { reason }
        };
        // A status is told again at the end, without the reason.
        if reason_is_new || !self.how.contains_key(&test) {
            self.how.insert(test, how);
        }
        true
    }

    pub(super) fn how(&self, test: &str) -> Option<&How> {
        self.how.get(test)
    }

    /// Whether a result is the one that was shown of a test.
    pub(super) fn fits(&self, test: &str, outcome: Outcome, seconds: Option<f64>) -> bool {
        let shown = self.times.get(test);
        // Shown to the millisecond.
        let is_near = |time: f64| seconds.is_none_or(|seconds| (seconds - time).abs() < 0.0011);
        shown.is_some_and(|(passed, time)| *passed == (outcome == Outcome::Passed) && is_near(*time))
    }

    /// Whether nextest counts as many tests as were told of.
    pub(super) fn agrees(&self, finished: usize) -> Result<(), String> {
        match self.ran {
            Some(ran) if ran != finished && !self.was_stopped => {
                Err(format!("tells of {finished} tests, and its summary of {ran}"))
            }
            _ => Ok(()),
        }
    }
}

/// `TRY 3 SEGV [   0.022s] (4/6) shop-x m::sig`
fn status(line: &str) -> Option<(&str, f64, &str)> {
    let (status, rest) = line.split_once(" [")?;
    let (time, rest) = rest.split_once("] ")?;
    let seconds = time.trim_start_matches([' ', '>']).strip_suffix('s')?;
    let seconds: f64 = seconds.parse().ok()?;
    let is_status = status
        .bytes()
        .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b" +-/".contains(&b));
    // Newer ones count: `(4/6)`, `(───)`.
    let test = match rest.trim_start().strip_prefix('(') {
        Some(rest) => rest.split_once(") ")?.1,
        None => rest.trim_start(),
    };
    // Two blanks of which one may align the binary's name.
    (is_status && !status.is_empty()).then_some((status, seconds, test.trim_start()))
}

/// `Summary [   6.026s] 6 tests run: 3 passed, 2 failed`; `6/9 tests run` where it stopped early.
fn summary(line: &str) -> Option<usize> {
    let (_, rest) = line.strip_prefix("Summary [")?.split_once("] ")?;
    let (count, rest) = rest.trim_start().split_once(' ')?;
    let is_count = rest.starts_with("test run:") || rest.starts_with("tests run:");
    let count = count.split('/').next()?;
    is_count.then(|| count.parse().ok()).flatten()
}
