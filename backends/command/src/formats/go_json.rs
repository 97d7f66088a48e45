//! `go-json`: the lines of `go test -json` (test2json). Packages are interleaved.

use std::collections::{BTreeMap, HashMap};

use runner_core::event::TestEvent;
use runner_core::model::{CollectionError, Outcome};
use serde::Deserialize;

use super::row::{bad, result, seconds};
use super::{LineReader, ReportItem, json};
use crate::id::Fields;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Line {
    action: String,
    #[serde(default)]
    package: String,
    #[serde(default)]
    import_path: String,
    #[serde(default)]
    test: String,
    elapsed: Option<f64>,
    #[serde(default)]
    output: String,
}

#[derive(Default)]
pub(super) struct GoJson {
    /// Output of tests that go on, by package and test; of packages under an empty test.
    output: HashMap<(String, String), String>,
    /// Packages: whether one ended, and whether a test of it failed.
    packages: BTreeMap<String, Package>,
    /// Lines that are no JSON: what the go command itself has to say.
    plain: String,
    /// What the compiler says on standard error, by package, and of which package it is speaking.
    compiler: HashMap<String, String>,
    compiling: String,
    /// Packages that go (before 1.24) only says of in plain words that they could not be built.
    not_built: Vec<String>,
}

#[derive(Default)]
struct Package {
    ended: bool,
    failed_tests: u64,
}

/// The most text kept of one test, in bytes.
const MOST_OUTPUT: usize = 256 * 1024;

fn keep(text: &mut String, more: &str) {
    if text.len() + more.len() <= MOST_OUTPUT {
        text.push_str(more);
    }
}

impl LineReader for GoJson {
    fn line(&mut self, line: &str, said: &mut Vec<ReportItem>) {
        let Ok(event) = json::from_str::<Line>(line) else {
            if let Some(package) = not_built(line) {
                self.not_built.push(package.to_owned());
            } else if !line.trim().is_empty() {
                keep(&mut self.plain, line);
                keep(&mut self.plain, "\n");
            }
            return;
        };
        let key = (event.package.clone(), event.test.clone());
        match event.action.as_str() {
            "output" => keep(self.output.entry(key).or_default(), &event.output),
            "build-output" => keep(
                self.output
                    .entry((package_of(&event.import_path), String::new()))
                    .or_default(),
                &event.output,
            ),
            _ if event.package.is_empty() => {}
            "start" => {
                self.packages.entry(event.package).or_default();
            }
            "run" if !event.test.is_empty() => {
                self.packages.entry(event.package.clone()).or_default();
                said.push(ReportItem::Started(fields(event.package, event.test)));
            }
            action @ ("pass" | "fail" | "skip") => self.end_of(action, event.elapsed, key, said),
            _ => {}
        }
    }

    fn aside(&mut self, line: &str, _said: &mut Vec<ReportItem>) {
        if let Some(package) = line.strip_prefix("# ") {
            self.compiling = package_of(package);
        } else if !self.compiling.is_empty() {
            let text = self.compiler.entry(self.compiling.clone()).or_default();
            keep(text, line);
            keep(text, "\n");
        }
    }

    fn end(&mut self, said: &mut Vec<ReportItem>) -> Result<(), String> {
        self.tell_of_builds(said);
        if !self.plain.trim().is_empty() {
            said.push(ReportItem::Warning(self.plain.trim().to_owned()));
        }
        let open: Vec<&str> = self
            .packages
            .iter()
            .filter(|(_, package)| !package.ended)
            .map(|(name, _)| name.as_str())
            .collect();
        if self.packages.is_empty() {
            return Err("tells of no package".to_owned());
        }
        if open.is_empty() {
            return Ok(());
        }
        Err(format!("stops before the end of {}", open.join(", ")))
    }
}

impl GoJson {
    /// A package that could not be built is an error row with the compiler's text.
    fn tell_of_builds(&mut self, said: &mut Vec<ReportItem>) {
        for package in std::mem::take(&mut self.not_built) {
            let known = self.packages.entry(package.clone()).or_default();
            // Newer versions say it in JSON as well.
            if std::mem::replace(&mut known.ended, true) {
                continue;
            }
            let text = self.compiler.remove(&package).unwrap_or_default();
            said.push(not_built_row(package, text.trim()));
        }
    }

    fn end_of(
        &mut self,
        action: &str,
        elapsed: Option<f64>,
        key: (String, String),
        said: &mut Vec<ReportItem>,
    ) {
        let output = self.output.remove(&key).unwrap_or_default();
        let (package, test) = key;
        let known = self.packages.entry(package.clone()).or_default();
        if test.is_empty() {
            known.ended = true;
            if action == "fail" && known.failed_tests == 0 {
                said.push(not_built_row(package, output.trim()));
            }
            return;
        }
        let mut row = match action {
            "pass" => result(Outcome::Passed),
            "skip" => {
                let mut row = result(Outcome::Skipped);
                row.message = Some(message(&output)).filter(|text| !text.is_empty());
                row
            }
            _ => {
                known.failed_tests += 1;
                let why = message(&output);
                bad(Outcome::Failed, &why, why.lines().next())
            }
        };
        row.duration_s = elapsed.and_then(seconds);
        said.push(ReportItem::Finished(fields(package, test), Box::new(row)));
    }
}

/// The package of `FAIL`, a tab, `example.com/b [build failed]`.
fn not_built(line: &str) -> Option<&str> {
    let (package, why) = line.strip_prefix("FAIL\t")?.split_once(" [")?;
    matches!(why.trim_end(), "build failed]" | "setup failed]").then_some(package)
}

/// `example.com/b` of `example.com/b [example.com/b.test]`.
fn package_of(path: &str) -> String {
    path.split(" [").next().unwrap_or(path).to_owned()
}

fn not_built_row(package: String, text: &str) -> ReportItem {
    let message = if text.is_empty() {
        "it failed, and no test of it did"
    } else {
        text
    };
    ReportItem::Exact(TestEvent::CollectFailed(CollectionError {
        nodeid: package,
        message: message.to_owned(),
        summary: message.lines().next().map(str::to_owned),
        location: None,
    }))
}

/// What the test itself said: without go's own frame around it.
fn message(output: &str) -> String {
    let own = |line: &&str| {
        let line = line.trim_start();
        !(line.starts_with("=== ") || line.starts_with("--- "))
    };
    let lines: Vec<&str> = output.lines().filter(own).collect();
    lines.join("\n").trim().to_owned()
}

fn fields(package: String, test: String) -> Fields {
    Fields {
        suite: package,
        name: test,
        ..Fields::default()
    }
}
