//! `libtest-json`: the lines of libtest's JSON, as cargo nextest writes them too.

use runner_core::model::Outcome;
use serde::Deserialize;

use super::row::{bad, result, seconds};
use super::{LineReader, ReportItem, json};
use crate::id::Fields;

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    event: Option<String>,
    #[serde(default)]
    name: String,
    exec_time: Option<f64>,
    #[serde(default)]
    stdout: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    ignored: usize,
}

#[derive(Default)]
pub(super) struct LibtestJson {
    suites_begun: u64,
    suites_ended: u64,
    /// As the suites' ends count them.
    ignored: usize,
    /// Of which so many were told of by name.
    told_ignored: usize,
    running: Vec<String>,
}

impl LineReader for LibtestJson {
    fn line(&mut self, line: &str, said: &mut Vec<ReportItem>) {
        // Other lines are the tests' own prints.
        let Ok(line) = json::from_str::<Line>(line) else {
            return;
        };
        let event = line.event.as_deref().unwrap_or_default();
        match (line.kind.as_str(), event) {
            ("suite", "started") => self.suites_begun += 1,
            ("suite", "ok" | "failed") => {
                self.suites_ended += 1;
                self.ignored += line.ignored;
            }
            ("test", "started") => {
                said.push(ReportItem::Started(fields(&line.name)));
                self.running.push(line.name);
            }
            ("test", "ok" | "failed" | "ignored" | "timeout" | "allowed_failure") => {
                self.finish(&line, event, said);
            }
            _ => {}
        }
    }

    fn end(&mut self, said: &mut Vec<ReportItem>) -> Result<(), String> {
        if self.suites_begun == 0 {
            return Err("tells of no test binary".to_owned());
        }
        if self.suites_begun > self.suites_ended {
            return Err("stops before its end".to_owned());
        }
        // Nextest says that an ignored test started, and not always that it was ignored: only its suite counts it.
        if self.running.len() > self.ignored.saturating_sub(self.told_ignored) {
            return Err(format!("stops before the end of {}", self.running.join(", ")));
        }
        for name in self.running.drain(..) {
            said.push(ReportItem::Finished(
                fields(&name),
                Box::new(result(Outcome::Skipped)),
            ));
        }
        Ok(())
    }
}

impl LibtestJson {
    fn finish(&mut self, line: &Line, event: &str, said: &mut Vec<ReportItem>) {
        // A note that it takes long; its end is still to come.
        if event == "timeout" {
            return;
        }
        if let Some(place) = self.running.iter().position(|name| *name == line.name) {
            self.running.swap_remove(place);
        }
        self.told_ignored += usize::from(event == "ignored");
        let mut row = match event {
            "failed" => {
                let text = [line.message.as_str(), line.stdout.as_str()].join("\n");
                bad(Outcome::Failed, &text, panic_line(&text))
            }
            "ignored" => result(Outcome::Skipped),
            "allowed_failure" => result(Outcome::Xfailed),
            _ => result(Outcome::Passed),
        };
        if event == "failed" && line.reason == "time limit exceeded" {
            row.message.get_or_insert_with(|| line.reason.clone());
        }
        if event == "ignored" && !line.message.is_empty() {
            row.message = Some(line.message.clone());
        }
        row.duration_s = line.exec_time.and_then(seconds);
        said.push(ReportItem::Finished(fields(&line.name), Box::new(row)));
    }
}

/// The line in which the panic says what went wrong.
pub(super) fn panic_line(text: &str) -> Option<&str> {
    let mut lines = text.lines();
    lines.find(|line| line.contains("panicked at"))?;
    lines.find(|line| !line.trim().is_empty())
}

/// `binary$path`, as nextest has it; a bare path, as libtest has it.
fn fields(name: &str) -> Fields {
    let (suite, name) = name.split_once('$').unwrap_or(("", name));
    Fields {
        suite: suite.to_owned(),
        name: name.to_owned(),
        ..Fields::default()
    }
}
