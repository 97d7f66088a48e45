//! What failed and has not been green since: per suite, across runs of any selection. A person's and an agent's memory are
//! apart, since their environments differ and neither should lose what the other ran.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::private::{Lock, create_file, open_file};
use super::{Store, StoreError};
use runner_core::facts::Caller;
use runner_core::report::{Iteration, Report};

/// So many are remembered of one suite: whoever has more mends the cause, not the tests one by one.
const MOST: usize = 5_000;
/// Larger files are not ours.
const MOST_BYTES: u64 = 16 * 1024 * 1024;
/// How often somebody else's lock is waited for, and for how long: an update takes a few milliseconds.
const TRIES: u32 = 100;
const PAUSE: std::time::Duration = std::time::Duration::from_millis(5);

/// One failure that is remembered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    /// The run it failed in last.
    pub run_id: String,
    /// Where that run's steps ran: what the id is relative to for whoever runs it again.
    pub cwd: PathBuf,
}

/// The failures of a repository's suites, by suite and nodeid.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failures {
    pub suites: BTreeMap<String, BTreeMap<String, Remembered>>,
}

impl Failures {
    /// How many there are in all suites.
    pub fn len(&self) -> usize {
        self.suites.values().map(BTreeMap::len).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.suites.values().all(BTreeMap::is_empty)
    }

    /// Takes in what a run showed: what failed is added; what finished otherwise, and only that, is forgotten. A run that
    /// went through to its end and was to run a test that it does not have forgets it as well: it is gone.
    pub fn learn(&mut self, report: &Report) {
        let facts = &report.facts;
        if facts.listing {
            return;
        }
        let known = self.suites.entry(facts.suite.clone()).or_default();
        let mut seen = HashSet::new();
        for iteration in &report.iterations {
            forget_what_is_well(known, iteration, &mut seen);
            for nodeid in bad(iteration) {
                seen.insert(nodeid);
                if known.len() < MOST || known.contains_key(nodeid) {
                    let remembered = Remembered {
                        run_id: facts.run_id.clone(),
                        cwd: facts.cwd.clone(),
                    };
                    known.insert(nodeid.to_owned(), remembered);
                }
            }
        }
        if report.status().is_complete() && !report.verdict().stopped {
            let asked: HashSet<&str> = facts.asked.iter().map(String::as_str).collect();
            let meant = |nodeid: &str, at: &Remembered| {
                asked.contains(nodeid) || (asked.is_empty() && at.cwd == facts.cwd)
            };
            known.retain(|nodeid, at| seen.contains(nodeid.as_str()) || !meant(nodeid, at));
        }
        self.suites.retain(|_, known| !known.is_empty());
    }
}

/// Everything in an iteration that is to be mended: rows, collectors, tests that never came to their end.
fn bad(iteration: &Iteration) -> impl Iterator<Item = &str> {
    let rows = iteration.rows.iter().filter(|row| row.outcome.is_bad());
    let rows = rows.map(|row| row.nodeid.as_str());
    let collectors = iteration
        .collection_errors
        .iter()
        .map(|error| error.nodeid.as_str());
    let unfinished = iteration.unfinished().iter().map(|test| test.nodeid.as_str());
    rows.chain(collectors).chain(unfinished)
}

/// Tests that are well now; and collectors that are, since one of their tests has finished.
fn forget_what_is_well<'a>(
    known: &mut BTreeMap<String, Remembered>,
    iteration: &'a Iteration,
    seen: &mut HashSet<&'a str>,
) {
    for row in &iteration.rows {
        seen.insert(row.nodeid.as_str());
        if !row.outcome.is_bad() {
            known.remove(row.nodeid.as_str());
        }
        if let Some((file, _)) = row.nodeid.split_once("::") {
            known.remove(file);
        }
    }
}

impl Store {
    /// What this caller's runs of `root` left failing. Nothing where nothing is known, or what is there cannot be read.
    pub fn failures(&self, root: &Path, caller: Caller) -> Failures {
        read(&self.failures_file(root, caller)).unwrap_or_default()
    }

    /// Takes a run that has ended into its caller's memory. Two processes that do so at once lose nothing.
    pub fn learn_failures(&self, report: &Report) -> Result<(), StoreError> {
        let Some(caller) = report.facts.caller else {
            return Ok(());
        };
        let folder = self.repository(&report.facts.root)?;
        let file = self.failures_file(&report.facts.root, caller);
        let unusable = |error: std::io::Error| StoreError::unusable(&file, &error);
        let lock = file.with_extension("lock");
        let _lock = wait_for(&lock).map_err(unusable)?;
        let mut failures = read(&file).unwrap_or_default();
        let before = failures.clone();
        failures.learn(report);
        if failures == before {
            return Ok(());
        }
        let text = serde_json::to_vec(&failures).map_err(|error| unusable(error.into()))?;
        let new = folder.join(format!(".failures-{}", report.facts.run_id));
        let written = create_file(&new).and_then(|mut file| file.write_all(&text));
        written.and_then(|()| fs::rename(&new, &file)).map_err(|error| {
            let _ = fs::remove_file(&new);
            unusable(error)
        })
    }

    fn failures_file(&self, root: &Path, caller: Caller) -> PathBuf {
        let name = match caller {
            Caller::Person => "failures-person.json",
            Caller::Agent => "failures-agent.json",
        };
        self.repository_path(root).join(name)
    }
}

