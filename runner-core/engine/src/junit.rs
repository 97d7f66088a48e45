//! A report as JUnit XML, the form that CI systems read.

use std::borrow::Borrow;
use std::time::Duration;

use quick_junit::{
    FlakyOrRerun, NonSuccessKind, Property, TestCase, TestCaseStatus, TestRerun, TestSuite, XmlString,
};

use runner_core::model::{Attempt, CollectionError, Outcome, Status, Subtest, TestResult, Unfinished};
use runner_core::nodeid::NodeId;
use runner_core::report::{Iteration, Report};
use runner_core::verdict;
use runner_core::visible::visible;

/// Reports that cannot be written as XML.
#[derive(Debug, thiserror::Error)]
#[error("the reports cannot be written as JUnit XML: {0}")]
pub struct JunitError(String);

/// One document for all reports of a command: a suite for each iteration, a case for each test.
///
/// A run that is not to be trusted gets an error of its own, so that a reader that only counts cases cannot take it for
/// a green one.
pub fn to_xml<R: Borrow<Report>>(reports: &[R]) -> Result<String, JunitError> {
    let mut document = quick_junit::Report::new("qaas");
    let reports = reports.iter().map(Borrow::borrow);
    let total: f64 = reports.clone().map(|report| report.duration_s).sum();
    document.set_time(seconds(total));
    for report in reports {
        add_report(&mut document, report);
    }
    document
        .to_string()
        .map_err(|error| JunitError(error.to_string()))
}

fn add_report(document: &mut quick_junit::Report, report: &Report) {
    let name = &report.facts.suite;
    let several = report.iterations.len() > 1;
    let nothing = [Iteration::default()];
    let iterations = if report.iterations.is_empty() {
        &nothing[..]
    } else {
        &report.iterations
    };
    for (place, iteration) in iterations.iter().enumerate() {
        let number = place + 1;
        let mut suite = TestSuite::new(if several {
            format!("{name} #{number}")
        } else {
            name.clone()
        });
        let verdict = if several {
            verdict::judge_iteration(iteration)
        } else {
            report.verdict()
        };
        suite.set_time(seconds(iteration.duration_s));
        for (key, value) in [
            ("run_id", Some(report.facts.run_id.as_str())),
            ("status", Some(verdict.status.as_str())),
            ("reason", verdict.reason.as_deref()),
            ("backend", Some(report.facts.backend.as_str())),
            ("started_at", Some(report.facts.started_at.as_str())),
        ] {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                suite.add_property(Property::new(key, value));
            }
        }
        suite.add_test_cases(cases(iteration, name));
        if !verdict.status.is_complete() && verdict.status != Status::NoTests {
            let reason = verdict.reason.unwrap_or_else(|| verdict.status.to_string());
            suite.add_test_case(error_case(
                "the run as a whole",
                name,
                verdict.status.as_str(),
                &reason,
            ));
        }
        document.add_test_suite(suite);
    }
}

fn cases(iteration: &Iteration, suite: &str) -> Vec<TestCase> {
    let mut cases = Vec::new();
    for row in &iteration.rows {
        cases.push(test_case(row, suite));
        cases.extend(
            row.subtests
                .iter()
                .map(|subtest| subtest_case(row, subtest, suite)),
        );
    }
    cases.extend(
        iteration
            .collection_errors
            .iter()
            .map(|error| collection_case(error, suite)),
    );
    cases.extend(
        iteration
            .unfinished()
            .iter()
            .map(|test| unfinished_case(test, suite)),
    );
    cases
}

fn test_case(row: &TestResult, suite: &str) -> TestCase {
    let texts: Vec<&str> = row.failures.iter().map(|failure| failure.text.as_str()).collect();
    let message = row
        .failures
        .iter()
        .find_map(|failure| failure.summary.as_deref())
        .or(row.message.as_deref());
    let mut status = status_of(row.outcome, message);
    if !texts.is_empty() {
        status.set_description(texts.join("\n\n"));
    }
    status.set_rerun_kind(FlakyOrRerun::Rerun);
    status.add_reruns(row.attempts.iter().filter_map(rerun));
    let mut case = case(&row.nodeid, suite, status);
    if let Some(duration_s) = row.duration_s {
        case.set_time(seconds(duration_s));
    }
    if let Some(output) = &row.output {
        case.set_system_out(output.as_str());
    }
    if let Some(location) = &row.location {
        case.extra
            .insert(XmlString::new("file"), XmlString::new(&location.file));
        if let Some(line) = location.line {
            case.extra
                .insert(XmlString::new("line"), XmlString::new(line.to_string()));
        }
    }
    case
}

