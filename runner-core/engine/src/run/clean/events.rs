//! Which string of which event is a text and which an identifier.

use super::{Cleaner, make_visible};
use runner_core::event::{Ending, RunEvent, StopReason, TestEvent};
use runner_core::model::{Attempt, Location, TestResult};
use runner_core::plan::StepExit;

impl Cleaner {
    /// Cleans every string that came from outside.
    pub fn event(&mut self, event: &mut RunEvent) {
        match event {
            // Made by the engine from what the caller gave; shown as it was started.
            RunEvent::Started(_) | RunEvent::IterationStarted { .. } => {}
            RunEvent::StepStarted { why, .. } => self.text(why),
            RunEvent::Test { test, .. } => self.test(test),
            RunEvent::StepExited { exit, .. } => self.exit(exit),
            // The tail was cleaned line by line.
            RunEvent::IterationEnded { ending, .. } => {
                if let Some(ending) = ending {
                    self.ending(ending);
                }
            }
            RunEvent::Warning { message } => self.text(message),
            RunEvent::Finished { cause, .. } => self.cause(cause),
        }
    }

    fn test(&mut self, test: &mut TestEvent) {
        match test {
            TestEvent::Found { location, .. } => place(location.as_mut()),
            TestEvent::Counted { .. } | TestEvent::Entered { .. } | TestEvent::Terminal { .. } => {}
            TestEvent::Started { worker, .. } => worker.iter_mut().for_each(make_visible),
            TestEvent::Reran { attempt, .. } => self.attempt(attempt),
            TestEvent::Finished(result) | TestEvent::Detailed(result) => self.result(result),
            TestEvent::CollectFailed(error) => {
                self.text(&mut error.message);
                self.optional(&mut error.summary);
                place(error.location.as_mut());
            }
            TestEvent::Hung { stack, worker, .. } => {
                self.optional(stack);
                worker.iter_mut().for_each(make_visible);
            }
            TestEvent::Coverage(coverage) => {
                coverage
                    .files
                    .iter_mut()
                    .for_each(|file| make_visible(&mut file.path));
            }
            TestEvent::Environment { values } => values.values_mut().for_each(|value| self.text(value)),
            TestEvent::Printed(part) => {
                self.text(&mut part.title);
                self.text(&mut part.text);
            }
            TestEvent::Warning { message } => self.text(message),
        }
    }

    fn result(&mut self, result: &mut TestResult) {
        say_why(result);
        self.optional(&mut result.message);
        for failure in &mut result.failures {
            self.text(&mut failure.text);
            self.optional(&mut failure.summary);
            place(failure.location.as_mut());
        }
        for attempt in &mut result.attempts {
            self.attempt(attempt);
        }
        for subtest in &mut result.subtests {
            self.text(&mut subtest.description);
            self.optional(&mut subtest.message);
        }
        place(result.location.as_mut());
        self.optional(&mut result.output);
        result.worker.iter_mut().for_each(make_visible);
    }

    fn attempt(&mut self, attempt: &mut Attempt) {
        self.optional(&mut attempt.message);
    }

    fn exit(&mut self, exit: &mut StepExit) {
        exit.leaked.iter_mut().for_each(|name| self.text(name));
        self.optional(&mut exit.note);
    }

    fn ending(&mut self, ending: &mut Ending) {
        self.optional(&mut ending.reason);
        self.optional(&mut ending.hint);
    }

    fn cause(&mut self, cause: &mut StopReason) {
        match cause {
            StopReason::Done => {}
            StopReason::TimedOut { unanswered, .. } => self.optional(unanswered),
            StopReason::Cancelled { by } => self.text(by),
            StopReason::Failed { message, hint, .. } => {
                self.text(message);
                self.optional(hint);
            }
        }
    }
}

fn place(location: Option<&mut Location>) {
    if let Some(location) = location {
        make_visible(&mut location.file);
    }
}

/// A bad row whose backend gave its failures and no message: their text is the message.
fn say_why(result: &mut TestResult) {
    if result.message.is_none() && !result.failures.is_empty() {
        let texts: Vec<&str> = result
            .failures
            .iter()
            .map(|failure| failure.text.as_str())
            .collect();
        result.message = Some(texts.join("\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use runner_core::model::{Failure, Outcome, Phase};

    #[test]
    fn the_text_of_failures_is_the_message_where_a_backend_gives_no_other() {
        let failure = |text: &str| Failure {
            phase: Phase::Call,
            text: text.to_owned(),
            summary: None,
            location: None,
        };
        let mut result = TestResult::new("a::b", Outcome::Failed);
        result.failures = vec![failure("first"), failure("second")];
        let mut event = RunEvent::Test {
            iteration: 1,
            test: TestEvent::Finished(Box::new(result)),
        };
        Cleaner::new(None).event(&mut event);
        let RunEvent::Test {
            test: TestEvent::Finished(result),
            ..
        } = event
        else {
            panic!("it is still the same event")
        };
        assert_eq!(result.message.as_deref(), Some("first\nsecond"));
    }
}