fn read(file: &Path) -> Option<Failures> {
    let mut text = Vec::new();
    let file = open_file(file).ok()?;
    file.take(MOST_BYTES).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// The lock of an update, which is held for moments only. A file system without locks has one writer at a time, or none
/// that minds.
fn wait_for(lock: &Path) -> std::io::Result<Option<Lock>> {
    for _ in 0..TRIES {
        match create_file(lock) {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        match Lock::take_over(lock) {
            Ok(Some(taken)) => return Ok(Some(taken)),
            Ok(None) => std::thread::sleep(PAUSE),
            Err(error) if error.kind() == std::io::ErrorKind::Unsupported => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    Err(std::io::Error::new(
        std::io::ErrorKind::TimedOut,
        "somebody else holds its lock",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use runner_core::event::{Ending, ExitMeaning, RunEvent, StopReason, TestEvent};
    use runner_core::facts::RunFacts;
    use runner_core::model::{Outcome, TestResult};
    use runner_core::plan::StepExit;

    /// A run of these words that went through to its end, with these rows.
    fn run(asked: &[&str], rows: &[(&str, Outcome)]) -> Report {
        let mut report = Report::default();
        report.add(&RunEvent::Started(Box::new(RunFacts {
            run_id: "run".to_owned(),
            suite: "unit".to_owned(),
            root: "/repo".into(),
            cwd: "/repo".into(),
            caller: Some(Caller::Person),
            asked: asked.iter().map(ToString::to_string).collect(),
            ..RunFacts::default()
        })));
        report.add(&RunEvent::IterationStarted { iteration: 1 });
        for (nodeid, outcome) in rows {
            let result = Box::new(TestResult::new(*nodeid, *outcome));
            report.add(&RunEvent::Test {
                iteration: 1,
                test: TestEvent::Finished(result),
            });
        }
        let bad = rows.iter().any(|(_, outcome)| outcome.is_bad());
        let (exit, code) = if bad {
            (ExitMeaning::TestsFailed, 1)
        } else {
            (ExitMeaning::Ok, 0)
        };
        report.add(&RunEvent::StepExited {
            iteration: 1,
            exit: StepExit {
                code: Some(code),
                ..StepExit::default()
            },
        });
        report.add(&RunEvent::IterationEnded {
            iteration: 1,
            ending: Some(Ending::completed(exit)),
            output_tail: String::new(),
            duration_s: 0.1,
        });
        report.add(&RunEvent::Finished {
            cause: StopReason::Done,
            duration_s: 0.1,
        });
        report
    }

    fn ids(failures: &Failures) -> Vec<&str> {
        failures
            .suites
            .values()
            .flat_map(|known| known.keys().map(String::as_str))
            .collect()
    }

    use Outcome::{Error, Failed, Passed};

    #[test]
    fn what_failed_is_remembered_until_it_is_green_whatever_else_runs() {
        let mut failures = Failures::default();
        failures.learn(&run(
            &[],
            &[("a.py::t", Failed), ("b.py::t", Error), ("c.py::t", Passed)],
        ));
        assert_eq!(ids(&failures), ["a.py::t", "b.py::t"]);
        failures.learn(&run(&["c.py"], &[("c.py::t", Passed)]));
        assert_eq!(
            ids(&failures),
            ["a.py::t", "b.py::t"],
            "a narrower run forgets nothing"
        );
        failures.learn(&run(&["a.py::t"], &[("a.py::t", Passed)]));
        assert_eq!(ids(&failures), ["b.py::t"]);
        failures.learn(&run(&["b.py::t"], &[("b.py::t", Failed)]));
        assert_eq!(ids(&failures), ["b.py::t"]);
        failures.learn(&run(&[], &[("b.py::t", Passed)]));
        assert!(failures.is_empty());
    }

    #[test]
    fn a_run_that_was_broken_off_forgets_only_what_it_saw_green() {
        let mut failures = Failures::default();
        failures.learn(&run(&[], &[("a.py::t", Failed), ("b.py::t", Failed)]));
        let mut cut = run(&[], &[("a.py::t", Passed)]);
        cut.cause = Some(StopReason::Cancelled {
            by: "a test".to_owned(),
        });
        failures.learn(&cut);
        assert_eq!(ids(&failures), ["b.py::t"]);
    }

    #[test]
    fn a_test_that_is_gone_is_forgotten_by_a_run_that_was_to_run_it() {
        let mut failures = Failures::default();
        failures.learn(&run(&[], &[("a.py::t", Failed), ("a.py::u", Passed)]));
        failures.learn(&run(&["b.py"], &[("b.py::t", Passed)]));
        assert_eq!(ids(&failures), ["a.py::t"]);
        failures.learn(&run(&[], &[("a.py::u", Passed)]));
        assert!(failures.is_empty());
    }

    #[test]
    fn a_file_that_can_be_collected_again_is_well() {
        let mut failures = Failures::default();
        failures.learn(&run(&[], &[("a.py", Error), ("b.py::t", Passed)]));
        assert_eq!(ids(&failures), ["a.py"]);
        failures.learn(&run(&["a.py"], &[("a.py::t", Failed)]));
        assert_eq!(ids(&failures), ["a.py::t"]);
    }

    #[test]
    fn each_caller_has_a_memory_of_its_own_and_two_writers_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().canonicalize().unwrap().join("state")).unwrap();
        std::thread::scope(|scope| {
            for number in 0..8 {
                let store = &store;
                scope.spawn(move || {
                    let nodeid = format!("t{number}.py::t");
                    let mut report = run(&[&nodeid], &[(&nodeid, Failed)]);
                    report.facts.run_id = format!("run{number}");
                    store.learn_failures(&report).unwrap();
                });
            }
        });
        assert_eq!(store.failures(Path::new("/repo"), Caller::Person).len(), 8);
        assert!(store.failures(Path::new("/repo"), Caller::Agent).is_empty());
    }
}