fn status_of(outcome: Outcome, message: Option<&str>) -> TestCaseStatus {
    let mut status = match outcome {
        Outcome::Passed | Outcome::Xpassed => TestCaseStatus::success(),
        Outcome::Failed => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Outcome::Error => TestCaseStatus::non_success(NonSuccessKind::Error),
        Outcome::Skipped | Outcome::Xfailed => TestCaseStatus::skipped(),
    };
    status.set_type(outcome.as_str());
    if let Some(message) = message {
        // An attribute: the first line says what went wrong, the description has the rest.
        status.set_message(message.lines().next().unwrap_or_default());
    }
    status
}

/// An earlier try. One that did not fail has no place in the form.
fn rerun(attempt: &Attempt) -> Option<TestRerun> {
    let kind = match attempt.outcome {
        Outcome::Failed => NonSuccessKind::Failure,
        Outcome::Error => NonSuccessKind::Error,
        _ => return None,
    };
    let mut rerun = TestRerun::new(kind);
    rerun.set_type(attempt.outcome.as_str());
    if let Some(duration_s) = attempt.duration_s {
        rerun.set_time(seconds(duration_s));
    }
    if let Some(message) = &attempt.message {
        rerun.set_message(message.lines().next().unwrap_or_default());
        rerun.set_description(message.as_str());
    }
    Some(rerun)
}

fn subtest_case(row: &TestResult, subtest: &Subtest, suite: &str) -> TestCase {
    let mut status = status_of(subtest.outcome, subtest.message.as_deref());
    if let Some(message) = &subtest.message {
        status.set_description(message.as_str());
    }
    let mut case = case(&row.nodeid, suite, status);
    case.name = XmlString::new(format!("{} {}", case.name.as_str(), subtest.description));
    if let Some(duration_s) = subtest.duration_s {
        case.set_time(seconds(duration_s));
    }
    case
}

fn collection_case(error: &CollectionError, suite: &str) -> TestCase {
    error_case(&error.nodeid, suite, "collect", &error.message)
}

fn unfinished_case(unfinished: &Unfinished, suite: &str) -> TestCase {
    let phase = unfinished
        .phase
        .map_or(String::new(), |phase| format!(" (in {})", phase.as_str()));
    let mut text = format!("it began and did not end{phase}");
    if let Some(stack) = &unfinished.stack {
        text.push('\n');
        text.push_str(stack);
    }
    error_case(&unfinished.nodeid, suite, "unfinished", &text)
}

fn error_case(nodeid: &str, suite: &str, kind: &str, text: &str) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_type(kind);
    status.set_message(text.lines().next().unwrap_or_default());
    status.set_description(text);
    case(nodeid, suite, status)
}

/// A case named as pytest's own JUnit file names it: `tests.test_x.TestClass` and `test_a[1]`.
fn case(nodeid: &str, suite: &str, status: TestCaseStatus) -> TestCase {
    let nodeid: &str = &visible(nodeid); // XML has no control characters
    // A parameter may contain anything.
    let id = NodeId::of(nodeid);
    let Some((names, parameters)) = id.names_and_parameters() else {
        let mut case = TestCase::new(nodeid, status);
        case.set_classname(suite);
        return case;
    };
    let file = id
        .file()
        .strip_suffix(".py")
        .unwrap_or(id.file())
        .replace('/', ".");
    let mut classes: Vec<&str> = names.split("::").collect();
    let name = classes.pop().unwrap_or_default();
    let classes = classes.into_iter().filter(|part| !part.is_empty());
    let parts = std::iter::once(file.as_str()).chain(classes);
    let mut case = TestCase::new(format!("{name}{parameters}"), status);
    case.set_classname(parts.collect::<Vec<_>>().join("."));
    case
}

fn seconds(duration_s: f64) -> Duration {
    Duration::try_from_secs_f64(duration_s).unwrap_or_default()
}

#[cfg(test)]
mod tests;
